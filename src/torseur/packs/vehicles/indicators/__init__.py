"""Indicators of vehicles: what is usually told of a manoeuvre, each with unit and definition."""

from collections.abc import Mapping

from torseur.packs.vehicles.indicators.braking import Acceleration, Braking, BrakingInTurn
from torseur.packs.vehicles.indicators.course import Course, Extremes, HeldSpeed
from torseur.packs.vehicles.indicators.steering import (
    FrequencyResponse,
    SineWithDwell,
    SteadyTurn,
    SteeringAt,
    StepSteer,
)
from torseur.simulation.results.indicators import Indicator

__all__ = ["INDICATORS"]

INDICATORS: Mapping[str, type[Indicator]] = {
    kind.kind: kind
    for kind in (
        SteadyTurn,
        SteeringAt,
        StepSteer,
        FrequencyResponse,
        SineWithDwell,
        Braking,
        BrakingInTurn,
        Acceleration,
        Course,
        HeldSpeed,
        Extremes,
    )
}
"""The kinds by name."""
