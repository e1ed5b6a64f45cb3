"""Three-vectors and three-by-three matrices of expressions: plain tuples and the few operations mechanics needs."""

from __future__ import annotations

from torseur.graph import Expr, Graph

__all__ = [
    "Matrix",
    "Vector",
    "add",
    "cross",
    "dot",
    "identity",
    "matmul",
    "minus",
    "rotate",
    "rotate_back",
    "scale",
    "sub",
    "transpose",
    "zero_vector",
]

Vector = tuple[Expr, Expr, Expr]
Matrix = tuple[Vector, Vector, Vector]
"""By rows."""


def zero_vector(g: Graph) -> Vector:
    return (g.zero, g.zero, g.zero)


def identity(g: Graph) -> Matrix:
    o, i = g.zero, g.one
    return ((i, o, o), (o, i, o), (o, o, i))


def add(u: Vector, v: Vector) -> Vector:
    return (u[0] + v[0], u[1] + v[1], u[2] + v[2])


def sub(u: Vector, v: Vector) -> Vector:
    return (u[0] - v[0], u[1] - v[1], u[2] - v[2])


def minus(u: Vector) -> Vector:
    return (-u[0], -u[1], -u[2])


def scale(factor: Expr | float, u: Vector) -> Vector:
    return (u[0] * factor, u[1] * factor, u[2] * factor)


def dot(u: Vector, v: Vector) -> Expr:
    return u[0] * v[0] + u[1] * v[1] + u[2] * v[2]


def cross(u: Vector, v: Vector) -> Vector:
    """u x v."""
    return (u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0])


def transpose(A: Matrix) -> Matrix:
    (a, b, c), (d, e, f), (g, h, i) = A
    return ((a, d, g), (b, e, h), (c, f, i))


def rotate(A: Matrix, u: Vector) -> Vector:
    """A u."""
    return (dot(A[0], u), dot(A[1], u), dot(A[2], u))


def rotate_back(A: Matrix, u: Vector) -> Vector:
    """A' u: for a rotation, the way back."""
    return rotate(transpose(A), u)


def matmul(A: Matrix, B: Matrix) -> Matrix:
    columns = transpose(B)
    rows = [tuple(dot(row, column) for column in columns) for row in A]
    return (rows[0], rows[1], rows[2])  # type: ignore[return-value]
