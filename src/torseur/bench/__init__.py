"""Measurements of this machine, and of the other programs that are installed on it."""
