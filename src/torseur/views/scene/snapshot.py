"""Still pictures of a run; no browser needed."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from torseur.errors import ArgumentError, MissingExtra
from torseur.formats import replace_file
from torseur.simulation.results.result import Run
from torseur.views.plots.style import COLOURS
from torseur.views.scene.canvas import Canvas
from torseur.views.scene.film import Camera, Film, camera_of, film_of
from torseur.views.scene.meshes import Triangles, arrow, cylinder, pointing
from torseur.views.scene.parts import ACCENT, ARROW, Array, Drawing
from torseur.views.scene.playback import scene_of
from torseur.views.scene.stage import FIELD_OF_VIEW, rgb, round_length

__all__ = ["picture", "snapshot"]

CELLS = 10
"""Of the ground, to each side."""


def snapshot(
    run: Run,
    path: str | os.PathLike[str],
    *,
    at: float | None = None,
    size: tuple[int, int] = (1200, 900),
    **options: Any,
) -> None:
    """Save a picture of a run at one time.

    Args:
        run: with its mechanism.
        path: a name that ends in .png.
        at: the time, s; by default the start.
        size: width and height, pixels.
        options: as those of `animate`; traces reach up to the time.
    """
    file = Path(path)
    if file.suffix.lower() != ".png":
        raise ArgumentError("a snapshot is a PNG file", where=str(file), expected="a name that ends in .png")
    try:
        from matplotlib.image import imsave
    except ImportError:
        raise MissingExtra("matplotlib", extra="plots", purpose="PNG files") from None
    stream, unsigned = io.BytesIO(), {"Software": None}  # the same picture is the same file
    imsave(stream, picture(run, at=at, size=size, **options), format="png", metadata=unsigned)  # type: ignore[arg-type, unused-ignore]
    replace_file(file, stream.getvalue())


def picture(run: Run, *, at: float | None = None, size: tuple[int, int] = (1200, 900), **options: Any) -> Array:
    """The same as pixels (height, width, 3), from 0 to 1."""
    moment = float(run.time[0] if at is None else at)
    scene = scene_of(run, **options)
    still = film_of(run.resampled([moment]), scene.drawing, arrows=options.get("arrows", ()))
    camera = camera_of(still if scene.follow is not None else scene.film, scene.drawing)
    canvas = Canvas(camera, size, FIELD_OF_VIEW)
    solids = list(_in_world(scene.drawing, still))
    for triangles, colour in solids:
        canvas.solid(triangles, np.array(rgb(colour)) / 255.0)
    share = (moment - run.time[0]) / max(float(scene.film.times[-1]), 1e-300)
    for k, trace in enumerate(scene.film.traces.values()):
        past = trace[: round(share * (len(trace) - 1)) + 1]
        canvas.line(past, np.array(rgb(COLOURS[k % len(COLOURS)])) / 255.0, 2.0)
    _ground(canvas, camera)
    for triangles, _ in solids:
        canvas.shadow(triangles, camera.basis[2], camera.ground, np.full(3, 0.93))
    return np.asarray(canvas.pixels())


def _in_world(drawing: Drawing, film: Film) -> Iterator[tuple[Triangles, str]]:
    """Everything in the one picture of a film, with its colour."""
    for part in drawing.parts:
        yield part.triangles.moved(film.pose(part.body, 0)), part.colour
    for rod in drawing.rods:
        start, end = film.span(rod, 0)
        length = float(np.linalg.norm(end - start))
        if length > 0.0:
            yield cylinder(rod.radius, length).moved(pointing((start + end) / 2, end)), rod.colour
    for flight in film.arrows:
        length = float(np.linalg.norm(flight.tips[0] - flight.feet[0]))
        if length > 0.0:
            yield arrow(length, ARROW * drawing.size).moved(pointing(flight.feet[0], flight.tips[0])), ACCENT


def _ground(canvas: Canvas, camera: Camera) -> None:
    """A grid; each line in pieces, so that one that passes under the eye is not lost as a whole."""
    x, y, _ = camera.basis @ camera.look_at
    cell = round_length(camera.reach / 10.0)
    x, y = round(x / cell) * cell, round(y / cell) * cell
    along = np.linspace(-CELLS * cell, CELLS * cell, 8 * CELLS + 1)
    flat, height = np.zeros_like(along), np.full_like(along, camera.ground)
    for k in range(-CELLS, CELLS + 1):
        colour = np.full(3, 0.76 if k % 5 == 0 else 0.88)
        canvas.line(np.stack([flat + x + k * cell, along + y, height], axis=1) @ camera.basis, colour, 1.0)
        canvas.line(np.stack([along + x, flat + y + k * cell, height], axis=1) @ camera.basis, colour, 1.0)
