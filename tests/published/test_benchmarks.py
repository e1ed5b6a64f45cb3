"""Published multibody problems with their reference values (tests/data/benchmarks keep the sources)."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from support.evaluated import Evaluated
from torseur.describe import Mechanism, Transmission
from torseur.dynamics.tree.system import rates
from torseur.dynamics.workbench import Workbench
from torseur.emit import RK4, Tableau, integrator
from torseur.graph import Function
from torseur.model import build

DATA = Path(__file__).resolve().parent.parent / "data" / "benchmarks"


def problem(name):
    found = json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))
    assert found["source"]
    return found


def number(x):
    """Numbers, and words such as pi/2 and -pi/2."""
    if isinstance(x, str):
        sign, _, divisor = x.partition("pi")
        return float(sign + "1") * math.pi / float(divisor.lstrip("/") or 1)
    return float(x)


# -- Puma 560 ----------------------------------------------------------------------------------------------------------
PUMA = problem("puma560_dynamics")


def puma():
    """Standard Denavit-Hartenberg rows; inertias at the centres of mass; a motor's inertia seen from its joint."""
    p, bodies, drives = PUMA["parameters"], {}, {}
    for k in range(6):
        xx, yy, zz = p["I_diag"][k]
        bodies[f"link{k + 1}"] = {
            "parent": f"link{k}" if k else "base",
            "place": {"dh": {"d": p["d"][k], "a": p["a"][k], "alpha": p["alpha"][k]}},
            "joint": {"kind": "revolute", "coordinate": f"q{k + 1}"},
            "inertia": {"mass": p["m"][k], "centre": tuple(p["r"][k]), "tensor": {"xx": xx, "yy": yy, "zz": zz}},
        }
        drives[f"motor{k + 1}"] = Transmission(coordinate=f"q{k + 1}", inertia=p["G"][k] ** 2 * p["Jm"][k])
    content = {"name": "puma", "gravity": (0.0, 0.0, -p["g"]), "bodies": bodies, "loads": drives}
    return Mechanism.model_validate(content)


QN = np.array([number(x) for x in PUMA["initial_state"]["qn"]])


@pytest.fixture(scope="module")
def model():
    return build(puma())


def test_puma_gravity_torques(model):
    zero, reference = np.zeros(6), PUMA["reference"]
    gravity = model.bias(QN, zero)
    assert np.abs(gravity - reference["gravity_torque"]).max() <= PUMA["tolerance"]["vs_published"]
    assert np.abs(gravity - reference["gravity_torque_recomputed"]).max() <= PUMA["tolerance"]["vs_recomputed"]


def test_puma_inertia_matrix(model):
    assert np.abs(model.mass_matrix(QN) - PUMA["reference"]["M_recomputed"]).max() <= PUMA["tolerance"]["vs_recomputed"]


def test_puma_inverse_dynamics(model):
    zero, one, reference = np.zeros(6), np.ones(6), PUMA["reference"]
    tau = model.inverse_dynamics(QN, zero, one)
    assert np.abs(tau - reference["tau(qn,0,ones)"]).max() <= PUMA["tolerance"]["vs_published"]
    moving = model.inverse_dynamics(QN, one, one)
    expected = reference["tau(qn,ones,ones)_no_friction_recomputed"]
    assert np.abs(moving - expected).max() <= PUMA["tolerance"]["vs_recomputed"]
    assert np.abs(model.forward_dynamics(QN, one, moving) - one).max() < 1e-10


# -- motions -----------------------------------------------------------------------------------------------------------
def rate(mechanism):
    """dq/dt and dv/dt without forces, as one function of (q, v)."""
    bench = Workbench(mechanism)
    bias = bench.inverse(bench.rest)
    outputs = {"dq": rates(bench.system), "dv": bench.solve([-b for b in bias])}
    return Function("rate", [bench.system.q, bench.system.v], outputs)


def three_eighths():
    """Kutta's 3/8 rule: another method of order 4, so that agreement is not that of one tableau."""
    a = ((), (1 / 3,), (-1 / 3, 1.0), (1.0, -1.0, 1.0))
    return Tableau("three eighths", a, (1 / 8, 3 / 8, 3 / 8, 1 / 8), (0.0, 1 / 3, 2 / 3, 1.0), 4)


TOP = problem("heavy_top")


