"""URDF, the robot description of ROS: links, joints, inertias and shapes in XML."""

from torseur.formats.urdf.reader import read_urdf
from torseur.formats.urdf.writer import write_urdf

__all__ = ["read_urdf", "write_urdf"]
