"""The arms of the examples are those of their documents."""

from pathlib import Path

import numpy as np
import pytest

from support.evaluated import assert_same
from support.example_files import Example, par_twin
from torseur.describe import Motor
from torseur.describe.fields import FrozenDict
from torseur.formats.cagem import read_mu

LISTINGS = Path(__file__).resolve().parent.parent / "data" / "cagem"
G = 9.81


def random_states(example: Example, count: int, seed: int = 0) -> list[np.ndarray]:
    """q, v, vdot about the start."""
    rng = np.random.default_rng(seed)
    n = len(example.mechanism.v)
    return [(example.start + rng.uniform(-1, 1, len(example.start)), *rng.uniform(-1, 1, (2, n))) for _ in range(count)]


def gaps(one: Example, other: Example, count: int = 5) -> list[float]:
    """How far two mechanisms with the same coordinates are apart in inverse dynamics, as a fraction."""
    found = []
    for state in random_states(one, count):
        a, b = one("inverse_dynamics", *state), other("inverse_dynamics", *state)
        found.append(float(np.max(np.abs(a - b)) / np.max(np.abs(a))))
    return found


# -- DeSantis, section 7 -----------------------------------------------------------------------------------------------
def test_the_inertia_matrix_of_the_2r_arm_is_the_corrected_d():
    """(7.22) with j1 and j2."""
    arm = Example("planar_2r")
    l1, l2, m1, m2, j1, j2 = (arm.numbers[name] for name in ("l1", "l2", "m1", "m2", "j1", "j2"))
    for q, _, _ in random_states(arm, 5):
        c2 = np.cos(q[1])
        d11 = m1 * l1**2 + m2 * (l1**2 + l2**2 + 2 * l1 * l2 * c2) + j1 + j2
        d12 = m2 * (l2**2 + l1 * l2 * c2) + j2
        assert_same(arm("mass_matrix", q), [[d11, d12], [d12, m2 * l2**2 + j2]])


def test_the_torques_of_the_2r_arm_are_the_corrected_ones():
    """(7.25) with its lost cos, and with j1 and j2."""
    arm = Example("planar_2r")
    l1, l2, m1, m2, j1, j2 = (arm.numbers[name] for name in ("l1", "l2", "m1", "m2", "j1", "j2"))
    for q, v, a in random_states(arm, 5):
        s2, c2, c1, c12 = np.sin(q[1]), np.cos(q[1]), np.cos(q[0]), np.cos(q[0] + q[1])
        first = m2 * l2**2 * (a[0] + a[1]) + m2 * l1 * l2 * c2 * (2 * a[0] + a[1]) + (m1 + m2) * l1**2 * a[0]
        first += -m2 * l1 * l2 * s2 * v[1] ** 2 - 2 * m2 * l1 * l2 * s2 * v[0] * v[1]
        first += (m1 + m2) * G * l1 * c1 + m2 * G * l2 * c12 + (j1 + j2) * a[0] + j2 * a[1]
        second = m2 * l1 * l2 * c2 * a[0] + m2 * l1 * l2 * s2 * v[0] ** 2 + m2 * l2**2 * (a[0] + a[1])
        second += m2 * G * l2 * c12 + j2 * (a[0] + a[1])
        assert_same(arm("inverse_dynamics", q, v, a), [first, second])


def test_the_tool_of_the_2r_arm_is_at_7_3():
    arm = Example("planar_2r")
    l1, l2 = arm.numbers["l1"], arm.numbers["l2"]
    q = np.array([0.3, -0.8])
    expected = [l1 * np.cos(q[0]) + l2 * np.cos(q.sum()), 0.0, l1 * np.sin(q[0]) + l2 * np.sin(q.sum())]
    assert_same(arm.place("tool", q), expected)


# -- the course, 3R ----------------------------------------------------------------------------------------------------
def test_the_inertia_matrix_of_the_3r_arm_comes_from_the_jacobians_of_the_slides():
    """Columns z x OG and z for each centre of mass; M = sum of m Jt'Jt + Jr'IJr, in world axes."""
    arm = Example("arm_3r")
    names = list(arm.mechanism.bodies)
    for q, _, _ in random_states(arm, 3):
        M = np.zeros((3, 3))
        for i, name in enumerate(names):
            record = arm.mechanism.bodies[name].inertia
            R, origin = arm.turn(name, q), arm.place(name, q)
            c = np.array([arm.number(x) for x in record.centre])
            tensor = np.diag([arm.number(getattr(record.tensor, k)) for k in ("xx", "yy", "zz")])
            Jt, Jr = np.zeros((3, 3)), np.zeros((3, 3))
            for j in range(i + 1):
                z, Oj = arm.turn(names[j], q)[:, 2], arm.place(names[j], q)
                Jt[:, j], Jr[:, j] = np.cross(z, origin + R @ c - Oj), z
            M += arm.number(record.mass) * Jt.T @ Jt + Jr.T @ R @ tensor @ R.T @ Jr
        assert_same(arm("mass_matrix", q), M)


