"""The report as one HTML file in a real browser: it asks for nothing from a network and draws formulas as written."""

import pytest

import torseur as ts
from support.example_files import EXAMPLES

pytestmark = pytest.mark.browser

DOTS = """() => [...document.querySelectorAll("mover")].map(dotted => {
    const [letter, dots] = [...dotted.children].map(part => part.getBoundingClientRect());
    return letter.top - dots.bottom;
})"""
"""The gap between the dots of each derivative and their letter, in pixels."""


@pytest.mark.parametrize("language", ["en", "fr"])
def test_a_report_is_whole_and_its_dots_are_above_the_letters(page, tmp_path, language):
    model = ts.load(EXAMPLES / "planar_2r" / "planar_2r.yaml")
    [file] = ts.report(model, tmp_path, language=language)
    page.goto(file.as_uri())
    assert page.locator("math").count() > 10
    assert page.locator("html").get_attribute("lang") == language
    gaps = page.evaluate(DOTS)
    assert len(gaps) > 3
    assert min(gaps) > 1.0
    assert page.errors == []
    assert page.asked == [file.as_uri()]
