"""What a notebook shows of mechanisms, models, equations, runs, audits, mobilities and linear models."""

import xml.etree.ElementTree as ET
from html import unescape

import pytest

import torseur as ts
from support.example_files import EXAMPLES
from torseur.errors import ArgumentError

ARM = ts.load(EXAMPLES / "planar_2r" / "planar_2r.yaml")


def page(html: str) -> ET.Element:
    """Markup that is balanced, with entities and tags without an end made plain."""
    return ET.fromstring(html.replace("&nbsp;", " ").replace("<br>", "").replace('%">', '%"/>', html.count("<img")))


def test_a_mechanism_is_one_line_of_text_and_a_page_with_its_scheme():
    assert repr(ARM) == "<Mechanism planar_2r: 2 bodies, 2 coordinates, 2 speeds>"
    root = page(ARM._repr_html_())
    assert root.get("class") == "torseur"
    assert [image.get("src")[:22] for image in root.iter("img")] == ["data:image/svg+xml;bas"]
    assert "Generalised coordinates." in "".join(root.itertext())


def test_a_mechanism_is_its_scheme_where_pictures_are_asked_for():
    root = ET.fromstring(ARM._repr_svg_())
    assert root.tag.endswith("svg")
    assert ts.build(ARM)._repr_svg_() == ARM._repr_svg_()


def test_a_run_plays_in_a_frame_that_holds_its_whole_page(tmp_path):
    pytest.importorskip("viser")
    run = ts.simulate(ARM, until=0.1)
    shown = run.playback(height=300)
    assert repr(shown).startswith("<Playback of ")
    run.animate(tmp_path / "run.html")
    frame = shown._repr_html_()
    assert frame.count("<iframe") == 1
    assert 'height="300"' in frame
    page = unescape(frame.partition('srcdoc="')[2].partition('"')[0])
    alone = (tmp_path / "run.html").read_text(encoding="utf-8")
    assert page[-20_000:] == alone[-20_000:]  # curves and script; the scene before them has names of its own
    assert abs(len(page) - len(alone)) < 1000


def test_a_model_shows_its_mechanism():
    model = ts.build(ARM)
    assert repr(model) == f"<Model of {ARM!r}>"
    assert model._repr_html_() == ARM._repr_html_()


def test_small_equations_are_shown_as_formulas_with_dots_and_large_ones_in_a_line():
    pytest.importorskip("sympy")
    torques = ts.equations(ARM)
    assert repr(torques).startswith("<Equations of inverse_dynamics: 21 products")
    assert r"\ddot{\theta}_{1}" in torques._repr_latex_()
    assert torques.closed()._repr_latex_() == torques._repr_latex_()
    assert repr(torques.closed()) == "<Closed form of inverse_dynamics>"
    assert ts.equations(ts.load(EXAMPLES / "rx90" / "rx90.yaml"))._repr_latex_() is None


def test_equations_of_a_model_are_asked_of_its_mechanism():
    with pytest.raises(ArgumentError, match=r"model\.mechanism"):
        ts.equations(ts.build(ARM))


def test_a_run_shows_its_curves_and_its_audit():
    pytest.importorskip("matplotlib")
    run = ts.simulate(ARM, until=0.1)
    html = run._repr_html_()
    assert html.count("<img") == 1
    assert "All balances hold." in html
    assert "All balances hold." in run.audit()._repr_html_()
    assert "<img" not in run.audit()._repr_html_()


def test_mobility_says_its_freedoms():
    found = ts.build(ts.load(EXAMPLES / "four_bar" / "four_bar.yaml")).mobility()
    assert str(found).startswith("1 degree of freedom")
    assert "1 degree of freedom" in "".join(page(found._repr_html_()).itertext())


def test_a_linear_model_shows_its_modes():
    linear = ts.linearise(ARM, {"theta1": -1.5707963267948966, "theta2": 0.0})
    assert repr(linear) == "<Linearised: 4 states, 2 inputs, 4 outputs, neutral>"
    rows = list(page(linear._repr_html_()).iter("tr"))
    assert len(rows) == 1 + len(linear.modes)
    assert [row[0].text for row in rows[1:]] == ["0", "0"], "no damping, and no dust of rounding either"
