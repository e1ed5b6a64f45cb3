"""What drawings ask of a joint kind: which axes of its frames it turns about and slides along.

It is read from the motion subspace of the kind, so a kind that somebody adds is drawn like those that move alike.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from torseur.graph import Expr, Graph
from torseur.spatial.joints import JointKind

__all__ = ["Freedoms", "freedoms_of"]

ALL = frozenset((0, 1, 2))


@dataclass(frozen=True)
class Freedoms:
    """Axes 0 1 2 (x y z) that a joint turns about and slides along, and how many speeds do it."""

    turning: frozenset[int]
    sliding: frozenset[int]
    count: int

    @property
    def axis(self) -> int:
        """The one it turns about or slides along; z where there are several."""
        for axes in (self.turning, self.sliding):
            if len(axes) == 1:
                return min(axes)
        return 2

    @property
    def has_axis(self) -> bool:
        """Whether all its motion is about and along one axis: its symbol may stand anywhere on it."""
        return len(self.turning | self.sliding) == 1

    @property
    def turns(self) -> bool:
        """About its only axis."""
        return self.has_axis and bool(self.turning)

    @property
    def slides(self) -> bool:
        """Along its only axis, whether or not it turns; not as a screw."""
        return self.has_axis and bool(self.sliding) and not self.is_screw

    @property
    def is_screw(self) -> bool:
        """One speed that turns and slides."""
        return self.has_axis and self.count < len(self.turning) + len(self.sliding)

    @property
    def is_revolute(self) -> bool:
        return len(self.turning) == 1 and not self.sliding

    @property
    def is_prismatic(self) -> bool:
        return len(self.sliding) == 1 and not self.turning

    @property
    def is_universal(self) -> bool:
        return len(self.turning) == 2 and not self.sliding

    @property
    def is_spherical(self) -> bool:
        return self.turning == ALL and not self.sliding

    @property
    def is_planar(self) -> bool:
        """Turning about one axis, sliding along the two others."""
        return len(self.turning) == 1 and self.sliding == ALL - self.turning

    @property
    def is_free(self) -> bool:
        return self.turning == self.sliding == ALL


@cache
def freedoms_of(kind: JointKind) -> Freedoms:
    """Those of a joint kind, at the neutral values of its coordinates.

    >>> from torseur.spatial.joints import KINDS
    >>> [name for name, kind in KINDS.items() if freedoms_of(kind).has_axis]
    ['revolute', 'prismatic', 'cylindrical', 'screw']
    """
    g = Graph()
    columns = kind.subspace(g, [g.number(x.neutral) for x in kind.coordinates], [g.one] * len(kind.settings))
    turning = [_axes(g, column.angular) for column in columns]
    sliding = [_axes(g, column.linear) for column in columns]
    return Freedoms(frozenset[int]().union(*turning), frozenset[int]().union(*sliding), kind.nv)


def _axes(g: Graph, vector: Iterable[Expr]) -> set[int]:
    return {k for k, part in enumerate(vector) if part is not g.zero}
