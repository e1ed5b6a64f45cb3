"""Coulomb friction in contacts and rolling wheels: stick, slip and impacts in closed form."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import torseur as ts
from support.sweeps import mostly_slow
from torseur.describe import Effort, Mechanism, SpringDamper, Wrench
from torseur.simulation.run.batch import simulate_many
from torseur.simulation.switching.impacts import Rub, Struck, rubbed

pytestmark = pytest.mark.slow

G = 9.81


def times_of(run, name, what):
    return [e.time for e in run.events if e.name == name and e.what == what]


def along(name, child="up"):
    """A slide along x that carries one along z."""
    return {
        "along": {"place": {"pose": {"rpy": [0, "pi/2", 0]}}, "joint": {"kind": "prismatic", "coordinate": "x"}},
        child: {
            "parent": "along",
            "place": {"pose": {"rpy": [0, "-pi/2", 0]}},
            "joint": {"kind": "prismatic", "coordinate": name},
        },
    }


def point(mu, slope=0.0, **more):
    """A point of 2 kg on an incline."""
    bodies = along("z", "block")
    bodies["block"]["inertia"] = {"M": 2.0}
    gravity = (G * math.sin(slope), 0.0, -G * math.cos(slope))
    contact = {"ground": {"contact": {"frame": "block", "friction": mu}}}
    return Mechanism(name="incline", bodies=bodies, gravity=gravity, constraints=contact, **more)


def planar(inertia, frames=None, height="z"):
    """A body in the xz plane with the angle a, about y."""
    bodies = along(height)
    bodies["body"] = {
        "parent": "up",
        "place": {"pose": {"rpy": ["-pi/2", 0, 0]}},
        "joint": {"kind": "revolute", "coordinate": "a"},
        "inertia": inertia,
        "frames": {n: {"place": {"pose": {"position": [x, y, 0]}}} for n, (x, y) in (frames or {}).items()},
    }
    return bodies


# -- a block on an incline ---------------------------------------------------------------------------------------------
def test_a_block_sticks_below_the_angle_of_friction_and_slides_above_it():
    mu = 0.4
    flat = ts.simulate(point(mu, math.atan(mu) - 1e-6), until=2.0, every=0.1)
    assert not flat.events
    assert np.all(flat["x"] == 0.0)
    steep = math.atan(mu) + 0.1
    run = ts.simulate(point(mu, steep), until=2.0, every=0.1)
    a = G * (math.sin(steep) - mu * math.cos(steep))
    np.testing.assert_allclose(run["x"], 0.5 * a * run.time**2, atol=1e-9)
    assert run.audit().holds, run.audit()


METHODS = "dopri5", "dop853", "rk4", "rodas", "newmark", "generalised_alpha"


@pytest.mark.parametrize("method", mostly_slow(METHODS, quick=("dopri5", "newmark")))
def test_a_block_thrown_uphill_stops_and_stays_or_comes_back(method):
    slope, v0 = 0.3, -3.0
    for mu, stays in ((0.5, True), (0.2, False)):
        run = ts.simulate(point(mu, slope), until=2.0, start={"dx": v0}, every=0.05, solver=method)
        up = G * (math.sin(slope) + mu * math.cos(slope))
        stop = -v0 / up
        down = G * (math.sin(slope) - mu * math.cos(slope))
        expected = np.where(run.time < stop, v0 * run.time + 0.5 * up * run.time**2, -0.5 * v0**2 / up)
        if not stays:
            expected += np.where(run.time > stop, 0.5 * down * (run.time - stop) ** 2, 0.0)
        what = "sticks" if stays else "slips on"
        assert times_of(run, "ground", what) == pytest.approx([stop], abs=1e-9)
        np.testing.assert_allclose(run["x"], expected, atol=1e-8)
        assert run.audit().holds, run.audit()


def test_a_growing_push_breaks_the_stick_where_the_force_leaves_the_cone():
    """In space: the push turns while it grows, and the slip begins against the friction that held it."""
    base = {"kind": "floating", "inertia": {"M": 2.0, "XX": 1, "YY": 1, "ZZ": 1}}
    contact = {"ground": {"contact": {"frame": "base", "friction": 0.3}}}
    push = {"push": Wrench(frame="base", force=("2*t", "3*t^2", 0), axes="world")}
    block = Mechanism(name="block", base=base, constraints=contact, loads=push)
    run = ts.simulate(block, until=2.0, every=0.01)
    t0 = math.sqrt((-4.0 + math.sqrt(16.0 + 36.0 * (0.3 * 2.0 * G) ** 2)) / 18.0)
    assert times_of(run, "ground", "slips") == pytest.approx([t0], abs=1e-9)
    assert run.audit().holds, run.audit()
    k = np.searchsorted(run.time, t0) + 1
    moved = np.array([run["x"][k], run["y"][k]])
    np.testing.assert_allclose(
        moved / np.linalg.norm(moved), np.array([2.0, 3.0 * t0]) / math.hypot(2, 3 * t0), atol=0.05
    )


def test_a_push_that_jumps_sets_off_along_the_acceleration_not_along_the_push():
    """A body that is heavier along y than along x: m a = F - mu N e, a along e."""
    bodies = {
        "lift": {"joint": {"kind": "prismatic", "coordinate": "z"}},
        "one": {
            "parent": "lift",
            "place": {"pose": {"rpy": ["-pi/2", 0, 0]}},
            "joint": {"kind": "prismatic", "coordinate": "y"},
            "inertia": {"M": 4.0},
        },
        "two": {
            "parent": "one",
            "place": {"pose": {"rpy": ["pi/2", 0, 0]}},
            "joint": {"kind": "fixed"},
        },
        "three": {
            "parent": "two",
            "place": {"pose": {"rpy": [0, "pi/2", 0]}},
            "joint": {"kind": "prismatic", "coordinate": "x"},
            "inertia": {"M": 1.0},
        },
    }
    loads = {"px": Effort(coordinate="x", value="15*u"), "py": Effort(coordinate="y", value="20*u")}
    contact = {"ground": {"contact": {"frame": "three", "friction": 0.3}}}
    sled = Mechanism(name="sled", bodies=bodies, constraints=contact, loads=loads, inputs={"u": {}})
    step = {"step": {"time": 0.5, "after": 1.0}}
    run = ts.simulate(sled, until=0.6, every=0.001, inputs={"u": step})
    assert times_of(run, "ground", "slips") == pytest.approx([0.5], abs=1e-12)
    k = int(np.searchsorted(run.time, 0.501))
    v = np.array([run["dx"][k], run["dy"][k]])
    e = v / np.linalg.norm(v)
    a = (np.array([15.0, 20.0]) - 0.3 * 5.0 * G * e) / np.array([1.0, 5.0])
    np.testing.assert_allclose(a / np.linalg.norm(a), e, atol=1e-6)
    assert run.audit().holds


def test_a_block_that_slides_across_an_incline_turns_downhill_and_conserves_the_audit():
    """mu = tan(slope): the speed plus its downhill part stays (a classic): it ends at half the speed, downhill."""
    slope = 0.3
    base = {"kind": "floating", "inertia": {"M": 2.0, "XX": 1, "YY": 1, "ZZ": 1}}
    contact = {"ground": {"contact": {"frame": "base", "friction": math.tan(slope)}}}
    gravity = (G * math.sin(slope), 0.0, -G * math.cos(slope))
    block = Mechanism(name="block", base=base, constraints=contact, gravity=gravity)
    run = ts.simulate(block, until=6.0, start={"vy": 3.0}, every=0.1)
    speed = np.hypot(run["vx"], run["vy"])
    np.testing.assert_allclose(speed + run["vx"], 3.0, atol=1e-6)
    assert run["vx"][-1] == pytest.approx(1.5, abs=1e-3)
    assert run.audit().holds


# -- rolling -----------------------------------------------------------------------------------------------------------
def ball(mu, **more):
    """A ball of 1 kg and 0.1 m on a wheel's constraint in the plane."""
    bodies = planar({"M": 1.0, "ZZ": 0.4 * 0.01, "XX": 0.4 * 0.01, "YY": 0.4 * 0.01})
    wheel = {"ground": {"rolling": {"wheel": "body", "radius": 0.1, "friction": mu}}}
    return Mechanism(name="ball", bodies=bodies, constraints=wheel, **more)


