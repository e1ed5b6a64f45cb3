"""Integration methods, and the problem they are given.

Each method is data plus a small step, written as expressions and compiled to one native function. Imports none of the
other rooms.
"""
