"""Python: a function on NumPy arrays, vectorised over leading dimensions, that needs nothing but NumPy.

For a function NAME of blocks a, b, ... the text defines ``NAME(a, b, ..., work=None)``: arrays ``(..., *shape)`` in,
one array or a tuple of arrays out. If there is work on parameters only, ``NAME_prologue(parameters...)`` does it once;
its result may be passed as `work`, and is computed on the spot otherwise.
"""

from __future__ import annotations

import builtins
import keyword
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from typing import ClassVar

from torseur.emit.text.dialect import Dialect, functions
from torseur.emit.text.frame import Frame, describe, horner, inputs_of, lines_of, subscripts
from torseur.emit.text.phrases import Writer
from torseur.emit.text.routines import Notation, RoutineText
from torseur.emit.text.statements import Part
from torseur.emit.text.unit import Called
from torseur.graph import ops
from torseur.graph.blocks import Block
from torseur.graph.function import Function, Output, Stage, checked_function
from torseur.graph.functions import Piecewise
from torseur.graph.nodes import Expr, Node
from torseur.graph.routine import Loops

__all__ = ["to_python"]

_INVERSE = {op: f"np.arc{op.name[1:]}" for op in (ops.ASIN, ops.ACOS, ops.ATAN, ops.ASINH, ops.ACOSH, ops.ATANH)}
_OWN = {ops.ATAN2: "np.arctan2", ops.MIN: "np.minimum", ops.MAX: "np.maximum", ops.POW: "np.power"}

PYTHON = Dialect(
    number=repr,
    calls={**functions(_INVERSE | _OWN, prefix="np."), ops.SELECT: "np.where(%s, %s, %s)"},
    infinity="np.inf",
    nan="np.nan",
    truths=("np.False_", "np.True_"),
    power="%s**%s",
    logic={ops.NOT: "~%s", ops.AND: "%s & %s", ops.OR: "%s | %s"},
    first=0,
    keywords=frozenset({*keyword.kwlist, *keyword.softkwlist, "np", "work", "batch"}),
    library=frozenset(dir(builtins)),
)


def to_python(function: Function) -> str:
    """The source of a function in Python with NumPy.

    >>> from torseur.graph import Function, Graph, Role, cos
    >>> g = Graph()
    >>> q, m = g.symbol("q"), g.symbol("m", Role.PARAMETER)
    >>> print(to_python(Function("weight", [g.blocks["q"], g.blocks["m"]], {"tau": 9.81 * m * cos(q)})))
    import numpy as np
    <BLANKLINE>
    <BLANKLINE>
    @np.errstate(all="ignore")
    def weight_prologue(m):
        \"\"\"What depends on parameters only, to be passed to weight as work.\"\"\"
        m = np.asarray(m, dtype=float)
        t1 = 9.81*m
        return (t1,)
    <BLANKLINE>
    <BLANKLINE>
    @np.errstate(all="ignore")
    def weight(q, m, work=None):
        \"\"\"Arrays (..., *shape) in and out; leading dimensions broadcast.
    <BLANKLINE>
        q (scalar), state
        m (scalar), parameter
        tau (scalar), output
        \"\"\"
        if work is None:
            work = weight_prologue(m)
        q = np.asarray(q, dtype=float)
        m = np.asarray(m, dtype=float)
        batch = np.broadcast_shapes(q.shape, m.shape)
        t1 = work[0]
        tau = np.empty(batch)
        tau[...] = t1*np.cos(q)
        return tau
    <BLANKLINE>
    """
    return _PythonFrame(checked_function(function, "to_python"), PYTHON).source()


# Routines compute with single numbers.
_SCALAR = replace(
    PYTHON,
    calls={ops.ABS: "abs(%s)", ops.SQRT: "np.sqrt(%s)"},
    logic={ops.NOT: "not %s", ops.AND: "%s and %s", ops.OR: "%s or %s"},
)


