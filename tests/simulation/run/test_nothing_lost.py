"""What was computed is kept, whatever ends a run; and what would never end is bounded or refused."""

import copy
import math
import pickle
from pathlib import Path

import numpy as np
import pytest

import torseur as ts
from torseur.describe import Effort, Mechanism
from torseur.errors import ModelError, NumericalError
from torseur.graph import Function, Graph
from torseur.simulation.blocks import PythonBlock, signals
from torseur.simulation.integrate.driver import integrate
from torseur.simulation.integrate.hooks import Hooks, Limits, Sampling
from torseur.simulation.integrate.recording import Outcome
from torseur.simulation.solvers.problem import Problem

CART = Mechanism(
    name="cart",
    bodies={"cart": {"joint": {"kind": "prismatic", "coordinate": "x"}, "inertia": {"M": 1.0}}},
    gravity=(0, 0, 0),
    inputs={"f": {}},
    loads={"push": Effort(coordinate="x", value="f")},
)


# -- blocks that fail --------------------------------------------------------------------------------------------------
def broken(t, x):
    return 1.0 / (0.3 - round(t, 9)) if t < 0.5 else None


def driven_by(function, **options):
    block = PythonBlock(function=function, inputs=("x",), period=0.1)
    return ts.simulate(CART, until=1.0, every=0.05, inputs={"f": block}, **options)


@pytest.mark.parametrize("solver", ["dop853", "rk4", "newmark"])
def test_a_python_block_that_raises_leaves_the_run_so_far_and_is_named_with_its_time(solver):
    run = driven_by(broken, solver=solver)
    assert not run.complete
    assert run.info["outcome"] == "BLOCK"
    assert run.time[-1] == pytest.approx(0.3)
    line = broken.__code__.co_firstlineno + 1
    said = "at t = 0.3 s: a block written in Python failed: block 'f' raised ZeroDivisionError"
    assert run.reason.startswith(said)
    assert run.reason.endswith(f"({Path(__file__).name}, line {line})")
    assert run["dx"][-1] == pytest.approx(0.1 / 0.3 + 0.1 / 0.2 + 0.1 / 0.1, rel=1e-6)


@pytest.mark.parametrize("result", [None, [1.0, 2.0], math.nan, "x"])
def test_a_python_block_that_gives_something_else_leaves_the_run_so_far(result):
    run = driven_by(lambda t, x: 1.0 if t < 0.25 else result)
    assert run.time[-1] == pytest.approx(0.3)
    assert f"block 'f' gave {result!r} in place of 1 finite number" in run.reason


def test_a_python_block_that_fails_at_once_is_named_with_its_time():
    with pytest.raises(NumericalError, match=r"cannot begin(.|\n)*at t = 0 s(.|\n)*block 'f' raised KeyError: 'no'"):
        driven_by(lambda t, x: {}["no"])


def test_a_sample_that_is_no_number_ends_the_run_there():
    block = {"sampled": {"value": "sqrt(0.25 - t)", "period": 0.1}}
    run = ts.simulate(CART, until=1.0, inputs={"f": 1.0}, blocks={"odd": block})
    assert run.time[-1] == pytest.approx(0.3)
    assert "block 'odd' sampled [nan]" in run.reason


# -- what a run can be -------------------------------------------------------------------------------------------------
def test_a_run_that_was_pickled_or_copied_is_the_same_and_frozen():
    outputs = {"y": {"value": "2*x"}}
    run = ts.simulate(CART, until=1.0, every=0.1, start={"dx": 1.0}, inputs={"f": "sin(t)"}, outputs=outputs)
    for again in (pickle.loads(pickle.dumps(run)), copy.deepcopy(run), copy.copy(run)):
        assert again.mechanism == run.mechanism
        assert list(again.channels) == list(run.channels)
        for name, channel in run.channels.items():
            twin = again.channels[name]
            assert (twin.unit, twin.meaning, twin.role) == (channel.unit, channel.meaning, channel.role)
            np.testing.assert_array_equal(twin.values, channel.values)
            assert not twin.values.flags.writeable
        assert (again.info, again.events, again.parameters) == (run.info, run.events, run.parameters)
        assert again.audit().table == run.audit().table
        assert not again.time.flags.writeable
        with pytest.raises(TypeError):
            again.channels["x"] = None


