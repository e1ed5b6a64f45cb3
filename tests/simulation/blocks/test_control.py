"""Controllers that know the mechanism: their accelerations are what was commanded, whatever the mechanism."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.evaluated import assert_same
from support.example_files import EXAMPLES, Example
from support.plain_blocks import Blocks
from support.random_mechanisms import BodyPlan, Plan, mechanism_of, plans
from torseur import load
from torseur.describe import Effort, Mechanism, Motor, SpringDamper
from torseur.dynamics.tree.kinematics import frame_jacobian
from torseur.dynamics.workbench import Workbench
from torseur.errors import ModelError
from torseur.graph import Function, evaluate, tangents

HINGES = ("revolute", "prismatic", "screw", "cylindrical", "universal")
LOADS = ("spring", "strut", "combination", "motor", "far_motor", "transmission", "drag")
some_arms = plans(min_bodies=1, max_bodies=4, bases=("fixed",), kinds=HINGES, loads=LOADS)


def state(mechanism, seed):
    rng = np.random.default_rng(seed)
    return rng.uniform(-1, 1, len(mechanism.q)), rng.uniform(-1, 1, len(mechanism.v)), float(rng.uniform(0, 2))


def commanded(n, t, q, v, kp, kd):
    """For references 0.3 sin((k + 1) t + k)."""
    k = np.arange(n)
    w, a = k + 1.0, (k + 1.0) * t + k
    r, rd, rdd = 0.3 * np.sin(a), 0.3 * w * np.cos(a), -0.3 * w * w * np.sin(a)
    return rdd + kd * (rd - v) + kp * (r - q)


def references(names):
    return {name: f"0.3*sin({k + 1}*t + {k})" for k, name in enumerate(names)}


# -- computed torque ---------------------------------------------------------------------------------------------------


@given(some_arms)
@settings(max_examples=25)
def test_computed_torque_gives_the_commanded_accelerations(plan):
    mechanism = mechanism_of(plan)
    q, v, t = state(mechanism, plan.seed)
    names = [x.name for x in mechanism.q]
    control = {"computed_torque": {"reference": references(names), "kp": 25.0, "kd": 7.0}}
    blocks = Blocks({"c": control}, mechanism)
    assert_same(blocks.accelerations(t, q, v), commanded(len(q), t, q, v, 25.0, 7.0))


@given(plans(min_bodies=1, max_bodies=3, bases=("fixed",), kinds=("revolute", "prismatic")), st.booleans())
@settings(max_examples=15)
def test_computed_torque_through_motors_behind_gears_does_the_same(plan, mixed):
    mechanism = mechanism_of(plan)
    names = [x.name for x in mechanism.q]
    loads = {f"m{k}": Motor(coordinate=n, ratio=10.0 + k, inertia=0.01, torque=f"u{k}") for k, n in enumerate(names)}
    if mixed:  # an input that pushes two joints at once
        loads["both"] = Effort(combination=dict.fromkeys(names, 1.0), value="u0")
    inputs = {f"u{k}": {} for k in range(len(names))}
    mechanism = Mechanism.model_validate(mechanism.model_dump() | {"loads": loads, "inputs": inputs})
    q, v, t = state(mechanism, plan.seed)
    control = {"reference": references(names), "kp": 25.0, "inputs": list(inputs)}
    blocks = Blocks({"c": {"computed_torque": control}}, mechanism)
    assert_same(blocks.accelerations(t, q, v), commanded(len(q), t, q, v, 25.0, 10.0))


@pytest.mark.parametrize("base", ["floating", "planar"])
def test_computed_torque_of_joints_leaves_a_free_base_to_itself(base):
    plan = Plan(base, tuple(BodyPlan("revolute", k - 1) for k in range(3)), seed=5)
    mechanism = mechanism_of(plan)
    nb = 6 if base == "floating" else 3
    q, v, t = state(mechanism, 1)
    if base == "floating":
        q[3:7] /= np.linalg.norm(q[3:7])
    joints = [x.name for x in mechanism.q][-3:]
    blocks = Blocks({"c": {"computed_torque": {"reference": references(joints), "kp": 4.0, "kd": 3.0}}}, mechanism)
    assert list(blocks.parts.forces) == [x.name for x in mechanism.v][nb:]
    assert_same(blocks.accelerations(t, q, v)[nb:], commanded(3, t, q[-3:], v[nb:], 4.0, 3.0))


def test_computed_torque_of_the_crank_drives_a_closed_loop():
    mechanism = load(EXAMPLES / "four_bar" / "four_bar.yaml")
    control = {"computed_torque": {"reference": {"q1": "0.3*sin(t)"}, "kp": 4.0, "kd": 3.0}}
    blocks = Blocks({"c": control}, mechanism)
    q = Example(mechanism).start
    rows = blocks.value(blocks.bench.constraints.A, 0.7, q, 0 * q)
    v = np.linalg.svd(rows)[2][-1]
    v = v / v[0] * 0.5
    found = blocks.accelerations(0.7, q, v)[0]
    np.testing.assert_allclose(found, commanded(1, 0.7, q[:1], v[:1], 4.0, 3.0)[0], rtol=1e-9)


PLANAR = load(EXAMPLES / "planar_2r" / "planar_2r.yaml")


def test_the_error_of_computed_torque_falls_as_its_gains_say():
    names = [x.name for x in PLANAR.q]
    control = {"computed_torque": {"reference": references(names), "kp": 9.0}}
    run = Blocks({"c": control}, PLANAR, native=True).run(2.0, 0.005, q=[0.4, 0.5], v=[0.0, 0.0])
    t = run["t"]
    for k, (q0, v0) in enumerate(((0.4, 0.0), (0.5, 0.0))):
        e0, d0 = 0.3 * np.sin(k) - q0, 0.3 * (k + 1) * np.cos(k) - v0
        expected = (e0 + (d0 + 3.0 * e0) * t) * np.exp(-3.0 * t)
        np.testing.assert_allclose(0.3 * np.sin((k + 1) * t + k) - run["x"][:, k], expected, atol=1e-7)


def test_a_reference_through_a_filter_is_differentiated_through_it():
    blocks = {
        "raw": {"step": {"time": 0.0, "after": 1.0}},
        "smooth": {"second_order": {"value": "raw", "frequency": 1.0, "start": 0.0}},
        "c": {"computed_torque": {"reference": {PLANAR.q[0].name: "smooth", PLANAR.q[1].name: 0.0}, "kp": 9.0}},
    }
    run = Blocks(blocks, PLANAR, native=True).run(1.0, 0.005)
    np.testing.assert_allclose(run["x"][:, 0], run["smooth"], atol=1e-7)


def test_a_limit_cuts_every_force():
    names = [x.name for x in PLANAR.q]
    fields = {"reference": dict.fromkeys(names, 3.0), "kp": 1000.0}
    free = Blocks({"c": {"computed_torque": fields}}, PLANAR).at()
    speeds = [x.name for x in PLANAR.v]
    cut = Blocks({"c": {"computed_torque": fields | {"limit": {speeds[0]: 5.0, speeds[1]: 2.0}}}}, PLANAR).at()
    assert [float(cut[f"c_{n}"]) for n in speeds] == [
        np.clip(float(free[f"c_{n}"]), -b, b) for n, b in zip(speeds, (5.0, 2.0), strict=True)
    ]
    assert any(abs(float(free[f"c_{n}"])) > 5.0 for n in speeds)


def test_a_controller_that_is_not_applied_only_tells():
    fields = {"reference": {x.name: 1.0 for x in PLANAR.q}, "kp": 4.0, "apply": False}
    blocks = Blocks({"c": {"computed_torque": fields}}, PLANAR)
    assert not blocks.parts.forces
    assert not blocks.parts.inputs
    assert len(blocks.parts.outputs) == 2


# -- the PD law of remark 6.8 ------------------------------------------------------------------------------------------


@given(plans(min_bodies=1, max_bodies=4, bases=("fixed",), kinds=HINGES, loads=("motor", "far_motor", "transmission")))
@settings(max_examples=20)
def test_the_lyapunov_function_of_the_pd_law_falls_as_its_rate_says(plan):
    mechanism = mechanism_of(plan)
    loads = {
        n: x.model_copy(update={k: 0.0 for k in type(x).model_fields if k.endswith(("friction", "damping"))})
        for n, x in mechanism.loads.items()
    }
    mechanism = mechanism.model_copy(update={"loads": type(mechanism.loads)(loads)})
    q, v, t = state(mechanism, plan.seed)
    names = [x.name for x in mechanism.q]
    kp, kd = ({n: a + k for k, n in enumerate(names)} for a in (5.0, 1.0))
    fields = {"target": {n: 0.2 * k for k, n in enumerate(names)}, "kp": kp, "kd": kd}
    blocks = Blocks({"c": {"pd_regulator": fields}}, mechanism)
    system = blocks.bench.system
    V = blocks.parts.outputs["c_lyapunov"].value
    seeds = dict(zip([*system.q, *system.v], blocks.rates, strict=True))
    outputs = [tangents([V], seeds)[0], blocks.parts.outputs["c_lyapunov_rate"].value, V]
    found, said, value = blocks.value(outputs, t, q, v)
    assert said <= 0.0 < value
    np.testing.assert_allclose(said, -sum((1.0 + k) * v[k] ** 2 for k in range(len(v))), rtol=1e-12)
    np.testing.assert_allclose(found, said, rtol=1e-8, atol=1e-8 * value)


def test_the_pd_law_brings_a_planar_arm_to_its_target_with_v_falling_all_the_way():
    fields = {"target": {PLANAR.q[0].name: 0.7, PLANAR.q[1].name: -0.4}, "kp": 60.0, "kd": 30.0}
    run = Blocks({"c": {"pd_regulator": fields}}, PLANAR, native=True).run(6.0, 0.005)
    V = run["c_lyapunov"]
    assert np.all(np.diff(V) <= 1e-12)
    assert V[-1] < 1e-3 * V[0]
    np.testing.assert_allclose(run["x"][-1, :2], [0.7, -0.4], atol=0.02)


def test_results_have_units():
    control = {"pd_regulator": {"target": {x.name: 0.7 for x in PLANAR.q}, "kp": 60.0, "kd": 30.0}}
    blocks = Blocks({"c": control, "p": {"pose": {"frame": "tool"}}}, PLANAR)
    units = {name: output.unit for name, output in blocks.parts.outputs.items()}
    assert units == {
        **{f"c_{x.name}": "N m" for x in PLANAR.v},
        **{"c_lyapunov": "J", "c_lyapunov_rate": "W"},
        **{"p_x": "m", "p_y": "m", "p_z": "m", "p_roll": "rad", "p_pitch": "rad", "p_yaw": "rad"},
    }


# -- control of a frame ------------------------------------------------------------------------------------------------

POSITION = {"x": "0.2*sin(t)", "y": "0.1*cos(2*t)", "z": "0.3 + 0.1*t"}


def wanted_position(t):
    r = np.array([0.2 * np.sin(t), 0.1 * np.cos(2 * t), 0.3 + 0.1 * t])
    rd = np.array([0.2 * np.cos(t), -0.2 * np.sin(2 * t), 0.1])
    return r, rd, np.array([-0.2 * np.sin(t), -0.4 * np.cos(2 * t), 0.0])


SENSORS = {
    "p": {"pose": {"frame": "tool"}},
    "v": {"velocity": {"frame": "tool", "axes": "world"}},
    "a": {"acceleration": {"frame": "tool", "axes": "world"}},
}


def chain(n, seed=0):
    """A serial arm in space, with a tool."""
    rng = np.random.default_rng(seed)
    bodies, parent = {}, "base"
    for k in range(n):
        place = {
            "mdh": {
                "alpha": ("pi/2", "-pi/2", 0.3)[k % 3],
                "d": float(rng.uniform(0.1, 0.5)),
                "r": float(rng.uniform(-0.2, 0.3)),
            }
        }
        inertia = {
            "mass": 2.0 - 0.2 * k,
            "centre": tuple(rng.uniform(-0.1, 0.1, 3).tolist()),
            "tensor": {"xx": 0.1, "yy": 0.2, "zz": 0.15},
        }
        joint = {"kind": "revolute", "coordinates": {f"q{k + 1}": {}}}
        bodies[f"b{k + 1}"] = {"parent": parent, "place": place, "joint": joint, "inertia": inertia}
        parent = f"b{k + 1}"
    bodies[parent]["frames"] = {"tool": {"place": {"pose": {"position": (0.1, 0.2, 0.3)}}}}
    loads = {"f": SpringDamper(damping=0.5, coordinate="q1")}
    return Mechanism.model_validate({"name": "chain", "bodies": bodies, "loads": loads})


@pytest.mark.parametrize("kind", ["operational_space", "resolved_acceleration"])
@pytest.mark.parametrize("n", [3, 6, 7])
@pytest.mark.parametrize("null", [0.0, 2.0])
def test_the_frame_gets_the_commanded_acceleration(kind, n, null):
    arm = chain(n, seed=n)
    q, v, t = state(arm, n)
    control = {kind: {"frame": "tool", "position": POSITION, "kp": 16.0, "kd": 5.0, "null_damping": null}}
    found = Blocks({"c": control} | SENSORS, arm).at(t, q, v)
    r, rd, rdd = wanted_position(t)
    x, V, a = (
        np.array([float(found[f"{s}_{key}{axis}"]) for axis in "xyz"]) for s, key in (("p", ""), ("v", "v"), ("a", "a"))
    )
    np.testing.assert_allclose(a, rdd + 5.0 * (rd - V) + 16.0 * (r - x), rtol=1e-8, atol=1e-8)
    assert float(found["c_rank"]) == 3


def test_redundant_arms_differ_in_how_they_share_the_motion():
    """The smallest accelerations belong to the pseudo-inverse, not to the weighting by inertia."""
    arm = chain(5, seed=2)
    q, v, t = state(arm, 2)
    both = {
        k: Blocks({"c": {k: {"frame": "tool", "position": POSITION, "kp": 4.0}}}, arm).accelerations(t, q, v)
        for k in ("operational_space", "resolved_acceleration")
    }
    assert np.linalg.norm(both["operational_space"]) > np.linalg.norm(both["resolved_acceleration"]) * 1.01


def far_from_singular(arm):
    """Of some random positions the one where the tool moves most easily in every direction."""
    q = np.random.default_rng(1).uniform(-1.5, 1.5, (200, len(arm.q)))
    bench = Workbench(arm)
    J = evaluate(Function("J", [bench.system.q], {"J": frame_jacobian(bench.tree, "tool")}), q)[0]
    return q[np.argmax(np.linalg.svd(J)[1][:, -1])]


@pytest.mark.parametrize("kind", ["operational_space", "resolved_acceleration"])
def test_the_frame_gets_the_commanded_angular_acceleration(kind):
    arm = chain(6, seed=6)
    q, v, t = far_from_singular(arm), np.linspace(-1, 1, 6), 0.4
    wanted = {"c": {kind: {"frame": "tool", "orientation": ["0.3*t", 0.0, 0.0], "kp": 9.0, "kd": 2.0}}}
    blocks = Blocks(wanted | SENSORS, arm)
    found = blocks.at(t, q, v)
    w, a = (np.array([float(found[f"{s}_{k}{axis}"]) for axis in "xyz"]) for s, k in (("v", "w"), ("a", "b")))
    R = np.array(blocks.value(blocks.context.kinematics.frame("tool").pose.R, t, q, v))
    c, s = np.cos(0.3 * t), np.sin(0.3 * t)
    R_r = np.array([[1, 0, 0], [0, c, -s], [0, s, c]])
    e = 0.5 * np.cross(R.T, R_r.T).sum(axis=0)
    np.testing.assert_allclose(a, 2.0 * (np.array([0.3, 0, 0]) - w) + 9.0 * e, rtol=1e-8, atol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["operational_space", "resolved_acceleration"])
def test_a_pose_is_reached_with_its_orientation(kind):
    arm = chain(6, seed=6)
    q0 = far_from_singular(arm)
    begin = Blocks(SENSORS, arm).at(q=q0)
    position = {axis: float(begin[f"p_{axis}"]) + 0.01 for axis in "xyz"}
    orientation = [f"{float(begin[f'p_{key}'])} + 0.03*sin({k}*t)" for k, key in enumerate(("roll", "pitch", "yaw"), 1)]
    control = {kind: {"frame": "tool", "position": position, "orientation": orientation, "kp": 25.0}}
    run = Blocks({"c": control} | SENSORS, arm, native=True).run(2.5, 0.01, q=q0)
    for axis in "xyz":
        assert abs(run[f"p_{axis}"][-1] - position[axis]) < 1e-3
    for k, key in enumerate(("roll", "pitch", "yaw"), 1):
        late = run["t"] > 2.0
        expected = float(begin[f"p_{key}"]) + 0.03 * np.sin(k * run["t"])
        np.testing.assert_allclose(run[f"p_{key}"][late], expected[late], atol=1e-4)


def test_part_of_the_directions_is_a_task_for_a_planar_arm():
    frame = "tool"
    q, v = np.array([0.5, 0.8]), np.array([0.3, -0.2])
    sensors = {
        name: {kind: fields | {"frame": frame} for kind, fields in given.items()} for name, given in SENSORS.items()
    }
    still = Blocks(sensors, PLANAR).at(q=q, v=v)
    moving = [axis for axis in "xyz" if abs(float(still[f"v_v{axis}"])) > 1e-12]
    position = dict.fromkeys(moving, "0.1*sin(t)")
    found = Blocks(
        {"c": {"operational_space": {"frame": frame, "position": position, "kp": 4.0}}} | sensors, PLANAR
    ).at(0.3, q, v)
    for axis in moving:
        a, V, x = (float(found[f"{s}_{k}{axis}"]) for s, k in (("a", "a"), ("v", "v"), ("p", "")))
        expected = -0.1 * np.sin(0.3) + 4.0 * (0.1 * np.cos(0.3) - V) + 4.0 * (0.1 * np.sin(0.3) - x)
        np.testing.assert_allclose(a, expected, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("n", [3, 5])
def test_resolved_rate_lets_the_error_fall_exponentially(n):
    arm = chain(n, seed=n)
    q = np.linspace(0.3, 0.9, n)
    begin = Blocks(SENSORS, arm).at(q=q)
    position = {axis: f"{float(begin[f'p_{axis}']) + 0.05} + 0.05*sin({k}*t)" for k, axis in enumerate("xyz", 1)}
    control = {"resolved_rate": {"frame": "tool", "position": position, "k": 2.0, "servo": 20.0}}
    blocks = Blocks({"c": control} | SENSORS, arm, native=True)
    now = blocks.at(q=q)
    v = np.array([float(now[f"c_speed_{x.name}"]) for x in arm.v])
    run = blocks.run(1.0, 0.01, q=q, v=v)
    for k, axis in enumerate("xyz", 1):
        e = float(begin[f"p_{axis}"]) + 0.05 + 0.05 * np.sin(k * run["t"]) - run[f"p_{axis}"]
        np.testing.assert_allclose(e, 0.05 * np.exp(-2.0 * run["t"]), atol=1e-6)


# -- vehicles that cannot slip sideways --------------------------------------------------------------------------------

TRACTOR = Mechanism.model_validate(
    {
        "name": "tractor_trailer",
        "base": {"kind": "planar", "inertia": {"M": 7500.0, "MX": 16500.0, "ZZ": 54300.0}, "frames": {"rear": {}}},
        "bodies": {
            "trailer": {
                "parent": "base",
                "place": {"pose": {"position": (0.5, 0, 0)}},
                "joint": {"kind": "revolute", "coordinates": {"Phi": {}}},
                "inertia": {"mass": 20000.0, "centre": (-5.1, 0, 0), "tensor": {"xx": 1e4, "yy": 2e5, "zz": 2.1e5}},
                "frames": {"axle": {"place": {"pose": {"position": (-8.1, 0, 0)}}}},
            },
            "wheel": {
                "parent": "base",
                "place": {"pose": {"position": (3.6, 0, 0)}},
                "joint": {"kind": "revolute", "coordinates": {"delta": {}}},
                "inertia": {"mass": 50.0, "centre": (0, 0, 0), "tensor": {"xx": 5.0, "yy": 5.0, "zz": 9.0}},
                "frames": {"ahead": {"place": {"pose": {"position": (2.0, 0, 0)}}}},
            },
        },
        "constraints": {
            "rear": {"no_side_slip": {"frame": "rear"}},
            "front": {"no_side_slip": {"frame": "wheel"}},
            "trailer": {"no_side_slip": {"frame": "axle"}},
        },
    }
)
LANES = {"x": "5.6 + 5*t", "y": "1.5*(1 - cos(0.4*t))"}


@pytest.mark.parametrize("kind", ["resolved_rate", "resolved_acceleration"])
def test_a_tractor_with_trailer_leads_a_point_ahead_of_its_wheel_along_a_path(kind):
    gains = {"k": 2.0, "servo": 10.0} if kind == "resolved_rate" else {"kp": 4.0}
    control = {kind: {"frame": "ahead", "position": LANES, "speeds": ["vx", "ddelta"]} | gains}
    sensors = {"p": {"pose": {"frame": "ahead"}}, "r": {"velocity": {"frame": "axle"}}}
    blocks = Blocks({"c": control} | sensors, TRACTOR, native=True)
    run = blocks.run(4.0, 0.01, q=[0.0, 0.3, 0.0, 0.0, 0.0], v=[5.0, 0, 0, 0, 0])
    t, late = run["t"], run["t"] > 3.0
    np.testing.assert_allclose(run["p_x"][late], (5.6 + 5 * t)[late], atol=0.01)
    np.testing.assert_allclose(run["p_y"][late], (1.5 * (1 - np.cos(0.4 * t)))[late], atol=0.01)
    assert np.abs(run["r_vy"]).max() < 1e-5  # the trailer's wheels do not slip
    assert set(blocks.parts.forces) == {"vx", "ddelta"}
    if kind == "resolved_rate":  # and the error falls as it should once the speeds are right
        e = np.abs((1.5 * (1 - np.cos(0.4 * t))) - run["p_y"])
        assert 1.7 < -np.polyfit(t[100:250], np.log(e[100:250]), 1)[0] < 2.3


# -- wrong -------------------------------------------------------------------------------------------------------------

WRONG = {
    "coordinate": ({"computed_torque": {"reference": {"q9": 0.0}, "kp": 1.0}}, r"no coordinate 'q9'(.|\n)*blocks.c"),
    "nothing": ({"computed_torque": {"reference": {}, "kp": 1.0}}, "without a reference"),
    "gain": ({"computed_torque": {"reference": {"q1": 0.0}, "kp": {"q2": 1.0}}}, "no kp for 'q1'"),
    "both": (
        {"computed_torque": {"reference": {"q1": 0.0}, "kp": 1.0, "inputs": ["u"], "speeds": ["dq1"]}},
        "not on both",
    ),
    "input": ({"computed_torque": {"reference": {"q1": 0.0}, "kp": 1.0, "inputs": ["w"]}}, "no input 'w'"),
    "speed": ({"computed_torque": {"reference": {"q1": 0.0}, "kp": 1.0, "speeds": ["dq9"]}}, "no speed 'dq9'"),
    "idle": ({"computed_torque": {"reference": {"q1": 0.0}, "kp": 1.0, "inputs": ["idle"]}}, "moves nothing"),
    "bent": ({"computed_torque": {"reference": {"q1": 0.0}, "kp": 1.0, "inputs": ["u"]}}, "in proportion"),
    "some": ({"pd_regulator": {"target": {"q1": 0.0}, "kp": 1.0, "kd": 1.0}}, "every coordinate"),
    "moving": ({"pd_regulator": {"target": {"q1": "t", "q2": 0}, "kp": 1.0, "kd": 1.0}}, "stay the same"),
    "task": ({"operational_space": {"frame": "b2", "kp": 1.0}}, "without position and orientation"),
    "frame": ({"operational_space": {"frame": "hand", "position": {"x": 0}, "kp": 1.0}}, r"no frame 'hand'"),
    "fixed": (
        {"operational_space": {"frame": "base", "position": {"x": 0}, "kp": 1.0}},
        "cannot move as the task asks",
    ),
    "feedback": ({"computed_torque": {"reference": {"q1": "dq2"}, "kp": 1.0}}, "rate of the reference is not known"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_with_a_controller_is_said(case):
    given, message = WRONG[case]
    arm = chain(2)
    loads = dict(arm.loads) | {"bent": Effort(coordinate="q1", value="u^2")}
    arm = Mechanism.model_validate(arm.model_dump() | {"loads": loads, "inputs": {"u": {}, "idle": {}}})
    with pytest.raises(ModelError, match=message):
        Blocks({"c": given}, arm)


def test_joints_without_a_speed_of_their_own_and_loops_have_their_own_messages():
    ball = mechanism_of(Plan("fixed", (BodyPlan("spherical", -1),)))
    with pytest.raises(ModelError, match="is not a speed"):
        Blocks({"c": {"computed_torque": {"reference": {ball.q[0].name: 1.0}, "kp": 1.0}}}, ball)
    loop = load(EXAMPLES / "four_bar" / "four_bar.yaml")
    with pytest.raises(ModelError, match="open chains"):
        Blocks({"c": {"operational_space": {"frame": "crank_rod", "position": {"x": 0}, "kp": 1.0}}}, loop)
