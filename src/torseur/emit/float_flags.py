"""Leaving no floating-point flags behind.

A lane computes both branches of a choice, so code may divide by zero without any result being infinite. NumPy would
warn of that: the flags are put back as they were found. Results say for themselves whether they are nan.
"""

from __future__ import annotations

import platform

from torseur.emit.ir import Body
from torseur.emit.module import Module

__all__ = ["restore_float_flags", "save_float_flags"]

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
