"""Minimisation under constraints of a given rank, against the equations of Karush, Kuhn and Tucker in plain NumPy."""

from __future__ import annotations

import math
from collections import Counter
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.constrained_minima import constrained, plainly, random_case
from support.lowered import evaluate_lowered
from support.random_matrices import sixth_order
from torseur.graph import ConstrainedSystem, Function, Graph, Mode, count, evaluate, jacobian
from torseur.graph import constrained_routines as routines
from torseur.graph.linear import dot

NAN = math.nan
SHAPES = [(1, 1, 1), (1, 3, 1), (3, 3, 3), (2, 3, 1), (3, 5, 3), (3, 5, 2), (5, 3, 3), (5, 3, 2), (4, 4, 0), (6, 8, 4)]


def solved(case, **changes):
    """x, multipliers and (effective rank, last pivot, left over) by the routines themselves."""
    case = case | changes
    f = constrained(*np.shape(case["A"]), scaled="rows" in case)
    return evaluate_lowered(f, *(case[b.name] for b in f.inputs))


def by_reference(case):
    """x and multipliers by the plain evaluator."""
    f = constrained(*np.shape(case["A"]), scaled="rows" in case)
    return evaluate(f, *(case[b.name] for b in f.inputs))[:2]


def expected(case):
    keys = ("M", "A", "f", "b", "rows", "columns")
    M, A, f, b, rows, columns = (case.get(k) for k in keys)
    return plainly(M, A, int(case["rank"]), f, b, rows, columns)


@st.composite
def sizes(draw):
    m, n = draw(st.integers(1, 7)), draw(st.integers(1, 7))
    return m, n, draw(st.integers(0, min(m, n))), draw(st.integers(0, 2**32 - 1))


