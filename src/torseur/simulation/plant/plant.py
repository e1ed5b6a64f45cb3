"""The third stage of a plant: the functions a run needs, as expressions.

Everything is in one graph: signals and blocks take the place of inputs and of their rates, controllers add forces,
switches decide which constraints hold, and integrals of powers and impulses run along for the audit. These are built
last and are states of their own, w: the motion is the same, to the last bit, with and without them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

from torseur.dynamics.constrained_motion.motion import corrected
from torseur.dynamics.constrained_motion.normal_forces import normals_read
from torseur.dynamics.constrained_motion.solver import constraint_solver
from torseur.dynamics.sensitivities import motion_derivatives
from torseur.dynamics.tree.system import displaced, rates
from torseur.errors import ModelError
from torseur.graph import Block as GraphBlock
from torseur.graph import Expr, Function, Jacobian, Role, jacobian, substitute
from torseur.simulation.blocks.parts import Parts, orders, symbols_in
from torseur.simulation.plant.balances import Balances, Recorded, balances_of
from torseur.simulation.plant.construction import Solved, known_after_solving
from torseur.simulation.plant.facts import SwitchFacts
from torseur.simulation.plant.time_formulas import TimeFormulas
from torseur.simulation.solvers.problem import ORDER, Implicit, Problem

__all__ = ["Plant"]

Table = list[list[Expr]]


class Plant:
    """A mechanism and the blocks around it, as expressions of t, q, v, z, u, m and p.

    Args:
        solved: its motion.
    """

    def __init__(self, solved: Solved) -> None:
        self.solved, self.built, self.mechanism = solved, solved.built, solved.built.request.mechanism
        self.settings, self.bench, self.system = self.built.request.settings, solved.bench, solved.bench.system
        self.switches, self.in_states = self.built.switches, solved.in_states
        self._values = known_after_solving(solved)
        self.parts: Parts = self.built.parts.replaced(self._values)

    def settled(self, exprs: Sequence[Expr]) -> list[Expr]:
        """Expressions of the workbench, accelerations and multipliers included, in terms of t, q, v, z, u, m, p."""
        return substitute(self.in_states(exprs), self._values) if exprs else []

    @cached_property
    def is_driven(self) -> bool:
        """Whether what drives constraints may change on the way."""
        return any(self.system.u[name] in self.parts.inputs for name in orders(self.mechanism))

    @property
    def blocks(self) -> list[GraphBlock]:
        """t, q, v, z, u, m, p: those that have a size."""
        s, parts = self.system, self.parts
        return [b for b in (s.graph.blocks["t"], s.q, s.v, parts.z, s.u, parts.m, s.p) if b is not None and b.size]

    def functions(self) -> dict[str, Callable[[], Function]]:
        """What a run may need, by name, each derived when it is asked for."""
        parts, problem, recorded = self.parts, self.problem, self.recorded
        makers: dict[str, Callable[[], Function]] = {"rate": lambda: problem.rate, "record": recorded.record}
        if (correct := problem.correct) is not None:
            makers["corrected"] = lambda: correct
        if (jumps := problem.jumps) is not None:
            makers |= {"jumps": lambda: jumps, "weight": self._weight, "decisions": self._decisions}
        if self.built.share_names:
            makers["instant"] = self._instant
        if self.switches.slips:
            makers["impact"] = self._impact
        if self.bench.constraints.rows:
            makers |= {"rows": self._rows, "gaps": recorded.gaps}
        if self.solved.motion.normals is not None:
            makers["jamming"] = self._jamming
        if len(self.system.u):
            makers["inputs"] = recorded.inputs
        if orders(self.mechanism):
            makers["driving"] = self._driving
        if any(sample.values for sample in parts.samples):
            makers["samples"] = self._samples
        if (schedule := parts.schedule([b for b in self.blocks if b.name == "p"])) is not None:
            makers["schedule"] = lambda: schedule
        if (starts := parts.starts([b for b in self.blocks if b.name not in ("z", "m")])) is not None:
            makers["starts"] = lambda: starts
        return makers | {name: lambda f=f: f for name, f in self.time_formulas.functions.items()}

    @cached_property
    def recorded(self) -> Recorded:
        return Recorded(self)

    @cached_property
    def time_formulas(self) -> TimeFormulas:
        """Of what decides the motion; what only the audit reads does not count."""
        rate, p = self.problem.rate, self.system.p
        exprs = tuple(rate.results[k] for k in self.problem.steering)
        return TimeFormulas(exprs, self.system.graph.blocks["t"], p if p.size else None)

    @property
    def timing(self) -> frozenset[int]:
        """The places of the parameters that decide when signals are not smooth, or formulas of time switch."""
        read = symbols_in([b.time for b in self.parts.breaks])
        return self.time_formulas.parameters | {x.data[1] for x in read if x.data[0] == "p"}

    def function(self, name: str, outputs: Mapping[str, Sequence[Expr]], w: GraphBlock | None = None) -> Function:
        blocks = self.blocks if w is None else sorted([*self.blocks, w], key=lambda b: ORDER.index(b.name))
        return Function(name, blocks, {n: list(x) for n, x in outputs.items() if len(x)})

    @cached_property
    def switch_facts(self) -> SwitchFacts:
        """The switches by their places."""
        return self.switches.facts(self.bench.constraints, self.parts.symbols, self.built.first_switch)

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
        moving = {
            "dq": self.in_states(rates(self.system)),
            "dv": self.solved.vdot,
            "dz": [s.rate for s in self.parts.states],
        }
        correct, jumps = self._corrected(), self._jumps()
        is_free = not (self.bench.constraints.rows or self.parts.states)
        is_wanted = self.settings.implicit or (self.settings.by_mass and is_free)
        implicit = self._implicit() if is_wanted else None
        balances = self._balance() if self.settings.audit else None
        w, dw = None, list[Expr]()
        if balances is not None and balances.flows:
            dw = self.settled([flow.rate for flow in balances.flows])
            w = self.system.graph.block("w", len(dw), Role.STATE, names=[flow.name for flow in balances.flows])
        g, kept = [event.value for event in self.parts.events], {"w": list(w or ())}
        problem = Problem(
            self.function("rate", moving | {"dw": dw}, w),
            correct=None if correct is None else self.function("corrected", correct | kept, w),
            events=self.function("events", {"g": g}) if g else None,
            jumps=None if jumps is None else self.function("jumps", jumps | kept, w),
            implicit=implicit,
        )
        return problem, balances

    def _balance(self) -> Balances:
        """What goes into energy and momenta; names of states that exist already are refused."""
        zero, known = self.system.graph.zero, {state.name for state in self.parts.states}
        balances = balances_of(self.bench, self.built.pushes or [zero] * self.bench.tree.nv, self.built.lam)
        twice = [flow.name for flow in balances.flows if flow.name in known]
        if twice:
            raise ModelError(f"'{twice[0]}' cannot be the name of a state", got="a work or impulse of the audit")
        return balances

    def _corrected(self) -> dict[str, list[Expr]] | None:
        """Closed loops, consistent speeds, unit quaternions; none where nothing can drift."""
        unit = len(self.system.q) != len(self.system.v)
        if not unit and not self.bench.constraints.rows:
            return None
        correction = corrected(self.bench)
        return {"q": self.in_states(correction["q"]), "v": self.in_states(correction["v"]), "z": self._z}

    def _weight(self) -> Function:
        """1/2 v'M v, J: what the kinetic energy of the bodies is if speeds are v relative to what they touch."""
        v = self.system.v
        twice = sum((p * x for p, x in zip(self.momenta, v, strict=True)), self.system.graph.zero)
        return self.function("weight", {"energy": self.in_states([0.5 * twice])})

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
        return {"q": list(self.system.q), "v": self.in_states(v), "z": self._z}

    def _decisions(self) -> Function:
        """What decides about the switches at rest; see `Switches.resting`."""
        vdot = list(self.bench.block("vdot"))
        decisions = self.settled(self.switches.resting(self.bench.constraints, self.built.judged, vdot))
        return self.function("decisions", {"found": decisions})

    def _instant(self) -> Function:
        """A, b and multipliers of the rows, those that are switched off as zeros, M, and f with M vdot = f + A' lam."""
        rows = self.bench.constraints
        outputs = {
            "A": _flat(rows.A),
            "b": rows.b,
            "lam": self.solved.lam,
            "M": _flat(self.bench.matrix),
            "f": self.solved.motion.f,
        }
        return self.function("instant", {n: self.in_states(x) for n, x in outputs.items()})

    def _impact(self) -> Function:
        """A, as if all rows held, the rates A v + c, and M."""
        rates = [row.rate for row in self.bench.constraints.rows]
        A = jacobian(rates, list(self.system.v)).dense()
        outputs = {"A": _flat(A), "u": rates, "M": _flat(self.bench.matrix)}
        return self.function("impact", {n: self.in_states(x) for n, x in outputs.items()})

    def _rows(self) -> Function:
        """A and h of the constraint rows, those that are switched off as zeros, and the length of the mechanism."""
        rows = self.bench.constraints
        outputs = {"A": [x for row in rows.A for x in row], "L": [self.bench.length], "h": rows.h}
        return self.function("rows", {n: self.in_states(x) for n, x in outputs.items()})

    def _driving(self) -> Function:
        """The inputs that drive constraints, and their rates: ``values`` and ``rates``."""
        names = list(orders(self.mechanism))
        u, rates, zero = self.system.u, self.system.input_rates, self.system.graph.zero
        values = [self.parts.inputs.get(u[n], u[n]) for n in names]
        moving = [self.parts.rates.get(rates[u[n]], zero) if u[n] in rates else zero for n in names]
        return self.function("driving", {"values": values, "rates": moving})

    @cached_property
    def normals_read(self) -> dict[str, int]:
        """The contacts and rolling wheels whose normal forces forces depend on -> the place of the row."""
        if self.solved.motion.normals is None:
            return {}
        owners = [self.bench.constraints.rows[k].owner.name for k in self.solved.motion.normals.rows]
        return dict(zip(owners, self.solved.motion.normals.rows, strict=True))

    @cached_property
    def always_read(self) -> set[str]:
        """Those of them that are read even where nothing slips."""
        w, f = self.bench, [t - b for t, b in zip(self.solved.forces, self.bench.inverse(self.bench.rest), strict=True)]
        sticking = dict.fromkeys((slip.mode for slip in self.switches.slips), 0.0)
        places = normals_read(w, substitute(substitute(f, sticking), self.solved.known))
        return {self.mechanism.pushing[k] for k in places}

    def _jamming(self) -> Function:
        """D (k, k) of the normal forces that are read; see `torseur.dynamics.constrained_motion.normal_forces`."""
        assert self.solved.motion.normals is not None
        return self.function("jamming", {"D": self.in_states([x for row in self.solved.motion.normals.D for x in row])})

    def _samples(self) -> Function:
        """All values that samples read."""
        return self.function("samples", {"values": [x for sample in self.parts.samples for x in sample.values]})

    def _implicit(self) -> Implicit:
        """r = inverse dynamics - forces - A' lambda, with its exact derivatives."""
        w, s, zero = self.bench, self.system, self.system.graph.zero
        vdot, rows, n = list(w.block("vdot")), w.constraints, self.bench.tree.nv
        r = [tau - f for tau, f in zip(w.inverse(vdot), self.solved.forces, strict=True)]
        for A, lam in zip(rows.A, self.built.lam, strict=True):
            r = [x - a * lam for x, a in zip(r, A, strict=True)]
        h = [x if p is None else p for x, p in zip(rows.r, self._positions(), strict=True)]
        r, h = self._with_normals(r), self.in_states(h)
        # Rates of z by the accelerations of the instant: multipliers of index 3 are off by the order of the step.
        dz = [state.rate for state in self.parts.states]
        more = [w.block("vdot"), *([w.rows_block("lam")] if self.built.lam else [])]
        blocks = [*self.blocks, *more]
        residual = {"r": r, "h": h, "dz": dz}
        G = jacobian(self.in_states(rates(s)), list(s.v))

        def along(values: Sequence[Expr]) -> list[list[Expr]]:
            return [_along(G, row, n, zero) for row in jacobian(values, list(s.q)).dense()] if values else []

        K, C = self._stiffness(along, r)
        M = [self.in_states(row) for row in w.matrix]
        tangent = {"M": M, "C": C, "K": K, "H": along(h), "A": [self.in_states(row) for row in rows.A]}
        d = s.graph.block("d", n, Role.STATE, names=[f"d_{x.name}" for x in self.mechanism.v])
        return Implicit(
            Function("residual", blocks, {k: x for k, x in residual.items() if x}),
            Function("tangent", blocks, {k: x for k, x in tangent.items() if x}),
            Function("displace", [s.q, d], {"q": displaced(s, list(s.q), list(d))}),
            tuple(row.position is not None for row in rows.rows),
        )

    @cached_property
    def _pushes_of_normals(self) -> dict[Expr, Expr]:
        pushes = {} if self.solved.motion.normals is None else self.solved.motion.normals.pushes
        return dict(zip(pushes, self.in_states(list(pushes.values())), strict=True))

    def _with_normals(self, exprs: Sequence[Expr]) -> list[Expr]:
        """Forces with the normal forces of the instant in them, solved for."""
        known = self.in_states(exprs)
        return known if self.solved.motion.normals is None else substitute(known, self._pushes_of_normals)

    def _stiffness(self, along: Callable[[Sequence[Expr]], Table], r: Sequence[Expr]) -> tuple[Table, Table]:
        """dr/dq along the speeds and dr/dv: the motion's by recursion, what is added to it differentiated.

        Where inputs or normal forces depend on the state, all of r is differentiated as it stands.
        """
        w, v = self.bench, list(self.system.v)
        follows = any(x.data[0] in ("q", "v") for x in symbols_in(self.built.parts.inputs.values()))
        if follows or self.solved.motion.normals is not None:
            return along(r), jacobian(list(r), v).dense()
        by_q, by_v = ([self.in_states(row) for row in table] for table in motion_derivatives(w))
        pulls = [-f for f in self.solved.forces]
        for A, lam in zip(w.constraints.A, self.built.lam, strict=True):
            pulls = [x - a * lam for x, a in zip(pulls, A, strict=True)]
        pulls = self.in_states(pulls)
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
    direction = [zero] * n
    for i, j, entry in zip(G.rows, G.columns, G.entries, strict=True):
        direction[j] = direction[j] + row[i] * entry
    return direction


def _flat(matrix: Table) -> list[Expr]:
    return [x for row in matrix for x in row]
