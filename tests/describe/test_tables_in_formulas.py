"""Tables inside formulas, of one and two variables, inline, by name and from files beside the model."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import torseur as ts
from torseur.describe import Formula
from torseur.describe.formula_words import Lookup
from torseur.describe.mechanism import LookupTable
from torseur.emit import compile
from torseur.errors import ModelError
from torseur.formats.yaml.reader import read_yaml
from torseur.formats.yaml.writer import write_yaml
from torseur.graph import Function, Graph, evaluate, gradient


# -- the language ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("x", [-3.0, -1.0, -0.4, 0.0, 0.3, 2.0, 7.0])
def test_a_table_of_one_variable_is_straight_between_points_and_holds_its_ends(x):
    f = Formula("1 + 2*table(x, [-1, 0, 30*deg, 2], [-5, 0, 1, 2*pi])")
    expected = np.interp(x, [-1, 0, np.pi / 6, 2], [-5, 0, 1, 2 * np.pi])
    assert f.value({"x": x}) == pytest.approx(1 + 2 * expected)
    assert f.names == {"x"}


@given(x=st.floats(-1, 4), y=st.floats(-2, 6))
def test_a_table_of_two_variables_is_bilinear(x, y):
    from scipy.interpolate import RegularGridInterpolator

    xs, ys, rows = [0, 1, 3], [-1, 2, 3, 5], [[0, 1, 4, 2], [3, -2, 0, 1], [5, 5, -1, 7]]
    f = Formula(f"table(a, b, {xs}, {ys}, {rows})")
    grid = RegularGridInterpolator((xs, ys), np.array(rows, dtype=float))
    expected = grid([[np.clip(x, 0, 3), np.clip(y, -1, 5)]])[0]
    assert f.value({"a": x, "b": y}) == pytest.approx(expected, abs=1e-12)


def test_tables_may_be_nested_and_their_arguments_are_any_formulas():
    f = Formula("table(table(x + 1, [0, 2], [0, 4])^2, min(x, 3), [0, 16], [0, 1], [[0, 1], [2, 3]])")
    assert f.value({"x": 0.5}) == pytest.approx(2 * 9 / 16 + 0.5)


def test_a_name_is_a_table_only_where_it_comes_last():
    f = Formula("table(curve, speed, curve)")
    assert f.names == {"curve", "speed"}
    assert f.tables == {("curve", 2)}
    assert Formula("table*2").value({"table": 3.0}) == 6.0  # a name like others


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("table(x, [0], [1])", "must increase"),
        ("table(x, [0, 0], [1, 2])", "must increase"),
        ("table(x, [0, 1], [1, 2, 3])", "do not fit"),
        ("table(x, y, [0, 1], [0, 1], [[1, 2]])", "do not fit"),
        ("table(x, y, z, [0, 1], [1, 2])", "one or two variables"),
        ("table([0, 1], [1, 2])", "without a variable"),
        ("table(x)", "is incomplete"),
        ("table(x, [0, a], [1, 2])", "holds numbers"),
        ("table(x, [0, 1/0], [1, 2])", "holds numbers"),
        ("table(x, [0, 1], [1, 2]", "is incomplete"),
        ("[0, 1]", "is incomplete"),
    ],
)
def test_a_table_that_is_none_is_told(text, what):
    with pytest.raises(ModelError, match=what):
        Formula(text)


def test_conditions_are_one_or_zero_where_numbers_are_asked_for():
    f = Formula("3*(x > 1) - (x > 2 and not x == 5) + -(x < 0)")
    assert [f.value({"x": x}) for x in (-1.0, 1.5, 3.0, 5.0)] == [-1.0, 3.0, 2.0, 3.0]
    assert Formula("x > 1").value({"x": 2.0}) == 1.0
    assert Formula("if((x > 1) == (y > 1), 5, 7)").value({"x": 0.0, "y": 0.0}) == 5.0
    with pytest.raises(ModelError, match="a comparison of a comparison"):
        Formula("0 < x < 1")
    with pytest.raises(ModelError, match="'and' joins conditions"):
        Formula("x and y > 1")


# -- in a model --------------------------------------------------------------------------------------------------------
MODEL = """
torseur: 1
name: cart
gravity: [0, 0, 0]
tables:
  damper: {x: [-1, 0, 2], values: [-30, 0, 20]}
  engine: {x: [0, 10], y: [0, 1], values: [[0, 5], [0, 3]], unit: N}
