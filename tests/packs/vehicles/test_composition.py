"""Vehicle files made of others: a vehicle to begin with, a file of parameters, a tyre file."""

import json
import math

import pytest

import torseur as ts
from support.vehicles import CAR, merged, vehicle
from torseur.errors import ModelError
from torseur.packs.vehicles.document import load_vehicle
from torseur.packs.vehicles.layout import Layout

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


# -- steering and loads at rest of vehicles with parts of their own ----------------------------------------------------
ARM = """
torseur: 1
name: arm
parameters: {axle_x: {}, axle_y: {}, hub_z: {}}
bodies:
  arm: {pose: [axle_x, axle_y, hub_z], joint: {kind: prismatic, coordinate: lift}, inertia: {M: 5}}
  turn: {parent: arm, joint: {kind: revolute, coordinate: turn}, inertia: {ZZ: 0.3}, frames: {hub: [0, 0, 0]}}
loads: {spring: {spring: {coordinate: lift, stiffness: 20000, damping: 2000, rest: 0.2}}}
"""
TRAILER = {
    "parts": {
        "bodies": {
            "trailer": {
                "pose": {"position": [-2.5, 0, 0]},
                "joint": {"kind": "revolute"},
                "inertia": {"mass": 500, "centre": [-3, 0, 0], "tensor": {"xx": 100, "yy": 400, "zz": 400}},
            }
        }
    },
    "axles": {
        "trailer": {
            **merged(CAR["axles"]["rear"], {"brake": None, "suspension": {"strut": None, "rigid": {}}}),
            **{"body": "trailer", "x": -3, "hub_height": -0.2},
        },
    },
}


def wheel_angle(model, wheel, mean):
    return model.constraints[f"guided_steer_{wheel}"].prescribed.equals.value({"steering": mean})


def given(preload=4000, **changes):
    """The car, whose struts know their preload."""
    strut = {"suspension": {"strut": {"preload": preload}}}
    return merged(merged(CAR, {"axles": {"front": strut, "rear": strut}}), changes)


@pytest.mark.parametrize("more", [{}, TRAILER], ids=["alone", "with a trailer"])
def test_by_ackermann_all_wheels_of_the_vehicle_turn_about_one_point_on_the_line_of_its_rear_axle(tmp_path, more):
    made = vehicle(merged(given(steering={"ackermann": 1}), more), tmp_path)
    mean, length, track = 0.2, 2.6, 1.5
    R = length / math.tan(mean)
    for wheel, y in (("front_left", track / 2), ("front_right", -track / 2)):
        assert math.tan(wheel_angle(made, wheel, mean)) == pytest.approx(length / (R - y), rel=1e-12)


def test_where_the_chassis_has_no_unsteered_axle_ackermann_asks_where_it_turns(tmp_path):
    swung = {"parts": {"bodies": {"swing": {"pose": [-1.4, 0, 0], "joint": {"kind": "revolute", "axis": "x"}}}}}
    rear = {"body": "swing", "x": 0, "hub_height": -0.2}
    data = given(steering={"ackermann": 1}, axles={"rear": rear}, **swung)
    with pytest.raises(ModelError, match=r"(?s)steering\.ackermann.*unsteered_x"):
        vehicle(data, tmp_path)
    made = vehicle(merged(data, {"steering": {"unsteered_x": -1.4}}), tmp_path)
    assert wheel_angle(made, "front_left", 0.2) == wheel_angle(
        vehicle(given(steering={"ackermann": 1}), tmp_path), "front_left", 0.2
    )


