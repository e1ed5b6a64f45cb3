"""Independent speeds: named by whoever asks, defined by formulas as quasi-speeds, or chosen.

A choice is good if the constraints give all other speeds. It is judged by numbers, at states the constraints allow
(`sampled_rows`).
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from torseur.describe import Effort, Formula, Load, Motor, Transmission
from torseur.describe.constraints import Prescribed, SpeedRow
from torseur.dynamics.constrained_motion.closed_states import SampledRows
from torseur.dynamics.constraints.rank import SINGULAR
from torseur.dynamics.workbench import Workbench
from torseur.errors import ArgumentError, ModelError
from torseur.graph import Expr, jacobian, ops
from torseur.graph.function import reachable

__all__ = [
    "Independent",
    "actuated_coordinates",
    "actuated_speeds",
    "independent_speeds",
    "prescribed_speeds",
    "speed_named",
]

_COMFORTABLE = 1e-2
"""Dependent speeds are sought first among those that the rows fix at least this well."""


@dataclass(frozen=True)
class Independent:
    """The independent speeds: their names, and each as an expression of v, linear in it.

    `places` are those in v of plain speeds; None for a quasi-speed.
    """

    names: tuple[str, ...]
    values: tuple[Expr, ...]
    places: tuple[int | None, ...]


def independent_speeds(w: Workbench) -> Independent:
    """Those of the options, checked, or a choice."""
    sampled = SampledRows(w)
    if w.options.independent is None:
        return _parsed(w, [w.system.v.names[k] for k in _chosen(w, sampled)])
    found = _parsed(w, w.options.independent)
    _check(w, found, sampled)
    return found


# -- by name or formula ------------------------------------------------------------------------------------------------
def speed_named(w: Workbench, name: str) -> int:
    """The place in v of a speed, or of the rate of a coordinate."""
    names = list(w.system.v.names)
    speed = w.system.mechanism.rates.get(name, name)
    if speed in names:
        return names.index(speed)
    near = difflib.get_close_matches(name, names, 1)
    raise ArgumentError(
        f"no speed '{name}'",
        where=w.system.mechanism.name,
        expected=", ".join(names),
        remedy=f"did you mean {near[0]}?" if near else None,
    )


def _parsed(w: Workbench, given: Sequence[str]) -> Independent:
    names, values, places = [], [], list[int | None]()
    for text in given:
        name, equals, formula = (part.strip() for part in text.partition("="))
        if equals:
            values.append(_quasi_speed(w, name, formula))
            places.append(None)
        else:
            places.append(speed_named(w, text.strip()))
            values.append(w.system.v.symbols[places[-1] or 0])
            name = w.system.v.names[places[-1] or 0]
        names.append(name)
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ArgumentError("independent speeds named twice", where=w.system.mechanism.name, got=", ".join(twice))
    return Independent(tuple(names), tuple(values), tuple(places))


def _quasi_speed(w: Workbench, name: str, text: str) -> Expr:
    """A formula that is linear in the speeds."""
    formula = Formula(text)
    known, where = w.system.scope, f"independent speed '{name}'"
    if not name.isidentifier() or name in known:
        raise ArgumentError("a quasi-speed needs a name of its own", where=where, expected="a new word", got=name)
    unknown = sorted(formula.names - known.keys())
    if unknown:
        raise ArgumentError("names that stand for nothing", where=where, got=", ".join(unknown))
    value = formula.expr(w.system.graph, known, w.system.tables)
    slopes = jacobian([value], list(w.system.v)).entries
    if not slopes or any(x.op is ops.SYMBOL and x.data[0] == "v" for x in reachable(slopes)):
        raise ArgumentError(
            "not linear in the speeds",
            where=where,
            expected=f"a sum of {', '.join(w.system.v.names)} times formulas of coordinates and t",
            got=text,
        )
    return value


def _check(w: Workbench, given: Independent, sampled: SampledRows) -> None:
    """An error if the speeds given depend on each other, or leave others open."""
    if not len(sampled.states):
        return  # nothing known that could be held against them
    n, where = w.tree.nv, f"independent speeds of {w.system.mechanism.name}"
    freedoms = n - sampled.rank
    if len(given.names) != freedoms:
        raise ArgumentError(
            f"{len(given.names)} independent speeds for {freedoms} freedoms",
            where=where,
            expected=f"{freedoms}, such as {', '.join(w.system.v.names[k] for k in _chosen(w, sampled))}",
            got=", ".join(given.names) or "none",
        )
    if sampled.rank_with(jacobian(list(given.values), list(w.system.v)).dense() if given.values else []) < n:
        raise ArgumentError(
            "these speeds are not independent: the constraints tie them",
            where=where,
            expected=f"for example {', '.join(w.system.v.names[k] for k in _chosen(w, sampled))}",
            got=", ".join(given.names),
        )


# -- a choice ----------------------------------------------------------------------------------------------------------
def actuated_coordinates(w: Workbench) -> list[str]:
    """The coordinates that actuators act on: those with an effort or a motor that has a torque; where there is none,
    those with a motor; and where there is none either, those with the inertia of a drive.

    An inertia alone says little: the gears of passive joints have one too.
    """
    loads = list(w.system.mechanism.loads.values())
    pushes: list[Load] = [x for x in loads if isinstance(x, Effort) or (isinstance(x, Motor) and x.torque != 0.0)]
    motors: list[Load] = [x for x in loads if isinstance(x, Motor)]
    drives: list[Load] = [x for x in loads if isinstance(x, Transmission)]
    for some in (pushes, motors, drives):
        if found := [name for x in some if (name := getattr(x, "coordinate", None)) is not None]:
            return list(dict.fromkeys(found))
    return []


def actuated_speeds(w: Workbench) -> set[int]:
    """Places in v of the rates of actuated coordinates."""
    names = set(actuated_coordinates(w))
    return {k for k, x in enumerate(w.system.mechanism.v) if x.rate_of in names}


def prescribed_speeds(w: Workbench) -> set[int]:
    """Places in v of the speeds of prescribed coordinates, and of speeds that a row gives by themselves."""
    forms = [constraint.form for constraint in w.system.mechanism.constraints.values()]
    rates = w.system.mechanism.rates
    names = {rates.get(form.coordinate, "") for form in forms if isinstance(form, Prescribed)}
    names |= {
        n for form in forms if isinstance(form, SpeedRow) and len(form.coefficients) == 1 for n in form.coefficients
    }
    return {k for k, name in enumerate(w.system.v.names) if name in names}


def _chosen(w: Workbench, sampled: SampledRows) -> list[int]:
    """Independent speeds: actuated ones if they can be, then the first of v; prescribed ones last."""
    if not len(sampled.states):
        raise ModelError(
            "no closed position was found near the start, so no independent speeds can be chosen",
            where=w.system.mechanism.name,
            remedy="start values of coordinates nearer to a closed position, or name the independent speeds",
            option="independent",
        )
    n, actuated, given = w.tree.nv, actuated_speeds(w), prescribed_speeds(w)
    wanted = sorted(range(n), key=lambda k: (k not in given, k in actuated, -k))
    dependent: list[int] = []
    for least in (_COMFORTABLE, SINGULAR):
        for k in wanted:
            if len(dependent) < sampled.rank and k not in dependent and _fixes(sampled, [*dependent, k], least):
                dependent.append(k)
    return [k for k in range(n) if k not in dependent]


def _fixes(sampled: SampledRows, speeds: list[int], least: float) -> bool:
    """Whether the rows give these speeds, at every state or, for lack of better, at some."""
    smallest = []
    for A in sampled.A:
        s = np.linalg.svd(A[:, speeds], compute_uv=False)
        smallest.append(float(s[-1]) if len(s) == len(speeds) else 0.0)
    return min(smallest) > least if least == _COMFORTABLE else max(smallest) > least
