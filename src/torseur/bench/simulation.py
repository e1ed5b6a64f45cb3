"""What whole simulations cost: fixed steps, adaptive steps, batches, and one step beside MuJoCo's.

What is compared is measured in turns, in one run, on one thread unless said otherwise. The model's own share is the
native rate alone, at states along the motion, times the evaluations that the run makes.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from torseur.bench import workloads
from torseur.bench.by_error import bent, beside_peers, implicit_steps, rollout, short_runs
from torseur.bench.peers import machine
from torseur.bench.timing import Report, Rows, Section, best_of_each
from torseur.describe import Mechanism
from torseur.emit import RK4, compile, integrator
from torseur.emit.jit import host
from torseur.formats import load
from torseur.simulation.integrate.recording import Trajectory
from torseur.simulation.run.batch import simulate_many
from torseur.simulation.run.simulation import Simulation
from torseur.simulation.solvers.problem import Held, Problem
from torseur.simulation.solvers.stepper import Stepper
from torseur.simulation.study.study import Study

__all__ = ["Effort", "measure"]

Array = NDArray[np.float64]
STEP = 1e-3
"""Of the fixed-step methods, s."""

SHORT = 0.2
"""The end of short runs with adaptive steps, s."""

TOLD = 2.0
"""What falls without friction is chaotic: until here, s, errors at the end are those of the steps."""

_ROLLED = 1000
"""Runs of a batch that MuJoCo makes: enough to know what one takes."""

_GROUP = 0.05
"""Seconds of a group of calls: about as long as one of the runs it is compared with."""


@dataclass(frozen=True)
class Effort:
    """How much is measured.

    Attributes:
        arms, methods: which ones.
        until: the end of single runs, s.
        runs: in a batch.
        steps: of each of them.
        short: runs with adaptive steps in a batch.
        budget: for each figure, s.
    """

    arms: tuple[str, ...] = ("ur5", "rx90")
    methods: tuple[str, ...] = ("dopri5", "dop853")
    until: float = 100.0
    runs: int = 10_000
    steps: int = 50
    short: int = 1000
    budget: float = 1.5


def measure(progress: Callable[[str], object] = lambda line: None, effort: Effort | None = None) -> Report:
    """Measure everything; `progress` is told what is being done. Takes a minute or two by default."""
    effort = effort or Effort()
    sections = [Section("machine", tuple(machine()))]
    for arm in map(_arm, effort.arms):
        parts: list[tuple[str, Callable[[Mechanism, Effort], Rows]]] = [
            (f"{arm.name}: Runge-Kutta 4, {STEP * 1e3:g} ms, {effort.until:g} s", _fixed),
            (f"{arm.name}: adaptive steps, {effort.until:g} s", _adaptive),
            (f"{arm.name}: {effort.runs} runs of {effort.steps} steps", _batch),
            (f"{arm.name}: adaptive, beside other programs, {min(effort.until, TOLD):g} s", _beside),
            (f"{arm.name}: {effort.short} short runs with adaptive steps, {SHORT:g} s", _short),
        ]
        for title, rows in parts:
            progress(f"measuring {title}")
            sections.append(Section(title, tuple(rows(arm, effort))))
    title = f"panda: one implicit step of {STEP * 1e3:g} ms"
    progress(f"measuring {title}")
    sections.append(Section(title, tuple(implicit_steps(effort.budget))))
    return Report(tuple(sections))


def _arm(name: str) -> Mechanism:
    if name == "rx90":
        return workloads.numbered_rx90()
    with resources.as_file(resources.files("torseur.bench") / "models" / f"{name}.urdf") as path:
        return load(path)


def _simulation(arm: Mechanism, effort: Effort, solver: dict[str, Any], *, audit: bool = True) -> Simulation:
    """An arm that falls from a bent posture; limits of its joints are not watched, so that nothing interrupts it."""
    return Simulation(
        Study(model=arm, until=effort.until, start=bent(arm), solver=solver, stops={"model": "ignore"}), audit=audit
    )


# -- the model's own share ---------------------------------------------------------------------------------------------
def _given(problem: Problem, held: Held, times: Array, states: Array) -> dict[str, Any]:
    """The blocks of a problem at the instants of a motion."""
    values: dict[str, Any] = {"t": times, "u": held.u, "m": held.m, "p": held.p}
    return values | {b.name: np.ascontiguousarray(states[:, problem.columns(b.name)]) for b in problem.states}


def _rate_alone(problem: Problem, held: Held, motion: Trajectory) -> tuple[Callable[[], object], int]:
    """The native rate at all recorded states, one after the other, and how many these are."""
    native = compile(problem.rate, lanes=1)
    native = native.bind(held.p) if held.p.size else native
    values = _given(problem, held, motion.times, motion.states)
    args = [values[a.name] for a in native.inputs]
    out = native(*args)
    return partial(native, *args, out=tuple(out) if isinstance(out, tuple) else (out,)), len(motion.times)


def shared(part: float) -> str:
    """How much of a run is the model's own code; more than all of it was measured at a bad moment.

    >>> shared(0.953)
    "95 % in the model's code"
    >>> shared(1.2)
    'unreliable, 120 %: the machine was disturbed'
    """
    percent = f"{100.0 * part:.0f} %"  # a tick above all of it is the error of the clock
    return f"{percent} in the model's code" if part <= 1.02 else f"unreliable, {percent}: the machine was disturbed"


# -- a fixed step ------------------------------------------------------------------------------------------------------
def _fixed(arm: Mechanism, effort: Effort) -> Rows:
    solver = {"method": "rk4", "step": STEP}
    steps = round(effort.until / STEP)
    for audit in (True, False):
        simulation = _simulation(arm, effort, solver, audit=audit)
        motion = simulation.trajectory()[0]
        rate, count = _rate_alone(simulation.problem.derived(), simulation.start()[1], motion)
        took, bare, start = best_of_each([simulation.run, rate, simulation.start], effort.budget, group=_GROUP)
        own = len(RK4.b) * bare / count
        words = "with its audit" if audit else "without"
        pace = f"{effort.until / took:.0f} times real time"
        yield f"a whole run {words}", f"{1e9 * took / steps:7.0f} ns a step, {pace}"
        yield "", f"{1e9 * own:7.0f} ns of it for 4 rates alone: {shared(own * steps / took)}"
        yield "", f"{1e3 * start:7.2f} ms to find the start"
    if find_spec("mujoco") is not None and arm.name.startswith("ur5"):
        yield from _beside_mujoco(arm, effort)


def _beside_mujoco(arm: Mechanism, effort: Effort) -> Rows:
    """Their one evaluation and semi-implicit Euler step, looped in their own code, against our four evaluations."""
    import mujoco

    with resources.as_file(resources.files("torseur.bench") / "models" / "ur5.urdf") as path:
        model = mujoco.MjModel.from_xml_path(str(path))
    model.opt.timestep = STEP
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    simulation, steps = _simulation(arm, effort, {"method": "rk4", "step": STEP}, audit=False), 10_000
    problem, (x, held) = simulation.problem.derived(), simulation.start()
    run = integrator(problem.rate, RK4)
    first: dict[str, Any] = {"u": held.u, "m": held.m, "p": held.p}
    first |= {b.name: x[problem.columns(b.name)] for b in problem.states}
    ours = partial(run, **{a.name: first[a.name] for a in run.inputs}, step=STEP)
    names = [mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, k) for k in range(model.njnt)]
    order = [[c.name for c in simulation.model.coordinates].index(n) for n in names]
    data = mujoco.MjData(model)

    def theirs(count: int) -> None:
        mujoco.mj_resetData(model, data)
        data.qpos[:] = first["q"][order]
        mujoco.mj_step(model, data, count)

    euler, model.opt.integrator = model.opt.integrator, mujoco.mjtIntegrator.mjINT_RK4
    theirs(1000)
    off = float(np.abs(data.qpos - ours(steps=1000, every=1000).states[0][-1][order]).max())
    if not off < 1e-6:
        raise ArithmeticError(f"MuJoCo's Runge-Kutta goes elsewhere, by {off:.1e} rad: nothing to compare")
    for title, chosen in (("Euler", euler), ("Runge-Kutta 4", mujoco.mjtIntegrator.mjINT_RK4)):
        model.opt.integrator = chosen
        both: list[Callable[[], object]] = [partial(theirs, steps), partial(ours, steps=steps, every=steps)]
        step, mine = (took / steps for took in best_of_each(both, effort.budget, group=_GROUP))
        faster = f"{step / mine:.1f} times faster"
        yield "one step", f"{1e9 * mine:7.0f} ns; mj_step by {title} {1e9 * step:.0f} ns: {faster}"


# -- adaptive steps ----------------------------------------------------------------------------------------------------
def _adaptive(arm: Mechanism, effort: Effort) -> Rows:
    for name in effort.methods:
        simulation = _simulation(arm, effort, {"method": name, "rtol": 1e-8, "atol": 1e-10}, audit=False)
        (x, held), problem = simulation.start(), simulation.problem
        runs: list[Trajectory] = []
        motion = simulation.trajectory()[0]
        stepper = Stepper(simulation.method.method, problem, held, simulation.tolerance)
        rate, count = _rate_alone(problem.derived(), held, motion)

        def drive(simulation: Simulation = simulation, runs: list[Trajectory] = runs) -> None:
            runs.append(simulation.trajectory()[0])

        step = effort.until / motion.counts.steps
        stepper.restart(0.0, x)
        _, native, bare = best_of_each([drive, stepper.repeated(step, 1000), rate], effort.budget, group=_GROUP)
        shortest = min(run.counts.wall_time for run in runs)
        tried = motion.counts.steps + motion.counts.rejected
        took, alone = shortest / tried, native / 1000
        yield name, f"{1e6 * took:.2f} us a step ({motion.counts.steps}, {motion.counts.rejected} more rejected)"
        yield "", f"{1e6 * (took - alone):.2f} us above the native step, {1e6 * alone:.2f} us"
        evaluations = stepper.evaluations * bare / count
        yield "", f"{1e6 * (took - evaluations):.2f} us above its {stepper.evaluations} rates alone"


def _beside(arm: Mechanism, effort: Effort) -> Rows:
    yield from beside_peers(arm, min(effort.until, TOLD), effort.budget)


def _short(arm: Mechanism, effort: Effort) -> Rows:
    return _of_file(arm, lambda path: short_runs(arm, path, effort.short, SHORT, effort.budget))


Found = TypeVar("Found")


def _of_file(arm: Mechanism, work: Callable[[Path | None], Found]) -> Found:
    """What comes of the file of an arm that other programs read too; None for others."""
    if not arm.name.startswith("ur5"):
        return work(None)
    with resources.as_file(resources.files("torseur.bench") / "models" / "ur5.urdf") as path:
        return work(path)


# -- many runs ---------------------------------------------------------------------------------------------------------
def _batch(arm: Mechanism, effort: Effort) -> Rows:
    until, solver = effort.steps * STEP, {"method": "rk4", "step": STEP}
    study = Study(model=arm, until=until, every=until, solver=solver, stops={"model": "ignore"})
    simulation = Simulation(study, audit=False)
    problem, (x, held) = simulation.problem.derived(), simulation.start()
    states = np.tile(x, (effort.runs, 1))
    states[:, : len(arm.q)] += np.random.default_rng(0).uniform(-1.0, 1.0, (effort.runs, len(arm.q)))
    values = _given(problem, held, np.zeros(0), states)
    ways = [(1, 1), (host().lanes.width, 1), (host().lanes.width, 2)]
    works: list[Callable[[], object]] = []
    for lanes, threads in ways:
        run = integrator(problem.rate, RK4, lanes=lanes)
        given = {a.name: values[a.name] for a in run.inputs}
        works.append(partial(run, **given, step=STEP, steps=effort.steps, every=effort.steps, threads=threads))
    starts = {x.name: values["q"][:, k] for k, x in enumerate(arm.q)}
    works.append(lambda: simulate_many(study, starts=starts, threads=os.cpu_count() or 1))
    part = min(effort.runs, _ROLLED)
    theirs = _of_file(arm, lambda path: rollout(path, {n: x[:part] for n, x in starts.items()}, effort.steps))
    works += [theirs] if theirs is not None else []
    times = best_of_each(works, effort.budget, group=_GROUP)
    total = effort.runs * effort.steps
    for (lanes, threads), took in zip(ways, times, strict=False):
        words = f"{lanes} lane{'s' * (lanes > 1)}, {threads} thread{'s' * (threads > 1)}"
        yield words, f"{total / took / 1e6:6.2f} million steps a second, {times[0] / took:.2f} times one lane"
    whole = total / times[len(ways)] / 1e6
    yield f"simulate_many, {os.cpu_count()} threads", f"{whole:6.2f} million steps a second, from a study to the states"
    if theirs is not None:
        pace = part * effort.steps / times[-1]
        words = f"one lane {total / times[0] / pace:.1f} times that, lanes {total / times[1] / pace:.1f} times"
        yield "MuJoCo's rollout, RK4, one thread", f"{pace / 1e6:6.2f} million steps a second; {words}"
