"""The joint kinds. To add one to the core: write its class, add it to `KINDS`; packages: `torseur.extensions`."""

from torseur.extensions import Kinds
from torseur.spatial.joints.core import (
    CYLINDRICAL,
    FIXED,
    FREE,
    FREE_RPY,
    PLANAR,
    PRISMATIC,
    REVOLUTE,
    SCREW,
    SPHERICAL,
    UNIVERSAL,
)
from torseur.spatial.joints.kind import CoordinateInfo, JointKind, Quantity

_CORE = {
    kind.name: kind
    for kind in (
        REVOLUTE,
        PRISMATIC,
        FIXED,
        UNIVERSAL,
        SPHERICAL,
        CYLINDRICAL,
        PLANAR,
        SCREW,
        FREE,
        FREE_RPY,
    )
}

KINDS: Kinds[JointKind] = Kinds("joints", _CORE)
"""The kinds of the core, and those of extensions."""

__all__ = ["KINDS", "CoordinateInfo", "JointKind", "Quantity"]
