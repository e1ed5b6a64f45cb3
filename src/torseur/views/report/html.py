"""A report as one HTML file: equations in MathML, pictures inside, nothing from the network, and good to print.

Formulas keep to the part of MathML that browsers draw by themselves (MathML Core).
"""

from __future__ import annotations

import base64
from html import escape

from torseur.views.report import document as d
from torseur.views.report import math as m
from torseur.views.report.layout import NO_BREAK, Digits, plain
from torseur.views.report.writer import MathWriter, Writer

__all__ = ["blocks_html", "to_html", "to_mathml"]

_DOTS = {1: "˙", 2: "¨"}
_APPLY = "<mo>&#x2061;</mo>"
"""Between a function and its argument."""
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


def to_html(document: d.Document) -> str:
    """The whole file."""
    return _Html(document).text()


def blocks_html(blocks: tuple[d.Block, ...], language: d.Language) -> str:
    """Some blocks alone, to stand in another page, such as a notebook."""
    writer = _Html(d.Document((), (), language, (d.Section((), blocks),)))
    return f'<div class="torseur">{"".join(map(writer.block, blocks))}</div>'


def to_mathml(math: m.Math, language: d.Language) -> str:
    """A whole formula, in a line."""
    style = ' displaystyle="true"' if m.is_tall(math) else ""
    return f"<math{style}>{_MathMl(language).math(math)}</math>"


class _MathMl(MathWriter):
    def word(self, text: str, look: m.Look) -> str:
        words = escape(text)
        if look is m.Look.TEXT:
            return f"<mtext>{words.replace(' ', '&#xa0;')}</mtext>"
        if look is m.Look.TYPEWRITER:
            return f'<mtext class="typed">{words}</mtext>'
        if look is m.Look.FUNCTION:
            return f'<mi mathvariant="normal">{words}</mi>{_APPLY}'
        if look is m.Look.BOLD:
            return f'<mi mathvariant="normal" class="bold">{words}</mi>'
        if look is m.Look.ITALIC and len(text) > 1:
            return f'<mi class="slanted">{words}</mi>'
        return f"<mi>{words}</mi>" if look is m.Look.ITALIC else f'<mi mathvariant="normal">{words}</mi>'

    def number(self, digits: str) -> str:
        return f"<mn>{escape(digits)}</mn>"

    def sign(self, text: str) -> str:
        return f"<mo>{escape(text)}</mo>"

    def space(self, wide: bool) -> str:
        return f'<mspace width="{"1em" if wide else "0.17em"}"></mspace>'

    def row(self, items: list[str]) -> str:
        return f"<mrow>{''.join(items)}</mrow>"

    def fraction(self, above: str, below: str) -> str:
        return f"<mfrac>{above}{below}</mfrac>"

    def root(self, inside: str) -> str:
        return f"<msqrt>{inside}</msqrt>"

    def scripted(self, base: str, below: str | None, above: str | None) -> str:
        if below is None:
            return f"<msup>{base}{above}</msup>"
        return f"<msub>{base}{below}</msub>" if above is None else f"<msubsup>{base}{below}{above}</msubsup>"

    def dotted(self, base: str, dots: int) -> str:
        # Not marked as an accent: Chromium draws accents on the letter itself.
        return f'<mover>{base}<mo stretchy="false">{_DOTS[dots]}</mo></mover>'

    def fenced(self, left: str, inside: str, right: str) -> str:
        return f"<mrow>{_fence(left)}{inside}{_fence(right)}</mrow>"

    def array(self, cells: list[list[str]], array: m.Array) -> str:
        rows = "".join(f"<mtr>{''.join(f'<mtd>{cell}</mtd>' for cell in row)}</mtr>" for row in cells)
        look = ' class="cases"' if array.is_cases else ""
        return f"<mrow>{_fence(array.left)}<mtable{look}>{rows}</mtable>{_fence(array.right)}</mrow>"


def _fence(text: str) -> str:
    return f'<mo fence="true" lspace="0" rspace="0">{escape(text)}</mo>' if text else ""


