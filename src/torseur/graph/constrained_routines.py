"""The routines behind `torseur.graph.constrained`: elimination with a given rank, and what is solved with its factors.

They are written as `torseur.graph.routine` asks, to be translated: every index is counted out.
"""

from __future__ import annotations

from collections.abc import Callable

from torseur.graph.routine import EPSILON, In, Out, Routine, Work, sqrt

__all__ = ["FACTORS", "MULTIPLIERS", "ROUNDING", "SOLUTION", "factors_size"]

_UNITS = 450.0

ROUNDING = _UNITS * EPSILON
"""A pivot below this part of the first one is rounding."""


# The factors, one after the other: r, the last pivot that was taken and the largest entry left over, both beside the
# first pivot; the orders of rows and columns; L and U in one array, F in place of U2; R of L' L; M in the order of the
# columns, scaled; the factors of D. The first three are nan where something that was given is not finite.
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
    least: In,
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
    sound = 0.0 * (wanted[0] + rank[0])
    for i in range(m):
        E[p + i] = i
    for j in range(n):
        E[q + j] = j
    for k in range(a):
        i = int(row[k])
        j = int(column[k])
        value = s[i] * c[j] * A[k]
        E[u + i * n + j] = value
        sound += 0.0 * value
        if abs(value) > T[j]:
            T[j] = abs(value)
    top = m
    if top > n:
        top = n
    if not rank[0] > 0.0:
        top = 0
    elif rank[0] < top:
        top = int(rank[0])
    # P A Q = L U; the largest entry of each column that is left waits in T
    first = 0.0
    last = 0.0
    best = 0.0
    r = 0
    going = 1
    floor = _UNITS * EPSILON
    if least[0] > floor:
        floor = least[0]
    while going > 0:
        best = 0.0
        best_column = r
        for j in range(r, n):
            if T[j] > best:
                best = T[j]
                best_column = j
        if r == 0:
            first = best
        if r >= top or not best > floor * first:
            going = 0
        else:
            last = best
            if best_column != r:
                for i in range(m):
                    keep = E[u + i * n + r]
                    E[u + i * n + r] = E[u + i * n + best_column]
                    E[u + i * n + best_column] = keep
                keep = E[q + r]
                E[q + r] = E[q + best_column]
                E[q + best_column] = keep
            best_row = r
            for i in range(r + 1, m):
                if abs(E[u + i * n + r]) > abs(E[u + best_row * n + r]):
                    best_row = i
            if best_row != r:
                for j in range(n):
                    keep = E[u + r * n + j]
                    E[u + r * n + j] = E[u + best_row * n + j]
                    E[u + best_row * n + j] = keep
                keep = E[p + r]
                E[p + r] = E[p + best_row]
                E[p + best_row] = keep
            inverse = 1.0 / E[u + r * n + r]
            for j in range(n):
                T[j] = 0.0
            for i in range(r + 1, m):
                factor = E[u + i * n + r] * inverse
                E[u + i * n + r] = factor
                for j in range(r + 1, n):
                    value = E[u + i * n + j] - factor * E[u + r * n + j]
                    E[u + i * n + j] = value
                    largest = T[j]
                    if abs(value) > largest:
                        largest = abs(value)
                    T[j] = largest
            r += 1
    # F = U1^-1 U2
    for i in range(r - 1, -1, -1):
        for k in range(i + 1, r):
            factor = E[u + i * n + k]
            for j in range(r, n):
                E[u + i * n + j] -= factor * E[u + k * n + j]
        inverse = 1.0 / E[u + i * n + i]
        for j in range(r, n):
            E[u + i * n + j] *= inverse
    # L' L = R' R, R upper triangular
    if r < m:
        for k in range(m):
            top = k
            if k < r:
                E[g + k * m + k] += 1.0
                for i in range(k):
                    E[g + i * m + k] += E[u + k * n + i]
            else:
                top = r
            for i in range(top):
                factor = E[u + k * n + i]
                for j in range(i, top):
                    E[g + i * m + j] += factor * E[u + k * n + j]
        for k in range(r):
            inverse = 1.0 / sqrt(E[g + k * m + k])
            for j in range(k, r):
                E[g + k * m + j] *= inverse
            for i in range(k + 1, r):
                factor = E[g + k * m + i]
                for j in range(i, r):
                    E[g + i * m + j] -= factor * E[g + k * m + j]
    # M in the order of the columns
    for j in range(n):
        T[int(E[q + j])] = j
    for k in range(b):
        i = int(left[k])
        j = int(right[k])
        value = c[i] * c[j] * M[k]
        sound += 0.0 * value
        i = int(T[i])
        j = int(T[j])
        E[w + i * n + j] = value
        E[w + j * n + i] = value
    # H = M_di - M_dd F, then D = M_ii - M_id F - F' H on and above its diagonal
    for i in range(r):
        for j in range(r, n):
            E[d + i * n + j] = E[w + i * n + j]
        for k in range(r):
            factor = E[w + i * n + k]
            if factor != 0.0:
                for j in range(r, n):
                    E[d + i * n + j] -= factor * E[u + k * n + j]
    for i in range(r, n):
        for j in range(i, n):
            E[d + i * n + j] = E[w + i * n + j]
        for k in range(r):
            factor = E[w + i * n + k]
            other = E[u + k * n + i]
            for j in range(i, n):
                E[d + i * n + j] -= factor * E[u + k * n + j] + other * E[d + k * n + j]
    # D = V' C V, V upper triangular with ones on its diagonal, where the inverses of C are kept
    for k in range(r, n):
        inverse = 1.0 / E[d + k * n + k]
        for i in range(k + 1, n):
            factor = E[d + k * n + i] * inverse
            for j in range(i, n):
                E[d + i * n + j] -= factor * E[d + k * n + j]
        for j in range(k + 1, n):
            E[d + k * n + j] *= inverse
        E[d + k * n + k] = inverse
    E[0] = r + sound
    E[1] = sound
    E[2] = sound
    if first > 0.0:
        E[1] += last / first
        E[2] += best / first


