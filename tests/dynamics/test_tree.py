"""The tree of links: what is melted into what, in which order, and what has no place in it."""

import numpy as np
import pytest

from support.evaluated import Evaluated, assert_same
from support.random_mechanisms import BodyPlan, Plan, mechanism_of, state_of
from torseur.describe import BASE, WORLD, Effort, Mechanism, Motor, SpringDamper
from torseur.dynamics.quantities import Options, function_of
from torseur.dynamics.tree.system import System
from torseur.dynamics.tree.tree import Tree
from torseur.errors import ArgumentError, ModelError


def tree_of(*bodies, base="fixed", **options):
    return Tree(System(mechanism_of(Plan(base, bodies, **options))))


def test_fixed_bodies_are_part_of_what_carries_them():
    tree = tree_of(
        BodyPlan("fixed", -1),
        BodyPlan("revolute", 0),
        BodyPlan("fixed", 1),
        BodyPlan("fixed", 2),
        BodyPlan("revolute", 3),
    )
    assert [link.name for link in tree.links] == ["b1", "b4"]
    assert [link.parent for link in tree.links] == [-1, 0]
    assert {name: tree.home[name][0] for name in ("b0", "b1", "b2", "b3", "b4", BASE, WORLD)} == {
        "b0": -1,
        "b1": 0,
        "b2": 0,
        "b3": 0,
        "b4": 1,
        BASE: -1,
        WORLD: -1,
    }


def test_melting_a_body_changes_nothing_that_moves():
    """A body of two parts, fixed together, is one body with the sum of their inertias."""
    parts = mechanism_of(Plan("fixed", (BodyPlan("revolute", -1, "rpy"), BodyPlan("fixed", 0, "none")), seed=2))
    one, two = (dict(parts.bodies[n].inertia) for n in ("b0", "b1"))
    whole = parts.bodies["b0"].model_copy(
        update={"inertia": type(parts.bodies["b0"].inertia)(**{k: one[k] + two[k] for k in one})}
    )
    single = parts.model_copy(update={"bodies": {"b0": whole}})
    s = state_of(parts, 1)
    assert_same(
        Evaluated(parts)("inverse_dynamics", s.q, s.v, s.vdot), Evaluated(single)("inverse_dynamics", s.q, s.v, s.vdot)
    )


def test_parents_come_before_children_and_speeds_follow_the_file():
    plan = Plan(
        "floating",
        (BodyPlan("revolute", -1), BodyPlan("universal", 0), BodyPlan("revolute", 1), BodyPlan("prismatic", 0)),
        seed=1,
    )
    mechanism = mechanism_of(plan)
    listed = type(mechanism).model_validate({**dict(mechanism), "bodies": dict(reversed(mechanism.bodies.items()))})
    tree = Tree(System(listed))
    assert [x.owner for x in listed.v][6:] == ["b3", "b2", "b1", "b1", "b0"]
    for k, link in enumerate(tree.links):
        assert link.parent < k
    assert sorted(tree.order) == list(range(11))
    parents = tree.parents
    for k, place in enumerate(tree.order):
        assert parents[place] == -1 or parents[place] in tree.order[:k]
    # The universal joint b1 (places 8, 9) hangs on b0 (10), b2 (7) on its second speed, b3 (6) on b0, all on the base.
    assert [parents[k] for k in (10, 8, 9, 7, 6)] == [5, 10, 8, 9, 10]


def test_a_carrier_is_six_joints():
    tree = tree_of(BodyPlan("revolute", -1), base="carrier")
    assert [link.kind.name for link in tree.links] == ["prismatic"] * 3 + ["revolute"] * 4
    assert tree.order == [0, 1, 2, 5, 4, 3, 6]


@pytest.mark.parametrize("kind", ["spherical", "planar", "free"])
def test_a_coordinate_without_a_speed_of_its_own_takes_no_drive(kind):
    mechanism = mechanism_of(Plan("fixed", (BodyPlan(kind, -1),)))
    coordinate = mechanism.q[0].name
    driven = mechanism.model_copy(update={"loads": {"motor": Motor(coordinate=coordinate, inertia=1.0)}})
    with pytest.raises(ModelError, match="no speed of its own"):
        Evaluated(driven).function("inverse_dynamics")


