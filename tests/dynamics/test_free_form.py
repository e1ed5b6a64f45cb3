"""Kinematics written as formulas of coordinates (Kanyiki & Ntambwe 14-21): the recursions, Lagrange, point masses."""

from pathlib import Path

import numpy as np
import pytest

import torseur
from support.evaluated import Evaluated, arguments_of, assert_same
from support.lagrangian import by_lagrange
from support.plain import Plain
from support.random_mechanisms import state_of
from torseur.describe import Mechanism
from torseur.describe.loads import KINDS as LOADS
from torseur.dynamics.analytical import lagrange
from torseur.dynamics.parameters.regressor import standard_parameters
from torseur.dynamics.quantities import Options, Workbench, function_of
from torseur.dynamics.tree.derivatives import inverse_dynamics_derivatives
from torseur.dynamics.tree.system import System
from torseur.dynamics.tree.tree import Tree
from torseur.errors import ModelError
from torseur.graph import Function, Role, count, evaluate

TESTS = Path(__file__).resolve().parent.parent
INERTIAS = (
    {"mass": 2.0, "centre": (0.2, 0.1, 0.0), "tensor": {"xx": 0.1, "yy": 0.2, "zz": 0.25, "xy": 0.01}},
    {"XX": 0.3, "YY": 0.4, "ZZ": 0.5, "XY": -0.05, "MX": 0.3, "MZ": -0.1, "M": 1.5},
)
JOINTS = {
    "name": "joints",
    "gravity": (0.4, -9.0, 1.0),
    "bodies": {
        "a": {"joint": {"kind": "revolute", "coordinate": "q1"}, "inertia": INERTIAS[0]},
        "b": {
            "parent": "a",
            "place": {"mdh": {"alpha": 0.7, "d": 0.3}},
            "joint": {"kind": "prismatic", "coordinate": "q2"},
            "inertia": INERTIAS[1],
        },
    },
}
# The same as products of elementary transforms from the base, the coordinates among them.
FORMULAS = {
    **JOINTS,
    "name": "formulas",
    "coordinates": {"q1": {"unit": "rad"}, "q2": {"unit": "m"}},
    "bodies": {
        "a": {"place": {"steps": [{"rz": "q1"}]}, "inertia": INERTIAS[0]},
        "b": {"place": {"steps": [{"rz": "q1"}, {"rx": 0.7}, {"tx": 0.3}, {"tz": "q2"}]}, "inertia": INERTIAS[1]},
    },
}
Q, V, A = np.array([0.4, -0.3]), np.array([1.1, 0.7]), np.array([-0.5, 2.0])
BEAD = {
    "name": "bead",
    "gravity": (0.0, -9.81, 0.0),
    "coordinates": {"s": {"unit": "m"}},
    "bodies": {"bead": {"place": {"steps": [{"tx": "s"}, {"ty": "s^2/2"}]}, "inertia": {"mass": 3.0}}},
}
SLIDER_CRANK = {
    "name": "slider_crank",
    "gravity": (0.0, -9.81, 0.0),
    "parameters": {"r": {"value": 0.2}, "l": {"value": 0.7}, "c": {"value": 12.0}},
    "coordinates": {"q": {"unit": "rad"}},
    "bodies": {
        "crank": {"place": {"steps": [{"rz": "q"}]}, "inertia": {"mass": 1.0, "centre": (0.1, 0.02, 0.0)}},
        "rod": {
            "place": {"steps": [{"tx": "r*cos(q)"}, {"ty": "r*sin(q)"}, {"rz": "-asin(r/l*sin(q))"}]},
            "inertia": {"mass": 1.5, "centre": (0.3, 0.0, 0.1), "tensor": {"xx": 0.01, "yy": 0.07, "zz": 0.08}},
        },
        "piston": {
            "place": {"pose": {"position": ("r*cos(q) + sqrt(l^2 - r^2*sin(q)^2)", 0.0, 0.0)}},
            "inertia": {"mass": 0.8},
            "frames": {"crown": {"place": {"pose": {"position": (0.05, 0.0, 0.0)}}}},
        },
    },
    "loads": {
        "gas": {"kind": "spring", "between": ("world", "crown"), "stiffness": "c", "rest": 0.4, "damping": 0.7},
        "wheel": {"kind": "transmission", "coordinate": "q", "inertia": 0.3},
        "drive": {"kind": "effort", "coordinate": "q", "value": "2*cos(q) - 0.1*dq"},
    },
}
# A disc that an eccentric cam lifts and that its own arm turns; its place is followed by an ordinary joint.
CAM = {
    "name": "cam",
    "gravity": (0.5, 1.0, -9.81),
    "coordinates": {"q": {"unit": "rad"}},
    "bodies": {
        "cam": {"place": {"steps": [{"ry": "q"}]}, "inertia": INERTIAS[0]},
        "follower": {"place": {"steps": [{"tx": 0.1}, {"tz": "0.05*(1 - cos(2*q))"}]}, "inertia": INERTIAS[1]},
        "arm": {
            "parent": "follower",
            "place": {"mdh": {"alpha": 0.4, "d": 0.2, "theta": "0.3*q"}},
            "joint": {"kind": "revolute", "coordinate": "w"},
            "inertia": INERTIAS[0],
        },
        "tip": {
            "parent": "arm",
            "place": {"dh": {"theta": "q", "a": "0.1 + 0.1*w", "alpha": 0.3}},
            "inertia": INERTIAS[1],
        },
    },
    "loads": {
        "spring": {"kind": "spring", "coordinate": "q", "stiffness": 3.0, "damping": 0.2},
        "motor": {
            "kind": "motor", "coordinate": "q", "carrier": "follower", "axis": (0.2, 0.3, 1.0), "ratio": 3.0,
            "inertia": 0.02, "torque": 0.7, "motor_damping": 0.01, "joint_friction": 0.1,
        },
        "far": {"kind": "motor", "coordinate": "w", "carrier": "tip", "ratio": -2.0, "inertia": 0.01},
    },
}  # fmt: skip
ROUND = {  # rotations given as a whole, and about an axis that is none of the three
    "name": "round",
    "gravity": (1.0, 2.0, -9.0),
    "parameters": {"n": {"value": 0.8}},
    "coordinates": {"a": {"unit": "rad"}, "b": {"unit": "rad"}, "c": {"unit": "m"}},
    "bodies": {
        "one": {
            "place": {"pose": {"position": (0.1, "c", "0.2*a"), "quaternion": ("cos(a/2)", "sin(a/2)", 0.0, 0.0)}},
            "inertia": INERTIAS[0],
        },
        "two": {
            "parent": "one",
            "place": {
                "pose": {
                    "matrix": (("cos(b)", 0.0, "sin(b)"), (0.0, 1.0, 0.0), ("-sin(b)", 0.0, "cos(b)")),
                    "position": ("c^2", 0.3, "sin(a*b)"),
                }
            },
            "inertia": INERTIAS[1],
        },
        "three": {
            "parent": "two",
            "place": {"steps": [{"rn": {"axis": ("n", 0.6, 0.1), "angle": "a - 2*c"}}, {"tx": 0.3}]},
            "inertia": INERTIAS[0],
        },
        "four": {"place": {"pose": {"position": ("c", 0.0, 0.0), "rpy": ("a", 0.2, "b")}}, "inertia": INERTIAS[1]},
    },
}
SHAPES = {"bead": BEAD, "slider_crank": SLIDER_CRANK, "cam": CAM, "round": ROUND, "formulas": FORMULAS}


