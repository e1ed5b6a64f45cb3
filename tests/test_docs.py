"""The documentation tells the truth: its Python runs and its assertions hold."""

import shutil
import traceback
from pathlib import Path

import pytest

from support.markdown_code import run_markdown
from torseur import extensions

ROOT = Path(__file__).resolve().parent.parent
PARTS = "tutorials", "extending"
PAGES = [ROOT / "README.md", *(page for part in PARTS for page in sorted((ROOT / "docs" / part).glob("*.md")))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
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
