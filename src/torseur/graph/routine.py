"""Algorithms in loops, for linear algebra of more than a few rows.

Straight-line code of an elimination grows with the cube of its rows; a loop does not. A *routine* is such an algorithm,
written once as a small Python function and translated from its syntax tree into native code and into every text
language. What it may use is what all of them have:

- whole numbers (annotated ``int``) and arrays of reals with one index from 0 (``In``, ``Out``, ``Work``);
- assignments, ``for`` over ``range``, ``while``, ``if``, ``return`` without a value;
- ``+ - * /``, comparisons, ``and``, ``or``, ``not``; ``abs``, ``sqrt``, ``int`` of a real that holds a whole number.

A name is a whole number or a real for good: what its first assignment gives it. Results start as zeros.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import sqrt
from typing import Any

from torseur.graph.blocks import Block

__all__ = ["In", "Loops", "Out", "Routine", "Work", "sqrt"]

In = Sequence[float]
"""An array that is read."""

Out = list[float]
"""An array of results."""

Work = list[float]
"""An array for the routine itself."""

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

    A routine whose first array is called ``wanted`` does nothing where that holds 0.
    """

    body: Callable[..., None]
    outputs: tuple[Sizes, ...]
    work: tuple[Sizes, ...] = ()
    count: Callable[..., dict[str, int]] = field(default=lambda *whole: {}, compare=False)
    internal: bool = False

    @property
    def name(self) -> str:
        return self.body.__name__

    @cached_property
    def tree(self) -> ast.FunctionDef:
        """Its syntax tree, without the description."""
        function = ast.parse(textwrap.dedent(inspect.getsource(self.body))).body[0]
        assert isinstance(function, ast.FunctionDef)
        if ast.get_docstring(function) is not None:
            function.body = function.body[1:]
        return function

    @cached_property
    def arguments(self) -> Mapping[str, str]:
        """Name -> int, In, Out or Work."""
        return {arg.arg: ast.unparse(arg.annotation) for arg in self.tree.args.args if arg.annotation is not None}

    def named(self, kind: str) -> tuple[str, ...]:
        """The arguments of one kind."""
        return tuple(name for name, found in self.arguments.items() if found == kind)

    @cached_property
    def digest(self) -> str:
        return hashlib.sha256(ast.dump(self.tree).encode()).hexdigest()

    def __call__(self, whole: Sequence[int], arrays: Sequence[Sequence[float]]) -> list[float]:
        """The results, one after the other, computed by Python itself."""
        outs = [[0.0] * size(*whole) for size in self.outputs]
        work = [[0.0] * size(*whole) for size in self.work]
        self.body(*whole, *arrays, *outs, *work)
        return [x for out in outs for x in out]


@dataclass(frozen=True)
class Loops:
    """How a call is computed: a routine, its whole numbers, the blocks it reads, and arrays that are always the same.

    The tables come before the blocks among the arrays that the routine reads.
    """

    routine: Routine
    whole: tuple[int, ...]
    inputs: tuple[Block, ...]
    tables: tuple[tuple[float, ...], ...] = ()

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
        return self.routine.count(*self.whole)

    def reference(self, values: Sequence[Any]) -> list[float]:
        """The results of one state, from the flat values of its blocks."""
        flat = [float(x) for x in values]
        arrays: list[Sequence[float]] = [list(table) for table in self.tables]
        for block in self.inputs:
            arrays.append(flat[: block.size])
            del flat[: block.size]
        return self.routine(self.whole, arrays)
