"""Reports on mechanisms, studies and runs: what they say, in both languages, the same every time."""

import re
import shutil
import subprocess
from html import unescape

import pytest

import torseur as ts
from support.example_files import EXAMPLES, FILES, STUDIES
from torseur.describe import Mechanism
from torseur.describe.loads import Effort
from torseur.errors import ArgumentError, MissingExtra
from torseur.simulation.study.study import Study
from torseur.views.report import document_of, report
from torseur.views.report.diagram import MECHANISM, draw_diagram, wiring
from torseur.views.report.document import Equation, Figure, Language, Section, Table
from torseur.views.report.html import to_html
from torseur.views.report.latex import to_latex_document, to_latex_math
from torseur.views.report.words import Words
from torseur.views.scheme.svg import Polyline
from torseur.views.scheme.svg import Words as Signs

ARM = EXAMPLES / "planar_2r" / "planar_2r.yaml"
FR, EN = Language.FRENCH, Language.ENGLISH
SLIDE = {
    "name": "slide",
    "inputs": {"f": {"unit": "N"}},
    "bodies": {"cart": {"joint": {"kind": "prismatic", "coordinate": "x"}, "inertia": {"M": 2.0}}},
    "loads": {"push": Effort(coordinate="x", value="f")},
}


def words(html: str) -> str:
    """The text of a page, one space where there were some."""
    text = re.sub(r"<style>.*?</style>|data:[^\"]*", "", html, flags=re.DOTALL)
    return re.sub(r"[ \n\t]+", " ", unescape(re.sub(r"<[^>]+>", "", text)))


def every(document, kind):
    def walk(blocks):
        for block in blocks:
            if isinstance(block, Section):
                yield from walk(block.blocks)
            elif isinstance(block, kind):
                yield block

    return list(walk(document.sections))


@pytest.fixture(scope="module")
def arm():
    mechanism = ts.load(ARM)
    return {language: document_of(mechanism, language=language, source="planar_2r.yaml") for language in Language}


@pytest.fixture(scope="module")
def run():
    return Study(model=Mechanism(**SLIDE), start={"x": 0.5}, inputs={"f": "3*sin(t)"}, until=1.0)


def test_the_planar_arm_is_described_from_its_scheme_to_its_equations(arm):
    page = words(to_html(arm[EN]))
    for said in ("Mechanism", "Denavit-Hartenberg", "2 degrees of freedom", "Equations of motion", "References"):
        assert said in page
    assert "Khalil" in page
    assert "Dormand" not in page, "nothing was integrated"
    assert [figure.picture.name for figure in every(arm[EN], Figure)] == ["scheme"]


def test_the_equations_of_the_planar_arm_are_written_out_with_dots(arm):
    source = to_latex_document(arm[EN])
    assert r"\ddot{\theta }" in source
    assert "dtheta" not in source
    assert r"\left( {m}_{1} + {m}_{2} \right) \,  {l}_{1}^{2}" in source
    assert len(every(arm[EN], Equation)) == 5  # the form, M, C, g, and the generalised forces


def test_french_says_the_same_with_commas(arm):
    page = words(to_html(arm[FR]))
    for said in ("Mécanisme", "Degrés de liberté", "Équations du mouvement", "Références", "9,81", "0,06"):
        assert said in page
    assert "9.81" not in page
    (scheme,) = every(arm[FR], Figure)
    assert ">0,1 m<" in scheme.picture.svg().decode()
    assert len(every(arm[FR], Table)) == len(every(arm[EN], Table))


@pytest.mark.slow
def test_a_large_mechanism_gets_a_listing_or_the_command_that_prints_one():
    made = document_of(ts.load(EXAMPLES / "stanford" / "stanford.yaml"), source="stanford.yaml")
    page = words(to_html(made))
    assert "torseur equations stanford.yaml --of" in page
    assert "Listing" in page
    assert sum(len(equation.lines) for equation in every(made, Equation)) > 60


