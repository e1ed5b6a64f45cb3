"""The pictures of campaigns in the documentation: ``python docs/draw_campaigns.py [folder of results]``.

Results in a folder that is given are kept, and used again by the next call.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torseur as ts
from torseur.views import campaign as views
from torseur.views.plots import save_figure

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "docs" / "_static" / "campaigns"

Draw = Callable[[Any], Any]
FIGURES: dict[str, dict[str, Draw]] = {
    "planar_2r/pd_gains.yaml": {
        "pd_gains": lambda found: views.response_map(found, "overshoot", "law.kp.theta1", "law.kd.theta1")
    },
    "four_bar/tolerances.yaml": {
        "four_bar_swing": lambda found: views.histogram(found, "swing"),
        "four_bar_sensitivities": lambda found: views.sensitivity_bars(found, "swing"),
    },
    "peugeot_406/understeer.yaml": {
        "understeer": lambda found: views.response_map(found, "understeer", "payload", "cornering")
    },
    "smera/lift_off.yaml": {
        "lift_off": lambda found: views.response_map(found, "limit", "half_track", "raised", "lean.kp")
    },
}


def main(results: Path) -> None:
    TARGET.mkdir(exist_ok=True)
    for file, figures in FIGURES.items():
        found = ts.run_campaign(ROOT / "examples" / file, results / Path(file).stem)
        for name, draw in figures.items():
            save_figure(draw(found), TARGET / f"{name}.png")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as folder:
            main(Path(folder))
