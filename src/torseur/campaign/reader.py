"""Files of campaigns (see docs/reference/campaigns.md).

A campaign begins with ``torseur_campaign: 1`` and names its study: a study or model file, from the folder of the
campaign, or the study itself; of a vehicle it may name the scenario too. All faults are told at once, with line and
column; those that show only when the study is built find their line too.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from torseur.campaign.checks import faults
from torseur.campaign.description import Campaign, Done
from torseur.campaign.factors import KINDS as FACTORS
from torseur.campaign.factors import ListOfValues
from torseur.campaign.measures import KINDS as MEASURES
from torseur.campaign.measures import FormulaOfIndicators
from torseur.describe.faults import Fault, guess
from torseur.describe.fields import Record
from torseur.describe.loads import KINDS as LOADS
from torseur.describe.mechanism import Mechanism
from torseur.errors import ModelError, TorseurError
from torseur.formats import contents
from torseur.formats.files import beside, columns_of, lines_of
from torseur.formats.yaml.nodes import Node, Source, find, parse, plain, take_down
from torseur.formats.yaml.short_forms import each_validated, shape, under, validated
from torseur.packs.vehicles.scenarios import ChosenScenario, load_scenario
from torseur.simulation.blocks import KINDS as BLOCKS
from torseur.simulation.study.reader import read_study, study_of_node
from torseur.simulation.study.study import Study

__all__ = ["KEY", "VERSION", "CampaignFile", "load_campaign", "read_campaign"]

KEY, VERSION = "torseur_campaign", 1
_KINDS: dict[str, Mapping[str, type[Record]]] = {"factors": FACTORS, "indicators": MEASURES}
SCENARIO = "scenario"
_APART = ("study", SCENARIO, *_KINDS)
R = TypeVar("R", bound=Record)


@dataclass(frozen=True)
class CampaignFile:
    """A campaign out of a file, and where its parts stand there."""

    campaign: Campaign
    source: Source
    root: Node

    @contextmanager
    def told(self) -> Iterator[None]:
        """While the campaign is made ready, faults of its fields are raised with their line and column."""
        try:
            yield
        except ModelError as error:
            every = error.faults or (error,)
            raise ModelError.of([self._placed(one) for one in every]) from error

    def _placed(self, error: ModelError) -> ModelError:
        steps = error.location
        if not steps or steps[0] not in Campaign.model_fields:
            return error
        mark, node = find(self.root, steps)
        fault = Fault(steps, error.what, expected=error.expected, got=error.got, remedy=error.remedy)
        return fault.in_file(self.source.at(mark), node.path)


def load_campaign(path: str | os.PathLike[str]) -> Campaign:
    """The campaign in a file (.yaml); all faults at once, as one ModelError."""
    return read_campaign(path).campaign


def read_campaign(path: str | os.PathLike[str]) -> CampaignFile:
    """A file as it stands: the campaign, and where its parts stand in the file."""
    file, source = Path(path), Source(str(path))
    root = parse(contents(file), source)
    _check_version(root, source)
    study = _study(root, source, file.parent)
    counts = {name: len(node.items) for name in _KINDS if (node := root.items.get(name)) is not None}
    tables = {
        name: each_validated(root.items.get(name), partial(_kind, kinds=kinds, source=source), source)
        for name, kinds in _KINDS.items()
    }
    rest = {k: x for k, x in root.items.items() if k not in (*_APART, KEY)}
    shaped = shape(Node(rest, root.mark, (), root.keys), Campaign, source)
    root = Node({**shaped.items, **{k: root.items[k] for k in _APART if k in root.items}}, root.mark, (), root.keys)
    given: dict[str, Any] = plain(shaped) | {"study": study or Study(model=Mechanism(name="missing"))} | tables
    are_read = _read_rows(given, root, source, file.parent)
    campaign = validated(Campaign, given, root, source)
    if campaign is not None and study is not None:
        found = [one for one in faults(campaign) if are_read or one.location[:1] != ("rows",)]
        lost = {name for name, count in counts.items() if len(tables[name]) < count}
        follows = {(name,) for name in lost} | ({("sampling",)} if "factors" in lost else set())  # "nothing is there"
        take_down(source.without_consequences([one for one in found if one.location not in follows]), root, source)
    source.stop_if_any()
    assert campaign is not None  # without, there is a fault
    return CampaignFile(campaign, source, root)


def _check_version(root: Node, source: Source) -> None:
    begin = f"{KEY}: {VERSION}"
    if not isinstance(root.value, dict):
        expected = f"a mapping that begins with '{begin}'"
        source.stop(root.mark, "this is not a campaign", expected=expected, got=root.kind)
    version = root.items.get(KEY)
    if version is None:
        source.fault(root.mark, (), "the version of the format is missing", remedy=f"begin with '{begin}'")
    elif version.value != VERSION or isinstance(version.value, bool):
        source.stop(version.mark, "a version of the format that is not known", expected=str(VERSION), got=version.kind)


def _study(root: Node, source: Source, folder: Path) -> Study | None:
    """The study that is named or given, with the scenario that is named."""
    node = root.items.get("study")
    if node is None:
        source.fault(root.mark, ("study",), "'study' is missing", expected="the name of a file, or a study")
        return None
    if not isinstance(node.value, (str, dict)):
        source.fault(node.mark, node.path, "expected the name of a file, or a study", got=node.kind)
        return None
    try:
        if isinstance(node.value, str):
            study = read_study(folder / node.value).anchored
        else:
            study = study_of_node(node, Source(source.file), folder, LOADS, BLOCKS).anchored
        if SCENARIO not in root.items:
            return study
        node = root.items[SCENARIO]
        chosen = _scenario(node, source, folder)
        return None if chosen is None else chosen.applied(study)
    except TorseurError as error:
        every = error.faults if isinstance(error, ModelError) and error.faults else (error,)
        parts = (
            {"where": e.where or source.at(node.mark), "expected": e.expected, "got": e.got, "remedy": e.remedy}
            for e in every
        )
        told = [e if isinstance(e, ModelError) else ModelError(e.what, **p) for e, p in zip(every, parts, strict=True)]
        source.add(node.mark, *told)
        return None


def _scenario(node: Node, source: Source, folder: Path) -> ChosenScenario | None:
    """A scenario by its name, or a name with values of its parameters."""
    shaped = shape(Node({"name": node}, node.mark, node.path) if isinstance(node.value, str) else node, Done, source)
    done = validated(Done, plain(shaped), shaped, source)
    if done is None:
        return None
    is_file = done.name.endswith((".yaml", ".yml"))
    return ChosenScenario(load_scenario(folder / done.name if is_file else done.name), done.parameters)


def _kind(node: Node, kinds: Mapping[str, type[Record]], source: Source) -> tuple[type[Record], Node] | None:
    """The kind of an entry and its contents; what is wrong is taken down."""
    if isinstance(node.value, list) and ListOfValues.kind in kinds:
        return ListOfValues, under(node, "values")
    if isinstance(node.value, str) and FormulaOfIndicators.kind in kinds:
        return FormulaOfIndicators, under(node, "value")
    if len(node.items) != 1:
        got = ", ".join(node.items) if node.items else node.kind
        expected = f"one of {', '.join(kinds)}"
        source.fault(node.mark, node.path, "this has exactly one kind", expected=expected, got=got)
        return None
    ((name, inner),) = node.items.items()
    if name not in kinds:
        expected_kinds, remedy = guess(name, kinds)
        source.fault(node.keys[name], inner.path, f"no kind '{name}'", expected=expected_kinds, remedy=remedy)
        return None
    kind = kinds[name]
    if isinstance(inner.value, list) and kind is ListOfValues:
        inner = under(inner, "values")
    elif isinstance(inner.value, str) and hasattr(kind, "main"):
        inner = under(inner, kind.main)
    elif inner.value is None:
        inner = Node({}, inner.mark, inner.path)
    return kind, shape(inner, kind, source)


def _read_rows(given: dict[str, Any], root: Node, source: Source, folder: Path) -> bool:
    """The numbers of a file of rows, in their place; whether nothing was wrong with them."""
    rows = given.get("rows")
    if not isinstance(rows, dict) or not isinstance(rows.get("file"), str) or not isinstance(rows.get("columns"), list):
        return True
    mark, node = find(root, ("rows", "file"))
    try:
        path = beside(folder, rows["file"], "the file of rows")
        lines = lines_of(contents(path).decode("utf-8-sig"))
        _, columns = columns_of(lines, str(path), [str(name) for name in rows["columns"]])
        rows["values"] = [list(row) for row in zip(*columns, strict=True)]
        return True
    except UnicodeDecodeError:
        source.fault(mark, node.path, "the file of rows is not a text file", expected="UTF-8")
    except ModelError as error:
        where = {"got": error.got or error.where, "expected": error.expected, "remedy": error.remedy}
        source.fault(mark, node.path, error.what, **where)
    return False
