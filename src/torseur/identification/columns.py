"""What the columns of measurements are for a model, and whether those are there that the equations need.

What columns are called:

====================  ==============================================================================================
``q1``                a coordinate, by its name
``dq1``               its speed, or any other speed by its name; ``ddq1`` its acceleration
``tau_q1``            the effort on it that is not an input of the description (also ``effort_``, ``torque_``)
``torque_fr``         an input of the description, by its name: torques of actuators, forces of the road on wheels
``lambda_...``        the force of a constraint, as runs call it: normal forces under wheels
``imu_fx`` .. ``wz``  specific force and rates at a frame of the base; any word may stand in place of imu
====================  ==============================================================================================
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from torseur.describe import BASE, Variable
from torseur.errors import ArgumentError
from torseur.model.model import Model
from torseur.model.rows import rates_of
from torseur.spatial.joints import Quantity

__all__ = ["AXES", "EFFORTS", "Columns", "check_columns"]

EFFORTS = ("tau_", "effort_", "torque_", "force_")
AXES = ("fx", "fy", "fz", "wx", "wy", "wz")
_IMU = re.compile(r"(?P<name>.+)_(?P<axis>[fw][xyz])$")


@dataclass(frozen=True)
class Columns:
    """What the columns of measurements are for a model.

    Attributes:
        coordinates, speeds, accelerations, efforts: place -> column.
        inputs: place -> column.
        multipliers: row -> column; all or none.
        imu: axis -> column.
        unused: the others.
    """

    coordinates: dict[int, str]
    speeds: dict[int, str]
    accelerations: dict[int, str]
    efforts: dict[int, str]
    inputs: dict[int, str]
    multipliers: dict[int, str]
    imu: dict[str, str]
    unused: tuple[str, ...]

    @classmethod
    def of(cls, model: Model, names: Sequence[str]) -> Columns:
        known = set(names)

        def those(wanted: Sequence[str]) -> dict[int, str]:
            return {k: n for k, n in enumerate(wanted) if n in known}

        speeds, rates = [x.name for x in model.speeds], rates_of(model.mechanism)
        called = [model.coordinates[rates[k]].name if k in rates else n for k, n in enumerate(speeds)]
        inputs = list(model.mechanism.inputs)
        efforts = {
            k: prefix + n for k, n in enumerate(called) for prefix in EFFORTS if (prefix + n) in known - set(inputs)
        }
        rows = [f"lambda_{row.name}" for row in model.constraint_rows] if not model.mechanism.is_tree else []
        imu = _imu_of(names) if model.mechanism.has_moving_base else {}
        columns = cls(
            those([x.name for x in model.coordinates]),
            those(speeds),
            those([f"d{n}" for n in speeds]),
            efforts,
            those(inputs),
            those(rows),
            imu,
            (),
        )
        tables = (
            columns.coordinates,
            columns.speeds,
            columns.accelerations,
            columns.efforts,
            columns.inputs,
            columns.multipliers,
        )
        used = {n for table in tables for n in table.values()} | set(imu.values())
        return cls(*tables, imu, tuple(n for n in names if n not in used))

    def has_base_velocity(self, model: Model) -> bool:
        """Whether the velocity of a floating base was measured, or its place."""
        speeds = [k for k, x in enumerate(model.speeds) if x.owner == BASE][:3]
        places = [k for k, x in enumerate(model.coordinates) if _is_place_of_base(x)]
        return all(k in self.speeds for k in speeds) or all(k in self.coordinates for k in places)

    def integrated(self, model: Model) -> dict[int, str]:
        """Coordinates that were not measured, by the column of their rate."""
        rates = rates_of(model.mechanism)
        pairs = ((rates[k], n) for k, n in self.speeds.items() if k in rates)
        return {c: n for c, n in pairs if c not in self.coordinates}

    def is_angle(self, model: Model, name: str) -> bool:
        """Whether a column is an angle of a joint."""
        angles = (k for k, n in self.coordinates.items() if n == name)
        return any(model.coordinates[k].quantity is Quantity.ANGLE for k in angles)

    def expected_units(self, model: Model) -> dict[str, str]:
        """What the values of the columns measure, where that is known."""
        units = {self.coordinates[k]: model.coordinates[k].unit for k in self.coordinates}
        units |= {self.speeds[k]: model.speeds[k].unit for k in self.speeds}
        rate = {"rad/s": "rad/s2", "m/s": "m/s2"}
        units |= {n: rate.get(model.speeds[k].unit, "") for k, n in self.accelerations.items()}
        effort = {"rad/s": "N m", "m/s": "N"}
        units |= {n: effort.get(model.speeds[k].unit, "") for k, n in self.efforts.items()}
        known = list(model.mechanism.inputs.values())
        units |= {n: known[k].unit or "" for k, n in self.inputs.items()}
        units |= {n: model.constraint_rows[k].unit for k, n in self.multipliers.items()}
        units |= {n: "m/s2" if axis.startswith("f") else "rad/s" for axis, n in self.imu.items()}
        return {n: unit for n, unit in units.items() if unit}


def _imu_of(names: Sequence[str]) -> dict[str, str]:
    """The columns of the first sensor that has all six."""
    seen: dict[str, dict[str, str]] = {}
    for n in names:
        if (m := _IMU.match(n)) is not None:
            seen.setdefault(m["name"], {})[m["axis"]] = n
    return next((axes for axes in seen.values() if set(axes) == set(AXES)), {})


def check_columns(model: Model, columns: Columns, imu_frame: str, source: str) -> None:
    """An IMU must be where it can serve, and all there that the equations need."""
    _check_sensor(model, columns, imu_frame, source)
    _check_complete(model, columns, source)


def _check_complete(model: Model, columns: Columns, source: str) -> None:
    """Every coordinate must be measured, but for the place of a floating base."""
    rates = rates_of(model.mechanism)
    by_rate = {rates[k] for k in columns.speeds if k in rates}
    missing = [
        x.name
        for k, x in enumerate(model.coordinates)
        if k not in columns.coordinates and k not in by_rate and not (columns.imu and _is_place_of_base(x))
    ]
    faults = [f"coordinates {', '.join(missing)}"] if missing else []
    if not columns.efforts and not columns.inputs:
        wanted = [*list(model.mechanism.inputs)[:4], *(f"tau_{x.name}" for x in model.coordinates[:2])]
        faults.append(f"efforts ({', '.join(wanted)}, ...)")
    if columns.multipliers and len(columns.multipliers) < len(model.constraint_rows):
        absent = [r.name for k, r in enumerate(model.constraint_rows) if k not in columns.multipliers]
        faults.append(f"forces of constraints lambda_{', lambda_'.join(absent)} (all of them, or none)")
    if faults:
        raise ArgumentError("measurements lack what the equations need", where=source, expected="; ".join(faults))


def _check_sensor(model: Model, columns: Columns, frame: str, source: str) -> None:
    """An IMU tells the motion of the base only from a place on the base."""
    frames = {n: body for n, body in model.mechanism.frames.items() if body == BASE}
    if frame != BASE and frame not in frames:
        on_base = ", ".join(n for n in frames if n != "world")
        text = "an IMU sits on the base"
        raise ArgumentError(text, where=model.mechanism.name, expected=on_base, got=frame, option="imu_frame")
    if frame != BASE and not columns.imu:
        no_columns = "no sensor has all six columns, NAME_fx to NAME_wz"
        text = no_columns if model.mechanism.has_moving_base else "the base of this description does not move"
        raise ArgumentError(text, where=source, got=f"an IMU at {frame}", option="imu_frame")


def _is_place_of_base(x: Variable) -> bool:
    return x.owner == BASE and x.quantity is Quantity.LENGTH