def test_a_ball_that_is_thrown_slides_until_it_rolls():
    mu, v0 = 0.2, 3.5
    run = ts.simulate(ball(mu), until=1.5, start={"z": 0.1, "dx": v0}, every=0.05)
    rolls = 2.0 * v0 / (7.0 * mu * G)
    assert times_of(run, "ground", "sticks") == pytest.approx([rolls], abs=1e-9)
    expected = np.where(run.time < rolls, v0 - mu * G * run.time, 5.0 / 7.0 * v0)
    np.testing.assert_allclose(run["dx"], expected, atol=1e-9)
    assert run.audit().holds, run.audit()


def test_a_ball_that_is_pushed_more_and_more_begins_to_slip():
    """Pushed by F at its centre it rolls while F <= 7/2 mu m g."""
    mu = 0.2
    loads = {"tilt": Wrench(frame="body", force=("2*t", 0, 0), axes="world")}
    run = ts.simulate(ball(mu, loads=loads), until=4.0, start={"z": 0.1}, every=0.05)
    assert times_of(run, "ground", "slips") == pytest.approx([3.5 * mu * G / 2.0], abs=1e-9)
    slips = 3.5 * mu * G / 2.0
    t = run.time[run.time > slips]
    spin = np.abs(run["da"][run.time > slips]) * 0.1
    rolled = 5.0 / 7.0 * slips**2  # the integral of 5/7 F / m
    np.testing.assert_allclose(spin, rolled + 2.5 * mu * G * (t - slips), atol=1e-8)
    assert run.audit().holds


