"""Derivatives of inverse dynamics by recursion: d tau / dq and d tau / dv in O(n depth) operations.

The algorithm of Singh, Russo & Wensing 2022 (IEEE RA-L 7(2)), in the spirit of Carpentier & Mansard 2018, written with
three-vectors at the world origin. Derivatives by q are along the speeds: the change of tau when q moves by G(q) d,
which for coordinates whose rates are speeds is the plain partial derivative.

Motions and wrenches are at the world origin in world axes; capitals are sums over all a link carries:

==========  ============================================================================================
S, psi      a joint column, and its rate if it were carried by the parent: v_parent x S; psid its second
Sd          its true rate v x S
I           inertia
G           [w]x K + [MS]x [V]x, with K = 1/2 tr(J) 1 - J the second moments of mass
p           linear momentum
F           inertial wrench I a + v x I v
==========  ============================================================================================

The velocity-product operator 2B takes a motion (u, t) to -2 (p x t; G t). It has no linear columns: that is what makes
the recursion cheap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from torseur.dynamics.tree.kinematics import Kinematics
from torseur.dynamics.tree.tree import Link, Tree
from torseur.errors import ModelError
from torseur.graph import Expr, products_at
from torseur.spatial.inertia import Inertia
from torseur.spatial.pose import Motion, Wrench
from torseur.spatial.vectors import Matrix, Vector, cross, dot

__all__ = ["inverse_dynamics_derivatives"]

Table = list[list[Expr]]


def inverse_dynamics_derivatives(tree: Tree, vdot: Sequence[Expr], gravity: Vector) -> tuple[Table, Table]:
    """d tau / dq (along the speeds) and d tau / dv, (nv, nv) each, of the motion's own forces and gravity.

    Loads and rotors are not in it.
    """
    _check(tree)
    columns, carried = _outward(tree, vdot, gravity)
    below: dict[int, _Below] = {}
    for k, link in tree.tips_first:
        for own in columns[k]:
            below[own.place] = _Below.of(own, carried[k])
        if link.parent >= 0:
            carried[link.parent] += carried[k]
    return _tables(tree, columns, below)


def _tables(tree: Tree, columns: list[list[_Column]], below: dict[int, _Below]) -> tuple[Table, Table]:
    """Each pair of speeds on one branch: what belongs to the one meets what belongs to the other."""
    pairs = tree.pairs_on_branches
    own = sorted((x for some in columns for x in some), key=lambda x: x.place)
    all_below = [below[x.place] for x in own]
    S, back = [x.S.six for x in own], [(*y.back, *y.momentum.six) for y in all_below]
    turned = [(*x.psi.angular, *x.psid.six) for x in own]
    moved = [(*x.S.angular, *(x.psi + x.Sd).six) for x in own]
    by_q = products_at(pairs, S, [y.along_q.six for y in all_below], back, turned)
    by_v = products_at(pairs, S, [y.along_v.six for y in all_below], back, moved)
    for some in columns:  # columns of one joint turn together
        for i, j in product(some, some):
            by_q[i.place][j.place] = dot(i.S, below[j.place].carried)
            by_v[i.place][j.place] = dot(i.S, below[j.place].along_v)
    return by_q, by_v


def _outward(tree: Tree, vdot: Sequence[Expr], gravity: Vector) -> tuple[list[list[_Column]], list[_Carried]]:
    """Velocities and accelerations from the base to the tips, and what follows for columns and bodies."""
    g, speeds = tree.system.graph, tree.system.v.symbols
    rest, fall = Motion.zero(g), Motion(-gravity, Vector.zero(g))
    v, a = list[Motion](), list[Motion]()
    columns, carried = list[list[_Column]](), list[_Carried]()
    for link, X in zip(tree.links, Kinematics(tree).poses, strict=True):
        v0, a0 = (rest, fall) if link.parent < 0 else (v[link.parent], a[link.parent])
        S = [(j, X @ column) for j, column in link.columns]
        v1, a1 = v0, a0
        for j, Sj in S:
            v1 += Sj * speeds[j]
        own = [_rates(link, j, Sj, v0, a0, v1) for j, Sj in S]
        for x in own:
            a1 += x.S * vdot[x.place] + x.Sd * speeds[x.place]
        if link.drive is not None:
            v1, a1 = v1 + X @ link.drive[0], a1 + X @ link.drive[1]
        v.append(v1)
        a.append(a1)
        columns.append(own)
        carried.append(_of_body(X @ link.inertia, v1, a1))
    return columns, carried


@dataclass(frozen=True)
class _Column:
    """One speed: its joint column and the rates of it."""

    place: int
    S: Motion
    psi: Motion
    psid: Motion
    Sd: Motion


def _rates(link: Link, place: int, S: Motion, v0: Motion, a0: Motion, v1: Motion) -> _Column:
    psi = cross(v0, S)
    psid = cross(a0, S) + cross(v0, psi)
    return _Column(place, S, psi, psid, psi if len(link.places) == 1 else cross(v1, S))


@dataclass(frozen=True)
class _Carried:
    """A link and what it carries: composite inertia, linear momentum, velocity products, inertial wrench."""

    inertia: Inertia
    p: Vector
    G: Matrix
    F: Wrench

    def __add__(self, other: _Carried) -> _Carried:
        return _Carried(self.inertia + other.inertia, self.p + other.p, self.G + other.G, self.F + other.F)

    def twice_B(self, x: Motion) -> Wrench:
        """2B x."""
        return Wrench(cross(self.p, x.angular), self.G @ x.angular) * -2.0

    def twice_B_back(self, x: Motion) -> Vector:
        """The angular part of 2B' x."""
        return -2.0 * (cross(x.linear, self.p) + self.G.T @ x.angular)


@dataclass(frozen=True)
class _Below:
    """One speed, and all that moves with it.

    Attributes:
        along_q, along_v: d tau_i / d_j and d tau_i / dv_j are their projections on the columns i that carry this one;
            on those of its own joint `carried` takes the place of along_q.
        momentum, back: with psi and S of the columns that carry this one they give its row.
    """

    along_q: Wrench
    along_v: Wrench
    carried: Wrench
    momentum: Wrench
    back: Vector

    @classmethod
    def of(cls, own: _Column, whole: _Carried) -> _Below:
        IC, S = whole.inertia, own.S
        along_v = whole.twice_B(S) + IC @ (own.psi + own.Sd)
        carried = whole.twice_B(own.psi) + IC @ own.psid
        return cls(carried + cross(S, whole.F), along_v, carried, IC @ S, whole.twice_B_back(S))


def _of_body(inertia: Inertia, v: Motion, a: Motion) -> _Carried:
    (J, MS, _), (V, w) = inertia, v
    h = inertia @ v
    F = inertia @ a + cross(v, h)
    half = 0.5 * (J[0][0] + J[1][1] + J[2][2])
    K = Matrix.diagonal(half, half, half) - J
    G = w.skew @ K + V.outer(MS) - Matrix.diagonal(*[dot(MS, V)] * 3)  # [MS]x [V]x t = V (MS.t) - t (MS.V)
    return _Carried(inertia, h.force, G, F)


def _check(tree: Tree) -> None:
    for link in tree.links:
        if link.turns_its_columns:
            raise ModelError(
                f"derivatives by recursion do not take a {link.kind.name} joint whose axes turn in it",
                where=("bodies", link.name),
                remedy="write it as two joints, or differentiate the expressions",
            )
    if tree.shares_speeds:
        raise ModelError(
            "derivatives by recursion need every speed to move one link",
            where=tree.system.mechanism.name,
            remedy="differentiate the expressions",
        )
