"""Closed mechanisms: allowed states, independent speeds, reduced forms, normal forces, multipliers and joint forces.

May import the workbench, `constraints`, `loads` and `tree`.
"""
