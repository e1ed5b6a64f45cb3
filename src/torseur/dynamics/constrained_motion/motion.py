"""Quantities of mechanisms with loops and constraints; all are tree-sized: q, v, vdot and tau are those of the open
tree."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torseur.dynamics.constrained_motion.normal_forces import (
    Normals,
    SolvedWithNormals,
    normal_rows,
    normals_read,
    solved_normals,
)
from torseur.dynamics.constraints.rows import Constraints, cut_wrench
from torseur.dynamics.sensitivities import along_speeds
from torseur.dynamics.tree.coordinates import displaced
from torseur.dynamics.tree.system import System
from torseur.dynamics.workbench import Workbench
from torseur.errors import ArgumentError
from torseur.graph import Expr, Function, call, jacobian, maximum, ops, substitute
from torseur.graph.function import reachable

__all__ = [
    "Motion",
    "allowed_speeds",
    "assembly_step",
    "closure",
    "constrained_derivatives",
    "constraint_bias",
    "constraint_jacobian",
    "constraint_rates",
    "corrected",
    "loop_wrenches",
    "motion",
    "moved_by",
    "multipliers",
    "output_derivatives",
]


def _rows(w: Workbench) -> Constraints:
    """The constraints; an error where there is nothing to close."""
    if not w.constraints.rows:
        raise ArgumentError(
            "nothing closes or constrains this mechanism",
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
        f = substitute(f, normals.pushes)
    return Motion(w.allowed.solve(f, w.constraints.b), f, normals)


def motion(w: Workbench) -> tuple[list[Expr], list[Expr]]:
    """vdot under tau and all loads and constraints, and the forces f = tau - bias."""
    found = moved_by(w, list(w.block("tau")))
    return found.vdot, found.f


def multipliers(w: Workbench) -> dict[str, Any]:
    """lambda with M vdot + bias = tau + A' lambda, the shortest if it is not unique; and the rank of A."""
    _rows(w)
    vdot, f = motion(w)
    return {"multipliers": w.allowed.multipliers(vdot, f), "rank": w.allowed.rank}


def loop_wrenches(w: Workbench) -> dict[str, Any]:
    """For each cut joint what it does to its second frame: force, torque, at that frame in the first one's axes."""
    if not w.constraints.cuts:
        raise ArgumentError("there are no loops", where=w.system.mechanism.name, expected="cut joints under 'loops'")
    vdot, f = motion(w)
    lam = w.allowed.multipliers(vdot, f)
    found = {}
    for cut in w.constraints.cuts:
        found[cut.name] = list(cut_wrench(cut, lam).six)
    return found


# -- keeping it closed -------------------------------------------------------------------------------------------------
def assembly_step(w: Workbench) -> dict[str, Any]:
    """The shortest step along the speeds that closes the linearised position rows; and the rank of all rows."""
    rows = _rows(w)
    h = iter(rows.h)
    misses = [w.system.graph.zero if row.position is None else -next(h) for row in rows.rows]
    return {"step": w.allowed.closing(misses), "rank": w.allowed.rank}


def allowed_speeds(w: Workbench) -> dict[str, Any]:
    """The allowed speeds nearest to v, measured by kinetic energy: what an impact without rebound leaves of them."""
    v = list(w.system.v)
    momenta = [sum((a * x for a, x in zip(row, v, strict=True)), w.system.graph.zero) for row in w.matrix]
    return {"v": w.allowed.solve(momenta, [-x for x in w.constraints.c])}


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


# -- derivatives -------------------------------------------------------------------------------------------------------
def constrained_derivatives(w: Workbench, by_q: list[list[Expr]], by_v: list[list[Expr]]) -> dict[str, Any]:
    """vdot and its derivatives by q (along the speeds), v and tau, from the equations it solves:

    M dvdot - A' dlambda = d(A' lambda - inverse dynamics),   A dvdot = d(b - A vdot).

    Args:
        w: the mechanism.
        by_q: derivative of the inverse dynamics along the speeds, in terms of the block vdot.
        by_v: its derivative by v.
    """
    n, system = w.tree.nv, w.system
    found_motion = moved_by(w, list(w.block("tau")))
    vdot, normals = found_motion.vdot, found_motion.normals
    lam = w.allowed.multipliers(vdot, found_motion.f)
    at = dict(zip(w.block("vdot"), vdot, strict=True)) | ({} if normals is None else normals.pushes)
    solve = w.allowed.solve if normals is None else SolvedWithNormals(w, normals).solve
    pulls = w.rows_block("lam")
    A, zero = w.constraints.A, system.graph.zero
    forces = [sum((row[j] * x for row, x in zip(A, pulls, strict=True)), zero) for j in range(n)]
    misses = [
        b - sum((a * x for a, x in zip(row, w.block("vdot"), strict=True)), zero)
        for row, b in zip(A, w.constraints.b, strict=True)
    ]
    at |= dict(zip(pulls, lam, strict=True))
    tables = {}
    v = list(system.v)
    found = {
        "dvdot_dq": (by_q, along_speeds(w, forces), along_speeds(w, misses)),
        "dvdot_dv": (by_v, jacobian(forces, v).dense(), jacobian(misses, v).dense()),
    }
    for name, (table, pulled, missed) in found.items():
        left = [[p - t for p, t in zip(a, b, strict=True)] for a, b in zip(pulled, table, strict=True)]
        left, missed = ([substitute(row, at) for row in rows] for rows in (left, missed))
        columns = [solve([row[j] for row in left], [row[j] for row in missed]) for j in range(n)]
        tables[name] = [list(row) for row in zip(*columns, strict=True)]
    units = [[system.graph.one if i == j else zero for i in range(n)] for j in range(n)]
    free = [zero] * len(A)
    by_tau = [list(row) for row in zip(*(solve(unit, free) for unit in units), strict=True)]
    return {"vdot": vdot, **tables, "dvdot_dtau": by_tau}


def output_derivatives(w: Workbench) -> dict[str, Any]:
    """The outputs of the description, and their derivatives by d, v, tau and u."""
    system = w.system
    outputs = [system.scalar(x.value) for x in system.mechanism.outputs.values()]
    if not outputs:
        raise ArgumentError("there are no outputs", where=system.mechanism.name, expected="formulas under 'outputs'")
    if normals_read(w, outputs):
        vdot, f = motion(w)
        lam = w.allowed.multipliers(vdot, f)
        outputs = substitute(outputs, {N: maximum(lam[row], 0.0) for N, row in normal_rows(w).items()})
    found = {"y": outputs, "dy_dq": along_speeds(w, outputs)}
    found |= {
        f"dy_d{name}": jacobian(outputs, list(x)).dense() for name, x in (("v", system.v), ("tau", w.block("tau")))
    }
    return found | ({"dy_du": jacobian(outputs, list(system.u)).dense()} if len(system.u) else {})
