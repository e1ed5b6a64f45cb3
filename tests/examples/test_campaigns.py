"""Campaigns of the examples: each is read, and some of its runs say what its page says."""

import numpy as np
import pytest

import torseur as ts
from support.example_files import EXAMPLES
from torseur.campaign.work import Work

CAMPAIGNS = {
    f"{path.parent.name}/{path.stem}": path
    for path in sorted(EXAMPLES.glob("*/*.yaml"))
    if "\ntorseur_campaign:" in path.read_text(encoding="utf-8")
}


def test_there_are_those_that_the_documentation_names():
    assert {"planar_2r/pd_gains", "four_bar/tolerances", "peugeot_406/understeer", "smera/lift_off"} <= set(CAMPAIGNS)


@pytest.mark.parametrize("name", ["planar_2r/pd_gains", "four_bar/tolerances"])
def test_a_campaign_is_read_without_faults(name):
    assert ts.load_campaign(CAMPAIGNS[name]).factors


@pytest.mark.examples
def test_a_load_behind_and_stiff_tyres_take_understeer_away():
    work = Work(ts.load_campaign(CAMPAIGNS["peugeot_406/understeer"]))
    runs = [0, 6, 56, 62]  # light and heavy, on soft and stiff tyres
    light_soft, light_stiff, heavy_soft, heavy_stiff = (work.results_between(k, k + 1) for k in runs)
    assert [float(x.factors["payload"][0]) for x in (light_soft, heavy_soft)] == [0.0, 400.0]
    K = [float(x.indicators["understeer"][0]) for x in (light_soft, light_stiff, heavy_soft, heavy_stiff)]
    assert K[0] > K[1] > K[3] > 0.0
    assert K[0] > K[2] > K[3]
    assert work.units["understeer"] == "rad/(m/s2)"


@pytest.mark.examples
def test_a_weak_tilting_motor_leaves_lift_off_to_track_and_height():
    campaign = ts.load_campaign(CAMPAIGNS["smera/lift_off"])
    work = Work(campaign)
    values = work.values(0, work.runs)
    ends = {"half_track": (0.29, 0.44), "raised": (0.0, 0.2), "lean.kp": (2000.0, 12000.0)}
    found = {}
    for k in range(work.runs):
        place = tuple(int(np.argmin(np.abs(np.array(ends[n]) - values[n][k]))) for n in ends)
        if all(abs(ends[n][i] - values[n][k]) < 1e-9 for n, i in zip(ends, place, strict=True)):
            found[place] = float(work.results_between(k, k + 1).indicators["limit"][0])
    assert len(found) == 8
    weak = [found[t, h, 0] for t in (0, 1) for h in (0, 1)]
    stiff = [found[t, h, 1] for t in (0, 1) for h in (0, 1)]
    assert found[1, 0, 0] > found[0, 0, 0] > found[0, 1, 0]  # wider more, higher less
    assert found[1, 0, 0] > found[1, 1, 0] > found[0, 1, 0]
    assert np.ptp(stiff) < 0.4 * np.ptp(weak)
