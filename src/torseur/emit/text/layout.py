"""How a function is laid out as text, whatever the language: what becomes a statement, what stays inside one.

These numbers bound every statement, so that text grows linearly with the function and never nests deeply.
"""

from __future__ import annotations

from dataclasses import dataclass

from torseur.graph.ops import Op

__all__ = ["Layout"]


@dataclass(frozen=True)
class Layout:
    """The choices a language makes.

    Args:
        size: operations in one statement before it is cut in two.
        depth: brackets within brackets in one statement before it is cut.
        arrays: inputs and outputs are arrays with names of their own, filled at the end. Otherwise every result is a
            statement of its own, at the stage where it can be computed.
        squares: ``x*x`` is written as a power, so that x need not be a name.
        alone: operations that look best as a statement of their own.
        prologue: work on parameters only is a part of its own.
        instant: work on parameters and time only is a part of its own.
    """

    size: int = 12
    depth: int = 5
    arrays: bool = True
    squares: bool = False
    alone: frozenset[Op] = frozenset()
    prologue: bool = True
    instant: bool = False
