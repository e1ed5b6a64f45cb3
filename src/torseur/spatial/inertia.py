"""The ten standard inertial parameters of a body as expressions, and what may be done with them.

At the origin O and in the axes of the body's frame: J = [[XX, XY, XZ], [XY, YY, YZ], [XZ, YZ, ZZ]] (kg m2, entries of the
tensor), MS = (MX, MY, MZ) mass times centre of mass (kg m), M mass (kg). Every operation here is linear in them.
"""

from __future__ import annotations

from dataclasses import dataclass

from torseur.graph import Expr, Graph
from torseur.spatial.pose import Pose
from torseur.spatial.vectors import Matrix, Vector, add, dot, identity, matmul, rotate, scale, transpose, zero_vector

__all__ = ["Inertia", "central"]


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
    def from_ten(cls, XX: Expr, XY: Expr, XZ: Expr, YY: Expr, YZ: Expr, ZZ: Expr, MX: Expr, MY: Expr, MZ: Expr, M: Expr) -> Inertia:
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
        """The same body's parameters in a frame where its own frame has the given pose (Khalil & Dombre 9.38).

        With s = R MS: J' = R J R' - [P][s] - [s][P] - M [P][P], MS' = s + M P.
        """
        R, P = pose.R, pose.P
        s = rotate(R, self.MS)
        turned = matmul(matmul(R, self.J), transpose(R))
        twice = 2.0 * dot(P, s) + self.M * dot(P, P)
        mixed = scale(self.M, P)
        eye = identity(P[0].graph)
        rows = []
        for i in range(3):
            shift = [
                twice * eye[i][j] - (P[i] * s[j] + s[i] * P[j]) - mixed[i] * P[j] if j >= i else None for j in range(3)
            ]
            rows.append([turned[i][j] + e if e is not None else None for j, e in enumerate(shift)])
        xx, xy, xz = rows[0]
        _, yy, yz = rows[1]
        zz = rows[2][2]
        return Inertia.from_ten(xx, xy, xz, yy, yz, zz, *add(s, mixed), self.M)  # type: ignore[arg-type]


def central(mass: Expr, centre: Vector, tensor: Matrix, axes: Matrix) -> Inertia:
    """From mass, centre of mass, and the tensor at the centre in axes of its own: Huygens and Steiner."""
    g = mass.graph
    at_centre = Inertia(tensor, zero_vector(g), mass)
    return at_centre.seen_from(Pose(axes, centre))
