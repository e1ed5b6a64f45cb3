"""The instants of a plant: breaks of its signals, samples of its blocks."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from torseur.emit import NativeFunction, compile
from torseur.errors import ArgumentError
from torseur.simulation.hooks import Reply, Sampling
from torseur.simulation.log import Log
from torseur.simulation.plant import Plant
from torseur.simulation.problem import Array, Held

__all__ = ["Timetable"]

Evaluate = Callable[[NativeFunction | None, float, Array, Held], Any]


class Timetable:
    """When something happens by the clock, for given parameters (np,)."""

    def __init__(self, plant: Plant, p: Array) -> None:
        self.plant, self.p = plant, p

    @cached_property
    def _instants(self) -> dict[str, list[float]]:
        schedule = self.plant.parts.schedule([self.plant.system.p] if len(self.p) else [])
        if schedule is None:
            return {}
        found = compile(schedule, lanes=1)(*([self.p] if len(self.p) else []))
        values = found if isinstance(found, tuple) else (found,)
        return {o.name: np.ravel(x).tolist() for o, x in zip(schedule.outputs, values, strict=True)}

    @property
    def breaks(self) -> list[float]:
        """Times at which signals are not smooth, s."""
        return self._instants.get("breaks", [])

    def samplings(self, sampled: NativeFunction | None, evaluate: Evaluate, log: Log) -> list[Sampling]:
        """One for each period: all samples of one instant read what was there just before it.

        Args:
            sampled: native `Plant.samples`.
            evaluate: calls it at a time, state and held numbers.
            log: is told what is held from then on.
        """
        samples = self.plant.parts.samples
        if not samples:
            return []
        ends = np.cumsum([len(s.values) for s in samples]).tolist()
        groups: dict[tuple[float, float], list[int]] = {}
        for k, beat in enumerate(zip(self._instants["periods"], self._instants["offsets"], strict=True)):
            groups.setdefault(beat, []).append(k)

        def acting(group: list[int]) -> Callable[[float, Array, Held], Reply | None]:
            def act(t: float, x: Array, held: Held) -> Reply | None:
                values = np.ravel(evaluate(sampled, t, x, held)) if sampled is not None else np.zeros(0)
                new = []
                for k in group:
                    sample = samples[k]
                    read = values[ends[k] - len(sample.values) : ends[k]]
                    new.append(read if sample.function is None else np.ravel(sample.function(t, *read.tolist())))
                for k, numbers in zip(group, new, strict=True):
                    held.m[list(samples[k].places)] = _fitting(numbers, len(samples[k].places), t)
                log.note(t, held)
                return None

            return act

        return [Sampling(period, acting(group), offset) for (period, offset), group in groups.items()]


def _fitting(numbers: Array, count: int, t: float) -> Array:
    if numbers.size != count or not np.isfinite(numbers).all():
        raise ArgumentError(
            "a block written in Python gave wrong numbers",
            where=f"t = {t:.9g} s",
            expected=f"{count} finite numbers",
            got=repr(numbers.tolist()),
        )
    return numbers
