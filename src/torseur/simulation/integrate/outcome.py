"""How a run ended, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from torseur.simulation.solvers.problem import Array

__all__ = ["Counts", "End", "EventRecord", "Outcome", "Trajectory"]


class Outcome(Enum):
    """How a run ended; where it did not end well, the value says what to do."""

    COMPLETE = "the run reached its end"
    STOPPED = "an event asked the run to stop"
    INTERRUPTED = "the run was interrupted; what was computed until then is kept"
    STEP_UNDERFLOW = (
        "the step became too small to go on: the motion is singular or discontinuous there, or the model is stiff; "
        "try a stiff method, a looser tolerance, or declare the discontinuity as an event or a break"
    )
    NOT_FINITE = (
        "the state or its rate is not a number there: look for a division by zero, a singular mass matrix or a "
        "motion that diverges; a fixed step may also be too long"
    )
    NEWTON = (
        "Newton's method did not converge: take a shorter step, or look for a discontinuity or a singular matrix there"
    )
    TOO_MANY_STEPS = (
        "the limit of steps or samples is reached; raise it (solver.steps), or take longer steps, a "
        "longer period or a stiff method"
    )
    CHATTERING = (
        "events accumulate at one instant: the model needs a mode of its own for that situation "
        "(rest, sticking), or a little compliance"
    )
    BLOCK = "a block written in Python failed"
    OPEN = (
        "loops or constraints are violated: the motion after this would be wrong; take a tighter tolerance or a "
        "shorter step, or look for a singular position or rows that contradict each other there"
    )
    JAMMED = (
        "forces and the normal forces they depend on have no solution or several, as in Painleve's paradox: use less "
        "friction, or a contact with compliance"
    )
    UNDECIDED = "the motion after this instant is not determined"

    SINGULAR = (
        "a singular position, at which a constraint does not determine the motion; end the run before, or describe "
        "what happens there by other constraints"
    )

    @property
    def is_good(self) -> bool:
        return self in (Outcome.COMPLETE, Outcome.STOPPED)


class End(Exception):
    """The run is over, for some reason: what there is is kept.

    Args:
        outcome: how it ended.
        blame: the state component that is to blame, if one is.
        why: more in words.
    """

    def __init__(self, outcome: Outcome, blame: int | None = None, why: str | None = None) -> None:
        super().__init__(outcome.value)
        self.outcome, self.blame, self.why = outcome, blame, why


@dataclass(frozen=True)
class EventRecord:
    """A zero of an event function that the run passed.

    Attributes:
        time: s.
        event: which one, from 0.
        rising: whether it went from below to above zero.
        before, after: the state (n,) as the run came there and as it left.
    """

    time: float
    event: int
    rising: bool
    before: Array
    after: Array


@dataclass(frozen=True)
class Counts:
    """What a run cost: steps taken and refused, evaluations of the rate or the residual, Newton iterations, restarts,
    seconds.
    """

    steps: int = 0
    rejected: int = 0
    evaluations: int = 0
    newton: int = 0
    restarts: int = 0
    wall_time: float = 0.0


@dataclass(frozen=True)
class Trajectory:
    """What was computed, to the end or to where it stopped.

    Attributes:
        times: (nt,), s.
        states: (nt, n).
        events: in order.
        outcome: how it ended.
        end: the time that was reached.
        final: the state there (n,).
        blame: after a failure, the state component that is not finite or has the largest error, if one can be named.
        counts: what it cost.
        why: what a handler said when it could not decide, or what failed.
    """

    times: Array
    states: Array
    events: tuple[EventRecord, ...]
    outcome: Outcome
    end: float
    final: Array
    blame: int | None
    counts: Counts
    why: str | None = None
