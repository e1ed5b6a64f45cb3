"""A figure of panels over one time axis: one panel per unit, every line labelled at its end."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from torseur.simulation.results.channels import Channel, Role
from torseur.simulation.results.result import Run
from torseur.views.plots.sharing import curve_of, seen_range, shared_out
from torseur.views.plots.style import (
    COLOURS,
    DASHES,
    FAINT,
    INK,
    axis_label,
    draw_line,
    folded,
    literal,
    name_label,
    new_figure,
    title_of,
)

__all__ = [
    "COINCIDING",
    "Line",
    "Panel",
    "continuous_angles",
    "draw_panel",
    "draw_panels",
    "frame_values",
    "lines_of",
    "panels_by_unit",
]

Array = NDArray[np.float64]

MOST_EVENTS = 6
"""That are named on a figure; more are marked only."""
DUST = 1e-12
"""Share of the largest value of a unit below which there is only rounding."""
LETTER = 0.0105
"""Width of a letter of an event's name, as a share of the axis, with some room for other languages."""
PANEL_HEIGHT, MARGIN = 1.75, 0.75
COINCIDING = 4e-3
"""Lines nearer to each other than this share of their panel are drawn as one: less than the width of a line."""


@dataclass(frozen=True)
class Line:
    """One line of a panel."""

    label: str
    unit: str
    time: Array
    values: Array
    colour: str = INK
    dashes: Any = "-"
    meaning: str = ""
    is_copy: bool = False
    """It belongs to another run that is compared, and shares its label with the first."""
    is_quaternion: bool = False
    """It is a component of a unit quaternion."""


@dataclass(frozen=True)
class Panel:
    """Lines over time under one axis label."""

    lines: tuple[Line, ...]
    label: str

    @property
    def is_zero(self) -> bool:
        return not any(line.values.any() for line in self.lines)


def lines_of(
    run: Run,
    channels: Iterable[Channel],
    others: Sequence[Run] = (),
    *,
    label: Callable[[Run, str], str] = name_label,
) -> list[Line]:
    """The lines of channels, vectors by components; those of the other runs follow, dashed, in the same colours.

    Args:
        run: of the channels.
        channels: in their order.
        others: runs that are compared with it.
        label: what a channel is called.
    """
    lines: list[Line] = []
    count = 0
    for channel in channels:
        for column, values in channel.columns.items():
            name = _label(run, channel, column, label)
            colour, dashes = COLOURS[count % len(COLOURS)], DASHES[0]
            turned_on, is_part = _turned_on(run, values, channel), _is_quaternion(channel)
            lines.append(
                Line(name, channel.unit, run.time, turned_on, colour, dashes, channel.meaning, is_quaternion=is_part)
            )
            for k, other in enumerate(others, 1):
                there = other.channels.get(channel.name)
                if there is not None and column in there.columns and there.unit == channel.unit:
                    style = DASHES[k % len(DASHES)]
                    there_values = _turned_on(other, there.columns[column], channel)
                    lines.append(Line(name, channel.unit, other.time, there_values, colour, style, is_copy=True))
            count += 1
    return lines


def _is_quaternion(channel: Channel) -> bool:
    """Whether it is a component of a unit quaternion: a coordinate without a unit, named like one."""
    return channel.role is Role.COORDINATE and channel.unit == "" and bool(re.search(r"q[wxyz]$", channel.name))


def _turned_on(run: Run, values: Array, channel: Channel) -> Array:
    """Values as they are drawn: angles without jumps.

    Of the roll, pitch and yaw of a frame those are taken that are next to the ones before: the same rotation is also
    roll + pi, pi - pitch, yaw + pi, and beyond a pitch of pi/2 these go on smoothly.
    """
    stem, _, which = channel.name.rpartition("_")
    names = [f"{stem}_{part}" for part in ("roll", "pitch", "yaw")]
    if channel.role is not Role.OUTPUT or f"{stem}_{which}" not in names or not all(n in run.channels for n in names):
        return _unwrapped(values, channel)
    angles = np.stack([run[name] for name in names], axis=1)
    if angles.ndim != 2 or channel.unit != "rad" or not np.isfinite(angles).all():
        return _unwrapped(values, channel)
    return continuous_angles(angles)[:, names.index(channel.name)]


def continuous_angles(angles: Array) -> Array:
    """Roll, pitch and yaw of each instant, by the nearest of the triples that stand for the same rotation."""
    angles_turned_on = angles.copy()
    turn = 2.0 * np.pi
    for k in range(1, len(angles_turned_on)):
        roll, pitch, yaw = angles[k]
        both = np.array([(roll, pitch, yaw), (roll + np.pi, np.pi - pitch, yaw + np.pi)])
        both += turn * np.round((angles_turned_on[k - 1] - both) / turn)
        angles_turned_on[k] = both[np.argmin(np.abs(both - angles_turned_on[k - 1]).sum(axis=1))]
    return angles_turned_on


