"""The inertia matrix by composite bodies, from the tips to the base; its factors along the branches of the tree; and
systems solved with it in O(n) by articulated bodies.

Walker & Orin 1982; Mampey's backward recursion (Llibre, Mampey & Chretien 1983, section III) does the same in base
axes. The composite inertia of a link is that of the rigid body it would form with everything it carries; the wrench
that a unit acceleration of one joint takes is passed down and projected on every joint on the way.

M = L' D L with L unit lower triangular (Featherstone, Rigid Body Dynamics Algorithms, section 6.5): eliminated from
the tips, the zeros between branches stay zeros, so a factor has no more entries than the matrix. No pivoting is
needed: M is positive definite wherever the mechanism has mass.

Articulated bodies are those of Featherstone's chapter 7, with one change: velocities, gravity and loads are all in the
bias of the Newton-Euler recursion at zero acceleration, so what is left is M vdot = tau - bias, a recursion without a
single velocity.

======  ================================================================================  ==================
IA      articulated inertia of a link: wrench and acceleration when all it carries is free
U, D    IA S, and S . U with the inertia of drives: what one column of a joint meets       (7.43), (7.44)
p       wrench that what is beyond asks for
u       the acceleration that a column has of its own                                      (7.45)
a       acceleration of a link, gravity and velocities aside
======  ================================================================================  ==================

A column that is free takes U U' / D out of IA; one along an axis leaves zeros in its row and column.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from torseur.dynamics.tree.kinematics import Kinematics
from torseur.dynamics.tree.tree import Rotor, Tree
from torseur.graph import Expr, products_at
from torseur.graph.products import are_many
from torseur.spatial.inertia import ArticulatedInertia, Inertia
from torseur.spatial.pose import Motion, Wrench
from torseur.spatial.vectors import dot

__all__ = [
    "Factors",
    "ZeroPivot",
    "articulated_solve",
    "composite_inertias",
    "factorise",
    "inverse_of",
    "mass_matrix",
    "solve_with",
]


def composite_inertias(tree: Tree) -> list[Inertia]:
    """For each link, the inertia of it and all it carries, in its own frame."""
    IC = [link.inertia for link in tree.links]
    for k, link in tree.tips_first:
        if link.parent >= 0:
            IC[link.parent] += link.K @ (link.motion @ IC[k])
    return IC


def mass_matrix(tree: Tree) -> list[list[Expr]]:
    """M(q) (nv, nv), symmetric: entries of links on different branches are zero."""
    many = are_many(tree.pairs_on_branches) and not tree.shares_speeds
    A = _by_products(tree) if many else _by_wrenches(tree)
    for rotor in tree.rotors:
        _add_rotor(tree, A, rotor)
    name = tree.system.graph.name
    return [[name(x, f"A{max(i, j) + 1}_{min(i, j) + 1}") for j, x in enumerate(row)] for i, row in enumerate(A)]


def _by_products(tree: Tree) -> list[list[Expr]]:
    """In world axes: S_i' IC_j S_j of every joint i that carries j."""
    columns = dict[int, tuple[Motion, Wrench]]()
    poses = Kinematics(tree).poses
    IC = [X @ link.inertia for X, link in zip(poses, tree.links, strict=True)]
    for k, link in tree.tips_first:
        columns |= {j: (poses[k] @ S, IC[k] @ (poses[k] @ S)) for j, S in link.columns}
        if link.parent >= 0:
            IC[link.parent] += IC[k]
    S, momentum = ([columns[j][side].six for j in range(tree.nv)] for side in (0, 1))
    A = products_at(tree.pairs_on_branches, S, momentum, momentum, S)
    for link in tree.links:
        for i, j in product(link.places, link.places):
            A[i][j] = dot(columns[max(i, j)][0], columns[min(i, j)][1])
    return A


def _by_wrenches(tree: Tree) -> list[list[Expr]]:
    g, n, IC = tree.system.graph, tree.nv, composite_inertias(tree)
    A = [[g.zero] * n for _ in range(n)]
    for k, link in enumerate(tree.links):
        for c, (i, S) in enumerate(link.columns):
            F = IC[k] @ S
            for j, Sj in link.columns[: c + 1]:
                A[i][j] = A[j][i] = A[i][j] + dot(Sj, F)
            for j, Sj, Fj in _passed_down(tree, k, F):
                both = 2.0 if i == j else 1.0  # where one speed moves both, both orders of the pair count
                A[i][j] = A[j][i] = A[i][j] + both * dot(Sj, Fj)
    return A


def _passed_down(tree: Tree, k: int, F: Wrench) -> Iterator[tuple[int, Motion, Wrench]]:
    """The columns of all links below one, and the wrench on it as they feel it."""
    while tree.links[k].parent >= 0:
        F, k = tree.links[k].pose @ F, tree.links[k].parent
        for j, S in tree.links[k].columns:
            yield j, S, F


def _add_rotor(tree: Tree, A: list[list[Expr]], rotor: Rotor) -> None:
    """ratio^2 inertia on the diagonal; ratio inertia (e . w) couples it to every joint that turns its carrier."""
    k, j = rotor.speed, rotor.inertia * rotor.ratio
    A[k][k] = A[k][k] + rotor.ratio * j
    link, e = rotor.link, j * rotor.axis
    while link >= 0:
        for i, S in tree.links[link].columns:
            share = dot(S.angular, e)
            A[k][i] = A[k][i] + share
            A[i][k] = A[i][k] + share if i == k else A[k][i]
        link, e = tree.links[link].parent, tree.links[link].pose.R @ e


