"""Cars in motion against closed forms: single track, load transfer, symmetry, contact and energy."""

import json
from functools import cache

import numpy as np
import pytest

import torseur as ts
from support.vehicles import DATA, car

pytestmark = pytest.mark.slow

REFERENCES = json.loads((DATA / "analytic_references.json").read_text())
WHEELS = ("front_left", "front_right", "rear_left", "rear_right")
G = 9.81


# -- single track ------------------------------------------------------------------------------------------------------
@cache
def single_track():
    return ts.load(DATA / "single_track.yaml")


def at_speed(v):
    return {"vx": v, "dspin_front": v / 0.3, "dspin_rear": v / 0.3}


@pytest.mark.parametrize("case", REFERENCES["single_track_steady_state"], ids=lambda case: f"{case['v']} m/s")
def test_a_single_track_turns_with_the_gains_and_eigenvalues_of_the_closed_form(case):
    small = 1e-4
    run = ts.simulate(single_track(), until=6.0, every=0.1, start=at_speed(case["v"]), inputs={"steering": small})
    assert run["wz"][-1] / small == pytest.approx(case["yaw_rate_gain"], rel=1e-6)
    assert run["vy"][-1] / small == pytest.approx(case["vy_gain"], rel=5e-6)
    assert run["vx"][-1] * run["wz"][-1] / small == pytest.approx(case["ay_gain"], rel=2e-6)
    found = ts.linearise(single_track(), at=at_speed(case["v"])).eigenvalues
    for wanted in (complex(*pair) for pair in case["eig"]):
        assert np.abs(found - wanted).min() < 1e-6 * abs(wanted)


def test_the_understeer_gradient_and_the_characteristic_speed_follow_from_the_gains():
    """delta = L/R + K v^2/R: 1/gain = L/v + K v at every speed; the gain is largest at the characteristic speed."""
    L, small = 2.7, 1e-4
    speeds = np.array([10.0, 31.005003309784293, 35.0])
    gains = []
    for v in speeds:
        run = ts.simulate(single_track(), until=6.0, every=0.1, start=at_speed(v), inputs={"steering": small})
        gains.append(run["wz"][-1] / small)
    K = (1.0 / np.array(gains) - L / speeds) / speeds
    np.testing.assert_allclose(K, REFERENCES["understeer_gradient_rad_per_mps2"], rtol=1e-5)
    assert np.sqrt(L / K[0]) == pytest.approx(REFERENCES["characteristic_speed_mps"], rel=1e-5)
    assert gains[1] == max(gains)


# -- four wheels -------------------------------------------------------------------------------------------------------
M, MU, H, R, LF, LR, TRACK = 1400.0, 2.0, 0.5, 0.3, 1.2, 1.4, 1.5
L = LF + LR
STIFF = {"kf": 1.5e6 * LR, "kr": 1.5e6 * LF, "c": 4e4}
"""Stiff springs that share the roll as the axles share the weight: the car of (1.2) of Maakaroun."""


@pytest.fixture(scope="module")
def drive(tmp_path_factory):
    """Runs of one car whose springs, steering and brake are parameters: it is compiled once for each contact."""
    folder = tmp_path_factory.mktemp("cars")
    light = {"mass": MU, "spin_inertia": 0.01, "tilt_inertia": 0.0}
    parameters = {"kf": 3e4, "kr": 3e4, "c": 3e3, "wave": 0.0, "hold": 0.0, "stop": 0.0, "kt": 1e6}

    def axle(k, soft):
        wheel = light | ({"stiffness": "kt", "damping": "kt*0.002"} if soft else {})
        return {"wheel": wheel, "suspension": {"strut": {"stiffness": k, "damping": "c"}}}

    def made(soft):
        axles = {"front": axle("kf", soft), "rear": axle("kr", soft)}
        return car(folder, name="soft" if soft else "rigid", parameters=parameters, axles=axles)

    cars = {soft: made(soft) for soft in (False, True)}

    @cache
    def run(until, soft=False, speed=20.0, every=0.05, **values):
        return ts.simulate(
            cars[soft],
            until=until,
            every=every,
            start={"vx": speed, **{f"dspin_{w}": speed / 0.3 for w in WHEELS}},
            inputs={"steering": "wave*sin(0.7*t) + hold*(1 - exp(-3*t))", "brake_torque": "stop", "drive_torque": 0.0},
            parameters=values,
            solver={"rtol": 1e-9, "atol": 1e-10},
        )

    run.cars = cars
    return run


