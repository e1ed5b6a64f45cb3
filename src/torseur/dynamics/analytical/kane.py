"""Kane's method for holonomic and nonholonomic systems: the ten steps of DeSantis 1996, section 5.

======  ==========================================================================================  ================
chi     places and orientations of the bodies, chi = f(q)                                            (5.1)
nu      their velocities, each in its own axes: nu = J_h qdot                                        (5.2)
H       rows of the constraints: H(q) qdot = 0                                                       (2.10)
alpha   independent speeds: qdot = J_nh alpha, H J_nh = 0                                            (5.3), (2.13)
J       J_h J_nh: nu = J alpha                                                                       (5.4), (5.5)
M, W    masses and angular velocities of the bodies, block by block                                  (5.6)-(5.9)
omega   forces and moments on the bodies that no constraint makes                                    (5.10), (5.11)
D       J' M J                                                                                       (5.12)
C       J' (M dJ/dt + W M J)                                                                         (5.13)
g_0     -D^-1 C alpha                                                                                (5.14)
g_w     D^-1                                                                                         (5.15)
tau     J' omega                                                                                     (5.16)
        alphadot = g_0 + g_w tau                                                                     (5.17)
======  ==========================================================================================  ================

with the corrections of the errata: the dot over J in (5.13) is lost in print. Beyond the document:

- q is that of the tree of joints, so loops and couplings have rows in H beside those of wheels.
- Driven motions (a moving base, a prescribed coordinate, a moving floor) leave qdot = J_nh alpha + s and nu = J alpha +
  nu_0; they add the force d = J' (M dnu_0/dt + W M nu_0): D alphadot = -C alpha - d + tau.
- Forces of loads along coordinates act through J_nh: tau = J' omega + N' Q, where v = N alpha gives the speeds of the
  model. Where the speeds are not as many as the coordinates (quaternions), v stands in place of qdot.
- C is a function of q and of speeds that the constraints allow.
- Reactions: the multipliers lambda of the rows, with the forces A' lambda on the speeds (remark 4.1).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from torseur.dynamics.analytical.readable_reduction import Reading, Simplify, as_it_is, solved, steady_speeds
from torseur.dynamics.analytical.rigid_bodies import RigidBody, rigid_bodies
from torseur.dynamics.constrained_motion.reduction import Reduction
from torseur.dynamics.matrices import Matrix, dot, times, transposed
from torseur.dynamics.tree.system import System, joints, rates, velocity_of
from torseur.dynamics.workbench import Workbench
from torseur.errors import ModelError
from torseur.graph import Expr, Role, jacobian, substitute, tangents
from torseur.graph.function import reachable

__all__ = ["Kane", "kane", "kane_quantity"]


@dataclass(frozen=True)
class Kane:
    """All that the ten steps give, as expressions; matrices are lists of rows.

    Attributes:
        bodies: the bodies with mass, and rotors. Steps 1, 3, 7 and 8: chi, M_i, W_i, omega_i.
        coordinates, velocities, alpha_names: the names of q, of what J_h and H multiply, and of alpha.
        repeating: rows that others imply at all positions; their multipliers are not told apart, and zero here.
        by_rates: whether that is dq/dt, as in the document, or v.
        J_h: (rows of all bodies, velocities). Step 4.
        H, c: H velocities + c = 0. Step 5, with J_nh, s and alpha.
        J, J_dot: step 6.
        Q: forces of loads along v. Step 8.
        D, C, d, g_0, g_w, tau: step 9. `d` is empty where nothing is driven.
        controls: input -> dtau/du, where tau is linear in the inputs; `inputs` are their symbols.
        alphadot, qdot: step 10.
        reactions: lambda of each row, for accelerations as symbols.
    """

    bodies: tuple[RigidBody, ...]
    coordinates: tuple[str, ...]
    velocities: tuple[str, ...]
    alpha_names: tuple[str, ...]
    row_names: tuple[str, ...]
    repeating: tuple[str, ...]
    by_rates: bool
    J_h: Matrix
    H: Matrix
    c: list[Expr]
    alpha: list[Expr]
    J_nh: Matrix
    s: list[Expr]
    J: Matrix
    J_dot: Matrix
    Q: list[Expr]
    D: Matrix
    C: Matrix
    d: list[Expr]
    g_0: list[Expr]
    g_w: Matrix
    tau: list[Expr]
    controls: dict[str, list[Expr]]
    inputs: tuple[Expr, ...]
    alphadot: list[Expr]
    qdot: list[Expr]
    reactions: list[Expr]


def kane(w: Workbench, *, symbols: bool = True, simplify: Simplify = as_it_is) -> Kane:
    """The ten steps in one call.

    Args:
        w: the mechanism; its options name the independent speeds or define quasi-speeds, or leave the choice.
        symbols: keep quasi-speeds, prescribed speeds and accelerations as symbols, to be read; without, they are
            expressions of q, v and t, to be computed.
        simplify: what is done to expressions on the way, where they are to be read.
    """
    r: Reading | Reduction = Reading(w, simplify) if symbols else Reduction(steady_speeds(w))
    if not r.k:
        raise ModelError("the constraints leave no degree of freedom", where=w.system.mechanism.name)
    system, (bodies, Q) = w.system, rigid_bodies(w)
    alpha, rate = _alpha(r, symbols)
    short = _Short(r, alpha, simplify)
    parts = _parts(r, bodies, short)
    D, C = short.matrix(parts.D), short.matrix(parts.C)
    tau = short.column(_plus(parts.tau, times(transposed(r.N), Q)))
    d = [] if all(x is system.graph.zero for x in parts.d) else short.column(parts.d)
    g_0, g_w = _state_form(D, C, d, alpha, simplify)
    G, E, by_rates = _by_rates(system)
    felt = [f - q for f, q in zip(parts.felt(alpha, rate), Q, strict=True)]
    by_input = jacobian(tau, list(system.u)).dense() if len(system.u) else []
    return Kane(
        bodies=tuple(bodies),
        coordinates=tuple(system.q.names),
        velocities=tuple(f"d{name}" for name in system.q.names) if by_rates else tuple(system.v.names),
        alpha_names=r.independent.names,
        row_names=tuple(row.name for row in r.constraints.rows),
        repeating=tuple(r.constraints.rows[i].name for i in r.repeating) if isinstance(r, Reading) else (),
        by_rates=by_rates,
        J_h=_product(parts.J_v, E),
        H=_product(r.A, E),
        c=[-x for x in r.right_sides],
        alpha=alpha,
        J_nh=_product(G, r.N) if by_rates else r.N,
        s=times(G, r.n) if by_rates else r.n,
        J=parts.J,
        J_dot=parts.J_dot,
        Q=Q,
        D=D,
        C=C,
        d=d,
        g_0=short.column(g_0) if len(D) > 1 else g_0,
        g_w=short.matrix(g_w) if len(D) > 1 else g_w,
        tau=tau,
        controls=_controls(system, by_input),
        inputs=tuple(system.u),
        alphadot=_plus(g_0, times(g_w, tau)),
        qdot=rates(system),
        reactions=r.multipliers(felt) if r.A else [],
    )


def _controls(system: System, by_input: Matrix) -> dict[str, list[Expr]]:
    """Input -> its column of tau, where tau is linear in the inputs; none where it is not."""
    u = set(system.u)
    if any(node in u for node in reachable([x for row in by_input for x in row])):
        return {}
    columns = dict(zip(system.u.names, transposed(by_input), strict=True)) if by_input else {}
    return {name: column for name, column in columns.items() if any(x is not system.graph.zero for x in column)}


class _Short:
    """Expressions of the independent speeds alone, and simplified, as far as that keeps them short."""

    def __init__(self, r: Reading | Reduction, alpha: Sequence[Expr], simplify: Simplify) -> None:
        self._simplify, self._known = simplify, dict[Expr, Expr]()
        if simplify is not as_it_is:
            own = set(alpha)
            all_speeds = simplify(_plus(times(r.N, alpha), r.n))
            self._known = {v: x for v, x in zip(r.w.system.v, all_speeds, strict=True) if v not in own and v is not x}

    def column(self, exprs: Sequence[Expr]) -> list[Expr]:
        return self._simplify(substitute(list(exprs), self._known) if self._known else exprs)

    def matrix(self, rows: Matrix) -> Matrix:
        flat = iter(self.column([x for row in rows for x in row]))
        return [[next(flat) for _ in row] for row in rows]


def kane_quantity(w: Workbench) -> dict[str, Any]:
    """D, C, tau, g_0, g_w and, where motions are driven, d, for a state q, v that the constraints allow."""
    method = kane(w, symbols=False)
    driven = {"d": method.d} if method.d else {}
    return {"D": method.D, "C": method.C, **driven, "tau": method.tau, "g_0": method.g_0, "g_w": method.g_w}


# -- sums over the bodies ----------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class _Parts:
    """Matrices of all bodies, and what is made of them body by body: M and W are block diagonal. nu = J_v v."""

    bodies: Sequence[RigidBody]
    J_v: Matrix
    J: Matrix
    J_dot: Matrix
    nu_0: list[Expr]
    nu_0_dot: list[Expr]

    @property
    def _spans(self) -> list[tuple[RigidBody, slice]]:
        spans, first = [], 0
        for body in self.bodies:
            spans.append((body, slice(first, first + len(body.rows))))
            first += len(body.rows)
        return spans

    @property
    def D(self) -> Matrix:
        """J' M J."""
        return self._projected(lambda body, span: _product(body.M, self.J[span]))

    @property
    def C(self) -> Matrix:
        """J' (M dJ/dt + W M J)."""
        return self._projected(
            lambda body, span: _sum(
                _product(body.M, self.J_dot[span]),
                _product(body.W, _product(body.M, self.J[span])),
            )
        )

    @property
    def tau(self) -> list[Expr]:
        """J' omega."""
        return times(transposed(self.J), [x for body in self.bodies for x in body.omega])

    @property
    def d(self) -> list[Expr]:
        """J' (M dnu_0/dt + W M nu_0)."""
        forces = [self._inertial(body, self.nu_0[span], self.nu_0_dot[span]) for body, span in self._spans]
        return times(transposed(self.J), [x for force in forces for x in force])

    def felt(self, alpha: Sequence[Expr], rate: Sequence[Expr]) -> list[Expr]:
        """J_v' (M nudot + W M nu - omega): what the speeds of the tree feel of a motion, loads along them aside."""
        nu = _plus(times(self.J, alpha), self.nu_0)
        nu_dot = _plus(_plus(times(self.J, rate), times(self.J_dot, alpha)), self.nu_0_dot)
        forces: list[Expr] = []
        for body, span in self._spans:
            inertial = self._inertial(body, nu[span], nu_dot[span])
            forces += [f - x for f, x in zip(inertial, body.omega, strict=True)]
        return times(transposed(self.J_v), forces)

    def _inertial(self, body: RigidBody, nu: list[Expr], nu_dot: list[Expr]) -> list[Expr]:
        """M nudot + W M nu."""
        return _plus(times(body.M, nu_dot), times(body.W, times(body.M, nu)))

    def _projected(self, of: Callable[[RigidBody, slice], Matrix]) -> Matrix:
        total: Matrix | None = None
        for body, span in self._spans:
            part = _product(transposed(self.J[span]), of(body, span))
            total = part if total is None else _sum(total, part)
        if total is None:
            raise ModelError("no body with mass moves", expected="an inertia in the description")
        return total


