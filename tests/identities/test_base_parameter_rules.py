"""The closed rules of base parameters against the rank of the regressor at random states: number and column space."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from support.evaluated import arguments_of, assert_same
from support.random_mechanisms import BASES, MOVING, mechanism_of, plans, random_plan, state_of
from torseur.describe import BaseKind, Mechanism, Transmission
from torseur.dynamics.parameters.base_parameters import BaseParameters, base_parameters
from torseur.dynamics.parameters.dependence import identifiable
from torseur.dynamics.parameters.regressor import TEN, regressor, standard_parameters
from torseur.dynamics.quantities import Options, Workbench
from torseur.errors import ArgumentError
from torseur.formats import load
from torseur.graph import Function, evaluate
from torseur.model import build

DATA = Path(__file__).parent.parent / "data"


@dataclass(frozen=True)
class Rules:
    """The closed rules of a mechanism, and its regressor at many states."""

    mechanism: Mechanism

    @cached_property
    def bench(self) -> Workbench:
        return Workbench(self.mechanism, Options(base_parameters=False))

    @cached_property
    def base(self) -> BaseParameters:
        return base_parameters(self.bench.tree)

    @cached_property
    def stack(self) -> np.ndarray:
        bench = self.bench
        K = standard_parameters(bench.tree)
        Y = regressor(bench.tree, K, list(bench.block("vdot")), bench.gravity)
        blocks = [bench.system.q, bench.system.v, bench.block("vdot"), bench.system.graph.blocks["t"], bench.system.p]
        function = Function("regressor", blocks, {"Y": Y})
        found = []
        for k in range(12 + 3 * len(K) // len(self.mechanism.v)):
            s = state_of(self.mechanism, k)
            found.append(evaluate(function, *arguments_of(self.mechanism, function, (s.q, s.v, s.vdot), s.t))[0])
        return np.vstack(found)

    @cached_property
    def combination(self) -> np.ndarray:
        """B of K_B = B K, at the values of the parameters."""
        entries = [(r, i, x) for r, group in enumerate(self.base.groups) for i, x in group.items()]
        function = Function("B", [self.bench.system.p], {"B": [x for _, _, x in entries]})
        values = evaluate(function, *arguments_of(self.mechanism, function, ()))[0]
        B = np.zeros((len(self.base.kept), len(self.base.standard)))
        for (r, i, _), value in zip(entries, values, strict=True):
            B[r, i] = value
        return B

    def assert_minimal_and_complete(self) -> None:
        kept = list(self.base.kept)
        found = identifiable(self.stack, prefer=kept)
        assert found.rank == len(kept)
        assert found.kept == tuple(kept)
        assert_same(self.stack[:, kept] @ self.combination, self.stack, size=float(np.abs(self.stack).max()))
        assert_same(found.combination, self.combination, tolerance=1e-8)


# -- random trees ------------------------------------------------------------------------------------------------------
@pytest.mark.slow
@given(plan=plans(loads=("friction", "transmission", "motor"), max_loads=3, max_bodies=4, kinds=MOVING))
@settings(max_examples=25)
def test_closed_rules_and_numerical_rank_agree_on_random_trees(plan):
    Rules(mechanism_of(plan)).assert_minimal_and_complete()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("base", BASES)
def test_they_agree_on_every_kind_of_base(base, seed):
    plan = random_plan(np.random.default_rng(seed), 3, base=base, kinds=MOVING, loads=2)
    loads = tuple(x for x in plan.loads if x != "far_motor")
    Rules(mechanism_of(replace(plan, loads=loads))).assert_minimal_and_complete()


@given(plan=plans(bases=("fixed",), kinds=("revolute", "prismatic", "cylindrical", "fixed"), max_bodies=5))
@settings(max_examples=20)
def test_they_agree_on_chains_near_a_fixed_base(plan):
    Rules(mechanism_of(plan)).assert_minimal_and_complete()


# -- special geometry --------------------------------------------------------------------------------------------------
def chain(axes, gravity=(0.0, 0.0, -9.81), *, drives=True):
    """Joints along or about the given axes of the world at q = 0: "Rz", "Px", ...; a step between them."""
    turn = {"x": {"ry": "pi/2"}, "y": {"rx": "-pi/2"}, "z": {"rz": 0.0}}
    back = {"x": {"ry": "-pi/2"}, "y": {"rx": "pi/2"}, "z": {"rz": 0.0}}
    rng = np.random.default_rng(7)
    bodies, last = {}, "z"
    for k, (kind, axis) in enumerate(axes):
        steps = [back[last], {"tx": 0.3}, {"ty": 0.2}, {"tz": 0.1}, turn[axis]]
        inertia = dict(zip(TEN, map(float, rng.uniform(1, 2, 10)), strict=True))
        joint = {"R": "revolute", "P": "prismatic"}[kind]
        parent = f"b{k}" if k else "base"
        bodies[f"b{k + 1}"] = {"parent": parent, "place": {"steps": steps}, "joint": joint, "inertia": inertia}
        last = axis
    loads = {f"drive{k}": Transmission(coordinate=f"q_{name}", inertia=0.2) for k, name in enumerate(bodies)}
    fields = {"name": "chain", "bodies": bodies, "gravity": gravity, "loads": loads if drives else {}}
    return Mechanism.model_validate(fields)


SPECIAL = [
    "Rz", "Rx", "Pz", "Px", "RzRz", "RxRx", "RzRx", "PxPyPz", "PzPz", "RzPz", "RzPx", "PzRz", "PxRz", "RxRxRx",
    "RzRzPzRz", "RxPyRx", "RxPxRx", "RxPyPz", "PxRxPxRx", "RzRxRx", "RzRxPx", "RzRxRxRz", "PxPyRz", "RxRxPyRz",
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("gravity", [(0.0, 0.0, -9.81), (0.0, 0.0, 0.0), (1.0, 2.0, -9.0)], ids=str)
@pytest.mark.parametrize("axes", SPECIAL)
def test_they_agree_where_axes_are_parallel_to_each_other_or_to_gravity(axes, gravity):
    pairs = [axes[k : k + 2] for k in range(0, len(axes), 2)]
    Rules(chain(pairs, gravity)).assert_minimal_and_complete()


@pytest.mark.parametrize(
    ("axes", "gravity", "kept"),
    [
        ("Rz", (0.0, 0.0, -9.81), ["ZZR1"]),
        ("Rx", (0.0, 0.0, -9.81), ["ZZR1", "MX1", "MY1"]),
        ("Pz", (0.0, 0.0, -9.81), ["M1", "IA1"]),
        ("Px", (0.0, 0.0, -9.81), ["MR1"]),
        ("PxPy", (0.0, 0.0, -9.81), ["MR1", "MR2"]),
    ],
)
def test_the_first_joints_show_what_a_person_expects(axes, gravity, kept):
    """A vertical slide tells mass and drive apart by the weight; a level one does not."""
    pairs = [axes[k : k + 2] for k in range(0, len(axes), 2)]
    assert list(Rules(chain(pairs, gravity)).base.names) == kept


def test_a_scara_needs_no_first_moment_along_its_axes():
    base = Rules(chain(["Rz", "Rz", "Pz", "Rz"], drives=False)).base
    assert not {n for n in base.names if n.startswith(("MZ", "XX", "XY", "XZ", "YY", "YZ"))}


# -- robots of the literature ------------------------------------------------------------------------------------------
def tree_of(name):
    mechanism = load(DATA / "symoro" / f"{name}.par")
    values = np.random.default_rng(3).uniform(0.4, 1.2, len(mechanism.parameters))
    parameters = {
        n: p.model_copy(update={"value": float(x)}) if p.value is None else p
        for (n, p), x in zip(mechanism.parameters.items(), values, strict=True)
    }
    return mechanism.model_copy(update={"loops": {}, "parameters": parameters})


@pytest.mark.slow
@pytest.mark.parametrize("name", ["RX90", "Stanford", "SR400"])
def test_they_agree_on_robots_written_by_others(name):
    Rules(tree_of(name)).assert_minimal_and_complete()


def test_a_floating_base_shows_all_ten_of_its_own_parameters():
    rules = Rules(tree_of("RX90"))
    floating = rules.mechanism.model_copy(
        update={"base": rules.mechanism.base.model_copy(update={"kind": BaseKind.FLOATING})}
    )
    inertia = rules.mechanism.bodies["body1"].inertia
    floating = floating.model_copy(update={"base": floating.base.model_copy(update={"inertia": inertia})})
    found = Rules(floating)
    found.assert_minimal_and_complete()
    on_base = [found.base.standard[k].symbol for k in found.base.kept if found.base.standard[k].link == 0]
    assert on_base == list(TEN)


def test_a_driven_base_shows_none_of_its_own_and_regroups_as_if_it_moved_at_will():
    steps = ({"tx": "0.3*sin(2*t)"}, {"ry": "0.4*t"}, {"rz": "0.2*t^2"})
    base = {"kind": "moving", "place": {"steps": steps}, "inertia": {"M": 3.0}}
    mechanism = Mechanism.model_validate(chain(["Rz", "Rx"]).model_dump(exclude={"base", "loads"}) | {"base": base})
    found = Rules(mechanism)
    assert {n for n in found.base.without_effect if n.endswith("0")} == {f"{n}0" for n in TEN}
    assert_same(found.stack[:, list(found.base.kept)] @ found.combination, found.stack)


# -- the numerical method by itself ------------------------------------------------------------------------------------
def test_the_rank_method_finds_what_was_hidden():
    rng = np.random.default_rng(1)
    free, mix = rng.normal(size=(50, 4)), rng.normal(size=(4, 3))
    W = np.column_stack([free[:, :2], free @ mix, free[:, 2:], np.zeros(50)])
    found = identifiable(W)
    assert found.rank == 4
    assert found.gap > 1e6
    assert_same(W[:, list(found.kept)] @ found.combination, W)
    assert identifiable(W, prefer=[0, 1, 5, 6]).kept == (0, 1, 5, 6)


@pytest.mark.parametrize("name", ["RX90", "Stanford"])
def test_a_model_finds_as_many_from_its_native_regressor(name):
    mechanism = tree_of(name)
    found = build(mechanism).identifiable_parameters()
    assert found.rank == len(Rules(mechanism).base.kept)
    assert found.gap > 1e4


def test_the_rank_method_asks_for_enough_states():
    with pytest.raises(ArgumentError, match="too few states"):
        identifiable(np.ones((3, 5)))
