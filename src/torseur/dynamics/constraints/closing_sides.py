"""On which side a cut joint closes.

The equations of a joint say that axes are parallel by saying that a sine vanishes; it vanishes at half a turn as well.
The cosine that goes with it tells them apart: 1 where the joint is closed as described, -1 where it is upside down.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torseur.dynamics.constraints.rows import Cut, relative_pose
from torseur.dynamics.workbench import Workbench
from torseur.graph import Expr, minimum

__all__ = ["closing_sides", "sides_of"]


def sides_of(w: Workbench, cut: Cut) -> Iterator[Expr]:
    """The cosines of one cut joint: of the tilt of its axis, of its turn, of what a screw is ahead of its pitch."""
    R = relative_pose(w.tree, cut.a, cut.b).R
    torques = sum(closing.is_torque for closing in cut.closings)
    if torques == 2:
        yield R[2][2]
    elif torques == 3:
        yield 0.5 * (R[0][0] + R[1][1] + R[2][2] - 1.0)
    for closing in cut.closings:
        if not closing.is_torque and not all(x.is_number for x in closing.wrench.force):
            yield closing.wrench.force[2]


def closing_sides(w: Workbench) -> dict[str, Any]:
    """For each cut joint the least of its cosines; 1 for one that has but one side."""
    found = []
    for cut in w.constraints.cuts:
        least = w.system.graph.one
        for side in sides_of(w, cut):
            least = side if least is w.system.graph.one else minimum(least, side)
        found.append(least)
    return {"closing_sides": found}
