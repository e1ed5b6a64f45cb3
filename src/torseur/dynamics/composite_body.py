"""The inertia matrix by composite bodies, from the tips to the base.

Walker & Orin 1982; Mampey's backward recursion (Llibre, Mampey & Chretien 1983, section III) does the same in base
axes. The composite inertia of a link is that of the rigid body it would form with everything it carries; the wrench
that a unit acceleration of one joint takes is passed down and projected on every joint on the way.
"""

from __future__ import annotations

from torseur.dynamics.tree import Rotor, Tree
from torseur.graph import Expr
from torseur.spatial.inertia import Inertia
from torseur.spatial.joints import Motion
from torseur.spatial.vectors import Vector, add, cross, dot, rotate, scale

__all__ = ["composite_inertias", "mass_matrix"]


def composite_inertias(tree: Tree) -> list[Inertia]:
    """For each link, the inertia of it and all it carries, in its own frame."""
    whole = [link.inertia for link in tree.links]
    for k in reversed(range(len(tree.links))):
        link = tree.links[k]
        if link.parent >= 0:
            whole[link.parent] = whole[link.parent] + whole[k].seen_from(link.motion).seen_from(link.K)
    return whole


def mass_matrix(tree: Tree) -> list[list[Expr]]:
    """M(q) (nv, nv), symmetric: entries of links on different branches are zero."""
    g, n = tree.system.graph, tree.nv
    A = [[g.zero] * n for _ in range(n)]
    whole = composite_inertias(tree)
    for k, link in enumerate(tree.links):
        for i, column in enumerate(link.S):
            f, m = _wrench(whole[k], column)
            row = link.places[i]
            for place, other in zip(link.places[: i + 1], link.S, strict=False):
                A[row][place] = A[row][place] + (dot(other.linear, f) + dot(other.angular, m))
                A[place][row] = A[row][place]
            _pass_down(tree, A, row, k, f, m)
    for rotor in tree.rotors:
        _add_rotor(tree, A, rotor)
    return [[g.name(A[i][j], f"A{max(i, j) + 1}_{min(i, j) + 1}") for j in range(n)] for i in range(n)]


def _wrench(inertia: Inertia, unit: Motion) -> tuple[Vector, Vector]:
    """What accelerating a body from rest takes: f = M v + w x MS, n = J w + MS x v."""
    v, w = unit.linear, unit.angular
    f = add(scale(inertia.M, v), cross(w, inertia.MS))
    return f, add(rotate(inertia.J, w), cross(inertia.MS, v))


def _pass_down(tree: Tree, A: list[list[Expr]], row: int, k: int, f: Vector, m: Vector) -> None:
    """Meet every joint below; the two orders of one pair both count where one speed moves both."""
    while tree.links[k].parent >= 0:
        R, P = tree.links[k].pose.R, tree.links[k].pose.P
        k, f = tree.links[k].parent, rotate(R, f)
        m = add(rotate(R, m), cross(P, f))
        for place, column in zip(tree.links[k].places, tree.links[k].S, strict=True):
            share = dot(column.linear, f) + dot(column.angular, m)
            A[row][place] = A[row][place] + (share if place != row else 2.0 * share)
            A[place][row] = A[row][place]


def _add_rotor(tree: Tree, A: list[list[Expr]], rotor: Rotor) -> None:
    """ratio^2 inertia on the diagonal; ratio inertia (e . w) couples it to every joint that turns its carrier."""
    k, j = rotor.speed, rotor.inertia * rotor.ratio
    A[k][k] = A[k][k] + rotor.ratio * j
    link, e = rotor.link, scale(j, rotor.axis)
    while link >= 0:
        for i, column in zip(tree.links[link].places, tree.links[link].S, strict=True):
            share = dot(column.angular, e)
            A[k][i] = A[k][i] + share
            A[i][k] = A[i][k] + share if i == k else A[k][i]
        link, e = tree.links[link].parent, rotate(tree.links[link].pose.R, e)
