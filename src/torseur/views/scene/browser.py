"""Runs and mechanisms in a browser: a file that plays by itself, or live.

viser draws. Its client is a single page of 0.8 MB; an animation adds some 10 kB a second for an arm of six joints. The
file asks for nothing from a network. viser's page fills the window; beside it stand title, clock, legend and the curves
of a run, drawn by a script in the same file: they follow the slider of its player, and a click on a curve sets it.
Films and GIFs are drawn without a browser (`snapshot.py`).
"""

from __future__ import annotations

import contextlib
import html
import json
import os
import threading
import time
import webbrowser
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from torseur.describe import BASE, Mechanism
from torseur.errors import ArgumentError
from torseur.formats import replace_file
from torseur.simulation.results.result import Run
from torseur.spatial.joints import Quantity
from torseur.views.plots.figures import default_frames, overview_channels
from torseur.views.plots.panels import Panel, lines_of, panels_by_unit
from torseur.views.plots.style import COLOURS, DASHES, text_label
from torseur.views.plots.vehicle import is_vehicle, key_panels
from torseur.views.scene.animation import Arrow, Scene, scene_of
from torseur.views.scene.drawing import start_of
from torseur.views.scene.snapshot import FILMS, film
from torseur.views.scene.viser_stage import Stage, server_on

__all__ = ["Playback", "animate", "legend_of", "page_with_curves", "playback", "title_of", "view"]

MOST_POINTS = 600
"""Of a curve."""
DUST = 1e-12
"""Of the largest value of a panel: what is smaller is rounding, and written as 0."""
MOST_PANELS = 6


