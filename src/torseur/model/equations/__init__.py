"""Equations of a mechanism to read, print and copy: listings, closed forms, and methods written out step by step.

May import `dynamics` and `emit`; nothing of the models beside it.
"""

from torseur.model.equations.equations import Equations, equations, language_of

__all__ = ["Equations", "equations", "language_of"]
