"""The equations from energies, with what rotors add to them: the check of everything recursive."""

from __future__ import annotations

from typing import Any

from support.evaluated import arguments_of
from support.random_mechanisms import State
from torseur.describe import WORLD, Mechanism, Motor, Transmission
from torseur.dynamics.analytical import lagrange
from torseur.dynamics.tree.system import System, body_poses, rates
from torseur.graph import Expr, Function, Role, evaluate, tangents
from torseur.spatial.vectors import Matrix, Vector, dot

__all__ = ["by_lagrange", "rotor_energy"]


def rotor_energy(system: System) -> Expr:
    """What rotors add to T: 1/2 j (ratio v)^2 + j ratio v (e . w), w by differentiating the carrier's pose."""
    mechanism, total = system.mechanism, system.graph.zero
    speeds = [x.name for x in mechanism.v]
    seeds = dict(zip(system.q, rates(system), strict=True))
    for load in mechanism.loads.values():
        if not isinstance(load, (Motor, Transmission)):
            continue
        k, j = speeds.index(f"d{load.coordinate}"), system.scalar(load.inertia)
        spin = system.v[k] * (system.scalar(load.ratio) if isinstance(load, Motor) else 1.0)
        total = total + 0.5 * j * spin * spin
        if isinstance(load, Motor):
            owner = mechanism.bodies.get(mechanism.v[k].owner)
            R = body_poses(system)[load.carrier or (WORLD if owner is None else owner.parent)].R
            d = tangents([*R[0], *R[1], *R[2]], seeds)
            turn = R.T @ Matrix.of((d[:3], d[3:6], d[6:]))
            axis = system.unit(system.vector(load.axis))
            total = total + j * spin * dot(axis, Vector(turn[2][1], turn[0][2], turn[1][0]))
    return total


def by_lagrange(mechanism: Mechanism, s: State) -> Any:
    """tau for a motion, loads aside."""
    system = System(mechanism)
    vdot = system.graph.block("vdot", len(s.v), Role.STATE)
    bare = lagrange.energies(system)
    energies = lagrange.Energies(bare.T + rotor_energy(system), bare.U)
    tau = lagrange.equations(system, list(vdot), energies)
    function = Function("lagrange", [system.q, system.v, vdot, system.p], {"tau": tau})
    return evaluate(function, *arguments_of(mechanism, function, (s.q, s.v, s.vdot)))[0]
