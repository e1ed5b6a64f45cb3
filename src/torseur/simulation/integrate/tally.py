"""What a run counts and passes on its way."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from torseur.simulation.integrate.outcome import Passage
from torseur.simulation.solvers.problem import Memory

__all__ = ["Tally"]


@dataclass
class Tally:
    """Steps taken and refused, Newton iterations, restarts, steps that were tried only to begin; events."""

    steps: int = 0
    rejected: int = 0
    newton: int = 0
    restarts: int = 0
    starts: int = 0
    events: list[Passage] = field(default_factory=list)

    def memory(self) -> Memory:
        passed = self.events
        return {
            "counts": [self.steps, self.rejected, self.newton, self.restarts, self.starts],
            "passages": [[e.time, e.event, e.rising] for e in passed],
            "before": np.array([e.before for e in passed]),
            "after": np.array([e.after for e in passed]),
        }

    def recall(self, memory: Memory) -> None:
        self.steps, self.rejected, self.newton, self.restarts, self.starts = memory["counts"]
        passed = zip(memory["passages"], memory["before"], memory["after"], strict=True)
        self.events = [Passage(t, k, rising, before, after) for (t, k, rising), before, after in passed]
