"""Vehicles: the car on 16 degrees of freedom, and two models of CommonRoad beside ours.

Times are of the processor, best of a few runs in turns: start and states of ours, what the audit integrates included,
and scipy's `odeint` on the right-hand side of the peer, both after what has to be built is built.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from torseur import examples
from torseur.bench.first_use import first_motion
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
Rate = Callable[[list[float], list[float], Any], Sequence[float]]
"""A right-hand side of CommonRoad: of states, inputs and parameters."""

CAR = "peugeot_406/double_turn"
STEP = 1e-3
"""Of the batch, s."""

SPEED = 15.0
"""Of the compared cars at the start, m/s."""

FIRST, BEGIN, END = 1.0, 4.0, 8.0
"""The turn out of which `mb` is steered, m/s2, and when that begins and ends, s: before, both settle in it."""

RISES = (1.0, 0.5)
"""Within which it is steered, s."""

SETTLED = 1.0
"""After the wheels have stopped turning, s: what is left then is told apart."""


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
        models: dict[str, Callable[[], Compared]] = {"single track, st": single_track}
        models |= {f"four wheels, mb, steered in {x:g} s": partial(multibody, rise=x) for x in RISES}
        for name, compared in models.items():
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


def multibody(lateral: float = 4.0, rise: float = RISES[0], theirs: Rate | None = None) -> Compared:
    """The model mb, whose equations are simplified, steered to the left out of a slight turn.

    Args:
        lateral: acceleration up to which it is steered, m/s2.
        rise: within which the steering angle grows, s.
        theirs: the right-hand side of the peer; by default as it is.
    """
    from scipy.integrate import odeint
    from vehiclemodels.init_mb import init_mb
    from vehiclemodels.parameters_vehicle2 import parameters_vehicle2
    from vehiclemodels.vehicle_dynamics_mb import vehicle_dynamics_mb

    p, model = parameters_vehicle2(), theirs or vehicle_dynamics_mb
    first, last = (x * (p.a + p.b) / SPEED**2 for x in (FIRST, lateral))
    growth = f"if(t < {BEGIN}, 0, if(t < {BEGIN + rise}, (t - {BEGIN})/{rise}, 1))"
    study = read_study(examples.path("bmw_320i/step_steer")).study
    inputs = {"steering": {"formula": f"{first!r} + {last - first!r}*{growth}"}}
    simulation = Simulation(study_of(study, inputs=inputs, until=END))
    edges = (0.0, BEGIN, BEGIN + rise, END)

    def rate(x: Array, t: float, turning: float) -> list[float]:
        return list(model(x.tolist(), [turning, 0.0], p))

    def states() -> Array:
        """Piece by piece: the rate of the steering angle, which is their input, jumps."""
        found = [np.array([init_mb([0.0, 0.0, first, SPEED, 0.0, 0.0, 0.0], p)], dtype=float)]
        for a, b, turning in zip(edges[:-1], edges[1:], (0.0, (last - first) / rise, 0.0), strict=True):
            times = np.array([a, *(t for t in simulation.grid if a < t < b), b])
            found.append(np.asarray(odeint(rate, found[-1][-1], times, (turning,), rtol=1e-6, atol=1e-8))[1:])
        return np.concatenate(found)

    def differences(run: Run, x: Array) -> dict[str, float]:
        steered, late = run.time >= BEGIN - SETTLED, run.time >= BEGIN + rise + SETTLED
        pairs = zip(_turning(run), (x[:, 5], _lateral(run.time, x[:, 3], x[:, 10], x[:, 5])), strict=True)
        found = {}
        for name, (ours, peer) in zip(("yaw rate", "lateral acceleration"), pairs, strict=True):
            parts = np.abs(ours - peer) / np.abs(peer).max()
            found[f"largest difference of {name}, part of its largest"] = float(parts[steered].max())
            found[f"the same of {name}, settled"] = float(parts[late].max())
        return found

    return Compared(simulation.run, simulation.trajectory, states, END, differences)


def _turning(run: Run) -> tuple[Array, Array]:
    """Yaw rate and lateral acceleration of the chassis over ground: its velocities are in its own axes."""
    vx, vy, vz, wy, wz, roll, pitch = (run[name] for name in ("vx", "vy", "vz", "wy", "wz", "roll", "pitch"))
    ahead = np.cos(pitch) * vx + np.sin(pitch) * (np.sin(roll) * vy + np.cos(roll) * vz)
    across = np.cos(roll) * vy - np.sin(roll) * vz
    yaw = (np.sin(roll) * wy + np.cos(roll) * wz) / np.cos(pitch)
    return yaw, _lateral(run.time, ahead, across, yaw)


def _lateral(t: Array, vx: Array, vy: Array, wz: Array) -> Array:
    return np.asarray(np.gradient(vy, t) + vx * wz)
