"""Whole simulations: audits that hold and audits that must fail, starts, changes, samples, batches, reactions."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import torseur as ts
from support.example_files import FILES
from support.random_mechanisms import mechanism_of, random_plan
from support.sweeps import mostly_slow
from torseur.describe import Effort, Mechanism, SpringDamper
from torseur.simulation.blocks import PythonBlock
from torseur.simulation.run.batch import simulate_many

ROD = {"M": 1.0, "MX": 0.5, "XX": 0.0, "YY": 1.0 / 3.0, "ZZ": 1.0 / 3.0}


def pendulum(**more):
    return Mechanism(
        name="pendulum",
        gravity=(9.81, 0.0, 0.0),
        bodies={"rod": {"joint": {"kind": "revolute", "coordinate": "a"}, "inertia": ROD}},
        **more,
    )


def row(run, balance):
    return next(r for r in run.audit().table if r["balance"] == balance)


# -- the audit ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("seed", mostly_slow([1, 2], quick=(1,)))
def test_energy_and_momenta_of_random_free_mechanisms_are_kept(seed):
    rng = np.random.default_rng(seed)
    mechanism = mechanism_of(random_plan(rng, 2, base="floating", kinds=("revolute", "prismatic", "spherical")))
    mechanism = mechanism.model_copy(update={"gravity": (0.0, 0.0, 0.0), "loads": {}})
    start = {x.name: float(0.5 * rng.normal()) for x in mechanism.v}
    run = ts.simulate(mechanism, until=0.5, every=0.05, start=start, solver={"rtol": 1e-12, "atol": 1e-13})
    assert run.complete, run.reason
    for balance in ("energy", "linear momentum", "angular momentum"):
        assert row(run, balance)["relative"] <= 1e-10, run.audit()


@pytest.mark.parametrize("seed", mostly_slow([9016, 8], quick=(9016,)))
def test_energy_and_momenta_follow_every_load(seed):
    rng = np.random.default_rng(seed)
    mechanism = mechanism_of(random_plan(rng, 3, base="floating", loads=4))
    smooth = {"model": "smooth", "width": 0.1}
    run = ts.simulate(mechanism, until=0.3, every=0.05, friction=smooth, solver="dopri5")
    assert run.complete, run.reason
    assert run.audit().holds, run.audit()


def test_the_work_of_a_given_force_is_force_times_way():
    cart = {"joint": {"kind": "prismatic", "coordinate": "x"}, "inertia": {"M": 2.0}}
    pushed = Mechanism(
        name="cart", bodies={"cart": cart}, gravity=(0, 0, 0), loads={"push": Effort(coordinate="x", value=3.0)}
    )
    run = ts.simulate(pushed, until=1.0, every=0.1)
    np.testing.assert_allclose(run["work_push"], 3.0 * run["x"], atol=1e-12)


def test_a_step_that_is_too_long_fails_the_audit_and_the_table_says_when():
    run = ts.simulate(pendulum(), until=5.0, start={"a": 3.0}, every=0.1, solver={"method": "rk4", "step": 0.1})
    audit = run.audit()
    assert not audit.holds
    assert "FAILS: energy off by" in audit.verdict
    error = audit.channels[0].values
    assert row(run, "energy")["error"] == pytest.approx(error.max())
    assert row(run, "energy")["at"] == pytest.approx(run.time[error.argmax()])


def test_a_driven_constraint_does_the_work_that_the_energy_gains():
    """A pendulum turned at a given rate: the multiplier is the torque it takes."""
    turned = pendulum(constraints={"turned": {"prescribed": {"coordinate": "a", "equals": "0.3 + 2*t + t^2"}}})
    run = ts.simulate(turned, until=1.0, every=0.1)
    assert run.audit().holds, run.audit()
    a = 0.3 + 2 * run.time + run.time**2
    np.testing.assert_allclose(run["a"], a, atol=1e-12)
    np.testing.assert_allclose(run["lambda_turned"], 2.0 / 3.0 + 0.5 * 9.81 * np.sin(a), rtol=1e-10)


# -- starts, changes, samples ------------------------------------------------------------------------------------------
def test_an_input_that_steers_a_constraint_hands_on_its_rates():
    steered = pendulum(
        inputs={"angle": {}}, constraints={"turned": {"prescribed": {"coordinate": "a", "equals": "angle"}}}
    )
    run = ts.simulate(steered, until=1.0, every=0.1, inputs={"angle": "sin(3*t)"})
    np.testing.assert_allclose(run["da"], 3.0 * np.cos(3.0 * run.time), atol=1e-12)
    np.testing.assert_allclose(run["dda"], -9.0 * np.sin(3.0 * run.time), atol=1e-10)


def test_a_controller_cannot_steer_a_constraint():
    steered = pendulum(
        inputs={"angle": {}}, constraints={"turned": {"prescribed": {"coordinate": "a", "equals": "angle"}}}
    )
    with pytest.raises(ts.ModelError, match="cannot drive a constraint"):
        ts.simulate(steered, inputs={"angle": "0.1*da"})


def test_a_parameter_that_changes_on_the_way_changes_the_motion_there():
    cart = {"joint": {"kind": "prismatic", "coordinate": "x"}, "inertia": {"M": 1.0}}
    pushed = Mechanism(
        name="cart",
        bodies={"cart": cart},
        gravity=(0, 0, 0),
        parameters={"f": {"value": 1.0}},
        loads={"push": Effort(coordinate="x", value="f")},
    )
    run = ts.simulate(pushed, until=2.0, every=0.5, changes=[{"at": 1.0, "set": {"f": -1.0}}])
    np.testing.assert_allclose(run["dx"], [0.0, 0.5, 1.0, 0.5, 0.0], atol=1e-12)


@pytest.mark.parametrize("method", mostly_slow(["dop853", "rk4", "newmark"], quick=("rk4",)))
def test_a_base_that_is_driven_does_the_work_that_the_energy_gains(method):
    place = {"pose": {"position": ["0.1*sin(5*t)", "0.2*t^2", 0.3], "rpy": [0.0, "0.1*t", "t"]}}
    rod = {"M": 1.0, "MX": 0.5, "XX": 0.01, "YY": 0.4, "ZZ": 0.4}
    bodies = {
        "one": {"joint": {"kind": "revolute", "coordinate": "a"}, "inertia": rod},
        "two": {
            "parent": "one",
            "place": {"pose": {"position": [1.0, 0.0, 0.0], "rpy": [1.0, 0.0, 0.0]}},
            "joint": {"kind": "revolute", "coordinate": "b"},
            "inertia": rod,
        },
    }
    loads = {
        "spring": SpringDamper(coordinate="a", stiffness=2.0, damping=0.3),
        "strut": SpringDamper(between=("base", "two"), stiffness=1.0, rest=0.5, damping=0.1),
    }
    shaken = Mechanism(name="shaken", base={"kind": "moving", "place": place}, bodies=bodies, loads=loads)
    run = ts.simulate(shaken, until=2.0, every=0.1, start={"a": 0.3, "da": 1.0}, solver=method)
    assert run.audit().holds, run.audit()
    assert abs(run["work_base"]).max() > 0.1


def test_a_load_and_a_driven_constraint_may_have_one_name():
    turned = pendulum(
        loads={"turn": SpringDamper(coordinate="a", damping=1.0)},
        constraints={"turn": {"prescribed": {"coordinate": "a", "equals": "t"}}},
    )
    run = ts.simulate(turned, until=1.0, every=0.1)
    assert run.audit().holds, run.audit()
    np.testing.assert_allclose(run["work_turn"], -run.time, atol=1e-9)
    assert run["work_turn_2"][-1] > 1.0


@pytest.mark.parametrize("name", ["kinetic_energy", "dda", "time"])
def test_names_of_what_every_run_records_are_refused_before_it_begins(name):
    for more in ({"outputs": {name: {"value": "a"}}}, {"controllers": {name: 1.0}}):
        with pytest.raises(ts.ModelError, match=f"the name '{name}' is taken"):
            ts.simulate(pendulum(), **more)


def test_what_a_change_of_parameters_gives_or_takes_is_booked():
    """A spring that is made stiffer while it is stretched; a base that gains mass at its speed."""
    changed = {"at": 0.5, "set": {"k": 5.0, "m": 3.0}}
    free = Mechanism(
        name="free",
        gravity=(0.0, 0.0, -9.81),
        base={"kind": "floating", "inertia": {"M": "m", "XX": 0.1, "YY": 0.2, "ZZ": 0.3}},
        bodies={"rod": {"joint": {"kind": "revolute", "coordinate": "a"}, "inertia": {"M": 1.0, "MX": 0.5, "ZZ": 0.4}}},
        parameters={"k": {"value": 1.0}, "m": {"value": 2.0}},
        loads={"spring": SpringDamper(coordinate="a", stiffness="k", rest=1.0)},
    )
    run = ts.simulate(free, until=1.0, start={"vx": 1.0, "wz": 1.0}, changes=[changed])
    assert run.audit().holds, run.audit()


def test_the_energy_of_an_impact_is_that_of_the_parameters_then():
    cart = {"joint": {"kind": "prismatic", "coordinates": {"x": {"upper": 1.0}}}, "inertia": {"M": "m"}}
    rail = Mechanism(name="rail", bodies={"cart": cart}, gravity=(0, 0, 0), parameters={"m": {"value": 2.0}})
    change = {"at": 0.5, "set": {"m": 3.0}}
    run = ts.simulate(rail, until=2.0, start={"dx": 1.0}, stops={"model": "hard"}, changes=[change])
    assert run.audit().holds, run.audit()


def test_rounding_at_rest_fails_no_audit():
    cart = {"joint": {"kind": "prismatic", "coordinate": "x"}, "inertia": {"M": 1.0}}
    loads = {"rail": SpringDamper(coordinate="x", friction=3.0), "push": Effort(coordinate="x", value="sin(5*t)")}
    rail = Mechanism(name="rail", bodies={"cart": cart}, gravity=(0, 0, 0), loads=loads)
    assert ts.simulate(rail, until=1.0, solver="newmark").audit().holds


def test_a_python_block_is_called_at_its_period():
    cart = {"joint": {"kind": "prismatic", "coordinate": "x"}, "inertia": {"M": 1.0}}
    pushed = Mechanism(
        name="cart",
        bodies={"cart": cart},
        gravity=(0, 0, 0),
        inputs={"f": {}},
        loads={"push": Effort(coordinate="x", value="f")},
    )
    calls = []

    def law(t, x):
        calls.append(t)
        return 1.0 if t < 0.45 else -1.0

    run = ts.simulate(pushed, until=1.0, every=0.5, inputs={"f": PythonBlock(function=law, inputs=("x",), period=0.1)})
    np.testing.assert_allclose(calls, 0.1 * np.arange(10), atol=1e-12)
    assert run["dx"][-1] == pytest.approx(0.0, abs=1e-12)


def test_a_start_that_constraints_do_not_allow_is_moved_to_one_they_do():
    run = ts.simulate(ts.load(FILES["four_bar"]), until=0.1, start={"q1": 0.4, "dq1": 1.0}, every=0.1)
    assert run["q1"][0] == pytest.approx(0.4, abs=1e-12)
    assert run["dq1"][0] == pytest.approx(1.0, abs=1e-12)
    assert run.audit().table[-1]["error"] <= 1e-12


def test_names_that_do_not_exist_are_all_told_at_once():
    with pytest.raises(ts.ModelError) as error:
        ts.simulate(pendulum(), start={"b": 1.0}, inputs={"f": 1.0}, changes=[{"at": 1.0, "set": {"g": 2.0}}])
    for part in ("no coordinate or speed 'b'", "no input 'f'", "no parameter 'g'"):
        assert part in str(error.value)


def test_more_records_than_a_machine_can_keep_are_refused():
    with pytest.raises(ts.ModelError, match="too many records"):
        ts.simulate(pendulum(), until=10.0, every=1e-9)


def test_what_was_computed_is_kept_where_a_run_fails():
    """x' = 1 + x^2 as a force law: it reaches infinity at a finite time."""
    cart = {"joint": {"kind": "prismatic", "coordinate": "x"}, "inertia": {"M": 1.0}}
    wild = Mechanism(
        name="wild", bodies={"cart": cart}, gravity=(0, 0, 0), loads={"push": Effort(coordinate="x", value="6*x^2")}
    )
    run = ts.simulate(wild, until=5.0, start={"x": 1.0, "dx": 2.0}, every=0.05)  # x = 1/(1 - t)^2
    assert not run.complete
    assert "at t = " in run.reason
    assert 0.9 < run.time[-1] < 1.0 + 1e-6
    np.testing.assert_allclose(run["x"][:10], 1.0 / (1.0 - run.time[:10]) ** 2, rtol=1e-6)


