"""Published motions, simulated as a user would, each within its stated tolerance and with its audit."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import torseur as ts
from torseur.describe import Effort, Mechanism, Transmission
from torseur.simulation.results.result import Run

DATA = Path(__file__).resolve().parents[1] / "data" / "benchmarks"


def problem(name: str) -> Any:
    found = json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))
    assert found["source"]
    return found


def row(run: Run, time: float | str) -> int:
    """The record at a time."""
    k = int(np.argmin(np.abs(run.time - float(time))))
    assert run.time[k] == pytest.approx(float(time), abs=1e-9)
    return k


def simulate(mechanism: Mechanism, **study: Any) -> Run:
    run = ts.simulate(mechanism, **study)
    assert run.complete, run.reason
    assert run.audit().holds, run.audit()
    return run


# -- IFToMM's simple pendulum ------------------------------------------------------------------------------------------
PENDULUM = problem("iftomm_A01_pendulum")


def by_angle() -> tuple[Mechanism, dict[str, float]]:
    """A point on a rod that turns: one coordinate, nothing to close."""
    p = PENDULUM["parameters"]
    inertia = {"mass": p["m"], "centre": (p["L"], 0, 0), "tensor": {"xx": 0.0, "yy": 0.0, "zz": 0.0}}
    bob = {"joint": {"kind": "revolute", "coordinate": "a"}, "inertia": inertia}
    formulas = {"x": "cos(a)", "y": "sin(a)", "dx": "-sin(a)*da", "dy": "cos(a)*da"}
    outputs = {name: {"value": formula} for name, formula in formulas.items()}
    described = {"name": "pendulum", "gravity": (0, -p["g"], 0), "bodies": {"bob": bob}, "outputs": outputs}
    return Mechanism.model_validate(described), {"a": math.pi}


def by_distance() -> tuple[Mechanism, dict[str, float]]:
    """A point with two coordinates, at a distance from the origin: as the library of benchmarks has it."""
    p = PENDULUM["parameters"]
    slides = {
        "first": {"place": {"steps": [{"ry": math.pi / 2}]}, "joint": {"kind": "prismatic", "coordinate": "x"}},
        "second": {
            "parent": "first",
            "place": {"steps": [{"ry": -math.pi / 2}, {"rx": -math.pi / 2}]},
            "joint": {"kind": "prismatic", "coordinate": "y"},
            "inertia": {"M": p["m"]},
        },
    }
    rod = {"zero": f"x^2 + y^2 - {p['L']}^2"}
    described = {"name": "point", "gravity": (0, -p["g"], 0), "bodies": slides, "constraints": {"rod": rod}}
    return Mechanism.model_validate(described), {"x": -p["L"], "y": 0.0}


@pytest.mark.parametrize("described", [by_angle, by_distance])
def test_the_pendulum_of_iftomm_swings_as_its_elliptic_functions_say(described: Any) -> None:
    mechanism, start = described()
    solver = {"method": "dop853", "rtol": 1e-13, "atol": 1e-14}
    run = simulate(mechanism, until=PENDULUM["parameters"]["t_end"], every=0.01, start=start, solver=solver)
    off = PENDULUM["tolerance"]["pos_abs"]
    for time, expected in PENDULUM["reference"]["values"].items():
        found = [run[n][row(run, time)] for n in ("x", "y", "dx", "dy")]
        assert np.abs(np.array(found[:2]) - expected[:2]).max() <= off
        assert np.abs(np.array(found[2:]) - expected[2:]).max() <= 5.0 * off  # speeds reach 4.4 m/s
    energy = run["kinetic_energy"] + run["potential_energy"]
    assert np.ptp(energy) <= 5e-5 * 1e-4  # far within the class of the library


# -- bodies that turn in space -----------------------------------------------------------------------------------------
def turning(name: str, joint: str, inertia: dict[str, Any], gravity: float) -> Mechanism:
    bodies = {"body": {"joint": joint, "inertia": inertia}}
    return Mechanism.model_validate({"name": name, "gravity": (0, 0, -gravity), "bodies": bodies})


TOP = problem("heavy_top")


def test_the_heavy_top_goes_as_published() -> None:
    p, reference, tolerance = TOP["parameters"], TOP["reference"], TOP["tolerance"]
    tensor = dict(zip(("xx", "yy", "zz"), p["J_com"], strict=True))
    top = turning("top", "spherical", {"mass": p["m"], "centre": tuple(p["com"]), "tensor": tensor}, p["g"])
    model = ts.build(top)
    start = dict(zip((x.name for x in model.speeds), TOP["initial_state"]["omega_body"], strict=True))
    solver = {"method": "dop853", "rtol": 1e-13, "atol": 1e-13}
    run = simulate(top, until=p["t_end"], every=0.1, start=start, solver=solver)
    for time, expected in reference["values"].items():
        k = row(run, time)
        centre = model.pose(run.q[k], "body")[:3, :3] @ p["com"]
        assert np.abs(run.q[k] - expected["quat"]).max() <= tolerance["vs_recomputed"]
        assert np.abs(centre - expected["com"]).max() <= tolerance["vs_recomputed"]
        assert np.abs(run.v[k] - expected["omega_body"]).max() <= 150 * tolerance["vs_recomputed"]
    published = reference["published_RK4_t0.2_Euler_parameters"]
    assert np.abs(run.q[row(run, 0.2)] - published).max() <= tolerance["vs_published"]
    assert np.abs(np.linalg.norm(run.q, axis=1) - 1.0).max() <= 1e-14
    assert np.ptp(run.v[:, 1]) <= 1e-9


RACKET = problem("dzhanibekov_torque_free")


@pytest.mark.parametrize("joint", ["spherical", "free"])
def test_a_torque_free_body_tumbles_as_its_closed_form_says(joint: str) -> None:
    tensor = dict(zip(("xx", "yy", "zz"), RACKET["parameters"]["I"], strict=True))
    racket = turning("racket", joint, {"mass": 1.0, "tensor": tensor}, 0.0)
    start = dict(zip([x.name for x in racket.v][-3:], RACKET["initial_state"]["omega_body"], strict=True))
    solver = {"method": "dopri5", "rtol": 1e-12, "atol": 1e-13}
    run = simulate(racket, until=RACKET["parameters"]["t_end"], every=0.5, start=start, solver=solver)
    for time, expected in RACKET["reference"]["omega"].items():
        assert np.abs(run.v[row(run, time), -3:] - expected).max() <= RACKET["tolerance"]["abs"]


# -- rolling -----------------------------------------------------------------------------------------------------------
SLEIGH = problem("chaplygin_sleigh")


def test_chaplygins_sleigh_ends_up_along_the_heading_of_its_closed_form() -> None:
    p, start = SLEIGH["parameters"], SLEIGH["initial_state"]
    base = {
        "kind": "planar",
        "coordinates": {n: {} for n in ("x", "y", "theta")},
        "inertia": {"mass": p["m"], "centre": (p["a"], 0, 0), "tensor": {"zz": p["I_com"]}},
    }
    sleigh = Mechanism(name="sleigh", base=base, constraints={"edge": {"no_side_slip": {"frame": "base"}}})
    begun = {"vx": start["u"], "wz": start["w"]}
    run = simulate(sleigh, until=30.0, every=0.5, start=begun, solver={"method": "rk4", "step": 2e-3})
    for time, expected in SLEIGH["reference"]["values"].items():
        found = [run[n][row(run, time)] for n in ("vx", "wz", "theta", "x", "y")]
        assert np.abs(np.array(found) - expected).max() <= SLEIGH["tolerance"]["abs"]
    assert run["theta"][-1] == pytest.approx(SLEIGH["reference"]["theta_infinity"], abs=SLEIGH["tolerance"]["abs"])


DISC = problem("rolling_disc_stability")


@pytest.mark.parametrize(("across", "word"), [(0.25, "disc"), (0.5, "hoop")])
def test_a_wheel_that_is_touched_wobbles_above_its_critical_speed_and_falls_below(across: float, word: str) -> None:
    """Both as fast as the square of the lean's eigenvalue says: m g r (1 - (v / critical)^2) / (I + m r^2)."""
    p, critical = DISC["parameters"], float(DISC["reference"][f"{word}_v_crit"].split("=")[1])
    m, r, g = float(p["m"]), float(p["r"]), float(p["g"])
    six = ("x", "y", "z", "roll", "pitch", "yaw")
    wheel = Mechanism(
        name="wheel",
        parameters={"across": {}, "axle": {}},
        gravity=(0, 0, -g),
        base={"kind": "carrier", "coordinates": {n: {"start": r if n == "z" else 0.0} for n in six}},
        bodies={
            "disc": {
                "place": {"steps": [{"rx": -math.pi / 2}]},
                "joint": {"kind": "revolute", "coordinate": "spin"},
                "inertia": {"mass": m, "tensor": {"xx": "across", "yy": "across", "zz": "axle"}},
            }
        },
        constraints={
            "ground": {"rolling": {"wheel": "disc", "radius": r}},
            "carried": {"coupling": {"coordinate": "pitch", "equals": 0.0}},
        },
    )
    values = {"across": across * m * r**2, "axle": 2 * across * m * r**2}
    stiffness, small = g / r / (1.0 + across), 1e-6

    def lean(ratio: float) -> tuple[np.ndarray, np.ndarray]:
        start = {"dspin": ratio * critical / r, "droll": small, "dyaw": 0.0}
        solver = {"method": "rk4", "step": 1e-3}
        run = simulate(wheel, until=0.5, every=0.05, start=start, solver=solver, parameters=values)
        return run.time, run["roll"]

    time, fallen = lean(0.5)
    growth = math.sqrt(0.75 * stiffness)
    np.testing.assert_allclose(fallen, small * np.sinh(growth * time) / growth, rtol=1e-6, atol=1e-13)
    time, kept = lean(2.0)
    pace = math.sqrt(3.0 * stiffness)
    np.testing.assert_allclose(kept, small * np.sin(pace * time) / pace, rtol=1e-6, atol=1e-13)


