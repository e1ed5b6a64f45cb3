"""The report on a mechanism, a study or a run as a document."""

from __future__ import annotations

from torseur.describe import Mechanism
from torseur.simulation.results.result import Run
from torseur.simulation.study.study import Study
from torseur.version import __version__
from torseur.views.report.citations import Citations
from torseur.views.report.document import Code, Document, Language, Line, Section, Text
from torseur.views.report.equations_section import EquationsPart
from torseur.views.report.mechanism_section import MechanismPart
from torseur.views.report.mobility_section import MobilityPart
from torseur.views.report.results_section import AuditPart, ResultsPart
from torseur.views.report.study_section import MethodPart, StudyPart
from torseur.views.report.words import Words

__all__ = ["document_of"]


def document_of(
    mechanism: Mechanism | None,
    study: Study | None = None,
    run: Run | None = None,
    *,
    language: Language = Language.ENGLISH,
    date: str | None = None,
    source: str | None = None,
) -> Document:
    """A report.

    Args:
        mechanism: what it is about; none where a run does not carry it.
        study: what is simulated, if something is.
        run: what came of it, if it was.
        language: of all words that are not the user's.
        date: printed below the title.
        source: the file of the mechanism, for commands that the report names.
    """
    words, citations = Words(language), Citations()
    sections: list[Section] = []
    if mechanism is not None:
        parameters = {**(study.parameters if study is not None else {}), **(run.parameters if run is not None else {})}
        sections.append(MechanismPart(mechanism, words, parameters).section())
        sections.append(MobilityPart(mechanism, words, parameters).section())
        sections.append(EquationsPart(mechanism, words, citations, source or "MODEL").section())
    if study is not None:
        sections.append(StudyPart(study, words).section())
    if mechanism is not None:
        sections.append(MethodPart(mechanism, study, words, citations).section())
    if run is not None:
        sections += [ResultsPart(run, words).section(), AuditPart(run, words).section()]
    if citations.numbers:
        sections.append(citations.section(words))
    title, subtitle = _titles(mechanism, study, run, words)
    return Document(title, subtitle, language, tuple(sections), date)


def _titles(mechanism: Mechanism | None, study: Study | None, run: Run | None, words: Words) -> tuple[Line, Line]:
    """The title the user gave, or the name; and what this is."""
    name = study.called if study is not None else run.name if run is not None else mechanism.name if mechanism else ""
    given = (study.title if study is not None else None) or (mechanism.title if mechanism is not None else None)
    key = "report.model" if study is None and run is None else "report.study"
    subtitle = words.say(key, name=Code(name), version=Text(__version__))
    return (Text(given or name.replace("_", " ")),), subtitle
