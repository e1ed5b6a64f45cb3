"""The report on an identification as a document."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from torseur.errors import choice
from torseur.identification.assessment import advice
from torseur.identification.described import Described, described_values
from torseur.identification.identification import Identification, Level, Prediction
from torseur.version import __version__
from torseur.views.identification import figures_of_identification
from torseur.views.report import write_report
from torseur.views.report.document import (
    Block,
    Bullets,
    Code,
    Document,
    Figure,
    Inline,
    Language,
    Line,
    Section,
    Text,
    Unit,
    Value,
)
from torseur.views.report.pictures import Plotted, localised
from torseur.views.report.words import Words

__all__ = ["identification_report"]

_VERDICTS = {
    "determined": "identify.verdict_determined",
    "uncertain": "identify.verdict_uncertain",
    "not determined": "identify.verdict_not",
    "no effect": "identify.verdict_none",
}
_NONE: Line = (Text("–"),)


def identification_report(
    identified: Identification,
    folder: str | os.PathLike[str],
    *,
    unseen: Prediction | None = None,
    language: str = "en",
    formats: Sequence[str] = ("html",),
) -> list[Path]:
    """Write a report on an identification into a folder.

    Args:
        identified: what was identified.
        folder: where to.
        unseen: how it predicts measurements that were not used.
        language: "en" or "fr".
        formats: of "html", "latex", "pdf".
    """
    words = Words(choice(Language, language, "language"))
    return write_report(_Part(identified, unseen, words).document(), folder, formats)


@dataclass(frozen=True)
class _Part:
    found: Identification
    unseen: Prediction | None
    words: Words

    def document(self) -> Document:
        say, mechanism = self.words.say, self.found.model.mechanism
        subtitle = say("identify.subtitle", name=Code(mechanism.name), version=Text(__version__))
        sections = [
            Section(say("identify.data"), tuple(self._data())),
            Section(say("identify.estimates"), tuple(self._estimates())),
            Section(say("identify.undetermined"), tuple(self._undetermined())),
            Section(say("identify.residuals"), tuple(self._residuals())),
            Section(say("identify.described"), tuple(self._described(described_values(self.found)))),
        ]
        if self.unseen is not None:
            sections.insert(4, Section(say("identify.validation"), tuple(self._validation(self.unseen))))
        title = (Text(mechanism.title or mechanism.name.replace("_", " ")),)
        return Document(title, subtitle, self.words.language, tuple(sections))

    def _data(self) -> Iterator[Block]:
        findings = self.found.findings
        if not findings:
            yield self.words.paragraph("identify.clean")
            return
        yield Bullets(tuple((Text(str(f)),) for f in findings))

    def _estimates(self) -> Iterator[Block]:
        w, e = self.words, self.found.estimate
        counts: dict[str, Inline] = {
            "kept": Value(len(e.kept)), "all": Value(len(self.found.names)), "rows": Value(e.count),
            "condition": Value(e.condition, 3),
        }  # fmt: skip
        yield w.paragraph("identify.solution", **counts)
        yield w.paragraph("identify.correlated", lag=Value(e.lag), share=Value(100.0 * e.certainty, 2))
        heads = ("head.symbol", "head.value", "identify.head_deviation", "identify.head_relative", "head.unit")
        more = ("identify.head_described", "identify.head_verdict")
        yield w.table("identify.caption_estimates", (*heads, *more), map(self._row, self.found.levels), (1, 2, 3, 5))
        yield self._figure("estimates")

    def _row(self, x: Level) -> tuple[Line, ...]:
        def number(value: float, digits: int) -> Line:
            return (Value(value, digits),) if np.isfinite(value) else _NONE

        share = 100.0 * x.relative
        verdict = self.words.say(_VERDICTS.get(x.verdict, "identify.verdict_only"))
        unit: Line = (Unit(x.unit),) if x.unit else ()
        return (
            (Code(x.name),), number(x.value, 5), number(x.deviation, 2), number(share if share < 1e3 else np.nan, 2),
            unit, number(x.described, 5), verdict,
        )  # fmt: skip

    def _undetermined(self) -> Iterator[Block]:
        names = self.found.undetermined
        if not names:
            yield self.words.paragraph("identify.all_determined")
            return
        told = {a.name: str(a) for a in advice(self.found)}
        yield Bullets(tuple((Text(told.get(n, n)),) for n in names))

    def _residuals(self) -> Iterator[Block]:
        yield self._table(self.found.prediction)
        yield self._figure("prediction")
        yield self._figure("residuals")

    def _validation(self, unseen: Prediction) -> Iterator[Block]:
        yield self.words.paragraph("identify.holds" if unseen.holds else "identify.fails")
        yield self._table(unseen)
        yield self._figure("validation")

    def _table(self, shown: Prediction) -> Block:
        rows = [
            ((Code(n),), (Value(100.0 * float(x), 3),), (Value(100.0 * float(e), 3),))
            for n, x, e in zip(shown.names, shown.relative, shown.expected, strict=True)
        ]
        heads = ("identify.head_equation", "identify.head_residual", "identify.head_expected")
        return self.words.table("identify.caption_rows", heads, rows, (1, 2))

    def _described(self, described: Described) -> Iterator[Block]:
        w = self.words
        if not described.values:
            yield w.paragraph("identify.none_described")
            return
        rows = [((Code(n),), (Value(x, 6),), (Value(described.deviations[n], 2),)) for n, x in described.values.items()]
        heads = ("head.symbol", "head.value", "identify.head_deviation")
        yield w.table("identify.caption_described", heads, rows, (1, 2))
        if described.shared:
            yield w.paragraph("identify.shared", names=", ".join(described.shared))

    def _figure(self, name: str) -> Block:
        draw = figures_of_identification(self.found, self.unseen)[name]
        captions = {
            "prediction": "identify.figure_prediction",
            "residuals": "identify.figure_residuals",
            "estimates": "identify.figure_estimates",
            "validation": "identify.validation",
        }
        picture = Plotted(f"identification_{name}", localised(draw(), self.words.language))
        return Figure(self.words.say(captions[name]), picture)
