"""Tractor and semi-trailer on tyres: its weight, and the turn it makes where tyres hardly slip."""

import numpy as np
import pytest

import torseur as ts
from support.example_files import FILES

pytestmark = pytest.mark.slow

WHEELS = [f"{axle}_{side}" for axle in ("front", "rear", "trailer") for side in ("left", "right")]


def test_a_tractor_that_turns_slowly_pulls_its_trailer_as_wheels_without_slip_do():
    """R = l1/tan(delta) at the rear axle; the fifth wheel is e ahead of it, the axle of the trailer l2 behind."""
    V, delta, l1, l2, e = 2.0, 0.1, 3.6, 7.5, 0.3
    run = ts.simulate(
        FILES["tractor_on_tyres"],
        until=40.0,
        every=0.5,
        start={"vx": V, **{f"dspin_{w}": V / 0.5 for w in WHEELS}},
        inputs={"steering": f"{delta}*(1 - exp(-t))", "drive_torque": {"speed_control": {"wanted": V, "kp": 20000}}},
        solver={"method": "rodas", "rtol": 1e-6, "atol": 1e-8},
    )
    weight = 9.81 * (6000 + 12000 + 2 * 250 + 4 * 500)
    at_rest = np.array([run[f"{w}_Fz"][0] for w in WHEELS])
    assert at_rest.sum() == pytest.approx(weight, rel=1e-10)
    R = l1 / np.tan(delta)
    assert run["wz"][-1] == pytest.approx(run["vx"][-1] / R, rel=0.02)
    wanted = np.arctan(e / R) - np.arcsin(l2 / np.hypot(R, e))
    assert run["articulation"][-1] == pytest.approx(wanted, rel=0.02)
    assert run["articulation"][-5] == pytest.approx(run["articulation"][-1], rel=1e-3)
    assert run.audit().holds
