"""Newton-Raphson at the end of a step of a second-order method.

The unknowns are y = (vdot, dz) and lambda; with J the matrix of y, B that of lambda and G that of the constraints,

    J dy - B dlambda = -rho,   G dy = -c      =>      (G J^-1 B) dlambda = G J^-1 rho - c

solved in the sense of the minimum norm, so that redundant constraints are no trouble.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torseur.graph import Expr, Function, Graph, absolute, call, jacobian, minimum_norm_solve, solve
from torseur.graph.linear import largest
from torseur.simulation.solvers.iteration import Loop
from torseur.simulation.solvers.problem import Implicit, Problem
from torseur.simulation.solvers.sheet import Sheet

if TYPE_CHECKING:
    from torseur.simulation.solvers.second_order import GeneralisedAlpha

__all__ = ["Found", "Newton"]

Matrix = list[list[Expr]]

_RANK = 1e-9
"""Pivots of the constraints below this fraction of the largest count as redundant."""


@dataclass(frozen=True)
class Found:
    """vdot and dz side by side, multipliers, how many iterations, and whether they converged (1 or 0)."""

    rates: list[Expr]
    lam: list[Expr]
    count: Expr
    converged: Expr


class Newton:
    """The equations at the end of a step, and their solution."""

    def __init__(self, method: GeneralisedAlpha, problem: Problem, implicit: Implicit) -> None:
        self.method, self.problem, self.implicit = method, problem, implicit
        v, z = problem.columns("v"), problem.columns("z")
        self.nv, self.nz, self.rows = int(v.stop - v.start), int(z.stop - z.start), len(implicit.holonomic)
        self.functions = [implicit.residual, implicit.tangent]
        if self.nz:
            self.functions.append(_state_tangent(problem, implicit))

    def end(
        self, h: Expr, x: Sequence[Expr], before: Sequence[Expr], pseudo: Sequence[Expr], rates: Sequence[Expr]
    ) -> tuple[list[Expr], list[Expr]]:
        """The state at the end of the step and its pseudo-accelerations, from those at its beginning."""
        beta, (q, v, z) = self.method.beta, (list(x[self.problem.columns(name)]) for name in ("q", "v", "z"))
        speeds, a = self.method.moved(h, [*v, *z], before, pseudo, rates)
        move = [
            h * (vi + h * ((0.5 - beta) * a0 + beta * a1)) for vi, a0, a1 in zip(v, pseudo[: self.nv], a, strict=False)
        ]
        given = {"q": q, "d": move}
        displace = self.implicit.displace
        return [*call(displace, *(given[b.name] for b in displace.inputs)), *speeds], a

    def solve(
        self,
        sheet: Sheet,
        t: Expr,
        h: Expr,
        x: Sequence[Expr],
        before: Sequence[Expr],
        pseudo: Sequence[Expr],
        lam: Sequence[Expr],
    ) -> Found:
        """Iterate from the rates and multipliers at the beginning of the step."""
        sizes = {"now": 2, "x": len(x), "before": len(before), "pseudo": len(pseudo), "lam": len(lam)}
        loop = Loop("newton", self._start(sheet, sizes), self._step(sheet, sizes), self._finish(), self._limit)
        inner = sheet.inner(self.functions, **sizes)
        given: dict[str, Sequence[Expr]] = {"now": [t, h], "x": x, "before": before, "pseudo": pseudo, "lam": lam}
        given |= {f"work{k}": sheet.prologue(f) for k, f in enumerate(self.functions)}
        given |= {name: list(block) for name, block in sheet.held.items()}
        flat = [e for b in inner.inputs for e in given[b.name]]
        found = list(sheet.graph.call(loop, flat))
        n = self.nv + self.nz
        return Found(found[:n], found[n : n + self.rows], found[-2], found[-1])

    @property
    def _limit(self) -> int:
        return self.method.iterations

    @property
    def _state_size(self) -> int:
        return self.nv + self.nz + self.rows + 1

    def _start(self, outer: Sheet, sizes: dict[str, int]) -> Function:
        sheet = outer.inner(self.functions, **sizes)
        state = [*sheet.block("before"), *sheet.block("lam"), sheet.graph.zero]
        return Function("newton_start", sheet.inputs, {"state": state})

    def _finish(self) -> Function:
        g = Graph()
        state, done = g.block("state", self._state_size), g.block("done", 1)
        return Function("newton_finish", [state, done], {"found": [*state, *done]})

    def _step(self, outer: Sheet, sizes: dict[str, int]) -> Function:
        sheet = outer.inner(self.functions, state=self._state_size, **sizes)
        n = self.nv + self.nz
        t, h = sheet.block("now")
        state = sheet.block("state")
        rates, lam, count = state[:n], state[n:-1], state[-1]
        x, _ = self.end(h, sheet.block("x"), sheet.block("before"), sheet.block("pseudo"), rates)
        dy, dlam = self._correction(sheet, t, h, x, rates, lam)
        after = [a + b for a, b in zip([*rates, *lam], [*dy, *dlam], strict=True)]
        excess = [
            absolute(h * d) - self.method.precision * (1.0 + size)
            for d, size in zip(dy, self._sizes(h, sheet.block("x"), x, rates), strict=True)
        ]
        done = ~(largest(excess) > 0.0)  # nan does not get better
        return Function("newton_step", sheet.inputs, {"state": [*after, count + 1.0], "done": done})

    def _sizes(self, h: Expr, before: Sequence[Expr], after: Sequence[Expr], rates: Sequence[Expr]) -> list[Expr]:
        """What v and z are sums of: their rounding is what Newton's method can reach."""
        v, z = self.problem.columns("v"), self.problem.columns("z")
        ends = zip([*before[v], *before[z]], [*after[v], *after[z]], rates, strict=True)
        return [largest([absolute(a), absolute(b), absolute(h * r)]) for a, b, r in ends]

    def _correction(
        self, sheet: Sheet, t: Expr, h: Expr, x: list[Expr], rates: list[Expr], lam: list[Expr]
    ) -> tuple[list[Expr], list[Expr]]:
        blocks = {"vdot": rates[: self.nv], "lam": lam}
        found = _named(self.implicit.residual, sheet.call(self.implicit.residual, t, x, **blocks))
        T = _named(self.implicit.tangent, sheet.call(self.implicit.tangent, t, x, **blocks))
        rho = [*found["r"], *(unknown - f for unknown, f in zip(rates[self.nv :], found.get("dz", []), strict=True))]
        Z = _named(self.functions[2], sheet.call(self.functions[2], t, x, **blocks)) if self.nz else {}
        J, B = self._matrices(h, T, Z)
        base = solve(J, rho)
        if not self.rows:
            return [-b for b in base], []
        columns = [solve(J, [row[k] for row in B]) for k in range(self.rows)]
        G, c = self._constraints(h, T, Z, found["h"])
        right = [_dot(row, base) - ck for row, ck in zip(G, c, strict=True)]
        S = [[_dot(row, column) for column in columns] for row in G]
        dlam, _ = minimum_norm_solve(S, right, tolerance=_RANK)
        dy = [_dot(list(row), dlam) - b for row, b in zip(zip(*columns, strict=True), base, strict=True)]
        return dy, dlam

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

    def _constraints(
        self, h: Expr, T: dict[str, list[Expr]], Z: dict[str, list[Expr]], values: list[Expr]
    ) -> tuple[Matrix, list[Expr]]:
        """The rows of the constraints, divided by the factor their leading part has."""
        nv, nz = self.nv, self.nz
        by_v, by_q = self._factors(h)
        G, c = [], []
        for k, holonomic in enumerate(self.implicit.holonomic):
            H = T["H"][k * nv : (k + 1) * nv]
            if not holonomic:
                A = T["A"][k * nv : (k + 1) * nv]
                H = [a + (by_q / by_v) * b for a, b in zip(A, H, strict=True)]
            own = by_q if holonomic else by_v
            G.append([*H, *((by_v / own) * x for x in Z["hz"][k * nz : (k + 1) * nz])] if nz else H)
            c.append(values[k] / own)
        return G, c

    def _factors(self, h: Expr) -> tuple[Expr, Expr]:
        """dv1/dvdot1 and dq1/dvdot1."""
        by_v = (self.method.gamma * self.method.share) * h
        return by_v, (self.method.beta * self.method.share) * h * h


def _named(function: Function, flat: Sequence[Expr]) -> dict[str, list[Expr]]:
    """The results of a call by the names of its outputs."""
    found, start = {}, 0
    for output in function.outputs:
        found[output.name] = list(flat[start : start + len(output.exprs)])
        start += len(output.exprs)
    return found


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
