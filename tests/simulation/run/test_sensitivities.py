"""Derivatives of runs: against closed forms, and against differences of runs of random mechanisms."""

import numpy as np
import pytest
import sympy
from hypothesis import Phase, given, settings

import torseur as ts
from support.closed_mechanisms import closed
from support.random_mechanisms import mechanism_of, plans, random_plan, state_of, without_dry_friction
from torseur.describe import Effort, Mechanism
from torseur.simulation.blocks import Lag, Sampled, Step
from torseur.simulation.run.batch import batch_in_lanes
from torseur.simulation.run.sensitivities import Sensitivities, Varied
from torseur.simulation.run.simulation import Simulation
from torseur.simulation.run.variants import Variants

CART = {"cart": {"joint": {"kind": "prismatic", "coordinate": "x"}, "inertia": {"M": "m"}}}
STOP = {"kind": "prismatic", "coordinate": "x", "upper": 0.35}
OSCILLATOR = Mechanism(
    name="oscillator",
    gravity=(0.0, 0.0, 0.0),
    parameters={name: {"value": value} for name, value in {"k": 5.0, "m": 2.0, "a": 1.5, "w": 1.2}.items()},
    inputs={"F": {}},
    bodies=CART,
    loads={"spring": Effort(coordinate="x", value="F + a*sin(w*t) - k*x")},
)
"""m x'' + k x = F + a sin(w t)"""

STOPPED = OSCILLATOR.model_copy(
    update={"bodies": Mechanism(name="stop", bodies={"cart": {**CART["cart"], "joint": STOP}}).bodies}
)

T, X, V, K, M, A, W, F = sympy.symbols("t x v k m a w F", positive=True)
N = sympy.sqrt(K / M)
_FORCED = A / (K - M * W**2)
SOLUTION = (
    F / K + _FORCED * sympy.sin(W * T) + (X - F / K) * sympy.cos(N * T) + (V - _FORCED * W) / N * sympy.sin(N * T)
)
VARIED = [
    Varied("starts", "x", -1.0, 1.0),
    Varied("starts", "dx", -1.0, 1.0),
    Varied("parameters", "k", 4.0, 6.0),
    Varied("parameters", "m", 1.0, 3.0),
    Varied("parameters", "a", 1.0, 2.0),
    Varied("parameters", "w", 1.0, 1.4),
    Varied("inputs", "F", -1.0, 1.0),
]
TABLE = {
    "starts": {"x": [0.3, -0.2], "dx": [0.4, 0.1]},
    "parameters": {"k": [5.0, 4.5], "m": [2.0, 1.5], "a": [1.5, 1.2], "w": [1.2, 1.1]},
    "inputs": {"F": [0.5, -0.4]},
}


def sensitivity(study, varied, channels, table):
    simulation = Simulation(study, audit=False)
    found = Sensitivities(simulation, varied, channels)
    assert found.why_not is None
    return found.of(
        Variants(simulation, *(table.get(n, {}) for n in ("starts", "parameters", "inputs")), checked=False)
    )


def differences(study, varied, channels, table):
    """The same by central differences of sixth order; all runs are computed as they are without derivatives."""
    simulation = Simulation(study, audit=False)
    weights = {1: 0.75, 2: -0.15, 3: 1.0 / 60.0}
    found = {}
    for k, one in enumerate(varied):
        h = 2.0**-10 * (one.high - one.low)
        for step, weight in weights.items():
            for sign in (1, -1):
                moved = {n: dict(t) for n, t in table.items()}
                moved[one.table][one.name] = np.asarray(moved[one.table][one.name]) + sign * step * h
                many = Variants(
                    simulation, *(moved.get(n, {}) for n in ("starts", "parameters", "inputs")), checked=False
                )
                for name, values in channels_of(simulation, many, channels).items():
                    slopes = found.setdefault(name, np.zeros((*values.shape, len(varied))))
                    slopes[..., k] += sign * weight * values / h
    return found


def channels_of(simulation, many, channels):
    batch = batch_in_lanes(simulation, many)
    if batch is not None:
        return batch.channels(channels, np.arange(many.count))
    runs = [
        simulation.result(*simulation.trajectory(start=many.start_of(k), u=many.u[k], p=many.p[k]))
        for k in range(many.count)
    ]
    return {name: np.stack([run[name] for run in runs]) for name in channels}


