"""Rows of loops, rolling wheels, contacts and equations; how many of them count, how they are closed, and the motion
nearest to the free one that they allow.

Owns the one policy of rank and scale (`rank`). May import `loads` and `tree`.
"""
