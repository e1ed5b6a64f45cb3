"""Small matrices of expressions, as lists of rows: products where zeros cost nothing, determinants, sparse systems.

Systems whose zeros are known beforehand are taken apart before they are solved (`RowSolver`): rows with one unknown
first, unknowns that are in one row only last, what has nothing to do with each other apart; only what is left over
takes a pivoted solution. The rows of wheels, trailers and steered axles fall apart completely, which keeps their
solution readable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from itertools import combinations

from torseur.graph import Expr, Graph, pseudo_inverse, solve

__all__ = ["Matrix", "RowSolver", "Undetermined", "determinant", "dot", "times", "transposed"]

Matrix = list[list[Expr]]

FEW = 8


def dot(u: Sequence[Expr], v: Sequence[Expr]) -> Expr:
    """u . v."""
    total = u[0].graph.zero
    for a, b in zip(u, v, strict=True):
        total = total + a * b
    return total


def times(A: Sequence[Sequence[Expr]], x: Sequence[Expr]) -> list[Expr]:
    """A x."""
    return [dot(row, x) for row in A]


def transposed(A: Sequence[Sequence[Expr]]) -> Matrix:
    """A'."""
    return [list(column) for column in zip(*A, strict=True)]


def determinant(A: Matrix) -> Expr:
    """Of a few rows by minors of the last ones, each computed once; of more by elimination as they stand."""
    n, g = len(A), A[0][0].graph
    if n > FEW:
        return _product_of_pivots(A)
    minors: dict[tuple[int, ...], Expr] = {(): g.one}
    for k in range(n - 1, -1, -1):
        known: dict[tuple[int, ...], Expr] = {}
        for columns in combinations(range(n), n - k):
            total = g.zero
            for place, j in enumerate(columns):
                term = A[k][j] * minors[columns[:place] + columns[place + 1 :]]
                total = total - term if place % 2 else total + term
            known[columns] = total
        minors = known
    return minors[tuple(range(n))]


def _product_of_pivots(A: Matrix) -> Expr:
    left, product = [list(row) for row in A], A[0][0].graph.one
    for k in range(len(A)):
        product = product * left[k][k]
        for i in range(k + 1, len(A)):
            factor = left[i][k] / left[k][k]
            left[i] = [x if j <= k else x - factor * y for j, (x, y) in enumerate(zip(left[i], left[k], strict=True))]
    return product


# -- sparse rows -------------------------------------------------------------------------------------------------------
class Undetermined(ArithmeticError):
    """Fewer rows than unknowns somewhere, whatever the values of the symbols."""

    def __init__(self, unknowns: Sequence[int]) -> None:
        super().__init__(unknowns)
        self.unknowns = list(unknowns)


@dataclass(frozen=True)
class _Part:
    """Some rows and the unknowns they are solved for, once all other unknowns in them are known."""

    rows: tuple[int, ...]
    unknowns: tuple[int, ...]


