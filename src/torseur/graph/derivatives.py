"""Derivatives of expressions, as expressions of the same graph.

Where a function has no derivative in the strict sense, these hold:

====================  ==================================================================
``absolute(x)``       ``sign(x)``: 0 at 0
``sign``, ``floor``   0 everywhere
``minimum(a, b)``     that of the smaller; at a tie, of the operand made later
``maximum(a, b)``     that of the larger; at a tie, of the operand made later
``select(c, a, b)``   that of the chosen branch; the condition contributes nothing
tables                that of the interval to the right at a breakpoint
rank-revealing solve  that at constant rank
====================  ==================================================================

Both modes choose between the branches of ``select``. In reverse mode, where a part is reached through several
choices, a branch that was not chosen and has an infinite derivative there leaves a nan; the automatic mode of
`jacobian` therefore sweeps forward where there is a choice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TypeVar, cast

from torseur.errors import GraphError, choice
from torseur.graph import ops
from torseur.graph.folding import foreign, power
from torseur.graph.function import reachable
from torseur.graph.functions import cos, cosh, evaluate_piecewise, log, select, sign, sin, sinh, sqrt
from torseur.graph.nodes import Bundle, Expr, Graph, Node
from torseur.graph.ops import Op

__all__ = ["Jacobian", "Mode", "Tangent", "adjoints", "gradient", "hessian", "jacobian", "tangents"]

T = TypeVar("T")
Tangent = Expr | list[Expr] | None
"""The derivative of one argument of a call: of an expression, of a bundle, or zero."""


class Mode(Enum):
    """How a Jacobian is swept: from inputs, from outputs, or whichever touches fewer pairs."""

    FORWARD = "forward"
    REVERSE = "reverse"
    AUTOMATIC = "automatic"


# One entry per operand: the partial derivative of the node with respect to it.
_Partial = Callable[[Expr], Expr]
_PARTIALS: dict[Op, tuple[_Partial, ...]] = {
    ops.NEG: (lambda n: n.graph.number(-1.0),),
    ops.ADD: (lambda n: n.graph.one, lambda n: n.graph.one),
    ops.SUB: (lambda n: n.graph.one, lambda n: n.graph.number(-1.0)),
    ops.MUL: (lambda n: n.args[1], lambda n: n.args[0]),
    ops.POW: (
        lambda n: n.args[1] * power(n.args[0], n.args[1] - 1.0),
        lambda n: n * log(n.args[0]),
    ),
    ops.SQRT: (lambda n: 0.5 / n,),
    ops.EXP: (lambda n: n,),
    ops.LOG: (lambda n: 1.0 / n.args[0],),
    ops.SIN: (lambda n: cos(n.args[0]),),
    ops.COS: (lambda n: -sin(n.args[0]),),
    ops.TAN: (lambda n: 1.0 + n * n,),
    # (1 - x) (1 + x) keeps its digits near 1, where 1 - x x loses them.
    ops.ASIN: (lambda n: 1.0 / sqrt((1.0 - n.args[0]) * (1.0 + n.args[0])),),
    ops.ACOS: (lambda n: -1.0 / sqrt((1.0 - n.args[0]) * (1.0 + n.args[0])),),
    ops.ATAN: (lambda n: 1.0 / (1.0 + n.args[0] * n.args[0]),),
    ops.ATAN2: (
        lambda n: n.args[1] / (n.args[0] * n.args[0] + n.args[1] * n.args[1]),
        lambda n: -n.args[0] / (n.args[0] * n.args[0] + n.args[1] * n.args[1]),
    ),
    ops.SINH: (lambda n: cosh(n.args[0]),),
    ops.COSH: (lambda n: sinh(n.args[0]),),
    ops.TANH: (lambda n: 1.0 - n * n,),
    ops.ASINH: (lambda n: 1.0 / sqrt(n.args[0] * n.args[0] + 1.0),),
    ops.ACOSH: (lambda n: 1.0 / sqrt((n.args[0] - 1.0) * (n.args[0] + 1.0)),),
    ops.ATANH: (lambda n: 1.0 / ((1.0 - n.args[0]) * (1.0 + n.args[0])),),
    ops.ABS: (lambda n: sign(n.args[0]),),
    ops.SIGN: (lambda n: n.graph.zero,),
    ops.FLOOR: (lambda n: n.graph.zero,),
    ops.MIN: (
        lambda n: select(n.args[0] < n.args[1], 1.0, 0.0),
        lambda n: select(n.args[0] < n.args[1], 0.0, 1.0),
    ),
    ops.MAX: (
        lambda n: select(n.args[0] > n.args[1], 1.0, 0.0),
        lambda n: select(n.args[0] > n.args[1], 0.0, 1.0),
    ),
    ops.PIECEWISE: (lambda n: evaluate_piecewise(n.data.derivative(), n.args[0]),),
}


def tangents(outputs: Sequence[Expr], seeds: Mapping[Expr, Expr | float]) -> list[Expr]:
    """The directional derivative of some expressions: d/de outputs(x + e seed) at e = 0, by forward mode."""
    outputs = _listed("outputs", outputs)
    if not isinstance(seeds, Mapping):
        raise GraphError("the seeds are not a mapping", expected="variable -> seed, such as {x: 1.0}", got=repr(seeds))
    if not outputs:
        return []
    g = _common_graph(outputs, list(seeds))
    known: dict[int, Tangent] = {x.id: g.expr(s) for x, s in seeds.items()}
    for node in reachable(outputs):
        if node.id not in known and any(known.get(a.id) is not None for a in node.args):
            known[node.id] = _forward(g, node, [known.get(a.id) for a in node.args])
    return [_or_zero(g, known.get(e.id)) for e in outputs]


def _listed(name: str, values: Iterable[T]) -> list[T]:
    if not isinstance(values, Iterable):
        raise GraphError(
            f"'{name}' is not a sequence", expected="a list or a block", got=repr(values), remedy=f"write [{values!r}]"
        )
    return list(values)


def _common_graph(outputs: Sequence[Expr], wrt: Sequence[Expr]) -> Graph:
    """The one graph of all, which `wrt` can vary in."""
    for e in (*outputs, *wrt):
        if not isinstance(e, Expr):
            raise GraphError("only expressions have derivatives", expected="an expression", got=repr(e))
    g = (*outputs, *wrt)[0].graph
    for e in (*outputs, *wrt):
        if e.graph is not g:
            raise foreign(e)
    for x in wrt:
        if x.op is ops.CONST:
            raise GraphError("cannot differentiate with respect to a number", expected="a symbol", got=repr(x))
    return g


def _forward(g: Graph, node: Node, args: list[Tangent]) -> Tangent:
    if isinstance(node, Bundle):
        tangents: list[Expr] = node.data.tangent(node, args)
        return tangents
    if not isinstance(node, Expr):
        return None
    if node.op is ops.ITEM:
        assert isinstance(args[0], list)
        item: Expr = args[0][node.data]
        return item
    if node.op is ops.SELECT:
        return select(node.args[0], _or_zero(g, args[1]), _or_zero(g, args[2]))
    if node.op is ops.DIV:
        change: Expr = _or_zero(g, args[0]) - node * _or_zero(g, args[1])
        return change / cast(Expr, node.args[1])
    total = g.zero
    for k, t in enumerate(args):
        if isinstance(t, Expr) and t is not g.zero:
            total = total + _PARTIALS[node.op][k](node) * t
    return total


def adjoints(outputs: Sequence[Expr], weights: Sequence[Expr | float], wrt: Sequence[Expr]) -> list[Expr]:
    """The derivative of sum_i weights[i] outputs[i] with respect to each of `wrt`, by reverse mode."""
    outputs, weights, wrt = _listed("outputs", outputs), _listed("weights", weights), _listed("wrt", wrt)
    if not outputs:
        return [x.graph.zero for x in wrt]
    g = _common_graph(outputs, wrt)
    if len(weights) != len(outputs):
        raise GraphError("each output needs one weight", expected=str(len(outputs)), got=str(len(weights)))
    bar = _reverse_sweep(g, outputs, weights, {x.id for x in wrt})
    return [_or_zero(g, bar.get(x.id)) for x in wrt]


def _reverse_sweep(
    g: Graph, outputs: Sequence[Expr], weights: Sequence[Expr | float], wanted: set[int]
) -> dict[int, Tangent]:
    """Node id -> the derivative of the weighted sum, for the nodes between the outputs and those wanted."""
    order = reachable(outputs)
    useful = _depends(order, wanted)
    bar: dict[int, Tangent] = {}
    for e, w in zip(outputs, weights, strict=True):
        _accumulate(g, bar, e, g.expr(w))
    for node in reversed(order):
        if node.id in useful and node.id not in wanted and bar.get(node.id) is not None:
            _reverse(g, bar, node, useful)
    return bar


def _reverse(g: Graph, bar: dict[int, Tangent], node: Node, useful: set[int]) -> None:
    weight = bar[node.id]
    if isinstance(node, Bundle):
        assert isinstance(weight, list)
        for arg, part in zip(node.args, node.data.adjoint(node, weight), strict=True):
            if arg.id in useful and part is not None:
                _accumulate(g, bar, arg, part)
        return
    assert isinstance(node, Expr)
    assert isinstance(weight, Expr)
    if node.op is ops.ITEM:
        whole = bar.setdefault(node.args[0].id, [g.zero] * len(node.args[0]))
        assert isinstance(whole, list)
        whole[node.data] = whole[node.data] + weight
    elif node.op is ops.SELECT:
        condition, a, b = node.args
        _accumulate(g, bar, a, select(condition, weight, 0.0))
        _accumulate(g, bar, b, select(condition, 0.0, weight))
    elif node.op is ops.DIV:
        share = _weighted(lambda w: w / node.args[1], weight)
        _accumulate(g, bar, node.args[0], share)
        _accumulate(g, bar, node.args[1], _weighted(lambda w: -node * w, share))
    else:
        for k, arg in enumerate(node.args):
            if arg.id in useful:
                partial = _PARTIALS[node.op][k](node)
                _accumulate(g, bar, arg, _weighted(lambda w, p=partial: p * w, weight))  # type: ignore[misc]


def _weighted(times: Callable[[Expr], Expr], weight: Expr) -> Expr:
    """A partial derivative times a weight; a weight that is zero unless its branch was chosen stays exactly that."""
    if weight.op is ops.SELECT:
        condition, a, b = weight.args
        zero = weight.graph.zero
        if b is zero:
            return select(condition, times(a), zero)
        if a is zero:
            return select(condition, zero, times(b))
    return times(weight)


def _accumulate(g: Graph, bar: dict[int, Tangent], node: Node, part: Expr | list[Expr]) -> None:
    old = bar.get(node.id)
    if isinstance(part, list):
        bar[node.id] = [a + b for a, b in zip(old, part, strict=True)] if isinstance(old, list) else part
    elif part is not g.zero:
        bar[node.id] = old + part if isinstance(old, Expr) else part


def _depends(order: Sequence[Node], wanted: set[int]) -> set[int]:
    dependent: set[int] = set()
    for node in order:
        if node.id in wanted or any(a.id in dependent for a in node.args):
            dependent.add(node.id)
    return dependent


def _or_zero(g: Graph, t: Tangent) -> Expr:
    return t if isinstance(t, Expr) else g.zero


def gradient(output: Expr, wrt: Sequence[Expr]) -> list[Expr]:
    """The derivatives of one expression with respect to many: one reverse sweep.

    >>> from torseur.graph import Graph, gradient
    >>> g = Graph()
    >>> x, y = g.symbol("x"), g.symbol("y")
    >>> gradient(x * x * y, [x, y])
    [(2*(x*y)), (x*x)]
    """
    return adjoints([output], [1.0], wrt)


@dataclass(frozen=True)
class Jacobian:
    """The non-zero derivatives of m outputs with respect to n variables, by rows then columns."""

    shape: tuple[int, int]
    rows: tuple[int, ...]
    columns: tuple[int, ...]
    entries: tuple[Expr, ...]
    graph: Graph

    def dense(self) -> list[list[Expr]]:
        """The full matrix, zeros included."""
        full = [[self.graph.zero] * self.shape[1] for _ in range(self.shape[0])]
        for i, j, e in zip(self.rows, self.columns, self.entries, strict=True):
            full[i][j] = e
        return full


def jacobian(outputs: Sequence[Expr], wrt: Sequence[Expr], mode: Mode | str = Mode.AUTOMATIC) -> Jacobian:
    """The sparse matrix of d outputs[i] / d wrt[j]; structural zeros are absent.

    `mode` is "forward", "reverse" or "automatic".
    """
    outputs, wrt = _listed("outputs", outputs), _listed("wrt", wrt)
    if not outputs or not wrt:
        raise GraphError(
            "a Jacobian needs outputs and variables",
            expected="at least one of each",
            got=f"{len(outputs)} outputs, {len(wrt)} variables",
        )
    mode = choice(Mode, mode, "mode", GraphError)
    g = _common_graph(outputs, wrt)
    if mode is Mode.AUTOMATIC:
        choices = any(node.op is ops.SELECT for node in reachable(outputs))
        mode = Mode.FORWARD if choices else _cheaper_sweep(outputs, wrt)
    rows = _forward_rows(g, outputs, wrt) if mode is Mode.FORWARD else _reverse_rows(g, outputs, wrt)
    filled = {
        (i, j): e for i, row in enumerate(rows) for j, e in row.items() if isinstance(e, Expr) and e is not g.zero
    }
    keys = sorted(filled)
    shape = len(outputs), len(wrt)
    return Jacobian(shape, tuple(i for i, _ in keys), tuple(j for _, j in keys), tuple(filled[k] for k in keys), g)


def _forward_rows(g: Graph, outputs: Sequence[Expr], wrt: Sequence[Expr]) -> list[dict[int, Tangent]]:
    """For each output, the derivatives by the variables it depends on."""
    known: dict[int, dict[int, Tangent]] = {}
    for j, x in enumerate(wrt):
        known.setdefault(x.id, {})[j] = g.one
    for node in reachable(outputs):
        columns = sorted({j for a in node.args for j in known.get(a.id, ())})
        if columns and node.id not in known:
            args = [known.get(a.id, {}) for a in node.args]
            known[node.id] = {j: _forward(g, node, [a.get(j) for a in args]) for j in columns}
    return [known.get(y.id, {}) for y in outputs]


def _reverse_rows(g: Graph, outputs: Sequence[Expr], wrt: Sequence[Expr]) -> list[dict[int, Tangent]]:
    columns: dict[int, list[int]] = {}
    for j, x in enumerate(wrt):
        columns.setdefault(x.id, []).append(j)
    wanted = set(columns)
    sweeps = (_reverse_sweep(g, [y], [1.0], wanted) for y in outputs)
    return [{j: e for id, e in bar.items() for j in columns.get(id, ())} for bar in sweeps]


def _cheaper_sweep(outputs: Sequence[Expr], wrt: Sequence[Expr]) -> Mode:
    """The sweep with fewer pairs of a node and a variable (forward) or a node and an output (reverse).

    Counting goes no further than the smaller of the two needs.
    """
    if len(wrt) == 1 or len(outputs) == 1:
        return Mode.FORWARD if len(wrt) == 1 else Mode.REVERSE
    order = reachable(outputs)
    useful = _depends(order, {x.id for x in wrt})
    order = [node for node in order if node.id in useful]
    users: dict[int, list[int]] = {node.id: [] for node in order}
    for node in order:
        for a in node.args:
            if a.id in useful:
                users[a.id].append(node.id)
    ahead = [(node.id, [a.id for a in node.args if a.id in useful]) for node in order]
    back = [(node.id, users[node.id]) for node in reversed(order)]
    limit = 4 * len(order)
    while True:
        forward, reverse = _pairs(ahead, wrt, limit), _pairs(back, outputs, limit)
        if forward <= limit or reverse <= limit:
            return Mode.FORWARD if forward <= reverse else Mode.REVERSE
        limit *= 4


def _pairs(order: Sequence[tuple[int, Sequence[int]]], sources: Sequence[Expr], limit: int) -> int:
    """How many (node, source) pairs are connected; counting stops beyond the limit."""
    met: dict[int, set[int]] = {}
    for k, source in enumerate(sources):
        met.setdefault(source.id, set()).add(k)
    total = 0
    for id, before in order:
        parameters = met.setdefault(id, set()).union(*(met[b] for b in before))
        met[id] = parameters
        total += len(parameters)
        if total > limit:
            break
    return total


def hessian(output: Expr, wrt: Sequence[Expr]) -> list[list[Expr]]:
    """The symmetric matrix of second derivatives of one expression."""
    return jacobian(gradient(output, wrt), wrt).dense()
