"""The operators of vectors, motions, wrenches, inertias and poses, against six-by-six matrices of numbers.

The matrices are Featherstone's, with the linear part first: a motion in the parent is X times one in the frame,
a wrench transforms with the inverse transposed, an inertia with both.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.sweeps import mostly_slow
from torseur.graph import Function, Graph, evaluate
from torseur.spatial import Inertia, Matrix, Motion, Pose, Step, StepKind, Vector, Wrench, cross, dot, product
from torseur.spatial.inertia import ArticulatedInertia

G = Graph()
SEEDS = st.integers(0, 2**32 - 1)


def skew(u):
    return np.array([[0, -u[2], u[1]], [u[2], 0, -u[0]], [-u[1], u[0], 0]])


def vector(u):
    return Vector(*(G.number(float(x)) for x in u))


def matrix(A):
    return Matrix(*(vector(row) for row in A))


def pair(kind, six):
    return kind(vector(six[:3]), vector(six[3:]))


def numbers(x):
    """Nested tuples of constants as an array."""
    return np.array([numbers(part) for part in x]) if isinstance(x, tuple) else float(x)


def six(x):
    return np.array([float(part) for part in x.six])


class Frame:
    """A random pose, as one and as matrices of motions and wrenches from the frame to its parent."""

    def __init__(self, rng, *, about=None):
        kinds = [StepKind.ROTATE_X, StepKind.ROTATE_Y, StepKind.ROTATE_Z]
        turns = kinds if about is None else [kinds[about]]
        steps = [Step(kind, G.number(rng.normal())) for kind in turns]
        P = rng.normal(size=3)
        self.X = Pose(product(G, steps).R, vector(P))
        self.R = numbers(self.X.R)
        zero = np.zeros((3, 3))
        self.motion = np.block([[self.R, skew(P) @ self.R], [zero, self.R]])
        self.wrench = np.linalg.inv(self.motion).T


def body(rng):
    """A random body, and its matrix from motions to momenta."""
    A = rng.normal(size=(3, 3))
    J, MS, M = A @ A.T, rng.normal(size=3), rng.uniform(0.1, 3.0)
    table = np.block([[M * np.eye(3), -skew(MS)], [skew(MS), J]])
    return Inertia(matrix(J), vector(MS), G.number(M)), table


def table_of(inertia):
    """The six-by-six matrix of an inertia of any kind, column by column."""
    return np.array([six(inertia @ pair(Motion, unit)) for unit in np.eye(6)]).T


@given(SEEDS)
def test_vectors_and_matrices_do_what_arrays_do(seed):
    rng = np.random.default_rng(seed)
    u, v, A, B = rng.normal(size=3), rng.normal(size=3), rng.normal(size=(3, 3)), rng.normal(size=(3, 3))
    U, V, C, D = vector(u), vector(v), matrix(A), matrix(B)
    pairs = [
        (U + V, u + v),
        (U - V, u - v),
        (-U, -u),
        (2.5 * U, 2.5 * u),
        (G.number(2.5) * U, 2.5 * u),
        (U / 2.5, u / 2.5),
        (cross(U, V), np.cross(u, v)),
        (dot(U, V), u @ v),
        (C @ U, A @ u),
        (C @ D, A @ B),
        (C.T, A.T),
        (C + D - 0.5 * C, 0.5 * A + B),
        (U.skew, skew(u)),
        (U.outer(V), np.outer(u, v)),
    ]
    for found, expected in pairs:
        np.testing.assert_allclose(numbers(found), expected, rtol=0, atol=1e-14)


@given(SEEDS)
def test_poses_take_motions_and_wrenches_there_and_back(seed):
    rng = np.random.default_rng(seed)
    f, V, F = Frame(rng), rng.normal(size=6), rng.normal(size=6)
    motion, wrench = pair(Motion, V), pair(Wrench, F)
    for found, expected in (
        (f.X @ motion, f.motion @ V),
        (f.X.inv @ motion, np.linalg.solve(f.motion, V)),
        (f.X @ wrench, f.wrench @ F),
        (f.X.inv @ wrench, np.linalg.solve(f.wrench, F)),
    ):
        np.testing.assert_allclose(six(found), expected, rtol=0, atol=1e-12)
    assert float(dot(f.X @ motion, f.X @ wrench)) == pytest.approx(V @ F, abs=1e-12)


@given(SEEDS)
def test_poses_multiply_as_homogeneous_matrices(seed):
    rng = np.random.default_rng(seed)
    a, b = Frame(rng).X, Frame(rng).X
    A, B = (np.array([[float(x) for x in row] for row in X.matrix()]) for X in (a, b))
    for found, expected in ((a @ b, A @ B), (a.inverse(), np.linalg.inv(A))):
        np.testing.assert_allclose(np.array(found.matrix(), dtype=float), expected, rtol=0, atol=1e-14)


@given(SEEDS)
def test_what_a_velocity_carries_along_keeps_its_power(seed):
    """cross(V, .) is ad(V) on motions and -ad(V)' on wrenches."""
    rng = np.random.default_rng(seed)
    V, S, F = (rng.normal(size=6) for _ in range(3))
    zero = np.zeros((3, 3))
    ad = np.block([[skew(V[3:]), skew(V[:3])], [zero, skew(V[3:])]])
    np.testing.assert_allclose(six(cross(pair(Motion, V), pair(Motion, S))), ad @ S, rtol=0, atol=1e-14)
    np.testing.assert_allclose(six(cross(pair(Motion, V), pair(Wrench, F))), -ad.T @ F, rtol=0, atol=1e-14)


