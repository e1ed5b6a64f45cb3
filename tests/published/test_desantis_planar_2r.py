"""The planar arm of DeSantis 1996, section 7, symbol for symbol (with the corrections of its printed equations)."""

import pytest

from support.sweeps import mostly_slow
from torseur.describe import Mechanism
from torseur.dynamics.quantities import Options, function_of
from torseur.emit.bridges import to_sympy

sp = pytest.importorskip("sympy")

# Masses at the ends of the links, and their moments of inertia there; gravity along -y.
ARM = Mechanism.model_validate(
    {
        "name": "planar",
        "parameters": {name: {} for name in ("m1", "m2", "l1", "l2", "j1", "j2", "g")},
        "gravity": (0.0, "-g", 0.0),
        "bodies": {
            "first": {
                "joint": {"kind": "revolute", "coordinate": "th1"},
                "inertia": {"mass": "m1", "centre": ("l1", 0.0, 0.0), "tensor": {"zz": "j1"}},
            },
            "second": {
                "parent": "first",
                "place": {"mdh": {"d": "l1"}},
                "joint": {"kind": "revolute", "coordinate": "th2"},
                "inertia": {"mass": "m2", "centre": ("l2", 0.0, 0.0), "tensor": {"zz": "j2"}},
            },
        },
    }
)
SYMBOLS = sp.symbols("m1 m2 l1 l2 j1 j2 g th1 th2 dth1 dth2 vdot_dth1 vdot_dth2", real=True)
m1, m2, l1, l2, j1, j2, g, th1, th2, w1, w2, a1, a2 = SYMBOLS
s2, c1, c2, c12 = sp.sin(th2), sp.cos(th1), sp.cos(th2), sp.cos(th1 + th2)

D = sp.Matrix(
    [
        [m1 * l1**2 + m2 * (l1**2 + l2**2 + 2 * l1 * l2 * c2), m2 * (l2**2 + l1 * l2 * c2)],
        [m2 * (l2**2 + l1 * l2 * c2), m2 * l2**2],
    ]
) + sp.Matrix([[j1 + j2, j2], [j2, j2]])  # (7.22) is printed without j1 and j2, which (7.13) and (7.14) have
C = m2 * l1 * l2 * s2 * sp.Matrix([[-w2, -(w1 + w2)], [w1, 0]])  # (7.23)
GRAVITY = sp.Matrix([(m1 + m2) * g * l1 * c1 + m2 * g * l2 * c12, m2 * g * l2 * c12])  # (7.24)
GAMMA = sp.Matrix(  # (7.25), with the lost c2 in its first line
    [
        m2 * l2**2 * (a1 + a2)
        + m2 * l1 * l2 * c2 * (2 * a1 + a2)
        + (m1 + m2) * l1**2 * a1
        - m2 * l1 * l2 * s2 * w2**2
        - 2 * m2 * l1 * l2 * s2 * w1 * w2
        + (m1 + m2) * g * l1 * c1
        + m2 * g * l2 * c12,
        m2 * l1 * l2 * c2 * a1 + m2 * l1 * l2 * s2 * w1**2 + m2 * l2**2 * (a1 + a2) + m2 * g * l2 * c12,
    ]
)


def ours(quantity, *, base_parameters):
    (found,) = to_sympy(function_of(ARM, quantity, Options(base_parameters=base_parameters))).values()
    return found


@pytest.mark.parametrize("base_parameters", mostly_slow([False, True], quick=(False,)))
@pytest.mark.parametrize(
    ("quantity", "book"),
    [
        ("mass_matrix", D),
        ("coriolis", C),
        ("gravity", GRAVITY),
        ("inverse_dynamics", GAMMA + sp.Matrix([(j1 + j2) * a1 + j2 * a2, j2 * (a1 + a2)])),
        ("bias", C * sp.Matrix([w1, w2]) + GRAVITY),
    ],
)
def test_the_equations_are_those_of_the_book(quantity, book, base_parameters):
    difference = ours(quantity, base_parameters=base_parameters) - book
    assert sp.simplify(sp.expand(sp.expand_trig(difference))) == sp.zeros(*book.shape)
    symbols = set(SYMBOLS) & book.free_symbols
    assert symbols  # the book's expression is not trivially ours
    assert sp.simplify(sp.expand_trig(book)) != sp.zeros(*book.shape)


def test_forward_dynamics_solves_the_equations_of_the_book():
    tau = sp.Matrix(sp.symbols("tau_dth1 tau_dth2", real=True))
    residual = D * ours("forward_dynamics", base_parameters=True) + C * sp.Matrix([w1, w2]) + GRAVITY - tau
    assert sp.simplify(sp.expand_trig(residual)) == sp.zeros(2, 1)


def test_the_printed_equation_without_the_cosine_is_another_one():
    printed = GAMMA.subs(c2, c2).copy()
    printed[0] = printed[0] - m2 * l1 * l2 * c2 * (2 * a1 + a2) + m2 * l1 * l2 * (2 * a1 + a2)
    difference = ours("inverse_dynamics", base_parameters=False).subs({j1: 0, j2: 0}) - printed
    assert sp.simplify(sp.expand_trig(difference)) != sp.zeros(2, 1)
