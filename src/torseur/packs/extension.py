"""What the packs add to the kinds of the core; the entry point of this package names it."""

from __future__ import annotations

from torseur.extensions import Extension
from torseur.packs.tyres.load import TyreLoad
from torseur.packs.vehicles.air import Air
from torseur.packs.vehicles.document import KEY, read_vehicle_document
from torseur.packs.vehicles.drivers import BLOCKS as DRIVERS
from torseur.packs.vehicles.gearbox import BLOCKS as GEARBOX
from torseur.packs.vehicles.gearbox import Clutch
from torseur.packs.vehicles.indicators import INDICATORS
from torseur.packs.vehicles.instruments import BLOCKS as INSTRUMENTS
from torseur.packs.vehicles.instruments import BRAKES

__all__ = ["EXTENSION"]

EXTENSION = Extension(
    "torseur.packs",
    loads={TyreLoad.kind: TyreLoad, Air.kind: Air, Clutch.kind: Clutch},
    blocks={**DRIVERS, **INSTRUMENTS, **BRAKES, **GEARBOX},
    indicators=INDICATORS,
    documents={KEY: read_vehicle_document},
)
