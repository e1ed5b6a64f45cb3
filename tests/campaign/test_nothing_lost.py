"""What can go wrong between a campaign and its table: threads, rare faults, poor machines, many files."""

import sys
import threading
import time

import numpy as np
import pytest

import torseur as ts
from torseur.campaign import storage
from torseur.campaign.design import BLOCK, Design
from torseur.campaign.storage import Folder, channels_bytes
from torseur.campaign.work import FAILED, Work
from torseur.describe.loads import KINDS as LOADS
from torseur.simulation.run.simulation import Simulation

CART = {
    "name": "cart",
    "gravity": (0.0, 0.0, 0.0),
    "parameters": {"m": {"value": 1.0}, "k": {"value": 1.0}},
    "bodies": {"cart": {"joint": {"kind": "prismatic", "coordinate": "x"}, "inertia": {"M": "m"}}},
    "loads": {"spring": LOADS["spring"](coordinate="x", stiffness="k")},
}
FIXED = ts.Study(model=CART, until=1.0, every=0.1, solver={"method": "rk4", "step": 0.05}, start={"x": 1.0})
BY_ERROR = FIXED.model_copy(update={"solver": ts.Study(model=CART, solver={"method": "dopri5", "steps": 300}).solver})


def campaign(study=FIXED, **given):
    fields = {"study": study, "indicators": {"end": {"final": "x"}}} | given
    return ts.Campaign(**fields)


def test_threads_that_run_one_by_one_have_the_factors_of_their_own_run(tmp_path, monkeypatch):
    asked = campaign(BY_ERROR, factors={"x": list(np.linspace(0.5, 2.0, 40))}, chunk=20)
    alone = ts.run_campaign(asked, tmp_path / "one", threads=1)
    together = ts.run_campaign(asked, tmp_path / "many", threads=8)
    assert (alone["end"] == together["end"]).all()
    np.testing.assert_allclose(alone["end"], alone["x"] * np.cos(1.0), rtol=1e-4)


def test_parts_of_a_chunk_are_read_while_another_thread_asks_for_other_runs():
    work = Work(campaign(factors={"x": list(np.arange(10.0))}))
    part = work.values(2, 5)
    work.values(7, 10)  # what another thread may do at any time
    assert part["x"].tolist() == [2.0, 3.0, 4.0]
    assert work.values(8, 9)["x"].tolist() == [8.0]
    assert work.values(0, 2)["x"].tolist() == [0.0, 1.0]


def test_a_run_that_does_not_end_is_ended_by_its_number_of_steps(tmp_path):
    answers = ts.run_campaign(campaign(BY_ERROR, factors={"k": [1.0, 1e9, 4.0]}), tmp_path / "out", threads=2)
    assert answers.outcomes.tolist() == ["ok", "failed", "ok"]
    assert "steps" in next(iter(answers.failures()))
    clean = ts.run_campaign(campaign(BY_ERROR, factors={"k": [1.0, 4.0]}), tmp_path / "clean", threads=1)
    assert answers["end"][[0, 2]].tolist() == clean["end"].tolist()


def test_a_mass_below_zero_is_a_row_however_rare_it_is(tmp_path):
    masses = np.linspace(0.5, 2.0, 3000)
    masses[1701] = -0.1  # not among those that are checked before the start
    rows = {"columns": ["m"], "values": [[x] for x in masses]}
    asked = campaign(rows=rows, chunk=1000)
    assert not Work(asked).each_checked
    answers = ts.run_campaign(asked, tmp_path / "out", threads=1)
    assert np.flatnonzero(answers.outcomes == FAILED).tolist() == [1701]
    assert answers.counts() == {"ok": 2999, "failed": 1, "limit": 0}


@pytest.mark.parametrize("error", [MemoryError(), OSError(28, "No space left on device"), ImportError("h5py")])
def test_what_this_machine_lacks_stops_the_campaign_and_fails_no_run(error, tmp_path, monkeypatch):
    indicators = {"end": {"final": "x"}, "energy": {"maximum": "kinetic_energy"}}
    asked = campaign(BY_ERROR, indicators=indicators, factors={"x": [1.0, 2.0, 3.0, 4.0]}, chunk=2)
    whole = ts.run_campaign(asked, tmp_path / "whole", threads=1)
    real, calls = Simulation.result, []

    def poor(self, *given):
        calls.append(0)
        if len(calls) == 5:
            raise error
        return real(self, *given)

    monkeypatch.setattr(Simulation, "result", poor)
    with pytest.raises(type(error)):
        ts.run_campaign(asked, tmp_path / "out", threads=1)
    monkeypatch.undo()
    assert len(ts.open_campaign(tmp_path / "out")) == 2
    again = ts.run_campaign(asked, tmp_path / "out", threads=1)
    assert again["end"].tolist() == whole["end"].tolist()
    assert again.counts()["failed"] == 0


def test_files_are_read_by_number_beyond_six_digits(tmp_path):
    folder = Folder(tmp_path)
    (tmp_path / storage.INDICATORS).mkdir()
    numbers = [999_999, 1_000_000, 100_000, 100_001, 1_000_001]
    for k in numbers:
        folder.file(k).touch()
    assert folder.files() == [folder.file(k) for k in sorted(numbers)]


def test_another_version_does_not_go_on_with_these_numbers(tmp_path, monkeypatch):
    asked = campaign(factors={"x": [1.0, 2.0]})
    ts.run_campaign(asked, tmp_path / "out", threads=1)
    monkeypatch.setattr(storage, "__version__", "99.0")
    with pytest.raises(ts.ArgumentError, match="another version"):
        ts.run_campaign(asked, tmp_path / "out")


def test_blocks_of_a_sequence_do_not_depend_on_the_order_in_which_they_are_asked_for():
    factors = {"x": {"uniform": {"low": 0, "high": 1}}, "m": {"uniform": {"low": 1, "high": 2}}}
    asked = campaign(factors=factors, sampling={"kind": "sobol", "count": 4 * BLOCK, "seed": 2})
    whole = Design(asked).values(0, 4 * BLOCK)
    parts = Design(asked)
    for b in (3, 0, 1, 1, 2):
        part = parts.values(b * BLOCK, (b + 1) * BLOCK)
        assert all((part[n] == whole[n][b * BLOCK : (b + 1) * BLOCK]).all() for n in whole)
    with pytest.raises(ts.ArgumentError, match="ends before"):
        Design(campaign(factors=factors, sampling={"kind": "sobol", "count": 2**31}))


def test_kept_channels_are_the_same_bytes_while_a_profiler_holds_frames():
    """Dask's profiler holds the frames of workers, and all objects in them, a little longer than they run."""
    asked = campaign(factors={"x": [1.0, 2.0, 3.0, 4.0]}, keep={"channels": ["x"]})
    chunk, profiled, is_over = Work(asked).results(0), threading.get_ident(), threading.Event()

    def profile() -> None:
        while not is_over.wait(0.0005):
            frame = sys._current_frames().get(profiled)
            time.sleep(0.0005)
            del frame

    alone = channels_bytes(chunk)
    profiler = threading.Thread(target=profile)
    profiler.start()
    try:
        assert {channels_bytes(chunk) for _ in range(300)} == {alone}
    finally:
        is_over.set()
        profiler.join()
