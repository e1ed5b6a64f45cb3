"""Quantities of mechanisms with loops and constraints, forces inside joints included.

All are tree-sized: q, v, vdot and tau are those of the open tree.

The wrench that a joint, or the cut joint of a loop, passes on is what the motion of everything beyond it takes, less
what acts there from outside: the backward recursion of Newton and Euler gives it for every link, with the constraints
among the external forces. What drives, springs and friction do along a coordinate passes through its joint too.

==========  ==========================================================================================  ======
E1j .. E3j  force that the antecedent exerts on body j, in the axes of the body                          N
N1j .. N3j  moment of it at the body's origin                                                            N m
==========  ==========================================================================================  ======

(SYMORO's names; j is the number of the body, the base being 0.)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torseur.dynamics.constrained_motion.normal_forces import (
    Normals,
    normals_read,
    solved_normals,
)
from torseur.dynamics.constrained_motion.reduction import (
    Reduction,
    actuated_coordinates,
    speed_named,
)
from torseur.dynamics.constrained_motion.solver import constraint_solver
from torseur.dynamics.constraints.rows import Constraints, Cut, cut_wrench
from torseur.dynamics.loads.forces import Forces
from torseur.dynamics.matrices import times, transposed
from torseur.dynamics.tree.newton_euler import joint_wrenches
from torseur.dynamics.tree.system import System, displaced
from torseur.dynamics.workbench import Workbench
from torseur.errors import ArgumentError, ModelError
from torseur.graph import Expr, Function, call, minimum_norm_solve, ops, solve, substitute
from torseur.graph.function import reachable
from torseur.spatial.pose import Wrench
from torseur.spatial.vectors import cross

__all__ = [
    "Motion",
    "actuator_efforts",
    "allowed_speeds",
    "assembly_step",
    "closure",
    "constraint_bias",
    "constraint_jacobian",
    "constraint_rates",
    "corrected",
    "efforts_of_motion",
    "forward_joint_forces",
    "joint_forces",
    "loop_wrenches",
    "motion",
    "moved_by",
    "multipliers",
    "reaction_of",
    "reduced_bias",
    "reduced_forward_dynamics",
    "reduced_mass_matrix",
    "reduction",
]


def _rows(w: Workbench) -> Constraints:
    """The constraints; an error where there is nothing to close."""
    if not w.constraints.rows:
        raise ArgumentError(
            "this mechanism has no loops and no constraints",
            where=w.system.mechanism.name,
            expected="loops or constraints in the description",
        )
    return w.constraints


def closure(w: Workbench) -> dict[str, Any]:
    """h(q, t) of the holonomic rows, in their order."""
    return {"closure": _rows(w).h}


def constraint_rates(w: Workbench) -> dict[str, Any]:
    """r(q, v, t) of all rows."""
    return {"rates": _rows(w).r}


def constraint_jacobian(w: Workbench) -> dict[str, Any]:
    """A (rows, nv)."""
    return {"constraint_jacobian": _rows(w).A}


def constraint_bias(w: Workbench) -> dict[str, Any]:
    """b with A vdot = b."""
    return {"constraint_bias": _rows(w).b}


@dataclass(frozen=True)
class Motion:
    """Accelerations under all loads and constraints.

    Attributes:
        vdot: accelerations.
        f: the forces tau - bias, normal forces put in.
        normals: the normal forces that these read; None if they read none.
    """

    vdot: list[Expr]
    f: list[Expr]
    normals: Normals | None


def moved_by(w: Workbench, tau: Sequence[Expr], known: Mapping[Expr, Expr] | None = None) -> Motion:
    """The motion under tau and all loads and constraints.

    Args:
        w: the mechanism.
        tau: generalised forces.
        known: what some symbols in the forces stand for.
    """
    f = [t - b for t, b in zip(tau, w.inverse(w.rest), strict=True)]
    f = substitute(f, known) if known else f
    if not w.constraints.rows:
        return Motion(w.solve_once(f), f, None)
    normals = solved_normals(w, f)
    if normals is not None:
        f = list(normals.f)
    return Motion(constraint_solver(w).solve(f, w.constraints.b), f, normals)


def motion(w: Workbench) -> tuple[list[Expr], list[Expr]]:
    """vdot under tau and all loads and constraints, and the forces f = tau - bias."""
    solved = moved_by(w, list(w.block("tau")))
    return solved.vdot, solved.f


def multipliers(w: Workbench) -> dict[str, Any]:
    """lambda with M vdot + bias = tau + A' lambda, the shortest if it is not unique; and the rank of A."""
    _rows(w)
    vdot, f = motion(w)
    return {"multipliers": constraint_solver(w).multipliers(vdot, f), "rank": constraint_solver(w).rank}


