"""The methods of analytical mechanics, every stage an expression: Lagrange's equations, Kane's ten steps.

They are for reading, and check the recursions independently. May import `constrained_motion` and all below it.
"""
