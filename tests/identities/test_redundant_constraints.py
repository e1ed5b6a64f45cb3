"""Rows that depend on each other: the rank is found, the motion is exact, the multipliers are the shortest."""

from __future__ import annotations

import math

import numpy as np
import pytest

from support.evaluated import Evaluated, assert_same, ranks_around
from support.overconstrained_linkages import described
from support.ring_mechanisms import Ring
from support.sweeps import mostly_slow
from torseur.describe import Mechanism
from torseur.dynamics.analytical.kane import kane
from torseur.dynamics.workbench import Workbench
from torseur.errors import ModelError
from torseur.graph import Function, evaluate
from torseur.model import build

ROD = {"M": 1.0, "MX": 0.5, "YY": 0.4, "ZZ": 0.4, "XX": 0.02}


# -- planar linkages in space ------------------------------------------------------------------------------------------
def test_a_planar_linkage_in_space_moves_as_with_its_two_independent_rows():
    """Axes parallel but for rounding, so nothing folds: five rows of rank two."""
    ring = Ring(("revolute",) * 4, 3, flat=True)
    d = ring.cut(2)
    tau = np.random.default_rng(1).normal(size=3)
    call = Evaluated(d.mechanism)
    lam, rank = call("multipliers", d.q, d.v, tau)
    vdot = call("forward_dynamics", d.q, d.v, tau)
    assert rank == 2
    assert len(lam) == 5
    A, b = call("constraint_jacobian", d.q), call("constraint_bias", d.q, d.v)
    M, f = call("mass_matrix", d.q), tau - call("bias", d.q, d.v)
    U, s, Vt = np.linalg.svd(A)
    assert s[2] < 1e-14 < 0.1 < s[1]
    rows = Vt[:2]  # an independent set
    K = np.block([[M, -rows.T], [rows, np.zeros((2, 2))]])
    exact = np.linalg.solve(K, np.concatenate([f, (U.T @ b)[:2] / s[:2]]))
    assert_same(vdot, exact[:3], tolerance=1e-11)
    assert_same(A.T @ lam, rows.T @ exact[3:], tolerance=1e-11)
    assert np.abs(U[:, 2:].T @ lam).max() < 1e-12 * np.abs(lam).max()  # nothing that does nothing


@pytest.mark.parametrize(("cut", "freedoms"), [("revolute", 1), ("planar", 3)])
def test_rows_of_rounding_take_no_freedom(cut, freedoms):
    """Counted by mobility, and in reduced forms, as by the decomposition that accelerations come from."""
    d = Ring(("revolute", "revolute", cut, "revolute"), 1, flat=True).cut(2)
    call, model = Evaluated(d.mechanism), build(d.mechanism)
    tau = np.random.default_rng(1).normal(size=3)
    assert model.mobility(d.q).freedoms == freedoms
    adot, vdot = call("reduced_forward_dynamics", d.q, d.v, tau)
    assert len(adot) == freedoms
    assert_same(vdot, call("forward_dynamics", d.q, d.v, tau), tolerance=1e-10)


@pytest.mark.parametrize("seed", mostly_slow(range(3), quick=(0,)))
def test_a_loop_whose_rows_are_all_redundant_leaves_the_motion_alone(seed):
    """A planar chain held to its own plane by a planar joint: three rows of rounding, which must not count."""
    ring = Ring(("revolute", "revolute", "planar", "revolute"), seed, flat=True)
    d = ring.cut(2)
    call, opened = Evaluated(d.mechanism), Evaluated(d.mechanism.model_copy(update={"loops": {}}))
    A, tau = call("constraint_jacobian", d.q), np.random.default_rng(seed).normal(size=3)
    assert A.shape == (3, 3)
    assert 0.0 < np.abs(A).max() < 1e-14
    assert call("multipliers", d.q, d.v, tau)[1] == 0
    vdot = opened("forward_dynamics", d.q, d.v, tau)
    assert_same(call("forward_dynamics", d.q, d.v, tau), vdot)
    assert_same(build(d.mechanism).forward_dynamics(d.q, d.v, tau), vdot)


def test_a_single_row_of_rounding_leaves_the_motion_alone():
    """The same for a row by itself, which needs no decomposition."""
    tied = crank(nothing={"zero": "(0.1 + 0.2 - 0.3)*sin(a)"})
    q, v, tau = np.array([0.3, 0.6]), np.array([0.5, 1.0]), np.array([2.0, -1.0])
    assert tied("multipliers", q, v, tau)[1] == 0
    assert_same(tied("forward_dynamics", q, v, tau), crank()("forward_dynamics", q, v, tau))


