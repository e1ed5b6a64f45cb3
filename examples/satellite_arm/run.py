"""The seven quantities, and the table of computing times of the paper's annex, then and now."""

from __future__ import annotations

import platform
from pathlib import Path

import llvmlite
import numpy as np
from rich.console import Console
from rich.table import Table

import torseur as ts
from torseur.bench.timing import best_of_each
from torseur.emit import NativeFunction, compile
from torseur.graph import Function, Graph, solve

FOLDER = Path(__file__).resolve().parent
STATES = 2000
# Llibre, Mampey and Chretien 1983, annex: Perkin-Elmer 3242, single precision, compiler FVII Z, ms.
THEN = {"REPERE + ATSAT": 0.65 + 0.24, "CINETI + CINABS": 8.5 + 1.3, "EULNEW": 7.8, "CHOLES": 12.0}
WHAT = {
    "REPERE + ATSAT": "rotations of the bodies: pose of the tool",
    "CINETI + CINABS": "matrix of kinetic energy A: mass_matrix",
    "EULNEW": "what depends on speeds: bias",
    "CHOLES": "solution of A a = b, 12 unknowns",
}
console = Console(highlight=False, markup=False, soft_wrap=True)


def main() -> None:
    run = ts.simulate(FOLDER / "reach.yaml")
    console.print(str(run), str(run.audit()), sep="\n")
    span, took = run.time[-1] - run.time[0], run.info["wall_time"]
    console.print(f"{run.info['steps']} steps in {1e3 * took:.0f} ms, {span / took:.0f} times faster than real time")
    show_times()


def show_times(budget: float = 0.3) -> dict[str, float]:
    """Measure and print; seconds for one state by the name of the module of 1983."""
    model = ts.build(ts.load(FOLDER / "satellite_arm.yaml"))
    rng = np.random.default_rng(0)
    q = np.tile([1.0 if x.name == "qw" else 0.3 for x in model.coordinates], (STATES, 1))
    q += rng.uniform(-0.2, 0.2, q.shape)
    q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1, keepdims=True)
    v, tau = rng.uniform(-0.1, 0.1, (2, STATES, model.nv))
    A, b, choles = model.mass_matrix(q), tau - model.bias(q, v), solver(model.nv)
    assert np.allclose(choles(A, b), model.forward_dynamics(q, v, tau), rtol=1e-8)
    times = best_of_each(
        [
            lambda: model.pose(q, "tool"),
            lambda: model.mass_matrix(q),
            lambda: model.bias(q, v),
            lambda: choles(A, b),
            lambda: model.forward_dynamics(q, v, tau),
        ],
        budget,
    )
    now = dict(zip([*THEN, "loop"], (t / STATES for t in times), strict=True))
    table = Table("1983", "what it does", "then, ms", "now, µs", "ratio")
    for name, then in [*THEN.items(), ("loop", sum(THEN.values()))]:
        ratio = 1e-3 * then / now[name]
        what = WHAT.get(name, "all of it: forward_dynamics")
        table.add_row(name, what, f"{then:.2f}", f"{1e6 * now[name]:.3f}", f"{ratio:.0f}")
    console.print(table)
    versions = f"torseur {ts.__version__}, Python {platform.python_version()}, NumPy {np.__version__}"
    console.print(f"now: {processor()}, one thread, double precision, a state of {STATES} in a batch")
    console.print(f"{versions}, llvmlite {llvmlite.__version__}")
    return now


def solver(n: int) -> NativeFunction:
    """x with A x = b for a batch of (n, n) matrices."""
    g = Graph()
    A, b = g.block("A", (n, n)), g.block("b", n)
    return compile(
        Function("solve", [A, b], {"x": solve([[A[n * i + j] for j in range(n)] for i in range(n)], list(b))})
    )


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


if __name__ == "__main__":
    main()
