"""Every quantity of a tree as a `Function`: the one table that equations, native code and reports start from.

A function takes first what it is a function of (q, v, vdot, tau), then, where its expressions need them, time ``t``,
inputs ``u`` and parameters ``p``.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from torseur.describe import Mechanism
from torseur.describe.faults import nearest
from torseur.dynamics.analytical.kane import kane_quantity
from torseur.dynamics.analytical.lagrange import check_rates_are_speeds, christoffel, lagrange_quantity
from torseur.dynamics.constrained_motion import motion as closed_motion
from torseur.dynamics.constrained_motion.motion import forward_joint_forces, joint_forces
from torseur.dynamics.constrained_motion.reduction import Reduction
from torseur.dynamics.constraints.rows import sides_of
from torseur.dynamics.loads.forces import centre_of_mass, kinetic_energy, momentum, potential_energy, power_of
from torseur.dynamics.matrices import dot, times, transposed
from torseur.dynamics.operational_space import operational_force, operational_space
from torseur.dynamics.parameters.base_parameters import BaseParameters, base_parameters
from torseur.dynamics.parameters.closed_structures import closed_base_parameters, workbench_of
from torseur.dynamics.parameters.regressor import given_forces, regressor, standard_parameters
from torseur.dynamics.sensitivities import (
    constraint_derivatives,
    constraint_stiffness,
    forward_dynamics_by_parameters,
    forward_dynamics_derivatives,
    inverse_dynamics_by_inputs,
    inverse_dynamics_by_normals,
    inverse_dynamics_by_parameters,
    motion_derivatives,
    output_derivatives,
    rate_derivatives,
)
from torseur.dynamics.tree.kinematics import Axes, Kinematics, Task, acceleration, frame_jacobian
from torseur.dynamics.tree.newton_euler import inverse_dynamics
from torseur.dynamics.tree.system import NORMALS, rates
from torseur.dynamics.workbench import RANK, Options, Workbench, collect
from torseur.errors import ArgumentError, ModelError, choice
from torseur.graph import Expr, Function, minimum, ops, substitute
from torseur.graph.collecting import collector_at_rest
from torseur.graph.function import reachable

__all__ = ["QUANTITIES", "Options", "Quantity", "Workbench", "function_of", "options_of"]


# -- the quantities ----------------------------------------------------------------------------------------------------
def _inverse_dynamics(w: Workbench) -> dict[str, Any]:
    return {"tau": w.inverse(list(w.block("vdot")))}


def _bias(w: Workbench) -> dict[str, Any]:
    return {"bias": w.inverse(w.rest)}


def _gravity(w: Workbench) -> dict[str, Any]:
    """The generalised force that holds the mechanism at rest, loads aside."""
    tau = inverse_dynamics(w.tree, w.rest, w.gravity)
    return {"gravity": substitute(tau, dict.fromkeys(w.system.v, 0.0))}


def _forward_dynamics(w: Workbench) -> dict[str, Any]:
    return {"vdot": closed_motion.motion(w)[0]}


def _coriolis(w: Workbench) -> dict[str, Any]:
    """C(q, v) from Christoffel's symbols: C v = bias - gravity, and dM/dt - 2C is skew.

    It needs speeds that are rates of q.
    """
    check_rates_are_speeds(w, "Christoffel's symbols")
    v = list(w.system.v)
    return {"coriolis": [[dot(row, v) for row in rows] for rows in christoffel(w.matrix, list(w.system.q))]}


def _energies(which: str) -> Callable[[Workbench], dict[str, Any]]:
    def build(w: Workbench) -> dict[str, Any]:
        tree = w.true_tree
        if which == "kinetic_energy":
            return {which: kinetic_energy(tree)}
        if which == "potential_energy":
            return {which: potential_energy(tree, w.gravity)}
        p, L = momentum(tree)
        return {which: [*p, *L]}

    return build


def _load_powers(w: Workbench) -> dict[str, Any]:
    """One output per load, under its name; the inertia of a drive is no force and has none."""
    loads = w.system.mechanism.loads
    if not loads:
        raise ArgumentError("the mechanism has no loads", where=w.system.mechanism.name)
    return {name: power_of(w.tree, name) for name in loads}


def _total_energy(w: Workbench) -> dict[str, Any]:
    """T + U."""
    return {"energy": kinetic_energy(w.true_tree) + potential_energy(w.true_tree, w.gravity)}


def _energy_and_momentum(w: Workbench) -> dict[str, Any]:
    """The seven: kinetic energy, momentum, angular momentum about the world origin, in world axes."""
    p, L = momentum(w.true_tree)
    return {"kinetic_energy": kinetic_energy(w.true_tree), "linear_momentum": [*p], "angular_momentum": [*L]}


def _closing_sides(w: Workbench) -> dict[str, Any]:
    """For each cut joint the least of its cosines; 1 for one that has but one side."""
    sides = []
    for cut in w.constraints.cuts:
        least = w.system.graph.one
        for side in sides_of(w.tree, cut):
            least = side if least is w.system.graph.one else minimum(least, side)
        sides.append(least)
    return {"closing_sides": sides}


def _inverse_derivatives(w: Workbench) -> dict[str, Any]:
    by_q, by_v = motion_derivatives(w)
    return {"dtau_dq": by_q, "dtau_dv": by_v}


def _pose(w: Workbench) -> dict[str, Any]:
    return {"pose": Kinematics(w.tree).frame(w.frame).pose.matrix()}


def _velocity(w: Workbench) -> dict[str, Any]:
    frame = Kinematics(w.tree).frame(w.frame)
    return {"velocity": [*frame.V, *frame.w]}


def _jacobian(w: Workbench) -> dict[str, Any]:
    return {"jacobian": frame_jacobian(w.tree, w.frame, w.options.axes)}


def _acceleration(w: Workbench) -> dict[str, Any]:
    return {"acceleration": acceleration(w.tree, w.frame, list(w.block("vdot")), w.options.axes)}


def _rates(w: Workbench) -> dict[str, Any]:
    return {"qdot": rates(w.system)}


def _regressor(w: Workbench) -> dict[str, Any]:
    parameters = standard_parameters(w.true_tree)
    return {"regressor": regressor(w.true_tree, parameters, list(w.block("vdot")), w.gravity)}


def _base_regressor(w: Workbench) -> dict[str, Any]:
    """Y of the base parameters; with loops or constraints N' Y of those of the closed structure."""
    base = _base(w)
    kept = [base.standard[i] for i in base.kept]
    Y = regressor(w.true_tree, kept, list(w.block("vdot")), w.gravity)
    if not w.constraints.rows:
        return {"base_regressor": Y}
    N = transposed(Reduction(w.plain).N)
    return {"base_regressor": [times(transposed(Y), column) for column in N]}


