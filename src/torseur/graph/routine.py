"""Algorithms in loops, for linear algebra of more than a few rows.

Straight-line code of an elimination grows with the cube of its rows; a loop does not. A *routine* is such an algorithm,
written once as a small Python function and translated from its syntax tree into native code and into every text
language. What it may use is what all of them have:

- whole numbers (annotated ``int``), then arrays of reals with one index from 0 (``In``, ``Out``, ``Work``);
- assignments (``+=`` too), ``for`` over ``range`` by steps of 1 or -1, ``while``, ``if``, ``return`` without a value;
- ``+ - * /``, comparisons, ``and``, ``or``, ``not``; ``abs`` and ``sqrt`` of reals, ``int`` of a real that holds a
  whole number; numbers that the module has under a name; ``EPSILON``, the rounding unit.

A name is a whole number or a real for good: what its first assignment gives it. It is assigned on every way to where
it is read, and a loop's variable is not read after the loop. Loops leave their own variables and bounds alone. Both
sides of ``and`` and ``or`` may be computed. Results and working arrays start as zeros. Whatever else is used is refused
when the routine is first translated (`torseur.graph.routine_syntax`).
"""

from __future__ import annotations

import ast
import hashlib
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy import sqrt
from numpy.typing import NDArray

from torseur.errors import CompileError
from torseur.graph.blocks import Block
from torseur.graph.routine_syntax import Kind, kinds_of, tree_of

__all__ = ["EPSILON", "In", "Loops", "Out", "Routine", "Work", "sqrt"]

In: TypeAlias = NDArray[np.float64]
"""An array that is read."""

Out: TypeAlias = NDArray[np.float64]
"""An array of results."""

Work: TypeAlias = NDArray[np.float64]
"""An array for the routine itself."""

EPSILON = sys.float_info.epsilon
"""The distance from 1 to the next number: another one where numbers are of another precision."""

Sizes = Callable[..., int]
"""The length of an array, from the whole numbers of a call."""


@dataclass(frozen=True)
class Routine:
    """An algorithm in loops.

    Args:
        body: the Python function; its arguments are whole numbers, arrays that are read, results, working arrays.
        outputs: the lengths of the results, in the order of the arguments.
        work: the lengths of the working arrays.
        count: how many operations of each kind it takes at most, from the whole numbers.
        internal: whether only other routines read the results: these are not set where they are not wanted.
        in_step: whether what it does depends on whole numbers and tables alone.

    A routine whose first array is called ``wanted`` does nothing where that holds 0. One that is `in_step` does the
    same for all states: nothing but whole numbers and tables decides where it goes, so that native code has a state
    in each lane.
    """

    body: Callable[..., None]
    outputs: tuple[Sizes, ...]
    work: tuple[Sizes, ...] = ()
    count: Callable[..., dict[str, int]] = field(default=lambda *whole: {}, compare=False)
    internal: bool = False
    in_step: bool = False

    @property
    def name(self) -> str:
        return self.body.__name__

    @property
    def description(self) -> str:
        """What it does, on one line."""
        return " ".join((self.body.__doc__ or self.name).split())

    @cached_property
    def _checked(self) -> tuple[ast.FunctionDef, dict[str, Kind]]:
        tree = tree_of(self.body)
        return tree, kinds_of(tree, len(self.outputs), len(self.work))

    @property
    def tree(self) -> ast.FunctionDef:
        """Its syntax tree, simplified, without the description."""
        return self._checked[0]

    @property
    def kinds(self) -> Mapping[str, Kind]:
        """Name -> int or real, of every name that is no array."""
        return self._checked[1]

    @cached_property
    def arguments(self) -> Mapping[str, str]:
        """Name -> int, In, Out or Work."""
        return {arg.arg: ast.unparse(arg.annotation) for arg in self.tree.args.args if arg.annotation is not None}

    def named(self, kind: str) -> tuple[str, ...]:
        """The arguments of one kind."""
        return tuple(name for name, argument in self.arguments.items() if argument == kind)

    @cached_property
    def digest(self) -> str:
        """Of what Python made of the function: another one is another routine, and nothing is parsed to see that."""
        code = self.body.__code__
        known = [self.body.__globals__.get(name) for name in code.co_names]
        constants = [x for x in known if isinstance(x, (int, float))]  # of the module, by name
        said = code.co_code, code.co_consts, code.co_names, code.co_varnames, self.body.__annotations__, constants
        return hashlib.sha256(repr(said).encode()).hexdigest()

    def __call__(self, whole: Sequence[int], arrays: Sequence[Sequence[float]]) -> list[float]:
        """The results, one after the other, computed by Python itself."""
        outs = [np.zeros(size(*whole)) for size in self.outputs]
        work = [np.zeros(size(*whole)) for size in self.work]
        with np.errstate(all="ignore"):
            self.body(*whole, *(np.array(array, dtype=float) for array in arrays), *outs, *work)
        return [float(x) for out in outs for x in out]


@dataclass(frozen=True)
class Loops:
    """How a call is computed: a routine, its whole numbers, the blocks it reads, and arrays that are always the same.

    The tables come before the blocks among the arrays that the routine reads. Where a call with these tables sets all
    results, they need not start as zeros; where the tables decide how many operations it takes, they are `counted`.
    """

    routine: Routine
    whole: tuple[int, ...]
    inputs: tuple[Block, ...]
    tables: tuple[tuple[float, ...], ...] = ()
    sets_all: bool = False
    counted: Mapping[str, int] | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        given = len(self.whole), len(self.tables) + len(self.inputs)
        needed = len(self.routine.named("int")), len(self.routine.named("In"))
        if given != needed or any(block.shape == () for block in self.inputs):
            raise CompileError(
                "a routine is called with other arguments than it has",
                where=self.routine.name,
                expected=f"{needed[0]} whole numbers, {needed[1]} arrays",
                got=f"{given[0]} whole numbers, {given[1]} tables and blocks: {[b.shape for b in self.inputs]}",
            )

    @property
    def digest(self) -> str:
        tables = hashlib.sha256(repr(self.tables).encode()).hexdigest()
        return f"loops:{self.routine.name}:{self.routine.digest}:{self.whole}:{[b.size for b in self.inputs]}:{tables}"

    @property
    def outs(self) -> tuple[int, ...]:
        """The lengths of the results."""
        return tuple(size(*self.whole) for size in self.routine.outputs)

    @property
    def is_gated(self) -> bool:
        """Whether the first block says that the call is wanted."""
        return bool(self.inputs) and self.inputs[0].name == "wanted"

    @property
    def works(self) -> tuple[int, ...]:
        return tuple(size(*self.whole) for size in self.routine.work)

    @property
    def count(self) -> dict[str, int]:
        return self.routine.count(*self.whole) if self.counted is None else dict(self.counted)

    def reference(self, values: Sequence[Any]) -> list[float]:
        """The results of one state, from the flat values of its blocks."""
        flat = [float(x) for x in values]
        arrays: list[Sequence[float]] = [list(table) for table in self.tables]
        for block in self.inputs:
            arrays.append(flat[: block.size])
            del flat[: block.size]
        return self.routine(self.whole, arrays)
