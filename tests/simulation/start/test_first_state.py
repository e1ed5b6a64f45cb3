"""Starts: what is named is held, the rest adapts, contradictions are named, and every run says how it began."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

import torseur as ts
from support.overconstrained_linkages import cranks
from torseur.cli import main
from torseur.describe import Effort, Mechanism, SpringDamper
from torseur.errors import ModelError, NumericalError
from torseur.formats.yaml.reader import read_yaml

R, L = 0.3, 1.0
CRANK = f"""\
name: crank
parameters: {{r: {{value: {R}}}, l: {{value: {L}}}}}
bodies:
  crank:
    mdh: {{alpha: pi/2}}
    joint: {{kind: revolute, coordinate: q1}}
    inertia: {{mass: 1, centre: [r/2, 0, 0], tensor: [0, 0.01, 0.01]}}
  rod:
    parent: crank
    mdh: {{d: r}}
    joint: {{kind: revolute, coordinate: q2}}
    inertia: {{mass: 1, centre: [l/2, 0, 0], tensor: [0, 0.1, 0.1]}}
    frames: {{pin: [l, 0, 0]}}
  slider:
    steps: [{{ry: pi/2}}]
    joint: {{kind: prismatic, coordinate: x, guess: 1.2}}
    inertia: {{mass: 1}}
    frames: {{eye: {{steps: [{{rx: pi/2}}]}}}}
  beside:
    joint: {{kind: revolute, coordinate: p}}
    inertia: {{mass: 1, tensor: [0.1, 0.1, 0.1]}}
loops:
  wrist: {{joint: revolute, between: [pin, eye]}}
