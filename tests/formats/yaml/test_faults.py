"""Every fault of a YAML file is told with its line, column and path, and all of them at once."""

import pytest

from torseur.errors import ModelError
from torseur.formats.yaml.reader import read_yaml

HEAD = "torseur: 1\nname: arm\n"


def faults(text: str | bytes) -> list[str]:
    """The first lines of all faults, without the name of the file."""
    with pytest.raises(ModelError) as caught:
        read_yaml(text, "arm.yaml")
    every = caught.value.faults or (caught.value,)
    lines = [str(fault).partition("\n")[0] for fault in every]
    assert all(line.startswith("arm.yaml:") for line in lines)
    return [line.removeprefix("arm.yaml:") for line in lines]


def details(text: str) -> str:
    with pytest.raises(ModelError) as caught:
        read_yaml(text, "arm.yaml")
    return str(caught.value)


# -- the text as YAML --------------------------------------------------------------------------------------------------

SYNTAX = [
    (b"", "1:1: the file is empty"),
    (b"# nothing\n", "1:1: the file is empty"),
    (b"torseur: 1\nname: \xff\n", "2:7: the file is not UTF-8"),
    ("torseur: 1\nname: é\n".encode("utf-16"), "1:1: the file is not UTF-8"),
    (b"torseur: 1\nname: a\x00\n", "2:8: a character that is not text"),
    (b"torseur: 1\nname: a\nbodies: [\n", "4:1: this is not YAML"),
    (b"torseur: 1\n\tname: a\n", "2:1: this is not YAML"),
    (b"torseur: 1\nname: 'a\n", "3:1: this is not YAML"),
    (b"torseur: 1\nname: a: b\n", "2:8: this is not YAML"),
    (b"[1, 2]\n", "1:1: this is not a model"),
    (b"just text\n", "1:1: this is not a model"),
    (b"torseur: 1\nname: a\n---\nname: b\n", "3:1: a second document in one file"),
    (b"torseur: 1\nname: a\nname: b\n", "3:1: name: this key is already given"),
    (b"torseur: 1\nname: a\nbase: &b fixed\n", "3:7: base: anchors (&) and aliases (*) are not accepted"),
    (b"torseur: 1\nname: a\nbase: !!python/name:os.system fixed\n", "3:7: base: tags (!) are not accepted"),
    (b"torseur: 1\nname: !!str a\n", "2:7: name: tags (!) are not accepted"),
    (b"torseur: 1\nname: a\n? [x]\n: 1\n", "3:3: a key must be a word"),
    (b"torseur: 1\nname: a\n? {x: 1}\n: 1\n", "3:3: a key must be a word"),
]


@pytest.mark.parametrize(("text", "expected"), SYNTAX, ids=[expected for _, expected in SYNTAX])
def test_text_that_is_no_model_is_refused_with_its_place(text, expected):
    assert faults(text)[0].startswith(expected)


# -- the version -------------------------------------------------------------------------------------------------------


def test_the_version_must_be_there():
    assert faults("name: arm\n") == ["1:1: the version of the format is missing"]


@pytest.mark.parametrize("version", ["2", "'1'", "true", "1.5", "", "[1]"])
def test_another_version_is_named_and_nothing_else(version):
    (found,) = faults(f"torseur: {version}\nnonsense: 3\n")
    assert found.endswith("a version of the format that is not known")
    assert found.startswith("1:")


# -- the form of the fields --------------------------------------------------------------------------------------------

