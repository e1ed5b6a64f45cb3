"""What changes when a state, an input, a parameter or a multiplier changes a little.

The pieces of linear models, of equilibria and of implicit methods. A small change of the coordinates is d (nv), along
the speeds: dq = G(q) d, with G from dq/dt = G v.
"""

from __future__ import annotations

from typing import Any

from torseur.dynamics.constrained_motion.motion import motion, moved_by
from torseur.dynamics.constrained_motion.normal_forces import SolvedWithNormals, normal_rows, normals_read
from torseur.dynamics.constrained_motion.solver import constraint_solver
from torseur.dynamics.matrices import Matrix, dot, times, transposed
from torseur.dynamics.tree.derivatives import inverse_dynamics_derivatives
from torseur.dynamics.tree.system import along_speeds, rates
from torseur.dynamics.workbench import FEW, Workbench, operations
from torseur.errors import ArgumentError
from torseur.graph import Expr, jacobian, maximum, substitute, tangents

__all__ = [
    "constraint_derivatives",
    "constraint_stiffness",
    "forward_dynamics_by_parameters",
    "forward_dynamics_derivatives",
    "inverse_dynamics_by_inputs",
    "inverse_dynamics_by_normals",
    "inverse_dynamics_by_parameters",
    "motion_derivatives",
    "output_derivatives",
    "rate_derivatives",
]

Tables = tuple[Matrix, Matrix]
"""Derivatives by q along the speeds, and by v, (nv, nv) each."""


# -- of the motion -----------------------------------------------------------------------------------------------------
def motion_derivatives(w: Workbench) -> Tables:
    """By recursion or by differentiating the expressions, whichever takes fewer operations.

    The recursion is for the inertial forces; what rotors and loads add is differentiated as it stands.
    """
    vdot = list(w.block("vdot"))
    turning = not w.tree.has_steady_columns
    flat = _differentiated(w, w.inverse(vdot)) if turning or w.tree.nv <= FEW else None
    if turning and flat is not None:
        return flat
    fast = inverse_dynamics_derivatives(w.tree, vdot, w.gravity)
    if w.forces.wrenches or w.forces.Q or w.tree.rotors:
        rest = _differentiated(w, w.inverse(vdot, w.tree.massless()))
        by_q, by_v = (_plus(a, b) for a, b in zip(fast, rest, strict=True))
        fast = by_q, by_v
    return fast if flat is None or operations(w, fast) <= operations(w, flat) else flat


def _differentiated(w: Workbench, tau: list[Expr]) -> Tables:
    return along_speeds(w.system, tau), jacobian(tau, list(w.system.v)).dense()


def _plus(A: Matrix, B: Matrix) -> Matrix:
    return [[x + y for x, y in zip(a, b, strict=True)] for a, b in zip(A, B, strict=True)]


def forward_dynamics_derivatives(w: Workbench) -> dict[str, Any]:
    """vdot, and its derivatives by q (along the speeds), v and tau, from the equations it solves.

    M dvdot = -d tau at the acceleration found, and dvdot/dtau = M^-1; under constraints see `_constrained`.
    """
    by_q, by_v = motion_derivatives(w)
    if w.constraints.rows:
        return _constrained(w, by_q, by_v)
    vdot, at = _accelerations(w)
    n, tables = w.tree.nv, {}
    moved = iter(substitute([x for table in (by_q, by_v) for row in table for x in row], at))
    for name in ("dvdot_dq", "dvdot_dv"):
        tables[name] = w.solve_table([[next(moved) for _ in range(n)] for _ in range(n)])
    return {"vdot": vdot, **tables, "dvdot_dtau": w.inverse_matrix()}


def _accelerations(w: Workbench) -> tuple[list[Expr], dict[Expr, Expr]]:
    """vdot of the open tree, and what its symbols stand for."""
    vdot = w.solve([t - b for t, b in zip(w.block("tau"), w.inverse(w.rest), strict=True)])
    return vdot, dict(zip(w.block("vdot"), vdot, strict=True))


def _constrained(w: Workbench, by_q: Matrix, by_v: Matrix) -> dict[str, Any]:
    """The same under constraints: M dvdot - A' dlambda = d(A' lambda - inverse dynamics),  A dvdot = d(b - A vdot).

    Args:
        w: the mechanism.
        by_q: derivative of the inverse dynamics along the speeds, in terms of the block vdot.
        by_v: its derivative by v.
    """
    n, system, solver = w.tree.nv, w.system, constraint_solver(w)
    solved = moved_by(w, list(w.block("tau")))
    vdot, normals = solved.vdot, solved.normals
    solve = solver.solve if normals is None else SolvedWithNormals(w, normals).solve
    lam, pulls = solver.multipliers(vdot, solved.f), w.rows_block("lam")
    at = dict(zip(w.block("vdot"), vdot, strict=True)) | ({} if normals is None else normals.pushes)
    at |= dict(zip(pulls, lam, strict=True))
    A, v, zero = w.constraints.A, list(system.v), system.graph.zero
    forces = times(transposed(A), list(pulls))
    misses = [b - dot(row, list(w.block("vdot"))) for row, b in zip(A, w.constraints.b, strict=True)]
    rows = {
        "dvdot_dq": (by_q, along_speeds(system, forces), along_speeds(system, misses)),
        "dvdot_dv": (by_v, jacobian(forces, v).dense(), jacobian(misses, v).dense()),
    }
    tables = {}
    for name, (table, pulled, missed) in rows.items():
        left = [[p - t for p, t in zip(a, b, strict=True)] for a, b in zip(pulled, table, strict=True)]
        left, missed = ([substitute(row, at) for row in rows] for rows in (left, missed))
        columns = [solve([row[j] for row in left], [row[j] for row in missed]) for j in range(n)]
        tables[name] = transposed(columns)
    units = [[system.graph.one if i == j else zero for i in range(n)] for j in range(n)]
    by_tau = transposed([solve(unit, [zero] * len(A)) for unit in units])
    return {"vdot": vdot, **tables, "dvdot_dtau": by_tau}


