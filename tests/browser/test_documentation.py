"""The built documentation in a real browser: pages show their formulas, and ask for nothing from a network.

`make test-browser` builds it first.
"""

from pathlib import Path

import pytest

SITE = Path(__file__).resolve().parents[2] / "docs" / "_build" / "html"
PAGES = [
    "index.html",
    "theory/tyres.html",
    "theory/newton_euler.html",
    "fr/pendule.html",
    "reference/joints.html",
    "cheat_sheet.html",
    "ja/index.html",
]

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not (SITE / "index.html").exists(), reason="make docs builds what is looked at"),
]


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_complete_without_a_network(page, name):
    page.context.set_offline(True)
    page.goto((SITE / name).as_uri())
    written = page.locator(".math").count()
    page.wait_for_function(f"() => document.querySelectorAll('mjx-container').length >= {written}")
    assert page.locator("mjx-merror").count() == 0
    pictures = "() => [...document.images].filter(i => !(i.complete && i.naturalWidth)).map(i => i.src)"
    page.evaluate("() => document.querySelectorAll('img').forEach(i => i.loading = 'eager')")
    page.wait_for_function("() => [...document.images].every(i => i.complete)")
    assert page.evaluate(pictures) == []
    assert all(address.startswith(("file:", "data:", "blob:")) for address in page.asked)
    assert not page.errors


def test_all_formulas_of_all_pages_are_understood(page):
    names = [file for file in sorted(SITE.rglob("*.html")) if 'class="math' in file.read_text(encoding="utf-8")]
    assert len(names) > 20
    for file in names:
        page.goto(file.as_uri())
        written = page.locator(".math").count()
        page.wait_for_function(f"() => document.querySelectorAll('mjx-container').length >= {written}")
        assert page.locator("mjx-merror").count() == 0, file
        assert page.locator("mjx-container [data-mml-node=merror]").count() == 0, file
