"""Runs whose forces follow normal forces: closed forms, all methods, many at once, and where there is no solution."""

from __future__ import annotations

import math

import numpy as np
import pytest

import torseur as ts
from torseur.describe import Effort, Mechanism, SpringDamper, Wrench
from torseur.simulation.run.batch import simulate_many

G = 9.81


def block(loads, slope=0.0, **more):
    """A block of 2 kg on an incline, x along it and z across."""
    bodies = {
        "lift": {"joint": {"kind": "prismatic", "coordinate": "z"}},
        "block": {
            "parent": "lift",
            "place": {"pose": {"rpy": [0, "pi/2", 0]}},
            "joint": {"kind": "prismatic", "coordinate": "x"},
            "inertia": {"M": 2.0},
        },
    }
    gravity = (G * math.sin(slope), 0.0, -G * math.cos(slope))
    contact = {"ground": {"contact": {"frame": "block"}}}
    return Mechanism(name="incline", bodies=bodies, gravity=gravity, constraints=contact, loads=loads, **more)


def rod(mu):
    """A rod of 1 m and 1 kg whose tip slides on the road; a is its angle to the road."""
    bodies = {
        "along": {"place": {"pose": {"rpy": [0, "pi/2", 0]}}, "joint": {"kind": "prismatic", "coordinate": "x"}},
        "up": {
            "parent": "along",
            "place": {"pose": {"rpy": [0, "-pi/2", 0]}},
            "joint": {"kind": "prismatic", "coordinate": "z"},
        },
        "rod": {
            "parent": "up",
            "place": {"pose": {"rpy": ["pi/2", 0, 0]}},
            "joint": {"kind": "revolute", "coordinate": "a"},
            "inertia": {"M": 1.0, "YY": 1.0 / 12.0, "ZZ": 1.0 / 12.0},
            "frames": {"tip": {"place": {"pose": {"position": [-0.5, 0, 0]}}}},
        },
    }
    loads = {"drag": Wrench(frame="tip", force=(f"{mu}*normal(road)", 0, 0), axes="world")}
    contact = {"road": {"contact": {"frame": "tip"}}}
    return Mechanism(name="rod", bodies=bodies, constraints=contact, loads=loads)


@pytest.mark.parametrize("method", ["dopri5", "rk4", "rodas", "newmark", "generalised_alpha"])
def test_a_block_is_slowed_by_friction_of_its_normal_force_with_every_method(method):
    law = {"drag": Effort(coordinate="x", value="-0.3*normal(ground)*tanh(1e3*dx)")}
    run = ts.simulate(block(law, 0.2), until=0.5, start={"dx": 3.0}, every=0.1, solver=method)
    a = G * math.sin(0.2) - 0.3 * G * math.cos(0.2)
    np.testing.assert_allclose(run["x"], 3.0 * run.time + 0.5 * a * run.time**2, atol=1e-6)
    assert run.audit().holds, run.audit()


def test_dry_friction_with_a_level_of_the_normal_force_sticks_and_slides():
    law = {
        "rail": SpringDamper(coordinate="x", friction="0.3*normal(ground)"),
        "press": Effort(coordinate="z", value="-f"),
    }
    run = ts.simulate(block(law, 0.5, inputs={"f": {}}), until=3.0, inputs={"f": "30 - 15*t"}, every=0.1)
    limit = 2.0 * G * (math.sin(0.5) / 0.3 - math.cos(0.5))  # of the push that still holds
    slides = [e.time for e in run.events if e.what == "slides"]
    assert slides == pytest.approx([(30.0 - limit) / 15.0], abs=1e-9)
    t = run.time - slides[0]
    a0 = 0.3 * 15.0 / 2.0
    np.testing.assert_allclose(run["x"], np.where((t > 0) & (run.time <= 2.0), a0 * t**3 / 6.0, run["x"]), atol=1e-8)
    assert run.audit().holds


def test_a_block_may_drive_a_force_that_follows_the_normal_force_at_once():
    """u = -0.4 N, N = m g + 0.5 u: one equation of the instant."""
    law = {"drive": Effort(coordinate="x", value="u"), "lift": Effort(coordinate="z", value="-0.5*u")}
    mechanism = block(law, inputs={"u": {}}, outputs={"N": {"value": "normal(ground)"}})
    run = ts.simulate(mechanism, until=0.5, start={"dx": 3.0}, inputs={"u": "-0.4*normal(ground)"}, every=0.1)
    N = 2.0 * G / (1.0 + 0.2)
    np.testing.assert_allclose(run["N"], N, rtol=1e-12)
    np.testing.assert_allclose(run["x"], 3.0 * run.time - 0.1 * N * run.time**2, atol=1e-9)


