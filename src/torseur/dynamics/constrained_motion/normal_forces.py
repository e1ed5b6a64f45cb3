"""Normal forces that loads of the same instant depend on: friction, creep, tyres.

With M x = f + A' lambda, A x = b, the multipliers are affine in the forces f. Let N be the k normal forces (rows S of
lambda) that the forces read, and y_i the x of f = 0, b = e_i. The matrix of the equations is symmetric, so

    lambda_i(f) = lambda_i(f0) - y_i . (f - f0)                        (one more right-hand side for each of the k)
    N_i = lambda_i(f0) - y_i . (f(max(N, 0)) - f(0)),   f0 = f(0)

k equations for k unknowns (W (F(N) - F(0)) in place of the last product, where f = f' + B F(N) and W = Y' B), solved by
Newton's method from max(lambda(f0), 0): from the instant alone. Their matrix is
D = I + Y' df/dN. It is I without such loads; where det D reaches zero as friction grows there is no solution, or there
are several: jamming (Painleve 1895). Beyond it N is nan, so that nothing goes on with one solution of many.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from torseur.dynamics.constrained_motion.solver import constraint_solver
from torseur.dynamics.constraints.rows import Owner
from torseur.dynamics.matrices import Matrix, dot, transposed
from torseur.dynamics.workbench import Workbench
from torseur.errors import ModelError
from torseur.graph import (
    Expr,
    Function,
    Role,
    absolute,
    call,
    jacobian,
    maximum,
    newton_matrix,
    ops,
    root,
    select,
    solve,
    substitute,
)
from torseur.graph.function import reachable
from torseur.graph.linear import largest
from torseur.graph.nodes import Node

__all__ = ["Normals", "SolvedWithNormals", "cut", "normal_rows", "normals_read", "solved_normals"]

TOLERANCE = 1e-12
"""Of the last Newton step, as a part of the largest normal force."""


@dataclass(frozen=True)
class Affine:
    """Forces f = f' + B F(N): F what laws make of normal forces, B and f' free of them."""

    F: tuple[Expr, ...]
    B: Matrix


@dataclass(frozen=True)
class Normals:
    """Normal forces that forces read, and what they are.

    Attributes:
        symbols: of those that are read.
        rows: the places of their rows.
        values: what they are; below zero where a wheel that cannot lift is pulled down, nan where D is not regular.
        f: the forces there.
        D: (k, k), see the module.
        laws: the forces as functions of normal forces.
    """

    symbols: tuple[Expr, ...]
    rows: tuple[int, ...]
    values: tuple[Expr, ...]
    f: tuple[Expr, ...]
    D: Matrix
    laws: Affine

    @property
    def pushes(self) -> dict[Expr, Expr]:
        """What laws see: never below zero."""
        return {s: maximum(x, 0.0) for s, x in zip(self.symbols, self.values, strict=True)}

    @property
    def slopes(self) -> Matrix:
        """df/dN (nv, k) there; zero where a wheel is pulled."""
        pulled = [x <= 0.0 for x in self.values]  # of nan, which is no root, not
        by_N = [substitute(row, self.pushes) for row in jacobian(list(self.laws.F), list(self.symbols)).dense()]
        columns = transposed([[select(p, 0.0, x) for p, x in zip(pulled, row, strict=True)] for row in by_N])
        return [[dot(b, c) for c in columns] for b in self.laws.B]


def normals_read(w: Workbench, exprs: Sequence[Expr]) -> list[int]:
    """The places, among all normal forces, of those that expressions read."""
    used = {node.id for node in reachable(list(exprs)) if node.op is ops.SYMBOL} if exprs else set()
    return [k for k, N in enumerate(w.system.normals) if N.id in used]


def normal_rows(w: Workbench) -> dict[Expr, int]:
    """Symbol of a normal force -> the place of its row."""
    first = {row.owner: k for k, row in reversed(list(enumerate(w.constraints.rows)))}
    pushing = zip(w.system.normals, (Owner("constraints", name) for name in w.system.mechanism.pushing), strict=True)
    return {N: first[owner] for N, owner in pushing if owner in first}


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
    laws, unloaded = _affine(f, symbols), dict.fromkeys(symbols, 0.0)
    F0, f0 = substitute(list(laws.F), unloaded), substitute(list(f), unloaded)
    at_rest = constraint_solver(w).multipliers(constraint_solver(w).solve(f0, w.constraints.b), f0)
    lam0 = [at_rest[rows[N]] for N in symbols]
    units = [[g.one if i == rows[N] else g.zero for i in range(len(w.constraints.rows))] for N in symbols]
    Y = [constraint_solver(w).solve([g.zero] * n, unit) for unit in units]
    W = [[dot(y, column) for column in transposed(laws.B)] for y in Y]
    added = _added_forces(symbols, laws, F0)
    values, D = _roots(symbols, lam0, W, added)
    F = added([maximum(x, 0.0) for x in values], is_call=True)
    at = [x + dot(row, F) for x, row in zip(f0, laws.B, strict=True)]
    return Normals(tuple(symbols), tuple(rows[N] for N in symbols), tuple(values), tuple(at), D, laws)


class SolvedWithNormals:
    """Small changes x of accelerations, under forces f and right-hand sides b, where forces follow normal forces.

    n = S lambda(f + F n) with F = df/dN, so that D n = S lambda(f) and x = x(f) + x(F) n.
    """

    def __init__(self, w: Workbench, normals: Normals) -> None:
        self.w, self.normals = w, normals
        still = [w.system.graph.zero] * len(w.constraints.rows)
        self._by_normals = [constraint_solver(w).solve(column, still) for column in transposed(normals.slopes)]

    def solve(self, f: Sequence[Expr], b: Sequence[Expr]) -> list[Expr]:
        x = constraint_solver(self.w).solve(f, b)
        lam = constraint_solver(self.w).multipliers(x, f)
        n = solve(self.normals.D, [lam[k] for k in self.normals.rows])
        for change, column in zip(n, self._by_normals, strict=True):
            x = [xi + change * c for xi, c in zip(x, column, strict=True)]
        return x


def _affine(f: Sequence[Expr], symbols: Sequence[Expr]) -> Affine:
    """The first expressions, seen from f, in which f is no longer affine, and how f depends on them.

    Laws of tyres are a few numbers for each wheel; what carries them through the mechanism to f is linear, and stays
    out of the equations that are solved for N.
    """
    g, depends = symbols[0].graph, {N.id for N in symbols}
    for node in reachable(list(f)):
        if any(a.id in depends for a in node.args):
            depends.add(node.id)
    front: dict[int, Expr] = {}
    waiting, seen = [e for e in f if e.id in depends], set[int]()
    while waiting:
        node = waiting.pop()
        if node.id in seen:
            continue
        seen.add(node.id)
        inner = [a for a in node.args if a.id in depends]
        plain = node.op in (ops.ADD, ops.SUB, ops.NEG) or (node.op is ops.MUL and len(inner) == 1)
        if plain or (node.op is ops.DIV and inner == [node.args[0]]):
            waiting += inner
        else:
            front[node.id] = node
    F = [front[k] for k in sorted(front)]
    stand_ins = g.block(_unused(g, "laws_of_normals"), len(F), Role.STATE)
    linear = substitute(list(f), dict(zip(F, stand_ins, strict=True)))
    return Affine(tuple(F), jacobian(linear, list(stand_ins)).dense())


class _AddedForces(Protocol):
    """F(N) - F(0); as a call, which is compiled once, or written out."""

    def __call__(self, pushes: Sequence[Expr], *, is_call: bool) -> list[Expr]: ...


def _added_forces(symbols: Sequence[Expr], laws: Affine, F0: Sequence[Expr]) -> _AddedForces:
    g = symbols[0].graph
    N = g.block(_unused(g, "pushes"), len(symbols), Role.STATE)
    added = [a - b for a, b in zip(laws.F, F0, strict=True)]
    of_N = substitute(added, dict(zip(symbols, N, strict=True)))
    function, known = cut(f"laws_{len(symbols)}", list(N), of_N)

    def at(pushes: Sequence[Expr], *, is_call: bool) -> list[Expr]:
        return call(function, pushes, known) if is_call else substitute(of_N, dict(zip(N, pushes, strict=True)))

    return at


def _roots(symbols: Sequence[Expr], lam0: Sequence[Expr], W: Matrix, added: _AddedForces) -> tuple[list[Expr], Matrix]:
    """N by Newton's method, in parts of the largest multiplier at hand, and D there; W = Y' B."""
    g, k = symbols[0].graph, len(symbols)

    size = largest([absolute(x) for x in lam0])
    size = select(size > 0.0, size, 1.0)
    x = g.block(_unused(g, "x_normals"), k, Role.STATE)
    F = added([size * maximum(xi, 0.0) for xi in x], is_call=False)
    at_x = [dot(row, F) for row in W]
    if not any(node.id in {xi.id for xi in x} for node in reachable(at_x)):  # these forces have no share in N
        return list(lam0), [[g.one if i == j else g.zero for j in range(k)] for i in range(k)]
    R = [xi + (e - lam) / size for xi, e, lam in zip(x, at_x, lam0, strict=True)]
    function, known = cut(f"normals_{k}", list(x), R)
    guess = [maximum(lam, 0.0) / size for lam in lam0]
    roots = root(function, guess, known, tolerance=TOLERANCE, oriented=True)
    return [size * xi for xi in roots], newton_matrix(function, roots, known)


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
