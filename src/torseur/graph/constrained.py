"""Quadratic minimisation under equality constraints of a given rank, inside expressions.

    minimise 1/2 x' M x - f' x   under   A x = b,      M x = f + A' lambda

A (m, n) has rank r, which is an argument: the rows are cut down to r pivots, chosen at run time by size, whatever
their size. So rows that are redundant up to a small error change nothing, and no threshold decides which are.

    P A Q = L U,   L (m, r) unit lower trapezoidal, U = [U1 U2] (r, n) upper trapezoidal     complete pivoting
    x = Q [x_d; x_i],   x_d = U1^-1 y - F x_i,   F = U1^-1 U2,   y = L^+ P b                 rank-r least squares
    D x_i = N' (f - M x_b),   D = N' M N,   N = Q [-F; I],   x_b = Q [U1^-1 y; 0]            null-space method
    lambda = P' L^+' U1^-T (M x - f)_d                                                       minimum norm

Only D must be regular: coordinates without mass may take part as long as the rows carry them. Rows and columns are
brought to one unit by scales, so that neither pivots nor the norm of lambda depend on units. A pivot that is rounding
beside the first ends the elimination: there the rank is less than r for an instant.

Golub & Van Loan, Matrix Computations, 4th ed., 3.4.8 and 5.5; Nocedal & Wright, Numerical Optimization, 2nd ed., 16.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np

from torseur.graph.blocks import Block
from torseur.graph.calls import Callee, Tangent
from torseur.graph.constrained_routines import FACTORS, MULTIPLIERS, ROUNDING, SOLUTION, factors_size
from torseur.graph.functions import select
from torseur.graph.linear import Matrix, dot
from torseur.graph.nodes import Bundle, Expr, Graph
from torseur.graph.routine import Loops, Routine

__all__ = ["ConstrainedSystem"]


class ConstrainedSystem:
    """M, A and a rank; any number of right-hand sides share the factors.

    Args:
        M: (n, n), symmetric.
        A: (m, n).
        rank: of A.
        rows: a factor for each row that gives all of them one unit.
        columns: a factor for each column, likewise; x in the unit of its column is the factor times a plain number.
        wanted: where this is 0 nothing is computed and all results are 0.
        least: a pivot below this part of the first ends the elimination.
    """

    def __init__(
        self,
        M: Sequence[Sequence[Expr]],
        A: Sequence[Sequence[Expr]],
        rank: Expr,
        rows: Sequence[Expr] | None = None,
        columns: Sequence[Expr] | None = None,
        wanted: Expr | None = None,
        least: Expr | float = 0.0,
    ) -> None:
        g = rank.graph
        self.m, self.n = len(A), len(M)
        self.M, self.A, self.rank = [list(r) for r in M], [list(r) for r in A], rank
        self.rows, self.columns = list(rows or [g.one] * self.m), list(columns or [g.one] * self.n)
        self.wanted = g.one if wanted is None else wanted
        pattern = _Pattern.of(self.M, self.A, g.zero)
        entries = [self.A[i][j] for i, j in pattern.A] + [self.M[i][j] for i, j in pattern.M]
        self.least = g.expr(least)
        head = [self.wanted, rank, self.least, *self.rows, *self.columns]
        self._factors = g.call(_factors(pattern), [*head, *entries])
        self._head = [self.wanted, *self.rows, *self.columns]

    @property
    def effective_rank(self) -> Expr:
        """The pivots that were taken: less than the rank where it is lost for an instant."""
        return self._about(0)

    @property
    def last_pivot(self) -> Expr:
        """Beside the first: near zero where the rank is about to be lost."""
        return self._about(1)

    @property
    def left_over(self) -> Expr:
        """The largest entry that was not eliminated, beside the first pivot: rounding if the rank is right."""
        return self._about(2)

    def _about(self, k: int) -> Expr:
        """One of the factors; nobody has set them where they are not wanted."""
        return select(self.wanted < 0.5, self.rank.graph.zero, self._factors[k])

    def solve(self, f: Sequence[Expr], b: Sequence[Expr]) -> list[Expr]:
        """x."""
        g = self.rank.graph
        if all(y is g.zero for y in (*f, *b)):
            return [g.zero] * self.n
        return list(g.call(_solution(self.m, self.n), [*self._head, self._factors, *f, *b]))

    def multipliers(self, f: Sequence[Expr]) -> list[Expr]:
        """The shortest lambda with A' lambda = f, in the unit of the scaled rows."""
        g = self.rank.graph
        if all(y is g.zero for y in f):
            return [g.zero] * self.m
        return list(g.call(_multipliers(self.m, self.n), [*self._head, self._factors, *f]))


