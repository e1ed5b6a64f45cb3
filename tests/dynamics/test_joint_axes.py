"""A joint about any axis: the motion is that about z, seen from a frame turned to the axis."""

import numpy as np
import pytest

import torseur as ts
from support.sweeps import mostly_slow
from torseur.describe import Mechanism
from torseur.errors import ModelError
from torseur.formats.yaml.reader import read_yaml
from torseur.formats.yaml.writer import write_yaml

INERTIA = {"mass": 2.0, "centre": (0.1, -0.2, 0.3), "tensor": {"xx": 1.0, "yy": 1.5, "zz": 2.0, "xy": 0.1, "yz": -0.2}}
AXES = ["x", "y", "z", (-1, 0, 0), (0, -2, 0), (0, 0, -1), (1, 2, 3), (0.3, -0.4, -1), ("a", "2*a", 1)]


def arm(axis, kind: str = "revolute", **more) -> Mechanism:
    place = {"pose": {"position": (0.2, 0.1, -0.3), "rpy": (0.4, -0.2, 0.9)}}
    joint = {"kind": kind, "axis": axis, **more}
    bodies = {
        "one": {"place": place, "joint": joint, "inertia": INERTIA},
        "two": {
            "parent": "one",
            "place": place,
            "joint": joint,
            "inertia": INERTIA,
            "frames": {"tip": {"place": place}},
        },
    }
    return Mechanism(name="arm", parameters={"a": {"value": 0.5}}, bodies=bodies)


def direction(axis) -> np.ndarray:
    n = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1), ("a", "2*a", 1): (0.5, 1.0, 1.0)}.get(axis, axis)
    return np.array(n, dtype=float) / np.linalg.norm(n)


def rodrigues(n: np.ndarray, angle: float) -> np.ndarray:
    K = np.array([[0, -n[2], n[1]], [n[2], 0, -n[0]], [-n[1], n[0], 0]])
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


@pytest.mark.parametrize("axis", AXES)
def test_a_revolute_joint_turns_about_its_axis(axis):
    model = ts.build(arm(axis))
    still, turned = model.pose([0.0, 0.0], "one"), model.pose([0.7, 0.0], "one")
    np.testing.assert_allclose(turned[:3, :3], still[:3, :3] @ rodrigues(direction(axis), 0.7), atol=1e-14)
    np.testing.assert_allclose(turned[:3, 3], still[:3, 3], atol=1e-15)
    np.testing.assert_allclose(model.jacobian([0.7, 0.0], "one")[3:, 0], direction(axis), atol=1e-14)


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("kind", ["prismatic", "screw", "cylindrical"])
def test_a_slide_moves_along_its_axis(axis, kind):
    more = {"pitch": 0.2} if kind == "screw" else {}
    model = ts.build(arm(axis, kind, **more))
    q = np.zeros(model.nq)
    still = model.pose(q, "one")
    q[: model.nq // 2] = (0.3, 0.6)[: model.nq // 2]
    moved = still[:3, :3].T @ (model.pose(q, "one")[:3, 3] - still[:3, 3])
    expected = {"prismatic": 0.3, "screw": 0.06, "cylindrical": 0.6}[kind]
    np.testing.assert_allclose(moved, expected * direction(axis), atol=1e-14)


@pytest.mark.parametrize("axis", mostly_slow(AXES, quick=("x", (0, -2, 0), (0.3, -0.4, -1), ("a", "2*a", 1))))
def test_energies_and_forces_do_not_depend_on_how_the_axis_is_written(axis):
    """The same bodies with joints about z of frames that are turned by hand."""
    n = direction(axis)
    u = np.cross(n, [0.3, 0.5, -0.7])
    u /= np.linalg.norm(u)
    C = np.column_stack([u, np.cross(n, u), n])
    bodies = {}
    place = {"pose": {"position": (0.2, 0.1, -0.3), "rpy": (0.4, -0.2, 0.9)}}
    turn = {"pose": {"matrix": [[float(x) for x in row] for row in C]}}
    back = {"pose": {"matrix": [[float(x) for x in row] for row in C.T]}}
    parent = "base"
    for name in ("one", "two"):
        bodies |= {
            f"{name}_a": {"parent": parent, "place": place},
            f"{name}_b": {
                "parent": f"{name}_a",
                "place": turn,
                "joint": {"kind": "revolute", "coordinate": f"q_{name}"},
            },
            name: {"parent": f"{name}_b", "place": back, "inertia": INERTIA},
        }
        parent = name
    by_hand, ours = ts.build(Mechanism(name="m", bodies=bodies)), ts.build(arm(axis))
    q, v, vdot = np.random.default_rng(2).normal(size=(3, 4, 2))
    for function in ("inverse_dynamics", "forward_dynamics"):
        a, b = (getattr(model, function)(q, v, vdot) for model in (ours, by_hand))
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(ours.kinetic_energy(q, v), by_hand.kinetic_energy(q, v), rtol=1e-12)


def test_an_axis_costs_no_operations():
    about_z = {"pose": {"position": (0.2, 0.1, -0.3), "rpy": (0.0, np.pi / 2, 0.0)}}
    z = Mechanism(name="m", bodies={"one": {"place": about_z, "joint": "revolute", "inertia": {"ZZ": 1.0, "MX": 0.3}}})
    x = Mechanism(
        name="m",
        bodies={
            "one": {
                "place": {"pose": {"position": (0.2, 0.1, -0.3)}},
                "joint": {"kind": "revolute", "axis": "x"},
                "inertia": {"XX": 1.0, "MZ": -0.3},
            }
        },
    )
    counts = [ts.equations(m, "inverse_dynamics").count.total for m in (z, x)]
    assert counts[0] == counts[1]


def test_an_axis_is_kept_in_yaml_and_explained():
    text = "torseur: 1\nname: m\nbodies:\n  a:\n    joint: {kind: revolute, axis: AXIS}\n    inertia: {ZZ: 1, XX: 1}\n"
    for axis in ("x", "[0, 1, 1]", "[0, 1, 2*pi]"):
        mechanism = read_yaml(text.replace("AXIS", axis))
        assert read_yaml(write_yaml(mechanism)) == mechanism
    assert mechanism.q[0].meaning == "rotation about [0, 1, 2*pi], by the right-hand rule"


@pytest.mark.parametrize(
    ("joint", "what"),
    [
        ("{kind: spherical, axis: x}", "a spherical joint has no axis"),
        ("{kind: revolute, axis: [0, 0, 0]}", "a direction of zero length"),
        ("{kind: revolute, axis: w}", "'x', 'y' or 'z'"),
        ("{kind: revolute, axis: [1, q_a, 0]}", "q_a"),
    ],
)
def test_an_axis_that_cannot_be_is_told_with_its_line(joint, what):
    with pytest.raises(ModelError) as told:
        read_yaml(f"torseur: 1\nname: m\nbodies: {{a: {{joint: {joint}, inertia: {{ZZ: 1}}}}}}\n")
    assert what in str(told.value)
    assert "text:3:" in str(told.value)


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("ending", [".par", ".urdf"])
def test_joints_about_any_axis_are_converted(axis, ending, tmp_path):
    mechanism = arm(axis)
    ts.save(mechanism, tmp_path / f"arm{ending}")
    q, v, vdot = np.random.default_rng(2).normal(size=(3, 4, 2))
    found = [ts.build(m).inverse_dynamics(q, v, vdot) for m in (mechanism, ts.load(tmp_path / f"arm{ending}"))]
    np.testing.assert_allclose(found[1], found[0], rtol=1e-9, atol=1e-9)
