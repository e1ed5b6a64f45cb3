"""From data out of a file to records: the short forms are turned into the full ones, which are then validated.

The walk follows the records' own types. On the way it names keys that no record has, so that what is left can be
validated as it stands; every node keeps the place and the path it has in the file. What validation finds is told in our
words, with its place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

from pydantic import ValidationError

from torseur.describe.annotations import KindOf
from torseur.describe.bodies import Base, Body, Coordinate, Frame, Joint, Line, Mesh, Shape
from torseur.describe.faults import guess, nearest, shown
from torseur.describe.fields import Record
from torseur.describe.inertia import Box, Solid, Sphere, Tensor
from torseur.describe.loads import Load
from torseur.describe.mechanism import Input, NamedQuantity, Output, Parameter
from torseur.describe.place import Place, RigidPose
from torseur.errors import Location, ModelError
from torseur.formats.yaml.nodes import Node, Source, find, plain

__all__ = ["HOISTED", "LISTED", "NAMED", "each_validated", "shape", "shape_load", "under", "validated"]

NAMED: dict[type[Record], str] = {
    Parameter: "value",
    Input: "default",
    Output: "value",
    NamedQuantity: "value",
    Coordinate: "start",
    Joint: "kind",
    Base: "kind",
    Sphere: "radius",
    Mesh: "file",
}
"""Records that may be written as one number or word: the field it stands for."""

LISTED: dict[type[Record], str] = {RigidPose: "position", Box: "size", Line: "points"}
"""Records that may be written as a list: the field it stands for."""

HOISTED = (Body, Base, Frame, Shape, Solid)
"""Records whose ``place`` may be left out: its mdh, dh, pose or steps then stand in the record itself."""

_DIAGONAL = ("xx", "yy", "zz")


def shape(node: Node, kind: type[Record], source: Source) -> Node:
    """A node in the full form of a record; what the record does not know is reported and left out."""
    node = _full(node, kind, source)
    if not isinstance(node.value, dict):
        return node
    fields = {field.alias or name: field for name, field in kind.model_fields.items()}
    kept: dict[str, Node] = {}
    for key, item in node.value.items():
        if key in fields:
            of = next((mark for mark in fields[key].metadata if isinstance(mark, KindOf)), None)
            full = _shape_as(item, fields[key].annotation, source) if of is None else _shape_kind(item, of, source)
            kept[key] = full
        else:
            _unknown(node, item, key, _known_keys(kind), source)
    return Node(kept, node.mark, node.path, node.keys)


def _shape_kind(node: Node, of: KindOf, source: Source) -> Node:
    """{kind: fields}, with the fields in the full form of that kind; what is no kind is left to the record."""
    if of.otherwise is not None and not (node.items.keys() & of.table.keys()):
        return shape(node, of.otherwise, source)
    if len(node.items) != 1 or (kind := next(iter(node.items))) not in of.table:
        return node
    return Node({kind: shape(node.items[kind], of.table[kind], source)}, node.mark, node.path, node.keys)


def shape_load(node: Node, kinds: Mapping[str, type[Load]], source: Source) -> tuple[type[Load], Node] | None:
    """The kind of a load and its contents: ``{spring: {...}}``."""
    if len(node.items) != 1:
        got = ", ".join(node.items) if node.items else node.kind
        text = "a load has exactly one kind"
        source.fault(node.mark, node.path, text, expected=f"one of {', '.join(kinds)}", got=got)
        source.leave_out(str(node.path[-1]), node)
        return None
    ((name, inner),) = node.items.items()
    if name not in kinds:
        _unknown(node, inner, name, tuple(kinds), source, what="no load of this kind")
        return None
    return kinds[name], shape(inner, kinds[name], source)


def _known_keys(kind: type[Record]) -> tuple[str, ...]:
    extra: tuple[str, ...] = tuple(Place.model_fields) if kind in HOISTED else ()
    if kind is Joint:
        extra = ("coordinate", *Coordinate.model_fields)
    return (*(field.alias or name for name, field in kind.model_fields.items()), *extra)


def _unknown(
    node: Node, item: Node, key: str, known: tuple[str, ...], source: Source, what: str = "unknown key"
) -> None:
    expected, remedy = guess(key, known)
    source.fault(node.keys.get(key, item.mark), item.path, what, expected=expected, remedy=remedy)
    source.leave_out(key, item)


def _shape_as(node: Node, annotation: Any, source: Source) -> Node:
    """A node in the full form of whatever a field holds."""
    if get_origin(annotation) is Annotated:
        of = next((mark for mark in get_args(annotation)[1:] if isinstance(mark, KindOf)), None)
        if of is not None:
            return _shape_kind(node, of, source)
    annotation = _bare(annotation)
    if isinstance(annotation, type) and issubclass(annotation, Record):
        return shape(node, annotation, source)
    origin, inside = get_origin(annotation), get_args(annotation)
    if origin in (Union, UnionType):
        choice = None if node.value is None else _choose(node, inside)
        return node if choice is None else _shape_as(node, choice, source)
    if origin is dict:
        return _shape_table(node, inside[1], source)
    if origin is tuple and isinstance(node.value, list):
        kinds = [inside[0]] * len(node.value) if inside[-1] is Ellipsis else [*inside, *[None] * len(node.value)]
        items = [_shape_as(item, kind, source) for item, kind in zip(node.value, kinds, strict=False)]
        return Node(items, node.mark, node.path)
    return node


def _bare(annotation: Any) -> Any:
    while get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    return annotation


def _choose(node: Node, members: tuple[Any, ...]) -> Any:
    """The member of a union that knows most of the keys."""
    flat: list[Any] = []
    for inner in map(_bare, members):
        flat += map(_bare, get_args(inner)) if get_origin(inner) in (Union, UnionType) else [inner]
    records = [member for member in flat if isinstance(member, type) and issubclass(member, Record)]
    if records:
        return records[0] if len(records) == 1 else max(records, key=lambda record: _likeness(node, record))
    return next((member for member in flat if get_origin(member) in (dict, tuple)), None)


def _likeness(node: Node, record: type[Record]) -> tuple[int, int, int]:
    """How well the keys of a node fit a record: known ones, required ones, misspelt ones."""
    known = record.model_fields.keys() & node.items.keys()
    required = sum(record.model_fields[name].is_required() for name in known)
    misspelt = sum(nearest(key, record.model_fields) is not None for key in list(node.items)[:20])
    return len(known), required, misspelt


def _shape_table(node: Node, kind: Any, source: Source) -> Node:
    if node.value is None:
        return Node({}, node.mark, node.path)
    if kind is Coordinate and isinstance(node.value, list) and all(isinstance(name.value, str) for name in node.value):
        names: dict[str, Node] = {}
        for name in node.value:
            if str(name.value) in names:
                source.fault(name.mark, name.path, "this name is already given", got=name.kind)
            names[str(name.value)] = Node({}, name.mark, name.path)
        return Node(names, node.mark, node.path, {name: item.mark for name, item in names.items()})
    if not isinstance(node.value, dict) or _bare(kind) is Load:
        return node
    items = {key: _shape_as(item, kind, source) for key, item in node.value.items()}
    return Node(items, node.mark, node.path, node.keys)


# -- the forms themselves ---------------------------------------------------------------------------------------------


def _full(node: Node, kind: type[Record], source: Source) -> Node:
    if node.value is None:
        return Node({}, node.mark, node.path)
    if isinstance(node.value, list):
        return _full_list(node, kind)
    if not isinstance(node.value, dict):
        return under(node, NAMED[kind]) if kind in NAMED else node
    if kind in HOISTED:
        return _gather(node, "place", tuple(Place.model_fields), source)
    return _full_joint(node, source) if kind is Joint and "coordinate" in node.value else node


def _full_list(node: Node, kind: type[Record]) -> Node:
    assert isinstance(node.value, list)
    if kind in LISTED:
        return under(node, LISTED[kind])
    if kind is Place:
        return under(under(node, "position"), "pose")
    if kind is Frame:
        return under(node, "place")
    if kind is Tensor and len(node.value) == len(_DIAGONAL):
        items = dict(zip(_DIAGONAL, node.value, strict=True))
        return Node(items, node.mark, node.path, {key: item.mark for key, item in items.items()})
    return node


def under(node: Node, key: str) -> Node:
    """A mapping of one key to a node."""
    return Node({key: node}, node.mark, node.path, {key: node.mark})


def _gather(node: Node, field: str, keys: tuple[str, ...], source: Source) -> Node:
    """Keys that belong into a record of their own are put there."""
    moved = {key: item for key, item in node.items.items() if key in keys}
    if not moved:
        return node
    first = next(iter(moved))
    if field in node.items:
        source.fault(node.keys[first], moved[first].path, f"'{field}' is given as well", expected="one of them")
        return node
    inner = Node(moved, node.keys[first], node.path, {key: node.keys[key] for key in moved})
    rest = {key: item for key, item in node.items.items() if key not in moved}
    return Node({**rest, field: inner}, node.mark, node.path, {**node.keys, field: inner.mark})


def _full_joint(node: Node, source: Source) -> Node:
    """{coordinate: q1, lower: -1} is {coordinates: {q1: {lower: -1}}}."""
    name = node.items["coordinate"]
    if not isinstance(name.value, str):
        source.fault(name.mark, name.path, "expected the name of the coordinate", got=name.kind)
        return Node({}, node.mark, node.path)
    if "coordinates" in node.items:
        source.fault(node.keys["coordinates"], node.items["coordinates"].path, "'coordinate' is given as well")
    one = {key: item for key, item in node.items.items() if key in Coordinate.model_fields}
    inner = Node(one, name.mark, node.path, {key: node.keys[key] for key in one})
    table = Node({name.value: inner}, name.mark, node.path, {name.value: name.mark})
    rest = {
        key: item for key, item in node.items.items() if key not in one and key not in ("coordinate", "coordinates")
    }
    return Node({**rest, "coordinates": table}, node.mark, node.path, {**node.keys, "coordinates": name.mark})


Parts = dict[str, str | None]
R = TypeVar("R", bound=Record)

_QUOTES = "in braces and brackets, a formula with a comma needs quotes"
_EXPECTED = {
    "string_type": "text",
    "bool_type": "true or false",
    "float_type": "a number",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "int_parsing": "a whole number",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "dict_type": "a mapping of names",
    "tuple_type": "a list",
}
_BOUNDS = {
    "greater_than": ("more than", "gt"),
    "greater_than_equal": ("at least", "ge"),
    "less_than": ("less than", "lt"),
    "less_than_equal": ("at most", "le"),
}


def validated(kind: type[R], data: Any, node: Node, source: Source) -> R | None:
    """A record of data that came from a node; what is wrong with it is taken down with its place."""
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        told: set[Location] = set()
        for fault in error.errors(include_url=False):
            mark, at = find(node, fault["loc"])
            if at.path in told:  # another way in which it could have been right
                continue
            if not isinstance(at.value, (dict, list)):
                told.add(at.path)
            what, parts = _message(fault)
            if "tensor" in at.path[-2:-1] and isinstance(at.value, list) and parts.get("remedy") != _QUOTES:
                parts["remedy"] = "write the three moments [XX, YY, ZZ], or {xx: , yy: , zz: , xy: , xz: , yz: }"
            source.fault(mark, at.path, what, **parts)
        return None


def each_validated(
    table: Node | None, shape: Callable[[Node], tuple[type[R], Node] | None], source: Source
) -> dict[str, R]:
    """The records of a table whose entries say of what kind they are; one that is none is taken out of the table.

    Args:
        table: a mapping, or none.
        shape: gives the kind of an entry and its contents, or takes down what is wrong with it.
        source: where faults are taken down.
    """
    made: dict[str, R] = {}
    if table is None or table.value is None:
        return made
    if not isinstance(table.value, dict):
        source.fault(table.mark, table.path, "expected a mapping of names", got=table.kind)
    for name, node in list(table.items.items()):
        shaped, record = shape(node), None
        if shaped is not None:
            kind, table.items[name] = shaped
            record = validated(kind, plain(table.items[name]), table.items[name], source)
        if record is not None:
            made[name] = record
        else:
            source.leave_out(name, table.items.pop(name))
    return made


# -- messages ----------------------------------------------------------------------------------------------------------
def _message(fault: Mapping[str, Any]) -> tuple[str, Parts]:
    """What is wrong, and the parts of the error: expected, got, remedy."""
    kind, context, value = fault["type"], fault.get("ctx") or {}, fault["input"]
    if isinstance(context.get("error"), ModelError):
        error = context["error"]
        return error.what, {"expected": error.expected, "got": error.got, "remedy": error.remedy or _commas(error)}
    if kind == "missing" and isinstance(fault["loc"][-1], int):
        return "the list is too short", {"got": _got(value)}
    if kind == "missing":
        return f"'{fault['loc'][-1]}' is missing", {}
    if kind in _EXPECTED:
        remedy = _QUOTES if _is_cut(value) else _quotes(kind, value) or _brackets(kind)
        return f"expected {_EXPECTED[kind]}", {"got": _got(value), "remedy": remedy}
    if kind in ("too_short", "too_long"):
        word = "short" if kind == "too_short" else "long"
        bound = context.get("min_length" if kind == "too_short" else "max_length")
        parts = {
            "expected": f"{bound} values",
            "got": str(context["actual_length"]),
            "remedy": _QUOTES if _is_cut(value) else None,
        }
        return f"the list is too {word}", parts
    if kind in ("literal_error", "enum"):
        return f"expected {context['expected']}", {"got": _got(value)}
    if kind in _BOUNDS:
        words, key = _BOUNDS[kind]
        return f"expected {words} {context[key]:g}", {"got": _got(value)}
    if kind == "string_too_long":
        return "the text is too long", {"expected": f"at most {context['max_length']} characters"}
    if kind == "string_pattern_mismatch":
        return "the text has the wrong form", {"expected": context["pattern"], "got": _got(value)}
    return fault["msg"], {}


def _is_cut(value: Any) -> bool:
    """Whether a list has cut a formula with a comma in two."""
    items = value if isinstance(value, (list, tuple)) else ()
    return any(isinstance(item, str) and item.count("(") != item.count(")") for item in items)


def _commas(error: ModelError) -> str | None:
    is_cut = error.expected in ("','", "')'") and (error.got or "").startswith("the end")
    return _QUOTES if is_cut else None


def _got(value: Any) -> str:
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, (list, tuple)):
        return f"a list of {len(value)}"
    return "nothing" if value is None else shown(value)


def _brackets(kind: str) -> str | None:
    if kind in ("dict_type", "mapping_type", "model_type", "model_attributes_type"):
        return "write {name: value, ...}"
    return "write [value, value, ...]" if kind in ("list_type", "tuple_type") else None


def _quotes(kind: str, value: Any) -> str | None:
    is_plain = isinstance(value, (int, float, bool))
    return "put it in quotes to make it text" if kind == "string_type" and is_plain else None
