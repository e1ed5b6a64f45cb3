"""Figures of campaigns. Runs without a result are left out of curves and histograms and left white in maps."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from torseur.campaign.answers import Answers
from torseur.campaign.work import FAILED
from torseur.errors import ArgumentError
from torseur.views.plots.style import new_figure, styled

__all__ = [
    "figures_of_campaign",
    "histogram",
    "parallel_coordinates",
    "pareto_front",
    "response_curve",
    "response_map",
    "sensitivity_bars",
]

Array = NDArray[np.float64]
MOST_LINES = 2000
BINS = 40


def figures_of_campaign(answers: Answers) -> dict[str, Callable[[], Any]]:
    """The usual figures by name, each drawn when it is called: maps or curves where levels allow, else histograms."""
    levels = [name for name in answers.factors if len(np.unique(answers[name])) > 1]
    is_grid = 0 < len(levels) <= 2 and np.prod([len(np.unique(answers[n])) for n in levels]) == len(answers)
    found: dict[str, Callable[[], Any]] = {}
    for name in answers.indicators:
        if not np.isfinite(answers[name]).any():
            continue
        if is_grid and len(levels) == 2:
            found[f"map_{name}"] = partial(response_map, answers, name, levels[0], levels[1])
        elif is_grid:
            found[f"curve_{name}"] = partial(response_curve, answers, name, levels[0])
        else:
            found[f"histogram_{name}"] = partial(histogram, answers, name)
    return found


def _label(answers: Answers, name: str) -> str:
    unit = answers.units.get(name, "")
    return f"{name}  [{unit}]" if unit else name


def _good(answers: Answers, *names: str) -> NDArray[np.int64]:
    """Places of runs with a finite value of all of these."""
    good = answers.outcomes != FAILED
    for name in names:
        good &= np.isfinite(answers[name])
    if not good.any():
        raise ArgumentError("no run has a value of these", got=", ".join(names))
    return np.flatnonzero(good)


def response_curve(answers: Answers, indicator: str, factor: str) -> Any:
    """An indicator over a factor: the median, and the band that holds nine runs of ten at each level."""
    rows = _good(answers, indicator, factor)
    x, y = answers[factor][rows], answers[indicator][rows]
    levels = np.unique(x)
    with styled():
        figure = new_figure(3.6)
        axes = figure.add_subplot()
        if len(levels) * 2 > len(x):  # hardly any level has several runs
            axes.plot(x, y, "o" if len(levels) > 200 else "o-", markersize=3)
        else:
            low, middle, high = (np.array([np.quantile(y[x == v], q) for v in levels]) for q in (0.05, 0.5, 0.95))
            axes.fill_between(levels, low, high, alpha=0.25, label="5 % to 95 %")
            axes.plot(levels, middle, label="median")
            axes.legend()
        axes.set_xlabel(_label(answers, factor))
        axes.set_ylabel(_label(answers, indicator))
    return figure


def response_map(answers: Answers, indicator: str, across: str, up: str) -> Any:
    """An indicator over two factors with levels: the mean of the runs at each pair of them."""
    x, i = np.unique(answers[across], return_inverse=True)
    y, j = np.unique(answers[up], return_inverse=True)
    if len(x) * len(y) > 4 * len(answers):
        text = "these factors have no common levels"
        raise ArgumentError(text, where=f"{across}, {up}", remedy="a map needs grids, ranges or lists")
    rows = _good(answers, indicator)
    total, count = np.zeros((len(y), len(x))), np.zeros((len(y), len(x)))
    np.add.at(total, (j[rows], i[rows]), answers[indicator][rows])
    np.add.at(count, (j[rows], i[rows]), 1.0)
    with np.errstate(invalid="ignore"), styled():
        figure = new_figure(4.4)
        axes = figure.add_subplot()
        drawn = axes.pcolormesh(x, y, total / count, shading="nearest", cmap="viridis")
        figure.colorbar(drawn, label=_label(answers, indicator))
        axes.set_xlabel(_label(answers, across))
        axes.set_ylabel(_label(answers, up))
    return figure


def histogram(answers: Answers, indicator: str) -> Any:
    """How often an indicator takes which values, with the quantiles of 5, 50 and 95 %."""
    values = answers[indicator][_good(answers, indicator)]
    with styled():
        figure = new_figure(3.6)
        axes = figure.add_subplot()
        axes.hist(values, bins=BINS, alpha=0.7)
        for share, value in answers.quantiles(indicator).items():
            axes.axvline(value, color="black", linestyle="--", linewidth=0.8)
            axes.text(value, 1.01, f"{share:.0%}", transform=axes.get_xaxis_transform(), ha="center", fontsize=7)
        axes.set_xlabel(_label(answers, indicator))
        axes.set_ylabel("runs")
    return figure


def parallel_coordinates(answers: Answers, by: str, names: list[str] | None = None) -> Any:
    """A line per run across all factors and indicators, each scaled to its range; coloured by one of them."""
    shown = names or [*answers.factors, *answers.indicators]
    rows = _good(answers, by, *shown)
    rows = rows[:: -(-len(rows) // MOST_LINES)]
    table = np.stack([answers[name][rows] for name in shown], axis=1)
    low, high = table.min(axis=0), table.max(axis=0)
    scaled = (table - low) / np.where(high > low, high - low, 1.0)
    with styled():
        from matplotlib import colormaps
        from matplotlib.collections import LineCollection

        colour = answers[by][rows]
        span = float(np.ptp(colour)) or 1.0
        colours = colormaps["viridis"]((colour - colour.min()) / span)
        figure = new_figure(3.8, 1.3 * len(shown) + 1.5)
        axes = figure.add_subplot()
        lines = [np.column_stack([np.arange(len(shown)), row]) for row in scaled]
        axes.add_collection(LineCollection(lines, colors=colours, linewidths=0.6, alpha=0.6))
        axes.set_xlim(-0.1, len(shown) - 0.9)
        axes.set_ylim(-0.12, 1.12)
        axes.set_xticks(range(len(shown)), shown, rotation=20, ha="right")
        axes.set_yticks([])
        for k, (a, b) in enumerate(zip(low, high, strict=True)):
            axes.text(k, -0.03, f"{a:.3g}", ha="center", va="top", fontsize=7)
            axes.text(k, 1.03, f"{b:.3g}", ha="center", va="bottom", fontsize=7)
    return figure


def pareto_front(answers: Answers, **goals: str) -> Any:
    """All runs over two indicators, and those that no other beats in both."""
    if len(goals) != 2:
        raise ArgumentError("a front is drawn over two indicators", got=str(len(goals)))
    front = set(answers.pareto(**goals).tolist())
    x, y = goals
    rows = _good(answers, x, y)
    best = np.array([k for k in rows if int(answers.table["run"][int(k)].as_py()) in front], dtype=int)
    best = best[np.argsort(answers[x][best])]
    with styled():
        figure = new_figure(4.2, 5.6)
        axes = figure.add_subplot()
        axes.plot(answers[x][rows], answers[y][rows], ".", color="0.7", markersize=3, label="runs")
        axes.plot(answers[x][best], answers[y][best], "o-", markersize=4, label="not beaten")
        axes.set_xlabel(_label(answers, x))
        axes.set_ylabel(_label(answers, y))
        axes.legend()
    return figure


def sensitivity_bars(answers: Answers, indicator: str) -> Any:
    """Sobol's indices, or Morris' means, of an indicator by factor, with their confidence."""
    found = answers.sensitivities(indicator)
    total, error = ("ST", "ST_conf") if "ST" in found else ("mu_star", "mu_star_conf")
    with styled():
        figure = new_figure(0.5 * len(found) + 1.4)
        axes = figure.add_subplot()
        axes.barh(list(found.index), found[total], xerr=found[error], label=total, alpha=0.7)
        if "S1" in found:
            axes.plot(found["S1"], list(found.index), "kd", markersize=4, label="S1")
            axes.legend()
        axes.set_xlabel(f"{total} of {indicator}")
    return figure