# -- calls -------------------------------------------------------------------------------------------------------------
class _Pattern:
    """Which entries of A and of the lower triangle of M are not zero by structure."""

    def __init__(self, m: int, n: int, A: tuple[tuple[int, int], ...], M: tuple[tuple[int, int], ...]) -> None:
        self.m, self.n, self.A, self.M = m, n, A, M

    @classmethod
    def of(cls, M: Matrix, A: Matrix, zero: Expr) -> _Pattern:
        rows = tuple((i, j) for i, row in enumerate(A) for j, x in enumerate(row) if x is not zero)
        lower = tuple((i, j) for i, row in enumerate(M) for j, x in enumerate(row[: i + 1]) if x is not zero)
        return _pattern(len(A), len(M), rows, lower)

    @cached_property
    def tables(self) -> tuple[tuple[float, ...], ...]:
        return tuple(tuple(float(k[side]) for k in some) for some in (self.A, self.M) for side in (0, 1))


@cache
def _pattern(m: int, n: int, A: tuple[tuple[int, int], ...], M: tuple[tuple[int, int], ...]) -> _Pattern:
    return _Pattern(m, n, A, M)


def _blocks(**sizes: int) -> tuple[Block, ...]:
    g = Graph()
    return tuple(g.block(name, size) for name, size in sizes.items())


class _Factors(Callee):
    """M, A, rank, scales -> the factors. Its derivative is that of A and M: what uses it knows what to do with it."""

    def __init__(self, pattern: _Pattern) -> None:
        m, n = pattern.m, pattern.n
        self.pattern, self.name = pattern, f"constrained_factors{m}_{n}"
        self.n_out = factors_size(m, n)
        sparse = len(pattern.A) < m * n or len(pattern.M) < n * (n + 1) // 2
        self.meaning = (
            "the factors for the x of least 1/2 x'M x - f'x under A x = b, from: 1 if wanted, the rank of A, "
            f"a factor for each row and each column, A ({m} x {n}) row by row, the lower triangle of M row by row"
            f"{'; what is always zero is left out' * sparse}"
        )
        self.skipped = 3 + m + n
        blocks = _blocks(wanted=1, rank=1, least=1, s=m, c=n, A=len(pattern.A), M=len(pattern.M))
        self._lowering = Loops(FACTORS, (m, n, len(pattern.A), len(pattern.M)), blocks, pattern.tables)

    @property
    def digest(self) -> str:
        return self._lowering.digest

    def lowering(self) -> Loops:
        return self._lowering

    def matrices(self, entries: Sequence[Expr], zero: Expr) -> tuple[Matrix, Matrix]:
        """M and A from what the call was given, or from derivatives of that."""
        pattern = self.pattern
        A = [[zero] * pattern.n for _ in range(pattern.m)]
        M = [[zero] * pattern.n for _ in range(pattern.n)]
        flat = iter(entries[self.skipped :])
        for i, j in pattern.A:
            A[i][j] = next(flat)
        for i, j in pattern.M:
            M[i][j] = M[j][i] = next(flat)
        return M, A

    def entries(self, M: Matrix, A: Matrix, zero: Expr) -> list[Tangent]:
        """Weights on matrices as weights on what the call was given."""
        symmetric = [M[i][j] if i == j else M[i][j] + M[j][i] for i, j in self.pattern.M]
        return [*([None] * self.skipped), *(A[i][j] for i, j in self.pattern.A), *symmetric]

    def tangent(self, bundle: Bundle, tangents: Sequence[Tangent]) -> list[Expr]:
        return [t if isinstance(t, Expr) else bundle.graph.zero for t in tangents]

    def adjoint(self, bundle: Bundle, weights: Sequence[Expr]) -> list[Tangent]:
        return list(weights)

    def reference(self, args: Sequence[Any]) -> Any:
        return _Given(self, np.stack(np.broadcast_arrays(*args), axis=-1))