# -- batches -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("solver", [{"method": "rk4", "step": 0.01}, {"method": "dopri5"}])
def test_a_batch_is_its_runs_one_by_one(solver):
    swing = pendulum(parameters={"c": {"value": 0.1}}, loads={"air": SpringDamper(coordinate="a", damping="c")})
    many = simulate_many(
        swing, starts={"a": [0.1, 0.5, 1.0]}, parameters={"c": [0.0, 0.2, 0.4]}, until=1.0, every=0.25, solver=solver
    )
    for k, (a, c) in enumerate(((0.1, 0.0), (0.5, 0.2), (1.0, 0.4))):
        one = ts.simulate(swing, start={"a": a}, parameters={"c": c}, until=1.0, every=0.25, solver=solver)
        np.testing.assert_allclose(many["a"][k], one["a"], rtol=0, atol=1e-13)
        np.testing.assert_allclose(many.run(k)["da"], one["da"], rtol=0, atol=1e-13)
        assert many.run(k).audit().holds


@pytest.mark.parametrize("solver", ["rk4", "dopri5"])
def test_values_of_a_batch_are_checked_as_those_of_a_file(solver):
    """A mass or a coefficient of friction below zero is refused with the number of its run and its name."""
    cart = {"joint": {"kind": "prismatic", "coordinate": "x"}, "inertia": {"M": "m"}}
    heavy = Mechanism(name="cart", bodies={"cart": cart}, parameters={"m": {"value": 1.0}})
    with pytest.raises(ts.ModelError, match=r"a negative mass(.|\n)*run 2: cart: bodies.cart.inertia.M with m = -1"):
        simulate_many(heavy, parameters={"m": [1.0, 2.0, -1.0]}, until=0.1, solver=solver)
    contact = {"ground": {"contact": {"frame": "cart", "friction": "mu"}}}
    rough = Mechanism(
        name="cart",
        bodies={"cart": {"joint": {"kind": "prismatic", "coordinate": "x"}, "inertia": {"M": 1.0}}},
        parameters={"mu": {"value": 0.1}},
        constraints=contact,
    )
    with pytest.raises(ts.ModelError, match=r"coefficient of friction(.|\n)*run 1: .*mu = -0.2(.|\n)*at least 0"):
        simulate_many(rough, parameters={"mu": [0.1, -0.2]}, until=0.1, solver=solver)


