"""Campaigns: from a file to a table, with every run in it once."""

import re
from pathlib import Path

import numpy as np
import pytest

import torseur as ts
from torseur.campaign import runner, storage
from torseur.campaign.design import Design
from torseur.campaign.measures import Rms
from torseur.campaign.process import Task
from torseur.campaign.storage import table_bytes, texts_of
from torseur.campaign.work import FAILED, OUTSIDE, Work

PENDULUM = """
torseur: 1
name: pendulum
parameters: {m: {value: 1.0, unit: kg}, l: {value: 0.5, unit: m}, c: 0.1}
bodies:
  rod:
    mdh: {alpha: pi/2}
    joint: {kind: revolute, coordinate: a}
    inertia: {mass: m, centre: [l, 0, 0], tensor: [0, 0.01, 0.01]}
loads: {motor: {effort: {coordinate: a, value: torque}}}
inputs: {torque: {unit: N m}}
"""
STUDY = """
torseur_study: 1
model: pendulum.yaml
start: {a: -1.2}
blocks: {law: {pd_regulator: {inputs: [torque], target: {a: 0.5}, kp: {a: 8}, kd: {a: 1.5}}}}
until: 1
every: 0.05
solver: {method: rk4, step: 0.01}
"""
CAMPAIGN = """
torseur_campaign: 1
study: study.yaml
factors:
  m: {grid: {low: 0.5, high: 2, count: 4}}
  law.kp.a: [4, 8, 16]
  da: {uniform: {low: -1, high: 1}}
sampling: {kind: sobol, count: 4, seed: 3}
indicators:
  peak: {maximum: a}
  least: {minimum: a}
  end: {final: a}
  swing: {rms: da}
  effort: {rms: torque}
  over: peak - 0.5
limits: {over: {at_most: 0.2}}
keep: {channels: [a, torque]}
chunk: 10
"""


HEAD = "torseur_campaign: 1\nstudy: study.yaml\n"


def written(folder: Path, campaign: str = CAMPAIGN, study: str = STUDY, **more: str) -> Path:
    files = {"pendulum.yaml": PENDULUM, "study.yaml": study, "campaign.yaml": campaign} | more
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder / "campaign.yaml"


def bytes_in(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((folder / storage.INDICATORS).glob("*"))}


# -- results ----------------------------------------------------------------------------------------------------------
def test_indicators_are_those_of_each_run_by_itself(tmp_path):
    answers = ts.run_campaign(written(tmp_path), tmp_path / "out", threads=1)
    assert len(answers) == answers.runs == 48
    assert answers.table["run"].to_pylist() == list(range(48))
    for k in (0, 17, 47):
        run, values = answers.run(k), answers.values_of(k)
        assert answers["peak"][k] == run["a"].max()
        assert answers["end"][k] == run["a"][-1]
        assert answers["over"][k] == pytest.approx(run["a"].max() - 0.5, abs=1e-15)
        rms = np.sqrt(np.trapezoid(run["da"] ** 2, run.time))
        assert answers["swing"][k] == pytest.approx(rms, rel=1e-12)
        alone = ts.simulate(answers.study_of(k))
        assert (alone["a"] == run["a"]).all()
        assert {n: answers[n][k] for n in answers.factors} == values
        for channel in ("a", "torque"):
            assert (answers.channels()[channel].values[k] == run[channel]).all()
        assert answers["effort"][k] == Rms(channel="torque").reduced(run.time, run["torque"][None, :])[0]


def test_a_field_of_a_block_varies_as_if_the_file_said_so(tmp_path):
    answers = ts.run_campaign(written(tmp_path), tmp_path / "out", threads=1)
    k = 9  # the third gain
    values = answers.values_of(k)
    assert values["law.kp.a"] == 16.0
    changed = STUDY.replace("kp: {a: 8}", "kp: {a: 16}")
    study = ts.load_study(written(tmp_path, study=changed).with_name("study.yaml"))
    run = ts.simulate(study, parameters={"m": values["m"]}, start={"a": -1.2, "da": values["da"]})
    np.testing.assert_allclose(run["a"].max(), answers["peak"][k], rtol=1e-13)


