"""Parameters and inputs that nothing uses."""

from __future__ import annotations

from collections.abc import Iterator

from torseur.describe.checks.fault import Fault, Severity
from torseur.describe.checks.scope import Scope
from torseur.describe.fields import names_in

__all__ = ["unused_names"]


def unused_names(scope: Scope) -> Iterator[Fault]:
    used = names_in(scope.mechanism)
    for table, word in ((scope.mechanism.parameters, "parameters"), (scope.mechanism.inputs, "inputs")):
        for name in table:
            if name not in used:
                yield Fault((word, name), "nothing uses it", severity=Severity.NOTE)