FORM = [
    ("titel: x\n", "3:1: titel: unknown key"),
    ("title: 2024\n", "3:8: title: expected text"),
    ("title: " + "x" * 501 + "\n", "3:8: title: the text is too long"),
    ("gravity: [0, 0]\n", "3:1: gravity: the list is too short"),
    ("gravity: [0, 0, 1, 2]\n", "3:1: gravity: the list is too long"),
    ("gravity: -9.81\n", "3:10: gravity: expected a list"),
    ("gravity: [0, 0, .inf]\n", "3:17: gravity[2]: a character that means nothing here"),
    ("gravity: [0, 0, 1e101]\n", "3:17: gravity[2]: a number is too large"),
    ("gravity: [0, 0, true]\n", "3:17: gravity[2]: expected a number or a formula, got True"),
    ("gravity: [0, 0, 1:30]\n", "3:17: gravity[2]: a character that means nothing here"),
    ("gravity: [0, 0, 1_000]\n", "3:17: gravity[2]: unexpected in a formula"),
    ("base: flying\n", "3:7: base: expected 'fixed', 'floating', 'planar', 'moving' or 'carrier'"),
    ("base: {kind: floating, coordinates: [a, b]}\n", "3:1: base: a floating base has 7 coordinates, got 2"),
    ("bodies: 3\n", "3:9: bodies: expected a mapping of names"),
    ("bodies: {a: 3}\n", "3:13: bodies.a: expected a mapping"),
    ("bodies: {1a: {}}\n", "3:10: bodies.1a: expected a name"),
    ("bodies: {sin: {}}\n", "3:10: bodies.sin: 'sin' is a word of the formula language"),
    ("bodies: {a: {parent: 3}}\n", "3:22: bodies.a.parent: expected a name"),
    ("bodies: {a: {joint: revolut}}\n", "3:21: bodies.a.joint: no joint kind 'revolut'"),
    ("bodies: {a: {joint: {kind: revolute, coordinates: [p, q]}}}\n", "3:14: bodies.a.joint: a revolute joint has 1"),
    ("bodies: {a: {joint: {kind: revolute, coordinate: 7}}}\n", "3:50: bodies.a.joint.coordinate: expected the name"),
    (
        "bodies: {a: {joint: {kind: universal, coordinates: [p, p]}}}\n",
        "3:56: bodies.a.joint.coordinates[1]: this name",
    ),
    (
        "bodies: {a: {joint: {kind: revolute, coordinate: q, start: 1, guess: 2}}}\n",
        "3:50: bodies.a.joint: give start, which is kept exactly, or guess, which is adjusted; not both",
    ),
    ("bodies: {a: {joint: screw}}\n", "3:14: bodies.a.joint: a screw joint needs its pitch"),
    ("bodies: {a: {joint: {kind: revolute, low: 1}}}\n", "3:38: bodies.a.joint.low: unknown key"),
    ("bodies: {a: {mdh: {alpha: 2*(3+}}}\n", "3:27: bodies.a.mdh.alpha: the formula is incomplete"),
    ("bodies: {a: {mdh: {alpha: frob(3)}}}\n", "3:27: bodies.a.mdh.alpha: no such function"),
    ("bodies: {a: {mdh: {}, dh: {}}}\n", "3:14: bodies.a: give exactly one of mdh, dh, pose, steps"),
    ("bodies: {a: {mdh: {}, place: {}}}\n", "3:14: bodies.a.mdh: 'place' is given as well"),
    ("bodies: {a: {pose: {rpy: [0, 0, 0], matrix: 3}}}\n", "3:45: bodies.a.pose.matrix: expected a list"),
    ("bodies: {a: {steps: [{rx: 1, ry: 2}]}}\n", "3:22: bodies.a.steps[0]: give exactly one of rx"),
    ("bodies: {a: {inertia: {centre: [0, 0, 0]}}}\n", "3:14: bodies.a.inertia: 'mass' is missing"),
    ("bodies: {a: {inertia: {mass: 1, XX: 1}}}\n", "3:33: bodies.a.inertia.XX: unknown key"),
    ("bodies: {a: {inertia: {mass: 1, tensor: [1, 2]}}}\n", "3:33: bodies.a.inertia.tensor: expected a mapping"),
    ("bodies: {a: {shapes: [{}]}}\n", "3:23: bodies.a.shapes[0]: give exactly one of box"),
    ("bodies: {a: {shapes: [{sphere: 1, colour: red}]}}\n", "3:43: bodies.a.shapes[0].colour: the text has the wrong"),
    ("bodies: {a: {shapes: [{line: [[0, 0, 0]]}]}}\n", "3:30: bodies.a.shapes[0].line: the list is too short"),
    ("loads: {k: {}}\n", "3:12: loads.k: a load has exactly one kind"),
    ("loads: {k: {spring: {}, motor: {}}}\n", "3:12: loads.k: a load has exactly one kind"),
    ("loads: {k: {sprung: {}}}\n", "3:13: loads.k.sprung: no load of this kind"),
    ("loads: {k: {spring: {}}}\n", "3:21: loads.k.spring: give exactly one of coordinate, between, combination"),
    ("loads: {k: {spring: {coordinate: q, stifness: 1}}}\n", "3:37: loads.k.spring.stifness: unknown key"),
    ("loads: 7\n", "3:8: loads: expected a mapping of names"),
    ("inputs: {u: x}\n", "3:13: inputs.u: expected a number, got 'x'"),
    ("outputs: {y: }\n", "3:11: outputs.y: 'value' is missing"),
    ("constraints: {c: {}}\n", "3:15: constraints.c: give exactly one of rolling"),
    (
        "constraints: {c: {rolling: {wheel: a, radius: 1, slides: yes}}}\n",
        "3:58: constraints.c.rolling.slides: expected",
    ),
    ("loops: {l: {joint: free, between: [a, b]}}\n", "3:20: loops.l.joint: no cut joint 'free'"),
    ("notes: [3]\n", "3:9: notes[0]: expected text"),
]


@pytest.mark.parametrize(("text", "expected"), FORM, ids=[expected for _, expected in FORM])
def test_a_wrong_field_is_told_with_line_column_and_path(text, expected):
    assert any(line.startswith(expected) for line in faults(HEAD + text))