class _Html(Writer):
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

    def section(self, section: d.Section, place: str) -> str:
        depth = place.count(".")
        head = f'<h{depth + 2} id="s{place}">{place} {NO_BREAK}{self.line(section.title)}</h{depth + 2}>'
        pieces, k = [head], 0
        for block in section.blocks:
            if isinstance(block, d.Section):
                k += 1
                pieces.append(self.section(block, f"{place}.{k}"))
            else:
                pieces.append(self.block(block))
        return "\n".join(pieces)

    def paragraph(self, line: str) -> str:
        return f"<p>{line}</p>"

    def bullets(self, items: list[str]) -> str:
        return f"<ul>{''.join(f'<li>{item}</li>' for item in items)}</ul>"

    def listing(self, text: str) -> str:
        return f"<pre>{escape(text)}</pre>"

    def table(self, table: d.Table) -> str:
        def cells(tag: str, row: tuple[d.Line, ...]) -> str:
            looks = [' class="numeric"' if k in table.numeric else "" for k in range(len(row))]
            return "".join(f"<{tag}{look}>{self.line(x)}</{tag}>" for look, x in zip(looks, row, strict=True))

        rows = "\n".join(f"<tr>{cells('td', row)}</tr>" for row in table.rows)
        caption = f"<b>{escape(self.number_of(table))}</b> {self.line(table.caption)}"
        return (
            f'<div class="table"><p class="caption">{caption}</p>\n<table class="data">'
            f"<thead><tr>{cells('th', table.head)}</tr></thead>\n<tbody>{rows}</tbody></table></div>"
        )

    def equation(self, equation: d.Equation) -> str:
        rows, write = [], _MathMl(self.language).math
        for line in equation.lines:
            left = "" if line.left is None else write(line.left)
            signed = m.Row((m.Sign("="), line.right)) if line.left is not None else line.right
            indent = "" if line.left is not None else '<mspace width="1.8em"></mspace>'
            right = write(signed)
            rows.append(f"<mtr><mtd>{left}</mtd><mtd><mrow>{indent}{right}</mrow></mtd></mtr>")
        return (
            '<div class="equation"><math display="block"><mtable class="aligned" displaystyle="true">'
            f"{''.join(rows)}</mtable></math></div>"
        )

    def figure(self, figure: d.Figure) -> str:
        data = figure.picture.svg()
        kind = "image/png" if data.startswith(b"\x89PNG") else "image/svg+xml"
        source = f"data:{kind};base64,{base64.b64encode(data).decode('ascii')}"
        alt = escape(plain(figure.caption, self.language))
        return (
            f'<figure><img src="{source}" alt="{alt}" style="width:{100 * figure.picture.width:.0f}%">'
            f"<figcaption><b>{escape(self.number_of(figure))}</b> {self.line(figure.caption)}</figcaption></figure>"
        )

    # -- in a line -----------------------------------------------------------------------------------------------------
    def plain(self, text: str) -> str:
        return _plain(text)

    def strong(self, text: str) -> str:
        return f"<strong>{_plain(text)}</strong>"

    def emphasis(self, text: str) -> str:
        return f"<em>{_plain(text)}</em>"

    def code(self, text: str) -> str:
        return f"<code>{_plain(text)}</code>"

    def formula(self, math: m.Math) -> str:
        return to_mathml(math, self.language)

    def raised(self, base: str, exponent: str) -> str:
        return escape(base) + (f"<sup>{exponent}</sup>" if exponent else "")

    def value(self, digits: Digits) -> str:
        if digits.power is None:
            return digits.mantissa
        return f"{digits.mantissa}{NO_BREAK}×{NO_BREAK}10<sup>{str(digits.power).replace('-', '−')}</sup>"


def _plain(text: str) -> str:
    """Text without what HTML takes for its own, and without control characters."""
    return escape("".join(c if c.isprintable() or c in "\n\u00a0\u202f" else " " for c in text))
