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

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import ValidationError

from torseur.describe.fields import Record
from torseur.describe.loads import KINDS, Load
from torseur.describe.mechanism import Mechanism
from torseur.formats.faults import Path
from torseur.formats.yaml_forms import shape, shape_load
from torseur.formats.yaml_messages import message
from torseur.formats.yaml_nodes import Mark, Node, Source, parse, plain

__all__ = ["VERSION", "Document", "read_document", "read_yaml"]

VERSION = 1
VERSION_KEY = "torseur"

R = TypeVar("R", bound=Record)


@dataclass(frozen=True)
class Document:
    """A mechanism and the text it came from."""

    mechanism: Mechanism
    root: Node
    where: str

    def place(self, path: Path) -> tuple[Mark, Path]:
        """Where something of the mechanism is written, and how the file calls it."""
        mark, node = find(self.root, path)
        return mark, node.path


def read_yaml(text: str | bytes, where: str = "text", *, loads: Mapping[str, type[Load]] = KINDS) -> Mechanism:
    """The mechanism of a YAML text; every fault of it at once, as ``where:line:column: path: message``.

    Args:
        text: the contents of the file.
        where: its name, for messages.
        loads: the kinds of loads it may hold.
    """
    return read_document(text, where, loads=loads).mechanism


def read_document(text: str | bytes, where: str = "text", *, loads: Mapping[str, type[Load]] = KINDS) -> Document:
    """The mechanism with the places of its parts; only faults that leave no mechanism at all are raised."""
    source = Source(where)
    root = parse(text, source)
    _check_version(root, source)
    root = Node({key: item for key, item in root.items.items() if key != VERSION_KEY}, root.mark, root.path, root.keys)
    root = shape(root, Mechanism, source)
    root, made = _loads(root, loads, source)
    data = plain(root)
    if made is not None:
        data["loads"] = made
    mechanism = _validated(Mechanism, data, root, source)
    source.check()
    assert mechanism is not None
    return Document(mechanism, root, where)


def _check_version(root: Node, source: Source) -> None:
    if not isinstance(root.value, dict):
        source.stop(root.mark, "this is not a model", expected="a mapping that begins with 'torseur: 1'", got=root.kind)
    version = root.items.get(VERSION_KEY)
    if version is None:
        source.fault(
            Mark(1, 1), (), "the version of the format is missing", remedy=f"begin with '{VERSION_KEY}: {VERSION}'"
        )
    elif version.value != VERSION or isinstance(version.value, bool):
        source.stop(version.mark, "a version of the format that is not known", expected=str(VERSION), got=version.kind)


def _loads(root: Node, kinds: Mapping[str, type[Load]], source: Source) -> tuple[Node, dict[str, Load] | None]:
    """The loads, each validated as its own kind; the tree then holds their contents without the name of the kind."""
    table = root.items.get("loads")
    if table is None or not isinstance(table.value, dict):
        return root, None
    made: dict[str, Load] = {}
    inner: dict[str, Node] = {}
    for name, node in table.value.items():
        found = shape_load(node, kinds, source)
        if found is not None:
            kind, inner[name] = found
            load = _validated(kind, plain(inner[name]), inner[name], source)
            if load is not None:
                made[name] = load
    loads = Node(inner, table.mark, table.path, table.keys)
    return Node({**root.items, "loads": loads}, root.mark, root.path, root.keys), made


def _validated(kind: type[R], data: Any, node: Node, source: Source) -> R | None:
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        for fault in error.errors(include_url=False):
            mark, found = find(node, fault["loc"])
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
