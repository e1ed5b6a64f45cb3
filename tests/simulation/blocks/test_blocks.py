"""Blocks against closed-form responses, integrated by a plain Runge-Kutta."""

import math
from pathlib import Path

import numpy as np
import pytest
from scipy import signal as dsp

from support.plain_blocks import Blocks
from support.random_mechanisms import BodyPlan, Plan, mechanism_of
from torseur.describe import Effort, Mechanism
from torseur.dynamics.workbench import Workbench
from torseur.errors import ModelError
from torseur.simulation.blocks import KINDS, reference
from torseur.simulation.blocks.context import Context

STEP = {"step": {"time": 0.0}}
HINGE = Mechanism.model_validate(
    {
        "name": "hinge",
        "gravity": (0.0, 0.0, 0.0),
        "inputs": {"tau": {}},
        "bodies": {"b": {"joint": {"kind": "revolute", "coordinates": {"q1": {}}}, "inertia": {"ZZ": 2.0, "M": 1.0}}},
        "loads": {"drive": Effort(coordinate="q1", value="tau")},
    }
)


def response(given, until=2.0, step=0.005, **blocks):
    """y of a block whose input is x, a unit step if nothing else."""
    run = Blocks({"x": 1.0, "y": given} | blocks).run(until, step)
    return run["t"], run["y"]


# -- filters -----------------------------------------------------------------------------------------------------------


def test_a_lag_answers_a_step_exponentially():
    t, y = response({"lag": {"value": "x", "time": 0.3, "gain": 2.0, "start": 0.0}})
    np.testing.assert_allclose(y, 2.0 * (1 - np.exp(-t / 0.3)), atol=1e-8)


def test_filters_begin_settled_at_their_first_input():
    _t, y = response({"lag": {"value": "x + 1", "time": 0.3, "gain": 2.0}})
    assert np.all(y == 4.0)
    blocks = {"y": {"second_order": {"value": "z", "frequency": 1.0}}, "z": {"lag": {"value": "3 + t", "time": 0.5}}}
    assert float(Blocks(blocks).at()["y"]) == 3.0  # through another that begins settled


@pytest.mark.parametrize("damping", [0.2, 1.0, 1.7])
def test_a_second_order_filter_is_its_transfer_function(damping):
    fields = {"value": "x", "frequency": 0.8, "damping": damping, "gain": 1.5, "start": 0.0}
    t, y = response({"second_order": fields})
    w = 2 * np.pi * 0.8
    _, expected = dsp.step(([1.5 * w * w], [1, 2 * damping * w, w * w]), T=t)
    np.testing.assert_allclose(y, expected, atol=1e-7)


def test_a_transfer_function_answers_as_scipy_says():
    N, D = [2.0, 1.0, 5.0], [0.5, 1.0, 3.0, 4.0]
    t, y = response({"transfer_function": {"value": "x", "numerator": N, "denominator": D}})
    np.testing.assert_allclose(y, dsp.step((N, D), T=t)[1], atol=1e-7)
    N = [3.0, 2.0, 1.0]  # as high as the denominator: what comes in goes through at once
    t, y = response({"transfer_function": {"value": "x", "numerator": N, "denominator": [1.0, 2.0, 2.0]}})
    np.testing.assert_allclose(y, dsp.step((N, [1.0, 2.0, 2.0]), T=t)[1], atol=1e-7)
    t, y = response({"transfer_function": {"value": "x", "numerator": [4], "denominator": [2, 8], "settled": True}})
    np.testing.assert_allclose(y, 0.5, atol=1e-14)
    assert (
        float(Blocks({"y": {"transfer_function": {"value": 3, "numerator": [4], "denominator": [2]}}}).at()["y"]) == 6
    )


