"""MATLAB (and Octave): one function file, for one state at a time.

For a function NAME of blocks a, b, ... with outputs y, z, ... the file defines
``[y, z, ..., work] = NAME(a, b, ..., work)``. Vectors are columns. The last argument may be left out: it holds what
depends on parameters only, and is returned last so that later calls with the same parameters can pass it in. Arguments
outside the domain of a function give NaN, not a complex number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar
from zlib import crc32

from torseur.emit.text.dialect import Dialect, functions, plain_number, words
from torseur.emit.text.frame import DOMAINS, OneBasedFrame, describe, horner, lines_of
from torseur.emit.text.phrases import Writer
from torseur.emit.text.routines import Notation, RoutineText
from torseur.emit.text.statements import Part
from torseur.emit.text.unit import Called
from torseur.graph import ops
from torseur.graph.function import Function, Stage, checked_function
from torseur.graph.functions import Piecewise
from torseur.graph.nodes import Expr
from torseur.graph.routine import Loops

__all__ = ["to_matlab"]

_KEYWORDS = words(
    """break case catch classdef continue else elseif end for function global if otherwise parfor persistent return
    spmd switch try while do until endfunction endif endfor endwhile endswitch end_try_catch unwind_protect
    unwind_protect_cleanup end_unwind_protect work nargin isempty zeros double out"""
)
_HELPERS = {
    op: f"function y = real_{op.name}(x)\nif {outside}\n    y = NaN;\nelse\n    y = {op.name}(x);\nend\nend"
    for op, outside in DOMAINS.items()
}
_HELPERS |= {
    ops.MIN: "function y = minimum(a, b)\nif a < b || a ~= a\n    y = a;\nelse\n    y = b;\nend\nend",
    ops.MAX: "function y = maximum(a, b)\nif a > b || a ~= a\n    y = a;\nelse\n    y = b;\nend\nend",
    ops.SELECT: "function y = choose(condition, a, b)\nif condition\n    y = a;\nelse\n    y = b;\nend\nend",
    ops.POW: """function y = real_pow(x, y)
if x < 0 && y ~= floor(y) && ~isinf(x)
    y = NaN;
elseif x < 0 && (y ~= floor(y) || isinf(y))
    y = (-x)^y;
else
    y = x^y;