def mechanism(content):
    loads = {}
    for name, fields in content.get("loads", {}).items():
        loads[name] = LOADS[fields["kind"]](**{key: x for key, x in fields.items() if key != "kind"})
    return Mechanism.model_validate({**content, "loads": loads})


def forces(content, q=Q, v=V, a=A):
    """By Lagrange's equations."""
    described = mechanism(content)
    system = System(described)
    vdot = system.graph.block("vdot", len(described.v), Role.STATE)
    function = Function("tau", [system.q, system.v, vdot, system.p], {"tau": lagrange.equations(system, list(vdot))})
    return evaluate(function, *arguments_of(described, function, (q, v, a)))[0]


# -- one mechanism, written twice --------------------------------------------------------------------------------------
def test_formulas_and_joints_are_one_mechanism():
    assert_same(forces(FORMULAS), forces(JOINTS))
    assert_same(forces(FORMULAS), Evaluated(mechanism(JOINTS))("inverse_dynamics", Q, V, A))
    assert_same(forces(FORMULAS), Evaluated(mechanism(FORMULAS))("inverse_dynamics", Q, V, A))
    assert [x.unit for x in mechanism(FORMULAS).v] == ["rad/s", "m/s"]


@pytest.mark.parametrize("quantity", ["inverse_dynamics", "forward_dynamics", "mass_matrix", "momentum", "regressor"])
def test_a_chain_of_joints_costs_the_same_however_it_is_written(quantity):
    """Places that begin alike share their joints, so absolute poses are as cheap as relative ones."""
    counts = [count(function_of(mechanism(content), quantity)) for content in (JOINTS, FORMULAS)]
    assert counts[0] == counts[1]
    assert not Tree(System(mechanism(FORMULAS))).shares_speeds


