"""The open tree of joints: its symbols, its links, their kinematics, and the recursions over them.

Owns everything that holds without loads, loops and constraints. Imports `describe`, `spatial` and `graph` only.
"""
