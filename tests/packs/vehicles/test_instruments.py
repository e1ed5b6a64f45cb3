"""Sensors and actuators against what they should show of a mass on a spring and of a wheel on a tilted hub."""

import numpy as np
import pytest

import torseur as ts
from torseur.describe import Mechanism
from torseur.errors import ModelError

WHEEL = Mechanism(
    name="wheel",
    gravity=(0.0, 0.0, -9.81),
    bodies={
        "arm": {"joint": {"kind": "revolute", "axis": "x", "coordinate": "lean"}, "inertia": {"M": 1.0, "XX": 1.0}},
        "wheel": {
            "parent": "arm",
            "joint": {"kind": "revolute", "axis": "y", "coordinate": "spin"},
            "inertia": {"M": 10.0, "XX": 0.3, "YY": 0.5, "ZZ": 0.3},
        },
    },
    constraints={"held": {"prescribed": {"coordinate": "lean", "equals": 0.2}}},
)
"""A wheel that spins on an arm which leans."""


def run(until=1.0, **blocks):
    return ts.simulate(WHEEL, until=until, every=0.001, start={"dspin": 20.0}, blocks=blocks)


def between_samples(time, period):
    """Where a record is not at a sample itself, which may come before or after it."""
    phase = np.mod(time + 1e-6, period)
    return phase > 1e-5


def test_a_measurement_is_sampled_biased_rounded_and_cut():
    shown = run(m={"measured": {"value": "sin(7*t)", "period": 0.05, "bias": 0.1, "resolution": 0.01, "upper": 0.9}})
    k = np.floor(shown.time / 0.05 + 1e-9) * 0.05
    wanted = np.minimum(np.round((np.sin(7 * k) + 0.1) / 0.01) * 0.01, 0.9)
    between = between_samples(shown.time, 0.05)
    np.testing.assert_allclose(shown["m"][between], wanted[between], atol=1e-9)


def test_the_noise_of_a_measurement_has_its_deviation_and_its_seed():
    def noise(seed):
        return {"measured": {"value": 1.0, "period": 0.001, "noise": 0.5, "seed": seed}}

    shown = run(until=3.0, a=noise(1), b=noise(1), c=noise(2))
    assert np.mean(shown["a"]) == pytest.approx(1.0, abs=0.05)
    assert np.std(shown["a"]) == pytest.approx(0.5, rel=0.1)
    np.testing.assert_array_equal(shown["a"], shown["b"])
    assert abs(np.corrcoef(shown["a"], shown["c"])[0, 1]) < 0.1


def test_an_encoder_knows_the_angle_to_a_mark_and_the_speed_to_a_mark_a_period():
    shown = run(e={"encoder": {"angle": "spin", "marks": 48, "period": 0.02}})
    mark = 2 * np.pi / 48
    k = np.floor(shown.time / 0.02 + 1e-9) * 0.02
    behind = (20.0 * k - shown["e_angle"])[between_samples(shown.time, 0.02)]
    assert behind.min() > -1e-6
    assert behind.max() < mark + 1e-6
    late = shown.time > 0.05
    assert np.abs(shown["e_speed"][late] - 20.0).max() <= mark / 0.02 + 1e-6
    assert shown["e_speed"][late].mean() == pytest.approx(20.0, rel=0.01)


def test_a_dynamometric_wheel_shows_the_weight_in_axes_that_do_not_spin():
    """Of a wheel that hangs on its hub: m g downwards, in the axes of the leaning arm; its spin axis is free."""
    shown = run(d={"dynamometric_wheel": {"wheel": "wheel", "period": 0.01, "force_bias": 2.0}})
    late = shown.time > 0.015
    weight = 10 * 9.81
    wanted = {"Fx": 0.0, "Fy": -weight * np.sin(0.2), "Fz": -weight * np.cos(0.2), "Mx": 0.0, "My": 0.0, "Mz": 0.0}
    for key, value in wanted.items():
        value = value + (2.0 if key[0] == "F" else 0.0)
        np.testing.assert_allclose(shown[f"d_{key}"][late], value, atol=1e-6)


def test_an_actuator_lags_and_keeps_to_its_rate_and_its_limits():
    free = {"actuator": {"value": "if(t > 0.1, 1, 0)", "lag": 0.05}}
    slow = {"actuator": {"value": "if(t > 0.1, 1, 0)", "lag": 0.05, "rate": 2.0, "upper": 0.8}}
    shown = run(free=free, slow=slow)
    after = np.maximum(shown.time - 0.1, 0.0)
    np.testing.assert_allclose(shown["free"], 1 - np.exp(-after / 0.05), atol=2e-3)
    assert np.abs(np.diff(shown["slow"])).max() <= 0.002 + 1e-9
    assert shown["slow"].max() <= 0.8 + 1e-9
    assert shown["slow"][-1] == pytest.approx(0.8, abs=1e-4)


def test_what_cannot_be_is_refused():
    with pytest.raises(ModelError, match="larger"):
        run(a={"actuator": {"value": 1, "lag": 0.1, "lower": 1.0, "upper": 0.0}})
    with pytest.raises(ModelError, match="lag"):
        run(a={"actuator": {"value": 1, "lag": 0.0}})
