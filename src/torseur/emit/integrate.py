"""Whole fixed-step integrations in native code, for one run or a batch with a run in each lane.

A method is data, a Butcher tableau; the loop around it is written once. Time is computed from the number of the step,
so it does not drift.

>>> import numpy as np
>>> from torseur.graph import Function, Graph
>>> from torseur.emit import RK4, integrator
>>> g = Graph()
>>> x = g.block("x", 2)
>>> circle = integrator(Function("circle", [x], {"dx": [x[1], -x[0]]}), RK4)
>>> motion = circle([1.0, 0.0], step=2 * np.pi / 1000, steps=1000, every=500)
>>> bool(np.allclose(motion.states[0], [[1, 0], [-1, 0], [1, 0]]))
True
"""

from __future__ import annotations

import ctypes
import hashlib
import math
import time as clock
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import accumulate
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from torseur.emit import cache
from torseur.emit.interface import Argument, batch_shape, described, ordered
from torseur.emit.ir import Lanes, checked_lanes
from torseur.emit.jit import Library, Tier, assemble, host, link
from torseur.emit.routines import routine_imports
from torseur.emit.run_loop import run_text
from torseur.emit.ufunc import checked_threads, cuts
from torseur.errors import ArgumentError, CompileError, TorseurError, choice
from torseur.graph.blocks import Role
from torseur.graph.function import Function, checked_function

__all__ = ["EULER", "HEUN", "RK4", "Integrator", "Motion", "Tableau", "integrator", "integrator_keyed"]

Array = NDArray[np.float64]
_OPTIONS = "step", "steps", "every", "time", "first", "breaks", "threads", "progress", "out"


@dataclass(frozen=True)
class Tableau:
    """An explicit Runge-Kutta method: stage i at t + c_i h from x + h sum_j a_ij k_j; the step is h sum_i b_i k_i."""

    name: str
    a: tuple[tuple[float, ...], ...]
    b: tuple[float, ...]
    c: tuple[float, ...]
    order: int

    def __post_init__(self) -> None:
        s = len(self.b)
        if len(self.c) != s or len(self.a) != s or any(len(row) != i for i, row in enumerate(self.a)):
            raise ArgumentError(
                f"'{self.name}' is not an explicit method",
                expected="row i of a with i entries, and as many of b and c as of rows",
                got=f"rows of {[len(row) for row in self.a]}, {s} of b, {len(self.c)} of c",
            )


EULER = Tableau("Euler", ((),), (1.0,), (0.0,), 1)
HEUN = Tableau("Heun", ((), (1.0,)), (0.5, 0.5), (0.0, 1.0), 2)
RK4 = Tableau(
    "classical Runge-Kutta",
    ((), (0.5,), (0.0, 0.5), (0.0, 0.0, 1.0)),
    (1 / 6, 1 / 3, 1 / 3, 1 / 6),
    (0.0, 0.5, 0.5, 1.0),
    4,
)


@dataclass(frozen=True)
class Motion:
    """Recorded states: for each block of states an array ``(..., rows, *shape)``, at ``time`` (rows,)."""

    time: Array
    states: tuple[Array, ...]


def integrator(
    rate: Function,
    method: Tableau = RK4,
    *,
    correct: Function | None = None,
    lanes: int | None = None,
    tier: Tier | str = Tier.FULL,
) -> Integrator:
    """A native integrator of dx/dt = rate(t, x, inputs, parameters).

    Args:
        rate: its blocks of role STATE are the state; its outputs are their derivatives, one per block, in order.
        method: the tableau.
        correct: the same blocks, or some of them -> the states to go on from, applied after each step (unit
            quaternions, closed loops).
        lanes: runs per vector instruction in batches; by default what the processor's registers hold.
        tier: see `compile`.
    """
    checked_function(rate, "integrator")
    tier = choice(Tier, tier, "tier")
    if not isinstance(method, Tableau):
        raise ArgumentError("no such method", expected="a Tableau", got=f"method = {method!r}")
    states = [b for b in rate.inputs if b.role is Role.STATE]
    if not states or [len(o.exprs) for o in rate.outputs] != [b.size for b in states]:
        raise ArgumentError(
            f"'{rate.name}' is not the rate of its states",
            expected="one output per block of states, of its size: " + ", ".join(f"{b.name} {b.size}" for b in states),
            got=", ".join(f"{o.name} {len(o.exprs)}" for o in rate.outputs),
        )
    if any(b.size != 1 for b in rate.inputs if b.role is Role.TIME):
        raise CompileError("time must be a scalar", where=f"inputs of '{rate.name}'")
    if correct is not None:
        _check_correction(rate, checked_function(correct, "integrator, correct"))
    digest = repr((rate.digest, correct and correct.digest))
    arguments = [Argument(b.name, b.shape, b.role) for b in rate.inputs]
    return Integrator(rate.name, digest, arguments, lambda: (rate, correct), method, lanes, tier)


