"""Equations of a mechanism, to read, print and copy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from torseur.describe import Mechanism
from torseur.describe.checks import checked
from torseur.describe.faults import guess
from torseur.dynamics.quantities import QUANTITIES, Options, function_of, options_of
from torseur.dynamics.tree.kinematics import Axes, Task
from torseur.emit.text import LANGUAGES, to_c, to_julia, to_latex, to_listing, to_matlab, to_python
from torseur.errors import ArgumentError, TorseurError
from torseur.graph import Count, Function, Stage, count, count_by_stage
from torseur.model.equations.closed_form import Closed, closed_form
from torseur.model.equations.collected_terms import latex_symbols, terms_of

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
        """The operations of one evaluation, after what needs parameters only has been done.

        >>> ts.equations(arm, "mass_matrix").count
        Count(products=3, sums=4, divisions=0, roots=0, pairs=1, functions=0, choices=0)
        """
        return self.counts[Stage.STATE]

    @property
    def counts(self) -> dict[Stage, Count]:
        """The operations by stage: once per parameter set, once per instant, at every evaluation.

        >>> [stage.name for stage in ts.equations(arm, "mass_matrix").counts]
        ['PARAMETER', 'TIME', 'STATE']
        """
        return count_by_stage(self.function)

    @property
    def total(self) -> Count:
        """The operations as if nothing were done beforehand.

        >>> ts.equations(arm, "mass_matrix").total
        Count(products=10, sums=6, divisions=0, roots=0, pairs=1, functions=0, choices=0)
        """
        return count(self.function)

    def text(self) -> str:
        """A listing, one intermediate result a line.

        >>> print(ts.equations(arm, "potential_energy").text())
        potential_energy(q[2], p[6]) -> potential_energy
        <BLANKLINE>
        once per parameter set: 2 products
            t1 = l1*m1
            t2 = l2*m2
        <BLANKLINE>
        at every evaluation: 8 products, 3 sums, 2 pairs
            t3 = sin(theta1)
            potential_energy_ = 9.81*t1*t3 + 9.81*(m2*l1*t3 + t2*(cos(theta1)*sin(theta2) + t3*cos(theta2)))
        """
        return to_listing(self.function)

    def latex(self) -> str:
        """The listing in LaTeX.

        >>> ts.equations(arm, "potential_energy").latex().count("=") > 2
        True
        """
        return to_latex(self.function, latex_symbols(self.function))

    def python(self) -> str:
        """A Python module.

        >>> "def" in ts.equations(arm, "potential_energy").python()
        True
        """
        return to_python(self.function)

    def c(self) -> str:
        """C99.

        >>> "double" in ts.equations(arm, "potential_energy").c()
        True
        """
        return to_c(self.function)

    def matlab(self) -> str:
        """A MATLAB function.

        >>> "function" in ts.equations(arm, "potential_energy").matlab()
        True
        """
        return to_matlab(self.function)

    def julia(self) -> str:
        """A Julia module.

        >>> "function" in ts.equations(arm, "potential_energy").julia()
        True
        """
        return to_julia(self.function)

    def in_language(self, name: str) -> str:
        """In a language by its name, as the command line has it.

        >>> "double" in ts.equations(arm, "potential_energy").in_language("c")
        True
        """
        return self.latex() if name == "latex" else language_of(name)(self.function)

    def closed(self) -> Closed:
        """Without intermediate results, simplified; for small mechanisms only (needs sympy).

        >>> print(ts.equations(arm, "gravity").closed())
        gravity[1] = 9.81*(m1 + m2)*l1*cos(theta1) + 9.81*m2*l2*cos(theta1 + theta2)
        gravity[2] = 9.81*m2*l2*cos(theta1 + theta2)
        """
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

    >>> ts.equations(ts.examples.load("rx90"), "inverse_dynamics").count
    Count(products=305, sums=297, divisions=0, roots=0, pairs=5, functions=0, choices=6)
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
