"""Which forces a controller has, and which of them give wanted accelerations; motors, from voltage to torque.

A controller acts by generalised forces on speeds, or through inputs of the description (efforts, motors behind gears,
thrusters). The loads are Q = Q_0 + B u, so with the model's inverse dynamics at u = 0,

    M vdot + bias - A' lambda = B u,    A vdot = b

Speeds whose acceleration is given move to the right; left are u, the multipliers lambda and the accelerations of the
other speeds (a floating base, passive joints, joints that a loop moves). Gear, rotor and friction of a motor are the
load `motor` of a description.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import AfterValidator, Field

from torseur.describe.annotations import Anything
from torseur.describe.faults import guess
from torseur.describe.fields import FrozenDict, Name, Scalar
from torseur.errors import ModelError
from torseur.graph import Expr, jacobian, maximum, minimum, minimum_norm_solve, ops, select, substitute
from torseur.graph.function import reachable
from torseur.simulation.blocks.base import Block
from torseur.simulation.blocks.context import Context

__all__ = ["Actuators", "Armature", "Controller", "Force", "Gains", "force_unit", "gain"]

Gains = Annotated[dict[Name, Scalar], AfterValidator(FrozenDict)] | Scalar
"""One number for all, or one for each name."""


def gain(context: Context, gains: Gains, name: str, what: str) -> Expr:
    """The gain of one name."""
    if not isinstance(gains, dict):
        return context.value(gains)
    if name not in gains:
        raise ModelError(f"no {what} for '{name}'", where=context.where, got=", ".join(gains) or "nothing")
    return context.value(gains[name])


@dataclass(frozen=True)
class Actuators:
    """Forces on speeds or inputs, with the generalised forces B (nv rows) that each makes when it is one."""

    context: Context
    names: tuple[str, ...]
    B: list[list[Expr]]
    are_inputs: bool

    def inverse(self, vdot: Sequence[Expr]) -> list[Expr]:
        """tau for accelerations, as if these actuators did nothing."""
        tau = self.context.bench.inverse(list(vdot))
        return substitute(tau, self._off)

    @property
    def _off(self) -> dict[Expr, Expr | float]:
        u = self.context.bench.system.u
        return {u[name]: 0.0 for name in self.names} if self.are_inputs else {}

    def for_forces(self, tau: Sequence[Expr]) -> list[Expr]:
        """The actuators' values that make generalised forces, on a mechanism without constraints."""
        direct = self._one_each()
        if direct is not None:
            return [tau[row] / self.B[row][k] for k, row in enumerate(direct)]
        return minimum_norm_solve(self.B, list(tau))[0]

    def _one_each(self) -> list[int] | None:
        """The row that each actuator acts on alone, if they are as many as rows and each has its own."""
        zero = self.context.graph.zero
        if len(self.B) != len(self.names):
            return None
        rows = [[i for i, row in enumerate(self.B) if row[k] is not zero] for k in range(len(self.names))]
        taken = [places[0] for places in rows if len(places) == 1]
        return taken if len(set(taken)) == len(self.names) else None

    def for_motion(self, wanted: Mapping[int, Expr]) -> list[Expr]:
        """The actuators' values with which the named speeds (by place) get the wanted accelerations."""
        context, constraints = self.context, self.context.constraints
        g, n = context.graph, self.context.bench.tree.nv
        given = [wanted.get(j, g.zero) for j in range(n)]
        tau = self.inverse(given)
        if len(wanted) == n and not constraints.rows:
            return self.for_forces(tau)
        free = [j for j in range(n) if j not in wanted]
        A, b = constraints.A, substitute(constraints.b, self._off)
        M = context.bench.matrix
        table = [[*(M[i][j] for j in free), *(-x for x in self.B[i]), *(-row[i] for row in A)] for i in range(n)]
        right = [-x for x in tau]
        if free:
            still = [g.zero] * (len(self.names) + len(A))
            table += [[*(row[j] for j in free), *still] for row in A]
            right += [x - _dot(row, given) for row, x in zip(A, b, strict=True)]
        forces, _ = minimum_norm_solve(table, right)
        return forces[len(free) : len(free) + len(self.names)]


def _dot(u: Sequence[Expr], v: Sequence[Expr]) -> Expr:
    total = u[0].graph.zero
    for a, b in zip(u, v, strict=True):
        total = total + a * b
    return total


class Controller(Block):
    """What controllers that know the mechanism share: where their forces act.

    Gives one result for each actuator, called by its input or speed.
    """

    inputs: tuple[Name, ...] = Field((), description="inputs it drives; without any, it acts on speeds directly")
    speeds: tuple[Name, ...] = Field((), description="speeds it acts on; by default all, or those with a reference")
    limit: Gains | None = Field(None, description="largest magnitude of each value, N or N m; or per name")
    apply: bool = Field(
        True, strict=True, description="false: the efforts are only calculated, for use by other blocks"
    )

    def actuators(self, context: Context, default: Sequence[str] = ()) -> Actuators:
        """The forces at hand."""
        if self.inputs and self.speeds:
            raise ModelError("a controller acts on inputs or on speeds, not on both", where=context.where)
        return _inputs(context, self.inputs) if self.inputs else _speeds(context, self.speeds or tuple(default))

    def act(self, context: Context, block: str, actuators: Actuators, values: Sequence[Expr]) -> dict[str, Expr]:
        """Cut the values, apply them, and name them."""
        forces: dict[str, Expr] = {}
        for name, value in zip(actuators.names, values, strict=True):
            unit = input_unit(context, name) if actuators.are_inputs else force_unit(context, name)
            context.note(f"{block}_{name}", unit, f"what {block} asks of {name}")
            if self.limit is not None:
                most = gain(context, self.limit, name, "limit")
                value = maximum(minimum(value, most), -most)
            forces[name] = value
            if self.apply and actuators.are_inputs:
                context.drive(name, value)
            elif self.apply:
                context.force(name, value)
        return forces