def _parts(r: Reading | Reduction, bodies: Sequence[RigidBody], short: _Short) -> _Parts:
    """nu = J_v v + apart, v = N alpha + n, and their rates."""
    v, seeds = list(r.w.system.v), r.seeds if isinstance(r, Reading) else r.constraints.seeds
    nu = [x for body in bodies for x in body.nu]
    J_v = short.matrix(jacobian(nu, v).dense())
    apart = substitute(nu, dict.fromkeys(v, 0.0))
    flat = iter(tangents([x for row in J_v for x in row], seeds))
    J_v_dot = [[next(flat) for _ in row] for row in J_v]
    nu_0_dot = _plus(_plus(times(J_v_dot, r.n), times(J_v, r.n_dot)), tangents(apart, seeds))
    J_dot = _sum(_product(J_v_dot, r.N), _product(J_v, r.N_dot))
    J = short.matrix(_product(J_v, r.N))
    return _Parts(bodies, J_v, J, short.matrix(J_dot), _plus(times(J_v, r.n), apart), nu_0_dot)


def _state_form(
    D: Matrix, C: Matrix, d: list[Expr], alpha: Sequence[Expr], simplify: Simplify
) -> tuple[list[Expr], Matrix]:
    """g_0 and g_w."""
    g, k = alpha[0].graph, len(D)
    if all(x is g.zero for row in D for x in row):
        raise ModelError("what is free to move has no mass", expected="an inertia in the description")
    right = [-x for x in times(C, alpha)]
    right = [x - y for x, y in zip(right, d, strict=True)] if d else right
    units = [[g.one if i == j else g.zero for j in range(k)] for i in range(k)]
    return solved(D, right, simplify), transposed([solved(D, unit, simplify) for unit in units])


