"""Reading and writing mechanisms: our own YAML, SYMORO+ (.par), URDF, CAGeM (.mu).

The ending of a file says its format; the reader of a format is imported when it is needed.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from torseur.describe.loads import KINDS, Load
from torseur.describe.mechanism import Mechanism
from torseur.errors import ModelError

__all__ = ["load", "save"]


def load(path: str | os.PathLike[str], *, loads: Mapping[str, type[Load]] = KINDS) -> Mechanism:
    """The mechanism in a file; the format is told from the ending (.yaml .yml .par .urdf .mu .txt)."""
    file = Path(path)
    data = file.read_bytes()
    name = file.stem
    ending = file.suffix.lower()
    where = str(path)
    if ending in (".yaml", ".yml"):
        from torseur.formats.yaml_format import read_yaml

        return read_yaml(data, where, loads=loads)
    if ending == ".par":
        from torseur.formats.symoro import read_par

        return read_par(data, name, where)
    if ending == ".urdf":
        from torseur.formats.urdf import read_urdf

        return read_urdf(data, name, where)
    if ending in (".mu", ".txt"):
        from torseur.formats.cagem import read_mu

        return read_mu(data, name, where)
    raise ModelError("a file of a kind that is not known", where=where, expected=".yaml .par .urdf .mu", got=ending)


def save(mechanism: Mechanism, path: str | os.PathLike[str]) -> None:
    """Write a mechanism to a file; the format is told from the ending (.yaml .yml .par)."""
    ending = Path(path).suffix.lower()
    if ending in (".yaml", ".yml"):
        from torseur.formats.yaml_writer import write_yaml

        text = write_yaml(mechanism)
    elif ending == ".par":
        from torseur.formats.symoro import write_par

        text = write_par(mechanism)
    else:
        raise ModelError("a file of a kind that cannot be written", where=str(path), expected=".yaml .par", got=ending)
    Path(path).write_text(text, encoding="utf-8", newline="\n")
