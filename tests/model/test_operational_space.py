"""At a singular configuration the operational space says what is lost and where, or gives the shortest force."""

import numpy as np
import pytest

from support.evaluated import assert_same
from torseur.describe import Mechanism
from torseur.dynamics.tree.kinematics import Axes, Task
from torseur.errors import ArgumentError, NumericalError
from torseur.model import build
from torseur.model.tasks import _Point


def planar(n=2):
    """An arm in the plane x y with links of one metre and a tool at its end."""
    bodies = {}
    for k in range(n):
        place = {"mdh": {"d": 1.0 if k else 0.0}}
        inertia = {"M": 1.0, "MX": 0.5, "ZZ": 0.4, "YY": 0.4}
        bodies[f"b{k + 1}"] = {
            "parent": f"b{k}" if k else "base",
            "place": place,
            "joint": {"kind": "revolute", "coordinate": f"q{k + 1}"},
            "inertia": inertia,
        }
    bodies[f"b{n}"]["frames"] = {"tool": {"place": {"pose": {"position": (1.0, 0.0, 0.0)}}}}
    return build(Mechanism.model_validate({"name": "planar", "bodies": bodies, "gravity": (0.0, -9.81, 0.0)}))


def test_native_and_textbook_inertia_of_the_planar_arm_agree():
    model, q = planar(), np.array([0.3, 0.9])
    M_x, _, _, _, rank = model.operational_space(q, np.zeros(2), "tool", Axes.WORLD)
    J = model.jacobian(q, "tool", Axes.WORLD)
    assert rank == 2
    assert_same(J.T @ M_x @ J, model.mass_matrix(q))


def test_a_stretched_arm_has_lost_the_direction_along_itself():
    with pytest.raises(NumericalError) as caught:
        planar().operational_space([0.5, 0.0], [0.1, 0.2], "tool", task=Task.POSITION)
    text = str(caught.value)
    assert "'tool' has lost a direction of motion" in text
    assert "q1 = 0.5, q2 = 0" in text
    assert "rank 1" in text
    assert "moving along (1, 0, 0), in axes of the frame" in text


def test_in_world_axes_the_direction_is_that_of_the_arm():
    with pytest.raises(NumericalError, match=r"moving along \(0.878, 0.479, 0\), in axes of the world"):
        planar().operational_space([0.5, 0.0], [0.1, 0.2], "tool", Axes.WORLD, Task.POSITION)


def test_it_can_still_move_sideways_and_turn():
    assert planar().operational_space([0.5, 0.0], [0.1, 0.2], "tool")[-1] == 2


def test_a_batch_names_the_first_singular_state():
    q = np.array([[0.1, 1.0], [0.2, 0.5], [0.3, np.pi], [0.4, 0.0]])
    with pytest.raises(NumericalError, match=r"state 2 of the batch: q1 = 0\.3, q2 = 3\.14159"):
        planar().operational_space(q, np.zeros((4, 2)), "tool", task=Task.POSITION)


def test_asked_for_it_gives_the_shortest_force_at_a_singularity():
    model, q = planar(), np.array([[0.3, 0.9], [0.5, 0.0]])
    M_x, _, g_x, bias_x, rank = model.operational_space(
        q, np.zeros((2, 2)), "tool", Axes.WORLD, Task.POSITION, allow_singular=True
    )
    assert rank.tolist() == [2, 1]
    J, M = model.jacobian(q[1], "tool", Axes.WORLD)[:3], model.mass_matrix(q[1])
    assert_same(M_x[1], np.linalg.pinv(J @ np.linalg.solve(M, J.T), rcond=1e-9))
    along = np.array([np.cos(0.5), np.sin(0.5), 0.0])
    assert_same(g_x[1] @ along, 0.0)
    assert_same(g_x, bias_x)


def test_how_far_a_frame_can_move():
    def rank(n, frame, task):
        return _Point(planar(n), frame, Axes.OWN, task, {}).largest_rank

    assert [rank(n, "tool", Task.POSE) for n in (1, 2, 3, 4)] == [1, 2, 3, 3]
    assert [rank(n, "tool", Task.POSITION) for n in (1, 2, 3, 4)] == [1, 2, 2, 2]
    assert [rank(n, "tool", Task.ORIENTATION) for n in (1, 2, 3, 4)] == [1, 1, 1, 1]
    assert rank(2, "base", Task.POSE) == 0


def test_a_frame_that_never_moves_has_no_inertia():
    *found, rank = planar().operational_space([0.1, 0.2], [0.0, 0.0], "base")
    assert rank == 0
    assert not any(np.any(x) for x in found)


def test_an_unknown_frame_is_refused():
    with pytest.raises(ArgumentError, match="did you mean tool"):
        planar().operational_space([0.1, 0.2], [0.0, 0.0], "tol")
