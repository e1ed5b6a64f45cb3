"""URDF: what a file says is what the mechanism does."""

import math
import xml.etree.ElementTree as ElementTree
from functools import reduce
from operator import add
from pathlib import Path

import numpy as np
import pytest

from support.urdf_by_hand import frame_poses as poses
from support.urdf_by_hand import link_poses, lumps, lumps_of, turn
from torseur.describe import Effort, Formula, Mechanism
from torseur.dynamics.tree.system import System
from torseur.formats.urdf import read_urdf

DATA = Path(__file__).resolve().parents[2] / "data" / "urdf"
FILES = sorted(DATA.glob("*.urdf"))

MIXED = """<?xml version="1.0" encoding="utf-8"?>
<robot name="mixed">
  <material name="steel"><color rgba="0.5 0.5 1 1"/></material>
  <link name="pedestal">
    <inertial><origin xyz="0.1 0.2 0.3" rpy="0.3 0.2 0.1"/><mass value="20"/>
      <inertia ixx="1" ixy="0.1" ixz="0.2" iyy="2" iyz="0.3" izz="2.5"/></inertial>
  </link>
  {links}
  <joint name="j0" type="revolute"><parent link="pedestal"/><child link="l0"/>
    <origin xyz="0.1 0 0.5" rpy="0.2 -0.3 0.4"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="2" effort="30" velocity="4"/><dynamics damping="0.7" friction="0.2"/></joint>
  <joint name="j1" type="continuous"><parent link="l0"/><child link="l1"/>
    <origin xyz="0.3 0.1 0" rpy="1.57079632679 0 0"/><axis xyz="-1 0 0"/></joint>
  <joint name="j2" type="prismatic"><parent link="l1"/><child link="l2"/>
    <origin xyz="0 0.2 0.1" rpy="0.1 0.2 0.3"/><axis xyz="1 2 -3"/>
    <limit lower="0" upper="0.4" effort="100" velocity="1"/></joint>
  <joint name="j3" type="revolute"><parent link="l1"/><child link="l3"/><origin xyz="0 0.2 -0.4"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/><mimic joint="j1" multiplier="-2" offset="0.1"/></joint>
  <joint name="j4" type="fixed"><parent link="l3"/><child link="l4"/><origin xyz="0.2 0 0" rpy="0 0.5 0"/></joint>
  <joint name="j5" type="revolute"><parent link="l4"/><child link="l5"/><axis xyz="0 0 -1"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
  <joint name="j6" type="revolute"><parent link="l5"/><child link="l6"/><axis xyz="0.6 0 -0.8"/>
    <origin xyz="0.2 0 0.1" rpy="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
</robot>"""
LINK = """<link name="l{k}"><inertial><origin xyz="0.1 {k}e-1 -0.2" rpy="0.{k} 0.3 -0.4"/><mass value="{k}.5"/>
  <inertia ixx="0.5" ixy="0.01" ixz="-0.02" iyy="0.6" iyz="0.03" izz="0.7"/></inertial></link>"""
MIXED = MIXED.replace("{links}", "\n".join(LINK.replace("{k}", str(k)) for k in range(7)))


def read(text: str) -> Mechanism:
    return read_urdf(text.encode(), "robot", "robot.urdf")


def robot(*parts: str) -> str:
    return "<robot name='r'>\n" + "\n".join(parts) + "\n</robot>"


def two_links(joint: str, *more: str) -> str:
    """A robot of two links, a and b, with a joint between them."""
    ends = '<parent link="a"/><child link="b"/></joint>'
    return robot('<link name="a"/>', '<link name="b"/>', joint.replace("</joint>", ends), *more)


def total_mass(mechanism: Mechanism) -> float:
    records = [mechanism.base, *mechanism.bodies.values()]
    return sum(record.inertia.mass for record in records if record.inertia is not None)


SAMPLES = {path.stem: path.read_text() for path in FILES} | {"mixed": MIXED}


# -- geometry and mass -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", SAMPLES)
def test_every_link_frame_is_where_the_file_says(name):
    mechanism, root = read(SAMPLES[name]), ElementTree.fromstring(SAMPLES[name])
    rng = np.random.default_rng(7)
    for _ in range(3):
        q = {x.name: rng.uniform(-2, 2) for x in mechanism.q}
        ours, theirs = poses(mechanism, q), link_poses(root, q)
        assert set(theirs) <= set(ours)
        for link, expected in theirs.items():
            np.testing.assert_allclose(ours[link], expected, rtol=0, atol=2e-9, err_msg=link)


