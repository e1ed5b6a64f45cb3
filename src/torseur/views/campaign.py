"""Figures of campaigns: curves and maps, histograms, parallel coordinates, fronts, sensitivities, searches.

Runs without a result are left out of curves and histograms and left white in maps.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from torseur.campaign.answers import Answers
from torseur.campaign.factors import Distribution
from torseur.campaign.work import FAILED
from torseur.errors import ArgumentError
from torseur.views.plots.style import literal, new_figure, styled

__all__ = [
    "figures_of_campaign",
    "histogram",
    "parallel_coordinates",
    "pareto_front",
    "response_curve",
    "response_map",
    "search_front",
    "search_progress",
    "sensitivity_bars",
]


Array = NDArray[np.float64]
MOST_LINES = 2000
MOST_LEVELS = 200
"""Values of a factor that is drawn over its levels."""
MOST_PANELS, MOST_AXES = 6, 14
BINS = 40


def figures_of_campaign(answers: Answers) -> dict[str, Callable[[], Any]]:
    """The usual figures by name, each drawn when it is called.

    Maps and curves over factors with levels, histograms over samples, parallel coordinates; of a design for
    sensitivities these too, of a search its way and its front.
    """
    shown = [name for name in answers.indicators if np.isfinite(answers[name]).any()]
    search, sampling = answers.campaign.search, answers.campaign.sampling
    drawers: dict[str, Callable[[], Any]] = {}
    if search is not None:
        drawers |= {f"search_{name}": partial(search_progress, answers, name) for name in search.goals if name in shown}
        if len(search.goals) == 2 and len(answers.candidates.front):
            drawers["front"] = partial(search_front, answers)
    else:
        for name in shown:
            drawers |= _of_indicator(answers, name)
    if search is None and sampling is not None and sampling.kind in ("saltelli", "morris"):
        complete = [n for n in shown if len(answers[n]) == answers.runs and np.isfinite(np.ptp(answers[n]))]
        complete = [n for n in complete if np.ptp(answers[n]) > 0.0]
        drawers |= {f"sensitivities_{name}": partial(sensitivity_bars, answers, name) for name in complete}
    varied = [name for name in answers.factors if _count(answers, name) > 1]
    good = answers.outcomes != FAILED
    whole = [name for name in shown if np.isfinite(answers[name][good]).all()]
    if whole and len(varied) >= 2 and len(varied) + len(whole) <= MOST_AXES:
        drawers["parallel"] = partial(parallel_coordinates, answers, whole[0], [*varied, *whole])
    return drawers


def _of_indicator(answers: Answers, name: str) -> dict[str, Callable[[], Any]]:
    """A map over two factors with levels, or three; a curve over one; a histogram where there are samples or more."""
    kinds = answers.campaign.factors
    given = [n for n in answers.factors if not isinstance(kinds.get(n), Distribution)]
    levels = sorted((n for n in given if 1 < _count(answers, n) <= MOST_LEVELS), key=lambda n: -_count(answers, n))
    is_sampled = len(given) < len(answers.factors) or any(_count(answers, n) > MOST_LEVELS for n in given)
    pairs = int(np.prod([_count(answers, n) for n in levels]))
    is_grid = bool(levels) and len(answers) % pairs == 0
    drawn: dict[str, Callable[[], Any]] = {}
    if is_grid and (len(levels) == 2 or (len(levels) == 3 and _count(answers, levels[2]) <= MOST_PANELS)):
        drawn[f"map_{name}"] = partial(response_map, answers, name, *levels)
        if not is_sampled:
            return drawn
    if is_sampled or not is_grid or len(levels) != 1:
        drawn[f"histogram_{name}"] = partial(histogram, answers, name)
    if is_grid and len(levels) == 1:
        drawn[f"curve_{name}"] = partial(response_curve, answers, name, levels[0])
    return drawn


def _count(answers: Answers, name: str) -> int:
    """How many values a factor has."""
    return len(np.unique(answers[name]))


def _is_log(answers: Answers, name: str) -> bool:
    """Whether equal ratios of a factor are at equal distances."""
    return getattr(answers.campaign.factors.get(name), "scale", "linear") == "log"


def _edges(levels: Array, is_log: bool) -> Array:
    """The ends of cells about levels."""
    z = np.log(levels) if is_log else levels
    middles = 0.5 * (z[1:] + z[:-1])
    ends = (2.0 * z[0] - middles[0], 2.0 * z[-1] - middles[-1]) if len(z) > 1 else (z[0] - 0.5, z[0] + 0.5)
    edges = np.concatenate([ends[:1], middles, ends[1:]])
    return np.exp(edges) if is_log else edges


def _label(answers: Answers, name: str) -> str:
    unit = answers.units.get(name, "")
    return literal(f"{name}  [{unit}]" if unit else name)


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
        axes.set_xscale("log" if _is_log(answers, factor) else "linear")
        axes.set_xlabel(_label(answers, factor))
        axes.set_ylabel(_label(answers, indicator))
    return figure


def response_map(answers: Answers, indicator: str, across: str, up: str, beside: str | None = None) -> Any:
    """An indicator over two factors with levels: the mean of the runs at each pair of them.

    Args:
        answers: of a campaign.
        indicator: what is drawn.
        across, up: factors along the axes.
        beside: a third one; each of its levels has a map of its own.
    """
    x, i = np.unique(answers[across], return_inverse=True)
    y, j = np.unique(answers[up], return_inverse=True)
    if len(x) * len(y) > 4 * len(answers):
        text = "these factors have no common grid of values"
        raise ArgumentError(text, where=f"{across}, {up}", remedy="a map needs grids, ranges or lists")
    rows = _good(answers, indicator)
    values, third = answers[indicator], None if beside is None else answers[beside]
    panels = [rows] if third is None else [rows[third[rows] == level] for level in np.unique(third)]
    titles = [""] if third is None else [f"{beside} = {level:g}" for level in np.unique(third)]
    low, high = float(values[rows].min()), float(values[rows].max())
    is_log = _is_log(answers, across), _is_log(answers, up)
    wide = min(len(panels), 3) if len(panels) != 4 else 2
    tall = -(-len(panels) // wide)
    with np.errstate(invalid="ignore"), styled():
        figure = new_figure(4.4 if len(panels) == 1 else 0.6 + 2.4 * tall)
        grid = figure.subplots(tall, wide, squeeze=False, sharex=True, sharey=True)
        for axes, part, title in zip(grid.flat, panels, titles, strict=False):
            total, count = np.zeros((len(y), len(x))), np.zeros((len(y), len(x)))
            np.add.at(total, (j[part], i[part]), values[part])
            np.add.at(count, (j[part], i[part]), 1.0)
            cells = _edges(x, is_log[0]), _edges(y, is_log[1])
            drawn = axes.pcolormesh(*cells, total / count, cmap="viridis", vmin=low, vmax=high)
            axes.set_title(title, fontsize=8)
            axes.set(xscale="log" if is_log[0] else "linear", yscale="log" if is_log[1] else "linear")
        for axes in grid.flat[len(panels) :]:
            axes.set_axis_off()
        for axes in grid[-1]:
            axes.set_xlabel(_label(answers, across))
        for axes in grid[:, 0]:
            axes.set_ylabel(_label(answers, up))
        figure.colorbar(drawn, ax=list(grid.flat), label=_label(answers, indicator))
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
    """A line per run across factors and indicators, each scaled to its range; coloured by one of them.

    Args:
        answers: of a campaign.
        by: what colours tell.
        names: of factors and indicators; by default all. Runs that have no finite value of one of them are left out.
    """
    shown = names or [*answers.factors, *answers.indicators]
    rows = _good(answers, by, *shown)
    if len(rows) > MOST_LINES:  # any of them: every so many-th would fall in with the order of levels and samples
        rows = np.sort(np.random.default_rng(0).choice(rows, MOST_LINES, replace=False))
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
        left_out = "" if len(rows) == len(answers) else f"{len(rows)} of {len(answers)} runs; "
        axes.set_title(f"{left_out}colours by {literal(by)}", fontsize=8, pad=14)
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
    best = rows[np.isin(answers.table["run"].to_numpy()[rows], list(front))]
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
    """Sobol's indices of an indicator by factor with their confidence; Morris' means of amounts, and deviations."""
    sensitivities = answers.sensitivities(indicator)
    total, first = ("ST", "S1") if "ST" in sensitivities else ("mu_star", "sigma")
    words = {"ST": "ST, total", "S1": "S1, alone", "mu_star": "mu*, mean of amounts", "sigma": "sigma, deviation"}
    unit = "" if total == "ST" else answers.units.get(indicator, "")
    with styled():
        figure = new_figure(0.5 * len(sensitivities) + 1.4)
        axes = figure.add_subplot()
        axes.barh(
            list(sensitivities.index),
            sensitivities[total],
            xerr=sensitivities[f"{total}_conf"],
            label=words[total],
            alpha=0.7,
        )
        axes.plot(sensitivities[first], list(sensitivities.index), "kd", markersize=4, label=words[first])
        axes.invert_yaxis()
        axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2)
        axes.set_xlabel(literal(f"sensitivity of {indicator}" + (f"  [{unit}]" if unit else "")))
    return figure


def search_progress(answers: Answers, goal: str) -> Any:
    """What the candidates of a search reach, one after the other, and the best of those that are allowed so far."""
    candidates = answers.candidates
    cost, allowed = candidates.goals[goal], candidates.is_allowed
    numbers = np.arange(len(candidates))
    best = np.fmin.accumulate(np.where(allowed, cost, np.nan))
    with styled():
        figure = new_figure(3.6)
        axes = figure.add_subplot()
        axes.plot(numbers[~allowed], cost[~allowed], "x", color="0.7", markersize=3, label="not allowed")
        axes.plot(numbers[allowed], cost[allowed], ".", markersize=4, label="allowed")
        axes.plot(numbers, best, drawstyle="steps-post", color="black", linewidth=1.0, label="best so far")
        axes.set_xlabel("candidate")
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.set_ylabel(f"{goal} (minimised)")
        axes.legend()
    return figure


def search_front(answers: Answers) -> Any:
    """The candidates of a search over its two goals, and those that no other beats in both."""
    candidates = answers.candidates
    (x, across), (y, up) = candidates.goals.items()
    front = np.array(candidates.front, dtype=int)
    front = front[np.argsort(across[front])]
    with styled():
        figure = new_figure(4.2, 5.6)
        axes = figure.add_subplot()
        allowed = candidates.is_allowed
        axes.plot(across[~allowed], up[~allowed], "x", color="0.8", markersize=3, label="not allowed")
        axes.plot(across[allowed], up[allowed], ".", color="0.5", markersize=3, label="allowed")
        axes.plot(across[front], up[front], "o-", markersize=4, label="not beaten")
        axes.set_xlabel(f"{x} (minimised)")
        axes.set_ylabel(f"{y} (minimised)")
        axes.legend()
    return figure
