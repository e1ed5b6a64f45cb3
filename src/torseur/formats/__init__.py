"""Reading and writing mechanisms: our own YAML, SYMORO+ (.par), URDF, CAGeM (.mu, .txt), and formats of others.

The ending of a file says its format; `FORMATS` is the table of them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from torseur.describe import BaseKind
from torseur.describe.evaluation import with_base
from torseur.describe.loads import KINDS, Load
from torseur.describe.mechanism import Mechanism
from torseur.errors import ModelError
from torseur.extensions import Kinds
from torseur.formats.cagem import CAGEM
from torseur.formats.files import LARGEST_FILE, contents, replace_file
from torseur.formats.format import Format, Losses, ModelFile, Reading
from torseur.formats.symoro import SYMORO
from torseur.formats.urdf import URDF
from torseur.formats.yaml import YAML

__all__ = [
    "FORMATS",
    "LARGEST_FILE",
    "Format",
    "Losses",
    "ModelFile",
    "Reading",
    "contents",
    "load",
    "read",
    "replace_file",
    "save",
]

FORMATS: Kinds[Format] = Kinds(
    "formats",
    {".yaml": YAML, ".yml": YAML, ".par": SYMORO, ".urdf": URDF, ".mu": CAGEM, ".txt": CAGEM},
)
"""The formats by the endings of their files, in small letters: those of the core, and those of extensions."""


def load(
    path: str | os.PathLike[str],
    *,
    loads: Mapping[str, type[Load]] = KINDS,
    base: BaseKind | str | None = None,
    formats: Mapping[str, Format] = FORMATS,
) -> Mechanism:
    """The mechanism in a file; all faults of the file at once, as one ModelError.

    Args:
        path: a file whose ending says its format: .yaml .yml .par .urdf .mu .txt
        loads: the kinds of loads a YAML file may hold.
        base: how the base moves, in place of what the file says: "floating", "planar", "fixed".
        formats: the formats by ending.

    >>> from pathlib import Path
    >>> ts.load(ts.examples.path("rx90"))
    <Mechanism rx90: 6 bodies, 6 coordinates, 6 speeds>
    """
    reading = read(path, loads=loads, base=base, formats=formats)
    if reading.errors:
        raise ModelError.of(reading.errors)
    return reading.mechanism


def read(
    path: str | os.PathLike[str],
    *,
    loads: Mapping[str, type[Load]] = KINDS,
    base: BaseKind | str | None = None,
    formats: Mapping[str, Format] = FORMATS,
) -> Reading:
    """The mechanism in a file even if it has structural faults; an error only if there is no mechanism at all."""
    reader = _format(path, formats, "read").read
    assert reader is not None
    file = Path(path)
    reading = reader(ModelFile(file, contents(file), loads))
    if isinstance(reading, Mechanism):
        reading = Reading(reading, lambda fault: fault.in_file(str(path)))
    if base is not None:
        reading = replace(reading, mechanism=with_base(reading.mechanism, base))
    return reading.checked()


def save(
    mechanism: Mechanism,
    path: str | os.PathLike[str],
    *,
    lossy: bool = False,
    formats: Mapping[str, Format] = FORMATS,
) -> tuple[str, ...]:
    """Write a mechanism to a file, all of it or nothing; what had to be written otherwise or left out, one line a kind.

    Args:
        mechanism: what to write.
        path: a file whose ending says the format. YAML (.yaml, .yml) holds every mechanism; what another format cannot
            hold is an error that names it.
        lossy: leave out what the format cannot hold, as long as the tree of bodies stays what it is.
        formats: the formats by ending.

    >>> import tempfile
    >>> from pathlib import Path
    >>> file = Path(tempfile.mkdtemp(), "arm.yaml")
    >>> notes = ts.save(arm, file)
    >>> ts.load(file) == arm
    True
    """
    writer = _format(path, formats, "write").write
    assert writer is not None
    losses = Losses(lossy)
    text = writer(mechanism, losses)
    losses.stop_if_refused()
    replace_file(Path(path), text.encode("utf-8"))
    return losses.notes


_ELSEWHERE = {
    ".xacro": "xacro writes URDF: xacro robot.urdf.xacro > robot.urdf, where its packages are installed",
    ".xml": "a URDF file ends in .urdf; MJCF is not read",
    ".sdf": "SDF is not read; its tools convert to URDF",
}
"""What to do with files that others read."""


def _format(path: str | os.PathLike[str], formats: Mapping[str, Format], use: str) -> Format:
    """The format of a file that can be read, or written."""
    ending = Path(path).suffix.lower()
    format_of_file = formats.get(ending)
    if format_of_file is not None and getattr(format_of_file, use) is not None:
        return format_of_file
    what = "a file of a kind that is not written" if use == "write" else "a file of a kind that is not known"
    known = [other for other, format_ in formats.items() if getattr(format_, use) is not None]
    file = Path(path)
    there = [
        name for other in known if file.name and (name := f"{file.with_suffix('')}{other}") and Path(name).is_file()
    ]
    remedy = f"did you mean '{there[0]}'?" if use == "read" and there else _ELSEWHERE.get(ending)
    raise ModelError(what, where=str(path), expected=f"one of {' '.join(known)}", got=ending or "none", remedy=remedy)
