"""Native functions: what a user calls.

A native function takes arrays of shape ``(..., *shape)`` for each of its inputs; leading dimensions broadcast, any
strides are read in place, the interpreter lock is released. One state goes through scalar code, a batch through vector
code with a state in each lane; each is compiled when it is first needed and kept on disk.

>>> from torseur.graph import Function, Graph, Role, cos
>>> from torseur.emit import compile
>>> g = Graph()
>>> q, m = g.block("q", 2), g.block("m", 1, Role.PARAMETER)
>>> f = compile(Function("weight", [q, m], {"tau": [m[0] * cos(q[0]), m[0] * cos(q[1])]}))
>>> f([0.0, 0.0], [2.0])
array([2., 2.])
>>> bound = f.bind([3.0])
>>> bound(q=[[0.0, 0.0]] * 4).shape
(4, 2)
"""

from __future__ import annotations

import hashlib
import keyword
from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from torseur.emit.direct import make_direct, serve_batches
from torseur.emit.interface import Argument, Interface, batch_shape, described, ordered
from torseur.emit.jit import Tier
from torseur.emit.source import Backend, Code, Part, Source
from torseur.emit.ufunc import checked_threads, in_threads, make_ufunc
from torseur.errors import ArgumentError, TorseurError
from torseur.graph.blocks import Role
from torseur.graph.evaluate import evaluate
from torseur.graph.function import Function, checked_function

__all__ = ["Backend", "NativeFunction", "compile", "compile_keyed", "compile_together", "compile_together_keyed"]

Array = NDArray[np.float64]
_OPTIONS = "out", "threads"


def compile(
    function: Function,
    *,
    lanes: int | None = None,
    tier: Tier | str = Tier.FULL,
    backend: Backend | str = Backend.AUTOMATIC,
    exact: bool = False,
) -> NativeFunction:
    """A function as native code (compiled at the first call).

    Args:
        function: what to compile.
        lanes: states per vector instruction in batches; by default what the processor's registers hold.
        tier: "quick" compiles huge functions several times faster, into slower code than "full".
        backend: "native", "numpy" (the reference evaluator), or "automatic": native where that is possible.
        exact: whether lanes compute what single states do, to the last bit.
    """
    checked_function(function, "compile")
    known = {"": Interface.of(function)}
    code = Code(function.digest, lambda: {"": function}, ("",), tier, backend, known, exact=exact)
    return NativeFunction(Source(code, lanes=lanes))


def compile_keyed(
    key: str,
    build: Callable[[], Function],
    *,
    lanes: int | None = None,
    tier: Tier | str = Tier.FULL,
    backend: Backend | str = Backend.AUTOMATIC,
    batches: bool = False,
    exact: bool = False,
) -> NativeFunction:
    """The same for a function that takes time to derive: if code is stored under the key, it is not even built.

    Args:
        key: must say all that decides the function (a description, options); our own sources and the processor are
            added.
        build: makes the function when the cache does not have it.
        lanes, tier, backend: as in `compile`.
        batches: whether it is called with batches alone.
        exact: whether lanes compute what single states do, to the last bit.
    """
    if not isinstance(key, str):
        raise ArgumentError("not a key", where="compile_keyed", expected="a str", got=type(key).__name__)
    code = Code(_hashed(key), lambda: {"": build()}, tier=tier, backend=backend, exact=exact)
    return NativeFunction(Source(code, lanes=lanes, batches=batches))


def compile_together(
    functions: Mapping[str, Function], *, lanes: int | None = None, tier: Tier | str = Tier.FULL
) -> dict[str, NativeFunction]:
    """Functions that are needed together as native code: what they call in common is compiled once.

    Args:
        functions: by name.
        lanes, tier: as in `compile`.
    """
    digests = {name: checked_function(f, "compile_together").digest for name, f in functions.items()}
    interfaces = {name: Interface.of(f) for name, f in functions.items()}
    code = Code(_hashed(repr(digests)), lambda: functions, list(functions), tier, interfaces=interfaces)
    return {name: NativeFunction(Source(code, name, lanes)) for name in functions}


