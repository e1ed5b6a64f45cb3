"""The routines behind `torseur.graph.constrained`: elimination with a given rank, and what is solved with its factors.

They are written as `torseur.graph.routine` asks, to be translated: every index is counted out.
"""

from __future__ import annotations

from torseur.graph.routine import EPSILON, In, Out, Routine, Work, sqrt

__all__ = ["FACTORS", "MULTIPLIERS", "ROUNDING", "SOLUTION", "factors_size"]

_UNITS = 450.0

ROUNDING = _UNITS * EPSILON
"""A pivot below this part of the first one is rounding."""


# The factors, one after the other: r, the last pivot that was taken and the largest entry left over, both beside the
# first pivot; the orders of rows and columns; L and U in one array, F in place of U2; the factors of L' L; M in the
# order of the columns, scaled; the factors of D.
def factors_size(m: int, n: int, *_: int) -> int:
    return 3 + m + n + m * n + m * m + 2 * n * n


def constrained_factors(
    m: int,
    n: int,
    a: int,
    b: int,
    row: In,
    column: In,
    left: In,
    right: In,
    wanted: In,
    rank: In,
    s: In,
    c: In,
    A: In,
    M: In,
    E: Out,
    T: Work,
) -> None:
    """A (a entries, at `row` and `column`) and M (b entries, at `left` and `right` and mirrored) -> the factors."""
    if wanted[0] < 0.5:
        return
    p = 3
    q = p + m
    u = q + n
    g = u + m * n
    w = g + m * m
    d = w + n * n
    for i in range(m):
        E[p + i] = i
    for j in range(n):
        E[q + j] = j
    for k in range(a):
        i = int(row[k])
        j = int(column[k])
        E[u + i * n + j] = s[i] * c[j] * A[k]
    first = 0.0
    last = 0.0
    r = 0
    top = int(rank[0])
    if top > m:
        top = m
    if top > n:
        top = n
    best = 0.0
    going = 1
    while going > 0:
        # the largest entry that is left
        best = 0.0
        best_row = r
        best_column = r
        for i in range(r, m):
            for j in range(r, n):
                size = abs(E[u + i * n + j])
                if size > best:
                    best = size
                    best_row = i
                    best_column = j
        if r == 0:
            first = best
        if r >= top or not best > _UNITS * EPSILON * first:
            going = 0
        else:
            last = best
            if best_row != r:
                for j in range(n):
                    keep = E[u + r * n + j]
                    E[u + r * n + j] = E[u + best_row * n + j]
                    E[u + best_row * n + j] = keep
                keep = E[p + r]
                E[p + r] = E[p + best_row]
                E[p + best_row] = keep
            if best_column != r:
                for i in range(m):
                    keep = E[u + i * n + r]
                    E[u + i * n + r] = E[u + i * n + best_column]
                    E[u + i * n + best_column] = keep
                keep = E[q + r]
                E[q + r] = E[q + best_column]
                E[q + best_column] = keep
            inverse = 1.0 / E[u + r * n + r]
            for i in range(r + 1, m):
                factor = E[u + i * n + r] * inverse
                E[u + i * n + r] = factor
                if factor != 0.0:
                    for j in range(r + 1, n):
                        E[u + i * n + j] = E[u + i * n + j] - factor * E[u + r * n + j]
            r = r + 1
    E[0] = r
    if first > 0.0:
        E[1] = last / first
        E[2] = best / first
    # F = U1^-1 U2
    for i in range(r - 1, -1, -1):
        for k in range(i + 1, r):
            factor = E[u + i * n + k]
            if factor != 0.0:
                for j in range(r, n):
                    E[u + i * n + j] = E[u + i * n + j] - factor * E[u + k * n + j]
        inverse = 1.0 / E[u + i * n + i]
        for j in range(r, n):
            E[u + i * n + j] = E[u + i * n + j] * inverse
    # L' L = G G', G lower triangular
    if r < m:
        for i in range(r):
            for j in range(i + 1):
                total = E[u + i * n + j]
                if i == j:
                    total = 1.0
                for k in range(i + 1, m):
                    total = total + E[u + k * n + i] * E[u + k * n + j]
                for k in range(j):
                    total = total - E[g + i * m + k] * E[g + j * m + k]
                if i == j:
                    E[g + i * m + i] = sqrt(total)
                else:
                    E[g + i * m + j] = total / E[g + j * m + j]
    # M in the order of the columns
    for j in range(n):
        T[int(E[q + j])] = j
    for k in range(b):
        i = int(left[k])
        j = int(right[k])
        value = c[i] * c[j] * M[k]
        i = int(T[i])
        j = int(T[j])
        E[w + i * n + j] = value
        E[w + j * n + i] = value
    # D = M_ii - M_id F - F' (M_di - M_dd F), in the places of the independent columns
    for i in range(r):
        for j in range(r, n):
            E[d + i * n + j] = E[w + i * n + j]
        for k in range(r):
            factor = E[w + i * n + k]
            if factor != 0.0:
                for j in range(r, n):
                    E[d + i * n + j] = E[d + i * n + j] - factor * E[u + k * n + j]
    for i in range(r, n):
        for j in range(r, n):
            E[d + i * n + j] = E[w + i * n + j]
        for k in range(r):
            factor = E[w + i * n + k]
            if factor != 0.0:
                for j in range(r, n):
                    E[d + i * n + j] = E[d + i * n + j] - factor * E[u + k * n + j]
            factor = E[u + k * n + i]
            if factor != 0.0:
                for j in range(r, n):
                    E[d + i * n + j] = E[d + i * n + j] - factor * E[d + k * n + j]
    # D = L D L', the unit factor below the diagonal, the inverses of the diagonal on it
    for k in range(r, n):
        inverse = 1.0 / E[d + k * n + k]
        for i in range(k + 1, n):
            factor = E[d + i * n + k] * inverse
            if factor != 0.0:
                for j in range(k + 1, i + 1):
                    E[d + i * n + j] = E[d + i * n + j] - factor * E[d + j * n + k]
        for i in range(k + 1, n):
            E[d + i * n + k] = E[d + i * n + k] * inverse
        E[d + k * n + k] = inverse


