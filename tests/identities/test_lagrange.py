"""The recursion of Newton and Euler against the equations from energies, two ways that share no step."""

import pytest
from hypothesis import given, settings

from evaluated import Evaluated, assert_same
from lagrangian import by_lagrange
from mechanisms import BASES, MOVING, BodyPlan, Plan, mechanism_of, plans, state_of


def assert_agree(mechanism, seed=0):
    s = state_of(mechanism, seed)
    assert_same(Evaluated(mechanism, loads=False)("inverse_dynamics", s.q, s.v, s.vdot), by_lagrange(mechanism, s))


@pytest.mark.parametrize("kind", MOVING)
def test_every_joint_kind_twice_in_a_row(kind):
    assert_agree(mechanism_of(Plan("fixed", (BodyPlan(kind, -1), BodyPlan(kind, 0, "rpy", "central")), seed=5)))


@pytest.mark.parametrize("base", BASES)
def test_every_base_with_an_arm_and_oblique_rotors(base):
    bodies = (BodyPlan("revolute", -1, "rpy"), BodyPlan("prismatic", 0), BodyPlan("fixed", 1, "dh"))
    loads = ("motor", "far_motor", "motor", "transmission")
    assert_agree(mechanism_of(Plan(base, bodies, loads, symbols=True, seed=2)))


@given(plan=plans(max_bodies=3, loads=("motor", "far_motor", "transmission")))
@settings(max_examples=15)
def test_random_mechanisms(plan):
    assert_agree(mechanism_of(plan), plan.seed % 1000)
