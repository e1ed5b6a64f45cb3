"""Words of other programs and of everyday speech, and the ones they stand for in our files.

They are used in messages alone: a file that is read has one word for each thing.
"""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["meant"]

_SYNONYMS = {
    # parts of a model
    "type": "kind",
    "gravitation": "gravity",
    "g": "gravity",
    "links": "bodies",
    "link": "body bodies",
    "joints": "bodies",
    "variables": "coordinates",
    "closures": "loops",
    "cut_joints": "loops",
    "contacts": "constraints",
    "forces": "loads",
    "springs": "loads",
    "actuators": "loads inputs",
    "motors": "loads inputs",
    "constants": "parameters",
    "variable": "coordinate",
    "position": "pose coordinate",
    "transform": "pose",
    "origin": "pose",
    "offset": "pose rest",
    "antecedent": "parent",
    "markers": "frames",
    "sites": "frames",
    # joints
    "hinge": "revolute",
    "pin": "revolute",
    "pivot": "revolute",
    "rotational": "revolute",
    "rotary": "revolute",
    "continuous": "revolute",
    "slider": "prismatic",
    "slide": "prismatic",
    "translational": "prismatic",
    "linear": "prismatic",
    "weld": "fixed",
    "rigid": "fixed",
    "ball": "spherical",
    "hooke": "universal",
    "cardan": "universal",
    "helical": "screw",
    "floating": "free",
    "freeflyer": "free",
    "limit": "lower upper",
    "limits": "lower upper",
    # inertia
    "m": "mass",
    "com": "centre",
    "cog": "centre",
    "center": "centre",
    "center_of_mass": "centre",
    "centre_of_mass": "centre",
    "inertia": "tensor",
    "moments": "tensor",
    "ixx": "tensor",
    "iyy": "tensor",
    "izz": "tensor",
    # loads
    "force": "wrench effort",
    "torque": "effort wrench",
    "moment": "wrench effort",
    "damper": "spring",
    "spring_damper": "spring",
    "friction": "spring",
    "k": "stiffness kp",
    "c": "damping kd",
    "d": "damping kd",
    "rest_length": "rest",
    "free_length": "rest",
    "l0": "rest",
    "gear": "motor transmission ratio",
    "gearbox": "motor transmission",
    "armature": "transmission inertia",
    "rotor": "motor transmission",
    # studies
    "initial": "start",
    "initial_conditions": "start",
    "init": "start",
    "x0": "start",
    "initial_guess": "guess",
    "duration": "until",
    "t_end": "until",
    "tend": "until",
    "tf": "until",
    "tmax": "until",
    "end": "until",
    "end_time": "until",
    "stop": "until",
    "stop_time": "until",
    "dt": "every step",
    "timestep": "step",
    "time_step": "step",
    "sampling": "every",
    "integrator": "solver",
    "controllers": "blocks",
    "controller": "blocks",
    "signals": "blocks inputs",
    "sensors": "blocks",
    # blocks
    "sin": "sine",
    "sinus": "sine",
    "cos": "sine",
    "chirp": "sweep",
    "pulse": "step formula",
    "bump": "formula",
    "jump": "step",
    "const": "constant",
    "expression": "formula",
    "function": "formula python",
    "trajectory": "point_to_point spline",
    "inverse_dynamics": "computed_torque",
    "setpoint": "reference target",
    "desired": "reference target",
    "target": "reference",
    "coordinate": "value",
    "joint": "coordinate value",
    "measured": "value",
    "input": "inputs value",
    "output": "inputs",
    "p": "kp",
    "i": "ki",
    "at": "time",
    "height": "after amplitude",
    "amplitude": "after",
    "value": "after",
    "omega": "frequency",
    # solvers
    "euler": "rk4",
    "rk45": "dopri5",
    "ode45": "dopri5",
    "dop8": "dop853",
    "ode15s": "rodas",
    "radau": "rodas",
    "bdf": "rodas",
    "stiff": "rodas",
}


def meant(name: str, known: Iterable[str]) -> str | None:
    """The known name that a word of other programs stands for, if any does.

    >>> meant("hinge", ["revolute", "prismatic"])
    'revolute'
    >>> meant("hinge", ["spring"]) is None
    True
    """
    names = set(known)
    return next((word for word in _SYNONYMS.get(name.lower(), "").split() if word in names), None)