# -- by parameters, inputs and normal forces ---------------------------------------------------------------------------
def _by_parameters(w: Workbench) -> list[list[Expr]]:
    """d tau / dp of the parameters that have no formula, at a given motion."""
    if not len(w.system.p):
        raise ArgumentError("there is no parameter to differentiate by", where=w.system.mechanism.name)
    return jacobian(w.inverse(list(w.block("vdot"))), list(w.system.p)).dense()


def inverse_dynamics_by_parameters(w: Workbench) -> dict[str, Any]:
    return {"dtau_dp": _by_parameters(w)}


def forward_dynamics_by_parameters(w: Workbench) -> dict[str, Any]:
    """M dvdot = -d tau at the acceleration found."""
    _, at = _accelerations(w)
    columns = [w.solve([-x for x in substitute(column, at)]) for column in transposed(_by_parameters(w))]
    return {"dvdot_dp": transposed(columns)}


def inverse_dynamics_by_inputs(w: Workbench) -> dict[str, Any]:
    """d tau / du (nv, inputs) at a given motion."""
    if not len(w.system.u):
        raise ArgumentError("there is no input to differentiate by", where=w.system.mechanism.name)
    return {"dtau_du": jacobian(w.inverse(list(w.block("vdot"))), list(w.system.u)).dense()}


def inverse_dynamics_by_normals(w: Workbench) -> dict[str, Any]:
    """d tau / dN (nv, contacts and rolling wheels) at a given motion."""
    if not len(w.system.normals):
        raise ArgumentError("there is no normal force to differentiate by", where=w.system.mechanism.name)
    return {"dtau_dN": jacobian(w.inverse(list(w.block("vdot"))), list(w.system.normals)).dense()}


# -- of rates, constraints and outputs ---------------------------------------------------------------------------------
def rate_derivatives(w: Workbench) -> dict[str, Any]:
    """G (nq, nv), and E (nq, nv) with G d(d)/dt = E d + G dv for neighbours of a motion: E = d(G v)/dq G - dG/dt."""
    system = w.system
    qdot = rates(system)
    G = jacobian(qdot, list(system.v)).dense()
    flat = [x for row in G for x in row]
    turned = iter(tangents(flat, dict(zip(system.q, qdot, strict=True))))
    E = [[x - next(turned) for x in row] for row in along_speeds(w.system, qdot)]
    return {"G": G, "E": E}


def constraint_derivatives(w: Workbench) -> dict[str, Any]:
    """Of the velocity rows r by d, and of the right-hand sides b of A vdot = b by d and v, (rows, nv) each."""
    rows = w.constraints
    if not rows.rows:
        raise ArgumentError("this mechanism has no loops and no constraints", where=w.system.mechanism.name)
    by_v = jacobian(rows.b, list(w.system.v)).dense()
    return {"dr_dq": along_speeds(w.system, rows.r), "db_dq": along_speeds(w.system, rows.b), "db_dv": by_v}


def constraint_stiffness(w: Workbench) -> dict[str, Any]:
    """d(A' lambda)/dd (nv, nv) at given multipliers: how constraint forces turn with the bodies they act on."""
    A, pulls, zero = w.constraints.A, w.rows_block("lam"), w.system.graph.zero
    forces = [sum((row[j] * x for row, x in zip(A, pulls, strict=True)), zero) for j in range(w.tree.nv)]
    return {"constraint_stiffness": along_speeds(w.system, forces)}


def output_derivatives(w: Workbench) -> dict[str, Any]:
    """The outputs of the description, and their derivatives by d, v, tau and u."""
    system = w.system
    outputs = [system.scalar(x.value) for x in system.mechanism.outputs.values()]
    if not outputs:
        raise ArgumentError("there are no outputs", where=system.mechanism.name, expected="formulas under 'outputs'")
    if normals_read(w, outputs):
        vdot, f = motion(w)
        lam = constraint_solver(w).multipliers(vdot, f)
        outputs = substitute(outputs, {N: maximum(lam[row], 0.0) for N, row in normal_rows(w).items()})
    results = {"y": outputs, "dy_dq": along_speeds(w.system, outputs)}
    results |= {
        f"dy_d{name}": jacobian(outputs, list(x)).dense() for name, x in (("v", system.v), ("tau", w.block("tau")))
    }
    return results | ({"dy_du": jacobian(outputs, list(system.u)).dense()} if len(system.u) else {})
