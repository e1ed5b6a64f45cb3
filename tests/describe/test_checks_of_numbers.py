"""Numbers that cannot be and masses that are missing: each is found where it is, and only there."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from support.model_faults import ARM, body, found, mechanism, only
from support.random_descriptions import anything
from torseur.describe.checks import Severity, faults
from torseur.formats.yaml.reader import read_document

COUNT = int(os.environ.get("TORSEUR_FUZZ", "60"))
EVERYTHING = Path(__file__).resolve().parent.parent / "data" / "yaml" / "everything.yaml"

# -- numbers -----------------------------------------------------------------------------------------------------------


def coordinate(fields: str) -> str:
    return (
        f"bodies: {{a: {{joint: {{kind: revolute, coordinate: q, {fields}}}, inertia: {{XX: 1, YY: 1, ZZ: 1, M: 1}}}}}}"
    )


@pytest.mark.parametrize(
    ("fields", "expected", "severity"),
    [
        ("lower: 1, upper: -1", "the lower stop is above the upper one", Severity.ERROR),
        ("lower: 1, upper: -pi", "the lower stop is above the upper one", Severity.ERROR),
        ("lower: 1, start: 0", "it starts below its lower stop", Severity.WARNING),
        ("upper: 1, start: 2", "it starts above its upper stop", Severity.WARNING),
        ("upper: 1, guess: 2", "it starts above its upper stop", Severity.WARNING),
        ("speed_limit: -1", "a limit is a magnitude", Severity.ERROR),
        ("effort_limit: -1", "a limit is a magnitude", Severity.ERROR),
        ("unit: m", "not the unit of this coordinate", Severity.ERROR),
    ],
)
def test_impossible_limits_are_found(fields, expected, severity):
    assert expected in only(coordinate(fields), severity)


@pytest.mark.parametrize(
    "fields", ["lower: -1, upper: 1", "lower: 1, upper: 1", "upper: 1, start: 1", "unit: rad", "start: 9"]
)
def test_possible_limits_are_not_faults(fields):
    assert found(coordinate(fields)) == []


@pytest.mark.parametrize("field", ["start_speed", "guess_speed"])
def test_a_rate_that_is_not_a_speed_cannot_be_given(field):
    """The speeds of a floating base are those of its own axes: a rate of x would be lost without a word."""
    axes = f"coordinates: {{x: {{{field}: 1}}, y: {{}}, yaw: {{}}}}"
    inertia = "inertia: {mass: 1, tensor: [1, 1, 1]}"
    said = only(f"base: {{kind: planar, {axes}, {inertia}}}")
    assert f"base.coordinates.x.{field}" in said
    assert "whose speeds are vx, vy, wz" in said
    assert found(coordinate(f"{field}: 1")) == []


def test_the_unit_of_a_free_coordinate_is_a_length_or_an_angle():
    text = "coordinates: {x: {unit: UNIT}}\nbodies: {a: {steps: [{tx: x}], inertia: {mass: 1}}}"
    assert found(text.replace("UNIT", "m")) == found(text.replace("UNIT", "rad")) == []
    assert "expected: m or rad" in only(text.replace("UNIT", "mm"))


@pytest.mark.parametrize(
    ("pose", "expected"),
    [
        ("quaternion: [1, 1, 0, 0]", "a quaternion of unit length is needed"),
        ("quaternion: [0, 0, 0, 0]", "a quaternion of unit length is needed"),
        ("matrix: [[1, 0, 0], [0, 1, 0], [0, 0, 2]]", "not a rotation: its rows are not orthonormal"),
        ("matrix: [[1, 0, 0], [0, 1, 0], [0, 0, -1]]", "not a rotation but a reflection"),
        ("matrix: [[1e100, 0, 0], [0, 1e100, 0], [0, 0, 1e100]]", "not a rotation: its rows are not orthonormal"),
    ],
)
def test_orientations_that_are_none_are_found(pose, expected):
    assert expected in only(body(f"pose: {{{pose}}}"))


@pytest.mark.parametrize(
    "pose",
    [
        "quaternion: [0.6, 0.8, 0, 0]",
        "quaternion: [cos(1), sin(1), 0, 0]",
        "matrix: [[0, -1, 0], [1, 0, 0], [0, 0, 1]]",
        "quaternion: [w, 0, 0, 0]",
    ],
)
def test_orientations_that_are_or_may_be_right_are_not_faults(pose):
    assert found(f"parameters: {{w: }}\n{body(f'pose: {{{pose}}}')}", Severity.ERROR) == []


def test_a_quaternion_starts_with_unit_length():
    inertia = "inertia: {mass: 1, tensor: [1, 1, 1]}"
    text = f"bodies: {{a: {{joint: {{kind: spherical, coordinates: {{s: 1, x: VALUE, y: , z: }}}}, {inertia}}}}}"
    assert "has not unit length" in only(text.replace("VALUE", "1"))
    assert found(text.replace("VALUE", "0")) == []


def test_directions_have_a_length():
    assert "a direction of zero length" in only(body("steps: [{rn: {axis: [0, 0, 0], angle: 1}}]"))
    assert "a direction of zero length" in only(
        f"bodies: {{{ARM}}}\nloads: {{m: {{motor: {{coordinate: q, axis: [0, 0, 0]}}}}}}"
    )
    text = f"bodies: {{{ARM}}}\nconstraints: {{c: {{no_side_slip: {{frame: a, direction: [0, 0, 0]}}}}}}"
    assert "a direction of zero length" in only(text)


@pytest.mark.parametrize(
    "shape", ["sphere: 0", "box: [1, -1, 1]", "cylinder: {radius: -1, length: 1}", "tyre: {radius: 1, width: 0}"]
)
def test_sizes_are_positive(shape):
    assert "a size must be positive" in only(body(f"shapes: [{{{shape}}}]"))


# -- masses ------------------------------------------------------------------------------------------------------------

INERTIAS = [
    ("{mass: -1}", Severity.ERROR, "a negative mass"),
    ("{M: -1}", Severity.ERROR, "a negative mass"),
    ("{mass: 1, tensor: [-1, 1, 1]}", Severity.WARNING, "a principal moment is negative"),
    ("{mass: 1, tensor: [1, 1, 3]}", Severity.WARNING, "larger than the sum of the other two"),
    ("{mass: 1, tensor: {xx: 1, yy: 1, zz: 1, xy: 2}}", Severity.WARNING, "a principal moment is negative"),
    ("{mass: 1, tensor: [1, 1, 3], rpy: [1, 2, 3]}", Severity.WARNING, "larger than the sum of the other two"),
    ("{M: 1, MX: 2, XX: 1, YY: 1, ZZ: 1}", Severity.WARNING, "a principal moment is negative"),
    ("{M: 1, MX: 2, ZZ: 1}", Severity.WARNING, "the moment about z at the centre of mass is negative"),
    ("{M: 0, MX: 2, XX: 1, YY: 1, ZZ: 1}", Severity.NOTE, "first moments without mass"),
]


@pytest.mark.parametrize(("inertia", "severity", "expected"), INERTIAS, ids=[text for text, _, _ in INERTIAS])
def test_impossible_inertias_are_found(inertia, severity, expected):
    assert expected in only(body(f"inertia: {inertia}"), severity)


@pytest.mark.parametrize(
    "inertia",
    [
        "{mass: 1}",
        "{mass: 1, tensor: [1, 1, 2]}",
        "{mass: 1, tensor: [1, 1, 2.001]}",
        "{mass: 0}",
        "{M: 1, MX: 2, YY: 4, ZZ: 4}",
        "{M: 2, MX: 1, MY: 1, MZ: 1, XX: 3, YY: 3, ZZ: 3, XY: -0.5, XZ: -0.5, YZ: -0.5}",
        "{M: unknown, ZZ: -1}",
        "{ZZ: 1}",
        "{mass: 1, tensor: [0, 0, 1]}",
        "{M: 1, MX: 1, ZZ: 1.5}",
    ],
)
def test_possible_inertias_are_not_faults(inertia):
    assert found(f"parameters: {{unknown: }}\n{body(f'inertia: {inertia}')}", Severity.WARNING) == []
    assert found(f"parameters: {{unknown: }}\n{body(f'inertia: {inertia}')}", Severity.ERROR) == []


MASSLESS = [
    "bodies: {a: {joint: {kind: revolute, coordinate: q}}}",
    "bodies: {a: {joint: {kind: revolute, coordinate: q}, inertia: {}}}",
    "bodies: {a: {joint: {kind: revolute, coordinate: q}, inertia: {mass: 0}}}",
    "bodies: {a: {joint: {kind: revolute, coordinate: q}}, b: {parent: a}}",
    "coordinates: [q]\nbodies: {a: {steps: [{rz: q}]}}",
    "base: {kind: planar, coordinates: [q, y, yaw]}",
]


@pytest.mark.parametrize("text", MASSLESS)
def test_motions_that_move_no_mass_are_found(text):
    assert "moves no mass" in only(text, Severity.WARNING)


HEAVY = [
    "inertia: {mass: 1, centre: [1, 0, 0]}",
    "inertia: {ZZ: 1}",
    "inertia: {ZZ: J}",
    "inertia: {mass: J}",
]


@pytest.mark.parametrize("inertia", HEAVY)
def test_motions_that_move_or_may_move_mass_are_not_faults(inertia):
    joint = "joint: {kind: revolute, coordinate: q}"
    assert found(f"parameters: {{J: }}\n{body(f'{joint}, {inertia}')}", Severity.WARNING) == []
    later = f"bodies: {{a: {{{joint}}}, b: {{parent: a, {inertia}}}}}"
    assert found(f"parameters: {{J: }}\n{later}", Severity.WARNING) == []


@pytest.mark.parametrize(
    "help_",  # a drive, or a given motion
    [
        "loads: {d: {transmission: {coordinate: q, inertia: 1}}}",
        "loads: {d: {motor: {coordinate: q, inertia: 1}}}",
        "constraints: {c: {prescribed: {coordinate: q, equals: t}}}",
        "constraints: {c: {coupling: {coordinate: q, equals: 1}}}",
    ],
)
def test_a_massless_motion_may_be_driven(help_):
    assert found(f"{MASSLESS[0]}\n{help_}") == []


def test_a_massless_motion_in_a_loop_is_a_note():
    text = f"{MASSLESS[0]}\nloops: {{l: {{between: [a, world], joint: spherical}}}}"
    assert "constraints must determine it" in only(text, Severity.NOTE)


def test_a_drive_without_inertia_does_not_help():
    assert "moves no mass" in only(f"{MASSLESS[0]}\nloads: {{d: {{motor: {{coordinate: q}}}}}}", Severity.WARNING)


def test_a_coordinate_that_no_body_depends_on_is_found():
    text = "coordinates: [x, unused]\nbodies: {a: {steps: [{tx: x}], inertia: {mass: 1}}}"
    assert only(text, Severity.WARNING).startswith("coordinates.unused: no body depends on unused")


@pytest.mark.parametrize(
    ("joint", "inertia"),
    [
        ("revolute", "{mass: 1}"),
        ("revolute", "{mass: 1, centre: [0, 0, 1]}"),
        ("revolute", "{M: 1, XX: 1, YY: 1}"),
        ("prismatic", "{ZZ: 1, XX: 1, YY: 1}"),
    ],
)
def test_a_tip_without_the_inertia_its_joint_feels_is_found(joint, inertia):
    assert "without the inertia it feels" in only(body(f"joint: {joint}, inertia: {inertia}"), Severity.WARNING)


def test_what_nothing_uses_is_noted():
    text = f"parameters: {{p: 1, r: 2}}\ninputs: {{u: 1}}\noutputs: {{y: r}}\nbodies: {{{ARM}}}"
    assert found(text, Severity.NOTE) == ["parameters.p: nothing uses it", "inputs.u: nothing uses it"]


@pytest.mark.parametrize(("unit", "si"), [("cm", "0.05"), ("mm", "0.005"), ("deg", "0.0872665"), ("km/h", "1.38889")])
def test_a_number_with_a_unit_that_is_not_si_is_a_warning(unit, si):
    [fault] = [f for f in faults(mechanism(arm_with(f"{{value: 5, unit: {unit}}}"))) if "label" in f.what]
    assert fault.severity is Severity.WARNING
    assert si in fault.remedy
    for right in (
        "{value: 5, unit: m}",
        f"{{value: 5*kmh, unit: {unit}}}",
        f"{{unit: {unit}}}",
        "{value: 3, unit: kN}",
    ):
        assert not [f for f in faults(mechanism(arm_with(right))) if "label" in f.what]


def arm_with(parameter: str) -> str:
    return f"parameters: {{p: {parameter}}}\noutputs: {{y: p}}\nbodies: {{{ARM}}}"


# -- all of it ---------------------------------------------------------------------------------------------------------


def test_the_file_with_one_of_everything_has_no_fault():
    assert faults(read_document(EVERYTHING.read_bytes()).mechanism) == []


def test_the_worst_come_first():
    ranks = [fault.severity for fault in faults(mechanism("parameters: {p: 1, r: z}\nbodies: {a: {joint: revolute}}"))]
    assert ranks == sorted(ranks, key=list(Severity).index)
    assert set(ranks) == set(Severity)


@settings(max_examples=min(COUNT, 3000), suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(anything())
def test_checks_never_fail_and_name_a_place_that_exists(mechanism):
    for fault in faults(mechanism):
        place = mechanism
        for step in fault.path:
            assert step in place if isinstance(place, dict) else True
            place = getattr(place, step) if hasattr(type(place), "model_fields") else place[step]
