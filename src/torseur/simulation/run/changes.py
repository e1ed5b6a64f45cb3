"""What a study changes on the way: parameters, at given times and at events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from torseur.simulation.integrate.hooks import EventSeen, Response, Sampling
from torseur.simulation.integrate.recording import HeldHistory
from torseur.simulation.solvers.problem import Array, Held
from torseur.simulation.study.study import Study

__all__ = ["Changes"]


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
