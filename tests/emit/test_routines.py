"""Routines in native code: scalar and in lanes the same bits, and what Python computes to rounding."""

import numpy as np
import pytest

from support.constrained_minima import constrained, random_case
from support.lowered import evaluate_lowered
from torseur.emit import RK4, compile, integrator
from torseur.emit import routines as native_routines
from torseur.emit.ir import Lanes
from torseur.emit.routines import ROUTINES, routine_imports, symbol_of
from torseur.errors import CompileError
from torseur.graph import ConstrainedSystem, Function, Graph, products_at
from torseur.graph.calls import Callee
from torseur.graph.routine import EPSILON, In, Loops, Out, Routine, Work, sqrt

SIZES = [(0, 2, 0), (1, 1, 1), (2, 3, 1), (3, 3, 3), (3, 4, 2), (5, 3, 2), (6, 7, 6), (9, 13, 7), (20, 31, 17)]


def batch(m, n, rank, count):
    """States of different pivots; one is not wanted, one is no number."""
    rng = np.random.default_rng(100 * m + n)
    drawn = [random_case(rng, m, n, rank) for _ in range(count)]
    drawn[1]["wanted"] = 0.0
    drawn[2]["M"] = np.full((n, n), np.nan)
    return [np.stack([np.asarray(case[name]) for case in drawn]) for name in drawn[0]]


@pytest.mark.slow
@pytest.mark.parametrize(("m", "n", "rank"), SIZES)
def test_lanes_and_single_states_give_the_same_bits(m, n, rank):
    f, args = constrained(m, n), batch(m, n, rank, 11)
    single = compile(f, lanes=1)
    alone = [np.stack([single(*(a[k] for a in args))[o] for k in range(11)]) for o in range(3)]
    for lanes in (1, 2, 4, 8):
        for got, expected in zip(compile(f, lanes=lanes)(*args), alone, strict=True):
            np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize(("m", "n", "rank"), SIZES)
def test_native_code_computes_what_python_computes(m, n, rank):
    f, args = constrained(m, n), batch(m, n, rank, 5)
    native = compile(f)(*args)
    for k in range(5):
        expected = evaluate_lowered(f, *(a[k] for a in args))
        for got, values in zip(native, expected, strict=True):
            np.testing.assert_allclose(got[k], values, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e308])
@pytest.mark.parametrize("name", ["A", "M", "rank", "rows", "columns", "f", "b", "wanted"])
def test_numbers_without_sense_end_and_show(name, bad):
    f = constrained(4, 6)
    case = random_case(np.random.default_rng(3), 4, 6, 3)
    case[name] = np.full(np.shape(case[name]), bad)
    x, multipliers, about = compile(f)(*(case[b.name] for b in f.inputs))
    if name == "rank" and bad == 1e308:
        assert about[0] == 3  # too high: as far as rounding allows
    elif name == "wanted" and bad == -np.inf:
        assert not any(values.any() for values in (x, multipliers, about))
    elif name == "wanted" and bad == 1e308:
        assert np.isfinite(x).all()
    else:
        assert not np.isfinite(x).any()
        assert not np.isfinite(multipliers).any()


def test_an_integrator_calls_routines():
    """A bead on the straight wire x = y, said twice, under its weight: it slides with half of it."""
    g = Graph()
    state = g.block("state", 4)
    one, zero = g.one, g.zero
    system = ConstrainedSystem([[one, zero], [zero, one]], [[one, -one], [2.0 * one, -2.0 * one]], one)
    pull = system.solve([zero, g.number(-10.0)], [zero, zero])
    rate = Function("rate", [state], {"dot": [state[2], state[3], *pull]})
    motion = integrator(rate, RK4)([0.0, 0.0, 0.0, 0.0], step=0.1, steps=20)
    np.testing.assert_allclose(motion.states[0][-1], [-10.0, -10.0, -10.0, -10.0], rtol=1e-12)


# -- routines in step --------------------------------------------------------------------------------------------------
def table_of_products(n, used_again):
    """A table by two products, most of it an output as it stands; some entries are changed, some are used again."""
    g = Graph()
    blocks = [g.block(name, (n, 2)) for name in "ABCD"]
    rows = [[[b[i, k] for k in range(2)] for i in range(n)] for b in blocks]
    T = products_at([(i, j) for j in range(n) for i in range(j)], *rows)
    early = rows[0][0][0] * rows[1][1][1]
    for i in range(n):
        T[i][i] = early if i == 0 else T[i][0] + rows[0][i][1] * early  # an entry on the diagonal is nobody's product
    outputs = {"T": T, "early": early}
    if used_again:
        outputs["sums"] = [T[0][j] * early - T[j][0] for j in range(n)]
        T[0][1], outputs["moved"] = T[1][0] + T[0][1], T[0][1]  # an entry that is used, but not where it stood
    return Function("f", blocks, outputs)


