"""Clocks: how long a piece of work takes, and how many cycles of this processor a second has; sections of labelled
values."""

from __future__ import annotations

import ctypes
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from torseur.emit.ir import Body, Lanes, Module
from torseur.emit.jit import assemble, host, link

__all__ = [
    "Clock",
    "Report",
    "Rows",
    "Section",
    "best",
    "best_of_each",
    "cycles_per_second",
    "multiply_adds_per_cycle",
    "own_cache",
    "seconds",
]


def seconds(work: Callable[[], object]) -> float:
    """How long something takes, once."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def best(work: Callable[[], object], budget: float) -> float:
    """Seconds a call takes at best: the quickest of some groups of calls, within a budget of seconds."""
    return best_of_each([work], budget)[0]


def best_of_each(works: Sequence[Callable[[], object]], budget: float, *, group: float | None = None) -> list[float]:
    """The same for several pieces of work, group by group in turn: all of them meet the machine in the same state.

    Args:
        works: what to measure.
        budget: for each of them, s.
        group: about how long a group of calls is; a tenth of the budget by default. What is compared should have groups
            of one length: short ones find the quiet moments of a busy machine more easily.
    """
    counts = []
    for work in works:
        work()
        counts.append(range(max(1, int((budget / 10 if group is None else group) / max(seconds(work), 1e-9)))))
    lowest, end = [float("inf")] * len(works), time.perf_counter() + budget * len(works)
    while True:
        for k, (work, repeat) in enumerate(zip(works, counts, strict=True)):
            began = time.perf_counter()
            for _ in repeat:
                work()
            lowest[k] = min(lowest[k], (time.perf_counter() - began) / len(repeat))
        if time.perf_counter() > end:
            return lowest


@contextmanager
def own_cache() -> Iterator[None]:
    """An empty disk cache of its own for a while: the first use of a function is cold, the second warm."""
    before = os.environ.get("TORSEUR_CACHE")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TORSEUR_CACHE"] = folder
        try:
            yield
        finally:
            if before is None:
                del os.environ["TORSEUR_CACHE"]
            else:
                os.environ["TORSEUR_CACHE"] = before


# -- the processor's own clock -----------------------------------------------------------------------------------------
_PAIRS, _BESIDE, _TICKING = 480, 8, 2000


class Clock:
    """A chain of additions and exclusive ors: each waits for the one before and takes one cycle.

    A multiply-add of full vectors goes beside every pair of them, in nobody's way: processors that slow down for wide
    vectors do it here too.
    """

    cycles = _TICKING * (2 * _PAIRS + 1)
    """Of one `tick`."""

    def __init__(self, lanes: Lanes) -> None:
        kinds = [("i64", "1"), *[(lanes.real, lanes.number(1.0))] * _BESIDE]
        self.tick = _repeated(lanes, kinds, self._pass, _TICKING)

    @staticmethod
    def _pass(body: Body, values: list[str], multiply_add: _MultiplyAdd) -> list[str]:
        value, *beside = values
        for k in range(_PAIRS):
            value = body.value(f"xor i64 {body.value(f'add i64 {value}, %a')}, %b")
            beside[k % _BESIDE] = multiply_add(beside[k % _BESIDE])
        return [body.value(f"add i64 {value}, %pass"), *beside]


def cycles_per_second(lanes: Lanes, budget: float) -> float:
    """The clock while vectors of so many lanes are at work."""
    return Clock.cycles / best(Clock(lanes).tick, budget)


_CHAINS, _ROUNDS, _PASSES = 12, 20, 5000


def multiply_adds_per_cycle(lanes: Lanes, budget: float) -> float:
    """How many multiply-adds of full vectors begin in a cycle, from independent chains of them."""

    def one_pass(body: Body, values: list[str], multiply_add: _MultiplyAdd) -> list[str]:
        for _ in range(_ROUNDS):
            values = [multiply_add(value) for value in values]
        return values

    chains = _repeated(lanes, [(lanes.real, lanes.number(float(k))) for k in range(_CHAINS)], one_pass, _PASSES)
    chain, tick = best_of_each([chains, Clock(lanes).tick], budget)
    return _PASSES * _CHAINS * _ROUNDS / (Clock.cycles * chain / tick)


_MultiplyAdd = Callable[[str], str]
_Pass = Callable[[Body, list[str], _MultiplyAdd], list[str]]


def _repeated(lanes: Lanes, kinds: Sequence[tuple[str, str]], one_pass: _Pass, passes: int) -> Callable[[], object]:
    """A native loop that hands values from pass to pass: for each, its type and what it is at first.

    `one_pass` writes their next values, from numbers %a, %b and %pass that the compiler does not know.
    """
    module, body, real = Module(lanes), Body(), lanes.real
    fma = module.declare(real, f"llvm.fma.{lanes.suffix}", [real] * 3)
    scale = body.load(lanes, "%data", 0)
    body.do("br label %again")
    body.label("again")
    body.do("%pass = phi i64 [ 0, %0 ], [ %next, %again ]")
    for k, (kind, first) in enumerate(kinds):
        body.do(f"%before{k} = phi {kind} [ {first}, %0 ], [ %after{k}, %again ]")

    def multiply_add(x: str) -> str:
        return body.value(f"call {real} @{fma}({real} {x}, {real} {scale}, {real} {scale})")

    for k, value in enumerate(one_pass(body, [f"%before{k}" for k, _ in enumerate(kinds)], multiply_add)):
        body.do(f"%after{k} = bitcast {kinds[k][0]} {value} to {kinds[k][0]}")  # nothing but a name
    body.do("%next = add i64 %pass, 1")
    body.do(f"br i1 {body.value('icmp slt i64 %next, %passes')}, label %again, label %end")
    body.label("end")
    for k, (kind, _) in enumerate(kinds):  # behind the scale, which must stay zero: denormals are slow
        body.do(f"store {kind} %after{k}, ptr {body.at('%data', (k + 1) * lanes.size)}, align 8")
    body.do("ret void")
    module.define("void @loop(i64 %passes, ptr %data, i64 %a, i64 %b)", body, internal=False)
    return _Loop(module, passes, lanes.size * (len(kinds) + 1))


class _Loop:
    """The compiled loop, with the code and the memory it needs."""

    def __init__(self, module: Module, passes: int, size: int) -> None:
        self._library = link(assemble(module.text(), host()), ("loop",))
        self._memory = ctypes.create_string_buffer(size + 64)
        kinds = ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64
        loop = ctypes.CFUNCTYPE(None, *kinds)(self._library["loop"])
        address = (ctypes.addressof(self._memory) + 63) // 64 * 64
        self._run = partial(loop, passes, address, 0x9E3779B9, 0x85EBCA6B)

    def __call__(self) -> None:
        self._run()


Rows = Iterator[tuple[str, str]]


@dataclass(frozen=True)
class Section:
    """A heading and rows of a label and a value."""

    title: str
    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Report:
    """What was measured."""

    sections: tuple[Section, ...]

    def text(self) -> str:
        """Everything, as lines of plain text."""
        width = max(len(label) for s in self.sections for label, _ in s.rows)
        parts = [[s.title, *(f"  {label:<{width}}  {value}" for label, value in s.rows)] for s in self.sections]
        return "\n\n".join("\n".join(lines) for lines in parts)
