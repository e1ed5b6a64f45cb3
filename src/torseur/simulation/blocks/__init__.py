"""Signals and blocks: what drives, controls, filters and measures a mechanism, compiled into the same native code."""

from torseur.simulation.blocks.base import Block, build_blocks, kinds
from torseur.simulation.blocks.feedback import Pd
from torseur.simulation.blocks.signals import Constant, FormulaSignal, Ramp, Sine, Spline, Step, Sweep
from torseur.simulation.blocks.table import KINDS, block_of

__all__ = [
    "KINDS",
    "Block",
    "Constant",
    "FormulaSignal",
    "Pd",
    "Ramp",
    "Sine",
    "Spline",
    "Step",
    "Sweep",
    "block_of",
    "build_blocks",
    "kinds",
]
