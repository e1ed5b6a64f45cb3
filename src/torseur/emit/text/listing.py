"""Plain listings in SYMORO's manner: ``name = expression``, one under the other, by stage, with operation counts."""

from __future__ import annotations

from collections.abc import Sequence

from torseur.emit.text.dialect import Dialect, functions, plain_number
from torseur.emit.text.reading import WHEN, Passage, Reading, polynomial
from torseur.graph import ops
from torseur.graph.function import Function, checked_function
from torseur.graph.piecewise import Piecewise

__all__ = ["LISTING", "to_listing"]

LISTING = Dialect(
    number=plain_number,
    calls={**functions({}), ops.SELECT: "select(%s, %s, %s)"},
    infinity="inf",
    nan="nan",
    truths=("false", "true"),
    power="%s**%s",
    logic={ops.NOT: "not %s", ops.AND: "%s and %s", ops.OR: "%s or %s"},
    exact=False,
    keywords=frozenset({"and", "or", "not"}),
)


def to_listing(function: Function) -> str:
    """A function as a plain listing.

    >>> from torseur.graph import Function, Graph, Role, cos
    >>> g = Graph()
    >>> q, m = g.symbol("q"), g.symbol("m", Role.PARAMETER)
    >>> print(to_listing(Function("weight", [g.blocks["q"], g.blocks["m"]], {"tau": 9.81 * m * cos(q)})))
    weight(q, m) -> tau
    <BLANKLINE>
    once per parameter set: 1 product
        t1 = 9.81*m
    <BLANKLINE>
    at every evaluation: 1 product, 1 pair
        tau = t1*cos(q)
    <BLANKLINE>
    """
    return _Listing(checked_function(function, "to_listing"), LISTING).text()


class _Listing(Reading):
    def text(self) -> str:
        pieces = [_signature(self.unit.name, self.function)]
        pieces += [_section(f"{WHEN[p.stage]}: {p.count}", p) for p in self.passages()]
        for name, function in self.bodies():
            passage = self.inner(function)
            pieces.append(_section(f"{_signature(name, function)}: {passage.count}", passage))
        pieces += [f"{name}: {meaning}" for name, meaning in self.meanings()]
        pieces += [self.table(name, curve) for curve, name in self.unit.tables.items()]
        return "\n\n".join(pieces) + "\n"

    def array(self, items: Sequence[str], shape: Sequence[int]) -> str:
        if len(shape) == 0:
            return items[0]
        if len(shape) == 1:
            return f"[{', '.join(items)}]"
        step = len(items) // shape[0] if shape[0] else 0
        return f"[{', '.join(self.array(items[k * step : (k + 1) * step], shape[1:]) for k in range(shape[0]))}]"

    def table(self, name: str, curve: Piecewise) -> str:
        lines = [f"{name}(x), by intervals"]
        for k in range(len(curve.origins)):
            low = f"{plain_number(curve.breaks[k - 1])} <= " if k > 0 else ""
            high = f" < {plain_number(curve.breaks[k])}" if k < len(curve.breaks) else ""
            lines.append(f"    {low}x{high}: {polynomial(self.dialect, curve, k, 'x')}")
        return "\n".join(lines)


def _signature(name: str, function: Function) -> str:
    ins, outs = (
        ", ".join(x.name + (f"[{', '.join(map(str, x.shape))}]" if x.shape else "") for x in group)
        for group in (function.inputs, function.outputs)
    )
    return f"{name}({ins}) -> {outs}"


def _section(heading: str, passage: Passage) -> str:
    return "\n".join([heading, *(f"    {left} = {right}" for left, right in passage.lines)])