def test_a_braked_disc_locks_the_road_and_slides_then_stops():
    """A braking torque beyond what the road gives: the wheel slips; after it stands still the cart slides on."""
    mu, R, m, inertia, torque = 0.5, 0.3, 10.0, 0.45, 25.0
    bodies = planar({"M": m, "ZZ": inertia, "XX": 0.1, "YY": 0.1})
    wheel = {"road": {"rolling": {"wheel": "body", "radius": R, "friction": mu}}}
    brake = {"brake": SpringDamper(coordinate="a", friction=torque)}
    disc = Mechanism(name="disc", bodies=bodies, constraints=wheel, loads=brake)
    start = {"z": R, "dx": 6.0, "da": 6.0 / R}
    run = ts.simulate(disc, until=2.0, start=start, every=0.01)
    # rolling would take F = torque R / (R^2 + J/m), more than mu N: it slips at once
    assert torque * R / (R**2 + inertia / m) > mu * m * G
    locks = 6.0 / R * inertia / (torque - mu * m * G * R)
    assert times_of(run, "brake", "sticks") == pytest.approx([locks], abs=1e-9)
    stops = 6.0 / (mu * G)
    assert times_of(run, "road", "sticks") == pytest.approx([stops], abs=1e-8)
    expected = np.where(run.time < stops, 6.0 - mu * G * run.time, 0.0)
    np.testing.assert_allclose(run["dx"], expected, atol=1e-8)
    assert run.audit().holds, run.audit()


# -- redundant contacts ------------------------------------------------------------------------------------------------
def test_a_box_on_two_feet_sticks_as_long_as_both_together_can_hold_it():
    """The feet carry different loads, and how they share the force along the incline is not determined."""
    mu = 0.5
    bodies = planar({"M": 2.0, "MY": -1.0, "ZZ": 0.8, "XX": 0.1, "YY": 0.1}, {"left": (-0.4, 0.0), "right": (0.4, 0.0)})
    feet = {n: {"contact": {"frame": n, "friction": mu}} for n in ("left", "right")}
    loads = {"tilt": Wrench(frame="body", force=("4*t", 0, 0), axes="world")}
    box = Mechanism(name="box", bodies=bodies, constraints=feet, loads=loads)
    run = ts.simulate(box, until=3.0, every=0.05)
    slips = mu * 2.0 * G / 4.0
    first = min(e.time for e in run.events)
    assert first == pytest.approx(slips, abs=1e-6)
    assert {e.what for e in run.events} == {"slips"}
    t = np.maximum(run.time - slips, 0.0)
    np.testing.assert_allclose(run["x"], 4.0 / 2.0 * t**3 / 6.0, atol=1e-6)
    assert run.audit().holds


