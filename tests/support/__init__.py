"""Helpers of the tests: random mechanisms and functions, and the same quantities a second time in plain NumPy."""