@cache
def _factors(pattern: _Pattern) -> _Factors:
    return _Factors(pattern)


class _FromFactors(Callee):
    """What solutions and multipliers share: arguments wanted, scales, factors, right-hand sides."""

    routine: Routine
    word: str

    def __init__(self, m: int, n: int) -> None:
        self.m, self.n = m, n
        self.name = f"{self.routine.name}{m}_{n}"
        right = {"f": n, "b": m} if self.word == "solution" else {"f": n}
        blocks = _blocks(wanted=1, s=m, c=n, E=factors_size(m, n), **right)
        self._lowering = Loops(self.routine, (m, n), blocks)
        self.n_out = self._lowering.outs[0]
        self.at = 1 + m + n  # the place of the factors among the arguments

    @property
    def digest(self) -> str:
        return self._lowering.digest

    def lowering(self) -> Loops:
        return self._lowering

    def system(self, bundle: Bundle) -> tuple[ConstrainedSystem, _Factors]:
        """The system that the factors are those of."""
        factors = bundle.args[self.at]
        callee: _Factors = factors.data
        wanted, rank, least, *rest = factors.args[: callee.skipped]
        M, A = callee.matrices(factors.args, bundle.graph.zero)
        return ConstrainedSystem(M, A, rank, rest[: self.m], rest[self.m :], wanted, least), callee

    def changes(self, bundle: Bundle, tangents: Sequence[Tangent]) -> tuple[Matrix, Matrix, list[Expr]]:
        """dM, dA and the derivatives of the right-hand sides."""
        zero = bundle.graph.zero
        right = [t if isinstance(t, Expr) else zero for t in tangents[self.at + 1 :]]
        d = tangents[self.at]
        given = d if isinstance(d, list) else [zero] * len(bundle.args[self.at].args)
        return *bundle.args[self.at].data.matrices(given, zero), right


class _Solution(_FromFactors):
    """x, with M dx - A' dlambda = df - dM x + dA' lambda and A dx = db - dA x."""

    routine, word = SOLUTION, "solution"
    meaning = (
        "the x of least 1/2 x'M x - f'x under A x = b, from: 1 if wanted, a factor for each row and each column, "
        "the factors, f, b"
    )

    def tangent(self, bundle: Bundle, tangents: Sequence[Tangent]) -> list[Expr]:
        system, _ = self.system(bundle)
        zero, x = bundle.graph.zero, list(bundle)
        dM, dA, right = self.changes(bundle, tangents)
        df, db = right[: self.n], right[self.n :]
        if any(e is not zero for row in (*dM, *dA) for e in row):
            f = list(bundle.args[self.at + 1 : self.at + 1 + self.n])
            lam = system.multipliers([dot(row, x, zero) - fi for row, fi in zip(system.M, f, strict=True)])
            df = [
                fi - dot(row, x, zero) + dot([r[j] for r in dA], lam, zero)
                for j, (fi, row) in enumerate(zip(df, dM, strict=True))
            ]
            db = [bi - dot(row, x, zero) for bi, row in zip(db, dA, strict=True)]
        return system.solve(df, db)

    def adjoint(self, bundle: Bundle, weights: Sequence[Expr]) -> list[Tangent]:
        """M w + A' nu = weights, A w = 0: f_bar = w, b_bar = nu, M_bar = -w x', A_bar = lambda w' - nu x'."""
        system, callee = self.system(bundle)
        zero, x = bundle.graph.zero, list(bundle)
        f = list(bundle.args[self.at + 1 : self.at + 1 + self.n])
        w = system.solve(weights, [zero] * self.m)
        nu = system.multipliers([wi - dot(row, w, zero) for wi, row in zip(weights, system.M, strict=True)])
        lam = system.multipliers([dot(row, x, zero) - fi for row, fi in zip(system.M, f, strict=True)])
        M = [[-(wi * xj) for xj in x] for wi in w]
        A = [[li * wj - ni * xj for wj, xj in zip(w, x, strict=True)] for li, ni in zip(lam, nu, strict=True)]
        inner = [zero if e is None else e for e in callee.entries(M, A, zero)]
        return [*([None] * self.at), [e for e in inner if isinstance(e, Expr)], *w, *nu]

    def reference(self, args: Sequence[Any]) -> Any:
        one = _Reference(self, args)
        f, b = one.right[..., : self.n], one.right[..., self.n :]
        return one.spread(one.solution(f, b))


