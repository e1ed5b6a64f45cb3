"""Motions that show parameters keep their limits, and do better than those they were sought from."""

import numpy as np
import pytest

import torseur as ts
from torseur.cli import main
from torseur.errors import ArgumentError, NumericalError
from torseur.identification.clearance import Capsule, Clearance, segment_distance
from torseur.identification.excitation import Limits, compare_excitations, excite
from torseur.identification.measurements import read_measurements

LIMITS = Limits(position=1.2, speed=3.0, acceleration=10.0, effort={"theta1": 70.0, "theta2": 30.0})


@pytest.fixture(scope="module")
def arm():
    return ts.build(ts.examples.load("planar_2r"))


@pytest.fixture(scope="module", params=["fourier", "spline"])
def motion(request, arm):
    return excite(arm, kind=request.param, limits=LIMITS, starts=2, iterations=15)


def test_it_is_better_than_the_random_motions_it_was_sought_from(arm, motion):
    first = excite(arm, limits=LIMITS, starts=2, iterations=0)
    assert motion.condition < first.condition


def test_all_limits_are_kept(arm, motion):
    assert np.abs(motion.q - [20 * np.pi / 180, 40 * np.pi / 180]).max() < 1.2
    assert np.abs(motion.v).max() < 3.0
    assert np.abs(motion.vdot).max() < 10.0
    assert (np.abs(arm.inverse_dynamics(motion.q, motion.v, motion.vdot)).max(axis=0) < [70.0, 30.0]).all()
    assert max(motion.tightest.values()) > 0.9


def test_speeds_and_accelerations_are_rates_and_the_motion_repeats_itself(motion):
    h = motion.time[1]
    assert np.allclose(np.gradient(motion.q, h, axis=0)[2:-2], motion.v[2:-2], atol=2e-3)
    assert np.allclose(np.gradient(motion.v, h, axis=0)[2:-2], motion.vdot[2:-2], atol=2e-2)
    for x in (motion.q, motion.v, motion.vdot):
        assert np.allclose(x[0], x[-1], atol=1e-9)


def test_a_tighter_limit_is_felt(arm, motion):
    slow = excite(arm, limits=Limits(position=1.2, speed=0.5), starts=1, iterations=3)
    assert np.abs(slow.v).max() <= 0.5
    assert np.abs(motion.v).max() > 0.5


def test_bodies_stay_apart(arm):
    """A post stands where the tool would go."""
    post = Capsule("world", (0.42, 0.0, 0.0), (0.42, 0.0, 0.75), 0.05)
    links = (Capsule("link1", (0, 0, 0), (0.5, 0, 0), 0.04), Capsule("link2", (0, 0, 0), (0.4, 0, 0), 0.04))
    apart = Clearance((post, *links), pairs=((0, 1), (0, 2)))
    above = {"theta1": 1.6, "theta2": 0.0}
    free = excite(arm, middle=above, starts=1, iterations=5)
    kept = excite(arm, limits=Limits(clearance=apart), middle=above, starts=1, iterations=5)
    assert apart.distances(arm, free.q).min() < 0.0
    assert apart.distances(arm, kept.q).min() >= 0.0
    near = Limits(clearance=apart, position=0.1)
    with pytest.raises(NumericalError, match="no motion was found within these limits"):
        excite(arm, limits=near, middle={"theta1": 0.0, "theta2": 0.0}, starts=1, iterations=2)


def test_a_floor_is_not_touched(arm):
    floor = Clearance((Capsule("link2", (0, 0, 0), (0.4, 0, 0), 0.04),), floor=0.0)
    found = excite(arm, limits=Limits(clearance=floor), middle={"theta1": 1.2, "theta2": 0.3}, starts=1, iterations=3)
    tip = found.model.pose(found.q, "tool")[:, 2, 3]
    assert tip.min() > 0.06 - 1e-9


def test_distances_of_segments_are_those_of_their_points():
    rng = np.random.default_rng(0)
    p, p1, q, q1 = rng.normal(size=(4, 200, 3))
    q1[:20] = q[:20] + 2.0 * (p1 - p)[:20]  # parallel ones
    s = np.linspace(0.0, 1.0, 101)
    a = p[:, None] + s[:, None] * (p1 - p)[:, None]
    b = q[:, None] + s[:, None] * (q1 - q)[:, None]
    brute = np.linalg.norm(a[:, :, None] - b[:, None], axis=-1).min(axis=(1, 2))
    exact = segment_distance(p, p1, q, q1)
    assert (exact <= brute + 1e-9).all()
    assert np.abs(exact - brute).max() < 0.03


def test_deviations_foretold_are_those_of_measurements(arm, motion):
    """White noise on torques alone: what the motion promises is what repeated estimates show."""
    rng, W = np.random.default_rng(0), arm.base_regressor(motion.q, motion.v, motion.vdot).reshape(-1, 6)
    noise = rng.normal(size=(400, len(W))) * np.tile([0.5, 0.2], len(motion.time))
    weights = np.tile([2.0, 5.0], len(motion.time))[:, None]
    errors = np.linalg.lstsq(W * weights, noise.T * weights, rcond=None)[0]
    told = np.array(list(motion.deviations([0.5, 0.2]).values()))
    assert np.allclose(errors.std(axis=1) / told, 1.0, atol=0.15)


def test_motions_are_compared(arm, motion):
    other = excite(arm, limits=Limits(position=0.3), starts=1, iterations=0)
    table = compare_excitations(arm, {"wide": motion, "narrow": other}, 0.1)
    assert table["wide"]["worst"] < table["narrow"]["worst"]


def test_a_floating_base_is_refused():
    with pytest.raises(ArgumentError, match="trees on a fixed base") as caught:
        excite(ts.examples.load("vehicle_16dof"))
    assert "simulate motions of your own" in str(caught.value)


@pytest.mark.parametrize("wrong", [{"speed": -1.0}, {"effort": {"theta1": 0.0}}, {"position": np.inf}, {"margin": 1.0}])
def test_limits_that_nothing_can_keep_are_refused(wrong):
    with pytest.raises(ArgumentError, match="wrong limit"):
        Limits(**wrong)


def test_a_closed_structure_is_refused():
    with pytest.raises(ArgumentError, match="loops or constraints"):
        excite(ts.examples.load("four_bar"))


def test_the_table_is_a_reference_of_a_study(arm, tmp_path, capsys):
    file = tmp_path / "motion.csv"
    model = str(ts.examples.path("planar_2r"))
    given = ["--speed", "2", "--effort", "theta1=70", "--iterations", "3", "--starts", "1", "-o", str(file)]
    assert main(["excite", model, *given]) == 0, capsys.readouterr().err
    data = read_measurements(file)
    assert data.units["dtheta1"] == "rad/s"
    assert np.abs(data.columns["dtheta1"]).max() <= 2.0
    path = {n: {"table": {"file": str(file), "column": n, "between": "monotone"}} for n in ("theta1", "theta2")}
    law = {"computed_torque": {"inputs": ["Gamma1", "Gamma2"], "reference": {n: n + "_ref" for n in path}, "kp": 400}}
    blocks = {f"{n}_ref": x for n, x in path.items()} | {"law": law}
    start = {n: float(data.columns[n][0]) for n in path}
    run = ts.simulate(arm.mechanism, until=2.0, every=0.01, blocks=blocks, start=start)
    assert np.abs(run["theta1"] - data.columns["theta1"][:201]).max() < 0.05
