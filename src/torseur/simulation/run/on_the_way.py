"""What acts on a run on its way, and looks at it: switches, changes of parameters, samples, gaps of constraints."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from torseur.errors import NumericalError
from torseur.simulation.integrate.hooks import EventSeen, Hooks, Offer, Response, Sampling, resolution
from torseur.simulation.integrate.outcome import End, Outcome
from torseur.simulation.integrate.recording import HeldHistory
from torseur.simulation.results.audit import CLOSURE
from torseur.simulation.run.prepared import Prepared, flat
from torseur.simulation.run.timetable import Timetable
from torseur.simulation.solvers.problem import Array, Held
from torseur.simulation.switching.modes import Keeper

__all__ = ["OnTheWay"]

JUMP = 1e-8
"""What a coordinate or speed changes by, beside its size, when what drives it jumps; less is rounding."""

OPEN = 1000.0 * CLOSURE
"""Gaps of loops and constraints beyond this, m, rad or their rates, end a run: far beyond what an audit allows."""


class OnTheWay:
    """What happens in one run.

    Args:
        of: the study.
        keeper: decides what switches do.
        log: takes down what is held when.
    """

    def __init__(self, of: Prepared, keeper: Keeper, log: HeldHistory) -> None:
        self._of, self._keeper, self._log = of, keeper, log

    def hooks(
        self,
        held: Held,
        others: Sequence[Sampling],
        progress: Callable[[float], object] | None,
        keep: Offer | None,
    ) -> Hooks:
        """All of it, for the integration.

        Args:
            held: at the start.
            others: what else is done at regular times.
            progress: called now and then with the time reached.
            keep: takes what it needs to go on from there, now and then.
        """
        of, study = self._of, self._of.study
        facts = of.plant.facts
        table = Timetable(of.plant, held.p)
        samplings = table.samplings(self._log, resolution(study.begin, study.until))
        return Hooks(
            handler=self._handle,
            breaks=of.breaks(table.breaks, held.p),
            samplings=[*others, *samplings, *of.changes.by_clock(self._log)],
            review=self._review if facts.switches or facts.is_driven or of.changes_rows else None,
            invariants=self._keeper.sided,
            progress=progress,
            monitor=self.monitor if facts.rows else None,
            checkpoint=keep,
        )

    def _handle(self, meeting: EventSeen) -> Response | None:
        """What an event changes."""
        of, keeper, log = self._of, self._keeper, self._log
        reply = of.changes.by_event(keeper.handle(meeting), meeting)
        if reply is not None and reply.held is not None:
            x = meeting.state if reply.state is None else reply.state
            log.change(meeting.time, x, meeting.held, reply.held)
            x = self._followed(meeting.time, x, reply.held)
            settled = keeper.review(meeting.time, x, reply.held) if of.plant.facts.switches else None
            reply = replace(reply, state=x if settled is None else settled.state)
        held = meeting.held if reply is None or reply.held is None else reply.held
        log.note(meeting.time, held)
        if reply is not None:
            of.ranks.check(meeting.time, meeting.state if reply.state is None else reply.state, held)
        return reply

    def _review(self, t: float, x: Array, held: Held) -> Response | None:
        """What held numbers that have changed ask for."""
        of, keeper, log = self._of, self._keeper, self._log
        after = self._followed(t, x, held)
        reply = keeper.review(t, after, held) if of.plant.facts.switches else None
        if after is not x:
            log.jump(math.nextafter(t, -math.inf), x, after, held)  # at a break, t is the first time after it
            reply = reply or Response(state=after)
        log.note(t, held)
        of.ranks.check(t, x, held)
        return reply

    def _followed(self, t: float, x: Array, held: Held) -> Array:
        """The state after what is in constraints may have jumped: speeds follow at once, positions cannot."""
        of, changes = self._of, self._log.changes
        if not (of.plant.facts.is_driven or of.changes_rows):
            return x
        is_change = of.changes_rows and bool(changes) and changes[-1].time == t
        if is_change:
            self._check_closed(t, x, held)
        of.ranks(t, x, held)
        after = flat(of.plant.evaluate(of.plant.native("corrected"), t, x, held))
        q, v = of.problem.columns("q"), of.problem.columns("v")
        moved = np.abs(after[q] - x[q])
        if not np.all(moved <= JUMP * (1.0 + np.abs(x[q]))):
            name = of.model.coordinates[int(np.argmax(moved))].name
            raise _jump("an input that drives a constraint jumps", f"{name} cannot follow it", t)
        return after if np.any(np.abs(after[v] - x[v]) > JUMP * (1.0 + np.abs(x[v]))) else x

    def _check_closed(self, t: float, x: Array, held: Held) -> None:
        """Refuse parameters that open a loop or a constraint where it is."""
        name, gap = self._of.records.largest_gap(t, x, held, rates=False)
        if not gap <= OPEN:
            raise _jump("a parameter of a constraint changes", f"{name} would be open by {gap:.3g}", t)

    def monitor(self, t: float, x: Array, held: Held) -> None:
        """End a run whose loops or constraints are not met any more."""
        name, gap = self._of.records.largest_gap(t, x, held)
        if not gap <= OPEN:
            raise End(Outcome.OPEN, why=f"{name} is off by {gap:.3g}")


def _jump(what: str, so: str, t: float) -> NumericalError:
    return NumericalError(
        f"{what}, and {so}",
        where=f"t = {t:.9g} s",
        remedy="let it pass from value to value: an input that is a ramp, a move, or has a lag behind it",
    )