class _Multipliers(_FromFactors):
    """lambda of minimum norm, A' lambda = f; differentiated at constant rank (Golub & Pereyra 1973)."""

    routine, word = MULTIPLIERS, "multipliers"
    meaning = (
        "the shortest lambda with A' lambda = f, from: 1 if wanted, a factor for each row and each column, "
        "the factors, f"
    )

    def tangent(self, bundle: Bundle, tangents: Sequence[Tangent]) -> list[Expr]:
        system, _ = self.system(bundle)
        zero, lam = bundle.graph.zero, list(bundle)
        _, dA, df = self.changes(bundle, tangents)
        moved = [fi - dot([row[j] for row in dA], lam, zero) for j, fi in enumerate(df)]
        change = system.multipliers(moved)
        if all(e is zero for row in dA for e in row):
            return change
        # (I - A'^+ A') dA A^+ lambda, in the scaled rows
        one = bundle.graph.one
        metric = [[one / (c * c) if i == j else zero for j in range(self.n)] for i, c in enumerate(system.columns)]
        plain = ConstrainedSystem(
            metric, system.A, system.rank, system.rows, system.columns, system.wanted, system.least
        )
        x = plain.solve([zero] * self.n, [y / (s * s) for y, s in zip(lam, system.rows, strict=True)])
        v = [s * s * dot(row, x, zero) for s, row in zip(system.rows, dA, strict=True)]
        back = system.multipliers([dot([row[j] for row in system.A], v, zero) for j in range(self.n)])
        return [a + b - c for a, b, c in zip(change, v, back, strict=True)]

    def adjoint(self, bundle: Bundle, weights: Sequence[Expr]) -> list[Tangent]:
        """The transpose of `tangent`."""
        system, callee = self.system(bundle)
        g, lam = bundle.graph, list(bundle)
        zero = g.zero
        metric = [[g.one / (c * c) if i == j else zero for j in range(self.n)] for i, c in enumerate(system.columns)]
        plain = ConstrainedSystem(
            metric, system.A, system.rank, system.rows, system.columns, system.wanted, system.least
        )
        nothing = [zero] * self.n

        def met(y: Sequence[Expr]) -> list[Expr]:
            return plain.solve(nothing, [yi / (s * s) for yi, s in zip(y, system.rows, strict=True)])

        w = plain.solve(nothing, list(weights))  # (A'^+)' weights
        x = met(lam)
        residue = [wi - dot(row, w, zero) for wi, row in zip(weights, system.A, strict=True)]
        A = [
            [s * s * ri * xj - li * wj for xj, wj in zip(x, w, strict=True)]
            for s, ri, li in zip(system.rows, residue, lam, strict=True)
        ]
        M = [[zero] * self.n for _ in range(self.n)]
        inner = [zero if e is None else e for e in callee.entries(M, A, zero)]
        return [*([None] * self.at), [e for e in inner if isinstance(e, Expr)], *w]

    def reference(self, args: Sequence[Any]) -> Any:
        one = _Reference(self, args)
        return one.spread(one.multipliers(one.right))