def ladder(mu):
    """A ladder of 4 m and 10 kg between floor and wall."""
    bodies = planar(
        {"M": 10.0, "ZZ": 40.0 / 3.0, "XX": 0.1, "YY": 40.0 / 3.0}, {"foot": (2.0, 0.0), "head": (-2.0, 0.0)}
    )
    wall = {"wall": {"place": {"pose": {"rpy": [0, "pi/2", 0]}}}}
    contacts = {
        "below": {"contact": {"frame": "foot", "friction": mu}},
        "above": {"contact": {"frame": "head", "ground": "wall", "friction": mu}},
    }
    return Mechanism(name="ladder", bodies=bodies, base={"frames": wall}, constraints=contacts)


def test_a_ladder_slips_below_the_angle_at_which_both_ends_are_at_their_limits():
    """Four rows on three freedoms: tan(angle) = (1 - mu^2) / (2 mu) is where no forces inside both cones are left."""
    mu = 0.4
    limit = math.atan((1.0 - mu**2) / (2.0 * mu))

    def start(angle):
        return {"x": 2.0 * math.cos(angle), "z": 2.0 * math.sin(angle), "a": angle}

    held = ts.simulate(ladder(mu), until=0.5, start=start(limit + 1e-4), every=0.1)
    assert not held.events
    assert np.abs(held.v).max() < 1e-14
    angle = limit - 0.1
    run = ts.simulate(ladder(mu), until=0.5, start=start(angle), every=0.001)
    c, s = math.cos(angle), math.sin(angle)
    # x'' = -2 s a'', z'' = 2 c a'' at rest; forces N (up) and W (off the wall), friction against the slip
    K = np.array(
        [
            [10.0 * -2.0 * s, mu, -1.0],  # 10 x'' = W - mu N
            [10.0 * 2.0 * c, -1.0, -mu],  # 10 z'' = N + mu W - 10 g
            [40.0 / 3.0, 2.0 * (c - mu * s), -2.0 * (s + mu * c)],
        ]
    )
    turn = np.linalg.solve(K, [0.0, -10.0 * G, 0.0])[0]
    assert turn < 0.0
    assert run["dda"][0] == pytest.approx(turn, rel=1e-9)
    assert run.audit().holds, run.audit()


def test_a_beam_on_three_contacts_under_a_moving_load_opens_and_closes_once():
    """The load goes over the end and comes back: only there the other two contacts open."""
    bodies = planar({"M": 4.0, "ZZ": 2.0, "XX": 0.1, "YY": 2.0}, {"left": (-1, 0), "middle": (0, 0), "right": (1, 0)})
    bodies["along"]["joint"] = {"kind": "fixed"}
    contacts = {n: {"contact": {"frame": n}} for n in ("left", "middle", "right")}
    loads = {"weight": Effort(coordinate="a", value="60*s"), "down": Effort(coordinate="z", value="-60")}
    beam = Mechanism(name="beam", bodies=bodies, constraints=contacts, loads=loads, inputs={"s": {}})
    run = ts.simulate(beam, until=1.2, every=0.02, inputs={"s": "1.67*sin(3*t)"})
    # the resultant of 4 g and 60 N leaves the base of support at 60 s = (60 + 4 g) * 1
    out = math.asin((60.0 + 4.0 * G) / 60.0 / 1.67) / 3.0
    opens = [e for e in run.events if e.what == "opens"]
    assert {e.time for e in opens} == {opens[0].time}
    assert opens[0].time == pytest.approx(out, abs=1e-6)
    assert len(opens) == 2
    closes = [e for e in run.events if e.what == "closes"]
    assert len(closes) == 2
    assert run.audit().holds, run.audit()


def test_four_legs_stick_but_their_slip_is_refused():
    places = [(1, 1), (1, -1), (-1, 1), (-1, -1)]
    legs = {f"leg{k}": {"place": {"pose": {"position": [x, y, -0.5]}}} for k, (x, y) in enumerate(places)}
    base = {"kind": "floating", "inertia": {"M": 4.0, "XX": 1, "YY": 1, "ZZ": 1}, "frames": legs}
    contacts = {f"c{k}": {"contact": {"frame": f"leg{k}", "friction": 0.5}} for k in range(4)}
    push = {"push": Wrench(frame="base", force=("t", 0, 0), axes="world")}
    table = Mechanism(name="table", base=base, constraints=contacts, loads=push)
    still = ts.simulate(table, until=5.0, start={"z": 0.5}, every=0.5)
    assert not still.events
    assert np.abs(still.v).max() < 1e-12
    run = ts.simulate(table, until=25.0, start={"z": 0.5}, every=0.5)
    assert not run.complete
    assert "not determined" in run.reason


