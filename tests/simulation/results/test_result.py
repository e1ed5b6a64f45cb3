"""Runs: labelled, frozen, the same after a file as before."""

import dataclasses
import math
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from support import processes
from support.sweeps import mostly_slow
from torseur.describe import Effort, Mechanism
from torseur.errors import ArgumentError
from torseur.simulation.results.channels import Audit, Channel, Event, Role
from torseur.simulation.results.comparison import compare
from torseur.simulation.results.result import ENDINGS, Run, open_run

ARM = Mechanism(
    name="arm",
    parameters={"l": {"value": 0.7}},
    bodies={
        "upper": {"joint": {"kind": "revolute", "coordinate": "q1"}, "inertia": {"mass": 1.0, "centre": ("l", 0, 0)}},
        "lower": {"parent": "upper", "place": {"mdh": {"d": "l"}}, "joint": {"kind": "prismatic", "coordinate": "q2"}},
    },
    loads={"motor": Effort(coordinate="q1", value="drive")},
    inputs={"drive": {"unit": "N m", "description": "torque on q1"}},
)
TIME = np.array([0.0, 0.1, 0.25, 0.25, 1.0 / 3.0, 1.0])


def full_run(time=TIME, seed=0) -> Run:
    """A run with everything in it that a run may have."""
    rng = np.random.default_rng(seed)
    nt = len(time)
    shaky = rng.standard_normal(nt) * 10.0 ** rng.integers(-300, 300, nt)
    shaky[:3] = math.nan, math.inf, -0.0
    return Run.from_arrays(
        ARM,
        time,
        *rng.standard_normal((3, nt, 2)),
        inputs=rng.standard_normal((nt, 1)),
        channels=[
            Channel("wrench", "N", "force at the tip, in the world's axes", rng.standard_normal((nt, 3))),
            Channel("J", "m", "a matrix", rng.standard_normal((nt, 2, 3))),
            Channel("one", "", "a vector of one", rng.standard_normal((nt, 1))),
            Channel("shaky", "1/s", 'with "quotes", commas;\nlines # and é', shaky, Role.STATE),
            Channel("kinetic_energy", "J", "kinetic energy", rng.random(nt), Role.ENERGY),
        ],
        parameters={"l": 0.1 + 0.2},
        events=(Event(0.25, "q1", "upper stop"), Event(0.3, "motor", "current limit")),
        info={"study": "fall", "steps": 12, "solver": {"name": "dopri5", "rtol": 1e-7}, "versions": [1, None, True]},
        complete=False,
        reason="step underflow at 1 s",
        audited=Audit(
            "energy balance fails: 3e-3 J at 0.25 s",
            False,
            (Channel("energy", "J", "error of the energy balance", rng.standard_normal(nt), Role.AUDIT),),
            ({"balance": "energy", "largest": 3e-3, "holds": False},),
        ),
    )


def assert_channels_equal(a, b):
    for x, y in zip(a, b, strict=True):
        assert (x.name, x.unit, x.meaning, x.role) == (y.name, y.unit, y.meaning, y.role)
        assert x.values.shape == y.values.shape
        assert x.values.tobytes() == y.values.tobytes()  # the same bits: signed zeros and nan included


def assert_same(a: Run, b: Run) -> None:
    assert_channels_equal(a.channels.values(), b.channels.values())
    assert a.time.tobytes() == b.time.tobytes()
    assert (a.mechanism, a.events, a.info, a.parameters) == (b.mechanism, b.events, b.info, b.parameters)
    assert (a.complete, a.reason) == (b.complete, b.reason)
    assert (a.audited is None) == (b.audited is None)
    if a.audited is not None:
        assert (a.audited.verdict, a.audited.holds, a.audited.table) == (
            b.audited.verdict,
            b.audited.holds,
            b.audited.table,
        )
        assert_channels_equal(a.audited.channels, b.audited.channels)


# -- files ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_run_reopened_is_the_run_that_was_saved(tmp_path, ending):
    run = full_run()
    run.save(tmp_path / f"run{ending}")
    assert_same(open_run(tmp_path / f"run{ending}"), run)


@given(hnp.arrays(np.float64, st.integers(1, 5), elements=st.floats()))
def test_text_keeps_every_bit_of_every_number(tmp_path_factory, values):
    run = Run(None, np.arange(float(len(values))), {"x": Channel("x", "", "", values)})
    file = tmp_path_factory.mktemp("text") / "run.csv"
    run.save(file)
    found = open_run(file)["x"]
    is_nan = np.isnan(values)  # a nan is a nan, whatever its bits
    assert (np.isnan(found) == is_nan).all()
    assert found[~is_nan].tobytes() == values[~is_nan].tobytes()


