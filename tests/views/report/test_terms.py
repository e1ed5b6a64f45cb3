"""The words of reports: nothing is missing in French, nothing is said that has no term."""

import inspect
import re
from pathlib import Path

import pytest

from torseur.describe import BaseKind, Constraint
from torseur.describe.loads import KINDS as LOADS
from torseur.model.modes import Stability
from torseur.packs.extension import EXTENSION
from torseur.packs.tyres import LAWS
from torseur.simulation.blocks import KINDS as BLOCKS
from torseur.simulation.solvers.methods import METHODS
from torseur.simulation.study.study import Study
from torseur.simulation.switching.modes import Say
from torseur.spatial.joints import KINDS as JOINTS
from torseur.views.plots import vehicle
from torseur.views.plots.figures import GROUPS, VEHICLE, VIEWS
from torseur.views.plots.style import QUANTITIES, axis_label
from torseur.views.plots.vehicle import OF_WHEELS
from torseur.views.report.citations import REFERENCES, USES
from torseur.views.report.document import Code, Language, Text
from torseur.views.report.layout import NARROW, NO_BREAK, digits_of, set_words
from torseur.views.report.math import parsed
from torseur.views.report.phrases import AXES, PHRASES, is_known, translated
from torseur.views.report.terms import TERMS
from torseur.views.report.words import KINDS, Words

SOURCE = Path(__file__).resolve().parents[3] / "src" / "torseur" / "views" / "report"
EVERY = {**TERMS, **{f"{family}.{kind}": term for family, kinds in KINDS.items() for kind, term in kinds.items()}}


def test_a_term_puts_in_the_same_things_in_both_languages():
    wrong = []
    for key, (english, french) in EVERY.items():
        parts = [[re.findall(r"\{\w+\}|\$[^$]+\$|\|", text) for text in (english, french)]]
        if not english.strip() or not french.strip() or any(sorted(a) != sorted(b) for a, b in parts):
            wrong.append(key)
    assert not wrong


def test_french_is_set_as_french_is():
    """The apostrophe of print; spaces that do not break before : and thin ones before ; ? and !"""
    bad = re.compile(rf"'| [;:?!]|[^{NO_BREAK}{NARROW}\s\d][;?!]|[^{NO_BREAK}]:")
    assert not [key for key, term in EVERY.items() if bad.search(set_words(term.fr, Language.FRENCH))]


def test_formulas_in_terms_can_be_printed():
    for term in TERMS.values():
        for formula in re.findall(r"\$([^$]+)\$", term.en):
            if "{" not in formula or "\\" in formula:
                parsed(formula.replace(r"\\", "\\"))


def test_every_term_that_is_said_exists_and_every_term_is_said():
    """Keys that are put together from parts are among the families below."""
    files = [*SOURCE.glob("*.py"), SOURCE.parent / "notebook.py"]
    source = "\n".join(path.read_text(encoding="utf-8") for path in files if "terms" not in path.name)
    said = set(re.findall(r'"([a-z]+\.[a-z_ ]+)"', source))
    families = ("stability.", "figure.", "use.", "mobility.", "study.start.", "start.", "caption.", "method.")
    assert {key for key in said if key.split(".")[0] in {k.split(".")[0] for k in TERMS}} - TERMS.keys() <= USES.keys()
    assert not [key for key in TERMS if key not in said and not key.startswith(families)]


@pytest.mark.parametrize(
    ("family", "kinds"),
    [
        ("joint", JOINTS.core),
        ("base", [kind.value for kind in BaseKind]),
        ("constraint", Constraint.model_fields),
        ("load", {**LOADS.core, **EXTENSION.loads}),
        ("block", {**BLOCKS.core, **EXTENSION.blocks}),
        ("solver", METHODS.core),
        ("tyre", LAWS),
    ],
)
def test_every_kind_has_a_name_in_both_languages(family, kinds):
    assert set(kinds) <= KINDS[family].keys()


def test_a_kind_of_another_package_is_shown_as_files_write_it():
    assert Words(Language.FRENCH).kind("load", "magnet") == Code("magnet")


