"""Random matrices of any rank, and functions of them evaluated in both ways."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from support.lowered import evaluate_lowered
from support.rounding import assert_agrees
from torseur.graph import Function, evaluate

__all__ = ["both_ways", "matrix", "sixth_order"]

Array = NDArray[np.float64]


def both_ways(f: Function, *args: ArrayLike) -> tuple[list[Array], list[Array]]:
    """By the reference, and by what the calls are lowered to; they agree to rounding."""
    by_reference = evaluate(f, *args)
    by_lowering = evaluate_lowered(f, *args)
    assert_agrees(f, args, by_lowering)
    return by_reference, by_lowering


def matrix(rng: np.random.Generator, m: int, n: int, rank: int | None = None) -> Array:
    """A random matrix with singular values between 1 and 3, or fewer of them."""
    U, V = np.linalg.qr(rng.normal(size=(m, m)))[0], np.linalg.qr(rng.normal(size=(n, n)))[0]
    S = np.zeros((m, n))
    for k in range(min(m, n) if rank is None else rank):
        S[k, k] = rng.uniform(1, 3)
    return U @ S @ V


def sixth_order(law: Any, point: Array, h: float = 1e-3) -> Array:
    """Derivatives of a flat law by each entry of a point, as columns."""
    columns = []
    for d in h * np.eye(len(point)):
        pairs = [law(point + k * d) - law(point - k * d) for k in (1, 2, 3)]
        columns.append((45 * pairs[0] - 9 * pairs[1] + pairs[2]) / (60 * h))
    return np.array(columns).T