def test_pandas_reads_the_text_without_help(tmp_path):
    pandas = pytest.importorskip("pandas")
    run = full_run()
    run.save(tmp_path / "run.csv")
    frame = pandas.read_csv(tmp_path / "run.csv", comment="#")
    assert list(frame.columns[:4]) == ["time", "q1", "q2", "dq1"]
    np.testing.assert_allclose(frame["wrench[2]"], run["wrench"][:, 2], rtol=1e-15)


def test_comment_lines_give_the_unit_and_meaning_of_every_column(tmp_path):
    run = full_run()
    run.save(tmp_path / "run.csv")
    text = (tmp_path / "run.csv").read_text(encoding="utf-8")
    assert "\n# 1: time [s]\n# 2: q1 [rad] " in text
    assert "\n# 9: wrench[0] [N] force at the tip, in the world's axes\n" in text


def test_easydyn_columns_are_time_then_coordinate_rate_and_second_derivative(tmp_path):
    run = full_run()
    run.save(tmp_path / "run.res")
    table = np.genfromtxt(tmp_path / "run.res")
    motion = [run.time, *(run[f"{d}{q}"] for q in ("q1", "q2") for d in ("", "d", "dd"))]
    np.testing.assert_array_equal(table[:, :7], np.stack(motion, axis=1))


@pytest.mark.parametrize("header", ["", "# time q0 qd0 qdd0\n", "time q0 qd0 qdd0\n"])
def test_a_file_of_easydyn_itself_can_be_opened(tmp_path, header):
    (tmp_path / "old.res").write_text(f"{header}0 0.1 0 -9.81\n 1e-2  0.0995 -0.0981 -9.81\n")
    run = open_run(tmp_path / "old.res")
    assert next(iter(run.channels)) == "q0"
    assert run["q0"].tolist() == [0.1, 0.0995]
    assert run.time.tolist() == [0.0, 0.01]


def test_a_table_of_measurements_can_be_opened(tmp_path):
    (tmp_path / "test.csv").write_text("t (s),knee angle [deg],load\n0,1,2\n1,3,4\n")
    run = open_run(tmp_path / "test.csv")
    assert run.channels["knee_angle"].unit == "deg"
    assert run["load"].tolist() == [2.0, 4.0]


