"""The names by which formulas of a study read multipliers: lambda_ROW, as they are recorded."""

from __future__ import annotations

from torseur.describe.mechanism import Mechanism

__all__ = ["is_multiplier"]


def is_multiplier(name: str, mechanism: Mechanism) -> bool:
    """Whether a name may be that of a multiplier: its row begins with what asks for it.

    Which rows there are is known only when they are built.

    >>> is_multiplier("lambda_ground", Mechanism(name="nothing"))
    False
    """
    row = name.removeprefix("lambda_")
    stops = (x.name for x in mechanism.q)
    owners = (*mechanism.loops, *mechanism.constraints, *mechanism.loads, *stops)
    return row != name and any(row == owner or row.startswith(f"{owner}_") for owner in owners)
