"""Every quantity of a tree as a `Function`: the one table that equations, native code and reports start from.

A function takes first what it is a function of (q, v, vdot, tau), then, where its expressions need them, time ``t``,
inputs ``u`` and parameters ``p``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from torseur.describe import Mechanism
from torseur.dynamics import energy
from torseur.dynamics.articulated_body import articulated_solve
from torseur.dynamics.composite_body import mass_matrix
from torseur.dynamics.derivatives import inverse_dynamics_derivatives
from torseur.dynamics.factorisation import Factors, ZeroPivot, factorise, solve_with
from torseur.dynamics.jacobians import Axes, acceleration, frame_jacobian
from torseur.dynamics.lagrange import rates
from torseur.dynamics.loads import Forces, forces_of
from torseur.dynamics.newton_euler import inverse_dynamics
from torseur.dynamics.system import System
from torseur.dynamics.tree import Tree
from torseur.dynamics.velocities import Kinematics
from torseur.errors import ArgumentError
from torseur.graph import Block, Expr, Function, Role, count, jacobian, ops, substitute
from torseur.graph.function import reachable
from torseur.spatial.vectors import Vector

__all__ = ["QUANTITIES", "Options", "Quantity", "Workbench", "function_of"]


Tables = tuple[list[list[Expr]], list[list[Expr]]]
"""Derivatives by q and by v, (nv, nv) each."""
FEW, MANY = 8, 40
"""Speeds up to which factors of the inertia matrix, and beyond which articulated bodies, are not even doubted."""


@dataclass(frozen=True)
class Options:
    """How a quantity is derived.

    Attributes:
        base_parameters: regroup inertial parameters (fewer operations, same motion).
        frame: for poses, Jacobians and accelerations of a frame.
        axes: of a Jacobian or acceleration.
        loads: whether springs, friction, motors and other loads are in it.
    """

    base_parameters: bool = True
    frame: str | None = None
    axes: Axes = Axes.OWN
    loads: bool = True


class Workbench:
    """One mechanism's symbols and tree, and what several quantities share."""

    def __init__(
        self, mechanism: Mechanism, options: Options | None = None, fixed: Mapping[str, float] | None = None
    ) -> None:
        self.options = options or Options()
        self.system = System(mechanism, fixed)
        self.extra: dict[str, Block] = {}

    @cached_property
    def tree(self) -> Tree:
        return Tree(self.system, regroup=self.options.base_parameters)

    @cached_property
    def gravity(self) -> Vector:
        return self.system.vector(self.system.mechanism.gravity)

    @cached_property
    def forces(self) -> Forces:
        return forces_of(self.tree) if self.options.loads else Forces(self.system.graph)

    def block(self, name: str) -> Block:
        """vdot or tau: a block as long as v."""
        if name not in self.extra:
            names = [f"{name}_{x.name}" for x in self.system.mechanism.v]
            self.extra[name] = self.system.graph.block(name, len(names), Role.STATE, names=names)
        return self.extra[name]

    @property
    def rest(self) -> list[Expr]:
        return [self.system.graph.zero] * self.tree.nv

    @property
    def frame(self) -> str:
        if self.options.frame is None:
            raise ArgumentError("this quantity needs a frame", expected="the name of a body or frame")
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
            if rotor.link >= 0 and not {*range(*_span(self.tree, rotor.link))} <= below:
                one_chain = dict(zip(order, [-1, *order], strict=False))
                return order, [one_chain[j] for j in range(len(order))]
        return order, parents

    @cached_property
    def factors(self) -> Factors:
        try:
            return factorise(self.matrix, *self.chain)
        except ZeroPivot as zero:
            raise self.tree.without_mass(zero.place) from None

    def solve(self, right: list[Expr]) -> list[Expr]:
        """vdot with M vdot = right, by factors along the tree: the way for many right-hand sides."""
        return solve_with(self.factors, right, *self.chain)

    def solve_once(self, right: list[Expr]) -> list[Expr]:
        """The same for one right-hand side, by factors or by articulated bodies, whichever takes fewer operations."""
        n = self.tree.nv
        if n <= FEW or any(rotor.link >= 0 for rotor in self.tree.rotors):
            return self.solve(right)
        by_bodies = articulated_solve(self.tree, right)
        if n > MANY:
            return by_bodies
        by_factors = self.solve(right)
        return by_factors if _operations(self, by_factors) <= _operations(self, by_bodies) else by_bodies


def _span(tree: Tree, link: int) -> tuple[int, int]:
    return tree.links[link].first, tree.links[link].first + tree.links[link].kind.nv


