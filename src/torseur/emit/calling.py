"""Loops around compiled functions: what decides between one call and the next is native code too.

Such a loop is written as routines are (`torseur.graph.routine`), with two things more: arguments annotated ``Call`` are
compiled functions, called as statements with the number of the first row and how many rows; and helpers of the same
module, written likewise, may be called. Its arithmetic is rounded as Python's is: run by Python or as native code, a
loop gives the same bits.

>>> from torseur.emit import compile
>>> from torseur.graph import Function, Graph
>>> x = Graph().block("x", 1)
>>> half = compile(Function("half", [x], {"y": [0.5 * x[0]]}))
>>> values, found = np.array([[8.0]]), np.empty((1, 1))
>>> calls = Call(half, [Rows(values)], Rows(found))
>>> NativeLoop(_halve).prepared(3, values, found, calls)()
>>> float(values[0, 0])
1.0
"""

from __future__ import annotations

import ast
import ctypes
import hashlib
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from math import prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from torseur.emit import cache
from torseur.emit.ahead import needed
from torseur.emit.ir import Body
from torseur.emit.jit import Library, Tier, assemble, host, link
from torseur.emit.native import NativeFunction
from torseur.emit.routines import Translator
from torseur.errors import CompileError
from torseur.graph.routine import Out
from torseur.graph.routine_syntax import Kind, kinds_of, tree_of

__all__ = ["Call", "NativeLoop", "Rows"]

Array = NDArray[np.float64]


# -- compiled functions at arrays that stay where they are -------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class Rows:
    """One argument or result of calls: an array with a row for each run.

    Attributes:
        array: (rows, size), each row in one piece.
        begins: whether a call from a row on begins with that row of this array, not with its first one.
        goes_on: whether further rows of a call are further rows of this array, not the same one again.
    """

    array: Array
    begins: bool = True
    goes_on: bool = True

    def __post_init__(self) -> None:
        array = self.array
        if array.dtype != np.float64 or array.ndim != 2 or (array.shape[1] > 1 and array.strides[1] != 8):
            expected, got = "rows of doubles, each in one piece", f"{array.dtype} {array.shape}"
            raise CompileError("an array that native code cannot work on", expected=expected, got=got)

    def part(self, first: int, count: int) -> Array:
        start = first if self.begins else 0
        return self.array[start : start + (count if self.goes_on else 1)]


class _Call:
    """A compiled function whose arguments and results stay where they are.

    Args:
        native: the function, not yet bound to parameters.
        ins: its inputs but the parameters, in order; last, where there are parameters, what they were turned into.
        out: its one result.
        width: runs in an instruction.
    """

    def __init__(self, native: NativeFunction, ins: Sequence[Rows], out: Rows, width: int = 1) -> None:
        self.native, self.ins, self.out = native, list(ins), out
        self.bound = native
        """The function at the parameters of the first row: what is called where there is no native code."""
        address, operands = native.address(width), [*ins, out]
        self._address = address
        self.words: NDArray[np.int64] | None = None
        """What native code is told, where there is any."""
        if address is None:
            return
        interface = native.interface
        shapes = [a.shape for a in (*interface.free, *interface.outputs)]
        shapes.insert(len(interface.free), (1,) * (len(ins) - len(interface.free)))
        cores = [8 for shape in shapes if prod(shape) for _ in shape]
        self._bases = np.array([rows.array.ctypes.data for rows in operands])
        self._offsets = np.array([rows.array.strides[0] * rows.begins for rows in operands])
        self._steps = np.array([*(rows.array.strides[0] * rows.goes_on for rows in operands), *cores])
        self._args, self._dimensions = np.zeros(len(operands), np.int64), np.ones(8, np.int64)
        tables = self._bases, self._offsets, self._args, self._dimensions, self._steps
        self.words = np.array([address, len(operands), *(table.ctypes.data for table in tables)])
        self._code = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)(address)
        self._given = [table.ctypes.data for table in (self._args, self._dimensions, self._steps)]

    def __call__(self, first: int, count: int) -> None:
        """The results of some rows."""
        if self._address is None:
            free = self.ins[: len(self.bound.inputs)]
            self.out.part(first, count)[:] = self.bound(*(rows.part(first, count) for rows in free))
            return
        np.multiply(self._offsets, first, out=self._args)
        self._args += self._bases
        self._dimensions[0] = count
        self._code(*self._given, None)


