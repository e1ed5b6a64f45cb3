"""The bicycle of Whipple with the benchmark parameters of Meijaard, Papadopoulos, Ruina and Schwab.

Linearized dynamics equations for the balance and steer of a bicycle: a benchmark and review, Proc. R. Soc. A 463 (2007)
1955-1982: parameters of table 1, matrices of section 5, eigenvalues of table 2. The paper has y to the right and z
down, so its steering angle has the other sign.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import torseur as ts
from torseur.model import Stability

FILE = Path(__file__).resolve().parents[2] / "examples" / "whipple_bicycle" / "whipple_bicycle.yaml"

M = np.array([[80.81722, 2.31941332208709], [2.31941332208709, 0.29784188199686]])
K0 = np.array([[-80.95, -2.59951685249872], [-2.59951685249872, -0.80329488458618]])
K2 = np.array([[0.0, 76.59734589573222], [0.0, 2.65431523794604]])
C1 = np.array([[0.0, 33.86641391492494], [-0.85035641456978, 1.68540397397560]])
GRAVITY = 9.81
# Forward speed, m/s -> weave (real and imaginary part; at 0 two real ones), capsize, castering, 1/s.
EIGENVALUES = {
    0: (3.13164324790656, 5.53094371765393, -3.13164324790656, -5.53094371765393),
    1: (3.52696170990070 + 0.80774027519930j, -3.13423125066578, -7.11008014637442),
    2: (2.68234517512745 + 1.68066296590675j, -3.07158645641514, -8.67387984831735),
    3: (1.70675605663975 + 2.31582447384325j, -2.63366137253667, -10.35101467245920),
    4: (0.41325331521125 + 3.07910818603206j, -1.42944427361326, -12.15861426576447),
    5: (-0.77534188219585 + 4.46486771378823j, -0.32286642900409, -14.07838969279822),
    6: (-1.52644486584142 + 5.87673060598709j, -0.00406690076970, -16.08537123098026),
    7: (-2.13875644258362 + 7.19525913329805j, 0.10268170574766, -18.15788466125262),
    8: (-2.69348683581097 + 8.46037971396931j, 0.14327879765713, -20.27940894394569),
    9: (-3.21675402252485 + 9.69377351531791j, 0.15790184030917, -22.43788559040858),
    10: (-3.72016840437287 + 10.90681139476287j, 0.16105338653172, -24.62459635017404),
}


@pytest.fixture(scope="module")
def bicycle() -> Any:
    return ts.build(ts.load(FILE))


def straight(model: Any, speed: float) -> Any:
    """The linear model about straight running upright."""
    at = {"dx": speed, "dy": 0.0, "droll": 0.0, "dsteer": 0.0}
    forces = ("tau_droll", "tau_dsteer")
    lin = model.linearise(at, inputs=forces, independent=("roll", "steer", "droll", "dsteer"))
    assert lin.is_steady
    return lin


def published(speed: int) -> np.ndarray:
    values = [complex(x) for x in EIGENVALUES[speed]]
    return np.sort_complex(np.array(values + [x.conjugate() for x in values if x.imag]))


@pytest.mark.slow
@pytest.mark.parametrize("speed", EIGENVALUES)
def test_eigenvalues_are_those_of_the_benchmark(bicycle: Any, speed: int) -> None:
    values = straight(bicycle, float(speed)).eigenvalues
    moving = np.sort_complex(values[np.abs(values) > 1e-6])
    assert len(values) - len(moving) == 6  # x, y, yaw, two wheel angles and the forward speed do not matter
    assert np.abs(moving - published(speed)).max() < 5e-12


@pytest.mark.parametrize("speed", EIGENVALUES)
def test_published_eigenvalues_and_matrices_fit_each_other(speed: int) -> None:
    stiffness, damping = GRAVITY * K0 + speed**2 * K2, speed * C1
    lower = np.hstack([-np.linalg.solve(M, stiffness), -np.linalg.solve(M, damping)])
    values = np.linalg.eigvals(np.vstack([np.hstack([np.zeros((2, 2)), np.eye(2)]), lower]))
    assert np.abs(np.sort_complex(values) - published(speed)).max() < 5e-12


@pytest.mark.slow
@pytest.mark.parametrize("speed", [0.0, 2.5, 7.3])
def test_matrices_are_those_of_the_benchmark(bicycle: Any, speed: float) -> None:
    lin, sign = straight(bicycle, speed), np.diag([1.0, -1.0])
    angles, rates = ([lin.states.index(n) for n in names] for names in (("roll", "steer"), ("droll", "dsteer")))
    mass = np.linalg.inv(lin.B[rates])
    assert np.abs(sign @ mass @ sign - M).max() < 1e-11
    assert np.abs(sign @ -mass @ lin.A[np.ix_(rates, rates)] @ sign - speed * C1).max() < 1e-10
    stiffness = GRAVITY * K0 + speed**2 * K2
    assert np.abs(sign @ -mass @ lin.A[np.ix_(rates, angles)] @ sign - stiffness).max() < 1e-9


@pytest.mark.slow
def test_it_balances_itself_between_the_published_speeds(bicycle: Any) -> None:
    """Self-stable from the weave speed 4.292 to the capsize speed 6.024 m/s, to the digits that are printed."""
    unstable = {
        v: any(m.eigenvalue.real > 1e-9 for m in straight(bicycle, v).modes) for v in (4.292, 4.293, 6.024, 6.025)
    }
    assert unstable == {4.292: True, 4.293: False, 6.024: False, 6.025: True}


def test_it_has_three_degrees_of_freedom_and_seven_coordinates(bicycle: Any) -> None:
    found = bicycle.mobility()
    assert (found.freedoms, found.free_coordinates, found.redundant) == (3, 7, ())


def test_a_push_at_five_metres_a_second_dies_out_and_takes_no_energy(bicycle: Any) -> None:
    """The nonlinear motion for five seconds: it stays upright, and constraint forces do no work."""
    start = bicycle.assemble(speeds={"dx": 5.0, "dy": 0.0, "droll": 0.5}, hold=["dx", "dy", "droll"])
    rates, n = bicycle.function("rates"), bicycle.nq

    def rate(t: float, x: np.ndarray) -> np.ndarray:
        q, v = x[:n], x[n:]
        return np.concatenate([rates(q, v), bicycle.forward_dynamics(q, v, np.zeros(bicycle.nv))])

    run = solve_ivp(rate, (0.0, 5.0), np.concatenate([start.q, start.v]), "DOP853", rtol=1e-9, atol=1e-11)
    q, v = run.y[:n].T, run.y[n:].T
    energy = bicycle.kinetic_energy(q, v) + bicycle.potential_energy(q)
    assert np.ptp(energy) < 1e-7 * energy[0]
    assert np.abs(bicycle.closure(q)).max() < 1e-7
    roll = q[:, 3]
    assert 0.05 < np.abs(roll).max() < 0.5
    assert np.abs(v[run.t > 4.0, 3]).max() < 0.05


def test_weave_is_the_oscillation_and_its_shape_is_lean_against_steer(bicycle: Any) -> None:
    lin = straight(bicycle, 5.0)
    weave = lin.modes[0]
    assert weave.frequency == pytest.approx(abs(EIGENVALUES[5][0]) / (2 * np.pi), abs=1e-12)
    assert weave.damping == pytest.approx(-EIGENVALUES[5][0].real / abs(EIGENVALUES[5][0]), abs=1e-12)
    assert max(weave.amplitudes.values()) == pytest.approx(1.0)
    ratio = weave.shape["roll"] / weave.shape["steer"]
    value = complex(EIGENVALUES[5][0])
    first = M[0] * value**2 + 5 * C1[0] * value + GRAVITY * K0[0] + 25 * K2[0]
    assert ratio == pytest.approx(first[1] / first[0], abs=1e-10)  # (roll, -steer) of the paper
    assert lin.stability is Stability.NEUTRAL  # heading and place are not corrected
