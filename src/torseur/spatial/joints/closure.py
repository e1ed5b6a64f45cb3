"""What a joint forbids: the equations that a pair of frames obeys when a joint of some kind sits between them.

A cut joint has no coordinates; its equations say where frame b may be, seen from frame a, by the entries of the
relative pose (R, P). Beside each equation stands its rate as a product with the relative velocity of b, (V; w) in the
axes of a, so that its multiplier is a force or torque on b:

    d/dt P = V        d/dt R = [w]x R, hence d/dt R_ij = w . (column j of R  x  axis i)
"""

from __future__ import annotations

from dataclasses import dataclass

from torseur.graph import Expr
from torseur.spatial.motion import Wrench
from torseur.spatial.pose import Pose
from torseur.spatial.vectors import Vector, cross

__all__ = ["Closing", "no_shift", "no_tilt", "no_turn", "square_axes", "together"]

_AXES = "xyz"


@dataclass(frozen=True)
class Closing:
    """One equation, value = 0: along which axis of a it pushes or about which it turns; rate = dot((V; w), wrench).

    `value` is in metres if it is a force, without unit (an angle, nearby) if it is a torque.
    """

    part: str
    value: Expr
    wrench: Wrench

    @property
    def is_torque(self) -> bool:
        return self.wrench.force.is_zero


def _force(part: str, value: Expr, force: Vector) -> Closing:
    return Closing(part, value, Wrench(force, Vector.zero(value.graph)))


def _torque(part: str, value: Expr, torque: Vector) -> Closing:
    return Closing(part, value, Wrench(Vector.zero(value.graph), torque))


def _entry(pose: Pose, i: int, j: int) -> tuple[Expr, Vector]:
    """R_ij and the gradient of its rate by w."""
    return pose.R[i][j], cross(pose.R.T[j], Vector.unit(pose.graph, i))


def no_shift(pose: Pose, *axes: int) -> list[Closing]:
    """b's origin stays on a's, along these axes of a."""
    return [_force(_AXES[k], pose.P[k], Vector.unit(pose.graph, k)) for k in axes]


def no_tilt(pose: Pose) -> list[Closing]:
    """b's z stays along a's z: its x and y parts vanish, held by torques about y and x of a."""
    found = []
    for part, i, sense in (("about_x", 1, -1.0), ("about_y", 0, 1.0)):
        value, torque = _entry(pose, i, 2)
        found.append(_torque(part, sense * value, sense * torque))
    return found


def no_turn(pose: Pose) -> list[Closing]:
    """The axes of b stay those of a: the antisymmetric part of R vanishes."""
    found = []
    for part, i, j in (("about_x", 2, 1), ("about_y", 0, 2), ("about_z", 1, 0)):
        (one, by_one), (other, by_other) = _entry(pose, i, j), _entry(pose, j, i)
        found.append(_torque(part, 0.5 * (one - other), 0.5 * (by_one - by_other)))
    return found


def square_axes(pose: Pose) -> list[Closing]:
    """b's y stays square to a's x: what is left of the turn about z in a Hooke joint."""
    value, torque = _entry(pose, 0, 1)
    return [_torque("about_z", -value, -torque)]


def together(pose: Pose, pitch: Expr, sine: Expr, cosine: Expr) -> Closing:
    """The turn about z follows the shift along it: pitch times sin(turn - shift / pitch) vanishes.

    Args:
        pose: of b in a.
        pitch: m/rad.
        sine: of shift / pitch.
        cosine: of shift / pitch.
    """
    (s, by_s), (c, by_c) = _entry(pose, 1, 0), _entry(pose, 0, 0)
    along = s * sine + c * cosine  # = cos(turn - shift / pitch)
    force, torque = along * Vector.unit(pose.graph, 2), -pitch * (cosine * by_s - sine * by_c)
    return Closing("z", -pitch * (s * cosine - c * sine), Wrench(force, torque))
