"""Limits of implicit methods, just within and just beyond their numbers, which are written out."""

from __future__ import annotations

import numpy as np
import pytest

from support.known_problems import second_order
from torseur.simulation.integrate.driver import integrate
from torseur.simulation.integrate.hooks import Limits
from torseur.simulation.solvers.second_order import NEWMARK


@pytest.mark.parametrize(("pivot", "moves"), [(3e-10, True), (3e-9, False)])
def test_rows_whose_pivot_is_below_a_billionth_of_the_largest_are_redundant(pivot, moves):
    """x = y, and x - y + e (x + y) = 0, under a push along both: the last pivot of A A' is e^2 of the first."""
    e = float(np.sqrt(pivot))
    rows = [lambda t, q: q[0] - q[1], lambda t, q: q[0] - q[1] + e * (q[0] + q[1])]
    problem = second_order(lambda t, q, v, z, p: [1.0, 1.0], 2, rows=rows)
    start = {"q": [0.0, 0.0], "v": [0.0, 0.0]}
    run = integrate(problem, start, (0.0, 0.01), method=NEWMARK, limits=Limits(first=0.01))
    moved = abs(float(run.final[0]))
    assert (moved > 1e-5) if moves else (moved < 1e-7), moved
