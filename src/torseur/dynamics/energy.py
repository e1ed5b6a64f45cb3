"""Energies and momenta: the quantities an audit watches (Llibre, Mampey & Chretien 1983: six momenta and the energy).

======  ===============================================================================  ======
T       kinetic energy                                                                    J
U       potential energy: gravity, with the world origin at zero, and springs             J
p, L    linear momentum, angular momentum about the world origin, in world axes           N s, N m s
======  ===============================================================================  ======

Bodies that cannot move count for nothing in any of them. A drive known only by its inertia at the joint has kinetic
energy, but no axis, and so no angular momentum.
"""

from __future__ import annotations

from torseur.describe import SpringDamper
from torseur.dynamics.loads import path_of
from torseur.dynamics.tree import Tree
from torseur.dynamics.velocities import Kinematics
from torseur.graph import Expr
from torseur.spatial.vectors import Vector, add, cross, dot, rotate, scale, zero_vector

__all__ = ["kinetic_energy", "momentum", "potential_energy"]


def kinetic_energy(tree: Tree) -> Expr:
    """T = sum 1/2 (M V.V + w.J w) + V.(w x MS), and what rotors add by turning faster than their carriers."""
    kinematics, v = Kinematics(tree), tree.system.v.symbols
    total = tree.system.graph.zero
    for link, motion in zip(tree.links, kinematics.velocities, strict=True):
        V, w, body = motion.linear, motion.angular, link.inertia
        twice = body.M * dot(V, V) + dot(w, rotate(body.J, w))
        total = total + (0.5 * twice + dot(V, cross(w, body.MS)))
    for rotor in tree.rotors:
        spin = rotor.ratio * v[rotor.speed]
        total = total + 0.5 * rotor.inertia * spin * spin
        if rotor.link >= 0:
            total = total + rotor.inertia * spin * dot(rotor.axis, kinematics.velocities[rotor.link].angular)
    return total


def potential_energy(tree: Tree, gravity: Vector) -> Expr:
    """U = -sum g.(M P + R MS) + sum 1/2 k (s - rest)^2."""
    kinematics, system = Kinematics(tree), tree.system
    total = system.graph.zero
    for link, pose in zip(tree.links, kinematics.poses, strict=True):
        centre = add(scale(link.inertia.M, pose.P), rotate(pose.R, link.inertia.MS))
        total = total - dot(gravity, centre)
    for load in system.mechanism.loads.values():
        if isinstance(load, SpringDamper):
            stretch = path_of(tree, kinematics, load)[0] - system.scalar(load.rest)
            total = total + 0.5 * system.scalar(load.stiffness) * stretch * stretch
    return total


def momentum(tree: Tree) -> tuple[Vector, Vector]:
    """p and L: of each link M V + w x MS and J w + MS x V at its origin, brought to the world's."""
    g, kinematics = tree.system.graph, Kinematics(tree)
    p, L = zero_vector(g), zero_vector(g)
    spins: dict[int, Vector] = {-1: zero_vector(g)}
    for rotor in tree.rotors:
        h = scale(rotor.inertia * rotor.ratio * tree.system.v.symbols[rotor.speed], rotor.axis)
        spins[rotor.link] = add(spins.get(rotor.link, zero_vector(g)), h)
    for k, (link, pose, motion) in enumerate(zip(tree.links, kinematics.poses, kinematics.velocities, strict=True)):
        V, w, body = motion.linear, motion.angular, link.inertia
        linear = rotate(pose.R, add(scale(body.M, V), cross(w, body.MS)))
        own = add(add(rotate(body.J, w), cross(body.MS, V)), spins.get(k, zero_vector(g)))
        p, L = add(p, linear), add(L, add(rotate(pose.R, own), cross(pose.P, linear)))
    return p, add(L, spins[-1])