def compile_together_keyed(
    key: str,
    names: Sequence[str],
    build: Callable[[], Mapping[str, Function]],
    *,
    lanes: int | None = None,
    tier: Tier | str = Tier.FULL,
) -> dict[str, NativeFunction]:
    """The same for functions that take time to derive; see `compile_keyed`.

    Args:
        key: must say all that decides them.
        names: of the functions.
        build: makes them when the cache does not have them.
        lanes, tier: as in `compile`.
    """
    code = Code(_hashed(key), build, names, tier)
    return {name: NativeFunction(Source(code, name, lanes)) for name in names}


def _hashed(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


class _Entry:
    """One loop of a library as a ufunc. Holds the code and the buffers the ufunc points to."""

    def __init__(self, library: Part, name: str, title: str, ins: Sequence[Argument], outs: Sequence[Argument]) -> None:
        self.library, self.address = library, library[name]
        self.shapes = [a.shape for a in ins], [a.shape for a in outs]
        self.call, self._buffers = make_ufunc(self.address, title, *self.shapes)


class NativeFunction:
    """A compiled function. Call it with arrays; `bind` its parameters to have their share of the work done once."""

    def __init__(self, source: Source, work: Array | None = None, parameters: Sequence[Any] = ()) -> None:
        self._source, self._work, self._parameters = source, work, parameters
        self._bound = bool(parameters) or work is not None
        self._entries: dict[int, _Entry] = {}
        # What a call of one state needs, at hand; filled by the first call.
        self._single: Callable[..., Any] | None = None
        self._extra: tuple[Array, ...] = () if work is None else (work,)
        self._ranks: tuple[int, ...] = ()
        self._record: Callable[[Any], Any] | None = None
        self._directs: list[Callable[..., Any]] = []

    def __repr__(self) -> str:
        ins = ", ".join(f"{a.name}{list(a.shape)}" for a in self.inputs)
        outs = ", ".join(f"{a.name}{list(a.shape)}" for a in self.interface.outputs)
        return f"<NativeFunction {self.interface.name}({ins}) -> {outs}>"

    def __reduce__(self) -> tuple[object, ...]:
        raise TorseurError(
            "native code cannot be pickled or copied",
            got=repr(self),
            remedy="compile it again where it is needed: what was compiled before is found on disk",
        )

    @property
    def interface(self) -> Interface:
        return self._source.interface

    @cached_property
    def inputs(self) -> tuple[Argument, ...]:
        """The arguments of a call, in order."""
        return self.interface.free if self._bound else self.interface.inputs

    @property
    def work(self) -> Array | None:
        """What the parameters were turned into, where they are bound."""
        return self._work

    @property
    def work_size(self) -> int:
        """How many numbers its parameters are turned into."""
        self.ready()
        return self._source.work

    def address(self, width: int) -> int | None:
        """Where its inner loop of NumPy's kind is, for a number of lanes; None without native code.

        The loop takes the free inputs, then, where there are parameters, what they were turned into.
        """
        if self._source.backend is Backend.NUMPY:
            return None
        library = self._source.library(width)
        return library["bound" if "bound" in library else "loop"]

    def ready(self, *, batches: bool = False) -> None:
        """Compile what single states need, or batches, now instead of at the first call."""
        if self._source.backend is not Backend.NUMPY:
            self._source.library(self._source.width if batches else 1)

    def bind(self, /, *parameters: ArrayLike, **named: ArrayLike) -> NativeFunction:
        """The function at fixed parameters (arrays with leading dimensions for many sets at once)."""
        if self._bound:
            raise ArgumentError(
                f"the parameters of {self.interface.name} are bound already",
                remedy="bind the function that this one was bound from",
            )
        wanted = self.interface.parameters
        values = ordered(f"{self.interface.name}.bind", wanted, parameters, named)
        if not wanted:
            return self
        batch_shape(f"{self.interface.name}.bind", wanted, values)
        fixed = [np.array(v, dtype=float) for v in values]
        if self._source.backend is Backend.NUMPY:
            return NativeFunction(self._source, None, fixed)
        library = self._source.library(1)
        work = Argument("work", (self._source.work,))
        entry = _Entry(library, "prologue", f"{self.interface.name}.bind", wanted, [work])
        return NativeFunction(self._source, entry.call(*fixed), fixed)

    def __call__(self, /, *args: Any, out: Any = None, threads: int = 1, **named: Any) -> Any:
        """The results for one state or a batch.

        Args:
            args, named: one array per input, of shape ``(..., *shape)``.
            out: array(s) for the results, instead of new ones: one, or a tuple with one per result, such as what an
                earlier call gave; a result that is a single number is returned anew. Inputs may be among them.
            threads: how many share a batch.
        """
        single = self._single or self._prepare()
        if named or len(args) != len(self._ranks):
            args = tuple(ordered(self.interface.name, self.inputs, args, named, _OPTIONS))
        if threads != 1:
            threads = checked_threads(threads)
        if out is not None:
            out = _places(out, self.interface.outputs)
        try:
            for value, rank in zip(args, self._ranks):  # noqa: B905 (hot, and the lengths were compared)
                if value.ndim > rank:
                    result = self._batch(args, out, threads)
                    break
            else:
                # NumPy takes out=None from ufuncs of one result only.
                result = single(*args, *self._extra) if out is None else single(*args, *self._extra, out=out)
        except AttributeError:  # lists and plain numbers
            if all(isinstance(a, np.ndarray) for a in args):
                raise
            return self(*self._arrays(args), out=out, threads=threads)
        except (ValueError, TypeError) as error:
            self._explain(args, out, error)
            raise
        return result if self._record is None else self._record(result)

    def _prepare(self) -> Callable[..., Any]:
        """Ready the call of one state. A batch of parameter sets makes every call a batch."""
        many = self._work is not None and self._work.ndim > 1
        self._ranks = tuple(-1 if many else len(a.shape) for a in self.inputs)
        if len(self.interface.outputs) > 1:
            self._record = _record(self.interface)._make
        if self._source.backend is Backend.NUMPY:
            self._single = self._evaluate
        else:
            self._single = partial(self._first_single, self._source.width if many else 1)
        return self._single

    def _first_single(self, width: int, *args: Any, **options: Any) -> Any:
        """The first call of one state: its code is made or loaded now, not before batches, which have their own."""
        self._single = self._entry(width).call
        return self._single(*args, **options)

    def direct(
        self,
        name: str,
        doc: str,
        *,
        defaults: Sequence[Array] = (),
        fallback: Callable[..., Any] | None = None,
        batches: bool = True,
    ) -> Callable[..., Any] | None:
        """A built-in function for single states, several times quicker to call; None where there cannot be one.

        After the first batch it also takes contiguous rows of states.

        Args:
            name, doc: what it shows.
            defaults: values for the last inputs, which are then not arguments.
            fallback: what takes everything else, such as lists and keywords; this function itself by default.
            batches: whether batches need not go to the fallback.
        """
        unbound = not self._bound and bool(self.interface.parameters)
        if self._source.backend is Backend.NUMPY or unbound or (self._work is not None and self._work.ndim > 1):
            return None
        library = self._source.library(1)
        if "direct" not in library:
            return None
        other = self if fallback is None else fallback
        record = _record(self.interface)
        made = make_direct(library["direct"], name, doc, self.inputs, defaults, self._work, other, record, library)
        if batches:
            self._directs.append(made)
            if self._source.width in self._entries:
                self._serve_batches()
        return made

    def _serve_batches(self) -> None:
        """Let the built-in forms call the loop in lanes, now that it is there."""
        entry = self._entries[self._source.width]
        for made in self._directs:
            serve_batches(made, entry.address, entry)
        self._directs.clear()

    def _arrays(self, args: Sequence[Any]) -> list[Any]:
        batch_shape(self.interface.name, self.inputs, args)
        return [np.asarray(a, dtype=float) for a in args]

    def _batch(self, args: Sequence[Any], out: Any, threads: int) -> Any:
        if self._source.backend is Backend.NUMPY:
            return self._evaluate(*args, out=out)
        entry = self._entry(self._source.width)
        if threads == 1:
            return entry.call(*args, *self._extra) if out is None else entry.call(*args, *self._extra, out=out)
        return in_threads(entry.call, *entry.shapes, [*self._arrays(args), *self._extra], out, threads)

    def _entry(self, width: int) -> _Entry:
        if width in self._entries:
            return self._entries[width]
        with self._source.lock:
            if width not in self._entries:
                library, interface = self._source.library(width), self.interface
                work = [Argument("work", (self._source.work,))] if self._work is not None else []
                ins = [*self.inputs, *work]
                name = "bound" if self._work is not None else "loop"
                self._entries[width] = _Entry(library, name, interface.name, ins, interface.outputs)
                if width == self._source.width:
                    self._serve_batches()
            return self._entries[width]

    def _evaluate(self, *args: Any, out: Any = None) -> Any:
        """The reference evaluator in place of native code."""
        self._common_batch(args)
        free, fixed = iter(args), iter(self._parameters)
        values = [
            next(fixed) if self._bound and a.role is Role.PARAMETER else next(free) for a in self.interface.inputs
        ]
        results = evaluate(self._source.function, *values)
        if out is None:
            results = tuple(r[()] for r in results)
        else:
            targets = out if isinstance(out, tuple) else (out,)
            results = tuple(r if t is None else _written(t, r) for t, r in zip(targets, results, strict=True))
        return results[0] if len(results) == 1 else results

    def _common_batch(self, args: Sequence[Any]) -> tuple[int, ...]:
        """The leading shape of the results; says what is wrong if there is none."""
        parameters = self.interface.parameters if self._bound else ()
        leads = [
            (f"bound {a.name}", np.shape(p)[: np.ndim(p) - len(a.shape)])
            for a, p in zip(parameters, self._parameters, strict=True)
        ]
        return batch_shape(self.interface.name, self.inputs, args, leads)

    def _explain(self, args: Sequence[Any], out: Any, error: Exception) -> None:
        """Say in our words what NumPy refused."""
        batch = self._common_batch(args)
        if out is not None:
            given = out if isinstance(out, tuple) else (out,)
            raise ArgumentError(
                f"{self.interface.name} cannot write its results into 'out'",
                expected=", ".join(f"{o.name}: float64 {(*batch, *o.shape)}" for o in self.interface.outputs),
                got=", ".join(map(described, given)),
            ) from error


def _record(interface: Interface) -> Any:
    """The named tuple of several results; a name that Python keeps to itself becomes its place, as in _1."""
    name = interface.name + "_" * keyword.iskeyword(interface.name)
    return namedtuple(name, [o.name for o in interface.outputs], rename=True)


def _places(out: Any, results: Sequence[Argument]) -> Any:
    """Where results go, as NumPy takes it: a plain tuple, None for single numbers, which cannot be written into."""
    given = out if isinstance(out, tuple) else (out,)
    if len(given) != len(results):
        return out
    places = tuple(
        None if isinstance(x, np.floating) and result.shape == () else x
        for x, result in zip(given, results, strict=True)
    )
    return places if len(places) > 1 else places[0]


def _written(target: Array, result: Array) -> Array:
    if np.shape(target) != result.shape:
        raise ValueError("wrong shape")
    np.copyto(target, result)
    return target
