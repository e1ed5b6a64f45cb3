"""What was made for a problem, such as native code, kept as long as the problem itself.

The second run of a simulation, and each of a thousand runs, find ready what the first one waited for.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Any, TypeVar

from torseur.simulation.solvers.problem import Solvable

__all__ = ["kept"]

_Made = TypeVar("_Made")
_lock = Lock()


def kept(problem: Solvable, key: object, make: Callable[[], _Made]) -> _Made:
    """What `make` gives for a problem, made once for each (hashable) key; several threads may ask at the same time.

    >>> from torseur.graph import Function, Graph
    >>> from torseur.simulation.solvers.problem import Problem
    >>> x = Graph().block("z", 1)
    >>> decay = Problem(Function("decay", [x], {"dz": [-x[0]]}))
    >>> kept(decay, "list", list) is kept(decay, "list", list)
    True
    """
    with _lock:
        shelf: dict[object, Any] = problem.__dict__.setdefault("_kept", {})
    if key not in shelf:
        found = make()
        with _lock:
            shelf.setdefault(key, found)
    return shelf[key]  # type: ignore[no-any-return]
