"""What is made for a problem is made once, shared by threads, and let go with it."""

import gc
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from support.known_problems import kepler, kepler_start
from support.sweeps import mostly_slow
from torseur.simulation.integrate.driver import integrate
from torseur.simulation.integrate.hooks import Limits
from torseur.simulation.solvers.control import Tolerance
from torseur.simulation.solvers.methods import METHODS
from torseur.simulation.solvers.problem import Held, Problem, kept
from torseur.simulation.solvers.stepper import Stepper

EXPLICIT = [METHODS[name].method for name in ("rk4", "dopri5", "dop853")]


def moved(problem: Problem, method, e: float, until: float = 2.0):
    held = Held(np.zeros(0), np.zeros(0), np.ones(1))
    limits = Limits(first=0.01)
    return integrate(problem, kepler_start(e), (0.0, until), method=method, held=held, limits=limits).states[-1]


@pytest.mark.slow
@pytest.mark.parametrize("method", mostly_slow(EXPLICIT, quick=EXPLICIT[1:2]), ids=lambda m: m.name)
def test_a_problem_is_let_go_after_its_runs(method):
    problem = kepler()
    moved(problem, method, 0.3)
    gone = weakref.ref(problem)
    del problem
    gc.collect()
    assert gone() is None


def test_steppers_of_one_problem_share_code_and_nothing_else():
    problem = kepler()
    pulls = [Held(np.zeros(0), np.zeros(0), np.array([p])) for p in (1.0, 2.0)]
    one, other = (Stepper(EXPLICIT[1], problem, pull, Tolerance()) for pull in pulls)
    for stepper in (one, other):
        stepper.restart(0.0, kepler_start(0.3))
        stepper.attempt(0.1)
    assert one.code is other.code
    assert not np.array_equal(one.x, other.x)


@pytest.mark.parametrize("method", EXPLICIT, ids=lambda m: m.name)
def test_runs_in_threads_are_the_runs_one_after_the_other(method):
    shapes = np.linspace(0.1, 0.6, 12).tolist()
    alone = [moved(kepler(), method, e) for e in shapes[::4]]
    problem = kepler()
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda e: moved(problem, method, e), shapes))
    np.testing.assert_array_equal(together[::4], alone)


def test_what_many_ask_for_at_once_is_one_thing():
    problem = kepler()
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: kept(problem, "thing", object), range(200)))
    assert len({id(x) for x in found}) == 1
