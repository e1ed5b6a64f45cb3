"""Forces in joints by plain NumPy: the joint is opened to all six motions, and what it must push to keep the motion as
it was is the generalised force that point masses ask for along them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from support.moving_poses import unskew
from support.plain import Plain
from support.random_mechanisms import State
from torseur.describe import Joint, Mechanism, Place

__all__ = ["joint_force"]

Array = NDArray[np.float64]


def joint_force(mechanism: Mechanism, body: str, s: State) -> Array:
    """Force and moment (6,) on a body from its parent, at its origin in its axes, in a motion of an open tree."""
    parent = mechanism.bodies[body].parent
    motion = Plain(mechanism).motion(s.q, s.v, s.vdot)
    a, b = motion[parent], motion[body]
    back = np.linalg.inv(a.T)
    T = back @ b.T
    d = back @ (b.d - a.d @ T)
    dd = back @ (b.dd - a.dd @ T - 2 * a.d @ d)
    hat = np.linalg.inv(T) @ d
    rate = np.linalg.inv(T) @ dd - hat @ hat
    w, x, y, z = Rotation.from_matrix(T[:3, :3]).as_quat(scalar_first=True)
    loosened = _loosened(mechanism, body)
    values: tuple[dict[str, float], ...] = ({}, {}, {})
    for known, variables, given in zip(
        values, (mechanism.q, mechanism.v, mechanism.v), (s.q, s.v, s.vdot), strict=True
    ):
        known |= {x.name: float(value) for x, value in zip(variables, given, strict=True)}
    own: tuple[Any, ...] = (
        [*T[:3, 3], w, x, y, z],
        [*hat[:3, 3], *unskew(hat[:3, :3])],
        [*rate[:3, 3], *unskew(rate[:3, :3])],
    )
    found = []
    for known, variables, mine in zip(values, (loosened.q, loosened.v, loosened.v), own, strict=True):
        parts = iter(mine)
        found.append(np.array([next(parts) if x.owner == body else known[x.name] for x in variables]))
    tau = Plain(loosened).inverse_dynamics(*found, s.t, s.u)
    return tau[[k for k, x in enumerate(loosened.v) if x.owner == body]]


def _loosened(mechanism: Mechanism, body: str) -> Mechanism:
    """With a free joint for a body, and without what acts along the coordinates that it had."""
    own = {x.name for x in mechanism.q if x.owner == body}
    loads = {n: load for n, load in mechanism.loads.items() if getattr(load, "coordinate", None) not in own}
    record = mechanism.bodies[body].model_copy(update={"joint": Joint(kind="free"), "place": Place()})
    return mechanism.model_copy(update={"bodies": {**mechanism.bodies, body: record}, "loads": loads})