def test_a_run_beyond_a_limit_is_a_row_with_its_reason(tmp_path):
    answers = ts.run_campaign(written(tmp_path), tmp_path / "out", threads=1)
    outside = answers.outcomes == OUTSIDE
    assert 0 < outside.sum() < 48
    assert (outside == (answers["over"] > 0.2)).all()
    reasons = answers.to_pandas()["reason"]
    assert all(re.match(r"over = .*, at most 0.2", text) for text in reasons[outside])


def test_chunks_and_threads_do_not_change_a_bit(tmp_path):
    file = written(tmp_path)
    a = ts.run_campaign(file, tmp_path / "a", threads=1)
    b = ts.run_campaign(file, tmp_path / "b", threads=3)
    assert bytes_in(tmp_path / "a") == bytes_in(tmp_path / "b")
    other = written(tmp_path, CAMPAIGN.replace("chunk: 10", "chunk: 7"))
    c = ts.run_campaign(other, tmp_path / "c", threads=1)
    assert all((a[n] == c[n]).all() for n in a.indicators)
    assert len(b) == 48


def test_a_worker_gives_the_bytes_that_are_stored_here(tmp_path):
    file = written(tmp_path)
    ts.run_campaign(file, tmp_path / "a", threads=1)
    work = Work(ts.load_campaign(file))
    task = Task(tuple(sorted(texts_of(work.campaign).items())), (), ts.__version__)
    table, channels = task.files(2)
    assert table == bytes_in(tmp_path / "a")["chunk-000002.parquet"] == table_bytes(work.results(2))
    assert channels is not None


# -- noise ------------------------------------------------------------------------------------------------------------
NOISY = """
torseur_study: 1
model: pendulum.yaml
start: {a: -1.2}
inputs: {torque: {formula: 3*grain}}
blocks:
  grain: {noise: {deviation: 0.4, period: 0.04, seed: 7}}
  seen: {imu: {frame: rod, rate_noise: 0.1, force_noise: 0.2, period: 0.1, seed: 1}}
until: 1
every: 0.05
solver: {method: rk4, step: 0.01}
"""
SHOWN = "indicators: {end: {final: a}, peak: {maximum: seen_wz}, pull: {rms: seen_fx}}\n"


def test_a_seed_that_varies_gives_the_noise_of_the_study_with_that_seed(tmp_path):
    text = HEAD + "factors: {grain.seed: [7, 8, 9], seen.seed: {range: {low: 0, high: 5, step: 2}}}\n" + SHOWN
    answers = ts.run_campaign(written(tmp_path, text, NOISY), tmp_path / "out", threads=1)
    assert len(set(answers["end"])) == 3
    assert len(set(answers["pull"])) == 9
    for k in (0, 4, 8):
        seeds = answers.values_of(k)
        other = NOISY.replace("seed: 7", f"seed: {seeds['grain.seed']:.0f}")
        other = other.replace("seed: 1}", f"seed: {seeds['seen.seed']:.0f}}}")
        (tmp_path / "one.yaml").write_text(other)
        run = ts.simulate(ts.load_study(tmp_path / "one.yaml"))
        assert (answers["end"][k], answers["peak"][k]) == (run["a"][-1], run["seen_wz"].max())
        assert ts.simulate(answers.study_of(k))["a"][-1] == answers.run(k)["a"][-1] == answers["end"][k]
        assert answers.study_of(k).blocks["grain"].seed == seeds["grain.seed"]


