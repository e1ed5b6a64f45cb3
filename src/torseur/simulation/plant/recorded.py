"""What is recorded of a plant beside its states, as expressions; the numbers are in `records`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from torseur.describe.mechanism import NamedQuantity, Output
from torseur.dynamics.loads.forces import kinetic_energy, potential_energy
from torseur.graph import Expr, Function
from torseur.simulation.plant.facts import Quantity
from torseur.simulation.results.channels import Role

if TYPE_CHECKING:
    from torseur.simulation.plant.plant import Plant

__all__ = ["Recorded"]


@dataclass(frozen=True)
class _Item:
    told: Quantity
    value: Expr


class Recorded:
    """The recorded quantities of a plant."""

    def __init__(self, plant: Plant) -> None:
        self.plant = plant

    @property
    def items(self) -> tuple[Quantity, ...]:
        return tuple(item.told for item in self._items)

    @cached_property
    def _items(self) -> list[_Item]:
        """What is called like a coordinate, a speed or an input is recorded as such."""
        mechanism = self.plant.mechanism
        taken = {x.name for x in (*mechanism.q, *mechanism.v)} | set(mechanism.inputs)
        items = [*self._outputs(), *self._multipliers(), *self._frictions(), *self._energies()]
        return [item for item in items if item.told.name not in taken]

    def _outputs(self) -> Iterator[_Item]:
        plant, named = self.plant, self.plant.parts.outputs
        for name, one in named.items():
            yield _Item(Quantity(name, one.unit, one.meaning, Role.OUTPUT), one.value)
        outputs = {n: o for n, o in plant.mechanism.outputs.items() if n not in named}
        formulas: dict[str, NamedQuantity | Output] = {**plant.mechanism.quantities, **outputs}
        values = plant.settled([plant.system.scalar(o.value) for o in formulas.values()])
        for (name, output), value in zip(formulas.items(), values, strict=True):
            yield _Item(Quantity(name, output.unit or "", output.description or "", Role.OUTPUT), value)

    def _multipliers(self) -> Iterator[_Item]:
        for row, lam in zip(self.plant.bench.constraints.rows, self.plant.solved.lam, strict=True):
            told = Quantity(f"lambda_{row.name}", row.unit, f"multiplier of {row.owner}", Role.MULTIPLIER)
            yield _Item(told, lam)

    def _frictions(self) -> Iterator[_Item]:
        """The forces of friction of contacts, whether they stick or slip."""
        plant, constraints = self.plant, self.plant.bench.constraints
        places = plant.switches.along_ground(constraints)
        for slip, (_, rows) in zip(plant.switches.slips, places, strict=True):
            meaning = f"friction of constraints.{slip.name}"
            for k, force in zip(rows, plant.settled(slip.force()), strict=True):
                told = Quantity(f"friction_{constraints.rows[k].name}", "N", meaning, Role.MULTIPLIER)
                yield _Item(told, force + plant.solved.lam[k])

    def _energies(self) -> Iterator[_Item]:
        w = self.plant.bench
        parts = kinetic_energy(w.true_tree), potential_energy(w.true_tree, w.gravity)
        for name, value in zip(("kinetic", "potential"), self.plant.settled(parts), strict=True):
            yield _Item(Quantity(f"{name}_energy", "J", f"{name} energy", Role.ENERGY), value)

    # -- functions -----------------------------------------------------------------------------------------------------
    def record(self) -> Function:
        """All that is recorded and audited."""
        plant, rows = self.plant, self.plant.bench.constraints
        accounts = plant.balances.accounts if plant.balances is not None else ()
        outputs = {
            "vdot": plant.solved.vdot,
            "inputs": self._inputs,
            "items": [item.value for item in self._items],
            "momenta": plant.settled(plant.balances.momenta) if plant.balances is not None else [],
            "potential": plant.settled([x.potential for x in accounts]),
            "kinetic": plant.settled([share for x in accounts for share in x.kinetic]),
            "h": plant.settled(rows.h),
            "r": plant.settled([r for r, row in zip(rows.r, rows.rows, strict=True) if row.position is None]),
            "gaps": plant.settled(plant.switches.gaps(rows)),
        }
        return plant.function("record", outputs)

    def instant(self) -> Function:
        """``vdot``, ``inputs`` and the ``items``, at one instant."""
        outputs = {
            "vdot": self.plant.solved.vdot,
            "inputs": self._inputs,
            "items": [item.value for item in self._items],
        }
        return self.plant.function("record", outputs)

    @cached_property
    def _inputs(self) -> list[Expr]:
        """The value of every input, driven or not."""
        return [self.plant.parts.inputs.get(x, x) for x in self.plant.system.u]

    def inputs(self) -> Function:
        return self.plant.function("inputs", {"inputs": self._inputs})

    def gaps(self) -> Function:
        """Of all rows: how far they are from being met; of rates where they have no position."""
        rows = self.plant.bench.constraints
        h = iter(rows.h)
        gaps = [r if row.position is None else next(h) for r, row in zip(rows.r, rows.rows, strict=True)]
        return self.plant.function("gaps", {"gaps": self.plant.settled(gaps)})
