"""Motor constants, the inertia of drives, and equations that fix ratios only."""

import numpy as np
import pytest

import torseur as ts
from torseur.describe import Mechanism
from torseur.describe.loads import Motor
from torseur.errors import ArgumentError
from torseur.identification.identification import identify, unknowns_of
from torseur.identification.measurements import Measurements
from torseur.identification.unknowns import dynamic_parameters

GEAR, CONSTANT, ROTOR, FRICTION = 50.0, 0.08, 3e-4, 2e-3
MASS, ARM, INERTIA = 2.0, 0.3, 0.25


@pytest.fixture(scope="module")
def pendulum():
    """A heavy rod behind a gear; what is measured is the current of its motor."""
    values = {"k": CONSTANT, "n": GEAR, "j": ROTOR, "f": FRICTION, "m": MASS, "mx": MASS * ARM, "zz": INERTIA}
    rod = {"joint": {"kind": "revolute", "coordinate": "q"}, "inertia": {"ZZ": "zz", "MX": "mx", "M": "m"}}
    motor = Motor(coordinate="q", ratio="n", inertia="j", torque="k*i", motor_damping="f")
    return Mechanism(
        name="geared_pendulum",
        gravity=(9.81, 0.0, 0.0),
        parameters={n: {"value": x} for n, x in values.items()},
        inputs={"i": {"unit": "A"}},
        bodies={"rod": rod},
        loads={"drive": motor},
    )


@pytest.fixture(scope="module")
def columns():
    """The current follows from the rod, the rotor and the friction on its shaft, by hand."""
    t = np.arange(0.0, 12.0, 0.002)
    q, v = 1.2 * np.sin(2 * t) + 0.4 * np.sin(5 * t), 2.4 * np.cos(2 * t) + 2.0 * np.cos(5 * t)
    a = -4.8 * np.sin(2 * t) - 10.0 * np.sin(5 * t)
    tau = (INERTIA + GEAR**2 * ROTOR) * a + 9.81 * MASS * ARM * np.sin(q) + GEAR**2 * FRICTION * v
    return {"time": t, "q": q, "i": tau / (GEAR * CONSTANT)}


def with_noise(columns):
    rng = np.random.default_rng(0)
    return {n: x if n == "time" else x + 1e-4 * rng.normal(size=len(x)) for n, x in columns.items()}


@pytest.mark.parametrize("noisy", [False, True])
def test_a_motor_constant_is_found_where_a_weight_is_known(pendulum, columns, noisy):
    data = Measurements.of(with_noise(columns) if noisy else columns)
    found = identify(pendulum, data, unknowns=["k", "j", "f"], parameters={"k": 0.05, "j": 1e-4, "f": 0.0})
    truth = np.array([CONSTANT, ROTOR, FRICTION])
    if noisy:
        assert (np.abs(found.estimate.values - truth) < 4.0 * found.estimate.deviations).all()
        assert (found.estimate.deviations < 0.01 * truth).all()
    else:
        assert np.allclose(found.estimate.values, truth, rtol=1e-4)


@pytest.mark.parametrize("noisy", [False, True])
def test_masses_and_motor_constants_together_have_no_scale(pendulum, columns, noisy):
    """Twice as heavy with a motor twice as strong moves alike: zero would fit best of all."""
    data = Measurements.of(with_noise(columns) if noisy else columns)
    with pytest.raises(ArgumentError, match="ratios only") as caught:
        identify(pendulum, data, unknowns=["k", "mx", "zz", "f", "j"])
    assert "k, mx, zz, f, j" in str(caught.value)


def test_a_rotor_that_is_not_in_the_description_is_found_beside_it():
    """The inertia of the drive of the first axis adds to that of the arm, and is said to."""
    arm, t = ts.build(ts.examples.load("planar_2r")), np.arange(0.0, 16.0, 0.002)
    q = np.stack([0.9 * np.sin(1.3 * t) + 0.5 * np.sin(2.9 * t), 0.8 * np.sin(2.1 * t)], axis=1)
    v = np.stack([1.17 * np.cos(1.3 * t) + 1.45 * np.cos(2.9 * t), 1.68 * np.cos(2.1 * t)], axis=1)
    a = np.stack([-1.521 * np.sin(1.3 * t) - 4.205 * np.sin(2.9 * t), -3.528 * np.sin(2.1 * t)], axis=1)
    tau = arm.inverse_dynamics(q, v, a) + a * [0.0, 0.05]
    data = Measurements.of({"time": t, "theta1": q[:, 0], "theta2": q[:, 1], "Gamma1": tau[:, 0], "Gamma2": tau[:, 1]})
    found = identify(arm, data, along=("IA",))
    assert found.values["IA_theta2"] == pytest.approx(0.05, abs=2e-4)
    assert {x.name: x.verdict for x in found.levels}["IA_theta1"] == "only with ZZR1"


def test_coefficients_of_tyres_are_refused_with_what_to_do(tmp_path):
    text = ts.examples.path("braked_wheel").read_text(encoding="utf-8")
    tyre = "  tyre: {tyre: {wheel: road, law: {linear: {longitudinal_stiffness: C, cornering_stiffness: 4e4}}}}\n"
    for old, new in (("friction: mu}}", "slides: freely}}"), ("loads:\n", "loads:\n" + tyre)):
        assert old in text
        text = text.replace(old, new)
    file = tmp_path / "tyred.yaml"
    file.write_text(text.replace("parameters:\n", "parameters:\n  C: {value: 5e4}\n", 1), encoding="utf-8")
    mechanism = ts.load(file)
    assert dynamic_parameters(mechanism) == ("m", "m_w", "J")
    with pytest.raises(ArgumentError, match="coefficients of a tyre law") as caught:
        unknowns_of(ts.build(mechanism), ["m", "C"])
    assert "steady_forces" in str(caught.value)
    with pytest.raises(ArgumentError, match="depend on normal forces") as caught:
        unknowns_of(ts.build(mechanism), "base")
    assert "wrenches whose components are inputs" in str(caught.value)
