"""What is to be found, and the equations it stands in: W(q, v, vdot) x = y at every instant.

Two kinds of unknowns:

- the **base parameters** of the mechanism, in which the equations are linear (Maakaroun A.1, A.2), with y what was
  measured less what does not depend on them;
- **parameters of the description** (a mass, a stiffness, a motor constant), whose columns are the derivatives of the
  inverse dynamics; where they enter otherwise than linearly the equations hold to first order about the values so far.

Beside either of them terms may stand that the description has not, on every joint of its own:

==========  ===================  ============================================
``FV``      v                    viscous friction
``FS``      sign v               dry friction
``IA``      dv/dt                inertia of the drive seen from the joint
``OF``      1                    offset of the measured effort
``KS``      q                    stiffness
==========  ===================  ============================================

With loops or constraints the equations are those along allowed motions, N'(tau - ...), unless the forces of the
constraints were measured: these are then known forces, tau + A' lambda, and all equations count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from torseur.describe import Mechanism
from torseur.describe.faults import guess
from torseur.dynamics.parameters.base_parameters import BaseParameters, base_parameters
from torseur.dynamics.parameters.closed_structures import closed_base_parameters
from torseur.dynamics.quantities import Options, Workbench
from torseur.errors import ArgumentError
from torseur.graph import Function, evaluate
from torseur.identification.motion import Motion
from torseur.model.model import Model
from torseur.model.rows import rates_of
from torseur.packs.tyres.load import TyreLoad

__all__ = [
    "TERMS",
    "BaseUnknowns",
    "DescribedUnknowns",
    "Term",
    "Unknowns",
    "dynamic_parameters",
    "terms_of",
    "tyre_parameters",
]

Array = NDArray[np.float64]

TERMS = ("FV", "FS", "IA", "OF", "KS")
_UNITS = {
    "XX": "kg m2", "XY": "kg m2", "XZ": "kg m2", "YY": "kg m2", "YZ": "kg m2", "ZZ": "kg m2",
    "MX": "kg m", "MY": "kg m", "MZ": "kg m", "M": "kg", "JM": "kg m2",
}  # fmt: skip
_OF_JOINT = {
    "IA": ("kg m2", "kg"),
    "FV": ("N m s/rad", "N s/m"),
    "FS": ("N m", "N"),
    "OF": ("N m", "N"),
    "KS": ("N m/rad", "N/m"),
}


@dataclass(frozen=True)
class Term:
    """A term on one speed that the description has not."""

    symbol: str
    speed: int
    name: str
    unit: str


class Unknowns(Protocol):
    """Names, units, and values so far; the equations."""

    @property
    def names(self) -> tuple[str, ...]: ...

    @property
    def units(self) -> tuple[str, ...]: ...

    @property
    def start(self) -> Array:
        """Values of the description; nan where it has none."""

    @property
    def model(self) -> Model: ...

    @property
    def terms(self) -> tuple[Term, ...]: ...

    @property
    def is_linear(self) -> bool: ...

    def equations(self, motion: Motion, x: Array) -> tuple[Array, Array]:
        """W (nt, rows, n) and y (nt, rows) with W x = y, to first order about x."""

    def allowed(self, motion: Motion) -> Array:
        """N (nt, nv, rows), with the equations along allowed motions."""


def terms_of(model: Model, symbols: Sequence[str], known: Sequence[str] = ()) -> tuple[Term, ...]:
    """Terms on all joints that have a coordinate of their own, but for those whose name is known already."""
    wrong = [s for s in symbols if s not in TERMS]
    if wrong:
        raise ArgumentError("unknown friction or drive terms", got=", ".join(wrong), expected=", ".join(TERMS))
    rates, terms = rates_of(model.mechanism), list[Term]()
    on_base = {k for k, x in enumerate(model.speeds) if x.owner == "base"}
    for symbol in symbols:
        for k in sorted(set(rates) - on_base):
            name = f"{symbol}_{model.coordinates[rates[k]].name}"
            unit = _OF_JOINT[symbol][model.speeds[k].unit == "m/s"]
            if name not in known:
                terms.append(Term(symbol, k, name, unit))
    return tuple(terms)


def _term_columns(terms: Sequence[Term], model: Model, motion: Motion) -> Array:
    """(nt, nv, number of terms)."""
    rates = rates_of(model.mechanism)
    W = np.zeros((*motion.v.shape, len(terms)))
    for i, term in enumerate(terms):
        k = term.speed
        values = {
            "FV": motion.v[:, k],
            "FS": np.sign(motion.v[:, k]),
            "IA": motion.vdot[:, k],
            "OF": 1.0,
            "KS": motion.q[:, rates[k]],
        }
        W[:, k, i] = values[term.symbol]
    return W


# -- the projection ----------------------------------------------------------------------------------------------------
def _reduced(model: Model, motion: Motion, W: Array, y: Array) -> tuple[Array, Array]:
    """Along allowed motions, or with the forces of constraints on the right."""
    if model.mechanism.is_tree:
        return W, y
    if motion.multipliers is not None:
        A = np.asarray(model.constraint_jacobian(motion.q, t=motion.time, inputs=motion.inputs))
        return W, y + np.einsum("trj,tr->tj", A, motion.multipliers)
    N = _allowed(model, motion)
    return np.einsum("tji,tjk->tik", N, W), np.einsum("tji,tj->ti", N, y)


def _allowed(model: Model, motion: Motion) -> Array:
    N = model.function("reduction")(motion.q, t=motion.time, inputs=motion.inputs)
    return np.asarray(N[0] if isinstance(N, tuple) else N)


def _keywords(motion: Motion, model: Model) -> dict[str, Any]:
    return {"t": motion.time, "inputs": motion.inputs} if model.mechanism.inputs else {"t": motion.time}


# -- base parameters ---------------------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class BaseUnknowns:
    """The base parameters, and further terms."""

    model: Model
    terms: tuple[Term, ...] = ()

    @cached_property
    def bench(self) -> Workbench:
        return Workbench(self.model.checked_mechanism, Options(base_parameters=False))

    @cached_property
    def base(self) -> BaseParameters:
        if self.bench.constraints.rows:
            return closed_base_parameters(self.bench).base
        return base_parameters(self.bench.true_tree)

    @cached_property
    def names(self) -> tuple[str, ...]:
        return (*self.base.names, *(t.name for t in self.terms))

    @cached_property
    def units(self) -> tuple[str, ...]:
        own = []
        for k in self.base.kept:
            p = self.base.standard[k]
            slides = p.speed is not None and self.model.speeds[p.speed].unit == "m/s"
            own.append(_UNITS[p.symbol] if p.symbol in _UNITS else _OF_JOINT[p.symbol][slides])
        return (*own, *(t.unit for t in self.terms))

    @cached_property
    def start(self) -> Array:
        zeros = np.zeros(len(self.terms))
        if not self.model.function("base_parameters").has_values():
            return np.concatenate([np.full(len(self.base.kept), np.nan), zeros])
        return np.concatenate([np.asarray(self.model.function("base_parameters")()), zeros])

    is_linear = True

    def allowed(self, motion: Motion) -> Array:
        return _allowed(self.model, motion)

    @cached_property
    def combination(self) -> Array:
        """B (base, standard): base parameters are B times the standard ones, at the values of the lengths."""
        rows = np.zeros((len(self.base.kept), len(self.base.standard)))
        places = [(i, j) for i, group in enumerate(self.base.groups) for j in group]
        factors = [x for group in self.base.groups for x in group.values()]
        system = self.bench.system
        names = dict(zip(self.model.free_parameters, self.model.values_beside(self.model.free_parameters), strict=True))
        p = np.array([names[n] for n in system.p.names])
        values = evaluate(Function("factors", [system.p], {"factors": factors}), p)[0]
        for (i, j), value in zip(places, np.asarray(values), strict=True):
            rows[i, j] = value
        return rows

    def equations(self, motion: Motion, x: Array) -> tuple[Array, Array]:
        model, more = self.model, _keywords(motion, self.model)
        known = np.asarray(model.function("given_forces")(motion.q, motion.v, **more))
        y = motion.tau - known
        projected = not model.mechanism.is_tree
        if projected and motion.multipliers is not None:
            Y = np.asarray(model.regressor(motion.q, motion.v, motion.vdot, **more))[..., list(self.base.kept)]
            W = np.concatenate([Y, _term_columns(self.terms, model, motion)], axis=2)
            return _reduced(model, motion, W, y)
        Y = np.asarray(model.base_regressor(motion.q, motion.v, motion.vdot, **more))
        extra = _term_columns(self.terms, model, motion)
        if projected:
            extra, y = _reduced(model, motion, extra, y)
        return np.concatenate([Y, extra], axis=2), y


# -- parameters of the description -------------------------------------------------------------------------------------
def dynamic_parameters(mechanism: Mechanism) -> tuple[str, ...]:
    """The free parameters that masses and loads depend on, and that nothing else does.

    What says where a joint, a frame, a loop or a road is, which way gravity points, how a gear is cut, or what a tyre
    does, is known.
    """
    known: list[object] = [*mechanism.gravity, *mechanism.roads.values()]
    known += [*mechanism.loops.values(), *mechanism.constraints.values()]
    for body in (mechanism.base, *mechanism.bodies.values()):
        known += [getattr(body, name) for name in type(body).model_fields if name not in ("inertia", "shapes")]
    known += [getattr(load, name, None) for load in mechanism.loads.values() for name in ("ratio", "axis")]
    fixed = _with_formulas(mechanism, set(mechanism.names_in(known))) | tyre_parameters(mechanism)
    inertias = [mechanism.base.inertia, *(body.inertia for body in mechanism.bodies.values())]
    used = _with_formulas(mechanism, set(mechanism.names_in([inertias, dict(mechanism.loads)])))
    free = [n for n, p in mechanism.parameters.items() if not mechanism.names_in([p.value])]
    return tuple(n for n in free if n in used and n not in fixed)


def tyre_parameters(mechanism: Mechanism) -> set[str]:
    """Parameters that the laws of tyres depend on."""
    laws = [load.law for load in mechanism.loads.values() if isinstance(load, TyreLoad)]
    return _with_formulas(mechanism, set(mechanism.names_in(laws)))


def _with_formulas(mechanism: Mechanism, names: set[str]) -> set[str]:
    """Parameters with those their formulas need."""
    all_names, waiting = set[str](), set(names)
    while waiting:
        all_names |= waiting
        values = [mechanism.parameters[n].value for n in waiting if n in mechanism.parameters]
        waiting = set(mechanism.names_in(values)) - all_names
    return all_names


@dataclass(frozen=True, eq=False)
class DescribedUnknowns:
    """Parameters of the description, and further terms."""

    model: Model
    chosen: tuple[str, ...]
    terms: tuple[Term, ...] = ()

    is_linear = False

    def __post_init__(self) -> None:
        free = self.model.free_parameters
        wrong = [n for n in self.chosen if n not in free]
        if wrong:
            expected, remedy = guess(wrong[0], free)
            got, where = ", ".join(wrong), self.model.mechanism.name
            raise ArgumentError("no such free parameters", where=where, got=got, expected=expected, remedy=remedy)

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.chosen, *(t.name for t in self.terms))

    @property
    def units(self) -> tuple[str, ...]:
        known = self.model.mechanism.parameters
        return (*(known[n].unit or "" for n in self.chosen), *(t.unit for t in self.terms))

    @cached_property
    def start(self) -> Array:
        values = dict(zip(self.model.free_parameters, self.model.parameter_values, strict=True))
        return np.array([*(values[n] for n in self.chosen), *(0.0 for _ in self.terms)])

    def allowed(self, motion: Motion) -> Array:
        return _allowed(self.model, motion)

    def values(self, x: Array) -> Mapping[str, float]:
        return {n: float(value) for n, value in zip(self.chosen, x, strict=False)}

    def equations(self, motion: Motion, x: Array) -> tuple[Array, Array]:
        model, n = self.model, len(self.chosen)
        more = {**_keywords(motion, model), "parameters": self.values(x)}
        state = (motion.q, motion.v, motion.vdot)
        tau = np.asarray(model.inverse_dynamics(*state, **more))
        by_all = np.asarray(model.function("inverse_dynamics_by_parameters")(*state, **more))
        W = by_all[..., [model.free_parameters.index(name) for name in self.chosen]]
        y = motion.tau - tau + np.einsum("tjk,k->tj", W, x[:n])
        W = np.concatenate([W, _term_columns(self.terms, model, motion)], axis=2)
        return _reduced(model, motion, W, y)
