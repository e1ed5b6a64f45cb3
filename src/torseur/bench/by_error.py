"""Adaptive steps and implicit steps beside SciPy's DOP853 and CVODE, on the same right-hand side, and beside MuJoCo.

SciPy and CVODE (by scikit-sundae) call our native rate, so that nothing but the integration differs. Where
scikit-sundae is not installed, CVODE is that of CasADi, which evaluates the same expressions by its own means. Errors
are those at the end, against a run to 1e-12.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib import resources
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from torseur.bench.timing import Rows, best_of_each
from torseur.describe import Mechanism
from torseur.emit import compile, to_casadi
from torseur.formats import load
from torseur.simulation.run.batch import simulate_many
from torseur.simulation.run.simulation import Simulation
from torseur.simulation.solvers import march
from torseur.simulation.solvers.lanes import Lanes
from torseur.simulation.solvers.stepper import StepCode, Stepper
from torseur.simulation.study.study import Study

__all__ = ["bent", "beside_peers", "implicit_steps", "rollout", "short_runs"]

Array = NDArray[np.float64]

RTOL, ATOL = 1e-8, 1e-10
RECORDS = 20_000
STEP = 1e-3
GROUP = 1e-3
"""About the length of a group of runs, s: short ones find the quiet moments of a busy machine."""

Work = Callable[[], object]


def bent(arm: Mechanism) -> dict[str, float]:
    """A posture that the arm falls from."""
    return {x.name: 0.3 * (-1) ** k for k, x in enumerate(arm.q)}


def _falling(arm: Mechanism, until: float, method: str, every: float, **solver: Any) -> Simulation:
    study = Study(
        model=arm,
        until=until,
        every=every,
        start=bent(arm),
        solver={"method": method, **solver},
        stops={"model": "ignore"},
    )
    return Simulation(study, audit=False)


# -- one run -----------------------------------------------------------------------------------------------------------
def beside_peers(arm: Mechanism, until: float, budget: float) -> Rows:
    """A run of each method to the same tolerance, without records on the way; what a record costs."""
    runs = {name: _falling(arm, until, name, until, rtol=RTOL, atol=ATOL) for name in ("dopri5", "dop853", "rodas")}
    right = _falling(arm, until, "dop853", until, rtol=1e-12, atol=1e-13).trajectory()[0].final
    dense = _falling(arm, until, "dop853", until / RECORDS, rtol=RTOL, atol=ATOL)
    finals: dict[str, Array] = {}
    works: dict[str, Work] = {name: partial(_kept, finals, name, run) for name, run in runs.items()}
    works["records"] = dense.trajectory
    peers = _scipy(runs["dop853"], until, finals) | _cvode(runs["dop853"], until, finals)
    works |= peers
    times = dict(zip(works, best_of_each(list(works.values()), budget, group=GROUP), strict=True))
    for name, took in times.items():
        if name in runs or name in finals:
            error = float(np.abs(finals[name] - right).max())
            beside = "" if name in runs else f", {took / times['dop853']:.1f} times our dop853"
            yield name, f"{1e3 * took:8.2f} ms, error {error:.1e}{beside}"
    each = (times["records"] - times["dop853"]) / RECORDS
    yield "a record by dense output", f"{1e9 * each:.0f} ns, of dop853, {RECORDS} of them"
    for name in peers:
        if name not in finals:
            theirs = (times[name] - times[name.removesuffix(WITH_RECORDS)]) / RECORDS
            yield f"a record, {name.removesuffix(WITH_RECORDS)}", f"{1e9 * theirs:.0f} ns: {theirs / each:.0f} times"


WITH_RECORDS = ", with records"


def _kept(finals: dict[str, Array], name: str, run: Simulation) -> None:
    finals[name] = run.trajectory()[0].final


_Rate = Callable[[float, Array], Array]


def _rate_of(run: Simulation) -> tuple[_Rate, Array]:
    """Our native rate as other programs call it, and the state at the start."""
    problem, (x, held) = run.problem.derived(), run.start()
    native = compile(problem.rate, lanes=1)
    native = native.bind(held.p) if held.p.size else native
    parts = [problem.columns(b.name) for b in problem.states]
    names, fixed = [a.name for a in native.inputs], {"u": held.u, "m": held.m}

    def rate(t: float, y: Array) -> Array:
        blocks = dict(zip([b.name for b in problem.states], [y[part] for part in parts], strict=True))
        given = {"t": np.array(t), **blocks, **fixed}
        return np.concatenate(native(*(given[name] for name in names)))

    return rate, x


def _scipy(run: Simulation, until: float, finals: dict[str, Array]) -> dict[str, Work]:
    """DOP853 of SciPy around our native rate, and the same with records."""
    if find_spec("scipy") is None:
        return {}
    from scipy.integrate import solve_ivp

    rate, x = _rate_of(run)
    name = f"SciPy {version('scipy')} DOP853"

    def work(times: Array) -> Array:
        return np.asarray(solve_ivp(rate, (0.0, until), x, method="DOP853", rtol=RTOL, atol=ATOL, t_eval=times).y)

    def last() -> None:
        finals[name] = work(np.array([until]))[:, -1]

    return {name: last, name + WITH_RECORDS: partial(work, np.linspace(0.0, until, RECORDS + 1))}


def _cvode(run: Simulation, until: float, finals: dict[str, Array]) -> dict[str, Work]:
    """CVODE by Adams' formulas around our native rate."""
    if find_spec("sksundae") is None:
        return _cvode_of_casadi(run, until, finals)
    from sksundae.cvode import CVODE

    rate, x = _rate_of(run)
    name = f"CVODE, scikit-sundae {version('scikit-sundae')}"

    def fill(t: float, y: Array, yp: Array) -> None:
        yp[:] = rate(t, y)

    solver = CVODE(fill, method="Adams", rtol=RTOL, atol=ATOL, max_num_steps=10**7)

    def work(times: Array) -> Array:
        return np.asarray(solver.solve(times, x).y)

    def last() -> None:
        finals[name] = work(np.array([0.0, until]))[-1]

    return {name: last, name + WITH_RECORDS: partial(work, np.linspace(0.0, until, RECORDS + 1))}