@pytest.mark.parametrize(
    ("law", "latex"),
    [
        (
            "if(x > dx and x < 1, x, 0)",
            r"\begin{cases} x & \text{si } \dot{x} < x \land  x < 1 \\ 0 & \text{sinon} \end{cases}",
        ),
        (
            "if(x > 0 or dx > 0, 2, 1)",
            r"\begin{cases} 2 & \text{si } \dot{x} > 0 \lor  x > 0 \\ 1 & \text{sinon} \end{cases}",
        ),
        ("abs(dx)*floor(x)", r"\left| \dot{x} \right| \,  \left\lfloor x \right\rfloor"),
        ("log(2 + atan2(x, dx))", r"\ln \left( 2 + \operatorname{atan2} \left( x , \dot{x} \right) \right)"),
        ("sign(asin(x/9))", r"\operatorname{sgn} \left( \arcsin \left( \frac{1}{9} \,  x \right) \right)"),
    ],
)
def test_choices_and_functions_of_laws_are_written_as_on_paper(law, latex):
    loads = {"law": Effort(coordinate="x", value=law)}
    mechanism = Mechanism(name="m", gravity=(0.0, 0.0, 0.0), bodies=SLIDE["bodies"], loads=loads)
    lines = every(document_of(mechanism, language=FR), Equation)[-1].lines
    assert to_latex_math(lines[-1].right, FR) == rf"2 \,  \ddot{{x}} - {latex}"


def test_a_table_in_a_law_has_a_name_in_the_listing():
    loads = {"law": Effort(coordinate="x", value="-table(x, gas)")}
    table = {"x": [0.0, 0.1, 0.4], "values": [0.0, 20.0, 25.0], "between": "monotone"}
    mechanism = Mechanism(name="m", bodies=SLIDE["bodies"], loads=loads, tables={"gas": table})
    found = [to_latex_math(line.right, EN) for e in every(document_of(mechanism), Equation) for line in e.lines]
    assert any("cases" in text for text in found)
    assert not any("cases" in text and "ddot" in text for text in found)


def test_parameters_of_a_study_stand_in_place_of_those_of_the_model():
    study = Study(model=Mechanism(**SLIDE, parameters={"k": {"value": 1.0}, "m": {}}), parameters={"k": 7.25})
    page = words(to_html(document_of(study.model, study)))
    assert "7.25" in page
    assert "without a value" in page


def test_a_mechanism_that_is_empty_has_a_report_too():
    page = words(to_html(document_of(Mechanism(name="nothing"), language=FR)))
    assert "aucune coordonnée" in page


# -- studies and runs --------------------------------------------------------------------------------------------------
def test_a_study_is_wired_from_signals_to_sensors():
    study = Study(
        model=Mechanism(**SLIDE),
        inputs={"f": {"pd": {"value": "seen_x", "rate": "dx", "reference": "want", "kp": 5.0}}},
        blocks={"want": {"step": {"time": 1.0, "after": 1.0}}, "seen": {"pose": {"frame": "cart"}}},
    )
    found = {(w.source, w.target): w.signals for w in wiring(study).wires}
    assert found == {
        (MECHANISM, "f"): ("dx",),
        ("seen", "f"): ("seen_x",),
        ("want", "f"): ("want",),
        ("f", MECHANISM): ("f",),
        (MECHANISM, "seen"): ("cart",),
    }
    (_, diagram) = every(document_of(study.model, study, language=FR), Figure)
    svg = diagram.picture.svg().decode()
    for said in (">want<", ">seen_x<", ">slide<", "mécanisme", "échelon", "correcteur PD"):
        assert said in svg, said


@pytest.mark.slow
def test_all_wires_of_a_diagram_are_on_its_sheet():
    study = ts.load_study(EXAMPLES / "smera" / "double_turn.yaml")
    picture = draw_diagram(study, Words(EN))
    lines = [shape for shape in picture.shapes if isinstance(shape, Polyline)]
    assert len(lines) > 20
    assert all(
        0.0 <= x <= limit for line in lines for p in line.points for x, limit in zip(p, picture.size, strict=True)
    )


def test_signals_of_a_sensor_that_feeds_the_first_blocks_are_on_the_sheet():
    hand = {"velocity": {"frame": "cart"}}
    law = {"lag": {"value": "speedometer_vx", "time": 0.1}}
    study = Study(model=Mechanism(**SLIDE), inputs={"f": law}, blocks={"speedometer": hand}, until=1.0)
    picture = draw_diagram(study, Words(FR))
    signals = [shape for shape in picture.shapes if isinstance(shape, Signs)]
    assert any("speedometer" in shape.words and shape.italic for shape in signals)
    assert all(0.0 <= shape.where[0] <= picture.size[0] for shape in signals)


@pytest.mark.slow
def test_a_run_shows_where_it_started_and_that_its_audit_holds(run, tmp_path):
    pytest.importorskip("matplotlib")
    result = ts.simulate(run)
    written = result.report(tmp_path, study=run, language="fr", formats=("html", "latex"))
    page = words((tmp_path / "report.html").read_text(encoding="utf-8"))
    for said in ("Conditions initiales", "Tous les bilans sont vérifiés", "Aucun événement", "Dormand", "énergie"):
        assert said in page
    assert {path.name for path in written} >= {"report.html", "report.tex", "figure_coordinates.pdf", "diagram.pdf"}
    assert all(b"CreationDate" not in path.read_bytes() for path in written if path.suffix == ".pdf")


