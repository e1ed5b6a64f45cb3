"""Kinematics written as formulas of the coordinates, as joints (Kanyiki & Ntambwe, section 2).

A place is a product of elementary transforms. Steps that do not move are part of the pose before the next that does;
a step by an amount f(q) is a joint about or along its axis, whose own speed w is not free but geared to the speeds of
the mechanism,

    w = W(q) v,        dw/dt = W(q) dv/dt + c,        W = df/dq G(q),    c = dW/dt v,    dq/dt = G(q) v

all three by differentiating f. So the recursions meet nothing but joints, and a product of steps about and along axes,
one coordinate each, *is* the chain of joints it describes, at the same cost. Poses that are given as a whole, by a
quaternion or matrix of formulas, are one joint with six speeds: their velocity in their own axes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from torseur.dynamics.tree.system import System, Turn, rates, velocity_of
from torseur.graph import Expr, Graph, jacobian, ops, tangents
from torseur.graph.function import reachable
from torseur.spatial.joints import KINDS, CoordinateInfo, JointKind, Quantity
from torseur.spatial.pose import Motion, Pose, Step, StepKind, about_axis, product
from torseur.spatial.vectors import Matrix, Vector

__all__ = ["ABOUT_AXIS", "WHOLE_POSE", "Gearing", "Move", "cut", "depends", "geared"]

_PI = 3.141592653589793
_AXIS_TO_Z = {"x": (StepKind.ROTATE_Y, 0.5 * _PI), "y": (StepKind.ROTATE_X, -0.5 * _PI), "z": (StepKind.ROTATE_Z, 0.0)}


# -- joints that no description names ----------------------------------------------------------------------------------
class _AboutAxis(JointKind):
    """Rotation about a unit vector, the same in both frames, given by its three settings."""

    name = "rotation about a given axis"
    coordinates = (CoordinateInfo("", Quantity.ANGLE, "rotation about the axis, by the right-hand rule"),)
    speeds = (CoordinateInfo("", Quantity.ANGULAR_SPEED, "its rate"),)
    settings = ("x", "y", "z")

    def pose(self, g: Graph, q: Sequence[Expr], settings: Sequence[Expr] = ()) -> Pose:
        return Pose.turn(about_axis(Vector(*settings), q[0]))

    def subspace(self, g: Graph, q: Sequence[Expr], settings: Sequence[Expr] = ()) -> list[Motion]:
        return [Motion(Vector.zero(g), Vector(*settings))]


class _WholePose(JointKind):
    """Any motion: the coordinates are R by rows, then P; the speeds V and w of the child, in its own axes."""

    name = "given pose"
    coordinates = tuple(
        CoordinateInfo(f"{name}", Quantity.NUMBER if name[0] == "R" else Quantity.LENGTH, f"entry {name[1:]}")
        for name in (*(f"R{i}{j}" for i in "123" for j in "123"), "P1", "P2", "P3")
    )
    speeds = tuple(
        CoordinateInfo(f"{part}{axis}", quantity, f"{quantity.name.lower().replace('_', ' ')} along {axis}")
        for part, quantity in (("v", Quantity.SPEED), ("w", Quantity.ANGULAR_SPEED))
        for axis in "xyz"
    )

    def pose(self, g: Graph, q: Sequence[Expr], settings: Sequence[Expr] = ()) -> Pose:
        return Pose(Matrix.of((q[0:3], q[3:6], q[6:9])), Vector(*q[9:12]))

    def subspace(self, g: Graph, q: Sequence[Expr], settings: Sequence[Expr] = ()) -> list[Motion]:
        return [Motion.of(g.one if i == k else g.zero for i in range(6)) for k in range(6)]


ABOUT_AXIS = _AboutAxis()
WHOLE_POSE = _WholePose()


# -- places cut into joints --------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Move:
    """One moving step of a place: a joint behind the pose K; its coordinates are expressions of the mechanism's."""

    K: Pose
    kind: JointKind
    q: tuple[Expr, ...]
    settings: tuple[Expr, ...] = ()


def depends(exprs: Iterable[Expr], block: str = "q") -> bool:
    """Whether expressions depend on an input block: by default, on the coordinates."""
    return any(node.op is ops.SYMBOL and node.data[0] == block for node in reachable(exprs))


def cut(system: System, steps: Iterable[Step | Turn | Pose]) -> tuple[list[Move], Pose]:
    """The joints that a product of transforms is made of, and the pose that is left behind the last of them."""
    g, moves, rest = system.graph, list[Move](), Pose.identity(system.graph)
    for step in steps:
        if isinstance(step, Step) and depends([step.amount]):
            axis, slides = step.kind.value[1], step.kind.value[0] == "t"
            way = product(g, [Step(_AXIS_TO_Z[axis][0], g.number(_AXIS_TO_Z[axis][1]))])
            moves.append(Move(rest @ way, KINDS["prismatic" if slides else "revolute"], (step.amount,)))
            rest = way.inverse()
        elif isinstance(step, Turn) and depends([step.angle]) and not depends(step.axis):
            moves.append(Move(rest, ABOUT_AXIS, (step.angle,), step.axis))
            rest = Pose.identity(g)
        else:
            pose = system.pose_of(step)
            entries = (*pose.R[0], *pose.R[1], *pose.R[2], *pose.P)
            if depends(entries):
                moves.append(Move(rest, WHOLE_POSE, entries))
                rest = Pose.identity(g)
            else:
                rest = rest @ pose
    return moves, rest


# -- what drives them --------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Gearing:
    """How the own speeds w of a joint follow those of the mechanism.

    Attributes:
        W: (own speeds, places) of w = W v.
        c: (own speeds,) of dw/dt = W dv/dt + c.
        is_steady: whether W is the same for all q.
    """

    W: tuple[tuple[Expr, ...], ...]
    c: tuple[Expr, ...]
    is_steady: bool


def geared(system: System, move: Move, number: str) -> tuple[tuple[Expr, ...], tuple[int, ...], Gearing | None]:
    """The own speeds of a joint, the places in v of what moves it, and how; no gearing where it is one speed itself."""
    g, v = system.graph, list(system.v)
    along = dict(zip(system.q, rates(system), strict=True))
    if move.kind is WHOLE_POSE:
        velocity = velocity_of(move.kind.pose(g, move.q), along)
        w = list(velocity.six)
    else:
        w = tangents(list(move.q), along)
    if len(w) == 1 and w[0] in v:
        return (w[0],), (v.index(w[0]),), None
    w = [g.name(x, f"QP{number}" if len(w) == 1 else f"QP{number}_{i}") for i, x in enumerate(w, 1)]
    slopes = jacobian(w, v)
    places = tuple(sorted(set(slopes.columns)))
    W = tuple(tuple(row[k] for k in places) for row in slopes.dense())
    return tuple(w), places, Gearing(W, tuple(tangents(w, along)), not depends(slopes.entries))
