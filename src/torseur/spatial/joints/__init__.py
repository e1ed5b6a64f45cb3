"""The joint kinds. To add one to the core: write its file, add it to `KINDS`; packages: `torseur.extensions`."""

from torseur.extensions import Kinds
from torseur.spatial.joints.cylindrical import CYLINDRICAL
from torseur.spatial.joints.fixed import FIXED
from torseur.spatial.joints.free import FREE, FREE_RPY
from torseur.spatial.joints.kind import CoordinateInfo, JointKind, Quantity
from torseur.spatial.joints.planar import PLANAR
from torseur.spatial.joints.prismatic import PRISMATIC
from torseur.spatial.joints.revolute import REVOLUTE
from torseur.spatial.joints.screw import SCREW
from torseur.spatial.joints.spherical import SPHERICAL
from torseur.spatial.joints.universal import UNIVERSAL

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
