"""Vehicle files: YAML that begins with ``torseur_vehicle: 1`` and is read as the model it expands into."""

from __future__ import annotations

import os
from pathlib import Path

from torseur.describe import Mechanism
from torseur.errors import ModelError
from torseur.formats import load
from torseur.formats.files import contents
from torseur.formats.yaml.nodes import Node, Source, parse, plain
from torseur.formats.yaml.reader import Document, with_tables
from torseur.formats.yaml.short_forms import shape
from torseur.formats.yaml.validation import validated
from torseur.packs.tyres import TyreLaw, load_tir
from torseur.packs.vehicles.description import Vehicle
from torseur.packs.vehicles.expansion import expanded

__all__ = ["KEY", "load_vehicle", "read_vehicle_document"]

KEY = "torseur_vehicle"
VERSION = 1


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
    version = root.items.get(KEY)
    if version is None or version.value != VERSION or isinstance(version.value, bool):
        mark = root.mark if version is None else version.mark
        got = "none" if version is None else version.kind
        source.stop(mark, "a version of the format that is not known", expected=f"{KEY}: {VERSION}", got=got)
    items = {key: item for key, item in root.items.items() if key != KEY}
    node = Node(items, root.mark, root.path, root.keys)
    node = shape(node if folder is None else with_tables(node, source, folder), Vehicle, source)
    vehicle = validated(Vehicle, plain(node), node, source)
    return None if vehicle is None else (vehicle, node)


def _model(name: str, folder: Path | None) -> Mechanism:
    return load((folder or Path()) / name)


def _law(name: str, folder: Path | None) -> TyreLaw:
    return load_tir((folder or Path()) / name).law
