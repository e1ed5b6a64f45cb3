"""Indicators of made-up motions whose numbers are known, and of cars against closed forms."""

import json
from functools import cache

import numpy as np
import pytest

import torseur as ts
from support.vehicles import DATA, car
from torseur.packs.vehicles.indicators import INDICATORS
from torseur.simulation.results.channels import Channel
from torseur.simulation.results.indicators import Extreme, measures_of
from torseur.simulation.results.result import Run

L, V0 = 2.7, 20.0


@cache
def single_track():
    return ts.load(DATA / "single_track.yaml")


def made_up(t, **given):
    """A run of the single track with given channels; what is not given is zero, loads are those at rest."""
    model = single_track()
    zero = np.zeros_like(t)

    def stacked(names):
        return np.stack([given.get(name, zero) + zero for name in names], axis=1)

    q, v = ([x.name for x in variables] for variables in (model.q, model.v))
    more = {"steering_angle": "rad", "front_Fz": "N", "rear_Fz": "N"}
    rest = {"front_Fz": 9000.0, "rear_Fz": 6000.0}
    more |= {n: "rad" for n in ("wanted_steering",) if n in given}
    channels = [Channel(n, unit, n, given.get(n, rest.get(n, 0.0)) + zero) for n, unit in more.items()]
    return Run.from_arrays(model, t, stacked(q), stacked(v), stacked([f"d{name}" for name in v]), channels=channels)


def measured(run, kind, **fields):
    record = INDICATORS[kind].model_validate(fields)
    return {one["name"]: one for one in measures_of(run, {"it": record})}


# -- made-up motions ---------------------------------------------------------------------------------------------------
def braked(a=5.0, begin=1.0, until=6.0):
    t = np.linspace(0.0, until, 6001)
    later = np.clip(t - begin, 0.0, V0 / a)
    V = V0 - a * later
    x = V0 * np.minimum(t, begin) + V0 * later - 0.5 * a * later**2
    moves = (t > begin) & (t < begin + V0 / a)
    return made_up(t, vx=V, x=x, dvx=-a * moves, dspin_front=V / 0.3, dspin_rear=V / 0.3)


def test_a_constant_deceleration_stops_in_v2_over_2a():
    found = measured(braked(), "braking", begin=1.0)
    a, left = 5.0, 0.1
    assert found["stopping_distance"]["value"] == pytest.approx((V0**2 - left**2) / (2 * a), rel=1e-5)
    assert found["stopping_time"]["value"] == pytest.approx((V0 - left) / a, rel=1e-5)
    assert found["mean_fully_developed_deceleration"]["value"] == pytest.approx(a, rel=1e-5)
    assert found["max_deceleration"]["value"] == pytest.approx(a)
    assert found["locked_wheels"]["value"] == 0.0


def test_a_run_that_ends_before_the_stop_is_not_reached_and_fails():
    found = measured(braked(until=3.0), "braking", begin=1.0)
    assert found["stopping_distance"]["value"] is None
    assert found["stopping_distance"]["fails"]
    assert "still 10 m/s at 3 s" in found["stopping_distance"]["said"]
    assert found["mean_fully_developed_deceleration"]["value"] is None


def test_wheels_that_do_not_turn_while_the_vehicle_moves_are_locked():
    t = np.linspace(0.0, 2.0, 201)
    run = made_up(t, vx=10.0, dspin_front=np.where(t < 1.005, 10 / 0.3, 0.0), dspin_rear=10 / 0.3)
    found = measured(run, "braking", begin=0.5, to_rest=False)
    assert found["locked_wheels"]["value"] == 1.0
    assert found["locked_wheels"]["said"] == "front at 1.01 s"


@pytest.mark.parametrize("side", [1.0, -1.0])
@pytest.mark.parametrize("K", [0.003, -0.002])
def test_the_understeer_gradient_of_steady_turns_is_found_whatever_is_held(K, side):
    """delta = l r/V + K ay, at constant speed and at constant radius, to either side."""
    t = np.linspace(0.0, 10.0, 401)
    ay = side * 0.4 * t
    for V in (np.full_like(t, V0), np.sqrt(np.abs(ay) * 100.0) + 1e-9):
        r = ay / np.maximum(V, 1e-6)
        run = made_up(t, vx=V, wz=r, steering_angle=L * r / np.maximum(V, 1e-6) + K * ay)
        found = measured(run, "steady_turn")
        assert found["understeer_gradient"]["value"] == pytest.approx(K, rel=1e-6)
        name = "characteristic_speed" if K > 0 else "critical_speed"
        assert found[name]["value"] == pytest.approx(np.sqrt(L / abs(K)), rel=1e-6)
        if np.ptp(V) == 0.0:
            assert found["yaw_rate_gain"]["value"] == pytest.approx(V0 / (L + K * V0**2), rel=1e-6)
        else:
            assert found["radius"]["value"] == pytest.approx(100.0, rel=1e-6)
            assert "yaw_rate_gain" not in found


