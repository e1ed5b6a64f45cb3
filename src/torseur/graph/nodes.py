"""The expression graph: interned nodes in the order they were made.

Equal expressions are one object, so common subexpressions cost nothing and ``is`` compares expressions. The operands
of a node always have a smaller ``id``: the order of creation is a topological order, and every pass over a graph is a
plain loop, never a recursion.

>>> g = Graph()
>>> x, y = g.symbol("x"), g.symbol("y")
>>> x * y is y * x
True
>>> (x - x, 1 * x, -(-x), x + 0)
(0, x, x, x)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from torseur.errors import GraphError, choice
from torseur.graph import folding, ops
from torseur.graph.blocks import Block, Role, checked_name, checked_shape
from torseur.graph.folding import foreign
from torseur.graph.ops import Op, short

if TYPE_CHECKING:
    from torseur.graph.calls import Callee

__all__ = ["Bundle", "Expr", "Graph", "Node", "Truth"]

N = TypeVar("N", bound="Node")


class Node:
    """An operation applied to earlier nodes of the same graph."""

    __slots__ = ("args", "data", "graph", "id", "op")

    def __init__(self, graph: Graph, id: int, op: Op, args: tuple[Any, ...], data: Any = None) -> None:
        self.graph = graph
        self.id = id
        self.op = op
        self.args = args
        self.data = data

    def __repr__(self) -> str:
        return short(self)

    def __reduce__(self) -> tuple[object, ...]:
        raise GraphError(
            "an expression cannot be pickled or copied on its own",
            got=repr(self),
            remedy="keep the graph, or pickle what was compiled or printed from it",
        )


class Truth(Node):
    """A condition: the result of a comparison, combined with ``&``, ``|`` and ``~``, used by ``select``."""

    __slots__ = ()

    def __and__(self, other: Truth | bool) -> Truth:
        return folding.conjunction(self, self.graph.truth(other))

    def __or__(self, other: Truth | bool) -> Truth:
        return folding.disjunction(self, self.graph.truth(other))

    def __invert__(self) -> Truth:
        return folding.negation(self)

    __rand__ = __and__
    __ror__ = __or__

    def __bool__(self) -> bool:
        raise GraphError(
            "a condition on symbols is neither true nor false while expressions are being built",
            got=repr(self),
            remedy="use select(condition, a, b), minimum(a, b) or maximum(a, b) instead of if, min or max",
        )


def _method(op: Op) -> Callable[[Expr], Expr]:
    def apply(self: Expr) -> Expr:
        return folding.unary(op, self)

    apply.__name__ = op.name
    return apply


class Expr(Node):
    """A real number that is not known yet."""

    __slots__ = ()

    # Each operator lifts numbers into the graph and leaves the algebra to `folding`; NumPy goes through its arrays, and
    # a product with a vector or matrix (a tuple) is theirs.
    def __add__(self, other: Expr | float) -> Expr:
        if other.__class__ is Expr:
            return folding.total(self, other)
        return NotImplemented if isinstance(other, np.ndarray) else folding.total(self, self.graph.expr(other))

    def __radd__(self, other: float) -> Expr:
        return folding.total(self.graph.expr(other), self)

    def __sub__(self, other: Expr | float) -> Expr:
        if other.__class__ is Expr:
            return folding.difference(self, other)
        return NotImplemented if isinstance(other, np.ndarray) else folding.difference(self, self.graph.expr(other))

    def __rsub__(self, other: float) -> Expr:
        return folding.difference(self.graph.expr(other), self)

    def __mul__(self, other: Expr | float) -> Expr:
        if other.__class__ is Expr:
            return folding.product(self, other)
        if isinstance(other, (np.ndarray, tuple)):
            return NotImplemented
        return folding.product(self, self.graph.expr(other))

    def __rmul__(self, other: float) -> Expr:
        return folding.product(self.graph.expr(other), self)

    def __truediv__(self, other: Expr | float) -> Expr:
        return NotImplemented if isinstance(other, np.ndarray) else folding.quotient(self, self.graph.expr(other))

    def __rtruediv__(self, other: float) -> Expr:
        return folding.quotient(self.graph.expr(other), self)

    def __pow__(self, other: Expr | float) -> Expr:
        return NotImplemented if isinstance(other, np.ndarray) else folding.power(self, self.graph.expr(other))

    def __rpow__(self, other: float) -> Expr:
        return folding.power(self.graph.expr(other), self)

    def __neg__(self) -> Expr:
        return folding.negate(self)

    def __pos__(self) -> Expr:
        return self

    def __abs__(self) -> Expr:
        return folding.unary(ops.ABS, self)

    def __lt__(self, other: Expr | float) -> Truth:
        return folding.compare(ops.LT, self, self.graph.expr(other))

    def __le__(self, other: Expr | float) -> Truth:
        return folding.compare(ops.LE, self, self.graph.expr(other))

    def __gt__(self, other: Expr | float) -> Truth:
        return folding.compare(ops.LT, self.graph.expr(other), self)

    def __ge__(self, other: Expr | float) -> Truth:
        return folding.compare(ops.LE, self.graph.expr(other), self)

    def __bool__(self) -> bool:
        raise GraphError(
            "an expression has no truth value",
            got=repr(self),
            remedy="compare it (x < y) and use select(condition, a, b); test a known value with x.is_number",
        )

    def __float__(self) -> float:
        if self.op is not ops.CONST:
            raise GraphError(
                "an expression is not a number",
                expected="a constant",
                got=repr(self),
                remedy="evaluate a Function of it",
            )
        return cast(float, self.data)

    @property
    def is_number(self) -> bool:
        """Whether the value is already known."""
        return self.op is ops.CONST

    # np.sin and its like call these on arrays of expressions.
    sin = _method(ops.SIN)
    cos = _method(ops.COS)
    tan = _method(ops.TAN)
    sqrt = _method(ops.SQRT)
    exp = _method(ops.EXP)
    log = _method(ops.LOG)
    sinh = _method(ops.SINH)
    cosh = _method(ops.COSH)
    tanh = _method(ops.TANH)
    arcsin = _method(ops.ASIN)
    arccos = _method(ops.ACOS)
    arctan = _method(ops.ATAN)
    arcsinh = _method(ops.ASINH)
    arccosh = _method(ops.ACOSH)
    arctanh = _method(ops.ATANH)

    def arctan2(self, other: Expr | float) -> Expr:
        return folding.binary(ops.ATAN2, self, self.graph.expr(other))


class Bundle(Node):
    """All results of one call; indexing gives them one by one."""

    __slots__ = ()

    def __len__(self) -> int:
        return cast("Callee", self.data).n_out

    def __getitem__(self, index: int) -> Expr:
        if not 0 <= index < len(self):
            raise IndexError(index)
        return self.graph.node(Expr, ops.ITEM, (self,), index)

    def __iter__(self) -> Iterator[Expr]:
        return (self[k] for k in range(len(self)))


class Graph:
    """An arena of interned nodes, with the blocks of inputs they start from and the names given to some of them."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.blocks: dict[str, Block] = {}
        self.names: dict[int, str] = {}
        self.table: dict[tuple[object, ...], Node] = {}
        self._numbers: dict[float, Expr] = {}
        self.zero, self.one = self.number(0.0), self.number(1.0)
        self.false, self.true = (self.node(Truth, ops.TRUTH, (), value) for value in (False, True))

    def __len__(self) -> int:
        return len(self.nodes)

    # -- leaves --------------------------------------------------------------------------------------------------------
    def number(self, value: float) -> Expr:
        """A constant. Minus zero is zero; not-a-number is refused, since it would silently swallow what it meets."""
        if value.__class__ is not float:
            value = _as_float(value)
        node = self._numbers.get(value)
        if node is None:
            if math.isnan(value):
                raise GraphError(
                    "not-a-number cannot be a constant of an expression",
                    expected="a number",
                    got="nan",
                    remedy="divide 0 by a constant 0 where a nan is meant at run time",
                )
            node = Expr(self, len(self.nodes), ops.CONST, (), value)
            self.nodes.append(node)
            self._numbers[value] = node
        return node

    def block(
        self,
        name: str,
        shape: int | Sequence[int] = (),
        role: Role | str = Role.STATE,
        *,
        names: Sequence[str] | None = None,
    ) -> Block:
        """A new named array of inputs.

        Args:
            name: unique in the graph.
            shape: () for a scalar, n or (n,) for a vector, (n, m) for a matrix.
            role: what the numbers are: "parameter", "time", "input" or "state"; decides what is hoisted.
            names: one per element, in row-major order; q gives q1, q2, ... by default.
        """
        dims = checked_shape(name, shape)
        labels = Block.labels(name, dims, names)
        if name in self.blocks:
            raise GraphError(f"a block '{name}' exists already", remedy="choose another name")
        block = Block(name, dims, choice(Role, role, f"role of block '{name}'", GraphError), labels)
        symbols = tuple(self.node(Expr, ops.SYMBOL, (), (name, k)) for k in range(len(labels)))
        object.__setattr__(block, "symbols", symbols)
        self.blocks[name] = block
        return block

    def symbol(self, name: str, role: Role | str = Role.STATE) -> Expr:
        """A new scalar input: the one element of a block of shape ()."""
        return self.block(name, (), role).symbols[0]

    # -- lifting -------------------------------------------------------------------------------------------------------
    def expr(self, value: Expr | float) -> Expr:
        """A number or an expression of this graph, as an expression of this graph."""
        if value.__class__ is Expr:
            if value.graph is not self:
                raise foreign(value)
            return value
        if value.__class__ is float or value.__class__ is int:
            return self.number(value)
        if isinstance(value, Real) and not isinstance(value, bool):
            return self.number(float(value))
        raise GraphError(
            "not an operand", expected="a number or an expression", got=f"{value!r} ({type(value).__name__})"
        )

    def truth(self, value: Truth | bool) -> Truth:
        """A bool or a condition of this graph, as a condition of this graph."""
        if isinstance(value, Truth):
            if value.graph is not self:
                raise foreign(value)
            return value
        if isinstance(value, bool):
            return self.true if value else self.false
        raise GraphError(
            "not a condition",
            expected="a comparison such as x < y, or a bool",
            got=f"{value!r} ({type(value).__name__})",
        )

    # -- interning -----------------------------------------------------------------------------------------------------
    def node(self, kind: type[N], op: Op, args: tuple[Node, ...], data: Any = None) -> N:
        """The node for an operation on operands that are already in normal form."""
        key = (op, data, *[a.id for a in args])
        node = self.table.get(key)
        if node is None:
            node = self.table[key] = kind(self, len(self.nodes), op, args, data)
            self.nodes.append(node)
        return node  # type: ignore[return-value]

    def binary(self, op: Op, a: Expr, b: Expr) -> Expr:
        """`node` for two operands: the case that is worth its own few lines."""
        key = (op, a.id, b.id)
        node = self.table.get(key)
        if node is None:
            node = self.table[key] = Expr(self, len(self.nodes), op, (a, b))
            self.nodes.append(node)
        return node  # type: ignore[return-value]

    def call(self, callee: Callee, args: Sequence[Node]) -> Bundle:
        """Call another function on expressions of this graph; its results are indexed out of the bundle."""
        for arg in args:
            if arg.graph is not self:
                raise foreign(arg)
        return self.node(Bundle, ops.CALL, tuple(args), callee)

    def name(self, expr: Expr, name: str) -> Expr:
        """Give an intermediate result a name that survives to print; leaves and named nodes keep theirs."""
        if not isinstance(expr, Node):
            raise GraphError("only expressions have names", expected="an expression", got=repr(expr))
        if expr.graph is not self:
            raise foreign(expr)
        if expr.op is not ops.CONST and expr.op is not ops.SYMBOL:
            self.names.setdefault(expr.id, checked_name(name))
        return expr

    def label(self, node: Node) -> str | None:
        """The name of an input or of a named intermediate."""
        if node.op is ops.SYMBOL:
            block, index = cast("tuple[str, int]", node.data)
            return self.blocks[block].names[index]
        return self.names.get(node.id)


def _as_float(value: object) -> float:
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise GraphError(
            "not a constant", expected="a number that fits in double precision", got=type(value).__name__
        ) from None
