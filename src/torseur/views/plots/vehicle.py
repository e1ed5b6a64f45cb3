"""The usual figure of a vehicle: path, speeds, attitude, suspension, loads, slips and forces of all its wheels.

A vehicle is a mechanism with tyres as loads, on a base that moves: any number of wheels, on any bodies. Panels of what
it does not have, or of what is zero all the time, are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from torseur.describe import BASE, WORLD, Mechanism
from torseur.errors import ArgumentError
from torseur.packs.tyres.load import TyreLoad
from torseur.simulation.results.channels import Role
from torseur.simulation.results.result import Run
from torseur.views.plots.panels import COINCIDING, Line, Panel, frame_values
from torseur.views.plots.style import COLOURS, DASHES, INK, axis_label, draw_line, new_figure, styled, title_of
from torseur.views.values import frame_poses

__all__ = ["OF_WHEELS", "is_vehicle", "key_panels", "plot_vehicle"]

Array = NDArray[np.float64]

COLUMNS, PANEL, WIDTH = 3, 1.8, 11.5
MOST_KEYS = 6
"""Lines that a panel names itself; more are left to the key of the figure."""
NOTHING = 1e-6
"""What no vehicle shows in the unit of any panel: the yaw rate of a car that goes straight ahead, say."""
LEAST = 0.02
"""Share of its values that an axis spans at least."""
DEGREES, KILO, MILLI, PERCENT = 180.0 / np.pi, 1e-3, 1e3, 100.0

OF_WHEELS = (
    ("Fz", "vertical load", "kN", KILO),
    ("grip", "friction used", "", 1.0),
    ("kappa", "longitudinal slip", "%", PERCENT),
    ("alpha", "side slip angle", "deg", DEGREES),
    ("Fx", "longitudinal force", "kN", KILO),
    ("Fy", "lateral force", "kN", KILO),
    ("Mz", "aligning moment", "N m", 1.0),
    ("camber", "camber", "deg", DEGREES),
)


@dataclass(frozen=True)
class _Line:
    label: str
    x: Array
    y: Array
    colour: str = INK
    dashes: Any = "-"


@dataclass(frozen=True)
class _Panel:
    label: str
    lines: tuple[_Line, ...]
    across: str = "time (s)"
    is_path: bool = False
    by_wheel: bool = False
    """Its lines are wheels: the key of the figure names them."""


def is_vehicle(run: Run) -> bool:
    """Whether it is the run of something on tyres that drives."""
    return run.mechanism is not None and run.mechanism.has_moving_base and bool(_wheels(run.mechanism))


def plot_vehicle(run: Run, *, beside: Sequence[Run] = (), title: str) -> Any:
    """One figure with the usual panels; other runs are drawn dashed in the same colours."""
    if run.mechanism is None or not is_vehicle(run):
        raise ArgumentError(
            "this is not the run of a vehicle",
            where=str(run),
            expected="tyres as loads, on a base that moves",
            remedy="give names of channels",
        )
    panels = [_with(panel, run, beside) for panel in _panels(run)]
    rows = -(-len(panels) // COLUMNS)
    with styled():
        figure = new_figure(PANEL * rows + 0.8, WIDTH)
        axes = figure.subplots(rows, COLUMNS, squeeze=False).ravel()
        for ax, panel in zip(axes, panels, strict=False):
            _draw(ax, panel)
        for ax in axes[len(panels) :]:
            ax.remove()
        _key(figure, _wheels(run.mechanism))
        title_of(figure, title)
    return figure


def _with(panel: _Panel, run: Run, beside: Sequence[Run]) -> _Panel:
    """A panel with the same of other runs, dashed."""
    lines = list(panel.lines)
    for k, other in enumerate(beside, 1):
        others = {p.label: p for p in _panels(other)} if is_vehicle(other) else {}
        colours = {line.label: line.colour for line in panel.lines}
        for line in others[panel.label].lines if panel.label in others else ():
            if line.label in colours:
                lines.append(_Line("", line.x, line.y, colours[line.label], DASHES[k % len(DASHES)]))
    return _Panel(panel.label, tuple(lines), panel.across, panel.is_path, panel.by_wheel)


def key_panels(run: Run) -> list[Panel]:
    """What one looks at first of a vehicle: its speed, what it turns with, and how its wheels are loaded."""
    first = ("acceleration (m/s²)", "yaw rate (deg/s)", "vertical load (kN)", "forward speed (m/s)")
    by_label = {panel.label: panel for panel in _panels(run)}
    return [
        Panel(
            tuple(
                Line(x.label, "", x.x, x.y, x.colour, d)
                for x, d in zip(by_label[label].lines, _dashes(by_label[label]), strict=True)
            ),
            label,
        )
        for label in first
        if label in by_label and any(np.ptp(line.y) > LEAST * np.abs(line.y).max() for line in by_label[label].lines)
    ]


# -- what is shown -----------------------------------------------------------------------------------------------------
def _panels(run: Run) -> list[_Panel]:
    assert run.mechanism is not None
    panels = [_path(run), *_of_chassis(run), *_of_driver(run), *_of_suspension(run), *_of_wheels(run)]
    return [panel for panel in panels if any(np.any(np.abs(line.y) > NOTHING) for line in panel.lines)]


def _wheels(mechanism: Mechanism) -> dict[str, tuple[str, Any]]:
    """Load of a tyre -> its look, the same in every panel."""
    names = [name for name, load in mechanism.loads.items() if isinstance(load, TyreLoad)]
    return {name: (COLOURS[k % len(COLOURS)], DASHES[k // len(COLOURS) % len(DASHES)]) for k, name in enumerate(names)}


def _path(run: Run) -> _Panel:
    assert run.mechanism is not None
    lines = []
    for k, body in enumerate((BASE, *_trailers(run.mechanism))):
        place = frame_poses(run, body)[:, :3, 3]
        name = "chassis" if body == BASE else body.replace("_", " ")
        lines.append(_Line(name, place[:, 0], place[:, 1], COLOURS[k % len(COLOURS)]))
    return _Panel(axis_label("m", "y"), tuple(lines), axis_label("m", "x"), is_path=True)


def _trailers(mechanism: Mechanism) -> Iterator[str]:
    """Bodies with mass that carry some wheels, but not all, and more than one."""
    wheels = _wheels(mechanism)
    carried: dict[str, int] = {}
    for name in wheels:
        load = mechanism.loads[name]
        assert isinstance(load, TyreLoad)
        rolling = mechanism.constraints[load.wheel].rolling
        body = None if rolling is None else mechanism.frames.get(rolling.wheel)
        while body is not None and body not in (BASE, WORLD):
            carried[body] = carried.get(body, 0) + 1
            body = mechanism.bodies[body].parent
    for body, count in carried.items():
        if 1 < count < len(wheels) and mechanism.bodies[body].inertia is not None:
            yield body


def _articulations(mechanism: Mechanism) -> Iterator[str]:
    """The angles of the joints between the chassis and its trailers."""
    for body in _trailers(mechanism):
        while body not in (BASE, WORLD):
            yield from (
                x for x in mechanism.bodies[body].joint.coordinates if mechanism.bodies[body].joint.kind == "revolute"
            )
            body = mechanism.bodies[body].parent


def _series(run: Run, label: str, unit: str, named: dict[str, Array]) -> _Panel:
    lines = [_Line(name, run.time, y, COLOURS[k % len(COLOURS)]) for k, (name, y) in enumerate(named.items())]
    return _Panel(axis_label(unit, label), tuple(lines))


def _by_wheel(run: Run, label: str, unit: str, named: dict[str, Array]) -> _Panel:
    """Lines that are named after wheels, in their colours."""
    assert run.mechanism is not None
    panel = _series(run, label, unit, named)
    looks = {_words(name): look for name, look in _wheels(run.mechanism).items()}
    lines = [_Line(x.label, x.x, x.y, *looks.get(x.label, (x.colour, x.dashes))) for x in panel.lines]
    return _Panel(panel.label, tuple(lines), by_wheel=set(named) <= set(looks))


def _of_chassis(run: Run) -> Iterator[_Panel]:
    def have(name: str) -> Array:
        return run[name] if name in run.channels else np.zeros(len(run.time))

    vx, vy, vz, wx, wy, wz = (have(name) for name in ("vx", "vy", "vz", "wx", "wy", "wz"))
    if {"vx", "vy", "wz"} <= set(run.channels):
        yield _series(run, "forward speed", "m/s", {"forward": vx})
        yield _series(run, "lateral speed", "m/s", {"to the left": vy})
        ahead = have("dvx") + wy * vz - wz * vy  # of the origin of the chassis, in its axes
        left = have("dvy") + wz * vx - wx * vz
        yield _series(run, "acceleration", "m/s2", {"forward": ahead, "to the left": left})
        yield _series(run, "yaw rate", "deg/s", {"yaw rate": DEGREES * wz})
    for names in (("yaw",), ("roll", "pitch")):
        known = {name: DEGREES * run[name] for name in names if name in run.channels}
        if known:
            yield _series(run, " and ".join(known), "deg", known)


def _of_driver(run: Run) -> Iterator[_Panel]:
    assert run.mechanism is not None
    steered = {_words(n, "steer_"): DEGREES * run[n] for n in run.channels if n.startswith("steer_")}
    if steered:
        yield _by_wheel(run, "steering", "deg", steered)
    angles = {n: DEGREES * run[n] for n in _articulations(run.mechanism) if n in run.channels}
    if angles:
        yield _series(run, "articulation", "deg", {_words(n): y for n, y in angles.items()})
    torques = {c.name: c.values for c in run.of(Role.INPUT) if c.unit == "N m" and c.values.ndim == 1}
    if torques:
        yield _series(run, "torque", "N m", {_words(n): y for n, y in torques.items()})


def _of_suspension(run: Run) -> Iterator[_Panel]:
    assert run.mechanism is not None
    sliding = [
        name
        for body in run.mechanism.bodies.values()
        if body.joint.kind == "prismatic"
        for name in body.joint.coordinates
        if name in run.channels
    ]
    if sliding:
        moved = {_words(name, "travel_"): MILLI * (run[name] - run[name][0]) for name in sliding}
        yield _by_wheel(run, "travel from the start", "mm", moved)


def _of_wheels(run: Run) -> Iterator[_Panel]:
    assert run.mechanism is not None
    for key, what, unit, factor in OF_WHEELS:
        lines = [
            _Line(name.replace("_", " "), run.time, factor * run[f"{name}_{key}"], *look)
            for name, look in _wheels(run.mechanism).items()
            if f"{name}_{key}" in run.channels
        ]
        if lines:
            yield _Panel(axis_label(unit, what), tuple(lines), by_wheel=True)


def _words(name: str, prefix: str = "") -> str:
    return name.removeprefix(prefix).replace("_", " ")


# -- drawing -----------------------------------------------------------------------------------------------------------
def _draw(ax: Any, panel: _Panel) -> None:
    for line, dashes in zip(panel.lines, _dashes(panel), strict=True):
        look = {"label": line.label} if line.label else {}
        draw_line(ax, line.x, line.y, color=line.colour, linestyle=dashes, **look)
    ax.set(xlabel=panel.across, ylabel=panel.label)
    if panel.is_path:
        low, high = min(x.y.min() for x in panel.lines), max(x.y.max() for x in panel.lines)
        long = max(float(np.ptp(x.x)) for x in panel.lines)
        if high - low > 0.2 * long:
            ax.set_aspect("equal", adjustable="datalim")
        else:  # a straight road: a narrow band would show nothing
            middle, half = (low + high) / 2, max((high - low) / 2, 1.0)
            ax.set_ylim(middle - 1.1 * half, middle + 1.1 * half)
    else:
        ax.margins(x=0.0)
        frame_values(ax, [(line.x, line.y) for line in panel.lines])
        low, high = ax.get_ylim()
        size = max(abs(low), abs(high))
        if high - low < LEAST * size:  # no axis that magnifies what hardly changes
            ax.set_ylim((low + high - LEAST * size) / 2, (low + high + LEAST * size) / 2)
    named = [line for line in panel.lines if line.label]
    if not panel.by_wheel and 1 < len(named) <= MOST_KEYS:
        ax.legend(ncols=2 if len(named) > 3 else 1, fontsize=7, handlelength=1.6, borderaxespad=0.2)


def _dashes(panel: _Panel) -> list[Any]:
    """A line that runs along an earlier one is dashed, so that both are seen."""
    if panel.is_path or any(not line.label for line in panel.lines):  # runs are compared: dashes tell them apart
        return [line.dashes for line in panel.lines]
    span = float(np.ptp(np.concatenate([line.y for line in panel.lines])))
    dashes = []
    for k, line in enumerate(panel.lines):
        along = sum(float(np.abs(line.y - other.y).max()) <= COINCIDING * span for other in panel.lines[:k])
        dashes.append(DASHES[min(along, len(DASHES) - 1)] if along else line.dashes)
    return dashes


def _key(figure: Any, wheels: dict[str, tuple[str, Any]]) -> None:
    from matplotlib.lines import Line2D

    looks = [Line2D([], [], color=colour, linestyle=dashes) for colour, dashes in wheels.values()]
    names = [name.replace("_", " ") for name in wheels]
    figure.legend(looks, names, loc="outside lower center", ncols=min(len(names), 8), fontsize=7.5, handlelength=2.0)
