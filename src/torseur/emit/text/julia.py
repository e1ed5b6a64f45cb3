"""Julia: functions of one state at a time, on arrays of any real numbers.

For a function NAME of blocks a, b, ... the text defines ``NAME(a, b, ..., work)``, which gives the output, or a tuple
of them. The last argument may be left out: it is what ``NAME_prologue(parameters...)`` gives, the work on parameters
only.
Arguments outside the domain of a function give NaN; an infinite angle raises a DomainError, as it does in Julia.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from torseur.emit.text.dialect import Dialect, Rank, functions, words
from torseur.emit.text.frame import DOMAINS, OneBasedFrame, describe, horner, lines_of
from torseur.emit.text.phrases import Writer
from torseur.emit.text.routines import Notation, RoutineText
from torseur.emit.text.statements import Part
from torseur.emit.text.unit import Called
from torseur.graph import ops
from torseur.graph.function import Function, Stage, checked_function
from torseur.graph.functions import Piecewise
from torseur.graph.nodes import Bundle, Expr
from torseur.graph.routine import Loops

__all__ = ["to_julia"]

_KEYWORDS = words(
    """baremodule begin break catch const continue do else elseif end export false finally for function global if import
    in isa let local macro module quote return struct true try using where while abstract mutable primitive type outer
    work number_type promote_type eltype Array undef Float64"""
)
_HELPERS = {op: f"real_{op.name}(x) = {outside} ? NaN : {op.name}(x)" for op, outside in DOMAINS.items()}
_HELPERS[ops.POW] = """function real_pow(x, y)
    if x < 0 && !isinteger(y)
        return isinf(x) || isinf(y) ? (-x)^y : NaN
    end
    return x^y
end"""
_OWN = {**{op: f"real_{op.name}" for op in (*DOMAINS, ops.POW)}, ops.ATAN2: "atan"}

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


class _JuliaFrame(OneBasedFrame):
    brackets: ClassVar[str] = "[]"
    unequal: ClassVar[str] = "!="
    double: ClassVar[str] = "Float64"
    notation = Notation(
        up="for {name} in {begin}:{last}",
        down="for {name} in {begin}:-1:{last}",
        condition="if {test}",
        otherwise="else",
        repeat="while {test}",
        end="end",
        first=1,
        whole="Int({value})",
    )

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
            arguments.append(f"work = {self.prologue_call()}")
        remarks = [f"# {line}" for line in describe(self.function)]
        return "\n".join([*remarks, self.function_text(self.unit.name, arguments, lines)])

    def room(self, shape: Sequence[int]) -> str:
        return f"Array{{number_type}}(undef, {', '.join(map(str, shape))})"

    def prologue(self, part: Part) -> str:
        stores = [self.stored(n) for n in part.stores]
        separator = ";" if any(isinstance(n, Bundle) for n in part.stores) else ","
        work = lines_of("[", stores, "]", separator=separator)
        remark = f"# What depends on parameters only, to be passed to {self.unit.name} as work.\n"
        lines = self.body(self.main, part, inner=False)
        return remark + self.giving(self.unit.companions["prologue"], self.prologue_inputs(), lines, work)

    def giving(self, name: str, arguments: Sequence[str], lines: Sequence[str], result: str) -> str:
        return self.function_text(name, arguments, [*lines, f"return {result}"])

    def function_text(self, name: str, arguments: Sequence[str], lines: Sequence[str]) -> str:
        return "\n".join([lines_of(f"function {name}(", arguments, ")"), *self.indented(lines), "end"])

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
        ]
        return self.giving(name, ["x"], lines, horner([f"rows[k, {k + 2}]" for k in range(curve.degree + 1)], "u"))

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
        ]
        return self.giving(name, calls.arguments, lines, calls.finish)

    # -- routines ----------------------------------------------------------------------------------------------------
    def routine(self, name: str, text: RoutineText) -> str:
        return self.function_text(name, text.arguments(), text.lines())

    def zeros(self, size: int) -> str:
        return f"zeros(number_type, {size})"

    def routine_call(self, name: str, routine: str, loops: Loops) -> str:
        arguments = [f"a{k}" for k, _ in enumerate(loops.inputs, 1)]
        kinds = lines_of("number_type = promote_type(", ["Float64", *(f"eltype({a})" for a in arguments)], ")")
        lines, call = self.called_routine(routine, loops)
        results = [f"y{k}" for k, _ in enumerate(loops.outs, 1)]
        joined = results[0] if len(results) == 1 else lines_of("[", results, "]", separator=";")
        return self.giving(name, arguments, [kinds, *lines, call], joined)
