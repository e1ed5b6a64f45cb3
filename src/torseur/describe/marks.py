"""What the fields of records say about the names in them, so that checks need no list of records.

A name that stands for something else in the model carries `Refers`; a field whose formulas may use more than parameters
carries `Uses`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, Flag
from typing import Annotated

from torseur.describe.fields import Name, Scalar, Triple

__all__ = [
    "BodyName",
    "CoordinateName",
    "FrameName",
    "Refers",
    "SpeedName",
    "Symbols",
    "Thing",
    "Uses",
]


class Thing(Enum):
    """What a name can stand for."""

    COORDINATE = "coordinate"
    SPEED = "speed"
    FRAME = "frame"
    BODY = "body"


class Symbols(Flag):
    """What a formula can use besides parameters."""

    NONE = 0
    COORDINATES = 1
    SPEEDS = 2
    INPUTS = 4
    TIME = 8
    NORMALS = 16
    ALL = 31


@dataclass(frozen=True)
class Refers:
    """The name is that of something else."""

    thing: Thing


@dataclass(frozen=True)
class Uses:
    """The formulas may use this besides parameters."""

    symbols: Symbols


BodyName = Annotated[Name, Refers(Thing.BODY)]
CoordinateName = Annotated[Name, Refers(Thing.COORDINATE)]
FrameName = Annotated[Name, Refers(Thing.FRAME)]
SpeedName = Annotated[Name, Refers(Thing.SPEED)]

Positional = Annotated[Scalar, Uses(Symbols.COORDINATES)]
Signal = Annotated[Scalar, Uses(Symbols.TIME | Symbols.INPUTS)]
Driven = Annotated[Scalar, Uses(Symbols.COORDINATES | Symbols.TIME | Symbols.INPUTS)]
Anything = Annotated[Scalar, Uses(Symbols.ALL)]
"""Scalars by what their formulas may use."""

AnyTriple = Annotated[Triple, Uses(Symbols.ALL)]
GeometricTriple = Annotated[Triple, Uses(Symbols.COORDINATES | Symbols.TIME)]
SignalTriple = Annotated[Triple, Uses(Symbols.TIME | Symbols.INPUTS)]
