"""The linear law, and the overturning and rolling moments of every law without its own."""

import math

import numpy as np
import pytest

from support.tyre_laws import Evaluated
from torseur.errors import ArgumentError, ModelError
from torseur.graph import Graph
from torseur.packs.tyres import LinearTyre, Slip, steady_forces

TYRE = LinearTyre(
    longitudinal_stiffness=8e4,
    cornering_stiffness=5e4,
    camber_stiffness=3e3,
    trail=0.04,
    crown_radius=0.06,
    rolling_resistance=0.015,
    radius=0.31,
    stiffness=2e5,
    relaxation_x=0.2,
    relaxation_y=0.5,
)


def test_linear_forces_are_stiffness_times_slip():
    f = Evaluated(TYRE)(kappa=0.01, alpha=0.02, gamma=0.1, Fz=3000.0)
    assert f["Fx"] == pytest.approx(800.0)
    assert f["Fy"] == pytest.approx(1000.0 - 300.0)
    assert f["Mz"] == pytest.approx(-0.04 * 700.0)


def test_linear_forces_follow_the_load_where_it_is_given():
    tyre = Evaluated(TYRE.model_copy(update={"load": 3000.0}))
    assert tyre(alpha=0.02, Fz=1500.0)["Fy"] == pytest.approx(500.0)


def test_overturning_is_load_times_the_way_of_the_contact_towards_the_lean():
    assert Evaluated(TYRE)(gamma=0.2, Fz=3000.0)["Mx"] == pytest.approx(-3000.0 * 0.06 * math.tan(0.2))


def test_rolling_resistance_turns_against_the_wheel_and_fades_through_standstill():
    tyre, full = Evaluated(TYRE), 0.31 * 0.015 * 3000.0
    np.testing.assert_allclose(tyre(Vx=[-9.0, 9.0, 0.0], Fz=3000.0)["My"], [full, -full, 0.0])
    assert tyre(Vx=0.05, Fz=3000.0)["My"] == pytest.approx(-full * math.sin(math.pi / 4))
    assert tyre(Vx=9.0, kappa=-1.0, Fz=3000.0)["My"] == pytest.approx(0.0)


def test_a_given_rolling_speed_counts_before_that_of_kappa():
    g = Graph()
    zero = g.zero
    slip = Slip(zero, zero, zero, g.number(3000.0), g.number(9.0), Vr=g.number(-2.0))
    assert float(TYRE.forces(slip, lambda x: g.number(x)).My) == pytest.approx(0.31 * 0.015 * 3000.0)


@pytest.mark.parametrize(
    ("kappa", "Vx", "Vr"), [(0.5, 4.0, 8.0), (-0.5, 4.0, 2.0), (1.0, 4.0, 44.0), (-0.5, -4.0, -8.0)]
)
def test_kappa_says_how_fast_a_wheel_rolls_up_to_eleven_times_its_way(kappa, Vx, Vr):
    g = Graph()
    slip = Slip(g.number(kappa), g.zero, g.zero, g.one, g.number(Vx))
    assert float(slip.rolling_speed) == pytest.approx(Vr)


def test_radius_stiffness_and_relaxation_are_handed_on():
    g = Graph()
    scalar = lambda x: g.number(x)  # noqa: E731
    slip = Slip(g.zero, g.zero, g.zero, g.one, g.one)
    assert float(TYRE.unloaded_radius(scalar)) == 0.31
    assert float(TYRE.vertical_stiffness(scalar)) == 2e5
    assert TYRE.vertical_damping(scalar) is None
    lengths = TYRE.relaxation(slip, scalar)
    assert (float(lengths.x), float(lengths.y)) == (0.2, 0.5)


def test_a_missing_radius_is_named_where_it_is_needed():
    with pytest.raises(ModelError, match="radius"):
        steady_forces(LinearTyre(cornering_stiffness=1.0, rolling_resistance=0.01), Fz=1.0)


def test_slips_that_do_not_broadcast_are_refused():
    with pytest.raises(ArgumentError, match="broadcast"):
        steady_forces(TYRE, Fz=[1.0, 2.0], alpha=[0.1, 0.2, 0.3])


def test_a_missing_parameter_is_named():
    with pytest.raises(ModelError, match="no value"):
        steady_forces(LinearTyre(cornering_stiffness="C"), Fz=1.0)
