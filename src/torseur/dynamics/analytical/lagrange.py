"""The equations of motion from energies: Kanyiki & Ntambwe (14)-(21), Maakaroun (2.11), free-form kinematics included.

======  =======================================================================================  ==================
T, U    kinetic and potential energy: of each body (gravity), of rotors, of springs              J
L       T - U                                                                                    J
M       d2T/dv2: T = 1/2 v' M v                                                                  [19]
p       dL/dv: momenta                                                                           kg m2/s ...
c       Christoffel's symbols: c_ijk = 1/2 (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i)                [20]
C       C_ij = sum_k c_ijk v_k                                                                   [20]
G       dU/dq                                                                                    [21]
Q       forces of loads along the coordinates, what has a potential left out                     N, N m
        d/dt (dL/dv) - dL/dq = M vdot + C v + G = tau + Q + A' lambda                            [18]
======  =======================================================================================  ==================

`energies` and `equations` are recursive nowhere: velocities are derivatives of poses along the motion. They are the
independent check of the recursions. With dq/dt = G(q) v Poincare's equations are

    d/dt (dL/dv) - X(L) - ad(v, dL/dv) = tau        X_i = derivative along column i of G

where `ad` is zero for coordinates whose rates are speeds, and the gyroscopic coupling of body-fixed speeds otherwise.
`lagrange` is what is printed, for coordinates whose rates are the speeds; its velocities come from those of the
antecedents, which is shorter to read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torseur.describe import BASE
from torseur.dynamics.loads.forces import LoadOnTree, forces_of
from torseur.dynamics.matrices import Matrix, dot, times, transposed
from torseur.dynamics.tree.kinematics import Kinematics
from torseur.dynamics.tree.newton_euler import inverse_dynamics
from torseur.dynamics.tree.system import System, body_poses, joints, rates, velocity_of
from torseur.dynamics.tree.tree import Rotor, inertia_of
from torseur.dynamics.workbench import Workbench
from torseur.errors import ArgumentError
from torseur.graph import Expr, gradient, jacobian, tangents
from torseur.spatial.inertia import Inertia
from torseur.spatial.pose import Motion, Pose
from torseur.spatial.vectors import Vector
from torseur.spatial.vectors import dot as inner

__all__ = [
    "Energies",
    "Lagrange",
    "check_rates_are_speeds",
    "christoffel",
    "energies",
    "equations",
    "lagrange",
    "lagrange_quantity",
]


@dataclass(frozen=True)
class Energies:
    """Kinetic and potential energy as expressions of q and v."""

    T: Expr
    U: Expr


def energies(system: System) -> Energies:
    """T and U of the bodies (gravity only; loads enter the equations as forces)."""
    seeds = dict(zip(system.q, rates(system), strict=True)) | {system.t: system.graph.one}
    poses = body_poses(system)
    T = U = system.graph.zero
    for name, body in _inertias(system).items():
        more = _energies_of(system, body, poses[name], velocity_of(poses[name], seeds))
        T, U = T + more.T, U + more.U
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


def _inertias(system: System) -> dict[str, Inertia]:
    """Of the bodies that have one, at their origins."""
    mechanism = system.mechanism
    described = [(BASE, mechanism.base.inertia), *((name, body.inertia) for name, body in mechanism.bodies.items())]
    return {name: inertia_of(system, inertia) for name, inertia in described if inertia is not None}


def _energies_of(system: System, body: Inertia, pose: Pose, velocity: Motion) -> Energies:
    """T = 1/2 (M V.V + w.J w) + V.(w x MS), U = -g.(M P + R MS)."""
    gravity = system.vector(system.mechanism.gravity)
    return Energies(body.kinetic_energy(velocity), -inner(gravity, body.moment_of_mass(pose)))


# -- what is printed ---------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Lagrange:
    """Every stage of the method, as expressions; the legend says what the letters are.

    Attributes:
        T_parts, U_parts: by the names of bodies, rotors and springs.
        velocities: of the bodies with mass, in their own axes.
        p_dot, by_q: d/dt (dL/dv), with accelerations as symbols, and dL/dq.
        c: c[i][j][k].
        A, row_names: of loops and constraints, A v + ... = 0.
        tau: what must be added to the loads, for accelerations and multipliers as symbols.
    """

    T_parts: Mapping[str, Expr]
    U_parts: Mapping[str, Expr]
    velocities: Mapping[str, Motion]
    places: Mapping[str, Vector]
    T: Expr
    U: Expr
    p: list[Expr]
    p_dot: list[Expr]
    by_q: list[Expr]
    M: Matrix
    c: list[Matrix]
    C: Matrix
    G: list[Expr]
    Q: list[Expr]
    A: Matrix
    row_names: tuple[str, ...]
    tau: list[Expr]


def lagrange(w: Workbench) -> Lagrange:
    """Lagrange's method for a mechanism whose speeds are the rates of its coordinates."""
    check_rates_are_speeds(w, "Lagrange's equations")
    g, q, v, vdot = w.system.graph, list(w.system.q), list(w.system.v), list(w.block("vdot"))
    kinematics = Kinematics(w.true_tree)
    frames = {name: kinematics.frame(name) for name in _inertias(w.system)}
    moving = {name: frame for name, frame in frames.items() if frame.link >= 0}
    T_parts, U_parts = _parts(w, kinematics, list(moving))
    T, U = (sum(parts.values(), g.zero) for parts in (T_parts, U_parts))
    p = gradient(T, v)
    seeds = dict(zip(q, v, strict=True)) | dict(zip(v, vdot, strict=True))
    p_dot, by_q, Q = tangents(p, seeds), gradient(T - U, q), _forces(w)
    A = w.constraints.A
    pull = times(transposed(A), list(w.rows_block("lam"))) if A else [g.zero] * len(v)
    M = jacobian(p, v).dense()
    c = christoffel(M, q)
    return Lagrange(
        T_parts=T_parts,
        U_parts=U_parts,
        velocities={name: frame.velocity for name, frame in moving.items()},
        places={name: frame.pose.P for name, frame in moving.items()},
        T=T,
        U=U,
        p=p,
        p_dot=p_dot,
        by_q=by_q,
        M=M,
        c=c,
        C=[[dot(row, v) for row in rows] for rows in c],
        G=gradient(U, q),
        Q=Q,
        A=A,
        row_names=tuple(row.name for row in w.constraints.rows),
        tau=[a - b - x - y for a, b, x, y in zip(p_dot, by_q, Q, pull, strict=True)],
    )


