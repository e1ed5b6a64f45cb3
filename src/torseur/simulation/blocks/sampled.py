"""Blocks that work at instants and hold their results between them: sampled formulas and Python functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, PlainSerializer, WithJsonSchema
from pydantic_core import PydanticCustomError

from torseur.describe.annotations import Anything
from torseur.describe.fields import Name, Scalar
from torseur.errors import ModelError
from torseur.graph import Expr
from torseur.simulation.blocks.base import Block
from torseur.simulation.blocks.context import Context

__all__ = ["PythonBlock", "Sampled"]


class Sampled(Block):
    """y = value at the times offset + k period, held in between (zero-order hold): a digital controller or sensor.

    All samples of one instant read what was there just before it; one that reads another sampled block sees its
    previous sample.
    """

    kind = "sampled"
    value: Anything = Field(description="any formula")
    period: Scalar = Field(description="s")
    offset: Scalar = Field(0.0, description="time of the first sample, s")
    start: Anything = Field(0.0, description="y before the first sample")

    def build(self, context: Context, name: str) -> Expr:
        y = context.held(name, self.start)
        context.sample(y, context.value(self.value), self.period, self.offset)
        return y


def _function(value: Any) -> Callable[..., Any]:
    if not callable(value):
        text = "expected a Python function, got {got}; a file cannot hold one: build the study in Python"
        raise PydanticCustomError("function", text, {"got": repr(value)[:40]})
    return value  # type: ignore[no-any-return]


Function = Annotated[
    Callable[..., Any],
    BeforeValidator(_function),
    PlainSerializer(lambda f: getattr(f, "__qualname__", repr(f))),
    WithJsonSchema({"description": "a Python function; not in files", "type": "null"}),
]


class PythonBlock(Block):
    """y = function(t, *inputs), called at the times offset + k period and held in between: a slow block.

    The function gives one number, or one for each of the names in `outputs`. It runs in Python: choose a period that
    can bear it. If it raises an error, or gives something else, the run ends there and keeps what it has.
    """

    kind = "python"
    function: Function = Field(description="called with t and the inputs")
    inputs: tuple[Anything, ...] = Field((), description="formulas whose values it is given")
    outputs: tuple[Name, ...] = Field((), description="names of its results; none: it gives one number")
    period: Scalar = Field(description="s")
    offset: Scalar = Field(0.0, description="time of the first call, s")
    start: tuple[Scalar, ...] | Scalar = Field(0.0, description="results before the first call")

    def build(self, context: Context, name: str) -> Expr | dict[str, Expr]:
        labels = [f"{name}_{output}" for output in self.outputs] or [name]
        starts = self.start if isinstance(self.start, tuple) else (self.start,) * len(labels)
        if len(starts) != len(labels):
            raise ModelError(
                "wrong number of starts", where=context.where, expected=str(len(labels)), got=str(len(starts))
            )
        held = [context.held(label, start) for label, start in zip(labels, starts, strict=True)]
        values = [context.value(x) for x in self.inputs]
        context.callable(held, self.function, self.period, self.offset, inputs=values)
        return dict(zip(self.outputs, held, strict=True)) if self.outputs else held[0]
