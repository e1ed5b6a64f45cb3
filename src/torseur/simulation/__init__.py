"""Motion over time: studies, solvers, events, results.

A room imports from those below it, never from one above:

=============  =======================================================================================================
``run``        from a study to a run: `simulate`, `Simulation`, many runs at once, checkpoints
``start``      the first state: assembled, at rest or as given, with blocks that read it
``switching``  which friction sticks and which contact holds, at the start and at every event; impacts
``plant``      a mechanism with blocks and switches around it, as one problem for a solver
``study``      the record of a study, its files, its checks
``blocks``     signals, controllers, motors, sensors, and what they are built in
``results``    what a run leaves: channels, files, the audit, comparisons
``integrate``  steps, events, samples and recording, of any problem
``solvers``    the problem, the methods and their native steps
=============  =======================================================================================================
"""
