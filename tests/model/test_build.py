"""A model: what it is called with, what it says when that is wrong, and that every way to call it is one function."""

import gc
import json
import sys

import numpy as np
import pytest

from support import processes
from support.evaluated import Evaluated, assert_same
from support.random_mechanisms import BodyPlan, Plan, mechanism_of, random_plan, state_of
from torseur.describe import Effort, Formula, Mechanism, Motor, SpringDamper, Transmission
from torseur.emit import direct
from torseur.errors import ArgumentError, ModelError, NumericalError, TorseurError
from torseur.graph import Role
from torseur.model import build
from torseur.model.build import ModelFunction


def arm(**more):
    """Two revolute joints, a spring, and a motor's torque that depends on time and on an input."""
    bodies = {
        "upper": {
            "joint": {"kind": "revolute", "coordinate": "q1"},
            "inertia": {"ZZ": "I1", "XX": "I1/3", "MX": "M1*L/2", "M": "M1"},
        },
        "lower": {
            "parent": "upper",
            "place": {"mdh": {"d": "L", "alpha": "pi/2"}},
            "joint": {"kind": "revolute", "coordinate": "q2"},
            "inertia": {"ZZ": 0.2, "XX": 0.1, "YY": 0.15, "MX": 0.3, "M": 1.5},
            "frames": {"tool": {"place": {"pose": {"position": (0.4, 0.0, 0.0)}}}},
        },
    }
    content = {
        "name": "arm",
        "parameters": {"L": {"value": 0.5}, "M1": {"value": 2.0}, "I1": {"value": "M1*L^2/3"}, "K": {"value": 3.0}},
        "gravity": (0.0, -9.81, 0.0),
        "bodies": bodies,
        "inputs": {"pull": {"default": 0.5}, "wind": {"default": 0.1}},
        "loads": {
            "spring": SpringDamper(coordinate="q1", stiffness="K", damping=0.2),
            "drive": Effort(coordinate="q2", value="pull*cos(t) + wind*dq1"),
        },
    }
    return Mechanism.model_validate({**content, **more})


ARM = arm()
MODEL = build(ARM)
S = state_of(ARM, 1)
REFERENCE = Evaluated(ARM)
VECTORS = {"inverse_dynamics": S.vdot, "forward_dynamics": S.vdot}


def expected(q=S.q, v=S.v, vdot=S.vdot, *, mechanism=ARM, t=0.0, u=None):
    return Evaluated(mechanism)("inverse_dynamics", q, v, vdot, t=t, u=u)


# -- native code is the evaluator -------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "plan",
    [
        Plan(
            "fixed",
            (BodyPlan("revolute", -1), BodyPlan("universal", 0), BodyPlan("screw", 1, "dh")),
            ("spring", "motor", "drag"),
            True,
        ),
        Plan(
            "floating",
            (BodyPlan("spherical", -1), BodyPlan("prismatic", 0, "rpy")),
            ("strut", "far_motor", "wrench"),
            True,
            seed=1,
        ),
        Plan(
            "planar",
            (BodyPlan("cylindrical", -1), BodyPlan("fixed", 0)),
            ("friction", "combination", "world_wrench"),
            False,
            True,
            3,
        ),
        Plan("carrier", (BodyPlan("planar", -1),), ("effort", "pull", "transmission"), True, seed=4),
    ],
    ids=lambda plan: plan.base,
)
def test_native_code_agrees_with_the_evaluator_for_one_state_and_for_a_batch(plan):
    mechanism = mechanism_of(plan)
    model, reference = build(mechanism), Evaluated(mechanism)
    states = [state_of(mechanism, k) for k in range(5)]
    q, v, a = (np.array([getattr(s, n) for s in states]) for n in ("q", "v", "vdot"))
    s = states[0]
    tau = reference("inverse_dynamics", q, v, a, t=s.t, u=s.u)
    assert_same(model.inverse_dynamics(q, v, a, t=s.t, inputs=s.u), tau, tolerance=1e-12)
    assert_same(model.inverse_dynamics(s.q, s.v, s.vdot, t=s.t, inputs=s.u), tau[0], tolerance=1e-12)
    assert_same(model.mass_matrix(q), reference("mass_matrix", q), tolerance=1e-12)
    M = reference("mass_matrix", q)
    back = model.forward_dynamics(q, v, tau, t=s.t, inputs=s.u)
    assert_same(back, a, tolerance=1e-10 + 1e-13 * np.linalg.cond(M).max())
    assert_same(model.potential_energy(q), reference("potential_energy", q), tolerance=1e-12)


