"""An order in which each thing comes after what it needs, and the circles that prevent one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

__all__ = ["ordered"]


def ordered(needs: Mapping[str, Iterable[str]]) -> tuple[list[str], list[tuple[str, ...]]]:
    """The names, each after those it needs, and the circles found on the way.

    >>> ordered({"a": ["b"], "b": ["c"], "c": [], "x": ["y"], "y": ["x"]})
    (['c', 'b', 'a', 'y', 'x'], [('x', 'y')])
    """
    done: dict[str, None] = {}
    circles: list[tuple[str, ...]] = []
    for start in needs:
        if start in done:
            continue
        way = {start: iter(sorted(needs[start]))}  # a stack that knows what is on it
        while way:
            name = next(reversed(way))
            following = next((other for other in way[name] if other in needs and other not in done), None)
            if following is None:
                del way[name]
                done[name] = None
            elif following in way:
                names = list(way)
                circles.append(tuple(names[names.index(following) :]))
            else:
                way[following] = iter(sorted(needs[following]))
    return list(done), circles
