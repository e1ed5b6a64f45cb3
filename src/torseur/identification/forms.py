"""The forms in which equations enter an estimate: efforts, power, or energy over windows of time.

Power is the sum over the speeds of v times each equation, one equation an instant (Gautier 1997). Energy is its
integral over windows, by the trapezoidal rule: noise of accelerations averages out, but the rows are few.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from torseur.identification.estimation import Block
from torseur.identification.motion import Motion
from torseur.identification.signals import Filtering, decimated, factor_of
from torseur.identification.unknowns import Unknowns

__all__ = ["Form", "blocks_of"]

Array = NDArray[np.float64]


class Form(Enum):
    """Of the equations."""

    EFFORTS = "efforts"
    POWER = "power"
    ENERGY = "energy"


def blocks_of(
    unknowns: Unknowns, motions: Sequence[Motion], x: Array, filtering: Filtering, form: Form = Form.EFFORTS
) -> list[Block]:
    """The equations of motions as blocks, filtered, decimated, and with their ends left out."""
    return [_block(unknowns, motion, x, filtering, form) for motion in motions]


def _block(unknowns: Unknowns, motion: Motion, x: Array, filtering: Filtering, form: Form) -> Block:
    W, y = unknowns.equations(motion, x)
    lost = motion.lost
    if lost.shape != y.shape:
        lost = np.tile(np.asarray(lost.any(axis=1))[:, None], y.shape[1])
    band = filtering.band or 2.0 * motion.band
    if form is not Form.EFFORTS:
        rows = _speeds(unknowns, motion, y.shape[1])
        W, y = np.einsum("tj,tjk->tk", rows, W)[:, None], np.einsum("tj,tj->t", rows, y)[:, None]
        lost = np.asarray(lost.any(axis=1))[:, None]
    if form is Form.ENERGY:
        return _energies(motion, W, y, lost, band)
    inner = slice(motion.trim, len(y) - motion.trim)
    W, y, lost, time = W[inner], y[inner], lost[inner], motion.time[inner]  # before the filter mixes ends with the rest
    if not filtering.decimate:
        return Block(W, y, ~lost, time)
    trim = min(len(y) // 8, int(1.0 / (band * motion.step)))
    wide = _widened(lost, int(0.75 / (band * motion.step)))
    W, y = (decimated(a, motion.step, band, trim) for a in (W, y))
    places = np.arange(trim, len(time) - trim, factor_of(motion.step, band))
    return Block(W, y, ~wide[places], time[places])


def _speeds(unknowns: Unknowns, motion: Motion, rows: int) -> Array:
    """Of the equations: v, or the independent speeds where they are projected."""
    if rows == motion.v.shape[1]:
        return motion.v
    N = unknowns.allowed(motion)
    return np.stack([np.linalg.lstsq(n, v, rcond=None)[0] for n, v in zip(N, motion.v, strict=True)])


def _energies(motion: Motion, W: Array, y: Array, lost: NDArray[np.bool_], band: float) -> Block:
    """Integrals over windows of half a period of the fastest motion."""
    width = max(2, int(0.5 / (band * motion.step)))
    begin, end = motion.trim, len(y) - motion.trim
    edges = np.arange(begin, end - 1, width)

    def integral(a: Array) -> Array:
        middle = 0.5 * motion.step * (a[1:] + a[:-1])
        total = np.concatenate([np.zeros((1, *a.shape[1:])), np.cumsum(middle, axis=0)])
        return np.asarray(np.diff(total[edges], axis=0))

    used = np.array([[not lost[a : b + 1].any()] for a, b in pairwise(edges)])
    return Block(integral(W), integral(y), used.reshape(-1, 1), motion.time[edges[:-1]])


def _widened(lost: NDArray[np.bool_], reach: int) -> NDArray[np.bool_]:
    """With the samples that a filter mixes with them."""
    if not lost.any():
        return lost
    from scipy.ndimage import binary_dilation

    return np.asarray(binary_dilation(lost, np.ones((2 * reach + 1, 1), dtype=bool)))
