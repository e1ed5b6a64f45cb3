"""Linear models about a state: dx/dt = A x + B u, y = C x + D u for small deviations, loops and constraints included.

A deviation of the tree is (d, dv): d along the speeds, dq = G d. Neighbours of a motion obey, with vdot(q, v, u) the
accelerations under all constraints,

    d(d)/dt  = W d + dv                              W = G^+ (d(G v)/dq G - dG/dt), zero where speeds are rates of q
    d(dv)/dt = dvdot/dq d + dvdot/dv dv + dvdot/du du

and the constraints h = 0, r = 0 allow those with H d = 0 and dr/dq d + A dv = 0. Some coordinates and speeds are
independent, the others follow from these rows: (d, dv) = T x. Motions stay within the constraints, so the rows of the
independent ones are a closed system, and exact: no constraint is replaced by its derivative.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from torseur.dynamics.constraints.rank import ClosedStates, dependent_columns, followers, rank_here
from torseur.errors import ArgumentError, NumericalError
from torseur.model.assembly import coordinates_from, speeds_from
from torseur.model.function import check_names
from torseur.model.modes import Mode, Stability, modes_of, stability_of, table_of
from torseur.model.rows import numeric_rows, rates_of

if TYPE_CHECKING:
    from torseur.model.model import Model

__all__ = ["Linearised", "displacement_names", "linearised", "state_of"]

Array = NDArray[np.float64]

ALLOWED = 1e-7
"""The largest gap and slip at a state that counts as one the constraints allow, m, rad and per second."""


@dataclass(frozen=True)
class Linearised:
    """A linear model: dx/dt = A x + B u, y = C x + D u, all of them deviations.

    Attributes:
        A, B, C, D: the matrices.
        states: names of x: independent coordinates, then independent speeds. Where a speed is no rate of a coordinate
            (body axes of a floating base), the displacement along it is called along_<speed>.
        inputs: names of u; tau_<speed> is a generalised force.
        outputs: names of y.
        q, v: the state it is about.
        vdot: the accelerations there; zero at an equilibrium and in a steady motion.
        T: (2 nv, states): displacements along all speeds, then all speeds, by x.
        displacements: names of the first nv rows of T.
    """

    A: Array
    B: Array
    C: Array
    D: Array
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    q: Array
    v: Array
    vdot: Array
    T: Array
    displacements: tuple[str, ...]

    @cached_property
    def modes(self) -> tuple[Mode, ...]:
        """Oscillations first, slow to fast, then what does not oscillate.

        >>> len(ts.linearise(arm, at=ts.equilibrium(arm)).modes)
        4
        """
        return modes_of(self.A, self.T[: len(self.displacements)], self.displacements)

    @property
    def eigenvalues(self) -> NDArray[np.complex128]:
        """The poles, all of them, by real part.

        >>> ts.linearise(arm, at=ts.equilibrium(arm)).eigenvalues.shape
        (4,)
        """
        return np.asarray(sorted(np.linalg.eigvals(self.A), key=lambda x: (x.real, x.imag)), dtype=complex)

    @property
    def is_steady(self) -> bool:
        """Whether the speeds stay as they are: only then is the model one for all times.

        >>> ts.linearise(arm, at=ts.equilibrium(arm)).is_steady
        True
        """
        return bool(np.abs(self.vdot).max(initial=0.0) <= 1e-6)

    @property
    def stability(self) -> Stability:
        """Whether small motions die out, in a word.

        >>> ts.linearise(arm, at=ts.equilibrium(arm)).stability
        <Stability.UNSTABLE: 'some small disturbances grow'>
        """
        return stability_of(self.modes)

    def text(self) -> str:
        """The modes as a table.

        >>> print(ts.linearise(arm, at=ts.equilibrium(arm)).text().splitlines()[0])
               alpha, 1/s  omega, rad/s  frequency, Hz   damping  shape
        """
        note = "" if self.is_steady else "the state is not steady: this holds for an instant only\n"
        return note + table_of(self.modes)

    __str__ = text

    def __repr__(self) -> str:
        n = len(self.states), len(self.inputs), len(self.outputs)
        return f"<Linearised: {n[0]} states, {n[1]} inputs, {n[2]} outputs, {self.stability.name.lower()}>"

    def _repr_html_(self) -> str:
        """For notebooks."""
        return str(import_module("torseur.views.notebook").linearised_html(self))


def linearised(
    model: Model,
    at: Any = None,
    *,
    inputs: Sequence[str] | None = None,
    outputs: Sequence[str] | None = None,
    independent: Sequence[str] = (),
    tau: ArrayLike | None = None,
    t: float | None = None,
    input_values: ArrayLike | Mapping[str, ArrayLike] | None = None,
    parameters: ArrayLike | Mapping[str, ArrayLike] | None = None,
) -> Linearised:
    """The linear model of a mechanism about a state; see `torseur.linearise`."""
    keywords = {"t": t, "inputs": input_values, "parameters": parameters}
    q, v = state_of(model, at, keywords)
    point = _Point(model, q, v, np.zeros(model.nv) if tau is None else np.asarray(tau, dtype=float), keywords)
    point.check()
    return point.model_with(point.inputs(inputs), point.outputs(outputs), list(independent))


def state_of(model: Model, at: Any, keywords: Mapping[str, Any]) -> tuple[Array, Array]:
    """A state: the start of the description, what has q and v, a pair of arrays, or some values by name, held."""
    if at is None or isinstance(at, Mapping):
        given = dict(at or {})
        coordinates, speeds = ({x.name for x in some} for some in (model.coordinates, model.speeds))
        check_names(given, [*coordinates, *speeds], "coordinate or speed")
        state = model.assemble(
            {n: x for n, x in given.items() if n in coordinates},
            speeds={n: x for n, x in given.items() if n not in coordinates},
            hold=list(given),
            **keywords,
        )
        return state.q, state.v
    pair = (at.q, at.v) if hasattr(at, "q") and hasattr(at, "v") else at
    if not isinstance(pair, list | tuple) or len(pair) != 2:
        raise ArgumentError(
            "a linear model is about a state",
            where="argument 'at'",
            expected="(q, v), what has q and v, or values by name",
            got=repr(at)[:80],
        )
    q, v = pair
    q, v = coordinates_from(model, q), speeds_from(model, v)
    if q.ndim != 1 or v.ndim != 1:
        raise ArgumentError("a linear model is about one state", got=f"q {q.shape}, v {v.shape}")
    return q, v


def displacement_names(model: Model) -> tuple[str, ...]:
    """For each speed the coordinate it is the rate of, or along_<speed>."""
    rates = rates_of(model.mechanism)
    return tuple(
        model.coordinates[rates[k]].name if k in rates else f"along_{x.name}" for k, x in enumerate(model.speeds)
    )


@dataclass(frozen=True)
class _Point:
    """A state of a model, and the derivatives there."""

    model: Model
    q: Array
    v: Array
    tau: Array
    keywords: dict[str, Any]

    def at(self, quantity: str, *args: Array) -> Any:
        return self.model.function(quantity)(*args, **self.keywords)

    @cached_property
    def holonomic(self) -> list[int]:
        return [k for k, row in enumerate(self.model.constraint_rows) if row.holonomic]

    @cached_property
    def A(self) -> Array:
        return np.asarray(self.at("constraint_jacobian", self.q))

    @cached_property
    def scaled(self) -> Array:
        """The rows in one unit."""
        return ClosedStates(numeric_rows(self.model, self.keywords), self.q).here

    def check(self) -> None:
        """A state that the constraints allow, at which they keep their rank."""
        if not self.model.constraint_rows:
            return
        gap = np.abs(self.at("closure", self.q)).max() if self.holonomic else 0.0
        slip = np.abs(self.at("constraint_rates", self.q, self.v)).max()
        if max(gap, slip / max(1.0, float(np.abs(self.v).max()))) > ALLOWED:
            raise ArgumentError(
                "the constraints do not allow this state",
                where=self.model.mechanism.name,
                got=f"a gap of {gap:.3g} m or rad, and {slip:.3g} m/s or rad/s",
                remedy="assemble it first: at=assemble(...), or give values by name",
            )
        if rank_here(self.scaled) < len(self.model.constraint_rows):
            mobility = self.model.mobility(self.q, **self.keywords)
            if mobility.is_singular:
                raise NumericalError(
                    "no linear model holds at a singular position",
                    where=self.model.mechanism.name,
                    got="; ".join(mobility.lines()),
                    remedy="go a little away from it",
                )

    # -- names ---------------------------------------------------------------------------------------------------------
    def inputs(self, asked: Sequence[str] | None) -> tuple[str, ...]:
        """Inputs of the description and generalised forces; those that move constraints have no place here."""
        own = list(self.model.mechanism.inputs)
        forces = [f"tau_{x.name}" for x in self.model.speeds]
        movers = {n for row in self.model.constraint_rows for n in row.inputs}
        if asked is None:
            return tuple(n for n in own if n not in movers) if own else tuple(forces)
        check_names(dict.fromkeys(asked), [*own, *forces], "input")
        wrong = [n for n in asked if n in movers]
        if wrong:
            raise ArgumentError(
                "inputs that move a constraint act through their first and second derivatives",
                got=", ".join(wrong),
                expected="inputs of loads",
                remedy="drive the coordinate by a force, or leave these inputs out",
            )
        return tuple(asked)

    def outputs(self, asked: Sequence[str] | None) -> tuple[str, ...]:
        own = list(self.model.mechanism.outputs)
        states = [*displacement_names(self.model), *(x.name for x in self.model.speeds)]
        if asked is None:
            return tuple(own or states)
        check_names(dict.fromkeys(asked), [*own, *states], "output")
        return tuple(asked)

    # -- matrices ------------------------------------------------------------------------------------------------------
    @cached_property
    def W(self) -> Array:
        G, E = self.at("rate_derivatives", self.q, self.v)
        return np.asarray(np.linalg.pinv(G) @ E)

    def split(self, keep: list[int]) -> tuple[list[int], list[int]]:
        """Dependent displacements and dependent speeds."""
        if not self.model.constraint_rows:
            return [], []
        positions = dependent_columns(self.scaled[self.holonomic], keep=keep) if self.holonomic else []
        return positions, dependent_columns(self.scaled, first=positions, keep=keep)

    def tangent(self, positions: list[int], speeds: list[int]) -> tuple[Array, list[int]]:
        """T (2 nv, states), and the places of the states in its rows."""
        n = self.model.nv
        free = [[k for k in range(n) if k not in some] for some in (positions, speeds)]
        T = np.zeros((2 * n, len(free[0]) + len(free[1])))
        states = [*free[0], *(n + k for k in free[1])]
        T[states, range(len(states))] = 1.0
        if positions:
            T[positions, : len(free[0])] = followers(self.A[self.holonomic], positions)
        if speeds:
            dr_dq = np.asarray(self.at("constraint_derivatives", self.q, self.v)[0])
            T[[n + k for k in speeds], len(free[0]) :] = followers(self.A, speeds)
            T[[n + k for k in speeds], : len(free[0])] = followers(self.A, speeds, -dr_dq @ T[:n, : len(free[0])])
        return T, states

    def model_with(self, inputs: tuple[str, ...], outputs: tuple[str, ...], independent: list[str]) -> Linearised:
        n, names = self.model.nv, displacement_names(self.model)
        all_names = (*names, *(x.name for x in self.model.speeds))
        positions, speeds = self.split(self._kept(independent, all_names))
        T, states = self.tangent(positions, speeds)
        vdot, by_q, by_v, by_tau = map(np.asarray, self.at("forward_dynamics_derivatives", self.q, self.v, self.tau))
        F = np.block([[self.W, np.eye(n)], [by_q, by_v]])
        by_inputs = np.zeros((2 * n, len(inputs)))
        by_inputs[n:] = self._by_inputs(inputs, vdot, by_tau)
        C, D = self._outputs(outputs, inputs, T, all_names)
        chosen = tuple(all_names[k] for k in states)
        missing = [name for name in independent if name not in chosen]
        if missing:
            raise ArgumentError(
                "coordinates or speeds that depend on the others cannot be independent",
                got=", ".join(missing),
                expected=f"some of {len(states)} such as {', '.join(chosen)}",
            )
        A = _without_rounding(F[states] @ T, np.abs(F[states]) @ np.abs(T))
        return Linearised(A, by_inputs[states], C, D, chosen, inputs, outputs, self.q, self.v, vdot, T, names)

    def _kept(self, independent: list[str], names: tuple[str, ...]) -> list[int]:
        """Places (of displacements and of speeds alike) that are to stay independent."""
        check_names(dict.fromkeys(independent), list(names), "coordinate or speed")
        return sorted({names.index(name) % self.model.nv for name in independent})

    def _by_inputs(self, inputs: tuple[str, ...], vdot: Array, by_tau: Array) -> Array:
        """dvdot/du (nv, inputs)."""
        own = list(self.model.mechanism.inputs)
        columns = np.zeros((self.model.nv, len(inputs)))
        if any(n in own for n in inputs):
            given: dict[str, Any] = {"normals": self._normals} if self.model.mechanism.normals_read else {}
            by_inputs = self.model.function("inverse_dynamics_by_inputs")
            by_u = -by_tau @ np.asarray(by_inputs(self.q, self.v, vdot, **given, **self.keywords))
        forces = [f"tau_{x.name}" for x in self.model.speeds]
        for k, name in enumerate(inputs):
            columns[:, k] = by_u[:, own.index(name)] if name in own else by_tau[:, forces.index(name)]
        return columns

    @property
    def _normals(self) -> Array:
        """Normal forces at the state, those that laws see."""
        lam = np.asarray(self.at("multipliers", self.q, self.v, self.tau)[0])
        return np.maximum(self.model.normals_of(lam), 0.0)

    def _outputs(
        self, outputs: tuple[str, ...], inputs: tuple[str, ...], T: Array, names: tuple[str, ...]
    ) -> tuple[Array, Array]:
        own, signals = list(self.model.mechanism.outputs), list(self.model.mechanism.inputs)
        C, D = np.zeros((len(outputs), T.shape[1])), np.zeros((len(outputs), len(inputs)))
        if any(n in own for n in outputs):
            derivatives = map(np.asarray, self.at("output_derivatives", self.q, self.v, self.tau))
            _, by_q, by_v, by_tau, *by_u = derivatives
            direct = np.hstack([*by_u, by_tau])
            signals = [*signals, *(f"tau_{x.name}" for x in self.model.speeds)]
        for k, name in enumerate(outputs):
            if name not in own:
                C[k] = T[names.index(name)]
                continue
            C[k] = np.concatenate([by_q[own.index(name)], by_v[own.index(name)]]) @ T
            D[k] = [direct[own.index(name), signals.index(u)] for u in inputs]
        return C, D


def _without_rounding(A: Array, terms: Array) -> Array:
    """A with zeros where there is nothing but rounding in the sums: what does not matter shall not matter at all."""
    return np.where(np.abs(A) <= 1e-14 * np.maximum(terms, np.abs(A).max(initial=0.0)), 0.0, A)
