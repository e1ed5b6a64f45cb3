"""The moving picture of the README, from the double turn of the Smera: ``python docs/draw_leaning.py [run.nc]``."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from PIL import Image

import torseur as ts
from torseur.views.scene.snapshot import picture

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "docs" / "_static" / "smera_leaning.gif"
SIZE, PICTURES, COLOURS = (440, 300), 46, 40


def main(file: str | None) -> None:
    run = ts.simulate(ROOT / "examples" / "smera" / "double_turn.yaml") if file is None else ts.open_run(file)
    times = np.linspace(0.25, float(run.time[-1]), PICTURES)
    pixels = [picture(run, at=float(t), size=SIZE, follow="base") for t in times]
    frames = [
        Image.fromarray((255 * each).astype(np.uint8)).quantize(COLOURS, dither=Image.Dither.NONE) for each in pixels
    ]
    pause = int(1000 * (times[1] - times[0]) / 2)  # twice as fast as it is
    frames[0].save(TARGET, save_all=True, append_images=frames[1:], duration=pause, loop=0, optimize=True)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
