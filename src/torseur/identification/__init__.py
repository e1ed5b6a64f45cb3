"""Identification: parameters of mechanisms from measurements, and the motions that show them.

=====================  ==============================================================================
units, measurements    columns with units, from files or runs
signals                filters without phase shift, derivatives, decimation
columns                what columns are for a model
motion                 from columns to q, v, vdot, efforts, inputs, forces of constraints
unknowns, forms        what is sought, and the equations it stands in
screening              what is wrong with measurements
estimation             least squares, standard deviations
identification         all of this in one call, and its result
essential              what is needed, and what motion would show the rest
excitation, clearance  motions that show parameters, within limits
recursive              estimates that follow measurements
output_error           parameters by simulation
physical, described    parameters that bodies can have; values for the description
=====================  ==============================================================================
"""
