"""What is written is read back equal, whatever it is; what is read means what it looks like."""

import math
import os
from typing import ClassVar

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from support.random_descriptions import HARD_TEXTS, anything, formulas, numbers, texts
from support.yaml_short_forms import SAME
from torseur.describe import Body, Formula, Load, Mechanism, Parameter
from torseur.describe.fields import Scalar
from torseur.describe.loads import KINDS, kinds
from torseur.formats.yaml.reader import read_document, read_yaml
from torseur.formats.yaml.writer import flow, write_yaml

COUNT = int(os.environ.get("TORSEUR_FUZZ", "60"))
HEAD = "torseur: 1\nname: arm\n"


def back(mechanism: Mechanism) -> Mechanism:
    return read_document(write_yaml(mechanism)).mechanism


@settings(max_examples=min(COUNT, 3000), suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(anything())
def test_any_mechanism_comes_back_equal(mechanism):
    text = write_yaml(mechanism)
    again = read_document(text).mechanism
    assert again == mechanism
    assert write_yaml(again) == text


@given(texts)
@example("a\\b\"c'd")
def test_any_text_comes_back_equal(text):
    title = text[:500]
    assert back(Mechanism(name="a", title=title, notes=(text,))) == Mechanism(name="a", title=title, notes=(text,))


@pytest.mark.parametrize("text", HARD_TEXTS, ids=ascii)
def test_texts_that_look_like_something_else_stay_text(text):
    mechanism = Mechanism(name="a", title=text, notes=(text, text), parameters={"p": Parameter(unit=text[:40])})
    assert back(mechanism) == mechanism


@given(numbers)
def test_any_number_comes_back_to_the_last_bit(number):
    value = back(Mechanism(name="a", parameters={"p": Parameter(value=number)})).parameters["p"].value
    assert math.copysign(1.0, value) == math.copysign(1.0, number)
    assert value == number


@given(formulas)
def test_a_formula_keeps_its_text(formula):
    value = back(Mechanism(name="a", parameters={"p": Parameter(value=formula)})).parameters["p"].value
    assert isinstance(value, Formula)
    assert value.text == formula.text


def test_the_order_of_bodies_is_the_order_of_the_file():
    text = HEAD + "bodies: {z: {joint: revolute}, a: {joint: revolute}, m: {joint: revolute}}\n"
    mechanism = read_yaml(text)
    assert [variable.name for variable in mechanism.q] == ["q_z", "q_a", "q_m"]
    assert list(back(mechanism).bodies) == ["z", "a", "m"]
    assert Mechanism(name="a", bodies={"x": Body(), "y": Body()}) != Mechanism(
        name="a", bodies={"y": Body(), "x": Body()}
    )


# -- scalars are what they look like -----------------------------------------------------------------------------------

NUMBERS = [
    ("1", 1.0),
    ("-1.5", -1.5),
    ("1e3", 1000.0),
    ("1E-3", 1e-3),
    (".5", 0.5),
    ("5.", 5.0),
    ("+2", 2.0),
    ("010", 10.0),
]
TEXTS = [
    "no",
    "on",
    "yes",
    "off",
    "y",
    "1:30",
    "2024-01-01",
    "0x1F",
    "0o7",
    "1_000",
    ".inf",
    ".nan",
    "=",
    "True",
    "NULL",
]


@pytest.mark.parametrize(("written", "value"), NUMBERS)
def test_decimal_numbers_are_numbers(written, value):
    assert read_yaml(HEAD + f"parameters: {{p: {written}}}\n").parameters["p"].value == value


@pytest.mark.parametrize("written", TEXTS)
def test_everything_else_is_text(written):
    assert read_yaml(HEAD + f"title: {written}\n").title == written


@pytest.mark.parametrize("name", ["no", "on", "yes", "y", "true_", "null_", "e1"])
def test_names_are_never_booleans(name):
    mechanism = read_yaml(HEAD + f"bodies: {{{name}: {{joint: revolute}}, arm: {{parent: {name}}}}}\n")
    assert mechanism.bodies["arm"].parent == name


def test_a_quoted_number_is_a_formula_and_stays_one():
    value = read_yaml(HEAD + "parameters: {p: '2.0'}\n").parameters["p"].value
    assert value == Formula("2.0")
    assert back(Mechanism(name="a", parameters={"p": Parameter(value=value)})).parameters["p"].value == value


# -- short forms -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("short", "full"), SAME, ids=[short for short, _ in SAME])
def test_a_short_form_means_the_full_one(short, full):
    assert read_document(HEAD + short + "\n").mechanism == read_document(HEAD + full + "\n").mechanism


def test_the_writer_uses_the_short_forms():
    text = HEAD + (
        "\nparameters:\n  m: 2\n  k:\n\nbodies:\n  arm:\n    mdh: {alpha: pi/2}\n"
        "    joint: {kind: revolute, coordinate: q, lower: -1}\n    inertia: {mass: m, tensor: [1, 1, 1]}\n"
        "    frames: {tip: [1, 0, 0]}\n\nloads:\n  s: {spring: {coordinate: q, stiffness: k}}\n"
    )
    assert write_yaml(read_yaml(text)).partition("\n")[2] == text


# -- loads -------------------------------------------------------------------------------------------------------------


class Magnet(Load):
    """A kind of load the core does not know."""

    kind: ClassVar[str] = "magnet"
    strength: Scalar

    def act(self, on):
        raise AssertionError("reading asks for no forces")


def test_a_table_of_kinds_makes_new_loads_readable():
    table = {**KINDS, **kinds(Magnet)}
    text = HEAD + "loads: {m: {magnet: {strength: 3}}}\n"
    mechanism = read_yaml(text, loads=table)
    assert mechanism.loads["m"] == Magnet(strength=3.0)
    assert read_yaml(write_yaml(mechanism), loads=table) == mechanism


@given(st.recursive(st.one_of(st.none(), st.booleans(), numbers, texts), lambda inner: st.lists(inner, max_size=3)))
def test_a_value_on_one_line_is_one_line(value):
    assert "\n" not in flow(value)
