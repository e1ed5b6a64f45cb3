"""Modes of a linear model: eigenvalue, frequency, damping and shape; and whether it is stable."""

from __future__ import annotations

import cmath
import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

__all__ = ["Mode", "Stability", "modes_of", "stability_of", "table_of"]

Array = NDArray[np.float64]

NEUTRAL = 1e-7
"""Real parts below this part of the largest eigenvalue are zeros (or of 1 rad/s, if that is larger)."""


class Stability(Enum):
    """What small disturbances do."""

    STABLE = "small disturbances die out"
    NEUTRAL = "small disturbances neither die out nor grow, to first order"
    UNSTABLE = "some small disturbances grow"


@dataclass(frozen=True)
class Mode:
    """A way in which a linear system moves by itself: shape * exp(eigenvalue t), its real part.

    Of a pair of conjugate eigenvalues the one with the positive imaginary part stands for both.

    Attributes:
        eigenvalue: the pole alpha + i omega, 1/s.
        shape: displacement of every coordinate (along its speed), the largest is 1; complex: amplitude and phase.
    """

    eigenvalue: complex
    shape: dict[str, complex]

    @property
    def frequency(self) -> float:
        """Of the undamped motion, |eigenvalue| / 2 pi, Hz; 0 if it does not oscillate."""
        return abs(self.eigenvalue) / (2.0 * math.pi) if self.eigenvalue.imag else 0.0

    @property
    def damped_frequency(self) -> float:
        """At which it oscillates, Hz."""
        return abs(self.eigenvalue.imag) / (2.0 * math.pi)

    @property
    def damping(self) -> float:
        """Damping ratio -alpha / |eigenvalue|: 1 dies out without oscillating, 0 goes on, negative grows."""
        return -self.eigenvalue.real / abs(self.eigenvalue) if self.eigenvalue else 0.0

    @property
    def amplitudes(self) -> dict[str, float]:
        return {name: abs(x) for name, x in self.shape.items()}

    @property
    def phases(self) -> dict[str, float]:
        """rad, from the coordinate that moves most."""
        return {name: cmath.phase(x) for name, x in self.shape.items()}


def modes_of(A: Array, displacements: Array, names: Sequence[str]) -> tuple[Mode, ...]:
    """The modes, by eigenvalue: oscillations first, slow to fast, then the others, unstable ones first.

    Args:
        A: of dx/dt = A x.
        displacements: (coordinates, states): the displacements of all coordinates by the states.
        names: of those coordinates.
    """
    if not A.size:
        return ()
    values, vectors = np.linalg.eig(A)
    modes = []
    for value, vector in zip(values, vectors.T, strict=True):
        if value.imag < 0.0:
            continue
        shape = displacements @ vector
        largest = shape[np.abs(shape).argmax()] if shape.size else 1.0
        shape = shape / largest if largest != 0.0 else shape
        modes.append(Mode(complex(value), {n: complex(x) for n, x in zip(names, shape, strict=True)}))
    return tuple(sorted(modes, key=lambda m: (not m.eigenvalue.imag, m.frequency, -m.eigenvalue.real)))


def stability_of(modes: Sequence[Mode]) -> Stability:
    """Of a system with these modes."""
    level = NEUTRAL * max((abs(m.eigenvalue) for m in modes), default=0.0)
    worst = max((m.eigenvalue.real for m in modes), default=-1.0)
    if worst > max(level, NEUTRAL):
        return Stability.UNSTABLE
    return Stability.STABLE if worst < -max(level, NEUTRAL) else Stability.NEUTRAL


def table_of(modes: Sequence[Mode], most: int = 4) -> str:
    """One line a mode: pole, frequency, damping ratio, and the coordinates that move most."""
    lines = [f"{'':>4} {'alpha, 1/s':>12} {'omega, rad/s':>13} {'frequency, Hz':>14} {'damping':>9}  shape"]
    for k, mode in enumerate(modes, 1):
        large = sorted(mode.amplitudes.items(), key=lambda item: -item[1])[:most]
        shape = ", ".join(f"{n} {a:.3g} @ {math.degrees(mode.phases[n]):.0f}" for n, a in large if a > 1e-3)
        value = mode.eigenvalue
        lines.append(
            f"{k:>4} {value.real:>12.5g} {value.imag:>13.5g} {mode.frequency:>14.5g} {mode.damping:>9.4f}  {shape}"
        )
    return "\n".join(lines)
