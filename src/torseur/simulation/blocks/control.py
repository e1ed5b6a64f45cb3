"""Control of one quantity by its error (PD, PID), of coordinates with the mechanism's own equations, and of a frame, of
which it is given where it should be in the world.

DeSantis 1996, remark 4.2: first find accelerations (resolved acceleration: Luh, Walker & Paul 1980) or velocities
(resolved rate: Whitney 1982) that lead the frame where it should be, then the forces that make them. Both steps hold
for nonholonomic vehicles as well: what the constraints ask of the speeds is solved for together with the task.

=======  ==========================================================================================  ============
e        q_ref - q (DeSantis' e has the other sign)                                                   rad, m
M        inertia matrix, D in DeSantis 1996
x, R     position and orientation of the frame; x_r, R_r where they should be                         m, -
J, rest  V = J v; the acceleration of the frame is J vdot + rest; rows of the task, world axes
A, b, c  of the constraints: A v + c = 0, A vdot = b
o        1/2 sum of R e_k x R_r e_k: the error of orientation, an axis times the sine of the angle      rad
=======  ==========================================================================================  ============
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field

from torseur.describe.annotations import Anything, AnyTriple, CoordinateName, FrameName
from torseur.describe.faults import guess
from torseur.describe.fields import FrozenDict, Scalar
from torseur.dynamics.tree.kinematics import Axes, acceleration, frame_jacobian
from torseur.errors import ModelError
from torseur.graph import Expr, maximum, minimum, minimum_norm_solve, sqrt, substitute
from torseur.simulation.blocks.actuation import Controller, Gains, gain
from torseur.simulation.blocks.base import Block
from torseur.simulation.blocks.context import Context
from torseur.spatial.pose import Step, StepKind, product
from torseur.spatial.vectors import Matrix, Vector, cross

__all__ = [
    "ComputedTorque",
    "OperationalSpace",
    "Pd",
    "PdRegulator",
    "Pid",
    "ResolvedAcceleration",
    "ResolvedRate",
    "within",
]


class Pd(Block):
    """y = feedforward + kp (reference - value) + kd (reference_rate - rate), cut to the limits."""

    kind = "pd"
    value: Anything = Field(description="what is controlled, e.g. q1")
    rate: Anything = Field(description="its rate, e.g. dq1")
    reference: Anything = Field(0.0, description="what it should be")
    reference_rate: Anything | None = Field(
        None, description="rate of the reference; by default its derivative, which needs a function of t"
    )
    kp: Scalar = Field(description="stiffness of the control")
    kd: Scalar = Field(0.0, description="damping of the control")
    feedforward: Anything = Field(0.0, description="added")
    lower: Scalar | None = Field(None, description="least result")
    upper: Scalar | None = Field(None, description="largest result")

    def build(self, context: Context, name: str) -> Expr:
        reference = context.value(self.reference)
        e = reference - context.value(self.value)
        ed = _rate_of(context, reference, self.reference_rate) - context.value(self.rate)
        y = context.value(self.feedforward) + context.value(self.kp) * e + context.value(self.kd) * ed
        return within(context, y, self.lower, self.upper)


class Pid(Block):
    """y = feedforward + kp e + I + D cut to the limits, with e = reference - value.

    dI/dt = ki e + (y - y_uncut) / tracking: at a limit the integral follows what is really done (back-calculation, no
    windup). D = kd (e - x) / filter with dx/dt = (e - x) / filter: the derivative seen through a first-order filter,
    kd s / (1 + filter s).
    """

    kind = "pid"
    value: Anything = Field(description="what is controlled")
    reference: Anything = Field(0.0, description="what it should be")
    kp: Scalar = Field(0.0, description="proportional gain")
    ki: Scalar = Field(0.0, description="integral gain, 1/s")
    kd: Scalar = Field(0.0, description="derivative gain, s")
    filter: Scalar = Field(0.01, description="time constant of the derivative, s")
    feedforward: Anything = Field(0.0, description="added")
    lower: Scalar | None = Field(None, description="least result")
    upper: Scalar | None = Field(None, description="largest result")
    tracking: Scalar | None = Field(
        None, description="time in which the integral follows a limit, s; by default kp/ki, the integral time"
    )
    start: Scalar = Field(0.0, description="of the integral")

    def build(self, context: Context, name: str) -> Expr:
        e = context.value(self.reference) - context.value(self.value)
        kp, ki, kd = (context.value(gain) for gain in (self.kp, self.ki, self.kd))
        y = context.value(self.feedforward) + kp * e
        zero = context.graph.zero
        if kd is not zero:
            filter = context.constant(self.filter, "the time constant of the derivative", least=0.0, open=True)
            x = context.state(f"{name}_filtered", start=e)
            context.rate(x, (e - x) / filter)
            y = y + kd * ((e - x) / filter)
        if ki is zero:
            return within(context, y, self.lower, self.upper)
        integral = context.state(f"{name}_integral", start=self.start)
        y = y + integral
        cut = within(context, y, self.lower, self.upper)
        back = zero if cut is y else (cut - y) / self._tracking(context, kp, ki)
        context.rate(integral, ki * e + back)
        return cut

    def _tracking(self, context: Context, kp: Expr, ki: Expr) -> Expr:
        if self.tracking is not None:
            return context.constant(self.tracking, "the tracking time", least=0.0, open=True)
        if kp is context.graph.zero:
            raise ModelError(
                "the integral of a limited controller without proportional part needs a tracking time",
                where=context.where,
                expected="tracking, s",
            )
        return kp / ki


def _rate_of(context: Context, reference: Expr, given: Scalar | None) -> Expr:
    if given is not None:
        return context.value(given)
    return context.derivative([reference], "the reference")[0]


def within(context: Context, y: Expr, lower: Scalar | None, upper: Scalar | None) -> Expr:
    """y cut to limits that may be absent."""
    y = y if upper is None else minimum(y, context.value(upper))
    return y if lower is None else maximum(y, context.value(lower))


References = Annotated[dict[CoordinateName, Anything], AfterValidator(FrozenDict)]


def places_of(context: Context, coordinates: Iterable[str]) -> dict[str, tuple[int, int]]:
    """Coordinate -> its places in q and v, for coordinates whose rate is a speed."""
    system = context.bench.system
    names = [x.name for x in system.mechanism.q]
    places: dict[str, tuple[int, int]] = {}
    speeds = {v: j for j, v in enumerate(system.v)}
    for name in coordinates:
        if name not in names:
            expected, remedy = guess(name, names)
            raise ModelError(f"no coordinate '{name}'", where=context.where, expected=expected, remedy=remedy)
        i = names.index(name)
        if context.qdot[i] not in speeds:
            raise ModelError(
                f"the rate of '{name}' is not a speed, so it has no acceleration of its own",
                where=context.where,
                expected="coordinates of hinges, slides and the like",
                remedy="control the frame by operational_space or resolved_acceleration",
            )
        places[name] = (i, speeds[context.qdot[i]])
    if not places:
        raise ModelError("a controller without a reference", where=context.where, expected="at least one coordinate")
    return places


class ComputedTorque(Controller):
    """Inverse dynamics control: tau = M a + bias with a = q_ref'' + kd (q_ref' - v) + kp (q_ref - q).

    The error then obeys e'' + kd e' + kp e = 0 exactly, whatever the mechanism: with kd = 2 sqrt(kp), the default,
    critically damped with a time constant 1/sqrt(kp). Coordinates without a reference move as they must: passive
    joints, a floating base, joints in a loop. All loads of the description are compensated.
    """

    kind = "computed_torque"
    reference: References = Field(description="coordinate -> formula of t; differentiated twice")
    kp: Gains = Field(description="1/s2; or coordinate -> value")
    kd: Gains | None = Field(None, description="1/s; or coordinate -> value; by default 2 sqrt(kp)")

    def build(self, context: Context, name: str) -> dict[str, Expr]:
        system, places = context.bench.system, places_of(context, self.reference)
        r = [context.value(self.reference[key]) for key in places]
        rd = context.derivative(r, "the reference")
        rdd = context.derivative(rd, "the rate of the reference")
        wanted: dict[int, Expr] = {}
        for k, (key, (i, j)) in enumerate(places.items()):
            kp = gain(context, self.kp, key, "kp")
            kd = 2.0 * sqrt(kp) if self.kd is None else gain(context, self.kd, key, "kd")
            wanted[j] = rdd[k] + kd * (rd[k] - system.v[j]) + kp * (r[k] - system.q[i])
        actuators = self.actuators(context, [system.v.names[j] for j in wanted])
        return self.act(context, name, actuators, actuators.for_motion(wanted))


class PdRegulator(Controller):
    """The PD law with perfect compensation of weight (DeSantis 1996, remark 6.8): tau = kp (q_D - q) - kd v + g(q).

    Its Lyapunov function V = 1/2 (e' kp e + v' M v) is recorded as ``lyapunov``, and what the law makes of it, dV/dt =
    -v' kd v <= 0, as ``lyapunov_rate``; other dissipative loads only add to the fall. (6.14) and (6.15) with dM/dt as
    corrected. g holds weight and whatever else acts at rest: springs, constant loads.
    """

    kind = "pd_regulator"
    units: ClassVar[Mapping[str, str]] = {"lyapunov": "J", "lyapunov_rate": "W"}
    target: References = Field(description="coordinate -> constant value, one for each")
    kp: Gains = Field(description="N m/rad or N/m; or coordinate -> value")
    kd: Gains = Field(description="N m s/rad or N s/m; or coordinate -> value")

    def build(self, context: Context, name: str) -> dict[str, Expr]:
        bench, system = context.bench, context.bench.system
        places = places_of(context, self.target)
        n = bench.tree.nv
        if len(places) != n or not system.mechanism.is_tree:
            raise ModelError(
                "the PD law is for open chains with a target for every coordinate",
                where=context.where,
                expected=", ".join(x.name for x in system.mechanism.q),
                got=", ".join(places) + ("" if system.mechanism.is_tree else ", and loops or constraints"),
                remedy="computed_torque takes part of the coordinates, and loops",
            )
        actuators = self.actuators(context)
        still = dict.fromkeys(system.v, 0.0)
        tau = substitute(actuators.inverse(bench.rest), still)
        stored, loss = context.graph.zero, context.graph.zero
        for key, (i, j) in places.items():
            kp, kd = gain(context, self.kp, key, "kp"), gain(context, self.kd, key, "kd")
            e, rate = context.constant(self.target[key], "a target") - system.q[i], system.v[j]
            tau[j] = tau[j] + kp * e - kd * rate
            stored, loss = stored + kp * e * e, loss + kd * rate * rate
        v = list(system.v)
        for i, row in enumerate(bench.matrix):
            for j, entry in enumerate(row):
                stored = stored + entry * v[i] * v[j]
        forces = self.act(context, name, actuators, actuators.for_forces(tau))
        return forces | {"lyapunov": 0.5 * stored, "lyapunov_rate": -loss}


Points = Annotated[dict[Literal["x", "y", "z"], Anything], AfterValidator(FrozenDict)]


@dataclass(frozen=True)
class Task:
    """Rows of a task: which of the six of the frame, errors, and the wanted velocity with its rate."""

    rows: list[int]
    error: list[Expr]
    velocity: list[Expr]
    acceleration: list[Expr]


class TaskController(Controller):
    """What controllers of a frame share."""

    frame: FrameName = Field(description="body or named frame")
    position: Points = Field(
        {}, validate_default=True, description="x, y, z or some of them -> formula of t, world axes, m"
    )
    orientation: AnyTriple | None = Field(None, description="roll, pitch, yaw: formulas of t, rad")
    tolerance: float = Field(
        1e-6, gt=0.0, lt=1.0, description="pivots of the Jacobian below this fraction of the largest count as zero"
    )

    def task(self, context: Context) -> Task:
        """What is asked of the frame."""
        if not self.position and self.orientation is None:
            raise ModelError(
                "a task without position and orientation", where=context.where, expected="position or orientation"
            )
        frame = context.kinematics.frame(self.frame)
        rows, error, wanted = [], [], []
        for key, value in self.position.items():
            rows.append("xyz".index(key))
            wanted.append(context.value(value))
            error.append(wanted[-1] - frame.pose.P[rows[-1]])
        velocity = context.derivative(wanted, "the reference")
        if self.orientation is not None:
            R = self._turn(context)
            rows += [3, 4, 5]
            error += _orientation_error(frame.pose.R, R)
            velocity += _spin(context, R)
        return Task(rows, error, velocity, context.derivative(velocity, "the rate of the reference"))

    def _turn(self, context: Context) -> Matrix:
        roll, pitch, yaw = (context.value(x) for x in self.orientation or ())
        turns = ((StepKind.ROTATE_Z, yaw), (StepKind.ROTATE_Y, pitch), (StepKind.ROTATE_X, roll))
        return product(context.graph, [Step(kind, angle) for kind, angle in turns]).R

    def jacobian(self, context: Context, rows: Sequence[int]) -> list[list[Expr]]:
        """The rows of J that the task needs."""
        J = frame_jacobian(context.bench.tree, self.frame, Axes.WORLD)
        if all(x is context.graph.zero for i in rows for x in J[i]):
            raise ModelError(f"the frame '{self.frame}' cannot move as the task asks", where=context.where)
        return [J[i] for i in rows]

    def left(self, context: Context, rows: Sequence[int]) -> list[Expr]:
        """The acceleration of the frame at vdot = 0."""
        rest = acceleration(context.bench.tree, self.frame, context.bench.rest, Axes.WORLD)
        return [rest[i] for i in rows]


def _orientation_error(R: Matrix, wanted: Matrix) -> Vector:
    total = Vector.zero(R.graph)
    for mine, theirs in zip(R.T, wanted.T, strict=True):
        total += cross(mine, theirs)
    return 0.5 * total


def _spin(context: Context, R: Matrix) -> Vector:
    """Angular velocity in world axes: [w]x = R' R^T."""
    d = context.derivative([x for row in R for x in row], "the reference")
    turn = Matrix.of((d[0:3], d[3:6], d[6:9])) @ R.T
    return Vector(turn[2][1], turn[0][2], turn[1][0])


def _dot(u: Sequence[Expr], v: Sequence[Expr]) -> Expr:
    total = u[0].graph.zero
    for a, b in zip(u, v, strict=True):
        total = total + a * b
    return total


class _Second(TaskController):
    """Controllers that ask for the acceleration a = x_r'' + kd (x_r' - V) + kp (x_r - x)."""

    kp: Scalar = Field(description="1/s2")
    kd: Scalar | None = Field(None, description="1/s; by default 2 sqrt(kp)")
    null_damping: Scalar = Field(0.0, description="damping in the null space of the task")

    def wanted(self, context: Context, task: Task, J: Sequence[Sequence[Expr]]) -> list[Expr]:
        kp = context.value(self.kp)
        kd = 2.0 * sqrt(kp) if self.kd is None else context.value(self.kd)
        v = list(context.bench.system.v)
        accelerations = []
        for row, e, velocity, feed in zip(J, task.error, task.velocity, task.acceleration, strict=True):
            accelerations.append(feed + kd * (velocity - _dot(row, v)) + kp * e)
        return accelerations


class ResolvedAcceleration(_Second):
    """vdot = w_0 + J^+ (a - rest - J w_0), then the forces that make it; w_0 = -null_damping v, 1/s.

    J^+ gives the smallest accelerations where the arm has more joints than the task needs. With constraints, rows A
    vdot = b are added to those of the task.
    """

    kind = "resolved_acceleration"

    def build(self, context: Context, name: str) -> dict[str, Expr]:
        task, constraints = self.task(context), context.constraints
        J = self.jacobian(context, task.rows)
        a, rest = self.wanted(context, task, J), self.left(context, task.rows)
        damping = context.value(self.null_damping)
        own = [-(damping * v) for v in context.bench.system.v]
        right = [
            x - y
            for x, y in zip([*a, *constraints.b], [*rest, *(context.graph.zero for _ in constraints.b)], strict=True)
        ]
        table = [*J, *constraints.A]
        step, rank = minimum_norm_solve(
            table, [x - _dot(row, own) for x, row in zip(right, table, strict=True)], tolerance=self.tolerance
        )
        vdot = [x + y for x, y in zip(own, step, strict=True)]
        actuators = self.actuators(context)
        values = actuators.for_motion(dict(enumerate(vdot)))
        return self.act(context, name, actuators, values) | {"rank": rank}


class ResolvedRate(TaskController):
    """v_c = J^+ (x_r' + k (x_r - x)) are the speeds that lead to the reference; then vdot = v_c' + servo (v_c - v).

    Once the speeds are what they should be, the error falls as exp(-k t). v_c is recorded as ``speed_<name>``. With
    constraints, rows A v = -c are added to those of the task: a vehicle that cannot slip sideways.
    """

    kind = "resolved_rate"
    k: Scalar = Field(description="gain of the outer loop, 1/s")
    servo: Scalar = Field(description="gain of the speed loop, 1/s; several times k")

    def build(self, context: Context, name: str) -> dict[str, Expr]:
        task, constraints, system = self.task(context), context.constraints, context.bench.system
        table = [*self.jacobian(context, task.rows), *constraints.A]
        k, servo = context.value(self.k), context.value(self.servo)
        right = [velocity + k * e for velocity, e in zip(task.velocity, task.error, strict=True)]
        right += [-x for x in constraints.c]
        speeds, rank = minimum_norm_solve(table, right, tolerance=self.tolerance)
        rates = context.derivative(speeds, "the resolved speeds")
        wanted = {j: rate + servo * (v - system.v[j]) for j, (rate, v) in enumerate(zip(rates, speeds, strict=True))}
        actuators = self.actuators(context)
        forces = self.act(context, name, actuators, actuators.for_motion(wanted))
        named = {f"speed_{n}": v for n, v in zip(system.v.names, speeds, strict=True)}
        for x in system.mechanism.v:
            context.note(f"{name}_speed_{x.name}", x.unit, f"wanted {x.meaning}")
        return forces | named | {"rank": rank}


class OperationalSpace(_Second):
    """The frame as a body of inertia M_x (Khatib 1987): tau = J' F + tau_0, F = M_x (a - rest + J M^-1 (bias - tau_0)).

    M_x = (J M^-1 J')^+; tau_0 = -null_damping v, N m s, moves only what the task does not see, without disturbing it.
    """

    kind = "operational_space"

    def build(self, context: Context, name: str) -> dict[str, Expr]:
        bench = context.bench
        if not bench.system.mechanism.is_tree:
            raise ModelError(
                "operational-space control is for open chains",
                where=context.where,
                got="loops or constraints",
                remedy="resolved_acceleration takes them",
            )
        task = self.task(context)
        J = self.jacobian(context, task.rows)
        a, rest = self.wanted(context, task, J), self.left(context, task.rows)
        actuators = self.actuators(context)
        damping = context.value(self.null_damping)
        own = [-(damping * v) for v in bench.system.v]
        bias = [x - y for x, y in zip(actuators.inverse(bench.rest), own, strict=True)]
        felt = [bench.solve(row) for row in J]
        inverse = [[_dot(u, row) for row in J] for u in felt]
        right = [x - y + _dot(u, bias) for x, y, u in zip(a, rest, felt, strict=True)]
        F, rank = minimum_norm_solve(inverse, right, tolerance=self.tolerance**2)
        tau = [t + _dot(column, F) for t, column in zip(own, zip(*J, strict=True), strict=True)]
        return self.act(context, name, actuators, actuators.for_forces(tau)) | {"rank": rank}
