"""Coordinates at which loops are closed and constraints hold, as near as can be to the wished ones.

What was asked for by name does not move. Where nothing closes, the picture shows the gap.
"""

from __future__ import annotations

from dataclasses import replace

from torseur.errors import ModelError, NumericalError
from torseur.model.assembly import Closing, Loops
from torseur.model.build import build
from torseur.views.scheme.values import Values

__all__ = ["assembled"]

DRAWN = Closing(tolerance=1e-9, restarts=6)
"""Closed to the eye, and patient enough for a picture."""


def assembled(values: Values) -> Values:
    """The values with coordinates that satisfy loops and constraints, and a note of what does not close."""
    mechanism = values.system.mechanism
    if mechanism.is_tree:
        return values
    held = [k for k, x in enumerate(mechanism.q) if x.name in values.held]
    parameters = dict(zip(values.system.p.names, map(float, values.p), strict=True))
    try:
        found = Loops(build(mechanism, parameters=parameters), DRAWN, held).closed_one(values.q)
    except (ModelError, NumericalError):
        values.notes.append("loops and couplings do not close from this pose; the gaps are drawn")
        return values
    return replace(values, q=found.q[0])
