"""CommonRoad's vehicle models beside ours: the single track to rounding, the simplified multibody model to 5 %."""

import inspect

import numpy as np
import pytest

from torseur.bench import vehicles

pytestmark = pytest.mark.oracle


@pytest.fixture(autouse=True, scope="module")
def _peer():
    pytest.importorskip("vehiclemodels")


def test_the_single_track_model_is_the_same():
    compared = vehicles.single_track()
    found = compared.differences(compared.ours(), compared.theirs())
    assert len(found) == 4
    assert max(found.values()) < 1e-6


def differences(compared, lateral=4.0):
    run, theirs = compared.ours(), compared.theirs()
    assert np.abs(theirs[-1, 5] * theirs[-1, 3]) == pytest.approx(lateral, rel=0.05)
    return compared.differences(run, theirs)


@pytest.mark.parametrize("lateral", [2.0, 4.0])
def test_the_multibody_model_turns_as_ours_up_to_4_metres_per_second_squared(lateral):
    """Yaw rate and lateral acceleration at all times, what is settled among them."""
    found = differences(vehicles.multibody(lateral), lateral)
    assert len(found) == 4
    assert max(found.values()) < 0.05


MENDED = (
    ("x[10] + p.a*x[5] - x[14]", "x[15] - x[14]"),
    ("x[10] - p.b*x[5] - x[19]", "x[20] - x[19]"),
)
"""Slip angles of mb from the velocity of the sprung centre of mass, and from that of the axle, a state of mb too."""


def mended():
    """mb with the slip angles of its tyres from the velocity of the axles; nothing else is changed."""
    from vehiclemodels import vehicle_dynamics_mb as module

    text = inspect.getsource(module)
    for as_it_is, of_the_axle in MENDED:
        assert text.count(as_it_is) == 2
        text = text.replace(as_it_is, of_the_axle)
    names = {}
    exec(compile(text, "mended mb", "exec"), names)
    return names["vehicle_dynamics_mb"]


def test_where_the_multibody_model_is_steered_quickly_the_velocity_in_its_slip_angles_makes_the_difference():
    """mb takes the slip of its tyres at the height of the sprung mass: it misses the sideways speed of roll."""
    *yaw, quick, settled = differences(vehicles.multibody(rise=0.5)).values()
    assert quick > 0.08
    assert max(*yaw, settled) < 0.05
    assert max(differences(vehicles.multibody(rise=0.5, theirs=mended())).values()) < 0.02


def test_the_multibody_model_leaves_a_straight_course_by_itself():
    """The shifts of its tyres have the sign of the camber, which is that of rounding while it goes straight ahead."""
    from scipy.integrate import odeint
    from vehiclemodels.init_mb import init_mb
    from vehiclemodels.parameters_vehicle2 import parameters_vehicle2
    from vehiclemodels.vehicle_dynamics_mb import vehicle_dynamics_mb

    def sideways(p):
        start = init_mb([0.0, 0.0, 0.0, vehicles.SPEED, 0.0, 0.0, 0.0], p)
        start[8] = (start[21] - start[16]) / (p.a + p.b)  # heave and pitch at which the springs rest
        start[11] = start[16] + p.a * start[8]
        times = np.linspace(0.0, 5.0, 1001)
        x = odeint(lambda x, t: vehicle_dynamics_mb(list(x), [0.0, 0.0], p), start, times, rtol=1e-8, atol=1e-10)
        return np.abs(np.gradient(x[:, 10], times) + x[:, 3] * x[:, 5]).max()

    p = parameters_vehicle2()
    assert sideways(p) > 0.2
    p.tire.p_hy1 = p.tire.p_vy1 = 0.0
    assert sideways(p) < 0.01