@pytest.mark.slow
def test_the_same_input_gives_the_same_bytes(run, tmp_path):
    pytest.importorskip("matplotlib")
    pytest.importorskip("typst")
    for k in (1, 2):
        ts.simulate(run).report(tmp_path / str(k), study=run, formats=("html", "latex", "pdf"))
    files = sorted(path.relative_to(tmp_path / "1") for path in (tmp_path / "1").rglob("*") if path.is_file())
    assert len(files) > 8
    for file in files:
        assert (tmp_path / "1" / file).read_bytes() == (tmp_path / "2" / file).read_bytes(), file


def test_a_date_is_printed_only_if_it_is_given():
    assert "18 novembre 2026" in words(to_html(document_of(Mechanism(**SLIDE), language=FR, date="18 novembre 2026")))
    assert not re.search(r"\b20\d\d-\d\d", words(to_html(document_of(Mechanism(**SLIDE)))))


# -- what users write --------------------------------------------------------------------------------------------------
EVIL = '</p><script>x</script> \\input{a} $ #set page() ] "; _*'


def test_hostile_titles_units_and_descriptions_are_shown_and_do_nothing():
    data = SLIDE | {
        "title": EVIL,
        "parameters": {"p": {"value": 1.0, "unit": EVIL[:40], "description": EVIL}},
        "notes": [EVIL],
    }
    study = Study(model=Mechanism(**data), name=EVIL, title=EVIL, inputs={"f": 1.0})
    made = document_of(study.model, study)
    html = to_html(made)
    assert "<script>" not in html
    assert EVIL in words(html)
    assert "\\input{" not in to_latex_document(made).replace("\\textbackslash{}input\\{", "")
    typst = pytest.importorskip("torseur.views.report.typst")
    pytest.importorskip("typst")
    assert typst.to_pdf(made).startswith(b"%PDF")


# -- wrong use ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"language": "de"}, "no reports in this language"),
        ({"formats": ("docx",)}, "not written in this format"),
        ({"formats": "html"}, "not written in this format"),
        ({"formats": ()}, "not written in this format"),
    ],
)
def test_a_language_or_format_that_is_not_there_is_refused_by_name(options, what, tmp_path):
    with pytest.raises(ArgumentError, match=what):
        report(Mechanism(**SLIDE), tmp_path, **options)
    assert not list(tmp_path.iterdir())


def test_what_is_no_mechanism_is_refused(tmp_path):
    with pytest.raises(ArgumentError, match="nothing to report on"):
        report("arm.yaml", tmp_path)


def test_a_folder_that_cannot_be_written_to_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ArgumentError, match="cannot be written"):
        report(Mechanism(**SLIDE), tmp_path / "file" / "inside")


def test_pdf_without_its_package_names_the_extra(monkeypatch, tmp_path):
    monkeypatch.setitem(__import__("sys").modules, "typst", None)
    with pytest.raises(MissingExtra, match="report"):
        report(Mechanism(**SLIDE), tmp_path, formats=("pdf",))


# -- all examples ------------------------------------------------------------------------------------------------------
@pytest.mark.examples
@pytest.mark.parametrize("path", sorted([*FILES.values(), *STUDIES.values()]), ids=lambda path: path.stem)
def test_every_example_has_a_report_in_both_languages(path, tmp_path):
    """Without a simulation, which other tests of examples do."""
    study = ts.load_study(path)
    pytest.importorskip("typst")
    for language in ("en", "fr"):
        written = report(study, tmp_path / language, language=language, formats=("html", "latex", "pdf"))
        html = (tmp_path / language / "report.html").read_text(encoding="utf-8")
        assert html.count("<math") == html.count("</math>") > 5
        assert (tmp_path / language / "report.pdf").read_bytes().startswith(b"%PDF")
        assert len(written) > 3


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no TeX is installed")
@pytest.mark.parametrize("language", ["en", "fr"])
@pytest.mark.parametrize("file", ["planar_2r/pd_control.yaml", "smera/double_turn.yaml"])
def test_the_latex_of_a_report_compiles_with_its_pictures(file, language, tmp_path):
    report(ts.load_study(EXAMPLES / file), tmp_path, language=language, formats=("latex",))
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "report.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout.decode("utf-8", "replace")[-2000:]
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")
