"""The anti-lock block: its phases beside a plain copy of them, and what it does to a braked wheel."""

import numpy as np
import pytest

import torseur as ts
from support.vehicles import vehicle
from torseur.errors import ModelError

R, M, LOAD = 0.3, 400.0, 400.0 * 9.81
TYRE = {
    "load": LOAD,
    "longitudinal": {
        "slope": [80000, 140000],
        "peak_slip": [0.1, 0.11],
        "peak": [1.0 * LOAD, 1.9 * LOAD],
        "slide_slip": [0.5, 0.6],
        "slide": [0.75 * LOAD, 1.4 * LOAD],
    },
}
TYRE["lateral"] = TYRE["longitudinal"]
ONE_WHEEL = {
    "torseur_vehicle": 1,
    "name": "one_wheel",
    "parameters": {"mu": 1.0, "further": 0.0},
    "chassis": {"height": 0.3, "motion": "planar", "inertia": {"M": M - 20.0, "ZZ": 100.0}},
    "axles": {
        "axle": {
            "x": 0.0,
            "load": LOAD,
            "brake": 1,
            "releases": True,
            "wheel": {"radius": R, "mass": 20, "spin_inertia": 1.0},
            "suspension": {"rigid": {}},
            "tyre": {"tmeasy": TYRE},
        }
    },
    "road": {"adherence": "if(x < 20, 1, 1 - further)*mu"},
}
"""A mass on one wheel whose friction has a peak of 1 at a slip of 0.1, and slides with 0.75."""

PERIOD = 0.005
LIMITS = {"slip": 0.12, "deceleration": 30.0, "recovery": 5.0, "strong": 60.0}
RATES = {"rise": 5.0, "fall": 15.0, "build_up": 0.5}
AGAIN = 0.89
"""Where torque that goes in steps of 2.5 % does not come by rounding alone."""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return vehicle(ONE_WHEEL, tmp_path_factory.mktemp("wheel"))


def braked(model, torque=3000.0, speed=25.0, spin=None, until=9.0, parameters=None, **fields):
    release = {"abs": {"wheel_speed": f"{R}*dspin_axle", **fields}} if fields.pop("anti_lock", True) else 0.0
    return ts.simulate(
        model,
        until=until,
        every=PERIOD / 5,
        start={"vx": speed, "dspin_axle": speed / R if spin is None else spin},
        inputs={"brake_torque": torque, "release_axle": release},
        parameters=parameters or {},
        blocks={"ends": {"crossing": {"value": "abs(vx) - 0.05"}}},
        changes=[{"event": "ends", "stop": True}],
        solver={"method": "rodas", "rtol": 1e-6, "atol": 1e-8},
    )


def phases_of(u, v, asked, S, least=1.0):
    """The table of the module in plain Python: phase, and torque that is let through, after each sample."""
    D, most, R1 = (LIMITS[n] for n in ("deceleration", "slip", "recovery"))
    phase, P, L, before, found = 0, asked, asked, u[0], []
    for now, speed in zip(u, v, strict=True):
        a, slips = (now - before) / PERIOD, (speed - now) / max(speed, least) > most
        before = now
        was, P = phase, asked if phase == 0 else min(P, asked)
        if phase == 0:
            L = P
            phase = 2 if slips else 1 if a < -D else 0
        elif phase == 1:
            phase = 2 if slips else 1 if a < -D else 5
        elif phase == 2:
            phase = 3 if a > R1 or (not slips and a >= -D) else 2
        elif phase == 3:
            phase = 4 if a > S else 3 if a > R1 else 2 if slips else 5
        elif phase == 4:
            phase = 4 if a > S else 3
        else:
            phase = 2 if slips or a < -D else 5 if asked > P else 0
        if speed < least:
            phase = 0
        if phase == 2 and was != 2:
            L = P
        grows = RATES["rise"] * L if P < AGAIN * L else RATES["build_up"] * max(P, L)
        rate = {2: -RATES["fall"] * L, 4: RATES["rise"] * L, 5: grows}.get(phase, 0.0)
        P = max(P + PERIOD * rate, 0.0)
        found.append((phase, asked if phase == 0 else min(P, asked)))
    return np.array(found)


