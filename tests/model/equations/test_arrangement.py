"""Sums as a person writes them: order, brackets and signs."""

import pytest

from torseur.model.equations.closed_form import _TEXT
from torseur.model.equations.collected_terms import Arranger, Kind

sp = pytest.importorskip("sympy")

NAMES = {"m": Kind.PARAMETER, "n": Kind.PARAMETER, "l": Kind.PARAMETER, "q": Kind.COORDINATE}
NAMES |= {"z": Kind.SPEED, "y": Kind.SPEED, "a": Kind.ACCELERATION, "b": Kind.ACCELERATION}
SYMBOLS = {name: sp.Symbol(name, real=True) for name in NAMES}


def written(text):
    order = {name: (kind, place) for place, (name, kind) in enumerate(NAMES.items())}
    return Arranger(sp, order).write(sp.sympify(text, locals=SYMBOLS), _TEXT)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("0", "0"),
        ("-m", "-m"),
        ("l*m", "m*l"),
        ("a*l**2*m + b*m*l**2", "m*l**2*(a + b)"),
        ("m*l*a + n*l*a", "(m + n)*l*a"),
        ("m*l*a - n*l*a", "(m - n)*l*a"),
        ("-m*l*a - n*l*a", "-(m + n)*l*a"),
        ("m*a + n*a", "(m + n)*a"),
        ("m + n", "m + n"),
        ("m*y**2 + 2*m*y*z + m*z**2", "m*(z + y)**2"),
        ("m*y - m*z", "-m*(z - y)"),
        ("m*(y - z)**2", "m*(z - y)**2"),
        ("m*y*(y - z)", "-m*y*(z - y)"),
        ("m*z*a + 3", "m*z*a + 3"),
        ("3*m*a + 2*m*y**2 + m*cos(q)", "3*m*a + 2*m*y**2 + m*cos(q)"),
        ("m*l*cos(q) + m*l**2", "m*l**2 + m*l*cos(q)"),
        ("9.81*m*l*cos(q) + 9.81*n*l*cos(q)", "9.81*(m + n)*l*cos(q)"),
        ("2*m*a + 4*n*a", "2*(m + 2*n)*a"),
        ("m/(n + l)", "m/(n + l)"),
        ("m*n/l", "m*n/l"),
        ("m/(n*l)", "m/(n*l)"),
        ("(m + n)/l**2", "(m + n)/l**2"),
        ("m*sin(q)/cos(q)", "m*sin(q)/cos(q)"),
        ("m*sin(q + 2*l)", "m*sin(2*l + q)"),
        ("m*sqrt(l**2 + n**2)", "m*sqrt(n**2 + l**2)"),
        ("m*Abs(q)*sign(z)", "m*abs(q)*sign(z)"),
    ],
)
def test_a_sum_is_written(given, expected):
    text = written(given)
    assert sp.simplify(sp.sympify(text, locals={**SYMBOLS, "abs": sp.Abs}) - sp.sympify(given, locals=SYMBOLS)) == 0
    assert text == expected


def test_what_it_does_not_know_is_sympys():
    assert "Piecewise" in written("m*Piecewise((q, q > 0), (0, True))")