def lagrange_quantity(w: Workbench) -> dict[str, Any]:
    """T, U, M, C, G and Q: M vdot + C v + G = tau + Q + A' lambda."""
    method = lagrange(w)
    return {"T": method.T, "U": method.U, "M": method.M, "C": method.C, "G": method.G, "Q": method.Q}


def check_rates_are_speeds(w: Workbench, what: str) -> None:
    """Refuse mechanisms with other speeds than the rates of their coordinates, and bases that are moved."""
    v = list(w.system.v)
    if any(link.drive is not None for link in w.tree.links):
        raise ArgumentError(
            f"a base with a given motion adds forces that no matrix C(q, v) times v gives; {what} leave them out",
            where=("base", "kind"),
            remedy="inverse_dynamics and bias hold them all",
        )
    if len(w.system.q) != len(v) or any(r is not x for r, x in zip(rates(w.system), v, strict=True)):
        raise ArgumentError(
            f"{what} need speeds that are the rates of the coordinates",
            got="a base or joint with body-fixed speeds",
            expected="a virtual carrier instead of a floating base, universal instead of spherical joints",
            remedy="kane takes any speeds",
        )


def _parts(w: Workbench, kinematics: Kinematics, bodies: Sequence[str]) -> tuple[dict[str, Expr], dict[str, Expr]]:
    """T of bodies and rotors, U of bodies and springs; parts that vanish are left out."""
    system, zero = w.system, w.system.graph.zero
    inertias = _inertias(system)
    T, U = dict[str, Expr](), dict[str, Expr]()
    for name in bodies:
        frame = kinematics.frame(name)
        more = _energies_of(system, inertias[name], frame.pose, frame.velocity)
        T[name], U[name] = more.T, more.U
    for rotor in w.true_tree.rotors:
        name = f"rotor_of_{system.v.names[rotor.speed]}"
        T[name] = T.get(name, zero) + _spin_energy(w, kinematics, rotor)
    for name, load in system.mechanism.loads.items() if w.options.loads else ():
        stored = load.energy(LoadOnTree(w.true_tree, name, kinematics))
        if stored is not None and load.without_energy is not None:
            U[name] = stored
    return {n: x for n, x in T.items() if x is not zero}, {n: x for n, x in U.items() if x is not zero}


def _spin_energy(w: Workbench, kinematics: Kinematics, rotor: Rotor) -> Expr:
    """1/2 j s^2 + j s (e . w) of a spin s about e."""
    spin = rotor.ratio * w.system.v.symbols[rotor.speed]
    own = 0.5 * rotor.inertia * spin * spin
    if rotor.link < 0:
        return own
    return own + rotor.inertia * spin * inner(rotor.axis, kinematics.velocities[rotor.link].angular)


def _forces(w: Workbench) -> list[Expr]:
    """Of loads along the coordinates, less the forces that have a potential."""
    g, tree = w.system.graph, w.true_tree
    if not w.options.loads:
        return [g.zero] * tree.nv
    loads = w.system.mechanism.loads
    rest = {n: x.without_energy or x for n, x in loads.items()}
    forces = forces_of(tree, rest)
    asked = inverse_dynamics(tree.carrying({}, []), w.rest, Vector.zero(g), forces.wrenches)
    return [forces.Q.get(k, g.zero) - x for k, x in enumerate(asked)]


def christoffel(M: Matrix, q: Sequence[Expr]) -> list[Matrix]:
    """c[i][j][k] of an inertia matrix."""
    n = len(q)
    flat = jacobian([x for row in M for x in row], list(q)).dense()
    return [
        [[0.5 * (flat[i * n + j][k] + flat[i * n + k][j] - flat[j * n + k][i]) for k in range(n)] for j in range(n)]
        for i in range(n)
    ]