end
end""",
}
_OWN = {**{op: f"real_{op.name}" for op in (*DOMAINS, ops.POW)}, ops.MIN: "minimum", ops.MAX: "maximum"}


def _spelled(name: str) -> str:
    """A letter first, and at most 63 characters: what is cut off is summed up in a number."""
    name = f"x{name}" if name.startswith("_") else name
    return name if len(name) <= 63 else f"{name[:54]}_{crc32(name.encode()):08x}"


MATLAB = Dialect(
    number=plain_number,
    calls={**functions(_OWN), ops.SELECT: "choose(%s, %s, %s)"},
    infinity="Inf",
    nan="NaN",
    truths=("false", "true"),
    logic={ops.NOT: "~%s", ops.AND: "%s && %s", ops.OR: "%s || %s"},
    item="%s(%d)",
    statement="%s = %s;",
    comment="%% %s",
    keywords=_KEYWORDS,
    library=words("sum floor isinf real imag i j pi eps ans sqrt log asin acos acosh atanh"),
    helpers=_HELPERS,
    spell=_spelled,
)


def to_matlab(function: Function) -> str:
    """The source of a function in MATLAB.

    >>> from torseur.graph import Function, Graph, Role, cos
    >>> g = Graph()
    >>> q, m = g.symbol("q"), g.symbol("m", Role.PARAMETER)
    >>> print(to_matlab(Function("weight", [g.blocks["q"], g.blocks["m"]], {"tau": 9.81 * m * cos(q)})))
    function [tau, work] = weight(q, m, work)
    % q (scalar), state
    % m (scalar), parameter
    % tau (scalar), output
    % work: what depends on parameters only; may be left out, or passed on from an earlier call
    if nargin < 3
        work = weight_prologue(m);
    end
    t1 = work(1);
    tau = t1*cos(q);
    end
    <BLANKLINE>
    function work = weight_prologue(m)
    t1 = 9.81*m;
    work = [t1];
    end
    <BLANKLINE>
    """
    return _MatlabFrame(checked_function(function, "to_matlab"), MATLAB).source()


class _MatlabFrame(OneBasedFrame):
    indent: ClassVar[str] = ""
    brackets: ClassVar[str] = "()"
    unequal: ClassVar[str] = "~="
    double: ClassVar[str] = "double"
    continued: ClassVar[str] = " ..."
    notation = Notation(
        up="for {name} = {begin}:{last}",
        down="for {name} = {begin}:-1:{last}",
        condition="if {test}",
        otherwise="else",
        repeat="while {test}",
        end="end",
        item="{array}({index})",
        first=1,
        whole=None,
        unequal="~=",
    )

    def source(self) -> str:
        prologue = self.main.plan.part(Stage.PARAMETER)
        pieces = [self.evaluation(), *([] if prologue is None else [self.prologue(prologue)])]
        return "\n\n".join([*pieces, *self.inner_functions(), *self.unit.helpers]) + "\n"

    def evaluation(self) -> str:
        plan, names = self.main.plan, self.block_names(self.function.inputs)
        results = [plan.outputs[o.name] for o in self.function.outputs]
        lines = [f"% {line}" for line in describe(self.function)]
        if plan.part(Stage.PARAMETER) is not None:
            lines.append("% work: what depends on parameters only; may be left out, or passed on from an earlier call")
            lines.append(f"if nargin < {len(names) + 1}")
            lines += [f"    work = {self.prologue_call()};", "end"]
            names, results = [*names, "work"], [*results, "work"]
        lines += self.body(self.main, plan.parts[-1], inner=False)
        for output in self.function.outputs:
            lines += self.output(output)
        return self.function_text(lines_of("[", results, "]", continued=" ..."), self.unit.name, names, lines)

    def room(self, shape: Sequence[int]) -> str:
        return f"zeros({', '.join(map(str, shape if len(shape) > 1 else (*shape, 1)))})"

    def prologue(self, part: Part) -> str:
        stores = [self.stored(n) for n in part.stores]
        lines = [*self.body(self.main, part, inner=False), _column("work = [", stores, "];")]
        return self.function_text("work", self.unit.companions["prologue"], self.prologue_inputs(), lines)

    def giving(self, name: str, arguments: Sequence[str], lines: Sequence[str], result: str) -> str:
        return self.function_text("out", name, arguments, [*lines, f"out = {result};"])

    def function_text(self, result: str, name: str, arguments: Sequence[str], lines: Sequence[str]) -> str:
        opening = lines_of(f"function {result} = {name}(", arguments, ")", continued=" ...")
        return "\n".join([opening, *lines, "end"])

    def array(self, writer: Writer, items: Sequence[Expr]) -> str:
        return _column("[", [writer.text(e) for e in items], "]") if items else "zeros(0, 1)"

    # -- tables and loops --------------------------------------------------------------------------------------------
    def table(self, name: str, curve: Piecewise) -> str:
        rows = [(o, *c) for o, c in zip(curve.origins, curve.coefficients, strict=True)]
        cells = [", ".join(map(plain_number, row)) for row in rows]
        lines = [
            _column("breaks = [", [plain_number(x) for x in curve.breaks], "];"),
            _column("rows = [", cells, "];"),
            "row = rows(sum(breaks <= x) + 1, :);",
            "u = x - row(1);",
            f"if isinf(u){' && row(3) == 0' if curve.degree else ''}",
            "    u = 0; % a flat end has a value at infinity",
            "elseif isinf(u)",
            "    u = NaN;",
            "end",
        ]
        return self.giving(name, ["x"], lines, horner([f"row({k + 2})" for k in range(curve.degree + 1)], "u"))

    def loop(self, name: str, item: Called) -> str:
        calls = self.loop_calls(item, "done")
        lines = [
            f"state = {calls.start};",
            "done = 0;",
            f"for k = 1:{calls.loop.limit}",
            f"    after = {calls.step};",
            f"    state = after(1:{calls.loop.size});",
            f"    done = after({calls.loop.size + 1});",
            "    if done > 0.5",
            "        break",
            "    end",
            "end",
        ]
        return self.giving(name, calls.arguments, lines, calls.finish)

    # -- routines ----------------------------------------------------------------------------------------------------
    def routine(self, name: str, text: RoutineText) -> str:
        results = lines_of("[", text.arguments("Out"), "]", continued=" ...")
        return self.function_text(results, name, text.arguments(), text.lines())

    def zeros(self, size: int) -> str:
        return f"zeros({size}, 1)"

    def routine_call(self, name: str, routine: str, loops: Loops) -> str:
        lines, call = self.called_routine(routine, loops)
        results = [f"y{k}" for k, _ in enumerate(loops.outs, 1)]
        lines.append(f"[{', '.join(results)}] = {call};")
        return self.giving(name, [f"a{k}" for k, _ in enumerate(loops.inputs, 1)], lines, _column("[", results, "]"))


def _column(opening: str, items: Sequence[str], closing: str) -> str:
    return lines_of(opening, items, closing, continued=" ...", separator=";")
