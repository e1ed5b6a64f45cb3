"""Named quantities: formulas with a name, usable in every formula, recorded in runs, printed in equations."""

import numpy as np
import pytest

import torseur as ts
from torseur.errors import ModelError
from torseur.formats.yaml.reader import read_yaml
from torseur.formats.yaml.writer import write_yaml

MODEL = """
torseur: 1
name: pendulum
parameters: {m: 2, l: 0.5, g: 9.81, twice: 2*half_length, k: 3}
quantities:
  half_length: l/2
  height: {value: l*(1 - cos(q)), unit: m, description: above the lowest point}
  lift: {value: k*height, unit: N m}
  wish: {value: 0.3*sin(t), unit: rad}
  pull: lift - u*wish
gravity: [g, 0, 0]
inputs: {u: }
bodies:
  rod:
    joint: {kind: revolute, coordinate: q}
    inertia: {M: m, MX: m*half_length, ZZ: m*twice^2/3}
    frames: {tip: [2*half_length, 0, 0]}
  slide:
    parent: rod
    joint: {kind: prismatic, coordinate: s}
    inertia: {M: 1, ZZ: 0.1}
constraints:
  follow: {zero: s - 0.1*height - 0.01*wish}
loads:
  motor: {effort: {coordinate: q, value: pull - 0.1*dq}}
outputs: {double: 2*pull}
"""
PLAIN = (
    MODEL.replace("twice: 2*half_length", "twice: l")
    .replace("m*half_length", "m*l/2")
    .replace("2*half_length", "l")
    .replace("value: pull - 0.1*dq", 'value: "k*l*(1 - cos(q)) - u*0.3*sin(t) - 0.1*dq"')
    .replace("zero: s - 0.1*height - 0.01*wish", 'zero: "s - 0.1*l*(1 - cos(q)) - 0.003*sin(t)"')
    .replace("double: 2*pull", 'double: "2*(k*l*(1 - cos(q)) - u*0.3*sin(t))"')
)
PLAIN = PLAIN[: PLAIN.index("quantities:")] + PLAIN[PLAIN.index("gravity:") :]


def test_a_model_with_quantities_moves_as_the_one_written_out():
    study = {"start": {"q": 0.4}, "inputs": {"u": "1 + t"}, "until": 1.0, "every": 0.05}
    named, plain = (ts.simulate(read_yaml(text), **study) for text in (MODEL, PLAIN))
    for channel in ("q", "s", "double"):
        np.testing.assert_allclose(named[channel], plain[channel], rtol=1e-9, atol=1e-12)


def test_quantities_are_recorded_with_unit_and_meaning():
    run = ts.simulate(read_yaml(MODEL), start={"q": 0.4}, until=0.5, inputs={"u": 1.0})
    np.testing.assert_allclose(run["height"], 0.5 * (1 - np.cos(run["q"])), rtol=1e-12)
    np.testing.assert_allclose(run["double"], 2 * run["pull"], rtol=1e-12)
    channel = run.channels["height"]
    assert (channel.unit, channel.meaning) == ("m", "above the lowest point")


def test_blocks_and_outputs_of_a_study_use_quantities(tmp_path):
    (tmp_path / "model.yaml").write_text(MODEL)
    study = """
torseur_study: 1
model: model.yaml
start: {q: 0.4}
blocks: {filtered: {lag: {value: height, time: 0.1}}}
inputs: {u: 2*filtered + wish}
outputs: {more: {value: height + 1}}
until: 0.5
"""
    (tmp_path / "study.yaml").write_text(study)
    run = ts.simulate(tmp_path / "study.yaml")
    np.testing.assert_allclose(run["more"], run["height"] + 1.0)
    np.testing.assert_allclose(run["u"], 2 * run["filtered"] + 0.3 * np.sin(run.time), rtol=1e-9, atol=1e-12)


def test_constraints_know_the_rates_of_quantities_that_signals_drive():
    text = MODEL.replace("zero: s - 0.1*height - 0.01*wish", "prescribed: {coordinate: s, equals: goal}")
    text = text.replace("  wish:", "  goal: 0.1*u\n  wish:")
    run = ts.simulate(read_yaml(text), start={"q": 0.4}, until=0.5, inputs={"u": "sin(3*t)"})
    np.testing.assert_allclose(run["s"], 0.1 * np.sin(3 * run.time), atol=1e-9)


def test_equations_print_the_names_of_quantities():
    text = ts.equations(read_yaml(MODEL), "bias").text()
    assert "height = " in text
    assert "lift = " in text or "lift =" in text
    negative = read_yaml(MODEL.replace("lift: {value: k*height", "lift: {value: -k*height"))
    assert "minus_lift = " in ts.equations(negative, "bias").text()


def test_quantities_come_back_equal_from_yaml_and_stay_in_place_of_a_body():
    mechanism = read_yaml(MODEL)
    assert read_yaml(write_yaml(mechanism)) == mechanism
    cam = """
torseur: 1
name: cam
coordinates: {q: {unit: rad}}
quantities: {lift: 0.1*sin(q), half: lift/2}
bodies:
  follower: {steps: [{tz: 0.2 + half}], inertia: {M: 3}}
"""
    model = ts.build(read_yaml(cam))
    assert model.pose([0.7], "follower")[2, 3] == pytest.approx(0.2 + 0.05 * np.sin(0.7))
    assert model.mass_matrix([0.7])[0, 0] == pytest.approx(3 * (0.05 * np.cos(0.7)) ** 2)


def test_quantities_are_written_out_in_other_formats(tmp_path):
    arm = """
torseur: 1
name: arm
parameters: {l: 0.5, m: 2}
quantities: {half: l/2, tau: u - 2*dq}
inputs: {u: }
bodies:
  rod: {joint: {kind: revolute, coordinate: q}, inertia: {M: m, MX: m*half, ZZ: m*half^2}}
loads: {motor: {effort: {coordinate: q, value: tau}}}
"""
    mechanism = read_yaml(arm)
    ts.save(mechanism, tmp_path / "arm.par")
    again = ts.load(tmp_path / "arm.par")
    state = ([0.3], [0.5], [1.0])
    found = [ts.build(m).inverse_dynamics(*state, inputs={"u": 4.0}) for m in (mechanism, again)]
    np.testing.assert_allclose(found[1], found[0], rtol=1e-12)


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("half_length: l/2", "half_length: l/2 + q", "'half_length' is a quantity; it cannot be used here"),
        ("lift: {value: k*height", "lift: {value: k*pull", "circular definition in quantities"),
        ("lift: {value: k*height", "lift: {value: k*hight", "unknown name 'hight'"),
        ("outputs: {double: 2*pull}", "outputs: {lift: 2*pull}", "the name 'lift' is taken"),
        ("inputs: {u: }", "inputs: {u: , wish: }", "the name 'wish' is taken"),
        ("value: l*(1 - cos(q))", "value: l*dq", "'height' is a quantity; it cannot be used here"),
    ],
)
def test_a_quantity_may_be_used_where_all_it_is_made_of_may(old, new, what):
    with pytest.raises(ModelError) as told:
        read_yaml(MODEL.replace(old, new))
    assert what in str(told.value)
