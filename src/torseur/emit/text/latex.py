r"""LaTeX: one ``align*`` per stage, names as symbols (see `symbol`); and names as symbols in plain text.

The text is a fragment; the document needs ``\usepackage{amsmath}``.

>>> [unicode_symbol(x) for x in ("theta1", "th1", "q_2", "Gamma", "J_motor", "tool")]
['θ₁', 'θ₁', 'q₂', 'Γ', 'J_motor', 'tool']
>>> unicode_symbol("theta1", dots=2), unicode_symbol("phi_front", dots=1)
('θ̈₁', 'φ̇_front')
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from torseur.emit.text.dialect import Dialect, Layout, functions, plain_number
from torseur.emit.text.phrases import Writer
from torseur.emit.text.reading import WHEN, Passage, Reading, polynomial
from torseur.graph import ops
from torseur.graph.counts import Count
from torseur.graph.function import Function, Output, checked_function
from torseur.graph.functions import Piecewise

__all__ = ["GREEK", "LATEX", "SHORT_GREEK", "LatexReading", "dotted", "escaped", "symbol", "to_latex", "unicode_symbol"]


_WORDS = """alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi
psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega"""
GREEK = dict(zip(_WORDS.split(), "αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΥΦΨΩ", strict=True))
SHORT_GREEK = {"th": "theta"}
"""The joint angles of SYMORO+ and of the robots read from its files."""
_BELOW = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_DOTS_ABOVE = {0: "", 1: "\u0307", 2: "\u0308"}


def unicode_symbol(name: str, dots: int = 0) -> str:
    """The symbol of a name, or of its derivative in time; words stay words."""
    match = re.fullmatch(r"([A-Za-z]+)_?(\d*)((?:_[A-Za-z]\w*)?)", name)
    stem = SHORT_GREEK.get(match[1], match[1]) if match else name
    if match is None or (len(stem) > 1 and stem not in GREEK):
        return name if not dots else f"{'d' * dots}{name}"
    return GREEK.get(stem, stem) + _DOTS_ABOVE[dots] + match[2].translate(_BELOW) + match[3]


_SHORT = {"qd": ("q", 1), "qdd": ("q", 2)}
_DOTS = {1: r"\dot{%s}", 2: r"\ddot{%s}"}
_COMPONENT = re.compile(r"([vw])([xyz])|(q)([wxyz])")
_BASE = re.compile(r"(\\[A-Za-z]+(?:\{[^{}]*\})?|.)(.*)", re.DOTALL)


def symbol(name: str) -> str:
    r"""The symbol of a name.

    The rules, in this order:

    - digits at the end, or with one word behind them, and whatever follows an underscore become subscripts: ``q1``,
      ``ZZ1R``, ``M1_2``, ``J_motor``;
    - ``qd`` and ``qdd``, and an ending ``dot`` or ``ddot``, become dots: ``qd1``, ``vdot``;
    - the name of a Greek letter becomes the letter: ``theta``, ``Omega``; so does ``th``, the joint angle of SYMORO+;
    - components of a velocity, an angular velocity and a quaternion have their axis as index: ``vx``, ``wz``, ``qw``;
    - one letter stays as it is, several are upright: ``XX``, ``tool``;
    - a name that fits none of this is set in typewriter type.

    >>> [symbol(x) for x in ("q1", "M1_2", "qd1", "theta_2", "th2", "XX3", "J_motor")]
    ['q_{1}', 'M_{1,2}', '\\dot{q}_{1}', '\\theta_{2}', '\\theta_{2}', '\\mathrm{XX}_{3}', 'J_{\\mathrm{motor}}']
    >>> [symbol(x) for x in ("MX2R", "a1b2", "_x")]
    ['\\mathrm{MX}_{2\\mathrm{R}}', '\\mathtt{a1b2}', '\\mathtt{\\_x}']
    """
    if component := _COMPONENT.fullmatch(name):
        letter, axis = (part for part in component.groups() if part)
        return f"{letter}_{{{axis}}}"
    first, *rest = name.split("_")
    match = re.fullmatch(r"([A-Za-z]+)([0-9]*)([A-Za-z]*)", first)
    if match is None or not all(rest):
        return rf"\mathtt{{{escaped(name)}}}"
    stem, digits, tail = match.groups()
    place = digits + (rf"\mathrm{{{tail}}}" if tail else "")
    subscripts = [*([place] if place else []), *(_word(part) for part in rest)]
    return _stem(stem) + (f"_{{{','.join(subscripts)}}}" if subscripts else "")


def dotted(name: str, dots: int) -> str:
    r"""The symbol of the derivative in time of something named: its own, with dots on it.

    >>> dotted("theta_2", 2), dotted("vx", 1)
    ('\\ddot{\\theta}_{2}', '\\dot{v}_{x}')
    """
    match = _BASE.fullmatch(symbol(name))
    assert match is not None  # no symbol is empty
    return _DOTS[dots] % match[1] + match[2]


def _stem(word: str) -> str:
    if word in _SHORT:
        word, dots = _SHORT[word]
    elif word.endswith("ddot") and len(word) > 4:
        word, dots = word[:-4], 2
    elif word.endswith("dot") and len(word) > 3:
        word, dots = word[:-3], 1
    else:
        dots = 0
    word = SHORT_GREEK.get(word, word)
    return _DOTS[dots] % _word(word) if dots else _word(word)


def _word(word: str) -> str:
    if word in GREEK:
        return f"\\{word}"
    return word if len(word) == 1 or word.isdigit() else rf"\mathrm{{{word}}}"


def escaped(text: str) -> str:
    """Plain text for LaTeX.

    >>> print(escaped("a_b"))
    a\\_b
    """
    return text.replace("_", r"\_")


DIGITS = 12
"""Of numbers in equations."""


def _number(value: float) -> str:
    r"""What is read needs no digits that rounding left.

    >>> print(_number(0.004999999999999975))
    0.005
    >>> print(_number(2.0), _number(1e-5), _number(1.5e20))
    2 10^{-5} 1.5 \cdot 10^{20}
    """
    digits, e, power = plain_number(float(f"{value:.{DIGITS}g}")).partition("e")
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


def to_latex(function: Function, symbols: Mapping[str, str] | None = None) -> str:
    r"""A function as LaTeX.

    Args:
        function: what is printed.
        symbols: name -> how it is written, where that does not follow from the name.

    >>> from torseur.graph import Function, Graph, Role, cos
    >>> g = Graph()
    >>> q, m = g.symbol("q1"), g.symbol("m", Role.PARAMETER)
    >>> print(to_latex(Function("weight", [g.blocks["q1"], g.blocks["m"]], {"tau": 9.81 * m * cos(q)})))
    \begingroup\allowdisplaybreaks
    \noindent Once per parameter set (1 product):
    \begin{align*}
    t_{1} &= 9.81 \, m
    \end{align*}
    \noindent At every evaluation (1 product, 1 sine-cosine pair):
    \begin{align*}
    \tau &= t_{1} \, \cos\left(q_{1}\right)
    \end{align*}
    \endgroup
    <BLANKLINE>
    """
    return LatexReading(checked_function(function, "to_latex"), symbols).text()


class LatexReading(Reading):
    """A function in passages of equations; `symbols` as in `to_latex`."""

    layout: ClassVar[Layout] = Layout(
        size=10, depth=4, arrays=False, squares=True, instant=True, alone=frozenset({ops.SELECT})
    )

    def __init__(self, function: Function, symbols: Mapping[str, str] | None = None) -> None:
        known = dict(symbols or {})
        super().__init__(function, replace(LATEX, spell=lambda name: known.get(name) or symbol(name)))

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
        pieces += [_align([line]) for line in self.tables()]
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

    def tables(self) -> list[tuple[str, str]]:
        """Both sides of the definition of every interpolated table."""
        return [self._table(name, curve) for curve, name in self.unit.tables.items()]

    def _table(self, name: str, curve: Piecewise) -> tuple[str, str]:
        rows = []
        for k in range(len(curve.origins)):
            low = rf"{_signed(curve.breaks[k - 1])} \le " if k > 0 else ""
            high = f" < {_signed(curve.breaks[k])}" if k < len(curve.breaks) else ""
            rows.append(f"{polynomial(self.dialect, curve, k, 'x')} & {low}x{high}")
        cases = r" \\ ".join(rows)
        return rf"{name}\left(x\right)", rf"\begin{{cases}} {cases} \end{{cases}}"


def _signed(value: float) -> str:
    return f"-{_number(-value)}" if value < 0 else _number(value)


def _section(heading: str, count: Count, passage: Passage) -> str:
    return f"\\noindent {heading} ({count}):\n{_align(passage.lines)}"


def _align(lines: Sequence[tuple[str, str]]) -> str:
    if not lines:
        return r"\par"
    body = " \\\\\n".join(f"{left} &= {right}" for left, right in lines)
    return f"\\begin{{align*}}\n{body}\n\\end{{align*}}"
