"""What loops and constraints leave free: counts, redundancy, contradiction, singular positions, missing mass."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import torseur as ts
from support.example_files import FILES
from torseur.describe import Mechanism

EXAMPLES = Path(__file__).parents[2] / "examples"


def four_bar(**lengths: float) -> Any:
    return ts.build(ts.load(EXAMPLES / "four_bar" / "four_bar.yaml"), parameters=lengths)


@pytest.mark.parametrize(
    ("name", "freedoms", "coordinates"),
    [("four_bar", 1, 1), ("rolling_disc", 3, 5), ("sr400", 6, 6), ("tractor_trailer", 1, 4), ("planar_2r", 2, 2)],
)
def test_degrees_of_freedom_of_known_mechanisms(name: str, freedoms: int, coordinates: int) -> None:
    found = ts.build(ts.load(EXAMPLES / name / f"{name}.yaml")).mobility()
    assert (found.freedoms, found.free_coordinates) == (freedoms, coordinates)
    assert not found.is_singular


def test_motions_are_allowed_and_independent() -> None:
    model = ts.build(ts.load(EXAMPLES / "sr400" / "sr400.yaml"))
    found = model.mobility()
    names = [x.name for x in model.speeds]
    vectors = np.array([[motion.get(n, 0.0) for n in names] for motion in found.motions.values()])
    assert np.abs(model.constraint_jacobian(found.q) @ vectors.T).max() < 1e-12
    assert np.linalg.matrix_rank(vectors) == 6


def test_a_flat_parallelogram_may_go_on_in_two_ways() -> None:
    found = four_bar(crank=1.0, coupler=1.4, rocker=1.0).mobility([0.0, 0.0, 0.0])
    assert found.is_singular
    assert (found.freedoms, found.nv - found.rank) == (1, 2)
    assert "2 motions are possible at this instant, 1 more than beside it" in "\n".join(found.lines())
    assert not four_bar(crank=1.0, coupler=1.4, rocker=1.0).mobility([1.0, -1.0, 1.0]).is_singular


def test_a_stretched_chain_gives_way_for_an_instant_only() -> None:
    found = four_bar(crank=0.5, coupler=0.5, rocker=0.5, ground=1.5).mobility([0.0, 0.0, np.pi])
    assert found.stuck
    assert found.freedoms == 0
    assert "no finite motion" in "\n".join(found.lines())


def test_a_stretched_chain_is_found_where_newton_s_method_leaves_it() -> None:
    """A singular position is met to the square root of rounding only."""
    model = four_bar(crank=0.5, coupler=0.5, rocker=0.5, ground=1.5)
    q = model.assemble([0.2, -0.3, 2.9]).q
    assert np.abs(q - [0.0, 0.0, np.pi]).max() > 1e-9
    assert model.mobility(q).is_singular
    with pytest.raises(ts.NumericalError, match="singular position"):
        model.linearise((q, np.zeros(3)))


def two(**constraints: Any) -> Mechanism:
    one = {"joint": {"kind": "revolute", "coordinate": "a"}, "inertia": {"M": 1.0, "ZZ": 1.0}}
    other = {"joint": {"kind": "revolute", "coordinate": "b"}}
    return Mechanism(name="two", bodies={"one": one, "other": other}, constraints=constraints)


def row(value: float, **coefficients: float) -> dict[str, Any]:
    return {"speeds": {"coefficients": coefficients, "equals": value}}


def test_rows_that_say_again_what_others_say_are_named() -> None:
    found = ts.build(two(first=row(0, da=1, db=-1), again=row(0, da=-2, db=2))).mobility()
    assert [r.name for r in found.redundant] == ["again"]
    assert not found.contradictory
    assert not found.is_singular


def test_rows_that_contradict_each_other_are_named() -> None:
    found = ts.build(two(first=row(0, da=1, db=-1), other=row(1, da=-2, db=2))).mobility()
    assert {r.name for r in found.contradictory} == {"first", "other"}


def test_a_motion_without_mass_is_found_only_where_it_is_allowed() -> None:
    assert ts.build(two(loose=row(0, da=1))).mobility().massless == ("db",)
    assert ts.build(two(tied=row(0, da=1, db=-1))).mobility().massless == ()


def test_a_dead_point_of_the_chosen_speeds_is_an_error_that_names_better_ones():
    """Crank and coupler of the four-bar in one line: the rocker stands still while they move."""
    model = ts.build(ts.load(FILES["four_bar"]))
    crank, coupler, rocker, ground = 0.5, 1.5, 1.2, 1.4
    reach = crank + coupler
    at = math.acos((reach**2 + ground**2 - rocker**2) / (2 * reach * ground))
    swing = math.pi - math.acos((ground**2 + rocker**2 - reach**2) / (2 * ground * rocker))
    q = model.assemble({"q1": at, "q2": 0.0, "q3": swing}).q
    assert np.isfinite(model.function("reduction", independent=("dq1",))(q)[0]).all()
    with pytest.raises(ts.NumericalError, match="singular position for this choice") as caught:
        model.function("reduced_mass_matrix", independent=("dq3",))(q)
    assert "dq1" in str(caught.value)
