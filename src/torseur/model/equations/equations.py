"""Equations of a mechanism to read, print and copy; and methods written out for people, step by step.

Steps are text and LaTeX, simplified where that is possible: small expressions without intermediate results (that takes
sympy); larger ones, or all of them where sympy is not installed, as listings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from textwrap import indent
from typing import Any

from torseur.describe import Mechanism
from torseur.describe.checks import checked
from torseur.describe.faults import guess
from torseur.dynamics.quantities import QUANTITIES, Options, function_of, options_of
from torseur.dynamics.tree.kinematics import Axes, Task
from torseur.dynamics.workbench import collect
from torseur.emit.text import LANGUAGES, to_c, to_julia, to_latex, to_listing, to_matlab, to_python
from torseur.emit.text.latex import symbol
from torseur.errors import ArgumentError, CompileError, MissingExtra, TorseurError
from torseur.graph import Block, Count, Expr, Function, Stage, count, count_by_stage, ops
from torseur.graph.function import reachable
from torseur.model.equations.closed_form import LARGEST, Closed, closed_form
from torseur.model.equations.collected_terms import latex_symbols, rates_of, terms_of

__all__ = ["Equations", "Line", "Step", "Steps", "equations", "language_of", "line_of", "plain_latex"]


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
        at every evaluation: 8 products, 3 sums, 2 sine-cosine pairs
            t3 = sin(theta1)
            potential_energy = 9.81*t1*t3 + 9.81*(m2*l1*t3 + t2*(cos(theta1)*sin(theta2) + t3*cos(theta2)))
        """
        return to_listing(self.function, rates_of(self.function)[0])

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
        own = {"latex": self.latex, "text": self.text}
        return own[name]() if name in own else language_of(name)(self.function)

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
    if not isinstance(mechanism, Mechanism):
        raise ArgumentError(
            "equations are those of a mechanism",
            expected="what ts.load gives",
            got=type(mechanism).__name__,
            remedy="of a model: model.mechanism",
        )
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


_WIDEST = 110
"""Characters beyond which a matrix is written entry by entry."""

_MANY, _FEW = 600, 150
"""Terms up to which expressions are multiplied out; the fewer for what follows from the lines before."""


@dataclass(frozen=True)
class Line:
    """One equation of a step: its name as a word and in LaTeX, and an expression, column or matrix.

    One that `follows` from others in a way that the words say is written out only where that is short; one of `many`
    only if it is not zero.
    """

    name: str
    latex: str
    value: Any
    follows: bool = False
    many: bool = False


@dataclass(frozen=True)
class Step:
    """What is done, in words, and what it gives; one without a number comes after the method."""

    title: str
    words: tuple[str, ...] = ()
    lines: tuple[Line, ...] = ()
    numbered: bool = True


@dataclass(frozen=True)
class Steps:
    """A method applied to one mechanism.

    Attributes:
        title: of the method, and the name of the mechanism.
        steps: what is printed.
        blocks: the symbols in it.
    """

    title: str
    steps: tuple[Step, ...]
    blocks: tuple[Block, ...]

    def text(self) -> str:
        pieces = [self.title]
        for number, step in enumerate(self.steps, 1):
            head = f"{number}. {step.title}" if step.numbered else step.title
            body = [*step.words, *self._written(number, step, _matrix_text, to_listing)]
            pieces.append("\n".join([head, *(indent(text, "   ") for text in body)]))
        return "\n\n".join(pieces) + "\n"

    def latex(self) -> str:
        pieces = []
        for number, step in enumerate(self.steps, 1):
            head = rf"\paragraph{{{f'{number}. ' if step.numbered else ''}{plain_latex(step.title)}}}"
            words = " ".join(plain_latex(words) + "." for words in step.words)
            pieces += [f"{head} {words}".rstrip(), *self._written(number, step, _matrix_latex, _listing_latex)]
        return "\n".join(pieces) + "\n"

    def __str__(self) -> str:
        return self.text()

    def _written(
        self, number: int, step: Step, write: Callable[[Line, Closed], str], listing: Callable[[Function], str]
    ) -> Iterator[str]:
        """The lines of a step: first those that can be written out, then one listing of the others."""
        left = []
        for line in step.lines:
            function = self._function(line.name, [line])
            closed = self._closed(function, _FEW if line.follows else _MANY)
            if closed is None:
                left += [] if line.follows else [line]
            elif not line.many or not closed.is_zero(line.name):
                yield write(line, closed)
        if left:
            yield listing(self._function(f"step_{number}" if step.numbered else "reactions", left)).rstrip()

    def _function(self, name: str, lines: Sequence[Line]) -> Function:
        flat: list[Expr] = []
        collect([line.value for line in lines], flat)
        used = {node.data[0] for node in reachable(flat) if node.op is ops.SYMBOL}
        names = {"q", "v"} | used  # a speed is printed as the rate of its coordinate, which must be known
        return Function(name, [b for b in self.blocks if b.name in names], {line.name: line.value for line in lines})

    def _closed(self, function: Function, most: int) -> Closed | None:
        if terms_of(function) > most or count(function).total > LARGEST:
            return None
        try:
            return closed_form(function, tangents=True)
        except (MissingExtra, CompileError):
            return None


def _matrix_text(line: Line, closed: Closed) -> str:
    rows = closed.written(line.name)
    wide = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    lead = f"{line.name} = "
    if len(lead) + sum(wide) + 2 * len(wide) > _WIDEST:
        return "\n".join(_entry_by_entry(line.name, rows))
    if len(rows) == len(rows[0]) == 1:
        return lead + rows[0][0]
    padded = [f"[{'  '.join(x.ljust(w) for x, w in zip(row, wide, strict=True))}]" for row in rows]
    return lead + ("\n" + " " * len(lead)).join(padded)


def _entry_by_entry(name: str, rows: list[list[str]]) -> Iterator[str]:
    """All that is not zero."""
    for i, row in enumerate(rows, 1):
        for k, text in enumerate(row, 1):
            place = "" if len(rows) == len(row) == 1 else f"[{i}]" if len(row) == 1 else f"[{i},{k}]"
            if text != "0":
                yield f"{name}{place} = {text}"


def _matrix_latex(line: Line, closed: Closed) -> str:
    rows = closed.written(line.name, latex=True)
    body = " \\\\\n".join(" & ".join(row) for row in rows)
    if len(rows) > 1 or len(rows[0]) > 1:
        body = f"\\begin{{pmatrix}}\n{body}\n\\end{{pmatrix}}"
    return f"\\[\n{line.latex} = {body}\n\\]"


def _listing_latex(function: Function) -> str:
    return to_latex(function, latex_symbols(function))


def line_of(name: str, of: str, value: Any) -> Line:
    """A quantity of one body or row: M_arm, lam_pin_x."""
    greek = {"lambda": r"\lambda", "omega": r"\omega", "chi": r"\chi"}
    word = "lam" if name == "lambda" else name
    latex = greek.get(name) or symbol(name)
    subscript = rf"\mathrm{{{plain_latex(of)}}}"
    spelled = f"{latex[:-1]},{subscript}}}" if latex.endswith("}") and "_{" in latex else f"{latex}_{{{subscript}}}"
    return Line(f"{word}_{of}", spelled, value)


def plain_latex(text: str) -> str:
    """Words that LaTeX takes as they are."""
    return text.replace("_", r"\_").replace("^", r"\^{}")