@pytest.mark.parametrize("name", SAMPLES)
def test_mass_centre_and_inertia_do_not_change_with_the_frames(name):
    mechanism, root = read(SAMPLES[name]), ElementTree.fromstring(SAMPLES[name])
    rng = np.random.default_rng(3)
    q = {x.name: rng.uniform(-2, 2) for x in mechanism.q}
    found = lumps_of(mechanism, q)
    expected = lumps(root, link_poses(root, q))
    assert len(found) == len(expected)
    ours, theirs = reduce(add, found.values()), reduce(add, expected.values())
    assert ours.mass == pytest.approx(theirs.mass)
    np.testing.assert_allclose(ours.moment, theirs.moment, atol=1e-7)
    np.testing.assert_allclose(ours.tensor, theirs.tensor, atol=1e-7)


FACTS = {  # joints, total mass with the root's 1 kg, angles snapped
    "chain12": (12, 32.794131, 0),
    "chain48": (48, 126.836765, 0),
    "panda7": (7, 17.822132, 6),
    "tree24": (24, 62.692048, 0),
    "ur5": (6, 17.9939, 2),
}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_facts_of_the_sample_files(path):
    mechanism = read_urdf(path.read_bytes(), path.stem, path.name)
    joints, mass, snapped = FACTS[path.stem]
    assert [x.name for x in mechanism.q] == [f"j{k}" for k in range(joints)]
    assert list(mechanism.bodies) == [f"l{k}" for k in range(joints)]
    assert total_mass(mechanism) == pytest.approx(mass, abs=1e-6)
    assert mechanism.base.inertia.mass == 1.0
    assert mechanism.base.inertia.tensor.xx == 1.0
    for k, body in enumerate(mechanism.bodies.values()):
        assert body.joint.kind == "revolute"
        stops = body.joint.coordinates[f"j{k}"]
        assert (stops.lower, stops.upper, stops.speed_limit, stops.effort_limit) == (-3.0, 3.0, 100.0, 1000.0)
    assert [note.split()[0] for note in mechanism.notes] == ([str(snapped)] if snapped else [])


def test_the_tree_of_the_sample_tree():
    mechanism = read(SAMPLES["tree24"])
    parents = {name: body.parent for name, body in mechanism.bodies.items()}
    assert [parents[f"l{k}"] for k in range(6)] == ["base", "l0", "l0", "l1", "l1", "l2"]


# -- angles ------------------------------------------------------------------------------------------------------------
def test_near_right_angles_become_exact_so_that_they_fold():
    body = read(SAMPLES["ur5"]).bodies["l1"]
    assert body.place.pose.rpy == (-math.pi / 2, math.pi / 2, 0.0)
    system = System(read(SAMPLES["ur5"]))
    R = system.before(body.place).R
    assert [[float(entry) for entry in row] for row in R] == [[0, -1, 0], [0, 0, 1], [-1, 0, 0]]


@pytest.mark.parametrize(
    ("text", "value", "note"),
    [
        ("1.5707963267948966", math.pi / 2, None),
        ("-3.14159265359", -math.pi, "1 angle within 1e-9 rad"),
        ("4e-10", 0.0, "1 angle within 1e-9 rad"),
        ("1.5708", 1.5708, "joint j 1.5708 (pi/2 = 1.5707963267948966)"),
        ("-3.1415", -3.1415, "joint j -3.1415 (-pi = -3.141592653589793)"),
        ("1.57", 1.57, "joint j 1.57 (pi/2"),
        ("1.6", 1.6, None),
        ("1.5701", 1.5701, None),
        ("0.01", 0.01, None),
    ],
)
def test_what_is_done_with_angles_that_look_right(text, value, note):
    mechanism = read(two_links(f'<joint name="j" type="fixed"><origin rpy="0 0 {text}"/></joint>'))
    place = mechanism.bodies["b"].place
    assert (place.pose.rpy[2] if place.pose else 0.0) == value
    assert len(mechanism.notes) == (note is not None)
    assert note is None or note in mechanism.notes[0]


