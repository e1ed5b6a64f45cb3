"""Closing the loops of a mechanism from a guess (annex B of Maakaroun, for any holonomic constraint).

From a guess, the coordinates move along the speeds by the shortest step that closes the linearised rows,

    d = -(H P)^+ h,

with H the matrix of the position rows and P the projector on the motions that leave the held coordinates alone. A step
is cut to a largest turn or move, and damped (Levenberg, Marquardt) where it does not bring the ends closer. What does
not close, or closes with a joint upside down, starts anew a little beside the guess, each time a little farther; so the
branch that is found is one near the guess.

Speeds follow: the allowed ones nearest to those wished, measured by kinetic energy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from torseur.dynamics.constraints.closing import Attempt, NumericRows, Patience, newton
from torseur.dynamics.constraints.rank import rank_over
from torseur.errors import ArgumentError, NumericalError
from torseur.model.function import array_of, check_names
from torseur.model.rows import ConstraintRow, moved, numbers, numeric_rows, start_of, unit
from torseur.spatial.joints import Quantity

if TYPE_CHECKING:
    from torseur.model.model import Model

__all__ = ["Assembled", "Attempt", "Closing", "Loops", "assembled", "coordinates_from", "held_matrix", "speeds_from"]

Array = NDArray[np.float64]

SINGULAR = 1e-10
"""Singular values below this part of the largest are zeros."""

SINGULAR_GAP = 1e-2
"""A hundred times the gap that is left, as a part of the mechanism's length, below which loops nearly close."""


@dataclass(frozen=True)
class Closing:
    """How patiently loops are closed.

    Attributes:
        tolerance: largest gap left, m (or rad where a row is an angle), and largest speed left in a row, m/s or rad/s.
        largest_step: of any coordinate in one step, rad or m.
        iterations: steps from one start.
        restarts: further starts beside the guess.
        seed: of those.
    """

    tolerance: float = 1e-12
    largest_step: float = 0.5
    iterations: int = 200
    restarts: int = 24
    seed: int = 0

    def __post_init__(self) -> None:
        positive = {n: getattr(self, n) for n in ("tolerance", "largest_step", "iterations")}
        wrong = [f"{n} = {x}" for n, x in positive.items() if not x > 0] + ["restarts"] * (self.restarts < 0)
        if wrong:
            raise ArgumentError("closing loops needs positive numbers", got=", ".join(wrong))


@dataclass(frozen=True)
class Assembled:
    """A state that loops and constraints allow.

    Attributes:
        q: coordinates (..., nq); nan in the rows of a batch that do not close.
        v: speeds (..., nv).
        gap: the largest that is left in a position row (...), m or rad.
        iterations: steps it took from the start that closed.
        starts: how many starts there were; 1 if the guess led to it.
    """

    q: Array
    v: Array
    gap: Any
    iterations: int
    starts: int = 1


def assembled(
    model: Model,
    guess: ArrayLike | Mapping[str, float] | None = None,
    *,
    speeds: ArrayLike | Mapping[str, float] | None = None,
    hold: Sequence[str] = (),
    closing: Closing | None = None,
    **keywords: Any,
) -> Assembled:
    """Coordinates and speeds that loops and constraints allow, from a guess; see `torseur.assemble`."""
    settings = closing or Closing()
    held, kept = _names(model, hold)
    q = coordinates_from(model, guess)
    batch = q.ndim > 1
    loops = Loops(model, settings, held, keywords)
    attempt = loops.closed(q) if batch else loops.closed_one(q)
    q_closed = attempt.q if batch else attempt.q[0]
    closed, gap = (attempt.closed, attempt.gap) if batch else (attempt.closed[0], attempt.gap[0])
    v = speeds_from(model, speeds)
    v = np.broadcast_to(v, (*np.broadcast_shapes(q_closed.shape[:-1], v.shape[:-1]), model.nv)).copy()
    if model.constraint_rows:
        v = _allowed(model, q_closed, v, kept, settings, keywords)
    q, v = (np.where(closed[..., None], x, np.nan) for x in (q_closed, v))
    return Assembled(q, v, gap if batch else float(gap), attempt.iterations, attempt.starts)