def _cvode_of_casadi(run: Simulation, until: float, finals: dict[str, Array]) -> dict[str, Work]:
    """The same as it comes with CasADi, on the same expressions."""
    if find_spec("casadi") is None:
        return {}
    import casadi

    problem, (x, held) = run.problem.derived(), run.start()
    rate = to_casadi(problem.rate)
    y, t = casadi.SX.sym("y", problem.size), casadi.SX.sym("t")
    given = {"t": t, "u": held.u, "m": held.m, "p": held.p}
    given |= {b.name: y[problem.columns(b.name)] for b in problem.states}
    found = rate(*(given[b.name] for b in problem.rate.inputs))
    ode = casadi.vertcat(*(found if isinstance(found, (tuple, list)) else (found,)))
    adams = {"linear_multistep_method": "adams", "max_num_steps": 10**7}
    options: dict[str, Any] = {"reltol": RTOL, "abstol": ATOL, **adams}
    solver = casadi.integrator("F", "cvodes", {"x": y, "t": t, "ode": ode}, 0.0, [until], options)
    name = f"CVODE of CasADi {version('casadi')}"

    def work() -> None:
        finals[name] = np.ravel(np.array(solver(x0=x)["xf"]))

    return {name: work}


# -- many short runs ---------------------------------------------------------------------------------------------------
def short_runs(arm: Mechanism, path: Path | None, runs: int, until: float, budget: float) -> Rows:
    """Adaptive steps from random postures: in lanes, one after the other, and MuJoCo's rollout by Runge-Kutta 4."""
    rng = np.random.default_rng(0)
    study = _falling(arm, until, "dopri5", until, rtol=1e-6, atol=1e-9).study
    simulation = Simulation(study, audit=False)
    starts = {x.name: rng.uniform(-1.0, 1.0, runs) for x in arm.q}
    single = [{name: float(values[k]) for name, values in starts.items()} for k in range(runs)]

    def one_by_one() -> None:
        for start in single:
            simulation.trajectory(start=start)

    works: list[Work] = [partial(simulate_many, study, starts=starts), one_by_one]
    theirs = rollout(path, starts, round(until / STEP))
    works += [theirs] if theirs is not None else []
    times = best_of_each(works, budget, group=GROUP)
    steps = simulation.trajectory(start=single[0])[0].counts.steps
    yield "in lanes", f"{1e6 * times[0] / runs:8.1f} us a run of about {steps} steps, from a study to the states"
    yield "one after the other", f"{1e6 * times[1] / runs:8.1f} us a run: {times[1] / times[0]:.1f} times as long"
    if theirs is not None:
        words = f"{round(until / STEP)} steps of {STEP * 1e3:g} ms"
        yield "MuJoCo's rollout", f"{1e6 * times[2] / runs:8.1f} us a run, {words}: {times[2] / times[0]:.1f} times"


def rollout(path: Path | None, starts: Mapping[str, Array], steps: int) -> Work | None:
    """MuJoCo's runs by Runge-Kutta 4 from postures, on one thread; None where there is no file, or no MuJoCo.

    Args:
        path: the file of the arm.
        starts: coordinate -> its values, one for each run.
        steps: of each run.
    """
    if path is None or find_spec("mujoco") is None:
        return None
    import mujoco
    from mujoco import rollout as theirs

    model = mujoco.MjModel.from_xml_path(str(path))
    model.opt.timestep, model.opt.integrator = STEP, mujoco.mjtIntegrator.mjINT_RK4
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    names = [mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, k) for k in range(model.njnt)]
    first = np.zeros((len(next(iter(starts.values()))), 1 + model.nq + model.nv))
    first[:, 1 : 1 + model.nq] = np.stack([starts[name] for name in names], axis=1)
    data = mujoco.MjData(model)
    return partial(theirs.rollout, model, data, first, nstep=steps)


