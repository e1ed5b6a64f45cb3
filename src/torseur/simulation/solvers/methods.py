"""The methods a study can name. One table, which packages extend: the solvers themselves know nothing of names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from torseur.describe.faults import guess
from torseur.errors import ArgumentError
from torseur.extensions import Kinds
from torseur.simulation.solvers.rosenbrock import RODAS4
from torseur.simulation.solvers.second_order import EASYDYN, NEWMARK, generalised_alpha, hht, newmark
from torseur.simulation.solvers.stepper import Method
from torseur.simulation.solvers.tableaux import DOP853, DOPRI5, RK4

__all__ = ["METHODS", "NamedMethod", "method_of"]


@dataclass(frozen=True)
class NamedMethod:
    """A method under the name studies use, what it is for, and whether it needs the second-order form."""

    method: Method
    meaning: str
    is_implicit: bool = False
    make: Callable[..., Method] | None = None
    """Makes it with other numbers than the usual ones."""
    numbers: tuple[str, ...] = ()
    """Which."""

    @property
    def audit(self) -> float:
        """The share of amounts exchanged that balances may be off by: a method of order 2 promises less."""
        return 1e-6 if self.method.order > 2 else 1e-3


_CORE = {
    "dop853": NamedMethod(DOP853, "Dormand and Prince, order 8, steps by error: smooth motion, tight tolerance"),
    "dopri5": NamedMethod(DOPRI5, "Dormand and Prince, order 5, steps by error: events, loose tolerance"),
    "rk4": NamedMethod(RK4, "Kutta's classical method, order 4, given step: the quickest, and the one for batches"),
    "rodas": NamedMethod(RODAS4, "Hairer and Wanner's RODAS 4(3), L-stable, steps by error: stiff models"),
    "newmark": NamedMethod(
        NEWMARK, "Newmark, order 2, given step: keeps energy of linear vibrations", True, newmark, ("beta", "gamma")
    ),
    "easydyn": NamedMethod(
        EASYDYN,
        "Newmark with the step control of EasyDyn",
        True,
        partial(newmark, control=EASYDYN.control),
        ("beta", "gamma"),
    ),
    "hht": NamedMethod(
        hht(), "Hilber, Hughes and Taylor, order 2, given step: damps high frequencies", True, hht, ("alpha",)
    ),
    "generalised_alpha": NamedMethod(
        generalised_alpha(),
        "Chung and Hulbert, order 2, given step, loops at position level",
        True,
        generalised_alpha,
        ("rho",),
    ),
}

METHODS: Kinds[NamedMethod] = Kinds("methods", _CORE)
"""The methods of the core, and those of extensions."""


def method_of(name: str, numbers: Mapping[str, float] | None = None) -> NamedMethod:
    """A method by name, with numbers of its own where they are given."""
    if name not in METHODS:
        expected, remedy = guess(name, METHODS)
        raise ArgumentError(f"no method '{name}'", where=("solver", "method"), expected=expected, remedy=remedy)
    choice, given = METHODS[name], dict(numbers or {})
    strange = [number for number in given if number not in choice.numbers]
    if strange:
        expected = ", ".join(choice.numbers) or "none"
        raise ArgumentError(f"'{name}' has no {', '.join(strange)}", where=("solver", strange[0]), expected=expected)
    return replace(choice, method=choice.make(**given)) if given and choice.make is not None else choice
