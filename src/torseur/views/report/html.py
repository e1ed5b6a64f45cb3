"""A report as one HTML file: equations in MathML, pictures inside, nothing from the network, and good to print."""

from __future__ import annotations

import base64
from html import escape

from torseur.views.report import mathml
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
    Language,
    Line,
    Listing,
    Paragraph,
    Section,
    Strong,
    Table,
    Text,
    Unit,
    Value,
)
from torseur.views.report.math import Row, Sign
from torseur.views.report.numbering import Numbering
from torseur.views.report.typography import NO_BREAK, digits_of, plain, unit_parts

__all__ = ["blocks_html", "to_html"]

_STYLE = """
:root { color-scheme: light; }
body { max-width: 46rem; margin: 2.5rem auto 4rem; padding: 0 1.2rem; color: #1c1c1c; background: #fff;
  font: 16px/1.5 "Libertinus Serif", "Linux Libertine", Charter, Georgia, "Times New Roman", serif; }
header { border-bottom: 2px solid #1f5fa8; margin-bottom: 1.6rem; padding-bottom: .6rem; }
header p { margin: .2rem 0; color: #555; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0; }
h2 { font-size: 1.3rem; margin: 2.2rem 0 .6rem; color: #1f5fa8; }
h3 { font-size: 1.08rem; margin: 1.5rem 0 .4rem; }
p { margin: .55rem 0; text-align: justify; hyphens: auto; }
table.data { border-collapse: collapse; margin: 0 auto; font-size: .88em; line-height: 1.35; }
table.data th { border-top: 1.5px solid #1c1c1c; border-bottom: .75px solid #1c1c1c; }
table.data th { text-align: left; font-weight: 600; }
table.data th, table.data td { padding: .2rem .55rem; vertical-align: top; }
table.data tbody tr:last-child td { border-bottom: 1.5px solid #1c1c1c; }
table.data .numeric { text-align: right; white-space: nowrap; }
.table { margin: 1.2rem 0; overflow-x: auto; }
.caption, figcaption { font-size: .9em; text-align: center; margin: .4rem auto; max-width: 40rem; }
figure { margin: 1.4rem 0; text-align: center; break-inside: avoid; }
figure img { max-width: 100%; height: auto; }
.equation { overflow-x: auto; overflow-y: hidden; margin: .7rem 0; }
.equation math { font-size: 1em; }
mtable.aligned > mtr > mtd { padding: .22em 0; text-align: left; }
mtable.aligned > mtr > mtd:first-child { text-align: right; }
mtable.cases > mtr > mtd { text-align: left; padding: 0 .5em .1em 0; }
math { font-family: "Latin Modern Math", "STIX Two Math", "Cambria Math", "Libertinus Math", math; }
.bold { font-weight: bold; }
.slanted { font-style: italic; }
.typed, code, pre { font-family: "DejaVu Sans Mono", Menlo, Consolas, monospace; font-size: .86em; }
pre { white-space: pre-wrap; line-height: 1.35; }
nav { font-size: .95em; margin: 1rem 0 1.6rem; }
nav ol { margin: .3rem 0; padding-left: 1.4rem; }
nav a { color: inherit; text-decoration: none; }
nav a:hover { text-decoration: underline; }
@page { size: A4; margin: 18mm 17mm; }
@media print {
  body { max-width: none; margin: 0; padding: 0; font-size: 10.5pt; }
  h2, h3 { break-after: avoid; }
  .table, .equation { overflow: visible; }
  table.data tr { break-inside: avoid; }
  table.data thead { display: table-header-group; }
}
"""


def to_html(document: Document) -> str:
    """The whole file."""
    return _Writer(document).text()


def blocks_html(blocks: tuple[Block, ...], language: Language) -> str:
    """Some blocks alone, to stand in another page, such as a notebook."""
    whole = Document((), (), language, (Section((), blocks),))
    writer = _Writer(whole)
    return f'<div class="torseur">{"".join(map(writer.block, blocks))}</div>'


