"""Linear models: against closed forms, against differences of the motion, and what is said when there is none."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import torseur as ts
from torseur.describe import Effort, Mechanism, SpringDamper
from torseur.model import Model, Stability
from torseur.model.rows import moved

EXAMPLES = Path(__file__).parents[2] / "examples"


def example(name: str) -> Any:
    return ts.build(ts.load(EXAMPLES / name / f"{name}.yaml"))


@pytest.fixture(scope="module")
def four_bar() -> Any:
    return example("four_bar")


def oscillator() -> Mechanism:
    """A mass on a spring and a damper, pushed by an input, seen by outputs."""
    return Mechanism(
        name="oscillator",
        gravity=(0, 0, 0),
        bodies={"body": {"joint": {"kind": "prismatic", "coordinate": "z"}, "inertia": {"M": 2.0}}},
        loads={
            "spring": SpringDamper(coordinate="z", stiffness=50.0, damping=4.0),
            "push": Effort(coordinate="z", value="3*f"),
        },
        inputs={"f": {}},
        outputs={"force": {"value": "50*z^2 + 4*dz + 7*f"}},
    )


def test_a_damped_oscillator_has_its_textbook_matrices_and_mode() -> None:
    lin = ts.linearise(oscillator(), {"z": 0.1})
    assert (lin.states, lin.inputs, lin.outputs) == (("z", "dz"), ("f",), ("force",))
    np.testing.assert_allclose(lin.A, np.array([[0, 1], [-25, -2]]), atol=1e-12)
    np.testing.assert_allclose(lin.B, np.array([[0], [1.5]]), atol=1e-12)
    np.testing.assert_allclose(lin.C, np.array([[10, 4]]), atol=1e-12)
    np.testing.assert_allclose(lin.D, np.array([[7]]), atol=1e-12)
    (mode,) = lin.modes
    assert mode.frequency == pytest.approx(5 / (2 * math.pi))
    assert mode.damped_frequency == pytest.approx(math.sqrt(24) / (2 * math.pi))
    assert mode.damping == pytest.approx(0.2)
    assert lin.stability is Stability.STABLE
    assert not lin.is_steady
    assert "not steady" in lin.text()


def test_changed_outputs_are_not_taken_from_the_cache_of_others() -> None:
    plain = oscillator()
    other = plain.model_copy(update={"outputs": {"force": plain.outputs["force"].model_copy(update={"value": 2.0})}})
    np.testing.assert_allclose(ts.linearise(plain, {"z": 0.1}).C, np.array([[10, 4]]), atol=1e-12)
    np.testing.assert_allclose(ts.linearise(other, {"z": 0.1}).C, np.zeros((1, 2)), atol=1e-12)


def test_coupled_oscillators_have_their_modes_and_shapes() -> None:
    """Equal masses and springs in a row between walls: k and 3k over m, moving together and against each other."""
    mass = {"joint": {"kind": "prismatic", "coordinate": "a"}, "inertia": {"M": 1.0}}
    other = {"joint": {"kind": "prismatic", "coordinate": "b"}, "inertia": {"M": 1.0}}
    loads = {
        "left": SpringDamper(coordinate="a", stiffness=4.0),
        "right": SpringDamper(coordinate="b", stiffness=4.0),
        "middle": SpringDamper(combination={"a": 1, "b": -1}, stiffness=4.0),
    }
    row = Mechanism(name="row", gravity=(0, 0, 0), bodies={"one": mass, "two": other}, loads=loads)
    slow, fast = ts.linearise(row).modes
    assert [2 * math.pi * m.frequency for m in (slow, fast)] == pytest.approx([2.0, math.sqrt(12)])
    assert slow.shape["b"] / slow.shape["a"] == pytest.approx(1.0)
    assert fast.shape["b"] / fast.shape["a"] == pytest.approx(-1.0)
    assert slow.damping == pytest.approx(0.0, abs=1e-12)


def differences(model: Model, lin: Any, x: np.ndarray, step: float) -> tuple[np.ndarray, np.ndarray]:
    """Accelerations of the independent speeds by A, and by central differences of the motion on the constraints.

    The disturbed states are closed again with the independent coordinates and speeds held.
    """
    n = model.nv
    names = [*lin.displacements, *(s.name for s in model.speeds)]
    held = [s for s in lin.states if s in {c.name for c in model.coordinates} | {s.name for s in model.speeds}]

    def rate(sign: float) -> np.ndarray:
        d = sign * step * (lin.T @ x)
        q, v = moved(model, lin.q, d[:n]), lin.v + d[n:]
        found = model.assemble(q, speeds=v, hold=held)
        return np.asarray(model.forward_dynamics(found.q, found.v, np.zeros(n)))

    change = (rate(1.0) - rate(-1.0)) / (2 * step)
    states = [names.index(s) for s in lin.states]
    return lin.A @ x, np.array([change[k - n] if k >= n else (lin.T @ x)[n + k] for k in states])


@pytest.mark.parametrize("speeds", [0.0, 1.5])
def test_a_loop_is_linearised_exactly(four_bar: Any, speeds: float) -> None:
    at = four_bar.assemble({"q1": 0.7}, speeds={"dq1": speeds}, hold=["q1", "dq1"])
    lin = four_bar.linearise(at, independent=("q1",))
    assert lin.states == ("q1", "dq1")
    for x in np.eye(2):
        ours, theirs = differences(four_bar, lin, x, 1e-5)
        assert ours == pytest.approx(theirs, rel=1e-6, abs=1e-6)


def test_a_small_disturbance_of_a_rolling_disc_follows_the_linear_model() -> None:
    """Floating base, quaternions, rows that are not integrable: e^(A t) against the difference of two motions."""
    from scipy.integrate import solve_ivp
    from scipy.linalg import expm

    disc = example("rolling_disc")
    at = disc.assemble(speeds={"wz": 1.2}, hold=["wx", "wy", "wz"])  # spinning on the spot about its vertical diameter
    lin = disc.linearise(at)
    rates = disc.function("rates")

    def rate(t: float, y: np.ndarray) -> np.ndarray:
        return np.concatenate([rates(y[:7], y[7:]), disc.forward_dynamics(y[:7], y[7:], np.zeros(6))])

    size, end = 1e-6, 0.3
    x = size * np.arange(1.0, len(lin.states) + 1) / len(lin.states)
    starts = []
    for sign in (1.0, -1.0):
        d = sign * lin.T @ x
        there = disc.assemble(moved(disc, at.q, d[:6]), speeds=at.v + d[6:])
        starts.append(np.concatenate([there.q, there.v]))
    ends = [solve_ivp(rate, (0, end), y, "DOP853", rtol=1e-12, atol=1e-14).y[:, -1] for y in starts]
    middle = solve_ivp(rate, (0, end), np.concatenate([at.q, at.v]), "DOP853", rtol=1e-12, atol=1e-14).y[:7, -1]
    G = np.asarray(disc.function("rate_derivatives")(middle, at.v)[0])
    d = np.linalg.pinv(G) @ (ends[0][:7] - ends[1][:7]) / 2
    full = np.concatenate([d, (ends[0][7:] - ends[1][7:]) / 2])
    names = [*lin.displacements, *(s.name for s in disc.speeds)]
    found = full[[names.index(s) for s in lin.states]]
    assert lin.is_steady
    assert found == pytest.approx(expm(lin.A * end) @ x, abs=1e-4 * size)


def test_generalised_forces_are_inputs_and_constraint_forces_take_their_part(four_bar: Any) -> None:
    at = four_bar.assemble({"q1": 0.7}, hold=["q1"])
    lin = four_bar.linearise(at, inputs=("drive_torque", "tau_dq3"), outputs=("q3", "dq2"), independent=("q1",))
    zero = np.zeros(3)
    base = four_bar.forward_dynamics(at.q, at.v, zero)
    by_input = four_bar.forward_dynamics(at.q, at.v, zero, inputs={"drive_torque": 1.0}) - base
    by_force = four_bar.forward_dynamics(at.q, at.v, np.array([0, 0, 1.0])) - base
    assert lin.B[1] == pytest.approx([by_input[0], by_force[0]])
    assert lin.C[0] == pytest.approx(lin.T[2])
    assert lin.C[1] == pytest.approx(lin.T[4])
    assert not lin.D.any()


def test_the_vehicle_keeps_its_modes_when_other_coordinates_are_independent() -> None:
    vehicle = example("vehicle_16dof")
    one, other = vehicle.linearise(), vehicle.linearise(independent=("along_vz", "along_wx", "along_wy"))
    assert one.states != other.states
    assert len(one.states) == 24
    mine, theirs = ([m for m in lin.modes if m.frequency] for lin in (one, other))
    assert [m.eigenvalue for m in mine] == pytest.approx([m.eigenvalue for m in theirs], abs=1e-9)
    heave = 2 * (30000 + 21012) / 1508  # suspension over chassis
    assert any(abs(abs(m.eigenvalue) ** 2 - heave) < 0.25 * heave for m in mine)


@pytest.mark.parametrize("at", [[0.3, 0.4, 0.5], np.zeros(3), 0.3, "start"], ids=["list", "array", "number", "word"])
def test_what_is_no_state_is_refused_in_words(four_bar: Any, at: Any) -> None:
    with pytest.raises(ts.ArgumentError, match="about a state"):
        four_bar.linearise(at)


def test_a_state_that_is_not_allowed_is_refused(four_bar: Any) -> None:
    with pytest.raises(ts.ArgumentError, match="do not allow this state"):
        four_bar.linearise((np.array([0.0, 1.0, 2.0]), np.zeros(3)))


def test_a_singular_position_is_refused_and_explained() -> None:
    flat = ts.build(ts.load(EXAMPLES / "four_bar" / "four_bar.yaml"), parameters={"crank": 1.2, "coupler": 1.4})
    with pytest.raises(ts.NumericalError, match="singular position") as error:
        flat.linearise((np.zeros(3), np.zeros(3)))
    assert "2 motions are possible" in str(error.value)


def gears(**constraints: Any) -> Mechanism:
    arm = {"joint": {"kind": "revolute", "coordinate": "a"}, "inertia": {"M": 1.0, "ZZ": 1.0}}
    led = {"joint": {"kind": "revolute", "coordinate": "b"}, "inertia": {"M": 1.0, "ZZ": 1.0}}
    return Mechanism(name="gears", bodies={"arm": arm, "led": led}, inputs={"u": {}}, constraints=constraints)


def test_coordinates_that_follow_cannot_be_independent() -> None:
    with pytest.raises(ts.ArgumentError, match="depend on the others"):
        ts.linearise(gears(teeth={"coupling": {"coordinate": "b", "equals": "2*a"}}), independent=("a", "b"))


def test_an_input_that_moves_a_constraint_is_no_input_of_a_linear_model() -> None:
    driven = gears(drive={"prescribed": {"coordinate": "b", "equals": "u"}})
    assert ts.linearise(driven).inputs == ()
    with pytest.raises(ts.ArgumentError, match="inputs that move a constraint"):
        ts.linearise(driven, inputs=("u",))
