"""The matrix of centrifugal and Coriolis terms."""

import numpy as np
import pytest
from hypothesis import given, settings

from support.evaluated import Evaluated, arguments_of, assert_same
from support.random_mechanisms import BodyPlan, Plan, mechanism_of, plans, state_of
from torseur.dynamics.quantities import Options, Workbench
from torseur.dynamics.tree.system import rates
from torseur.errors import ArgumentError
from torseur.graph import Function, evaluate, tangents

RATES = ("revolute", "prismatic", "screw", "cylindrical", "universal", "fixed")
"""Joint kinds whose speeds are the rates of their coordinates."""


@given(plan=plans(bases=("fixed", "carrier"), kinds=RATES, max_bodies=3, loads=("motor", "far_motor", "transmission")))
@settings(max_examples=10)
def test_the_matrix_times_speeds_is_bias_less_gravity_and_it_keeps_the_energy(plan):
    mechanism = mechanism_of(plan)
    ours, s = Evaluated(mechanism, loads=False), state_of(mechanism, plan.seed % 1000)
    C = ours("coriolis", s.q, s.v)
    gravity, bias = ours("gravity", s.q), ours("bias", s.q, s.v)
    assert_same(C @ s.v, bias - gravity, size=float(np.abs(gravity).max()))
    bench = Workbench(mechanism, Options(loads=False))
    seeds = dict(zip(bench.system.q, rates(bench.system), strict=True))
    flat = [x for row in bench.matrix for x in row]
    function = Function("Mdot", [bench.system.q, bench.system.v, bench.system.p], {"Mdot": tangents(flat, seeds)})
    Mdot = evaluate(function, *arguments_of(mechanism, function, (s.q, s.v)))[0].reshape(C.shape)
    skew = Mdot - 2 * C
    assert_same(skew, -skew.T)


def test_gravity_is_the_bias_at_rest():
    mechanism = mechanism_of(Plan("floating", (BodyPlan("universal", -1), BodyPlan("spherical", 0)), seed=3))
    ours, s = Evaluated(mechanism), state_of(mechanism)
    assert_same(ours("gravity", s.q), ours("bias", s.q, 0 * s.v))


@pytest.mark.parametrize("kind", ["spherical", "planar", "free", "free_rpy"])
def test_speeds_that_are_no_rates_are_refused(kind):
    mechanism = mechanism_of(Plan("fixed", (BodyPlan(kind, -1),)))
    with pytest.raises(ArgumentError, match="rates of the coordinates"):
        Evaluated(mechanism).function("coriolis")