def test_the_axes_of_the_3r_arm_are_vertical_and_twice_horizontal():
    arm = Example("arm_3r")
    q = np.array([0.4, 0.7, -0.2])
    z1, z2, z3 = (arm.turn(name, q)[:, 2] for name in arm.mechanism.bodies)
    assert_same(z1, [0, 0, 1])
    assert_same(z2, z3)
    assert abs(z2[2]) < 1e-12


# -- arms of the SYMORO family -----------------------------------------------------------------------------------------
LINKS = {j: f"link{j}" for j in range(1, 7)}
STANFORD = dict(enumerate(("waist", "shoulder", "boom", "wrist1", "wrist2", "hand"), 1))
SR400 = dict(enumerate(("column", "upper_arm", "elbow", "forearm", "wrist", "flange", "lever", "rod"), 1))


def test_the_rx90_is_the_par_file():
    """Torques of both with all loads: friction, drives, and the wrench at the last link."""
    arm = Example("rx90")
    twin = Example(par_twin(arm, "symoro/RX90", LINKS, arm.numbers | {"G3": -G}))
    assert list(twin.mechanism.inputs) == list(arm.mechanism.inputs)
    assert [x.name for x in twin.mechanism.q] == [x.name for x in arm.mechanism.q]
    rng = np.random.default_rng(1)
    for state in random_states(arm, 5):
        u = rng.uniform(-10, 10, len(arm.mechanism.inputs))
        assert_same(arm("inverse_dynamics", *state, u=u), twin("inverse_dynamics", *state, u=u))
        assert_same(arm("mass_matrix", state[0]), twin("mass_matrix", state[0]))


def test_all_inertial_parameters_of_the_rx90_count():
    """None is zero, so that operation counts are those of the general arm."""
    arm = Example("rx90")
    keys = ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "MX", "MY", "MZ", "M")
    assert all(arm.numbers[f"{key}{j}"] != 0 for key in keys for j in range(1, 7))


def test_the_stanford_arm_is_the_par_file():
    arm = Example("stanford")
    twin = Example(par_twin(arm, "symoro/Stanford", STANFORD, arm.numbers | {"G3": -G}))
    assert [x.name for x in twin.mechanism.q] == [x.name for x in arm.mechanism.q]
    assert max(gaps(arm, twin)) < 1e-12


def test_the_masses_of_the_stanford_arm_are_those_of_the_tables():
    arm = Example("stanford")
    masses = [arm.number(body.inertia.M) for body in arm.mechanism.bodies.values()]
    assert masses == [9.29, 5.01, 4.25, 1.08, 0.63, 0.51]
    assert_same(arm.place("tool", [0, 0, 0.6, 0, 0, 0]), [0, 0.154, 0.6 + 0.263])


def test_the_tree_of_the_sr400_is_the_par_file():
    arm = Example("sr400")
    twin = Example(par_twin(arm, "symoro/SR400", SR400, arm.numbers | {"G3": -G}))
    assert [x.name for x in twin.mechanism.q] == [x.name for x in arm.mechanism.q]
    assert max(gaps(arm, twin)) < 1e-12
    (loop,) = twin.mechanism.loops
    for q, _, _ in random_states(arm, 5):
        assert twin.gap(loop, q) == pytest.approx(arm.gap("parallelogram", q), rel=1e-12)


@pytest.mark.parametrize(("th2", "th3"), [(-1.6, 0.1), (-1.0, -0.5), (-2.0, 0.7)])
def test_the_parallelogram_of_the_sr400_closes_for_any_pose(th2, th3):
    q = np.array([0.3, th2, th3, 0.1, 0.2, 0.3, th2 + th3 + np.pi / 2, -th3 - np.pi / 2])
    assert Example("sr400").gap("parallelogram", q) < 1e-12


