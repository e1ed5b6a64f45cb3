"""Functions of a model with all that a program in another language needs to be told of them.

Each comes with a state at which it was computed natively: the numbers of the self-test. Titles, units and descriptions
are words of strangers: they come out harmless.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from torseur.dynamics.quantities import QUANTITIES
from torseur.dynamics.tree.system import NORMALS
from torseur.dynamics.workbench import RANK
from torseur.errors import ArgumentError, NumericalError
from torseur.graph import Function
from torseur.model import Model
from torseur.model.function import ModelFunction
from torseur.model.rows import limits, random_coordinates

__all__ = [
    "Element",
    "ExportedFunction",
    "Files",
    "cell",
    "exported_functions",
    "identifier",
    "in_comment",
    "one_line",
    "table",
]


Files = dict[str, bytes]
"""Path inside the folder -> what is in the file."""


Array = NDArray[np.float64]

MARGIN = 1e-9
"""Of a self-test, beside the largest number of an array: compilers differ by rounding only."""


# -- words of strangers ------------------------------------------------------------------------------------------------


def one_line(text: str | None) -> str:
    """A text without line breaks and other signs that are not seen.

    >>> one_line("two\\n lines\\x00")
    'two lines'
    """
    return " ".join("".join(c for c in (text or "") if c.isprintable() or c.isspace()).split())


def in_comment(text: str | None) -> str:
    """A text that ends no comment of C, begins none, and continues no line.

    >>> in_comment("a */ b ??/ c\\\\")
    'a * / b ? ?/ c/'
    """
    line = one_line(text).replace("\\", "/")
    while any(pair in line for pair in ("*/", "/*", "??", "//")):
        line = line.replace("*/", "* /").replace("/*", "/ *").replace("??", "? ?").replace("//", "/ /")
    return line


def cell(text: str | None) -> str:
    """A text in a table of Markdown.

    >>> cell("a|b <b>")
    'a/b &lt;b&gt;'
    """
    line = one_line(text).replace("|", "/").replace("`", "'").replace("&", "&amp;")
    return line.replace("<", "&lt;").replace(">", "&gt;").replace("[", "(").replace("]", ")")


def identifier(text: str, otherwise: str = "study") -> str:
    """A name of a program, from any text.

    >>> identifier("2 arms, é"), identifier("--")
    ('x2_arms', 'study')
    """
    name = re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_")[:60]
    return (f"x{name}" if name[:1].isdigit() else name) or otherwise


def table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> list[str]:
    """The lines of a table of Markdown."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return [*lines, *("| " + " | ".join(map(cell, row)) + " |" for row in rows)]


# -- functions ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Element:
    """One number of an array."""

    name: str
    unit: str = ""
    meaning: str = ""


@dataclass(frozen=True)
class ExportedFunction:
    """A function under the name it has in the program.

    Attributes:
        quantity: what it computes.
        function: its expressions.
        meanings: array -> what its numbers are; none of an array whose numbers have no names.
        given: values of the inputs, in order, flat.
        expected: what they give, in order, flat.
    """

    quantity: str
    function: Function
    meanings: dict[str, tuple[Element, ...]]
    given: tuple[Array, ...]
    expected: tuple[Array, ...]

    @property
    def name(self) -> str:
        return self.function.name


def exported_functions(model: Model, quantities: Sequence[str], **options: Any) -> list[ExportedFunction]:
    """Functions of a model, called MODEL_QUANTITY.

    Args:
        model: whose; its parameters need values, with which the self-test is computed.
        quantities: as `torseur equations --of` calls them.
        options: frame, axes, task, independent, actuated: of those that know them.
    """
    if not quantities:
        raise ArgumentError("no function is asked for", where="--functions", expected="such as inverse_dynamics")
    twice = sorted({q for q in quantities if list(quantities).count(q) > 1})
    if twice:
        raise ArgumentError("a function is asked for twice", where="--functions", got=", ".join(twice))
    _check_idle(quantities, options)
    q = _state(model)
    return [_exported(model, model.function(name, **_known(name, options)), q) for name in quantities]


def _check_idle(quantities: Sequence[str], options: dict[str, Any]) -> None:
    """Options that none of the functions knows are refused, not ignored."""
    entries = [QUANTITIES[name] for name in quantities if name in QUANTITIES]
    known = {name for entry in entries for name in (*(["frame"] if entry.needs_frame else []), *entry.takes)}
    idle = [name for name, value in options.items() if value is not None and name not in known]
    if idle and len(entries) == len(quantities):
        raise ArgumentError("no exported function depends on this option", got=", ".join(idle), option=idle[0])


