"""Normal forces that loads of the same instant depend on: friction, creep, tyres.

With M x = f + A' lambda, A x = b, the multipliers are affine in the forces f. Let N be the k normal forces (rows S of
lambda) that the forces read, and y_i the x of f = 0, b = e_i. The matrix of the equations is symmetric, so

    lambda_i(f) = lambda_i(f0) - y_i . (f - f0)                        (one more right-hand side for each of the k)
    N_i = lambda_i(f0) - y_i . (f(max(N, 0)) - f(0)),   f0 = f(0)

k equations for k unknowns, solved by Newton's method from max(lambda(f0), 0): from the instant alone. Their matrix is
D = I + Y' df/dN. It is I without such loads; where det D reaches zero as friction grows there is no solution, or there
are several: jamming (Painleve 1895). Beyond it N is nan, so that nothing goes on with one solution of many.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from torseur.dynamics.matrices import Matrix, determinant, dot, transposed
from torseur.dynamics.workbench import Workbench
from torseur.errors import ModelError
from torseur.graph import Expr, Function, Role, absolute, jacobian, maximum, ops, root, select, solve, substitute
from torseur.graph.function import reachable
from torseur.graph.linear import largest
from torseur.graph.nodes import Node

__all__ = ["Normals", "SolvedWithNormals", "cut", "normal_rows", "normals_read", "solved_normals"]

TOLERANCE = 1e-12
"""Of the last Newton step, as a part of the largest normal force."""


@dataclass(frozen=True)
class Normals:
    """Normal forces that forces read, and what they are.

    Attributes:
        symbols: of those that are read.
        rows: the places of their rows.
        values: what they are; below zero where a wheel that cannot lift is pulled down, nan where D is not regular.
        Y, D: (k, nv) and (k, k), see the module.
        slopes: df/dN (nv, k) there.
    """

    symbols: tuple[Expr, ...]
    rows: tuple[int, ...]
    values: tuple[Expr, ...]
    Y: Matrix
    D: Matrix
    slopes: Matrix

    @property
    def pushes(self) -> dict[Expr, Expr]:
        """What laws see: never below zero."""
        return {s: maximum(x, 0.0) for s, x in zip(self.symbols, self.values, strict=True)}


def normals_read(w: Workbench, exprs: Sequence[Expr]) -> list[int]:
    """The places, among all normal forces, of those that expressions read."""
    used = {node.id for node in reachable(list(exprs)) if node.op is ops.SYMBOL} if exprs else set()
    return [k for k, N in enumerate(w.system.normals) if N.id in used]


def normal_rows(w: Workbench) -> dict[Expr, int]:
    """Symbol of a normal force -> the place of its row."""
    owners = [row.owner for row in w.constraints.rows]
    names = w.system.mechanism.pushing
    found = {}
    for name, N in zip(names, w.system.normals, strict=True):
        if f"constraints.{name}" in owners:
            found[N] = owners.index(f"constraints.{name}")
    return found


def solved_normals(w: Workbench, f: Sequence[Expr]) -> Normals | None:
    """The normal forces that f reads, found from the equations of motion under f; None where it reads none."""
    places = normals_read(w, f)
    if not places:
        return None
    symbols, rows = [w.system.normals[k] for k in places], normal_rows(w)
    still = [w.system.mechanism.pushing[k] for k, N in zip(places, symbols, strict=True) if N not in rows]
    if still:
        raise ModelError(
            "no coordinate changes the height of a contact whose normal force is read",
            where=("constraints", still[0]),
            remedy="let the body move across the ground, or give the force as a number",
        )
    g, n = w.system.graph, w.tree.nv
    f0 = substitute(list(f), dict.fromkeys(symbols, 0.0))
    at_rest = w.allowed.multipliers(w.allowed.solve(f0, w.constraints.b), f0)
    lam0 = [at_rest[rows[N]] for N in symbols]
    units = [[g.one if i == rows[N] else g.zero for i in range(len(w.constraints.rows))] for N in symbols]
    Y = [w.allowed.solve([g.zero] * n, unit) for unit in units]
    values = _roots(w, symbols, lam0, Y, f, f0)
    by_N = jacobian(list(f), symbols).dense()
    at = {N: maximum(x, 0.0) for N, x in zip(symbols, values, strict=True)}
    pulled = [x <= 0.0 for x in values]  # of nan, which is no root, not
    slopes = [[select(p, 0.0, x) for p, x in zip(pulled, substitute(row, at), strict=True)] for row in by_N]
    columns = transposed(slopes)
    D = [[dot(y, c) + (1.0 if i == j else 0.0) for j, c in enumerate(columns)] for i, y in enumerate(Y)]
    good = determinant(D) > 0.0
    values = [select(good, x, g.zero / g.zero) for x in values]
    return Normals(tuple(symbols), tuple(rows[N] for N in symbols), tuple(values), Y, D, slopes)


class SolvedWithNormals:
    """Small changes x of accelerations, under forces f and right-hand sides b, where forces follow normal forces.

    n = S lambda(f + F n) with F = df/dN, so that D n = S lambda(f) and x = x(f) + x(F) n.
    """

    def __init__(self, w: Workbench, normals: Normals) -> None:
        self.w, self.normals = w, normals
        still = [w.system.graph.zero] * len(w.constraints.rows)
        self._by_normals = [w.allowed.solve(column, still) for column in transposed(normals.slopes)]

    def solve(self, f: Sequence[Expr], b: Sequence[Expr]) -> list[Expr]:
        x = self.w.allowed.solve(f, b)
        lam = self.w.allowed.multipliers(x, f)
        n = solve(self.normals.D, [lam[k] for k in self.normals.rows])
        for change, column in zip(n, self._by_normals, strict=True):
            x = [xi + change * c for xi, c in zip(x, column, strict=True)]
        return x


def _roots(
    w: Workbench, symbols: list[Expr], lam0: list[Expr], Y: list[list[Expr]], f: Sequence[Expr], f0: Sequence[Expr]
) -> list[Expr]:
    """N by Newton's method, in parts of the largest multiplier at hand."""
    g = w.system.graph
    first = {N: maximum(x, 0.0) for N, x in zip(symbols, lam0, strict=True)}
    f1 = substitute(list(f), first)
    changes = [dot(y, [a - b for a, b in zip(f1, f0, strict=True)]) for y in Y]
    size = largest([absolute(x) for x in (*lam0, *changes)])
    size = select(size > 0.0, size, 1.0)
    x = g.block(_unused(g, "x_normals"), len(symbols), Role.STATE)
    scaled = {N: size * maximum(xi, 0.0) for N, xi in zip(symbols, x, strict=True)}
    pushed = substitute([fi - f0i for fi, f0i in zip(f, f0, strict=True)], scaled)
    felt = [dot(y, pushed) for y in Y]
    if not any(node.id in {xi.id for xi in x} for node in reachable(felt)):
        return lam0  # these forces have no share in the normal ones
    R = [xi + (e - lam) / size for xi, e, lam in zip(x, felt, lam0, strict=True)]
    function, known = cut(f"normals_{len(symbols)}", list(x), R)
    guess = [maximum(lam, 0.0) / size for lam in lam0]
    return [size * xi for xi in root(function, guess, known, tolerance=TOLERANCE)]


