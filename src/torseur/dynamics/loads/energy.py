"""Energies, momenta and powers: the quantities an audit watches (Llibre, Mampey & Chretien 1983, IV.2).

======  ===============================================================================  ======
T       kinetic energy                                                                    J
U       potential energy: gravity, with the world origin at zero, and loads               J
p, L    linear momentum, angular momentum about the world origin, in world axes           N s, N m s
P       power of a load: Q . v + sum of f . V + n . w                                     W
======  ===============================================================================  ======

Bodies that cannot move count for nothing in any of them. A drive known only by its inertia at the joint has kinetic
energy, but no axis, and so no angular momentum. Energy changes by the power of all forces:

    d(T + U)/dt = tau . v + sum over loads of P + what springs give back

where U holds the springs already: their P counts what they store as a loss, and the rate of what they store takes it
back.
"""

from __future__ import annotations

from dataclasses import dataclass

from torseur.dynamics.loads.forces import FrictionLaw, LoadOnTree, compliant_loads, coulomb, forces_of
from torseur.dynamics.tree.kinematics import Kinematics
from torseur.dynamics.tree.tree import Tree
from torseur.errors import ModelError
from torseur.graph import Expr, substitute
from torseur.spatial.motion import Wrench
from torseur.spatial.vectors import Vector, dot

__all__ = ["Part", "centre_of_mass", "kinetic_energy", "kinetic_shares", "momentum", "potential_energy", "power_of"]


@dataclass(frozen=True)
class Part:
    """Some of a tree: numbers of links, places of speeds, names of loads."""

    links: frozenset[int]
    speeds: frozenset[int]
    loads: frozenset[str]


def kinetic_energy(tree: Tree) -> Expr:
    """T = sum 1/2 (M V.V + w.J w) + V.(w x MS), and what rotors add by turning faster than their carriers."""
    kinematics, v = Kinematics(tree), tree.system.v.symbols
    total = tree.system.graph.zero
    for link, motion in zip(tree.links, kinematics.velocities, strict=True):
        total = total + link.inertia.kinetic_energy(motion)
    for rotor in tree.rotors:
        spin = rotor.ratio * v[rotor.speed]
        total = total + 0.5 * rotor.inertia * spin * spin
        if rotor.link >= 0:
            total = total + rotor.inertia * spin * dot(rotor.axis, kinematics.velocities[rotor.link].angular)
    return total


def kinetic_shares(tree: Tree, part: Part) -> list[Expr]:
    """The kinetic energy of a part in shares that add up to it: of each link along and about its three axes, of rotors.

    1/2 V_i (M V + w x MS)_i and 1/2 w_i (J w + MS x V)_i. What turns or slides steadily keeps its share.
    """
    kinematics, v = Kinematics(tree), tree.system.v.symbols
    shares: list[Expr] = []
    for k in sorted(part.links):
        V = kinematics.velocities[k]
        h = tree.links[k].inertia @ V
        shares += [0.5 * a * b for a, b in zip(V.six, h.six, strict=True)]
    for rotor in tree.rotors:
        if rotor.speed in part.speeds:
            spin = rotor.ratio * v[rotor.speed]
            shares.append(0.5 * rotor.inertia * spin * spin)
            if rotor.link >= 0:
                shares.append(rotor.inertia * spin * dot(rotor.axis, kinematics.velocities[rotor.link].angular))
    return [e for e in shares if e is not tree.system.graph.zero]


def potential_energy(tree: Tree, gravity: Vector, part: Part | None = None) -> Expr:
    """U = -sum g.(M P + R MS) + what loads have stored."""
    kinematics, system = Kinematics(tree), tree.system
    total = system.graph.zero
    for k, (link, pose) in enumerate(zip(tree.links, kinematics.poses, strict=True)):
        if part is not None and k not in part.links:
            continue
        total = total - dot(gravity, link.inertia.moment_of_mass(pose))
    for name, load in system.mechanism.loads.items():
        if part is None or name in part.loads:
            stored = load.energy(LoadOnTree(tree, name, kinematics))
            total = total if stored is None else total + stored
    return total


def centre_of_mass(tree: Tree) -> Vector:
    """sum (M P + R MS) / sum M, of the bodies that move."""
    g, kinematics = tree.system.graph, Kinematics(tree)
    moment, mass = Vector.zero(g), g.zero
    for link, pose in zip(tree.links, kinematics.poses, strict=True):
        moment, mass = moment + link.inertia.moment_of_mass(pose), mass + link.inertia.M
    if mass is g.zero:
        raise ModelError("nothing that moves has a mass: there is no centre of it", where=tree.system.mechanism.name)
    return (1.0 / mass) * moment


def momentum(tree: Tree) -> Wrench:
    """p and L: of each link I V at its origin, with the spin of the rotors it carries, brought to the world's."""
    g, kinematics, v = tree.system.graph, Kinematics(tree), tree.system.v.symbols
    still = Vector.zero(g)
    spins: dict[int, Vector] = {}
    for rotor in tree.rotors:
        h = (rotor.inertia * rotor.ratio * v[rotor.speed]) * rotor.axis
        spins[rotor.link] = spins.get(rotor.link, still) + h
    total = Wrench.zero(g)
    for k, (link, X, V) in enumerate(zip(tree.links, kinematics.poses, kinematics.velocities, strict=True)):
        total += X @ (link.inertia @ V + Wrench(still, spins.get(k, still)))
    return total + Wrench(still, spins.get(-1, still))


# -- power -------------------------------------------------------------------------------------------------------------
def power_of(tree: Tree, load: str, friction: FrictionLaw = coulomb) -> Expr:
    """What a load gives to the bodies that move, W."""
    forces = forces_of(tree, {load: tree.system.mechanism.loads[load]}, friction)
    velocities = Kinematics(tree).velocities
    power = tree.system.graph.zero
    for place, force in forces.Q.items():
        power = power + force * tree.system.v.symbols[place]
    for k, wrench in forces.wrenches.items():
        power = power + dot(velocities[k], wrench)
    known = compliant_loads(tree)
    return substitute([power], known)[0] if known else power
