"""Arms of six axes: counts of base parameters, exact recovery without noise, and deviations that are right."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import torseur as ts
from torseur.identification.assessment import advice, essential, is_physical, physical_parameters
from torseur.identification.described import described_values, identified_mechanism
from torseur.identification.identification import identify
from torseur.identification.measurements import Measurements
from torseur.identification.signals import Filtering
from torseur.identification.unknowns import BaseUnknowns


def fourier(time, joints, seed, size=0.5, period=10.0, harmonics=5):
    """A periodic motion and its derivatives, exactly."""
    rng, w = np.random.default_rng(seed), 2 * np.pi / period * np.arange(1, harmonics + 1)
    a, b = rng.normal(size=(2, harmonics, joints)) * size / np.sqrt(np.arange(1, harmonics + 1))[:, None]
    s, c, w = np.sin(np.outer(time, w)), np.cos(np.outer(time, w)), w[:, None]
    return s @ a + c @ b, c @ (a * w) - s @ (b * w), -s @ (a * w**2) - c @ (b * w**2)


def measured(model, time, q, tau, v=None, vdot=None):
    names = [x.name for x in model.coordinates]
    table = {"time": time} | dict(zip(names, q.T, strict=True))
    table |= {f"tau_{n}": x for n, x in zip(names, tau.T, strict=True)}
    if v is not None:
        table |= {f"d{n}": x for n, x in zip(names, v.T, strict=True)}
        table |= {f"dd{n}": x for n, x in zip(names, vdot.T, strict=True)}
    return Measurements.of(table)


@pytest.fixture(scope="module")
def rx90():
    return ts.build(ts.examples.load("rx90"))


def of_inertias(found):
    symbols = [found.base.standard[k].symbol for k in found.base.kept]
    return [n for n, symbol in zip(found.names, symbols, strict=False) if symbol not in ("FV", "FS")]


@pytest.mark.parametrize(("name", "count"), [("rx90", 40), ("stanford", 37)])
def test_the_number_of_base_parameters_is_that_of_opensymoro(name, count):
    """With the inertias of drives, without friction; the SR400 below needs longer."""
    found = BaseUnknowns(ts.build(ts.examples.load(name)))
    assert len(of_inertias(found)) == count


def test_names_are_those_of_opensymoro(rx90):
    """The 40 of the RX90, as OpenSYMORO prints them with YY, MZ and M regrouped."""
    names = "ZZR1 XXR2 XY2 XZR2 YZ2 ZZR2 MXR2 MY2 XXR3 XY3 XZ3 YZ3 ZZR3 MX3 MYR3 IA3 XXR4 XY4 XZ4 YZ4 ZZR4 MX4 MYR4 IA4"
    names += " XXR5 XY5 XZ5 YZ5 ZZR5 MX5 MYR5 IA5 XXR6 XY6 XZ6 YZ6 ZZ6 MX6 MY6 IA6"
    found = BaseUnknowns(rx90)
    assert set(of_inertias(found)) == set(names.split())


@pytest.mark.parametrize("name", ["rx90", pytest.param("motorised_6r", marks=pytest.mark.slow)])
def test_without_noise_parameters_come_back_to_1e_8(name):
    """From measured speeds and accelerations, with friction, rotors and all."""
    model = ts.build(ts.examples.load(name))
    time = np.arange(0.0, 10.0, 0.02)
    q, v, vdot = fourier(time, 6, 3)
    data = measured(model, time, q, model.inverse_dynamics(q, v, vdot), v, vdot)
    found = identify(model, data, filtering=Filtering(decimate=False))
    start = found.unknowns.start
    assert len(found.estimate.kept) == len(start)
    assert np.abs(found.estimate.values - start).max() < 1e-8 * np.abs(start).max()
    assert np.abs(found.estimate.values - start).max() < 1e-8


def test_from_positions_alone_a_periodic_motion_is_derived_exactly(rx90):
    """Signs of friction change where a speed of rounding decides, so those few instants have none to be wrong about."""
    time = np.arange(0.0, 10.0, 0.01) + 0.003
    q, v, vdot = fourier(time, 6, 3)
    data = measured(rx90, time, q, rx90.inverse_dynamics(q, v, vdot))
    found = identify(rx90, data, filtering=Filtering(period=10.0, harmonics=5, decimate=False))
    assert np.abs(found.estimate.values - found.unknowns.start).max() < 1e-8


def noisy(model, time, q, tau, rng):
    """Encoders of 0.01 degree, torques of 1 % of their largest."""
    q = q + np.radians(0.01) * rng.normal(size=q.shape)
    return measured(model, time, q, tau + 0.01 * np.abs(tau).max(axis=0) * rng.normal(size=tau.shape))


@pytest.fixture(scope="module")
def found(rx90):
    time = np.arange(0.0, 20.0, 0.002)
    q, v, vdot = fourier(time, 6, 3)
    return identify(rx90, noisy(rx90, time, q, rx90.inverse_dynamics(q, v, vdot), np.random.default_rng(1)))


def test_with_noise_parameters_are_within_their_deviations(found):
    z = (found.estimate.values - found.unknowns.start) / found.estimate.deviations
    assert np.abs(z).max() < 4.0
    assert np.sqrt(np.mean(z**2)) < 1.5


def test_values_for_the_description_give_the_base_parameters_back(rx90, found):
    described = described_values(found)
    assert described.misfit < 1e-6
    again = np.asarray(ts.build(rx90.mechanism, parameters=dict(described.values)).function("base_parameters")())
    assert np.allclose(again, found.estimate.values, rtol=1e-9, atol=1e-9)
    assert "FV1" not in described.shared
    assert "ZZ1" in described.shared


@pytest.mark.slow
def test_physical_parameters_belong_to_bodies_and_fit(found):
    physical = physical_parameters(found)
    assert physical.worse < 1.0
    for k in range(1, 7):
        ten = [physical.standard[f"{s}{k}"] for s in ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "MX", "MY", "MZ", "M")]
        assert is_physical(np.array(ten))
    mechanism = identified_mechanism(found, physical)
    again = np.asarray(ts.build(mechanism).function("base_parameters")())
    assert np.allclose(again, list(physical.base.values()), rtol=1e-8, atol=1e-8)


@pytest.mark.slow
def test_a_free_estimate_that_no_body_has_is_moved(found):
    """A negative inertia of the last link: the nearest body is many deviations away, and is told to be."""
    k = found.names.index("ZZ6")
    values = found.estimate.values.copy()
    values[k] = -20.0 * found.estimate.deviations[k]
    wrong = replace(found, estimate=replace(found.estimate, values=values))
    physical = physical_parameters(wrong)
    assert physical.standard["ZZ6"] > 0.0
    assert physical.worse > 2.0


def test_essential_parameters_are_fewer_and_hold_what_is_large(found):
    few = essential(found)
    assert len(few) < len(found.names)
    assert {"ZZR2", "MXR2", "FV1", "FS1", "IA3"} <= set(few)
    assert "XY6" not in few


def test_what_an_arm_at_rest_in_five_axes_does_not_show_is_told_with_the_motion_that_would(rx90):
    time = np.arange(0.0, 10.0, 0.005)
    q, v, vdot = (np.where(np.arange(6) == 2, x, 0.0) for x in fourier(time, 6, 3))
    found = identify(rx90, measured(rx90, time, q, rx90.inverse_dynamics(q, v, vdot), v, vdot))
    assert {"FV6", "IA6", "FS4"} <= set(found.undetermined)
    assert not {"FV3", "FS3"} & set(found.undetermined)
    told = {a.name: a.motion for a in advice(found)}
    assert told["FV6"].startswith("move th6")
    assert told["FV1"].startswith("move th1")


@pytest.mark.slow
def test_deviations_are_right():
    """Monte Carlo: over many noises the errors are as large as the deviations say, neither larger nor smaller."""
    model = ts.build(ts.examples.load("motorised_6r"))
    time = np.arange(0.0, 30.0, 0.002)
    q, v, vdot = fourier(time, 6, 3)
    tau, rng = model.inverse_dynamics(q, v, vdot), np.random.default_rng(0)
    runs = [identify(model, noisy(model, time, q, tau, rng)) for _ in range(100)]
    values = np.array([r.estimate.values for r in runs])
    told = np.sqrt(np.mean([r.estimate.deviations**2 for r in runs], axis=0))
    truth = runs[0].unknowns.start
    ratio = values.std(axis=0) / told
    assert 0.85 < np.sqrt(np.mean(ratio**2)) < 1.15
    assert ratio.max() < 1.4
    assert ratio.min() > 0.6
    within = np.abs(values - truth) < 3.0 * told
    assert within.mean() > 0.98


@pytest.mark.slow
def test_the_tree_of_the_sr400_has_55():
    mechanism = ts.load(Path(__file__).parent.parent / "data" / "symoro" / "SR400.par")
    found = BaseUnknowns(ts.build(mechanism.model_copy(update={"loops": {}})))
    assert len(of_inertias(found)) == 55
