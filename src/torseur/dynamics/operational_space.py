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

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from torseur.dynamics.matrices import dot, times, transposed
from torseur.dynamics.tree.kinematics import acceleration, frame_jacobian
from torseur.dynamics.tree.newton_euler import inverse_dynamics
from torseur.dynamics.workbench import Workbench
from torseur.graph import Expr, Function, evaluate, minimum_norm_solve, solve, substitute

__all__ = ["operational_force", "operational_space"]

Table = list[list[Expr]]

TOLERANCE = 1e-10
"""Directions whose mobility is below this fraction of the largest count as lost (1e-5 of the Jacobian)."""


def operational_space(w: Workbench) -> dict[str, Any]:
    """M_x, V_x, g_x, bias_x and the rank at the frame of a workbench."""
    seen = _seen_at(w)
    whole = acceleration(w.tree, w.frame, w.rest, w.options.axes)
    rest = times(seen.M_x, [whole[i] for i in w.options.task.rows])
    moving = inverse_dynamics(w.tree, w.rest, w.gravity)
    weight = substitute(moving, dict.fromkeys(w.system.v, 0.0))
    velocity = [m - g for m, g in zip(moving, weight, strict=True)]
    return {
        "M_x": seen.M_x,
        "V_x": [x - a for x, a in zip(seen.force(velocity), rest, strict=True)],
        "g_x": seen.force(weight),
        "bias_x": [x - a for x, a in zip(seen.force(w.inverse(w.rest)), rest, strict=True)],
        "rank": seen.rank,
    }


def operational_force(w: Workbench) -> dict[str, Any]:
    """F_x = A^+ J M^-1 tau: the force at the frame that does to it what tau does (J^-T tau for an invertible J)."""
    return {"F_x": _seen_at(w).force(list(w.block("tau")))}


@dataclass(frozen=True)
class _Seen:
    """M_x, its rank, and the force at the frame that does what a force along the speeds does."""

    M_x: Table
    rank: Expr
    force: Callable[[Sequence[Expr]], list[Expr]]


def _seen_at(w: Workbench) -> _Seen:
    """Rows of J that are zero for good stay out of it."""
    g, whole = w.system.graph, frame_jacobian(w.tree, w.frame, w.options.axes)
    J = [whole[i] for i in w.options.task.rows]
    rows = [i for i in range(len(J)) if any(x is not g.zero for x in J[i])]
    live = [J[i] for i in rows]
    if w.options.regular and _is_regular(w, live):
        return _regular(w, live, rows, len(J))
    felt = [w.solve(row) for row in J]
    A = [[dot(felt[i], J[k]) for k in rows] for i in rows]
    inverse, rank = [], g.zero
    for column in rows:
        x, rank = minimum_norm_solve(A, [g.one if i == column else g.zero for i in rows], tolerance=TOLERANCE)
        inverse.append(x)
    M_x = _spread(transposed(inverse), rows, len(J), g.zero)
    return _Seen(M_x, rank, lambda tau: times(M_x, [dot(row, tau) for row in felt]))


def _regular(w: Workbench, J: Table, rows: list[int], n: int) -> _Seen:
    """Away from singular positions, without asking for the rank: J^-T M J^-1, or (J M^-1 J')^-1 of more speeds."""
    g, m = w.system.graph, len(J)
    units = [[g.one if i == j else g.zero for j in range(m)] for i in range(m)]
    if m == w.tree.nv:
        X = solve(J, units)
        small = [[dot(column, times(w.matrix, other)) for other in transposed(X)] for column in transposed(X)]
        pull = transposed(X)
    else:
        felt = [w.solve(row) for row in J]
        small = solve([[dot(row, other) for other in J] for row in felt], units)
        pull = [[dot(row, column) for column in transposed(felt)] for row in small]
    M_x = _spread(small, rows, n, g.zero)

    def force(tau: Sequence[Expr]) -> list[Expr]:
        forces = dict(zip(rows, times(pull, tau), strict=True))
        return [forces.get(i, g.zero) for i in range(n)]

    return _Seen(M_x, g.number(float(m)), force)


def _spread(small: Table, rows: list[int], n: int, zero: Expr) -> Table:
    """A matrix of some rows and columns in one of all."""
    spread = [[zero] * n for _ in range(n)]
    for a, i in enumerate(rows):
        for b, j in enumerate(rows):
            spread[i][j] = small[a][b]
    return spread


def _is_regular(w: Workbench, J: Table) -> bool:
    """Whether the rows are independent at some state."""
    if len(J) > w.tree.nv:
        return False
    rng = np.random.default_rng(0)
    blocks = list(w.system.graph.blocks.values())
    values = [rng.uniform(0.3, 1.3, (5, *block.shape)) for block in blocks]
    J_there = evaluate(Function("J", blocks, {"J": J}), *values)[0]
    return int(np.linalg.matrix_rank(J_there).max()) == len(J)
