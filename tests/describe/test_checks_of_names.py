"""Names that are wrong or double, formulas in the wrong place, circles and trees that are none: each is found."""

import pytest

from support.model_faults import ARM, found, mechanism, only
from torseur.describe.checks import Severity, faults, written
from torseur.describe.evaluation import topological_order

# -- names -------------------------------------------------------------------------------------------------------------


def test_unknown_parents_suggest_the_nearest():
    assert only("bodies: {turret: {}, b: {parent: turet}}") == (
        "bodies.b.parent: no body 'turet' | remedy: did you mean 'turret'?"
    )


def test_a_frame_cannot_carry_a_body():
    text = only("bodies: {a: {frames: {tip: [0, 0, 1]}}, b: {parent: tip}}")
    assert "bodies.b.parent: no body 'tip'" in text
    assert "name its body 'a'" in text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("loops: {l: {between: [tipp, base]}}", "loops.l.between[0]: no frame 'tipp'"),
        ("constraints: {c: {rolling: {wheel: w, radius: 1}}}", "constraints.c.rolling.wheel: no frame 'w'"),
        ("constraints: {c: {no_side_slip: {frame: w}}}", "constraints.c.no_side_slip.frame: no frame 'w'"),
        (
            "constraints: {c: {coupling: {coordinate: z, equals: 1}}}",
            "constraints.c.coupling.coordinate: no coordinate 'z'",
        ),
        (
            "constraints: {c: {prescribed: {coordinate: z, equals: t}}}",
            "constraints.c.prescribed.coordinate: no coordinate",
        ),
        ("constraints: {c: {speeds: {coefficients: {z: 1}}}}", "constraints.c.speeds.coefficients.z: no speed 'z'"),
        ("loads: {k: {spring: {coordinate: z}}}", "loads.k.coordinate: no coordinate 'z'"),
        ("loads: {k: {spring: {between: [base, z]}}}", "loads.k.between[1]: no frame 'z'"),
        ("loads: {k: {spring: {combination: {z: 1}}}}", "loads.k.combination.z: no coordinate 'z'"),
        ("loads: {k: {transmission: {coordinate: z, inertia: 1}}}", "loads.k.coordinate: no coordinate 'z'"),
        ("loads: {k: {motor: {coordinate: q, carrier: z}}}", "loads.k.carrier: no body 'z'"),
        ("loads: {k: {wrench: {frame: z}}}", "loads.k.frame: no frame 'z'"),
        ("parameters: {p: zz}", "parameters.p.value: unknown name 'zz'"),
        ("gravity: [0, 0, zz]", "gravity[2]: unknown name 'zz'"),
        ("outputs: {y: zz}", "outputs.y.value: unknown name 'zz'"),
        ("loads: {k: {effort: {coordinate: q, value: zz}}}", "loads.k.value: unknown name 'zz'"),
    ],
)
def test_unknown_names_are_found_everywhere(text, expected):
    errors = found(f"{text}\nbodies: {{{ARM}}}", Severity.ERROR)
    assert len(errors) == 1
    assert errors[0].startswith(expected)


def test_a_coordinate_where_a_speed_belongs_is_told_its_speed():
    text = only(f"bodies: {{{ARM}}}\nconstraints: {{c: {{speeds: {{coefficients: {{q: 1}}}}}}}}")
    assert "the speed of coordinate 'q' is 'dq'" in text


@pytest.mark.parametrize(
    ("text", "path", "other"),
    [
        ("parameters: {q: 1}", "bodies.a.joint.coordinates.q", "a coordinate of a, and a parameter"),
        ("inputs: {q: 1}", "bodies.a.joint.coordinates.q", "a coordinate of a, and an input"),
        ("parameters: {dq: 1}", "bodies.a.joint.coordinates.q", "a speed of a, and a parameter"),
        ("parameters: {u: 1}\ninputs: {u: 1}", "inputs.u", "an input, and a parameter"),
        ("outputs: {q: 1}", "outputs.q", "an output, and a coordinate of a"),
        ("coordinates: [q]", "coordinates.q", "a coordinate of the free-form kinematics, and a coordinate of a"),
        ("base: {frames: {a: [0, 0, 0]}}", "base.frames.a", "a frame, and a body"),
        ("base: {frames: {world: [0, 0, 0]}}", "base.frames.world", "a frame, and the frame that does not move"),
    ],
)
def test_a_name_stands_for_one_thing(text, path, other):
    every = [fault for fault in faults(mechanism(f"{text}\nbodies: {{{ARM}}}")) if fault.severity is Severity.ERROR]
    assert [(written(fault.path), fault.got) for fault in every] == [(path, other)]


