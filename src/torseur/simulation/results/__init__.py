"""What a run leaves: channels, files, the audit, and comparisons.

Knows nothing of how it was computed. Imports the types of ``solvers``.
"""
