"""The Magic Formulas of 1987 and 1989 against tabulated values, and their combined slip."""

import math

import numpy as np
import pytest

from support.tyre_laws import LAWS, Evaluated, rows_of
from torseur.packs.tyres import Pacejka1989

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
    Fz = rng.uniform(500.0, 9000.0, (100, 1))
    sweep = np.linspace(0.0, 1.0, 4001)
    Dx = np.abs(law(kappa=-sweep, Fz=Fz)["Fx"]).max(axis=1)
    Dy = np.abs(law(alpha=math.pi / 2 * sweep, Fz=Fz)["Fy"]).max(axis=1)
    kappa, alpha = rng.uniform(-1.0, 0.9, 100), rng.uniform(-1.0, 1.0, 100)
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


PLAIN = {"a0": 1.5, "a1": -30, "a2": 1200, "a3": 2000, "a4": 8, "b0": 1.6, "b1": -30, "b2": 1200, "b3": 0, "b4": 200}


def test_constant_shifts_fade_below_a_tenth_of_a_kilonewton():
    law = Evaluated(Pacejka1989(**PLAIN, a13=20.0, c17=3.0))
    f = law(Fz=[0.0, 25.0, 50.0, 100.0, 4000.0])
    np.testing.assert_allclose(f["Fy"], [0.0, 5.0, 10.0, 20.0, 20.0], rtol=1e-12)
    np.testing.assert_allclose(f["Mz"], [0.0, 0.75, 1.5, 3.0, 3.0], rtol=1e-12)


def test_a_vertical_shift_fades_with_slip_along_the_other_axis():
    law = Evaluated(Pacejka1989(**PLAIN, a13=20.0))
    n = 200.0 / 1200.0 / (1.0 - 0.1) * 30.0  # B C x of Fx at 30 percent and 4 kN
    assert law(kappa=-0.3, Fz=4000.0)["Fy"] == pytest.approx(20.0 / math.sqrt(1.0 + n * n), rel=1e-12)


def test_friction_falls_with_load_to_a_hundredth_and_no_further():
    law = Evaluated(Pacejka1989(**PLAIN))
    peak = [np.abs(law(kappa=-np.geomspace(1e-6, 1, 20001), Fz=Fz)["Fx"]).max() / Fz for Fz in (38.4e3, 39.9e3, 60e3)]
    np.testing.assert_allclose(peak, [1.2 * 0.04, 1.2 * 0.01, 1.2 * 0.01], rtol=1e-4)


def test_a_curve_with_a_large_shape_factor_ends_at_zero():
    """C = 2.6 takes sin(C atan(B x)) below zero at large slips."""
    law = Evaluated(Pacejka1989(**(PLAIN | {"b0": 2.6, "b4": 2000})))
    Fx = law(kappa=-np.linspace(0, 1, 101), Fz=4000.0)["Fx"]
    assert np.all(Fx <= 1e-9)
    assert Fx[-1] == pytest.approx(0.0, abs=1e-9)
