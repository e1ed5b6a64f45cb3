"""Descriptions that make no sense are refused before anything is derived from them."""

from __future__ import annotations

from torseur.describe import Mechanism
from torseur.describe.checks import Severity, faults, written
from torseur.errors import ModelError

__all__ = ["checked"]


def checked(mechanism: Mechanism) -> Mechanism:
    """The mechanism itself; all its errors at once if it has any."""
    errors = [
        ModelError(
            fault.what,
            where=f"{mechanism.name}: {written(fault.path)}",
            expected=fault.expected,
            got=fault.got,
            remedy=fault.remedy,
        )
        for fault in faults(mechanism)
        if fault.severity is Severity.ERROR
    ]
    if errors:
        raise ModelError.of(errors)
    return mechanism
