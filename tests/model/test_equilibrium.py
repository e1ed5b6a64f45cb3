"""Equilibria and steady motions: against closed forms, against least energy, and what is said when there is none."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import torseur as ts
from torseur.describe import Effort, Mechanism, SpringDamper
from torseur.model import Stability

EXAMPLES = Path(__file__).parents[2] / "examples"
GRAVITY = 9.81


@pytest.fixture(scope="module")
def four_bar() -> Any:
    return ts.build(ts.load(EXAMPLES / "four_bar" / "four_bar.yaml"))


def pendulum(**more: Any) -> Mechanism:
    """A point mass on a rod of 1 m, gravity along x: it hangs at 0 and stands at pi."""
    rod = {"joint": {"kind": "revolute", "coordinate": "q"}, "inertia": {"M": 2.0, "MX": 2.0, "YY": 2.0, "ZZ": 2.0}}
    return Mechanism(name="pendulum", gravity=(GRAVITY, 0, 0), bodies={"rod": rod}, **more)


@pytest.mark.parametrize(
    ("guess", "angle", "stability"),
    [(0.4, 0.0, Stability.NEUTRAL), (2.9, math.pi, Stability.UNSTABLE), (math.pi / 2, 0.0, Stability.NEUTRAL)],
)
def test_a_pendulum_hangs_or_stands_where_the_guess_is_nearer(guess: float, angle: float, stability: Stability) -> None:
    found = ts.equilibrium(pendulum(), {"q": guess})
    assert found.q[0] == pytest.approx(angle, abs=1e-9)
    assert found.stability is stability


def test_a_damped_pendulum_is_stable() -> None:
    damped = pendulum(loads={"oil": SpringDamper(coordinate="q", damping=0.3)})
    assert ts.equilibrium(damped, {"q": 0.4}).stability is Stability.STABLE


def test_the_four_bar_rests_where_its_energy_is_least(four_bar: Any) -> None:
    found = four_bar.equilibrium()
    q, energies = found.q, []
    for angle in found.q[0] + np.linspace(0.0, 2 * math.pi, 73):
        q = four_bar.assemble([angle, *q[1:]], hold=["q1"]).q
        energies.append(float(four_bar.potential_energy(q)))
    assert four_bar.potential_energy(found.q) <= min(energies) + 1e-9
    assert max(energies) - min(energies) > 5.0
    assert np.abs(four_bar.closure(found.q)).max() <= 1e-12
    forces = four_bar.bias(found.q, np.zeros(3)) - four_bar.constraint_jacobian(found.q).T @ found.multipliers
    assert np.abs(forces).max() < 1e-9
    lam, _ = four_bar.multipliers(found.q, np.zeros(3), np.zeros(3))
    assert found.multipliers == pytest.approx(lam, abs=1e-9)
    assert found.stability is Stability.NEUTRAL  # it swings about it


def test_an_input_is_trimmed_to_hold_a_position(four_bar: Any) -> None:
    """The torque that holds the crank is the slope of the potential energy."""
    h = 1e-5
    around = four_bar.assemble([[1.0 + h, -0.46, 1.44], [1.0 - h, -0.46, 1.44]], hold=["q1"])
    slope = np.diff(four_bar.potential_energy(around.q))[0] / (-2 * h)
    trimmed = four_bar.equilibrium({"q1": 1.0}, hold=["q1"], free_inputs=["drive_torque"])
    held = four_bar.equilibrium({"q1": 1.0}, hold=["q1"])
    assert trimmed.q[0] == 1.0
    assert trimmed.inputs["drive_torque"] == pytest.approx(slope, rel=1e-7)
    assert held.holding == pytest.approx([slope, 0.0, 0.0], rel=1e-7)
    assert held.stability is None
    assert np.abs(trimmed.holding).max() == 0.0


@pytest.mark.slow
def test_the_vehicle_stands_on_its_springs_and_wheels_carry_its_weight() -> None:
    vehicle = ts.build(ts.load(EXAMPLES / "vehicle_16dof" / "vehicle_16dof.yaml"))
    found = vehicle.equilibrium({"z": 0.7, "roll": 0.05, "q2": 0.2})
    weight = GRAVITY * (1508.0 + 4 * (20.0 + 1.32))
    assert found.multipliers.sum() == pytest.approx(weight, rel=1e-9)
    assert found.q[2] == pytest.approx(0.55, abs=1e-9)
    assert {"along_vx", "along_vy", "along_wz"} <= set(found.indifferent)


def test_a_body_in_the_air_falls_onto_its_spring() -> None:
    """One-sided: no force to first order where it starts."""
    ball = Mechanism(
        name="ball",
        bodies={"ball": {"joint": {"kind": "prismatic", "coordinate": "z", "start": 2.0}, "inertia": {"M": 3.0}}},
        loads={"ground": Effort(coordinate="z", value="if(z < 0, -1000*z, 0)")},
    )
    found = ts.equilibrium(ball)
    assert found.q[0] == pytest.approx(-3.0 * GRAVITY / 1000, rel=1e-9)


def test_a_conical_pendulum_turns_at_the_angle_of_huygens() -> None:
    omega, length = 5.0, 1.0
    arms = {
        "turn": {"joint": {"kind": "revolute", "coordinate": "spin"}},
        "rod": {
            "parent": "turn",
            "place": {"steps": [{"rx": math.pi / 2}, {"rz": -math.pi / 2}]},
            "joint": {"kind": "revolute", "coordinate": "tilt", "start": 0.5},
            "inertia": {"M": 1.0, "MX": length, "YY": length**2, "ZZ": length**2},
        },
    }
    found = ts.equilibrium(Mechanism(name="cone", bodies=arms), {"tilt": 1.0}, speeds={"dspin": omega, "dtilt": 0.0})
    assert math.cos(found.q[1]) == pytest.approx(GRAVITY / (omega**2 * length), rel=1e-9)
    assert found.indifferent == ("spin",)


def test_a_wheel_rolls_round_a_circle_at_the_lean_that_balances_it() -> None:
    """Steady turning: lean and spin are given, the rate of turn is sought."""
    r, m, lean, spin = 0.3, 2.0, 0.2, 8.0
    wheel = {
        "place": {"steps": [{"rx": -math.pi / 2}]},
        "joint": {"kind": "revolute", "coordinate": "spin"},
        "inertia": {"mass": m, "tensor": {"xx": m * r * r / 4, "yy": m * r * r / 4, "zz": m * r * r / 2}},
    }
    names = ("x", "y", "z", "roll", "pitch", "yaw")
    disc = Mechanism(
        name="disc",
        base={"kind": "floating", "orientation": "rpy", "coordinates": {n: {"start": r * (n == "z")} for n in names}},
        bodies={"disc": wheel},
        constraints={
            "ground": {"rolling": {"wheel": "disc", "radius": r}},
            "carried": {"coupling": {"coordinate": "pitch", "equals": 0.0}},
        },
    )
    model = ts.build(disc)
    found = model.equilibrium({"roll": lean}, hold=["roll"], speeds={"dspin": spin})
    assert found.q[3] == lean
    assert np.abs(model.forward_dynamics(found.q, found.v, np.zeros(7))).max() < 1e-8
    assert np.abs(model.function("constraint_rates")(found.q, found.v)).max() < 1e-9
    turn = found.v[5] / math.cos(lean)  # about the vertical
    assert turn < -0.1  # leaning to the right it turns to the right
    # Balance of moments about the contact, for a disc at a constant lean that turns at a constant rate.
    own = math.sin(lean) * turn + spin  # about the axle
    assert m * GRAVITY * r * math.sin(lean) == pytest.approx(
        -turn * math.cos(lean) * (m * r * r * 1.5 * own - m * r * r * 0.25 * turn * math.sin(lean)), rel=1e-8
    )


def test_what_nothing_holds_is_named() -> None:
    loose = Mechanism(
        name="loose", bodies={"box": {"joint": {"kind": "prismatic", "coordinate": "z"}, "inertia": {"M": 1.0}}}
    )
    with pytest.raises(ts.NumericalError, match="no equilibrium was found") as error:
        ts.equilibrium(loose)
    assert "forces are left along dz -9.81" in str(error.value)


def test_a_driven_mechanism_has_no_rest() -> None:
    driven = pendulum(constraints={"drive": {"prescribed": {"coordinate": "q", "equals": "sin(t)"}}})
    with pytest.raises(ts.NumericalError, match="constraints move"):
        ts.equilibrium(driven)


def test_a_contact_pushes_and_does_not_pull() -> None:
    """Gravity takes the pendulum to 0: a stop below 0.3 rad holds it there, one above is open."""
    below, above = ({"stop": {"contact": {"gap": gap}}} for gap in ("q - 0.3", "0.3 - q"))
    held = ts.equilibrium(pendulum(constraints=below))
    assert held.multipliers == pytest.approx([2.0 * GRAVITY * math.sin(0.3)])
    with pytest.raises(ts.NumericalError, match="one-sided pulls") as error:
        ts.equilibrium(pendulum(constraints=above))
    assert "constraints.stop -5.798 N" in str(error.value)
