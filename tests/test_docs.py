"""The documentation tells the truth: its Python runs, its assertions hold, and what it names exists."""

import ast
import json
import re
import runpy
import shutil
import tomllib
import traceback
from pathlib import Path

import pytest

import torseur as ts
from support import processes
from support.markdown_code import run_markdown
from torseur import extensions
from torseur.spatial.joints import KINDS

ROOT = Path(__file__).resolve().parent.parent
PARTS = "tutorials", "extending", "fr"
PAGES = [
    ROOT / "README.md",
    ROOT / "docs" / "how_to.md",
    ROOT / "docs" / "comparison.md",
    ROOT / "docs" / "editors.md",
    ROOT / "docs" / "reference" / "api.md",
    *(page for part in PARTS for page in sorted((ROOT / "docs" / part).glob("*.md"))),
]
LONG = {"double_lane_change.md", "how_to.md", "fmu.md", "calling_from_c.md", "five_mechanisms.md", "cinq_mecanismes.md"}
"""Pages that compile for long."""


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=pytest.mark.slow) if page.name in LONG else page for page in PAGES],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_the_code_of_a_page_runs(page, tmp_path, monkeypatch):
    """In a folder that holds the examples, as the reader's does."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(extensions, "_registered", [])  # what a page registers is forgotten with it
    assert run_markdown(page) or page.name == "index.md"


def page_with(tmp_path: Path, *blocks: str) -> Path:
    page = tmp_path / "page.md"
    page.write_text("# Title\n\n" + "\n".join(f"```python\n{block}\n```\n\nText.\n" for block in blocks))
    return page


def test_blocks_share_their_names(tmp_path):
    assert run_markdown(page_with(tmp_path, "x = 2", ">>> x + 1\n3\n>>> y = x", "assert y == 2")) == 3


def test_a_false_assertion_fails_with_its_line(tmp_path):
    with pytest.raises(AssertionError) as caught:
        run_markdown(page_with(tmp_path, "x = 1", "assert x == 2"))
    assert traceback.extract_tb(caught.value.__traceback__)[-1].lineno == 10


def test_a_wrong_doctest_fails_with_its_line(tmp_path):
    with pytest.raises(AssertionError, match=r"line 4, in page\.md(.|\n)*Got:\n    2"):
        run_markdown(page_with(tmp_path, ">>> 1 + 1\n3"))


def test_other_languages_are_left_alone(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```sh\nmake test\n```\n\n```{code-block} python\nnot python\n```\n")
    assert run_markdown(page) == 0


# -- links -------------------------------------------------------------------------------------------------------------
def links_of(page: Path) -> set[str]:
    text = re.sub(r"^(`{3,}|:{3,}).*?^\1[ \t]*$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return set(re.findall(r"\]\(([^)\s]+)\)", text))


def test_links_between_files_of_the_repository_lead_somewhere():
    """Those of the built pages are followed by `make docs`."""
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")]
    links = {(page, link.partition("#")[0]) for page in pages for link in links_of(page) if "://" not in link}
    assert len(links) > 25
    assert not [(page.name, link) for page, link in links if link and not (page.parent / link).exists()]


BROKEN = {
    '<a href="nowhere.html">x</a>': "nowhere.html: no such file",
    '<a href="#nothing">x</a>': "#nothing: no element 'nothing'",
    '<a href="b.html#nothing">x</a>': "b.html#nothing: no element 'nothing'",
    '<img src="picture.png">': "picture.png: no such file",
    '<script src="https://example.org/a.js"></script>': "loads https://example.org/a.js from a network",
    '<link rel="stylesheet" href="//example.org/a.css">': "loads //example.org/a.css from a network",
    '<a href="ftp://example.org">x</a>': "ftp://example.org: not an address",
}


@pytest.mark.parametrize("html", BROKEN)
def test_a_broken_link_in_a_page_is_named(html, tmp_path):
    check = runpy.run_path(str(ROOT / "docs" / "check_links.py"))["faults"]
    (tmp_path / "b.html").write_text('<p id="here"></p><a href="https://example.org/">there</a>', encoding="utf-8")
    (tmp_path / "a.html").write_text(
        '<a href="b.html#here">x</a><a href="#top">x</a><i id="top"></i>', encoding="utf-8"
    )
    assert list(check(tmp_path)) == []
    (tmp_path / "a.html").write_text(html, encoding="utf-8")
    assert any(line.endswith(BROKEN[html]) for line in check(tmp_path))


# -- pictures ----------------------------------------------------------------------------------------------------------
def test_the_gallery_shows_every_example_and_the_reference_every_joint():
    gallery = runpy.run_path(str(ROOT / "docs" / "draw_gallery.py"))["EXAMPLES"]
    shown = [one.name for group in gallery.values() for one in group]
    folders = {name.partition("/")[0] for name in ts.examples.names()} - {"welding_arm_printed"}  # one with a fault
    assert {name.partition("/")[0] for name in shown} == folders
    assert set(shown) <= set(ts.examples.names())
    page = (ROOT / "docs" / "reference" / "joints.md").read_text(encoding="utf-8")
    assert not [kind for kind in KINDS if f"## {kind}\n" not in page or f"joints/{kind}.png" not in page]


# -- the map of the package --------------------------------------------------------------------------------------------
MAP = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
WAY = re.findall(r"^\| \d+ \| `([^`]+)` \| `(\w+)`", MAP, flags=re.MULTILINE)


def test_every_file_and_folder_that_the_map_names_exists():
    named = re.findall(r"`([a-z_]+(?:/\w+)*(?:\.(?:py|md))?)`", MAP)
    paths = [name for name in named if "/" in name]
    assert len(paths) > 20
    assert not [name for name in paths if not (ROOT / "src" / "torseur" / name).exists() and not (ROOT / name).exists()]


def test_the_map_has_every_layer_in_its_order():
    layers = re.search(r"## Layers.*?```\n(.*?)```", MAP, flags=re.DOTALL)[1]
    drawn = [line.split()[0] for line in layers.splitlines()]
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    assert drawn == [name for name in contract[0]["layers"] if not name.startswith("(")]


FOLLOWED = """
    import cProfile, json, sys

    from torseur.cli import main

    profile = cProfile.Profile()
    arguments = ["simulate", sys.argv[1], "-o", sys.argv[2], "--until", "0.01", "--no-playback"]
    code = profile.runcall(main, arguments)
    met = [[x.code.co_filename, x.code.co_firstlineno] for x in profile.getstats() if not isinstance(x.code, str)]
    print("\\n" + json.dumps([code, met]))
"""


def lines_of(file: Path, name: str) -> range:
    """Of a function, or of the methods of a class: the lines at which they begin."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    node = next(x for x in tree.body if isinstance(x, (ast.FunctionDef, ast.ClassDef)) and x.name == name)
    first = node.lineno + 1 if isinstance(node, ast.ClassDef) else node.lineno
    return range(first, (node.end_lineno or first) + 1)


@pytest.mark.slow
def test_a_datum_goes_the_way_of_the_map(tmp_path):
    study = ROOT / "examples" / "double_pendulum" / "swing.yaml"
    out = processes.run(FOLLOWED, str(study), str(tmp_path), TORSEUR_CACHE=str(tmp_path / "cache"))
    code, met = json.loads(out.splitlines()[-1])
    assert code == 0
    assert len(WAY) >= 12
    package = ROOT / "src" / "torseur"
    for place, name in WAY:
        lines = lines_of(package / place, name)
        assert any(Path(file) == package / place and line in lines for file, line in met), (place, name)