# -- what is solved ----------------------------------------------------------------------------------------------------
@settings(max_examples=80, deadline=None)
@given(sizes())
def test_solution_and_multipliers_are_those_of_one_plain_system(drawn):
    m, n, rank, seed = drawn
    case = random_case(np.random.default_rng(seed), m, n, rank)
    x, multipliers = expected(case)
    for found in (solved(case), by_reference(case)):
        np.testing.assert_allclose(found[0], x, rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(found[1], multipliers, rtol=1e-7, atol=1e-7)
    effective, _, left = solved(case)[2]
    assert effective == rank
    assert left <= 1e-12


@settings(max_examples=60, deadline=None)
@given(sizes())
def test_rows_that_contradict_each_other_are_met_as_well_as_can_be(drawn):
    m, n, rank, seed = drawn
    rng = np.random.default_rng(seed)
    case = random_case(rng, m, n, rank)
    case["b"] = rng.normal(size=m)
    found = solved(case)[0]
    gap = case["rows"] * (case["A"] @ found - case["b"])
    scaled = case["rows"][:, None] * case["A"] * case["columns"]
    np.testing.assert_allclose(scaled.T @ gap, 0.0, atol=1e-9 * (1 + np.abs(gap).max()) * np.abs(scaled).max())
    np.testing.assert_allclose(found, expected(case)[0], rtol=1e-8, atol=1e-8)


@settings(max_examples=60, deadline=None)
@given(sizes())
def test_multipliers_are_the_shortest_in_the_scaled_rows(drawn):
    m, n, rank, seed = drawn
    case = random_case(np.random.default_rng(seed), m, n, rank)
    x, multipliers, _ = solved(case)
    pull = case["M"] @ x - case["f"]
    np.testing.assert_allclose(case["A"].T @ multipliers, pull, atol=1e-8 * (1 + np.abs(pull).max()))
    own = multipliers / case["rows"]
    U, _, _ = np.linalg.svd(case["rows"][:, None] * case["A"] * case["columns"])
    idle = U[:, rank:]  # combinations of rows that pull at nothing
    np.testing.assert_allclose(idle.T @ own, 0.0, atol=1e-9 * (1 + np.abs(own).max()))


def turned(angle):
    """Four rows of rank two in three coordinates; turning them changes which entries are the largest."""
    c, s = math.cos(angle), math.sin(angle)
    A = np.array([[c, s, 0.0], [-s, c, 0.0], [c - s, s + c, 0.0], [0.6 * c, 0.6 * s, 0.0]])
    return {
        "M": np.diag([2.0, 3.0, 4.0]),
        "A": A,
        "rank": 2.0,
        "f": np.array([1.0, -2.0, 3.0]),
        "b": A @ [0.5, 0.2, 0.0],
        "wanted": 1.0,
    }


def test_nothing_jumps_where_the_pivots_change():
    angles = np.linspace(0.0, 2 * np.pi, 721)
    f = constrained(4, 3, scaled=False)
    orders, found = Counter(), []
    for angle in angles:
        case = turned(angle)
        entries = [case[b.name] for b in f.inputs]
        x, multipliers, _ = evaluate_lowered(f, *entries)
        found.append([*x, *multipliers])
        A = case["A"]
        tables = [[float(k) for k in side] for side in np.indices(A.shape).reshape(2, -1)]
        lower = [[float(k) for k in side] for side in np.tril_indices(3)]
        given = [*tables, *lower, [1.0], [2.0], [0.0], [1.0] * 4, [1.0] * 3, A.ravel(), case["M"][np.tril_indices(3)]]
        factors = routines.FACTORS((4, 3, 12, 6), given)
        orders[tuple(factors[3:10])] += 1
    assert len(orders) > 3  # other pivots, several times
    speeds = np.abs(np.diff(found, axis=0)) / np.diff(angles)[:, None]
    assert speeds.max() < 5.0


@settings(max_examples=40, deadline=None)
@given(sizes())
def test_redundant_rows_that_are_a_little_off_change_little(drawn):
    m, n, rank, seed = drawn
    rng = np.random.default_rng(seed)
    case = random_case(rng, m, n, rank)
    case["rows"], case["columns"] = np.ones(m), np.ones(n)
    off = case["A"] + 1e-8 * rng.uniform(-1, 1, (m, n))
    one, other = solved(case), solved(case, A=off, b=case["b"] + 1e-8 * rng.uniform(-1, 1, m))
    assert other[2][0] == rank
    assert np.abs(other[0] - one[0]).max() < 1e-6
    assert np.abs(other[1] - one[1]).max(initial=0.0) < 1e-5 * (1 + np.abs(one[1]).max(initial=0.0))


@pytest.mark.parametrize("massless", [[0], [1, 3], [0, 1, 2, 3]])
def test_coordinates_without_mass_are_carried_by_rows(massless):
    """Each is a combination of the last three, which have mass; two rows say it twice."""
    rng = np.random.default_rng(len(massless))
    case = random_case(rng, 4, 7, 4)
    M = case["M"].copy()
    M[massless, :] = M[:, massless] = 0.0
    A = np.hstack([np.eye(4), rng.normal(size=(4, 3))])
    A = np.vstack([A, A[0] + A[1]])
    case |= {"M": M, "A": A, "b": A @ rng.normal(size=7), "rank": 4.0, "rows": np.ones(5)}
    found = solved(case)
    x, multipliers = expected(case)
    np.testing.assert_allclose(found[0], x, rtol=1e-9)
    np.testing.assert_allclose(found[1], multipliers, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize(("m", "n", "rank"), [(3, 3, 3), (5, 3, 3), (4, 2, 2)])
def test_without_freedom_the_rows_alone_decide(m, n, rank):
    case = random_case(np.random.default_rng(m), m, n, rank)
    x = solved(case, f=np.full(n, 1e3), M=np.zeros((n, n)))[0]
    np.testing.assert_allclose(case["A"] @ x, case["b"], atol=1e-12)


@pytest.mark.parametrize(("m", "n"), [(0, 3), (2, 3), (4, 2)])
def test_without_rows_the_minimum_is_free(m, n):
    case = random_case(np.random.default_rng(n), m, n, 0)
    x, multipliers, about = solved(case)
    np.testing.assert_allclose(x, np.linalg.solve(case["M"], case["f"]), rtol=1e-12)
    assert not multipliers.any()
    assert about.tolist() == [0.0, 0.0, 0.0]


def test_right_hand_sides_of_zeros_need_no_call():
    g = Graph()
    a = g.symbol("a")
    system = ConstrainedSystem([[a, g.zero], [g.zero, a]], [[g.one, a]], g.one)
    assert system.solve([g.zero] * 2, [g.zero]) == [g.zero] * 2
    assert system.multipliers([g.zero] * 2) == [g.zero]


# -- the rank ----------------------------------------------------------------------------------------------------------
def test_pivots_say_how_near_the_rank_is_to_a_change():
    A = np.array([[2.0, 0.0, 0.0], [0.0, 1e-5, 0.0], [0.0, 0.0, 1e-9]])
    case = {"M": np.eye(3), "A": A, "f": np.ones(3), "b": np.zeros(3), "wanted": 1.0}
    for rank, last, left in [(3.0, 5e-10, 0.0), (2.0, 5e-6, 5e-10), (1.0, 1.0, 5e-6), (0.0, 0.0, 1.0)]:
        about = solved(case, rank=rank)[2]
        np.testing.assert_allclose(about, [rank, last, left], rtol=1e-12)


@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_a_pivot_that_is_rounding_is_not_taken(factor):
    """On either side of the limit, which is the one of the reference."""
    case = {"M": np.eye(2), "f": np.zeros(2), "b": np.array([1.0, 1.0]), "wanted": 1.0, "rank": 2.0}
    case["A"] = np.diag([1.0, factor * routines.ROUNDING])
    x, _, about = solved(case)
    assert about[0] == (2 if factor > 1 else 1)
    np.testing.assert_allclose(by_reference(case)[0], x, rtol=1e-12)


@pytest.mark.parametrize("rank", [4.0, 7.0, 1e300])
def test_a_rank_that_is_too_high_ends_where_rounding_begins(rank):
    case = random_case(np.random.default_rng(4), 5, 6, 3)
    x, multipliers, about = solved(case, rank=rank)
    assert about[0] == 3
    np.testing.assert_allclose(x, expected(case)[0], rtol=1e-9)
    np.testing.assert_allclose(multipliers, expected(case)[1], rtol=1e-8, atol=1e-9)


def test_a_rank_that_is_too_low_shows_in_what_is_left_over():
    case = random_case(np.random.default_rng(5), 3, 5, 3)
    for rank in (2.0, 1.0, 0.0, -1.0, -1e300):
        x, _, about = solved(case, rank=rank)
        assert about[0] == max(rank, 0)
        assert about[2] > 0.01
        assert np.isfinite(x).all()
        assert np.abs(case["A"] @ x - case["b"]).max() > 1e-3
        if rank <= 0:
            np.testing.assert_allclose(by_reference(case | {"rank": rank})[0], x, rtol=1e-10)


# -- units -------------------------------------------------------------------------------------------------------------
@settings(max_examples=40, deadline=None)
@given(sizes())
def test_other_units_of_rows_and_columns_change_nothing_but_units(drawn):
    """Rows in units of 1/u, coordinates in units of k: A -> u A k, and the scales undo it."""
    m, n, rank, seed = drawn
    rng = np.random.default_rng(seed)
    case = random_case(rng, m, n, rank)
    u, k = 10.0 ** rng.integers(-6, 7, m), 10.0 ** rng.integers(-6, 7, n)
    other = case | {
        "A": u[:, None] * case["A"] * k,
        "M": k[:, None] * case["M"] * k,
        "f": k * case["f"],
        "b": u * case["b"],
        "rows": case["rows"] / u,
        "columns": case["columns"] / k,
    }
    one, two = solved(case), solved(other)
    np.testing.assert_allclose(k * two[0], one[0], rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(u * two[1], one[1], rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(two[2], one[2], rtol=1e-9, atol=1e-12)


# -- what is no number, and what is not wanted -------------------------------------------------------------------------
@pytest.mark.parametrize("bad", [NAN, math.inf, -math.inf])
@pytest.mark.parametrize("name", ["A", "M", "rank", "rows", "columns", "wanted"])
def test_what_is_not_finite_gives_nan(name, bad):
    """In one place or in all of them."""
    for whole in (False, True):
        case = random_case(np.random.default_rng(6), 3, 4, 2)
        spoilt = np.array(case[name], dtype=float)
        spoilt[... if whole or not spoilt.ndim else (0,) * spoilt.ndim] = bad
        if name == "wanted" and bad == -math.inf:
            continue  # that is less than a half: not wanted
        for values in (*solved(case | {name: spoilt}), *by_reference(case | {name: spoilt})):
            assert np.isnan(values).all()


@pytest.mark.parametrize("name", ["f", "b"])
def test_a_right_hand_side_that_is_no_number_gives_nan(name):
    case = random_case(np.random.default_rng(7), 3, 4, 2)
    case[name] = np.where(np.arange(len(case[name])) == 1, NAN, case[name])
    x, multipliers, about = solved(case)
    assert np.isnan(x).all()
    assert np.isnan(multipliers).all()
    assert about[0] == 2


def test_a_minimum_that_does_not_exist_is_not_finite():
    """A coordinate without mass that no row carries."""
    case = {"M": np.diag([1.0, 0.0]), "A": np.array([[1.0, 0.0]]), "rank": 1.0, "f": np.ones(2), "b": np.ones(1)}
    assert not np.isfinite(solved(case | {"wanted": 1.0})[0][1])


def test_what_is_not_wanted_is_zero():
    case = random_case(np.random.default_rng(8), 3, 4, 2)
    for spoilt in (case, case | {"A": np.full((3, 4), NAN), "rank": NAN}):
        for found in (solved(spoilt | {"wanted": 0.0}), by_reference(spoilt | {"wanted": 0.0})):
            assert all(not values.any() for values in found)


# -- derivatives -------------------------------------------------------------------------------------------------------
def moved(m, n, rank):
    """x and multipliers of one parameter vector, A = L R of constant rank; and the same in plain NumPy."""
    g = Graph()
    L, R, S, f, z = (g.block(name, size) for name, size in _sizes(m, n, rank).items())
    A = [[sum((L[i * rank + k] * R[k * n + j] for k in range(rank)), g.zero) for j in range(n)] for i in range(m)]
    lower = {place: S[k] for k, place in enumerate(zip(*np.tril_indices(n), strict=True))}
    M = [[lower[max(i, j), min(i, j)] + (4.0 * n if i == j else 0.0) for j in range(n)] for i in range(n)]
    rows, columns = [g.number(0.5 + 0.3 * i) for i in range(m)], [g.number(2.0 - 0.2 * j) for j in range(n)]
    system = ConstrainedSystem(M, A, g.number(rank), rows, columns)
    x = system.solve(list(f), [dot(row, list(z), g.zero) for row in A])
    pull = [dot(row, x, g.zero) - fi for row, fi in zip(M, f, strict=True)]
    return [L, R, S, f, z], [*x, *system.multipliers(pull)]


def _sizes(m, n, rank):
    return {"L": m * rank, "R": rank * n, "S": n * (n + 1) // 2, "f": n, "z": n}


def law(m, n, rank):
    ends = np.cumsum(list(_sizes(m, n, rank).values()))[:-1]

    def plain(point):
        L, R, S, f, z = np.split(point, ends)
        A = L.reshape(m, rank) @ R.reshape(rank, n)
        M = np.zeros((n, n))
        M[np.tril_indices(n)] = S
        M = np.tril(M) + np.tril(M, -1).T + 4.0 * n * np.eye(n)
        rows, columns = 0.5 + 0.3 * np.arange(m), 2.0 - 0.2 * np.arange(n)
        return np.concatenate(plainly(M, A, rank, f, A @ z, rows, columns))

    return plain


@pytest.mark.parametrize("mode", [Mode.FORWARD, Mode.REVERSE])
@pytest.mark.parametrize(("m", "n", "rank"), [(1, 2, 1), (2, 3, 2), (3, 3, 2), (4, 3, 2), (3, 2, 2), (4, 4, 1)])
def test_derivatives_agree_with_differences(m, n, rank, mode):
    """At constant rank; redundant rows included."""
    blocks, results = moved(m, n, rank)
    wanted = [x for block in blocks for x in block]
    f = Function("d", blocks, {"J": jacobian(results, wanted, mode).dense()})
    point = np.random.default_rng(m * n + rank).normal(size=len(wanted))
    ends = np.cumsum([b.size for b in blocks])[:-1]
    differences = sixth_order(law(m, n, rank), point)
    for J in (evaluate(f, *np.split(point, ends))[0], evaluate_lowered(f, *np.split(point, ends))[0]):
        np.testing.assert_allclose(J, differences, atol=2e-8 * (1 + np.abs(differences).max()))


@pytest.mark.parametrize("mode", [Mode.FORWARD, Mode.REVERSE])
def test_rows_that_contradict_each_other_are_differentiated_too(mode):
    """b leaves the reach of the rows; A and M stay."""
    rng = np.random.default_rng(9)
    case = random_case(rng, 4, 3, 2)
    f = constrained(4, 3)
    inputs = {b.name: b for b in f.inputs}
    changing = [*inputs["f"], *inputs["b"]]
    J = Function("d", f.inputs, {"J": jacobian([*f.outputs[0].exprs], changing, mode).dense()})
    base = evaluate_lowered(J, *(case[b.name] for b in f.inputs))[0]

    def plain(point):
        return plainly(case["M"], case["A"], 2, point[:3], point[3:], case["rows"], case["columns"])[0]

    np.testing.assert_allclose(base, sixth_order(plain, np.concatenate([case["f"], case["b"]])), atol=1e-9)


def test_the_rank_and_its_signs_do_not_move():
    f = constrained(2, 3)
    J = jacobian([*f.outputs[2].exprs][:1], list(f.inputs[1]), Mode.FORWARD).dense()
    assert all(e is f.inputs[1][0].graph.zero for row in J for e in row)


# -- operations --------------------------------------------------------------------------------------------------------
class Counted(float):
    """A number that counts what is done with it."""

    seen: ClassVar[Counter] = Counter()

    def sqrt(self):
        Counted.seen["roots"] += 1
        return Counted(math.sqrt(self))

    def __abs__(self):
        return Counted(float.__abs__(self))


def _counting(kind, name):
    def run(self, other):
        Counted.seen[kind] += 1
        return Counted(getattr(float, name)(self, float(other)))

    return run


for _kind, _name in (("sums", "add"), ("sums", "sub"), ("products", "mul"), ("divisions", "truediv")):
    setattr(Counted, f"__{_name}__", _counting(_kind, f"__{_name}__"))
    setattr(Counted, f"__r{_name}__", _counting(_kind, f"__r{_name}__"))


@pytest.mark.parametrize(("m", "n"), [(1, 1), (2, 3), (3, 3), (5, 3), (6, 9)])
def test_counts_are_the_most_that_is_done(m, n, monkeypatch):
    monkeypatch.setattr(routines, "sqrt", lambda x: x.sqrt())

    def numbers(values):
        return [Counted(x) for x in np.ravel(values)]

    most = [Counter(), Counter(), Counter()]
    tables = [[float(k) for k in side] for side in (*np.indices((m, n)).reshape(2, -1), *np.tril_indices(n))]
    for rank in range(min(m, n) + 1):
        case = random_case(np.random.default_rng(rank), m, n, rank)
        scales = [numbers(case["rows"]), numbers(case["columns"])]
        lower = numbers(case["M"][np.tril_indices(n)])
        E, one = numbers(np.zeros(routines.factors_size(m, n))), [Counted(1.0)]
        f, b, room = numbers(case["f"]), numbers(case["b"]), numbers(np.zeros(max(m, n)))
        whole = m, n, m * n, len(lower)
        calls = [
            (
                routines.FACTORS,
                (
                    *whole,
                    *tables,
                    one,
                    [Counted(rank)],
                    [Counted(0.0)],
                    *scales,
                    numbers(case["A"]),
                    lower,
                    E,
                    room[:n],
                ),
            ),
            (routines.SOLUTION, (m, n, one, *scales, E, f, b, room[:n], room[:m], room[:n])),
            (routines.MULTIPLIERS, (m, n, one, *scales, E, f, room[:m], room[:m])),
        ]
        for k, (routine, arguments) in enumerate(calls):
            Counted.seen.clear()
            routine.body(*arguments)
            most[k] |= Counted.seen
    assert dict(most[1]) == {k: v for k, v in routines.SOLUTION.count(m, n).items() if v}
    assert dict(most[2]) == {k: v for k, v in routines.MULTIPLIERS.count(m, n).items() if v}
    claimed = routines.FACTORS.count(m, n, m * n, n * (n + 1) // 2)
    assert all(most[0][k] <= claimed[k] <= most[0][k] + 2 for k in claimed)


def test_a_function_counts_its_routines():
    f = constrained(2, 3)
    total = count(f)
    parts = [routines.FACTORS.count(2, 3, 6, 6), routines.SOLUTION.count(2, 3), routines.MULTIPLIERS.count(2, 3)]
    pull = 3 * 3  # M x - f
    assert total.products == sum(p["products"] for p in parts) + pull
    assert total.divisions == sum(p["divisions"] for p in parts)