@dataclass(frozen=True)
class _Given:
    """What the plain evaluator has for factors: what they would be made of."""

    callee: _Factors
    values: Any

    def __getitem__(self, k: int) -> Any:
        """One of the factors themselves, by the routine."""
        rows = self.values.reshape(-1, self.values.shape[-1])
        values = [self.callee.lowering().reference(row)[k] for row in rows]
        return np.array(values).reshape(self.values.shape[:-1])


class _Reference:
    """The same by singular values, state by state: an independent way for tests and the plain evaluator."""

    def __init__(self, callee: _FromFactors, args: Sequence[Any]) -> None:
        m, n = callee.m, callee.n
        given, pattern = args[callee.at].values, args[callee.at].callee.pattern
        rest = [np.asarray(x, dtype=float) for x in args[callee.at + 1 :]]
        batch = np.broadcast_shapes(given.shape[:-1], *(x.shape for x in rest))
        given = np.broadcast_to(given, (*batch, given.shape[-1])).reshape(-1, given.shape[-1])
        self.batch = batch
        self.right = np.stack([np.broadcast_to(x, batch).ravel() for x in rest], axis=-1)
        self.wanted, self.rank = ~(given[:, 0] < 0.5), given[:, 1] + 0.0 * given[:, 0]
        self.least = given[:, 2]
        self.s, self.c = given[:, 3 : 3 + m], given[:, 3 + m : 3 + m + n]
        entries = given[:, 3 + m + n :]
        self.A, self.M = np.zeros((len(given), m, n)), np.zeros((len(given), n, n))
        for k, (i, j) in enumerate(pattern.A):
            self.A[:, i, j] = self.s[:, i] * self.c[:, j] * entries[:, k]
        for k, (i, j) in enumerate(pattern.M, len(pattern.A)):
            self.M[:, i, j] = self.M[:, j, i] = self.c[:, i] * self.c[:, j] * entries[:, k]

    def spread(self, rows: Any) -> list[Any]:
        spread_rows = np.where(self.wanted[:, None], rows, 0.0)
        return list(np.moveaxis(spread_rows.reshape(*self.batch, spread_rows.shape[-1]), -1, 0))

    def _parts(self, k: int) -> tuple[Any, Any, Any, Any] | None:
        A = self.A[k]
        if not (np.isfinite(A).all() and np.isfinite(self.M[k]).all() and np.isfinite(self.rank[k])):
            return None
        U, s, Vt = np.linalg.svd(A)
        r = min(
            max(int(self.rank[k]), 0),
            int(np.count_nonzero(s > max(ROUNDING, self.least[k]) * max(s.max(initial=0.0), 1e-300))),
        )
        return U[:, :r], s[:r], Vt[:r], Vt[r:]

    def solution(self, f: Any, b: Any) -> Any:
        solutions = np.full((len(self.A), self.A.shape[2]), np.nan)
        for k in np.flatnonzero(self.wanted):
            parts = self._parts(int(k))
            if parts is None:
                continue
            U, s, V, N = parts
            x = V.T @ ((U.T @ (self.s[k] * b[k])) / s)
            D = N @ self.M[k] @ N.T
            if not len(D) or np.linalg.slogdet(D)[0] != 0.0:
                z = np.linalg.solve(D, N @ (self.c[k] * f[k] - self.M[k] @ x))
                solutions[k] = self.c[k] * (x + N.T @ z)
        return solutions

    def multipliers(self, f: Any) -> Any:
        lam = np.full((len(self.A), self.A.shape[1]), np.nan)
        for k in np.flatnonzero(self.wanted):
            parts = self._parts(int(k))
            if parts is not None:
                U, s, V, _ = parts
                lam[k] = self.s[k] * (U @ ((V @ (self.c[k] * f[k])) / s))
        return lam


@cache
def _solution(m: int, n: int) -> _Solution:
    return _Solution(m, n)


@cache
def _multipliers(m: int, n: int) -> _Multipliers:
    return _Multipliers(m, n)
