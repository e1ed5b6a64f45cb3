"""Values between recorded instants."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from torseur.errors import ArgumentError

__all__ = ["interpolated"]

Array = NDArray[np.float64]


def interpolated(t: ArrayLike, time: Array, values: Array, rates: Array | None = None) -> Array:
    """Values at times t: straight lines between the instants, or Hermite cubics where rates are given.

    With s = (t - t0)/h in a step from (x0, x0') to (x1, x1'):
    x = x0 + s (x1 - x0) + s (1 - s) ((1 - s)(h x0' - (x1 - x0)) - s (h x1' - (x1 - x0))).

    Args:
        t: any shape, within the range of time, s.
        time: (nt,), never decreasing; of two equal instants the later one counts.
        values, rates: (nt, ...).

    >>> time = np.array([0.0, 1.0, 2.0])
    >>> interpolated([0.5, 2.0], time, time**3, 3 * time**2)
    array([0.125, 8.   ])
    """
    wanted = np.asarray(t, dtype=float)
    if not ((wanted >= time[0]) & (wanted <= time[-1])).all():
        raise ArgumentError(
            "the run does not cover this time",
            expected=f"{time[0]:g} to {time[-1]:g} s",
            got=f"{wanted.min():g} to {wanted.max():g} s",
        )
    k = np.searchsorted(time, wanted, side="right") - 1
    after = np.minimum(k + 1, len(time) - 1)
    h = time[after] - time[k]
    s = np.where(h > 0.0, (wanted - time[k]) / np.where(h > 0.0, h, 1.0), 0.0)
    h, s = (x.reshape(x.shape + (1,) * (values.ndim - 1)) for x in (np.asarray(h), np.asarray(s)))
    x0, rise = values[k], values[after] - values[k]
    # On an instant the record itself is given, also beside one that is not finite.
    on = np.broadcast_to(s == 0.0, x0.shape)
    with np.errstate(invalid="ignore"):
        found = x0 + s * rise
        if rates is not None and rates.shape == values.shape:
            found = found + s * (1.0 - s) * ((1.0 - s) * (h * rates[k] - rise) - s * (h * rates[after] - rise))
    return np.asarray(np.where(on, x0, found))