def heavy_top():
    p = TOP["parameters"]
    xx, yy, zz = p["J_com"]
    inertia = {"mass": p["m"], "centre": tuple(map(float, p["com"])), "tensor": {"xx": xx, "yy": yy, "zz": zz}}
    bodies = {"top": {"joint": "spherical", "inertia": inertia}}
    return Mechanism.model_validate({"name": "top", "gravity": (0.0, 0.0, -p["g"]), "bodies": bodies})


def test_the_heavy_top_spins_nutates_and_precesses_as_published():
    mechanism, p = heavy_top(), TOP["parameters"]
    step = 1e-5
    start = np.array([1.0, 0, 0, 0]), np.array(TOP["initial_state"]["omega_body"], float)
    motion = integrator(rate(mechanism), RK4)(*start, step=step, steps=round(p["t_end"] / step), every=10_000)
    rows = {round(t, 6): k for k, t in enumerate(motion.time)}
    worst = 0.0
    for time, expected in TOP["reference"]["values"].items():
        k = rows[float(time)]
        quaternion, spin = motion.states[0][k], motion.states[1][k]
        centre = Evaluated(mechanism)("pose", quaternion, frame="top")[:3, :3] @ p["com"]
        worst = max(worst, np.abs(quaternion - expected["quat"]).max(), np.abs(centre - expected["com"]).max())
        assert np.abs(spin - expected["omega_body"]).max() < 150 * TOP["tolerance"]["vs_recomputed"]
    assert worst < TOP["tolerance"]["vs_recomputed"]
    published = TOP["reference"]["published_RK4_t0.2_Euler_parameters"]
    assert np.abs(motion.states[0][rows[0.2]] - published).max() < TOP["tolerance"]["vs_published"]


def test_the_heavy_top_keeps_energy_spin_and_moment_about_the_vertical():
    mechanism = heavy_top()
    ours = Evaluated(mechanism)
    start = np.array([1.0, 0, 0, 0]), np.array(TOP["initial_state"]["omega_body"], float)
    motion = integrator(rate(mechanism), three_eighths())(*start, step=2e-5, steps=50_000, every=5_000)
    q, v = motion.states
    energy = ours("kinetic_energy", q, v) + ours("potential_energy", q)
    assert np.ptp(energy) < 1e-6 * energy[0]
    assert np.ptp(ours("momentum", q, v)[:, 5]) < 1e-6 * np.abs(ours("momentum", q, v)).max()
    assert np.ptp(v[:, 1]) < 1e-9


RACKET = problem("dzhanibekov_torque_free")


@pytest.mark.parametrize("joint", ["spherical", "free", "free_rpy"])
def test_a_torque_free_body_tumbles_as_its_closed_form_says(joint):
    xx, yy, zz = map(float, RACKET["parameters"]["I"])
    body = {"joint": joint, "inertia": {"mass": 1.0, "tensor": {"xx": xx, "yy": yy, "zz": zz}}}
    mechanism = Mechanism.model_validate({"name": "racket", "gravity": (0.0, 0.0, 0.0), "bodies": {"racket": body}})
    kind = mechanism.bodies["racket"].joint.algebra
    q = np.array([x.neutral for x in kind.coordinates])
    v = np.zeros(kind.nv)
    v[-3:] = RACKET["initial_state"]["omega_body"]
    step = 2.5e-4
    motion = integrator(rate(mechanism))(q, v, step=step, steps=round(10 / step), every=round(1 / step))
    for time, expected in RACKET["reference"]["omega"].items():
        k = int(np.argmin(np.abs(motion.time - float(time))))
        assert np.abs(motion.states[1][k, -3:] - expected).max() < RACKET["tolerance"]["abs"]


def test_the_torque_free_body_keeps_its_angular_momentum_and_flips_after_half_a_period():
    xx, yy, zz = map(float, RACKET["parameters"]["I"])
    body = {"joint": "spherical", "inertia": {"XX": xx, "YY": yy, "ZZ": zz, "M": 1.0}}
    mechanism = Mechanism.model_validate({"name": "racket", "gravity": (0.0, 0.0, 0.0), "bodies": {"racket": body}})
    steps = 40_000
    step = RACKET["reference"]["period"] / steps
    start = np.array([1.0, 0, 0, 0]), np.array(RACKET["initial_state"]["omega_body"], float)
    motion = integrator(rate(mechanism))(*start, step=step, steps=steps, every=steps // 2)
    momentum = Evaluated(mechanism)("momentum", *motion.states)
    assert np.abs(momentum - momentum[0]).max() < 1e-9
    middle, end = motion.states[1][1], motion.states[1][2]
    assert abs(middle[1] + start[1][1]) < 1e-7
    assert np.abs(end - start[1]).max() < 1e-7
