"""Joints written as formulas are joints, and formulas that no joint is move as their point masses."""

import math

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from support.evaluated import Evaluated, assert_same
from support.lagrangian import by_lagrange
from support.plain import Plain
from support.random_mechanisms import LOAD_FORMS, mechanism_of, plans, state_of
from support.rates_along_motion import rate_along_motion
from torseur.describe import Mechanism, Motor
from torseur.dynamics.quantities import function_of
from torseur.graph import count

STEPS = {
    "revolute": (("rz", ""),),
    "prismatic": (("tz", ""),),
    "screw": (("rz", ""), ("tz", "pitch")),
    "cylindrical": (("rz", ""), ("tz", "")),
    "universal": (("rx", ""), ("ry", "")),
    "fixed": (),
}


# -- joints written as formulas ----------------------------------------------------------------------------------------
def as_formulas(mechanism):
    """The same mechanism without joints: a body stands where its joint was, and the next moves on it by formulas."""
    bodies, coordinates = {}, {}
    for name, body in mechanism.bodies.items():
        own = [x for x in mechanism.q if x.owner == name]
        names = iter([x.name for x in own] * 2)
        moves = []
        for step, factor in STEPS[body.joint.kind]:
            pitch = body.joint.pitch
            amount = next(names) if not factor else f"({getattr(pitch, 'text', pitch)})*{next(names)}"
            moves.append({step: amount})
        coordinates |= {x.name: {"unit": x.unit or "rad"} for x in own}
        rest = {"inertia": body.inertia, "frames": body.frames}
        if body.place.dh is not None:  # what follows the motion is part of the place
            r = body.place.dh
            steps = [{"rz": r.theta}, {"tz": r.d}, *moves, {"tx": r.a}, {"rx": r.alpha}]
            bodies[name] = {"parent": body.parent, "place": {"steps": steps}, **rest}
        else:
            bodies[f"{name}_seat"] = {"parent": body.parent, "place": body.place}
            bodies[name] = {"parent": f"{name}_seat", "place": {"steps": moves} if moves else {}, **rest}
    owners = {x.name: x.owner for x in mechanism.q}
    loads = {}
    for name, load in mechanism.loads.items():
        if isinstance(load, Motor) and load.carrier is None and owners[load.coordinate] in mechanism.bodies:
            load = load.model_copy(update={"carrier": mechanism.bodies[owners[load.coordinate]].parent})
        loads[name] = load
    content = {"base": mechanism.base, "parameters": mechanism.parameters, "inputs": mechanism.inputs}
    content |= {"gravity": mechanism.gravity, "loads": loads, "bodies": bodies, "coordinates": coordinates}
    return Mechanism.model_validate({"name": "formulas", **content})


@given(plan=plans(kinds=tuple(STEPS), loads=LOAD_FORMS, max_loads=3, max_bodies=4))
@settings(max_examples=5)
def test_joints_written_as_formulas_are_the_same_mechanism(plan):
    joints = mechanism_of(plan)
    free = as_formulas(joints)
    s, tree, ours = state_of(joints, plan.seed % 1000), Evaluated(joints), Evaluated(free)
    names = [f"d{x.name}" if x.owner != "base" else None for x in joints.q]
    assert [x.name for x in free.v if x.owner != "base"] == [n for n in names if n]
    drive = {"t": s.t, "u": s.u}
    tau = tree("inverse_dynamics", s.q, s.v, s.vdot, **drive)
    assert_same(ours("inverse_dynamics", s.q, s.v, s.vdot, **drive), tau)
    assert_same(ours("mass_matrix", s.q), tree("mass_matrix", s.q))
    M = tree("mass_matrix", s.q)
    loose = 1e-10 + 1e-14 * np.linalg.cond(M)
    assert_same(ours("forward_dynamics", s.q, s.v, tau, **drive), s.vdot, tolerance=loose)
    for quantity in ("kinetic_energy", "momentum", "energy"):
        assert_same(ours(quantity, s.q, s.v), tree(quantity, s.q, s.v))
    Y, K = ours("regressor", s.q, s.v, s.vdot, **drive), ours("standard_parameters")
    assert_same(Y @ K + ours("given_forces", s.q, s.v, **drive), tau)
    Y, K = ours("base_regressor", s.q, s.v, s.vdot, **drive), ours("base_parameters")
    assert_same(Y @ K + ours("given_forces", s.q, s.v, **drive), tau)
    frame = list(joints.frames)[-1]
    assert_same(ours("jacobian", s.q, frame=frame), tree("jacobian", s.q, frame=frame))
    for mine, theirs in zip(
        *(m("inverse_dynamics_derivatives", s.q, s.v, s.vdot, **drive) for m in (ours, tree)), strict=True
    ):
        assert_same(mine, theirs)


@given(plan=plans(kinds=("revolute", "prismatic", "fixed"), max_bodies=4))
@settings(max_examples=4)
def test_joints_written_as_formulas_cost_no_more(plan):
    joints = mechanism_of(plan)
    for quantity in ("inverse_dynamics", "forward_dynamics", "inverse_dynamics_derivatives"):
        assert count(function_of(as_formulas(joints), quantity)) == count(function_of(joints, quantity))


# -- any formulas ------------------------------------------------------------------------------------------------------
AMOUNTS = ("{x}", "-{x}", "2*{x} + 0.3", "{x}^2/2", "0.4*sin({x})", "{x}*{y}", "{x} - {y}", "k*cos({x} + 2*{y})", "0.2")


