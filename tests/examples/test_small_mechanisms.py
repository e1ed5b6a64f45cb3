"""Four-bar linkage, rolling disc, heavy top, and the double pendulum of the demo."""

import sys

import numpy as np
import pytest

from support.evaluated import assert_same
from support.example_files import EXAMPLES, Example
from torseur.graph import evaluate


@pytest.fixture
def pendulum(monkeypatch):
    """The module of the demo."""
    monkeypatch.syspath_prepend(str(EXAMPLES / "double_pendulum"))
    import pendulum

    yield pendulum
    del sys.modules["pendulum"]


def test_the_double_pendulum_is_that_of_the_demo(pendulum):
    """Accelerations agree; the program's second angle is the sum of the joints' two."""
    described = Example("double_pendulum")
    p = described.numbers
    assert [[p["m1"], p["m2"]], [p["l1"], p["l2"]]] == [pendulum.PARAMETERS["m"], pendulum.PARAMETERS["l"]]
    q, v = np.array([0.8, -1.3]), np.array([1.5, -2.0])
    vdot = described("forward_dynamics", q, v, np.zeros(2))
    both = [q[0], q.sum()], [v[0], v.sum()]
    _, expected = evaluate(pendulum.double_pendulum().rate, *both, *pendulum.PARAMETERS.values())
    assert_same([vdot[0], vdot.sum()], expected)


def test_the_four_bar_has_the_lengths_and_masses_of_the_drift_test():
    linkage = Example("four_bar")
    p = linkage.numbers
    assert [p[k] for k in ("crank", "coupler", "rocker", "ground")] == [0.5, 1.5, 1.2, 1.4]
    assert linkage.mass() == pytest.approx(0.5 + 1.5 + 1.2)
    a, b, c = (linkage.place(frame) for frame in ("coupler_rod", "coupler_end", "rocker_rod"))
    assert_same(a, [0.5, 0, 0])
    assert_same(c, [1.4, 0, 0])
    assert_same([np.linalg.norm(b - a), np.linalg.norm(b - c)], [1.5, 1.2])
    assert b[2] > 0


def test_the_four_bar_has_one_degree_of_freedom():
    linkage = Example("four_bar")
    rows = linkage.rows(linkage.start)
    assert rows.shape == (5, 3)
    assert np.linalg.matrix_rank(rows, tol=1e-9) == 2


def test_a_rod_of_the_four_bar_swings_about_its_end_like_a_rod():
    """m l^2/3 about the joint of the rocker, which carries nothing."""
    linkage = Example("four_bar")
    M = linkage("mass_matrix", linkage.start)
    assert M[2, 2] == pytest.approx(1.2**3 / 3)
    assert_same(M[2, :2], [0, 0])


def test_the_disc_touches_the_ground_and_has_the_inertia_of_a_thin_disc():
    disc = Example("rolling_disc")
    rolling = disc.mechanism.constraints["ground"].rolling
    assert disc.number(rolling.radius) == disc.place("base")[2] == 0.3
    assert disc.turn("base")[:, "xyz".index(rolling.axle)] @ [0, 0, 1] == 0
    m, r = 2.0, 0.3
    expected = np.diag([m, m, m, m * r**2 / 4, m * r**2 / 2, m * r**2 / 4])
    assert_same(disc("mass_matrix", disc.start), expected)


def test_the_heavy_top_is_that_of_the_benchmark():
    """Inertia about the fixed point: m l^2 is added across the axis; gravity tips it about x."""
    top = Example("heavy_top")
    assert_same(top("mass_matrix", top.start), np.diag([15.234375, 0.46875, 15.234375]))
    assert_same(top("inverse_dynamics", top.start, top.rest, top.rest), [15 * 9.81, 0, 0])
    assert_same(top.place("centre"), [0, 1, 0])
