"""Random descriptions: any that the records allow, and sound ones that mean something.

`anything` follows the types of the fields, so that a new field is tried without a change here; only what validators
demand beyond the types is written by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from hypothesis import strategies as st
from pydantic import BeforeValidator

from torseur.describe import Mechanism
from torseur.describe.annotations import KindOf
from torseur.describe.bodies import Base, BaseKind, Coordinate, Joint, Shape
from torseur.describe.constraints import Constraint, Contact, Loop, Rolling
from torseur.describe.fields import Record
from torseur.describe.formulas import CONSTANTS, FUNCTIONS, RESERVED, Formula
from torseur.describe.inertia import Solid
from torseur.describe.loads import KINDS as LOADS
from torseur.describe.loads import Load, PathLoad
from torseur.describe.mechanism import LookupTable
from torseur.describe.place import Elementary, Place, RigidPose
from torseur.packs.tyres.load import TyreLoad
from torseur.spatial.joints import KINDS as JOINTS

__all__ = ["anything", "formulas", "names", "numbers", "scalars", "texts"]

Draw = Callable[[st.SearchStrategy[Any]], Any]

FALSE_FRIENDS = ["no", "on", "yes", "off", "y", "n", "true_", "null_", "e5", "_", "nan", "inf", "NULL", "True", "x1e3"]
# Texts that YAML readers are known to take for something else, or to change.
HARD_TEXTS = [
    "", " ", "no", "~", "null", "true", "1", "1e3", "0x1F", "1:30", "2024-01-01", ".inf", "- x", "-", "---", "...",
    "# c", "a # b", "a: b", ":", "{", "[", "]", "&a", "*a", "!t", "|", ">", "'", '"', "\\", "%", "@", "`", "a\nb",
    "a\n\n b\n", "\t", "\x00", "\x85", "\u2028", "\ufeff", "\x7f", "\x1b[31m", "é", "漢字", "😀", " lead", "trail ",
    "=", "<<", "?", "? a", "a,b",
]  # fmt: skip

names = st.one_of(
    st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True).filter(lambda name: name not in RESERVED),
    st.sampled_from(FALSE_FRIENDS),
)
texts = st.one_of(st.sampled_from(HARD_TEXTS), st.text(st.characters(exclude_categories=["Cs"]), max_size=30))
numbers = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, -1.0, 1e16, 1e-5, 1e100, -1e100, 5e-324, 0.1, 9.81, 123456789012345680.0]),
    st.floats(-1e100, 1e100, allow_subnormal=True),
)
_HARD_FORMULAS = ["true", "null", "no", "2", "-2.0", "1e3", " x ", "a +\n b", "e5", "-(x)", "+x", ".5", "(1)", "x*y^-2"]


def _calls(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    ordinary = st.sampled_from([name for name in FUNCTIONS if name != "if"]).flatmap(
        lambda name: st.lists(inner, min_size=FUNCTIONS[name][0], max_size=FUNCTIONS[name][0]).map(
            lambda arguments: f"{name}({', '.join(arguments)})"
        )
    )
    choice = st.tuples(inner, st.sampled_from(["<", "<=", ">", ">=", "=="]), inner, inner, inner).map(
        lambda parts: f"if({parts[0]} {parts[1]} {parts[2]}, {parts[3]}, {parts[4]})"
    )
    binary = st.tuples(inner, st.sampled_from("+-*/^"), inner).map(lambda parts: f"({parts[0]}{parts[1]}{parts[2]})")
    looked_up = st.one_of(
        st.tuples(inner, names).map(lambda parts: f"table({parts[0]}, {parts[1]})"),
        st.tuples(inner, inner).map(lambda parts: f"table({parts[0]}, {parts[1]}, [0, 1], [0, 2], [[1, 2], [3, -4]])"),
    )
    return st.one_of(ordinary, choice, binary, looked_up)


_atoms = st.one_of(names, st.sampled_from(["t", *CONSTANTS]), st.integers(0, 99).map(str))
formulas = st.one_of(st.sampled_from(_HARD_FORMULAS), st.recursive(_atoms, _calls, max_leaves=6)).map(Formula)
scalars = st.one_of(numbers, numbers, formulas)


# -- by type -----------------------------------------------------------------------------------------------------------


@st.composite
def anything(draw: Draw) -> Mechanism:
    """Any mechanism the records allow; most mean nothing."""
    return Mechanism(**_fields(draw, Mechanism))


def _value(draw: Draw, annotation: Any, marks: Sequence[Any] = ()) -> Any:
    """A value of a field's type."""
    if get_origin(annotation) is Annotated:
        inner, *more = get_args(annotation)
        return _value(draw, inner, [*marks, *more])
    of = next((mark for mark in marks if isinstance(mark, KindOf)), None)
    if of is not None:
        return _record(draw, min(of.table.values(), key=lambda kind: len(kind.model_fields)))
    origin, inside = get_origin(annotation), get_args(annotation)
    if origin in (Union, UnionType):
        return draw(scalars) if Formula in inside else _value(draw, draw(st.sampled_from(inside)), marks)
    least = next((mark.min_length for mark in marks if getattr(mark, "min_length", None)), 0)
    count = draw(st.integers(least, 3)) if origin in (dict, tuple) else 0
    if origin is dict:
        return {draw(names): _value(draw, inside[1]) for _ in range(count)}
    if origin is tuple:
        kinds = [inside[0]] * count if inside[-1] is Ellipsis else inside
        return tuple(_value(draw, kind) for kind in kinds)
    if origin is Literal or annotation is type(None):
        return draw(st.sampled_from(inside)) if inside else None
    if issubclass(annotation, Enum):
        return draw(st.sampled_from(annotation))
    return _record(draw, annotation) if issubclass(annotation, Record) else _plain(draw, annotation, marks)


