"""What a drawing needs before it has a place for everything: how joints move, and where the coordinates are.

Which axes a kind of joint turns about and slides along is read from its motion subspace, so a kind that somebody adds
is drawn like those that move alike. Lengths and angles that have no value get stand-ins.

Where the frames of a run are: one batch of a native function per frame.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cache, lru_cache
from itertools import cycle
from typing import Any

import numpy as np
from numpy.typing import NDArray

from torseur.describe import Coordinate, Formula, Mechanism
from torseur.describe.fields import Scalar
from torseur.describe.place import Place
from torseur.dynamics.tree.system import System
from torseur.errors import ArgumentError, ModelError, NumericalError
from torseur.graph import Block, Expr, Function, Graph, evaluate
from torseur.model import Model
from torseur.model.assembly import Closing, Loops
from torseur.model.model import build
from torseur.simulation.results.channels import Role
from torseur.simulation.results.result import Run
from torseur.spatial.joints import JointKind, Quantity

__all__ = ["Freedoms", "Values", "assembled", "frame_poses", "freedoms_of", "mechanism_of", "model_of", "values_for"]

ALL = frozenset((0, 1, 2))


@dataclass(frozen=True)
class Freedoms:
    """Axes 0 1 2 (x y z) that a joint turns about and slides along, and how many speeds do it."""

    turning: frozenset[int]
    sliding: frozenset[int]
    count: int

    @property
    def axis(self) -> int:
        """The one it turns about or slides along; z where there are several."""
        for axes in (self.turning, self.sliding):
            if len(axes) == 1:
                return min(axes)
        return 2

    @property
    def has_axis(self) -> bool:
        """Whether all its motion is about and along one axis: its symbol may stand anywhere on it."""
        return len(self.turning | self.sliding) == 1

    @property
    def turns(self) -> bool:
        """About its only axis."""
        return self.has_axis and bool(self.turning)

    @property
    def slides(self) -> bool:
        """Along its only axis, whether or not it turns; not as a screw."""
        return self.has_axis and bool(self.sliding) and not self.is_screw

    @property
    def is_screw(self) -> bool:
        """One speed that turns and slides."""
        return self.has_axis and self.count < len(self.turning) + len(self.sliding)

    @property
    def is_revolute(self) -> bool:
        return len(self.turning) == 1 and not self.sliding

    @property
    def is_prismatic(self) -> bool:
        return len(self.sliding) == 1 and not self.turning

    @property
    def is_universal(self) -> bool:
        return len(self.turning) == 2 and not self.sliding

    @property
    def is_spherical(self) -> bool:
        return self.turning == ALL and not self.sliding

    @property
    def is_planar(self) -> bool:
        """Turning about one axis, sliding along the two others."""
        return len(self.turning) == 1 and self.sliding == ALL - self.turning

    @property
    def is_free(self) -> bool:
        return self.turning == self.sliding == ALL


@cache
def freedoms_of(kind: JointKind) -> Freedoms:
    """Those of a joint kind, at the neutral values of its coordinates.

    >>> from torseur.spatial.joints import KINDS
    >>> [name for name, kind in KINDS.items() if freedoms_of(kind).has_axis]
    ['revolute', 'prismatic', 'cylindrical', 'screw']
    """
    g = Graph()
    columns = kind.subspace(g, [g.number(x.neutral) for x in kind.coordinates], [g.one] * len(kind.settings))
    turning = [_axes(g, column.angular) for column in columns]
    sliding = [_axes(g, column.linear) for column in columns]
    return Freedoms(frozenset[int]().union(*turning), frozenset[int]().union(*sliding), kind.nv)


def _axes(g: Graph, vector: Iterable[Expr]) -> set[int]:
    return {k for k, part in enumerate(vector) if part is not g.zero}


Array = NDArray[np.float64]

STAND_IN_ANGLES = (30, 120, 60, 150, 45, 135)
"""deg; several ones, lest what is told apart by them falls together."""
LENGTHS = ("b", "d", "r", "a", "tx", "ty", "tz")
ANGLES = ("gamma", "alpha", "theta", "rx", "ry", "rz")
DRAWN = Closing(tolerance=1e-9, restarts=6)
"""Closed to the eye, and patient enough for a picture."""


class Use(Enum):
    """What a number in a place is."""

    LENGTH = "lengths"
    ANGLE = "angles"


@dataclass(frozen=True)
class Values:
    """Numbers for the blocks of a system, and what was assumed."""

    system: System
    q: Array
    p: Array
    length: float
    """A typical length of the mechanism, m."""
    held: frozenset[str] = frozenset()
    """Coordinates that were asked for, and must stay."""
    notes: list[str] = field(default_factory=list)

    def numbers(self, outputs: Mapping[str, Any]) -> dict[str, Array]:
        """Expressions, or nested lists of them, as numbers."""
        return self.by_q(outputs)(self.q)

    def by_q(self, outputs: Mapping[str, Any]) -> Callable[[Array], dict[str, Array]]:
        """The same at any coordinates."""
        system = self.system
        blocks: list[Block] = [system.q, system.v, system.u, system.p, system.graph.blocks["t"]]
        inputs = [record.default for record in system.mechanism.inputs.values()]
        rest: list[Any] = [np.zeros(len(system.v)), np.array(inputs, dtype=float), self.p, 0.0]
        function = Function("drawn", blocks, outputs)
        return lambda q: dict(zip(outputs, evaluate(function, q, *rest), strict=True))


def values_for(system: System, pose: Mapping[str, float], parameters: Mapping[str, float]) -> Values:
    """Numbers for every name that places depend on.

    Args:
        pose: coordinates that are wished; the others are where they start.
        parameters: values that come before those of the description.
    """
    mechanism = system.mechanism
    _check(pose, [x.name for x in mechanism.q], "coordinate")
    _check(parameters, list(system.p.names), "parameter")
    given = {name: p.value for name, p in mechanism.parameters.items() if isinstance(p.value, float)} | dict(parameters)
    uses = _uses(mechanism)
    lengths = [abs(x) for x, use in _scalars(mechanism) if use is Use.LENGTH and isinstance(x, float) and x]
    lengths += [abs(given[name]) for name, use in uses.items() if use is Use.LENGTH and given.get(name)]
    length = statistics.median(lengths) if lengths else 1.0
    notes: list[str] = []
    known = given | _stand_ins({name: use for name, use in uses.items() if name not in given}, length, notes)
    p = np.array([known.get(name, 0.0) for name in system.p.names])
    rough = Values(system, np.zeros(len(system.q)), p, length, frozenset(pose), notes)
    return Values(system, _coordinates(rough, pose), p, length, frozenset(pose), notes)


def _check(asked: Mapping[str, float], known: Sequence[str], what: str) -> None:
    for name, value in asked.items():
        if name not in known:
            raise ArgumentError(f"no {what} '{name}'", expected=", ".join(known) or "none", got=name)
        if not abs(value) <= 1e9:
            raise ArgumentError(
                f"{what} '{name}' cannot be drawn there", expected="a number below 1e9", got=repr(value)
            )


# -- parameters without value ------------------------------------------------------------------------------------------
def _stand_ins(unset: Mapping[str, Use], length: float, notes: list[str]) -> dict[str, float]:
    lengths = [name for name, use in unset.items() if use is Use.LENGTH]
    angles = dict(zip((name for name, use in unset.items() if use is Use.ANGLE), cycle(STAND_IN_ANGLES), strict=False))
    if lengths:
        notes.append(f"lengths without value drawn as {length:.3g} m: {', '.join(lengths)}")
    if angles:
        shown = ", ".join(f"{name} = {angle} deg" for name, angle in angles.items())
        notes.append(f"angles without value drawn as {shown}")
    return dict.fromkeys(lengths, length) | {name: math.radians(angle) for name, angle in angles.items()}


def _uses(mechanism: Mechanism) -> dict[str, Use]:
    """The free parameters that places depend on, in the order of the description; what is both is a length."""
    uses: dict[str, Use] = {}
    waiting = [(x, use) for x, use in _scalars(mechanism) if isinstance(x, Formula)]
    while waiting:
        formula, use = waiting.pop()
        for name in formula.names & mechanism.parameters.keys():
            if uses.get(name) in (use, Use.LENGTH):
                continue
            uses[name] = use
            inner = mechanism.parameters[name].value
            if isinstance(inner, Formula):
                waiting.append((inner, use))
    free = [name for name, p in mechanism.parameters.items() if not isinstance(p.value, Formula)]
    return {name: uses[name] for name in free if name in uses}


def _scalars(mechanism: Mechanism) -> Iterator[tuple[Scalar, Use]]:
    """Every number or formula in the places of a mechanism."""
    for place in _places(mechanism):
        for record in (place.mdh, place.dh, *(place.steps or ())):
            for names, use in ((LENGTHS, Use.LENGTH), (ANGLES, Use.ANGLE)):
                values = (getattr(record, name, None) for name in names)
                yield from ((value, use) for value in values if value is not None)
        for step in place.steps or ():
            if step.rn is not None:
                yield step.rn.angle, Use.ANGLE
        if place.pose is not None:
            yield from ((value, Use.LENGTH) for value in place.pose.position)
            yield from ((value, Use.ANGLE) for value in place.pose.rpy or ())


def _places(mechanism: Mechanism) -> Iterator[Place]:
    yield mechanism.base.place
    yield from (body.place for body in mechanism.bodies.values())
    for frames in (mechanism.base.frames, *(body.frames for body in mechanism.bodies.values())):
        yield from (frame.place for frame in frames.values())


# -- coordinates -------------------------------------------------------------------------------------------------------
def _coordinates(values: Values, pose: Mapping[str, float]) -> Array:
    """Where the coordinates start; sliding joints without a start are drawn out a little, or they would not be seen."""
    system, mechanism = values.system, values.system.mechanism
    records: dict[str, Coordinate] = {**mechanism.base.coordinates, **mechanism.coordinates}
    for body in mechanism.bodies.values():
        records |= body.joint.coordinates
    sliding = {name for name, body in mechanism.bodies.items() if freedoms_of(body.joint.algebra).slides}
    starts = values.numbers({"starts": [system.scalar(x.start) for x in mechanism.q]})["starts"]
    q: list[float] = []
    for x, start in zip(mechanism.q, starts, strict=True):
        record = records.get(x.name, Coordinate())
        if record.start is None and record.guess is None and x.name not in pose:
            slides = x.owner in sliding and x.quantity is Quantity.LENGTH
            start = _between_stops(values, record, 0.5 * values.length if slides else float(start))
        q.append(pose.get(x.name, float(start)))
    return np.asarray(np.nan_to_num(np.array(q, dtype=float), posinf=0.0, neginf=0.0))


def _between_stops(values: Values, record: Coordinate, wished: float) -> float:
    stops = [stop for stop in (record.lower, record.upper) if stop is not None]
    if len(stops) < 2:
        return wished
    lower, upper = values.numbers({"stops": [values.system.scalar(stop) for stop in stops]})["stops"]
    return float(min(max(wished, lower), upper)) if lower <= upper else wished


# -- closed loops ------------------------------------------------------------------------------------------------------
def assembled(values: Values) -> Values:
    """The values with coordinates that satisfy loops and constraints, as near as can be to the wished ones.

    What was asked for by name does not move. Where nothing closes, a note says so, and the picture shows the gap.
    """
    mechanism = values.system.mechanism
    if mechanism.is_tree:
        return values
    held = [k for k, x in enumerate(mechanism.q) if x.name in values.held]
    parameters = dict(zip(values.system.p.names, map(float, values.p), strict=True))
    try:
        attempt = Loops(build(mechanism, parameters=parameters), DRAWN, held).closed_one(values.q)
    except (ModelError, NumericalError):
        values.notes.append("loops and couplings do not close from this pose; the gaps are drawn")
        return values
    return replace(values, q=attempt.q[0])


def mechanism_of(run: Run) -> Mechanism:
    """The mechanism of a run, or an error that says it has none."""
    if run.mechanism is None:
        raise ArgumentError("this run has no mechanism", where=str(run), remedy="save the run as .nc, .csv or .res")
    return run.mechanism


def model_of(run: Run) -> Model:
    """The native model of a run's mechanism, with the parameters of the run."""
    return _model(mechanism_of(run), tuple(run.parameters.items()))


@lru_cache(maxsize=4)
def _model(mechanism: Mechanism, parameters: tuple[tuple[str, float], ...]) -> Model:
    return build(mechanism, parameters=dict(parameters))


def frame_poses(run: Run, frame: str) -> Array:
    """The pose of a body or frame in the world at every instant (nt, 4, 4)."""
    model = model_of(run)
    recorded = {channel.name: channel.values for channel in run.of(Role.INPUT)}
    inputs = {name: recorded[name] for name in model.mechanism.inputs if name in recorded}
    poses = model.pose(run.q, frame, t=run.time, inputs=inputs or None)
    return np.asarray(np.broadcast_to(poses, (len(run.time), 4, 4)))
