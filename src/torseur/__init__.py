"""Mechanisms: equations a person can read, native code, and a simulator, from one description.

The public names live in the modules below and are imported when first used, so that ``import torseur`` stays light.

>>> import torseur as ts
>>> issubclass(ts.GraphError, ts.TorseurError)
True
"""

from __future__ import annotations

import gc
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torseur import emit, errors, examples, graph
    from torseur.campaign.answers import open_campaign
    from torseur.campaign.description import Campaign
    from torseur.campaign.reader import load_campaign
    from torseur.campaign.runner import run_campaign
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
    from torseur.identification.excitation import excite
    from torseur.identification.identification import identify
    from torseur.identification.measurements import Measurements, read_measurements
    from torseur.model import assemble, build, equations, equilibrium, linearise
    from torseur.packs.vehicles.scenarios import scenario
    from torseur.simulation.results.result import open_run
    from torseur.simulation.run.batch import simulate_many
    from torseur.simulation.run.simulate import resume, simulate
    from torseur.simulation.run.simulation import Simulation
    from torseur.simulation.study.reader import load_study
    from torseur.simulation.study.study import Study
    from torseur.simulation.study.writer import write_study
    from torseur.version import __version__
    from torseur.views.report import report

__all__ = [
    "ArgumentError",
    "CacheWarning",
    "Campaign",
    "CompileError",
    "GraphError",
    "Measurements",
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
    "examples",
    "excite",
    "graph",
    "identify",
    "linearise",
    "load",
    "load_campaign",
    "load_study",
    "open_campaign",
    "open_run",
    "read_measurements",
    "report",
    "resume",
    "run_campaign",
    "save",
    "scenario",
    "simulate",
    "simulate_many",
    "write_study",
]

# Public name -> the module that holds it; a module is its own home.
_HOMES = {
    "ArgumentError": "torseur.errors",
    "CacheWarning": "torseur.errors",
    "Campaign": "torseur.campaign.description",
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
    "examples": "torseur.examples",
    "excite": "torseur.identification.excitation",
    "graph": "torseur.graph",
    "Measurements": "torseur.identification.measurements",
    "identify": "torseur.identification.identification",
    "linearise": "torseur.model",
    "read_measurements": "torseur.identification.measurements",
    "load": "torseur.formats",
    "load_campaign": "torseur.campaign.reader",
    "open_campaign": "torseur.campaign.answers",
    "run_campaign": "torseur.campaign.runner",
    "open_run": "torseur.simulation.results.result",
    "report": "torseur.views.report",
    "resume": "torseur.simulation.run.simulate",
    "save": "torseur.formats",
    "scenario": "torseur.packs.vehicles.scenarios",
    "simulate": "torseur.simulation.run.simulate",
    "simulate_many": "torseur.simulation.run.batch",
    "Simulation": "torseur.simulation.run.simulation",
    "Study": "torseur.simulation.study.study",
    "load_study": "torseur.simulation.study.reader",
    "write_study": "torseur.simulation.study.writer",
    "__version__": "torseur.version",
}


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    was_on = gc.isenabled()
    gc.disable()  # classes and functions by the thousand, all to stay: looking for circles among them is in vain
    try:
        module = import_module(home)
    finally:
        if was_on:
            gc.enable()
    value = module if home == f"{__name__}.{name}" else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