def test_the_angle_that_is_found_is_the_one_to_ask_for():
    """Behind a soft column wheels turn less than they are told."""
    t = np.linspace(0.0, 10.0, 401)
    delta, ay = 0.004 * t, 0.5 * t
    plain = {"vx": np.full_like(t, V0), "wz": ay / V0, "steering_angle": delta}
    for run, angle in ((made_up(t, **plain), 0.032), (made_up(t, **plain, wanted_steering=1.25 * delta), 0.04)):
        assert measured(run, "steering_at", acceleration=4.0)["steering_angle"]["value"] == pytest.approx(angle)


def test_a_second_order_answer_has_its_closed_response_peak_and_overshoot():
    wn, z, begin = 6.0, 0.5, 1.0
    t = np.linspace(0.0, 9.0, 9001)
    tau, wd = np.maximum(t - begin, 0.0), wn * np.sqrt(1 - z**2)
    shown = 1 - np.exp(-z * wn * tau) * (np.cos(wd * tau) + z * wn / wd * np.sin(wd * tau))
    r, beta = 0.2 * shown, -0.02 * shown
    run = made_up(t, vx=V0, vy=V0 * np.tan(beta), wz=r, steering_angle=np.where(t > begin, 0.04, 0.0))
    found = measured(run, "step_steer", begin=begin)
    assert found["yaw_rate_gain"]["value"] == pytest.approx(5.0, rel=1e-6)
    assert found["yaw_rate_overshoot"]["value"] == pytest.approx(np.exp(-np.pi * z / np.sqrt(1 - z**2)), rel=1e-5)
    assert found["yaw_rate_peak_time"]["value"] == pytest.approx(np.pi / wd, abs=2e-3)
    assert found["TB_factor"]["value"] == pytest.approx(np.pi / wd * np.rad2deg(0.02), rel=5e-3)
    exact = t[np.argmax(shown >= 0.9)] - begin
    assert found["yaw_rate_response_time"]["value"] == pytest.approx(exact, abs=2e-3)


def test_a_gate_is_left_by_what_the_outline_is_beside_it():
    t = np.linspace(0.0, 10.0, 1001)
    run = made_up(t, vx=5.0, x=5.0 * t, y=0.5 * np.clip(5.0 * t - 20.0, 0.0, 2.0))
    gates = {
        "first": {"begin": 0.0, "end": 10.0, "left": 1.2, "right": -1.2},
        "second": {"begin": 20.0, "end": 30.0, "left": 1.7, "right": -1.2},
        "last": {"begin": 45.0, "end": 60.0, "left": 2.5, "right": 0.0},
    }
    corners = [[1.0, 0.9], [1.0, -0.9], [-1.0, 0.9], [-1.0, -0.9]]
    found = measured(run, "course", gates=gates, units={"chassis": {"points": corners}})
    assert found["clearance_first"]["value"] == pytest.approx(0.3)
    assert found["clearance_second"]["value"] == pytest.approx(-0.2)
    assert found["clearance_second"]["said"].startswith("leaves gate 'second' on the left by 0.2 m at 4.4 s")
    assert found["clearance_last"]["value"] is None  # the run ends before
    assert "not reached" in found["clearance_last"]["said"]
    assert found["course_passed"]["value"] == 0.0
    assert found["gate_entry_speed"]["value"] == pytest.approx(5.0)


def test_a_vehicle_that_turns_round_has_spun():
    t = np.linspace(0.0, 4.0, 401)
    yaw = 0.8 * t  # while it goes on along x of the world
    run = made_up(t, vx=10 * np.cos(yaw), vy=-10 * np.sin(yaw), yaw=yaw, wz=0.8)
    found = measured(run, "extremes")
    assert found["spun"]["value"] == 1.0
    assert found["spun"]["at"] == pytest.approx(np.pi / 2 / 0.8, abs=0.02)
    assert found["spun"]["fails"]


def test_a_speed_that_is_lost_is_told_with_its_time():
    t = np.linspace(0.0, 10.0, 1001)
    run = made_up(t, vx=V0 - 0.5 * t)
    found = measured(run, "held_speed", speed=V0)["speed_deviation"]
    assert found["value"] == pytest.approx(-5.0)
    assert "not held from 2.01 s on" in found["said"]
    assert not measured(run, "held_speed", speed=V0, end=1.0)["speed_deviation"]["fails"]


