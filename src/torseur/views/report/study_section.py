"""What is simulated, and how: block diagram, blocks, solver, conventions; and what came of it: initial conditions,
events, curves, extreme values, and the audit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from torseur.describe import BaseKind, Mechanism
from torseur.simulation.results.channels import Audit, Channel, Role
from torseur.simulation.results.result import Run
from torseur.simulation.solvers.methods import METHODS
from torseur.simulation.study.study import Study
from torseur.views.plots.figures import GROUPS, figures_to_draw
from torseur.views.report.citations import USES, Citations
from torseur.views.report.diagram import MECHANISM, MOST_BLOCKS, draw_diagram, wiring
from torseur.views.report.document import Block, Code, Figure, Inline, Line, Paragraph, Section, Text, Unit, Value
from torseur.views.report.formula_math import Symbols
from torseur.views.report.pictures import Plotted, localised
from torseur.views.report.terms import TERMS
from torseur.views.report.words import Words, data_line, joined

__all__ = ["AuditPart", "MethodPart", "ResultsPart", "StudyPart", "audit_blocks"]


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
        connections = wiring(study)
        if not connections.blocks:
            yield w.paragraph("study.no_blocks" if study.model.inputs else "study.free")
            return
        diagram = draw_diagram(study, w)
        if diagram is not None:
            yield Figure(w.say("caption.diagram"), diagram)
        elif len(connections.blocks) > MOST_BLOCKS:
            yield w.paragraph("study.no_diagram", n=Value(len(connections.blocks)))
        rows: list[tuple[Line, ...]] = []
        for name, block in connections.blocks.items():
            takes = [s for wire in connections.into(name) for s in wire.signals]
            gives = [s for wire in connections.out_of(name) if wire.target == MECHANISM for s in wire.signals]
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


MOST_EVENTS = 40
MOST_CHANNELS = 40
_NOTHING = 1e-12
_EXTREMES = (Role.COORDINATE, Role.SPEED, Role.INPUT, Role.OUTPUT, Role.ENERGY)


@dataclass(frozen=True)
class ResultsPart:
    """Writes the section on the results of a run."""

    run: Run
    words: Words

    @property
    def symbols(self) -> Symbols:
        return Symbols() if self.run.mechanism is None else Symbols.of(self.run.mechanism)

    def section(self) -> Section:
        say = self.words.say
        parts = {
            "section.start": list(self._start()),
            "section.events": list(self._events()),
            "section.curves": [*self._figures(), *self._extremes()],
        }
        inner = [Section(say(key), tuple(blocks), 2) for key, blocks in parts.items() if blocks]
        return Section(say("section.results"), (*self._opening(), *inner))

    def _opening(self) -> Iterator[Block]:
        w, run, info = self.words, self.run, self.run.info
        ends = {"begin": Value(float(run.time[0])), "end": Value(float(run.time[-1])), "n": Value(len(run))}
        if {"steps", "rejected", "solver"} <= info.keys():
            counts = {"steps": Value(info["steps"]), "rejected": Value(info["rejected"])}
            yield w.paragraph("results.span", **ends, **counts, solver=w.phrase(str(info["solver"])))
        else:
            yield w.paragraph("results.plain", **ends)
        if run.reason is not None:
            yield w.paragraph("results.stopped", why=w.phrase(run.reason))
        for note in info.get("notes") or ():
            yield w.paragraph("results.note", note=w.phrase(str(note)))

    # -- the start -----------------------------------------------------------------------------------------------------
    def _start(self) -> Iterator[Block]:
        w, facts = self.words, self.run.start
        values = dict(facts.get("values") or {})
        if not values:
            channels = [*self.run.of(Role.COORDINATE), *self.run.of(Role.SPEED)]
            values = {c.name: float(c.values[0]) for c in channels}
        if not values:
            return
        how = facts.get("from")
        if how == "equilibrium":
            yield w.paragraph("start.equilibrium", stability=w.say(f"stability.{facts.get('stability')}"))
        else:
            yield w.paragraph(f"start.{how}" if f"start.{how}" in TERMS else "start.unknown")
        rows, hidden = list[tuple[Line, ...]](), 0
        for name, value in values.items():
            origin = self._origin(name, facts.get("held") or (), facts.get("moved") or {})
            is_speed = name in {c.name for c in self.run.of(Role.SPEED)}
            if is_speed and abs(value) <= _NOTHING and name not in (facts.get("held") or ()):
                hidden += 1
                continue
            cell = (Value(value if abs(value) > _NOTHING else 0.0),)
            rows.append(((self._shown(name),), cell, self._unit(name), origin if how else ()))
        if rows:
            yield w.table("caption.start", ("head.symbol", "head.value", "head.unit", "head.how"), rows, (1,))
        if hidden:
            yield w.paragraph("start.zeros")

    def _origin(self, name: str, held: tuple[str, ...], moved: dict[str, float]) -> Line:
        if name in held:
            return self.words.say("start.held")
        if name in moved:
            return self.words.say("start.moved", value=Value(float(moved[name])))
        return self.words.say("start.free")

    def _shown(self, name: str) -> Inline:
        """A symbol, if the name is one; words stay as they are recorded."""
        channel = self.run.channels.get(name)
        if channel is not None and channel.role is Role.ENERGY:
            return self.words.phrase(name.replace("_", " "))
        is_word = re.fullmatch(r"[A-Za-z]{2,}\d*_\w+|\w*\W.*", name) and name not in self.symbols.known
        return Code(name) if is_word else self.symbols.name(name)

    def _unit(self, name: str) -> Line:
        channel = self.run.channels.get(name)
        return (Unit(channel.unit),) if channel is not None and channel.unit else ()

    # -- what happened -------------------------------------------------------------------------------------------------
    def _events(self) -> Iterator[Block]:
        w, events = self.words, self.run.events
        if not events:
            yield w.paragraph("events.none")
            return
        rows: list[tuple[Line, ...]] = [
            ((Value(event.time), Text(" s")), (Code(event.name),), (w.phrase(event.what),))
            for event in events[:MOST_EVENTS]
        ]
        yield w.table("caption.events", ("head.time", "head.to", "head.what"), rows, (0,))
        if len(events) > MOST_EVENTS:
            yield w.paragraph("events.more", n=Value(MOST_EVENTS), all=Value(len(events)))

    # -- curves --------------------------------------------------------------------------------------------------------
    def _figures(self) -> Iterator[Block]:
        w, zero = self.words, list[Inline | Line]()
        for name, draw in figures_to_draw(self.run).items():
            if name == "audit":
                continue
            channels = [c for role in GROUPS.get(name, ()) for c in self.run.of(role)]
            caption = w.say(f"figure.{name}" if f"figure.{name}" in TERMS else "figure.other", name=name)
            if channels and not any(c.values.any() for c in channels):
                zero.append(_as_word(caption))
                continue
            yield Figure(caption, Plotted(f"figure_{name}", localised(draw(), w.language)))
        if zero:
            yield w.paragraph("results.zero_figures", names=w.listed(zero))

    def _extremes(self) -> Iterator[Block]:
        w = self.words
        channels = [c for role in _EXTREMES for c in self.run.of(role) if c.values.ndim == 1]
        rows = tuple(self._extreme(channel) for channel in channels[:MOST_CHANNELS])
        if not rows:
            return
        heads = ("head.symbol", "head.unit", "head.smallest", "head.largest", "head.last")
        yield w.table("caption.extremes", heads, rows, (2, 3, 4))
        if len(channels) > MOST_CHANNELS:
            yield w.paragraph("extremes.more", n=Value(MOST_CHANNELS), all=Value(len(channels)))

    def _extreme(self, channel: Channel) -> tuple[Line, ...]:
        finite = channel.values[np.isfinite(channel.values)]
        ends = [finite.min(), finite.max(), finite[-1]] if finite.size else [np.nan] * 3
        size = float(np.abs(finite).max(initial=0.0))
        cells = [(Value(float(x) if abs(x) > 1e-12 * size else 0.0, 5),) for x in ends]
        unit = (Unit(channel.unit),) if channel.unit else ()
        return ((self._shown(channel.name),), unit, *cells)


def _as_word(caption: Line) -> Line:
    """'Speeds.' within a sentence."""
    return tuple(Text(x.text.rstrip(".").lower()) if isinstance(x, Text) else x for x in caption)


@dataclass(frozen=True)
class AuditPart:
    """Writes the section on the audit of a run."""

    run: Run
    words: Words

    def section(self) -> Section:
        w, audit = self.words, self.run.audited
        if audit is None:
            return Section(w.say("section.audit"), (w.paragraph("audit.none"),))
        blocks = list(audit_blocks(audit, w))
        if audit.channels and any(c.values.any() for c in audit.channels):
            draw = figures_to_draw(self.run)["audit"]
            blocks.append(Figure(w.say("figure.audit"), Plotted("figure_audit", localised(draw(), w.language))))
        return Section(w.say("section.audit"), tuple(blocks))


def audit_blocks(audit: Audit, words: Words) -> Iterator[Block]:
    """The verdict of an audit, and its table."""
    if not audit.table:
        yield words.paragraph("audit.nothing")
        return
    yield words.paragraph("audit.holds" if audit.holds else "audit.fails")
    rows: list[tuple[Line, ...]] = []
    for row in audit.table:
        relative: Line = (Value(float(row["relative"]), 2),) if "relative" in row else (Text("–"),)
        rows.append(
            (
                (words.phrase(str(row["balance"])),),
                words.say("word.yes" if row["holds"] else "word.no"),
                (Value(float(row["error"]), 3),),
                (Unit(str(row["unit"])),),
                (Value(float(row["at"]), 5), Text(" s")),
                relative,
            )
        )
    heads = ("head.balance", "head.holds", "head.error", "head.unit", "head.time", "head.relative")
    yield words.table("caption.audit", heads, rows, (2, 4, 5))
