"""Gearbox and clutch: slipping and sticking by closed forms, gears by a plain copy of the schedule; what is refused."""

import numpy as np
import pytest

import torseur as ts
from support.vehicles import merged, vehicle
from torseur.errors import ModelError

R, M, SPIN, J, C, FINAL = 0.3, 1200.0, 1.0, 0.2, 300.0, 4.0
RATIOS = [3.5, 2.0, 1.3, 0.9]
WHEEL = {
    "load": 3000.0,
    "wheel": {"radius": R, "spin_inertia": SPIN},
    "suspension": {"rigid": {}},
    "tyre": {"linear": {"longitudinal_stiffness": 2e6, "cornering_stiffness": 1e5}},
}
GEARED = {
    "torseur_vehicle": 1,
    "name": "geared",
    "chassis": {"height": R, "motion": "planar", "inertia": {"M": M, "ZZ": 1500.0}},
    "axles": {"front": {"x": 1.2, **WHEEL}, "rear": {"x": -1.3, "drive": 1, "brake": 1, **WHEEL}},
    "drive": {
        "motor": {"torque": 150.0, "reduction": FINAL, "inertia": J},
        "gearbox": {"ratios": RATIOS, "reverse": 3.2, "clutch": C, "up": 500.0, "down": 200.0},
    },
}
SHIFTS = {"ratios": [FINAL * N for N in RATIOS], "up": 500.0, "down": 200.0}
CAR = M + 2 * SPIN / R**2
"""What is behind the gearbox as a mass, kg."""


@pytest.fixture(scope="module")
def geared(tmp_path_factory):
    return vehicle(GEARED, tmp_path_factory.mktemp("geared"))


def driven(model, until=2.0, start=None, blocks=None, **inputs):
    return ts.simulate(
        model,
        until=until,
        every=0.005,
        start=start or {},
        inputs={"throttle": 0.0, "gear": 1.0, "clutch": 1.0, "brake_torque": 0.0} | inputs,
        blocks=blocks or {},
        solver={"method": "rodas", "rtol": 1e-8, "atol": 1e-10},
    )


@pytest.mark.parametrize(("gear", "N"), [(1.0, 14.0), (3.0, 5.2), (-1.0, -12.8)])
def test_a_clutch_that_slips_passes_its_largest_torque_until_both_turn_alike(geared, gear, N):
    """From w: ds/dt = -C/J - N C N/(R^2 CAR); then both turn with what is left of the momentum about the shaft."""
    w = 200.0
    run = driven(geared, start={"drotor": w}, gear=gear)
    rate = C / J + N**2 * C / (R**2 * CAR)
    slips = run.time < 0.97 * w / rate
    np.testing.assert_allclose(run["drotor"][slips], w - C / J * run.time[slips], rtol=1e-6)
    stuck = run.time > 1.03 * w / rate + 0.01
    assert np.abs(run["clutch_slip"][stuck]).max() < 1e-9
    v = w * J * N / R / (CAR + J * N**2 / R**2)
    np.testing.assert_allclose(run["vx"][stuck], v, rtol=2e-3)  # the tyre slips a little
    assert run.audit().holds


@pytest.mark.parametrize("gear", [1, 2, 4])
def test_a_clutch_that_sticks_has_the_inertia_of_the_motor_behind_the_gear(geared, gear):
    N = FINAL * RATIOS[gear - 1]
    start = {"vx": 10.0, "dspin_front": 10 / R, "dspin_rear": 10 / R, "drotor": 10 / R * N}
    run = driven(geared, start=start, gear=float(gear), throttle=0.5)
    wanted = 75.0 * N / R / (CAR + J * N**2 / R**2)
    np.testing.assert_allclose(run["dvx"][run.time > 0.5], wanted, rtol=2e-3)
    assert np.abs(run["clutch_slip"]).max() < 1e-9


def test_neutral_and_an_open_clutch_pass_nothing(geared):
    start = {"vx": 10.0, "dspin_front": 10 / R, "dspin_rear": 10 / R, "drotor": 50.0}
    for how in ({"gear": 0.0}, {"clutch": 0.0}):
        run = driven(geared, start=start, throttle=1.0, **how)
        np.testing.assert_allclose(run["drotor"], 50.0 + 150.0 / J * run.time, rtol=1e-9)
        np.testing.assert_allclose(run["vx"], 10.0, rtol=1e-9)


def test_a_change_of_gear_lets_no_speed_jump_and_loses_what_the_slip_takes(geared):
    """Two bodies that friction brings together lose 1/2 m s^2, m the reduced inertia at the shaft."""
    one, two = (FINAL * N for N in RATIOS[:2])
    start = {"vx": 8.0, "dspin_front": 8 / R, "dspin_rear": 8 / R, "drotor": 8 / R * one}
    run = driven(geared, start=start, gear={"step": {"time": 0.5, "before": 1.0, "after": 2.0}})
    after = run.time > 1.0
    assert np.abs(run["clutch_slip"][after]).max() < 1e-9
    np.testing.assert_allclose(run["drotor"][after], two * run["dspin_rear"][after], rtol=1e-9)
    assert np.abs(np.diff(run["drotor"])).max() < 1.1 * C / J * 0.005
    car = CAR * R**2 / two**2
    reduced, slip = J * car / (J + car), 8 / R * (one - two)
    energy = 0.5 * CAR * run["vx"] ** 2 + 0.5 * J * run["drotor"] ** 2
    assert energy[0] - energy[-1] == pytest.approx(0.5 * reduced * slip**2, rel=5e-3)
    assert run.audit().holds


