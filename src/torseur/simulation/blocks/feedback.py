"""Control of one quantity by its error (PD, PID), and of coordinates with the mechanism's own equations.

====  ================================================================
e     q_ref - q (DeSantis' e has the other sign)                        rad, m
M     inertia matrix, D in DeSantis 1996
====  ================================================================
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, ClassVar

from pydantic import AfterValidator, Field

from torseur.describe.annotations import Anything, CoordinateName
from torseur.describe.faults import guess
from torseur.describe.fields import FrozenDict, Scalar
from torseur.errors import ModelError
from torseur.graph import Expr, maximum, minimum, sqrt, substitute
from torseur.simulation.blocks.actuation import Controller, Gains, gain
from torseur.simulation.blocks.base import Block
from torseur.simulation.blocks.context import Context

__all__ = ["ComputedTorque", "Pd", "PdRegulator", "Pid", "within"]


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