def test_of_four_legs_that_land_aslant_each_that_would_slip_is_named():
    places = [(1, 1), (1, -1), (-1, 1), (-1, -1)]
    legs = {f"leg{k}": {"place": {"pose": {"position": [x, y, -0.5]}}} for k, (x, y) in enumerate(places)}
    base = {"kind": "floating", "inertia": {"M": 4.0, "XX": 1, "YY": 1, "ZZ": 1}, "frames": legs}
    contacts = {f"c{k}": {"contact": {"frame": f"leg{k}", "friction": 0.1}} for k in range(4)}
    run = ts.simulate(Mechanism(name="table", base=base, constraints=contacts), until=2.0, start={"z": 0.6, "vx": 3.0})
    assert not run.complete
    assert all(f"the normal force of 'c{k}' is not determined" in run.reason for k in range(4))
    assert run.reason.count("put a spring between") == 1


# -- jamming -----------------------------------------------------------------------------------------------------------
def test_a_rod_that_slides_above_the_limit_of_painleve_stops_with_that_reason():
    def rod(mu):
        bodies = planar({"M": 1.0, "XX": 0.01, "YY": 1 / 12, "ZZ": 1 / 12}, {"tip": (-0.5, 0.0)})
        contact = {"road": {"contact": {"frame": "tip", "friction": mu}}}
        return Mechanism(name="rod", bodies=bodies, constraints=contact)

    def start(angle, rate=0.0):
        height, climb = 0.5 * math.sin(angle), 0.5 * math.cos(angle) * rate
        return {"a": -angle, "z": height, "dz": climb, "dx": -4.0, "da": -rate}

    assert ts.simulate(rod(1.2), until=0.05, start=start(1.1), every=0.01).complete
    with pytest.raises(ts.NumericalError, match=r"Painleve.*constraints.road"):
        ts.simulate(rod(2.5), until=0.05, start=start(1.1), every=0.01)
    run = ts.simulate(rod(1.8), until=1.0, start=start(0.6, 3.0), every=1e-4)
    assert "Painleve" in run.reason
    angle = -run["a"][-1]  # 1 + 3 cos^2 = 3 mu sin cos, where tan = 0.886
    assert math.tan(angle) == pytest.approx((5.4 - math.sqrt(5.4**2 - 16.0)) / 2.0, abs=2e-2)


# -- impacts -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("e", [0.0, 0.6])
@pytest.mark.parametrize("mu", [0.05, 1.0])
def test_a_point_that_hits_the_ground_aslant_stops_along_it_or_loses_what_the_cone_allows(e, mu):
    bodies = along("z", "block")
    bodies["block"]["inertia"] = {"M": 2.0}
    contact = {"ground": {"contact": {"frame": "block", "friction": mu, "restitution": e}}}
    stone = Mechanism(name="stone", bodies=bodies, constraints=contact)
    run = ts.simulate(stone, until=0.03, start={"z": 0.05, "dz": -2.0, "dx": 1.0}, every=0.001)
    w = math.sqrt(4.0 + 2.0 * G * 0.05)
    hit = (w - 2.0) / G
    k = int(np.searchsorted(run.time, hit))
    after = max(0.0, 1.0 - mu * (1.0 + e) * w)
    slowed = mu * G * (run.time[k] - hit) if e == 0.0 and after > 0.0 else 0.0
    assert run["dx"][k] == pytest.approx(after - slowed, abs=1e-9)
    assert run.audit().holds, run.audit()