def constrained_solution(
    m: int, n: int, wanted: In, s: In, c: In, E: In, f: In, b: In, x: Out, y: Work, z: Work
) -> None:
    """The x of least 1/2 x' M x - f' x under A x = b, from the factors."""
    if wanted[0] < 0.5:
        return
    if not E[0] >= 0.0:
        for i in range(n):
            x[i] = E[0]
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
            total = s[k] * b[k]
            for j in range(i):
                total -= E[u + i * n + j] * y[j]
            y[i] = total
    else:
        for i in range(m):
            k = int(E[p + i])
            value = s[k] * b[k]
            for j in range(r):
                if j < i:
                    y[j] += E[u + i * n + j] * value
            if i < r:
                y[i] += value
        for i in range(r):
            value = y[i] / E[g + i * m + i]
            y[i] = value
            for j in range(i + 1, r):
                y[j] -= E[g + i * m + j] * value
        for i in range(r - 1, -1, -1):
            total = y[i]
            for j in range(i + 1, r):
                total -= E[g + i * m + j] * y[j]
            y[i] = total / E[g + i * m + i]
    # U1^-1 y
    for i in range(r - 1, -1, -1):
        total = y[i]
        for j in range(i + 1, r):
            total -= E[u + i * n + j] * y[j]
        y[i] = total / E[u + i * n + i]
    # f - M x_b, then N' of it
    for i in range(n):
        k = int(E[q + i])
        z[i] = c[k] * f[k]
    for k in range(r):
        value = y[k]
        for j in range(n):
            z[j] -= E[w + k * n + j] * value
    for k in range(r):
        value = z[k]
        for j in range(r, n):
            z[j] -= E[u + k * n + j] * value
    # D x_i = that
    for i in range(r, n):
        value = z[i]
        for j in range(i + 1, n):
            z[j] -= E[d + i * n + j] * value
        z[i] = value * E[d + i * n + i]
    for i in range(n - 1, r - 1, -1):
        total = z[i]
        for j in range(i + 1, n):
            total -= E[d + i * n + j] * z[j]
        z[i] = total
    for i in range(r):
        total = y[i]
        for j in range(r, n):
            total -= E[u + i * n + j] * z[j]
        z[i] = total
    for i in range(n):
        k = int(E[q + i])
        x[k] = c[k] * z[i]


