"""One LLVM module under construction: kernels, the helpers they call, constants and declarations."""

from __future__ import annotations

import itertools
import platform
from collections.abc import Sequence
from dataclasses import dataclass

from torseur.emit.ir import Body, Lanes

__all__ = ["Kernel", "Module", "attributes_of", "restore_float_flags", "save_float_flags"]


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
