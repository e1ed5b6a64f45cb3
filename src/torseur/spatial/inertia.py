"""The ten standard inertial parameters of a body as expressions, and what may be done with them.

At the origin O and in the axes of the body's frame: J = [[XX, XY, XZ], [XY, YY, YZ], [XZ, YZ, ZZ]] (kg m2, entries of
the tensor), MS = (MX, MY, MZ) mass times centre of mass (kg m), M mass (kg). Every operation here is linear in them.

``I + I``, ``X @ I`` (the same body in the parent's frame), ``I @ V`` (the momentum of a velocity, or the wrench that an
acceleration from rest takes).
"""

from __future__ import annotations

from typing import Any, Self

from torseur.graph import Expr, Graph
from torseur.spatial.pose import Motion, Pose, Wrench
from torseur.spatial.vectors import Linear, Matrix, Vector, cross, dot

__all__ = ["ArticulatedInertia", "Inertia", "central"]


class Inertia(Linear[Any]):
    """J, MS and M of a body at the origin of its frame."""

    __slots__ = ()

    def __new__(cls, J: Matrix, MS: Vector, M: Expr) -> Self:
        return tuple.__new__(cls, (J, MS, M))

    @classmethod
    def zero(cls, g: Graph) -> Self:
        return cls(Matrix.zero(g), Vector.zero(g), g.zero)

    @classmethod
    def from_ten(
        cls, XX: Expr, XY: Expr, XZ: Expr, YY: Expr, YZ: Expr, ZZ: Expr, MX: Expr, MY: Expr, MZ: Expr, M: Expr
    ) -> Self:
        return cls(Matrix.symmetric(XX, XY, XZ, YY, YZ, ZZ), Vector(MX, MY, MZ), M)

    @property
    def J(self) -> Matrix:
        return self[0]  # type: ignore[no-any-return]

    @property
    def MS(self) -> Vector:
        return self[1]  # type: ignore[no-any-return]

    @property
    def M(self) -> Expr:
        return self[2]  # type: ignore[no-any-return]

    @property
    def graph(self) -> Graph:
        return self.M.graph

    def ten(self) -> tuple[Expr, ...]:
        """XX XY XZ YY YZ ZZ MX MY MZ M."""
        (XX, XY, XZ), (_, YY, YZ), (_, _, ZZ) = self.J
        return (XX, XY, XZ, YY, YZ, ZZ, *self.MS, self.M)

    def __matmul__(self, V: Motion) -> Wrench:
        """M v + w x MS, J w + MS x v."""
        (J, MS, M), (v, w) = self, V
        return Wrench(M * v + cross(w, MS), J @ w + cross(MS, v))

    def kinetic_energy(self, V: Motion) -> Expr:
        """1/2 (M v.v + w.J w) + v.(w x MS)."""
        (v, w), MS = V, self.MS
        return 0.5 * (self.M * dot(v, v) + dot(w, self.J @ w)) + dot(v, cross(w, MS))

    def moment_of_mass(self, X: Pose) -> Vector:
        """Mass times centre of mass in the parent of its frame: M P + R MS."""
        return self.M * X.P + X.R @ self.MS

    def to_parent(self, X: Pose) -> Inertia:
        """The same body in the parent's frame (Khalil & Dombre 9.38)."""
        return self.turned(X.R).moved(X.P)

    def turned(self, R: Matrix) -> Inertia:
        """In axes where this frame's axes are the columns of R: R J R' and R MS."""
        axis = _axis_of(R)
        J = R @ self.J @ R.T if axis is None else _turned_tensor(axis, self.J, R)
        return Inertia(J, R @ self.MS, self.M)

    def moved(self, P: Vector) -> Inertia:
        """Seen from where this origin is at P: with s = MS + M P / 2, J + 2 (P.s) 1 - P s' - s P' and MS + M P."""
        whole = self.M * P
        s = self.MS + 0.5 * whole
        double = 2.0 * P
        xx, yy, zz = (double[k] * s[k] for k in range(3))
        (XX, XY, XZ), (_, YY, YZ), (_, _, ZZ) = self.J
        MX, MY, MZ = self.MS + whole
        return Inertia.from_ten(
            XX + (yy + zz),
            XY - (P[0] * s[1] + P[1] * s[0]),
            XZ - (P[0] * s[2] + P[2] * s[0]),
            YY + (xx + zz),
            YZ - (P[1] * s[2] + P[2] * s[1]),
            ZZ + (xx + yy),
            MX,
            MY,
            MZ,
            self.M,
        )