def test_of_very_many_values_the_ends_are_checked():
    cart = {"joint": {"kind": "prismatic", "coordinate": "x"}, "inertia": {"M": "m"}}
    heavy = Mechanism(name="cart", bodies={"cart": cart}, parameters={"m": {"value": 1.0}})
    masses = np.linspace(1.0, 2.0, 3000)
    masses[1234] = -1e-3
    with pytest.raises(ts.ModelError, match="run 1234"):
        simulate_many(heavy, parameters={"m": masses}, until=0.1, solver="rk4")


# -- forces in joints --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("solver", ["rk4", "dopri5"])
@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"starts": {"a": [0.1, math.nan]}}, "variants must be finite"),
        ({"starts": {"a": [[0.1, 0.2]]}}, "variants are counted by one number"),
        ({"starts": {"a": []}}, "there are no variants"),
        ({"starts": {"a": [0.1, 0.2], "da": [1.0, 2.0, 3.0]}}, "do not fit together"),
        ({"starts": {"a": [0.1]}, "threads": 0}, "wrong number of threads"),
    ],
)
def test_what_is_wrong_with_a_batch_is_said_whatever_the_method(given, said, solver):
    with pytest.raises(ts.ArgumentError, match=said):
        simulate_many(pendulum(), until=0.1, solver=solver, **given)


