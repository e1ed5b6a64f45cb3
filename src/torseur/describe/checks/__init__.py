"""What can be wrong with a description, found without computing any motion; with errors, nothing is derived from it.

Faults are structural: names, the tree, numbers that cannot be, masses that are missing. How many degrees of freedom
loops and constraints leave is a question of rank, and of a later step.

>>> from torseur.describe import Body, Mechanism
>>> [fault.what for fault in faults(Mechanism(name="arm", bodies={"link": Body(parent="bse")}))]
["no body 'bse'"]
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from itertools import islice

from torseur.describe.checks.masses import impossible_inertias, massless_motions
from torseur.describe.checks.names import (
    closures,
    cycles,
    double_names,
    driven_coordinates,
    parents,
    unknown_names,
    unread_tables,
    unused_names,
)
from torseur.describe.checks.numbers import axes, coefficients, limits, orientations, sizes, units, wheels
from torseur.describe.checks.scope import Scope
from torseur.describe.faults import Fault, Severity, written
from torseur.describe.mechanism import Mechanism
from torseur.errors import ModelError

__all__ = ["Fault", "Severity", "checked", "faults", "written"]

MOST_OF_A_KIND = 50

_OF_STRUCTURE = double_names, unknown_names, unread_tables, cycles, parents, closures, driven_coordinates
_OF_NUMBERS = limits, units, orientations, axes, sizes, coefficients, impossible_inertias, massless_motions
_CHECKS = *_OF_STRUCTURE, *_OF_NUMBERS, wheels, unused_names


def faults(mechanism: Mechanism, *, of_numbers: bool = False) -> list[Fault]:
    """All structural faults of a mechanism, the worst first (at most fifty of a kind).

    Args:
        of_numbers: only those that other numbers for its parameters may bring.
    """
    return list(_found(mechanism, of_numbers))


@lru_cache(maxsize=4)  # a file is checked when it is read, and its mechanism when something is derived from it
def _found(mechanism: Mechanism, of_numbers: bool) -> tuple[Fault, ...]:
    scope = Scope(mechanism)
    checks = _OF_NUMBERS if of_numbers else _CHECKS
    unsorted = [fault for check in checks for fault in islice(check(scope), MOST_OF_A_KIND)]
    rank = {severity: k for k, severity in enumerate(Severity)}
    return tuple(sorted(unsorted, key=lambda fault: rank[fault.severity]))


def checked(mechanism: Mechanism, values: Mapping[str, float] | None = None, *, of_numbers: bool = False) -> Mechanism:
    """The mechanism itself; all its errors at once if it has any.

    Args:
        mechanism: the description.
        values: numbers for parameters, in place of its own.
        of_numbers: whether only the numbers are in question, everything else having been checked before.
    """
    given = {n: mechanism.parameters[n].model_copy(update={"value": x}) for n, x in (values or {}).items()}
    tried = mechanism.model_copy(update={"parameters": {**mechanism.parameters, **given}}) if given else mechanism
    said = f" with {', '.join(f'{n} = {x:g}' for n, x in (values or {}).items())}" if given else ""
    errors = [
        ModelError(
            fault.what,
            where=f"{mechanism.name}: {written(fault.path)}{said}",
            expected=fault.expected,
            got=fault.got,
            remedy=fault.remedy,
        )
        for fault in faults(tried, of_numbers=of_numbers)
        if fault.severity is Severity.ERROR
    ]
    if errors:
        raise ModelError.of(errors)
    return mechanism