"""
"""A crank, a rod and a slider on the x axis; and a body that has nothing to do with them."""


def crank(**coordinates):
    """The mechanism, with fields of its coordinates: q1={"start": 1.0}."""
    text = CRANK
    for name, fields in coordinates.items():
        text = text.replace(", guess: 1.2", "") if name == "x" else text
        more = "".join(f", {key}: {value}" for key, value in fields.items())
        text = text.replace(f"coordinate: {name}", f"coordinate: {name}{more}")
    return read_yaml("torseur: 1\n" + text)


def place(q1):
    """x and q2 of the crank at an angle, the slider ahead."""
    down = math.asin(R * math.sin(q1) / L)
    return R * math.cos(q1) + L * math.cos(down), -down - q1


def rate(q1):
    """dx/dq1."""
    s = R * math.sin(q1)
    return -s - s * R * math.cos(q1) / math.sqrt(L**2 - s**2)


def began(what, **fields):
    """A short run."""
    return ts.simulate(what, until=0.02, every=0.01, **fields)


def refused(what, **fields):
    with pytest.raises((NumericalError, ModelError)) as caught:
        began(what, **fields)
    return caught.value


# -- singular positions ------------------------------------------------------------------------------------------------
FLAT = {"q1": 0.0, "q2": 0.0, "plate_turn": 0.0}


def flat(**fields):
    """Two cranks of 0.4 m at a distance of 1 m, with the rod between them along one line."""
    return ts.simulate(cranks(2, lengths=(0.4, "crank")).mechanism, until=0.5, every=0.1, **fields)


def test_a_start_from_which_a_linkage_can_go_on_in_two_ways_is_refused_with_both():
    with pytest.raises(NumericalError, match="go on in several ways") as error:
        flat(start={**FLAT, "dq1": 1.0})
    assert "dq1 = 1, dq2 = 1, dplate_turn = -1" in error.value.expected
    assert "dq1 = 1, dq2 = -2.33333333, dplate_turn = -2.33333333" in error.value.expected


@pytest.mark.parametrize(("dq2", "follows"), [(1.0, lambda q1: q1), (-7.0 / 3.0, None)], ids=["parallel", "crossed"])
def test_one_more_speed_chooses_the_way(dq2, follows):
    run = flat(start={**FLAT, "dq1": 1.0, "dq2": dq2})
    assert run.complete, run.reason
    assert run.audit().holds, run.audit()
    if follows:
        np.testing.assert_allclose(run["q2"], follows(run["q1"]), atol=1e-9)
    else:
        assert np.all(run["q2"][1:] < -0.1)
        assert np.all(run["q1"][1:] > 0.05)


@pytest.mark.parametrize("start_from", ["assembled", "given"])
def test_speeds_that_no_motion_has_are_refused_at_a_singular_position(start_from):
    speeds = {"dq1": 1.0, "dq2": 0.5, "dplate_turn": -1.2}
    with pytest.raises(NumericalError, match="no motion goes on with these speeds"):
        flat(start={**FLAT, **speeds}, start_from=start_from)


@pytest.mark.parametrize("start", [{"dq1": 1.0}, {"q1": 0.7, "dq1": 1.0}], ids=["speed", "position"])
def test_a_linkage_of_few_digits_that_closes_but_cannot_move_is_explained(start):
    """A parallelogram with a third crank a little too long: it closes, where it lies flat, and is rigid."""
    inexact = cranks(3, lengths=(0.4, 0.4, "crank")).mechanism
    with pytest.raises(NumericalError, match="do not allow this start") as error:
        ts.simulate(inexact, parameters={"crank": 0.400001}, until=0.1, start=start)
    assert "more digits" in error.value.remedy


def test_of_many_runs_the_one_that_starts_at_a_singular_position_is_looked_at_alone():
    linkage = cranks(2).mechanism
    guess, solver = {"q2": 0.1, "plate_turn": -0.1}, {"method": "rk4", "step": 0.01}
    with pytest.raises(NumericalError, match="go on in several ways"):
        ts.simulate_many(linkage, starts={"q1": [0.3, 0.0], "dq1": [1.0, 1.0]}, guess=guess, until=0.1, solver=solver)


# -- held --------------------------------------------------------------------------------------------------------------
def test_what_is_named_is_held_to_the_last_digit_and_the_rest_adapts():
    run = began(crank(), start={"q1": 1.0, "dq1": 6.0})
    assert (run["q1"][0], run["dq1"][0]) == (1.0, 6.0)
    x, q2 = place(1.0)
    assert run["x"][0] == pytest.approx(x, abs=1e-12)
    assert run["q2"][0] == pytest.approx(q2, abs=1e-12)
    assert run["dx"][0] == pytest.approx(6.0 * rate(1.0), abs=1e-11)
    assert run.start["held"] == ["q1", "dq1"]
    assert run.start["values"] == {n: run[n][0] for n in ("q1", "q2", "x", "p", "dq1", "dq2", "dx", "dp")}


def test_a_start_of_the_model_is_held_like_the_same_number_in_a_study():
    in_model = began(crank(q1={"start": 1.0, "start_speed": 6.0}))
    in_study = began(crank(), start={"q1": 1.0, "dq1": 6.0})
    for name in ("q1", "q2", "x", "dq1", "dq2", "dx"):
        assert (in_model[name] == in_study[name]).all()
    assert in_model.start["held"] == ["q1", "dq1"]


def test_a_guess_moves_and_chooses_the_branch_in_study_and_model():
    ahead, _ = place(1.0)
    behind = 2.0 * R * math.cos(1.0) - ahead
    by_study = began(crank(), start={"q1": 1.0}, guess={"x": -1.0, "q2": 2.0})
    by_model = began(crank(q1={"start": 1.0}, x={"guess": -1.0}, q2={"guess": 2.0}))
    for run in (by_study, by_model):
        assert run["x"][0] == pytest.approx(behind, abs=1e-12)
    assert by_study.start["moved"]["x"] == -1.0


def test_a_guess_of_the_study_frees_what_the_model_holds():
    model = crank(q1={"start": 1.0}, x={"start": 1.1297})
    run = began(model, start={"q1": 1.0}, guess={"x": 1.12})
    assert run["q1"][0] == 1.0
    assert run["x"][0] == pytest.approx(place(1.0)[0], abs=1e-12)


def test_a_guess_of_speeds_moves_to_what_is_allowed():
    run = began(crank(), start={"q1": 1.0}, guess={"dq1": 6.0, "dx": 1.0})
    assert run["dx"][0] == pytest.approx(run["dq1"][0] * rate(1.0), abs=1e-11)
    assert run["dq1"][0] not in (6.0, 0.0)


# -- contradictions ----------------------------------------------------------------------------------------------------
def numbers_of(text):
    return {name: float(value) for name, value in re.findall(r"(\w+) = (-?[\d.e+-]+\d)", text)}


def test_speeds_that_contradict_each_other_are_named_with_the_values_that_would_fit():
    error = refused(crank(), start={"q1": 1.0, "dq1": 6.0, "dx": 1.0, "dp": 2.0})
    assert "dq1, dx contradict each other" in error.what
    assert error.got == "dq1 = 6, dx = 1"
    first, second = error.expected.split(", or ")
    assert numbers_of(first)["dq1"] == pytest.approx(1.0 / rate(1.0), rel=1e-7)
    assert numbers_of(second)["dx"] == pytest.approx(6.0 * rate(1.0), rel=1e-7)


def test_positions_that_contradict_each_other_are_named_without_those_that_do_not():
    error = refused(crank(), start={"p": 0.4, "q1": 1.0, "x": 1.1, "dp": 2.0})
    assert "q1, x contradict each other" in error.what
    assert error.where == "start"
    first, second = error.expected.split(", or ")
    assert place(numbers_of(first)["q1"])[0] == pytest.approx(1.1, abs=1e-7)
    assert numbers_of(first)["q1"] == pytest.approx(1.0, abs=0.2)
    assert numbers_of(second)["x"] == pytest.approx(place(1.0)[0], rel=1e-7)


def test_a_value_out_of_reach_is_named_alone_with_the_nearest_one():
    error = refused(crank(), start={"p": 0.4, "x": 5.0})
    assert "x cannot have this value" in error.what
    assert error.where == "start.x"
    assert numbers_of(error.expected)["x"] == pytest.approx(R + L, abs=1e-6)


def test_a_model_that_contradicts_itself_is_refused_with_the_places_of_its_entries():
    error = refused(crank(q1={"start": 1.0, "start_speed": 6.0}, x={"guess": 1.2, "start_speed": 1.0}))
    assert error.got == "dq1 = 6, dx = 1"
    assert "bodies.crank.joint.coordinates.q1.start_speed" in error.where
    assert "bodies.slider.joint.coordinates.x.start_speed" in error.where


def test_the_study_wins_over_the_model_and_the_run_says_what_gave_way():
    x, q2 = place(0.5)
    model = crank(q1={"start": 0.5}, q2={"start": repr(q2)}, x={"start": repr(x)}, p={"start": 0.4})
    assert began(model).start["moved"] == {}
    run = began(model, start={"q1": 1.0})
    assert run["q1"][0] == 1.0
    assert run["x"][0] == pytest.approx(place(1.0)[0], abs=1e-12)
    assert run["p"][0] == 0.4
    assert run.start["moved"] == {"q2": q2, "x": x}
    longer = began(model, parameters={"l": 1.1})
    assert set(longer.start["moved"]) >= {"x"}


def test_a_contradiction_is_told_on_the_command_line_with_its_line(tmp_path, capsys):
    study = "torseur_study: 1\nuntil: 0.1\nstart: {q1: 1, dq1: 6, dx: 1}\nmodel:\n"
    study += "".join(f"  {line}\n" for line in CRANK.splitlines())
    (tmp_path / "a.yaml").write_text(study)
    folder = str(tmp_path / "out")
    options = ["-o", folder, "--no-figures", "--no-playback"]
    assert main(["simulate", str(tmp_path / "a.yaml"), *options]) == 1
    said = capsys.readouterr().err
    assert "a.yaml:3:1: start: the loops and constraints do not allow this start: dq1, dx contradict each other" in said
    (tmp_path / "a.yaml").write_text(study.replace("dq1: 6, dx: 1}", "dq1: 6}\nguess: {x: 1, dx: 1}"))
    assert main(["simulate", str(tmp_path / "a.yaml"), *options]) == 0
    out = capsys.readouterr().out
    assert (
        "initial state: assembled\n  given: q1 = 1, dq1 = 6\n  adjusted: x = 1.1297 (from 1), dx = -1.76838 (from 1)"
        in out
    )
    assert main(["simulate", str(tmp_path / "a.yaml"), "--set", "x=1.1", *options]) == 1
    assert "q1, x contradict each other" in capsys.readouterr().err


# -- rounded numbers ---------------------------------------------------------------------------------------------------
def typed(digits, off=0):
    """A closed position, written with some digits; the slider off by some units of the last."""
    x, q2 = place(1.0)
    return {"q1": 1.0, "q2": round(q2, digits), "x": round(round(x, digits) + off * 10.0**-digits, digits)}


@pytest.mark.parametrize("digits", [4, 6, 9])
def test_values_that_were_rounded_move_within_their_last_digit(digits):
    start = typed(digits)
    run = began(crank(), start=start)
    assert run["q1"][0] == 1.0
    for name in ("q2", "x"):
        assert abs(run[name][0] - start[name]) <= 10.0**-digits
    assert run.audit().holds


@pytest.mark.parametrize("digits", [4, 6])
def test_values_off_by_more_than_rounding_contradict_each_other(digits):
    assert "contradict each other" in refused(crank(), start=typed(digits, off=3)).what


def test_numbers_of_few_digits_are_meant_exactly():
    error = refused(crank(), start={"q1": 1.0, "x": 1.13})
    assert error.got == "q1 = 1, x = 1.13"


@pytest.mark.parametrize("start_from", ["assembled", "given"])
def test_a_run_goes_on_from_the_end_of_another(start_from):
    names = ("q1", "q2", "x", "p", "dq1", "dq2", "dx", "dp")
    run = ts.simulate(crank(), until=1.0, every=0.01, start={"q1": 1.0, "dq1": 6.0, "dp": 1.0}, solver="rk4")
    k = 40
    again = ts.simulate(
        crank(),
        begin=float(run.time[k]),
        until=1.0,
        every=0.01,
        solver="rk4",
        start={n: float(run[n][k]) for n in names},
        start_from=start_from,
    )
    for name in names:
        np.testing.assert_allclose(again[name], run[name][k:], atol=1e-9)


# -- as given ----------------------------------------------------------------------------------------------------------
def test_a_given_start_is_as_it_is_to_the_last_bit():
    x, q2 = place(1.0)
    start = {"q1": 1.0, "q2": q2, "x": x + 3e-10, "dq1": 6.0, "dx": 6.0 * rate(1.0)}
    start["dq2"] = -6.0 * (1.0 + R * math.cos(1.0) / math.sqrt(L**2 - (R * math.sin(1.0)) ** 2))
    run = began(crank(), start=start, start_from="given")
    assert all(run[n][0] == value for n, value in start.items())


def test_a_given_start_that_is_open_or_slips_is_refused_row_by_row():
    x, q2 = place(1.0)
    error = refused(crank(), start={"q1": 1.0, "q2": q2, "x": x + 1e-3, "dx": 0.5}, start_from="given")
    assert "wrist_x is open by" in error.got or "wrist_y is open by" in error.got
    assert "m/s" in error.got
    assert error.where == "start"
    just = refused(crank(), start={"q1": 1.0, "q2": q2, "x": x + 2e-9}, start_from="given")
    assert "e-09 m" in just.got


def test_a_guess_has_no_place_in_a_given_start():
    assert "nothing moves in a start that is given" in refused(crank(), guess={"x": 1.0}, start_from="given").what


# -- quaternions -------------------------------------------------------------------------------------------------------
TOP = Mechanism.model_validate(
    {
        "name": "top",
        "bodies": {
            "top": {
                "joint": {"kind": "spherical", "coordinates": {n: {} for n in ("qw", "qx", "qy", "qz")}},
                "inertia": {"M": 1.0, "MZ": 0.5, "XX": 0.4, "YY": 0.4, "ZZ": 0.2},
            }
        },
    }
)


def test_a_component_of_a_quaternion_is_held_and_the_others_make_its_length_one():
    run = began(TOP, start={"qx": 0.6})
    assert run["qx"][0] == pytest.approx(0.6, abs=1e-15)
    assert run["qw"][0] == pytest.approx(0.8, abs=1e-15)


def test_a_quaternion_that_cannot_have_unit_length_is_refused():
    assert "contradict each other" in refused(TOP, start={"qw": 0.9, "qx": 0.9}).what
    assert "has length 0.7" in refused(TOP, start={"qw": 0.7}, start_from="given").got


def test_a_rounded_quaternion_is_taken_for_the_unit_one_it_means():
    run = began(TOP, start={"qw": 0.7071, "qx": 0.7071, "qy": 0.0, "qz": 0.0})
    assert run["qw"][0] == pytest.approx(math.sqrt(0.5), abs=1e-12)
    assert set(run.start["moved"]) == {"qw", "qx"}


# -- at rest -----------------------------------------------------------------------------------------------------------
def pendulum(damping=0.5, **more):
    rod = {"joint": {"kind": "revolute", "coordinate": "a"}, "inertia": {"M": 1.0, "MX": 0.5, "ZZ": 0.4}}
    return Mechanism(
        name="pendulum",
        gravity=(9.81, 0.0, 0.0),
        bodies={"rod": rod},
        loads={"air": SpringDamper(coordinate="a", damping=damping)},
        **more,
    )


def test_a_start_at_rest_is_found_from_the_start_as_a_guess_and_its_stability_told():
    below = began(pendulum(), start={"a": 0.4}, start_from="equilibrium")
    assert below["a"][0] == pytest.approx(0.0, abs=1e-9)
    assert below.start["stability"] == "stable"
    assert below.start["moved"] == {"a": 0.4}
    above = began(pendulum(), guess={"a": 3.0}, start_from="equilibrium")
    assert above["a"][0] == pytest.approx(math.pi, abs=1e-9)
    assert above.start["stability"] == "unstable"
    assert began(pendulum(damping=0.0), start_from="equilibrium").start["stability"] == "neutral"


def test_speeds_have_no_place_in_a_start_at_rest_and_those_of_the_model_give_way():
    assert refused(pendulum(), start={"da": 1.0}, start_from="equilibrium").where == "start.da"
    run = began(crank(q1={"guess": -1.5, "start_speed": 6.0}), start_from="equilibrium")
    assert run["dq1"][0] == 0.0
    assert run.start["moved"]["dq1"] == 6.0
    assert run["q1"][-1] == pytest.approx(run["q1"][0], abs=1e-9)


def test_a_rest_that_a_controller_disturbs_is_refused():
    held = pendulum(inputs={"u": {}})
    held = held.model_copy(update={"loads": {**held.loads, "motor": Effort(coordinate="a", value="u")}})
    assert began(held, inputs={"u": 2.0}, start_from="equilibrium")["a"][0] == pytest.approx(math.asin(2 / 4.905))
    error = refused(held, inputs={"u": "3*(1 - a)"}, start_from="equilibrium")
    assert error.where == "start_from"
    assert "not at rest" in error.what


def test_at_rest_on_the_floor_or_above_it():
    body = {"joint": {"kind": "prismatic", "coordinate": "z"}, "inertia": {"M": 1.0}}
    floor = {"below": {"contact": {"frame": "ball"}}}
    lying = Mechanism(name="ball", bodies={"ball": body}, constraints=floor)
    assert began(lying, start={"z": 0.3}, start_from="equilibrium")["z"][0] == pytest.approx(0.0, abs=1e-9)
    spring = SpringDamper(coordinate="z", stiffness=100.0, rest=0.5)
    hanging = Mechanism(name="ball", bodies={"ball": body}, constraints=floor, loads={"spring": spring})
    run = began(hanging, start={"z": 0.3}, start_from="equilibrium")
    assert run["z"][0] == pytest.approx(0.5 - 9.81 / 100.0, abs=1e-9)


def test_an_unstable_rest_is_said_on_the_command_line(tmp_path, capsys):
    model = "  name: pendulum\n  gravity: [9.81, 0, 0]\n  bodies:\n    rod:\n"
    model += "      joint: {kind: revolute, coordinate: a}\n      inertia: {M: 1, MX: 0.5, ZZ: 0.4}\n"
    (tmp_path / "a.yaml").write_text(
        f"torseur_study: 1\nuntil: 0.1\nstart: {{a: 3}}\nstart_from: equilibrium\nmodel:\n{model}"
    )
    options = ["-o", str(tmp_path / "out"), "--no-figures", "--no-playback"]
    assert main(["simulate", str(tmp_path / "a.yaml"), *options]) == 0
    assert "initial state: at rest, unstable: some small disturbances grow" in capsys.readouterr().out


def test_a_motion_without_mass_is_refused_by_name():
    light = CRANK.replace("mass: 1", "mass: m").replace("parameters: {", "parameters: {m: 0, ")
    light = light.replace("0.01, 0.01]", "0.01*m, 0.01*m]").replace("[0, 0.1, 0.1]", "[0, 0.1*m, 0.1*m]")
    mechanism = read_yaml("torseur: 1\n" + light)
    error = refused(mechanism, start={"q1": 0.4, "dq1": 1.0})
    assert error.what == "no mass moves along dq1, dq2, dx"
    assert began(mechanism, start={"q1": 0.4, "dq1": 1.0}, parameters={"m": 1e-6}).complete


# -- contacts ----------------------------------------------------------------------------------------------------------
def wheel(lifts):
    """A wheel in the vertical plane x z that rolls on the ground."""
    return read_yaml(f"""