@pytest.mark.parametrize("quantity", ["kinetic_energy", "momentum", "bias"])
def test_other_quantities_agree_with_the_evaluator(quantity):
    assert_same(getattr(MODEL, quantity)(S.q, S.v), REFERENCE(quantity, S.q, S.v), tolerance=1e-13)


def test_derivatives_come_as_named_tables():
    found = MODEL.inverse_dynamics_derivatives(S.q, S.v, S.vdot)
    by_q, by_v = REFERENCE("inverse_dynamics_derivatives", S.q, S.v, S.vdot)
    assert_same(found.dtau_dq, by_q)
    assert_same(found.dtau_dv, by_v)
    forward = MODEL.forward_dynamics_derivatives(S.q, S.v, S.vdot)
    assert forward._fields == ("vdot", "dvdot_dq", "dvdot_dv", "dvdot_dtau")
    assert_same(forward.dvdot_dtau @ MODEL.mass_matrix(S.q), np.eye(2))


def test_frames_have_poses_velocities_and_jacobians():
    pose, J = MODEL.pose(S.q, "tool"), MODEL.jacobian(S.q, "tool")
    assert pose.shape == (4, 4)
    assert J.shape == (6, 2)
    assert_same(pose, REFERENCE("pose", S.q, frame="tool"), tolerance=1e-14)
    assert_same(MODEL.velocity(S.q, S.v, "tool"), J @ S.v, tolerance=1e-14)
    assert MODEL.jacobian(np.zeros((3, 2)), "tool").shape == (3, 6, 2)


def test_a_large_tree_runs_natively():
    mechanism = mechanism_of(
        random_plan(np.random.default_rng(5), 25, base="floating", kinds=("revolute", "prismatic"))
    )
    model, s = build(mechanism), state_of(mechanism, 1, size=0.3)
    tau = model.inverse_dynamics(s.q, s.v, s.vdot)
    assert_same(tau, Evaluated(mechanism)("inverse_dynamics", s.q, s.v, s.vdot), tolerance=1e-12)
    M = model.mass_matrix(s.q)
    assert_same(M @ model.forward_dynamics(s.q, s.v, tau), M @ s.vdot, size=float(np.abs(tau).max()))


# -- parameters and inputs ---------------------------------------------------------------------------------------------
def test_parameters_may_be_given_when_building():
    heavy = build(ARM, parameters={"M1": 7.0, "L": 0.8})
    changed = arm(parameters={**dict(ARM.parameters), "M1": {"value": 7.0}, "L": {"value": 0.8}})
    assert_same(heavy.inverse_dynamics(S.q, S.v, S.vdot), expected(mechanism=changed))


def test_parameters_may_be_given_in_a_call_by_name_or_all_in_an_array():
    changed = arm(parameters={**dict(ARM.parameters), "M1": {"value": 7.0}})
    wanted = expected(mechanism=changed)
    assert MODEL.free_parameters == ["L", "M1", "K"]
    assert_same(MODEL.inverse_dynamics(S.q, S.v, S.vdot, parameters={"M1": 7.0}), wanted)
    assert_same(MODEL.inverse_dynamics(S.q, S.v, S.vdot, parameters=[0.5, 7.0, 3.0]), wanted)
    assert_same(MODEL.inverse_dynamics(S.q, S.v, S.vdot), expected())  # and the model has not changed


def test_parameters_may_vary_from_row_to_row():
    masses = np.array([1.0, 2.0, 5.0])
    rows = MODEL.inverse_dynamics(S.q, S.v, S.vdot, parameters={"M1": masses})
    one_by_one = [MODEL.inverse_dynamics(S.q, S.v, S.vdot, parameters={"M1": m}) for m in masses]
    assert_same(rows, one_by_one, tolerance=1e-14)
    grid = MODEL.inverse_dynamics(S.q, S.v, S.vdot, parameters={"M1": masses[:, None], "K": np.array([0.0, 9.0])})
    assert grid.shape == (3, 2, 2)


