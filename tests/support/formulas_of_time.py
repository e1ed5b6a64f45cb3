"""Breaks of an expression of time, as a run finds them."""

from torseur.emit import compile
from torseur.graph import Block, Expr
from torseur.simulation.plant.time_formulas import TimeFormulas
from torseur.simulation.run.timetable import TimeBreaks


def time_breaks(expr: Expr, t: Block) -> TimeBreaks:
    formulas = TimeFormulas((expr,), t, None)
    return TimeBreaks({name: compile(f, lanes=1) for name, f in formulas.functions.items()}, formulas.knots)
