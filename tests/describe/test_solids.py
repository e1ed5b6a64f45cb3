"""Inertias of solids: those of many small masses that fill the shape, and of several solids that are one body."""

import math

import numpy as np
import pytest

import torseur as ts
from torseur.describe import Mechanism
from torseur.errors import ModelError
from torseur.formats.yaml.reader import read_yaml
from torseur.formats.yaml.writer import write_yaml

N = 60
GRID = (np.arange(N) + 0.5) / N


def box(a, b, c):
    x, y, z = np.meshgrid(a * (GRID - 0.5), b * (GRID - 0.5), c * (GRID - 0.5))
    return np.stack([x, y, z], -1).reshape(-1, 3)


def inside(points, shape):
    x, y, z = points.T
    r2 = x * x + y * y
    if "sphere" in shape:
        return r2 + z * z < shape["sphere"]["radius"] ** 2
    if "cone" in shape:
        h = shape["cone"]["length"]
        return np.sqrt(r2) < shape["cone"]["radius"] * (1 - z / h)
    form = shape.get("tube") or shape.get("cylinder")
    return (r2 < form["radius"] ** 2) & (r2 >= form.get("inner", 0.0) ** 2)


SHAPES = {
    "box": ({"box": {"size": (0.3, 0.5, 0.2)}}, 0.03, box(0.3, 0.5, 0.2)),
    "cylinder": ({"cylinder": {"radius": 0.2, "length": 0.5}}, math.pi * 0.02, box(0.4, 0.4, 0.5)),
    "tube": ({"tube": {"radius": 0.2, "inner": 0.12, "length": 0.5}}, math.pi * 0.0128, box(0.4, 0.4, 0.5)),
    "cone": ({"cone": {"radius": 0.2, "length": 0.6}}, math.pi * 0.008, box(0.4, 0.4, 0.6) + np.array([0, 0, 0.3])),
    "sphere": ({"sphere": {"radius": 0.2}}, 4 / 3 * math.pi * 0.008, box(0.4, 0.4, 0.4)),
}


def ten_of(inertia) -> np.ndarray:
    free = {"joint": "free", "inertia": inertia}
    return np.array(ts.build(Mechanism(name="m", bodies={"a": free})).function("standard_parameters")())


def ten_of_points(points, mass) -> np.ndarray:
    m = mass / len(points)
    x, y, z = points.T
    parts = [y * y + z * z, -x * y, -x * z, x * x + z * z, -y * z, x * x + y * y, x, y, z, np.ones_like(x)]
    return np.array([m * part.sum() for part in parts])


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("place", [{}, {"pose": {"position": (0.3, -0.1, 0.2), "rpy": (0.4, -0.7, 1.1)}}])
def test_a_solid_weighs_what_the_small_masses_in_it_do(name, place):
    shape, volume, points = SHAPES[name]
    points = points if name == "box" else points[inside(points, shape)]
    R, P = np.eye(3), np.zeros(3)
    if place:
        roll, pitch, yaw = place["pose"]["rpy"]
        R = turn(2, yaw) @ turn(1, pitch) @ turn(0, roll)
        P = np.array(place["pose"]["position"])
    expected = ten_of_points(points @ R.T + P, 800.0 * volume)
    found = ten_of({**shape, "density": 800.0, "place": place})
    assert found[-1] == pytest.approx(800.0 * volume, rel=1e-12)
    np.testing.assert_allclose(
        found, expected, atol=6e-3 * max(np.abs(expected[:6]).max(), np.abs(expected[6:9]).max())
    )
    by_mass = ten_of({**shape, "mass": 800.0 * volume, "place": place})
    np.testing.assert_allclose(by_mass, found, rtol=1e-12, atol=1e-12)


def turn(axis: int, angle: float) -> np.ndarray:
    a, b = (axis + 1) % 3, (axis + 2) % 3
    R = np.eye(3)
    R[a, a] = R[b, b] = math.cos(angle)
    R[a, b], R[b, a] = -math.sin(angle), math.sin(angle)
    return R


