"""Names of ours for names of a file, which may hold any character."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from torseur.describe.formulas import RESERVED

__all__ = ["Names", "legal_name"]

LONGEST = 80


class Names:
    """Hands out names: letters, digits and _, each once, as close to the wished one as can be."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self.taken = set(taken) | RESERVED
        self.changed: dict[str, str] = {}
        """Name in the file -> name given, where they differ."""
        self._next: dict[str, int] = {}

    def give(self, wished: str, beside: Iterable[str] = ("{}",)) -> str:
        """A free name; `beside` are patterns of names that must be free with it."""
        plain = re.sub(r"[^A-Za-z0-9_]", "_", wished)[:LONGEST] or "_"
        plain = f"_{plain}" if plain[0].isdigit() else plain
        name = plain
        while any(pattern.format(name) in self.taken for pattern in beside):
            self._next[plain] = self._next.get(plain, 1) + 1
            name = f"{plain}_{self._next[plain]}"
        self.taken |= {pattern.format(name) for pattern in beside}
        if name != wished:
            self.changed[wished] = name
        return name


def legal_name(text: str, is_taken: Callable[[str], bool] = lambda _: False) -> str:
    """A name of ours that is as near as possible to a text.

    >>> legal_name("two-link arm"), legal_name("3R"), legal_name("min")
    ('two_link_arm', '_3R', 'min_')
    """
    name = re.sub("[^A-Za-z0-9_]", "_", text)[:90] or "unnamed"
    name = f"_{name}" if name[0].isdigit() else name
    while name in RESERVED or is_taken(name):
        name += "_"
    return name
