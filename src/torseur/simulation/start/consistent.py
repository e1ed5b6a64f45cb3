"""Consistent initial values: which are held, which give way, and which contradict each other.

What a study names comes first, what its model names second; the rest adapts. Everything is tried on one question, put
to whoever closes the loops: is there a state in which these names keep the values they were given?

Speeds at a singular position: which of those that the rows allow for an instant are those of a motion.

======  ================================================================================================
A, b    the rows are A v + c = 0 and A vdot = b(q, v), at a position where A loses rank
W       the rows that are lost there: W'A = 0
======  ================================================================================================

Beside a singular position (a parallelogram that lies flat) fewer motions are possible than at it. Speeds can only go on
if accelerations exist, W'b(q, v) = 0: quadratic equations, with a solution for each way the mechanism can go.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from torseur.describe.mechanism import Variable
from torseur.dynamics.constraints.rank import ROUNDING, ClosedStates, rank_here
from torseur.errors import Location, NumericalError, written
from torseur.model import Model
from torseur.model.rows import numeric_rows
from torseur.simulation.solvers.problem import Array
from torseur.spatial.joints import Quantity

__all__ = ["Attempt", "StartValues", "consistent", "nearly_moves", "singular_runs", "speeds_of_a_motion"]

ROUNDED_FROM = 4
"""Numbers written with at least so many digits count as rounded."""

NEGLIGIBLE = 1e-8
"""Of the size of a value: what the error of a computation may have left in it, such as that of an earlier run."""

MOST_SHOWN = 4
"""Entries for which a value that fits is told."""

FEW, MANY = 4, 24
"""Further starts of the search, before something counts as impossible."""


@dataclass(frozen=True)
class StartValues:
    """The values that coordinates, or speeds, are given at a start.

    Attributes:
        variables: all of them, in order.
        values: (n,), or (runs, n), as the study, the model or the kind of joint says.
        by_study: those that the study names.
        by_model: those that only the model names.
        guesses: those that either gives as a guess.
        yields: whether those of the model give way, because the study asks for another start than the model.
        place: where each of these stands.
    """

    variables: tuple[Variable, ...]
    values: Array
    by_study: tuple[str, ...]
    by_model: tuple[str, ...]
    guesses: tuple[str, ...]
    yields: bool
    place: Callable[[str], Location]

    @cached_property
    def value(self) -> dict[str, float]:
        return {x.name: float(value) for x, value in zip(self.variables, self.values, strict=True)}

    @property
    def must(self) -> tuple[str, ...]:
        """Those that do not give way."""
        return self.by_study if self.yields else (*self.by_study, *self.by_model)

    @property
    def choices(self) -> list[tuple[str, ...]]:
        """What to hold, first of all: everything that is named, or else what does not give way."""
        every = (*self.by_study, *self.by_model)
        return [every] if self.must == every else [every, self.must]

    @cached_property
    def rounding(self) -> dict[str, float]:
        """How far each may be off because it is rounded: a unit of its last digit, or the error of a computation."""
        sizes: dict[Quantity, float] = {Quantity.ANGLE: 1.0, Quantity.NUMBER: 1.0}
        for x in self.variables:
            sizes[x.quantity] = max(sizes.get(x.quantity, 0.0), abs(self.value[x.name]))
        return {x.name: _last_digit(self.value[x.name], NEGLIGIBLE * sizes[x.quantity]) for x in self.variables}

    def shown(self, names: Sequence[str], value: Mapping[str, float] | None = None) -> str:
        values = self.value if value is None else value
        return ", ".join(f"{n} = {values[n]:.9g}" for n in names)


def _last_digit(value: float, least: float) -> float:
    """A unit of the last digit, at least `least`; zero for numbers of few digits, which are meant exactly."""
    number = Decimal(repr(value)).normalize()
    if len(number.as_tuple().digits) < ROUNDED_FROM:
        return 0.0
    return max(10.0 ** int(number.as_tuple().exponent), least)


class Attempt(Protocol):
    """Looks for a state in which some names keep their values: all values (n,), or None.

    The search begins with the values that are given, or `near` others.
    """

    def __call__(self, names: Sequence[str], restarts: int = 0, near: Array | None = None) -> Array | None: ...


def consistent(start: StartValues, attempt: Attempt) -> tuple[Array, tuple[str, ...]] | None:
    """Values that are allowed (n,), and the names that keep theirs; None if nothing is allowed at all.

    Raises a `NumericalError` that names those that contradict each other.
    """
    for names in start.choices:
        state = attempt(names)
        if state is not None:
            return state, names
    for state, names in _rounded(start, attempt):
        return state, names
    state = attempt(start.must, MANY)
    if state is not None:
        return state, start.must
    if attempt((), MANY) is None:
        return None
    raise _contradiction(start, attempt)


def _rounded(start: StartValues, attempt: Attempt) -> Iterator[tuple[Array, tuple[str, ...]]]:
    """With values that move within their rounding: the coarse ones, then finer ones too."""
    widths = {n: start.rounding[n] for n in start.must}
    for level in sorted({width for width in widths.values() if width > 0.0}, reverse=True):
        names = tuple(n for n in start.must if widths[n] < level)
        state = attempt(names)
        if state is None:
            continue
        moved = dict(zip(start.value, np.abs(state - start.values), strict=True))
        if all(moved[n] <= widths[n] for n in start.must if n not in names):
            yield state, names


def _contradiction(start: StartValues, attempt: Attempt) -> NumericalError:
    """Which entries cannot be written together, and what each of them could be beside the others."""
    clash = list(start.must)
    for name in reversed(start.must):
        fewer = [n for n in clash if n != name]
        if attempt(fewer, FEW) is None:
            clash = fewer
    near = []
    for name, value in _nearest(start, attempt, clash).items():
        others = [n for n in clash if n != name]
        near.append(start.shown([name], {name: value}) + (f" with {start.shown(others)}" if others else ""))
    alone = len(clash) == 1
    places = [("start",)] if not alone and set(clash) <= set(start.by_study) else [start.place(n) for n in clash]
    what = f"{clash[0]} cannot have this value" if alone else f"{', '.join(clash)} contradict each other"
    return NumericalError(
        f"the loops and constraints do not allow this start: {what}",
        where=places[0] if len(places) == 1 else ", ".join(map(written, places)),
        got=start.shown(clash),
        expected=f"nearest: {', or '.join(near)}" if near else None,
        remedy=f"{'change it' if alone else 'change or leave out one of them'}, or give as guess what may move",
    )


def _nearest(start: StartValues, attempt: Attempt, clash: Sequence[str]) -> dict[str, float]:
    """What each of some entries could be beside the others, nearest to what it should have been."""
    states: list[Array] = []
    for name in clash[:MOST_SHOWN]:
        there = attempt([n for n in start.must if n != name])
        there = attempt([n for n in clash if n != name], MANY) if there is None else there
        states += [there] if there is not None else []
    nearest = {}
    for name in clash[:MOST_SHOWN]:
        others, k = [n for n in clash if n != name], list(start.value).index(name)
        tried = [attempt(others, near=state) for state in states]
        values = [float(there[k]) for there in tried if there is not None]
        if values:
            value = min(values, key=lambda x: abs(x - start.value[name]))
            nearest[name] = value if abs(value) > NEGLIGIBLE * abs(start.value[name]) else 0.0
    return nearest


FITS = 1e-5
"""What W'b may be, beside b, of speeds that go on: singular positions that are closed to 1e-12 are met to 1e-6."""

