"""The gallery of the documentation: what `make gallery` draws for all examples, and `make docs` embeds."""

import runpy
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from support.example_files import STUDIES

pytestmark = pytest.mark.examples

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"
GALLERY = runpy.run_path(str(DOCS / "draw_gallery.py"))
SHOWN = {shown.folder: shown for group in GALLERY["EXAMPLES"].values() for shown in group}
OWN = [folder for folder, shown in SHOWN.items() if shown.name not in STUDIES or shown.changes]
"""What is no study as it stands; those are run, and their audits looked at, through the command line."""
DRAWN = "four_bar", "car", "planar_2r"
"""A study of a linkage, a model that gets its start here, an arm under control."""


@pytest.mark.parametrize("folder", OWN)
def test_what_the_gallery_shows_of_an_example_runs_to_its_end(folder):
    run = GALLERY["run_of"](SHOWN[folder])
    assert run.complete, run.reason
    assert run.audit().holds, run.audit().verdict
    assert np.ptp([run[x.name] for x in run.mechanism.q], axis=1).max() > 1e-3  # something moves


@pytest.fixture(scope="module")
def target(tmp_path_factory):
    """The site with the gallery of some examples, as `make gallery docs` lays it out."""
    site = tmp_path_factory.mktemp("site")
    folder = site / "_static" / "gallery"
    folder.mkdir(parents=True)
    for name in DRAWN:
        GALLERY["draw"](SHOWN[name], folder)
    (site / "gallery.html").write_text(GALLERY["page"](folder), encoding="utf-8")
    return folder


@pytest.mark.parametrize("name", DRAWN)
def test_a_thumbnail_shows_the_mechanism(name, target):
    with Image.open(target / f"{name}.png") as image:
        assert image.size == GALLERY["THUMBNAIL"]
        pixels = np.asarray(image.convert("RGB"), dtype=float)
    middle = pixels[pixels.shape[0] // 6 : -pixels.shape[0] // 6, pixels.shape[1] // 6 : -pixels.shape[1] // 6]
    background = np.median(middle, axis=(0, 1))
    share = (np.abs(middle - background).max(axis=2) > 40.0).mean()
    assert 0.003 < share < 0.9  # neither empty nor all covered


def test_the_page_embeds_what_was_drawn_and_no_link_is_broken(target):
    site = target.parent.parent
    html = (site / "gallery.html").read_text(encoding="utf-8")
    for name in DRAWN:
        assert f'<iframe src="_static/gallery/{name}.html"' in html
        assert f'<img src="_static/gallery/{name}.png"' in html
    assert html.count("<iframe") == len(DRAWN)
    playbacks = {name: (target / f"{name}.html").read_text(encoding="utf-8") for name in DRAWN}
    assert all(text.startswith("<!doctype html>") and len(text) > 500_000 for text in playbacks.values())
    faults = list(runpy.run_path(str(DOCS / "check_links.py"))["faults"](site))
    assert faults == []


def test_without_anything_drawn_the_page_says_how_to_draw_it(tmp_path):
    assert "make gallery" in GALLERY["page"](tmp_path)
