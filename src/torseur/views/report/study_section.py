"""What is simulated, and how: block diagram, blocks, solver; and the conventions of it all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from torseur.describe import BaseKind, Mechanism
from torseur.simulation.solvers.methods import METHODS
from torseur.simulation.study.study import Study
from torseur.views.report.citations import USES, Citations
from torseur.views.report.diagram import MOST_BLOCKS, draw_diagram
from torseur.views.report.document import Block, Code, Figure, Inline, Line, Paragraph, Section, Text, Value
from torseur.views.report.formula_math import Symbols
from torseur.views.report.wiring import MECHANISM, wiring
from torseur.views.report.words import Words, data_line, joined

__all__ = ["MethodPart", "StudyPart"]


@dataclass(frozen=True)
class StudyPart:
    """Writes the section on a study."""

    study: Study
    words: Words

    @property
    def symbols(self) -> Symbols:
        return Symbols.of(self.study.model)

    def section(self) -> Section:
        return Section(self.words.say("section.study"), tuple(self._blocks()))

    def _blocks(self) -> Iterator[Block]:
        w, study = self.words, self.study
        if study.title:
            yield Paragraph((Text(study.title if study.title.endswith((".", "!", "?")) else f"{study.title}."),))
        begin, until, every = Value(study.begin), Value(study.until), Value(study.interval)
        yield w.paragraph("study.span", begin=begin, until=until, every=every)
        yield w.paragraph(f"study.start.{study.start_from}")
        yield from self._driven()
        yield from self._changes()

    def _driven(self) -> Iterator[Block]:
        w, study = self.words, self.study
        found = wiring(study)
        if not found.blocks:
            yield w.paragraph("study.no_blocks" if study.model.inputs else "study.free")
            return
        diagram = draw_diagram(study, w)
        if diagram is not None:
            yield Figure(w.say("caption.diagram"), diagram)
        elif len(found.blocks) > MOST_BLOCKS:
            yield w.paragraph("study.no_diagram", n=Value(len(found.blocks)))
        rows: list[tuple[Line, ...]] = []
        for name, block in found.blocks.items():
            takes = [s for wire in found.into(name) for s in wire.signals]
            gives = [s for wire in found.out_of(name) if wire.target == MECHANISM for s in wire.signals]
            kind = (w.kind("block", block.kind),)
            data = data_line(block, self.symbols, w)
            rows.append(((Code(name),), kind, self._names(takes), self._names(gives or [name]), data))
        heads = ("head.block", "head.kind", "head.signals", "head.drives", "head.fields")
        yield w.table("caption.blocks", heads, rows)

    def _names(self, names: list[str]) -> Line:
        return joined([(self.symbols.name(name),) for name in dict.fromkeys(names)])

    def _changes(self) -> Iterator[Block]:
        w, rows = self.words, []
        for change in self.study.changes:
            when = (
                w.say("change.at", t=Value(change.at))
                if change.at is not None
                else w.say("change.event", name=Code(change.event or ""))
            )
            what: list[Line] = [(self.symbols.name(n), Text(" = "), Value(x)) for n, x in change.set.items()]
            what += [w.say("change.stop")] * change.stop
            rows.append((when, joined(what, "; ")))
        if rows:
            yield w.table("caption.changes", ("head.when", "head.change"), rows)


@dataclass(frozen=True)
class MethodPart:
    """Writes the section on method and conventions; `study` is none for a mechanism alone."""

    mechanism: Mechanism
    study: Study | None
    words: Words
    citations: Citations

    def section(self) -> Section:
        return Section(self.words.say("section.method"), tuple(self._paragraphs()))

    def _paragraphs(self) -> Iterator[Block]:
        m, w, cite = self.mechanism, self.words, self.citations.cite
        yield w.paragraph("method.units")
        for form in ("mdh", "dh"):
            if any(getattr(body.place, form) is not None for body in m.bodies.values()):
                yield w.paragraph(f"method.{form}", cite=cite(f"place.{form}"))
        kinds = {body.joint.kind for body in m.bodies.values()} | {m.base.joint_kind.name}
        if kinds & {"free", "spherical"}:
            yield w.paragraph("method.quaternion")
        if m.base.kind is BaseKind.CARRIER:
            yield w.paragraph("method.carrier", cite=cite("base.carrier"))
        newton_euler, composite = cite("method.newton_euler"), cite("method.composite_body")
        yield w.paragraph("method.tree", newton_euler=newton_euler, composite=composite)
        if not m.is_tree:
            yield w.paragraph("method.constraints", cite=cite("method.constraints"))
        yield from self._loads()
        if self.study is not None:
            yield from self._simulation(self.study)

    def _loads(self) -> Iterator[Block]:
        """The laws that come from somewhere, once each."""
        w = self.words
        for kind in dict.fromkeys(load.kind for load in self.mechanism.loads.values()):
            if f"load.{kind}" in USES:
                name = _capital(w.kind("load", kind))
                yield w.paragraph("method.load", name=name, cite=self.citations.cite(f"load.{kind}"))
        laws = [getattr(load, "law", None) for load in self.mechanism.loads.values()]
        for kind in dict.fromkeys(str(getattr(law, "kind", "")) for law in laws):
            if f"tyre.{kind}" in USES:
                law = (_capital(w.kind("load", "tyre")), Text(" ("), w.kind("tyre", kind), Text(")"))
                yield w.paragraph("method.load", name=law, cite=self.citations.cite(f"tyre.{kind}"))

    def _simulation(self, study: Study) -> Iterator[Block]:
        w, cite = self.words, self.citations.cite
        for name, block in {**study.inputs, **study.blocks}.items():
            if f"block.{block.kind}" in USES:
                yield w.paragraph("method.block", name=Code(name), cite=cite(f"block.{block.kind}"))
        yield self._solver(study)
        dry = study.friction.model == "stick"
        if dry or study.model.pushing or study.stops.model != "ignore":
            yield w.paragraph("method.events", cite=cite("method.events"))
        if study.model.pushing:
            yield w.paragraph("method.impacts", cite=cite("method.impacts"))
        yield w.paragraph("method.audit", cite=cite("method.audit"))

    def _solver(self, study: Study) -> Paragraph:
        w, solver = self.words, study.solver
        method = METHODS[solver.method].method
        if method.control is not None:
            tolerance = w.say("method.tolerance", rtol=Value(solver.rtol, 3), atol=Value(solver.atol, 3))
        else:
            tolerance = () if solver.step is None else w.say("method.step", step=Value(solver.step))
        use = f"solver.{solver.method}"
        cited: Inline = self.citations.cite(use) if use in USES else Text("")
        return w.paragraph("method.solver", method=w.kind("solver", solver.method), cite=cited, tolerance=tolerance)


def _capital(inline: Inline) -> Inline:
    return Text(inline.text[:1].upper() + inline.text[1:]) if isinstance(inline, Text) else inline
