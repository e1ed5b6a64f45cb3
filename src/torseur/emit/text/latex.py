r"""LaTeX: one ``align*`` per stage, names as symbols (see `torseur.emit.text.latex_names`).

The text is a fragment; the document needs ``\usepackage{amsmath}``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from torseur.emit.text.dialect import Dialect, functions, plain_number
from torseur.emit.text.latex_names import escaped, symbol
from torseur.emit.text.layout import Layout
from torseur.emit.text.phrases import Writer
from torseur.emit.text.reading import WHEN, Passage, Reading, polynomial
from torseur.graph import ops
from torseur.graph.counts import Count
from torseur.graph.function import Function, Output, checked_function
from torseur.graph.piecewise import Piecewise

__all__ = ["LATEX", "to_latex"]


def _number(value: float) -> str:
    r"""
    >>> print(_number(2.0), _number(1e-5), _number(1.5e20))
    2 10^{-5} 1.5 \cdot 10^{20}
    """
    digits, e, power = plain_number(value).partition("e")
    if not e:
        return digits
    return f"10^{{{int(power)}}}" if digits == "1" else rf"{digits} \cdot 10^{{{int(power)}}}"


_NAMES = {op: rf"\{op.name}" for op in (ops.SIN, ops.COS, ops.TAN, ops.SINH, ops.COSH, ops.TANH, ops.EXP)}
_NAMES |= {ops.ASIN: r"\arcsin", ops.ACOS: r"\arccos", ops.ATAN: r"\arctan", ops.LOG: r"\ln"}
_NAMES |= {ops.ASINH: r"\operatorname{arsinh}", ops.ACOSH: r"\operatorname{arcosh}"}
_NAMES |= {ops.ATANH: r"\operatorname{artanh}", ops.SIGN: r"\operatorname{sgn}", ops.ATAN2: r"\operatorname{atan2}"}
_NAMES |= {ops.MIN: r"\min", ops.MAX: r"\max"}
_CALLS = {op: text.replace("(", r"\left(").replace(")", r"\right)") for op, text in functions(_NAMES).items()}

LATEX = Dialect(
    number=_number,
    calls={
        **_CALLS,
        ops.SQRT: r"\sqrt{%s}",
        ops.ABS: r"\left|%s\right|",
        ops.FLOOR: r"\left\lfloor %s \right\rfloor",
        ops.SELECT: r"\begin{cases} %s & \text{if } %s \\ %s & \text{otherwise} \end{cases}",
    },
    infinity=r"\infty",
    nan=r"\text{nan}",
    truths=(r"\text{false}", r"\text{true}"),
    product=r"%s \, %s",
    times=r"%s \cdot %s",
    division=r"\frac{%s}{%s}",
    bar=True,
    power="%s^{%s}",
    logic={ops.NOT: r"\lnot %s", ops.AND: r"%s \land %s", ops.OR: r"%s \lor %s"},
    comparisons={ops.LT: "%s < %s", ops.LE: r"%s \le %s", ops.EQ: "%s = %s"},
    choice_order=(1, 0, 2),
    brackets=(r"\left(", r"\right)"),
    table=r"%s\left(%s\right)",
    exact=False,
    spell=symbol,
)


def to_latex(function: Function) -> str:
    r"""A function as LaTeX.

    >>> from torseur.graph import Function, Graph, Role, cos
    >>> g = Graph()
    >>> q, m = g.symbol("q1"), g.symbol("m", Role.PARAMETER)
    >>> print(to_latex(Function("weight", [g.blocks["q1"], g.blocks["m"]], {"tau": 9.81 * m * cos(q)})))
    \begingroup\allowdisplaybreaks
    \noindent Once per parameter set (1 product):
    \begin{align*}
    t_{1} &= 9.81 \, m
    \end{align*}
    \noindent At every evaluation (1 product, 1 pair):
    \begin{align*}
    \tau &= t_{1} \, \cos\left(q_{1}\right)
    \end{align*}
    \endgroup
    <BLANKLINE>
    """
    return _Latex(checked_function(function, "to_latex"), LATEX).text()


class _Latex(Reading):
    layout: ClassVar[Layout] = Layout(
        size=10, depth=4, arrays=False, squares=True, instant=True, alone=frozenset({ops.SELECT})
    )

    def text(self) -> str:
        pieces = [_section(WHEN[p.stage].capitalize(), p.count, p) for p in self.passages()]
        for name, function in self.bodies():
            passage = self.inner(function)
            inputs = ", ".join(symbol(b.name) for b in function.inputs)
            outputs = ", ".join(symbol(o.name) for o in function.outputs)
            heading = rf"${name}\left({inputs}\right)$, which gives ${outputs}$"
            pieces.append(_section(heading, passage.count, passage))
        for name, meaning in self.meanings():
            pieces.append(rf"\noindent ${name}$: {escaped(meaning)}.\par")
        pieces += [self.table(name, curve) for curve, name in self.unit.tables.items()]
        return "\n".join([r"\begingroup\allowdisplaybreaks", *pieces, r"\endgroup"]) + "\n"

    def array(self, items: Sequence[str], shape: Sequence[int]) -> str:
        """A scalar, a column, or rows; more dimensions as one column."""
        if len(shape) == 0:
            return items[0]
        width = shape[1] if len(shape) == 2 else 1
        rows = r" \\ ".join(" & ".join(items[k : k + width]) for k in range(0, len(items), max(1, width)))
        return rf"\left[\begin{{array}}{{{'c' * max(1, width)}}} {rows} \end{{array}}\right]"

    def is_matrix(self, output: Output) -> bool:
        return len(output.shape) == 2

    def matrix(self, writer: Writer, output: Output) -> tuple[str, str]:
        return rf"\mathbf{{{escaped(output.name)}}}", self.array([writer.text(e) for e in output.exprs], output.shape)

    def table(self, name: str, curve: Piecewise) -> str:
        rows = []
        for k in range(len(curve.origins)):
            low = rf"{_signed(curve.breaks[k - 1])} \le " if k > 0 else ""
            high = f" < {_signed(curve.breaks[k])}" if k < len(curve.breaks) else ""
            rows.append(f"{polynomial(self.dialect, curve, k, 'x')} & {low}x{high}")
        cases = r" \\ ".join(rows)
        return _align([(rf"{name}\left(x\right)", rf"\begin{{cases}} {cases} \end{{cases}}")])


def _signed(value: float) -> str:
    return f"-{_number(-value)}" if value < 0 else _number(value)


def _section(heading: str, count: Count, passage: Passage) -> str:
    return f"\\noindent {heading} ({count}):\n{_align(passage.lines)}"


def _align(lines: Sequence[tuple[str, str]]) -> str:
    if not lines:
        return r"\par"
    body = " \\\\\n".join(f"{left} &= {right}" for left, right in lines)
    return f"\\begin{{align*}}\n{body}\n\\end{{align*}}"
