"""Writing SYMORO files: what is written reads back the same, and what cannot be written is named."""

import random
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.listings_by_hand import posed
from support.mutated_files import mutated
from torseur.describe import Formula, Mechanism
from torseur.errors import ModelError, TorseurError
from torseur.formats.symoro import read_par, write_par

DATA = Path(__file__).resolve().parents[2] / "data"
FILES = {path.stem: path for path in [*DATA.glob("par/*.par"), *DATA.glob("symoro/*.par")]}

SEEDS = [path.read_bytes() for path in sorted(FILES.values())]


def bare(mechanism: Mechanism) -> Mechanism:
    """Without what is only said about the file."""
    return mechanism.model_copy(update={"notes": (), "title": None})


def again(mechanism: Mechanism) -> Mechanism:
    return read_par(write_par(mechanism), mechanism.name)


# -- what can be held --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", FILES)
def test_a_file_that_was_read_is_written_and_read_as_the_same(name):
    mechanism = read_par(FILES[name].read_bytes(), name)
    assert bare(again(mechanism)) == bare(mechanism)
    assert again(mechanism).title == mechanism.title


def test_mutated_files_that_are_still_mechanisms_come_back_the_same():
    rng, good = random.Random(7), 0
    for _ in range(250):
        try:
            mechanism = read_par(mutated(rng, SEEDS, [b"t1", b"q2", b"+", b"0,0"], b"0123456789tqrdM"), "r")
            text = write_par(mechanism)
        except TorseurError:
            continue
        good += 1
        assert bare(read_par(text, "r")) == bare(mechanism)
    assert good > 10


def crane(**changes: Any) -> Mechanism:
    """A floating carrier with a slide, an arm with a point on it, and a loop; names are free."""
    content: dict[str, Any] = {
        "name": "crane",
        "title": "crane",
        "parameters": {"h": {}, "m": {}, "k": {}, "c": {}, "g": {}},
        "gravity": (0, 0, "g"),
        "base": {"kind": "floating", "inertia": {"M": "m"}, "place": {"pose": {"position": (0, 0, "h")}}},
        "bodies": {
            "slide": {
                "place": {"mdh": {"alpha": "-90*deg", "r": "h - 1"}},
                "joint": {"kind": "prismatic", "coordinate": "lift"},
                "inertia": {"M": "2*m", "MX": -0.25, "ZZ": 1e-7},
            },
            "arm": {
                "parent": "slide",
                "place": {"mdh": {"d": "sqrt(h)", "theta": 0.5}},
                "joint": {"kind": "revolute", "coordinate": "t9"},
                "frames": {
                    "hook": {"place": {"mdh": {"d": 2, "gamma": "lift/h + t9"}}},
                    "end": {"place": {"mdh": {"d": 3}}},
                },
            },
            "bar": {
                "place": {"mdh": {"d": 1}},
                "joint": {"kind": "revolute", "coordinate": "turn"},
                "inertia": {"M": 1},
            },
        },
        "loops": {"tie": {"joint": "revolute", "between": ("end", "bar")}},
        "loads": {
            "brake": {"coordinate": "lift", "damping": "c", "friction": 3, "stiffness": "k"},
            "rotor": {"coordinate": "t9", "inertia": 0.01},
            "winch": {"coordinate": "lift", "value": "pull"},
            "wind": {"frame": "hook", "force": ("-c*dlift", 0, "pull + t9"), "torque": (0, 1.5, 0)},
            "buoyancy": {"frame": "base", "force": (0, 0, "lift_force - vx")},
        },
        "inputs": {"pull": {}, "lift_force": {}},
    }
    return with_loads(content | changes)


def with_loads(content: dict[str, Any]) -> Mechanism:
    from torseur.describe.loads import KINDS

    kinds = {"brake": "spring", "rotor": "transmission", "winch": "effort", "wind": "wrench", "buoyancy": "wrench"}
    loads = {
        name: KINDS[kinds.get(name, name)].model_validate(load) if isinstance(load, dict) else load
        for name, load in content["loads"].items()
    }
    return Mechanism.model_validate({**content, "loads": loads})