# -- what is given -----------------------------------------------------------------------------------------------------
def coordinates_from(model: Model, guess: ArrayLike | Mapping[str, float] | None) -> Array:
    """Coordinates from an array, or from some of them by name; those of the description beside. Unit quaternions."""
    return unit(model.mechanism, _whole(guess, [x.name for x in model.coordinates], lambda: start_of(model), "guess"))


def speeds_from(model: Model, speeds: ArrayLike | Mapping[str, float] | None) -> Array:
    """Speeds from an array, or from some of them by name; those of the description beside."""
    starts = [x.start for x in model.speeds]
    return _whole(speeds, [x.name for x in model.speeds], lambda: numbers(model, starts), "speeds")


def _whole(given: Any, names: list[str], others: Any, what: str) -> Array:
    if given is None:
        return np.asarray(others())
    if isinstance(given, Mapping):
        check_names(given, names, "coordinate" if what == "guess" else "speed")
        whole = np.array(others(), dtype=float)
        for name, value in given.items():
            whole[names.index(name)] = float(array_of(value, name))
    else:
        whole = array_of(given, what)
    if not whole.ndim or whole.shape[-1] != len(names) or not np.isfinite(whole).all():
        expected = f"(..., {len(names)}) finite numbers, or some of them by name: {', '.join(names)}"
        raise ArgumentError(f"the {what} does not fit", expected=expected, got=str(whole.shape))
    return whole


def _names(model: Model, hold: Sequence[str]) -> tuple[list[int], list[int]]:
    """Held coordinates and held speeds, by place."""
    if isinstance(hold, str):
        raise ArgumentError("names to hold come in a sequence", got=repr(hold), expected=f"({hold!r},)")
    coordinates, speeds = ([x.name for x in some] for some in (model.coordinates, model.speeds))
    check_names(dict.fromkeys(hold), [*coordinates, *speeds], "coordinate or speed")
    return (
        [coordinates.index(n) for n in hold if n in coordinates],
        [speeds.index(n) for n in hold if n not in coordinates],
    )


def held_matrix(model: Model, q: Array, held: Sequence[int]) -> Array:
    """(..., held, nv): the rates of the held coordinates by the speeds."""
    rates = np.asarray(model.function("rates")(q[..., None, :], np.eye(model.nv)))
    return np.swapaxes(rates[..., list(held)], -1, -2)