def test_a_monte_carlo_over_seeds_is_the_same_wherever_it_runs(tmp_path, monkeypatch):
    monkeypatch.setattr("torseur.simulation.run.variants.FEW", 0)  # few runs are enough for lanes
    text = HEAD + "factors: {grain.seed: {integers: {}}, m: {normal: {mean: 1, deviation: 0.1}}}\n" + SHOWN
    file = written(tmp_path, text + "sampling: {count: 40, seed: 2}\nchunk: 16\n", NOISY)
    a = ts.run_campaign(file, tmp_path / "a", threads=1)
    b = ts.run_campaign(file, tmp_path / "b", threads=2)
    assert bytes_in(tmp_path / "a") == bytes_in(tmp_path / "b")
    work = Work(ts.load_campaign(file))
    task = Task(tuple(sorted(texts_of(work.campaign).items())), (), ts.__version__)
    assert task.files(1)[0] == bytes_in(tmp_path / "a")["chunk-000001.parquet"]
    seeds = a["grain.seed"]
    assert (seeds == np.floor(seeds)).all()
    assert len(set(seeds)) == 40
    assert a.run(3)["a"][-1] == b["end"][3]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("factors: {grain.seed: {uniform: {low: 0, high: 9}}}\nsampling: {count: 3}", "whole numbers(.|\n)*uniform"),
        ("factors: {grain.seed: [1, 2.5]}", "whole numbers(.|\n)*2.5"),
        ("rows: {columns: [grain.seed], values: [[1], [-2]]}", "whole numbers(.|\n)*-2"),
        (
            "search: {factors: {grain.seed: {low: 0, high: 9}}, goals: {end: {aim: least}}, evaluations: 9}",
            "cannot be searched",
        ),
        ("factors: {sway.seed: [1, 2]}", "no number that is drawn"),
    ],
)
def test_seeds_that_cannot_vary_are_refused(given, words, tmp_path):
    study = NOISY.replace("blocks:\n", "blocks:\n  sway: {band_noise: {highest: 5}}\n")
    with pytest.raises(ts.ModelError, match=words):
        Work(ts.load_campaign(written(tmp_path, HEAD + given + "\n" + SHOWN, study)))


# -- nothing lost -----------------------------------------------------------------------------------------------------
def test_what_was_interrupted_goes_on_with_the_same_call(tmp_path):
    file = written(tmp_path)
    whole = ts.run_campaign(file, tmp_path / "whole", threads=1)

    def stop(now):
        if now.done >= 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ts.run_campaign(file, tmp_path / "parts", threads=1, progress=stop)
    before = bytes_in(tmp_path / "parts")
    assert len(before) == 2
    again = ts.run_campaign(file, tmp_path / "parts", threads=1)
    assert bytes_in(tmp_path / "parts") == bytes_in(tmp_path / "whole")
    assert again.table["run"].to_pylist() == whole.table["run"].to_pylist()


def test_a_disk_that_is_full_costs_no_chunk_that_was_stored(tmp_path, monkeypatch):
    file, real = written(tmp_path), storage.replace_file

    def full(path, data):
        if path.name == "chunk-000003.parquet":
            raise ts.ArgumentError("the file cannot be written", where=str(path), got="No space left on device")
        real(path, data)

    monkeypatch.setattr(storage, "replace_file", full)
    with pytest.raises(ts.ArgumentError, match="No space left"):
        ts.run_campaign(file, tmp_path / "out", threads=1)
    assert len(bytes_in(tmp_path / "out")) == 3
    monkeypatch.setattr(storage, "replace_file", real)
    assert len(ts.run_campaign(file, tmp_path / "out", threads=1)) == 48


def test_poisoned_runs_are_rows_and_the_others_are_as_without_them(tmp_path, monkeypatch):
    campaign = CAMPAIGN.replace("{grid: {low: 0.5, high: 2, count: 4}}", "[0.5, 1, -3, 2]")
    answers = ts.run_campaign(written(tmp_path, campaign), tmp_path / "out", threads=1)
    failed = answers.outcomes == FAILED
    assert (failed == (answers["m"] == -3.0)).all()
    assert np.isnan(answers["peak"][failed]).all()
    assert all("mass" in text for text in answers.to_pandas()["reason"][failed])
    clean = CAMPAIGN.replace("{grid: {low: 0.5, high: 2, count: 4}}", "[0.5, 1, 2]")
    others = ts.run_campaign(written(tmp_path, clean), tmp_path / "clean", threads=1)
    assert (answers["peak"][~failed] == others["peak"]).all()


