"""What was made for a problem, such as native code, kept as long as the problem itself.

The second run of a simulation, and each of a thousand runs, find ready what the first one waited for.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from torseur.simulation.solvers.problem import Problem

__all__ = ["kept"]

_Made = TypeVar("_Made")
_made: WeakKeyDictionary[Problem, dict[object, Any]] = WeakKeyDictionary()
_lock = Lock()


def kept(problem: Problem, key: object, make: Callable[[], _Made]) -> _Made:
    """What `make` gives for a problem, made once for each (hashable) key; several threads may ask at the same time.

    What is made must not hold the problem, or neither is ever let go.

    >>> from torseur.graph import Function, Graph
    >>> x = Graph().block("z", 1)
    >>> decay = Problem(Function("decay", [x], {"dz": [-x[0]]}))
    >>> kept(decay, "list", list) is kept(decay, "list", list)
    True
    """
    with _lock:
        shelf = _made.setdefault(problem, {})
    if key not in shelf:
        found = make()
        with _lock:
            shelf.setdefault(key, found)
    return shelf[key]  # type: ignore[no-any-return]
