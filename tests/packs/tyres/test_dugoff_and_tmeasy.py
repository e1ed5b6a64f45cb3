"""Dugoff's law and TMeasy: what their parameters say."""

import math

import numpy as np
import pytest

from support.tyre_laws import LAWS, Evaluated
from torseur.packs.tyres import DugoffTyre

DUGOFF = Evaluated(DugoffTyre(longitudinal_stiffness=9e4, cornering_stiffness=6e4, friction=0.9))
TMEASY = Evaluated(LAWS["tmeasy"])


# -- Dugoff ------------------------------------------------------------------------------------------------------------
def test_dugoff_at_one_point_is_the_formula_of_the_paper():
    kappa, alpha, Fz = -0.08, 0.1, 4000.0
    Cx, Cy, mu = 9e4, 6e4, 0.9
    size = math.hypot(Cx * kappa, Cy * math.tan(alpha))
    ratio = mu * Fz * (1 + kappa) / (2 * size)
    assert ratio < 1.0
    f = (2 - ratio) * ratio
    found = DUGOFF(kappa=kappa, alpha=alpha, Fz=Fz)
    assert found["Fx"] == pytest.approx(Cx * kappa / (1 + kappa) * f, rel=1e-12)
    assert found["Fy"] == pytest.approx(Cy * math.tan(alpha) / (1 + kappa) * f, rel=1e-12)


def test_dugoff_does_not_slide_at_small_slips():
    found = DUGOFF(kappa=-0.005, alpha=0.01, Fz=4000.0)
    assert found["Fx"] == pytest.approx(-9e4 * 0.005 / 0.995, rel=1e-12)
    assert found["Fy"] == pytest.approx(6e4 * math.tan(0.01) / 0.995, rel=1e-12)


def test_dugoff_locked_or_across_slides_with_all_its_friction():
    assert DUGOFF(kappa=-1.0, Fz=4000.0)["Fx"] == pytest.approx(-0.9 * 4000.0, rel=1e-4)
    assert DUGOFF(alpha=math.pi / 2, Fz=4000.0)["Fy"] == pytest.approx(0.9 * 4000.0, rel=1e-4)


def test_dugoff_stays_within_its_friction_circle():
    rng = np.random.default_rng(2)
    f = DUGOFF(kappa=rng.uniform(-1, 1, 2000), alpha=rng.uniform(-1.5, 1.5, 2000), Fz=4000.0)
    assert np.all(np.hypot(f["Fx"], f["Fy"]) <= 0.9 * 4000.0 * (1 + 1e-12))


def test_friction_of_dugoff_falls_with_sliding_speed():
    law = Evaluated(DUGOFF.law.model_copy(update={"friction_decay": 0.01}))
    slow, fast = law(kappa=-1.0, Fz=4000.0, Vx=[10.0, 30.0])["Fx"]
    assert slow == pytest.approx(-0.9 * 0.9 * 4000.0, rel=1e-4)
    assert fast == pytest.approx(-0.9 * 0.7 * 4000.0, rel=1e-4)


# -- TMeasy ------------------------------------------------------------------------------------------------------------
AXES = [("longitudinal", "kappa", "Fx"), ("lateral", "alpha", "Fy")]
every_axis = pytest.mark.parametrize(("axis", "slip", "force"), AXES)


def at(slip: str, s: np.ndarray) -> np.ndarray:
    """The input of a slip over the rolling speed: kappa of a driven wheel is that, tan(alpha) of a free one."""
    return np.asarray(s) if slip == "kappa" else np.arctan(s)


@pytest.mark.parametrize("place", [0, 1])
@every_axis
def test_a_curve_of_tmeasy_has_its_slope_its_peak_and_its_sliding_force(axis, slip, force, place):
    given, Fz = getattr(TMEASY.law, axis), 3000.0 * (1 + place)
    sM, sS = given.peak_slip[place], given.slide_slip[place]
    e = 1e-6

    def F(s):
        return TMEASY(**{slip: at(slip, s), "Fz": Fz})[force]

    assert (F(e) - F(-e)) / (2 * e) == pytest.approx(given.slope[place], rel=1e-3)
    assert F(sM) == pytest.approx(given.peak[place], rel=1e-12)
    assert F(sS) == pytest.approx(given.slide[place], rel=1e-12)
    assert F(0.9) == pytest.approx(given.slide[place], rel=1e-12)
    for s in (sM, sS):
        assert abs(F(s + e) - F(s - e)) / (2 * e) < 1e-3 * given.slope[place]
    assert np.all(F(np.linspace(0, 0.9, 901)) <= given.peak[place] * (1 + 1e-12))


@every_axis
def test_the_two_parabolas_of_tmeasy_meet_with_a_common_tangent(axis, slip, force):
    s = np.linspace(0.1, 0.7, 60001)
    F = TMEASY(**{slip: at(slip, s), "Fz": 3000.0})[force]
    slope = np.diff(F) / np.diff(s)
    assert np.abs(np.diff(slope)).max() < 1e-3 * getattr(TMEASY.law, axis).slope[0]


