"""Runs the Python that stands in a Markdown file.

Blocks that open with three backticks and ``python`` are run in order, in one namespace per file. A block that begins
with ``>>>`` is a doctest; any other is plain code, whose assertions must hold. Code that is not meant to run is opened
differently (``{code-block} python`` in MyST, or another language).
"""

import doctest
import re
from dataclasses import dataclass
from pathlib import Path

FENCE = re.compile(r"^```python[ \t]*\n(.*?)^```[ \t]*$", flags=re.MULTILINE | re.DOTALL)
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


@dataclass(frozen=True)
class Block:
    """Source text and the number of its first line in the file."""

    source: str
    line: int


def blocks(text: str) -> list[Block]:
    """The Python blocks of a Markdown text, in order."""
    return [Block(found[1], text.count("\n", 0, found.start(1)) + 1) for found in FENCE.finditer(text)]


def run_markdown(path: Path) -> int:
    """Run every block of the file and say how many; an exception or a wrong doctest is raised with its line there."""
    namespace: dict[str, object] = {"__name__": path.stem}
    found = blocks(path.read_text(encoding="utf-8"))
    for block in found:
        if block.source.lstrip().startswith(">>>"):
            _run_doctest(block, path, namespace)
        else:
            exec(compile("\n" * (block.line - 1) + block.source, path, "exec"), namespace)
    return len(found)


def _run_doctest(block: Block, path: Path, namespace: dict[str, object]) -> None:
    test = doctest.DocTestParser().get_doctest(block.source, {}, path.name, str(path), block.line - 1)
    test.globs = namespace
    report: list[str] = []
    doctest.DocTestRunner(optionflags=FLAGS).run(test, out=report.append, clear_globs=False)
    if report:
        raise AssertionError("".join(report))
