"""Dynamics as a linear function of inertias, drives and friction: the regressor, and the fewest parameters it needs.

May import `constrained_motion` and all below it.
"""
