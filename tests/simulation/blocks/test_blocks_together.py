"""Every kind of block in one study, run by the package's own solvers."""

import numpy as np
import pytest

import torseur as ts
from support.example_files import EXAMPLES, Example
from support.plain_blocks import Blocks
from torseur.simulation.blocks import KINDS

ARM = ts.load(EXAMPLES / "planar_2r" / "planar_2r.yaml")
Q = {"theta1": "0.2*sin(t)", "theta2": "0.1*t"}
XY = {"x": "1.5 + 0.01*t", "y": 0.2}
IDLE = {"apply": False}

ALL = {
    "constant": {"value": 2.0},
    "step": {"time": 0.1},
    "ramp": {"start": 0.1, "slope": 1.0},
    "sine": {"start": 0.05},
    "sweep": {"begin": 1.0, "end": 4.0, "duration": 0.2},
    "spline": {"times": [0, 0.1, 0.3], "values": [0, 1, 0]},
    "table": {"file": "points.csv"},
    "noise": {"period": 0.02},
    "band_noise": {"highest": 5.0, "count": 4},
    "formula": {"value": "k_step*theta1 + t"},
    "move": {"end": 1.0, "duration": 0.2},
    "trapezoid": {"end": 0.1, "speed": 1.0, "acceleration": 10.0},
    "point_to_point": {"begin": {"a": 0}, "end": {"a": 1}, "duration": 0.2, "law": "trapezoid"},
    "line": {"begin": [0, 0, 0], "end": [1, 0, 0], "duration": 0.2},
    "circle": {"centre": [1, 0, 0], "radius": 0.1, "duration": 0.2},
    "pd": {"value": "theta1", "rate": "dtheta1", "kp": 1.0, "reference": "k_move"},
    "pid": {"value": "theta1", "kp": 1.0, "ki": 1.0, "kd": 0.1, "lower": -1, "upper": 1},
    "computed_torque": {"reference": Q, "kp": 25.0},
    "pd_regulator": {"target": {"theta1": 0, "theta2": 0}, "kp": 1.0, "kd": 1.0} | IDLE,
    "operational_space": {"frame": "tool", "position": XY, "kp": 1.0} | IDLE,
    "resolved_acceleration": {"frame": "tool", "position": XY, "kp": 1.0} | IDLE,
    "resolved_rate": {"frame": "tool", "position": XY, "k": 1.0, "servo": 5.0} | IDLE,
    "integral": {"value": "k_acceleration_ax", "gain": 0.5, "start": 0.1},
    "lag": {"value": "k_acceleration_ax", "time": 0.1, "start": 0.0},
    "second_order": {"value": "k_step", "frequency": 2.0},
    "transfer_function": {"value": "k_step", "numerator": [1, 2], "denominator": [1, 2, 3]},
    "delay": {"value": "theta1", "time": 0.1, "points": 4},
    "rate_limit": {"value": "k_step", "up": 5.0},
    "saturation": {"value": "20*theta1", "locate": True},
    "dead_zone": {"value": "20*theta1"},
    "crossing": {"value": "theta1", "level": 0.3},
    "sampled": {"value": "theta1", "period": 0.05, "offset": 0.01},
    "python": {"function": lambda t, q: 2.0 * q, "inputs": ["theta1"], "period": 0.05},
    "pose": {"frame": "tool"},
    "velocity": {"frame": "tool"},
    "acceleration": {"frame": "tool"},
    "imu": {"frame": "tool", "force_noise": 0.1, "period": 0.05},
    "force_sensor": {"joint": list(ARM.bodies)[-1]},
    "armature": {"voltage": 5, "speed": 0.0, "resistance": 1, "inductance": 0.1, "constant": 0.5, "current_limit": 2},
    "force": {"speed": "dtheta1", "value": "0.1*k_pd"},
}  # fmt: skip


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    (folder / "points.csv").write_text("t,x\n0,0\n0.1,1\n0.3,0\n")
    controllers = {f"k_{kind}": {kind: fields} for kind, fields in ALL.items()}
    return ts.simulate(ARM, until=0.3, controllers=controllers, folder=folder)


def test_all_kinds_are_here():
    assert set(ALL) == set(KINDS.core) - {"external"}  # which needs somebody outside


def test_every_kind_runs_and_gives_numbers(run):
    assert run.complete
    for kind in ALL:
        names = [name for name in run.channels if name == f"k_{kind}" or name.startswith(f"k_{kind}_")]
        assert names, kind
        for name in names:
            assert np.isfinite(run[name]).all(), name


def test_the_solver_agrees_with_a_plain_integration(run):
    around = "lag acceleration computed_torque sampled delay noise force pd move"
    blocks = Blocks({f"k_{kind}": {kind: ALL[kind]} for kind in around.split()}, ARM, native=True)
    plain = blocks.run(0.3, 0.005, q=Example(ARM).start)
    mine, theirs = np.searchsorted(run.time, 0.285 - 1e-9), 57
    np.testing.assert_allclose(run.time[mine], plain["t"][theirs])
    for name in ("k_lag", "k_sampled", "k_delay", "k_noise"):
        np.testing.assert_allclose(run[name][mine], plain[name][theirs], rtol=1e-5, atol=1e-6, err_msg=name)


def test_the_solver_steps_on_the_jump_of_a_step(run):
    """Across it, it would be off by a part of a step's length."""
    w, d, t = 4 * np.pi, np.sqrt(0.5), 0.2
    f = w * np.sqrt(1 - d * d)
    expected = 1 - np.exp(-d * w * t) * (np.cos(f * t) + d * w / f * np.sin(f * t))
    np.testing.assert_allclose(run["k_second_order"][-1], expected, atol=1e-6)
