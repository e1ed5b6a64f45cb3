"""The native loop of an integration: ``void run(i64 *words)``.

The words: how many runs, rows, steps per row, and the number of the first step; the addresses of the states and of the
record; the length of a step, the time at step 0, and the earliest and latest time that is seen, as the bits of doubles;
then address and stride of each other input.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from torseur.emit.instructions import Instructions
from torseur.emit.ir import Body, Lanes, Module, restore_float_flags, save_float_flags
from torseur.emit.loop import Direction, copier
from torseur.emit.staged import Staged, inputs_of, write_staged
from torseur.graph.blocks import Role
from torseur.graph.function import Function, Stage

if TYPE_CHECKING:
    from torseur.emit.integrate import Tableau

__all__ = ["run_text"]


def run_text(rate: Function, method: Tableau, lanes: Lanes, correct: Function | None = None) -> tuple[str, list[str]]:
    """The module that integrates a rate by a method, with a correction of the states after each step, and the routines
    it needs."""
    module = Module(lanes)
    parts = [_Part(f, write_staged(module, f), f"@{k}") for k, f in enumerate((rate, correct)) if f is not None]
    _RunWriter(module, parts[0], method, parts[1] if correct is not None else None).write()
    return module.text(), list(module.routines)


@dataclass(frozen=True)
class _Part:
    """A function of the states that the loop calls, its kernels, and how its working memory is called."""

    function: Function
    staged: Staged
    tag: str

    @property
    def work(self) -> tuple[str, str]:
        return f"{self.tag}work0", f"{self.tag}work1"


class _RunWriter:
    """Knows where in working memory everything is; our own places begin with @, which no block can."""

    def __init__(self, module: Module, rate: _Part, method: Tableau, correct: _Part | None) -> None:
        self.module, self.lanes, self.method = module, module.lanes, method
        self.rate, self.correct = rate, correct
        self.parts = [part for part in (rate, correct) if part is not None]
        self.body = Body()
        inputs = rate.function.inputs
        self.n = sum(b.size for b in inputs if b.role is Role.STATE)
        self.others = [b for b in inputs if b.role in (Role.INPUT, Role.PARAMETER)]
        self.slots = 0
        self.place: dict[str, int] = {}
        for name, size in (
            ("@state", self.n),
            ("@trial", self.n),
            *((f"@k{i}", self.n) for i in range(len(method.b))),
            *((b.name, b.size) for b in self.others),
            ("@time", 1),
            *(pair for part in self.parts for pair in zip(part.work, part.staged.work, strict=True)),
            ("@scratch", max(part.staged.scratch for part in self.parts)),
        ):
            self.place[name] = self.slots
            self.slots += size

    def write(self) -> None:
        body, module = self.body, self.module
        flags = save_float_flags(module, body)
        block, self.memory = module.allocate(body, self.slots * self.lanes.size)
        runs, rows, every, first = (self._word(k) for k in range(4))
        given = (body.value(f"load double, ptr {body.at('%words', 8 * k)}") for k in range(6, 10))
        self.h, self.t0, self.earliest, self.latest = map(self._splat, given)
        with body.loop(runs, self.lanes.width) as run:
            self._begin(run, runs)
            with body.loop(rows) as row:
                done = body.value(f"add i64 {first}, {body.value(f'mul i64 {row}, {every}')}")
                with body.loop(every) as k:
                    self._step(body.value(f"add i64 {done}, {k}"))
                self._record(run, runs, row, rows)
            self._copy(Direction.SCATTER, self.n, self._pointer(4), str(8 * self.n), "@state", run, runs)
        module.free(body, block)
        restore_float_flags(module, body, flags)
        body.do("ret void")
        module.define("void @run(ptr %words)", body, internal=False)

    def _word(self, k: int) -> str:
        return self.body.value(f"load i64, ptr {self.body.at('%words', 8 * k)}")

    def _pointer(self, k: int) -> str:
        return self.body.value(f"load ptr, ptr {self.body.at('%words', 8 * k)}")

    def _splat(self, x: str) -> str:
        if self.lanes.width == 1:
            return x
        real = self.lanes.real
        one = self.body.value(f"insertelement {real} poison, double {x}, i64 0")
        return self.body.value(f"shufflevector {real} {one}, {real} poison, <{self.lanes.width} x i32> zeroinitializer")

    def _at(self, name: str, slot: int = 0) -> str:
        return self.body.at(self.memory, (self.place[name] + slot) * self.lanes.size)

    def _copy(self, way: Direction, size: int, array: str, step: str, buffer: str, run: str, runs: str) -> None:
        name = copier(self.module, (size,), way)
        given = f"ptr {array}, i64 {step}, ptr {self._at(buffer)}, i64 {run}, i64 {runs}, i64 8"
        self.body.do(f"call void @{name}({given})")

    def _begin(self, run: str, runs: str) -> None:
        """Bring the states, inputs and parameters of a group of runs into lanes; do the parameter work."""
        self._copy(Direction.GATHER, self.n, self._pointer(4), str(8 * self.n), "@state", run, runs)
        for k, block in enumerate(self.others):
            array, stride = self._pointer(10 + 2 * k), self._word(11 + 2 * k)
            self._copy(Direction.GATHER, block.size, array, stride, block.name, run, runs)
        for part in self.parts:
            self._kernel(part, part.staged.prologue.name, Stage.PARAMETER, "@state", part.work[:1])

    def _record(self, run: str, runs: str, row: str, rows: str) -> None:
        body = self.body
        stride = body.value(f"mul i64 {rows}, {8 * self.n}")
        offset = body.value(f"mul i64 {row}, {8 * self.n}")
        target = body.value(f"getelementptr i8, ptr {self._pointer(5)}, i64 {offset}")
        self._copy(Direction.SCATTER, self.n, target, stride, "@state", run, runs)

    def _kernel(self, part: _Part, name: str, stage: Stage, state: str, rest: Sequence[str]) -> None:
        """Call a kernel of a function with the state taken from one of our buffers."""
        given, offset = [], 0
        offsets: dict[str, int] = {}
        for block in self.rate.function.inputs:
            if block.role is Role.STATE:
                offsets[block.name], offset = offset, offset + block.size
        for k in inputs_of(part.function, stage):
            block = part.function.inputs[k]
            if block.role is Role.STATE:
                given.append(self._at(state, offsets[block.name]))
            else:
                given.append(self._at("@time" if block.role is Role.TIME else block.name))
        pointers = [*given, *(self._at(name) if name.startswith("@") else name for name in [*rest, "@scratch"])]
        self.body.do(f"call void @{name}({', '.join(f'ptr {p}' for p in pointers)})")

    def _evaluate(self, part: _Part, state: str, result: str) -> None:
        """The results of a function, side by side, at a state and the time."""
        self._kernel(part, part.staged.instant.name, Stage.TIME, state, part.work)
        outputs = part.function.outputs
        ends = accumulate(len(o.exprs) for o in outputs)
        outs = [self._at(result, end - len(o.exprs)) for end, o in zip(ends, outputs, strict=True)]
        self._kernel(part, part.staged.body.name, Stage.STATE, state, [*part.work, *outs])

    def _step(self, number: str) -> None:
        body = self.body
        elapsed = self._splat(body.value(f"sitofp i64 {number} to double"))
        for i, (row, c) in enumerate(zip(self.method.a, self.method.c, strict=True)):
            self._set_time(elapsed, c)
            if any(row):
                self._combine("@trial", row)
            self._evaluate(self.rate, "@trial" if any(row) else "@state", f"@k{i}")
        if self.correct is None:
            self._combine("@state", self.method.b)
            return
        self._combine("@trial", self.method.b)
        self._set_time(elapsed, 1.0)
        self._evaluate(self.correct, "@trial", "@state")

    def _set_time(self, elapsed: str, c: float) -> None:
        """t = t0 + (steps + c) h, within what may be seen."""
        body, lanes, real = self.body, self.lanes, self.lanes.real
        steps = body.value(f"fadd {real} {elapsed}, {lanes.number(c)}")
        t = self._multiply_add(steps, self.h, self.t0)
        for order, bound in (("olt", self.earliest), ("ogt", self.latest)):
            beyond = body.value(f"fcmp {order} {real} {t}, {bound}")
            t = body.value(f"select {lanes.truth} {beyond}, {real} {bound}, {real} {t}")
        body.store(lanes, t, self._at("@time"), 0)

    def _multiply_add(self, a: str, b: str, c: str) -> str:
        return Instructions(self.module, self.body).multiply_add(a, b, c)

    def _combine(self, target: str, weights: Sequence[float]) -> None:
        """target = state + h sum_j weights[j] k_j."""
        body, lanes, real = self.body, self.lanes, self.lanes.real
        scaled = [
            (f"@k{j}", body.value(f"fmul {real} {self.h}, {lanes.number(w)}")) for j, w in enumerate(weights) if w
        ]
        with body.loop(self.n) as i:

            def element(name: str, i: str = i) -> str:
                return body.value(f"getelementptr {real}, ptr {self._at(name)}, i64 {i}")

            value = body.value(f"load {real}, ptr {element('@state')}, align {lanes.size}")
            for name, factor in scaled:
                k = body.value(f"load {real}, ptr {element(name)}, align {lanes.size}")
                value = self._multiply_add(k, factor, value)
            body.do(f"store {real} {value}, ptr {element(target)}, align {lanes.size}")
