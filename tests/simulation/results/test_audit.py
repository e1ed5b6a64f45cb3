"""Audits that must fail, just beyond their limits, and audits that must not."""

import numpy as np
import pytest

import torseur as ts
from support.example_files import FILES
from torseur.describe import Effort, Mechanism, SpringDamper
from torseur.simulation.plant.plant import Plant
from torseur.simulation.results.audit import (
    CLOSURE,
    FEW,
    PROMISED,
    UNITS,
    Balance,
    Gap,
    Margins,
    audit_of,
    energy_balance,
)

ROD = {"M": 1.0, "MX": 0.5, "XX": 0.0, "YY": 1.0 / 3.0, "ZZ": 1.0 / 3.0}
TIME = np.linspace(0.0, 1.0, 101)
EPS = float(np.finfo(float).eps)


def rows_of(run):
    return {row["balance"]: row for row in run.audit().table}


# -- limits ------------------------------------------------------------------------------------------------------------
def off_by(error, **more):
    """A balance that is off by an error at its end and is given 2 units on the way."""
    has = 2.0 * TIME
    has[-1] += error
    return Balance("energy", "J", has, {"push": 2.0 * TIME}, **more)


@pytest.mark.parametrize(("factor", "holds"), [(0.999, True), (1.001, False)])
def test_a_balance_holds_up_to_its_share_of_what_was_exchanged(factor, holds):
    audit = audit_of(TIME, [off_by(factor * 2e-6)], margins=Margins(1e-6))
    assert audit.holds is holds


@pytest.mark.parametrize(("factor", "holds"), [(0.9, True), (1.1, False)])
def test_rounding_is_some_units_in_the_last_place_of_what_was_added_up(factor, holds):
    still = Balance("energy", "J", np.where(TIME < 1.0, 0.0, factor * UNITS * EPS * 1e6), {}, size=1e6)
    assert audit_of(TIME, [still], margins=Margins(0.0)).holds is holds


def test_the_numbers_of_the_limits_are_what_they_are():
    assert (UNITS, PROMISED, CLOSURE) == (64.0, 100.0, 1e-9)


@pytest.mark.parametrize(("factor", "holds"), [(0.99, True), (1.01, False)])
def test_a_gap_holds_below_a_nanometre(factor, holds):
    gap = Gap("loops and constraints", "m", np.where(TIME < 0.5, 0.0, factor * 1e-9))
    audit = audit_of(TIME, [], [gap])
    assert audit.holds is holds


@pytest.mark.parametrize(("factor", "holds"), [(0.9, True), (1.1, False)])
def test_steps_by_error_may_be_off_by_their_tolerance_of_what_is_not_steady(factor, holds):
    """A car at speed, whose energy hardly changes: 1e-9 in a step is 1e-7 in a run."""
    T = 1e6 + np.sin(TIME)
    balance = energy_balance("energy", np.column_stack([T, -np.sin(TIME)]), factor * 0.1 * (TIME == 1.0), {})
    assert audit_of(TIME, [balance], margins=Margins(1e-6, 1e-9)).holds is holds
    assert not audit_of(TIME, [balance], margins=Margins(1e-6, 0.0)).holds


def test_the_tolerance_of_steps_never_loosens_an_audit_beyond_its_share():
    assert Margins(1e-6, 1e-3).of_unsteady == 1e-6


def test_what_is_steady_does_not_count():
    steady, swings = np.full(101, 1e9), 1.0 - np.cos(TIME)
    balance = energy_balance("energy", np.column_stack([steady, swings]), -swings, {})
    assert balance.amount == pytest.approx(1.0 - np.cos(1.0))
    assert balance.unsteady == pytest.approx(1.0 - np.cos(1.0))


def test_shares_that_exchange_among_themselves_count():
    """A body that tumbles: its energy stays, its shares do not."""
    a = np.cos(6.0 * TIME) ** 2
    balance = energy_balance("energy", np.column_stack([a, 1.0 - a]), 0.0 * TIME, {})
    assert balance.amount == pytest.approx(np.max(1.0 - a))


def test_of_few_instants_all_that_is_present_counts():
    T = np.full((FEW - 1, 1), 5.0)
    assert energy_balance("energy", T, np.zeros(FEW - 1), {}).amount == 5.0


def test_a_balance_that_is_no_number_does_not_hold():
    assert not audit_of(TIME, [off_by(np.nan)]).holds


# -- parts that do not touch -------------------------------------------------------------------------------------------
def with_wheel(parent=None, loads=None, constraints=None):
    """A pendulum, and a flywheel of 5 MJ beside it or on it."""
    rim, tip = ({"place": {"pose": {"position": [x, 0, 0]}}} for x in (3.0, 1.0))
    wheel = {
        "joint": {"kind": "revolute", "coordinate": "w"},
        "inertia": {"M": 1.0, "ZZ": 10.0},
        "frames": {"rim": rim},
    }
    rod = {"joint": {"kind": "revolute", "coordinate": "a"}, "inertia": ROD, "frames": {"tip": tip}}
    bodies = {"rod": rod, "wheel": wheel | ({"parent": parent} if parent else {})}
    return Mechanism(name="both", gravity=(9.81, 0, 0), bodies=bodies, loads=loads or {}, constraints=constraints or {})


START = {"a": 3.0, "dw": 1000.0}


