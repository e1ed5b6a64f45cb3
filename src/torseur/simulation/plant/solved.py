"""The second stage of a plant: its motion solved, and what the construction left as symbols.

First the accelerations and multipliers; then everything that is told in terms of them: multipliers that are read,
normal forces, reactions, forces of blocks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from torseur.describe.faults import guess
from torseur.dynamics.constrained_motion.motion import Motion, moved_by, reaction_of
from torseur.dynamics.constrained_motion.normal_forces import normal_rows
from torseur.dynamics.constrained_motion.solver import constraint_solver
from torseur.dynamics.workbench import Workbench
from torseur.errors import ModelError
from torseur.graph import Expr, maximum, substitute
from torseur.simulation.blocks.parts import Asked
from torseur.simulation.plant.construction import Construction

__all__ = ["Solved", "solved", "what_was_unknown"]


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


def what_was_unknown(of: Solved) -> dict[Expr, Expr]:
    """Symbols of what the construction did not know -> what they are."""
    w, built = of.bench, of.built
    late: dict[Expr, Expr] = dict(zip(w.block("vdot"), of.vdot, strict=True))
    late |= dict(zip(built.lam, of.lam, strict=True))
    late |= {N: maximum(of.lam[row], 0.0) for N, row in normal_rows(w).items()}
    late |= {N: of.in_states([value])[0] for N, value in w.compliant_loads.items()}
    if built.shares:
        late |= dict(zip(built.judged, of.in_states(_nearest(of)), strict=True))
    late |= dict(zip(built.pushes, of.forces if built.pushes else [], strict=True))
    for name, block in built.parts.reactions.items():
        wrench = of.in_states(reaction_of(w, name, list(w.block("vdot")), built.lam))
        late |= dict(zip(block, substitute(wrench, late), strict=True))
    return late | _read_multipliers(of, built.parts.multipliers)


def _nearest(of: Solved) -> list[Expr]:
    """The multipliers nearest to the held ones d: d + the shortest of what A' d leaves."""
    w, shares, zero = of.bench, of.built.shares, of.bench.system.graph.zero
    columns = zip(*w.constraints.A, strict=True)
    held = [sum((a * d for a, d in zip(column, shares, strict=True)), zero) for column in columns]
    left = [f + x for f, x in zip(of.motion.f, held, strict=True)]
    rest = constraint_solver(w).multipliers(of.motion.vdot, left)
    return [d + x for d, x in zip(shares, rest, strict=True)]


def _read_multipliers(of: Solved, asked: Mapping[str, Asked]) -> dict[Expr, Expr]:
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
