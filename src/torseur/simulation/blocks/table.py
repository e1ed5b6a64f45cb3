"""The kinds of blocks a study may use, and blocks from the short ways to write them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from torseur.describe.faults import guess
from torseur.errors import ModelError
from torseur.extensions import Kinds
from torseur.simulation.blocks.base import Block, kinds
from torseur.simulation.blocks.feedback import Pd, Pid
from torseur.simulation.blocks.filters import Delay, Integral, Lag, SecondOrder, TransferFunction
from torseur.simulation.blocks.joint_control import ComputedTorque, PdRegulator
from torseur.simulation.blocks.limits import DeadZone, RateLimit, Saturation
from torseur.simulation.blocks.motors import Armature, Force
from torseur.simulation.blocks.noise import BandNoise, Noise
from torseur.simulation.blocks.recorded import Recorded
from torseur.simulation.blocks.sampled import PythonBlock, Sampled
from torseur.simulation.blocks.sensors import AccelerationSensor, ForceSensor, Imu, PoseSensor, VelocitySensor
from torseur.simulation.blocks.signals import Constant, FormulaSignal, Ramp, Sine, Spline, Step, Sweep
from torseur.simulation.blocks.task_control import OperationalSpace, ResolvedAcceleration, ResolvedRate
from torseur.simulation.blocks.trajectories import Circle, Line, Move, PointToPoint, Trapezoid

__all__ = ["KINDS", "block_of"]

GROUPS = {
    "Signals": kinds(Constant, Step, Ramp, Sine, Sweep, Spline, Recorded, Noise, BandNoise, FormulaSignal),
    "Motions": kinds(Move, Trapezoid, PointToPoint, Line, Circle),
    "Control": kinds(Pd, Pid, ComputedTorque, PdRegulator, OperationalSpace, ResolvedAcceleration, ResolvedRate),
    "Filters and limits": kinds(Integral, Lag, SecondOrder, TransferFunction, Delay, RateLimit, Saturation, DeadZone),
    "Samples": kinds(Sampled, PythonBlock),
    "Sensors": kinds(PoseSensor, VelocitySensor, AccelerationSensor, Imu, ForceSensor),
    "Motors": kinds(Armature, Force),
}
"""The kinds by what they are for."""

KINDS: Kinds[type[Block]] = Kinds("blocks", {n: block for group in GROUPS.values() for n, block in group.items()})
"""The kinds the core knows; packs hand in larger tables."""


def block_of(given: Any, table: Mapping[str, type[Block]] = KINDS, where: str = "blocks") -> Block:
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
    if isinstance(given, Mapping):
        if len(given) != 1:
            got = ", ".join(map(str, given)) or "nothing"
            raise ModelError("a block has exactly one kind", where=where, expected="one key, its kind", got=got)
        kind, fields = next(iter(given.items()))
    else:
        kind, fields = ("formula" if isinstance(given, str) else "constant"), {"value": given}
    if kind not in table:
        expected, remedy = guess(str(kind), table)
        raise ModelError(f"no kind of block '{kind}'", where=where, expected=expected, remedy=remedy)
    return _validated(table[kind], fields, f"{where}.{kind}")


def _validated(record: type[Block], fields: Any, where: str) -> Block:
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
            place = ".".join([where, *map(str, fault["loc"])])
            faults.append(ModelError(fault["msg"], where=place))
        raise ModelError.of(faults) from None
