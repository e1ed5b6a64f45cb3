"""Constraints that blocks drive: which may, what they give, what it takes; inputs that are numbers of the run."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline

import torseur as ts
from support.overconstrained_linkages import cranks
from torseur.describe import Body, Effort, Mechanism, SpringDamper
from torseur.describe.constraints import Constraint
from torseur.emit import source
from torseur.errors import ArgumentError
from torseur.simulation.integrate.recording import Recorder
from torseur.simulation.run.batch import simulate_many
from torseur.simulation.solvers.march import NUMBERS

G = 9.81
ROD = {"M": 1.0, "MX": 0.5, "YY": 1.0 / 3.0, "ZZ": 1.0 / 3.0}
METHODS = ("dop853", "dopri5", "rk4", "rodas", "newmark", "easydyn", "hht", "generalised_alpha")


def pendulum(constraint, *inputs):
    return Mechanism(
        name="pendulum",
        gravity=(G, 0.0, 0.0),
        bodies={"rod": {"joint": {"kind": "revolute", "coordinate": "a"}, "inertia": ROD}},
        inputs={name: {} for name in inputs},
        constraints={"turned": constraint},
    )


def prescribed():
    return pendulum({"prescribed": {"coordinate": "a", "equals": "angle"}}, "angle")


def turning():
    return pendulum({"speeds": {"coefficients": {"da": 1.0}, "equals": "rate"}}, "rate")


def carts(**more):
    """Two carts on a line with a spring between them; the first is held by what drives it."""
    body = {"joint": {"kind": "prismatic", "coordinate": "x"}, "inertia": {"M": 2.0}}
    other = {"joint": {"kind": "prismatic", "coordinate": "y"}, "inertia": {"M": 3.0}}
    return Mechanism(
        name="carts",
        gravity=(0.0, 0.0, 0.0),
        bodies={"first": body, "second": other},
        loads={"spring": SpringDamper(coordinate="y", stiffness=5.0), "held": Effort(coordinate="y", value="5*x")},
        inputs={"place": {}},
        **more,
    )


def slide(constraints, inputs=("h",), **more):
    """A block of 2 kg that can move in a vertical plane, weight downwards along y."""
    return Mechanism(
        name="slide",
        gravity=(0.0, -G, 0.0),
        base={"kind": "planar", "inertia": {"M": 2.0, "ZZ": 1.0}},
        inputs={name: {} for name in inputs},
        constraints=constraints,
        **more,
    )


def torque(a, acceleration):
    """What turns the pendulum so."""
    return acceleration / 3.0 + 0.5 * G * np.sin(a)


# -- what may drive a constraint ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("method", METHODS)
def test_an_integral_drives_a_coordinate_and_the_audit_closes(method):
    run = ts.simulate(prescribed(), until=1.0, every=0.1, inputs={"angle": {"integral": "cos(t)"}}, solver=method)
    near = 1e-5 if method in METHODS[4:] else 1e-8
    assert run.complete
    assert run.audit().holds, run.audit()
    np.testing.assert_allclose(run["a"], np.sin(run.time), atol=near)
    np.testing.assert_allclose(run["da"], np.cos(run.time), atol=near)
    np.testing.assert_allclose(run["dda"], -np.sin(run.time), atol=1e3 * near)
    work = 0.5 * np.cos(run.time) ** 2 / 3.0 - 0.5 * G * np.cos(np.sin(run.time))
    np.testing.assert_allclose(run["work_turned"], work - work[0], atol=20.0 * near)


@pytest.mark.parametrize(
    "driver",
    [
        {"second_order": {"value": "cos(t) - da", "frequency": 1.0}},
        {"transfer_function": {"value": "da", "numerator": [1.0], "denominator": [1.0, 2.0, 1.0]}},
        {"lag": {"value": "lagged", "time": 0.3}},
        {"integral": {"value": "twice", "start": 0.1}},
        {"spline": {"times": [0.0, 0.5, 1.1], "values": [0.0, 0.3, 0.0], "ends": "clamped"}},
        {"delay": {"value": "sin(t)", "time": 0.2, "method": "pade"}},
        {"formula": "sin(lagged_twice) + 0.1*t"},
        {"lag": {"value": "sin(a) + t", "time": 0.5, "start": 0.2}},
    ],
    ids=lambda driver: next(iter(driver)),
)
def test_chains_of_filters_give_a_position_with_both_its_rates(driver):
    others = {
        "lagged": {"lag": {"value": "1 - 0.5*da", "time": 0.2, "start": 0.0}},
        "lagged_twice": {"lag": {"value": "lagged", "time": 0.2, "start": 0.0}},
        "once": {"integral": "cos(t) - 0.2*da"},
        "twice": {"integral": "once"},
    }
    run = ts.simulate(prescribed(), until=1.0, every=1e-3, inputs={"angle": driver}, controllers=others)
    assert run.complete
    assert run.audit().holds, run.audit()
    np.testing.assert_allclose(run["a"], run["angle"], atol=1e-12)
    for value, rate in (("angle", "da"), ("da", "dda")):
        slope = CubicSpline(run.time, run[value])(run.time, 1)
        np.testing.assert_allclose(slope, run[rate], atol=2e-3 * np.abs(run[rate]).max())
    np.testing.assert_allclose(run["lambda_turned"], torque(run["a"], run["dda"]), atol=1e-9)


@pytest.mark.parametrize("method", ["dop853", "generalised_alpha"])
def test_a_filter_that_reads_the_motion_drives_it_without_pushing_what_it_reads(method):
    """The first cart follows the second through a lag: the force of the drive acts on the first alone."""
    drawn = carts(constraints={"held": {"prescribed": {"coordinate": "x", "equals": "place"}}})
    follow = {"lag": {"value": "y", "time": 0.4, "start": 0.1}}
    run = ts.simulate(drawn, until=3.0, every=0.1, start={"y": 1.0}, inputs={"place": follow}, solver=method)

    def rate(t, s):
        x, y, dy = s
        return [(y - x) / 0.4, dy, -5.0 * (y - x) / 3.0]

    true = solve_ivp(rate, (0.0, 3.0), [0.1, 1.0, 0.0], t_eval=run.time, rtol=1e-11, atol=1e-12).y
    near = 1e-8 if method == "dop853" else 1e-4
    for name, values in zip(("x", "y", "dy"), true, strict=True):
        np.testing.assert_allclose(run[name], values, atol=near)
    assert run.audit().holds, run.audit()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("rate", ["cos(t)", "0.5 - a", {"lag": {"value": "1 - 0.3*da", "time": 0.5, "start": 0.2}}])
def test_a_row_of_speeds_takes_a_value_with_one_known_rate(method, rate):
    run = ts.simulate(turning(), until=1.0, every=0.1, inputs={"rate": rate}, solver=method)

    def motion(t, s):
        a, z = s
        da = {"cos(t)": math.cos(t), "0.5 - a": 0.5 - a}.get(str(rate), z)
        return [da, (1.0 - 0.3 * da - z) / 0.5]

    true = solve_ivp(motion, (0.0, 1.0), [0.0, 0.2], t_eval=run.time, rtol=1e-11, atol=1e-12).y
    near = 1e-5 if method in METHODS[4:] else 1e-7
    assert run.complete
    assert run.audit().holds, run.audit()
    np.testing.assert_allclose(run["a"], true[0], atol=near)
    np.testing.assert_allclose(run["da"], run["rate"], atol=1e-12)
    if method == "dop853":
        np.testing.assert_allclose(run["lambda_turned"], torque(run["a"], run["dda"]), atol=1e-9)


def test_coefficients_of_a_row_of_speeds_and_free_equations_take_inputs():
    geared = carts(constraints={"gear": {"speeds": {"coefficients": {"dx": 1.0, "dy": "-place"}, "equals": "place"}}})
    run = ts.simulate(geared, until=1.0, every=0.1, start={"y": 1.0}, inputs={"place": {"integral": "1 + t"}})
    assert run.audit().holds, run.audit()
    np.testing.assert_allclose(run["dx"], run["place"] * (1.0 + run["dy"]), atol=1e-12)
    lifted = slide({"lift": {"zero": "y - 0.5*x - h"}})
    run = ts.simulate(lifted, until=1.0, every=0.1, inputs={"h": {"second_order": {"value": "t", "frequency": 1.0}}})
    assert run.audit().holds, run.audit()
    np.testing.assert_allclose(run["y"] - 0.5 * run["x"], run["h"], atol=1e-12)


def test_a_contact_whose_gap_is_driven_carries_what_the_table_lifts():
    table = slide({"table": {"contact": {"gap": "y - h"}}})
    shaken = {"second_order": {"value": "0.05*sin(5*t)", "frequency": 3.0}}
    run = ts.simulate(table, until=1.0, every=0.05, inputs={"h": shaken})
    assert run.audit().holds, run.audit()
    np.testing.assert_allclose(run["y"], run["h"], atol=1e-10)
    np.testing.assert_allclose(run["lambda_table"], 2.0 * (G + run["dvy"]), rtol=1e-9)
    assert np.ptp(run["dvy"]) > 0.5


# -- what may not ------------------------------------------------------------------------------------------------------
POSITION = {
    "speed": ("0.1*da", "its rate is not known"),
    "coordinate": ("0.1*a", "its second derivative is not known"),
    "pd": ({"pd": {"value": "a", "rate": "da", "kp": 1.0, "reference": 0.2}}, "its second derivative is not known"),
    "lag of a speed": ({"lag": {"value": "da", "time": 1.0}}, "its second derivative is not known"),
    "relative degree 1": (
        {"transfer_function": {"value": "da", "numerator": [1.0, 0.0], "denominator": [1.0, 2.0, 1.0]}},
        "its second derivative is not known",
    ),
    "sampled": ({"sampled": {"value": "t", "period": 0.1}}, "it jumps at instants"),
    "noise": ({"noise": {"period": 0.1}}, "it jumps at instants"),
    "two integrals of an acceleration": ({"integral": "swing"}, "its second derivative is not known"),
}


@pytest.mark.parametrize("case", POSITION)
def test_what_has_no_known_rates_cannot_drive_a_position(case):
    driver, why = POSITION[case]
    more = {"swing": {"integral": "felt_bz"}, "felt": {"acceleration": {"frame": "rod"}}}
    with pytest.raises(ts.ModelError, match=f"'angle' cannot drive a constraint: {why}") as caught:
        ts.simulate(prescribed(), inputs={"angle": driver}, controllers=more)
    assert caught.value.where == "inputs.angle"
    assert "put an integral, a lag or a second_order filter between" in (caught.value.remedy or "")


@pytest.mark.parametrize("driver", ["da", {"integral": "felt_bz"}, {"integral": "lambda_turned"}])
def test_what_has_no_known_rate_cannot_drive_a_row_of_speeds(driver):
    felt = {"felt": {"acceleration": {"frame": "rod"}}}
    with pytest.raises(ts.ModelError, match="'rate' cannot drive a constraint: its rate is not known"):
        ts.simulate(turning(), inputs={"rate": driver}, controllers=felt)


def test_an_acceleration_drives_a_row_of_speeds_through_a_filter_more():
    felt = {"felt": {"acceleration": {"frame": "rod"}}, "once": {"integral": "1 - 0.1*felt_bz"}}
    run = ts.simulate(turning(), until=1.0, every=0.1, inputs={"rate": {"integral": "once"}}, controllers=felt)
    assert run.audit().holds, run.audit()
    np.testing.assert_allclose(run["dda"], run["once"], atol=1e-9)


def test_all_inputs_that_cannot_drive_are_told_at_once_with_their_lines(tmp_path):
    study = tmp_path / "bad.yaml"
    study.write_text(
        "torseur_study: 1\n"
        "model:\n"
        "  name: both\n"
        "  bodies:\n"
        "    one: {joint: {kind: revolute, coordinate: a}, inertia: {ZZ: 1}}\n"
        "    two: {joint: {kind: revolute, coordinate: b}, inertia: {ZZ: 1}}\n"
        "  inputs: {u: {}, w: {}}\n"
        "  constraints:\n"
        "    first: {prescribed: {coordinate: a, equals: u}}\n"
        "    second: {speeds: {coefficients: {db: 1}, equals: w}}\n"
        "inputs:\n"
        "  u: 2*da\n"
        "  w: {sampled: {value: t, period: 0.1}}\n"
    )
    with pytest.raises(ts.ModelError) as caught:
        ts.simulate(study)
    places = [(fault.where or "").split("bad.yaml:")[-1] for fault in caught.value.faults]
    assert [place.split(":")[0] for place in places] == ["12", "13"]


# -- jumps -------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("method", ["dop853", "rk4", "newmark"])
@pytest.mark.parametrize(
    ("model", "inputs"),
    [
        (prescribed(), {"angle": {"ramp": {"start": 0.5, "slope": 2.0}}}),
        (turning(), {"rate": {"step": {"time": 0.5, "after": 2.0}}}),
        (prescribed(), {"angle": {"integral": "wanted"}}),
    ],
)
def test_speeds_jump_with_what_drives_them_and_the_audit_counts_the_energy(model, inputs, method):
    wanted = {"wanted": {"sampled": {"value": "4*floor(t + 0.5)/2", "period": 0.25}}}
    run = ts.simulate(model, until=1.0, every=0.05, inputs=inputs, controllers=wanted, solver=method)
    assert run.complete
    assert run.audit().holds, run.audit()
    np.testing.assert_allclose(run["da"], np.where(run.time < 0.5 - 1e-9, 0.0, 2.0), atol=1e-9)
    np.testing.assert_allclose(run["a"], np.maximum(2.0 * (run.time - 0.5), 0.0), atol=1e-9)


def test_a_rate_that_jumps_is_followed_whatever_the_number_of_steps_before():
    """Rows are looked at after every sixteen steps; at a break they are not met until the rates have followed."""
    solver = {"method": "dopri5", "longest": 0.01}
    for at in 0.5 + 0.01 * np.arange(16):
        steps = {"step": {"time": float(at), "after": 2.0}}
        run = ts.simulate(turning(), until=1.0, every=0.1, inputs={"rate": steps}, solver=solver)
        assert run.complete, run.reason
        assert run["a"][-1] == pytest.approx(2.0 * (1.0 - at), abs=1e-9)


def test_a_position_that_jumps_ends_the_run_with_its_reason():
    run = ts.simulate(prescribed(), until=1.0, inputs={"angle": {"step": {"time": 0.5, "after": 0.1}}})
    assert not run.complete
    assert "an input that drives a constraint jumps, and a cannot follow it" in (run.reason or "")
    assert run.time[-1] == pytest.approx(0.5)


def test_a_parameter_that_makes_a_driven_position_jump_ends_the_run():
    model = Mechanism.model_validate(
        prescribed().model_dump() | {"parameters": {"k": {"value": 1.0}}, "gravity": (G, 0.0, 0.0)}
    )
    changes = [{"at": 0.5, "set": {"k": 2.0}}]
    run = ts.simulate(model, until=1.0, inputs={"angle": "k*t"}, changes=changes)
    assert "an input that drives a constraint jumps" in (run.reason or "")
    run = ts.simulate(model, until=1.0, every=0.1, inputs={"angle": {"integral": "k"}}, changes=changes)
    assert run.complete
    assert run.audit().holds, run.audit()
    assert run["a"][-1] == pytest.approx(1.5)


# -- parameters of constraints that change on the way ------------------------------------------------------------------
def clutch(form, **more):
    """Two wheels that a parameter k couples; the first is driven by 1 N m."""
    wheels = {
        f"wheel_{n}": {"joint": {"kind": "revolute", "coordinate": n}, "inertia": {"M": 1.0, "ZZ": J}}
        for n, J in (("a", 1.0), ("b", 2.0))
    }
    pushed = {"drive": Effort(coordinate="a", value=1.0)}
    parameters = {"k": {"value": 0.0}, "s": {"value": 0.0}}
    return Mechanism(
        name="clutch", bodies=wheels, loads=pushed, parameters=parameters, constraints={"grip": form}, **more
    )


@pytest.mark.parametrize("changes", [[{"at": 0.5}], [{"event": "passed"}]], ids=["by the clock", "at an event"])
@pytest.mark.parametrize(
    "form", [{"speeds": {"coefficients": {"da": "k", "db": "-k"}}}, {"zero": "k*(a - b - s)"}], ids=["rates", "angles"]
)
def test_a_clutch_that_a_parameter_closes_is_an_impact_of_its_own(form, changes):
    blocks = {"passed": {"crossing": {"value": "a", "level": 0.125}}} if "event" in changes[0] else {}
    changes = [{**changes[0], "set": {"k": 1.0, "s": 0.125}}]
    run = ts.simulate(clutch(form), until=1.0, every=0.1, changes=changes, blocks=blocks)
    assert run.complete, run.reason
    assert run["da"][-1] == pytest.approx((0.5 + 0.5) / 3.0, abs=1e-9)
    assert run["db"][-1] == pytest.approx(run["da"][-1], abs=1e-12)
    assert run.audit().holds, run.audit()


def test_a_parameter_that_opens_a_constraint_ends_the_run_with_its_reason():
    run = ts.simulate(clutch({"zero": "k*(a - b)"}), until=1.0, every=0.1, changes=[{"at": 0.5, "set": {"k": 1.0}}])
    assert not run.complete
    assert run.time[-1] == pytest.approx(0.5)
    assert "a parameter of a constraint changes, and grip would be open by 0.125" in run.reason


@pytest.mark.parametrize("length", [0.41, 0.5, 2.0])
def test_a_rod_whose_length_jumps_ends_the_run_instead_of_jumping_with_it(length):
    linkage = cranks(2, lengths=(0.4, "crank"))
    changes = [{"at": 0.35, "set": {"crank": length}}]
    run = ts.simulate(linkage.mechanism, start={"q1": 0.7, "dq1": 1.0}, until=1.0, every=0.1, changes=changes)
    assert not run.complete
    assert "at t = 0.35 s" in run.reason
    assert "a parameter of a constraint changes" in run.reason


def test_a_run_with_jumps_goes_on_from_its_checkpoint_as_if_nothing_had_happened(tmp_path):
    study = {
        "until": 2.0,
        "every": 0.1,
        "inputs": {"angle": {"integral": "wanted"}},
        "controllers": {"wanted": {"sampled": {"value": "cos(t)", "period": 0.1}}},
        "solver": {"method": "dopri5", "longest": 0.001},
    }
    run = ts.simulate(prescribed(), checkpoint=tmp_path / "left", every_seconds=0.0, **study)
    again = ts.resume(tmp_path / "left")
    assert run.audit().holds, run.audit()
    for name in ("a", "da", "lambda_turned", "work_turned"):
        np.testing.assert_array_equal(again[name], run[name])
    assert again.audit().table == run.audit().table


def test_an_impact_at_a_recorded_instant_is_in_the_audit_and_the_speed_after_it_in_the_record():
    ball = Mechanism(
        name="ball",
        gravity=(0.0, 0.0, -8.0),
        bodies={"ball": {"joint": {"kind": "prismatic", "coordinate": "z"}, "inertia": {"M": 1.0}}},
        constraints={"ground": {"contact": {"gap": "z", "restitution": 0.5}}},
    )
    hit = ts.simulate(ball, until=0.75, start={"z": 1.0}).events[0].time
    run = ts.simulate(ball, until=0.75, every=hit, start={"z": 1.0})
    assert run.events[0].time == hit == run.time[1]
    np.testing.assert_allclose(run["dz"], [0.0, 2.0, 0.0], atol=1e-9)
    assert run.audit().holds, run.audit()


def test_on_a_grid_the_state_after_a_jump_takes_the_place_of_the_one_before():
    recorder = Recorder(np.array([0.0, 1.0]), np.empty((3, 2)), np.zeros(NUMBERS))
    recorder.begin(0.0, np.array([1.0]))
    recorder.begin(0.0, np.array([2.0]))
    times, states = recorder.arrays()
    assert times.tolist() == [0.0]
    assert states.tolist() == [[2.0]]


# -- starts ------------------------------------------------------------------------------------------------------------
def test_the_start_of_a_block_is_where_the_coordinate_starts_and_its_rate_the_speed():
    drive = {"integral": {"value": "2 + a", "start": 0.3}}
    run = ts.simulate(prescribed(), until=0.1, every=0.1, inputs={"angle": drive})
    assert (run["a"][0], run["da"][0]) == pytest.approx((0.3, 2.3), abs=1e-12)
    run = ts.simulate(prescribed(), until=0.1, every=0.1, start={"a": 0.3, "da": 2.3}, inputs={"angle": drive})
    assert (run["a"][0], run["da"][0]) == pytest.approx((0.3, 2.3), abs=1e-12)


def test_a_block_that_begins_with_what_it_drives_finds_a_start_that_fits():
    drive = {"lag": {"value": "1 + 0.5*a", "time": 1.0}}
    run = ts.simulate(prescribed(), until=0.1, every=0.1, inputs={"angle": drive})
    assert run["a"][0] == pytest.approx(2.0, abs=1e-9)  # settled: a = 1 + a/2
    with pytest.raises(ts.NumericalError, match="do not converge"):
        ts.simulate(prescribed(), inputs={"angle": {"lag": {"value": "1 + 2*a", "time": 1.0}}})


def test_a_signal_hands_its_rate_to_speeds_that_the_start_gives():
    run = ts.simulate(prescribed(), until=0.1, every=0.1, start={"da": 3.0}, inputs={"angle": "sin(3*t)"})
    assert run["da"][0] == pytest.approx(3.0, abs=1e-12)
    with pytest.raises(ts.NumericalError, match="da"):
        ts.simulate(prescribed(), start={"da": 1.0}, inputs={"angle": "sin(3*t)"})


@pytest.mark.parametrize("speed", [2.3, 2.0])
def test_a_given_start_is_judged_by_the_rate_of_what_drives_it(speed):
    drive, given = {"angle": {"integral": {"value": "2 + a", "start": 0.3}}}, {"a": 0.3, "da": speed}
    study = {"until": 0.1, "every": 0.1, "start_from": "given", "start": given, "inputs": drive}
    if speed == 2.3:
        assert ts.simulate(prescribed(), **study)["da"][0] == speed
    else:
        with pytest.raises(ts.NumericalError, match="turned moves with"):
            ts.simulate(prescribed(), **study)


# -- numbers of the run ------------------------------------------------------------------------------------------------
@pytest.fixture
def compiled(monkeypatch, tmp_path):
    """How many functions were compiled so far, with an empty cache."""
    monkeypatch.setenv("TORSEUR_CACHE", str(tmp_path / "cache"))
    count, assemble = [], source.assemble
    monkeypatch.setattr(source, "assemble", lambda *given: (count.append(1), assemble(*given))[1])
    return count


def pushed():
    cart = {"joint": {"kind": "prismatic", "coordinate": "x"}, "inertia": {"M": 2.0}}
    push = {"push": Effort(coordinate="x", value="f")}
    return Mechanism(name="pushed", gravity=(0.0, 0.0, 0.0), bodies={"cart": cart}, loads=push, inputs={"f": {}})


@pytest.mark.parametrize("solver", ["dop853", "rk4", "newmark"])
def test_another_constant_compiles_nothing(compiled, solver):
    ts.simulate(pushed(), until=1.0, inputs={"f": 2.0}, solver=solver)
    first = len(compiled)
    assert first
    for given, value in ((4.0, 4.0), ("180*deg", math.pi), ({"constant": {"value": -6.0}}, -6.0)):
        run = ts.simulate(pushed(), until=1.0, inputs={"f": given}, solver=solver)
        assert run["x"][-1] == pytest.approx(value / 4.0, rel=1e-9)
        assert run["f"][0] == run["f"][-1] == pytest.approx(value)
    assert len(compiled) == first


def test_another_constant_that_holds_a_constraint_compiles_nothing(compiled):
    for model, name in ((prescribed(), "angle"), (turning(), "rate")):
        ts.simulate(model, until=1.0, inputs={name: 0.2})
        first = len(compiled)
        run = ts.simulate(model, until=1.0, inputs={name: 0.5})
        assert len(compiled) == first
        assert run.audit().holds, run.audit()
        assert run["a"][-1] == pytest.approx(0.5)


def test_batches_take_constants_of_the_study_and_compile_nothing_for_others(compiled):
    rk4 = {"until": 1.0, "every": 0.5, "solver": {"method": "rk4", "step": 0.01}}
    many = simulate_many(pushed(), inputs={"f": [1.0, 2.0]}, **rk4)
    first = len(compiled)
    np.testing.assert_allclose(many["x"][:, -1], [0.25, 0.5], rtol=1e-12)
    study = ts.Study(model=pushed(), inputs={"f": 5.0}, **rk4)
    np.testing.assert_allclose(simulate_many(study, inputs={"f": [3.0, 4.0]})["x"][:, -1], [0.75, 1.0], rtol=1e-12)
    np.testing.assert_allclose(simulate_many(study, starts={"x": [0.0, 1.0]})["x"][:, -1], [1.25, 2.25], rtol=1e-12)
    assert len(compiled) == first
    with pytest.raises(ArgumentError, match="input that nothing drives"):
        simulate_many(ts.Study(model=pushed(), inputs={"f": "t"}, **rk4), inputs={"f": [1.0]})
    servo = {"servo": {"computed_torque": {"inputs": ["f"], "reference": {"x": 0.0}, "kp": 1.0}}}
    with pytest.raises(ArgumentError, match="input that nothing drives"):
        simulate_many(ts.Study(model=pushed(), blocks=servo, **rk4), inputs={"f": [1.0]})


@pytest.mark.parametrize("solver", ["rk4", "dop853"])
def test_every_run_of_a_batch_starts_where_its_own_inputs_hold_it(solver):
    many = simulate_many(prescribed(), inputs={"angle": [0.2, 1.5]}, until=0.1, every=0.1, solver=solver)
    np.testing.assert_allclose(many["a"], [[0.2, 0.2], [1.5, 1.5]], atol=1e-12)
    study = ts.Study(
        model=Mechanism.model_validate(prescribed().model_dump() | {"parameters": {"k": {"value": 1.0}}}),
        inputs={"angle": {"integral": {"value": "k", "start": "2*k"}}},
        until=0.1,
        every=0.1,
        solver={"method": solver},
    )
    many = simulate_many(study, parameters={"k": [0.1, 0.3]})
    np.testing.assert_allclose(many["a"], [[0.2, 0.21], [0.6, 0.63]], atol=1e-9)
    np.testing.assert_allclose(many["da"], [[0.1, 0.1], [0.3, 0.3]], atol=1e-9)
    assert many.run(1).audit().holds


def test_a_constant_input_is_still_driven_once_only():
    servo = {"servo": {"computed_torque": {"inputs": ["f"], "reference": {"x": 0.0}, "kp": 1.0}}}
    with pytest.raises(ts.ModelError, match="'f' is driven twice"):
        ts.simulate(pushed(), inputs={"f": 1.0}, controllers=servo)


def test_a_reference_that_is_an_input_has_the_rate_of_what_drives_it():
    model = Mechanism.model_validate(pushed().model_dump() | {"loads": {}, "inputs": {"f": {}, "wish": {}}})
    model = model.model_copy(update={"loads": pushed().loads})
    pd = {"pd": {"value": "x", "rate": "dx", "reference": "wish", "kp": 400.0, "kd": 40.0}}
    given = {"until": 3.0, "start": {"dx": 1.0}}
    by_input = ts.simulate(model, inputs={"wish": "sin(t)", "f": pd}, **given)
    pd = {"pd": {**pd["pd"], "reference": "sin(t)"}}
    np.testing.assert_allclose(by_input["x"], ts.simulate(model, inputs={"f": pd}, **given)["x"], atol=1e-12)
    still = ts.simulate(model, inputs={"wish": 0.5, "f": {"pd": {**pd["pd"], "reference": "wish"}}}, **given)
    assert still["x"][-1] == pytest.approx(0.5, abs=1e-6)


# -- multipliers -------------------------------------------------------------------------------------------------------
def disc():
    return Mechanism(
        name="disc",
        base={
            "kind": "floating",
            "coordinates": {"x": {}, "y": {}, "z": {"start": 0.3}, "qw": {"start": 1}, "qx": {}, "qy": {}, "qz": {}},
            "inertia": {"mass": 2.0, "tensor": {"xx": 0.045, "yy": 0.09, "zz": 0.045}},
        },
        constraints={"ground": {"rolling": {"wheel": "base", "axle": "y", "radius": 0.3}}},
    )


def test_blocks_and_outputs_read_multipliers_of_free_equations():
    run = ts.simulate(
        slide({"line": {"zero": "y - 0.5*x"}}, ()),
        until=1.0,
        every=0.1,
        controllers={"seen": {"lag": {"value": "lambda_line", "time": 0.1, "start": 0.0}}, "double": "2*lambda_line"},
        outputs={"load": {"value": "lambda_line + seen", "unit": "N", "description": "both"}},
    )
    weight = 2.0 * G / 1.25  # m g = lambda (1 + 0.5^2), by A vdot = 0
    np.testing.assert_allclose(run["lambda_line"], weight, rtol=1e-12)
    np.testing.assert_allclose(run["double"], 2.0 * weight, rtol=1e-12)
    np.testing.assert_allclose(run["seen"], weight * (1.0 - np.exp(-run.time / 0.1)), atol=1e-7)
    np.testing.assert_allclose(run["load"], run["lambda_line"] + run["seen"], rtol=1e-12)
    assert (run.channel("load").unit, run.channel("load").meaning) == ("N", "both")


def test_blocks_read_each_row_of_what_rolls():
    rows = {f"seen_{part}": f"lambda_ground_{part}" for part in ("height", "ahead", "sideways")}
    start = {"vx": 1.0, "wy": 1.0 / 0.3, "wx": 0.05}
    run = ts.simulate(disc(), until=1.0, every=0.1, start=start, controllers=rows)
    for part in ("height", "ahead", "sideways"):
        np.testing.assert_array_equal(run[f"seen_{part}"], run[f"lambda_ground_{part}"])
    assert run["seen_height"][0] == pytest.approx(2.0 * G, rel=0.01)
    assert np.abs(run["seen_sideways"]).max() > 1e-3


def test_a_multiplier_ends_a_run_by_an_event():
    lifted = slide({"lift": {"zero": "y + 0.5*t^3"}}, ())
    watch = {"loose": {"saturation": {"value": "lambda_lift", "lower": 5.0, "upper": 100.0, "locate": True}}}
    run = ts.simulate(
        lifted, until=5.0, controllers=watch, changes=[{"event": "loose_lower", "stop": True}], every=0.01
    )
    assert run.time[-1] == pytest.approx((G - 2.5) / 3.0, abs=1e-9)  # 2 (g - 3 t) = 5


def test_a_force_cannot_read_a_multiplier_of_its_own_instant():
    push = {"push": {"force": {"speed": "vx", "value": "-0.1*lambda_line"}}}
    with pytest.raises(ts.ModelError, match="an algebraic loop"):
        ts.simulate(slide({"line": {"zero": "y - 0.5*x"}}, ()), controllers=push)


@pytest.mark.parametrize(
    ("name", "what"), [("lambda_lime", "unknown name"), ("lambda_line_x", "there is no multiplier 'lambda_line_x'")]
)
def test_a_multiplier_that_does_not_exist_is_told_with_what_it_may_be(name, what):
    with pytest.raises(ts.ModelError, match=what) as caught:
        ts.simulate(slide({"line": {"zero": "y - 0.5*x"}}, ()), controllers={"seen": name})
    assert "lambda_line" in (caught.value.remedy or "")


def test_an_output_of_the_study_takes_the_place_of_one_of_the_model():
    model = Mechanism.model_validate(pushed().model_dump() | {"loads": {}, "outputs": {"place": {"value": "x"}}})
    outputs, rate = {"place": {"value": "2*x + rate"}}, {"rate": "dx"}
    run = ts.simulate(model, until=1.0, every=0.5, start={"dx": 1.0}, outputs=outputs, controllers=rate)
    np.testing.assert_allclose(run["place"], [1.0, 2.0, 3.0], atol=1e-12)


# -- inside ------------------------------------------------------------------------------------------------------------
def test_newton_knows_how_a_driven_row_follows_its_state():
    drive = {"integral": {"value": "cos(t) + a", "start": 0.3}}
    study = {"until": 1.0, "every": 0.1, "solver": {"method": "generalised_alpha", "step": 0.01}}
    run = ts.simulate(prescribed(), inputs={"angle": drive}, **study)
    assert run.info["newton"] <= 2 * run.info["steps"]


def test_a_controller_that_knows_the_mechanism_knows_the_rates_of_what_is_driven():
    """Of two carts the first is driven; the force that makes the second one follow it answers for its acceleration."""
    drawn = carts(constraints={"held": {"prescribed": {"coordinate": "x", "equals": "place"}}})
    tied = {**drawn.constraints, "gear": Constraint.model_validate({"zero": "y - 2*x - lift"})}
    body = {"joint": {"kind": "prismatic", "coordinate": "lift"}, "inertia": {"M": 1.0}}
    bodies = {**drawn.bodies, "third": Body.model_validate(body)}
    model = drawn.model_copy(update={"constraints": tied, "bodies": bodies})
    servo = {"servo": {"computed_torque": {"speeds": ["dlift"], "reference": {"lift": "0.1*t"}, "kp": 100.0}}}
    drive = {"place": {"integral": {"value": "cos(3*t)"}}}
    run = ts.simulate(model, until=1.0, every=0.1, start={"dlift": 0.1}, inputs=drive, controllers=servo)
    assert run.audit().holds, run.audit()
    np.testing.assert_allclose(run["lift"], 0.1 * run.time, atol=1e-9)
    np.testing.assert_allclose(run["x"], np.sin(3.0 * run.time) / 3.0, atol=1e-9)
