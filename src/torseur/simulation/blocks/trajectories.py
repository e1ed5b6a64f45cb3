"""Motions from point to point: time laws, and paths run through by them.

A time law is s(t), from 0 at `start` to 1 at `start + duration`:

============  ======================================================================================================
uniform       s = x: speed jumps at both ends
quintic       s = 10 x^3 - 15 x^4 + 6 x^5: speed and acceleration zero at both ends
trapezoid     accelerate during `blend` of the duration, coast, brake: acceleration jumps (bang-coast-bang)
============  ======================================================================================================

with x = (t - start)/duration cut to [0, 1].
"""

from __future__ import annotations

import math
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from torseur.describe.fields import FrozenDict, Name, Scalar, Triple
from torseur.errors import ModelError
from torseur.graph import Expr, absolute, cos, maximum, minimum, select, sin, sqrt
from torseur.simulation.blocks.base import Block
from torseur.simulation.blocks.context import Context
from torseur.spatial.vectors import Vector, cross, dot

__all__ = ["Circle", "Line", "Move", "PointToPoint", "Trapezoid"]

Law = Literal["uniform", "quintic", "trapezoid"]


class _Timed(Block):
    """What is run through by a time law."""

    start: Scalar = Field(0.0, description="s")
    duration: Scalar = Field(description="s")
    law: Law = Field("quintic", description="time law")
    blend: float = Field(
        1.0 / 3.0, gt=0.0, le=0.5, description="of a trapezoid: part of the duration spent accelerating"
    )

    def progress(self, context: Context) -> Expr:
        """s(t) from 0 to 1; leaves the breaks."""
        start = context.constant(self.start, "the start of a motion")
        T = context.constant(self.duration, "the duration of a motion", least=0.0, open=True)
        x = minimum(maximum((context.t - start) / T, 0.0), 1.0)
        if self.law == "uniform":
            context.breaks([start, start + T], continuous=0)
            return x
        if self.law == "quintic":
            context.breaks([start, start + T], continuous=2)
            return x * x * x * (10.0 - x * (15.0 - 6.0 * x))
        b = self.blend
        context.breaks([start, start + b * T, start + (1.0 - b) * T, start + T], continuous=1)
        return _bang_coast_bang(x, 1.0 / (1.0 - b), context.graph.number(b), context.graph.number(1.0 - 2.0 * b))


def _bang_coast_bang(x: Expr, speed: Expr | float, blend: Expr, coast: Expr) -> Expr:
    """The way after x: parabola, straight line, parabola."""
    first = minimum(maximum(x, 0.0), blend)
    second = minimum(maximum(x - blend, 0.0), coast)
    third = minimum(maximum(x - blend - coast, 0.0), blend)
    return speed * (first * first / (2.0 * blend) + second + third - third * third / (2.0 * blend))


class Move(_Timed):
    """y from `begin` to `end` by a time law."""

    kind = "move"
    begin: Scalar = Field(0.0, description="value before")
    end: Scalar = Field(description="value after")

    def build(self, context: Context, name: str) -> Expr:
        begin = context.value(self.begin)
        return begin + (context.value(self.end) - begin) * self.progress(context)


class Trapezoid(Block):
    """y from `begin` to `end` as fast as a largest speed and a largest acceleration allow; a triangle where short."""

    kind = "trapezoid"
    begin: Scalar = Field(0.0, description="value before")
    end: Scalar = Field(description="value after")
    start: Scalar = Field(0.0, description="s")
    speed: Scalar = Field(description="largest, 1/s")
    acceleration: Scalar = Field(description="largest, 1/s2")

    def build(self, context: Context, name: str) -> Expr:
        begin = context.constant(self.begin, "the begin of a motion")
        span = context.constant(self.end, "the end of a motion") - begin
        start = context.constant(self.start, "the start of a motion")
        a = context.constant(self.acceleration, "the acceleration", least=0.0, open=True)
        top = context.constant(self.speed, "the speed", least=0.0, open=True)
        way = absolute(span)
        if way is context.graph.zero:
            return begin
        peak = minimum(top, sqrt(a * way))
        blend = peak / a
        coast = way / peak - blend
        context.breaks([start, start + blend, start + blend + coast, start + 2.0 * blend + coast], continuous=1)
        moved = _bang_coast_bang(context.t - start, peak, blend, coast)
        return begin + select(span < 0.0, -moved, moved)


Values = Annotated[dict[Name, Scalar], AfterValidator(FrozenDict)]


class PointToPoint(_Timed):
    """Several quantities at once, from `begin` to `end` in the same time: a move of a whole arm.

    Gives one result for each name: ``move_q1`` for a block ``move`` and a name ``q1``.
    """

    kind = "point_to_point"
    begin: Values = Field(description="name -> value before")
    end: Values = Field(description="name -> value after")

    @model_validator(mode="after")
    def _same(self) -> Self:
        if not self.begin or self.begin.keys() != self.end.keys():
            raise PydanticCustomError("names", "begin and end must name the same quantities, at least one")
        return self

    def build(self, context: Context, name: str) -> dict[str, Expr]:
        s = self.progress(context)
        ends = {key: (context.value(self.begin[key]), context.value(self.end[key])) for key in self.begin}
        return {key: a + (b - a) * s for key, (a, b) in ends.items()}


class Line(_Timed):
    """x, y, z along the straight line from `begin` to `end`."""

    kind = "line"
    units = dict.fromkeys("xyz", "m")
    begin: Triple = Field(description="first point, m")
    end: Triple = Field(description="last point, m")

    def build(self, context: Context, name: str) -> dict[str, Expr]:
        s, a, b = self.progress(context), _vector(context, self.begin), _vector(context, self.end)
        return dict(zip("xyz", a + s * (b - a), strict=True))


class Circle(_Timed):
    """x, y, z on a circle: centre + radius (u cos(angle) + w sin(angle)), w = normal x u, through `angle` in all.

    u is `first`, the direction of the first point, made perpendicular to the normal.
    """

    kind = "circle"
    units = dict.fromkeys("xyz", "m")
    centre: Triple = Field(description="m")
    radius: Scalar = Field(description="m")
    normal: Triple = Field((0.0, 0.0, 1.0), description="axis it turns about, any length")
    first: Triple = Field((1.0, 0.0, 0.0), description="direction of the first point from the centre")
    angle: Scalar = Field(2.0 * math.pi, description="turned in all, rad")

    def build(self, context: Context, name: str) -> dict[str, Expr]:
        unit = context.bench.system.unit
        n = _vector(context, self.normal)
        if all(x.is_number and float(x) == 0.0 for x in n):
            raise ModelError("the normal of a circle has zero length", where=context.where, got="0, 0, 0")
        n, d = unit(n), _vector(context, self.first)
        u = d - dot(n, d) * n
        if all(x.is_number and abs(float(x)) < 1e-12 for x in u):
            raise ModelError(
                "the first point of a circle is not defined",
                where=context.where,
                expected="'first' not parallel to the normal",
                got="parallel to it",
            )
        u = unit(u)
        turn, radius = context.value(self.angle) * self.progress(context), context.value(self.radius)
        arm = (radius * cos(turn)) * u + (radius * sin(turn)) * cross(n, u)
        return dict(zip("xyz", _vector(context, self.centre) + arm, strict=True))


def _vector(context: Context, values: Triple) -> Vector:
    return Vector(*(context.value(value) for value in values))
