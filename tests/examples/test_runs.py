"""The studies of the examples run, and show what their pages say."""

import json
import re
from functools import cache

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline

import torseur as ts
from support.example_files import DATA, EXAMPLES, STUDIES
from torseur.describe.constraints import Constraint
from torseur.describe.fields import FrozenDict
from torseur.describe.mechanism import Input
from torseur.simulation.study.reader import load_study

pytestmark = pytest.mark.examples

DOCS = EXAMPLES.parent / "docs"


@cache
def run_of(study, until=None, **changes):
    """A run of a study, shortened where the rest shows nothing new."""
    return ts.simulate(STUDIES[study], until=until, **changes)


def relative(run):
    return {row["balance"]: row["relative"] for row in run.audit().table if "relative" in row}


def gap(run, name="loops and constraints"):
    return next(row["error"] for row in run.audit().table if row["balance"] == name)


def times_of(run, name, what):
    return np.array([event.time for event in run.events if (event.name, event.what) == (name, what)])


# -- the files ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("study", STUDIES)
def test_a_study_is_sound_and_stands_beside_its_model(study):
    folder, name = study.split("/")
    found = load_study(STUDIES[study])
    [model] = re.findall(r"^model: (\S+)$", STUDIES[study].read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert (EXAMPLES / folder / model).parent == EXAMPLES / folder
    assert found.model == ts.load(EXAMPLES / folder / model)
    assert found.title
    assert f"{name}.yaml" in (EXAMPLES / folder / "README.md").read_text(encoding="utf-8")


def test_every_study_has_its_page_and_every_page_its_picture():
    pages = {page.stem: page.read_text(encoding="utf-8") for page in (DOCS / "examples").glob("*.md")}
    texts = [page.read_text(encoding="utf-8") for page in DOCS.glob("**/*.md") if "_build" not in page.parts]
    shown = {study for text in texts for study in re.findall(r"examples/(\w+/\w+)\.yaml", text)}
    assert set(STUDIES) <= shown
    listed = re.findall(r"^examples/(\w+)$", (DOCS / "examples.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert set(listed) == set(pages)
    for name, text in pages.items():
        own = re.findall(rf"_static/(runs/{name}\.png|{name}/\w+\.png)", text)
        assert own, name
        assert all((DOCS / "_static" / picture).stat().st_size < 120_000 for picture in own)


# -- control -----------------------------------------------------------------------------------------------------------
def test_the_lyapunov_function_of_the_pd_law_only_falls_and_its_rate_is_the_one_of_remark_6_8():
    run = run_of("planar_2r/pd_control")
    V, rate = run["law_lyapunov"], run["law_lyapunov_rate"]
    assert np.all(np.diff(V) < 0.0)
    assert V[-1] < 1e-6 * V[0]
    np.testing.assert_allclose(rate, -9.0 * run["dtheta1"] ** 2 - 2.5 * run["dtheta2"] ** 2, atol=1e-9)
    lost = np.concatenate([[0.0], np.cumsum(0.5 * np.diff(run.time) * (rate[1:] + rate[:-1]))])
    np.testing.assert_allclose(V - V[0], lost, atol=2e-4 * V[0])
    assert run["theta1"][-1] == pytest.approx(np.radians(60.0), abs=2e-3)


def test_the_tool_of_the_3r_arm_comes_to_the_circle_as_the_error_equation_says():
    run = run_of("arm_3r/circle")
    t = run.time[run.time <= 1.0]
    for name, law in (("theta1", 0), ("theta3", 2)):
        reference = np.array([np.arctan2(run["path_y"][0], run["path_x"][0]), np.nan, run["bent"][0]])[law]
        error = reference - run[name][: len(t)]
        np.testing.assert_allclose(error, error[0] * (1.0 + 10.0 * t) * np.exp(-10.0 * t), atol=1e-7)
    assert run["off"][run.time > 2.6].max() < 1e-9
    on = run.time > 3.0
    centre = np.stack([run["tool_x"] - 0.55, run["tool_y"] - 0.1, run["tool_z"] - 0.65])[:, on]
    np.testing.assert_allclose(np.linalg.norm(centre, axis=0), 0.15, atol=1e-8)


# -- the welding arm ---------------------------------------------------------------------------------------------------
def test_the_welding_arm_falls_by_newmark_as_by_a_method_of_high_order():
    run = run_of("welding_arm/falling", until=1.0)
    assert run.info["solver"].lower().startswith("newmark")
    assert relative(run)["energy"] < 1e-3
    exact = run_of("welding_arm/falling", until=1.0, solver="dopri5")
    for name in ("q2", "q3", "q4"):
        np.testing.assert_allclose(run[name], exact[name], atol=2e-3)
    for name in ("q1", "q5"):  # by symmetry
        assert np.abs(run[name]).max() < 1e-9
    light = run_of("welding_arm/falling", until=1.0, parameters=FrozenDict(m4=66.67))
    assert abs(light["q3"][-1] - run["q3"][-1]) > 0.05


def test_computed_torque_leads_the_welding_arm_along_its_path_and_needs_more_than_table_2_has():
    run = run_of("welding_arm/welding", until=3.0)
    assert (run.info["step"], run.time[1]) == (0.005, 0.01)
    for k in range(1, 8):
        assert np.abs(run[f"goal_q{k}"] - run[f"q{k}"]).max() < 1e-5
    largest = [np.abs(run[f"Q{k}"]).max() for k in range(1, 8)]
    np.testing.assert_allclose(largest[1:4], [5476.0, 3384.0, 1084.0], rtol=1e-3)
    assert largest[5] < 297.0


@pytest.mark.slow
def test_the_motors_of_table_2_cannot_hold_the_welding_arm():
    run = run_of("welding_arm/weak_motors", until=1.0)
    model = ts.build(run.mechanism)
    held = model.inverse_dynamics(run.q[0], np.zeros(7), np.zeros(7))
    np.testing.assert_allclose(held[1:4], [-1066.9, -747.9, -314.5], atol=0.1)
    stretched = model.inverse_dynamics([0, np.pi / 2, 0, 0, 0, 0.2, -0.2], np.zeros(7), np.zeros(7))
    assert stretched[1] == pytest.approx(-6441.2, abs=0.1)
    limits = [50, 350, 350, 350, 140, 297, 297]
    assert all(np.abs(run[f"Q{k}"]).max() <= limit for k, limit in enumerate(limits, 1))
    np.testing.assert_allclose(run["Q2"][:5], -350.0)
    assert times_of(run, "q4_lower", "closes")[0] == pytest.approx(0.101, abs=1e-3)
    assert times_of(run, "q2_lower", "closes")[0] == pytest.approx(0.525, abs=1e-3)
    assert gap(run, "contacts and stops") == pytest.approx(-min(run["q2"].min(), run["q4"].min(), 0.0), abs=1e-12)
    assert gap(run, "contacts and stops") < 1e-9
    assert run.audit().holds


# -- 1983 --------------------------------------------------------------------------------------------------------------
@pytest.mark.slow
def test_rotors_slow_the_fall_of_the_motorised_arm_and_their_coupling_shows():
    full = run_of("motorised_6r/release")
    bare = run_of("motorised_6r/release", parameters=FrozenDict({f"jm{k}": 0.0 for k in range(1, 7)}))
    study = load_study(STUDIES["motorised_6r/release"])
    loads = {name: load.model_copy(update={"carrier": "world"}) for name, load in study.model.loads.items()}
    model = study.model.model_copy(update={"loads": FrozenDict(loads)})
    diagonal = ts.simulate(study.model_copy(update={"model": model}))
    for run in (full, bare, diagonal):
        assert run.audit().holds
        assert np.all(run["q4"] == run["q4"][0])
    last = np.degrees([[run[name][-1] for name in ("q1", "q2", "q3")] for run in (full, diagonal, bare)])
    np.testing.assert_allclose(last[0], [90.09, -96.42, -111.39], atol=0.01)
    np.testing.assert_allclose(last[1], [90.66, -96.34, -111.63], atol=0.01)
    np.testing.assert_allclose(last[2], [102.26, -131.45, -89.16], atol=0.01)


def test_seven_quantities_of_the_satellite_are_conserved():
    solver = FrozenDict(method="dopri5", rtol=1e-11, atol=1e-12)  # quicker to compile
    run = run_of("satellite_arm/reach", until=10.0, solver=solver)
    assert run.audit().holds
    assert max(relative(run).values()) < 1e-9
    momentum = ts.build(run.mechanism).momentum(run.q, run.v)
    np.testing.assert_allclose(momentum, np.broadcast_to(momentum[0], momentum.shape), rtol=0, atol=1e-9)
    works = sum(run[f"work_motor{k}"] for k in range(1, 7))
    np.testing.assert_allclose(run["kinetic_energy"] - run["kinetic_energy"][0], works, atol=1e-9)
    for name in ("q1", "q2", "q3", "q4", "q5", "q6"):  # the arm is back, the satellite is not
        assert run[name][-1] == pytest.approx(run[name][0], abs=1e-8)
    assert np.degrees(run["attitude_roll"][-1]) > 10.0


# -- vehicles ----------------------------------------------------------------------------------------------------------
def test_the_truck_ends_one_lane_to_the_left_and_straight():
    run = run_of("tractor_trailer/lane_change")
    assert run["y"][-1] == pytest.approx(3.5, abs=5e-3)
    assert run["back_y"][-1] == pytest.approx(3.5, abs=5e-3)
    assert abs(run["Phi"][-1]) < 1e-3
    assert np.degrees(np.abs(run["Phi"]).max()) == pytest.approx(2.6, abs=0.1)
    assert run.audit().holds


def test_the_trailer_runs_away_in_reverse_and_the_run_ends_there():
    run = run_of("tractor_trailer/reversing")
    assert run.complete
    assert np.degrees(run["Phi"][-1]) == pytest.approx(60.0, abs=1e-9)
    assert run.time[-1] == run.events[-1].time < 60.0
    assert run.events[-1].name == "hitch_upper"
    assert np.all(np.diff(run["Phi"]) > 0.0)
    np.testing.assert_allclose(np.tan(run["Phi"] / 2), np.tan(np.radians(0.5)) * np.exp(-run["x"] / 8.1), rtol=1e-7)


def steered_by_rate(t, state, speed):
    """x, y, Theta, Phi, delta of the tractor by hand, with the control of the study as delta' (8.14, 8.15, 8.45)."""
    _, y, heading, hitch, angle = state
    wanted = -0.004 * (y - 3.5) - 0.24 * heading
    turn = speed(t) * np.tan(angle) / 3.6
    trailer = (-speed(t) * np.sin(hitch) + 0.5 * turn * np.cos(hitch)) / 8.1
    fs = np.clip(5.0 * (wanted - angle), -0.05, 0.05)
    return [speed(t) * np.cos(heading), speed(t) * np.sin(heading), turn, trailer - turn, fs]


def test_the_rate_of_the_wheel_steers_the_tractor_onto_the_line():
    run = run_of("tractor_trailer/steering_control")
    assert run.audit().holds, run.audit()
    np.testing.assert_allclose(run["ddelta"], run["Fs"], atol=1e-10)
    assert run["Fs"].max() == pytest.approx(0.05)
    assert run.time[run["Fs"] < 0.0499999][0] == pytest.approx(0.08, abs=0.011)
    speed = CubicSpline(run.time, run["vx"])
    by_hand = solve_ivp(
        steered_by_rate, (0.0, 20.0), [0.0] * 5, args=(speed,), t_eval=run.time, rtol=1e-10, atol=1e-12, max_step=0.05
    )
    for name, values in zip(("x", "y", "Theta", "Phi", "delta"), by_hand.y, strict=True):
        np.testing.assert_allclose(run[name], values, atol=1e-6)
    assert max(abs(run[name][-1] - 3.5) for name in ("y", "back_y")) < 0.004
    assert not run["work_steered"].any()
    np.testing.assert_array_equal(run["side_force"], run["lambda_front_wheels"])


def test_the_rate_of_the_wheel_as_a_row_of_speeds_gives_the_same_run():
    study = load_study(STUDIES["tractor_trailer/steering_control"])
    steered = {"speeds": {"coefficients": {"ddelta": 1.0}, "equals": "Fs"}}
    model = study.model.model_copy(
        update={
            "constraints": {**study.model.constraints, "steered": Constraint.model_validate(steered)},
            "inputs": {**{n: x for n, x in study.model.inputs.items() if n != "steering"}, "Fs": Input(unit="rad/s")},
        }
    )
    blocks = {n: x for n, x in study.blocks.items() if n != "Fs"}
    inputs = {"Fs": study.blocks["Fs"], "Fu2": study.inputs["Fu2"]}
    row = ts.simulate(study.model_copy(update={"model": model, "blocks": blocks, "inputs": inputs}))
    assert row.audit().holds, row.audit()
    run = run_of("tractor_trailer/steering_control")
    for name in ("x", "y", "Phi", "delta", "lambda_front_wheels"):
        np.testing.assert_allclose(row[name], run[name], atol=1e-6 * max(1.0, np.abs(run[name]).max()))


# -- classics ----------------------------------------------------------------------------------------------------------
def test_the_double_pendulum_keeps_its_energy():
    assert relative(run_of("double_pendulum/swing"))["energy"] < 1e-9


def test_the_four_bar_stays_closed_and_keeps_its_energy():
    run = run_of("four_bar/turning", until=3.0, solver=FrozenDict(method="dopri5", rtol=1e-9))
    assert gap(run) < 1e-12
    assert relative(run)["energy"] < 1e-7
    assert np.all(run["dq1"] > 0.0)
    assert np.ptp(run["q3"]) < 1.0 < 2 * np.pi < np.ptp(run["q1"])


def test_the_disc_is_stable_above_its_speed_and_not_below():
    slow, fast = run_of("rolling_disc/slow", until=2.0), run_of("rolling_disc/fast", until=2.0)
    growth, wobble = (np.sqrt(abs(3 * v * v - 9.81 * 0.3) / (1.25 * 0.3**2)) for v in (0.9, 1.08))
    small = slow.time <= 1.0
    np.testing.assert_allclose(slow["lean"][small], 0.01 / growth * np.sinh(growth * slow.time[small]), rtol=5e-3)
    np.testing.assert_allclose(fast["lean"], 0.01 / wobble * np.sin(wobble * fast.time), atol=1e-5)
    assert np.degrees(slow["lean"][-1]) > 9.0
    assert max(gap(slow), gap(fast)) < 1e-12


def test_the_heavy_top_is_where_the_benchmark_has_it():
    benchmark = json.loads((DATA / "benchmarks" / "heavy_top.json").read_text(encoding="utf-8"))
    run = run_of("heavy_top/spinning")
    for time, values in benchmark["reference"]["values"].items():
        k = int(np.argmin(np.abs(run.time - float(time))))
        centre = [run[f"centre_{axis}"][k] for axis in "xyz"]
        np.testing.assert_allclose(centre, values["com"], atol=1e-8)
        np.testing.assert_allclose([run[f"top_w{a}"][k] for a in "xyz"], values["omega_body"], atol=1e-6)


def test_joints_of_the_rx90_stick_without_moving_and_let_go_at_the_level_of_friction():
    run = run_of("rx90/stick_slip", until=4.0)
    assert run.audit().holds
    sticks, slides = times_of(run, "friction1", "sticks"), times_of(run, "friction1", "slides")
    np.testing.assert_allclose(sticks, [1.013, 3.013], atol=1e-3)
    np.testing.assert_allclose(slides, [0.105, 1.666, 3.666], atol=1e-3)
    at_rest = (run.time > sticks[0] + 1e-9) & (run.time < slides[1] - 1e-9)
    assert np.all(run["dth1"][at_rest] == 0.0)
    assert np.abs(run["lambda_friction1_friction"][at_rest]).max() <= 40.0
    np.testing.assert_allclose(run["th1"][at_rest], run["th1"][at_rest][0], rtol=0, atol=1e-15)
    level = 2500.0 * (0.05 * np.sin(0.5 * np.pi * slides[1]) - run["th1"][at_rest][0])
    level += 250.0 * 0.05 * 0.5 * np.pi * np.cos(0.5 * np.pi * slides[1])
    assert level == pytest.approx(-40.0, abs=1.5)  # the other joints pull a little too
    assert np.all(run["th6"] == run["th6"][0])


# -- braked wheel ------------------------------------------------------------------------------------------------------
def test_a_braked_wheel_slips_locks_and_stops_when_the_closed_form_says_so():
    run = run_of("braked_wheel/braking")
    m, J, r, mu, g, k = 300.0, 0.9, 0.3, 0.8, 9.81, 1500.0
    slips = mu * m * g * r * (1.0 + J / (m * r**2)) / k
    speed = 20.0 - k * slips**2 / (2.0 * r * (m + J / r**2))
    # J w' = mu m g r - k t from w = speed / r
    a, b, c = 0.5 * k, k * slips - mu * m * g * r, -J * speed / r
    locks = slips + (-b + np.sqrt(b**2 - 4.0 * a * c)) / (2.0 * a)
    assert times_of(run, "road", "slips") == pytest.approx([slips], abs=1e-9)
    assert times_of(run, "brake", "sticks") == pytest.approx([locks], abs=1e-9)
    assert times_of(run, "road", "sticks") == pytest.approx([slips + speed / (mu * g)], abs=1e-8)
    np.testing.assert_allclose(run["load"], m * g, rtol=1e-12)
    np.testing.assert_allclose(run["friction_road_ahead"], m * run["ddx"], atol=1e-8)
    assert relative(run)["energy"] < 1e-12
