"""Named arrays of inputs, and what they stand for."""

from __future__ import annotations

import operator
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import product
from math import prod
from numbers import Integral
from typing import TYPE_CHECKING

from torseur.errors import GraphError

if TYPE_CHECKING:
    from torseur.graph.nodes import Expr

__all__ = ["Block", "Role", "checked_name", "checked_shape"]

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Role(Enum):
    """What the numbers of a block are. Work that needs parameters only, or parameters and time only, is hoisted."""

    PARAMETER = "parameter"
    TIME = "time"
    INPUT = "input"
    STATE = "state"


def checked_name(name: str) -> str:
    """A name that every language we write can take."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise GraphError("not a name", expected="letters, digits and _, no digit first", got=repr(name))
    return name


def checked_shape(name: str, shape: int | Sequence[int]) -> tuple[int, ...]:
    """The shape of a block of this name, as a tuple of ints."""
    checked_name(name)
    try:
        dims = tuple(map(operator.index, shape if isinstance(shape, Sequence) else (shape,)))
    except TypeError:
        dims = (-1,)
    if any(n < 0 for n in dims):
        raise GraphError(f"block '{name}' has no shape", expected="a size, or a tuple of sizes", got=repr(shape))
    return dims


@dataclass(frozen=True, eq=False)
class Block:
    """A named array of inputs of one role. Behaves as the sequence of its symbols, in row-major order."""

    name: str
    shape: tuple[int, ...]
    role: Role
    names: tuple[str, ...]
    symbols: tuple[Expr, ...] = field(default=(), repr=False)

    @staticmethod
    def labels(name: str, shape: tuple[int, ...], names: Sequence[str] | None) -> tuple[str, ...]:
        """The names of the elements: given ones checked, or q -> q1, q2 and M -> M1_1, M1_2 made up."""
        if names is None:
            indices = product(*(range(1, n + 1) for n in shape))
            return tuple(name + "_".join(map(str, index)) for index in indices)
        if len(names) != prod(shape):
            raise GraphError(
                f"block '{name}' has the wrong number of names", expected=str(prod(shape)), got=str(len(names))
            )
        if len(set(names)) != len(names):
            twice = sorted(n for n, times in Counter(names).items() if times > 1)
            raise GraphError(
                f"block '{name}' gives one name to several elements", expected="one name each", got=", ".join(twice)
            )
        return tuple(checked_name(n) for n in names)

    @property
    def size(self) -> int:
        return prod(self.shape)

    def __len__(self) -> int:
        return len(self.symbols)

    def __iter__(self) -> Iterator[Expr]:
        return iter(self.symbols)

    def __getitem__(self, index: int | str | tuple[int, ...]) -> Expr:
        """An element by its place in row-major order, by its name, or by one index per dimension."""
        if isinstance(index, str):
            if index not in self.names:
                raise GraphError(f"block '{self.name}' has no element '{index}'", expected=", ".join(self.names))
            index = self.names.index(index)
        elif isinstance(index, tuple):
            index = self._place(index)
        return self.symbols[index]

    def _place(self, indices: tuple[int, ...]) -> int:
        """The place in row-major order; negative indices count from the end."""
        place, fits = 0, len(indices) == len(self.shape)
        for i, n in zip(indices, self.shape, strict=False):
            fits = fits and isinstance(i, Integral) and -n <= i < n
            place = place * n + i % n if fits else 0
        if not fits:
            raise GraphError(
                f"block '{self.name}' has no element {list(indices)}",
                expected=f"{len(self.shape)} integers within its shape {self.shape}",
            )
        return place
