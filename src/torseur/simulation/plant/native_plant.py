"""The last stage of a plant: facts and native functions, found on disk where the plant was run before.

request -> construction -> expressions -> facts and functions -> native code; only what is not found is derived. While
it runs, the ranks of its constraint rows are held numbers, set anew where the active rows change.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from threading import RLock
from typing import Any

import numpy as np

from torseur.describe.plain_data import canonical
from torseur.dynamics.constraints.closing import NumericRows
from torseur.dynamics.constraints.rank import ClosedStates
from torseur.emit import NativeFunction, Store, Tier
from torseur.emit.ahead import needed
from torseur.emit.interface import Argument
from torseur.errors import ModelError
from torseur.model import Model
from torseur.model.rows import moved, undetermined
from torseur.simulation.blocks.parts import orders
from torseur.simulation.plant.balances import Balances
from torseur.simulation.plant.construction import PlantRequest, constructed, solved
from torseur.simulation.plant.facts import (
    AccountFacts,
    BalanceFacts,
    HeldFacts,
    PlantFacts,
    Quantity,
    RowFacts,
    SampleFacts,
)
from torseur.simulation.plant.plant import Plant
from torseur.simulation.plant.time_formulas import TIME_FUNCTIONS
from torseur.simulation.results.channels import Role
from torseur.simulation.solvers.problem import Array, CompiledProblem, Held, Solvable

__all__ = ["NativePlant", "PlantRanks"]


class NativePlant:
    """A plant in numbers.

    Args:
        request: all that decides it.
    """

    def __init__(self, request: PlantRequest) -> None:
        self.request, self.mechanism, self.constants = request, request.mechanism, request.constants
        self.store = _store_of(request)
        self._natives: dict[tuple[str, bool], NativeFunction] = {}
        self._quick: dict[NativeFunction, Callable[..., Any]] = {}
        self._places: dict[NativeFunction, list[int]] = {}
        self._lock = RLock()
        self.facts = self.store.part("facts").facts(lambda: _facts_of(self.derived()))
        steps = self.store.part("problem")
        self.problem: Solvable = CompiledProblem(self.facts.shape, steps, lambda: self.derived().problem)

    @property
    def is_derived(self) -> bool:
        """Whether the expressions had to be derived: there was nothing on disk."""
        return "_plant" in self.__dict__

    def derived(self) -> Plant:
        """The expressions; derived once, whoever asks first."""
        with self._lock:
            return self._plant

    @cached_property
    def _plant(self) -> Plant:
        return Plant(solved(constructed(self.request)))

    @cached_property
    def sample_functions(self) -> tuple[Callable[..., Any] | None, ...]:
        """The Python function of each sample; one cannot be kept, so where there are any the plant is derived."""
        if not any(sample.is_python for sample in self.facts.samples):
            return (None,) * len(self.facts.samples)
        return tuple(sample.function for sample in self.derived().parts.samples)

    def native(self, name: str, *, batches: bool = False) -> NativeFunction | None:
        """A function of the plant by name, for single states or for batches in lanes; None where it has none such."""
        if name not in self.facts.functions:
            return None
        with self._lock:
            if (name, batches) not in self._natives:
                self._natives[name, batches] = self._many(name) if batches else self._single(name)
            return self._natives[name, batches]

    def _many(self, name: str) -> NativeFunction:
        needed(name)
        return self.store.function(name, lambda: self.derived().functions()[name](), batches=True)

    def _single(self, name: str) -> NativeFunction:
        """Compiled at once, since nothing is in the middle of a run, and quickly: it is called now and then."""
        tier = Tier.FULL if name in TIME_FUNCTIONS else Tier.QUICK
        native = self.store.function(name, lambda: self.derived().functions()[name](), lanes=1, tier=tier)
        native.ready()
        quick = native.direct(name, "of a plant", batches=False)
        if quick is not None:
            self._quick[native] = quick
        return native

    def evaluate(self, native: NativeFunction | None, t: float | Array, x: Array, held: Held) -> Any:
        """A function of the plant at one instant, for one state or many."""
        assert native is not None
        if native not in self._places:
            names = ["t", "u", "m", "p", *(block.name for block in self.problem.states)]
            self._places[native] = [names.index(a.name) for a in native.interface.inputs]
        values = [np.asarray(t, dtype=float), held.u, held.m, held.p, *(x[..., c] for c in self._columns)]
        return self._quick.get(native, native)(*[values[k] for k in self._places[native]])

    @cached_property
    def _columns(self) -> list[slice]:
        """Where in a state its blocks are."""
        return [self.problem.columns(block.name) for block in self.problem.states]


def _store_of(request: PlantRequest) -> Store:
    """Where what is derived for a request is kept.

    Of constant inputs the numbers decide nothing, and which they are only where something may ask for their rates: a
    constraint that they drive, a block, a state of a load.
    """
    mechanism, folder = request.mechanism, request.folder or Path()
    asks = bool(request.blocks) or any(load.states for load in mechanism.loads.values())
    constants = sorted(name for name in request.constants if asks or name in orders(mechanism))
    return Store.of(
        "plant",
        canonical(mechanism, without=frozenset({"title", "notes"})),
        *(text for name, block in request.blocks.items() for text in (name, block.told(folder))),
        canonical(constants),
        canonical(request.settings),
        canonical(request.outputs),
    )


# -- facts -------------------------------------------------------------------------------------------------------------
def _facts_of(plant: Plant) -> PlantFacts:
    parts, rows, mechanism = plant.parts, plant.bench.constraints, plant.mechanism
    return PlantFacts(
        functions=frozenset(plant.functions()),
        inputs=tuple(Argument(b.name, b.shape, b.role) for b in plant.blocks),
        shape=plant.problem.shape,
        states=tuple(Quantity(s.name, s.unit, "state of a block", Role.STATE) for s in parts.states),
        held=tuple(HeldFacts(h.name, h.is_mode, h.seeded) for h in parts.held),
        events=tuple(event.name for event in parts.events),
        samples=tuple(SampleFacts(s.places, len(s.values), s.where, s.function is not None) for s in parts.samples),
        timing=plant.timing,
        knots=plant.time_formulas.knots,
        driven=frozenset(n for n, u in zip(mechanism.inputs, plant.system.u, strict=True) if u in parts.inputs),
        is_driven=plant.is_driven,
        ranks=plant.built.rank_names,
        shares=plant.built.share_names,
        rows=tuple(RowFacts(row.name, row.owner, row.unit, row.position is not None) for row in rows.rows),
        components=tuple((tuple(some), tuple(speeds)) for some, speeds in rows.components),
        lengths=tuple(x.unit == "m/s" for x in mechanism.v),
        switches=plant.switch_facts,
        flat=plant.built.flat,
        normals=plant.normals_read,
        always_read=frozenset(plant.always_read),
        balances=None if plant.balances is None else _balance_facts(plant.balances),
        items=plant.recorded.items,
    )


def _balance_facts(balances: Balances) -> BalanceFacts:
    return BalanceFacts(
        tuple(
            AccountFacts(x.island.name, len(x.kinetic), tuple(flow.name for flow in x.works)) for x in balances.accounts
        ),
        tuple(flow.name for flow in balances.impulses),
        tuple(Quantity(f.name, f.unit, f.meaning, Role.AUDIT) for f in balances.flows),
    )


class PlantRanks:
    """Finds ranks at a state of a run, by continuation from there, and keeps them for each set of active rows.

    Args:
        plant: whose rows.
        model: of its mechanism.
    """

    def __init__(self, plant: NativePlant, model: Model) -> None:
        self.plant, self.facts, self.model = plant, plant.facts, model
        facts, names, slips = plant.facts, plant.facts.held_names, plant.facts.switches.slips
        self._places = np.array([names.index(name) for name in facts.ranks], dtype=int)
        directions = {place for slip in slips for place in slip.axes}
        others = {*facts.ranks, *facts.shares}
        modes = [k for k, x in enumerate(facts.held) if x.is_mode and x.name not in others and k not in directions]
        self._modes = np.array(modes, dtype=int)
        self._slips = {slip.name: slip.mode for slip in slips}
        parameters = model.free_parameters
        self._parameters = np.array([k for k, n in enumerate(parameters) if n in model.row_parameters], dtype=int)
        self._known: dict[bytes, tuple[Array, ModelError | None]] = {}

    def __call__(self, t: float, x: Array, held: Held) -> None:
        """Set them among the held numbers."""
        if self._places.size:
            held.m[self._places] = self._of(t, x, held)[0]

    def check(self, t: float, x: Array, held: Held) -> None:
        """Refuse forces that depend on a normal force which is not determined, as things are."""
        fault = self._of(t, x, held)[1] if self._places.size else None
        if fault is not None:
            raise fault

    def _of(self, t: float, x: Array, held: Held) -> tuple[Array, ModelError | None]:
        key = held.m[self._modes].tobytes() + held.p[self._parameters].tobytes()
        if key not in self._known:
            self._known[key] = self._found(t, x, held)
        return self._known[key]

    def of_many(self, t: float, x: Array, u: Array, p: Array) -> Array:
        """The held numbers of many states (runs, n), nothing else in them: (runs, held)."""
        m = np.zeros((len(x), len(self.facts.held)))
        if self._places.size:
            for k in range(len(x)):
                self(t, x[k], Held(u[k], m[k], p[k]))
        return m

    def _found(self, t: float, x: Array, held: Held) -> tuple[Array, ModelError | None]:
        nq, rest = self.model.nq, x[self.model.nq :]
        frozen = Held(held.u.copy(), held.m.copy(), held.p.copy())
        facts, native = self.facts, self.plant.native("rows")

        def at(q: Array) -> tuple[Array, Array, Array]:
            matrices = [self.plant.evaluate(native, t, np.concatenate([one, rest]), frozen) for one in q]
            A, L, h = (np.array([np.ravel(one[k]) if k < len(one) else [] for one in matrices]) for k in range(3))
            return A.reshape(len(q), -1, self.model.nv), h, L

        rows = NumericRows(
            h=lambda q: at(q)[1],
            A=lambda q: at(q)[0],
            moved=lambda q, step: moved(self.model, q, step),
            holonomic=facts.holonomic,
            angles=facts.angles,
            lengths=np.array(facts.lengths, dtype=bool),
            components=facts.components,
            L=float(at(x[None, :nq])[2][0, 0]),
        )
        states = ClosedStates(rows, x[:nq])
        owners = [row.owner for row in facts.rows]
        read = {n: k for n, k in facts.normals.items() if self._is_read(n, held)}
        return states.all_ranks([row.name for row in facts.rows]), undetermined(states, owners, read)

    def _is_read(self, name: str, held: Held) -> bool:
        """Whether forces depend on a normal force, as things are."""
        return name in self.facts.always_read or (name in self._slips and held.m[self._slips[name]] > 0.5)
