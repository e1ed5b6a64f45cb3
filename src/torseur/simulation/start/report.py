"""How a run started, as plain data and in words; and whether the run really began with what was asked."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from torseur.errors import NumericalError
from torseur.model import Model
from torseur.model.modes import Stability
from torseur.simulation.solvers.problem import Array
from torseur.simulation.start.first_state import Start

__all__ = ["check_rest", "start_facts", "start_lines", "still_held"]

MOST = 24
"""Values in one line of words; all of them are in the plain data."""

NOTHING = 1e-12
"""Values below are shown as zeros."""

_FIXED = "\N{NO-BREAK SPACE}"

SAME = 1e-9
"""Of the size of a value: less is no move worth a word."""

RESTS = 1e-6
"""Largest acceleration at rest, m/s2 or rad/s2, or force as a share of the largest weight."""


def start_facts(start: Start, how: str, names: Sequence[str], x: Array) -> dict[str, Any]:
    """``from``, ``values`` of all coordinates and speeds, which were ``held``, which ``moved`` (name -> what was said
    of it), and ``stability`` of a start at rest.

    Args:
        start: as it was found.
        how: assembled, equilibrium or given.
        names: of coordinates and speeds.
        x: with what the run began, these first.
    """
    values = {n: float(value) for n, value in zip(names, x, strict=False)}
    moved = {n: said for n, said in start.said.items() if abs(values[n] - said) > SAME * max(1.0, abs(said))}
    held = [n for n in start.held if n not in moved]
    rest = how == "equilibrium"
    stability = start.stability.name.lower() if start.stability is not None else "not known" if rest else None
    return {"from": how, "values": values, "held": held, "moved": moved, "stability": stability}


def start_lines(facts: Mapping[str, Any]) -> list[str]:
    """The same in words; the first line is a heading.

    >>> facts = {"from": "assembled", "values": {"a": 1.0, "b": 0.5, "da": 0.0}, "held": ["a"], "moved": {"b": 0.4}}
    >>> print("\\n".join(start_lines(facts)))
    initial state: assembled
      given: a = 1
      adjusted: b = 0.5 (from 0.4)
      others: 1 at 0
    """
    values, held, moved = facts["values"], facts["held"], facts["moved"]
    free = {n: x for n, x in values.items() if n not in held and n not in moved}
    how = facts["from"]
    if how == "equilibrium":
        known = Stability.__members__.get(facts["stability"].upper())
        how = f"at rest, {known.name.lower()}: {known.value}" if known else "at rest, stability not known"
    groups = {
        "given": [_equal(n, values[n]) for n in held],
        "adjusted": [_moved(n, said, values[n]) for n, said in moved.items()],
        "others": [_equal(n, x) for n, x in free.items() if abs(x) > NOTHING],
    }
    zeros = sum(abs(x) <= NOTHING for x in free.values())
    groups["others"] += [f"{zeros} at 0"] * bool(zeros)
    lines = [f"initial state: {how}"]
    for name, parts in groups.items():
        if parts:
            shown = parts if len(parts) <= MOST else [*parts[: MOST - 1], f"{len(parts) - MOST + 1} more"]
            text = f"{name}: {', '.join(part.replace(' ', _FIXED) for part in shown)}"
            lines += textwrap.wrap(text, 110, initial_indent="  ", subsequent_indent="    ")
    return [line.replace(_FIXED, " ") for line in lines]


def _equal(name: str, value: float) -> str:
    return f"{name} = {value if abs(value) > NOTHING else 0.0:.6g}"


def _moved(name: str, said: float, used: float) -> str:
    before, after = _equal(name, said), _equal(name, used)
    return f"{after} ({f'by {used - said:.2g}' if before == after else f'from {said:.6g}'})"


def still_held(start: Start, names: Sequence[str], before: Array, after: Array) -> Array:
    """The state after contacts and friction settled without an impact: what is held must not have changed."""
    pairs = {n: (float(a), float(b)) for n, a, b in zip(names, before, after, strict=False)}
    lost = [n for n in start.held if abs(pairs[n][1] - pairs[n][0]) > 1e-8 * max(1.0, abs(pairs[n][0]))]
    if lost:
        raise NumericalError(
            "contacts and friction do not allow this start",
            where=("start",),
            got=", ".join(f"{n} = {pairs[n][0]:.9g}" for n in lost),
            expected=", ".join(f"{n} = {pairs[n][1]:.9g}" for n in lost),
            remedy="give values that fit together, or give as guess what may move",
        )
    places = [names.index(n) for n in start.held]
    after[places] = before[places]
    return after


def check_rest(model: Model, q: Array, vdot: Array, **keywords: Any) -> None:
    """A start at rest must not accelerate: M vdot is small beside the weights, or vdot itself is.

    Args:
        model: of what starts.
        q, vdot: coordinates, and accelerations there with all that drives them.
        keywords: time and parameters.
    """
    forces = np.asarray(model.function("mass_matrix")(q, **keywords)) @ vdot
    weights = np.asarray(model.function("gravity")(q, **keywords))
    largest = [float(np.abs(x).max(initial=0.0)) for x in (vdot, forces, weights)]
    if largest[0] <= RESTS or largest[1] <= RESTS * largest[2]:
        return
    names = [x.name for x in model.speeds]
    large = np.abs(vdot) > 0.1 * np.abs(vdot).max()
    raise NumericalError(
        "the start is not at rest: controllers or contacts exert other forces than in the equilibrium",
        where=("start_from",),
        got=", ".join(f"d{n} = {a:.4g}" for n, a, is_large in zip(names, vdot, large, strict=True) if is_large),
        expected="no accelerations",
        remedy="let inputs that hold it be signals of time or numbers, or name the start and leave out start_from",
    )
