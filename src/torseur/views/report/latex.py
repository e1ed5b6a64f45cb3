r"""A report as LaTeX source, for any of pdfLaTeX, XeLaTeX and LuaLaTeX.

It needs nothing but amsmath, graphicx, longtable, geometry and hyperref, which every TeX has; French hyphenation,
scalable fonts and better spacing are used where they are installed.
"""

from __future__ import annotations

import re

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
from torseur.views.report.latex_math import to_latex_math
from torseur.views.report.latex_text import escaped
from torseur.views.report.math import is_tall
from torseur.views.report.numbering import Numbering
from torseur.views.report.typography import digits_of, plain, unit_parts

__all__ = ["to_latex_document"]

_HEAD = r"""\documentclass[10pt,a4paper]{article}
\usepackage{iftex}
\ifPDFTeX
  \usepackage[T1]{fontenc}
  \usepackage[utf8]{inputenc}
  \IfFileExists{lmodern.sty}{\usepackage{lmodern}}{}
  \newcommand{\othercharacter}[1]{[U+#1]}
\else
  \newcommand{\othercharacter}[1]{\char"#1\relax}
\fi
%(language)s
\usepackage{amsmath}
\usepackage{amssymb}
\usepackage{array}
\usepackage{longtable}
\usepackage{graphicx}
\usepackage[a4paper,margin=22mm]{geometry}
\usepackage[hidelinks]{hyperref}
\allowdisplaybreaks
\setlength{\parindent}{0pt}
\setlength{\parskip}{0.5\baselineskip}
\setlength{\tabcolsep}{4pt}
\emergencystretch=3em
\newcommand{\captionline}[1]{\begin{center}\small #1\end{center}}
"""
_FRENCH = r"""\IfFileExists{french.ldf}{\usepackage[french]{babel}\AtBeginDocument{\shorthandoff{:;!?}}}{}
\AtBeginDocument{\renewcommand{\contentsname}{Table des matières}}"""


def to_latex_document(document: Document) -> str:
    """The source; figures are in ``figures/NAME.pdf`` beside it."""
    return _Writer(document).text()


class _Writer:
    def __init__(self, document: Document) -> None:
        self.document, self.language = document, document.language
        self.numbering = Numbering(document)

    def text(self) -> str:
        document = self.document
        head = _HEAD % {"language": _FRENCH if self.language is Language.FRENCH else ""}
        lines = [
            head.replace("\n\n", "\n"),
            rf"\title{{{self.line(document.title)}}}",
            rf"\author{{{self.line(document.subtitle)}}}",
            rf"\date{{{escaped(document.date or '')}}}",
            r"\begin{document}",
            r"\maketitle",
            r"\tableofcontents",
            *(self.section(section) for section in document.sections),
            r"\end{document}",
        ]
        return "\n".join(lines) + "\n"

    def section(self, section: Section, depth: int = 0) -> str:
        command = ("section", "subsection", "subsubsection")[min(depth, 2)]
        title = self.line(section.title)
        pieces = [f"\n\\{command}{{\\texorpdfstring{{{title}}}{{{escaped(plain(section.title, self.language))}}}}}"]
        for block in section.blocks:
            pieces.append(self.section(block, depth + 1) if isinstance(block, Section) else self.block(block))
        return "\n\n".join(pieces)

    def block(self, block: Block) -> str:
        match block:
            case Paragraph(line):
                return self.line(line)
            case Bullets(items):
                rows = "\n".join(rf"  \item {{}}{self.line(item)}" for item in items)
                return f"\\begin{{itemize}}\n{rows}\n\\end{{itemize}}"
            case Table():
                return self.table(block)
            case Equation():
                return self.equation(block)
            case Listing(text):
                rows = "\\\\\n".join(rf"\mbox{{}}\texttt{{{_typed(line)}}}" for line in text.splitlines())
                return f"{{\\footnotesize\\raggedright\n{rows}\n\\par}}"
            case Figure():
                return self.figure(block)
            case Section():
                raise AssertionError("sections are written by their section")

    def table(self, table: Table) -> str:
        shares = column_shares(table)
        kinds = [
            rf">{{\raggedright\arraybackslash}}p{{{share:.3f}\linewidth}}"
            if share
            else "r"
            if k in table.numeric
            else "l"
            for k, share in enumerate(shares)
        ]
        head = " & ".join(rf"\textbf{{{self.line(x)}}}" for x in table.head)
        rows = " \\\\\n".join(" & ".join(map(self.line, row)) for row in table.rows)
        caption = rf"\captionline{{\textbf{{{escaped(self.numbering.of(table))}}} {self.line(table.caption)}}}"
        return (
            f"{caption}\\nopagebreak\n{{\\small\n\\begin{{longtable}}{{{''.join(kinds)}}}\n"
            f"\\hline\n{head} \\\\\n\\hline\n\\endhead\n{rows} \\\\\n\\hline\n\\end{{longtable}}}}"
        )

    def equation(self, equation: Equation) -> str:
        rows = []
        for line in equation.lines:
            right = to_latex_math(line.right, self.language)
            if line.left is None:
                rows.append(rf"& \qquad {right}")
            else:
                rows.append(f"{to_latex_math(line.left, self.language)} &= {right}")
        body = " \\\\\n".join(rows)
        return f"\\begin{{align*}}\n{body}\n\\end{{align*}}"

    def figure(self, figure: Figure) -> str:
        name, share = figure.picture.name, figure.picture.width
        caption = rf"\textbf{{{escaped(self.numbering.of(figure))}}} {self.line(figure.caption)}"
        return (
            "\\begin{center}\n"
            f"\\includegraphics[width={share:.2f}\\linewidth,height=0.8\\textheight,keepaspectratio]{{figures/{name}.pdf}}\n"
            f"\\nopagebreak\n\\captionline{{{caption}}}\n\\end{{center}}"
        )

    # -- in a line -----------------------------------------------------------------------------------------------------
    def line(self, line: Line) -> str:
        return "".join(map(self.inline, line))

    def inline(self, inline: Inline) -> str:
        match inline:
            case Text(text):
                return escaped(text)
            case Strong(text):
                return rf"\textbf{{{escaped(text)}}}"
            case Emphasis(text):
                return rf"\emph{{{escaped(text)}}}"
            case Code(text):
                return rf"\texttt{{{_typed(text)}}}"
            case Formula(math):
                style = r"\displaystyle " if is_tall(math) else ""
                return rf"\({style}{to_latex_math(math, self.language)}\)"
            case Unit(text):
                parts = unit_parts(text)
                return "".join(escaped(base) + (rf"\textsuperscript{{{escaped(n)}}}" if n else "") for base, n in parts)
            case Value(number, digits):
                found = digits_of(number, digits, self.language)
                power = (
                    ""
                    if found.power is None
                    else rf"~\ensuremath{{\times}}~10\textsuperscript{{{escaped(_minus(found.power))}}}"
                )
                return f"{escaped(found.mantissa)}{power}"


def _minus(power: int) -> str:
    return str(power).replace("-", "−")


def _typed(text: str) -> str:
    """Typewriter text, which may be broken after some signs; no two characters become one."""
    return re.sub(r"(\\_|/|\.|,)(?=\w)", r"\1\\allowbreak{}", escaped(text)).replace("  ", "~ ")
