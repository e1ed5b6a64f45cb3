"""The kinematic scheme of a mechanism as a picture."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from torseur.describe import BaseKind, Mechanism
from torseur.dynamics.system import System
from torseur.views.scheme.assembly import assembled
from torseur.views.scheme.labels import Label, Placed, place_labels, width_of
from torseur.views.scheme.marks import GROUND, draw_ground, draw_scale, draw_triad, draw_wheel, nice_length
from torseur.views.scheme.routes import Route, Routing, routed
from torseur.views.scheme.skeleton import Joint, Skeleton, skeleton_of
from torseur.views.scheme.svg import Sheet, Style
from torseur.views.scheme.symbols import INK, Pen, draw_arrows, draw_axis, draw_symbol, hull, visible_length
from torseur.views.scheme.values import Values, values_for
from torseur.views.scheme.view import best_view

__all__ = ["Picture", "draw_scheme"]

Array = NDArray[np.float64]

COLOURS = ("#1f5fa8", "#b5431e", "#2e7d32", "#7b3fa0", "#9a6a00", "#00798c", "#a0305f", "#4d5b6a")
UNIT = 11.0
MARGIN = 75.0
HEAD = 40.0
GAP = "#c0392b"


@dataclass(frozen=True)
class Picture:
    """A drawing, what was assumed to make it, and where its labels are."""

    svg: str
    notes: tuple[str, ...]
    labels: tuple[Placed, ...]


def draw_scheme(
    mechanism: Mechanism, *, pose: Mapping[str, float] | None = None, parameters: Mapping[str, float] | None = None
) -> Picture:
    """The kinematic scheme of a mechanism: pieces as lines, joints as symbols, coordinates with their positive sense.

    Args:
        pose: coordinates, by name, rad and m; the others are where they start, or where loops close.
        parameters: values of parameters, by name; they come before those of the description.

    >>> from torseur.describe import Body, Joint, Mechanism
    >>> pendulum = Mechanism(name="pendulum", bodies={"bob": Body(joint=Joint(kind="revolute"))})
    >>> draw_scheme(pendulum, pose={"q_bob": 0.5}).svg[:4]
    '<svg'
    """
    values = assembled(values_for(System(mechanism), pose or {}, parameters or {}))
    skeleton = skeleton_of(values)
    return _Composition(mechanism, values, skeleton).picture()


class _Composition:
    """One picture in the making."""

    def __init__(self, mechanism: Mechanism, values: Values, skeleton: Skeleton) -> None:
        self.mechanism, self.values, self.skeleton = mechanism, values, skeleton
        self.view = best_view(skeleton, mechanism)
        flat = self.view.flat(skeleton.points())
        wheels = [self.view.flat(w.centre) + s * w.radius for w in skeleton.wheels for s in (-1.0, 1.0)]
        corners = np.vstack([flat, *(w[None] for w in wheels)])
        low, high = corners.min(axis=0), corners.max(axis=0)
        scale = _scale(flat, float(np.max(high - low)))
        self.notes = _wrapped(self.notes_of(), 0)
        drawn = (high - low) * scale
        self.width = max(drawn[0] + 2 * MARGIN, 440.0, 60.0 + width_of(self.title, 15))
        self.notes = _wrapped(self.notes_of(), self.width - 40.0)
        self.foot = 66.0 + 15.0 * len(self.notes)
        self.height = max(drawn[1], 120.0) + 2 * MARGIN + HEAD + self.foot
        middle = 0.5 * (low + high) * np.array([1.0, -1.0]) * scale
        centre = np.array([self.width / 2, HEAD + MARGIN + max(drawn[1], 120.0) / 2])
        self.pen = Pen(self.view, centre - middle, scale, UNIT)
        self.routing: Routing = routed(skeleton, self.view, 3.1 * UNIT / scale)
        self.sheet = Sheet()
        self.labels: list[Label] = []
        self.discs: list[tuple[float, float, float]] = []
        self.lines: list[Array] = []

    @property
    def title(self) -> str:
        return self.mechanism.title or self.mechanism.name

    def notes_of(self) -> list[str]:
        return list(self.values.notes)