def test_a_sampled_delay_is_exact_for_straight_lines_and_second_order_otherwise():
    delay = {"delay": {"value": "x", "time": 0.5, "points": 10}}
    t, y = response(delay, step=0.01, x="2*t + 1")
    np.testing.assert_allclose(y, np.where(t < 0.5, 1.0, 2 * (t - 0.5) + 1), atol=1e-12)
    errors = []
    for points in (10, 20):
        t, y = response({"delay": {"value": "x", "time": 0.5, "points": points}}, step=0.005, x="sin(3*t)")
        late = t > 0.5
        errors.append(np.abs(y - np.sin(3 * (t - 0.5)))[late].max())
        assert errors[-1] <= 9 * (0.5 / points) ** 2 / 8 * 1.001
    assert 3.5 < errors[0] / errors[1] < 4.5


def test_a_rational_delay_shifts_slow_sines():
    blocks = {"delay": {"value": "x", "time": 0.2, "method": "pade", "order": 4}}
    t, y = response(blocks, until=6.0, x="sin(4*t)")
    np.testing.assert_allclose(y[t > 3], np.sin(4 * (t - 0.2))[t > 3], atol=1e-4)
    t, y = response(blocks, x="3")
    np.testing.assert_allclose(y, 3.0, atol=1e-12)
    assert float(Blocks({"y": {"delay": {"value": 7.0, "time": 0.0}}}).at()["y"]) == 7.0


# -- limits ------------------------------------------------------------------------------------------------------------

X = np.linspace(-3, 3, 61)


def static(given):
    return Blocks({"y": given}).at(X)["y"]


def test_a_saturation_cuts_and_a_dead_zone_swallows():
    np.testing.assert_allclose(static({"saturation": {"value": "t", "lower": -1, "upper": 2}}), np.clip(X, -1, 2))
    zone = static({"dead_zone": {"value": "t", "lower": -1, "upper": 2}})
    np.testing.assert_allclose(zone, X - np.clip(X, -1, 2), atol=1e-15)


def test_corners_are_events_where_that_is_asked_for():
    fields = {"value": "t", "lower": -1, "upper": 2}
    assert not Blocks({"y": {"saturation": fields}}).parts.events
    events = Blocks({"y": {"saturation": fields | {"locate": True}}}).parts.events
    assert [event.name for event in events] == ["y_lower", "y_upper"]


def test_a_rate_limit_is_never_faster_and_catches_up():
    t, y = response(
        {"rate_limit": {"value": "x", "up": 2.0, "down": 1.0, "start": 0.0}},
        x={"step": {"time": 1.0, "before": 1, "after": 0}},
    )
    np.testing.assert_allclose(y[t < 0.45], 2.0 * t[t < 0.45], atol=1e-9)
    falling = (t > 1.05) & (t < 1.9)
    np.testing.assert_allclose(y[falling], 1.0 - (t[falling] - 1.0), atol=1e-2)
    assert np.diff(y).min() >= -1.0 * 0.005 - 1e-12
    assert abs(y[np.searchsorted(t, 0.6)] - 1.0) < 1e-3


def test_a_sampled_rate_limit_follows_slow_inputs_without_lag():
    given = {"rate_limit": {"value": "x", "up": 2.0, "period": 0.05}}
    t, y = response(given, x="1.5*t")
    np.testing.assert_allclose(y[::10], 1.5 * t[::10], atol=1e-12)
    t, y = response(given, x="5*t")
    np.testing.assert_allclose(y[::10], np.concatenate([[0.0], 2.0 * (t[::10][1:])]), atol=0.11)
    assert np.diff(y).max() <= 2.0 * 0.05 + 1e-12


# -- feedback ----------------------------------------------------------------------------------------------------------


def test_pd_on_a_hinge_is_a_damped_oscillator():
    control = {"pd": {"value": "q1", "rate": "dq1", "kp": 8.0, "kd": 1.6, "reference": 0.5}}
    run = Blocks({"tau": control}, HINGE).run(3.0, 0.01)
    t, d, f = run["t"], 0.4, math.sqrt(4.0 - 0.16)
    expected = 0.5 * (1 - np.exp(-d * t) * (np.cos(f * t) + d / f * np.sin(f * t)))
    np.testing.assert_allclose(run["x"][:, 0], expected, atol=1e-7)


