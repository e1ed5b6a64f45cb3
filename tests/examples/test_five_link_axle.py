"""A rear axle on five rods, out of model files alone: loops, energy, loads, and where the rods lead the wheel."""

from functools import cache

import numpy as np
import pytest
from scipy.optimize import fsolve
from scipy.spatial.transform import Rotation

import torseur as ts
from support.example_files import EXAMPLES, STUDIES

RODS = ("lower", "trailing", "upper", "leading", "toe")
SIDES = {"left": 1.0, "right": -1.0}
WHEELS = ("front_left", "front_right", "rear_left", "rear_right")
FOLDER = EXAMPLES / "five_link_axle"
LR, TRACK, RADIUS, HEIGHT = 1.593, 1.48, 0.30, 0.55
HUB = RADIUS - HEIGHT


@cache
def run_of():
    return ts.simulate(STUDIES["five_link_axle/lane_change"])


def ends_of_rods(side):
    """Inner ends in the frame of the chassis, outer ones from the hub, both at rest."""
    given = {name: p.value for name, p in ts.load(FOLDER / "five_link.yaml").parameters.items()}
    inner, outer = (np.array([[given[f"{rod}_{end}{axis}"] for axis in "xyz"] for rod in RODS]) for end in "io")
    mirror = np.array([1.0, side, 1.0])
    return np.array([-LR, side * TRACK / 2, HUB]) + inner * mirror, outer * mirror


def hub_at(height, side):
    """Place and axes of the hub in the frame of the chassis, its height given: five lengths that do not change."""
    inner, outer = ends_of_rods(side)
    start = np.array([-LR, side * TRACK / 2, HUB])
    lengths = np.linalg.norm(start + outer - inner, axis=1)

    def open_by(x):
        place = np.array([x[0], x[1], height])
        return np.linalg.norm(place + Rotation.from_rotvec(x[2:]).apply(outer) - inner, axis=1) - lengths

    found, _, is_found, _ = fsolve(open_by, [*start[:2], 0.0, 0.0, 0.0], xtol=1e-14, full_output=True)
    assert is_found == 1 or np.abs(open_by(found)).max() < 1e-13
    return np.array([*found[:2], height]), Rotation.from_rotvec(found[2:]).as_matrix()


def test_one_wheel_has_one_motion_left():
    assert ts.build(ts.load(FOLDER / "five_link.yaml")).mobility().freedoms == 1


@pytest.mark.slow
def test_loops_stay_closed_and_the_audit_holds():
    run = run_of()
    assert run.audit().holds
    errors = {row["balance"]: row["error"] for row in run.audit().table}
    assert errors["loops and constraints"] < 1e-9
    assert errors["contacts and stops"] < 1e-9
    assert not run.events
    model = ts.build(run.mechanism)
    for k in range(0, len(run.time), 25):
        assert np.abs(model.closure(run.q[k], inputs={"steering": run["steering"][k]})).max() < 1e-9


@pytest.mark.slow
def test_the_loads_at_rest_carry_the_weight_and_the_car_stands_level():
    run = ts.simulate(ts.load(FOLDER / "five_link_axle.yaml"), start_from="equilibrium", until=0.1, solver="dopri5")
    loads = np.array([run[f"{w}_Fz"][0] for w in WHEELS])
    mass = 1508 + 4 * 20 + 4 * 12 + 10 * 1.2
    assert loads.sum() == pytest.approx(mass * 9.81, rel=1e-9)
    np.testing.assert_allclose(loads[::2], loads[1::2], rtol=1e-9)
    assert abs(run["pitch"][0]) < 1e-4
    assert run["z"][0] == pytest.approx(HEIGHT, abs=1e-4)
    model = ts.build(run.mechanism)
    at = np.array([model.pose(run.q[0], f"wheel_{w}")[0, 3] for w in WHEELS])
    centre = model.centre_of_mass(run.q[0])
    assert loads @ at == pytest.approx(mass * 9.81 * centre[0], abs=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("side", SIDES)
def test_the_wheel_moves_as_five_rods_of_constant_length_lead_it(side):
    run = run_of()
    model, heights = ts.build(run.mechanism), []
    for k in range(0, len(run.time), 10):
        hub = np.linalg.inv(model.pose(run.q[k], "base")) @ model.pose(run.q[k], f"hub_rear_{side}")
        place, axes = hub_at(hub[2, 3], SIDES[side])
        np.testing.assert_allclose(hub[:3, 3], place, atol=1e-9)
        np.testing.assert_allclose(hub[:3, :3], axes, atol=1e-9)
        heights.append(hub[2, 3])
    assert np.ptp(heights) > 0.03  # it does move


def test_camber_falls_and_the_wheel_toes_in_as_the_spring_is_compressed():
    """The page says so; of the rods alone."""
    angles = []
    for travel in (-0.05, 0.05):
        _, R = hub_at(HUB + travel, 1.0)
        angles.append((np.degrees(R[2, 1]), np.degrees(R[0, 1])))
    assert angles[1][0] > angles[0][0]
    assert angles[1][1] > angles[0][1]