# -- factors -----------------------------------------------------------------------------------------------------------
Factors = tuple[list[list[Expr]], list[Expr]]
"""L below the diagonal, and the inverses of D."""


class ZeroPivot(ArithmeticError):
    """A pivot that is zero whatever the values of the symbols."""

    def __init__(self, place: int) -> None:
        super().__init__(place)
        self.place = place


def factorise(M: Sequence[Sequence[Expr]], order: Sequence[int], parents: Sequence[int]) -> Factors:
    """L and 1/D; `order` lists the speeds from the root on, parents[i] is the one next below i on its branch, or -1."""
    H = [list(row) for row in M]
    inverse: list[Expr] = [row[0] for row in H]
    for k in reversed(order):
        if H[k][k] is H[k][k].graph.zero:
            raise ZeroPivot(k)
        inverse[k] = 1.0 / H[k][k]
        i = parents[k]
        while i >= 0:
            a = H[k][i] * inverse[k]
            j = i
            while j >= 0:
                H[i][j] = H[i][j] - a * H[k][j]
                j = parents[j]
            H[k][i] = a
            i = parents[i]
    return H, inverse


def inverse_of(factors: Factors, order: Sequence[int], parents: Sequence[int]) -> list[list[Expr]]:
    """The inverse X of M: L X = D^-1 L'^-1, whose right side is D^-1 on the diagonal and zero behind it.

    Column after column from the root on; what stands before the diagonal is known, since X is symmetric.
    """
    L, inverse = factors
    zero, n = inverse[0].graph.zero, len(order)
    X = [[zero] * n for _ in range(n)]
    for place, j in enumerate(order):
        for i in order[place:]:
            x, k = inverse[j] if i == j else zero, parents[i]
            while k >= 0:
                x = x - L[i][k] * X[k][j]
                k = parents[k]
            X[i][j] = X[j][i] = x
    return X


def solve_with(factors: Factors, b: Sequence[Expr], order: Sequence[int], parents: Sequence[int]) -> list[Expr]:
    """x with M x = b."""
    (L, inverse), x = factors, list(b)
    for i in reversed(order):
        j = parents[i]
        while j >= 0:
            x[j] = x[j] - L[i][j] * x[i]
            j = parents[j]
    x = [xi * d for xi, d in zip(x, inverse, strict=True)]
    for i in order:
        j = parents[i]
        while j >= 0:
            x[i] = x[i] - L[i][j] * x[j]
            j = parents[j]
    return x


def articulated_solve(tree: Tree, right: Sequence[Expr]) -> list[Expr]:
    """vdot with M(q) vdot = right, where every speed moves one link; rotors without a carrier add to the diagonal."""
    g, drives = tree.system.graph, _drive_inertias(tree)
    IA = [ArticulatedInertia.of(link.inertia) for link in tree.links]
    p = [Wrench.zero(g) for _ in tree.links]
    U: list[Wrench] = [Wrench.zero(g)] * tree.nv
    u: list[Expr] = [g.zero] * tree.nv
    for k, link in tree.tips_first:
        for i, (j, S) in reversed(list(enumerate(link.columns))):
            Uj = IA[k] @ S
            D = dot(S, Uj) + drives.get(j, g.zero)
            if D is g.zero:
                raise tree.without_mass(j)
            inverse = 1.0 / D
            u[j] = (right[j] - dot(S, p[k])) * inverse
            U[j] = Uj * inverse
            if link.parent >= 0 or i:
                IA[k] = IA[k].freed(Uj, inverse, None if j in drives else _axis(S))
                p[k] += Uj * u[j]
        if link.parent >= 0:
            IA[link.parent] += link.K @ (link.motion @ IA[k])
            p[link.parent] += link.pose @ p[k]
    return _outward(tree, U, u)


def _outward(tree: Tree, U: Sequence[Wrench], u: Sequence[Expr]) -> list[Expr]:
    """From the base to the tips: vdot = u - U . a / D, and a grows by S vdot."""
    g = tree.system.graph
    vdot: list[Expr] = [g.zero] * tree.nv
    a: list[Motion] = []
    for k, link in enumerate(tree.links):
        a.append(link.pose.inv @ a[link.parent] if link.parent >= 0 else Motion.zero(g))
        for j, S in link.columns:
            vdot[j] = u[j] - dot(a[k], U[j])
            a[k] += S * vdot[j]
    return vdot


def _drive_inertias(tree: Tree) -> dict[int, Expr]:
    """By speed, of drives that have some."""
    total: dict[int, Expr] = {}
    for rotor in tree.rotors:
        total[rotor.speed] = total.get(rotor.speed, tree.system.graph.zero) + rotor.ratio * rotor.ratio * rotor.inertia
    return total


def _axis(S: Motion) -> int | None:
    """Which of the six axes a column is, if it is one."""
    g = S.linear.graph
    ones = [k for k, x in enumerate(S.six) if x is g.one]
    return ones[0] if len(ones) == 1 and sum(x is g.zero for x in S.six) == 5 else None