def cut(name: str, unknowns: Sequence[Expr], exprs: Sequence[Expr]) -> tuple[Function, list[Expr]]:
    """Expressions as a function of some symbols, which are a whole block, and of whatever else goes into them.

    What does not depend on the symbols is computed once, outside: the second block of the function stands for it.
    """
    g = unknowns[0].graph
    ids = {x.id for x in unknowns}
    depends: set[int] = set()
    order = reachable(list(exprs))
    for node in order:
        if node.id in ids or any(a.id in depends for a in node.args):
            depends.add(node.id)
    known: dict[int, Expr] = {}

    def keep(node: Node) -> None:
        """An operand from outside; of conditions their operands."""
        if node.op in (ops.CONST, ops.TRUTH):
            return
        if isinstance(node, Expr):
            known[node.id] = node
        else:
            for a in node.args:
                keep(a)

    for node in order:
        if node.id in depends:
            for a in node.args:
                if a.id not in depends:
                    keep(a)
    for e in exprs:
        if e.id not in depends:
            keep(e)
    outside = list(known.values())
    block = g.block(_unused(g, f"{name}_known"), max(1, len(outside)), Role.STATE)
    inside = substitute(list(exprs), dict(zip(outside, block, strict=False)))
    unknown = g.blocks[unknowns[0].data[0]]
    return Function(name, [unknown, block], {"r": inside}), outside or [g.zero]


def _unused(g: object, name: str) -> str:
    blocks: Mapping[str, object] = g.blocks  # type: ignore[attr-defined]
    return name if name not in blocks else next(f"{name}_{k}" for k in range(2, 10**6) if f"{name}_{k}" not in blocks)
