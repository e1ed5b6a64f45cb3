"""Mechanisms: equations a person can read, native code, and a simulator, from one description.

The public names live in the modules below and are imported when first used, so that ``import torseur`` stays light.

>>> import torseur as ts
>>> issubclass(ts.GraphError, ts.TorseurError)
True
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torseur import emit, errors, graph
    from torseur.errors import (
        ArgumentError,
        CacheWarning,
        CompileError,
        GraphError,
        MissingExtra,
        MissingValue,
        ModelError,
        NumericalError,
        TorseurError,
        TorseurWarning,
    )
    from torseur.formats import load, save
    from torseur.model import assemble, build, equations, equilibrium, linearise
    from torseur.simulation.results.result import open_run
    from torseur.simulation.run.batch import simulate_many
    from torseur.simulation.run.simulate import resume, simulate
    from torseur.simulation.run.simulation import Simulation
    from torseur.simulation.study.reader import load_study
    from torseur.simulation.study.study import Study
    from torseur.simulation.study.writer import write_study

__version__ = "0.1.0"

__all__ = [
    "ArgumentError",
    "CacheWarning",
    "CompileError",
    "GraphError",
    "MissingExtra",
    "MissingValue",
    "ModelError",
    "NumericalError",
    "Simulation",
    "Study",
    "TorseurError",
    "TorseurWarning",
    "__version__",
    "assemble",
    "build",
    "emit",
    "equations",
    "equilibrium",
    "errors",
    "graph",
    "linearise",
    "load",
    "load_study",
    "open_run",
    "resume",
    "save",
    "simulate",
    "simulate_many",
    "write_study",
]

# Public name -> the module that holds it; a module is its own home.
_HOMES = {
    "ArgumentError": "torseur.errors",
    "CacheWarning": "torseur.errors",
    "CompileError": "torseur.errors",
    "GraphError": "torseur.errors",
    "MissingExtra": "torseur.errors",
    "MissingValue": "torseur.errors",
    "ModelError": "torseur.errors",
    "NumericalError": "torseur.errors",
    "TorseurError": "torseur.errors",
    "TorseurWarning": "torseur.errors",
    "assemble": "torseur.model",
    "build": "torseur.model",
    "emit": "torseur.emit",
    "equations": "torseur.model",
    "equilibrium": "torseur.model",
    "errors": "torseur.errors",
    "graph": "torseur.graph",
    "linearise": "torseur.model",
    "load": "torseur.formats",
    "open_run": "torseur.simulation.results.result",
    "resume": "torseur.simulation.run.simulate",
    "save": "torseur.formats",
    "simulate": "torseur.simulation.run.simulate",
    "simulate_many": "torseur.simulation.run.batch",
    "Simulation": "torseur.simulation.run.simulation",
    "Study": "torseur.simulation.study.study",
    "load_study": "torseur.simulation.study.reader",
    "write_study": "torseur.simulation.study.writer",
}


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(home)
    value = module if home == f"{__name__}.{name}" else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
