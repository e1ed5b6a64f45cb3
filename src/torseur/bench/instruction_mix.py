"""What the instructions of a kernel allow at best, and what it takes.

The emitted assembly of the straight line is counted by execution resource; the busiest resource gives a lower bound on
the cycles of one pass. Latencies, register moves and the way instructions are decoded are left out: no processor of the
assumed kind can be faster, however well it overlaps passes. A measurement below the bound is reported as unreliable.
"""

from __future__ import annotations

import ctypes
import re
from dataclasses import dataclass, fields

import numpy as np

from torseur.bench.timing import Clock, best_of_each
from torseur.emit.ir import Body, Lanes
from torseur.emit.jit import assemble, assembly, host, link
from torseur.emit.module import Module
from torseur.emit.staged import Staged, inputs_of, write_staged
from torseur.graph import Function, Stage

__all__ = ["ASSUMPTION", "Core", "Kernel", "Mix", "compared", "instructions_of", "is_known"]

ASSUMPTION = (
    "an Intel server core since Ice Lake begins at most, per cycle:",
    "2 vector sums, products or multiply-adds; all vector work on 2 ports at 512 bits, 3 below;",
    "2 loads, 1 store, 5 instructions; a division or root keeps the divider for 4, 8 or 16 cycles by width",
)


@dataclass(frozen=True)
class Mix:
    """Instructions of one pass by what they need. One that reads memory and computes counts for both."""

    arithmetic: int = 0  # vector or scalar sums, products, multiply-adds
    other: int = 0  # vector logic, shifts, comparisons, blends, shuffles
    divider: int = 0  # cycles for which divisions and roots keep the divider busy
    loads: int = 0
    stores: int = 0
    all: int = 0

    def __add__(self, more: Mix) -> Mix:
        return Mix(*(getattr(self, f.name) + getattr(more, f.name) for f in fields(Mix)))


@dataclass(frozen=True)
class Core:
    """How much of each a core can begin in a cycle; see `ASSUMPTION`."""

    lanes: Lanes

    def cycles(self, mix: Mix) -> dict[str, float]:
        """For each resource, the cycles it is needed for."""
        vector = 2 if self.lanes.width == 8 else 3
        return {
            "arithmetic": mix.arithmetic / 2,
            "vector ports": (mix.arithmetic + mix.other) / vector,
            "divider": float(mix.divider),
            "loads": mix.loads / 2,
            "stores": float(mix.stores),
            "instructions": mix.all / 5,
        }


def is_known() -> bool:
    """Whether instructions of this processor can be told apart."""
    return host().triple.startswith(("x86_64", "amd64"))


# -- counting ----------------------------------------------------------------------------------------------------------
_ARITHMETIC = re.compile(r"v?(add|sub|mul|min|max|fn?m(add|sub)\d+)[ps]d$")
_DIVIDER = re.compile(r"v?(div|sqrt)[ps]d$")
_MOVE = re.compile(r"v?mov|vzeroupper")
_BROADCAST = re.compile(r"vp?broadcast")
_ENDS_IN_MEMORY = re.compile(r"\([^()]*\)( *\{%k\d\})?$")
_READS_ONLY = ("cmp", "test", "call", "lea", "prefetch")


def instructions_of(text: str, functions: str) -> Mix:
    """The mix of the functions whose label matches, each from its start to its first return.

    What follows the first return is the path of huge angles, which LLVM was told is rare.
    """
    total, inside = Mix(), False
    for line in text.splitlines():
        label = re.match(r'"?([\w.$]+)"?:', line)
        if label:
            inside = inside or re.fullmatch(functions, label[1]) is not None
        elif inside and line.startswith("\t") and not line.startswith("\t."):
            word, _, operands = line.strip().partition("\t")
            if word.startswith("ret"):
                inside = False
            total += _instruction(word, operands.partition("#")[0].strip())
    return total


def _instruction(word: str, operands: str) -> Mix:
    """One instruction in the notation of AT&T: operands before the result."""
    memory = "(" in operands and not word.startswith("lea")
    store = memory and _ENDS_IN_MEMORY.search(operands) is not None and not word.startswith(_READS_ONLY)
    arithmetic, divides = _ARITHMETIC.match(word) is not None, _DIVIDER.match(word) is not None
    only_moves = _MOVE.match(word) is not None or (memory and _BROADCAST.match(word) is not None)
    vector = word.startswith(("v", "k")) or "%xmm" in operands
    return Mix(
        arithmetic=int(arithmetic),
        other=int(vector and not arithmetic and not divides and not only_moves),
        divider=int(divides) * (16 if "%zmm" in operands else 8 if "%ymm" in operands else 4),
        loads=int(memory and not store),
        stores=int(store),
        all=1,
    )


# -- measuring ---------------------------------------------------------------------------------------------------------
class Kernel:
    """The straight line of a function on lanes, alone: no transposition of rows, no call from Python."""

    def __init__(self, function: Function, lanes: Lanes) -> None:
        self.function, self.lanes = function, lanes
        module = Module(lanes)
        staged = write_staged(module, function)
        self.slots = self._write(module, staged)
        self.text, self.label = module.text(), re.escape(staged.body.name)

    def _write(self, module: Module, staged: Staged) -> int:
        """``void repeat(i64 passes, ptr memory)``; gives the values of memory it needs."""
        own = [self.function.inputs[k].size for k in inputs_of(self.function, Stage.STATE)]
        outs = [len(o.exprs) for o in self.function.outputs]
        body, pointers, slot = Body(), [], 0
        for size in [*own, *staged.work, *outs, staged.scratch]:
            pointers.append(body.at("%memory", slot * self.lanes.size))
            slot += size
        with body.loop("%passes"):
            body.do(f"call void @{staged.body.name}({', '.join(f'ptr {p}' for p in pointers)})")
        body.do("ret void")
        module.define("void @repeat(i64 %passes, ptr %memory)", body, internal=False)
        return slot

    def mix(self) -> Mix:
        """The instructions of one pass."""
        return instructions_of(assembly(self.text, host()), rf"{self.label}(\.\d+)?")

    def cycles(self, budget: float) -> float:
        """The cycles of one pass. The clock is measured in turns with the kernel: it changes from moment to moment."""
        library = link(assemble(self.text, host()), ("repeat",))
        repeat = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_void_p)(library["repeat"])
        memory = np.random.default_rng(0).uniform(0.1, 1.0, (self.slots + 1) * self.lanes.width + 8)
        address, passes = (memory.ctypes.data + 63) // 64 * 64, 200
        taken, tick = best_of_each([lambda: repeat(passes, address), Clock(self.lanes).tick], budget)
        return Clock.cycles * taken / (tick * passes)


def compared(cycles: float, bound: float) -> str:
    """How far a kernel is from its bound; below it the measurement is wrong, or the processor not of the kind assumed.

    >>> compared(120.0, 100.0)
    'ratio 1.20'
    >>> compared(90.0, 100.0)
    'unreliable, below the bound (ratio 0.90): a disturbed clock, or not the processor assumed'
    """
    ratio = cycles / bound
    if ratio < 1.0:
        return f"unreliable, below the bound (ratio {ratio:.2f}): a disturbed clock, or not the processor assumed"
    return f"ratio {ratio:.2f}"
