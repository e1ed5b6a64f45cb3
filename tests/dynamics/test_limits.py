"""Limits of the dynamics: what lies just within one counts, what lies just beyond does not."""

import numpy as np
import pytest

from support.lowered import evaluate_lowered
from torseur.describe import Mechanism
from torseur.dynamics.constraints.closing import NumericRows
from torseur.dynamics.constraints.rank import (
    ClosedStates,
    Rank,
    dependent_columns,
    equilibrated,
    rank_here,
    rank_over,
    redundant_rows,
)
from torseur.dynamics.constraints.solvers import project
from torseur.dynamics.parameters.dependence import Elimination, identifiable
from torseur.dynamics.tree.system import System
from torseur.errors import ModelError, NumericalError, TorseurWarning
from torseur.graph import Function, Graph, evaluate
from torseur.model import build


def sliders(**more) -> Mechanism:
    """Two bodies of 1 kg that slide along one line, coordinates x and y, no gravity."""
    bodies = {n: {"joint": {"kind": "prismatic", "coordinate": n}, "inertia": {"M": 1.0}} for n in "xy"}
    return Mechanism.model_validate({"name": "sliders", "gravity": (0.0, 0.0, 0.0), "bodies": bodies, **more})


def speeds(coefficients) -> dict:
    return {"speeds": {"coefficients": coefficients}}


# -- ranks at one position ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("size", "weak", "rank"), [(1.0, 2e-6, 2), (1.0, 0.5e-6, 1), (10.0, 5e-6, 1), (0.1, 2e-6, 2)])
def test_a_millionth_of_the_usual_length_of_rows_is_none(size, weak, rank):
    A = np.diag([size, weak])
    assert rank_here(A) == rank
    assert redundant_rows(A) == [1] * (rank == 1)
    assert sorted(dependent_columns(A)) == list(range(rank))


# -- ranks over closed states ------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("second", "rank"), [(2e-7, 2), (0.5e-7, 1)])
def test_the_rank_is_where_the_widest_gap_is_down_to_a_rounding_of_1e_14(second, rank):
    """Half-way between one and rounding, in powers of ten, both gaps are as wide. Rows are longer at another state."""
    A = np.array([[[1.0, 0.0], [0.0, second]], [[1.0, 0.0], [1.0, 0.0]]])
    assert rank_over(A).rank == rank


@pytest.mark.parametrize(("noise", "rank"), [(0.0, 2), (1e-10, 1)])
def test_what_is_open_is_noise_for_ranks(noise, rank):
    A = np.array([[[1.0, 0.0], [0.0, 1e-6]], [[1.0, 0.0], [1.0, 0.0]]])
    assert rank_over(A, noise).rank == rank


@pytest.mark.parametrize(("length", "rank"), [(1e-14, 1), (0.25e-14, 0)])
def test_rows_that_are_rounding_have_no_rank(length, rank):
    """Ten times the rounding, and rows below a twentieth are not lengthened to one."""
    assert rank_over(np.array([[[length]]])).rank == rank


def test_short_rows_are_lengthened_to_one_down_to_a_twentieth():
    A = np.array([[[0.06, 0.0], [0.0, 0.04], [3.0, 4.0]]])
    np.testing.assert_allclose(np.linalg.norm(equilibrated(A), axis=-1), [[1.0, 0.8, 1.0]])


@pytest.mark.parametrize(("gap", "is_clear"), [(250.0, True), (150.0, False)])
def test_a_rank_is_clear_where_its_gap_is_a_hundred_times_any_other(gap, is_clear):
    assert Rank(1, gap, 2.0).is_clear == is_clear


def still(A) -> ClosedStates:
    """Rows without a position, the same everywhere."""
    A = np.asarray(A)
    m, n = A.shape
    rows = NumericRows(
        h=lambda q: np.zeros((len(q), 0)),
        A=lambda q: np.broadcast_to(A, (len(q), m, n)),
        moved=lambda q, d: q + d,
        holonomic=(),
        angles=np.ones(m, bool),
        lengths=np.zeros(n, bool),
        components=[(range(m), range(n))],
    )
    return ClosedStates(rows, np.zeros(n))


def test_a_pivot_is_weak_below_a_ten_thousandth_of_its_usual_size():
    rank, position, weak = still(np.diag([1.0, 0.5])).all_ranks(["a", "b"])
    assert (rank, position) == (2, 0)
    assert weak == pytest.approx(0.5e-4)


@pytest.mark.filterwarnings("always")
@pytest.mark.parametrize(("second", "warns"), [(3e-6, False), (1e-6, True), (4e-8, True), (1e-8, False)])
def test_ranks_in_doubt_are_told(second, warns, recwarn):
    """Rows of length one at a small angle e: singular values sqrt(2) and e/sqrt(2), so gaps of 2/e and e/2e-14."""
    still([[1.0, 0.0], [1.0, second]]).all_ranks(["a", "b"])
    assert any(isinstance(w.message, TorseurWarning) for w in recwarn) == warns


