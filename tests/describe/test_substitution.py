"""Other things in place of names: only of the names meant."""

import pytest

from torseur.describe import Body, Constraint, Effort, Formula, Joint, LookupTable, Mechanism, Rolling
from torseur.describe.evaluation import with_numbers, without_constraints


@pytest.mark.parametrize(
    ("text", "known", "expected"),
    [
        ("m + 2*m", {"m": 3.0}, "3 + 2*3"),
        ("m*table(m, m)", {"m": 3.0}, "3*table(3, m)"),
        ("table(m, m, m)", {"m": "a + b"}, "table((a + b), (a + b), m)"),
        ("foot*normal(foot)", {"foot": -1.5}, "(-1.5)*normal(foot)"),
        ("foot*normal ( foot )", {"normal(foot)": 0.0}, "foot*0"),
        ("normal*normal(a)", {"normal": 2.0}, "2*normal(a)"),
        ("sin(sin_)", {"sin_": 1.0, "sin": 5.0}, "sin(1)"),
    ],
)
def test_a_name_is_replaced_where_it_is_that_name(text, known, expected):
    assert Formula(text).with_names(known).text == expected


def test_a_table_may_be_called_as_a_parameter_is():
    arm = Mechanism(
        name="arm",
        parameters={"k": {"value": 2.0}},
        tables={"k": LookupTable(x=(0, 1), values=(0, 5))},
        bodies={"a": Body(joint=Joint(kind="revolute"))},
        loads={"push": Effort(coordinate="q_a", value="k*table(q_a, k)")},
    )
    assert with_numbers(arm).loads["push"].value == Formula("2*table(q_a, k)")


def test_normal_forces_of_constraints_that_are_gone_are_zero_and_others_stay():
    arm = Mechanism(
        name="arm",
        bodies={"a": Body(joint=Joint(kind="free")), "b": Body(joint=Joint(kind="free"))},
        constraints={n: Constraint(rolling=Rolling(wheel=n, radius=1)) for n in "ab"},
        loads={"push": Effort(coordinate="a_x", value="normal(a) + 2*normal(b)")},
    )
    rest = without_constraints(arm, ["a"])
    assert list(rest.constraints) == ["b"]
    assert rest.loads["push"].value == Formula("0 + 2*normal(b)")
    assert without_constraints(arm, []) == arm