def test_a_flywheel_beside_it_does_not_hide_a_pendulum_that_is_wrong():
    run = ts.simulate(with_wheel(), until=5.0, start=START, solver={"method": "rk4", "step": 0.05})
    found = rows_of(run)
    assert not run.audit().holds
    assert found["energy of wheel"]["holds"]
    assert not found["energy of rod"]["holds"]
    assert found["energy of rod"]["relative"] > 1e-5


def test_a_flywheel_on_it_does_not_hide_a_pendulum_that_is_wrong():
    run = ts.simulate(with_wheel("rod"), until=5.0, start=START, solver={"method": "rk4", "step": 0.05})
    assert not run.audit().holds
    assert rows_of(run)["energy"]["of"] < 20.0
    assert ts.simulate(with_wheel("rod"), until=5.0, start=START).audit().holds


TOUCHING = {
    "spring": {"loads": {"s": SpringDamper(combination={"a": 1.0, "w": -1.0}, stiffness=1.0)}},
    "strut": {"loads": {"s": SpringDamper(between=("tip", "rim"), damping=1.0)}},
    "formula": {"loads": {"s": Effort(coordinate="a", value="0.1*dw")}},
    "coupling": {"constraints": {"geared": {"coupling": {"coordinate": "w", "equals": "2*a"}}}},
    "contact": {"constraints": {"bump": {"contact": {"gap": "10 - a + w"}}}},
}


@pytest.mark.parametrize("more", TOUCHING.values(), ids=TOUCHING)
def test_what_touches_has_one_account(more):
    run = ts.simulate(with_wheel(**more), until=0.1, start={"a": 1.0}, every=0.01)
    assert "energy" in rows_of(run)


def test_each_part_is_given_its_own_work():
    loads = {
        "motor": Effort(coordinate="w", value=100.0),
        "brake": SpringDamper(coordinate="a", damping=0.1, stiffness=2.0),
    }
    turned = with_wheel(loads=loads)
    run = ts.simulate(
        turned, until=1.0, start={"a": 1.0}, controllers={"servo": {"force": {"speed": "da", "value": 3.0}}}
    )
    found = rows_of(run)
    assert run.audit().holds, run.audit()
    assert found["energy of wheel"]["of"] == pytest.approx(0.5 * 10.0 * 10.0**2, rel=1e-6)
    assert found["energy of rod"]["of"] < 20.0
    whole = run["kinetic_energy"] + run["potential_energy"]
    works = run["work_motor"] + run["work_brake"] + run["work_blocks"]
    np.testing.assert_allclose(whole - whole[0], works, atol=1e-6)


def test_a_body_that_tumbles_freely_holds():
    body = {"joint": {"kind": "spherical"}, "inertia": {"M": 1.0, "XX": 1.0, "YY": 2.0, "ZZ": 3.0}}
    top = Mechanism(name="top", gravity=(0, 0, 0), bodies={"top": body})
    names = [v.name for v in top.v]
    run = ts.simulate(top, until=10.0, start=dict(zip(names, (0.1, 2.0, 0.1), strict=True)))
    assert run.audit().holds, run.audit()
    assert rows_of(run)["energy"]["of"] > 0.1


# -- a run that is wrong says so ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("solver", [{"method": "dopri5", "rtol": 1e-3, "atol": 1e-3}, {"method": "rk4", "step": 0.02}])
def test_loops_that_come_apart_end_the_run_and_the_reason_names_one(solver, monkeypatch):
    monkeypatch.setattr(Plant, "_corrected", lambda self: None)  # nothing brings them together again
    bars = ts.load(FILES["four_bar"])
    run = ts.simulate(bars, until=20.0, every=0.02, start={"dq1": 5.0}, solver=solver)
    assert not run.complete
    assert run.info["outcome"] == "OPEN"
    assert 0.0 < run.time[-1] < 20.0
    assert "loops or constraints are not met any more" in run.reason
    assert "is off by" in run.reason


# -- what the audit does to the run ------------------------------------------------------------------------------------
STUDIES_ALIKE = {
    "double_pendulum": {"dq1": 1.0},
    "four_bar": {"dq1": 5.0},
    "rolling_disc": {"vx": 1.08, "wy": 3.6, "wx": 0.01},
}


@pytest.mark.parametrize(
    "method", ["dopri5", "rk4", *(pytest.param(m, marks=pytest.mark.slow) for m in ("dop853", "rodas", "newmark"))]
)
@pytest.mark.parametrize("name", STUDIES_ALIKE)
def test_the_audit_does_not_steer_the_steps(name, method):
    """The same steps and, but for the rounding of fused products, the same states."""
    study = ts.Study(model=ts.load(FILES[name]), start=STUDIES_ALIKE[name], until=0.5, solver={"method": method})
    found = []
    for audit in (True, False):
        simulation = ts.Simulation(study, audit=audit)
        trajectory, _, _ = simulation.trajectory()
        n = len(simulation.plant.system.q) + len(simulation.plant.system.v)
        found.append((trajectory.counts, trajectory.states[:, :n]))
    (one, watched), (other, alone) = found
    assert (one.steps, one.rejected, one.newton) == (other.steps, other.rejected, other.newton)
    np.testing.assert_allclose(watched, alone, rtol=0, atol=1e-10)