def test_the_acceleration_to_a_speed_has_time_and_way():
    t = np.linspace(0.0, 5.0, 501)
    run = made_up(t, vx=10.0 + 2.0 * t, x=10.0 * t + t**2, dvx=2.0)
    found = measured(run, "acceleration", begin=0.0, speed=18.0)
    assert found["time_to_speed"]["value"] == pytest.approx(4.0)
    assert found["distance_to_speed"]["value"] == pytest.approx(56.0, rel=1e-4)
    missed = measured(run, "acceleration", begin=0.0, speed=30.0)["time_to_speed"]
    assert missed["value"] is None
    assert missed["said"] == "not reached: 20 m/s is the most"


def test_an_indicator_that_cannot_be_measured_says_why_and_costs_nothing_else():
    run = made_up(np.linspace(0.0, 1.0, 11), vx=5.0)
    wrong, right = Extreme(channel="vxx"), Extreme(channel="vx")
    found = {one["name"]: one for one in measures_of(run, {"wrong": wrong, "right": right})}
    assert found["wrong"]["value"] is None
    assert "no channel 'vxx'" in found["wrong"]["said"]
    assert found["max_vx"]["value"] == 5.0


def test_every_measure_has_a_unit_or_is_a_number_and_a_definition():
    t = np.linspace(0.0, 10.0, 1001)
    r = 0.02 * t
    run = made_up(t, vx=V0, wz=r, steering_angle=r * L / V0)
    fields = {"begin": 1.0, "speed": 15.0, "acceleration": 2.0, "end": 4.0, "first": 0.2, "last": 2.0}
    for kind, record in INDICATORS.items():
        if kind == "course":
            continue
        for one in measured(run, kind, **{k: v for k, v in fields.items() if k in record.model_fields}).values():
            assert len(one["definition"]) > 5
            assert one["value"] is None or np.isfinite(one["value"])
            assert one["value"] is not None or one["said"]


@pytest.mark.parametrize("kind", ["braking", "extremes", "step_steer", "held_speed", "acceleration", "braking_in_turn"])
def test_a_run_that_ends_too_early_is_not_reached(kind):
    fields = {"begin": 1.0, "speed": 15.0}
    record = INDICATORS[kind]
    run = made_up(np.linspace(0.0, 0.5, 51), vx=V0)
    found = measured(run, kind, **{k: v for k, v in fields.items() if k in record.model_fields})
    assert any("not reached" in (one["said"] or "") for one in found.values())


# -- cars --------------------------------------------------------------------------------------------------------------
REFERENCES = json.loads((DATA / "analytic_references.json").read_text())


@pytest.fixture(scope="module")
def track(tmp_path_factory):
    """The single track of the references, with a drive."""
    file = tmp_path_factory.mktemp("track") / "track.yaml"
    file.write_text((DATA / "single_track.yaml").read_text().replace("x: -Lr\n", "x: -Lr\n    drive: 1\n"))
    return ts.load(file)


def linear_single_track(v):
    """d(vy, r)/dt = A (vy, r) + B delta."""
    m, Iz, a, b, Cf, Cr = (REFERENCES["parameters"][n] for n in ("m", "Iz", "Lf", "Lr", "Cf_axle", "Cr_axle"))
    turn = b * Cr - a * Cf
    A = np.array([[-(Cf + Cr) / (m * v), turn / (m * v) - v], [turn / (Iz * v), -(a**2 * Cf + b**2 * Cr) / (Iz * v)]])
    return A, np.array([Cf / m, a * Cf / Iz])


@pytest.mark.slow
def test_slow_steer_finds_the_understeer_gradient_and_the_gains_of_the_closed_form(track):
    run = ts.simulate(track, scenario=ts.scenario("slow_steer", speed=20.0, acceleration=1.0, growth=0.02))
    found = run.indicators
    K = REFERENCES["understeer_gradient_rad_per_mps2"]
    case = next(case for case in REFERENCES["single_track_steady_state"] if case["v"] == 20)
    assert found["understeer_gradient"].value == pytest.approx(K, rel=1e-3)
    assert found["characteristic_speed"].value == pytest.approx(REFERENCES["characteristic_speed_mps"], rel=1e-3)
    assert found["yaw_rate_gain"].value == pytest.approx(case["yaw_rate_gain"], rel=2e-3)
    assert found["lateral_acceleration_gain"].value == pytest.approx(case["ay_gain"], rel=2e-3)


