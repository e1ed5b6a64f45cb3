"""The joint kinds. To add one: write its file, add it to `KINDS`."""

from torseur.spatial.joints.cylindrical import CYLINDRICAL
from torseur.spatial.joints.fixed import FIXED
from torseur.spatial.joints.free import FREE, FREE_RPY
from torseur.spatial.joints.kind import CoordinateInfo, JointKind, Motion, Quantity
from torseur.spatial.joints.planar import PLANAR
from torseur.spatial.joints.prismatic import PRISMATIC
from torseur.spatial.joints.revolute import REVOLUTE
from torseur.spatial.joints.screw import SCREW
from torseur.spatial.joints.spherical import SPHERICAL
from torseur.spatial.joints.universal import UNIVERSAL

KINDS: dict[str, JointKind] = {
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

__all__ = ["KINDS", "CoordinateInfo", "JointKind", "Motion", "Quantity"]