class _PythonFrame(Frame):
    prefix: ClassVar[str] = "_"
    notation = Notation(
        up="for {name} in range({begin}, {end}):",
        down="for {name} in range({begin}, {end}, -1):",
        condition="if {test}:",
        otherwise="else:",
        repeat="while {test}:",
        end="",
    )

    def source(self) -> str:
        pieces = ["import numpy as np", *self.inner_functions()]
        prologue = self.main.plan.part(Stage.PARAMETER)
        if prologue is not None:
            pieces.append(self.prologue(prologue))
        return "\n\n\n".join([*pieces, self.evaluation()]) + "\n"

    def prologue(self, part: Part) -> str:
        plan, blocks = self.main.plan, inputs_of(self.function, Stage.PARAMETER)
        stores = [plan.names[n.id] for n in part.stores]
        lines = [
            f'"""What depends on parameters only, to be passed to {self.unit.name} as work."""',
            *self.conversions(blocks),
            *self.body(self.main, part, inner=False),
            f"return {_tuple(stores)}",
        ]
        signature = lines_of(f"def {self.unit.companions['prologue']}(", self.block_names(blocks), "):")
        return "\n".join(['@np.errstate(all="ignore")', signature, *self.indented(lines)])

    def evaluation(self) -> str:
        """The function itself."""
        writer, plan, blocks = self.main, self.main.plan, self.function.inputs
        hoisted = plan.part(Stage.PARAMETER) is not None
        shapes = [f"{plan.blocks[b.name]}.shape{f'[:-{len(b.shape)}]' if b.shape else ''}" for b in blocks]
        lines = [
            '"""Arrays (..., *shape) in and out; leading dimensions broadcast.',
            "",
            *describe(self.function),
            '"""',
        ]
        if hoisted:
            given = ", ".join(self.block_names(inputs_of(self.function, Stage.PARAMETER)))
            lines += ["if work is None:", f"    work = {self.unit.companions['prologue']}({given})"]
        lines += [
            *self.conversions(blocks),
            lines_of("batch = np.broadcast_shapes(", shapes, ")"),
            *self.body(writer, plan.parts[-1], inner=False),
        ]
        for output in self.function.outputs:
            lines += self.output(output)
        names = [plan.outputs[o.name] for o in self.function.outputs]
        lines.append(f"return {names[0] if len(names) == 1 else _tuple(names)}")
        arguments = [*self.block_names(blocks), *(["work=None"] if hoisted else [])]
        signature = lines_of(f"def {self.unit.name}(", arguments, "):")
        return "\n".join(['@np.errstate(all="ignore")', signature, *self.indented(lines)])

    def output(self, output: Output) -> list[str]:
        name = self.main.plan.outputs[output.name]
        shape = f"(*batch, {', '.join(map(str, output.shape))})" if output.shape else "batch"
        lines = [f"{name} = np.empty({shape})"]
        return lines + [f"{name}[{_index(output.shape, k)}] = {self.main.text(e)}" for k, e in enumerate(output.exprs)]

    def conversions(self, blocks: Sequence[Block]) -> list[str]:
        return [f"{name} = np.asarray({name}, dtype=float)" for name in self.block_names(blocks)]

    # -- called functions: tuples of arrays in, a tuple of arrays out ------------------------------------------------
    def inner(self, name: str, writer: Writer) -> str:
        plan = writer.plan
        lines = self.body(writer, plan.parts[-1], inner=True)
        results = [self.value(writer, e) for e in plan.function.results]
        arguments = [plan.blocks[b.name] for b in plan.function.inputs]
        signature = lines_of(f"def {name}(", arguments, "):")
        return "\n".join([signature, *self.indented([*lines, f"return {_tuple(results)}"])])

    def element(self, name: str, block: Block, k: int, inner: bool) -> str:
        return f"{name}[{k}]" if inner else f"{name}[{_index(block.shape, k)}]"

    def load(self, writer: Writer, node: Node) -> str:
        return self.assignment(node, writer.plan.names[node.id], f"work[{writer.plan.slots[node.id].place}]")

    def array(self, writer: Writer, items: Sequence[Expr]) -> str:
        return _tuple([self.value(writer, e) for e in items])

    def value(self, writer: Writer, node: Expr) -> str:
        """A literal must leave as a NumPy number: Python's own raises where ours answers inf or nan."""
        text = writer.text(node)
        return f"np.float64({text})" if writer.is_number(node) else text

    # -- tables and loops --------------------------------------------------------------------------------------------
    def table(self, name: str, curve: Piecewise) -> str:
        rows = [[o, *c] for o, c in zip(curve.origins, curve.coefficients, strict=True)]
        held = "np.where(row[..., 2] == 0.0, 0.0, np.nan)" if curve.degree else "0.0"
        lines = [
            '"""A piecewise polynomial; each row holds an origin and coefficients."""',
            lines_of("breaks = np.array([", [repr(x) for x in curve.breaks], "])"),
            lines_of("rows = np.array([", [repr(row) for row in rows], "])"),
            'row = rows[np.searchsorted(breaks, x, side="right")]',
            "u = x - row[..., 0]",
            f"u = np.where(np.isinf(u), {held}, u)  # only a flat end has a value at infinity",
            f"return {horner([f'row[..., {k + 1}]' for k in range(curve.degree + 1)], 'u')}",
        ]
        return "\n".join([f"def {name}(x):", *self.indented(lines)])

    def loop(self, name: str, item: Called) -> str:
        calls = self.loop_calls(item, "np.where(done, 1.0, 0.0)")
        lines = [
            '"""Each element stops when it is done; the others go on."""',
            f"state = {calls.start}",
            "done = np.False_",
            f"for _ in range({calls.loop.limit}):",
            f"    *after, now = {calls.step}",
            "    state = tuple(np.where(done, old, new) for old, new in zip(state, after))",
            "    done = done | (now > 0.5)",
            "    if np.all(done):",
            "        break",
            f"return {calls.finish}",
        ]
        return "\n".join([f"def {name}({', '.join(calls.arguments)}):", *self.indented(lines)])

    # -- routines ----------------------------------------------------------------------------------------------------
    @property
    def routine_dialect(self) -> Dialect:
        return _SCALAR

    def routine(self, name: str, text: RoutineText) -> str:
        return "\n".join([lines_of(f"def {name}(", text.arguments(), "):"), *self.indented(text.lines())])

    def routine_call(self, name: str, routine: str, loops: Loops) -> str:
        arguments = [f"a{k}" for k, _ in enumerate(loops.inputs, 1)]
        tables = [f"table{k}" for k, _ in enumerate(loops.tables, 1)]
        ends = accumulate(loops.outs)
        room = [f"out[k][{end - n}:{end}]" for end, n in zip(ends, loops.outs, strict=True)]
        given = [*map(str, loops.whole), *tables, "*arrays", *room, *(f"np.zeros({n})" for n in loops.works)]
        lines = [
            '"""The routine, for each element of a batch."""',
            *(
                lines_of(f"{table} = np.array([", [repr(x) for x in values], "])")
                for table, values in zip(tables, loops.tables, strict=True)
            ),
            f"given = {_tuple(arguments)}",
            "batch = np.broadcast_shapes(*(np.shape(x) for block in given for x in block))",
            "given = [[np.broadcast_to(x, batch) for x in block] for block in given]",
            f"out = np.zeros((*batch, {sum(loops.outs)}))",
            "for k in np.ndindex(*batch):",
            "    arrays = [np.array([x[k] for x in block]) for block in given]",
            *self.indented([lines_of(f"{routine}(", given, ")")]),
            "return tuple(np.moveaxis(out, -1, 0))",
        ]
        return "\n".join([lines_of(f"def {name}(", arguments, "):"), *self.indented(lines)])


def _index(shape: tuple[int, ...], k: int) -> str:
    """Subscripts behind all leading dimensions."""
    return ", ".join(["...", *subscripts(shape, k, 0)])


def _tuple(items: Sequence[str]) -> str:
    return lines_of("(", items, ",)" if len(items) == 1 else ")")
