"""Interpolated tables pass through their points, keep to their data, and end as asked."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import CubicSpline, PchipInterpolator

import torseur.graph as tg
from torseur.errors import GraphError
from torseur.graph import Function, Graph, Interpolation, Outside, Piecewise, evaluate, ops
from torseur.graph.functions import interpolation

XS, YS = [-1.0, 0.0, 0.5, 2.0], [0.0, 1.0, 3.0, -1.0]
CUBIC = Interpolation.MONOTONE_CUBIC
KINDS = [(kind, outside) for kind in Interpolation for outside in Outside]


def curve(xs, ys, kind=Interpolation.LINEAR, outside=Outside.HOLD, derivatives=0):
    """A table as a vectorised function of its argument."""
    g = Graph()
    x = g.symbol("x")
    y = tg.table(x, xs, ys, kind, outside)
    for _ in range(derivatives):
        (y,) = tg.gradient(y, [x])
    f = Function("f", [g.blocks["x"]], {"y": y})
    return lambda at: evaluate(f, at)[0]


@st.composite
def points(draw):
    n = draw(st.integers(2, 8))
    gaps = draw(st.lists(st.integers(1, 10_000), min_size=n, max_size=n))
    ys = draw(st.lists(st.integers(-10_000, 10_000), min_size=n, max_size=n))
    return (np.cumsum(gaps) / 1e3).tolist(), (np.array(ys) / 1e3).tolist()


@pytest.mark.parametrize(("kind", "outside"), KINDS)
@settings(max_examples=30)
@given(data=points())
def test_table_passes_through_its_points_exactly(kind, outside, data):
    xs, ys = data
    assert curve(xs, ys, kind, outside)(np.array(xs)).tolist() == ys


@settings(max_examples=50)
@given(data=points(), seed=st.integers(0, 2**32 - 1))
def test_linear_table_is_that_of_numpy(data, seed):
    xs, ys = data
    x = np.random.default_rng(seed).uniform(xs[0] - 1, xs[-1] + 1, 20)
    np.testing.assert_allclose(curve(xs, ys)(x), np.interp(x, xs, ys), rtol=1e-12, atol=1e-12)


@settings(max_examples=50)
@given(data=points(), seed=st.integers(0, 2**32 - 1))
def test_cubic_table_is_that_of_fritsch_and_carlson(data, seed):
    xs, ys = data
    x = np.random.default_rng(seed).uniform(xs[0], xs[-1], 20)
    got = curve(xs, ys, Interpolation.MONOTONE_CUBIC)(x)
    np.testing.assert_allclose(got, PchipInterpolator(xs, ys)(x), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", [Interpolation.LINEAR, Interpolation.MONOTONE_CUBIC])
@settings(max_examples=50)
@given(data=points(), seed=st.integers(0, 2**32 - 1))
def test_a_table_never_leaves_the_range_of_the_two_points_around_it(kind, data, seed):
    xs, ys = data
    f = curve(xs, ys, kind)
    for k in range(len(xs) - 1):
        inside = f(np.random.default_rng(seed).uniform(xs[k], xs[k + 1], 20))
        low, high = sorted(ys[k : k + 2])
        slack = 1e-12 * (1 + abs(low) + abs(high))
        assert (inside >= low - slack).all()
        assert (inside <= high + slack).all()


def test_slope_of_the_cubic_is_continuous():
    slope = curve(XS, YS, Interpolation.MONOTONE_CUBIC, derivatives=1)
    for b in XS[1:-1]:
        assert slope(b) == pytest.approx(slope(np.nextafter(b, -9)), abs=1e-12)


@settings(max_examples=50)
@given(data=points(), seed=st.integers(0, 2**32 - 1))
def test_a_smooth_table_that_extends_is_the_natural_spline(data, seed):
    xs, ys = data
    x = np.random.default_rng(seed).uniform(xs[0], xs[-1], 20)
    got = curve(xs, ys, Interpolation.SMOOTH, Outside.EXTEND)(x)
    np.testing.assert_allclose(got, CubicSpline(xs, ys, bc_type="natural")(x), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("outside", Outside)
@settings(max_examples=50)
@given(data=points())
def test_value_slope_and_curvature_of_a_smooth_table_are_continuous_everywhere(outside, data):
    xs, ys = data
    for derivatives in range(3):
        f = curve(xs, ys, Interpolation.SMOOTH, outside, derivatives)
        scale = 1 + np.abs(f(np.concatenate([np.linspace(a, b, 20) for a, b in pairwise(xs)]))).max()
        rounding = 1e-14 * np.abs(ys).max() / np.diff(xs).min() ** derivatives  # of divided differences
        steepest = np.abs(curve(xs, ys, Interpolation.SMOOTH, outside, derivatives + 1)(np.array(xs))).max()
        for b in xs:
            before = np.nextafter(b, -9)
            assert f(b) == pytest.approx(f(before), abs=1e-10 * scale + rounding + 2 * steepest * (b - before))


def test_a_smooth_table_of_two_points_is_a_step_without_slope_and_curvature_at_its_ends():
    u = np.linspace(0, 1, 11)
    got = curve([0, 1], [0, 1], Interpolation.SMOOTH)(u)
    np.testing.assert_allclose(got, 10 * u**3 - 15 * u**4 + 6 * u**5, atol=1e-15)


@pytest.mark.parametrize("kind", Interpolation)
def test_beyond_its_ends_a_table_holds_or_extends(kind):
    hold, extend = (curve(XS, YS, kind, outside) for outside in Outside)
    assert hold([-9.0, -1e300, 7.0, 1e300]).tolist() == [0.0, 0.0, -1.0, -1.0]
    slope = curve(XS, YS, kind, Outside.EXTEND, derivatives=1)
    first, last = slope(-1.0), slope(np.nextafter(2.0, 0))
    np.testing.assert_allclose(extend([-3.0, 4.0]), [-2.0 * first, -1.0 + 2.0 * last], atol=1e-12)
    np.testing.assert_allclose(slope([-3.0, 4.0]), [first, last], atol=1e-12)
    assert (curve(XS, YS, kind, Outside.HOLD, derivatives=1)([-3.0, 4.0]) == 0.0).all()


@pytest.mark.parametrize("outside", Outside)
@pytest.mark.parametrize(("kind", "derivatives"), [(k, d) for k in Interpolation for d in range(2 + 2 * (k is CUBIC))])
def test_nan_passes_through_a_table_and_its_derivatives(kind, outside, derivatives):
    assert math.isnan(curve(XS, YS, kind, outside, derivatives)(math.nan))


@pytest.mark.parametrize("kind", Interpolation)
def test_a_held_end_is_held_at_infinity_too(kind):
    f = curve(XS, YS, kind, Outside.HOLD)
    assert f([-math.inf, math.inf]).tolist() == [0.0, -1.0]
    assert curve(XS, YS, kind, Outside.HOLD, derivatives=1)([-math.inf, math.inf]).tolist() == [0.0, 0.0]


def test_derivatives_of_a_table_are_tables_until_they_are_zero():
    g = Graph()
    x = g.symbol("x")
    y = tg.table(x, XS, YS, Interpolation.MONOTONE_CUBIC, Outside.EXTEND)
    degrees = []
    while y is not g.zero:
        assert y.op is ops.PIECEWISE
        degrees.append(y.data.degree)
        (y,) = tg.gradient(y, [x])
    assert degrees == [3, 2, 1, 0]


def test_second_derivative_of_the_cubic_is_that_of_its_polynomials():
    theirs = PchipInterpolator(XS, YS)
    x = np.array([-0.7, 0.2, 0.4, 1.1, 1.9])
    for order in (1, 2, 3):
        got = curve(XS, YS, Interpolation.MONOTONE_CUBIC, derivatives=order)(x)
        np.testing.assert_allclose(got, theirs(x, order), rtol=1e-11)


def test_constant_arguments_are_looked_up_while_building():
    g = Graph()
    for kind, outside in KINDS:
        assert float(tg.table(g.number(0.5), XS, YS, kind, outside)) == 3.0
        assert float(tg.table(g.number(-1.0), XS, YS, kind, outside)) == 0.0
    assert float(tg.table(g.number(math.inf), XS, YS)) == -1.0
    endless = tg.table(g.number(math.inf), XS, YS, Interpolation.LINEAR, Outside.EXTEND)
    assert not endless.is_number  # no finite value: left to run time
    assert not np.isfinite(evaluate(Function("f", [], {"y": endless}))[0])


def test_equal_tables_are_one_node_and_zero_tables_are_zero():
    g = Graph()
    x = g.symbol("x")
    assert tg.table(x, XS, YS) is tg.table(x, np.array(XS), tuple(YS))
    assert tg.table(x, XS, YS) is not tg.table(x, XS, YS, outside=Outside.EXTEND)
    assert tg.table(x, XS, [0, 0, 0, 0]) is g.zero
    assert tg.table(x, [0, 1], [1, 2], Interpolation.LINEAR) is not tg.table(x, [0, 1], [1, 3], Interpolation.LINEAR)


def test_two_points_are_enough():
    for kind in Interpolation:
        np.testing.assert_allclose(curve([1, 3], [2, 6], kind)([0.0, 1.0, 2.0, 3.0, 9.0]), [2, 2, 4, 6, 6])


def test_a_table_of_many_points_is_searched_not_scanned():
    xs = np.sort(np.random.default_rng(0).uniform(0, 1, 5000))
    ys = np.sin(20 * xs)
    at = np.random.default_rng(1).uniform(-0.1, 1.1, 1000)
    np.testing.assert_allclose(curve(xs, ys)(at), np.interp(at, xs, ys), atol=1e-10)


@pytest.mark.parametrize(
    ("xs", "ys", "what", "got"),
    [
        ([0.0], [1.0], "two lists of one length", r"\(1,\)"),
        ([0.0, 1.0], [1.0], "two lists of one length", r"\(2,\) and \(1,\)"),
        ([[0.0, 1.0]], [[1.0, 2.0]], "two lists of one length", r"\(1, 2\)"),
        ([0.0, math.nan], [1.0, 2.0], "finite numbers", "point 2"),
        ([0.0, 1.0, 2.0], [1.0, math.inf, 2.0], "finite numbers", "inf.* at point 2"),
        ([0.0, 0.0], [1.0, 2.0], "must increase", "points 1 and 2"),
        ([0.0, 2.0, 1.0], [1.0, 2.0, 3.0], "must increase", r"points 2 and 3[\s\S]*2.0, 1.0[\s\S]*sort"),
        ([0.0, 1e-320], [0.0, 1e300], "too steep", "double precision"),
        ([0.0, 1.0], [-1e308, 1e308], "too steep", "double precision"),
        (["0", "1"], [1.0, 2.0], "'x' of a table is not made of numbers", "<U1"),
        ([0.0, 1.0], ["a", "b"], "'y' of a table is not made of numbers", "<U1"),
        ([0.0, 1.0], [1.0, 2j], "'y' of a table is not made of numbers", "complex"),
        ([0.0, 1.0], [1.0, {}], "'y' of a table is not made of numbers", "dict"),
        ([0.0, [1.0]], [1.0, 2.0], "'x' of a table is ragged", "a list of numbers"),
    ],
)
def test_wrong_data_is_refused_with_its_place(xs, ys, what, got):
    x = Graph().symbol("x")
    with pytest.raises(GraphError, match=rf"{what}[\s\S]*{got}"):
        tg.table(x, xs, ys)


def test_wrong_options_are_refused():
    x = Graph().symbol("x")
    assert tg.table(x, XS, YS, "linear", "hold") is tg.table(x, XS, YS, Interpolation.LINEAR, Outside.HOLD)
    with pytest.raises(GraphError, match=r"'linear'[\s\S]*'quintic'"):
        tg.table(x, XS, YS, "quintic")
    with pytest.raises(GraphError, match=r"'hold'[\s\S]*'nothing'"):
        tg.table(x, XS, YS, Interpolation.LINEAR, "nothing")
    with pytest.raises(GraphError, match=r"no expression[\s\S]*graph.number"):
        tg.table(1.0, XS, YS)


def test_a_piecewise_polynomial_can_be_read_on_its_own():
    p = Piecewise((0.0, 1.0), (0.0, 0.0, 1.0), ((1.0, 0.0), (1.0, 2.0), (3.0, 0.0)))
    assert p(np.array([-1.0, 0.0, 0.5, 1.0, 2.0])).tolist() == [1.0, 1.0, 2.0, 3.0, 3.0]
    assert p.derivative()(np.array([-1.0, 0.0, 0.5, 1.0])).tolist() == [0.0, 2.0, 2.0, 0.0]
    assert p.degree == 1


@pytest.mark.parametrize("kind", Interpolation)
def test_beyond_the_ends_the_last_points_are_held_exactly(kind):
    curve = interpolation([-1.0, -0.5, -0.38], [0.0, 1.0, 0.0], kind, Outside.HOLD)
    assert curve(np.array([-2.0, -1.0, -0.38, 0.0, 7.0])).tolist() == [0.0] * 5
