"""The examples that come with the package: model and study files by name.

An example is called by its folder and file, ``rx90/motion``; a model that is called like its folder by that name alone,
``rx90``. `torseur simulate`, `check` and the other commands take these names in place of files.

>>> import torseur as ts
>>> ts.examples.names()[:3]
('arm_3r', 'arm_3r/circle', 'bicycle_3dof')
>>> ts.examples.load("double_pendulum").title
'Two point masses hanging one from the other'
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from torseur.describe import Mechanism
from torseur.describe.faults import guess
from torseur.errors import ArgumentError
from torseur.simulation.study.reader import read_study
from torseur.simulation.study.study import Study

_KEY = re.compile(r"^torseur(_study|_vehicle)?:", flags=re.MULTILINE)
"""Of models and studies; tables of parameters and tyres lie beside them."""

__all__ = ["folder", "load", "names", "path", "title"]


@cache
def folder() -> Path:
    """Where the files are: beside the modules of an installed package, else in the checkout."""
    here = Path(__file__).resolve()
    installed, checkout = here.with_name("example_files"), here.parents[2] / "examples"
    return installed if installed.is_dir() else checkout


@cache
def _files() -> dict[str, Path]:
    found = {_name(file): file for file in folder().glob("*/*.yaml") if _KEY.search(file.read_text(encoding="utf-8"))}
    return dict(sorted(found.items()))


def _name(file: Path) -> str:
    group = file.parent.name
    return group if file.stem == group else f"{group}/{file.stem}"


def names() -> tuple[str, ...]:
    """The names of all examples, models and studies."""
    return tuple(_files())


def path(name: str) -> Path:
    """The file of an example.

    >>> path("rx90/motion").name
    'motion.yaml'
    """
    file = _files().get(name.removesuffix(".yaml"))
    if file is None:
        expected, remedy = guess(name, _files())
        what = f"there is no example '{name}', nor a file of that name"
        raise ArgumentError(what, expected=expected, remedy=remedy or "`torseur examples` lists them")
    return file


def title(name: str) -> str:
    """What an example is about, in words; empty if its file does not say so.

    >>> title("double_pendulum")
    'Two point masses hanging one from the other'
    """
    lines = path(name).read_text(encoding="utf-8").splitlines()
    found = next((line.removeprefix("title:").strip() for line in lines if line.startswith("title:")), "")
    return found.strip("\"'")


def load(name: str) -> Mechanism | Study:
    """The mechanism of a model file, the study of a study file.

    >>> load("planar_2r/pd_control").until
    6.0
    """
    file = read_study(path(name))
    return file.study.model if file.root is None else file.study
