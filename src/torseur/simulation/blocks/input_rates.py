"""The rates of inputs, which those that drive a constraint need: two for a position row, one for a row of speeds.

Rows are written before it is known what drives an input, so its rates are symbols there. Once all blocks are built they
follow from what drives it, by differentiating that along the motion: q changes by its rates, a state of a block by its
own, what is held not at all. What depends on speeds has no known rate: accelerations are what the rows decide.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from torseur.describe.constraints import SpeedRow
from torseur.describe.mechanism import Mechanism
from torseur.dynamics.tree.system import System
from torseur.errors import Location, ModelError
from torseur.graph import Expr, Role, ops, substitute, tangents
from torseur.graph.function import reachable
from torseur.simulation.blocks.parts import in_order, shown_name

__all__ = ["InputRates", "Known", "orders"]

_WORDS = {1: "rate", 2: "second derivative"}


def orders(mechanism: Mechanism) -> dict[str, int]:
    """Input -> how many of its rates the constraints that it drives need."""
    by_input: dict[str, int] = {}
    for constraint in mechanism.constraints.values():
        order = 1 if isinstance(constraint.form, SpeedRow) else 2
        for name in mechanism.names_in(constraint.form) & mechanism.inputs.keys():
            by_input[name] = max(order, by_input.get(name, 0))
    return by_input


@dataclass(frozen=True)
class Known:
    """What rates are made of.

    Attributes:
        values: input -> what drives it.
        seeds: symbol -> its rate, of all that changes.
        held: symbols that stand still, between instants at least.
        jumping: those of them that may jump at an instant.
        late: names of blocks that are known only when the motion is solved.
        places: input -> where it is driven, for messages.
    """

    values: Mapping[Expr, Expr]
    seeds: Mapping[Expr, Expr]
    held: Collection[Expr]
    jumping: Collection[Expr]
    late: Collection[str]
    places: Mapping[Expr, Location]


class InputRates:
    """Symbols for the rates of inputs, and what they stand for in the end."""

    def __init__(self, system: System) -> None:
        self._system = system
        self._orders: dict[Expr, int] = {}
        self._symbols: dict[Expr, tuple[Expr, Expr]] = {}
        self._drives: set[Expr] = set()

    def drive(self, name: str, order: int) -> None:
        """An input drives constraints, which need so many of its rates."""
        u = self._system.u[name]
        self._drives.add(u)
        self._system.input_rates |= self._need(u, order)

    def seeds(self, exprs: Iterable[Expr], constants: Collection[str]) -> dict[Expr, Expr]:
        """Symbol -> its rate, of the inputs, and of their rates, that occur in expressions."""
        used = {x.id for x in symbols_in(exprs)}
        seeds: dict[Expr, Expr] = {}
        for name, u in zip(self._system.u.names, self._system.u, strict=True):
            if u.id in used and name not in constants:
                seeds |= self._need(u, 1)
            if u in self._symbols and self._symbols[u][0].id in used:
                seeds |= self._need(u, 2)
        return seeds

    def _need(self, u: Expr, order: int) -> dict[Expr, Expr]:
        if u not in self._symbols:
            name, g = self._system.graph.label(u), self._system.graph
            first, second = (g.symbol(f"{word}_{name}", Role.INPUT) for word in ("input_rate", "input_second_rate"))
            self._symbols[u] = first, second
        self._orders[u] = max(order, self._orders.get(u, 0))
        first, second = self._symbols[u]
        return {u: first, first: second} if order == 2 else {u: first}

    # -- the end -------------------------------------------------------------------------------------------------------
    def settled(self, known: Known) -> dict[Expr, Expr]:
        """The symbols that were asked for -> their expressions; all that have none are told at once."""
        settled: dict[Expr, Expr] = {}
        faults: list[ModelError] = []
        for u, order in self._orders.items():
            if u not in known.values:
                settled |= dict.fromkeys(self._symbols[u][:order], self._system.graph.zero)
                continue
            try:
                levels = self._levels(u, order, known)
            except ModelError as fault:
                faults.append(fault)
            else:
                settled |= dict(zip(self._symbols[u], levels, strict=False))
        if faults:
            raise ModelError.of(faults)
        return in_order(settled, "inputs that need each other's rates", ("inputs",))

    def _levels(self, u: Expr, order: int, known: Known) -> list[Expr]:
        """The rates of one input, as many as are needed."""
        value, levels = known.values[u], list[Expr]()
        jumps = {x.id for x in known.jumping}
        jumping = [x for x in symbols_in([value]) if x.id in jumps]
        if jumping and u in self._drives:
            raise self._fault(u, "it jumps at instants", jumping, known)
        seeds = {**known.seeds, **dict(self._symbols.values())}
        still = {x.id for x in (*seeds, *known.held)}
        for k in range(1, order + 1):
            strangers = [x for x in symbols_in([value]) if x.id not in still]
            if strangers:
                raise self._fault(u, f"its {_WORDS[k]} is not known", strangers, known)
            value = substitute(tangents([value], seeds), known.values)[0]
            levels.append(value)
        late = [x for x in symbols_in([value]) if x.data[0] in known.late]
        if late:
            raise self._fault(u, f"its {_WORDS[order]} is not known", late, known)
        return levels

    def _fault(self, u: Expr, why: str, symbols: Iterable[Expr], known: Known) -> ModelError:
        name, names = shown_name(u), dict.fromkeys(shown_name(x) for x in symbols)
        if u not in self._drives:
            return ModelError(
                f"the rate of the input '{name}' is not known",
                where=known.places.get(u),
                got=f"it depends on {', '.join(names)}",
                expected="what is a function of t, coordinates and states of blocks",
            )
        needs = "two known rates" if self._orders[u] == 2 else "a known rate"
        return ModelError(
            f"what gives the input '{name}' cannot drive a constraint: {why}",
            where=known.places.get(u),
            got=f"it depends on {', '.join(names)}",
            expected=f"a value with {needs}: a signal of time, an integral, a filter",
            remedy="put an integral, a lag or a second_order filter between, or let a servo drive it by a force",
        )


def symbols_in(exprs: Iterable[Expr]) -> list[Expr]:
    """The symbols that expressions depend on."""
    return [node for node in reachable(list(exprs)) if isinstance(node, Expr) and node.op is ops.SYMBOL]
