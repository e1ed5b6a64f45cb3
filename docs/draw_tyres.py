"""The pictures of docs/theory/tyres.md: ``python docs/draw_tyres.py``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from torseur.packs.tyres import (
    ROADS,
    BurckhardtTyre,
    DugoffTyre,
    Pacejka1989,
    TMeasyAxis,
    TMeasyTyre,
    TyreLaw,
    load_tir,
    steady_forces,
)
from torseur.views.plots import save_figure
from torseur.views.plots.style import COLOURS, WIDTH, new_figure, styled

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "docs" / "_static" / "tyres"
SETS = json.loads((ROOT / "tests" / "data" / "tyres" / "pacejka89_coefficients.json").read_text())


def laws() -> dict[str, TyreLaw]:
    """One tyre of each kind, of a passenger car but for MF 5.2."""
    given = SETS["adams_pac89"]
    return {
        "Burckhardt, dry asphalt": BurckhardtTyre(road="asphalt_dry", trail=0.02),
        "Dugoff": DugoffTyre(longitudinal_stiffness=9e4, cornering_stiffness=6e4, load=4000.0, trail=0.02),
        "TMeasy": TMeasyTyre(
            load=3200.0,
            longitudinal=TMeasyAxis(
                slope=(9e4, 1.6e5), peak_slip=(0.11, 0.12), peak=(3300, 6500), slide_slip=(0.4, 0.5), slide=(3100, 6100)
            ),
            lateral=TMeasyAxis(
                slope=(7e4, 1.2e5), peak_slip=(0.18, 0.2), peak=(3100, 6000), slide_slip=(0.6, 0.8), slide=(3000, 5900)
            ),
            trail=0.03,
        ),
        "Magic Formula 1989": Pacejka1989(**given["a"], **given["b"], **given["c"]),
        "MF 5.2": load_tir(ROOT / "examples" / "tyres" / "mf52.tir").law,
        "MF 6.1": load_tir(ROOT / "examples" / "tyres" / "mf61.tir").law,
    }


def curves(target: Path) -> None:
    """Fx over kappa, Fy and Mz over alpha, of every law at one load."""
    kappa, alpha, Fz = np.linspace(-1.0, 1.0, 801), np.linspace(-0.6, 0.6, 801), 4000.0
    with styled():
        figure: Any = new_figure(2.9, WIDTH)
        along, across, moment = figure.subplots(1, 3)
        for (name, law), colour in zip(laws().items(), COLOURS, strict=False):
            along.plot(kappa, steady_forces(law, Fz=Fz, kappa=kappa).Fx / 1e3, color=colour, lw=1.0, label=name)
            side = steady_forces(law, Fz=Fz, alpha=alpha)
            across.plot(np.degrees(alpha), side.Fy / 1e3, color=colour, lw=1.0)
            moment.plot(np.degrees(alpha), side.Mz, color=colour, lw=1.0)
        along.set(xlabel="kappa", ylabel="Fx (kN)")
        across.set(xlabel="alpha (deg)", ylabel="Fy (kN)")
        moment.set(xlabel="alpha (deg)", ylabel="Mz (N m)")
        figure.legend(loc="outside lower center", ncols=3, fontsize=6)
        save_figure(figure, target / "curves.png")


def ellipses(target: Path) -> None:
    """Fy over Fx while kappa runs from lock to spin, for several slip angles."""
    kappa = np.linspace(-1.0, 0.95, 2001)
    with styled():
        figure: Any = new_figure(3.4, WIDTH)
        for ax, (name, law) in zip(figure.subplots(2, 3).flat, laws().items(), strict=True):
            for degrees, colour in zip((1, 2, 4, 8, 16), COLOURS, strict=False):
                f = steady_forces(law, Fz=4000.0, kappa=kappa, alpha=np.radians(degrees))
                ax.plot(f.Fx / 1e3, f.Fy / 1e3, color=colour, lw=0.9, label=f"{degrees} deg")
            ax.set(title=name, xlabel="Fx (kN)", ylabel="Fy (kN)", xlim=(-6, 6), ylim=(-0.3, 5))
            ax.set_aspect("equal")
        figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=5, fontsize=6)
        save_figure(figure, target / "ellipses.png")


def roads(target: Path) -> None:
    """Burckhardt's roads, and loads, pressures and standstill of MF 6.1."""
    law = load_tir(ROOT / "examples" / "tyres" / "mf61.tir").law
    alpha = np.linspace(-0.3, 0.3, 601)
    with styled():
        figure: Any = new_figure(4.6, WIDTH)
        (a, b), (c, d) = figure.subplots(2, 2)
        s = np.linspace(0.0, 1.0, 401)
        for road, colour in zip(ROADS, COLOURS, strict=False):
            mu = steady_forces(BurckhardtTyre(road=road), Fz=1.0, kappa=-s).Fx
            a.plot(s, -mu, color=colour, lw=1.0, label=road.replace("_", " "))
        a.set(xlabel="slip", ylabel="friction", title="Burckhardt")
        for load, colour in zip((1000, 3000, 6000, 10000), COLOURS, strict=False):
            b.plot(
                np.degrees(alpha),
                steady_forces(law, Fz=load, alpha=alpha).Fy / 1e3,
                color=colour,
                lw=1.0,
                label=f"{load} N",
            )
        b.set(xlabel="alpha (deg)", ylabel="Fy (kN)", title="MF 6.1, loads")
        for pressure, colour in zip((2.0, 2.6, 3.2, 4.0), COLOURS, strict=False):
            f = steady_forces(law, Fz=5000.0, alpha=alpha, pressure=1e5 * pressure)
            c.plot(np.degrees(alpha), f.Mz, color=colour, lw=1.0, label=f"{pressure} bar")
        c.set(xlabel="alpha (deg)", ylabel="Mz (N m)", title="MF 6.1, pressures")
        V = np.linspace(-2.0, 2.0, 801)
        f = steady_forces(law, Fz=5000.0, Vx=V)
        d.plot(V, f.Fx, color=COLOURS[0], lw=1.0, label="Fx (N)")
        d.plot(V, f.Fy, color=COLOURS[1], lw=1.0, label="Fy (N)")
        d.plot(V, 10 * f.My, color=COLOURS[2], lw=1.0, label="10 My (N m)")
        d.plot(V, 10 * f.Mz, color=COLOURS[3], lw=1.0, label="10 Mz (N m)")
        d.set(xlabel="Vx (m/s)", ylabel="without slip", title="MF 6.1, through standstill")
        a.legend(fontsize=5, ncols=2, loc="upper right", bbox_to_anchor=(1.0, 1.12))
        for ax in (b, c, d):
            ax.legend(fontsize=5)
        save_figure(figure, target / "conditions.png")


def main() -> None:
    TARGET.mkdir(exist_ok=True)
    curves(TARGET)
    ellipses(TARGET)
    roads(TARGET)
    for path in TARGET.glob("*.png"):
        with Image.open(path) as picture:  # lines need few colours
            small = picture.convert("RGB").quantize(64)
        small.save(path, optimize=True)


if __name__ == "__main__":
    main()