def integrator_keyed(
    key: str,
    inputs: Sequence[Argument],
    build: Callable[[], tuple[Function, Function | None]],
    method: Tableau = RK4,
    *,
    lanes: int | None = None,
    tier: Tier | str = Tier.FULL,
) -> Integrator:
    """The same for a rate and a correction that take time to derive; see `compile_keyed`.

    Args:
        key: must say all that decides them.
        inputs: of the rate.
        build: makes both when the cache does not have their code.
        method, lanes, tier: as in `integrator`.
    """
    return Integrator("rate", key, inputs, build, method, lanes, choice(Tier, tier, "tier"))


def _check_correction(rate: Function, correct: Function) -> None:
    """It must take what the rate takes, or some of it, and give what the rate gives: one array per block of states."""
    known = {(b.name, b.shape, b.role) for b in rate.inputs}
    sizes = [len(o.exprs) for o in rate.outputs]
    others = [b for b in correct.inputs if (b.name, b.shape, b.role) not in known]
    if others or [len(o.exprs) for o in correct.outputs] != sizes:
        blocks = ", ".join(f"{b.name} {b.shape} {b.role.value}" for b in rate.inputs)
        raise ArgumentError(
            f"'{correct.name}' does not correct the states of '{rate.name}'",
            expected=f"blocks among {blocks}; outputs of sizes {sizes}",
            got=", ".join(f"{b.name} {b.shape} {b.role.value}" for b in correct.inputs)
            + f"; outputs of sizes {[len(o.exprs) for o in correct.outputs]}",
        )


class Integrator:
    """Integrates many steps in one call. Made by `integrator`."""

    def __init__(
        self,
        name: str,
        key: str,
        inputs: Sequence[Argument],
        build: Callable[[], tuple[Function, Function | None]],
        method: Tableau,
        lanes: int | None,
        tier: Tier,
    ) -> None:
        self.name, self.method, self._key, self._build, self._tier = name, method, key, build, tier
        self._lanes = checked_lanes(lanes) or host().lanes.width
        self.inputs = tuple(a for a in inputs if a.role is not Role.TIME)
        """The arguments of a call, in order: the blocks of the rate except time."""
        self._libraries: dict[int, Library] = {}

    def __reduce__(self) -> tuple[object, ...]:
        raise TorseurError(
            "native code cannot be pickled or copied",
            got=f"the integrator of {self.name}",
            remedy="make it again where it is needed: what was compiled before is found on disk",
        )

    def __call__(
        self,
        /,
        *args: ArrayLike,
        step: float,
        steps: int,
        every: int = 1,
        time: float = 0.0,
        first: int = 0,
        breaks: Sequence[float] = (),
        threads: int = 1,
        progress: Callable[[int, int], object] | None = None,
        out: Array | Sequence[Array] | None = None,
        **named: ArrayLike,
    ) -> Motion:
        """Integrate `steps` steps of length `step`, recording the start and then each `every`-th state.

        Args:
            args, named: the start for each block of states, and the other inputs, held constant; leading dimensions
                broadcast into a batch of runs.
            step: s; negative steps go back in time.
            steps: a multiple of `every`.
            time: at step number 0, s.
            first: the number of the first step, for a run that goes on: the start is at time + first step.
            breaks: times at which the rate is not smooth, s, in order, each the end of a step: no stage sees what is
                on the other side.
            threads: how many share a batch.
            progress: called now and then with the rows done and the rows wanted; an exception from it, or Ctrl-C, ends
                the run, and the rows done so far are in `out`.
            out: where to record, one array ``(..., rows, *shape)`` of doubles per block of states; there are
                1 + steps / every rows.
        """
        values = ordered(self.name, self.inputs, args, named, _OPTIONS)
        course, threads = _Course(step, steps, every, time, first, tuple(breaks)), checked_threads(threads)
        run = _Run(self, values, course, out)
        library = self._library(1 if run.count == 1 else self._lanes)
        run.go(ctypes.CFUNCTYPE(None, ctypes.c_void_p)(library["run"]), threads, progress)
        return Motion(course.times, tuple(run.recorded))

    def _library(self, width: int) -> Library:
        if width not in self._libraries:
            parts = self._key, self.method.a, self.method.b, self.method.c
            digest = hashlib.sha256(repr(parts).encode())
            key = cache.cache_key(f"integrator:{digest.hexdigest()}", width, self._tier)

            def made() -> tuple[dict[str, Any], bytes]:
                rate, correct = self._build()
                text, routines = run_text(rate, self.method, Lanes(width), correct)
                return {"routines": routines}, assemble(text, host(), self._tier)

            def linked(header: dict[str, Any], code: bytes) -> Library:
                return link(code, ("run",), routine_imports(header["routines"]))

            self._libraries[width] = cache.used(key, linked, made)
        return self._libraries[width]


