"""Units in the heads of columns: what to multiply by to get SI, and what is measured.

A unit is a product of symbols with whole powers, as model files write them: ``N m s/rad``, ``deg/s2``, ``kg*m^2``.
Angles count as a dimension, so that degrees are not taken for metres; in products such as N m/rad they may be left out.

>>> unit_of("deg/s")
Unit(factor=0.017453292519943295, dimensions=(('rad', 1), ('s', -1)))
>>> unit_of("kN mm") == unit_of("N m")
True
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from torseur.errors import ArgumentError

__all__ = ["Unit", "alike", "unit_of"]

Dimensions = tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Unit:
    """A unit.

    Attributes:
        factor: a value in it times this is one in SI.
        dimensions: powers of kg, m, s, rad, A, K that are not zero.
    """

    factor: float
    dimensions: Dimensions


_G = 9.80665
_KNOWN: dict[str, tuple[float, dict[str, int]]] = {
    "m": (1.0, {"m": 1}),
    "in": (0.0254, {"m": 1}),
    "ft": (0.3048, {"m": 1}),
    "g": (1e-3, {"kg": 1}),
    "t": (1e3, {"kg": 1}),
    "s": (1.0, {"s": 1}),
    "min": (60.0, {"s": 1}),
    "h": (3600.0, {"s": 1}),
    "rad": (1.0, {"rad": 1}),
    "deg": (math.pi / 180.0, {"rad": 1}),
    "°": (math.pi / 180.0, {"rad": 1}),
    "rev": (2.0 * math.pi, {"rad": 1}),
    "tr": (2.0 * math.pi, {"rad": 1}),
    "rpm": (2.0 * math.pi / 60.0, {"rad": 1, "s": -1}),
    "Hz": (1.0, {"s": -1}),
    "N": (1.0, {"kg": 1, "m": 1, "s": -2}),
    "Nm": (1.0, {"kg": 1, "m": 2, "s": -2}),
    "kgf": (_G, {"kg": 1, "m": 1, "s": -2}),
    "lbf": (4.4482216152605, {"kg": 1, "m": 1, "s": -2}),
    "J": (1.0, {"kg": 1, "m": 2, "s": -2}),
    "W": (1.0, {"kg": 1, "m": 2, "s": -3}),
    "Pa": (1.0, {"kg": 1, "m": -1, "s": -2}),
    "A": (1.0, {"A": 1}),
    "V": (1.0, {"kg": 1, "m": 2, "s": -3, "A": -1}),
    "K": (1.0, {"K": 1}),
    "gn": (_G, {"m": 1, "s": -2}),
    "1": (1.0, {}),
    "%": (1e-2, {}),
}
_PREFIXES = {"k": 1e3, "M": 1e6, "c": 1e-2, "m": 1e-3, "µ": 1e-6, "u": 1e-6, "d": 1e-1}
_WITH_PREFIX = {"m", "g", "s", "rad", "N", "Nm", "J", "W", "Pa", "A", "V", "Hz"}
_SYMBOL = re.compile(r"([^\d\s*/^().·-]+|1|%)(?:\^?\(?(-?\d+)\)?)?")


def unit_of(text: str) -> Unit:
    """A unit from its text; one that is not known is an error."""
    factor, total = 1.0, dict[str, int]()
    text = "1" if text.strip() == "-" else text
    above, *below = text.replace("²", "2").replace("³", "3").split("/")
    for side, part in ((1, above), *((-1, piece) for piece in below)):
        rest = _SYMBOL.sub("", part)
        if re.search(r"[^\s*().·]", rest):
            raise _unknown(text, rest.strip())
        for symbol, power in _SYMBOL.findall(part):
            size, dimensions = _symbol(symbol, text)
            n = side * int(power or 1)
            factor *= size**n
            for name, m in dimensions.items():
                total[name] = total.get(name, 0) + n * m
    return Unit(factor, tuple(sorted((name, n) for name, n in total.items() if n)))


def alike(a: Unit, b: Unit) -> bool:
    """Whether two units measure the same; an angle may be left out in products with other dimensions."""

    def without_angle(unit: Unit) -> Dimensions:
        return tuple(x for x in unit.dimensions if x[0] != "rad")

    if a.dimensions == b.dimensions:
        return True
    has_force = any(name == "kg" for name, _ in a.dimensions)
    return has_force and without_angle(a) == without_angle(b)


def _symbol(symbol: str, text: str) -> tuple[float, dict[str, int]]:
    if symbol in _KNOWN:
        return _KNOWN[symbol]
    if symbol == "kg":
        return 1.0, {"kg": 1}
    prefix, rest = _PREFIXES.get(symbol[0]), symbol[1:]
    if prefix is not None and rest in _WITH_PREFIX:
        size, dimensions = _KNOWN[rest]
        return prefix * size, dimensions
    raise _unknown(text, symbol)


def _unknown(text: str, symbol: str) -> ArgumentError:
    return ArgumentError(
        f"'{symbol}' is not a known unit",
        got=text,
        expected=f"products of {', '.join(sorted(_KNOWN))}, kg, with prefixes",
    )
