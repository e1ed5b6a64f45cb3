"""Slopes of searches: exact ones against differences, how many runs they save, and where there are none."""

import re

import numpy as np
import pytest

import torseur as ts
from torseur.campaign.candidates import GOALS, MARGINS, RESIDUALS, ExactSlopes, Slopes
from torseur.campaign.search import Batches
from torseur.campaign.storage import INDICATORS, SLOPES, Folder
from torseur.campaign.work import Work
from torseur.describe import Effort, Mechanism
from torseur.simulation.blocks import Sampled

ROD = {"joint": {"kind": "revolute", "coordinate": "a"}, "inertia": {"M": 1.0, "MX": "l", "ZZ": "2*l^2"}}
PENDULUM = Mechanism(
    name="pendulum",
    gravity=(9.81, 0.0, 0.0),
    parameters={"l": {"value": 0.5}, "c": {"value": 0.2}},
    inputs={"torque": {}},
    bodies={"rod": ROD},
    loads={"motor": Effort(coordinate="a", value="torque - c*da")},
)
STUDY = ts.Study(
    model=PENDULUM,
    start={"a": 0.8},
    until=1.5,
    every=0.03,
    solver={"method": "rk4", "step": 0.01},
)
FACTORS = {
    "l": {"low": 0.3, "high": 0.8},
    "c": {"low": 0.05, "high": 1.0, "scale": "log"},
    "a": {"low": 0.5, "high": 1},
}
OF_ALL_KINDS = {
    "least": {"minimum": "a"},
    "most": {"maximum": "da"},
    "end": {"final": "kinetic_energy"},
    "swing": {"rms": "a"},
    "mix": "least*most + sqrt(swing) + c*fall^2",
    "fall": "end/(1 + a)",
}


def slopes_of(folder, search, study=STUDY, **more):
    campaign = ts.Campaign(study=study, search={"evaluations": 500, **search}, **more)
    work = Work(campaign)
    Folder(folder).begin(work)
    said = []
    return Slopes(Batches(work, Folder(folder), 1, lambda done: None), said.append), said


@pytest.mark.parametrize("solver", [{"method": "rk4", "step": 0.01}, {"method": "dop853", "rtol": 1e-12}])
def test_every_smooth_indicator_has_the_slope_of_its_differences(solver, tmp_path):
    study = STUDY.model_copy(update={"solver": ts.Study(model=PENDULUM, solver=solver).solver})
    goals = {name: {"target": 0.3, "weight": 2.0} for name in OF_ALL_KINDS}
    limits = {"end": {"at_most": 1.0, "at_least": -1.0}, "mix": {"at_most": 3.0}}
    given = {"indicators": OF_ALL_KINDS, "limits": limits, "factors": {"da": [-0.2, 0.1, 0.4]}, "study": study}
    s = np.array([0.4, 0.7, 0.3])
    found = {}
    for how in ("exact", "differences"):
        search = {"factors": FACTORS, "goals": goals, "method": "nsga2", "slopes": how}
        slopes, said = slopes_of(tmp_path / how, search, **given)
        found[how] = [slopes.slope(s, one) for one in (RESIDUALS, GOALS, MARGINS)]
        assert (said == [None]) is (how == "exact")
    for exact, difference in zip(found["exact"], found["differences"], strict=True):
        assert exact.shape == difference.shape
        assert exact == pytest.approx(difference, abs=2e-6 * np.abs(difference).max())


def test_the_worst_run_decides_the_slope_of_a_goal_over_the_worst(tmp_path):
    goals = {"end": {"aim": "most", "over": "worst"}}
    given = {"indicators": {"end": {"final": "a"}}, "factors": {"c": [0.1, 0.3, 0.9]}}
    s = np.array([0.5])
    search = {"factors": {"l": FACTORS["l"]}, "goals": goals, "method": "minimise"}
    slope = [
        slopes_of(tmp_path / how, search | {"slopes": how}, **given)[0].slope(s, GOALS)
        for how in ("exact", "differences")
    ]
    assert slope[0] == pytest.approx(slope[1], rel=1e-7)


def test_exact_slopes_find_the_same_optimum_with_a_fraction_of_the_candidates(tmp_path):
    truth = {"l": 0.55, "c": 0.3, "a": 0.9}
    start = {"start": {"a": truth["a"]}, "parameters": {"l": truth["l"], "c": truth["c"]}}
    run = ts.simulate(STUDY.model_copy(update=start))
    seen = {"end": {"final": "a"}, "low": {"minimum": "a"}, "swing": {"rms": "a"}, "fast": {"maximum": "da"}}
    swing = np.sqrt(np.trapezoid(run["a"] ** 2, run.time) / run.time[-1])
    values = {"end": run["a"][-1], "low": run["a"].min(), "swing": swing, "fast": run["da"].max()}
    counts = {}
    for how in ("exact", "differences"):
        goals = {name: {"target": float(x)} for name, x in values.items()}
        search = {"factors": FACTORS, "goals": goals, "method": "least_squares", "slopes": how, "evaluations": 400}
        answers = ts.run_campaign(ts.Campaign(study=STUDY, indicators=seen, search=search), tmp_path / how, threads=1)
        assert answers.best() == pytest.approx(truth, rel=1e-6)
        counts[how] = len(answers.candidates)
    assert 3 * counts["exact"] < counts["differences"]