Call: TypeAlias = _Call
"""As an annotation: a compiled function that a loop calls."""

_INVOKE = """
define internal void @invoke(ptr %call, i64 %first, i64 %count) {
  %words = load [7 x i64], ptr %call
  %address = extractvalue [7 x i64] %words, 0
  %function = inttoptr i64 %address to ptr
  %operands = extractvalue [7 x i64] %words, 1
  %w2 = extractvalue [7 x i64] %words, 2
  %bases = inttoptr i64 %w2 to ptr
  %w3 = extractvalue [7 x i64] %words, 3
  %offsets = inttoptr i64 %w3 to ptr
  %w4 = extractvalue [7 x i64] %words, 4
  %args = inttoptr i64 %w4 to ptr
  %w5 = extractvalue [7 x i64] %words, 5
  %dimensions = inttoptr i64 %w5 to ptr
  %w6 = extractvalue [7 x i64] %words, 6
  %steps = inttoptr i64 %w6 to ptr
  store i64 %count, ptr %dimensions
  br label %head
head:
  %k = phi i64 [ 0, %0 ], [ %next, %inside ]
  %more = icmp slt i64 %k, %operands
  br i1 %more, label %inside, label %after
inside:
  %base.place = getelementptr i64, ptr %bases, i64 %k
  %base = load i64, ptr %base.place
  %offset.place = getelementptr i64, ptr %offsets, i64 %k
  %offset = load i64, ptr %offset.place
  %past = mul i64 %offset, %first
  %arg = add i64 %base, %past
  %arg.place = getelementptr i64, ptr %args, i64 %k
  store i64 %arg, ptr %arg.place
  %next = add i64 %k, 1
  br label %head
after:
  call void %function(ptr %args, ptr %dimensions, ptr %steps, ptr null)
  ret void
}
"""