def loop_wrenches(w: Workbench) -> dict[str, Any]:
    """For each cut joint what it does to its second frame: force, torque, at that frame in the first one's axes."""
    if not w.constraints.cuts:
        raise ArgumentError("there are no loops", where=w.system.mechanism.name, expected="cut joints under 'loops'")
    vdot, f = motion(w)
    lam = constraint_solver(w).multipliers(vdot, f)
    wrenches = {}
    for cut in w.constraints.cuts:
        wrenches[cut.name] = list(cut_wrench(cut, lam).six)
    return wrenches


# -- keeping it closed -------------------------------------------------------------------------------------------------


def assembly_step(w: Workbench) -> dict[str, Any]:
    """The shortest step along the speeds that closes the linearised position rows; and the rank of all rows."""
    rows = _rows(w)
    h = iter(rows.h)
    misses = [w.system.graph.zero if row.position is None else -next(h) for row in rows.rows]
    return {"step": constraint_solver(w).closing(misses), "rank": constraint_solver(w).rank}


def allowed_speeds(w: Workbench) -> dict[str, Any]:
    """The allowed speeds nearest to v, measured by kinetic energy: what an impact without rebound leaves of them."""
    v = list(w.system.v)
    momenta = [sum((a * x for a, x in zip(row, v, strict=True)), w.system.graph.zero) for row in w.matrix]
    return {"v": constraint_solver(w).solve(momenta, [-x for x in w.constraints.c])}


def corrected(w: Workbench) -> dict[str, Any]:
    """q and v brought back to what the constraints allow, quaternions to unit length: two Newton steps, then speeds.

    It is for states that are nearly right, as after a step of integration.
    """
    system = w.system
    still = [system.graph.zero] * w.tree.nv
    q, v = displaced(system, list(system.q), still), list(system.v)
    if not w.constraints.rows:
        return {"q": q, "v": v}
    if w.constraints.holonomic:
        step = assembly_step(w)["step"]
        newton = _at(system, "newton", displaced(system, list(system.q), step))
        for _ in range(2):
            q = newton(q, v)
    return {"q": q, "v": _at(system, "allowed", allowed_speeds(w)["v"])(q, v)}


def _at(system: System, name: str, values: list[Expr]) -> Callable[[list[Expr], list[Expr]], list[Expr]]:
    """Expressions of q, v and whatever else, as a function of q and v that is called."""
    used = {node.data[0] for node in reachable(values) if node.op is ops.SYMBOL} - {"q", "v"}
    others = [block for block in system.graph.blocks.values() if block.name in used]
    function = Function(name, [system.q, system.v, *others], {"x": values})
    return lambda q, v: call(function, q, v, *map(list, others))


# -- reduced forms -----------------------------------------------------------------------------------------------------


def reduction(w: Workbench) -> dict[str, Any]:
    """N and n with v = N a + n. The rows of passive joints in N are J_ap (2.37)."""
    reduced = _some(w)
    return {"reduction": reduced.N, "drift": reduced.n}


def reduced_mass_matrix(w: Workbench) -> dict[str, Any]:
    """D = N' M N."""
    return {"reduced_mass_matrix": _some(w).mass_matrix}


def reduced_bias(w: Workbench) -> dict[str, Any]:
    """h = N' (M g + bias): the reduced inverse dynamics where adot = 0."""
    reduced = _some(w)
    return {"reduced_bias": times(transposed(reduced.N), w.inverse(reduced.g))}


def reduced_forward_dynamics(w: Workbench) -> dict[str, Any]:
    """adot, and vdot of all speeds."""
    reduced = _some(w)
    f = [t - h for t, h in zip(w.block("tau"), w.inverse(reduced.g), strict=True)]
    if normals_read(w, f):
        normals = moved_by(w, list(w.block("tau"))).normals
        assert normals is not None
        f = substitute(f, normals.pushes)
    adot = reduced.solve(times(transposed(reduced.N), f))
    return {"adot": adot, "vdot": [x + y for x, y in zip(times(reduced.N, adot), reduced.g, strict=True)]}


def actuator_efforts(w: Workbench) -> dict[str, Any]:
    """Efforts of the actuated coordinates for a motion, in their order."""
    return {"efforts": list(efforts_of_motion(w, _some(w)).values())}


