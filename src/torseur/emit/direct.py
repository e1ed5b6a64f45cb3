"""The shortest way from Python to native code: a built-in function made at run time.

A call through NumPy's ufunc machinery costs about a microsecond before any work is done. For one state in plain
arrays of doubles, the code made here is itself the C function that the interpreter calls: it looks at the arrays,
makes the arrays for the results, and runs the kernel. Several results are a tuple, a result without a shape is NumPy's
scalar, as they are for the ufunc. Whatever is not that simple (batches, lists, keywords, other
types, wrong shapes) goes, with all its arguments, to an ordinary Python callable.

It reads the published fields of NumPy's array objects and follows the interpreter's fast calling convention; where
either is not as expected (another interpreter, a free-threaded build), it is not used.
"""

from __future__ import annotations

import ctypes
import sys
import sysconfig
from collections.abc import Callable, Sequence
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from torseur.emit.interface import Argument
from torseur.emit.ir import Body, Lanes
from torseur.emit.module import Module
from torseur.emit.staged import Staged, inputs_of
from torseur.graph.function import Function, Stage

__all__ = ["direct_imports", "is_possible", "make_direct", "write_direct"]

# Offsets in PyArrayObject (numpy/ndarraytypes.h) after the 16 bytes every object has, and flags.
_DATA, _NDIM, _SHAPE, _DESCR, _FLAGS = 16, 24, 32, 56, 64
_READY = 0x0001 | 0x0100  # C-contiguous and aligned
_DOUBLE = 12
_STACK = 64 * 1024
_FASTCALL_WITH_KEYWORDS = 0x0080 | 0x0002
_ARRAY_NEW, _ARRAY_RETURN = 93, 76  # PyArray_New and PyArray_Return in the table of NumPy's C-API

