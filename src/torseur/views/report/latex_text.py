"""Plain text for LaTeX."""

from __future__ import annotations

import re

from torseur.views.report.math import GREEK, SIGNS

__all__ = ["SYMBOLS", "escaped"]

SYMBOLS = {
    **{sign: f"\\{name}" for name, sign in SIGNS.items() if name not in ("wedge", "lVert", "rVert")},
    **{letter: f"\\{name}" for name, letter in GREEK.items()},
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


def escaped(text: str) -> str:
    r"""Plain text for LaTeX: nothing in it is a command, and nothing is left out.

    >>> print(escaped(r"50 % of \input{x} & θ"))
    50 \% of \textbackslash{}input\{x\} \& \ensuremath{\theta}
    """
    pieces = []
    for c in text:
        if c in _SPECIAL:
            pieces.append(_SPECIAL[c])
        elif c in SYMBOLS:
            pieces.append(rf"\ensuremath{{{SYMBOLS[c]}}}")
        elif c.isascii() or c in _SAFE:
            pieces.append(c if c.isprintable() else " ")
        elif c.isprintable():
            pieces.append(rf"\othercharacter{{{ord(c):04X}}}")
        else:
            pieces.append(" ")
    # What would become one character: --, ,,, '', !`, ?`
    return re.sub(r"([-,'])(?=\1)", r"\1{}", "".join(pieces))
