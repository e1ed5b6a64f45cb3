"""A fault of a description: where, what, and how bad; and what was probably meant.

Words of other programs and of everyday speech, and the ones they stand for in our files, are used in messages alone: a
file that is read has one word for each thing.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from enum import Enum

from torseur.errors import Location, ModelError, written

__all__ = [
    "Fault",
    "Location",
    "Severity",
    "cycle_text",
    "guess",
    "listed",
    "meant",
    "nearest",
    "printable",
    "shown",
    "written",
]

MOST_LOOKED_AT = 1000
MOST_NAMED = 12
SURE = 0.75
"""How alike two names are, of 1, where one is surely a slip of the other."""


class Severity(Enum):
    """How bad a fault is."""

    ERROR = "error"
    """The description contradicts itself: nothing can be made of it."""
    WARNING = "warning"
    """It can be read, but its dynamics is not what one wants: a singular or impossible mass."""
    NOTE = "note"
    """Something to know."""


class Fault(ModelError):
    """A fault of a description; as one of a file it prints as ``file:line:column: path: message``, which editors turn
    into a link.

    Args:
        path: the way to it in the description.
        about: the name it is about; where what that stands for could not be read, the fault may only be a consequence.

    >>> fault = Fault(("bodies", "arm", "inertia", "mass"), "a negative mass", got="-2.0")
    >>> print(fault)
    a negative mass
      where: bodies.arm.inertia.mass
      got: -2.0
    >>> print(fault.in_file("arm.yaml:3:11"))
    arm.yaml:3:11: bodies.arm.inertia.mass: a negative mass
      got: -2.0
    """

    def __init__(
        self,
        path: Location,
        what: str,
        *,
        expected: str | None = None,
        got: str | None = None,
        remedy: str | None = None,
        severity: Severity = Severity.ERROR,
        about: str | None = None,
    ) -> None:
        super().__init__(what, where=path or None, expected=expected, got=got, remedy=remedy)
        self.severity = severity
        self.about = about
        self.place: str | None = None

    @property
    def path(self) -> Location:
        """The way to it in the description."""
        return self.location

    def in_file(self, place: str, path: Location | None = None) -> Fault:
        """The same fault with its place in a file.

        Args:
            place: ``file:line:column``, or what is known of it.
            path: the way to it as the file writes it, where that differs.
        """
        placed = copy(self)
        placed.place = place
        words = written(self.path if path is None else path)
        placed.where = f"{place}: {words}" if words else place
        return placed

    def text(self, flags: Mapping[str, str] | None = None) -> str:
        if self.place is None:
            return super().text(flags)
        parts = (("expected", self.expected), ("got", self.got), ("remedy", self.remedy))
        lines = [f"{self.where}: {self.what}", *(f"{label}: {text}" for label, text in parts if text is not None)]
        return printable("\n  ".join(lines))


def printable(text: str) -> str:
    """Text of a file that can be shown on a terminal: no control characters but the ends of lines."""
    return "".join(character if character.isprintable() or character == "\n" else "\ufffd" for character in text)


def shown(value: object, longest: int = 60) -> str:
    """A value as it appears in a message: quoted if it is text, cut if it is long."""
    text = ascii(value) if isinstance(value, str) and not value.isprintable() else repr(value)
    return text if len(text) <= longest else f"{text[: longest - 3]}..."


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that looks most like a wrong one, or that it stands for in other programs, if any does."""
    names = list(known)[:MOST_LOOKED_AT]
    same = next((other for other in names if other.lower() == name.lower()), None) or meant(name, names)
    close = [] if same else difflib.get_close_matches(name[:100], names, n=1, cutoff=0.6)
    return close[0] if close else same


def guess(name: str, known: Iterable[str]) -> tuple[str | None, str | None]:
    """What to expect instead of an unknown name, and the remedy: a near name if there is one, else all of them."""
    names = list(known)
    if not names:
        return "none is declared", None
    near = nearest(name, names)
    all_of_them = f"one of {', '.join(names[:MOST_NAMED])}{', ...' if len(names) > MOST_NAMED else ''}"
    if near is None:
        return all_of_them, None
    is_sure = difflib.SequenceMatcher(None, name.lower()[:100], near.lower()).ratio() >= SURE
    return None if is_sure else all_of_them, f"did you mean '{near}'?"


def listed(items: Iterable[str]) -> str:
    """A list in words, cut where it gets long."""
    names = list(items)
    rest = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {rest} more" if rest > 0 else "")


def cycle_text(cycle: Sequence[str]) -> str:
    """A cycle of names, cut where it gets long.

    >>> cycle_text(["a", "b"])
    'a -> b -> a'
    """
    names = cycle if len(cycle) <= 10 else (*cycle[:9], "...")
    return " -> ".join((*names, cycle[0]))


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
    "position": "pose coordinate x",
    "wheelbase": "x",
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
    "m": "mass mass_matrix",
    "com": "centre",
    "cog": "centre",
    "center": "centre",
    "center_of_mass": "centre",
    "centre_of_mass": "centre",
    "inertia": "tensor spin_inertia mass_matrix",
    "mass": "inertia",
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
    # vehicles
    "macpherson": "strut",
    "spring_damper_strut": "strut",
    "double_wishbone": "own",
    "multilink": "own",
    "pacejka": "magic_formula_61 pacejka_1989",
    "magic_formula": "magic_formula_61 magic_formula_52",
    "brush": "tmeasy",
    "file": "tir",
    "bump": "bumps formula",
    "cd": "drag",
    "cw": "drag",
    "cx": "drag",
    "cl": "lift",
    "rho": "density",
    "speed": "vx",
    "velocity": "vx",
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
    "gravity_compensation": "pd_regulator",
    "impedance": "operational_space",
    "cartesian": "operational_space",
    "lowpass": "lag second_order",
    "low_pass": "lag second_order",
    "filter": "lag",
    "waypoints": "spline point_to_point",
    "lookup": "table",
    "gain": "formula",
    "time": "t",
    # quantities, in SYMORO+, Pinocchio and books
    "idm": "inverse_dynamics",
    "rnea": "inverse_dynamics",
    "newton_euler": "inverse_dynamics",
    "ddm": "forward_dynamics",
    "aba": "forward_dynamics",
    "direct_dynamics": "forward_dynamics",
    "inm": "mass_matrix",
    "crba": "mass_matrix",
    "nle": "bias",
    "ccg": "bias",
    "dim": "regressor",
    "bip": "base_parameters",
    "minimal_parameters": "base_parameters",
    "dgm": "pose",
    "forward_kinematics": "pose",
    "jac": "jacobian",
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
    >>> meant("elbow_dot", ["elbow", "delbow"])
    'delbow'
    """
    names = set(known)
    rate = _RATE.fullmatch(name)
    if rate and (speed := f"d{rate[1] or rate[2] or 'q' + rate[3]}") in names:
        return speed
    return next((word for word in _SYNONYMS.get(name.lower(), "").split() if word in names), None)


_RATE = re.compile(r"(?:qd|qdot|vel|v|w)_(\w+)|(\w+?)_?(?:dot|vel|velocity|speed|rate)|qd(?:ot)?_?(\d+)")
"""How others call the speed of a coordinate: joint_dot, v_joint, qd1."""
