"""A method at work on a problem: native functions, the record they pass on, and nothing else.

stepper.restart(t, x)          begin here, remembering nothing
error = stepper.attempt(h)     try a step; at most 1 is good, nan for methods that do not estimate it
stepper.accept()               go on from its end
stepper.states(theta)          dense output within the step tried last
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Protocol

import numpy as np

from torseur.describe.canonical import canonical
from torseur.emit import NativeFunction
from torseur.graph import Function, tangents
from torseur.simulation.solvers.control import StepControl, Tolerance
from torseur.simulation.solvers.kept import kept
from torseur.simulation.solvers.problem import Array, Held, Memory, Problem, Solvable
from torseur.simulation.solvers.sheet import ERROR, NOW, WORK_DONE, Layout, Sheet, nested

__all__ = ["Method", "Pieces", "Stepper", "dense_output"]


@dataclass(frozen=True)
class Pieces:
    """What a method gives for a problem.

    Attributes:
        layout: of its record.
        step: (now, last, tolerance, held) -> record.
        evaluations: of the rate in one step, Newton iterations aside.
        begin: (now, last, tolerance, held) -> record at the start; without it, a step of length 0 will do.
        extend: (now, last, held) -> all rows of the dense output, where they cost more than a step should pay.
        terms: how many rows the dense output has in the end.
        iterates: whether steps count Newton iterations.
    """

    layout: Layout
    step: Function
    evaluations: int
    begin: Function | None = None
    extend: Function | None = None
    terms: int = 0
    iterates: bool = False


@dataclass(frozen=True)
class StepFacts:
    """What is known of the pieces without their functions."""

    layout: Layout
    evaluations: int
    iterates: bool
    functions: tuple[str, ...]


class Method(Protocol):
    """An integration method: data, and how its step is written."""

    @property
    def name(self) -> str: ...

    @property
    def order(self) -> int:
        """The global error falls with this power of the step."""

    @property
    def control(self) -> StepControl | None:
        """None: the method has no estimate of its error, its step is given."""

    def pieces(self, problem: Problem) -> Pieces: ...


def dense_output(problem: Problem, terms: int, *, events: bool = True) -> Function:
    """(theta, now, dense, held) -> the state there, corrected, and where asked for the events and their rates."""
    sheet = Sheet(problem, theta=1, now=NOW, dense=terms * problem.size)
    n, flat, theta = problem.size, sheet.block("dense"), sheet.block("theta")[0]
    t = sheet.time(theta)
    raw = nested(theta, [flat[k * n : (k + 1) * n] for k in range(terms)])
    x = sheet.corrected(t, raw)
    g = sheet.events(t, x) if events else []
    slopes = sheet.event_slopes(t, x, tangents(raw, {theta: 1.0 / sheet.now[1]})) if g else []
    return sheet.function("dense_output" if events else "dense_states", [*x, *g, *slopes])


def _functions(pieces: Pieces, problem: Problem) -> dict[str, Function]:
    terms = pieces.terms or pieces.layout.terms
    found = {"step": pieces.step, "at": dense_output(problem, terms), "begin": pieces.begin, "extend": pieces.extend}
    if problem.rate_and_events is not None:  # to record a state must not cost an evaluation of the rate
        found["states"] = dense_output(problem, terms, events=False)
    return {name: f for name, f in found.items() if f is not None}


def _compiled(method: Method, problem: Solvable) -> tuple[StepFacts, dict[str, NativeFunction]]:
    """What a method gives for a problem, its functions as native code."""
    store = problem.store.part("steps", canonical(method))

    @cache
    def derived() -> tuple[Pieces, dict[str, Function]]:
        pieces = method.pieces(problem.derived())
        return pieces, _functions(pieces, problem.derived())

    def facts() -> StepFacts:
        pieces, functions = derived()
        return StepFacts(pieces.layout, pieces.evaluations, pieces.iterates, tuple(functions))

    found = store.facts(facts)
    return found, store.functions(found.functions, lambda: derived()[1], lanes=1)


class Stepper:
    """A method bound to a problem and its held numbers. It has a state: where it is, and the step tried last."""

    def __init__(self, method: Method, problem: Solvable, held: Held, tolerance: Tolerance) -> None:
        self.method, self.problem = method, problem
        facts, self._native = kept(problem, method, lambda: _compiled(method, problem))
        self.layout, self.evaluations, self.iterates = facts.layout, facts.evaluations, facts.iterates
        self._now, self._theta = np.zeros(NOW), np.zeros(1)
        self._tolerance = tolerance.array(problem.size)
        self._first, self._stop = facts.layout.dense.start, facts.layout.dense.stop
        self.hold(held)
        self._record = self._new = np.zeros(facts.layout.size)
        self._dense: Array | None = None

    def hold(self, held: Held) -> None:
        """Bind the held numbers: u and m stay the caller's arrays, p is worked into the code's constants."""
        self.held = held
        fixed = [held[b.name] for b in self.problem.inputs if b.name in ("u", "m")]
        calls = {}
        for key, native in self._native.items():
            bound = native.bind(held.p) if held.p.size else native
            ends = [self._tolerance, *fixed] if key in ("step", "begin") else fixed
            calls[key] = _quick(bound, ends)
        self._step, self._at, self._states = calls["step"], calls["at"], calls.get("states", calls["at"])
        self._begin, self._extend = calls.get("begin", calls["step"]), calls.get("extend")

    # -- stepping ------------------------------------------------------------------------------------------------------
    def restart(self, t: float, x: Array, earliest: float = -math.inf, latest: float = math.inf) -> None:
        """Begin at a state; stages of the steps to come stay within the interval of time."""
        last = np.zeros(self.layout.size)
        last[self.layout.x] = x
        self._now[:] = t, 0.0, earliest, latest
        self._record = self._new = self._begin(self._now, last)
        self._dense = None

    def attempt(self, h: float) -> float:
        """Try a step; gives its scaled error."""
        self._now[1] = h
        self._dense = None
        self._new = new = self._step(self._now, self._record)
        return new.item(ERROR)  # type: ignore[no-any-return]

    def accept(self, t: float) -> None:
        """Go on from the end of the step tried last, which is at time t."""
        self._record = self._new
        self._now[0] = t

    def forget(self) -> None:
        """Drop the step tried last."""
        self._new, self._dense = self._record, None

    def bound(self, latest: float) -> None:
        """Let the stages of the steps to come go further in time."""
        self._now[3] = latest

    def memory(self) -> Memory:
        """Between two steps: all that the next one depends on."""
        return {"now": self._now, "record": self._record, "u": self.held.u, "m": self.held.m, "p": self.held.p}

    def recall(self, memory: Memory) -> None:
        held = self.held
        held.u[:], held.m[:] = memory["u"], memory["m"]
        self.hold(Held(held.u, held.m, memory["p"]))
        self._now[:], self._record = memory["now"], memory["record"]
        self.forget()

    def repeated(self, h: float, times: int) -> Callable[[], object]:
        """The step from here, so many times over in native code alone: what a step costs that nobody steers."""
        self._now[1] = h
        native = self._native["step"].bind(self.held.p) if self.held.p.size else self._native["step"]
        fixed = [self.held[b.name] for b in self.problem.inputs if b.name in ("u", "m")]
        now, last = (np.tile(a, (times, 1)) for a in (self._now, self._record))
        return partial(native, now, last, self._tolerance, *fixed, out=np.empty_like(last))

    # -- what there is to see ------------------------------------------------------------------------------------------
    @property
    def record(self) -> Array:
        """Of the step tried last."""
        return self._new

    @property
    def x(self) -> Array:
        """The state at the end of the step tried last."""
        return self._new[self.layout.x]

    @property
    def accepted(self) -> Array:
        """The state that the next step begins with."""
        return self._record[self.layout.x]

    @property
    def g(self) -> Array:
        return self._new[self.layout.g]

    @property
    def work_done(self) -> int:
        """Newton iterations in the step tried last."""
        return int(self._new[WORK_DONE])

    def scale(self, x: Array) -> Array:
        """What errors are measured by: atol + rtol |x|; those of bystanders do not count."""
        found: Array = self._tolerance[1:] + self._tolerance[0] * np.abs(x)
        found[list(self.problem.bystanders)] = math.inf
        return found

    def sizes(self) -> tuple[float, float]:
        """The scaled norms of the state and of its rate, over what steers."""
        counted = list(self.problem.steering)
        scale = self.scale(self.x)[counted]
        x, rate = self.x[counted] / scale, self._new[self.layout.rate][counted] / scale
        n = max(x.size, 1)
        return math.sqrt(float(x @ x) / n), math.sqrt(float(rate @ rate) / n)

    def states(self, theta: Array) -> Array:
        """Dense output in the step tried last, not yet accepted: (k,) -> (k, n)."""
        found: Array = self._states(theta[:, None], self._now, self._rows())
        return found[:, : self.layout.n]

    def state(self, theta: float) -> Array:
        """The same at one place: (n,)."""
        self._theta[0] = theta
        found: Array = self._states(self._theta, self._now, self._rows())
        return found[: self.layout.n]

    def probe(self, theta: float) -> Array:
        """States, events and their rates at one place: (n + 2 events,)."""
        self._theta[0] = theta
        found: Array = self._at(self._theta, self._now, self._rows())
        return found

    def _rows(self) -> Array:
        if self._dense is None:
            self._dense = (
                self._new[self._first : self._stop] if self._extend is None else self._extend(self._now, self._new)
            )
        return self._dense


def _quick(native: NativeFunction, ends: list[Array]) -> Callable[..., Any]:
    """The function with its last arrays in place, in the shortest way there is; arrays are read at each call."""

    def slow(*args: Any) -> Any:
        return native(*args, *ends)

    made = native.direct(native.interface.name, "one step", defaults=ends, fallback=slow)
    return slow if made is None else made