# -- closed forms ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("solver", "bound"),
    [
        ({"method": "rk4", "step": 0.005}, 1e-9),
        ({"method": "rk4", "step": 0.007}, 1e-8),  # records between the ends of steps
        ({"method": "dop853", "rtol": 1e-10, "atol": 1e-12}, 1e-8),
        ({"method": "rodas", "rtol": 1e-8, "atol": 1e-10}, 1e-5),
    ],
    ids=["rk4", "rk4 between", "dop853", "rodas"],
)
@pytest.mark.parametrize("few", [0, 4], ids=["lanes", "alone"])
def test_a_forced_oscillator_has_the_derivatives_of_its_solution(solver, bound, few, monkeypatch):
    """Also where a stop is passed that is only reported."""
    monkeypatch.setattr("torseur.simulation.run.sensitivities.FEW", few)
    study = ts.Study(model=OSCILLATOR if few else STOPPED, until=2.0, every=0.5, solver=solver)
    table = {n: {k: np.tile(x, 5) for k, x in t.items()} for n, t in TABLE.items()}
    found = sensitivity(study, VARIED, ["x", "dx", "kinetic_energy"], table)
    values = [np.array(table[one.table][one.name])[:, None] for one in VARIED]
    symbols = (X, V, K, M, A, W, F)
    speed = sympy.diff(SOLUTION, T)
    for name, solution in (("x", SOLUTION), ("dx", speed), ("kinetic_energy", M * speed**2 / 2)):
        for k, symbol in enumerate(symbols):
            truth = sympy.lambdify((T, *symbols), sympy.diff(solution, symbol), "numpy")(found.time, *values)
            assert found.slopes[name][..., k] == pytest.approx(truth, abs=bound), (name, symbol)


def test_what_a_block_or_a_formula_makes_of_the_start_is_differentiated():
    joint = {"kind": "prismatic", "coordinate": "x", "start": "s^2"}
    model = Mechanism(
        name="cart",
        gravity=(0.0, 0.0, 0.0),
        parameters={"T": {"value": 0.5}, "s": {"value": 2.0}},
        bodies={"cart": {"joint": joint, "inertia": {"M": 1}}},
    )
    lag = Lag(value="x", time="T", start="3*x")  # x (1 + 2 exp(-t/T))
    study = ts.Study(model=model, blocks={"y": lag}, until=1.0, every=0.25, solver={"method": "rk4", "step": 0.0025})
    varied = [Varied("parameters", "s", 1.5, 2.0), Varied("parameters", "T", 0.5, 1.0)]
    found = sensitivity(study, varied, ["y_state"], {"parameters": {"s": [2.0], "T": [0.5]}})  # at the ends of ranges
    t, decay = found.time, np.exp(-found.time / 0.5)
    assert found.slopes["y_state"][0, :, 0] == pytest.approx(4.0 * (1.0 + 2.0 * decay), abs=1e-7)
    assert found.slopes["y_state"][0, :, 1] == pytest.approx(4.0 * 2.0 * decay * t / 0.5**2, abs=1e-7)


# -- random mechanisms -------------------------------------------------------------------------------------------------
def study_of(mechanism, state, **solver):
    solver = solver or {"method": "rk4", "step": 0.01}
    inputs = {name: float(x) for name, x in zip(mechanism.inputs, state.u, strict=True)}
    start = {x.name: float(value) for x, value in zip(mechanism.q, state.q, strict=True)}
    start |= {x.name: float(value) for x, value in zip(mechanism.v, state.v, strict=True)}
    return ts.Study(model=mechanism, start=start, inputs=inputs, until=0.2, every=0.1, solver=solver)


