"""Audits that must fail, just beyond their limits, and audits that must not."""

from dataclasses import replace

import numpy as np
import pytest

import torseur as ts
from support.example_files import FILES
from support.sweeps import mostly_slow
from torseur.describe import Effort, Mechanism, SpringDamper
from torseur.formats.yaml.reader import read_yaml
from torseur.simulation.plant import balances, construction
from torseur.simulation.plant.plant import Plant
from torseur.simulation.results.audit import (
    Balance,
    Gap,
    Margins,
    audit_of,
    energy_balance,
)
from torseur.simulation.switching import modes

ROD = {"M": 1.0, "MX": 0.5, "XX": 0.0, "YY": 1.0 / 3.0, "ZZ": 1.0 / 3.0}
TIME = np.linspace(0.0, 1.0, 101)


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


@pytest.mark.parametrize(("error", "holds"), [(1.3e-8, True), (1.55e-8, False)])
def test_rounding_is_64_units_in_the_last_place_of_what_was_added_up(error, holds):
    """64 times 2.2e-16 of a million joules."""
    still = Balance("energy", "J", np.where(TIME < 1.0, 0.0, error), {}, size=1e6)
    assert audit_of(TIME, [still], margins=Margins(0.0)).holds is holds


@pytest.mark.parametrize(("error", "holds"), [(0.5e-18, True), (2e-18, False)])
def test_less_than_a_billionth_of_a_nanojoule_is_nothing(error, holds):
    still = Balance("energy", "J", np.where(TIME < 1.0, 0.0, error), {})
    assert audit_of(TIME, [still], margins=Margins(0.0)).holds is holds


@pytest.mark.parametrize(("change", "counts"), [(0.5e-12, False), (2e-12, True)])
def test_a_share_of_energy_is_steady_if_it_changes_by_less_than_a_trillionth(change, counts):
    T = np.where(TIME < 0.5, 1.0, 1.0 + change)[:, None]
    assert (energy_balance("energy", T, 0.0 * TIME, {}).unsteady > 0.5) is counts


@pytest.mark.parametrize(("instants", "amount"), [(15, 5.0), (16, 0.0)])
def test_of_fewer_than_16_instants_all_that_is_present_counts(instants, amount):
    T = np.full((instants, 1), 5.0)
    assert energy_balance("energy", T, np.zeros(instants), {}).amount == amount


@pytest.mark.parametrize(("gain", "holds"), [(0.5e-9, True), (2e-9, False)])
def test_an_impact_may_gain_a_billionth_of_its_energy_by_rounding(gain, holds):
    assert audit_of(TIME, [], impacts=[(0.1, 3.0, 2.0), (0.2, 3.0, 3.0 * (1.0 + gain))]).holds is holds


def test_an_impact_that_gives_energy_to_what_had_none_does_not_hold():
    assert not audit_of(TIME, [], impacts=[(0.1, 0.0, 1e-15)]).holds
    assert audit_of(TIME, [], impacts=[(0.1, 0.0, 0.0)]).holds


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
    monkeypatch.setenv("TORSEUR_CACHE", "off")
    monkeypatch.setattr(Plant, "_corrected", lambda self: None)  # nothing brings them together again
    bars = ts.load(FILES["four_bar"])
    run = ts.simulate(bars, until=20.0, every=0.02, start={"dq1": 5.0}, solver=solver)
    assert not run.complete
    assert run.info["outcome"] == "OPEN"
    assert 0.0 < run.time[-1] < 20.0
    assert "loops or constraints are violated" in run.reason
    assert "is off by" in run.reason


PENDULUM = {"name": "pendulum", "gravity": (9.81, 0, 0)}
SWINGS = Mechanism(bodies={"rod": {"joint": {"kind": "revolute", "coordinate": "a"}, "inertia": ROD}}, **PENDULUM)


@pytest.mark.parametrize(
    ("solver", "least", "holds"),
    [
        ({"method": "rk4", "step": 0.0125}, 1e-7, True),
        ({"method": "rk4", "step": 0.025}, 1e-6, False),
        ({"method": "newmark", "step": 0.01}, 1e-4, True),
        ({"method": "newmark", "step": 0.03}, 1e-3, False),
    ],
    ids=str,
)
def test_a_run_holds_to_a_millionth_one_of_order_2_to_a_thousandth(solver, least, holds):
    """Each is off by more than a limit a tenth as large, and by less than one ten times as large."""
    run = ts.simulate(SWINGS, until=5.0, start={"a": 3.0}, solver=solver)
    assert least < rows_of(run)["energy"]["relative"] < 10.0 * least
    assert run.audit().holds is holds


@pytest.mark.parametrize(("factor", "holds"), [(1.01, True), (0.99, False)])
def test_a_study_may_ask_for_another_share(factor, holds):
    solver = {"method": "rk4", "step": 0.05}
    off = rows_of(ts.simulate(SWINGS, until=2.0, start={"a": 3.0}, solver=solver))["energy"]["relative"]
    run = ts.simulate(SWINGS, until=2.0, start={"a": 3.0}, solver=solver, audit=factor * off)
    assert run.audit().holds is holds


@pytest.fixture
def flawed(monkeypatch):
    """Runs of mechanisms whose accelerations have a flaw."""
    moved_by = construction.moved_by

    def run(model, flaw, **study):
        def wrong(*arguments):
            found = moved_by(*arguments)
            return replace(found, vdot=[flaw(x) for x in found.vdot])

        monkeypatch.setenv("TORSEUR_CACHE", "off")
        monkeypatch.setattr(construction, "moved_by", wrong)
        return ts.simulate(model, **study)

    return run


