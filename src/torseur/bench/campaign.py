"""A campaign beside the native time of its runs: what chunks, indicators and files cost."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from torseur.campaign.description import Campaign
from torseur.campaign.runner import Progress, run_work
from torseur.campaign.work import Work
from torseur.examples import path as example
from torseur.formats import load
from torseur.simulation.run.batch import batch_in_lanes
from torseur.simulation.study.study import Study

__all__ = ["RUNS", "CampaignFigures", "measure"]

RUNS = 1_000_000


@dataclass(frozen=True)
class CampaignFigures:
    """Processor time in seconds, memory in bytes."""

    runs: int
    chunks: int
    native: float
    whole: float
    memory: int | None
    stored: int

    @property
    def overhead(self) -> float:
        """What the campaign takes beyond the native time, as a share of that."""
        return self.whole / self.native - 1.0

    def text(self) -> str:
        memory = "not known here" if self.memory is None else f"{self.memory / 1e6:.0f} MB"
        return "\n".join(
            [
                f"campaign: {self.runs} runs of the planar arm, 1000 steps of rk4 each, one thread, processor time",
                f"  native     {self.native:8.2f} s   {self.native / self.runs * 1e6:.2f} us a run",
                f"  campaign   {self.whole:8.2f} s   {self.overhead:+.1%}, {self.chunks} chunks",
                f"  per chunk  {(self.whole - self.native) / self.chunks * 1e3:8.2f} ms beyond native time",
                f"  memory     {memory} at most",
                f"  stored     {self.stored / 1e6:.1f} MB, {self.stored / self.runs:.1f} bytes a run",
            ]
        )


def measure(tell: Callable[[str], object], runs: int = RUNS) -> CampaignFigures:
    """Run a campaign into a folder that is removed afterwards, in turns with the same runs without it.

    Args:
        tell: called with what is being measured.
        runs: how many.
    """
    work = Work(_campaign(runs))
    work.results_between(0, min(64, runs))  # compiled before the clock starts
    tell(f"{runs} runs as a campaign, each chunk once more in native code alone ...")
    native = 0.0

    def alone(now: Progress) -> None:
        """The chunk that was just stored, without the campaign: in turns, so that both meet the same machine."""
        nonlocal native
        entered = time.process_time()
        if now.left is not None:
            k = -(-now.done // work.chunk) - 1
            variants = work.variants(*work.span(k))
            began = time.process_time()
            batch_in_lanes(work.simulation, variants)
            native += time.process_time() - began
            turns.append(time.process_time() - entered)

    turns: list[float] = []
    with tempfile.TemporaryDirectory(prefix="torseur-bench-") as folder:
        began = time.process_time()
        run_work(work, Path(folder), threads=1, progress=alone)
        whole = time.process_time() - began - sum(turns)
        stored = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
    memory = _memory()
    return CampaignFigures(runs, work.chunks, native, whole, memory, stored)


def _campaign(runs: int) -> Campaign:
    model = load(example("planar_2r"))
    solver = {"method": "rk4", "step": 1e-3}
    study = Study(model=model, until=1.0, every=0.01, solver=solver, start={"theta1": 0.3})
    spread = {"m2": {"uniform": {"low": 2.0, "high": 3.0}}, "theta2": {"uniform": {"low": -1.0, "high": 1.0}}}
    asked = {"peak": {"maximum": "theta1"}, "end": {"final": "theta2"}, "effort": {"rms": "dtheta1"}}
    given = {"study": study, "factors": spread, "sampling": {"count": runs}, "indicators": asked}
    return Campaign.model_validate(given)


def _memory() -> int | None:
    """The most memory that this process has had, bytes."""
    try:
        import resource
    except ImportError:  # not on Windows
        return None
    scale = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale
