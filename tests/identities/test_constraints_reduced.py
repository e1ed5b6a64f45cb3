"""Reduced forms of closed and nonholonomic mechanisms: as many equations as freedoms, the same motion."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from support.closed_mechanisms import CUTS, FORMS, closed
from support.evaluated import Evaluated, assert_same, ranks_around
from support.example_files import Example
from support.plain import Plain
from support.plain_motion import parameter_values
from support.random_mechanisms import MOVING, BodyPlan, Plan
from torseur.describe import Effort, Mechanism, Transmission
from torseur.dynamics.analytical.kane import kane
from torseur.dynamics.constrained_motion.closed_states import SampledRows
from torseur.dynamics.constrained_motion.reduction import actuated_coordinates, independent_speeds
from torseur.dynamics.quantities import Options, function_of
from torseur.dynamics.workbench import Workbench
from torseur.errors import ArgumentError, ModelError
from torseur.formats import load
from torseur.graph import Function, evaluate, ops
from torseur.graph.function import reachable
from torseur.spatial.joints import KINDS

BASES = ("fixed", "fixed", "planar", "floating", "floating_rpy", "carrier")
ROWS = {"rolling": 3, "sliding": 2}


def roomy(seed, rows, loads=1):
    """A plan with a few more motions than rows."""
    rng = np.random.default_rng(seed)
    base, room, bodies = str(rng.choice(BASES)), 0, []
    while room < rows + 2 or len(bodies) < 2:
        small = ("revolute", "prismatic", "screw", "universal", "cylindrical")
        kind = str(rng.choice(MOVING if room + 3 < rows else small))
        parent = len(bodies) - 1 if rng.random() < 0.8 else -1
        bodies.append(BodyPlan(kind, parent, "rpy", str(rng.choice(("standard", "central")))))
        room += KINDS[kind].nv
    given_loads = ("spring", "strut", "wrench", "motor", "far_motor", "transmission")
    chosen = tuple(str(x) for x in rng.choice(given_loads, loads))
    return Plan(base, tuple(bodies), chosen, seed=int(rng.integers(2**31)))


class Reduced(Evaluated):
    """A closed mechanism at an allowed state, with independent speeds that are well apart there."""

    def __init__(self, seed, cuts=(), forms=(), loads=1):
        rows = sum(6 - KINDS[cut].nv for cut in cuts) + sum(ROWS.get(form, 1) for form in forms)
        for k in range(20):
            self.closed = closed(roomy(seed + k, rows, loads), cuts, forms)
            tied = self.closed.mechanism.loops or self.closed.mechanism.constraints
            if tied and self.closed.conditioned:
                break
        else:
            reject()
        super().__init__(self.closed.mechanism)
        s = self.closed.state
        self.q, self.v, self.given = s.q, s.v, {"t": s.t, "u": s.u}
        self.A = self("constraint_jacobian", s.q, t=s.t)
        self.freedoms = len(s.v) - len(self.A)
        if not self.freedoms:
            reject()
        names = [x.name for x in self.mechanism.v]
        self.independent = [names[k] for k in free_columns(self.A)]
        self.options = replace(self.options, independent=tuple(self.independent))
        self.tau = np.random.default_rng(seed).normal(size=len(s.v))
        self.a = s.v[[names.index(n) for n in self.independent]]

    def reduction(self):
        return self("reduction", self.q, **self.given)


def free_columns(A):
    """Columns that are left when as many as there are rows, as independent as they can be, are taken out."""
    left, taken = A.copy(), []
    for _ in range(len(A)):
        best = int(np.argmax(np.linalg.norm(left, axis=0)))
        taken.append(best)
        unit = left[:, best] / np.linalg.norm(left[:, best])
        left = left - np.outer(unit, unit @ left)
    return [k for k in range(A.shape[1]) if k not in taken]


ties = {
    "seed": st.integers(0, 2**31),
    "cuts": st.lists(st.sampled_from(CUTS), max_size=1).map(tuple),
    "forms": st.lists(st.sampled_from(FORMS), min_size=1, max_size=2).map(tuple),
}


# -- one motion --------------------------------------------------------------------------------------------------------
@settings(max_examples=6)
@given(**ties)
def test_the_reduced_form_moves_as_the_multipliers_of_numpy_say(seed, cuts, forms):
    r = Reduced(seed, cuts, forms)
    vdot, _ = r.closed.plain.forward_dynamics(r.q, r.v, r.tau, r.closed.state.t, r.closed.state.u)
    adot, whole = r("reduced_forward_dynamics", r.q, r.v, r.tau, **r.given)
    assert_same(whole, vdot, tolerance=1e-9)
    assert_same(whole, r("forward_dynamics", r.q, r.v, r.tau, **r.given), tolerance=1e-9)
    names = [x.name for x in r.mechanism.v]
    assert_same(adot, vdot[[names.index(n) for n in r.independent]], tolerance=1e-9)


@settings(max_examples=4)
@given(**ties)
def test_speeds_follow_from_the_independent_ones_and_reactions_do_no_work(seed, cuts, forms):
    r = Reduced(seed, cuts, forms)
    N, n = r.reduction()
    assert_same(N @ r.a + n, r.v, tolerance=1e-9)
    lam, _ = r("multipliers", r.q, r.v, r.tau, **r.given)
    assert_same(N.T @ (r.A.T @ lam), np.zeros(r.freedoms), size=float(np.abs(lam).max()), tolerance=1e-9)


@settings(max_examples=3)
@given(**ties)
def test_the_reduced_inertia_is_symmetric_positive_and_that_of_the_energy(seed, cuts, forms):
    r = Reduced(seed, cuts, forms)
    D = r("reduced_mass_matrix", r.q, **r.given)
    assert np.array_equal(D, D.T)
    assert np.linalg.eigvalsh(D).min() > 0.0
    N, _ = r.reduction()
    a = np.random.default_rng(seed).normal(size=r.freedoms)
    M = r("mass_matrix", r.q)
    assert_same(a @ D @ a, (N @ a) @ M @ (N @ a))


@pytest.mark.slow
@settings(max_examples=5)
@given(**ties)
def test_kane_body_by_body_is_the_reduced_recursion(seed, cuts, forms):
    """D and C alpha + d - tau of DeSantis are the reduced inertia matrix and bias."""
    r = Reduced(seed, cuts, forms, loads=2)
    found = dict(zip((o.name for o in r.function("kane").outputs), r("kane", r.q, r.v, **r.given), strict=True))
    assert_same(found["D"], r("reduced_mass_matrix", r.q, **r.given))
    h = found["C"] @ r.a - found["tau"] + found.get("d", 0.0)
    assert_same(h, r("reduced_bias", r.q, r.v, **r.given), size=10.0, tolerance=1e-9)
    assert_same(found["g_w"] @ found["D"], np.eye(r.freedoms), tolerance=1e-8)
    adot, _ = r("reduced_forward_dynamics", r.q, r.v, 0 * r.v, **r.given)
    assert_same(found["g_0"] + found["g_w"] @ found["tau"], adot, tolerance=1e-8)


@settings(max_examples=4)
@given(**ties)
def test_kane_recovers_the_reactions(seed, cuts, forms):
    r = Reduced(seed, cuts, forms)
    w = Workbench(r.mechanism, r.options)
    found = kane(w, symbols=False)
    read = {node.data[0] for node in reachable(found.reactions) if node.op is ops.SYMBOL}
    blocks = [b for b in w.system.graph.blocks.values() if b.name in read]
    function = Function("reactions", blocks, {"lam": found.reactions})
    vdot = r("forward_dynamics", r.q, r.v, 0 * r.tau, **r.given)
    values = {"q": r.q, "v": r.v, "vdot": vdot, "t": r.given["t"], "u": r.given["u"]}
    values["p"] = [parameter_values(r.mechanism)[n] for n in w.system.p.names]
    values["rank"] = ranks_around(r.mechanism, r.q)
    (lam,) = evaluate(function, *(values[b.name] for b in function.inputs))
    expected, _ = r("multipliers", r.q, r.v, 0 * r.tau, **r.given)
    assert_same(lam, expected, tolerance=1e-8)


# -- the property of remark 4.3 ----------------------------------------------------------------------------------------
def rate_of_D(r):
    """dD/dt along the motion, by differences."""
    rates, h = r("rates", r.q, r.v), 1e-3
    D = [r("reduced_mass_matrix", r.q + k * h * rates, **r.given) for k in (-2, -1, 1, 2)]
    return (D[0] - 8 * D[1] + 8 * D[2] - D[3]) / (12 * h)


@pytest.mark.slow
@settings(max_examples=5)
@given(seed=st.integers(0, 2**31), form=st.sampled_from(("no_side_slip", "speeds", "coupling")))
def test_the_actual_motion_has_no_power_in_half_the_rate_of_D_less_C(seed, form):
    r = Reduced(seed, (), (form,))
    C = r("kane", r.q, r.v, **r.given)[1]
    scale = float(np.abs(r.a @ C @ r.a)) + float(np.abs(C).max())
    assert_same(r.a @ (rate_of_D(r) - 2 * C) @ r.a, 0.0, size=10.0 * max(1.0, scale), tolerance=1e-8)


def steered_by_hand():
    """The tractor of the examples with its steering free, and a wheel with mass: two freedoms in the plane."""
    truck = Example("tractor_trailer").mechanism
    wheel = truck.bodies["front_wheel"].model_dump(exclude_defaults=True)
    wheel |= {"inertia": {"mass": 120.0, "centre": (-0.1, 0.0, 0.0), "tensor": {"zz": 9.0}}}
    bodies = {name: body.model_dump(exclude_defaults=True) for name, body in truck.bodies.items()} | {
        "front_wheel": wheel
    }
    free = {n: c.model_dump(exclude_defaults=True) for n, c in truck.constraints.items() if n != "steered"}
    whole = truck.model_dump(exclude_defaults=True, exclude={"loads"}) | {"bodies": bodies, "constraints": free}
    return Mechanism.model_validate(whole)


def test_in_the_plane_the_rate_of_D_less_two_C_is_skew():
    call = Evaluated(steered_by_hand())
    call.options = replace(call.options, independent=("vx", "ddelta"))
    rng = np.random.default_rng(3)
    for _ in range(3):
        call.q = rng.uniform(-0.6, 0.6, 5)
        N, n = call("reduction", call.q)
        call.v, call.given = N @ rng.normal(size=2), {}
        assert not n.any()
        C = call("kane", call.q, call.v)[1]
        assert np.abs(C[0, 1]) > 0.0
        S = rate_of_D(call) - 2 * C
        assert_same(S, -S.T, size=float(np.abs(C).max()), tolerance=1e-7)


# -- choices -----------------------------------------------------------------------------------------------------------
def with_independent(call, *names):
    call.options = replace(call.options, independent=names)
    return call


def test_any_choice_of_independent_speeds_gives_the_same_motion():
    disc = Example("rolling_disc")
    q, v, tau = allowed_state(disc, 2)
    motions = [
        with_independent(Example("rolling_disc"), *names)("reduced_forward_dynamics", q, v, tau)[1]
        for names in (("wx", "wy", "wz"), ("vx", "wx", "wz"), ("spin = wz + 0.3*wx", "wx", "other = wy - sin(1)*vx"))
    ]
    for vdot in motions:
        assert_same(vdot, disc("forward_dynamics", q, v, tau), tolerance=1e-9)


def allowed_state(example, seed):
    """A closed position near the start, and allowed speeds."""
    bench = Workbench(example.mechanism, Options())
    q, rng = SampledRows(bench, seed=seed).states[1], np.random.default_rng(seed)
    v = example("allowed_speeds", q, rng.normal(size=len(example.mechanism.v)))
    return q, v, rng.normal(size=len(v))


def changed(mechanism, **fields):
    """With other fields; loads, whose kind is not among their fields, stay as they are."""
    plain = mechanism.model_dump(exclude_defaults=True, exclude={"loads"})
    return Mechanism.model_validate(plain | fields).model_copy(update={"loads": mechanism.loads})


def redundant_four_bar():
    """The four-bar of the examples with its pin written once more as equations."""
    four_bar = Example("four_bar").mechanism
    more = {"again": {"zero": "crank*sin(q1) + coupler*sin(q1 + q2) - rocker*sin(q3)"}}
    return changed(four_bar, constraints=more)


def test_redundant_rows_leave_the_reduced_motion_alone():
    plain, twice = Example("four_bar"), Example(redundant_four_bar())
    q, v, tau = allowed_state(plain, 4)
    adot, vdot = twice("reduced_forward_dynamics", q, v, tau)
    assert len(adot) == 1
    assert_same(vdot, plain("forward_dynamics", q, v, tau), tolerance=1e-8)
    assert_same(twice("kane", q, v)[0], plain("reduced_mass_matrix", q), tolerance=1e-8)


def test_actuated_coordinates_are_chosen_before_others():
    sr400 = Workbench(Example("sr400").mechanism, Options())
    assert independent_speeds(sr400).names == ("dth1", "dth2", "dth4", "dth5", "dth6", "dth7")


def test_an_effort_says_which_joint_is_driven_and_the_inertia_of_a_drive_does_not():
    """SR400.par: every joint has an IA, mu names those that are driven."""
    robot = load(Path(__file__).parent.parent / "data" / "symoro" / "SR400.par")
    driven = {x.coordinate for x in robot.loads.values() if isinstance(x, Effort)}
    geared = {x.coordinate for x in robot.loads.values() if isinstance(x, Transmission)}
    assert driven < geared
    bench = Workbench(robot, Options())
    assert set(actuated_coordinates(bench)) == driven
    assert {name.removeprefix("d") for name in independent_speeds(bench).names} == driven
    assert function_of(robot, "actuator_efforts").outputs[0].shape == (len(driven),)
    passive = robot.model_copy(update={"loads": {n: x for n, x in robot.loads.items() if not isinstance(x, Effort)}})
    assert set(actuated_coordinates(Workbench(passive, Options()))) == geared, "for lack of better"


@pytest.mark.parametrize(
    ("names", "says"),
    [
        (("vy",), "constraints relate them"),
        (("vx", "wz"), "2 independent speeds for 1 freedoms"),
        ((), "0 independent speeds for 1 freedoms"),
        (("vxx",), "no speed 'vxx'"),
        (("a = vx*vx",), "not linear"),
        (("a = 3",), "not linear"),
        (("a = nothing*vx",), "unknown names"),
        (("vx = 2*vx",), "a name of its own"),
        (("vx", "vx"), "named twice"),
    ],
)
def test_independent_speeds_that_are_none_are_refused(names, says):
    with pytest.raises(ArgumentError, match=says):
        function_of(Example("tractor_trailer").mechanism, "reduced_mass_matrix", Options(independent=names))


def test_a_loop_that_cannot_close_leaves_no_choice():
    four_bar = Example("four_bar").mechanism
    values = {"crank": 0.2, "coupler": 0.2, "rocker": 0.2, "ground": 3.0}
    known = {n: {"value": values.get(n, p.value)} for n, p in four_bar.parameters.items()}
    stretched = changed(four_bar, parameters=known)
    with pytest.raises(ModelError, match="no closed position"):
        function_of(stretched, "reduction")


# -- efforts of actuators ----------------------------------------------------------------------------------------------
@settings(max_examples=5)
@given(seed=st.integers(0, 2**31), cut=st.sampled_from(CUTS))
def test_efforts_of_the_actuators_give_the_motion_they_were_asked_for(seed, cut):
    r = Reduced(seed, (cut,))
    names = [x.name for x in r.mechanism.v]
    r.options = replace(r.options, actuated=tuple(r.independent))
    vdot = r("forward_dynamics", r.q, r.v, 3 * r.tau, **r.given)
    efforts = np.zeros(len(names))
    efforts[[names.index(n) for n in r.independent]] = r("actuator_efforts", r.q, r.v, vdot, **r.given)
    assert_same(r("forward_dynamics", r.q, r.v, efforts, **r.given), vdot, tolerance=1e-8)


def test_surplus_actuators_share_the_effort_with_the_least_squares():
    four_bar = Example("four_bar")
    four_bar.options = replace(four_bar.options, actuated=("q1", "q2", "q3"))
    q, v, tau = allowed_state(four_bar, 1)
    vdot = four_bar("forward_dynamics", q, v, tau)
    efforts = four_bar("actuator_efforts", q, v, vdot)
    N, _ = four_bar("reduction", q)
    assert_same(efforts, np.linalg.pinv(N.T) @ (N.T @ tau), tolerance=1e-9)


def test_too_few_actuators_are_refused():
    with pytest.raises(ArgumentError, match="1 actuated coordinates cannot hold 6 freedoms"):
        function_of(Example("sr400").mechanism, "actuator_efforts", Options(actuated=("th1",)))


def test_sr400_closed_arm_by_virtual_work():
    """Efforts times virtual displacements are the work of all bodies along them, found from positions alone.

    The bodies are replaced by their inertial forces from the open tree's equations written out by Plain (point masses);
    virtual displacements are differences of closed positions, found by solving the loop by hand: the parallelogram
    keeps th3 = th7 - th2 - 90 degrees and th8 = - th3 - 90 degrees.
    """
    arm = Example("sr400")
    names = [x.name for x in arm.mechanism.q]
    active = ["th1", "th2", "th4", "th5", "th6", "th7"]

    def whole(x):
        known = dict(zip(active, x, strict=True))
        known["th3"] = known["th7"] - known["th2"] - np.pi / 2
        known["th8"] = -known["th3"] - np.pi / 2
        return np.array([known[n] for n in names])

    rng = np.random.default_rng(8)
    for _ in range(2):
        x, xd, xdd = (
            rng.uniform(-0.5, 0.5, 6) + np.array([0, -1.5, 0, 0.5, 0, 0]),
            rng.normal(size=6),
            rng.normal(size=6),
        )
        q = whole(x)
        assert np.abs(arm("closure", q)).max() < 1e-14
        N = np.array([whole(x + e) - q for e in np.eye(6)]).T  # the relation is linear
        v, vdot = N @ xd, N @ xdd
        tau = Plain(arm.mechanism).inverse_dynamics(q, v, vdot, u=np.zeros(len(arm.mechanism.inputs)))
        assert_same(arm("actuator_efforts", q, v, vdot), N.T @ tau, tolerance=1e-9)
