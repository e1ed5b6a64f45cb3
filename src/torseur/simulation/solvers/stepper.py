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

from torseur.describe.plain_data import canonical
from torseur.emit import NativeFunction
from torseur.graph import Function, tangents
from torseur.simulation.solvers.control import StepControl, Tolerance
from torseur.simulation.solvers.lanes import Lanes, StepFacts
from torseur.simulation.solvers.problem import Array, Held, Memory, Problem, Solvable, kept
from torseur.simulation.solvers.step_graph import ERROR, NOW, WORK_DONE, Layout, StepGraph, nested

__all__ = ["Method", "StepCode", "StepFunctions", "Stepper", "dense_output"]


@dataclass(frozen=True)
class StepFunctions:
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

    def step_functions(self, problem: Problem) -> StepFunctions: ...


def dense_output(problem: Problem, terms: int, *, events: bool = True) -> Function:
    """(theta, now, dense, held) -> the state there, corrected, and where asked for the events and their rates."""
    step_graph = StepGraph(problem, theta=1, now=NOW, dense=terms * problem.size)
    n, flat, theta = problem.size, step_graph.block("dense"), step_graph.block("theta")[0]
    t = step_graph.time(theta)
    raw = nested(theta, [flat[k * n : (k + 1) * n] for k in range(terms)])
    x = step_graph.corrected(t, raw)
    g = step_graph.events(t, x) if events else []
    slopes = step_graph.event_slopes(t, x, tangents(raw, {theta: 1.0 / step_graph.now[1]})) if g else []
    return step_graph.function("dense_output" if events else "dense_states", [*x, *g, *slopes])


def _functions(step_functions: StepFunctions, problem: Problem) -> dict[str, Function]:
    terms = step_functions.terms or step_functions.layout.terms
    found = {
        "step": step_functions.step,
        "at": dense_output(problem, terms),
        "begin": step_functions.begin,
        "extend": step_functions.extend,
    }
    if problem.rate_and_events is not None:  # to record a state must not cost an evaluation of the rate
        found["states"] = dense_output(problem, terms, events=False)
    return {name: f for name, f in found.items() if f is not None}


class StepCode:
    """What a method gives for a problem, its functions as native code."""

    def __init__(self, method: Method, problem: Solvable) -> None:
        store = problem.store.part("steps", canonical(method))

        @cache
        def derived() -> tuple[StepFunctions, dict[str, Function]]:
            step_functions = method.step_functions(problem.derived())
            return step_functions, _functions(step_functions, problem.derived())

        def facts() -> StepFacts:
            step_functions, functions = derived()
            return StepFacts(
                step_functions.layout, step_functions.evaluations, step_functions.iterates, tuple(functions)
            )

        self.facts = found = store.facts(facts)
        self.functions = store.functions(found.functions, lambda: derived()[1], lanes=1)
        self.in_lanes = store.function("step", lambda: derived()[0].step, batches=True, exact=True)
        """The step on vector lanes: compiled when runs go side by side; the bits are those of one run."""
        self._last: tuple[bytes, dict[str, NativeFunction]] | None = None

    @property
    def layout(self) -> Layout:
        return self.facts.layout

    @classmethod
    def of(cls, method: Method, problem: Solvable) -> StepCode:
        """Kept as long as the problem."""
        return kept(problem, method, lambda: cls(method, problem))

    def bound(self, p: Array) -> dict[str, NativeFunction]:
        """The functions at some parameters; those bound last are at hand."""
        if not p.size:
            return self.functions
        key, last = p.tobytes(), self._last
        if last is None or last[0] != key:
            last = self._last = key, {name: f.bind(p) for name, f in self.functions.items()}
        return last[1]


