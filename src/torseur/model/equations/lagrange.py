"""Lagrange's method, written out: energies, their derivatives, Christoffel's symbols, equations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from torseur.describe import Mechanism
from torseur.dynamics.analytical.lagrange import Lagrange, lagrange
from torseur.dynamics.workbench import Options, Workbench
from torseur.emit.text.latex import symbol
from torseur.graph import Expr
from torseur.model.checked import checked
from torseur.model.equations.steps import Line, Step, Steps, line_of

__all__ = ["LagrangeSteps", "lagrange_steps"]


@dataclass(frozen=True)
class LagrangeSteps(Steps):
    """The steps of one mechanism.

    Attributes:
        lagrange: the expressions.
    """

    lagrange: Lagrange


def lagrange_steps(mechanism: Mechanism, *, loads: bool = True) -> LagrangeSteps:
    """Lagrange's equations step by step, for a mechanism whose speeds are the rates of its coordinates.

    Args:
        mechanism: the description; parameters stay symbols. Loops and constraints have multipliers.
        loads: with springs, friction, efforts, wrenches and drag.
    """
    w = Workbench(checked(mechanism), Options(base_parameters=False, loads=loads))
    found = lagrange(w)
    title = f"Lagrange's method: {mechanism.name}"
    return LagrangeSteps(title, tuple(_steps(w, found)), tuple(w.system.graph.blocks.values()), found)


# -- what the steps say ------------------------------------------------------------------------------------------------
def _steps(w: Workbench, f: Lagrange) -> Iterator[Step]:
    names, zero = list(w.system.q.names), w.system.graph.zero
    yield Step("Coordinates q", (", ".join(names),))
    places = tuple(line_of("P", name, list(P)) for name, P in f.places.items())
    yield Step("Places of the bodies' origins in the world", (), places)
    linear = [line_of("V", name, list(m.linear)) for name, m in f.velocities.items()]
    angular = [line_of("w", name, list(m.angular)) for name, m in f.velocities.items()]
    yield Step("Velocities of the origins and angular velocities, in the axes of the bodies", (), (*linear, *angular))
    parts = tuple(line_of("T", name, x) for name, x in f.T_parts.items())
    words = ("T_i = 1/2 (m V.V + w.J w) + V.(w x ms): m, ms, J are mass, first moments and tensor at the origin",)
    yield Step("Kinetic energy T", words, (*parts, Line("T", "T", f.T)))
    parts = tuple(line_of("U", name, x) for name, x in f.U_parts.items())
    yield Step("Potential energy U", _potential(f), (*parts, Line("U", "U", f.U)))
    yield Step("Lagrangian L = T - U and its derivatives", (), tuple(_derivatives(names, f)))
    yield Step("Inertia matrix M = d2T/dv2", ("T = 1/2 v' M v",), (Line("M", "M", f.M),))
    yield Step(*_christoffel(f, zero))
    yield Step("Velocity terms and weight", ("C_ij = sum over k of c_ijk dq_k", "G_i = dU/dq_i"), _terms(f))
    yield Step(*_forces(f, names, zero))
    yield Step(*_equations(f, zero))


def _potential(f: Lagrange) -> tuple[str, ...]:
    return ("gravity, zero at the world's origin; springs",) if f.U_parts else ("none",)


def _derivatives(names: list[str], f: Lagrange) -> Iterator[Line]:
    for name, p, p_dot, by_q in zip(names, f.p, f.p_dot, f.by_q, strict=True):
        q, rate = symbol(name), symbol(re.sub(r"^([A-Za-z]+)", r"\1dot", name))
        slope = rf"\frac{{\partial L}}{{\partial {rate}}}"
        yield Line(f"dL_dd{name}", slope, p)
        yield Line(f"dt_dL_dd{name}", rf"\frac{{d}}{{dt}} {slope}", p_dot)
        yield Line(f"dL_d{name}", rf"\frac{{\partial L}}{{\partial {q}}}", by_q)


def _christoffel(f: Lagrange, zero: Expr) -> tuple[str, tuple[str, ...], tuple[Line, ...]]:
    lines = [
        Line(f"c_{i + 1}_{j + 1}_{k + 1}", f"c_{{{i + 1}{j + 1}{k + 1}}}", f.c[i][j][k], many=True)
        for i in range(len(f.c))
        for j in range(len(f.c))
        for k in range(j, len(f.c))
        if f.c[i][j][k] is not zero
    ]
    words = (
        "c_i_j_k = 1/2 (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) = c_i_k_j",
        "those that are not listed are zero" if lines else "all are zero",
    )
    return "Christoffel's symbols", words, tuple(lines)


def _terms(f: Lagrange) -> tuple[Line, ...]:
    return (Line("C", "C", f.C), Line("G", "G", f.G))


def _forces(f: Lagrange, names: list[str], zero: Expr) -> tuple[str, tuple[str, ...], tuple[Line, ...]]:
    title = "Forces of loads along the coordinates, what has a potential left out"
    if all(x is zero for x in f.Q):
        return title, ("none",), ()
    return title, (f"rows: {', '.join(names)}",), (Line("Q", "Q", f.Q),)


def _equations(f: Lagrange, zero: Expr) -> tuple[str, tuple[str, ...], tuple[Line, ...]]:
    words = ["d/dt (dL/dv) - dL/dq = M dv/dt + C v + G = tau + Q, tau: what is added to the loads"]
    lines = [Line("tau", r"\tau", f.tau)]
    if f.A:
        words[0] = words[0].replace("tau + Q", "tau + Q + A' lam")
        words.append(f"A: rows of {', '.join(f.row_names)}, with multipliers lam")
        lines.insert(0, Line("A", "A", f.A))
    return "Equations of motion", tuple(words), tuple(lines)
