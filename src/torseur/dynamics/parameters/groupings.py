"""Base parameters as formulas a person can read: ``ZZR1 = ZZ1 + YY2 + D3**2*(M3 + M4)``.

Factors are sums of products of the parameters of the description; they are multiplied out, and terms that cancel go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from torseur.dynamics.parameters.base_parameters import BaseParameters
from torseur.dynamics.parameters.closed_structures import ClosedParameters
from torseur.graph import Expr, ops

__all__ = ["closed_groupings", "grouping", "groupings"]

Monomial = tuple[tuple[str, int], ...]
"""Factors by their texts, with exponents."""
Polynomial = dict[Monomial, float]

_SMALL = 1e-12


def groupings(base: BaseParameters) -> str:
    """All base parameters of a mechanism, and what became of the others."""
    lines = [f"{len(base.kept)} base parameters of {len(base.standard)} standard parameters", ""]
    alone = []
    for name, k, group in zip(base.names, base.kept, base.groups, strict=True):
        if set(group) == {k}:
            alone.append(name)
        else:
            lines.append(f"{name} = {grouping(base, group)}")
    lines += ["", *_paragraph("as they are", alone), *_paragraph("without effect", base.without_effect)]
    return "\n".join(lines).rstrip() + "\n"


def closed_groupings(closed: ClosedParameters) -> str:
    """Those of a closed structure; what holds at the values of the description only comes after the rest."""
    text = f"closed structure: its open tree has {len(closed.tree.kept)} base parameters\n{groupings(closed.base)}"
    if closed.at_values is None:
        return text + "\nno closed position was found near the start: the shape of loops may leave fewer\n"
    if len(closed.at_values.kept) < len(closed.base.kept):
        text += f"\nat the values of the description, and not at others:\n{groupings(closed.at_values)}"
    return text


def _paragraph(title: str, names: list[str] | tuple[str, ...]) -> Iterator[str]:
    if names:
        yield f"{title}: {', '.join(names)}"


def grouping(base: BaseParameters, group: Mapping[int, Expr]) -> str:
    """One combination: parameters with one factor stand together behind it."""
    together: dict[str, list[str]] = {}
    for i, x in group.items():
        together.setdefault(_text(_polynomial(x)), []).append(base.standard[i].name)
    terms = []
    for factor, names in sorted(together.items(), key=lambda item: (item[0] not in ("1", "-1"), item[0] == "-1")):
        if factor in ("1", "-1"):
            terms += [f"{factor[:-1]}{name}" for name in names]
            continue
        sign, size = ("-", factor[1:]) if factor.startswith("-") and " " not in factor else ("", factor)
        size = f"({size})" if " " in size else size
        whole = names[0] if len(names) == 1 else f"({' + '.join(names)})"
        terms.append(f"{sign}{size}*{whole}")
    return _joined(terms)


def _joined(terms: list[str]) -> str:
    text = terms[0]
    for term in terms[1:]:
        text += f" - {term[1:]}" if term.startswith("-") else f" + {term}"
    return text


# -- factors -----------------------------------------------------------------------------------------------------------
def _polynomial(x: Expr) -> Polynomial:
    """A factor multiplied out; whatever is no sum, difference, product or number is an atom."""
    if x.is_number:
        return {(): float(x)} if abs(float(x)) > _SMALL else {}
    if x.op is ops.NEG:
        return _scaled(_polynomial(x.args[0]), -1.0)
    if x.op is ops.ADD or x.op is ops.SUB:
        total = _polynomial(x.args[0])
        for monomial, factor in _scaled(_polynomial(x.args[1]), 1.0 if x.op is ops.ADD else -1.0).items():
            total[monomial] = total.get(monomial, 0.0) + factor
        return {m: f for m, f in total.items() if abs(f) > _SMALL}
    if x.op is ops.MUL:
        return _product(_polynomial(x.args[0]), _polynomial(x.args[1]))
    if x.op is ops.DIV and len(below := _polynomial(x.args[1])) == 1:
        ((monomial, factor),) = below.items()
        return _product(_polynomial(x.args[0]), {tuple((atom, -n) for atom, n in monomial): 1.0 / factor})
    return {((_atom(x), 1),): 1.0}


def _atom(x: Expr) -> str:
    label = x.graph.label(x)
    if label is not None:
        return label
    inside = [_text(_polynomial(a)) for a in x.args]
    if x.op is ops.DIV:
        return "/".join(f"({text})" if " " in text else text for text in inside)
    return f"{x.op.name}({', '.join(inside)})"


def _scaled(p: Polynomial, factor: float) -> Polynomial:
    return {monomial: factor * x for monomial, x in p.items()}


def _product(p: Polynomial, q: Polynomial) -> Polynomial:
    product: Polynomial = {}
    for a, x in p.items():
        for b, y in q.items():
            powers = dict(a)
            for atom, n in b:
                powers[atom] = powers.get(atom, 0) + n
            monomial = tuple(sorted((atom, n) for atom, n in powers.items() if n))
            product[monomial] = product.get(monomial, 0.0) + x * y
    return {m: f for m, f in product.items() if abs(f) > _SMALL}


def _text(p: Polynomial) -> str:
    return _joined([_term(monomial, p[monomial]) for monomial in sorted(p, key=lambda m: (-len(m), m))]) if p else "0"


def _term(monomial: Monomial, factor: float) -> str:
    above, below = ([_power(atom, side * n) for atom, n in monomial if side * n > 0] for side in (1, -1))
    number = f"{abs(factor):.6g}"
    parts = above if number == "1" and above else [number, *above]
    text = ("-" if factor < 0 else "") + "*".join(parts)
    return "/".join([text, *below])


def _power(atom: str, n: int) -> str:
    return atom if n == 1 else f"{atom}**{n}"
