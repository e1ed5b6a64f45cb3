"""A model: the quantities of a mechanism as native functions.

>>> import numpy as np
>>> from torseur.describe import Mechanism
>>> pendulum = Mechanism(
...     name="pendulum",
...     gravity=(0.0, -9.81, 0.0),
...     bodies={"rod": {"joint": {"kind": "revolute", "coordinate": "q"}, "inertia": {"M": 2.0, "MX": 1.0, "ZZ": 0.6}}},
... )
>>> model = build(pendulum)
>>> model.inverse_dynamics(np.zeros(1), np.zeros(1), np.zeros(1))
array([9.81])
>>> model.mass_matrix(np.zeros((5, 1))).shape
(5, 1, 1)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from torseur.describe import Formula, Mechanism, Variable
from torseur.describe.checks import checked
from torseur.describe.plain_data import canonical
from torseur.dynamics.constraints.rows import Owner
from torseur.dynamics.parameters.dependence import Identifiable, identifiable
from torseur.dynamics.quantities import Options, options_of
from torseur.dynamics.tree.kinematics import Axes, Task
from torseur.emit.store import Store
from torseur.errors import ArgumentError, MissingValue
from torseur.model.assembly import Assembled, Closing, assembled
from torseur.model.equilibria import Equilibrium, equilibrium_of
from torseur.model.function import ModelFunction, QuickByFrame, array_of, check_names
from torseur.model.linearisation import Linearised, linearised
from torseur.model.mobility import Mobility, mobility
from torseur.model.rows import ConstraintRow, Ranks, Structure, stacked_regressor, structure_of
from torseur.model.tasks import Reached, Search, inverse_kinematics, operational_space

__all__ = ["Model", "ModelFunction", "build"]


def build(
    mechanism: Mechanism, *, parameters: Mapping[str, float] | None = None, base_parameters: bool = True
) -> Model:
    """The native model of a mechanism; functions are derived and compiled when first used, and kept on disk.

    Args:
        mechanism: the description.
        parameters: values for parameters, in place of those of the description or where it has none.
        base_parameters: regroup inertial parameters before deriving (same motion, fewer operations).

    >>> arm = ts.examples.load("planar_2r")
    >>> ts.build(arm, parameters={"m2": 3.0}).mass_matrix(np.zeros(2)).round(3)
    array([[3.52, 1.11],
           [1.11, 0.51]])
    """
    if not isinstance(mechanism, Mechanism):
        raise ArgumentError(
            "only a description can be built", got=repr(mechanism), remedy="build(load(path)) for a model in a file"
        )
    known = mechanism.parameters
    given = _numbers(parameters or {}, list(known))
    derived = [n for n in given if isinstance(known[n].value, Formula)]
    if derived:
        raise ArgumentError("parameters that are formulas of others cannot be set", got=", ".join(derived))
    return Model(mechanism, given, Options(base_parameters=base_parameters))


def _numbers(given: Mapping[str, float], known: list[str]) -> dict[str, float]:
    """Parameters by name as finite numbers; every one that is not is named."""
    if not isinstance(given, Mapping):
        raise ArgumentError("parameters are given by name", got=repr(given), expected="{name: value, ...}")
    check_names(given, known, "parameter")
    numbers = {n: array_of(x, n) for n, x in given.items()}
    bad = [f"{n} = {given[n]!r}" for n, x in numbers.items() if x.shape != () or not np.isfinite(x)]
    if bad:
        raise ArgumentError("values that no parameter can have", got=", ".join(bad), expected="finite numbers")
    return {n: float(x) for n, x in numbers.items()}


@dataclass(frozen=True, eq=False)
class Model:
    """The functions of a mechanism. Arrays have shape (..., n): one state or a million, same call."""

    mechanism: Mechanism
    given: dict[str, float]
    options: Options

    def __repr__(self) -> str:
        return f"<Model of {self.mechanism!r}>"

    def _repr_html_(self) -> str:
        """For notebooks."""
        return self.mechanism._repr_html_()

    def _repr_svg_(self) -> str:
        return self.mechanism._repr_svg_()

    # -- what it is ----------------------------------------------------------------------------------------------------
    @cached_property
    def coordinates(self) -> tuple[Variable, ...]:
        """The coordinates q, in order, with names, units and meanings.

        >>> [x.name for x in model.coordinates]
        ['theta1', 'theta2']
        """
        return self.mechanism.q

    @cached_property
    def speeds(self) -> tuple[Variable, ...]:
        """The speeds v, in order, with names, units and meanings.

        >>> [(x.name, x.unit) for x in model.speeds]
        [('dtheta1', 'rad/s'), ('dtheta2', 'rad/s')]
        """
        return self.mechanism.v

    @property
    def nq(self) -> int:
        """How many coordinates.

        >>> model.nq
        2
        """
        return len(self.coordinates)

    @property
    def nv(self) -> int:
        """How many speeds.

        >>> model.nv
        2
        """
        return len(self.speeds)

    @cached_property
    def free_parameters(self) -> list[str]:
        """The parameters that have no formula, in order.

        >>> model.free_parameters
        ['l1', 'l2', 'm1', 'm2', 'j1', 'j2']
        """
        return [n for n, p in self.mechanism.parameters.items() if not isinstance(p.value, Formula)]

    @cached_property
    def parameter_values(self) -> NDArray[np.float64]:
        """Their values; every one that is not set is named in the error.

        >>> model.parameter_values.round(3)
        array([0.5 , 0.4 , 4.  , 2.5 , 0.06, 0.03])
        """
        return self.values_beside(())

    def values_beside(self, given: Iterable[str], used: Iterable[str] | None = None) -> NDArray[np.float64]:
        """The values of the parameters, where those that a call gives, or does not use, need none."""
        values = {n: self.given.get(n, self.mechanism.parameters[n].value) for n in self.free_parameters}
        needed = (set(self.free_parameters) if used is None else set(used)) - set(given)
        unset = [n for n, value in values.items() if value is None and n in needed]
        if unset:
            raise MissingValue(
                f"{len(unset)} parameters have no value" if len(unset) > 1 else "a parameter has no value",
                where=self.mechanism.name,
                got=", ".join(unset),
                remedy="give values in the description, or to the model",
                option="parameters",
                call="build(mechanism, parameters={name: value, ...})",
            )
        return np.array([math.nan if value is None else value for value in values.values()], dtype=float)

    @cached_property
    def input_values(self) -> NDArray[np.float64]:
        """The inputs of the description, at their defaults.

        >>> model.input_values
        array([0., 0.])
        """
        return np.array([x.default for x in self.mechanism.inputs.values()])

    @cached_property
    def store(self) -> Store:
        """Where what is derived is found again: under all of the description that decides the equations."""
        return Store.of("model", canonical(self.mechanism, without=frozenset({"title", "notes", "outputs"})))

    @cached_property
    def checked_mechanism(self) -> Mechanism:
        """The description, or all that is wrong with it."""
        return checked(self.mechanism)

    @cached_property
    def _functions(self) -> dict[tuple[str, Options], ModelFunction]:
        return {}

    @cached_property
    def _plain(self) -> dict[str, ModelFunction]:
        """Those of them that were asked for without options."""
        return {}

    def function(
        self,
        quantity: str,
        frame: str | None = None,
        axes: Axes | str = Axes.OWN,
        task: Task | str = Task.POSE,
        *,
        independent: Sequence[str] | str | None = None,
        actuated: Sequence[str] | str | None = None,
    ) -> ModelFunction:
        """A quantity by name; see `torseur.dynamics.quantities`.

        Args:
            quantity: its name.
            frame: for quantities of a frame.
            axes: "own" axes of the frame, or those of the "world".
            task: for the operational space: "pose", "position" or "orientation".
            independent: for reduced forms: speeds, or quasi-speeds "name = formula"; chosen where none are given.
            actuated: for `actuator_efforts`: the coordinates; by default those with efforts or motors.

        >>> model.function("gravity")(q).round(3)
        array([37.293,  6.835])
        """
        is_plain = axes is Axes.OWN and task is Task.POSE and frame is None and independent is None and actuated is None
        if is_plain and quantity in self._plain:
            return self._plain[quantity]
        options = options_of(
            self.mechanism,
            quantity,
            self.options,
            frame=frame,
            axes=axes,
            task=task,
            independent=independent,
            actuated=actuated,
        )
        found = self._functions.setdefault((quantity, options), ModelFunction(self, quantity, options))
        if is_plain:
            self._plain[quantity] = found
        return found

    # -- the contract --------------------------------------------------------------------------------------------------
    @cached_property
    def inverse_dynamics(self) -> Callable[..., Any]:
        """(q, v, vdot) -> tau: what must be added to the loads of the description to get vdot.

        >>> model.inverse_dynamics(q, v, np.zeros(2)).round(3)
        array([37.473,  7.074])
        """
        return self.function("inverse_dynamics")

    @cached_property
    def forward_dynamics(self) -> Callable[..., Any]:
        """(q, v, tau) -> vdot.

        >>> model.forward_dynamics(q, v, np.zeros(2)).round(3)
        array([-18.735,  21.401])
        """
        return self.function("forward_dynamics")

    @cached_property
    def mass_matrix(self) -> Callable[..., Any]:
        """(q) -> M (nv, nv).

        >>> model.mass_matrix(q).round(3)
        array([[2.993, 0.869],
               [0.869, 0.43 ]])
        """
        return self.function("mass_matrix")

    @cached_property
    def bias(self) -> Callable[..., Any]:
        """(q, v) -> tau at vdot = 0.

        >>> model.bias(q, v).round(3)
        array([37.473,  7.074])
        """
        return self.function("bias")

    @cached_property
    def kinetic_energy(self) -> Callable[..., Any]:
        """(q, v) -> T, J.

        >>> float(model.kinetic_energy(q, v).round(3))
        1.116
        """
        return self.function("kinetic_energy")

    @cached_property
    def potential_energy(self) -> Callable[..., Any]:
        """(q) -> U of gravity and springs, J.

        >>> float(model.potential_energy(q).round(3))
        16.459
        """
        return self.function("potential_energy")

    @cached_property
    def momentum(self) -> Callable[..., Any]:
        """(q, v) -> linear, angular momentum about the world origin, in world axes (6).

        >>> model.momentum(q, v).round(3)
        array([-1.319,  0.   ,  3.453,  0.   , -2.558,  0.   ])
        """
        return self.function("momentum")

    @cached_property
    def centre_of_mass(self) -> Callable[..., Any]:
        """(q) -> the centre of mass of the bodies that move (3,), in the world.

        >>> model.centre_of_mass(q).round(3)
        array([0.585, 0.   , 0.258])
        """
        return self.function("centre_of_mass")

    @cached_property
    def inverse_dynamics_derivatives(self) -> Callable[..., Any]:
        """(q, v, vdot) -> dtau_dq, dtau_dv.

        >>> by_q, by_v = model.inverse_dynamics_derivatives(q, v, np.zeros(2))
        >>> by_q.round(3)
        array([[-16.459,  -6.708],
               [ -7.037,  -6.598]])
        """
        return self.function("inverse_dynamics_derivatives")

    @cached_property
    def forward_dynamics_derivatives(self) -> Callable[..., Any]:
        """(q, v, tau) -> vdot, dvdot_dq, dvdot_dv, dvdot_dtau.

        >>> vdot, by_q, by_v, by_tau = model.forward_dynamics_derivatives(q, v, np.zeros(2))
        >>> np.allclose(by_tau @ model.mass_matrix(q), np.eye(2))
        True
        """
        return self.function("forward_dynamics_derivatives")

    @cached_property
    def _structure(self) -> Structure:
        return self.store.part("structure", canonical(self.options)).facts(lambda: structure_of(self))

    @property
    def constraint_rows(self) -> tuple[ConstraintRow, ...]:
        """The rows of loops and constraints: names, who asks for them, units of their multipliers.

        >>> [row.name for row in closed.constraint_rows]
        ['pin_x', 'pin_y']
        """
        return self._structure.rows

    @property
    def constraint_components(self) -> tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]:
        """Rows and speeds, by place, that are coupled: each component apart from all others."""
        return self._structure.components

    @property
    def row_parameters(self) -> frozenset[str]:
        """The parameters that loops and constraints depend on."""
        return self._structure.parameters

    @property
    def normal_rows(self) -> dict[str, int]:
        """Contact or rolling wheel -> the place of the row whose multiplier is its normal force."""
        first = {row.asked_by: k for k, row in reversed(list(enumerate(self.constraint_rows)))}
        owners = {n: Owner("constraints", n) for n in self.mechanism.pushing}
        return {n: first[owner] for n, owner in owners.items() if owner in first}

    def normals_of(self, multipliers: ArrayLike) -> NDArray[np.float64]:
        """The normal forces (contacts and rolling wheels, ...) among multipliers (rows, ...)."""
        lam, rows = np.asarray(multipliers, dtype=float), self.normal_rows
        return np.array([lam[rows[n]] if n in rows else 0.0 * lam[0] for n in self.mechanism.pushing])

    @cached_property
    def ranks(self) -> Ranks:
        """The ranks of the constraint rows, for values of the parameters; see `torseur.model.rows`."""
        return Ranks(self)

    @cached_property
    def closure(self) -> Callable[..., Any]:
        """(q) -> h of the position rows: zero where loops are closed and holonomic constraints met, m or rad.

        >>> bool(np.abs(closed.closure(closed.assemble({"q1": 0.4}, hold=["q1"]).q)).max() < 1e-12)
        True
        """
        return self.function("closure")

    @cached_property
    def constraint_jacobian(self) -> Callable[..., Any]:
        """(q) -> A (rows, nv): the rows allow A v = what they ask for.

        >>> closed.constraint_jacobian(closed.assemble().q).shape
        (2, 3)
        """
        return self.function("constraint_jacobian")

    @cached_property
    def multipliers(self) -> Callable[..., Any]:
        """(q, v, tau) -> lambda (rows), rank: M vdot + bias = tau + A' lambda; the shortest where it is not unique.

        >>> at = closed.assemble()
        >>> lam, rank = closed.multipliers(at.q, np.zeros(3), np.zeros(3))
        >>> lam.shape, int(rank)
        ((2,), 2)
        """
        return self.function("multipliers")

    @cached_property
    def loop_wrenches(self) -> Callable[..., Any]:
        """(q, v, tau) -> for each loop force and torque on its second frame, there, in axes of the first (6).

        >>> closed.loop_wrenches(closed.assemble().q, np.zeros(3), np.zeros(3)).shape
        (6,)
        """
        return self.function("loop_wrenches")

    def joint_forces(
        self,
        q: ArrayLike,
        v: ArrayLike,
        vdot: ArrayLike | None = None,
        *,
        tau: ArrayLike | None = None,
        actuated: Sequence[str] | None = None,
        **keywords: Any,
    ) -> dict[str, NDArray[np.float64]]:
        """For every body force and moment (6) that its antecedent exerts on it, at its origin in its axes.

        What drives, springs and friction do along a coordinate passes through its joint as well. The base is there too:
        what carries a fixed base, moves a given one, or is missing on a free one.

        Args:
            q, v: states (..., n) that loops and constraints allow.
            vdot: accelerations that they allow; the efforts of the actuated coordinates follow.
            tau: in place of vdot: forces (..., nv); the accelerations follow, as in forward_dynamics.
            actuated: with loops or constraints and vdot: the actuated coordinates; by default those with efforts or
                motors.
            keywords: t, inputs, parameters.

        >>> model.joint_forces(q, v, np.zeros(2))["link1"].round(3)
        array([15.374, 60.797,  0.   ,  0.   ,  0.   , 37.473])
        """
        if (vdot is None) == (tau is None):
            raise ArgumentError("joint forces are those of a motion", expected="either vdot or tau")
        name = "forward_joint_forces" if vdot is None else "joint_forces"
        function = self.function(name, actuated=actuated)
        names = [x.name for x in function.native.interface.outputs]
        forces = function(q, v, *(x for x in (vdot, tau) if x is not None), **keywords)
        return dict(zip(names, forces if len(names) > 1 else [forces], strict=True))

    def as_gymnasium(self, study: Any, runs: int = 1, **options: Any) -> Any:
        """A study of this mechanism as a batch of environments for learning; see `torseur.export.gymnasium_envs`.

        >>> study = ts.Study(model=arm, until=1.0, every=0.02, solver={"method": "rk4", "step": 0.01})
        >>> envs = model.as_gymnasium(study, runs=8)  # doctest: +SKIP
        """
        return import_module("torseur.export.gymnasium_envs").environments(self, study, runs, **options)

    def assemble(
        self,
        guess: ArrayLike | Mapping[str, float] | None = None,
        *,
        speeds: ArrayLike | Mapping[str, float] | None = None,
        hold: Sequence[str] = (),
        closing: Closing | None = None,
        **keywords: Any,
    ) -> Assembled:
        """Coordinates and speeds that loops and constraints allow; see `torseur.assemble`.

        >>> closed.assemble({"q1": 0.4}, hold=["q1"]).q.round(3)
        array([0.4  , 0.321, 1.414])
        """
        return assembled(self, guess, speeds=speeds, hold=hold, closing=closing, **keywords)

    def mobility(
        self,
        q: ArrayLike | Mapping[str, float] | None = None,
        *,
        closing: Closing | None = None,
        **keywords: Any,
    ) -> Mobility:
        """What loops and constraints leave free at a position (the start, assembled): see `torseur.model.mobility`.

        >>> closed.mobility().freedoms
        1
        """
        return mobility(self, q, closing=closing, **keywords)

    def linearise(self, at: Any = None, **options: Any) -> Linearised:
        """The linear model about a state; see `torseur.linearise`.

        >>> model.linearise(at=model.equilibrium()).eigenvalues.shape
        (4,)
        """
        return linearised(self, at, **options)

    def equilibrium(self, guess: ArrayLike | Mapping[str, float] | None = None, **options: Any) -> Equilibrium:
        """A state at which nothing accelerates; see `torseur.equilibrium`.

        >>> model.equilibrium({"theta1": -1.5}).q.round(3)
        array([-1.571, -0.   ])
        """
        return equilibrium_of(self, guess, **options)

    @cached_property
    def regressor(self) -> Callable[..., Any]:
        """(q, v, vdot) -> Y (nv, parameters): inverse_dynamics = Y standard_parameters + given_forces.

        >>> model.regressor(q, v, np.zeros(2)).shape
        (2, 20)
        """
        return self.function("regressor")

    @cached_property
    def base_regressor(self) -> Callable[..., Any]:
        """(q, v, vdot) -> Y (nv, base parameters): inverse_dynamics = Y base_parameters + given_forces.

        >>> model.base_regressor(q, v, np.zeros(2)).shape
        (2, 6)
        """
        return self.function("base_regressor")

    @cached_property
    def load_powers(self) -> Callable[..., Any]:
        """(q, v) -> the power of every load, W, in the order of the description.

        >>> model.load_powers(q, v)
        load_powers(shoulder=np.float64(0.0), elbow=np.float64(-0.0))
        """
        return self.function("load_powers")

    @cached_property
    def _poses(self) -> QuickByFrame:
        return QuickByFrame(self, "pose")

    @cached_property
    def _jacobians(self) -> QuickByFrame:
        return QuickByFrame(self, "jacobian")

    @cached_property
    def _velocities(self) -> QuickByFrame:
        return QuickByFrame(self, "velocity")

    def pose(self, q: ArrayLike, frame: str, **keywords: Any) -> Any:
        """The pose of a frame in the world (..., 4, 4).

        >>> model.pose(q, "tool")[:3, 3].round(3)
        array([0.756, 0.   , 0.435])
        """
        return self._poses[frame](q, **keywords) if keywords else self._poses[frame](q)

    def jacobian(self, q: ArrayLike, frame: str, axes: Axes | str = Axes.OWN, **keywords: Any) -> Any:
        """The Jacobian of a frame (..., 6, nv), linear rows first, in its "own" axes or those of the "world".

        >>> model.jacobian(q, "tool", axes="world").round(3)
        array([[-0.435, -0.287],
               [ 0.   ,  0.   ],
               [ 0.756,  0.279],
               [ 0.   ,  0.   ],
               [-1.   , -1.   ],
               [ 0.   ,  0.   ]])
        """
        quick = self._jacobians[frame if axes is Axes.OWN else (frame, axes)]
        return quick(q, **keywords) if keywords else quick(q)

    def velocity(self, q: ArrayLike, v: ArrayLike, frame: str, **keywords: Any) -> Any:
        """The velocity of a frame in its own axes (..., 6).

        >>> model.velocity(q, v, "tool").round(3)
        array([0.24 , 0.639, 0.   , 0.   , 0.   , 0.5  ])
        """
        return self._velocities[frame](q, v, **keywords) if keywords else self._velocities[frame](q, v)

    def operational_space(
        self,
        q: ArrayLike,
        v: ArrayLike,
        frame: str,
        axes: Axes | str = Axes.OWN,
        task: Task | str = Task.POSE,
        *,
        allow_singular: bool = False,
        **keywords: Any,
    ) -> Any:
        """M_x, V_x, g_x, bias_x, rank at a frame: F_x = M_x a + V_x + g_x. An error where the frame is singular.

        `axes` are "own" or "world", `task` is "pose", "position" or "orientation".

        >>> Mx, Vx, gx, bias, rank = model.operational_space(q, v, "tool", task="position", allow_singular=True)
        >>> int(rank)
        2
        """
        return operational_space(self, q, v, frame, axes, task, allow_singular=allow_singular, **keywords)

    def identifiable_parameters(self, *, seed: int = 0) -> Identifiable:
        """Which columns of the regressor are independent, and how the others follow, from numbers at random states.

        >>> model.identifiable_parameters().rank
        6
        """
        return identifiable(stacked_regressor(self, np.random.default_rng(seed)))

    def inverse_kinematics(
        self,
        target: ArrayLike,
        frame: str,
        guess: ArrayLike | None = None,
        *,
        search: Search | None = None,
        free: Sequence[str] | None = None,
        **keywords: Any,
    ) -> Reached:
        """Coordinates with a frame at a pose (4, 4) or position (3,); says what is in the way if there are none.

        >>> model.inverse_kinematics(model.pose(q, "tool"), "tool").q.round(3)
        array([0.3, 0.5])
        """
        return inverse_kinematics(self, target, frame, guess, search=search, free=free, **keywords)
