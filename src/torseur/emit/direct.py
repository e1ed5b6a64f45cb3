"""The shortest way from Python to native code: a built-in function made at run time.

A call through NumPy's ufunc machinery costs about a microsecond before any work is done. For one state in plain
arrays of doubles, the code made here is itself the C function that the interpreter calls: it looks at the arrays,
makes the arrays for the results, and runs the kernel. A row of states in plain arrays goes straight to the loop in
lanes, once that has been compiled (`serve_batches`): among a few hundred states the machinery would take longer than
the work. Several results are a named tuple, a result without a shape is NumPy's scalar, as they are for the ufunc.
Whatever is not that simple (several leading dimensions, lists, keywords, other types, wrong shapes) goes, with all its
arguments, to an ordinary Python callable.

It reads the published fields of NumPy's array objects and follows the interpreter's fast calling convention; where
either is not as expected (another interpreter, a free-threaded build), it is not used.
"""

from __future__ import annotations

import ctypes
import sys
import sysconfig
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from torseur.emit.interface import Argument
from torseur.emit.ir import Body, Lanes, Module
from torseur.emit.loop import operands
from torseur.emit.staged import Staged, inputs_of
from torseur.graph.function import Function, Stage

__all__ = ["direct_imports", "is_possible", "make_direct", "serve_batches", "write_direct"]

# Offsets in PyArrayObject (numpy/ndarraytypes.h) after the 16 bytes every object has, and flags.
_DATA, _NDIM, _SHAPE, _DESCR, _FLAGS = 16, 24, 32, 56, 64
_READY = 0x0001 | 0x0100  # C-contiguous and aligned
_DOUBLE = 12
_STACK = 64 * 1024
_GROUP = 64
"""Results that are looked at in one pass of a loop: written out one by one, thousands of them take LLVM seconds."""
_FOUR = Lanes(4)
_FASTCALL_WITH_KEYWORDS = 0x0080 | 0x0002
_ARRAY_NEW, _ARRAY_RETURN = 93, 76  # PyArray_New and PyArray_Return in the table of NumPy's C-API

# Words of the context, an array that is the `self` of the function.
_FALLBACK, _WORK, _BATCH, _RECORD, _FIXED = 0, 1, 2, 3, 4


@lru_cache(maxsize=1)
def is_possible() -> bool:
    """Whether this interpreter and this NumPy are laid out as the code expects."""
    if sys.implementation.name != "cpython" or sysconfig.get_config_var("Py_GIL_DISABLED") or sys.maxsize < 2**62:
        return False
    probe = np.zeros((2, 3))
    at = id(probe)

    def word(offset: int, kind: Any = ctypes.c_uint64) -> int:
        return int(kind.from_address(at + offset).value)

    shape = ctypes.cast(word(_SHAPE), ctypes.POINTER(ctypes.c_int64))
    return (
        word(8) == id(np.ndarray)
        and word(_DATA) == probe.ctypes.data
        and word(_NDIM, ctypes.c_int32) == 2
        and (shape[0], shape[1]) == (2, 3)
        and word(_DESCR) == id(np.dtype(np.float64))
        and word(_FLAGS, ctypes.c_int32) & _READY == _READY
    )


@lru_cache(maxsize=1)
def direct_imports() -> dict[str, int]:
    """Addresses the code needs from NumPy."""
    from numpy._core import _multiarray_umath  # type: ignore[attr-defined]

    capsule = ctypes.pythonapi.PyCapsule_GetPointer
    capsule.restype, capsule.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = ctypes.cast(capsule(_multiarray_umath._ARRAY_API, None), ctypes.POINTER(ctypes.c_void_p))
    return {
        "torseur.array_type": id(np.ndarray),
        "torseur.double_type": id(np.dtype(np.float64)),
        "torseur.array_new": int(table[_ARRAY_NEW] or 0),
        "torseur.array_return": int(table[_ARRAY_RETURN] or 0),
    }


