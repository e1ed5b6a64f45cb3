"""Words of strangers in files of programs: titles, units and descriptions come out harmless."""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["Files", "cell", "identifier", "in_comment", "one_line", "table"]

Files = dict[str, bytes]
"""Path inside the folder -> what is in the file."""


def one_line(text: str | None) -> str:
    """A text without line breaks and other signs that are not seen.

    >>> one_line("two\\n lines\\x00")
    'two lines'
    """
    return " ".join("".join(c for c in (text or "") if c.isprintable() or c.isspace()).split())


def in_comment(text: str | None) -> str:
    """A text that ends no comment of C, begins none, and continues no line.

    >>> in_comment("a */ b ??/ c\\\\")
    'a * / b ? ?/ c/'
    """
    line = one_line(text).replace("\\", "/")
    while any(pair in line for pair in ("*/", "/*", "??", "//")):
        line = line.replace("*/", "* /").replace("/*", "/ *").replace("??", "? ?").replace("//", "/ /")
    return line


def cell(text: str | None) -> str:
    """A text in a table of Markdown.

    >>> cell("a|b <b>")
    'a/b &lt;b&gt;'
    """
    line = one_line(text).replace("|", "/").replace("`", "'").replace("&", "&amp;")
    return line.replace("<", "&lt;").replace(">", "&gt;").replace("[", "(").replace("]", ")")


def identifier(text: str, otherwise: str = "study") -> str:
    """A name of a program, from any text.

    >>> identifier("2 arms, é"), identifier("--")
    ('x2_arms', 'study')
    """
    name = re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_")[:60]
    return (f"x{name}" if name[:1].isdigit() else name) or otherwise


def table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> list[str]:
    """The lines of a table of Markdown."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return [*lines, *("| " + " | ".join(map(cell, row)) + " |" for row in rows)]
