"""Where blocks are built: the symbols of the mechanism, and a place to leave states, samples, events and forces.

A block reads what it needs (`value`, `scope`, `t`, `bench`) and asks for what it adds (`state`, `held`, `event`,
`breaks`, `force`, `drive`). When all are built, `parts` gives the tables for the plant. One graph holds everything, so
a study compiles into one native function.

>>> from torseur.describe import Formula, Mechanism
>>> from torseur.dynamics.workbench import Workbench
>>> context = Context(Workbench(Mechanism(name="nothing")))
>>> x = context.state("x", start=1.0)
>>> context.rate(x, -2.0 * x)
>>> context.define("y", context.value(Formula("3*t")) + x)
>>> parts = context.parts()
>>> parts.states[0].name, parts.states[0].rate, parts.outputs["y"].value
('x', -(2*x), ((3*t) + x))
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from torseur.describe.faults import guess
from torseur.describe.fields import Scalar
from torseur.describe.formulas import Formula
from torseur.dynamics.constraints.rows import Constraints
from torseur.dynamics.tree.kinematics import Kinematics
from torseur.dynamics.tree.system import NORMALS, rates
from torseur.dynamics.workbench import Workbench
from torseur.errors import GraphError, Location, ModelError
from torseur.graph import Block, Expr, Role, substitute, tangents
from torseur.simulation.blocks.parts import (
    Break,
    Event,
    Held,
    InputRates,
    Known,
    Output,
    Parts,
    Requested,
    Sample,
    Seeded,
    State,
    in_order,
    is_multiplier,
    orders,
    shown_name,
    symbols_in,
)

__all__ = ["Context"]


class Context:
    """What a block's ``build(context, name)`` is given.

    Args:
        bench: the mechanism's symbols, tree and dynamics; its graph is the one everything is built in.
        folder: where files that blocks read are looked for; by default where the program runs.
        constants: inputs that keep a number through a run, which they are given when it starts.
    """

    def __init__(self, bench: Workbench, folder: Path | None = None, constants: Collection[str] = ()) -> None:
        self.bench, self.folder = bench, folder or Path()
        system = bench.system
        self.graph, self.t = system.graph, system.t
        self.scope: dict[str, Expr] = dict(system.scope)
        """Name -> expression: t, coordinates, speeds, inputs, parameters, and outputs of blocks built before."""
        self.where: Location = ("blocks",)
        """The place of what is being built, for messages."""
        self.awaited: set[str] = set()
        """Blocks that are still to come: formulas may use their outputs already."""
        self.uses: dict[str, list[str]] = {}
        """Block -> blocks and inputs it names, for messages."""
        self._forward: dict[str, Expr] = {}
        self._states: dict[Expr, State] = {}
        self._rates: dict[Expr, Expr] = {}
        self._held: dict[Expr, Held] = {}
        self._samples: list[tuple[tuple[Expr, ...], Sample]] = []
        self._events: dict[str, Expr] = {}
        self._breaks: dict[Break, None] = {}
        self._forces: dict[str, Expr] = {}
        self._constants = frozenset(constants)
        self._inputs: dict[Expr, Expr] = {}
        self._places: dict[Expr, Location] = {}
        self._outputs: dict[str, Output] = {}
        self._notes: dict[str, tuple[str, str]] = {}
        self._vdot: Block | None = None
        self._reactions: dict[str, Block] = {}
        self._multipliers: dict[str, Requested] = {}
        self._input_rates = InputRates(system)
        for name, order in orders(system.mechanism).items():
            if name not in self._constants:
                self._input_rates.drive(name, order)

    # -- reading -------------------------------------------------------------------------------------------------------
    def value(self, given: Scalar | Expr, **local: Expr) -> Expr:
        """A number, a formula of the names in scope, or an expression, as an expression.

        Args:
            given: what it is.
            local: names that mean something else in this formula.
        """
        if not isinstance(given, Formula):
            return self.graph.expr(given)
        names = sorted(given.names)
        scope = {name: local[name] if name in local else self._named(name, given) for name in names}
        return given.expr(self.graph, scope, self.bench.system.tables)

    def _named(self, name: str, formula: Formula) -> Expr:
        if name in self.scope:
            return self.scope[name]
        if any(name == block or name.startswith(f"{block}_") for block in self.awaited):
            if name not in self._forward:
                self._forward[name] = self.graph.symbol(f"output_{name}")
            return self._forward[name]
        if is_multiplier(name, self.bench.system.mechanism):
            return self.multiplier(name)
        expected, remedy = guess(name, self.scope)
        raise ModelError(
            f"a formula uses '{name}', which is unknown",
            where=self.where,
            expected=expected,
            got=formula.text,
            remedy=remedy,
        )

    def constant(self, given: Scalar | Expr, what: str, *, least: float = -math.inf, open: bool = False) -> Expr:
        """A value that only parameters decide, such as a time or a gain; numbers are checked against a bound."""
        value = self.value(given)
        used = {x.data[0] for x in symbols_in([value])} - {"p"}
        if used:
            raise ModelError(
                f"{what} must stay the same through a run",
                where=self.where,
                expected="a number or a formula of parameters",
                got=str(given),
            )
        if value.is_number and (float(value) < least or (open and float(value) == least)):
            raise ModelError(
                f"{what} is too small",
                where=self.where,
                expected=f"{'more than' if open else 'at least'} {least:g}",
                got=f"{float(value):g}",
            )
        return value

    @cached_property
    def kinematics(self) -> Kinematics:
        """Poses and velocities of every frame."""
        return Kinematics(self.bench.tree)

    @cached_property
    def qdot(self) -> list[Expr]:
        """dq/dt in the order of q."""
        return rates(self.bench.system)

    @cached_property
    def constraints(self) -> Constraints:
        """Loops and constraints that always hold, for controllers that know the mechanism; what comes and goes by
        events (contacts, stops, friction that sticks) is none of theirs."""
        constraints = Constraints(self.bench.tree, self.bench.switching.switches)
        constraints.rows[:] = [row for row in constraints.rows if row.switch is None]
        return constraints

    @property
    def vdot(self) -> list[Expr]:
        """The accelerations. The plant supplies them, so what drives the mechanism cannot depend on them at once."""
        if self._vdot is None:
            self._vdot = self.bench.block("vdot")
        return list(self._vdot)

    def reaction(self, name: str) -> list[Expr]:
        """Force and moment (6,) that a joint, called by its body, or a loop does; supplied by the plant.

        A joint's: on its body, at the origin of the body and in its axes. A loop's: on the body of its second frame,
        at that frame and in the axes of its first.
        """
        mechanism = self.bench.system.mechanism
        if name not in mechanism.bodies and name not in mechanism.loops:
            expected, remedy = guess(name, [*mechanism.bodies, *mechanism.loops])
            raise ModelError(f"no joint or loop '{name}'", where=self.where, expected=expected, remedy=remedy)
        if name not in self._reactions:
            labels = [f"{name}_{part}" for part in ("fx", "fy", "fz", "nx", "ny", "nz")]
            self._reactions[name] = self.graph.block(f"reaction_{name}", 6, Role.STATE, names=labels)
        return list(self._reactions[name])

    def multiplier(self, name: str) -> Expr:
        """lambda_ROW, the multiplier of a row of the constraints; supplied by the plant."""
        if name not in self._multipliers:
            self._multipliers[name] = Requested(self.graph.symbol(f"multiplier_{name}", Role.STATE), self.where)
        return self._multipliers[name].symbol

    def derivative(self, values: Sequence[Expr], what: str) -> list[Expr]:
        """d/dt of expressions of t, q, inputs, states and held numbers (which stand still between instants)."""
        seeds = self._seeds(self._rates) | self._input_rates.seeds(values, self._constants)
        known = {x.id for x in (*seeds, *self._held, *self.bench.system.p, *self.bench.system.u)}
        strangers = [shown_name(x) for x in symbols_in(values) if x.id not in known]
        if strangers:
            raise ModelError(
                f"the rate of {what} is not known",
                where=self.where,
                expected="formulas of t, parameters, inputs, and outputs of blocks listed before this one",
                got=", ".join(strangers),
                remedy="speeds have no rates here; filter them first",
            )
        return tangents(values, seeds)

    def _seeds(self, states: Mapping[Expr, Expr]) -> dict[Expr, Expr]:
        """What time, coordinates and states of blocks change by in a unit of time."""
        moving = dict(zip(self.bench.system.q, self.qdot, strict=True))
        return {self.t: self.graph.one} | moving | dict(states)

    # -- adding --------------------------------------------------------------------------------------------------------
    def state(self, name: str, start: Scalar | Expr = 0.0, unit: str = "") -> Expr:
        """A number that changes continuously; `rate` says how. Its start may depend on everything but accelerations."""
        symbol = self._symbol("state", name)
        self._states[symbol] = State(name, unit, self.value(start), self.graph.zero)
        return symbol

    def rate(self, state: Expr, value: Expr | float) -> None:
        """dz/dt of a state."""
        if state not in self._states or state in self._rates:
            said = "has a rate already" if state in self._rates else "is not a state"
            raise ModelError(f"'{shown_name(state)}' {said}", where=self.where, expected="one rate for each state")
        self._rates[state] = self.graph.expr(value)

    def held(
        self,
        name: str,
        start: Scalar | Expr = 0.0,
        unit: str = "",
        *,
        is_mode: bool = False,
        seeded: Seeded | None = None,
    ) -> Expr:
        """A number that stays between instants; `sample` or `callable` says when it is renewed, events set modes."""
        symbol = self._symbol("held", name)
        self._held[symbol] = Held(name, unit, self.value(start), is_mode, seeded)
        return symbol

    def _symbol(self, what: str, name: str) -> Expr:
        try:
            return self.graph.symbol(f"{what}_{name}", Role.STATE if what == "state" else Role.INPUT)
        except GraphError as error:
            raise ModelError(
                f"'{name}' cannot be the name of a {what} number", where=self.where, got=error.what
            ) from None

    def sample(self, held: Expr, value: Expr | float, period: Scalar | Expr, offset: Scalar | Expr = 0.0) -> None:
        """Renew a held number with a value at the times offset + k period, k = 0, 1, ..., seconds."""
        self._renew((held,), (self.graph.expr(value),), period, offset, None)

    def callable(
        self,
        held: Expr | Sequence[Expr],
        function: Callable[..., Any],
        period: Scalar | Expr,
        offset: Scalar | Expr = 0.0,
        *,
        inputs: Sequence[Expr] = (),
    ) -> None:
        """Renew held numbers by calling function(t, *inputs), which gives as many numbers."""
        places = (held,) if isinstance(held, Expr) else tuple(held)
        self._renew(places, tuple(inputs), period, offset, function)

    def _renew(
        self,
        held: tuple[Expr, ...],
        values: tuple[Expr, ...],
        period: Scalar | Expr,
        offset: Scalar | Expr,
        function: Callable[..., Any] | None,
    ) -> None:
        taken = {h for places, _ in self._samples for h in places}
        for h in held:
            if h not in self._held or h in taken:
                said = "is renewed already" if h in taken else "is not a held number"
                raise ModelError(f"'{shown_name(h)}' {said}", where=self.where, expected="one sample for each")
        every = self.constant(period, "the period", least=0.0, open=True)
        first = self.constant(offset, "the offset of the samples", least=0.0)
        self._samples.append((held, Sample((), values, every, first, function, self.where)))

    @property
    def event_count(self) -> int:
        return len(self._events)

    def event(self, name: str, value: Expr) -> None:
        """Something to locate: a change of sign of an expression."""
        if name in self._events:
            raise ModelError(f"an event '{name}' exists already", where=self.where)
        self._events[name] = value

    def breaks(self, times: Iterable[Scalar | Expr], continuous: int = -1) -> None:
        """Times at which something jumps; `continuous`: how many derivatives do not (0: a kink)."""
        for time in times:
            self._breaks[Break(self.constant(time, "the time of a discontinuity"), continuous)] = None

    def force(self, speed: str, value: Expr) -> None:
        """Add a generalised force on a speed, N or N m."""
        names = [x.name for x in self.bench.system.mechanism.v]
        if speed not in names:
            expected, remedy = guess(speed, names)
            raise ModelError(f"no speed '{speed}' to act on", where=self.where, expected=expected, remedy=remedy)
        self._forces[speed] = self._forces.get(speed, self.graph.zero) + value

    def drive(self, name: str, value: Expr) -> None:
        """Give an input of the mechanism its value."""
        u = self.bench.system.u
        if name not in u.names:
            expected, remedy = guess(name, u.names)
            raise ModelError(f"no input '{name}' to drive", where=self.where, expected=expected, remedy=remedy)
        if u[name] in self._inputs or name in self._constants:
            raise ModelError(
                f"the input '{name}' is driven twice", where=self.where, expected="one block for each input"
            )
        self._inputs[u[name]], self._places[u[name]] = value, self.where

    @property
    def has_forces(self) -> bool:
        """Whether a block has added one so far."""
        return bool(self._forces)

    def define(self, name: str, value: Expr, unit: str = "", meaning: str = "") -> None:
        """Give a result a name: other blocks may use it and it is recorded."""
        others = {*self._outputs, *(s.name for s in self._states.values()), *self.scope} - set(
            self.bench.system.u.names
        )
        if name in others or name in self._outputs:
            raise ModelError(f"the name '{name}' is taken", where=self.where, remedy="give the block another name")
        self.scope.setdefault(name, value)
        said = self._notes.get(name, ("", ""))
        self._outputs[name] = Output(value, unit or said[0], meaning or said[1])

    def note(self, name: str, unit: str, meaning: str = "") -> None:
        """The unit and meaning of a result that is about to be defined."""
        self._notes[name] = (unit, meaning)

    # -- the end -------------------------------------------------------------------------------------------------------
    def parts(self) -> Parts:
        """All that was added, in terms of t, q, v, u, p and the new blocks z and m."""
        self._check_complete()
        z = self._block("z", Role.STATE, [s.name for s in self._states.values()])
        m = self._block("m", Role.INPUT, [h.name for h in self._held.values()])
        links = self._inputs | {symbol: self.scope[name] for name, symbol in self._forward.items()}
        closed = in_order(
            links,
            "an algebraic loop: these blocks need each other's values at the same instant",
            ("blocks",),
            self.uses,
        )
        rates = self._input_rates.settled(self._known(closed))
        begins = {x: s.start for x, s in self._states.items()} | {x: h.start for x, h in self._held.items()}
        begins = in_order(_with(_with(begins, closed), rates), "initial values that depend on each other", ("blocks",))
        new = dict(zip(self._states, z or (), strict=True)) | dict(zip(self._held, m or (), strict=True))
        place = {h: k for k, h in enumerate(self._held)}
        raw = Parts(
            z,
            m,
            tuple(replace(s, rate=self._rates[x]) for x, s in self._states.items()),
            tuple(self._held.values()),
            tuple(replace(s, places=tuple(place[h] for h in held)) for held, s in self._samples),
            tuple(Event(name, value) for name, value in self._events.items()),
            tuple(self._breaks),
            self._forces,
            {u: closed[u] for u in self._inputs},
            rates,
            self._outputs,
            self._vdot,
            self._reactions,
            self._multipliers,
            new,
        )
        parts = raw.replaced(closed).replaced(rates).replaced(new)
        starts = [replace(s, start=begins[x]) for x, s in zip(self._states, parts.states, strict=True)]
        first = [replace(h, start=begins[x]) for x, h in zip(self._held, parts.held, strict=True)]
        done = replace(parts, states=tuple(starts), held=tuple(first))
        self._check_at_once(done)
        return done

    def _known(self, closed: Mapping[Expr, Expr]) -> Known:
        """What rates of inputs are made of, with the outputs of blocks put in."""
        system = self.bench.system
        held = [*self._held, *system.p, *(u for u in system.u if u not in closed)]
        values = {u: closed[u] for u in self._inputs}
        return Known(
            values, self._seeds(_with(self._rates, closed)), held, list(self._held), self._solved_later, self._places
        )

    @property
    def _solved_later(self) -> set[str]:
        """Blocks of numbers that are known only when the motion is solved."""
        reactions = (block.name for block in self._reactions.values())
        return {"vdot", "lam", *reactions, *(f"multiplier_{name}" for name in self._multipliers)}

    def _block(self, name: str, role: Role, names: list[str]) -> Block | None:
        return self.graph.block(name, len(names), role, names=names) if names else None

    def _check_complete(self) -> None:
        renewed = {h for places, _ in self._samples for h in places}
        faults = [
            ModelError(f"the state '{s.name}' has no rate", where=("blocks",), remedy="context.rate(state, value)")
            for x, s in self._states.items()
            if x not in self._rates
        ]
        faults += [
            ModelError(f"the held number '{h.name}' is never renewed", where=("blocks",), remedy="context.sample(...)")
            for x, h in self._held.items()
            if x not in renewed and not h.is_mode
        ]
        for name in self._forward.keys() - self.scope.keys():
            expected, remedy = guess(name, self.scope)
            faults.append(
                ModelError(f"no block has an output '{name}'", where=("blocks",), expected=expected, remedy=remedy)
            )
        if faults:
            raise ModelError.of(faults)

    def _check_at_once(self, parts: Parts) -> None:
        """Forces that need accelerations or reactions of the same instant would be solved for, not evaluated.

        Those that need normal forces are: see `torseur.dynamics.constrained_motion.normal_forces`.
        """
        later = self._solved_later
        driven = {f"the force on '{name}'": (e, later) for name, e in parts.forces.items()}
        driven |= {f"the input '{self.graph.label(u)}'": (e, later) for u, e in parts.inputs.items()}
        driven |= {f"the start of '{s.name}'": (s.start, later | {NORMALS}) for s in parts.states}
        driven |= {f"the start of '{h.name}'": (h.start, later | {NORMALS}) for h in parts.held}
        for what, (e, unknown) in driven.items():
            if any(x.data[0] in unknown for x in symbols_in([e])):
                raise ModelError(
                    f"{what} needs accelerations or reactions of the same instant: an algebraic loop",
                    where=("blocks",),
                    remedy="put a filter or a sampled block between sensor and controller; give its start as a number. "
                    "The normal force of a contact may be used at once, as normal(NAME)",
                )


def _with(values: Mapping[Expr, Expr], closed: Mapping[Expr, Expr]) -> dict[Expr, Expr]:
    """Expressions with the outputs of blocks put in."""
    return dict(zip(values, substitute(list(values.values()), closed), strict=True)) if values else {}