# -- implicit steps ----------------------------------------------------------------------------------------------------
def implicit_steps(budget: float) -> Rows:
    """Steps of each implicit method on Panda's arm beside MuJoCo's implicitfast: one run, in the native loop of each.

    RODAS chooses its steps, to an error below that of the others; all errors are those at the end.
    """
    with resources.as_file(resources.files("torseur.bench") / "models" / "panda7.urdf") as path:
        arm, works = load(path), dict[str, Work]()
        start, right = _right(arm)
        finals: dict[str, Array] = {}
        theirs = _implicitfast(path, start, finals)
    if theirs is not None:
        works[_PEER] = theirs
    taken = dict.fromkeys(works, round(FALL / STEP))
    for method in ("rodas", "newmark", "hht", "generalised_alpha"):
        works[method] = work = _marched(_falling(arm, FALL, method, FALL), method, finals)
        taken[method] = work()
    if theirs is not None:
        theirs()
        works[_LOOSE] = _as_exact(arm, float(np.abs(finals[_PEER] - right).max()), right, finals, taken)
    times = dict(zip(works, best_of_each(list(works.values()), budget, group=GROUP), strict=True))
    peer = times.get(_PEER)
    for name, took in times.items():
        each, error = took / taken[name], np.abs(finals[name] - right).max()
        beside = ""
        if peer is not None and name != _PEER:
            beside = f", {peer / taken[_PEER] / each:.2f} times as fast as implicitfast"
            if name == _LOOSE:
                beside = f", the whole motion {peer / took:.1f} times as fast as implicitfast"
        yield name, f"{1e6 * each:6.2f} us a step, {taken[name]} of them, error {error:.1e} rad{beside}"


def _as_exact(
    arm: Mechanism, error: float, right: Array, finals: dict[str, Array], taken: dict[str, int]
) -> Callable[[], int]:
    """RODAS with the loosest tolerance, by tens, whose error at the end is at most another's."""
    for power in range(0, -9, -1):
        run = _falling(arm, FALL, "rodas", FALL, rtol=10.0**power, atol=10.0 ** (power - 2))
        work = _marched(run, _LOOSE, finals, first=FALL / 10.0)
        taken[_LOOSE] = work()
        if np.abs(finals[_LOOSE] - right).max() <= error:
            break
    return work


_PEER = "mj_step, implicitfast"
_LOOSE = "rodas, as exact as implicitfast"
FALL = 0.25
"""s: what an arm without friction falls before its motion is chaotic."""


def _right(arm: Mechanism) -> tuple[Array, Array]:
    """The coordinates at the start and, to twelve digits, at the end."""
    run = _falling(arm, FALL, "dop853", FALL, rtol=1e-12, atol=1e-13)
    columns = run.problem.columns("q")
    return run.start()[0][columns], run.trajectory()[0].final[columns]


def _marched(run: Simulation, name: str, finals: dict[str, Array], *, first: float = STEP) -> Callable[[], int]:
    """A run in the native loop alone, with the start of a run and nobody looking; gives how many steps it took.

    Args:
        run: the study.
        name: under which its end is kept.
        finals: where it is kept.
        first: the first step, s; all of them where steps are given.
    """
    x, held = run.start()
    code, tolerance = StepCode.of(run.method.method, run.problem), run.tolerance
    lanes = Lanes(code, tolerance.array(run.problem.size), grid=np.array([FALL]))
    stepper, numbers = Stepper(run.method.method, run.problem, held, tolerance, lanes), lanes.numbers[0]

    def work() -> int:
        stepper.restart(0.0, x)
        numbers[:] = 0.0
        numbers[[march.H, march.LONGEST, march.INSTANT, march.MOST]] = first, FALL, FALL, 1e9
        numbers[march.ADAPTIVE] = run.method.method.control is not None
        stepper.ready()
        lanes.march()
        if numbers[march.STATUS] != march.REACHED:
            raise ArithmeticError(f"{name} did not come to the end")
        finals[name] = lanes.page[0, 0, 1:][run.problem.columns("q")]
        return int(numbers[march.STEPS])

    return work


def _implicitfast(path: Path, start: Array, finals: dict[str, Array]) -> Work | None:
    if find_spec("mujoco") is None:
        return None
    import mujoco

    model = mujoco.MjModel.from_xml_path(str(path))
    model.opt.timestep, model.opt.integrator = STEP, mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    data = mujoco.MjData(model)

    def work() -> None:
        mujoco.mj_resetData(model, data)
        data.qpos[:] = start
        mujoco.mj_step(model, data, round(FALL / STEP))
        finals[_PEER] = data.qpos.copy()

    return work
