"""Vehicle files made of others: a vehicle to begin with, a file of parameters, a tyre file."""

import json

import pytest

import torseur as ts
from support.vehicles import CAR, merged, vehicle
from torseur.errors import ModelError
from torseur.packs.vehicles.document import load_vehicle

TYRE = "torseur_tyre: 1\ndugoff: {longitudinal_stiffness: 80000, cornering_stiffness: grip*1000}\n"
NUMBERS = "torseur_parameters: 1\nparameters: {k: {value: 30000, unit: N/m, description: stiffness}, grip: 60}\n"


@pytest.fixture
def folder(tmp_path):
    """parts/ holds a car with its numbers and its tyre; beside it stands what a test writes."""
    parts = tmp_path / "parts"
    parts.mkdir()
    axle = {"suspension": {"strut": {"stiffness": "k"}}, "tyre": {"own": {"file": "tyre.yaml"}}}
    axles = {name: merged({k: v for k, v in CAR["axles"][name].items() if k != "tyre"}, axle) for name in CAR["axles"]}
    data = CAR | {"parameters_from": "numbers.yaml", "axles": axles}
    (parts / "tyre.yaml").write_text(TYRE)
    (parts / "numbers.yaml").write_text(NUMBERS)
    (parts / "car.yaml").write_text(json.dumps(data))
    return tmp_path


def mine(folder, **data):
    return vehicle({"torseur_vehicle": 1, "like": "parts/car.yaml", "name": "mine", **data}, folder)


def test_parameters_and_tyres_come_out_of_their_files(folder):
    car = ts.load(folder / "parts" / "car.yaml")
    assert car.parameters["k"].value == 30000
    assert car.parameters["k"].unit == "N/m"
    assert car.loads["front_left"].law.kind == "dugoff"
    assert car.loads["front_left"].law.cornering_stiffness.text == "grip*1000"


def test_what_a_file_does_not_say_again_is_that_of_the_other(folder):
    made, other = mine(folder), ts.load(folder / "parts" / "car.yaml")
    assert made.name == "mine"
    assert made.model_copy(update={"name": "car"}) == other


def test_tables_are_joined_axles_field_by_field_and_parts_replaced(folder):
    axles = {"rear": {"suspension": {"rigid": {}}, "drive": 1}, "front": {"drive": 0}}
    made = mine(folder, parameters={"grip": 40, "more": 1}, axles=axles, steering={"kind": "torque"})
    assert {name: p.value for name, p in made.parameters.items()} == {"k": 30000, "grip": 40, "more": 1}
    assert "travel_front_left" in [x.name for x in made.q]
    assert "travel_rear_left" not in [x.name for x in made.q]  # the strut is gone, not mixed with what came
    assert "drive_rear_left" in made.loads
    assert "drive_front_left" not in made.loads
    assert made.loads["rear_left"].law.kind == "dugoff"  # from the folder of the other
    assert "steering_torque" in made.inputs


def test_a_parameter_file_takes_the_place_of_another(folder):
    (folder / "lighter.yaml").write_text("torseur_parameters: 1\nparameters: {k: 20000}\n")
    made = mine(folder, parameters_from="lighter.yaml")
    assert {name: p.value for name, p in made.parameters.items()} == {"k": 20000, "grip": 60}


@pytest.mark.parametrize(
    ("file", "text", "told"),
    [
        ("numbers.yaml", "torseur_parameters: 1\nparameters:\n  k: [1]\n", "numbers.yaml:3:"),
        ("numbers.yaml", "k: 1\n", "'torseur_parameters: 1'"),
        ("tyre.yaml", "torseur_tyre: 1\ndugof: {}\n", "tyre.yaml:1:1"),
        (
            "tyre.yaml",
            "torseur_tyre: 1\ndugoff: {longitudinal_stiffness: 1, cornering_stifness: 2}\n",
            "cornering_stifness",
        ),
        ("car.yaml", "torseur_vehicle: 1\nname: car\n", "car.yaml:1:1: 'chassis' is missing"),
        ("car.yaml", "torseur_vehicle: 1\nname: car\nlike: car.yaml\n", "at most 8"),
    ],
)
def test_faults_of_the_other_files_are_told_with_their_own_places(folder, file, text, told):
    (folder / "parts" / file).write_text(text)
    with pytest.raises(ModelError) as error:
        mine(folder)
    assert told in str(error.value)


def test_a_file_that_is_missing_is_named(folder):
    with pytest.raises(ModelError) as error:
        mine(folder, parameters_from="none.yaml")
    assert "none.yaml" in str(error.value)
    assert "not found" in str(error.value)


def test_what_a_vehicle_says_is_read_before_it_is_expanded(folder):
    found = load_vehicle(folder / "parts" / "car.yaml")
    assert found.axles["front"].tyre.file == "tyre.yaml"


def test_a_tyre_law_without_a_radius_has_that_of_its_wheel(folder):
    """Rolling resistance is a moment, and a wheel has a radius already."""
    rolling = {"cornering_stiffness": 60000, "rolling_resistance": 0.012}
    own, given = {"linear": rolling}, {"linear": {**rolling, "radius": 0.29}}
    made = mine(folder, axles={"front": {"tyre": own}, "rear": {"tyre": given}})
    assert [made.loads[f"{axle}_left"].law.radius for axle in ("front", "rear")] == [0.3, 0.29]
