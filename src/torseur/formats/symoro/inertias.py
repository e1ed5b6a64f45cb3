"""Inertias at the centre of mass, and of solids, as the ten standard parameters at the frame."""

from __future__ import annotations

from collections.abc import Sequence

from torseur.describe.fields import Scalar, names_in
from torseur.describe.formulas import Formula
from torseur.describe.inertia import Inertia, StandardInertia, ten_parameters
from torseur.errors import ModelError
from torseur.graph import Expr, Graph, ops

__all__ = ["standard_inertia"]

_SIGNS = {ops.ADD: " + ", ops.SUB: " - ", ops.MUL: "*", ops.DIV: "/"}


def standard_inertia(inertia: Inertia | None) -> Inertia | None:
    """The ten parameters at the frame; as it is where formulas would become too long."""
    if inertia is None or isinstance(inertia, StandardInertia):
        return inertia
    g = Graph()
    scope = {name: g.symbol(name) for name in sorted(names_in(inertia))}

    def expr(value: Scalar) -> Expr:
        return value.expr(g, scope) if isinstance(value, Formula) else g.number(value)

    return _written(ten_parameters(inertia, g, expr).ten()) or inertia


def _written(ten: Sequence[Expr]) -> StandardInertia | None:
    """Expressions as numbers and formulas, if these can be written."""
    try:
        return StandardInertia(**dict(zip(StandardInertia.model_fields, map(_scalar, ten), strict=True)))
    except ModelError:
        return None


def _scalar(e: Expr) -> Scalar:
    return float(e) if e.is_number else Formula(_text(e))


def _text(e: Expr) -> str:
    """An expression as a formula."""
    if not isinstance(e, Expr) or e.op is ops.PIECEWISE:
        raise ModelError("an expression that no formula of this file can hold")
    if e.is_number:
        return repr(float(e)) if float(e) >= 0.0 else f"({float(e)!r})"
    if e.op is ops.SYMBOL:
        return e.graph.label(e) or ""
    parts = [_text(arg) for arg in e.args]
    if e.op in _SIGNS:
        return f"({_SIGNS[e.op].join(parts)})"
    if e.op is ops.POW:
        return f"({parts[0]})^({parts[1]})"
    return f"(-{parts[0]})" if e.op is ops.NEG else f"{e.op.name}({', '.join(parts)})"
