"""Solving with the inertia matrix in O(n): articulated bodies.

Featherstone, Rigid Body Dynamics Algorithms, chapter 7, with one change: velocities, gravity and loads are all in the
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

from collections.abc import Sequence

from torseur.dynamics.tree.tree import Tree
from torseur.graph import Expr
from torseur.spatial.inertia import ArticulatedInertia
from torseur.spatial.motion import Motion, Wrench
from torseur.spatial.vectors import dot

__all__ = ["articulated_solve"]


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
