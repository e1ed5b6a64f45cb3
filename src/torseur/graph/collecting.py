"""Python's collector of circles, at rest while expressions are made.

Expressions are small objects by the hundred thousand. A node leads to its operands, which are older, so there is
nothing among them to collect; yet the collector goes through all of them again and again. Measured for the derivatives
of the inverse dynamics of a chain of 96 joints: 3.4 s to derive them with it, 0.8 s without.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["collector_at_rest"]


@contextmanager
def collector_at_rest() -> Iterator[None]:
    """No collection inside, in no thread; one that was off before stays off behind it.

    >>> with collector_at_rest():
    ...     gc.isenabled()
    False
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
