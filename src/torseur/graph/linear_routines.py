"""The routines behind `torseur.graph.linear` and `torseur.graph.rank` for systems that are not small.

They are written as `torseur.graph.routine` asks, to be translated: every index is counted out.
"""

from __future__ import annotations

from torseur.graph.routine import In, Out, Routine, Work, sqrt

__all__ = ["LU", "LU_SOLUTION", "LU_TRANSPOSED", "PRODUCTS", "SHORTEST", "TREE_FACTORS", "TREE_SOLUTIONS", "lu_size"]


def lu_size(n: int) -> int:
    """L and U in one array, the inverses of the pivots on the diagonal; the order of the rows; its sign."""
    return n * n + n + 1


def lu_factors(n: int, A: In, E: Out) -> None:
    """P A = L U by partial pivoting."""
    for k in range(n * n):
        E[k] = A[k]
    for i in range(n):
        E[n * n + i] = i
    E[n * n + n] = 1.0
    for k in range(n):
        best = abs(E[k * n + k])
        row = k
        for i in range(k + 1, n):
            if abs(E[i * n + k]) > best:
                best = abs(E[i * n + k])
                row = i
        if row != k:
            for j in range(n):
                keep = E[k * n + j]
                E[k * n + j] = E[row * n + j]
                E[row * n + j] = keep
            keep = E[n * n + k]
            E[n * n + k] = E[n * n + row]
            E[n * n + row] = keep
            E[n * n + n] = -E[n * n + n]
        inverse = 1.0 / E[k * n + k]
        E[k * n + k] = inverse
        for i in range(k + 1, n):
            factor = E[i * n + k] * inverse
            E[i * n + k] = factor
            for j in range(k + 1, n):
                E[i * n + j] -= factor * E[k * n + j]


def lu_solution(n: int, E: In, b: In, x: Out) -> None:
    """x with A x = b."""
    for i in range(n):
        x[i] = b[int(E[n * n + i])]
    for i in range(n):
        for j in range(i):
            x[i] -= E[i * n + j] * x[j]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            x[i] -= E[i * n + j] * x[j]
        x[i] = x[i] * E[i * n + i]


def lu_transposed(n: int, E: In, b: In, x: Out, y: Work) -> None:
    """x with A' x = b."""
    for i in range(n):
        y[i] = b[i]
    for i in range(n):
        y[i] = y[i] * E[i * n + i]
        for j in range(i + 1, n):
            y[j] -= E[i * n + j] * y[i]
    for i in range(n - 1, -1, -1):
        for j in range(i):
            y[j] -= E[i * n + j] * y[i]
    for i in range(n):
        x[int(E[n * n + i])] = y[i]


def shortest_solution(m: int, n: int, tolerance: In, A: In, b: In, x: Out, Q: Work, c: Work, p: Work, t: Work) -> None:
    """The shortest x that minimises |A x - b|, then the rank of A: Q R P' = A with column pivoting, then L Z' = R.

    Q holds the columns of A one after the other: R above, its rows reflected in place afterwards.
    """
    size = 0.0
    sound = 0.0
    for k in range(m * n):
        sound += 0.0 * A[k] * A[k]
        if abs(A[k]) > size:
            size = abs(A[k])
    unit = 1.0
    if size > 0.0:
        unit = 1.0 / size
    for i in range(m):
        c[i] = b[i]
        for j in range(n):
            Q[j * m + i] = A[i * n + j] * unit
    for j in range(n):
        p[j] = j
    steps = m
    if n < m:
        steps = n
    rank = 0
    first = 0.0
    going = 1
    while going > 0:
        best = 0.0
        column = rank
        for j in range(rank, n):
            square = 0.0
            for i in range(rank, m):
                square += Q[j * m + i] * Q[j * m + i]
            if square > best:
                best = square
                column = j
        norm = sqrt(best)
        if rank == 0:
            first = norm
        if rank >= steps or not norm > tolerance[0] * first:
            going = 0
        else:
            if column != rank:
                for i in range(m):
                    keep = Q[rank * m + i]
                    Q[rank * m + i] = Q[column * m + i]
                    Q[column * m + i] = keep
                keep = p[rank]
                p[rank] = p[column]
                p[column] = keep
            # the reflection v = a - alpha e, H = 1 - v v' / (alpha^2 - alpha a_0)
            head = Q[rank * m + rank]
            alpha = norm
            if head > 0.0:
                alpha = -norm
            beta = 1.0 / (best - alpha * head)
            Q[rank * m + rank] = head - alpha
            for j in range(rank + 1, n):
                s = 0.0
                for i in range(rank, m):
                    s += Q[rank * m + i] * Q[j * m + i]
                s = s * beta
                for i in range(rank, m):
                    Q[j * m + i] -= s * Q[rank * m + i]
            s = 0.0
            for i in range(rank, m):
                s += Q[rank * m + i] * c[i]
            s = s * beta
            for i in range(rank, m):
                c[i] -= s * Q[rank * m + i]
            Q[rank * m + rank] = alpha
            for i in range(rank + 1, m):
                Q[rank * m + i] = 0.0
            rank += 1
    # rows of R from the right: row k becomes (alpha, 0, ...); reflections are kept in the rows, heads and factors in t
    for k in range(rank):
        square = 0.0
        for j in range(k, n):
            square += Q[j * m + k] * Q[j * m + k]
        norm = sqrt(square)
        head = Q[k * m + k]
        alpha = norm
        if head > 0.0:
            alpha = -norm
        beta = 1.0 / (square - alpha * head)
        Q[k * m + k] = head - alpha
        for i in range(k + 1, rank):
            s = 0.0
            for j in range(k, n):
                s += Q[j * m + k] * Q[j * m + i]
            s = s * beta
            for j in range(k, n):
                Q[j * m + i] -= s * Q[j * m + k]
        t[k] = alpha
        t[n + k] = beta
    # forward substitution with the lower triangle, then the reflections backwards
    for k in range(rank):
        s = c[k]
        for j in range(k):
            s -= Q[j * m + k] * t[2 * n + j]
        t[2 * n + k] = s / t[k]
    for k in range(rank - 1, -1, -1):
        s = 0.0
        for j in range(k, n):
            s += Q[j * m + k] * t[2 * n + j]
        s = s * t[n + k]
        for j in range(k, n):
            t[2 * n + j] -= s * Q[j * m + k]
    for j in range(n):
        x[int(p[j])] = t[2 * n + j] * unit + sound
    x[n] = rank + sound