def test_slopes_that_are_stored_are_read_and_others_computed_again(tmp_path, monkeypatch):
    search = {"factors": FACTORS, "goals": {"end": {"target": 0.1}}, "method": "least_squares", "evaluations": 60}
    campaign = ts.Campaign(study=STUDY, indicators={"end": {"final": "a"}}, search=search)
    whole = ts.run_campaign(campaign, tmp_path, threads=1)
    assert whole.slopes == "sensitivities of runs"
    before = {path: path.read_bytes() for part in (INDICATORS, SLOPES) for path in (tmp_path / part).glob("*")}
    lost = sorted((tmp_path / SLOPES).glob("*"))[1]
    lost.unlink()
    last = sorted((tmp_path / INDICATORS).glob("*"))[-1]
    last.unlink()
    ts.run_campaign(campaign, tmp_path, threads=1)
    assert before == {path: path.read_bytes() for part in (INDICATORS, SLOPES) for path in (tmp_path / part).glob("*")}


JUMPING = PENDULUM.model_copy(update={"loads": {"motor": Effort(coordinate="a", value="-3*sign(a) - c*da")}})


@pytest.mark.parametrize("solver", [{"method": "rk4", "step": 0.01}, {"method": "dopri5", "rtol": 1e-8}])
def test_slopes_do_not_depend_on_threads(solver, tmp_path, monkeypatch):
    monkeypatch.setattr("torseur.simulation.run.sensitivities.FEW", 0)  # few runs are enough for lanes
    study = STUDY.model_copy(update={"solver": ts.Study(model=PENDULUM, solver=solver).solver})
    search = {"factors": {"l": FACTORS["l"]}, "goals": {"end": {"target": 0.1}}, "method": "minimise", "evaluations": 8}
    spread = {"factors": {"c": {"uniform": {"low": 0.1, "high": 0.5}}}, "sampling": {"count": 37, "seed": 1}}
    campaign = ts.Campaign(study=study, indicators={"end": {"rms": "a"}}, search=search, **spread)
    found = []
    for threads in (1, 3):
        folder = tmp_path / str(threads)
        ts.run_campaign(campaign, folder, threads=threads)
        found.append({f.name: f.read_bytes() for part in (INDICATORS, SLOPES) for f in (folder / part).glob("*")})
    assert found[0] == found[1]


SETTLED = {"settling_time": {"channel": "a", "band": 0.1}}


@pytest.mark.parametrize(
    ("indicators", "study", "words"),
    [
        ({"end": SETTLED}, STUDY, r"'end' \(settling_time\) has no derivative"),
        ({"end": "rest + 1", "rest": SETTLED}, STUDY, "'rest'"),
        (
            {"end": {"final": "a"}},
            STUDY.model_copy(update={"blocks": {"y": Sampled(value="a", period=0.1)}}),
            "the study has samples",
        ),
        ({"end": {"final": "a"}}, STUDY.model_copy(update={"model": JUMPING}), "loads.motor.*switches with the state"),
    ],
)
def test_where_there_are_no_derivatives_differences_are_used_and_said_once(indicators, study, words, tmp_path):
    search = {"factors": FACTORS, "goals": {"end": {"target": 0.1}}, "method": "least_squares", "evaluations": 30}
    answers = ts.run_campaign(ts.Campaign(study=study, indicators=indicators, search=search), tmp_path, threads=1)
    assert answers.slopes.startswith("central differences, since ")
    assert re.search(words, answers.slopes)
    assert not (tmp_path / SLOPES).exists()


def test_slopes_that_are_wrong_are_seen_by_the_first_comparison(tmp_path, monkeypatch):
    exact = ExactSlopes.of
    monkeypatch.setattr(ExactSlopes, "of", lambda *given: {n: 1.02 * x for n, x in exact(*given).items()})
    goals = {"end": {"target": 0.1}}
    search = {"factors": {"a": FACTORS["a"]}, "goals": goals, "method": "least_squares", "evaluations": 30}
    campaign = ts.Campaign(study=STUDY, indicators={"end": {"final": "a"}}, search=search)
    answers = ts.run_campaign(campaign, tmp_path, threads=1)
    assert "something jumps" in answers.slopes