def test_the_welding_arm_as_a_listing_is_the_arm_made_of_joints():
    """From the file to native code: bodies of the listing are placed at their centres of mass."""
    listing = torseur.load(TESTS / "data" / "cagem" / "welder_cagem_spatial_rebuilt.mu")
    joints = torseur.load(TESTS.parent / "examples" / "welding_arm" / "welding_arm.yaml")
    joints = joints.model_copy(update={"loads": {}})
    free, tree = torseur.build(listing), torseur.build(joints)
    rng = np.random.default_rng(4)
    q, v, a = rng.uniform(-1, 1, (3, 20, 7))
    tau = free.inverse_dynamics(q, v, a)
    assert_same(tau, tree.inverse_dynamics(q, v, a))
    assert_same(free.forward_dynamics(q, v, tau), a, tolerance=1e-8)
    assert_same(free.mass_matrix(q), tree.mass_matrix(q))
    assert_same(free.kinetic_energy(q, v), tree.kinetic_energy(q, v))
    assert_same(free.pose(q, "body6")[..., :3, :3], free.pose(q, "body4")[..., :3, :3])
    assert "QP" not in torseur.equations(listing, "inverse_dynamics").text(), "a joint is geared that need not be"


# -- what no chain of joints can be ------------------------------------------------------------------------------------
def test_a_mechanism_that_no_chain_of_joints_can_be():
    """A bead on a parabola: x = s, y = s^2 / 2, m [(1 + s^2) s'' + s s'^2] + m g s = tau."""
    s, ds, dds = 0.7, -1.3, 0.4
    expected = 3.0 * ((1 + s * s) * dds + s * ds * ds) + 3.0 * 9.81 * s
    assert_same(forces(BEAD, [s], [ds], [dds]), [expected])
    ours = Evaluated(mechanism(BEAD))
    assert_same(ours("inverse_dynamics", [s], [ds], [dds]), [expected])
    assert_same(ours("mass_matrix", [s]), [[3.0 * (1 + s * s)]])
    assert_same(ours("forward_dynamics", [s], [ds], [expected]), [dds])
    assert_same(ours("jacobian", [s], frame="bead")[:2, 0], [1.0, s])


def test_formulas_of_coordinates_on_a_moving_joint_count_too():
    """A revolute joint whose place slides with the coordinate of another."""
    bodies = {
        "a": JOINTS["bodies"]["a"],
        "b": {
            "place": {"steps": [{"tx": "0.5*q1"}]},
            "joint": {"kind": "revolute", "coordinate": "q2"},
            "inertia": {"mass": 2.0, "centre": (0.3, 0.0, 0.0)},
        },
    }
    content = {**JOINTS, "gravity": (0.0, 0.0, 0.0), "bodies": bodies}
    q2, w1, w2 = 0.6, 1.1, 0.7
    # x = q1/2 + 0.3 cos q2, y = 0.3 sin q2: the equation of q2 is m 0.09 q2'' - m 0.15 sin(q2) q1''.
    state = [0.2, q2], [w1, w2], [1.0, 0.5]
    for tau in (forces(content, *state), Evaluated(mechanism(content))("inverse_dynamics", *state)):
        assert_same(tau[1], 2.0 * (0.09 * 0.5 - 0.15 * np.sin(q2) * 1.0))


