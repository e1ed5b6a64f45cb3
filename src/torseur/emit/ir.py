"""Writing the assembly language of LLVM as text: instructions into bodies, and one module under construction, with its
kernels, the helpers they call, constants and declarations.

Text is the quickest way from Python to LLVM: a line costs about a microsecond to write and another to parse, a tenth of
what an object per instruction would.
"""

from __future__ import annotations

import itertools
import operator
import platform
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from torseur.errors import ArgumentError

__all__ = [
    "Body",
    "Kernel",
    "Lanes",
    "Module",
    "attributes_of",
    "checked_lanes",
    "restore_float_flags",
    "save_float_flags",
]


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


def attributes_of(lanes: Lanes) -> str:
    """Of functions that work on so many lanes."""
    width = 64 * lanes.width
    # Left to itself LLVM spills wide registers to a stack aligned for 16 bytes. With 64-byte registers nearly every
    # spill then straddles two cache lines: 2430 cycles instead of 1580 for the inverse dynamics of 12 joints.
    stack = f"alignstack={min(lanes.size, 64)} " if lanes.size > 16 else ""
    return f'nounwind {stack}"min-legal-vector-width"="{width}" "prefer-vector-width"="{width}"'


_RARE = '!0 = !{!"branch_weights", i32 1000000, i32 1}'


@dataclass(frozen=True)
class Kernel:
    """A kernel in a module: its name and how many values of scratch memory it and what it calls need."""

    name: str
    scratch: int


class Module:
    """Collects the text of a module for one lane width.

    Args:
        lanes: the width.
        exact: whether lanes compute what scalar code does, to the last bit: elementary functions lane by lane.
    """

    def __init__(self, lanes: Lanes, *, exact: bool = False) -> None:
        self.lanes, self.exact = lanes, exact
        self.kernels: dict[str, Kernel] = {}
        self.helpers: dict[object, str] = {}
        self.routines: dict[str, None] = {}
        """The symbols of routines that are called, each once."""
        self._functions: list[str] = []
        self._globals: dict[str, str] = {}
        self._serial = itertools.count()

    def fresh(self, stem: str) -> str:
        return f"{stem}.{self.lanes.tag}.{next(self._serial)}"

    def define(self, signature: str, body: Body, attributes: str = "", *, internal: bool = True) -> None:
        linkage = "internal " if internal else ""
        self._functions.append(f"define {linkage}{signature} {attributes} #0 {{\n{body.text()}\n}}\n")

    def declare(self, result: str, name: str, arguments: Sequence[str]) -> str:
        """Make a function from outside (an intrinsic, the C library) known; gives its name."""
        self._globals[name] = f"declare {result} @{name}({', '.join(arguments)})"
        return name

    def constants(self, values: Sequence[float]) -> str:
        """The name of a global array of numbers."""
        scalar = Lanes(1)
        text = ", ".join(f"double {scalar.number(v)}" for v in values)
        name = f"data.{next(self._serial)}"
        self._globals[name] = f"@{name} = internal constant [{len(values)} x double] [{text}]"
        return name

    def allocate(self, body: Body, size: int) -> tuple[str, str]:
        """Memory from the heap, aligned for values: what to free, and where the memory begins.

        When there is none, the function returns at once and leaves the interpreter's MemoryError behind.
        """
        edge = self.lanes.alignment
        block = body.value(f"call ptr @{self.declare('ptr', 'malloc', ['i64'])}(i64 {size + edge})")
        with body.when(body.value(f"icmp eq ptr {block}, null")):
            state = body.value(f"call i32 @{self.declare('i32', 'PyGILState_Ensure', [])}()")
            body.value(f"call ptr @{self.declare('ptr', 'PyErr_NoMemory', [])}()")
            body.do(f"call void @{self.declare('void', 'PyGILState_Release', ['i32'])}(i32 {state})")
            body.do("ret void")
            body.label(body.fresh("never"))
        address = body.value(f"ptrtoint ptr {block} to i64")
        up = body.value(f"and i64 {body.value(f'add i64 {address}, {edge - 1}')}, {-edge}")
        return block, body.value(f"inttoptr i64 {up} to ptr")

    def free(self, body: Body, block: str) -> None:
        body.do(f"call void @{self.declare('void', 'free', ['ptr'])}(ptr {block})")

    def integers(self, values: Sequence[int]) -> str:
        """The name of a global array of whole numbers."""
        name = f"data.{next(self._serial)}"
        text = ", ".join(f"i64 {v}" for v in values)
        self._globals[name] = f"@{name} = internal constant [{len(values)} x i64] [{text}]"
        return name

    def external(self, name: str) -> None:
        """Make a variable from outside known; only its address is used."""
        self._globals[name] = f"@{name} = external global i8"

    def all_lanes(self, body: Body, truth: str) -> str:
        """Whether a condition holds in every lane."""
        if self.lanes.width == 1:
            return truth
        bits = body.value(f"bitcast {self.lanes.truth} {truth} to i{self.lanes.width}")
        return body.value(f"icmp eq i{self.lanes.width} {bits}, -1")

    def text(self) -> str:
        tail = f"attributes #0 = {{ {attributes_of(self.lanes)} }}\n"
        return "\n".join([*self._globals.values(), *self._functions, tail, _RARE])


# A lane computes both branches of a choice, so code may divide by zero without any result being infinite. NumPy would
# warn of that: the flags are put back as they were found. Results say for themselves whether they are nan.
_X86 = platform.machine().lower() in ("x86_64", "amd64", "i386", "i686")
_ALL_EXCEPTIONS = 0x1F  # FE_ALL_EXCEPT on ARM and RISC-V
_CLEARABLE = platform.machine().lower().startswith(("aarch64", "arm", "riscv"))


def save_float_flags(module: Module, body: Body) -> str:
    """Remember the flags; gives where."""
    if not _X86:
        return ""
    place = body.value("alloca i32, align 4")
    body.do(f"call void @{module.declare('void', 'llvm.x86.sse.stmxcsr', ['ptr'])}(ptr {place})")
    return place


def restore_float_flags(module: Module, body: Body, place: str) -> None:
    if _X86:
        body.do(f"call void @{module.declare('void', 'llvm.x86.sse.ldmxcsr', ['ptr'])}(ptr {place})")
    elif _CLEARABLE:
        body.do(f"call i32 @{module.declare('i32', 'feclearexcept', ['i32'])}(i32 {_ALL_EXCEPTIONS})")
