"""States worth looking for, of a mechanism or of its model: closed ones, equilibria, and what is linear about them; and
what can only be found with numbers: whether loops close at the start, what stays free, what contradicts itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from torseur.describe import Mechanism
from torseur.describe.checks import Fault, Severity
from torseur.describe.faults import Location
from torseur.errors import MissingValue, ModelError, NumericalError, TorseurError
from torseur.model.assembly import Assembled, Closing
from torseur.model.equilibria import Balance, Equilibrium
from torseur.model.linearisation import Linearised
from torseur.model.mobility import Mobility
from torseur.model.model import Model, build
from torseur.model.rows import owners_in_words

__all__ = ["MobilityReport", "assemble", "equilibrium", "linearise", "mobility_report"]

Values = ArrayLike | Mapping[str, float] | None


def _model(of: Mechanism | Model) -> Model:
    return of if isinstance(of, Model) else build(of)


def assemble(
    mechanism: Mechanism | Model,
    guess: Values = None,
    *,
    speeds: Values = None,
    hold: Sequence[str] = (),
    closing: Closing | None = None,
    **keywords: Any,
) -> Assembled:
    """Coordinates and speeds that loops and constraints allow, near a guess.

    Args:
        mechanism: a description, or the model built from it.
        guess: coordinates (..., nq), or some of them by name; by default those of the description. It decides which
            of several closed positions is found.
        speeds: wished speeds (..., nv), or some of them by name; they become the allowed ones nearest to them.
        hold: names of coordinates, and of speeds, that must not change.
        closing: tolerances and patience.
        keywords: t, inputs, parameters.

    >>> import torseur as ts
    >>> wheel = {"joint": {"kind": "revolute", "coordinate": "a"}, "inertia": {"M": 1.0, "ZZ": 1.0}}
    >>> pinion = {"joint": {"kind": "revolute", "coordinate": "b"}, "inertia": {"M": 1.0, "ZZ": 1.0}}
    >>> gears = Mechanism(
    ...     name="gears",
    ...     bodies={"wheel": wheel, "pinion": pinion},
    ...     constraints={"teeth": {"coupling": {"coordinate": "b", "equals": "-3*a"}}},
    ... )
    >>> found = ts.assemble(gears, {"a": 0.5}, hold=["a", "da"], speeds={"da": 2.0})
    >>> [round(float(x), 12) for x in found.q], [round(float(x), 12) for x in found.v]
    ([0.5, -1.5], [2.0, -6.0])
    """
    return _model(mechanism).assemble(guess, speeds=speeds, hold=hold, closing=closing, **keywords)


def linearise(
    mechanism: Mechanism | Model,
    at: Any = None,
    *,
    inputs: Sequence[str] | None = None,
    outputs: Sequence[str] | None = None,
    independent: Sequence[str] = (),
    tau: ArrayLike | None = None,
    t: float | None = None,
    input_values: Values = None,
    parameters: Values = None,
) -> Linearised:
    """The linear model dx/dt = A x + B u, y = C x + D u about a state, loops and constraints included, and its modes.

    About a steady motion the coordinates that count must not change: spin a wheel by a joint of its own rather than by
    a floating base.

    Args:
        mechanism: a description, or the model built from it.
        at: a state: by default the start of the description; some coordinates and speeds by name, the others follow;
            anything with q and v, such as what `assemble` and `equilibrium` return; or a pair (q, v).
        inputs: names of inputs, and tau_<speed> for generalised forces; by default the inputs of the description that
            move no constraint, or all generalised forces if it has none.
        outputs: names of outputs, coordinates and speeds; by default the outputs of the description, or all
            coordinates and speeds if it has none.
        independent: names of coordinates and speeds that are to be states.
        tau: generalised forces (nv) at the state, beside those of the loads.
        t: time, s.
        input_values: of the inputs at the state.
        parameters: in place of those of the model.

    >>> import torseur as ts
    >>> rod = {"joint": {"kind": "revolute", "coordinate": "q"}, "inertia": {"M": 1.0, "MX": 1.0, "ZZ": 1.0}}
    >>> pendulum = Mechanism(name="pendulum", gravity=(9.81, 0, 0), bodies={"rod": rod})
    >>> lin = ts.linearise(pendulum)
    >>> lin.states, lin.A.round(12).tolist(), round(lin.modes[0].frequency, 6)
    (('q', 'dq'), [[0.0, 1.0], [-9.81, 0.0]], 0.498488)
    """
    return _model(mechanism).linearise(
        at,
        inputs=inputs,
        outputs=outputs,
        independent=independent,
        tau=tau,
        t=t,
        input_values=input_values,
        parameters=parameters,
    )


def equilibrium(
    mechanism: Mechanism | Model,
    guess: Values = None,
    *,
    speeds: Values = None,
    hold: Sequence[str] = (),
    free_inputs: Sequence[str] = (),
    tau: ArrayLike | None = None,
    balance: Balance | None = None,
    t: float | None = None,
    inputs: Values = None,
    parameters: Values = None,
) -> Equilibrium:
    """A state at which nothing accelerates: at rest, or in a steady motion; and inputs that make it so.

    Args:
        mechanism: a description, or the model built from it.
        guess: coordinates (nq,), or some of them by name; by default those of the description.
        speeds: of a steady motion: some by name, the others follow; or all of them (nv,). At rest by default.
        hold: names of coordinates that keep their values. What holds them supplies the force, unless free inputs or the
            free speeds of a steady motion can.
        free_inputs: names of inputs that are sought too (trim).
        tau: generalised forces (nv) beside those of the loads.
        balance: tolerances and patience.
        t: time, s.
        inputs: values of the inputs; those that are free start there.
        parameters: in place of those of the model.

    >>> import torseur as ts
    >>> body = {"joint": {"kind": "prismatic", "coordinate": "z"}, "inertia": {"M": 2.0}}
    >>> from torseur.describe import SpringDamper
    >>> spring = SpringDamper(coordinate="z", stiffness=100.0)
    >>> scale = Mechanism(name="scale", gravity=(0, 0, -9.81), bodies={"body": body}, loads={"spring": spring})
    >>> rest = ts.equilibrium(scale)
    >>> round(float(rest.q[0]), 9), rest.stability.name
    (-0.1962, 'NEUTRAL')
    """
    return _model(mechanism).equilibrium(
        guess,
        speeds=speeds,
        hold=hold,
        free_inputs=free_inputs,
        tau=tau,
        balance=balance,
        t=t,
        inputs=inputs,
        parameters=parameters,
    )


@dataclass(frozen=True)
class MobilityReport:
    """What is free at the start, in words, and what is wrong with it.

    Attributes:
        lines: statements.
        mobility: the numbers behind them; None where they could not be found.
        faults: with paths in the description.
    """

    lines: tuple[str, ...]
    mobility: Mobility | None = None
    faults: tuple[Fault, ...] = ()


def mobility_report(mechanism: Mechanism) -> MobilityReport:
    """The mobility of a mechanism without structural faults, at its start."""
    n = len(mechanism.v)
    if mechanism.is_tree:
        return MobilityReport((f"{n} degree{'s' * (n != 1)} of freedom: no loops and no constraints",))
    try:
        mobility = build(mechanism).mobility()
    except MissingValue as error:
        return MobilityReport((f"degrees of freedom not computed: no value for {error.got}",))
    except (ModelError, NumericalError) as error:
        return MobilityReport(("degrees of freedom not computed: see below",), faults=(_from_error(mechanism, error),))
    return MobilityReport(tuple(mobility.lines()), mobility, tuple(_faults(mobility)))


def _from_error(mechanism: Mechanism, error: TorseurError) -> Fault:
    """An error of the numbers as a fault of the entry it names first."""
    where = error.where or ""
    named = [(where.find(f"{table}.{name}"), (table, name)) for table, name in _entries(mechanism)]
    path: Location = min([(place, path) for place, path in named if place >= 0], default=(0, ()))[1]
    text = where.removeprefix(f"{mechanism.name}: ")
    what = f"{error.what}: {text}" if text else error.what
    return Fault(path, what, expected=error.expected, got=error.got, remedy=error.remedy)


def _entries(mechanism: Mechanism) -> Iterator[tuple[str, str]]:
    yield from (("loops", name) for name in mechanism.loops)
    yield from (("constraints", name) for name in mechanism.constraints)


def _faults(mobility: Mobility) -> Iterator[Fault]:
    if mobility.contradictory:
        yield Fault(
            mobility.contradictory[0].asked_by,
            f"constraints that contradict each other: no speeds satisfy {owners_in_words(mobility.contradictory)}",
            remedy="remove one of them, or make them compatible",
        )
    if mobility.is_singular:
        yield Fault(
            mobility.redundant[0].asked_by if mobility.redundant else (),
            "it starts in a singular position: its motion is not determined there",
            got="; ".join(mobility.lines()),
            remedy="start a little beside it",
            severity=Severity.WARNING,
        )
    if mobility.massless:
        yield Fault(
            (),
            f"no mass moves along {', '.join(mobility.massless)}, which loops and constraints allow",
            remedy="give the bodies an inertia, or prescribe the coordinate",
            severity=Severity.WARNING,
        )
