"""What changes when a state, an input or a multiplier changes a little: the pieces of linear models and of equilibria.

A small change of the coordinates is d (nv), along the speeds: dq = G(q) d, with G from dq/dt = G v.
"""

from __future__ import annotations

from typing import Any

from torseur.dynamics.tree.coordinates import rates
from torseur.dynamics.workbench import Workbench
from torseur.errors import ArgumentError
from torseur.graph import Expr, jacobian, tangents

__all__ = [
    "along_speeds",
    "constraint_derivatives",
    "constraint_stiffness",
    "inverse_dynamics_by_inputs",
    "inverse_dynamics_by_normals",
    "rate_derivatives",
]

Matrix = list[list[Expr]]


def along_speeds(w: Workbench, rows: list[Expr]) -> Matrix:
    """Derivatives of rows by d."""
    G, zero = jacobian(rates(w.system), list(w.system.v)), w.system.graph.zero
    table = jacobian(rows, list(w.system.q)).dense() if rows else []
    result = [[zero] * len(w.system.v) for _ in table]
    for i, j, entry in zip(G.rows, G.columns, G.entries, strict=True):
        for row, source in zip(result, table, strict=True):
            row[j] = row[j] + source[i] * entry
    return result


def rate_derivatives(w: Workbench) -> dict[str, Any]:
    """G (nq, nv), and E (nq, nv) with G d(d)/dt = E d + G dv for neighbours of a motion: E = d(G v)/dq G - dG/dt."""
    system = w.system
    qdot = rates(system)
    G = jacobian(qdot, list(system.v)).dense()
    flat = [x for row in G for x in row]
    turned = iter(tangents(flat, dict(zip(system.q, qdot, strict=True))))
    E = [[x - next(turned) for x in row] for row in along_speeds(w, qdot)]
    return {"G": G, "E": E}


def constraint_derivatives(w: Workbench) -> dict[str, Any]:
    """Of the velocity rows r by d, and of the right-hand sides b of A vdot = b by d and v, (rows, nv) each."""
    rows = w.constraints
    if not rows.rows:
        raise ArgumentError("nothing closes or constrains this mechanism", where=w.system.mechanism.name)
    by_v = jacobian(rows.b, list(w.system.v)).dense()
    return {"dr_dq": along_speeds(w, rows.r), "db_dq": along_speeds(w, rows.b), "db_dv": by_v}


def constraint_stiffness(w: Workbench) -> dict[str, Any]:
    """d(A' lambda)/dd (nv, nv) at given multipliers: how constraint forces turn with the bodies they act on."""
    A, pulls, zero = w.constraints.A, w.rows_block("lam"), w.system.graph.zero
    forces = [sum((row[j] * x for row, x in zip(A, pulls, strict=True)), zero) for j in range(w.tree.nv)]
    return {"constraint_stiffness": along_speeds(w, forces)}


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
