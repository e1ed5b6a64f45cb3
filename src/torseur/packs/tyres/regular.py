"""Small functions that stay finite, with finite derivatives, where the formula of a book does not."""

from __future__ import annotations

import math

from torseur.graph import Expr, absolute, maximum, minimum, select, sin, sqrt

__all__ = ["STEEPEST", "fade_in", "length", "limited_tan", "nonzero", "ramp", "within"]

STEEPEST = 1.57
"""The largest angle whose tangent is taken, rad; the tangent is 1256 there."""

_TINY = 1e-24


def within(x: Expr, low: Expr | float | None, high: Expr | float | None) -> Expr:
    """x, held at the ends of an interval; None is no end."""
    x = x if high is None else minimum(x, high)
    return x if low is None else maximum(x, low)


def nonzero(x: Expr, least: float) -> Expr:
    """x, with a magnitude of at least `least`; a divisor. Zero counts as positive."""
    return select(absolute(x) > least, x, select(x < 0.0, -least, least))


def length(x: Expr, y: Expr) -> Expr:
    """sqrt(x x + y y), at least 1e-12, so that it has a derivative at zero."""
    return sqrt(maximum(x * x + y * y, _TINY))


def limited_tan(angle: Expr) -> Expr:
    """The tangent of an angle held within 1.57 rad."""
    limited = within(angle, -STEEPEST, STEEPEST)
    return sin(limited) / sin(limited + math.pi / 2)


def ramp(x: Expr) -> Expr:
    """sin(pi x / 2) from -1 at x = -1 to 1 at x = 1, constant beyond: a sign with a finite slope."""
    return sin(math.pi / 2 * within(x, -1.0, 1.0))


def fade_in(x: Expr) -> Expr:
    """(1 - cos(pi x)) / 2 from 0 at x = 0 to 1 at |x| = 1, constant beyond, without a kink."""
    half = sin(math.pi / 2 * minimum(absolute(x), 1.0))
    return half * half