def _axis_of(R: Matrix) -> int | None:
    """The axis x, y or z that a rotation leaves alone, if its matrix shows it."""
    one = R.graph.one
    return next((k for k in range(3) if R[k][k] is one), None)


def _turned_tensor(axis: int, J: Matrix, R: Matrix) -> Matrix:
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
    return Matrix.of(new)


def central(mass: Expr, centre: Vector, tensor: Matrix, axes: Matrix) -> Inertia:
    """From mass, centre of mass, and the tensor at the centre in axes of its own: Huygens and Steiner."""
    return Pose(axes, centre) @ Inertia(tensor, Vector.zero(mass.graph), mass)


class ArticulatedInertia(Linear[Matrix]):
    """What relates acceleration and wrench at a link's origin when all it carries is free to move (Featherstone 7.1).

    f = A a + B wd, n = B' a + C wd, with A and C symmetric.
    """

    __slots__ = ()

    def __new__(cls, A: Matrix, B: Matrix, C: Matrix) -> Self:
        return tuple.__new__(cls, (A, B, C))

    @classmethod
    def of(cls, body: Inertia) -> Self:
        """A rigid body: A = M 1, B = -[MS]x, C = J."""
        return cls(Matrix.diagonal(body.M, body.M, body.M), body.MS.skew.T, body.J)

    def __matmul__(self, a: Motion) -> Wrench:
        (A, B, C), (v, w) = self, a
        return Wrench(A @ v + B @ w, B.T @ v + C @ w)

    def freed(self, U: Wrench, inverse: Expr, gone: int | None) -> ArticulatedInertia:
        """What is left when a column with I S = U is free: I - U U' / D, with inverse = 1/D.

        Row and column `gone` of the six are zero, where the column was a plain axis.
        """
        (A, B, C), (f, n), (x, y) = self, U, U * inverse
        A, B, C = (A - x.outer(f)).mirrored, B - x.outer(n), (C - y.outer(n)).mirrored
        if gone is None:
            return ArticulatedInertia(A, B, C)
        if gone < 3:
            return ArticulatedInertia(_cleared(A, gone, gone), _cleared(B, gone, None), C)
        return ArticulatedInertia(A, _cleared(B, None, gone - 3), _cleared(C, gone - 3, gone - 3))

    def to_parent(self, X: Pose) -> ArticulatedInertia:
        """B - A [P]x and C - B' [P]x + [P]x (B - A [P]x), all turned by R."""
        R, Px = X.R, X.P.skew
        axis = _axis_of(R)
        if axis is None:
            A, B, C = (R @ x @ R.T for x in self)
        else:
            A, B, C = _turned_tensor(axis, self[0], R), _turned(axis, self[1], R), _turned_tensor(axis, self[2], R)
        B_new = B - A @ Px
        return ArticulatedInertia(A, B_new, (C - B.T @ Px + Px @ B_new).mirrored)


def _cleared(X: Matrix, row: int | None, column: int | None) -> Matrix:
    """With zeros in a row and a column."""
    o = X.graph.zero
    return Matrix.of((o if row == i or column == j else x for j, x in enumerate(line)) for i, line in enumerate(X))


def _turned(axis: int, X: Matrix, R: Matrix) -> Matrix:
    """R X R' for a rotation about one axis: rows and columns of the other two turn in their plane."""
    a, b = (axis + 1) % 3, (axis + 2) % 3
    c, s = R[a][a], R[b][a]
    rows = [list(row) for row in X]
    rows[a], rows[b] = list(c * X[a] - s * X[b]), list(s * X[a] + c * X[b])
    for row in rows:
        row[a], row[b] = c * row[a] - s * row[b], s * row[a] + c * row[b]
    return Matrix.of(rows)