# -- Puma 560 ----------------------------------------------------------------------------------------------------------
PUMA = problem("puma560_dynamics")


def angle(x: float | str) -> float:
    """Numbers, and words such as pi/2 and -pi/2."""
    if not isinstance(x, str):
        return float(x)
    sign, _, divisor = x.partition("pi")
    return float(sign + "1") * math.pi / float(divisor.lstrip("/") or 1)


def test_the_puma_stays_where_its_published_gravity_torques_hold_it() -> None:
    p, loads, bodies = PUMA["parameters"], {}, {}
    hold = PUMA["reference"]["gravity_torque_recomputed"]
    for k in range(6):
        tensor = dict(zip(("xx", "yy", "zz"), p["I_diag"][k], strict=True))
        bodies[f"link{k + 1}"] = {
            "parent": f"link{k}" if k else "base",
            "place": {"dh": {"d": p["d"][k], "a": p["a"][k], "alpha": p["alpha"][k]}},
            "joint": {"kind": "revolute", "coordinate": f"q{k + 1}"},
            "inertia": {"mass": p["m"][k], "centre": tuple(p["r"][k]), "tensor": tensor},
        }
        loads[f"motor{k + 1}"] = Transmission(coordinate=f"q{k + 1}", inertia=p["G"][k] ** 2 * p["Jm"][k])
        loads[f"hold{k + 1}"] = Effort(coordinate=f"q{k + 1}", value=f"h*{hold[k]!r}")
    described = {"name": "puma", "gravity": (0, 0, -p["g"]), "bodies": bodies, "loads": loads}
    puma = Mechanism.model_validate({**described, "parameters": {"h": {"value": 1.0}}})
    start = {f"q{k + 1}": angle(x) for k, x in enumerate(PUMA["initial_state"]["qn"])}
    study = {"until": 0.2, "every": 0.1, "start": start, "solver": {"method": "rk4", "step": 1e-3}}
    held = simulate(puma, **study)
    assert np.abs(held.v).max() <= 0.2 * 20.0 * PUMA["tolerance"]["vs_recomputed"]
    dropped = simulate(puma, **study, parameters={"h": 0.0})
    assert np.abs(dropped.v).max() > 1.0
