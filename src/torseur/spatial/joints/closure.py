"""What a joint forbids: the equations that a pair of frames obeys when a joint of some kind sits between them.

A cut joint has no coordinates; its equations say where frame b may be, seen from frame a, by the entries of the
relative pose (R, P). Beside each equation stands its rate as a product with the relative velocity of b, (V; w) in the
axes of a, so that its multiplier is a force or torque on b:

    d/dt P = V        d/dt R = [w]x R, hence d/dt R_ij = w . (column j of R  x  axis i)
"""

from __future__ import annotations

from dataclasses import dataclass

from torseur.graph import Expr
from torseur.spatial.pose import Pose
from torseur.spatial.vectors import Vector, add, cross, identity, scale, sub, transpose, zero_vector

__all__ = ["Closing", "no_shift", "no_tilt", "no_turn", "square_axes", "together"]

_AXES = "xyz"


@dataclass(frozen=True)
class Closing:
    """One equation, value = 0: along which axis of a it pushes or about which it turns; rate = force . V + torque . w.

    `value` is in metres if it is a force, without unit (an angle, nearby) if it is a torque.
    """

    part: str
    value: Expr
    force: Vector
    torque: Vector

    @property
    def is_torque(self) -> bool:
        return all(x is x.graph.zero for x in self.force)


def _entry(pose: Pose, i: int, j: int) -> tuple[Expr, Vector]:
    """R_ij and the gradient of its rate by w."""
    return pose.R[i][j], cross(transpose(pose.R)[j], identity(pose.P[0].graph)[i])


def no_shift(pose: Pose, *axes: int) -> list[Closing]:
    """b's origin stays on a's, along these axes of a."""
    g = pose.P[0].graph
    return [Closing(_AXES[k], pose.P[k], identity(g)[k], zero_vector(g)) for k in axes]


def no_tilt(pose: Pose) -> list[Closing]:
    """b's z stays along a's z: its x and y parts vanish, held by torques about y and x of a."""
    g, found = pose.P[0].graph, []
    for part, i, sense in (("about_x", 1, -1.0), ("about_y", 0, 1.0)):
        value, torque = _entry(pose, i, 2)
        found.append(Closing(part, sense * value, zero_vector(g), scale(sense, torque)))
    return found


def no_turn(pose: Pose) -> list[Closing]:
    """The axes of b stay those of a: the antisymmetric part of R vanishes."""
    g, found = pose.P[0].graph, []
    for part, i, j in (("about_x", 2, 1), ("about_y", 0, 2), ("about_z", 1, 0)):
        (one, by_one), (other, by_other) = _entry(pose, i, j), _entry(pose, j, i)
        torque = scale(0.5, sub(by_one, by_other))
        found.append(Closing(part, 0.5 * (one - other), zero_vector(g), torque))
    return found


def square_axes(pose: Pose) -> list[Closing]:
    """b's y stays square to a's x: what is left of the turn about z in a Hooke joint."""
    value, torque = _entry(pose, 0, 1)
    return [Closing("about_z", -value, zero_vector(pose.P[0].graph), scale(-1.0, torque))]


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
    torque = scale(-pitch, add(scale(cosine, by_s), scale(-sine, by_c)))
    return Closing("z", -pitch * (s * cosine - c * sine), scale(along, identity(pitch.graph)[2]), torque)
