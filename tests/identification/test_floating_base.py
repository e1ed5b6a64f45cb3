"""A body that floats, known from an IMU away from its origin and a quaternion."""

import numpy as np
import pytest

import torseur as ts
from torseur.describe import Mechanism
from torseur.describe.loads import Drag, Wrench
from torseur.errors import ArgumentError
from torseur.identification.identification import identify
from torseur.identification.measurements import Measurements

MASS, CENTRE = 3.0, (0.05, -0.02, 0.03)
FORCES = {"F1": "4*sin(1.1*t)", "F2": "3*sin(1.7*t)", "F3": "29.43 + 5*sin(0.9*t)"}
TORQUES = {"N1": "0.3*sin(1.9*t)", "N2": "0.4*sin(1.3*t + 1)", "N3": "0.5*sin(2.3*t)"}


@pytest.fixture(scope="module")
def craft():
    """An IMU sits askew on an arm; fans push and turn."""
    tensor = {"xx": 0.12, "yy": 0.2, "zz": 0.25, "xz": 0.02}
    return Mechanism(
        name="craft",
        base={
            "kind": "floating",
            "inertia": {"mass": MASS, "centre": CENTRE, "tensor": tensor},
            "frames": {"sensor": {"place": {"pose": {"position": [0.4, -0.3, 0.2], "rpy": [0.3, -0.4, 1.0]}}}},
        },
        inputs={name: {} for name in (*FORCES, *TORQUES)},
        loads={"fans": Wrench(frame="base", force=tuple(FORCES), torque=tuple(TORQUES))},
    )


@pytest.fixture(scope="module")
def run(craft):
    blocks = {"imu": {"imu": {"frame": "sensor"}}}
    return ts.simulate(craft, until=8.0, every=0.002, inputs=FORCES | TORQUES, blocks=blocks, solver="rk4")


def measured(run):
    """Neither place nor velocity: quaternion, IMU, forces. The sign of the quaternion changes at times."""
    attitude = [x.name for x in run.mechanism.q][3:]
    imu = [f"imu_{axis}" for axis in ("fx", "fy", "fz", "wx", "wy", "wz")]
    columns = {n: run[n] for n in (*attitude, *imu, *FORCES, *TORQUES)}
    sign = np.where(run.time % 3.0 < 1.0, -1.0, 1.0)
    return Measurements.of({"time": run.time} | columns | {n: sign * columns[n] for n in attitude})


def test_mass_centre_and_inertia_come_from_a_sensor_away_from_the_origin(run):
    found = identify(run.mechanism, measured(run), imu_frame="sensor")
    assert len(found.names) == 10
    size = np.abs(found.unknowns.start).max()
    assert np.abs(found.estimate.values - found.unknowns.start).max() < 1e-3 * size
    assert found.prediction.relative.max() < 1e-2
    # the place of the sensor is kept for measurements that validate
    assert found.validate(measured(run)).holds


def test_where_the_sensor_sits_matters(run):
    found = identify(run.mechanism, measured(run), checks="tell")
    assert np.abs(found.estimate.values - found.unknowns.start).max() > 0.05


def test_a_sensor_that_is_not_on_the_base_is_refused(run):
    with pytest.raises(ArgumentError, match="an IMU sits on the base") as caught:
        identify(run.mechanism, measured(run), imu_frame="wing")
    assert "base, sensor" in str(caught.value)
    data = measured(run)
    rest = data.with_columns({"imu_fx": None})
    with pytest.raises(ArgumentError, match="no sensor has all six columns"):
        identify(run.mechanism, rest, imu_frame="sensor")


def test_drag_that_the_sensor_does_not_show_is_told(run):
    air = Drag(frame="base", coefficient=1.0, area=0.1)
    loads = {**run.mechanism.loads, "air": air}
    fields = {f: getattr(run.mechanism, f) for f in Mechanism.model_fields}
    windy = Mechanism.model_validate({**fields, "loads": loads})
    found = identify(windy, measured(run), imu_frame="sensor")
    assert any(f.kind == "velocity" for f in found.findings)
