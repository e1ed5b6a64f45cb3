"""The study that a CAGeM listing describes: its times, steps and flags, in the words of a `Study`.

>>> from torseur.describe import Mechanism
>>> study, notes = study_of_listing(Mechanism(name="arm"), {"FinalTime": 5.0, "StepMax": 0.005, "LATEX_EN": 1.0})
>>> study.until, study.solver.method, study.solver.longest
(5.0, 'easydyn', 0.005)
>>> notes
('LATEX_EN asks for a report, which is not written yet',)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torseur.describe import Mechanism
from torseur.simulation.study.study import Study

__all__ = ["study_of_listing"]

_TOLERANCE = 1e-6
"""Relative and absolute, of EasyDyn's integration."""
_REPORTS = ("LATEX", "LATEX_FR", "LATEX_EN")


def study_of_listing(model: Mechanism, settings: Mapping[str, float | str]) -> tuple[Study, tuple[str, ...]]:
    """A study that runs as EasyDyn would, and what of the listing it does not do, in words.

    Args:
        model: the mechanism of the listing.
        settings: FinalTime, StepSave, StepMax and the flags, as far as they are given.
    """
    solver: dict[str, Any] = {"method": "easydyn", "rtol": _TOLERANCE, "atol": _TOLERANCE}
    fields: dict[str, Any] = {"model": model, "stops": {"model": "ignore"}}  # a listing knows none
    if "StepMax" in settings:
        solver["longest"] = settings["StepMax"]
    for key, field in (("FinalTime", "until"), ("StepSave", "every")):
        if key in settings:
            fields[field] = settings[key]
    for key, field in (("PLOT", "figures"), ("ANIM", "playback")):
        if key in settings:
            fields[field] = settings[key] != 0.0
    if settings.get("STATIC", 0.0) != 0.0:
        fields["start_from"] = "equilibrium"
    return Study.model_validate({**fields, "solver": solver}), tuple(_not_done(model, settings))


def _not_done(model: Mechanism, settings: Mapping[str, float | str]) -> list[str]:
    notes = [f"{key} asks for a report, which is not written yet" for key in _REPORTS if settings.get(key, 0.0) != 0.0]
    if settings.get("FORCES", 0.0) != 0.0:
        names = ", ".join(model.inputs)
        notes.append(f"FORCES asks for efforts: they are the inputs {names}, zero unless a study or --set drives them")
    return notes
