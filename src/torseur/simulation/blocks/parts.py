"""What the blocks of a study add to a mechanism, once all of them are built: plain tables of expressions; and the rates
of inputs, which those that drive a constraint need: two for a position row, one for a row of speeds.

======  ============================================================================================================
z       states of blocks (integrators, filters, currents), one number each, with start and rate
m       held numbers: they keep their value between instants; samples renew them at theirs, events set modes
======  ============================================================================================================

Every expression here is in terms of t, q, v, the inputs u that no block drives, p, z and m, and, where a sensor asked
for them, of the accelerations ``vdot`` and the reactions, for which the plant puts what it has (`Parts.replaced`).

Rows are written before it is known what drives an input, so its rates are symbols there. Once all blocks are built they
follow from what drives it, by differentiating that along the motion: q changes by its rates, a state of a block by its
own, what is held not at all. What depends on speeds has no known rate: accelerations are what the rows decide.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from torseur.describe.constraints import SpeedRow
from torseur.describe.mechanism import Mechanism
from torseur.dynamics.tree.system import System
from torseur.errors import Location, ModelError
from torseur.graph import Block, Expr, Function, Role, ops, substitute, tangents
from torseur.graph.function import reachable

__all__ = [
    "Break",
    "Event",
    "Held",
    "InputRates",
    "Known",
    "Output",
    "Parts",
    "Requested",
    "Sample",
    "State",
    "in_order",
    "is_multiplier",
    "orders",
]


@dataclass(frozen=True)
class State:
    """A number of z: its value at the start (of t, q, v, u, p) and dz/dt."""

    name: str
    unit: str
    start: Expr
    rate: Expr


@dataclass(frozen=True)
class Seeded:
    """How a seed decides where a generator begins.

    Attributes:
        where: the table and the name of the block that has the seed.
        more: beside the seed, what tells generators of the block from each other.
        word: which of the two numbers of the generator.
    """

    where: Location
    more: tuple[int, ...]
    word: int


@dataclass(frozen=True)
class Held:
    """A number of m. A mode is set by events, others are renewed by a sample; some begin with what a seed says."""

    name: str
    unit: str
    start: Expr
    is_mode: bool = False
    seeded: Seeded | None = None


@dataclass(frozen=True)
class Sample:
    """m[places] = values at the times offset + k period, k = 0, 1, ...; with a function, function(t, *values).

    All samples of one instant read what was there just before it. Period and offset are expressions of parameters.
    """

    places: tuple[int, ...]
    values: tuple[Expr, ...]
    period: Expr
    offset: Expr
    function: Callable[..., Any] | None = None
    where: Location = ("blocks",)
    """The block it belongs to, for messages."""


@dataclass(frozen=True)
class Event:
    """Something that happens when an expression changes its sign."""

    name: str
    value: Expr


@dataclass(frozen=True)
class Break:
    """A time (an expression of parameters) at which a signal is not smooth: `continuous` counts the derivatives that
    do not jump, 0 where the slope does, -1 where the value itself does."""

    time: Expr
    continuous: int = -1


@dataclass(frozen=True)
class Output:
    """Something to record."""

    value: Expr
    unit: str = ""
    meaning: str = ""


@dataclass(frozen=True)
class Requested:
    """A symbol for something that the plant supplies, and where it was asked for first."""

    symbol: Expr
    where: Location


@dataclass(frozen=True)
class Parts:
    """All that blocks add; see the module."""

    z: Block | None
    m: Block | None
    states: tuple[State, ...] = ()
    held: tuple[Held, ...] = ()
    samples: tuple[Sample, ...] = ()
    events: tuple[Event, ...] = ()
    breaks: tuple[Break, ...] = ()
    forces: Mapping[str, Expr] = field(default_factory=dict)
    """Speed -> generalised force that is added to the loads, N or N m."""
    inputs: Mapping[Expr, Expr] = field(default_factory=dict)
    """Symbol of an input -> what drives it; to be put into whatever the plant builds from inputs."""
    rates: Mapping[Expr, Expr] = field(default_factory=dict)
    """Symbol of a rate or second rate of an input -> what it is; likewise."""
    outputs: Mapping[str, Output] = field(default_factory=dict)
    vdot: Block | None = None
    """The accelerations, if a sensor asked for them."""
    reactions: Mapping[str, Block] = field(default_factory=dict)
    """Joint or loop -> force and moment (6,), if a sensor asked for them."""
    multipliers: Mapping[str, Requested] = field(default_factory=dict)
    """lambda_ROW -> its symbol, if a formula asked for it."""
    symbols: Mapping[Expr, Expr] = field(default_factory=dict)
    """What states and held numbers were called while blocks were built -> their places in z and m."""

    def replaced(self, what: Mapping[Expr, Expr | float]) -> Parts:
        """The same with some symbols replaced everywhere."""
        flat: list[Expr] = []

        def seen(e: Expr) -> Expr:
            flat.append(e)
            return e

        self._walk(seen)
        new = iter(substitute(flat, what))
        return self._walk(lambda e: next(new))

    def _walk(self, change: Callable[[Expr], Expr]) -> Parts:
        """Rebuild every expression, always in the same order."""
        return replace(
            self,
            states=tuple(replace(s, start=change(s.start), rate=change(s.rate)) for s in self.states),
            held=tuple(replace(h, start=change(h.start)) for h in self.held),
            samples=tuple(
                replace(s, values=tuple(map(change, s.values)), period=change(s.period), offset=change(s.offset))
                for s in self.samples
            ),
            events=tuple(replace(e, value=change(e.value)) for e in self.events),
            breaks=tuple(replace(b, time=change(b.time)) for b in self.breaks),
            forces={name: change(e) for name, e in self.forces.items()},
            inputs={u: change(e) for u, e in self.inputs.items()},
            rates={du: change(e) for du, e in self.rates.items()},
            outputs={name: replace(o, value=change(o.value)) for name, o in self.outputs.items()},
        )

    def schedule(self, p: Sequence[Block]) -> Function | None:
        """The instants as a function of the blocks of parameters: ``breaks`` (n,), ``periods`` and ``offsets`` (k,)."""
        outputs = {
            "breaks": [b.time for b in self.breaks],
            "periods": [s.period for s in self.samples],
            "offsets": [s.offset for s in self.samples],
        }
        given = {name: exprs for name, exprs in outputs.items() if exprs}
        return Function("schedule", p, given) if given else None

    def starts(self, blocks: Sequence[Block]) -> Function | None:
        """z and m at the start, as a function of some blocks (t, q, v, u and p)."""
        outputs = {"z": [s.start for s in self.states], "m": [h.start for h in self.held]}
        given = {name: exprs for name, exprs in outputs.items() if exprs}
        return Function("starts", blocks, given) if given else None


def in_order(
    given: Mapping[Expr, Expr], what: str, where: Location, uses: Mapping[str, Iterable[str]] | None = None
) -> dict[Expr, Expr]:
    """Symbols with expressions of each other -> expressions of the rest, each put into those that need it.

    Raises a `ModelError` that names the circle where there is one, by way of what `uses` what.
    """
    ids = {symbol.id: symbol for symbol in given}
    needs = {s: [ids[n.id] for n in reachable([e]) if n.id in ids] for s, e in given.items()}
    done: dict[Expr, Expr] = {}
    waiting = dict(given)
    while waiting:
        ready = [s for s in waiting if all(n in done for n in needs[s])]
        if not ready:
            raise ModelError(what, where=where, got=_circle(needs, done, uses or {}))
        for s in ready:
            done[s] = substitute([waiting.pop(s)], {n: done[n] for n in needs[s]})[0] if needs[s] else waiting.pop(s)
    return done


def _circle(needs: Mapping[Expr, list[Expr]], done: Mapping[Expr, Expr], uses: Mapping[str, Iterable[str]]) -> str:
    """a -> b -> a, in the direction in which one needs the other."""
    way = [next(s for s in needs if s not in done)]
    while len(way) == len(set(way)):
        way.append(next(n for n in needs[way[-1]] if n not in done))
    names = [shown_name(s) for s in way[way.index(way[-1]) :]]
    between = [_way(a, b, uses) for a, b in pairwise(names)]
    return " -> ".join([names[0], *(name for part in between for name in part)])


def _way(a: str, b: str, uses: Mapping[str, Iterable[str]]) -> list[str]:
    """The shortest way from a to b over what uses what, without a; just b where none is known."""
    came, front = {a: ""}, [a]
    for name in front:
        for after in uses.get(name, ()):
            if after == b:
                back = [b]
                while name != a:
                    back, name = [name, *back], came[name]
                return back
            if after not in came:
                came[after] = name
                front.append(after)
    return [b]


def shown_name(symbol: Expr) -> str:
    """The name of a placeholder as the user wrote it."""
    name = symbol.graph.label(symbol) or ""
    for prefix in ("output_", "state_", "held_", "multiplier_"):
        name = name.removeprefix(prefix)
    return name


def is_multiplier(name: str, mechanism: Mechanism) -> bool:
    """Whether a name may be that of a multiplier: its row begins with what asks for it.

    Which rows there are is known only when they are built.

    >>> is_multiplier("lambda_ground", Mechanism(name="nothing"))
    False
    """
    row = name.removeprefix("lambda_")
    stops = (x.name for x in mechanism.q)
    owners = (*mechanism.loops, *mechanism.constraints, *mechanism.loads, *stops)
    return row != name and any(row == owner or row.startswith(f"{owner}_") for owner in owners)


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
        solved_later: names of blocks that are known only when the motion is solved.
        places: input -> where it is driven, for messages.
    """

    values: Mapping[Expr, Expr]
    seeds: Mapping[Expr, Expr]
    held: Collection[Expr]
    jumping: Collection[Expr]
    solved_later: Collection[str]
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
        later = [x for x in symbols_in([value]) if x.data[0] in known.solved_later]
        if later:
            raise self._fault(u, f"its {_WORDS[order]} is not known", later, known)
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