def test_several_solids_add_up_and_a_hole_takes_away():
    tube = {"tube": {"radius": 0.2, "inner": 0.1, "length": 0.4}, "density": 500.0}
    full = {"cylinder": {"radius": 0.2, "length": 0.4}, "density": 500.0}
    hole = {"cylinder": {"radius": 0.1, "length": 0.4}, "density": -500.0}
    np.testing.assert_allclose(ten_of({"solids": [full, hole]}), ten_of(tube), rtol=1e-12, atol=1e-12)


def test_the_fourth_solid_of_the_welding_arm_is_aluminium_and_a_motor():
    """Kanyiki & Ntambwe, equation 1 and tables 1 to 5: 86.67 kg, centre at 0.268 m, moments at the centre."""
    aluminium = {"box": {"size": (0.15, 0.35, 0.20)}, "density": 2700.0, "place": {"pose": {"position": (0, 0, 0.10)}}}
    motor = {"box": {"size": (0.15, 0.35, 0.30)}, "mass": 58.32, "place": {"pose": {"position": (0, 0, 0.35)}}}
    XX, _, _, YY, _, ZZ, _, _, MZ, M = ten_of({"solids": [aluminium, motor]})
    centre = MZ / M
    assert pytest.approx(86.67, abs=1e-9) == M
    assert centre == pytest.approx(0.2682, abs=5e-5)
    moments = sorted([XX - M * centre**2, YY - M * centre**2, ZZ])
    np.testing.assert_allclose(moments, sorted([1.8867, 2.6089, 1.0473]), rtol=2e-3)


TEXT = """
torseur: 1
name: arm
parameters: {l: 0.5, rho: 2700}
bodies:
  rod:
    joint: {kind: revolute, axis: y}
    inertia:
      solids:
        - {box: [l, 0.05, 0.1], density: rho, pose: [l/2, 0, 0]}
        - {sphere: 0.1, mass: 2, pose: [l, 0, 0]}
  disc:
    parent: rod
    pose: [l, 0, 0]
    joint: revolute
    inertia: {cylinder: {radius: 0.2, length: 0.02}, density: rho}
"""


def test_solids_come_back_equal_from_yaml_and_follow_parameters():
    mechanism = read_yaml(TEXT)
    assert read_yaml(write_yaml(mechanism)) == mechanism
    model = ts.build(mechanism)
    twice = model.mass_matrix([0.1, 0.2], parameters={"rho": 5400.0}) - model.mass_matrix([0.1, 0.2])
    once = model.mass_matrix([0.1, 0.2], parameters={"rho": 2700.0}) - model.mass_matrix(
        [0.1, 0.2], parameters={"rho": 0.0}
    )
    np.testing.assert_allclose(twice, once, rtol=1e-10)


@pytest.mark.parametrize("ending", [".par", ".urdf"])
def test_solids_are_converted(ending, tmp_path):
    mechanism = read_yaml(TEXT)
    ts.save(mechanism, tmp_path / f"arm{ending}")
    q, v, vdot = np.random.default_rng(1).normal(size=(3, 4, 2))
    found = [ts.build(m).inverse_dynamics(q, v, vdot) for m in (mechanism, ts.load(tmp_path / f"arm{ending}"))]
    np.testing.assert_allclose(found[1], found[0], rtol=1e-9)


@pytest.mark.parametrize(
    ("inertia", "what"),
    [
        ("{box: [1, 1, 1]}", "exactly one of density, mass"),
        ("{box: [1, 1, 1], mass: 1, density: 2}", "exactly one of density, mass"),
        ("{box: [1, 1, 1], sphere: 1, mass: 1}", "exactly one of box"),
        ("{density: 2}", "exactly one of box"),
        ("{box: [1, -1, 1], mass: 1}", "a size must be positive"),
        ("{tube: {radius: 0.1, inner: 0.2, length: 1}, mass: 1}", "wider than the tube"),
        ("{sphere: 1, density: -3}", "a negative mass"),
        ("{solids: []}", "solids"),
        ("{sphere: 1, density: rh}", "unknown name 'rh'"),
        ("{sphere: 1, density: 3, pose: [q_a, 0, 0]}", "q_a"),
    ],
)
def test_a_solid_that_cannot_be_is_told(inertia, what):
    with pytest.raises(ModelError) as told:
        read_yaml(f"torseur: 1\nname: m\nbodies: {{a: {{joint: revolute, inertia: {inertia}}}}}\n")
    assert what in str(told.value)
