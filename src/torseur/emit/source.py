"""Where compiled code comes from: memory, the disk, or the compiler.

`Code` is the code of one function or of several, one module for each number of lanes; what functions of one module call
in common is compiled once. A `Source` is one function of it.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from functools import cached_property, lru_cache, partial
from threading import RLock
from typing import Any
from weakref import WeakSet

from torseur.emit import cache
from torseur.emit.direct import direct_imports, is_possible, write_direct
from torseur.emit.interface import Interface
from torseur.emit.ir import Lanes, Module, checked_lanes
from torseur.emit.jit import Library, Tier, assemble, host, link
from torseur.emit.loop import write_loop, write_prologue_loop
from torseur.emit.routines import routine_imports
from torseur.emit.staged import inputs_of, write_staged
from torseur.errors import CompileError, TorseurWarning, choice
from torseur.graph.function import Function, Stage, checked_function

__all__ = ["Backend", "Code", "Part", "Source", "module_text"]


class Backend(Enum):
    """What runs a function."""

    AUTOMATIC = "automatic"  # native code; where that is impossible, NumPy with a warning
    NATIVE = "native"
    NUMPY = "numpy"  # the reference evaluator


_all_code: WeakSet[Code] = WeakSet()


def _unlock() -> None:
    """In a forked child nobody is left to release what was locked."""
    for code in _all_code:
        code.lock = RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_unlock)


class Code:
    """The code of some functions.

    Args:
        key: says all that decides them.
        build: makes them, by name, when they are needed.
        names: of the functions; none of one that is alone.
        tier, backend: see `compile`.
        interfaces: of the functions, as far as they are known.
        exact: see `Module`.
    """

    def __init__(
        self,
        key: str,
        build: Callable[[], Mapping[str, Function]],
        names: Sequence[str] = ("",),
        tier: Tier | str = Tier.FULL,
        backend: Backend | str = Backend.AUTOMATIC,
        interfaces: Mapping[str, Interface] | None = None,
        *,
        exact: bool = False,
    ) -> None:
        self._exact = exact
        self.key, self._build, self._names, self.tier = key, build, set(names), choice(Tier, tier, "tier")
        self.backend = _available(choice(Backend, backend, "backend"))
        self.interfaces = dict(interfaces or {})
        self.works: dict[str, int] = {}
        """How many numbers the parameters of each are turned into; known with the code."""
        self._libraries: dict[int, Library] = {}
        _all_code.add(self)
        self.lock = RLock()  # code must be linked once: what replaced it would be freed under the feet of its callers

    @cached_property
    def functions(self) -> dict[str, Function]:
        return {name: checked_function(f, "what is to be built for a key") for name, f in self._build().items()}

    def library(self, width: int) -> Library:
        """Linked code for a number of lanes."""
        with self.lock:
            if width not in self._libraries:
                key = cache.cache_key(self.key, width, self.tier, is_possible(), self._exact)
                self._libraries[width] = cache.used(key, self._linked, partial(self._made, width))
            return self._libraries[width]

    def _made(self, width: int) -> tuple[dict[str, Any], bytes]:
        text, header = module_text(self.functions, Lanes(width), exact=self._exact)
        return header, assemble(text, host(), self.tier)

    def _linked(self, header: dict[str, Any], code: bytes) -> Library:
        """Code with its header, which must be that of these functions as far as they are known."""
        found = {name: Interface.from_header(one) for name, one in header["functions"].items()}
        works = {name: int(one["work"]) for name, one in header["functions"].items()}
        if found.keys() != self._names or not all(found[n].fits(known) for n, known in self.interfaces.items()):
            raise CompileError("code for other arguments")
        entries = [_symbol(name, entry) for name, one in header["functions"].items() for entry in tuple(one["entries"])]
        is_direct = any(entry.endswith("direct") for entry in entries)
        imports = routine_imports(header["routines"]) | (direct_imports() if is_direct else {})
        library = link(code, tuple(entries), imports)
        self.interfaces, self.works = found | self.interfaces, works
        return library


def module_text(functions: Mapping[str, Function], lanes: Lanes, *, exact: bool = False) -> tuple[str, dict[str, Any]]:
    """The LLVM module of some functions, and what must be known of it: arguments, loops, routines that it needs."""
    module, told = Module(lanes, exact=exact), {}
    for name, function in functions.items():
        interface = Interface.of(function)
        entries, work = _write_entries(module, name, function)
        told[name] = {**interface.to_header(), "entries": entries, "work": work}
    return module.text(), {"functions": told, "routines": list(module.routines)}


def _write_entries(module: Module, name: str, function: Function) -> tuple[list[str], int]:
    """The loops of a function, and the size of its parameters' work."""
    staged = write_staged(module, function)
    entries = ["loop"]
    write_loop(module, _symbol(name, "loop"), function, staged, bound=False)
    if inputs_of(function, Stage.PARAMETER):
        entries += ["bound", "prologue"]
        write_loop(module, _symbol(name, "bound"), function, staged, bound=True)
        write_prologue_loop(module, _symbol(name, "prologue"), function, staged)
    if is_possible() and write_direct(module, _symbol(name, "direct"), function, staged, bound=True):
        entries.append("direct")
    return entries, staged.work[0]


def _symbol(name: str, entry: str) -> str:
    """What a loop is called in the code; of a function that has a module to itself, just what it is."""
    return f"{name}.{entry}" if name else entry


class Part:
    """The loops of one function in linked code; the addresses hold as long as this object lives."""

    def __init__(self, library: Library, name: str) -> None:
        self._library, self._name = library, name

    def __getitem__(self, entry: str) -> int:
        return self._library[_symbol(self._name, entry)]

    def __contains__(self, entry: str) -> bool:
        return _symbol(self._name, entry) in self._library


class Source:
    """One function of some code.

    Args:
        code: that it is in.
        name: its name there; none where it is alone.
        lanes: of batches; by default what the processor's registers hold.
        batches: whether it is called with batches alone: code for single states is not made to know its arguments.
    """

    def __init__(self, code: Code, name: str = "", lanes: int | None = None, *, batches: bool = False) -> None:
        self.code, self.name, self.backend = code, name, code.backend
        self._lanes, self._batches = checked_lanes(lanes), batches

    @property
    def lock(self) -> RLock:
        return self.code.lock

    @property
    def width(self) -> int:
        return self._lanes or host().lanes.width

    @property
    def function(self) -> Function:
        return self.code.functions[self.name]

    @property
    def work(self) -> int:
        return self.code.works.get(self.name, 0)

    @property
    def interface(self) -> Interface:
        known = self.code.interfaces
        if self.name not in known:
            if self.backend is Backend.NUMPY:
                known[self.name] = Interface.of(self.function)
            else:
                self.library(self.width if self._batches else 1)
        return self.code.interfaces[self.name]

    def library(self, width: int) -> Part:
        return Part(self.code.library(width), self.name)


def _available(backend: Backend) -> Backend:
    if backend is Backend.NUMPY:
        return backend
    try:
        host()
    except CompileError as error:
        if backend is Backend.NATIVE:
            raise
        _warn_of_fallback(str(error.got))
        return Backend.NUMPY
    return Backend.NATIVE


@lru_cache(maxsize=1)
def _warn_of_fallback(reason: str) -> None:
    """Once is enough."""
    warnings.warn(f"falling back to NumPy, much slower: {reason}", TorseurWarning, stacklevel=5)