def _unwrapped(values: Array, channel: Channel) -> Array:
    """An angle that jumps by a turn, as the arc tangent of an output does, without its jumps.

    Only what stays within one turn is taken for such an angle: a coordinate counts its turns by itself.
    """
    turn = {"rad": 2.0 * np.pi, "deg": 360.0}.get(channel.unit)
    if turn is None or not np.isfinite(values).all() or np.ptp(values) > turn * (1.0 + 1e-9):
        return values
    jumps = np.abs(np.diff(values)) > 0.75 * turn
    return np.unwrap(values, period=turn) if jumps.any() else values


def _label(run: Run, channel: Channel, column: str, label: Callable[[Run, str], str]) -> str:
    if column == channel.name:
        return label(run, channel.name)
    place = column.removeprefix(channel.name)
    if channel.values.shape[1:] == (3,):
        place = f" {'xyz'[int(place[1:-1])]}"
    return label(run, channel.name) + place


def panels_by_unit(lines: Iterable[Line]) -> list[Panel]:
    """Lines of one unit and a like size together, in the order in which they first appear."""
    by_unit: dict[str, dict[str, list[Line]]] = {}
    for line in lines:
        by_unit.setdefault(line.unit, {}).setdefault(line.label, []).append(line)
    panels = []
    for unit, by_label in by_unit.items():
        curves = [curve_of(label, [(x.time, x.values) for x in some]) for label, some in by_label.items()]
        largest = _largest(line for some in by_label.values() for line in some)
        for labels in shared_out(curves):
            chosen = [line for label in labels for line in by_label[label]]
            if _largest(chosen) <= DUST * largest:  # a panel of rounding errors is one of zeros
                chosen = [replace(line, values=0.0 * line.values) for line in chosen]
            panels.append(Panel(_told_apart(_recoloured(chosen)), axis_label(unit, _what(unit, chosen))))
    return panels


def _largest(lines: Iterable[Line]) -> float:
    return max(
        (float(np.abs(x[np.isfinite(x)]).max(initial=0.0)) for x in (line.values for line in lines)), default=0.0
    )


def _what(unit: str, lines: Sequence[Line]) -> str | None:
    """What an axis without a unit shows: the one line, quaternions, or what all lines end with."""
    labels = list(dict.fromkeys(line.label for line in lines))
    if unit not in ("", "1"):
        return None
    if all(line.is_quaternion for line in lines if not line.is_copy):
        return "unit quaternion"
    if any("$" in label for label in labels):
        return None
    kinds = list(dict.fromkeys(label.split()[-1] for label in labels if label.strip()))
    return (
        labels[0] if len(labels) == 1 else " and ".join(kinds) if len(kinds) <= 2 and len(kinds) < len(labels) else None
    )


def _recoloured(lines: Sequence[Line]) -> tuple[Line, ...]:
    """Colours from the first one on, by label: a panel never begins in the middle of the palette."""
    order = {label: k for k, label in enumerate(dict.fromkeys(line.label for line in lines))}
    return tuple(replace(line, colour=COLOURS[order[line.label] % len(COLOURS)]) for line in lines)


def _told_apart(lines: Sequence[Line]) -> tuple[Line, ...]:
    """Lines of one run; one that runs along an earlier one is dashed, so that both are seen."""
    if any(line.is_copy for line in lines):
        return tuple(lines)
    values = np.array([line.values for line in lines])
    finite = values[np.isfinite(values)]
    close = COINCIDING * float(np.ptp(finite)) if finite.size else 0.0
    told: list[Line] = []
    for k, line in enumerate(lines):
        gaps = [np.nanmax(np.abs(values[k] - other), initial=0.0) for other in values[:k]]
        along = sum(gap <= close for gap in gaps)
        told.append(replace(line, dashes=DASHES[min(along, len(DASHES) - 1)]))
    return tuple(told)


def draw_panels(run: Run, panels: Sequence[Panel], title: str, keys: Sequence[str] = ()) -> Any:
    """A figure of panels one below the other.

    Args:
        run: whose events are marked.
        panels: from the top.
        title: above all.
        keys: the names of the runs, if several are compared, in the order of their dashes.
    """
    figure = new_figure(MARGIN + PANEL_HEIGHT * len(panels))
    axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    for ax, panel in zip(axes, panels, strict=True):
        draw_panel(ax, panel, is_compared=bool(keys))
    _mark_events(axes, run)
    axes[-1].set_xlabel("time (s)")
    figure.align_ylabels(axes)
    title_of(figure, title)
    if keys:
        _key(figure, keys)
    return figure


def draw_panel(ax: Any, panel: Panel, *, is_compared: bool = False) -> None:
    """The lines of a panel, each labelled at its end."""
    for line in panel.lines:
        # The first of several runs is a broad pale line, or those that agree with it would hide it.
        broad = {"linewidth": 2.6, "alpha": 0.4, "zorder": 2} if is_compared and not line.is_copy else {"zorder": 3}
        draw_line(ax, line.time, line.values, color=line.colour, linestyle=line.dashes, **broad)
    ax.set_ylabel(literal(folded(panel.label)))
    ax.margins(x=0.0, y=0.08)
    frame_values(ax, [(line.time, line.values) for line in panel.lines])
    _label_ends(ax, panel)


