"""The ten standard inertial parameters of a body as expressions, and what may be done with them.

At the origin O and in the axes of the body's frame: J = [[XX, XY, XZ], [XY, YY, YZ], [XZ, YZ, ZZ]] (kg m2, entries of
the tensor), MS = (MX, MY, MZ) mass times centre of mass (kg m), M mass (kg). Every operation here is linear in them.
"""

from __future__ import annotations

from dataclasses import dataclass

from torseur.graph import Expr, Graph
from torseur.spatial.pose import Pose
from torseur.spatial.vectors import Matrix, Vector, add, matmul, rotate, scale, transpose, zero_vector

__all__ = ["Inertia", "axis_of", "central", "turned_tensor"]


@dataclass(frozen=True)
class Inertia:
    """J, MS and M of a body at the origin of its frame."""

    J: Matrix
    MS: Vector
    M: Expr

    @classmethod
    def zero(cls, g: Graph) -> Inertia:
        o = zero_vector(g)
        return cls((o, o, o), o, g.zero)

    @classmethod
    def from_ten(
        cls, XX: Expr, XY: Expr, XZ: Expr, YY: Expr, YZ: Expr, ZZ: Expr, MX: Expr, MY: Expr, MZ: Expr, M: Expr
    ) -> Inertia:
        return cls(((XX, XY, XZ), (XY, YY, YZ), (XZ, YZ, ZZ)), (MX, MY, MZ), M)

    def ten(self) -> tuple[Expr, ...]:
        """XX XY XZ YY YZ ZZ MX MY MZ M."""
        J = self.J
        return (J[0][0], J[0][1], J[0][2], J[1][1], J[1][2], J[2][2], *self.MS, self.M)

    def __add__(self, other: Inertia) -> Inertia:
        rows = [add(a, b) for a, b in zip(self.J, other.J, strict=True)]
        return Inertia((rows[0], rows[1], rows[2]), add(self.MS, other.MS), self.M + other.M)

    def __sub__(self, other: Inertia) -> Inertia:
        return Inertia.from_ten(*(a - b for a, b in zip(self.ten(), other.ten(), strict=True)))

    def seen_from(self, pose: Pose) -> Inertia:
        """The same body's parameters in a frame where its own frame has the given pose (Khalil & Dombre 9.38)."""
        return self.turned(pose.R).moved(pose.P)

    def turned(self, R: Matrix) -> Inertia:
        """In axes where this frame's axes are the columns of R: R J R' and R MS."""
        axis = axis_of(R)
        if axis is None:
            return Inertia(matmul(matmul(R, self.J), transpose(R)), rotate(R, self.MS), self.M)
        return Inertia(turned_tensor(axis, self.J, R), rotate(R, self.MS), self.M)

    def moved(self, P: Vector) -> Inertia:
        """Seen from where this origin is at P: with s = MS + M P / 2, J + 2 (P.s) 1 - P s' - s P' and MS + M P."""
        whole = scale(self.M, P)
        s = add(self.MS, scale(0.5, whole))
        double = scale(2.0, P)
        xx, yy, zz = (double[k] * s[k] for k in range(3))
        (XX, XY, XZ), (_, YY, YZ), (_, _, ZZ) = self.J
        return Inertia.from_ten(
            XX + (yy + zz),
            XY - (P[0] * s[1] + P[1] * s[0]),
            XZ - (P[0] * s[2] + P[2] * s[0]),
            YY + (xx + zz),
            YZ - (P[1] * s[2] + P[2] * s[1]),
            ZZ + (xx + yy),
            *add(self.MS, whole),
            self.M,
        )


def axis_of(R: Matrix) -> int | None:
    """The axis x, y or z that a rotation leaves alone, if its matrix shows it."""
    one = R[0][0].graph.one
    return next((k for k in range(3) if R[k][k] is one), None)


def turned_tensor(axis: int, J: Matrix, R: Matrix) -> Matrix:
    """R J R' for a rotation by (c, s) about one axis, with a and b the other two in cyclic order: 9 products.

    With e = s (Jaa - Jbb) + 2 c Jab: Jaa - s e, Jbb + s e, c e - Jab; and a plane rotation of (Jac, Jbc).
    """
    a, b = (axis + 1) % 3, (axis + 2) % 3
    c, s = R[a][a], R[b][a]
    new = [list(row) for row in J]
    if s is not s.graph.zero:
        e = s * (J[a][a] - J[b][b]) + c * (2.0 * J[a][b])
        f = s * e
        new[a][a], new[b][b] = J[a][a] - f, J[b][b] + f
        new[a][b] = new[b][a] = c * e - J[a][b]
    new[a][axis] = new[axis][a] = c * J[a][axis] - s * J[b][axis]
    new[b][axis] = new[axis][b] = s * J[a][axis] + c * J[b][axis]
    return ((new[0][0], new[0][1], new[0][2]), (new[1][0], new[1][1], new[1][2]), (new[2][0], new[2][1], new[2][2]))


def central(mass: Expr, centre: Vector, tensor: Matrix, axes: Matrix) -> Inertia:
    """From mass, centre of mass, and the tensor at the centre in axes of its own: Huygens and Steiner."""
    g = mass.graph
    at_centre = Inertia(tensor, zero_vector(g), mass)
    return at_centre.seen_from(Pose(axes, centre))