# -- doubled rows ------------------------------------------------------------------------------------------------------
def crank(**constraints):
    bodies = {
        "one": {"joint": {"kind": "revolute", "coordinate": "a"}, "inertia": ROD},
        "two": {
            "parent": "one",
            "place": {"mdh": {"d": 1.0}},
            "joint": {"kind": "revolute", "coordinate": "b"},
            "inertia": ROD,
        },
    }
    fields = {"name": "crank", "gravity": (0, -9.81, 0), "bodies": bodies, "constraints": constraints}
    return Evaluated(Mechanism.model_validate(fields))


def test_a_row_given_twice_shares_its_multiplier():
    follow = {"coupling": {"coordinate": "b", "equals": "2*a"}}
    once, twice = crank(tie=follow), crank(tie=follow, again=follow)
    doubled = crank(tie=follow, stronger={"zero": "3*b - 6*a"})
    q, v, tau = np.array([0.3, 0.6]), np.array([0.5, 1.0]), np.array([2.0, -1.0])
    (lam, rank), (pair, two), (uneven, three) = (f("multipliers", q, v, tau) for f in (once, twice, doubled))
    assert rank == two == three == 1
    assert_same(pair, [lam[0] / 2, lam[0] / 2])
    assert_same(uneven, [lam[0] / 10, 3 * lam[0] / 10])  # the shortest with lam1 + 3 lam2 = lam
    for f in (twice, doubled):
        assert_same(f("forward_dynamics", q, v, tau), once("forward_dynamics", q, v, tau))
        for a, b in zip(
            f("forward_dynamics_derivatives", q, v, tau), once("forward_dynamics_derivatives", q, v, tau), strict=True
        ):
            assert_same(a, b, size=10.0)


def test_as_many_rows_as_motions_leave_what_they_prescribe():
    both = crank(
        first={"prescribed": {"coordinate": "a", "equals": "sin(t)"}},
        second={"prescribed": {"coordinate": "b", "equals": "t^2"}},
    )
    t, tau = 0.4, np.array([0.3, -0.2])
    q, v = np.array([math.sin(t), t * t]), np.array([math.cos(t), 2 * t])
    vdot = both("forward_dynamics", q, v, tau, t=t)
    assert_same(vdot, [-math.sin(t), 2.0])
    lam, rank = both("multipliers", q, v, tau, t=t)
    assert rank == 2
    assert_same(lam, crank()("inverse_dynamics", q, v, vdot) - tau)


def test_a_contradiction_without_coordinates_is_an_error():
    with pytest.raises(ModelError, match="cannot be satisfied"):
        crank(wrong={"zero": "1"})("forward_dynamics", [0.0, 0.0], [0.0, 0.0], [0.0, 0.0])


# -- overconstrained linkages and singular positions -------------------------------------------------------------------
def bricard():
    """Six equal links with right angles between their axes (Bricard 1897, trihedral): it moves with a row too many."""
    place = {"mdh": {"d": 1.0, "alpha": "pi/2"}}
    back = {"mdh": {"d": 1.0, "alpha": "-pi/2"}}
    inertia = {"M": 1.0, "MX": 0.4, "XX": 0.1, "YY": 0.5, "ZZ": 0.5, "MY": 0.05, "XY": -0.02}
    bodies, parent = {}, "base"
    for k in range(5):
        bodies[f"b{k}"] = {"parent": parent, "joint": "revolute", "inertia": inertia}
        bodies[f"b{k}"]["place"] = (place, back)[k % 2]
        parent = f"b{k}"
    bodies["b4"]["frames"] = {"end": {"place": back}}
    fields = {"name": "bricard", "bodies": bodies, "loops": {"last": {"joint": "revolute", "between": ("base", "end")}}}
    return Mechanism.model_validate(fields)


def assembled(call, q):
    """Closed by Newton's steps."""
    for _ in range(60):
        q = q + call("assembly_step", q)[0]
    return q