def _is_finite(x: float) -> bool:
    """Whether x is a number that a double can hold."""
    try:
        return isinstance(x, Real) and math.isfinite(x)
    except OverflowError:
        return False


@dataclass(frozen=True)
class _Course:
    """The steps of one call."""

    step: float
    steps: int
    every: int
    time: float
    first: int
    breaks: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        numbers, integers = (
            {"step": self.step, "time": self.time},
            {"steps": self.steps, "every": self.every, "first": self.first},
        )
        faults = [f"{name} = {x!r}" for name, x in numbers.items() if not _is_finite(x)]
        faults += [f"{name} = {n!r}" for name, n in integers.items() if not isinstance(n, Integral)]
        if not faults and (min(self.steps, self.first) < 0 or self.every < 1 or self.steps % self.every):
            faults = [f"steps = {self.steps}, every = {self.every}, first = {self.first}"]
        if faults:
            raise ArgumentError(
                "wrong course of an integration",
                expected="finite numbers step and time; integers steps >= 0, first >= 0 and every >= 1, steps a "
                "multiple of every",
                got=", ".join(faults),
            )
        inner = [k for k, _, _ in self.parts[:-1]]
        ends = [self.time + self.step * (self.first + k) for k in inner]
        if any(abs(a - b) > 1e-6 * abs(self.step) for a, b in zip(ends, self.breaks, strict=True)) or inner != sorted(
            {k for k in inner if 0 <= k <= self.steps}
        ):
            raise ArgumentError(
                "breaks that are not ends of steps, in order",
                expected=f"times at step {self.step:g} s from {self.time:g} s on",
                got=", ".join(f"{b!r}" for b in self.breaks),
            )

    @property
    def parts(self) -> list[tuple[int, float, float]]:
        """Steps without a break between them: at which step they end, and the earliest and latest time they see."""
        found, earliest = [], -math.inf
        for b in self.breaks:
            step = round((b - self.time) / self.step) - self.first
            found.append((step, earliest, math.nextafter(b, -math.inf)))
            earliest = math.nextafter(b, math.inf)
        return [*found, (self.steps, earliest, math.inf)]

    @property
    def rows(self) -> int:
        return self.steps // self.every

    @property
    def times(self) -> Array:
        """At each recorded row."""
        return np.float64(self.time) + np.float64(self.step) * (self.first + self.every * np.arange(self.rows + 1))


