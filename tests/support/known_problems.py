"""Small problems with known answers, for the solvers."""

import numpy as np

from torseur.graph import (
    Function,
    Graph,
    Role,
    cos,
    jacobian,
    minimum_norm_solve,
    select,
    sin,
    sqrt,
    substitute,
    tangents,
)
from torseur.simulation.solvers.problem import Implicit, Problem


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


def ball(gravity: float = 9.81, ground: float = 0.0) -> Problem:
    """A point falling on the ground: the event is its height. m is a mode nobody uses, z counts time."""
    g = Graph()
    q, v, z = g.block("q", 1), g.block("v", 1), g.block("z", 1)
    m = g.block("m", 1, Role.INPUT)
    rate = Function("ball", [q, v, z, m], {"dq": [v[0]], "dv": [g.number(-gravity)], "dz": [g.one]})
    return Problem(rate, events=Function("height", [q, m], {"g": [q[0] - ground]}))


def pendulum() -> Problem:
    """q'' = -sin q."""
    g = Graph()
    q, v = g.block("q", 1), g.block("v", 1)
    return Problem(Function("pendulum", [q, v], {"dq": [v[0]], "dv": [-sin(q[0])]}))


def second_order(
    accelerations, n: int, *, rows=(), nz: int = 0, rates=None, corrects: bool = False, parameters: int = 0
) -> Problem:
    """A problem with unit masses and coordinates whose rates are the speeds, in both forms.

    Args:
        accelerations: (t, q, v, z, p) -> the n forces.
        rows: (t, q) -> holonomic constraints, as functions.
        rates: (t, q, v, z, p) -> dz.
        corrects: project positions and speeds on the constraints.
    """
    g = Graph()
    t, q, v = g.block("t", (), Role.TIME), g.block("q", n), g.block("v", n)
    z = g.block("z", nz) if nz else ()
    p = g.block("p", parameters, Role.PARAMETER) if parameters else ()
    blocks = [b for b in (t, q, v, z, p) if b]
    force = [g.expr(f) for f in accelerations(t[0], list(q), list(v), list(z), list(p))]
    dz = [g.expr(f) for f in rates(t[0], list(q), list(v), list(z), list(p))] if nz else []
    h = [row(t[0], list(q)) for row in rows]
    H = jacobian(h, list(q)).dense() if h else []
    speed = [sum((a * b for a, b in zip(row, v, strict=True)), g.zero) for row in H]
    m = len(h)

    def at_acceleration_level():
        """H a = -dH/dt v, a = f + H' lambda; constraints that do not depend on time."""
        if not h:
            return force
        bias = tangents(speed, dict(zip(q, v, strict=True)))
        S = [[sum((a * b for a, b in zip(H[i], H[j], strict=True)), g.zero) for j in range(m)] for i in range(m)]
        right = [
            -b - sum((a * f for a, f in zip(row, force, strict=True)), g.zero) for b, row in zip(bias, H, strict=True)
        ]
        lam, _ = minimum_norm_solve(S, right)
        return [f + sum((H[k][i] * lam[k] for k in range(m)), g.zero) for i, f in enumerate(force)]

    rate = Function("rate", blocks, {"dq": list(v), "dv": at_acceleration_level()} | ({"dz": dz} if nz else {}))
    vdot, lam = g.block("vdot", n), g.block("lam", m) if m else ()
    r = [
        a - f - sum((H[k][i] * lam[k] for k in range(m)), g.zero)
        for i, (a, f) in enumerate(zip(vdot, force, strict=True))
    ]
    more = [*blocks, vdot, *([lam] if m else [])]
    residual = {"r": r} | ({"h": h} if m else {}) | ({"dz": dz} if nz else {})
    tangent = {name: jacobian(r, list(b)).dense() for name, b in (("M", vdot), ("C", v), ("K", q))}
    tangent |= {"H": H, "A": H} if m else {}
    d = g.block("d", n)
    implicit = Implicit(
        Function("residual", more, residual),
        Function("tangent", more, tangent),
        Function("displace", [q, d], {"q": [a + b for a, b in zip(q, d, strict=True)]}),
        (True,) * m,
    )
    return Problem(rate, correct=_projection(rows, n) if corrects else None, implicit=implicit)