@pytest.mark.slow
def test_a_small_step_steer_answers_as_the_linear_single_track(track):
    """Gain, and overshoot and peak time of the closed form's poles and zero."""
    run = ts.simulate(track, scenario=ts.scenario("step_steer", speed=20.0, amplitude=1e-3, rise=0.01))
    found = run.indicators
    A, B = linear_single_track(20.0)
    t = np.linspace(0.0, 3.0, 30001)
    values, vectors = np.linalg.eig(A)
    steady = -np.linalg.solve(A, B)
    c = np.linalg.solve(vectors, -steady)
    r = (steady[1] + (vectors[1] * c) @ np.exp(np.outer(values, t))).real
    assert found["yaw_rate_gain"].value == pytest.approx(steady[1], rel=1e-3)
    assert found["yaw_rate_overshoot"].value == pytest.approx(r.max() / steady[1] - 1.0, rel=3e-2)
    assert found["yaw_rate_peak_time"].value == pytest.approx(t[np.argmax(r)], rel=3e-2)
    reached = t[np.argmax(r >= 0.9 * steady[1])]
    assert found["yaw_rate_response_time"].value == pytest.approx(reached, abs=4e-3)


@pytest.mark.slow
def test_locked_wheels_stop_a_car_in_v2_over_2_mu_g(tmp_path):
    """Dugoff with mu = 0.5, far more torque than the tyres can pass on: all wheels lock and slide."""
    tyre = {"dugoff": {"longitudinal_stiffness": 80000, "cornering_stiffness": 60000, "friction": 0.5}}
    axles = {name: {"tyre": tyre, "wheel": {"spin_inertia": 0.05}} for name in ("front", "rear")}
    for axle in axles.values():
        axle["tyre"] = {**tyre, "linear": None}
    model = car(tmp_path, name="sliding", axles=axles)
    run = ts.simulate(model, scenario=ts.scenario("straight_braking", speed=20.0, deceleration=12.0, rise=0.001))
    found = run.indicators
    assert found["locked_wheels"].value == 4.0
    assert found["stopping_distance"].value == pytest.approx(20.0**2 / (2 * 0.5 * 9.81), rel=1e-2)
    assert found["mean_fully_developed_deceleration"].value == pytest.approx(0.5 * 9.81, rel=1e-2)
    h, L = (1400 * 0.5 + 80 * 0.3) / 1480, 2.6
    front = sum(run[f"front_{side}_Fz"] for side in ("left", "right"))
    share = front / (front + sum(run[f"rear_{side}_Fz"] for side in ("left", "right")))
    moved = 0.5 * h / L  # (1.2): m a h/l of m g
    assert np.interp(3.5, run.time, share) - share[0] == pytest.approx(moved, rel=2e-2)
    assert found["front_load_share_change"].value > moved  # it pitches beyond


@pytest.mark.slow
def test_a_mirrored_lane_change_has_mirrored_indicators(tmp_path):
    model = car(tmp_path, name="mirrored")
    chosen = (ts.scenario("iso_3888_2", speed=14.0, side=side) for side in (1.0, -1.0))
    left, right = (ts.simulate(model, scenario=one).indicators for one in chosen)
    turns = ("peak_lateral_acceleration", "peak_yaw_rate", "peak_side_slip", "peak_roll", "lateral_load_transfer_ratio")
    for name, one in left.items():
        sign = -1.0 if name in turns else 1.0
        assert one.value == pytest.approx(sign * right[name].value, rel=1e-5, abs=1e-7), name
    assert left["course_passed"].value == 1.0


@pytest.mark.slow
def test_a_sweep_shows_the_frequency_response_of_the_linear_single_track(track):
    """r/delta = c'(i w - A)^-1 b at 1 Hz, and where its amount has fallen to 1/sqrt(2)."""
    run = ts.simulate(track, scenario=ts.scenario("sine_sweep", speed=20.0, amplitude=1e-3, last=6.0, duration=60.0))
    A, B = linear_single_track(20.0)
    f = np.linspace(0.2, 6.0, 2901)
    H = np.array([np.linalg.solve(2j * np.pi * x * np.eye(2) - A, B)[1] for x in f])
    found = run.indicators
    steady = abs(H[np.argmin(abs(f - 0.27))])
    assert found["low_frequency_yaw_gain"].value == pytest.approx(steady, rel=2e-2)
    assert found["yaw_phase_at_1_hz"].value == pytest.approx(np.angle(H[np.argmin(abs(f - 1.0))]), abs=0.02)
    assert found["peak_yaw_gain_ratio"].value == pytest.approx(abs(H).max() / steady, rel=2e-2)
    assert found["yaw_bandwidth"].value == pytest.approx(f[np.nonzero(abs(H) > steady / np.sqrt(2))[0][-1]], rel=3e-2)
