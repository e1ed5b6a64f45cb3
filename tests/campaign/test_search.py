"""Searches over factors against optima in closed form; stopped, resumed, and again."""

import numpy as np
import pytest

import torseur as ts
from torseur.campaign.storage import INDICATORS
from torseur.describe.loads import KINDS as LOADS

BODY = {"cart": {"joint": {"kind": "prismatic", "coordinate": "x"}, "inertia": {"M": 1.0}}}
FREE = ts.Study(
    model={"name": "cart", "gravity": (0.0, 0.0, 0.0), "bodies": BODY},
    until=1.0,
    every=0.5,
    solver={"method": "rk4", "step": 0.1},
)
SWINGING = ts.Study(
    model={
        "name": "cart_on_a_spring",
        "gravity": (0.0, 0.0, 0.0),
        "parameters": {"k": {"value": 1.0}},
        "bodies": BODY,
        "loads": {"spring": LOADS["spring"](coordinate="x", stiffness="k")},
    },
    until=1.0,
    every=0.5,
    solver={"method": "rk4", "step": 0.01},
)
BOTH = {"x": {"low": 0, "high": 1}, "dx": {"low": 0, "high": 1}}
END = {"final": "x"}  # x + dx of a cart without forces


def searched(folder, indicators, search, study=FREE, **more):
    campaign = ts.Campaign(study=study, indicators=indicators, search={"evaluations": 200, **search}, **more)
    return ts.run_campaign(campaign, folder, threads=1)


def files(folder):
    return {path.name: path.read_bytes() for path in (folder / INDICATORS).glob("*")}


def test_the_nearest_point_under_a_limit_is_its_foot_on_the_limit(tmp_path):
    asked = {"end": END, "away": "(x - 0.6)^2 + (dx - 0.8)^2"}
    search = {"factors": BOTH, "goals": {"away": {"aim": "least"}}, "method": "minimise"}
    answers = searched(tmp_path / "out", asked, search, limits={"end": {"at_most": 1.0}})
    best = answers.best()  # on x + dx = 1, nearest to (0.6, 0.8)
    assert best["x"] == pytest.approx(0.4, abs=1e-4)
    assert best["dx"] == pytest.approx(0.6, abs=1e-4)
    assert 1.0 - 1e-8 < best["x"] + best["dx"] <= 1.0


def test_a_stiffness_is_found_from_the_motion_it_causes(tmp_path):
    asked = {"end": END, "ratio": "end/x"}  # cos(sqrt(k) t)
    goals = {"ratio": {"target": float(np.cos(np.sqrt(2.5)))}}
    search = {"factors": {"k": {"low": 0.5, "high": 8, "scale": "log"}}, "goals": goals, "method": "least_squares"}
    answers = searched(tmp_path / "out", asked, search, SWINGING, factors={"x": [0.5, 1.0, 2.0]})
    assert answers.best()["k"] == pytest.approx(2.5, rel=1e-6)
    assert len(answers) == 3 * len(answers.candidates)


@pytest.mark.parametrize(("over", "expected"), [("mean", 0.6), ("worst", 0.5)])
def test_a_robust_optimum_is_the_mean_of_a_sample_or_the_middle_of_its_ends(over, expected, tmp_path):
    search = {"factors": {"x": BOTH["x"]}, "goals": {"miss": {"aim": "least", "over": over}}, "evaluations": 90}
    answers = searched(tmp_path / "out", {"end": END, "miss": "(end - 1)^2"}, search, factors={"dx": [0.0, 0.2, 1.0]})
    assert answers.best()["x"] == pytest.approx(expected, abs=0.01)


def test_a_robust_optimum_over_a_monte_carlo_sample_is_its_mean(tmp_path):
    search = {"factors": {"x": BOTH["x"]}, "goals": {"miss": {"aim": "least"}}, "method": "minimise"}
    spread = {"factors": {"dx": {"normal": {"mean": 0.4, "deviation": 0.1}}}, "sampling": {"count": 500, "seed": 3}}
    answers = searched(tmp_path / "out", {"end": END, "miss": "(end - 1)^2"}, search, **spread)
    sample = answers["dx"][:500]
    assert answers.best()["x"] == pytest.approx(1.0 - sample.mean(), abs=1e-6)
    assert sample.mean() != 0.4


