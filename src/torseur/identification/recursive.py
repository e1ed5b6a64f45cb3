"""Estimates that follow measurements as they come: recursive least squares.

What instants so far say is kept as a triangle, |R x - z|^2 + rest. Equations W x = y of one more instant, over their
standard deviations s, are put below it and the whole is made triangular again (Golub 1965),

    Q' [ sqrt(l) R   sqrt(l) z ]  =  [ R   z ]
       [ W / s       y / s     ]     [ 0   . ]                                                                   (I.9)

with a factor of forgetting l. This is what the recursion with gains and covariances does, without its rounding: with
l = 1 it gives what least squares over all instants gives.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from torseur.errors import ArgumentError, NumericalError

__all__ = ["RecursiveEstimate"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RecursiveEstimate:
    """What is known so far. `updated` gives what is known next; nothing is changed in place.

    Attributes:
        R, z: |R x - z|^2 is what instants so far say, R (n, n) upper triangular.
        forgetting: 1 keeps everything; 0.99 forgets within some hundred instants.
        count: instants so far.

    >>> rng = np.random.default_rng(0)
    >>> now = RecursiveEstimate.begun(2)
    >>> for W in rng.normal(size=(200, 1, 2)):
    ...     now = now.updated(W, W @ [2.0, -1.0], 0.1)
    >>> now.values.round(6)
    array([ 2., -1.])
    """

    R: Array
    z: Array
    forgetting: float = 1.0
    count: int = 0

    @classmethod
    def begun(
        cls, n: int, values: ArrayLike | None = None, deviation: ArrayLike = np.inf, forgetting: float = 1.0
    ) -> RecursiveEstimate:
        """Before the first instant: values, and how little they are known (by default not at all)."""
        if not 0.0 < forgetting <= 1.0:
            raise ArgumentError(
                "the forgetting factor is out of range", expected="0 < factor <= 1", got=repr(forgetting)
            )
        start = np.zeros(n) if values is None else np.array(values, dtype=float)
        R = np.diag(1.0 / np.broadcast_to(np.asarray(deviation, dtype=float), (n,)))
        return cls(R, R @ start, forgetting)

    @property
    def is_determined(self) -> bool:
        """Whether instants so far determine all values."""
        d = np.abs(np.diag(self.R))
        return bool((d > 1e-12 * d.max()).all()) if d.max() > 0.0 else False

    def _check(self) -> None:
        if not self.is_determined:
            text = "the samples so far do not determine all parameters"
            raise NumericalError(text, got=f"{self.count} instants", remedy="begin with values and deviations")

    @property
    def values(self) -> Array:
        """(n,)."""
        self._check()
        return np.asarray(np.linalg.solve(self.R, self.z))

    @property
    def covariance(self) -> Array:
        """(n, n), for errors that are white."""
        self._check()
        inverse = np.linalg.inv(self.R)
        return np.asarray(inverse @ inverse.T)

    @property
    def deviations(self) -> Array:
        return np.sqrt(np.diag(self.covariance))

    def updated(self, W: ArrayLike, y: ArrayLike, deviation: ArrayLike = 1.0) -> RecursiveEstimate:
        """With the equations of one more instant, (I.9).

        Args:
            W: (m, n).
            y: (m,).
            deviation: standard deviation of each equation.
        """
        rows, right = np.atleast_2d(np.asarray(W, dtype=float)), np.atleast_1d(np.asarray(y, dtype=float))
        n = len(self.z)
        if rows.shape != (len(right), n):
            raise ArgumentError("equations of another size", expected=f"({len(right)}, {n})", got=str(rows.shape))
        s = np.broadcast_to(np.asarray(deviation, dtype=float), right.shape)
        old = np.sqrt(self.forgetting) * np.column_stack([self.R, self.z])
        new = np.column_stack([rows / s[:, None], right / s])
        whole = np.linalg.qr(np.concatenate([old, new])).R
        return RecursiveEstimate(whole[:n, :n], whole[:n, n], self.forgetting, self.count + 1)
