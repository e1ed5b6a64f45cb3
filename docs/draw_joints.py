"""A picture of every kind of joint, at rest and with each of its coordinates moved: ``python docs/draw_joints.py``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from torseur.describe import Mechanism
from torseur.formats.yaml.reader import read_yaml
from torseur.simulation.results.result import Run
from torseur.spatial.joints import KINDS
from torseur.views.plots.style import INK, new_figure, save_figure, styled
from torseur.views.scene.snapshot import picture

TARGET = Path(__file__).resolve().parent / "_static" / "joints"
TURN, SHIFT = 0.7, 0.35
"""How far coordinates are moved, rad and m."""
COLUMNS = 4
SIZE = 420, 340

# Frames a, pale, and b: x red, y green, z blue; b carries a plate, so that one sees how it turns.
FRAME = """
    - {{cylinder: {{radius: {r}, length: {l}}}, pose: {{position: [{h}, 0, 0], rpy: [0, pi/2, 0]}}, colour: "{x}"}}
    - {{cylinder: {{radius: {r}, length: {l}}}, pose: {{position: [0, {h}, 0], rpy: [pi/2, 0, 0]}}, colour: "{y}"}}
    - {{cylinder: {{radius: {r}, length: {l}}}, pose: {{position: [0, 0, {h}]}}, colour: "{z}"}}
"""
PALE = FRAME.format(r=0.012, l=0.9, h=0.45, x="#e8a9a2", y="#a5d6b5", z="#a9c4ea")
BRIGHT = FRAME.format(r=0.02, l=0.6, h=0.3, x="#d62f1f", y="#1f9d4d", z="#1f5fd6").replace("\n    ", "\n      ")
FILE = """
torseur: 1
name: {kind}
base:
  shapes:{pale}
bodies:
  b:
    joint: {{kind: {kind}{more}}}
    inertia: {{M: 1, XX: 1, YY: 1, ZZ: 1}}
    shapes:{bright}
      - {{box: [0.4, 0.26, 0.06], colour: "#c9a227"}}
"""


def mechanism_of(kind: str) -> Mechanism:
    more = ", pitch: 0.3" if kind == "screw" else ""
    return read_yaml(FILE.format(kind=kind, more=more, pale=PALE, bright=BRIGHT))


def positions(kind: str) -> list[tuple[str, np.ndarray[Any, Any]]]:
    """What is moved, and the coordinates: at rest, then one at a time; a quaternion about each axis."""
    infos = KINDS[kind].coordinates
    rest = np.array([info.neutral for info in infos])
    found = [("at rest", rest)]
    for k, info in enumerate(infos):
        q = rest.copy()
        name = f"q{k + 1}" + (f" ({info.suffix})" if info.suffix else "")
        if info.suffix == "qw":
            continue
        if info.suffix in ("qx", "qy", "qz"):
            q[[i.suffix for i in infos].index("qw")], q[k] = np.cos(TURN / 2), np.sin(TURN / 2)
            name = f"turned about {info.suffix[1]}"
        else:
            q[k] = SHIFT if info.quantity.value == "m" else TURN
        found.append((name, q))
    return found


def draw(kind: str) -> Any:
    mechanism, moved = mechanism_of(kind), positions(kind)
    # All pictures have the camera of the whole, so that shifts are seen as shifts.
    q = np.array([q for _, q in moved]).reshape(len(moved), -1)
    run = Run.from_arrays(mechanism, np.arange(len(moved), dtype=float), q, np.zeros((len(moved), len(mechanism.v))))
    with styled():
        rows = -(-len(moved) // COLUMNS)
        columns = min(len(moved), COLUMNS)
        figure = new_figure(1.75 * rows, 1.75 * columns)
        axes = figure.subplots(rows, columns, squeeze=False).ravel()
        for ax in axes:
            ax.set_axis_off()
        for k, (ax, (name, _)) in enumerate(zip(axes, moved, strict=False)):
            ax.imshow(picture(run, at=float(k), size=SIZE, traces=()), interpolation="lanczos")
            ax.set_title(name, loc="center", fontsize=8, color=INK)
    return figure


def main() -> None:
    TARGET.mkdir(parents=True, exist_ok=True)
    for kind in KINDS:
        file = TARGET / f"{kind}.png"
        if not file.is_file() or file.stat().st_mtime < Path(__file__).stat().st_mtime:
            save_figure(draw(kind), file)


if __name__ == "__main__":
    main()
