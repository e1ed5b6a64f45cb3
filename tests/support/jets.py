"""Numbers that move: value, rate and second rate, carried through formulas. For `plain`: nothing is differenced."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from torseur.describe import Formula

__all__ = ["Jet", "jet_of"]


@dataclass(frozen=True)
class Jet:
    """A number that moves: its value and its first and second derivative (...) in time."""

    x: float
    d: Any = 0.0
    dd: Any = 0.0

    @classmethod
    def of(cls, value: Any) -> Jet:
        return value if isinstance(value, Jet) else cls(float(value))

    def through(self, f: float, slope: float, curve: float) -> Jet:
        """f(x) with f' = slope, f'' = curve."""
        return Jet(f, slope * self.d, slope * self.dd + curve * self.d**2)

    def __add__(self, other: Any) -> Jet:
        o = Jet.of(other)
        return Jet(self.x + o.x, self.d + o.d, self.dd + o.dd)

    def __mul__(self, other: Any) -> Jet:
        o = Jet.of(other)
        return Jet(self.x * o.x, self.d * o.x + self.x * o.d, self.dd * o.x + 2 * self.d * o.d + self.x * o.dd)

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> Jet:
        return self * -1.0

    def __sub__(self, other: Any) -> Jet:
        return self + Jet.of(other) * -1.0

    def __rsub__(self, other: Any) -> Jet:
        return -self + other

    def __pow__(self, n: float) -> Jet:
        return self.through(self.x**n, n * self.x ** (n - 1), n * (n - 1) * self.x ** (n - 2))

    def __truediv__(self, other: Any) -> Jet:
        return self * Jet.of(other) ** -1

    def __rtruediv__(self, other: Any) -> Jet:
        return self**-1 * other


def _lifted(function: Any, slope: Any, curve: Any) -> Any:
    def apply(value: Any) -> Any:
        j = value if isinstance(value, Jet) else None
        return function(value) if j is None else j.through(function(j.x), slope(j.x), curve(j.x))

    return apply


_OF_JETS: dict[str, Any] = {
    "pi": math.pi,
    "deg": math.pi / 180,
    "sin": _lifted(math.sin, math.cos, lambda x: -math.sin(x)),
    "cos": _lifted(math.cos, lambda x: -math.sin(x), lambda x: -math.cos(x)),
    "sqrt": _lifted(math.sqrt, lambda x: 0.5 * x**-0.5, lambda x: -0.25 * x**-1.5),
    "atan": _lifted(math.atan, lambda x: 1 / (1 + x * x), lambda x: -2 * x / (1 + x * x) ** 2),
    "asin": _lifted(math.asin, lambda x: (1 - x * x) ** -0.5, lambda x: x * (1 - x * x) ** -1.5),
}


def jet_of(value: Any, names: Mapping[str, Any]) -> Jet:
    """A number or formula of numbers that move."""
    if not isinstance(value, Formula):
        return Jet.of(value)
    return Jet.of(eval(value.text.replace("^", "**"), {"__builtins__": {}}, {**_OF_JETS, **names}))