def test_easydyn_cannot_hold_speeds_that_are_not_rates():
    floating = Mechanism(name="free", base="floating")
    run = Run.from_arrays(floating, [0.0], np.zeros((1, 7)), np.zeros((1, 6)), np.zeros((1, 6)))
    with pytest.raises(ArgumentError, match=r"no channels dx, ddx"):
        run.save("free.res")


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path, ending, monkeypatch):
    file = tmp_path / f"run{ending}"
    full_run(seed=1).save(file)
    before = file.read_bytes()

    def broken(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", broken)
    with pytest.raises(ArgumentError, match="No space left"):
        full_run(seed=2).save(file)
    assert file.read_bytes() == before
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.skipif(sys.platform == "win32", reason="limits of POSIX")
@pytest.mark.parametrize("ending", mostly_slow(ENDINGS, quick=(".nc", ".csv")))
def test_a_disk_that_is_full_is_an_error_in_words_and_nothing_else(tmp_path, ending):
    code = """
        import resource, sys
        from torseur.errors import ArgumentError
        from torseur.simulation.results.result import open_run

        run = open_run(sys.argv[1])
        run.save(sys.argv[1])  # what is imported on the way writes files of its own
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
        for _ in range(3):
            try:
                run.save(sys.argv[1])
            except ArgumentError as error:
                print(error.what)
        """
    file = tmp_path / f"run{ending}"
    full_run(np.linspace(0.0, 1.0, 4000)).save(file)
    assert processes.run(code, str(file)).splitlines() == ["the file cannot be written"] * 3
    assert list(tmp_path.iterdir()) == [file]
    assert len(open_run(file)) == 4000


def test_a_mechanism_too_large_for_an_attribute_fits_in_netcdf(tmp_path):
    large = Mechanism(name="large", parameters={f"parameter_{k}": {"value": k / 7} for k in range(5000)})
    run = Run.from_arrays(large, [0.0, 1.0], np.zeros((2, 0)), np.zeros((2, 0)))
    run.save(tmp_path / "large.nc")
    assert open_run(tmp_path / "large.nc").mechanism == large


def test_units_reach_xarray_and_pandas():
    run = full_run()
    data = run.to_xarray()
    assert data["q2"].attrs["units"] == "m"
    assert data["J"].dims == ("time", "J_0", "J_1")
    frame = run.to_pandas()
    assert frame.attrs["units"]["dq2"] == "m/s"
    np.testing.assert_array_equal(frame["J[1][2]"], run["J"][:, 1, 2])


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("run.txt", "", "not read in this format"),
        ("run.csv", "", "no numbers"),
        ("run.csv", "time,a\n0,1\n1,x\n", "not a row of numbers"),
        ("run.csv", "time,a\n0,1\n1\n", "not a row of numbers"),
        ("run.csv", "time,a,a\n0,1,2\n", "two columns have the same name"),
        ("run.csv", '# labels: {"torseur_run": 99}\ntime,a\n0,1\n', "another version"),
        ("run.csv", '# labels: {"torseur_run": 1}\ntime,a\n0,1\n', "damaged"),
        ("run.csv", "# labels: {\ntime,a\n0,1\n", "damaged"),
        ("run.nc", "not a netCDF file", "this is not a netCDF file"),
        ("run.parquet", "not a Parquet file", "this is not a Parquet file"),
    ],
)
def test_a_file_that_is_no_run_is_refused_in_words(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(ArgumentError, match=message) as caught:
        open_run(tmp_path / name)
    assert name in caught.value.where


def test_a_parquet_file_is_a_plain_table_with_units(tmp_path):
    pandas = pytest.importorskip("pandas")
    parquet = pytest.importorskip("pyarrow.parquet")
    run = full_run()
    run.save(tmp_path / "run.parquet")
    frame = pandas.read_parquet(tmp_path / "run.parquet")
    np.testing.assert_array_equal(frame["time"], run.time)
    np.testing.assert_array_equal(frame["q2"], run["q2"])
    assert (
        parquet.read_schema(tmp_path / "run.parquet").field("dq1").metadata[b"unit"]
        == run.channels["dq1"].unit.encode()
    )
    parquet.write_table(
        parquet.read_table(tmp_path / "run.parquet").replace_schema_metadata(None), tmp_path / "b.parquet"
    )
    with pytest.raises(ArgumentError, match="not a run"):
        open_run(tmp_path / "b.parquet")


# -- what is in it ----------------------------------------------------------------------------------------------------


def test_columns_are_named_in_the_order_of_the_mechanism():
    run = full_run()
    assert list(run.channels)[:7] == ["q1", "q2", "dq1", "dq2", "ddq1", "ddq2", "drive"]
    np.testing.assert_array_equal(run.q, np.stack([run["q1"], run["q2"]], axis=1))
    np.testing.assert_array_equal(run.v[:, 1], run["dq2"])
    assert [run.channels[n].unit for n in ("q1", "dq1", "ddq1", "ddq2")] == ["rad", "rad/s", "rad/s2", "m/s2"]


def test_nothing_in_a_run_can_be_changed():
    q = np.zeros((2, 2))
    run = Run.from_arrays(ARM, [0.0, 1.0], q, np.zeros((2, 2)))
    q[:] = 7.0
    assert not run.q.any()
    for array in (run.time, run["q1"], run.q, run.channels["dq1"].values):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0
    with pytest.raises(TypeError):
        run.channels["new"] = run.channels["q1"]
    with pytest.raises(dataclasses.FrozenInstanceError):
        run.time = q


def test_a_wrong_name_is_answered_with_a_near_one():
    with pytest.raises(ArgumentError, match="kinetic_energy"):
        full_run()["kinetik_energy"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"time": [0.0, 0.2, 0.1]}, "not the times of a run"),
        ({"time": [0.0, math.nan, 1.0]}, "not the times of a run"),
        ({"time": []}, "not the times of a run"),
        ({"q": np.zeros((3, 1))}, r"expected: \(nt, 2\)"),
        ({"q": np.zeros((4, 2))}, "a value for every time"),
        ({"channels": [Channel("q1", "", "", np.zeros(3))]}, "the same name"),
        ({"info": {"solver": object()}}, "plain data"),
    ],
)
def test_what_does_not_fit_is_refused(change, message):
    given = {"time": [0.0, 0.1, 0.2], "q": np.zeros((3, 2)), "v": np.zeros((3, 2))} | change
    with pytest.raises(ArgumentError, match=message):
        Run.from_arrays(ARM, **given)


