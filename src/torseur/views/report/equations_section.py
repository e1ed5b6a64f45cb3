"""The equations of motion: written out where they are small, as a listing with intermediate results otherwise."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from torseur.describe import Mechanism
from torseur.emit.text.latex import LatexReading
from torseur.errors import ArgumentError, CompileError, MissingExtra
from torseur.graph import Function, Stage, count, ops
from torseur.model.equations import Equations, equations
from torseur.model.equations.closed_form import Closed
from torseur.model.equations.collected_terms import latex_symbols, terms_of
from torseur.views.report import document
from torseur.views.report.citations import Citations
from torseur.views.report.document import Block, Code, Equation, EquationLine, Inline, Line, Section, Table, Text, Value
from torseur.views.report.formula_math import number_math
from torseur.views.report.layout import PAGE, broken, width
from torseur.views.report.math import (
    Array,
    Fenced,
    Fraction,
    Look,
    Math,
    Number,
    Root,
    Row,
    Scripted,
    Word,
    parsed,
)
from torseur.views.report.words import Words

__all__ = ["EquationsPart", "lines_of"]

LARGEST, MOST_TERMS = 150, 260
"""Operations, and terms once multiplied out, up to which equations are written out."""
FEW_DIGITS = 6
"""Of the polynomials of tables, whose points are in the model."""
LONGEST = 260
"""Lines of a listing that a report holds."""


@dataclass(frozen=True)
class _Quantity:
    """A quantity to write out: its name, its symbol, what it depends on, whether it is symmetric or with loads."""

    name: str
    latex: str
    symmetric: bool = False
    loads: bool = False


_M = _Quantity("mass_matrix", "M", symmetric=True)
_C, _G = _Quantity("coriolis", "C"), _Quantity("gravity", "g")
_H, _A = _Quantity("bias", "h"), _Quantity("constraint_jacobian", "A")
_TAU = _Quantity("inverse_dynamics", r"\tau", loads=True)
_SHAPES = {
    "equations.tree": (r"M(q) \, \dot{v} + C(q, v) \, v + g(q)", "Q"),
    "equations.bias": (r"M(q) \, \dot{v} + h(q, v)", "Q"),
    "equations.closed": (r"M(q) \, \dot{v} + h(q, v)", r"Q + A^{\top} \lambda"),
}


@dataclass(frozen=True)
class EquationsPart:
    """Writes the section on equations.

    Args:
        mechanism: whose they are.
        words: in which language.
        citations: where what is used is taken down.
        command: of the command line, to see what is too long here: a file, or the name of the mechanism.
    """

    mechanism: Mechanism
    words: Words
    citations: Citations
    command: str

    def section(self) -> Section:
        title = self.words.say("section.equations")
        if not self.mechanism.v:
            return Section(title, (self.words.paragraph("equations.none"),))
        return Section(title, tuple(self._blocks()))

    def _blocks(self) -> Iterator[Block]:
        w = self.words
        derived = self._derived()
        shape = "equations.closed" if not self.mechanism.is_tree else "equations.tree"
        if shape == "equations.tree" and "coriolis" not in derived:
            shape = "equations.bias"
            derived = {**self._one(_M), **self._one(_H), **self._one(_TAU)}
        yield w.paragraph(shape)
        lines = [EquationLine(*(parsed(side) for side in _SHAPES[shape]))]
        if shape == "equations.closed":
            lines.append(EquationLine(parsed(r"A(q, t) \, v"), parsed("b(q, t)")))
        yield Equation(tuple(lines))
        written, long = self._written_out(derived)
        yield from written
        if long:
            names = w.listed([document.Formula(parsed(q.latex)) for q in long])
            yield w.paragraph("equations.large", names=names, command=self._typed(long[0].name))
        yield self._counts(derived)
        if _TAU in long:
            yield from self._listing(derived[_TAU.name])

    def _typed(self, quantity: str) -> Code:
        return Code(f"torseur equations {self.command} --of {quantity}")

    def _derived(self) -> dict[str, Equations]:
        wanted = (_M, _C, _G, _TAU) if self.mechanism.is_tree else (_M, _H, _A, _TAU)
        derived: dict[str, Equations] = {}
        for quantity in wanted:
            derived |= self._one(quantity)
        return derived

    def _one(self, quantity: _Quantity) -> dict[str, Equations]:
        try:
            return {quantity.name: equations(self.mechanism, quantity.name, loads=quantity.loads)}
        except ArgumentError:  # no Coriolis matrix where speeds are no rates of coordinates
            if quantity is not _C:
                raise
            return {}

    # -- written out ---------------------------------------------------------------------------------------------------
    def _written_out(self, derived: dict[str, Equations]) -> tuple[list[Block], list[_Quantity]]:
        """What is small enough, and what is not."""
        w, blocks, long = self.words, list[Block](), list[_Quantity]()
        try:
            for quantity in (x for x in (_M, _C, _G, _H, _A, _TAU) if x.name in derived):
                lines = self._lines(quantity, derived[quantity.name])
                if lines is None:
                    long.append(quantity)
                    continue
                if not blocks:
                    blocks.append(w.paragraph("equations.written"))
                if quantity is _TAU:
                    blocks.append(w.paragraph("equations.each"))
                blocks.append(Equation(tuple(lines)))
                if len(lines) > 1 and quantity is not _TAU:
                    blocks.append(w.paragraph("equations.zeros"))
        except MissingExtra:
            return [w.paragraph("equations.no_sympy")], [_TAU]
        return blocks, long

    def _lines(self, quantity: _Quantity, derivation: Equations) -> list[EquationLine] | None:
        closed = self._closed(derivation.function)
        if closed is None:
            return None
        (output,) = closed.outputs
        rows = [[self._math(x) for x in row] for row in closed.written(output, latex=True)]
        left = parsed(quantity.latex)
        whole = rows[0][0] if len(rows) == len(rows[0]) == 1 else Array(tuple(map(tuple, rows)), "[", "]")
        is_column = len(rows[0]) == 1 and len(rows) > 1
        if width(whole) < PAGE - 4.0 and len(rows) < 13 and not (is_column and quantity is _TAU):
            return [EquationLine(left, whole)]
        lines: list[EquationLine] = []
        for i, row in enumerate(rows):
            for k, entry in enumerate(row):
                if (quantity.symmetric and k < i) or (_is_zero(entry) and len(row) > 1):
                    continue
                place = f"{i + 1}" if is_column else f"{i + 1},{k + 1}"
                more = lines_of(Scripted(left, below=parsed(place)), entry)
                if more is None:
                    return None
                lines += more
        return lines or [EquationLine(left, parsed("0"))]

    def _closed(self, function: Function) -> Closed | None:
        if len(function.outputs) != 1 or count(function).total > LARGEST or terms_of(function) > MOST_TERMS:
            return None
        if any(node.op is ops.PIECEWISE for node in function.nodes):  # tables have a name in a listing
            return None
        try:
            return Equations(function).closed()
        except (CompileError, ArgumentError):
            return None

    def _math(self, latex: str) -> Math:
        return in_language(parsed(latex), self.words)

    # -- otherwise -----------------------------------------------------------------------------------------------------
    def _listing(self, derivation: Equations) -> Iterator[Block]:
        w = self.words
        reading = LatexReading(derivation.function, latex_symbols(derivation.function))
        passages = reading.passages()
        n = sum(len(passage.lines) for passage in passages)
        if n > LONGEST:
            yield w.paragraph("equations.too_long", n=Value(n), command=self._typed(_TAU.name))
            return
        blocks: list[Block] = [w.paragraph("equations.listing", cite=self.citations.cite("method.newton_euler"))]
        keys = {Stage.PARAMETER: "stage.parameter", Stage.TIME: "stage.time", Stage.STATE: "stage.state"}
        for passage in passages:
            if len(passages) > 1:
                blocks.append(w.paragraph(keys[passage.stage]))
            blocks.append(Equation(tuple(self._listed(passage.lines))))
        if reading.tables():
            lines = self._listed(reading.tables())
            blocks.append(Equation(tuple(replace(line, right=_rounded(line.right)) for line in lines)))
        yield Section(w.say("section.listing"), tuple(blocks), 2)

    def _listed(self, lines: Sequence[tuple[str, str]]) -> Iterator[EquationLine]:
        for left, right in lines:
            formula, name = self._math(right), parsed(left)
            yield from lines_of(name, formula) or [EquationLine(name, formula)]

    def _counts(self, derived: dict[str, Equations]) -> Table:
        """How much work each function is."""
        w, rows = self.words, list[tuple[Line, ...]]()
        latex = {x.name: x.latex for x in (_M, _C, _G, _H, _A, _TAU)}
        for name, derivation in derived.items():
            counted = derivation.count
            others = counted.total - counted.products - counted.sums
            cells = [(Value(float(n)),) for n in (counted.products, counted.sums, others)]
            shown: tuple[Inline, ...] = (document.Formula(parsed(latex[name])), Text(" "), Code(name))
            rows.append((shown, *cells))
        heads = ("head.function", "head.products", "head.sums", "head.others")
        return w.table("caption.operations", heads, rows, (1, 2, 3))


def lines_of(left: Math, right: Math) -> list[EquationLine] | None:
    """An equation in lines that fit a page; None where a single term does not."""
    room = PAGE - width(left) - 2.5
    parts = broken(right, room)
    if any(width(part) > room + 1.0 for part in parts):
        return None
    first, *rest = parts
    return [EquationLine(left, first), *(EquationLine(None, part) for part in rest)]


def _is_zero(math: Math) -> bool:
    return math == parsed("0")


def in_language(math: Math, words: Words) -> Math:
    """A formula with the words in it, if and otherwise, in the language of the report."""
    terms = {"if": "math.if", "otherwise": "math.otherwise"}

    def say(part: Math) -> Math:
        if not (isinstance(part, Word) and part.look is Look.TEXT):
            return part
        key = terms.get(part.text.strip())
        (said,) = words.say(key) if key else (Text(part.text),)
        return Word(said.text, Look.TEXT) if isinstance(said, Text) else part

    return _changed(math, say)


def _rounded(math: Math) -> Math:
    """A formula with numbers of a few digits."""

    def shorter(part: Math) -> Math:
        return number_math(float(part.text), FEW_DIGITS) if isinstance(part, Number) else part

    return _changed(math, shorter)


def _changed(math: Math, change: Callable[[Math], Math]) -> Math:
    """A formula whose leaves are others."""

    def of(part: Math) -> Math:
        return _changed(part, change)

    match math:
        case Row(items):
            return Row(tuple(map(of, items)))
        case Fenced(left, inside, right):
            return Fenced(left, of(inside), right)
        case Fraction(above, below):
            return Fraction(of(above), of(below))
        case Root(inside):
            return Root(of(inside))
        case Array(rows):
            return replace(math, rows=tuple(tuple(map(of, row)) for row in rows))
        case Scripted(base, below, above):
            return Scripted(of(base), below, above)
    return change(math)