def test_a_motor_may_drive_the_carrier_of_a_base():
    """Its rotor sits on what does not move."""
    mechanism = mechanism_of(Plan("carrier", (BodyPlan("revolute", -1),), seed=1))
    driven = mechanism.model_copy(update={"loads": {"motor": Motor(coordinate="yaw", inertia=0.1, ratio=3.0)}})
    s = state_of(mechanism, 1)
    added = Evaluated(driven)("mass_matrix", s.q) - Evaluated(mechanism)("mass_matrix", s.q)
    expected = np.zeros((7, 7))
    expected[5, 5] = 0.9
    assert_same(added, expected)


@pytest.mark.parametrize("load", [SpringDamper, Effort], ids=lambda kind: kind.kind)
def test_a_load_between_frames_in_one_place_is_refused(load):
    mechanism = mechanism_of(Plan("fixed", (BodyPlan("revolute", -1, "none"), BodyPlan("revolute", 0, "none")), seed=1))
    value = {"value": 1.0} if load is Effort else {"stiffness": 1.0}
    tied = mechanism.model_copy(update={"loads": {"tie": load(between=("b0", "b1"), **value)}})
    with pytest.raises(ModelError, match="always coincide") as error:
        Evaluated(tied).function("inverse_dynamics")
    assert error.value.got == "b0 and b1"


def test_parameters_that_are_fixed_fold_into_numbers():
    mechanism = mechanism_of(Plan("fixed", (BodyPlan("revolute", -1), BodyPlan("revolute", 0)), symbols=True, seed=1))
    free = function_of(mechanism, "inverse_dynamics")
    values = {name: x.value for name, x in mechanism.parameters.items() if isinstance(x.value, float)}
    fixed = function_of(mechanism, "inverse_dynamics", fixed=values)
    assert {b.name for b in free.inputs} == {"q", "v", "vdot", "p"}
    assert {b.name for b in fixed.inputs} == {"q", "v", "vdot"}
    assert len(fixed.nodes) < len(free.nodes)


def test_parameters_may_be_defined_in_any_order_but_not_in_a_circle():
    def chain(**formulas):
        parameters = {name: {"value": x} for name, x in formulas.items()}
        return Mechanism.model_validate({"name": "numbers", "parameters": parameters, "gravity": ("a", 0.0, 0.0)})

    system = System(chain(a="2*b", b="c + 1", c=3.0))
    assert [system.p.names, float(System(chain(a="2*b", b="c + 1", c=3.0), fixed={"c": 3.0}).scope["a"])] == [
        ("c",),
        8.0,
    ]
    with pytest.raises(ModelError, match="circular definition") as error:
        System(chain(a="b", b="c", c="a"))
    assert error.value.got == "a, b, c"


def test_unknown_quantities_and_missing_frames_are_refused():
    mechanism = mechanism_of(Plan("fixed", (BodyPlan("revolute", -1),)))
    with pytest.raises(ArgumentError, match="no quantity 'speed'"):
        function_of(mechanism, "speed")
    with pytest.raises(ArgumentError, match="needs a frame"):
        function_of(mechanism, "pose")
    with pytest.raises(ModelError, match="no frame 'tip'"):
        function_of(mechanism, "pose", Options(frame="tip"))


def test_frames_of_the_world_and_of_a_fixed_base_do_not_move():
    mechanism = mechanism_of(Plan("fixed", (BodyPlan("revolute", -1),), seed=3))
    ours, s = Evaluated(mechanism), state_of(mechanism)
    for frame in (WORLD, BASE):
        assert_same(ours("velocity", s.q, s.v, frame=frame), np.zeros(6))
        assert_same(ours("jacobian", s.q, frame=frame), np.zeros((6, 1)))
        assert_same(ours("acceleration", s.q, s.v, s.vdot, frame=frame), np.zeros(6))
    assert_same(ours("pose", s.q, frame=WORLD), np.eye(4))