def test_the_force_in_the_joint_of_a_swinging_rod_is_that_of_the_closed_form():
    run = ts.simulate(
        pendulum(), until=1.0, start={"a": 1.0}, every=0.1, controllers={"pin": {"force_sensor": {"joint": "rod"}}}
    )
    a, w, wd = run["a"], run["da"], run["dda"]
    along = -(0.5 * w**2 + 9.81 * np.cos(a))
    across = 0.5 * wd + 9.81 * np.sin(a)
    np.testing.assert_allclose(run["pin_fx"], along, atol=1e-9)
    np.testing.assert_allclose(run["pin_fy"], across, atol=1e-9)


# -- redundant rows ----------------------------------------------------------------------------------------------------
def test_bricards_linkage_swings_though_it_has_a_row_too_many():
    """Its stages are a little off closure, where the rows would lock it; at closure they repeat each other."""
    inertia = {"M": 1.0, "MX": 0.4, "XX": 0.1, "YY": 0.5, "ZZ": 0.5, "MY": 0.05, "XY": -0.02}
    turns = [{"mdh": {"d": 1.0, "alpha": sign * np.pi / 2}} for sign in (1, -1)]
    bodies, parent = {}, "base"
    for k in range(5):
        bodies[f"b{k}"] = {"parent": parent, "joint": "revolute", "inertia": inertia, "place": turns[k % 2]}
        parent = f"b{k}"
    bodies["b4"]["frames"] = {"end": {"place": turns[1]}}
    loop = {"last": {"joint": "revolute", "between": ("base", "end")}}
    linkage = Mechanism.model_validate({"name": "bricard", "bodies": bodies, "loops": loop})
    guess = {f"q_b{k}": 1.9 * (-1) ** k + 0.1 for k in range(5)}
    run = ts.simulate(linkage, until=1.0, every=0.1, guess=guess, solver={"method": "rk4", "step": 2e-3})
    assert run.audit().holds, run.audit()
    assert np.ptp(run["q_b0"]) > 0.5, "it does not move: the test shows nothing"
    assert len([n for n in run.channels if n.startswith("lambda_last")]) == 5


