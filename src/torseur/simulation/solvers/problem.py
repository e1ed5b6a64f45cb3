"""What a solver is given: a rate of change, and what may be used beside it.

>>> from torseur.graph import Function, Graph
>>> g = Graph()
>>> q, v = g.block("q", 1), g.block("v", 1)
>>> swing = Problem(Function("swing", [q, v], {"dq": [v[0]], "dv": [-q[0]]}))
>>> swing.size, [b.name for b in swing.states]
(2, ['q', 'v'])

What was made for a problem, such as native code, is kept as long as the problem itself: the second run of a simulation,
and each of a thousand runs, find ready what the first one waited for.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from torseur.emit import Store
from torseur.emit.interface import Argument
from torseur.errors import ArgumentError
from torseur.graph import Function, Role, ops

__all__ = ["ORDER", "Array", "CompiledProblem", "Held", "Implicit", "Problem", "ProblemShape", "Solvable", "kept"]

Array = NDArray[np.float64]

Memory = dict[str, Any]
"""What a part of a run remembers, as plain data: mappings, lists, texts, numbers and arrays."""

ORDER = ("t", "q", "v", "z", "w", "u", "m", "p")
"""The blocks a function of a problem may take, in this order."""

_ROLES = dict(zip(ORDER, (Role.TIME, *[Role.STATE] * 4, *[Role.INPUT] * 2, Role.PARAMETER), strict=True))


@dataclass(frozen=True)
class Implicit:
    """The second-order form r(t, q, v, vdot, lam, z) = 0 with h = 0, for Newmark and generalised alpha.

    Blocks as in `Problem`; beside them "vdot" (nv) and "lam" (nrows), of role STATE, wherever they stand.

    Attributes:
        residual: -> "r" (nv) = M vdot + bias - A' lam - forces; "h" (nrows), the closure of a row at position level
            where it is holonomic, its velocity row where it is not; "dz" (nz) where there is z. Outputs of size 0 may
            be left out.
        tangent: -> "M" (nv, nv) = dr/dvdot; "C" = dr/dv; "K" = dr/dq along the speeds; "H" = dh/dq along the speeds
            (nrows, nv); "A" = the velocity rows (nrows, nv).
        displace: (q, d) -> "q" moved along d (nv), a displacement in the directions of the speeds: unit quaternions
            stay unit. Its blocks are called "q" and "d".
        holonomic: for each row whether it is one.
    """

    residual: Function
    tangent: Function
    displace: Function
    holonomic: tuple[bool, ...] = ()


@dataclass(frozen=True)
class Held:
    """The numbers a run holds between events: inputs u, modes and samples m, parameters p.

    u and m may be changed in place by handlers and samplings; who changes p gives a new array.
    """

    u: Array
    m: Array
    p: Array

    def __getitem__(self, name: str) -> Array:
        found: Array = getattr(self, name)
        return found


@dataclass(frozen=True)
class ProblemShape:
    """What is known of a problem without its functions.

    Attributes:
        inputs: the blocks that the rate takes.
        event_count: how many events there are.
        is_corrected: whether states are corrected after each step.
    """

    inputs: tuple[Argument, ...]
    event_count: int = 0
    is_corrected: bool = False


class Solvable(ABC):
    """A problem, derived or kept: its shape, and where native code of its steps is found."""

    @property
    @abstractmethod
    def shape(self) -> ProblemShape: ...

    @property
    @abstractmethod
    def store(self) -> Store:
        """Where native steps of it are found again."""

    @abstractmethod
    def derived(self) -> Problem:
        """The problem with its functions."""

    @property
    def inputs(self) -> tuple[Argument, ...]:
        """The blocks of the rate."""
        return self.shape.inputs

    @property
    def event_count(self) -> int:
        return self.shape.event_count

    def _size(self, name: str) -> int:
        return sum(b.size for b in self.inputs if b.name == name)

    @cached_property
    def states(self) -> tuple[Argument, ...]:
        """The blocks of states of the rate."""
        return tuple(b for b in self.inputs if b.role is Role.STATE)

    @cached_property
    def size(self) -> int:
        """How many numbers a state has."""
        return sum(b.size for b in self.states)

    @cached_property
    def steering(self) -> tuple[int, ...]:
        """The places in x of states whose errors count: all but w."""
        return tuple(range(self.columns("w").start))

    @cached_property
    def bystanders(self) -> tuple[int, ...]:
        """The places in x of w, behind the others."""
        return tuple(range(self.size))[self.columns("w")]

    def columns(self, name: str) -> slice:
        """Where in x a block of states is; empty where there is none."""
        start = 0
        for block in self.states:
            if block.name == name:
                return slice(start, start + block.size)
            start += block.size
        return slice(start, start)

    def held(self, u: Any = None, m: Any = None, p: Any = None) -> Held:
        """The held numbers as arrays of the right size; zeros where none are given.

        Parameters have no zeros to fall back to: they must be given.
        """
        arrays = {}
        for name, given in (("u", u), ("m", m), ("p", p)):
            size = self._size(name)
            if given is None and name == "p" and size:
                raise ArgumentError("the parameters are not given", where="p", expected=f"{size} numbers", got="None")
            array = np.zeros(size) if given is None else np.array(given, dtype=float).ravel()
            if array.size != size or not np.isfinite(array).all():
                raise ArgumentError(
                    "wrong held numbers", where=name, expected=f"{size} finite numbers", got=repr(given)
                )
            arrays[name] = array
        return Held(**arrays)

    def start(self, x: Any) -> Array:
        """A state as a flat array: from one, or from a mapping of blocks to arrays."""
        if isinstance(x, Mapping):
            missing = [b.name for b in self.states if b.name not in x]
            if missing or len(x) != len(self.states):
                expected = ", ".join(b.name for b in self.states)
                raise ArgumentError("wrong blocks of a start", expected=expected, got=", ".join(map(str, x)))
            x = np.concatenate([np.asarray(x[b.name], dtype=float).ravel() for b in self.states])
        array = np.array(x, dtype=float).ravel()
        if array.size != self.size or not np.isfinite(array).all():
            raise ArgumentError("wrong start", expected=f"{self.size} finite numbers", got=repr(x))
        return array


@dataclass(frozen=True)
class Problem(Solvable):
    """dx/dt = f(t, x; u, m, p), and what a solver may use beside it.

    All functions take the same blocks in the same order: "t" (TIME), the states "q", "v", "z", "w" (STATE), "u" and "m"
    (INPUT; m are held numbers: modes and samples), "p" (PARAMETER), each only where it has a size. x is the blocks of
    states side by side, one flat array. A function may leave out blocks it does not need, except the rate. Nothing
    depends on w, such as the integrals of an audit: these states do not steer the steps.

    Attributes:
        rate: one output per block of states: its derivative.
        correct: -> the corrected states, applied after each accepted step.
        events: -> one output, (ng,): an event is a change of sign.
        jumps: -> the states after the jump that m asks for; what a handler may use.
        implicit: the second-order form.
    """

    rate: Function
    correct: Function | None = None
    events: Function | None = None
    jumps: Function | None = None
    implicit: Implicit | None = None

    def __post_init__(self) -> None:
        for name in ("rate", "correct", "events", "jumps"):
            function = getattr(self, name)
            if function is not None:
                self._check_blocks(name, function)
        if not self.states:
            raise self._fault("rate", "at least one block of states: q, v or z", "none")
        if any(n.op is ops.SYMBOL and n.data[0] == "w" for n in self.rate.nodes):
            raise self._fault("rate", "nothing depends on w", "a rate that does")
        sizes = [b.size for b in self.states]
        for name in ("rate", "correct", "jumps"):
            function = getattr(self, name)
            if function is not None and [len(o.exprs) for o in function.outputs] != sizes:
                expected = "one output per block of states: " + ", ".join(f"{b.name} {b.size}" for b in self.states)
                got = ", ".join(f"{o.name} {len(o.exprs)}" for o in function.outputs)
                raise self._fault(name, expected, got)
        if self.events is not None and (len(self.events.outputs) != 1 or not self.events.results):
            raise self._fault("events", "one output that is not empty", f"{len(self.events.outputs)} outputs")
        if self.implicit is not None:
            self._check_implicit(self.implicit)

    def _check_blocks(self, name: str, function: Function, more: tuple[str, ...] = ()) -> None:
        if not isinstance(function, Function):
            raise self._fault(name, "a Function", type(function).__name__)
        blocks = [b for b in function.inputs if b.name not in more]
        names = [b.name for b in blocks]
        wrong = [n for n in names if n not in ORDER] or sorted(names, key=ORDER.index) != names
        if wrong:
            every = ", ".join(ORDER)
            raise self._fault(name, f"some of the blocks {every} in this order", ", ".join(names))
        for block in blocks:
            like = next((b for b in self.rate.inputs if b.name == block.name), None)
            if block.role is not _ROLES[block.name] or (block.name == "t" and block.size != 1):
                expected = f"{block.name} of role {_ROLES[block.name].value}" + ", a scalar" * (block.name == "t")
                raise self._fault(name, expected, f"size {block.size}, role {block.role.value}")
            if like is None or like.size != block.size:
                expected = (
                    "no such block, as the rate has none" if like is None else f"{block.name} of size {like.size}"
                )
                raise self._fault(name, expected, f"{block.name} of size {block.size}")

    def _check_implicit(self, implicit: Implicit) -> None:
        nv, rows, names = self._size("v"), len(implicit.holonomic), ("vdot", "lam")
        if not self._size("q") or not nv:
            raise self._fault("implicit", "a rate with blocks q and v", ", ".join(b.name for b in self.states))
        for name in ("residual", "tangent"):
            function: Function = getattr(implicit, name)
            self._check_blocks(f"implicit.{name}", function, names)
            for block in function.inputs:
                size = {"vdot": nv, "lam": rows}.get(block.name, block.size)
                if block.size != size:
                    raise self._fault(f"implicit.{name}", f"{block.name} of size {size}", str(block.size))
        sizes = {"r": nv, "h": rows, "dz": self._size("z")}
        self._check_outputs("implicit.residual", implicit.residual, sizes)
        wide = {"M": nv * nv, "C": nv * nv, "K": nv * nv, "H": rows * nv, "A": rows * nv}
        self._check_outputs("implicit.tangent", implicit.tangent, wide)
        self._check_outputs("implicit.displace", implicit.displace, {"q": self._size("q")})
        blocks = {b.name: b.size for b in implicit.displace.inputs}
        if blocks != {"q": self._size("q"), "d": nv}:
            raise self._fault("implicit.displace", f"blocks q of {self._size('q')} and d of {nv}", str(blocks))

    def _check_outputs(self, name: str, function: Function, sizes: Mapping[str, int]) -> None:
        got = {o.name: len(o.exprs) for o in function.outputs}
        if {k: n for k, n in got.items() if n} != {k: n for k, n in sizes.items() if n}:
            raise self._fault(name, f"outputs {dict(sizes)}", str(got))

    def _fault(self, name: str, expected: str, got: str) -> ArgumentError:
        return ArgumentError("a problem that does not fit together", where=name, expected=expected, got=got)

    @cached_property
    def rate_and_events(self) -> Function | None:
        """Both in one function, where events are made of what the rate computes anyway, as normal forces are.

        Which they are is decided by what steers: the integrals of an audit change nothing.
        """
        if self.events is None:
            return None
        rate, events = self.rate, self.events
        known = {n.id for n in Function(rate.name, rate.inputs, {"f": [rate.results[k] for k in self.steering]}).nodes}
        work = [n for n in events.nodes if n.op not in (ops.SYMBOL, ops.CONST)]
        if not work or 2 * sum(n.id in known for n in work) < len(work):
            return None
        outputs = {o.name: list(o.exprs) for f in (rate, events) for o in f.outputs}
        return Function(f"{rate.name}_and_{events.name}", rate.inputs, outputs)

    @cached_property
    def shape(self) -> ProblemShape:
        inputs = tuple(Argument(b.name, b.shape, b.role) for b in self.rate.inputs)
        return ProblemShape(inputs, 0 if self.events is None else len(self.events.results), self.correct is not None)

    @cached_property
    def store(self) -> Store:
        """Digests say what functions compute, not what their blocks are called."""
        more = self.implicit
        functions = [self.rate, self.correct, self.events]
        functions += [more.residual, more.tangent, more.displace] if more is not None else []
        digests = [None if f is None else f.digest for f in functions]
        blocks = [[(b.name, b.shape, b.role.value) for b in f.inputs] for f in functions if f is not None]
        return Store.of(repr((digests, blocks, more and more.holonomic)))

    def derived(self) -> Problem:
        return self


class CompiledProblem(Solvable):
    """A problem whose functions are derived only where native code of them is not found.

    Args:
        shape: its sizes.
        store: where native steps are found.
        derive: gives the problem itself.
    """

    def __init__(self, shape: ProblemShape, store: Store, derive: Callable[[], Problem]) -> None:
        self._shape, self._store, self._derive = shape, store, derive

    @property
    def shape(self) -> ProblemShape:
        return self._shape

    @property
    def store(self) -> Store:
        return self._store

    def derived(self) -> Problem:
        return self._derive()


_Made = TypeVar("_Made")
_lock = Lock()


def kept(problem: Solvable, key: object, make: Callable[[], _Made]) -> _Made:
    """What `make` gives for a problem, made once for each (hashable) key; several threads may ask at the same time.

    >>> from torseur.graph import Function, Graph
    >>> from torseur.simulation.solvers.problem import Problem
    >>> x = Graph().block("z", 1)
    >>> decay = Problem(Function("decay", [x], {"dz": [-x[0]]}))
    >>> kept(decay, "list", list) is kept(decay, "list", list)
    True
    """
    with _lock:
        shelf: dict[object, Any] = problem.__dict__.setdefault("_kept", {})
    if key not in shelf:
        found = make()
        with _lock:
            shelf.setdefault(key, found)
    return shelf[key]  # type: ignore[no-any-return]
