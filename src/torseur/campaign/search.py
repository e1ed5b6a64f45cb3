"""Searches: the factors that make indicators least, most, or equal to targets, under the limits of a campaign.

Every batch of candidates is a chunk of runs in lanes, stored as soon as it is computed. A method is a function of what
its batches gave, and of a seed: a search that was stopped takes the same way again, its stored batches are read instead
of computed, and it goes on from there to the same bits.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

from torseur.campaign.candidates import GOALS, MARGINS, RESIDUALS, Candidates, ExactSlopes, Slopes
from torseur.campaign.description import Between, Search
from torseur.campaign.storage import Folder, arrow, table_bytes
from torseur.campaign.work import Chunk, Work
from torseur.errors import ArgumentError, MissingExtra

__all__ = ["Batches", "run_search"]

Array = NDArray[np.float64]


INSIDE = 1e-9
"""The part of a limit by which a smooth method stays within it."""


class _Enough(Exception):
    """The number of evaluations is spent."""


def run_search(work: Work, folder: Folder, threads: int, told: Callable[[int], object]) -> None:
    """Search, or go on searching.

    Args:
        work: of a campaign with a search.
        folder: where batches are stored.
        threads: on this machine.
        told: called with the number of candidates that are done.
    """
    search = work.campaign.search
    assert search is not None
    batches = Batches(work, folder, threads, told)
    if search.method in ("minimise", "least_squares"):
        _by_scipy(batches, search)
    else:
        _by_optuna(batches, search)


class Batches:
    """Candidates in, what came of them out; a batch that is stored is read."""

    def __init__(self, work: Work, folder: Folder, threads: int, told: Callable[[int], object]) -> None:
        assert work.campaign.search is not None
        self.work, self.folder, self.threads, self.told = work, folder, threads, told
        self.search = work.campaign.search
        self.number = self.done = 0
        self.inner = work.design.values(0, work.runs)

    def __call__(self, shares: Array) -> Candidates:
        """Shares of the ranges between 0 and 1, (candidates, factors)."""
        if self.done + len(shares) > self.search.evaluations:
            raise _Enough
        asked = {n: _placed(b, shares[:, k]) for k, (n, b) in enumerate(self.search.factors.items())}
        columns = {n: np.tile(x, len(shares)) for n, x in self.inner.items()}
        columns |= {n: np.repeat(x, self.work.runs) for n, x in asked.items()}
        file = self.folder.file(self.number)
        found = self._stored(columns) if file.exists() else self._computed(columns)
        self.number, self.done = self.number + 1, self.done + len(shares)
        self.told(self.done)
        shape = (len(shares), self.work.runs)
        return Candidates(self.work.campaign, asked, {n: x.reshape(shape) for n, x in found.items()})

    def slopes(self, exact: ExactSlopes, found: Candidates, shares: Array) -> dict[str, Array]:
        """The derivatives of the indicators of a candidate, alone in the last batch, with respect to its shares (d,).

        Each is (1, runs, d); those that are stored are read.
        """
        runs, names = self.work.runs, [f"{n}/{k}" for n in exact.indicators for k in range(len(shares))]
        file = self.folder.slopes_file(self.number - 1)
        if file.exists():
            table = arrow()[1].ParquetFile(file).read()
            columns = {n: np.asarray(table[n].to_numpy()) for n in names}
        else:
            given = self.inner | {n: np.repeat(x, runs) for n, x in found.factors.items()}
            measured = {n: x[0] for n, x in found.indicators.items()}
            slopes = exact.of(self.work.at(given), shares, measured, self.threads)
            columns = {f"{n}/{k}": np.ascontiguousarray(x[:, k]) for n, x in slopes.items() for k in range(len(shares))}
            self.folder.store_slopes(self.number - 1, columns)
        return {n: np.stack([columns[f"{n}/{k}"] for k in range(len(shares))], axis=1)[None] for n in exact.indicators}

    def _computed(self, columns: dict[str, Array]) -> dict[str, Array]:
        work = self.work.at(columns)
        parts = [work.results(k, self.threads) for k in range(work.chunks)]
        chunk = Chunk(
            self.done * self.work.runs,
            columns,
            {n: np.concatenate([part.indicators[n] for part in parts]) for n in work.campaign.indicators},
            [one for part in parts for one in part.outcomes],
            [one for part in parts for one in part.reasons],
            {},
            parts[0].time,
        )
        self.folder.store(self.number, table_bytes(chunk), None)
        return dict(chunk.indicators)

    def _stored(self, columns: dict[str, Array]) -> dict[str, Array]:
        table = arrow()[1].ParquetFile(self.folder.file(self.number)).read()
        known = {n: table[n].to_numpy() for n in columns}
        if not all(np.array_equal(known[n], x) for n, x in columns.items()):
            raise ArgumentError(
                "the search does not repeat the stored one",
                where=str(self.folder.file(self.number)),
                remedy="packages or the processor have changed since: choose another folder",
            )
        return {n: np.asarray(table[n].to_numpy()) for n in self.work.campaign.indicators}


def _placed(between: Between, share: Array) -> Array:
    """Values in a range."""
    low, high = between.low, between.high
    if between.scale == "log":
        return np.asarray(np.clip(low * (high / low) ** share, low, high))
    return np.asarray(np.clip(low + (high - low) * share, low, high))


# -- Optuna ------------------------------------------------------------------------------------------------------------
def _by_optuna(batches: Batches, search: Search) -> None:
    """Ask for a batch, tell what came of it."""
    with _optuna() as optuna:
        study = optuna.create_study(directions=["minimize"] * len(search.goals), sampler=_sampler(optuna, batches))
        space = {n: optuna.distributions.FloatDistribution(0.0, 1.0) for n in search.factors}
        while batches.done < search.evaluations:
            count = min(search.batch, search.evaluations - batches.done)
            trials = [study.ask(space) for _ in range(count)]
            found = batches(np.array([[trial.params[n] for n in space] for trial in trials]))
            goals, violations = np.stack(list(found.goals.values()), axis=1), found.violations
            for trial, values, violation in zip(trials, goals.tolist(), violations.tolist(), strict=True):
                if np.isnan([*values, violation]).any():
                    study.tell(trial, state=optuna.trial.TrialState.FAIL)
                else:
                    trial.set_user_attr("violation", violation)
                    study.tell(trial, values)


def _sampler(optuna: Any, batches: Batches) -> Any:
    search, samplers = batches.search, optuna.samplers
    limited: dict[str, Any] = {}
    if batches.work.campaign.limits:
        limited = {"constraints_func": lambda trial: (trial.user_attrs.get("violation", 0.0),)}
    seed = search.seed % 2**32
    if search.method == "random":
        return samplers.RandomSampler(seed=seed)
    if search.method == "nsga2":
        return samplers.NSGAIISampler(seed=seed, population_size=max(search.batch, 2), **limited)
    return samplers.TPESampler(
        seed=seed, n_startup_trials=max(search.batch, 10), multivariate=True, constant_liar=True, **limited
    )


@contextmanager
def _optuna() -> Iterator[Any]:
    """The package, silent."""
    try:
        import optuna
    except ImportError:
        raise MissingExtra("optuna", extra="campaign", purpose="a search by samples") from None
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield optuna
    finally:
        optuna.logging.set_verbosity(before)


# -- SciPy -------------------------------------------------------------------------------------------------------------
def _by_scipy(batches: Batches, search: Search) -> None:
    """From the middle of the ranges, and from further starts that the seed decides."""
    d = len(search.factors)
    further = np.random.default_rng(search.seed).random((search.starts - 1, d))
    method = _least_squares if search.method == "least_squares" else _minimise
    slopes = Slopes(batches, batches.folder.note_slopes)
    try:
        for start in np.concatenate([np.full((1, d), 0.5), further]):
            slopes.begin()
            method(slopes, start)
    except _Enough:
        if not batches.done:
            text, expected = "too few evaluations for one gradient", f"at least {2 * d + 1}"
            raise ArgumentError(text, where="search.evaluations", expected=expected) from None


def _tolerance(slopes: Slopes) -> float:
    """The relative change at which a smooth method ends: with adaptive steps less is error of the runs."""
    return max(1e-12, slopes.noise)


def _least_squares(slopes: Slopes, start: Array) -> None:
    least_squares: Any = optimize.least_squares
    least_squares(
        lambda s: slopes.value(s, RESIDUALS),
        start,
        jac=lambda s: slopes.slope(s, RESIDUALS),
        bounds=(np.zeros_like(start), np.ones_like(start)),
        xtol=_tolerance(slopes),
        ftol=_tolerance(slopes),
        gtol=1e-12,
    )


def _least_margins(slopes: Slopes, start: Array) -> Array:
    """How far within each limit the end shall be: of one on the limit itself, rounding decides on which side it is."""
    limits = slopes.batches.work.campaign.limits.values()
    sides = [x for limit in limits for x in (limit.at_most, limit.at_least) if x is not None]
    return INSIDE * np.maximum(np.abs(sides), np.abs(slopes.value(start, MARGINS)))


def _minimise(slopes: Slopes, start: Array) -> None:
    scale = max(abs(float(slopes.value(start, GOALS)[0])), 1e-300)
    limits: list[dict[str, Any]] = []
    if slopes.batches.work.campaign.limits:
        least = _least_margins(slopes, start)
        inside = {"fun": lambda s: slopes.value(s, MARGINS) - least, "jac": lambda s: slopes.slope(s, MARGINS)}
        limits = [{"type": "ineq", **inside}]
    minimize: Any = optimize.minimize  # its overloads do not know tables of options
    minimize(
        lambda s: float(slopes.value(s, GOALS)[0]) / scale,
        start,
        jac=lambda s: slopes.slope(s, GOALS)[0] / scale,
        bounds=[(0.0, 1.0)] * len(start),
        constraints=limits,
        method="SLSQP",
        options={"ftol": _tolerance(slopes), "maxiter": 1000},
    )
