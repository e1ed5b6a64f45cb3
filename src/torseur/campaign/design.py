"""The values of factors by the number of a run, any part of them at a time.

Levels are combined with each other, with the rows and with the samples; samples count fastest, then rows, then the last
factor with levels. What a run gets depends on its number alone: on neither the chunk nor the worker.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.stats import qmc

from torseur.campaign.description import Campaign, Sampling
from torseur.campaign.factors import Distribution, Levels
from torseur.errors import ArgumentError, MissingExtra

__all__ = ["Design", "GivenRuns", "correlation_matrix", "problem_of"]

Array = NDArray[np.float64]

BLOCK = 4096
"""Samples that are drawn together: a power of two, as Sobol's sequence wants."""
MOST_TOGETHER = 10_000_000
"""Samples of a design that has to be made as a whole."""
EDGE = 2.0**-53
MOST_SOBOL = 2**30
"""Points that Sobol's sequence has with 30 bits."""


class Design:
    """The runs of a campaign.

    >>> from torseur.describe import Mechanism
    >>> from torseur.simulation.study.study import Study
    >>> study = Study(model=Mechanism(name="m", parameters={"a": {"value": 1}, "b": {"value": 1}}))
    >>> campaign = Campaign(study=study, factors={"a": [1, 2], "b": [5, 6, 7]})
    >>> Design(campaign).values(2, 5)
    {'a': array([1., 2., 2.]), 'b': array([7., 5., 6.])}
    """

    def __init__(self, campaign: Campaign) -> None:
        searched = campaign.search.factors if campaign.search else {}
        self.axes = {n: np.array([between.middle]) for n, between in searched.items()}
        self.axes |= {n: f.levels for n, f in campaign.factors.items() if isinstance(f, Levels)}
        self.drawn = {n: f for n, f in campaign.factors.items() if isinstance(f, Distribution)}
        self.sampling, self.rows = campaign.sampling, campaign.rows
        self.names = campaign.names
        self.samples = self._sample_count()
        self._sobol = _Sobol(self.sampling, len(self.drawn)) if self.sampling is not None else None

    def _sample_count(self) -> int:
        if not self.drawn or self.sampling is None:
            return 1
        d, n = len(self.drawn), self.sampling.count
        count = {"saltelli": n * (d + 2), "morris": n * (d + 1)}.get(self.sampling.kind, n)
        if self.sampling.kind not in ("random", "sobol") and count > MOST_TOGETHER:
            raise ArgumentError(
                f"a design of kind '{self.sampling.kind}' is made as a whole",
                where=("sampling", "count"),
                expected=f"at most {MOST_TOGETHER} samples",
                got=str(count),
                remedy="sobol and random samples have no such bound",
            )
        if self.sampling.kind == "sobol" and count > MOST_SOBOL:
            text, where = "Sobol's sequence ends before", ("sampling", "count")
            raise ArgumentError(text, where=where, expected=f"at most {MOST_SOBOL} samples", got=str(count))
        return count

    @property
    def count(self) -> int:
        """Of runs."""
        found = self.samples * (len(self.rows.values) if self.rows else 1)
        for levels in self.axes.values():
            found *= len(levels)
        return found

    @property
    def ends(self) -> dict[str, tuple[float, float]]:
        """Between which numbers every factor lies in all runs; of a distribution, where its samples end."""
        found = {n: (float(x.min()), float(x.max())) for n, x in self.axes.items()}
        u = np.array([EDGE, 1.0 - EDGE])
        for name, factor in self.drawn.items():
            low, high = factor.quantile(u).tolist()
            found[name] = low, high
        for k, name in enumerate(self.rows.columns if self.rows else ()):
            found[name] = float(self._row_table[:, k].min()), float(self._row_table[:, k].max())
        return found

    def values(self, first: int, last: int) -> dict[str, Array]:
        """The factors of runs first to last, without last: each (last - first,)."""
        found: dict[str, Array] = {}
        place, sample = np.divmod(np.arange(first, last, dtype=np.int64), self.samples)
        if self.rows is not None:
            place, row = np.divmod(place, len(self.rows.values))
            table = self._row_table
            found |= {n: table[row, k] for k, n in enumerate(self.rows.columns)}
        for name, levels in reversed(self.axes.items()):
            place, level = np.divmod(place, len(levels))
            found[name] = levels[level]
        if self.drawn:
            u = self._quantiles(sample)
            found |= {n: np.asarray(f.quantile(u[:, k])) for k, (n, f) in enumerate(self.drawn.items())}
        return {n: found[n] for n in self.names}

    @cached_property
    def _row_table(self) -> Array:
        assert self.rows is not None
        return np.array(self.rows.values, dtype=np.float64)

    def _quantiles(self, sample: NDArray[np.int64]) -> Array:
        """The shares, 0 to 1, of samples by their numbers, (len, factors), correlated."""
        assert self.sampling is not None
        if self.sampling.kind in ("random", "sobol"):
            blocks, inverse = np.unique(sample // BLOCK, return_inverse=True)
            drawn = np.stack([self._block(int(b)) for b in blocks])
            u = drawn[inverse, sample % BLOCK]
        else:
            u = self._together[sample]
        u = np.clip(u, EDGE, 1.0 - EDGE)
        if not self.sampling.correlations:
            return u
        z = stats.norm.ppf(u) @ np.linalg.cholesky(correlation_matrix(list(self.drawn), self.sampling)).T
        return np.asarray(np.clip(stats.norm.cdf(z), EDGE, 1.0 - EDGE))

    def _block(self, block: int) -> Array:
        """Samples BLOCK*block and the following, (BLOCK, d)."""
        assert self.sampling is not None
        if self.sampling.kind == "sobol":
            assert self._sobol is not None
            return self._sobol.block(block)
        seeds = np.random.SeedSequence(self.sampling.seed, spawn_key=(block,))
        return np.random.Generator(np.random.PCG64(seeds)).random((BLOCK, len(self.drawn)))

    @property
    def shares(self) -> Array:
        """All samples of a design that is made as a whole, between 0 and 1, (samples, factors)."""
        return self._together

    @cached_property
    def _together(self) -> Array:
        """All samples of a design that cannot be made in parts."""
        assert self.sampling is not None
        d, n, seed = len(self.drawn), self.sampling.count, self.sampling.seed
        if self.sampling.kind == "latin_hypercube":
            return np.asarray(qmc.LatinHypercube(d, rng=np.random.default_rng(seed)).random(n))
        problem = problem_of(list(self.drawn))
        try:
            from SALib.sample import morris, sobol
        except ImportError:
            raise MissingExtra("SALib", extra="campaign", purpose="designs for sensitivities") from None
        if self.sampling.kind == "morris":
            return np.asarray(morris.sample(problem, n, num_levels=4, seed=seed % 2**32))
        return np.asarray(sobol.sample(problem, n, calc_second_order=False, seed=seed % 2**32))


class GivenRuns:
    """Runs whose factors are given, each (runs,)."""

    def __init__(self, columns: Mapping[str, Array]) -> None:
        self.columns = dict(columns)
        self.count = len(next(iter(self.columns.values())))

    @property
    def ends(self) -> dict[str, tuple[float, float]]:
        """Between which numbers every factor lies."""
        return {n: (float(x.min()), float(x.max())) for n, x in self.columns.items()}

    def values(self, first: int, last: int) -> dict[str, Array]:
        """The factors of runs first to last, without last: each (last - first,)."""
        return {n: x[first:last] for n, x in self.columns.items()}


def problem_of(names: list[str]) -> dict[str, Any]:
    """Factors as SALib knows them: shares between 0 and 1."""
    return {"num_vars": len(names), "names": names, "bounds": [[0.0, 1.0]] * len(names)}


def correlation_matrix(names: list[str], sampling: Sampling) -> Array:
    """Of the factors with a distribution, (d, d)."""
    matrix = np.eye(len(names))
    for one in sampling.correlations:
        i, j = (names.index(n) for n in one.between)
        matrix[i, j] = matrix[j, i] = one.value
    return matrix


class _Sobol:
    """A scrambled sequence of Sobol, in blocks; it goes on from where it is, for the way there takes time."""

    def __init__(self, sampling: Sampling, d: int) -> None:
        self.seed, self.d, self._lock = sampling.seed, d, Lock()
        self._sequence: Any = None

    def block(self, block: int) -> Array:
        """Points BLOCK*block and the following, (BLOCK, d)."""
        with self._lock:
            wanted = block * BLOCK
            if self._sequence is None or self._sequence.num_generated > wanted:
                self._sequence = qmc.Sobol(self.d, scramble=True, rng=np.random.default_rng(self.seed))
            ahead = wanted - self._sequence.num_generated
            if ahead:
                self._sequence.fast_forward(ahead)
            return np.asarray(self._sequence.random(BLOCK))
