"""Inertias, parameters, constraints, loads and signals of a mechanism."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from torseur.describe import BASE, Mechanism
from torseur.describe.checks.scope import Scope
from torseur.describe.constraints import Constraint
from torseur.describe.fields import Record
from torseur.describe.formulas import Formula
from torseur.describe.inertia import CentralInertia, StandardInertia
from torseur.views.report import document
from torseur.views.report.document import Block, Code, Inline, Line, Table, Text, Value
from torseur.views.report.formula_math import Symbols
from torseur.views.report.math import Array, Look, Row, Sign, Word
from torseur.views.report.words import Words, body_name, data_line, joined, unit_line, vector

__all__ = ["LoadsPart"]

_STANDARD = tuple(StandardInertia.model_fields)


@dataclass(frozen=True)
class LoadsPart:
    """Tables of what moves, ties and loads a mechanism."""

    mechanism: Mechanism
    words: Words

    @property
    def symbols(self) -> Symbols:
        return Symbols.of(self.mechanism)

    def _name(self, body: str) -> Inline:
        return body_name(body, self.words)

    # -- inertias ------------------------------------------------------------------------------------------------------
    def inertias(self) -> Iterator[Block]:
        w = self.words
        every = {BASE: self.mechanism.base.inertia, **{n: b.inertia for n, b in self.mechanism.bodies.items()}}
        given = {name: inertia for name, inertia in every.items() if inertia is not None}
        if not given:
            if self.mechanism.bodies:
                yield w.paragraph("inertia.none")
            return
        central = [self._central(n, x) for n, x in given.items() if isinstance(x, CentralInertia)]
        if central:
            yield w.table("caption.inertia", ("head.body", "head.mass", "head.centre", "head.tensor"), central)
        yield from self._standard({n: x for n, x in given.items() if isinstance(x, StandardInertia)})
        solids = {n: x for n, x in given.items() if not isinstance(x, (CentralInertia, StandardInertia))}
        if solids:
            rows = [((self._name(n),), data_line(x, self.symbols, w)) for n, x in solids.items()]
            yield w.table("caption.solids", ("head.body", "head.solids"), rows)
        massless = [self._name(n) for n, x in every.items() if x is None and n != BASE]
        if massless:
            yield w.paragraph("inertia.massless", names=w.listed(massless))

    def _central(self, name: str, inertia: CentralInertia) -> tuple[Line, ...]:
        scalar, I = self.symbols.scalar_math, inertia.tensor  # noqa: E741, the symbol of a tensor
        centre = document.Formula(vector([scalar(x) for x in inertia.centre]))
        if (I.xy, I.xz, I.yz) == (0.0, 0.0, 0.0):
            tensor = Row((Word("diag", Look.FUNCTION), vector([scalar(x) for x in (I.xx, I.yy, I.zz)])))
        else:
            rows = ((I.xx, I.xy, I.xz), (I.xy, I.yy, I.yz), (I.xz, I.yz, I.zz))
            tensor = Array(tuple(tuple(scalar(x) for x in row) for row in rows), "[", "]")  # type: ignore[assignment]
        return (self._name(name),), self.symbols.scalar(inertia.mass), (centre,), (document.Formula(tensor),)

    def _standard(self, bodies: Mapping[str, StandardInertia]) -> Iterator[Block]:
        used = [f for f in _STANDARD if any(getattr(x, f) != 0.0 for x in bodies.values())]
        rows = tuple(((self._name(n),), *(self.symbols.scalar(getattr(x, f)) for f in used)) for n, x in bodies.items())
        if rows:
            head = (self.words.say("head.body"), *((document.Formula(Word(f, Look.UPRIGHT)),) for f in used))
            yield Table(self.words.say("caption.standard"), head, rows)

    # -- parameters ----------------------------------------------------------------------------------------------------
    def parameters(self, given: Mapping[str, float]) -> Iterator[Block]:
        """With values that a study gives in place of those of the mechanism."""
        w, rows = self.words, list[tuple[Line, ...]]()
        known = Scope(self.mechanism).numbers.known
        for name, item in self.mechanism.parameters.items():
            formula: Line = self.symbols.scalar(item.value) if isinstance(item.value, Formula) else ()
            value: Line = (Value(known[name]),) if name in known else w.say("parameters.unset")
            if name in given:
                value, formula = (Value(given[name]),), w.say("parameters.study")
            about = (Text(item.description or ""),)
            rows.append(((self.symbols.name(name),), value, unit_line(item.unit), formula, about))
        if rows:
            heads = ("head.symbol", "head.value", "head.unit", "head.formula", "head.meaning")
            yield w.table("caption.parameters", heads, rows, (1,))

    # -- what ties and loads it ----------------------------------------------------------------------------------------
    def ties(self) -> Iterator[Block]:
        w, m = self.words, self.mechanism
        if m.loops:
            loops: list[tuple[Line, ...]] = [
                (
                    (Code(name),),
                    (w.kind("joint", loop.joint),),
                    joined([(Code(x),) for x in loop.between]),
                    (Value(6 - loop.algebra.nv),),
                )
                for name, loop in m.loops.items()
            ]
            yield w.table("caption.loops", ("head.name", "head.joint", "head.between", "head.equations"), loops, (3,))
        if m.constraints:
            rows = [self._constraint(name, x) for name, x in m.constraints.items()]
            yield w.table("caption.constraints", ("head.name", "head.kind", "head.fields"), rows)

    def _constraint(self, name: str, constraint: Constraint) -> tuple[Line, ...]:
        kind = next(f for f in Constraint.model_fields if getattr(constraint, f) is not None)
        form = constraint.form
        if isinstance(form, Record):
            data = data_line(form, self.symbols, self.words)
        else:
            zero = Row((self.symbols.scalar_math(form), Sign("="), self.symbols.scalar_math(0.0)))
            data = (document.Formula(zero),)
        return (Code(name),), (self.words.kind("constraint", kind),), data

    def loads(self) -> Iterator[Block]:
        w, m = self.words, self.mechanism
        if m.loads:
            rows: list[tuple[Line, ...]] = [
                ((Code(name),), (w.kind("load", load.kind),), data_line(load, self.symbols, w))
                for name, load in m.loads.items()
            ]
            yield w.table("caption.loads", ("head.name", "head.kind", "head.fields"), rows)

    # -- signals -------------------------------------------------------------------------------------------------------
    def signals(self) -> Iterator[Block]:
        w, m, s = self.words, self.mechanism, self.symbols
        if m.inputs:
            rows: list[tuple[Line, ...]] = [
                ((s.name(n),), (Value(x.default),), unit_line(x.unit), (Text(x.description or ""),))
                for n, x in m.inputs.items()
            ]
            yield w.table("caption.inputs", ("head.symbol", "head.default", "head.unit", "head.meaning"), rows, (1,))
        for items, caption in ((m.quantities, "caption.quantities"), (m.outputs, "caption.outputs")):
            if items:
                rows = [
                    ((s.name(n),), s.scalar(x.value), unit_line(x.unit), (Text(x.description or ""),))
                    for n, x in items.items()
                ]
                yield w.table(caption, ("head.symbol", "head.formula", "head.unit", "head.meaning"), rows)
        yield from self._tables()

    def _tables(self) -> Iterator[Block]:
        w, rows = self.words, list[tuple[Line, ...]]()
        for name, table in self.mechanism.tables.items():
            if table.x:
                ends = {"low": Value(table.x[0]), "high": Value(table.x[-1])}
                points = w.say("table.points", n=Value(len(table.x)), **ends)
                rows.append(((Code(name),), points, unit_line(table.unit), (Text(table.description or ""),)))
        if rows:
            yield w.table("caption.tables", ("head.name", "head.value", "head.unit", "head.meaning"), rows)
