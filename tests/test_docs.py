"""The documentation tells the truth: its Python runs, its assertions hold, and what it names exists."""

import ast
import functools
import json
import re
import runpy
import shlex
import shutil
import textwrap
import tomllib
import traceback
from itertools import takewhile
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

import torseur as ts
from support import processes
from support.c_programs import built, ran
from support.json_schema import fits
from support.markdown_code import blocks, run_markdown
from torseur import extensions
from torseur.campaign.description import Campaign
from torseur.cli import main, torseur_group
from torseur.formats.yaml.schema import schema
from torseur.packs.vehicles.description import Vehicle
from torseur.simulation.study.writer import study_schema
from torseur.spatial.joints import KINDS

ROOT = Path(__file__).resolve().parent.parent
EVERY = sorted(
    page
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")]
    if "_build" not in page.parts and page.name != "CHANGELOG.md"
)
PAGES = [page for page in EVERY if blocks(page.read_text(encoding="utf-8"))]
"""All that have Python to run; the notebooks are run by `tests/examples/test_notebooks.py`."""
LONG = {
    "double_lane_change.md",
    "how_to.md",
    "fmu.md",
    "calling_from_c.md",
    "linkage.md",
    "robot_from_urdf.md",
    "rolling.md",
    "simulating.md",
    "cinq_mecanismes.md",
}
"""Pages that compile for long."""
NOT_RUN = {
    "CONTRIBUTING.md": "good and bad style",
    "formats.md": "two lines of a package that is not there; extending/format.md runs a whole one",
    "report.md": "needs typst; tests/views/report writes all formats",
    "results.md": "a playback needs viser; tests/views and tests/browser write and play some",
    "scenarios.md": "two ways to call what tutorials/double_lane_change.md runs",
    "studies.md": "two ways to call what tutorials/simulating.md runs",
}
"""Pages with Python that is shown and not run, and why."""


def in_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that holds the examples, as the reader's does."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(extensions, "_registered", [])  # what a page registers is forgotten with it


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=pytest.mark.slow) if page.name in LONG else page for page in PAGES],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_the_code_of_a_page_runs_and_prints_what_it_shows(page, tmp_path, monkeypatch, capsys):
    in_its_folder(tmp_path, monkeypatch)
    run_markdown(page)
    printed = capsys.readouterr().out
    for command, shown in printed_by_commands(page.read_text(encoding="utf-8")):
        assert main(shlex.split(command)[1:]) == 0, command
        assert is_shown_as(capsys.readouterr().out, shown), command
    for shown in re.findall(r"^```text\n(.*?)^```$", page.read_text(encoding="utf-8"), flags=re.M | re.S):
        assert is_shown_as(printed, shown)


