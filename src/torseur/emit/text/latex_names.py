r"""Names as mathematical symbols.

The rules, in this order:

- digits at the end, or with one word behind them, and whatever follows an underscore become subscripts: ``q1``,
  ``ZZ1R``, ``M1_2``, ``J_motor``;
- ``qd`` and ``qdd``, and an ending ``dot`` or ``ddot``, become dots: ``qd1``, ``vdot``;
- the name of a Greek letter becomes the letter: ``theta``, ``Omega``;
- one letter stays as it is, several are upright: ``XX``, ``tool``;
- a name that fits none of this is set in typewriter type.

>>> [symbol(x) for x in ("q1", "M1_2", "qd1", "theta_2", "XX3", "J_motor")]
['q_{1}', 'M_{1,2}', '\\dot{q}_{1}', '\\theta_{2}', '\\mathrm{XX}_{3}', 'J_{\\mathrm{motor}}']
>>> [symbol(x) for x in ("MX2R", "a1b2", "_x")]
['\\mathrm{MX}_{2\\mathrm{R}}', '\\mathtt{a1b2}', '\\mathtt{\\_x}']
"""

from __future__ import annotations

import re

from torseur.emit.text.dialect import words

__all__ = ["escaped", "symbol"]

_GREEK = words(
    """alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi
    omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega"""
)
_SHORT = {"qd": ("q", 1), "qdd": ("q", 2)}
_DOTS = {1: r"\dot{%s}", 2: r"\ddot{%s}"}


def symbol(name: str) -> str:
    """The symbol of a name."""
    first, *rest = name.split("_")
    match = re.fullmatch(r"([A-Za-z]+)([0-9]*)([A-Za-z]*)", first)
    if match is None or not all(rest):
        return rf"\mathtt{{{escaped(name)}}}"
    stem, digits, tail = match.groups()
    place = digits + (rf"\mathrm{{{tail}}}" if tail else "")
    subscripts = [*([place] if place else []), *(_word(part) for part in rest)]
    return _stem(stem) + (f"_{{{','.join(subscripts)}}}" if subscripts else "")


def _stem(word: str) -> str:
    if word in _SHORT:
        word, dots = _SHORT[word]
    elif word.endswith("ddot") and len(word) > 4:
        word, dots = word[:-4], 2
    elif word.endswith("dot") and len(word) > 3:
        word, dots = word[:-3], 1
    else:
        dots = 0
    return _DOTS[dots] % _word(word) if dots else _word(word)


def _word(word: str) -> str:
    if word in _GREEK:
        return f"\\{word}"
    return word if len(word) == 1 or word.isdigit() else rf"\mathrm{{{word}}}"


def escaped(text: str) -> str:
    """Plain text for LaTeX.

    >>> print(escaped("a_b"))
    a\\_b
    """
    return text.replace("_", r"\_")
