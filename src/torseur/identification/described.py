"""From base parameters to values for the parameters of a description, so that a study can use what was identified; and
the files it is kept in: a table, values for studies, a study that runs with them.

The base parameters b(p) are functions of the parameters p of the description. Among all p that give the identified base
parameters the one nearest to the description is taken, each parameter measured by its own size,

    p = p0 + S (R J S)^+ R (b - b(p0)),      J = db/dp,                                                          (I.4)

repeated until nothing changes. Parameters along which b does not change keep the values of the description where they
can, and are named.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import yaml
from numpy.typing import NDArray

from torseur.describe import BASE, Mechanism, StandardInertia
from torseur.formats import replace_file, save
from torseur.graph import Function, evaluate
from torseur.identification.assessment import Physical, advice, essential, pseudo_inertia, ten_of
from torseur.identification.identification import Identification, Prediction
from torseur.identification.unknowns import BaseUnknowns, DescribedUnknowns, dynamic_parameters
from torseur.model.model import Model, build
from torseur.simulation.study.study import Study
from torseur.simulation.study.writer import write_study

__all__ = ["Described", "described_values", "identified_mechanism", "save_identification", "summary"]

Array = NDArray[np.float64]

_STEP = 1e-4
_NOTHING = 1e-6


@dataclass(frozen=True, eq=False)
class Described:
    """Values for the parameters of a description.

    Attributes:
        values: by name, those that were identified.
        deviations: their standard deviations.
        shared: those that show in combinations only; their values are those nearest to the description.
        misfit: how far the base parameters of these values are from those identified, in standard deviations (root
            mean square): far more than one says that the description cannot give what was measured.
    """

    values: Mapping[str, float]
    deviations: Mapping[str, float]
    shared: tuple[str, ...]
    misfit: float


def described_values(identified: Identification) -> Described:
    """Values for the parameters of the description."""
    if isinstance(identified.unknowns, DescribedUnknowns):
        known = [n for n in identified.unknowns.chosen if np.isfinite(identified.values[n])]
        values, deviations = ({n: table[n] for n in known} for table in (identified.values, identified.deviations))
        return Described(values, deviations, (), 0.0)
    assert isinstance(identified.unknowns, BaseUnknowns)
    model = identified.model
    names = dynamic_parameters(model.mechanism)
    if not names or not model.function("base_parameters").has_values():
        return Described({}, {}, (), 0.0)
    return _nearest(model, names, _Target.of(identified))


@dataclass(frozen=True, eq=False)
class _Target:
    """Base parameters to be met: their places, values, and the root of the inverse of their covariance."""

    kept: list[int]
    values: Array
    root: Array

    @classmethod
    def of(cls, identified: Identification, values: Array | None = None) -> _Target:
        assert isinstance(identified.unknowns, BaseUnknowns)
        kept = [k for k in identified.estimate.kept if k < len(identified.unknowns.base.kept)]
        C = identified.estimate.covariance[np.ix_(kept, kept)]
        root = np.linalg.inv(np.linalg.cholesky(C)) if kept else np.zeros((0, 0))
        return cls(kept, (identified.estimate.values if values is None else values)[kept], root)


def _nearest(model: Model, names: tuple[str, ...], target: _Target) -> Described:
    """(I.4)."""
    known = dict(zip(model.free_parameters, model.parameter_values, strict=True))
    p = np.array([known[n] for n in names])
    size = np.where(p != 0.0, np.abs(p), np.median(np.abs(p)) or 1.0)
    for _ in range(20):
        b, J = _base_values(model, names, p, size)
        A = target.root @ J[target.kept] * size
        U, s, V = np.linalg.svd(A, full_matrices=False)
        live = s > _NOTHING * np.linalg.norm(A, axis=0).max(initial=1e-300)
        step = size * (V[live].T @ ((U.T @ (target.root @ (target.values - b[target.kept])))[live] / s[live]))
        p = p + step
        if np.abs(step / size).max(initial=0.0) < 1e-10:
            break
    b, _ = _base_values(model, names, p, size)
    gain = (V[live].T / s[live]) @ U.T[live]
    deviations = size * np.sqrt(np.sum(gain**2, axis=1))
    seen = np.sum(V[live] ** 2, axis=0)  # 1: determined alone; 0: not at all
    off = target.root @ (target.values - b[target.kept])
    misfit = float(np.sqrt(np.mean(off**2))) if len(off) else 0.0
    moved = [k for k in range(len(names)) if seen[k] > _NOTHING]
    return Described(
        {names[k]: float(p[k]) for k in moved},
        {names[k]: float(deviations[k]) for k in moved},
        tuple(names[k] for k in moved if seen[k] < 1.0 - _NOTHING),
        misfit,
    )


def _base_values(model: Model, names: tuple[str, ...], p: Array, size: Array) -> tuple[Array, Array]:
    """b and db/dp, by central differences, exact where b is quadratic."""
    n = len(names)
    rows = np.tile(p, (2 * n + 1, 1))
    for k in range(n):
        rows[2 * k + 1, k] += _STEP * size[k]
        rows[2 * k + 2, k] -= _STEP * size[k]
    b = np.asarray(model.function("base_parameters")(parameters=dict(zip(names, rows.T, strict=True))))
    J = (b[1::2] - b[2::2]) / (2.0 * _STEP * size[:, None])
    return b[0], J.T


def identified_mechanism(identified: Identification, physical: Physical) -> Mechanism:
    """The mechanism with what was identified in it: inertias of real bodies, drives and friction.

    The ten parameters of every link are parameters of their own, XX1 to M1.
    """
    mechanism = _with_standard_parameters(identified, physical.standard)
    model = build(mechanism)
    own = {n for body in mechanism.bodies.values() for n in mechanism.names_in(body.inertia)}
    own |= mechanism.names_in(mechanism.base.inertia)
    names = tuple(n for n in dynamic_parameters(mechanism) if n not in own)
    if not names:
        return mechanism
    target = _Target.of(identified, np.array(list(physical.base.values())))
    values = _nearest(model, names, target).values
    parameters = {
        n: p.model_copy(update={"value": values[n]}) if n in values else p for n, p in mechanism.parameters.items()
    }
    fields = {f: getattr(mechanism, f) for f in Mechanism.model_fields}
    return Mechanism.model_validate({**fields, "parameters": parameters})


def _with_standard_parameters(identified: Identification, standard: Mapping[str, float]) -> Mechanism:
    assert isinstance(identified.unknowns, BaseUnknowns)
    mechanism, tree = identified.model.mechanism, identified.unknowns.bench.true_tree
    parameters = {n: p.model_dump() for n, p in mechanism.parameters.items()}
    inertias: dict[str, StandardInertia | None] = {}
    for k, link in enumerate(tree.links):
        bodies = [n for n, (place, _) in tree.home.items() if place == k and (n in mechanism.bodies or n == BASE)]
        if f"M{link.number}" not in standard:
            continue
        inertias |= dict.fromkeys(bodies)
        ten = np.array([standard[f"{symbol}{link.number}"] for symbol in StandardInertia.model_fields])
        there = np.linalg.inv(_pose_of(identified.model, identified.unknowns, bodies[0]))
        entries = {}
        seen = ten_of(there @ pseudo_inertia(ten) @ there.T)
        for symbol, value in zip(StandardInertia.model_fields, seen, strict=True):
            name = f"{symbol}{link.number}"
            entries[symbol] = name if name not in mechanism.parameters else f"{name}_identified"
            parameters[entries[symbol]] = {"value": float(value), "description": f"identified, body {bodies[0]}"}
        inertias[bodies[0]] = StandardInertia.model_validate(entries)
    changed = {
        n: body.model_copy(update={"inertia": inertias[n]}) if n in inertias else body
        for n, body in mechanism.bodies.items()
    }
    base = mechanism.base
    if BASE in inertias:
        base = base.model_copy(update={"inertia": inertias[BASE]})
    fields = {f: getattr(mechanism, f) for f in Mechanism.model_fields}
    return Mechanism.model_validate({**fields, "parameters": parameters, "bodies": changed, "base": base})


def _pose_of(model: Model, unknowns: BaseUnknowns, body: str) -> Array:
    """Where the frame of a body sits on its link."""
    system = unknowns.bench.system
    names = dict(zip(model.free_parameters, model.values_beside(model.free_parameters), strict=True))
    p = np.array([names[n] for n in system.p.names])
    _, pose = unknowns.bench.true_tree.home[body]
    return np.asarray(evaluate(Function("pose", [system.p], {"pose": pose.matrix()}), p)[0])


def summary(
    identified: Identification,
    described: Described,
    physical: Physical | None = None,
    unseen: Prediction | None = None,
) -> str:
    """All that can be said of an identification, as text."""
    parts = [str(identified), "", identified.table()]
    if identified.findings:
        parts += ["", "measurements", *(f"  {f} ({f.severity.value})" for f in identified.findings)]
    if identified.undetermined:
        parts += ["", "not determined by these measurements"]
        told = {a.name: str(a) for a in advice(identified)}
        parts += [f"  {told.get(n, n)}" for n in identified.undetermined]
    few = essential(identified)
    parts += ["", f"essential, {len(few)} of {len(identified.names)}: {', '.join(few)}"]
    parts += ["", "residuals over what was measured", *_rows(identified.prediction)]
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
    identified: Identification,
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
    described = described_values(identified)
    files = {
        "summary.txt": summary(identified, described, physical, unseen),
        "estimates.csv": _estimates(identified),
        "covariance.csv": _covariance(identified),
        "parameters.yaml": _parameters(identified, described),
    }
    for name, text in files.items():
        replace_file(target / name, text.encode("utf-8"))
    mechanism, values = identified.model.mechanism, {**identified.model.given, **described.values}
    if physical is not None:
        mechanism, values = identified_mechanism(identified, physical), {}
        save(mechanism, target / "model.yaml")
        files["model.yaml"] = ""
    write_study(Study(model=mechanism, parameters=values), target / "study.yaml")
    return [target / name for name in (*files, "study.yaml")]


def _estimates(identified: Identification) -> str:
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(("name", "value", "deviation", "unit", "described", "verdict"))
    for x in identified.levels:
        value, deviation, described = ("" if np.isnan(v) else repr(v) for v in (x.value, x.deviation, x.described))
        table.writerow((x.name, value, deviation, x.unit, described, x.verdict))
    return text.getvalue()


def _covariance(identified: Identification) -> str:
    lines = [",".join(["", *identified.names])]
    lines += [
        ",".join([n, *map(repr, row.tolist())])
        for n, row in zip(identified.names, identified.estimate.covariance, strict=True)
    ]
    return "\n".join(lines) + "\n"


def _parameters(identified: Identification, described: Described) -> str:
    head = [f"# Identified from {Path(identified.source).name}; standard deviations behind the values."]
    if not described.values:
        head += ["# No parameter of the description follows: see estimates.csv for the base parameters."]
        return "\n".join([*head, yaml.safe_dump({"parameters": {}})])
    lines = [*head, "parameters:"]
    lines += [f"  {n}: {x!r}  # +- {described.deviations[n]:.2g}" for n, x in described.values.items()]
    return "\n".join(lines) + "\n"
