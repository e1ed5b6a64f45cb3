"""The audit of what a run recorded: which balances there are, and what was given to each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from torseur.simulation.plant.facts import BalanceFacts
from torseur.simulation.plant.records import Rows
from torseur.simulation.results.audit import Balance, Gap, Margins, audit_of, energy_balance
from torseur.simulation.results.channels import Audit
from torseur.simulation.solvers.problem import Array

__all__ = ["audit_of_rows"]


def audit_of_rows(
    times: Array,
    rows: Rows,
    balances: BalanceFacts,
    impacts: Sequence[tuple[float, float, float]],
    margins: Margins,
) -> Audit:
    """Energy of each part that touches no other, momenta, impacts, gaps; arguments as in `audit_of`."""
    gaps = [Gap("loops and constraints", "m", rows.gap)] if rows.gap is not None else []
    gaps += [Gap("contacts and stops", "m", rows.depth)] if rows.depth is not None else []
    energies = list(_energies(rows, balances))
    # Weight and what carries it cancel in momenta: the energy, at a metre a second, tells how large they are.
    size = max(balance.rounded_from for balance in energies)
    return audit_of(times, [*energies, *_momenta(rows, size)], gaps, impacts, margins)


def _energies(rows: Rows, balances: BalanceFacts) -> Iterator[Balance]:
    for k, account in enumerate(balances.accounts):
        given = {name: rows.works[name] for name in account.works}
        given |= {name: jump[:, k] for name, jump in rows.jumps.items()}
        name = f"energy of {account.name}" if account.name else "energy"
        yield energy_balance(name, rows.kinetic[k], rows.potential[:, k], given)


def _momenta(rows: Rows, size: float) -> Iterator[Balance]:
    if rows.momenta is None or rows.impulses is None:
        return
    skipped = rows.potential.shape[1]
    for name, unit, part in (("linear", "N s", slice(0, 3)), ("angular", "N m s", slice(3, 6))):
        has = rows.momenta[:, part]
        if has.size:
            pushed = {what: jump[:, skipped:][:, part] for what, jump in rows.jumps.items()}
            pushed["forces"] = rows.impulses[:, part]
            present = float(np.max(np.linalg.norm(has, axis=1), initial=0.0))
            yield Balance(f"{name} momentum", unit, has, pushed, present, size=size)
