"""Expressions as sympy expressions, and back.

Numbers that are whole, or halves, quarters, ... sixteenths, become exact rationals, all others floats that read back as
the same number. Symbols are real and have the names of the inputs. Calls of functions are written out, linear systems
are solved symbolically; roots and rank-revealing solutions have no closed form and are refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from torseur.emit.text.dialect import Layout, Names, words
from torseur.emit.text.statements import constants, plan
from torseur.errors import ArgumentError, CompileError, GraphError, MissingExtra
from torseur.graph import functions as f
from torseur.graph import ops
from torseur.graph.calls import FunctionCall
from torseur.graph.evaluate import walk
from torseur.graph.function import Function, checked_function
from torseur.graph.functions import Piecewise
from torseur.graph.linear import Factor, Substitute
from torseur.graph.nodes import Expr, Graph, Node, Truth
from torseur.graph.ops import Op

__all__ = ["SympyStatements", "from_sympy", "import_sympy", "to_sympy", "to_sympy_statements"]


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


def from_sympy(expr: Any, graph: Graph, symbols: Mapping[Any, Expr | Truth] | None = None) -> Any:
    """A sympy expression as an expression of a graph; a matrix or array as nested lists of them.

    Args:
        expr: made of elementary functions, comparisons and Piecewise. A Piecewise is nan where none of its conditions
            holds.
        graph: where to build.
        symbols: sympy symbol (or its name) -> expression. By default a symbol is the input element of its name.

    >>> import sympy
    >>> g = Graph()
    >>> x = g.symbol("x")
    >>> from_sympy(sympy.sympify("sin(x)**2/3"), g)
    ((sin(x)*sin(x))/3)
    """
    if not isinstance(graph, Graph):
        raise ArgumentError("not a graph", where="from_sympy", expected="a Graph", got=type(graph).__name__)
    sp = import_sympy("conversion from sympy")
    reader = _Reader(sp, graph, _by_name(graph) if symbols is None else {str(k): v for k, v in symbols.items()})
    if isinstance(expr, (sp.MatrixBase, sp.NDimArray)):
        return _nested(expr.tolist(), reader.read)
    return reader.read(sp.sympify(expr))


def _nested(items: Any, read: Callable[[Any], Any]) -> Any:
    return [_nested(x, read) for x in items] if isinstance(items, list) else read(items)


def _by_name(graph: Graph) -> dict[str, Expr | Truth]:
    found: dict[str, Expr | Truth] = {}
    twice = set()
    for block in graph.blocks.values():
        for name, symbol in zip(block.names, block.symbols, strict=True):
            if name in found:
                twice.add(name)
            found[name] = symbol
    return {name: symbol for name, symbol in found.items() if name not in twice}


class _Reader:
    """Converts from the leaves up. Results are kept by object, so that shared parts are read once."""

    def __init__(self, sp: Any, graph: Graph, symbols: Mapping[str, Expr | Truth]) -> None:
        self.sp, self.graph, self.symbols = sp, graph, symbols
        self.done: dict[int, Any] = {}
        self.kept: list[Any] = []
        self.rules = _rules(sp, graph)

    def read(self, root: Any) -> Any:
        stack = [root]
        while stack:
            expr = stack[-1]
            waiting = [] if self.is_leaf(expr) else [a for a in expr.args if id(a) not in self.done]
            if waiting:
                stack += waiting
                continue
            stack.pop()
            if id(expr) not in self.done:
                self.kept.append(expr)  # an id is only good while its object lives
                self.done[id(expr)] = self.convert(expr)
        return self.done[id(root)]

    def is_leaf(self, expr: Any) -> bool:
        return not expr.args or expr.is_Symbol

    def convert(self, expr: Any) -> Any:
        sp, g = self.sp, self.graph
        if expr.is_Symbol:
            return self.symbol(expr)
        if expr is sp.true or expr is sp.false:
            return g.truth(bool(expr))
        if expr is sp.nan:
            return g.zero / g.zero
        if expr.is_Number or isinstance(expr, sp.NumberSymbol):
            return g.number(_float(expr))
        if isinstance(expr, sp.Mul):
            return self.product(expr)
        if isinstance(expr, sp.Pow):
            return self.power(expr)
        args = [self.done[id(a)] for a in expr.args]
        if isinstance(expr, sp.functions.elementary.piecewise.ExprCondPair):
            return args
        rule = self.rules.get(expr.func)
        if rule is None:
            raise _unsupported(expr)
        return rule(*args)

    def symbol(self, symbol: Any) -> Node:
        found = self.symbols.get(symbol.name)
        if found is None:
            raise GraphError(
                f"the symbol '{symbol.name}' is not known",
                expected=", ".join(list(self.symbols)[:20]) or "no symbol at all",
                remedy="pass symbols={name: expression}, or add a block with this element to the graph",
            )
        return found

    def product(self, expr: Any) -> Expr:
        """Factors with a negative power, and denominators that are no powers of two, go below one fraction bar."""
        over, under = self.graph.one, self.graph.one
        for arg in expr.args:
            if isinstance(arg, self.sp.Pow) and self.is_below(arg.exp):
                under = under * self.done[id(arg.base)] ** -float(arg.exp)
            elif arg.is_Rational and arg.q & (arg.q - 1):
                over, under = over * float(arg.p), under * float(arg.q)
            else:
                over = over * self.done[id(arg)]
        return over / under

    def power(self, expr: Any) -> Expr:
        base: Expr = self.done[id(expr.base)]
        if self.is_below(expr.exp):
            return 1.0 / base ** -float(expr.exp)
        if expr.base is self.sp.E:
            return f.exp(self.done[id(expr.exp)])
        return base ** self.done[id(expr.exp)]  # type: ignore[no-any-return]

    def is_below(self, exponent: Any) -> bool:
        """Whether a power is the inverse of products or of a square root."""
        return bool(exponent.is_Rational and exponent < 0 and (exponent.q == 1 or exponent == -self.sp.S.Half))


def _float(expr: Any) -> float:
    try:
        value = float(expr)
    except (OverflowError, TypeError):
        raise _unsupported(expr) from None
    if math.isinf(value) and expr.is_finite:
        raise _unsupported(expr)
    return value


def _unsupported(expr: Any) -> GraphError:
    return GraphError(
        "a part of a sympy expression has no counterpart in a graph",
        expected="real numbers, elementary functions, comparisons, Piecewise",
        got=f"{expr.func.__name__}: {str(expr)[:80]}",
        remedy="try expr.doit(), expr.rewrite(...) or expr.evalf() first, or make it an input",
    )


def _rules(sp: Any, g: Graph) -> dict[Any, Callable[..., Any]]:
    """sympy class -> what it becomes."""
    names = words("exp log sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh sign floor atan2")
    rules: dict[Any, Callable[..., Any]] = {getattr(sp, name): getattr(f, name) for name in names}
    rules |= {
        sp.Add: lambda *a: _folded(lambda x, y: x + y, a),
        sp.Min: lambda *a: _folded(f.minimum, a),
        sp.Max: lambda *a: _folded(f.maximum, a),
        sp.And: lambda *a: _folded(lambda x, y: x & y, a),
        sp.Or: lambda *a: _folded(lambda x, y: x | y, a),
        sp.Xor: lambda *a: _folded(lambda x, y: (x & ~y) | (~x & y), a),
        sp.Not: lambda x: ~x,
        sp.ITE: lambda c, a, b: (c & a) | (~c & b),
        sp.Abs: f.absolute,
        sp.ceiling: lambda x: -f.floor(-x),
        sp.Mod: lambda x, y: x - y * f.floor(x / y),
        sp.cot: lambda x: f.cos(x) / f.sin(x),
        sp.sec: lambda x: 1.0 / f.cos(x),
        sp.csc: lambda x: 1.0 / f.sin(x),
        sp.StrictLessThan: lambda a, b: a < b,
        sp.LessThan: lambda a, b: a <= b,
        sp.StrictGreaterThan: lambda a, b: a > b,
        sp.GreaterThan: lambda a, b: a >= b,
        sp.Equality: f.equal,
        sp.Unequality: lambda a, b: ~f.equal(a, b),
        sp.Piecewise: lambda *cases: _chain(g, cases),
    }
    return rules


def _folded(combine: Callable[[Any, Any], Any], args: tuple[Any, ...]) -> Any:
    total = args[0]
    for arg in args[1:]:
        total = combine(total, arg)
    return total


def _chain(g: Graph, cases: tuple[Any, ...]) -> Expr:
    value = g.zero / g.zero
    for case, condition in reversed(cases):
        value = f.select(condition, case, value)
    return value
