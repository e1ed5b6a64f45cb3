"""A mechanism with the blocks and switches around it, written as one problem for a solver.

Expressions, and what of them is recorded: what happens at events is decided in ``switching``. Imports ``results``,
``blocks``, ``integrate`` and ``solvers``.
"""