class Stepper:
    """A method bound to a problem and its held numbers. It has a state: where it is, and the step tried last.

    Args:
        method, problem, held, tolerance: what it integrates.
        lanes: where its numbers are, beside those of other runs; by default in arrays of its own.
        place: its row there.
    """

    def __init__(
        self,
        method: Method,
        problem: Solvable,
        held: Held,
        tolerance: Tolerance,
        lanes: Lanes | None = None,
        place: int = 0,
    ) -> None:
        self.method, self.problem, self._place = method, problem, place
        self.lanes = lanes = lanes or Lanes(StepCode.of(method, problem), tolerance.array(problem.size))
        self.code, self.layout, self._tolerance = lanes.code, lanes.code.layout, lanes.tolerance
        self.evaluations, self.iterates = lanes.code.facts.evaluations, lanes.code.facts.iterates
        self.numbers = lanes.numbers[place]
        """Where the run is, and what its next step will be; see `torseur.simulation.solvers.march`."""
        self.page = lanes.page[place]
        """Where its rows are recorded."""
        self.marks = lanes.marks[place]
        """Signs of the event functions, their rates, and where they cross zero in the step tried."""
        self._now, self._record, self._tried = lanes.now[place], lanes.record[place], lanes.tried[place]
        self._theta = np.zeros(1)
        self._dense: Array | None = None
        self.hold(held)

    def hold(self, held: Held) -> None:
        """Bind the held numbers: u and m stay the caller's arrays, p is worked into the code's constants."""
        self.held, self._bound = held, self.code.bound(held.p)
        self._calls: dict[str, Callable[..., Any]] = {}
        self.lanes.hold(self._place, held, self._bound)

    def _call(self, name: str, *args: Array) -> Any:
        """One of the functions, where it is, at what is held."""
        if name not in self._calls:
            ends = [self.held[b.name] for b in self.problem.inputs if b.name in ("u", "m")]
            if name in ("step", "begin"):
                ends = [self._tolerance, *ends]
            self._calls[name] = _quick(self._bound[name], ends)
        return self._calls[name](*args)

    def ready(self) -> None:
        """Before native steps: let them see what was changed in place."""
        self._dense = None
        self.lanes.see(self._place, self.held)

    # -- stepping ------------------------------------------------------------------------------------------------------
    def restart(self, t: float, x: Array, earliest: float = -math.inf, latest: float = math.inf) -> None:
        """Begin at a state; stages of the steps to come stay within the interval of time."""
        self._record[:] = 0.0
        self._record[self.layout.x] = x
        self._now[:] = t, 0.0, earliest, latest
        self._tried[:] = self._call("begin" if "begin" in self._bound else "step", self._now, self._record)
        self._record[:] = self._tried
        self._dense = None

    def attempt(self, h: float) -> float:
        """Try a step; gives its scaled error."""
        self._now[1] = h
        self._dense = None
        self._tried[:] = self._call("step", self._now, self._record)
        return float(self._tried[ERROR])

    def accept(self, t: float) -> None:
        """Go on from the end of the step tried last, which is at time t."""
        self._record[:] = self._tried
        self._now[0] = t

    def forget(self) -> None:
        """Drop the step tried last."""
        self._tried[:], self._dense = self._record, None

    def bound(self, latest: float) -> None:
        """Let the stages of the steps to come go further in time."""
        self._now[3] = latest

    def memory(self) -> Memory:
        """Between two steps: all that the next one depends on."""
        held = self.held
        return {"now": self._now.copy(), "record": self._record.copy(), "u": held.u, "m": held.m, "p": held.p}

    def recall(self, memory: Memory) -> None:
        held = self.held
        held.u[:], held.m[:] = memory["u"], memory["m"]
        self.hold(Held(held.u, held.m, memory["p"]))
        self._now[:], self._record[:] = memory["now"], memory["record"]
        self.forget()

    def repeated(self, h: float, times: int) -> Callable[[], object]:
        """The step from here, so many times over in native code alone: what a step costs that nobody steers."""
        self._now[1] = h
        native = self._bound["step"]
        fixed = [self.held[b.name] for b in self.problem.inputs if b.name in ("u", "m")]
        now, last = (np.tile(a, (times, 1)) for a in (self._now, self._record))
        return partial(native, now, last, self._tolerance, *fixed, out=np.empty_like(last))

    # -- what there is to see ------------------------------------------------------------------------------------------
    @property
    def record(self) -> Array:
        """Of the step tried last."""
        found: Array = self._tried
        return found

    @property
    def x(self) -> Array:
        """The state at the end of the step tried last."""
        found: Array = self._tried[self.layout.x].copy()
        return found

    @property
    def accepted(self) -> Array:
        """The state that the next step begins with."""
        found: Array = self._record[self.layout.x].copy()
        return found

    @property
    def g(self) -> Array:
        found: Array = self._tried[self.layout.g]
        return found

    @property
    def work_done(self) -> int:
        """Newton iterations in the step tried last."""
        return int(self._tried[WORK_DONE])

    def scale(self, x: Array) -> Array:
        """What errors are measured by: atol + rtol |x|; those of bystanders do not count."""
        found: Array = self._tolerance[1:] + self._tolerance[0] * np.abs(x)
        found[len(self.problem.steering) :] = math.inf  # bystanders come last
        return found

    def sizes(self) -> tuple[float, float]:
        """The scaled norms of the state and of its rate, over what steers."""
        counted = slice(len(self.problem.steering))
        scale = self.scale(self.x)[counted]
        x, rate = self.x[counted] / scale, self._tried[self.layout.rate][counted] / scale
        n = max(x.size, 1)
        return math.sqrt(float(x @ x) / n), math.sqrt(float(rate @ rate) / n)

    def states(self, theta: Array) -> Array:
        """Dense output in the step tried last, not yet accepted: (k,) -> (k, n)."""
        native, held = self._bound[self._looking], self.held
        fixed = [held[b.name] for b in self.problem.inputs if b.name in ("u", "m")]
        found: Array = native(theta[:, None], self._now, self._rows(), *fixed)
        return found[:, : self.layout.n]

    def state(self, theta: float) -> Array:
        """The same at one place: (n,)."""
        self._theta[0] = theta
        found: Array = self._call(self._looking, self._theta, self._now, self._rows())
        return found[: self.layout.n]

    @property
    def _looking(self) -> str:
        return "states" if "states" in self._bound else "at"

    def _rows(self) -> Array:
        if self._dense is None:
            apart = "extend" in self._bound
            self._dense = self._call("extend", self._now, self._tried) if apart else self._tried[self.layout.dense]
        return self._dense


def _quick(native: NativeFunction, ends: list[Array]) -> Callable[..., Any]:
    """The function with its last arrays in place, in the shortest way there is; arrays are read at each call."""

    def slow(*args: Any) -> Any:
        return native(*args, *ends)

    made = native.direct(native.interface.name, "one step", defaults=ends, fallback=slow, batches=False)
    return slow if made is None else made