def test_a_state_cannot_start_from_a_normal_force():
    law = {"drive": Effort(coordinate="x", value="u")}
    filtered = {"slow": {"lag": {"value": "normal(ground)", "time": 0.1, "start": "normal(ground)"}}}
    with pytest.raises(ts.ModelError, match="the start of 'slow"):
        ts.simulate(block(law, inputs={"u": {}}), until=0.1, inputs={"u": "0*slow"}, blocks=filtered)


def test_runs_in_a_batch_and_resumed_ones_have_the_bits_of_single_ones(tmp_path):
    law = {"drag": Effort(coordinate="x", value="-mu*normal(ground)*tanh(dx)/(1 + 0.01*normal(ground))")}
    mechanism = block(law, 0.1, parameters={"mu": {"value": 0.3}})
    mus = [0.1, 0.3, 0.7]
    many = simulate_many(mechanism, parameters={"mu": mus}, starts={"dx": 3.0}, until=0.5, every=0.1)
    for k, mu in enumerate(mus):
        one = ts.simulate(mechanism, until=0.5, every=0.1, start={"dx": 3.0}, parameters={"mu": mu})
        np.testing.assert_array_equal(one.v, many.v[k])


def test_runs_in_lanes_have_the_bits_of_single_ones_and_say_where_they_jam():
    """A wheel that never lifts needs nobody on the way: all runs go in one native loop."""
    bodies = {
        "along": {"place": {"pose": {"rpy": [0, "pi/2", 0]}}, "joint": {"kind": "prismatic", "coordinate": "x"}},
        "up": {
            "parent": "along",
            "place": {"pose": {"rpy": [0, "-pi/2", 0]}},
            "joint": {"kind": "prismatic", "coordinate": "z"},
        },
        "wheel": {
            "parent": "up",
            "place": {"pose": {"rpy": ["-pi/2", 0, 0]}},
            "joint": {"kind": "revolute", "coordinate": "a"},
            "inertia": {"M": 2.0, "ZZ": 0.1, "XX": 0.1, "YY": 0.1},
        },
    }
    loads = {
        "creep": Wrench(
            frame="wheel", force=("-c*normal(road)*dx/(1 + abs(dx))", 0, "0.4*c*normal(road)*t"), axes="world"
        )
    }
    rail = Mechanism(
        name="rail",
        bodies=bodies,
        loads=loads,
        parameters={"c": {"value": 0.2}},
        constraints={"road": {"rolling": {"wheel": "wheel", "radius": 0.3, "slides": "freely"}}},
    )
    given = {"until": 1.0, "every": 0.1, "solver": {"method": "rk4", "step": 0.01}}
    start = {"z": 0.3, "dx": 2.0}
    cs = [0.1, 0.5, -4.0, 1.0, -1.0]  # N = m g / (1 + 0.4 c t)
    many = simulate_many(rail, parameters={"c": cs}, starts={n: [x] * 5 for n, x in start.items()}, **given)
    for k, c in enumerate(cs):
        one = ts.simulate(rail, start=start, parameters={"c": c}, **given)
        rows = len(one.v)
        np.testing.assert_array_equal(one.v, many.v[k][:rows])
        assert one.complete == (c != -4.0)
    assert "Painleve" in many.run(2).reason
    assert many.run(2).time[-1] == pytest.approx(0.6)  # 1 - 1.6 t = 0 at 0.625 s


def test_a_rod_whose_tip_is_held_back_more_and_more_stops_with_that_reason():
    """1 + 3 cos(a)^2 = 3 mu sin(a) cos(a) is the limit (Painleve 1895)."""
    start = {"a": 1.0, "z": 0.5 * math.sin(1.0)}
    run = ts.simulate(rod("(1 + 20*t)"), until=2.0, start=start, every=1e-5)
    assert not run.complete
    assert "Painleve" in run.reason
    assert "constraints.road" in run.reason
    a, mu = run["a"][-1], 1.0 + 20.0 * run.time[-1]
    assert 1.0 + 3.0 * math.cos(a) ** 2 == pytest.approx(3.0 * mu * math.sin(a) * math.cos(a), abs=2e-3)


def test_a_start_beyond_the_limit_is_refused_with_that_reason():
    with pytest.raises(ts.NumericalError, match="Painleve"):
        ts.simulate(rod(3.0), until=1.0, start={"a": 1.0, "z": 0.5 * math.sin(1.0)})
