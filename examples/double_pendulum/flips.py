"""How long until one arm of the pendulum turns over, for a whole grid of starting angles."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from pendulum import PARAMETERS

from torseur.emit import Integrator

STEP, EVERY, ROWS = 0.01, 5, 4  # s; steps between two looks; looks per slice

Array = NDArray[np.float64]


def flip_times(
    run: Integrator, size: int, until: float, threads: int, progress: Callable[[float], object]
) -> tuple[Array, int]:
    """First time (s) at which |q1| or |q2| exceeds pi, from rest, and how many steps that took.

    The grid has `size` angles in ]-pi, pi[ for each arm, q2 by rows. Where nothing turns over before `until`, nan. The
    run goes in short slices; what has turned over is dropped, so that little is kept in memory and little is wasted.
    """
    angles = (np.arange(size) + 0.5) / size * 2 * np.pi - np.pi
    q1, q2 = np.meshgrid(angles, angles[size // 2 :])  # the other half is its mirror image
    start = np.stack([q1.ravel(), q2.ravel()], axis=-1)
    first = np.full(len(start), np.nan)
    left = np.flatnonzero(spare_energy(start) > 0)
    q, v, done, steps = start[left], np.zeros((len(left), 2)), 0.0, 0
    while done < until - STEP / 2 and left.size:
        motion = run(q, v, **PARAMETERS, step=STEP, steps=ROWS * EVERY, every=EVERY, time=done, threads=threads)
        steps += ROWS * EVERY * left.size
        (q, v), done = motion.states, float(motion.time[-1])
        angle = np.maximum(np.abs(q[..., 0]), np.abs(q[..., 1]))
        over = angle > np.pi
        flipped = over.any(axis=1)
        row = over.argmax(axis=1)[flipped]
        before, after = angle[flipped, row - 1], angle[flipped, row]
        first[left[flipped]] = motion.time[row - 1] + (np.pi - before) / (after - before) * STEP * EVERY
        q, v, left = q[~flipped, -1], v[~flipped, -1], left[~flipped]
        progress(min(done, until))
    progress(until)
    half = first.reshape(size - size // 2, size)
    return np.vstack([half[::-1, ::-1][: size // 2], half]), steps


def spare_energy(start: Array) -> Array:
    """Energy at rest (J) beyond what the cheaper flip needs: the outer arm up, the inner one down."""
    (m1, m2), (l1, l2), g = PARAMETERS["m"], PARAMETERS["l"], PARAMETERS["g"]
    height = -(m1 + m2) * l1 * np.cos(start[..., 0]) - m2 * l2 * np.cos(start[..., 1])
    spare: Array = g * (height - (m2 * l2 - (m1 + m2) * l1))
    return spare
