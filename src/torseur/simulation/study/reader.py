"""Files of studies (see docs/reference/studies.md).

A study begins with ``torseur_study: 1`` and names its model: the name of a file, from the folder of the study, or the
model itself. A model file alone is a study, with defaults. All faults are told at once, with line and column; those
that show only when the study is built find their line too.

>>> file = study_of_text('''
... torseur_study: 1
... model:
...   name: slide
...   inputs: {f: {unit: N}}
...   bodies: {cart: {joint: {kind: prismatic, coordinate: x}, inertia: {M: 2}}}
...   loads: {push: {effort: {coordinate: x, value: f}}}
... start: {x: 0.5}
... inputs: {f: {step: {time: 1, after: 3}}}
... until: 2
... solver: rk4
... ''')
>>> file.study.inputs["f"], file.study.solver.method
(Step(time=1.0, before=0.0, after=3.0), 'rk4')
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from torseur.describe.checks import Severity
from torseur.describe.evaluation import with_base
from torseur.describe.faults import Fault, guess
from torseur.describe.fields import FrozenDict
from torseur.describe.loads import KINDS as LOADS
from torseur.describe.loads import Load
from torseur.describe.mechanism import Mechanism
from torseur.errors import ModelError, TorseurError, TorseurWarning
from torseur.formats import Reading, contents, read
from torseur.formats.yaml.nodes import Node, Source, find, parse, plain, take_down
from torseur.formats.yaml.reader import (
    STUDY_KEY,
    VERSION_KEY,
    document_of,
    whole_document,
)
from torseur.formats.yaml.reader import VERSION as MODEL_VERSION
from torseur.formats.yaml.short_forms import each_validated, shape, under, validated
from torseur.simulation.blocks import KINDS, Block, Constant, FormulaSignal, Recorded
from torseur.simulation.study.checks import faults
from torseur.simulation.study.study import Study, study_of_listing

__all__ = [
    "SHORT",
    "VERSION",
    "StudyFile",
    "load_model",
    "load_study",
    "read_model",
    "read_study",
    "study_of_node",
    "study_of_text",
]

VERSION = 1
SHORT = {"solver": "method", "friction": "model", "stops": "model"}
"""Fields of a study that may be one word, and the field of the record inside that it stands for."""

_TABLES = ("inputs", "blocks")
_APART = ("model", *_TABLES)
"""Fields that are not read as the records alone say."""


@dataclass(frozen=True)
class StudyFile:
    """A study out of a file.

    Attributes:
        study: as it is written; names of files in its blocks count from the folder.
        folder: where the file is.
        source, root: its text, if that is where the study comes from; none for a model file.
        notes: what the file asks for and is not done, in words.
        is_model: whether it is a model file, which says nothing of a simulation.
    """

    study: Study
    folder: Path
    source: Source | None = None
    root: Node | None = None
    notes: tuple[str, ...] = ()
    is_model: bool = False

    @contextmanager
    def told(self) -> Iterator[None]:
        """While the study is built and run, faults of its fields are raised with their line and column."""
        try:
            yield
        except TorseurError as error:
            if self.source is None or self.root is None:
                raise
            every = error.faults if isinstance(error, ModelError) else ()
            placed = [self.placed(one) for one in every or (error,)]
            if not any(placed):
                raise
            told = [new or old for old, new in zip(every, placed, strict=True)] if every else placed
            raise ModelError.of(fault for fault in told if fault is not None) from error

    def placed(self, error: TorseurError) -> Fault | None:
        """An error at ``blocks.servo`` or ``changes[0].event`` with its place in the file; none at anything else."""
        steps = list(error.location)
        if self.source is None or self.root is None or not steps:
            return None
        if steps[0] not in Study.model_fields:
            if steps[0] not in Mechanism.model_fields or not self.root.items["model"].items:
                return None
            steps = ["model", *steps]
        if steps[0] in _TABLES and len(steps) > 1:  # what drives an input may be called a block on the way, and back
            steps[0] = next((t for t in _TABLES if steps[1] in getattr(self.study, t)), steps[0])
        mark, node = find(self.root, tuple(steps))
        severity = error.severity if isinstance(error, Fault) else Severity.ERROR
        fault = Fault(
            tuple(steps), error.what, expected=error.expected, got=error.got, remedy=error.remedy, severity=severity
        )
        return fault.in_file(self.source.at(mark), node.path)

    def warn(self) -> None:
        """Tell the notes as warnings."""
        for note in self.notes:
            warnings.warn(note, TorseurWarning, stacklevel=3)

    def with_study(self, study: Study) -> StudyFile:
        """The same file with another study made of it."""
        return replace(self, study=study)

    @property
    def anchored(self) -> Study:
        """The study with complete names of files, so that it runs from anywhere."""
        tables = {t: FrozenDict(self._anchored(getattr(self.study, t))) for t in _TABLES}
        return self.study.model_copy(update=tables)

    def _anchored(self, blocks: Mapping[str, Block]) -> Iterator[tuple[str, Block]]:
        for name, block in blocks.items():
            if isinstance(block, Recorded) and block.file is not None:
                block = block.model_copy(update={"file": str((self.folder / block.file).resolve())})
            yield name, block


def load_study(
    path: str | os.PathLike[str],
    *,
    loads: Mapping[str, type[Load]] = LOADS,
    blocks: Mapping[str, type[Block]] = KINDS,
) -> Study:
    """The study in a file (.yaml), or a study with defaults of a model file; all faults at once, as one ModelError.

    Names of files in its blocks are made complete, so that it runs from anywhere.

    Args:
        path: the file.
        loads: the kinds of loads its model may hold.
        blocks: the kinds of blocks it may hold.

    >>> ts.load_study(ts.examples.path("planar_2r/pd_control")).until
    6.0
    """
    file = read_study(path, loads=loads, blocks=blocks)
    file.warn()
    return file.anchored


def read_study(
    path: str | os.PathLike[str],
    *,
    loads: Mapping[str, type[Load]] = LOADS,
    blocks: Mapping[str, type[Block]] = KINDS,
    base: str | None = None,
) -> StudyFile:
    """A file as it stands: the study, the folder it is in, and where its parts stand in the file.

    Args:
        path: the file.
        loads, blocks: the kinds it may hold.
        base: how the base of the model moves, in place of what the file says.
    """
    file = _read_study(Path(path), str(path), loads, blocks)
    if base is None:
        return file
    return file.with_study(file.study.model_copy(update={"model": with_base(file.study.model, base)}))


def read_model(path: str | os.PathLike[str], *, base: str | None = None) -> Reading:
    """The model of a file, or of the study in a file, with the faults the checks find in it.

    Args:
        path: a model or study file.
        base: how the base of the model moves, in place of what the file says.
    """
    file = Path(path)
    is_yaml = file.suffix.lower() in (".yaml", ".yml")
    if not is_yaml or not _is_study(parse(contents(file), Source(str(path)))):
        return read(path, base=base)
    study = read_study(path, base=base)
    return Reading(study.study.model, lambda fault: study.placed(fault) or fault).checked()


def load_model(path: str | os.PathLike[str], *, base: str | None = None) -> Mechanism:
    """The model of a file, or of the study in a file; all faults at once."""
    reading = read_model(path, base=base)
    if reading.errors:
        raise ModelError.of(reading.errors)
    return reading.mechanism


def _read_study(file: Path, path: str, loads: Mapping[str, type[Load]], blocks: Mapping[str, type[Block]]) -> StudyFile:
    if file.suffix.lower() in (".yaml", ".yml"):
        source = Source(path)
        root = parse(contents(file), source)
        if _is_study(root):
            return study_of_node(root, source, file.parent, loads, blocks)
        document = whole_document(root, source, loads=loads, folder=file.parent)
        reading = Reading(document.mechanism, document.placed).with_faults(document.faults)
    else:
        reading = read(path, loads=loads)
    if reading.errors:
        raise ModelError.of(reading.errors)
    if reading.settings is not None:
        study, notes = study_of_listing(reading.mechanism, reading.settings)
        return StudyFile(study, file.parent, notes=notes)
    return StudyFile(Study(model=reading.mechanism), file.parent, is_model=True)


def _is_study(root: Node) -> bool:
    """Whether a file means to be a study, even if it has forgotten to say so."""
    return STUDY_KEY in root.items or ("model" in root.items and VERSION_KEY not in root.items)


def study_of_text(
    text: str | bytes,
    where: str = "text",
    folder: Path | None = None,
    *,
    loads: Mapping[str, type[Load]] = LOADS,
    blocks: Mapping[str, type[Block]] = KINDS,
) -> StudyFile:
    """The study of a YAML text.

    Args:
        text: the contents of the file.
        where: its name, for messages.
        folder: from where names of files in it count.
        loads, blocks: the kinds it may hold.
    """
    source = Source(where)
    return study_of_node(parse(text, source), source, folder or Path(), loads, blocks)


def study_of_node(
    root: Node, source: Source, folder: Path, loads: Mapping[str, type[Load]], blocks: Mapping[str, type[Block]]
) -> StudyFile:
    """The study of a node of a file; all that is wrong with the file so far is raised.

    Args:
        root: a mapping with the fields of a study.
        source: where faults are taken down.
        folder: from where names of files in it count.
        loads, blocks: the kinds it may hold.
    """
    _check_version(root, source)
    model = _model(root, source, folder, loads)
    shaped_block = partial(_shape_block, kinds=blocks, source=source)
    tables = {name: each_validated(root.items.get(name), shaped_block, source) for name in _TABLES}
    rest = {k: _long(k, x) for k, x in root.items.items() if k not in (*_APART, STUDY_KEY)}
    shaped = shape(Node(rest, root.mark, (), root.keys), Study, source)
    root = Node({**shaped.items, **{k: root.items[k] for k in _APART if k in root.items}}, root.mark, (), root.keys)
    given: dict[str, Any] = plain(shaped) | {"model": model or Mechanism(name="missing")} | tables
    study = validated(Study, given, root, source)
    if study is not None and model is not None:
        take_down(_not_caused(faults(study), source), root, source)
    source.stop_if_any()
    assert study is not None  # without, there is a fault
    return StudyFile(study, folder, source, root)


def _check_version(root: Node, source: Source) -> None:
    begin = f"{STUDY_KEY}: {VERSION}"
    if not isinstance(root.value, dict):
        source.stop(root.mark, "this is not a study", expected=f"a mapping that begins with '{begin}'", got=root.kind)
    version = root.items.get(STUDY_KEY)
    if version is None:
        source.fault(root.mark, (), "the version of the format is missing", remedy=f"begin with '{begin}'")
    elif version.value != VERSION or isinstance(version.value, bool):
        source.stop(version.mark, "a version of the format that is not known", expected=str(VERSION), got=version.kind)


# -- the model ---------------------------------------------------------------------------------------------------------


def _model(root: Node, source: Source, folder: Path, loads: Mapping[str, type[Load]]) -> Mechanism | None:
    node = root.items.get("model")
    if node is None:
        source.fault(root.mark, ("model",), "'model' is missing", expected="the name of a file, or a model")
    elif isinstance(node.value, str):
        return _from_file(node, source, folder / node.value, loads)
    elif not isinstance(node.value, dict):
        source.fault(node.mark, node.path, "expected the name of a file, or a model", got=node.kind)
    else:
        version = node.items.get(VERSION_KEY)
        if version is not None and version.value != MODEL_VERSION:
            text = "a version of the format that is not known"
            source.stop(version.mark, text, expected=str(MODEL_VERSION), got=version.kind)
        document = document_of(node, source, loads=loads, folder=folder)
        if document is not None:
            root.items["model"] = document.root
            take_down(document.faults, document.root, source)
            return document.mechanism
    return None


def _from_file(node: Node, source: Source, path: Path, loads: Mapping[str, type[Load]]) -> Mechanism | None:
    """A model from its own file, whose faults have their place there."""
    try:
        reading = read(path, loads=loads)
    except ModelError as error:
        if error.where == str(path):  # of the file as a whole: absent, of another kind
            got = f"{path}: {error.got}"
            source.fault(node.mark, node.path, error.what, expected=error.expected, got=got, remedy=error.remedy)
        else:
            source.add(node.mark, *(error.faults or (error,)))
        return None
    source.add(node.mark, *reading.errors)
    return None if reading.errors else reading.mechanism


# -- what drives it ----------------------------------------------------------------------------------------------------


def _shape_block(node: Node, kinds: Mapping[str, type[Block]], source: Source) -> tuple[type[Block], Node] | None:
    """The kind of a block and its contents in their full form; what is wrong is taken down."""
    if isinstance(node.value, str):
        return FormulaSignal, under(node, "value")
    if isinstance(node.value, (int, float)) and not isinstance(node.value, bool):
        return Constant, under(node, "value")
    if not isinstance(node.value, dict):
        forms = "a number, a formula, or a mapping from a kind to its fields"
        source.fault(node.mark, node.path, "this is not a block", expected=forms, got=node.kind)
        return None
    if len(node.value) != 1:
        got = ", ".join(list(node.value)[:12]) or "nothing"
        source.fault(node.mark, node.path, "a block has exactly one kind", expected="one key, its kind", got=got)
        return None
    ((name, inner),) = node.value.items()
    if name not in kinds:
        expected, remedy = guess(name, kinds)
        source.fault(node.keys[name], inner.path, f"no kind of block '{name}'", expected=expected, remedy=remedy)
        return None
    kind = kinds[name]
    if inner.value is not None and not isinstance(inner.value, dict):
        required = [field for field, info in kind.model_fields.items() if info.is_required()]
        if len(required) != 1:
            expected = "a mapping with " + ", ".join(kind.model_fields)
            text = "a block of this kind needs its fields by name"
            source.fault(inner.mark, inner.path, text, expected=expected, got=inner.kind)
            return None
        inner = under(inner, required[0])
    return kind, shape(inner, kind, source)


def _long(key: str, node: Node) -> Node:
    """``solver: rk4`` is ``solver: {method: rk4}``."""
    if key in SHORT and isinstance(node.value, str):
        return Node({SHORT[key]: node}, node.mark, node.path, {SHORT[key]: node.mark})
    return node


def _not_caused(found: list[Fault], source: Source) -> Iterator[Fault]:
    """Faults that are not there only because something was left out: a block, or one of its outputs."""
    for fault in found:
        if fault.about is None or not fault.about.startswith(tuple(source.left_out)):
            yield fault
