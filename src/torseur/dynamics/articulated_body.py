"""Solving with the inertia matrix in O(n): articulated bodies.

Featherstone, Rigid Body Dynamics Algorithms, chapter 7, with one change: velocities, gravity and loads are all in the
bias of the Newton-Euler recursion at zero acceleration, so what is left is M vdot = tau - bias, a recursion without a
single velocity.

The articulated inertia of a link relates the accelerations (a; wd) and the wrench (f; n) at its origin when
everything it carries is free to move: f = A a + B wd, n = B' a + C wd, A and C symmetric. A joint column S that is
free takes U = (A, B; B', C) S out of it; a column along an axis leaves zeros in its row and column.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torseur.dynamics.tree import Tree
from torseur.graph import Expr, Graph
from torseur.spatial.inertia import Inertia, axis_of, turned_tensor
from torseur.spatial.joints import Motion
from torseur.spatial.pose import Pose
from torseur.spatial.vectors import (
    Matrix,
    Vector,
    add,
    cross,
    dot,
    matmul,
    rotate,
    rotate_back,
    scale,
    sub,
    transpose,
    zero_vector,
)

__all__ = ["articulated_solve"]


@dataclass(frozen=True)
class _Articulated:
    A: Matrix
    B: Matrix
    C: Matrix

    @classmethod
    def of(cls, inertia: Inertia) -> _Articulated:
        """A rigid body: A = M 1, B = -[MS]x, C = J."""
        M, (x, y, z), o = inertia.M, inertia.MS, inertia.M.graph.zero
        return cls(((M, o, o), (o, M, o), (o, o, M)), ((o, z, -y), (-z, o, x), (y, -x, o)), inertia.J)

    def __add__(self, other: _Articulated) -> _Articulated:
        return _Articulated(_plus(self.A, other.A), _plus(self.B, other.B), _plus(self.C, other.C))

    def wrench(self, s: Motion) -> Motion:
        linear = add(rotate(self.A, s.linear), rotate(self.B, s.angular))
        return Motion(linear, add(rotate_back(self.B, s.linear), rotate(self.C, s.angular)))

    def freed(self, gone: int | None, U: Motion, inverse: Expr) -> _Articulated:
        """What is left when a column is free: minus U U' / D; zero in row and column `gone` if it was a plain axis."""
        u, d = (*U.linear, *U.angular), [scale(inverse, part) for part in (U.linear, U.angular)]
        over = (*d[0], *d[1])
        old = [[*a, *b] for a, b in zip(self.A, self.B, strict=True)]
        old += [[*b, *c] for b, c in zip(transpose(self.B), self.C, strict=True)]
        zero = inverse.graph.zero

        def entry(i: int, j: int) -> Expr:
            i, j = min(i, j), max(i, j)
            return zero if gone in (i, j) else old[i][j] - over[i] * u[j]

        A, B, C = (_block(entry, i, j) for i, j in ((0, 0), (0, 3), (3, 3)))
        return _Articulated(A, B, C)

    def seen_from(self, pose: Pose) -> _Articulated:
        """In a frame where this one's has the given pose."""
        R, P = pose.R, pose.P
        axis = axis_of(R)
        if axis is None:
            A, B, C = (matmul(matmul(R, X), transpose(R)) for X in (self.A, self.B, self.C))
        else:
            A, C = turned_tensor(axis, self.A, R), turned_tensor(axis, self.C, R)
            B = _turned(axis, self.B, R)
        # B' = B - A [P]x,  C' = C - B'_old [P]x + [P]x B'
        A_P = [cross(row, P) for row in A]  # rows of A [P]x, since u' [P]x = (u x P)'
        B_new = (sub(B[0], A_P[0]), sub(B[1], A_P[1]), sub(B[2], A_P[2]))
        left = [cross(row, P) for row in transpose(B)]
        right = transpose(_from_columns([cross(P, column) for column in transpose(B_new)]))
        rows = [[C[i][j] - left[i][j] + right[j][i] for j in range(3)] for i in range(3)]
        C_new = _symmetric(rows)
        return _Articulated(A, B_new, C_new)


def _plus(X: Matrix, Y: Matrix) -> Matrix:
    a, b, c = (add(x, y) for x, y in zip(X, Y, strict=True))
    return (a, b, c)


def _block(entry: Callable[[int, int], Expr], i: int, j: int) -> Matrix:
    a, b, c = ((entry(i + r, j), entry(i + r, j + 1), entry(i + r, j + 2)) for r in range(3))
    return (a, b, c)


def _from_columns(columns: Sequence[Vector]) -> Matrix:
    return transpose((columns[0], columns[1], columns[2]))