# -- positions ---------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Loops:
    """The position rows of a model, and how they are closed; states come in batches."""

    model: Model
    settings: Closing
    held: list[int]
    keywords: dict[str, Any] = field(default_factory=dict)

    @property
    def rows(self) -> Sequence[int]:
        """The places of the position rows."""
        return self._rows.holonomic

    @cached_property
    def _rows(self) -> NumericRows:
        return numeric_rows(self.model, self.keywords)

    def closed(self, q: Array) -> Attempt:
        """From the guesses, then beside those that did not close."""
        if not self.rows:
            return Attempt.of(q)
        best, rng = self.newton(q), np.random.default_rng(self.settings.seed)
        for k in range(self.settings.restarts):
            if best.closed.all():
                break
            other = self.newton(self.beside(q, min(0.05 * 1.25**k, np.pi), rng))
            better = ~best.closed & (other.closed | ((other.gap < best.gap) & (other.side > 0.0)))
            best = Attempt(
                np.where(better[..., None], other.q, best.q),
                np.where(better, other.gap, best.gap),
                np.where(better, other.side, best.side),
                best.closed | other.closed,
                other.iterations if other.closed.all() else best.iterations,
                best.starts + 1,
            )
        return best

    def closed_one(self, q: Array) -> Attempt:
        """The same for one state; an error that says why if it does not close."""
        attempt = self.closed(q[None])
        if not attempt.closed.all():
            raise self.failure(q[None], attempt)
        return attempt

    def beside(self, q: Array, far: float, rng: np.random.Generator) -> Array:
        lengths = np.array([x.quantity is Quantity.SPEED for x in self.model.speeds])
        step = rng.normal(size=(*q.shape[:-1], self.model.nv)) * np.where(lengths, 0.3 * far, far)
        P = self.projector(q)
        return self.moved(q, step if P is None else np.einsum("...ij,...j->...i", P, step))

    def moved(self, q: Array, step: Array) -> Array:
        """Along a step; what is held stays to the last digit (not in quaternions, which stay unit)."""
        there = moved(self.model, q, step)
        plain = [k for k in self.held if self.model.coordinates[k].quantity is not Quantity.NUMBER]
        there[..., plain] = q[..., plain]
        return there

    def projector(self, q: Array) -> Array | None:
        if not self.held:
            return None
        S = held_matrix(self.model, q, self.held)
        return np.asarray(np.eye(self.model.nv) - np.linalg.pinv(S, rcond=SINGULAR) @ S)

    def newton(self, q: Array) -> Attempt:
        """Damped Newton steps until the ends meet or come no nearer."""
        settings = Patience(self.settings.tolerance, self.settings.largest_step, self.settings.iterations)
        return newton(replace(self._rows, moved=self.moved), q, settings, self.projector if self.held else None)

    # -- why not -------------------------------------------------------------------------------------------------------
    def failure(self, q: Array, attempt: Attempt) -> NumericalError:
        """Which loop does not close, and how near it came."""
        model, best = self.model, attempt.q[0]
        there = ", ".join(f"{x.name} = {y:.6g}" for x, y in zip(model.coordinates, best, strict=True))
        if attempt.gap[0] <= self.settings.tolerance:
            sides = np.asarray(model.function("closing_sides")(best[None], **self.keywords))[0]
            turned = [name for name, side in zip(model.mechanism.loops, np.atleast_1d(sides), strict=True) if side <= 0]
            return NumericalError(
                "a loop closes only with a joint turned by 180 degrees",
                where=", ".join(f"loops.{name}" for name in turned),
                got=f"{there}, after {attempt.starts} starts",
                remedy="give a guess on the right side, or turn one frame of the joint by half a turn",
            )
        rows = [model.constraint_rows[k] for k in self.rows]
        gaps = dict(zip(rows, self._rows.h(best[None])[0], strict=True))
        rank = self._nearly(best, float(attempt.gap[0]))
        if rank is not None and not self.held:
            return NumericalError(
                "the loops nearly close: they are overconstrained, and their dimensions do not agree exactly",
                where=f"{model.mechanism.name}: {_gaps_in_words(gaps, self.settings.tolerance)}",
                expected=f"dimensions for which {len(rows)} position equations, {rank} of them independent, all hold",
                got=f"nearest at {there}",
                remedy="give the dimensions with more digits, or as formulas of each other; or take a cut joint with "
                "more freedoms, which leaves the redundant equations out",
            )
        return NumericalError(
            "the loops and constraints do not close",
            where=f"{model.mechanism.name}: {_gaps_in_words(gaps, self.settings.tolerance)}",
            expected=f"gaps of at most {self.settings.tolerance:g}",
            got=f"nearest at {there}, after {attempt.starts} starts",
            remedy=self.remedy(q, gaps),
        )

    def _nearly(self, q: Array, gap: float) -> int | None:
        """The rank of the position rows where all but a small gap is closed and some rows are redundant."""
        A = self._rows.A(q[None])
        noise = 100.0 * gap / self._rows.L
        if not np.isfinite(A).all() or noise > SINGULAR_GAP:
            return None
        rank = rank_over(self._rows.scaled(A)[:, list(self.rows)], noise)
        return rank.rank if rank.rank < len(self.rows) and rank.is_clear else None

    def remedy(self, q: Array, gaps: Mapping[ConstraintRow, float]) -> str:
        if self.held:
            free = Loops(self.model, self.settings, [], self.keywords).closed(q)
            if free.closed.all():
                names = [self.model.coordinates[k].name for k in self.held]
                near = ", ".join(f"{n} = {free.q[0, k]:.6g}" for n, k in zip(names, self.held, strict=True))
                return f"it closes when {', '.join(names)} may move: at {near}"
        turned = {row.owner for row, gap in gaps.items() if row.is_angle and abs(gap) > 0.1}
        if (
            turned
            and max((abs(gap) for row, gap in gaps.items() if not row.is_angle), default=0.0) < 1e-6 * self._rows.L
        ):
            owners = ", ".join(sorted(turned))
            return (
                f"the axes of the two frames of {owners} do not meet in direction: turn one frame, pose: {{rpy: [...]}}"
            )
        return "give a guess nearer to a closed position, or look at the lengths and frames of what stays open"


