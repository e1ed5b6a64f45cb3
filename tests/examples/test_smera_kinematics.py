"""The loops of the Smera by the general method, against the corrected closed forms of Maakaroun 2011, chapter 4."""

from functools import cache

import numpy as np
import pytest

from support.example_files import Example, without_tyres
from torseur.dynamics.constrained_motion.closed_states import SampledRows
from torseur.dynamics.workbench import Options, Workbench

pytestmark = pytest.mark.slow

DEPENDENT = [f"q{j}" for j in (3, 4, 9, 6, 7, 13, 17, 18, 29, 23, 24, 30, 31, 32, 34)]
sin, cos = np.sin, np.cos


@cache
def smera():
    car = Example("smera")
    w = Workbench(without_tyres(car.mechanism), Options(loads=False))
    return car, SampledRows(w).rows, [x.name for x in car.mechanism.q], [x.name for x in car.mechanism.v]


def closed(**independent):
    """All coordinates by name, loops closed by Newton's method on the dependent ones."""
    car, rows, names, speeds = smera()
    q = car.start.copy()
    for name, value in independent.items():
        q[names.index(name)] = value
    places, columns = [names.index(n) for n in DEPENDENT], [speeds.index(f"d{n}") for n in DEPENDENT]
    for _ in range(30):
        step = np.linalg.solve(rows.A(q[None])[0][:, columns], rows.h(q[None])[0])
        q[places] -= step
    assert np.max(np.abs(rows.h(q[None]))) < 1e-13
    return q, dict(zip(names, q, strict=True))


def rates(q, **given):
    """Dependent rates of given independent ones."""
    _, rows, _, speeds = smera()
    A, v = rows.A(q[None])[0], np.zeros(len(speeds))
    for name, value in given.items():
        v[speeds.index(name)] = value
    columns = [speeds.index(f"d{n}") for n in DEPENDENT]
    return dict(zip(DEPENDENT, np.linalg.solve(A[:, columns], -A @ v), strict=True))


@pytest.mark.parametrize("lean", np.radians([-25, -20, -10, 0, 10, 20, 25]))
@pytest.mark.parametrize("travel", [-0.04, 0.0, 0.04])
def test_loops_close_over_the_lean_and_the_travel_of_the_struts(lean, travel):
    """The lean that the rear lyre gives, with both rear struts equally long."""
    p = smera()[0].numbers
    lyre = -1.8 * lean
    _, q = closed(roll=lean, q2=np.pi / 2 + lyre, q5=p["s5"] + travel, q8=p["s5"] + travel, q33=p["s33"], q35=p["s33"])
    left, right = p["L6"] * sin(q["q9"]), -p["L6"] * sin(q["q13"])
    assert np.sign(np.arctan((right - left) / (2 * p["L5"]))) == np.sign(lean)
    assert abs(q["q31"] + lean) < 1e-12
    assert abs(q["q17"] + q["q18"] - np.pi / 2) < 1e-12


def test_the_lyre_leans_the_chassis_twenty_degrees_each_way():
    p = smera()[0].numbers
    leans = []
    for lyre in np.radians(np.linspace(-45, 45, 19)):
        _, q = closed(q2=np.pi / 2 + lyre)
        leans.append(np.degrees(np.arctan((-sin(q["q13"]) - sin(q["q9"])) * p["L6"] / (2 * p["L5"]))))
    assert np.all(np.diff(leans) < 0.0)
    assert leans[0] > 20.0
    np.testing.assert_allclose(leans, [-x for x in reversed(leans)], atol=1e-9)


def half(p, side, lyre, L2):
    """theta_b, theta_c, theta_p of (4.3) to (4.14), corrected, and what they are made of."""
    s = 1.0 if side == "right" else -1.0
    L1, L3, L4 = np.hypot(p["L13"], p["L14"]), np.hypot(p["L9"], p["L12"]), p["L4g"]
    theta_l, gamma = lyre + s * np.arctan2(p["L14"], p["L13"]), np.arctan2(s * p["L9"], -p["L12"])
    theta_c = -s * np.arccos((-(L1**2) + L2**2 - L3**2 + L4**2 + 2 * L3 * L1 * cos(gamma - theta_l)) / (2 * L4 * L2))
    B1, B2 = L4 - L2 * cos(theta_c), L2 * sin(theta_c)  # B2 of (4.8) with j = -theta_c
    Z1, Z2 = -L3 + L1 * cos(gamma - theta_l), -L1 * sin(gamma - theta_l)
    theta_b = np.arctan2(B1 * Z2 - B2 * Z1, B1 * Z1 + B2 * Z2)
    return L1, L4, theta_l, gamma, theta_b, theta_c, gamma - theta_l + theta_b - theta_c