def test_pd_follows_the_rate_of_its_reference():
    control = {
        "pd": {"value": "q1", "rate": "dq1", "kp": 8.0, "kd": 4.0, "reference": "ref", "feedforward": "-2*0.3*sin(t)"}
    }
    run = Blocks({"tau": control, "ref": "0.3*sin(t)"}, HINGE).run(2.0, 0.01, v=[0.3])
    np.testing.assert_allclose(run["x"][:, 0], 0.3 * np.sin(run["t"]), atol=1e-8)
    cut = Blocks({"tau": {"pd": {"value": "q1", "rate": "dq1", "kp": 8.0, "lower": -1, "upper": 2}}}, HINGE)
    assert [float(cut.at(q=[q])["tau"]) for q in (-1.0, 0.1, 1.0)] == [2.0, -0.8, -1.0]


def test_pid_is_its_transfer_function():
    kp, ki, kd, T = 2.0, 3.0, 0.5, 0.1
    fields = {"reference": "x", "value": 0.0, "kp": kp, "ki": ki, "kd": kd, "filter": T}
    t, y = response({"pid": fields}, x="sin(2*t)")
    N = [kp * T + kd, kp + ki * T, ki]
    _, expected, _ = dsp.lsim((N, [T, 1.0, 0.0]), np.sin(2 * t), t)
    np.testing.assert_allclose(y, expected, atol=2e-4)


def windup(tracking):
    """A hinge that has to turn far with little torque: time above the limit makes the integral grow."""
    fields = {"reference": 5.0, "value": "q1", "kp": 6.0, "ki": 2.0, "kd": 8.0, "lower": -1.0, "upper": 1.0}
    fields |= {"tracking": tracking} if tracking else {}
    return Blocks({"tau": {"pid": fields}}, HINGE, native=True).run(30.0, 0.02)["x"][:, 0].max()


def test_anti_windup_takes_the_overshoot_away():
    assert windup(1e6) > 1.5 * windup(None)
    assert windup(0.1) < windup(1e6)


# -- samples -----------------------------------------------------------------------------------------------------------


def test_a_sampled_block_holds_its_formula():
    t, y = response({"sampled": {"value": "x", "period": 0.2, "offset": 0.1, "start": -1.0}}, step=0.05, x="t")
    expected = np.where(t < 0.1 - 1e-9, -1.0, 0.1 + 0.2 * np.floor((t - 0.1) / 0.2 + 1e-9))
    np.testing.assert_allclose(y, expected, atol=1e-12)


def test_a_chain_of_samples_reads_what_was_before():
    blocks = {"a": {"sampled": {"value": "t", "period": 0.1}}, "b": {"sampled": {"value": "a", "period": 0.1}}}
    run = Blocks(blocks).run(1.0, 0.1)
    np.testing.assert_allclose(run["b"][1:], run["a"][:-1])


def test_blocks_may_form_a_circle_through_a_sample_or_a_state():
    run = Blocks({"a": "b + 1", "b": {"sampled": {"value": "a", "period": 0.1}}}).run(0.5, 0.1)
    np.testing.assert_allclose(run["a"], [2, 3, 4, 5, 6, 7])
    run = Blocks({"e": "1 - y", "y": {"lag": {"value": "4*e", "time": 1.0, "start": 0.0}}}).run(1.0, 0.01)
    np.testing.assert_allclose(run["y"], 0.8 * (1 - np.exp(-5 * run["t"])), atol=1e-8)


def test_a_python_function_is_called_at_its_times_with_its_inputs():
    calls = []

    def law(t, q, dq):
        calls.append(t)
        return [-4.0 * q, 10.0 * t]

    fields = {"function": law, "inputs": ["q1", "dq1"], "outputs": ["u", "clock"], "period": 0.1}
    run = Blocks({"slow": {"python": fields}, "tau": "slow_u"}, HINGE).run(0.5, 0.05, q=[1.0])
    np.testing.assert_allclose(calls, [0, 0.1, 0.2, 0.3, 0.4, 0.5])
    np.testing.assert_allclose(run["slow_clock"], np.floor(run["t"] * 10 + 1e-9))
    assert np.all(run["tau"][:2] == -4.0)
    assert np.all(np.diff(run["x"][:, 0]) < 0.0)


