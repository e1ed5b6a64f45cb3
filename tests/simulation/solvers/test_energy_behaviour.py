"""Orders of convergence and what becomes of energy, for every method, on mechanisms: as theory says."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import pytest

import torseur as ts
from support.example_files import FILES
from support.sweeps import mostly_slow
from torseur.describe import Mechanism, SpringDamper
from torseur.simulation.integrate.driver import integrate
from torseur.simulation.integrate.hooks import Limits
from torseur.simulation.results.result import Run
from torseur.simulation.run.simulation import Simulation
from torseur.simulation.solvers.control import Tolerance
from torseur.simulation.solvers.methods import METHODS
from torseur.simulation.study.study import Study

ROD = {"M": 1.0, "MX": 0.5, "XX": 0.0, "YY": 1.0 / 3.0, "ZZ": 1.0 / 3.0}


# -- orders ------------------------------------------------------------------------------------------------------------
def double_pendulum() -> tuple[Mechanism, dict[str, float], float]:
    found = ts.load(FILES["double_pendulum"])
    return found, dict(zip([x.name for x in found.q], (0.6, 0.4), strict=True)), 1.0


def four_bar() -> tuple[Mechanism, dict[str, float], float]:
    return ts.load(FILES["four_bar"]), {"dq1": 2.0}, 0.4


def thrown_stone() -> tuple[Mechanism, dict[str, float], float]:
    """Its centre of mass is not at its origin, so that turning and falling are coupled."""
    inertia = {"mass": 2.0, "centre": (0.1, 0.05, -0.1), "tensor": {"xx": 0.3, "yy": 0.5, "zz": 0.7}}
    found = Mechanism(name="stone", gravity=(0, 0, -9.81), base={"kind": "floating", "inertia": inertia})
    assert len(found.q) == 7  # a quaternion
    return found, dict(zip([x.name for x in found.v], (1.0, 0.5, -0.3, 2.0, 1.5, -1.0), strict=True)), 1.0


QUARTERS = np.array([0.25, 0.5, 0.75, 1.0])


@cache
def prepared(make: Any) -> tuple[Any, ...]:
    """A problem with its second-order form, where it starts, how long it runs, and where it really goes."""
    mechanism, start, until = make()
    simulation = Simulation(Study(model=mechanism, start=start, solver={"method": "newmark"}), audit=False)
    x, held = simulation.start()
    tight, best = Tolerance(1e-13, 1e-14), METHODS["dop853"].method
    truth = integrate(
        simulation.problem, x, (0.0, until), method=best, held=held, tolerance=tight, output=until * QUARTERS
    )
    return simulation.problem, x, held, until, truth.states


STEPS = {"dop853": 8, "dopri5": 24, "rk4": 80, "rodas": 160}
"""Far enough from rounding and close enough to the limit; methods of order 2 take a hundred."""


@pytest.mark.parametrize("make", mostly_slow([double_pendulum, four_bar, thrown_stone], quick=(double_pendulum,)))
@pytest.mark.parametrize("name", METHODS)
def test_errors_fall_with_the_order_of_the_method(name: str, make: Any) -> None:
    problem, x, held, until, truth = prepared(make)
    method, errors, loose = METHODS[name].method, [], Tolerance(1e6, 1e6)
    for steps in (STEPS.get(name, 100), 2 * STEPS.get(name, 100)):
        h = until / steps
        run = integrate(
            problem,
            x,
            (0.0, until),
            method=method,
            held=held,
            tolerance=loose,
            output=until * QUARTERS,
            limits=Limits(first=h, longest=h),
        )
        assert run.counts.steps == steps
        errors.append(float(np.linalg.norm(run.states - truth)))
    assert math.log2(errors[0] / errors[1]) == pytest.approx(method.order, abs=0.3)


# -- energy ------------------------------------------------------------------------------------------------------------
def pendulum(**more: Any) -> Mechanism:
    bodies = {"rod": {"joint": {"kind": "revolute", "coordinate": "a"}, "inertia": ROD}}
    return Mechanism(name="pendulum", gravity=(9.81, 0.0, 0.0), bodies=bodies, **more)


def energy(run: Run) -> np.ndarray:
    """Above that of rest, as a share of what it was at the start."""
    assert run.complete, run.reason
    found = run["kinetic_energy"] + run["potential_energy"] + 0.5 * 9.81
    return np.asarray(found / found[0])


def test_the_energy_that_runge_kutta_loses_falls_with_the_fourth_power_of_the_step_or_better() -> None:
    mechanism, start, _ = double_pendulum()
    lost = []
    for step in (0.02, 0.01, 0.005):
        run = ts.simulate(mechanism, until=2.0, every=0.02, start=start, solver={"method": "rk4", "step": step})
        lost.append(float(np.ptp(run["kinetic_energy"] + run["potential_energy"])))
    assert math.log2(lost[0] / lost[1]) > 3.9
    assert math.log2(lost[1] / lost[2]) > 3.9


PERIOD = 2.0 * math.pi * math.sqrt(1.0 / 3.0 / (0.5 * 9.81))


def swings(method: str, periods: int = 200, steps: int = 20) -> np.ndarray:
    """The energy of a pendulum that hardly swings, step by step, for many periods."""
    step = PERIOD / steps
    run = ts.simulate(
        pendulum(), until=periods * PERIOD, every=step, start={"a": 1e-3}, solver={"method": method, "step": step}
    )
    return energy(run)


def test_newmark_keeps_the_energy_of_small_swings_in_bounds_for_ever() -> None:
    found = swings("newmark")
    early, late = np.abs(found[:2000] - 1.0).max(), np.abs(found[2000:] - 1.0).max()
    assert late <= 1.01 * early
    assert early <= 1e-6  # the motion is linear but for the square of its amplitude
    lost = swings("rk4")
    assert lost[-1] < lost[2000] < 1.0 - 1e-3


@pytest.mark.parametrize("method", ["hht", "generalised_alpha"])
def test_damped_methods_take_energy_away_and_never_give_any(method: str) -> None:
    found = swings(method)
    by_period = found[::20]
    assert np.all(np.diff(by_period) < 0.0)
    short = swings(method, periods=5, steps=4)[::4]
    assert short[-1] < by_period[5] < 1.0  # the longer the step, the more


def stiff_pendulum() -> Mechanism:
    """A point on a spring of 1e8 N/m with a damper, in polar coordinates: the swing takes a second, the spring 1 ms."""
    bodies = {
        "arm": {"joint": {"kind": "revolute", "coordinate": "a"}},
        "point": {
            "parent": "arm",
            "place": {"steps": [{"ry": math.pi / 2}]},
            "joint": {"kind": "prismatic", "coordinate": "r", "start": 1.0},
            "inertia": {"M": 1.0},
        },
    }
    spring = SpringDamper(coordinate="r", stiffness=1e8, damping=1e5, rest=1.0)
    return Mechanism(name="stiff", gravity=(9.81, 0.0, 0.0), bodies=bodies, loads={"spring": spring})


def test_rodas_takes_the_steps_of_the_swing_and_not_of_the_stiff_spring() -> None:
    """An explicit method must follow 1e5 1/s, its bound of stability; the motion is that of a rigid rod, to m g / k."""
    given = {"until": 1.0, "every": 0.1, "start": {"a": 1.0}}
    run = ts.simulate(stiff_pendulum(), **given, solver={"method": "rodas", "rtol": 1e-7, "atol": 1e-9})
    explicit = ts.simulate(
        stiff_pendulum(), until=0.01, every=0.01, start={"a": 1.0}, solver={"method": "dopri5", "rtol": 1e-7}
    )
    assert run.complete, run.reason
    assert run.audit().holds, run.audit()
    assert run.info["steps"] < 1000
    assert explicit.info["steps"] > 100  # in a hundredth of the time
    bodies = {"rod": {"joint": {"kind": "revolute", "coordinate": "a"}, "inertia": {"M": 1.0, "MX": 1.0, "ZZ": 1.0}}}
    rigid = ts.simulate(Mechanism(name="rigid", gravity=(9.81, 0.0, 0.0), bodies=bodies), **given)
    np.testing.assert_allclose(run["a"], rigid["a"], atol=2e-6)
    assert np.abs(run["r"] - 1.0).max() <= 3.0 * 9.81 / 1e8
