"""Numbers, units and punctuation as each language sets them.

French has a decimal comma, a thin space between groups of three digits, and spaces that do not break before colons,
semicolons, question and exclamation marks and inside its quotation marks.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from torseur.views.report.document import Code, Emphasis, Language, Line, Strong, Text, Unit, Value

__all__ = ["NARROW", "NO_BREAK", "Digits", "decimal", "digits_of", "plain", "set_words", "unit_parts"]

NO_BREAK, NARROW = "\N{NO-BREAK SPACE}", "\N{NARROW NO-BREAK SPACE}"
_GROUPED = 5
"""Digits before the decimal mark from which on they are grouped in French."""


@dataclass(frozen=True)
class Digits:
    """A number as it is printed: what stands before times ten to the power, and the power if there is one."""

    mantissa: str
    power: int | None = None


def decimal(text: str, language: Language) -> str:
    """Digits with a point, in a language.

    >>> decimal("12345.678", Language.FRENCH)
    '12\\u202f345,678'
    >>> decimal("12345.678", Language.ENGLISH)
    '12345.678'
    """
    if language is not Language.FRENCH:
        return text
    sign, whole, point, rest = re.fullmatch(r"([-−]?)(\d*)(\.?)(.*)", text).groups()  # type: ignore[union-attr]
    if len(whole) >= _GROUPED:
        whole = re.sub(r"(?<=\d)(?=(\d{3})+$)", NARROW, whole)
    return f"{sign}{whole}{',' if point else ''}{rest}"


def digits_of(value: float, digits: int, language: Language) -> Digits:
    """A number with so many digits; very large and very small ones with a power of ten.

    >>> digits_of(0.05, 6, Language.FRENCH), digits_of(-1.5e-9, 3, Language.ENGLISH)
    (Digits(mantissa='0,05', power=None), Digits(mantissa='−1.5', power=-9))
    """
    if not math.isfinite(value):
        return Digits("∞" if value > 0 else "−∞" if value < 0 else "–")
    text = f"{value:.{digits}g}"
    mantissa, e, power = text.partition("e")
    if not e and value and abs(value) < 1e-3:
        mantissa, e, power = f"{value:.{digits - 1}e}".partition("e")
        mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    if mantissa in ("-0", "0"):
        return Digits("0")
    shown = decimal(mantissa.replace("-", "−"), language)
    return Digits(shown, int(power)) if e else Digits(shown)


def unit_parts(unit: str) -> list[tuple[str, str]]:
    """A unit in pieces, each with its exponent.

    >>> unit_parts("kg m2/s")
    [('kg⋅m', '2'), ('/s', '')]
    >>> unit_parts("N s")
    [('N⋅s', '')]
    """
    parts, text, place = [], re.sub(r"(?<=\S) (?=\S)", "⋅", unit.strip()), 0
    for match in re.finditer(r"(?<=[A-Za-zµΩ])(?:\^|\*\*)?(-?\d+)(?![A-Za-z0-9])", text):
        parts.append((text[place : match.start()], match[1].replace("-", "−")))
        place = match.end()
    rest = text[place:]
    return [*parts, (rest, "")] if rest or not parts else parts


def set_words(text: str, language: Language) -> str:
    """Our own words with the spaces that their language wants before punctuation.

    >>> set_words("Vitesses : voir « plus loin » ; non ?", Language.FRENCH)
    'Vitesses\\xa0: voir «\\xa0plus loin\\xa0»\\u202f; non\\u202f?'
    """
    if language is not Language.FRENCH:
        return text
    text = re.sub(r" (?=:)", NO_BREAK, text)
    text = re.sub(r" (?=[;?!])", NARROW, text)
    return text.replace("« ", f"«{NO_BREAK}").replace(" »", f"{NO_BREAK}»")


def plain(line: Line, language: Language) -> str:
    """Words alone, for titles of windows and descriptions of pictures."""
    texts = []
    for inline in line:
        if isinstance(inline, (Text, Strong, Emphasis, Code, Unit)):
            texts.append(inline.text)
        elif isinstance(inline, Value):
            found = digits_of(inline.number, inline.digits, language)
            texts.append(found.mantissa + (f"e{found.power}" if found.power is not None else ""))
    return "".join(texts)