def test_a_file_cannot_hold_a_function():
    with pytest.raises(ModelError, match="build the study in Python"):
        Blocks({"slow": {"python": {"function": "os.system", "period": 0.1}}})


# -- motors ------------------------------------------------------------------------------------------------------------

ARMATURE = {"voltage": 10.0, "speed": 2.0, "resistance": 2.0, "inductance": 0.5, "constant": 1.5}


def test_the_current_of_an_armature_rises_exponentially():
    run = Blocks({"m": {"armature": ARMATURE}}).run(1.0, 0.005)
    current = (10.0 - 1.5 * 2.0) / 2.0 * (1 - np.exp(-run["t"] * 2.0 / 0.5))
    np.testing.assert_allclose(run["m_current"], current, atol=1e-9)
    np.testing.assert_allclose(run["m_torque"], 1.5 * current, atol=1e-9)


def test_the_current_stays_below_its_limit_and_comes_back():
    fields = ARMATURE | {"current_limit": 2.0, "voltage": "if(t < 0.5, 10, -1)"}
    run = Blocks({"m": {"armature": fields}}).run(1.5, 0.005)
    i = run["m_current"]
    assert i.max() == 2.0
    after = run["t"] >= 0.5
    expected = -2.0 + 4.0 * np.exp(-(run["t"][after] - 0.5) * 4.0)
    np.testing.assert_allclose(i[after], np.maximum(expected, -2.0), atol=2e-2)
    quick = {"m": {"armature": {k: x for k, x in fields.items() if k != "inductance"}}}
    assert float(Blocks(quick).at(0.0)["m_current"]) == 2.0


def test_a_hinge_with_a_motor_runs_up_to_its_free_speed():
    motor = {"armature": ARMATURE | {"speed": "10*dq1", "inductance": 0.01}}
    run = Blocks({"m": motor, "tau": "10*m_torque"}, HINGE).run(0.2, 0.001)
    k, J = 15.0, 2.0  # at the joint
    expected = 10.0 / k * (1 - np.exp(-run["t"] * k * k / (2.0 * J)))
    np.testing.assert_allclose(run["x"][-1, 1], expected[-1], rtol=2e-2)


def test_a_force_acts_on_its_speed():
    blocks = Blocks({"push": {"force": {"speed": "dq1", "value": 4.0}}}, HINGE)
    np.testing.assert_allclose(blocks.run(1.0, 0.1)["x"][-1], [1.0, 2.0])


# -- sensors -----------------------------------------------------------------------------------------------------------


def arm_and_state(seed=3):
    plan = Plan("floating", (BodyPlan("revolute", -1), BodyPlan("prismatic", 0), BodyPlan("spherical", 1)), seed=seed)
    mechanism, rng = mechanism_of(plan), np.random.default_rng(seed)
    q, v = rng.normal(size=len(mechanism.q)), rng.normal(size=len(mechanism.v))
    for first in (3, len(q) - 4):
        q[first : first + 4] /= np.linalg.norm(q[first : first + 4])
    return mechanism, q, v


def test_velocities_and_accelerations_are_rates_of_positions_and_velocities():
    mechanism, q, v = arm_and_state()
    blocks = {
        "p": {"pose": {"frame": "b2"}},
        "v": {"velocity": {"frame": "b2", "axes": "world"}},
        "a": {"acceleration": {"frame": "b2", "axes": "world"}},
    }
    run = Blocks(blocks, mechanism, native=True).run(0.02, 0.0005, q=q, v=v)
    for axis in "xyz":
        rate = np.gradient(run[f"p_{axis}"], 0.0005, edge_order=2)
        np.testing.assert_allclose(rate[5:-5], run[f"v_v{axis}"][5:-5], rtol=1e-4, atol=1e-4)
        for speed, acceleration in (("v", "a"), ("w", "b")):
            rate = np.gradient(run[f"v_{speed}{axis}"], 0.0005, edge_order=2)
            np.testing.assert_allclose(rate[5:-5], run[f"a_{acceleration}{axis}"][5:-5], rtol=1e-3, atol=2e-3)