def _base(w: Workbench) -> BaseParameters:
    return closed_base_parameters(w.plain).base if w.constraints.rows else base_parameters(w.true_tree)


def _standard_parameters(w: Workbench) -> dict[str, Any]:
    g, parameters = w.system.graph, standard_parameters(w.true_tree)
    return {"standard_parameters": [g.name(p.value, p.name) for p in parameters]}


@dataclass(frozen=True)
class Quantity:
    """A quantity: what it is a function of, and how it is built."""

    name: str
    of: tuple[str, ...]
    build: Callable[[Workbench], dict[str, Any]] = field(repr=False)
    needs_frame: bool = False
    takes: tuple[str, ...] = ()
    """The options it knows beside its frame: axes, task, independent, actuated."""
    free_motion: bool = False
    """Whether it is wrong where loops or constraints take part in the motion."""
    of_outputs: bool = False
    """Whether it depends on the outputs of the description, which the motion does not."""
    of_closed_motion: bool = False
    """Whether it is about motions that loops and constraints allow, at states that they allow, and nothing else."""
    of_every_body: bool = False
    """Whether it looks at every body with its own inertia, those that are fixed to others too."""


QUANTITIES: dict[str, Quantity] = {
    q.name: q
    for q in (
        Quantity("inverse_dynamics", ("q", "v", "vdot"), _inverse_dynamics),
        Quantity("forward_dynamics", ("q", "v", "tau"), _forward_dynamics, of_closed_motion=True),
        Quantity("mass_matrix", ("q",), lambda w: {"mass_matrix": w.matrix}),
        Quantity("bias", ("q", "v"), _bias),
        Quantity("gravity", ("q",), _gravity),
        Quantity("coriolis", ("q", "v"), _coriolis),
        Quantity("kinetic_energy", ("q", "v"), _energies("kinetic_energy")),
        Quantity("potential_energy", ("q",), _energies("potential_energy")),
        Quantity("momentum", ("q", "v"), _energies("momentum")),
        Quantity("centre_of_mass", ("q",), lambda w: {"centre_of_mass": [*centre_of_mass(w.true_tree)]}),
        Quantity("energy", ("q", "v"), _total_energy),
        Quantity("energy_and_momentum", ("q", "v"), _energy_and_momentum),
        Quantity("load_powers", ("q", "v"), _load_powers),
        Quantity("rates", ("q", "v"), _rates),
        Quantity("closure", ("q",), closed_motion.closure),
        Quantity("constraint_rates", ("q", "v"), closed_motion.constraint_rates),
        Quantity("constraint_jacobian", ("q",), closed_motion.constraint_jacobian),
        Quantity("constraint_bias", ("q", "v"), closed_motion.constraint_bias),
        Quantity("multipliers", ("q", "v", "tau"), closed_motion.multipliers),
        Quantity("loop_wrenches", ("q", "v", "tau"), closed_motion.loop_wrenches),
        Quantity(
            "joint_forces", ("q", "v", "vdot"), joint_forces, of_every_body=True, takes=("independent", "actuated")
        ),
        Quantity("forward_joint_forces", ("q", "v", "tau"), forward_joint_forces, of_every_body=True),
        Quantity("closing_sides", ("q",), _closing_sides),
        Quantity("mechanism_length", (), lambda w: {"length": w.length}),
        Quantity("constraint_derivatives", ("q", "v"), constraint_derivatives),
        Quantity("constraint_stiffness", ("q", "lam"), constraint_stiffness),
        Quantity("rate_derivatives", ("q", "v"), rate_derivatives),
        Quantity("inverse_dynamics_by_inputs", ("q", "v", "vdot"), inverse_dynamics_by_inputs),
        Quantity("inverse_dynamics_by_normals", ("q", "v", "vdot"), inverse_dynamics_by_normals),
        Quantity("output_derivatives", ("q", "v", "tau"), output_derivatives, of_outputs=True),
        Quantity("assembly_step", ("q",), closed_motion.assembly_step),
        Quantity("allowed_speeds", ("q", "v"), closed_motion.allowed_speeds),
        Quantity("corrected", ("q", "v"), closed_motion.corrected),
        Quantity("reduction", ("q",), closed_motion.reduction, takes=("independent",)),
        Quantity(
            "reduced_mass_matrix",
            ("q",),
            closed_motion.reduced_mass_matrix,
            of_closed_motion=True,
            takes=("independent",),
        ),
        Quantity("reduced_bias", ("q", "v"), closed_motion.reduced_bias, of_closed_motion=True, takes=("independent",)),
        Quantity(
            "reduced_forward_dynamics",
            ("q", "v", "tau"),
            closed_motion.reduced_forward_dynamics,
            of_closed_motion=True,
            takes=("independent",),
        ),
        Quantity("kane", ("q", "v"), kane_quantity, takes=("independent",)),
        Quantity("lagrange", ("q", "v"), lagrange_quantity),
        Quantity(
            "actuator_efforts",
            ("q", "v", "vdot"),
            closed_motion.actuator_efforts,
            of_closed_motion=True,
            takes=("independent", "actuated"),
        ),
        Quantity("inverse_dynamics_derivatives", ("q", "v", "vdot"), _inverse_derivatives),
        Quantity("forward_dynamics_derivatives", ("q", "v", "tau"), forward_dynamics_derivatives),
        Quantity("inverse_dynamics_by_parameters", ("q", "v", "vdot"), inverse_dynamics_by_parameters),
        Quantity("forward_dynamics_by_parameters", ("q", "v", "tau"), forward_dynamics_by_parameters, free_motion=True),
        Quantity("regressor", ("q", "v", "vdot"), _regressor),
        Quantity("base_regressor", ("q", "v", "vdot"), _base_regressor, takes=("independent",)),
        Quantity("given_forces", ("q", "v"), lambda w: {"given_forces": given_forces(w.true_tree)}),
        Quantity("standard_parameters", (), _standard_parameters),
        Quantity("base_parameters", (), lambda w: {"base_parameters": _base(w).values}),
        Quantity("pose", ("q",), _pose, needs_frame=True),
        Quantity("velocity", ("q", "v"), _velocity, needs_frame=True),
        Quantity("jacobian", ("q",), _jacobian, needs_frame=True, takes=("axes",)),
        Quantity("acceleration", ("q", "v", "vdot"), _acceleration, needs_frame=True, takes=("axes",)),
        Quantity(
            "operational_space",
            ("q", "v"),
            operational_space,
            needs_frame=True,
            free_motion=True,
            takes=("axes", "task"),
        ),
        Quantity("operational_force", ("q", "tau"), operational_force, needs_frame=True, takes=("axes", "task")),
    )
}