def constrained_multipliers(m: int, n: int, wanted: In, s: In, c: In, E: In, f: In, x: Out, y: Work) -> None:
    """The shortest lambda with A' lambda = f, for an f that the allowed motions feel nothing of."""
    if wanted[0] < 0.5:
        return
    if not E[0] >= 0.0:
        for i in range(m):
            x[i] = E[0]
        return
    p = 3
    q = p + m
    u = q + n
    g = u + m * n
    r = int(E[0])
    # U1^-T f
    for i in range(r):
        k = int(E[q + i])
        y[i] = c[k] * f[k]
    for i in range(r):
        value = y[i] / E[u + i * n + i]
        y[i] = value
        for j in range(i + 1, r):
            y[j] -= E[u + i * n + j] * value
    # L^+' of it
    if r == m:
        for i in range(m - 1, -1, -1):
            value = y[i]
            for j in range(i):
                y[j] -= E[u + i * n + j] * value
    else:
        for i in range(r):
            value = y[i] / E[g + i * m + i]
            y[i] = value
            for j in range(i + 1, r):
                y[j] -= E[g + i * m + j] * value
        for i in range(r - 1, -1, -1):
            total = y[i]
            for j in range(i + 1, r):
                total -= E[g + i * m + j] * y[j]
            y[i] = total / E[g + i * m + i]
        for i in range(m - 1, -1, -1):
            total = 0.0
            if i < r:
                total = y[i]
            for j in range(r):
                if j < i:
                    total += E[u + i * n + j] * y[j]
            y[i] = total
    for i in range(m):
        k = int(E[p + i])
        x[k] = s[k] * y[i]


# -- operations at a rank; scales and tests apart --------------------------------------------------------------------
def _factors_at(m: int, n: int, r: int) -> tuple[int, int, int, int]:
    k = n - r
    eliminated = sum((m - 1 - i) * (n - 1 - i) for i in range(r)) + k * r * (r - 1) // 2
    reduced = r * r * k + r * k * (k + 1) + (k - 1) * k * (k + 1) // 6
    products = eliminated + reduced + sum(m - 1 - i for i in range(r)) + k * r + k * (k - 1)
    sums, divisions = eliminated + reduced, 2 * r + k
    if r == m:
        return products, sums, divisions, 0
    again = (r - 1) * r * (r + 1) // 3 + (m - r + 1) * r * (r + 1) // 2
    return products + again, sums + again, divisions + r, r


def _solution_at(m: int, n: int, r: int) -> tuple[int, int, int, int]:
    k = n - r
    products, sums, divisions, _ = _multipliers_at(m, n, r)
    steps = n * r + 2 * r * k + k * (k - 1)
    return products - r + steps + 2 * n + k, sums + steps + r * (r < m), divisions, 0


def _multipliers_at(m: int, n: int, r: int) -> tuple[int, int, int, int]:
    rows = m * (m - 1) // 2 if r == m else m * r - r * (r + 1) // 2 + r * (r - 1)
    steps = rows + r * (r - 1) // 2
    return r + steps + m, steps, r if r == m else 3 * r, 0


def _most(at: Callable[[int, int, int], tuple[int, int, int, int]], m: int, n: int) -> dict[str, int]:
    """The most over all ranks, of each kind by itself."""
    kinds = zip(*(at(m, n, r) for r in range(min(m, n) + 1)), strict=True)
    return dict(zip(("products", "sums", "divisions", "roots"), map(max, kinds), strict=True))


def _factors_cost(m: int, n: int, a: int, b: int) -> dict[str, int]:
    most = _most(_factors_at, m, n)
    more = {"products": 3 * (a + b) + min(m, n) + 2, "sums": a + b + 4, "divisions": 2, "roots": 0}
    return {kind: most[kind] + more[kind] for kind in most}


def _solution_cost(m: int, n: int) -> dict[str, int]:
    return _most(_solution_at, m, n)


def _multipliers_cost(m: int, n: int) -> dict[str, int]:
    return _most(_multipliers_at, m, n)


FACTORS = Routine(constrained_factors, (factors_size,), (lambda m, n, a, b: n,), _factors_cost, internal=True)
SOLUTION = Routine(constrained_solution, (lambda m, n: n,), (lambda m, n: m, lambda m, n: n), _solution_cost)
MULTIPLIERS = Routine(constrained_multipliers, (lambda m, n: m,), (lambda m, n: m,), _multipliers_cost)
