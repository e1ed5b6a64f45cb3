"""Routines as native code: loops, compiled once with all of LLVM's optimisations and kept.

A routine becomes ``void routine(i64..., ptr arrays...)`` in a module of its own, which other modules call by address.
Between lanes nothing is shared where each chooses its own pivots: `write_routine` calls such a routine lane by lane.
One that is in step is ``void routine(ptr arrays...)`` for its whole numbers and a number of lanes.
"""

from __future__ import annotations

import ast
import threading
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from typing import Any, Protocol

from torseur.emit import cache
from torseur.emit.ir import Body, Kernel, Lanes, Module, attributes_of
from torseur.emit.jit import Library, Tier, assemble, host, link
from torseur.errors import CompileError
from torseur.graph.constrained_routines import FACTORS, MULTIPLIERS, SOLUTION
from torseur.graph.linear_routines import (
    LU,
    LU_SOLUTION,
    LU_TRANSPOSED,
    PRODUCTS,
    SHORTEST,
    TREE_FACTORS,
    TREE_SOLUTIONS,
)
from torseur.graph.routine import EPSILON, Loops, Routine
from torseur.graph.routine_syntax import Kind, range_of

__all__ = ["ROUTINES", "Translator", "routine_imports", "write_routine"]

_IN_STEP = PRODUCTS, TREE_FACTORS, TREE_SOLUTIONS
_ALL = FACTORS, SOLUTION, MULTIPLIERS, LU, LU_SOLUTION, LU_TRANSPOSED, SHORTEST, *_IN_STEP
ROUTINES: Mapping[str, Routine] = {routine.name: routine for routine in _ALL}
"""Those that compiled functions may call, by name."""

_libraries: dict[str, Library] = {}
_lock = threading.Lock()


def symbol_of(routine: Routine, whole: Sequence[int] = (), lanes: Lanes | None = None) -> str:
    """What it is called in object files: another text is another routine.

    Args:
        routine: which one.
        whole, lanes: of one that is in step.
    """
    name = f"torseur_{routine.name}_{routine.digest[:12]}"
    return name if lanes is None else f"{name}_for_{'_'.join(map(str, whole))}_{lanes.tag}"


def routine_imports(symbols: Sequence[str]) -> dict[str, int]:
    """The addresses of routines, compiled or taken from the cache when first needed."""
    with _lock:
        for symbol in symbols:
            if symbol not in _libraries:
                _libraries[symbol] = _compiled(symbol)
        return {symbol: _libraries[symbol][symbol] for symbol in symbols}


def _compiled(symbol: str) -> Library:
    name, _, details = symbol.partition("_for_")
    known = {symbol_of(routine): routine for routine in ROUTINES.values()}
    if name not in known or known[name].in_step is not bool(details):
        raise CompileError("code that needs a routine of another version", got=symbol)
    *whole, lanes = details.replace("x", "").split("_") if details else ["1"]

    def made() -> tuple[dict[str, Any], bytes]:
        text = routine_text(symbol, known[name], [int(k) for k in whole], Lanes(int(lanes)))
        return {}, assemble(text, host(), Tier.LOOPS)

    return cache.used(cache.cache_key(f"routine:{symbol}"), lambda _, code: link(code, (symbol,)), made)


def routine_text(symbol: str, routine: Routine, whole: Sequence[int] = (), lanes: Lanes | None = None) -> str:
    """The module of one routine; whole numbers and lanes are those of one that is in step."""
    attributes = attributes_of(lanes) if lanes is not None and lanes.width > 1 else "nounwind"
    text, real = Translator(routine, whole, lanes).text(symbol), (lanes or Lanes(1)).real
    fused = f"declare {real} @llvm.fmuladd.{(lanes or Lanes(1)).suffix}({real}, {real}, {real})"
    return f"{Translator.DECLARED}\n{fused}\n{text}\nattributes #0 = {{ {attributes} }}\n"