@pytest.mark.parametrize("axis", ["1 0 0", "-1 0 0", "0 1 0", "0 -1 0", "0 0 -1", "1e-12 0 1", "0 2e-12 -4"])
def test_axes_along_x_y_z_are_taken_by_exact_quarter_turns(axis):
    mechanism = read(two_links(f'<joint name="j" type="continuous"><axis xyz="{axis}"/></joint>'))
    (body,) = mechanism.bodies.values()
    rpy = body.place.pose.rpy if body.place.pose else (0.0, 0.0, 0.0)
    assert all(angle % (math.pi / 2) == 0.0 for angle in rpy)
    wanted = np.array(axis.split(), dtype=float)
    q = poses(mechanism, {"j": 0.4})
    np.testing.assert_allclose(q["b"][:3, :3], turn(wanted, 0.4), atol=1e-11)
    assert any("taken as along it" in note for note in mechanism.notes) == ("e-12" in axis)


# -- joints ------------------------------------------------------------------------------------------------------------
def test_every_type_of_joint_has_its_kind():
    kinds = {}
    for kind in ("revolute", "continuous", "prismatic", "fixed", "floating", "planar"):
        mechanism = read(two_links(f'<joint name="j" type="{kind}"><axis xyz="0 0 1"/></joint>'))
        kinds[kind] = (mechanism.bodies["b"].joint.kind, [x.name for x in mechanism.q])
    assert kinds == {
        "revolute": ("revolute", ["j"]),
        "continuous": ("revolute", ["j"]),
        "prismatic": ("prismatic", ["j"]),
        "fixed": ("fixed", []),
        "floating": ("free", ["j_x", "j_y", "j_z", "j_qw", "j_qx", "j_qy", "j_qz"]),
        "planar": ("planar", ["j_x", "j_y", "j_yaw"]),
    }


def test_a_floating_joint_moves_as_a_free_body():
    mechanism = read(two_links('<joint name="j" type="floating"><origin xyz="1 2 3" rpy="0 0 0.5"/></joint>'))
    half = math.sqrt(0.5)
    T = poses(mechanism, {"j_x": 0.1, "j_y": 0.2, "j_z": 0.3, "j_qw": half, "j_qz": half})["b"]
    z = np.array([0.0, 0.0, 1.0])
    np.testing.assert_allclose(T[:3, :3], turn(z, 0.5 + math.pi / 2), atol=1e-15)
    np.testing.assert_allclose(T[:3, 3], [1, 2, 3] + turn(z, 0.5) @ [0.1, 0.2, 0.3])


@pytest.mark.parametrize("axis", ["0 0 1", "1 0 0", "1 -1 0.5"])
def test_a_planar_joint_moves_across_its_axis_and_turns_about_it(axis):
    mechanism = read(two_links(f'<joint name="j" type="planar"><axis xyz="{axis}"/></joint>'))
    n = np.array(axis.split(), dtype=float)
    n /= np.linalg.norm(n)
    T = poses(mechanism, {"j_x": 0.3, "j_y": -0.4, "j_yaw": 0.7})["b"]
    np.testing.assert_allclose(T[:3, :3], turn(n, 0.7), atol=1e-14)
    assert T[:3, 3] @ n == pytest.approx(0.0, abs=1e-14)
    assert np.linalg.norm(T[:3, 3]) == pytest.approx(0.5)


def test_the_axis_is_x_where_none_is_given():
    mechanism = read(two_links('<joint name="j" type="continuous"></joint>'))
    np.testing.assert_allclose(poses(mechanism, {"j": 0.3})["b"][:3, :3], turn(np.array([1.0, 0, 0]), 0.3), atol=1e-15)


def test_coordinates_are_explained_by_their_axes():
    meanings = {x.name: x.meaning for x in read(MIXED).q}
    assert meanings["j0"] == "rotation about y, by the right-hand rule"
    assert meanings["j1"] == "rotation about [-1, 0, 0], by the right-hand rule"
    assert meanings["j2"] == "translation along [0.267261, 0.534522, -0.801784]"


def test_links_keep_their_names_whatever_their_axes():
    mechanism = read(MIXED)
    assert all(name == link for name, link in mechanism.frames.items() if name not in ("base", "pedestal"))
    assert mechanism.bodies["l0"].joint.axis == "y"
    assert mechanism.bodies["l1"].joint.axis == (-1.0, 0.0, 0.0)


