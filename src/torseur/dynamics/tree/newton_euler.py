"""Inverse dynamics by the Newton-Euler recursion.

Luh, Walker & Paul 1980 in link frames, with the simplifications of Khalil & Kleinfinger 1987; Maakaroun (2.20)-(2.24)
with the corrections of the errata; all joint kinds.

=======  ========================================================================  ==========
w, wd    angular velocity and acceleration of a link                               rad/s, rad/s2
a        acceleration of the link's origin, gravity subtracted                     m/s2
U        [wd]x + [w]x [w]x                                                          1/s2
f, n     force and moment at the link's origin that its parent must exert          N, N m
vJ, wJ   velocity of the link relative to its parent                               m/s, rad/s
=======  ========================================================================  ==========

All in the link's own axes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from torseur.dynamics.tree.tree import Link, Rotor, Tree
from torseur.graph import Expr, Graph
from torseur.spatial.inertia import Inertia
from torseur.spatial.pose import Motion, Wrench
from torseur.spatial.vectors import Matrix, Vector, cross, dot

__all__ = ["LinkMotion", "inertial_wrench", "inverse_dynamics", "joint_wrenches", "motions", "rotor_reaction"]


@dataclass(frozen=True)
class LinkMotion:
    """Velocity and acceleration of a link."""

    w: Vector
    wd: Vector
    a: Vector
    U: Matrix


def inverse_dynamics(
    tree: Tree, vdot: Sequence[Expr], gravity: Vector, external: Mapping[int, Wrench] | None = None
) -> list[Expr]:
    """tau with M(q) vdot + bias(q, v) = tau, by one pass out and one pass back.

    Args:
        tree: the links.
        vdot: derivatives of the speeds.
        gravity: in world axes.
        external: what loads do to links, at their origins in their axes.
    """
    F, tau = joint_wrenches(tree, vdot, gravity, external)
    for k, link in tree.tips_first:
        for j, S in link.columns:
            tau[j] = tau[j] + dot(S, F[k])
    return tau


def joint_wrenches(
    tree: Tree, vdot: Sequence[Expr], gravity: Vector, external: Mapping[int, Wrench] | None = None
) -> tuple[list[Wrench], list[Expr]]:
    """What each link's parent must do to it (2.24), and what rotors ask of the joints they drive (nv,)."""
    moved, F = list[LinkMotion](), list[Wrench]()
    for k, (link, m) in enumerate(zip(tree.links, motions(tree, vdot, gravity), strict=True)):
        moved.append(m)
        F.append(inertial_wrench(link.inertia, m))
        if external and k in external:
            F[k] -= external[k]
    drives = _add_rotors(tree, vdot, moved, F)
    for k, link in tree.tips_first:
        if link.parent >= 0:
            F[link.parent] += link.pose @ F[k]
    return F, drives


def motions(tree: Tree, vdot: Sequence[Expr], gravity: Vector) -> Iterator[LinkMotion]:
    """The forward recursion: from the world, which accelerates upwards in place of gravity, to the tips.

    Link by link, so that what a link's motion is for can be written beside it: code runs in the order it was written,
    and of a long chain half as many values then wait in memory for the way back.
    """
    g = tree.system.graph
    world = LinkMotion(Vector.zero(g), Vector.zero(g), -gravity, Matrix.zero(g))
    links: list[LinkMotion] = []
    for link in tree.links:
        before = world if link.parent < 0 else links[link.parent]
        links.append(_next(g, link, before, link.acceleration(vdot)))
        yield links[-1]


def _next(g: Graph, link: Link, before: LinkMotion, rate: Motion) -> LinkMotion:
    R, P = link.pose.R, link.pose.P
    (vJ, wJ), (aJ, wdJ) = link.velocity, rate
    wi = R.T @ before.w
    w = wi + wJ  # (2.22), any joint
    wd = R.T @ before.wd + cross(wi, wJ) + wdJ
    a = R.T @ (before.a + before.U @ P) + (aJ + cross(wi + wi + wJ, vJ))  # (2.23)
    w, wd, a = (_named(g, stem, link.number, x) for stem, x in (("W", w), ("WP", wd), ("VP", a)))
    return LinkMotion(w, wd, a, _U(g, link.number, w, wd, _square_across(link, before)))


