"""Expressions that are to be read, made short by sympy where they are small enough."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from torseur.dynamics.analytical.readable_reduction import Simplify, as_it_is
from torseur.dynamics.constrained_motion.allowed_motions import AllowedMotions
from torseur.dynamics.workbench import Workbench
from torseur.emit.bridges import from_sympy, to_sympy
from torseur.emit.bridges.to_sympy import import_sympy
from torseur.errors import CompileError, GraphError, MissingExtra
from torseur.graph import Expr, Function, count
from torseur.model.closed import exact, simplified
from torseur.model.swelling import terms_of

__all__ = ["Simplifier", "simplifier"]

_LONGEST, _MANY = 120, 150
"""Operations and terms beyond which an expression is left as it is."""

_CLEAR = 1e-6


def simplifier(w: Workbench) -> Simplify:
    """What makes expressions of a mechanism short; nothing where sympy is not installed."""
    try:
        return Simplifier(w)
    except MissingExtra:
        return as_it_is


class Simplifier:
    """Simplifies expressions of one mechanism.

    What stands in absolute values is taken with the sign it has at the start: `assumed` says which, as inequalities.
    """

    def __init__(self, w: Workbench) -> None:
        self.w, self.sp = w, import_sympy("simplification")
        self.assumed: list[str] = []
        self._done: dict[Expr, Expr] = {}

    def __call__(self, exprs: Sequence[Expr]) -> list[Expr]:
        for x in exprs:
            if x not in self._done:
                self._done[x] = self._short(x) if x.args else x
        return [self._done[x] for x in exprs]

    def _short(self, x: Expr) -> Expr:
        graph = self.w.system.graph
        blocks = list(graph.blocks.values())
        function = Function("x", blocks, {"x": x})
        size = count(function).total
        if size > _LONGEST or terms_of(function) > _MANY:
            return x
        try:
            found = simplified(self.sp, exact(self.sp, to_sympy(function)["x"]))
            signs = {a: self._sign(a.args[0]) * a.args[0] for a in found.atoms(self.sp.Abs)}
            found = simplified(self.sp, found.subs(signs)) if signs else found
            short = graph.expr(from_sympy(found, graph))
            return short if count(Function("x", blocks, {"x": short})).total <= size else x
        except (CompileError, GraphError):
            return x

    def _sign(self, x: Any) -> Any:
        """Of a sympy expression at the start; the sign function itself where it is zero there or not known."""
        value = self._states.value_at_start(from_sympy(x, self.w.system.graph)) if self._states.exist else 0.0
        if abs(value) < _CLEAR:
            return self.sp.sign(x)
        text = f"{x} {'>' if value > 0 else '<'} 0"
        if text not in self.assumed:
            self.assumed.append(text)
        return 1 if value > 0 else -1

    @cached_property
    def _states(self) -> AllowedMotions:
        return AllowedMotions(self.w)
