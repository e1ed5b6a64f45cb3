"""Every tyre law holds a braked wheel on a slope, lets it go again, and is finite at rest, locked and without load."""

import numpy as np
import pytest

import torseur as ts
from support.tyre_laws import LAWS
from torseur.describe import Mechanism, SpringDamper
from torseur.packs.tyres.load import TyreLoad

pytestmark = pytest.mark.slow

R, M, G = 0.3, 400.0, 9.81
SLOPE, BANK = 0.1, 0.05
SOFT = {"stiffness": 2e5, "damping": 5e3}
CONTACTS = {"rigid": {}, "compliant": SOFT}


def trolley(law, contact, gravity=(-SLOPE, -BANK, -1.0)):
    """A mass on one braked wheel that slides along x, y and z: 10 % uphill along x, 5 % along y."""
    down = np.array(gravity, dtype=float)
    pull = tuple((G * down / max(np.linalg.norm(down), 1e-300)).tolist())
    return Mechanism.model_validate(
        {
            "name": "trolley",
            "gravity": pull,
            "inputs": {"brake": {}, "sx": {}, "sy": {}},
            "bodies": {
                "along": {"joint": {"kind": "prismatic", "axis": "x", "coordinate": "x"}},
                "across": {"parent": "along", "joint": {"kind": "prismatic", "axis": "y", "coordinate": "y"}},
                "cart": {
                    "parent": "across",
                    "joint": {"kind": "prismatic", "coordinate": "z", "guess": R},
                    "inertia": {"M": M - 20.0},
                },
                "wheel": {
                    "parent": "cart",
                    "joint": {"kind": "revolute", "axis": "y", "coordinate": "spin"},
                    "inertia": {"M": 20.0, "YY": 0.8, "XX": 0.4, "ZZ": 0.4},
                },
            },
            "constraints": {
                "w": {"rolling": {"wheel": "wheel", "axle": "y", "radius": R, "slides": "freely", **contact}}
            },
            "loads": {
                "tyre": TyreLoad(wheel="w", law=law, deflection=("sx", "sy")),
                "brake": SpringDamper(coordinate="spin", friction="brake"),
            },
        }
    )


def height(contact):
    """Of the hub at rest."""
    normal = M * G / np.sqrt(1 + SLOPE**2 + BANK**2)
    return R - (normal / contact["stiffness"] if contact else 0.0)


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("contact", CONTACTS)
def test_a_braked_wheel_stops_on_a_slope_stays_and_rolls_back_when_let_go(name, contact):
    run = ts.simulate(
        trolley(LAWS[name], CONTACTS[contact]),
        until=67.0,
        every=0.01,
        start={"x": 0.0, "dx": 3.0, "dspin": 3.0 / R, "z": height(CONTACTS[contact])},
        inputs={"brake": "if(t < 64, 800, 0)"},
    )
    assert run.complete
    stopped, later, gone = (np.searchsorted(run.time, t) for t in (4.0, 63.9, 67.0))
    assert 0.3 < run["x"][stopped] < 1.5
    assert np.ptp(run["x"][stopped:later]) < 1e-4
    assert np.ptp(run["y"][stopped:later]) < 4e-4
    assert np.abs(run["dspin"][stopped:later]).max() == 0.0
    assert -G * SLOPE * 3.0 < run["dx"][gone] < -0.75 * G * SLOPE * 3.0
    assert run["dspin"][gone] * R == pytest.approx(run["dx"][gone], rel=0.1)
    assert run.info["steps"] < 15_000
    assert run.audit().holds


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("contact", CONTACTS)
def test_standing_costs_few_steps_and_no_creep(name, contact):
    """From rest: the tread takes the weight up, then nothing moves."""
    run = ts.simulate(
        trolley(LAWS[name], CONTACTS[contact]),
        until=60.0,
        every=0.1,
        start={"x": 0.0, "z": height(CONTACTS[contact])},
        inputs={"brake": 800.0},
    )
    assert run.complete
    settled = np.searchsorted(run.time, 3.0)
    assert np.ptp(run["x"][settled:]) < 1e-4
    assert np.ptp(run["y"][settled:]) < 1e-3
    assert np.abs(run["x"]).max() < 0.05
    force = M * G / np.sqrt(1 + SLOPE**2 + BANK**2) * np.array([SLOPE, BANK])
    assert [run["tyre_Fx"][-1], run["tyre_Fy"][-1]] == pytest.approx(force.tolist(), rel=1e-3)
    assert run.info["steps"] < 4_000


STATES = {
    "at rest": (np.zeros(4), (0.0, 0.0)),
    "rolling": (np.array([5.0, 0.0, 0.0, 5.0 / R]), (0.0, 0.0)),
    "locked": (np.array([5.0, 0.0, 0.0, 0.0]), (0.0, 0.0)),
    "spinning on the spot": (np.array([0.0, 0.0, 0.0, 30.0]), (0.0, 0.0)),
    "sideways": (np.array([0.0, 4.0, 0.0, 0.0]), (0.0, 0.0)),
    "backwards": (np.array([-5.0, 0.1, 0.0, -5.0 / R]), (0.0, 0.0)),
    "pushed out of its tread": (np.zeros(4), (1.0, -1.0)),
}


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("gravity", [(-SLOPE, -BANK, -1.0), (0.0, 0.0, 0.0)], ids=["loaded", "no load"])
def test_forces_and_their_derivatives_are_finite(name, gravity):
    model = ts.build(trolley(LAWS[name], {}, gravity))
    q = np.array([0.0, 0.0, R, 0.0])
    for v, (sx, sy) in STATES.values():
        inputs = {"brake": 0.0, "sx": sx, "sy": sy}
        vdot = model.forward_dynamics(q, v, np.zeros(4), inputs=inputs)
        assert np.isfinite(vdot).all()
        slopes = model.forward_dynamics_derivatives(q, v, np.zeros(4), inputs=inputs)
        assert np.isfinite(slopes.dvdot_dq).all()
        assert np.isfinite(slopes.dvdot_dv).all()
        if not any(gravity):
            assert np.abs(vdot).max() < 1e-9
