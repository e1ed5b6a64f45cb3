"""Vectors, rotations and poses of expressions, and the joint kinds built on them."""

from torseur.spatial.pose import Pose, Step, StepKind, product
from torseur.spatial.vectors import Matrix, Vector, cross, dot

__all__ = ["Matrix", "Pose", "Step", "StepKind", "Vector", "cross", "dot", "product"]
