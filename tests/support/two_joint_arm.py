"""Two revolute joints, a spring, and a motor's torque that depends on time and on an input: the model of many tests."""

from __future__ import annotations

from typing import Any

import numpy as np

from support.evaluated import Evaluated
from support.random_mechanisms import state_of
from torseur.describe import Effort, Mechanism, SpringDamper

__all__ = ["ARM", "STATE", "arm", "expected"]


def arm(**more: Any) -> Mechanism:
    """The arm, with some entries of its description replaced."""
    bodies = {
        "upper": {
            "joint": {"kind": "revolute", "coordinate": "q1"},
            "inertia": {"ZZ": "I1", "XX": "I1/3", "MX": "M1*L/2", "M": "M1"},
        },
        "lower": {
            "parent": "upper",
            "place": {"mdh": {"d": "L", "alpha": "pi/2"}},
            "joint": {"kind": "revolute", "coordinate": "q2"},
            "inertia": {"ZZ": 0.2, "XX": 0.1, "YY": 0.15, "MX": 0.3, "M": 1.5},
            "frames": {"tool": {"place": {"pose": {"position": (0.4, 0.0, 0.0)}}}},
        },
    }
    content = {
        "name": "arm",
        "parameters": {"L": {"value": 0.5}, "M1": {"value": 2.0}, "I1": {"value": "M1*L^2/3"}, "K": {"value": 3.0}},
        "gravity": (0.0, -9.81, 0.0),
        "bodies": bodies,
        "inputs": {"pull": {"default": 0.5}, "wind": {"default": 0.1}},
        "loads": {
            "spring": SpringDamper(coordinate="q1", stiffness="K", damping=0.2),
            "drive": Effort(coordinate="q2", value="pull*cos(t) + wind*dq1"),
        },
    }
    return Mechanism.model_validate({**content, **more})


ARM = arm()
STATE = state_of(ARM, 1)


def expected(
    q: Any = STATE.q,
    v: Any = STATE.v,
    vdot: Any = STATE.vdot,
    *,
    mechanism: Mechanism = ARM,
    t: float = 0.0,
    u: Any = None,
) -> np.ndarray:
    """The inverse dynamics by the reference evaluator."""
    return Evaluated(mechanism)("inverse_dynamics", q, v, vdot, t=t, u=u)