class _Run:
    """The arrays of one call, laid out for the native loop."""

    SLICE = 0.05  # seconds of native work between two looks at the world

    def __init__(self, owner: Integrator, values: Sequence[Any], course: _Course, out: Any) -> None:
        self.course = course
        batch = batch_shape(owner.name, owner.inputs, values)
        self.count = int(np.prod(batch, dtype=int))
        self.states = [a for a in owner.inputs if a.role is Role.STATE]
        self.recorded = _records([(*batch, course.rows + 1, *a.shape) for a in self.states], out)
        # All states side by side: the loop sees one array of runs, rows and values.
        self.ends = list(accumulate(a.size for a in self.states))
        self.state = np.empty((self.count, self.ends[-1]))
        self.others: list[Array] = []
        for argument, value in zip(owner.inputs, values, strict=True):
            array = np.array(value, dtype=float, order="C")  # a copy: the record may lie over it
            fixed = argument.role is not Role.STATE and array.size == argument.size
            if not fixed:
                array = np.broadcast_to(array, (*batch, *argument.shape))
            array = array.reshape(1 if fixed else self.count, argument.size)
            if argument.role is Role.STATE:
                self.state[:, self._columns(self.states.index(argument))] = array
            else:
                self.others.append(array)
        self._record(slice(0, 1), self.state[:, None, :])

    def _columns(self, k: int) -> slice:
        return slice(self.ends[k] - self.states[k].size, self.ends[k])

    def _record(self, rows: slice, values: Array) -> None:
        for k, target in enumerate(self.recorded):
            shape = self.states[k].shape
            lead = target.shape[: target.ndim - len(shape) - 1]
            index = (slice(None),) * len(lead) + (rows,)
            target[index] = values[..., self._columns(k)].reshape(*lead, values.shape[1], *shape)

    def go(self, entry: Any, threads: int, progress: Callable[[int, int], object] | None) -> None:
        """Slices of native work: some rows, or a part of one; how many steps fit in a slice is learnt on the way."""
        every, done, fit = self.course.every, 0, 256
        for end, *seen in self.course.parts:
            while done < end:
                rest = every - done % every
                rows, span = max(1, min(fit, end - done) // every), every
                if rest < every or min(fit, end - done) < every:
                    rows, span = 1, min(fit, rest, end - done)
                buffer = np.empty((self.count, rows, self.state.shape[1]))
                began = clock.perf_counter()
                self._parallel(entry, buffer, (span, self.course.first + done), seen, threads)
                took = clock.perf_counter() - began
                done += rows * span
                row, part = divmod(done, every)
                if part == 0:
                    self._record(slice(row + 1 - rows, row + 1), buffer)
                if progress is not None:
                    progress(row, self.course.rows)
                fit = max(1, int(rows * span * min(16.0, self.SLICE / max(took, 1e-9))))

    def _parallel(self, entry: Any, buffer: Array, steps: tuple[int, int], seen: Sequence[float], threads: int) -> None:
        def work(edges: tuple[int, int]) -> None:
            words = self._words(buffer, edges, steps, seen)
            entry(words.ctypes.data)

        shares = cuts(self.count, threads)
        if len(shares) < 2:
            for edges in shares:
                work(edges)
            return
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(work, shares))

    def _words(
        self, buffer: Array, edges: tuple[int, int], steps: tuple[int, int], seen: Sequence[float]
    ) -> NDArray[np.int64]:
        """What the native loop is told, word by word; see `torseur.emit.run_loop`."""
        start, stop = edges
        words = [stop - start, buffer.shape[1], *steps]
        words += [a.ctypes.data + start * a.strides[0] for a in (self.state, buffer)]
        words += np.array([self.course.step, self.course.time, *seen], dtype=float).view(np.int64).tolist()
        for array in self.others:
            stride = array.strides[0] if array.shape[0] == self.count else 0
            words += [array.ctypes.data + start * stride, stride]
        return np.array(words, dtype=np.int64)


def _records(shapes: Sequence[tuple[int, ...]], out: Any) -> list[Array]:
    """Where to record: new arrays, or the ones given."""
    if out is None:
        return [np.full(shape, np.nan) for shape in shapes]
    given = list(out) if isinstance(out, (tuple, list)) else [out]
    fits = [isinstance(o, np.ndarray) and o.dtype == np.float64 and o.flags.writeable for o in given]
    if not all(fits) or [o.shape for o in given] != list(shapes):
        raise ArgumentError(
            "the states cannot be recorded in 'out'",
            expected=", ".join(f"float64 {shape}" for shape in shapes),
            got=", ".join(map(described, given)),
        )
    return given