def test_inputs_and_time_by_name_and_in_arrays():
    wanted = expected(t=0.7, u=[2.0, 0.1])
    assert_same(MODEL.inverse_dynamics(S.q, S.v, S.vdot, t=0.7, inputs={"pull": 2.0}), wanted)
    assert_same(MODEL.inverse_dynamics(S.q, S.v, S.vdot, t=0.7, inputs=[2.0, 0.1]), wanted)
    several = MODEL.inverse_dynamics(S.q, S.v, S.vdot, t=np.array([0.0, 0.7]), inputs={"pull": np.array([0.5, 2.0])})
    assert_same(several, [expected(), wanted])


def test_what_a_quantity_does_not_depend_on_may_be_given_all_the_same():
    assert_same(MODEL.mass_matrix(S.q, t=3.0, inputs={"pull": 1.0}), MODEL.mass_matrix(S.q), tolerance=1e-15)


def test_a_parameter_that_follows_from_others_follows():
    double = build(ARM, parameters={"L": 1.0}).mass_matrix(S.q)[0, 0]
    assert double > MODEL.mass_matrix(S.q)[0, 0]
    with pytest.raises(ArgumentError, match="follow from others") as error:
        build(ARM, parameters={"I1": 3.0})
    assert "I1" in str(error.value)


def test_every_parameter_without_a_value_is_named():
    bare = arm(parameters={"L": {}, "M1": {}, "I1": {"value": "M1*L^2/3"}, "K": {"value": 1.0}})
    model = build(bare)
    with pytest.raises(ModelError, match="2 parameters have no value") as error:
        model.inverse_dynamics(S.q, S.v, S.vdot)
    assert error.value.got == "L, M1"
    with pytest.raises(ModelError) as error:  # those that the call gives are not missing
        model.inverse_dynamics(S.q, S.v, S.vdot, parameters={"L": 0.5})
    assert error.value.got == "M1"
    full = model.inverse_dynamics(S.q, S.v, S.vdot, parameters={"L": 0.5, "M1": 2.0})
    assert_same(full, expected(mechanism=arm(parameters={**dict(ARM.parameters), "K": {"value": 1.0}})))
    assert_same(build(bare, parameters={"L": 0.5, "M1": 2.0}).inverse_dynamics(S.q, S.v, S.vdot), full)


@pytest.mark.parametrize("quantity", ["bias", "mass_matrix"])
@pytest.mark.parametrize(("word", "name", "near"), [("parameters", "m1", "M1"), ("inputs", "pul", "pull")])
def test_unknown_names_are_refused_with_the_nearest_one_even_where_none_is_needed(quantity, word, name, near):
    args = (S.q, S.v) if quantity == "bias" else (S.q,)
    with pytest.raises(ArgumentError, match=f"no such {word}") as error:
        getattr(MODEL, quantity)(*args, **{word: {name: 1.0}})
    assert f"did you mean {near}?" in str(error.value)


def test_unknown_parameters_are_refused_when_building():
    with pytest.raises(ArgumentError, match="no such parameters") as error:
        build(ARM, parameters={"Mass": 1.0, "M1": 2.0})
    assert "Mass" in str(error.value)


@pytest.mark.parametrize("value", ["heavy", "2*3", None, [1.0, 2.0], float("nan"), float("inf"), 1j], ids=repr)
def test_values_that_no_parameter_can_have_are_refused(value):
    with pytest.raises(ArgumentError) as error:
        build(ARM, parameters={"M1": value})
    assert "M1" in str(error.value)


@pytest.mark.parametrize("value", ["heavy", 1j], ids=repr)
def test_what_is_no_number_is_refused_in_a_call(value):
    with pytest.raises(ArgumentError, match="not a number") as error:
        MODEL.mass_matrix(S.q, parameters={"M1": value})
    assert "M1" in str(error.value)


def test_parameters_are_given_by_name_and_models_are_built_from_descriptions():
    with pytest.raises(ArgumentError, match="by name"):
        build(ARM, parameters=[1.0, 2.0])
    with pytest.raises(ArgumentError, match="only a description") as error:
        build("arm.yaml")
    assert "load" in error.value.remedy