@pytest.mark.parametrize(("spin", "mu"), [(30.0, 0.3), pytest.param(30.0, 0.02, marks=pytest.mark.slow)])
def test_a_spinning_wheel_that_lands_grips_or_slips_by_the_impulse_it_takes(spin, mu):
    """2/7 of the slip goes with an impulse 2/7 m s, if mu m w is as much."""
    bodies = planar({"M": 1.0, "ZZ": 0.004, "XX": 0.004, "YY": 0.004})
    wheel = {"ground": {"rolling": {"wheel": "body", "radius": 0.1, "friction": mu, "lifts": True}}}
    run = ts.simulate(
        Mechanism(name="wheel", bodies=bodies, constraints=wheel),
        until=3.0,
        start={"z": 0.5, "da": spin},
        every=0.001,
    )
    w = math.sqrt(2.0 * G * 0.4)
    hit = w / G
    slip = 0.1 * spin
    impulse = min(mu * w, 2.0 / 7.0 * slip)
    k = int(np.searchsorted(run.time, hit))
    more = mu * G * (run.time[k] - hit) if impulse < 2.0 / 7.0 * slip else 0.0
    assert abs(run["dx"][k]) == pytest.approx(impulse + more, abs=1e-9)
    if mu > 0.1:
        assert abs(run["dx"][-1]) == pytest.approx(2.0 / 7.0 * slip, abs=1e-9)
    assert run.audit().holds, run.audit()


def test_impacts_with_friction_never_gain_energy():
    """Random bodies: Newton's restitution with friction alone would gain in some of them (Kane & Levinson 1985)."""
    rng = np.random.default_rng(5)
    for _ in range(200):
        n = int(rng.integers(3, 7))
        L = rng.normal(size=(n, n))
        M = L @ L.T + 0.1 * np.eye(n)
        contacts = int(rng.integers(1, 3))
        A = rng.normal(size=(3 * contacts, n))
        v = rng.normal(size=n)
        rates = A @ v
        normals = [3 * k for k in range(contacts)]
        for k in normals:
            if rates[k] > 0.0:
                A[k], rates[k] = -A[k], -rates[k]
        e = float(rng.uniform(0.0, 1.0))
        J = A[normals]
        jump = np.linalg.solve(M, J.T @ np.linalg.solve(J @ np.linalg.solve(M, J.T), -(1.0 + e) * rates[normals]))
        rubs = [Rub(k, (k + 1, k + 2), float(rng.uniform(0.0, 1.5))) for k in normals]
        if 0.5 * (v + jump) @ M @ (v + jump) > 0.5 * v @ M @ v:  # several contacts, some would pull
            continue
        found = rubbed(Struck(M, A, rates, jump, [], normals), rubs)
        after = v + found
        assert 0.5 * after @ M @ after <= 0.5 * v @ M @ v * (1.0 + 1e-9)
        impulses = np.linalg.lstsq(A.T, M @ found, rcond=None)[0]
        if np.linalg.matrix_rank(A) == len(A):
            for rub in rubs:
                along = np.linalg.norm(impulses[list(rub.along)])
                assert along <= rub.mu * max(impulses[rub.normal], 0.0) * (1.0 + 1e-6) + 1e-9


@pytest.mark.parametrize("seed", mostly_slow(range(5), quick=(0,)))
def test_bodies_that_fall_on_rough_ground_only_lose_energy(seed):
    rng = np.random.default_rng(seed)
    angles = np.sort(rng.uniform(0.0, 2.0 * math.pi, int(rng.integers(2, 5))))
    corners = {f"p{k}": (0.5 * math.cos(b), 0.4 * math.sin(b)) for k, b in enumerate(angles)}
    form = {"friction": float(rng.uniform(0.1, 0.9)), "restitution": float(rng.choice([0.0, 0.4]))}
    bodies = planar({"M": 2.0, "MX": 0.2, "ZZ": 0.3, "XX": 0.1, "YY": 0.1}, corners)
    contacts = {p: {"contact": {"frame": p, **form}} for p in corners}
    start = {"z": 1.0, "a": rng.uniform(-3.0, 3.0), "dx": 2.0 * rng.normal(), "da": 3.0 * rng.normal()}
    run = ts.simulate(Mechanism(name="stone", bodies=bodies, constraints=contacts), until=2.0, start=start, every=0.01)
    assert run.complete
    energy = run["kinetic_energy"] + run["potential_energy"]
    assert np.diff(energy).max() < 1e-8 * np.ptp(energy)
    for p in corners:
        assert np.diff(run[f"work_{p}"]).max() < 1e-9
    assert run.audit().holds, run.audit()