_OF_WHAT_STANDS = (
    "kinetic_energy",
    "potential_energy",
    "momentum",
    "energy",
    "pose",
    "velocity",
)
"""Quantities that a mechanism without any motion has as well."""


def options_of(
    mechanism: Mechanism,
    quantity: str,
    base: Options,
    *,
    frame: str | None = None,
    axes: Axes | str = Axes.OWN,
    task: Task | str = Task.POSE,
    independent: Sequence[str] | str | None = None,
    actuated: Sequence[str] | str | None = None,
) -> Options:
    """Options as users give them, words or not, checked: what a quantity cannot use is refused, not ignored."""
    if quantity not in QUANTITIES:
        raise _no_quantity(quantity)
    if frame is not None and frame not in mechanism.frames:
        known = ", ".join(mechanism.frames)
        remedy = _near(frame, mechanism.frames)
        raise ArgumentError(f"no frame '{frame}'", where=mechanism.name, expected=known, remedy=remedy)
    options = replace(
        base,
        frame=frame,
        axes=choice(Axes, axes, "axes"),
        task=choice(Task, task, "task"),
        independent=_names(independent),
        actuated=_names(actuated),
    )
    entry, plain = QUANTITIES[quantity], Options()
    closed_only = {"independent", "actuated"} if entry.of_every_body and mechanism.is_tree else set[str]()
    known_options = (*(["frame"] if entry.needs_frame else []), *(n for n in entry.takes if n not in closed_only))
    asked = [
        n for n in ("frame", "axes", "task", "independent", "actuated") if getattr(options, n) != getattr(plain, n)
    ]
    idle = [n for n in asked if n not in known_options]
    if idle:
        raise ArgumentError(
            f"{quantity} does not depend on what was asked",
            got=", ".join(idle),
            option=idle[0],
            remedy=f"leave out {', '.join(idle)}",
            expected=", ".join(known_options) or "none of frame, axes, task, independent, actuated",
        )
    return options