@pytest.mark.parametrize("method", ["tpe", "nsga2", "random", "minimise"])
def test_a_search_that_was_stopped_goes_on_to_the_same_bits(method, tmp_path):
    asked = {"end": END, "away": "(x - 0.6)^4 + (dx - 0.8)^2 + x*dx"}
    goal = {"factors": BOTH, "goals": {"away": {"aim": "least"}}, "method": method, "evaluations": 60, "batch": 12}
    given = {"indicators": asked, "search": goal, "limits": {"end": {"at_most": 1.3}}}
    whole = searched(tmp_path / "whole", asked, goal, limits=given["limits"])
    seen = []

    def stop(now):
        seen.append(now.done)
        if len(seen) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ts.run_campaign(ts.Campaign(study=FREE, **given), tmp_path / "parts", threads=1, progress=stop)
    assert 0 < len(files(tmp_path / "parts")) < len(files(tmp_path / "whole"))
    again = searched(tmp_path / "parts", asked, goal, limits=given["limits"])
    assert files(tmp_path / "parts") == files(tmp_path / "whole")
    assert again.best() == whole.best()
    assert again.table["run"].to_pylist() == list(range(len(again)))


def test_another_seed_takes_another_way_and_limits_hold(tmp_path):
    asked = {"end": END, "away": "(x - 1)^2 + (dx - 1)^2"}
    goal = {"factors": BOTH, "goals": {"away": {"aim": "least"}}, "evaluations": 120, "batch": 20}
    limits = {"end": {"at_most": 1.0}}
    a = searched(tmp_path / "a", asked, goal | {"seed": 1}, limits=limits)
    b = searched(tmp_path / "b", asked, goal | {"seed": 2}, limits=limits)
    assert files(tmp_path / "a") != files(tmp_path / "b")
    for found in (a, b):
        best = found.best()
        assert best["x"] + best["dx"] <= 1.0
        assert found.candidates.goals["away"][found.candidates.best] < 0.55  # 1/2 on the limit


def test_goals_that_contradict_each_other_leave_a_front(tmp_path):
    goals = {"end": {"aim": "most"}, "effort": {"aim": "least"}}
    search = {"factors": BOTH, "goals": goals, "method": "nsga2", "evaluations": 200, "batch": 20}
    answers = searched(tmp_path / "out", {"end": END, "effort": "dx^2 + x^2"}, search)
    found = answers.candidates
    assert found.best is None
    assert len(found.front) > 5
    x, dx = (found.factors[n][found.front] for n in ("x", "dx"))
    assert np.abs(x - dx).mean() < 0.2  # the front is x = dx
    with pytest.raises(ts.ArgumentError, match="front"):
        answers.best()


def test_any_run_of_a_search_can_be_computed_again(tmp_path):
    search = {"factors": BOTH, "goals": {"end": {"target": 1.0}}, "method": "random", "evaluations": 8}
    answers = searched(tmp_path / "out", {"end": END}, search)
    assert answers.run(5)["x"][-1] == answers["end"][5]
    assert ts.simulate(answers.study_of(5))["x"][-1] == answers["end"][5]
    with pytest.raises(ts.ArgumentError, match="no run 8"):
        answers.run(8)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"goals": {"edn": {"aim": "least"}}}, "no indicator 'edn'"),
        ({"factors": {"y": {"low": 0, "high": 1}}}, "'y'"),
        ({"method": "least_squares", "goals": {"end": {"aim": "least"}}}, "a target for every goal"),
        ({"method": "minimise", "goals": {"end": {"aim": "least"}, "more": {"aim": "least"}}}, "a single goal"),
    ],
)
def test_a_search_that_makes_no_sense_is_refused_before_the_start(change, words, tmp_path):
    search = {"factors": BOTH, "goals": {"end": {"aim": "least"}}} | change
    with pytest.raises(ts.ModelError, match=words):
        searched(tmp_path / "out", {"end": END, "more": "end + 1"}, search)
