"""Burckhardt's law: its table, its peaks, its direction."""

import json
import math

import numpy as np
import pytest
from pydantic import ValidationError

from support.tyre_laws import DATA, Evaluated
from torseur.packs.tyres import ROADS, BurckhardtTyre

GIVEN = json.loads((DATA / "burckhardt.json").read_text())
every_road = pytest.mark.parametrize("road", ROADS)


def test_the_roads_are_those_of_the_table():
    assert {road: list(c) for road, c in ROADS.items()} == GIVEN["table"]


@every_road
def test_friction_has_the_peak_and_the_level_of_a_locked_wheel_of_the_table(road):
    law, peak = Evaluated(BurckhardtTyre(road=road)), GIVEN["peak"][road]
    for slip, mu in ((peak["s_opt"], peak["mu_max"]), (1.0, peak["mu_lock"])):
        assert law(kappa=-slip, Fz=1.0)["Fx"] == pytest.approx(-mu, rel=1e-12)
    assert np.all(np.abs(law(kappa=np.linspace(-1, 1, 2001), Fz=1.0)["Fx"]) <= peak["mu_max"] * (1 + 1e-12))


@every_road
def test_the_force_is_along_the_slip_and_its_size_follows_the_resulting_slip(road):
    law, (c1, c2, c3) = Evaluated(BurckhardtTyre(road=road, c4=0.03, c5=1e-9)), ROADS[road]
    kappa, alpha, V, Fz = -0.12, 0.2, 25.0, 4000.0
    s = math.hypot(kappa, math.tan(alpha))
    mu = (c1 * (1 - math.exp(-c2 * s)) - c3 * s) * math.exp(-0.03 * s * V) * (1 - 1e-9 * Fz**2)
    f = law(kappa=kappa, alpha=alpha, Vx=V, Fz=Fz)
    assert f["Fx"] == pytest.approx(mu * Fz * kappa / s, rel=1e-12)
    assert f["Fy"] == pytest.approx(mu * Fz * math.tan(alpha) / s, rel=1e-12)


@every_road
def test_the_slope_at_rest_is_c1_c2_minus_c3(road):
    c1, c2, c3 = ROADS[road]
    slopes = Evaluated(BurckhardtTyre(road=road)).slopes(Fz=1.0)
    assert slopes[0, 0] == pytest.approx(c1 * c2 - c3, rel=1e-9)
    assert slopes[1, 1] == pytest.approx(c1 * c2 - c3, rel=1e-9)


@every_road
def test_a_tyre_that_slides_sideways_has_the_friction_of_a_locked_wheel(road):
    f = Evaluated(BurckhardtTyre(road=road))(alpha=math.pi / 2, Fz=1.0)
    assert f["Fy"] == pytest.approx(GIVEN["peak"][road]["mu_lock"], rel=1e-12)


def test_own_coefficients_are_those_of_a_road():
    c1, c2, c3 = ROADS["snow"]
    f = Evaluated(BurckhardtTyre(c1=c1, c2=c2, c3=c3))(kappa=0.05, Fz=1000.0)
    assert f["Fx"] == Evaluated(BurckhardtTyre(road="snow"))(kappa=0.05, Fz=1000.0)["Fx"]


@pytest.mark.parametrize("given", [{}, {"c1": 1.0}, {"road": "ice", "c1": 1.0}, {"road": "mud"}])
def test_a_road_or_three_coefficients_are_asked_for(given):
    with pytest.raises(ValidationError, match=r"give either road|asphalt_dry"):
        BurckhardtTyre(**given)
