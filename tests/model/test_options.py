"""Options given as words: every public one takes its words, refuses others with the list, and is used or refused."""

from __future__ import annotations

import numpy as np
import pytest

import torseur as ts
from support.example_files import EXAMPLES
from torseur.dynamics.tree.kinematics import Axes, Task
from torseur.emit import compile, integrator
from torseur.emit.text import to_c
from torseur.errors import TorseurError
from torseur.graph import Function, Graph, jacobian, table

ARM = ts.load(EXAMPLES / "planar_2r" / "planar_2r.yaml")
MODEL = ts.build(ARM)
Q, V = np.array([0.3, 0.4]), np.array([0.2, -0.1])

G = Graph()
X = G.symbol("x")
F = Function("f", [G.blocks["x"]], {"y": X * X})

WORDS = {
    "axes of a Jacobian": (lambda word: MODEL.jacobian(Q, "tool", axes=word), ("own", "world")),
    "axes of equations": (lambda word: ts.equations(ARM, "jacobian", frame="tool", axes=word), ("own", "world")),
    "axes of a space": (
        lambda word: MODEL.operational_space(Q, V, "tool", axes=word, task="position"),
        ("own", "world"),
    ),
    "task": (lambda word: MODEL.operational_space(Q, V, "tool", task=word), ("pose", "position", "orientation")),
    "task of equations": (
        lambda word: ts.equations(ARM, "operational_space", frame="tool", task=word),
        ("pose", "position", "orientation"),
    ),
    "role": (lambda word: Graph().symbol("x", word), ("parameter", "time", "input", "state")),
    "kind of a table": (lambda word: table(X, [0, 1, 2], [0, 1, 0], word), ("linear", "monotone cubic")),
    "outside of a table": (lambda word: table(X, [0, 1], [0, 1], outside=word), ("hold", "extend")),
    "mode": (lambda word: jacobian([X * X], [X], word), ("forward", "reverse", "automatic")),
    "precision": (lambda word: to_c(F, word), ("double", "single")),
    "tier": (lambda word: compile(F, tier=word), ("quick", "full")),
    "tier of an integrator": (lambda word: integrator(F, tier=word), ("quick", "full")),
    "backend": (lambda word: compile(F, backend=word), ("automatic", "native", "numpy")),
}


@pytest.mark.parametrize("name", WORDS)
def test_words_are_taken_and_others_refused_with_the_list(name):
    use, words = WORDS[name]
    for word in words:
        use(word)
    for wrong in ("sideways", words[0].upper(), 3, None):
        with pytest.raises(TorseurError) as error:
            use(wrong)
        assert all(repr(word) in str(error.value) for word in words)


def test_words_mean_what_they_say():
    own, world = (MODEL.jacobian(Q, "tool", axes=word) for word in ("own", "world"))
    R = MODEL.pose(Q, "tool")[:3, :3]
    np.testing.assert_allclose(world[:3], R @ own[:3], atol=1e-14)
    np.testing.assert_array_equal(world, MODEL.jacobian(Q, "tool", Axes.WORLD))
    one, two = (MODEL.operational_space(Q, V, "tool", task=x) for x in ("position", Task.POSITION))
    np.testing.assert_array_equal(one[0], two[0])
    assert one[0].shape == (3, 3)


@pytest.mark.parametrize(
    "options",
    [{"frame": "tool"}, {"axes": "world"}, {"task": "position"}, {"independent": "dtheta1"}, {"actuated": "theta1"}],
)
def test_an_option_that_a_quantity_does_not_know_is_refused_and_not_ignored(options):
    for use in (lambda: ts.equations(ARM, "inverse_dynamics", **options), lambda: MODEL.function("bias", **options)):
        with pytest.raises(TorseurError, match="does not depend on what was asked"):
            use()


def test_one_name_may_stand_for_a_list_of_one():
    bar = ts.load(EXAMPLES / "four_bar" / "four_bar.yaml")
    one, two = (ts.equations(bar, "reduced_mass_matrix", independent=x).text() for x in ("dq1", ["dq1"]))
    assert one == two


# -- where results are written -----------------------------------------------------------------------------------------
@pytest.mark.parametrize("batch", [(), (5,)])
@pytest.mark.parametrize("quantity", ["inverse_dynamics", "kinetic_energy", "inverse_dynamics_derivatives"])
def test_what_a_call_gave_can_be_given_to_the_next_as_the_place_of_its_results(quantity, batch):
    rng = np.random.default_rng(2)
    call = MODEL.function(quantity)
    n = 2 if quantity == "kinetic_energy" else 3
    args, others = rng.normal(size=(2, n, *batch, 2))
    earlier, expected = call(*args), call(*others)
    found = call(*others, out=earlier)
    np.testing.assert_array_equal(np.asarray(found), np.asarray(expected))
    if quantity == "inverse_dynamics":
        assert found is earlier


def test_results_may_be_written_over_the_arguments():
    rng = np.random.default_rng(2)
    q, v, a = rng.normal(size=(3, 7, 2))
    expected = MODEL.inverse_dynamics(q, v, a.copy())
    place = a.copy()
    assert MODEL.inverse_dynamics(q, v, place, out=place) is place
    np.testing.assert_array_equal(place, expected)
    line = np.vstack([np.zeros((1, 2)), a])
    np.testing.assert_array_equal(MODEL.inverse_dynamics(q, v, line[1:], out=line[:-1], threads=2), expected)


@pytest.mark.parametrize("option", ["actuated", "independent"])
def test_joint_forces_of_a_tree_take_no_option_of_closed_mechanisms(option):
    arm, linkage = (ts.load(EXAMPLES / name / f"{name}.yaml") for name in ("planar_2r", "four_bar"))
    with pytest.raises(TorseurError, match=f"does not depend on what was asked(.|\n)*{option}"):
        ts.equations(arm, "joint_forces", **{option: ["theta1"]})
    ts.equations(linkage, "joint_forces", **{option: ["q1"]})
