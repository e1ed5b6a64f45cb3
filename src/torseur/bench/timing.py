"""Clocks: how long a piece of work takes, and how many cycles of this processor a second has."""

from __future__ import annotations

import ctypes
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from torseur.emit.ir import Body, Lanes
from torseur.emit.jit import assemble, host, link
from torseur.emit.module import Module

__all__ = ["best", "cycles_per_second", "multiply_adds_per_cycle", "own_cache", "seconds"]


def seconds(work: Callable[[], object]) -> float:
    """How long something takes, once."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def best(work: Callable[[], object], budget: float) -> float:
    """Seconds a call takes at best: the quickest of some groups of calls, within a budget of seconds."""
    work()
    calls = max(1, int(budget / 10 / max(seconds(work), 1e-9)))
    repeat = range(calls)
    lowest, end = float("inf"), time.perf_counter() + budget
    while True:
        began = time.perf_counter()
        for _ in repeat:
            work()
        now = time.perf_counter()
        lowest = min(lowest, (now - began) / calls)
        if now > end:
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
_PAIRS, _BESIDE = 480, 8


def cycles_per_second(lanes: Lanes, budget: float) -> float:
    """The clock, from a chain of additions and exclusive ors: each waits for the one before and takes one cycle.

    A multiply-add of full vectors goes beside every pair of them, in nobody's way: processors that slow down for wide
    vectors do it here too.
    """
    module, body, real = Module(lanes), Body(), lanes.real
    fma = module.declare(real, f"llvm.fma.{lanes.suffix}", [real] * 3)
    scale = body.value(f"load {real}, ptr %data, align {lanes.size}")
    value, beside = "%x", [f"%v_{k}" for k in range(_BESIDE)]
    body.do("br label %again")
    body.label("again")
    body.do("%pass = phi i64 [ 0, %0 ], [ %next, %again ]")
    body.do("%x = phi i64 [ 1, %0 ], [ %last, %again ]")
    for k, name in enumerate(beside):
        body.do(f"{name} = phi {real} [ {lanes.number(1.0)}, %0 ], [ %v_last{k}, %again ]")
    for k in range(_PAIRS):
        j, ends = k % _BESIDE, k >= _PAIRS - _BESIDE
        value = body.value(f"xor i64 {body.value(f'add i64 {value}, %a')}, %b")
        name = f"%v_last{j}" if ends else f"%v_{k}_"
        body.do(f"{name} = call {real} @{fma}({real} {beside[j]}, {real} {scale}, {real} {scale})")
        beside[j] = name
    body.do(f"%last = add i64 {value}, %pass")
    body.do("%next = add i64 %pass, 1")
    body.do(f"br i1 {body.value('icmp slt i64 %next, %passes')}, label %again, label %end")
    body.label("end")
    for k, name in enumerate(beside):
        body.store(lanes, name, "%data", k)
    body.do("ret i64 %last")
    module.define("i64 @chain(i64 %passes, ptr %data, i64 %a, i64 %b)", body, internal=False)
    library = link(assemble(module.text(), host()), ("chain",))
    kinds = ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64
    chain = ctypes.CFUNCTYPE(*kinds)(library["chain"])
    _memory, address = _aligned(lanes.size * _BESIDE)
    passes = 2000
    work = lambda: chain(passes, address, 0x9E3779B9, 0x85EBCA6B)  # noqa: E731
    return passes * (2 * _PAIRS + 1) / best(work, budget)


_CHAINS, _ROUNDS = 12, 20


def multiply_adds_per_cycle(lanes: Lanes, clock: float, budget: float) -> float:
    """How many multiply-adds of full vectors begin in a cycle, from independent chains of them."""
    module, body, real = Module(lanes), Body(), lanes.real
    fma = module.declare(real, f"llvm.fma.{lanes.suffix}", [real] * 3)
    a = body.value(f"load {real}, ptr %data, align 64")
    body.do("br label %again")
    body.label("again")
    body.do("%pass = phi i64 [ 0, %0 ], [ %next, %again ]")
    values = [f"%x{k}" for k in range(_CHAINS)]
    for k in range(_CHAINS):
        body.do(f"%x{k} = phi {real} [ {lanes.number(float(k))}, %0 ], [ %last{k}, %again ]")
    for r in range(_ROUNDS):
        for k, value in enumerate(values):
            values[k] = f"%last{k}" if r == _ROUNDS - 1 else f"%r{r}_{k}"
            body.do(f"{values[k]} = call {real} @{fma}({real} {value}, {real} {a}, {real} {a})")
    body.do("%next = add i64 %pass, 1")
    body.do(f"br i1 {body.value('icmp slt i64 %next, %passes')}, label %again, label %end")
    body.label("end")
    for k, value in enumerate(values):
        body.store(lanes, value, "%data", k)
    body.do("ret void")
    module.define("void @chains(i64 %passes, ptr %data)", body, internal=False)
    library = link(assemble(module.text(), host()), ("chains",))
    chains = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_void_p)(library["chains"])
    _memory, address = _aligned(lanes.size * _CHAINS)
    passes = 5000
    return passes * _CHAINS * _ROUNDS / (clock * best(lambda: chains(passes, address), budget))


def _aligned(size: int) -> tuple[object, int]:
    """Zeroed memory, and an address in it that vectors like."""
    memory = ctypes.create_string_buffer(size + 64)
    return memory, (ctypes.addressof(memory) + 63) // 64 * 64
