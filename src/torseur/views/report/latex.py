r"""A report as LaTeX source, for any of pdfLaTeX, XeLaTeX and LuaLaTeX.

It needs nothing but amsmath, graphicx, longtable, geometry and hyperref, which every TeX has; French hyphenation,
scalable fonts and better spacing are used where they are installed.
"""

from __future__ import annotations

import re

from torseur.views.report import document as d
from torseur.views.report import math as m
from torseur.views.report.layout import NARROW, Digits, column_shares, plain
from torseur.views.report.writer import MathWriter, Writer

__all__ = ["escaped", "to_latex_document", "to_latex_math"]

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
_SYMBOLS = {
    **{sign: f"\\{name}" for name, sign in m.SIGNS.items() if name not in ("wedge", "lVert", "rVert")},
    **{letter: f"\\{name}" for name, letter in m.GREEK.items()},
    "‖": r"\Vert",
    "−": "-",
    "·": r"\cdot",
    "→": r"\to",
    "√": r"\surd",
    "≪": r"\ll",
    "≫": r"\gg",
    "⁻": "^{-}",
    **{c: f"^{{{n}}}" for n, c in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹") if c not in "¹²³"},
    **{c: f"_{{{n}}}" for n, c in enumerate("₀₁₂₃₄₅₆₇₈₉")},
}
"""Unicode -> what it is in a formula."""
_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    '"': r"\textquotedbl{}",
    "`": r"\textasciigrave{}",
    "|": r"\textbar{}",
    "[": "{[}",
    "]": "{]}",
    "\u00a0": "~",
    "\u202f": r"\,",
    "\u2013": "--",
    "\u2014": "---",
    "\u2018": "`",
    "\u2019": "'",
    "\u2026": r"\dots{}",
    "\u20ac": r"\texteuro{}",
    "\u0153": r"\oe{}",
    "\u0152": r"\OE{}",
    "\u2032": r"\ensuremath{'}",
}
_SAFE = frozenset(chr(c) for c in range(0xA1, 0x100)) - frozenset("\u00ad¤¦")
_PLAIN = frozenset("+=<>,;:!'()[]/|.*")
_LOOKS = {
    m.Look.ITALIC: (r"\mathit{%s}", r"\textit{%s}"),
    m.Look.UPRIGHT: (r"\mathrm{%s}", r"\textrm{%s}"),
    m.Look.BOLD: (r"\boldsymbol{%s}", r"\textbf{%s}"),
    m.Look.TYPEWRITER: (r"\mathtt{%s}", r"\texttt{%s}"),
    m.Look.FUNCTION: (r"\operatorname{%s}", r"\textrm{%s}"),
    m.Look.TEXT: (r"\text{%s}", r"%s"),
}
"""How a name is set, and how a word with other characters is: as text."""


def to_latex_document(document: d.Document) -> str:
    """The source; figures are in ``figures/NAME.pdf`` beside it."""
    return _Latex(document).text()


class _Latex(Writer):
    def text(self) -> str:
        document = self.document
        head = _HEAD % {"language": _FRENCH if self.language is d.Language.FRENCH else ""}
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

    def section(self, section: d.Section, depth: int = 0) -> str:
        command = ("section", "subsection", "subsubsection")[min(depth, 2)]
        title = self.line(section.title)
        pieces = [f"\n\\{command}{{\\texorpdfstring{{{title}}}{{{escaped(plain(section.title, self.language))}}}}}"]
        for block in section.blocks:
            pieces.append(self.section(block, depth + 1) if isinstance(block, d.Section) else self.block(block))
        return "\n\n".join(pieces)

    def paragraph(self, line: str) -> str:
        return line

    def bullets(self, items: list[str]) -> str:
        rows = "\n".join(rf"  \item {{}}{item}" for item in items)
        return f"\\begin{{itemize}}\n{rows}\n\\end{{itemize}}"

    def listing(self, text: str) -> str:
        rows = "\\\\\n".join(rf"\mbox{{}}\texttt{{{_typed(line)}}}" for line in text.splitlines())
        return f"{{\\footnotesize\\raggedright\n{rows}\n\\par}}"

    def table(self, table: d.Table) -> str:
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
        caption = rf"\captionline{{\textbf{{{escaped(self.number_of(table))}}} {self.line(table.caption)}}}"
        return (
            f"{caption}\\nopagebreak\n{{\\small\n\\begin{{longtable}}{{{''.join(kinds)}}}\n"
            f"\\hline\n{head} \\\\\n\\hline\n\\endhead\n{rows} \\\\\n\\hline\n\\end{{longtable}}}}"
        )

    def equation(self, equation: d.Equation) -> str:
        rows = []
        for line in equation.lines:
            right = to_latex_math(line.right, self.language)
            if line.left is None:
                rows.append(rf"& \qquad {right}")
            else:
                rows.append(f"{to_latex_math(line.left, self.language)} &= {right}")
        body = " \\\\\n".join(rows)
        return f"\\begin{{align*}}\n{body}\n\\end{{align*}}"

    def figure(self, figure: d.Figure) -> str:
        name, share = figure.picture.name, figure.picture.width
        caption = rf"\textbf{{{escaped(self.number_of(figure))}}} {self.line(figure.caption)}"
        return (
            "\\begin{center}\n"
            f"\\includegraphics[width={share:.2f}\\linewidth,height=0.8\\textheight,keepaspectratio]{{figures/{name}.pdf}}\n"
            f"\\nopagebreak\n\\captionline{{{caption}}}\n\\end{{center}}"
        )

    # -- in a line -----------------------------------------------------------------------------------------------------
    def plain(self, text: str) -> str:
        return escaped(text)

    def strong(self, text: str) -> str:
        return rf"\textbf{{{escaped(text)}}}"

    def emphasis(self, text: str) -> str:
        return rf"\emph{{{escaped(text)}}}"

    def code(self, text: str) -> str:
        return rf"\texttt{{{_typed(text)}}}"

    def formula(self, math: m.Math) -> str:
        style = r"\displaystyle " if m.is_tall(math) else ""
        return rf"\({style}{to_latex_math(math, self.language)}\)"

    def raised(self, base: str, exponent: str) -> str:
        return escaped(base) + (rf"\textsuperscript{{{escaped(exponent)}}}" if exponent else "")

    def value(self, digits: Digits) -> str:
        if digits.power is None:
            return escaped(digits.mantissa)
        power = escaped(str(digits.power).replace("-", "−"))
        return rf"{escaped(digits.mantissa)}~\ensuremath{{\times}}~10\textsuperscript{{{power}}}"