# -- Kanyiki and Ntambwe -----------------------------------------------------------------------------------------------
def poses_agree(one: Example, other: Example, pairs: dict[str, str], q: np.ndarray) -> None:
    for a, b in pairs.items():
        assert_same(one.pose(a, q), other.pose(b, q))


@pytest.mark.parametrize(
    ("listing", "name"),
    [("welder_cagem_printed_clean", "welding_arm_printed"), ("welder_cagem_spatial_rebuilt", "welding_arm_free_form")],
)
def test_the_free_form_arms_are_their_listings(listing, name):
    """Poses, masses, tensors, gravity and starts, body by body."""
    arm = Example(name)
    twin = Example(read_mu((LISTINGS / f"{listing}.mu").read_bytes(), listing))
    assert [arm.number(x) for x in arm.mechanism.gravity] == [twin.number(x) for x in twin.mechanism.gravity]
    assert_same(arm.start, twin.start)
    pairs = {f"S{k + 1}": f"body{k}" for k in range(7)}
    q = np.random.default_rng(2).uniform(-1, 1, 7)
    poses_agree(arm, twin, pairs, q)
    for a, b in pairs.items():
        one, other = arm.mechanism.bodies[a].inertia, twin.mechanism.bodies[b].inertia
        assert arm.number(one.mass) == twin.number(other.mass)
        for key in ("xx", "yy", "zz", "xy", "xz", "yz"):
            assert arm.number(getattr(one.tensor, key)) == twin.number(getattr(other.tensor, key))


def test_the_last_coordinate_of_the_printed_arm_moves_nothing():
    arm = Example("welding_arm_printed")
    q = np.random.default_rng(2).uniform(-1, 1, 7)
    moved = q + np.eye(7)[6]
    for body in arm.mechanism.bodies:
        np.testing.assert_array_equal(arm.pose(body, q), arm.pose(body, moved))


def test_the_tree_and_the_free_form_of_the_welding_arm_are_one_arm():
    """Centres of mass, masses, and tensors in world axes agree in every posture."""
    tree, free = Example("welding_arm"), Example("welding_arm_free_form")
    assert [x.name for x in tree.mechanism.q] == [x.name for x in free.mechanism.q]
    assert_same(tree.start, free.start)
    for seed in range(3):
        q = np.random.default_rng(seed).uniform(-2, 2, 7)
        for body in tree.mechanism.bodies:
            a, b = tree.mechanism.bodies[body].inertia, free.mechanism.bodies[body].inertia
            assert tree.number(a.mass) == free.number(b.mass)
            centre = np.array([tree.number(x) for x in a.centre])
            assert_same(tree.place(body, q) + tree.turn(body, q) @ centre, free.place(body, q))
            both = []
            for arm, record in ((tree, a), (free, b)):
                J = np.diag([arm.number(getattr(record.tensor, k)) for k in ("xx", "yy", "zz")])
                both.append(arm.turn(body, q) @ J @ arm.turn(body, q).T)
            assert_same(*both)


def test_the_poses_of_the_welding_arm_are_the_corrected_matrices():
    """[8] to [12]; the numbers of the matrices have three digits."""
    arm = Example("welding_arm_free_form")
    q = np.array([0.4, 0.3, 0.5, 0.2, 0.7, 0.35, -0.3])
    s1, c1, q2, q23, q234 = np.sin(q[0]), np.cos(q[0]), q[1], q[1] + q[2], q[1] + q[2] + q[3]
    reach = 0.8 * np.sin(q2) + 0.8 * np.sin(q23)
    height = 0.25 + 0.8 * np.cos(q2) + 0.8 * np.cos(q23)
    expected = {
        "S2": [0.431 * s1 * np.sin(q2), -0.431 * c1 * np.sin(q2), 0.25 + 0.431 * np.cos(q2)],
        "S4": [
            s1 * (reach + 0.268 * np.sin(q234)),
            -c1 * (reach + 0.268 * np.sin(q234)),
            height + 0.268 * np.cos(q234),
        ],
        "S5": [s1 * (reach + 0.7 * np.sin(q234)), -c1 * (reach + 0.7 * np.sin(q234)), height + 0.7 * np.cos(q234)],
    }
    for body, place in expected.items():
        np.testing.assert_allclose(arm.place(body, q), place, atol=1e-3)
    X5 = [
        np.cos(q[4]) * c1 - s1 * np.sin(q[4]) * np.cos(q234),
        s1 * np.cos(q[4]) + np.sin(q[4]) * c1 * np.cos(q234),
        np.sin(q[4]) * np.sin(q234),
    ]
    assert_same(arm.turn("S5", q)[:, 0], X5)
    assert_same(arm.place("S6", q) - arm.place("S5", q), 0.35 * np.array(X5))
    assert_same(arm.place("S7", q) - arm.place("S5", q), -0.3 * np.array(X5))


