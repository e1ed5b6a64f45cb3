"""Expressions as sympy expressions.

Numbers that are whole, or halves, quarters, ... sixteenths, become exact rationals, all others floats that read back as
the same number. Symbols are real and have the names of the inputs. Calls of functions are written out, linear systems
are solved symbolically; roots and rank-revealing solutions have no closed form and are refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from torseur.emit.text.dialect import Layout, Names
from torseur.emit.text.statements import constants, plan
from torseur.errors import ArgumentError, CompileError, MissingExtra
from torseur.graph import ops
from torseur.graph.calls import FunctionCall
from torseur.graph.evaluate import walk
from torseur.graph.function import Function, checked_function
from torseur.graph.functions import Piecewise
from torseur.graph.linear import Factor, Substitute
from torseur.graph.nodes import Expr, Node
from torseur.graph.ops import Op

__all__ = ["SympyStatements", "import_sympy", "to_sympy", "to_sympy_statements"]

_LARGEST_DENOMINATOR = 16


def import_sympy(purpose: str) -> Any:
    try:
        import sympy
    except ImportError:
        raise MissingExtra("sympy", extra="symbolic", purpose=purpose) from None
    return sympy


@dataclass(frozen=True)
class SympyStatements:
    """A function as sympy expressions that refer to each other by name.

    Args:
        statements: (symbol, expression) pairs; each uses inputs and earlier symbols only.
        outputs: name -> expression or matrix.
    """

    statements: tuple[tuple[Any, Any], ...]
    outputs: dict[str, Any]


def to_sympy(target: Function | Expr, *, evaluate: bool = True) -> Any:
    """An expression as a sympy expression, or the outputs of a function as a dict of expressions and matrices.

    Args:
        target: vectors become columns, matrices matrices, and anything with more dimensions an array.
        evaluate: let sympy simplify while it builds, as it usually does. Without, the structure is kept, and large
            expressions are converted much faster.

    >>> from torseur.graph import Graph, sin
    >>> x = Graph().symbol("x")
    >>> to_sympy(0.5 * sin(x) ** 2)
    sin(x)**2/2
    """
    if isinstance(target, Function):
        converter = _Converter(evaluate)
        values = iter(walk(target, _symbols(converter.sp, target), converter.of(target)))
        return {o.name: _shaped(converter.sp, [next(values) for _ in o.exprs], o.shape) for o in target.outputs}
    if not isinstance(target, Node):
        raise ArgumentError(
            "not an expression",
            where="to_sympy",
            expected="a Function or an expression",
            got=type(target).__name__,
        )
    function = Function("expression", list(target.graph.blocks.values()), {"value": target})
    return to_sympy(function, evaluate=evaluate)["value"]


def to_sympy_statements(function: Function, *, evaluate: bool = True) -> SympyStatements:
    """A function as a list of sympy equations, with the names of its intermediates; grows linearly with the function.

    >>> from torseur.graph import Function, Graph, cos
    >>> g = Graph()
    >>> x = g.symbol("x")
    >>> c = g.name(cos(x), "C")
    >>> to_sympy_statements(Function("f", [g.blocks["x"]], {"y": c * c + c}))
    SympyStatements(statements=((C, cos(x)),), outputs={'y': C**2 + C})
    """
    checked_function(function, "to_sympy_statements")
    converter = _Converter(evaluate)
    symbols = _symbols(converter.sp, function)
    planned = plan(function, Layout(prologue=False, squares=True), Names(s.name for s in symbols))
    found: list[tuple[Any, Any]] = []
    inner = converter.of(function)

    def apply(node: Node, args: list[Any]) -> Any:
        value, name = inner(node, args), planned.names.get(node.id)
        if name is None or node.op is ops.CALL:
            return value
        symbol = converter.sp.Symbol(name, real=True) if isinstance(node, Expr) else converter.sp.Symbol(name)
        found.append((symbol, value))
        return symbol

    values = iter(walk(function, symbols, apply))
    outputs = {o.name: _shaped(converter.sp, [next(values) for _ in o.exprs], o.shape) for o in function.outputs}
    return SympyStatements(tuple(found), outputs)


def _symbols(sp: Any, function: Function) -> list[Any]:
    names = Names()
    return [sp.Symbol(names.take(label), real=True) for block in function.inputs for label in block.names]


def _shaped(sp: Any, values: list[Any], shape: tuple[int, ...]) -> Any:
    if shape == ():
        return values[0]
    if len(shape) <= 2:
        return sp.ImmutableMatrix(shape[0], 1 if len(shape) == 1 else shape[1], values)
    return sp.ImmutableDenseNDimArray(values, shape)


class _Converter:
    def __init__(self, evaluate: bool) -> None:
        self.sp = import_sympy("conversion to sympy")
        self.options = {} if evaluate else {"evaluate": False}
        self.rules = self._rules()

    def of(self, function: Function) -> Callable[[Node, list[Any]], Any]:
        """What turns the nodes of a function into sympy expressions."""
        known = constants(function)

        def apply(node: Node, args: list[Any]) -> Any:
            if node.id in known:
                return self.number(known[node.id])
            if node.op is ops.CALL:
                return self.call(node.data, args)
            if node.op is ops.ITEM:
                return args[0][node.data]
            if node.op is ops.PIECEWISE:
                return self.table(node.data, args[0])
            return self.rules[node.op](*args)

        return apply

    def number(self, value: float | bool) -> Any:
        sp = self.sp
        if isinstance(value, bool):
            return sp.true if value else sp.false
        if math.isnan(value):
            return sp.nan
        if math.isinf(value):
            return sp.oo if value > 0 else -sp.oo
        exact = Fraction(value)
        if exact.denominator <= _LARGEST_DENOMINATOR:
            return sp.Rational(exact.numerator, exact.denominator)
        return sp.Float(value)

    def _rules(self) -> dict[Op, Callable[..., Any]]:
        sp, o = self.sp, self.options
        one = {
            ops.EXP: sp.exp,
            ops.LOG: sp.log,
            ops.ABS: sp.Abs,
            ops.SIGN: sp.sign,
            ops.FLOOR: sp.floor,
            ops.NOT: sp.Not,
        }
        one |= {op: getattr(sp, op.name) for op in (*_CIRCULAR, *_HYPERBOLIC)}
        two = {ops.ADD: sp.Add, ops.MUL: sp.Mul, ops.POW: sp.Pow, ops.ATAN2: sp.atan2, ops.MIN: sp.Min, ops.MAX: sp.Max}
        two |= {ops.LT: sp.Lt, ops.LE: sp.Le, ops.EQ: sp.Eq, ops.AND: sp.And, ops.OR: sp.Or}
        rules: dict[Op, Callable[..., Any]] = {op: lambda *args, f=f: f(*args, **o) for op, f in (one | two).items()}
        minus = sp.Integer(-1)
        rules[ops.NEG] = lambda x: sp.Mul(minus, x, **o)
        rules[ops.SUB] = lambda a, b: sp.Add(a, sp.Mul(minus, b, **o), **o)
        rules[ops.DIV] = lambda a, b: sp.Mul(a, sp.Pow(b, minus, **o), **o)
        rules[ops.SQRT] = lambda x: sp.Pow(x, sp.S.Half, **o)
        rules[ops.SELECT] = lambda c, a, b: self.choice([(a, c), (b, sp.true)])
        return rules

    def choice(self, cases: Sequence[tuple[Any, Any]]) -> Any:
        """A Piecewise. Without evaluation it is put together by hand: sympy's own way takes conditions apart."""
        sp = self.sp
        if not self.options:
            return sp.Piecewise(*cases)
        pair = sp.functions.elementary.piecewise.ExprCondPair
        return sp.Basic.__new__(sp.Piecewise, *(sp.Tuple.__new__(pair, *case) for case in cases))

    def table(self, curve: Piecewise, x: Any) -> Any:
        sp, o = self.sp, self.options
        cases = []
        for k, row in enumerate(curve.coefficients):
            u = sp.Add(x, self.number(-curve.origins[k]), **o)
            value = self.number(row[-1])
            for c in reversed(row[:-1]):
                value = sp.Add(sp.Mul(value, u, **o), self.number(c), **o)
            last = k == len(curve.breaks)
            cases.append((value, sp.true if last else sp.Lt(x, self.number(curve.breaks[k]), **o)))
        return self.choice(cases)

    def call(self, callee: Any, args: list[Any]) -> Any:
        sp = self.sp
        if isinstance(callee, FunctionCall):
            return walk(callee.function, args, self.of(callee.function))
        if isinstance(callee, Factor):
            return sp.Matrix(callee.n, callee.n, args)
        if isinstance(callee, Substitute):
            matrix = args[0].T if callee.transposed else args[0]
            try:
                return list(matrix.LUsolve(sp.Matrix(args[1:])))
            except (ValueError, sp.matrices.exceptions.NonInvertibleMatrixError):
                raise CompileError(
                    "a linear system is singular for all values of its symbols", where=callee.name
                ) from None
        raise CompileError(
            "no closed form",
            where=callee.name,
            expected="operations, calls of functions and linear systems",
            got=callee.meaning or callee.name,
            remedy="convert the expressions it is called on, and what is made of its results, one by one",
        )


_CIRCULAR = (ops.SIN, ops.COS, ops.TAN, ops.ASIN, ops.ACOS, ops.ATAN)
_HYPERBOLIC = (ops.SINH, ops.COSH, ops.TANH, ops.ASINH, ops.ACOSH, ops.ATANH)