def test_limits_of_each_sort():
    mechanism = read(MIXED)
    j0, j1 = mechanism.bodies["l0"].joint.coordinates["j0"], mechanism.bodies["l1"].joint.coordinates["j1"]
    assert (j0.lower, j0.upper, j0.speed_limit, j0.effort_limit) == (-1.0, 2.0, 4.0, 30.0)
    assert (j1.lower, j1.upper, j1.speed_limit, j1.effort_limit) == (None, None, None, None)

    limit = '<limit lower="-1" upper="1" effort="2" velocity="0"/>'
    turning = read(two_links(f'<joint name="j" type="continuous"><axis xyz="0 0 1"/>{limit}</joint>'))
    j = turning.bodies["b"].joint.coordinates["j"]
    assert (j.lower, j.upper, j.speed_limit, j.effort_limit) == (None, None, 0.0, 2.0)
    assert {note.partition(":")[0] for note in turning.notes} == {
        "stops of continuous joints, left out",
        "limits of velocity or effort that are 0, kept as they are",
    }

    half = read(two_links('<joint name="j" type="prismatic"><axis xyz="0 0 1"/><limit upper="1"/></joint>'))
    j = half.bodies["b"].joint.coordinates["j"]
    assert (j.lower, j.upper, j.speed_limit) == (0.0, 1.0, None)


def test_mimic_is_a_coupling():
    constraint = read(MIXED).constraints["mimic_j3"].coupling
    assert constraint.coordinate == "j3"
    assert constraint.equals.value({"j1": 3.0}) == pytest.approx(-5.9)
    plain = read(
        two_links(
            '<joint name="j" type="continuous"></joint>',
            '<link name="c"/>',
            '<joint name="k" type="continuous"><parent link="b"/><child link="c"/><mimic joint="j"/></joint>',
        )
    )
    assert str(plain.constraints["mimic_k"].coupling.equals) == "j"


def test_damping_and_friction_are_a_load():
    assert [name for name in read(MIXED).loads if name.startswith("losses")] == ["losses_j0"]
    load = read(MIXED).loads["losses_j0"]
    assert (load.coordinate, load.damping, load.friction, load.stiffness) == ("j0", 0.7, 0.2, 0.0)


def test_a_joint_with_an_effort_is_driven_by_an_input():
    joint = (
        '<joint name="j" type="{}"><axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="{}" velocity="1"/></joint>'
    )
    driven = read(two_links(joint.format("revolute", 3)))
    assert driven.loads["effort_j"] == Effort(coordinate="j", value=Formula("tau_j"))
    assert driven.inputs["tau_j"].unit == "N m"
    assert read(two_links(joint.format("prismatic", 3))).inputs["tau_j"].unit == "N"
    passive = read(two_links(joint.format("revolute", 0)))
    assert (dict(passive.loads), dict(passive.inputs)) == ({}, {})


def test_the_order_of_coordinates_is_that_of_the_joints():
    links = [f'<link name="{name}"/>' for name in "abcd"]
    pairs = [("k3", "c", "d"), ("k1", "a", "b"), ("k2", "b", "c")]
    joints = [
        f'<joint name="{j}" type="continuous"><parent link="{p}"/><child link="{c}"/></joint>' for j, p, c in pairs
    ]
    assert [x.name for x in read(robot(*links, *joints)).q] == ["k3", "k1", "k2"]


# -- links -------------------------------------------------------------------------------------------------------------
SHAPES = """<link name="a">
  <visual><origin xyz="0 0 1" rpy="0 0 0.5"/><geometry><box size="1 2 3"/></geometry><material name="red"/></visual>
  <visual><geometry><cylinder radius="0.1" length="0.4"/></geometry>
    <material name="own"><color rgba="0 1 0 0.5"/></material></visual>
  <visual><geometry><sphere radius="0.2"/></geometry><material name="missing"/></visual>
  <visual><geometry><mesh filename="package://arm/../../etc/passwd" scale="1 1 0.001"/></geometry></visual>
  <visual><geometry><capsule radius="1" length="2"/></geometry></visual>
  <collision><geometry><box size="1 1 1"/></geometry></collision>
</link><material name="red"><color rgba="1 0 0 1"/></material>"""