def two_products(
    n: int, r: int, s: int, a: int, b: int, first: In, second: In, A: In, B: In, C: In, D: In, T: Out
) -> None:
    """T = A B in a runs of places, C D in b others: a run is a row, its first column and the one behind its last.

    T (n, n), A (n, r), B (r, n), C (n, s), D (s, n).
    """
    for k in range(a):
        i = int(first[3 * k])
        for j in range(int(first[3 * k + 1]), int(first[3 * k + 2])):
            total = 0.0
            for m in range(r):
                total += A[i * r + m] * B[m * n + j]
            T[i * n + j] = total
    for k in range(b):
        i = int(second[3 * k])
        for j in range(int(second[3 * k + 1]), int(second[3 * k + 2])):
            total = 0.0
            for m in range(s):
                total += C[i * s + m] * D[m * n + j]
            T[i * n + j] = total


def tree_factors(n: int, order: In, parent: In, M: In, L: Out) -> None:
    """M = L' D L from the tips of a tree to its root: L below the diagonal, on it the inverses of D."""
    for k in range(n * n):
        L[k] = M[k]
    for step in range(n - 1, -1, -1):
        k = int(order[step])
        inverse = 1.0 / L[k * n + k]
        i = int(parent[k])
        while i >= 0:
            factor = L[k * n + i] * inverse
            j = i
            while j >= 0:
                L[i * n + j] -= factor * L[k * n + j]
                j = int(parent[j])
            L[k * n + i] = factor
            i = int(parent[i])
        L[k * n + k] = inverse


def tree_solutions(n: int, m: int, order: In, parent: In, L: In, B: In, X: Out) -> None:
    """X (n, m) with M X + B = 0, from the factors of M along a tree."""
    for k in range(n * m):
        X[k] = -B[k]
    for step in range(n - 1, -1, -1):
        i = int(order[step])
        j = int(parent[i])
        while j >= 0:
            for c in range(m):
                X[j * m + c] -= L[i * n + j] * X[i * m + c]
            j = int(parent[j])
    for step in range(n):
        i = int(order[step])
        for c in range(m):
            X[i * m + c] = X[i * m + c] * L[i * n + i]
        j = int(parent[i])
        while j >= 0:
            for c in range(m):
                X[i * m + c] -= L[i * n + j] * X[j * m + c]
            j = int(parent[j])


LU = Routine(lu_factors, (lu_size,), (), lambda n: {"products": n**3 // 3, "sums": n**3 // 3, "divisions": n})
LU_SOLUTION = Routine(lu_solution, (lambda n: n,), (), lambda n: {"products": n * n, "sums": n * n})
LU_TRANSPOSED = Routine(lu_transposed, (lambda n: n,), (lambda n: n,), lambda n: {"products": n * n, "sums": n * n})
SHORTEST = Routine(
    shortest_solution,
    (lambda m, n: n + 1,),
    (lambda m, n: m * n, lambda m, n: m, lambda m, n: n, lambda m, n: 3 * n),
    lambda m, n: {"products": 3 * m * n * min(m, n), "sums": 3 * m * n * min(m, n), "divisions": 3 * min(m, n)},
)
PRODUCTS = Routine(two_products, (lambda n, *_: n * n,), in_step=True)
TREE_FACTORS = Routine(tree_factors, (lambda n: n * n,), in_step=True)
TREE_SOLUTIONS = Routine(tree_solutions, (lambda n, m: n * m,), in_step=True)
