"""Who sets the modes of switches: at the start, and at every event; see `switches` for what they mean."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from torseur.emit import NativeFunction
from torseur.errors import ModelError, NumericalError
from torseur.simulation.integrate.hooks import EventSeen, Response
from torseur.simulation.integrate.recording import End, HeldHistory, Outcome
from torseur.simulation.plant.native_plant import NativePlant
from torseur.simulation.plant.switches import HOLDS
from torseur.simulation.results.channels import Event
from torseur.simulation.solvers.problem import Array, Held, Memory
from torseur.simulation.switching.impacts import Impact, struck
from torseur.simulation.switching.slip_modes import SlipModes

__all__ = ["Say", "SwitchLogic"]

Evaluate = Callable[[NativeFunction | None, float, Array, Held], Any]


class Say(Enum):
    """What happened to a switch, in words."""

    STICKS = "sticks"
    SLIPS = "slips"
    SLIPS_ON = "slips on"
    SLIDES = "slides"
    REVERSES = "slides the other way"
    REBOUNDS = "hits and rebounds"
    CLOSES = "closes"
    OPENS = "opens"
    PASSED = "is passed"
    RETURNED = "is passed on the way back"


@dataclass(frozen=True)
class _Dry:
    rate: float
    force: float
    level: float
    acceleration: float


@dataclass(frozen=True)
class _Sided:
    gap: float
    rate: float
    push: float
    restitution: float


class SwitchLogic:
    """Sets the modes of a plant's switches.

    Args:
        plant: whose switches.
        evaluate: calls its functions at a time, state and held numbers.
        log: is told of impacts.
        slips: sets the modes of friction in contacts.
        rest_speed: a rebound slower than this ends an impact, m/s or rad/s.
    """

    NEAR = 1e-9
    """Gaps and rates below this, m or rad and per second, are zero when modes are chosen."""

    ROUNDING = 1e-9
    """Accelerations below this share of what friction makes of them are zero when modes are chosen."""

    ROUNDS = 100
    """Impacts at one instant, at most."""

    def __init__(
        self,
        plant: NativePlant,
        evaluate: Evaluate,
        log: HeldHistory,
        slips: SlipModes,
        rest_speed: float = 1e-4,
    ) -> None:
        self.facts, self.evaluate = plant.facts, evaluate
        self.decide, self.jump, self.weigh = (plant.native(name) for name in ("decisions", "jumps", "weight"))
        self.log, self.slips, self.rest_speed = log, slips, rest_speed
        self.speeds = plant.problem.columns("v")
        """Their place in a state."""
        self.events: list[Event] = []
        self._slid: dict[int, float] = {}  # when each friction began to slide last
        self._modes: Array = np.zeros(0)  # before the first event of an instant
        switches = plant.facts.switches
        self._dry = [d.mode for d in switches.dry]
        self._closed = [s.closed for s in switches.sided]
        self._hit = [s.hit for s in switches.sided]
        self._first = switches.first

    @property
    def sided(self) -> range:
        """The events of switches, which are positive while modes are right."""
        return range(self._first, self._first + self.facts.switches.count)

    def memory(self) -> Memory:
        told = [[e.time, e.name, e.what] for e in self.events]
        return {"events": told, "slid": list(self._slid.items())}

    def recall(self, memory: Memory) -> None:
        self.events = [Event(*told) for told in memory["events"]]
        self._slid = dict(memory["slid"])

    # -- what is the case ----------------------------------------------------------------------------------------------
    def _look(self, t: float, x: Array, held: Held) -> tuple[list[_Dry], list[_Sided]]:
        values = np.asarray(self.evaluate(self.decide, t, x, held)).tolist()
        n = len(self._dry)
        dry = [_Dry(*values[4 * k : 4 * k + 4]) for k in range(n)]
        rest = values[4 * n :]
        return dry, [_Sided(*rest[4 * k : 4 * k + 4]) for k in range(len(self._closed))]

    def begin(self, t: float, x: Array, held: Held) -> Array:
        """Choose all modes at the start; the speeds that go with them."""
        _, sided = self._look(t, x, held)
        gaps = {s: state.gap for s, state in zip((s.name for s in self.facts.switches.sided), sided, strict=True)}
        deep = [f"{name} by {-gap:.3g}" for name, gap in gaps.items() if gap < -1e-6]
        if deep:
            raise ModelError(
                "the start is on the wrong side of a contact or stop",
                where=("start",),
                got=f"{', '.join(deep)} (m or rad)",
                remedy="change the initial position so that nothing penetrates; for a vehicle, that of chassis or hubs",
            )
        for k, one in zip(self._closed, sided, strict=True):
            held.m[k] = float(one.gap <= self.NEAR and abs(one.rate) <= self.NEAR)
        for k in self._dry:
            held.m[k] = 1.0
        self.slips.slide(held)
        x = self._impact(t, x, held)
        self._face(t, x, held)
        self._settle(t, x, held)
        return self._allowed(t, x, held)

    def review(self, t: float, x: Array, held: Held) -> Response | None:
        """Set the modes right after inputs, samples or parameters jumped; None where all are right."""
        before = held.m.copy()
        self._face(t, x, held)
        self._settle(t, x, held)
        if np.array_equal(before, held.m):
            return None
        self._tell_changes(t, before, held)
        return Response(state=self._allowed(t, x, held))

    def _face(self, t: float, x: Array, held: Held) -> None:
        """Friction acts against the motion there is, and sticks where there is none, until it must let go."""
        dry, _ = self._look(t, x, held)
        for k, state in zip(self._dry, dry, strict=True):
            if abs(state.rate) > self.NEAR:
                held.m[k] = np.sign(state.rate)
            elif self._slid.get(k) != t:
                held.m[k] = 0.0
        self.slips.face(t, x, held, [k for k, time in self._slid.items() if time == t])

    def _settle(self, t: float, x: Array, held: Held) -> None:
        """Let go what cannot hold: friction above its level, contacts that would pull.

        Where redundant rows share a load, only if it cannot be shared otherwise.
        """
        shared, turned = set[bytes](), set[int]()
        for _ in range(4 * (len(self._dry) + len(self._closed) + len(self.slips.modes)) + 4):
            dry, sided = self._look(t, x, held)
            closed = self._now_closed(held)
            over = [
                (abs(s.force) / max(s.level, 1e-300), k, -np.sign(s.force))
                for k, s in zip(self._dry, dry, strict=True)
                if held.m[k] == 0.0 and abs(s.force) > s.level * HOLDS
            ]
            pulling = [k for k in closed if sided[k].push < 0.0]
            broken = self.slips.broken(t, x, held)
            if not (over or pulling or broken):
                at_odds = self._at_odds(t, x, held, dry)
                if at_odds is not None:
                    held.m[at_odds[0]] = at_odds[1]
                    continue
                wrong = self.slips.reversed(t, x, held)
                if not wrong:
                    return
                self.slips.turn(wrong[0], t, x, held, sticks=wrong[0] in turned)
                turned.add(wrong[0])
                continue
            modes = held.m[[*self._dry, *self._closed, *self.slips.modes]].tobytes()
            if modes not in shared and self._shared(t, x, held):
                shared.add(modes)
            elif over:
                _, k, direction = max(over)
                held.m[k] = direction
            elif pulling:
                self._let_go(pulling[0], t, x, held)
            else:
                self._slip_away(broken[0], t, x, held)
        raise NumericalError(
            "no combination of sticking, sliding and contact is consistent",
            where=f"t = {t:.9g} s",
            remedy="use smooth friction, or a little compliance",
        )

    def _at_odds(self, t: float, x: Array, held: Held, dry: Sequence[_Dry]) -> tuple[int, float] | None:
        """The place of a friction at rest whose mode is not that of the motion to come, and the mode that is.

        It slides against its own acceleration, or sticks where no force can hold it, as a slide in its dead centre.
        """
        for place, state in zip(self._dry, dry, strict=True):
            mode = held.m[place]
            if abs(state.rate) > self.NEAR or (mode * state.acceleration >= 0.0 if mode else not state.acceleration):
                continue
            forward, backward = (self._pulled(place, sense, t, x, held) for sense in (1.0, -1.0))
            least = self.ROUNDING * abs(forward - backward)
            right = 1.0 if forward > least else -1.0 if backward < -least else 0.0
            if right != mode and (not mode or mode * state.acceleration < -least):
                return place, right
        return None

    def _pulled(self, place: int, sense: float, t: float, x: Array, held: Held) -> float:
        """The acceleration along the path of a friction that slides in a sense."""
        trial = Held(held.u, held.m.copy(), held.p)
        trial.m[place] = sense
        return self._look(t, x, trial)[0][self._dry.index(place)].acceleration

    def _allowed(self, t: float, x: Array, held: Held) -> Array:
        state = self.evaluate(self.jump, t, x, held)
        blocks = state if isinstance(state, tuple) else (state,)
        return np.concatenate([np.asarray(b).ravel() for b in blocks])

    # -- events --------------------------------------------------------------------------------------------------------
    def handle(self, meeting: EventSeen) -> Response | None:
        """Change what an event says must change."""
        k = meeting.event - self._first
        n, places = len(self._dry), [*self._dry, *self._closed, *self.slips.modes]
        if meeting.is_first:
            self._modes = meeting.held.m.copy()
        if 0 <= k < len(places):
            if meeting.rising or meeting.held.m[places[k]] != self._modes[places[k]]:
                return None  # it goes the right way, or was seen to with another event of this instant
            if k >= n + len(self._closed):
                return self._slip(k - n - len(self._closed), meeting)
            return self._friction(k, meeting) if k < n else self._contact(k - n, meeting)
        name = self.facts.events[meeting.event]
        if name in self.facts.flat:
            raise End(
                Outcome.SINGULAR,
                why=f"the wheel of {self.facts.flat[name]} lies flat: the point of contact is not unique",
            )
        if name in self.facts.switches.reports:
            self._tell(meeting.time, name, Say.RETURNED if meeting.rising else Say.PASSED)
        else:
            self.events.append(Event(meeting.time, name, "rises" if meeting.rising else "falls"))
        return None

    def _tell(self, t: float, name: str, what: Say) -> None:
        self.events.append(Event(t, name, what.value))

    def _friction(self, k: int, meeting: EventSeen) -> Response:
        held, place, name = meeting.held, self._dry[k], self.facts.switches.dry[k].name
        before = held.m[place]
        dry, _ = self._look(meeting.time, meeting.state, held)
        if before == 0.0 and self._shared(meeting.time, meeting.state, held):
            return Response(state=meeting.state)
        if before == 0.0:
            held.m[place] = -np.sign(dry[k].force) or 1.0
            self._slid[place] = meeting.time
            self._tell(meeting.time, name, Say.SLIDES)
            self._settle(meeting.time, meeting.state, held)
        else:
            held.m[place] = 0.0
            self._settle(meeting.time, meeting.state, held)
            stuck = held.m[place] == 0.0
            self._tell(meeting.time, name, Say.STICKS if stuck else Say.REVERSES)
        return Response(state=self._allowed(meeting.time, meeting.state, held))

    def _slip(self, k: int, meeting: EventSeen) -> Response:
        """At the event of friction in a contact: it slips, sticks, or slips along another direction."""
        t, x, held, name = meeting.time, meeting.state, meeting.held, self.facts.switches.slips[k].name
        place = self.slips.modes[k]
        slipped = held.m[place] > 0.5
        if not self.slips.meet(k, t, x, held) if slipped else self._shared(t, x, held):
            return Response(state=x)
        before = held.m.copy()
        if not slipped:
            self._slip_away(k, t, x, held)
        self._settle(t, x, held)
        self._tell_changes(t, before, held, skip=place)
        slips = held.m[place] > 0.5
        self._tell(t, name, Say.STICKS if not slips else Say.SLIPS_ON if slipped else Say.SLIPS)
        return Response(state=self._allowed(t, x, held))

    def _tell_changes(self, t: float, before: Array, held: Held, skip: int = -1) -> None:
        """Tell what changed beside a mode."""
        switches = self.facts.switches
        changed = {place for place in switches.modes if held.m[place] != before[place] and place != skip}
        for dry in switches.dry:
            if dry.mode in changed:
                self._tell(t, dry.name, Say.SLIDES if held.m[dry.mode] else Say.STICKS)
        for sided in switches.sided:
            if sided.closed in changed:
                self._tell(t, sided.name, Say.OPENS)
        for k, slip in enumerate(switches.slips):
            if slip.mode in changed and self.slips.is_closed(k, held):
                self._tell(t, slip.name, Say.SLIPS if held.m[slip.mode] else Say.STICKS)

    def _contact(self, k: int, meeting: EventSeen) -> Response:
        t, held, x = meeting.time, meeting.held, meeting.state
        before = held.m.copy()
        if held.m[self._closed[k]] > 0.5:
            if self._shared(t, x, held):
                return Response(state=x)
            self._let_go(k, t, x, held)
            self._tell_changes(t, before, held)
        else:
            x = self._rested(k, t, self._impact(t, x, held), held)
        before = held.m.copy()
        self._face(t, x, held)
        self._settle(t, x, held)
        self._tell_changes(t, before, held)
        return Response(state=x)

    def _rested(self, k: int, t: float, x: Array, held: Held) -> Array:
        """The state where a contact that was met, and separates so slowly that it comes back at once, is closed.

        Another that lands may leave it open, inside by rounding: it would never come out, and fall through.
        """
        place, met = self._closed[k], self._look(t, x, held)[1][k]
        if held.m[place] > 0.5 or met.gap > 0.0 or not 0.0 <= met.rate <= self.rest_speed:
            return x
        held.m[place] = 1.0
        self._tell(t, self.facts.switches.sided[k].name, Say.CLOSES)
        return self._allowed(t, x, held)

    def _now_closed(self, held: Held) -> list[int]:
        return [k for k, place in enumerate(self._closed) if held.m[place] > 0.5]

    def _levels(self, t: float, x: Array, held: Held) -> list[tuple[int, float]]:
        """Of dry friction that sticks: its number, and its level."""
        dry, _ = self._look(t, x, held)
        return [(k, s.level) for k, s in enumerate(dry) if held.m[self._dry[k]] == 0.0]

    def _shared(self, t: float, x: Array, held: Held) -> bool:
        """Whether redundant rows can share their load so that all modes stay as they are; if so, they do."""
        return self.slips.share(t, x, held, self._now_closed(held), self._levels(t, x, held))

    def _slip_away(self, k: int, t: float, x: Array, held: Held) -> None:
        self.slips.release(k, t, x, held)
        self._slid[self.slips.modes[k]] = t

    def _let_go(self, k: int, t: float, x: Array, held: Held) -> None:
        """Where a contact would pull: a stick that shares its load slips; if there is none, it opens, and those that
        go with it."""
        stick = self.slips.sharing(k, t, x, held)
        if stick is not None:
            self._slip_away(stick, t, x, held)
            return
        closed = self._now_closed(held)
        with_it = self.slips.opening(t, x, held, closed, self._levels(t, x, held)) if len(closed) > 1 else []
        for i in with_it or [k]:
            held.m[self._closed[i]] = 0.0

    # -- impacts -------------------------------------------------------------------------------------------------------
    def _impact(self, t: float, x: Array, held: Held) -> Array:
        """The state after all that touches and approaches has been hit, at once; again until nothing approaches.

        Forces of friction are finite and have no share in it, those of friction that stuck included.
        """
        for _ in range(self.ROUNDS):
            _, sided = self._look(t, x, held)
            closed = [held.m[place] > 0.5 for place in self._closed]
            met = [k for k, s in enumerate(sided) if not closed[k] and s.gap <= self.NEAR and s.rate < 0.0]
            if not met:
                return x
            for k in self._dry:
                held.m[k] = held.m[k] or 1.0
            self.slips.slide(held)
            rebounds = {k: sided[k].restitution * -sided[k].rate for k in met}
            rebounds = {k: rate if rate > self.rest_speed else 0.0 for k, rate in rebounds.items()}
            rebounds |= {k: 0.0 for k, is_closed in enumerate(closed) if is_closed}
            impact = struck(self._problem(t, x, held, rebounds))
            self.log.impact(t, *impact.energies)
            after = self.slips.rub(t, x, impact.after, held, impact.reached, rebounds)
            reached = impact.reached if after is impact.after else self._reached(t, after, held, rebounds)
            self._take_over(t, held, reached, rebounds, closed)
            x = after
        raise NumericalError(
            "impacts accumulate at one instant",
            where=f"t = {t:.9g} s",
            remedy="use a smaller restitution, or a little compliance",
        )

    def _problem(self, t: float, x: Array, held: Held, rebounds: Mapping[int, float]) -> Impact:
        """An impact in terms of the plant's native functions."""

        def modes(acting: frozenset[int], factor: float) -> Held:
            now = Held(held.u, held.m.copy(), held.p)
            for k, (closed, hit) in enumerate(zip(self._closed, self._hit, strict=True)):
                now.m[closed] = float(k in acting)
                now.m[hit] = factor * (rebounds.get(k, 0.0) > 0.0)
            return now

        def solve(acting: frozenset[int], factor: float) -> Array:
            return self._allowed(t, x, modes(acting, factor))

        def energy(state: Array, acting: frozenset[int]) -> float:
            """Relative to speeds that leave those contacts, and all other rows, as they are."""
            columns, still = self.speeds, state.copy()
            still[columns] = 0.0
            carried = self._allowed(t, still, modes(acting, 0.0))[columns]
            relative = state.copy()
            relative[columns] -= carried
            return float(np.ravel(self.evaluate(self.weigh, t, relative, held))[0])

        def rates(state: Array) -> list[float]:
            return [s.rate for s in self._look(t, state, held)[1]]

        return Impact(x, rebounds, solve, rates, energy)

    def _reached(self, t: float, x: Array, held: Held, rebounds: Mapping[int, float]) -> frozenset[int]:
        """The contacts that go on with no more than the rebound they asked for."""
        rates = [s.rate for s in self._look(t, x, held)[1]]
        near = self.NEAR * max([1.0, *map(abs, rates)])
        return frozenset(k for k, rebound in rebounds.items() if rates[k] <= rebound + near)

    def _take_over(
        self, t: float, held: Held, reached: frozenset[int], rebounds: Mapping[int, float], closed: Sequence[bool]
    ) -> None:
        """Set and tell the modes after an impact: what was reached and does not rebound is closed."""
        for k, rebound in rebounds.items():
            stays = k in reached and rebound == 0.0
            held.m[self._closed[k]] = float(stays)
            if closed[k] and not stays:
                self._tell(t, self.facts.switches.sided[k].name, Say.OPENS)
            elif not closed[k] and k in reached:
                self._tell(t, self.facts.switches.sided[k].name, Say.CLOSES if stays else Say.REBOUNDS)