class _Writer:
    def __init__(self, document: Document) -> None:
        self.document, self.language = document, document.language
        self.numbering = Numbering(document)

    def text(self) -> str:
        document = self.document
        title = plain(document.title, self.language)
        date = f"<p>{escape(document.date)}</p>\n" if document.date else ""
        body = "\n".join(self.section(section, str(k)) for k, section in enumerate(document.sections, 1))
        return (
            f'<!DOCTYPE html>\n<html lang="{self.language.value}">\n<head>\n<meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            '<meta http-equiv="Content-Security-Policy" '
            "content=\"default-src 'none'; img-src data:; style-src 'unsafe-inline'\">\n"
            f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
            f"<header>\n<h1>{self.line(document.title)}</h1>\n<p>{self.line(document.subtitle)}</p>\n{date}</header>\n"
            f"{self.contents()}\n{body}\n</body>\n</html>\n"
        )

    def contents(self) -> str:
        items = "".join(
            f'<li><a href="#s{k}">{self.line(section.title)}</a></li>'
            for k, section in enumerate(self.document.sections, 1)
        )
        return f"<nav><ol>{items}</ol></nav>"

    def section(self, section: Section, place: str) -> str:
        depth = place.count(".")
        head = f'<h{depth + 2} id="s{place}">{place} {NO_BREAK}{self.line(section.title)}</h{depth + 2}>'
        pieces, k = [head], 0
        for block in section.blocks:
            if isinstance(block, Section):
                k += 1
                pieces.append(self.section(block, f"{place}.{k}"))
            else:
                pieces.append(self.block(block))
        return "\n".join(pieces)

    def block(self, block: Block) -> str:
        match block:
            case Paragraph(line):
                return f"<p>{self.line(line)}</p>"
            case Bullets(items):
                return f"<ul>{''.join(f'<li>{self.line(item)}</li>' for item in items)}</ul>"
            case Table():
                return self.table(block)
            case Equation():
                return self.equation(block)
            case Listing(text):
                return f"<pre>{escape(text)}</pre>"
            case Figure():
                return self.figure(block)
            case Section():
                raise AssertionError("sections are written by their section")

    def table(self, table: Table) -> str:
        def cells(tag: str, row: tuple[Line, ...]) -> str:
            looks = [' class="numeric"' if k in table.numeric else "" for k in range(len(row))]
            return "".join(f"<{tag}{look}>{self.line(x)}</{tag}>" for look, x in zip(looks, row, strict=True))

        rows = "\n".join(f"<tr>{cells('td', row)}</tr>" for row in table.rows)
        caption = f"<b>{escape(self.numbering.of(table))}</b> {self.line(table.caption)}"
        return (
            f'<div class="table"><p class="caption">{caption}</p>\n<table class="data">'
            f"<thead><tr>{cells('th', table.head)}</tr></thead>\n<tbody>{rows}</tbody></table></div>"
        )

    def equation(self, equation: Equation) -> str:
        rows = []
        for line in equation.lines:
            left = "" if line.left is None else mathml.inner(line.left, self.language)
            signed = Row((Sign("="), line.right)) if line.left is not None else line.right
            indent = "" if line.left is not None else '<mspace width="1.8em"></mspace>'
            right = mathml.inner(signed, self.language)
            rows.append(f"<mtr><mtd>{left}</mtd><mtd><mrow>{indent}{right}</mrow></mtd></mtr>")
        return (
            '<div class="equation"><math display="block"><mtable class="aligned" displaystyle="true">'
            f"{''.join(rows)}</mtable></math></div>"
        )

    def figure(self, figure: Figure) -> str:
        data = figure.picture.svg()
        kind = "image/png" if data.startswith(b"\x89PNG") else "image/svg+xml"
        source = f"data:{kind};base64,{base64.b64encode(data).decode('ascii')}"
        alt = escape(plain(figure.caption, self.language))
        return (
            f'<figure><img src="{source}" alt="{alt}" style="width:{100 * figure.picture.width:.0f}%">'
            f"<figcaption><b>{escape(self.numbering.of(figure))}</b> {self.line(figure.caption)}</figcaption></figure>"
        )

    # -- in a line -----------------------------------------------------------------------------------------------------
    def line(self, line: Line) -> str:
        return "".join(map(self.inline, line))

    def inline(self, inline: Inline) -> str:
        match inline:
            case Text(text):
                return _plain(text)
            case Strong(text):
                return f"<strong>{_plain(text)}</strong>"
            case Emphasis(text):
                return f"<em>{_plain(text)}</em>"
            case Code(text):
                return f"<code>{_plain(text)}</code>"
            case Formula(math):
                return mathml.to_mathml(math, self.language)
            case Unit(text):
                return "".join(escape(base) + (f"<sup>{n}</sup>" if n else "") for base, n in unit_parts(text))
            case Value(number, digits):
                found = digits_of(number, digits, self.language)
                power = (
                    ""
                    if found.power is None
                    else f"{NO_BREAK}×{NO_BREAK}10<sup>{str(found.power).replace('-', '−')}</sup>"
                )
                return f"{found.mantissa}{power}"


def _plain(text: str) -> str:
    """Text without what HTML takes for its own, and without control characters."""
    return escape("".join(c if c.isprintable() or c in "\n\u00a0\u202f" else " " for c in text))
