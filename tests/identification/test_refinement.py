"""Estimates that follow measurements, and estimates by simulation."""

import numpy as np
import pytest

import torseur as ts
from torseur.describe.loads import SpringDamper
from torseur.errors import ArgumentError, NumericalError
from torseur.identification.estimation import Block, Weighting, fitted
from torseur.identification.measurements import Measurements
from torseur.identification.refinement import RecursiveEstimate, refine

TORQUES = {
    "Gamma1": "60*(0.9*sin(1.3*t) + 0.5*sin(2.9*t) - 0.4 - theta1) - 12*dtheta1 + 30",
    "Gamma2": "30*(0.8*sin(2.1*t) + 0.5*cos(3.7*t) - theta2) - 5*dtheta2",
}


def equations(seed, n=400, m=2, k=3):
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(n, m, k))
    s = np.array([0.1, 0.5])
    return W, W @ np.array([3.0, -1.0, 0.5]) + s * rng.normal(size=(n, m)), s


def test_one_by_one_equations_give_what_all_of_them_give():
    W, y, s = equations(0)
    now = RecursiveEstimate.begun(3)
    for rows, right in zip(W, y, strict=True):
        now = now.updated(rows, right, s)
    A, b = (W / s[:, None]).reshape(-1, 3), (y / s).ravel()
    assert np.allclose(now.values, np.linalg.lstsq(A, b, rcond=None)[0], rtol=1e-11)
    assert np.allclose(now.covariance, np.linalg.inv(A.T @ A), rtol=1e-10, atol=1e-18)
    assert now.count == 400


def test_forgetting_follows_a_change_and_keeping_everything_does_not():
    W, y, s = equations(1)
    y[200:] += W[200:] @ np.array([1.0, 0.0, 0.0])
    found = {}
    for factor in (1.0, 0.95):
        now = RecursiveEstimate.begun(3, forgetting=factor)
        for rows, right in zip(W, y, strict=True):
            now = now.updated(rows, right, s)
        found[factor] = now.values[0]
    assert abs(found[0.95] - 4.0) < 0.15
    assert abs(found[1.0] - 4.0) > 0.3


def test_what_is_not_determined_yet_is_said():
    now = RecursiveEstimate.begun(3).updated(np.array([[1.0, 2.0, 3.0]]), [1.0])
    assert not now.is_determined
    with pytest.raises(NumericalError, match="do not determine all parameters"):
        _ = now.values


def test_equations_of_another_size_are_refused():
    with pytest.raises(ArgumentError, match="equations of another size"):
        RecursiveEstimate.begun(3).updated(np.zeros((2, 4)), np.zeros(2))


def test_white_noise_has_the_classical_covariance():
    W, y, _ = equations(2, n=4000)
    block = Block(W, y, np.ones(y.shape, dtype=bool), np.arange(4000.0))
    found = fitted([block], Weighting(weighted=True))
    A = (W / [[0.1], [0.5]]).reshape(-1, 3)
    classical = np.sqrt(np.diag(np.linalg.inv(A.T @ A)))
    assert np.allclose(found.deviations / classical, 1.0, atol=0.1)


def test_equations_that_do_not_count_leave_no_trace_in_deviations():
    W, y, _ = equations(4, n=3000)
    used = np.random.default_rng(0).random(3000) < 0.4
    some = Block(W, y, np.tile(used[:, None], 2), np.arange(3000.0))
    alone = Block(W[used], y[used], np.ones(y[used].shape, dtype=bool), np.arange(float(used.sum())))
    assert np.allclose(fitted([some]).deviations / fitted([alone]).deviations, 1.0, atol=0.07)


def test_deviations_say_how_well_they_are_known_themselves():
    """Their spread over repetitions, with errors that a moving mean of three samples made."""
    rng, told, foretold = np.random.default_rng(5), [], []
    W = np.stack([np.sin(0.3 * np.arange(120)), np.cos(0.7 * np.arange(120))], axis=1)[:, None]
    for _ in range(150):
        noise = np.convolve(rng.normal(size=122), np.ones(3), mode="valid")
        found = fitted([Block(W, noise[:, None], np.ones((120, 1), dtype=bool), np.arange(120.0))])
        told.append(found.deviations)
        foretold.append(found.certainty)
    spread = np.std(told, axis=0) / np.mean(told, axis=0)
    assert 0.6 < np.sqrt(np.mean(spread**2)) / np.mean(foretold) < 1.5


