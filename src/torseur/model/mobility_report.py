"""What can only be found with numbers: whether loops close at the start, what stays free, what contradicts itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from torseur.describe import Mechanism
from torseur.describe.checks import Fault, Severity
from torseur.describe.faults import Location
from torseur.errors import MissingValue, ModelError, NumericalError, TorseurError
from torseur.model.mobility import Mobility
from torseur.model.model import build
from torseur.model.rows import owners_in_words

__all__ = ["MobilityReport", "mobility_report"]


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
        return MobilityReport((f"{n} degree{'s' * (n != 1)} of freedom: nothing but the joints ties the bodies",))
    try:
        found = build(mechanism).mobility()
    except MissingValue as error:
        return MobilityReport((f"degrees of freedom not computed: no value for {error.got}",))
    except (ModelError, NumericalError) as error:
        return MobilityReport(("degrees of freedom not computed: see below",), faults=(_from_error(mechanism, error),))
    return MobilityReport(tuple(found.lines()), found, tuple(_faults(found)))


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


def _faults(found: Mobility) -> Iterator[Fault]:
    if found.contradictory:
        yield Fault(
            found.contradictory[0].asked_by,
            f"constraints that contradict each other: no speeds meet {owners_in_words(found.contradictory)}",
            remedy="remove one of them, or let them ask for the same",
        )
    if found.is_singular:
        yield Fault(
            found.redundant[0].asked_by if found.redundant else (),
            "it starts in a singular position: its motion is not determined there",
            got="; ".join(found.lines()),
            remedy="start a little beside it",
            severity=Severity.WARNING,
        )
    if found.massless:
        yield Fault(
            (),
            f"no mass moves along {', '.join(found.massless)}, which loops and constraints allow",
            remedy="give the bodies an inertia, or prescribe the coordinate",
            severity=Severity.WARNING,
        )
