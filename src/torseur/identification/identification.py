"""Identification: parameters of a mechanism from measurements, with what can be said of each of them.

>>> import numpy as np
>>> from torseur.describe import Mechanism
>>> from torseur.identification.measurements import Measurements
>>> rod = {"joint": {"kind": "revolute", "coordinate": "q"}, "inertia": {"ZZ": 0.4, "MX": 0.5, "M": 1.0}}
>>> pendulum = Mechanism(name="pendulum", gravity=(9.81, 0.0, 0.0), bodies={"rod": rod})
>>> t = np.linspace(0.0, 10.0, 5001)
>>> q, ddq = np.sin(2 * t), -4 * np.sin(2 * t)
>>> tau = 0.4 * ddq + 9.81 * 0.5 * np.sin(q)
>>> found = identify(pendulum, Measurements.of({"time": t, "q [rad]": q, "tau_q [N m]": tau}))
>>> {name: round(x, 4) for name, x in found.values.items()}
{'ZZ1': 0.4, 'MX1': 0.5, 'MY1': 0.0}
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from torseur.describe import BASE, Mechanism
from torseur.errors import ArgumentError, choice
from torseur.formats import load
from torseur.identification.estimation import Block, Estimate, Form, Weighting, blocks_of, fitted
from torseur.identification.measurements import Measurements, read_measurements
from torseur.identification.motion import Motion, motions_of
from torseur.identification.screening import (
    Finding,
    is_broken,
    refused,
    screen_columns,
    screen_efforts,
    screen_stretches,
    screen_velocity,
)
from torseur.identification.signals import Filtering
from torseur.identification.unknowns import (
    BaseUnknowns,
    DescribedUnknowns,
    Unknowns,
    dynamic_parameters,
    terms_of,
    tyre_parameters,
)
from torseur.model.model import Model, build
from torseur.simulation.results.result import Run
from torseur.spatial.joints import Quantity

__all__ = ["Identification", "Level", "Prediction", "identify", "unknowns_of"]

Array = NDArray[np.float64]

ROUNDS = 30
_STILL = 1e-12
CERTAIN, UNCERTAIN = 0.1, 0.5


@dataclass(frozen=True, eq=False)
class Level:
    """What is known of one unknown.

    Attributes:
        name, unit: of it.
        value: found; nan if the data do not show it alone.
        deviation: its standard deviation.
        described: its value in the description, nan if there is none.
        verdict: determined, uncertain, not determined, or "only with ..." others.
    """

    name: str
    unit: str
    value: float
    deviation: float
    described: float
    verdict: str

    @property
    def relative(self) -> float:
        """The deviation over the value."""
        return self.deviation / abs(self.value) if self.value else np.inf


@dataclass(frozen=True, eq=False)
class Prediction:
    """How well efforts of some measurements are predicted.

    Attributes:
        names, units: of the equations.
        time, measured, predicted: of each block: (nt,), (nt, m), (nt, m).
        relative: |measured - predicted| / |measured|, (m,).
        expected: the same ratio, were the residuals those of the estimate.
    """

    names: tuple[str, ...]
    units: tuple[str, ...]
    time: tuple[Array, ...]
    measured: tuple[Array, ...]
    predicted: tuple[Array, ...]
    relative: Array
    expected: Array

    @property
    def holds(self) -> bool:
        """Whether no equation is off by more than twice what the estimate lets expect."""
        return bool((self.relative <= 2.0 * self.expected + 1e-9).all())


@dataclass(frozen=True, eq=False)
class Identification:
    """What was identified.

    Attributes:
        model: of the mechanism.
        unknowns: what was sought.
        estimate: values, covariance, condition number, residuals.
        motions: from the measurements.
        blocks: the equations at the values found.
        filtering, form: as they were treated.
        findings: about the measurements.
        source: where they come from.
        imu_frame: where an IMU sat.
    """

    model: Model
    unknowns: Unknowns
    estimate: Estimate
    motions: tuple[Motion, ...]
    blocks: tuple[Block, ...]
    filtering: Filtering
    form: Form
    findings: tuple[Finding, ...]
    source: str = "measurements"
    imu_frame: str = BASE

    @property
    def names(self) -> tuple[str, ...]:
        return self.unknowns.names

    @cached_property
    def values(self) -> Mapping[str, float]:
        """By name; nan for what the data do not show alone."""
        return {n: float(x) for n, x in zip(self.names, self.estimate.values, strict=True)}

    @cached_property
    def deviations(self) -> Mapping[str, float]:
        """Standard deviations by name."""
        return {n: float(x) for n, x in zip(self.names, self.estimate.deviations, strict=True)}

    @property
    def condition(self) -> float:
        """Of the weighted equations with scaled columns."""
        return self.estimate.condition

    @cached_property
    def levels(self) -> tuple[Level, ...]:
        """All unknowns with what is known of each."""
        start = self.unknowns.start
        rows = zip(self.names, self.unknowns.units, self.estimate.values, self.estimate.deviations, start, strict=True)
        return tuple(
            Level(name, unit, float(x), float(s), float(x0), self._verdict(k, float(x), float(s), float(x0)))
            for k, (name, unit, x, s, x0) in enumerate(rows)
        )

    def _verdict(self, k: int, x: float, s: float, x0: float) -> str:
        if k in self.estimate.follows:
            others = [self.names[j] for j in self.estimate.follows[k]]
            return f"only with {', '.join(others[:4])}" + (" ..." if len(others) > 4 else "") if others else "no effect"
        size = max(abs(x), 0.0 if np.isnan(x0) else abs(x0))
        return "determined" if s <= CERTAIN * size else "uncertain" if s <= UNCERTAIN * size else "not determined"

    @property
    def undetermined(self) -> tuple[str, ...]:
        """What these measurements do not determine, by name."""
        return tuple(x.name for x in self.levels if x.verdict not in ("determined", "uncertain"))

    @cached_property
    def filled(self) -> Array:
        """The values, with those of the description where nothing was found, and zeros where it has none."""
        start = np.nan_to_num(self.unknowns.start)
        return np.where(np.isnan(self.estimate.values), start, self.estimate.values)

    @property
    def row_names(self) -> tuple[str, ...]:
        """Of the equations: the speeds they belong to."""
        m = self.blocks[0].y.shape[1]
        if self.form is not Form.EFFORTS:
            return (self.form.value,)
        return tuple(x.name for x in self.model.speeds) if m == self.model.nv else tuple(f"e{k + 1}" for k in range(m))

    @property
    def row_units(self) -> tuple[str, ...]:
        """Of the efforts along the speeds, or of powers and energies."""
        if self.form is not Form.EFFORTS:
            return ("W" if self.form is Form.POWER else "J",)
        efforts = {Quantity.ANGULAR_SPEED: "N m", Quantity.SPEED: "N"}
        units = tuple(efforts.get(x.quantity, "") for x in self.model.speeds)
        return units if len(units) == len(self.row_names) else ("",) * len(self.row_names)

    @cached_property
    def prediction(self) -> Prediction:
        """Of the efforts it was found from."""
        return self._predicted(self.blocks)

    def validate(
        self,
        data: Measurements | str | os.PathLike[str] | Run,
        *,
        imu_frame: str | None = None,
        checks: str = "refuse",
    ) -> Prediction:
        """The efforts of other measurements, which the estimate has not seen, as it predicts them.

        Args:
            data: measurements, a run, or the file of either.
            imu_frame: where an IMU sat, by default where it sat before.
            checks: "refuse" measurements with faults, or "tell" and go on.
        """
        # Both sides pass the same filter as those of the estimate, so that their noise can be compared.
        plan = replace(self.filtering, band=self.filtering.band or 2.0 * self.motions[0].band)
        read = _Read.of(self.model, _measured(data), plan, imu_frame or self.imu_frame, checks, self._is_dry)
        motions = read.motions
        return self._predicted(blocks_of(self.unknowns, motions, self.filled, plan, self.form))

    @property
    def _is_dry(self) -> bool:
        return any(t.symbol == "FS" for t in self.unknowns.terms)

    def _predicted(self, blocks: Sequence[Block]) -> Prediction:
        known = [np.where(b.used, b.y, np.nan) for b in blocks]
        told = [b.W @ self.filled for b in blocks]
        off = np.sqrt(sum(np.nansum((y - f) ** 2, axis=0) for y, f in zip(known, told, strict=True)))
        size = np.sqrt(sum(np.nansum(y**2, axis=0) for y in known))
        count = sum(np.isfinite(y).sum(axis=0) for y in known)
        size = np.maximum(size, 1e-300)
        expected = self.estimate.deviations_of_equations * np.sqrt(count) / size
        times = tuple(b.time for b in blocks)
        return Prediction(self.row_names, self.row_units, times, tuple(known), tuple(told), off / size, expected)

    def table(self) -> str:
        """Names, values, deviations, units, and what the description says, as text."""
        head = f"{'':<14} {'value':>12} {'deviation':>10} {'relative':>9} {'described':>12}  {'unit':<10} verdict"
        lines = [head]
        for x in self.levels:
            share = f"{100 * x.relative:.2g} %" if np.isfinite(x.relative) and x.relative < 100 else "-"
            known = "-" if np.isnan(x.described) else f"{x.described:.5g}"
            value, deviation = ("-", "-") if np.isnan(x.value) else (f"{x.value:.5g}", f"{x.deviation:.2g}")
            line = f"{x.name:<14} {value:>12} {deviation:>10} {share:>9} {known:>12}  {x.unit:<10} {x.verdict}"
            lines.append(line.rstrip())
        return "\n".join(lines)

    def __str__(self) -> str:
        n = len(self.estimate.kept)
        known = f"deviations are known to {100 * self.estimate.certainty:.2g} %"
        return (
            f"{self.model.mechanism.name}: {n} of {len(self.names)} unknowns from {self.estimate.count} equations, "
            f"condition number {self.condition:.3g}, {known}"
        )


def identify(
    what: Mechanism | Model | str | os.PathLike[str],
    data: Measurements | Run | str | os.PathLike[str],
    *,
    unknowns: str | Sequence[str] = "base",
    along: Sequence[str] = (),
    form: Form | str = Form.EFFORTS,
    filtering: Filtering | None = None,
    weighting: Weighting | None = None,
    parameters: Mapping[str, float] | None = None,
    imu_frame: str = BASE,
    checks: str = "refuse",
) -> Identification:
    """Find parameters of a mechanism from measurements.

    Args:
        what: a description, a model, or the file of one.
        data: measurements, a run, or the file of either.
        unknowns: "base" for the base parameters, "described" for the parameters of the description that masses and
            loads depend on, or the names of some.
        along: terms to be found beside them on every joint: FV, FS, IA, OF, KS.
        form: of the equations: "efforts", "power" or "energy".
        filtering: of the measurements.
        weighting: of the equations.
        parameters: values in place of those of the description.
        imu_frame: the frame of an IMU on a floating base.
        checks: "refuse" measurements with faults, or "tell" and go on.
    """
    model, measured, plan = _model(what, parameters), _measured(data), filtering or Filtering()
    wanted = choice(Form, form, "form")
    sought = unknowns_of(model, unknowns, along)
    read = _Read.of(model, measured, plan, imu_frame, checks, "FS" in along)
    motions = read.motions
    findings = [*read.findings]
    findings += screen_efforts(model, measured, sought, motions, plan.band or 2.0 * motions[0].band)
    if checks == "refuse":
        refused(findings, measured.source)
    estimate, blocks = _solved(sought, motions, plan, wanted, weighting or Weighting())
    return Identification(
        model, sought, estimate, motions, tuple(blocks), plan, wanted, tuple(findings), measured.source, imu_frame
    )


@dataclass(frozen=True, eq=False)
class _Read:
    """Measurements as motions, and what is to be said of them."""

    motions: tuple[Motion, ...]
    findings: tuple[Finding, ...]

    @classmethod
    def of(cls, model: Model, data: Measurements, plan: Filtering, imu_frame: str, checks: str, is_dry: bool) -> _Read:
        if checks not in ("refuse", "tell"):
            text = "unknown way to treat faults"
            raise ArgumentError(text, where="checks", expected='"refuse" or "tell"', got=checks)
        findings = screen_columns(model, data)
        if checks == "refuse" or is_broken(findings):
            refused(findings, data.source)
        lost = {n: f.lost for f in findings if f.lost is not None for n in f.columns}
        motions = motions_of(model, data, plan, imu_frame=imu_frame, lost=lost, is_dry=is_dry)
        more = (*screen_stretches(data, motions), *screen_velocity(model, data, motions[0]))
        return cls(tuple(motions), (*findings, *more))


def unknowns_of(model: Model, unknowns: str | Sequence[str], along: Sequence[str] = ()) -> Unknowns:
    """The unknowns that words stand for."""
    if isinstance(unknowns, str) and unknowns not in ("base", "described"):
        unknowns = [unknowns]
    _check_loads(model, unknowns)
    if unknowns == "base":
        plain = BaseUnknowns(model)
        known = _friction_known(plain)
        return BaseUnknowns(model, tuple(t for t in terms_of(model, along) if (t.symbol, t.speed) not in known))
    names = dynamic_parameters(model.mechanism) if unknowns == "described" else tuple(unknowns)
    if not names:
        text = "masses and loads of this description depend on no parameter"
        raise ArgumentError(text, where=model.mechanism.name, remedy="identify its base parameters", option="unknowns")
    return DescribedUnknowns(model, names, terms_of(model, along))


def _check_loads(model: Model, unknowns: str | Sequence[str]) -> None:
    """Forces that the road decides are measured, or fitted by themselves."""
    mechanism = model.mechanism
    of_tyres = sorted(tyre_parameters(mechanism) & ({unknowns} if isinstance(unknowns, str) else set(unknowns)))
    if of_tyres:
        text = "coefficients of a tyre law are not found from motions"
        remedy = "fit them to forces over slip and load: scipy.optimize.curve_fit on torseur.packs.tyres.steady_forces"
        raise ArgumentError(text, where=mechanism.name, got=", ".join(of_tyres), remedy=remedy, option="unknowns")
    if mechanism.normals_read:
        text = "loads of this description depend on normal forces (tyres, friction of contacts)"
        remedy = "put wrenches whose components are inputs in their place, and give the forces that were measured"
        raise ArgumentError(text, where=mechanism.name, got=", ".join(sorted(mechanism.normals_read)), remedy=remedy)


def _friction_known(base: BaseUnknowns) -> set[tuple[str, int]]:
    """Terms that are base parameters already."""
    kept = [base.base.standard[k] for k in base.base.kept]
    return {(p.symbol, p.speed) for p in kept if p.speed is not None}


def _solved(
    sought: Unknowns, motions: Sequence[Motion], plan: Filtering, form: Form, weighting: Weighting
) -> tuple[Estimate, list[Block]]:
    """One solution where the equations are linear; where not, as many as it takes for nothing to change."""
    start = sought.start
    x = np.nan_to_num(start)
    blocks = blocks_of(sought, motions, x, plan, form)
    _check_scale(sought, blocks, x)
    estimate = fitted(blocks, weighting, known=start)
    if sought.is_linear:
        return estimate, blocks
    for _ in range(ROUNDS):
        new = np.where(np.isnan(estimate.values), x, estimate.values)
        size = np.maximum(np.abs(new), np.nan_to_num(estimate.deviations))
        still = bool((np.abs(new - x) <= 1e-3 * np.nan_to_num(estimate.deviations) + _STILL * size).all())
        x = new
        if still:
            break
        blocks = blocks_of(sought, motions, x, plan, form)
        estimate = fitted(blocks, weighting, known=x)
    return estimate, blocks


def _check_scale(sought: Unknowns, blocks: Sequence[Block], x: Array) -> None:
    """Equations with nothing known in them, W x = 0, fix no scale: zero would be found for all unknowns."""
    m, n = blocks[0].W.shape[1:]
    enters, known = np.zeros((m, n), dtype=bool), np.zeros(m, dtype=bool)
    for W, y in ((b.W * b.used[..., None], b.y * b.used) for b in blocks):
        size = np.linalg.norm(W, axis=0)
        enters |= size > 0.0
        known |= np.linalg.norm(y, axis=0) > 1e-9 * (size @ np.abs(x))
    reached = known.copy()
    for _ in range(m):  # an unknown that another equation with something known in it holds carries the scale on
        reached |= (enters & enters[reached].any(axis=0)).any(axis=1)
    loose: NDArray[np.bool_] = np.asarray(enters.any(axis=0) & ~enters[reached].any(axis=0))
    if loose.any():
        names = ", ".join(name for name, is_loose in zip(sought.names, loose, strict=True) if is_loose)
        text = "these unknowns show in ratios only: no force in their equations is known"
        remedy = "leave out one whose value is known (a mass, a motor constant), or measure an effort"
        raise ArgumentError(text, where=sought.model.mechanism.name, got=names, remedy=remedy, option="unknowns")


def _model(what: Mechanism | Model | str | os.PathLike[str], parameters: Mapping[str, float] | None) -> Model:
    if isinstance(what, Model):
        return what if not parameters else build(what.mechanism, parameters={**what.given, **parameters})
    return build(what if isinstance(what, Mechanism) else load(what), parameters=parameters)


def _measured(data: Measurements | Run | str | os.PathLike[str]) -> Measurements:
    if isinstance(data, Measurements):
        return data
    return Measurements.of_run(data) if isinstance(data, Run) else read_measurements(data)
