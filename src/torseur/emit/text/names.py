"""Identifiers for emitted text: each handed out once, none that the language keeps for itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable

__all__ = ["Names"]


def _as_it_is(name: str) -> str:
    return name


class Names:
    """Hands out identifiers.

    Args:
        reserved: words that must not be used.
        spell: how the language writes a name; two names that it would spell alike are told apart, by numbers behind
            them, which it must not drop.

    >>> names = Names({"lambda"})
    >>> names.take("q1"), names.take("q1"), names.take("lambda"), names.fresh("t"), names.fresh("t")
    ('q1', 'q1_2', 'lambda_', 't1', 't2')
    """

    def __init__(self, reserved: Iterable[str] = (), spell: Callable[[str], str] = _as_it_is) -> None:
        self._reserved = frozenset(reserved)
        self._taken = set(self._reserved)
        self._spell = spell
        self._next: dict[str, int] = {}

    def take(self, wish: str) -> str:
        """The name asked for, or with something added to it if it is not free."""
        text = self._spell(wish)
        if text in self._reserved:
            wish += "_"
            text = self._spell(wish)
        if text in self._taken:
            text = self._numbered(f"{wish}_", 2)
        self._taken.add(text)
        return text

    def fresh(self, stem: str) -> str:
        """The next free name of a numbered family: t1, t2, ..."""
        text = self._numbered(stem, 1)
        self._taken.add(text)
        return text

    def _numbered(self, stem: str, first: int) -> str:
        k = self._next.get(stem, first)
        while self._spell(f"{stem}{k}") in self._taken:
            k += 1
        self._next[stem] = k + 1
        return self._spell(f"{stem}{k}")