# -- what would never end ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("solver", "every"),
    [("rk4", 0.01), ("rk4", 0.0137), ("newmark", 0.01), ("dop853", 0.01)],
    ids=["native loop", "given step", "implicit", "adaptive steps"],
)
def test_the_number_of_steps_is_bounded_for_every_method(solver, every):
    run = ts.simulate(
        CART,
        until=1.0,
        every=every,
        start={"dx": 1.0},
        inputs={"f": "sin(100*t)"},
        solver={"method": solver, "step": 1e-3 if solver != "dop853" else None, "steps": 45},
    )
    assert run.info["outcome"] == "TOO_MANY_STEPS"
    assert 40 <= run.info["steps"] <= 45
    assert "solver.steps" in run.reason
    assert run["x"][-1] > 0.0


def test_runs_side_by_side_are_bounded_too():
    solver = {"method": "rk4", "step": 1e-2, "steps": 50}
    many = ts.simulate_many(CART, starts={"dx": [1.0, 2.0]}, until=1.0, every=0.1, solver=solver)
    assert many.run(1).info["outcome"] == "TOO_MANY_STEPS"
    np.testing.assert_allclose(many["x"][1, :6], 2.0 * many.time[:6])
    assert np.isnan(many["x"][:, 6:]).all()


def test_a_period_that_is_short_beside_the_run_is_bounded():
    run = ts.simulate(
        CART, until=1.0, inputs={"f": {"sampled": {"value": "sin(t)", "period": 1e-9}}}, solver={"steps": 100}
    )
    assert run.info["outcome"] == "TOO_MANY_STEPS"
    assert run.info["steps"] <= 100


def test_samples_without_steps_between_them_are_bounded():
    g = Graph()
    z = g.block("z", 1)
    problem = Problem(Function("decay", [z], {"dz": [-z[0]]}))
    calls = []
    sampling = Sampling(1e-15, lambda t, x, held: calls.append(t))
    run = integrate(problem, [1.0], (0.9, 1.0), hooks=Hooks(samplings=[sampling]), limits=Limits(steps=50))
    assert run.outcome is Outcome.TOO_MANY_STEPS
    assert len(calls) <= 51


PERIODS = [
    (
        "inputs: {f: {sampled: {value: t, period: 1e-17}}}\n",
        "a.yaml:9:10: inputs.f.sampled: a period that is too short",
    ),
    ("inputs: {f: {sampled: {value: t, period: k}}}\n", "a.yaml:9:10: inputs.f.sampled: a period that is too short"),
    ("every: 1e-17\n", "a.yaml:9:8: every: too short for the resolution of time"),
    ("solver: {method: rk4, step: 1e-17}\n", "a.yaml:9:29: solver.step: too short for the resolution of time"),
    ("begin: 1e9\nuntil: 1000000001\nevery: 1e-8\n", "every: too short for the resolution of time"),
]
HEAD = """\
torseur_study: 1
model:
  name: slide
  gravity: [0, 0, 0]
  parameters: {k: 1e-18}
  inputs: {f: {unit: N}}
  bodies: {cart: {joint: {kind: prismatic, coordinate: x}, inertia: {M: 1}}}
  loads: {push: {effort: {coordinate: x, value: f}}}
"""


@pytest.mark.parametrize(("text", "expected"), PERIODS, ids=[text.splitlines()[-1] for text, _ in PERIODS])
def test_times_below_the_resolution_of_time_are_refused_where_they_stand(text, expected, tmp_path):
    (tmp_path / "a.yaml").write_text(HEAD + text)
    with pytest.raises(ModelError) as error:
        ts.simulate(tmp_path / "a.yaml")
    assert expected in str(error.value)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no endless file here")
def test_a_table_without_end_is_refused(monkeypatch):
    monkeypatch.setattr(signals, "LARGEST", 10_000)
    with pytest.raises(ModelError, match="too large"):
        ts.simulate(CART, until=1.0, inputs={"f": {"table": {"file": "/dev/zero"}}})
