"""Filters without phase shift, derivatives, decimation, on stretches of regular samples.

Positions are filtered by a Butterworth filter run forwards and backwards, so that nothing is delayed, and derived by
central differences of sixth order, whose error at the cut-off of the filter is far below its own. What stands on both
sides of the equations, efforts and regressor, passes one more low-pass filter together and is decimated (the parallel
decimate filter of Gautier): what it does to both sides alike changes nothing in the equations, but their noise falls,
and what is left of it is nearly white. Where the motion repeats itself, the derivatives are those of the Fourier series
(Swevers 1997), exact for all harmonics that are kept.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from torseur.errors import ArgumentError

__all__ = ["Filtering", "Stretch", "decimated", "fourier_motion", "motion_band", "smooth", "smooth_motion", "stretches"]

Array = NDArray[np.float64]

ORDER = 4
_SIXTH = np.array([-1.0, 9.0, -45.0, 0.0, 45.0, -9.0, 1.0]) / 60.0


@dataclass(frozen=True)
class Filtering:
    """How measurements are treated.

    Attributes:
        cutoff: of the filter of positions, Hz; by default five times the highest frequency of the motion.
        band: of the filter of both sides of the equations, Hz; by default twice the highest frequency of the motion.
        decimate: whether both sides pass that filter and are decimated.
        period: of a motion that repeats itself, s: derivatives are those of its Fourier series.
        harmonics: of the series; by default all below the cut-off.
        measured_rates: whether speeds and accelerations that were measured are taken in place of derivatives.
    """

    cutoff: float | None = None
    band: float | None = None
    decimate: bool = True
    period: float | None = None
    harmonics: int | None = None
    measured_rates: bool = True


@dataclass(frozen=True)
class Stretch:
    """Samples without a gap: their places in the record."""

    begin: int
    end: int

    def __len__(self) -> int:
        return self.end - self.begin


def stretches(time: Array, holes: NDArray[np.bool_], longest: float = 1.5) -> tuple[list[Stretch], float]:
    """The stretches of regular samples, and the step: a step that is longer, or an instant in `holes`, ends one."""
    step = float(np.median(np.diff(time)))
    wide = np.diff(time) > longest * step
    pieces, begin = list[Stretch](), 0
    for k in range(len(time)):
        if holes[k]:
            if k > begin:
                pieces.append(Stretch(begin, k))
            begin = k + 1
        elif k + 1 == len(time) or wide[k]:
            if k + 1 > begin:
                pieces.append(Stretch(begin, k + 1))
            begin = k + 1
    return pieces, step


def motion_band(q: Array, step: float) -> float:
    """The highest frequency of a motion (nt, n), Hz: below it lies all but a thousandth of the power of its speeds.

    The level of noise, white in the positions, is taken off: it is the median of the upper half of their spectrum.
    """
    from scipy.signal import detrend, welch

    nt = len(q)
    n = min(nt, max(256, 2 ** int(np.log2(max(nt // 4, 2)))))
    highest = 2.0 / (nt * step)
    for column in q.T:
        if np.ptp(column) < 1e-12 * max(1.0, float(np.abs(column).max())):
            continue
        level = detrend(column)
        f, power = welch(level, 1.0 / step, nperseg=n, window="blackmanharris")
        floor = np.median(power[len(power) // 2 :]) / np.log(2.0)
        power = np.where(power > 4.0 * floor, power - floor, 0.0)
        speed = np.cumsum(power * f**2)
        if speed[-1] > 0.0:
            highest = max(highest, float(f[np.searchsorted(speed, 0.999 * speed[-1])]))
    return highest


def smooth(x: Array, step: float, cutoff: float) -> Array:
    """Filtered without phase shift along the first axis."""
    from scipy.signal import butter, sosfiltfilt

    if cutoff >= 0.45 / step:
        return x
    sos = butter(ORDER, 2.0 * step * cutoff, output="sos")
    pad = min(len(x) - 1, int(2.0 / (cutoff * step)))
    return np.asarray(sosfiltfilt(sos, x, axis=0, padlen=pad))


def derivative(x: Array, step: float) -> Array:
    """Central differences of sixth order along the first axis; of second order in the three samples at either end."""
    slope = np.gradient(x, step, axis=0)
    if len(x) > 6:
        inner = sum(c * x[k : len(x) - 6 + k] for k, c in enumerate(_SIXTH))
        slope[3:-3] = np.asarray(inner) / step
    return np.asarray(slope)


def smooth_motion(q: Array, step: float, cutoff: float) -> tuple[Array, Array, Array]:
    """Positions, speeds and accelerations of filtered positions (nt, n)."""
    q = smooth(q, step, cutoff)
    v = derivative(q, step)
    return q, v, derivative(v, step)


def fourier_motion(time: Array, q: Array, period: float, harmonics: int) -> tuple[Array, Array, Array]:
    """Positions, speeds and accelerations of the Fourier series nearest to q (nt, n) in the sense of least squares."""
    if 2 * harmonics + 1 > len(time):
        raise ArgumentError("too few instants for so many harmonics", expected=f"more than {2 * harmonics + 1}")
    w = 2.0 * np.pi / period * np.arange(1, harmonics + 1)
    s, c = np.sin(np.outer(time, w)), np.cos(np.outer(time, w))
    one = np.ones((len(time), 1))
    A = np.linalg.lstsq(np.hstack([one, s, c]), q, rcond=None)[0]
    a, b = A[1 : 1 + harmonics], A[1 + harmonics :]
    v = c @ (w[:, None] * a) - s @ (w[:, None] * b)
    vdot = -s @ (w[:, None] ** 2 * a) - c @ (w[:, None] ** 2 * b)
    return np.hstack([one, s, c]) @ A, v, vdot


def factor_of(step: float, band: float) -> int:
    """Of decimation: the samples that are left lie 0.8 of the Nyquist interval of the band apart."""
    return max(1, int(0.8 * 0.5 / (band * step)))


def decimated(x: Array, step: float, band: float, trim: int) -> Array:
    """Both sides of the equations (nt, ...), filtered together and decimated; ends are left out."""
    flat = x.reshape(len(x), -1)
    smoothed = smooth(flat, step, band)
    k = factor_of(step, band)
    kept = smoothed[trim : len(smoothed) - trim : k]
    return np.asarray(kept.reshape(len(kept), *x.shape[1:]))
