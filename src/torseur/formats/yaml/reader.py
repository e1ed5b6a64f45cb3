"""Our own files: a mechanism in YAML (see docs/reference/yaml.md).

>>> arm = read_yaml('''
... torseur: 1
... name: pendulum
... parameters: {m: 2.0, l: 0.5}
... bodies:
...   rod:
...     mdh: {alpha: pi/2}
...     joint: {kind: revolute, coordinate: q1}
...     inertia: {mass: m, centre: [l/2, 0, 0], tensor: [0, m*l^2/12, m*l^2/12]}
... ''')
>>> [variable.name for variable in arm.q]
['q1']
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path as FilePath
from typing import Any, TypeVar

from pydantic import ValidationError

from torseur.describe.checks import Fault, Severity, faults
from torseur.describe.faults import Path
from torseur.describe.fields import Record
from torseur.describe.loads import KINDS, Load
from torseur.describe.mechanism import Mechanism
from torseur.formats.faults import Mark
from torseur.formats.yaml.messages import message
from torseur.formats.yaml.nodes import Node, Source, parse, plain
from torseur.formats.yaml.short_forms import shape, shape_load
from torseur.formats.yaml.tables import put_tables_in

__all__ = [
    "STUDY_KEY",
    "VERSION",
    "VERSION_KEY",
    "Document",
    "document_of",
    "find",
    "read_document",
    "read_yaml",
    "take_down",
    "validated",
    "whole_document",
]

VERSION = 1
VERSION_KEY = "torseur"
STUDY_KEY = "torseur_study"
"""What files of studies begin with instead; their reader is in a higher layer."""
MOST_ROUNDS = 20

R = TypeVar("R", bound=Record)


@dataclass(frozen=True)
class Document:
    """A mechanism, and the text it came from."""

    mechanism: Mechanism
    source: Source
    root: Node

    @cached_property
    def faults(self) -> tuple[Fault, ...]:
        """The structural faults in it."""
        return tuple(faults(self.mechanism))

    def placed(self, fault: Fault) -> Fault:
        """A fault with its place in the file, and the path as the file writes it."""
        return placed(fault, self.root, self.source)[1]


def read_yaml(text: str | bytes, where: str = "text", *, loads: Mapping[str, type[Load]] = KINDS) -> Mechanism:
    """The mechanism of a YAML text; every fault of it at once, as ``where:line:column: path: message``.

    Args:
        text: the contents of the file.
        where: its name, for messages.
        loads: the kinds of loads it may hold.
    """
    document = read_document(text, where, loads=loads)
    take_down(document.faults, document.root, document.source)
    document.source.stop_if_any()
    return document.mechanism


def read_document(
    text: str | bytes, where: str = "text", *, loads: Mapping[str, type[Load]] = KINDS, folder: FilePath | None = None
) -> Document:
    """The mechanism with the places of its parts, even if it has structural faults.

    If there are faults of form, they are raised, with the structural ones of what can be read in spite of them.

    Args:
        text: the contents of the file.
        where: its name, for messages.
        loads: the kinds of loads it may hold.
        folder: where files of its tables are read from; none are without.
    """
    source = Source(where)
    return whole_document(parse(text, source), source, loads=loads, folder=folder)


def whole_document(
    root: Node, source: Source, *, loads: Mapping[str, type[Load]] = KINDS, folder: FilePath | None = None
) -> Document:
    """The same, of a text that is parsed already."""
    _check_version(root, source)
    document = document_of(root, source, loads=loads, folder=folder)
    if document is not None and not len(source):
        return document
    if document is not None:
        take_down(document.faults, document.root, source)
    raise source.error()


def document_of(
    root: Node, source: Source, *, loads: Mapping[str, type[Load]] = KINDS, folder: FilePath | None = None
) -> Document | None:
    """The mechanism in a tree, which may be part of a larger file; none if it has faults of form.

    They are then taken down, with the structural ones of what can be read in spite of them.
    """
    before = len(source)
    items = {key: item for key, item in root.items.items() if key != VERSION_KEY}
    root = Node(items, root.mark, root.path, root.keys)
    root = shape(root if folder is None else put_tables_in(root, source, folder), Mechanism, source)
    made = _loads(root, loads, source)
    mechanism = validated(Mechanism, _data(root, made), root, source)
    if len(source) > before or mechanism is None:
        rest = _rest(root, made, source)
        take_down(source.without_consequences([] if rest is None else faults(rest)), root, source)
        return None
    return Document(mechanism, source, root)


def take_down(found: Iterable[Fault], root: Node, source: Source) -> None:
    """Note the errors among faults with their places in a tree."""
    for fault in found:
        if fault.severity is Severity.ERROR:
            source.add(*placed(fault, root, source))


def placed(fault: Fault, root: Node, source: Source) -> tuple[Mark, Fault]:
    """A fault with its place in a tree."""
    mark, node = find(root, fault.path)
    return mark, fault.in_file(source.at(mark), node.path)


def _check_version(root: Node, source: Source) -> None:
    if not isinstance(root.value, dict):
        source.stop(root.mark, "this is not a model", expected="a mapping that begins with 'torseur: 1'", got=root.kind)
    if STUDY_KEY in root.items:
        source.stop(
            root.keys[STUDY_KEY],
            "this is a study, not a model",
            remedy="'torseur simulate' runs it, torseur.load_study() reads it",
        )
    version = root.items.get(VERSION_KEY)
    if version is None:
        text = "the version of the format is missing"
        source.fault(root.mark, (), text, remedy=f"begin with '{VERSION_KEY}: {VERSION}'")
    elif version.value != VERSION or isinstance(version.value, bool):
        source.stop(version.mark, "a version of the format that is not known", expected=str(VERSION), got=version.kind)


def _loads(root: Node, kinds: Mapping[str, type[Load]], source: Source) -> dict[str, Load]:
    """The loads, each validated as its own kind; the tree then holds their contents without the name of the kind."""
    table = root.items.get("loads")
    if table is None or not isinstance(table.value, dict):
        return {}
    return each_validated(table, lambda node: shape_load(node, kinds, source), source)


def each_validated(table: Node, shape: Callable[[Node], tuple[type[R], Node] | None], source: Source) -> dict[str, R]:
    """The records of a table whose entries say of what kind they are; one that is none is taken out of the table.

    Args:
        table: a mapping.
        shape: gives the kind of an entry and its contents, or takes down what is wrong with it.
        source: where faults are taken down.
    """
    made: dict[str, R] = {}
    for name, node in list(table.items.items()):
        found, record = shape(node), None
        if found is not None:
            kind, table.items[name] = found
            record = validated(kind, plain(table.items[name]), table.items[name], source)
        if record is not None:
            made[name] = record
        else:
            source.leave_out(name, table.items.pop(name))
    return made


def _data(root: Node, loads: Mapping[str, Load]) -> Any:
    data = plain(root)
    if isinstance(data.get("loads"), dict):
        data["loads"] = {name: loads[name] for name in data["loads"]}
    return data


def validated(kind: type[R], data: Any, node: Node, source: Source) -> R | None:
    """A record of data that came from a node; what is wrong with it is taken down with its place."""
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        told: set[Path] = set()
        for fault in error.errors(include_url=False):
            mark, found = find(node, fault["loc"])
            if found.path in told:  # another way in which it could have been right
                continue
            if not isinstance(found.value, (dict, list)):
                told.add(found.path)
            what, parts = message(fault)
            source.fault(mark, found.path, what, **parts)
        return None


def find(root: Node, path: Path) -> tuple[Mark, Node]:
    """The node at a path, or the last one on the way to it that exists; steps that name no node are passed over."""
    node, mark = root, root.mark
    for step in path:
        if isinstance(node.value, dict) and step in node.value:
            mark = node.keys.get(str(step), node.mark)
            node = node.value[str(step)]
        elif isinstance(node.value, list) and isinstance(step, int) and step < len(node.value):
            node = node.value[step]
            mark = node.mark
    is_scalar = not isinstance(node.value, (dict, list)) and node.value is not None
    return (node.mark if is_scalar else mark), node


# -- what can be said of a file that has faults of form ----------------------------------------------------------------


def _rest(root: Node, loads: Mapping[str, Load], source: Source) -> Mechanism | None:
    """The mechanism without what is wrong in form; none if nothing is left of it."""
    for _ in range(MOST_ROUNDS):
        if "name" not in root.items:
            root.items["name"] = Node("nameless", root.mark)
        try:
            return Mechanism.model_validate(_data(root, loads))
        except ValidationError as error:
            left_out = [_leave_out(root, fault["loc"], source) for fault in error.errors(include_url=False)]
            if not all(left_out):
                return None
    return None


def _leave_out(root: Node, path: Path, source: Source) -> bool:
    """Remove the deepest node on the way to a fault; the fields around it are then as if it had not been given."""
    node, last = root, None
    for step in path:
        if isinstance(node.value, dict) and step in node.value:
            last, node = (node.value, str(step)), node.value[str(step)]
        elif isinstance(node.value, list) and isinstance(step, int) and step < len(node.value):
            break
    if last is None:
        return bool(path) and path[0] in Mechanism.model_fields  # already gone
    source.leave_out(last[1], last[0].pop(last[1]))
    return True
