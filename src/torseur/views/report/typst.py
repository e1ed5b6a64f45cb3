"""A report as Typst source, and from it a PDF without any TeX (package ``typst``, extra ``report``)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from torseur.errors import MissingExtra
from torseur.views.report import document as d
from torseur.views.report import math as m
from torseur.views.report.layout import NO_BREAK, Digits, column_shares, plain
from torseur.views.report.writer import MathWriter, Writer

__all__ = ["quoted", "to_pdf", "to_typst", "to_typst_math"]

_HEAD = """#set document(title: %(title)s, date: none)
#set page(paper: "a4", margin: (x: 21mm, y: 22mm), numbering: "1")
#set text(font: "Libertinus Serif", size: 10.5pt, lang: "%(language)s")
#set par(justify: true, leading: 0.62em, spacing: 0.9em)
#set heading(numbering: "1.1")
#set table(stroke: none, inset: (x: 5pt, y: 3pt))
#show heading.where(level: 1): set text(size: 14pt, fill: rgb("#1f5fa8"))
#show heading.where(level: 1): set block(above: 1.6em, below: 0.8em)
#show heading.where(level: 2): set text(size: 11.5pt)
#show heading.where(level: 2): set block(above: 1.3em, below: 0.7em)
#show raw: set text(font: "DejaVu Sans Mono", size: 8.5pt)
#show math.equation.where(block: true): set block(breakable: true)
"""
_PLAIN_SIGNS = frozenset("+−=<>≤≥≠⋅×±≈∈∧∨¬∞∘⊤∂∑↦'!")
_DOTS = {1: "dot", 2: "dot.double"}


def to_pdf(document: d.Document) -> bytes:
    """The pages; the same document gives the same bytes."""
    try:
        import typst
    except ImportError:
        raise MissingExtra("typst", extra="report", purpose="reports as PDF") from None
    files = {"main.typ": to_typst(document).encode("utf-8")}
    for figure in d.figures(document.sections):
        data = figure.picture.svg()
        files[_file(figure, data)] = data
    compiled: Callable[..., bytes] = typst.compile
    return compiled(files, format="pdf", ignore_system_fonts=True, font_paths=_fonts())


def _fonts() -> list[str]:
    """Those of matplotlib, if it is there: labels of schemes are set in them."""
    try:
        import matplotlib
    except ImportError:
        return []
    return [str(Path(matplotlib.get_data_path()) / "fonts" / "ttf")]


def _file(figure: d.Figure, data: bytes) -> str:
    return f"{figure.picture.name}.{'png' if data.startswith(bytes([0x89])) else 'svg'}"


def to_typst(document: d.Document) -> str:
    """The source; figures are files beside it."""
    return _Typst(document).text()


class _Typst(Writer):
    def text(self) -> str:
        document = self.document
        named: Mapping[str, str] = {
            "title": quoted(plain(document.title, self.language)),
            "language": self.language.value,
        }
        date = f"\n#text(fill: luma(90))[{self.line((d.Text(document.date),))}]\n" if document.date else ""
        lines = [
            _HEAD % named,
            f"#par(justify: false)[#text(size: 19pt, weight: 700, hyphenate: false)[{self.line(document.title)}]]\n",
            f"#text(fill: luma(90))[{self.line(document.subtitle)}]\n{date}",
            '#line(length: 100%, stroke: 1.2pt + rgb("#1f5fa8"))\n',
            *(self.section(section) for section in document.sections),
        ]
        return "\n".join(lines) + "\n"

    def section(self, section: d.Section, depth: int = 1) -> str:
        pieces = [f"#heading(level: {depth})[{self.line(section.title)}]"]
        for block in section.blocks:
            pieces.append(self.section(block, depth + 1) if isinstance(block, d.Section) else self.block(block))
        return "\n\n".join(pieces)

    def paragraph(self, line: str) -> str:
        return f"#par[{line}]"

    def bullets(self, items: list[str]) -> str:
        return f"#list({', '.join(f'[{item}]' for item in items)})"

    def listing(self, text: str) -> str:
        return f"#raw({quoted_lines(text)}, block: true)"

    def table(self, table: d.Table) -> str:
        shares = column_shares(table)
        widths = ", ".join("auto" if share is None else f"{share:.3f}fr" for share in shares)
        align = ", ".join("right" if k in table.numeric else "left" for k in range(len(table.head)))
        head = ", ".join(f"[#strong[{self.line(x)}]]" for x in table.head)
        rows = ",\n".join(", ".join(f"[{self.line(x)}]" for x in row) for row in table.rows)
        return (
            f"#block(width: 100%, above: 1.3em, below: 0.5em, sticky: true)[#set text(size: 9.5pt);#set align(center);"
            f"#strong[{_text(self.number_of(table))}] {self.line(table.caption)}]\n"
            f"#block(width: 100%, below: 1.3em)[#set text(size: 9pt);#set align(center);"
            f"#set par(justify: false, leading: 0.42em);"  # fractions reach out of their row by 0.7 of it
            f"#table(columns: ({widths},), align: ({align},),\n"
            f"table.hline(stroke: 0.9pt), table.header({head}), table.hline(stroke: 0.5pt),\n{rows},\n"
            "table.hline(stroke: 0.9pt))]"
        )

    def equation(self, equation: d.Equation) -> str:
        rows = []
        for line in equation.lines:
            right = to_typst_math(line.right, self.language)
            if line.left is None:
                rows.append(f"& quad quad {right}")
            else:
                rows.append(f"{to_typst_math(line.left, self.language)} & = {right}")
        body = " \\\n  ".join(rows)
        return f"$ {body} $"

    def figure(self, figure: d.Figure) -> str:
        file, share = _file(figure, figure.picture.svg()), figure.picture.width
        return (
            f"#block(breakable: false, width: 100%, above: 1.3em, below: 1.3em)[#set align(center);"
            f"#image({quoted(file)}, width: {100 * share:.0f}%)\n"
            f"#block[#set text(size: 9.5pt);#strong[{_text(self.number_of(figure))}] {self.line(figure.caption)}]]"
        )

    # -- in a line -----------------------------------------------------------------------------------------------------
    def plain(self, text: str) -> str:
        return _text(text)

    def strong(self, text: str) -> str:
        return f"#strong[{_text(text)}];"

    def emphasis(self, text: str) -> str:
        return f"#emph[{_text(text)}];"

    def code(self, text: str) -> str:
        return f"#raw({quoted(text)});"

    def formula(self, math: m.Math) -> str:
        flat = _slashed(math)
        inside = to_typst_math(flat, self.language)
        # A formula in a line is as high as the line: a fraction needs a box to keep clear of what is around it.
        return f"#box(inset: (y: 0.5em), baseline: 0.5em, $display({inside})$);" if m.is_tall(flat) else f"${inside}$"

    def raised(self, base: str, exponent: str) -> str:
        return _text(base) + (f"#super[{_text(exponent)}];" if exponent else "")

    def value(self, digits: Digits) -> str:
        if digits.power is None:
            return _text(digits.mantissa)
        power = str(digits.power).replace("-", "−")
        return f"{_text(f'{digits.mantissa}{NO_BREAK}×{NO_BREAK}10')}#super[{_text(power)}];"


def to_typst_math(math: m.Math, language: d.Language) -> str:
    """A formula, without the signs around it."""
    return _TypstMath(language).math(math)


class _TypstMath(MathWriter):
    def word(self, text: str, look: m.Look) -> str:
        if look is m.Look.FUNCTION:
            return f"op({quoted(text)})"
        if look is m.Look.BOLD:
            return f"bold(upright({quoted(text)}))" if len(text) > 1 else f"upright(bold({quoted(text)}))"
        if look is m.Look.TYPEWRITER:
            return f"mono({quoted(text)})"
        if look is m.Look.ITALIC:
            return text if len(text) == 1 and text.isalpha() else f"italic({quoted(text)})"
        return quoted(text)

    def number(self, digits: str) -> str:
        return quoted(digits)

    def sign(self, text: str) -> str:
        if text == "/":
            return 'class("normal", \\/)'
        return text if text in _PLAIN_SIGNS else "\\," if text == "," else quoted(text)

    def space(self, wide: bool) -> str:
        return "quad" if wide else "thin"

    def row(self, items: list[str]) -> str:
        return " ".join(items) or '""'

    def fraction(self, above: str, below: str) -> str:
        return f"frac({above}, {below})"

    def root(self, inside: str) -> str:
        return f"sqrt({inside})"

    def scripted(self, base: str, below: str | None, above: str | None) -> str:
        lower = "" if below is None else f", b: {below}"
        upper = "" if above is None else f", t: {above}"
        return f"attach({base}{lower}{upper})"

    def dotted(self, base: str, dots: int) -> str:
        return f"{_DOTS[dots]}({base})"

    def fenced(self, left: str, inside: str, right: str) -> str:
        return f"lr({_fence(left)} {inside} {_fence(right)})"

    def array(self, cells: list[list[str]], array: m.Array) -> str:
        if array.is_cases:
            return f"cases({', '.join(' & quad '.join(row) for row in cells)})"
        body = "; ".join(", ".join(row) for row in cells)
        return f"display(mat(delim: {quoted(array.left) if array.left else '#none'}, {body}))"


def _fence(text: str) -> str:
    """Escaped, so that none has to be balanced; they grow all the same."""
    return f"\\{text}" if text else ""


def _slashed(math: m.Math) -> m.Math:
    """π/2 in place of a fraction of names or numbers that stands alone, but for a sign and brackets.

    >>> _slashed(m.Fraction(m.Number("1"), m.Number("2")))
    Row(items=(Number(text='1'), Sign(text='/'), Number(text='2')))
    """
    match math:
        case m.Fraction(m.Word() | m.Number() | m.Scripted() as above, m.Word() | m.Number() as below) if not (
            m.is_tall(above)
        ):
            return m.Row((above, m.Sign("/"), below))
        case m.Row((m.Sign("−"), m.Fraction() as part)) if isinstance(flat := _slashed(part), m.Row):
            return m.Row((m.Sign("−"), *flat.items))
        case m.Row(items):
            return m.Row(tuple(_slashed(x) if isinstance(x, m.Fenced) else x for x in items))
        case m.Fenced(left, inside, right):
            return m.Fenced(left, _slashed(inside), right)
    return math


def _text(text: str) -> str:
    """Plain words: a string, of which nothing is markup."""
    return f"#{quoted(text)};"


def quoted_lines(text: str) -> str:
    return "\\n".join(quoted(line)[1:-1] for line in text.splitlines()).join('""')


def quoted(text: str) -> str:
    """Any text as a Typst string, which is never read as markup."""
    clean = "".join(c if c.isprintable() or c in "\u00a0\u202f" else " " for c in text)
    return json.dumps(clean, ensure_ascii=False)