def test_a_run_that_raises_or_is_not_a_number_is_a_row(tmp_path, monkeypatch):
    work = Work(ts.load_campaign(written(tmp_path)))
    real = runner.Work.variants

    def poisoned(self, first, last):
        if first <= 5 < last:
            raise RuntimeError("poison")
        found = real(self, first, last)
        if first <= 8 < last:
            found.p[8 - first] = np.nan
        return found

    healthy = work.results(0)
    monkeypatch.setattr(Work, "variants", poisoned)
    chunk = work.results(0)
    assert chunk.outcomes[5] == FAILED
    assert chunk.reasons[5] == "RuntimeError: poison"
    assert chunk.outcomes[8] == FAILED
    assert chunk.reasons[8]
    for k in set(range(10)) - {5, 8}:
        assert chunk.indicators["peak"][k] == healthy.indicators["peak"][k]
        assert chunk.outcomes[k] == healthy.outcomes[k]


def test_another_campaign_does_not_go_into_a_folder_that_is_taken(tmp_path):
    ts.run_campaign(written(tmp_path), tmp_path / "out", threads=1)
    other = written(tmp_path, CAMPAIGN.replace("seed: 3", "seed: 4"))
    with pytest.raises(ts.ArgumentError, match="another campaign") as caught:
        ts.run_campaign(other, tmp_path / "out")
    assert "seed: 4" in caught.value.got
    assert "seed: 3" in caught.value.got


def test_a_worker_refuses_another_version_and_what_is_no_campaign(tmp_path):
    texts = tuple(sorted(texts_of(ts.load_campaign(written(tmp_path))).items()))
    with pytest.raises(ts.ArgumentError, match="another version"):
        Task(texts, (), "99.0").files(0)
    with pytest.raises(ts.ArgumentError, match="not a campaign"):
        Task((*texts, ("../evil.py", "import os")), (), ts.__version__).files(0)
    with pytest.raises(ts.ModelError):
        Task((("campaign.yaml", "!!python/object/apply:os.system [ls]"),), (), ts.__version__).files(0)


def test_what_the_study_measures_is_an_indicator(tmp_path):
    study = STUDY + "indicators: {highest: {extreme: {channel: a}}}\n"
    text = HEAD + "factors: {m: [1, 2]}\nindicators: {x: {measure: NAME}, y: {maximum: a}}\n"
    file = written(tmp_path, text.replace("NAME", "max_a"), study)
    answers = ts.run_campaign(file, tmp_path / "out", threads=1)
    assert (answers["x"] == answers["y"]).all()
    assert answers.units["x"] == "rad"
    with pytest.raises(ts.ModelError, match="no run has a measure 'max_b'"):
        Work(ts.load_campaign(written(tmp_path, text.replace("NAME", "max_b"), study)))


def test_tables_of_other_packages_hold_the_same(tmp_path):
    text = HEAD + "factors: {m: [1, 2], law.kp.a: [4, 8, 16]}\nindicators: {end: {final: a}}\n"
    answers = ts.run_campaign(written(tmp_path, text), tmp_path / "out", threads=1)
    data = answers.to_xarray()
    assert data["end"].dims == ("m", "law.kp.a")
    assert float(data["end"].sel({"m": 2.0, "law.kp.a": 8.0})) == answers["end"][4]
    assert answers.to_polars()["end"].to_list() == answers["end"].tolist()
    assert answers.to_pandas()["end"].tolist() == answers["end"].tolist()
    rows = ts.run_campaign(written(tmp_path), tmp_path / "rows", threads=1).to_xarray()
    assert rows.sizes == {"run": 48}


# -- factors ----------------------------------------------------------------------------------------------------------
def design(tmp_path: Path, factors: str, sampling: str, **more: str) -> Design:
    text = f"torseur_campaign: 1\nstudy: study.yaml\nfactors: {factors}\nsampling: {sampling}\n"
    return Design(ts.load_campaign(written(tmp_path, text + "indicators: {end: {final: a}}\n", **more)))