NEARLY = 1e-4
"""What dimensions of a few digits leave where exact ones leave nothing: gaps beside the length of the mechanism,
singular values beside the largest."""

CLOSED = 1e-12
"""Gaps, beside that length, of what is closed to rounding."""

TRIES, ITERATIONS = 12, 50
"""The search for solutions of the quadratic equations: how many starts, with how many steps each."""

POLISH = 2
"""Steps of Newton after a solution is near enough, down to rounding."""

"""Ways to go on that an error shows."""


def speeds_of_a_motion(model: Model, q: Array, v: Array, held: Collection[str], keywords: dict[str, Any]) -> Array:
    """Allowed speeds that can go on, near to those given; these themselves away from singular positions.

    Raises a `NumericalError` where none can, or where several can.

    Args:
        model: of the mechanism; its rows may not depend on inputs that move.
        q: a closed position.
        v: allowed speeds.
        held: names of the speeds that do not adapt.
        keywords: t, inputs, parameters.
    """
    if not model.constraint_rows or not v.any():
        return v
    states = ClosedStates(numeric_rows(model, keywords), q)
    rank = _rank(states, states.here)
    if rank >= sum(component.rank for component in states.ranks()):
        return v
    here = _Singular(model, q, held, keywords, states, rank)
    if here.fits(v):
        return v
    ways = here.ways(v)
    if len(ways) == 1:
        return ways[0]
    raise here.error(v, ways)


def singular_runs(model: Model, q: Array, v: Array, keywords: dict[str, Any]) -> list[int]:
    """Of many starts (runs, ...) those at a singular position, as seen from the first, that have speeds."""
    if not model.constraint_rows or not v.any():
        return []
    one = {name: x if np.ndim(x) < 2 else x[0] for name, x in keywords.items()}
    states = ClosedStates(numeric_rows(model, one), q[0])
    usual = sum(component.rank for component in states.ranks())
    A = states.rows.scaled(np.asarray(model.function("constraint_jacobian")(q, **keywords)))
    A = np.nan_to_num(np.broadcast_to(A, (len(q), *A.shape[-2:])) / states.row_lengths[:, None])
    return [k for k in range(len(q)) if v[k].any() and _rank(states, A[k]) < usual]


