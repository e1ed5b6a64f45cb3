"""Roads by kind: planes, waves, bumps, steps, profiles, random roads of ISO 8608, maps of heights, OpenCRG, their sums.

A vehicle file names one, ``road: {iso_8608: {class: C, length: 200, seed: 1}}``. For other models they are made here:

>>> from torseur.packs.roads import Plane
>>> Plane(slope=0.1).made().road.height
Formula('0.1*x')
"""

from torseur.packs.roads.kind import SUMMANDS, Bump, Bumps, MadeRoad, Patch, Plane, RoadKind, Sine, Step, Steps, Sum
from torseur.packs.roads.open_crg import OpenCrg
from torseur.packs.roads.profiles import HeightMap, Iso8608, Profile

__all__ = [
    "KINDS",
    "Bump",
    "Bumps",
    "HeightMap",
    "Iso8608",
    "MadeRoad",
    "OpenCrg",
    "Patch",
    "Plane",
    "Profile",
    "RoadKind",
    "Sine",
    "Step",
    "Steps",
    "Sum",
]

KINDS: dict[str, type[RoadKind]] = SUMMANDS
"""The kinds of roads by name."""
KINDS |= {kind.kind: kind for kind in (Plane, Sine, Bumps, Steps, Profile, Iso8608, HeightMap, OpenCrg, Sum)}