@pytest.mark.parametrize("kind", ["random", "sobol", "latin_hypercube"])
def test_samples_follow_their_distributions_and_their_correlation(kind, tmp_path):
    factors = "{m: {normal: {mean: 2, deviation: 0.1}}, l: {uniform: {low: 1, high: 3}}}"
    pair = "{between: [m, l], value: -0.6}"
    found = design(tmp_path, factors, f"{{kind: {kind}, count: 8192, seed: 1, correlations: [{pair}]}}")
    values = found.values(0, found.count)
    assert values["m"].mean() == pytest.approx(2.0, abs=0.005)
    assert values["m"].std() == pytest.approx(0.1, rel=0.03)
    assert 1.0 < values["l"].min() < 1.01
    rank = 6.0 / np.pi * np.arcsin(-0.3)  # Spearman's coefficient of a Gaussian copula
    order = [np.argsort(np.argsort(x)) for x in values.values()]
    assert np.corrcoef(*order)[0, 1] == pytest.approx(rank, abs=0.03)
    for first, last in ((4090, 4100), (8000, 8192)):  # a part is the part of the whole
        part = found.values(first, last)
        assert all((part[n] == values[n][first:last]).all() for n in values)


def test_rows_of_a_table_are_runs(tmp_path):
    text = """
torseur_campaign: 1
study: study.yaml
rows: {file: rows.csv, columns: [a, m]}
indicators: {first: {minimum: a}}
"""
    file = written(tmp_path, text, **{"rows.csv": "m;a;note\n1;-0.5;0\n2;-0.7;0\n1.5;-0.9;0\n"})
    answers = ts.run_campaign(file, tmp_path / "out", threads=1)
    assert answers["a"].tolist() == [-0.5, -0.7, -0.9]
    assert answers["m"].tolist() == [1.0, 2.0, 1.5]
    assert (answers["first"] <= answers["a"]).all()


def test_a_column_that_is_missing_is_one_fault(tmp_path):
    text = HEAD + "rows: {file: rows.csv, columns: [m, aa]}\nindicators: {peak: {maximum: a}}\n"
    (tmp_path / "rows.csv").write_text("m;a\n1;2\n")
    with pytest.raises(ts.ModelError, match="no column 'aa'") as caught:
        ts.load_campaign(written(tmp_path, text))
    assert not caught.value.faults or [fault.location for fault in caught.value.faults] == [
        ("rows", "file"),
        ("rows", "columns", 1),
    ]


def test_formulas_know_the_parameters_of_the_model(tmp_path):
    text = HEAD + "factors: {m: [1, 2]}\nindicators: {end: {final: a}, weight: 9.81*m*l + 0*end}\n"
    answers = ts.run_campaign(written(tmp_path, text), tmp_path / "out", threads=1)
    np.testing.assert_allclose(answers["weight"], [9.81 * 0.5, 9.81 * 1.0])


def test_all_faults_of_a_file_are_told_at_once_with_their_lines(tmp_path):
    text = """
torseur_campaign: 1
study: study.yaml
factors:
  mm: [1, 2]
  l: {grid: {low: 2, high: 1, count: 3}}
  law.kq.a: [1, 2]
  c: {unifrom: {low: 0, high: 1}}
  m: {normal: {mean: 1, deviation: 0.1}}
indicators:
  peak: {maximum: a}
  odd: peak + pork
limits: {paek: {at_most: 1}}
"""
    with pytest.raises(ts.ModelError) as caught:
        ts.load_campaign(written(tmp_path, text))
    told = str(caught.value)
    for line, words in ((5, "did you mean"), (6, "empty range"), (7, "law.kp.a"), (8, "'uniform'"), (9, "sampling")):
        assert re.search(rf"campaign.yaml:{line}:\d+: .*(\n  .*)*{re.escape(words)}", told), (line, told)
    assert re.search(r"campaign.yaml:12:\d+: .*pork", told)
    assert re.search(r"campaign.yaml:13:\d+: .*paek(.|\n)*'peak'", told)


@pytest.mark.parametrize(
    ("factor", "words"),
    [
        ("{range: {low: 2, high: 1, step: 0.1}}", "empty range"),
        ("{range: {low: 1, high: 2, step: 5}}", "the step is longer than the range"),
        ("{uniform: {low: 2, high: 1}}", "empty range"),
        ("{normal: {mean: 1, deviation: 0.01, low: 30, high: 40}}", "nearly nothing of the distribution"),
        ("{triangular: {low: 1, mode: 4, high: 2}}", "mode lies outside"),
        ("[]", "too short"),
    ],
)
def test_ranges_that_contradict_themselves_are_one_fault_each(factor, words, tmp_path):
    text = HEAD + f"factors: {{m: {factor}}}\nsampling: {{count: 4}}\nindicators: {{end: {{final: a}}}}\n"
    with pytest.raises(ts.ModelError, match=words) as caught:
        ts.load_campaign(written(tmp_path, text.replace("sampling: {count: 4}\n", "") if factor == "[]" else text))
    assert len(caught.value.faults) <= 1