def test_roll_pitch_and_yaw_rebuild_the_rotation():
    mechanism, q, v = arm_and_state()
    blocks = Blocks(
        {
            "p": {"pose": {"frame": "b2", "seen_from": "b0"}},
            "s": {"pose": {"frame": "b0"}},
            "w": {"pose": {"frame": "b2"}},
        },
        mechanism,
    )
    found = blocks.at(q=q, v=v)

    def turn(name):
        r, p, y = (float(found[f"{name}_{key}"]) for key in ("roll", "pitch", "yaw"))
        Rx = np.array([[1, 0, 0], [0, math.cos(r), -math.sin(r)], [0, math.sin(r), math.cos(r)]])
        Ry = np.array([[math.cos(p), 0, math.sin(p)], [0, 1, 0], [-math.sin(p), 0, math.cos(p)]])
        Rz = np.array([[math.cos(y), -math.sin(y), 0], [math.sin(y), math.cos(y), 0], [0, 0, 1]])
        return Rz @ Ry @ Rx, np.array([float(found[f"{name}_{axis}"]) for axis in "xyz"])

    (Rp, Pp), (Rs, Ps), (Rw, Pw) = turn("p"), turn("s"), turn("w")
    np.testing.assert_allclose(Rs @ Rp, Rw, atol=1e-12)
    np.testing.assert_allclose(Ps + Rs @ Pp, Pw, atol=1e-12)


def test_an_imu_at_rest_shows_the_weight_upwards_and_nothing_in_free_fall():
    bodies = {"b": {"joint": {"kind": "revolute"}, "inertia": {"XX": 1, "YY": 1, "ZZ": 1.0, "M": 1.0}}}
    still = Mechanism.model_validate({"name": "still", "bodies": bodies})
    found = Blocks({"i": {"imu": {"frame": "b", "rate_bias": [0, 0, 0.1]}}}, still).at()
    np.testing.assert_allclose([float(found[f"i_f{axis}"]) for axis in "xyz"], [0, 0, 9.81], atol=1e-14)
    assert float(found["i_wz"]) == 0.1
    falls = Mechanism.model_validate({"name": "f", "base": {"kind": "floating", "inertia": bodies["b"]["inertia"]}})
    blocks = Blocks({"i": {"imu": {"frame": "base", "force_noise": 0.5, "period": 0.1}}}, falls)
    q = np.array([0, 0, 0, 1.0, 0, 0, 0])
    run = blocks.run(1.0, 0.1, q=q)
    forces = np.array([run[f"i_f{axis}"] for axis in "xyz"])
    assert 0.2 < forces.std() < 1.0  # noise alone
    assert not np.allclose(forces[0], forces[1])
    quiet = Blocks({"i": {"imu": {"frame": "base"}}}, falls).at(q=q)
    np.testing.assert_allclose([float(quiet[f"i_f{axis}"]) for axis in "xyz"], 0.0, atol=1e-14)


def test_a_controller_cannot_use_an_acceleration_of_the_same_instant():
    sensor = {"a": {"acceleration": {"frame": "b"}}}
    with pytest.raises(ModelError, match=r"the input 'tau' needs accelerations(.|\n)*filter"):
        Blocks(sensor | {"tau": "-a_bz"}, HINGE)
    with pytest.raises(ModelError, match=r"the force on 'dq1' needs accelerations"):
        Blocks(sensor | {"push": {"force": {"speed": "dq1", "value": "-a_bz"}}}, HINGE)
    with pytest.raises(ModelError, match=r"the start of 'f_state' needs"):
        Blocks(sensor | {"f": {"lag": {"value": "a_bz", "time": 0.1}}}, HINGE)
    blocks = sensor | {"f": {"lag": {"value": "a_bz", "time": 0.1, "start": 0.0}}, "tau": "1 - f"}
    assert Blocks(blocks, HINGE).run(0.1, 0.01)["f"][-1] > 0.0


def test_a_force_sensor_waits_for_the_plant():
    context = Context(Workbench(HINGE))
    names = KINDS["force_sensor"](joint="b").build(context, "s")
    assert list(names) == ["fx", "fy", "fz", "nx", "ny", "nz"]
    with pytest.raises(ModelError, match=r"no joint or loop 'c'(.|\n)*one of b"):
        KINDS["force_sensor"](joint="c").build(context, "s")