@pytest.mark.parametrize("lean", np.radians([-20, -7, 0, 12, 20]))
@pytest.mark.parametrize("travel", [-0.03, 0.0, 0.03])
def test_the_front_is_the_analytic_solution(lean, travel):
    """(4.3) to (4.14); angles of the loops are turned into joint angles as figure 4.15 must have done."""
    p = smera()[0].numbers
    lengths = {"q33": p["s33"] + travel, "q35": p["s33"] - 0.5 * travel}
    _, q = closed(roll=lean, **lengths)
    turn = np.arctan2(p["L14"], p["L13"])
    for side, arm, upper, pivot, strut, s in (
        ("left", "q17", "q29", "q32", "q33", -1.0),
        ("right", "q23", "q30", "q34", "q35", 1.0),
    ):
        *_, gamma, theta_b, _, theta_p = half(p, side, -lean, lengths[strut])
        for found, expected in ((q[arm], gamma + theta_b), (q[pivot], theta_p + s * turn + np.pi)):
            assert abs((found - expected + np.pi) % (2 * np.pi) - np.pi) < 1e-12
        assert q[upper] == pytest.approx(q[arm], abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_front_speeds_are_4_34_to_4_36_corrected(seed):
    rng = np.random.default_rng(seed)
    p = smera()[0].numbers
    lean, dlean, d33, d35 = rng.uniform(-0.3, 0.3), *rng.uniform(-1, 1, 3)
    lengths = {"q33": p["s33"] + rng.uniform(-0.03, 0.03), "q35": p["s33"] + rng.uniform(-0.03, 0.03)}
    q, _ = closed(roll=lean, **lengths)
    found = rates(q, wx=dlean, dq33=d33, dq35=d35)  # without pitch, wx is the rate of roll
    for side, arm, pivot, strut, dL2 in (("left", "q17", "q32", "q33", d33), ("right", "q23", "q34", "q35", d35)):
        L1, L4, theta_l, gamma, b, c, _ = half(p, side, -lean, lengths[strut])
        L2, dl = lengths[strut], -dlean
        X1, X2 = -L4 * sin(b), L4 * cos(b)  # printed: X2 with a sine
        Y1, Y2 = L2 * sin(b - c), -L2 * cos(b - c)
        Z1 = L1 * sin(gamma - theta_l) * dl + dL2 * cos(b - c)
        Z2 = L1 * cos(gamma - theta_l) * dl + dL2 * sin(b - c)
        below = Y2 * X1 - Y1 * X2
        db = (Z1 * Y2 - Z2 * Y1) / below  # (4.34)
        dc = (Z1 * (X2 + Y2) - Z2 * (X1 + Y1)) / below  # (4.35)
        assert found[arm] == pytest.approx(db, abs=1e-11)
        assert found[pivot] == pytest.approx(-dl + db - dc, abs=1e-11)  # (4.36)
    assert found["q18"] == pytest.approx(-found["q17"], abs=1e-12)
    assert found["q31"] == pytest.approx(-dlean, abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_rear_speeds_are_4_22_and_4_27_corrected(seed):
    rng = np.random.default_rng(seed)
    p = smera()[0].numbers
    lengths = p["s5"] + rng.uniform(-0.03, 0.03, 2)
    state, q = closed(q2=np.pi / 2 + rng.uniform(-0.5, 0.5), q5=lengths[0], q8=lengths[1])
    d2, d5, d8 = rng.uniform(-1, 1, 3)
    found = rates(state, dq2=d2, dq5=d5, dq8=d8)
    L1, L2, Lp, fp = (p[name] for name in ("L1", "L2", "Lp", "fp"))
    s, c = ({name: f(x) for name, x in q.items()} for f in (sin, cos))
    s2, c2, q5, q8 = s["q2"], c["q2"], q["q5"], q["q8"]
    s3, c3, s4, c4, s9, c9 = s["q3"], c["q3"], s["q4"], c["q4"], s["q9"], c["q9"]
    S1 = [
        [c3 * q5 * s4, c4 * s3 * q5, c9 * fp + s9 * Lp],
        [-c2 * s3 * q5 * s4, c2 * c3 * c4 * q5 + s2 * s4 * q5, 0],
        [-s2 * s3 * q5 * s4, s2 * c3 * c4 * q5 - c2 * s4 * q5, s9 * fp - c9 * Lp],
    ]
    N1 = [
        [-s3 * s4, 0],
        [-c2 * c3 * s4 + c4 * s2, s2 * L1 + s2 * s4 * q5 * c3 - c2 * L2 + c2 * q5 * c4],
        [-s2 * c3 * s4 - c4 * c2, -c2 * L1 - c2 * s4 * q5 * c3 - s2 * L2 + s2 * q5 * c4],
    ]
    left = np.linalg.solve(S1, np.array(N1) @ [d5, d2])
    np.testing.assert_allclose([found[n] for n in ("q3", "q4", "q9")], left, atol=1e-11)
    s6, c6, s7, c7, s13, c13 = s["q6"], c["q6"], s["q7"], c["q7"], s["q13"], c["q13"]
    S2 = [
        [-c6 * q8 * s7, -c7 * s6 * q8, -c13 * fp + s13 * Lp],
        [-c2 * s6 * q8 * s7, c2 * c7 * c6 * q8 + s2 * s7 * q8, 0],
        [-s2 * s6 * q8 * s7, s2 * c7 * c6 * q8 - c2 * s7 * q8, s13 * fp + c13 * Lp],  # printed: a cosine of q2 first
    ]
    N2 = [
        [0, s7 * s6],
        [s2 * L1 + s2 * s7 * q8 * c6 + c2 * L2 + c2 * q8 * c7, -c2 * c6 * s7 + c7 * s2],
        [-c2 * L1 - c2 * s7 * q8 * c6 + s2 * L2 + s2 * q8 * c7, -s2 * c6 * s7 - c7 * c2],
    ]
    right = np.linalg.solve(S2, np.array(N2) @ [d2, d8])
    np.testing.assert_allclose([found[n] for n in ("q6", "q7", "q13")], right, atol=1e-11)
