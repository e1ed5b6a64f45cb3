"""Names as symbols in plain text: Greek letters, indices below, dots above.

>>> [unicode_symbol(x) for x in ("theta1", "th1", "q_2", "Gamma", "J_motor", "tool")]
['θ₁', 'θ₁', 'q₂', 'Γ', 'J_motor', 'tool']
>>> unicode_symbol("theta1", dots=2), unicode_symbol("phi_front", dots=1)
('θ̈₁', 'φ̇_front')
"""

from __future__ import annotations

import re

__all__ = ["GREEK", "SHORT_GREEK", "unicode_symbol"]

_NAMES = """alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi
psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega"""
GREEK = dict(zip(_NAMES.split(), "αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΥΦΨΩ", strict=True))
SHORT_GREEK = {"th": "theta"}
"""The joint angles of SYMORO+ and of the robots read from its files."""
_BELOW = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_DOTS = {0: "", 1: "\u0307", 2: "\u0308"}


def unicode_symbol(name: str, dots: int = 0) -> str:
    """The symbol of a name, or of its derivative in time; words stay words."""
    match = re.fullmatch(r"([A-Za-z]+)_?(\d*)((?:_[A-Za-z]\w*)?)", name)
    stem = SHORT_GREEK.get(match[1], match[1]) if match else name
    if match is None or (len(stem) > 1 and stem not in GREEK):
        return name if not dots else f"{'d' * dots}{name}"
    return GREEK.get(stem, stem) + _DOTS[dots] + match[2].translate(_BELOW) + match[3]
