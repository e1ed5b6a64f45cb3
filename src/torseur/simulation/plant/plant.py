"""A mechanism with all that drives, controls and measures it, as one problem for a solver.

Everything is built in one graph: signals and blocks take the place of inputs and of their rates, controllers add
forces, switches decide which constraints hold, and integrals of powers and impulses run along for the audit. These are
built last and are states of their own, w: the motion is the same, to the last bit, with and without them. Inputs
that keep a number stay inputs of the compiled functions: another number is another run of the same code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from torseur.describe import Mechanism
from torseur.describe.faults import guess
from torseur.describe.mechanism import Output
from torseur.dynamics.constrained_motion.joint_forces import reaction_of
from torseur.dynamics.constrained_motion.motion import Motion, corrected, moved_by
from torseur.dynamics.constrained_motion.normal_forces import normal_rows, normals_read
from torseur.dynamics.constrained_motion.solver import constraint_solver
from torseur.dynamics.loads.forces import LoadOnTree
from torseur.dynamics.sensitivities import motion_derivatives
from torseur.dynamics.tree.coordinates import displaced, rates
from torseur.dynamics.workbench import RANK_NAMES, Options, Workbench
from torseur.errors import ModelError
from torseur.graph import Block as GraphBlock
from torseur.graph import Expr, Function, Jacobian, Role, jacobian, maximum, substitute
from torseur.simulation.blocks import Block, build_blocks, number_of
from torseur.simulation.blocks.context import Context
from torseur.simulation.blocks.input_rates import orders, symbols_in
from torseur.simulation.blocks.parts import Asked, Parts
from torseur.simulation.plant.balances import Balances, balances_of
from torseur.simulation.plant.switches import Friction, Stops, Switches
from torseur.simulation.solvers.problem import ORDER, Implicit, Problem

__all__ = ["Plant", "Settings"]

Table = list[list[Expr]]


FLAT = 1e-3
"""A wheel that rolls lies flat where the sine of the angle of its axle with the normal is below this."""


@dataclass(frozen=True)
class Settings:
    """What a study chooses about its physics.

    Attributes:
        friction: how dry friction is computed.
        stops: what limits of coordinates do.
        audit: whether integrals for the audit run along.
        implicit: whether the solver needs the second-order form.
        independent: speeds by which many loops are solved; chosen where none are given.
        watch: whether a wheel that falls flat is an event: steps by error would become ever shorter there.
        folder: where files that blocks read are looked for.
    """

    friction: Friction = field(default_factory=Friction)
    stops: Stops = field(default_factory=Stops)
    audit: bool = True
    implicit: bool = False
    independent: tuple[str, ...] | None = None
    watch: bool = False
    folder: Path | None = None


class Plant:
    """A mechanism and the blocks around it.

    Args:
        mechanism: what moves.
        blocks: by name; one that is called like an input drives it.
        settings: choices about the physics.
        outputs: further formulas to record; they may use results of blocks and multipliers.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        blocks: Mapping[str, Block] | None = None,
        settings: Settings | None = None,
        outputs: Mapping[str, Output] | None = None,
    ) -> None:
        self.mechanism, self.settings = mechanism, settings or Settings()
        self.bench = bench = Workbench(mechanism, Options(independent=self.settings.independent))
        self.system = bench.system
        given = dict(blocks or {})
        numbers = {name: number_of(block) for name, block in given.items() if name in mechanism.inputs}
        self.constants = {name: x for name, x in numbers.items() if x is not None}
        """Inputs that keep a number through a run, and the numbers."""
        context = Context(bench, self.settings.folder, self.constants)
        self.switches = Switches(context, self.settings.friction, self.settings.stops)
        self.switches.install()
        self.rank_names = self._install_ranks(context)
        self._install_loads(context, given)
        build_blocks(context, {name: block for name, block in given.items() if name not in self.constants})
        for name, output in (outputs or {}).items():
            context.where = ("outputs", name)
            context.define(name, context.value(output.value), output.unit or "", output.description or "")
        self._lam = list(bench.rows_block("lam")) if bench.constraints.rows else []
        self._shares = self._install_shares(context)
        self._judged = list(bench.rows_block("judged")) if self._shares else self._lam
        for name, value in self.switches.event_functions(bench.constraints, self._judged).items():
            context.event(name, value)
        self.flat = self._watch_wheels(context) if self.settings.watch else {}
        self._pushes = list(bench.block("block_force")) if context.has_forces else []
        self._parts = context.parts()
        self._close()

    def _install_loads(self, context: Context, given: Mapping[str, Block]) -> None:
        """States of loads are integrated, unless the study drives them; their results have names."""
        for name, load in self.mechanism.loads.items():
            on = LoadOnTree(self.bench.tree, name, context.kinematics)
            context.where = ("loads", name)
            for key, result in load.results(on).items():
                context.define(f"{name}_{key}", result.value, result.unit, result.meaning)
            for state, rate in load.rates(on).items() if load.states else ():
                if state not in given:
                    record = self.mechanism.inputs[state]
                    symbol = context.state(state, record.default, record.unit or "")
                    context.rate(symbol, rate)
                    context.drive(state, symbol)

    def _watch_wheels(self, context: Context) -> dict[str, str]:
        """Events of wheels that fall flat, by name, and whose constraint it is."""
        found = {}
        for owner, s in self.bench.constraints.uprightness.items():
            if not s.is_number:
                name = f"{owner.split('.', 1)[1]}_flat"
                context.event(name, s - FLAT)
                found[name] = owner
        return found

    def _install_ranks(self, context: Context) -> list[str]:
        """The ranks of constraint rows are held numbers: they change with the rows that are active."""
        components = self.bench.constraints.components
        names = [f"{what}_{k}" for what in RANK_NAMES for k in range(1, len(components) + 1)]
        self.bench.switching.ranks = [context.held(name, 0.0, is_mode=True) for name in names]
        return names

    def _install_shares(self, context: Context) -> list[Expr]:
        """Where redundant rows share a load, switches are judged by the multipliers that are nearest to held ones."""
        rows = self.bench.constraints.rows
        self.share_names = [f"share_{row.name}" for row in rows] if self.switches and len(rows) > 1 else []
        return [context.held(name, 0.0, is_mode=True) for name in self.share_names]

    # -- the whole -----------------------------------------------------------------------------------------------------
    def _close(self) -> None:
        """Put accelerations, multipliers and forces into what was built in terms of them."""
        w, parts, g = self.bench, self._parts, self.system.graph
        self._forces = [parts.forces.get(x.name, g.zero) for x in self.mechanism.v]
        self._known = {**parts.symbols, **parts.inputs, **parts.rates}
        found = moved_by(w, self._forces, self._known)
        self._normals = found.normals
        pushes = {} if found.normals is None else found.normals.pushes
        self._pushes_of_normals = dict(zip(pushes, self._in(list(pushes.values())), strict=True))
        lam = constraint_solver(w).multipliers(found.vdot, found.f) if self._lam else []
        self.vdot, self.lam, self._f = self._in(found.vdot), self._in(lam), found.f
        late: dict[Expr, Expr] = dict(zip(w.block("vdot"), self.vdot, strict=True))
        late |= dict(zip(self._lam, self.lam, strict=True))
        late |= {N: maximum(self.lam[row], 0.0) for N, row in normal_rows(w).items()}
        late |= {N: self._in([value])[0] for N, value in w.compliant_loads.items()}
        late |= dict(zip(self._judged, self._in(self._nearest(found)), strict=True)) if self._shares else {}
        late |= dict(zip(self._pushes, self._forces if self._pushes else [], strict=True))
        for name, block in parts.reactions.items():
            wrench = self._in(reaction_of(w, name, list(w.block("vdot")), self._lam))
            late |= dict(zip(block, substitute(wrench, late), strict=True))
        if parts.multipliers:
            late |= self._read_multipliers(parts.multipliers)
        self._late = late
        self.parts: Parts = parts.replaced(late)

    def _nearest(self, found: Motion) -> list[Expr]:
        """The multipliers nearest to the held ones d: d + the shortest of what A' d leaves."""
        w, g = self.bench, self.system.graph
        columns = zip(*w.constraints.A, strict=True)
        held = [sum((a * d for a, d in zip(column, self._shares, strict=True)), g.zero) for column in columns]
        rest = constraint_solver(w).multipliers(found.vdot, [f + x for f, x in zip(found.f, held, strict=True)])
        return [d + x for d, x in zip(self._shares, rest, strict=True)]

    def _in(self, exprs: Sequence[Expr]) -> list[Expr]:
        """Expressions of the workbench in terms of t, q, v, z, u, m, p."""
        return substitute(list(exprs), self._known) if exprs else []

    def _read_multipliers(self, asked: Mapping[str, Asked]) -> dict[Expr, Expr]:
        """Symbols of multipliers -> what they are; a name that is no row's is told."""
        rows = [f"lambda_{row.name}" for row in self.bench.constraints.rows]
        faults, values = [], dict(zip(rows, self.lam, strict=True))
        for name in (name for name in asked if rows.count(name) != 1):
            expected, remedy = guess(name, rows)
            what = f"there is no multiplier '{name}'" if name not in rows else f"several rows are called '{name}'"
            faults.append(ModelError(what, where=asked[name].where, expected=expected, remedy=remedy))
        if faults:
            raise ModelError.of(faults)
        return {one.symbol: values[name] for name, one in asked.items()}

    def settled(self, exprs: Sequence[Expr]) -> list[Expr]:
        """Expressions of the workbench, accelerations and multipliers included, in terms of t, q, v, z, u, m, p."""
        return substitute(self._in(exprs), self._late) if exprs else []

    @cached_property
    def is_driven(self) -> bool:
        """Whether what drives constraints may change on the way."""
        return any(self.system.u[name] in self.parts.inputs for name in orders(self.mechanism))

    @property
    def blocks(self) -> list[GraphBlock]:
        """t, q, v, z, u, m, p: those that have a size."""
        s, parts = self.system, self.parts
        return [b for b in (s.graph.blocks["t"], s.q, s.v, parts.z, s.u, parts.m, s.p) if b is not None and b.size]

    def _function(self, name: str, outputs: Mapping[str, Sequence[Expr]], w: GraphBlock | None = None) -> Function:
        blocks = self.blocks if w is None else sorted([*self.blocks, w], key=lambda b: ORDER.index(b.name))
        return Function(name, blocks, {n: list(x) for n, x in outputs.items() if len(x)})

    @property
    def _z(self) -> list[Expr]:
        return list(self.parts.z) if self.parts.z is not None else []

    @property
    def problem(self) -> Problem:
        """What a solver integrates."""
        return self._integrated[0]

    @property
    def balances(self) -> Balances | None:
        """What the audit watches; the integrals of its flows are the states w."""
        return self._integrated[1]

    @cached_property
    def _integrated(self) -> tuple[Problem, Balances | None]:
        """The motion first: what is built later changes nothing of it."""
        moving = {"dq": self._in(rates(self.system)), "dv": self.vdot, "dz": [s.rate for s in self.parts.states]}
        correct, jumps = self._corrected(), self._jumps()
        implicit = self._implicit() if self.settings.implicit else None
        found = self._balance() if self.settings.audit else None
        w, dw = None, list[Expr]()
        if found is not None and found.flows:
            dw = self.settled([flow.rate for flow in found.flows])
            w = self.system.graph.block("w", len(dw), Role.STATE, names=[flow.name for flow in found.flows])
        g, kept = [event.value for event in self.parts.events], {"w": list(w or ())}
        problem = Problem(
            self._function("rate", moving | {"dw": dw}, w),
            correct=None if correct is None else self._function("corrected", correct | kept, w),
            events=self._function("events", {"g": g}) if g else None,
            jumps=None if jumps is None else self._function("jumps", jumps | kept, w),
            implicit=implicit,
        )
        return problem, found

    def _balance(self) -> Balances:
        """What goes into energy and momenta; names of states that exist already are refused."""
        zero, known = self.system.graph.zero, {state.name for state in self.parts.states}
        found = balances_of(self.bench, self._pushes or [zero] * self.bench.tree.nv, self._lam)
        twice = [flow.name for flow in found.flows if flow.name in known]
        if twice:
            raise ModelError(f"'{twice[0]}' cannot be the name of a state", got="a work or impulse of the audit")
        return found

    def _corrected(self) -> dict[str, list[Expr]] | None:
        """Closed loops, consistent speeds, unit quaternions; none where nothing can drift."""
        unit = len(self.system.q) != len(self.system.v)
        if not unit and not self.bench.constraints.rows:
            return None
        found = corrected(self.bench)
        return {"q": self._in(found["q"]), "v": self._in(found["v"]), "z": self._z}

    def weight(self) -> Function | None:
        """1/2 v'M v, J: what the kinetic energy of the bodies is if speeds are v relative to what they touch."""
        if not self.switches:
            return None
        v = self.system.v
        twice = sum((p * x for p, x in zip(self.momenta, v, strict=True)), self.system.graph.zero)
        return self._function("weight", {"energy": self._in([0.5 * twice])})

    @cached_property
    def momenta(self) -> list[Expr]:
        """M v."""
        w = self.bench
        return [sum((a * x for a, x in zip(row, w.system.v, strict=True)), w.system.graph.zero) for row in w.matrix]

    def _jumps(self) -> dict[str, list[Expr]] | None:
        """The speeds after an impact, or after something sticks."""
        if not self.switches:
            return None
        w = self.bench
        v = constraint_solver(w).solve(self.momenta, self.switches.rebound(w.constraints))
        return {"q": list(self.system.q), "v": self._in(v), "z": self._z}

    def decisions(self) -> Function | None:
        """What decides about the switches at rest; see `Switches.resting`."""
        if not self.switches:
            return None
        vdot = list(self.bench.block("vdot"))
        found = self.settled(self.switches.resting(self.bench.constraints, self._judged, vdot))
        return self._function("decisions", {"found": found})

    def instant(self) -> Function | None:
        """A, b and multipliers of the rows, those that are switched off as zeros, M, and f with M vdot = f + A' lam."""
        rows = self.bench.constraints
        if not self.share_names:
            return None
        outputs = {"A": _flat(rows.A), "b": rows.b, "lam": self.lam, "M": _flat(self.bench.matrix), "f": self._f}
        return self._function("instant", {n: self._in(x) for n, x in outputs.items()})

    def impact(self) -> Function | None:
        """A, as if all rows held, the rates A v + c, and M."""
        if not self.switches.slips:
            return None
        rates = [row.rate for row in self.bench.constraints.rows]
        A = jacobian(rates, list(self.system.v)).dense()
        outputs = {"A": _flat(A), "u": rates, "M": _flat(self.bench.matrix)}
        return self._function("impact", {n: self._in(x) for n, x in outputs.items()})

    def rows(self) -> Function | None:
        """A and h of the constraint rows, those that are switched off as zeros, and the length of the mechanism."""
        rows = self.bench.constraints
        outputs = {"A": [x for row in rows.A for x in row], "L": [self.bench.length], "h": rows.h}
        return self._function("rows", {n: self._in(x) for n, x in outputs.items()}) if rows.rows else None

    def driving(self, names: Sequence[str]) -> Function:
        """Some inputs, and their rates: ``values`` and ``rates``."""
        u, rates, zero = self.system.u, self.system.input_rates, self.system.graph.zero
        values = [self.parts.inputs.get(u[n], u[n]) for n in names]
        moving = [self.parts.rates.get(rates[u[n]], zero) if u[n] in rates else zero for n in names]
        return self._function("driving", {"values": values, "rates": moving})

    @cached_property
    def normals_read(self) -> dict[str, int]:
        """The contacts and rolling wheels whose normal forces forces depend on -> the place of the row."""
        if self._normals is None:
            return {}
        owners = [self.bench.constraints.rows[k].owner.split(".", 1)[1] for k in self._normals.rows]
        return dict(zip(owners, self._normals.rows, strict=True))

    @cached_property
    def always_read(self) -> set[str]:
        """Those of them that are read even where nothing slips."""
        w, f = self.bench, [t - b for t, b in zip(self._forces, self.bench.inverse(self.bench.rest), strict=True)]
        sticking = dict.fromkeys((slip.mode for slip in self.switches.slips), 0.0)
        places = normals_read(w, substitute(substitute(f, sticking), self._known))
        return {self.mechanism.pushing[k] for k in places}

    def jamming(self) -> Function | None:
        """D (k, k) of the normal forces that are read; see `torseur.dynamics.constrained_motion.normal_forces`."""
        if self._normals is None:
            return None
        return self._function("jamming", {"D": self._in([x for row in self._normals.D for x in row])})

    def samples(self) -> Function | None:
        """All values that samples read."""
        values = [x for sample in self.parts.samples for x in sample.values]
        return self._function("samples", {"values": values}) if values else None

    def _implicit(self) -> Implicit:
        """r = inverse dynamics - forces - A' lambda, with its exact derivatives."""
        w, s, zero = self.bench, self.system, self.system.graph.zero
        vdot, rows, n = list(w.block("vdot")), w.constraints, self.bench.tree.nv
        r = [tau - f for tau, f in zip(w.inverse(vdot), self._forces, strict=True)]
        for A, lam in zip(rows.A, self._lam, strict=True):
            r = [x - a * lam for x, a in zip(r, A, strict=True)]
        h = [x if p is None else p for x, p in zip(rows.r, self._positions(), strict=True)]
        r, h = self._with_normals(r), self._in(h)
        # Rates of z by the accelerations of the instant: multipliers of index 3 are off by the order of the step.
        dz = [state.rate for state in self.parts.states]
        more = [w.block("vdot"), *([w.rows_block("lam")] if self._lam else [])]
        blocks = [*self.blocks, *more]
        residual = {"r": r, "h": h, "dz": dz}
        G = jacobian(self._in(rates(s)), list(s.v))

        def along(values: Sequence[Expr]) -> list[list[Expr]]:
            return [_along(G, row, n, zero) for row in jacobian(values, list(s.q)).dense()] if values else []

        K, C = self._stiffness(along, r)
        M = [self._in(row) for row in w.matrix]
        tangent = {"M": M, "C": C, "K": K, "H": along(h), "A": [self._in(row) for row in rows.A]}
        d = s.graph.block("d", n, Role.STATE, names=[f"d_{x.name}" for x in self.mechanism.v])
        return Implicit(
            Function("residual", blocks, {k: x for k, x in residual.items() if x}),
            Function("tangent", blocks, {k: x for k, x in tangent.items() if x}),
            Function("displace", [s.q, d], {"q": displaced(s, list(s.q), list(d))}),
            tuple(row.position is not None for row in rows.rows),
        )

    def _with_normals(self, exprs: Sequence[Expr]) -> list[Expr]:
        """Forces with the normal forces of the instant in them, solved for."""
        known = self._in(exprs)
        return known if self._normals is None else substitute(known, self._pushes_of_normals)

    def _stiffness(self, along: Callable[[Sequence[Expr]], Table], r: Sequence[Expr]) -> tuple[Table, Table]:
        """dr/dq along the speeds and dr/dv: the motion's by recursion, what is added to it differentiated.

        Where inputs or normal forces depend on the state, all of r is differentiated as it stands.
        """
        w, v = self.bench, list(self.system.v)
        follows = any(x.data[0] in ("q", "v") for x in symbols_in(self._parts.inputs.values()))
        if follows or self._normals is not None:
            return along(r), jacobian(list(r), v).dense()
        by_q, by_v = ([self._in(row) for row in table] for table in motion_derivatives(w))
        pulls = [-f for f in self._forces]
        for A, lam in zip(w.constraints.A, self._lam, strict=True):
            pulls = [x - a * lam for x, a in zip(pulls, A, strict=True)]
        pulls = self._in(pulls)
        if all(x is x.graph.zero for x in pulls):
            return by_q, by_v
        more = along(pulls), jacobian(pulls, v).dense()
        both = [
            [[x + y for x, y in zip(a, b, strict=True)] for a, b in zip(one, other, strict=True)]
            for one, other in zip((by_q, by_v), more, strict=True)
        ]
        return both[0], both[1]

    def _positions(self) -> list[Expr | None]:
        """h of each row, switched; None for those without."""
        h = iter(self.bench.constraints.h)
        return [None if row.position is None else next(h) for row in self.bench.constraints.rows]


def _along(G: Jacobian, row: Sequence[Expr], n: int, zero: Expr) -> list[Expr]:
    """A derivative by q turned into one along the speeds."""
    found = [zero] * n
    for i, j, entry in zip(G.rows, G.columns, G.entries, strict=True):
        found[j] = found[j] + row[i] * entry
    return found


def _flat(matrix: Table) -> list[Expr]:
    return [x for row in matrix for x in row]
