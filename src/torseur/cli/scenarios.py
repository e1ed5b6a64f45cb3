"""``torseur scenarios``, and scenarios for ``torseur simulate``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from torseur.cli.assignments import assigned, number, pair
from torseur.describe.faults import guess
from torseur.describe.formulas import Formula
from torseur.errors import ArgumentError

if TYPE_CHECKING:
    from torseur.packs.vehicles.scenarios.description import Scenario, ScenarioParameter
    from torseur.simulation.study.reader import StudyFile
    from torseur.simulation.study.study import Study

__all__ = ["scenarios", "with_scenario"]


@click.command("scenarios")
@click.argument("name", required=False)
@click.option("--file", "as_file", is_flag=True, help="Print the file itself, as a template for your own.")
def scenarios(name: str | None, as_file: bool) -> None:
    """List the scenarios of vehicles, or show one with its parameters.

    NAME is one of the list, or a file of your own.
    `torseur simulate car.yaml --scenario NAME --set PARAMETER=VALUE` runs one.
    """
    from torseur.packs.vehicles.scenarios import load_scenario, scenario_names
    from torseur.packs.vehicles.scenarios.reader import scenario_text

    if name is None:
        width = max(map(len, scenario_names()))
        for each in scenario_names():
            click.echo(f"{each:<{width}}  {load_scenario(each).title}")
        return
    if as_file:
        click.echo(scenario_text(name)[0].decode("utf-8"), nl=False)
        return
    _show(load_scenario(name))


def _show(scenario: Scenario) -> None:
    click.secho(f"{scenario.name}: {scenario.title}", bold=True)
    if scenario.source:
        click.echo(f"source: {scenario.source}")
    if scenario.unverified:
        click.secho(f"unverified: {scenario.unverified}", fg="yellow")
    rows = [(name, _default(p), p.unit, p.description) for name, p in scenario.parameters.items()]
    widths = [max(len(row[k]) for row in rows) for k in range(3)]
    for row in rows:
        click.echo("  " + "  ".join(f"{text:<{w}}" for text, w in zip(row, (*widths, 0), strict=True)).rstrip())


def _default(parameter: ScenarioParameter) -> str:
    if parameter.found is not None:
        return f"found by {parameter.found.scenario}"
    value = parameter.value
    return value.text if isinstance(value, Formula) else f"{value:g}"


def with_scenario(read: StudyFile, name: str, pairs: Sequence[str]) -> StudyFile:
    """The study of a scenario; pairs are parameters of the scenario, or what a study may be told."""
    from torseur.packs.vehicles.scenarios import ChosenScenario, load_scenario
    from torseur.simulation.run.simulate import study_of

    scenario = load_scenario(name)
    given = [pair(text) for text in pairs]
    values = {key: number(key, value) for key, value in given if key in scenario.parameters}
    for key in values.keys() & read.study.model.parameters.keys():
        click.secho(
            f"note: '{key}' is a parameter of the model too: that of the scenario is set", fg="yellow", err=True
        )
    _check_known([key for key, _ in given if key not in values], scenario, read.study)
    rest = [text for text, (key, _) in zip(pairs, given, strict=True) if key not in values]
    study = study_of(read.study, **assigned(read.study, rest))
    found = {key: p.found for key, p in scenario.parameters.items() if p.found is not None and key not in values}
    for key, origin in found.items():
        click.echo(f"finding {key} by a run of {origin.scenario} ...", err=True)
    with read.told():
        return read.with_study(ChosenScenario(scenario, values).applied(study))


def _check_known(names: Sequence[str], scenario: Scenario, study: Study) -> None:
    model = study.model
    known = [*(x.name for x in (*model.q, *model.v)), *model.inputs, *model.parameters]
    for name in names:
        if name not in known:
            expected, remedy = guess(name, [*scenario.parameters, *known])
            raise ArgumentError(
                f"'{name}' is not a parameter of the scenario '{scenario.name}', nor of the model",
                where="--set",
                expected=expected or f"one of {', '.join(scenario.parameters)}",
                remedy=remedy,
            )
