"""The first two stages of a plant: what is added to a mechanism, then its motion solved.

First what blocks, loads and switches add. Expressions are in terms of symbols for what is not known yet: accelerations,
multipliers, reactions and the forces of blocks. Inputs that keep a number stay inputs of the compiled functions:
another number is another run of the same code. Then the accelerations and multipliers are solved, and everything that
is told in terms of them: multipliers that are read, normal forces, reactions, forces of blocks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from torseur.describe import Mechanism
from torseur.describe.faults import guess
from torseur.describe.mechanism import Output
from torseur.dynamics.constrained_motion.motion import Motion, moved_by, reaction_of
from torseur.dynamics.constrained_motion.normal_forces import normal_rows
from torseur.dynamics.constrained_motion.solver import constraint_solver
from torseur.dynamics.loads.forces import LoadOnTree
from torseur.dynamics.workbench import RANK_NAMES, Options, Workbench
from torseur.errors import ModelError
from torseur.graph import Expr, maximum, substitute
from torseur.simulation.blocks import Block, build_blocks, number_of
from torseur.simulation.blocks.context import Context
from torseur.simulation.blocks.parts import Parts, Requested
from torseur.simulation.plant.switches import Friction, Stops, Switches

__all__ = ["Construction", "PlantRequest", "Settings", "Solved", "constructed", "known_after_solving", "solved"]

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
        by_mass: whether it uses that form where there are neither constraints nor further states.
        independent: speeds by which many loops are solved; chosen where none are given.
        watch: whether a wheel that falls flat is an event: adaptive steps would become ever shorter there.
    """

    friction: Friction = field(default_factory=Friction)
    stops: Stops = field(default_factory=Stops)
    audit: bool = True
    implicit: bool = False
    by_mass: bool = False
    independent: tuple[str, ...] | None = None
    watch: bool = False


@dataclass(frozen=True)
class PlantRequest:
    """All that decides a plant.

    Attributes:
        mechanism: what moves.
        given: blocks by name; one that is called like an input drives it.
        settings: choices about the physics.
        outputs: further formulas to record; they may use results of blocks and multipliers.
        folder: where files that blocks read are looked for.
    """

    mechanism: Mechanism
    given: Mapping[str, Block] = field(default_factory=dict)
    settings: Settings = field(default_factory=Settings)
    outputs: Mapping[str, Output] = field(default_factory=dict)
    folder: Path | None = None

    @property
    def constants(self) -> dict[str, float]:
        """Inputs that keep a number through a run, and the numbers."""
        numbers = {name: number_of(block) for name, block in self.given.items() if name in self.mechanism.inputs}
        return {name: x for name, x in numbers.items() if x is not None}

    @property
    def blocks(self) -> dict[str, Block]:
        """All others."""
        return {name: block for name, block in self.given.items() if name not in self.constants}


@dataclass(frozen=True)
class Construction:
    """What was built, in terms of what is to be solved for.

    Attributes:
        request: what was asked for.
        bench: the mechanism, its rows with those of the switches.
        switches: what events decide.
        parts: of blocks and loads.
        rank_names, share_names: held numbers: the ranks of rows, multipliers near which redundant rows share a load.
        lam: symbols of the multipliers.
        shares: the held multipliers, where there are any.
        judged: symbols of the multipliers that switches are judged by.
        pushes: symbols of the forces of blocks, where these have any.
        first_switch: the place of the first event of a switch.
        flat: event -> the constraint of the wheel that falls flat then.
    """

    request: PlantRequest
    bench: Workbench
    switches: Switches
    parts: Parts
    rank_names: tuple[str, ...]
    share_names: tuple[str, ...]
    lam: list[Expr]
    shares: list[Expr]
    judged: list[Expr]
    pushes: list[Expr]
    first_switch: int
    flat: dict[str, str]


def constructed(request: PlantRequest) -> Construction:
    """Build all that is asked for into one graph.

    Switches and ranks decide which rows there are, so they come before anything that looks at rows; events of switches
    come after blocks and outputs, whose events a study numbers first.
    """
    settings = request.settings
    bench = Workbench(request.mechanism, Options(independent=settings.independent))
    context = Context(bench, request.folder, request.constants)
    switches = Switches(context, settings.friction, settings.stops)
    switches.install()
    rank_names = _install_ranks(context)
    _install_loads(context, request)
    build_blocks(context, request.blocks)
    _define_outputs(context, request.outputs)
    rows = bench.constraints.rows
    lam = list(bench.rows_block("lam")) if rows else []
    share_names = tuple(f"share_{row.name}" for row in rows) if switches and len(rows) > 1 else ()
    shares = [context.held(name, 0.0, is_mode=True) for name in share_names]
    judged = list(bench.rows_block("judged")) if shares else lam
    first = context.event_count
    for name, value in switches.event_functions(bench.constraints, judged).items():
        context.event(name, value)
    flat = _watch_wheels(context) if settings.watch else {}
    pushes = list(bench.block("block_force")) if context.has_forces else []
    parts = context.parts()
    return Construction(
        request, bench, switches, parts, rank_names, share_names, lam, shares, judged, pushes, first, flat
    )


