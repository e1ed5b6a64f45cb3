"""Scenarios: manoeuvres as small data files, applied to any vehicle that can do them; their reference in Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from torseur.describe.formulas import Formula
from torseur.formats.yaml.writer import flow, plain
from torseur.packs.vehicles.indicators import INDICATORS
from torseur.packs.vehicles.scenarios.application import ChosenScenario, scenario
from torseur.packs.vehicles.scenarios.description import Scenario, ScenarioParameter
from torseur.packs.vehicles.scenarios.reader import load_scenario, scenario_names
from torseur.simulation.results.indicators import Extreme, Indicator

__all__ = ["ChosenScenario", "Scenario", "load_scenario", "reference", "scenario", "scenario_names"]


def reference() -> str:
    """A section for each scenario, then one for the kinds of indicators."""
    lines = ["## The scenarios", ""]
    for name in scenario_names():
        lines += _scenario(load_scenario(name))
    lines += ["## Kinds of indicators", ""]
    kinds: Mapping[str, type[Indicator]] = {Extreme.kind: Extreme, **INDICATORS}
    for kind, record in kinds.items():
        lines += [f"### `{kind}`", "", " ".join((record.__doc__ or "").split()), ""]
        lines += ["| field | by default | meaning |", "|---|---|---|"]
        for field, info in record.model_fields.items():
            default = "required" if info.is_required() else _written(info.default)
            lines.append(f"| `{field}` | {default} | {info.description} |")
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def _scenario(scenario: Scenario) -> Iterator[str]:
    yield from (f"### {scenario.name}", "", f"{scenario.title}.", "")
    if scenario.source:
        yield from (f"Source: {scenario.source}.", "")
    if scenario.unverified:
        yield from (f"Unverified: {scenario.unverified}", "")
    yield from ("| parameter | by default | unit | meaning |", "|---|---|---|---|")
    for name, parameter in scenario.parameters.items():
        yield f"| `{name}` | {_default(parameter)} | {parameter.unit} | {parameter.description} |"
    kinds = [one.kind for one in scenario.indicators.values()]
    if scenario.gates:
        kinds.insert(0, "course")
    yield from ("", "Indicators: " + ", ".join(f"`{kind}`" for kind in kinds) + ".", "")


def _default(parameter: ScenarioParameter) -> str:
    if parameter.found is not None:
        return f"found by `{parameter.found.scenario}`"
    return _written(parameter.value)


def _written(value: object) -> str:
    if isinstance(value, Formula):
        return f"`{value.text}`"
    return "" if value is None or value == {} else f"`{flow(plain(value))}`"
