"""Roots of a few equations inside expressions: damped Newton, differentiated by the implicit-function rule.

A step is halved until it lessens the residual; the loop ends when the step is below the tolerance, or when the next one
is bound to be: after steps that shrink by theta, what is left is at most theta times the last (Hairer & Wanner, Solving
Ordinary Differential Equations II, 2nd ed., IV.8). What has not ended within the limit is nan. The criterion is a
vanishing step, not a vanishing residual: where the residual is so steep that its Jacobian is infinite, or nearly, a
step may vanish away from any root. Where that can be, look at the residual too.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from numbers import Integral, Real
from typing import Any

import numpy as np

from torseur.errors import GraphError
from torseur.graph.blocks import Block
from torseur.graph.calls import Callee, FunctionCall, Iteration, Tangent, call, callee_of
from torseur.graph.derivatives import jacobian
from torseur.graph.evaluate import evaluate_flat
from torseur.graph.function import Function, alone, checked_function
from torseur.graph.functions import absolute, equal, select
from torseur.graph.linear import Matrix, cut_in_rows, largest, orientation, solve
from torseur.graph.nodes import Bundle, Expr, Graph, Truth

__all__ = ["newton_matrix", "root"]

_SMALLEST_STEP = 2.0**-12
_QUICK = 1e-3
"""Steps that shrink by more than this are those of a method that converges quadratically."""


def root(
    residual: Function,
    guess: Sequence[Expr | float],
    *args: Expr | float | Iterable[Expr | float],
    tolerance: float = 1e-12,
    limit: int = 50,
    oriented: bool = False,
) -> list[Expr]:
    """x with ``residual(x, *args) = 0``, started from a guess.

    Args:
        residual: its first block is x, its outputs are as many as x.
        guess: one expression or number per unknown.
        args: for the other blocks of the residual, in order.
        tolerance: on the last Newton step, relative to ``1 + |x|``.
        limit: evaluations allowed; beyond it the result is nan.
        oriented: whether a root where the determinant of the Jacobian is not positive is none, but nan.

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
    callee = _Root.of(residual, float(tolerance), int(limit), bool(oriented))
    return list(graph.call(callee, [graph.expr(x) for x in flat]))


def _check_options(tolerance: float, limit: int) -> None:
    is_tolerance = isinstance(tolerance, Real) and 0.0 < tolerance < math.inf
    is_limit = isinstance(limit, Integral) and not isinstance(limit, bool) and limit >= 1
    if not (is_tolerance and is_limit):
        raise GraphError(
            "wrong options of a root",
            expected="a tolerance above 0 and finite; a limit that is an integer, at least 1",
            got=f"tolerance = {tolerance!r}, limit = {limit!r}",
        )


def newton_matrix(residual: Function, x: Sequence[Expr], *args: Sequence[Expr]) -> Matrix:
    """d residual / dx at x: the matrix that `root` has there, by the same call."""
    return _residual_and_matrix(residual, x, *args)[1]


def _residual_and_matrix(residual: Function, x: Sequence[Expr], *args: Sequence[Expr]) -> tuple[list[Expr], Matrix]:
    values, n = call(_with_matrix(residual), x, *args), len(residual.results)
    return values[:n], cut_in_rows(values[n:], n)


def _with_matrix(residual: Function) -> Function:
    """The residual and its derivative by x in one function: most of the work is common. Made once."""
    known: Function | None = residual.__dict__.get("_with_matrix")
    if known is None:
        f = alone(residual)
        J = jacobian(f.results, list(f.inputs[0])).dense()
        known = Function(f"{f.name}_with_matrix", f.inputs, {"r": list(f.results), "J": J})
        residual.__dict__["_with_matrix"] = known
    return known


