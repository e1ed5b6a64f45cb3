"""Files that begin with another one, and what they say again or leave out of it.

`like: other.yaml` in a model begins with all that the other model says. Tables by name are then joined entry by entry;
an entry that is null leaves out that of the other model. Anything else that is said again takes the place of what it
was.
"""

from __future__ import annotations

from pathlib import Path

from torseur.formats.files import Mark
from torseur.formats.yaml.nodes import Node

__all__ = ["JOINED", "LIKE_KEY", "LONGEST_LINE", "joined", "moved", "over"]

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
