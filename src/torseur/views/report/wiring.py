"""What is connected to what in a study: blocks, the mechanism, and the signals between them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from torseur.describe.annotations import FoundName, Thing, walk
from torseur.describe.fields import names_in
from torseur.simulation.blocks import Block
from torseur.simulation.blocks.actuation import Controller, Force
from torseur.simulation.study.study import Study

__all__ = ["MECHANISM", "Wire", "Wiring", "wiring"]

MECHANISM = ""
"""The name of the mechanism among blocks, which all have one."""


@dataclass(frozen=True)
class Wire:
    """Signals from one block to another."""

    source: str
    target: str
    signals: tuple[str, ...]


@dataclass(frozen=True)
class Wiring:
    """The blocks of a study by name, and the wires between them and the mechanism."""

    blocks: dict[str, Block]
    wires: tuple[Wire, ...]

    def into(self, name: str) -> tuple[Wire, ...]:
        return tuple(wire for wire in self.wires if wire.target == name)

    def out_of(self, name: str) -> tuple[Wire, ...]:
        return tuple(wire for wire in self.wires if wire.source == name)


def wiring(study: Study) -> Wiring:
    """The connections of a study."""
    blocks = {**study.inputs, **study.blocks}
    wires: dict[tuple[str, str], list[str]] = {}
    for name, block in blocks.items():
        for source, signal in _taken(study, blocks, name, block):
            _add(wires, source, name, signal)
        for signal in _driven(study, name, block):
            _add(wires, name, MECHANISM, signal)
    return Wiring(blocks, tuple(Wire(*ends, tuple(signals)) for ends, signals in wires.items()))


def _add(wires: dict[tuple[str, str], list[str]], source: str, target: str, signal: str) -> None:
    signals = wires.setdefault((source, target), [])
    if signal not in signals:
        signals.append(signal)


def _taken(study: Study, blocks: dict[str, Block], name: str, block: Block) -> Iterator[tuple[str, str]]:
    """What a block uses: the source and the signal of each."""
    model = study.model
    given = [x.name for x in (*model.q, *model.v)]
    known = {*given, *model.outputs, *model.quantities, *model.load_results, *study.outputs}
    for used in sorted(names_in(block)):
        if used in known:
            yield MECHANISM, used
        else:
            for other in blocks:
                if used == other or used.startswith(f"{other}_"):
                    yield other, used
                    break
    if isinstance(block, Controller):  # it knows the whole state
        yield from ((MECHANISM, signal) for signal in ("q", "v"))
    else:
        for found in walk(block):
            if isinstance(found, FoundName) and found.thing in (Thing.FRAME, Thing.COORDINATE, Thing.SPEED):
                yield MECHANISM, found.name
    if (joint := getattr(block, "joint", None)) is not None:
        yield MECHANISM, str(joint)


def _driven(study: Study, name: str, block: Block) -> Iterator[str]:
    """What of the mechanism a block drives."""
    if name in study.model.inputs:
        yield name
    if isinstance(block, Controller) and block.apply:
        yield from block.inputs or block.speeds or (f"{name}",)
    if isinstance(block, Force):
        yield block.speed
