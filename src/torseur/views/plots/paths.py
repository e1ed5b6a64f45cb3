"""Where frames go: their paths seen along the axes of the world."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from torseur.describe import BASE, BaseKind
from torseur.errors import ArgumentError
from torseur.simulation.results.result import Run
from torseur.views.plots.style import COLOURS, DASHES, WIDTH, draw_line, new_figure, styled, title_of
from torseur.views.run_poses import frame_poses, mechanism_of

__all__ = ["default_frames", "plot_paths"]

Array = NDArray[np.float64]

VIEWS = ((0, 1, "seen from above"), (0, 2, "seen from the side"), (1, 2, "seen from behind"))
MOST_FRAMES = 4
NARROWEST = 0.65
"""Of a view, as a share of the largest extent: its title has room."""
LEAST = 0.02
"""Of the largest extent of the paths: what moves less is a line at any scale that shows them all."""
KEY, LETTER = 0.45, 0.075
"""Room that a line and a letter take in a key, inches."""
TALLEST = 5.4
"""Of the axes, inches."""


def default_frames(run: Run) -> tuple[str, ...]:
    """Named frames on bodies that move; without any, the bodies at the ends of chains; the base if it moves."""
    mechanism = run.mechanism
    if mechanism is None or not len(mechanism.q):
        return ()
    bodies = mechanism.bodies
    named = [name for name, body in mechanism.frames.items() if name not in bodies and body in bodies]
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
    points = np.concatenate([path for found in paths for path in found.values()])
    views = _worth_seeing(points)
    with styled():
        figure = new_figure(*_size(points, views))
        widths = [max(np.ptp(points[:, i]), NARROWEST * np.ptp(points, axis=0).max(), 1e-9) for i, _, _ in views]
        axes = figure.subplots(1, len(views), squeeze=False, width_ratios=widths)[0]
        lines = []
        for ax, (i, j, title) in zip(axes, views, strict=True):
            for found, dashes in zip(paths, DASHES, strict=False):
                for k, path in enumerate(found.values()):
                    # Paths that coincide stay visible, one inside the other.
                    width = 1.1 + 0.7 * (len(found) - 1 - k)
                    lines.append(_draw(ax, path[:, [i, j]], COLOURS[k], dashes, width))
            ax.set(xlabel=f"{'xyz'[i]} (m)", ylabel=f"{'xyz'[j]} (m)", title=title)
            ax.set_aspect("equal", adjustable="datalim")
        figure.legend(
            lines[: len(frames)],
            [_called(run, frame) for frame in frames],
            loc="outside lower center",
            ncols=_columns([_called(run, frame) for frame in frames], figure.get_figwidth()),
        )
        title_of(figure, f"{run.name.replace('_', ' ')}: paths")
    return figure


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
