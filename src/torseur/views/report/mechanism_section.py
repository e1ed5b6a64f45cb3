"""What a mechanism is: its scheme, and parts on geometry, inertias, parameters, and what ties and loads it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from torseur.describe import Mechanism
from torseur.errors import TorseurError
from torseur.views.report import document
from torseur.views.report.data_lines import vector
from torseur.views.report.document import Block, Bullets, Figure, Section, Text, Unit
from torseur.views.report.formula_math import Symbols
from torseur.views.report.geometry_section import GeometryPart
from torseur.views.report.loads_section import LoadsPart
from torseur.views.report.pictures import Drawn, in_language
from torseur.views.report.words import Words
from torseur.views.scheme import draw_scheme

__all__ = ["MechanismPart"]


@dataclass(frozen=True)
class MechanismPart:
    """Writes the section on a mechanism.

    Args:
        mechanism: what it is about.
        words: in which language.
        parameters: values of a study in place of those of the mechanism.
    """

    mechanism: Mechanism
    words: Words
    parameters: Mapping[str, float]

    def section(self) -> Section:
        geometry, rest = GeometryPart(self.mechanism, self.words), LoadsPart(self.mechanism, self.words)
        parts = {
            "section.bodies": [*geometry.bodies(), *geometry.frames()],
            "section.coordinates": geometry.variables(),
            "section.inertia": rest.inertias(),
            "section.parameters": rest.parameters(self.parameters),
            "section.ties": rest.ties(),
            "section.loads": [*rest.loads(), *rest.signals()],
        }
        found = {key: tuple(blocks) for key, blocks in parts.items()}
        inner = [Section(self.words.say(key), blocks, 2) for key, blocks in found.items() if blocks]
        return Section(self.words.say("section.mechanism"), (*self.opening(), *inner))

    def opening(self) -> Iterator[Block]:
        """What it is as a whole, and its scheme."""
        m, w = self.mechanism, self.words
        yield w.paragraph(
            "mechanism.count",
            bodies=w.count("count.bodies", len(m.bodies)),
            base=w.kind("base", m.base.kind.value),
            q=w.count("count.q", len(m.q)),
            v=w.count("count.v", len(m.v)),
        )
        if any(component != 0.0 for component in m.gravity):
            symbols = Symbols.of(m)
            gravity = document.Formula(vector([symbols.scalar_math(x) for x in m.gravity]))
            yield w.paragraph("mechanism.gravity", vector=gravity, unit=Unit("m/s2"))
        else:
            yield w.paragraph("mechanism.no_gravity")
        yield from self._scheme()
        if m.notes:
            yield w.paragraph("mechanism.notes")
            yield Bullets(tuple((w.phrase(note),) for note in m.notes))

    def _scheme(self) -> Iterator[Block]:
        w = self.words
        try:
            picture = draw_scheme(self.mechanism, parameters=self.parameters, titled=False)
        except TorseurError as error:
            yield w.paragraph("mechanism.no_scheme", why=w.phrase(error.what))
            return
        caption = list(w.say("caption.scheme"))
        for note in picture.notes:
            shown = w.phrase(note).text
            caption.append(Text(f" {shown[:1].upper()}{shown[1:]}."))
        shapes = in_language(picture.shapes, w.language)
        yield Figure(tuple(caption), Drawn("scheme", shapes, picture.size, self.mechanism.name))
