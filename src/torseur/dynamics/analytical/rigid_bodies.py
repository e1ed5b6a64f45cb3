"""The bodies of a mechanism one by one, as Newton and Euler see them (DeSantis 1996, sections 3 and 4).

======  ====================================================================================  =======
nu      velocity of the reference point and angular velocity, in the body's axes              (3.7)
M       [[m 1, -S(ms)], [S(ms), j]]: extended mass matrix                                      (3.8)
W       [[S(w), 0], [S(V), S(w)]]: extended matrix of angular velocity                         (3.9)
omega   force and moment of what is not a constraint, at the reference point                   (3.10)
chi     place of the reference point in the world, and orientation                             (2.2)
======  ====================================================================================  =======

M nudot = -W M nu + omega. The reference point is the centre of mass where the description gives it, and then ms = 0 and
S(V) drops out of W M nu, as in the document; for the ten standard parameters it is the origin of the frame, which takes
no division by the mass. A body that moves in a plane has three rows instead of six (remark 4.4). S(w) is the corrected
one of the errata: S(w) a = w x a.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from torseur.describe import BASE, CentralInertia
from torseur.describe.inertia import Inertia as DescribedInertia
from torseur.dynamics.tree.kinematics import FrameState, Kinematics
from torseur.dynamics.tree.system import rates
from torseur.dynamics.tree.tree import Rotor, inertia_of
from torseur.dynamics.workbench import Workbench
from torseur.graph import Expr, atan2, jacobian, substitute
from torseur.spatial.inertia import Inertia
from torseur.spatial.pose import Pose, Wrench
from torseur.spatial.vectors import Matrix, Vector, cross, dot

__all__ = ["RigidBody", "rigid_bodies"]

Table = list[list[Expr]]

_AXES = "xyz"


@dataclass(frozen=True)
class RigidBody:
    """One body: the names of its rows, and what the legend says; `chi` by names, and a rotation where it turns freely.

    A rotor inside a joint has no configuration of its own: its rows are the turning of its carrier and its own spin.
    """

    name: str
    rows: tuple[str, ...]
    nu: list[Expr]
    M: Table
    W: Table
    omega: list[Expr]
    chi: dict[str, Expr]
    R: Table | None = None


def rigid_bodies(w: Workbench) -> tuple[list[RigidBody], list[Expr]]:
    """The bodies with mass that move, rotors last; and the forces of loads along speeds (nv,)."""
    kinematics, mechanism = Kinematics(w.tree), w.system.mechanism
    described = [(BASE, mechanism.base.inertia), *((name, body.inertia) for name, body in mechanism.bodies.items())]
    massive = []
    for name, record in described:
        if record is not None and (frame := kinematics.frame(name)).link >= 0:
            centre, inertia = _at_reference(w, record)
            if any(x is not w.system.graph.zero for x in inertia.ten()):
                massive.append((name, frame, centre, inertia))
    wrenches, Q = _carried(w, {frame.link for _, frame, _, _ in massive})
    bodies = []
    for name, frame, centre, inertia in massive:
        given = wrenches.pop(frame.link, None)  # the first body of a link takes what acts on the link
        bodies.append(_body(w, name, frame, centre, inertia, given))
    return [*bodies, *(_rotor(w, kinematics, rotor) for rotor in _with_inertia(w))], Q


def _at_reference(w: Workbench, record: DescribedInertia) -> tuple[Vector, Inertia]:
    """The reference point in the body's frame, and the inertia there."""
    if isinstance(record, CentralInertia):
        at_centre = record.model_copy(update={"centre": (0.0, 0.0, 0.0)})
        return w.system.vector(record.centre), inertia_of(w.system, at_centre)
    return Vector.zero(w.system.graph), inertia_of(w.system, record)


# -- forces ------------------------------------------------------------------------------------------------------------
def _carried(w: Workbench, massive: set[int]) -> tuple[dict[int, Wrench], list[Expr]]:
    """Wrenches on links with mass, and forces along speeds: a link without mass hands on what acts on it.

    Its joint takes the part along its own motion, its parent the rest.
    """
    g, wrenches = w.system.graph, dict(w.forces.wrenches)
    Q = [w.forces.Q.get(k, g.zero) for k in range(w.tree.nv)]
    for k, link in w.tree.tips_first:
        if k not in wrenches or k in massive:
            continue
        F = wrenches.pop(k)
        for place, S in link.columns:
            Q[place] = Q[place] + dot(S, F)
        if link.parent >= 0:
            wrenches[link.parent] = wrenches.get(link.parent, Wrench.zero(g)) + link.pose @ F
    return wrenches, Q


