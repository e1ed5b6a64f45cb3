"""How text and formulas are set: digits, units and punctuation of each language; how wide formulas and columns are.

French has a decimal comma, a thin space between groups of three digits, and spaces that do not break before colons,
semicolons, question and exclamation marks and inside its quotation marks. Widths are rough: what counts is that no line
runs out of the page. Formulas are broken before a plus or minus of the outermost sum.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

from torseur.views.report import document as d
from torseur.views.report import math as m
from torseur.views.report.document import Code, Emphasis, Language, Line, Strong, Text, Unit, Value

__all__ = [
    "NARROW",
    "NO_BREAK",
    "PAGE",
    "Digits",
    "broken",
    "column_shares",
    "decimal",
    "digits_of",
    "plain",
    "set_words",
    "unit_parts",
    "width",
]

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
            digits = digits_of(inline.number, inline.digits, language)
            texts.append(digits.mantissa + (f"e{digits.power}" if digits.power is not None else ""))
    return "".join(texts)


PAGE = 41.0
"""Of a line of equations, em."""
_SMALL = 0.72
_WIDE_SIGNS = frozenset("+−=<>≤≥≠⋅×∧∨≈∈↦±")
_TABLE = 92.0
"""Characters of a line of a table."""
_GAP = 2.5


def width(math: m.Math) -> float:
    """About how wide a formula is, em."""
    match math:
        case m.Word(text, look):
            letter = 0.6 if look in (m.Look.ITALIC, m.Look.TYPEWRITER) else 0.53
            return letter * len(text) + (0.2 if look is m.Look.FUNCTION else 0.0)
        case m.Number(text):
            return 0.5 * len(text)
        case m.Sign(text):
            return 1.25 if text in _WIDE_SIGNS else 0.45
        case m.Space(wide):
            return 1.0 if wide else 0.17
        case m.Row(items):
            return sum(map(width, items))
        case m.Fraction(above, below):
            return 0.3 + max(width(above), width(below))
        case m.Root(inside):
            return 0.9 + width(inside)
        case m.Scripted(base, below, above):
            return width(base) + _SMALL * max(width(x) if x is not None else 0.0 for x in (below, above))
        case m.Dotted(base, _):
            return width(base)
        case m.Fenced(_, inside, _):
            return 0.95 + width(inside)
        case m.Array(rows, _, _):
            columns = max((len(row) for row in rows), default=0)
            widths = [max((width(row[k]) for row in rows if k < len(row)), default=0.0) for k in range(columns)]
            return 1.0 + sum(widths) + max(columns - 1, 0)


def broken(math: m.Math, room: float = PAGE) -> list[m.Math]:
    """A formula in lines of at most some width, as far as the terms of its sum allow."""
    lines: list[list[m.Math]] = [[]]
    taken = 0.0
    for term in _terms(math):
        size = sum(map(width, term))
        if lines[-1] and taken + size > room:
            lines.append([])
            taken = 0.0
        lines[-1] += term
        taken += size
    return [line[0] if len(line) == 1 else m.Row(tuple(line)) for line in lines]


def _terms(math: m.Math) -> Iterator[list[m.Math]]:
    """The terms of a sum, each with the sign before it."""
    if not isinstance(math, m.Row):
        yield [math]
        return
    term: list[m.Math] = []
    for item in math.items:
        if term and item in (m.Sign("+"), m.Sign("−")) and not _is_open(term[-1]):
            yield term
            term = []
        term.append(item)
    if term:
        yield term


def _is_open(item: m.Math) -> bool:
    """Whether a sign after it belongs to what follows: 2 ⋅ -3, a = -b."""
    return isinstance(item, m.Sign) and item.text in _WIDE_SIGNS


def column_shares(table: d.Table) -> list[float | None]:
    """For each column its share of the width of the text, or None where it is as wide as its contents.

    No column is narrower than its longest word, as far as there is room; what is left is shared by the lengths of what
    has to be broken.
    """
    rows = (table.head, *table.rows)
    columns = range(len(table.head))
    whole = [max(sum(map(_length, row[k])) for row in rows) for k in columns]
    least = [max(_longest_word(row[k]) for row in rows) for k in columns]
    room = _TABLE - _GAP * len(whole)
    if sum(whole) <= room:
        return [None] * len(whole)
    least = [min(size, 0.6 * room) for size in least]
    left = max(room - sum(least), 0.0)
    # The square root: long columns take more lines rather than all of the room.
    wishes = [(a - b) ** 0.5 if a > b else 0.0 for a, b in zip(whole, least, strict=True)]
    sizes = [size + left * wish / max(sum(wishes), 1e-9) for size, wish in zip(least, wishes, strict=True)]
    scale = min(1.0, room / sum(sizes))
    return [
        None if size >= natural or k in table.numeric else scale * size / _TABLE
        for k, (size, natural) in enumerate(zip(sizes, whole, strict=True))
    ]


def _length(inline: d.Inline) -> float:
    """In characters."""
    match inline:
        case d.Formula(math):
            return 2.1 * width(math)
        case d.Value(_, digits):
            return digits + 3.0
        case d.Code(text):
            return 1.2 * len(text)
        case d.Text(text) | d.Strong(text) | d.Emphasis(text) | d.Unit(text):
            return float(len(text))


def _longest_word(line: d.Line) -> float:
    """What must not be broken, in characters; formulas are broken at spaces only, as words are."""
    longest = 4.0
    for inline in line:
        if isinstance(inline, (d.Text, d.Strong, d.Emphasis)):
            longest = max([longest, *(float(len(word)) for word in inline.text.split())])
        elif isinstance(inline, d.Code):
            longest = max([longest, *(1.2 * len(word) for word in inline.text.split())])
        else:
            longest = max(longest, _length(inline))
    return longest