def test_two_joints_cannot_share_a_coordinate():
    other = ARM.replace("a:", "b:", 1)
    assert found(f"bodies: {{{ARM}, {other}}}") == ["bodies.b.joint.coordinates.q: the name 'q' is taken"]


@pytest.mark.parametrize("name", ["world", "base"])
def test_a_body_cannot_be_called_like_the_world(name):
    assert f"bodies.{name}: the name '{name}' is taken" in found(
        f"bodies: {{{name}: {{parent: world}}}}", Severity.ERROR
    )


def test_frames_share_their_names():
    text = "bodies: {a: {frames: {tip: [0, 0, 1]}}, b: {frames: {tip: [0, 0, 1]}}}"
    assert only(text).startswith("bodies.b.frames.tip: the name 'tip' is taken | got: a frame, and a frame of a")


# -- formulas ----------------------------------------------------------------------------------------------------------

FORBIDDEN = [
    ("parameters: {p: q}", "parameters.p.value: 'q' is a coordinate of a"),
    ("parameters: {p: t}", "parameters.p.value: 't' is time"),
    ("gravity: [0, 0, q]", "gravity[2]: 'q' is a coordinate of a"),
    ("bodies: {ARM, b: {inertia: {mass: q}}}", "bodies.b.inertia.mass: 'q' is a coordinate"),
    ("bodies: {ARM, b: {steps: [{tx: dq}]}}", "bodies.b.place.steps[0].tx: 'dq' is a speed of a"),
    ("bodies: {ARM, b: {steps: [{tx: t}]}}", "bodies.b.place.steps[0].tx: 't' is time"),
    ("bodies: {ARM, b: {shapes: [{sphere: q}]}}", "bodies.b.shapes[0].sphere.radius: 'q' is a coordinate"),
    ("constraints: {c: {prescribed: {coordinate: q, equals: dq}}}", "constraints.c.prescribed.equals: 'dq' is a speed"),
    (
        "bodies: {ARM, b: {joint: {kind: prismatic, coordinate: s, upper: q}}}",
        "bodies.b.joint.coordinates.s.upper: 'q'",
    ),
    ("constraints: {c: {coupling: {coordinate: q, equals: t}}}", "constraints.c.coupling.equals: 't' is time"),
    ("constraints: {c: {zero: dq}}", "constraints.c.zero: 'dq' is a speed of a"),
    ("loads: {k: {spring: {coordinate: q, stiffness: q}}}", "loads.k.stiffness: 'q' is a coordinate"),
    ("inputs: {u: 1}\nloads: {k: {spring: {coordinate: q, rest: u}}}", "loads.k.rest: 'u' is an input"),
    ("loads: {k: {motor: {coordinate: q, torque: dq}}}", "loads.k.torque: 'dq' is a speed"),
]


@pytest.mark.parametrize(("text", "expected"), FORBIDDEN, ids=[expected for _, expected in FORBIDDEN])
def test_formulas_use_only_what_their_place_allows(text, expected):
    full = text.replace("ARM", ARM) if "ARM" in text else f"{text}\nbodies: {{{ARM}}}"
    errors = found(full, Severity.ERROR)
    assert len(errors) == 1
    assert errors[0].startswith(expected)


def test_a_place_with_a_joint_cannot_depend_on_coordinates():
    text = f"bodies: {{{ARM}, b: {{joint: prismatic, steps: [{{rz: q}}], inertia: {{mass: 1}}}}}}"
    assert only(text).startswith("bodies.b.place: the place of a body with a prismatic joint depends on q")


def test_only_a_moving_base_depends_on_time():
    assert "kind: moving" in only("base: {steps: [{tx: t}]}\nbodies: {a: {}}")
    assert found("base: {kind: moving, steps: [{tx: sin(t)}]}\nbodies: {a: {}}") == []


@pytest.mark.parametrize("formula", ["1/0", "sqrt(-1)", "log(0)", "1/z", "asin(2)", "10^400"])
def test_formulas_of_numbers_have_a_value(formula):
    assert "parameters.p.value: this formula has no value" in found(
        f"parameters: {{z: 0, p: {formula}}}", Severity.ERROR
    )


