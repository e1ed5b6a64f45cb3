"""Writing URDF: what is read back moves and weighs the same; what cannot be written is named."""

import math
import xml.etree.ElementTree as ElementTree
from functools import reduce
from operator import add
from pathlib import Path

import numpy as np
import pytest

from support.urdf_by_hand import frame_poses, link_poses, lumps_of
from torseur.describe import (
    Base,
    Body,
    CentralInertia,
    Constraint,
    Coordinate,
    Coupling,
    Dh,
    Effort,
    Elementary,
    Formula,
    Frame,
    Joint,
    Loop,
    Mechanism,
    Parameter,
    Place,
    Prescribed,
    RigidPose,
    Shape,
    SpringDamper,
    StandardInertia,
    Tensor,
)
from torseur.errors import ModelError
from torseur.formats.urdf import read_urdf, write_urdf

DATA = Path(__file__).resolve().parents[2] / "data" / "urdf"


def again(mechanism: Mechanism) -> Mechanism:
    return read_urdf(write_urdf(mechanism).encode(), mechanism.name, "again.urdf")


def dh_arm() -> Mechanism:
    """Parameters, standard Denavit-Hartenberg rows, standard inertias: everything that URDF can hold."""
    inertia = StandardInertia(XX=2.0, XY=0.1, XZ=-0.2, YY=2.2, YZ=0.05, ZZ=2.4, MX=0.3, MY=-0.4, MZ=0.5, M=2.0)
    tensor = Tensor(xx=1, yy=2, zz=2.5, xy=0.1)
    central = CentralInertia(mass=1.5, centre=(0.1, 0.2, 0.3), tensor=tensor, rpy=(0.1, 0.2, 0.3))
    row = Place(dh=Dh(theta=0.3, d=Formula("l/2"), a=Formula("l"), alpha=Formula("-pi/2")))
    steps = Place(steps=(Elementary(rx=0.4), Elementary(ty=0.2), Elementary(rz=-1.0)))
    stops = Coordinate(lower=-1.0, upper=Formula("l"), speed_limit=3.0, effort_limit=40.0)
    bodies = {
        "upper": Body(place=row, joint=Joint(kind="revolute", coordinates={"q1": stops}), inertia=inertia),
        "lower": Body(parent="upper", place=row, joint=Joint(kind="revolute"), inertia=central),
        "slide": Body(parent="lower", place=steps, joint=Joint(kind="prismatic"), inertia=inertia),
        "plate": Body(parent="upper", place=row, frames={"tip": Frame(place=row)}),
        "puck": Body(parent="plate", joint=Joint(kind="planar"), inertia=inertia),
        "ball": Body(parent="plate", place=steps, joint=Joint(kind="free"), inertia=central),
    }
    return Mechanism(
        name="arm",
        parameters={"l": Parameter(value=0.5), "k": Parameter(value=Formula("4*l"))},
        base=Base(inertia=central, frames={"foot": Frame(place=Place(pose=RigidPose(position=(0, 0, -0.1))))}),
        bodies=bodies,
        constraints={"c": Constraint(coupling=Coupling(coordinate="q_lower", equals=Formula("-k*q1 + 1/4")))},
        loads={"d": SpringDamper(coordinate="q1", damping=Formula("k"), friction=0.1)},
    )


SAMPLES = {path.stem: read_urdf(path.read_bytes(), path.stem, path.name) for path in sorted(DATA.glob("*.urdf"))}
SAMPLES["arm"] = dh_arm()


@pytest.mark.parametrize("name", SAMPLES)
def test_what_is_read_back_moves_and_weighs_the_same(name):
    first = SAMPLES[name]
    second = again(first)
    rng = np.random.default_rng(11)
    q = {x.name: rng.uniform(-1, 1) for x in first.q if x.owner not in ("puck", "ball")}
    ours, theirs = frame_poses(first, q), frame_poses(second, q)
    offset = {"upper", "lower", "plate"} if name == "arm" else set()  # their frame is beyond their joint's
    for frame in set(ours) - offset:
        np.testing.assert_allclose(theirs[frame], ours[frame], atol=1e-12, err_msg=frame)
    one, two = (reduce(add, lumps_of(mechanism, q).values()) for mechanism in (first, second))
    assert two.mass == pytest.approx(one.mass)
    np.testing.assert_allclose(two.moment, one.moment, atol=1e-11)
    np.testing.assert_allclose(two.tensor, one.tensor, atol=1e-11)


@pytest.mark.parametrize("name", ["ur5", "tree24"])
def test_other_readers_see_the_same_links(name):
    q = {x.name: 0.1 * k for k, x in enumerate(SAMPLES[name].q)}
    ours, theirs = frame_poses(SAMPLES[name], q), link_poses(ElementTree.fromstring(write_urdf(SAMPLES[name])), q)
    for link, expected in theirs.items():
        np.testing.assert_allclose(ours[link], expected, atol=1e-12)


@pytest.mark.parametrize("name", ["ur5", "panda7"])
def test_a_file_that_was_read_is_written_without_loss(name):
    mechanism = SAMPLES[name]
    assert again(mechanism).model_copy(update={"notes": ()}) == mechanism.model_copy(update={"notes": ()})