def gears_of(t, driven_speed, up, down, time, first, period=0.01):
    """The schedule in plain Python, at the samples."""
    gear, since, found = first, -1e6, []
    for now, W in zip(t, driven_speed, strict=True):
        n = FINAL * RATIOS[gear - 1] * W
        if now - since >= time - 1e-9:
            wanted = min(max(gear + (n > up) - (n < down), 1), len(RATIOS))
            if wanted != gear:
                gear, since = wanted, now
        found.append(gear)
    return np.array(found)


def test_gears_are_shifted_up_and_down_as_the_schedule_says(geared):
    blocks = {"gears": {"gear_shift": SHIFTS | {"period": 0.01}}}
    start = {"vx": 4.0, "dspin_front": 4 / R, "dspin_rear": 4 / R, "drotor": 4 / R * 14}
    inputs = {"gear": "gears", "clutch": "gears_clutch", "throttle": "gears_free*min(max(14 - t, 0), 1)"}
    brake = "if(t < 14, 0, 1500*(1 - exp(14 - t)))"
    run = driven(geared, until=20.0, start=start, blocks=blocks, brake_torque=brake, **inputs)
    at = np.arange(0, len(run.time), 2)
    wanted = gears_of(run.time[at], run["dspin_rear"][at], 500.0, 200.0, 0.4, 1)
    seen = np.round(run["gears"][at]).astype(int)
    assert {1, 2, 3} <= set(seen)
    assert (seen != wanted).mean() < 0.01  # a record at the instant of a sample is before or after it
    assert seen.max() == seen[run.time[at] <= 14].max()
    assert seen[-1] < seen.max()
    assert run["drotor"].max() < 1.05 * 500.0  # the throttle is let go while the clutch is open
    assert run.audit().holds


def test_a_vehicle_pulls_away_with_a_clutch_that_closes_as_the_motor_speeds_up(geared):
    blocks = {"gears": {"gear_shift": SHIFTS | {"open": 90.0, "closed": 180.0}}}
    start = {"drotor": 80.0}
    run = driven(
        geared, until=4.0, start=start, blocks=blocks, gear="gears", clutch="gears_clutch", throttle="0.6*gears_free"
    )
    assert run["drotor"].min() > 75.0  # it does not stall
    assert run["vx"][-1] > 5.0
    assert np.abs(run["clutch_slip"][-50:]).max() < 1e-9


def test_scenarios_shift(geared, tmp_path):
    run = ts.simulate(geared, scenario=ts.scenario("straight_acceleration", final_speed=30.0, acceleration=1.5))
    assert run.indicators["time_to_speed"].value is not None
    gears = np.round(run["gear"])
    assert (np.diff(gears) >= 0.0).all()
    assert gears[0] == 1.0
    assert gears[-1] == 4.0
    assert run["drotor"][0] == pytest.approx(5.0 / R * 14)
    steady = (run.time > 3.0) & (run.time < 5.0)  # in first gear, the wanted force on what is accelerated
    N = 14.0
    assert run["dvx"][steady].mean() == pytest.approx(M * 1.5 / (CAR + J * N**2 / R**2), rel=5e-3)
    bare = vehicle(merged(GEARED, {"drive": {"gearbox": {"up": None, "down": None}}}), tmp_path)
    with pytest.raises(ModelError, match="when this gearbox is shifted is not known"):
        ts.scenario("straight_acceleration").applied(ts.Study(model=bare))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"motor": {"inertia": 0.0}}, "a gearbox needs a motor with an inertia"),
        ({"motor": None}, "a gearbox needs a motor with an inertia"),
        ({"gearbox": {"down": None}}, "both up and down"),
        ({"gearbox": {"clutch": -1.0}}, "'clutch' is out of range"),
        ({"gearbox": {"ratios": [3.5, -2.0]}}, "ratios"),
    ],
)
def test_gearboxes_that_cannot_be_are_refused(tmp_path, change, words):
    with pytest.raises(ModelError, match=words):
        vehicle(merged(GEARED, {"drive": change}), tmp_path)


def test_schedules_that_shift_to_and_fro_are_refused(geared):
    for wrong, words in (
        ({"down": 400.0}, "at once"),
        ({"ratios": [3.0, 3.5]}, "fall"),
        ({"open": 9.0, "closed": 8.0}, "closes"),
    ):
        with pytest.raises(ModelError, match=words):
            driven(geared, blocks={"gears": {"gear_shift": SHIFTS | wrong}}, gear="gears")


@pytest.mark.parametrize("inertia", [0.0, 0.05])
def test_a_scenario_gives_the_force_it_wants_until_the_motor_has_no_more(tmp_path, inertia):
    """The torque of the motor falls with its speed: the throttle opens, to 1 and no further."""
    N, motor = 8.0, {"torque": "250*(1 - omega/700)", "reduction": 8.0, "inertia": inertia}
    made = vehicle(merged(GEARED, {"drive": {"motor": motor, "gearbox": None}}), tmp_path)
    run = ts.simulate(made, scenario=ts.scenario("straight_acceleration", final_speed=22.0, acceleration=2.5))
    accelerated = CAR + inertia * N**2 / R**2
    had = 250.0 * (1.0 - run["motor_speed"] / 700.0) * N / R
    can = (run.time > 1.6) & (had > 1.01 * M * 2.5)
    cannot = (run.time > 1.6) & (had < 0.99 * M * 2.5)
    assert can.sum() > 100
    assert cannot.sum() > 100
    np.testing.assert_allclose(run["dvx"][can], M * 2.5 / accelerated, rtol=5e-3)
    np.testing.assert_allclose(run["dvx"][cannot], had[cannot] / accelerated, rtol=5e-3)
    assert run["throttle"].max() <= 1.0
