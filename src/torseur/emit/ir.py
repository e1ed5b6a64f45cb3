"""Writing LLVM's assembly language as text.

Text is the quickest way from Python to LLVM: a line costs about a microsecond to write and another to parse, a tenth of
what an object per instruction would.
"""

from __future__ import annotations

import operator
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from torseur.errors import ArgumentError

__all__ = ["Body", "Lanes", "checked_lanes"]


@dataclass(frozen=True)
class Lanes:
    """How many states one instruction works on, and the types that follow from it.

    >>> Lanes(1).real, Lanes(4).real
    ('double', '<4 x double>')
    """

    width: int

    @property
    def real(self) -> str:
        return self._of("double")

    @property
    def truth(self) -> str:
        return self._of("i1")

    @property
    def integer(self) -> str:
        return self._of("i64")

    @property
    def size(self) -> int:
        """Bytes of one value."""
        return 8 * self.width

    @property
    def alignment(self) -> int:
        """Of memory that holds values: a cache line at least."""
        return max(64, self.size)

    @property
    def suffix(self) -> str:
        """How LLVM's intrinsics name the type."""
        return "f64" if self.width == 1 else f"v{self.width}f64"

    @property
    def tag(self) -> str:
        """What our own functions put behind their names."""
        return f"x{self.width}"

    def number(self, value: float) -> str:
        """A constant, bit for bit."""
        return self._splat("double", f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}")

    def whole(self, value: int) -> str:
        return self._splat("i64", str(value))

    def flag(self, value: bool) -> str:
        return self._splat("i1", "true" if value else "false")

    def _of(self, scalar: str) -> str:
        return scalar if self.width == 1 else f"<{self.width} x {scalar}>"

    def _splat(self, scalar: str, text: str) -> str:
        return text if self.width == 1 else f"splat ({scalar} {text})"


def checked_lanes(lanes: int | None) -> int | None:
    """A number of lanes we can write code for; None stands for the processor's own."""
    if lanes is None:
        return None
    try:
        width = 0 if isinstance(lanes, bool) else operator.index(lanes)
    except TypeError:
        width = 0
    if width not in (1, 2, 4, 8, 16):
        raise ArgumentError("wrong number of lanes", expected="1, 2, 4, 8 or 16", got=repr(lanes))
    return width


class Body:
    """The lines of one function, its values numbered as they come."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.block = "0"
        self._count = 0

    def fresh(self, stem: str = "v") -> str:
        self._count += 1
        return f"{stem}{self._count}"

    def value(self, instruction: str) -> str:
        """Append an instruction that has a result; its name is returned."""
        self._count += 1
        name = f"%v{self._count}"
        self.lines.append(f"  {name} = {instruction}")
        return name

    def do(self, instruction: str) -> None:
        self.lines.append(f"  {instruction}")

    def label(self, name: str) -> None:
        self.lines.append(f"{name}:")
        self.block = name

    @contextmanager
    def loop(self, count: str | int, step: int = 1) -> Iterator[str]:
        """``for index in range(0, count, step)``; the index is what is yielded."""
        head, inside, after = (self.fresh(stem) for stem in ("head", "inside", "after"))
        index, before, place = self.fresh("%i"), self.block, len(self.lines) + 2
        self.do(f"br label %{head}")
        self.label(head)
        self.lines.append("")  # the phi is known when the end of the loop is
        self.do(f"br i1 {self.value(f'icmp slt i64 {index}, {count}')}, label %{inside}, label %{after}")
        self.label(inside)
        yield index
        following = self.value(f"add i64 {index}, {step}")
        self.lines[place] = f"  {index} = phi i64 [ 0, %{before} ], [ {following}, %{self.block} ]"
        self.do(f"br label %{head}")
        self.label(after)

    @contextmanager
    def when(self, condition: str) -> Iterator[None]:
        """``if condition:``; nothing computed inside is visible outside."""
        inside, after = self.fresh("then"), self.fresh("after")
        self.do(f"br i1 {condition}, label %{inside}, label %{after}")
        self.label(inside)
        yield
        self.do(f"br label %{after}")
        self.label(after)

    def at(self, pointer: str, offset: int) -> str:
        """The address some bytes behind a pointer."""
        return pointer if offset == 0 else self.value(f"getelementptr inbounds i8, ptr {pointer}, i64 {offset}")

    def load(self, lanes: Lanes, pointer: str, slot: int) -> str:
        return self.value(f"load {lanes.real}, ptr {self.at(pointer, slot * lanes.size)}, align {lanes.size}")

    def store(self, lanes: Lanes, value: str, pointer: str, slot: int) -> None:
        self.do(f"store {lanes.real} {value}, ptr {self.at(pointer, slot * lanes.size)}, align {lanes.size}")

    def text(self) -> str:
        return "\n".join(self.lines)