FREE = Mechanism(
    name="free",
    base={"kind": "floating", "inertia": {"M": 2.0, "XX": 0.1, "YY": 0.2, "ZZ": 0.25}},
    gravity=(0.0, 0.0, -9.81),
)


@pytest.mark.parametrize(("error", "holds"), [(0.0, True), (1e-7, True), (1e-5, False)])
def test_accelerations_that_are_wrong_by_a_hundred_thousandth_are_seen(error, holds, flawed):
    run = flawed(SWINGS, lambda x: (1.0 + error) * x, until=5.0, start={"a": 3.0})
    assert run.audit().holds is holds


def test_momenta_of_a_body_whose_accelerations_are_wrong_do_not_hold(flawed):
    names = [v.name for v in FREE.v]
    start = dict(zip(names, (0.1, 0.2, 0.3, 1.0, 2.0, 0.5), strict=True))
    assert flawed(FREE, lambda x: x, until=1.0, start=start).audit().holds
    found = rows_of(flawed(FREE, lambda x: (1.0 + 1e-5) * x, until=1.0, start=start))
    assert [name for name, row in found.items() if not row["holds"]] == [
        "energy",
        "linear momentum",
        "angular momentum",
    ]


FORGOTTEN = {
    "_loads": ("rod", {"loads": {"s": SpringDamper(coordinate="a", damping=0.1)}}),
    "_constraints": ("rod", {"constraints": {"driven": {"prescribed": {"coordinate": "w", "equals": "t^2"}}}}),
    "_blocks": (None, {"loads": {}}),
}


@pytest.mark.slow
@pytest.mark.parametrize("flow", FORGOTTEN)
def test_work_that_is_forgotten_is_seen(flow, monkeypatch):
    parent, more = FORGOTTEN[flow]
    study = {"until": 0.5, "start": {"a": 1.0}, "every": 0.01}
    study |= {"controllers": {"servo": {"force": {"speed": "da", "value": 3.0}}}} if flow == "_blocks" else {}
    model = with_wheel(parent, **more)
    assert ts.simulate(model, **study).audit().holds
    monkeypatch.setenv("TORSEUR_CACHE", "off")
    monkeypatch.setattr(balances, flow, lambda *arguments: [])
    assert not ts.simulate(model, **study).audit().holds


def test_an_impact_that_gains_energy_is_seen(monkeypatch):
    ball = {"joint": {"kind": "prismatic", "coordinate": "z"}, "inertia": {"M": 1.0}}
    contact = {"ground": {"contact": {"frame": "ball", "restitution": 1.0}}}
    falls = Mechanism(name="ball", bodies={"ball": ball}, constraints=contact)
    assert ts.simulate(falls, until=1.0, start={"z": 1.0}).audit().holds
    solved = modes.struck

    def faster(impact):
        found = solved(impact)
        return replace(found, energies=(found.energies[0], found.energies[1] * (1.0 + 1e-8)))

    monkeypatch.setattr(modes, "struck", faster)
    run = ts.simulate(falls, until=1.0, start={"z": 1.0})
    assert not run.audit().holds
    assert "an impact gains" in run.audit().verdict


def test_loops_that_are_a_little_open_do_not_hold():
    """Beyond the limit of the audit, far below that at which a run ends."""
    bars = ts.load(FILES["four_bar"])
    study = ts.Study(model=bars, until=0.1, start={"dq1": 5.0})
    simulation = ts.Simulation(study)
    trajectory, log, _ = simulation.trajectory()
    assert simulation.result(trajectory, log).audit().holds
    states = trajectory.states.copy()
    states[50, 1] += 1e-8
    run = simulation.result(replace(trajectory, states=states), log)
    assert not rows_of(run)["loops and constraints"]["holds"]


# -- what the audit does to the run ------------------------------------------------------------------------------------
STUDIES_ALIKE = {
    "double_pendulum": {"dq1": 1.0},
    "four_bar": {"dq1": 5.0},
    "rolling_disc": {"vx": 1.08, "wy": 3.6, "wx": 0.01},
}


@pytest.mark.parametrize(
    "method", ["dopri5", "rk4", *(pytest.param(m, marks=pytest.mark.slow) for m in ("dop853", "rodas", "newmark"))]
)
@pytest.mark.parametrize("name", mostly_slow(STUDIES_ALIKE, quick=("four_bar",)))
def test_the_audit_does_not_steer_the_steps(name, method):
    """The same steps and, but for the rounding of fused products, the same states."""
    study = ts.Study(model=ts.load(FILES[name]), start=STUDIES_ALIKE[name], until=0.5, solver={"method": method})
    found = []
    for audit in (True, False):
        simulation = ts.Simulation(study, audit=audit)
        trajectory, _, _ = simulation.trajectory()
        n = len(simulation.names)
        found.append((trajectory.counts, trajectory.states[:, :n]))
    (one, watched), (other, alone) = found
    assert (one.steps, one.rejected, one.newton) == (other.steps, other.rejected, other.newton)
    np.testing.assert_allclose(watched, alone, rtol=0, atol=1e-10)


def test_a_motion_that_diverges_fails_its_audit_without_another_warning():
    """Its energies overflow: warnings are errors here."""
    stiff = read_yaml(
        "torseur: 1\nname: stiff\nbodies: {a: {joint: {kind: prismatic, axis: x, coordinate: x}, inertia: {M: 1}}}\n"
        "loads: {s: {spring: {coordinate: x, stiffness: 1e9}}}\n"
    )
    run = ts.simulate(stiff, start={"x": 1}, until=5.0, every=0.1, solver={"method": "rk4", "step": 0.1})
    assert not run.complete
    assert not run.audit().holds
    assert "FAILS" in str(run.audit())
