"""Vehicles: the car on 16 degrees of freedom, and two models of CommonRoad beside ours.

Times are of the processor, best of a few runs in turns: start and states of ours, what the audit integrates included,
and scipy's `odeint` on the right-hand side of the peer, both after what has to be built is built.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from torseur import examples
from torseur.bench.build import first_motion
from torseur.bench.peers import machine
from torseur.bench.timing import Report, Rows, Section
from torseur.graph import Function
from torseur.graph.counts import Count, count
from torseur.graph.routine import Loops
from torseur.simulation.results.result import Run
from torseur.simulation.run.batch import simulate_many
from torseur.simulation.run.simulate import study_of
from torseur.simulation.run.simulation import Simulation
from torseur.simulation.study.reader import read_study
from torseur.simulation.study.study import Study

__all__ = ["Amount", "closed_contacts", "measure", "multibody", "operations", "single_track"]

Array = NDArray[np.float64]

CAR = "peugeot_406/double_turn"
STEP = 1e-3
"""Of the batch, s."""

SPEED, BEGIN, RISE, END = 15.0, 0.5, 0.5, 4.0
"""The steered step: m/s, and s."""

SETTLED = 0.5
"""After the wheels have stopped turning, s: from there on lateral accelerations are compared."""


@dataclass(frozen=True)
class Amount:
    """How much is measured.

    Attributes:
        until: the end of the car's runs, s; none: that of its study.
        runs: in the batch.
        repeats: of each run.
        is_built: whether cold and warm builds are measured.
    """

    until: float | None = None
    runs: int = 1000
    repeats: int = 3
    is_built: bool = True


def measure(tell: Callable[[str], object] = print, amount: Amount | None = None) -> Report:
    """All of it; what needs CommonRoad's models only where they are installed.

    Args:
        tell: called with what is being measured.
        amount: how much.
    """
    amount = amount or Amount()
    tell("measuring the car")
    sections = [Section("machine", (*machine(), *_peers())), Section(f"car: {CAR}", tuple(_car(amount)))]
    if find_spec("vehiclemodels") is not None:
        for name, compared in (("single track, st", single_track), ("four wheels, mb", multibody)):
            tell(f"measuring {name}")
            sections.append(Section(f"beside CommonRoad: {name}", tuple(_beside(compared, amount))))
    return Report(tuple(sections))


def _peers() -> Rows:
    found = []
    for package in ("scipy", "commonroad-vehicle-models"):
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            found.append(f"{package} not installed")
    yield "beside it", ", ".join(found)


def _seconds(works: Sequence[Callable[[], object]], repeats: int) -> list[float]:
    """Of the processor, the best of some runs in turns."""
    lowest = [math.inf] * len(works)
    for _ in range(repeats):
        for k, work in enumerate(works):
            began = time.process_time()
            work()
            lowest[k] = min(lowest[k], time.process_time() - began)
    return lowest


# -- the car -----------------------------------------------------------------------------------------------------------
def operations(rate: Function) -> Count:
    """Of one evaluation: an iteration counts one pass; what is called at exceptional instants only does not count."""
    found = count(rate)
    for node in rate.nodes:
        lowered = node.data.lowering() if node.op.name == "call" else None
        if isinstance(lowered, Loops) and lowered.is_gated:
            taken = lowered.count
            found += Count(**{name: -n for name, n in taken.items()})
    return found


def closed_contacts(study: Study) -> Study:
    """The study with wheels that cannot lift: nothing is left that events would decide."""
    given = study.model.constraints.items()
    closed = {
        name: c.model_copy(update={"rolling": c.rolling.model_copy(update={"lifts": False})}) if c.rolling else c
        for name, c in given
    }
    return study.model_copy(update={"model": study.model.model_copy(update={"constraints": closed})})


def _car(amount: Amount) -> Rows:
    file = examples.path(CAR)
    study = read_study(file).study
    until = amount.until or study.until
    for method in ("dopri5", "rodas"):
        solver = {"method": method, "rtol": study.solver.rtol, "atol": study.solver.atol}
        simulation = Simulation(study_of(study, solver=solver, until=until))
        if method == "dopri5":
            rate = simulation.problem.derived().rate
            yield "operations per right-hand side, with its audit", f"{operations(rate).total}: {operations(rate)}"
        simulation.trajectory()
        (seconds,) = _seconds([simulation.trajectory], amount.repeats)
        counts = simulation.trajectory()[0].counts
        told = f"{seconds:.3f} s, {until / seconds:.0f} times real time, {counts.steps} steps"
        yield f"{method}, tolerance {study.solver.rtol or 1e-6:g}", f"{told}, {counts.evaluations} evaluations"
    yield from _batch(closed_contacts(study), until, amount)
    if amount.is_built:
        cold, warm = first_motion(file)
        yield "to a first motion", f"{cold:.2f} s cold, {warm:.2f} s warm"


def _batch(study: Study, until: float, amount: Amount) -> Rows:
    """Variants of the car in lanes beside one run of it, steps and starts as they are."""
    given: dict[str, Any] = {"until": until, "every": until / 10, "solver": {"method": "rk4", "step": STEP}}
    name = next(n for n, x in study.model.parameters.items() if isinstance(x.value, (int, float)) and x.value > 0)
    value = float(study.model.parameters[name].value)  # type: ignore[arg-type]
    alone = Simulation(study_of(study, **given))
    alone.trajectory()

    def many(runs: int) -> object:
        return simulate_many(study, parameters={name: value * np.linspace(0.99, 1.01, runs)}, **given)

    many(16)
    one, all_of_them = _seconds([alone.trajectory, lambda: many(amount.runs)], 1)
    share = all_of_them / amount.runs
    yield f"one run of {STEP:g} s by rk4", f"{one:.3f} s, {until / one:.0f} times real time"
    yield (
        f"{amount.runs} variants in one call",
        f"{share:.4f} s each, {one / share:.1f} times the throughput of one run",
    )


# -- beside CommonRoad -------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Compared:
    """One manoeuvre of ours and of the peer.

    Attributes:
        ours: the whole run, with its audit.
        states: its states alone, as the peer has them.
        theirs: the states of the peer.
        until: its end, s.
        differences: label and value, after a run of each.
    """

    ours: Callable[[], Run]
    states: Callable[[], object]
    theirs: Callable[[], Array]
    until: float
    differences: Callable[[Run, Array], dict[str, float]]


def _beside(make: Callable[[], Compared], amount: Amount) -> Rows:
    compared = make()
    found = compared.differences(compared.ours(), compared.theirs())
    ours, theirs = _seconds([compared.states, compared.theirs], amount.repeats)
    yield "ours, a simulated second", f"{1e3 * ours / compared.until:.3f} ms"
    yield "odeint on theirs", f"{1e3 * theirs / compared.until:.3f} ms, {theirs / ours:.1f} times ours"
    yield from ((name, f"{x:.2g}") for name, x in found.items())


def single_track() -> Compared:
    """The model st: left and right with braking; the same equations."""
    from scipy.integrate import odeint
    from vehiclemodels.parameters_vehicle2 import parameters_vehicle2
    from vehiclemodels.vehicle_dynamics_st import vehicle_dynamics_st

    study, p = read_study(examples.path("bmw_320i/single_track_turns")).study, parameters_vehicle2()
    simulation = Simulation(study)

    def rate(x: Array, t: float) -> list[float]:
        return list(vehicle_dynamics_st(x.tolist(), [0.05 * math.cos(t), -0.7 * math.sin(0.5 * t) ** 2], p))

    def theirs() -> Array:
        start = [0.0, 0.0, 0.0, SPEED, 0.0, 0.0, 0.0]
        return np.asarray(odeint(rate, start, simulation.grid, rtol=1e-10, atol=1e-12))

    def differences(run: Run, x: Array) -> dict[str, float]:
        pairs = {"x, m": (run["x"], x[:, 0]), "y, m": (run["y"], x[:, 1]), "yaw rate, rad/s": (run["wz"], x[:, 5])}
        pairs["slip angle, rad"] = np.arctan2(run["vy"], run["vx"]), x[:, 6]
        return {f"largest difference of {name}": float(np.abs(a - b).max()) for name, (a, b) in pairs.items()}

    return Compared(simulation.run, simulation.trajectory, theirs, study.until, differences)


def multibody(lateral: float = 4.0) -> Compared:
    """The model mb, whose equations are simplified, steered to the left up to a lateral acceleration, m/s2."""
    from scipy.integrate import odeint
    from vehiclemodels.init_mb import init_mb
    from vehiclemodels.parameters_vehicle2 import parameters_vehicle2
    from vehiclemodels.vehicle_dynamics_mb import vehicle_dynamics_mb

    p = parameters_vehicle2()
    angle = lateral * (p.a + p.b) / SPEED**2
    steering = f"{angle!r}*if(t < {BEGIN}, 0, if(t < {BEGIN + RISE}, (t - {BEGIN})/{RISE}, 1))"
    study = read_study(examples.path("bmw_320i/step_steer")).study
    simulation = Simulation(study_of(study, inputs={"steering": {"formula": steering}}, until=END))
    edges = (0.0, BEGIN, BEGIN + RISE, END)

    def rate(x: Array, t: float, turning: float) -> list[float]:
        return list(vehicle_dynamics_mb(x.tolist(), [turning, 0.0], p))

    def theirs() -> Array:
        """Piece by piece: the rate of the steering angle, which is their input, jumps."""
        found = [np.array([init_mb([0.0, 0.0, 0.0, SPEED, 0.0, 0.0, 0.0], p)], dtype=float)]
        for a, b, turning in zip(edges[:-1], edges[1:], (0.0, angle / RISE, 0.0), strict=True):
            times = np.array([a, *(t for t in simulation.grid if a < t < b), b])
            found.append(np.asarray(odeint(rate, found[-1][-1], times, (turning,), rtol=1e-6, atol=1e-8))[1:])
        return np.concatenate(found)

    def differences(run: Run, x: Array) -> dict[str, float]:
        ours = run["wz"], _lateral(run.time, run["vx"], run["vy"], run["wz"])
        peer = x[:, 5], _lateral(run.time, x[:, 3], x[:, 10], x[:, 5])
        late = run.time >= BEGIN + RISE + SETTLED
        return {
            "largest difference of yaw rate, part of its largest": _part(ours[0], peer[0]),
            "the same of lateral acceleration": _part(ours[1], peer[1]),
            "the same, settled": _part(ours[1][late], peer[1][late]),
        }

    return Compared(simulation.run, simulation.trajectory, theirs, END, differences)


def _lateral(t: Array, vx: Array, vy: Array, wz: Array) -> Array:
    return np.asarray(np.gradient(vy, t) + vx * wz)


def _part(a: Array, b: Array) -> float:
    return float(np.abs(a - b).max() / np.abs(b).max())