# -- speeds ------------------------------------------------------------------------------------------------------------
def _alpha(r: Reading | Reduction, symbols: bool) -> tuple[list[Expr], list[Expr]]:
    """alpha and alphadot: speeds and accelerations of v where they are plain; symbols of their own, or expressions."""
    vdot = r.w.block("vdot").symbols
    places = r.independent.places
    quasi = [name for name, place in zip(r.independent.names, places, strict=True) if place is None]
    if not quasi:
        return list(r.independent.values), [vdot[place] for place in places if place is not None]
    g = r.graph
    rates_of = iter(g.block("alphadot", len(quasi), Role.STATE, names=[f"{name}dot" for name in quasi]))
    rate = [next(rates_of) if place is None else vdot[place] for place in places]
    if not symbols:
        return list(r.independent.values), rate
    own = iter(g.block("alpha", len(quasi), Role.STATE, names=quasi))
    value_of = zip(places, r.independent.values, strict=True)
    return [next(own) if place is None else value for place, value in value_of], rate


def _by_rates(system: System) -> tuple[Matrix, Matrix, bool]:
    """G with dq/dt = G v, its inverse E, and whether there is one; without, E is the unit matrix."""
    g, n = system.graph, len(system.v)
    G = jacobian(rates(system), list(system.v)).dense() if n else []
    E = [[g.one if i == k else g.zero for k in range(n)] for i in range(n)]
    if len(system.q) != n:
        return G, E, False
    first = 0
    for kind, q, v in joints(system):
        if any(x is not y for x, y in zip(kind.rates(g, q, v), v, strict=True)):
            columns = kind.subspace(g, q)
            for j, coordinate in enumerate(q):
                moving = velocity_of(kind.pose(g, q), {coordinate: g.one})
                for i, column in enumerate(columns):  # unit vectors, square to each other
                    E[first + i][first + j] = dot(column.six, moving.six)
        first += kind.nv
    return G, E, True


# -- algebra -----------------------------------------------------------------------------------------------------------
def _product(A: Matrix, B: Matrix) -> Matrix:
    columns = transposed(B)
    return [[dot(row, column) for column in columns] for row in A]


def _sum(A: Matrix, B: Matrix) -> Matrix:
    return [_plus(a, b) for a, b in zip(A, B, strict=True)]


def _plus(a: Sequence[Expr], b: Sequence[Expr]) -> list[Expr]:
    return [x + y for x, y in zip(a, b, strict=True)]
