"""A report as Typst source, and from it a PDF without any TeX (package ``typst``, extra ``report``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from torseur.errors import MissingExtra
from torseur.views.report.columns import column_shares
from torseur.views.report.document import (
    Block,
    Bullets,
    Code,
    Document,
    Emphasis,
    Equation,
    Figure,
    Formula,
    Inline,
    Line,
    Listing,
    Paragraph,
    Section,
    Strong,
    Table,
    Text,
    Unit,
    Value,
    figures,
)
from torseur.views.report.math import Fenced, Fraction, Math, Number, Row, Scripted, Sign, Word, is_tall
from torseur.views.report.numbering import Numbering
from torseur.views.report.typography import NO_BREAK, digits_of, plain, unit_parts
from torseur.views.report.typst_math import quoted, to_typst_math

__all__ = ["to_pdf", "to_typst"]

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


def to_pdf(document: Document) -> bytes:
    """The pages; the same document gives the same bytes."""
    try:
        import typst
    except ImportError:
        raise MissingExtra("typst", extra="report", purpose="reports as PDF") from None
    files = {"main.typ": to_typst(document).encode("utf-8")}
    for figure in figures(document.sections):
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


def _file(figure: Figure, data: bytes) -> str:
    return f"{figure.picture.name}.{'png' if data.startswith(bytes([0x89])) else 'svg'}"


def to_typst(document: Document) -> str:
    """The source; figures are files beside it."""
    return _Writer(document).text()


class _Writer:
    def __init__(self, document: Document) -> None:
        self.document, self.language = document, document.language
        self.numbering = Numbering(document)

    def text(self) -> str:
        document = self.document
        named: Mapping[str, str] = {
            "title": quoted(plain(document.title, self.language)),
            "language": self.language.value,
        }
        date = f"\n#text(fill: luma(90))[{self.line((Text(document.date),))}]\n" if document.date else ""
        lines = [
            _HEAD % named,
            f"#par(justify: false)[#text(size: 19pt, weight: 700, hyphenate: false)[{self.line(document.title)}]]\n",
            f"#text(fill: luma(90))[{self.line(document.subtitle)}]\n{date}",
            '#line(length: 100%, stroke: 1.2pt + rgb("#1f5fa8"))\n',
            *(self.section(section) for section in document.sections),
        ]
        return "\n".join(lines) + "\n"

    def section(self, section: Section, depth: int = 1) -> str:
        pieces = [f"#heading(level: {depth})[{self.line(section.title)}]"]
        for block in section.blocks:
            pieces.append(self.section(block, depth + 1) if isinstance(block, Section) else self.block(block))
        return "\n\n".join(pieces)

    def block(self, block: Block) -> str:
        match block:
            case Paragraph(line):
                return f"#par[{self.line(line)}]"
            case Bullets(items):
                return f"#list({', '.join(f'[{self.line(item)}]' for item in items)})"
            case Table():
                return self.table(block)
            case Equation():
                return self.equation(block)
            case Listing(text):
                return f"#raw({quoted_lines(text)}, block: true)"
            case Figure():
                return self.figure(block)
            case Section():
                raise AssertionError("sections are written by their section")

    def table(self, table: Table) -> str:
        shares = column_shares(table)
        widths = ", ".join("auto" if share is None else f"{share:.3f}fr" for share in shares)
        align = ", ".join("right" if k in table.numeric else "left" for k in range(len(table.head)))
        head = ", ".join(f"[#strong[{self.line(x)}]]" for x in table.head)
        rows = ",\n".join(", ".join(f"[{self.line(x)}]" for x in row) for row in table.rows)
        return (
            f"#block(width: 100%, above: 1.3em, below: 0.5em, sticky: true)[#set text(size: 9.5pt);#set align(center);"
            f"#strong[{_text(self.numbering.of(table))}] {self.line(table.caption)}]\n"
            f"#block(width: 100%, below: 1.3em)[#set text(size: 9pt);#set align(center);"
            f"#set par(justify: false, leading: 0.42em);"  # fractions reach out of their row by 0.7 of it
            f"#table(columns: ({widths},), align: ({align},),\n"
            f"table.hline(stroke: 0.9pt), table.header({head}), table.hline(stroke: 0.5pt),\n{rows},\n"
            "table.hline(stroke: 0.9pt))]"
        )

    def equation(self, equation: Equation) -> str:
        rows = []
        for line in equation.lines:
            right = to_typst_math(line.right, self.language)
            if line.left is None:
                rows.append(f"& quad quad {right}")
            else:
                rows.append(f"{to_typst_math(line.left, self.language)} & = {right}")
        body = " \\\n  ".join(rows)
        return f"$ {body} $"

    def figure(self, figure: Figure) -> str:
        file, share = _file(figure, figure.picture.svg()), figure.picture.width
        return (
            f"#block(breakable: false, width: 100%, above: 1.3em, below: 1.3em)[#set align(center);"
            f"#image({quoted(file)}, width: {100 * share:.0f}%)\n"
            f"#block[#set text(size: 9.5pt);#strong[{_text(self.numbering.of(figure))}] {self.line(figure.caption)}]]"
        )

    # -- in a line -----------------------------------------------------------------------------------------------------
    def line(self, line: Line) -> str:
        return "".join(map(self.inline, line))

    def inline(self, inline: Inline) -> str:
        match inline:
            case Text(text):
                return _text(text)
            case Strong(text):
                return f"#strong[{_text(text)}];"
            case Emphasis(text):
                return f"#emph[{_text(text)}];"
            case Code(text):
                return f"#raw({quoted(text)});"
            case Formula(math):
                flat = _slashed(math)
                inside = to_typst_math(flat, self.language)
                # A formula in a line is as high as the line: a fraction needs a box to keep clear of what is around it.
                return (
                    f"#box(inset: (y: 0.5em), baseline: 0.5em, $display({inside})$);"
                    if is_tall(flat)
                    else f"${inside}$"
                )
            case Unit(text):
                return "".join(_text(base) + (f"#super[{_text(n)}];" if n else "") for base, n in unit_parts(text))
            case Value(number, digits):
                found = digits_of(number, digits, self.language)
                power = "" if found.power is None else f"{NO_BREAK}×{NO_BREAK}10"
                raised = "" if found.power is None else f"#super[{_text(str(found.power).replace('-', '−'))}];"
                return _text(found.mantissa + power) + raised


def _slashed(math: Math) -> Math:
    """π/2 in place of a fraction of names or numbers that stands alone, but for a sign and brackets.

    >>> _slashed(Fraction(Number("1"), Number("2")))
    Row(items=(Number(text='1'), Sign(text='/'), Number(text='2')))
    """
    match math:
        case Fraction(Word() | Number() | Scripted() as above, Word() | Number() as below) if not is_tall(above):
            return Row((above, Sign("/"), below))
        case Row((Sign("−"), Fraction() as part)) if isinstance(flat := _slashed(part), Row):
            return Row((Sign("−"), *flat.items))
        case Row(items):
            return Row(tuple(_slashed(x) if isinstance(x, Fenced) else x for x in items))
        case Fenced(left, inside, right):
            return Fenced(left, _slashed(inside), right)
    return math


def _text(text: str) -> str:
    """Plain words: a string, of which nothing is markup."""
    return f"#{quoted(text)};"


def quoted_lines(text: str) -> str:
    return "\\n".join(quoted(line)[1:-1] for line in text.splitlines()).join('""')