# -- many loops --------------------------------------------------------------------------------------------------------
def engine(cylinders):
    """Slider-cranks on one shaft: cranks of 0.3, rods of 1, coupled one to the next."""
    bodies, loops, constraints = {}, {}, {}

    def at(x, y=0.0):
        return {"place": {"pose": {"position": (x, y, 0.0)}}}

    for k in range(cylinders):
        crank = {"joint": {"kind": "revolute", "coordinate": f"a{k}"}, "inertia": {"M": 1.0, "ZZ": 0.05}}
        rod = {"joint": {"kind": "revolute", "coordinate": f"b{k}"}, "inertia": {"M": 0.5, "MX": 0.2, "ZZ": 0.1}}
        rod["frames"] = {f"end{k}": at(1.0)}
        bodies[f"crank{k}"] = crank
        bodies[f"rod{k}"] = {"parent": f"crank{k}", **at(0.3), **rod}
        lying = {"place": {"steps": [{"ry": np.pi / 2}]}}
        slider = {"joint": {"kind": "prismatic", "coordinate": f"x{k}"}, "inertia": {"M": 0.7}}
        bodies[f"piston{k}"] = {**lying, **slider, "frames": {f"pin{k}": {"place": {"steps": [{"ry": -np.pi / 2}]}}}}
        loops[f"pin_{k}"] = {"joint": "revolute", "between": (f"end{k}", f"pin{k}")}
        if k:
            constraints[f"shaft{k}"] = {"coupling": {"coordinate": f"a{k}", "equals": f"a{k - 1}"}}
    fields = {"name": "engine", "gravity": (0, 0, 0), "bodies": bodies, "loops": loops, "constraints": constraints}
    return Mechanism.model_validate(fields)


def test_a_run_passes_where_its_independent_speeds_are_a_bad_choice():
    """The speed of a piston says nothing of the crank at its dead centres, which the run passes."""
    n, a = 5, 0.8
    tilt = float(np.arcsin(0.3 * np.sin(a)))
    start = {f"a{k}": a for k in range(n)} | {f"b{k}": -a - tilt for k in range(n)} | {"da0": 4.0}
    start |= {f"x{k}": 0.3 * float(np.cos(a)) + float(np.cos(tilt)) for k in range(n)}
    solver = {"method": "dopri5", "rtol": 1e-10, "atol": 1e-12}
    run = ts.simulate(engine(n), until=1.0, every=0.05, start=start, solver=solver, independent=["dx0"])
    assert run.complete, run.reason
    assert not run.events
    assert run.audit().holds, run.audit()
    assert run["a0"][-1] - run["a0"][0] > np.pi, "it does not pass a dead centre: the test shows nothing"
    good = ts.simulate(engine(n), until=1.0, every=0.05, start=start, solver=solver, independent=["da0"])
    np.testing.assert_allclose(run["x0"], good["x0"], atol=1e-7)


def test_a_disc_that_falls_flat_ends_the_run_there():
    """Without spin it falls like a rod about its edge; at the ground its rim touches all around."""
    disc = ts.load(Path(__file__).parents[3] / "examples" / "rolling_disc" / "rolling_disc.yaml")
    lean = {"qw": float(np.cos(0.15)), "qx": float(np.sin(0.15)), "qy": 0.0, "qz": 0.0}
    run = ts.simulate(disc, until=3.0, start={**lean, "wx": 0.1, "wy": 0.0, "wz": 0.0})
    assert not run.complete
    assert "wheel of constraints.ground lies flat" in run.reason
    assert run.info["steps"] < 1000
    assert 0.4 < run.time[-1] < 0.5