# -- constrained motion ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("coefficient", "holds"), [(2e-12, True), (0.5e-12, False)])
def test_a_row_below_a_trillionth_constrains_nothing(coefficient, holds):
    model = build(sliders(parameters={"c": {"value": coefficient}}, constraints={"row": speeds({"dx": "c"})}))
    vdot = model.forward_dynamics(np.zeros(2), np.zeros(2), np.ones(2))
    np.testing.assert_allclose(vdot, [0.0 if holds else 1.0, 1.0], atol=1e-12)


@pytest.mark.parametrize(("pivot", "weak", "rank"), [(2e-12, 0.0, 2), (0.5e-12, 0.0, 1), (2e-5, 1e-4, 1)])
def test_a_pivot_is_lost_below_a_trillionth_of_the_first_or_where_it_is_weak(pivot, weak, rank):
    g = Graph()
    A = g.block("A", (2, 2))
    rows, both = [[10.0 * A[0], 10.0 * A[1]], [10.0 * A[2], 10.0 * A[3]]], [((0, 1), (0, 1))]
    found = project(rows, both, [g.number(2.0)], [g.one] * 2, g, 2, weak=[g.number(weak)])
    function = Function("f", [A], {"rank": found.rank, "P": found.P})
    for counted, P in (evaluate(function, np.diag([1.0, pivot])), evaluate_lowered(function, np.diag([1.0, pivot]))):
        assert counted == rank
        np.testing.assert_allclose(P, np.diag([0.0, 2.0 - rank]), atol=1e-12)


@pytest.mark.parametrize(("share", "follows"), [(0.011, True), (0.009, False)])
def test_speeds_that_rows_fix_to_a_hundredth_are_dependent_first(share, follows):
    """dx + share dy = 0: dy follows dx as long as it is not too much faster, else dx follows dy."""
    N = build(sliders(constraints={"row": speeds({"dx": 1.0, "dy": share})})).function("reduction")(np.zeros(2))[0]
    np.testing.assert_allclose(N.ravel(), [1.0, -1.0 / share] if follows else [-share, 1.0])


@pytest.mark.parametrize(("off", "fits"), [(0.5e-9, True), (2e-9, False)])
def test_a_row_that_no_coordinate_changes_must_be_met_to_a_thousand_millionth(off, fits):
    """A point that turns about z stays at its height, which a plane demands to be zero."""
    tip = {"tip": {"place": {"pose": {"position": (1.0, 0.0, off)}}}}
    bodies = {"arm": {"joint": "revolute", "inertia": {"ZZ": 1.0}, "frames": tip}}
    loops = {"table": {"joint": "planar", "between": ("base", "tip")}}
    mechanism = Mechanism.model_validate({"name": "arm", "bodies": bodies, "loops": loops})
    if fits:
        assert build(mechanism).forward_dynamics([0.0], [0.0], [1.0]) == pytest.approx([1.0])
    else:
        with pytest.raises(ModelError, match="cannot be satisfied"):
            build(mechanism).forward_dynamics([0.0], [0.0], [1.0])


# -- frames ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("bend", "is_lost"), [(3e-5, False), (1.5e-5, True)])
def test_a_direction_is_lost_below_a_ten_billionth_of_the_largest_mobility(bend, is_lost):
    """Of two links of 1 m, nearly straight: the mobility along them goes with the square of the bend."""
    tip = {"tip": {"place": {"pose": {"position": (1.0, 0.0, 0.0)}}}}
    inertia = {"M": 1.0, "ZZ": 1.0}
    bodies = {
        "a": {"joint": "revolute", "inertia": inertia},
        "b": {"parent": "a", "place": {"mdh": {"d": 1.0}}, "joint": "revolute", "inertia": inertia, "frames": tip},
    }
    model = build(Mechanism.model_validate({"name": "arm", "gravity": (0.0, 0.0, 0.0), "bodies": bodies}))
    M = model.mass_matrix([0.3, bend])
    J = model.jacobian([0.3, bend], "tip")[:2]
    small, large = np.linalg.eigvalsh(J @ np.linalg.inv(M) @ J.T)
    assert (small < 1e-10 * large) == is_lost  # by plain NumPy
    if is_lost:
        with pytest.raises(NumericalError, match="lost a direction"):
            model.operational_space([0.3, bend], np.zeros(2), "tip", task="position")
    else:
        assert model.operational_space([0.3, bend], np.zeros(2), "tip", task="position")[-1] == 2


# -- base parameters ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("second", "count"), [(2e-9, 2), (0.5e-9, 1)])
def test_a_thousand_millionth_is_zero_in_eliminations_of_formulas(second, count):
    system = System(sliders())
    g = system.graph
    rows = [[g.one, g.zero], [g.one, g.number(second)]]
    assert len(Elimination(system).reduced(rows)) == count


@pytest.mark.parametrize(("second", "rank"), [(2e-9, 2), (0.5e-9, 1)])
def test_columns_of_a_regressor_count_above_a_thousand_millionth(second, rank):
    assert identifiable(np.array([[1.0, 0.0], [0.0, second], [0.0, 0.0]])).rank == rank  # in size
    assert identifiable(np.array([[1.0, 1.0], [0.0, second], [0.0, 0.0]])).rank == rank  # in direction
