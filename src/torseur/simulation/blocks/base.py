"""What every block is, and how a table of them is built."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from torseur.describe.fields import Record, names_in
from torseur.describe.plain_data import canonical
from torseur.errors import TorseurError
from torseur.graph import Expr
from torseur.simulation.blocks.context import Context

__all__ = ["Block", "build_blocks", "kinds"]


class Block(Record):
    """Something that gives numbers while a mechanism moves: a signal, a controller, a filter, a sensor.

    A new kind is a new record with a `kind` and a `build`, handed in with the table of kinds; nothing else changes.
    """

    kind: ClassVar[str]
    """How a study calls it."""
    units: ClassVar[Mapping[str, str]] = {}
    """Result -> its unit, where that is always the same."""

    @abstractmethod
    def build(self, context: Context, name: str) -> Expr | dict[str, Expr]:
        """Add what the block needs to a context and give its result, or several by name.

        Args:
            context: symbols, and where to leave states, samples and breaks.
            name: of this block in the study; results are called ``name``, or ``name_key`` for each key.
        """

    def told(self, folder: Path) -> str | None:
        """All that decides what it builds, as text; None where no text says it.

        Args:
            folder: where files that it reads are looked for.
        """
        return canonical(self)


def kinds(*blocks: type[Block]) -> dict[str, type[Block]]:
    """A table of kinds for a reader."""
    return {block.kind: block for block in blocks}


def build_blocks(context: Context, blocks: Mapping[str, Block]) -> None:
    """Build blocks in an order in which each finds what it uses; a block that is called like an input drives it.

    Blocks may use each other's results in a circle, if somewhere in it a state or a sample breaks the circle.
    """
    waiting = dict(blocks)
    context.awaited |= waiting.keys()
    needs = {name: [n for n in blocks if _names(block, n)] for name, block in blocks.items()}
    context.uses |= needs
    while waiting:
        ready = (n for n in waiting if not any(other in waiting for other in needs[n] if other != n))
        name = next(ready, next(iter(waiting)))
        context.where = ("inputs" if name in context.bench.system.u.names else "blocks", name)
        _build(context, name, waiting.pop(name))
        context.awaited.discard(name)


def _names(block: Block, other: str) -> bool:
    """Whether a formula of a block uses a result of another."""
    return any(used == other or used.startswith(f"{other}_") for used in names_in(block))


def _build(context: Context, name: str, block: Block) -> None:
    try:
        result = block.build(context, name)
    except TorseurError as error:
        if error.where is None:
            error.locate(context.where)
        raise
    if isinstance(result, Expr):
        context.define(name, result)
        if name in context.bench.system.u.names:
            context.drive(name, result)
        return
    for key, value in result.items():
        context.define(f"{name}_{key}", value, block.units.get(key, ""))
