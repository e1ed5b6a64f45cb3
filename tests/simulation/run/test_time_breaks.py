"""Pulses shorter than a step: formulas of time that switch or peak are located, others are told."""

import math

import numpy as np
import pytest

import torseur as ts
from support.formulas_of_time import time_breaks
from support.sweeps import mostly_slow
from torseur.cli import main
from torseur.describe import Effort, Mechanism
from torseur.errors import UnseenWarning
from torseur.graph import Graph, Role, floor, maximum, minimum, select, sign, sin
from torseur.simulation.run import batch
from torseur.simulation.run.timetable import merged

CART = Mechanism(
    name="cart",
    bodies={"cart": {"joint": {"kind": "prismatic", "coordinate": "x"}, "inertia": {"M": 1.0}}},
    gravity=(0, 0, 0),
    inputs={"f": {}},
    parameters={"at": {"value": 1.001}},
    loads={"push": Effort(coordinate="x", value="f")},
)
PULSES = {  # each gives the cart 1 m/s
    "a window": "if(t > 1.001 and t < 1.0011, 1e4, 0)",
    "a narrow window": "if(abs(t - 1.23456) < 1e-7, 5e6, 0)",
    "a window by parameters": "if(t > at and t < at + 1e-4, 1e4, 0)",
    "signs": "5e3*(sign(t - 1.001) - sign(t - 1.0011))",
    "floors": "1e4*(floor(t - 0.5) - floor(t - 0.5001))*if(t < 1.2, 1, 0)",
    "a roof": "1e6*max(0, 1 - abs(t - 1.7)/1e-6)",
    "a bell": "1e3*exp(-((t - 1.03)/1e-3)^2)/sqrt(pi)",
}


@pytest.mark.parametrize("formula", PULSES.values(), ids=PULSES)
@pytest.mark.parametrize("method", mostly_slow(["dop853", "rodas"], quick=("dop853",)))
def test_a_pulse_shorter_than_a_step_is_not_missed(formula, method):
    run = ts.simulate(CART, until=10.0, every=0.1, inputs={"f": formula}, solver=method)
    assert run["dx"][-1] == pytest.approx(1.0, abs=1e-6)
    assert run.audit().holds


@pytest.mark.parametrize("method", ["rk4", "newmark"])
def test_given_steps_end_where_a_formula_of_time_switches(method):
    run = ts.simulate(CART, until=2.0, every=0.1, inputs={"f": PULSES["a window"]}, solver=method)
    assert run["dx"][-1] == pytest.approx(1.0, abs=1e-6)


def test_runs_side_by_side_do_not_miss_a_pulse_either():
    pulse = {"f": PULSES["a window"]}
    many = ts.simulate_many(ts.Study(model=CART, inputs=pulse), starts={"x": [0.0, 1.0]}, until=2.0, solver="rk4")
    np.testing.assert_allclose(many["dx"][:, -1], 1.0, atol=1e-6)


@pytest.mark.parametrize(("switch", "in_lanes"), [("0.5", True), ("0.50003", False), ("0.4 + 0.1*at", False)])
def test_runs_side_by_side_share_steps_that_end_where_signals_switch(switch, in_lanes, monkeypatch):
    went = []
    monkeypatch.setattr(batch, "_in_lanes", lambda *args, f=batch._in_lanes: went.append(1) or f(*args))
    study = ts.Study(model=CART, inputs={"f": f"if(t < {switch}, 0, 1 + 0.2*t)"})
    values = [1.0, 1.25]
    given = {"until": 1.0, "every": 0.1, "solver": {"method": "rk4", "step": 1e-3}}
    many = ts.simulate_many(study, parameters={"at": values}, **given)
    assert bool(went) == in_lanes
    for k, at in enumerate(values):
        alone = ts.simulate(study, parameters={"at": at}, **given)
        np.testing.assert_allclose(many["dx"][k], alone["dx"], atol=1e-12)


def located(expr, t, begin=0.0, end=10.0):
    return time_breaks(expr, t).instants(begin, end, np.zeros(0))


def time():
    block = Graph().block("t", 1, Role.TIME)
    return block, block[0]


def test_a_switch_is_located_to_the_last_bit():
    block, t = time()
    (found,) = located(select(t * t < 2.0, 1.0, 0.0), block)
    assert found**2 >= 2.0 > math.nextafter(found, 0.0) ** 2


def test_every_change_of_a_wave_is_located():
    block, t = time()
    found = merged([], located(sign(sin(40.0 * t)), block), 0.0, 10.0)
    np.testing.assert_allclose(np.sort(found), np.pi / 40.0 * np.arange(1, 128), atol=1e-12)


def test_changes_closer_than_the_grid_are_all_located():
    block, t = time()
    found = np.array(located(floor(1e4 * minimum(maximum(t - 5.0, 0.0), 5.5e-4)), block))
    for step in 5.0 + 1e-4 * np.arange(6):
        assert np.min(np.abs(found - step)) < 1e-12


def test_what_is_smooth_is_left_alone():
    block, t = time()
    assert located(sin(3.0 * t) + 0.1 * t * t, block) == []


def test_located_breaks_do_not_repeat_declared_ones():
    near = math.nextafter(1.0, 2.0)
    assert merged([1.0], [near, 2.0], 0.0, 10.0) == [1.0, 2.0]
    run = ts.simulate(CART, until=3.0, inputs={"f": {"step": {"time": 1.0, "after": 1.0}}})
    assert run.info["restarts"] == 2
    assert run["dx"][-1] == pytest.approx(2.0, abs=1e-12)


def test_too_many_switches_are_not_made_breaks():
    block, t = time()
    assert located(floor(1e4 * t), block) == []


SWITCHING = {"f": "if(x > 0.5, -1, 1)"}


def test_a_formula_that_switches_with_the_state_is_told():
    with pytest.warns(UnseenWarning, match=r"inputs\.f.*switches with the state"):
        run = ts.simulate(CART, until=1.0, inputs=SWITCHING)
    assert len(run.info["notes"]) == 1
    assert ts.simulate(CART, until=1.0, inputs=SWITCHING, solver={"longest": 0.01}).info["notes"] == []
    assert ts.simulate(CART, until=1.0, inputs={"f": "if(t > 0.5, -1, 1)"}).info["notes"] == []


def test_the_command_line_tells_it_too(tmp_path, capsys):
    ts.write_study(ts.Study(model=CART, until=1.0, inputs=SWITCHING), tmp_path / "s.yaml")
    assert main(["simulate", str(tmp_path / "s.yaml"), "-o", str(tmp_path / "a"), "--no-figures", "--no-playback"]) == 0
    assert "note: inputs.f" in capsys.readouterr().out