@pytest.mark.slow
def test_bricards_linkage_moves_though_its_rows_forbid_it():
    """Its rows have rank four for five joints: one motion is left, along which the energy of free fall is kept."""
    call = Evaluated(bricard())
    a = 1.9
    start = np.array([a, -a, a, -a, a]) + 0.1
    q = assembled(call, start)
    assert np.abs(call("closure", q)).max() < 1e-12
    lam, rank = call("multipliers", q, np.zeros(5), np.zeros(5))
    assert rank == 4
    v = call("allowed_speeds", q, np.array([1.0, -1.0, 1.0, -1.0, 1.0]))
    assert np.abs(v).max() > 0.1
    assert np.abs(call("constraint_rates", q, v)).max() < 1e-9
    vdot = call("forward_dynamics", q, v, np.zeros(5))
    A, b = call("constraint_jacobian", q), call("constraint_bias", q, v)
    assert np.abs(A @ vdot - b).max() < 1e-8 * (1 + np.abs(b).max())
    power = v @ call("mass_matrix", q) @ vdot + v @ call("bias", q, v)
    assert abs(power) < 1e-9 * (1 + np.abs(lam).max())
    back, kept = call("corrected", q + 1e-5 * np.array([1.0, -2.0, 0.5, 1.5, -1.0]), v)
    assert np.abs(call("closure", back)).max() < 1e-12
    assert np.abs(kept - v).max() < 1e-4
    assert call("multipliers", back, kept, np.zeros(5))[1] == 4


def parallelogram():
    """Crank, coupler and rocker of lengths 1, 2, 1, cut at the rocker's end."""
    rod = {"joint": "revolute", "inertia": ROD}
    bodies = {
        "crank": rod,
        "coupler": {**rod, "parent": "crank", "place": {"mdh": {"d": 1.0}}},
        "rocker": {**rod, "place": {"steps": ({"tx": 2.0},)}, "frames": {"top": {"place": {"steps": ({"tx": 1.0},)}}}},
    }
    bodies["coupler"]["frames"] = {"far": {"place": {"steps": ({"tx": 2.0},)}}}
    fields = {"name": "parallelogram", "gravity": (0, -9.81, 0), "bodies": bodies}
    return Mechanism.model_validate(fields | {"loops": {"pin": {"joint": "revolute", "between": ("far", "top")}}})


def test_a_flat_parallelogram_loses_a_row_and_still_gives_numbers():
    call, model = Evaluated(parallelogram()), build(parallelogram())
    for angle, expected in ((0.7, 2), (0.0, 1), (math.pi, 1)):
        q = np.array([angle, -angle, angle])
        assert np.abs(call("closure", q)).max() < 1e-15
        lam, rank = call("multipliers", q, np.zeros(3), np.zeros(3))
        assert rank == expected
        vdot = call("forward_dynamics", q, np.zeros(3), np.zeros(3))
        A = call("constraint_jacobian", q)
        assert np.isfinite(lam).all()
        assert np.abs(A @ vdot).max() < 1e-12
        assert_same(model.forward_dynamics(q, np.zeros(3), np.zeros(3)), vdot)
        assert_same(np.asarray(model.function("multipliers")(q, np.zeros(3), np.zeros(3))[1]), rank)
    lifted = call("forward_dynamics", [0.7, -0.7, 0.7], np.zeros(3), np.zeros(3))
    assert_same(lifted, lifted[0] * np.array([1.0, -1.0, 1.0]))  # opposite sides stay parallel


# -- coordinates without mass ------------------------------------------------------------------------------------------
def test_coordinates_without_mass_are_carried_by_constraints():
    """A massless rod on two pins pulls like a rod: a pendulum bob on a slider crank of nothing."""
    bodies = {
        "arm": {"joint": {"kind": "revolute", "coordinate": "a"}, "inertia": {"M": 0.0}},
        "bob": {
            "parent": "arm",
            "place": {"steps": ({"rz": "-pi/2"}, {"tx": "L"})},
            "joint": {"kind": "revolute", "coordinate": "b"},
            "inertia": {"M": 2.0, "XX": 0.1, "YY": 0.1, "ZZ": 0.3},
        },
        "cursor": {"parent": "world", "joint": {"kind": "prismatic", "coordinate": "c"}},
    }
    ties = {"upright": {"coupling": {"coordinate": "b", "equals": "-a"}}, "copy": {"zero": "c - 3*sin(a)"}}
    fields = {"name": "swing", "gravity": (0, -9.81, 0), "bodies": bodies, "constraints": ties}
    call = Evaluated(Mechanism.model_validate(fields | {"parameters": {"L": {"value": 0.8}}}))
    a, da = 0.5, 1.2
    q, v = np.array([a, -a, 3 * math.sin(a)]), np.array([da, -da, 3 * math.cos(a) * da])
    dda = -9.81 / 0.8 * math.sin(a)  # the bob does not turn
    vdot = call("forward_dynamics", q, v, np.zeros(3))
    assert_same(vdot, [dda, -dda, 3 * (math.cos(a) * dda - math.sin(a) * da**2)])


