"""What events decide: friction that sticks or slides, contacts that hold or open, and impacts.

Imports ``plant``, ``integrate`` and ``results``.
"""