def some_of(study, starts, seed):
    """A few starts and parameters, with ranges about what they are."""
    rng, model = np.random.default_rng(seed), study.model
    numbers = [n for n, p in model.parameters.items() if isinstance(p.value, float) and p.value]
    chosen = [("starts", n, study.start[n]) for n in rng.permutation(starts)[:2].tolist()]
    chosen += [("parameters", n, model.parameters[n].value) for n in rng.permutation(numbers)[:2].tolist()]
    chosen += [("inputs", n, study.inputs[n].value) for n in list(study.inputs)[:1]]
    varied = [Varied(table, n, x - 0.1 * max(abs(x), 0.1), x + 0.1 * max(abs(x), 0.1)) for table, n, x in chosen]
    table = {"starts": {}, "parameters": {}, "inputs": {}}
    for kind, n, x in chosen:
        table[kind][n] = np.array([x])
    return varied, table


def assert_alike(study, varied, table, channels, bound):
    found = sensitivity(study, varied, channels, table)
    for name, truth in differences(study, varied, channels, table).items():
        assert np.isfinite(truth).all()
        size = (
            1.0 + np.abs(truth).max(axis=(0, 1)) + np.abs(found.values[name]).max() / [v.high - v.low for v in varied]
        )
        assert (np.abs(found.slopes[name] - truth) <= bound * size).all(), name


@settings(max_examples=4, deadline=None, phases=(Phase.generate,))
@given(plans(max_bodies=3, loads=("spring", "strut", "effort", "drag", "wrench"), symbols=True))
def test_derivatives_are_those_of_the_runs_of_any_tree(plan):
    mechanism = without_dry_friction(mechanism_of(plan))
    study = study_of(mechanism, state_of(mechanism, 3))
    loose = [x.name for x in (*mechanism.q, *mechanism.v) if not x.name.endswith(("qw", "qx", "qy", "qz"))]
    varied, table = some_of(study, loose, plan.seed)
    channels = [x.name for x in (*mechanism.q, *mechanism.v)] + ["kinetic_energy"]
    assert_alike(study, varied, table, channels, 1e-7)


@pytest.mark.parametrize(("seed", "cuts", "forms"), [(5, ("spherical",), ()), (2, ("spherical",), ("coupling",))])
def test_derivatives_of_closed_loops_follow_their_corrections(seed, cuts, forms):
    plan = random_plan(np.random.default_rng(seed), 5, base="fixed", kinds=("revolute",), serial=1.0, symbols=True)
    loop = closed(plan, cuts, forms)
    assert loop.conditioned
    study = study_of(loop.mechanism, loop.state)
    first = loop.mechanism.v[0].name
    guess = {n: x for n, x in study.start.items() if n != first}
    study = study.model_copy(update={"start": {first: study.start[first]}, "guess": guess})
    varied, table = some_of(study, [first], seed)
    assert {one.table for one in varied} == {"starts", "parameters"}
    assert_alike(study, varied, table, [x.name for x in (*loop.mechanism.q, *loop.mechanism.v)], 1e-6)


# -- what has none -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"model": STOPPED, "stops": {"model": "hard"}}, "events decide"),
        ({"model": STOPPED}, None),  # a stop that is only reported changes nothing
        ({"model": STOPPED, "solver": {"method": "dop853"}}, None),
        ({"blocks": {"y": Sampled(value="x", period=0.1)}}, "samples"),
        ({"outputs": {"e": {"value": "x"}}, "solver": {"method": "newmark", "step": 0.01}}, "second order"),
        ({"inputs": {"F": Step(time="w", after=1.0)}}, "'w' decides when signals switch"),
        ({"changes": [{"at": 0.5, "set": {"k": 7.0}}]}, "change on the way"),
    ],
)
def test_a_run_without_such_derivatives_says_why(change, words):
    plain = {"model": OSCILLATOR, "until": 2.0, "every": 0.5, "solver": {"method": "rk4", "step": 0.01}}
    study = ts.Study(**(plain | change))
    found = Sensitivities(Simulation(study, audit=False), VARIED[:-1], ["x"]).why_not
    assert found is None if words is None else words in found


def test_a_step_of_an_input_at_a_fixed_time_is_differentiated():
    study = ts.Study(model=OSCILLATOR, inputs={"F": Step(time=0.7, after="k")}, until=2.0, every=0.5)
    varied, table = VARIED[2:4], {"parameters": {"k": [5.0], "m": [2.0]}}
    assert_alike(study, varied, table, ["x", "F"], 1e-6)
