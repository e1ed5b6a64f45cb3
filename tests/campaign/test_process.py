"""Runs that hang or end their process: each of them a row, the others as they are without them."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import torseur as ts
from torseur import extensions
from torseur.campaign.runner import Cluster
from torseur.campaign.storage import Folder
from torseur.campaign.work import LATE
from torseur.describe.loads import KINDS as LOADS
from torseur.extensions import Extension, extension_in, register

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(sys.platform == "win32", reason="signals"),
]

ROOT = Path(__file__).resolve().parents[2]
BLOCK = '''
import os, signal, sys, time
from pydantic import Field
from torseur.describe.annotations import Anything
from torseur.describe.loads import KINDS as LOADS
from torseur.extensions import Extension
from torseur.simulation.blocks import Block

def control(t, how, slow):
    """What a controller written in Python may do to a campaign."""
    if t > 0.4:
        if how == 1.0:
            time.sleep(slow)
        if how == 2.0:
            raise RuntimeError("no idea")
        if how == 3.0:
            return float("nan")
        if how == 4.0:
            while True:
                pass
        if how == 5.0:
            os.kill(os.getpid(), signal.SIGSEGV)
        if how == 6.0:
            os._exit(3)
        if how == 7.0:
            sys.exit("away")
        if how == 8.0:
            os.kill(os.getpid(), signal.SIGKILL)
    print("what a block prints is no answer")
    return how

class Odd(Block):
    kind = "odd"
    how: Anything = Field(description="what it does")
    slow: Anything = Field(description="s")

    def build(self, context, name):
        y = context.held(name, 0.0)
        context.callable([y], control, 0.1, 0.0, inputs=[context.value(self.how), context.value(self.slow)])
        return y

EXTENSION = Extension("odd", blocks={"odd": Odd})
'''
CAMPAIGN = """
torseur_campaign: 1
study:
  torseur_study: 1
  model:
    torseur: 1
    name: cart
    parameters: {how: 0.0, k: 1.0, slow: 1000.0}
    bodies: {cart: {joint: {kind: prismatic, coordinate: x}, inertia: {mass: 1.0}}}
    inputs: {f: {unit: N}}
    loads: {push: {effort: {coordinate: x, value: f}}, spring: {spring: {coordinate: x, stiffness: k}}}
  blocks: {law: {odd: {how: how, slow: slow}}}
  inputs: {f: law}
  until: 1
  every: 0.1