def efforts_of_motion(w: Workbench, reduced: Reduction) -> dict[int, Expr]:
    """Place in v -> effort: N_a' Gamma = N' tau, tau that of the open tree (2.35)-(2.37).

    With actuated coordinates as the independent ones it is Gamma_a + J_ap' Gamma_p. More actuators than freedoms share
    the effort so that the sum of squares is least.
    """
    names = w.options.actuated
    if names is None:
        names = tuple(actuated_coordinates(w)) or reduced.independent.names
    active = [speed_named(w, name) for name in names]
    if len(active) < reduced.k:
        raise ArgumentError(
            f"{len(active)} actuated coordinates cannot hold {reduced.k} freedoms",
            where=w.system.mechanism.name,
            got=", ".join(names) or "none",
            expected=f"at least {reduced.k} coordinates, such as those of {', '.join(reduced.independent.names)}",
        )
    felt = times(transposed(reduced.N), w.inverse(list(w.block("vdot"))))
    if sorted(active) == sorted(p for p in reduced.independent.places if p is not None):
        return {k: felt[reduced.independent.places.index(k)] for k in active}
    arms = transposed([reduced.N[k] for k in active])
    efforts = solve(arms, felt) if len(active) == reduced.k else minimum_norm_solve(arms, felt)[0]
    return dict(zip(active, efforts, strict=True))


def _some(w: Workbench) -> Reduction:
    reduced = Reduction(w)
    if not reduced.k:
        raise ModelError("the constraints leave no degree of freedom", where=w.system.mechanism.name)
    return reduced


def joint_forces(w: Workbench) -> dict[str, Any]:
    """For each body what its antecedent does to it (6,) in a motion q, v, vdot that the constraints allow.

    With loops or constraints the efforts are those of the actuated coordinates, and the multipliers follow from them:
    A' lambda = M vdot + bias - Gamma.
    """
    vdot = list(w.block("vdot"))
    if not w.constraints.rows:
        return _of_all_bodies(w, vdot, [])
    reduced = Reduction(w)
    held = w.inverse(vdot)
    if reduced.k:
        for place, effort in efforts_of_motion(w, reduced).items():
            held[place] = held[place] - effort
    return _of_all_bodies(w, vdot, reduced.multipliers(held))


def forward_joint_forces(w: Workbench) -> dict[str, Any]:
    """The same in the motion that forces tau give, at a state q, v."""
    vdot, f = motion(w)
    return _of_all_bodies(w, vdot, constraint_solver(w).multipliers(vdot, f) if w.constraints.rows else [])


def _of_all_bodies(w: Workbench, vdot: Sequence[Expr], multipliers: Sequence[Expr]) -> dict[str, Any]:
    g, tree = w.system.graph, w.tree
    wrenches, _ = joint_wrenches(tree, vdot, w.gravity, _all_forces(w, multipliers).wrenches)
    sums = {}
    for name, (k, offset) in tree.home.items():
        if k >= 0:
            number = tree.links[k].number
            names = [f"{stem}{axis}{number}" for stem in "EN" for axis in "123"]
            sums[name] = [g.name(x, n) for x, n in zip((offset.inv @ wrenches[k]).six, names, strict=True)]
    return sums


def reaction_of(w: Workbench, name: str, vdot: Sequence[Expr], multipliers: Sequence[Expr]) -> list[Expr]:
    """Force and moment (6,) of a joint on its body, at the body's origin in its axes; of a loop on its second frame,
    there, in the axes of the first.

    Args:
        w: the mechanism.
        name: of a body (its joint is meant) or of a loop.
        vdot: accelerations.
        multipliers: of all rows.
    """
    for cut in w.constraints.cuts:
        if cut.name == name:
            return list(cut_wrench(cut, multipliers).six)
    body = w.true_tree.home.get(name)
    if body is None or body[0] < 0 or w.true_tree.links[body[0]].name != name:
        raise ModelError(f"'{name}' is not carried by a joint", expected="a body that moves on a joint")
    link, offset = body
    wrenches, _ = joint_wrenches(w.true_tree, vdot, w.gravity, _all_forces(w, multipliers).wrenches)
    return list((offset.inv @ wrenches[link]).six)


def _all_forces(w: Workbench, multipliers: Sequence[Expr]) -> Forces:
    """Wrenches of loads and of constraints on links."""
    forces = Forces(w.system.graph)
    forces.wrenches |= w.forces.wrenches
    for cut in w.constraints.cuts:
        _pull(forces, cut, multipliers)
    silent = [str(row.owner) for row in w.constraints.rows if row.acts is None and row.owner.table != "loops"]
    if silent:
        raise ModelError(
            "the force in a joint is not known where constraints are equations: they do not say where they act",
            got=", ".join(dict.fromkeys(silent)),
            remedy="write them as loops, rolling wheels or contacts at frames",
        )
    for row, lam in zip(w.constraints.rows, multipliers, strict=True):
        for frame, wrench in row.acts or ():
            forces.act(frame, lam * wrench)
    return forces


def _pull(forces: Forces, cut: Cut, multipliers: Sequence[Expr]) -> None:
    """What a cut joint does to both its frames."""
    a, b = cut.a.pose, cut.b.pose
    f, n = cut_wrench(cut, multipliers).turned(a.R)
    forces.act(cut.b, Wrench(f, n).turned(b.R.T))
    forces.act(cut.a, -Wrench(f, n + cross(b.P - a.P, f)).turned(a.R.T))