# -- the loop ----------------------------------------------------------------------------------------------------------
class _Text:
    """A loop, or a helper of one, read: its tree and its names."""

    def __init__(self, body: Callable[..., None]) -> None:
        self.body, self.name, self.tree = body, body.__name__, tree_of(body)
        arguments = self.tree.args.args
        self.arguments = {arg.arg: ast.unparse(arg.annotation) for arg in arguments if arg.annotation is not None}
        called = {n.func.id for n in ast.walk(self.tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
        known = {name: body.__globals__.get(name) for name in sorted(called)}
        self.helpers = {name: _Text(f) for name, f in known.items() if callable(f) and hasattr(f, "__code__")}

    @cached_property
    def kinds(self) -> dict[str, Kind]:
        outs, works = (list(self.arguments.values()).count(kind) for kind in ("Out", "Work"))
        callees = {name: tuple(helper.arguments.values()) for name, helper in self.helpers.items()}
        return kinds_of(self.tree, outs, works, callees)

    def all(self) -> dict[str, _Text]:
        """It and all that it calls, what is called first."""
        found: dict[str, _Text] = {}
        for helper in self.helpers.values():
            found |= helper.all()
        return {**found, self.name: self}


class _LoopTranslator(Translator):
    """Differs from routines in what is rounded, in what may be called, and in that calls change arrays."""

    REAL = {ast.Add: "fadd", ast.Sub: "fsub", ast.Mult: "fmul", ast.Div: "fdiv"}  # noqa: RUF012
    POINTER = {"In": "ptr", "Out": "ptr", "Work": "ptr", "Call": "ptr"}  # noqa: RUF012

    def _expr(self, node: ast.Expr) -> None:
        call = node.value
        assert isinstance(call, ast.Call)
        assert isinstance(call.func, ast.Name)
        name, arguments = call.func.id, self.routine.arguments
        given = [
            f"ptr %arg.{arg.id}"
            if isinstance(arg, ast.Name) and arguments.get(arg.id, "int") != "int"
            else f"i64 {self._as('i64', self._value(arg))}"
            for arg in call.args
        ]
        if arguments.get(name) == "Call":
            self.body.do(f"call void @invoke(ptr %arg.{name}, {', '.join(given)})")
        else:
            self.body.do(f"call void @{name}({', '.join(given)})")


_libraries: dict[str, Library] = {}
_lock = threading.Lock()


class NativeLoop:
    """A loop around compiled functions, compiled when it is first prepared.

    Args:
        body: the Python function; whole numbers, arrays that are read (``In``) or changed (``Out``), calls.
    """

    def __init__(self, body: Callable[..., None]) -> None:
        self.body = body

    def prepared(self, *args: Any, native: bool = True) -> Callable[[], None]:
        """The loop at some arguments, which are read whenever it is called; with `native`, as native code."""
        if not native or any(isinstance(a, _Call) and a.words is None for a in args):
            return lambda: self._by_python(args)
        words = np.array([a if isinstance(a, int) else _pointer(a) for a in args])
        code = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self._library["run"])
        address, kept = words.ctypes.data, (words, args)

        def run(kept: object = kept) -> None:
            code(address)

        return run

    def _by_python(self, args: Sequence[Any]) -> None:
        with np.errstate(all="ignore"):
            self.body(*(a.reshape(-1) if isinstance(a, np.ndarray) else a for a in args))

    def ready(self) -> None:
        """Compile now what is compiled when it is first prepared as native code."""
        self._library  # noqa: B018

    @cached_property
    def _library(self) -> Library:
        needed(self.body.__name__)
        key = hashlib.sha256(repr(_identity(self.body)).encode()).hexdigest()
        with _lock:
            if key not in _libraries:
                name = cache.cache_key(f"loop:{key}")
                made = partial(_made_of, self.body)
                _libraries[key] = cache.used(name, lambda _, code: link(code, ("run",)), made)
            return _libraries[key]


def _identity(body: Callable[..., None]) -> list[object]:
    """What decides the code of a loop: bytecode, kinds of arguments, numbers of its module, and what it calls.

    Its text is read only where there is no code yet: that takes longer than to find the code.
    """
    code = body.__code__
    known = {name: body.__globals__[name] for name in code.co_names if name in body.__globals__}
    numbers = {name: x for name, x in known.items() if type(x) in (int, float)}
    helpers = [_identity(f) for f in known.values() if callable(f) and hasattr(f, "__code__")]
    return [code.co_code, code.co_consts, code.co_names, code.co_varnames, body.__annotations__, numbers, helpers]


def _made_of(body: Callable[..., None]) -> tuple[dict[str, Any], bytes]:
    return _made(_Text(body).all())


def _pointer(a: Any) -> int:
    a = a.words if isinstance(a, _Call) else a
    if not (isinstance(a, np.ndarray) and a.dtype in (np.float64, np.int64) and a.flags.c_contiguous):
        raise CompileError("a loop works on arrays of doubles in one piece", got=f"{type(a).__name__}")
    return int(a.ctypes.data)


def _made(texts: dict[str, _Text]) -> tuple[dict[str, Any], bytes]:
    """Machine code of ``void run(i64 *words)``: the arguments of the last of some texts, which are called by names."""
    parts = [Translator.DECLARED, _INVOKE]
    parts += [_LoopTranslator(text).text(name, "internal ") for name, text in texts.items()]
    *_, (name, text) = texts.items()
    body, given = Body(), []
    for k, annotation in enumerate(text.arguments.values()):
        kind, place = "i64" if annotation == "int" else "ptr", body.at("%words", 8 * k)
        given.append(f"{kind} {body.value(f'load {kind}, ptr {place}')}")
    body.do(f"call void @{name}({', '.join(given)})")
    body.do("ret void")
    parts.append(f"define void @run(ptr %words) nounwind {{\n{body.text()}\n}}\n")
    parts.append("attributes #0 = { nounwind }\n")
    return {}, assemble("\n".join(parts), host(), Tier.STEERING)


def _halve(times: int, x: Out, y: Out, half: Call) -> None:
    """The example above."""
    for _k in range(times):
        half(0, 1)
        x[0] = y[0]
