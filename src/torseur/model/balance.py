"""Forces in the balance at one state with closed loops: what is left of them, and steps that leave less."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from torseur.describe.constraints import Contact, Rolling
from torseur.dynamics.constraints.rank import ClosedStates, null_space, rank_here
from torseur.errors import NumericalError
from torseur.model.assembly import held_matrix
from torseur.model.linearisation import displacement_names
from torseur.model.rows import numeric_rows
from torseur.spatial.joints import Quantity

if TYPE_CHECKING:
    from torseur.model.equilibria import Search
    from torseur.model.model import Model

__all__ = ["Point", "State"]

Array = NDArray[np.float64]

SINGULAR = 1e-9
"""Singular values below this part of the largest are zeros."""


@dataclass(frozen=True)
class State:
    """Coordinates, speeds and inputs."""

    q: Array
    v: Array
    u: Array


@dataclass(frozen=True)
class Point:
    """A state on the way, with closed loops, and what acts there."""

    search: Search
    x: State
    size: float
    """Of the forces that take part, by which those left are measured."""

    @property
    def model(self) -> Model:
        return self.search.model

    @cached_property
    def A(self) -> Array:
        if not self.model.constraint_rows:
            return np.zeros((0, self.model.nv))
        return np.asarray(self.search.at("constraint_jacobian", self.x, self.x.q))

    @cached_property
    def f(self) -> Array:
        """bias - tau (nv)."""
        return self._forces(self.normals)

    def _forces(self, normals: Array) -> Array:
        given = {"normals": normals} if self.reads_normals else {}
        return np.asarray(self.search.at("bias", self.x, self.x.q, self.x.v, **given)) - self.search.tau

    @property
    def reads_normals(self) -> bool:
        return bool(self.model.mechanism.normals_read)

    @cached_property
    def normals(self) -> Array:
        """Normal forces, as laws see them: N = max(S lambda(f(N)), 0), by Newton's method."""
        model = self.model
        N = np.zeros(len(model.mechanism.pushing))
        if not self.reads_normals:
            return N
        model.ranks.check_normals()
        for _ in range(50):
            f, slopes = self._forces(N), self._by_normals(N)
            miss = N - np.maximum(self._pushes(f), 0.0)
            D = np.eye(len(N)) - np.where(self._pushes(f) > 0.0, 1.0, 0.0)[:, None] * self._pushes(slopes)
            step = np.linalg.lstsq(D, miss, rcond=None)[0]
            N = N - step
            if np.abs(step).max(initial=0.0) <= 1e-13 * max(1.0, np.abs(N).max(initial=0.0)):
                break
        return np.maximum(N, 0.0)

    def _by_normals(self, normals: Array) -> Array:
        """df/dN (nv, contacts and rolling wheels)."""
        rest = np.zeros(self.model.nv)
        forces = self.search.at("inverse_dynamics_by_normals", self.x, self.x.q, self.x.v, rest, normals=normals)
        return np.asarray(forces)

    def _pushes(self, f: Array) -> Array:
        """The normal forces under forces (nv,), or those of each column (nv, k)."""
        return self.model.normals_of(self._pulls @ f)

    @cached_property
    def _pulls(self) -> Array:
        """lambda by f (rows, nv)."""
        lam = np.linalg.pinv(self.A.T, rcond=SINGULAR)
        return np.asarray(lam - lam @ self._holds)

    @cached_property
    def _holds(self) -> Array:
        """What holds the held coordinates, by f (nv, nv)."""
        if not self.search.is_clamped:
            return np.zeros((self.model.nv, self.model.nv))
        S = held_matrix(self.model, self.x.q, self.search.held)
        both = np.vstack([self.A, S])
        return np.asarray(S.T @ np.linalg.pinv(both.T, rcond=SINGULAR)[len(self.A) :])

    @cached_property
    def lam(self) -> Array:
        return np.asarray(self._pulls @ self.f) if len(self.A) else np.zeros(0)

    @property
    def holding(self) -> Array:
        """What holds the held coordinates."""
        return np.asarray(self._holds @ self.f)

    @cached_property
    def steps(self) -> Array:
        """A basis of the displacements that may be."""
        held = held_matrix(self.model, self.x.q, self.search.held) if self.search.held else self.A[:0]
        return null_space(np.vstack([self.A, held]), self.model.nv)

    @cached_property
    def free(self) -> Array:
        """A basis of the motions along which forces must balance."""
        return self.steps if self.search.is_clamped else null_space(self.A, self.model.nv)

    @property
    def forces(self) -> Array:
        """What is left along the free motions (nv)."""
        return np.asarray(self.free @ (self.free.T @ self.f))

    @cached_property
    def rows(self) -> Array:
        """What is left of the rows of speeds and accelerations."""
        if not len(self.A):
            return np.zeros(0)
        names = ("constraint_rates", "constraint_bias")
        return np.concatenate([self.search.at(name, self.x, self.x.q, self.x.v) for name in names])

    @cached_property
    def merit(self) -> float:
        return float(np.linalg.norm([*(self.free.T @ self.f) / self.size, *self.rows]))

    @property
    def is_balanced(self) -> bool:
        fast = max(1.0, float(np.abs(self.x.v).max(initial=0.0)) ** 2)
        good = np.abs(self.forces).max(initial=0.0) <= self.search.settings.tolerance * self.size
        return bool(good and np.abs(self.rows).max(initial=0.0) <= 1e-9 * fast)

    # -- steps ---------------------------------------------------------------------------------------------------------
    @cached_property
    def stiffness(self) -> tuple[Array, Array]:
        """K (nv, nv), and df/dv (nv, nv)."""
        by_q, by_v = map(np.asarray, self._at("inverse_dynamics_derivatives"))
        if len(self.A):
            by_q = by_q - np.asarray(self.search.at("constraint_stiffness", self.x, self.x.q, self.lam))
        return self._with_normals(by_q), self._with_normals(by_v)

    def _at(self, quantity: str) -> Any:
        """A function of q, v and vdot, at rest."""
        given = {"normals": self.normals} if self.reads_normals else {}
        return self.search.at(quantity, self.x, self.x.q, self.x.v, np.zeros(self.model.nv), **given)

    def _with_normals(self, changes: Array) -> Array:
        """Changes of f (nv, k), with those that come by way of the normal forces."""
        if not self.reads_normals:
            return changes
        F = self._by_normals(self.normals) * np.where(self.normals > 0.0, 1.0, 0.0)
        dN = np.linalg.lstsq(np.eye(F.shape[1]) - self._pushes(F), self._pushes(changes), rcond=None)[0]
        return np.asarray(changes + F @ dN)

    def newton_step(self) -> tuple[Array, Array, Array]:
        """Displacement, speeds and inputs: the shortest change that solves the linearised equations."""
        search, x, Z = self.search, self.x, self.steps
        K, by_v = self.stiffness
        blocks = [K @ Z, by_v[:, search.free_speeds]]
        if search.free_inputs:
            by_u = self._with_normals(np.asarray(self._at("inverse_dynamics_by_inputs")))
            blocks.append(by_u[:, search.free_inputs] * self.size)
        J = self.free.T @ np.hstack(blocks) / self.size
        if len(self.A):
            dr_dq, db_dq, db_dv = map(np.asarray, search.at("constraint_derivatives", x, x.q, x.v))
            by_speeds = np.vstack([self.A, db_dv])[:, search.free_speeds]
            lower = np.hstack([np.vstack([dr_dq, db_dq]) @ Z, by_speeds])
            J = np.vstack([J, np.pad(lower, ((0, 0), (0, J.shape[1] - lower.shape[1])))])
        right = np.concatenate([self.free.T @ self.f / self.size, self.rows])
        step = -np.linalg.pinv(J, rcond=SINGULAR) @ right
        a, b = Z.shape[1], Z.shape[1] + len(search.free_speeds)
        d = self._cut(Z @ step[:a])
        return d, step[a:b], step[b:] * self.size

    def falling_step(self, s: float) -> Array:
        """(M / s^2 + K) d = -f along the free motions; s is taken less where that would not go with the forces."""
        Z, K = self.steps, self.stiffness[0]
        M = Z.T @ np.asarray(self.search.at("mass_matrix", self.x, self.x.q)) @ Z
        soft = Z.T @ (K + K.T) @ Z / 2.0
        for _ in range(60):
            stiff = M / s**2 + soft
            if np.linalg.eigvalsh(stiff)[0] > 0.0:
                break
            s *= 0.5
        return self._cut(-Z @ (np.linalg.pinv(stiff) @ (Z.T @ self.f)))

    def _cut(self, d: Array) -> Array:
        turns = [k for k, x in enumerate(self.model.speeds) if x.quantity is Quantity.ANGULAR_SPEED]
        return d * min(1.0, self.search.settings.largest_turn / max(float(np.abs(d[turns]).max(initial=0.0)), 1e-300))

    # -- words ---------------------------------------------------------------------------------------------------------
    @property
    def pulling(self) -> dict[str, float]:
        """One-sided rows with a force that they cannot have; none where forces are not unique, and may be others."""
        rows, table = self.model.constraint_rows, self.model.mechanism.constraints
        if rank_here(ClosedStates(numeric_rows(self.model, self.search.keywords), self.x.q).here) < len(rows):
            return {}
        pulls = {}
        for row, push in zip(rows, self.lam, strict=True):
            form = table[row.asked_by.name].form if row.asked_by.table == "constraints" else None
            one_sided = isinstance(form, Contact) or (isinstance(form, Rolling) and form.lifts and row.part == "height")
            if one_sided and push < -self.search.settings.tolerance * self.size:
                pulls[row.owner] = float(push)
        return pulls

    @property
    def indifferent(self) -> tuple[str, ...]:
        """Displacements without influence on the forces."""
        Z = self.steps
        if not Z.shape[1]:
            return ()
        _, s, Vt = np.linalg.svd(Z.T @ self.stiffness[0] @ Z)
        loose = Z @ Vt[s <= SINGULAR * max(float(s.max()), self.size)].T
        share = np.linalg.norm(loose, axis=1)
        return tuple(n for n, part in zip(displacement_names(self.model), share, strict=True) if part > 1e-6)

    def failure(self) -> NumericalError:
        """What pushes on, or what keeps the constraints moving."""
        push, model = -self.forces, self.model
        names = [f"{v.name} {p:.4g}" for v, p in zip(model.speeds, push, strict=True)]
        large = np.abs(push) > 0.1 * max(float(np.abs(push).max(initial=0.0)), 1e-300)
        words = ", ".join(n for n, is_large in zip(names, large, strict=True) if is_large)
        there = ", ".join(f"{c.name} = {y:.5g}" for c, y in zip(model.coordinates, self.x.q, strict=True))
        moving = [row.name for row, r in zip(model.constraint_rows, self.rows, strict=False) if abs(r) > 1e-9]
        return NumericalError(
            "no equilibrium was found" + (f": constraints move or slip ({', '.join(moving)})" if moving else ""),
            where=model.mechanism.name,
            got=f"at {there}" + (f", forces are left along {words}" if words else ""),
            expected=f"forces of at most {self.search.settings.tolerance * self.size:.3g} N or N m",
            remedy="give a guess nearer to it, something that holds what still moves, or free_inputs that can",
        )