def test_a_coordinate_without_mass_that_nothing_carries_is_an_error():
    bodies = {
        "arm": {"joint": {"kind": "revolute", "coordinate": "a"}, "inertia": ROD},
        "lost": {"parent": "world", "joint": {"kind": "prismatic", "coordinate": "c"}},
    }
    ties = {"held": {"prescribed": {"coordinate": "a", "equals": "t"}}}
    call = Evaluated(Mechanism.model_validate({"name": "lost", "bodies": bodies, "constraints": ties}))
    with pytest.raises(ModelError, match="mass"):
        call("forward_dynamics", np.zeros(2), np.zeros(2), np.zeros(2))


def test_reactions_of_a_coupling_written_twice_are_shared_evenly():
    """Kane's reactions, where a row is solved before the other that repeats it is looked at."""
    pair = {
        f"{n}": {"joint": {"kind": "revolute", "coordinate": f"q{n}"}, "inertia": {"M": 2.0, "MX": 1.0, "ZZ": 0.6}}
        for n in "ab"
    }
    rows = {"coupled": {"coupling": {"coordinate": "qa", "equals": "2*qb"}}, "again": {"zero": "qa - 2*qb"}}
    mechanism = Mechanism.model_validate(
        {"name": "pair", "gravity": (0, -9.81, 0), "bodies": pair, "constraints": rows}
    )
    w = Workbench(mechanism)
    found = kane(w, symbols=False)
    blocks = [w.system.q, w.system.v, w.block("vdot"), w.system.graph.blocks["rank"]]
    q, v = np.array([0.2, 0.1]), np.zeros(2)
    call = Evaluated(mechanism)
    vdot = call("forward_dynamics", q, v, v)
    ranks = ranks_around(mechanism, q)
    lam = evaluate(Function("reactions", blocks, {"lam": found.reactions}), q, v, vdot, ranks)[0]
    assert_same(lam, call("multipliers", q, v, v)[0])
    assert_same(lam[0], lam[1])


# -- branches ----------------------------------------------------------------------------------------------------------
def crossing(x, y, z):
    """Three sliders with x y = 0 and x z = 0: a plane x = 0 of rank one and a line y = z = 0 of rank two."""
    bodies = {
        n: {
            "parent": parent,
            "steps": steps,
            "joint": {"kind": "prismatic", "coordinate": n, "start": start},
            "inertia": {"M": 1.0},
        }
        for n, parent, steps, start in (
            ("x", "base", [{"ry": math.pi / 2}], x),
            ("y", "x", [{"rx": -math.pi / 2}], y),
            ("z", "y", [{"ry": math.pi / 2}], z),
        )
    }
    rows = {"first": {"zero": "x*y"}, "second": {"zero": "x*z"}}
    return build(described({"name": "crossing", "bodies": bodies, "constraints": rows}))


@pytest.mark.parametrize("start", [(0.0, 1.0, 0.7), (1.0, 0.0, 0.0)])
def test_a_model_takes_the_rank_of_the_branch_it_is_asked_about(start):
    model = crossing(*start)
    assert model.ranks()[0] == (1.0 if start[0] == 0.0 else 2.0)
    on_plane, on_line = np.array([0.0, 0.8, -0.5]), np.array([0.9, 0.0, 0.0])
    tau, still = np.array([0.3, 0.2, -0.4]), np.zeros(3)
    for q in (on_plane, on_line):
        M, f = model.mass_matrix(q), tau - model.bias(q, still)
        A = model.constraint_jacobian(q)
        N = np.linalg.svd(A)[2][np.linalg.matrix_rank(A) :].T
        expected = N @ np.linalg.solve(N.T @ M @ N, N.T @ f)
        assert_same(model.forward_dynamics(q, still, tau), expected, tolerance=1e-10)
    both = np.array([on_plane, on_line, on_plane])
    many = model.forward_dynamics(both, np.zeros((3, 3)), np.tile(tau, (3, 1)))
    assert_same(many, [model.forward_dynamics(q, still, tau) for q in both], tolerance=1e-12)


def test_a_run_takes_the_rank_of_the_branch_it_starts_on():
    import torseur as ts

    mechanism = crossing(1.0, 0.0, 0.0).mechanism
    run = ts.simulate(mechanism, until=0.5, start={"x": 0.0, "y": 0.8, "z": -0.5, "dy": 0.3, "dz": 0.2})
    assert run.complete, run.reason
    assert np.abs(run["x"]).max() < 1e-12
    assert run["y"][-1] > 0.9
