"""Signals and blocks: what drives, controls, filters and measures a mechanism, compiled into the same native code.

Here are the kinds of blocks a study may use, blocks from the short ways to write them, and the tables of their fields.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError
from pydantic.fields import FieldInfo

from torseur.describe.faults import guess
from torseur.describe.formulas import Formula
from torseur.errors import Location, ModelError
from torseur.extensions import Kinds
from torseur.simulation.blocks.actuation import Armature, Force
from torseur.simulation.blocks.base import Block, build_blocks, kinds
from torseur.simulation.blocks.control import (
    ComputedTorque,
    OperationalSpace,
    Pd,
    PdRegulator,
    Pid,
    ResolvedAcceleration,
    ResolvedRate,
)
from torseur.simulation.blocks.filters import (
    Crossing,
    DeadZone,
    Delay,
    Integral,
    Lag,
    RateLimit,
    Saturation,
    SecondOrder,
    TransferFunction,
)
from torseur.simulation.blocks.measuring import (
    AccelerationSensor,
    BandNoise,
    External,
    ForceSensor,
    Imu,
    Noise,
    PoseSensor,
    PythonBlock,
    Sampled,
    VelocitySensor,
)
from torseur.simulation.blocks.signals import (
    Constant,
    FormulaSignal,
    Ramp,
    Recorded,
    Sine,
    Spline,
    Step,
    Sweep,
    number_of,
    over_time,
)
from torseur.simulation.blocks.trajectories import Circle, Line, Move, PointToPoint, Trapezoid

__all__ = [
    "KINDS",
    "AccelerationSensor",
    "Armature",
    "BandNoise",
    "Block",
    "Circle",
    "ComputedTorque",
    "Constant",
    "Crossing",
    "DeadZone",
    "Delay",
    "Force",
    "ForceSensor",
    "FormulaSignal",
    "Imu",
    "Integral",
    "Lag",
    "Line",
    "Move",
    "Noise",
    "OperationalSpace",
    "Pd",
    "PdRegulator",
    "Pid",
    "PointToPoint",
    "PoseSensor",
    "PythonBlock",
    "Ramp",
    "RateLimit",
    "Recorded",
    "ResolvedAcceleration",
    "ResolvedRate",
    "Sampled",
    "Saturation",
    "SecondOrder",
    "Sine",
    "Spline",
    "Step",
    "Sweep",
    "TransferFunction",
    "Trapezoid",
    "VelocitySensor",
    "block_of",
    "build_blocks",
    "kinds",
    "number_of",
    "reference",
]

GROUPS = {
    "Signals": kinds(Constant, Step, Ramp, Sine, Sweep, Spline, Recorded, Noise, BandNoise, FormulaSignal),
    "Motions": kinds(Move, Trapezoid, PointToPoint, Line, Circle),
    "Control": kinds(Pd, Pid, ComputedTorque, PdRegulator, OperationalSpace, ResolvedAcceleration, ResolvedRate),
    "Filters and limits": kinds(
        Integral, Lag, SecondOrder, TransferFunction, Delay, RateLimit, Saturation, DeadZone, Crossing
    ),
    "Samples": kinds(Sampled, PythonBlock, External),
    "Sensors": kinds(PoseSensor, VelocitySensor, AccelerationSensor, Imu, ForceSensor),
    "Motors": kinds(Armature, Force),
}
"""The kinds by what they are for."""

KINDS: Kinds[type[Block]] = Kinds("blocks", {n: block for group in GROUPS.values() for n, block in group.items()})
"""The kinds the core knows; packs hand in larger tables."""


def block_of(given: Any, table: Mapping[str, type[Block]] = KINDS, where: Location = ("blocks",)) -> Block:
    """A block from itself, a number, a formula, or a mapping from a kind to its fields.

    >>> block_of(2.0)
    Constant(value=2.0)
    >>> block_of({"step": {"time": 1.0, "after": 5.0}})
    Step(time=1.0, before=0.0, after=5.0)
    >>> block_of("10*sin(t)").kind
    'formula'
    """
    if isinstance(given, Block):
        return given
    given = over_time(given)
    if isinstance(given, Mapping):
        if len(given) != 1:
            got = ", ".join(map(str, given)) or "nothing"
            raise ModelError("a block has exactly one kind", where=where, expected="one key, its kind", got=got)
        kind, fields = next(iter(given.items()))
    elif callable(given):
        text = "{'python': {'function': f, 'inputs': ['q1', 'dq1'], 'period': 0.01}}"
        raise ModelError("a Python function is no formula", where=where, remedy=f"make it a block: {text}")
    else:
        kind, fields = ("formula" if isinstance(given, str) else "constant"), {"value": given}
    if kind not in table:
        expected, remedy = guess(str(kind), table)
        raise ModelError(f"no kind of block '{kind}'", where=where, expected=expected, remedy=remedy)
    return _validated(table[kind], fields, (*where, kind))


def _validated(record: type[Block], fields: Any, where: Location) -> Block:
    """A record of fields, or all that is wrong with them."""
    if not isinstance(fields, Mapping):
        short = [name for name, field in record.model_fields.items() if field.is_required()]
        if len(short) != 1:
            expected = "a mapping with " + ", ".join(record.model_fields)
            raise ModelError("a block needs its fields by name", where=where, expected=expected, got=repr(fields)[:60])
        fields = {short[0]: fields}
    try:
        return record.model_validate(dict(fields))
    except ValidationError as error:
        faults = []
        for fault in error.errors():
            faults.append(ModelError(fault["msg"], where=(*where, *fault["loc"])))
        raise ModelError.of(faults) from None


def reference(groups: Mapping[str, Mapping[str, type[Block]]] = GROUPS) -> str:
    """Markdown: a table of kinds, then one section for each with its fields."""
    lines = ["| kind | what it is |", "|---|---|"]
    for title, table in groups.items():
        lines.append(f"| **{title}** | |")
        lines += [
            f"| [`{kind}`](#{kind}) | {_text(block).split('. ')[0].rstrip('.')} |" for kind, block in table.items()
        ]
    lines.append("")
    for title, table in groups.items():
        lines += [f"## {title}", ""]
        for kind, block in table.items():
            lines += [f"### {kind}", "", _text(block), "", "| field | by default | meaning |", "|---|---|---|"]
            lines += [_row(name, field) for name, field in block.model_fields.items()]
            lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def _text(block: type[Block]) -> str:
    """The docstring on one line; bars would end the cell of a table."""
    return " ".join((block.__doc__ or "").split()).replace("|", "\\|")


def _row(name: str, field: FieldInfo) -> str:
    default = "required" if field.is_required() else _default(field.default)
    return f"| `{name}` | {default} | {(field.description or '').replace('|', chr(92) + '|')} |"


def _default(value: object) -> str:
    if value is None or value == () or value == {}:
        return ""
    if isinstance(value, (float, Formula)):
        return f"`{value:.6g}`" if isinstance(value, float) else f"`{value.text}`"
    if isinstance(value, tuple):
        return f"`[{', '.join(f'{x:g}' for x in value)}]`"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"