def _typed(text: str) -> str:
    """Typewriter text, which may be broken after some signs; no two characters become one."""
    return re.sub(r"(\\_|/|\.|,)(?=\w)", r"\1\\allowbreak{}", escaped(text)).replace("  ", "~ ")


def to_latex_math(math: m.Math, language: d.Language) -> str:
    """A formula, without what begins and ends it."""
    return _LatexMath(language).math(math)


class _LatexMath(MathWriter):
    def word(self, text: str, look: m.Look) -> str:
        name, words = _LOOKS[look]
        if look is m.Look.FUNCTION and text in m.FUNCTIONS:
            return f"\\{text}"
        if len(text) == 1 and text in _SYMBOLS:
            symbol = _SYMBOLS[text] + " "
            return name % symbol if look is m.Look.BOLD else symbol
        if re.fullmatch(r"\w*", text, re.ASCII) and look is not m.Look.TEXT:
            return text if look is m.Look.ITALIC and len(text) == 1 and text != "_" else name % text.replace("_", r"\_")
        return rf"\text{{{words % escaped(text)}}}"

    def sign(self, text: str) -> str:
        if text == "−":
            return "-"
        if text in _SYMBOLS:
            return _SYMBOLS[text] + " "
        return text if text in _PLAIN else rf"\text{{{escaped(text)}}}"

    def number(self, digits: str) -> str:
        return digits.replace(",", "{,}").replace(NARROW, r"\,")

    def space(self, wide: bool) -> str:
        return r"\quad " if wide else r"\, "

    def row(self, items: list[str]) -> str:
        return " ".join(items)

    def fraction(self, above: str, below: str) -> str:
        return rf"\frac{{{above}}}{{{below}}}"

    def root(self, inside: str) -> str:
        return rf"\sqrt{{{inside}}}"

    def scripted(self, base: str, below: str | None, above: str | None) -> str:
        lower = "" if below is None else f"_{{{below}}}"
        upper = "" if above is None else f"^{{{above}}}"
        return f"{{{base}}}{lower}{upper}"

    def dotted(self, base: str, dots: int) -> str:
        return rf"\{'d' * dots}ot{{{base}}}"

    def fenced(self, left: str, inside: str, right: str) -> str:
        return rf"\left{_fence(left)} {inside} \right{_fence(right)}"

    def array(self, cells: list[list[str]], array: m.Array) -> str:
        body = r" \\ ".join(" & ".join(row) for row in cells)
        if array.is_cases:
            return rf"\begin{{cases}} {body} \end{{cases}}"
        text = rf"\begin{{array}}{{{'c' * max(map(len, cells), default=1)}}} {body} \end{{array}}"
        return rf"\left{_fence(array.left)} {text} \right{_fence(array.right)}" if array.left or array.right else text


def _fence(text: str) -> str:
    if not text:
        return "."
    return _SYMBOLS.get(text) or (f"\\{text}" if text in "{}" else text)


def escaped(text: str) -> str:
    r"""Plain text for LaTeX: nothing in it is a command, and nothing is left out.

    >>> print(escaped(r"50 % of \input{x} & θ"))
    50 \% of \textbackslash{}input\{x\} \& \ensuremath{\theta}
    """
    pieces = []
    for c in text:
        if c in _SPECIAL:
            pieces.append(_SPECIAL[c])
        elif c in _SYMBOLS:
            pieces.append(rf"\ensuremath{{{_SYMBOLS[c]}}}")
        elif c.isascii() or c in _SAFE:
            pieces.append(c if c.isprintable() else " ")
        elif c.isprintable():
            pieces.append(rf"\othercharacter{{{ord(c):04X}}}")
        else:
            pieces.append(" ")
    # What would become one character: --, ,,, '', !`, ?`
    return re.sub(r"([-,'])(?=\1)", r"\1{}", "".join(pieces))
