"""Many runs with a step of their own each: in lanes, beside others, a run is what it is alone, to the last bit."""

import threading

import numpy as np
import pytest

import torseur as ts
from support import processes
from torseur.campaign.description import Campaign
from torseur.campaign.work import Work
from torseur.describe import Effort, Mechanism
from torseur.emit.jit import host
from torseur.simulation.run import variants
from torseur.simulation.run.simulation import Simulation
from torseur.simulation.run.variants import Variants
from torseur.simulation.switching.modes import SwitchLogic

PENDULUM = Mechanism(
    name="pendulum",
    gravity=(9.81, 0.0, 0.0),
    parameters={"c": {"value": 0.1}, "L": {"value": 0.4}},
    inputs={"f": {}},
    bodies={"rod": {"joint": {"kind": "revolute", "coordinate": "a"}, "inertia": {"M": 1.0, "MX": 0.5, "ZZ": "L"}}},
    loads={"brake": Effort(coordinate="a", value="f - c*tanh(da/0.1) - 0.01*exp(-a*a)*da")},
)
BALL = Mechanism(
    name="ball",
    gravity=(0.0, 0.0, -9.81),
    bodies={"ball": {"joint": {"kind": "prismatic", "coordinate": "z"}, "inertia": {"M": 1.0}}},
    constraints={"ground": {"contact": {"gap": "z", "restitution": 0.5}}},
)
RUNS = 37


@pytest.fixture(autouse=True)
def _in_lanes(monkeypatch):
    """Few runs are enough for lanes."""
    monkeypatch.setattr(variants, "FEW", 0)


def alone(study, starts, parameters):
    """Each run in a simulation of its own making."""
    simulation, model = Simulation(study), Simulation(study).model
    for k in range(RUNS):
        p = model.parameter_values.copy()
        for name, values in parameters.items():
            p[model.free_parameters.index(name)] = values[k]
        yield simulation.trajectory(start={n: float(v[k]) for n, v in starts.items()}, p=p)[0]


def assert_same(study, starts, parameters=None, threads=1):
    found = ts.simulate_many(study, starts=starts, parameters=parameters or {}, threads=threads)
    for k, one in enumerate(alone(study, starts, parameters or {})):
        rows = len(one.times)
        assert found.states[k, :rows].tobytes() == one.states.tobytes(), k
        assert np.isnan(found.states[k, rows:]).all()
    return found


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("method", ["dopri5", "dop853", "rodas", "easydyn"])
def test_runs_of_other_starts_and_parameters(method, threads):
    study = ts.Study(model=PENDULUM, until=1.0, every=0.1, solver={"method": method})
    starts = {"a": np.linspace(-3.0, 3.0, RUNS), "da": np.linspace(9.0, -1.0, RUNS)}
    parameters = {"c": np.linspace(0.0, 0.4, RUNS), "L": np.linspace(0.3, 0.9, RUNS)}
    found = assert_same(study, starts, parameters, threads)
    whole = found.run(3)
    np.testing.assert_array_equal(whole["a"], found["a"][3])


@pytest.mark.parametrize("method", ["dopri5", "rk4"])
def test_runs_with_events_of_their_own(method):
    """Balls bounce at other instants in each lane, and come to rest in some."""
    study = ts.Study(model=BALL, until=1.2, every=0.05, solver={"method": method})
    found = assert_same(study, {"z": np.linspace(0.01, 2.0, RUNS)})
    assert len({len(found.run(k).events) for k in (0, 12, RUNS - 1)}) == 3


def test_runs_that_end_early_leave_their_lane_to_the_next():
    study = ts.Study(model=PENDULUM, until=1.0, every=0.1, solver={"method": "dop853", "rtol": 1e-10, "steps": 58})
    starts = {"a": np.full(RUNS, 0.5), "da": np.linspace(0.0, 60.0, RUNS)}
    found = assert_same(study, starts)
    stopped = np.isnan(found["a"]).any(axis=1)
    assert 0 < stopped.sum() < RUNS


def test_samples_are_taken_in_each_lane():
    study = ts.Study(
        model=PENDULUM,
        until=0.5,
        every=0.1,
        solver={"method": "dopri5"},
        blocks={"held": {"sampled": {"value": "2*da", "period": 0.03}}},
        inputs={"f": "-held"},
    )
    assert_same(study, {"a": np.linspace(-1.0, 1.0, RUNS)})


