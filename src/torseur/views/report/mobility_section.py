"""How many degrees of freedom a mechanism has, and what its constraints do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from torseur.describe import Mechanism
from torseur.errors import ModelError, NumericalError
from torseur.model.mobility import Mobility
from torseur.model.model import build
from torseur.views.report.document import Block, Code, Section, Text, Value
from torseur.views.report.formula_math import Symbols
from torseur.views.report.words import Words

__all__ = ["MobilityPart"]


@dataclass(frozen=True)
class MobilityPart:
    """Writes the section on degrees of freedom.

    Args:
        mechanism: whose they are.
        words: in which language.
        parameters: values of a study.
    """

    mechanism: Mechanism
    words: Words
    parameters: Mapping[str, float]

    def section(self) -> Section:
        return Section(self.words.say("section.mobility"), tuple(self._blocks()))

    def _blocks(self) -> Iterator[Block]:
        w, m = self.words, self.mechanism
        if m.is_tree:
            yield w.paragraph("mobility.tree", n=w.count("count.freedoms", len(m.v)))
            return
        try:
            found = build(m).mobility(parameters=dict(self.parameters) or None)
        except (ModelError, NumericalError) as error:
            why = f"{error.what}{f': {error.got}' if error.got else ''}."
            yield w.paragraph("mobility.not_computed", why=Text(why))
            return
        yield from self._found(found)

    def _found(self, found: Mobility) -> Iterator[Block]:
        w = self.words
        yield w.paragraph(
            "mobility.closed",
            v=w.count("count.v", found.nv),
            rows=w.count("count.rows", len(found.rows)),
            rank=Value(found.usual_rank),
            n=w.count("count.freedoms", found.freedoms),
        )
        more = found.free_coordinates - (found.nv - found.rank)
        if more > 0:
            yield w.paragraph("mobility.nonholonomic", more=Value(more), coordinates=Value(found.free_coordinates))
        for key, rows in (("redundant", found.redundant), ("contradictory", found.contradictory)):
            if rows and not (key == "redundant" and found.is_singular):
                owners = dict.fromkeys(row.owner.partition(".")[2] or row.owner for row in rows)
                yield w.paragraph(f"mobility.{key}", names=w.listed([Code(name) for name in owners]))
        if found.is_singular:
            yield w.paragraph("mobility.singular")
        if found.massless:
            symbols = Symbols.of(self.mechanism)
            yield w.paragraph("mobility.massless", names=w.listed([symbols.name(x) for x in found.massless]))
