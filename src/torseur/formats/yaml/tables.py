"""Numbers of a model's tables that stand in files beside it.

Only files in the folder of the model, or in folders inside it, are read, and not more of one than a model can need.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torseur.errors import ModelError
from torseur.formats.csv_tables import columns_of, grid_of, lines_of
from torseur.formats.files import contents
from torseur.formats.yaml.nodes import Node, Source, plain

__all__ = ["put_tables_in"]

_OF_FILES = ("file", "columns", "grid")


def put_tables_in(root: Node, source: Source, folder: Path) -> Node:
    """A model with the numbers of its tables in place of the names of files; what is wrong is taken down."""
    tables = root.items.get("tables")
    if tables is None or not isinstance(tables.value, dict):
        return root
    read = {name: _read(node, source, folder) for name, node in tables.items.items()}
    new = Node(read, tables.mark, tables.path, tables.keys)
    return Node({**root.items, "tables": new}, root.mark, root.path, root.keys)


def _read(node: Node, source: Source, folder: Path) -> Node:
    file = node.items.get("file")
    if file is None or not isinstance(file.value, str):
        return node
    try:
        numbers = _numbers(folder, file.value, plain(node))
    except ModelError as error:
        where = f"{error.where}: " if error.where else ""
        source.fault(file.mark, file.path, f"{where}{error.what}", expected=error.expected, got=error.got)
        return node
    rest = {key: item for key, item in node.items.items() if key not in _OF_FILES}
    found = {key: Node(_leaf(value), file.mark, (*node.path, key)) for key, value in numbers.items()}
    return Node({**rest, **found}, node.mark, node.path, {**node.keys, **dict.fromkeys(found, file.mark)})


def _leaf(numbers: Any) -> Any:
    """Numbers as they are: nothing inside them is looked for in the file."""
    return tuple(tuple(x) if isinstance(x, list) else x for x in numbers)


def _numbers(folder: Path, name: str, given: Mapping[str, Any]) -> dict[str, list[Any]]:
    path = folder / name
    if Path(name).is_absolute() or not path.resolve().is_relative_to(folder.resolve()):
        expected = "a name without a way out of the folder of the model"
        raise ModelError("a table is read from beside the model only", expected=expected, got=name)
    if not path.is_file():
        raise ModelError("the file of a table was not found", where=str(path), expected="a file of numbers")
    try:
        lines = lines_of(contents(path).decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise ModelError("the file of a table is no text", where=str(path), expected="UTF-8") from None
    if given.get("grid") is True:
        x, y, values = grid_of(lines, str(path))
        return {"x": x, "y": y, "values": values}
    wanted = given.get("columns", (1, 2))
    is_pair = isinstance(wanted, (list, tuple)) and len(wanted) == 2
    if not is_pair or not all(isinstance(c, (str, int)) and not isinstance(c, bool) for c in wanted):
        raise ModelError("'columns' are two names or numbers", expected="[x, values]", got=str(wanted)[:60])
    x, flat = columns_of(lines, str(path), wanted)[1]
    return {"x": x, "values": flat}