def _names(given: Sequence[str] | str | None) -> tuple[str, ...] | None:
    """Names, or one name."""
    return None if given is None else (given,) if isinstance(given, str) else tuple(given)


def _no_quantity(word: str) -> ArgumentError:
    near = nearest(word, QUANTITIES)
    remedy = f"did you mean {near}?" if near else None
    return ArgumentError(f"no quantity '{word}'", expected=", ".join(QUANTITIES), remedy=remedy)


def _near(word: str, known: Iterable[str]) -> str | None:
    near = difflib.get_close_matches(word, list(known), 1)
    return f"did you mean {near[0]}?" if near else None


@collector_at_rest()
def function_of(
    mechanism: Mechanism, quantity: str, options: Options | None = None, fixed: Mapping[str, float] | None = None
) -> Function:
    """A quantity of a mechanism as a function."""
    if quantity not in QUANTITIES:
        raise _no_quantity(quantity)
    entry = QUANTITIES[quantity]
    if entry.free_motion and not mechanism.is_tree:
        raise ModelError(
            f"{quantity} does not take loops and constraints into account",
            where=mechanism.name,
            got=", ".join([*mechanism.loops, *mechanism.constraints]),
            remedy="take them out of the description for the motion of the open tree",
        )
    if not mechanism.v and quantity not in _OF_WHAT_STANDS:
        raise ModelError(
            f"there is no {quantity}: nothing can move",
            where=mechanism.name,
            expected="a joint with a coordinate, or a base that moves",
        )
    if entry.of_every_body:
        options = replace(options or Options(), base_parameters=False, welds=True)
    bench = workbench_of(mechanism, options or Options(), fixed)
    outputs = entry.build(bench)
    system = bench.system
    own = {"q": system.q, "v": system.v} | ({"lam": bench.rows_block("lam")} if "lam" in entry.of else {})
    blocks = [own[name] if name in own else bench.block(name) for name in entry.of]
    flat: list[Expr] = []
    collect(list(outputs.values()), flat)
    used = {node.data[0] for node in reachable(flat) if node.op is ops.SYMBOL}
    known = system.graph.blocks
    blocks += [known[name] for name in ("t", "u", NORMALS, "p", RANK) if name in used]
    return Function(quantity, blocks, outputs)
