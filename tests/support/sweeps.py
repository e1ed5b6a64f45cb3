"""Sweeps of which a part is quick: all of it is run by `make test-slow` and `make test` together."""

from collections.abc import Collection, Iterable

import pytest


def mostly_slow(values: Iterable[object], quick: Collection[object]) -> list[object]:
    """The values of a parametrised test; those that are not named as quick go with the slow tests.

    >>> [getattr(x, "marks", ()) != () for x in mostly_slow("abc", quick="a")]
    [False, True, True]
    """
    listed = list(values)
    assert set(quick) <= set(listed), "a sweep without its quick part"
    return [value if value in quick else pytest.param(value, marks=pytest.mark.slow) for value in listed]
