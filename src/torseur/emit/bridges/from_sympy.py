"""sympy expressions as expressions of a graph."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from torseur.emit.bridges.to_sympy import import_sympy
from torseur.emit.text.dialect import words
from torseur.errors import ArgumentError, GraphError
from torseur.graph import functions as f
from torseur.graph.nodes import Expr, Graph, Node, Truth

__all__ = ["from_sympy"]


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
