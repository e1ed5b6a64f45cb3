"""Studies as YAML text, in the short forms, the model inside: what is read back is equal to what was written."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torseur.describe.formulas import Formula
from torseur.errors import Location, ModelError
from torseur.formats import replace_file
from torseur.formats.yaml.reader import STUDY_KEY
from torseur.formats.yaml.writer import block, plain
from torseur.simulation.blocks import Block, Constant, FormulaSignal, PythonBlock
from torseur.simulation.study.reader import SHORT, VERSION
from torseur.simulation.study.study import Study

__all__ = ["short_block", "study_text", "write_study"]

HEADER = "# A study for Torseur: what moves, from where, driven by what, for how long. SI units; angles in rad."


def write_study(study: Study, path: str | os.PathLike[str]) -> None:
    """Write a study to a file (.yaml), all of it or nothing.

    >>> import tempfile
    >>> from pathlib import Path
    >>> file = Path(tempfile.mkdtemp(), "fall.yaml")
    >>> ts.write_study(ts.Study(model=arm, until=2.0), file)
    >>> ts.load_study(file).until
    2.0
    """
    file = Path(path)
    if file.suffix.lower() not in (".yaml", ".yml"):
        text = "studies are not written in this format"
        raise ModelError(text, where=str(file), expected="a name that ends in .yaml", got=file.suffix or "no ending")
    replace_file(file, study_text(study).encode("utf-8"))


def study_text(study: Study) -> str:
    """The text of a study file.

    >>> from torseur.describe import Mechanism
    >>> print(study_text(Study(model=Mechanism(name="nothing"), until=2.0, solver={"method": "rk4"})))
    # A study for Torseur: what moves, from where, driven by what, for how long. SI units; angles in rad.
    torseur_study: 1
    until: 2
    solver: rk4
    <BLANKLINE>
    model:
      name: nothing
    <BLANKLINE>
    """
    lines = [HEADER, *block({STUDY_KEY: VERSION})]
    for key, item in _fields(study).items():
        lines += block({key: item})
    return "\n".join([*lines, "", *block({"model": plain(study.model)}, spread=True)]) + "\n"


def _fields(study: Study) -> dict[str, Any]:
    """All but the model, where it is not what it is by default."""
    fields = Study.model_fields
    given = {name: getattr(study, name) for name in fields if name != "model"}
    return {name: _plain(name, value) for name, value in given.items() if value != fields[name].default}


def _plain(name: str, value: Any) -> Any:
    if name in ("inputs", "blocks"):
        return _blocks(name, value)
    if name == "indicators":
        return {key: {item.kind: plain(item)} for key, item in value.items()}
    short = plain(value)
    return short[SHORT[name]] if name in SHORT and short.keys() == {SHORT[name]} else short


def _blocks(name: str, table: Mapping[str, Block]) -> dict[str, Any]:
    return {key: short_block(item, (name, key)) for key, item in table.items()}


def short_block(block: Block, where: Location) -> Any:
    """A block as plain data, in its shortest form that reads back the same.

    >>> short_block(Constant(value=2.0), ("inputs", "f")), short_block(FormulaSignal(value="sin(t)"), ("inputs", "f"))
    (2.0, 'sin(t)')
    """
    if isinstance(block, PythonBlock):
        raise ModelError("a file cannot hold a Python function", where=where, remedy="keep this study in Python")
    fields = plain(block)
    if isinstance(block, Constant) and isinstance(block.value, float):
        return block.value
    if isinstance(block, FormulaSignal) and isinstance(block.value, Formula) and not block.breaks:
        return block.value.text
    return {block.kind: fields}
