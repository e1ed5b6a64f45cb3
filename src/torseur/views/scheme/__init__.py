"""Kinematic schemes: a mechanism as engineers sketch it, written as SVG: links below, joints on them, labels on top."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from torseur.describe import BaseKind, Formula, Mechanism
from torseur.dynamics.tree.system import System
from torseur.errors import ArgumentError
from torseur.spatial.joints import Quantity
from torseur.views.scheme.routes import TITLE, Layout, Route, best_view, laid_out, routed
from torseur.views.scheme.svg import Label, Placed, Shape, Sheet, Style, place_labels, width_of
from torseur.views.scheme.symbols import (
    GROUND,
    INK,
    draw_arrows,
    draw_axis,
    draw_edge,
    draw_ground,
    draw_scale,
    draw_symbol,
    draw_triad,
    draw_wheel,
    hull,
    nice_length,
    visible_length,
)
from torseur.views.skeleton import Joint, Skeleton, skeleton_of
from torseur.views.values import Values, assembled, values_for

__all__ = ["Picture", "draw_scheme"]


Array = NDArray[np.float64]

MOST_BODIES = 300
COLOURS = ("#1f5fa8", "#b5431e", "#2e7d32", "#7b3fa0", "#9a6a00", "#00798c", "#a0305f", "#4d5b6a")
GAP = "#c0392b"
MOST_CORNERS = 5


@dataclass(frozen=True)
class Picture:
    """A drawing, what was assumed to make it, where its labels are, and the shapes and size of its sheet."""

    svg: str
    notes: tuple[str, ...]
    labels: tuple[Placed, ...]
    shapes: tuple[Shape, ...] = ()
    size: tuple[float, float] = (0.0, 0.0)


def draw_scheme(
    mechanism: Mechanism,
    *,
    pose: Mapping[str, float] | None = None,
    parameters: Mapping[str, float] | None = None,
    titled: bool = True,
) -> Picture:
    """The kinematic scheme of a mechanism: links as lines, joints as symbols, coordinates with their positive sense.

    Args:
        mechanism: what to draw.
        pose: coordinates, by name, rad and m; the others are where they start, or where loops close.
        parameters: values of parameters, by name; they come before those of the description.
        titled: with title and notes on the picture; without, for a page that has a caption.

    >>> from torseur.describe import Body, Joint, Mechanism
    >>> pendulum = Mechanism(name="pendulum", bodies={"bob": Body(joint=Joint(kind="revolute"))})
    >>> draw_scheme(pendulum, pose={"q_bob": 0.5}).svg[:4]
    '<svg'
    """
    if len(mechanism.bodies) > MOST_BODIES:
        got = str(len(mechanism.bodies))
        raise ArgumentError("too many bodies for one picture", expected=f"at most {MOST_BODIES}", got=got)
    values = assembled(values_for(System(mechanism), pose or {}, parameters or {}))
    skeleton = skeleton_of(values)
    view = best_view(skeleton, mechanism)
    title = mechanism.name if mechanism.title in (None, mechanism.name) else f"{mechanism.name}: {mechanism.title}"
    notes = [*values.notes, *_posture(values), *_idle(mechanism, skeleton)]
    layout = laid_out(skeleton, view, title if titled else "", notes if titled else [])
    drawing = Composition(skeleton, layout)
    drawing.draw(title if titled else "")
    svg = drawing.sheet.document(layout.width, layout.height, title, "\n".join(["kinematic scheme", *notes]))
    size = (layout.width, layout.height)
    return Picture(svg, tuple(notes), tuple(drawing.placed), tuple(drawing.sheet.shapes), size)


def _idle(mechanism: Mechanism, skeleton: Skeleton) -> list[str]:
    """Coordinates of free-form kinematics that move nothing, and so are nowhere in the picture."""
    moving = {name for joint in skeleton.joints for label in joint.labels for name in Formula(label).names}
    idle = [name for name in mechanism.coordinates if name not in moving]
    return [f"not drawn, for no body moves with them: {', '.join(idle)}"] if idle else []


def _posture(values: Values) -> list[str]:
    """The coordinates that are not zero, in words."""
    named = zip(values.system.mechanism.q, values.q, strict=True)
    shown = [f"{x.name} = {value:.3g}" for x, value in named if abs(value) > 5e-4 and x.quantity is not Quantity.NUMBER]
    return [f"drawn at {', '.join(shown)}; other coordinates 0"] if shown else []


class Composition:
    """One scheme on its sheet."""

    def __init__(self, skeleton: Skeleton, layout: Layout) -> None:
        self.skeleton, self.layout, self.pen = skeleton, layout, layout.pen
        self.routing = routed(skeleton, self.pen.view, 3.1 * self.pen.unit / self.pen.scale)
        self.spots = self.pen.at(self.routing.symbols)
        self.index = {id(joint): k for k, joint in enumerate(skeleton.joints)}
        self.sheet = Sheet()
        self.placed: list[Placed] = []
        self._labels: list[tuple[int, Label]] = []
        self._discs: list[tuple[float, float, float]] = []
        self._lines: list[Array] = []

    def draw(self, title: str) -> None:
        """All layers."""
        drawn = {k: self._lines_of(k) for k in range(len(self.skeleton.links))}
        self._wheels()
        self._areas(drawn)
        for k, lines in drawn.items():
            self._link(k, lines)
        self._grounds(drawn[0])
        self._frames()
        self._joints()
        self._write_labels()
        self._surroundings(title)

    # -- links --------------------------------------------------------------------------------------------------------
    def _colour(self, link: int) -> str:
        return GROUND if link == 0 else COLOURS[(link - 1) % len(COLOURS)]

    def _lines_of(self, link: int) -> list[tuple[Route, Array]]:
        routes = [route for route in self.routing.routes if route.link == link]
        return [(route, self.pen.at(route.points)) for route in routes]

    def _areas(self, drawn: dict[int, list[tuple[Route, Array]]]) -> None:
        """Pieces that hold three joints or more are shown as areas."""
        for k, lines in drawn.items():
            ways = [line for route, line in lines if route.path.joint is not None]
            if k and 1 < len(ways) <= MOST_CORNERS:
                outline = hull(np.concatenate(ways))
                if len(outline) > 2:
                    self.sheet.polyline(outline, Style(fill=self._colour(k), opacity=0.12), closed=True)

    def _link(self, k: int, lines: list[tuple[Route, Array]]) -> None:
        colour, near = self._colour(k), 1.3 * self.pen.unit
        solid, thin = Style(colour, 2.6), Style(colour, 1.0, dash="2 2")
        carries = any(not route.path.is_frame and visible_length(line) > near for route, line in lines)
        names = []
        for route, line in lines:
            path = route.path
            if k or path.name:
                self._line(line, thin if path.is_frame and (carries or not k) else solid)
            if path.name is None or (path.is_frame and visible_length(line) > near):
                continue
            if visible_length(line) < near:
                names.append(path.name)
            else:
                self.sheet.circle(line[-1], 3.0, Style(colour, 1.0, colour))
                self._label(1, path.name, line[-1], colour)
        longest = max((line for _, line in lines), key=visible_length, default=np.zeros((0, 2)))
        if k and visible_length(longest) < near and not any(w.link == k for w in self.skeleton.wheels):
            longest = self._stub(k, colour)
        if names:
            self._label(1, ", ".join(names), _midway(longest) if len(longest) else self._home(k), colour)

    def _line(self, line: Array, style: Style) -> None:
        if len(line) > 1:
            self.sheet.polyline(line, style)
            self._lines.append(line)

    def _home(self, link: int) -> Array:
        carrier = self.skeleton.links[link].carrier
        if carrier is None:
            return self.pen.at(self.skeleton.base[:3, 3])
        return self._spot(carrier)

    def _spot(self, joint: Joint) -> Array:
        return np.asarray(self.spots[self.index[id(joint)]])

    def _stub(self, link: int, colour: str) -> Array:
        """A short line for a link without extent, so that it is seen which way it turns."""
        carrier = self.skeleton.links[link].carrier
        home = self._home(link)
        if carrier is None or carrier.is_base:
            return np.array([home])
        across = [sign * carrier.b[:3, k] for sign in (1.0, -1.0) for k in range(3) if k != carrier.axis]
        choices = [carrier.b[:3, carrier.axis]] if carrier.freedoms.is_prismatic else across
        ways = [self.pen.along(choice) for choice in choices]
        dots = np.concatenate([_sampled(line) for line in self._lines] or [np.zeros((0, 2))])
        tips = [home + 2.6 * self.pen.unit * way for way in ways]
        crowd = [int(np.sum(np.linalg.norm(dots - tip, axis=-1) < 1.2 * self.pen.unit)) for tip in tips]
        seen = [float(np.linalg.norm(way)) - 0.2 * dots_near for way, dots_near in zip(ways, crowd, strict=True)]
        line = np.array([home, tips[int(np.argmax(seen))]])
        self._line(line, Style(colour, 2.6))
        return line

    def _wheels(self) -> None:
        for wheel in self.skeleton.wheels:
            if wheel.radius > 0.0:
                draw_wheel(self.sheet, self.pen, wheel, self._colour(wheel.link))
            else:
                draw_edge(self.sheet, self.pen, wheel, self._colour(wheel.link))

    # -- ground --------------------------------------------------------------------------------------------------------
    def _grounds(self, lines: list[tuple[Route, Array]]) -> None:
        """Hatching where the mechanism stands: at the base if it carries one joint, else at each joint it carries."""
        if self.skeleton.base_kind not in (BaseKind.FIXED, BaseKind.MOVING) and len(lines) == 0:
            return
        ways = [line for route, line in lines if route.path.joint is not None]
        moves = [visible_length(self.pen.at(route.path.points)) for route, _ in lines if route.path.joint is not None]
        if len(ways) == 1 and moves[0] > 1.8 * self.pen.unit:
            self._line(ways[0], Style(GROUND, 2.6))
            self._ground(ways[0][0], 0.0)
            return
        for way in ways or [self.pen.at(self.skeleton.base[:3, 3])[None]]:
            self._ground(way[-1], 2.3 * self.pen.unit)

    def _ground(self, place: Array, below: float) -> None:
        draw_ground(self.sheet, self.pen, place, below)
        foot, u = place + np.array([0.0, below]), self.pen.unit
        self._lines += [np.array([place, foot]), foot + u * np.array([[-1.8, 0.3], [1.5, 0.3]])]

    # -- frames and joints ---------------------------------------------------------------------------------------------
    def _frames(self) -> None:
        for route in self.routing.routes:
            if route.path.is_frame and visible_length(self.pen.at(route.points)) > 1.3 * self.pen.unit:
                place = self.pen.at(route.path.pose[:3, 3])
                draw_triad(self.sheet, self.pen, place, route.path.pose[:3, :3], 1.7 * self.pen.unit)
                self._label(2, route.path.name or "", place, INK)
                self._discs.append((float(place[0]), float(place[1]), self.pen.unit))

    def _joints(self) -> None:
        depths = self.routing.symbols @ self.pen.view.eye
        joints = [(self.skeleton.joints[k], self.spots[k]) for k in np.argsort(depths, kind="stable")]
        for joint, spot in joints:
            if joint.freedoms.has_axis:
                draw_axis(self.sheet, self.pen, joint, spot)
        for joint, spot in joints:
            ends = self.pen.at(np.array([joint.a[:3, 3], joint.b[:3, 3]]))
            if joint.cut and visible_length(ends) > 2.0:
                self.sheet.polyline(ends, Style(GAP, 1.2, dash="5 3"))
            if (joint.freedoms.is_free or joint.freedoms.is_planar) and not joint.is_base:
                self.sheet.polyline(ends, Style(self._colour(joint.parent), 1.2, dash="1.5 3"))
            draw_symbol(self.sheet, self.pen, joint, spot, self._colour(joint.parent) if joint.cut else INK)
            self._discs.append((float(spot[0]), float(spot[1]), 1.25 * self.pen.unit))
        for joint, spot in joints:
            self._name_joint(joint, spot)

    def _name_joint(self, joint: Joint, spot: Array) -> None:
        if joint.cut:
            self._label(0, joint.labels[0], spot, self._colour(joint.parent), off=15.0)
            return
        anchors = draw_arrows(self.sheet, self.pen, joint, spot)
        if not anchors:
            self._label(0, _together(joint), spot, INK, italic=True, off=15.0)
        for anchor, words in zip(anchors, joint.labels, strict=False):
            self._label(0, words, anchor, INK, italic=True)
            self._discs.append((float(anchor[0]), float(anchor[1]), 0.5 * self.pen.unit))

    # -- labels --------------------------------------------------------------------------------------------------------
    def _label(
        self, rank: int, words: str, place: Array, colour: str, *, italic: bool = False, off: float = 6.0
    ) -> None:
        spot = (float(place[0]), float(place[1]))
        self._labels.append((rank, Label(words, spot, colour, 12.0 if rank < 2 else 11.0, italic, off)))

    def _write_labels(self) -> None:
        labels = [label for _, label in sorted(self._labels, key=lambda entry: entry[0])]
        dots = np.concatenate([_sampled(line) for line in self._lines] or [np.zeros((0, 2))])
        discs = np.array(self._discs).reshape(-1, 3)
        self.placed = place_labels(labels, discs, dots, (self.layout.width, self.layout.foot))
        for placed in self.placed:
            if placed.is_far:
                self.sheet.polyline([placed.label.anchor, placed.near_end], Style("#999999", 0.7))
        for placed in self.placed:
            left, top, right, bottom = placed.box
            corners = [(left - 1, top), (right + 1, top), (right + 1, bottom), (left - 1, bottom)]
            self.sheet.polyline(corners, Style(fill="white", opacity=0.7), closed=True)
            look = placed.label
            self.sheet.text((left, 0.5 * (top + bottom)), look.words, look.colour, size=look.size, italic=look.italic)

    # -- surroundings --------------------------------------------------------------------------------------------------
    def _surroundings(self, title: str) -> None:
        """Title, directions of the world, scale, notes."""
        if title:
            size = min(TITLE, TITLE * (self.layout.width - 40.0) / max(width_of(title, TITLE), 1.0))
            self.sheet.text((20.0, 24.0), title, INK, size=size, bold=True)
        foot = self.layout.foot
        draw_triad(self.sheet, self.pen, np.array([42.0, foot + 22.0]), np.eye(3), 24.0, named=True)
        metres = nice_length(110.0 / self.pen.scale * self.skeleton.size)
        pixels = metres / self.skeleton.size * self.pen.scale
        draw_scale(self.sheet, np.array([90.0, foot + 30.0]), pixels, f"{metres:g} m")
        for k, line in enumerate(self.layout.notes):
            self.sheet.text((20.0, foot + 60.0 + 15.0 * k), line, "#666666", size=11.0)


def _together(joint: Joint) -> str:
    """The coordinates of a joint in one label; what their names begin with is written once."""
    shared = joint.labels[0][: joint.labels[0].rfind("_") + 1]
    shared = shared if all(label.startswith(shared) for label in joint.labels) and len(joint.labels) > 1 else ""
    words = " ".join(label.removeprefix(shared) for label in joint.labels)
    begin = shared.rstrip("_")
    if joint.is_base:
        begin = "planar base" if joint.freedoms.is_planar else "floating base"
    return f"{begin}: {words}" if begin else words


def _midway(line: Array) -> Array:
    """The middle of the longest straight part of a line."""
    if len(line) < 2:
        return np.asarray(line[0])
    steps = np.linalg.norm(np.diff(line, axis=0), axis=-1)
    k = int(np.argmax(steps))
    return np.asarray(0.5 * (line[k] + line[k + 1]))


def _sampled(line: Array) -> Array:
    """Points on a line, a few pixels apart."""
    parts = [
        a + (b - a) * np.linspace(0.0, 1.0, max(2, int(np.linalg.norm(b - a) / 5.0)))[:, None]
        for a, b in pairwise(line)
    ]
    return np.concatenate(parts) if parts else line