def test_a_mechanism_with_names_of_its_own_is_held_up_to_its_names():
    before, after = crane(), again(crane())
    assert [x.name for x in after.q][-3:] == ["q1", "t9", "q4"]
    assert list(after.bodies) == ["body1", "body2", "body4"]
    assert bare(again(after)) == bare(after)
    values = {"h": 1.7, "m": 1.0, "k": 1.0, "c": 1.0, "g": 9.8}
    q = dict(zip([x.name for x in before.q], np.linspace(0.1, 0.9, len(before.q)), strict=True))
    renamed = dict(zip([x.name for x in after.q], q.values(), strict=True))
    a, b = posed(before, q, values), posed(after, renamed, values)
    spoken = dict(zip(before.bodies, after.bodies, strict=True)) | {
        "hook": after.loads["wrench3"].frame,
        "base": "base",
    }
    for old, new in spoken.items():
        np.testing.assert_allclose(a[old], b[new], atol=1e-14)
    tie = after.loops[next(iter(after.loops))]
    np.testing.assert_allclose(b[tie.between[0]], a["end"], atol=1e-14)
    np.testing.assert_allclose(b[tie.between[1]], a["bar"], atol=1e-14)


def test_loads_keep_their_sense():
    after = again(crane())
    wind = after.loads["wrench3"]
    assert [str(x) for x in wind.force] == ["-c*dq1", "0.0", "pull + t9"]
    assert wind.torque == (0.0, 1.5, 0.0)
    assert str(after.loads["wrench0"].force[2]) == "lift_force - vx"
    spring = after.loads["spring1"]
    assert (str(spring.damping), spring.friction, str(spring.stiffness)) == ("c", 3.0, "k")
    assert str(after.loads["effort1"].value) == "pull"
    assert Formula("m") == after.base.inertia.M
    assert after.base.orientation == "quaternion"


@pytest.mark.parametrize("base", [{"kind": "planar"}, {"kind": "floating", "orientation": "rpy"}, {"kind": "floating"}])
@pytest.mark.parametrize("inertia", [None, {"M": 2.0, "ZZ": 0.5}])
def test_every_kind_of_base_comes_back(base, inertia):
    loads = {"winch": {"coordinate": "lift", "value": "pull"}}
    parameters = {name: {} for name in ("h", "m")}
    mechanism = crane(
        base={**base, "inertia": inertia}, gravity=(0, 0, -1.6), parameters=parameters, loads=loads, inputs={"pull": {}}
    )
    assert again(mechanism).base == mechanism.base
    assert again(mechanism).gravity == mechanism.gravity


def test_gravity_comes_back_through_a_turned_base():
    matrix = ((0, 0, 1), (0, 1, 0), (-1, 0, 0))
    base = {"place": {"pose": {"position": (1, 2, 3), "matrix": matrix}}}
    loads = {"winch": {"coordinate": "lift", "value": "pull"}}
    parameters = {name: {} for name in ("h", "m", "g")}
    mechanism = crane(base=base, gravity=("g", 0, "-2*g"), loads=loads, parameters=parameters, inputs={"pull": {}})
    assert "G = {2*g,0,g}" in write_par(mechanism)
    assert again(mechanism).gravity == mechanism.gravity
    assert again(mechanism).base.place == mechanism.base.place


def test_the_file_has_the_numbers_its_names_ask_for():
    text = write_par(read_par(FILES["SR400"].read_bytes(), "SR400"))
    assert "ant = {0,1,2,3,4,5,1,7,8,3}" in text
    assert re.search(r"NL = 8\nNJ = 9\nNF = 10\nType = 2\n", text)
    assert "FX = {0,0,0,0,0,0,0,FX8}" in text  # the sign of the file


