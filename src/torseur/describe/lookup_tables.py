"""Tables of a model, by name: what formulas look up with table(x, NAME) or table(x, y, NAME)."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from torseur.describe.fields import Number, Record
from torseur.describe.formula_words import Lookup
from torseur.errors import ModelError
from torseur.graph import Interpolation, Outside

__all__ = ["LookupTable"]

_BETWEEN = {
    "linear": Interpolation.LINEAR,
    "monotone": Interpolation.MONOTONE_CUBIC,
    "smooth": Interpolation.SMOOTH,
}


class LookupTable(Record):
    """A curve over one variable, or a surface over two, through points.

    Numbers may stand in a file (CSV) beside the model; reading the model puts them in. One variable: two columns. Two:
    the values of y in the first line, after its first cell, then on each line x and the values there.
    """

    x: tuple[Number, ...] = Field((), description="points of the first variable, increasing")
    y: tuple[Number, ...] | None = Field(None, description="points of the second variable, increasing")
    values: tuple[Number, ...] | tuple[tuple[Number, ...], ...] = Field(
        (), description="one for each x; with y, a list over y for each x"
    )
    between: Literal["linear", "monotone", "smooth"] = Field(
        "linear", description="straight, cubics that do not overshoot, or a cubic spline: its curvature is continuous"
    )
    outside: Literal["hold", "extend"] = Field("hold", description="beyond the ends: the end value, or the end slope")
    file: str | None = Field(None, max_length=1000, description="in place of the numbers: a file beside the model")
    columns: tuple[str | int, str | int] = Field((1, 2), description="of the file: x and values, by name or number")
    grid: bool = Field(False, strict=True, description="of the file: whether it holds a surface")
    unit: str | None = Field(None, max_length=40, description="of the values, in words")
    description: str | None = Field(None, max_length=500, description="what it is")

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.file is not None:
            if self.x or self.y is not None or self.values:
                raise PydanticCustomError("choice", "give a file, or x and values")
            return self
        try:
            _ = self.lookup
        except ModelError as error:
            text = f"{error.what}; expected {error.expected}, got {error.got}"
            raise PydanticCustomError("table", "{text}", {"text": text}) from None
        return self

    @property
    def lookup(self) -> Lookup:
        """The table itself."""
        if self.file is not None:
            remedy = "torseur.load reads it"
            raise ModelError("the numbers of a table are in a file, which was not read", got=self.file, remedy=remedy)
        rows = [value for value in self.values if isinstance(value, tuple)]
        flat = [value for value in self.values if not isinstance(value, tuple)]
        if (rows if self.y is None else flat) or not self.values:
            expected = "a number for each x" if self.y is None else "a list over y for each x"
            raise ModelError("the values of a table do not fit its points", expected=expected, got="another form")
        axes = (self.x,) if self.y is None else (self.x, self.y)
        return Lookup(axes, tuple(rows) or (tuple(flat),), _BETWEEN[self.between], Outside(self.outside))
