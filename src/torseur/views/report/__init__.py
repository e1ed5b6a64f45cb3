"""Reports: a mechanism, a study or a run as pages to read, in HTML, LaTeX and PDF, in English and French.

====================  ==================================================================================================
document              frozen records: sections, paragraphs, tables, equations, figures
math                  formulas as trees, read from the LaTeX of the emitters
words, terms          all that is said, in both languages; phrases of other modules in French
citations             what comes from where
\\*_section            what a report says
layout                how wide formulas and columns are
writer                one walk through a document, of which html, latex and typst are dialects; typst makes the PDF
====================  ==================================================================================================
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from torseur.describe import Mechanism
from torseur.errors import ArgumentError
from torseur.formats import replace_file
from torseur.simulation.results.result import Run
from torseur.simulation.study.study import Study
from torseur.version import __version__
from torseur.views.report.citations import Citations
from torseur.views.report.document import Code, Document, Language, Line, Section, Text, figures
from torseur.views.report.equations_section import EquationsPart
from torseur.views.report.html import to_html
from torseur.views.report.latex import to_latex_document
from torseur.views.report.mechanism_section import MechanismPart, MobilityPart
from torseur.views.report.study_section import AuditPart, MethodPart, ResultsPart, StudyPart
from torseur.views.report.typst import to_pdf
from torseur.views.report.words import Words

__all__ = ["FORMATS", "document_of", "report", "write_report"]


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


STEM = "report"
Files = Iterator[tuple[str, bytes]]


def _html(document: Document) -> Files:
    yield f"{STEM}.html", to_html(document).encode("utf-8")


def _latex(document: Document) -> Files:
    for figure in figures(document.sections):
        yield f"figures/{figure.picture.name}.pdf", figure.picture.pdf()
    yield f"{STEM}.tex", to_latex_document(document).encode("utf-8")


def _pdf(document: Document) -> Files:
    yield f"{STEM}.pdf", to_pdf(document)


FORMATS: dict[str, Callable[[Document], Files]] = {"html": _html, "latex": _latex, "pdf": _pdf}
"""Name -> the files that a document becomes."""


def report(
    what: Mechanism | Study | Run,
    folder: str | os.PathLike[str],
    *,
    study: Study | None = None,
    language: str = "en",
    formats: Sequence[str] = ("html",),
    date: str | None = None,
    source: str | None = None,
) -> list[Path]:
    """Write a report into a folder, which is made if needed. Nothing is simulated: give a run for results.

    Args:
        what: a mechanism, a study, or a run.
        folder: where to; files of earlier reports there are replaced.
        study: what a run came from, for its block diagram and method.
        language: "en" or "fr".
        formats: of "html" (one file), "latex" (source and figures), "pdf" (needs the extra ``report``).
        date: printed below the title if given; without it the same input gives the same bytes.
        source: the file of the mechanism, for commands that the report names.

    Returns:
        The files written.

    >>> import tempfile
    >>> from torseur.describe import Mechanism
    >>> cart = {"joint": {"kind": "prismatic", "coordinate": "x"}, "inertia": {"M": 1.0}}
    >>> [file] = report(Mechanism(name="slide", bodies={"cart": cart}), tempfile.mkdtemp(), language="fr")
    >>> "Équations du mouvement" in file.read_text(encoding="utf-8")
    True
    """
    run = what if isinstance(what, Run) else None
    study = what if isinstance(what, Study) else study
    if not isinstance(what, (Mechanism, Study, Run)):
        raise ArgumentError("nothing to report on", expected="a mechanism, a study or a run", got=repr(what)[:60])
    mechanism = what if isinstance(what, Mechanism) else study.model if study is not None else None
    mechanism = run.mechanism if run is not None and run.mechanism is not None else mechanism
    wanted = _language(language)
    _check_formats(formats)
    made = document_of(mechanism, study, run, language=wanted, date=date, source=source)
    return write_report(made, folder, formats)


def write_report(document: Document, folder: str | os.PathLike[str], formats: Sequence[str]) -> list[Path]:
    """A document in some formats; a file is written whole or not at all."""
    _check_formats(formats)
    made = [item for name in dict.fromkeys(formats) for item in FORMATS[name](document)]
    written = []
    try:
        for name, data in made:
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(path, data)
            written.append(path)
    except OSError as error:
        got = error.strerror or type(error).__name__
        raise ArgumentError("the report cannot be written", where=str(folder), got=got) from error
    return written


def _language(name: str) -> Language:
    known = [language.value for language in Language]
    if name not in known:
        raise ArgumentError(
            "no reports in this language", where="language", expected=" or ".join(known), got=repr(name)
        )
    return Language(name)


def _check_formats(formats: Sequence[str]) -> None:
    wrong = [name for name in formats if name not in FORMATS] if not isinstance(formats, str) else [formats]
    if wrong or not formats:
        expected = "some of " + ", ".join(FORMATS)
        got = ", ".join(map(str, wrong)) or "none"
        raise ArgumentError("reports are not written in this format", where="formats", expected=expected, got=got)