@st.composite
def free_forms(draw):
    """Bodies placed by any formulas of a few coordinates, on a base that may move; every coordinate is used."""
    seed = draw(st.integers(0, 10**6))
    rng = np.random.default_rng(seed)
    names = [f"c{k}" for k in range(draw(st.integers(1, 3)))]
    bodies = {}
    for k in range(draw(st.integers(len(names), 4))):
        steps = []
        for n in range(draw(st.integers(1, 3))):
            first = names[k] if n == 0 and k < len(names) else str(rng.choice(names))
            amount = "{x}" if n == 0 and k < len(names) else draw(st.sampled_from(AMOUNTS))
            kind = draw(st.sampled_from(("rx", "ry", "rz", "tx", "ty", "tz")))
            other = rng.choice([name for name in names if name != first] or ["k"])  # c - c is no formula of c
            steps.append({kind: amount.format(x=first, y=other)})
            if draw(st.booleans()):
                steps.append({"rx": float(rng.choice([0.4, math.pi / 2]))})
        parent = int(rng.integers(-1, k)) if k else -1
        centre = tuple(rng.uniform(-0.3, 0.3, 3))
        inertia = {"mass": float(rng.uniform(0.5, 2)), "centre": centre}
        inertia["tensor"] = {n: float(x) for n, x in zip(("xx", "yy", "zz"), rng.uniform(0.1, 0.15, 3), strict=True)}
        bodies[f"b{k}"] = {"parent": "base" if parent < 0 else f"b{parent}", "place": {"steps": steps}}
        bodies[f"b{k}"]["inertia"] = inertia
    base = draw(st.sampled_from(("fixed", "planar", "floating", "carrier")))
    content = {"base": {"kind": base, "inertia": {"mass": 2.0, "tensor": {"xx": 0.3, "yy": 0.3, "zz": 0.3}}}}
    content |= {
        "bodies": bodies,
        "coordinates": {n: {"unit": "rad"} for n in names},
        "parameters": {"k": {"value": 0.7}},
    }
    return Mechanism.model_validate({"name": "free", "gravity": tuple(rng.uniform(-9, 9, 3)), **content}), seed % 1000


@given(drawn=free_forms())
@settings(max_examples=7)
def test_any_formulas_move_as_their_point_masses(drawn):
    mechanism, seed = drawn
    ours, plain, s = Evaluated(mechanism, base_parameters=seed % 2 == 0), Plain(mechanism), state_of(mechanism, seed)
    M = plain.mass_matrix(s.q)
    assume(np.linalg.matrix_rank(M) == len(M))  # a turn and the same turn back move nothing
    tau = plain.inverse_dynamics(s.q, s.v, s.vdot)
    assert_same(ours("inverse_dynamics", s.q, s.v, s.vdot), tau)
    assert_same(ours("mass_matrix", s.q), M)
    if np.linalg.cond(M) < 1e6:
        loose = 1e-10 + 1e-14 * np.linalg.cond(M)
        assert_same(ours("forward_dynamics", s.q, s.v, tau), s.vdot, tolerance=loose)
    # What does not move at all, as after a turn and the same turn back, adds a constant that only one of them counts.
    rest, energy = state_of(mechanism, seed + 1), plain.kinetic_energy(s.q, s.v) + plain.potential_energy(s.q)
    gained = ours("energy", s.q, s.v) - ours("energy", rest.q, 0.0 * s.v)
    assert_same(gained, energy - plain.potential_energy(rest.q), size=float(np.abs(energy)))
    assert_same(ours("momentum", s.q, s.v), plain.momentum(s.q, s.v))
    assert_same(ours("rates", s.q, s.v), plain.rates(s.q, s.v))
    frame = list(mechanism.bodies)[-1]
    assert_same(ours("jacobian", s.q, frame=frame), plain.jacobian(s.q, frame))
    assert_same(ours("acceleration", s.q, s.v, s.vdot, frame=frame), plain.acceleration(s.q, s.v, s.vdot, frame))
    for Y, K in (("regressor", "standard_parameters"), ("base_regressor", "base_parameters")):
        assert_same(ours(Y, s.q, s.v, s.vdot) @ ours(K), tau)


@given(drawn=free_forms())
@settings(max_examples=5)
def test_any_formulas_obey_lagrange_and_their_energy_changes_by_the_power_of_what_is_added(drawn):
    mechanism, seed = drawn
    s = state_of(mechanism, seed)
    tau = Evaluated(mechanism)("inverse_dynamics", s.q, s.v, s.vdot)
    assert_same(tau, by_lagrange(mechanism, s))
    change = rate_along_motion(mechanism, s, "energy", s.vdot)[0]
    assert_same(change, tau @ s.v, size=float(np.abs(tau) @ np.abs(s.v)))


@given(drawn=free_forms())
@settings(max_examples=4)
def test_derivatives_of_any_formulas_are_limits_of_differences(drawn):
    mechanism, seed = drawn
    ours, plain, s, step = Evaluated(mechanism), Plain(mechanism), state_of(mechanism, seed), 1e-6
    by_q, by_v = ours("inverse_dynamics_derivatives", s.q, s.v, s.vdot)
    for k, e in enumerate(np.eye(len(s.v))):
        ahead, behind = (ours("inverse_dynamics", plain.moved(s.q, e, h), s.v, s.vdot) for h in (step, -step))
        assert_same(by_q[:, k], (ahead - behind) / (2 * step), tolerance=1e-6)
        ahead, behind = (ours("inverse_dynamics", s.q, s.v + h * e, s.vdot) for h in (step, -step))
        assert_same(by_v[:, k], (ahead - behind) / (2 * step), tolerance=1e-6)