# -- what is wrong is said ---------------------------------------------------------------------------------------------
def test_an_unknown_frame_is_refused_with_near_names():
    with pytest.raises(ArgumentError, match="no frame 'tol'") as error:
        MODEL.pose(S.q, "tol")
    assert "did you mean tool?" in str(error.value)
    assert "upper" in error.value.expected


def test_an_unknown_quantity_is_refused():
    with pytest.raises(ArgumentError, match="no quantity 'inertia'"):
        MODEL.function("inertia")


@pytest.mark.parametrize(
    ("args", "got"),
    [
        ((np.zeros(3), S.v, S.vdot), "q: shape (3,)"),
        ((S.q, np.zeros((4, 3)), S.vdot), "v: shape (4, 3)"),
        ((np.zeros((2, 2)), np.zeros((3, 2)), S.vdot), "batches that do not fit together"),
        ((S.q, S.v), "'vdot' missing"),
        ((S.q, S.v, S.vdot, S.q), "4 positional arguments"),
        ((), "'q' missing"),
        ((S.q, S.v, ["a", "b"]), "expected real numbers"),
        ((S.q + 1j, S.v, S.vdot), "complex"),
        ((S.q[0], S.v, S.vdot), "q: shape ()"),
    ],
)
def test_wrong_arguments_are_named(args, got):
    for _ in range(2):
        with pytest.raises(ArgumentError) as error:
            MODEL.inverse_dynamics(*args)
        assert got in str(error.value)
        with pytest.raises(ArgumentError) as error:
            MODEL.inverse_dynamics(*args, t=0.5)
        assert got in str(error.value) or "arguments" in str(error.value)


def test_a_description_that_makes_no_sense_is_refused_with_all_its_faults():
    broken = arm(gravity=(0.0, "g", 0.0), loads={"spring": SpringDamper(coordinate="q9", stiffness="K9")})
    with pytest.raises(ModelError) as error:
        build(broken).inverse_dynamics(S.q, S.v, S.vdot)
    text = str(error.value)
    assert "'g'" in text
    assert "'q9'" in text
    assert "'K9'" in text


def test_a_mechanism_that_cannot_move_says_so():
    model, nothing = build(Mechanism(name="rock", bodies={"stone": {"inertia": {"M": 5.0}}})), np.zeros(0)
    for quantity, of in (("inverse_dynamics", 3), ("mass_matrix", 1), ("forward_dynamics", 3), ("bias", 2)):
        with pytest.raises(ModelError, match="nothing can move"):
            getattr(model, quantity)(*[nothing] * of)
    assert model.kinetic_energy(nothing, nothing) == 0.0
    assert model.pose(nothing, "stone").shape == (4, 4)


def test_a_place_may_depend_on_coordinates_or_have_a_joint_but_not_both():
    lower = {"parent": "upper", "place": {"mdh": {"d": "0.1*q1"}}, "inertia": {"mass": 1.0}}
    formula = arm(bodies={"upper": ARM.bodies["upper"], "lower": lower}, loads={})
    alone = arm(bodies={"upper": ARM.bodies["upper"]}, loads={})
    # a point of 1 kg at 0.1 q1 from the axis: it turns and slides
    assert_same(build(formula).mass_matrix([0.3]), build(alone).mass_matrix([0.3]) + (0.1 * 0.3) ** 2 + 0.1**2)
    both = arm(bodies={"upper": ARM.bodies["upper"], "lower": {**lower, "joint": "revolute"}}, loads={})
    with pytest.raises(ModelError, match="free-form"):
        build(both).mass_matrix(np.zeros(2))


def test_not_a_number_is_an_error_for_one_state_and_stays_in_its_row_of_a_batch():
    bad = np.array([0.3, np.nan])
    for _ in range(2):
        with pytest.raises(NumericalError, match="finite numbers") as error:
            MODEL.inverse_dynamics(S.q, bad, S.vdot)
        assert "dq2 = nan" in str(error.value)
    rows = MODEL.inverse_dynamics(S.q, np.array([S.v, bad, S.v, S.v, S.v]), S.vdot)
    assert np.isnan(rows[1]).any()
    assert_same(rows[[0, 2, 3, 4]], np.tile(expected(), (4, 1)))


