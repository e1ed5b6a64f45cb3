"""Equations of motion, as expressions: from a description to every quantity that is printed, compiled or simulated.

==================  ================================================================================================
tree                the open tree of joints: symbols, links, kinematics, and the recursions of Newton-Euler,
                    composite bodies and articulated bodies
loads               what acts on it: forces of loads, wheels on roads, energies and powers
constraints         rows of loops, rolling and contact; their rank; how they are closed; motion under them
workbench           what the quantities of one mechanism share
constrained_motion  closed mechanisms: independent speeds, reduced forms, normal forces, multipliers, joint forces
parameters          regressor, base parameters of trees and of closed structures
analytical          the methods of Lagrange and Kane, step by step, to be read
quantities          the table of all of them
==================  ================================================================================================
"""
