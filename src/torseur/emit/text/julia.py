"""Julia: functions of one state at a time, on arrays of any real numbers.

For a function NAME of blocks a, b, ... the text defines ``NAME(a, b, ..., work)``, which gives the output, or a tuple
of them. The last argument may be left out: it is what ``NAME_prologue(parameters...)`` gives, the work on parameters
only.
Arguments outside the domain of a function give NaN; an infinite angle raises a DomainError, as it does in Julia.
"""

from __future__ import annotations

from collections.abc import Sequence

from torseur.emit.text.dialect import Dialect, Rank, functions, words
from torseur.emit.text.frame import Frame, describe, horner, inputs_of, lines_of, subscripts
from torseur.emit.text.phrases import Writer
from torseur.emit.text.statements import Part
from torseur.emit.text.unit import Called
from torseur.graph import ops
from torseur.graph.blocks import Block
from torseur.graph.function import Function, Output, Stage, checked_function
from torseur.graph.nodes import Bundle, Expr, Node, Truth
from torseur.graph.piecewise import Piecewise

__all__ = ["to_julia"]

_KEYWORDS = words(
    """baremodule begin break catch const continue do else elseif end export false finally for function global if import
    in isa let local macro module quote return struct true try using where while abstract mutable primitive type outer
    work number_type promote_type eltype Array undef Float64"""
)
_DOMAINS = {
    ops.SQRT: "x < 0",
    ops.LOG: "x < 0",
    ops.ASIN: "abs(x) > 1",
    ops.ACOS: "abs(x) > 1",
    ops.ACOSH: "x < 1",
    ops.ATANH: "abs(x) > 1",
}
_HELPERS = {op: f"real_{op.name}(x) = {outside} ? NaN : {op.name}(x)" for op, outside in _DOMAINS.items()}
_HELPERS[ops.POW] = """function real_pow(x, y)
    if x < 0 && !isinteger(y)
        return isinf(x) || isinf(y) ? (-x)^y : NaN
    end
    return x^y
end"""
_OWN = {**{op: f"real_{op.name}" for op in (*_DOMAINS, ops.POW)}, ops.ATAN2: "atan"}

JULIA = Dialect(
    number=repr,
    calls={**functions(_OWN), ops.SELECT: "%s ? %s : %s"},
    infinity="Inf",
    nan="NaN",
    truths=("false", "true"),
    choice=Rank.CHOICE,
    keywords=_KEYWORDS,
    library=words("count isinteger isinf pi im sqrt log asin acos acosh atanh"),
    helpers=_HELPERS,
    spell=lambda name: f"x{name}" if not name.strip("_") else name,
)


def to_julia(function: Function) -> str:
    """The source of a function in Julia.

    >>> from torseur.graph import Function, Graph, Role, cos
    >>> g = Graph()
    >>> q, m = g.symbol("q"), g.symbol("m", Role.PARAMETER)
    >>> print(to_julia(Function("weight", [g.blocks["q"], g.blocks["m"]], {"tau": 9.81 * m * cos(q)})))
    # What depends on parameters only, to be passed to weight as work.
    function weight_prologue(m)
        t1 = 9.81*m
        return [t1]
    end
    <BLANKLINE>
    # q (scalar), state
    # m (scalar), parameter
    # tau (scalar), output
    function weight(q, m, work = weight_prologue(m))
        t1 = work[1]
        tau = t1*cos(q)
        return tau
    end
    <BLANKLINE>
    """
    return _JuliaFrame(checked_function(function, "to_julia"), JULIA).source()


