"""Base parameters of closed structures: the projected regressor, its rank at closed states, and its formulas."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from support.evaluated import Evaluated, arguments_of, assert_same
from support.example_files import EXAMPLES
from support.plain_motion import parameter_values
from support.sweeps import mostly_slow
from torseur.describe import Mechanism
from torseur.dynamics.constrained_motion.closed_states import AllowedMotions
from torseur.dynamics.parameters.closed_structures import closed_base_parameters
from torseur.dynamics.parameters.groupings import closed_groupings, grouping
from torseur.dynamics.quantities import QUANTITIES
from torseur.dynamics.workbench import Options, Workbench
from torseur.formats import load
from torseur.graph import evaluate
from torseur.model import build
from torseur.model.equations import equations

CLOSED = ("four_bar", "sr400", "tractor_trailer", "rolling_disc")


def example(name):
    return load(EXAMPLES / name / f"{name}.yaml")


@cache
def found(name):
    return closed_base_parameters(Workbench(example(name), Options(base_parameters=False)))


@cache
def motions(name, n=12, seed=3):
    """Closed motions: allowed speeds, and accelerations under random forces."""
    mechanism = example(name)
    call = Evaluated(mechanism)
    bench = Workbench(mechanism, Options(base_parameters=False))
    values = parameter_values(mechanism)
    m = AllowedMotions(bench).motions(n, np.array([values[x] for x in bench.system.p.names]), seed)
    more = {"u": m.inputs["u"], "t": m.inputs["t"]}
    tau = np.random.default_rng(seed).normal(size=m.v.shape)
    v = call("allowed_speeds", m.q, m.v, **more)
    return call, (m.q, v, call("forward_dynamics", m.q, v, tau, **more)), more


@pytest.mark.parametrize("name", mostly_slow(CLOSED, quick=("four_bar", "tractor_trailer", "rolling_disc")))
def test_base_regressor_times_base_parameters_is_what_the_independent_speeds_feel(name):
    """N' tau = (N' Y) K_B + N' given forces, at closed states."""
    call, (q, v, vdot), more = motions(name)
    N = call("reduction", q, **more)[0]
    tau = call("inverse_dynamics", q, v, vdot, **more) - call("given_forces", q, v, **more)
    Y, K = call("base_regressor", q, v, vdot, **more), call("base_parameters")
    assert_same(Y @ K, np.einsum("kij,ki->kj", N, tau), tolerance=1e-8)


@pytest.mark.parametrize("name", mostly_slow(CLOSED, quick=("four_bar", "tractor_trailer", "rolling_disc")))
def test_as_many_are_kept_as_the_rank_at_closed_states_and_the_others_are_combinations(name):
    closed, model = found(name), build(example(name))
    numeric = model.identifiable_parameters(seed=7)
    assert numeric.gap > 1e4
    assert len(closed.base.kept) == numeric.rank < len(closed.tree.kept) or name == "rolling_disc"
    assert closed.at_values is not None
    assert len(closed.at_values.kept) == len(closed.base.kept)


@pytest.mark.parametrize("quantity", ["actuator_efforts", "reduced_mass_matrix", "reduced_bias", "forward_dynamics"])
@pytest.mark.parametrize("name", mostly_slow(["four_bar", "sr400"], quick=("four_bar",)))
def test_equations_with_closed_groupings_move_alike_and_take_fewer_operations(name, quantity):
    mechanism = example(name)
    _, (q, v, vdot), more = motions(name)
    plain, base = (equations(mechanism, quantity, base_parameters=b) for b in (False, True))
    given = {"q": (q,), "v": (q, v), "vdot": (q, v, vdot), "tau": (q, v, vdot)}
    one, two = (
        evaluate(e.function, *arguments_of(mechanism, e.function, given[QUANTITIES[quantity].of[-1]], **more))[0]
        for e in (plain, base)
    )
    assert_same(one, two, tolerance=1e-8)
    assert base.count.total < plain.count.total


def written(name):
    base = found(name).base
    return {n: grouping(base, group) for n, group in zip(base.names, base.groups, strict=True)}


def test_a_point_mass_at_the_pin_of_a_four_bar_belongs_to_either_bar():
    """The coupler's MX as two point masses at its ends, MX/L at the far pin and -MX/L at the near one, and ZZ."""
    text = written("four_bar")
    assert text["MXR3"] == "MX3 + rocker/coupler*MX2"
    assert text["ZZR3"] == "ZZ3 + rocker**2/coupler*MX2"
    assert text["MXR1"] == "MX1 - crank/coupler*MX2 + crank*M2"
    assert text["ZZR2"] == "ZZ2 - coupler*MX2"
    assert len(text) == 8


@pytest.mark.slow
def test_links_of_a_parallelogram_that_turn_alike_share_their_tensors():
    """SR400, Khalil & Dombre 9.4.4: rod with upper arm, forearm side with lever; 42 inertial parameters are left."""
    text = written("sr400")
    assert text["XYR2"] == "XY2 + XY8"
    assert text["YZR2"] == "YZ2 + YZ8"
    assert text["ZZR2"].startswith("ZZ2 + ZZ8 + IA2")
    assert text["YZR7"] == "YZ7 - XZ3"
    assert text["MXR7"] == "MX7 + d8/d3*MX8 - d8*M8"
    assert sum(not name.startswith(("FV", "FS")) for name in text) == 42


def test_what_holds_at_the_values_of_the_description_only_is_told_apart():
    """A four-bar whose lengths happen to make a parallelogram: with other lengths it is none."""
    bar = example("four_bar")
    lengths = {"crank": 0.5, "rocker": 0.5, "coupler": 1.0, "ground": 1.0}
    changed = {n: p.model_copy(update={"value": lengths.get(n, p.value)}) for n, p in bar.parameters.items()}
    starts = {"crank_rod": 0.7, "coupler_rod": -0.7, "rocker_rod": 0.7}
    bodies = {}
    for name, body in bar.bodies.items():
        ((coordinate, record),) = body.joint.coordinates.items()
        joint = body.joint.model_copy(
            update={"coordinates": {coordinate: record.model_copy(update={"start": starts[name]})}}
        )
        bodies[name] = body.model_copy(update={"joint": joint})
    closed = closed_base_parameters(
        Workbench(bar.model_copy(update={"parameters": changed, "bodies": bodies}), Options(base_parameters=False))
    )
    assert closed.at_values is not None
    assert len(closed.at_values.kept) < len(closed.base.kept) == 8
    assert "at the values of the description, and not at others" in closed_groupings(closed)


def test_a_closed_structure_that_cannot_be_closed_keeps_what_the_rules_give():
    record = {
        "name": "gap",
        "bodies": {
            "a": {
                "joint": {"kind": "revolute", "coordinate": "q"},
                "inertia": {"M": 1.0, "ZZ": 1.0},
                "frames": {"tip": {"place": {"steps": ({"tx": 1.0},)}}},
            }
        },
        "loops": {"far": {"joint": "revolute", "between": ("post", "tip")}},
        "base": {"frames": {"post": {"place": {"steps": ({"tx": 3.0},)}}}},
    }
    closed = closed_base_parameters(Workbench(Mechanism.model_validate(record), Options(base_parameters=False)))
    assert closed.at_values is None
    assert "no closed position" in closed_groupings(closed)