def test_the_motors_of_the_welding_arm_cannot_hold_it():
    """6441 N m with the arm stretched out level, against 350 of table 2."""
    arm = Example("welding_arm")
    level = arm.start + np.array([0, np.pi / 2, 0, 0, 0, 0, 0])
    torque = arm("inverse_dynamics", level, arm.rest, arm.rest)
    assert abs(torque[1]) == pytest.approx(6441, abs=1)
    limit = arm.mechanism.bodies["S2"].joint.coordinates["q2"].effort_limit
    assert limit == 350


def test_the_welding_arm_weighs_what_its_parts_weigh():
    assert Example("welding_arm").mass() == pytest.approx(46.23 + 2 * 129.195 + 86.67 + 62.37 + 2 * 29.7)


# -- Llibre, Mampey and Chretien ---------------------------------------------------------------------------------------
def without_motors(arm: Example) -> Example:
    return Example(arm.mechanism.model_copy(update={"loads": FrozenDict()}))


def test_a_rotor_adds_its_inertia_times_ratio_squared_and_couples_joints():
    """III.1: a_kk gains ratio^2 j; a_ik, i < k, gains ratio j (axis . z_i)."""
    arm = Example("motorised_6r")
    bare = without_motors(arm)
    names = list(arm.mechanism.bodies)
    motors = [load for load in arm.mechanism.loads.values() if isinstance(load, Motor)]
    for q, _, _ in random_states(arm, 3):
        gained = np.zeros((6, 6))
        for k, motor in enumerate(motors):
            carrier = names[k - 1] if k else "base"
            axis = arm.turn(carrier, q) @ np.array([arm.number(x) for x in motor.axis])
            axis = axis / np.linalg.norm(axis)
            ratio, j = arm.number(motor.ratio), arm.number(motor.inertia)
            gained[k, k] += ratio**2 * j
            for i in range(k):
                gained[i, k] = gained[k, i] = ratio * j * axis @ arm.turn(names[i], q)[:, 2]
        assert_same(arm("mass_matrix", q) - bare("mass_matrix", q), gained, tolerance=1e-9)


def test_no_rotor_is_parallel_to_its_joint_and_all_can_exist():
    arm = Example("motorised_6r")
    q = arm.start
    for k, load in enumerate(arm.mechanism.loads.values()):
        carrier, driven = ["base", *arm.mechanism.bodies][k], list(arm.mechanism.bodies)[k]
        axis = arm.turn(carrier, q) @ np.array([arm.number(x) for x in load.axis])
        assert np.linalg.norm(np.cross(axis, arm.turn(driven, q)[:, 2])) > 0.1
        assert arm.number(load.inertia_across) >= arm.number(load.inertia) / 2


def test_the_satellite_has_five_revolute_joints_and_a_last_slide():
    satellite = Example("satellite_arm")
    kinds = [body.joint.kind for body in satellite.mechanism.bodies.values()]
    assert kinds == ["revolute"] * 5 + ["prismatic"]
    assert satellite.mechanism.gravity == (0.0, 0.0, 0.0)
    assert satellite.mass() == pytest.approx(1259)


def test_the_motors_of_the_satellite_change_no_momentum():
    """Rates of momentum along the motion that internal torques cause: the seven quantities less the energy."""
    satellite = Example("satellite_arm")
    rng = np.random.default_rng(4)
    q, v = satellite.start, rng.uniform(-0.2, 0.2, 12)
    tau = np.concatenate([np.zeros(6), rng.uniform(-5, 5, 6)])
    vdot, dq, step = satellite("forward_dynamics", q, v, tau), satellite("rates", q, v), 1e-4
    ahead, behind = (satellite("momentum", q + s * dq, v + s * vdot) for s in (step, -step))
    scale = np.max(np.abs(satellite("momentum", q, v)))
    assert np.max(np.abs(ahead - behind)) / (2 * step) < 1e-6 * scale
