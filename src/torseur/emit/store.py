"""What is derived from a description, found again: facts and native functions under one key.

Found or derived, it comes by the same road. Where nothing can say what is described, such as a Python function or a
kind of another package, everything is derived anew.

>>> from torseur.graph import Function, Graph
>>> x = Graph().block("x", 1)
>>> store = Store.of("a doubled number")
>>> store.facts(lambda: ("twice", 2))
('twice', 2)
>>> float(store.function("double", lambda: Function("double", [x], {"y": [2.0 * x[0]]}))([3.0])[0])
6.0
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from torseur.emit import cache
from torseur.emit.integrate import Integrator, Tableau, integrator, integrator_keyed
from torseur.emit.interface import Argument
from torseur.emit.jit import Tier, is_native
from torseur.emit.native import (
    NativeFunction,
    compile,
    compile_keyed,
    compile_together,
    compile_together_keyed,
)
from torseur.graph.collecting import collector_at_rest
from torseur.graph.function import Function

__all__ = ["Store"]

Facts = TypeVar("Facts")


@dataclass(frozen=True)
class Store:
    """The place of what is derived from one description; none without a key.

    Our own sources and the processor belong to every key. `build` and `make` are called when something is not there.
    """

    key: str | None

    @classmethod
    def of(cls, *texts: str | None) -> Store:
        """For what some texts describe together; no place where one of them could not be written."""
        if any(text is None for text in texts):
            return cls(None)
        return cls(hashlib.sha256(repr(texts).encode()).hexdigest())

    def part(self, *texts: str | None) -> Store:
        """For what further texts make of it."""
        return Store.of(self.key, *texts)

    def facts(self, make: Callable[[], Facts]) -> Facts:
        """A plain record: names, sizes, whatever can be pickled."""
        if self.key is None or not is_native():  # without native code there is nothing to keep facts beside
            with collector_at_rest():
                return make()
        return cache.remembered(self.key, make)

    def function(
        self,
        name: str,
        build: Callable[[], Function],
        *,
        lanes: int | None = None,
        tier: Tier = Tier.FULL,
        batches: bool = False,
        exact: bool = False,
    ) -> NativeFunction:
        """One function; see `compile_keyed`."""
        if self.key is None:
            return compile(build(), lanes=lanes, tier=tier, exact=exact)
        return compile_keyed(f"{self.key} {name}", build, lanes=lanes, tier=tier, batches=batches, exact=exact)

    def functions(
        self, names: Sequence[str], build: Callable[[], Mapping[str, Function]], *, lanes: int | None = None
    ) -> dict[str, NativeFunction]:
        """Functions that are needed together."""
        if self.key is None:
            return compile_together(build(), lanes=lanes)
        return compile_together_keyed(f"{self.key} {', '.join(names)}", names, build, lanes=lanes)

    def integrator(
        self,
        inputs: Sequence[Argument],
        build: Callable[[], tuple[Function, Function | None]],
        method: Tableau,
        *,
        lanes: int | None = None,
    ) -> Integrator:
        """The integrator of a rate with a correction; `inputs` are those of the rate."""
        if self.key is None:
            rate, correct = build()
            return integrator(rate, method, correct=correct, lanes=lanes)
        return integrator_keyed(self.key, inputs, build, method, lanes=lanes)