factors: {how: HOWS}
indicators: {end: {final: x}, twice: 2 * end}
limits: {end: {at_most: -3.6}}
keep: {channels: [x]}
chunk: 5
timeout: 4
"""


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """The file of the campaign; its kind of block is known to this process and to those it starts."""
    monkeypatch.setattr(extensions, "_registered", [])
    (tmp_path / "odd.py").write_text(BLOCK)
    register(extension_in(str(tmp_path / "odd.py")))
    file = tmp_path / "campaign.yaml"
    file.write_text(campaign("[0, 1, 2, 3, 0.4, 4, 5, 6, 7, 0.5]"))
    return file


def campaign(hows: str, chunk: int = 5, slow: float = 1000.0) -> str:
    """The text of a campaign of runs that do this."""
    return CAMPAIGN.replace("HOWS", hows).replace("chunk: 5", f"chunk: {chunk}").replace("1000.0", str(slow))


def bytes_in(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*/chunk-*"))}


def test_runs_that_hang_raise_or_crash_are_rows_and_the_others_as_without_them(asked, tmp_path):
    answers = ts.run_campaign(asked, tmp_path / "out", threads=2)
    good = answers["how"] < 1.0
    reasons = np.array(answers.to_pandas()["reason"], dtype=object)
    assert answers.table["run"].to_pylist() == list(range(10))
    for how, words in (
        (1, f"{LATE} 4 s"),
        (2, "no idea"),
        (3, "nan"),
        (4, f"{LATE} 4 s"),
        (5, "SIGSEGV"),
        (6, "code 3"),
    ):
        assert all(words in text for text in reasons[answers["how"] == how]), (how, reasons)
    assert all("away" in text for text in reasons[answers["how"] == 7.0]), reasons
    assert (answers.outcomes == np.where(good, answers.outcomes, "failed")).all()
    clean = tmp_path / "clean.yaml"
    clean.write_text(campaign("[0, 0.4, 0.5]").replace("timeout: 4\n", ""))
    others = ts.run_campaign(clean, tmp_path / "clean", threads=1)
    assert answers.outcomes[good].tolist() == others.outcomes.tolist()
    for name in ("end", "twice"):
        assert answers[name][good].tobytes() == others[name].tobytes()
        assert np.isnan(answers[name][~good]).all()
    kept = answers.channels()["x"].values
    assert kept[good].tobytes() == others.channels()["x"].values.tobytes()


def test_workers_give_the_same_bytes_whatever_hangs(asked, tmp_path):
    asked.write_text(campaign("[0, 1, 5, 0.4]", chunk=2))
    ts.run_campaign(asked, tmp_path / "here", threads=1)
    ts.run_campaign(asked, tmp_path / "there", cluster=Cluster(workers=2))
    assert bytes_in(tmp_path / "here") == bytes_in(tmp_path / "there")


def test_steps_without_end_are_ended_and_those_beside_go_on(tmp_path):
    """In lanes and alone: the native loop does not come back by itself."""
    cart = {
        "name": "cart",
        "parameters": {"k": {"value": 1.0}},
        "bodies": {"cart": {"joint": {"kind": "prismatic", "coordinate": "x"}, "inertia": {"M": 1.0}}},
        "loads": {"spring": LOADS["spring"](coordinate="x", stiffness="k")},
    }
    solver = {"method": "dopri5", "steps": 10**15}
    study = ts.Study(model=cart, until=1.0, every=0.1, start={"x": 1.0}, solver=solver)
    stiffnesses = list(np.linspace(1.0, 2.0, 80))
    fields = {"study": study, "indicators": {"end": {"final": "x"}}}
    clean = ts.run_campaign(ts.Campaign(factors={"k": stiffnesses}, **fields), tmp_path / "clean", threads=1)
    stiffnesses[17] = 1e26
    asked = ts.Campaign(factors={"k": stiffnesses}, **fields)
    answers = ts.run_campaign(asked, tmp_path / "out", threads=1, timeout=4.0)
    assert answers.failures() == {f"{LATE} ... s": 1}
    assert np.flatnonzero(answers.outcomes == "failed").tolist() == [17]
    others = np.arange(80) != 17
    assert answers["end"][others].tobytes() == clean["end"][others].tobytes()


def test_runs_that_were_ended_by_the_clock_are_tried_again_if_asked(asked, tmp_path):
    asked.write_text(campaign("[0, 1, 0.4]", chunk=2, slow=0.3))
    whole = ts.run_campaign(asked, tmp_path / "whole", threads=1, timeout=600.0)
    assert whole.counts()["failed"] == 0
    answers = ts.run_campaign(asked, tmp_path / "out", threads=1, timeout=0.2)
    assert answers.counts()["failed"] >= 1
    assert ts.run_campaign(asked, tmp_path / "out", threads=1, timeout=600.0).counts() == answers.counts()
    again = ts.run_campaign(asked, tmp_path / "out", threads=1, timeout=600.0, retry=True)
    assert bytes_in(tmp_path / "out") == bytes_in(tmp_path / "whole")
    assert again.table["run"].to_pylist() == [0, 1, 2]
    assert not Folder(tmp_path / "out").late()


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_campaign_that_waits_for_a_run_is_ended_at_once_with_its_process(ending, asked, tmp_path):
    command = [sys.executable, "-m", "torseur", "campaign", str(asked), "-o", str(tmp_path / "out"), "--no-figures"]
    options = ["--extensions", str(tmp_path / "odd.py"), "--timeout", "3000", "--threads", "1"]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    process = subprocess.Popen([*command, *options], env=environment, stderr=subprocess.PIPE)
    while not (computing := _below(process.pid)) or _ticks(computing[0]) == 0:
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(ending)
    process.communicate()
    assert process.returncode == (-signal.SIGKILL if ending == signal.SIGKILL else 130)
    while Path(f"/proc/{computing[0]}").exists():  # it ends with who started it
        time.sleep(0.05)


def _below(parent: int) -> list[int]:
    tasks = Path(f"/proc/{parent}/task").glob("*/children")
    return [int(child) for task in tasks for child in task.read_text().split()]


def _ticks(pid: int) -> int:
    """The time that a process has run."""
    return sum(map(int, Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]))


def test_kinds_that_no_other_process_can_know_are_said(asked, tmp_path, monkeypatch):
    made = ts.load_campaign(asked)
    register(Extension("odd", blocks=extensions.installed()[-1].blocks))
    with pytest.raises(ts.ArgumentError, match=r"another process does not know these kinds(.|\n)*odd"):
        ts.run_campaign(made, tmp_path / "out")


def test_a_process_that_somebody_kills_stops_the_campaign_and_fails_no_run(asked, tmp_path):
    asked.write_text(campaign("[0, 0.4, 0.5, 8]", chunk=2))
    with pytest.raises(ts.NumericalError, match="was killed"):
        ts.run_campaign(asked, tmp_path / "out", threads=1)
    assert ts.open_campaign(tmp_path / "out").table["run"].to_pylist() == [0, 1]
