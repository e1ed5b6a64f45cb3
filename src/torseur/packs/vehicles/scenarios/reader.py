"""Scenario files: YAML that begins with ``torseur_scenario: 1``. Those of this package lie in its folder `files`."""

from __future__ import annotations

import os
from collections.abc import Collection
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from torseur.describe.faults import guess
from torseur.describe.fields import names_in
from torseur.errors import ArgumentError
from torseur.formats.files import contents
from torseur.formats.yaml.nodes import Node, Source, parse, plain
from torseur.formats.yaml.short_forms import shape, validated
from torseur.packs.vehicles.scenarios.description import KNOWN, Scenario

__all__ = ["KEY", "load_scenario", "scenario_names", "scenario_text"]

KEY = "torseur_scenario"
VERSION = 1


@cache
def _shipped() -> dict[str, Traversable]:
    folder = files("torseur.packs.vehicles.scenarios").joinpath("files")
    found = sorted((file for file in folder.iterdir() if file.name.endswith(".yaml")), key=lambda file: file.name)
    return {file.name.removesuffix(".yaml"): file for file in found}


def scenario_names() -> tuple[str, ...]:
    """The scenarios of this package.

    >>> "iso_3888_2" in scenario_names()
    True
    """
    return tuple(_shipped())


def load_scenario(name: str | os.PathLike[str]) -> Scenario:
    """A scenario by its name, or out of a file (.yaml)."""
    text, where = scenario_text(name)
    source = Source(where)
    return _scenario(parse(text, source), source)


def scenario_text(name: str | os.PathLike[str]) -> tuple[bytes, str]:
    """The text of a scenario, and where it stands."""
    path = Path(name)
    if path.suffix.lower() in (".yaml", ".yml"):
        return contents(path), str(path)
    shipped = _shipped()
    if str(name) not in shipped:
        expected, remedy = guess(str(name), shipped)
        raise ArgumentError(
            f"no scenario '{name}'",
            expected=expected or "the name of a scenario, or a file that ends in .yaml",
            remedy=remedy or "`torseur scenarios` lists them; a file of your own ends in .yaml",
        )
    return shipped[str(name)].read_bytes(), f"{name}.yaml"


def _scenario(root: Node, source: Source) -> Scenario:
    version = root.items.get(KEY)
    if version is None or version.value != VERSION or isinstance(version.value, bool):
        mark = root.mark if version is None else version.mark
        got = "none" if version is None else version.kind
        source.stop(mark, "this is not a scenario", expected=f"a mapping that begins with {KEY}: {VERSION}", got=got)
    items = {key: item for key, item in root.items.items() if key != KEY}
    node = shape(Node(items, root.mark, root.path, root.keys), Scenario, source)
    found = validated(Scenario, plain(node), node, source)
    if found is not None:
        _check(found, node, source)
    source.stop_if_any()
    assert found is not None  # without, there is a fault
    return found


def _check(scenario: Scenario, root: Node, source: Source) -> None:
    """Values of parameters use what is known before them, and have one origin."""
    known = set(KNOWN)
    for name, parameter in scenario.parameters.items():
        node = root.items["parameters"].items[name]
        if name in KNOWN:
            source.fault(node.mark, node.path, f"'{name}' is known of every vehicle", remedy="call it otherwise")
        if (parameter.value is None) == (parameter.found is None):
            source.fault(node.mark, node.path, "give exactly one of value, found")
        _check_names(parameter, node, known, source)
        known.add(name)
    for name, value in scenario.quantities.items():
        node = root.items["quantities"].items[name]
        if name in known:
            source.fault(node.mark, node.path, f"the name '{name}' is taken", remedy="call it otherwise")
        _check_names(value, node, known, source)
        known.add(name)


def _check_names(value: object, node: Node, known: Collection[str], source: Source) -> None:
    for used in sorted(names_in(value) - set(known)):
        expected, remedy = guess(used, known)
        expected = expected or "parameters before it, and what is known of the vehicle"
        source.fault(node.mark, node.path, f"unknown name '{used}'", expected=expected, remedy=remedy)
