"""The pictures of docs/tutorials/results.md and docs/tutorials/many_runs.md: ``python docs/draw_results.py``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

import torseur as ts
from torseur.views.plots import Beside, plot, plot_paths, save_figure
from torseur.views.plots.style import COLOURS, FAINT, WIDTH, new_figure, styled
from torseur.views.scene import snapshot

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "docs" / "_static" / "results"


def circle(target: Path) -> None:
    """One study of an arm drawn three ways, and a second run beside it."""
    study = ts.load_study(ROOT / "examples" / "arm_3r" / "circle.yaml")
    run = ts.simulate(study)
    pushed = ts.simulate(study, start={"theta1": 0.6, "theta2": 0.4, "theta3": -1.0})
    beside = [Beside(pushed, "from elsewhere")]
    plot(run, "theta1", "theta2", "theta3", "tau2", "tau3", beside=beside, path=target / "beside.png")
    save_figure(plot_paths(run, ["tool"], beside=[pushed]), target / "paths.png")
    snapshot(run, target / "snapshot.png", at=3.2, size=(720, 540), traces=["tool"])


def many(target: Path) -> None:
    """A fan of starts, and what becomes of it."""
    arm = ts.load(ROOT / "examples" / "double_pendulum" / "double_pendulum.yaml")
    starts = {"q1": np.full(200, 2.0), "q21": 2.0 + 1e-3 * np.linspace(-1.0, 1.0, 200)}
    solver = {"method": "rk4", "step": 1e-3}
    batch = ts.simulate_many(arm, starts=starts, until=10.0, every=0.01, solver=solver, threads=2)
    with styled():
        figure: Any = new_figure(2.6, WIDTH)
        ax = figure.subplots()
        ax.plot(batch.time, np.degrees(batch["q1"].T), color=FAINT, lw=0.4)
        for k, colour in zip((0, 100, 199), COLOURS, strict=False):
            ax.plot(batch.time, np.degrees(batch["q1"][k]), color=colour, lw=0.9)
        ax.set(xlabel="time (s)", ylabel="q1 (deg)", title="200 double pendulums, released within 2 mrad of each other")
        save_figure(figure, target / "many.png")


def main() -> None:
    TARGET.mkdir(exist_ok=True)
    circle(TARGET)
    many(TARGET)
    for path in TARGET.glob("*.png"):
        with Image.open(path) as picture:  # lines and flat faces need few colours
            small = picture.convert("RGB").quantize(64)
        small.save(path, optimize=True)


if __name__ == "__main__":
    main()
