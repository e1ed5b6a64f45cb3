"""What the expression graph, the compiler and the native code do on this machine.

Every figure is measured when the report is made; none is a promise. Times are the best of several, because a shared
machine only ever adds to them.

What the instructions of a kernel allow at best: the emitted assembly of the straight line is counted by execution
resource; the busiest resource gives a lower bound on the cycles of one pass. Latencies, register moves and the way
instructions are decoded are left out: no processor of the assumed kind can be faster, however well it overlaps passes.
A measurement below the bound is reported as unreliable.
"""

from __future__ import annotations

import ctypes
import os
import platform
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from functools import partial

import numpy as np
from numpy.typing import NDArray

import torseur
from torseur.bench import workloads
from torseur.bench.timing import (
    Clock,
    Report,
    Rows,
    Section,
    best,
    best_of_each,
    cycles_per_second,
    multiply_adds_per_cycle,
    own_cache,
    seconds,
)
from torseur.describe import Mechanism
from torseur.emit import NativeFunction, compile, compile_keyed, integrator
from torseur.emit.cache import sources_digest
from torseur.emit.ir import Body, Lanes, Module
from torseur.emit.jit import assemble, assembly, host, link
from torseur.emit.staged import Staged, inputs_of, write_staged
from torseur.graph import Function, Graph, Role, Stage, count, count_by_stage

__all__ = [
    "ASSUMPTION",
    "Core",
    "Effort",
    "Kernel",
    "Mix",
    "Report",
    "Section",
    "compared",
    "instructions_of",
    "is_known",
    "measure",
]

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


Array = NDArray[np.float64]


@dataclass(frozen=True)
class Effort:
    """How much is measured. Chains are given by their number of joints, times in seconds."""

    chains: tuple[int, ...] = (12, 24, 48)
    compiled: tuple[int, ...] = (6, 48, 250)  # about 800, 8 000 and 43 000 operations
    mix: int = 50_000
    batch: int = 20_000
    budget: float = 0.3


def measure(progress: Callable[[str], object] = lambda line: None, effort: Effort | None = None) -> Report:
    """Measure everything; `progress` is told what is being done. Takes a minute or two by default."""
    effort = effort or Effort()
    plan: list[tuple[str, Callable[[Effort], Rows]]] = [
        ("machine", _machine),
        ("building expressions", _building),
        ("compiling: from a function to its first result", _compiling),
        ("one call from Python", _calling),
        ("throughput: inverse dynamics of a state, parameters bound (rx90) or numbers (chains)", _throughput),
        ("integration: a simple pendulum by Runge-Kutta 4", _integrating),
        ("instruction mix: the straight line alone, and what its instructions allow", _instruction_mix),
    ]
    sections = []
    for title, rows in plan:
        progress(f"measuring {title.partition(':')[0]}")
        sections.append(Section(title, tuple(rows(effort))))
    return Report(tuple(sections))


# -- machine -----------------------------------------------------------------------------------------------------------
def _machine(effort: Effort) -> Rows:
    import llvmlite
    import llvmlite.binding as llvm

    machine = host()
    yield "system", f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors"
    yield "processor", f"{_processor_name()}, '{machine.cpu}' to LLVM"
    yield "lanes", f"{machine.lanes.width} doubles in a vector register"
    for lanes in (Lanes(1), machine.lanes):
        clock = cycles_per_second(lanes, effort.budget)
        rate = multiply_adds_per_cycle(lanes, effort.budget)
        yield f"clock beside {_lanes_text(lanes)}", f"{clock / 1e9:.2f} GHz, {rate:.2f} multiply-adds a cycle at most"
    yield "versions", f"torseur {torseur.__version__}, Python {platform.python_version()}, NumPy {np.__version__}"
    yield "", f"llvmlite {llvmlite.__version__}, LLVM {'.'.join(map(str, llvm.llvm_version_info))}"