def _wrench(w: Workbench, frame: FrameState, centre: Vector, inertia: Inertia, given: Wrench | None) -> list[Expr]:
    """Gravity, and what loads do to the link, at the reference point in the body's axes."""
    weight = frame.pose.R.T @ w.gravity
    F = Wrench(inertia.M * weight, cross(inertia.MS, weight))
    if given is not None:
        F += Pose(frame.offset.R, frame.offset.point(centre)).inv @ given
    return list(F.six)


# -- one body ----------------------------------------------------------------------------------------------------------
def _body(
    w: Workbench,
    name: str,
    frame: FrameState,
    centre: Vector,
    inertia: Inertia,
    given: Wrench | None,
) -> RigidBody:
    g, o = w.system.graph, w.system.graph.zero
    V, Om = frame.V + cross(frame.w, centre), frame.w
    nu = [*V, *Om]
    m, S_ms = inertia.M, inertia.MS.skew
    M = [[m if i == k else o for k in range(3)] + [-x for x in S_ms[i]] for i in range(3)]
    M += [[*S_ms[i], *inertia.J[i]] for i in range(3)]
    S_V, S_w = Matrix.zero(g) if inertia.MS.is_zero else V.skew, Om.skew
    W = [[*row, o, o, o] for row in S_w] + [[*a, *b] for a, b in zip(S_V, S_w, strict=True)]
    omega = _wrench(w, frame, centre, inertia, given)
    keep = _plane(nu, o)
    P = frame.pose.point(centre)
    chi, R = _configuration(w, name, P, frame, keep)
    rows = tuple(f"{letter}{axis}" for letter in "vw" for axis in _AXES)
    return RigidBody(
        name,
        tuple(rows[k] for k in keep),
        [nu[k] for k in keep],
        [[g.expr(M[i][k]) for k in keep] for i in keep],
        [[W[i][k] for k in keep] for i in keep],
        [omega[k] for k in keep],
        chi,
        R,
    )


def _plane(nu: Sequence[Expr], zero: Expr) -> tuple[int, ...]:
    """The rows that move: two and a rotation across them if all else stands still, or all six."""
    for normal in (2, 1, 0):
        keep = (*(k for k in range(3) if k != normal), 3 + normal)
        if all(nu[k] is zero for k in range(6) if k not in keep):
            return keep
    return tuple(range(6))


def _configuration(
    w: Workbench, name: str, P: Vector, frame: FrameState, keep: tuple[int, ...]
) -> tuple[dict[str, Expr], Table | None]:
    """Place and heading of a body that moves in the world's xy plane; place and rotation of any other."""
    R, one = frame.pose.R, w.system.graph.one
    if keep == (0, 1, 5) and R[2][2] is one:
        return {f"x_{name}": P[0], f"y_{name}": P[1], f"theta_{name}": _heading(w, frame)}, None
    return {f"{axis}_{name}": x for axis, x in zip(_AXES, P, strict=True)}, [list(row) for row in R]


def _heading(w: Workbench, frame: FrameState) -> Expr:
    """The angle of a body in the plane: the sum of those it turns with, where the speeds tell which; else atan2."""
    system, R = w.system, frame.pose.R
    turning = jacobian([frame.w[2]], list(system.v))
    own = {r: x for x, r in zip(system.q, rates(system), strict=True)}
    speeds = [system.v.symbols[k] for k in turning.columns]
    at_zero = substitute([R[1][0], R[0][0]], dict.fromkeys(system.q, 0.0))
    plain = all(x.is_number for x in (*turning.entries, *at_zero)) and all(v in own for v in speeds)
    if not plain:
        return atan2(R[1][0], R[0][0])
    angle = atan2(*at_zero)
    for speed, factor in zip(speeds, turning.entries, strict=True):
        angle = angle + factor * own[speed]
    return angle


# -- rotors ------------------------------------------------------------------------------------------------------------
def _with_inertia(w: Workbench) -> Iterator[Rotor]:
    return (rotor for rotor in w.tree.rotors if rotor.inertia is not w.system.graph.zero)


def _rotor(w: Workbench, kinematics: Kinematics, rotor: Rotor) -> RigidBody:
    """What a rotor adds to its carrier: the energy 1/2 j s^2 + j s (e . w) of its spin s about e."""
    o, j = w.system.graph.zero, rotor.inertia
    name, spin = f"rotor_of_{w.system.v.names[rotor.speed]}", rotor.ratio * w.system.v.symbols[rotor.speed]
    if rotor.link < 0:
        return RigidBody(name, ("spin",), [spin], [[j]], [[o]], [o], {})
    Om, e = kinematics.velocities[rotor.link].angular, j * rotor.axis
    M = [[o, o, o, x] for x in e] + [[*e, j]]
    W = [[*row, o] for row in Om.skew] + [[o] * 4]
    return RigidBody(name, ("wx", "wy", "wz", "spin"), [*Om, spin], M, W, [o] * 4, {})
