"""CommonRoad's vehicle models beside ours: the single track to rounding, the simplified multibody model to 5 %."""

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


@pytest.mark.parametrize("lateral", [1.0, 4.0])
def test_the_multibody_model_turns_as_ours_up_to_4_metres_per_second_squared(lateral):
    compared = vehicles.multibody(lateral)
    run, theirs = compared.ours(), compared.theirs()
    yaw, _, settled = compared.differences(run, theirs).values()
    assert yaw < 0.05
    assert settled < 0.05
    reached = np.abs(theirs[-1, 5] * theirs[-1, 3])
    assert reached == pytest.approx(lateral, rel=0.1)
