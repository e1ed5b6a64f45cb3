"""A model like another one: entries replaced, added and left out; faults with the places of their own files."""

import pytest

import torseur as ts
from torseur.errors import ModelError
from torseur.formats.yaml.reader import read_yaml
from torseur.simulation.study.reader import load_study

NUMBERS = "torseur_parameters: 1\nparameters: {m: 2.0, l: 0.5}\n"
ROD = """torseur: 1
name: rod
title: a rod
parameters_from: numbers.yaml
parameters: {k: 3.0}
bodies:
  rod:
    mdh: {alpha: pi/2}
    joint: {kind: revolute, coordinate: q1}
    inertia: {mass: m, centre: [l/2, 0, 0], tensor: [0, m*l^2/12, m*l^2/12]}
loads:
  spring: {spring: {coordinate: q1, stiffness: k}}
  push: {effort: {coordinate: q1, value: u}}
inputs: {u: 0}
"""


@pytest.fixture
def load(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "numbers.yaml").write_text(NUMBERS)
    (tmp_path / "parts" / "rod.yaml").write_text(ROD)

    def loaded(text, base=None):
        if base is not None:
            (tmp_path / "parts" / "rod.yaml").write_text(base)
        (tmp_path / "mine.yaml").write_text(text)
        return ts.load(tmp_path / "mine.yaml")

    loaded.folder = tmp_path
    return loaded


def test_nothing_but_another_name(load):
    found = load("torseur: 1\nlike: parts/rod.yaml\nname: mine\n")
    assert found == ts.load(load.folder / "parts" / "rod.yaml").model_copy(update={"name": "mine"})


def test_entries_are_replaced_added_and_left_out(load):
    text = "torseur: 1\nlike: parts/rod.yaml\nparameters: {m: 4.0, k: null, c: 7.0}\n"
    text += "loads: {spring: null, stop: {spring: {coordinate: q1, stiffness: c}}}\n"
    found = load(text)
    assert {name: p.value for name, p in found.parameters.items()} == {"m": 4.0, "l": 0.5, "c": 7.0}
    assert set(found.loads) == {"push", "stop"}
    assert (found.name, found.title) == ("rod", "a rod")
    assert len(found.bodies) == 1


def test_a_model_like_one_that_is_like_another(load):
    (load.folder / "second.yaml").write_text("torseur: 1\nlike: parts/rod.yaml\nname: second\nloads: {push: null}\n")
    found = load("torseur: 1\nlike: second.yaml\nname: third\ninputs: {u: null}\n")
    assert (found.name, set(found.loads), set(found.inputs)) == ("third", {"spring"}, set())


def test_a_study_changes_its_model_in_place(load):
    text = "torseur_study: 1\nmodel: {like: parts/rod.yaml, name: mine, loads: {spring: null}}\n"
    (load.folder / "study.yaml").write_text(text)
    assert set(load_study(load.folder / "study.yaml").model.loads) == {"push"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("like: ../rod.yaml", "beside the model only"),
        ("like: none.yaml", "was not found"),
        ("like: [a]", "expected: the name of a file"),
        ("like: mine.yaml", "at most 8"),
        ("like: parts/numbers.yaml", r"numbers\.yaml:1:1"),
        ("like: parts/rod.yaml\nloads: {sprung: null}", "mine.yaml:3:17: loads.sprung"),
        ("like: parts/rod.yaml\nparameters: {m: null}", "unknown name 'm'"),
    ],
)
def test_what_is_wrong_is_told(load, text, said):
    with pytest.raises(ModelError, match=said):
        load(f"torseur: 1\n{text}\n")


def test_faults_of_the_other_model_have_their_own_places(load):
    with pytest.raises(ModelError, match=r"rod\.yaml:12:37: loads\.spring"):
        load("torseur: 1\nlike: parts/rod.yaml\n", ROD.replace("stiffness: k}", "stifness: k}"))


def test_a_text_without_a_folder_is_like_no_file():
    with pytest.raises(ModelError, match="it is not in a file"):
        read_yaml("torseur: 1\nlike: rod.yaml\nname: mine\n")
