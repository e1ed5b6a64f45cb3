"""What the quantities of a mechanism share: symbols, tree, forces, and ways to solve with the inertia matrix."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar, cast

from torseur.describe import Mechanism
from torseur.dynamics.constraints.rows import Constraints, ContactLaw, Row, Switched, add_friction, slipping
from torseur.dynamics.constraints.solvers import ConstraintSolver, NullSpaceSolver, ProjectionSolver, is_written_out
from torseur.dynamics.loads.forces import Forces, FrictionLaw, add_compliance, compliant_loads, coulomb, forces_of
from torseur.dynamics.matrices import transposed
from torseur.dynamics.tree.inertia_matrix import (
    Factors,
    ZeroPivot,
    articulated_solve,
    factorise,
    inverse_of,
    mass_matrix,
    solve_with,
)
from torseur.dynamics.tree.kinematics import Axes, Task
from torseur.dynamics.tree.newton_euler import inverse_dynamics
from torseur.dynamics.tree.system import System
from torseur.dynamics.tree.tree import Tree
from torseur.errors import ArgumentError
from torseur.graph import Block, Expr, Function, Role, count, ops, select, sqrt, substitute
from torseur.graph.function import reachable
from torseur.graph.nodes import Bundle
from torseur.graph.products import are_many, tree_factors, tree_solutions
from torseur.spatial.vectors import Vector, dot

__all__ = ["FEW", "MANY", "RANK", "RANK_NAMES", "Options", "Switching", "Workbench", "collect", "operations"]

RANK = "rank"
"""The block of the ranks of constraint rows."""

RANK_NAMES = "rank", "position_rank", "weak_pivot"
"""What it holds for each component of the rows, one after the other."""

FEW, MANY = 8, 40
"""Speeds up to which factors of the inertia matrix, and beyond which articulated bodies, are not even doubted."""


@dataclass(frozen=True)
class Options:
    """How a quantity is derived.

    Attributes:
        base_parameters: regroup inertial parameters (fewer operations, same motion).
        closed_parameters: regroup them by what loops and constraints leave of the motion; right for closed states only.
        frame: for poses, Jacobians and accelerations of a frame.
        axes: of a Jacobian or acceleration.
        task: of the operational space.
        loads: whether springs, friction, motors and other loads are in it.
        independent: for reduced forms, the speeds that describe the motion, or quasi-speeds "name = formula"; None:
            chosen automatically.
        actuated: for the efforts of actuators, the coordinates they act on; None: those with efforts or motors.
        regular: for the operational space, formulas that hold away from singular positions, without asking for ranks.
        welds: keep bodies that are fixed to another as links of their own, for the forces between them.
    """

    base_parameters: bool = True
    closed_parameters: bool = False
    frame: str | None = None
    axes: Axes = Axes.OWN
    task: Task = Task.POSE
    loads: bool = True
    independent: tuple[str, ...] | None = None
    actuated: tuple[str, ...] | None = None
    regular: bool = False
    welds: bool = False


@dataclass
class Switching:
    """What a simulation decides by events: how dry friction acts, which constraints hold, what rows there are beside.

    Whoever makes a workbench may fill it in before anything is derived.

    Attributes:
        friction: the law of dry friction.
        contact_friction: the law of friction in contacts.
        switches: owner of rows, or one of its rows -> an expression that is 1 while it holds and 0 while not.
        rows: beside those of the description; `friction` may add to them while forces are built.
        ranks: of the components of the rows, then of their holonomic rows; a block of its own where none are given.
    """

    friction: FrictionLaw = coulomb
    contact_friction: ContactLaw = slipping
    switches: dict[Switched, Expr] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    ranks: Sequence[Expr] | None = None


T = TypeVar("T")


class Workbench:
    """One mechanism's symbols and tree, and what several quantities share.

    Args:
        mechanism: the description.
        options: how quantities are derived.
        fixed: parameters that are numbers for good.
        system: symbols that are there already, in place of new ones.
        tree: links that are there already; `closed_structures.workbench_of` gives those of closed parameters.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        options: Options | None = None,
        fixed: Mapping[str, float] | None = None,
        system: System | None = None,
        tree: Tree | None = None,
    ) -> None:
        self.options = options or Options()
        self.system = System(mechanism, fixed) if system is None else system
        self._tree = tree
        self.switching = Switching()
        self._made: dict[Callable[..., Any], Any] = {}

    @cached_property
    def tree(self) -> Tree:
        if self._tree is not None:
            return self._tree
        return Tree(self.system, regroup=self.options.base_parameters, welds=self.options.welds)

    @cached_property
    def plain(self) -> Workbench:
        """The same symbols, with the inertias of the description."""
        options = replace(self.options, base_parameters=False, closed_parameters=False)
        return self if options == self.options else Workbench(self.system.mechanism, options, system=self.system)

    @property
    def true_tree(self) -> Tree:
        """With the inertias of the description: regrouped ones give the same motion, not the same energy."""
        return self.plain.tree

    @cached_property
    def gravity(self) -> Vector:
        return self.system.vector(self.system.mechanism.gravity)

    @cached_property
    def forces(self) -> Forces:
        return self._forces[0]

    @property
    def contact_powers(self) -> dict[str, Expr]:
        """The power of friction in each contact that has it."""
        return self._forces[1]

    @cached_property
    def _forces(self) -> tuple[Forces, dict[str, Expr]]:
        if not self.options.loads:
            return Forces(self.system.graph), {}
        forces = forces_of(self.tree, friction=self.switching.friction)
        powers = add_friction(self.tree, forces, self.switching.contact_friction)
        powers |= add_compliance(self.tree, forces)
        if not self.compliant_loads:
            return forces, powers
        known = substitute(list(powers.values()), self.compliant_loads)
        return forces.replaced(self.compliant_loads), dict(zip(powers, known, strict=True))

    @cached_property
    def compliant_loads(self) -> dict[Expr, Expr]:
        """Symbol of the normal force of a tread with a stiffness -> what it is."""
        return compliant_loads(self.tree)

    def block(self, name: str) -> Block:
        """vdot or tau: a block as long as v."""
        return self._block(name, [f"{name}_{x.name}" for x in self.system.mechanism.v])

    def rows_block(self, name: str) -> Block:
        """A block as long as there are constraint rows."""
        return self._block(name, [f"{name}_{row.name}" for row in self.constraints.rows])

    def _block(self, name: str, names: list[str], role: Role = Role.STATE) -> Block:
        known = self.system.graph.blocks
        return known[name] if name in known else self.system.graph.block(name, len(names), role, names=names)

    @property
    def rest(self) -> list[Expr]:
        return [self.system.graph.zero] * self.tree.nv

    @property
    def frame(self) -> str:
        if self.options.frame is None:
            raise ArgumentError(
                "this quantity needs a frame",
                expected="the name of a body or frame",
                option="frame",
                call="frame=...",
            )
        return self.options.frame

    def inverse(self, vdot: list[Expr], tree: Tree | None = None) -> list[Expr]:
        """tau for a motion, loads included: what must be added to them."""
        tau = inverse_dynamics(tree or self.tree, vdot, self.gravity, self.forces.wrenches)
        return [x - self.forces.Q[k] if k in self.forces.Q else x for k, x in enumerate(tau)]

    @cached_property
    def matrix(self) -> list[list[Expr]]:
        return mass_matrix(self.tree)

    @cached_property
    def chain(self) -> tuple[list[int], list[int]]:
        """The order of elimination and who is below whom: the tree's, or one chain where a rotor ties branches."""
        order, parents = self.tree.order, self.tree.parents
        for rotor in self.tree.rotors:
            k, below = rotor.speed, set[int]()
            while k >= 0:
                below.add(k)
                k = parents[k]
            if rotor.link >= 0 and not {*self.tree.links[rotor.link].places} <= below:
                one_chain = dict(zip(order, [-1, *order], strict=False))
                return order, [one_chain[j] for j in range(len(order))]
        return order, parents

    @cached_property
    def constraints(self) -> Constraints:
        _ = self.forces  # friction that sticks adds its rows
        return Constraints(self.tree, self.switching.switches, self.switching.rows)

    def under(self, constraints: Constraints) -> Workbench:
        """The same mechanism, with all that is made of it already, under some of its rows; ranks are not theirs."""
        other = copy(self)
        for name in ("_all_ranks", "dense_solver"):
            other.__dict__.pop(name, None)
        other.__dict__["constraints"] = constraints
        other._made = {}
        return other

    @cached_property
    def _all_ranks(self) -> tuple[list[Expr], list[Expr], list[Expr]]:
        n = len(self.constraints.components)
        ranks = self.switching.ranks
        if ranks is None:
            names = [f"{what}{k}" for what in RANK_NAMES for k in range(1, n + 1)]
            ranks = list(self._block(RANK, names, Role.PARAMETER))
        return list(ranks[:n]), list(ranks[n : 2 * n]), list(ranks[2 * n :])

    @property
    def ranks(self) -> list[Expr]:
        """Of the components of the constraint rows: numbers that whoever calls gives."""
        return self._all_ranks[0]

    @property
    def position_ranks(self) -> list[Expr]:
        """Of the holonomic rows of each component."""
        return self._all_ranks[1]

    @property
    def weak_pivots(self) -> list[Expr]:
        """Of each component, the part of its first pivot below which the last one is lost for an instant."""
        return self._all_ranks[2]

    @cached_property
    def length(self) -> Expr:
        """A length of the mechanism: the root of the sum of squares of the distances from joint to joint.

        It brings angles and lengths to one unit. A mechanism without any has one of 1 m.
        """
        g = self.system.graph
        places = [link.K.P for link in self.tree.links] + [
            end.offset.P for c in self.constraints.cuts for end in (c.a, c.b)
        ]
        total = g.zero
        for P in places:
            if not any(n.op is ops.SYMBOL and n.data[0] != "p" for n in reachable(list(P))):
                total = total + dot(P, P)
        if total.is_number:
            return g.number(float(total) ** 0.5) if float(total) > 0.0 else g.one
        return g.name(sqrt(select(total > 0.0, total, 1.0)), "L_mechanism")

    @cached_property
    def dense_solver(self) -> ConstraintSolver:
        """All rows at once: written out as long as coupled rows are few, in loops of native code otherwise."""
        kind = ProjectionSolver if is_written_out(self.constraints) else NullSpaceSolver
        given = self.matrix, self.ranks, self.position_ranks, self.weak_pivots, self.length
        return kind(self.constraints, *given)

    def once(self, build: Callable[[Workbench], T]) -> T:
        """What a function makes of this workbench, made when it is first asked for."""
        if build not in self._made:
            self._made[build] = build(self)
        return cast(T, self._made[build])

    @cached_property
    def factors(self) -> Factors:
        try:
            return factorise(self.matrix, *self.chain)
        except ZeroPivot as zero:
            raise self.tree.without_mass(zero.place) from None

    def solve(self, right: list[Expr]) -> list[Expr]:
        """vdot with M vdot = right, by factors along the tree: the way for many right-hand sides."""
        return solve_with(self.factors, right, *self.chain)

    def solve_table(self, B: Sequence[Sequence[Expr]]) -> list[list[Expr]]:
        """X with M X + B = 0, a table of as many rows; in a loop where written out it would be long."""
        if not are_many(self.tree.pairs_on_branches):
            return transposed([self.solve([-x for x in column]) for column in transposed(B)])
        return tree_solutions(self._loop_factors, B)

    def inverse_matrix(self) -> list[list[Expr]]:
        """The inverse of M."""
        g, n = self.system.graph, self.tree.nv
        if are_many(self.tree.pairs_on_branches):
            return self.solve_table([[-g.one if i == j else g.zero for j in range(n)] for i in range(n)])
        return inverse_of(self.factors, *self.chain)

    @cached_property
    def _loop_factors(self) -> Bundle:
        for k, row in enumerate(self.matrix):
            if row[k] is row[k].graph.zero:
                raise self.tree.without_mass(k)
        return tree_factors(self.matrix, *self.chain)

    def solve_once(self, right: list[Expr]) -> list[Expr]:
        """The same for one right-hand side, by factors or by articulated bodies, whichever takes fewer operations."""
        n = self.tree.nv
        tree = self.tree
        if n <= FEW or tree.shares_speeds or not tree.moves_links or any(rotor.link >= 0 for rotor in tree.rotors):
            return self.solve(right)
        by_bodies = articulated_solve(tree, right)
        if n > MANY:
            return by_bodies
        by_factors = self.solve(right)
        return by_factors if operations(self, by_factors) <= operations(self, by_bodies) else by_bodies


def operations(w: Workbench, outputs: Any) -> int:
    flat: list[Expr] = []
    collect(outputs, flat)
    return count(Function("trial", list(w.system.graph.blocks.values()), {"all": flat})).total


def collect(value: Any, into: list[Expr]) -> None:
    """All expressions in nested sequences, in order."""
    if isinstance(value, Expr):
        into.append(value)
    else:
        for item in value:
            collect(item, into)
