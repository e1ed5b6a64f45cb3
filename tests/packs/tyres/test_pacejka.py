"""The Magic Formulas of 1987 and 1989 against tabulated values, and their combined slip."""

import math

import numpy as np
import pytest

from support.tyre_laws import LAWS, Evaluated, rows_of

SETS = ("adams_pac89", "chrono_hmmwv_pac89", "genta_p510", "sae870421_1987")
ROWS = rows_of("pacejka89_expected.csv")
EVALUATED = {name: Evaluated(LAWS[name]) for name in SETS}
every_set = pytest.mark.parametrize("name", SETS)


def of_larger_speed(kappa: float) -> float:
    """Slip over the ground speed -> slip over the larger of both speeds."""
    return kappa / (1.0 + max(kappa, 0.0))


@pytest.mark.parametrize("quantity", ["Fx", "Fy", "Mz"])
@every_set
def test_forces_are_those_of_the_table(name, quantity):
    rows = [row for row in ROWS if (row["set"], row["quantity"]) == (name, quantity)]
    assert rows or (name, quantity) == ("genta_p510", "Mz")
    for row in rows:
        slip = row["slip_pct_or_alpha_deg"]
        given = {"Fz": 1000.0 * row["Fz_kN"], "gamma": -math.radians(row["gamma_deg"])}
        given |= {"kappa": of_larger_speed(slip / 100.0)} if quantity == "Fx" else {"alpha": math.radians(slip)}
        assert EVALUATED[name](**given)[quantity] == pytest.approx(row["value"], rel=1e-9, abs=1e-9)


@every_set
def test_slip_along_one_axis_leaves_the_pure_curve_of_it(name):
    """Neither a tiny slip along the other axis nor its absence jumps."""
    law = EVALUATED[name]
    x = np.linspace(-0.5, 0.5, 41)
    for slip, other, force in (("kappa", "alpha", "Fx"), ("alpha", "kappa", "Fy"), ("alpha", "kappa", "Mz")):
        pure = law(**{slip: x, "Fz": 4000.0})[force]
        near = law(**{slip: x, other: 1e-9, "Fz": 4000.0})[force]
        np.testing.assert_allclose(near, pure, rtol=1e-6, atol=1e-3)


def without_shifts(name: str) -> Evaluated:
    law = LAWS[name]
    shifts = ("a8", "a9", "a10", "a11", "a111", "a112", "a12", "a13", "b9", "b10", "c11", "c12", "c13", "c14", "c15")
    known = [key for key in (*shifts, "c16", "c17") if key in type(law).model_fields]
    return Evaluated(law.model_copy(update=dict.fromkeys(known, 0.0)))


@every_set
def test_combined_forces_stay_within_the_ellipse_of_the_peaks(name):
    law = without_shifts(name)
    rng = np.random.default_rng(4)
    Fz = rng.uniform(500.0, 9000.0, (400, 1))
    sweep = np.linspace(0.0, 1.0, 4001)
    Dx = np.abs(law(kappa=-sweep, Fz=Fz)["Fx"]).max(axis=1)
    Dy = np.abs(law(alpha=math.pi / 2 * sweep, Fz=Fz)["Fy"]).max(axis=1)
    kappa, alpha = rng.uniform(-1.0, 0.9, 400), rng.uniform(-1.0, 1.0, 400)
    f = law(kappa=kappa, alpha=alpha, Fz=Fz[:, 0])
    assert np.all((f["Fx"] / Dx) ** 2 + (f["Fy"] / Dy) ** 2 <= 1.0 + 1e-6)


@every_set
def test_the_force_keeps_the_slope_of_the_pure_curves_at_small_slips(name):
    law = without_shifts(name)
    f = law(kappa=1e-7, alpha=2e-7, Fz=4000.0)
    assert f["Fx"] == pytest.approx(law(kappa=1e-7, Fz=4000.0)["Fx"], rel=1e-4)
    assert f["Fy"] == pytest.approx(law(alpha=2e-7, Fz=4000.0)["Fy"], rel=1e-4)


@every_set
def test_no_slip_however_large_is_helped_by_friction(name):
    """E above 1 and C above 2 turn the printed curve round at large slips."""
    law = without_shifts(name)
    rng = np.random.default_rng(5)
    kappa, alpha = rng.uniform(-1.0, 1.0, 3000), rng.uniform(-math.pi / 2, math.pi / 2, 3000)
    f = law(kappa=kappa, alpha=alpha, Fz=rng.uniform(0.0, 6e4, 3000))
    assert np.all(f["Fx"] * kappa >= 0.0)
    assert np.all(f["Fy"] * alpha >= 0.0)


@every_set
def test_adherence_scales_force_and_slip_alike(name):
    """mu F(x / mu), of curves without horizontal shift."""
    law = without_shifts(name)
    alpha = np.linspace(-0.1, 0.1, 21)
    half = law(alpha=alpha, Fz=4000.0, mu=0.5)
    np.testing.assert_allclose(half["Fy"], 0.5 * law(alpha=2.0 * alpha, Fz=4000.0)["Fy"], rtol=1e-12)


def test_camber_to_the_right_pulls_to_the_right():
    f = EVALUATED["adams_pac89"](gamma=np.radians([-3.0, 3.0]), Fz=4000.0)
    assert f["Fy"][0] > 0.0 > f["Fy"][1]


@every_set
def test_the_aligning_moment_turns_the_wheel_into_its_path(name):
    if name != "genta_p510":
        f = without_shifts(name)(alpha=np.array([-0.02, 0.02]), Fz=4000.0)
        assert f["Mz"][0] > 0.0 > f["Mz"][1]


def test_constant_shifts_fade_with_the_load():
    law = EVALUATED["adams_pac89"]
    loads = np.array([0.0, 1.0, 10.0, 50.0])
    assert np.all(np.diff(law(Fz=loads)["Fy"]) > 0.0)
    assert law(Fz=1.0)["Fy"] == pytest.approx(0.01 * 6.26206 + 1.21356e-3, abs=0.05)