# -- the quantities ----------------------------------------------------------------------------------------------------
def _inverse_dynamics(w: Workbench) -> dict[str, Any]:
    return {"tau": w.inverse(list(w.block("vdot")))}


def _bias(w: Workbench) -> dict[str, Any]:
    return {"bias": w.inverse(w.rest)}


def _gravity(w: Workbench) -> dict[str, Any]:
    """The generalised force that holds the mechanism at rest, loads aside."""
    tau = inverse_dynamics(w.tree, w.rest, w.gravity)
    return {"gravity": substitute(tau, dict.fromkeys(w.system.v, 0.0))}


def _forward_dynamics(w: Workbench) -> dict[str, Any]:
    bias = w.inverse(w.rest)
    return {"vdot": w.solve_once([t - b for t, b in zip(w.block("tau"), bias, strict=True)])}


def _coriolis(w: Workbench) -> dict[str, Any]:
    """C(q, v) from Christoffel's symbols: C v = bias - gravity, and dM/dt - 2C is skew.

    It needs speeds that are rates of q.
    """
    q, v, M, n = list(w.system.q), list(w.system.v), w.matrix, w.tree.nv
    if len(q) != n or any(r is not x for r, x in zip(rates(w.system), v, strict=True)):
        raise ArgumentError(
            "Christoffel's symbols need speeds that are the rates of the coordinates",
            got="a joint with body-fixed speeds",
            expected="a virtual carrier instead of a floating base, universal instead of spherical joints",
        )
    flat = jacobian([M[i][j] for i in range(n) for j in range(n)], q).dense()
    zero = w.system.graph.zero
    C = [[zero] * n for _ in range(n)]
    for i in range(n):
        for j in range(n):
            for k in range(n):
                c = 0.5 * (flat[i * n + j][k] + flat[i * n + k][j] - flat[j * n + k][i])
                C[i][j] = C[i][j] + c * v[k]
    return {"coriolis": C}


def _energies(which: str) -> Callable[[Workbench], dict[str, Any]]:
    def build(w: Workbench) -> dict[str, Any]:
        tree = Tree(
            w.system
        )  # energies need the true inertias: regrouped ones give the same motion, not the same energy
        if which == "kinetic_energy":
            return {which: energy.kinetic_energy(tree)}
        if which == "potential_energy":
            return {which: energy.potential_energy(tree, w.gravity)}
        p, L = energy.momentum(tree)
        return {which: [*p, *L]}

    return build


def _pose(w: Workbench) -> dict[str, Any]:
    return {"pose": Kinematics(w.tree).frame(w.frame).pose.matrix()}


def _velocity(w: Workbench) -> dict[str, Any]:
    frame = Kinematics(w.tree).frame(w.frame)
    return {"velocity": [*frame.V, *frame.w]}


def _jacobian(w: Workbench) -> dict[str, Any]:
    return {"jacobian": frame_jacobian(w.tree, w.frame, w.options.axes)}


def _acceleration(w: Workbench) -> dict[str, Any]:
    return {"acceleration": acceleration(w.tree, w.frame, list(w.block("vdot")), w.options.axes)}


def _rates(w: Workbench) -> dict[str, Any]:
    return {"qdot": rates(w.system)}


def _motion_derivatives(w: Workbench) -> Tables:
    """By recursion or by differentiating the expressions, whichever takes fewer operations.

    The recursion is for the inertial forces; what rotors and loads add is differentiated as it stands.
    """
    vdot = list(w.block("vdot"))
    turning = any(link.kind.turns_its_columns for link in w.tree.links)
    flat = _differentiated(w, w.inverse(vdot)) if turning or w.tree.nv <= FEW else None
    if turning and flat is not None:
        return flat
    fast = inverse_dynamics_derivatives(w.tree, vdot, w.gravity)
    if w.forces.wrenches or w.forces.Q or w.tree.rotors:
        rest = _differentiated(w, w.inverse(vdot, w.tree.massless()))
        by_q, by_v = ([_plus(*rows) for rows in zip(a, b, strict=True)] for a, b in zip(fast, rest, strict=True))
        fast = by_q, by_v
    return fast if flat is None or _operations(w, fast) <= _operations(w, flat) else flat


def _differentiated(w: Workbench, tau: list[Expr]) -> Tables:
    by_q = _along_speeds(w, jacobian(tau, list(w.system.q)).dense())
    return by_q, jacobian(tau, list(w.system.v)).dense()


def _plus(a: list[Expr], b: list[Expr]) -> list[Expr]:
    return [x + y for x, y in zip(a, b, strict=True)]


def _operations(w: Workbench, outputs: Any) -> int:
    flat: list[Expr] = []
    _collect(outputs, flat)
    return count(Function("trial", list(w.system.graph.blocks.values()), {"all": flat})).total


