"""C99: self-contained source, no allocation, nothing but <math.h>.

For a function NAME of blocks a, b, ... with outputs y, z, ... the file defines

- ``NAME_WORK``: how many numbers NAME_prologue and NAME_time leave for NAME (at least 1);
- ``NAME_prologue(parameters..., work)``: whatever depends on parameters only; call it when they change;
- ``NAME_time(parameters..., times..., work)``: whatever depends on these only; call it when the time changes, after the
  prologue. It exists only if there is such work;
- ``NAME(a, b, ..., work, y, z, ...)``: the rest, and the outputs.

Blocks keep the order of the function; every array is flat, row by row; a scalar input is passed by value. Outputs may
overlap inputs. Tolerances of roots and ranks are those of the graph: in single precision, choose them accordingly.
Routines (linear algebra in loops) are static functions that know the rounding of their precision.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from enum import Enum
from itertools import accumulate
from typing import Any, ClassVar

import numpy as np

from torseur.emit.text.dialect import Dialect, Layout, Rank, functions, words
from torseur.emit.text.frame import Frame, describe, horner, inputs_of, lines_of
from torseur.emit.text.phrases import Writer
from torseur.emit.text.routines import Notation, RoutineText
from torseur.emit.text.statements import Part
from torseur.emit.text.unit import Called
from torseur.errors import choice
from torseur.graph import ops
from torseur.graph.blocks import Block
from torseur.graph.calls import Iteration
from torseur.graph.function import Function, Stage, checked_function
from torseur.graph.functions import Piecewise
from torseur.graph.nodes import Bundle, Expr, Node, Truth
from torseur.graph.routine import Loops

__all__ = ["Precision", "to_c", "to_c_header"]

_KEYWORDS = words(
    """auto break case char const continue default do double else enum extern float for goto if inline int long
    register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while asm
    typeof NAN INFINITY HUGE_VAL HUGE_VALF HUGE_VALL math_errhandling work out"""
)
# Names that the C library keeps for its functions; a variable may still be called so.
_LIBRARY = words(
    """main abs div fmin fmax fmod hypot log10 log2 log1p expm1 cbrt ceil round trunc exp2 gamma lgamma tgamma erf erfc
    fma isnan isinf isfinite signbit j0 j1 jn y0 y1 yn scalb drem significand pow10 exp10 rint nearbyint lrint llrint
    lround llround remainder remquo copysign nan nextafter nexttoward fdim modf frexp ldexp scalbn scalbln ilogb logb
    isnormal isgreater isgreaterequal isless islessequal islessgreater isunordered sincos sin cos tan asin acos atan
    atan2 sinh cosh tanh asinh acosh atanh exp log sqrt pow fabs floor minimum maximum sign"""
)


class Precision(Enum):
    """The numbers that C code computes with: the type, and the ending of functions and literals."""

    DOUBLE = ("double", "")
    SINGLE = ("float", "f")


def to_c(function: Function, precision: Precision | str = Precision.DOUBLE) -> str:
    """The source of a function in C99, in "double" or "single" precision.

    >>> from torseur.graph import Function, Graph, Role, cos
    >>> g = Graph()
    >>> q, m = g.symbol("q"), g.symbol("m", Role.PARAMETER)
    >>> source = to_c(Function("weight", [g.blocks["q"], g.blocks["m"]], {"tau": 9.81 * m * cos(q)}))
    >>> print(source[source.index("void weight_prologue(double m, double *work)\\n") :])
    void weight_prologue(double m, double *work)
    {
        const double t1 = 9.81*m;
        work[0] = t1;
    }
    <BLANKLINE>
    void weight(double q, double m, const double *work, double *tau)
    {
        const double t1 = work[0];
        (void)m;
        tau[0] = t1*cos(q);
    }
    <BLANKLINE>
    """
    return _CFrame(checked_function(function, "to_c"), choice(Precision, precision, "precision")).source()


def to_c_header(function: Function, precision: Precision | str = Precision.DOUBLE) -> str:
    """The header that goes with `to_c`: sizes, prototypes, and what the arrays hold."""
    return _CFrame(checked_function(function, "to_c_header"), choice(Precision, precision, "precision")).header()


def _dialect(precision: Precision) -> Dialect:
    real, f = precision.value
    helpers = {
        ops.MIN: "static {0} minimum({0} a, {0} b)\n{{\n    return a < b || a != a ? a : b;\n}}",
        ops.MAX: "static {0} maximum({0} a, {0} b)\n{{\n    return a > b || a != a ? a : b;\n}}",
        ops.SIGN: "static {0} sign({0} x)\n{{\n    return x > 0 ? ({0})1 : x < 0 ? ({0})-1 : x;\n}}",
    }
    own = {ops.ABS: f"fabs{f}", ops.SIGN: "sign", ops.MIN: "minimum", ops.MAX: "maximum"}

    def number(value: float) -> str:
        if precision is Precision.DOUBLE:
            return repr(value)
        with np.errstate(over="ignore"):
            rounded = np.float32(value)
        return f"{rounded!s}f" if np.isfinite(rounded) else "INFINITY"

    return Dialect(
        number=number,
        calls={**functions(own, suffix=f), ops.SELECT: "%s ? %s : %s"},
        infinity="INFINITY",
        nan="NAN",
        truths=("0", "1"),
        choice=Rank.CHOICE,
        first=0,
        statement=f"const {real} %s = %s;",
        comment="/* %s */",
        keywords=_KEYWORDS,
        library=_LIBRARY,
        helpers={op: text.format(real) for op, text in helpers.items()},
        spell=lambda name: f"x{name}" if name.startswith("_") else name,
    )


_NOTATION = Notation(
    up="for ({name} = {begin}; {name} < {end}; ++{name}) {{",
    down="for ({name} = {begin}; {name} > {end}; --{name}) {{",
    condition="if ({test}) {{",
    otherwise="} else {",
    repeat="while ({test}) {{",
    end="}",
    back="return;",
    whole="(int){value}",
)


class _CFrame(Frame):
    layout: ClassVar[Layout] = Layout(instant=True)
    companions: ClassVar[tuple[str, ...]] = ("prologue", "time", "WORK")

    def __init__(self, function: Function, precision: Precision) -> None:
        super().__init__(function, _dialect(precision))
        self.real = precision.value[0]
        self.notation = _NOTATION if precision is Precision.DOUBLE else replace(_NOTATION, epsilon=2.0**-23)

    # -- the file --------------------------------------------------------------------------------------------------
    def source(self) -> str:
        opening = [*self.remarks(), "", "#include <math.h>", "", *self.declarations()]
        pieces = ["\n".join(opening), *self.unit.helpers, *self.inner_functions(), *self.stages()]
        return "\n\n".join(pieces) + "\n"

    def header(self) -> str:
        guard = f"{self.unit.name}_H".upper()
        linkage = ["#ifdef __cplusplus", 'extern "C" {', "#endif"], ["#ifdef __cplusplus", "}", "#endif"]
        lines = [*self.remarks(), "", f"#ifndef {guard}", f"#define {guard}", "", *linkage[0], ""]
        return "\n".join([*lines, *self.declarations(), "", *linkage[1], "", f"#endif /* {guard} */", ""])

    def remarks(self) -> list[str]:
        size = self.main.plan.work_size
        lines = [f"{self.function.name}: arrays are flat, row by row.", *(f"  {x}" for x in describe(self.function))]
        lines.append(f"  work ({size}): left by {self.unit.companions['prologue']} for the others")
        return ["/*", *(f" * {line}" for line in lines), " */"]

    def declarations(self) -> list[str]:
        size = max(1, self.main.plan.work_size)
        stages = [Stage.PARAMETER, *([Stage.TIME] if self.main.plan.part(Stage.TIME) else []), Stage.STATE]
        return [f"#define {self.unit.companions['WORK']} {size}", "", *(f"{self.signature(s)};" for s in stages)]

    def stages(self) -> list[str]:
        texts = []
        for stage in Stage:
            part = self.main.plan.part(stage)
            if part is not None or stage is Stage.PARAMETER:
                texts.append(self.stage(stage, part or Part(stage, (), (), (), (), ())))
        return texts

    # -- signatures --------------------------------------------------------------------------------------------------
    def signature(self, stage: Stage) -> str:
        plan = self.main.plan
        arguments = self.inputs(self.main, inputs_of(self.function, stage))
        if stage is Stage.STATE:
            outputs = [f"{self.real} *{plan.outputs[o.name]}" for o in self.function.outputs]
            arguments += [f"const {self.real} *work", *outputs]
        else:
            arguments.append(f"{self.real} *work")
        name = {Stage.PARAMETER: self.unit.companions["prologue"], Stage.TIME: self.unit.companions["time"]}
        return lines_of(f"void {name.get(stage, self.unit.name)}(", arguments, ")")

    def inputs(self, writer: Writer, blocks: Sequence[Block]) -> list[str]:
        names = writer.plan.blocks
        kinds = [f"{self.real} " if b.shape == () else f"const {self.real} *" for b in blocks]
        return [kind + names[b.name] for kind, b in zip(kinds, blocks, strict=True)]

    def unused(self, writer: Writer, part: Part, blocks: Sequence[Block]) -> list[str]:
        """Lines that tell a compiler that some arguments are not read on purpose."""
        read = {s.data[0] for s in part.symbols}
        return [f"(void){writer.plan.blocks[b.name]};" for b in blocks if b.name not in read]

    # -- functions ---------------------------------------------------------------------------------------------------
    def stage(self, stage: Stage, part: Part) -> str:
        writer, plan = self.main, self.main.plan
        lines = self.body(writer, part, inner=False)
        lines += self.unused(writer, part, inputs_of(self.function, stage))
        for node in part.stores:
            lines += self.store(plan.names[node.id], plan.slots[node.id].offset, node)
        if stage is Stage.STATE:
            for output in self.function.outputs:
                name = plan.outputs[output.name]
                lines += [f"{name}[{k}] = {writer.text(e)};" for k, e in enumerate(output.exprs)]
                lines += [] if output.exprs else [f"(void){name};"]
        reads_work, writes_work = bool(part.loads), bool(part.stores)
        if not reads_work and not writes_work:
            lines.append("(void)work;")
        return self.function_text(self.signature(stage), lines)

    def store(self, name: str, offset: int, node: Node) -> list[str]:
        if not isinstance(node, Bundle):
            return [f"work[{offset}] = {name};"]
        return [f"work[{offset + k}] = {name}[{k}];" for k in range(len(node))]

    def load(self, writer: Writer, node: Node) -> str:
        name, offset = writer.plan.names[node.id], writer.plan.slots[node.id].offset
        if isinstance(node, Bundle):
            return f"const {self.real} *{name} = work + {offset};"
        if isinstance(node, Truth):
            return f"const int {name} = work[{offset}] != 0;"
        return self.assignment(node, name, f"work[{offset}]")

    def inner(self, name: str, writer: Writer) -> str:
        function, part = writer.plan.function, writer.plan.parts[-1]
        lines = [*self.body(writer, part, inner=True), *self.unused(writer, part, function.inputs)]
        lines += [f"out[{k}] = {writer.text(e)};" for k, e in enumerate(function.results)]
        arguments = [*self.inputs(writer, function.inputs), f"{self.real} *out"]
        return self.function_text(lines_of(f"static void {name}(", arguments, ")"), lines)

    def function_text(self, signature: str, lines: Sequence[str]) -> str:
        return "\n".join([signature, "{", *self.indented(lines), "}"])

    # -- lines -------------------------------------------------------------------------------------------------------
    def assignment(self, node: Node, name: str, text: str) -> str:
        return f"const int {name} = {text};" if isinstance(node, Truth) else super().assignment(node, name, text)

    def element(self, name: str, block: Block, k: int, inner: bool) -> str:
        return f"{name}[{k}]"

    def array(self, writer: Writer, items: Sequence[Expr]) -> str:
        if not items:
            return "0"
        return lines_of(f"(const {self.real}[{len(items)}]){{", [writer.text(e) for e in items], "}")

    def call(self, writer: Writer, node: Bundle, name: str) -> list[str]:
        arguments = [*self.arguments(writer, node), name]
        return [f"{self.real} {name}[{max(1, len(node))}];", f"{self.unit.name_of(node.data)}({', '.join(arguments)});"]

    # -- tables and loops --------------------------------------------------------------------------------------------
    def table(self, name: str, curve: Piecewise) -> str:
        number, width = self.dialect.number, curve.degree + 2
        rows = [(o, *c) for o, c in zip(curve.origins, curve.coefficients, strict=True)]
        cells = [f"{{{', '.join(_signed(number, x) for x in row)}}}" for row in rows]
        lines = [lines_of(f"static const {self.real} rows[{len(rows)}][{width}] = {{", cells, "};")]
        lines += self.search([_signed(number, x) for x in curve.breaks])
        lines.append(f"const {self.real} *row = rows[low];")
        lines.append(f"{self.real} u = x - row[0];")
        lines.append("if (u == INFINITY || u == -INFINITY) /* only a flat end has a value there */")
        lines.append(f"    u = {'row[2] == 0 ? 0 : NAN' if curve.degree else '0'};")
        lines.append(f"return {horner([f'row[{k + 1}]' for k in range(width - 1)], 'u')};")
        return self.function_text(f"static {self.real} {name}({self.real} x)", lines)

    def search(self, breaks: Sequence[str]) -> list[str]:
        """Find the interval `low` that holds x, by bisection."""
        if not breaks:
            return ["const int low = 0;"]
        return [
            lines_of(f"static const {self.real} breaks[{len(breaks)}] = {{", breaks, "};"),
            f"int low = 0, high = {len(breaks)};",
            "while (low < high) {",
            "    const int middle = (low + high)/2;",
            "    if (breaks[middle] <= x)",
            "        low = middle + 1;",
            "    else",
            "        high = middle;",
            "}",
        ]

    def loop(self, name: str, item: Called) -> str:
        loop = item.lowered
        assert isinstance(loop, Iteration)
        start, step, finish = (self.unit.name_of_function(f) for f in (loop.start, loop.step, loop.finish))
        arguments = [f"a{k}" for k, _ in enumerate(item.blocks, 1)]
        kinds = [self.real if b.shape == () else f"const {self.real} *" for b in item.blocks]
        inputs = [f"{kind} {a}".replace("* ", "*") for kind, a in zip(kinds, arguments, strict=True)]
        done = f"state[{loop.size}]" if loop.finish.inputs[1:] and loop.finish.inputs[1].shape == () else None
        last = ["state", done or f"state + {loop.size}", *arguments][: len(loop.finish.inputs)]
        lines = [
            f"{self.real} state[{loop.size + 1}];",
            "int k;",
            f"{start}({', '.join([*arguments, 'state'])});",
            f"state[{loop.size}] = 0;",
            f"for (k = 0; k < {loop.limit} && state[{loop.size}] == 0; ++k)",
            f"    {step}({', '.join(['state', *arguments, 'state'])});",
            f"{finish}({', '.join([*last, 'out'])});",
        ]
        return self.function_text(f"static void {name}({', '.join([*inputs, f'{self.real} *out'])})", lines)

    # -- routines ----------------------------------------------------------------------------------------------------
    def routine(self, name: str, text: RoutineText) -> str:
        kinds = {"int": "int ", "In": f"const {self.real} *", "Out": f"{self.real} *", "Work": f"{self.real} *"}
        arguments = [kinds[kind] + text.names[a] for a, kind in text.routine.arguments.items()]
        lines = [f"{'int' if kind == 'int' else self.real} {', '.join(x)};" for kind, x in text.locals.items() if x]
        lines += [f"(void){a};" for a in text.unread]
        return self.function_text(lines_of(f"static void {name}(", arguments, ")"), [*lines, *text.lines()])

    def routine_call(self, name: str, routine: str, loops: Loops) -> str:
        """Empty arrays are null; results, which the caller has not cleared, are."""
        arguments = [f"a{k}" for k, _ in enumerate(loops.inputs, 1)]
        tables, works = dict(_numbered("table", loops.tables)), dict(_numbered("work", loops.works))
        lines = []
        for table, values in tables.items():
            numbers = [_signed(self.dialect.number, x) for x in values]
            if numbers:
                lines.append(lines_of(f"static const {self.real} {table}[{len(numbers)}] = {{", numbers, "};"))
        lines += [f"{self.real} {work}[{size}] = {{0}};" for work, size in works.items() if size]
        lines += ["int k;", f"for (k = 0; k < {sum(loops.outs)}; ++k)", "    out[k] = 0;"]
        ends = accumulate(loops.outs)
        given = [*map(str, loops.whole), *(t if x else "0" for t, x in tables.items()), *arguments]
        given += [f"out + {end - n}" if end > n else "out" for end, n in zip(ends, loops.outs, strict=True)]
        given += [w if n else "0" for w, n in works.items()]
        lines.append(lines_of(f"{routine}(", given, ");"))
        inputs = [f"const {self.real} *{a}" for a in arguments]
        signature = lines_of(f"static void {name}(", [*inputs, f"{self.real} *out"], ")")
        return self.function_text(signature, lines)


def _numbered(stem: str, items: Sequence[Any]) -> Iterator[tuple[str, Any]]:
    for k, item in enumerate(items, 1):
        yield f"{stem}{k}", item


def _signed(number: Callable[[float], str], value: float) -> str:
    return f"-{number(-value)}" if value < 0 else number(value)