def _projection(rows, n: int) -> Function:
    """Positions on the constraints by three steps of Gauss and Newton, then speeds along them."""
    g = Graph()
    q, v = g.block("q", n), g.block("v", n)

    def moved(x, H, amount):
        S = [[sum((a * b for a, b in zip(r, s, strict=True)), g.zero) for s in H] for r in H]
        lam, _ = minimum_norm_solve(S, amount)
        return [xi - sum((row[i] * k for row, k in zip(H, lam, strict=True)), g.zero) for i, xi in enumerate(x)]

    def table(x):
        H = jacobian([row(g.zero, list(q)) for row in rows], list(q)).dense()
        flat = substitute([e for row in H for e in row], dict(zip(q, x, strict=True)))
        return [flat[k * n : (k + 1) * n] for k in range(len(rows))]

    x = list(q)
    for _ in range(3):
        x = moved(x, table(x), [row(g.zero, x) for row in rows])
    H = table(x)
    speeds = moved(list(v), H, [sum((a * b for a, b in zip(row, v, strict=True)), g.zero) for row in H])
    return Function("project", [q, v], {"q": x, "v": speeds})


def pendulum_in_the_plane(corrects: bool = False) -> Problem:
    """A point of unit mass on a circle of unit radius, in x and y, under its weight 1."""
    return second_order(
        lambda t, q, v, z, p: [0.0, -1.0],
        2,
        rows=[lambda t, q: 0.5 * (q[0] * q[0] + q[1] * q[1] - 1.0)],
        corrects=corrects,
    )


def free_top(inertia=(1.0, 2.0, 3.0)) -> Problem:
    """A rigid body turning freely: unit quaternion q = (w, x, y, z), body-fixed angular speeds v, in both forms."""
    g = Graph()
    q, v = g.block("q", 4), g.block("v", 3)
    vdot, d = g.block("vdot", 3), g.block("d", 3)
    a, b, c = inertia
    gyro = [(c - b) * v[1] * v[2], (a - c) * v[2] * v[0], (b - a) * v[0] * v[1]]
    r = [i * x + n for i, x, n in zip(inertia, vdot, gyro, strict=True)]
    rate = {"dq": times(q, [0.0, *(0.5 * x for x in v)]), "dv": [-n / i for i, n in zip(inertia, gyro, strict=True)]}
    zero = [[g.zero] * 3 for _ in range(3)]
    tangent = {"M": jacobian(r, list(vdot)).dense(), "C": jacobian(r, list(v)).dense(), "K": zero}
    angle = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2])
    still = angle < 1e-30
    half = 0.5 * select(still, 1.0, angle)
    s = select(still, 0.5, sin(half) / (2.0 * half))
    turn = [select(still, 1.0, cos(half)), s * d[0], s * d[1], s * d[2]]
    norm = sqrt(sum((x * x for x in q), g.zero))
    return Problem(
        Function("top", [q, v], rate),
        correct=Function("unit", [q, v], {"q": [x / norm for x in q], "v": list(v)}),
        implicit=Implicit(
            Function("residual", [q, v, vdot], {"r": r}),
            Function("tangent", [q, v, vdot], tangent),
            Function("displace", [q, d], {"q": times(q, turn)}),
        ),
    )


def times(p, q) -> list:
    """The product of two quaternions, scalar first."""
    a, b, c, d = p
    w, x, y, z = q
    return [
        a * w - b * x - c * y - d * z,
        a * x + b * w + c * z - d * y,
        a * y - b * z + c * w + d * x,
        a * z + b * y - c * x + d * w,
    ]


def van_der_pol() -> Problem:
    """z1' = z2, z2' = ((1 - z1^2) z2 - z1) / p."""
    g = Graph()
    z, p = g.block("z", 2), g.block("p", 1, Role.PARAMETER)
    return Problem(Function("van_der_pol", [z, p], {"dz": [z[1], ((1.0 - z[0] * z[0]) * z[1] - z[0]) / p[0]]}))


def robertson() -> Problem:
    """Three reactions, the fast one 10^9 times the slow one."""
    g = Graph()
    z = g.block("z", 3)
    slow, middle, fast = 0.04 * z[0], 1e4 * z[1] * z[2], 3e7 * z[1] * z[1]
    return Problem(Function("robertson", [z], {"dz": [middle - slow, slow - middle - fast, fast]}))


def first_order(rate, n=1, events=None, held=0):
    """z' = rate(t, z, m), with events g(t, z, m)."""
    g = Graph()
    t, z = g.block("t", (), Role.TIME), g.block("z", n)
    m = g.block("m", held, Role.INPUT) if held else ()
    blocks = [b for b in (t, z, m) if b]
    f = Function("rate", blocks, {"dz": rate(t[0], list(z), list(m))})
    e = Function("events", blocks, {"g": events(t[0], list(z), list(m))}) if events else None
    return Problem(f, events=e)
