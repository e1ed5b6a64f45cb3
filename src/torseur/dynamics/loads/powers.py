"""The power of every load, and the seven quantities that an independent observer can watch.

Llibre, Mampey & Chretien 1983 (IV.2) check a simulation by the theorems of kinetic energy, momentum and angular
momentum: one energy and two vectors. Energy changes by the power of all forces:

    d(T + U)/dt = tau . v + sum over loads of P + what springs give back,    P = Q . v + sum (f . V + n . w)

where U holds the springs already: their P counts what they store as a loss, and d/dt 1/2 k (s - rest)^2 takes it back.
"""

from __future__ import annotations

from typing import Any

from torseur.dynamics.constraints.contact_friction import compliant_loads
from torseur.dynamics.loads import energy
from torseur.dynamics.loads.forces import FrictionLaw, coulomb, forces_of
from torseur.dynamics.tree.kinematics import Kinematics
from torseur.dynamics.tree.tree import Tree
from torseur.dynamics.workbench import Workbench
from torseur.errors import ArgumentError
from torseur.graph import Expr, substitute
from torseur.spatial.vectors import dot

__all__ = ["energy_and_momentum", "load_powers", "power_of", "total_energy"]


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


def load_powers(w: Workbench) -> dict[str, Any]:
    """One output per load, under its name; the inertia of a drive is no force and has none."""
    loads = w.system.mechanism.loads
    if not loads:
        raise ArgumentError("there are no loads whose power could be told", where=w.system.mechanism.name)
    return {name: power_of(w.tree, name) for name in loads}


def total_energy(w: Workbench) -> dict[str, Any]:
    """T + U."""
    return {"energy": energy.kinetic_energy(w.true_tree) + energy.potential_energy(w.true_tree, w.gravity)}


def energy_and_momentum(w: Workbench) -> dict[str, Any]:
    """The seven: kinetic energy, momentum, angular momentum about the world origin, in world axes."""
    p, L = energy.momentum(w.true_tree)
    return {"kinetic_energy": energy.kinetic_energy(w.true_tree), "linear_momentum": [*p], "angular_momentum": [*L]}
