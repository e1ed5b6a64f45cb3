"""Model files that build on others: on a whole model, or on parameters in a file of their own.

`like: other.yaml` in a model begins with all that the other model says. Tables by name are then joined entry by entry;
an entry that is null leaves out that of the other model. Anything else that is said again takes the place of what it
was.

`parameters_from` takes parameters from a file beside the model: one model, many sets of numbers.

::

    parameters_from: data/measured.yaml      # in the model
    torseur_parameters: 1                    # the file begins like this
    parameters: {m: {value: 2.0, unit: kg}}
"""

from __future__ import annotations

from pathlib import Path

from torseur.describe.mechanism import Parameter
from torseur.errors import ModelError
from torseur.formats.files import Mark, beside, contents
from torseur.formats.yaml.nodes import Node, Source, parse, plain
from torseur.formats.yaml.short_forms import shape, validated

__all__ = ["FROM_KEY", "JOINED", "KEY", "LIKE_KEY", "LONGEST_LINE", "joined", "moved", "over", "with_parameters"]


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
