"""Derivatives of inverse dynamics by recursion: d tau / dq and d tau / dv in O(n depth) operations.

The algorithm of Singh, Russo & Wensing 2022 (IEEE RA-L 7(2)), in the spirit of Carpentier & Mansard 2018, written with
three-vectors at the world origin. Derivatives by q are along the speeds: the change of tau when q moves by G(q) d,
which for coordinates whose rates are speeds is the plain partial derivative.

All spatial vectors are (linear; angular) at the world origin in world axes; C marks sums over all a link carries:

==========  ============================================================================================
S, psi      a joint column, and its rate if it were carried by the parent: v_parent x S; psid its second
Sd          its true rate v x S
p           linear momentum;  K = 1/2 tr(J) 1 - J the second moments of mass
G           [w]x K + [MS]x [V]x
f, n        inertial force and moment
==========  ============================================================================================

With x = (u, t): the velocity-product operator is 2B x = -2 (p x t; G t). It has no linear columns: that is what makes
the recursion cheap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torseur.dynamics.tree import Link, Tree
from torseur.dynamics.velocities import Kinematics
from torseur.errors import ModelError
from torseur.graph import Expr
from torseur.spatial.inertia import Inertia
from torseur.spatial.joints import Motion
from torseur.spatial.pose import Pose
from torseur.spatial.vectors import (
    Matrix,
    Vector,
    add,
    cross,
    dot,
    matmul,
    minus,
    rotate,
    scale,
    transpose,
    zero_vector,
)

__all__ = ["inverse_dynamics_derivatives"]

Table = list[list[Expr]]


@dataclass(frozen=True)
class _Column:
    """One speed: its joint column and the rates of it."""

    place: int
    S: Motion
    psi: Motion
    psid: Motion
    Sd: Motion


@dataclass
class _Carried:
    """A link and what it carries: composite inertia, momentum, velocity products, force."""

    inertia: Inertia
    p: Vector
    G: Matrix
    f: Vector
    n: Vector

    def __add__(self, other: _Carried) -> _Carried:
        rows = [add(a, b) for a, b in zip(self.G, other.G, strict=True)]
        G = (rows[0], rows[1], rows[2])
        inertia = self.inertia + other.inertia
        return _Carried(inertia, add(self.p, other.p), G, add(self.f, other.f), add(self.n, other.n))


def _crossed(a: Motion, b: Motion) -> Motion:
    """a x b for motions."""
    return Motion(add(cross(a.angular, b.linear), cross(a.linear, b.angular)), cross(a.angular, b.angular))


def _sum(a: Motion, b: Motion) -> Motion:
    return Motion(add(a.linear, b.linear), add(a.angular, b.angular))


def _times(a: Motion, s: Expr) -> Motion:
    return Motion(scale(s, a.linear), scale(s, a.angular))


def _at_origin(pose: Pose, column: Motion) -> Motion:
    t = rotate(pose.R, column.angular)
    return Motion(add(rotate(pose.R, column.linear), cross(pose.P, t)), t)


def inverse_dynamics_derivatives(tree: Tree, vdot: Sequence[Expr], gravity: Vector) -> tuple[Table, Table]:
    """d tau / dq (along the speeds) and d tau / dv, (nv, nv) each, of the motion's own forces and gravity.

    Loads and rotors are not in it.
    """
    g = tree.system.graph
    for link in tree.links:
        if link.turns_its_columns:
            raise ModelError(
                f"derivatives by recursion do not take a {link.kind.name} joint whose axes turn in it",
                where=f"bodies.{link.name}",
                remedy="write it as two joints, or differentiate the expressions",
            )
    if tree.shares_speeds:
        raise ModelError(
            "derivatives by recursion need every speed to move one link",
            where=tree.system.mechanism.name,
            remedy="differentiate the expressions",
        )
    columns, carried = _outward(tree, vdot, gravity)
    by_q: Table = [[g.zero] * tree.nv for _ in range(tree.nv)]
    by_v: Table = [[g.zero] * tree.nv for _ in range(tree.nv)]
    for k in reversed(range(len(tree.links))):
        whole = carried[k]
        for own in columns[k]:
            _fill(tree, columns, k, own, whole, by_q, by_v)
        parent = tree.links[k].parent
        if parent >= 0:
            carried[parent] = carried[parent] + whole
    return by_q, by_v


def _outward(tree: Tree, vdot: Sequence[Expr], gravity: Vector) -> tuple[list[list[_Column]], list[_Carried]]:
    g, poses = tree.system.graph, Kinematics(tree).poses
    still = Motion(zero_vector(g), zero_vector(g))
    rest, fall = still, Motion(minus(gravity), zero_vector(g))
    v: list[Motion] = []
    a: list[Motion] = []
    columns, carried, symbols = [], [], tree.system.v.symbols
    for link, pose in zip(tree.links, poses, strict=True):
        speeds = [symbols[place] for place in link.places]
        v0, a0 = (rest, fall) if link.parent < 0 else (v[link.parent], a[link.parent])
        S = [_at_origin(pose, column) for column in link.S]
        v1 = v0
        for column, speed in zip(S, speeds, strict=True):
            v1 = _sum(v1, _times(column, speed))
        own = [_rates(link, i, column, v0, a0, v1) for i, column in enumerate(S)]
        a1 = a0
        for item, speed in zip(own, speeds, strict=True):
            a1 = _sum(a1, _sum(_times(item.S, vdot[item.place]), _times(item.Sd, speed)))
        if link.drive is not None:
            v1, a1 = (_sum(x, _at_origin(pose, given)) for x, given in zip((v1, a1), link.drive, strict=True))
        v.append(v1)
        a.append(a1)
        columns.append(own)
        carried.append(_of_body(link.inertia.seen_from(pose), v1, a1))
    return columns, carried


def _rates(link: Link, i: int, S: Motion, v0: Motion, a0: Motion, v1: Motion) -> _Column:
    psi = _crossed(v0, S)
    psid = _sum(_crossed(a0, S), _crossed(v0, psi))
    Sd = psi if len(link.places) == 1 else _crossed(v1, S)
    return _Column(link.places[i], S, psi, psid, Sd)


def _of_body(inertia: Inertia, v: Motion, a: Motion) -> _Carried:
    J, MS, M = inertia.J, inertia.MS, inertia.M
    V, w = v.linear, v.angular
    p = add(scale(M, V), cross(w, MS))
    h = add(rotate(J, w), cross(MS, V))
    f = add(add(scale(M, a.linear), cross(a.angular, MS)), cross(w, p))
    n = add(add(rotate(J, a.angular), cross(MS, a.linear)), add(cross(w, h), cross(V, p)))
    half = 0.5 * (J[0][0] + J[1][1] + J[2][2])
    K = (
        (half - J[0][0], -J[0][1], -J[0][2]),
        (-J[0][1], half - J[1][1], -J[1][2]),
        (-J[0][2], -J[1][2], half - J[2][2]),
    )
    turn = matmul(_skew(w), K)
    s = dot(MS, V)
    # [MS]x [V]x t = V (MS.t) - t (MS.V)
    rows = [tuple(turn[i][j] + V[i] * MS[j] - (s if i == j else s.graph.zero) for j in range(3)) for i in range(3)]
    return _Carried(inertia, p, (rows[0], rows[1], rows[2]), f, n)  # type: ignore[arg-type]


def _skew(w: Vector) -> Matrix:
    o = w[0].graph.zero
    return ((o, -w[2], w[1]), (w[2], o, -w[0]), (-w[1], w[0], o))


def _product(whole: _Carried, x: Motion) -> Motion:
    """2B x = -2 (p x t; G t)."""
    return Motion(scale(-2.0, cross(whole.p, x.angular)), scale(-2.0, rotate(whole.G, x.angular)))


def _inertial(inertia: Inertia, x: Motion) -> Motion:
    linear = add(scale(inertia.M, x.linear), cross(x.angular, inertia.MS))
    return Motion(linear, add(rotate(inertia.J, x.angular), cross(inertia.MS, x.linear)))


def _dot(a: Motion, b: Motion) -> Expr:
    return dot(a.linear, b.linear) + dot(a.angular, b.angular)


def _fill(
    tree: Tree,
    columns: list[list[_Column]],
    k: int,
    own: _Column,
    whole: _Carried,
    by_q: Table,
    by_v: Table,
) -> None:
    """The rows and columns that one speed shares with those below it on its branch."""
    S, j = own.S, own.place
    # d tau_i / d_j for i at or below j: projections of two wrenches on the columns below.
    along_v = _sum(_product(whole, S), _inertial(whole.inertia, _sum(own.psi, own.Sd)))
    turned = Motion(cross(S.angular, whole.f), add(cross(S.angular, whole.n), cross(S.linear, whole.f)))
    carried = _sum(_product(whole, own.psi), _inertial(whole.inertia, own.psid))
    along_q = _sum(carried, turned)
    # d tau_j / d_i for i below j: S_j' 2B and S_j' I meet the columns below.
    momentum = _inertial(whole.inertia, S)
    back = scale(-2.0, add(cross(S.linear, whole.p), rotate(transpose(whole.G), S.angular)))
    link: int = k
    while link >= 0:
        for other in columns[link]:
            i = other.place
            by_v[i][j] = _dot(other.S, along_v)
            by_q[i][j] = _dot(other.S, carried if link == k else along_q)  # columns of one joint turn together
            if link != k:
                by_v[j][i] = dot(back, other.S.angular) + _dot(momentum, _sum(other.psi, other.Sd))
                by_q[j][i] = dot(back, other.psi.angular) + _dot(momentum, other.psid)
        link = tree.links[link].parent
