"""Minimisations under constraints: as a function of all that goes in, and once more in plain NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from support.random_matrices import matrix
from torseur.graph import ConstrainedSystem, Function, Graph, Role
from torseur.graph.linear import dot

__all__ = ["constrained", "plainly", "random_case"]

Array = NDArray[np.float64]


def constrained(m: int, n: int, *, pattern: Array | None = None, scaled: bool = True) -> Function:
    """x, its multipliers and what is said about the rank, from M, A, rank, scales, f and b; and whether it is wanted.

    Args:
        m, n: rows and columns.
        pattern: (m, n), zero where A is zero by structure.
        scaled: rows and columns are brought to one unit by factors that are inputs too.
    """
    g = Graph()
    M, A, f, b = g.block("M", (n, n)), g.block("A", (m, n)), g.block("f", n), g.block("b", m)
    rank, wanted = g.symbol("rank", Role.PARAMETER), g.symbol("wanted")
    inputs = [M, A, g.blocks["rank"], f, b, g.blocks["wanted"]]
    entries = [[A[i * n + j] if pattern is None or pattern[i, j] else g.zero for j in range(n)] for i in range(m)]
    square = [[M[max(i, j) * n + min(i, j)] for j in range(n)] for i in range(n)]
    if scaled:
        inputs += [g.block("rows", m), g.block("columns", n)]
        rows, columns = list(inputs[-2]), list(inputs[-1])
        system = ConstrainedSystem(square, entries, rank, rows, columns, wanted)
    else:
        system = ConstrainedSystem(square, entries, rank, wanted=wanted)
    x = system.solve(list(f), list(b))
    pull = [dot(row, x, g.zero) - fi for row, fi in zip(square, f, strict=True)]
    about = [system.effective_rank, system.last_pivot, system.left_over]
    return Function("least", inputs, {"x": x, "multipliers": system.multipliers(pull), "about": about})


def plainly(
    M: Array, A: Array, rank: int, f: Array, b: Array, rows: Array | None = None, columns: Array | None = None
) -> tuple[Array, Array]:
    """x and the shortest multipliers of one state: the equations of Karush, Kuhn and Tucker as one system.

    A is cut down to its largest singular values, b to what these rows can reach.
    """
    m, n = A.shape
    s = np.ones(m) if rows is None else np.asarray(rows)
    c = np.ones(n) if columns is None else np.asarray(columns)
    U, sigma, V = np.linalg.svd(s[:, None] * A * c)
    U = U[:, :rank]
    cut = (U * sigma[:rank]) @ V[:rank]
    K = np.block([[c[:, None] * M * c, -cut.T], [cut, np.zeros((m, m))]])
    z = np.linalg.lstsq(K, np.concatenate([c * f, U @ (U.T @ (s * b))]), rcond=1e-13)[0]
    return c * z[:n], s * z[n:]


def random_case(rng: np.random.Generator, m: int, n: int, rank: int) -> dict[str, Any]:
    """The arguments of `constrained(m, n)`, M positive definite, b within the reach of the rows."""
    G = rng.normal(size=(n, n))
    A = matrix(rng, m, n, rank)
    return {
        "M": G @ G.T + n * np.eye(n),
        "A": A,
        "rank": float(rank),
        "f": rng.normal(size=n),
        "b": A @ rng.normal(size=n),
        "wanted": 1.0,
        "rows": np.exp(rng.normal(size=m)),
        "columns": np.exp(rng.normal(size=n)),
    }
