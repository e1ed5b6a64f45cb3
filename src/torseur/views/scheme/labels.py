"""Labels that keep off each other, and as far as can be off the drawing."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Label", "Placed", "place_labels", "width_of"]

Array = NDArray[np.float64]

NARROW, WIDE = set("iljtfrI.,:;|!'()[]/-_ "), set("mwMW@%")
DIRECTIONS = 16
RINGS = (0.0, 7.0, 16.0, 28.0, 44.0, 64.0, 90.0, 120.0, 160.0)
GAP = 2.0


@dataclass(frozen=True)
class Label:
    """Words, what they belong to, and how they look; those of the higher rank are placed first."""

    words: str
    anchor: tuple[float, float]
    colour: str
    size: float = 12.0
    italic: bool = False
    clearance: float = 6.0
    """How far from the anchor the words begin."""


@dataclass(frozen=True)
class Placed:
    """A label with the box (left, top, right, bottom) it takes."""

    label: Label
    box: tuple[float, float, float, float]

    @property
    def is_far(self) -> bool:
        """Whether a line should lead to what it belongs to."""
        x, y = self.label.anchor
        left, top, right, bottom = self.box
        off = math.hypot(max(left - x, 0.0, x - right), max(top - y, 0.0, y - bottom))
        return off > self.label.clearance + 14.0

    @property
    def near_end(self) -> tuple[float, float]:
        """The point of the box nearest to the anchor."""
        (x, y), (left, top, right, bottom) = self.label.anchor, self.box
        return (min(max(x, left), right), min(max(y, top), bottom))


def width_of(words: str, size: float) -> float:
    """How wide words are at most in the usual sans-serif types."""
    return size * sum(0.42 if c in NARROW else 0.98 if c in WIDE else 0.74 if c.isupper() else 0.63 for c in words)


def place_labels(labels: list[Label], discs: Array, dots: Array, limits: tuple[float, float]) -> list[Placed]:
    """Put each label beside its anchor: never on another label, rarely on a symbol or a line.

    Args:
        labels: the most important first.
        discs: (n, 3) centre and radius of what should stay free.
        dots: (m, 2) points on lines, to be avoided if possible.
        limits: width and height of the sheet.
    """
    placed: list[Placed] = []
    taken = np.zeros((0, 4))
    for label in labels:
        boxes, far = _candidates(label)
        hard = _overlaps(boxes, taken).any(axis=1) | _outside(boxes, limits)
        soft = 6.0 * _covered_discs(boxes, discs) + 2.0 * _covered_dots(boxes, dots)
        cost = far + soft + 1e6 * hard
        best = boxes[int(np.argmin(cost))]
        placed.append(Placed(label, (float(best[0]), float(best[1]), float(best[2]), float(best[3]))))
        taken = np.vstack([taken, best + GAP * np.array([-1.0, -1.0, 1.0, 1.0])])
    return placed


def _candidates(label: Label) -> tuple[Array, Array]:
    """Boxes around an anchor, and what their distance costs; to the right and above come first."""
    width, height = width_of(label.words, label.size), 1.05 * label.size
    x, y = label.anchor
    boxes, costs = [], []
    for ring in RINGS:
        for k in range(DIRECTIONS):
            angle = 2 * math.pi * k / DIRECTIONS
            reach = label.clearance + ring
            cx = x + reach * math.cos(angle) + 0.5 * width * _soft_sign(math.cos(angle))
            cy = y - reach * math.sin(angle) - 0.5 * height * _soft_sign(math.sin(angle))
            boxes.append((cx - width / 2, cy - height / 2, cx + width / 2, cy + height / 2))
            costs.append(0.18 * ring + 0.1 * ((k - 2) % DIRECTIONS) / DIRECTIONS)
    return np.array(boxes), np.array(costs)


def _soft_sign(value: float) -> float:
    return max(-1.0, min(1.0, 1.6 * value))


def _overlaps(boxes: Array, taken: Array) -> NDArray[np.bool_]:
    a, b = boxes[:, None, :], taken[None, :, :]
    found: NDArray[np.bool_] = (
        (a[..., 0] < b[..., 2]) & (b[..., 0] < a[..., 2]) & (a[..., 1] < b[..., 3]) & (b[..., 1] < a[..., 3])
    )
    return found


def _outside(boxes: Array, limits: tuple[float, float]) -> NDArray[np.bool_]:
    low, high = boxes[:, :2] < 2.0, boxes[:, 2:] > np.array(limits) - 2.0
    return np.asarray((low | high).any(axis=1))


def _covered_discs(boxes: Array, discs: Array) -> Array:
    """How deep boxes lie in discs, all together."""
    if not len(discs):
        return np.zeros(len(boxes))
    x, y, r = discs[None, :, 0], discs[None, :, 1], discs[None, :, 2]
    dx = np.maximum(np.maximum(boxes[:, 0:1] - x, x - boxes[:, 2:3]), 0.0)
    dy = np.maximum(np.maximum(boxes[:, 1:2] - y, y - boxes[:, 3:4]), 0.0)
    return np.asarray(np.sum(np.maximum(0.0, 1.0 - np.hypot(dx, dy) / r), axis=1))


def _covered_dots(boxes: Array, dots: Array) -> Array:
    if not len(dots):
        return np.zeros(len(boxes))
    x, y = dots[None, :, 0], dots[None, :, 1]
    inside = (x > boxes[:, 0:1] - 1) & (x < boxes[:, 2:3] + 1) & (y > boxes[:, 1:2] - 1) & (y < boxes[:, 3:4] + 1)
    return np.asarray(np.minimum(np.sum(inside, axis=1), 8.0))