class _JuliaFrame(Frame):
    def source(self) -> str:
        prologue = self.main.plan.part(Stage.PARAMETER)
        pieces = [*self.unit.helpers, *self.inner_functions(), *([] if prologue is None else [self.prologue(prologue)])]
        return "\n\n".join([*pieces, self.evaluation()]) + "\n"

    def evaluation(self) -> str:
        plan, names = self.main.plan, self.block_names(self.function.inputs)
        lines = []
        if any(o.shape for o in self.function.outputs):
            kinds = [f"eltype({name})" for name in names]
            lines.append(lines_of("number_type = promote_type(", ["Float64", *kinds], ")"))
        lines += self.body(self.main, plan.parts[-1], inner=False)
        for output in self.function.outputs:
            lines += self.output(output)
        results = [plan.outputs[o.name] for o in self.function.outputs]
        lines.append(f"return {results[0] if len(results) == 1 else lines_of('(', results, ')')}")
        arguments = list(names)
        if plan.part(Stage.PARAMETER) is not None:
            given = ", ".join(self.block_names(inputs_of(self.function, Stage.PARAMETER)))
            arguments.append(f"work = {self.unit.companions['prologue']}({given})")
        remarks = [f"# {line}" for line in describe(self.function)]
        return "\n".join([*remarks, self.function_text(self.unit.name, arguments, lines)])

    def output(self, output: Output) -> list[str]:
        name = self.main.plan.outputs[output.name]
        if output.shape == ():
            return [f"{name} = {self.main.text(output.exprs[0])}"]
        lines = [f"{name} = Array{{number_type}}(undef, {', '.join(map(str, output.shape))})"]
        for k, e in enumerate(output.exprs):
            lines.append(f"{name}[{', '.join(subscripts(output.shape, k, 1))}] = {self.main.text(e)}")
        return lines

    def prologue(self, part: Part) -> str:
        stores = [self.stored(n) for n in part.stores]
        separator = ";" if any(isinstance(n, Bundle) for n in part.stores) else ","
        lines = [*self.body(self.main, part, inner=False), lines_of("return [", stores, "]", separator=separator)]
        names = self.block_names(inputs_of(self.function, Stage.PARAMETER))
        remark = f"# What depends on parameters only, to be passed to {self.unit.name} as work.\n"
        return remark + self.function_text(self.unit.companions["prologue"], names, lines)

    def stored(self, node: Node) -> str:
        name = self.main.plan.names[node.id]
        return f"Float64({name})" if isinstance(node, Truth) else name

    def load(self, writer: Writer, node: Node) -> str:
        slot = writer.plan.slots[node.id]
        first, last = slot.offset + 1, slot.offset + slot.size
        place = f"work[{first}:{last}]" if isinstance(node, Bundle) else f"work[{first}]"
        return self.assignment(node, writer.plan.names[node.id], f"{place} != 0" if isinstance(node, Truth) else place)

    def inner(self, name: str, writer: Writer) -> str:
        plan = writer.plan
        results = self.array(writer, plan.function.results)
        lines = [*self.body(writer, plan.parts[-1], inner=True), f"return {results}"]
        return self.function_text(name, [plan.blocks[b.name] for b in plan.function.inputs], lines)

    def function_text(self, name: str, arguments: Sequence[str], lines: Sequence[str]) -> str:
        return "\n".join([lines_of(f"function {name}(", arguments, ")"), *self.indented(lines), "end"])

    def element(self, name: str, block: Block, k: int, inner: bool) -> str:
        return f"{name}[{k + 1}]" if inner else f"{name}[{', '.join(subscripts(block.shape, k, 1))}]"

    def array(self, writer: Writer, items: Sequence[Expr]) -> str:
        return lines_of("[" if items else "Float64[", [writer.text(e) for e in items], "]")

    # -- tables and loops --------------------------------------------------------------------------------------------
    def table(self, name: str, curve: Piecewise) -> str:
        rows = [(o, *c) for o, c in zip(curve.origins, curve.coefficients, strict=True)]
        lines = [
            lines_of("breaks = Float64[", [repr(x) for x in curve.breaks], "]"),
            lines_of("rows = [", [" ".join(map(repr, row)) for row in rows], "]", separator=";"),
            "k = count(<=(x), breaks) + 1",
            "u = x - rows[k, 1]",
            "if isinf(u) # only a flat end has a value there",
            f"    u = {'rows[k, 3] == 0 ? 0.0 : NaN' if curve.degree else '0.0'}",
            "end",
            f"return {horner([f'rows[k, {k + 2}]' for k in range(curve.degree + 1)], 'u')}",
        ]
        return self.function_text(name, ["x"], lines)

    def loop(self, name: str, item: Called) -> str:
        calls = self.loop_calls(item, "done")
        lines = [
            f"state = {calls.start}",
            "done = 0.0",
            f"for _ in 1:{calls.loop.limit}",
            f"    after = {calls.step}",
            f"    state = after[1:{calls.loop.size}]",
            f"    done = after[{calls.loop.size + 1}]",
            "    done > 0.5 && break",
            "end",
            f"return {calls.finish}",
        ]
        return self.function_text(name, calls.arguments, lines)
