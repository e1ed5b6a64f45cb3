"""URDF, the robot description of ROS: links, joints, inertias and shapes in XML."""

from torseur.formats.urdf.reading import read_urdf
from torseur.formats.urdf.writing import write_urdf

__all__ = ["read_urdf", "write_urdf"]
