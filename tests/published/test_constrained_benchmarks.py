"""Published problems with loops and rolling: reference values, closed forms and conserved quantities."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import torseur as ts
from torseur.describe import Mechanism
from torseur.model import Stability

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data" / "benchmarks"


def problem(name: str) -> Any:
    found = json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))
    assert found["source"]
    return found


# -- rolling disc ------------------------------------------------------------------------------------------------------
DISC = problem("rolling_disc_stability")


def rolling() -> Mechanism:
    """A wheel that spins by a joint of its own on a frame without mass, so that straight rolling is a steady motion."""
    p = DISC["parameters"]
    r = p["r"]
    wheel = {
        "place": {"steps": [{"rx": -math.pi / 2}]},
        "joint": {"kind": "revolute", "coordinate": "spin"},
        "inertia": {"mass": p["m"], "tensor": {"xx": "across", "yy": "across", "zz": "axle"}},
    }
    return Mechanism(
        name="wheel",
        parameters={"across": {}, "axle": {}},
        gravity=(0, 0, -p["g"]),
        base={"kind": "carrier", "coordinates": {n: {"start": r if n == "z" else 0.0} for n in SIX}},
        bodies={"disc": wheel},
        constraints={
            "ground": {"rolling": {"wheel": "disc", "radius": r}},
            "carried": {"coupling": {"coordinate": "pitch", "equals": 0.0}},
        },
    )


SIX = ("x", "y", "z", "roll", "pitch", "yaw")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("across", "axle", "critical"),
    [(0.25, 0.5, DISC["reference"]["disc_v_crit"]), (0.5, 1.0, DISC["reference"]["hoop_v_crit"])],
)
def test_a_wheel_stays_upright_above_its_critical_speed_and_not_below(
    across: float, axle: float, critical: str
) -> None:
    m, r = DISC["parameters"]["m"], DISC["parameters"]["r"]
    model = ts.build(rolling(), parameters={"across": across * m * r**2, "axle": axle * m * r**2})
    speed, rel = float(critical.split("=")[1]), DISC["tolerance"]["rel"]

    def squared(v: float) -> float:
        """The square of the eigenvalue of the lean: it changes its sign at the critical speed."""
        lin = model.linearise({"dspin": v / r, "droll": 0.0, "dyaw": 0.0})
        assert lin.is_steady
        return float(max(lin.eigenvalues**2, key=abs).real)

    low, high = 0.9 * speed, 1.1 * speed
    assert squared(low) > 0.0 > squared(high)
    while high - low > 1e-3 * rel * speed:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if squared(middle) > 0.0 else (low, middle)
    assert low == pytest.approx(speed, rel=rel)
    assert model.linearise({"dspin": 0.999 * speed / r}).stability is Stability.UNSTABLE
    assert model.linearise({"dspin": 1.001 * speed / r}).stability is Stability.NEUTRAL


# -- Chaplygin's sleigh ------------------------------------------------------------------------------------------------
SLEIGH = problem("chaplygin_sleigh")


def test_chaplygins_sleigh_turns_as_its_closed_form_says() -> None:
    p, start = SLEIGH["parameters"], SLEIGH["initial_state"]
    sleigh = Mechanism(
        name="sleigh",
        base={
            "kind": "planar",
            "coordinates": {n: {} for n in ("x", "y", "theta")},
            "inertia": {"mass": p["m"], "centre": (p["a"], 0, 0), "tensor": {"zz": p["I_com"]}},
        },
        constraints={"edge": {"no_side_slip": {"frame": "base"}}},
    )
    run = ts.simulate(
        sleigh,
        until=10.0,
        every=0.5,
        start={"vx": start["u"], "wz": start["w"]},
        solver={"method": "dop853", "rtol": 1e-13, "atol": 1e-14},
    )
    for time, expected in SLEIGH["reference"]["values"].items():
        k = int(np.argmin(np.abs(run.time - float(time))))
        assert run.time[k] == pytest.approx(float(time), abs=1e-12)
        found = [run[n][k] for n in ("vx", "wz", "theta", "x", "y")]
        assert np.abs(np.array(found) - expected).max() < SLEIGH["tolerance"]["abs"]


# -- four-bar linkages -------------------------------------------------------------------------------------------------
def test_the_four_bar_keeps_its_loop_and_its_energy_for_ten_seconds_at_a_millisecond() -> None:
    linkage = ts.load(ROOT / "examples" / "four_bar" / "four_bar.yaml")
    run = ts.simulate(linkage, until=10.0, every=1e-2, solver={"method": "rk4", "step": 1e-3})
    model = ts.build(linkage)
    potential = model.potential_energy(run.q)
    assert np.abs(model.closure(run.q)).max() <= 1e-9
    assert np.ptp(model.kinetic_energy(run.q, run.v) + potential) <= 1e-7 * np.ptp(potential)
    assert np.ptp(potential) > 5.0


WINDOWS = problem("iftomm_A02_n_four_bar")


def windows(n: int) -> Mechanism:
    """n parallelograms side by side: cranks on the ground, couplers along their tops."""
    p = WINDOWS["parameters"]
    length, mass = float(p["link_length"]), float(p["link_mass"])
    spread = mass * length**2 / 12
    rod = {"mass": mass, "centre": (length / 2, 0, 0), "tensor": {"yy": spread, "zz": spread}}

    def at(x: float) -> dict[str, Any]:
        return {"place": {"pose": {"position": (x, 0, 0)}}}

    bodies: dict[str, Any] = {}
    for k in range(n + 1):
        joint = {"kind": "revolute", "coordinate": f"a{k}", "start": math.pi / 2}
        bodies[f"crank{k}"] = {**at(float(k)), "joint": joint, "inertia": rod, "frames": {f"top{k}": at(length)}}
    for k in range(n):
        joint = {"kind": "revolute", "coordinate": f"b{k}", "start": -math.pi / 2}
        frames = {f"end{k}": at(length)}
        bodies[f"coupler{k}"] = {
            "parent": f"crank{k}",
            **at(length),
            "joint": joint,
            "inertia": rod,
            "frames": frames,
        }
    loops = {f"pin{k}": {"joint": "revolute", "between": (f"end{k}", f"top{k + 1}")} for k in range(n)}
    return Mechanism(name="windows", gravity=(0, -p["g"], 0), bodies=bodies, loops=loops)


@pytest.mark.parametrize("n", [2, pytest.param(40, marks=pytest.mark.slow)])
def test_windows_swing_through_their_singular_positions_as_published(n: int) -> None:
    rate = WINDOWS["initial_state"]["crank_rate"]
    start = {f"da{k}": rate for k in range(n + 1)} | {f"db{k}": -rate for k in range(n)}
    until = float(WINDOWS["parameters"]["t_end"][str(n)])
    run = ts.simulate(windows(n), until=until, every=0.5, start=start, solver={"method": "rk4", "step": 1e-3})
    for time, expected in WINDOWS["reference"]["values"][str(n)]["B0 x,y,xdot,ydot"].items():
        k = int(np.argmin(np.abs(run.time - float(time))))
        angle, turn = run["a0"][k], run["da0"][k]
        found = [math.cos(angle), math.sin(angle), -math.sin(angle) * turn, math.cos(angle) * turn]
        assert np.abs(np.array(found) - expected).max() < WINDOWS["tolerance"]["abs"]


def test_the_windows_lie_flat_in_a_singular_position() -> None:
    found = ts.build(windows(2)).mobility([0.0] * 5)
    assert found.is_singular
    assert found.freedoms == 1
    assert len(found.motions) == 3  # n + 1 at this instant