def write_direct(module: Module, name: str, function: Function, staged: Staged, *, bound: bool) -> bool:
    """Add the built-in to a scalar module; whether the function is one it can serve.

    That is: parameters bound or absent; little working memory.
    """
    size = 8 * (sum(staged.work) + staged.scratch)
    parameters = inputs_of(function, Stage.PARAMETER)
    if not bound and parameters:
        return False
    if staged.work[0] and not parameters:
        return False  # constants left to run time: nobody would have computed them
    if size > _STACK or module.lanes.width != 1:
        return False
    writer = _DirectWriter(module, function, staged, size)
    writer.write([k for k in range(len(function.inputs)) if k not in parameters])
    module.define(f"ptr @{name}(ptr %self, ptr %args, i64 %count, ptr %names)", writer.body, internal=False)
    return True


class _DirectWriter:
    def __init__(self, module: Module, function: Function, staged: Staged, size: int) -> None:
        self.module, self.function, self.staged, self.size = module, function, staged, size
        self.body = Body()
        self.context = self.given = ""
        self._sums: list[str] = []

    def write(self, free: Sequence[int]) -> None:
        """Positional arguments come first; the inputs after them are read from the context."""
        body, module = self.body, self.module
        memory = body.value(f"alloca [{max(self.size, 1)} x i8], align 64")
        self._sums = [body.value(f"alloca {_FOUR.real}, align {_FOUR.size}") for _ in range(2)]
        layout = self._batch_layout(free)
        self.context = body.value(f"load ptr, ptr {body.at('%self', _DATA)}")
        for imported in ("torseur.array_type", "torseur.double_type"):
            module.external(imported)
        self.given = body.value(f"load i64, ptr {body.at(self.context, 8 * _FIXED)}")
        self._require("icmp eq ptr %names, null")
        self._require(f"icmp eq i64 %count, {self.given}")
        other = "fallback" if layout is None else "batch"
        pointers = {k: self._input(place, self.function.inputs[k].shape, other)[0] for place, k in enumerate(free)}
        results = self._results()
        work0 = body.value(f"load ptr, ptr {body.at(self.context, 8 * _WORK)}")
        work1, scratch = body.at(memory, 8 * self.staged.work[0]), body.at(memory, 8 * sum(self.staged.work))
        instant = [pointers[k] for k in inputs_of(self.function, Stage.TIME)]
        self._call(self.staged.instant.name, [*instant, work0, work1, scratch])
        targets = [body.value(f"load ptr, ptr {body.at(result, _DATA)}") for result in results]
        states = [pointers[k] for k in inputs_of(self.function, Stage.STATE)]
        self._call(self.staged.body.name, [*states, work0, work1, *targets, scratch])
        self._return_or_drop(results, targets)
        if layout is not None:
            body.label("batch")
            self._batch(free, layout)
        body.label("fallback")
        fallback = body.value(f"load ptr, ptr {body.at(self.context, 8 * _FALLBACK)}")
        call = module.declare("ptr", "PyObject_Vectorcall", ["ptr", "ptr", "i64", "ptr"])
        answer = body.value(f"call ptr @{call}(ptr {fallback}, ptr %args, i64 %count, ptr %names)")
        body.do(f"ret ptr {answer}")

    def _require(self, condition: str, otherwise: str = "fallback") -> None:
        after = self.body.fresh("good")
        self.body.do(f"br i1 {self.body.value(condition)}, label %{after}, label %{otherwise}")
        self.body.label(after)

    def _input(self, place: int, shape: Sequence[int], otherwise: str, rows: str = "") -> tuple[str, str]:
        """The numbers of one input, of an argument that was checked or of a default, and how far apart its rows are."""
        body = self.body
        is_given, from_call, from_context, after = (body.fresh(s) for s in ("%given", "call", "context", "after"))
        body.do(f"{is_given} = icmp slt i64 {place}, {self.given}")
        body.do(f"br i1 {is_given}, label %{from_call}, label %{from_context}")
        body.label(from_call)
        one = self._numbers(place, ([rows] if rows else []) + [str(size) for size in shape], otherwise)
        last = body.block
        body.do(f"br label %{after}")
        body.label(from_context)
        two = body.value(f"load ptr, ptr {body.at(self.context, 8 * (_FIXED + 1 + place))}")
        body.do(f"br label %{after}")
        body.label(after)
        numbers = body.value(f"phi ptr [ {one}, %{last} ], [ {two}, %{from_context} ]")
        return numbers, body.value(f"phi i64 [ {8 * prod(shape)}, %{last} ], [ 0, %{from_context} ]") if rows else "0"

    def _numbers(self, place: int, sizes: Sequence[str], otherwise: str) -> str:
        """Those of an argument, which must be a plain array of doubles of these sizes."""
        body = self.body
        array = self._array(place, len(sizes), otherwise)
        self._require(f"icmp eq ptr {self._field(array, _DESCR, 'ptr')}, @torseur.double_type", otherwise)
        flags = body.value(f"and i32 {self._field(array, _FLAGS, 'i32')}, {_READY}")
        self._require(f"icmp eq i32 {flags}, {_READY}", otherwise)
        dims = self._field(array, _SHAPE, "ptr")
        for d, size in enumerate(sizes):
            self._require(f"icmp eq i64 {self._field(dims, 8 * d, 'i64')}, {size}", otherwise)
        return self._field(array, _DATA, "ptr")

    def _array(self, place: int, dimensions: int, otherwise: str) -> str:
        """An argument, which must be a plain array of so many dimensions."""
        array = self.body.value(f"load ptr, ptr {self.body.at('%args', 8 * place)}")
        self._require(f"icmp eq ptr {self._field(array, 8, 'ptr')}, @torseur.array_type", otherwise)
        self._require(f"icmp eq i32 {self._field(array, _NDIM, 'i32')}, {dimensions}", otherwise)
        return array

    def _field(self, pointer: str, offset: int, kind: str) -> str:
        return self.body.value(f"load {kind}, ptr {self.body.at(pointer, offset)}")

    # -- rows of states ------------------------------------------------------------------------------------------------
    def _batch_layout(self, free: Sequence[int]) -> _BatchLayout | None:
        """Memory for what the loop in lanes is told; none where it is not served: nothing to give, empty arrays."""
        bound = bool(inputs_of(self.function, Stage.PARAMETER))
        ins, outs = operands(self.function, bound, self.staged.work[0])
        shapes = [self.function.inputs[k].shape for k in free] + [output.shape for output in self.function.outputs]
        if not free or not all(map(prod, shapes)) or (bound and not self.staged.work[0]):
            return None
        pointers = 8 * len([*ins, *outs])
        strides = [stride for operand in [*ins, *outs] for stride in _strides(operand.shape)]
        longest = 8 * (1 + max(len(o.shape) for o in self.function.outputs))
        place = self.body.value(f"alloca [{2 * pointers + 8 * len(strides) + longest} x i8], align 16")
        steps = self.body.at(place, pointers)
        return _BatchLayout(bound, place, steps, strides, self.body.at(place, 2 * pointers + 8 * len(strides)))

    def _batch(self, free: Sequence[int], layout: _BatchLayout) -> None:
        """The loop in lanes over contiguous rows; it is what NumPy would call, so the results are the same."""
        body, module = self.body, self.module
        loop = body.value(f"load ptr, ptr {body.at(self.context, 8 * _BATCH)}")
        self._require(f"icmp ne ptr {loop}, null")
        self._require(f"icmp sgt i64 {self.given}, 0")
        first = self._array(0, 1 + len(self.function.inputs[free[0]].shape), "fallback")
        rows = self._field(self._field(first, _SHAPE, "ptr"), 0, "i64")
        self._require(f"icmp sgt i64 {rows}, 0")
        told = [self._input(place, self.function.inputs[k].shape, "fallback", rows) for place, k in enumerate(free)]
        if layout.bound:
            told.append((body.value(f"load ptr, ptr {body.at(self.context, 8 * _WORK)}"), "0"))
        results = self._results(rows, layout.shape)
        for output, result in zip(self.function.outputs, results, strict=True):
            told.append((self._field(result, _DATA, "ptr"), str(8 * prod(output.shape))))
        for k, (pointer, step) in enumerate(told):
            body.do(f"store ptr {pointer}, ptr {body.at(layout.pointers, 8 * k)}")
            body.do(f"store i64 {step}, ptr {body.at(layout.steps, 8 * k)}")
        for k, stride in enumerate(layout.strides, len(told)):
            body.do(f"store i64 {stride}, ptr {body.at(layout.steps, 8 * k)}")
        body.do(f"store i64 {rows}, ptr {layout.shape}")
        # Others may run meanwhile, as they may while NumPy is in a loop.
        thread = body.value(f"call ptr @{module.declare('ptr', 'PyEval_SaveThread', [])}()")
        body.do(f"call void {loop}(ptr {layout.pointers}, ptr {layout.shape}, ptr {layout.steps}, ptr null)")
        body.do(f"call void @{module.declare('void', 'PyEval_RestoreThread', ['ptr'])}(ptr {thread})")
        body.do(f"ret ptr {self._together(results)}")

    # -- results -------------------------------------------------------------------------------------------------------
    def _results(self, rows: str = "", shape: str = "") -> list[str]:
        """New arrays, for one state or for rows of them; none (and the interpreter's error) when there is no memory.

        The shape of rows is written where `shape` points to.
        """
        body, module = self.body, self.module
        kinds = ["ptr", "i32", "ptr", "i32", "ptr", "ptr", "i32", "i32", "ptr"]
        new = module.declare("ptr", "torseur.array_new", kinds)
        arrays: list[str] = []
        for output in self.function.outputs:
            dims = f"@{module.integers(output.shape)}" if output.shape else "null"
            if rows:
                dims = shape
                for d, size in enumerate([rows, *output.shape]):
                    body.do(f"store i64 {size}, ptr {body.at(shape, 8 * d)}")
            head = f"ptr @torseur.array_type, i32 {len(output.shape) + bool(rows)}, ptr {dims}, i32 {_DOUBLE}"
            array = body.value(f"call ptr @{new}({head}, ptr null, ptr null, i32 0, i32 0, ptr null)")
            with body.when(body.value(f"icmp eq ptr {array}, null")):
                self._drop(arrays)
                body.do("ret ptr null")
                body.label(body.fresh("never"))
            arrays.append(array)
        return arrays

    def _return_or_drop(self, results: Sequence[str], targets: Sequence[str]) -> None:
        """Return the results unless there is a nan in them: what stands behind may have something to say about it."""
        body, sums = self.body, self._sums
        for sum_ in sums:
            body.do(f"store {_FOUR.real} {_FOUR.number(0.0)}, ptr {sum_}, align 8")
        for output, target in zip(self.function.outputs, targets, strict=True):
            self._add_nothing_of(target, prod(output.shape))
        parts = [body.value(f"load {_FOUR.real}, ptr {sum_}, align 8") for sum_ in sums]
        whole = body.value(f"fadd {_FOUR.real} {parts[0]}, {parts[1]}")
        total = Lanes(1).number(0.0)
        for k in range(_FOUR.width):
            total = body.value(f"fadd double {total}, {body.value(f'extractelement {_FOUR.real} {whole}, i64 {k}')}")
        good, bad = body.fresh("good"), body.fresh("bad")
        body.do(f"br i1 {body.value(f'fcmp ord double {total}, {total}')}, label %{good}, label %{bad}")
        body.label(good)
        body.do(f"ret ptr {self._together([self._as_seen(k, array) for k, array in enumerate(results)])}")
        body.label(bad)
        self._drop(results)
        body.do("br label %fallback")

    def _add_nothing_of(self, pointer: str, count: int) -> None:
        """Add zero times some numbers to the sums: nothing, unless one of them is not finite."""
        groups, rest = divmod(count, _GROUP)
        if groups:
            with self.body.loop(str(groups)) as group:
                self._add_nothing(
                    self.body.value(f"getelementptr [{_GROUP} x double], ptr {pointer}, i64 {group}"), _GROUP
                )
        self._add_nothing(self.body.at(pointer, 8 * _GROUP * groups), rest)

    def _add_nothing(self, pointer: str, count: int) -> None:
        """The same of a few; four side by side in two sums, since an addition waits for the one before it."""
        body, real, zero = self.body, _FOUR.real, _FOUR.number(0.0)
        fours, rest = divmod(count, _FOUR.width)
        sums = [body.value(f"load {real}, ptr {place}, align 8") for place in self._sums]
        for k in range(fours):
            x = body.value(f"load {real}, ptr {body.at(pointer, 8 * _FOUR.width * k)}, align 8")
            sums[k % 2] = body.value(f"fadd {real} {sums[k % 2]}, {body.value(f'fmul {real} {x}, {zero}')}")
        for k in range(rest):
            x = body.value(f"load double, ptr {body.at(pointer, 8 * (_FOUR.width * fours + k))}")
            nothing = body.value(f"fmul double {x}, {Lanes(1).number(0.0)}")
            alone = body.value(f"insertelement {real} {zero}, double {nothing}, i64 {k}")
            sums[1] = body.value(f"fadd {real} {sums[1]}, {alone}")
        for value, place in zip(sums, self._sums, strict=True):
            body.do(f"store {real} {value}, ptr {place}, align 8")

    def _as_seen(self, k: int, array: str) -> str:
        """A result without a shape as a scalar; the array is given away for it."""
        if self.function.outputs[k].shape:
            return array
        scalar = self.module.declare("ptr", "torseur.array_return", ["ptr"])
        return self.body.value(f"call ptr @{scalar}(ptr {array})")

    def _together(self, objects: Sequence[str]) -> str:
        """One object as it is, several as a named tuple, which owns them from now on."""
        if len(objects) == 1:
            return objects[0]
        body, module = self.body, self.module
        kind = body.value(f"load ptr, ptr {body.at(self.context, 8 * _RECORD)}")
        new = module.declare("ptr", "PyType_GenericAlloc", ["ptr", "i64"])
        made = body.value(f"call ptr @{new}(ptr {kind}, i64 {len(objects)})")
        with body.when(body.value(f"icmp eq ptr {made}, null")):
            self._drop(objects)
            body.do("ret ptr null")
            body.label(body.fresh("never"))
        put = module.declare("i32", "PyTuple_SetItem", ["ptr", "i64", "ptr"])
        for k, item in enumerate(objects):
            body.value(f"call i32 @{put}(ptr {made}, i64 {k}, ptr {item})")
        return made

    def _drop(self, objects: Sequence[str]) -> None:
        for item in objects:
            self.body.do(f"call void @{self.module.declare('void', 'Py_DecRef', ['ptr'])}(ptr {item})")

    def _call(self, name: str, pointers: Sequence[str]) -> None:
        self.body.do(f"call void @{name}({', '.join(f'ptr {p}' for p in pointers)})")


