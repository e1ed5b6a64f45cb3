"""Elementary functions against mpmath, in units in the last place."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from torseur.emit import compile, source
from torseur.emit.jit import Machine, host
from torseur.graph import Function, Graph, ops
from torseur.graph.nodes import Expr

WIDTHS = [1, 4]
PROCESSORS = {"this processor": host(), "the plainest of its kind": Machine(host().triple, "", "")}  # often without fma
rng = np.random.default_rng(20)


@pytest.fixture(params=PROCESSORS)
def processor(request, monkeypatch):
    monkeypatch.setattr(source, "host", lambda: PROCESSORS[request.param])


def ulps(actual, exact) -> float:
    """How far a double is from an mpmath number, in units in the last place of the double nearest to it."""
    nearest = float(exact)
    if math.isinf(nearest) or nearest == 0.0:
        return 0.0 if actual == nearest else math.inf
    return float(abs(mpmath.mpf(float(actual)) - exact) / mpmath.mpf(math.ulp(nearest)))


def worst(actual, points, function) -> tuple[float, float]:
    """The largest error over some points, and where."""
    errors = []
    for y, x in zip(actual, points, strict=True):
        given = [float(e) for e in np.atleast_1d(x)]
        with mpmath.workprec(
            160 + max(0, *(math.frexp(e)[1] for e in given), 0)
        ):  # 1e308 has 1024 bits before the point
            errors.append(ulps(y, function(*map(mpmath.mpf, given))))
    k = int(np.argmax(errors))
    return errors[k], points[k]


def native_of(op, lanes):
    g = Graph()
    x = g.block("x", op.arity)
    native = compile(Function("f", [x], {"y": g.node(Expr, op, tuple(x))}), lanes=lanes)
    return lambda points: native(np.reshape(points, (-1, op.arity)))


# -- sine, cosine, tangent ---------------------------------------------------------------------------------------------


def sincos(lanes):
    g = Graph()
    x = g.block("x", ())
    native = compile(Function("f", [x], {"s": x[0].sin(), "c": x[0].cos(), "t": x[0].tan()}), lanes=lanes)
    return native


def awkward_angles():
    """Doubles that lie closest to multiples of pi/2, and their neighbours."""
    k = np.unique(np.concatenate([np.arange(1, 60), rng.integers(60, 640_000, 150), [636_618, 636_619, 636_620]]))
    with mpmath.workprec(200):
        near = np.array([float(int(i) * mpmath.pi / 2) for i in k])
    border = [1.2154e6, 999_999.999_999_9, 1e6, 1_000_000.1]
    return np.concatenate([near, np.nextafter(near, 0), np.nextafter(near, np.inf), border])


ANGLES = {
    "ordinary": rng.uniform(-7, 7, 400),
    "large": rng.uniform(-1e6, 1e6, 300),
    "near multiples of half pi": awkward_angles(),
    "halfway between them": (np.arange(200) + 0.5) * np.pi / 2,
    "huge": np.array([1e22, 1e16, 1e100, 1e308, 1.7976931348623157e308, 2.0**70, 2.0**1023, 1e6 + 0.5, 123456789.0]),
    "tiny": np.array([1e-3, 1e-8, 1e-9, 2.0**-27, 1e-100, 2.3e-308, 1e-310, 5e-324]),
}


@pytest.mark.usefixtures("processor")
@pytest.mark.parametrize("lanes", WIDTHS)
@pytest.mark.parametrize("where", ANGLES)
def test_sine_and_cosine_err_by_less_than_one_unit(where, lanes):
    angles = np.concatenate([ANGLES[where], -ANGLES[where]])
    s, c, t = sincos(lanes)(angles)
    for actual, exact, limit in ((s, mpmath.sin, 1.0), (c, mpmath.cos, 1.0), (t, mpmath.tan, 3.0)):
        error, place = worst(actual, angles, exact)
        assert error < limit, f"{exact.__name__}({place!r}) is off by {error:.2f} units"


@given(st.floats(allow_nan=False, allow_infinity=False))
@settings(max_examples=100)
def test_sine_and_cosine_err_by_less_than_one_unit_anywhere(angle):
    s, c, _ = sincos(4)(np.array([angle, 0.5, -angle]))
    for actual, exact in ((s, mpmath.sin), (c, mpmath.cos)):
        assert worst(actual[:1], [angle], exact)[0] < 1.0
    assert s[2] == -s[0]
    assert c[2] == c[0]


@pytest.mark.parametrize("lanes", WIDTHS)
def test_beyond_a_million_the_c_library_answers(lanes):
    # The last is the double nearest of all to a multiple of pi/2 (Muller, Elementary Functions, 11.1).
    angles = np.array([1e7, -1e22, 1e308, 2.0**512, math.ldexp(6381956970095103, 797)])
    s, c, _ = sincos(lanes)(angles)
    np.testing.assert_array_equal(s, [math.sin(x) for x in angles])
    np.testing.assert_array_equal(c, [math.cos(x) for x in angles])


@pytest.mark.parametrize("lanes", WIDTHS)
def test_sine_and_cosine_of_zero_infinity_and_nan(lanes):
    s, c, t = sincos(lanes)(np.array([0.0, -0.0, np.inf, -np.inf, np.nan]))
    np.testing.assert_array_equal(s[:2], [0.0, 0.0])
    np.testing.assert_array_equal(t[:2], [0.0, 0.0])
    np.testing.assert_array_equal(c[:2], [1.0, 1.0])
    for values in (s, c, t):
        assert np.isnan(values[2:]).all()


@pytest.mark.parametrize("other", [1e22, 1e7, np.inf, np.nan, -1e308])
def test_a_huge_angle_leaves_the_lanes_beside_it_bit_for_bit_alone(other):
    native = sincos(4)
    small = rng.uniform(-10, 10, 12)
    expected = native(small)
    mixed = small.copy()
    mixed[[1, 6, 11]] = other
    rest = np.setdiff1d(np.arange(12), [1, 6, 11])
    for a, b in zip(native(mixed), expected, strict=True):
        np.testing.assert_array_equal(a[rest], b[rest])
    alone = native(np.full(4, other))
    for a, b in zip(native(mixed), alone, strict=True):
        np.testing.assert_array_equal(a[[1, 6, 11]], b[:3])


def test_each_of_many_angles_gets_its_own_sine():
    g = Graph()
    q = g.block("q", 5)
    native = compile(Function("f", [q], {"y": [f(e) for e in q for f in (type(e).sin, type(e).cos)]}), lanes=4)
    q = np.array([[0.1, 1e22, -3.0, 1e9, 7.0], [1e300, 0.2, 0.3, -1e12, 0.0], [1.0, 2.0, 3.0, 4.0, 5.0]])
    expected = np.stack([np.sin(q), np.cos(q)], axis=-1).reshape(3, 10)
    np.testing.assert_allclose(native(q), expected, rtol=1e-15)
    np.testing.assert_allclose([native(row) for row in q], expected, rtol=1e-15)


# -- the others --------------------------------------------------------------------------------------------------------

everywhere = np.concatenate(
    [rng.uniform(-5, 5, 150), 10.0 ** rng.uniform(-300, 2.5, 60), -(10.0 ** rng.uniform(-20, 2, 40))]
)
inside = np.concatenate(
    [rng.uniform(-1, 1, 200), 1 - 10.0 ** rng.uniform(-16, -1, 60), 10.0 ** rng.uniform(-300, 0, 40)]
)
positive = np.concatenate(
    [rng.uniform(0, 4, 150), 10.0 ** rng.uniform(-307, 308, 150), [5e-324, 1e-310, 1.0, 0.75, 1.5]]
)
near_one = np.concatenate([1 + rng.uniform(-0.3, 0.42, 200), 1 + 10.0 ** rng.uniform(-15, -1, 50), [math.sqrt(0.5)]])
exponents = np.concatenate([rng.uniform(-700, 709, 200), [-708.5, -740.2, -745.1, 709.78, 1e-20, -1e-20, 1e-8, 0.0]])
edges = np.array([0.4375, 0.6875, 1.1875, 2.4375, 0.625, 0.5, 22.0])
ranges = np.concatenate([edges, np.nextafter(edges, 0), np.nextafter(edges, 9), [1e16, 1e300, 66.0, 1e-9]])
plane = rng.uniform(-3, 3, (300, 2)) * 10.0 ** rng.integers(-150, 150, (300, 2))
angles = np.concatenate([plane, rng.uniform(-1, 1, (200, 2)), [[1e-320, 1e-320], [1e300, 1e-300], [-1e-300, -1e300]]])
powers = np.column_stack([10.0 ** rng.uniform(-3, 3, 200), rng.uniform(-20, 20, 200)])

CASES = [
    (ops.EXP, mpmath.exp, np.concatenate([exponents, everywhere[:150]])),
    (ops.LOG, mpmath.log, np.concatenate([positive, near_one])),
    (ops.SQRT, mpmath.sqrt, positive),
    (ops.ASIN, mpmath.asin, np.concatenate([inside, -inside])),
    (ops.ACOS, mpmath.acos, np.concatenate([inside, -inside])),
    (ops.ATAN, mpmath.atan, np.concatenate([everywhere, ranges, -ranges])),
    (ops.SINH, mpmath.sinh, np.concatenate([everywhere, ranges])),
    (ops.COSH, mpmath.cosh, np.concatenate([everywhere, ranges])),
    (ops.TANH, mpmath.tanh, np.concatenate([everywhere, ranges, -ranges])),
    (ops.ASINH, mpmath.asinh, np.concatenate([everywhere, ranges])),
    (ops.ACOSH, mpmath.acosh, 1 + positive[positive < 1e300]),
    (ops.ATANH, mpmath.atanh, np.concatenate([inside, -inside])[np.abs(np.concatenate([inside, inside])) < 1]),
    (ops.ATAN2, mpmath.atan2, angles),
    (ops.POW, mpmath.power, powers),
]


@pytest.mark.usefixtures("processor")
@pytest.mark.parametrize("lanes", WIDTHS)
@pytest.mark.parametrize(("op", "exact", "points"), CASES, ids=[repr(op) for op, _, _ in CASES])
def test_elementary_functions_err_by_a_few_units_at_most(op, exact, points, lanes):
    points = points[np.isfinite(points)] if points.ndim == 1 else points
    error, place = worst(native_of(op, lanes)(points), points, exact)
    assert error < 2.5, f"{op}({place!r}) is off by {error:.2f} units"


@pytest.mark.parametrize("lanes", WIDTHS)
@pytest.mark.parametrize(
    ("op", "border", "beyond"),
    [
        (ops.EXP, 709.782712893384, 709.7827128933841),
        (ops.SINH, 710.4758600739439, 710.475860073944),
        (ops.COSH, 710.4758600739439, 710.475860073944),
    ],
    ids=repr,
)
def test_overflow_comes_at_the_right_place(op, border, beyond, lanes):
    y = native_of(op, lanes)(np.array([border, beyond, 1e4]))
    assert np.isfinite(y[0])
    assert np.isinf(y[1:]).all()
