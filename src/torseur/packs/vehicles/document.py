"""Vehicle files: YAML that begins with ``torseur_vehicle: 1`` and is read as the model it expands into; and the tables
of all their fields, written from the records.

They may be made of others: `like: other.yaml` begins with all that the other file says. Tables by name are then joined
entry by entry (parameters, tables, payload, quantities, outputs, each table of parts), an axle field by field; anything
else that is said again takes the place of what it was. Names of files count from the folder of the file in which they
stand. Values that no vehicle has are refused: sizes and masses below zero, shares that do not add up.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, NamedTuple

from torseur.describe import Mechanism
from torseur.describe.annotations import KindOf, records
from torseur.describe.faults import Fault
from torseur.describe.fields import Record, Scalar
from torseur.describe.formulas import Formula
from torseur.describe.inertia import CentralInertia, StandardInertia
from torseur.errors import ModelError, TorseurError
from torseur.formats import load
from torseur.formats.files import contents
from torseur.formats.yaml.nodes import Node, Source, parse, plain, take_down
from torseur.formats.yaml.reader import LIKE_KEY, LONGEST_LINE, Document, moved, over, with_files, with_parameters
from torseur.formats.yaml.schema import section
from torseur.formats.yaml.short_forms import shape, validated
from torseur.packs.roads import KINDS as ROADS
from torseur.packs.roads import Bump, Patch, Step
from torseur.packs.tyres import LAWS, TMeasyAxis, TyreLaw, load_tir
from torseur.packs.tyres.pacejka import Block1987
from torseur.packs.vehicles import description as d
from torseur.packs.vehicles import drivers, gearbox, instruments
from torseur.packs.vehicles.corner import static_load
from torseur.packs.vehicles.description import Vehicle
from torseur.packs.vehicles.expansion import expanded
from torseur.simulation.blocks import Block
from torseur.simulation.blocks import reference as reference_of_blocks

__all__ = [
    "KEY",
    "composed",
    "load_tyre",
    "load_vehicle",
    "out_of_range",
    "read_vehicle_document",
    "same_version",
    "vehicle_reference",
]


VERSION = 1

_JOINED = ("parameters", "tables", "payload", "quantities", "outputs", "axles", "parts")
_TABLES_OF_PARTS = ("bodies", "loops", "constraints", "loads", "inputs")


class _Place(NamedTuple):
    """Where files are looked for, and through how many files we came."""

    folder: Path | None
    depth: int = 0


def same_version(root: Node, key: str, source: Source) -> Node:
    """The tree without the key that says what the file is; another version than 1 is refused."""
    version = root.items.get(key)
    if version is None or version.value != VERSION or isinstance(version.value, bool):
        mark = root.mark if version is None else version.mark
        got = "none" if version is None else version.kind
        source.stop(mark, "a version of the format that is not known", expected=f"{key}: {VERSION}", got=got)
    items = {name: item for name, item in root.items.items() if name != key}
    return Node(items, root.mark, root.path, root.keys)


def composed(root: Node, key: str, source: Source, folder: Path | None) -> Node:
    """The tree of a vehicle file with what it takes from others, without its version."""
    return _composed(root, key, source, _Place(folder))


def _composed(root: Node, key: str, source: Source, place: _Place) -> Node:
    node = with_parameters(same_version(root, key, source), source, place.folder)
    items = dict(node.items)
    like = items.pop(LIKE_KEY, None)
    if like is not None:
        if not isinstance(like.value, str):
            source.stop(like.mark, "what it is like is not known", expected="the name of a vehicle file", got=like.kind)
        if place.depth >= LONGEST_LINE:
            source.stop(like.mark, "too many vehicles that begin with each other", expected=f"at most {LONGEST_LINE}")
        base = _taken(like, key, source, place)
        items = _joined(base, Node(items, node.mark, node.path, node.keys)).items
    return Node(items, node.mark, node.path, {**node.keys, **{name: item.mark for name, item in items.items()}})


def _whole(node: Node, source: Source) -> Node:
    """A vehicle that others begin with is right by itself."""
    full = shape(node, Vehicle, source)
    validated(Vehicle, plain(full), full, source)
    return node


def _taken(name: Node, key: str, source: Source, place: _Place) -> Node:
    """What another file says, as if it stood where its name stands; its own faults keep their own places."""
    file = (place.folder or Path()) / str(name.value)
    try:
        inner = Source(str(file))
        found = _whole(_composed(parse(contents(file), inner), key, inner, _Place(file.parent, place.depth + 1)), inner)
        inner.stop_if_any()
    except ModelError as error:
        source.add(name.mark, *(error.faults or (error,)))
        raise source.error() from error
    return moved(found, name.mark, Path(str(name.value)).parent)


# -- joining -----------------------------------------------------------------------------------------------------------
def _joined(base: Node, own: Node) -> Node:
    made = over(base, own)
    for name in _JOINED:
        if name in base.items and name in own.items:
            made.items[name] = over(base.items[name], own.items[name])
    for table, fields in (("axles", None), ("parts", _TABLES_OF_PARTS)):
        if table not in base.items or table not in own.items:
            continue
        first, second = base.items[table], own.items[table]
        for name in second.items.keys() & first.items.keys() & set(fields or second.items):
            made.items[table].items[name] = over(first.items[name], second.items[name])
    return made


ABOVE: dict[type[Record], tuple[str, ...]] = {
    d.Chassis: ("height",),
    d.Wheel: ("radius", "stiffness"),
    d.Axle: ("track",),
    d.BumpStop: ("stiffness",),
    d.Column: ("ratio", "stiffness"),
    d.Motor: ("reduction",),
    d.Gearbox: ("clutch", "reverse", "up", "down", "time"),
    d.Strut: ("toe_stiffness",),
    d.Aero: ("area",),
}
"""Fields that are more than zero."""

AT_LEAST: dict[type[Record], tuple[str, ...]] = {
    d.Wheel: ("width", "mass", "spin_inertia", "tilt_inertia", "crown", "damping"),
    d.Strut: ("stiffness", "damping", "friction", "toe_damping", "mass"),
    d.Axle: ("anti_roll", "drive", "brake", "adherence", "load"),
    d.Column: ("inertia", "damping", "friction"),
    d.Steering: ("inertia", "damping"),
    d.Motor: ("inertia",),
    d.Aero: ("density", "drag"),
    d.Vehicle: ("gravity",),
    CentralInertia: ("mass",),
    StandardInertia: ("M",),
}
"""Fields that are zero or more."""

OF_LAWS = ("longitudinal_stiffness", "cornering_stiffness", "friction", "load", "relaxation_x", "relaxation_y", "trail")
"""Fields of any tyre law that are zero or more."""

SHARES = 1e-6
"""What shares may be off by."""


def out_of_range(vehicle: d.Vehicle) -> Iterator[Fault]:
    """Fields whose numbers cannot be; formulas count if parameters alone decide them."""
    known = _numbers(vehicle)
    for path, record in records(vehicle):
        above = ABOVE.get(type(record), ())
        least = OF_LAWS if isinstance(record, TyreLaw) else AT_LEAST.get(type(record), ())
        for name in (*above, *least):
            value = _number(getattr(record, name), known) if name in type(record).model_fields else None
            if value is not None and (value < 0.0 or (value == 0.0 and name in above)):
                words = "more than 0" if name in above else "at least 0"
                yield Fault((*path, name), f"'{name}' is out of range", expected=words, got=f"{value:g}")
    yield from _not_carrying(vehicle, known)
    gearbox = vehicle.drive.gearbox
    for k, ratio in enumerate(gearbox.ratios if gearbox is not None else ()):
        value = _number(ratio, known)
        if value is not None and not value > 0.0:
            path = ("drive", "gearbox", "ratios", k)
            yield Fault(path, "'ratios' of gears are out of range", expected="more than 0", got=f"{value:g}")
    for share in ("drive", "brake"):
        yield from _shares(vehicle, share, known)
    for name, axle in vehicle.axles.items():
        if axle.releases and _number(axle.brake, known) == 0.0:
            path = ("axles", name, "releases")
            yield Fault(path, "an axle without brakes has none to let go", remedy="give it a share: brake: 0.6")


def _not_carrying(vehicle: d.Vehicle, known: dict[str, float]) -> Iterator[Fault]:
    """Struts that would have to pull the chassis down for it to stand."""
    for name, axle in vehicle.axles.items():
        if not isinstance(axle.suspension, d.Strut) or axle.suspension.preload is not None:
            continue
        try:
            load = static_load(vehicle, axle)
        except ModelError:  # told where the vehicle is expanded
            return
        value = None if load is None else _number(Formula(load), known)
        if value is not None and not value > 0.0:
            text = "this axle does not carry the vehicle at rest: its centre of mass is not between the axles"
            remedy = "move axles or masses along x, or give the preload of every strut"
            yield Fault(("axles", name, "x"), text, got=f"{value:.4g} N on each wheel", remedy=remedy)


def _shares(vehicle: d.Vehicle, share: str, known: dict[str, float]) -> Iterator[Fault]:
    values = {name: _number(getattr(axle, share), known) for name, axle in vehicle.axles.items()}
    given = [value for value in values.values() if value is not None]
    if len(given) == len(values) and any(given) and abs(sum(given) - 1.0) > SHARES:
        got = ", ".join(f"{name} {value:g}" for name, value in values.items())
        owner = next(name for name, value in values.items() if value)
        text = f"the shares of the {share} do not add up to 1"
        yield Fault(("axles", owner, share), text, expected="1 over all axles", got=f"{sum(given):g}: {got}")


def _numbers(vehicle: d.Vehicle) -> dict[str, float]:
    """Parameters that have a value."""
    known: dict[str, float] = {}
    waiting = {name: parameter.value for name, parameter in vehicle.parameters.items()}
    for _ in waiting:  # in whatever order makes each ready
        for name, value in waiting.items():
            number = None if name in known else _number(value, known)
            if number is not None:
                known[name] = number
    return known


def _number(value: Scalar | None, known: dict[str, float]) -> float | None:
    """A number, or a formula of known names; none if it is not known here."""
    if not isinstance(value, Formula):
        return value
    if value.tables or not value.names <= known.keys():
        return None
    try:
        return value.value({name: known[name] for name in value.names})
    except TorseurError:  # a formula that has no value is told elsewhere
        return None


KEY = "torseur_vehicle"
TYRE_KEY = "torseur_tyre"


def load_vehicle(path: str | os.PathLike[str]) -> Vehicle:
    """What a vehicle file says, before it is expanded; `torseur.load` gives the model."""
    source = Source(str(path))
    root = parse(contents(Path(path)), source)
    found = _vehicle(root, source, Path(path).parent)
    source.stop_if_any()
    assert found is not None  # without, there is a fault
    return found[0]


def read_vehicle_document(root: Node, source: Source, folder: Path | None) -> Document | None:
    """The model of a vehicle file; none if it has faults, which are then taken down."""
    before = len(source)
    found = _vehicle(root, source, folder)
    if found is None or len(source) > before:
        return None
    vehicle, node = found
    try:
        mechanism = expanded(vehicle, lambda name: _model(name, folder), lambda name: _law(name, folder), folder)
    except ModelError as error:
        source.add(root.mark, *(error.faults or (error,)))
        return None
    return Document(mechanism, source, node)


def _vehicle(root: Node, source: Source, folder: Path | None) -> tuple[Vehicle, Node] | None:
    node = with_files(composed(root, KEY, source, folder), source, folder)
    node = shape(node, Vehicle, source)
    vehicle = validated(Vehicle, plain(node), node, source)
    if vehicle is None:
        return None
    take_down(out_of_range(vehicle), node, source)
    return vehicle, node


def _model(name: str, folder: Path | None) -> Mechanism:
    return load((folder or Path()) / name)


def _law(name: str, folder: Path | None) -> TyreLaw:
    """A law out of a property file (.tir), or out of a file that begins with ``torseur_tyre: 1``."""
    path = (folder or Path()) / name
    return load_tir(path).law if path.suffix.lower() == ".tir" else load_tyre(path)


def load_tyre(path: str | os.PathLike[str]) -> TyreLaw:
    """The law of a tyre file: ``torseur_tyre: 1``, then the law by its kind."""
    source = Source(str(path))
    node = same_version(parse(contents(Path(path)), source), TYRE_KEY, source)
    node = shape(Node({"law": node}, node.mark, (), {"law": node.mark}), _TyreFile, source)
    made = validated(_TyreFile, plain(node), node, source)
    source.stop_if_any()
    assert made is not None  # without, there is a fault
    return made.law


class _TyreFile(Record):
    law: Annotated[TyreLaw, KindOf(LAWS)]


_RECORDS: tuple[type[Record], ...] = (d.Vehicle, d.Chassis, d.Axle, d.Wheel)
_AFTER: tuple[type[Record], ...] = (
    *(d.BumpStop, d.Steering, d.Column, d.Drive, d.Motor, d.Gearbox),
    *(d.Aero, d.Payload, d.Parts),
)
_OF_ROADS: tuple[type[Record], ...] = (Bump, Step, Patch)
_BLOCKS: dict[str, Mapping[str, type[Block]]] = {
    "Blocks: drivers": drivers.BLOCKS,
    "Blocks: brakes and gears": {**instruments.BRAKES, **gearbox.BLOCKS},
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