# -- calls from other modules ------------------------------------------------------------------------------------------
def write_routine(module: Module, loops: Loops) -> Kernel:
    """A kernel ``(ptr in..., ptr out..., ptr scratch)`` that calls a routine, for each lane if it is not in step."""
    known = module.kernels.get(loops.digest)
    if known is not None:
        return known
    routine, lanes, body = loops.routine, module.lanes, Body()
    whole = () if routine.in_step else loops.whole
    symbol = symbol_of(routine, loops.whole, lanes) if routine.in_step else symbol_of(routine)
    tables = [f"@{module.constants(table)}" if table else "null" for table in loops.tables]
    ins, outs = [f"%in{k}" for k in range(len(loops.inputs))], [f"%out{k}" for k in range(len(loops.outs))]
    kinds = ["i64"] * len(whole) + ["ptr"] * (len(tables) + len(ins) + len(outs) + len(loops.works))
    module.declare("void", symbol, kinds)
    module.routines[symbol] = None
    if not (loops.is_gated and routine.internal) and not loops.sets_all:
        for pointer, size in zip(outs, loops.outs, strict=True):
            _clear(module, body, pointer, size * lanes.width)
    writer = _at_once if lanes.width == 1 or routine.in_step else _lane_by_lane
    scratch = writer(module, body, loops, ins, outs, lambda arrays: _call(body, symbol, whole, tables, arrays))
    body.do("ret void")
    name = module.fresh("routine")
    pointers = ", ".join(f"ptr noalias {p}" for p in [*ins, *outs, "%scratch"])
    module.define(f"void @{name}({pointers})", body, "noinline")
    kernel = module.kernels[loops.digest] = Kernel(name, scratch)
    return kernel


def _at_once(
    module: Module, body: Body, loops: Loops, ins: list[str], outs: list[str], call: Callable[[list[str]], None]
) -> int:
    """Arrays as they are; working arrays in scratch memory. How many values of it that takes."""
    places, width = [0, *accumulate(loops.works)], module.lanes.width
    with body.when(_is_wanted(body, loops, ins, "0")):
        if loops.is_gated and loops.routine.internal:
            for pointer, size in zip(outs, loops.outs, strict=True):
                _clear(module, body, pointer, size * width)
        _clear(module, body, "%scratch", places[-1] * width)
        call([*ins, *outs, *(body.at("%scratch", 8 * width * k) for k in places[:-1])])
    return places[-1]


