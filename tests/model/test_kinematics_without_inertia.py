"""Kinematics needs lengths, not masses: parameters that a function does not depend on need no value."""

import numpy as np
import pytest

import torseur as ts
from torseur.cli import main
from torseur.describe import Mechanism
from torseur.errors import MissingValue, ModelError
from torseur.formats.yaml.reader import read_yaml

FOUR_BAR = """
torseur: 1
name: four_bar
parameters: {l: 1.0, m: , Izz: , g: , k: }
gravity: [0, -g, 0]
bodies:
  crank:
    joint: {kind: revolute, coordinate: q1, start: 1.2}
    inertia: {mass: m, tensor: [0, 0, Izz]}
    frames: {tip: [l, 0, 0]}
  coupler:
    parent: crank
    pose: [l, 0, 0]
    joint: {kind: revolute, coordinate: q2, start: -0.8}
    inertia: {mass: m, tensor: [0, 0, Izz]}
    frames: {end: [2, 0, 0]}
  rocker:
    pose: [2, 0, 0]
    joint: {kind: revolute, coordinate: q3, start: 1.4}
    inertia: {mass: m, tensor: [0, 0, Izz]}
    frames: {other_end: [1.5, 0, 0]}
loops: {pin: {joint: revolute, between: [end, other_end]}}
loads: {spring: {spring: {coordinate: q1, stiffness: k}}}
"""


@pytest.fixture(scope="module")
def symbolic() -> Mechanism:
    return read_yaml(FOUR_BAR)


@pytest.fixture(scope="module")
def massless(symbolic) -> Mechanism:
    bodies = {name: body.model_copy(update={"inertia": None}) for name, body in symbolic.bodies.items()}
    return symbolic.model_copy(update={"bodies": bodies})


def test_pose_and_jacobian_ask_for_lengths_only(symbolic):
    model = ts.build(symbolic)
    q = np.array([0.3, 0.2, 0.1])
    np.testing.assert_allclose(model.pose(q, "tip")[:2, 3], [np.cos(0.3), np.sin(0.3)], atol=1e-15)
    assert model.function("pose", "tip").used_parameters == ("l",)
    np.testing.assert_allclose(model.jacobian(q, "tip")[:, 0], [0, 1, 0, 0, 0, 1], atol=1e-15)
    assert model.pose(q, "tip", parameters={"l": 2.0})[0, 3] == pytest.approx(2.0 * np.cos(0.3))


def test_a_length_without_a_value_is_asked_for_and_nothing_else(symbolic):
    free = symbolic.model_copy(update={"parameters": {**symbolic.parameters, "l": type(symbolic.parameters["l"])()}})
    with pytest.raises(MissingValue) as told:
        ts.build(free).pose(np.zeros(3), "tip")
    assert told.value.got == "l"
    with pytest.raises(MissingValue) as told:
        ts.assemble(free)
    assert told.value.got == "l"


def test_dynamics_still_asks_for_what_it_needs(symbolic):
    model = ts.build(symbolic)
    with pytest.raises(MissingValue) as told:
        model.mass_matrix(np.zeros(3))
    assert told.value.got == "m, Izz"
    with pytest.raises(ModelError) as told:
        ts.simulate(symbolic)
    assert told.value.got == "m, Izz, g, k"


@pytest.mark.parametrize("kind", ["symbolic", "massless"])
def test_loops_close_and_mobility_is_known_without_inertias(kind, request):
    mechanism = request.getfixturevalue(kind)
    closed = ts.assemble(mechanism)
    assert closed.gap < 1e-12
    assert ts.build(mechanism).mobility().freedoms == 1


@pytest.mark.parametrize("kind", ["symbolic", "massless"])
def test_speeds_are_the_nearest_allowed_ones_without_inertias(kind, request):
    mechanism = request.getfixturevalue(kind)
    model = ts.build(mechanism)
    found = ts.assemble(mechanism, speeds={"dq1": 1.0})
    A = model.constraint_jacobian(found.q)
    np.testing.assert_allclose(A @ found.v, 0.0, atol=1e-12)
    wish = np.array([1.0, 0.0, 0.0])
    np.testing.assert_allclose(found.v, wish - np.linalg.pinv(A) @ A @ wish, atol=1e-12)
    held = ts.assemble(mechanism, speeds={"dq1": 1.0}, hold=("dq1",))
    np.testing.assert_allclose(A @ held.v, 0.0, atol=1e-12)
    assert held.v[0] == 1.0


def test_check_and_draw_need_no_inertias(tmp_path, capsys):
    file = tmp_path / "four_bar.yaml"
    file.write_text(FOUR_BAR)
    assert main(["check", str(file)]) == 0
    assert "1 degree of freedom" in capsys.readouterr().out
    assert main(["draw", str(file), "-o", str(tmp_path / "four_bar.svg")]) == 0


def test_check_says_which_length_is_missing(tmp_path, capsys):
    file = tmp_path / "four_bar.yaml"
    file.write_text(FOUR_BAR.replace("l: 1.0", "l: "))
    assert main(["check", str(file)]) == 0
    assert "degrees of freedom not computed: no value for l\n" in capsys.readouterr().out


# -- coordinates of frames ---------------------------------------------------------------------------------------------
FRAME = """
torseur: 1
name: slider
coordinates: {s: {unit: m, start: 0.2}}
bodies:
  arm:
    joint: {kind: revolute, coordinate: q1}
    inertia: {M: 1, MX: 0.5, ZZ: 0.3}
    frames: {tip: {steps: [{tx: 1 + s}]}}
"""


def test_a_coordinate_that_only_a_frame_uses_has_kinematics():
    mechanism = read_yaml(FRAME)
    model = ts.build(mechanism)
    np.testing.assert_allclose(model.pose([0.3, 0.5], "tip")[:2, 3], 1.5 * np.array([np.cos(0.3), np.sin(0.3)]))
    assert model.jacobian([0.3, 0.5], "tip").shape == (6, 2)
    assert model.mobility().freedoms == 2
    np.testing.assert_allclose(model.mass_matrix([0.3, 0.5]), np.diag([0.3, 0.0]))


def test_its_acceleration_is_not_defined_unless_it_is_prescribed():
    with pytest.raises(ModelError, match="ds moves no mass"):
        ts.build(read_yaml(FRAME)).forward_dynamics([0.3, 0.5], [0.0, 0.0], [0.0, 0.0])
    driven = read_yaml(FRAME + "constraints: {drive: {prescribed: {coordinate: s, equals: 0.2 + 0.1*t}}}\n")
    run = ts.simulate(driven, until=1.0, start={"dq1": 1.0})
    assert run["s"][-1] == pytest.approx(0.3, abs=1e-9)


def test_check_calls_it_a_note(tmp_path, capsys):
    file = tmp_path / "slider.yaml"
    file.write_text(FRAME)
    assert main(["check", str(file), "--strict"]) == 0
    assert "coordinates.s: only frames depend on s" in capsys.readouterr().out