# -- what is refused ---------------------------------------------------------------------------------------------------
def test_friction_without_a_plane_to_slide_on_is_refused_with_a_remedy():
    bodies = along("z", "block")
    bodies["block"]["inertia"] = {"M": 1.0}
    forms = {"c": {"contact": {"gap": "z", "friction": 0.3}}}
    forms["w"] = {"rolling": {"wheel": "block", "radius": 1, "slides": "freely", "friction": 1}}
    with pytest.raises(ts.ModelError, match="give a frame") as error:
        ts.build(Mechanism(name="x", bodies=bodies, constraints=forms)).forward_dynamics([0, 0], [0, 0], [0, 0])
    assert "slides: freely" in str(error.value)


def test_smooth_friction_of_a_contact_creeps():
    run = ts.simulate(point(0.4, 0.3), until=5.0, every=0.5, friction={"model": "smooth", "width": 1e-2})
    creep = 1e-2 * math.atanh(math.tan(0.3) / 0.4)
    assert run["dx"][-1] == pytest.approx(creep, rel=1e-6)


def test_runs_in_a_batch_and_runs_that_go_on_have_the_bits_of_single_ones(tmp_path):
    thrown = ball(0.2, parameters={"w": {"value": 0.0}})
    speeds = [1.0, 2.0, 3.5]
    many = simulate_many(thrown, starts={"dx": speeds, "z": 0.1}, until=1.0, every=0.05)
    for k, v0 in enumerate(speeds):
        one = ts.simulate(thrown, until=1.0, start={"z": 0.1, "dx": v0}, every=0.05)
        np.testing.assert_array_equal(one.v, many.v[k])
    given = {"until": 1.0, "start": {"z": 0.1, "dx": 3.5}, "every": 0.05}
    ts.simulate(thrown, checkpoint=tmp_path / "left", every_seconds=0.0, **given)
    resumed = ts.resume(tmp_path / "left")
    np.testing.assert_array_equal(resumed.v, many.v[2])
    assert [e.what for e in resumed.events] == ["sticks"]


def test_friction_that_follows_the_speed_gives_stick_and_slip_of_a_drawn_block():
    """Static 0.35, sliding 0.2: it holds until the spring pulls with 0.35 m g, and jumps ahead by the same amount each
    time."""
    loads = {
        "spring": SpringDamper(coordinate="x", stiffness=40.0),
        "pull": Effort(coordinate="x", value="40*0.05*t"),
    }
    drawn = point("0.2 + 0.15*exp(-(dx/0.1)^2)", loads=loads)
    run = ts.simulate(drawn, until=20.0, every=0.1)
    slips, sticks = times_of(run, "ground", "slips"), times_of(run, "ground", "sticks")
    assert slips[0] == pytest.approx(0.35 * 2.0 * G / 2.0, abs=1e-9)
    np.testing.assert_allclose(np.diff(slips), slips[2] - slips[1], atol=1e-6)
    assert len(sticks) == len(slips) - 1
    assert run.audit().holds


def test_coefficients_that_cannot_be_are_refused():
    wrong = point(-0.1)
    with pytest.raises(ts.ModelError, match="a coefficient of friction out of range"):
        ts.build(wrong).forward_dynamics([0.0, 0.0], [0.0, 0.0], [0.0, 0.0])


# -- values that a run gives are checked like those of the file --------------------------------------------------------
BRAKED = Path(__file__).parents[3] / "examples" / "braked_wheel" / "braked_wheel.yaml"


@pytest.mark.parametrize("fields", [{"parameters": {"mu": -0.3}}, {"changes": [{"at": 0.2, "set": {"mu": -0.5}}]}])
def test_a_negative_coefficient_is_refused_wherever_it_comes_from(fields):
    with pytest.raises(ts.ModelError, match=r"coefficient of friction out of range(.|\n)*mu = -0.[35]"):
        ts.simulate(ts.load(BRAKED), until=0.5, **fields)


def test_a_level_of_friction_that_a_formula_makes_negative_is_none():
    """A brake that is told to push does nothing."""
    start = {"dx": 20.0, "dspin": 20.0 / 0.3}
    run = ts.simulate(ts.load(BRAKED), until=0.5, start=start, inputs={"torque": "-500*t"})
    assert run.complete, run.reason
    assert np.ptp(run["dx"]) < 1e-9