# -- masses that are missing -------------------------------------------------------------------------------------------
THIN = {
    "none": None,
    "a mass on the axis": {"M": 1.0, "MZ": 0.3},
    "a thin rod on the axis": {"mass": 1.0, "centre": (0.0, 0.0, 0.2), "tensor": {"xx": 0.1, "yy": 0.1}},
}


@pytest.mark.parametrize("inertia", THIN.values(), ids=THIN)
@pytest.mark.parametrize("quantity", ["forward_dynamics", "forward_dynamics_derivatives"])
@pytest.mark.parametrize("joints", [1, 11])
def test_a_tip_without_the_inertia_it_feels_is_refused_by_name(inertia, quantity, joints):
    bodies, parent = {}, "base"
    for k in range(joints):
        place = {"mdh": {"d": 0.1, "alpha": 1.0}}
        bodies[f"b{k}"] = {
            "parent": parent,
            "place": place,
            "joint": "revolute",
            "inertia": {"M": 1.0, "ZZ": 1.0, "XX": 1.0, "YY": 1.0},
        }
        parent = f"b{k}"
    bodies["tip"] = {"parent": parent, "place": {"mdh": {"alpha": 0.7}}, "joint": "revolute", "inertia": inertia}
    mechanism = Mechanism.model_validate({"name": "thin", "bodies": bodies})
    model, zero = build(mechanism), np.zeros(joints + 1)
    with pytest.raises(ModelError, match="dq_tip moves no mass") as error:
        getattr(model, quantity)(zero, zero, zero)
    assert error.value.where == "bodies.tip"
    driven = mechanism.model_copy(update={"loads": {"drive": Transmission(coordinate="q_tip", inertia=0.1)}})
    assert np.all(np.isfinite(build(driven).forward_dynamics(zero, zero, zero)))


def test_a_tip_whose_inertia_is_a_parameter_of_value_zero_is_named_when_it_is_called():
    bodies = {**dict(ARM.bodies), "tip": {"parent": "lower", "joint": "revolute", "inertia": {"ZZ": "J"}}}
    mechanism = arm(bodies=bodies, parameters={**dict(ARM.parameters), "J": {"value": 0.0}})
    model, zero = build(mechanism), np.zeros(3)
    for _ in range(2):
        with pytest.raises(NumericalError, match="singular") as error:
            model.forward_dynamics(zero, zero, np.ones(3))
        assert "dq_tip" in str(error.value)
    assert np.all(np.isfinite(model.forward_dynamics(zero, zero, np.ones(3), parameters={"J": 0.1})))
    with pytest.raises(NumericalError, match="singular"):
        build(mechanism, parameters={"J": 1.0}).forward_dynamics(zero, zero, np.ones(3), parameters={"J": 0.0})


def test_a_singular_state_is_an_error_for_one_state_and_not_a_number_in_its_row_of_a_batch():
    """Two axes in line with nothing between them: singular where the middle joint is straight, and only there."""
    spin = {"joint": "revolute"}
    body = {"M": 1.0, "XX": 0.3, "YY": 0.4, "ZZ": 0.5}
    bodies = {
        "a": {**spin},
        "b": {**spin, "parent": "a", "place": {"mdh": {"alpha": "pi/2"}}},
        "c": {**spin, "parent": "b", "place": {"mdh": {"alpha": "-pi/2"}}, "inertia": body},
    }
    model = build(Mechanism.model_validate({"name": "wrist", "bodies": bodies}))
    bent, straight, zero = np.array([0.0, 0.7, 0.0]), np.zeros(3), np.zeros(3)
    assert np.all(np.isfinite(model.forward_dynamics(bent, zero, np.ones(3))))
    with pytest.raises(NumericalError, match="singular") as error:
        model.forward_dynamics(straight, zero, np.ones(3))
    assert "dq_a" in str(error.value)
    assert "dq_c" in str(error.value)
    rows = model.forward_dynamics(np.array([bent, straight, bent]), zero, np.ones(3))
    assert not np.isfinite(rows[1]).all()
    assert np.isfinite(rows[[0, 2]]).all()


# -- every way to call is one function ---------------------------------------------------------------------------------
class Subclass(np.ndarray):
    pass


def read_only(x):
    x = x.copy()
    x.flags.writeable = False
    return x


