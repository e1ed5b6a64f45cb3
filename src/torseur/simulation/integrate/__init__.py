"""A problem followed through time: steps, events, samples, recording, and every way it can end.

Knows nothing of mechanisms. Imports ``solvers``.
"""
