"""Kane's ten steps, written out for people: text and LaTeX, simplified where that is possible.

Small expressions are written without intermediate results (that takes sympy); larger ones, or all of them where sympy
is not installed, as listings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from textwrap import indent
from typing import Any

from torseur.describe import Mechanism
from torseur.dynamics.kane import Kane, kane
from torseur.dynamics.workbench import Options, Workbench, collect
from torseur.emit.text import to_latex, to_listing
from torseur.emit.text.latex_names import symbol
from torseur.errors import CompileError, MissingExtra
from torseur.graph import Block, Expr, Function, count, ops
from torseur.graph.function import reachable
from torseur.model.checked import checked
from torseur.model.closed import LARGEST, Closed, closed_form
from torseur.model.swelling import terms_of

__all__ = ["KaneSteps", "Line", "Step", "kane_steps"]

_WIDEST = 110
"""Characters beyond which a matrix is written entry by entry."""

_MANY, _FEW = 600, 60
"""Terms up to which expressions are multiplied out; the fewer for what follows from the lines before."""


@dataclass(frozen=True)
class Line:
    """One equation of a step: its name as a word and in LaTeX, and an expression, column or matrix.

    One that `follows` from others in a way that the words say is written out only where that is short.
    """

    name: str
    latex: str
    value: Any
    follows: bool = False


@dataclass(frozen=True)
class Step:
    """One of the ten: what is done, in words, and what it gives."""

    title: str
    words: tuple[str, ...] = ()
    lines: tuple[Line, ...] = ()


@dataclass(frozen=True)
class KaneSteps:
    """The ten steps of one mechanism, and the reactions after them.

    Attributes:
        name: of the mechanism.
        kane: the expressions.
        steps: what is printed.
        blocks: the symbols in them.
    """

    name: str
    kane: Kane
    steps: tuple[Step, ...]
    blocks: tuple[Block, ...]

    def text(self) -> str:
        pieces = [f"Kane's method (DeSantis 1996, section 5): {self.name}"]
        for number, step in enumerate(self.steps, 1):
            head = f"{number}. {step.title}" if number <= 10 else step.title
            body = [*step.words, *self._written(number, step, _matrix_text, to_listing)]
            pieces.append("\n".join([head, *(indent(text, "   ") for text in body)]))
        return "\n\n".join(pieces) + "\n"

    def latex(self) -> str:
        pieces = []
        for number, step in enumerate(self.steps, 1):
            head = rf"\paragraph{{{f'{number}. ' if number <= 10 else ''}{_plain_latex(step.title)}}}"
            words = " ".join(_plain_latex(words) + "." for words in step.words)
            pieces += [f"{head} {words}".rstrip(), *self._written(number, step, _matrix_latex, to_latex)]
        return "\n".join(pieces) + "\n"

    def __str__(self) -> str:
        return self.text()

    def _written(
        self, number: int, step: Step, write: Callable[[Line, Closed], str], listing: Callable[[Function], str]
    ) -> Iterator[str]:
        """The lines of a step: first those that can be written out, then one listing of the others."""
        left = []
        for line in step.lines:
            function = self._function(line.name, [line])
            closed = self._closed(function, _FEW if line.follows else _MANY)
            if closed is not None:
                yield write(line, closed)
            elif not line.follows:
                left.append(line)
        if left:
            yield listing(self._function(f"step_{number}" if number <= 10 else "reactions", left)).rstrip()

    def _function(self, name: str, lines: Sequence[Line]) -> Function:
        flat: list[Expr] = []
        collect([line.value for line in lines], flat)
        used = {node.data[0] for node in reachable(flat) if node.op is ops.SYMBOL}
        names = {"q", "v"} | used  # a speed is printed as the rate of its coordinate, which must be known
        return Function(name, [b for b in self.blocks if b.name in names], {line.name: line.value for line in lines})

    def _closed(self, function: Function, most: int) -> Closed | None:
        if terms_of(function) > most or count(function).total > LARGEST:
            return None
        try:
            return closed_form(function, tangents=True)
        except (MissingExtra, CompileError):
            return None


def _matrix_text(line: Line, closed: Closed) -> str:
    rows = closed.written(line.name)
    wide = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    lead = f"{line.name} = "
    if len(lead) + sum(wide) + 2 * len(wide) > _WIDEST:
        return "\n".join(_entry_by_entry(line.name, rows))
    if len(rows) == len(rows[0]) == 1:
        return lead + rows[0][0]
    padded = [f"[{'  '.join(x.ljust(w) for x, w in zip(row, wide, strict=True))}]" for row in rows]
    return lead + ("\n" + " " * len(lead)).join(padded)


def _entry_by_entry(name: str, rows: list[list[str]]) -> Iterator[str]:
    """All that is not zero."""
    for i, row in enumerate(rows, 1):
        for k, text in enumerate(row, 1):
            place = "" if len(rows) == len(row) == 1 else f"[{i}]" if len(row) == 1 else f"[{i},{k}]"
            if text != "0":
                yield f"{name}{place} = {text}"


def _matrix_latex(line: Line, closed: Closed) -> str:
    rows = closed.written(line.name, latex=True)
    body = " \\\\\n".join(" & ".join(row) for row in rows)
    if len(rows) > 1 or len(rows[0]) > 1:
        body = f"\\begin{{pmatrix}}\n{body}\n\\end{{pmatrix}}"
    return f"\\[\n{line.latex} = {body}\n\\]"


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
    found = kane(w)
    return KaneSteps(mechanism.name, found, tuple(_steps(w, found)), tuple(w.system.graph.blocks.values()))


# -- what the steps say ------------------------------------------------------------------------------------------------
def _steps(w: Workbench, k: Kane) -> Iterator[Step]:
    """In the order of the document."""
    zero = w.system.graph.zero
    yield Step("Bodies, each with a frame", tuple(_bodies(k)))
    yield Step("Coordinates q", (", ".join(k.coordinates),))
    yield Step("Places and orientations chi = f(q)", (), tuple(_configurations(k)))
    velocities = "dq/dt" if k.by_rates else "v"
    stacked = iter(k.J_h)
    lines = [_line("J_h", body.name, [next(stacked) for _ in body.rows]) for body in k.bodies]
    yield Step(f"Velocities in the axes of the bodies, nu = J_h {velocities}", _order(k), tuple(lines))
    yield Step(*_constraints(k, velocities, zero))
    yield Step(
        "nu = J alpha, J = J_h J_nh",
        (),
        (Line("J", "J", k.J), Line("J_dot", r"\dot{J}", k.J_dot)),
    )
    masses = [_line("M", body.name, body.M) for body in k.bodies]
    turning = [_line("W", body.name, body.W) for body in k.bodies]
    yield Step("M = diag(M_i), W = diag(W_i)", (), (*masses, *turning))
    yield Step(*_forces(w, k, zero))
    yield Step(*_model(k, zero))
    yield Step(*_state(k))
    if k.reactions:
        yield Step(
            "Reactions: multipliers of the rows, as forces A' lambda on the speeds",
            ("at accelerations of alpha as they come out of step 10",),
            tuple(_line("lambda", name, x) for name, x in zip(k.row_names, k.reactions, strict=True)),
        )


def _line(name: str, of: str, value: Any) -> Line:
    greek = {"lambda": r"\lambda", "omega": r"\omega", "chi": r"\chi"}
    word = "lam" if name == "lambda" else name
    latex = greek.get(name) or symbol(name)
    subscript = rf"\mathrm{{{_plain_latex(of)}}}"
    spelled = f"{latex[:-1]},{subscript}}}" if latex.endswith("}") and "_{" in latex else f"{latex}_{{{subscript}}}"
    return Line(f"{word}_{of}", spelled, value)


def _plain_latex(text: str) -> str:
    return text.replace("_", r"\_").replace("^", r"\^{}")


def _bodies(k: Kane) -> Iterator[str]:
    for number, body in enumerate(k.bodies, 1):
        yield f"{number}: {body.name}, moved by {', '.join(body.rows)} in its own axes"


def _configurations(k: Kane) -> Iterator[Line]:
    for body in k.bodies:
        if body.chi:
            yield _line("chi", body.name, list(body.chi.values()))
        if body.R is not None:
            yield _line("R", body.name, body.R)


def _order(k: Kane) -> tuple[str, ...]:
    return (f"columns: {', '.join(k.velocities)}",)


def _constraints(k: Kane, velocities: str, zero: Expr) -> tuple[str, tuple[str, ...], tuple[Line, ...]]:
    title = f"Generalised speeds alpha: {velocities} = J_nh alpha, H J_nh = 0"
    words, lines = [f"alpha = ({', '.join(k.alpha_names)})"], []
    if k.H:
        words.insert(0, f"rows of H: {', '.join(k.row_names)}")
        lines.append(Line("H", "H", k.H))
    else:
        words.insert(0, "no constraints")
    lines.append(Line("J_nh", r"J_{nh}", k.J_nh))
    if any(x is not zero for x in k.s):
        words.append(f"driven motions: {velocities} = J_nh alpha + s")
        lines.append(Line("s", "s", k.s))
    return title, tuple(words), tuple(lines)


def _forces(w: Workbench, k: Kane, zero: Expr) -> tuple[str, tuple[str, ...], tuple[Line, ...]]:
    lines = [_line("omega", body.name, body.omega) for body in k.bodies if any(x is not zero for x in body.omega)]
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
    words.append("g_0 = -D^-1 C alpha" if not k.d else "g_0 = -D^-1 (C alpha + d)")
    words.append("g_w = D^-1")
    return "The model", tuple(words), (*lines, Line("g_0", "g_{0}", k.g_0, True), Line("g_w", "g_{w}", k.g_w, True))


def _state(k: Kane) -> tuple[str, tuple[str, ...], tuple[Line, ...]]:
    driven = " + s" if any(not x.is_number or float(x) != 0.0 for x in k.s) else ""
    words = [
        "dalpha/dt = g_0 + g_w tau",
        f"{'dq/dt' if k.by_rates else 'v'} = J_nh alpha{driven}",
        "chi = f(q)",
    ]
    lines = () if k.by_rates else (Line("qdot", r"\dot{q}", k.qdot),)
    return "State equations", tuple(words), lines
