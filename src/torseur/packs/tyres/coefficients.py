"""The coefficients of a law as expressions, by name."""

from __future__ import annotations

from torseur.describe.fields import Record
from torseur.graph import Expr
from torseur.packs.tyres.law import Scalars

__all__ = ["Coefficients"]


class Coefficients:
    """What equations are written with: ``k.a1`` is the field a1 of a record, as an expression."""

    def __init__(self, record: Record, scalar: Scalars) -> None:
        self._record = record
        self._scalar = scalar

    def __getattr__(self, name: str) -> Expr:
        return self._scalar(getattr(self._record, name))