ODD = {
    "a list": lambda x: x.tolist(),
    "a tuple": lambda x: tuple(x.tolist()),
    "every other number": lambda x: np.repeat(x, 2)[::2],
    "backwards": lambda x: x[::-1].copy()[::-1],
    "a subclass": lambda x: x.view(Subclass),
    "read only": read_only,
    "big-endian": lambda x: x.astype(">f8"),
    "a column of a matrix": lambda x: np.stack([x, x], 1)[:, 0],
    "not aligned": lambda x: np.frombuffer(b"\0" + x.tobytes(), np.uint8)[1:].view(np.float64),
}


@pytest.mark.parametrize("form", ODD)
@pytest.mark.parametrize("place", range(3))
def test_odd_arrays_are_taken_as_what_they_hold(form, place):
    args = [S.q, S.v, S.vdot]
    plain = MODEL.inverse_dynamics(*args)
    args[place] = ODD[form](args[place])
    for _ in range(2):
        assert_same(MODEL.inverse_dynamics(*args), plain, tolerance=0.0)


def test_floats_of_less_precision_and_integers_are_converted():
    small = S.q.astype(np.float32)
    assert_same(MODEL.inverse_dynamics(small, S.v, S.vdot), expected(q=small.astype(float)), tolerance=1e-14)
    assert_same(
        MODEL.inverse_dynamics(np.array([1, 2]), S.v, S.vdot), expected(q=np.array([1.0, 2.0])), tolerance=1e-14
    )


def test_arguments_may_be_named():
    assert_same(MODEL.inverse_dynamics(S.q, vdot=S.vdot, v=S.v), expected(), tolerance=1e-14)
    with pytest.raises(ArgumentError, match="no argument 'qq'"):
        MODEL.inverse_dynamics(S.q, S.v, S.vdot, qq=1.0)


def test_batches_of_any_shape_broadcast():
    q, v = np.stack([S.q, 2 * S.q, -S.q]), np.stack([S.v, -S.v])[:, None]
    grid = MODEL.inverse_dynamics(q, v, S.vdot)
    assert grid.shape == (2, 3, 2)
    assert_same(grid[1, 2], expected(q=-S.q, v=-S.v))
    assert MODEL.inverse_dynamics(np.zeros((0, 2)), S.v, S.vdot).shape == (0, 2)
    assert MODEL.kinetic_energy(q, S.v).shape == (3,)


@pytest.mark.parametrize("batch", [(), (7,), (3, 4)])
def test_results_are_written_where_asked(batch):
    q = np.broadcast_to(S.q, (*batch, 2)).copy()
    out = np.full((*batch, 2), np.nan)
    assert MODEL.inverse_dynamics(q, S.v, S.vdot, out=out) is out
    assert_same(out, np.broadcast_to(expected(), out.shape))
    with pytest.raises(ArgumentError, match="out"):
        MODEL.inverse_dynamics(q, S.v, S.vdot, out=np.zeros((*batch, 3)))


def test_threads_share_a_batch():
    rng = np.random.default_rng(0)
    q, v, a = rng.normal(size=(3, 5000, 2))
    assert np.array_equal(MODEL.inverse_dynamics(q, v, a, threads=3), MODEL.inverse_dynamics(q, v, a))
    with pytest.raises(TorseurError):
        MODEL.inverse_dynamics(q, v, a, threads=0)


def test_the_quick_form_takes_over_after_the_first_call_and_is_the_same_function():
    model = build(ARM)
    first = model.inverse_dynamics
    assert isinstance(first, ModelFunction)
    before = first(S.q, S.v, S.vdot)
    if direct.is_possible():
        assert not isinstance(model.inverse_dynamics, ModelFunction)
        assert "inverse_dynamics" in repr(model.inverse_dynamics)
    assert np.array_equal(model.inverse_dynamics(S.q, S.v, S.vdot), before)
    assert np.array_equal(first(S.q, S.v, S.vdot), before)
    assert isinstance(model.function("inverse_dynamics"), ModelFunction)


