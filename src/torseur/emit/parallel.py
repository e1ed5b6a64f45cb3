"""A batch shared by threads: slices of its longest dimension, each on a thread of its own."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from torseur.errors import ArgumentError

__all__ = ["checked_threads", "cuts", "in_threads"]

Array = NDArray[np.float64]
Shape = tuple[int, ...]


def checked_threads(threads: Any) -> int:
    try:
        number = operator.index(threads)
    except TypeError:
        number = 0
    if number < 1:
        raise ArgumentError("wrong number of threads", expected="an integer, at least 1", got=repr(threads))
    return number


def cuts(count: int, threads: int) -> list[tuple[int, int]]:
    """Where a number of rows is cut to be shared out: (start, stop) for each thread."""
    edges = [count * k // threads for k in range(threads + 1)]
    return [(a, b) for a, b in pairwise(edges) if a < b]


def in_threads(
    call: Callable[..., Any],
    ins: Sequence[Shape],
    outs: Sequence[Shape],
    args: Sequence[Array],
    out: Any,
    threads: int,
) -> Any:
    """The results of a ufunc with these core shapes; whatever is wrong with the arguments is left to it to find."""
    leads = [a.shape[: a.ndim - len(shape)] for a, shape in zip(args, ins, strict=True)]
    batch = np.broadcast_shapes(*leads)
    results = _targets(out, [(*batch, *shape) for shape in outs])
    if results is None or not batch:
        return call(*args) if out is None else call(*args, out=out)
    axis = batch.index(max(batch))
    # The ufunc looks for overlaps, but only within one slice.
    given = [a.copy() if any(np.may_share_memory(a, r) for r in results) else a for a in args]

    def part(array: Array, lead: Shape, rows: slice) -> Array:
        place = axis - (len(batch) - len(lead))
        return array if place < 0 or lead[place] == 1 else array[(slice(None),) * place + (rows,)]

    def run(edges: tuple[int, int]) -> None:
        rows = slice(*edges)
        parts = [part(a, lead, rows) for a, lead in zip(given, leads, strict=True)]
        call(*parts, out=tuple(part(r, batch, rows) for r in results))

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(run, cuts(batch[axis], threads)))
    return results[0] if len(outs) == 1 else results


def _targets(out: Any, shapes: Sequence[Shape]) -> tuple[Array, ...] | None:
    """Where to write: what was given, and new arrays for what was not; None if something given does not fit."""
    given = out if isinstance(out, tuple) else (out,) * (len(shapes) if out is None else 1)
    if len(given) != len(shapes):
        return None
    made = tuple(np.empty(s) if o is None else o for o, s in zip(given, shapes, strict=True))
    fits = all(isinstance(o, np.ndarray) and o.shape == s for o, s in zip(made, shapes, strict=True))
    return made if fits else None