def inertial_wrench(inertia: Inertia, m: LinkMotion) -> Wrench:
    """Force and moment at the origin that the motion of one link takes.

    F = M a + U MS;  N = J wd + w x J w + MS x a, the first two terms written with the entries of U, so that only
    differences of moments of inertia meet products of velocities.
    """
    J, MS, M = inertia
    U, w, wd = m.U, m.w, m.wd
    (XX, XY, XZ), (_, YY, YZ), (_, _, ZZ) = J
    F = M * m.a + U @ MS
    N = Vector(
        XX * wd[0] + (ZZ - YY) * (w[1] * w[2]) + XZ * U[1][0] - XY * U[2][0] + YZ * (w[1] * w[1] - w[2] * w[2]),
        YY * wd[1] + (XX - ZZ) * (w[0] * w[2]) + XY * U[2][1] - YZ * U[0][1] + XZ * (w[2] * w[2] - w[0] * w[0]),
        ZZ * wd[2] + (YY - XX) * (w[0] * w[1]) + YZ * U[0][2] - XZ * U[1][2] + XY * (w[0] * w[0] - w[1] * w[1]),
    )
    return Wrench(F, N + cross(MS, m.a))


def rotor_reaction(rotor: Rotor, m: LinkMotion, v: Expr, vdot: Expr) -> tuple[Vector, Expr]:
    """A rotor turns its carrier with the rate of its own angular momentum h e, and its joint with what drives it.

    h = ratio inertia v; moment h' e + h w x e on the carrier, ratio inertia (ratio v' + e . w') at the joint (Llibre
    II).
    """
    j, e = rotor.inertia * rotor.ratio, rotor.axis
    return (j * vdot) * e + (j * v) * cross(m.w, e), j * (rotor.ratio * vdot + dot(e, m.wd))


# -- helpers -----------------------------------------------------------------------------------------------------------
def _add_rotors(tree: Tree, vdot: Sequence[Expr], moved: Sequence[LinkMotion], F: list[Wrench]) -> list[Expr]:
    """Add what rotors ask of their carriers; what they ask of the speeds they turn with."""
    g, v = tree.system.graph, tree.system.v.symbols
    drives: list[Expr] = [g.zero] * tree.nv
    for rotor in tree.rotors:
        k = rotor.speed
        if rotor.link < 0:
            drives[k] = drives[k] + rotor.inertia * rotor.ratio * (rotor.ratio * vdot[k])
            continue
        turn, drive = rotor_reaction(rotor, moved[rotor.link], v[k], vdot[k])
        F[rotor.link] += Wrench(Vector.zero(g), turn)
        drives[k] = drives[k] + drive
    return drives


def _named(g: Graph, stem: str, number: str, x: Vector) -> Vector:
    """SYMORO's names: W for angular velocity, WP and VP for accelerations, axis and link number behind."""
    return Vector(*(g.name(e, f"{stem}{axis}{number}") for axis, e in zip("123", x, strict=True)))


def _square_across(link: Link, before: LinkMotion) -> Expr | None:
    """-(wx^2 + wy^2) where it is known already: turning about z keeps what the parent had across that axis.

    The child's z must lie along an axis k of the parent; then it is the parent's U_kk.
    """
    g = link.graph
    if any(x is not g.zero for column in link.S for x in column.angular[:2]):
        return None
    z = link.pose.R.T[2]
    along = [k for k in range(3) if z[k].is_number and abs(float(z[k])) == 1.0]
    return before.U[along[0]][along[0]] if along else None


def _U(g: Graph, number: str, w: Vector, wd: Vector, across: Expr | None) -> Matrix:
    """[wd]x + [w]x [w]x."""
    x, y, z = w
    xx, yy, zz, xy, xz, yz = x * x, y * y, z * z, x * y, x * z, y * z
    rows = (
        Vector(-(yy + zz), xy - wd[2], xz + wd[1]),
        Vector(xy + wd[2], -(xx + zz), yz - wd[0]),
        Vector(xz - wd[1], yz + wd[0], -(xx + yy) if across is None else across),
    )
    return Matrix(*(_named(g, f"U{i}", number, row) for i, row in enumerate(rows, 1)))
