"""Descriptions that make no sense are refused before anything is derived from them."""

from __future__ import annotations

from collections.abc import Mapping

from torseur.describe import Mechanism
from torseur.describe.checks import Severity, faults, written
from torseur.errors import ModelError

__all__ = ["checked"]


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
