"""Units of FMUs in terms of the SI."""

import math

import pytest

from torseur.export.fmu import base_unit


@pytest.mark.parametrize(
    ("unit", "exponents", "factor"),
    [
        ("m/s^2", {"m": 1, "s": -2}, 1.0),
        ("m/s2", {"m": 1, "s": -2}, 1.0),
        ("N m s/rad", {"kg": 1, "m": 2, "s": -1, "rad": -1}, 1.0),
        ("N·m/(rad s)", {"kg": 1, "m": 2, "s": -3, "rad": -1}, 1.0),
        ("1/s", {"s": -1}, 1.0),
        ("kg m2", {"kg": 1, "m": 2}, 1.0),
        ("V", {"kg": 1, "m": 2, "s": -3, "A": -1}, 1.0),
        ("deg/s", {"rad": 1, "s": -1}, math.pi / 180.0),
        ("kN/mm", {"kg": 1, "s": -2}, 1e6),
        ("%", {}, 0.01),
        ("1", {}, 1.0),
    ],
)
def test_units_of_files_are_products_of_those_of_the_si(unit, exponents, factor):
    found = base_unit(unit)
    assert dict(found.exponents) == exponents
    assert found.factor == pytest.approx(factor, rel=1e-15)


@pytest.mark.parametrize("unit", ["", "apples", "g", "deg/g", "C", "N/m s", "kg//m", "<&\">'", "m 2 s", "N)m("])
def test_what_is_not_known_or_could_be_read_in_two_ways_is_left_alone(unit):
    assert base_unit(unit) is None
