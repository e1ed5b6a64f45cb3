"""From the text of a model file to a mechanism: our own files, in YAML (see docs/reference/yaml.md).

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

A file may build on others. `like: other.yaml` in a model begins with all that the other model says. Tables by name are
then joined entry by entry; an entry that is null leaves out that of the other model. Anything else that is said again
takes the place of what it was.

`parameters_from` takes parameters from a file beside the model: one model, many sets of numbers.

::

    parameters_from: data/measured.yaml      # in the model
    torseur_parameters: 1                    # the file begins like this
    parameters: {m: {value: 2.0, unit: kg}}
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from torseur.describe.checks import Fault, faults
from torseur.describe.faults import Location
from torseur.describe.loads import KINDS, Load
from torseur.describe.mechanism import Mechanism, Parameter
from torseur.errors import ModelError
from torseur.extensions import Kinds
from torseur.formats.files import Mark, beside, contents, table_in_file
from torseur.formats.yaml.nodes import Node, Source, parse, placed, plain, take_down
from torseur.formats.yaml.short_forms import each_validated, shape, shape_load, validated

__all__ = [
    "FROM_KEY",
    "JOINED",
    "KEY",
    "LIKE_KEY",
    "LONGEST_LINE",
    "STUDY_KEY",
    "VERSION",
    "VERSION_KEY",
    "Document",
    "document_of",
    "joined",
    "moved",
    "over",
    "read_document",
    "read_yaml",
    "whole_document",
    "with_files",
    "with_parameters",
]


LIKE_KEY = "like"
LONGEST_LINE = 8
"""Of files that begin with each other."""
JOINED = (
    "parameters",
    "tables",
    "quantities",
    "coordinates",
    "bodies",
    "loops",
    "roads",
    "constraints",
    "loads",
    "inputs",
    "outputs",
)
"""The tables of a model whose entries have names."""
_FILES = ("file", "mesh")


def joined(base: Node, own: Node) -> Node:
    """A model that begins with another one."""
    made = over(base, own)
    for name in JOINED:
        if name in base.items and name in own.items:
            first, second = base.items[name], own.items[name]
            both = over(first, second)
            for entry in first.items.keys() & second.items.keys():
                if second.items[entry].value is None:
                    del both.items[entry]
            made.items[name] = both
    return made


def over(base: Node, own: Node) -> Node:
    """Two tables as one; the second wins."""
    if not isinstance(base.value, dict) or not isinstance(own.value, dict):
        return own
    return Node({**base.items, **own.items}, own.mark, own.path, {**base.keys, **own.keys})


def moved(node: Node, mark: Mark, folder: Path) -> Node:
    """A tree whose places are all one, and whose names of files count from another folder."""
    if isinstance(node.value, dict):
        items = {name: moved(item, mark, folder) for name, item in node.value.items()}
        for name in _FILES:
            file = items.get(name)
            if file is not None and isinstance(file.value, str) and not Path(file.value).is_absolute():
                file.value = (folder / file.value).as_posix()
        return Node(items, mark, node.path, dict.fromkeys(items, mark))
    if isinstance(node.value, list):
        return Node([moved(item, mark, folder) for item in node.value], mark, node.path)
    return Node(node.value, mark, node.path)


FROM_KEY = "parameters_from"
KEY = "torseur_parameters"
VERSION = 1


def with_parameters(root: Node, source: Source, folder: Path | None) -> Node:
    """A model with the parameters of the file that it names, before its own; what is wrong is taken down."""
    name = root.items.get(FROM_KEY)
    if name is None:
        return root
    items = {key: item for key, item in root.items.items() if key != FROM_KEY}
    without = Node(items, root.mark, root.path, root.keys)
    if not isinstance(name.value, str) or folder is None:
        expected = "the name of a file" if folder is not None else "parameters in the text: it is not in a file"
        source.fault(name.mark, (FROM_KEY,), "parameters cannot be read from there", expected=expected, got=name.kind)
        return without
    try:
        given = _parameters(beside(folder, name.value, "a file of parameters"))
    except ModelError as error:
        source.add(name.mark, *(error.faults or (error,)))
        raise source.error() from None  # all that uses its names would seem wrong
    own = items.get("parameters", Node({}, name.mark, ("parameters",)))
    for twice in sorted(own.items.keys() & given):
        source.fault(own.keys[twice], ("parameters", twice), f"this parameter is in {name.value} as well")
    read = {key: _moved(node, name, ("parameters", key)) for key, node in given.items()}
    keys = {**dict.fromkeys(read, name.mark), **own.keys}
    items["parameters"] = Node({**read, **own.items}, own.mark, own.path, keys)
    return without


def _parameters(path: Path) -> dict[str, Node]:
    """The parameters of a file; every fault of form with its line in that file."""
    source = Source(str(path))
    root = parse(contents(path), source)
    version, table = root.items.get(KEY), root.items.get("parameters")
    if version is None or version.value != VERSION or isinstance(version.value, bool):
        expected = f"a mapping that begins with '{KEY}: {VERSION}'"
        source.stop(root.mark, "this is not a file of parameters", expected=expected)
    for key in root.items.keys() - {KEY, "parameters"}:
        source.fault(root.keys[key], (key,), "a key that is not known", expected=f"{KEY}, parameters")
    if table is None or not isinstance(table.value, dict):
        source.stop(root.mark, "there are no parameters", expected="'parameters', a mapping of names")
    for node in table.items.values():
        shaped = shape(node, Parameter, source)
        validated(Parameter, plain(shaped), shaped, source)
    source.stop_if_any()
    return table.items


def _moved(node: Node, to: Node, path: tuple[str, ...]) -> Node:
    """What was read elsewhere, as if it stood where the file is named."""
    if isinstance(node.value, dict):
        inner = {key: _moved(item, to, (*path, key)) for key, item in node.items.items()}
        return Node(inner, to.mark, path, dict.fromkeys(inner, to.mark))
    return Node(node.value, to.mark, path)


VERSION_KEY = "torseur"
STUDY_KEY = "torseur_study"
"""What files of studies begin with instead; their reader is in a higher layer."""
MOST_ROUNDS = 20
"""Of leaving out what is wrong in form."""
_OF_FILES = ("file", "columns", "grid")


DOCUMENTS: Kinds[Callable[[Node, Source, Path | None], Document | None]] = Kinds("documents", {})
"""Other YAML files that are read as a mechanism, by the key that marks them: the root of the file, where faults are
taken down, and the folder of the file -> the mechanism, or none if there were faults."""


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
    text: str | bytes, where: str = "text", *, loads: Mapping[str, type[Load]] = KINDS, folder: Path | None = None
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
    root: Node, source: Source, *, loads: Mapping[str, type[Load]] = KINDS, folder: Path | None = None
) -> Document:
    """The same, of a text that is parsed already."""
    own = None if VERSION_KEY in root.items else next((key for key in root.items if key in DOCUMENTS), None)
    if own is None:
        _check_version(root, source)
        document = document_of(root, source, loads=loads, folder=folder)
    else:
        document = DOCUMENTS[own](root, source, folder)
    if document is not None and not len(source):
        return document
    if document is not None:
        take_down(document.faults, document.root, source)
    raise source.error()


def document_of(
    root: Node, source: Source, *, loads: Mapping[str, type[Load]] = KINDS, folder: Path | None = None
) -> Document | None:
    """The mechanism in a tree, which may be part of a larger file; none if it has faults of form.

    They are then taken down, with the structural ones of what can be read in spite of them.
    """
    return _document(_complete(root, source, folder, loads), source, loads)


def _document(root: Node, source: Source, loads: Mapping[str, type[Load]]) -> Document | None:
    before = len(source)
    root = shape(root, Mechanism, source)
    made = _loads(root, loads, source)
    mechanism = validated(Mechanism, _data(root, made), root, source)
    if len(source) > before or mechanism is None:
        rest = _rest(root, made, source)
        take_down(source.without_consequences([] if rest is None else faults(rest)), root, source)
        return None
    return Document(mechanism, source, root)


def _check_version(root: Node, source: Source) -> None:
    if not isinstance(root.value, dict):
        source.stop(root.mark, "this is not a model", expected="a mapping that begins with 'torseur: 1'", got=root.kind)
    if STUDY_KEY in root.items:
        source.stop(
            root.keys[STUDY_KEY],
            "this is a study, not a model",
            remedy="'torseur simulate' runs it, torseur.load_study() reads it",
        )
    if "model" in root.items:
        remedy = f"begin with '{STUDY_KEY}: {VERSION}' in place of '{VERSION_KEY}: {VERSION}'"
        source.stop(root.keys["model"], "a model in a model: this is a study", remedy=remedy)
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


def _data(root: Node, loads: Mapping[str, Load]) -> Any:
    data = plain(root)
    if isinstance(data.get("loads"), dict):
        data["loads"] = {name: loads[name] for name in data["loads"]}
    return data


# -- a model like another ---------------------------------------------------------------------------------------------


def _complete(root: Node, source: Source, folder: Path | None, loads: Mapping[str, type[Load]], depth: int = 0) -> Node:
    """A model with the numbers of its files and with what it takes from another model, without its version."""
    items = {key: item for key, item in root.items.items() if key != VERSION_KEY}
    like = items.pop(LIKE_KEY, None)
    own = with_files(Node(items, root.mark, root.path, root.keys), source, folder)
    if like is None:
        return own
    if not isinstance(like.value, str) or folder is None:
        expected = "the name of a file" if folder is not None else "all of the model in the text: it is not in a file"
        source.stop(like.mark, "the model it is like cannot be read", expected=expected, got=like.kind)
    if depth >= LONGEST_LINE:
        source.stop(like.mark, "too many models that begin with each other", expected=f"at most {LONGEST_LINE}")
    try:
        base = _other(beside(folder, like.value, "the model it is like"), loads, depth + 1)
    except ModelError as error:
        source.add(like.mark, *(error.faults or (error,)))
        raise source.error() from error
    return joined(moved(base, like.mark, Path(like.value).parent), own)


def _other(file: Path, loads: Mapping[str, type[Load]], depth: int) -> Node:
    """A model that others begin with is right by itself; its own faults keep their own places."""
    inner = Source(str(file))
    root = parse(contents(file), inner)
    _check_version(root, inner)
    inner_document = _complete(root, inner, file.parent, loads, depth)
    document = _document(deepcopy(inner_document), inner, loads)  # reading fills in short forms
    if document is not None:
        take_down(document.faults, document.root, inner)
    inner.stop_if_any()
    return inner_document


# -- numbers in files ------------------------------------------------------------------------------------------------


def with_files(root: Node, source: Source, folder: Path | None) -> Node:
    """A model with the numbers of tables and parameters in place of the names of files; what is wrong is taken down."""
    root = with_parameters(root, source, folder)
    tables = root.items.get("tables")
    if folder is None or tables is None or not isinstance(tables.value, dict):
        return root
    read = {name: _with_numbers(node, source, folder) for name, node in tables.items.items()}
    new = Node(read, tables.mark, tables.path, tables.keys)
    return Node({**root.items, "tables": new}, root.mark, root.path, root.keys)


def _with_numbers(node: Node, source: Source, folder: Path) -> Node:
    file = node.items.get("file")
    if file is None or not isinstance(file.value, str):
        return node
    try:
        numbers = table_in_file(folder, file.value, plain(node))
    except ModelError as error:
        where = f"{error.where}: " if error.where else ""
        source.fault(file.mark, file.path, f"{where}{error.what}", expected=error.expected, got=error.got)
        return node
    rest = {key: item for key, item in node.items.items() if key not in _OF_FILES}
    nodes = {key: Node(_leaf(value), file.mark, (*node.path, key)) for key, value in numbers.items()}
    return Node({**rest, **nodes}, node.mark, node.path, {**node.keys, **dict.fromkeys(nodes, file.mark)})


def _leaf(numbers: Any) -> Any:
    """Numbers as they are: nothing inside them is looked for in the file."""
    return tuple(tuple(x) if isinstance(x, list) else x for x in numbers)


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


def _leave_out(root: Node, path: Location, source: Source) -> bool:
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
