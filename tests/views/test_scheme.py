"""Kinematic schemes: everything is named, nothing lies on another label, and what is drawn is where it is."""

import math
import xml.etree.ElementTree as ElementTree
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from support.example_files import FILES as EXAMPLES
from torseur.describe import (
    Base,
    Body,
    Constraint,
    Coordinate,
    Coupling,
    Dh,
    Elementary,
    Formula,
    Frame,
    Joint,
    Loop,
    Mdh,
    Mechanism,
    NoSideSlip,
    Parameter,
    Place,
    RigidPose,
    Rolling,
)
from torseur.dynamics.tree.system import System
from torseur.errors import ArgumentError, NumericalError
from torseur.formats import load
from torseur.model import build
from torseur.spatial.joints import KINDS
from torseur.views.scheme import Picture, draw_scheme
from torseur.views.scheme.routes import best_view, laid_out, routed
from torseur.views.skeleton import Skeleton, skeleton_of
from torseur.views.values import assembled, values_for

DATA = Path(__file__).resolve().parent.parent / "data"
FILES = [path for folder in ("symoro", "par", "urdf", "cagem") for path in sorted((DATA / folder).iterdir())]
FILES += EXAMPLES.values()


def at(x: float, y: float, z: float, rpy: tuple[float, float, float] | None = None) -> Place:
    return Place(pose=RigidPose(position=(x, y, z), rpy=rpy))


def hinge(name: str, start: float | None = None) -> Joint:
    return Joint(kind="revolute", coordinates={name: Coordinate(start=start)})


def zoo() -> Mechanism:
    """A chain of every kind of joint, with a welded bracket and a tool."""
    bodies, parent = {}, "base"
    for k, kind in enumerate(KINDS):
        joint = Joint(kind=kind, pitch=0.01 if kind == "screw" else None)
        bodies[f"arm_{kind}"] = Body(parent=parent, place=at(0.3, 0.0, 0.1 * (k % 2), (0.3 * k, 0.2, 0.1)), joint=joint)
        parent = f"arm_{kind}"
    bodies["bracket"] = Body(
        parent="arm_screw", place=at(0.0, 0.3, 0.0), frames={"tool": Frame(place=at(0.1, 0.1, 0.1))}
    )
    return Mechanism(name="zoo", title="every kind & <more>", bodies=bodies)


def four_bar() -> Mechanism:
    return Mechanism(
        name="four_bar",
        bodies={
            "crank": Body(joint=hinge("q1", 1.2)),
            "coupler": Body(
                parent="crank", place=at(0.2, 0, 0), joint=hinge("q2"), frames={"C": Frame(place=at(0.5, 0, 0))}
            ),
            "rocker": Body(place=at(0.45, 0, 0), joint=hinge("q3", 1.5), frames={"D": Frame(place=at(0.4, 0, 0))}),
        },
        loops={"closing": Loop(between=("C", "D"))},
    )


