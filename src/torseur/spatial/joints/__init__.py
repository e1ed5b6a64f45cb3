"""The joint kinds. To add one to the core: write its class, add it to `KINDS`; packages: `torseur.extensions`."""

from torseur.extensions import Kinds
from torseur.spatial.joints.kind import CoordinateInfo, JointKind, Quantity
from torseur.spatial.joints.one_axis import CYLINDRICAL, FIXED, PRISMATIC, REVOLUTE, SCREW
from torseur.spatial.joints.several_axes import FREE, FREE_RPY, PLANAR, SPHERICAL, UNIVERSAL

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