@pytest.mark.parametrize(("mu", "strong"), [(1.0, 60.0), (0.3, 8.0)])
def test_phases_and_torque_are_those_of_a_plain_copy_of_the_cycle(wheel, mu, strong):
    run = braked(wheel, parameters={"mu": mu}, strong=strong, again=AGAIN)
    u, v = R * run["dspin_axle"][::5], run["vx"][::5]
    after = np.column_stack([run["release_axle_phase"], run["release_axle_torque"]])[1::5][: len(u)]
    np.testing.assert_allclose(after, phases_of(u, v, 3000.0, strong)[: len(after)], atol=1e-6)
    assert set(after[:, 0]) >= ({0, 2, 3, 5} if strong == 60.0 else {0, 2, 3, 4, 5})
    np.testing.assert_allclose(run["release_axle"], 1.0 - run["release_axle_torque"] / 3000.0, atol=1e-12)


@pytest.mark.parametrize("mu", [1.0, 0.3])
def test_it_keeps_the_wheel_turning_and_stops_sooner_than_a_locked_one(wheel, mu):
    kept, locked = (braked(wheel, until=60.0, parameters={"mu": mu}, anti_lock=on) for on in (True, False))
    assert locked["axle_kappa"][locked["vx"] > 4.0].min() == pytest.approx(-1.0, abs=1e-3)
    assert kept["axle_kappa"][(kept["vx"] > 4.0) & (kept.time > 0.5)].min() > -0.25
    assert kept["x"][-1] < 0.92 * locked["x"][-1]
    shortest = 25.0**2 / (2.0 * mu * 9.81)  # at the peak all the way
    assert shortest < kept["x"][-1] < 1.17 * shortest


def test_a_driver_who_brakes_gently_does_not_notice_it(wheel):
    gentle, without = (braked(wheel, torque=600.0, until=3.0, anti_lock=on) for on in (True, False))
    assert not gentle["release_axle"].any()
    assert set(gentle["release_axle_phase"]) == {0.0, 1.0, 5.0}  # for a moment it holds what is asked for
    np.testing.assert_allclose(gentle["vx"], without["vx"], atol=1e-6)  # samples end steps


def test_it_lets_go_where_the_road_becomes_slippery(wheel):
    run = braked(wheel, torque=1000.0, parameters={"further": 0.8}, until=20.0)
    before, after = (run["x"] < 19.9) & (run["x"] > 1.0), (run["x"] > 30.0) & (run["vx"] > 4.0)
    assert np.all(run["release_axle_torque"][before] == 1000.0)
    assert np.all(run["release_axle_torque"][after] < 400.0)
    assert run["axle_kappa"][after].min() > -0.5


def test_a_wheel_that_is_locked_is_let_go_until_it_turns_again(wheel):
    run = braked(wheel, spin=0.0, until=2.5, parameters={"mu": 0.3})
    assert run["axle_kappa"][0] == -1.0
    assert run["axle_kappa"][run.time > 1.5].min() > -0.25


def test_it_works_the_same_backwards(wheel):
    ahead = braked(wheel, until=2.0)
    back = braked(wheel, speed=-25.0, until=2.0)
    assert back["vx"][0] == -25.0
    np.testing.assert_allclose(back["vx"], -ahead["vx"], atol=1e-3)


def test_an_axle_without_brakes_has_none_to_let_go(tmp_path):
    data = ONE_WHEEL | {"axles": {"axle": {k: v for k, v in ONE_WHEEL["axles"]["axle"].items() if k != "brake"}}}
    with pytest.raises(ModelError, match="none to let go"):
        vehicle(data, tmp_path)


@pytest.mark.parametrize("field", [*LIMITS, *RATES, "least_speed", "period"])
def test_thresholds_rates_and_times_are_more_than_zero(wheel, field):
    with pytest.raises(ModelError, match="too small"):
        braked(wheel, until=0.1, **{field: 0.0})
