"""The dynamics of a frame, as if it were a body with an inertia that changes: the operational space.

DeSantis 1996, section 6, as corrected (6.6 - 6.9: the left factor is J^-T everywhere); Khatib 1987 for redundant
chains. With J the Jacobian of the frame and A = J M^-1 J', a force and moment F_x at the frame and the acceleration a
of the frame are related by

    F_x = M_x a + V_x + g_x,    M_x = A^+,   V_x = A^+ (J M^-1 C v - dJ/dt v),   g_x = A^+ J M^-1 g

For an invertible J these are J^-T M J^-1, J^-T (C v - M J^-1 dJ/dt v) and J^-T g. Where the frame cannot move in every
direction A is singular; A^+, its pseudo-inverse, then gives the shortest F_x, and `rank` says how many directions are
left.

=============  =============================================================================  ================
a              acceleration of the frame: of its origin, then angular                         m/s2, rad/s2
M_x            inertia felt at the frame (m, m)                                               kg, kg m, kg m2
V_x, g_x       velocity terms and weight felt at it (m,); bias_x: all forces at a = 0         N, N m
=============  =============================================================================  ================

m is 6, or 3 where only the position or the orientation is asked for; then the rest of F_x is zero and the rest of a
whatever it will be. All in the axes of the frame or of the world; a is the absolute acceleration, so in the frame's own
axes it is not the rate of the components of its velocity.
"""

from __future__ import annotations

from typing import Any

from torseur.dynamics.jacobians import acceleration, frame_jacobian
from torseur.dynamics.matrices import dot, times
from torseur.dynamics.newton_euler import inverse_dynamics
from torseur.dynamics.workbench import Workbench
from torseur.graph import Expr, minimum_norm_solve, substitute

__all__ = ["operational_force", "operational_space"]

Table = list[list[Expr]]

TOLERANCE = 1e-10
"""Directions whose mobility is below this fraction of the largest count as lost (1e-5 of the Jacobian)."""


def operational_space(w: Workbench) -> dict[str, Any]:
    """M_x, V_x, g_x, bias_x and the rank at the frame of a workbench."""
    felt, M_x, rank = _seen_at(w)
    whole = acceleration(w.tree, w.frame, w.rest, w.options.axes)
    rest = [whole[i] for i in w.options.task.rows]
    moving = inverse_dynamics(w.tree, w.rest, w.gravity)
    weight = substitute(moving, dict.fromkeys(w.system.v, 0.0))
    velocity = [m - g for m, g in zip(moving, weight, strict=True)]
    free = [dot(row, velocity) - a for row, a in zip(felt, rest, strict=True)]
    total = [dot(row, w.inverse(w.rest)) - a for row, a in zip(felt, rest, strict=True)]
    return {
        "M_x": M_x,
        "V_x": times(M_x, free),
        "g_x": times(M_x, [dot(row, weight) for row in felt]),
        "bias_x": times(M_x, total),
        "rank": rank,
    }


def operational_force(w: Workbench) -> dict[str, Any]:
    """F_x = A^+ J M^-1 tau: the force at the frame that does to it what tau does (J^-T tau for an invertible J)."""
    felt, M_x, _ = _seen_at(w)
    return {"F_x": times(M_x, [dot(row, list(w.block("tau"))) for row in felt])}


def _seen_at(w: Workbench) -> tuple[Table, Table, Expr]:
    """J M^-1, the pseudo-inverse of J M^-1 J', and its rank. Rows of J that are zero for good stay out of it."""
    g, whole = w.system.graph, frame_jacobian(w.tree, w.frame, w.options.axes)
    J = [whole[i] for i in w.options.task.rows]
    n, felt = len(J), [w.solve(row) for row in J]
    rows = [i for i in range(n) if any(x is not g.zero for x in J[i])]
    A = [[dot(felt[i], J[k]) for k in rows] for i in rows]
    M_x, rank = [[g.zero] * n for _ in range(n)], g.zero
    for column in rows:
        unit = [g.one if i == column else g.zero for i in rows]
        x, rank = minimum_norm_solve(A, unit, tolerance=TOLERANCE)
        for i, value in zip(rows, x, strict=True):
            M_x[i][column] = value
    return felt, M_x, rank
