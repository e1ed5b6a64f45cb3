"""A real browser: a Chromium or Chrome of this machine, or else the one that playwright installs."""

import shutil

import pytest

from support.browser import PATIENCE

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SOFTWARE = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]


@pytest.fixture(scope="module")
def browser():
    api = pytest.importorskip("playwright.sync_api")
    own = next((path for name in NAMES if (path := shutil.which(name))), None)
    with api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=own, args=SOFTWARE)
        yield opened
        opened.close()


@pytest.fixture
def page(browser):
    """A small page; every address it asks for, and every error, in ``page.asked`` and ``page.errors``."""
    page = browser.new_page(viewport={"width": 360, "height": 260})
    page.set_default_timeout(PATIENCE)
    page.asked, page.errors = [], []
    page.on("request", lambda request: page.asked.append(request.url))
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    yield page
    page.close()
