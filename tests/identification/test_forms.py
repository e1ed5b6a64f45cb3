"""Closed structures, and equations of power and energy."""

import numpy as np
import pytest

import torseur as ts
from torseur.identification.identification import identify
from torseur.identification.measurements import Measurements, read_measurements
from torseur.identification.signals import Filtering


@pytest.fixture(scope="module")
def four_bar():
    """Cranked by a torque that changes, from rest."""
    mechanism = ts.examples.load("four_bar")
    [torque] = list(mechanism.inputs) or [None]
    return mechanism, torque


def test_a_closed_structure_gives_its_base_parameters_back(four_bar):
    """Angles of all bars and the torque on one of them; the equations are those along the motion that loops allow."""
    mechanism, torque = four_bar
    run = ts.simulate(mechanism, until=4.0, every=0.002, inputs={torque: "3*sin(2*t) + 2*sin(5*t)"})
    names = [x.name for x in mechanism.q]
    data = Measurements.of({"time": run.time, torque: run[torque]} | {n: run[n] for n in names})
    found = identify(mechanism, data)
    off = np.abs(found.estimate.values - found.unknowns.start)
    kept = list(found.estimate.kept)
    assert len(kept) >= 2
    # what the loop leaves apart is found; what its motion does not tell apart is said to show only with others
    predicted = found.prediction.relative
    assert predicted.max() < 1e-3
    truth = found.unknowns.start
    for k in kept:
        follows = [j for j, factors in found.estimate.follows.items() if k in factors]
        if not follows:
            assert off[k] < 1e-4 * np.abs(truth).max()
    rates = ts.simulate(mechanism, until=2.0, every=0.002, inputs={torque: "4*sin(3*t)"})
    other = Measurements.of({"time": rates.time, torque: rates[torque]} | {n: rates[n] for n in names})
    assert found.validate(other).relative.max() < 1e-2


@pytest.fixture(scope="module")
def swing():
    """A motion of the planar arm, exactly."""
    arm, t = ts.build(ts.examples.load("planar_2r")), np.arange(0.0, 20.0, 0.002)
    q = np.stack([0.9 * np.sin(1.3 * t) + 0.5 * np.sin(2.9 * t), 0.8 * np.sin(2.1 * t)], axis=1)
    v = np.stack([1.17 * np.cos(1.3 * t) + 1.45 * np.cos(2.9 * t), 1.68 * np.cos(2.1 * t)], axis=1)
    a = np.stack([-1.521 * np.sin(1.3 * t) - 4.205 * np.sin(2.9 * t), -3.528 * np.sin(2.1 * t)], axis=1)
    return arm, t, q, arm.inverse_dynamics(q, v, a)


def columns(t, q, tau):
    return {"time": t, "theta1": q[:, 0], "theta2": q[:, 1], "Gamma1": tau[:, 0], "Gamma2": tau[:, 1]}


@pytest.mark.parametrize(("form", "equations"), [("efforts", 2), ("power", 1), ("energy", 1)])
def test_every_form_gives_the_parameters_back(swing, form, equations):
    arm, t, q, tau = swing
    found = identify(arm, Measurements.of(columns(t, q, tau)), form=form)
    assert found.blocks[0].y.shape[1] == equations
    assert np.abs(found.estimate.values - found.unknowns.start).max() < 2e-4


@pytest.mark.parametrize("form", ["efforts", "power", "energy"])
def test_with_noise_every_form_is_within_its_deviations(swing, form):
    arm, t, q, tau = swing
    rng = np.random.default_rng(5)
    q = q + np.radians(0.01) * rng.normal(size=q.shape)
    tau = tau + 0.01 * np.abs(tau).max(axis=0) * rng.normal(size=tau.shape)
    found = identify(arm, Measurements.of(columns(t, q, tau)), form=form)
    assert np.abs((found.estimate.values - found.unknowns.start) / found.estimate.deviations).max() < 4.0


def test_terms_that_the_description_has_not_are_found_beside_it(swing):
    """Friction, an offset, a drive's inertia and a spring on the second joint."""
    arm, t, q, tau = swing
    v, a = 1.68 * np.cos(2.1 * t), -3.528 * np.sin(2.1 * t)
    more = tau.copy()
    more[:, 1] += 0.7 * v + 1.2 * np.sign(v) + 0.3 + 2.0 * q[:, 1]
    exact = columns(t, q, more) | {
        "dtheta1": 1.17 * np.cos(1.3 * t) + 1.45 * np.cos(2.9 * t),
        "dtheta2": v,
        "ddtheta1": -1.521 * np.sin(1.3 * t) - 4.205 * np.sin(2.9 * t),
        "ddtheta2": a,
    }
    few = {n: x[::5] for n, x in exact.items()}
    found = identify(arm, Measurements.of(few), along=("FV", "FS", "OF", "KS"), filtering=Filtering(decimate=False))
    told = {n: found.values[f"{n}_theta2"] for n in ("FV", "FS", "OF", "KS")}
    assert told == pytest.approx({"FV": 0.7, "FS": 1.2, "OF": 0.3, "KS": 2.0}, abs=1e-7)
    assert found.values["FV_theta1"] == pytest.approx(0.0, abs=1e-7)


def test_measurements_in_netcdf_are_read(swing, tmp_path):
    xarray = pytest.importorskip("xarray")
    arm, t, q, tau = swing
    units = {"theta1": "deg", "theta2": "rad", "Gamma1": "N m", "Gamma2": "N m"}
    table = columns(t, q, tau) | {"theta1": np.degrees(q[:, 0])}
    variables = {n: ("time", table[n], {"units": u}) for n, u in units.items()}
    file = tmp_path / "data.nc"
    xarray.Dataset(variables, {"time": ("time", t, {"units": "s"})}).to_netcdf(file, engine="h5netcdf")
    data = read_measurements(file)
    assert np.allclose(data.columns["theta1"], q[:, 0])
    assert abs(identify(arm, file).values["ZZ2"] - 0.43) < 1e-4
