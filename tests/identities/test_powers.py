"""The power of loads, and the seven quantities an observer watches."""

import numpy as np
import pytest
from hypothesis import given, settings

from support.evaluated import Evaluated, assert_same
from support.plain import Plain
from support.random_mechanisms import LOAD_FORMS, BodyPlan, Plan, mechanism_of, plans, state_of
from torseur.errors import ArgumentError


@given(plan=plans(loads=LOAD_FORMS, max_loads=4, max_bodies=4))
@settings(max_examples=15)
def test_the_power_of_a_load_is_its_force_times_the_speeds(plan):
    mechanism = mechanism_of(plan)
    if not mechanism.loads:
        return
    s, plain = state_of(mechanism, plan.seed % 1000), Plain(mechanism)
    ours = Evaluated(mechanism)
    found = ours("load_powers", s.q, s.v, t=s.t, u=s.u)
    found = found if isinstance(found, tuple) else (found,)
    for name, power in zip(mechanism.loads, found, strict=True):
        assert_same(power, plain.load_force(name, s.q, s.v, s.t, s.u) @ s.v)


def test_a_mechanism_without_loads_has_no_powers():
    with pytest.raises(ArgumentError, match="no loads"):
        Evaluated(mechanism_of(Plan("fixed", (BodyPlan("revolute", -1),)))).function("load_powers")


@given(plan=plans(loads=("spring", "strut", "motor", "transmission"), max_bodies=4))
@settings(max_examples=10)
def test_the_seven_quantities_are_those_computed_one_by_one(plan):
    mechanism = mechanism_of(plan)
    s, ours = state_of(mechanism, plan.seed % 1000), Evaluated(mechanism)
    T, p, L = ours("energy_and_momentum", s.q, s.v)
    assert_same(T, ours("kinetic_energy", s.q, s.v), tolerance=1e-14)
    assert_same(np.concatenate([p, L]), ours("momentum", s.q, s.v), tolerance=1e-14)
    assert_same(ours("energy", s.q, s.v), T + ours("potential_energy", s.q), tolerance=1e-14)