def flyer() -> Mechanism:
    rotors = {f"rotor{k}": Body(place=at(0.2 * (-1) ** k, 0.2 * (k // 2), 0.1), joint=hinge(f"a{k}")) for k in range(4)}
    return Mechanism(name="flyer", base=Base(kind="floating"), bodies=rotors)


def cart() -> Mechanism:
    """A planar vehicle with a wheel that rolls and an edge."""
    return Mechanism(
        name="cart",
        base=Base(kind="planar", frames={"rear": Frame(place=at(-0.5, 0, 0))}),
        bodies={"wheel": Body(place=at(0.5, 0, 0.2, (-math.pi / 2, 0, 0)), joint=hinge("spin"))},
        constraints={
            "roll": Constraint(rolling=Rolling(wheel="wheel", radius=0.2)),
            "edge": Constraint(no_side_slip=NoSideSlip(frame="rear")),
        },
    )


MODELS = {model.name: model for model in (zoo(), four_bar(), flyer(), cart(), Mechanism(name="nothing"))}


def model(name: str) -> Mechanism:
    path = next((path for path in FILES if path.stem == name), None)
    return MODELS[name] if path is None else load(path)


SAMPLES = [*MODELS, *(path.stem for path in FILES)]


@cache
def picture_of(name: str) -> Picture:
    return draw_scheme(model(name))


def words_in(svg: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


def skeleton(mechanism: Mechanism, **pose: float) -> Skeleton:
    return skeleton_of(assembled(values_for(System(mechanism), pose, {})))


# -- the picture -------------------------------------------------------------------------------------------------------
@pytest.mark.slow
@pytest.mark.parametrize("name", SAMPLES)
def test_every_body_frame_joint_and_loop_is_named(name):
    mechanism = model(name)
    text = " ".join(words_in(picture_of(name).svg)).replace(",", " ").replace(":", " ").split()
    wanted = {*mechanism.bodies, *mechanism.loops, *mechanism.base.frames}
    wanted |= {frame for body in mechanism.bodies.values() for frame in body.frames}
    assert wanted <= set(text)
    for x in mechanism.q:
        ending = x.name.rpartition("_")[2]
        assert any(x.name in word or ending == word for word in text), x.name


@pytest.mark.parametrize("name", SAMPLES)
def test_no_two_labels_overlap_and_all_are_on_the_sheet(name):
    picture = picture_of(name)
    root = ElementTree.fromstring(picture.svg)
    width, height = float(root.get("width")), float(root.get("height"))
    boxes = [placed.box for placed in picture.labels]
    for k, (left, top, right, bottom) in enumerate(boxes):
        assert 0.0 <= left < right <= width
        assert 0.0 <= top < bottom <= height
        for other in boxes[k + 1 :]:
            apart = right <= other[0] or other[2] <= left or bottom <= other[1] or other[3] <= top
            assert apart, (picture.labels[k].label.words, other)


@pytest.mark.parametrize("name", ["SR400", "tree24", "zoo"])
def test_the_same_mechanism_gives_the_same_picture(name):
    assert draw_scheme(model(name)).svg == picture_of(name).svg


@pytest.mark.parametrize("name", SAMPLES)
def test_the_picture_holds_no_number_that_is_none(name):
    svg = picture_of(name).svg
    assert "nan" not in svg
    assert "inf" not in svg.replace("info", "")


def test_titles_are_escaped():
    assert "zoo: every kind & <more>" in words_in(draw_scheme(zoo()).svg)


# -- where things are --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["RX90", "Stanford", "tree24", "panda7", "zoo"])
def test_symbols_stand_on_their_axes_and_lines_lead_to_them(name):
    mechanism = model(name)
    found = skeleton(mechanism)
    view = best_view(found, mechanism)
    layout = laid_out(found, view, "", [])
    routing = routed(found, view, 3.1 * layout.pen.unit / layout.pen.scale)
    for joint, symbol in zip(found.joints, routing.symbols, strict=True):
        off = symbol - joint.b[:3, 3]
        along = joint.direction if joint.freedoms.has_axis else np.zeros(3)
        np.testing.assert_allclose(off - (off @ along) * along, 0.0, atol=1e-9)
    ends = {id(joint): symbol for joint, symbol in zip(found.joints, routing.symbols, strict=True)}
    for route in routing.routes:
        carrier = found.links[route.link].carrier
        if carrier is not None:
            np.testing.assert_allclose(route.points[0], ends[id(carrier)], atol=1e-12)
        if route.path.joint is not None:
            np.testing.assert_allclose(route.points[-1], ends[id(route.path.joint)], atol=1e-12)


PLACES = {
    "mdh": Place(mdh=Mdh(gamma=0.1, b=0.2, alpha=0.3, d=0.4, theta=0.5, r=0.6)),
    "dh": Place(dh=Dh(theta=0.1, d=0.2, a=0.3, alpha=0.4)),
    "pose": at(0.1, 0.2, 0.3, (0.4, 0.5, 0.6)),
    "steps": Place(steps=(Elementary(rx=0.1), Elementary(ty=0.2), Elementary(rz=0.3))),
}


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_bodies_and_frames_are_drawn_where_they_are_however_their_place_is_written(place):
    body = Body(place=place, joint=hinge("q"), frames={"tool": Frame(place=place)})
    mechanism = Mechanism(name="one", bodies={"arm": body})
    found = skeleton(mechanism, q=0.7)
    ends = {path.name: path.pose for link in found.links for path in link.paths if path.name}
    model = build(mechanism)
    for name in ("arm", "tool"):
        pose = ends[name].copy()
        pose[:3, 3] *= found.size
        np.testing.assert_allclose(pose, model.pose([0.7], name), atol=1e-12)


def test_joints_of_a_wrist_are_drawn_apart():
    mechanism = model("RX90")
    found = skeleton(mechanism)
    view = best_view(found, mechanism)
    symbols = view.flat(routed(found, view, 0.05).symbols)
    apart = np.linalg.norm(symbols[:, None] - symbols[None], axis=-1) + np.eye(len(symbols))
    assert apart.min() > 0.04


def test_a_planar_mechanism_is_seen_face_on_and_turns_left():
    found = skeleton(four_bar())
    view = best_view(found, four_bar())
    assert view.planar
    for joint in found.joints:
        np.testing.assert_allclose(joint.direction, view.eye, atol=1e-12)
    np.testing.assert_allclose(view.flat(np.eye(3)), [[1, 0], [0, 1], [0, 0]], atol=1e-12)


def test_the_arrow_of_an_angle_turns_as_the_angle_does():
    found = skeleton(four_bar())
    pen = laid_out(found, best_view(found, four_bar()), "", []).pen
    arc = pen.ring(np.zeros(2), np.array([0.0, 0.0, 1.0]), 10.0, 0.0, 1.0)
    (x0, y0), (x1, y1) = arc[0], arc[-1]
    assert x0 * -y1 - x1 * -y0 > 0.0  # y of a sheet points down


def test_gravity_points_down_in_the_picture():
    mechanism = zoo().model_copy(update={"gravity": (0.0, 9.81, 0.0)})
    view = best_view(skeleton(mechanism), mechanism)
    assert view.up @ [0.0, -1.0, 0.0] > 0.7


def test_distinct_points_stay_apart():
    for name in ("ur5", "tree24", "chain12"):
        mechanism = model(name)
        found = skeleton(mechanism)
        flat = best_view(found, mechanism).flat(np.array([joint.a[:3, 3] for joint in found.joints]))
        apart = np.linalg.norm(flat[:, None] - flat[None], axis=-1) + np.eye(len(flat))
        assert apart.min() > 0.005


# -- loops and couplings -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("mechanism", [four_bar(), load(DATA / "symoro" / "SR400.par")], ids=lambda m: m.name)
def test_loops_are_drawn_closed(mechanism):
    cuts = [joint for joint in skeleton(mechanism).joints if joint.cut]
    assert cuts
    for joint in cuts:
        np.testing.assert_allclose(joint.a[:3, 3], joint.b[:3, 3], atol=1e-6)


def test_what_is_asked_for_stays_where_it_was_asked():
    values = assembled(values_for(System(four_bar()), {"q1": 0.9}, {}))
    assert values.q[0] == 0.9
    assert not any("do not close" in note for note in values.notes)


def test_a_loop_that_cannot_close_is_drawn_with_its_gap():
    picture = draw_scheme(four_bar(), pose={"q1": 0.0, "q2": 0.0, "q3": 0.0})
    assert any("do not close" in note for note in picture.notes)


def test_couplings_hold_in_the_picture():
    bodies = {"a": Body(joint=hinge("q1", 0.4)), "b": Body(parent="a", place=at(1, 0, 0), joint=hinge("q2"))}
    coupling = Constraint(coupling=Coupling(coordinate="q2", equals=Formula("2*q1 + 0.1")))
    mechanism = Mechanism(name="m", bodies=bodies, constraints={"c": coupling})
    q = assembled(values_for(System(mechanism), {"q1": 0.4}, {})).q
    assert q[1] == pytest.approx(0.9)


# -- free-form kinematics ----------------------------------------------------------------------------------------------
def test_bodies_of_a_free_form_system_share_the_steps_they_begin_with():
    found = skeleton(load(DATA / "cagem" / "welder_cagem_spatial_rebuilt.mu"))
    assert [joint.labels for joint in found.joints] == [(f"q{k}",) for k in range(7)]
    assert [joint.freedoms.is_revolute for joint in found.joints] == [True] * 5 + [False] * 2
    assert [joint.freedoms.is_prismatic for joint in found.joints] == [False] * 5 + [True] * 2
    assert [joint.parent for joint in found.joints] == [0, 1, 2, 3, 4, 5, 5]


def test_a_coordinate_that_moves_nothing_is_said():
    picture = draw_scheme(load(DATA / "cagem" / "welder_cagem_printed_clean.mu"))
    assert "not drawn, for no body moves with them: q6" in picture.notes


def test_a_moving_step_is_a_joint_about_its_own_axis():
    steps = (Elementary(tz=0.5), Elementary(ry=Formula("q")), Elementary(tx=Formula("2*s")))
    bodies = {"arm": Body(parent="base", place=Place(steps=steps))}
    coordinates = {"q": Coordinate(unit="rad", start=0.5), "s": Coordinate(unit="m", start=0.5)}
    found = skeleton(Mechanism(name="free", coordinates=coordinates, bodies=bodies))
    turn, slide = found.joints
    np.testing.assert_allclose(turn.direction, [0, 1, 0], atol=1e-15)
    np.testing.assert_allclose(slide.direction, [math.cos(0.5), 0, -math.sin(0.5)], atol=1e-15)
    assert slide.labels == ("2*s",)


# -- numbers that are not there ----------------------------------------------------------------------------------------
def test_what_stands_in_for_missing_numbers_is_said_and_written():
    picture = draw_scheme(load(DATA / "par" / "modele16ddl.par"))
    first, _, names = picture.notes[0].partition(": ")
    assert first == "lengths without value drawn as 1 m"
    assert sorted(names.split(", ")) == ["Ra", "d12", "d16", "d2", "d7"]
    assert picture.notes[1] == "angles without value drawn as off2 = 30 deg, off12 = 120 deg"
    assert picture.notes[0] in words_in(picture.svg)
    assert picture.notes[0] in ElementTree.fromstring(picture.svg).find("{http://www.w3.org/2000/svg}desc").text


def test_the_stand_in_is_a_typical_length_of_the_mechanism():
    place = Place(mdh=Mdh(d=Formula("2*l"), r=0.2))
    mechanism = Mechanism(name="m", parameters={"l": Parameter()}, bodies={"a": Body(place=place)})
    assert draw_scheme(mechanism).notes == ("lengths without value drawn as 0.2 m: l",)
    assert draw_scheme(mechanism, parameters={"l": 0.3}).notes == ()


def test_a_slide_is_drawn_out_but_stays_between_its_stops():
    def drawn(**coordinate: float) -> float:
        joint = Joint(kind="prismatic", coordinates={"s": Coordinate(**coordinate)})
        mechanism = Mechanism(name="m", bodies={"a": Body(place=at(0, 0, 1), joint=joint)})
        return float(values_for(System(mechanism), {}, {}).q[0])

    assert drawn() == 0.5
    assert drawn(start=0.0) == 0.0
    assert drawn(lower=0.0, upper=0.2) == 0.2
    assert drawn(lower=0.7, upper=0.9) == 0.7


# -- what is refused ---------------------------------------------------------------------------------------------------
def test_unknown_names_and_impossible_values_are_refused():
    with pytest.raises(ArgumentError, match=r"no coordinate 'q9'(.|\n)*expected: q1, q2, q3"):
        draw_scheme(four_bar(), pose={"q9": 0.0})
    with pytest.raises(ArgumentError, match="no parameter 'l'"):
        draw_scheme(four_bar(), parameters={"l": 0.0})
    for value in (math.nan, math.inf, 1e10):
        with pytest.raises(ArgumentError, match="cannot be drawn there"):
            draw_scheme(four_bar(), pose={"q1": value})


def test_a_place_without_numbers_is_refused():
    place = Place(mdh=Mdh(d=Formula("1/(l - l)")))
    mechanism = Mechanism(name="m", parameters={"l": Parameter(value=1.0)}, bodies={"a": Body(place=place)})
    with pytest.raises(NumericalError, match="have no place"):
        draw_scheme(mechanism)


def test_too_many_bodies_are_refused():
    bodies = {f"b{k}": Body(place=at(k, 0, 0), joint=Joint(kind="revolute")) for k in range(301)}
    with pytest.raises(ArgumentError, match="too many bodies"):
        draw_scheme(Mechanism(name="m", bodies=bodies))