def test_few_runs_do_not_wait_for_code_for_lanes(monkeypatch):
    monkeypatch.setattr(variants, "FEW", 4)
    lanes = []
    monkeypatch.setattr(Simulation, "lanes", lambda self, count: lanes.append(count))
    study = ts.Study(model=PENDULUM, until=0.1, every=0.1, solver={"method": "dopri5"})
    ts.simulate_many(study, starts={"a": np.linspace(0.0, 1.0, 4 * host().lanes.width)})
    assert not lanes


def test_a_campaign_has_the_same_numbers_and_says_which_runs_failed():
    solver = {"method": "dop853", "rtol": 1e-10, "steps": 58}
    study = ts.Study(model=PENDULUM, until=1.0, every=0.1, start={"a": 0.5}, solver=solver)
    given = {
        "study": study,
        "factors": {"da": {"uniform": {"low": 0.0, "high": 60.0}}},
        "sampling": {"count": RUNS},
    }
    of_states = {"end": {"final": "a"}}
    for asked in (of_states, {**of_states, "power": {"maximum": "kinetic_energy"}}):
        work = Work(Campaign.model_validate({**given, "indicators": asked}))
        rows = work.results_between(0, RUNS)
        assert 0 < sum(reason != "" for reason in rows.reasons) < RUNS
        for k in range(RUNS):
            one = work.simulation.trajectory(start={"da": float(rows.factors["da"][k])})[0]
            if rows.reasons[k]:
                assert "too many" in rows.reasons[k] or "limit of steps" in rows.reasons[k]
                assert one.outcome.name == "TOO_MANY_STEPS"
            else:
                assert rows.indicators["end"][k] == one.states[-1, 0]


@pytest.mark.parametrize("few", [0, 4])
def test_an_interruption_within_a_run_ends_all_of_them(few, monkeypatch):
    """It is not a run that failed, beside others that go on."""
    monkeypatch.setattr(variants, "FEW", few)
    calls, handle = [], SwitchLogic.handle

    def interrupted(self, meeting):
        calls.append(meeting)
        if len(calls) == 20:
            raise KeyboardInterrupt
        return handle(self, meeting)

    monkeypatch.setattr(SwitchLogic, "handle", interrupted)
    study = ts.Study(model=BALL, until=1.2, every=0.05, solver={"method": "dopri5"})
    starts = np.linspace(0.01, 2.0, 20)
    with pytest.raises(KeyboardInterrupt):
        ts.simulate_many(study, starts={"z": starts})
    assert len(calls) == 20
    calls.clear()
    given = {"study": study, "factors": {"z": {"list": starts.tolist()}}, "indicators": {"end": {"final": "z"}}}
    work = Work(Campaign.model_validate(given))
    with pytest.raises(KeyboardInterrupt):
        work.results_between(0, 20)


def test_a_fault_in_one_thread_ends_the_runs_of_the_others(monkeypatch):
    begun, failed = [], threading.Event()
    simulation = Simulation(ts.Study(model=PENDULUM, until=0.1, every=0.1, solver={"method": "dopri5"}))
    monkeypatch.setattr(variants, "FEW", 10_000)

    def take(k, moved):
        begun.append(k)
        if k == 1:
            failed.set()
            raise ZeroDivisionError
        if k > 1:
            failed.wait(10.0)

    starts = {"a": np.linspace(0.0, 1.0, 3000)}
    monkeypatch.setattr(variants, "_plain_starts", lambda *given: None)
    with pytest.raises(ZeroDivisionError):
        variants.each_run(simulation, Variants(simulation, starts, {}, {}), take, threads=2)
    assert len(begun) < 3000


def test_without_native_code_runs_go_one_after_the_other():
    code = """
    import sys, warnings
    sys.modules["llvmlite"] = sys.modules["llvmlite.binding"] = None  # as if it were not installed
    warnings.simplefilter("ignore")
    import torseur as ts
    from torseur.describe import Mechanism

    joint = {"kind": "revolute", "coordinate": "a"}
    rod = {"joint": joint, "inertia": {"M": "m", "MX": 0.5, "ZZ": 0.4}}
    mass = {"m": {"value": 1.0}}
    pendulum = Mechanism(name="pendulum", gravity=(9.81, 0.0, 0.0), parameters=mass, bodies={"rod": rod})
    how = {"until": 0.02, "every": 0.02, "solver": "dopri5"}
    many = ts.simulate_many(pendulum, starts={"a": [0.1, 0.2]}, parameters={"m": [1.0, 2.0]}, **how)
    one = ts.simulate(pendulum, start={"a": 0.2}, parameters={"m": 2.0}, **how)
    print(many["a"][1, -1] == one["a"][-1])
    """
    assert processes.run(code) == "True"
