"""URDF, the robot description of ROS: links, joints, inertias and shapes in XML."""

from torseur.formats.format import Format
from torseur.formats.urdf.reader import read_urdf
from torseur.formats.urdf.writer import write_urdf

__all__ = ["URDF", "read_urdf", "write_urdf"]

URDF = Format(
    "URDF",
    lambda file: read_urdf(file.data, file.name, file.where),
    write_urdf,
    loses="symbols without a value, loops, constraints but joints that follow another, loads but damping and friction "
    "in joints, gravity, starts, outputs",
)