def printed_by_commands(text: str) -> list[tuple[str, str]]:
    """The commands of blocks of text that begin with `$ torseur`, each with what it prints there, if anything."""
    found = re.findall(r"^```\{code-block\} text\n(\$ .*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    parts = [part.partition("\n") for block in found for part in re.split(r"^\$ ", block, flags=re.M) if part]
    return [(command, shown) for command, _, shown in parts if shown.strip()]


NUMBER = re.compile(r"-?\d+\.?\d*(e[-+]?\d+)?")


def is_shown_as(printed: str, shown: str) -> bool:
    """Whether the lines that are shown are among those that are printed, in order, numbers and spaces aside.

    What was measured (times, errors, sizes of files) is not the same each time; `...` stands for any lines.
    """

    def words(line: str) -> str:
        return " ".join(NUMBER.sub("#", line).split())

    lines = iter([words(line) for line in printed.splitlines()])
    return all(line in lines for line in map(words, shown.splitlines()) if line and line != "...")


@pytest.mark.parametrize(
    ("printed", "shown", "expected"),
    [
        ("a 1.5\n\nb 2\nc\n", "a 3e-9\n...\nc\n", True),
        ("a 1.5\nb\n", "b\na 1.5\n", False),
        ("holds\n", "fails\n", False),
    ],
)
def test_what_is_shown_must_be_printed_in_its_order(printed, shown, expected):
    assert is_shown_as(printed, shown) is expected


def test_python_that_is_not_run_has_a_reason():
    shown = {page.name for page in EVERY if "```{code-block} python" in page.read_text(encoding="utf-8")}
    assert shown == set(NOT_RUN)


# -- commands, files and programs on the pages ---------------------------------------------------------------------
COMMAND = re.compile(r"^\s*(?:\$ )?((?:python -m )?torseur (?:[^\n\\`]|\\\n)*)", flags=re.MULTILINE)
INLINE = re.compile(r"`(torseur [a-z][^`\n]*)`")


def commands_of(page: Path) -> set[tuple[str, ...]]:
    """Commands in blocks of shell, text and console, and within sentences."""
    text = page.read_text(encoding="utf-8")
    fences = re.findall(r"^\s*```(?:\{code-block\} )?(?:sh|text|console)\n(.*?)^\s*```", text, flags=re.M | re.S)
    found = {c for fence in fences for c in COMMAND.findall(fence)} | set(INLINE.findall(text))
    split = (shlex.split(c.replace("\\\n", " "), comments=True) for c in found)
    return {tuple(takewhile(lambda word: word not in (">", "|", "&&"), words)) for words in split}


COMMANDS_SHOWN = {(page, command) for page in EVERY for command in commands_of(page)}
PLACEHOLDER = re.compile(r"\b[A-Z][A-Z_]+\b|\.\.\.")


def test_every_command_of_the_pages_is_one_of_the_program(monkeypatch):
    """Its name, its options and the words it chooses among; it is not run."""
    wrong = []
    monkeypatch.setattr(ts.examples, "path", Path)  # names of files that a reader has made
    assert len(COMMANDS_SHOWN) > 150
    for page, line in sorted(COMMANDS_SHOWN):
        words = [word for word in line if word not in ("python", "-m", "torseur")]
        if any(map(PLACEHOLDER.search, words)) or "--extensions" in words:  # such a module is executed
            continue
        try:
            with click.Context(torseur_group, info_name="torseur") as context:
                name, command, arguments = torseur_group.resolve_command(context, words)
                if command is not None and arguments:
                    command.make_context(name, arguments, parent=context)
        except click.exceptions.Exit:  # --help
            continue
        except click.UsageError as error:
            if not re.search("does not exist|Missing|requires an argument", str(error)):
                wrong.append(f"{page.name}: {' '.join(line)}: {error}")
    assert not wrong, "\n".join(wrong)


FRAGMENTS = [
    pytest.param(page, text, id=f"{page.stem}-{k}")
    for page in EVERY
    for k, text in enumerate(
        re.findall(
            r"^\s*```(?:\{code-block\} )?yaml\n(.*?)^\s*```", page.read_text(encoding="utf-8"), flags=re.M | re.S
        )
    )
]


@pytest.mark.parametrize(("page", "text"), FRAGMENTS)
def test_a_piece_of_a_file_has_the_fields_of_its_format(page, text):
    """Those of models and studies fit the schema; of vehicles and campaigns the first keys are looked at."""
    given = yaml.safe_load(textwrap.dedent(text))
    is_whole = any(
        set(given) <= root["properties"].keys()
        and all(fits(value, root["properties"][key], root) for key, value in given.items())
        for root in schemas()
    )
    vehicle = {"torseur_vehicle", "like", "parameters_from"} | Vehicle.model_fields.keys()
    assert is_whole or set(given) <= vehicle or set(given) <= Campaign.model_fields.keys()


@functools.cache
def schemas() -> tuple[dict[str, Any], ...]:
    return schema(), study_schema()


def test_whole_files_on_the_pages_are_read(tmp_path, monkeypatch):
    """Models without other files beside them, and studies of these or of examples."""
    read = set()
    in_its_folder(tmp_path, monkeypatch)
    for k, page in enumerate(EVERY):
        folder = tmp_path / "examples" / f"page{k}"
        folder.mkdir()
        for text in sorted(textwrap.dedent(one.values[1]) for one in FRAGMENTS if one.values[0] == page):
            given = yaml.safe_load(text)
            if "file:" in text or {"like", "parameters_from"} & set(given) or not {"model", "bodies"} & set(given):
                continue
            file = folder / f"{given['name']}.yaml"
            file.write_text(text, encoding="utf-8")  # models come before studies
            read.add((ts.load_study if "model" in given else ts.load)(file).name)
    assert read >= {"arm", "swing", "planar_arm", "lift"}


@pytest.mark.slow
def test_the_program_in_c_prints_the_torques_of_the_model(tmp_path, monkeypatch):
    page = ROOT / "docs" / "tutorials" / "calling_from_c.md"
    text = page.read_text(encoding="utf-8")
    [source] = re.findall(r"^```c\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    in_its_folder(tmp_path, monkeypatch)
    [command] = [c for c in commands_of(page) if c[1:3] == ("export", "c")]
    assert main(command[1:]) == 0
    folder = tmp_path / "arm"
    (folder / "selftest.c").unlink()  # it has a main of its own
    (folder / "call.c").write_text(source, encoding="utf-8")
    printed = ran(built(folder))
    model = ts.build(ts.examples.load("planar_2r"))
    tau = model.inverse_dynamics([0.3, 0.8], [0.1, -0.2], [1.0, 0.0])
    assert [float(x) for x in re.findall(r"-?[\d.]+(?:e-?\d+)?", printed)] == pytest.approx(tau, rel=1e-5)


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
