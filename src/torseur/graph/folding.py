"""The algebra done while an expression is built.

Folding is what fits the code to the mechanism: what is known to be 0 or 1 never becomes an operation. Rules:

- constants are combined when the result is finite (1/0 stays an operation, and answers inf at run time);
- ``0 x = 0``, ``0 / x = 0`` and ``x - x = 0`` hold as identities of the model, also where x would be inf or nan;
- signs move outwards, so that ``-a b``, ``a (-b)`` and ``-(a b)`` share one product; a difference that exists already
  the other way round is its negative;
- operands of commutative operations are ordered, constants first in a product and last in a sum;
- integer powers are products by repeated squaring.

No rule changes a value by more than rounding; sums are never re-associated.
"""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, cast

from torseur.errors import GraphError
from torseur.graph import ops
from torseur.graph.ops import Op, Parity

if TYPE_CHECKING:
    from torseur.graph.nodes import Expr, Truth

CONST, NEG, MUL, SUB = ops.CONST, ops.NEG, ops.MUL, ops.SUB
LARGEST_POWER = 64  # repeated squaring loses about a digit of the last place per factor


def negate(x: Expr) -> Expr:
    if x.op is NEG:
        return x.args[0]  # type: ignore[no-any-return]
    if x.op is CONST:
        return x.graph.number(-x.data)
    return x.graph.node(type(x), NEG, (x,))


def total(a: Expr, b: Expr) -> Expr:
    g = a.graph
    if b.graph is not g:
        raise foreign(b)
    if a.op is CONST:
        a, b = b, a
    if b.op is CONST:
        c = b.data
        if c == 0.0:
            return a
        if a.op is CONST:
            return _folded(ops.ADD, a, b)
        if c < 0.0:
            return difference(a, g.number(-c))
        if a.op is NEG:
            return difference(b, a.args[0])
        return g.binary(ops.ADD, a, b)
    if a is b:
        return _scaled(g.number(2.0), a)
    if b.op is NEG:
        return negate(total(a.args[0], b.args[0])) if a.op is NEG else difference(a, b.args[0])
    if a.op is NEG:
        return difference(b, a.args[0])
    return g.binary(ops.ADD, a, b) if a.id <= b.id else g.binary(ops.ADD, b, a)


def difference(a: Expr, b: Expr) -> Expr:
    g = a.graph
    if b.graph is not g:
        raise foreign(b)
    if a is b:
        return g.zero
    if b.op is NEG:
        return total(a, b.args[0])
    if b.op is CONST:
        if b.data == 0.0:
            return a
        if a.op is CONST:
            return _folded(SUB, a, b)
        if b.data < 0.0:
            return total(a, g.number(-b.data))
    if a.op is CONST and a.data == 0.0:
        return negate(b)
    if a.op is NEG:
        return negate(total(a.args[0], b))
    opposite = g.table.get((SUB, b.id, a.id))
    return g.binary(SUB, a, b) if opposite is None else negate(opposite)  # type: ignore[arg-type]


def product(a: Expr, b: Expr) -> Expr:
    g = a.graph
    if b.graph is not g:
        raise foreign(b)
    if a.op is CONST:
        return _scaled(a, b)
    if b.op is CONST:
        return _scaled(b, a)
    negative = False
    if a.op is NEG:
        a, negative = a.args[0], True
    if b.op is NEG:
        b, negative = b.args[0], not negative
    if a.op is MUL and b.op is MUL and _factor(a) * _factor(b) == 1.0:
        a, b = a.args[1], b.args[1]
    p = g.binary(MUL, a, b) if a.id <= b.id else g.binary(MUL, b, a)
    return negate(p) if negative else p


def _factor(x: Expr) -> float:
    """The constant in front of a product; not-a-number if there is none."""
    return x.args[0].data if x.args[0].op is CONST else math.nan


def _scaled(factor: Expr, x: Expr) -> Expr:
    """A constant times anything: the sign goes out, nested constants meet, 0 and 1 vanish."""
    g, c = factor.graph, factor.data
    if c == 1.0:
        return x
    if x.op is CONST:
        if x.data == 1.0:
            return factor
        if c == 0.0 and math.isfinite(x.data):
            return g.zero
        return _folded(MUL, factor, x)
    if c == 0.0:
        return g.zero
    negative = c < 0.0
    if x.op is NEG:
        x, negative = x.args[0], not negative
    c = abs(c)
    if x.op is MUL and x.args[0].op is CONST and _is_plain(c * x.args[0].data):
        c, x = c * x.args[0].data, x.args[1]
    p = x if c == 1.0 else g.binary(MUL, g.number(c), x)
    return negate(p) if negative else p