# Words of the context, an array that is the `self` of the function.
_FALLBACK, _WORK, _FIXED = 0, 1, 2


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

    def write(self, free: Sequence[int]) -> None:
        """Positional arguments come first; the inputs after them are read from the context."""
        body, module = self.body, self.module
        memory = body.value(f"alloca [{max(self.size, 1)} x i8], align 64")
        context = body.value(f"load ptr, ptr {body.at('%self', _DATA)}")
        for imported in ("torseur.array_type", "torseur.double_type"):
            module.external(imported)
        given = body.value(f"load i64, ptr {body.at(context, 8 * _FIXED)}")
        self._require("icmp eq ptr %names, null")
        self._require(f"icmp eq i64 %count, {given}")
        pointers: dict[int, str] = {}
        for place, k in enumerate(free):
            pointers[k] = self._input(place, k, given, context)
        results = self._results()
        work0 = body.value(f"load ptr, ptr {body.at(context, 8 * _WORK)}")
        work1, scratch = body.at(memory, 8 * self.staged.work[0]), body.at(memory, 8 * sum(self.staged.work))
        instant = [pointers[k] for k in inputs_of(self.function, Stage.TIME)]
        self._call(self.staged.instant.name, [*instant, work0, work1, scratch])
        targets = [body.value(f"load ptr, ptr {body.at(result, _DATA)}") for result in results]
        states = [pointers[k] for k in inputs_of(self.function, Stage.STATE)]
        self._call(self.staged.body.name, [*states, work0, work1, *targets, scratch])
        self._return_or_drop(results, targets)
        body.label("fallback")
        other = body.value(f"load ptr, ptr {body.at(context, 8 * _FALLBACK)}")
        call = module.declare("ptr", "PyObject_Vectorcall", ["ptr", "ptr", "i64", "ptr"])
        answer = body.value(f"call ptr @{call}(ptr {other}, ptr %args, i64 %count, ptr %names)")
        body.do(f"ret ptr {answer}")

    def _require(self, condition: str) -> None:
        after = self.body.fresh("good")
        self.body.do(f"br i1 {self.body.value(condition)}, label %{after}, label %fallback")
        self.body.label(after)

    def _input(self, place: int, k: int, given: str, context: str) -> str:
        """The numbers of one input: of an argument that was checked, or of a default."""
        body, shape = self.body, self.function.inputs[k].shape
        is_given, from_call, from_context, after = (body.fresh(s) for s in ("%given", "call", "context", "after"))
        body.do(f"{is_given} = icmp slt i64 {place}, {given}")
        body.do(f"br i1 {is_given}, label %{from_call}, label %{from_context}")
        body.label(from_call)
        array = body.value(f"load ptr, ptr {body.at('%args', 8 * place)}")
        self._require(f"icmp eq ptr {self._field(array, 8, 'ptr')}, @torseur.array_type")
        self._require(f"icmp eq ptr {self._field(array, _DESCR, 'ptr')}, @torseur.double_type")
        self._require(f"icmp eq i32 {self._field(array, _NDIM, 'i32')}, {len(shape)}")
        flags = body.value(f"and i32 {self._field(array, _FLAGS, 'i32')}, {_READY}")
        self._require(f"icmp eq i32 {flags}, {_READY}")
        dims = self._field(array, _SHAPE, "ptr")
        for d, size in enumerate(shape):
            self._require(f"icmp eq i64 {self._field(dims, 8 * d, 'i64')}, {size}")
        one = self._field(array, _DATA, "ptr")
        last = body.block
        body.do(f"br label %{after}")
        body.label(from_context)
        two = body.value(f"load ptr, ptr {body.at(context, 8 * (_FIXED + 1 + place))}")
        body.do(f"br label %{after}")
        body.label(after)
        return body.value(f"phi ptr [ {one}, %{last} ], [ {two}, %{from_context} ]")

    def _field(self, pointer: str, offset: int, kind: str) -> str:
        return self.body.value(f"load {kind}, ptr {self.body.at(pointer, offset)}")

    def _results(self) -> list[str]:
        """New arrays; none (and the interpreter's error) when there is no memory."""
        body, module = self.body, self.module
        kinds = ["ptr", "i32", "ptr", "i32", "ptr", "ptr", "i32", "i32", "ptr"]
        new = module.declare("ptr", "torseur.array_new", kinds)
        arrays: list[str] = []
        for output in self.function.outputs:
            dims = f"@{module.integers(output.shape)}" if output.shape else "null"
            head = f"ptr @torseur.array_type, i32 {len(output.shape)}, ptr {dims}, i32 {_DOUBLE}"
            array = body.value(f"call ptr @{new}({head}, ptr null, ptr null, i32 0, i32 0, ptr null)")
            with body.when(body.value(f"icmp eq ptr {array}, null")):
                self._drop(arrays)
                body.do("ret ptr null")
                body.label(body.fresh("never"))
            arrays.append(array)
        return arrays

    def _return_or_drop(self, results: Sequence[str], targets: Sequence[str]) -> None:
        """Return the results unless there is a nan in them: what stands behind may have something to say about it."""
        body = self.body
        total = Lanes(1).number(0.0)
        for output, target in zip(self.function.outputs, targets, strict=True):
            for k in range(prod(output.shape)):
                x = body.value(f"load double, ptr {body.at(target, 8 * k)}")
                total = body.value(f"fadd double {total}, {body.value(f'fmul double {x}, {Lanes(1).number(0.0)}')}")
        good, bad = body.fresh("good"), body.fresh("bad")
        body.do(f"br i1 {body.value(f'fcmp ord double {total}, {total}')}, label %{good}, label %{bad}")
        body.label(good)
        body.do(f"ret ptr {self._together([self._as_seen(k, array) for k, array in enumerate(results)])}")
        body.label(bad)
        self._drop(results)
        body.do("br label %fallback")

    def _as_seen(self, k: int, array: str) -> str:
        """A result without a shape as a scalar; the array is given away for it."""
        if self.function.outputs[k].shape:
            return array
        scalar = self.module.declare("ptr", "torseur.array_return", ["ptr"])
        return self.body.value(f"call ptr @{scalar}(ptr {array})")

    def _together(self, objects: Sequence[str]) -> str:
        """One object as it is, several as a tuple, which owns them from now on."""
        if len(objects) == 1:
            return objects[0]
        body, module = self.body, self.module
        made = body.value(f"call ptr @{module.declare('ptr', 'PyTuple_New', ['i64'])}(i64 {len(objects)})")
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
        keep: whatever the code needs alive.
    """
    given = len(inputs) - len(defaults)
    arrays = [np.ascontiguousarray(d, dtype=np.float64) for d in defaults]
    words = [id(fallback), 0 if work is None else work.ctypes.data, given]
    words += [0] * given + [a.ctypes.data for a in arrays]
    context = np.array(words, dtype=np.uint64).view(_Context)
    method = _MethodDef(name.encode(), address, _FASTCALL_WITH_KEYWORDS, doc.encode())
    context.held = (method, arrays, work, fallback, keep)
    create = ctypes.pythonapi.PyCFunction_NewEx
    create.restype, create.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
    made: Callable[..., Any] = create(ctypes.addressof(method), context, None)
    return made
