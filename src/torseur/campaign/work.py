"""A campaign made ready: its simulation, and the numbers of any chunk of its runs.

Chunks are fixed by the campaign, not by who works on them, and a run does not depend on those beside it: the same
campaign gives the same numbers wherever it runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import product

import numpy as np
from numpy.typing import NDArray

from torseur.campaign.checks import check_campaign
from torseur.campaign.description import Campaign, Limit
from torseur.campaign.design import Design, GivenRuns
from torseur.campaign.measures import (
    AuditError,
    CountOfEvents,
    FormulaOfIndicators,
    OfChannel,
    OfRun,
    OfStudy,
    TimeOfEvent,
    unit_of,
)
from torseur.campaign.targets import Target, What, target_of, with_parameters
from torseur.describe.checks import checked
from torseur.describe.evaluation import topological_order
from torseur.describe.faults import Fault, guess
from torseur.describe.formulas import Formula
from torseur.errors import MissingExtra, ModelError, TorseurError
from torseur.graph import Function, Graph, evaluate
from torseur.simulation.integrate.recording import Counts, HeldHistory, Outcome, Trajectory
from torseur.simulation.results.indicators import Measure
from torseur.simulation.results.result import Run
from torseur.simulation.run.batch import Batch, batch_in_lanes
from torseur.simulation.run.simulation import Moved, Simulation
from torseur.simulation.run.variants import Variants, each_run
from torseur.simulation.start.report import start_facts

__all__ = ["FAILED", "LATE", "OK", "OUTSIDE", "Chunk", "Rows", "Telling", "Work", "one_line"]

Array = NDArray[np.float64]

OK, FAILED, OUTSIDE = "ok", "failed", "limit"
"""How a run ended: as it should, without a result, or beyond a limit of an indicator."""

LATE = "ran longer than the limit of"
"""How the reason of a run begins that was ended by the clock."""

NOT_OF_A_RUN = (MemoryError, OSError, ImportError, MissingExtra)
"""What this machine lacks: the campaign stops and can be resumed, and no run is stored as failed because of it."""

MEMORY = 24e6
"""Bytes that the states of a chunk may take."""
LARGEST_CHUNK, SMALLEST_CHUNK = 8192, 16
CHECKED = 200
"""Sets of parameters that are checked before the start, besides those at the ends of ranges."""
CORNERS = 6
"""Parameters of whose ranges all corners are checked."""


@dataclass(frozen=True)
class Chunk:
    """What came of some runs.

    Attributes:
        first: the number of the first run.
        factors, indicators: by name, (runs,); nan where a run has no result.
        outcomes, reasons: of each run, in words.
        kept: channel -> (runs, nt); nan from where a run stopped.
        time: (nt,) of what is kept.
    """

    first: int
    factors: Mapping[str, Array]
    indicators: Mapping[str, Array]
    outcomes: list[str]
    reasons: list[str]
    kept: Mapping[str, Array]
    time: Array

    def __len__(self) -> int:
        return len(self.outcomes)


@dataclass(frozen=True)
class Telling:
    """Who is told what happens to runs, by their places among those that are asked for, from any thread.

    Attributes:
        begun: a run begins.
        filled: what came of some runs; the arguments of `Rows.fill`.
        alive: the part that is done, now and then, where all runs go together.
    """

    begun: Callable[[int], object]
    filled: Callable[..., object]
    alive: Callable[[float], object]


class Work:
    """A campaign made ready; all that is wrong with it is raised before anything runs.

    Args:
        campaign: what to run.
        audit: whether balances are integrated along although no indicator asks for them.
    """

    def __init__(self, campaign: Campaign, *, audit: bool = False) -> None:
        check_campaign(campaign)
        self.campaign = campaign
        self.design: Design | GivenRuns = Design(campaign)
        self._last: tuple[int, int, dict[str, Array]] | None = None
        self._elsewhere: Callable[[Rows, int, int, int], None] | None = None
        self.targets: dict[str, Target] = {}
        for name in campaign.names:
            found = target_of(campaign.study, name)
            assert found is not None  # checked above
            self.targets[name] = found
        first = {n: float(x[0]) for n, x in self.design.values(0, 1).items()}
        self.study = with_parameters(campaign.study, self.targets, first)
        needs = any(isinstance(one, AuditError) for one in campaign.indicators.values())
        self.simulation = Simulation(self.study, audit=audit or needs)
        self._check_seeds()
        self._check_indicators()

    # -- before the start ----------------------------------------------------------------------------------------------
    @cached_property
    def example(self) -> Run:
        """The first run that can begin, at its first instant: it has all the channels that every run has."""
        last: TorseurError | None = None
        for k in range(min(self.runs, 20)):
            try:
                return self._first_instant(k)
            except TorseurError as error:
                last = error
        assert last is not None
        raise last

    def _first_instant(self, k: int) -> Run:
        simulation, variants = self.simulation, self.variants(k, k + 1)
        x, held, began = simulation.begun(variants.start_of(0), variants.u[0], variants.p[0])
        time, states = np.array([self.study.begin]), x[None, :]
        trajectory = Trajectory(time, states, (), Outcome.COMPLETE, float(time[0]), x, None, Counts())
        log = HeldHistory()
        log.note(float(time[0]), held)
        log.start = start_facts(began, self.study.start_from, simulation.names, x)
        return simulation.result(trajectory, log)

    def _check_seeds(self) -> None:
        """Refuse seeds of blocks that draw no numbers on the way."""
        seeded = {held.seeded.where for held in self.simulation.plant.facts.held if held.seeded is not None}
        found = [
            Fault(
                ("factors", name),
                "this seed decides no number that is drawn on the way, so it cannot vary",
                remedy="vary the seed of a block whose noise is drawn anew every period, with a deviation above 0",
            )
            for name, target in self.targets.items()
            if target.what is What.SEED and target.path[:2] not in seeded
        ]
        if found:
            raise ModelError.of(found)

    def _check_indicators(self) -> None:
        """Refuse what no run can give."""
        run, found = self.example, list[Fault]()
        channels = {n: c for n, c in run.channels.items() if c.values.ndim == 1}
        events = self.simulation.plant.facts.events
        balances = [str(row["balance"]) for row in run.audited.table] if run.audited else []
        wanted: list[tuple[tuple[str | int, ...], str, str, list[str]]] = []
        for name, one in self.campaign.indicators.items():
            if isinstance(one, OfChannel):
                wanted.append((("indicators", name), one.channel, "channel of numbers", list(channels)))
            elif isinstance(one, (TimeOfEvent, CountOfEvents)):
                wanted.append((("indicators", name), one.event, "event", list(events)))
            elif isinstance(one, AuditError) and one.balance is not None:
                wanted.append((("indicators", name), one.balance, "balance", balances))
            elif isinstance(one, OfStudy) and (known := self._measures(run)) is not None:
                wanted.append((("indicators", name), one.measure, "measure", known))
        for k, name in enumerate(self.campaign.keep.channels if self.campaign.keep else ()):
            wanted.append((("keep", "channels", k), name, "channel of numbers", list(channels)))
        for path, name, what, known in wanted:
            if name not in known:
                expected, remedy = guess(name, known)
                found.append(
                    Fault(
                        path,
                        f"no run has {'an' if what == 'event' else 'a'} {what} '{name}'",
                        expected=expected,
                        remedy=remedy,
                    )
                )
        if found:
            raise ModelError.of(found)

    def _measures(self, run: Run) -> list[str] | None:
        """What the indicators of the study measure; None where one of them needs more of a run to say it."""
        found = run.indicators
        return list(found) if all(one.value is not None or not one.fails for one in found.values()) else None

    def _measured(self, wanted: set[str]) -> Mapping[str, Measure]:
        """What the study measures, by name: in a run that has just begun, or else in the first run."""
        found = self.example.indicators
        if wanted <= found.keys():
            return found
        try:
            return self.run(0).indicators
        except TorseurError:
            return found

    @property
    def units(self) -> dict[str, str]:
        """Of factors and indicators, as far as they are known."""
        channels = {name: channel.unit for name, channel in self.example.channels.items()}
        wanted = {one.measure for one in self.campaign.indicators.values() if isinstance(one, OfStudy)}
        measures = {name: one.unit for name, one in self._measured(wanted).items()}
        found = {n: unit_of(one, channels, measures) for n, one in self.campaign.indicators.items()}
        for name, target in self.targets.items():
            parameter = self.study.model.parameters.get(target.name)
            found[name] = channels.get(target.name) or (parameter.unit if parameter else None) or ""
        return found

    def at(self, columns: Mapping[str, Array]) -> Work:
        """The same work at other values of all its factors, each (runs,)."""
        other = copy(self)
        other.design, other._last = GivenRuns(columns), None
        for known in ("each_checked", "are_ends_right"):
            other.__dict__.pop(known, None)
        return other

    def beside(self, compute: Callable[[Rows, int, int, int], None]) -> Work:
        """The same work, whose runs are computed by a function of rows, the first run, the last and threads."""
        other = copy(self)
        other._elsewhere = compute
        return other

    @property
    def runs(self) -> int:
        return self.design.count

    @cached_property
    def chunk(self) -> int:
        """Runs in a chunk: as many as some memory holds, a power of two."""
        if self.campaign.chunk is not None:
            return self.campaign.chunk
        size = len(self.simulation.grid) * self.simulation.problem.size * 8
        wanted = 1 << int(np.log2(max(MEMORY / size, 1.0)))
        return min(max(wanted, SMALLEST_CHUNK), LARGEST_CHUNK if self._is_lean else 256)

    @property
    def chunks(self) -> int:
        """How many."""
        return -(-self.runs // self.chunk)

    def span(self, k: int) -> tuple[int, int]:
        """The first run of a chunk, and the first after it."""
        return k * self.chunk, min((k + 1) * self.chunk, self.runs)

    @cached_property
    def each_checked(self) -> bool:
        """Whether every set of parameters is to be checked by itself: a sample of them has one that makes no sense."""
        if not self._varied:
            return False
        few = np.unique(np.linspace(0, self.runs - 1, min(self.runs, CHECKED)).astype(np.int64))
        return any(self._wrong(self.design.values(int(k), int(k) + 1)) for k in few)

    @property
    def _varied(self) -> list[str]:
        """The factors that are parameters, or fields in their place."""
        return [n for n, t in self.targets.items() if t.what in (What.PARAMETER, What.FIELD)]

    @cached_property
    def are_ends_right(self) -> bool:
        """Whether the parameters make sense at the ends of all ranges: together if they are few, else one by one."""
        ends, first = self.design.ends, self.design.values(0, 1)
        varied = {n: sorted(set(ends[n])) for n in self._varied}
        if len(varied) <= CORNERS:
            sets = [dict(zip(varied, corner, strict=True)) for corner in product(*varied.values())]
        else:
            sets = [{name: end} for name, both in varied.items() for end in both]
        return not any(self._wrong({**first, **{n: np.array([x]) for n, x in one.items()}}) for one in sets)

    def _wrong(self, values: Mapping[str, Array]) -> str | None:
        """What makes no sense about the parameters of one run."""
        given = {self.targets[n].name: float(values[n][0]) for n in self._varied}
        try:
            checked(self.study.model, {**self.study.parameters, **given}, of_numbers=True)
        except ModelError as error:
            return one_line(error.faults[0] if error.faults else error)
        return None

    # -- runs ----------------------------------------------------------------------------------------------------------
    def variants(self, first: int, last: int) -> Variants:
        """The arrays of runs first to last, without last."""
        values = self.values(first, last)

        def of(*kinds: What) -> dict[str, Array]:
            return {t.name: values[n] for n, t in self.targets.items() if t.what in kinds}

        parameters = of(What.PARAMETER, What.FIELD)
        seeds = {t.path[:2]: values[n] for n, t in self.targets.items() if t.what is What.SEED}
        return Variants(self.simulation, of(What.START), parameters, of(What.INPUT), checked=False, seeds=seeds)

    def values(self, first: int, last: int) -> dict[str, Array]:
        """Of factors; those of the last chunk are remembered, and parts of it are taken from there.

        Threads that share a chunk ask for parts of it; none of them reads what another one has put there.
        """
        remembered = self._last
        if remembered is not None and remembered[0] <= first and last <= remembered[1]:
            begin, _, known = remembered
            return {name: column[first - begin : last - begin] for name, column in known.items()}
        values = self.design.values(first, last)
        if last - first > 1 or remembered is None:
            self._last = first, last, values
        return values

    def named(self, factors: Mapping[str, Array]) -> dict[str, Array]:
        """What formulas of indicators may name beside indicators: factors, and parameters that are numbers."""
        study = self.campaign.study
        given = {n: study.parameters.get(n, p.value) for n, p in study.model.parameters.items()}
        numbers = {n: np.asarray(float(x)) for n, x in given.items() if isinstance(x, (int, float))}
        varied = {t.name: factors[n] for n, t in self.targets.items() if t.what is What.PARAMETER}
        return numbers | varied | dict(factors)

    @cached_property
    def _asked(self) -> list[str] | None:
        """The channels that say all that is asked; None where events, an audit or measures are asked for too."""
        asked = [one for one in self.campaign.indicators.values() if not isinstance(one, FormulaOfIndicators)]
        kept = self.campaign.keep.channels if self.campaign.keep else ()
        if not all(isinstance(one, OfChannel) for one in asked):
            return None
        return list(dict.fromkeys([*(one.channel for one in asked if isinstance(one, OfChannel)), *kept]))

    @cached_property
    def _is_lean(self) -> bool:
        """Whether all that is asked can be said of many runs at once."""
        known = {*self.simulation.state_names, *self.simulation.records.places}
        return self._asked is not None and known.issuperset(self._asked)

    @cached_property
    def _from_states(self) -> Mapping[str, int] | None:
        """Where among the states all is that is asked; None where more than states are needed."""
        asked, names = self._asked, self.simulation.state_names
        return None if asked is None or not {*asked} <= {*names} else {n: names.index(n) for n in asked}

    def run(self, k: int) -> Run:
        """One run with all its channels, and its audit if the work was made with it."""
        variants = self.variants(k, k + 1)
        batch = batch_in_lanes(self.simulation, variants)
        if batch is not None:
            return batch.run(0)
        u, p = variants.u[0], variants.p[0]
        found = self.simulation.trajectory(start=variants.start_of(0), u=u, p=p, drawn=variants.drawn(0))
        return self.simulation.result(*found)

    def results(self, k: int, threads: int = 1) -> Chunk:
        """The results of a chunk; a run that fails is among them, with its reason."""
        first, last = self.span(k)
        return self.results_between(first, last, threads)

    def results_between(self, first: int, last: int, threads: int = 1) -> Chunk:
        """The results of runs first to last, without last."""
        rows = Rows(self, first, last)
        for k in self._to_check(rows.factors):
            wrong = self._wrong(self.values(first + k, first + k + 1))
            if wrong is not None:
                rows.fail(first + k, wrong)
        for begin, end in rows.open_spans():
            (self._elsewhere or self._compute)(rows, begin, end, threads)
        return rows.finished()

    def tell_results(self, telling: Telling, threads: int) -> None:
        """Compute all runs, and tell what happens."""
        self._compute(Rows(self, 0, self.runs, telling), 0, self.runs, threads)

    def _to_check(self, values: Mapping[str, Array]) -> Iterable[int]:
        """Places in a chunk whose parameters are checked one by one: all, if one at the end of a range is wrong."""
        varied = [values[n] for n in self._varied]
        if not varied or (self.are_ends_right and not self.each_checked):
            return ()
        ends = sorted({int(end(column)) for column in varied for end in (np.argmin, np.argmax)})
        if self.each_checked or any(self._wrong({n: x[k : k + 1] for n, x in values.items()}) for k in ends):
            return range(len(varied[0]))
        return ()

    def _compute(self, rows: Rows, first: int, last: int, threads: int) -> None:
        """Runs in lanes where they can be, and in halves where one of them stops the others."""
        try:
            progress = None if rows.telling is None else rows.telling.alive
            batch = batch_in_lanes(self.simulation, self.variants(first, last), threads, progress)
        except NOT_OF_A_RUN:
            raise
        except Exception as error:
            if last - first == 1:
                rows.fail(first, one_line(error))
            else:
                middle = (first + last) // 2
                self._compute(rows, first, middle, threads)
                self._compute(rows, middle, last, threads)
            return
        if batch is None:
            self._one_by_one(rows, first, last, threads)
        else:
            self._from_lanes(rows, batch, first)

    def _from_lanes(self, rows: Rows, batch: Batch, first: int) -> None:
        good = np.isfinite(batch.states[:, -1]).all(
            axis=1
        )  # every step adds to the one before: what is lost stays lost
        if self._asked is not None and {*self.simulation.state_names, *batch.recorded}.issuperset(self._asked):
            places = np.flatnonzero(good)
            rows.take_channels(first + places, batch.time, batch.channels(self._asked, places))
            for bad in np.flatnonzero(~good).tolist():
                self._attempt(rows, first + bad, partial(batch.run, bad))
            return
        for k in range(len(batch)):
            self._attempt(rows, first + k, partial(batch.run, k))

    def _one_by_one(self, rows: Rows, first: int, last: int, threads: int) -> None:
        time, places = self.simulation.grid, self._from_states

        def take(k: int, moved: Moved) -> None:
            found = moved[0]
            if places is not None and found.outcome is Outcome.COMPLETE and len(found.times) == len(time):
                values = {name: found.states[:, place].copy()[None] for name, place in places.items()}
                rows.take_channels(np.array([first + k]), time, values)
            else:
                self._attempt(rows, first + k, partial(self.simulation.result, *moved))

        def fail(k: int, error: Exception) -> None:
            if isinstance(error, NOT_OF_A_RUN):
                raise error
            rows.fail(first + k, one_line(error))

        begun = None if rows.telling is None else lambda k: rows.begin(first + k)
        each_run(
            self.simulation, self.variants(first, last), take, threads, fail, begun, states_only=places is not None
        )

    def _attempt(self, rows: Rows, k: int, act: Callable[[], Run]) -> None:
        """Take a run as a whole; whatever is raised on the way is its reason."""
        try:
            rows.take_run(k, act())
        except NOT_OF_A_RUN:
            raise
        except Exception as error:
            rows.fail(k, one_line(error))


class Rows:
    """The rows of a chunk while they fill.

    Args:
        work, first, last: the runs first to last, without last.
        telling: who is told of it.
    """

    def __init__(self, work: Work, first: int, last: int, telling: Telling | None = None) -> None:
        self.work, self.first, self.telling, count = work, first, telling, last - first
        self.factors = work.values(first, last)
        self.asked = work.campaign.indicators
        measured = [n for n, one in self.asked.items() if not isinstance(one, FormulaOfIndicators)]
        self.values = {name: np.full(count, np.nan) for name in measured}
        self.outcomes, self.reasons = [""] * count, [""] * count
        keep = work.campaign.keep
        self.time = work.simulation.grid
        self.kept = {n: np.full((count, len(self.time)), np.nan) for n in (keep.channels if keep else ())}

    def open_spans(self) -> Iterator[tuple[int, int]]:
        """Runs without an outcome, as spans."""
        todo = np.array([not outcome for outcome in self.outcomes])
        ends = np.flatnonzero(np.diff(np.concatenate([[False], todo, [False]]).astype(int)))
        return ((self.first + int(a), self.first + int(b)) for a, b in zip(ends[::2], ends[1::2], strict=True))

    def begin(self, k: int) -> None:
        """A run begins."""
        if self.telling is not None:
            self.telling.begun(k - self.first)

    def _tell(self, places: NDArray[np.int64]) -> None:
        if self.telling is not None:
            told = [[texts[k] for k in places.tolist()] for texts in (self.outcomes, self.reasons)]
            columns = [{name: column[places] for name, column in x.items()} for x in (self.values, self.kept)]
            self.telling.filled(places, *told, *columns)

    def fill(
        self,
        places: NDArray[np.int64],
        outcomes: list[str],
        reasons: list[str],
        values: Mapping[str, Array],
        kept: Mapping[str, Array],
    ) -> None:
        """What was found elsewhere."""
        for place, outcome, reason in zip(places.tolist(), outcomes, reasons, strict=True):
            self.outcomes[place], self.reasons[place] = outcome, reason
        for columns, found in ((self.values, values), (self.kept, kept)):
            for name, column in columns.items():
                column[places] = found[name]

    def fail(self, k: int, reason: str) -> None:
        place = k - self.first
        self.outcomes[place], self.reasons[place] = FAILED, reason
        for column in self.values.values():
            column[place] = np.nan
        self._tell(np.array([place]))

    def take_channels(self, runs: NDArray[np.int64], time: Array, values: Mapping[str, Array]) -> None:
        """What channels say, of many complete runs."""
        places = runs - self.first
        for name, one in self.asked.items():
            if isinstance(one, OfChannel):
                self.values[name][places] = one.reduced(time, values[one.channel]) if len(runs) else 0.0
        for name, column in self.kept.items():
            column[places] = values[name]
        for place in places.tolist():
            self.outcomes[place] = OK
        self._tell(places)

    def take_run(self, k: int, run: Run) -> None:
        """What a whole run says; what is kept of one that stopped ends there."""
        place = k - self.first
        for name, column in self.kept.items():
            last = np.searchsorted(run.time, self.time, side="right") - 1
            there = self.time <= run.time[-1] + 1e-12 * max(1.0, abs(float(run.time[-1])))
            column[place] = np.where(there, run[name][last], np.nan)
        if run.reason is not None:
            self.fail(k, " ".join(run.reason.split()))
            return
        for name, one in self.asked.items():
            if isinstance(one, OfChannel):
                self.values[name][place] = one.reduced(run.time, run[one.channel][None, :])[0]
            elif isinstance(one, OfRun):
                self.values[name][place] = one.measured(run)
        self.outcomes[place] = OK
        self._tell(np.array([place]))

    def finished(self) -> Chunk:
        """With formulas and limits."""
        self._formulas()
        for name, limit in self.work.campaign.limits.items():
            for place in np.flatnonzero(_beyond(limit, self.values[name])):
                if self.outcomes[place] == OK:
                    said = f"{name} = {self.values[name][place]:.6g}, {_said(limit)}"
                    self.outcomes[place], self.reasons[place] = OUTSIDE, said
        ordered = {name: self.values[name] for name in self.asked}
        return Chunk(self.first, self.factors, ordered, self.outcomes, self.reasons, self.kept, self.time)

    def _formulas(self) -> None:
        formulas = {n: one.formula for n, one in self.asked.items() if isinstance(one, FormulaOfIndicators)}
        given = self.work.named(self.factors)
        for name in topological_order({n: f.names for n, f in formulas.items()})[0]:
            known = {n: self.values[n] if n in self.values else given[n] for n in sorted(formulas[name].names)}
            self.values[name] = _worked_out(formulas[name], known, len(self.outcomes))


def _worked_out(formula: Formula, known: Mapping[str, Array], count: int) -> Array:
    """A formula of columns; nan where it has no value."""
    graph = Graph()
    blocks = [graph.block(name) for name in known]
    scope = {block.name: block.symbols[0] for block in blocks}
    function = Function("indicator", blocks, {"value": formula.expr(graph, scope)})
    with np.errstate(all="ignore"):
        return np.array(np.broadcast_to(evaluate(function, *known.values())[0], count))


def _beyond(limit: Limit, values: Array) -> NDArray[np.bool_]:
    low = -np.inf if limit.at_least is None else limit.at_least
    high = np.inf if limit.at_most is None else limit.at_most
    return ~((values >= low) & (values <= high))


def _said(limit: Limit) -> str:
    parts = [] if limit.at_least is None else [f"at least {limit.at_least:g}"]
    return " and ".join(parts + ([] if limit.at_most is None else [f"at most {limit.at_most:g}"]))


def one_line(error: Exception) -> str:
    """What an error says, on one line; of one that is not ours also its kind."""
    if not isinstance(error, TorseurError):
        return " ".join(f"{type(error).__name__}: {error}".split())
    parts = [part for part in (error.got, error.remedy) if part]
    return " ".join((f"{error.what} ({'; '.join(parts)})" if parts else error.what).split())
