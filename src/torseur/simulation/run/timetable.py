"""What happens by the clock, or at events beside the switches: breaks of signals, samples, changes of parameters."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from torseur.errors import ModelError
from torseur.simulation.integrate.hooks import EventSeen, Response, Sampling
from torseur.simulation.integrate.outcome import End, Outcome
from torseur.simulation.integrate.recording import HeldHistory
from torseur.simulation.plant.facts import SampleFacts
from torseur.simulation.plant.native_plant import NativePlant
from torseur.simulation.solvers.problem import Array, Held
from torseur.simulation.study.study import Study

__all__ = ["Changes", "Timetable"]


@dataclass(frozen=True)
class _Sample:
    """What is renewed, and by which Python function, if by one."""

    facts: SampleFacts
    function: Callable[..., Any] | None


class Timetable:
    """When something happens by the clock, for given parameters (np,)."""

    def __init__(self, plant: NativePlant, p: Array) -> None:
        self.plant, self.p = plant, p

    @cached_property
    def _instants(self) -> dict[str, list[float]]:
        native = self.plant.native("schedule")
        if native is None:
            return {}
        found = native(*([self.p] if len(self.p) else []))
        values = found if isinstance(found, tuple) else (found,)
        return {o.name: np.ravel(x).tolist() for o, x in zip(native.interface.outputs, values, strict=True)}

    @property
    def breaks(self) -> list[float]:
        """Times at which signals are not smooth, s."""
        return self._instants.get("breaks", [])

    def samplings(self, log: HeldHistory, shortest: float = 0.0) -> list[Sampling]:
        """One for each period: all samples of one instant read what was there just before it.

        Args:
            log: is told what is held from then on.
            shortest: period that is not refused, s.
        """
        samples = [
            _Sample(facts, function)
            for facts, function in zip(self.plant.facts.samples, self.plant.sample_functions, strict=True)
        ]
        if not samples:
            return []
        self._check_periods(shortest)
        evaluate, sampled = self.plant.evaluate, self.plant.native("samples")
        ends = np.cumsum([s.facts.reads for s in samples]).tolist()
        groups: dict[tuple[float, float], list[int]] = {}
        for k, beat in enumerate(zip(self._instants["periods"], self._instants["offsets"], strict=True)):
            groups.setdefault(beat, []).append(k)

        def acting(group: list[int]) -> Callable[[float, Array, Held], Response | None]:
            def act(t: float, x: Array, held: Held) -> Response | None:
                values = np.ravel(evaluate(sampled, t, x, held)) if sampled is not None else np.zeros(0)
                new = [_renewed(samples[k], t, values[ends[k] - samples[k].facts.reads : ends[k]]) for k in group]
                for k, numbers in zip(group, new, strict=True):
                    held.m[list(samples[k].facts.places)] = numbers
                log.note(t, held)
                return None

            return act

        return [Sampling(period, acting(group), offset) for (period, offset), group in groups.items()]

    def _check_periods(self, shortest: float) -> None:
        found = [
            ModelError(
                "a period that is too short for the resolution of time",
                where=sample.where,
                expected=f"at least {shortest:.3g} s",
                got=f"{period:g} s",
            )
            for sample, period in zip(self.plant.facts.samples, self._instants["periods"], strict=True)
            if not period >= shortest
        ]
        if found:
            raise ModelError.of(found)


def _renewed(sample: _Sample, t: float, read: Array) -> Array:
    """What a sample holds from now on; one that has no numbers to give ends the run."""
    if sample.function is None:
        if not np.isfinite(read).all():
            raise End(Outcome.NOT_FINITE, why=f"{_named(sample)} sampled {read.tolist()}")
        return read
    try:
        given = sample.function(t, *read.tolist())
    except Exception as error:
        raise End(Outcome.BLOCK, why=f"{_named(sample)} raised {_told(error)}") from error
    try:
        numbers = np.asarray(given, dtype=float).ravel()
    except (TypeError, ValueError):
        numbers = np.empty(0)
    n = len(sample.facts.places)
    if numbers.size != n or not np.isfinite(numbers).all():
        expected = f"{n} finite number{'s' if n > 1 else ''}"
        raise End(Outcome.BLOCK, why=f"{_named(sample)} gave {repr(given)[:80]} in place of {expected}")
    return numbers


def _named(sample: _Sample) -> str:
    return f"block '{sample.facts.where[-1]}'"


def _told(error: Exception) -> str:
    """Kind, message and place of an error, on one line."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    said = " ".join(str(error).split())
    return f"{type(error).__name__}{f': {said}' if said else ''} ({Path(last.filename).name}, line {last.lineno})"


@dataclass(frozen=True)
class Changes:
    """The changes of a study, for parameters and events in the order of the problem."""

    study: Study
    parameters: Sequence[str]
    events: Sequence[str]

    def by_clock(self, log: HeldHistory) -> list[Sampling]:
        """Those at given times."""

        def at(time: float, values: Mapping[str, float], stop: bool) -> Sampling:
            def act(t: float, x: Array, held: Held) -> Response | None:
                if t > time + 1e-9 * max(1.0, abs(time)):
                    return None
                new = self._with(held, values)
                log.change(t, x, held, new)
                log.note(t, new)
                return Response(held=new, stop=stop)

            return Sampling(2.0 * (self.study.until - self.study.begin) + 1.0, act, time)

        return [at(c.at, c.set, c.stop) for c in self.study.changes if c.at is not None]

    def by_event(self, reply: Response | None, meeting: EventSeen) -> Response | None:
        """Those at an event, beside what its switches do."""
        for change in self.study.changes:
            if change.event == self.events[meeting.event]:
                before = reply or Response()
                held = self._with(before.held or meeting.held, change.set)
                reply = replace(before, held=held, stop=before.stop or change.stop)
        return reply

    def _with(self, held: Held, values: Mapping[str, float]) -> Held:
        p = held.p.copy()
        for name, value in values.items():
            p[self.parameters.index(name)] = value
        return Held(held.u, held.m, p)