def nearly_moves(model: Model, q: Array, keywords: dict[str, Any]) -> bool:
    """Whether a position that nearly closes would allow a motion if dimensions were a little different."""
    if not model.constraint_rows:
        return False
    rows = numeric_rows(model, keywords)
    states = ClosedStates(rows, q)
    gap = float(np.abs(rows.h(q)).max(initial=0.0)) / max(rows.L, 1e-300)
    if gap > NEARLY:
        return False
    least = 0.0 if gap > CLOSED else ROUNDING  # what is closed and loses rank is a singular position
    for some, speeds in rows.components:
        s = np.linalg.svd(states.here[np.ix_(list(some), list(speeds))], compute_uv=False)
        if len(some) >= len(speeds) and s.size and least <= s[-1] / max(s[0], 1e-300) < NEARLY:
            return True
    return False


def _rank(states: ClosedStates, A: Array) -> int:
    """At one position, of rows that are scaled as those states have them."""
    return sum(rank_here(A[np.ix_(list(rows), list(speeds))]) for rows, speeds in states.rows.components)


@dataclass(frozen=True)
class _Singular:
    model: Model
    q: Array
    held: Collection[str]
    keywords: dict[str, Any]
    states: ClosedStates
    rank: int

    @property
    def names(self) -> list[str]:
        return [x.name for x in self.model.speeds]

    @cached_property
    def factors(self) -> Array:
        """Of the rows: what makes them comparable."""
        rows = self.states.rows
        return np.asarray(np.where(rows.angles, 1.0, 1.0 / rows.L) / self.states.row_lengths)

    @cached_property
    def lost(self) -> Array:
        """W, (rows, lost)."""
        return np.asarray(np.linalg.svd(self.states.here)[0][:, self.rank :])

    @property
    def free(self) -> Array:
        """The directions (nv, k) that rows and held speeds leave."""
        held = np.eye(len(self.names))[[k for k, name in enumerate(self.names) if name in self.held]]
        allowed = np.linalg.svd(self.states.here)[2][: self.rank]  # across these directions nothing moves
        _, s, Vt = np.linalg.svd(np.concatenate([allowed, held]))
        D = Vt[int(np.count_nonzero(s > 1e-9 * s[0])) :].T
        return np.asarray(self.states.rows.columns[:, None] * D)

    def left(self, v: Array) -> tuple[Array, float]:
        """W'b at speeds, and the size of b at speeds of that size."""
        b = self.factors * np.asarray(self.model.function("constraint_bias")(self.q, v, **self.keywords))
        size = float(np.abs(v / self.states.rows.columns).max()) ** 2
        return self.lost.T @ b, max(size, float(np.abs(b).max(initial=0.0)), 1e-300)

    def fits(self, v: Array) -> bool:
        left, size = self.left(v)
        return float(np.abs(left).max(initial=0.0)) <= FITS * size

    def ways(self, v: Array) -> list[Array]:
        """The speeds that go on, each once; the nearest first."""
        D, size = self.free, float(np.abs(v).max())
        if not D.shape[1]:
            return []
        rng, ways = np.random.default_rng(0), list[Array]()
        for k in range(TRIES):
            away = np.asarray(k * size * rng.normal(size=D.shape[1]))  # the nearest first, then ever farther
            way = self._newton(v, D, away)
            if way is not None and not any(np.abs(way - w).max() < 1e-5 * size for w in ways):
                ways.append(way)
        return sorted(ways, key=lambda w: float(np.linalg.norm(w - v)))

    def _newton(self, v: Array, D: Array, y: Array) -> Array | None:
        step, polishing = float(np.abs(v).max()), 0
        for _ in range(ITERATIONS):
            at = v + D @ y
            polishing += self.fits(at)
            if polishing > POLISH:
                return at
            left = self.left(at)[0]
            sides = [[self.left(at + sign * step * d)[0] for sign in (1.0, -1.0)] for d in D.T]
            J = np.stack([(after - before) / (2.0 * step) for after, before in sides], axis=1)  # exact: quadratic
            y = y - np.linalg.lstsq(J, left, rcond=1e-10)[0]
        return None

    def error(self, v: Array, ways: list[Array]) -> NumericalError:
        told = [", ".join(f"{n} = {x:.9g}" for n, x in zip(self.names, way, strict=True)) for way in ways[:MOST_SHOWN]]
        if ways:
            return NumericalError(
                "the start is a singular position, from which the motion can go on in several ways",
                where="start",
                expected="speeds of one of them: " + "; or ".join(told),
                remedy="name one more speed, or start beside that position",
            )
        return NumericalError(
            "the start is a singular position, and no motion goes on with these speeds",
            where="start",
            got=", ".join(f"{n} = {x:.9g}" for n, x in zip(self.names, v, strict=True)),
            remedy="change or leave out one of the speeds that are named, or start beside that position",
        )
