"""Consistent initial values: which are held, which give way, and which contradict each other.

What a study names comes first, what its model names second; the rest adapts. Everything is tried on one question, put
to whoever closes the loops: is there a state in which these names keep the values they were given?
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Protocol

import numpy as np

from torseur.describe.mechanism import Variable
from torseur.errors import Location, NumericalError, written
from torseur.simulation.solvers.problem import Array
from torseur.spatial.joints import Quantity

__all__ = ["Attempt", "StartValues", "consistent"]

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

    def shown(self, names: Sequence[str], found: Mapping[str, float] | None = None) -> str:
        values = self.value if found is None else found
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
        found = attempt(names)
        if found is not None:
            return found, names
    for found, names in _rounded(start, attempt):
        return found, names
    found = attempt(start.must, MANY)
    if found is not None:
        return found, start.must
    if attempt((), MANY) is None:
        return None
    raise _contradiction(start, attempt)


def _rounded(start: StartValues, attempt: Attempt) -> Iterator[tuple[Array, tuple[str, ...]]]:
    """With values that move within their rounding: the coarse ones, then finer ones too."""
    widths = {n: start.rounding[n] for n in start.must}
    for level in sorted({width for width in widths.values() if width > 0.0}, reverse=True):
        names = tuple(n for n in start.must if widths[n] < level)
        found = attempt(names)
        if found is None:
            continue
        moved = dict(zip(start.value, np.abs(found - start.values), strict=True))
        if all(moved[n] <= widths[n] for n in start.must if n not in names):
            yield found, names


def _contradiction(start: StartValues, attempt: Attempt) -> NumericalError:
    """Which entries cannot be held together, and what each of them could be beside the others."""
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
        found = attempt([n for n in start.must if n != name])
        found = attempt([n for n in clash if n != name], MANY) if found is None else found
        states += [found] if found is not None else []
    nearest = {}
    for name in clash[:MOST_SHOWN]:
        others, k = [n for n in clash if n != name], list(start.value).index(name)
        tried = [attempt(others, near=state) for state in states]
        values = [float(found[k]) for found in tried if found is not None]
        if values:
            value = min(values, key=lambda x: abs(x - start.value[name]))
            nearest[name] = value if abs(value) > NEGLIGIBLE * abs(start.value[name]) else 0.0
    return nearest