@every_axis
def test_a_curve_of_tmeasy_bends_alike_on_both_sides_of_its_peak(axis, slip, force):
    sM, e = getattr(TMEASY.law, axis).peak_slip[0], 1e-4
    F = TMEASY(**{slip: at(slip, sM + e * np.array([-2, -1, 0, 1, 2])), "Fz": 3000.0})[force]
    before, after = F[0] - 2 * F[1] + F[2], F[2] - 2 * F[3] + F[4]
    assert after == pytest.approx(before, rel=0.02)


def changed(**values: tuple[float, float]) -> Evaluated:
    axis = TMEASY.law.longitudinal.model_copy(update=values)
    return Evaluated(TMEASY.law.model_copy(update={"longitudinal": axis}))


def test_a_curve_of_tmeasy_that_falls_steeply_does_not_overshoot():
    law = changed(slide=(1000.0, 2000.0), slide_slip=(0.15, 0.16))
    s = np.linspace(0.11, 0.16, 5001)
    F = law(kappa=s, Fz=3000.0)["Fx"]
    assert np.all(np.diff(F) <= 1e-9)
    assert np.abs(np.diff(F)).max() < 2.0
    assert F[-1] == pytest.approx(1000.0, rel=1e-12)


def test_a_slope_of_tmeasy_too_small_for_its_peak_moves_the_peak():
    law = changed(slope=(4e4, 8e4))
    s = np.linspace(0.0, 0.3, 3001)
    F = law(kappa=s, Fz=3000.0)["Fx"]
    assert F.max() == pytest.approx(3300.0, rel=1e-6)
    assert s[F.argmax()] == pytest.approx(2 * 3300.0 / 4e4, abs=1e-3)


def joined(sx: float, sy: float) -> tuple[float, float]:
    """(T1) to (T4) in plain numbers, at the load of the first values and before the peak."""
    x, y = (
        {key: getattr(a, key)[0] for key in type(a).model_fields} for a in (TMEASY.law.longitudinal, TMEASY.law.lateral)
    )
    reach = [a["peak"] / a["slope"] for a in (x, y)]
    n = [
        a["peak_slip"] / (x["peak_slip"] + y["peak_slip"]) + r / sum(reach) for a, r in zip((x, y), reach, strict=True)
    ]
    s = math.hypot(sx / n[0], sy / n[1])
    c, d = sx / n[0] / s, sy / n[1] / s
    dF0 = math.hypot(x["slope"] * n[0] * c, y["slope"] * n[1] * d)
    sM = math.hypot(x["peak_slip"] / n[0] * c, y["peak_slip"] / n[1] * d)
    FM = math.hypot(x["peak"] * c, y["peak"] * d)
    u = s / sM
    F = dF0 * s / (1 + u * (u + dF0 * sM / FM - 2))
    return F * c, F * d


@pytest.mark.parametrize(("sx", "sy"), [(0.004, 0.005), (0.05, -0.03), (0.02, 0.12), (1e-6, 2e-6)])
def test_combined_slip_of_tmeasy_is_that_of_its_equations(sx, sy):
    f = TMEASY(kappa=sx, alpha=math.atan(sy / (1.0 - sx)), Fz=3000.0)
    assert (f["Fx"], f["Fy"]) == pytest.approx(joined(sx, sy), rel=1e-10)


def test_a_force_of_tmeasy_is_at_most_the_peak_of_its_direction():
    rng = np.random.default_rng(3)
    f = TMEASY(kappa=rng.uniform(-1, 1, 2000), alpha=rng.uniform(-1.5, 1.5, 2000), Fz=3000.0)
    size = np.hypot(f["Fx"], f["Fy"])
    assert np.all(size <= np.hypot(3300.0 * f["Fx"], 3100.0 * f["Fy"]) / size * (1.0 + 1e-12))


def test_adherence_scales_tmeasy_in_force_and_slip():
    kappa = np.linspace(0.0, 0.2, 21)
    half = TMEASY(kappa=0.5 * kappa, Fz=3000.0, mu=0.5)["Fx"]
    np.testing.assert_allclose(half, 0.5 * TMEASY(kappa=kappa, Fz=3000.0)["Fx"], rtol=1e-12)


def test_the_trail_of_tmeasy_falls_to_zero_changes_its_sign_and_ends():
    def trail(s):
        f = TMEASY(alpha=np.arctan(s), Fz=3000.0)
        return -f["Mz"] / f["Fy"]

    assert trail(1e-6) == pytest.approx(0.03, rel=1e-4)
    assert trail(0.2) == pytest.approx(0.0, abs=1e-12)
    assert trail(0.3) < 0.0
    assert trail(0.5) == pytest.approx(0.0, abs=1e-12)
    assert trail(2.0) == 0.0
    e = 1e-6
    assert (trail(0.2 + e) - trail(0.2)) / e == pytest.approx((trail(0.2) - trail(0.2 - e)) / e, rel=1e-3)
