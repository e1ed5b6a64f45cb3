"""The text of a description says all of it, or there is none."""

from dataclasses import dataclass
from enum import Enum
from typing import Any

import pytest

from torseur.describe import Effort, Formula, Mechanism
from torseur.describe.fields import Record
from torseur.describe.plain_data import canonical
from torseur.spatial.joints import KINDS

ROD = {"joint": {"kind": "revolute", "coordinate": "a"}, "inertia": {"M": 1.0}}


def rods(**more: Any) -> Mechanism:
    return Mechanism(**{"name": "rods", "bodies": {"one": ROD, "two": ROD}} | more)


DIFFERENT = [
    rods(),
    rods(bodies={"two": ROD, "one": ROD}),
    rods(gravity=(0.0, 0.0, -9.8)),
    rods(loads={"push": Effort(coordinate="a", value=1.0)}),
    rods(loads={"push": Effort(coordinate="a", value="1.0")}),
    rods(title="x"),
    ("1", 1),
    (1, "1"),
    (1.0,),
    ((1.0,),),
    {"a": 1},
    {"a": {"b": 1}},
    Formula("a"),
    "a",
    None,
    0.0,
    -0.0,
]


def test_what_differs_has_different_texts():
    texts = [canonical(x) for x in DIFFERENT]
    assert None not in texts
    assert len(set(texts)) == len(texts)


def test_equal_descriptions_have_one_text_whatever_they_were_made_of():
    assert canonical(rods()) == canonical(Mechanism.model_validate(rods().model_dump()))
    assert canonical(rods(title="x"), without=frozenset({"title"})) == canonical(rods(), without=frozenset({"title"}))


class Foreign(Record):
    size: float = 1.0


@dataclass(frozen=True)
class Plain:
    size: float = 1.0


class Colour(Enum):
    RED = 1


@pytest.mark.parametrize(
    "value", [len, Foreign(), Plain(), Colour.RED, {1.0}, object()], ids=lambda x: type(x).__name__
)
def test_functions_and_what_others_wrote_have_no_text(value: Any):
    assert canonical(value) is None
    assert canonical({"inside": ("a", value)}) is None


def test_a_joint_of_another_package_has_no_text(monkeypatch: Any):
    model = rods()
    assert canonical(model) is not None
    monkeypatch.delitem(KINDS.core, "revolute")  # as if an extension offered it
    assert canonical(model) is None
