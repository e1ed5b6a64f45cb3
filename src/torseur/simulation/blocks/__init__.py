"""Signals and blocks: what drives, controls, filters and measures a mechanism, compiled into the same native code."""

from torseur.simulation.blocks.actuation import Armature, Force
from torseur.simulation.blocks.base import Block, build_blocks, kinds
from torseur.simulation.blocks.feedback import ComputedTorque, Pd, PdRegulator, Pid
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
from torseur.simulation.blocks.sampled import BandNoise, Noise, PythonBlock, Sampled
from torseur.simulation.blocks.sensors import AccelerationSensor, ForceSensor, Imu, PoseSensor, VelocitySensor
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
)
from torseur.simulation.blocks.table import KINDS, block_of
from torseur.simulation.blocks.task_control import OperationalSpace, ResolvedAcceleration, ResolvedRate
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
]
