"""Vehicle files made of others.

`like: other.yaml` begins with all that the other file says. Tables by name are then joined entry by entry (parameters,
tables, payload, quantities, outputs, each table of parts), an axle field by field; anything else that is said again
takes the place of what it was. Names of files count from the folder of the file in which they stand.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from torseur.errors import ModelError
from torseur.formats.files import contents
from torseur.formats.yaml.nodes import Node, Source, parse, plain
from torseur.formats.yaml.reader import LIKE_KEY, LONGEST_LINE, moved, over, with_parameters
from torseur.formats.yaml.short_forms import shape, validated
from torseur.packs.vehicles.description import Vehicle

__all__ = ["composed", "same_version"]

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
