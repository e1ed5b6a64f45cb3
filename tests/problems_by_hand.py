"""Small problems with known answers, for the solvers."""

import numpy as np

from torseur.graph import Function, Graph, Role, cos, sin, sqrt
from torseur.simulation.problem import Problem


def oscillator(omega: float = 1.0) -> Problem:
    """q'' = -omega^2 q."""
    g = Graph()
    q, v, p = g.block("q", 1), g.block("v", 1), g.block("p", 1, Role.PARAMETER)
    return Problem(Function("oscillator", [q, v, p], {"dq": [v[0]], "dv": [-p[0] * p[0] * q[0]]}))


def driven() -> Problem:
    """y' = (cos t - 2 t) y: y = exp(sin t - t^2)."""
    g = Graph()
    t, z = g.block("t", (), Role.TIME), g.block("z", 1)
    return Problem(Function("driven", [t, z], {"dz": [(cos(t[0]) - 2.0 * t[0]) * z[0]]}))


def driven_exact(t):
    return np.exp(np.sin(t) - np.asarray(t) ** 2)


def kepler(events: bool = False) -> Problem:
    """Two bodies; p is the gravitational parameter. With events: crossings of the x axis."""
    g = Graph()
    q, v, p = g.block("q", 2), g.block("v", 2), g.block("p", 1, Role.PARAMETER)
    r = sqrt(q[0] * q[0] + q[1] * q[1])
    pull = p[0] / (r * r * r)
    rate = Function("kepler", [q, v, p], {"dq": list(v), "dv": [-pull * q[0], -pull * q[1]]})
    return Problem(rate, events=Function("axis", [q], {"g": [q[1]]}) if events else None)


def kepler_start(e: float) -> np.ndarray:
    return np.array([1.0 - e, 0.0, 0.0, np.sqrt((1.0 + e) / (1.0 - e))])


def ball(gravity: float = 9.81) -> Problem:
    """A point falling on the ground: the event is its height. m is a mode nobody uses, z counts time."""
    g = Graph()
    q, v, z = g.block("q", 1), g.block("v", 1), g.block("z", 1)
    m = g.block("m", 1, Role.INPUT)
    rate = Function("ball", [q, v, z, m], {"dq": [v[0]], "dv": [g.number(-gravity)], "dz": [g.one]})
    return Problem(rate, events=Function("height", [q, m], {"g": [q[0]]}))


def pendulum() -> Problem:
    """q'' = -sin q."""
    g = Graph()
    q, v = g.block("q", 1), g.block("v", 1)
    return Problem(Function("pendulum", [q, v], {"dq": [v[0]], "dv": [-sin(q[0])]}))
