"""Vectors, matrices, motions, wrenches, inertias and poses of expressions, and the joint kinds built on them."""

from torseur.spatial.inertia import Inertia
from torseur.spatial.pose import Motion, Pose, Step, StepKind, Wrench, product
from torseur.spatial.vectors import Matrix, Vector, cross, dot

__all__ = [
    "Inertia",
    "Matrix",
    "Motion",
    "Pose",
    "Step",
    "StepKind",
    "Vector",
    "Wrench",
    "cross",
    "dot",
    "product",
]