def test_calls_leave_no_references_behind():
    for call, args in ((MODEL.inverse_dynamics, (S.q, S.v, S.vdot)), (MODEL.mass_matrix, (S.q,))):
        call(*args)
        result = call(*args)
        fresh = np.zeros(1)
        assert sys.getrefcount(result) == sys.getrefcount(fresh)
        counts = [sys.getrefcount(a) for a in args]
        for _ in range(1000):
            call(*args)
        assert [sys.getrefcount(a) for a in args] == counts
        for _ in range(100):
            with pytest.raises(ArgumentError):
                call(*args, np.zeros(1))
    gc.collect()
    blocks = sys.getallocatedblocks()
    for _ in range(2000):
        MODEL.inverse_dynamics(S.q, S.v, S.vdot)
        MODEL.mass_matrix(S.q)
    gc.collect()
    assert sys.getallocatedblocks() - blocks < 500


def test_results_of_single_calls_are_arrays_of_their_own():
    one = MODEL.inverse_dynamics(S.q, S.v, S.vdot)
    kept = one.copy()
    MODEL.inverse_dynamics(2 * S.q, S.v, S.vdot)
    assert np.array_equal(one, kept)


# -- the cache ---------------------------------------------------------------------------------------------------------
def test_descriptions_that_differ_in_what_moves_them_have_different_keys():
    drives = [Motor(coordinate="q2", inertia=0.5), Transmission(coordinate="q2", inertia=0.5)]
    keys = {build(arm(loads={"drive": drive})).key for drive in drives}
    assert len(keys) == 2
    one, two = (build(arm(loads={"drive": drive})).mass_matrix(S.q) for drive in drives)
    assert_same(
        one - two, [[0.0, 0.0], [0.0, 0.0]] + 0.5 * (MODEL.pose(S.q, "upper")[2, 2] * np.array([[0, 1], [1, 0]]))
    )
    variants = [
        arm(gravity=(0.0, 0.0, -9.81)),
        arm(loads={}),
        arm(base={"kind": "planar"}),
        arm(parameters={**dict(ARM.parameters), "I1": {"value": "M1*L^2/12"}}),
    ]
    assert len({build(m).key for m in (ARM, *variants)}) == len(variants) + 1


def test_words_do_not_change_the_key():
    assert build(arm(title="An arm", notes=("read from nowhere",))).key == MODEL.key


WARM = """
    import json
    from torseur.describe import Mechanism
    import numpy as np
    from importlib import import_module

    from torseur.model import build

    b, derived = import_module("torseur.model.function"), []
    true = b.function_of
    b.function_of = lambda m, quantity, *rest: derived.append(quantity) or true(m, quantity, *rest)
    bodies = {"a": {"joint": "revolute", "inertia": {"ZZ": 1.0, "MX": 0.5, "M": 1.0}}}
    model = build(Mechanism.model_validate({"name": "one", "bodies": bodies, "gravity": (0.0, -9.81, 0.0)}))
    z = np.zeros(1)
    values = [f(z, z, z).tolist() for f in (model.inverse_dynamics, model.forward_dynamics)]
    many = np.zeros((9, 1))
    values += [model.inverse_dynamics(many, many, many).tolist(), model.mass_matrix(z).tolist()]
    values += [model.kinetic_energy(z, z)]
    print(json.dumps([derived, values]))
"""


def test_a_warm_start_derives_nothing(tmp_path):
    cold, values = json.loads(processes.run(WARM, TORSEUR_CACHE=str(tmp_path)))
    assert set(cold) == {"inverse_dynamics", "forward_dynamics", "mass_matrix", "kinetic_energy"}
    warm, again = json.loads(processes.run(WARM, TORSEUR_CACHE=str(tmp_path)))
    assert warm == []
    assert again == values


# -- what a model says of itself ---------------------------------------------------------------------------------------
def test_a_model_names_its_coordinates_speeds_and_parameters():
    assert [(x.name, x.unit) for x in MODEL.coordinates] == [("q1", "rad"), ("q2", "rad")]
    assert [(x.name, x.unit) for x in MODEL.speeds] == [("dq1", "rad/s"), ("dq2", "rad/s")]
    assert (MODEL.nq, MODEL.nv) == (2, 2)
    assert {b.role for b in MODEL.function("inverse_dynamics").function.inputs} >= {
        Role.TIME,
        Role.INPUT,
        Role.PARAMETER,
    }
    assert isinstance(ARM.parameters["I1"].value, Formula)
