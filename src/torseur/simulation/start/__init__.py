"""The first state of a run: assembled, at rest or as given, with blocks that begin with what they read.

Imports ``plant`` and ``study``.
"""
