"""States worth looking for, of a mechanism or of its model: closed ones, equilibria, and what is linear about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import ArrayLike

from torseur.describe import Mechanism
from torseur.model.assembly import Assembled, Closing
from torseur.model.build import Model, build

__all__ = ["assemble"]

Values = ArrayLike | Mapping[str, float] | None


def _model(of: Mechanism | Model) -> Model:
    return of if isinstance(of, Model) else build(of)


def assemble(
    mechanism: Mechanism | Model,
    guess: Values = None,
    *,
    speeds: Values = None,
    hold: Sequence[str] = (),
    closing: Closing | None = None,
    **keywords: Any,
) -> Assembled:
    """Coordinates and speeds that loops and constraints allow, near a guess.

    Args:
        mechanism: a description, or the model built from it.
        guess: coordinates (..., nq), or some of them by name; by default those of the description. It decides which
            of several closed positions is found.
        speeds: wished speeds (..., nv), or some of them by name; they become the allowed ones nearest to them.
        hold: names of coordinates, and of speeds, that must not change.
        closing: tolerances and patience.
        keywords: t, inputs, parameters.

    >>> import torseur as ts
    >>> wheel = {"joint": {"kind": "revolute", "coordinate": "a"}, "inertia": {"M": 1.0, "ZZ": 1.0}}
    >>> pinion = {"joint": {"kind": "revolute", "coordinate": "b"}, "inertia": {"M": 1.0, "ZZ": 1.0}}
    >>> gears = Mechanism(
    ...     name="gears",
    ...     bodies={"wheel": wheel, "pinion": pinion},
    ...     constraints={"teeth": {"coupling": {"coordinate": "b", "equals": "-3*a"}}},
    ... )
    >>> found = ts.assemble(gears, {"a": 0.5}, hold=["a", "da"], speeds={"da": 2.0})
    >>> [round(float(x), 12) for x in found.q], [round(float(x), 12) for x in found.v]
    ([0.5, -1.5], [2.0, -6.0])
    """
    return _model(mechanism).assemble(guess, speeds=speeds, hold=hold, closing=closing, **keywords)