def test_parameters_in_a_circle_are_drawn():
    text = only("parameters: {a: 2*b, b: c + 1, c: a}")
    assert text == "parameters.a: circular definition in parameters | got: a -> b -> c -> a"
    assert only("parameters: {a: a}").endswith("got: a -> a")


def test_couplings_in_a_circle_are_drawn():
    text = (
        "coordinates: [x, y]\nbodies: {a: {steps: [{tx: x}, {ty: y}]}}\n"
        "constraints: {c: {coupling: {coordinate: x, equals: y}}, d: {coupling: {coordinate: y, equals: 2*x}}}"
    )
    assert only(text).endswith("the couplings of these coordinates form a cycle | got: x -> y -> x")


def test_an_order_comes_after_what_is_needed():
    order, circles = topological_order({"a": ["b", "c"], "b": ["c"], "c": [], "d": ["e"], "e": ["f"], "f": ["e"]})
    assert order.index("c") < order.index("b") < order.index("a")
    assert circles == [("e", "f")]
    assert set(order) == set("abcdef")


# -- the tree ----------------------------------------------------------------------------------------------------------


def test_bodies_in_a_circle_are_drawn_and_loops_explained():
    text = only("bodies: {a: {parent: b}, b: {parent: c}, c: {parent: a}}")
    assert "got: a -> b -> c -> a" in text
    assert "'loops'" in text
    assert "got: a -> a" in only("bodies: {a: {parent: a}}")


@pytest.mark.parametrize(
    "tie",
    [
        "loops: {l: {between: [a, tip]}}",
        "loops: {l: {between: [a, b]}}",
        "loads: {k: {spring: {between: [b, a], stiffness: 1}}}",
        "constraints: {c: {rolling: {wheel: tip, ground: b, radius: 1}}}",
    ],
)
def test_a_body_is_not_tied_to_itself(tie):
    inertia = "inertia: {mass: 1, centre: [1, 0, 0]}"
    text = f"bodies: {{a: {{joint: revolute, frames: {{tip: [1, 0, 0]}}, {inertia}}}, b: {{parent: a}}}}\n{tie}"
    assert "a body tied to itself" in only(text)


def test_what_is_fixed_to_a_fixed_base_is_the_world():
    assert "a body tied to itself" in only("bodies: {a: {}}\nloops: {l: {between: [a, world]}}")
    assert found("base: floating\nbodies: {a: {inertia: {mass: 1}}}\nloops: {l: {between: [a, world]}}") == []


def test_a_screw_that_closes_a_loop_needs_its_pitch():
    text = f"bodies: {{{ARM}}}\nloops: {{l: {{joint: JOINT, between: [a, base]}}}}"
    assert "needs its pitch" in only(text.replace("JOINT", "screw"))
    assert found(text.replace("JOINT", "screw, pitch: 1")) == []
    assert "needs its pitch" in only(text.replace("JOINT", "revolute, pitch: 1"))


def test_a_coordinate_is_driven_once():
    text = (
        f"bodies: {{{ARM}}}\nconstraints: {{c: {{prescribed: {{coordinate: q, equals: t}}}},"
        " d: {prescribed: {coordinate: q, equals: 2*t}}}"
    )
    assert only(text) == "constraints.d.prescribed.coordinate: 'q' is already driven | got: constraint 'c'"


def test_a_part_of_a_quaternion_cannot_be_driven():
    text = "bodies: {a: {joint: spherical, inertia: {mass: 1, tensor: [1, 1, 1]}}}\n"
    text += "constraints: {c: {prescribed: {coordinate: a_qx, equals: t}}}"
    assert "a part of a quaternion cannot be driven alone" in only(text)


@pytest.mark.parametrize("drive", ["transmission: {coordinate: a_qx, inertia: 1}", "motor: {coordinate: a_qx}"])
def test_a_drive_needs_a_speed_of_its_own(drive):
    text = "bodies: {a: {joint: spherical, inertia: {mass: 1, tensor: [1, 1, 1]}}}\n"
    assert "has no speed of its own" in only(text + f"loads: {{d: {{{drive}}}}}")


def test_a_mechanism_without_bodies_is_noted():
    assert only("title: x", Severity.NOTE) == "bodies: there is no body that could move"
