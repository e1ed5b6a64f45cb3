"""The files of examples/: studies, and models with numbers for what they say: starts, gaps of loops, rows.

Rows are built from Jacobians of frames and gradients of the written formulas, in the order of the file: enough to ask
whether a mechanism rests where it starts. Multipliers are what the constraints do to the bodies.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from support.evaluated import Evaluated, arguments_of
from support.plain_motion import parameter_values
from torseur.describe import (
    BASE,
    CentralInertia,
    Constraint,
    Formula,
    Loop,
    Mechanism,
    Parameter,
    Rolling,
    StandardInertia,
)
from torseur.describe.fields import FrozenDict, Scalar
from torseur.dynamics.tree.kinematics import Axes
from torseur.dynamics.tree.system import System, body_poses, frame_pose
from torseur.formats import read
from torseur.formats.symoro import read_par
from torseur.formats.yaml.reader import STUDY_KEY, VERSION_KEY
from torseur.graph import Function, evaluate

__all__ = ["EXAMPLES", "FILES", "STUDIES", "Example", "par_twin", "standard_parameters", "with_values", "without_tyres"]

Array = NDArray[np.float64]

DATA = Path(__file__).resolve().parent.parent / "data"
EXAMPLES = DATA.parent.parent / "examples"


def _begin_with(*keys: str) -> list[Path]:
    """The files that one of these keys marks for what they are."""
    texts = {path: f"\n{path.read_text(encoding='utf-8')}" for path in sorted(EXAMPLES.glob("*/*.yaml"))}
    return [path for path, text in texts.items() if any(f"\n{key}:" in text for key in keys)]


STUDIES = {f"{path.parent.name}/{path.stem}": path for path in _begin_with(STUDY_KEY)}
FILES = {path.stem: path for path in _begin_with(VERSION_KEY, "torseur_vehicle")}
TEN = tuple(StandardInertia.model_fields)
STEP = 1e-3


class Example(Evaluated):
    """A mechanism whose quantities are called by name, with its start."""

    def __init__(self, mechanism: str | Mechanism, **options: bool) -> None:
        is_name = isinstance(mechanism, str)
        super().__init__(read(FILES[mechanism]).mechanism if is_name else mechanism, **options)

    @cached_property
    def numbers(self) -> dict[str, float]:
        """Every parameter by name."""
        return parameter_values(self.mechanism)

    def number(self, scalar: Scalar, q: ArrayLike | None = None) -> float:
        """A number of the description; q where it may depend on coordinates."""
        if not isinstance(scalar, Formula):
            return float(scalar)
        places = {} if q is None else dict(zip((x.name for x in self.mechanism.q), np.asarray(q, float), strict=True))
        return scalar.value({name: value for name, value in {**self.numbers, **places}.items() if name in scalar.names})

    @cached_property
    def start(self) -> Array:
        """q at the start."""
        return np.array([self.number(x.start) for x in self.mechanism.q])

    @property
    def rest(self) -> Array:
        """No speed, and no acceleration."""
        return np.zeros(len(self.mechanism.v))

    def pose(self, frame: str, q: ArrayLike | None = None) -> Array:
        """The pose of a body or frame in the world, of free-form bodies too; at the start if no q is given."""
        if frame not in self._poses:
            system = System(self.mechanism)
            found = frame_pose(system, body_poses(system), frame)
            inputs = [block for block in (system.q, system.p) if len(block)]
            self._poses[frame] = Function("pose", inputs, {"pose": found.matrix()})
        function = self._poses[frame]
        return evaluate(function, *arguments_of(self.mechanism, function, [self.start if q is None else q]))[0]

    @cached_property
    def _poses(self) -> dict[str, Function]:
        return {}

    def place(self, frame: str, q: ArrayLike | None = None) -> Array:
        """The position of a frame in the world."""
        return self.pose(frame, q)[:3, 3]

    def turn(self, frame: str, q: ArrayLike | None = None) -> Array:
        """The orientation of a frame in the world."""
        return self.pose(frame, q)[:3, :3]

    def mass(self) -> float:
        """Of all bodies together."""
        records = [self.mechanism.base.inertia, *(body.inertia for body in self.mechanism.bodies.values())]
        return sum(standard_parameters(self, record)["M"] for record in records if record is not None)

    # -- what ties the bodies ------------------------------------------------------------------------------------------
    def gap(self, loop: str, q: ArrayLike | None = None) -> float:
        """How far a cut joint is from being closed: m, and rad for its axes."""
        record = self.mechanism.loops[loop]
        a, b = record.between
        apart = self.place(b, q) - self.place(a, q)
        if record.joint == "spherical":
            return float(np.linalg.norm(apart))
        assert record.joint == "revolute"
        askew = np.cross(self.turn(a, q)[:, 2], self.turn(b, q)[:, 2])
        return float(np.hypot(np.linalg.norm(apart), np.linalg.norm(askew)))

    def rows(self, q: ArrayLike) -> Array:
        """The velocity equations of all loops, then of all constraints on positions and points: rows over v."""
        mechanism = self.mechanism
        found = [self._loop_rows(loop, q) for loop in mechanism.loops.values()]
        found += [self._constraint_row(constraint, q) for constraint in mechanism.constraints.values()]
        return np.vstack(found)

    def _loop_rows(self, loop: Loop, q: ArrayLike) -> Array:
        Ja, Jb = (self("jacobian", q, frame=frame, axes=Axes.WORLD) for frame in loop.between)
        if loop.joint == "spherical":
            return Jb[:3] - Ja[:3]
        across = self.turn(loop.between[0], q)[:, :2].T
        return np.vstack([Jb[:3] - Ja[:3], across @ (Jb[3:] - Ja[3:])])

    def _constraint_row(self, constraint: Constraint, q: ArrayLike) -> Array:
        if constraint.no_side_slip is not None:
            slip = constraint.no_side_slip
            direction = [self.number(x, q) for x in slip.direction]
            return (direction @ self("jacobian", q, frame=slip.frame)[:3])[None, :]
        if constraint.rolling is not None:
            return self._height_row(constraint.rolling, q)
        names = [x.name for x in self.mechanism.q]
        if constraint.zero is not None:
            return (self._slopes(constraint.zero, q) @ self._rates(q))[None, :]
        form = constraint.coupling or constraint.prescribed
        assert form is not None
        slopes = np.eye(len(names))[names.index(form.coordinate)]
        if constraint.coupling is not None:
            slopes = slopes - self._slopes(form.equals, q)
        return (slopes @ self._rates(q))[None, :]

    def _height_row(self, wheel: Rolling, q: ArrayLike) -> Array:
        """Of a wheel that slides freely on level ground and touches under a frame: V_z - R (w x z)_z."""
        assert wheel.slides == "freely"
        assert wheel.under is not None
        centre, carrier = (self("jacobian", q, frame=f, axes=Axes.WORLD) for f in (wheel.wheel, wheel.under))
        z = self.turn(wheel.under, q)[:, 2]
        turned = z[1] * carrier[3] - z[0] * carrier[4]
        return (centre[2] - self.number(wheel.radius) * turned)[None, :]

    def _slopes(self, scalar: Scalar, q: ArrayLike) -> Array:
        """The gradient of a formula by q: differences of sixth order, whose own error is below rounding."""
        point, steps = np.asarray(q, float), np.eye(len(self.mechanism.q)) * STEP
        slope = np.zeros(len(point))
        for k, weight in ((1, 3 / 4), (2, -3 / 20), (3, 1 / 60)):
            pairs = [(self.number(scalar, point + k * d), self.number(scalar, point - k * d)) for d in steps]
            slope += [weight * (ahead - behind) / STEP for ahead, behind in pairs]
        return slope

    def _rates(self, q: ArrayLike) -> Array:
        """The matrix of dq/dt over v."""
        return np.array([self("rates", q, unit) for unit in np.eye(len(self.mechanism.v))]).T


def standard_parameters(example: Example, record: StandardInertia | CentralInertia | None) -> dict[str, float]:
    """The ten standard parameters of a body, at the origin and in the axes of its frame."""
    if record is None:
        return dict.fromkeys(TEN, 0.0)
    if isinstance(record, StandardInertia):
        return {name: example.number(getattr(record, name)) for name in TEN}
    assert record.rpy == (0.0, 0.0, 0.0)
    t = {name: example.number(getattr(record.tensor, name)) for name in type(record.tensor).model_fields}
    M, c = example.number(record.mass), np.array([example.number(x) for x in record.centre])
    J = np.array([[t["xx"], t["xy"], t["xz"]], [t["xy"], t["yy"], t["yz"]], [t["xz"], t["yz"], t["zz"]]])
    J = J + M * (c @ c * np.eye(3) - np.outer(c, c))
    upper = [J[0, 0], J[0, 1], J[0, 2], J[1, 1], J[1, 2], J[2, 2]]
    return dict(zip(TEN, [*upper, *(M * c), M], strict=True))


def with_values(mechanism: Mechanism, values: Mapping[str, float]) -> Mechanism:
    """The mechanism with numbers for its parameters; those that are not given become zero."""
    known = {name: Parameter(value=values.get(name, 0.0)) for name in mechanism.parameters}
    return mechanism.model_copy(update={"parameters": FrozenDict(known)})


def without_tyres(mechanism: Mechanism) -> Mechanism:
    """A vehicle in the air, with its loops and springs: no wheel touches, no tyre acts."""
    constraints = {name: c for name, c in mechanism.constraints.items() if c.rolling is None}
    loads = {name: load for name, load in mechanism.loads.items() if load.kind != "tyre"}
    inputs = {name: x for name, x in mechanism.inputs.items() if not name.startswith("tread_")}
    new = {"constraints": constraints, "loads": loads, "inputs": inputs, "roads": {}}
    return mechanism.model_copy(update={key: FrozenDict(table) for key, table in new.items()})


def par_twin(example: Example, file: str, numbers: Mapping[int, str], values: Mapping[str, float]) -> Mechanism:
    """A .par file with the numbers of an example.

    Args:
        example: where masses and inertias come from.
        file: under tests/data, without its ending.
        numbers: frame of the file -> body of the example.
        values: all other parameters.
    """
    path = DATA / f"{file}.par"
    mechanism = read_par(path.read_bytes(), path.stem, path.name)
    known = dict(values)
    for j, body in numbers.items():
        record = example.mechanism.base.inertia if body == BASE else example.mechanism.bodies[body].inertia
        known |= {f"{key}{j}": value for key, value in standard_parameters(example, record).items()}
    return with_values(mechanism, known)
