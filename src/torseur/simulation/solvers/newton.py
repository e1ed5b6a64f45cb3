"""Newton-Raphson at the end of a step of a second-order method.

The unknowns are y = (vdot, dz) and lambda; with J the matrix of y, B that of lambda and G that of the constraints,

    J dy - B dlambda = -rho,   G dy = -c      =>      (G J^-1 B) dlambda = G J^-1 rho - c

solved in the sense of the minimum norm, so that redundant constraints are no trouble. It is written as a bounded loop,
`Loop`, a node of a graph.

Most steps do with a matrix of an earlier step: see `torseur.simulation.solvers.second_order`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from torseur.errors import GraphError
from torseur.graph import Expr, Function, Graph, absolute, call, jacobian, minimum_norm_solve, pseudo_inverse, solve
from torseur.graph.calls import Callee, Iteration, Tangent
from torseur.graph.evaluate import evaluate_flat
from torseur.graph.linear import WRITTEN_OUT, largest
from torseur.graph.nodes import Bundle
from torseur.simulation.solvers.problem import Implicit, Problem
from torseur.simulation.solvers.step_graph import StepGraph

if TYPE_CHECKING:
    from torseur.simulation.solvers.second_order import GeneralisedAlpha

__all__ = ["Ends", "Loop", "Newton", "NewtonResult", "named"]


class Loop(Callee):
    """state = start(args); until done, state, done = step(state, args); at last finish(state, done).

    It has no derivative: steps of integration are not differentiated.

    Args:
        limit: of the iterations.
        is_gated: whether the first argument, 0 or 1, says that the loop is wanted; else the results say nothing.
    """

    def __init__(
        self, name: str, start: Function, step: Function, finish: Function, limit: int, *, is_gated: bool = False
    ) -> None:
        self.name, self.meaning, self.is_gated = name, "the state that a loop ends with", is_gated
        self.n_out = len(finish.results)
        self._iteration = Iteration(start, step, finish, len(start.results), limit)
        parts = [c.depth for f in (start, step, finish) for c in f.callees]
        self.depth = 1 + max(parts, default=0)

    @property
    def digest(self) -> str:
        loop = self._iteration
        parts = loop.start.digest, loop.step.digest, loop.finish.digest, str(loop.limit)
        return ":".join(["gated loop" if self.is_gated else "loop", *parts])

    def lowering(self) -> Iteration:
        return self._iteration

    def tangent(self, bundle: Bundle, tangents: Sequence[Tangent]) -> list[Expr]:
        raise self._refusal()

    def adjoint(self, bundle: Bundle, weights: Sequence[Expr]) -> list[Tangent]:
        raise self._refusal()

    def _refusal(self) -> GraphError:
        return GraphError(f"'{self.name}' has no derivative", remedy="differentiate what it iterates on")

    def reference(self, args: Sequence[Any]) -> Any:
        """The same loop on arrays; what is done keeps its state."""
        loop, arrays = self._iteration, list(np.broadcast_arrays(*args))
        state = [np.broadcast_to(x, arrays[0].shape) for x in evaluate_flat(loop.start, arrays)]
        done = np.zeros(arrays[0].shape, bool)
        for _ in range(loop.limit):
            *after, just = evaluate_flat(loop.step, [*state, *arrays])
            state = [np.where(done, old, new) for old, new in zip(state, after, strict=True)]
            done = done | (np.asarray(just) > 0.5)
            if done.all():
                break
        return evaluate_flat(loop.finish, [*state, done.astype(float)])


Matrix = list[list[Expr]]

_RANK = 1e-9
"""Pivots of the constraints below this fraction of the largest count as redundant."""


@dataclass(frozen=True)
class NewtonResult:
    """vdot and dz side by side, multipliers, how many iterations, and whether they converged (1 or 0)."""

    rates: list[Expr]
    lam: list[Expr]
    count: Expr
    converged: Expr


@dataclass(frozen=True)
class Ends:
    """A step: the time of its end, its length; state, rates and pseudo-accelerations at its beginning."""

    t: Expr
    h: Expr
    x: Sequence[Expr]
    before: Sequence[Expr]
    pseudo: Sequence[Expr]

    @property
    def blocks(self) -> dict[str, Sequence[Expr]]:
        """As the blocks of a loop."""
        return {"now": [self.t, self.h], "x": self.x, "before": self.before, "pseudo": self.pseudo}

    @property
    def sizes(self) -> dict[str, int]:
        return {name: len(block) for name, block in self.blocks.items()}

    @classmethod
    def of(cls, step_graph: StepGraph) -> Ends:
        """Inside a loop."""
        t, h = step_graph.block("now")
        return cls(t, h, step_graph.block("x"), step_graph.block("before"), step_graph.block("pseudo"))


class Newton:
    """The equations at the end of a step, and their solution."""

    def __init__(self, method: GeneralisedAlpha, problem: Problem, implicit: Implicit) -> None:
        self.method, self.problem, self.implicit = method, problem, implicit
        v, z = problem.columns("v"), problem.columns("z")
        self.nv, self.nz, self.rows = int(v.stop - v.start), int(z.stop - z.start), len(implicit.holonomic)
        self.functions = [implicit.residual, implicit.tangent]
        if self.nz:
            self.functions.append(_state_tangent(problem, implicit))

    def end(self, where: Ends, rates: Sequence[Expr]) -> tuple[list[Expr], list[Expr]]:
        """The state at the end of the step and its pseudo-accelerations, from those at its beginning."""
        beta, h = self.method.beta, where.h
        q, v, z = (list(where.x[self.problem.columns(name)]) for name in ("q", "v", "z"))
        speeds, a = self.method.moved(h, [*v, *z], where.before, where.pseudo, rates)
        both = zip(v, where.pseudo[: self.nv], a[: self.nv], strict=True)
        given = {"q": q, "d": [h * (vi + h * ((0.5 - beta) * a0 + beta * a1)) for vi, a0, a1 in both]}
        displace = self.implicit.displace
        return [*call(displace, *(given[b.name] for b in displace.inputs)), *speeds], a

    @property
    def size(self) -> int:
        """Of the unknowns: y and lambda."""
        return self.nv + self.nz + self.rows

    def solve(
        self, step_graph: StepGraph, wanted: Expr, where: Ends, rates: Sequence[Expr], lam: Sequence[Expr]
    ) -> NewtonResult:
        """Iterate from some rates and multipliers, where that is wanted."""
        sizes = {"wanted": 1, "rates": len(rates), "lam": len(lam), **where.sizes}
        loop = Loop(
            "newton",
            self._start(step_graph, sizes),
            self._step(step_graph, sizes),
            self._finish(),
            self.method.iterations,
            is_gated=True,
        )
        given = {"wanted": [wanted], "rates": rates, "lam": lam, **where.blocks}
        found = self.iterated(step_graph, loop, given)
        n = self.nv + self.nz
        return NewtonResult(found[:n], found[n : n + self.rows], found[-2], found[-1])

    def iterated(self, step_graph: StepGraph, loop: Loop, given: Mapping[str, Sequence[Expr]]) -> list[Expr]:
        """What a loop over the equations gives, from its blocks by name; what is held is given to it as well."""
        blocks = {**given, **{f"work{k}": step_graph.prologue(f) for k, f in enumerate(self.functions)}}
        blocks |= {name: list(block) for name, block in step_graph.held.items()}
        flat = [e for b in loop.lowering().start.inputs for e in blocks[b.name]]
        return list(step_graph.graph.call(loop, flat))

    def _start(self, outer: StepGraph, sizes: dict[str, int]) -> Function:
        step_graph = outer.inner(self.functions, **sizes)
        state = [*step_graph.block("rates"), *step_graph.block("lam"), step_graph.graph.zero]
        return Function("newton_start", step_graph.inputs, {"state": state})

    def _finish(self) -> Function:
        g = Graph()
        state, done = g.block("state", self.size + 1), g.block("done", 1)
        return Function("newton_finish", [state, done], {"found": [*state, *done]})

    def _step(self, outer: StepGraph, sizes: dict[str, int]) -> Function:
        step_graph = outer.inner(self.functions, state=self.size + 1, **sizes)
        n, state, where = self.nv + self.nz, step_graph.block("state"), Ends.of(step_graph)
        rates, lam, count = state[:n], state[n:-1], state[-1]
        x, _ = self.end(where, rates)
        dy, dlam = self._correction(step_graph, where, x, rates, lam)
        after = [a + b for a, b in zip([*rates, *lam], [*dy, *dlam], strict=True)]
        done = ~(self.excess(where, x, rates, dy) > 1.0)  # nan does not get better
        done = done | ~(step_graph.block("wanted")[0] > 0.5)
        return Function("newton_step", step_graph.inputs, {"state": [*after, count + 1.0], "done": done})

    def excess(self, where: Ends, after: Sequence[Expr], rates: Sequence[Expr], dy: Sequence[Expr]) -> Expr:
        """The largest change of v and z by a correction, over what it is to fall to; nan where one of them is.

        Measured by 1 and what v and z are sums of: their rounding is what Newton's method can reach.
        """
        v, z = self.problem.columns("v"), self.problem.columns("z")
        ends = zip([*where.x[v], *where.x[z]], [*after[v], *after[z]], rates, dy, strict=True)
        parts = [
            absolute(where.h * d) / (1.0 + largest([absolute(a), absolute(b), absolute(where.h * r)]))
            for a, b, r, d in ends
        ]
        return largest(parts) * (1.0 / self.method.precision)

    def residual(
        self, step_graph: StepGraph, t: Expr, x: list[Expr], rates: list[Expr], lam: list[Expr]
    ) -> tuple[list[Expr], list[Expr]]:
        """rho of the rates, and the rows of the constraints as they are."""
        found = named(
            self.implicit.residual, step_graph.call(self.implicit.residual, t, x, vdot=rates[: self.nv], lam=lam)
        )
        dz = zip(rates[self.nv :], found.get("dz", []), strict=True)
        return [*found["r"], *(unknown - f for unknown, f in dz)], found.get("h", [])

    def scaled(self, h: Expr, values: Sequence[Expr]) -> list[Expr]:
        """c: the rows of the constraints, divided by the factor their leading part has."""
        by_v, by_q = self._factors(h)
        return [c / (by_q if own else by_v) for c, own in zip(values, self.implicit.holonomic, strict=True)]

    def _linear(
        self, step_graph: StepGraph, where: Ends, x: list[Expr], rates: list[Expr], lam: list[Expr]
    ) -> tuple[Matrix, Matrix, Matrix]:
        """J of the rates, B of the multipliers, G of the constraints."""
        blocks = {"vdot": rates[: self.nv], "lam": lam}
        T = named(self.implicit.tangent, step_graph.call(self.implicit.tangent, where.t, x, **blocks))
        Z = named(self.functions[2], step_graph.call(self.functions[2], where.t, x, **blocks)) if self.nz else {}
        return *self._matrices(where.h, T, Z), self._constraints(where.h, T, Z)

    def _correction(
        self, step_graph: StepGraph, where: Ends, x: list[Expr], rates: list[Expr], lam: list[Expr]
    ) -> tuple[list[Expr], list[Expr]]:
        rho, values = self.residual(step_graph, where.t, x, rates, lam)
        J, B, G = self._linear(step_graph, where, x, rates, lam)
        base = solve(J, rho)
        if not self.rows:
            return [-b for b in base], []
        columns = [solve(J, [row[k] for row in B]) for k in range(self.rows)]
        right = [_dot(row, base) - ck for row, ck in zip(G, self.scaled(where.h, values), strict=True)]
        S = [[_dot(row, column) for column in columns] for row in G]
        dlam, _ = minimum_norm_solve(S, right, tolerance=_RANK)
        dy = [_dot(list(row), dlam) - b for row, b in zip(zip(*columns, strict=True), base, strict=True)]
        return dy, dlam

    def inverse(self, step_graph: StepGraph, where: Ends, x: list[Expr], rates: list[Expr], lam: list[Expr]) -> Matrix:
        """N with (dy, dlambda) = -N (rho, c): with Y = J^-1 B and P = (G Y)^+,

        N = [J^-1 - Y P G J^-1, Y P; -P G J^-1, P].
        """
        J, B, G = self._linear(step_graph, where, x, rates, lam)
        upper = _inverse(J)
        if not self.rows:
            return upper
        Y = _product(upper, B)
        P, _ = pseudo_inverse(_product(G, Y), tolerance=_RANK)
        back, lower = _product(Y, P), _product(P, _product(G, upper))
        upper = [[a - b for a, b in zip(*rows, strict=True)] for rows in zip(upper, _product(Y, lower), strict=True)]
        top = [[*a, *b] for a, b in zip(upper, back, strict=True)]
        return [*top, *([*(-a for a in row), *p] for row, p in zip(lower, P, strict=True))]

    def _matrices(self, h: Expr, T: dict[str, list[Expr]], Z: dict[str, list[Expr]]) -> tuple[Matrix, Matrix]:
        """J of the rates and B of the multipliers."""
        nv, nz = self.nv, self.nz
        by_v, by_q = self._factors(h)
        J = [
            [T["M"][i * nv + j] + by_v * T["C"][i * nv + j] + by_q * T["K"][i * nv + j] for j in range(nv)]
            for i in range(nv)
        ]
        B = [[T["A"][k * nv + i] for k in range(self.rows)] for i in range(nv)]
        if not nz:
            return J, B
        for i in range(nv):
            J[i] += [by_v * Z["rz"][i * nz + j] for j in range(nz)]
        for i in range(nz):
            row = [-(Z["a"][i * nv + j] + by_v * Z["v"][i * nv + j] + by_q * Z["q"][i * nv + j]) for j in range(nv)]
            J.append([*row, *(float(i == j) - by_v * Z["z"][i * nz + j] for j in range(nz))])
            B.append([Z["lam"][i * self.rows + k] for k in range(self.rows)])
        return J, B

    def _constraints(self, h: Expr, T: dict[str, list[Expr]], Z: dict[str, list[Expr]]) -> Matrix:
        """The rows of the constraints by the rates, divided by the factor their leading part has."""
        nv, nz = self.nv, self.nz
        by_v, by_q = self._factors(h)
        G = []
        for k, holonomic in enumerate(self.implicit.holonomic):
            H = T["H"][k * nv : (k + 1) * nv]
            if not holonomic:
                A = T["A"][k * nv : (k + 1) * nv]
                H = [a + (by_q / by_v) * b for a, b in zip(A, H, strict=True)]
            own = by_q if holonomic else by_v
            G.append([*H, *((by_v / own) * x for x in Z["hz"][k * nz : (k + 1) * nz])] if nz else H)
        return G

    def _factors(self, h: Expr) -> tuple[Expr, Expr]:
        """dv1/dvdot1 and dq1/dvdot1."""
        by_v = (self.method.gamma * self.method.share) * h
        return by_v, (self.method.beta * self.method.share) * h * h


def named(function: Function, flat: Sequence[Expr]) -> dict[str, list[Expr]]:
    """The results of a call by the names of its outputs."""
    found, start = {}, 0
    for output in function.outputs:
        found[output.name] = list(flat[start : start + len(output.exprs)])
        start += len(output.exprs)
    return found


def _inverse(J: Matrix) -> Matrix:
    """By Gauss and Jordan without exchanges where it is written out: what a bad pivot spoils does not converge."""
    n, graph = len(J), J[0][0].graph
    if n > WRITTEN_OUT:
        columns = [solve(J, [graph.one if i == k else graph.zero for i in range(n)]) for k in range(n)]
        return [list(row) for row in zip(*columns, strict=True)]
    W = [list(row) for row in J]
    for k in range(n):
        pivot = 1.0 / W[k][k]
        W[k] = [pivot if j == k else pivot * e for j, e in enumerate(W[k])]
        for i in range(n):
            if i != k:
                factor = W[i][k]
                W[i] = [-factor * pivot if j == k else e - factor * W[k][j] for j, e in enumerate(W[i])]
    return W


def _product(A: Matrix, B: Matrix) -> Matrix:
    columns = [list(column) for column in zip(*B, strict=True)]
    return [[_dot(row, column) for column in columns] for row in A]


def _dot(u: Sequence[Expr], v: Sequence[Expr]) -> Expr:
    total = u[0] * v[0]
    for a, b in zip(u[1:], v[1:], strict=True):
        total = total + a * b
    return total


def _state_tangent(problem: Problem, implicit: Implicit) -> Function:
    """Derivatives by and of the states z: of r and h by z; of dz by vdot, v, q along the speeds, z and lambda."""
    residual = implicit.residual
    blocks = {b.name: list(b) for b in residual.inputs}
    outputs = {o.name: list(o.exprs) for o in residual.outputs}
    dz, zero = outputs["dz"], residual.graph.zero
    nq, nv = (problem.columns(n).stop - problem.columns(n).start for n in ("q", "v"))

    def by(exprs: list[Expr], name: str, size: int) -> Matrix:
        known = exprs and blocks.get(name)
        found = jacobian(exprs, blocks[name]).dense() if known else [[zero] * size for _ in exprs]
        return [list(row) for row in found]

    by_q = by(dz, "q", nq)
    along = _directions(implicit, residual.graph, blocks.get("q"))
    q = [
        [sum((row[i] * along[i][j] for i in range(nq)), zero) for j in range(nv)] if along else [zero] * nv
        for row in by_q
    ]
    tables = {
        "rz": by(outputs["r"], "z", len(dz)),
        "hz": by(outputs.get("h", []), "z", len(dz)),
        "a": by(dz, "vdot", nv),
        "v": by(dz, "v", nv),
        "q": q,
        "z": by(dz, "z", len(dz)),
        "lam": by(dz, "lam", len(implicit.holonomic)),
    }
    return Function("state_tangent", residual.inputs, {k: x for k, x in tables.items() if x and x[0]})


def _directions(implicit: Implicit, graph: Graph, q: list[Expr] | None) -> Matrix | None:
    """dq/dd of the displacement at d = 0 (nq, nv), as calls in the graph of the residual."""
    if q is None:
        return None
    displace = implicit.displace
    d = next(list(b) for b in displace.inputs if b.name == "d")
    table = Function("directions", displace.inputs, {"T": jacobian(displace.results, d).dense()})
    given: dict[str, list[Expr]] = {"q": q, "d": [graph.zero] * len(d)}
    flat = call(table, *(given[b.name] for b in table.inputs))
    return [flat[i * len(d) : (i + 1) * len(d)] for i in range(len(q))]
