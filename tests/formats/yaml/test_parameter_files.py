"""Parameters in a file of their own: read like the model's, refused with their own lines, never from elsewhere."""

import pytest

import torseur as ts
from torseur.errors import ModelError
from torseur.formats.yaml.reader import read_yaml

MODEL = """torseur: 1
name: pendulum
parameters_from: {file}
parameters: {{J: m*l^2/3}}
bodies:
  rod:
    mdh: {{alpha: pi/2}}
    joint: {{kind: revolute, coordinate: q1}}
    inertia: {{mass: m, centre: [l/2, 0, 0], tensor: [0, J, J]}}
"""
NUMBERS = "torseur_parameters: 1\nparameters:\n  m: 2.0\n  l: {value: 0.5, unit: m, description: length}\n"


@pytest.fixture
def load(tmp_path):
    def loaded(numbers, file="data/numbers.yaml", model=MODEL):
        (tmp_path / "data").mkdir(exist_ok=True)
        (tmp_path / "data" / "numbers.yaml").write_text(numbers)
        (tmp_path / "model.yaml").write_text(model.format(file=file))
        return ts.load(tmp_path / "model.yaml")

    return loaded


def test_a_model_with_a_file_of_parameters_is_the_model_with_them_inside(load, tmp_path):
    found = load(NUMBERS)
    inside = MODEL.format(file="x").replace("parameters_from: x\n", "")
    inside = inside.replace("{J:", "{m: 2.0, l: {value: 0.5, unit: m, description: length}, J:")
    (tmp_path / "whole.yaml").write_text(inside)
    assert found == ts.load(tmp_path / "whole.yaml")
    assert list(found.parameters) == ["m", "l", "J"]


def test_another_file_is_another_set_of_numbers(load):
    assert load(NUMBERS.replace("2.0", "3.0")).parameters["m"].value == 3.0


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        (NUMBERS.replace("m: 2.0", "m: {valu: 2.0}"), r"numbers\.yaml:3:7: parameters\.m"),
        (NUMBERS.replace("m: 2.0", "m: 2.0\n  m: 3.0"), r"numbers\.yaml:4:3"),
        (NUMBERS.replace("torseur_parameters: 1\n", ""), "this is not a file of parameters"),
        (NUMBERS + "bodies: {}\n", "a key that is not known"),
        ("torseur_parameters: 1\n", "there are no parameters"),
        (NUMBERS.replace("m: 2.0", "J: 2.0"), "in data/numbers.yaml as well"),
        (NUMBERS.replace("m: 2.0", "m: 2.0*mm"), "unknown name 'mm'"),
    ],
)
def test_what_is_wrong_in_it_is_told(load, numbers, said):
    with pytest.raises(ModelError, match=said):
        load(numbers)


@pytest.mark.parametrize(
    ("file", "said"),
    [("../numbers.yaml", "beside the model only"), ("missing.yaml", "not found"), ("[a]", "cannot be read from there")],
)
def test_only_files_beside_the_model_are_read(load, file, said):
    with pytest.raises(ModelError, match=said):
        load(NUMBERS, file)


def test_a_text_without_a_folder_has_no_files():
    with pytest.raises(ModelError, match="it is not in a file"):
        read_yaml(MODEL.format(file="numbers.yaml"))
