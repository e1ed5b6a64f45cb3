"""A double pendulum: from its Lagrangian to the function that gives its accelerations.

Two point masses m1, m2 (kg) hang one from the other on massless rods of lengths l1, l2 (m). The angles q1, q2 (rad) are
measured from the vertical, v = dq/dt (rad/s), and g is the acceleration of gravity (m/s²).
"""

from __future__ import annotations

from dataclasses import dataclass

from torseur.graph import Function, Graph, Role, cos, gradient, hessian, solve, tangents

PARAMETERS = {"m": [1.0, 1.0], "l": [1.0, 1.0], "g": 9.81}


@dataclass(frozen=True)
class Pendulum:
    """What the demo needs: (q, v, m, l, g) -> (dq/dt, dv/dt), and -> total energy."""

    rate: Function
    energy: Function


def double_pendulum() -> Pendulum:
    """Derive the equations of motion: d/dt (dT/dv) - dT/dq + dV/dq = 0, solved for dv/dt."""
    graph = Graph()
    q, v = graph.block("q", 2), graph.block("v", 2)
    m, l = graph.block("m", 2, Role.PARAMETER), graph.block("l", 2, Role.PARAMETER)  # noqa: E741
    g = graph.symbol("g", Role.PARAMETER)

    m12, q12 = graph.name(m[0] + m[1], "m12"), graph.name(q[0] - q[1], "q12")
    J1 = graph.name(m12 * l[0] ** 2, "J1")
    J2 = graph.name(m[1] * l[1] ** 2, "J2")
    K = graph.name(m[1] * l[0] * l[1], "K")
    W1 = graph.name(m12 * g * l[0], "W1")
    W2 = graph.name(m[1] * g * l[1], "W2")
    T = 0.5 * (J1 * v[0] ** 2 + J2 * v[1] ** 2) + K * cos(q12) * (v[0] * v[1])
    V = -W1 * cos(q[0]) - W2 * cos(q[1])

    M = hessian(T, list(v))
    coriolis = tangents(gradient(T, list(v)), dict(zip(q, v, strict=True)))  # d(dT/dv)/dq v
    b = [f - c for f, c in zip(gradient(T - V, list(q)), coriolis, strict=True)]
    for i in range(2):
        graph.name(M[i][i], f"M{i + 1}{i + 1}")
        graph.name(b[i], f"b{i + 1}")
    graph.name(M[0][1], "M12")
    a = solve(M, b)

    inputs = [q, v, m, l, graph.blocks["g"]]
    rate = Function("double_pendulum", inputs, {"dq": list(v), "dv": a})
    return Pendulum(rate, Function("energy", inputs, {"E": T + V}))