def loads(run, k=-1):
    return np.array([run[f"{w}_Fz"][k] for w in WHEELS])


def carried(ax=0.0, ay=0.0):
    """(1.2) of the chassis, and what hangs on each wheel; its mass at the height R moves load too."""
    front, rear = M * G * LR / L / 2 + MU * G, M * G * LF / L / 2 + MU * G
    along = (M * H + 4 * MU * R) * ax / L / 2
    f, r = M * ay * H / TRACK * LR / L, M * ay * H / TRACK * LF / L
    f, r = f + 2 * MU * ay * R / TRACK, r + 2 * MU * ay * R / TRACK
    return np.array([front - along - f, front - along + f, rear + along - r, rear + along + r])


def test_static_loads_carry_the_weight_and_follow_the_lever_rule(drive):
    at_rest = loads(drive(0.1), 0)
    assert at_rest.sum() == pytest.approx((M + 4 * MU) * G, rel=1e-10)
    np.testing.assert_allclose(at_rest, carried(), rtol=1e-10)


def test_braking_moves_load_forward_by_1_2(drive):
    run = drive(1.5, stop=1400.0, **STIFF)
    ax = run["dvx"][-1]
    assert ax == pytest.approx(-1400.0 / R / (M + 4 * MU), rel=2e-3)
    np.testing.assert_allclose(loads(run), carried(ax=ax), rtol=2e-3)
    assert loads(run).sum() == pytest.approx((M + 4 * MU) * G, rel=1e-6)


def test_a_turn_moves_load_outward_by_1_2(drive):
    run = drive(3.0, hold=0.02, **STIFF)
    ay = run["dvy"][-1] + run["vx"][-1] * run["wz"][-1]
    assert ay > 2.0
    np.testing.assert_allclose(loads(run), carried(run["dvx"][-1] - run["vy"][-1] * run["wz"][-1], ay), rtol=3e-3)
    assert loads(run).sum() == pytest.approx((M + 4 * MU) * G, rel=1e-4)


def test_a_mirrored_manoeuvre_gives_the_mirrored_run(drive):
    left, right = drive(6.0, wave=0.03), drive(6.0, wave=-0.03)
    assert np.abs(left["wz"]).max() > 0.1
    for name in ("vy", "wz", "yaw", "roll", "y"):
        np.testing.assert_allclose(left[name], -right[name], atol=1e-9)
    for name in ("vx", "x", "z", "pitch"):
        np.testing.assert_allclose(left[name], right[name], atol=1e-8)
    for axle in ("front", "rear"):
        np.testing.assert_allclose(left[f"{axle}_left_Fz"], right[f"{axle}_right_Fz"], rtol=1e-8)
        np.testing.assert_allclose(left[f"travel_{axle}_left"], right[f"travel_{axle}_right"], atol=1e-9)


def test_over_a_minute_wheels_keep_to_the_road_and_the_audit_closes(drive):
    run = drive(60.0, wave=0.03)
    model = ts.build(drive.cars[False])
    for k in range(0, len(run.time), 60):
        values = {"steering": 0.03 * np.sin(0.7 * run.time[k])}
        assert np.abs(model.closure(run.q[k], inputs=values)).max() < 1e-9
    assert run.audit().holds


def test_compliant_treads_tend_to_rigid_ones(drive):
    """In a steady turn the loads differ by what the treads give way, which falls with their stiffness."""
    rigid = loads(drive(3.0, hold=0.02))
    wrong = [np.abs(loads(drive(3.0, soft=True, hold=0.02, kt=kt)) - rigid).max() for kt in (2e6, 8e6)]
    assert wrong[0] < 0.01 * rigid.max()
    assert wrong[1] < 0.35 * wrong[0]
