"""One figure on a run: the mechanism at a few instants, the curves one looks at first, and what the audit says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from torseur.simulation.results.result import Run
from torseur.views.plots.figures import overview_channels
from torseur.views.plots.panels import Panel, draw_panel, lines_of, panels_by_unit
from torseur.views.plots.style import INK, new_figure, styled, title_of
from torseur.views.plots.vehicle import is_vehicle, key_panels
from torseur.views.scene.snapshot import picture

__all__ = ["draw_overview"]

INSTANTS = (0.0, 0.37, 1.0)
"""Shares of the run."""
MOST_PANELS = 3
PICTURE = 520, 400
"""Width and height, pixels."""


def draw_overview(run: Run, folder: Path = Path()) -> Any:
    """The figure; a run without a mechanism has curves alone.

    Args:
        run: what to draw.
        folder: where the files of its shapes are.
    """
    with styled():
        panels = _panels(run)
        has_pictures = run.mechanism is not None
        figure = new_figure(1.1 + 2.0 * has_pictures + 1.55 * len(panels))
        parts = figure.subfigures(2, 1, height_ratios=[2.0, 1.55 * len(panels) + 0.4]) if has_pictures else [figure]
        if has_pictures:
            _draw_pictures(parts[0], run, folder)
        axes = parts[-1].subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
        for ax, panel in zip(axes, panels, strict=True):
            draw_panel(ax, panel)
        axes[-1].set_xlabel("time (s)")
        parts[-1].align_ylabels(axes)
        title = run.mechanism.title if run.mechanism is not None and run.mechanism.title else run.name
        title_of(figure, f"{title}\n{_verdict(run)}")
        return figure


def _verdict(run: Run) -> str:
    stopped = "" if run.complete else f"stopped at {run.time[-1]:.4g} s; "
    return stopped + ("no audit" if run.audited is None else run.audited.verdict)


def _panels(run: Run) -> list[Panel]:
    """Of a vehicle what one looks at first; else of coordinates, speeds, inputs and energies, for each unit the
    panel with most lines."""
    if is_vehicle(run) and (keys := key_panels(run)):
        return keys[:MOST_PANELS]
    drawn = panels_by_unit(lines_of(run, overview_channels(run)))
    panels = [panel for panel in drawn if not panel.is_zero] or drawn
    fullest: dict[str, Panel] = {}
    for panel in panels:
        if panel.label not in fullest or len(panel.lines) > len(fullest[panel.label].lines):
            fullest[panel.label] = panel
    return list(fullest.values())[:MOST_PANELS]


def _draw_pictures(part: Any, run: Run, folder: Path) -> None:
    times = run.time[0] + (run.time[-1] - run.time[0]) * np.array(INSTANTS)
    for ax, time in zip(part.subplots(1, len(INSTANTS)), times, strict=True):
        pixels = np.round(255.0 * picture(run, at=float(time), size=PICTURE, folder=folder)).astype(np.uint8)
        ax.imshow(pixels, interpolation="hanning")
        ax.set_axis_off()
        ax.set_title(f"{time:.3g} s", loc="center", fontsize=8, color=INK)
