"""The coefficients of a law as expressions, by name."""

from __future__ import annotations

from collections.abc import Mapping

from torseur.describe.fields import Record
from torseur.graph import Expr
from torseur.packs.tyres.law import Scalars

__all__ = ["Coefficients"]


class Coefficients:
    """What equations are written with: ``k.a1`` is the field a1 of a record, as an expression.

    `fixed` are numbers that count before fields of the same name.
    """

    def __init__(self, record: Record, scalar: Scalars, fixed: Mapping[str, float] | None = None) -> None:
        self._record = record
        self._scalar = scalar
        self._fixed = fixed or {}

    def __getattr__(self, name: str) -> Expr:
        return self._scalar(self._fixed[name] if name in self._fixed else getattr(self._record, name))
