"""Kane's ten steps, written out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from torseur.describe import Mechanism
from torseur.dynamics.analytical.kane import Kane, kane
from torseur.dynamics.workbench import Options, Workbench
from torseur.graph import Expr, substitute
from torseur.model.checked import checked
from torseur.model.equations.closed_form import simplifier
from torseur.model.equations.steps import Line, Step, Steps, line_of

__all__ = ["KaneSteps", "kane_steps"]


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
    found = kane(w, simplify=simplify)
    title = f"Kane's method (DeSantis 1996, section 5): {mechanism.name}"
    return KaneSteps(
        title, tuple(_steps(w, found, getattr(simplify, "assumed", ()))), tuple(w.system.graph.blocks.values()), found
    )


# -- what the steps say ------------------------------------------------------------------------------------------------
def _steps(w: Workbench, k: Kane, assumed: Sequence[str]) -> Iterator[Step]:
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
    yield Step(*_forces(w, k, zero))
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


def _forces(w: Workbench, k: Kane, zero: Expr) -> tuple[str, tuple[str, ...], tuple[Line, ...]]:
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
