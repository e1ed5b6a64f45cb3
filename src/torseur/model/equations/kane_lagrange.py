"""Kane's ten steps, written out; and Lagrange's method: energies, derivatives, Christoffel's symbols, equations."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from torseur.describe import Mechanism
from torseur.describe.checks import checked
from torseur.dynamics.analytical.kane import Kane, kane
from torseur.dynamics.analytical.lagrange import Lagrange, lagrange
from torseur.dynamics.workbench import Options, Workbench
from torseur.emit.text.latex import symbol
from torseur.graph import Expr, substitute
from torseur.model.equations.closed_form import simplifier
from torseur.model.equations.equations import Line, Step, Steps, line_of

__all__ = ["KaneSteps", "LagrangeSteps", "kane_steps", "lagrange_steps"]


@dataclass(frozen=True)
class KaneSteps(Steps):
    """The ten steps of one mechanism, and the reactions after them.

    Attributes:
        kane: the expressions.
    """

    kane: Kane


def kane_steps(mechanism: Mechanism, *, independent: Sequence[str] | None = None, loads: bool = True) -> KaneSteps:
    """The ten steps of DeSantis 1996, section 5, for a mechanism with any loops and constraints.

    Args:
        mechanism: the description; parameters stay symbols.
        independent: names of speeds, or quasi-speeds "alpha = formula of speeds"; chosen where none are given.
        loads: with springs, friction, efforts, wrenches and drag.
    """
    options = Options(
        base_parameters=False, loads=loads, independent=None if independent is None else tuple(independent)
    )
    w = Workbench(checked(mechanism), options)
    simplify = simplifier(w)
    method = kane(w, simplify=simplify)
    title = f"Kane's method (DeSantis 1996, section 5): {mechanism.name}"
    return KaneSteps(
        title,
        tuple(_kanes_steps(w, method, getattr(simplify, "assumed", ()))),
        tuple(w.system.graph.blocks.values()),
        method,
    )


# -- what the steps say ------------------------------------------------------------------------------------------------
def _kanes_steps(w: Workbench, k: Kane, assumed: Sequence[str]) -> Iterator[Step]:
    """In the order of the document."""
    zero = w.system.graph.zero
    yield Step("Bodies, each with a frame", tuple(_bodies(k)))
    yield Step("Coordinates q", (", ".join(k.coordinates),))
    yield Step("Places and orientations chi = f(q)", (), tuple(_configurations(k)))
    velocities = "dq/dt" if k.by_rates else "v"
    stacked = iter(k.J_h)
    lines = [line_of("J_h", body.name, [next(stacked) for _ in body.rows]) for body in k.bodies]
    yield Step(f"Velocities in the axes of the bodies, nu = J_h {velocities}", _order(k), tuple(lines))
    yield Step(*_constraints(k, velocities, zero, assumed))
    yield Step(
        "nu = J alpha, J = J_h J_nh",
        (),
        (Line("J", "J", k.J), Line("J_dot", r"\dot{J}", k.J_dot)),
    )
    masses = [line_of("M", body.name, body.M) for body in k.bodies]
    turning = [line_of("W", body.name, body.W) for body in k.bodies]
    yield Step("M = diag(M_i), W = diag(W_i)", (), (*masses, *turning))
    yield Step(*_partial_forces(w, k, zero))
    yield Step(*_model(k, zero))
    yield Step(*_state(k))
    if k.reactions:
        yield Step(
            "Reactions: multipliers of the rows, as forces A' lambda on the speeds",
            ("at accelerations of alpha as they come out of step 10",),
            tuple(line_of("lambda", name, x) for name, x in zip(k.row_names, k.reactions, strict=True)),
            numbered=False,
        )


def _bodies(k: Kane) -> Iterator[str]:
    for number, body in enumerate(k.bodies, 1):
        yield f"{number}: {body.name}, moved by {', '.join(body.rows)} in its own axes"


def _configurations(k: Kane) -> Iterator[Line]:
    for body in k.bodies:
        if body.chi:
            yield line_of("chi", body.name, list(body.chi.values()))
        if body.R is not None:
            yield line_of("R", body.name, body.R)


def _order(k: Kane) -> tuple[str, ...]:
    return (f"columns: {', '.join(k.velocities)}",)


def _constraints(
    k: Kane, velocities: str, zero: Expr, assumed: Sequence[str]
) -> tuple[str, tuple[str, ...], tuple[Line, ...]]:
    title = f"Generalised speeds alpha: {velocities} = J_nh alpha, H J_nh = 0"
    words, lines = [f"alpha = ({', '.join(k.alpha_names)})"], []
    if k.H:
        words.insert(0, f"rows of H: {', '.join(k.row_names)}")
        lines.append(Line("H", "H", k.H))
        words += (
            [f"rows that hold by themselves or follow from others, left out: {', '.join(k.repeating)}"]
            if k.repeating
            else []
        )
        words += [f"for {', '.join(assumed)}, as at the start"] if assumed else []
    else:
        words.insert(0, "no constraints")
    lines.append(Line("J_nh", r"J_{nh}", k.J_nh))
    if any(x is not zero for x in k.s):
        words.append(f"driven motions: {velocities} = J_nh alpha + s")
        lines.append(Line("s", "s", k.s))
    return title, tuple(words), tuple(lines)


def _partial_forces(w: Workbench, k: Kane, zero: Expr) -> tuple[str, tuple[str, ...], tuple[Line, ...]]:
    lines = [line_of("omega", body.name, body.omega) for body in k.bodies if any(x is not zero for x in body.omega)]
    words = [] if lines else ["none"]
    if any(x is not zero for x in k.Q):
        words.append(f"Q: forces of loads along {', '.join(w.system.v.names)}")
        lines.append(Line("Q", "Q", k.Q))
    return "Active forces and moments omega_a", tuple(words), tuple(lines)


def _model(k: Kane, zero: Expr) -> tuple[str, tuple[str, ...], tuple[Line, ...]]:
    along = " + N' Q, where v = N alpha" if any(x is not zero for x in k.Q) else ""
    words = ["D = J' M J", "C = J' (M dJ/dt + W M J)", f"tau = J' omega_a{along}"]
    lines = [Line("D", "D", k.D), Line("C", "C", k.C), Line("tau", r"\tau", k.tau)]
    if k.d:
        words.append("d: the force of driven motions, D dalpha/dt = -C alpha - d + tau")
        lines.append(Line("d", "d", k.d))
    if k.controls:
        words.append("columns of controls: tau_u = dtau/du of each input u, tau_0 the rest of tau")
        free = dict.fromkeys(k.inputs, 0.0)
        lines.append(Line("tau_0", r"\tau_{0}", substitute(k.tau, free), many=True))
        lines += [line_of("tau", name, column) for name, column in k.controls.items()]
    words.append("g_0 = -D^-1 C alpha" if not k.d else "g_0 = -D^-1 (C alpha + d)")
    words.append("g_w = D^-1")
    lines += [Line("g_0", "g_{0}", k.g_0, True), Line("g_w", "g_{w}", k.g_w, True)]
    return "The model", tuple(words), tuple(lines)


def _state(k: Kane) -> tuple[str, tuple[str, ...], tuple[Line, ...]]:
    driven = " + s" if any(not x.is_number or float(x) != 0.0 for x in k.s) else ""
    words = [
        f"dalpha/dt = g_0 + g_w tau{_by_controls(k)}",
        f"{'dq/dt' if k.by_rates else 'v'} = J_nh alpha{driven}",
        "chi = f(q)",
    ]
    lines = () if k.by_rates else (Line("qdot", r"\dot{q}", k.qdot),)
    return "State equations", tuple(words), lines


def _by_controls(k: Kane) -> str:
    """= g_0 + g_w tau_0 + g_F1 F1 + ..., g_F1 = g_w tau_F1."""
    if not k.controls:
        return ""
    return f" = g_0 + g_w (tau_0 + {' + '.join(f'tau_{name} {name}' for name in k.controls)})"


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
    method = lagrange(w)
    title = f"Lagrange's method: {mechanism.name}"
    return LagrangeSteps(title, tuple(_lagranges_steps(w, method)), tuple(w.system.graph.blocks.values()), method)


# -- what the steps say ------------------------------------------------------------------------------------------------
def _lagranges_steps(w: Workbench, f: Lagrange) -> Iterator[Step]:
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
    yield Step(*_generalised_forces(f, names, zero))
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


def _generalised_forces(f: Lagrange, names: list[str], zero: Expr) -> tuple[str, tuple[str, ...], tuple[Line, ...]]:
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
