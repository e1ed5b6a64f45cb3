"""What happens by the clock, or at events beside the switches: breaks of signals, samples, changes of parameters.

Where formulas of time switch or peak is found before the run: steps must end there. A method of any order passes over a
pulse that is shorter than its steps and never knows. So expressions of time (and parameters) alone are looked at
beforehand, on a fine grid over the whole run:

- what switches (a comparison, a sign, a floor, an absolute value, a minimum or maximum, a table): every change between
  two points of the grid is located to the last bit, also one that comes and goes between two points if the difference
  that decides is continuous;
- what peaks: a value that stands out of its neighbours on the grid.

What is shorter than the grid and no switch is not found, nor is what depends on the state.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from torseur.emit import NativeFunction
from torseur.errors import ModelError
from torseur.simulation.integrate.hooks import EventSeen, Response, Sampling, resolution
from torseur.simulation.integrate.recording import End, HeldHistory, Outcome
from torseur.simulation.plant.facts import SampleFacts
from torseur.simulation.plant.native_plant import NativePlant
from torseur.simulation.solvers.problem import Array, Held
from torseur.simulation.study.study import Study

__all__ = ["Changes", "TimeBreaks", "Timetable", "merged"]

POINTS = 20_001
"""Of the grid over a run."""

MOST = 20_000
"""Instants at which steps may be made to end."""

STANDS_OUT = 0.02
"""A peak differs from the line through its neighbours on the grid by more than this share of all values."""

Levels = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TimeBreaks:
    """Where formulas of time switch or peak.

    Attributes:
        functions: native functions of t and, where there are any, parameters; see `TimeFormulas.functions`.
        knots: of the tables among them.
    """

    functions: Mapping[str, NativeFunction]
    knots: Sequence[Sequence[float]] = ()

    def instants(self, begin: float, end: float, p: Array) -> list[float]:
        """Times within a span at which steps must end, s, in order; none where they would be too many."""
        if not self.functions:
            return []
        grid = np.linspace(begin, end, POINTS)
        found: list[Array] = [np.zeros(0)]
        if "switching" in self.functions:
            found += self._changes(grid, p)
        if "looked_up" in self.functions:
            knots = [np.array(some) for some in self.knots]
            found += _level_changes(grid, lambda t: _intervals(self._at("looked_up", t, p)["x"], knots))
        times = np.unique(np.concatenate(found))
        if "peaking" in self.functions:
            peaks = self._peaks(grid, p)
            apart = _distances(peaks, times) > 1.5 * (end - begin) / (POINTS - 1)  # what switches stands out as well
            times = np.unique(np.concatenate([times, peaks[apart]]))
        inside = times[(times > begin) & (times < end)]
        return inside.tolist() if len(inside) <= MOST else []

    def _at(self, name: str, t: Array, p: Array) -> dict[str, Levels]:
        native = self.functions[name]
        shape = native.interface.inputs[0].shape
        found = native(t.reshape(len(t), *shape), *([p] if len(native.interface.inputs) > 1 else []))
        values = found if isinstance(found, tuple) else (found,)
        return {o.name: x.reshape(len(t), -1) for o, x in zip(native.interface.outputs, values, strict=True)}

    def _changes(self, grid: Array, p: Array) -> list[Array]:
        def levels(t: Array) -> Levels:
            return self._at("switching", t, p)["levels"]

        points = grid
        if any(o.name == "gaps" for o in self.functions["switching"].interface.outputs):
            points = np.unique(np.concatenate([grid, _dips(grid, lambda t: self._at("switching", t, p)["gaps"])]))
        return _level_changes(points, levels)

    def _peaks(self, grid: Array, p: Array) -> Array:
        seen = self._at("peaking", grid, p)["values"]
        with np.errstate(all="ignore"):
            bend = np.abs(seen[1:-1] - 0.5 * (seen[:-2] + seen[2:]))
            size = np.ptp(np.where(np.isfinite(seen), seen, 0.0), axis=0)
            sharp = np.argwhere((bend > STANDS_OUT * size) & (size > 0.0))
        return grid[1:-1][np.unique(sharp[:, 0])]


def _distances(points: Array, others: Array) -> Array:
    """From each point to the nearest of the others, which are in order."""
    if not others.size:
        return np.full(points.shape, np.inf)
    k = np.searchsorted(others, points)
    return np.minimum(
        np.abs(points - others[np.maximum(k - 1, 0)]), np.abs(others[np.minimum(k, len(others) - 1)] - points)
    )


def _intervals(x: Levels, knots: Sequence[Array]) -> Levels:
    """In which interval of its table each argument is."""
    return np.stack([np.searchsorted(b, x[:, k], side="right") for k, b in enumerate(knots)], axis=1).astype(float)


def _level_changes(points: Array, levels: Callable[[Array], Levels]) -> list[Array]:
    """Where any of some levels changes between two points: the first number of time at which it has."""
    seen = levels(points)
    found = []
    for k in range(seen.shape[1]):
        where = np.flatnonzero(seen[1:, k] != seen[:-1, k])
        found.append(_located(points[where], points[where + 1], lambda t, k=k: levels(t)[:, k]))  # type: ignore[misc]
    return found


def _located(low: Array, high: Array, level: Callable[[Array], Array]) -> Array:
    """The last changes in some intervals, by bisection of all of them at once, and those before in the same way."""
    if not low.size:
        return low
    found, first = [], level(low)
    for _ in range(8):  # so many changes between two points at most
        a, b = low.copy(), high.copy()
        last = level(b)
        while True:
            middle = 0.5 * (a + b)
            inside = (middle > a) & (middle < b)
            if not inside.any():
                break
            is_last = level(middle) == last
            a, b = np.where(inside & ~is_last, middle, a), np.where(inside & is_last, middle, b)
        found.append(b)
        more = level(a) != first
        low, high, first = low[more], a[more], first[more]
        if not low.size:
            break
    return np.concatenate(found)


def _dips(grid: Array, gaps: Callable[[Array], Levels]) -> Array:
    """Points between those of the grid where a continuous function comes closest to zero, and may pass it."""
    seen = gaps(grid)
    size = np.abs(seen)
    before, here, after = size[:-2], size[1:-1], size[2:]
    near = (here <= before) & (here <= after) & (here < np.maximum(before, after))  # what does not change has no dip
    near &= np.sign(seen[:-2]) == np.sign(seen[2:])
    found = []
    for k in range(seen.shape[1]):
        where = np.flatnonzero(near[:, k]) + 1
        if where.size and where.size <= MOST:
            low, high = grid[where - 1], grid[where + 1]
            side = np.sign(seen[where, k])
            found.append(_lowest(low, high, lambda t, k=k, side=side: side * gaps(t)[:, k]))  # type: ignore[misc]
    return np.concatenate(found) if found else np.zeros(0)


def _lowest(low: Array, high: Array, g: Callable[[Array], Array]) -> Array:
    """Where functions are lowest in some intervals, by golden sections of all of them at once."""
    ratio = 0.5 * (5.0**0.5 - 1.0)
    for _ in range(80):
        width = ratio * (high - low)
        left, right = high - width, low + width
        is_left = g(left) < g(right)
        low, high = np.where(is_left, low, left), np.where(is_left, right, high)
    return 0.5 * (low + high)


def merged(declared: Sequence[float], located: Sequence[float], begin: float, end: float) -> list[float]:
    """Declared breaks, and located ones that are not the same instants, or the begin or end, but for rounding."""
    near = 16.0 * resolution(begin, end)
    known = np.sort(np.array([begin, end, *declared], dtype=float))
    kept: list[float] = list(declared)
    for time in located:
        k = int(np.searchsorted(known, time))
        beside = known[max(k - 1, 0) : k + 1]
        if not beside.size or np.min(np.abs(beside - time)) > near:
            kept.append(time)
            known = np.insert(known, k, time)
    return kept


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
    except (Exception, SystemExit) as error:
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


def _told(error: BaseException) -> str:
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