def _install_ranks(context: Context) -> tuple[str, ...]:
    """The ranks of constraint rows are held numbers: they change with the rows that are active."""
    bench = context.bench
    names = [f"{what}_{k}" for what in RANK_NAMES for k in range(1, len(bench.constraints.components) + 1)]
    bench.switching.ranks = [context.held(name, 0.0, is_mode=True) for name in names]
    return tuple(names)


def _install_loads(context: Context, request: PlantRequest) -> None:
    """States of loads are integrated, unless the study drives them; their results have names."""
    inputs = request.mechanism.inputs
    for name, load in request.mechanism.loads.items():
        on = LoadOnTree(context.bench.tree, name, context.kinematics)
        context.where = ("loads", name)
        for key, result in load.results(on).items():
            context.define(f"{name}_{key}", result.value, result.unit, result.meaning)
        for state, rate in load.rates(on).items() if load.states else ():
            if state not in request.given:
                symbol = context.state(state, inputs[state].default, inputs[state].unit or "")
                context.rate(symbol, rate)
                context.drive(state, symbol)


def _define_outputs(context: Context, outputs: Mapping[str, Output]) -> None:
    for name, output in outputs.items():
        context.where = ("outputs", name)
        context.define(name, context.value(output.value), output.unit or "", output.description or "")


def _watch_wheels(context: Context) -> dict[str, str]:
    """Events of wheels that fall flat, by name, and whose constraint it is."""
    wheels = {}
    for owner, s in context.bench.constraints.uprightness.items():
        if not s.is_number:
            name = f"{owner.name}_flat"
            context.event(name, s - FLAT)
            wheels[name] = str(owner)
    return wheels


@dataclass(frozen=True)
class Solved:
    """The motion of a construction.

    Attributes:
        built: what moves.
        forces: of blocks, along each speed.
        known: symbols of the workbench -> what they are in terms of t, q, v, z, u, m, p.
        motion: in terms of the symbols of the workbench.
        vdot, lam: accelerations and multipliers in terms of t, q, v, z, u, m, p.
    """

    built: Construction
    forces: list[Expr]
    known: Mapping[Expr, Expr]
    motion: Motion
    vdot: list[Expr]
    lam: list[Expr]

    @property
    def bench(self) -> Workbench:
        return self.built.bench

    def in_states(self, exprs: Sequence[Expr]) -> list[Expr]:
        """Expressions of the workbench in terms of t, q, v, z, u, m, p."""
        return _in_states(exprs, self.known)


def _in_states(exprs: Sequence[Expr], known: Mapping[Expr, Expr]) -> list[Expr]:
    return substitute(list(exprs), known) if exprs else []


def solved(built: Construction) -> Solved:
    """Solve for accelerations and multipliers."""
    w, parts = built.bench, built.parts
    forces = [parts.forces.get(x.name, w.system.graph.zero) for x in built.request.mechanism.v]
    known = {**parts.symbols, **parts.inputs, **parts.rates}
    motion = moved_by(w, forces, known)
    lam = constraint_solver(w).multipliers(motion.vdot, motion.f) if built.lam else []
    return Solved(built, forces, known, motion, _in_states(motion.vdot, known), _in_states(lam, known))


def known_after_solving(of: Solved) -> dict[Expr, Expr]:
    """Symbols of what the construction did not know -> what they are."""
    w, built = of.bench, of.built
    values: dict[Expr, Expr] = dict(zip(w.block("vdot"), of.vdot, strict=True))
    values |= dict(zip(built.lam, of.lam, strict=True))
    values |= {N: maximum(of.lam[row], 0.0) for N, row in normal_rows(w).items()}
    values |= {N: of.in_states([value])[0] for N, value in w.compliant_loads.items()}
    if built.shares:
        values |= dict(zip(built.judged, of.in_states(_nearest(of)), strict=True))
    values |= dict(zip(built.pushes, of.forces if built.pushes else [], strict=True))
    for name, block in built.parts.reactions.items():
        wrench = of.in_states(reaction_of(w, name, list(w.block("vdot")), built.lam))
        values |= dict(zip(block, substitute(wrench, values), strict=True))
    return values | _read_multipliers(of, built.parts.multipliers)


def _nearest(of: Solved) -> list[Expr]:
    """The multipliers nearest to the held ones d: d + the shortest of what A' d leaves."""
    w, shares, zero = of.bench, of.built.shares, of.bench.system.graph.zero
    columns = zip(*w.constraints.A, strict=True)
    held = [sum((a * d for a, d in zip(column, shares, strict=True)), zero) for column in columns]
    left = [f + x for f, x in zip(of.motion.f, held, strict=True)]
    rest = constraint_solver(w).multipliers(of.motion.vdot, left)
    return [d + x for d, x in zip(shares, rest, strict=True)]


def _read_multipliers(of: Solved, asked: Mapping[str, Requested]) -> dict[Expr, Expr]:
    """Symbols of multipliers -> what they are; a name that is no row's is told."""
    rows = [f"lambda_{row.name}" for row in of.bench.constraints.rows]
    faults, values = [], dict(zip(rows, of.lam, strict=True))
    for name in (name for name in asked if rows.count(name) != 1):
        expected, remedy = guess(name, rows)
        what = f"there is no multiplier '{name}'" if name not in rows else f"several rows are called '{name}'"
        faults.append(ModelError(what, where=asked[name].where, expected=expected, remedy=remedy))
    if faults:
        raise ModelError.of(faults)
    return {one.symbol: values[name] for name, one in asked.items()}
