"""The loop NumPy calls: from strided arrays to lanes and back.

``void loop(char **args, intp *dimensions, intp *steps, void *data)`` is the inner loop of a generalised ufunc: `steps`
holds the byte strides of the batch for each operand, then those of the core dimensions. Rows are taken as many at a
time as there are lanes; in the last group the missing rows repeat the last one and are not written back. Work that
needs parameters or time only is done once when these do not change along the batch.

A batch is stored row by row, a kernel wants value by value with the rows side by side: a transposition. Packed rows are
transposed in registers, block by block; any other stride goes element by element.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from math import prod

from torseur.emit.ir import Body, Lanes, Module, restore_float_flags, save_float_flags
from torseur.emit.staged import Staged, inputs_of
from torseur.graph.function import Function, Stage

__all__ = ["Direction", "Operand", "copier", "operands", "write_loop", "write_prologue_loop"]


class Direction(Enum):
    """From an array into lanes, or from lanes to an array."""

    GATHER = "gather"
    SCATTER = "scatter"


def copier(module: Module, shape: tuple[int, ...], direction: Direction) -> str:
    """The name of ``void copy(ptr array, i64 step, ptr buffer, i64 row, i64 rows, i64 core...)``.

    It moves one group of rows, from `row` on. Lanes beyond the last row stand for the last row: reading repeats it,
    writing writes it again.
    """
    key = (direction, shape)
    name = module.helpers.get(key)
    if name is not None:
        return name
    name = module.helpers[key] = module.fresh(direction.value)
    body, width = Body(), module.lanes.width
    final = body.value("sub i64 %rows, 1")
    least = module.declare("i64", "llvm.smin.i64", ["i64", "i64"])
    starts = []
    for lane in range(width):
        row = body.value(f"call i64 @{least}(i64 {body.value(f'add i64 %row, {lane}')}, i64 {final})")
        starts.append(body.value(f"getelementptr i8, ptr %array, i64 {body.value(f'mul i64 {row}, %step')}"))
    if width > 1 and prod(shape) > 1:
        with body.when(_is_packed(body, shape)):
            _blocks(module, body, prod(shape), starts, direction)
            body.do("ret void")
            body.label(body.fresh("never"))
    _elements(module, body, shape, starts, direction)
    body.do("ret void")
    strides = "".join(f", i64 %core{d}" for d in range(len(shape)))
    arguments = f"ptr %array, i64 %step, ptr %buffer, i64 %row, i64 %rows{strides}"
    module.define(f"void @{name}({arguments})", body, "noinline")
    return name


def _is_packed(body: Body, shape: tuple[int, ...]) -> str:
    condition, expected = "true", 8
    for d in reversed(range(len(shape))):
        if shape[d] != 1:
            same = body.value(f"icmp eq i64 %core{d}, {expected}")
            condition = body.value(f"and i1 {condition}, {same}")
        expected *= shape[d]
    return condition


# -- packed rows -------------------------------------------------------------------------------------------------------
def _blocks(module: Module, body: Body, size: int, starts: Sequence[str], direction: Direction) -> None:
    width = module.lanes.width
    move = _gather_block if direction is Direction.GATHER else _scatter_block
    if size >= width:
        with body.loop(size // width) as block:
            first = body.value(f"mul i64 {block}, {width}")
            move(module, body, first, width, starts)
    if size % width:
        move(module, body, str(size - size % width), size % width, starts)


def _gather_block(module: Module, body: Body, first: str, count: int, starts: Sequence[str]) -> None:
    lanes = module.lanes
    rows = []
    # Masked loads and stores in their older form, with the alignment as an operand: every LLVM reads it.
    for start in starts:
        address = body.value(f"getelementptr double, ptr {start}, i64 {first}")
        if count == lanes.width:
            rows.append(body.value(f"load {lanes.real}, ptr {address}, align 8"))
        else:
            load = module.declare(
                lanes.real, f"llvm.masked.load.{lanes.suffix}.p0", ["ptr", "i32", lanes.truth, lanes.real]
            )
            rest = f"i32 8, {lanes.truth} {_mask(lanes, count)}, {lanes.real} zeroinitializer"
            rows.append(body.value(f"call {lanes.real} @{load}(ptr {address}, {rest})"))
    for k, column in enumerate(_transposed(body, lanes, rows)[:count]):
        slot = body.value(f"getelementptr {lanes.real}, ptr %buffer, i64 {body.value(f'add i64 {first}, {k}')}")
        body.do(f"store {lanes.real} {column}, ptr {slot}, align {lanes.size}")


def _scatter_block(module: Module, body: Body, first: str, count: int, starts: Sequence[str]) -> None:
    lanes = module.lanes
    columns = ["zeroinitializer"] * lanes.width
    for k in range(count):
        slot = body.value(f"getelementptr {lanes.real}, ptr %buffer, i64 {body.value(f'add i64 {first}, {k}')}")
        columns[k] = body.value(f"load {lanes.real}, ptr {slot}, align {lanes.size}")
    for start, row in zip(starts, _transposed(body, lanes, columns), strict=True):
        address = body.value(f"getelementptr double, ptr {start}, i64 {first}")
        if count == lanes.width:
            body.do(f"store {lanes.real} {row}, ptr {address}, align 8")
        else:
            name = f"llvm.masked.store.{lanes.suffix}.p0"
            store = module.declare("void", name, [lanes.real, "ptr", "i32", lanes.truth])
            mask = f"i32 8, {lanes.truth} {_mask(lanes, count)}"
            body.do(f"call void @{store}({lanes.real} {row}, ptr {address}, {mask})")


def _transposed(body: Body, lanes: Lanes, rows: Sequence[str]) -> list[str]:
    """The transpose of a square block of registers: log2(width) rounds of pairwise exchanges."""
    width, block, real = lanes.width, list(rows), lanes.real
    span = 1
    while span < width:
        for i in range(width):
            if i & span:
                continue
            a, b = block[i], block[i + span]
            low = [k if not k & span else width + k - span for k in range(width)]
            high = [k + span if not k & span else width + k for k in range(width)]
            block[i], block[i + span] = (
                body.value(f"shufflevector {real} {a}, {real} {b}, <{width} x i32> {_indices(order)}")
                for order in (low, high)
            )
        span *= 2
    return block


def _indices(order: Sequence[int]) -> str:
    return f"<{', '.join(f'i32 {k}' for k in order)}>"


def _mask(lanes: Lanes, count: int) -> str:
    return f"<{', '.join('i1 true' if k < count else 'i1 false' for k in range(lanes.width))}>"


# -- any strides -------------------------------------------------------------------------------------------------------
def _elements(module: Module, body: Body, shape: tuple[int, ...], starts: Sequence[str], direction: Direction) -> None:
    def nest(depth: int, offset: str, index: str) -> None:
        if depth == len(shape):
            _element(module, body, starts, offset, index, direction)
            return
        with body.loop(shape[depth]) as i:
            deeper = body.value(f"add i64 {offset}, {body.value(f'mul i64 {i}, %core{depth}')}")
            flat = body.value(f"add i64 {body.value(f'mul i64 {index}, {shape[depth]}')}, {i}")
            nest(depth + 1, deeper, flat)

    nest(0, "0", "0")


def _element(module: Module, body: Body, starts: Sequence[str], offset: str, index: str, direction: Direction) -> None:
    lanes = module.lanes
    slot = body.value(f"getelementptr {lanes.real}, ptr %buffer, i64 {index}")
    addresses = [body.value(f"getelementptr i8, ptr {start}, i64 {offset}") for start in starts]
    if direction is Direction.GATHER:
        whole = "poison"
        for lane, address in enumerate(addresses):
            part = body.value(f"load double, ptr {address}, align 8")
            whole = part if lanes.width == 1 else _insert(body, lanes, whole, part, lane)
        body.do(f"store {lanes.real} {whole}, ptr {slot}, align {lanes.size}")
        return
    whole = body.value(f"load {lanes.real}, ptr {slot}, align {lanes.size}")
    for lane, address in enumerate(addresses):
        part = whole if lanes.width == 1 else body.value(f"extractelement {lanes.real} {whole}, i64 {lane}")
        body.do(f"store double {part}, ptr {address}, align 8")


def _insert(body: Body, lanes: Lanes, whole: str, part: str, lane: int) -> str:
    return body.value(f"insertelement {lanes.real} {whole}, double {part}, i64 {lane}")


SMALL = 32 * 1024
"""Bytes of working memory up to which the stack is used."""


@dataclass(frozen=True)
class Operand:
    """One array of a call: its core shape. NumPy knows no empty one: such an array travels as a number nobody reads."""

    name: str
    shape: tuple[int, ...]

    @classmethod
    def of(cls, name: str, shape: tuple[int, ...]) -> Operand:
        return cls(name, shape if prod(shape) else ())

    @property
    def size(self) -> int:
        return prod(self.shape)


def operands(function: Function, bound: bool, work: int) -> tuple[list[Operand], list[Operand]]:
    """Inputs and outputs of a call; when bound, the first work array stands for all parameters."""
    skipped = set(inputs_of(function, Stage.PARAMETER)) if bound else set()
    ins = [Operand.of(b.name, b.shape) for k, b in enumerate(function.inputs) if k not in skipped]
    if bound:
        ins.append(Operand.of("work", (work,)))
    return ins, [Operand.of(o.name, o.shape) for o in function.outputs]


class _Loop:
    """One inner loop under construction."""

    def __init__(self, module: Module, ins: Sequence[Operand], outs: Sequence[Operand], extra: int) -> None:
        self.module, self.lanes, self.body = module, module.lanes, Body()
        self.ins, self.outs = list(ins), list(outs)
        self.all = [*ins, *outs]
        offsets, slot = [], 0
        for operand in self.all:
            offsets.append(slot)
            slot += operand.size
        self.offsets, self.end = offsets, slot
        self.bytes = max((slot + extra) * self.lanes.size, 1)
        self._open()

    def _open(self) -> None:
        body = self.body
        self.flags = save_float_flags(self.module, body)
        self.heap = self.bytes > SMALL
        if self.heap:
            self.block, self.memory = self.module.allocate(body, self.bytes)
        else:
            self.memory = body.value(f"alloca [{self.bytes} x i8], align {self.lanes.alignment}")
        self.rows = body.value("load i64, ptr %dimensions")
        self.pointers, self.steps, self.cores = [], [], []
        core = len(self.all)
        for k, operand in enumerate(self.all):
            self.pointers.append(body.value(f"load ptr, ptr {body.at('%args', 8 * k)}"))
            self.steps.append(body.value(f"load i64, ptr {body.at('%steps', 8 * k)}"))
            strides = [
                body.value(f"load i64, ptr {body.at('%steps', 8 * (core + d))}") for d in range(len(operand.shape))
            ]
            self.cores.append(strides)
            core += len(operand.shape)
        self.in_place = [self._works_in_place(k) for k in range(len(self.all))]

    def close(self, name: str) -> None:
        if self.heap:
            self.module.free(self.body, self.block)
        restore_float_flags(self.module, self.body, self.flags)
        self.body.do("ret void")
        signature = f"void @{name}(ptr %args, ptr %dimensions, ptr %steps, ptr %data)"
        self.module.define(signature, self.body, internal=False)

    def buffer(self, k: int) -> str:
        return self.body.at(self.memory, self.offsets[k] * self.lanes.size)

    def past(self, slots: int) -> str:
        """Memory behind the buffers of the operands."""
        return self.body.at(self.memory, (self.end + slots) * self.lanes.size)

    def read(self, k: int, row: str) -> str:
        """A pointer to the values of operand k for the group of rows from `row` on."""
        self._copy(k, row, Direction.GATHER)
        return self.target(k, row)

    def target(self, k: int, row: str) -> str:
        """Where a kernel finds or may write operand k."""
        if self.in_place[k] == "false":
            return self.buffer(k)
        here = self._row(k, row)
        if self.in_place[k] == "true":
            return here
        return self.body.value(f"select i1 {self.in_place[k]}, ptr {here}, ptr {self.buffer(k)}")

    def write(self, k: int, row: str) -> None:
        """Bring what a kernel wrote for operand k to its rows."""
        self._copy(k, row, Direction.SCATTER)

    def _copy(self, k: int, row: str, direction: Direction) -> None:
        """Between the rows of operand k and its buffer, unless the kernel works in place."""
        call = f"call void @{copier(self.module, self.all[k].shape, direction)}({self._strided(k, row)})"
        if self.in_place[k] == "false":
            self.body.do(call)
        elif self.in_place[k] != "true":
            with self.body.when(self.body.value(f"xor i1 {self.in_place[k]}, true")):
                self.body.do(call)

    def _works_in_place(self, k: int) -> str:
        """Whether one state of operand k is packed as a kernel wants it, and apart from all other operands.

        NumPy copies arguments that overlap a result, except those that are the very same array.
        """
        if self.lanes.width > 1:
            return "false"
        operand, expected, conditions = self.all[k], 8, []
        for size, stride in zip(reversed(operand.shape), reversed(self.cores[k]), strict=True):
            if size != 1:
                conditions.append(f"icmp eq i64 {stride}, {expected}")
            expected *= size
        if k >= len(self.ins):
            conditions += [f"icmp ne ptr {self.pointers[k]}, {self.pointers[j]}" for j in range(len(self.ins))]
        whole = "true"
        for condition in conditions:
            part = self.body.value(condition)
            whole = part if whole == "true" else self.body.value(f"and i1 {whole}, {part}")
        return whole

    def _row(self, k: int, row: str) -> str:
        offset = self.body.value(f"mul i64 {row}, {self.steps[k]}")
        return self.body.value(f"getelementptr i8, ptr {self.pointers[k]}, i64 {offset}")

    def _strided(self, k: int, row: str) -> str:
        strides = "".join(f", i64 {s}" for s in self.cores[k])
        return f"ptr {self.pointers[k]}, i64 {self.steps[k]}, ptr {self.buffer(k)}, i64 {row}, i64 {self.rows}{strides}"


def write_loop(module: Module, name: str, function: Function, staged: Staged, *, bound: bool) -> None:
    """The inner loop of a function; when bound, its parameter work is an operand instead of being computed."""
    ins, outs = operands(function, bound, staged.work[0])
    loop = _Loop(module, ins, outs, sum(staged.work) + staged.scratch)
    body, places = loop.body, {operand.name: k for k, operand in enumerate(ins[: len(ins) - bound])}
    own = {s: [function.inputs[k].name for k in inputs_of(function, s)] for s in Stage}
    by_stage = {s: [places[name] for name in names if name in places] for s, names in own.items()}
    if bound:
        by_stage[Stage.PARAMETER] = [len(ins) - 1]
    fixed_parameters = _all_fixed(loop, by_stage[Stage.PARAMETER])
    fixed_instant = _all_fixed(loop, by_stage[Stage.PARAMETER] + by_stage[Stage.TIME])
    work1, scratch = loop.past(staged.work[0]), loop.past(sum(staged.work))
    with body.loop(loop.rows, module.lanes.width) as row:
        first = body.value(f"icmp eq i64 {row}, 0")
        work0 = loop.past(0)
        if bound and module.lanes.width == 1:
            work0 = loop.read(len(ins) - 1, row)
        elif bound:
            work0 = loop.buffer(len(ins) - 1)
            with body.when(_or_changed(body, first, fixed_parameters)):
                loop.read(len(ins) - 1, row)
        else:
            with body.when(_or_changed(body, first, fixed_parameters)):
                given = [loop.read(k, row) for k in by_stage[Stage.PARAMETER]]
                _call(body, staged.prologue.name, [*given, work0, scratch])
        with body.when(_or_changed(body, first, fixed_instant)):
            given = [loop.read(k, row) for k in by_stage[Stage.TIME]]
            _call(body, staged.instant.name, [*given, work0, work1, scratch])
        given = [loop.read(k, row) for k in by_stage[Stage.STATE]]
        targets = [loop.target(len(ins) + k, row) for k in range(len(outs))]
        _call(body, staged.body.name, [*given, work0, work1, *targets, scratch])
        for k in range(len(outs)):
            loop.write(len(ins) + k, row)
    loop.close(name)


def write_prologue_loop(module: Module, name: str, function: Function, staged: Staged) -> None:
    """The inner loop that turns parameters into the first work array."""
    own = [function.inputs[k] for k in inputs_of(function, Stage.PARAMETER)]
    ins = [Operand.of(b.name, b.shape) for b in own]
    loop = _Loop(module, ins, [Operand.of("work", (staged.work[0],))], staged.prologue.scratch)
    with loop.body.loop(loop.rows, module.lanes.width) as row:
        given = [loop.read(k, row) for k in range(len(ins))]
        target = loop.target(len(ins), row)
        _call(loop.body, staged.prologue.name, [*given, target, loop.past(0)])
        loop.write(len(ins), row)
    loop.close(name)


def _call(body: Body, name: str, pointers: Sequence[str]) -> None:
    body.do(f"call void @{name}({', '.join(f'ptr {p}' for p in pointers)})")


def _all_fixed(loop: _Loop, which: Sequence[int]) -> str:
    condition = "true"
    for k in which:
        same = loop.body.value(f"icmp eq i64 {loop.steps[k]}, 0")
        condition = loop.body.value(f"and i1 {condition}, {same}")
    return condition


def _or_changed(body: Body, first: str, fixed: str) -> str:
    return body.value(f"or i1 {first}, {body.value(f'xor i1 {fixed}, true')}")
