"""Numbers of a mechanism: formulas of parameters and quantities, in any order."""

import pytest

from torseur.describe import Formula, Mechanism
from torseur.describe.evaluation import NoNumber, Numbers, definitions

ARM = Mechanism(
    name="arm",
    parameters={
        "J": {"value": "m*l2"},
        "m": {"value": 3.0},
        "free": {},
        "none": {"value": "1/(m - 3)"},
        "waits": {"value": "2*free"},
        "a": {"value": "b"},
        "b": {"value": "a"},
    },
    quantities={"l2": {"value": "2"}, "moves": {"value": "t*m"}},
)


def test_what_follows_from_numbers_is_known_in_whatever_order_it_is_given():
    assert Numbers(ARM).known == {"m": 3.0, "l2": 2.0, "J": 6.0}


def test_each_definition_comes_after_those_it_uses():
    found, cycles = definitions(ARM)
    assert cycles == [("a", "b")]
    seen = set()
    for name, value in found.items():
        used = value.names if isinstance(value, Formula) else set()
        assert name in ("a", "b") or not used & found.keys() - seen
        seen.add(name)


@pytest.mark.parametrize(
    ("text", "told"),
    [("free + waits", "no value for free, waits"), ("1/(m - 3)", "1/(m - 3) has no value"), ("10^(m*103)", "no value")],
)
def test_a_number_that_is_needed_and_missing_is_told_of(text, told):
    assert Numbers(ARM).value(Formula(text)) in (None, float("inf"))
    with pytest.raises(NoNumber) as error:
        Numbers(ARM).scalar(Formula(text))
    assert told in str(error.value)