@pytest.mark.parametrize("used_again", [False, True])
def test_products_in_lanes_and_of_single_states_have_the_same_bits(used_again, monkeypatch):
    monkeypatch.setattr("torseur.graph.products.MANY_PAIRS", 0)
    f = table_of_products(7, used_again)
    rng = np.random.default_rng(2)
    args = [rng.normal(size=(11, *b.shape)) for b in f.inputs]
    single = compile(f)
    alone = [single(*(a[k] for a in args)) for k in range(11)]
    for lanes in (2, 4):
        for got, values in zip(compile(f, lanes=lanes)(*args), zip(*alone, strict=True), strict=True):
            np.testing.assert_array_equal(got, np.stack(values))
    for got, values in zip(alone[3], evaluate_lowered(f, *(a[3] for a in args)), strict=True):
        np.testing.assert_allclose(got, values, rtol=0, atol=1e-13)


def test_products_that_go_where_they_are_wanted_do_not_depend_on_pieces(monkeypatch):
    monkeypatch.setattr("torseur.graph.products.MANY_PAIRS", 0)
    f = table_of_products(7, used_again=True)
    rng = np.random.default_rng(4)
    args = [rng.normal(size=b.shape) for b in f.inputs]
    whole = compile(f)(*args)
    monkeypatch.setattr("torseur.emit.kernel.CHUNK", 5)
    monkeypatch.setenv("TORSEUR_CACHE", "off")
    for got, values in zip(compile(f)(*args), whole, strict=True):
        np.testing.assert_array_equal(got, values)


# -- the translation ---------------------------------------------------------------------------------------------------
def mixed(n: int, given: In, y: Out, z: Out, w: Work) -> None:
    """Every statement and every operation; names that the assembly language might want for itself."""
    v1 = 1.0
    for i in range(n):
        w[i] = 2.0 * given[i] - 1.5e-3
        if not (given[i] > 0.0 and i != 1) or given[i] <= -EPSILON:
            w[i] = abs(w[i]) / (1.0 + sqrt(v1))
        else:
            v1 += w[i]
    place = n - 1
    while place >= 0 and place < n:
        y[place] = w[place] * (v1 - given[0]) - (w[0] - place)
        place = place - 1
    for i in range(n - 1, -1, -1):
        then1 = int(given[i] * 0.0)
        z[n - 1 - i] = -y[i] + z[then1]
        if i == 1:
            if y[i] == 0.0 or y[i] >= 1e30:
                return
            return


MIXED = Routine(mixed, (lambda n: n, lambda n: n), (lambda n: n,))


class Mixed(Callee):
    name, meaning = "mixed", "two results of a routine"

    def __init__(self, n: int) -> None:
        self.n_out = 2 * n
        self._lowering = Loops(MIXED, (n,), (Graph().block("given", n),))

    @property
    def digest(self) -> str:
        return self._lowering.digest

    def lowering(self) -> Loops:
        return self._lowering

    def tangent(self, bundle, tangents):
        raise NotImplementedError

    def adjoint(self, bundle, weights):
        raise NotImplementedError

    def reference(self, args):
        return [np.array(x) for x in self._lowering.reference(args)]


@pytest.mark.parametrize("n", [1, 2, 5])
def test_every_statement_runs_in_native_code(n, monkeypatch):
    monkeypatch.setattr(native_routines, "ROUTINES", {**ROUTINES, "mixed": MIXED})
    g = Graph()
    q = g.block("q", n)
    f = Function("f", [q], {"y": list(g.call(Mixed(n), list(q)))})
    points = np.random.default_rng(n).normal(size=(7, n)) + np.array([0.3])
    expected = [MIXED((n,), [point]) for point in points]
    for lanes in (1, 4):
        np.testing.assert_allclose(compile(f, lanes=lanes)(points), expected, rtol=1e-14, atol=1e-15)


def test_a_routine_that_is_not_known_is_an_error():
    with pytest.raises(CompileError, match=r"a routine of another version\s+got: torseur_other"):
        routine_imports(["torseur_other"])


def test_a_routine_is_compiled_once_for_all_who_call_it():
    names = [symbol_of(r, (2, 1, 1, 1, 1), Lanes(2)) if r.in_step else symbol_of(r) for r in ROUTINES.values()]
    assert routine_imports(names) == routine_imports(names)
    assert len(set(routine_imports(names).values())) == len(ROUTINES)
