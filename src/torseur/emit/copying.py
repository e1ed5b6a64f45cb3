"""Moving rows of strided arrays into lanes and back.

A batch is stored row by row, a kernel wants value by value with the rows side by side: a transposition. Packed rows are
transposed in registers, block by block; any other stride goes element by element.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from math import prod

from torseur.emit.ir import Body, Lanes
from torseur.emit.module import Module

__all__ = ["Direction", "copier"]


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
