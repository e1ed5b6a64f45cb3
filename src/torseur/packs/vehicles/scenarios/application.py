"""A scenario applied to a vehicle: an ordinary study.

Parameters of the scenario become parameters of the model, called ``scenario_NAME``, so that formulas of blocks keep
them and another value is another run of the same code; everywhere else their values are put in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from torseur.describe import Mechanism
from torseur.describe.bodies import WORLD, Road
from torseur.describe.faults import guess
from torseur.describe.fields import FrozenDict, Scalar, rewritten
from torseur.describe.formulas import Formula
from torseur.describe.mechanism import Parameter
from torseur.errors import ArgumentError, ModelError
from torseur.packs.roads import RoadKind
from torseur.packs.vehicles.corner import ROAD
from torseur.packs.vehicles.indicators.course import OVERTURNED, Course, Unit
from torseur.packs.vehicles.layout import Layout
from torseur.packs.vehicles.scenarios.controls import Controls, check_can
from torseur.packs.vehicles.scenarios.description import KNOWN, Path, Scenario, ScenarioParameter
from torseur.packs.vehicles.scenarios.reader import load_scenario
from torseur.simulation.run.simulate import simulate, study_of
from torseur.simulation.study.study import Study

__all__ = ["ChosenScenario", "scenario"]

T = TypeVar("T")

LEVEL = 1e-9
"""How far heights under wheels may be off a plane, m; beyond, a vehicle starts above the road by `CLEAR`."""
CLEAR = 2e-3
PREFIX = "scenario_"
"""What parameters of a scenario are called in the model, with their names behind."""


@dataclass(frozen=True)
class ChosenScenario:
    """A scenario with values of its parameters.

    >>> chosen = scenario("iso_3888_2", speed=16.0)
    >>> chosen.called
    'iso_3888_2 (speed 16)'
    """

    scenario: Scenario
    values: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in self.values:
            if name not in self.scenario.parameters:
                expected, remedy = guess(name, self.scenario.parameters)
                text = f"the scenario '{self.scenario.name}' has no parameter '{name}'"
                raise ArgumentError(text, expected=expected, remedy=remedy)

    @property
    def called(self) -> str:
        given = ", ".join(f"{name} {value:.6g}" for name, value in self.values.items())
        return f"{self.scenario.name} ({given})" if given else self.scenario.name

    def applied(self, study: Study) -> Study:
        """The study of a vehicle that does this; what the study says beside is kept.

        Inputs that the study drives itself must not be those that the scenario drives.
        """
        return _Applied(self, study).study()


def scenario(name: str, **values: float) -> ChosenScenario:
    """A scenario by its name, or out of a file, with values of its parameters in place of those by default.

    >>> import torseur as ts
    >>> ts.scenario("step_steer", speed=20.0).values
    {'speed': 20.0}
    """
    return ChosenScenario(load_scenario(name), values)


class _Applied:
    """A scenario on its way to a study."""

    def __init__(self, chosen: ChosenScenario, before: Study) -> None:
        self.chosen, self.before = chosen, before
        self.scenario = chosen.scenario
        self.layout = Layout(before.model, before.parameters)
        check_can(self.layout, self.scenario)
        self.values = self._values()

    # -- values --------------------------------------------------------------------------------------------------------
    def _values(self) -> dict[str, float]:
        """What is known of the vehicle, then the parameters, each from those before it."""
        layout = self.layout
        known = {
            "vehicle_mass": layout.mass,
            "vehicle_width": layout.width,
            "vehicle_front": layout.front,
            "vehicle_rear": layout.rear,
            "wheelbase": layout.wheelbase,
            "gravity": layout.gravity,
        }
        assert known.keys() == KNOWN.keys()
        for name, parameter in self.scenario.parameters.items():
            if name in self.chosen.values:
                known[name] = float(self.chosen.values[name])
            else:
                known[name] = self._by_default(name, parameter, known)
            _check_bounds(self.scenario.name, name, parameter, known)
        for name, value in self.scenario.quantities.items():
            known[name] = _value(value, known)
        return known

    def _by_default(self, name: str, parameter: ScenarioParameter, known: Mapping[str, float]) -> float:
        if parameter.value is not None:
            return _value(parameter.value, known)
        found = parameter.found
        assert found is not None  # a scenario file is checked for it
        before = scenario(found.scenario, **{key: _value(x, known) for key, x in found.set.items()})
        measure = simulate(before.applied(self.before)).indicators.get(found.indicator)
        if measure is None or measure.value is None:
            raise ModelError(
                f"the scenario '{self.scenario.name}' needs what '{before.called}' finds, and that does not come about",
                where=self.before.model.name,
                got=f"{found.indicator}: {'none' if measure is None else measure.said}",
                remedy=f"give {name} yourself, or choose what the vehicle can do",
            )
        return measure.value * _value(found.times, known)

    def number(self, value: Scalar) -> float:
        """A number or formula of the scenario as a number."""
        return _value(value, self.values)

    def named(self, record: T) -> T:
        """Formulas with the parameters of the scenario under the names that they have in the model."""
        names: dict[str, float | str | Formula] = {name: f"{PREFIX}{name}" for name in self._own}
        names |= {name: self.values[name] for name in KNOWN}
        return rewritten(record, lambda formula: formula.with_names(names))

    def numbered(self, record: T) -> T:
        """The same with numbers in place of all formulas of parameters."""

        def change(formula: Formula) -> Scalar:
            known = {name: x for name, x in self.values.items() if name in formula.names}
            left = formula.with_names(known) if known else formula
            return left if left.names else left.value()

        return rewritten(record, change)

    @property
    def _own(self) -> tuple[str, ...]:
        """Names of the scenario that formulas of the study use."""
        return (*self.scenario.parameters, *self.scenario.quantities)

    # -- the study -----------------------------------------------------------------------------------------------------
    def study(self) -> Study:
        made, before = self.scenario, self.before
        speed = self.number(made.speed)
        controls = Controls(self.layout, self._steered(), speed)
        blocks, inputs = controls.blocks(), controls.inputs()
        self._check_free(inputs, blocks)
        ends = {f"ends_{name}": {"crossing": {"value": value}} for name, value in self._ends().items()}
        units, poses = self._units() if made.gates else ({}, {})
        indicators = {name: self.numbered(one) for name, one in made.indicators.items()}
        if made.gates:
            indicators = {"course": Course(gates=self.numbered(made.gates), units=FrozenDict(units)), **indicators}
        return study_of(
            before,
            model=self._model(),
            name=f"{before.called}: {self.chosen.called}"[:120],
            title=before.title or f"{made.title}: {self._told()}"[:500],
            start={**self._start(speed), **before.start},
            inputs={**before.inputs, **inputs},
            blocks={**before.blocks, **blocks, **ends, **poses},
            changes=(*before.changes, *({"event": name, "stop": True} for name in ends)),
            until=self.number(made.until),
            every=self.number(made.every),
            solver=self.numbered(made.solver),
            indicators={**before.indicators, **indicators},
        )

    def _ends(self) -> dict[str, Any]:
        """What ends the run before its time: what the scenario says, and a vehicle that turns over."""
        ends = dict(self.named(self.scenario.ends_when))
        rolls = any(x.name == "roll" for x in self.before.model.q)
        return {"overturned": f"{OVERTURNED} - abs(roll)", **ends} if rolls else ends

    def _steered(self) -> Scenario:
        """The scenario in names of the model; points of a path are numbers."""
        named, steer = self.named(self.scenario), self.scenario.steer
        if not isinstance(steer, Path):
            return named
        points = {"xs": self.numbered(steer.xs), "ys": self.numbered(steer.ys)}
        return named.model_copy(update={"steer": self.named(steer).model_copy(update=points)})

    def _told(self) -> str:
        parameters = self.scenario.parameters
        return ", ".join(f"{n} {self.values[n]:.5g} {p.unit}".rstrip() for n, p in parameters.items())

    def _check_free(self, inputs: Mapping[str, Any], blocks: Mapping[str, Any]) -> None:
        mine, theirs = {*inputs, *blocks}, {*self.before.inputs, *self.before.blocks}
        both = sorted(mine & theirs)
        if both:
            raise ModelError(
                f"both the study and the scenario '{self.scenario.name}' have a block for {', '.join(both)}",
                where=self.before.called,
                remedy="leave it out of the study, or take the model alone",
            )

    def _model(self) -> Mechanism:
        """The model with the parameters of the scenario, and on its road."""
        model, added = self.before.model, {}
        for name, parameter in self.scenario.parameters.items():
            words = f"of the scenario {self.scenario.name}: {parameter.description}"
            added[f"{PREFIX}{name}"] = Parameter(
                value=self.values[name], unit=parameter.unit or None, description=words
            )
        for name in self.scenario.quantities:
            words = f"of the scenario {self.scenario.name}: follows from its parameters"
            added[f"{PREFIX}{name}"] = Parameter(value=self.values[name], description=words)
        taken = sorted(set(added) & {*model.parameters, *model.inputs, *(x.name for x in (*model.q, *model.v))})
        if taken:
            raise ModelError(
                "the model has names that the scenario needs",
                where=model.name,
                got=", ".join(taken),
                remedy="a scenario is applied once, to a vehicle as it is",
            )
        changes: dict[str, Any] = {"parameters": {**model.parameters, **added}}
        if self.scenario.road is not None:
            changes |= self._road(model, self.scenario.road)
        return model.model_copy(update=changes)

    def _road(self, model: Mechanism, road: Road | RoadKind) -> dict[str, Any]:
        names = {c.rolling.road for c in model.constraints.values() if c.rolling is not None}
        if names != {ROAD}:
            raise ModelError(
                f"the scenario '{self.scenario.name}' brings a road, and the wheels are not on one called '{ROAD}'",
                where=model.name,
                expected=f"rolling constraints with road: {ROAD}",
                got=", ".join(sorted(name or "ground" for name in names)),
            )
        if self.layout.is_planar and not _is_level(road):
            raise ModelError(
                f"the scenario '{self.scenario.name}' has a road that is not level, and this chassis moves in a plane",
                where=f"{model.name}: chassis.motion",
                remedy="give the chassis `motion: free`",
            )
        given = self.named(road)
        if isinstance(given, Road):
            return {"roads": {**model.roads, ROAD: given}}
        made = given.made(ROAD, None)
        return {"roads": {**model.roads, ROAD: made.road}, "tables": {**model.tables, **made.tables}}

    def _start(self, speed: float) -> dict[str, float]:
        """All wheels roll, and what is geared to them turns; the chassis moves along its own x."""
        start = {"x": self.number(self.scenario.x), "y": self.number(self.scenario.y), "vx": speed}
        start |= self.layout.rolling(speed)
        return {n: value for n, value in start.items() if value != 0.0 or n == "vx"} | self._stand(
            start["x"], start["y"]
        )

    def _stand(self, x: float, y: float) -> dict[str, float]:
        """Height, roll and pitch of a chassis where its road is not level: on the plane under its wheels."""
        model = self.before.model
        road, own = model.roads.get(ROAD), model.base.coordinates
        given = [own[name].start for name in ("z", "roll", "pitch") if name in own]
        if self.scenario.road is not None or road is None or road.is_flat or road.frame != WORLD or given != [None] * 3:
            return {}
        rows = np.array([[1.0, *wheel.place[:2]] for wheel in self.layout.own_wheels])
        heights = np.array([self.layout.scalar(road.height, x=x + a, y=y + b) for _, a, b in rows])
        if not heights.any():
            return {}
        c, rise, bank = np.linalg.lstsq(rows, heights, rcond=None)[0]
        above = float(np.max(heights - rows @ (c, rise, bank)))
        at_rest = self.layout.scalar(own["z"].guess or 0.0)
        z = c + at_rest * np.sqrt(1.0 + rise**2 + bank**2) + (above + CLEAR if above > LEVEL else 0.0)
        return {"z": float(z), "pitch": -float(np.arctan(rise)), "roll": float(np.arctan2(bank, np.hypot(1.0, rise)))}

    def _units(self) -> tuple[dict[str, Unit], dict[str, Any]]:
        """The outlines of all units, and blocks that tell where trailers are."""
        layout = self.layout
        half = 0.5 * (self.number(self.scenario.width) or layout.width)
        corners = tuple((x, y) for x in (layout.front, layout.rear) for y in (half, -half))
        units, poses = {"chassis": Unit(points=corners)}, dict[str, Any]()
        for trailer in layout.trailers:
            points = tuple(layout.outline(trailer))
            if points:
                units[trailer] = Unit(points=points, place=f"place_{trailer}")
                poses[f"place_{trailer}"] = {"pose": {"frame": trailer}}
        return units, poses


def _value(value: Scalar, known: Mapping[str, float]) -> float:
    if not isinstance(value, Formula):
        return float(value)
    missing = sorted(value.names - known.keys())
    if missing:
        expected, remedy = guess(missing[0], known)
        raise ModelError(
            f"unknown name '{missing[0]}'", where="scenario", expected=expected, got=value.text, remedy=remedy
        )
    return value.value({name: known[name] for name in value.names})


def _check_bounds(owner: str, name: str, parameter: ScenarioParameter, known: Mapping[str, float]) -> None:
    value, unit = known[name], parameter.unit
    bounds: list[tuple[Scalar | None, str, Any]] = [
        (parameter.above, "more than", lambda bound: value > bound),
        (parameter.least, "at least", lambda bound: value >= bound),
        (parameter.most, "at most", lambda bound: value <= bound),
    ]
    for given, words, holds in bounds:
        if given is None:
            continue
        bound = _value(given, known)
        if not holds(bound):
            raise ArgumentError(
                f"'{name}' of the scenario '{owner}' is out of range: {parameter.description}",
                expected=f"{words} {bound:g} {unit}".rstrip(),
                got=f"{value:g}",
            )


def _is_level(road: Road | RoadKind) -> bool:
    return road.is_flat if isinstance(road, Road) else road.height(ROAD, None).formula == "0"
