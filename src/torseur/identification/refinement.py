"""Estimates by other ways: recursive least squares, as measurements come, and the run that comes nearest to them.

**Recursive.** What instants so far say is kept as a triangle, |R x - z|^2 + rest. Equations W x = y of one more
instant, over their standard deviations s, are put below it and the whole is made triangular again (Golub 1965),

    Q' [ sqrt(l) R   sqrt(l) z ]  =  [ R   z ]
       [ W / s       y / s     ]     [ 0   . ]                                                                   (I.9)

with a factor of forgetting l. This is what the recursion with gains and covariances does, without its rounding: with
l = 1 it gives what least squares over all instants gives.

**By simulation** (output error). Nothing is filtered or derived; what is compared are channels of runs, so that noise
of measurements does not enter the equations. A study with the same start, inputs and control is simulated for every set
of parameters (Levenberg and Marquardt's method; differences of all parameters run side by side in lanes,
`torseur.simulate_many`). It needs a motion that does not run away from a small change: an arm under control, a vehicle,
a pendulum.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from torseur.errors import ArgumentError, NumericalError
from torseur.identification.measurements import Measurements
from torseur.model.function import check_names
from torseur.simulation.run.batch import simulate_many
from torseur.simulation.study.study import Study

__all__ = ["RecursiveEstimate", "Refined", "refine"]


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


_STEP = 1e-4
_APART = 1e-10
_ROUNDS = 30


@dataclass(frozen=True, eq=False)
class Refined:
    """Parameters whose run comes nearest.

    Attributes:
        values, deviations: by name. Deviations hold for noise that is white over the instants that were measured.
        residuals: (nt, channels), measured less simulated.
        cost: half the sum of squares of residuals over their deviations, at the start and at the end.
        rounds: of the search.
        converged: whether it ended where nothing improves.
    """

    values: Mapping[str, float]
    deviations: Mapping[str, float]
    residuals: Array
    cost: tuple[float, float]
    rounds: int
    converged: bool


def refine(
    study: Study,
    data: Measurements,
    parameters: Sequence[str] | Mapping[str, float],
    *,
    channels: Sequence[str] | None = None,
    deviations: Mapping[str, float] | None = None,
    threads: int = 1,
) -> Refined:
    """The parameters whose simulation comes nearest to measurements.

    Args:
        study: what was measured, with a fixed-step solver and `every`.
        data: columns by the names of coordinates or speeds.
        parameters: names of free parameters, or values to start from.
        channels: to be compared; by default all coordinates that were measured.
        deviations: of the noise of channels, which weighs them; by default all alike, found from the residuals.
        threads: that share the runs.
    """
    states = [x.name for x in (*study.model.q, *study.model.v)]
    chosen = list(channels) if channels is not None else [x.name for x in study.model.q if x.name in data.columns]
    wrong = [n for n in chosen if n not in states or n not in data.columns]
    if wrong or not chosen:
        got = ", ".join(wrong) or "none"
        raise ArgumentError("channels that cannot be compared", expected="measured coordinates or speeds", got=got)
    names = list(parameters)
    check_names(dict.fromkeys(names), list(study.model.parameters), "parameter")
    known = {n: study.parameters.get(n, study.model.parameters[n].value) for n in names}
    start = dict(parameters) if isinstance(parameters, Mapping) else known
    numbers = {n: float(x) for n, x in start.items() if isinstance(x, (int, float))}
    free = [n for n in names if n not in numbers]
    if free:
        raise ArgumentError("parameters without a number to start from", got=", ".join(free))
    x = np.array([numbers[n] for n in names])
    size = np.where(x != 0.0, np.abs(x), 1.0)
    return _Search(study, data, tuple(names), tuple(chosen), deviations or {}, size, threads).found(x)


@dataclass(frozen=True, eq=False)
class _Search:
    study: Study
    data: Measurements
    names: tuple[str, ...]
    channels: tuple[str, ...]
    noise: Mapping[str, float]
    size: Array
    threads: int

    def runs(self, many: Array) -> Array:
        """Channels of runs with these parameters (runs, n), at the instants measured: (runs, nt, channels)."""
        table = {n: many[:, k] for k, n in enumerate(self.names)}
        batch = simulate_many(self.study, parameters=table, threads=self.threads)
        time = self.data.time
        if time[0] < batch.time[0] - 1e-9 or time[-1] > batch.time[-1] + 1e-9:
            got = f"{batch.time[0]:g} to {batch.time[-1]:g} s"
            raise ArgumentError("the study does not cover the measurements", expected=f"to {time[-1]:g} s", got=got)
        shown = np.stack([batch[n] for n in self.channels], axis=2)
        if len(time) == len(batch.time) and np.allclose(time, batch.time, rtol=0.0, atol=1e-9):
            return shown
        from scipy.interpolate import CubicSpline

        return np.asarray(CubicSpline(batch.time, shown, axis=1)(time))

    def found(self, x: Array) -> Refined:
        measured = np.stack([self.data.columns[n] for n in self.channels], axis=1)
        first = measured - self.runs(x[None])[0]
        s = np.array([self.noise.get(n, 0.0) for n in self.channels])
        given = bool((s > 0.0).all())
        s = s if given else np.ones(len(self.channels))
        cost = before = 0.5 * float(np.nansum((first / s) ** 2))
        if not np.isfinite(cost) or np.isnan(first).all():
            raise NumericalError("the run with the parameters to begin with does not reach its end")
        damping, rounds, converged, e = 1e-3, 0, False, first
        while rounds < _ROUNDS and not converged:
            rounds += 1
            A, g = self._normal(x, e, s)
            self._check_apart(A)
            for _ in range(8):
                d = np.linalg.solve(A + damping * np.diag(np.diag(A)), g) * self.size
                trial = measured - self.runs((x + d)[None])[0]
                new = 0.5 * float(np.nansum((trial / s) ** 2)) if np.isfinite(trial).all() else np.inf
                if new <= cost:
                    break
                damping *= 8.0
            else:
                break
            converged = bool(np.abs(d / self.size).max() < 1e-9 or cost - new <= 1e-10 * cost)
            x, e, cost, damping = x + d, trial, new, damping / 8.0
        A, _ = self._normal(x, e, s)
        spread = 1.0 if given else 2.0 * cost / max(e.size - len(x), 1)
        deviation = self.size * np.sqrt(np.diag(np.linalg.inv(A)) * spread)
        values = {n: float(v) for n, v in zip(self.names, x, strict=True)}
        told = {n: float(v) for n, v in zip(self.names, deviation, strict=True)}
        return Refined(values, told, e, (before, cost), rounds, converged)

    def _check_apart(self, A: Array) -> None:
        """All parameters must show in the channels, and not in one combination only."""
        size = np.sqrt(np.diag(A))
        wrong = idle = size <= 1e-12 * float(size.max())
        if not idle.any():
            values, vectors = np.linalg.eigh(A / np.outer(size, size))
            wrong = (values[0] < _APART) & (np.abs(vectors[:, 0]) > 0.1)
        if wrong.any():
            text = "the channels do not show these parameters" + ("" if idle.any() else " apart")
            got = ", ".join(n for n, is_wrong in zip(self.names, wrong, strict=True) if is_wrong)
            remedy = "leave one of them out, compare more channels, or move otherwise"
            raise NumericalError(text, where=self.study.model.name, got=got, remedy=remedy)

    def _normal(self, x: Array, e: Array, s: Array) -> tuple[Array, Array]:
        """J'J and J'e, in parameters over their sizes, from differences that run side by side."""
        h = _STEP * self.size
        many = np.concatenate([x + np.diag(h), x - np.diag(h)])
        shown = self.runs(many)
        J = (shown[: len(x)] - shown[len(x) :]) / (2.0 * _STEP)
        rows = np.nan_to_num(J / s).reshape(len(x), -1)
        return rows @ rows.T, rows @ np.nan_to_num(e / s).ravel()
