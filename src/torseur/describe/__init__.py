"""Descriptions of mechanisms: frozen records, and the formulas in them."""

from torseur.describe.bodies import BASE, WORLD, Base, BaseKind, Body, Coordinate, Frame, Joint, Shape
from torseur.describe.constraints import Constraint, Coupling, Loop, NoSideSlip, Prescribed, Rolling, SpeedRow
from torseur.describe.formulas import Formula
from torseur.describe.inertia import CentralInertia, CompositeInertia, Solid, StandardInertia, Tensor
from torseur.describe.loads import Drag, Effort, Load, Motor, SpringDamper, Transmission, Wrench
from torseur.describe.mechanism import Input, LookupTable, Mechanism, NamedQuantity, Output, Parameter, Variable
from torseur.describe.place import AxisTurn, Dh, Elementary, Mdh, Place, RigidPose

__all__ = [
    "BASE",
    "WORLD",
    "AxisTurn",
    "Base",
    "BaseKind",
    "Body",
    "CentralInertia",
    "CompositeInertia",
    "Constraint",
    "Coordinate",
    "Coupling",
    "Dh",
    "Drag",
    "Effort",
    "Elementary",
    "Formula",
    "Frame",
    "Input",
    "Joint",
    "Load",
    "LookupTable",
    "Loop",
    "Mdh",
    "Mechanism",
    "Motor",
    "NamedQuantity",
    "NoSideSlip",
    "Output",
    "Parameter",
    "Place",
    "Prescribed",
    "RigidPose",
    "Rolling",
    "Shape",
    "Solid",
    "SpeedRow",
    "SpringDamper",
    "StandardInertia",
    "Tensor",
    "Transmission",
    "Variable",
    "Wrench",
]
