"""Equations of a mechanism, to read, print and copy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from torseur.describe import Mechanism
from torseur.describe.faults import guess
from torseur.dynamics.quantities import QUANTITIES, Options, function_of, options_of
from torseur.dynamics.tree.kinematics import Axes, Task
from torseur.emit.text import LANGUAGES, to_c, to_julia, to_latex, to_listing, to_matlab, to_python
from torseur.errors import ArgumentError, TorseurError
from torseur.graph import Count, Function, Stage, count, count_by_stage
from torseur.model.checked import checked
from torseur.model.equations.closed_form import Closed, closed_form
from torseur.model.equations.collected_terms import terms_of
from torseur.model.equations.notation import latex_symbols

__all__ = ["Equations", "equations", "language_of"]

_SMALL = 200
"""Operations, and terms once multiplied out, up to which a notebook shows closed forms."""


def language_of(name: str) -> Callable[[Function], str]:
    """What writes a function in a language; those of other packages are known (`torseur.extensions`)."""
    if name not in LANGUAGES:
        expected, remedy = guess(name, LANGUAGES)
        raise ArgumentError(f"no language '{name}'", where="format", expected=expected, remedy=remedy)
    return LANGUAGES[name]


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
        return to_latex(self.function, latex_symbols(self.function))

    def python(self) -> str:
        return to_python(self.function)

    def c(self) -> str:
        return to_c(self.function)

    def matlab(self) -> str:
        return to_matlab(self.function)

    def julia(self) -> str:
        return to_julia(self.function)

    def in_language(self, name: str) -> str:
        """In a language by its name, as the command line has it."""
        return self.latex() if name == "latex" else language_of(name)(self.function)

    def closed(self) -> Closed:
        """Without intermediate results, simplified; for small mechanisms only (needs sympy)."""
        return closed_form(self.function)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<Equations of {self.function.name}: {self.count}>"

    def _repr_latex_(self) -> str | None:
        """For notebooks: the closed form where it is small, else nothing, and they show the line of `repr`."""
        if count(self.function).total > _SMALL or terms_of(self.function) > _SMALL:
            return None
        try:
            return self.closed().latex()
        except TorseurError:
            return None


def equations(
    mechanism: Mechanism,
    quantity: str = "inverse_dynamics",
    *,
    base_parameters: bool = False,
    loads: bool = True,
    frame: str | None = None,
    axes: Axes | str = Axes.OWN,
    task: Task | str = Task.POSE,
    independent: Sequence[str] | str | None = None,
    actuated: Sequence[str] | str | None = None,
) -> Equations:
    """The equations of a quantity.

    Args:
        mechanism: the description; parameters stay symbols.
        quantity: inverse_dynamics, mass_matrix, ...
        base_parameters: with regrouped inertial parameters. Quantities of the motion of a closed mechanism (forward
            dynamics, reduced forms, efforts of actuators) are then right at closed states only.
        loads: with springs, friction, efforts, wrenches and drag.
        frame: for poses, Jacobians, operational space, ...
        axes: "own" axes of the frame, or those of the "world".
        task: for the operational space: "pose", "position" or "orientation". Its formulas hold away from singular
            positions wherever the task can be met.
        independent: for kane and reduced forms: speeds, or quasi-speeds "name = formula"; chosen where none are given.
        actuated: for actuator_efforts: the coordinates; by default those with efforts or motors.
    """
    base = Options(base_parameters=base_parameters, loads=loads, regular=True)
    options = options_of(
        mechanism,
        quantity,
        base,
        frame=frame,
        axes=axes,
        task=task,
        independent=independent,
        actuated=actuated,
    )
    if base_parameters and not mechanism.is_tree and QUANTITIES[quantity].of_closed_motion:
        options = replace(options, closed_parameters=True)
    return Equations(function_of(checked(mechanism), quantity, options))
