"""A double pendulum, from its Lagrangian to a picture: what ``make demo`` runs.

The mechanics is in pendulum.py, the runs of the map in flips.py, the drawing in picture.py.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from flips import flip_times
from pendulum import PARAMETERS, Pendulum, double_pendulum
from picture import check_plots, draw
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from torseur.bench.timing import best, own_cache, seconds
from torseur.emit import compile, integrator, to_listing
from torseur.errors import TorseurError
from torseur.graph import Function, count

PICTURE = Path("build") / "double_pendulum.png"
STATES = 100_000
THREADS = os.cpu_count() or 1
console = Console(highlight=False, markup=False, soft_wrap=True)


def main() -> None:
    options = _options()
    check_plots()
    began = time.perf_counter()
    pendulum = double_pendulum()
    show_equations(pendulum.rate, time.perf_counter() - began)
    show_native_code(pendulum.rate)
    show_one_run(pendulum)
    show_map(pendulum.rate, options.size, options.until, options.out)


def show_equations(rate: Function, took: float) -> None:
    console.rule("equations of motion")
    console.print(to_listing(rate).strip())
    console.print(f"\nderived in {1e3 * took:.1f} ms, {count(rate).total} operations in all")


def show_native_code(rate: Function) -> None:
    console.rule("native code")
    state, parameters = (np.array([2.0, 1.0]), np.zeros(2)), PARAMETERS.values()
    with own_cache():
        cold = seconds(lambda: compile(rate)(*state, *parameters))
        warm = seconds(lambda: compile(rate)(*state, *parameters))
    console.print(f"first call: {1e3 * cold:.0f} ms when compiled, {1e3 * warm:.1f} ms when found on disk")
    function = compile(rate).bind(*parameters)
    rng = np.random.default_rng(1)
    batch = rng.uniform(-3, 3, (2, STATES, 2))
    out = np.empty_like(batch[0]), np.empty_like(batch[0])
    one, kept = [b[0] for b in batch], tuple(o[0] for o in out)
    console.print(f"one call from Python: {1e9 * best(lambda: function(*one, out=kept), 0.2):.0f} ns")
    for threads in dict.fromkeys((1, THREADS)):
        each = best(partial(function, *batch, out=out, threads=threads), 0.2) / STATES
        console.print(f"a batch of {STATES} states on {threads} thread(s): {1e9 * each:.1f} ns a state")


def show_one_run(pendulum: Pendulum) -> None:
    console.rule("one run")
    run, until, step = integrator(pendulum.rate), 60.0, 1e-3
    start = [2.0, 1.0], [0.0, 0.0]
    run(*start, **PARAMETERS, step=step, steps=1)
    began = time.perf_counter()
    motion = run(*start, **PARAMETERS, step=step, steps=round(until / step), every=10)
    took = time.perf_counter() - began
    energy = compile(pendulum.energy)(*motion.states, **PARAMETERS)
    drift = np.abs(energy - energy[0]).max()
    console.print(f"{until:g} s by Runge-Kutta 4 with steps of {1e3 * step:g} ms, computed in {1e3 * took:.0f} ms")
    console.print(f"audit: energy {energy[0]:+.6f} J at the start, drifts by at most {drift:.1e} J")


def show_map(rate: Function, size: int, until: float, path: Path) -> None:
    console.rule("a map of runs")
    columns = [TextColumn("{task.description}"), BarColumn(None), TextColumn("{task.completed:.1f} s")]
    run, began = integrator(rate), time.perf_counter()
    with Progress(*columns, TimeElapsedColumn(), console=console) as bar:
        task = bar.add_task(f"{size} x {size} starts, up to", total=until)
        first, steps = flip_times(run, size, until, THREADS, lambda done: bar.update(task, completed=done))
    took = time.perf_counter() - began
    share, median = np.isfinite(first).mean(), np.nanmedian(first)
    console.print(f"{steps / 1e6:.0f} million steps in {took:.1f} s, {1e9 * took / steps:.0f} ns a step")
    console.print(f"{100 * share:.0f} % turn over within {until:g} s, half of these within {median:.1f} s")
    draw(first, until, path)
    console.print(f"picture: {path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path}")


def _options() -> Any:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--size", type=int, default=900, help="starting angles along each side of the map")
    parser.add_argument("--until", type=float, default=30.0, help="length of the runs of the map, s")
    parser.add_argument("--out", type=Path, default=PICTURE, help="where the picture goes")
    return parser.parse_args()


if __name__ == "__main__":
    try:
        main()
    except TorseurError as error:
        sys.exit(f"error: {error}")