def _lane_by_lane(
    module: Module, body: Body, loops: Loops, ins: list[str], outs: list[str], call: Callable[[list[str]], None]
) -> int:
    """The numbers of one lane after the other, brought together in scratch memory."""
    sizes = [*(b.size for b in loops.inputs), *loops.outs, *loops.works]
    places = [0, *accumulate(sizes)]
    arrays = [body.at("%scratch", 8 * k) for k in places[:-1]]
    given, results = arrays[: len(ins)], arrays[len(ins) : len(ins) + len(outs)]
    with body.loop(module.lanes.width) as lane, body.when(_is_wanted(body, loops, ins, lane)):
        _clear(module, body, body.at("%scratch", 8 * places[len(ins)]), places[-1] - places[len(ins)])
        for pointer, array, size in zip(ins, given, sizes, strict=False):
            _copy(body, module.lanes, (pointer, lane), (array, None), size)
        call(arrays)
        for pointer, array, size in zip(outs, results, loops.outs, strict=True):
            _copy(body, module.lanes, (array, None), (pointer, lane), size)
    return -(-places[-1] // module.lanes.width)


def _is_wanted(body: Body, loops: Loops, ins: list[str], lane: str) -> str:
    if not loops.is_gated:
        return "true"
    place = body.value(f"getelementptr double, ptr {ins[0]}, i64 {lane}")
    return body.value(f"fcmp uge double {body.value(f'load double, ptr {place}')}, {Lanes(1).number(0.5)}")


def _call(body: Body, symbol: str, whole: Sequence[int], tables: Sequence[str], arrays: Sequence[str]) -> None:
    given = [f"i64 {k}" for k in whole] + [f"ptr {p}" for p in (*tables, *arrays)]
    body.do(f"call void @{symbol}({', '.join(given)})")


def _clear(module: Module, body: Body, pointer: str, size: int) -> None:
    if size:
        clear = module.declare("void", "llvm.memset.p0.i64", ["ptr", "i8", "i64", "i1"])
        body.do(f"call void @{clear}(ptr {pointer}, i8 0, i64 {8 * size}, i1 false)")


def _copy(body: Body, lanes: Lanes, source: tuple[str, str | None], target: tuple[str, str | None], size: int) -> None:
    """Some numbers; one side has them one after the other, the other side in a lane."""
    with body.loop(size) as k:

        def place(pointer: str, lane: str | None, k: str = k) -> str:
            if lane is not None:
                k = body.value(f"add i64 {body.value(f'mul i64 {k}, {lanes.width}')}, {lane}")
            return body.value(f"getelementptr double, ptr {pointer}, i64 {k}")

        value = body.value(f"load double, ptr {place(*source)}, align 8")
        body.do(f"store double {value}, ptr {place(*target)}, align 8")


# -- translation -------------------------------------------------------------------------------------------------------
_INT = {ast.Add: "add nsw", ast.Sub: "sub nsw", ast.Mult: "mul nsw"}
_COMPARE = {ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne"}

Value = tuple[str, str]
"""Type and name."""


class Translatable(Protocol):
    """What is translated: the names of a function, and its syntax tree."""

    @property
    def arguments(self) -> Mapping[str, str]: ...

    @property
    def kinds(self) -> Mapping[str, Kind]: ...

    @property
    def tree(self) -> ast.FunctionDef: ...


class Translator:
    """One routine as LLVM's assembly language; names are places on the stack, which LLVM turns into registers.

    Args:
        routine: what is translated.
        whole, lanes: of a routine that is in step: its whole numbers, which become constants, and a state in each lane.
    """

    REAL: Mapping[type[ast.operator], str] = {
        ast.Add: "fadd contract",
        ast.Sub: "fsub contract",
        ast.Mult: "fmul contract",
        ast.Div: "fdiv",
    }
    POINTER: Mapping[str, str] = {"In": "ptr noalias readonly", "Out": "ptr noalias", "Work": "ptr noalias"}
    DECLARED = "\n".join(f"declare double @llvm.{name}.f64(double)" for name in ("fabs", "sqrt"))

    def __init__(self, routine: Translatable, whole: Sequence[int] = (), lanes: Lanes | None = None) -> None:
        self.routine, self.body, self.whole, self.lanes = routine, Body(), whole, lanes or Lanes(1)
        self.real = self.lanes.real
        self.places = {name: "i64" if kind == "int" else self.real for name, kind in routine.kinds.items()}

    def text(self, symbol: str, linkage: str = "") -> str:
        """The definition of one function."""
        arguments, constants = [], iter(self.whole)
        for name, kind in self.places.items():
            self.body.do(f"%place.{name} = alloca {kind}")
        for name, annotation in self.routine.arguments.items():
            is_whole = annotation == "int"
            if is_whole:
                self._store(name, ("i64", str(next(constants, f"%arg.{name}"))))
            if not (is_whole and self.whole):
                arguments.append(f"{'i64' if is_whole else self.POINTER[annotation]} %arg.{name}")
        self._block(self.routine.tree.body)
        self.body.do("ret void")
        lines = "\n".join(self.body.lines)
        return f"define {linkage}void @{symbol}({', '.join(arguments)}) #0 {{\n{lines}\n}}\n"

    # -- names ---------------------------------------------------------------------------------------------------------
    def _store(self, name: str, value: Value) -> None:
        kind = self.places[name]
        self.body.do(f"store {kind} {self._as(kind, value)}, ptr %place.{name}")

    def _as(self, kind: str, value: Value) -> str:
        if value[0] == kind:
            return value[1]
        assert (value[0], kind) == ("i64", "double"), "in lanes whole numbers do not become reals"
        return self.body.value(f"sitofp i64 {value[1]} to double")

    def _element(self, node: ast.Subscript, kind: str) -> str:
        assert isinstance(node.value, ast.Name)
        index = self._as("i64", self._value(node.slice))
        return self.body.value(f"getelementptr inbounds {kind}, ptr %arg.{node.value.id}, i64 {index}")

    # -- statements ----------------------------------------------------------------------------------------------------
    def _block(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            getattr(self, f"_{type(statement).__name__.lower()}")(statement)

    def _assign(self, node: ast.Assign) -> None:
        (target,) = node.targets
        value = self._value(node.value)
        if isinstance(target, ast.Subscript):
            number = self._as(self.real, value)
            self.body.do(f"store {self.real} {number}, ptr {self._element(target, self.real)}")
        else:
            assert isinstance(target, ast.Name)
            self._store(target.id, value)

    def _return(self, node: ast.Return) -> None:
        self.body.do("ret void")
        self.body.label(self.body.fresh("never"))

    def _if(self, node: ast.If) -> None:
        body, (then, other, after) = self.body, (self.body.fresh(stem) for stem in ("then", "else", "after"))
        body.do(f"br i1 {self._truth(node.test)}, label %{then}, label %{other}")
        body.label(then)
        self._block(node.body)
        body.do(f"br label %{after}")
        body.label(other)
        self._block(node.orelse)
        body.do(f"br label %{after}")
        body.label(after)

    def _while(self, node: ast.While) -> None:
        body, (head, inside, after) = self.body, (self.body.fresh(stem) for stem in ("head", "inside", "after"))
        body.do(f"br label %{head}")
        body.label(head)
        body.do(f"br i1 {self._truth(node.test)}, label %{inside}, label %{after}")
        body.label(inside)
        self._block(node.body)
        body.do(f"br label %{head}")
        body.label(after)

    def _for(self, node: ast.For) -> None:
        assert isinstance(node.target, ast.Name)
        begin, end, up = range_of(node)
        name, body = node.target.id, self.body
        limit = self._as("i64", self._value(end))
        self._store(name, ("i64", self._as("i64", self._value(begin))))
        head, inside, after = (body.fresh(stem) for stem in ("head", "inside", "after"))
        body.do(f"br label %{head}")
        body.label(head)
        now = body.value(f"load i64, ptr %place.{name}")
        order = "slt" if up else "sgt"
        body.do(f"br i1 {body.value(f'icmp {order} i64 {now}, {limit}')}, label %{inside}, label %{after}")
        body.label(inside)
        self._block(node.body)
        following = body.value(f"add nsw i64 {body.value(f'load i64, ptr %place.{name}')}, {1 if up else -1}")
        body.do(f"store i64 {following}, ptr %place.{name}")
        body.do(f"br label %{head}")
        body.label(after)

    # -- values --------------------------------------------------------------------------------------------------------
    def _value(self, node: ast.expr) -> Value:
        body = self.body
        match node:
            case ast.Constant(value=int(whole)):
                return "i64", str(whole)
            case ast.Constant(value=float(real)):
                return self.real, self.lanes.number(real)
            case ast.Name(id="EPSILON"):
                return self.real, self.lanes.number(EPSILON)
            case ast.Name(id=name):
                kind = self.places[name]
                return kind, body.value(f"load {kind}, ptr %place.{name}")
            case ast.Subscript():
                return self.real, body.value(f"load {self.real}, ptr {self._element(node, self.real)}")
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                kind, value = self._value(operand)
                return kind, body.value(f"fneg {kind} {value}" if kind != "i64" else f"sub nsw i64 0, {value}")
            case ast.BinOp(
                left=rest, op=ast.Add() | ast.Sub() as sign, right=ast.BinOp(left=one, op=ast.Mult(), right=other)
            ) if self.whole and self._is_real(rest):  # rounded once
                x, y, z = (self._as(self.real, self._value(part)) for part in (one, other, rest))
                x = x if isinstance(sign, ast.Add) else body.value(f"fneg {self.real} {x}")
                three = ", ".join(f"{self.real} {v}" for v in (x, y, z))
                return self.real, body.value(f"call {self.real} @llvm.fmuladd.{self.lanes.suffix}({three})")
            case ast.BinOp(left=left, op=op, right=right):
                a, b = self._value(left), self._value(right)
                if a[0] == b[0] == "i64" and type(op) in _INT:
                    return "i64", body.value(f"{_INT[type(op)]} i64 {a[1]}, {b[1]}")
                x, y = self._as(self.real, a), self._as(self.real, b)
                return self.real, body.value(f"{self.REAL[type(op)]} {self.real} {x}, {y}")
            case ast.Call(func=ast.Name(id="int"), args=[ast.Subscript() as entry]) if (
                self.lanes.width > 1
            ):  # of a table
                entry_value = body.value(f"load double, ptr {self._element(entry, 'double')}")
                return "i64", body.value(f"fptosi double {entry_value} to i64")
            case ast.Call(func=ast.Name(id="int"), args=[inside]):
                return "i64", body.value(f"fptosi double {self._as('double', self._value(inside))} to i64")
            case ast.Call(func=ast.Name(id=name), args=[inside]) if name in ("abs", "sqrt"):
                word = "fabs" if name == "abs" else name
                x = self._as("double", self._value(inside))
                return "double", body.value(f"call double @llvm.{word}.f64(double {x})")
        raise AssertionError(ast.unparse(node))

    def _is_real(self, node: ast.expr) -> bool:
        """Whether a name or an element is a real."""
        return isinstance(node, ast.Subscript) or (isinstance(node, ast.Name) and self.places[node.id] != "i64")

    def _truth(self, node: ast.expr) -> str:
        body = self.body
        match node:
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                a, b, word = self._value(left), self._value(right), _COMPARE[type(op)]
                if a[0] == b[0] == "i64":
                    return body.value(f"icmp {word if word in ('eq', 'ne') else f's{word}'} i64 {a[1]}, {b[1]}")
                order = "u" if word == "ne" else "o"
                return body.value(f"fcmp {order}{word} double {self._as('double', a)}, {self._as('double', b)}")
            case ast.BoolOp(op=op, values=values):
                word = "and" if isinstance(op, ast.And) else "or"
                found = self._truth(values[0])
                for other in values[1:]:
                    found = body.value(f"{word} i1 {found}, {self._truth(other)}")
                return found
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return body.value(f"xor i1 {self._truth(operand)}, true")
        raise AssertionError(ast.unparse(node))
