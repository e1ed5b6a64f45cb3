"""Vehicle files: YAML that begins with ``torseur_vehicle: 1`` and is read as the model it expands into."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

from torseur.describe import Mechanism
from torseur.describe.annotations import KindOf
from torseur.describe.fields import Record
from torseur.errors import ModelError
from torseur.formats import load
from torseur.formats.files import contents
from torseur.formats.yaml.nodes import Node, Source, parse, plain, take_down
from torseur.formats.yaml.reader import Document, with_files
from torseur.formats.yaml.short_forms import shape, validated
from torseur.packs.tyres import LAWS, TyreLaw, load_tir
from torseur.packs.vehicles.composition import composed, same_version
from torseur.packs.vehicles.description import Vehicle
from torseur.packs.vehicles.expansion import expanded
from torseur.packs.vehicles.ranges import out_of_range

__all__ = ["KEY", "load_tyre", "load_vehicle", "read_vehicle_document"]

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