def frame_values(ax: Any, lines: Sequence[tuple[Array, Array]]) -> None:
    """The limits of values: of a constant no magnified rounding errors; what a transient of the start reaches beyond
    all that follows is written, not shown."""
    low, high = seen_range(lines)
    size = max(abs(low), abs(high))
    if high - low <= 1e-12 * size:
        half = 0.1 * size or 1.0
        ax.set_ylim(low - half, high + half)
        return
    values = np.concatenate([y[np.isfinite(y)] for _, y in lines])
    least, most = float(values.min()), float(values.max())
    if least == low and most == high:
        return
    margin = 0.15 * (high - low)
    ax.set_ylim(low - margin, high + margin)
    beyond = [f"{x:.3g}" for x in (least, most) if not low <= x <= high]
    y, va = (0.03, "bottom") if least < low and most <= high else (0.97, "top")
    ax.annotate(
        f"reaches {' and '.join(beyond)} at the start", (0.04, y), xycoords="axes fraction",
        color="#808080", fontsize=6.5, va=va, ha="left",
    )  # fmt: skip


def _label_ends(ax: Any, panel: Panel) -> None:
    """Every label at the right end of its line; those that would overlap are pushed apart."""
    ends = [(line, _end(line)) for line in panel.lines if not line.is_copy]
    if len(ends) == 1 and ends[0][0].label in panel.label:
        return
    low, high = ax.get_ylim()
    wanted = np.array([np.clip((y - low) / (high - low), 0.0, 1.0) for _, y in ends])
    height = ax.bbox.height * 72.0 / ax.figure.dpi
    places = _apart(wanted, 10.5 / max(height, 1.0))
    for (line, _), y in zip(ends, places, strict=True):
        ax.annotate(
            line.label, (1.0, y), (5, 0), xycoords="axes fraction", textcoords="offset points",
            color=line.colour, va="center", ha="left", annotation_clip=False,
        )  # fmt: skip


def _end(line: Line) -> float:
    finite = line.values[np.isfinite(line.values)]
    return float(finite[-1]) if finite.size else 0.0


def _apart(wanted: Array, gap: float) -> Array:
    """Places near the wanted ones, at least a gap apart, in the same order: neighbours that collide share the move.

    They stay between 0 and 1 while there is room.

    >>> _apart(np.array([0.5, 0.5]), 0.1), _apart(np.array([0.0, 0.0]), 0.1)
    (array([0.45, 0.55]), array([0. , 0.1]))
    """

    def within(middle: float, count: int) -> float:
        half = (count - 1) * gap / 2
        return min(max(middle, half), 1.0 - half) if 2 * half <= 1.0 else middle

    order = np.argsort(wanted, kind="stable")
    blocks: list[tuple[float, int]] = []  # middle and number of labels of each heap
    for y in wanted[order]:
        middle, count = float(y), 1
        while blocks and middle - (count - 1) * gap / 2 < blocks[-1][0] + (blocks[-1][1] - 1) * gap / 2 + gap:
            other, more = blocks.pop()
            middle, count = (middle * count + other * more) / (count + more), count + more
            middle = within(middle, count)
        blocks.append((middle, count))
    spread = np.concatenate([middle + gap * (np.arange(count) - (count - 1) / 2) for middle, count in blocks])
    places = np.empty_like(wanted)
    places[order] = spread
    return places


def _mark_events(axes: Sequence[Any], run: Run) -> None:
    for event in run.events:
        for ax in axes:
            ax.axvline(event.time, color=FAINT, linewidth=0.7, linestyle=(0, (2, 2)), zorder=1)
    if len(run.events) > MOST_EVENTS:
        return
    begin, end = axes[0].get_xlim()
    free = begin
    for event in run.events:
        long = LETTER * len(event.what) * (end - begin)
        if event.time < free:  # it would stand on the one before
            continue
        is_last = event.time + long > end
        if is_last and event.time - long < free:
            continue
        free = end if is_last else event.time + long
        axes[0].annotate(
            event.what, (event.time, 1.0), (-2 if is_last else 2, 2), xycoords=("data", "axes fraction"),
            textcoords="offset points", color="#808080", fontsize=6.5, va="bottom", ha="right" if is_last else "left",
        )  # fmt: skip


def _key(figure: Any, keys: Sequence[str]) -> None:
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], color=INK, linestyle=DASHES[k % len(DASHES)]) for k in range(len(keys))]
    handles[0].set(linewidth=2.6, alpha=0.4)
    figure.legend(handles, keys, loc="outside lower center", ncols=min(len(keys), 3), handlelength=2.6)