def test_what_steering_says_holds_for_suspensions_of_ones_own(tmp_path):
    (tmp_path / "arm.yaml").write_text(ARM)
    own = {"suspension": {"strut": None, "own": {"file": "arm.yaml", "steer": "turn"}}}
    made = vehicle(given(axles={"front": own}, steering={"kind": "torque", "damping": 30}), tmp_path)
    assert made.loads["steering_damper_front_left"].damping == 30
    assert made.loads["steering_damper_front_left"].coordinate == "front_left_turn"
    with pytest.raises(ModelError, match=r"(?s)steering\.inertia.*front_left_turn"):
        vehicle(given(axles={"front": own}, steering={"kind": "torque", "inertia": 1}), tmp_path)
    own["suspension"]["own"] = {"file": "arm.yaml"}
    with pytest.raises(ModelError, match=r"(?s)suspension\.own\.steer"):
        vehicle(given(axles={"front": own}), tmp_path)


SOLIDS = [
    {"box": [4, 1.6, 0.5], "mass": 900, "place": [0.1, 0, 0]},
    {"cylinder": {"radius": 0.3, "length": 1}, "density": 500, "place": [1, 0, 0]},
    {"tube": {"radius": 0.3, "inner": 0.2, "length": 2}, "density": 700},
    {"cone": {"radius": 0.4, "length": 0.6}, "density": 400, "place": [-1, 0, 0]},
    {"sphere": {"radius": 0.2}, "density": 900, "place": {"pose": {"position": [-0.5, 0, 0], "rpy": [0.3, 0, 0]}}},
]


@pytest.mark.parametrize("chassis", [{"solids": SOLIDS}, SOLIDS[1], SOLIDS[3]], ids=["several", "one", "cone"])
def test_preloads_of_solids_carry_their_weight_and_moment(tmp_path, chassis):
    """Of the whole model, by its own mass and centre of mass."""
    payload = {"bag": {"at": [-1, 0, 0], "inertia": SOLIDS[0]}}
    data = CAR | {"chassis": {"height": 0.5, "inertia": chassis}, "payload": payload}
    made = vehicle(data, tmp_path)
    front, rear = (-2 * made.loads[f"preload_{axle}_left"].value.value({}) for axle in ("front", "rear"))
    layout = Layout(made.model_copy(update={"loads": {k: v for k, v in made.loads.items() if v.kind == "tyre"}}))
    unsprung = {"wheel_front_left": 1.2, "wheel_rear_left": -1.4}
    mass = layout.mass - sum(2 * 20 for _ in unsprung)
    moment = layout.centre[0] * layout.mass - sum(2 * 20 * x for x in unsprung.values())
    assert front + rear == pytest.approx(9.81 * mass, rel=1e-12)
    assert 1.2 * front - 1.4 * rear == pytest.approx(9.81 * moment, rel=1e-12)


def test_solids_whose_middle_is_not_known_ask_for_a_preload(tmp_path):
    lying = SOLIDS[3] | {"place": {"pose": {"rpy": [0, 1.57, 0]}}}
    data = CAR | {"chassis": {"height": 0.5, "inertia": lying}}
    with pytest.raises(ModelError, match="preload of every strut"):
        vehicle(data, tmp_path)


def test_a_preload_that_is_given_tells_how_far_a_tread_is_pressed_in(tmp_path):
    """The hub stands on the road at the radius less (preload + weight of the wheel)/stiffness."""
    made = vehicle(given(axles={"front": {"wheel": {"stiffness": 2e5}}}), tmp_path)
    z = made.bodies["carrier_front_left"].place.pose.position[2].value({})
    assert z == pytest.approx(0.3 - (4000 + 20 * 9.81) / 2e5 - 0.5, rel=1e-12)


@pytest.mark.parametrize(("x", "stands"), [(-0.01, True), (0.01, False)])
def test_a_vehicle_that_tips_over_its_axle_is_refused(tmp_path, x, stands):
    data = merged(CAR, {"axles": {"rear": {"x": x}}})
    if stands:
        vehicle(data, tmp_path)
        return
    with pytest.raises(ModelError, match=r"(?s)axles\.front\.x: this axle does not carry.*-\d+\.?\d* N on each wheel"):
        vehicle(data, tmp_path)