def _plain(draw: Draw, kind: type, marks: Sequence[Any]) -> Any:
    if kind is str and any(isinstance(mark, BeforeValidator) for mark in marks):
        return draw(names)
    value = draw({str: texts, float: numbers, bool: st.booleans()}[kind])
    most = next((mark.max_length for mark in marks if getattr(mark, "max_length", None)), None)
    return value[:most] if most else value


def _fields(draw: Draw, kind: type[Record], /, **given: Any) -> dict[str, Any]:
    """The fields of a record; each that need not be given may be left out."""
    made = dict(given)
    for name, field in kind.model_fields.items():
        if name not in given and (field.is_required() or draw(st.booleans())):
            made[name] = _value(draw, field.annotation, field.metadata)
    return made


# -- what validators demand beyond the types ---------------------------------------------------------------------------


def _record(draw: Draw, kind: type[Record]) -> Record:
    if kind is Load:
        kind = draw(st.sampled_from(list(LOADS.values())))
    if kind is Joint:
        return _joint(draw)
    if kind is Base:
        return _base(draw)
    if kind is LookupTable:
        return _table(draw)
    if kind is Solid:
        return _solid(draw)
    if kind is Loop:
        kinds = [name for name, algebra in JOINTS.items() if algebra.nv < 6]
        return Loop(**_fields(draw, Loop, joint=draw(st.sampled_from(kinds))))
    if kind is Coordinate:
        made = _fields(draw, Coordinate)
        for start, guess in (("start", "guess"), ("start_speed", "guess_speed")):
            if made.get(start) is not None and made.get(guess) is not None:
                del made[draw(st.sampled_from([start, guess]))]
        return Coordinate(**made)
    if kind is Rolling:
        return _rolling(draw)
    if kind is TyreLoad:
        made = _fields(draw, TyreLoad)
        return TyreLoad(**made | ({"relaxation": False} if made.get("deflection") is None else {}))
    choices = _choices(kind)
    given = {"colour": draw(st.sampled_from([None, "#00ff7f"]))} if kind is Shape else {}
    if choices:
        chosen = draw(st.sampled_from(choices))
        given |= dict.fromkeys(choices)
        while chosen is not None and given[chosen] is None:
            given[chosen] = _value(draw, kind.model_fields[chosen].annotation)
    return kind(**_fields(draw, kind, **given))


def _rolling(draw: Draw) -> Rolling:
    """On a ground or a road; a tread with a stiffness slides freely and has no friction of its own."""
    made = _fields(draw, Rolling)
    if made.get("road") is not None:
        made.pop("ground", None)
    if made.get("stiffness") is not None:
        made |= {"slides": "freely", "friction": None}
    return Rolling(**made)


def _choices(kind: type[Record]) -> list[Any]:
    """The fields of which one is given; None among them if none may be."""
    if issubclass(kind, PathLoad):
        return ["coordinate", "between", "combination"]
    if kind is Contact:
        return ["frame", "gap"]
    if kind is RigidPose:
        return ["rpy", "quaternion", "matrix"]
    fields = list(kind.model_fields)
    if kind is Shape:
        return [name for name in fields if name not in ("place", "colour")]
    return fields if kind in (Elementary, Constraint, Place) else []


def _coordinates(draw: Draw, count: int) -> dict[str, Record]:
    if not count or draw(st.booleans()):
        return {}
    listed = draw(st.lists(names, min_size=count, max_size=count, unique=True))
    return {name: _record(draw, Coordinate) for name in listed}


def _joint(draw: Draw) -> Joint:
    kind = draw(st.sampled_from(list(JOINTS)))
    pitch = draw(scalars) if "pitch" in JOINTS[kind].settings else None
    has_axis = kind in ("revolute", "prismatic", "screw", "cylindrical", "planar")
    axis = draw(st.one_of(st.sampled_from("xyz"), st.tuples(scalars, scalars, scalars))) if has_axis else "z"
    return Joint(kind=kind, pitch=pitch, coordinates=_coordinates(draw, JOINTS[kind].nq), axis=axis)


def _solid(draw: Draw) -> Solid:
    form = draw(st.sampled_from(["box", "cylinder", "tube", "cone", "sphere"]))
    weight = draw(st.sampled_from(["mass", "density"]))
    shape = _record(draw, get_args(Solid.model_fields[form].annotation)[0])
    place = _record(draw, Place)
    return Solid(**{form: shape, weight: draw(scalars), "place": place})


def _table(draw: Draw) -> LookupTable:
    """Numbers on points that increase, or the name of a file."""
    points = st.lists(st.integers(-99, 99).map(float), min_size=2, max_size=4, unique=True).map(sorted)
    x, y = draw(points), draw(st.one_of(st.none(), points))
    rows = [[float(draw(st.integers(-9, 9))) for _ in y or "1"] for _ in x]
    given = {"x": x, "y": y, "values": rows if y is not None else [row[0] for row in rows], "file": None}
    if draw(st.booleans()):
        given = {"x": (), "y": None, "values": (), "file": draw(texts)}
    return LookupTable(**_fields(draw, LookupTable, columns=(1, draw(names)), **given))


def _base(draw: Draw) -> Base:
    given = {"kind": draw(st.sampled_from(BaseKind)), "orientation": draw(st.sampled_from(["quaternion", "rpy"]))}
    given["coordinates"] = _coordinates(draw, len(Base(**given).default_names))
    return Base(**_fields(draw, Base, **given))
