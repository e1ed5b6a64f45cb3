"""What is measured: inverse dynamics of serial arms, as an example of what the package is for.

A plain Newton-Euler recursion for revolute joints in the modified Denavit-Hartenberg frames of Khalil and Kleinfinger.

=========  =====================================================  ==================
symbol     meaning, for frame j                                   frame, unit
=========  =====================================================  ==================
R, P       rotation to, and origin in, the antecedent frame       j-1, -, m
w, wd      angular velocity and acceleration                      j, rad/s, rad/s²
vd         acceleration of the origin, less gravity               j, m/s²
U          [wd] + [w][w]                                          j, 1/s²
J, MS, M   inertia about the origin, first moments, mass          j, kg m², kg m, kg
f, m       force and moment that body j gets from j-1             j, N, N m
tau        torque of each joint                                   N m
=========  =====================================================  ==================
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from torseur.graph import Expr, Function, Graph, Role, cos, sin

__all__ = ["Joint", "newton_euler", "pendulum", "random_chain", "random_mix", "rx90"]

Vector = list[Expr]
Matrix = list[Vector]


@dataclass(frozen=True)
class Joint:
    """Where a frame stands in the one before: Rx(alpha) Tx(d) Rz(q) Tz(r)."""

    alpha: float
    d: Expr | float
    r: Expr | float


def rx90() -> Function:
    """Inverse dynamics of a six-axis arm with the geometry of the Stäubli RX90 and general inertias."""
    g = Graph()
    D3, RL4 = g.block("geometry", 2, Role.PARAMETER, names=["D3", "RL4"])
    h = math.pi / 2
    shoulder = [Joint(0.0, 0.0, 0.0), Joint(h, 0.0, 0.0), Joint(0.0, D3, 0.0)]
    wrist = [Joint(-h, 0.0, RL4), Joint(h, 0.0, 0.0), Joint(-h, 0.0, 0.0)]
    return newton_euler("rx90", g, [*shoulder, *wrist])


def random_chain(joints: int, seed: int = 0) -> Function:
    """Inverse dynamics of a serial arm without a single right angle."""
    rng = np.random.default_rng(seed)
    rows = rng.uniform([-3.0, 0.1, 0.1], [3.0, 0.5, 0.5], (joints, 3)).tolist()
    return newton_euler(f"chain{joints}", Graph(), [Joint(*row) for row in rows])


def newton_euler(name: str, g: Graph, joints: Sequence[Joint]) -> Function:
    """(q, v, vdot, parameters) -> tau, with gravity along -z of the base and ten inertial parameters for each body."""
    n, Z = len(joints), g.zero
    q, v, a = (g.block(word, n) for word in ("q", "v", "a"))
    words = ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "MX", "MY", "MZ", "M")
    labels = [f"{word}{j}" for j in range(1, n + 1) for word in words]
    inertia = g.block("inertia", (n, 10), Role.PARAMETER, names=labels)
    gravity = g.symbol("gravity", Role.PARAMETER)

    w, wd, vd, U = [Z] * 3, [Z] * 3, [Z, Z, gravity], [[Z] * 3] * 3
    R, P, f, m = [], [], [], []
    for j, joint in enumerate(joints):
        XX, XY, XZ, YY, YZ, ZZ, MX, MY, MZ, M = inertia.symbols[10 * j : 10 * j + 10]
        Rj, Pj = _pose(joint, q[j])
        vd = _times(_transposed(Rj), _plus(vd, _times(U, Pj)))
        w, wd = _times(_transposed(Rj), w), _times(_transposed(Rj), wd)
        wd = [wd[0] + w[1] * v[j], wd[1] - w[0] * v[j], wd[2] + a[j]]
        w = [w[0], w[1], w[2] + v[j]]
        U = _U(w, wd)
        J, MS = [[XX, XY, XZ], [XY, YY, YZ], [XZ, YZ, ZZ]], [MX, MY, MZ]
        f.append(_plus(_times(U, MS), [M * x for x in vd]))
        m.append(_plus(_plus(_times(J, wd), _cross(w, _times(J, w))), _cross(MS, vd)))
        R.append(Rj)
        P.append(Pj)
    for j in range(n - 1, 0, -1):
        fj = _times(R[j], f[j])
        f[j - 1] = _plus(f[j - 1], fj)
        m[j - 1] = _plus(_plus(m[j - 1], _times(R[j], m[j])), _cross(P[j], fj))
    parameters = [b for b in g.blocks.values() if b.role is Role.PARAMETER]
    return Function(name, [q, v, a, *parameters], {"tau": [mj[2] for mj in m]})


def _pose(joint: Joint, q: Expr) -> tuple[Matrix, Vector]:
    g = q.graph
    ca, sa = (g.number(round(x, 15)) for x in (math.cos(joint.alpha), math.sin(joint.alpha)))
    d, r, c, s = g.expr(joint.d), g.expr(joint.r), cos(q), sin(q)
    return [[c, -s, g.zero], [ca * s, ca * c, -sa], [sa * s, sa * c, ca]], [d, -sa * r, ca * r]


def _U(w: Vector, wd: Vector) -> Matrix:
    x, y, z = w
    xx, yy, zz, xy, xz, yz = x * x, y * y, z * z, x * y, x * z, y * z
    return [
        [-(yy + zz), xy - wd[2], xz + wd[1]],
        [xy + wd[2], -(xx + zz), yz - wd[0]],
        [xz - wd[1], yz + wd[0], -(xx + yy)],
    ]


def _times(A: Matrix, x: Vector) -> Vector:
    return [row[0] * x[0] + row[1] * x[1] + row[2] * x[2] for row in A]


def _transposed(A: Matrix) -> Matrix:
    return [list(column) for column in zip(*A, strict=True)]


def _plus(a: Vector, b: Vector) -> Vector:
    return [x + y for x, y in zip(a, b, strict=True)]


def _cross(a: Vector, b: Vector) -> Vector:
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def pendulum() -> Function:
    """The rate of a simple pendulum: (q, v, g/l) -> (v, -g/l sin q)."""
    g = Graph()
    q, v, ratio = g.symbol("q"), g.symbol("v"), g.symbol("ratio", Role.PARAMETER)
    return Function("pendulum", list(g.blocks.values()), {"dq": v, "dv": -ratio * sin(q)})


def random_mix(operations: int, seed: int = 0) -> Graph:
    """A graph of so many operations on random operands: sums, differences, products and one sine in twenty."""
    rng = np.random.default_rng(seed)
    g = Graph()
    known: list[Expr] = list(g.block("x", 16))
    kinds = rng.choice(4, operations, p=[0.3, 0.3, 0.35, 0.05]).tolist()
    left, right = (rng.random((2, operations)) * (np.arange(operations) + 16)).astype(int).tolist()
    for kind, i, j in zip(kinds, left, right, strict=True):
        a, b = known[i], known[j]
        known.append(a + b if kind == 0 else a - b if kind == 1 else a * b if kind == 2 else sin(a))
    return g