def test_white_errors_are_hardly_taken_for_correlated():
    rng, lags = np.random.default_rng(6), []
    for _ in range(100):
        W = rng.normal(size=(85, 1, 6))
        lags.append(fitted([Block(W, rng.normal(size=(85, 1)), np.ones((85, 1), dtype=bool), np.arange(85.0))]).lag)
    assert np.mean(lags) < 1.5


def test_correlated_noise_has_larger_deviations_and_they_are_right():
    """Noise that a moving mean of 9 samples made: the classical deviations would be too small by about three."""
    rng = np.random.default_rng(3)
    errors, told = [], []
    W = np.stack([np.sin(0.02 * np.arange(2000)), np.ones(2000)], axis=1)[:, None]
    for _ in range(150):
        noise = np.convolve(rng.normal(size=2008), np.ones(9) / 3.0, mode="valid")
        y = (W @ np.array([1.0, 2.0])) + noise[:, None]
        found = fitted([Block(W, y, np.ones(y.shape, dtype=bool), np.arange(2000.0))])
        errors.append(found.values - [1.0, 2.0])
        told.append(found.deviations)
    ratio = np.std(errors, axis=0) / np.mean(told, axis=0)
    assert np.allclose(ratio, 1.0, atol=0.2)
    assert (np.mean(told, axis=0) > 2.0 * np.array([2 / 2000, 1 / 2000]) ** 0.5).all()


# -- by simulation -----------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def study():
    arm = ts.examples.load("planar_2r")
    start = {"theta1": -0.4, "theta2": 0.5}
    solver = {"method": "rk4", "step": 0.01}
    return ts.Study(model=arm, inputs=TORQUES, start=start, until=4.0, every=0.01, solver=solver)


@pytest.fixture(scope="module")
def damped(study):
    """One parameter that nothing uses, and two that only their product shows."""
    arm = study.model
    fields = {f: getattr(arm, f) for f in type(arm).model_fields}
    parameters = {**arm.parameters, **{n: {"value": 1.0} for n in ("spare", "b", "share")}}
    loads = {**arm.loads, "oil": SpringDamper(coordinate="theta2", damping="b*share")}
    model = type(arm).model_validate({**fields, "parameters": parameters, "loads": loads})
    solver = {"method": "rk4", "step": 0.05}
    return ts.Study(model=model, inputs=TORQUES, start={"theta1": -0.4}, until=1.0, every=0.05, solver=solver)


def test_a_run_gives_back_the_parameters_it_was_made_with(study):
    data = Measurements.of_run(ts.simulate(study), ["theta1", "theta2"])
    found = refine(study, data, {"m1": 3.5, "m2": 2.8, "j2": 0.05})
    assert found.converged
    assert found.values == pytest.approx({"m1": 4.0, "m2": 2.5, "j2": 0.03}, rel=1e-5)
    assert found.cost[1] < 1e-9 * found.cost[0]


def test_with_noise_they_are_within_their_deviations(study):
    run, rng = ts.simulate(study), np.random.default_rng(0)
    table = {n: run[n] + 1e-3 * rng.normal(size=len(run)) for n in ("theta1", "theta2")}
    found = refine(study, Measurements.of({"time": run.time} | table), {"m1": 3.5, "m2": 2.8})
    for name, truth in (("m1", 4.0), ("m2", 2.5)):
        assert abs(found.values[name] - truth) < 4.0 * found.deviations[name]
        assert found.deviations[name] < 0.02 * truth


@pytest.mark.parametrize(("names", "got"), [(["m1", "spare"], "spare"), (["b", "share"], "b, share")])
def test_parameters_that_do_not_show_are_named(damped, names, got):
    with pytest.raises(NumericalError, match="do not show these parameters") as caught:
        refine(damped, Measurements.of_run(ts.simulate(damped), ["theta1", "theta2"]), names)
    assert f"got: {got}" in str(caught.value)


def test_a_channel_that_is_no_state_is_refused(study):
    data = Measurements.of({"time": [0.0, 1.0], "Gamma1": [0.0, 0.0]})
    with pytest.raises(ArgumentError, match="channels that cannot be compared"):
        refine(study, data, ["m1"], channels=["Gamma1"])