def _along_speeds(w: Workbench, by_q: list[list[Expr]]) -> list[list[Expr]]:
    """Derivatives by q turned into derivatives along the speeds: d/dq G(q)."""
    G = jacobian(rates(w.system), list(w.system.v))
    result = [[w.system.graph.zero] * w.tree.nv for _ in by_q]
    for i, j, e in zip(G.rows, G.columns, G.entries, strict=True):
        for row, source in zip(result, by_q, strict=True):
            row[j] = row[j] + source[i] * e
    return result


def _inverse_derivatives(w: Workbench) -> dict[str, Any]:
    by_q, by_v = _motion_derivatives(w)
    return {"dtau_dq": by_q, "dtau_dv": by_v}


def _forward_derivatives(w: Workbench) -> dict[str, Any]:
    """From the implicit relation: M dvdot = -d tau at the acceleration found, and dvdot/dtau = M^-1."""
    bias = w.inverse(w.rest)
    vdot = w.solve([t - b for t, b in zip(w.block("tau"), bias, strict=True)])
    by_q, by_v = _motion_derivatives(w)
    at = dict(zip(w.block("vdot"), vdot, strict=True))
    n, g = w.tree.nv, w.system.graph
    by_q, by_v = ([substitute(row, at) for row in table] for table in (by_q, by_v))
    tables = {}
    for name, table in (("dvdot_dq", by_q), ("dvdot_dv", by_v)):
        columns = [w.solve([-table[i][j] for i in range(n)]) for j in range(n)]
        tables[name] = [list(row) for row in zip(*columns, strict=True)]
    units = [[g.one if i == j else g.zero for i in range(n)] for j in range(n)]
    tables["dvdot_dtau"] = [list(row) for row in zip(*(w.solve(unit) for unit in units), strict=True)]
    return {"vdot": vdot, **tables}


@dataclass(frozen=True)
class Quantity:
    """A quantity: what it is a function of, and how it is built."""

    name: str
    of: tuple[str, ...]
    build: Callable[[Workbench], dict[str, Any]] = field(repr=False)
    needs_frame: bool = False


QUANTITIES: dict[str, Quantity] = {
    q.name: q
    for q in (
        Quantity("inverse_dynamics", ("q", "v", "vdot"), _inverse_dynamics),
        Quantity("forward_dynamics", ("q", "v", "tau"), _forward_dynamics),
        Quantity("mass_matrix", ("q",), lambda w: {"mass_matrix": w.matrix}),
        Quantity("bias", ("q", "v"), _bias),
        Quantity("gravity", ("q",), _gravity),
        Quantity("coriolis", ("q", "v"), _coriolis),
        Quantity("kinetic_energy", ("q", "v"), _energies("kinetic_energy")),
        Quantity("potential_energy", ("q",), _energies("potential_energy")),
        Quantity("momentum", ("q", "v"), _energies("momentum")),
        Quantity("rates", ("q", "v"), _rates),
        Quantity("inverse_dynamics_derivatives", ("q", "v", "vdot"), _inverse_derivatives),
        Quantity("forward_dynamics_derivatives", ("q", "v", "tau"), _forward_derivatives),
        Quantity("pose", ("q",), _pose, needs_frame=True),
        Quantity("velocity", ("q", "v"), _velocity, needs_frame=True),
        Quantity("jacobian", ("q",), _jacobian, needs_frame=True),
        Quantity("acceleration", ("q", "v", "vdot"), _acceleration, needs_frame=True),
    )
}


def function_of(
    mechanism: Mechanism, quantity: str, options: Options | None = None, fixed: Mapping[str, float] | None = None
) -> Function:
    """A quantity of a mechanism as a function."""
    if quantity not in QUANTITIES:
        raise ArgumentError(f"no quantity '{quantity}'", expected=", ".join(QUANTITIES))
    entry, bench = QUANTITIES[quantity], Workbench(mechanism, options, fixed)
    outputs = entry.build(bench)
    system = bench.system
    own = {"q": system.q, "v": system.v}
    blocks = [own[name] if name in own else bench.block(name) for name in entry.of]
    flat: list[Expr] = []
    _collect(list(outputs.values()), flat)
    used = {node.data[0] for node in reachable(flat) if node.op is ops.SYMBOL}
    blocks += [b for b in (system.graph.blocks["t"], system.u, system.p) if b.name in used]
    return Function(quantity, blocks, outputs)


def _collect(value: Any, into: list[Expr]) -> None:
    if isinstance(value, Expr):
        into.append(value)
    else:
        for item in value:
            _collect(item, into)