class _Root(Callee):
    def __init__(self, residual: Function, tolerance: float, limit: int, oriented: bool) -> None:
        self.residual, self.tolerance, self.limit, self.oriented = residual, tolerance, limit, oriented
        self.n = self.n_out = residual.inputs[0].size
        self.name = f"root_{residual.name}"
        self.meaning = f"the first argument of {residual.name} that makes it zero, sought from the value given"

    @classmethod
    def of(cls, residual: Function, tolerance: float, limit: int, oriented: bool) -> _Root:
        """One callee object per problem, so that equal calls are one node."""
        known: dict[tuple[float, int, bool], _Root] = residual.__dict__.setdefault("_roots", {})
        return known.setdefault((tolerance, limit, oriented), cls(residual, tolerance, limit, oriented))

    @property
    def digest(self) -> str:
        return f"root:{self.residual.digest}:{self.tolerance!r}:{self.limit}:{self.oriented}"

    # Inside the loop the state is (x, d, s, e, o): the point, the Newton step, the fraction of it to try, |residual|
    # at x and the sign of the determinant there.
    def _newton(self, x: Sequence[Expr], rest: Sequence[Sequence[Expr]]) -> tuple[list[Expr], Expr, Expr]:
        r, J = _residual_and_matrix(self.residual, x, *rest)
        d = solve(J, [-ri for ri in r])
        return d, largest([absolute(ri) for ri in r]), orientation(J) if self.oriented else r[0].graph.one

    def lowering(self) -> Iteration:
        return self._iteration

    @cached_property
    def _iteration(self) -> Iteration:
        size = 2 * self.n + 3
        return Iteration(self._start(), self._step(size), self._finish(size), size, self.limit)

    def _start(self) -> Function:
        g = Graph()
        x, *rest = (g.block(b.name, b.shape) for b in self.residual.inputs)
        d, e, o = self._newton(list(x), [list(b) for b in rest])
        return Function(f"{self.name}_start", [x, *rest], {"state": [*x, *d, g.one, e, o]})

    def _step(self, size: int) -> Function:
        g = Graph()
        state = _state(g, size, {b.name for b in self.residual.inputs})
        guess, *rest = (g.block(b.name, b.shape) for b in self.residual.inputs)
        x, d, s, e, o = self._unpack(list(state))
        trial = [xi + s * di for xi, di in zip(x, d, strict=True)]
        d_new, e_new, o_new = self._newton(trial, [list(b) for b in rest])
        there = self._is_small(x, d) | (e_new <= 0.0)
        taken = (e_new < e) | (s < _SMALLEST_STEP) | there
        ahead, back = [*trial, *d_new, g.one, e_new, o_new], [*x, *d, 0.5 * s, e, o]
        after = [select(taken, a, b) for a, b in zip(ahead, back, strict=True)]
        before, now = (largest([absolute(di) for di in step]) for step in (d, d_new))
        quick = equal(s, 1.0) & (now < _QUICK * before)
        next_one = [now / before * di for di in d_new]
        done = there | (taken & (self._is_small(trial, d_new) | (quick & self._is_small(trial, next_one))))
        return Function(f"{self.name}_step", [state, guess, *rest], {"state": after, "done": done})

    def _finish(self, size: int) -> Function:
        """The last step is within the tolerance and comes for free; what was not found, or lies at infinity, is nan."""
        g = Graph()
        state, done = _state(g, size, set()), g.symbol("done")
        x, d, _, e, o = self._unpack(list(state))
        best = [select(e > 0.0, xi + di, xi) for xi, di in zip(x, d, strict=True)]
        converged = (done > 0.5) & (largest([absolute(xi) for xi in best]) < math.inf) & (o > 0.0)
        return Function(
            f"{self.name}_finish",
            [state, g.blocks["done"]],
            {"x": [select(converged, xi, g.zero / g.zero) for xi in best]},
        )

    def _unpack(self, state: list[Expr]) -> tuple[list[Expr], list[Expr], Expr, Expr, Expr]:
        s, e, o = state[2 * self.n :]
        return state[: self.n], state[self.n : 2 * self.n], s, e, o

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
        return solve(self._matrix(at), right)

    def adjoint(self, bundle: Bundle, weights: Sequence[Expr]) -> list[Tangent]:
        g = bundle.graph
        at = [*bundle, *bundle.args[self.n :]]
        J = self._matrix(at)
        u = solve([list(c) for c in zip(*J, strict=True)], [-w for w in weights])
        parts = self._call.adjoint(g.call(self._call, at), u)
        return [*([None] * self.n), *parts[self.n :]]

    @property
    def _call(self) -> FunctionCall:
        return callee_of(self.residual)

    def _matrix(self, at: Sequence[Expr]) -> list[list[Expr]]:
        ends = [0, *accumulate(b.size for b in self.residual.inputs)]
        return newton_matrix(self.residual, *(at[a:b] for a, b in pairwise(ends)))

    def reference(self, args: Sequence[Any]) -> Any:
        """The same damped Newton on arrays, with NumPy's solver."""
        columns = np.stack(np.broadcast_arrays(*args), axis=0).astype(float)
        x, rest = columns[: self.n].copy(), list(columns[self.n :])
        done, s = np.zeros(x.shape[1:], bool), np.ones(x.shape[1:])
        d, e, o = self._newton_step(x, rest)
        for _ in range(self.limit):
            trial = x + s * d
            d_new, e_new, o_new = self._newton_step(trial, rest)
            there = self._small_step(x, d) | (e_new <= 0)
            taken = (e_new < e) | (s < _SMALLEST_STEP) | there
            before, now = np.abs(d).max(axis=0), np.abs(d_new).max(axis=0)
            quick = (s == 1.0) & (now < _QUICK * before)
            next_one = np.where(quick, now / np.where(quick, before, 1.0), 1.0) * d_new
            new_done = done | there | (taken & self._small_step(trial, next_one))
            move = taken & ~done
            x, d = np.where(move, trial, x), np.where(move, d_new, d)
            e, o, s = np.where(move, e_new, e), np.where(move, o_new, o), np.where(taken, 1.0, 0.5 * s)
            done = new_done
            if done.all():
                break
        best = np.where(e > 0, x + d, x)
        return list(np.where(done & np.isfinite(best).all(axis=0) & (o > 0), best, np.nan))

    def _newton_step(self, x: Any, rest: list[Any]) -> tuple[Any, Any, Any]:
        flat = np.broadcast_arrays(*evaluate_flat(_with_matrix(self.residual), [*x, *rest]), x[0])[:-1]
        r = np.stack(flat[: self.n], axis=-1)
        J = np.stack(flat[self.n :], axis=-1).reshape(*r.shape, self.n)
        good = np.isfinite(J).all(axis=(-1, -2))
        o = np.linalg.slogdet(np.where(good[..., None, None], J, 0.0))[0]
        good &= o != 0.0
        d = np.linalg.solve(np.where(good[..., None, None], J, np.eye(self.n)), -r[..., None])[..., 0]
        d = np.where(good[..., None], d, np.nan)
        return np.moveaxis(d, -1, 0), np.abs(r).max(axis=-1), o if self.oriented else np.ones_like(o)

    def _small_step(self, x: Any, d: Any) -> Any:
        return ~((np.abs(d) - self.tolerance * (1.0 + np.abs(x))).max(axis=0) > 0)


def _state(g: Graph, size: int, taken: set[str]) -> Block:
    """The block of the loop's state, under a name the residual does not use."""
    name = "state"
    while name in taken:
        name += "_"
    return g.block(name, size)
