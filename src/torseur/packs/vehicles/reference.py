"""The tables of all fields of vehicle files and of the blocks of vehicles, written from the records themselves."""

from __future__ import annotations

import re
from collections.abc import Mapping

from torseur.describe.fields import Record
from torseur.formats.yaml.schema import section
from torseur.packs.roads import KINDS as ROADS
from torseur.packs.roads import Bump, Patch, Step
from torseur.packs.tyres import LAWS, TMeasyAxis
from torseur.packs.tyres.pacejka import Block1987
from torseur.packs.vehicles import antilock, drivers, gearbox, instruments
from torseur.packs.vehicles import description as d
from torseur.simulation.blocks import Block
from torseur.simulation.blocks import reference as reference_of_blocks

__all__ = ["vehicle_reference"]

_RECORDS: tuple[type[Record], ...] = (d.Vehicle, d.Chassis, d.Axle, d.Wheel)
_AFTER: tuple[type[Record], ...] = (
    *(d.BumpStop, d.Steering, d.Column, d.Drive, d.Motor, d.Gearbox),
    *(d.Aero, d.Payload, d.Parts),
)
_OF_ROADS: tuple[type[Record], ...] = (Bump, Step, Patch)
_BLOCKS: dict[str, Mapping[str, type[Block]]] = {
    "Blocks: drivers": drivers.BLOCKS,
    "Blocks: brakes and gears": {**antilock.BLOCKS, **gearbox.BLOCKS},
    "Blocks: sensors and actuators": instruments.BLOCKS,
}
_LINK = re.compile(r"\[(\w+)\]\(#(\w+)\)")


def vehicle_reference() -> str:
    """Markdown: one table a record, then each kind of suspension, tyre and road, then the blocks of vehicles."""
    lines = section("Vehicle", d.Vehicle)
    lines += ["The key `torseur_vehicle: 1`, the version of the format, comes first.", ""]
    for record in _RECORDS[1:]:
        lines += section(record.__name__, record)
    for kind, suspension in d.SUSPENSIONS.items():
        lines += section(f"Suspension `{kind}`", suspension)
    for record in _AFTER:
        lines += section(record.__name__, record)
    tyres: dict[str, type[Record]] = {**LAWS, d.TirFile.kind: d.TirFile, d.OwnTyre.kind: d.OwnTyre}
    for kind, law in tyres.items():
        lines += section(f"Tyre `{kind}`", law)
    for record in (Block1987, TMeasyAxis):
        lines += section(record.__name__, record)
    for kind, road in ROADS.items():
        lines += section(f"Road `{kind}`", road)
    for record in _OF_ROADS:
        lines += section(record.__name__, record)
    headed = {line[4:].lower() for line in lines if line.startswith("### ")}
    text = "\n".join(lines).rstrip() + "\n"
    text = text.replace("[RoadKind](#roadkind)", "road by its kind")
    text = _LINK.sub(lambda m: m[0] if m[2] in headed else f"[{m[1]}](yaml.md#{m[2]})", text)
    return f"{text}\n{reference_of_blocks(_BLOCKS)}"