def page_with_curves(page: str, run: Run, scene: Scene) -> str:
    """A page of viser with title, clock, legend and curves."""
    data = {
        "title": title_of(run),
        "pace": scene.animation.pace,
        "legend": [{"label": label, "colour": colour} for label, colour in legend_of(scene)],
        **_curves(run),
    }
    text = json.dumps(data, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    title = html.escape(run.name.replace("_", " "))
    page = page.replace("<title>Viser</title>", f"<title>{title}</title>", 1)
    page = page.replace("</head>", f"<style>{_asset('playback.css')}</style></head>", 1)
    extra = f"""<div id="caption"></div><aside id="curves"></aside>
<script type="application/json" id="run-data">{text}</script><script>{_asset("playback.js")}</script>"""
    head, end_of_body, tail = page.rpartition("</body>")
    return head + extra + end_of_body + tail


def title_of(run: Run) -> str:
    """What is written above a playback."""
    title = run.mechanism.title if run.mechanism is not None else None
    name = run.name.replace("_", " ")
    return name if not title or title == name else f"{title}: {name}"


def legend_of(scene: Scene) -> list[tuple[str, str]]:
    """What lines and arrows mean, with their colours; arrows of one colour by what they have in common."""
    legend = []
    for k, frame in enumerate(scene.animation.traces):
        what = "the base" if frame == BASE else frame.replace("_", " ")
        legend.append((f"path of {what}", COLOURS[k % len(COLOURS)]))
    arrows: dict[str, list[str]] = {}
    for arrow in scene.animation.arrows:
        arrows.setdefault(arrow.colour, []).append(arrow.legend or arrow.name.replace("_", " "))
    for colour, names in arrows.items():
        legend += [(name, colour) for name in dict.fromkeys(names)]
    return legend


def _asset(name: str) -> str:
    return files("torseur.views.scene").joinpath(name).read_text(encoding="utf-8")


def _curves(run: Run) -> dict[str, Any]:
    """Times and panels of the overview, of a vehicle what one looks at first; at most so many points of each."""
    some = np.unique(np.linspace(0, len(run.time) - 1, min(len(run.time), MOST_POINTS)).round().astype(int))
    keys = key_panels(run) if is_vehicle(run) else []
    shown = keys or panels_by_unit(lines_of(run, overview_channels(run), label=text_label))
    panels = list(_panels(shown, some))[:MOST_PANELS]
    return {"time": [_short(t, 9) for t in run.time[some]], "panels": panels}


def _panels(panels: Sequence[Panel], some: Any) -> Iterator[dict[str, Any]]:
    for panel in panels:
        largest = max(
            (np.abs(x[np.isfinite(x)]).max(initial=0.0) for x in (line.values for line in panel.lines)), default=0.0
        )
        lines: list[dict[str, Any]] = [
            {
                "label": line.label,
                "meaning": line.meaning,
                "colour": line.colour,
                "dashes": DASHES.index(line.dashes),
                "values": [_short(x, 6, DUST * largest) if np.isfinite(x) else None for x in line.values[some]],
            }
            for line in panel.lines
        ]
        if any(value is not None for line in lines for value in line["values"]):
            yield {"label": panel.label, "lines": lines}


def _short(x: float, digits: int, dust: float = 0.0) -> float:
    return float(f"{x:.{digits}g}") if abs(x) > dust else 0.0


SPEEDS = ("0.05", "0.1", "0.25", "0.5", "1", "2", "5", "10")


# -- a file ------------------------------------------------------------------------------------------------------------
def animate(
    run: Run,
    path: str | os.PathLike[str],
    *,
    fps: float | None = None,
    pace: float | None = None,
    traces: Iterable[str] | None = None,
    arrows: Sequence[Arrow] = (),
    follow: str | None = None,
    folder: str | os.PathLike[str] = ".",
    sticks: bool | None = None,
    size: tuple[int, int] = (640, 480),
) -> None:
    """Write a file that plays a run: a page for the browser, a GIF, or an MP4 film.

    The page (.html) is one file that needs no network: play and pause, speed, time slider, a camera to move with the
    mouse, and the curves of the run beside it, with a cursor at the time that is shown.

    Args:
        run: with its mechanism.
        path: a name that ends in .html, .gif or .mp4.
        fps: pictures per second of the playback; by default 30, of a GIF 20.
        pace: seconds of the run in a second of its playback; by default 1, less for a run shorter than a second, more
            for one longer than 100 s.
        traces: frames whose paths are drawn; by default named frames, or the ends of chains.
        arrows: forces to show.
        follow: a frame that stays in the middle; a mechanism that travels far does by itself.
        folder: where files of triangles are looked for.
        sticks: bars and joints in place of shapes; by default only where there are no shapes.
        size: width and height of a GIF or film, pixels.
    """
    file = Path(path)
    ending = file.suffix.lower()
    if ending not in (".html", ".htm", *FILMS):
        raise ArgumentError(
            "animations are not written in this format",
            where=str(file),
            expected="a name that ends in .html, .gif or .mp4",
            got=ending or "no ending",
        )
    options: dict[str, Any] = {"arrows": arrows, "follow": follow, "folder": folder, "sticks": sticks}
    options |= {
        "pace": pace,
        "fps": fps or FILMS.get(ending, 30.0),
        "traces": default_frames(run) if traces is None else traces,
    }
    scene = scene_of(run, **options)
    if ending in FILMS:
        film(scene, file, title=title_of(run), begin=float(run.time[0]), size=size)
    else:
        replace_file(file, _recorded(run, scene).encode("utf-8"))


@dataclass(frozen=True)
class Playback:
    """A run that plays in a notebook.

    Args:
        page: that of `animate`.
        height: of what the notebook shows, pixels.
    """

    page: str
    height: int = 480

    def __repr__(self) -> str:
        return f"<Playback of {len(self.page) / 1e6:.1f} MB, shown by notebooks>"

    def _repr_html_(self) -> str:
        size = f'width="100%" height="{self.height}" style="border:0"'
        return f'<iframe srcdoc="{html.escape(self.page)}" title="playback" {size}></iframe>'


def playback(run: Run, *, height: int = 480, **options: Any) -> Playback:
    """The playback of a run for a notebook, about 1 MB of its file; options are those of `animate`."""
    traces = options.pop("traces", None)
    scene = scene_of(run, **{"fps": 30.0, "traces": default_frames(run) if traces is None else traces, **options})
    return Playback(_recorded(run, scene), height)


def _recorded(run: Run, scene: Scene) -> str:
    """The page that plays a scene."""
    with server_on("127.0.0.1") as server:
        stage = Stage(server, scene)
        recorder = server.get_scene_serializer()
        pauses = np.diff(scene.animation.times, append=scene.animation.times[-1]) / scene.animation.pace
        for k, pause in enumerate(pauses):
            stage.show(k)
            recorder.insert_sleep(float(pause))
        page = recorder.as_html()
    return page_with_curves(page, run, scene)


# -- live --------------------------------------------------------------------------------------------------------------
def view(
    shown: Run | Mechanism,
    *,
    port: int | None = None,
    parameters: dict[str, float] | None = None,
    browser: bool = True,
    ready: Callable[[str], None] | None = None,
    stop: threading.Event | None = None,
    **options: Any,
) -> None:
    """Open a run (play, pause, speed, time) or a mechanism (a slider per coordinate) in the browser, until Ctrl-C.

    Args:
        shown: what to look at.
        port: of the server, on this machine only; by default a free one.
        parameters: of a mechanism: values that come before those of its description.
        browser: whether to open one.
        ready: called with the address when the server answers.
        stop: ends the view from another thread, as Ctrl-C does.
        options: as those of `animate`.
    """
    with server_on("127.0.0.1", port) as server:
        if isinstance(shown, Run):
            tick = _player(server, shown, options)
        elif isinstance(shown, Mechanism):
            tick = _poser(server, shown, parameters or {}, options)
        else:
            raise ArgumentError("only runs and mechanisms can be viewed", got=repr(shown))
        address = f"http://127.0.0.1:{server.get_port()}"
        if ready is not None:
            ready(address)
        if browser:
            webbrowser.open(address)
        ended = stop or threading.Event()
        with contextlib.suppress(KeyboardInterrupt):
            while not ended.wait(1.0 / 60.0):
                tick()


def _player(server: Any, run: Run, options: Any) -> Callable[[], None]:
    """Controls of a run; what is called in between moves it on with the clock."""
    scene = scene_of(run, **options)
    stage, animation = Stage(server, scene), scene.animation
    end = float(animation.times[-1])
    slider = server.gui.add_slider(
        "time (s)", min=0.0, max=max(end, 1e-6), step=max(end / 2000.0, 1e-9), initial_value=0.0
    )
    playing = server.gui.add_checkbox("play", initial_value=True)
    speed = server.gui.add_dropdown("speed", SPEEDS, initial_value="1")
    last = [time.perf_counter(), -1]

    def tick() -> None:
        now = time.perf_counter()
        passed, last[0] = now - last[0], now
        if playing.value and end > 0.0:
            slider.value = (slider.value + passed * float(speed.value) * animation.pace) % end
        picture = int(np.argmin(np.abs(animation.times - slider.value)))
        if picture != last[1]:
            last[1] = picture
            with server.atomic():
                stage.show(picture)

    return tick


def _poser(
    server: Any, mechanism: Mechanism, parameters: dict[str, float], options: dict[str, Any]
) -> Callable[[], None]:
    """A slider per coordinate; the picture follows them."""
    start = start_of(mechanism, parameters)
    q = np.array([start[x.name] for x in mechanism.q])

    def still(q: Any) -> Run:
        return Run.from_arrays(mechanism, [0.0], q[None], np.zeros((1, len(mechanism.v))), parameters=parameters)

    scene = scene_of(still(q), **options)
    stage = Stage(server, replace(scene, follow=None))
    reach = {Quantity.ANGLE: np.pi, Quantity.LENGTH: scene.drawing.size, Quantity.NUMBER: 1.0}
    sliders = []
    for x, q0 in zip(mechanism.q, q.tolist(), strict=True):
        label, half = f"{x.name} ({x.unit})" if x.unit else x.name, reach[x.quantity]
        sliders.append(server.gui.add_slider(label, min=q0 - half, max=q0 + half, step=1e-3, initial_value=q0))
    last = [q]

    def tick() -> None:
        wanted = np.array([slider.value for slider in sliders])
        if (wanted != last[0]).any():
            last[0] = wanted
            with server.atomic():
                stage.move(scene_of(still(wanted), **options).animation)

    return tick
