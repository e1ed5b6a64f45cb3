"""``torseur equations``: the equations of a mechanism, to read, to copy, to count."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from torseur.cli.commands import ModelFile, base_option, extensions_option
from torseur.errors import ArgumentError

if TYPE_CHECKING:
    from torseur.describe import Mechanism
    from torseur.model.equations import Equations
    from torseur.model.equations.equations import Steps

__all__ = ["equations"]

_OF_THE_TREE = frozenset(
    {
        "inverse_dynamics",
        "mass_matrix",
        "bias",
        "gravity",
        "coriolis",
        "regressor",
        "inverse_dynamics_derivatives",
        "inverse_dynamics_by_parameters",
    }
)
"""Quantities that loops and constraints have no part in, though they have one in the motion."""


@click.command("equations")
@click.argument("file", metavar="MODEL", type=ModelFile())
@click.option("--of", "quantity", default="inverse_dynamics", show_default=True, help="Which quantity.")
@click.option(
    "--format",
    "language",
    metavar="LANGUAGE",
    default="text",
    show_default=True,
    help="text, latex, python, c, matlab, julia, or a language of an extension.",
)
@click.option(
    "--form",
    type=click.Choice(["listing", "closed"]),
    default="listing",
    show_default=True,
    help="With intermediate results, or written out and simplified (small mechanisms, text or latex).",
)
@click.option("--base-parameters", is_flag=True, help="Regroup inertial parameters: fewer operations, same motion.")
@click.option("--without-loads", is_flag=True, help="Leave springs, friction, efforts and wrenches out.")
@click.option("--frame", help="Frame, for poses, Jacobians and the like.")
@click.option("--axes", type=click.Choice(["own", "world"]), default="own", show_default=True, help="Axes of --frame.")
@click.option(
    "--task",
    type=click.Choice(["pose", "position", "orientation"]),
    default="pose",
    show_default=True,
    help="Coordinates of the operational space.",
)
@click.option(
    "--independent",
    metavar="SPEED",
    multiple=True,
    help="For kane and reduced forms: a speed, or a quasi-speed 'name = formula'; once for each freedom.",
)
@click.option(
    "--actuated",
    metavar="COORDINATE",
    multiple=True,
    help="For actuator_efforts, and joint_forces with loops; once for each actuator.",
)
@click.option("--steps", is_flag=True, help="With --of kane or lagrange: the method step by step (text or latex).")
@click.option("--count", "counting", is_flag=True, help="Print the number of operations instead.")
@base_option
@extensions_option
@click.option("-o", "--output", type=click.Path(path_type=Path), help="File to write; by default it is printed.")
def equations(
    file: Path,
    quantity: str,
    language: str,
    form: str,
    base_parameters: bool,
    without_loads: bool,
    frame: str | None,
    axes: str,
    task: str,
    independent: tuple[str, ...],
    actuated: tuple[str, ...],
    steps: bool,
    counting: bool,
    base: str | None,
    output: Path | None,
) -> None:
    """Print the equations of a mechanism, or count their operations.

    Quantities: inverse_dynamics, forward_dynamics, mass_matrix, bias, gravity, coriolis, kinetic_energy, pose,
    jacobian, regressor, base_parameters, joint_forces, kane, lagrange, reduced_mass_matrix, ... (a wrong one lists
    them all).
    """
    from torseur.formats import replace_file
    from torseur.model.equations import equations as derived
    from torseur.model.equations import language_of
    from torseur.simulation.study.reader import load_model

    language_of(language)  # refused before anything is derived
    mechanism = load_model(file, base=base)
    if not mechanism.is_tree and quantity in _OF_THE_TREE:
        click.echo("note: loops and constraints are not in these equations, which are those of the tree", err=True)
    if steps:
        text = _steps(mechanism, quantity, language, independent, loads=not without_loads)
    elif quantity == "base_parameters" and language == "text" and not counting:
        text = _groupings(mechanism)
    else:
        result = derived(
            mechanism,
            quantity,
            base_parameters=base_parameters,
            loads=not without_loads,
            frame=frame,
            axes=axes,
            task=task,
            independent=independent or None,
            actuated=actuated or None,
        )
        text = "\n".join(_counts(result)) + "\n" if counting else _written(result, language, form)
    if output is None:
        click.echo(text, nl=False)
    else:
        replace_file(output, text.encode("utf-8"))


def _steps(mechanism: Mechanism, quantity: str, language: str, independent: tuple[str, ...], *, loads: bool) -> str:
    from torseur.model import kane_steps, lagrange_steps

    if quantity not in ("kane", "lagrange"):
        expected = "--of kane --steps, or --of lagrange --steps"
        raise ArgumentError("there are no steps to print", got=f"--of {quantity}", expected=expected)
    if language not in ("text", "latex"):
        raise ArgumentError(
            "the steps of a method are written as text or LaTeX only",
            got=f"--format {language}",
            expected="--format text or latex",
        )
    steps: Steps
    if quantity == "kane":
        steps = kane_steps(mechanism, independent=independent or None, loads=loads)
    elif independent:
        raise ArgumentError("Lagrange's coordinates are those of the model", got="--independent", expected="--of kane")
    else:
        steps = lagrange_steps(mechanism, loads=loads)
    return steps.text() if language == "text" else steps.latex()


def _groupings(mechanism: Mechanism) -> str:
    from torseur.describe.checks import checked
    from torseur.dynamics.parameters.base_parameters import base_parameters
    from torseur.dynamics.parameters.closed_structures import closed_base_parameters
    from torseur.dynamics.parameters.groupings import closed_groupings, groupings
    from torseur.dynamics.workbench import Options, Workbench

    bench = Workbench(checked(mechanism), Options(base_parameters=False))
    if mechanism.is_tree:
        return groupings(base_parameters(bench.tree))
    return closed_groupings(closed_base_parameters(bench))


def _written(result: Equations, language: str, form: str) -> str:
    if form == "closed":
        if language not in ("text", "latex"):
            raise ArgumentError(
                "a closed form is written as text or LaTeX only",
                got=f"--format {language}",
                expected="--format text or latex",
            )
        closed = result.closed()
        return closed.text() if language == "text" else closed.latex()
    return result.in_language(language)


def _counts(result: Equations) -> Iterator[str]:
    """Operations by when they are done, and in all."""
    from torseur.emit.text.reading import WHEN

    yield f"{result.function.name}:"
    for stage, count in result.counts.items():
        if count.total or stage is max(result.counts):
            yield f"  {WHEN[stage]}: {count}"
    if sum(count.total > 0 for count in result.counts.values()) > 1:
        yield f"  in all: {result.total}"
