"""The figures of a run: named channels, the usual ones, runs beside each other."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from torseur.errors import ArgumentError
from torseur.simulation.results.channels import Audit, Channel, Role
from torseur.simulation.results.result import Run
from torseur.views.plots.panels import Panel, draw_panels, lines_of, panels_by_unit
from torseur.views.plots.paths import default_frames, plot_paths
from torseur.views.plots.style import save_figure, styled
from torseur.views.plots.vehicle import is_vehicle, plot_vehicle
from torseur.views.plots.words import axis_label

__all__ = ["Beside", "figures_to_draw", "overview_channels", "plot", "save_figures", "usual_figures"]

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
        figure = _drawn(run, chosen, beside, title or _title(run))
    if path is not None:
        save_figure(figure, path)
    return figure


def overview_channels(run: Run) -> list[Channel]:
    """The channels of the overview; those of a unit that are zero all the time are left out."""
    chosen = [channel for group in OVERVIEW for role in GROUPS[group] for channel in run.of(role)]
    return _alive(chosen) or chosen


def _alive(channels: Sequence[Channel]) -> list[Channel]:
    """Those of the units in which something differs from zero."""
    units = {channel.unit for channel in channels if channel.values.any()}
    return [channel for channel in channels if channel.unit in units]


def _drawn(run: Run, channels: Sequence[Channel], beside: Sequence[Beside], title: str) -> Any:
    with styled():
        panels = panels_by_unit(lines_of(run, channels, [other.run for other in beside]))
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
    found: dict[str, Callable[[], Any]] = {}
    if is_vehicle(run):
        found[VEHICLE] = partial(plot_vehicle, run, beside=[other.run for other in beside], title=_title(run))
    for group, roles in GROUPS.items():
        channels = _alive([channel for role in roles for channel in run.of(role)])
        if channels:
            found[group] = partial(_drawn, run, channels, beside, _title(run, group))
    if run.audited is not None and run.audited.channels:
        found["audit"] = partial(_audit, run, run.audited)
    chosen = default_frames(run) if frames is None else frames
    if chosen:
        found["paths"] = partial(plot_paths, run, chosen, beside=[other.run for other in beside])
    return found


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