def _known(quantity: str, options: dict[str, Any]) -> dict[str, Any]:
    """The options that a quantity knows; all of them if there is no such quantity, which is told then."""
    entry = QUANTITIES.get(quantity)
    if entry is None:
        return {}
    known = (*(["frame"] if entry.needs_frame else []), *entry.takes)
    if entry.needs_frame and options.get("frame") is None:
        raise ArgumentError(f"{quantity} needs a frame", expected="a frame", option="frame", where=quantity)
    return {name: value for name, value in options.items() if name in known and value is not None}


def _state(model: Model) -> Array:
    """Coordinates that are nothing special, and that loops and constraints allow."""
    if not model.mechanism.is_tree:
        return np.asarray(model.assemble().q, dtype=float)
    return random_coordinates(model, np.random.default_rng(1), limits(model))


def _exported(model: Model, quantity: ModelFunction, q: Array) -> ExportedFunction:
    old = quantity.function
    outputs = {o.name: np.array(o.exprs, dtype=object).reshape(o.shape) for o in old.outputs}
    renamed = Function(f"{model.mechanism.name}_{old.name}", old.inputs, outputs)
    given = _arguments(model, quantity, q)
    result = quantity.native(*(x.reshape(b.shape) for x, b in zip(given, old.inputs, strict=True)))
    expected = tuple(np.ravel(np.asarray(x)) for x in (result if isinstance(result, tuple) else (result,)))
    if not all(np.isfinite(x).all() for x in expected):
        raise NumericalError(
            f"{old.name} has no value at the state of the self-test",
            where=model.mechanism.name,
            got=", ".join(f"{x.name} = {value:.6g}" for x, value in zip(model.coordinates, q, strict=True)),
            remedy="give stops to the coordinates that keep them from singular positions",
        )
    return ExportedFunction(old.name, renamed, _meanings(model, old), tuple(given), expected)


def _arguments(model: Model, quantity: ModelFunction, q: Array) -> list[Array]:
    """A value for every input of a function."""
    rng = np.random.default_rng(2)
    v = rng.uniform(-1.0, 1.0, model.nv)
    if not model.mechanism.is_tree:
        v = np.asarray(model.assemble(q, speeds=v).v, dtype=float)
    p = model.values_beside((), quantity.used_parameters)
    known = {"q": q, "v": v, "t": np.array([0.25]), "u": model.input_values, "p": np.nan_to_num(p)}
    if any(a.name == RANK for a in quantity.native.interface.inputs):
        known[RANK] = np.asarray(model.ranks(p), dtype=float)
    if any(a.name == NORMALS for a in quantity.native.interface.inputs):
        known[NORMALS] = np.full(len(model.mechanism.pushing), 100.0)
    values = []
    for block in quantity.function.inputs:
        value = known.get(block.name)
        values.append(rng.uniform(-1.0, 1.0, block.size) if value is None else np.ravel(value).astype(float))
    return values


_FORCES = {"rad/s": "N m", "m/s": "N"}


def _meanings(model: Model, function: Function) -> dict[str, tuple[Element, ...]]:
    """What the numbers of arrays are, as far as the model knows."""
    m = model.mechanism
    free = [(n, m.parameters[n]) for n in model.free_parameters]
    speeds = model.speeds
    known: dict[str, tuple[Element, ...]] = {
        "q": tuple(Element(x.name, x.unit, x.meaning) for x in model.coordinates),
        "v": tuple(Element(x.name, x.unit, x.meaning) for x in speeds),
        "t": (Element("t", "s", "time"),),
        "u": tuple(Element(n, x.unit or "", x.description or "") for n, x in m.inputs.items()),
        "p": tuple(Element(n, x.unit or "", x.description or "") for n, x in free),
        NORMALS: tuple(Element(n, "N", "normal force") for n in m.pushing),
        "vdot": tuple(Element(f"d{x.name}", f"{x.unit or '1/s'}/s".replace("/s/s", "/s^2")) for x in speeds),
    }
    forces = tuple(Element(f"force along {x.name}", _FORCES.get(x.unit, "W/(1/s)")) for x in speeds)
    known |= dict.fromkeys(("tau", "bias", "gravity", "given_forces"), forces)
    known["lam"] = known["lambda"] = tuple(Element(r.name, r.unit, f"multiplier of {r.owner}") for r in _rows(model))
    known["velocity"] = tuple(Element(f"{a}{k}", "m/s" if a == "V" else "rad/s") for a in "Vw" for k in "xyz")
    known |= {name: (Element(name, "J"),) for name in ("kinetic_energy", "potential_energy", "energy")}
    sizes = {b.name: b.size for b in function.inputs} | {o.name: len(o.exprs) for o in function.outputs}
    meanings = {name: known[name] for name, n in sizes.items() if name in known and len(known[name]) == n}
    return meanings | {b.name: tuple(map(Element, b.names)) for b in function.inputs if b.name not in meanings}


def _rows(model: Model) -> tuple[Any, ...]:
    return () if model.mechanism.is_tree else model.constraint_rows
