"""Which of the unknowns the measurements need, and which motion would show the others.

Essential parameters (Gautier): the least significant unknown is left out, one after the other, as long as the sum of
squares does not grow by more than noise explains: t^2 = (x/s)^2 of the one left out stays below a bound.

What motion shows an unknown: the mechanism is moved in thought, one joint or two of them at a time, slowly for what
weighs, fast for what resists being accelerated. With the information A the measurements gave, the variance left with
such a motion added is that of (A + A_motion)^-1; the motion that leaves least is named.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from torseur.identification.identification import Identification
from torseur.identification.motion import Motion
from torseur.identification.unknowns import Unknowns
from torseur.model.model import Model
from torseur.model.rows import limits, rates_of

__all__ = ["Advice", "advice", "essential"]

Array = NDArray[np.float64]

SIGNIFICANT = 2.0
MOST_JOINTS = 10
_SAMPLES = 60


def essential(identified: Identification, significant: float = SIGNIFICANT) -> Mapping[str, float]:
    """The essential unknowns with their values once the others are left out (zero).

    Args:
        identified: what was identified.
        significant: standard deviations that a value must be off zero.
    """
    kept = list(identified.estimate.kept)
    x, C = identified.estimate.values[kept], identified.estimate.covariance[np.ix_(kept, kept)]
    while len(kept):
        t = np.abs(x) / np.sqrt(np.diag(C))
        k = int(np.argmin(t))
        if t[k] >= significant:
            break
        # the others, given that this one is zero
        rest = [i for i in range(len(kept)) if i != k]
        gain = C[rest, k] / C[k, k]
        x, C = x[rest] - gain * x[k], C[np.ix_(rest, rest)] - np.outer(gain, C[k, rest])
        kept = [kept[i] for i in rest]
    return {identified.names[i]: float(value) for i, value in zip(kept, x, strict=True)}


@dataclass(frozen=True)
class Advice:
    """What motion would show an unknown.

    Attributes:
        name: of the unknown.
        motion: in words; empty if none of those that were tried helps.
        deviation: what its standard deviation would become.
    """

    name: str
    motion: str
    deviation: float

    def __str__(self) -> str:
        return f"{self.name}: {self.motion or 'no motion of one or two joints shows it'}"


def advice(identified: Identification) -> tuple[Advice, ...]:
    """For every unknown that was not determined the simplest motion that would show it."""
    wanted = [k for k, x in enumerate(identified.levels) if x.name in identified.undetermined]
    if not wanted or not (identified.model.mechanism.is_tree or identified.motions[0].multipliers is not None):
        return ()
    n, s = len(identified.names), identified.estimate.deviations_of_equations
    if len(s) != identified.model.nv:
        return ()
    kept = list(identified.estimate.kept)
    F = np.zeros((len(kept), n))  # what follows from the others told the same about them
    F[np.arange(len(kept)), kept] = 1.0
    for k, factors in identified.estimate.follows.items():
        for j, factor in factors.items():
            F[kept.index(j), k] = factor
    before = F.T @ np.linalg.inv(identified.estimate.covariance[np.ix_(kept, kept)]) @ F
    trials = list(_trials(identified.model, identified.motions[0]))
    s = np.maximum(s, 1e-9 * float(s.max()))
    after = [_deviations(before + _information(identified.unknowns, m, identified.filled, s)) for _, m in trials]
    now = _deviations(before)
    return tuple(_best(identified, k, now[k], [w for w, _ in trials], [d[k] for d in after]) for k in wanted)


def _best(identified: Identification, k: int, now: float, words: Sequence[str], then: Sequence[float]) -> Advice:
    """The first trial that does nearly as well as the best: trials of one joint come first."""
    least = min(then, default=np.inf)
    if not least < 0.7 * now:
        return Advice(identified.names[k], "", float(now))
    i = next(i for i, d in enumerate(then) if d <= 1.5 * least)
    return Advice(identified.names[k], words[i], float(then[i]))


def _deviations(A: Array) -> Array:
    """Of all unknowns, infinite where the information says nothing."""
    scale = np.sqrt(np.maximum(np.diag(A), 1e-300))
    values, vectors = np.linalg.eigh(A / np.outer(scale, scale))
    live = values > 1e-10
    variance = np.sum(vectors[:, live] ** 2 / values[live], axis=1)
    lost = np.sum(vectors[:, ~live] ** 2, axis=1) > 1e-6
    return np.asarray(np.where(lost, np.inf, np.sqrt(variance) / scale))


def _information(unknowns: Unknowns, motion: Motion, x: Array, s: Array) -> Array:
    W, _ = unknowns.equations(motion, x)
    W = W / s[:, None]
    return np.asarray(np.einsum("tmi,tmj->ij", W, W))


def _trials(model: Model, like: Motion) -> list[tuple[str, Motion]]:
    """Motions of one joint, then of two, about other postures."""
    rates = rates_of(model.mechanism)
    joints = [k for k in sorted(rates) if model.speeds[k].owner != "base"][:MOST_JOINTS]
    trials = [_trial(model, like, (k,), fast) for k in joints for fast in (False, True)]
    return [*trials, *(_trial(model, like, pair, True) for pair in combinations(joints, 2))]


def _trial(model: Model, like: Motion, joints: Sequence[int], fast: bool) -> tuple[str, Motion]:
    rates, (low, high) = rates_of(model.mechanism), limits(model)
    t = np.linspace(0.0, 2.0 * np.pi, _SAMPLES)
    middle, nv = like.q.mean(axis=0), model.nv
    q, v, vdot = np.tile(middle, (_SAMPLES, 1)), np.zeros((_SAMPLES, nv)), np.zeros((_SAMPLES, nv))
    speed = max(float(np.abs(like.v).max()), 1.0) if fast else 1e-3
    for i, k in enumerate(joints):
        c, w = rates[k], i + 1.0
        wide = 1.0 if model.speeds[k].unit == "rad/s" else 0.2
        if np.isfinite(low[c]) and np.isfinite(high[c]):
            wide = min(wide, 0.4 * (high[c] - low[c]))
        q[:, c] = middle[c] + wide * np.sin(w * t + i)
        v[:, k], vdot[:, k] = speed * np.cos(w * t + i), -speed * w * speed / wide * np.sin(w * t + i)
    names = " and ".join(model.coordinates[rates[k]].name for k in joints)
    words = f"move {names} {'together, ' if len(joints) > 1 else ''}{'fast' if fast else 'slowly'}"
    inputs = np.tile(like.inputs.mean(axis=0), (_SAMPLES, 1))
    rows = None if like.multipliers is None else np.zeros((_SAMPLES, like.multipliers.shape[1]))
    lost = np.zeros((_SAMPLES, nv), dtype=bool)
    return words, Motion(t, float(t[1]), q, v, vdot, np.zeros((_SAMPLES, nv)), inputs, rows, lost, 0, 1.0)
