"""The methods a study can name. One table: the solvers themselves know nothing of names."""

from __future__ import annotations

from dataclasses import dataclass

from torseur.describe.checks.fault import guess
from torseur.errors import ArgumentError
from torseur.simulation.solvers.rosenbrock import RODAS4
from torseur.simulation.solvers.second_order import EASYDYN, NEWMARK, generalised_alpha, hht
from torseur.simulation.solvers.stepper import Method
from torseur.simulation.solvers.tableaux import DOP853, DOPRI5, RK4

__all__ = ["METHODS", "Choice", "method_of"]


@dataclass(frozen=True)
class Choice:
    """A method under the name studies use, what it is for, and whether it needs the second-order form."""

    method: Method
    meaning: str
    is_implicit: bool = False

    @property
    def audit(self) -> float:
        """The share of amounts exchanged that balances may be off by: a method of order 2 promises less."""
        return 1e-6 if self.method.order > 2 else 1e-3


METHODS: dict[str, Choice] = {
    "dop853": Choice(DOP853, "Dormand and Prince, order 8, steps by error: smooth motion, tight tolerance"),
    "dopri5": Choice(DOPRI5, "Dormand and Prince, order 5, steps by error: events, loose tolerance"),
    "rk4": Choice(RK4, "Kutta's classical method, order 4, given step: the quickest, and the one for batches"),
    "rodas": Choice(RODAS4, "Hairer and Wanner's RODAS 4(3), L-stable, steps by error: stiff models"),
    "newmark": Choice(NEWMARK, "Newmark, order 2, given step: keeps energy of linear vibrations", True),
    "easydyn": Choice(EASYDYN, "Newmark with the step control of EasyDyn", True),
    "hht": Choice(hht(), "Hilber, Hughes and Taylor, order 2, given step: damps high frequencies", True),
    "generalised_alpha": Choice(
        generalised_alpha(), "Chung and Hulbert, order 2, given step, loops at position level", True
    ),
}


def method_of(name: str) -> Choice:
    """A method by name."""
    if name not in METHODS:
        expected, remedy = guess(name, METHODS)
        raise ArgumentError(f"no method '{name}'", where="solver.method", expected=expected, remedy=remedy)
    return METHODS[name]
