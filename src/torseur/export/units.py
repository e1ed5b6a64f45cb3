"""Units in terms of those of the SI, which importers of FMUs convert by."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["BASES", "BaseUnit", "base_unit"]

BASES = ("kg", "m", "s", "A", "K", "mol", "cd", "rad")
"""In the order of the standard."""


@dataclass(frozen=True)
class BaseUnit:
    """A product of powers of base units, and what it is multiplied by."""

    exponents: Mapping[str, int] = field(default_factory=dict)
    factor: float = 1.0

    def times(self, other: BaseUnit, power: int) -> BaseUnit:
        powers = {b: self.exponents.get(b, 0) + power * other.exponents.get(b, 0) for b in BASES}
        return BaseUnit({b: n for b, n in powers.items() if n}, self.factor * other.factor**power)


def _known() -> dict[str, BaseUnit]:
    """Without g, a gram or an acceleration, and C, a coulomb or a degree Celsius."""
    found = {base: BaseUnit({base: 1}) for base in BASES}
    newton, second = {"kg": 1, "m": 1, "s": -2}, {"s": 1}
    found |= {"1": BaseUnit(), "N": BaseUnit(newton), "J": BaseUnit({**newton, "m": 2}), "Hz": BaseUnit({"s": -1})}
    found |= {"W": BaseUnit({"kg": 1, "m": 2, "s": -3}), "Pa": BaseUnit({"kg": 1, "m": -1, "s": -2})}
    found["V"] = BaseUnit({"kg": 1, "m": 2, "s": -3, "A": -1})
    found |= {"Ohm": BaseUnit({"kg": 1, "m": 2, "s": -3, "A": -2}), "H": BaseUnit({"kg": 1, "m": 2, "s": -2, "A": -2})}
    found["Ω"] = found["Ohm"]
    found |= {"deg": BaseUnit({"rad": 1}, math.pi / 180.0), "°": BaseUnit({"rad": 1}, math.pi / 180.0)}
    found |= {"tr": BaseUnit({"rad": 1}, 2.0 * math.pi), "rev": BaseUnit({"rad": 1}, 2.0 * math.pi)}
    found |= {"min": BaseUnit(second, 60.0), "h": BaseUnit(second, 3600.0), "ms": BaseUnit(second, 1e-3)}
    found |= {"mm": BaseUnit({"m": 1}, 1e-3), "cm": BaseUnit({"m": 1}, 1e-2), "km": BaseUnit({"m": 1}, 1e3)}
    found |= {"t": BaseUnit({"kg": 1}, 1e3), "%": BaseUnit({}, 1e-2)}
    found |= {f"k{name}": BaseUnit(found[name].exponents, 1e3) for name in ("N", "J", "W", "Pa", "V", "Hz")}
    found |= {f"M{name}": BaseUnit(found[name].exponents, 1e6) for name in ("N", "J", "W", "Pa")}
    return found


KNOWN = _known()
_FACTOR = re.compile(r"([A-Za-zΩ°%]+|1)(?:\^?(-?\d+))?")


def base_unit(unit: str) -> BaseUnit | None:
    """A unit as files write it; None of one that is not known, or could be read in two ways.

    >>> dict(base_unit("N m").exponents), dict(base_unit("kg m2/s2").exponents)
    ({'kg': 1, 'm': 2, 's': -2}, {'kg': 1, 'm': 2, 's': -2})
    >>> base_unit("km/h").factor == 1000 / 3600, base_unit("N/m s"), base_unit("apples")
    (True, None, None)
    """
    found = BaseUnit()
    for place, part in enumerate(unit.strip().split("/")):
        factors = re.split(r"\s*[·*]\s*|\s+", re.sub(r"^\s*\((.*)\)\s*$", r"\1", part).strip())
        if place and len(factors) > 1 and "(" not in part:  # what is below the line?
            return None
        for factor in factors:
            match = _FACTOR.fullmatch(factor)
            if match is None or match[1] not in KNOWN:
                return None
            found = found.times(KNOWN[match[1]], int(match[2] or 1) * (-1 if place else 1))
    return found
