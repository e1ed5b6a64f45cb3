"""SYMORO .par files, in both dialects: SYMORO+ (Mathematica) and OpenSYMORO (Python).

How a file is understood:

- Frame j hangs on frame ant[j] at Rz(gamma) Tz(b) Rx(alpha) Tx(d) Rz(theta) Tz(r); sigma 0 turns, 1 slides, 2 is fixed.
  It is called body<j>. Fixed frames without mass and without frames after them are points: frame<j> on the body before.
- The coordinate of a joint is the symbol of the form t, th, q or r with digits in theta (in r if it slides); the rest
  is its offset. Where there is none, the coordinate is q<j>. Only points may depend on the coordinates of others; then
  their position and axes count, but they have no velocity of their own.
- Loops: see `sizes`. The coordinate of a cut joint is not among the coordinates.
- Other symbols are parameters without a value, the G3 of a gravity vector too. Symbols only in FX..CZ are inputs.
- mu says which joints are driven: by an input called as GAM says, or GAM<j>. QP and QDP only give names.
- FV and FS are friction, IA the inertia of the drive, eta and k the elasticity of a joint. FX..CZ, what the robot does
  to its surroundings, become wrenches on the robot, with the opposite sign.
- Symbols in V0, W0 and their derivatives, or is_floating, or is_mobile, mean a base that moves: planar if they are vx,
  vy and wz only, else floating, by roll, pitch and yaw unless is_floating is set (quaternion). Gravity is then in the
  world.
- Z is the pose of the base in the world; gravity is turned into the world with it.
"""

from torseur.formats.format import Format
from torseur.formats.symoro.reader import read_par
from torseur.formats.symoro.writer import write_par

__all__ = ["SYMORO", "read_par", "write_par"]

SYMORO = Format(
    "SYMORO+",
    lambda file: read_par(file.data, file.name, file.where),
    write_par,
    loses="joints but revolute, prismatic and fixed ones, constraints, outputs, shapes, starts and stops",
)
