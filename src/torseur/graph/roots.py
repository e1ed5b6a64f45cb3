"""Roots of a few equations inside expressions: damped Newton, differentiated by the implicit-function rule.

A step is halved until it lessens the residual; the loop ends when the step is below the tolerance, and what has not
ended within the limit is nan. The criterion is a vanishing step, not a vanishing residual: where the residual is so
steep that its Jacobian is infinite, or nearly, a step may vanish away from any root. Where that can be, look at the
residual too.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cached_property
from numbers import Integral, Real
from typing import Any

import numpy as np

from torseur.errors import GraphError
from torseur.graph.blocks import Block
from torseur.graph.calls import Callee, FunctionCall, Iteration, Tangent, call, callee_of
from torseur.graph.derivatives import jacobian
from torseur.graph.evaluate import evaluate_flat
from torseur.graph.function import Function, checked_function
from torseur.graph.functions import absolute, select
from torseur.graph.linear import largest, solve
from torseur.graph.nodes import Bundle, Expr, Graph, Truth

__all__ = ["root"]

_SMALLEST_STEP = 2.0**-12


def root(
    residual: Function,
    guess: Sequence[Expr | float],
    *args: Expr | float | Iterable[Expr | float],
    tolerance: float = 1e-12,
    limit: int = 50,
) -> list[Expr]:
    """x with ``residual(x, *args) = 0``, started from a guess.

    Args:
        residual: its first block is x, its outputs are as many as x.
        guess: one expression or number per unknown.
        args: for the other blocks of the residual, in order.
        tolerance: on the last Newton step, relative to ``1 + |x|``.
        limit: evaluations allowed; beyond it the result is nan.

    >>> from torseur.graph import Function, Graph, Role, evaluate, root
    >>> inner = Graph()
    >>> x, a = inner.block("x", 1), inner.block("a", 1)
    >>> square = Function("square", [x, a], {"r": [x[0] * x[0] - a[0]]})
    >>> g = Graph()
    >>> b = g.symbol("b")
    >>> f = Function("f", [g.blocks["b"]], {"y": root(square, [1.0], [b])})
    >>> float(evaluate(f, 2.0)[0][0])
    1.4142135623730951
    """
    checked_function(residual, "root")
    _check_options(tolerance, limit)
    n = residual.inputs[0].size
    if len(residual.results) != n or len(guess) != n or len(args) != len(residual.inputs) - 1:
        raise GraphError(
            f"'{residual.name}' and its arguments do not fit",
            expected=f"{n} unknowns, residuals and guesses; {len(residual.inputs) - 1} other arguments",
            got=f"{len(residual.results)} residuals, {len(guess)} guesses, {len(args)} other arguments",
        )
    flat = [*guess, *(x for arg in args for x in (arg if isinstance(arg, Iterable) else [arg]))]
    graph = next((x.graph for x in flat if isinstance(x, Expr)), None)
    if graph is None or len(flat) != sum(b.size for b in residual.inputs):
        raise GraphError(
            f"'{residual.name}' needs expressions of the right size",
            expected=", ".join(f"{b.name}: {b.size}" for b in residual.inputs),
            got=f"{len(flat)} in all",
        )
    return list(graph.call(_Root.of(residual, float(tolerance), int(limit)), [graph.expr(x) for x in flat]))


def _check_options(tolerance: float, limit: int) -> None:
    is_tolerance = isinstance(tolerance, Real) and 0.0 < tolerance < math.inf
    is_limit = isinstance(limit, Integral) and not isinstance(limit, bool) and limit >= 1
    if not (is_tolerance and is_limit):
        raise GraphError(
            "wrong options of a root",
            expected="a tolerance above 0 and finite; a limit that is an integer, at least 1",
            got=f"tolerance = {tolerance!r}, limit = {limit!r}",
        )


class _Root(Callee):
    def __init__(self, residual: Function, tolerance: float, limit: int) -> None:
        self.residual, self.tolerance, self.limit = residual, tolerance, limit
        self.n = self.n_out = residual.inputs[0].size
        self.name = f"root_{residual.name}"
        self.meaning = f"the first argument of {residual.name} that makes it zero, sought from the value given"

    @classmethod
    def of(cls, residual: Function, tolerance: float, limit: int) -> _Root:
        """One callee object per problem, so that equal calls are one node."""
        known: dict[tuple[float, int], _Root] = residual.__dict__.setdefault("_roots", {})
        return known.setdefault((tolerance, limit), cls(residual, tolerance, limit))

    @property
    def digest(self) -> str:
        return f"root:{self.residual.digest}:{self.tolerance!r}:{self.limit}"

    @cached_property
    def _jacobian(self) -> Function:
        f = self.residual
        return Function(f"{f.name}_jacobian", f.inputs, {"J": jacobian(f.results, list(f.inputs[0])).dense()})

    # Inside the loop the state is (x, d, s, e): the point, the Newton step, the fraction of it to try, |residual| at x.
    def _newton(self, x: Sequence[Expr], rest: Sequence[Sequence[Expr]]) -> tuple[list[Expr], Expr]:
        r = call(self.residual, x, *rest)
        J = call(self._jacobian, x, *rest)
        d = solve([J[i * self.n : (i + 1) * self.n] for i in range(self.n)], [-ri for ri in r])
        return d, largest([absolute(ri) for ri in r])

    def lowering(self) -> Iteration:
        return self._iteration

    @cached_property
    def _iteration(self) -> Iteration:
        size = 2 * self.n + 2
        return Iteration(self._start(), self._step(size), self._finish(size), size, self.limit)

    def _start(self) -> Function:
        g = Graph()
        x, *rest = (g.block(b.name, b.shape) for b in self.residual.inputs)
        d, e = self._newton(list(x), [list(b) for b in rest])
        return Function(f"{self.name}_start", [x, *rest], {"state": [*x, *d, g.one, e]})

    def _step(self, size: int) -> Function:
        g = Graph()
        state = _state(g, size, {b.name for b in self.residual.inputs})
        guess, *rest = (g.block(b.name, b.shape) for b in self.residual.inputs)
        x, d, s, e = self._unpack(list(state))
        trial = [xi + s * di for xi, di in zip(x, d, strict=True)]
        d_new, e_new = self._newton(trial, [list(b) for b in rest])
        there = self._is_small(x, d) | (e_new <= 0.0)
        taken = (e_new < e) | (s < _SMALLEST_STEP) | there
        ahead, back = [*trial, *d_new, g.one, e_new], [*x, *d, 0.5 * s, e]
        after = [select(taken, a, b) for a, b in zip(ahead, back, strict=True)]
        done = there | (taken & self._is_small(trial, d_new))
        return Function(f"{self.name}_step", [state, guess, *rest], {"state": after, "done": done})

    def _finish(self, size: int) -> Function:
        """The last step is within the tolerance and comes for free; what was not found, or lies at infinity, is nan."""
        g = Graph()
        state, done = _state(g, size, set()), g.symbol("done")
        x, d, _, e = self._unpack(list(state))
        best = [select(e > 0.0, xi + di, xi) for xi, di in zip(x, d, strict=True)]
        found = (done > 0.5) & (largest([absolute(xi) for xi in best]) < math.inf)
        return Function(
            f"{self.name}_finish",
            [state, g.blocks["done"]],
            {"x": [select(found, xi, g.zero / g.zero) for xi in best]},
        )

    def _unpack(self, state: list[Expr]) -> tuple[list[Expr], list[Expr], Expr, Expr]:
        return state[: self.n], state[self.n : 2 * self.n], state[2 * self.n], state[2 * self.n + 1]

    def _is_small(self, x: Sequence[Expr], d: Sequence[Expr]) -> Truth:
        """Whether a step is below the tolerance; true of nan, which will not get better."""
        excess = [absolute(di) - self.tolerance * (1.0 + absolute(xi)) for xi, di in zip(x, d, strict=True)]
        return ~(largest(excess) > 0.0)

    def tangent(self, bundle: Bundle, tangents: Sequence[Tangent]) -> list[Expr]:
        """J dx = -(d residual / d args) d args."""
        g = bundle.graph
        at = [*bundle, *bundle.args[self.n :]]
        moved = [g.zero] * self.n + [t if isinstance(t, Expr) else g.zero for t in tangents[self.n :]]
        right = [-r for r in self._call.tangent(g.call(self._call, at), moved)]
        return solve(self._matrix(g, at), right)

    def adjoint(self, bundle: Bundle, weights: Sequence[Expr]) -> list[Tangent]:
        g = bundle.graph
        at = [*bundle, *bundle.args[self.n :]]
        J = self._matrix(g, at)
        u = solve([list(c) for c in zip(*J, strict=True)], [-w for w in weights])
        parts = self._call.adjoint(g.call(self._call, at), u)
        return [*([None] * self.n), *parts[self.n :]]

    @property
    def _call(self) -> FunctionCall:
        return callee_of(self.residual)

    def _matrix(self, g: Graph, at: Sequence[Expr]) -> list[list[Expr]]:
        sizes = [b.size for b in self._jacobian.inputs]
        parts = [at[sum(sizes[:k]) : sum(sizes[: k + 1])] for k in range(len(sizes))]
        J = call(self._jacobian, *parts)
        return [J[i * self.n : (i + 1) * self.n] for i in range(self.n)]

    def reference(self, args: Sequence[Any]) -> Any:
        """The same damped Newton on arrays, with NumPy's solver."""
        columns = np.stack(np.broadcast_arrays(*args), axis=0).astype(float)
        x, rest = columns[: self.n].copy(), list(columns[self.n :])
        done, s = np.zeros(x.shape[1:], bool), np.ones(x.shape[1:])
        d, e = self._newton_step(x, rest)
        for _ in range(self.limit):
            trial = x + s * d
            d_new, e_new = self._newton_step(trial, rest)
            there = self._small_step(x, d) | (e_new <= 0)
            taken = (e_new < e) | (s < _SMALLEST_STEP) | there
            new_done = done | there | (taken & self._small_step(trial, d_new))
            move = taken & ~done
            x, d = np.where(move, trial, x), np.where(move, d_new, d)
            e, s = np.where(move, e_new, e), np.where(taken, 1.0, 0.5 * s)
            done = new_done
            if done.all():
                break
        best = np.where(e > 0, x + d, x)
        return list(np.where(done & np.isfinite(best).all(axis=0), best, np.nan))

    def _newton_step(self, x: Any, rest: list[Any]) -> tuple[Any, Any]:
        r = np.stack(np.broadcast_arrays(*evaluate_flat(self.residual, [*x, *rest]), x[0])[:-1], axis=-1)
        flat = np.broadcast_arrays(*evaluate_flat(self._jacobian, [*x, *rest]), x[0])[:-1]
        J = np.stack(flat, axis=-1).reshape(*r.shape, self.n)
        good = np.isfinite(J).all(axis=(-1, -2))
        good &= np.linalg.slogdet(np.where(good[..., None, None], J, 0.0))[0] != 0.0
        d = np.linalg.solve(np.where(good[..., None, None], J, np.eye(self.n)), -r[..., None])[..., 0]
        d = np.where(good[..., None], d, np.nan)
        return np.moveaxis(d, -1, 0), np.abs(r).max(axis=-1)

    def _small_step(self, x: Any, d: Any) -> Any:
        return ~((np.abs(d) - self.tolerance * (1.0 + np.abs(x))).max(axis=0) > 0)


def _state(g: Graph, size: int, taken: set[str]) -> Block:
    """The block of the loop's state, under a name the residual does not use."""
    name = "state"
    while name in taken:
        name += "_"
    return g.block(name, size)
