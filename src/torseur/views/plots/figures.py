"""The figures of a run: named channels, the usual ones, runs beside each other, paths of frames in the world."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from torseur.describe import BASE, BaseKind
from torseur.errors import ArgumentError
from torseur.simulation.results.channels import Audit, Channel, Role
from torseur.simulation.results.result import Run
from torseur.views.plots.panels import Panel, draw_panels, lines_of, panels_by_unit
from torseur.views.plots.style import (
    COLOURS,
    DASHES,
    WIDTH,
    axis_label,
    draw_line,
    new_figure,
    save_figure,
    styled,
    title_of,
)
from torseur.views.plots.vehicle import is_vehicle, plot_vehicle
from torseur.views.values import frame_poses, mechanism_of

__all__ = [
    "Beside",
    "default_frames",
    "figures_to_draw",
    "overview_channels",
    "plot",
    "plot_paths",
    "save_figures",
    "usual_figures",
]

Array = NDArray[np.float64]

VIEWS = ((0, 1, "seen from above"), (0, 2, "seen from the side"), (1, 2, "seen from behind"))
MOST_FRAMES = 4
NARROWEST = 0.65
"""Of a view, as a share of the largest extent: its title has room."""
LEAST = 0.02
"""Of the largest extent of the paths: what moves less is a line at any scale that shows them all."""
STRAIGHT = 1e-3
"""A path this much longer than wide is straight."""
STILL = 1e-12
"""A path that is shorter is none, m."""
NARROW = 0.1
"""A path this much longer than wide has a scale of its own across."""
KEY, LETTER = 0.45, 0.075
"""Room that a line and a letter take in a key, inches."""
TALLEST = 5.4
"""Of the axes, inches."""


def default_frames(run: Run) -> tuple[str, ...]:
    """Named frames on bodies that move; without any, the bodies at the ends of chains; the base if it moves.

    Of the two frames that a loop ties to each other one is enough.
    """
    mechanism = run.mechanism
    if mechanism is None or not len(mechanism.q):
        return ()
    bodies = mechanism.bodies
    tied = {loop.between[1] for loop in mechanism.loops.values()}
    named = [name for name, body in mechanism.frames.items() if name not in bodies and body in bodies]
    named = [name for name in named if name not in tied] or named
    parents = {body.parent for body in bodies.values()}
    ends = [name for name in bodies if name not in parents]
    base = [BASE] if mechanism.base.kind not in (BaseKind.FIXED, BaseKind.MOVING) else []
    return tuple([*base, *(named or ends)][:MOST_FRAMES])


def plot_paths(run: Run, frames: Sequence[str], *, beside: Sequence[Run] = ()) -> Any:
    """The paths of the origins of frames in the planes they move in; a ring at the start, a dot at the end.

    Args:
        run: with its mechanism.
        frames: names of bodies or frames.
        beside: other runs, drawn dashed in the same colours.
    """
    if not 1 <= len(frames) <= len(COLOURS) or len(beside) >= len(DASHES):
        raise ArgumentError(
            "too many paths for one figure",
            where=str(run),
            expected=f"1 to {len(COLOURS)} frames and at most {len(DASHES) - 1} other runs",
            got=f"{len(frames)} frames, {len(beside)} other runs",
        )
    runs = [run, *beside]
    paths = [{frame: frame_poses(r, frame)[:, :3, 3] for frame in frames} for r in runs]
    points = np.concatenate([path for by_frame in paths for path in by_frame.values()])
    views = _worth_seeing(points)
    with styled():
        figure = new_figure(*_size(points, views))
        widths = [max(np.ptp(points[:, i]), NARROWEST * np.ptp(points, axis=0).max(), 1e-9) for i, _, _ in views]
        axes = figure.subplots(1, len(views), squeeze=False, width_ratios=widths)[0]
        lines = []
        for ax, (i, j, title) in zip(axes, views, strict=True):
            for by_frame, dashes in zip(paths, DASHES, strict=False):
                for k, path in enumerate(by_frame.values()):
                    # Paths that coincide stay visible, one inside the other.
                    width = 1.1 + 0.7 * (len(by_frame) - 1 - k)
                    lines.append(_draw(ax, path[:, [i, j]], COLOURS[k], dashes, width))
            ax.set(xlabel=f"{'xyz'[i]} (m)", ylabel=f"{'xyz'[j]} (m)", title=title)
            _proportion(ax, np.ptp(points[:, [i, j]], axis=0), title)
        figure.legend(
            lines[: len(frames)],
            [_called(run, frame) for frame in frames],
            loc="outside lower center",
            ncols=_columns([_called(run, frame) for frame in frames], figure.get_figwidth()),
        )
        title_of(figure, f"{run.name.replace('_', ' ')}: paths")
    return figure


def _proportion(ax: Any, extent: Array, title: str) -> None:
    """The same scale along both axes, unless the path would be a line."""
    across, up = np.maximum(extent, 1e-300)
    if not STRAIGHT * max(across, up) < min(across, up) < NARROW * max(across, up):
        ax.set_aspect("equal", adjustable="datalim")
    else:
        ax.margins(x=0.05, y=0.15)
        ax.set_title(f"{title}, {'y' if title == VIEWS[0][2] else 'z'} stretched")


def _draw(ax: Any, path: Array, colour: str, dashes: Any, width: float) -> Any:
    line = draw_line(ax, *path.T, color=colour, linestyle=dashes, linewidth=width)
    ax.plot(*path[0], "o", mfc="white", mec=colour, mew=0.9, ms=4.0)
    ax.plot(*path[-1], "o", color=colour, ms=3.5)
    return line


def _called(run: Run, frame: str) -> str:
    is_body = frame == BASE or frame in mechanism_of(run).bodies
    return f"origin of {frame}".replace("_", " ") if is_body else frame.replace("_", " ")


def _columns(names: Sequence[str], width: float) -> int:
    """Of the key, so many that it is no wider than the figure, inches."""
    longest = max(map(len, names))
    return max(1, min(len(names), 4, int(width / (KEY + LETTER * longest))))


def _worth_seeing(points: Array) -> list[tuple[int, int, str]]:
    """The planes in which something moves that can be seen; one is always left."""
    extent = np.ptp(points, axis=0)
    moves = extent > LEAST * max(extent.max(), 1e-12)
    if moves.sum() >= 2:
        return [view for view in VIEWS if moves[view[0]] and moves[view[1]]]
    return [next(view for view in VIEWS if moves[view[0]] or moves[view[1]] or not moves.any())]


def _size(points: Array, views: Sequence[tuple[int, int, str]]) -> tuple[float, float]:
    """Height and width of a figure that the paths fill, inches."""
    extent = np.maximum(np.ptp(points, axis=0), 1e-9)
    tallest = max(extent[j] for _, j, _ in views)
    across = sum(max(extent[i], NARROWEST * extent.max()) for i, _, _ in views)
    height = float(np.clip(0.85 * WIDTH * tallest / across, 1.6, TALLEST))
    width = float(np.clip(height * across / tallest + 0.9 * len(views), 3.2, WIDTH))
    return height + 1.1, width


GROUPS: dict[str, tuple[Role, ...]] = {
    "coordinates": (Role.COORDINATE,),
    "speeds": (Role.SPEED,),
    "accelerations": (Role.ACCELERATION,),
    "inputs": (Role.INPUT,),
    "forces": (Role.FORCE, Role.MULTIPLIER),
    "outputs": (Role.OUTPUT,),
    "states": (Role.STATE,),
    "energies": (Role.ENERGY,),
}
VEHICLE = "vehicle"
OVERVIEW = ("coordinates", "speeds", "inputs", "energies")


@dataclass(frozen=True)
class Beside:
    """Another run to compare with, and what to call it."""

    run: Run
    name: str


def plot(
    run: Run,
    *channels: str,
    beside: Sequence[Beside] = (),
    title: str | None = None,
    path: str | os.PathLike[str] | None = None,
) -> Any:
    """One figure of a run, panels by unit: coordinates, speeds, inputs and energies, or the named channels.

    The overview leaves out what is zero all the time. ``plot(run, "vehicle")`` is the usual figure of a vehicle.

    Args:
        run: what to draw.
        channels: names of channels; none means the overview, `vehicle` that of a vehicle.
        beside: other runs, drawn dashed in the same colours.
        title: above the figure; by default the name of the run.
        path: where to save it too: .png, .pdf or .svg.

    Returns:
        A matplotlib figure, which belongs to no window.
    """
    if channels == (VEHICLE,) and VEHICLE not in run.channels:
        figure = plot_vehicle(run, beside=[other.run for other in beside], title=title or _title(run))
    else:
        chosen = [run.channel(n) for n in channels] or overview_channels(run)
        if not chosen:
            raise ArgumentError("there is nothing to draw in this run", where=str(run), expected="names of channels")
        figure = _drawn(run, chosen, beside, title or _title(run), asked_for=bool(channels))
    if path is not None:
        save_figure(figure, path)
    return figure


def overview_channels(run: Run) -> list[Channel]:
    """The channels of the overview; those of a unit that are zero all the time are left out, and such energies."""
    chosen = [channel for group in OVERVIEW for role in GROUPS[group] for channel in run.of(role)]
    return _alive(chosen) or chosen


def _travels(poses: Array) -> bool:
    return bool(np.ptp(poses[:, :3, 3], axis=0).max() > STILL)


def _alive(channels: Sequence[Channel]) -> list[Channel]:
    """Those of the units in which something differs from zero; of energies, that are not zero where nothing pulls."""
    units = {channel.unit for channel in channels if channel.values.any()}
    return [x for x in channels if x.unit in units and (x.role is not Role.ENERGY or x.values.any())]


def _drawn(
    run: Run, channels: Sequence[Channel], beside: Sequence[Beside], title: str, *, asked_for: bool = False
) -> Any:
    """A figure; panels that are zero throughout are left out, unless their channels were asked for by name."""
    with styled():
        panels = panels_by_unit(lines_of(run, channels, [other.run for other in beside]))
        if not asked_for:
            panels = [panel for panel in panels if not panel.is_zero] or panels
        keys = (_words(run), *(other.name for other in beside)) if beside else ()
        return draw_panels(run, panels, title, keys)


def _audit(run: Run, audit: Audit) -> Any:
    """A panel per balance, but for those that are zero throughout: their errors have nothing to do with each other."""
    with styled():
        moving = [channel for channel in audit.channels if channel.values.any()] or audit.channels
        names = [(channel, channel.name.replace("_", " ")) for channel in moving]
        panels = [Panel(tuple(lines_of(run, [c])), axis_label(c.unit, name)) for c, name in names]
        return draw_panels(run, panels, _title(run, audit.verdict))


def _words(run: Run) -> str:
    return run.name.replace("_", " ")


def _title(run: Run, what: str | None = None) -> str:
    name = _words(run)
    if run.mechanism is not None and run.mechanism.title and what is None:
        name = run.mechanism.title
    stopped = "" if run.complete else f" (stopped at {run.time[-1]:.4g} s: {run.reason})"
    return f"{name}{f': {what}' if what else ''}{stopped}"


def usual_figures(run: Run, *, beside: Sequence[Beside] = (), frames: Sequence[str] | None = None) -> dict[str, Any]:
    """The figures one wants to see of a run: every group of channels that is not zero throughout, the audit, and the
    paths of frames; of a vehicle its usual figure first.

    Args:
        run: what to draw.
        beside: other runs, drawn dashed in the same colours.
        frames: whose paths to draw; by default named frames, or the ends of chains.
    """
    return {name: draw() for name, draw in figures_to_draw(run, beside=beside, frames=frames).items()}


def figures_to_draw(
    run: Run, *, beside: Sequence[Beside] = (), frames: Sequence[str] | None = None
) -> dict[str, Callable[[], Any]]:
    """The `usual_figures` by name, each drawn when it is called: one that fails leaves the others."""
    drawers: dict[str, Callable[[], Any]] = {}
    if is_vehicle(run):
        drawers[VEHICLE] = partial(plot_vehicle, run, beside=[other.run for other in beside], title=_title(run))
    for group, roles in GROUPS.items():
        channels = _alive([channel for role in roles for channel in run.of(role)])
        if channels:
            drawers[group] = partial(_drawn, run, channels, beside, _title(run, group))
    if run.audited is not None and run.audited.channels:
        drawers["audit"] = partial(_audit, run, run.audited)
    chosen = default_frames(run) if frames is None else frames
    if chosen and (frames is not None or any(_travels(frame_poses(run, frame)) for frame in chosen)):
        drawers["paths"] = partial(plot_paths, run, chosen, beside=[other.run for other in beside])
    return drawers


def save_figures(
    run: Run,
    folder: str | os.PathLike[str],
    *,
    endings: Sequence[str] = (".png",),
    beside: Sequence[Beside] = (),
    frames: Sequence[str] | None = None,
) -> Mapping[str, Path]:
    """Save the usual figures into a folder, which is made if needed, as ``coordinates.png`` and so on.

    Returns:
        What was written, by name of the file.
    """
    written = {}
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name, draw in figures_to_draw(run, beside=beside, frames=frames).items():
        figure = draw()
        for ending in endings:
            file = Path(folder) / f"{name}{ending}"
            save_figure(figure, file)
            written[file.name] = file
    return written