def _processor_name() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            return next(line.partition(":")[2].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or "unknown"


def _lanes_text(lanes: Lanes) -> str:
    return "scalar code" if lanes.width == 1 else f"{lanes.width} lanes"


# -- building ----------------------------------------------------------------------------------------------------------
def _building(effort: Effort) -> Rows:
    each = best(lambda: workloads.random_mix(effort.mix), effort.budget) / effort.mix
    yield "random mix", f"{1e6 * each:.2f} µs an operation ({effort.mix} of them)"
    for arm in _arms(effort):
        counted = count(workloads.inverse_dynamics(arm))
        took = best(partial(workloads.inverse_dynamics, arm), effort.budget)
        yield f"inverse dynamics, {arm.name}", f"{1e6 * took / counted.total:.2f} µs for each of {counted}"


def _arms(effort: Effort) -> Iterator[Mechanism]:
    yield workloads.rx90_arm()
    yield from map(workloads.chain_arm, effort.chains)


# -- compiling ---------------------------------------------------------------------------------------------------------
def _compiling(effort: Effort) -> Rows:
    yield "fingerprint of our sources, once", f"{1e3 * seconds(sources_digest):.1f} ms"
    for joints in effort.compiled:
        function = workloads.random_chain(joints)
        for lanes in (Lanes(1), host().lanes):
            with own_cache():
                cold = seconds(partial(_first_result, function, lanes))
                warm = min(seconds(partial(_first_result, _again(function), lanes)) for _ in range(3))
                reload = _reload(function, lanes)
            text = f"cold {cold:.3f} s, warm {1e3 * warm:.1f} ms, reload by key {1e3 * reload:.1f} ms"
            yield f"{count(function).total} operations, {_lanes_text(lanes)}", text


def _again(function: Function) -> Function:
    """The same function as a new object, which knows nothing of its fingerprint."""
    return Function(function.name, function.inputs, {o.name: list(o.exprs) for o in function.outputs})


def _first_result(function: Function, lanes: Lanes) -> object:
    return compile(function)(*_arguments(function, 1 if lanes.width == 1 else 2))


def _reload(function: Function, lanes: Lanes) -> float:
    """From a key to a result: neither derived nor compiled."""
    given, key = _arguments(function, 1 if lanes.width == 1 else 2), f"bench {function.digest}"
    compile_keyed(key, lambda: function)(*given)
    return min(seconds(lambda: compile_keyed(key, lambda: function)(*given)) for _ in range(3))


def _arguments(function: Function, rows: int) -> list[Array]:
    """Numbers for each input; several rows of them for all but the parameters."""
    rng = np.random.default_rng(0)
    batch = () if rows == 1 else (rows,)
    return [rng.uniform(0.1, 1.0, (*(() if b.role is Role.PARAMETER else batch), *b.shape)) for b in function.inputs]


def _bound(function: Function, rows: int, lanes: int | None = None) -> tuple[NativeFunction, list[Array]]:
    """A native function at fixed parameters, and some rows of what is left to be given."""
    given = list(zip(function.inputs, _arguments(function, rows), strict=True))
    fixed = [a for b, a in given if b.role is Role.PARAMETER]
    return compile(function, lanes=lanes).bind(*fixed), [a for b, a in given if b.role is not Role.PARAMETER]


# -- calling -----------------------------------------------------------------------------------------------------------
def _calling(effort: Effort) -> Rows:
    g = Graph()
    x = g.symbol("x")
    increment = compile(Function("increment", [g.blocks["x"]], {"y": x + 1.0}))
    arm = workloads.rx90()
    result, (bound, free) = np.empty(6), _bound(arm, 1)
    ways: list[tuple[str, Callable[[], object]]] = [
        ("x + 1, out=", partial(increment, np.array(0.5), out=np.empty(()))),
        ("rx90", partial(compile(arm), *_arguments(arm, 1))),
        ("rx90, parameters bound", partial(bound, *free)),
        ("rx90, parameters bound, out=", partial(bound, *free, out=result)),
    ]
    direct = bound.direct("rx90", "")
    if direct is not None:
        ways.append(("rx90, parameters bound, direct", partial(direct, *free)))
    for label, work in ways:
        yield label, f"{1e9 * best(work, effort.budget):.0f} ns"


# -- throughput --------------------------------------------------------------------------------------------------------
def _throughput(effort: Effort) -> Rows:
    cases = (Lanes(1), 1), (host().lanes, 1), (host().lanes, os.cpu_count() or 1)
    for arm in _arms(effort):
        function = workloads.inverse_dynamics(arm)
        out = np.empty((effort.batch, *function.outputs[0].shape))
        parts = []
        for lanes, threads in cases:
            bound, free = _bound(function, effort.batch, lanes.width)
            each = best(partial(bound, *free, out=out, threads=threads), effort.budget) / effort.batch
            parts.append(f"{_lanes_text(lanes)}{f' on {threads} threads' if threads > 1 else ''} {1e9 * each:.1f} ns")
        yield f"{arm.name}, {count_by_stage(function)[Stage.STATE].total} operations", ", ".join(parts)


def _integrating(effort: Effort) -> Rows:
    rate = workloads.pendulum()
    run = integrator(rate)
    for rows, steps, threads in ((1, 2000, 1), (effort.batch, 20, 1), (effort.batch, 20, os.cpu_count() or 1)):
        given = _arguments(rate, rows)
        took = best(partial(run, *given, step=1e-3, steps=steps, every=steps, threads=threads), effort.budget)
        label = "one run" if rows == 1 else f"{rows} runs in lanes, {threads} thread{'s' * (threads > 1)}"
        yield label, f"{1e9 * took / (steps * rows):.1f} ns a step"


# -- instruction mix ---------------------------------------------------------------------------------------------------
def _instruction_mix(effort: Effort) -> Rows:
    if not is_known():
        yield "not computed", f"instructions of {host().triple} are not told apart here, only those of x86-64"
        return
    for k, line in enumerate(ASSUMPTION):
        yield "" if k else "assumed", line
    for arm in _arms(effort):
        for lanes in (Lanes(1), host().lanes):
            kernel = Kernel(workloads.inverse_dynamics(arm), lanes)
            cycles, mix = kernel.cycles(effort.budget), kernel.mix()
            needs = Core(lanes).cycles(mix)
            busiest = max(needs, key=needs.__getitem__)
            bound = f"{needs[busiest]:.0f} ({busiest})"
            label, verdict = f"{arm.name}, {_lanes_text(lanes)}", compared(cycles, needs[busiest])
            yield label, f"{cycles:.0f} cycles a pass, at least {bound}: {verdict}"
            yield "", ", ".join(f"{n} {word}" for word, n in vars(mix).items() if n)
