"""Campaigns: thousands to millions of runs of one study, from one file to a table of answers.

==============  ========================================================================================================
``runner``      chunks computed and stored: here, or by workers of a cluster; interrupted and resumed
``process``     runs in a process of their own, ended where one of them hangs; what workers are sent
``search``      factors that make indicators least, most or equal to targets: by Optuna or SciPy, stopped and resumed
``candidates``  what goals and limits say about a candidate of a search; slopes to search along
``answers``     a folder of results as a table: failures, quantiles, sensitivities, Pareto fronts, any run again
``storage``     the folder: Parquet and netCDF, a file for each chunk, complete or not there
``work``        a campaign made ready: the numbers of a chunk of runs
``reader``      files of campaigns, with all their faults at once
``targets``     what factors change: parameters, starts, inputs, fields of blocks
``design``      the values of factors by the number of a run
``description`` the record of a campaign
``measures``    kinds of indicators
``factors``     kinds of factors
==============  ========================================================================================================
"""