def test_a_formula_is_shown_with_a_caret():
    printed = details(HEAD + "gravity: [0, 0, '2*(3 + sqrt 4)']\n")
    assert "    2*(3 + sqrt 4)\n           ^" in printed


def test_unknown_keys_suggest_the_nearest():
    assert "did you mean 'stiffness'?" in details(HEAD + "loads: {k: {spring: {coordinate: q, stifness: 1}}}\n")
    assert "did you mean 'bodies'?" in details(HEAD + "bodys: {}\n")
    assert "did you mean 'mass'?" in details(HEAD + "bodies: {a: {inertia: {mas: 1}}}\n")
    assert "did you mean 'parameters'?" in details(HEAD + "Parameters: {}\n")


def test_a_key_like_none_lists_what_is_known():
    assert "expected: one of name, title, parameters" in details(HEAD + "zzz: 1\n")


# -- structure ---------------------------------------------------------------------------------------------------------

STRUCTURE = [
    ("bodies: {a: {parent: bse}}\n", "3:22: bodies.a.parent: no body 'bse'"),
    ("bodies: {a: {parent: b}, b: {parent: a}}\n", "3:22: bodies.a.parent: the parents of these bodies form a cycle"),
    ("bodies: {a: {mdh: {d: l1}}}\n", "3:23: bodies.a.mdh.d: unknown name 'l1'"),
    ("parameters: {a: b, b: a}\n", "3:14: parameters.a: circular definition in parameters"),
    (
        "parameters: {q: 1}\nbodies: {a: {joint: {kind: revolute, coordinate: q}}}\n",
        "4:50: bodies.a.joint: the name 'q'",
    ),
    ("bodies: {a: {inertia: {mass: -1}}}\n", "3:30: bodies.a.inertia.mass: a negative mass"),
    ("bodies: {a: {pose: {quaternion: [1, 1, 0, 0]}}}\n", "3:21: bodies.a.pose.quaternion: a quaternion of unit"),
    ("loops: {l: {between: [x, base]}}\n", "3:23: loops.l.between[0]: no frame 'x'"),
    ("loads: {k: {spring: {coordinate: q9, stiffness: 1}}}\n", "3:34: loads.k.spring.coordinate: no coordinate 'q9'"),
]


@pytest.mark.parametrize(("text", "expected"), STRUCTURE, ids=[expected for _, expected in STRUCTURE])
def test_a_structural_fault_is_told_with_line_column_and_path(text, expected):
    assert any(line.startswith(expected) for line in faults(HEAD + text))


# -- all at once -------------------------------------------------------------------------------------------------------

MANY = """\
torseur: 1
name: arm
titel: a wrong key
parameters: {m: 2*, l: 1}
bodies:
  one:
    mdh: {alpha: pi/2, thet: 1}
    joint: {kind: revolute, coordinate: q1}
  two:
    parent: tow
    pose: [l, wrong_name, 0]
    joint: {kind: prismatic, coordinate: q2, lower: 1, upper: -1}
    inertia: {mass: m}
loads:
  k: {spring: {coordinate: q1, stiffness: [1]}}
  e: {effort: {coordinate: q3, value: 1}}
"""


def test_faults_of_form_and_of_structure_come_together_in_the_order_of_the_file():
    assert faults(MANY) == [
        "3:1: titel: unknown key",
        "4:17: parameters.m: the formula is incomplete",
        "7:24: bodies.one.mdh.thet: unknown key",
        "10:13: bodies.two.parent: no body 'tow'",
        "11:15: bodies.two.pose[1]: unknown name 'wrong_name'",
        "12:42: bodies.two.joint: the lower stop is above the upper one",
        "15:32: loads.k.spring.stiffness: expected a number or a formula, got [1]",
        "16:28: loads.e.effort.coordinate: no coordinate 'q3'",
    ]


def test_what_is_missing_because_of_another_fault_is_not_reported():
    text = (
        HEAD
        + "bodys: {a: {joint: {kind: revolute, coordinate: q}}}\nloads: {k: {spring: {coordinate: q, stiffness: 1}}}\n"
    )
    assert faults(text) == ["3:1: bodys: unknown key"]


def test_not_more_than_a_hundred_faults_are_told():
    found = faults(HEAD + "".join(f"x{k}: 1\n" for k in range(500)))
    assert len(found) == 101
    assert "too many faults" in found[-1]


def test_a_formula_that_a_comma_cut_is_told_to_be_quoted():
    for text in ("gravity: [0, 0, atan2(1, 2)]\n", "parameters: {p: {value: atan2(1, 2)}}\n"):
        assert "a formula with a comma needs quotes" in details(HEAD + text)
        assert read_yaml(HEAD + text.replace("atan2(1, 2)", "'atan2(1, 2)'"))