def test_a_place_may_follow_a_coordinate_whose_rate_is_no_speed():
    """A slide that follows x and yaw of a floating planar base, whose speeds are in its own axes."""
    content = {
        "name": "follower",
        "gravity": (1.0, -2.0, -9.0),
        "base": {"kind": "planar", "inertia": INERTIAS[1]},
        "bodies": {"slide": {"place": {"steps": [{"tz": "x*cos(yaw)"}, {"rx": "y"}]}, "inertia": INERTIAS[0]}},
    }
    followed = mechanism(content)
    s, ours = state_of(followed, 2), Evaluated(followed)
    tau = ours("inverse_dynamics", s.q, s.v, s.vdot)
    assert_same(tau, by_lagrange(followed, s))
    assert_same(ours("forward_dynamics", s.q, s.v, tau), s.vdot)
    J = ours("jacobian", s.q, frame="slide")
    assert_same(ours("velocity", s.q, s.v, frame="slide"), J @ s.v)


@pytest.mark.parametrize("base_parameters", [False, True])
@pytest.mark.parametrize("name", SHAPES)
def test_every_quantity_is_that_of_point_masses(name, base_parameters):
    shape = mechanism(SHAPES[name])
    ours, plain, s = Evaluated(shape, base_parameters=base_parameters), Plain(shape), state_of(shape, 5)
    tau = ours("inverse_dynamics", s.q, s.v, s.vdot, t=s.t)
    assert_same(tau, plain.inverse_dynamics(s.q, s.v, s.vdot, s.t))
    assert_same(ours("bias", s.q, s.v, t=s.t), plain.inverse_dynamics(s.q, s.v, 0 * s.v, s.t))
    assert_same(ours("mass_matrix", s.q), plain.mass_matrix(s.q))
    assert_same(ours("forward_dynamics", s.q, s.v, tau, t=s.t), s.vdot, tolerance=1e-9)
    assert_same(ours("kinetic_energy", s.q, s.v), plain.kinetic_energy(s.q, s.v))
    assert_same(ours("potential_energy", s.q), plain.potential_energy(s.q))
    assert_same(ours("momentum", s.q, s.v), plain.momentum(s.q, s.v))
    C = ours("coriolis", s.q, s.v)
    unloaded = Evaluated(shape, loads=False)
    assert_same(C @ s.v, unloaded("bias", s.q, s.v) - unloaded("gravity", s.q))
    for load, power in zip(
        shape.loads, np.atleast_1d(ours("load_powers", s.q, s.v)) if shape.loads else (), strict=True
    ):
        assert_same(power, plain.load_force(load, s.q, s.v) @ s.v)


@pytest.mark.parametrize("name", SHAPES)
def test_frames_move_as_differentiated_poses_say(name):
    shape = mechanism(SHAPES[name])
    ours, plain, s = Evaluated(shape), Plain(shape), state_of(shape, 6)
    moving = plain.motion(s.q, s.v, s.vdot)
    for frame in shape.frames:
        J = plain.jacobian(s.q, frame)
        assert_same(ours("pose", s.q, frame=frame), moving[frame].T)
        assert_same(ours("jacobian", s.q, frame=frame), J)
        assert_same(ours("velocity", s.q, s.v, frame=frame), J @ s.v)
        assert_same(ours("acceleration", s.q, s.v, s.vdot, frame=frame), plain.acceleration(s.q, s.v, s.vdot, frame))


@pytest.mark.parametrize("name", SHAPES)
def test_regressors_times_parameters_are_inverse_dynamics(name):
    shape = mechanism(SHAPES[name])
    ours, s = Evaluated(shape), state_of(shape, 7)
    tau, given = ours("inverse_dynamics", s.q, s.v, s.vdot), ours("given_forces", s.q, s.v)
    for Y, K in (("regressor", "standard_parameters"), ("base_regressor", "base_parameters")):
        assert_same(ours(Y, s.q, s.v, s.vdot) @ ours(K) + given, tau)
    names = [p.name for p in standard_parameters(Tree(System(shape)))]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("name", SHAPES)