inputs: {throttle: }
bodies:
  cart: {joint: {kind: prismatic, coordinate: s}, inertia: {M: 2}}
loads:
  drive: {effort: {coordinate: s, value: "table(ds, throttle, engine) - table(ds, damper)"}}
"""


def test_forces_follow_the_tables_of_a_model():
    model = ts.build(read_yaml(MODEL))
    for v, throttle in ((0.0, 0.5), (1.0, 1.0), (-3.0, 0.2), (20.0, 2.0)):
        push = np.clip(throttle, 0, 1) * np.interp(v, [0, 10], [5, 3]) - np.interp(v, [-1, 0, 2], [-30, 0, 20])
        found = model.forward_dynamics([0.0], [v], [0.0], inputs={"throttle": throttle})
        np.testing.assert_allclose(found, [push / 2.0], rtol=1e-14, atol=1e-14)


def test_derivatives_know_the_slopes_of_tables():
    model = ts.build(read_yaml(MODEL))
    found = model.forward_dynamics_derivatives([0.0], [1.0], [0.0], inputs={"throttle": 0.5})
    assert found.dvdot_dv[0, 0] == pytest.approx((0.5 * (3 - 5) / 10 - 10.0) / 2.0)


def test_a_smooth_grid_is_the_bicubic_spline_with_its_slopes():
    from scipy.interpolate import CubicSpline

    xs, ys, rows = [0, 1, 2.5, 4], [-1, 0, 2], [[0, 1, 3], [2, -1, 0], [1, 1, 2], [0, 2, -2]]
    grid = LookupTable.model_validate({"x": xs, "y": ys, "values": rows, "between": "smooth", "outside": "extend"})
    g = Graph()
    u, v = g.symbol("u"), g.symbol("v")
    value = grid.lookup.at(u, v)
    slopes = gradient(value, [u, v])
    bent = [gradient(slope, [u, v])[k] for k, slope in enumerate(slopes)]
    made = Function("f", [g.blocks["u"], g.blocks["v"]], {"all": [value, *slopes, *bent]})
    for a, b in np.random.default_rng(3).uniform([0, -1], [4, 2], (20, 2)):

        def spline(dx, dy, a=a, b=b):
            along = CubicSpline(xs, rows, bc_type="natural")(a, dx)
            return CubicSpline(ys, along, bc_type="natural")(b, dy)

        wanted = [spline(*d) for d in ((0, 0), (1, 0), (0, 1), (2, 0), (0, 2))]
        np.testing.assert_allclose(evaluate(made, a, b)[0], wanted, rtol=1e-11, atol=1e-11)
        np.testing.assert_allclose(compile(made)(a, b), wanted, rtol=1e-11, atol=1e-11)


def test_a_run_with_a_damper_curve_comes_to_rest_at_its_own_pace():
    run = ts.simulate(read_yaml(MODEL), start={"ds": -0.5}, until=0.2, inputs={"throttle": 0})
    np.testing.assert_allclose(run["ds"], -0.5 * np.exp(-15.0 * run.time), rtol=1e-6)  # 30 N s/m on 2 kg


@pytest.mark.parametrize("between", ["linear", "monotone", "smooth"])
def test_tables_come_back_equal_from_yaml(between):
    mechanism = read_yaml(MODEL.replace("damper: {", f"damper: {{between: {between}, outside: extend, "))
    assert read_yaml(write_yaml(mechanism)) == mechanism


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("- table(ds, damper)", "- table(ds, dampr)", "no table 'dampr'"),
        ("- table(ds, damper)", "- table(ds, s, damper)", "table 'damper' with a wrong number of variables"),
        ("values: [-30, 0, 20]", "values: [-30, 0]", "do not fit its points"),
        ("x: [-1, 0, 2]", "x: [-1, 3, 2]", "must increase"),
        ("values: [[0, 5], [0, 3]]", "values: [0, 5]", "a list over y for each x"),
        ("{x: [-1, 0, 2], values: [-30, 0, 20]}", "{file: d.csv}", "which was not read"),
    ],
)
def test_faults_of_tables_are_told_with_their_place(old, new, what):
    with pytest.raises(ModelError, match=what) as told:
        read_yaml(MODEL.replace(old, new))
    assert "text:" in str(told.value)


# -- files -------------------------------------------------------------------------------------------------------------
@pytest.fixture
def folder(tmp_path):
    inside = tmp_path / "model"
    (inside / "data").mkdir(parents=True)
    text = MODEL.replace("{x: [-1, 0, 2], values: [-30, 0, 20]}", "{file: data/damper.csv, columns: [speed, force]}")
    text = text.replace(
        "{x: [0, 10], y: [0, 1], values: [[0, 5], [0, 3]], unit: N}", "{file: engine.csv, grid: true, unit: N}"
    )
    (inside / "cart.yaml").write_text(text)
    (inside / "data" / "damper.csv").write_text("# measured\nforce; t; speed\n-30;0;-1\n0;1;0\n20;2;2\n")
    (inside / "engine.csv").write_text("n, 0, 1\n0, 0, 5\n10, 0, 3\n")
    return inside


def test_files_beside_the_model_give_the_same_model(folder):
    assert ts.load(folder / "cart.yaml") == read_yaml(MODEL)


def test_a_study_finds_the_tables_of_its_model(folder):
    (folder / "run.yaml").write_text("torseur_study: 1\nmodel: cart.yaml\nuntil: 0.1\nstart: {ds: -0.5}\n")
    assert ts.simulate(folder / "run.yaml")["ds"][-1] == pytest.approx(-0.5 * np.exp(-1.5), rel=1e-6)
    inline = (folder / "cart.yaml").read_text().replace("torseur: 1\n", "").strip().replace("\n", "\n  ")
    (folder / "inline.yaml").write_text(f"torseur_study: 1\nuntil: 0.1\nmodel:\n  {inline}\n")
    assert ts.load_study(folder / "inline.yaml").model == read_yaml(MODEL)


@pytest.mark.parametrize("name", ["../outside.csv", "/etc/hostname", "data/../../outside.csv", "link.csv"])
def test_nothing_outside_the_folder_of_the_model_is_read(folder, name):
    (folder.parent / "outside.csv").write_text("0,0\n1,1\n")
    (folder / "link.csv").symlink_to(folder.parent / "outside.csv")
    text = (folder / "cart.yaml").read_text().replace("data/damper.csv, columns: [speed, force]", name)
    (folder / "cart.yaml").write_text(text)
    with pytest.raises(ModelError, match="from beside the model only") as told:
        ts.load(folder / "cart.yaml")
    assert "cart.yaml:6:" in str(told.value)


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", "a file without numbers"),
        (b"speed;force\n1;x\n", "not a number"),
        (b"a;b\n1;2\n3;4\n", "no column 'speed'"),
        (b"speed;force\n1;2\n0;4\n", "must increase"),
        (b"\xff\xfe\x00", "is not a text file"),
        (b"speed;force\n" + b"1;1\n" * 2_000_000, "too large"),
    ],
)
def test_what_is_wrong_with_a_file_is_told(folder, content, what):
    (folder / "data" / "damper.csv").write_bytes(content)
    with pytest.raises(ModelError, match=what):
        ts.load(folder / "cart.yaml")


def test_what_is_wrong_with_a_grid_is_told(folder):
    for content in ("n,0,1\n", "n,0,1\n0,1\n", "n,0,a\n0,1,2\n1,2,3\n"):
        (folder / "engine.csv").write_text(content)
        with pytest.raises(ModelError, match=r"engine\.csv"):
            ts.load(folder / "cart.yaml")


def test_a_missing_file_and_a_folder_are_told(folder):
    (folder / "engine.csv").unlink()
    with pytest.raises(ModelError, match="was not found"):
        ts.load(folder / "cart.yaml")
    (folder / "engine.csv").mkdir()
    with pytest.raises(ModelError, match="was not found"):
        ts.load(folder / "cart.yaml")


def test_tables_are_bounded():
    many = tuple(map(float, range(301)))
    with pytest.raises(ModelError, match="too many points"):
        Lookup((many, many), tuple(many for _ in many))
