"""The gallery: of every example one run, as a thumbnail and a playback: ``python docs/draw_gallery.py [name ...]``.

What is there and not older than its files is left as it is. `make docs` draws what is missing, in as many processes as
there are processors, and the page shows what is there.
"""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

import torseur as ts
from torseur.simulation.results.result import Run
from torseur.views.scene.snapshot import picture

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "docs" / "_static" / "gallery"
THUMBNAIL = 360, 270
DURATION = 3.0
"""Of the run of a model that has no study, s."""


@dataclass(frozen=True)
class Shown:
    """What is shown of an example: a study or a model by name, and how it differs."""

    name: str
    at: float = 0.4
    """When the thumbnail is taken, as a share of the run."""
    changes: dict[str, Any] = field(default_factory=dict)

    @property
    def folder(self) -> str:
        return self.name.partition("/")[0]


ROLLING = {"until": DURATION, "start": {"vx": 5.0}}
EXAMPLES = {
    "Arms": [
        Shown("planar_2r/pd_control", 0.1),
        Shown("arm_3r/circle"),
        Shown("rx90/motion"),
        Shown("sr400", 0.1, {"until": 1.0}),
        Shown("stanford", 0.3, {"until": 1.0}),
        Shown("welding_arm/welding"),
        Shown("motorised_6r/release"),
        Shown("satellite_arm/reach"),
    ],
    "Vehicles": [
        Shown("smera/double_turn", 0.3),
        Shown("smera_11dof/double_turn", 0.3),
        Shown("peugeot_406/double_turn", 0.3),
        Shown("two_wheel_406/double_turn", 0.3),
        Shown("bicycle_406/turn", 0.3),
        Shown("bmw_320i/step_steer", 0.5),
        Shown("five_link_axle/lane_change", 0.3),
        Shown("tractor_on_tyres/lane_change", 0.3),
        Shown("tractor_trailer/lane_change", 0.3),
        Shown("car", 0.5, ROLLING),
        Shown("bicycle_3dof", 0.5, ROLLING),
        Shown("vehicle_11dof", 0.5, ROLLING),
        Shown("vehicle_16dof", 0.5, ROLLING),
        Shown("whipple_bicycle", 0.3, {"until": DURATION}),
    ],
    "Classics": [
        Shown("double_pendulum/swing", 0.15),
        Shown("four_bar/turning", 0.03),
        Shown("rolling_disc/slow", 0.6),
        Shown("braked_wheel/braking"),
        Shown("heavy_top/spinning"),
    ],
}


def run_of(shown: Shown) -> Run:
    return ts.simulate(ts.examples.path(shown.name), **shown.changes)


def files_of(shown: Shown, target: Path = TARGET) -> list[Path]:
    """Its playback and its thumbnail."""
    return [target / f"{shown.folder}{ending}" for ending in (".html", ".png")]


def is_drawn(shown: Shown, target: Path = TARGET) -> bool:
    return all(file.is_file() for file in files_of(shown, target))


def is_fresh(shown: Shown) -> bool:
    """Whether both files are there and younger than what they are made of."""
    if not is_drawn(shown):
        return False
    made = files_of(shown)
    sources = [Path(__file__), *ts.examples.path(shown.name).parent.rglob("*")]
    return min(file.stat().st_mtime for file in made) > max(file.stat().st_mtime for file in sources)


def draw(shown: Shown, target: Path = TARGET) -> Run:
    """The playback and the thumbnail of an example, and the run they show."""
    run, folder = run_of(shown), ts.examples.path(shown.name).parent
    playback, thumbnail = files_of(shown, target)
    moment = float(run.time[0] + shown.at * (run.time[-1] - run.time[0]))
    width, height = THUMBNAIL
    pixels = picture(run, at=moment, size=(2 * width, 2 * height), folder=folder)
    image = Image.fromarray((255.0 * pixels).round().astype(np.uint8)).resize(THUMBNAIL, Image.Resampling.LANCZOS)
    image.quantize(128).save(thumbnail, optimize=True)
    run.animate(playback, folder=folder, fps=min(30.0, 600.0 / float(run.time[-1])))
    return run


def drawn(target: Path = TARGET) -> dict[str, list[Shown]]:
    """The examples that have been drawn, by group."""
    found = {group: [shown for shown in examples if is_drawn(shown, target)] for group, examples in EXAMPLES.items()}
    return {group: examples for group, examples in found.items() if examples}


def page(target: Path = TARGET) -> str:
    """The gallery as HTML: thumbnails that lead to the playbacks below, which are loaded when they are looked at."""
    groups = drawn(target)
    lines = [] if groups else ["<p><code>make gallery</code> draws what is shown here.</p>"]
    for group, examples in groups.items():
        lines += [f"<h2>{group}</h2>", '<div class="gallery">']
        for shown in examples:
            words = escape(shown.folder.replace("_", " "))
            picture_of = f'<img src="_static/gallery/{shown.folder}.png" alt="{words}" width="180" height="135">'
            lines.append(f'<a href="#play-{shown.folder}">{picture_of}<span>{words}</span></a>')
        lines.append("</div>")
    for shown in (one for examples in groups.values() for one in examples):
        title = escape(ts.examples.title(shown.name) or ts.examples.title(shown.folder) or shown.folder)
        lines += [
            f'<section class="played" id="play-{shown.folder}"><h3>{title}</h3>',
            f"<p><code>torseur simulate {shown.name}</code>",
            f'<a href="_static/gallery/{shown.folder}.html">alone in a window</a></p>',
            f'<iframe src="_static/gallery/{shown.folder}.html" title="{title}" loading="lazy"></iframe></section>',
        ]
    return "\n".join(lines) + "\n"


def main(names: list[str]) -> None:
    TARGET.mkdir(parents=True, exist_ok=True)
    every = [one for examples in EXAMPLES.values() for one in examples]
    wanted = [one for one in every if one.folder in names or (not names and not is_fresh(one))]
    with ProcessPoolExecutor() as pool:
        for name in pool.map(_draw, wanted):
            print(f"gallery: {name}", flush=True)
    write_page()


def _draw(shown: Shown) -> str:
    draw(shown)
    return shown.name


def write_page() -> None:
    TARGET.mkdir(parents=True, exist_ok=True)
    (TARGET / "gallery.html.txt").write_text(page(), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
