"""A run as one HTML file that plays by itself.

viser draws. Its client is a single page of 0.8 MB; a film adds some 10 kB a second for an arm of six joints. The file
asks for nothing from a network.
"""

from __future__ import annotations

import html
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from torseur.describe import BASE
from torseur.errors import ArgumentError
from torseur.formats import replace_file
from torseur.simulation.results.result import Run
from torseur.views.motion import frame_poses, mechanism_of
from torseur.views.scene.drawing import drawing_of
from torseur.views.scene.film import Arrow, Film, film_of
from torseur.views.scene.parts import Array, Drawing
from torseur.views.scene.stage import Stage, server_on

__all__ = ["Scene", "animate", "scene_of"]

FAR = 4.0
"""A base that travels more than so many times the size of the mechanism is followed."""


@dataclass(frozen=True, eq=False)
class Scene:
    """What is drawn, where it is in every picture, and the path (n, 3) that stays in the middle, if any."""

    drawing: Drawing
    film: Film
    follow: Array | None


def scene_of(
    run: Run,
    *,
    fps: float = 30.0,
    traces: Iterable[str] = (),
    arrows: Sequence[Arrow] = (),
    follow: str | None = None,
    folder: str | os.PathLike[str] = ".",
    sticks: bool | None = None,
) -> Scene:
    """The scene of a run; see `animate` for what the options mean."""
    mechanism = mechanism_of(run)
    start = {x.name: float(value) for x, value in zip(mechanism.q, run.q[0], strict=True)}
    drawing = drawing_of(mechanism, at=start, parameters=run.parameters, folder=folder, sticks=sticks)
    film = film_of(run, drawing, fps=fps, traces=traces, arrows=arrows)
    frame = follow
    if frame is None and mechanism.has_moving_base:
        journey = frame_poses(run, BASE)[:, :3, 3]
        frame = BASE if np.ptp(journey, axis=0).max() > FAR * drawing.size else None
    if frame is None:
        return Scene(drawing, film, None)
    return Scene(drawing, film, frame_poses(run.resampled(film.times + run.time[0]), frame)[:, :3, 3])


def animate(
    run: Run,
    path: str | os.PathLike[str],
    *,
    fps: float = 30.0,
    traces: Iterable[str] = (),
    arrows: Sequence[Arrow] = (),
    follow: str | None = None,
    folder: str | os.PathLike[str] = ".",
    sticks: bool | None = None,
) -> None:
    """Write one HTML file that plays a run: play and pause, speed, time slider, a camera to move with the mouse.

    Args:
        run: with its mechanism.
        path: a name that ends in .html.
        fps: pictures per second of the run's time.
        traces: frames whose paths are drawn.
        arrows: forces to show.
        follow: a frame that stays in the middle; a base that travels far does by itself.
        folder: where files of triangles are looked for.
        sticks: bars and joints in place of shapes; by default only where there are no shapes.
    """
    file = Path(path)
    if file.suffix.lower() not in (".html", ".htm"):
        raise ArgumentError("a film is an HTML file", where=str(file), expected="a name that ends in .html")
    scene = scene_of(run, fps=fps, traces=traces, arrows=arrows, follow=follow, folder=folder, sticks=sticks)
    with server_on("127.0.0.1") as server:
        stage = Stage(server, scene.drawing, scene.film, scene.follow)
        recorder = server.get_scene_serializer()
        pauses = np.diff(scene.film.times, append=scene.film.times[-1])
        for k, pause in enumerate(pauses):
            stage.show(k)
            recorder.insert_sleep(float(pause))
        page = recorder.as_html()
    title = f"<title>{html.escape(run.name.replace('_', ' '))}</title>"
    replace_file(file, page.replace("<title>Viser</title>", title, 1).encode("utf-8"))