def _symmetric(rows: Sequence[Sequence[Expr]]) -> Matrix:
    (a, b, c), (_, d, e), (_, _, f) = rows
    return ((a, b, c), (b, d, e), (c, e, f))


def _unit_place(S: Motion) -> int | None:
    """Which of the six axes a column is, if it is one."""
    parts, g = (*S.linear, *S.angular), S.linear[0].graph
    ones = [k for k, x in enumerate(parts) if x is g.one]
    zeros = sum(x is g.zero for x in parts)
    return ones[0] if len(ones) == 1 and zeros == 5 else None


def _turned(axis: int, X: Matrix, R: Matrix) -> Matrix:
    """R X R' for a rotation about one axis: rows and columns of the other two turn in their plane."""
    a, b = (axis + 1) % 3, (axis + 2) % 3
    c, s = R[a][a], R[b][a]
    rows = [list(row) for row in X]
    rows[a], rows[b] = (
        [c * x - s * y for x, y in zip(rows[a], rows[b], strict=True)],
        [s * x + c * y for x, y in zip(rows[a], rows[b], strict=True)],
    )
    for row in rows:
        row[a], row[b] = c * row[a] - s * row[b], s * row[a] + c * row[b]
    return (
        (rows[0][0], rows[0][1], rows[0][2]),
        (rows[1][0], rows[1][1], rows[1][2]),
        (rows[2][0], rows[2][1], rows[2][2]),
    )


@dataclass(frozen=True)
class _Freed:
    """One column of a joint on the way back: U / D and u / D."""

    U: Motion
    u: Expr


def articulated_solve(tree: Tree, right: Sequence[Expr]) -> list[Expr]:
    """vdot with M(q) vdot = right, where every speed moves one link; rotors without a carrier add to the diagonal."""
    g: Graph = tree.system.graph
    diagonal: dict[int, Expr] = {}
    for rotor in tree.rotors:
        diagonal[rotor.speed] = diagonal.get(rotor.speed, g.zero) + rotor.ratio * rotor.ratio * rotor.inertia
    inertias = [_Articulated.of(link.inertia) for link in tree.links]
    still = Motion(zero_vector(g), zero_vector(g))
    wrenches = [still] * len(tree.links)
    freed: list[list[_Freed]] = [[] for _ in tree.links]
    for k in reversed(range(len(tree.links))):
        link, own, p = tree.links[k], inertias[k], wrenches[k]
        for i in reversed(range(len(link.S))):
            S, j = link.S[i], link.places[i]
            U = own.wrench(S)
            D = dot(S.linear, U.linear) + dot(S.angular, U.angular)
            D = D + diagonal[j] if j in diagonal else D
            if D is g.zero:
                raise tree.without_mass(j)
            inverse = 1.0 / D
            u = (right[j] - dot(S.linear, p.linear) - dot(S.angular, p.angular)) * inverse
            freed[k].append(_Freed(Motion(scale(inverse, U.linear), scale(inverse, U.angular)), u))
            if link.parent >= 0 or i:
                own = own.freed(None if j in diagonal else _unit_place(S), U, inverse)
                p = Motion(add(p.linear, scale(u, U.linear)), add(p.angular, scale(u, U.angular)))
        if link.parent >= 0:
            inertias[link.parent] = inertias[link.parent] + own.seen_from(link.motion).seen_from(link.K)
            f = rotate(link.pose.R, p.linear)
            n = add(rotate(link.pose.R, p.angular), cross(link.pose.P, f))
            below = wrenches[link.parent]
            wrenches[link.parent] = Motion(add(below.linear, f), add(below.angular, n))
    return _outward(tree, freed)


def _outward(tree: Tree, freed: list[list[_Freed]]) -> list[Expr]:
    g = tree.system.graph
    vdot: list[Expr] = [g.zero] * tree.nv
    accelerations: list[Motion] = []
    for k, link in enumerate(tree.links):
        R, P = link.pose.R, link.pose.P
        a = Motion(zero_vector(g), zero_vector(g))
        if link.parent >= 0:
            b = accelerations[link.parent]
            a = Motion(rotate_back(R, add(b.linear, cross(b.angular, P))), rotate_back(R, b.angular))
        for i, column in enumerate(reversed(freed[k])):
            S = link.S[i]
            rate = column.u - (dot(column.U.linear, a.linear) + dot(column.U.angular, a.angular))
            vdot[link.places[i]] = rate
            a = Motion(add(a.linear, scale(rate, S.linear)), add(a.angular, scale(rate, S.angular)))
        accelerations.append(a)
    return vdot