def test_shapes_and_colours():
    mechanism = read(robot(SHAPES))
    box, cylinder, sphere, mesh = mechanism.base.shapes
    assert box.box.size == (1.0, 2.0, 3.0)
    assert box.colour == "#ff0000"
    assert box.place.pose.position == (0.0, 0.0, 1.0)
    assert box.place.pose.rpy == (0.0, 0.0, 0.5)
    assert (cylinder.cylinder.radius, cylinder.cylinder.length, cylinder.colour) == (0.1, 0.4, "#00ff00")
    assert (sphere.sphere.radius, sphere.colour) == (0.2, None)
    assert (mesh.mesh.file, mesh.mesh.scale) == ("package://arm/../../etc/passwd", (1.0, 1.0, 0.001))
    notes = "\n".join(mechanism.notes)
    for text in ("<collision> (1)", "<capsule>", "materials without a colour: 'missing'", "transparency"):
        assert text in notes


def test_shapes_keep_their_place_whatever_the_axis():
    visual = '<visual><origin xyz="0.1 0.2 0.3" rpy="0.4 0.5 0.6"/><geometry><sphere radius="1"/></geometry></visual>'
    joint = '<joint name="j" type="continuous"><parent link="a"/><child link="b"/><axis xyz="1 2 3"/></joint>'
    mechanism = read(robot('<link name="a"/>', f'<link name="b">{visual}</link>', joint))
    own = System(mechanism).place(mechanism.bodies["b"].shapes[0].place)
    expected = np.eye(4)
    x, y, z = np.eye(3)
    expected[:3, :3] = turn(z, 0.6) @ turn(y, 0.5) @ turn(x, 0.4)
    expected[:3, 3] = 0.1, 0.2, 0.3
    np.testing.assert_allclose([[float(e) for e in row] for row in own.matrix()], expected, atol=1e-15)


def test_the_root_is_the_base_and_keeps_its_name_as_a_frame():
    mechanism = read(MIXED)
    assert mechanism.base.inertia.mass == 20.0
    assert mechanism.base.inertia.rpy == (0.3, 0.2, 0.1)
    assert mechanism.frames["pedestal"] == "base"


def test_links_without_mass_are_massless_bodies():
    zero = '<inertial><mass value="0"/><inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/></inertial>'
    mechanism = read(robot(f'<link name="a">{zero}</link>'))
    assert mechanism.base.inertia is None


# -- names -------------------------------------------------------------------------------------------------------------
def test_names_that_ours_cannot_be_are_changed_and_said():
    text = robot(
        *(f'<link name="{name}"/>' for name in ("world", "base", "left-hand", "left.hand", "1st", "pi")),
        *(
            f'<joint name="{joint}" type="{kind}"><parent link="world"/><child link="{child}"/></joint>'
            for joint, kind, child in (
                ("q", "continuous", "base"),
                ("dq", "continuous", "left-hand"),
                ("t", "continuous", "left.hand"),
                ("left_hand_vx", "continuous", "1st"),
                ("é", "floating", "pi"),
            )
        ),
    )
    mechanism = read(text)
    assert [x.name for x in mechanism.q][:4] == ["q", "dq_2", "t_2", "left_hand_vx"]
    names = [x.name for x in (*mechanism.q, *mechanism.v)]
    assert len(set(names)) == len(names)
    assert set(mechanism.frames) >= {"world", "base", "base_2", "left_hand", "left_hand_2", "_1st", "pi_2"}
    assert "'left.hand' is left_hand_2" in mechanism.notes[-1]
    System(mechanism)


def test_the_speeds_of_a_floating_body_never_clash():
    joint = '<joint name="b_vx" type="continuous"><parent link="b"/><child link="c"/></joint>'
    mechanism = read(two_links('<joint name="f" type="floating"></joint>', '<link name="c"/>', joint))
    names = [x.name for x in (*mechanism.q, *mechanism.v)]
    assert len(set(names)) == len(names)


def test_the_name_in_the_file_is_the_title():
    assert (read(MIXED).name, read(MIXED).title) == ("robot", "mixed")
    assert read_urdf(MIXED.encode(), "mixed", "mixed.urdf").title is None
    assert read_urdf(MIXED.encode(), "my arm-2", "x").name == "my_arm_2"


# -- notes -------------------------------------------------------------------------------------------------------------
def test_what_is_not_understood_is_noted_with_a_suggestion():
    text = two_links(
        '<joint name="j" type="continuous" typ="x"><axes xyz="0 0 1"/></joint>', '<gazebo a="${b}"/>', "<n/>"
    )
    notes = "\n".join(read(text).notes)
    assert "left out: <axes> (did you mean 'axis'?): joint j (line 4)" in notes
    assert "attribute 'typ' of <joint> (did you mean 'type'?)" in notes
    assert "<gazebo> (1)" in notes
    assert "<n>" in notes