def constrained_solution(
    m: int, n: int, wanted: In, s: In, c: In, E: In, f: In, b: In, x: Out, y: Work, z: Work
) -> None:
    """The x of least 1/2 x' M x - f' x under A x = b, from the factors."""
    if wanted[0] < 0.5:
        return
    p = 3
    q = p + m
    u = q + n
    g = u + m * n
    w = g + m * m
    d = w + n * n
    r = int(E[0])
    # y = L^+ b
    if r == m:
        for i in range(m):
            k = int(E[p + i])
            y[i] = s[k] * b[k]
            for j in range(i):
                y[i] = y[i] - E[u + i * n + j] * y[j]
    else:
        for i in range(r):
            k = int(E[p + i])
            y[i] = s[k] * b[k]
            for j in range(i + 1, m):
                k = int(E[p + j])
                y[i] = y[i] + E[u + j * n + i] * s[k] * b[k]
        for i in range(r):
            for j in range(i):
                y[i] = y[i] - E[g + i * m + j] * y[j]
            y[i] = y[i] / E[g + i * m + i]
        for i in range(r - 1, -1, -1):
            for j in range(i + 1, r):
                y[i] = y[i] - E[g + j * m + i] * y[j]
            y[i] = y[i] / E[g + i * m + i]
    # U1^-1 y
    for i in range(r - 1, -1, -1):
        for j in range(i + 1, r):
            y[i] = y[i] - E[u + i * n + j] * y[j]
        y[i] = y[i] / E[u + i * n + i]
    # f - M x_b, then N' of it
    for i in range(n):
        k = int(E[q + i])
        z[i] = c[k] * f[k]
        for j in range(r):
            z[i] = z[i] - E[w + i * n + j] * y[j]
    for k in range(r):
        for j in range(r, n):
            z[j] = z[j] - E[u + k * n + j] * z[k]
    # D x_i = that
    for i in range(r, n):
        for j in range(r, i):
            z[i] = z[i] - E[d + i * n + j] * z[j]
    for i in range(r, n):
        z[i] = z[i] * E[d + i * n + i]
    for i in range(n - 1, r - 1, -1):
        for j in range(i + 1, n):
            z[i] = z[i] - E[d + j * n + i] * z[j]
    for i in range(r):
        z[i] = y[i]
        for j in range(r, n):
            z[i] = z[i] - E[u + i * n + j] * z[j]
    for i in range(n):
        k = int(E[q + i])
        x[k] = c[k] * z[i]


def constrained_multipliers(m: int, n: int, wanted: In, s: In, c: In, E: In, f: In, x: Out, y: Work) -> None:
    """The shortest lambda with A' lambda = f, for an f that the allowed motions feel nothing of."""
    if wanted[0] < 0.5:
        return
    p = 3
    q = p + m
    u = q + n
    g = u + m * n
    r = int(E[0])
    for i in range(r):
        k = int(E[q + i])
        y[i] = c[k] * f[k]
        for j in range(i):
            y[i] = y[i] - E[u + j * n + i] * y[j]
        y[i] = y[i] / E[u + i * n + i]
    if r == m:
        for i in range(m - 1, -1, -1):
            for j in range(i + 1, m):
                y[i] = y[i] - E[u + j * n + i] * y[j]
    else:
        for i in range(r):
            for j in range(i):
                y[i] = y[i] - E[g + i * m + j] * y[j]
            y[i] = y[i] / E[g + i * m + i]
        for i in range(r - 1, -1, -1):
            for j in range(i + 1, r):
                y[i] = y[i] - E[g + j * m + i] * y[j]
            y[i] = y[i] / E[g + i * m + i]
        for i in range(m - 1, -1, -1):
            total = 0.0
            if i < r:
                total = y[i]
            for j in range(r):
                if j < i:
                    total = total + E[u + i * n + j] * y[j]
            y[i] = total
    for i in range(m):
        k = int(E[p + i])
        x[k] = s[k] * y[i]


def _cost(m: int, n: int, *_: int) -> dict[str, int]:
    r, k = min(m, n), max(n - m, 0)
    steps = sum((m - i) * (n - i) for i in range(r)) + r * r * k + n * r * k + r * k * k + k**3 // 6
    return {"products": steps, "sums": steps, "divisions": 2 * r + k}


def _solution_cost(m: int, n: int, *_: int) -> dict[str, int]:
    r, k = min(m, n), max(n - m, 0)
    steps = r * r + n * r + 2 * r * k + k * k
    return {"products": steps, "sums": steps, "divisions": r}


FACTORS = Routine(constrained_factors, (factors_size,), (lambda m, n, a, b: n,), _cost, internal=True)
SOLUTION = Routine(constrained_solution, (lambda m, n: n,), (lambda m, n: m, lambda m, n: n), _solution_cost)
MULTIPLIERS = Routine(constrained_multipliers, (lambda m, n: m,), (lambda m, n: m,), _solution_cost)
