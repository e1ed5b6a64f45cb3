"""URDF, the robot description of ROS: links, joints, inertias and shapes in XML."""

from torseur.formats.urdf.reading import read_urdf

__all__ = ["read_urdf"]
