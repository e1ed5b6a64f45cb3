"""A study as environments: every run is what `simulate` makes of the same study with the same inputs."""

import numpy as np
import pytest

import torseur as ts
from torseur.formats.yaml.reader import read_yaml
from torseur.simulation.run.simulate import study_of

pytest.importorskip("gymnasium")

ARM = read_yaml("""
torseur: 1
name: arm
gravity: [0, -9.81, 0]
inputs: {push: {unit: N m}, wind: {unit: N m, default: 0.1}}
bodies:
  upper: {joint: {kind: revolute, coordinate: a}, inertia: {M: 2.0, MX: 0.8, ZZ: 0.5}}
  lower: {parent: upper, pose: [0.7, 0, 0], joint: {kind: revolute, coordinate: b}, inertia: {M: 1.0, MX: 0.3, ZZ: 0.2}}
loads:
  motor: {effort: {coordinate: a, value: push}}
  air: {effort: {coordinate: b, value: wind - 0.1*db}}
outputs:
  cost: {value: -(a^2 + 0.1*da^2)}
  far: {value: abs(b) > 2}
""")
SOLVER = {"method": "rk4", "step": 0.005}
PERIOD = 0.02


def study(**fields):
    given = {"until": 1.0, "every": PERIOD, "solver": SOLVER, "start": {"b": 0.3}} | fields
    return study_of(given.pop("model", ARM), **given)


def environments(runs=3, *, of=None, **options):
    return ts.build(ARM).as_gymnasium(study() if of is None else of, runs, **options)


def states(run):
    return np.stack([run[n] for n in ("a", "b", "da", "db")], axis=1)


@pytest.mark.parametrize("signal", [None, "0.1*sin(5*t)"])
def test_every_run_is_the_one_that_simulate_makes(signal):
    """Inputs that change from period to period, with and without a signal of time."""
    pushes = np.random.default_rng(1).uniform(-5, 5, (4, 3))
    driven = {} if signal is None else {"inputs": {"wind": signal}}
    envs = environments(of=study(**driven), actions={"push": (-10, 10)})
    envs.reset()
    found = np.stack([envs.step(row[:, None])[0] for row in pushes], axis=1)
    for k in range(3):
        a, b, c, d = map(float, pushes[:, k])
        formula = f"if(t < 0.02, {a}, if(t < 0.04, {b}, if(t < 0.06, {c}, {d})))"
        push = {"formula": {"value": formula, "breaks": [0.02, 0.04, 0.06]}}
        run = ts.simulate(study(**driven), inputs={"push": push} | driven.get("inputs", {}), until=0.08)
        assert np.abs(found[k] - states(run)[1:]).max() < 1e-13


def test_observations_rewards_and_ends_are_outputs():
    names = ("cost", "b", "kinetic_energy")
    envs = environments(2, actions={"push": (-50, 50)}, observations=names, reward="cost", ends="far")
    first, _ = envs.reset()
    assert first.shape == (2, 3)
    assert first[0] == pytest.approx([0.0, 0.3, 0.0])
    run = ts.simulate(study(), inputs={"push": 40.0})
    for k in range(1, 20):
        seen, rewards, ended, cut, _ = envs.step(np.full((2, 1), 40.0))
        assert seen[1] == pytest.approx([run[n][k] for n in names], rel=1e-10)
        assert rewards[0] == pytest.approx(run["cost"][k], rel=1e-10)
        assert ended.tolist() == [abs(run["b"][k]) > 2] * 2
        assert not cut.any()
        if ended[0]:
            break
    assert ended.all()
    again = envs.step(np.zeros((2, 1)))  # the next step begins anew
    assert again[0][0] == pytest.approx([0.0, 0.3, 0.0])
    assert again[1].tolist() == [0.0, 0.0]


def test_runs_that_began_at_different_times_are_still_alone():
    envs = environments(2, of=study(inputs={"wind": "sin(7*t)"}), actions={"push": (-9, 9)})
    envs.reset()
    one = np.stack([envs.step(np.ones((2, 1)))[0] for _ in range(3)], axis=1)
    envs.reset(options={"reset_mask": np.array([False, True])})
    two = np.stack([envs.step(np.ones((2, 1)))[0] for _ in range(3)], axis=1)
    assert np.array_equal(two[1], one[1])
    run = ts.simulate(study(), inputs={"wind": "sin(7*t)", "push": 1.0}, until=0.12)
    assert np.abs(np.concatenate([one[0], two[0]]) - states(run)[1:]).max() < 1e-13


def test_an_episode_is_cut_at_the_end_of_the_study_and_actions_at_their_bounds():
    envs = environments(2, of=study(until=0.06), actions={"push": (-1, 1)})
    envs.reset()
    cuts = [envs.step(np.full((2, 1), 7.0))[3].tolist() for _ in range(3)]
    assert cuts == [[False, False], [False, False], [True, True]]
    assert envs.runs.u[:, 0].tolist() == [1.0, 1.0]


def test_the_seed_decides_the_starts():
    envs = environments(200, starts={"a": (-1.0, 1.0), "db": (2.0, 3.0)})
    first, _ = envs.reset(seed=5)
    assert np.array_equal(first, envs.reset(seed=5)[0])
    other = envs.reset()[0]
    assert not np.array_equal(first, other)
    for found in (first, other):
        assert (np.abs(found[:, 0]) <= 1.0).all()
        assert found[:, 0].std() > 0.3
        assert ((found[:, 3] >= 2.0) & (found[:, 3] <= 3.0)).all()
        assert (found[:, 1] == 0.3).all()
    assert envs.single_observation_space.shape == (4,)
    assert envs.action_space.shape == (200, 2)
    assert first in envs.observation_space


REFUSED = {
    "a method that chooses its steps": ({"of": study(solver="dopri5")}, "chooses its steps"),
    "samples": (
        {"of": study(inputs={"push": {"sampled": {"value": "a", "period": 0.1}}})},
        "sampled blocks",
    ),
    "a period that is no whole number of steps": ({"of": study(every=0.012)}, "not a whole number of steps"),
    "a signal that switches within a step": (
        {"of": study(inputs={"push": {"step": {"time": 0.0512, "after": 1}}})},
        "signals switch within a step",
    ),
    "an unknown input": ({"actions": {"pull": (0, 1)}}, "no input that nothing drives 'pull'"),
    "an input that a signal drives": ({"of": study(inputs={"push": "t"}), "actions": {"push": (0, 1)}}, "'push'"),
    "an unknown output": ({"reward": "costs"}, "did you mean 'cost'?"),
    "an unknown start": ({"starts": {"c": (0, 1)}}, "no coordinate or speed 'c'"),
    "no runs": ({"runs": 0}, "at least one run"),
    "a mechanism alone": ({"of": ARM}, "environments are made of a study"),
    "another mechanism": ({"of": study(model=ARM.model_copy(update={"gravity": (0, 0, 0)}))}, "another mechanism"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_done_is_refused_with_its_reason(case):
    options, words = REFUSED[case]
    with pytest.raises(ts.ArgumentError) as caught:
        environments(**options)
    assert words in str(caught.value)


def test_actions_of_a_wrong_shape_are_refused():
    envs = environments(2)
    envs.reset()
    with pytest.raises(ts.ArgumentError, match="wrong shape of actions"):
        envs.step(np.zeros(2))