def test_derivatives_are_limits_of_differences(name):
    shape = mechanism(SHAPES[name])
    ours, s, step = Evaluated(shape), state_of(shape, 8), 1e-6
    by_q, by_v = ours("inverse_dynamics_derivatives", s.q, s.v, s.vdot)
    for k, e in enumerate(step * np.eye(len(s.v))):
        ahead, behind = (ours("inverse_dynamics", s.q + d, s.v, s.vdot) for d in (e, -e))
        assert_same(by_q[:, k], (ahead - behind) / (2 * step), tolerance=1e-6)
        ahead, behind = (ours("inverse_dynamics", s.q, s.v + d, s.vdot) for d in (e, -e))
        assert_same(by_v[:, k], (ahead - behind) / (2 * step), tolerance=1e-6)


def test_a_slider_crank_at_constant_speed_needs_the_force_its_masses_ask_for():
    """Without gravity and loads, over one turn, the mean of the torque is zero: the energy comes back."""
    free = {**SLIDER_CRANK, "gravity": (0.0, 0.0, 0.0), "loads": {}}
    q = np.linspace(0.0, 2 * np.pi, 41)[:-1, None]
    tau = Evaluated(mechanism(free))("inverse_dynamics", q, np.full_like(q, 3.0), 0 * q)
    assert np.max(np.abs(tau)) > 0.1
    assert_same(np.mean(tau), 0.0)


# -- refusals ----------------------------------------------------------------------------------------------------------
def test_a_coordinate_that_moves_nothing_has_no_acceleration():
    idle = {**JOINTS, "coordinates": {"s": {"unit": "m"}}}
    with pytest.raises(ModelError, match="ds moves no mass"):
        Evaluated(mechanism(idle)).function("forward_dynamics")


def test_a_motion_without_mass_is_refused():
    bodies = {**FORMULAS["bodies"], "b": {"place": FORMULAS["bodies"]["b"]["place"]}}
    with pytest.raises(ModelError, match="dq2 moves no mass"):
        Evaluated(mechanism({**FORMULAS, "bodies": bodies})).function("forward_dynamics")


def test_a_motor_on_a_coordinate_without_a_joint_must_say_who_carries_it():
    motor = {"kind": "motor", "coordinate": "q1", "ratio": 10.0, "inertia": 0.01}
    with pytest.raises(ModelError, match="carries the motor") as error:
        Evaluated(mechanism({**FORMULAS, "loads": {"m": motor}})).function("inverse_dynamics")
    assert "loads.m" in str(error.value)
    light = mechanism({**FORMULAS, "loads": {"m": {**motor, "inertia": 0.0, "torque": 2.0}}})
    assert_same(
        Evaluated(light)("inverse_dynamics", Q, V, A),
        Evaluated(mechanism(FORMULAS))("inverse_dynamics", Q, V, A) - np.array([20.0, 0.0]),
    )


def test_a_place_that_changes_in_time_by_itself_is_refused():
    drifting = {**JOINTS, "bodies": {"a": {**JOINTS["bodies"]["a"], "place": {"steps": [{"tx": "0.1*t"}]}}}}
    with pytest.raises(ModelError, match="in time"):
        Evaluated(mechanism(drifting)).function("inverse_dynamics")


def test_the_recursion_of_derivatives_refuses_speeds_that_move_several_links():
    for content, match in ((BEAD, "turn"), (SLIDER_CRANK, "turn"), ({**BEAD, "bodies": _twice()}, "one link")):
        bench = Workbench(mechanism(content), Options(loads=False))
        with pytest.raises(ModelError, match=match):
            inverse_dynamics_derivatives(bench.tree, list(bench.block("vdot")), bench.gravity)


def _twice():
    """Along x and along y by one speed, both steadily."""
    return {"bead": {"place": {"steps": [{"tx": "s"}, {"ty": "2*s"}]}, "inertia": {"mass": 3.0}}}