torseur: 1
name: wheel
bodies:
  along: {{steps: [{{ry: pi/2}}], joint: {{kind: prismatic, coordinate: x}}}}
  up: {{parent: along, steps: [{{ry: -pi/2}}], joint: {{kind: prismatic, coordinate: z, start: 0.3}}}}
  wheel:
    parent: up
    steps: [{{rx: -pi/2}}]
    joint: {{kind: revolute, coordinate: turn}}
    inertia: {{mass: 2, tensor: [0.05, 0.05, 0.1]}}
constraints: {{ground: {{rolling: {{wheel: wheel, radius: 0.3, lifts: {str(lifts).lower()}}}}}}}
""")


@pytest.mark.parametrize("lifts", [False, True])
def test_a_wheel_that_touches_the_ground_turns_with_the_speed_that_is_held(lifts):
    run = began(wheel(lifts), start={"dx": 1.5})
    assert run["dx"][0] == 1.5
    assert run["dturn"][0] == pytest.approx(5.0, abs=1e-12)
    assert "dx, dturn contradict" in refused(wheel(lifts), start={"dturn": 0.0, "dx": 1.5}).what


def test_a_wheel_in_the_air_turns_as_it_likes():
    run = began(wheel(True), start={"dx": 1.5, "z": 0.5})
    assert run["dturn"][0] == 0.0


def test_a_given_start_whose_wheel_slips_on_the_ground_is_refused():
    assert "ground_ahead moves with" in refused(wheel(True), start={"dx": 1.5}, start_from="given").got


def test_a_motion_that_is_prescribed_gives_the_speed_or_contradicts_it():
    model = read_yaml("""
