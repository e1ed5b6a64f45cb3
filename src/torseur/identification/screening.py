"""What is wrong with measurements, by name, before anything is estimated from them.

================  ======================================================================================  ========
time              instants that do not increase                                                            refused
uneven            steps that differ by more than a tenth                                                   refused
gap               steps that are longer than the others, cells without a number                            told
unit              a unit that measures something else than its column                                      refused
wrong unit        values that differ from what they should be by the ratio of two units                    refused
swapped           two columns that fit in each other's place, and not in their own                         refused
saturation        values that stay at their largest or smallest                                            left out
constant          a constant effort; a coordinate that never moves                              told
outlier           single values far from their neighbours                                                  told
wrapped           angles that jump by a turn                                                               told
integrated        coordinates of which only the speed was measured                                         told
velocity          speeds of a base that forces depend on, and that its IMU does not show                   told
================  ======================================================================================  ========

Speeds are compared with the derivatives of their coordinates, efforts with what the equations of every joint can
explain (no value of any parameter is needed for that), and, where the description has values, with what it predicts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from torseur.describe import BASE
from torseur.errors import ArgumentError
from torseur.identification.columns import Columns
from torseur.identification.measurements import Measurements, alike, unit_of
from torseur.identification.motion import SHORTEST, Motion, continued, is_wrapped
from torseur.identification.signals import derivative, motion_band, smooth
from torseur.identification.unknowns import Unknowns
from torseur.model.model import Model
from torseur.model.rows import rates_of

__all__ = [
    "Finding",
    "Severity",
    "is_broken",
    "refused",
    "screen_columns",
    "screen_efforts",
    "screen_stretches",
    "screen_velocity",
]

Array = NDArray[np.float64]

PLATEAU = 5
"""Equal values in a row, at an extreme, that make a saturation."""
RATIOS = {
    "degrees for radians": 180.0 / np.pi,
    "radians for degrees": np.pi / 180.0,
    "thousandths (mm, N mm, mA) for units": 1e3,
    "thousands (kN) for units": 1e-3,
    "rev/min for rad/s": 60.0 / (2.0 * np.pi),
    "revolutions for radians": 1.0 / (2.0 * np.pi),
    "multiples of g for m/s2": 1.0 / 9.80665,
    "the opposite sign": -1.0,
}
"""What a wrong unit multiplies values by."""
NEAR = 0.05


class Severity(Enum):
    """What a finding means for the estimate."""

    REFUSED = "refused"
    LEFT_OUT = "left out"
    TOLD = "told"


@dataclass(frozen=True, eq=False)
class Finding:
    """Something about measurements.

    Attributes:
        kind: time, uneven, gap, unit, wrong unit, swapped, saturation, constant, outlier, wrapped, integrated,
            velocity, unused.
        columns: that it is about.
        what: in words.
        severity: whether the estimate goes on.
        lost: instants that are not to be used.
    """

    kind: str
    columns: tuple[str, ...]
    what: str
    severity: Severity = Severity.TOLD
    lost: NDArray[np.bool_] | None = None

    def __str__(self) -> str:
        return f"{self.kind}: {', '.join(self.columns)}: {self.what}"


def refused(findings: Sequence[Finding], source: str) -> None:
    """An error that tells all findings that stand in the way."""
    bad = [f for f in findings if f.severity is Severity.REFUSED]
    if bad:
        many = f"{len(bad)} faults in the measurements" if len(bad) > 1 else "a fault in the measurements"
        remedy = 'correct them, or say checks="tell" to estimate all the same'
        if is_broken(bad):
            remedy = "correct the instants, or leave out what was recorded twice"
        raise ArgumentError(many, where=source, got="\n    ".join(map(str, bad)), remedy=remedy, option="checks")


def is_broken(findings: Sequence[Finding]) -> bool:
    """Whether instants do not increase: then nothing can be estimated."""
    return any(f.kind == "time" for f in findings)


# -- column by column --------------------------------------------------------------------------------------------------
def screen_columns(model: Model, data: Measurements) -> list[Finding]:
    """What can be said of columns without any equation of motion."""
    columns = Columns.of(model, list(data.columns))
    findings = [*_times(data)]
    if is_broken(findings):
        return findings
    findings += _units(model, data, columns)
    used = [n for n in data.columns if n not in columns.unused]
    if columns.unused:
        findings.append(Finding("unused", columns.unused, "nothing in the model has these names"))
    for k, name in columns.integrated(model).items():
        missing = model.coordinates[k].name
        what = f"{missing} was not measured: after every gap it begins anew where the description starts"
        findings.append(Finding("integrated", (name,), what))
    efforts = {*columns.efforts.values(), *columns.inputs.values()}
    wide = np.diff(data.time) > 1.5 * float(np.median(np.diff(data.time)))
    beside_gaps = np.concatenate([wide, [False]]) | np.concatenate([[False], wide])
    for name in used:
        values = data.columns[name]
        if columns.is_angle(model, name) and is_wrapped(values):
            findings.append(Finding("wrapped", (name,), "jumps by a turn: the angle is taken to go on"))
            values = continued(values)
        findings += _holes(name, values)
        findings += _still(model, name, values, columns, name in efforts)
        findings += _outliers(name, np.where(beside_gaps, np.nan, values))
        if name in efforts:
            findings += _plateaus(name, values)
    if all(np.isfinite(data.columns[n]).all() for n in used) and not any(f.kind == "gap" for f in findings):
        findings += _rates(model, data, columns)
    return findings


def _times(data: Measurements) -> Iterator[Finding]:
    step = np.diff(data.time)
    bad = np.flatnonzero(~(step > 0.0))
    if len(bad):
        k = int(bad[0])
        what = f"does not increase at sample {k + 2}: {data.time[k]:.9g} s, then {data.time[k + 1]:.9g} s"
        more = f", and {len(bad) - 1} times more" if len(bad) > 1 else ""
        yield Finding("time", ("time",), what + more, Severity.REFUSED)
        return
    usual = float(np.median(step))
    wide = np.flatnonzero(step > 1.5 * usual)
    if len(wide):
        where = ", ".join(f"{data.time[k]:.6g} to {data.time[k + 1]:.6g} s" for k in wide[:4])
        more = f" and {len(wide) - 4} more" if len(wide) > 4 else ""
        yield Finding("gap", ("time",), f"no samples from {where}{more}; what lies between gaps is treated by itself")
    uneven = step[step <= 1.5 * usual]
    if len(uneven) and np.abs(uneven - usual).max() > 0.1 * usual:
        low, high = uneven.min(), uneven.max()
        what = f"steps are uneven, {low:.4g} to {high:.4g} s: they are taken as {usual:.4g} s"
        yield Finding("uneven", ("time",), what, Severity.REFUSED)


def _units(model: Model, data: Measurements, columns: Columns) -> Iterator[Finding]:
    for name, unit in columns.expected_units(model).items():
        given = data.units.get(name)
        if not given:
            continue
        try:
            wanted = unit_of(unit)
        except ArgumentError:
            continue  # a unit in free words, in the description
        if not alike(unit_of(given), wanted):
            yield Finding("unit", (name,), f"is in {given}, where {unit} is measured", Severity.REFUSED)


def _holes(name: str, values: Array) -> Iterator[Finding]:
    bad = ~np.isfinite(values)
    if bad.all():
        yield Finding("gap", (name,), "has no value at all", Severity.REFUSED)
    elif bad.any():
        yield Finding("gap", (name,), f"has no value at {int(bad.sum())} of {len(bad)} instants")


def _still(model: Model, name: str, values: Array, columns: Columns, is_effort: bool) -> Iterator[Finding]:
    finite = values[np.isfinite(values)]
    if not len(finite) or np.ptp(finite) > 1e-12 * max(float(np.abs(finite).max()), 1e-300):
        return
    if is_effort and name in columns.efforts.values():
        yield Finding("constant", (name,), f"is {finite[0]:.6g} all the time: the channel is dead", Severity.REFUSED)
    elif is_effort:
        yield Finding("constant", (name,), f"is {finite[0]:.6g} all the time")
    elif name in columns.coordinates.values():
        yield Finding("constant", (name,), "never moves: what only its motion shows stays unknown")


def _outliers(name: str, values: Array) -> Iterator[Finding]:
    """Single samples far from the mean of their neighbours, beside what is usual."""
    if len(values) < 20:
        return
    off = np.abs(values[1:-1] - 0.5 * (values[2:] + values[:-2]))
    both = np.minimum(np.abs(values[1:-1] - values[2:]), np.abs(values[1:-1] - values[:-2]))
    usual = float(np.nanpercentile(off, 99.0))
    bad = np.flatnonzero((off > 20.0 * usual) & (both > 10.0 * usual) & (usual > 0.0)) + 1
    if len(bad):
        what = f"jumps for one sample at {len(bad)} instants, the first is {bad[0] + 1}; they are not taken out: "
        yield Finding("outlier", (name,), what + "make such cells empty, and the estimate leaves them out")


def _plateaus(name: str, values: Array) -> Iterator[Finding]:
    """Runs of equal values at the largest or smallest."""
    finite = values[np.isfinite(values)]
    if not len(finite) or np.ptp(finite) == 0.0:
        return
    lost = np.zeros(len(values), dtype=bool)
    ends = []
    for end in (finite.max(), finite.min()):
        at = values == end
        edges = np.flatnonzero(np.diff(np.concatenate([[0], at.astype(int), [0]])))
        runs = [(a, b) for a, b in edges.reshape(-1, 2) if b - a >= PLATEAU]
        for a, b in runs:
            lost[a:b] = True
        if runs and end != 0.0:
            ends.append(f"{end:.6g} ({sum(b - a for a, b in runs)} samples)")
        elif runs:
            for a, b in runs:
                lost[a:b] = False
    if ends:
        what = f"stays at {' and '.join(ends)}: these samples and those near them are left out"
        yield Finding("saturation", (name,), what, Severity.LEFT_OUT, lost)


def screen_stretches(data: Measurements, motions: Sequence[Motion]) -> Iterator[Finding]:
    """What is not used since it lies between gaps that are too near each other."""
    whole = int(np.isfinite(np.stack([*data.columns.values()])).all(axis=0).sum()) if data.columns else 0
    left = whole - sum(len(m.time) for m in motions)
    if left > 0:
        what = f"{left} samples lie in stretches of less than {SHORTEST} between gaps: they are left out"
        yield Finding("gap", ("time",), what, Severity.LEFT_OUT)


def screen_velocity(model: Model, data: Measurements, motion: Motion) -> Iterator[Finding]:
    """Forces that depend on the velocity of a base whose IMU does not show it."""
    columns, known = Columns.of(model, list(data.columns)), model.function("given_forces")
    if not columns.imu or columns.has_base_velocity(model) or not known.has_values():
        return
    places = [k for k, x in enumerate(model.speeds) if x.owner == BASE][:3]
    few = slice(None, None, max(1, len(motion.time) // 50))
    more: dict[str, Any] = {"t": motion.time[few]}
    more |= {"inputs": motion.inputs[few]} if model.mechanism.inputs else {}
    v, moved = motion.v[few], motion.v[few].copy()
    moved[:, places] += 10.0
    still, fast = (np.asarray(known(motion.q[few], x, **more)) for x in (v, moved))
    if np.abs(fast - still).max() > 1e-9 * max(float(np.abs(still).max()), 1.0):
        names = tuple(model.speeds[k].name for k in places)
        what = "not measured, and taken as zero: forces that depend on them (drag, tyres, wind) are wrong"
        yield Finding("velocity", names, what)


# -- speeds beside their coordinates -----------------------------------------------------------------------------------
def _rates(model: Model, data: Measurements, columns: Columns) -> Iterator[Finding]:
    """Speeds that were measured beside the derivatives of their coordinates."""
    step = float(np.median(np.diff(data.time)))
    rates = rates_of(model.mechanism)
    pairs = [
        (n, columns.coordinates[rates[k]]) for k, n in columns.speeds.items() if rates.get(k) in columns.coordinates
    ]
    if not pairs:
        return
    recorded = [(c, data.columns[c]) for _, c in pairs]
    q = np.stack([continued(x) if columns.is_angle(model, c) else x for c, x in recorded], axis=1)
    v = np.stack([data.columns[n] for n, _ in pairs], axis=1)
    cutoff = 5.0 * motion_band(q, step)
    qdot = derivative(smooth(q, step, cutoff), step)
    v = smooth(v, step, cutoff)
    inner = slice(len(q) // 20, len(q) - len(q) // 20)
    yield from _compared([n for n, _ in pairs], [f"the derivative of {c}" for _, c in pairs], v[inner], qdot[inner])


def _compared(names: Sequence[str], others: Sequence[str], measured: Array, expected: Array) -> Iterator[Finding]:
    """Each measured column beside what it should be: those that are another one, or a multiple of theirs."""
    n = len(names)
    fit, slope = np.zeros((n, n)), np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            fit[i, j], slope[i, j] = _likeness(measured[:, i], expected[:, j])
    taken = set[int]()
    for i in range(n):
        for j in range(i + 1, n):
            crossed = min(fit[i, j], fit[j, i])
            if crossed > 0.9 and crossed > max(fit[i, i], fit[j, j]) + 0.3 and not {i, j} & taken:
                taken |= {i, j}
                what = f"fit in each other's place (agreement {crossed:.2f}), and not in their own"
                yield Finding("swapped", (names[i], names[j]), what, Severity.REFUSED)
    for i in set(range(n)) - taken:
        if fit[i, i] < 0.9:
            continue
        for what, ratio in RATIOS.items():
            if abs(slope[i, i] / ratio - 1.0) < NEAR:
                text = f"is {slope[i, i]:.4g} times {others[i]}: it looks like {what}"
                yield Finding("wrong unit", (names[i],), text, Severity.REFUSED)


def _likeness(a: Array, b: Array) -> tuple[float, float]:
    """Squared correlation, and the factor in a = factor b."""
    a, b = a - a.mean(), b - b.mean()
    aa, bb, ab = float(a @ a), float(b @ b), float(a @ b)
    if aa <= 0.0 or bb <= 0.0:
        return 0.0, 0.0
    return ab**2 / (aa * bb), ab / bb


# -- efforts beside the equations --------------------------------------------------------------------------------------
def screen_efforts(
    model: Model, data: Measurements, unknowns: Unknowns, motions: Sequence[Motion], band: float
) -> list[Finding]:
    """Efforts on joints beside what the equations of every joint can explain, and beside what the model predicts."""
    columns = Columns.of(model, list(data.columns))
    names = _efforts_by_joint(model, columns)
    if not names or not (model.mechanism.is_tree or motions[0].multipliers is not None):
        return []
    rows = sorted(names)
    motion = max(motions, key=lambda m: len(m.time))
    W, y = unknowns.equations(motion, np.nan_to_num(unknowns.start))
    keep = slice(motion.trim, len(y) - motion.trim, max(1, len(y) // 2000))
    W, y = (smooth(x.reshape(len(x), -1), motion.step, band).reshape(x.shape)[keep] for x in (W, y))
    findings = list(_swapped_efforts([names[k] for k in rows], W[:, rows], y[:, rows]))
    swapped = {n for f in findings for n in f.columns}
    if np.isfinite(unknowns.start).all() and np.any(unknowns.start):
        told = W @ unknowns.start
        for k in rows:
            if names[k] in swapped:
                continue
            fit, slope = _likeness(y[:, k], told[:, k])
            ratios = {what: r for what, r in RATIOS.items() if abs(slope / r - 1.0) < 4 * NEAR}
            if fit > 0.9 and ratios:
                text = f"is {slope:.4g} times what the description predicts: it looks like {next(iter(ratios))}"
                findings.append(Finding("wrong unit", (names[k],), text, Severity.REFUSED))
    return findings


def _efforts_by_joint(model: Model, columns: Columns) -> dict[int, str]:
    """Speed -> the column of the effort that acts on it alone."""
    efforts = dict(columns.efforts)
    rates = rates_of(model.mechanism)
    places = {model.coordinates[c].name: k for k, c in rates.items()}
    inputs = list(model.mechanism.inputs)
    for load in model.mechanism.loads.values():
        place = places.get(str(getattr(load, "coordinate", None)))
        mine = [columns.inputs[k] for k in columns.inputs if inputs[k] in model.mechanism.names_in(load)]
        if place is not None and len(mine) == 1:
            efforts[place] = mine[0]
    return efforts


def _swapped_efforts(names: Sequence[str], W: Array, y: Array) -> Iterator[Finding]:
    """Two efforts that the equations of each other's joint explain, and those of their own do not."""
    n = len(names)
    share = np.zeros((n, n))  # of the power of effort i that joint j explains
    for j in range(n):
        A = W[:, j]
        sizes = np.linalg.norm(A, axis=0)
        A = A[:, sizes > 1e-12 * max(float(sizes.max()), 1e-300)]
        Q, s, _ = np.linalg.svd(A / np.linalg.norm(A, axis=0), full_matrices=False)
        Q = Q[:, s > 1e-6 * s[0]] if len(s) else Q
        for i in range(n):
            power = float(y[:, i] @ y[:, i])
            share[i, j] = float(np.sum((Q.T @ y[:, i]) ** 2)) / power if power > 0.0 else 0.0
    for i in range(n):
        for j in range(i + 1, n):
            own, crossed = max(1 - share[i, i], 1 - share[j, j]), max(1 - share[i, j], 1 - share[j, i])
            if own > 0.02 and crossed < 0.25 * own and crossed < 0.2:
                what = f"joint by joint {100 * own:.0f} % stays unexplained, and {100 * crossed:.1f} % when exchanged"
                yield Finding("swapped", (names[i], names[j]), what, Severity.REFUSED)
