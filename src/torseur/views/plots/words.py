"""Units and names as they are printed."""

from __future__ import annotations

import re

from torseur.emit.text.latex import symbol
from torseur.emit.text.unicode_names import unicode_symbol
from torseur.simulation.results.channels import Role
from torseur.simulation.results.result import Run

__all__ = ["axis_label", "name_label", "spelled_unit", "text_label"]

QUANTITIES = {
    "rad": "angle",
    "deg": "angle",
    "m": "position",
    "rad/s": "angular speed",
    "m/s": "speed",
    "rad/s2": "angular acceleration",
    "m/s2": "acceleration",
    "N": "force",
    "N m": "torque",
    "J": "energy",
    "W": "power",
    "A": "current",
    "V": "voltage",
    "kg m/s": "momentum",
    "kg m2/s": "angular momentum",
}


def spelled_unit(unit: str) -> str:
    """A unit with its powers raised and its products dotted.

    >>> spelled_unit("kg m2/s2")
    'kg·m²/s²'
    """
    raised = re.sub(r"(?<=[A-Za-z])-?\d", lambda m: m[0].translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")), unit)
    return re.sub(r"(?<=\S) (?=\S)", "·", raised.strip())


def axis_label(unit: str, what: str | None = None) -> str:
    """What an axis shows, and its unit.

    >>> axis_label("rad/s2"), axis_label("", "gear"), axis_label("Pa"), axis_label("")
    ('angular acceleration (rad/s²)', 'gear', 'Pa', 'no unit')
    """
    quantity = what or QUANTITIES.get(unit)
    if unit in ("", "1"):
        return quantity or "no unit"
    return f"{quantity} ({spelled_unit(unit)})" if quantity else spelled_unit(unit)


def name_label(run: Run, name: str) -> str:
    """The name of a channel: a symbol if it is one, with dots if it is a rate; else its words."""
    base, dots = _rate_of(run, name)
    stem, mark, rest = symbol(base).partition("_")
    if re.fullmatch(r"[vw][xyz]|q[wxyz]", base):
        stem, mark, rest = base[0], "_", base[1]
    if re.fullmatch(r"[A-Za-z]|\\(?!math)[A-Za-z]+", stem):
        dotted = ("%s", r"\dot{%s}", r"\ddot{%s}")[dots] % stem
        return f"${dotted}{mark}{rest}$"
    words = base.replace("_", " ")
    return (words, rf"$\mathrm{{d}}(${words}$)/\mathrm{{d}}t$", rf"$\mathrm{{d}}^2(${words}$)/\mathrm{{d}}t^2$")[dots]


def text_label(run: Run, name: str) -> str:
    """The name of a channel in plain text: Greek letters, indices below, dots above rates."""
    base, dots = _rate_of(run, name)
    component = re.fullmatch(r"([vw])([xyz])|(q)([wxyz])", base)
    if component is not None:
        return unicode_symbol(component[1] or component[3], dots) + "_" + (component[2] or component[4])
    found = unicode_symbol(base, dots)
    if dots and found == f"{'d' * dots}{base}":
        words = base.replace("_", " ")
        return f"d({words})/dt" if dots == 1 else f"d²({words})/dt²"
    return found.replace("_", " ")


def _rate_of(run: Run, name: str) -> tuple[str, int]:
    """What a channel is the rate of, and how many times."""
    lower = {Role.SPEED: Role.COORDINATE, Role.ACCELERATION: Role.SPEED}
    channel, dots = run.channels.get(name), 0
    while channel is not None and name.startswith("d"):
        inner = run.channels.get(name[1:])
        if inner is None or inner.role is not lower.get(channel.role):
            break
        name, channel, dots = name[1:], inner, dots + 1
    return name, dots
