"""The part of Python that routines are written in: read from the source, simplified, checked.

Simplified: ``x += y`` is ``x = x + y``, a name of the module that holds a number is that number. What is left is
checked against what `torseur.graph.routine` allows, all faults at once.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal

from torseur.errors import CompileError

__all__ = ["Kind", "kinds_of", "range_of", "tree_of"]

Kind = Literal["int", "real"]

_ORDER = ("int", "In", "Out", "Work")
_ARRAYS = ("In", "Out", "Work")
_FUNCTIONS: Mapping[str, Kind] = {"abs": "real", "sqrt": "real", "int": "int"}


def tree_of(body: Callable[..., None]) -> ast.FunctionDef:
    """The syntax tree of a function, simplified, without its description."""
    try:
        function = ast.parse(textwrap.dedent(inspect.getsource(body))).body[0]
    except (OSError, SyntaxError):
        raise CompileError("the source of a routine cannot be read", where=body.__name__) from None
    if not isinstance(function, ast.FunctionDef):
        raise CompileError(
            "a routine must be a plain function", where=body.__name__, expected="def", got="other syntax"
        )
    if ast.get_docstring(function) is not None:
        function.body = function.body[1:]
    own = {node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    own |= {argument.arg for argument in function.args.args} | {"EPSILON"}
    outside = {k: v for k, v in body.__globals__.items() if type(v) in (int, float) and k not in own}
    function.body = [_Simpler(outside).visit(statement) for statement in function.body]
    return ast.fix_missing_locations(function)


class _Simpler(ast.NodeTransformer):
    def __init__(self, constants: Mapping[str, float]) -> None:
        self.constants = constants

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Constant(self.constants[node.id]) if node.id in self.constants else node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.Assign:
        before = ast.parse(ast.unparse(node.target), mode="eval").body
        changed = ast.Assign([node.target], ast.BinOp(before, node.op, node.value), lineno=node.lineno)
        return self.generic_visit(changed)  # type: ignore[return-value]


def range_of(node: ast.For) -> tuple[ast.expr, ast.expr, bool]:
    """Begin, end, and whether it counts up, of a loop over a range."""
    assert isinstance(node.iter, ast.Call)
    args = node.iter.args
    return ast.Constant(0) if len(args) == 1 else args[0], args[0 if len(args) == 1 else 1], len(args) < 3


def kinds_of(
    tree: ast.FunctionDef, n_out: int, n_work: int, callees: Mapping[str, Sequence[str]] | None = None
) -> dict[str, Kind]:
    """Which names are whole numbers and which are reals; what a routine cannot use is refused.

    Args:
        tree: as from `tree_of`.
        n_out, n_work: how many results and working arrays there are.
        callees: what may be called as a statement, and the kinds of its arguments; None where that is not part of the
            language.
    """
    checker = _Checker(tree, n_out, n_work, callees)
    if checker.faults:
        raise CompileError(
            "a routine uses what cannot be translated into every language",
            where=tree.name,
            expected="what torseur.graph.routine describes",
            got="; ".join(checker.faults),
        )
    return checker.kinds


class _Checker:
    """Walks through a routine in the order of its text.

    A name must be assigned on every way that leads to where it is read; `known` are those.
    """

    def __init__(
        self, tree: ast.FunctionDef, n_out: int, n_work: int, callees: Mapping[str, Sequence[str]] | None
    ) -> None:
        self.order = _ORDER if callees is None else (*_ORDER, "Call")
        self.callees = dict(callees or {})
        self.faults: list[str] = []
        self.kinds: dict[str, Kind] = {}
        self.known: set[str] = set()
        self.read: set[str] = set()
        self.held: set[str] = set()  # names that a loop around here counts with
        self.first_line = tree.lineno
        self.arrays = self._arguments(tree, n_out, n_work)
        self._block(tree.body)
        for name in self.kinds:
            if name not in self.read and name not in self.fixed:
                self.faults.append(f"'{name}' is assigned and never read")

    def fault(self, node: ast.AST, text: str) -> None:
        line = getattr(node, "lineno", self.first_line) - self.first_line + 1
        self.faults.append(f"{text} (line {line}: {ast.unparse(node).splitlines()[0]})")

    def _arguments(self, tree: ast.FunctionDef, n_out: int, n_work: int) -> dict[str, str]:
        a = tree.args
        if a.vararg or a.kwarg or a.kwonlyargs or a.defaults or a.posonlyargs:
            self.fault(tree, "an argument that is not plain")
        kinds = {x.arg: ast.unparse(x.annotation) if x.annotation else "nothing" for x in a.args}
        for name, kind in kinds.items():
            if kind not in self.order:
                self.faults.append(f"argument '{name}' is annotated with {kind} instead of {', '.join(self.order)}")
        places = [self.order.index(kind) for kind in kinds.values() if kind in self.order]
        if places != sorted(places):
            self.faults.append(f"arguments are not in the order whole numbers, {', '.join(self.order[1:])}")
        for kind, n in (("Out", n_out), ("Work", n_work)):
            if places.count(_ORDER.index(kind)) != n:
                self.faults.append(
                    f"{places.count(_ORDER.index(kind))} arguments are {kind}, but {n} lengths are given"
                )
        self.fixed = [name for name, kind in kinds.items() if kind == "int"]
        self.kinds |= dict.fromkeys(self.fixed, "int")
        self.known |= set(self.fixed)
        self.callees |= {name: ("int", "int") for name, kind in kinds.items() if kind == "Call"}
        return {name: kind for name, kind in kinds.items() if kind in _ARRAYS}

    # -- statements --------------------------------------------------------------------------------------------------
    def _block(self, statements: Iterable[ast.stmt]) -> bool:
        """Whether it ends with a return."""
        ended = False
        for statement in statements:
            if ended:
                self.fault(statement, "never reached")
            match statement:
                case ast.Assign(targets=[target], value=value):
                    self._assign(target, self._kind(value))
                case ast.Return(value=None):
                    ended = True
                case ast.If(test=test, body=body, orelse=other):
                    ended = self._if(test, body, other)
                case ast.While(test=test, body=body, orelse=[]):
                    self.known -= _counted(body)
                    self._truth(test)
                    self._apart(body)
                case ast.For(target=ast.Name(), orelse=[]):
                    self._for(statement)
                case ast.Expr(value=ast.Call(func=ast.Name(id=name), args=args, keywords=[])) if name in self.callees:
                    self._call(statement, self.callees[name], args)
                case _:
                    self.fault(statement, "a statement of another kind")
        return ended

    def _apart(self, statements: Iterable[ast.stmt]) -> tuple[set[str], bool]:
        """A block that may not be run: what is known at its end, and whether it returns."""
        before = set(self.known)
        ended = self._block(statements)
        after, self.known = self.known, before
        return after, ended

    def _if(self, test: ast.expr, body: list[ast.stmt], other: list[ast.stmt]) -> bool:
        self._truth(test)
        ways = [self._apart(body), self._apart(other)]
        going_on = [known for known, ended in ways if not ended]
        self.known = set.intersection(*going_on) if going_on else self.known
        return not going_on

    def _for(self, node: ast.For) -> None:
        assert isinstance(node.target, ast.Name)
        match node.iter:
            case ast.Call(func=ast.Name(id="range"), args=args, keywords=[]) if _counts(args):
                for bound in args[:2]:
                    self._whole(bound)
            case _:
                self.fault(node.iter, "a loop over what is no range by steps of 1 or -1")
                return
        name = node.target.id
        self._assign(node.target, "int")
        bounds = {n.id for bound in args for n in ast.walk(bound) if isinstance(n, ast.Name)}
        held, self.held = self.held, self.held | bounds | {name}
        self.known -= _counted(node.body)
        self._apart(node.body)
        self.held = held
        self.read.add(name)
        self.known.discard(name)  # languages differ in what it holds after the loop

    def _call(self, node: ast.stmt, wanted: Sequence[str], args: Sequence[ast.expr]) -> None:
        if len(args) != len(wanted):
            self.fault(node, f"a call with {len(args)} arguments instead of {len(wanted)}")
        for kind, arg in zip(wanted, args, strict=False):
            given = ast.unparse(arg)
            if kind == "int":
                self._whole(arg)
            elif kind == "Call" and given not in self.callees:
                self.fault(arg, "what is handed on cannot be called")
            elif kind in _ARRAYS and (given not in self.arrays or (kind != "In" and self.arrays[given] == "In")):
                self.fault(arg, "an array of another kind is handed on")

    def _assign(self, target: ast.expr, kind: Kind) -> None:
        match target:
            case ast.Subscript(value=ast.Name(id=array), slice=index) if array in self.arrays:
                self._whole(index)
                if self.arrays[array] == "In":
                    self.fault(target, "an array that is only read is written")
            case ast.Name(id=name) if name in self.arrays or name in self.fixed:
                self.fault(target, "an argument is assigned")
            case ast.Name(id=name):
                if name in self.held:
                    self.fault(target, "a loop's variable or bound is changed inside the loop")
                if self.kinds.setdefault(name, kind) == "int" and kind == "real":
                    self.fault(target, "a whole number becomes a real")
                self.known.add(name)
            case _:
                self.fault(target, "an assignment to what is neither a name nor an element")

    # -- values ------------------------------------------------------------------------------------------------------
    def _whole(self, node: ast.expr) -> None:
        if self._kind(node) != "int":
            self.fault(node, "a real where a whole number is needed")

    def _kind(self, node: ast.expr) -> Kind:
        match node:
            case ast.Constant(value=value) if type(value) in (int, float):
                return "int" if type(value) is int else "real"
            case ast.Name(id="EPSILON"):
                return "real"
            case ast.Name(id=name) if name not in self.arrays:
                self.read.add(name)
                if name not in self.known:
                    self.fault(node, "a name that may have no value here")
                return self.kinds.get(name, "real")
            case ast.Subscript(value=ast.Name(id=array), slice=index) if array in self.arrays:
                self._whole(index)
                return "real"
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self._kind(operand)
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult(), right=right):
                kinds = self._kind(left), self._kind(right)
                return "real" if "real" in kinds else "int"
            case ast.BinOp(left=left, op=ast.Div(), right=right):
                if [self._kind(left), self._kind(right)] == ["int", "int"]:
                    self.fault(node, "a quotient of whole numbers")
                return "real"
            case ast.Call(func=ast.Name(id=name), args=[inside], keywords=[]) if name in _FUNCTIONS:
                if self._kind(inside) != "real":
                    self.fault(node, f"{name} of a whole number")
                return _FUNCTIONS[name]
        self.fault(node, "an expression of another kind")
        return "real"

    def _truth(self, node: ast.expr) -> None:
        match node:
            case ast.Compare(left=left, ops=[_], comparators=[right]) if _is_comparison(node):
                self._kind(left)
                self._kind(right)
            case ast.BoolOp(values=values):
                for value in values:
                    self._truth(value)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                self._truth(operand)
            case _:
                self.fault(node, "a condition that is not a comparison")


def _counted(statements: Iterable[ast.stmt]) -> set[str]:
    """The variables of the loops inside a loop: from its second pass on they hold what is left of the first."""
    loops = [n for statement in statements for n in ast.walk(statement) if isinstance(n, ast.For)]
    return {n.target.id for n in loops if isinstance(n.target, ast.Name)}


def _is_comparison(node: ast.Compare) -> bool:
    return isinstance(node.ops[0], ast.Lt | ast.LtE | ast.Gt | ast.GtE | ast.Eq | ast.NotEq)


def _counts(args: list[ast.expr]) -> bool:
    """Whether the arguments of a range count up or down by one."""
    return 1 <= len(args) < 3 or (len(args) == 3 and ast.unparse(args[2]) == "-1")
