"""Control of a frame: where it should be is given in the world, the forces follow from the mechanism's equations.

DeSantis 1996, remark 4.2: first find accelerations (resolved acceleration: Luh, Walker & Paul 1980) or velocities
(resolved rate: Whitney 1982) that lead the frame where it should be, then the forces that make them. Both steps hold
for nonholonomic vehicles as well: what the constraints ask of the speeds is solved for together with the task.

=======  ==========================================================================================  ============
x, R     position and orientation of the frame; x_r, R_r where they should be                         m, -
J, rest  V = J v; the acceleration of the frame is J vdot + rest; rows of the task, world axes
A, b, c  of the constraints: A v + c = 0, A vdot = b
o        1/2 sum of R e_k x R_r e_k: the error of orientation, an axis times the sine of the angle      rad
=======  ==========================================================================================  ============
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from torseur.describe.annotations import Anything, AnyTriple, FrameName
from torseur.describe.fields import FrozenDict, Scalar
from torseur.dynamics.tree.kinematics import Axes, acceleration, frame_jacobian
from torseur.errors import ModelError
from torseur.graph import Expr, minimum_norm_solve, sqrt
from torseur.simulation.blocks.actuation import Controller
from torseur.simulation.blocks.context import Context
from torseur.spatial.pose import Step, StepKind, product
from torseur.spatial.vectors import Matrix, Vector, cross

__all__ = ["OperationalSpace", "ResolvedAcceleration", "ResolvedRate"]

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
    tolerance: float = Field(1e-6, gt=0.0, lt=1.0, description="directions weaker than this count as lost")

    def task(self, context: Context) -> Task:
        """What is asked of the frame."""
        if not self.position and self.orientation is None:
            raise ModelError("a task that asks for nothing", where=context.where, expected="position or orientation")
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
    null_damping: Scalar = Field(0.0, description="of motions that the task does not see")

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
    k: Scalar = Field(description="of the outer loop, 1/s")
    servo: Scalar = Field(description="of the loop of the speeds, 1/s; some times k")

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
