"""Kinds from other packages: loads, joints, blocks, methods, formats and languages beside those of the core.

A package offers its kinds with an entry point of the group ``torseur.extensions``, in its pyproject.toml:

    [project.entry-points."torseur.extensions"]
    magnets = "my_magnets:EXTENSION"

where ``my_magnets.EXTENSION`` is an `Extension`. Once the package is installed, its kinds work wherever those of the
core do: `load`, `simulate`, `open_run`, `resume`, the command line. A script or notebook calls `register` instead; on
the command line, ``--extensions my_magnets`` does so for a module, or a file, that is not installed.
Model files cannot name packages: what a file says is data, what is installed is the user's choice.

Packages are looked for when a kind is asked for that the core does not have, so models of the core cost nothing.

>>> fruits = Kinds("loads", {"apple": 1})
>>> fruits["apple"], "magnet" in fruits
(1, False)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeVar

from torseur.errors import ArgumentError, ModelError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = ["GROUP", "Extension", "Kinds", "extension_in", "installed", "is_own", "named", "nameless", "register"]

GROUP = "torseur.extensions"
"""The group of entry points."""

K = TypeVar("K")


@dataclass(frozen=True)
class Extension:
    """Kinds by the names that files and functions call them.

    Attributes:
        name: of the package, for messages.
        loads: subclasses of `torseur.describe.Load`.
        joints: instances of `torseur.spatial.joints.JointKind`.
        blocks: subclasses of `torseur.simulation.blocks.Block`.
        methods: integration methods, `torseur.simulation.solvers.methods`.
        formats: model file formats by ending, `torseur.formats`.
        documents: YAML files that expand into a mechanism, by the key that marks them.
        indicators: subclasses of `torseur.simulation.results.indicators.Indicator`.
        languages: of printed code: functions of a `torseur.graph.Function` that give its text, `torseur.emit.text`.
    """

    name: str
    loads: Mapping[str, Any] = field(default_factory=dict)
    joints: Mapping[str, Any] = field(default_factory=dict)
    blocks: Mapping[str, Any] = field(default_factory=dict)
    methods: Mapping[str, Any] = field(default_factory=dict)
    formats: Mapping[str, Any] = field(default_factory=dict)
    documents: Mapping[str, Any] = field(default_factory=dict)
    indicators: Mapping[str, Any] = field(default_factory=dict)
    languages: Mapping[str, Any] = field(default_factory=dict)


def is_own(kind: type) -> bool:
    """Whether a class is of this package: what is kept on disk is kept for the sources of this package alone."""
    return kind.__module__.partition(".")[0] == __name__.partition(".")[0]


_lock = RLock()
_registered: list[Extension] = []
_found: list[Extension] | None = None
_sources: dict[int, tuple[Extension, str]] = {}
"""Extensions that were found in a module or file, with its name, by their identity."""


def register(extension: Extension) -> None:
    """Offer kinds for the rest of this process: for scripts and notebooks; packages use an entry point.

    Registering under the name of an extension that was registered before replaces that one.
    """
    with _lock:
        _registered[:] = [x for x in _registered if x.name != extension.name]
        _registered.append(extension)


def named() -> tuple[str, ...]:
    """Modules and files whose extensions are registered: what another process has to load to know the same kinds."""
    return tuple(_sources[id(x)][1] for x in _registered if id(x) in _sources)


def nameless() -> tuple[str, ...]:
    """The names of extensions that are registered without a module: no other process can know them."""
    return tuple(x.name for x in _registered if id(x) not in _sources)


def installed() -> tuple[Extension, ...]:
    """The extensions of installed packages, then those that were registered."""
    global _found
    with _lock:
        if _found is None:
            from importlib.metadata import entry_points  # as heavy to import as the rest of the core's description

            _found = [_loaded(point) for point in entry_points(group=GROUP)]
        return (*_found, *_registered)


def _loaded(point: EntryPoint) -> Extension:
    given = point.load()
    if not isinstance(given, Extension):
        raise ModelError(
            f"the entry point '{point.name}' of the group {GROUP} is not an extension",
            where=point.value,
            expected="a torseur.extensions.Extension",
            got=type(given).__name__,
        )
    return given


def extension_in(module: str) -> Extension:
    """The ``EXTENSION`` of a module that the user names: one that can be imported, or a file that ends in .py.

    The module is executed: its name must come from the user, never from a file that is read.
    """
    try:
        if module.endswith(".py"):
            spec = spec_from_file_location(Path(module).stem, module)
            assert spec is not None
            assert spec.loader is not None
            made = module_from_spec(spec)
            spec.loader.exec_module(made)
        else:
            made = import_module(module)
    except (ImportError, OSError) as error:
        raise ArgumentError("there is no such module", where=module, got=str(error)) from error
    found = getattr(made, "EXTENSION", None)
    if not isinstance(found, Extension):
        expected = "EXTENSION = torseur.extensions.Extension(...)"
        raise ArgumentError("the module offers no extension", where=module, expected=expected, got=repr(found)[:80])
    _sources[id(found)] = found, str(Path(module).resolve()) if module.endswith(".py") else module
    return found


class Kinds(Mapping[str, K]):
    """A table of kinds: those of the core, then those of extensions.

    Args:
        table: which table of an `Extension` continues this one.
        core: the kinds of the core; no extension may take one of their names.
    """

    def __init__(self, table: str, core: Mapping[str, K]) -> None:
        self.table, self.core = table, dict(core)

    def __getitem__(self, name: str) -> K:
        return self.core[name] if name in self.core else self._further()[name]

    def __contains__(self, name: object) -> bool:
        return name in self.core or name in self._further()

    def __iter__(self) -> Iterator[str]:
        return iter((*self.core, *self._further()))

    def __len__(self) -> int:
        return len(self.core) + len(self._further())

    def __or__(self, more: Mapping[str, K]) -> Kinds[K]:
        """This table and further kinds, for one reader."""
        return Kinds(self.table, {**self.core, **more})

    def __repr__(self) -> str:
        return f"<kinds of {self.table}: {', '.join(self)}>"

    def _further(self) -> dict[str, K]:
        """The kinds of extensions; a name that is taken is an error that says by whom."""
        found: dict[str, K] = {}
        owners = dict.fromkeys(self.core, "the core")
        for extension in installed():
            for name, kind in getattr(extension, self.table).items():
                if name in owners:
                    raise ModelError(
                        f"two kinds of {self.table} are called '{name}'",
                        where=f"extension {extension.name}",
                        got=f"one of {owners[name]}, one of {extension.name}",
                        remedy="rename one, or remove one of the packages",
                    )
                owners[name], found[name] = extension.name, kind
        return found
