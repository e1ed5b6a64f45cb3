"""What came of a run: initial conditions, events, curves, extreme values, and the audit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from torseur.simulation.results.channels import Audit, Channel, Role
from torseur.simulation.results.result import Run
from torseur.views.plots.figures import GROUPS, figures_to_draw
from torseur.views.report.document import Block, Code, Figure, Inline, Line, Section, Text, Unit, Value
from torseur.views.report.formula_math import Symbols
from torseur.views.report.pictures import Plotted, localised
from torseur.views.report.terms import TERMS
from torseur.views.report.words import Words

__all__ = ["AuditPart", "ResultsPart", "audit_blocks"]

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
