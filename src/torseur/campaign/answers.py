"""The results of a campaign: a table, failures by reason, quantiles, sensitivities, Pareto fronts, any run again."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from torseur.campaign.candidates import Candidates
from torseur.campaign.description import Campaign
from torseur.campaign.design import Design, problem_of
from torseur.campaign.factors import Distribution
from torseur.campaign.storage import CHANNELS, Folder, arrow
from torseur.campaign.targets import What, with_seed
from torseur.campaign.work import FAILED, OK, OUTSIDE, Work
from torseur.describe.faults import guess
from torseur.errors import ArgumentError, MissingExtra
from torseur.simulation.blocks import Constant
from torseur.simulation.results.result import Run
from torseur.simulation.run.simulate import study_of
from torseur.simulation.study.study import Study

__all__ = ["Answers", "open_campaign"]

Array = NDArray[np.float64]


def open_campaign(folder: str | os.PathLike[str]) -> Answers:
    """The results in the folder of a campaign, complete or not."""
    found = Answers(Folder(Path(folder)))
    found.folder.manifest  # noqa: B018 - a folder that is none is refused at once
    return found


@dataclass(frozen=True)
class Answers:
    """The results of a campaign, as far as they are stored."""

    folder: Folder

    @cached_property
    def campaign(self) -> Campaign:
        """What was asked."""
        return self.folder.campaign()

    @property
    def runs(self) -> int:
        """How many were asked for."""
        return int(self.folder.manifest["runs"])

    @property
    def factors(self) -> list[str]:
        return list(self.folder.manifest["factors"])

    @property
    def indicators(self) -> list[str]:
        return list(self.folder.manifest["indicators"])

    @property
    def units(self) -> Mapping[str, str]:
        return dict(self.folder.manifest["units"])

    # -- tables --------------------------------------------------------------------------------------------------------
    @cached_property
    def table(self) -> Any:
        """A pyarrow table, a row per run that is stored, by number."""
        return self._read(None)

    def _read(self, columns: list[str] | None) -> Any:
        """Some columns, or all."""
        pyarrow, parquet = arrow()
        files = self.folder.files()
        if not files:
            raise ArgumentError("no run is stored yet", where=str(self.folder.path))
        parts = [parquet.ParquetFile(file).read(columns) for file in files]
        return pyarrow.concat_tables(parts).unify_dictionaries()

    def _column(self, name: str) -> Any:
        """One column; the others are not read for it."""
        return (self.table if "table" in self.__dict__ else self._read([name]))[name]

    def to_pandas(self) -> Any:
        """A DataFrame: factors, indicators, outcome and reason by the number of the run; units in ``attrs``."""
        frame = self.table.to_pandas().set_index("run")
        frame.attrs["units"] = dict(self.units)
        return frame

    def to_polars(self) -> Any:
        """A DataFrame of Polars with the same columns, and `run` as the first of them."""
        try:
            import polars
        except ImportError:
            raise MissingExtra("polars", extra="campaign", purpose="a table of Polars") from None
        return polars.from_arrow(self.table)

    def to_xarray(self) -> Any:
        """A Dataset over run: factors, indicators, outcomes, reasons, with units.

        Where the runs are all combinations of levels, each in its place, the factors are the axes instead.
        """
        try:
            import xarray
        except ImportError:
            raise MissingExtra("xarray", extra="campaign", purpose="a data set of a campaign") from None
        runs, levels = self.table["run"].to_numpy(), Design(self.campaign).axes
        is_grid = not self.campaign.search and list(levels) == self.factors and len(runs) == self.runs
        shape, axes = ([len(x) for x in levels.values()], list(levels)) if is_grid else ([len(runs)], ["run"])
        given = self.indicators if is_grid else [*self.factors, *self.indicators]
        columns: dict[str, NDArray[Any]] = {name: self[name] for name in given}
        columns |= {"outcome": self.outcomes, "reason": np.array(self._column("reason").to_pylist(), dtype=str)}
        data = {n: (axes, x.reshape(shape), {"units": self.units.get(n, "")}) for n, x in columns.items()}
        ends = {n: (n, x, {"units": self.units.get(n, "")}) for n, x in levels.items()} if is_grid else {"run": runs}
        return xarray.Dataset(data, ends)

    def channels(self) -> Any:
        """The channels that are kept: an xarray Dataset over run and time, read as it is needed."""
        try:
            import xarray
        except ImportError:
            raise MissingExtra("xarray", extra="campaign", purpose="channels of a campaign") from None
        files = self.folder.files(CHANNELS)
        if not files:
            raise ArgumentError("no channels are kept", where=str(self.folder.path), remedy="keep: {channels: [...]}")
        parts = [xarray.open_dataset(file, engine="h5netcdf", decode_cf=False) for file in files]
        return xarray.concat(parts, "run")

    def __len__(self) -> int:
        parquet = arrow()[1]
        return sum(int(parquet.read_metadata(file).num_rows) for file in self.folder.files())

    def __getitem__(self, name: str) -> Array:
        """A factor or indicator in all runs that are stored; nan in those that failed."""
        if name not in (*self.factors, *self.indicators):
            expected, remedy = guess(name, [*self.factors, *self.indicators])
            raise ArgumentError(f"no factor or indicator '{name}'", expected=expected, remedy=remedy)
        return np.asarray(self._column(name).to_numpy(), dtype=np.float64)

    @property
    def outcomes(self) -> NDArray[np.str_]:
        """``ok``, ``failed`` or ``limit`` for every run that is stored."""
        column = self._column("outcome").combine_chunks()
        names, places = np.array(column.dictionary.to_pylist()), column.indices.to_numpy(zero_copy_only=False)
        return np.asarray(names[places], dtype=np.str_)

    def counts(self) -> dict[str, int]:
        """How many runs ended in each way: ``ok``, ``failed``, ``limit``."""
        found = {OK: 0, FAILED: 0, OUTSIDE: 0}
        for text, count in self._tally("outcome"):
            found[text] += count
        return found

    def failures(self) -> dict[str, int]:
        """How many runs failed for each reason, the most frequent first; numbers in reasons are left out."""
        found: dict[str, int] = {}
        for text, count in self._tally("reason"):
            if text:
                key = _without_numbers(text)
                found[key] = found.get(key, 0) + count
        return dict(sorted(found.items(), key=lambda one: -one[1]))

    def _tally(self, name: str) -> Iterator[tuple[str, int]]:
        """How often the texts of a column occur, chunk by chunk: there may be as many texts as runs."""
        parquet = arrow()[1]
        for file in self.folder.files():
            for one in parquet.ParquetFile(file).read([name])[name].value_counts().to_pylist():
                yield one["values"], one["counts"]

    def quantiles(self, name: str, shares: tuple[float, ...] = (0.05, 0.5, 0.95)) -> dict[float, float]:
        """Values below which these shares of all runs with a result lie."""
        values = self[name][self.outcomes != FAILED]
        values = values[np.isfinite(values)]
        if not len(values):
            raise ArgumentError(f"no run has a value of '{name}'", where=str(self.folder.path))
        return {share: float(np.quantile(values, share)) for share in shares}

    # -- runs ----------------------------------------------------------------------------------------------------------
    def run(self, k: int) -> Run:
        """One run again, by its number, with all its channels and its audit."""
        count = self.runs if self.campaign.search is None else len(self)
        if not 0 <= k < count:
            raise ArgumentError(f"no run {k}", where=str(self.folder.path), expected=f"0 to {count - 1}")
        if self.campaign.search is not None:
            return self._work.at({name: np.array([x]) for name, x in self.values_of(k).items()}).run(0)
        return self._work.run(k)

    def values_of(self, k: int) -> dict[str, float]:
        """The factors of a run, by its number."""
        if self.campaign.search is not None:
            return {name: float(self[name][k]) for name in self.factors}
        return {name: float(values[0]) for name, values in self._work.design.values(k, k + 1).items()}

    def study_of(self, k: int) -> Study:
        """The study of one run, which can be simulated by itself."""
        work, values = self._work, self.values_of(k)
        tables: dict[What, dict[str, float]] = {what: {} for what in What}
        study = work.study
        for name, target in work.targets.items():
            tables[target.what][target.name] = values[name]
            if target.what is What.SEED:
                study = with_seed(study, target, int(values[name]))
        parameters = {**study.parameters, **tables[What.PARAMETER], **tables[What.FIELD]}
        inputs = {**study.inputs, **{n: Constant(value=x) for n, x in tables[What.INPUT].items()}}
        given = {"parameters": parameters, "start": {**study.start, **tables[What.START]}, "inputs": inputs}
        return study_of(study, **given)

    @cached_property
    def _work(self) -> Work:
        return Work(self.campaign, audit=True)

    # -- searches ------------------------------------------------------------------------------------------------------
    @cached_property
    def candidates(self) -> Candidates:
        """Of a search: what came of each candidate; its `best`, or its `front` where there are several goals."""
        search = self.campaign.search
        if search is None:
            raise ArgumentError(
                "this campaign has no search", where=str(self.folder.path), expected="a campaign with 'search'"
            )
        runs = self._work.runs
        found = {name: self[name].reshape(-1, runs) for name in (*search.factors, *self.indicators)}
        factors = {name: found[name][:, 0] for name in search.factors}
        return Candidates(self.campaign, factors, {name: found[name] for name in self.indicators})

    def best(self) -> dict[str, float]:
        """Of a search with one goal: the factors of the best candidate that meets the limits."""
        k = self.candidates.best
        if k is None:
            raise ArgumentError("no candidate is the best one", where=str(self.folder.path), remedy="candidates.front")
        return {name: float(values[k]) for name, values in self.candidates.factors.items()}

    @property
    def slopes(self) -> str | None:
        """Of a search along slopes: how they were found, and where by differences, why."""
        note = self.folder.slopes_note()
        if note is None:
            return None
        return "sensitivities of runs" if note["reason"] is None else f"central differences, since {note['reason']}"

    # -- what matters --------------------------------------------------------------------------------------------------
    def sensitivities(self, name: str) -> Any:
        """Sobol's or Morris' sensitivities of an indicator, by factor, as a DataFrame; the design decides which.

        The sampling of the campaign must be of kind saltelli (Sobol) or morris, and every run must have a value.
        """
        sampling = self.campaign.sampling
        if sampling is None or sampling.kind not in ("saltelli", "morris"):
            text = "these runs are not a design for sensitivity analysis"
            raise ArgumentError(text, expected="sampling: {kind: saltelli}, or {kind: morris}")
        values = self[name]
        if len(values) != self.runs or not np.isfinite(values).all():
            got = f"{int(np.isfinite(values).sum())} of {self.runs}"
            raise ArgumentError("sensitivities need a value of every run", where=name, got=got)
        if not np.ptp(values) > 0.0:
            text = "what is the same in every run has no sensitivities"
            raise ArgumentError(text, where=name, got=f"{values[0]:g}", remedy="vary what it depends on")
        try:
            import pandas
            from SALib.analyze import morris, sobol
        except ImportError as error:
            raise MissingExtra(error.name or "SALib", extra="campaign", purpose="sensitivities") from None
        factors = {n: f for n, f in self.campaign.factors.items() if isinstance(f, Distribution)}
        problem, seed = problem_of(list(factors)), sampling.seed % 2**32
        if sampling.kind == "saltelli":
            found = sobol.analyze(problem, values, calc_second_order=False, seed=seed)
            keys = ("S1", "S1_conf", "ST", "ST_conf")
        else:
            found = morris.analyze(problem, Design(self.campaign).shares, values, num_levels=4, seed=seed)
            keys = ("mu", "mu_star", "sigma", "mu_star_conf")
        return pandas.DataFrame({key: np.asarray(found[key], dtype=float) for key in keys}, index=list(factors))

    def pareto(self, **goals: str) -> NDArray[np.int64]:
        """The numbers of the runs that no other run beats in all goals at once.

        Args:
            goals: indicator = "least" or "most".
        """
        if not goals or set(goals.values()) - {"least", "most"}:
            got = ", ".join(f"{n}={x!r}" for n, x in goals.items())
            raise ArgumentError("goals are 'least' or 'most'", expected='pareto(mass="least")', got=got)
        signs = np.array([1.0 if goal == "least" else -1.0 for goal in goals.values()])
        points = np.stack([self[name] for name in goals], axis=1) * signs
        rows = np.flatnonzero((self.outcomes == OK) & np.isfinite(points).all(axis=1))
        order = rows[np.lexsort(points[rows].T[::-1])]
        front: list[int] = []
        for k in order:
            kept = points[front]
            beaten = (kept <= points[k]).all(axis=1) & (kept < points[k]).any(axis=1)
            if not beaten.any():
                front.append(int(k))
        return np.sort(np.asarray(self._column("run").to_numpy())[front])


def _without_numbers(reason: str) -> str:
    """A reason without what differs from run to run."""
    words = reason.split()
    return " ".join("..." if any(c.isdigit() for c in word) else word for word in words)
