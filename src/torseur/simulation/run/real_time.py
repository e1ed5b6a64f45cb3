"""Runs that are paced to the clock: every step waits for its time; one that comes too late is counted."""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import numpy as np

from torseur.errors import ArgumentError
from torseur.simulation.integrate.hooks import Response, Sampling
from torseur.simulation.run.simulation import Simulation
from torseur.simulation.solvers.problem import Array, Held

__all__ = ["Figures", "Pace", "undisturbed"]

SPIN = 3e-4
"""The last part of a wait, s, is spent looking at the clock: sleep comes back late."""


@dataclass(frozen=True)
class Figures:
    """How a paced run kept its time, s.

    Attributes:
        steps: how many.
        overruns: those that were ready after their time.
        work: of a step, mean and largest.
        latency: from the time of a step to its begin: mean, 99 of 100 are below, largest.
        jitter: standard deviation of the time from one begin to the next.
        behind: the largest lag of the run behind the clock.
    """

    steps: int
    overruns: int
    work: tuple[float, float]
    latency: tuple[float, float, float]
    jitter: float
    behind: float

    def lines(self) -> list[str]:
        """In words, microseconds."""
        mean, high, most = (1e6 * x for x in self.latency)
        return [
            f"real time: {self.steps} steps, {self.overruns} overruns, at most {1e3 * self.behind:.3g} ms behind",
            f"  work of a step: mean {1e6 * self.work[0]:.1f} us, largest {1e6 * self.work[1]:.1f} us",
            f"  latency: mean {mean:.1f} us, 99 % below {high:.1f} us, largest {most:.1f} us",
            f"  jitter: {1e6 * self.jitter:.1f} us",
        ]


class Pace:
    """Makes a run wait for the clock at the end of every step; the clock starts at the end of the first.

    Args:
        simulation: with a fixed-step method.
    """

    def __init__(self, simulation: Simulation) -> None:
        step = simulation.step
        if step is None or simulation.method.method.control is not None:
            raise ArgumentError(
                "a run in real time has steps of a given length",
                where=("solver", "method"),
                got=simulation.study.solver.method,
                remedy="choose a method and a step: --solver rk4 --step 1e-3",
            )
        self._begin, self._zero = simulation.study.begin, 0.0
        count = int((simulation.study.until - self._begin) / step) + 2
        self._ready, self._woken, self._due = (np.zeros(count) for _ in range(3))
        self._count = -1
        self.sampling = Sampling(step, self._wait, self._begin)

    def _wait(self, t: float, x: Array, held: Held) -> Response | None:
        clock = time.perf_counter
        now = clock()
        if self._count <= 0:  # the first step may still compile something: the clock starts at its end
            self._zero = now - (t - self._begin)
        due = self._zero + (t - self._begin)
        ready = now
        if due - now > SPIN:
            time.sleep(due - now - SPIN)
        while (now := clock()) < due:
            pass
        if 0 <= self._count < len(self._ready):
            k = self._count
            self._ready[k], self._woken[k], self._due[k] = ready, now, due
        self._count += 1
        return None

    @property
    def figures(self) -> Figures:
        n = min(max(self._count, 0), len(self._ready))
        ready, woken, due = self._ready[:n], self._woken[:n], self._due[:n]
        late, work = woken - due, ready[1:] - woken[:-1]
        if n < 2:
            return Figures(max(n - 1, 0), 0, (0.0, 0.0), (0.0, 0.0, 0.0), 0.0, 0.0)
        return Figures(
            n - 1,
            int(np.count_nonzero(ready[1:] > due[1:])),
            (float(work.mean()), float(work.max())),
            (float(late.mean()), float(np.percentile(late, 99)), float(late.max())),
            float(np.diff(woken).std()),
            float(np.maximum(ready - due, 0.0).max()),
        )


@contextmanager
def undisturbed() -> Iterator[None]:
    """Without the collection of garbage, and ahead of other programs where the system lets us."""
    was, before = gc.isenabled(), None
    gc.collect()
    gc.disable()
    if hasattr(os, "sched_setscheduler"):
        with suppress(OSError):
            before = os.sched_getscheduler(0), os.sched_getparam(0)
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(os.sched_get_priority_min(os.SCHED_FIFO)))
    try:
        yield
    finally:
        if before is not None:
            with suppress(OSError):
                os.sched_setscheduler(0, *before)
        if was:
            gc.enable()
