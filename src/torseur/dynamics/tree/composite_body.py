"""The inertia matrix by composite bodies, from the tips to the base.

Walker & Orin 1982; Mampey's backward recursion (Llibre, Mampey & Chretien 1983, section III) does the same in base
axes. The composite inertia of a link is that of the rigid body it would form with everything it carries; the wrench
that a unit acceleration of one joint takes is passed down and projected on every joint on the way.
"""

from __future__ import annotations

from collections.abc import Iterator

from torseur.dynamics.tree.tree import Rotor, Tree
from torseur.graph import Expr
from torseur.spatial.inertia import Inertia
from torseur.spatial.motion import Motion, Wrench
from torseur.spatial.vectors import dot

__all__ = ["composite_inertias", "mass_matrix"]


def composite_inertias(tree: Tree) -> list[Inertia]:
    """For each link, the inertia of it and all it carries, in its own frame."""
    IC = [link.inertia for link in tree.links]
    for k, link in tree.tips_first:
        if link.parent >= 0:
            IC[link.parent] += link.K @ (link.motion @ IC[k])
    return IC


def mass_matrix(tree: Tree) -> list[list[Expr]]:
    """M(q) (nv, nv), symmetric: entries of links on different branches are zero."""
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
    for rotor in tree.rotors:
        _add_rotor(tree, A, rotor)
    return [[g.name(A[i][j], f"A{max(i, j) + 1}_{min(i, j) + 1}") for j in range(n)] for i in range(n)]


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
