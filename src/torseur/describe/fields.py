"""The building bricks of descriptions: frozen records, scalars that may be formulas, names."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Never, Self, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, PlainSerializer, WithJsonSchema
from pydantic_core import PydanticCustomError

from torseur.describe.formulas import RESERVED, Formula
from torseur.errors import ModelError
from torseur.extensions import is_own

__all__ = ["FrozenDict", "Name", "Number", "Record", "Scalar", "Table", "Triple", "names_in", "rewritten", "with_names"]

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
LARGEST = 1e100


class Record(BaseModel):
    """A frozen record: unknown fields are refused, equal contents are equal, and it can be a key."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        arbitrary_types_allowed=True,
        allow_inf_nan=False,
        populate_by_name=True,
        defer_build=True,
    )

    @property
    def is_own(self) -> bool:
        """Whether sources of this package alone decide what it means: not so for kinds of other packages."""
        return is_own(type(self))

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy with some fields replaced; dictionaries among them are frozen, so that it can still be a key."""
        given = {name: FrozenDict(x) if isinstance(x, dict) else x for name, x in (update or {}).items()}
        return super().model_copy(update=given, deep=deep)


def _scalar(value: Any) -> float | Formula:
    if isinstance(value, Formula):
        return value
    if isinstance(value, str):
        try:
            return Formula(value)
        except ModelError as error:
            raise PydanticCustomError("formula", "{text}", {"text": str(error), "error": error}) from error
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise PydanticCustomError("scalar", "expected a number or a formula, got {got}", {"got": _shown(value)})
    number = float(value) if abs(value) <= LARGEST else math.inf
    if not math.isfinite(number):
        raise PydanticCustomError("scalar", "expected a finite number below 1e100, got {got}", {"got": _shown(value)})
    return number


def _number(value: Any) -> float:
    if isinstance(value, (str, Formula)):
        raise PydanticCustomError("number", "expected a number, got {got}", {"got": _shown(str(value))})
    number = _scalar(value)
    assert isinstance(number, float)
    return number


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."


def _name(value: Any) -> str:
    if not isinstance(value, str) or len(value) > 100 or not _NAME.fullmatch(value):
        alone = "; frames and bodies are named alone, without the body before a dot" if "." in str(value) else ""
        text = "expected a name (letters, digits and _, no digit first), got {got}{alone}"
        raise PydanticCustomError("name", text, {"got": _shown(value), "alone": alone})
    if value in RESERVED:
        raise PydanticCustomError(
            "name", "'{got}' is a word of the formula language; choose another name", {"got": value}
        )
    return value


Scalar = Annotated[
    float | Formula,
    BeforeValidator(_scalar),
    PlainSerializer(lambda x: x.text if isinstance(x, Formula) else x),
    WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "string", "description": "a formula, e.g. m*l^2/12"}]}),
]
"""A number, or a formula of parameters (and, where that is said, of coordinates, inputs and t)."""

Name = Annotated[str, BeforeValidator(_name), WithJsonSchema({"type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$"})]
"""A name of something in the model."""

Number = Annotated[float, BeforeValidator(_number)]
"""A number, and no formula."""

Triple = tuple[Scalar, Scalar, Scalar]

T = TypeVar("T")


class FrozenDict(dict[str, T]):
    """A dictionary that cannot be changed and can be hashed; order counts, as it does in a model file."""

    def _refuse(self, *args: object, **kwargs: object) -> Never:
        raise TypeError("a description is frozen; make a new one with model_copy(update=...)")

    __setitem__ = __delitem__ = clear = pop = popitem = setdefault = update = __ior__ = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self.items()))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, dict) and list(self.items()) == list(other.items())

    def __reduce__(self) -> tuple[object, ...]:
        return FrozenDict, (dict(self),)


Table = Annotated[dict[Name, T], AfterValidator(FrozenDict)]
"""Things by name, in order."""


def names_in(value: Any) -> frozenset[str]:
    """Every name used by the formulas inside a record, a sequence or a scalar."""
    if isinstance(value, Formula):
        return value.names
    if isinstance(value, Record):
        return names_in([getattr(value, field) for field in type(value).model_fields])
    if isinstance(value, dict):
        return names_in(list(value.values()))
    if isinstance(value, (list, tuple)):
        return frozenset().union(*(names_in(item) for item in value))
    return frozenset()


def with_names(value: T, texts: Mapping[str, str]) -> T:
    """A record, sequence or scalar with some names in its formulas replaced by formulas."""
    return rewritten(value, lambda x: x.with_names(texts) if x.names & texts.keys() else x)


def rewritten(value: T, change: Callable[[Formula], Scalar]) -> T:
    """A record, table, sequence or scalar with other formulas inside it; itself where none changes."""
    result: Any = value
    if isinstance(value, Formula):
        result = change(value)
    elif isinstance(value, Record):
        old = {name: getattr(value, name) for name in type(value).model_fields}
        new = {name: rewritten(item, change) for name, item in old.items()}
        changed = {name: item for name, item in new.items() if item is not old[name]}
        result = value.model_copy(update=changed) if changed else value
    elif isinstance(value, dict):
        new = {key: rewritten(item, change) for key, item in value.items()}
        result = FrozenDict(new) if any(new[key] is not item for key, item in value.items()) else value
    elif isinstance(value, tuple):
        items = tuple(rewritten(item, change) for item in value)
        result = items if any(a is not b for a, b in zip(items, value, strict=True)) else value
    return result  # type: ignore[no-any-return]
