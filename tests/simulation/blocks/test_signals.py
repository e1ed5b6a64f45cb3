"""Signals against what their formulas say, and the times at which they are not smooth."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.interpolate import CubicSpline, PchipInterpolator
from scipy.signal import chirp

from support.plain_blocks import Blocks, signal
from torseur.describe import Mechanism
from torseur.dynamics.workbench import Workbench
from torseur.errors import ModelError
from torseur.simulation.blocks import KINDS, Block, block_of, build_blocks
from torseur.simulation.blocks.context import Context

T = np.linspace(-1.0, 6.0, 1401)


def breaks(given):
    return Blocks({"y": given}).breaks()


# -- closed forms ------------------------------------------------------------------------------------------------------


def test_a_number_is_constant():
    assert np.all(signal(2.5, T) == 2.5)
    assert breaks(2.5) == []


def test_a_step_jumps_at_its_time():
    y = signal({"step": {"time": 1.0, "before": -1.0, "after": 3.0}}, T)
    assert np.array_equal(y, np.where(T < 1.0, -1.0, 3.0))
    assert breaks({"step": {"time": 1.0}}) == [1.0]


def test_a_ramp_goes_straight_from_begin_to_end():
    given = {"ramp": {"start": 1.0, "begin": 2.0, "end": -4.0, "duration": 3.0}}
    np.testing.assert_allclose(signal(given, T), np.interp(T, [1.0, 4.0], [2.0, -4.0]), atol=1e-14)
    assert breaks(given) == [1.0, 4.0]


def test_a_ramp_with_a_slope_goes_on_or_ends_with_its_duration():
    np.testing.assert_allclose(signal({"ramp": {"slope": 2.0}}, T), 2.0 * np.maximum(T, 0.0))
    y = signal({"ramp": {"slope": 2.0, "duration": 1.5}}, T)
    np.testing.assert_allclose(y, 2.0 * np.clip(T, 0.0, 1.5))


def test_a_sine_is_its_formula_from_its_start_on():
    fields = {"amplitude": 2.0, "frequency": 0.7, "phase": 0.3, "offset": 1.0}
    wave = 1.0 + 2.0 * np.sin(2 * np.pi * 0.7 * T + 0.3)
    np.testing.assert_allclose(signal({"sine": fields}, T), wave, atol=1e-14)
    late = 1.0 + np.where(T < 2.0, 0.0, 2.0 * np.sin(2 * np.pi * 0.7 * (T - 2.0) + 0.3))
    np.testing.assert_allclose(signal({"sine": fields | {"start": 2.0}}, T), late, atol=1e-14)
    assert Blocks({"y": {"sine": fields | {"start": 2.0}}}).breaks(-1) == [2.0]  # it jumps
    assert Blocks({"y": {"sine": {"start": 2.0}}}).breaks(-1) == []  # only its slope does


@pytest.mark.parametrize("law", ["linear", "logarithmic"])
def test_a_sweep_is_a_chirp_and_goes_on_without_a_jump_of_phase(law):
    given = {"sweep": {"begin": 0.5, "end": 8.0, "duration": 4.0, "start": 1.0, "law": law}}
    during = T[(T >= 1.0) & (T <= 5.0)]
    wave = chirp(during - 1.0, 0.5, 4.0, 8.0, method=law, phi=-90)
    np.testing.assert_allclose(signal(given, during), wave, atol=1e-12)
    fine = np.linspace(4.99, 5.01, 2001)
    y = signal(given, fine)
    assert np.abs(np.diff(y)).max() < 2 * np.pi * 8.0 * 1e-5 * 1.01  # no faster than the last frequency
    assert breaks(given) == [1.0, 5.0]


@pytest.mark.parametrize("ends", ["natural", "clamped"])
def test_a_spline_passes_its_points_with_continuous_curvature(ends):
    x, y = [0.0, 0.5, 2.0, 3.0, 5.0], [1.0, -1.0, 2.0, 2.0, 0.0]
    given = {"spline": {"times": x, "values": y, "ends": ends}}
    inside = T[(T >= 0) & (T <= 5)]
    np.testing.assert_allclose(signal(given, inside), CubicSpline(x, y, bc_type=ends)(inside), atol=1e-12)
    assert np.all(signal(given, T[T < 0]) == 1.0)
    assert np.all(signal(given, T[T > 5]) == 0.0)
    assert Blocks({"y": given}).breaks(1) == [0.0, 5.0]
    h = 1e-4
    for knot in x[1:-1]:
        before, after = ([knot + s * h * k for k in (1, 2, 3, 4)] for s in (-1, 1))
        bend = [np.dot(signal(given, at), [2, -5, 4, -1]) for at in ([knot, *before[:3]], [knot, *after[:3]])]
        assert abs(bend[0] - bend[1]) / h**2 < 1e-1


def test_a_formula_may_use_parameters_and_other_blocks():
    mechanism = Mechanism.model_validate({"name": "m", "parameters": {"a": {"value": 3.0}, "t0": {"value": 2.0}}})
    blocks = Blocks({"y": "a*x + t", "x": {"step": {"time": "t0/2"}}}, mechanism)
    np.testing.assert_allclose(blocks.at(T)["y"], 3.0 * (T >= 1.0) + T)
    assert blocks.breaks() == [1.0]


# -- motions -----------------------------------------------------------------------------------------------------------


def test_a_quintic_move_starts_and_ends_at_rest():
    given = {"move": {"begin": 1.0, "end": 3.0, "start": 1.0, "duration": 2.0}}
    s = np.clip((T - 1.0) / 2.0, 0.0, 1.0)
    np.testing.assert_allclose(signal(given, T), 1.0 + 2.0 * (10 * s**3 - 15 * s**4 + 6 * s**5), atol=1e-13)
    h = 1e-3
    for end in (1.0, 3.0):
        y = signal(given, [end - h, end, end + h])
        assert abs(y[2] - y[0]) / (2 * h) < 1e-4
        assert abs(y[2] - 2 * y[1] + y[0]) / h**2 < 0.1
    assert breaks(given) == [1.0, 3.0]


@given(st.floats(-5, 5), st.floats(-5, 5), st.floats(0.1, 3), st.floats(0.1, 3))
def test_a_trapezoid_keeps_its_limits_and_arrives(begin, end, speed, acceleration):
    given = {"trapezoid": {"begin": begin, "end": end, "speed": speed, "acceleration": acceleration}}
    blocks = Blocks({"y": given})
    last = max(blocks.breaks(), default=0.0)
    t = np.linspace(-0.02, 1.02, 2001) * (last or 1.0)
    y, h = blocks.at(t)["y"], t[1] - t[0]
    assert abs(y[0] - begin) < 1e-12
    assert abs(y[-1] - end) < 1e-9
    assert np.abs(np.diff(y)).max() <= speed * h * (1 + 1e-6) + 1e-12
    assert np.abs(np.diff(y, 2)).max() <= acceleration * h * h * (1 + 1e-6) + 1e-11
    if last:  # and not slower than it must: its largest speed is reached, or that of a triangle
        assert np.abs(np.diff(y)).max() / h >= 0.98 * min(speed, math.sqrt(acceleration * abs(end - begin))) - 1e-9


@pytest.mark.parametrize("law", ["uniform", "quintic", "trapezoid"])
def test_point_to_point_moves_all_in_one_time(law):
    fields = {"begin": {"a": 0.0, "b": 1.0}, "end": {"a": 2.0, "b": -1.0}, "duration": 2.0, "law": law}
    found = Blocks({"go": {"point_to_point": fields}}).at(T)
    np.testing.assert_allclose(found["go_a"] / 2.0, (1.0 - found["go_b"]) / 2.0, atol=1e-14)
    assert np.all(np.diff(found["go_a"]) >= -1e-15)
    assert math.isclose(found["go_a"][-1], 2.0)
    assert math.isclose(found["go_a"][np.argmin(abs(T - 1.0))], 1.0)


def test_a_line_and_a_circle_are_what_they_say():
    line = Blocks({"p": {"line": {"begin": [0, 0, 1], "end": [2, 1, 1], "duration": 4.0}}}).at(T)
    np.testing.assert_allclose(line["p_x"], 2.0 * line["p_y"], atol=1e-14)
    assert np.all(line["p_z"] == 1.0)
    assert line["p_x"][-1] == 2.0
    fields = {"centre": [1, 2, 3], "radius": 0.5, "normal": [1, 1, 0], "first": [0, 0, 2], "duration": 4.0}
    found = Blocks({"p": {"circle": fields}}).at(T)
    arm = np.stack([found["p_x"] - 1, found["p_y"] - 2, found["p_z"] - 3])
    np.testing.assert_allclose(np.linalg.norm(arm, axis=0), 0.5, atol=1e-14)
    np.testing.assert_allclose(arm[0] + arm[1], 0.0, atol=1e-14)
    np.testing.assert_allclose(arm[:, 0], [0, 0, 0.5], atol=1e-14)
    quarter = arm[:, np.argmax(arm[0])]
    np.testing.assert_allclose(quarter, np.array([1, -1, 0]) * 0.5 / math.sqrt(2), atol=5e-3)  # normal x first
    assert np.argmax(arm[0]) < np.argmin(arm[0])  # it turns about the normal the right way


# -- tables ------------------------------------------------------------------------------------------------------------

X, Y = [0.0, 1.0, 1.5, 4.0], [0.0, 2.0, -1.0, 5.0]
EXPECTED = {
    "linear": lambda t: np.interp(t, X, Y),
    "monotone": lambda t: PchipInterpolator(X, Y)(np.clip(t, 0, 4)),
    "held": lambda t: np.array(Y)[np.clip(np.searchsorted(X, t, side="right") - 1, 0, None)],
}


@pytest.mark.parametrize("between", EXPECTED)
def test_a_table_passes_its_points(between, tmp_path):
    given = {"times": X, "values": Y, "between": between}
    np.testing.assert_allclose(signal({"table": given}, T), EXPECTED[between](T), atol=1e-13)
    assert breaks({"table": given}) == X
    (tmp_path / "run.csv").write_text(
        "# measured\n\ntime;a; force\n" + "\n".join(f"{x};7;{y}" for x, y in zip(X, Y, strict=True))
    )
    from_file = {"file": "run.csv", "time_column": "time", "column": "force", "between": between}
    shifted = from_file | {"start": 0.5, "scale": 2.0}
    np.testing.assert_allclose(signal({"table": from_file}, T, folder=tmp_path), EXPECTED[between](T), atol=1e-13)
    y = signal({"table": shifted}, T, folder=tmp_path)
    np.testing.assert_allclose(y, 2.0 * EXPECTED[between](T - 0.5), atol=1e-13)


def test_a_file_without_names_is_read_by_number(tmp_path):
    (tmp_path / "run.csv").write_text("0, 1, 2\n1, 3, 4\n")
    given = {"table": {"file": "run.csv", "column": 3}}
    assert float(signal(given, 0.5, folder=tmp_path)) == 3.0


FILES = {
    "0,1\n1,x\n": (r"run\.csv:2", "column 2"),
    "0,1\n1,2\n\n0.5,3\n": (r"run\.csv:4", "increase"),
    "0,1\n1\n": (r"run\.csv:2", "1 cells"),
    "0,1\n1,nan\n": (r"run\.csv:2", "nan"),
    "a,b\n0,1\n1,2\n": (r"run\.csv", "two points|increase"),
    "": (r"run\.csv", "without numbers"),
    "0,1\n": (r"run\.csv", "two points"),
}


@pytest.mark.parametrize("text", [t for t in FILES if not t.startswith("a")])
def test_a_wrong_file_is_named_with_its_line(text, tmp_path):
    (tmp_path / "run.csv").write_text(text)
    where, what = FILES[text]
    with pytest.raises(ModelError, match=f"(?s)({where}.*{what}|{what}.*{where})"):
        signal({"table": {"file": "run.csv"}}, T, folder=tmp_path)


def test_a_missing_file_or_column_is_named(tmp_path):
    with pytest.raises(ModelError, match=r"(?s)cannot be read.*gone\.csv"):
        signal({"table": {"file": "gone.csv"}}, T, folder=tmp_path)
    (tmp_path / "run.csv").write_text("time,force\n0,1\n1,2\n")
    with pytest.raises(ModelError, match=r"(?s)no column 'forse'.*run\.csv:1.*did you mean 'force'"):
        signal({"table": {"file": "run.csv", "column": "forse"}}, T, folder=tmp_path)
    (tmp_path / "run.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ModelError, match="cannot be read"):
        signal({"table": {"file": "run.csv"}}, T, folder=tmp_path)


# -- noise -------------------------------------------------------------------------------------------------------------


def lecuyer(seed, n):
    """The generator in whole numbers."""
    words = np.random.SeedSequence(seed).generate_state(2)
    s = [1 + int(words[0]) % 2147483562, 1 + int(words[1]) % 2147483398]
    for _ in range(n):
        s = [40014 * s[0] % 2147483563, 40692 * s[1] % 2147483399]
        z = s[0] - s[1]
        yield (z + 2147483562 if z < 1 else z) / 2147483563


@pytest.mark.parametrize("native", [False, True])
def test_noise_is_that_of_the_generator_in_whole_numbers(native):
    blocks = Blocks({"n": {"noise": {"period": 0.1, "seed": 7, "deviation": 2.0, "mean": 1.0}}}, native=native)
    y = blocks.run(5.0, 0.05)["n"]
    u = np.array(list(lecuyer(7, 102))).reshape(-1, 2)
    expected = 1.0 + 2.0 * np.sqrt(-2 * np.log(u[:, 0])) * np.cos(2 * np.pi * u[:, 1])
    np.testing.assert_allclose(y[::2], expected, rtol=1e-12)
    assert np.array_equal(y[1::2], y[:-1:2])  # held in between


def test_noise_has_its_mean_and_deviation_and_no_memory():
    for law in ("normal", "uniform"):
        y = Blocks({"n": {"noise": {"period": 1.0, "law": law}}}, native=True).run(4000.0, 1.0)["n"]
        assert abs(y.mean()) < 0.06
        assert abs(y.std() - 1.0) < 0.04
        assert abs(np.corrcoef(y[1:], y[:-1])[0, 1]) < 0.06
    other = Blocks({"n": {"noise": {"period": 1.0, "seed": 1}}}).run(20.0, 1.0)["n"]
    assert not np.allclose(other, Blocks({"n": {"noise": {"period": 1.0, "seed": 2}}}).run(20.0, 1.0)["n"])


def test_band_noise_keeps_to_its_band():
    fields = {"lowest": 2.0, "highest": 5.0, "deviation": 3.0, "count": 64, "seed": 5}
    t = np.arange(0, 400.0, 0.02)
    y = signal({"band_noise": fields}, t)
    assert np.array_equal(y, signal({"band_noise": fields}, t))
    power, f = np.abs(np.fft.rfft(y * np.hanning(len(y)))) ** 2, np.fft.rfftfreq(len(y), 0.02)
    assert power[(f > 1.95) & (f < 5.05)].sum() > 0.999 * power.sum()
    assert abs(y.std() - 3.0) < 0.1


# -- wrong -------------------------------------------------------------------------------------------------------------

WRONG = {
    "kind": ({"stepp": {}}, "no kind of block 'stepp'(.|\n)*did you mean 'step'"),
    "field": ({"step": {"tine": 1.0}}, "(?s)Extra inputs.*step.tine"),
    "number": ({"sine": {"amplitude": True}}, "expected a number or a formula"),
    "formula": ({"formula": {"value": "2*("}}, "is incomplete"),
    "name": ("2*speeed", "(?s)'speeed'.*blocks.y"),
    "ramp": ({"ramp": {"end": 1.0}}, "a ramp needs"),
    "duration": ({"ramp": {"end": 1.0, "duration": 0.0}}, "duration of a ramp is too small"),
    "frequency": ({"sweep": {"begin": 0.0, "end": 1.0, "duration": 1.0, "law": "logarithmic"}}, "first frequency"),
    "points": ({"spline": {"times": [0, 1], "values": [0, 1, 2]}}, "2 times and 3 values"),
    "order": ({"spline": {"times": [0, 0], "values": [0, 1]}}, "increase"),
    "both": ({"table": {"times": [0, 1], "values": [0, 1], "file": "x"}}, "give times and values, or a file"),
    "band": ({"band_noise": {"lowest": 3, "highest": 2}}, "lowest < highest"),
    "names": ({"point_to_point": {"begin": {"a": 0}, "end": {"b": 1}, "duration": 1}}, "same quantities"),
    "normal": ({"circle": {"centre": [0, 0, 0], "radius": 1, "normal": [0, 0, 0], "duration": 1}}, "zero length"),
    "first": ({"circle": {"centre": [0, 0, 0], "radius": 1, "first": [0, 0, 1], "duration": 1}}, "first point"),
    "time": ({"step": {"time": "t"}}, "must stay the same"),
    "two": ({"step": {}, "ramp": {}}, "exactly one kind"),
    "fields": ({"step": 3}, "fields by name"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_with_a_signal_is_said(case):
    given, message = WRONG[case]
    with pytest.raises(ModelError, match=message):
        signal(given, T)


def test_blocks_in_a_circle_are_an_algebraic_loop():
    with pytest.raises(ModelError, match=r"algebraic loop(.|\n)*b -> a -> b"):
        Blocks({"a": "b + 1", "b": "2*a"})


def test_an_output_that_no_block_has_is_named():
    with pytest.raises(ModelError, match="no block has an output 'b_speed'"):
        Blocks({"a": "b_speed", "b": {"lag": {"value": "a", "time": 1.0}}})
    with pytest.raises(ModelError, match=r"'a_speed', which is unknown(.|\n)*blocks\.b"):
        Blocks({"a": "2*t", "b": {"lag": {"value": "a_speed", "time": 1.0}}})


def test_a_new_kind_is_handed_in_with_the_table():
    class Twice(Block):
        kind = "twice"
        value: float

        def build(self, context, name):
            return 2.0 * context.value(self.value)

    table = KINDS | {"twice": Twice}
    context = Context(Workbench(Mechanism(name="m")))
    build_blocks(context, {"y": block_of({"twice": {"value": 4.0}}, table), "z": block_of({"twice": 3.0}, table)})
    assert float(context.parts().outputs["y"].value) == 8.0