torseur: 1
name: driven
bodies: {a: {joint: {kind: revolute, coordinate: q}, inertia: {mass: 1, tensor: [1, 1, 1]}}}
constraints: {given: {prescribed: {coordinate: q, equals: 0.5 + 2*t}}}
""")
    run = began(model)
    assert (run["q"][0], run["dq"][0]) == (0.5, 2.0)
    error = refused(model, start={"dq": 1.0})
    assert error.where == "start.dq"
    assert error.expected == "nearest: dq = 2"


# -- many runs ---------------------------------------------------------------------------------------------------------
FIXED = {"until": 0.02, "every": 0.01, "solver": {"method": "rk4", "step": 1e-3}}


@pytest.mark.parametrize("solver", [FIXED["solver"], "dop853"], ids=["in lanes", "one by one"])
def test_each_of_many_runs_starts_as_it_would_alone(solver):
    x, q2 = place(0.5)
    model = crank(q1={"start": 0.5}, q2={"start": repr(q2)}, x={"start": repr(x)})
    turns = np.array([0.5, 1.0, -0.7])
    many = ts.simulate_many(model, starts={"q1": turns, "dq1": 6.0}, **{**FIXED, "solver": solver})
    for k, q1 in enumerate(turns):
        assert many["q1"][k, 0] == q1
        assert many["x"][k, 0] == pytest.approx(place(q1)[0], abs=1e-12)
        assert many["dx"][k, 0] == pytest.approx(6.0 * rate(q1), abs=1e-11)
        alone = ts.simulate(model, start={"q1": q1, "dq1": 6.0}, **{**FIXED, "solver": solver})
        np.testing.assert_allclose(many["x"][k], alone["x"], atol=1e-10)
        assert many.run(k).start["held"] == alone.start["held"]
        assert set(many.run(k).start["moved"]) == set(alone.start["moved"])


@pytest.mark.parametrize("solver", [FIXED["solver"], "dop853"], ids=["in lanes", "one by one"])
def test_the_run_that_cannot_start_is_named(solver):
    starts = {"q1": [0.0, 1.0], "dq1": 6.0, "dx": 0.0}
    with pytest.raises(NumericalError, match="dq1, dx contradict each other") as caught:
        ts.simulate_many(crank(), starts=starts, **{**FIXED, "solver": solver})
    assert caught.value.where == "run 1: start"


def test_formulas_of_the_start_follow_the_parameters_of_each_run():
    model = crank(x={"start": "r + l"})
    many = ts.simulate_many(model, parameters={"l": [1.0, 1.25]}, **FIXED)
    np.testing.assert_allclose(many["x"][:, 0], [1.3, 1.55], atol=1e-12)
    many = ts.simulate_many(model, parameters={"l": [1.0, 1.25]}, until=0.02, every=0.01)
    np.testing.assert_allclose(many["x"][:, 0], [1.3, 1.55], atol=1e-12)


def test_many_runs_at_rest_each_find_their_own():
    many = ts.simulate_many(crank(q1={"guess": -1.5}), parameters={"l": [1.0, 1.2]}, start_from="equilibrium", **FIXED)
    np.testing.assert_allclose(many["q1"][:, -1], many["q1"][:, 0], atol=1e-9)
    assert many["x"][0, 0] != many["x"][1, 0]


# -- kept --------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("ending", ["nc", "csv"])
def test_the_start_is_kept_in_files(ending, tmp_path):
    run = began(crank(), start={"q1": 1.0}, guess={"dx": 1.0})
    run.save(tmp_path / f"a.{ending}")
    assert dict(ts.open_run(tmp_path / f"a.{ending}").start) == dict(run.start)


def test_a_run_that_goes_on_still_knows_how_it_began(tmp_path):
    left = tmp_path / "left"
    run = ts.simulate(crank(), start={"q1": 1.0, "dq1": 6.0}, until=3.0, checkpoint=left, every_seconds=0.0)
    assert dict(ts.resume(left).start) == dict(run.start)
