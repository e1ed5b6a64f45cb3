"""What was identified, in files: a table, values for studies, a study that runs with them."""

from __future__ import annotations

import csv
import io
import os
from pathlib import Path

import numpy as np
import yaml

from torseur.formats import replace_file, save
from torseur.identification.described import Described, described_values, identified_mechanism
from torseur.identification.essential import advice, essential
from torseur.identification.identification import Identification, Prediction
from torseur.identification.physical import Physical
from torseur.simulation.study.study import Study
from torseur.simulation.study.writer import write_study

__all__ = ["save_identification", "summary"]


def summary(
    found: Identification,
    described: Described,
    physical: Physical | None = None,
    unseen: Prediction | None = None,
) -> str:
    """All that can be said of an identification, as text."""
    parts = [str(found), "", found.table()]
    if found.findings:
        parts += ["", "measurements", *(f"  {f} ({f.severity.value})" for f in found.findings)]
    if found.undetermined:
        parts += ["", "not determined by these measurements"]
        told = {a.name: str(a) for a in advice(found)}
        parts += [f"  {told.get(n, n)}" for n in found.undetermined]
    few = essential(found)
    parts += ["", f"essential, {len(few)} of {len(found.names)}: {', '.join(few)}"]
    parts += ["", "residuals over what was measured", *_rows(found.prediction)]
    if unseen is not None:
        words = "holds" if unseen.holds else "does NOT hold"
        parts += ["", f"on measurements not used: {words}", *_rows(unseen)]
    if described.values:
        parts += ["", "parameters of the description"]
        parts += [f"  {n} = {x:.8g} +- {described.deviations[n]:.2g}" for n, x in described.values.items()]
        if described.shared:
            names = ", ".join(described.shared)
            parts += [f"  only combinations of these show, they are the nearest to the description: {names}"]
        if described.misfit > 3.0:
            text = f"  the description cannot give what was identified: {described.misfit:.3g} standard deviations off"
            parts += [text]
    if physical is not None:
        parts += ["", f"physical parameters: {physical.worse:.3g} standard deviations from the free estimate"]
        if not physical.converged:
            parts += ["  the search for them stopped before it converged"]
    return "\n".join(parts) + "\n"


def _rows(prediction: Prediction) -> list[str]:
    rows = zip(prediction.names, prediction.relative, prediction.expected, strict=True)
    return [f"  {name:<12} {100 * x:8.3g} %   expected {100 * e:.3g} %" for name, x, e in rows]


def save_identification(
    found: Identification,
    folder: str | os.PathLike[str],
    *,
    physical: Physical | None = None,
    unseen: Prediction | None = None,
) -> list[Path]:
    """Write estimates.csv, covariance.csv, summary.txt, parameters.yaml and study.yaml; with physical ones model.yaml.

    `parameters.yaml` is the table ``parameters`` of a study; `study.yaml` is a study that runs with it.
    """
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    described = described_values(found)
    files = {
        "summary.txt": summary(found, described, physical, unseen),
        "estimates.csv": _estimates(found),
        "covariance.csv": _covariance(found),
        "parameters.yaml": _parameters(found, described),
    }
    for name, text in files.items():
        replace_file(target / name, text.encode("utf-8"))
    mechanism, values = found.model.mechanism, {**found.model.given, **described.values}
    if physical is not None:
        mechanism, values = identified_mechanism(found, physical), {}
        save(mechanism, target / "model.yaml")
        files["model.yaml"] = ""
    write_study(Study(model=mechanism, parameters=values), target / "study.yaml")
    return [target / name for name in (*files, "study.yaml")]


def _estimates(found: Identification) -> str:
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(("name", "value", "deviation", "unit", "described", "verdict"))
    for x in found.levels:
        value, deviation, described = ("" if np.isnan(v) else repr(v) for v in (x.value, x.deviation, x.described))
        table.writerow((x.name, value, deviation, x.unit, described, x.verdict))
    return text.getvalue()


def _covariance(found: Identification) -> str:
    lines = [",".join(["", *found.names])]
    lines += [
        ",".join([n, *map(repr, row.tolist())]) for n, row in zip(found.names, found.estimate.covariance, strict=True)
    ]
    return "\n".join(lines) + "\n"


def _parameters(found: Identification, described: Described) -> str:
    head = [f"# Identified from {Path(found.source).name}; standard deviations behind the values."]
    if not described.values:
        head += ["# No parameter of the description follows: see estimates.csv for the base parameters."]
        return "\n".join([*head, yaml.safe_dump({"parameters": {}})])
    lines = [*head, "parameters:"]
    lines += [f"  {n}: {x!r}  # +- {described.deviations[n]:.2g}" for n, x in described.values.items()]
    return "\n".join(lines) + "\n"
