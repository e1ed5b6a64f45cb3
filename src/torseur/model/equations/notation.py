"""Speeds and accelerations as coordinates with dots."""

from __future__ import annotations

from torseur.emit.text.latex import dotted
from torseur.graph import Function

__all__ = ["latex_symbols", "rates_of"]


def rates_of(function: Function) -> tuple[dict[str, str], dict[str, tuple[str, int]]]:
    """Accelerations under the name of their coordinate, where they have one: vdot_dq1 becomes ddq1; and name of a
    speed or acceleration -> its coordinate and how many dots it has.
    """
    blocks = {b.name: b.names for b in function.inputs}
    known = {f"d{x}": x for x in blocks.get("q", ())} if "q" in blocks else {}
    rates = {name: (known[name], 1) for name in blocks.get("v", ()) if name in known}
    renamed = {}
    for name in blocks.get("vdot", ()):
        speed = name.removeprefix("vdot_")
        if speed in known or speed.startswith("d"):
            renamed[name] = f"d{speed}"
            rates[f"d{speed}"] = (known.get(speed, speed[1:]), 2)
    return renamed, rates


def latex_symbols(function: Function) -> dict[str, str]:
    """Name of a speed or acceleration -> how it is written."""
    renamed, rates = rates_of(function)
    symbols = {name: dotted(*rate) for name, rate in rates.items()}
    symbols |= {old: symbols[new] for old, new in renamed.items()}
    for name in next((b.names for b in function.inputs if b.name == "vdot"), ()):
        symbols.setdefault(name, dotted(name.removeprefix("vdot_"), 1))
    return symbols
