"""The equations of motion from energies: Kanyiki & Ntambwe (14)-(21), free-form kinematics included.

Nothing here is recursive: velocities are derivatives of poses along the motion, the equations are derivatives of the
Lagrangian. It is the independent check of the recursions.

With dq/dt = G(q) v and Lam = T - U as a function of q and v, Poincare's equations are

    d/dt (dLam/dv) - X(Lam) - ad(v, dLam/dv) = tau        X_i = derivative along column i of G

where `ad` is zero for coordinates whose rates are speeds, and the gyroscopic coupling of body-fixed speeds otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torseur.describe import BASE
from torseur.dynamics.kinematics import body_poses, joints, rates, velocity_of
from torseur.dynamics.system import System
from torseur.dynamics.tree import inertia_of
from torseur.graph import Expr, gradient, jacobian, tangents
from torseur.spatial.vectors import add, cross, dot, rotate, scale

__all__ = ["Energies", "energies", "equations"]


@dataclass(frozen=True)
class Energies:
    """Kinetic and potential energy as expressions of q and v."""

    T: Expr
    U: Expr


def energies(system: System) -> Energies:
    """T and U of the bodies (gravity only; loads enter the equations as forces)."""
    g, mechanism = system.graph, system.mechanism
    seeds = dict(zip(system.q, rates(system), strict=True)) | {system.t: g.one}
    gravity, poses = system.vector(mechanism.gravity), body_poses(system)
    T = U = g.zero
    described = [(BASE, mechanism.base.inertia), *((name, body.inertia) for name, body in mechanism.bodies.items())]
    bodies = [(name, inertia_of(system, inertia)) for name, inertia in described if inertia is not None]
    for name, body in bodies:
        pose = poses[name]
        velocity = velocity_of(pose, seeds)
        V, w = velocity.linear, velocity.angular
        T = T + 0.5 * (body.M * dot(V, V) + dot(w, rotate(body.J, w))) + dot(V, cross(w, body.MS))
        U = U - dot(gravity, add(scale(body.M, pose.P), rotate(pose.R, body.MS)))
    return Energies(T, U)


def equations(system: System, vdot: Sequence[Expr], given: Energies | None = None) -> list[Expr]:
    """tau for a motion q, v, vdot, without loads."""
    g, q, v = system.graph, list(system.q), list(system.v)
    e = given or energies(system)
    lagrangian = e.T - e.U
    seeds = dict(zip(q, rates(system), strict=True)) | dict(zip(v, vdot, strict=True)) | {system.t: g.one}
    p = gradient(lagrangian, v)
    p_dot = tangents(p, seeds)
    slopes = jacobian(rates(system), v) if q else None
    by_q = gradient(lagrangian, q)
    along: list[Expr] = [g.zero] * len(v)
    if slopes is not None:
        for i, j, entry in zip(slopes.rows, slopes.columns, slopes.entries, strict=True):
            along[j] = along[j] + entry * by_q[i]
    coupling: list[Expr] = []
    for kind, _, speeds in joints(system):
        first = len(coupling)
        coupling += kind.coupling(g, speeds, p[first : first + kind.nv])
    coupling += [g.zero] * (len(v) - len(coupling))
    return [a - b - c for a, b, c in zip(p_dot, along, coupling, strict=True)]
