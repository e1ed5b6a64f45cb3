"""Impacts of several contacts at once: they push, give back what their restitution says, and gain no energy."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import torseur as ts
from torseur.describe import Mechanism
from torseur.simulation.switching import modes
from torseur.simulation.switching.impacts import Solved

J = 0.14
HUNDREDTHS = st.integers(-200, 200).map(
    lambda k: k / 100
)  # what is nearly the same place counts as closed at the start


@cache
def plate(count):
    """A plate of 1 kg that lifts (z) and tilts (a) on feet at x, each with its restitution e, ready to run."""
    bodies = {
        "lift": {"joint": {"kind": "prismatic", "coordinate": "z"}, "inertia": {"M": 0.0}},
        "plate": {
            "parent": "lift",
            "place": {"pose": {"rpy": ["pi/2", 0, 0]}},
            "joint": {"kind": "revolute", "coordinate": "a"},
            "inertia": {"M": 1.0, "ZZ": J},
        },
    }
    contacts = {f"foot{k}": {"contact": {"gap": f"z + x{k}*sin(a)", "restitution": f"e{k}"}} for k in range(count)}
    numbers = {f"{name}{k}": {"value": 0.5} for name in "xe" for k in range(count)}
    plate = Mechanism(name="plate", bodies=bodies, constraints=contacts, parameters=numbers, gravity=(0, 0, 0))
    return ts.Simulation(ts.Study(model=plate, until=1e-3, every=1e-3, solver={"method": "rk4"}))


def landed(feet, dz, da):
    """Speeds (2,) after all feet landed at once."""
    simulation = plate(len(feet))
    numbers = {f"x{k}": x for k, (x, _) in enumerate(feet)} | {f"e{k}": e for k, (_, e) in enumerate(feet)}
    p = np.array([numbers[name] for name in simulation.model.free_parameters])
    trajectory, _, _ = simulation.trajectory(start={"dz": dz, "da": da}, p=p)
    return trajectory.states[0, 2:4]


def energy(v):
    return 0.5 * v[0] ** 2 + 0.5 * J * v[1] ** 2


@pytest.mark.parametrize("restitutions", [(1.0, 0.0), (0.0, 1.0), (0.9, 0.3)])
def test_two_contacts_with_different_restitutions_gain_nothing(restitutions):
    """Both feet on one side of the centre: solving for both rebounds would let one of them pull."""
    before = np.array([-1.0, -0.2])
    after = landed(list(zip((1.0, 2.0), restitutions, strict=True)), *before)
    assert energy(after) <= energy(before) * (1 + 1e-12)


def test_contacts_that_push_give_back_what_their_restitution_says():
    after = landed([(1.0, 0.9), (-1.0, 0.1)], -1.0, 0.3)
    assert after[0] + after[1] == pytest.approx(0.9 * 0.7)
    assert after[0] - after[1] == pytest.approx(0.1 * 1.3)


def test_a_contact_that_would_pull_is_let_go():
    """The far foot alone stops what the near one would have to pull down: only the near one pushes."""
    after = landed([(1.0, 1.0), (2.0, 0.0)], -1.0, -0.2)
    assert after[0] + after[1] == pytest.approx(1.2)
    assert after[0] + 2.0 * after[1] > 0.5


def test_feet_that_repeat_each_other_give_back_the_largest_rebound_that_is_asked_for():
    after = landed([(1.0, 0.2), (1.0, 0.8), (-1.0, 0.5)], -1.0, 0.0)
    assert after[0] + after[1] == pytest.approx(0.8)
    assert after[0] - after[1] == pytest.approx(0.5)


@pytest.mark.slow
@settings(max_examples=200)
@given(
    feet=st.lists(st.tuples(HUNDREDTHS, st.floats(0, 1)), min_size=4, max_size=4),
    v=st.tuples(HUNDREDTHS, HUNDREDTHS),
)
def test_impacts_push_only_and_gain_nothing(feet, v):
    after, before = landed(feet, *v), np.array(v)
    assert energy(after) <= energy(before) * (1 + 1e-9) + 1e-12
    rows = np.array([[1.0, x] for x, _ in feet])
    assert (rows @ after).min() >= -1e-6  # nothing goes through the floor
    push = np.array([1.0, J]) * (after - before)  # a sum of pushes on the feet: within their cone
    lever, low, high = push[1], min(x for x, _ in feet), max(x for x, _ in feet)
    assert push[0] >= -1e-9
    assert low * push[0] - 1e-9 <= lever <= high * push[0] + 1e-9


def test_a_driven_contact_may_give_energy():
    """A racket that comes up at 2 m/s meets a ball at rest: it leaves with twice that, and the audit holds."""
    body = {"joint": {"kind": "prismatic", "coordinate": "z"}, "inertia": {"M": 1.0}}
    racket = {"racket": {"contact": {"gap": "z - 2*t + 1", "restitution": 1.0}}}
    ball = Mechanism(name="ball", bodies={"ball": body}, constraints=racket, gravity=(0, 0, 0))
    run = ts.simulate(ball, until=1.0)
    assert run["dz"][-1] == pytest.approx(4.0)
    assert run.audit().holds, run.audit()


def bouncing():
    body = {"joint": {"kind": "prismatic", "coordinate": "z"}, "inertia": {"M": 1.0}}
    ground = {"ground": {"contact": {"frame": "ball", "restitution": 0.9}}}
    return ts.simulate(Mechanism(name="ball", bodies={"ball": body}, constraints=ground), until=1.0, start={"z": 1.0})


def impacts(run):
    return next(row for row in run.audit().table if row["balance"] == "impacts")


def test_the_audit_tells_what_impacts_did():
    run = bouncing()
    assert impacts(run)["holds"]
    assert "impacts gain nothing" in run.audit().verdict


def test_an_impact_that_gains_energy_fails_the_audit(monkeypatch):
    def wrong(impact):
        after = impact.solve(frozenset(impact.rebounds), 1.2 / 0.9)
        energies = (impact.energy(impact.before, frozenset({0})), impact.energy(after, frozenset({0})))
        return Solved(after, frozenset(impact.rebounds), energies)

    monkeypatch.setattr(modes, "struck", wrong)
    run = bouncing()
    assert not run.audit().holds
    row = impacts(run)
    assert row["relative"] == pytest.approx(1.2**2 - 1.0)
    assert row["at"] == pytest.approx(np.sqrt(2.0 / 9.81))
    assert "an impact gains" in run.audit().verdict


def test_where_sticking_would_add_energy_all_rebounds_shrink_by_one_factor():
    """By hand: T = 1 before, 0.2 without rebounds, 0.2 + k^2 1.6 with a share k of them."""
    from torseur.simulation.switching.impacts import Impact, struck

    def solve(acting, factor):
        return np.array([factor])

    def energy_of(state, acting):
        return 1.0 if state[0] < 0.0 else 0.2 + 1.6 * state[0] ** 2

    impact = Impact(np.array([-1.0]), {0: 1.0}, solve, lambda state: [float(state[0])], energy_of)
    found = struck(impact)
    assert found.after[0] == pytest.approx(np.sqrt(0.5))
    assert found.energies[1] == pytest.approx(1.0)
