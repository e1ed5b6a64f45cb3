"""The picture: starting angles, coloured by the time until one arm turns over."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from flips import spare_energy
from numpy.typing import NDArray

from torseur.errors import MissingExtra

SHORTEST = 0.2  # s; what is quicker has the first colour
DARK, LIGHT = "#000004", "#fcfdbf"  # the two ends of the colour map
STILL = "#16131f"


def check_plots() -> None:
    """Say early what is missing for the picture."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise MissingExtra("matplotlib", extra="plots", purpose="the picture of the demo") from None


def draw(first: NDArray[np.float64], until: float, path: Path) -> None:
    """Save the map of flip times (s), q2 by rows, as an image."""
    import matplotlib.pyplot as plt
    from matplotlib.colors import LogNorm

    plt.rcParams.update({"font.size": 11, "axes.linewidth": 0.8, "font.family": "DejaVu Sans"})
    figure, axes = plt.subplots(figsize=(8.4, 7.0), layout="constrained")
    axes.set_facecolor(DARK)
    norm = LogNorm(SHORTEST, until)
    image = axes.imshow(first, origin="lower", extent=(-180, 180) * 2, norm=norm, cmap="magma_r")
    _draw_limit(axes)
    _draw_pendulum(axes)
    ticks = range(-180, 181, 60)
    axes.set(xticks=ticks, yticks=ticks, xlabel="inner arm at the start, $q_1$ (deg)")
    axes.set_ylabel("outer arm at the start, $q_2$ (deg)")
    axes.set_title("A double pendulum let go from rest: two arms of 1 m, two masses of 1 kg", fontsize=12, pad=10)
    bar = figure.colorbar(image, ax=axes, extend="both", fraction=0.046, pad=0.02)
    marks = [t for t in (0.2, 0.5, 1, 2, 5, 10, 20, 50) if SHORTEST <= t <= until]
    bar.set_ticks(marks, labels=[f"{t:g}" for t in marks])
    bar.ax.minorticks_off()
    bar.set_label("time until one arm turns over (s)")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150, metadata={"Software": None}, pil_kwargs={"optimize": True})
    plt.close(figure)


def _draw_limit(axes: Any) -> None:
    """The border of the starts that have too little energy."""
    angles = np.linspace(-180, 180, 361)
    spare = spare_energy(np.radians(np.stack(np.meshgrid(angles, angles), axis=-1)))
    axes.contourf(angles, angles, spare, levels=[-np.inf, 0.0], colors=[STILL])
    axes.contour(angles, angles, spare, levels=[0.0], colors=LIGHT, linewidths=0.8, alpha=0.8)
    axes.text(0, -62, "too little energy\nto turn over", color=LIGHT, ha="center", va="center", fontsize=10, alpha=0.9)


def _draw_pendulum(axes: Any) -> None:
    """A sketch that says what the angles are, in the part of the map where nothing happens."""
    from matplotlib.patches import Arc

    q, length, pivot = np.radians([32.0, 62.0]), 42.0, np.array([-22.0, 72.0])
    down = np.array([0.0, -1.0])
    joints = [pivot]
    for angle in q:
        joints.append(joints[-1] + length * np.array([np.sin(angle), -np.cos(angle)]))
    for k, angle in enumerate(q):
        plumb = np.array([joints[k], joints[k] + 0.75 * length * down])
        axes.plot(*plumb.T, color=LIGHT, lw=0.7, ls=(0, (4, 3)), alpha=0.7)
        axes.add_patch(Arc(joints[k], 40, 40, theta1=-90, theta2=np.degrees(angle) - 90, color=LIGHT, lw=0.7))
        text = joints[k] + 29 * np.array([np.sin(angle / 2), -np.cos(angle / 2)])
        axes.text(*text, f"$q_{k + 1}$", color=LIGHT, ha="center", va="center", fontsize=11)
    axes.plot(*np.array(joints).T, color=LIGHT, lw=2.0, solid_capstyle="round")
    axes.plot(*np.array(joints[1:]).T, "o", color=LIGHT, ms=8)
    axes.plot(*pivot, "o", color=DARK, mec=LIGHT, mew=1.2, ms=5)
