"""Functions as casadi functions.

What has no loop becomes one casadi expression of scalars (SX), linear systems written out; a function with a root in it
becomes a graph of matrices (MX) that calls such functions, its loop unrolled to the limit. Derivatives are then
casadi's own: through the iterations of a root, not by the implicit-function rule. casadi simplifies while it builds;
where a function is singular its answer may be another infinity or nan than ours. Routines, whose pivots are chosen at
run time, are refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from torseur.emit.text.dialect import Names, words
from torseur.emit.text.unit import Called, all_called, called, postorder
from torseur.errors import CompileError, MissingExtra
from torseur.graph import ops
from torseur.graph.blocks import Block
from torseur.graph.calls import Iteration
from torseur.graph.evaluate import walk
from torseur.graph.function import Function, checked_function
from torseur.graph.functions import Piecewise
from torseur.graph.nodes import Node
from torseur.graph.ops import Op
from torseur.graph.routine import Loops

__all__ = ["to_casadi"]


def to_casadi(function: Function) -> Any:
    """A `casadi.Function` of the same name, inputs and outputs.

    Vectors are columns; more than two dimensions are one column, row by row.
    """
    checked_function(function, "to_casadi")
    try:
        import casadi
    except ImportError:
        raise MissingExtra("casadi", extra="casadi", purpose="export to casadi") from None
    return _Exporter(casadi).whole(function)


class _Exporter:
    """Makes each function once, those that are called before those that call them."""

    def __init__(self, casadi: Any) -> None:
        self.ca = casadi
        self.known: dict[str, Any] = {}
        self.rules = _rules(casadi)

    def whole(self, function: Function) -> Any:
        """The function with its inputs and outputs in their own shapes."""
        ca, kind = self.ca, self.kind(function)
        inputs = [kind.sym(b.name, *_size(b.shape)) for b in function.inputs]
        columns = [x for b, s in zip(function.inputs, inputs, strict=True) for x in _elements(s, b)]
        values = iter(self.run(function, columns))
        outputs = [self.shaped([next(values) for _ in o.exprs], o.shape) for o in function.outputs]
        names = Names(spell=ca.Function.fix_name)
        labels = [[names.take(x.name) for x in group] for group in (function.inputs, function.outputs)]
        return ca.Function(self.legal(function.name), inputs, outputs, *labels)

    def legal(self, name: str) -> str:
        """casadi takes no name with two underscores in a row, or one at its start."""
        return str(self.ca.Function.fix_name(name))

    def shaped(self, values: Sequence[Any], shape: tuple[int, ...]) -> Any:
        column = self.ca.vertcat(*values) if values else self.ca.DM.zeros(0, 1)
        if len(shape) != 2:
            return column
        return self.ca.reshape(column, shape[1], shape[0]).T

    def kind(self, function: Function) -> Any:
        """SX, or MX if there is a loop somewhere inside."""
        inside = postorder(all_called(function), lambda item: all_called(item.lowered))
        return self.ca.MX if any(isinstance(item.lowered, Iteration) for item in inside) else self.ca.SX

    def run(self, function: Function, columns: Sequence[Any]) -> list[Any]:
        kind = self.kind(function)

        def apply(node: Node, args: list[Any]) -> Any:
            if node.op is ops.CONST or node.op is ops.TRUTH:
                return kind(float(node.data))
            if node.op is ops.CALL:
                return self.call(called(node.data), args)
            if node.op is ops.ITEM:
                return args[0][node.data]
            return self.table(node.data, args[0]) if node.op is ops.PIECEWISE else self.rules[node.op](*args)

        return walk(function, columns, apply)

    def call(self, item: Called, args: Sequence[Any]) -> list[Any]:
        """The results of a call; bundles among the arguments arrive as lists."""
        flat = [x for a in args for x in (a if isinstance(a, list) else [a])]
        return _entries(self.flat(item)(self.ca.vertcat(*flat)))

    def flat(self, item: Called) -> Any:
        """A casadi function of one column of arguments that gives one column of results."""
        if item.key not in self.known:
            match item.lowered:
                case Function() as function:
                    self.known[item.key] = self._function(function)
                case Iteration() as loop:
                    self.known[item.key] = self._loop(item.name, loop)
                case Loops() as loops if loops.routine.in_step:
                    self.known[item.key] = self._routine(item.name, loops)
                case Loops() as loops:
                    raise _refusal(item, loops)
        return self.known[item.key]

    def _function(self, function: Function) -> Any:
        x = self.kind(function).sym("x", sum(b.size for b in function.inputs))
        return self.ca.Function(self.legal(function.name), [x], [self.ca.vertcat(*self.run(function, _entries(x)))])

    def _loop(self, name: str, loop: Iteration) -> Any:
        """Each pass is computed; what is done stays as it is."""
        ca, n = self.ca, loop.size
        start, step, finish = (self.flat(item) for item in all_called(loop))
        args = ca.MX.sym("args", start.size1_in(0))
        state, done = start(args), ca.MX(0)
        for _ in range(loop.limit):
            after = step(ca.vertcat(state, args))
            state, done = ca.if_else(done > 0.5, state, after[:n]), ca.if_else(done > 0.5, done, after[n])
        return ca.Function(self.legal(name), [args], [finish(ca.vertcat(state, done))])

    def _routine(self, name: str, loops: Loops) -> Any:
        """One that is in step goes the same way whatever its arrays hold: Python runs it on symbols."""
        x = self.ca.SX.sym("x", sum(b.size for b in loops.inputs))
        given = iter(_entries(x))
        arrays = [*loops.tables, *([next(given) for _ in range(b.size)] for b in loops.inputs)]
        results = [[self.ca.SX(0)] * size for size in (*loops.outs, *loops.works)]
        loops.routine.body(*loops.whole, *arrays, *results)
        flat = [y for result in results[: len(loops.outs)] for y in result]
        return self.ca.Function(self.legal(name), [x], [self.ca.vertcat(*flat)])

    def table(self, curve: Piecewise, x: Any) -> Any:
        """Each coefficient is chosen by steps at the breakpoints; then one polynomial."""
        choose = self.ca.if_else
        rows = [(o, *c) for o, c in zip(curve.origins, curve.coefficients, strict=True)]
        chosen: list[Any] = list(rows[0])
        for point, row in zip(curve.breaks, rows[1:], strict=True):
            chosen = [choose(x >= point, b, a) for a, b in zip(chosen, row, strict=True)]
        inf, nan = math.inf, math.nan
        u = x - chosen[0]
        held = choose(chosen[2] == 0, 0, nan) if curve.degree else 0  # only a flat end has a value at infinity
        u = choose(self.ca.fabs(u) == inf, held, u)
        value = chosen[-1]
        for c in reversed(chosen[1:-1]):
            value = value * u + c
        return value if curve.degree else choose(self.ca.fabs(u) < inf, value, nan)


def _refusal(item: Called, loops: Loops) -> CompileError:
    meaning = "" if item.callee is None else f": {item.callee.meaning}"
    return CompileError(
        "casadi has no loops whose pivots are chosen at run time",
        where=f"to_casadi, {item.name}{meaning}",
        expected="calls of functions, linear systems and roots",
        got=f"a call of the routine {loops.routine.name}",
        remedy="export what the call is made of (matrices, right-hand sides) and solve in casadi, or emit C",
    )


def _size(shape: tuple[int, ...]) -> tuple[int, int]:
    if len(shape) == 2:
        return shape[0], shape[1]
    n = 1
    for k in shape:
        n *= k
    return n, 1


def _elements(array: Any, block: Block) -> list[Any]:
    if len(block.shape) == 2:
        return [array[i, j] for i in range(block.shape[0]) for j in range(block.shape[1])]
    return _entries(array)


def _entries(column: Any) -> list[Any]:
    return [column[k] for k in range(column.shape[0])]


def _rules(ca: Any) -> dict[Op, Callable[..., Any]]:
    names = words("sqrt exp log sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh sign floor atan2")
    by_name = {op.name: op for op in ops.OPS}
    rules: dict[Op, Callable[..., Any]] = {by_name[name]: getattr(ca, name) for name in names}
    choose = ca.if_else
    rules |= {
        ops.NEG: lambda x: -x,
        ops.ADD: lambda a, b: a + b,
        ops.SUB: lambda a, b: a - b,
        ops.MUL: lambda a, b: a * b,
        ops.DIV: lambda a, b: a / b,
        ops.POW: lambda a, b: a**b,
        ops.ABS: ca.fabs,
        # a + b is nan where neither comparison holds.
        ops.MIN: lambda a, b: choose(a < b, a, choose(b <= a, b, a + b)),
        ops.MAX: lambda a, b: choose(b < a, a, choose(a <= b, b, a + b)),
        ops.LT: lambda a, b: a < b,
        ops.LE: lambda a, b: a <= b,
        ops.EQ: lambda a, b: a == b,
        ops.NOT: ca.logic_not,
        ops.AND: ca.logic_and,
        ops.OR: ca.logic_or,
        ops.SELECT: choose,
    }
    return rules
