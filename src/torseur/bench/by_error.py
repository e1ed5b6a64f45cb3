"""Steps by error and implicit steps beside SciPy's DOP853 and CVODE, on the same right-hand side, and beside MuJoCo.

SciPy calls our native rate, so that nothing but the integration differs; it is pure Python around it. CVODE comes with
CasADi, which evaluates the same expressions by its own means. Errors are those at the end, against a run to 1e-12.
"""

from __future__ import annotations

from collections.abc import Callable
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
from torseur.simulation.solvers.stepper import Stepper
from torseur.simulation.study.study import Study

__all__ = ["bent", "beside_peers", "implicit_steps", "short_runs"]

Array = NDArray[np.float64]

RTOL, ATOL = 1e-8, 1e-10
RECORDS = 20_000
STEP = 1e-3

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
    works |= _scipy(runs["dop853"], until, finals) | _cvode(runs["dop853"], until, finals)
    times = dict(zip(works, best_of_each(list(works.values()), budget), strict=True))
    for name, took in times.items():
        if name != "records":
            error = float(np.abs(finals[name] - right).max())
            beside = "" if name in runs else f", {took / times['dop853']:.1f} times our dop853"
            yield name, f"{1e3 * took:8.2f} ms, error {error:.1e}{beside}"
    each = (times["records"] - times["dop853"]) / RECORDS
    yield "a record by dense output", f"{1e9 * each:.0f} ns, of dop853, {RECORDS} of them"


def _kept(finals: dict[str, Array], name: str, run: Simulation) -> None:
    finals[name] = run.trajectory()[0].final


def _scipy(run: Simulation, until: float, finals: dict[str, Array]) -> dict[str, Work]:
    """DOP853 of SciPy around our native rate."""
    if find_spec("scipy") is None:
        return {}
    from scipy.integrate import solve_ivp

    problem, (x, held) = run.problem.derived(), run.start()
    native = compile(problem.rate, lanes=1)
    native = native.bind(held.p) if held.p.size else native
    parts = [problem.columns(b.name) for b in problem.states]
    names, fixed = [a.name for a in native.inputs], {"u": held.u, "m": held.m}

    def rate(t: float, y: Array) -> Array:
        blocks = dict(zip([b.name for b in problem.states], [y[part] for part in parts], strict=True))
        given = {"t": np.array(t), **blocks, **fixed}
        return np.concatenate(native(*(given[name] for name in names)))

    def work() -> None:
        found = solve_ivp(rate, (0.0, until), x, method="DOP853", rtol=RTOL, atol=ATOL, t_eval=[until])
        finals[f"SciPy {version('scipy')} DOP853"] = found.y[:, -1]

    return {f"SciPy {version('scipy')} DOP853": work}


def _cvode(run: Simulation, until: float, finals: dict[str, Array]) -> dict[str, Work]:
    """CVODE as it comes with CasADi, by Adams' formulas, on the same expressions."""
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
    """Runs by error from random postures: in lanes, one after the other, and MuJoCo's rollout by Runge-Kutta 4."""
    rng = np.random.default_rng(0)
    study = _falling(arm, until, "dopri5", until, rtol=1e-6, atol=1e-9).study
    simulation = Simulation(study, audit=False)
    starts = {x.name: rng.uniform(-1.0, 1.0, runs) for x in arm.q}
    single = [{name: float(values[k]) for name, values in starts.items()} for k in range(runs)]

    def one_by_one() -> None:
        for start in single:
            simulation.trajectory(start=start)

    works: list[Work] = [partial(simulate_many, study, starts=starts), one_by_one]
    rollout = None if path is None else _rollout(path, simulation, starts, round(until / STEP))
    works += [rollout] if rollout is not None else []
    times = best_of_each(works, budget)
    steps = simulation.trajectory(start=single[0])[0].counts.steps
    yield "in lanes", f"{1e6 * times[0] / runs:8.1f} us a run of about {steps} steps, from a study to the states"
    yield "one after the other", f"{1e6 * times[1] / runs:8.1f} us a run: {times[1] / times[0]:.1f} times as long"
    if rollout is not None:
        words = f"{round(until / STEP)} steps of {STEP * 1e3:g} ms"
        yield "MuJoCo's rollout", f"{1e6 * times[2] / runs:8.1f} us a run, {words}: {times[2] / times[0]:.1f} times"


def _rollout(path: Path, simulation: Simulation, starts: dict[str, Array], steps: int) -> Work | None:
    if find_spec("mujoco") is None:
        return None
    import mujoco
    from mujoco import rollout

    model = mujoco.MjModel.from_xml_path(str(path))
    model.opt.timestep, model.opt.integrator = STEP, mujoco.mjtIntegrator.mjINT_RK4
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    names = [mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, k) for k in range(model.njnt)]
    first = np.zeros((len(next(iter(starts.values()))), 1 + model.nq + model.nv))
    first[:, 1 : 1 + model.nq] = np.stack([starts[name] for name in names], axis=1)
    data = mujoco.MjData(model)
    return partial(rollout.rollout, model, data, first, nstep=steps)


# -- implicit steps ----------------------------------------------------------------------------------------------------
def implicit_steps(budget: float, count: int = 2000) -> Rows:
    """One step of each implicit method on Panda's arm beside MuJoCo's implicitfast, each looped in native code."""
    with resources.as_file(resources.files("torseur.bench") / "models" / "panda7.urdf") as path:
        arm, works = load(path), dict[str, Work]()
        theirs = _implicitfast(path, count)
    if theirs is not None:
        works["mj_step, implicitfast"] = theirs
    for method in ("rodas", "newmark", "hht", "generalised_alpha"):
        run = _falling(arm, 1.0, method, 1.0)
        x, held = run.start()
        stepper = Stepper(run.method.method, run.problem, held, run.tolerance)
        stepper.restart(0.0, x)
        works[method] = stepper.repeated(STEP, count)
    times = dict(zip(works, best_of_each(list(works.values()), budget), strict=True))
    peer = times.get("mj_step, implicitfast")
    for name, took in times.items():
        beside = "" if peer is None or peer == took else f", {peer / took:.2f} times as fast as implicitfast"
        yield name, f"{1e6 * took / count:6.2f} us a step{beside}"


def _implicitfast(path: Path, count: int) -> Work | None:
    if find_spec("mujoco") is None:
        return None
    import mujoco

    model = mujoco.MjModel.from_xml_path(str(path))
    model.opt.timestep, model.opt.integrator = STEP, mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    data = mujoco.MjData(model)

    def work() -> None:
        mujoco.mj_resetData(model, data)
        data.qpos[:] = 0.3
        mujoco.mj_step(model, data, count)

    return work