@dataclass(frozen=True)
class _BatchLayout:
    """Where the arguments of the loop in lanes are: pointers, steps with the strides behind them, shape of results."""

    bound: bool
    pointers: str
    steps: str
    strides: Sequence[int]
    shape: str


def _strides(shape: Sequence[int]) -> list[int]:
    """Of one row of doubles, packed."""
    return [8 * prod(shape[d + 1 :]) for d in range(len(shape))]


class _Context(np.ndarray[Any, Any]):
    """The words the code reads, holding on to everything they point to."""

    held: Any


class _MethodDef(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


def make_direct(
    address: int,
    name: str,
    doc: str,
    inputs: Sequence[Argument],
    defaults: Sequence[NDArray[np.float64]],
    work: NDArray[np.float64] | None,
    fallback: Callable[..., Any],
    record: type[tuple[Any, ...]],
    keep: Any,
) -> Callable[..., Any]:
    """The built-in function.

    Args:
        address: of the code.
        name, doc: what it shows.
        inputs: all inputs that are not parameters; the last ones may have defaults.
        defaults: for the last inputs.
        work: what the parameters were turned into.
        fallback: takes every other call.
        record: the kind of tuple that several results are.
        keep: whatever the code needs alive.
    """
    given = len(inputs) - len(defaults)
    arrays = [np.ascontiguousarray(d, dtype=np.float64) for d in defaults]
    words = [id(fallback), 0 if work is None else work.ctypes.data, 0, id(record), given]
    words += [0] * given + [a.ctypes.data for a in arrays]
    context = np.array(words, dtype=np.uint64).view(_Context)
    method = _MethodDef(name.encode(), address, _FASTCALL_WITH_KEYWORDS, doc.encode())
    context.held = [method, arrays, work, fallback, record, keep]
    create = ctypes.pythonapi.PyCFunction_NewEx
    create.restype, create.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
    made: Callable[..., Any] = create(ctypes.addressof(method), context, None)
    return made


def serve_batches(made: Callable[..., Any], address: int, keep: Any) -> None:
    """From now on a function that `make_direct` made takes rows of states itself.

    Args:
        made: the function.
        address: of the loop in lanes.
        keep: whatever the loop needs alive.
    """
    context = made.__self__  # type: ignore[attr-defined]
    context.held.append(keep)
    context[_BATCH] = address