def test_limits_losses_and_couplings_are_kept():
    second = again(dh_arm())
    q1 = second.bodies["upper"].joint.coordinates["q1"]
    assert (q1.lower, q1.upper, q1.speed_limit, q1.effort_limit) == (-1.0, 0.5, 3.0, 40.0)
    load = second.loads["losses_q1"]
    assert (load.coordinate, load.damping, load.friction) == ("q1", 2.0, 0.1)
    (constraint,) = second.constraints.values()
    assert constraint.coupling.coordinate == "q_lower"
    assert constraint.coupling.equals.value({"q1": 3.0}) == pytest.approx(-5.75)


def test_a_joint_without_stops_is_continuous_and_a_slide_has_far_ones():
    kinds = {name: body.joint.kind for name, body in again(dh_arm()).bodies.items()}
    assert kinds["lower"] == "revolute"
    text = write_urdf(dh_arm())
    assert '<joint name="q_lower" type="continuous">' in text
    assert '<limit lower="-1000000000.0" upper="1000000000.0"' in text


@pytest.mark.parametrize(("kind", "expected"), [("floating", "free"), ("planar", "planar"), ("carrier", "free")])
def test_a_base_that_moves_hangs_on_the_world(kind, expected):
    mechanism = Mechanism(name="m", base=Base(kind=kind), bodies={"a": Body(joint=Joint(kind="revolute"))})
    second = again(mechanism)
    assert second.bodies["base_2"].joint.kind == expected
    assert second.bodies["a"].parent == "base_2"


def test_shapes_and_colours_are_kept():
    shapes = [
        {"box": {"size": (1, 2, 3)}, "colour": "#ff8000"},
        {"cylinder": {"radius": 0.1, "length": 2}, "place": {"pose": {"position": (1, 2, 3), "rpy": (0.1, 0.2, 0.3)}}},
        {"sphere": {"radius": 0.3}},
        {"mesh": {"file": 'a "b" <c>.stl', "scale": (1, 1, 0.1)}},
    ]
    base = Base(shapes=tuple(Shape.model_validate(shape) for shape in shapes))
    found = again(Mechanism(name="m", base=base)).base.shapes
    assert [shape.colour for shape in found] == ["#ff8000", None, None, None]
    assert found[0].box == base.shapes[0].box
    assert found[1].cylinder == base.shapes[1].cylinder
    assert found[1].place.pose.rpy == pytest.approx((0.1, 0.2, 0.3))
    assert (found[2].sphere, found[3].mesh) == (base.shapes[2].sphere, base.shapes[3].mesh)


def test_right_angles_stay_exact():
    place = Place(pose=RigidPose(rpy=(math.pi / 2, -math.pi / 2, math.pi)))
    body = again(Mechanism(name="m", bodies={"a": Body(place=place)})).bodies["a"]
    assert all(angle % (math.pi / 2) == 0.0 for angle in body.place.pose.rpy)


def hinge(**more: object) -> Body:
    return Body(joint=Joint(kind="revolute"), **more)


def case(**parts: object) -> Mechanism:
    return Mechanism(name="m", **{"bodies": {"a": hinge(), "b": hinge(parent="a")}, **parts})


CANNOT = {
    "loops.l": case(loops={"l": Loop(between=("a", "b"))}),
    "coordinates.s": case(coordinates={"s": Coordinate(unit="m")}),
    "constraints.p": case(constraints={"p": Constraint(prescribed=Prescribed(coordinate="q_a", equals=Formula("t")))}),
    "constraints.c": case(constraints={"c": Constraint(coupling=Coupling(coordinate="q_a", equals=Formula("q_b^2")))}),
    "loads.e": case(loads={"e": Effort(coordinate="q_a", value=1.0)}),
    "loads.s": case(loads={"s": SpringDamper(coordinate="q_a", stiffness=1.0)}),
    "bodies.x.joint": case(bodies={"x": Body(joint=Joint(kind="spherical"))}),
    "bodies.x.place": case(bodies={"a": hinge(), "x": Body(place=Place(steps=(Elementary(rx=Formula("q_a")),)))}),
    "bodies.x": case(
        parameters={"m": Parameter(), "n": Parameter(value=Formula("2*m"))},
        bodies={"x": Body(inertia=CentralInertia(mass=Formula("n")))},
    ),
    "base.kind": case(base=Base(kind="moving")),
}


@pytest.mark.parametrize("where", CANNOT)
def test_what_cannot_be_held_is_named(where):
    with pytest.raises(ModelError) as caught:
        write_urdf(CANNOT[where])
    assert [fault.where for fault in (caught.value.faults or (caught.value,))] == [where]


def test_all_that_cannot_be_held_is_named_at_once():
    mechanism = case(loops={"l": Loop(between=("a", "b"))}, loads={"e": Effort(coordinate="q_a", value=1.0)})
    with pytest.raises(ModelError) as caught:
        write_urdf(mechanism)
    assert len(caught.value.faults) == 2


def test_names_are_escaped():
    text = write_urdf(Mechanism(name="m", title='a "b" <c> & \x01'))
    assert ElementTree.fromstring(text).get("name") == 'a "b" <c> &'
