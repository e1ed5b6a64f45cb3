"""Equations of a mechanism, to read, print and copy."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

from torseur.describe import Mechanism
from torseur.dynamics.jacobians import Axes
from torseur.dynamics.quantities import QUANTITIES, Options, function_of
from torseur.emit.text import to_c, to_julia, to_latex, to_listing, to_matlab, to_python
from torseur.errors import ArgumentError
from torseur.graph import Count, Function, Stage, count, count_by_stage
from torseur.model.checked import checked
from torseur.model.closed import Closed, closed_form

__all__ = ["Equations", "equations"]


@dataclass(frozen=True)
class Equations:
    """One quantity of one mechanism, with its intermediate results."""

    function: Function

    @property
    def count(self) -> Count:
        """The operations of one evaluation, after what needs parameters only has been done."""
        return self.counts[Stage.STATE]

    @property
    def counts(self) -> dict[Stage, Count]:
        return count_by_stage(self.function)

    @property
    def total(self) -> Count:
        """The operations as if nothing were done beforehand."""
        return count(self.function)

    def text(self) -> str:
        """A listing, one intermediate result a line."""
        return to_listing(self.function)

    def latex(self) -> str:
        return to_latex(self.function)

    def python(self) -> str:
        return to_python(self.function)

    def c(self) -> str:
        return to_c(self.function)

    def matlab(self) -> str:
        return to_matlab(self.function)

    def julia(self) -> str:
        return to_julia(self.function)

    def closed(self) -> Closed:
        """Without intermediate results, simplified; for small mechanisms only (needs sympy)."""
        return closed_form(self.function)

    def __str__(self) -> str:
        return self.text()


def equations(
    mechanism: Mechanism,
    quantity: str = "inverse_dynamics",
    *,
    base_parameters: bool = False,
    loads: bool = True,
    frame: str | None = None,
    axes: Axes = Axes.OWN,
    independent: Sequence[str] | None = None,
    actuated: Sequence[str] | None = None,
) -> Equations:
    """The equations of a quantity.

    Args:
        mechanism: the description; parameters stay symbols.
        quantity: inverse_dynamics, mass_matrix, ...
        base_parameters: with regrouped inertial parameters. Quantities of the motion of a closed mechanism (forward
            dynamics, reduced forms, efforts of actuators) are then right at closed states only.
        loads: with springs, friction, efforts, wrenches and drag.
        frame, axes: for quantities of a frame.
        independent: for kane and reduced forms: speeds, or quasi-speeds "name = formula"; chosen where none are given.
        actuated: for actuator_efforts: the coordinates; by default those with drives.
    """
    if quantity not in QUANTITIES:
        near = difflib.get_close_matches(quantity, QUANTITIES, 1)
        remedy = f"did you mean {near[0]}?" if near else None
        raise ArgumentError(f"no quantity '{quantity}'", expected=", ".join(QUANTITIES), remedy=remedy)
    if frame is not None and frame not in mechanism.frames:
        near = difflib.get_close_matches(frame, mechanism.frames, 1)
        remedy = f"did you mean {near[0]}?" if near else None
        raise ArgumentError(f"no frame '{frame}'", expected=", ".join(mechanism.frames), remedy=remedy)
    options = Options(
        base_parameters=base_parameters,
        closed_parameters=base_parameters and not mechanism.is_tree and QUANTITIES[quantity].of_closed_motion,
        loads=loads,
        frame=frame,
        axes=axes,
        independent=None if independent is None else tuple(independent),
        actuated=None if actuated is None else tuple(actuated),
    )
    return Equations(function_of(checked(mechanism), quantity, options))