# -- what cannot -------------------------------------------------------------------------------------------------------
ROD = {"joint": {"kind": "revolute", "coordinate": "q1"}, "inertia": {"M": 1}}


UNSET: dict[str, Any] = {"parameters": {"a": {}}}


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"bodies": {"rod": {**ROD, "joint": "spherical"}}}, "bodies.rod.joint"),
        ({"bodies": {"rod": {**ROD, "place": {"pose": {"position": (1, "a", 3)}}}}, **UNSET}, "bodies.rod.place"),
        ({"bodies": {"rod": {**ROD, "place": {"dh": {"a": "a"}}}}, **UNSET}, "bodies.rod.place"),
        ({"bodies": {"rod": {**ROD, "inertia": {"mass": "if(a > 1, 2, 3)"}}}, **UNSET}, "bodies.rod.inertia"),
        ({"bodies": {"rod": {**ROD, "shapes": [{"sphere": {"radius": 1}}]}}}, "bodies.rod.shapes"),
        ({"bodies": {"rod": {"joint": {"kind": "revolute", "coordinate": "q1", "upper": 1}}}}, "coordinates.q1.upper"),
        ({"bodies": {"rod": {"joint": {"kind": "revolute", "coordinate": "q1", "start": 1}}}}, "coordinates.q1.start"),
        ({"parameters": {"a": {}}}, "parameters.a"),
        ({"inputs": {"u": {}}}, "inputs.u"),
        ({"outputs": {"y": {"value": "q1"}}}, "outputs.y"),
        ({"constraints": {"c": {"zero": "q1"}}}, "constraints.c"),
        ({"base": {"kind": "carrier"}}, "base.kind"),
        ({"base": {"inertia": {"M": 1}}}, "base.inertia"),
        ({"base": {"place": {"pose": {"rpy": ("a", 0, 0)}}}, **UNSET}, "base.place"),
        ({"loads": {"drag": {"frame": "rod", "coefficient": 1, "area": 1}}}, "loads.drag"),
        ({"loads": {"brake": {"coordinate": "q1", "stiffness": 1, "rest": 2}}}, "loads.brake.rest"),
        ({"loads": {"brake": {"between": ("rod", "base"), "stiffness": 1}}}, "loads.brake"),
        ({"loads": {"wind": {"frame": "rod", "axes": "world", "force": (1, 0, 0)}}}, "loads.wind"),
        ({"loads": {"winch": {"coordinate": "q1", "value": "t"}}}, "loads.winch.value"),
        ({"loops": {"l": {"joint": "spherical", "between": ("rod", "base")}}}, "loops.l.joint"),
        ({"gravity": ("Pi", 0, 0), "parameters": {"Pi": {}}}, "Pi"),
    ],
)
def test_what_cannot_be_held_is_named(changes, where):
    with pytest.raises(ModelError) as caught:
        write_par(with_loads({"name": "r", "bodies": {"rod": ROD}, "loads": {}} | changes))
    assert where in str(caught.value)
    assert "cannot be written" in str(caught.value)


def test_everything_that_cannot_be_held_is_named_at_once():
    bodies = {"rod": {**ROD, "joint": "planar", "place": {"dh": {"a": "l"}}}}
    with pytest.raises(ModelError) as caught:
        write_par(with_loads({"name": "r", "bodies": bodies, "loads": {}, "outputs": {"y": {"value": 1}}}))
    assert len(caught.value.faults) == 3


def test_a_moving_place_of_a_body_cannot_be_held():
    bodies = {"rod": ROD, "tip": {"parent": "rod", "place": {"mdh": {"theta": "q1"}}, "inertia": {"M": 1}}}
    with pytest.raises(ModelError, match="only the place of a named frame"):
        write_par(with_loads({"name": "r", "bodies": bodies, "loads": {}}))