def force_unit(context: Context, speed: str) -> str:
    """Of the generalised force on a speed."""
    return next(("N" if x.unit == "m/s" else "N m" for x in context.bench.system.mechanism.v if x.name == speed), "")


def input_unit(context: Context, name: str) -> str:
    return context.bench.system.mechanism.inputs[name].unit or ""


def _speeds(context: Context, names: tuple[str, ...]) -> Actuators:
    g, known = context.graph, [x.name for x in context.bench.system.mechanism.v]
    chosen = names or tuple(known)
    for name in chosen:
        if name not in known:
            expected, remedy = guess(name, known)
            raise ModelError(f"no speed '{name}' to act on", where=context.where, expected=expected, remedy=remedy)
    B = [[g.one if name == speed else g.zero for name in chosen] for speed in known]
    return Actuators(context, chosen, B, are_inputs=False)


def _inputs(context: Context, names: tuple[str, ...]) -> Actuators:
    u, bench = context.bench.system.u, context.bench
    for name in names:
        if name not in u.names:
            expected, remedy = guess(name, u.names)
            raise ModelError(f"no input '{name}' to drive", where=context.where, expected=expected, remedy=remedy)
    symbols = [u[name] for name in names]
    B = [[-x for x in row] for row in jacobian(bench.inverse(bench.rest), symbols).dense()]
    ids = {x.id for x in symbols}
    bent = {n.id for n in reachable([x for row in B for x in row]) if n.op is ops.SYMBOL} & ids
    idle = [name for k, name in enumerate(names) if all(row[k] is context.graph.zero for row in B)]
    if bent or idle:
        said = "forces do not grow in proportion to an input" if bent else "an input moves nothing"
        got = ", ".join(idle or [name for name, x in zip(names, symbols, strict=True) if x.id in bent])
        raise ModelError(f"a controller cannot use what it is given: {said}", where=context.where, got=got)
    return Actuators(context, names, B, are_inputs=True)


class Armature(Block):
    """The armature of a direct-current motor: inductance di/dt + resistance i + constant w = voltage.

    Gives ``torque`` = constant i, N m, and ``current`` i, A. With a limit the drive's electronics keep |i| below it: at
    the limit the current does not grow. Without inductance the current follows at once.
    """

    kind = "armature"
    units: ClassVar[Mapping[str, str]] = {"torque": "N m", "current": "A"}
    voltage: Anything = Field(description="at the terminals, V")
    speed: Anything = Field(description="w of the rotor, rad/s: ratio times the joint's speed, e.g. 50*dq1")
    resistance: Scalar = Field(description="ohm")
    inductance: Scalar = Field(0.0, description="H")
    constant: Scalar = Field(description="k, N m/A and V s/rad")
    current_limit: Scalar | None = Field(None, description="A")
    start: Scalar = Field(0.0, description="current at the start, A")

    def build(self, context: Context, name: str) -> dict[str, Expr]:
        k = context.constant(self.constant, "the motor constant")
        R = context.constant(self.resistance, "the resistance", least=0.0, open=True)
        L = context.constant(self.inductance, "the inductance", least=0.0)
        drop = context.value(self.voltage) - k * context.value(self.speed)
        if L is context.graph.zero:
            i = self._limited(context, drop / R)
        else:
            state = context.state(f"{name}_armature", self.start, unit="A")
            rate = (drop - R * state) / L
            i = self._limited(context, state)
            if self.current_limit is not None:
                limit = context.constant(self.current_limit, "the current limit", least=0.0, open=True)
                context.event(f"{name}_limit_above", state - limit)
                context.event(f"{name}_limit_below", state + limit)
                rate = select(state >= limit, minimum(rate, 0.0), select(state <= -limit, maximum(rate, 0.0), rate))
            context.rate(state, rate)
        return {"torque": k * i, "current": i}

    def _limited(self, context: Context, i: Expr) -> Expr:
        if self.current_limit is None:
            return i
        limit = context.constant(self.current_limit, "the current limit", least=0.0, open=True)
        return maximum(minimum(i, limit), -limit)


class Force(Block):
    """A generalised force on one speed of the mechanism, added to its loads: an ideal motor at a joint."""

    kind = "force"
    speed: str = Field(description="the speed it acts on, e.g. dq1")
    value: Anything = Field(description="N or N m")

    def build(self, context: Context, name: str) -> Expr:
        value = context.value(self.value)
        context.force(self.speed, value)
        context.note(name, force_unit(context, self.speed), f"force on {self.speed}")
        return value