@pytest.mark.parametrize("about", [None, 0, 1, 2])
@given(seed=SEEDS)
def test_inertias_are_the_same_ownin_every_frame(about, seed):
    rng = np.random.default_rng(seed)
    f, (own, table) = Frame(rng, about=about), body(rng)
    V = rng.normal(size=6)
    np.testing.assert_allclose(table_of(own), table, rtol=0, atol=1e-13)
    assert float(own.kinetic_energy(pair(Motion, V))) == pytest.approx(0.5 * V @ table @ V, abs=1e-12)
    there = f.wrench @ table @ np.linalg.inv(f.motion)
    np.testing.assert_allclose(table_of(f.X @ own), there, rtol=0, atol=1e-11)
    np.testing.assert_allclose(
        numbers(own.moment_of_mass(f.X)), there[3:, :3][[2, 0, 1], [1, 2, 0]], rtol=0, atol=1e-12
    )


@pytest.mark.parametrize("about", mostly_slow([None, 0, 1, 2], quick=(None, 2)))
@pytest.mark.parametrize("axis", mostly_slow([None, *range(6)], quick=(None, 1, 5)))
@given(seed=SEEDS)
def test_a_free_column_leaves_the_rest_of_an_articulated_inertia(about, axis, seed):
    """I - U U' / D, of a body that already has lost a column; then seen from the parent."""
    rng = np.random.default_rng(seed)
    f, (rigid, table) = Frame(rng, about=about), body(rng)
    own = ArticulatedInertia.of(rigid + rigid)
    table = 2.0 * table
    for S, gone in ((rng.normal(size=6), None), (rng.normal(size=6) if axis is None else np.eye(6)[axis], axis)):
        U = own @ pair(Motion, S)
        inverse = 1.0 / dot(pair(Motion, S), U)
        u = table @ S
        own, table = own.freed(U, inverse, gone), table - np.outer(u, u) / (S @ u)
        scale = np.abs(table).max() + 1.0
        np.testing.assert_allclose(table_of(own), table, rtol=0, atol=1e-9 * scale)
        if gone is not None:
            assert all(x is G.zero for x in (own @ pair(Motion, np.eye(6)[gone])).six)
    there = f.wrench @ table @ np.linalg.inv(f.motion)
    np.testing.assert_allclose(table_of(f.X @ own), there, rtol=0, atol=1e-8 * (np.abs(there).max() + 1.0))


def test_only_things_of_one_kind_are_added():
    V, F = Motion.zero(G), Wrench.zero(G)
    for attempt in (lambda: V + F, lambda: V - F, lambda: V + tuple(V), lambda: V.linear + V):
        with pytest.raises(TypeError):
            attempt()


def test_what_is_zero_or_one_takes_no_operation():
    """A rotation about z and a column about z: what is left is what a person would write."""
    g = Graph()
    q, f = g.symbol("q"), g.block("f", 6)
    X = product(g, [Step(StepKind.ROTATE_Z, q)])
    S, F = Motion(Vector.zero(g), Vector.unit(g, 2)), Wrench.of(f)
    assert dot(S, F) is f[5]
    assert (X @ S) == S == X.inv @ S
    assert (X @ F).force[2] is f[2]
    assert Pose.identity(g) @ F == F
    assert Inertia.zero(g) @ S == Wrench.zero(g)


def test_expressions_multiply_vectors_from_either_side():
    g = Graph()
    s, u = g.symbol("s"), Vector(*g.block("u", 3))
    assert s * u == u * s
    check = Function("product", [*g.blocks.values()], {"y": list(s * u)})
    np.testing.assert_array_equal(evaluate(check, 2.0, [1.0, 2.0, 3.0])[0], [2.0, 4.0, 6.0])
