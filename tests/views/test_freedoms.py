"""A drawing knows a joint by how it moves: every kind of the package, and kinds that somebody adds."""

import numpy as np
import pytest

from torseur import extensions
from torseur.describe import Mechanism
from torseur.dynamics.tree.system import System
from torseur.spatial.joint_kind import along
from torseur.spatial.joints import KINDS, CoordinateInfo, JointKind, Quantity
from torseur.spatial.pose import Step, StepKind, product
from torseur.views.scene.drawing import drawing_of
from torseur.views.scheme import draw_scheme
from torseur.views.scheme.routes import best_view
from torseur.views.skeleton import skeleton_of
from torseur.views.values import freedoms_of, values_for

X, Y, Z = 0, 1, 2


@pytest.mark.parametrize(
    ("name", "turning", "sliding"),
    [
        ("fixed", "", ""),
        ("revolute", "z", ""),
        ("prismatic", "", "z"),
        ("screw", "z", "z"),
        ("cylindrical", "z", "z"),
        ("universal", "xy", ""),
        ("spherical", "xyz", ""),
        ("planar", "z", "xy"),
        ("free", "xyz", "xyz"),
        ("free_rpy", "xyz", "xyz"),
    ],
)
def test_the_axes_of_every_kind(name, turning, sliding):
    moves = freedoms_of(KINDS[name])
    assert (moves.turning, moves.sliding) == ({"xyz".index(c) for c in turning}, {"xyz".index(c) for c in sliding})


def test_no_kind_is_drawn_as_two_things():
    for kind in KINDS.values():
        moves = freedoms_of(kind)
        whole = (moves.is_revolute, moves.is_prismatic, moves.is_universal, moves.is_spherical, moves.is_planar)
        assert sum((*whole, moves.is_free, moves.is_screw, moves.turns and moves.slides)) == (kind.nv > 0), kind


def test_a_screw_is_no_cylindrical_joint():
    assert freedoms_of(KINDS["screw"]).is_screw
    assert not freedoms_of(KINDS["screw"]).slides
    assert freedoms_of(KINDS["cylindrical"]).slides
    assert not freedoms_of(KINDS["cylindrical"]).is_screw


# -- kinds that somebody adds ------------------------------------------------------------------------------------------
class Hinge(JointKind):
    """Rotation about x."""

    name = "hinge"
    coordinates = (CoordinateInfo("", Quantity.ANGLE, "rotation about x"),)
    speeds = (CoordinateInfo("", Quantity.ANGULAR_SPEED, "its rate"),)

    def pose(self, g, q, settings=()):
        return product(g, [Step(StepKind.ROTATE_X, q[0])])

    def subspace(self, g, q, settings=()):
        return [along(g, None, X)]


class Slot(JointKind):
    """Translation along x, then rotation about z."""

    name = "slot"
    coordinates = (
        CoordinateInfo("slide", Quantity.LENGTH, "translation along x"),
        CoordinateInfo("angle", Quantity.ANGLE, "rotation about z"),
    )
    speeds = (
        CoordinateInfo("slide", Quantity.SPEED, "rate of the translation"),
        CoordinateInfo("angle", Quantity.ANGULAR_SPEED, "rate of the rotation"),
    )

    def pose(self, g, q, settings=()):
        return product(g, [Step(StepKind.MOVE_X, q[0]), Step(StepKind.ROTATE_Z, q[1])])

    def subspace(self, g, q, settings=()):
        return [along(g, X, None), along(g, None, Z)]


@pytest.fixture
def added(monkeypatch):
    monkeypatch.setattr(extensions, "_registered", [])
    extensions.register(extensions.Extension("hinges", joints={kind.name: kind for kind in (Hinge(), Slot())}))


def one_joint(kind: str) -> Mechanism:
    tip = {"tip": {"place": {"pose": {"position": (0.3, 0.2, 0.5)}}}}
    return Mechanism.model_validate({"name": kind, "bodies": {"arm": {"joint": {"kind": kind}, "frames": tip}}})


@pytest.mark.usefixtures("added")
def test_a_hinge_about_x_is_drawn_like_a_revolute_joint_about_x():
    (joint,) = skeleton_of(values_for(System(one_joint("hinge")), {}, {})).joints
    np.testing.assert_array_equal(joint.direction, [1.0, 0.0, 0.0])
    assert joint.freedoms.is_revolute
    turned = Mechanism.model_validate(
        {"name": "hinge", "bodies": {"arm": {**one_joint("hinge").bodies["arm"].model_dump(), "joint": "revolute"}}}
    )
    # The same symbols, though they stand elsewhere: a cylinder, its end, an axis, an arrow and its head.
    shapes = [
        [line.partition(" ")[0] for line in draw_scheme(m).svg.splitlines()] for m in (one_joint("hinge"), turned)
    ]
    assert sorted(shapes[0]) == sorted(shapes[1])


@pytest.mark.usefixtures("added")
@pytest.mark.parametrize("kind", ["hinge", "slot"])
def test_kinds_that_are_added_can_be_drawn(kind):
    picture = draw_scheme(one_joint(kind))
    assert {"arm", "tip"} <= {word for placed in picture.labels for word in placed.label.words.split(", ")}
    drawing = drawing_of(one_joint(kind))
    assert {part.body for part in drawing.parts} >= {"arm"}


# -- what is planar ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("kind", "planar"), [("revolute", True), ("planar", True), ("screw", False), ("cylindrical", False)]
)
def test_only_what_stays_in_a_plane_is_seen_face_on(kind, planar):
    second = {"kind": kind, "pitch": 0.1} if kind == "screw" else {"kind": kind}
    bodies = {
        "a": {"joint": "revolute"},
        "b": {"parent": "a", "place": {"mdh": {"d": 0.4}}, "joint": second},
        "c": {"parent": "b", "place": {"mdh": {"d": 0.4}}, "joint": "revolute"},
    }
    mechanism = Mechanism.model_validate({"name": "chain", "bodies": bodies})
    assert best_view(skeleton_of(values_for(System(mechanism), {}, {})), mechanism).planar is planar