def _gaps_in_words(gaps: Mapping[ConstraintRow, float], tolerance: float) -> str:
    """loops.pin is open by 0.21 m (x 0.2, z 0.06)."""
    owners: dict[str, list[tuple[ConstraintRow, float]]] = {}
    for row, gap in gaps.items():
        if abs(gap) > tolerance:
            owners.setdefault(row.owner, []).append((row, gap))
    words = []
    for owner, parts in owners.items():
        sizes = []
        for is_angle, name in ((False, "m"), (True, "rad")):
            size = float(np.linalg.norm([gap for row, gap in parts if row.is_angle is is_angle]))
            sizes += [f"{size:.3g} {name}" if parts[0][0].unit else f"{size:.3g}"] * (size > 0.0)
        which = ", ".join(f"{row.part} {gap:.3g}" for row, gap in parts if row.part)
        words.append(f"{owner} is open by {' and '.join(sizes)}" + f" ({which})" * bool(which))
    return "; ".join(words)


# -- speeds ------------------------------------------------------------------------------------------------------------
def _allowed(model: Model, q: Array, v: Array, kept: list[int], settings: Closing, keywords: dict[str, Any]) -> Array:
    """The allowed speeds nearest to v by kinetic energy, where some keep their values.

    Without mass, or values for it, the nearest by the size of the speeds.
    """
    wish = np.asarray(model.function("constraint_rates")(q, v, **keywords))
    if not wish.any():
        return v
    if not _has_mass(model, q, keywords):
        v_allowed = _shortest(model, q, v, kept, wish, keywords)
    elif kept:
        v_allowed = _with_kept(model, q, v, kept, keywords)
    else:
        v_allowed = np.asarray(model.function("allowed_speeds")(q, v, **keywords))
    left = np.abs(np.asarray(model.function("constraint_rates")(q, v_allowed, **keywords)))
    if q.ndim == 1 and left.max() > max(settings.tolerance, 1e-13 * np.abs(v_allowed).max(initial=0.0)) * 10.0:
        bad = [row for row, x in zip(model.constraint_rows, left, strict=True) if x > settings.tolerance]
        names = ", ".join(model.speeds[k].name for k in kept)
        raise NumericalError(
            "no speeds are allowed here: the constraints contradict each other"
            + (f", or the speeds that are held ({names})" if kept else ""),
            where=f"{model.mechanism.name}: {', '.join(row.name for row in bad)}",
            got=f"{left.max():.3g} m/s or rad/s is left",
            expected="rows that some speeds can meet",
        )
    return v_allowed


def _has_mass(model: Model, q: Array, keywords: dict[str, Any]) -> bool:
    inertia = model.function("mass_matrix")
    return inertia.has_values(keywords.get("parameters")) and bool(np.any(inertia(q, **keywords)))


def _shortest(model: Model, q: Array, v: Array, kept: list[int], rates: Array, keywords: dict[str, Any]) -> Array:
    """v + d with the shortest d that meets the rows and leaves the kept speeds alone."""
    A = np.array(model.function("constraint_jacobian")(q, **keywords))
    A[..., kept] = 0.0
    d = -np.einsum("...ij,...j->...i", np.linalg.pinv(A, rcond=SINGULAR), rates)
    return np.asarray(v + d)


def _with_kept(model: Model, q: Array, v: Array, kept: list[int], keywords: dict[str, Any]) -> Array:
    """v + d: rows and kept speeds met by d, the rest of d the least by kinetic energy."""
    A = np.asarray(model.function("constraint_jacobian")(q, **keywords))
    r = np.asarray(model.function("constraint_rates")(q, v, **keywords))
    M = np.asarray(model.function("mass_matrix")(q, **keywords))
    A, M = (np.broadcast_to(x, (*r.shape[:-1], *x.shape[-2:])) for x in (A, M))
    S = np.broadcast_to(np.eye(model.nv)[kept], (*r.shape[:-1], len(kept), model.nv))
    rows = np.concatenate([A, S], axis=-2)
    inverse = np.linalg.pinv(rows, rcond=SINGULAR)
    P = np.eye(model.nv) - inverse @ rows
    level = np.trace(M, axis1=-2, axis2=-1)[..., None, None] / model.nv
    d = np.einsum("...ij,...j->...i", inverse[..., : r.shape[-1]], -r)
    back = np.linalg.pinv(P @ M @ P + level * (np.eye(model.nv) - P), rcond=1e-14) @ P @ M
    v_kept = np.asarray(v + d - np.einsum("...ij,...j->...i", back, d))
    v_kept[..., kept] = v[..., kept]
    return v_kept
