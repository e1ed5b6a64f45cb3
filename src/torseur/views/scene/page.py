"""The page of a playback: title, clock, legend, and the curves of a run beside its view in space.

viser gives a page that fills the window. Beside it stand the curves, drawn by a script in the same file; they follow
the slider of its player, and a click on a curve sets it.
"""

from __future__ import annotations

import html
import json
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

import numpy as np

from torseur.describe import BASE
from torseur.simulation.results.channels import Channel
from torseur.simulation.results.result import Run
from torseur.views.plots.figures import overview_channels
from torseur.views.plots.panels import lines_of, panels_by_unit
from torseur.views.plots.style import COLOURS, DASHES
from torseur.views.plots.words import text_label
from torseur.views.scene.animation import Scene

__all__ = ["legend_of", "page_with_curves", "title_of"]

MOST_POINTS = 600
"""Of a curve."""
DUST = 1e-12
"""Of the largest value of a panel: what is smaller is rounding, and written as 0."""
MOST_PANELS = 6


def page_with_curves(page: str, run: Run, scene: Scene) -> str:
    """A page of viser with title, clock, legend and curves."""
    data = {
        "title": title_of(run),
        "legend": [{"label": label, "colour": colour} for label, colour in legend_of(scene)],
        **_curves(run),
    }
    text = json.dumps(data, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    title = html.escape(run.name.replace("_", " "))
    page = page.replace("<title>Viser</title>", f"<title>{title}</title>", 1)
    page = page.replace("</head>", f"<style>{_asset('playback.css')}</style></head>", 1)
    extra = f"""<div id="caption"></div><aside id="curves"></aside>
<script type="application/json" id="run-data">{text}</script><script>{_asset("playback.js")}</script>"""
    head, found, tail = page.rpartition("</body>")
    return head + extra + found + tail


def title_of(run: Run) -> str:
    """What is written above a playback."""
    title = run.mechanism.title if run.mechanism is not None else None
    name = run.name.replace("_", " ")
    return name if not title or title == name else f"{title}: {name}"


def legend_of(scene: Scene) -> list[tuple[str, str]]:
    """What lines and arrows mean, with their colours; arrows of one colour by what they have in common."""
    found = []
    for k, frame in enumerate(scene.animation.traces):
        what = "the base" if frame == BASE else frame.replace("_", " ")
        found.append((f"path of {what}", COLOURS[k % len(COLOURS)]))
    arrows: dict[str, list[str]] = {}
    for arrow in scene.animation.arrows:
        arrows.setdefault(arrow.colour, []).append(arrow.legend or arrow.name.replace("_", " "))
    for colour, names in arrows.items():
        found += [(name, colour) for name in dict.fromkeys(names)]
    return found


def _asset(name: str) -> str:
    return files("torseur.views.scene").joinpath(name).read_text(encoding="utf-8")


def _curves(run: Run) -> dict[str, Any]:
    """Times and panels of the overview, at most so many points of each."""
    some = np.unique(np.linspace(0, len(run.time) - 1, min(len(run.time), MOST_POINTS)).round().astype(int))
    panels = list(_panels(run, overview_channels(run), some))[:MOST_PANELS]
    return {"time": [_short(t, 9) for t in run.time[some]], "panels": panels}


def _panels(run: Run, channels: list[Channel], some: Any) -> Iterator[dict[str, Any]]:
    for panel in panels_by_unit(lines_of(run, channels, label=text_label)):
        largest = max(
            (np.abs(x[np.isfinite(x)]).max(initial=0.0) for x in (line.values for line in panel.lines)), default=0.0
        )
        lines: list[dict[str, Any]] = [
            {
                "label": line.label,
                "meaning": line.meaning,
                "colour": line.colour,
                "dashes": DASHES.index(line.dashes),
                "values": [_short(x, 6, DUST * largest) if np.isfinite(x) else None for x in line.values[some]],
            }
            for line in panel.lines
        ]
        if any(value is not None for line in lines for value in line["values"]):
            yield {"label": panel.label, "lines": lines}


def _short(x: float, digits: int, dust: float = 0.0) -> float:
    return float(f"{x:.{digits}g}") if abs(x) > dust else 0.0
