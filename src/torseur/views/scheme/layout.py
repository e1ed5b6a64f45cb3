"""The size of the sheet, and where the mechanism stands on it."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from torseur.views.scheme.labels import width_of
from torseur.views.scheme.skeleton import Skeleton
from torseur.views.scheme.symbols import Pen
from torseur.views.scheme.view import View

__all__ = ["Layout", "laid_out"]

Array = NDArray[np.float64]

UNIT = 11.0
"""Pixels: half the length of a joint symbol."""
MARGIN = 75.0
HEAD = 44.0
WISHED = 85.0
"""Pixels between neighbouring joints."""
SMALLEST, PER_JOINT, LARGEST = 420.0, 45.0, 1500.0
"""Pixels of the mechanism's larger extent: from the smallest to as much more as its joints need."""
NOTE, TITLE = 11.0, 15.0
WIDEST_TITLE = 560.0


@dataclass(frozen=True)
class Layout:
    """A sheet: its size, the pen that draws the mechanism on it, the lines of text at its foot."""

    width: float
    height: float
    pen: Pen
    foot: float
    """The height at which the foot begins."""
    notes: list[str]


def laid_out(skeleton: Skeleton, view: View, title: str, notes: list[str]) -> Layout:
    """A sheet on which neighbouring joints are far enough apart to be read."""
    flat = view.flat(skeleton.points())
    rims = [view.flat(w.centre) + s * w.radius for w in skeleton.wheels for s in (-1.0, 1.0)]
    corners = np.vstack([flat, *(rim[None] for rim in rims)])
    low, high = corners.min(axis=0), corners.max(axis=0)
    largest = min(SMALLEST + PER_JOINT * len(skeleton.joints), LARGEST)
    scale = _scale(flat, max(float(np.max(high - low)), 0.3), largest)
    drawn = np.maximum((high - low) * scale, [240.0, 120.0])
    width = max(drawn[0] + 2 * MARGIN, min(40.0 + width_of(title, TITLE), WIDEST_TITLE))
    lines = [line for note in notes for line in textwrap.wrap(note, max(30, int(width / (0.55 * NOTE))))]
    foot = HEAD + drawn[1] + 2 * MARGIN
    centre = np.array([width / 2, HEAD + MARGIN + drawn[1] / 2])
    middle = 0.5 * (low + high) * np.array([1.0, -1.0]) * scale
    pen = Pen(view, centre - middle, scale, UNIT)
    return Layout(width, foot + 62.0 + 15.0 * len(lines), pen, foot, lines)


def _scale(flat: Array, extent: float, largest: float) -> float:
    """Pixels per unit of length: a quarter of the points have their neighbour nearer than what is wished, not more."""
    points = np.unique(np.round(flat, 3), axis=0)
    if len(points) < 2:
        return SMALLEST / extent
    apart = np.linalg.norm(points[:, None] - points[None], axis=-1)
    np.fill_diagonal(apart, np.inf)
    close = float(np.quantile(apart.min(axis=1), 0.25))
    return float(np.clip(WISHED / max(close, 1e-9), SMALLEST / extent, largest / extent))
