"""Reading and writing mechanisms: our own YAML, SYMORO+ (.par), URDF, CAGeM (.mu, .txt).

The ending of a file says its format. The reader of a format is imported when it is needed.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from torseur.describe import BaseKind, checks
from torseur.describe.faults import Fault, Severity
from torseur.describe.fields import FrozenDict
from torseur.describe.loads import KINDS, Load
from torseur.describe.mechanism import Mechanism
from torseur.errors import ArgumentError, ModelError
from torseur.formats.files import LARGEST_FILE, contents
from torseur.formats.losses import Losses

__all__ = ["LARGEST_FILE", "Reading", "contents", "load", "read", "replace_file", "save", "with_base"]

READABLE = (".yaml", ".yml", ".par", ".urdf", ".mu", ".txt")
WRITABLE = (".yaml", ".yml", ".par", ".urdf")


@dataclass(frozen=True)
class Reading:
    """A mechanism out of a file, and the faults the checks find in it, each with its place in the file."""

    mechanism: Mechanism
    faults: tuple[Fault, ...]
    placed: Callable[[Fault], Fault]
    """Gives a fault its place: ``file:line:column: path`` if the format knows lines, else ``file: path``."""
    settings: Mapping[str, float | str] | None = None
    """How a CAGeM listing wants to be run, by its own names; other files do not say so."""

    @property
    def errors(self) -> list[Fault]:
        """The faults that leave the mechanism without meaning."""
        return [fault for fault in self.faults if fault.severity is Severity.ERROR]

    def with_faults(self, faults: Iterable[Fault]) -> Reading:
        """The same with more faults."""
        return replace(self, faults=(*self.faults, *map(self.placed, faults)))


def load(
    path: str | os.PathLike[str], *, loads: Mapping[str, type[Load]] = KINDS, base: BaseKind | str | None = None
) -> Mechanism:
    """The mechanism in a file; all faults of the file at once, as one ModelError.

    Args:
        path: a file whose ending says its format: .yaml .yml .par .urdf .mu .txt
        loads: the kinds of loads a YAML file may hold.
        base: how the base moves, in place of what the file says: "floating", "planar", "fixed".
    """
    reading = read(path, loads=loads, base=base)
    if reading.errors:
        raise ModelError.of(reading.errors)
    return reading.mechanism


def read(
    path: str | os.PathLike[str], *, loads: Mapping[str, type[Load]] = KINDS, base: BaseKind | str | None = None
) -> Reading:
    """The mechanism in a file even if it has structural faults; an error only if there is no mechanism at all."""
    reading = _read(path, loads)
    if base is None:
        return reading
    mechanism = with_base(reading.mechanism, base)
    return replace(reading, mechanism=mechanism, faults=()).with_faults(checks.faults(mechanism))


def with_base(mechanism: Mechanism, base: BaseKind | str) -> Mechanism:
    """The same mechanism on a base that moves otherwise; inertia, shapes and frames of the base stay.

    >>> with_base(Mechanism(name="robot"), "floating").base.kind
    <BaseKind.FLOATING: 'floating'>
    """
    words = [kind.value for kind in BaseKind]
    word = base.value if isinstance(base, BaseKind) else base
    if word not in words:
        raise ArgumentError(f"no kind of base '{word}'", where="base", expected=" or ".join(words))
    kind = BaseKind(word)
    changes = {"kind": kind} if kind is mechanism.base.kind else {"kind": kind, "coordinates": FrozenDict()}
    return mechanism.model_copy(update={"base": mechanism.base.model_copy(update=changes)})


def _read(path: str | os.PathLike[str], loads: Mapping[str, type[Load]]) -> Reading:
    file, where = Path(path), str(path)
    ending = file.suffix.lower()
    if ending not in READABLE:
        raise ModelError(
            "a file of a kind that is not known",
            where=where,
            expected=f"one of {' '.join(READABLE)}",
            got=ending or "none",
        )
    data = contents(file)
    if ending in (".yaml", ".yml"):
        from torseur.formats.yaml.reader import read_document

        document = read_document(data, where, loads=loads, folder=file.parent)
        return Reading(document.mechanism, (), document.placed).with_faults(document.faults)
    mechanism, settings = _read_other(ending, data, file.stem, where)
    return Reading(mechanism, (), lambda fault: fault.in_file(where), settings).with_faults(checks.faults(mechanism))


def _read_other(ending: str, data: bytes, name: str, where: str) -> tuple[Mechanism, Mapping[str, float | str] | None]:
    if ending == ".par":
        from torseur.formats.symoro import read_par

        return read_par(data, name, where), None
    if ending == ".urdf":
        from torseur.formats.urdf import read_urdf

        return read_urdf(data, name, where), None
    from torseur.formats.cagem import read_mu_study

    return read_mu_study(data, name, where)


def save(mechanism: Mechanism, path: str | os.PathLike[str], *, lossy: bool = False) -> tuple[str, ...]:
    """Write a mechanism to a file, all of it or nothing; what had to be written otherwise or left out, one line a kind.

    Args:
        mechanism: what to write.
        path: a file whose ending says the format. YAML (.yaml, .yml) holds every mechanism; what .par or .urdf cannot
            hold is an error that names it.
        lossy: leave out what the format cannot hold, as long as the tree of bodies stays what it is.
    """
    file = Path(path)
    ending = file.suffix.lower()
    if ending not in WRITABLE:
        expected = f"one of {' '.join(WRITABLE)}"
        raise ModelError("a file of a kind that is not written", where=str(path), expected=expected, got=ending)
    losses = Losses(lossy)
    replace_file(file, _text(mechanism, ending, losses).encode("utf-8"))
    return losses.notes


def _text(mechanism: Mechanism, ending: str, losses: Losses) -> str:
    if ending == ".par":
        from torseur.formats.symoro import write_par

        return write_par(mechanism, losses)
    if ending == ".urdf":
        from torseur.formats.urdf import write_urdf

        return write_urdf(mechanism, losses)
    from torseur.formats.yaml.writer import write_yaml

    return write_yaml(mechanism)


def replace_file(file: Path, data: bytes) -> None:
    """Put data into a file: written beside it first, then moved into its place in one go."""
    target = file.resolve()
    beside = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        try:
            with beside.open("xb") as stream:
                stream.write(data)
            beside.replace(target)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        raise ArgumentError(
            "the file cannot be written", where=str(file), got=error.strerror or type(error).__name__
        ) from error
