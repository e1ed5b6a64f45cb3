"""Three-vectors and three-by-three matrices of expressions, with the operators of mechanics.

``u + v``, ``u - v``, ``-u``, ``s * u``, ``u / s``, ``A @ u``, ``A @ B``, ``A.T``, ``dot(u, v)`` and ``cross(u, v)``.
They are tuples, so parts are taken out by index or by unpacking, and equal ones are equal. What is known to be zero or
one folds away entry by entry: see `torseur.graph.folding`.

>>> g = Graph()
>>> u = Vector(*(g.symbol(name) for name in "xyz"))
>>> cross(u, Vector.unit(g, 2)), dot(u, Vector.unit(g, 0))
((y, -x, 0), x)
>>> Matrix.identity(g) @ u == u
True
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import add, sub
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar, overload

from torseur.graph import Expr, Graph

if TYPE_CHECKING:
    from torseur.spatial.pose import Motion, Wrench

__all__ = ["Linear", "Matrix", "Vector", "cross", "dot"]

T = TypeVar("T")
L = TypeVar("L", bound="Linear[Any]")


class _Maker(Protocol):
    def __call__(self, kind: type[L], parts: Iterable[Any], /) -> L: ...


_new: _Maker = tuple.__new__


class Linear(tuple[T, ...]):
    """What can be added and scaled part by part: only ever with another of its kind."""

    __slots__ = ()

    def __add__(self, other: Self) -> Self:  # type: ignore[override]
        if other.__class__ is not self.__class__:
            return NotImplemented
        return _new(self.__class__, map(add, self, other))

    def __sub__(self, other: Self) -> Self:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return _new(self.__class__, map(sub, self, other))

    def __neg__(self) -> Self:
        return _new(self.__class__, [-x for x in self])  # type: ignore[operator]

    def __mul__(self, factor: Expr | float) -> Self:  # type: ignore[override]
        return _new(self.__class__, [x * factor for x in self])  # type: ignore[operator]

    __rmul__ = __mul__  # type: ignore[assignment]

    def __truediv__(self, divisor: Expr | float) -> Self:
        return _new(self.__class__, [x / divisor for x in self])  # type: ignore[operator]


class Vector(Linear[Expr]):
    """Three components along the axes of some frame."""

    __slots__ = ()

    def __new__(cls, x: Expr, y: Expr, z: Expr) -> Self:
        return _new(cls, (x, y, z))

    @classmethod
    def zero(cls, g: Graph) -> Self:
        o = g.zero
        return _new(cls, (o, o, o))

    @classmethod
    def unit(cls, g: Graph, axis: int) -> Self:
        """Along axis 0, 1 or 2."""
        return cls(*(g.one if k == axis else g.zero for k in range(3)))

    @property
    def graph(self) -> Graph:
        return self[0].graph

    @property
    def is_zero(self) -> bool:
        """Whether it is zero whatever the symbols."""
        zero = self[0].graph.zero
        return all(x is zero for x in self)

    def outer(self, other: Vector) -> Matrix:
        """u v'."""
        return Matrix(*(other * x for x in self))

    @property
    def skew(self) -> Matrix:
        """[u]x, with [u]x v = u x v."""
        (x, y, z), o = self, self[0].graph.zero
        return Matrix.of(((o, -z, y), (z, o, -x), (-y, x, o)))


class Matrix(Linear[Vector]):
    """Three rows; as a rotation, the axes of a frame by columns."""

    __slots__ = ()

    def __new__(cls, a: Vector, b: Vector, c: Vector) -> Self:
        return _new(cls, (a, b, c))

    @classmethod
    def of(cls, rows: Iterable[Iterable[Expr]]) -> Self:
        """From rows of any kind."""
        return cls(*(Vector(*row) for row in rows))

    @classmethod
    def zero(cls, g: Graph) -> Self:
        o = Vector.zero(g)
        return cls(o, o, o)

    @classmethod
    def identity(cls, g: Graph) -> Self:
        return cls.diagonal(g.one, g.one, g.one)

    @classmethod
    def diagonal(cls, x: Expr, y: Expr, z: Expr) -> Self:
        o = x.graph.zero
        return cls.of(((x, o, o), (o, y, o), (o, o, z)))

    @classmethod
    def symmetric(cls, xx: Expr, xy: Expr, xz: Expr, yy: Expr, yz: Expr, zz: Expr) -> Self:
        return cls.of(((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)))

    @property
    def graph(self) -> Graph:
        return self[0][0].graph

    @property
    def T(self) -> Matrix:
        """The transposed; of a rotation, the way back."""
        (a, b, c), (d, e, f), (g, h, i) = self
        return _new(Matrix, (_new(Vector, (a, d, g)), _new(Vector, (b, e, h)), _new(Vector, (c, f, i))))

    @property
    def mirrored(self) -> Matrix:
        """The symmetric matrix with the same upper triangle."""
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = self
        return Matrix.symmetric(xx, xy, xz, yy, yz, zz)

    @overload
    def __matmul__(self, other: Vector) -> Vector: ...
    @overload
    def __matmul__(self, other: Matrix) -> Matrix: ...
    def __matmul__(self, other: Vector | Matrix) -> Vector | Matrix:
        if other.__class__ is Vector:
            x, y, z = other
            return _new(Vector, [a * x + b * y + c * z for a, b, c in self])
        if other.__class__ is Matrix:
            columns = other.T
            return _new(Matrix, [columns @ row for row in self])
        return NotImplemented


@overload
def dot(u: Vector, v: Vector) -> Expr: ...
@overload
def dot(u: Motion, v: Wrench) -> Expr: ...
def dot(u: Any, v: Any) -> Expr:
    """u . v; of a motion and a wrench, the power."""
    if u.__class__ is not Vector:
        return u.dot(v)  # type: ignore[no-any-return]
    (a, b, c), (x, y, z) = u, v
    return a * x + b * y + c * z  # type: ignore[no-any-return]


@overload
def cross(u: Vector, v: Vector) -> Vector: ...
@overload
def cross(u: Motion, v: Motion) -> Motion: ...
@overload
def cross(u: Motion, v: Wrench) -> Wrench: ...
def cross(u: Any, v: Any) -> Any:
    """u x v; of a velocity and a motion or wrench, the rate of what moves along."""
    if u.__class__ is not Vector:
        return u.cross(v)
    (a, b, c), (x, y, z) = u, v
    return _new(Vector, (b * z - c * y, c * x - a * z, a * y - b * x))
