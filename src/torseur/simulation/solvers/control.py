"""Tolerances, and how long the next step is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from torseur.errors import ArgumentError
from torseur.graph import Expr, maximum, minimum, select, sqrt
from torseur.simulation.solvers.problem import Array

__all__ = ["EasyDynControl", "PIControl", "StepControl", "Tolerance"]


@dataclass(frozen=True)
class Tolerance:
    """A step is good when the root mean square of error / (atol + rtol |x|) is at most 1.

    Attributes:
        rtol: relative.
        atol: absolute, one number or one for each state, in its unit.
    """

    rtol: float = 1e-6
    atol: float | tuple[float, ...] = 1e-9

    def __post_init__(self) -> None:
        try:
            numbers = np.array([self.rtol, *np.ravel(self.atol)], dtype=float)
        except (TypeError, ValueError):
            numbers = np.array([math.nan])
        if not (np.isfinite(numbers).all() and numbers[0] >= 0.0 and (numbers[1:] > 0.0).all()):
            raise ArgumentError(
                "wrong tolerance",
                expected="rtol at least 0, atol above 0",
                got=f"rtol = {self.rtol!r}, atol = {self.atol!r}",
            )

    def array(self, n: int) -> Array:
        """rtol, then atol of each of n states."""
        atol = np.ravel(np.asarray(self.atol, dtype=float))
        if atol.size not in (1, n):
            raise ArgumentError("wrong tolerance", where="atol", expected=f"1 or {n} numbers", got=str(atol.size))
        return np.concatenate([[float(self.rtol)], np.broadcast_to(atol, n)])


class StepControl(Protocol):
    """The next step from scaled errors, as part of the native step."""

    @property
    def order(self) -> int:
        """The error of one step falls with this power of its length."""

    def growth(self, error: Expr, before: Expr) -> Expr:
        """By what the next step may be longer (or must be shorter), from the errors of this step and the one before.

        An error above 1 is a step that is refused and tried again; an infinite one, or nan, has no result at all. For
        all of these the result must be below 1.
        """


@dataclass(frozen=True)
class PIControl:
    """h clip(safety err^-alpha err_before^beta, smallest, largest), with alpha = 1/order - 3/4 beta.

    The rule of Gustafsson in the form of Hairer, Norsett & Wanner, Solving ODEs I, II.4, and II, IV.2. After a refused
    step h max(safety err^-1/order, smallest), after one without a result h / 10.
    """

    order: int
    beta: float = 0.0
    safety: float = 0.9
    smallest: float = 0.2
    largest: float = 10.0

    def growth(self, error: Expr, before: Expr) -> Expr:
        refused = error > 1.0
        exponent: Expr | float = -(1.0 / self.order - 0.75 * self.beta)
        if self.beta:  # what follows a refused step depends on its own error alone
            exponent = select(refused, -1.0 / self.order, exponent)
        factor = self.safety * maximum(error, 1e-10) ** exponent
        if self.beta:
            factor = factor * select(refused, 1.0, maximum(before, 1e-4) ** self.beta)
        return select(error < math.inf, minimum(maximum(factor, self.smallest), self.largest), 0.1)


@dataclass(frozen=True)
class EasyDynControl:
    """The rule of EasyDyn's Newmark integration: steps stay as they are while the error is between 0.1 and 1.

    Below, h sqrt(1 / (2.1 e + 0.04)); above, h sqrt((0.21 + 0.04 e) / e); a quarter where Newton does not converge.
    Verlinden, Kouroussis & Conti, EasyDyn: a framework based on free symbolic and numerical tools for teaching
    multibody systems (2005), and the behaviour of its program.
    """

    order: int = 2

    def growth(self, error: Expr, before: Expr) -> Expr:
        good = select(error < 0.1, 1.0 / sqrt(2.1 * error + 0.04), 1.0)
        bad = select(error < math.inf, sqrt((0.21 + 0.04 * error) / error), 0.25)
        return select(error <= 1.0, good, bad)
