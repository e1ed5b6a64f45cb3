"""Where a run starts: assembled, at rest, or as given."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from torseur.describe.checks.scope import Scope
from torseur.describe.constraints import Constraint, Contact, Rolling
from torseur.describe.evaluation import with_slipping_wheels, without_constraints
from torseur.dynamics.constraints.rows import Owner
from torseur.errors import Location, NumericalError
from torseur.model import Model, build
from torseur.model.assembly import Closing
from torseur.model.equilibria import Equilibrium
from torseur.model.modes import Stability
from torseur.model.rows import numbers, quaternions
from torseur.simulation.solvers.problem import Array
from torseur.simulation.start.consistent import StartValues, consistent, nearly_moves, singular_runs, speeds_of_a_motion
from torseur.simulation.study.study import Study

__all__ = ["Start", "StartRequest", "first_state", "first_states", "requested_values"]

CLOSED = 1e-9
"""Largest gap, m or rad, and rate of a gap, that a given start may have; contacts nearer than this touch."""

UNIT = 1e-10
"""How far off a value may be that counts as held; quaternions are held no better."""


@dataclass(frozen=True)
class Start:
    """The state with which a run starts, and how it came about.

    Attributes:
        q, v: coordinates and speeds.
        held: the names that have the values they were given.
        said: name -> the value that the study or the model asked for, as start or guess.
        stability: of a start at rest; None where it is not known.
    """

    q: Array
    v: Array
    held: tuple[str, ...]
    said: Mapping[str, float]
    stability: Stability | None = None


@dataclass(frozen=True)
class StartRequest:
    """What is asked of a start, or of many: numbers may be arrays over runs.

    Attributes:
        study: how it starts.
        given: coordinates and speeds by name, in place of those of the study.
        inputs, p: all inputs (..., nu) and parameters (..., np) then.
        is_changed: whether these are others than those of the study.
    """

    study: Study
    given: Mapping[str, Any]
    inputs: Array
    p: Array
    is_changed: bool = False

    @property
    def first(self) -> dict[str, Any]:
        """What is held before all."""
        return {**self.study.start, **self.given}

    @property
    def guess(self) -> dict[str, float]:
        return {n: x for n, x in self.study.guess.items() if n not in self.given}

    @property
    def keywords(self) -> dict[str, Any]:
        """For functions of a model."""
        return {"t": self.study.begin, "inputs": self.inputs, "parameters": self.p}

    def yields(self, model: Model) -> bool:
        """Whether the start of the model gives way: where the study names, sets or drives something itself."""
        study = self.study
        driven = {n for row in model.constraint_rows for n in row.inputs} & {*study.inputs, *study.blocks}
        return bool(self.first or self.guess or study.parameters or study.begin or driven or self.is_changed)


def first_state(model: Model, request: StartRequest) -> Start:
    """Coordinates and speeds at the start, as a study asks for them."""
    start = _start_values(model, request)
    if request.study.start_from == "given":
        return _given(model, request, *start)
    if request.study.start_from == "equilibrium":
        return _at_rest(model, request, *start)
    return _assembled(model, request, *start)


def requested_values(model: Model, request: StartRequest) -> tuple[Array, Array]:
    """Coordinates and speeds (..., n) as they are asked for, whatever constraints allow."""
    of_q, of_v = _start_values(model, request)
    return of_q.values, of_v.values


def first_states(model: Model, request: StartRequest) -> tuple[Array, list[int]]:
    """Coordinates and speeds of many runs (runs, nq + nv), and those runs whose start must be looked at alone.

    The loops of all runs are closed together, without restarts, by the same rules as those of one.
    """
    of_q, of_v = _start_values(model, request)
    runs = len(request.p)
    q, v = (np.array(np.broadcast_to(said.values, (runs, len(said.variables)))) for said in (of_q, of_v))
    slips = with_slipping_wheels(model.mechanism) is not model.mechanism
    if request.study.start_from != "assembled" or quaternions(model.mechanism) or slips:
        return np.concatenate([q, v], axis=1), list(range(runs))
    if not model.constraint_rows:
        return np.concatenate([q, v], axis=1), []
    quick, done = Closing(restarts=0), np.zeros(runs, dtype=bool)
    for names in of_q.choices:
        states = model.assemble(q, hold=names, closing=quick, **request.keywords)
        good = ~done & np.isfinite(states.q).all(axis=1)
        q[good], done = states.q[good], done | good
    moves = np.zeros(runs, dtype=bool)
    for names in of_v.choices:
        states = model.assemble(q, speeds=v, hold=names, closing=quick, **request.keywords)
        left = np.abs(np.asarray(model.function("constraint_rates")(states.q, states.v, **request.keywords))).max(
            axis=1
        )
        good = done & ~moves & (left <= quick.tolerance * np.maximum(1.0, np.abs(states.v).max(axis=1)))
        v[good], moves = states.v[good], moves | good
    moves[singular_runs(model, q, v, request.keywords)] = False
    return np.concatenate([q, v], axis=1), np.flatnonzero(~moves).tolist()


def _start_values(model: Model, request: StartRequest) -> tuple[StartValues, StartValues]:
    """What the study and the model say of coordinates and of speeds; values are (..., n)."""
    first, guess, yields = request.first, request.guess, request.yields(model)

    def place(name: str) -> Location:
        return ("start", name) if name in first else _place(model, name)

    wishes = []
    for variables in (model.coordinates, model.speeds):
        starts = numbers(model, [x.start for x in variables], request.p)
        values = dict(zip([x.name for x in variables], np.moveaxis(starts, -1, 0), strict=True))
        values |= {n: x for n, x in (guess | first).items() if n in values}
        named = tuple(n for n in values if n in first)
        second = tuple(x.name for x in variables if x.held and x.name not in first and x.name not in guess)
        guesses = tuple(n for n in values if n in guess)
        stacked = np.stack(np.broadcast_arrays(*values.values()), axis=-1) if values else np.zeros((*starts.shape,))
        wishes.append(StartValues(tuple(variables), stacked, named, second, guesses, yields, place))
    return wishes[0], wishes[1]


def _place(model: Model, name: str) -> Location:
    """Where the description says how a coordinate or speed starts."""
    scope = Scope(model.mechanism)
    speed = scope.speeds.get(name)
    path = scope.variable_path(scope.coordinates[speed.rate_of if speed and speed.rate_of else name])
    return (*path, "start_speed" if speed else "start")


def _named(*values: StartValues) -> dict[str, float]:
    return {n: said.value[n] for said in values for n in (*said.by_study, *said.by_model, *said.guesses)}


# -- assembled ---------------------------------------------------------------------------------------------------------
def _assembled(model: Model, request: StartRequest, of_q: StartValues, of_v: StartValues) -> Start:
    """What is named is held, the rest adapts.

    Contacts that may open take no part, unless they touch: whether they stay closed is decided later.
    """
    closed = _with_contacts(model, request.study, ())
    with _explained(closed, request, of_q.values):
        q_closed = consistent(of_q, partial(_positions, closed, of_q, request.keywords))
    if q_closed is None:
        closed.assemble(of_q.values, **request.keywords)  # says why
        raise NumericalError("the loops and constraints do not close at the start", where=model.mechanism.name)
    q = q_closed[0]
    v = _moving(closed, request, q, of_q, of_v)
    touching = _touching(model, request, q, v)
    if touching:
        v = _moving(_with_contacts(model, request.study, touching), request, q, of_q, of_v)
    return Start(q, v, (*_kept(of_q, q), *_kept(of_v, v)), _named(of_q, of_v))


@contextmanager
def _explained(model: Model, request: StartRequest, *places: Array) -> Iterator[None]:
    """Say of what cannot be written whether dimensions of few digits may be to blame."""
    try:
        yield
    except NumericalError as error:
        if any(nearly_moves(model, place, request.keywords) for place in places):
            error.remedy = (
                "redundant constraints disagree in the last digits, and lock the mechanism: give dimensions with more "
                f"digits, or as formulas of each other; else {error.remedy}"
            )
        raise


def _kept(said: StartValues, values: Array) -> tuple[str, ...]:
    """The names that have the values they were given."""
    near = dict(zip(said.value, np.abs(values - said.values) <= UNIT, strict=True))
    return tuple(n for n in (*said.by_study, *said.by_model) if near[n])


def _moving(model: Model, request: StartRequest, q: Array, of_q: StartValues, of_v: StartValues) -> Array:
    """Allowed speeds."""
    with _explained(model, request, q, of_q.values):
        v_allowed = consistent(of_v, partial(_speeds, model, q, of_v, request.keywords))
    if v_allowed is None:
        model.assemble(q, speeds=of_v.values, closing=Closing(CLOSED), **request.keywords)  # says why
        raise NumericalError("no initial speeds satisfy the constraints", where=model.mechanism.name)
    return speeds_of_a_motion(model, q, *v_allowed, request.keywords)


def _positions(
    model: Model,
    said: StartValues,
    keywords: Mapping[str, Any],
    names: Sequence[str],
    restarts: int = 0,
    near: Array | None = None,
) -> Array | None:
    """Coordinates that close the loops, in which some keep their values."""
    places = [list(said.value).index(n) for n in names]
    closing = Closing(restarts=restarts)
    q = np.array(said.values if near is None else near)
    for _ in range(6):  # steps turn quaternions along arcs, off the values of the components that are held
        q[places] = said.values[places]
        q = _unit(model, q, places)
        if not np.isfinite(q).all():
            return None
        try:
            q = np.array(model.assemble(q, hold=names, closing=closing, **keywords).q)
        except NumericalError:
            return None
        if np.all(np.abs(q - said.values)[places] <= UNIT):
            return q
    return None


def _unit(model: Model, q: Array, places: Collection[int]) -> Array:
    """q with quaternions of length one by those components that are not held; nan where that cannot be."""
    q = np.array(q)
    for k in quaternions(model.mechanism):
        part = q[k : k + 4]
        free = [j for j in range(4) if k + j not in places]
        rest = 1.0 - sum(part[j] ** 2 for j in range(4) if j not in free)
        if rest < -UNIT or (not free and rest > UNIT):
            part[:] = np.nan
        elif free:
            size = np.linalg.norm(part[free])
            part[free] = part[free] / size if size > 0.0 else np.eye(len(free))[0]
            part[free] *= np.sqrt(max(rest, 0.0))
    return q


def _speeds(
    model: Model,
    q: Array,
    said: StartValues,
    keywords: Mapping[str, Any],
    names: Sequence[str],
    restarts: int = 0,
    near: Array | None = None,
) -> Array | None:
    """Allowed speeds, in which some keep their values; q is closed, so that there is but one way to look for them."""
    try:
        return model.assemble(q, speeds=said.values, hold=names, closing=Closing(CLOSED, restarts=0), **keywords).v
    except NumericalError:
        return None


# -- as given ----------------------------------------------------------------------------------------------------------
def _given(model: Model, request: StartRequest, of_q: StartValues, of_v: StartValues) -> Start:
    """As it is, if constraints allow it."""
    q, v = of_q.values, of_v.values
    lengths = {model.coordinates[k].name: float(np.linalg.norm(q[k : k + 4])) for k in quaternions(model.mechanism)}
    wrong = [f"the quaternion from {n} on has length {x:.9g}" for n, x in lengths.items() if abs(x - 1.0) > CLOSED]
    binding = _with_contacts(model, request.study, _touching(model, request, q, v))
    rows, keywords = binding.constraint_rows, request.keywords
    if rows and not wrong:
        h = iter(np.asarray(binding.function("closure")(q, **keywords)) if any(r.holonomic for r in rows) else ())
        rates = np.asarray(binding.function("constraint_rates")(q, v, **keywords))
        limit = CLOSED * max(1.0, float(np.abs(v).max(initial=0.0)))
        for row, rate in zip(rows, rates, strict=True):
            gap, unit = next(h) if row.holonomic else 0.0, "rad" if row.is_angle else "m" if row.unit else ""
            wrong += [f"{row.name} is open by {gap:.3g} {unit}".rstrip()] * bool(abs(gap) > CLOSED)
            wrong += [f"{row.name} moves with {rate:.3g} {unit}/s"] * bool(abs(rate) > limit)
    if wrong:
        raise NumericalError(
            "the loops and constraints do not allow the start that is given",
            where=("start",),
            got="; ".join(wrong),
            expected=f"gaps and rates of at most {CLOSED:g}",
            remedy="give a start that they allow, or start_from: assembled, which moves what is not named",
        )
    speeds_of_a_motion(binding, q, v, tuple(of_v.value), keywords)
    return Start(q, v, tuple(of_q.value) + tuple(of_v.value), _named(of_q, of_v))


# -- at rest -----------------------------------------------------------------------------------------------------------
def _at_rest(model: Model, request: StartRequest, of_q: StartValues, of_v: StartValues) -> Start:
    """At an equilibrium near what is said."""
    rest = _equilibrium(model, request, of_q)
    return Start(rest.q, np.zeros(model.nv), (), _named(of_q, of_v), rest.stability)


def _equilibrium(model: Model, request: StartRequest, said: StartValues) -> Equilibrium:
    """With all contacts closed; if that cannot be, with all open."""
    try:
        return model.equilibrium(said.values, **request.keywords)
    except NumericalError:
        open_ = _with_contacts(model, request.study, ())
        if open_ is model:
            raise
        rest = open_.equilibrium(said.values, **request.keywords)
        if any(gap < -CLOSED for gap, _ in _contacts(model, request, rest.q, rest.v).values()):
            raise
        return rest


# -- contacts ----------------------------------------------------------------------------------------------------------
def _opens(constraint: Constraint) -> bool:
    form = constraint.form
    return isinstance(form, Contact) or (isinstance(form, Rolling) and form.lifts)


def _with_contacts(model: Model, study: Study, closed: Collection[str]) -> Model:
    """The model with only these of the constraints that may open."""
    open_ = [n for n, c in model.mechanism.constraints.items() if n not in closed and _opens(c)]
    mechanism = with_slipping_wheels(model.mechanism)
    if not open_ and mechanism is model.mechanism:
        return model
    return build(without_constraints(mechanism, open_), parameters=dict(study.parameters))


def _contacts(model: Model, request: StartRequest, q: Array, v: Array) -> dict[str, tuple[float, float]]:
    """Gap and its rate of each constraint that may open."""
    table = {Owner("constraints", n): n for n, c in model.mechanism.constraints.items() if _opens(c)}
    if not table:
        return {}
    rates = np.asarray(model.function("constraint_rates")(q, v, **request.keywords))
    pairs = [(row, rate) for row, rate in zip(model.constraint_rows, rates, strict=True) if row.holonomic]
    h = np.asarray(model.function("closure")(q, **request.keywords))
    return {
        table[row.asked_by]: (gap, rate) for (row, rate), gap in zip(pairs, h, strict=True) if row.asked_by in table
    }


def _touching(model: Model, request: StartRequest, q: Array, v: Array) -> list[str]:
    """The contacts that are closed, and stay so for the moment."""
    contacts = _contacts(model, request, q, v)
    return [n for n, (gap, rate) in contacts.items() if abs(gap) <= CLOSED and abs(rate) <= CLOSED]