def test_names_of_columns_and_axes_are_not_taken_twice(tmp_path):
    model = PENDULUM.replace("coordinate: a", "coordinate: run").replace("m: {value: 1.0, unit: kg}", "outcome: 1.0")
    model = model.replace("mass: m", "mass: outcome")
    study = STUDY.replace("{a:", "{run:")
    text = HEAD + "factors: {run: [0.1, 0.2], outcome: [1, 2]}\nindicators: {end: {final: run}}\n"
    files = {"pendulum.yaml": model, "study.yaml": study}
    with pytest.raises(ts.ModelError) as caught:
        ts.load_campaign(written(tmp_path, text + "keep: {channels: [run]}\n", **files))
    told = str(caught.value)
    assert "a column of the table is called 'run'" in told
    assert "a column of the table is called 'outcome'" in told
    assert "'run' cannot be kept" in told
    right = text.replace("run: [0", "start.run: [0").replace("outcome: [1", "parameters.outcome: [1")
    answers = ts.run_campaign(written(tmp_path, right, **files), tmp_path / "out", threads=1)
    assert answers.table["run"].to_pylist() == [0, 1, 2, 3]
    assert answers["start.run"].tolist() == [0.1, 0.1, 0.2, 0.2]
    assert answers.outcomes.tolist() == ["ok"] * 4


@pytest.mark.parametrize(
    ("indicator", "words"),
    [("{maximum: aa}", "channel of numbers 'aa'"), ("{time_of: bump}", "event 'bump'"), ("{audit: engery}", "balance")],
)
def test_an_indicator_that_no_run_can_give_is_refused_before_the_start(indicator, words, tmp_path):
    text = f"torseur_campaign: 1\nstudy: study.yaml\nfactors: {{m: [1]}}\nindicators: {{odd: {indicator}}}\n"
    with pytest.raises(ts.ModelError, match=words):
        Work(ts.load_campaign(written(tmp_path, text)))


def test_correlations_that_contradict_each_other_are_refused(tmp_path):
    factors = ", ".join(f"{n}: {{uniform: {{low: 1, high: 2}}}}" for n in "mlc")
    pairs = "[{between: [m, l], value: 0.9}, {between: [l, c], value: 0.9}, {between: [m, c], value: -0.9}]"
    with pytest.raises(ts.ModelError, match="contradict"):
        design(tmp_path, f"{{{factors}}}", f"{{count: 8, correlations: {pairs}}}")


def test_more_runs_than_the_disk_holds_are_refused_before_the_start(tmp_path, monkeypatch):
    usage = storage.shutil.disk_usage(tmp_path)
    monkeypatch.setattr(storage.shutil, "disk_usage", lambda path: usage._replace(free=1000))
    with pytest.raises(ts.ArgumentError, match="disk"):
        ts.run_campaign(written(tmp_path), tmp_path / "out")
    assert not bytes_in(tmp_path / "out")


def test_a_million_millions_of_runs_are_refused_at_once(tmp_path):
    text = (
        HEAD + "factors: {m: {grid: {low: 1, high: 2, count: 1000000}}, c: {grid: {low: 1, high: 2, count: 1000000}}}\n"
    )
    with pytest.raises(ts.ArgumentError, match="more runs than the disk holds"):
        ts.run_campaign(written(tmp_path, text + "indicators: {end: {final: a}}\n"), tmp_path / "out")
    search = "search: {factors: {l: {low: 1, high: 2}}, goals: {end: {aim: least}}, evaluations: 1000000}\n"
    text = HEAD + "factors: {m: {grid: {low: 1, high: 2, count: 1000000}}}\nindicators: {end: {final: a}}\n" + search
    with pytest.raises(ts.ArgumentError, match="more runs than the disk holds"):
        ts.run_campaign(written(tmp_path, text), tmp_path / "search")