class RowSolver:
    """x with rows x = right, for any number of right-hand sides.

    More rows than unknowns are taken as redundant: x is then that of least squares, which is exact wherever the rows
    do not contradict each other. `is_square` says that there was none of it.
    """

    def __init__(self, rows: Matrix, unknowns: int, graph: Graph) -> None:
        self.rows, self.n, self.graph = rows, unknowns, graph
        self._support = [{j for j, x in enumerate(row) if x is not graph.zero} for row in rows]
        self.parts: list[_Part] = []
        self._plan()
        self.is_square = len(rows) == unknowns  # rows that repeat what is solved already are in no part
        self._solvers = [self._solver(part) for part in self.parts]

    def solve(self, right: Sequence[Expr]) -> list[Expr]:
        x: dict[int, Expr] = {}
        for part, solver in zip(self.parts, self._solvers, strict=True):
            solution = solver([self._rest(i, right[i], x) for i in part.rows])
            x |= zip(part.unknowns, solution, strict=True)
        return [x[j] for j in range(self.n)]

    def _rest(self, i: int, right: Expr, known: dict[int, Expr]) -> Expr:
        for j in sorted(self._support[i] & known.keys()):
            right = right - self.rows[i][j] * known[j]
        return right

    def _solver(self, part: _Part) -> Callable[[list[Expr]], list[Expr]]:
        matrix, zero = [[self.rows[i][j] for j in part.unknowns] for i in part.rows], self.graph.zero
        if len(part.rows) == len(part.unknowns):
            return lambda right: [zero] * len(right) if all(x is zero for x in right) else solve(matrix, right)
        inverse, _ = pseudo_inverse(matrix)
        return lambda right: [dot(row, right) for row in inverse]

    # -- the plan ------------------------------------------------------------------------------------------------------
    def _plan(self) -> None:
        """Rows of one unknown with a plain number come first, wherever they are; the rest by groups."""
        rows, unknowns = set(range(len(self.rows))), set(range(self.n))
        self._peel(rows, unknowns, numbers_only=True)
        for group in self._groups(rows, unknowns):
            self._plan_group(*group)
        missed = sorted(set(range(self.n)) - {j for part in self.parts for j in part.unknowns})
        if missed:
            raise Undetermined(missed)

    def _peel(self, rows: set[int], unknowns: set[int], *, numbers_only: bool) -> None:
        """Solve rows that have one unknown left, as long as there are any. Takes them out of both sets."""
        progress = True
        while progress:
            progress = False
            for i in sorted(rows):
                left = self._support[i] & unknowns
                if len(left) == 1 and (not numbers_only or self.rows[i][min(left)].is_number):
                    self.parts.append(_Part((i,), tuple(left)))
                    rows.discard(i)
                    unknowns -= left
                    progress = True

    def _plan_group(self, rows: set[int], unknowns: set[int]) -> None:
        if len(rows) < len(unknowns):
            raise Undetermined(sorted(unknowns))
        if len(rows) > len(unknowns):
            self.parts.append(_Part(tuple(sorted(rows)), tuple(sorted(unknowns))))
            return
        self._peel(rows, unknowns, numbers_only=False)
        last = self._put_off(rows, unknowns)
        groups = self._groups(rows, unknowns)
        for group in groups:
            if len(groups) == 1 and not last and len(group[0]) == len(group[1]):
                self.parts += self._in_turn(sorted(group[0]), sorted(group[1]))
            else:
                self._plan_group(*group)
        self.parts += reversed(last)

    def _put_off(self, rows: set[int], unknowns: set[int]) -> list[_Part]:
        """Unknowns that are in one row only wait for the others; takes them out of both sets."""
        last: list[_Part] = []
        progress = True
        while progress:
            progress = False
            for j in sorted(unknowns):
                inside = [i for i in rows if j in self._support[i]]
                if len(inside) == 1 and len(rows) > 1:
                    last.append(_Part((inside[0],), (j,)))
                    rows.discard(inside[0])
                    unknowns.discard(j)
                    progress = True
        return last

    def _in_turn(self, rows: list[int], unknowns: list[int]) -> list[_Part]:
        """A square group cut into parts that follow from each other: its block triangular form (Duff & Reid 1978).

        Each row is matched with an unknown; rows that need each other's unknowns in a circle are one part.
        """
        if len(rows) <= 3:
            return [_Part(tuple(rows), tuple(unknowns))]
        inside = set(unknowns)
        owner = _matched({i: self._support[i] & inside for i in rows})
        missed = [j for j in unknowns if j not in owner]
        if missed:
            raise Undetermined(missed)
        needs = {i: {owner[j] for j in self._support[i] & inside} for i in rows}
        parts = _circles(needs)
        own = {i: j for j, i in owner.items()}
        return [_Part(tuple(sorted(part)), tuple(sorted(own[i] for i in part))) for part in parts]

    def _groups(self, rows: Iterable[int], unknowns: set[int]) -> list[tuple[set[int], set[int]]]:
        """What has to do with each other; rows without any unknown left are dropped."""
        groups: list[tuple[set[int], set[int]]] = []
        for i in sorted(rows):
            mine, own = {i}, self._support[i] & unknowns
            if not own:
                continue
            apart = []
            for group in groups:
                if group[1] & own:
                    mine, own = mine | group[0], own | group[1]
                else:
                    apart.append(group)
            groups = [*apart, (mine, own)]
        return groups


def _matched(support: dict[int, set[int]]) -> dict[int, int]:
    """Of each unknown, a row that has it, every row once: a largest matching, by augmenting paths."""
    owner: dict[int, int] = {}

    def take(i: int, seen: set[int]) -> bool:
        for j in sorted(support[i] - seen):
            seen.add(j)
            if j not in owner or take(owner[j], seen):
                owner[j] = i
                return True
        return False

    for i in support:
        take(i, set())
    return owner


def _circles(needs: dict[int, set[int]]) -> list[list[int]]:
    """Rows that need each other in a circle, each set after those it needs (scipy's way takes 0.2 s to import)."""
    reach = {i: {i, *needs[i]} for i in needs}
    for k in needs:
        for i in needs:
            if k in reach[i]:
                reach[i] |= reach[k]
    part = {i: min(j for j in reach[i] if i in reach[j]) for i in needs}
    waits = {c: {part[j] for i in needs if part[i] == c for j in needs[i]} - {c} for c in part.values()}
    return [[i for i in needs if part[i] == c] for c in TopologicalSorter(waits).static_order()]
