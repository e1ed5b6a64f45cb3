"""Parameters, inputs and tables that nothing uses."""

from __future__ import annotations

from collections.abc import Iterator

from torseur.describe.annotations import FoundFormula, walk
from torseur.describe.checks.scope import Scope
from torseur.describe.faults import Fault, Severity
from torseur.describe.fields import names_in

__all__ = ["unused_names"]


def unused_names(scope: Scope) -> Iterator[Fault]:
    used = names_in(scope.mechanism)
    formulas = [found.formula for found in walk(scope.mechanism) if isinstance(found, FoundFormula)]
    looked_up = {name for formula in formulas for name, _ in formula.tables}
    for name in scope.mechanism.tables:
        if name not in looked_up:
            yield Fault(("tables", name), "nothing uses it", severity=Severity.NOTE)
    for table, word in ((scope.mechanism.parameters, "parameters"), (scope.mechanism.inputs, "inputs")):
        for name in table:
            if name not in used:
                yield Fault((word, name), "nothing uses it", severity=Severity.NOTE)