# -- the context -------------------------------------------------------------------------------------------------------


def context():
    return Context(Workbench(HINGE))


def test_a_state_without_rate_and_a_number_that_is_never_renewed_are_both_named():
    c = context()
    c.state("x")
    c.held("y")
    c.held("mode", is_mode=True)
    with pytest.raises(ModelError, match=r"(?s)2 faults.*'x' has no rate.*'y' is never renewed"):
        c.parts()


def test_what_is_said_twice_is_refused():
    c = context()
    x, y = c.state("x"), c.held("y")
    c.rate(x, 1.0)
    c.sample(y, x, 0.1)
    for again in (lambda: c.rate(x, 2.0), lambda: c.sample(y, x, 0.2), lambda: c.state("x"), lambda: c.rate(y, 1.0)):
        with pytest.raises(ModelError):
            again()
    c.drive("tau", x)
    with pytest.raises(ModelError, match="driven twice"):
        c.drive("tau", x)
    c.define("out", x)
    with pytest.raises(ModelError, match="'out' is taken"):
        c.define("out", x)
    with pytest.raises(ModelError, match="'x' is taken"):
        c.define("x", x)
    with pytest.raises(ModelError, match="'q1' is taken"):
        c.define("q1", x)
    with pytest.raises(ModelError, match=r"no input 'taw'(.|\n)*'tau'"):
        c.drive("taw", x)
    with pytest.raises(ModelError, match=r"no speed 'dq2'(.|\n)*'dq1'"):
        c.force("dq2", x)


def test_starts_that_need_each_other_are_a_circle():
    blocks = {"a": {"lag": {"value": "b", "time": 1.0}}, "b": {"lag": {"value": "a", "time": 1.0}}}
    with pytest.raises(
        ModelError, match=r"initial values that depend on each other(.|\n)*a_state -> b_state -> a_state"
    ):
        Blocks(blocks)


WRONG = {
    "lag": ({"lag": {"value": 1, "time": 0.0}}, "time constant is too small"),
    "proper": ({"transfer_function": {"value": 1, "numerator": [1, 0], "denominator": [1]}}, "higher order"),
    "leading": ({"transfer_function": {"value": 1, "numerator": [1], "denominator": [0, 1]}}, "is zero"),
    "settled": (
        {"transfer_function": {"value": 1, "numerator": [1], "denominator": [1, 0], "settled": True}},
        "settles",
    ),
    "band": ({"saturation": {"value": 1, "lower": 2, "upper": 1}}, "not below"),
    "period": ({"sampled": {"value": 1, "period": 0}}, "period is too small"),
    "tracking": ({"pid": {"value": 0, "ki": 1.0, "upper": 1}}, "tracking time"),
    "starts": ({"python": {"function": len, "period": 1, "outputs": ["a", "b"], "start": [1]}}, "number of starts"),
    "resistance": ({"armature": ARMATURE | {"resistance": 0}}, "resistance is too small"),
    "rate": ({"pd": {"value": "q1", "rate": "dq1", "kp": 1, "reference": "dq1"}}, "rate of the reference is not known"),
    "frame": ({"pose": {"frame": "bb"}}, "(?s)no frame 'bb'.*blocks.y"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_with_a_block_is_said(case):
    given, message = WRONG[case]
    with pytest.raises(ModelError, match=message):
        Blocks({"y": given}, HINGE)


# -- the page ----------------------------------------------------------------------------------------------------------

PAGE = Path(__file__).resolve().parents[3] / "docs" / "reference" / "blocks.md"


def test_the_page_of_blocks_is_that_of_the_records():
    text = PAGE.read_text(encoding="utf-8").partition("<!-- kinds -->\n\n")[2]
    assert text == reference(), "write torseur.simulation.blocks.reference() below the mark"


def test_every_kind_has_its_section_and_every_field_its_meaning():
    text = reference()
    for kind, block in KINDS.core.items():
        assert f"\n### {kind}\n" in text
        assert block.__doc__
        assert all(field.description for field in block.model_fields.values()), kind