def quotient(a: Expr, b: Expr) -> Expr:
    g = a.graph
    if b.graph is not g:
        raise foreign(b)
    if b.op is CONST:
        if b.data == 0.0:
            return g.binary(ops.DIV, a, b)
        if a.op is CONST:
            return _folded(ops.DIV, a, b)
        if b.data == 1.0:
            return a
    if a.op is CONST and a.data == 0.0:
        return g.zero
    negative = False
    if a.op is NEG or (a.op is CONST and a.data < 0.0):
        a, negative = negate(a), True
    if b.op is NEG or (b.op is CONST and b.data < 0.0):
        b, negative = negate(b), not negative
    r = a if b is g.one else g.binary(ops.DIV, a, b)
    return negate(r) if negative else r


def power(x: Expr, y: Expr) -> Expr:
    """x to the y: products for an integer y, a square root for 1/2, the general power otherwise."""
    g = x.graph
    if y.op is CONST:
        if y.data == 0.5:
            return unary(ops.SQRT, x)
        if y.data.is_integer() and abs(y.data) <= LARGEST_POWER:
            p = _integer_power(x, abs(int(y.data)))
            return p if y.data >= 0 else quotient(g.one, p)
        if x.op is CONST:
            return _folded(ops.POW, x, y)
    return g.binary(ops.POW, x, y)


def _integer_power(x: Expr, n: int) -> Expr:
    result, square = x.graph.one, x
    while n:
        if n & 1:
            result = product(result, square)
        n >>= 1
        if n:
            square = product(square, square)
    return result


def unary(op: Op, x: Expr) -> Expr:
    """A function of one argument: constants folded, signs taken out by parity."""
    g = x.graph
    if x.op is CONST:
        return _folded(op, x)
    if x.op is NEG and op.parity is not Parity.NONE:
        inner = g.node(type(x), op, x.args)
        return inner if op.parity is Parity.EVEN else negate(inner)
    if op is ops.ABS and x.op in (ops.ABS, ops.SQRT, ops.EXP):
        return x
    return g.node(type(x), op, (x,))


def binary(op: Op, a: Expr, b: Expr) -> Expr:
    """atan2, min, max."""
    if b.graph is not a.graph:
        raise foreign(b)
    if a.op is CONST and b.op is CONST:
        return _folded(op, a, b)
    if op.commutative:
        if a is b:
            return a
        if a.id > b.id:
            a, b = b, a
    return a.graph.binary(op, a, b)


def compare(op: Op, a: Expr, b: Expr) -> Truth:
    g = a.graph
    if b.graph is not g:
        raise foreign(b)
    if a.op is CONST and b.op is CONST:
        assert op.python is not None
        return g.truth(bool(op.python(a.data, b.data)))
    if op is ops.LT and a is b:
        return g.false
    if op.commutative and a.id > b.id:
        a, b = b, a
    return g.node(type(g.true), op, (a, b))


def conjunction(a: Truth, b: Truth) -> Truth:
    g = a.graph
    if a is g.false or b is g.false:
        return g.false
    if a is g.true or a is b:
        return b
    return a if b is g.true else g.node(type(a), ops.AND, (a, b) if a.id < b.id else (b, a))


def disjunction(a: Truth, b: Truth) -> Truth:
    g = a.graph
    if a is g.true or b is g.true:
        return g.true
    if a is g.false or a is b:
        return b
    return a if b is g.false else g.node(type(a), ops.OR, (a, b) if a.id < b.id else (b, a))


def negation(a: Truth) -> Truth:
    g = a.graph
    if a.op is ops.TRUTH:
        return g.truth(not a.data)
    return cast("Truth", a.args[0]) if a.op is ops.NOT else g.node(type(a), ops.NOT, (a,))


def choice(condition: Truth, a: Expr, b: Expr) -> Expr:
    g = a.graph
    if b.graph is not g or condition.graph is not g:
        raise foreign(b if b.graph is not g else condition)
    if condition.op is ops.NOT:
        condition, a, b = condition.args[0], b, a
    if condition.op is ops.TRUTH:
        return a if condition.data else b
    if a is b:
        return a
    if a.op is NEG and b.op is NEG:
        return negate(choice(condition, a.args[0], b.args[0]))
    return g.node(type(a), ops.SELECT, (condition, a, b))


def _folded(op: Op, *args: Expr) -> Expr:
    """An operation on constants: its value when there is a finite one, else the operation itself, left to run time."""
    g = args[0].graph
    assert op.python is not None
    try:
        value = float(op.python(*(a.data for a in args)))
    except (ValueError, OverflowError, ZeroDivisionError):
        value = math.nan
    if math.isfinite(value):
        return g.number(value)
    return g.binary(op, *args) if len(args) == 2 else g.node(type(args[0]), op, args)


def _is_plain(value: float) -> bool:
    """Neither infinite nor so small that digits are lost."""
    return sys.float_info.min <= abs(value) <= sys.float_info.max


def foreign(node: object) -> GraphError:
    """Two graphs met in one expression."""
    return GraphError(
        "expressions of two graphs cannot be mixed",
        got=repr(node),
        remedy="build both in one Graph, or call one as a Function",
    )