def test_all_that_is_said_of_starts_and_figures_has_a_term():
    starts = Study.model_fields["start_from"].annotation.__args__
    assert {f"study.start.{x}" for x in starts} <= TERMS.keys()
    assert {f"stability.{x.name.lower()}" for x in Stability} <= TERMS.keys()
    assert {f"figure.{x}" for x in (*GROUPS, VEHICLE)} <= TERMS.keys()


# -- phrases of other modules ------------------------------------------------------------------------------------------
def spoken():
    for name, kind in JOINTS.items():
        if name in JOINTS.core:
            yield from (info.meaning for info in (*kind.coordinates, *kind.speeds))
    yield from (say.value for say in Say)
    yield from ("rises", "falls")
    yield from QUANTITIES.values()
    yield axis_label("")
    yield from (what for _, what, _, _ in OF_WHEELS)
    yield from re.findall(r'_(?:series|by_wheel)\(run, "([a-z][a-z ]+)"', inspect.getsource(vehicle))
    yield from (words for _, _, words in VIEWS)
    yield from (
        "energy",
        "linear momentum",
        "angular momentum",
        "loops and constraints",
        "contacts and stops",
        "impacts",
    )


def test_what_other_modules_say_is_known_in_french():
    assert not [phrase for phrase in spoken() if not is_known(phrase) and phrase not in AXES]


def test_the_most_particular_phrase_is_taken_and_numbers_get_commas():
    assert translated("drawn at theta1 = 0.349, x = 2; other coordinates 0", Language.FRENCH) == (
        "tracé pour theta1 = 0,349, x = 2 ; autres coordonnées nulles"
    )
    assert translated("rotation about x of the parent", Language.FRENCH) == "rotation autour de x de l’antécédent"
    assert translated("what a user wrote, 1.5", Language.FRENCH) == "what a user wrote, 1.5"


def test_phrases_keep_their_gaps():
    assert all(english.count("{}") == french.count("{}") for english, french in PHRASES.items())


# -- citations ---------------------------------------------------------------------------------------------------------
def test_every_method_and_every_tyre_law_says_where_it_comes_from():
    uses = [*(f"solver.{name}" for name in METHODS.core), *(f"tyre.{name}" for name in LAWS)]
    assert all(USES[use] for use in uses)


def test_references_and_their_uses_fit_together():
    assert {key for keys in USES.values() for key in keys} == REFERENCES.keys()
    for use in USES:
        assert f"use.{use}" in TERMS or f"use.{use.partition('.')[0]}" in TERMS


# -- words -------------------------------------------------------------------------------------------------------------
def test_zero_is_singular_in_french_and_plural_in_english():
    assert Words(Language.FRENCH).count("count.freedoms", 0) == (Text("0"), Text(" degré de liberté"))
    assert Words(Language.ENGLISH).count("count.freedoms", 0) == (Text("0"), Text(" degrees of freedom"))


def test_what_is_put_in_is_never_read_as_markup():
    line = Words(Language.ENGLISH).say("results.note", note="{name} costs $5$ more")
    assert Text("{name} costs $5$ more") in line


@pytest.mark.parametrize(
    ("value", "english", "french"),
    [
        (0.5, "0.5", "0,5"),
        (1234567.0, "1234567", f"1{NARROW}234{NARROW}567"),
        (-0.25, "−0.25", "−0,25"),
        (0.0, "0", "0"),
        (float("nan"), "–", "–"),
        (float("-inf"), "−∞", "−∞"),
    ],
)
def test_numbers_are_set_as_the_language_sets_them(value, english, french):
    assert digits_of(value, 7, Language.ENGLISH).mantissa == english
    assert digits_of(value, 7, Language.FRENCH).mantissa == french


@pytest.mark.parametrize(
    ("english", "french"),
    [
        ("reaches -45.2 and 25.2 at the start", "atteint -45,2 et 25,2 au départ"),
        ("reaches 3.1 at the start", "atteint 3,1 au départ"),
        ("th1: residual 0.31 %", "th1 : résidu 0,31 %"),
        ("seen from above, y stretched", "vue de dessus, y dilaté"),
    ],
)
def test_words_on_figures_have_french_ones_the_most_particular_first(english, french):
    assert translated(english, Language.FRENCH) == french
