"""Figures of identifications: efforts measured and predicted, residuals, estimates with their deviations."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from torseur.identification.estimation import autocorrelation
from torseur.identification.identification import Identification, Prediction
from torseur.views.plots.style import COLOURS, FAINT, INK, axis_label, new_figure, styled, symbol_label, title_of

__all__ = ["estimates", "figures_of_identification", "prediction", "residuals"]


MOST_ROWS = 12
_LAGS = 40


def figures_of_identification(
    identified: Identification, unseen: Prediction | None = None
) -> dict[str, Callable[[], Any]]:
    """Name -> what draws it."""
    figures: dict[str, Callable[[], Any]] = {
        "prediction": partial(prediction, identified.prediction, "What was measured, and what the estimate predicts"),
        "residuals": partial(residuals, identified),
        "estimates": partial(estimates, identified),
    }
    if unseen is not None:
        figures["validation"] = partial(prediction, unseen, "On measurements that were not used")
    return figures


def prediction(shown: Prediction, title: str) -> Any:
    """Efforts over time: measured and predicted; their difference, unless the efforts are far from zero."""
    rows = _largest(shown)
    with styled():
        figure = new_figure(0.7 + 1.25 * len(rows))
        axes = np.atleast_1d(figure.subplots(len(rows), 1, sharex=True))
        for ax, k in zip(axes, rows, strict=True):
            low, high = _range(shown, k)
            has_zero = low - (high - low) <= 0.0 <= high + (high - low)
            for t, y, f in zip(shown.time, shown.measured, shown.predicted, strict=True):
                ax.plot(t, y[:, k], color=COLOURS[0], linewidth=2.4, alpha=0.45, label="measured")
                ax.plot(t, f[:, k], color=COLOURS[1], linewidth=0.8, label="predicted")
                if has_zero:
                    ax.plot(t, y[:, k] - f[:, k], color=COLOURS[6], linewidth=0.6, label="difference")
            ax.set_title(f"{_called(shown.names[k])}: residual {100 * shown.relative[k]:.2g} %", fontsize=8)
            ax.set_ylabel(axis_label(shown.units[k]))
            ax.margins(x=0.0)
        looks = {line.get_label(): line for ax in axes for line in reversed(ax.lines)}
        names = [name for name in ("measured", "predicted", "difference") if name in looks]
        figure.legend([looks[name] for name in names], names, loc="outside lower center", ncols=3)
        axes[-1].set_xlabel("time (s)")
        figure.align_ylabels(axes)
        title_of(figure, title)
    return figure


def _called(name: str) -> str:
    """An equation by its speed: the symbol of a rate has a dot."""
    return symbol_label(name[1:], 1) if len(name) > 1 and name[0] == "d" else symbol_label(name)


def _range(shown: Prediction, k: int) -> tuple[float, float]:
    values = np.concatenate([y[:, k][np.isfinite(y[:, k])] for y in (*shown.measured, *shown.predicted)])
    return (float(values.min()), float(values.max())) if values.size else (0.0, 0.0)


def _largest(shown: Prediction) -> list[int]:
    """The equations that are worth drawing, in order: those where something was measured."""
    power = sum(np.nansum(y**2, axis=0) for y in shown.measured)
    live = [k for k in range(len(shown.names)) if power[k] > 1e-18 * max(float(np.max(power)), 1e-300)]
    return live[:MOST_ROWS] or [0]


def residuals(identified: Identification) -> Any:
    """Residuals over time, how they are spread, and how they are correlated."""
    shown = identified.prediction
    rows = _largest(shown)
    s = identified.estimate.deviations_of_equations
    with styled():
        figure = new_figure(0.6 + 1.15 * len(rows))
        axes = figure.subplots(len(rows), 3, squeeze=False, width_ratios=[2.2, 1.0, 1.4])
        for (over_time, spread, correlated), k in zip(axes, rows, strict=True):
            e = [r[:, k] / s[k] for r in identified.estimate.residuals]
            for t, values in zip(shown.time, e, strict=True):
                over_time.plot(t, values, ".", color=COLOURS[0], markersize=1.5)
            over_time.set_title(_called(shown.names[k]), fontsize=8)
            over_time.set_ylabel("deviations")
            joined = np.concatenate(e)
            joined = joined[np.isfinite(joined)]
            spread.hist(joined, bins=31, range=(-4.0, 4.0), density=True, color=COLOURS[4])
            z = np.linspace(-4.0, 4.0, 101)
            spread.plot(z, np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi), color=INK, linewidth=0.8)
            spread.set_yticks([])
            longest = max(e, key=len)
            lags = min(_LAGS, len(longest) // 3)
            rho = autocorrelation(longest, lags)
            correlated.bar(np.arange(lags + 1), rho, width=0.7, color=COLOURS[2])
            bound = 2.0 / np.sqrt(max(len(longest), 1))
            correlated.axhspan(-bound, bound, color=FAINT, alpha=0.4, linewidth=0)
            correlated.set_ylim(-0.6, 1.05)
        axes[-1][0].set_xlabel("time (s)")
        axes[-1][1].set_xlabel("deviations")
        axes[-1][2].set_xlabel("lag (samples)")
        figure.align_ylabels(axes[:, 0])
        title = "Residuals in standard deviations: over time, histogram with the normal law, autocorrelation"
        title_of(figure, title)
    return figure


def estimates(identified: Identification) -> Any:
    """Every unknown with two standard deviations either side, beside its value in the description."""
    levels = [x for x in identified.levels if np.isfinite(x.value)]
    with styled():
        figure = new_figure(0.8 + 0.16 * len(levels))
        ax = figure.subplots()
        for row, x in enumerate(levels):
            size = max(abs(x.value), abs(x.described) if np.isfinite(x.described) else 0.0, 1e-300)
            wide = min(2.0 * x.deviation / size, 10.0)
            colour = {"determined": COLOURS[0], "uncertain": COLOURS[5]}.get(x.verdict, COLOURS[1])
            ax.errorbar(x.value / size, row, xerr=wide, fmt="o", color=colour, markersize=3, linewidth=1.0)
            if np.isfinite(x.described):
                ax.plot(x.described / size, row, "|", color=INK, markersize=8)
        ax.set_yticks(range(len(levels)), [x.name for x in levels], fontsize=6.5)
        ax.set_ylim(len(levels) - 0.4, -0.6)
        ax.set_xlim(-2.0, 2.0)
        ax.set_xlabel("estimate over its magnitude, with two standard deviations; | is the value of the model file")
        title_of(figure, "Estimates: blue determined, yellow uncertain, red not determined")
    return figure