@pytest.mark.parametrize("name", ["", "time", "a b", "a,b", "a/b", "#a", "1a"])
def test_a_name_that_no_file_could_hold_is_refused(name):
    with pytest.raises(ArgumentError, match="cannot have this name"):
        Channel(name, "", "", np.zeros(1))


def test_acceleration_of_a_floating_base_is_named_after_its_speed():
    run = Run.from_arrays(Mechanism(name="free", base="floating"), [0.0], *(np.ones((1, n)) for n in (7, 6, 6)))
    assert run.channels["dvx"].unit == "m/s2"
    assert run.channels["dwz"].unit == "rad/s2"


# -- in between -------------------------------------------------------------------------------------------------------


def cubic_run(times) -> Run:
    """q1 = t^3 - t, q2 = t, with their rates; an output t^2."""
    t = np.asarray(times)
    q, v = np.stack([t**3 - t, t], axis=1), np.stack([3 * t**2 - 1, np.ones_like(t)], axis=1)
    return Run.from_arrays(ARM, t, q, v, channels=[Channel("square", "", "", t**2)])


def test_a_cubic_motion_is_interpolated_exactly():
    run, t = cubic_run([0.0, 0.4, 1.0]), np.linspace(0.0, 1.0, 23)
    found = run.at(t)
    np.testing.assert_allclose(found["q1"], t**3 - t, atol=1e-15)
    assert abs(found["square"] - t**2).max() > 0.01  # nothing is known of its rate: straight lines


@pytest.mark.parametrize("k", range(len(TIME)))
def test_on_an_instant_the_record_itself_is_given(k):
    run = full_run()
    last = np.flatnonzero(TIME[k] == TIME)[-1]
    for name, values in run.at(TIME[k]).items():
        np.testing.assert_array_equal(values, run[name][last])


def test_outside_the_run_there_is_no_value():
    with pytest.raises(ArgumentError, match=r"got: 1\.01 to 1\.01 s"):
        full_run().at(1.01)


def test_a_resampled_run_has_the_values_between():
    run = full_run().resampled([0.2, 0.3])
    assert run["J"].shape == (2, 2, 3)
    assert run.audited is None


# -- two runs ---------------------------------------------------------------------------------------------------------


def test_a_run_agrees_with_itself_to_the_last_bit():
    comparison = compare(full_run(), full_run())
    assert comparison.within(0.0)
    assert [d.name for d in comparison.differences] == list(full_run().channels)


def test_runs_on_different_instants_are_compared_on_both():
    a, b = cubic_run(np.linspace(0.0, 1.0, 11)), cubic_run(np.linspace(0.2, 1.2, 7))
    comparison = compare(a, b)
    assert (comparison.start, comparison.end) == (0.2, 1.0)
    assert comparison["q1"].largest < 1e-15


def test_the_largest_difference_and_its_time_are_found():
    t = np.linspace(0.0, 2.0, 201)
    a = Run(None, t, {"x": Channel("x", "m", "", np.zeros_like(t)), "only": Channel("only", "", "", t)})
    b = Run(None, t, {"x": Channel("x", "m", "", np.exp(-((t - 0.7) ** 2) / 0.01))})
    found = compare(a, b)
    assert (found["x"].largest, found["x"].time) == (1.0, pytest.approx(0.7))
    assert found["x"].rms == pytest.approx(math.sqrt(0.1 * math.sqrt(math.pi / 2) / 2), rel=1e-6)
    assert found.only_first == ("only",)
    assert "only in the first: only" in str(found)


def test_a_value_lost_in_one_run_is_an_unbounded_difference():
    t = np.array([0.0, 1.0])
    a, b = (Run(None, t, {"x": Channel("x", "", "", [0.0, end])}) for end in (1.0, math.nan))
    assert compare(a, b)["x"].largest == math.inf


def test_different_units_are_not_compared():
    t = np.array([0.0, 1.0])
    a, b = (Run(None, t, {"x": Channel("x", unit, "", t)}) for unit in ("rad", "deg"))
    assert compare(a, b).unlike == ("x",)


def test_runs_without_common_time_cannot_be_compared():
    with pytest.raises(ArgumentError, match="no time in common"):
        compare(cubic_run([0.0, 1.0]), cubic_run([2.0, 3.0]))
