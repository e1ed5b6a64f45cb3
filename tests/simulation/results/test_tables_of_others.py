"""Runs as tables of pandas, polars and xarray, and theirs as signals and variants."""

import numpy as np
import pytest

import torseur as ts

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
xarray = pytest.importorskip("xarray")

ARM = ts.examples.load("planar_2r")
TIMES, PUSH = [0.0, 0.4, 1.0], [0.0, 3.0, -2.0]
SIGNALS = {
    "pandas": pandas.Series(PUSH, index=TIMES),
    "polars": polars.DataFrame({"t": TIMES, "push": PUSH}),
    "xarray": xarray.DataArray(PUSH, {"t": TIMES}, ("t",)),
    "durations of pandas": pandas.Series(PUSH, index=pandas.to_timedelta(TIMES, unit="s")),
    "durations of polars": polars.DataFrame({"t": np.array(TIMES) * np.timedelta64(10**6, "us"), "push": PUSH}),
    "durations of xarray": xarray.DataArray(PUSH, {"t": np.array(TIMES) * np.timedelta64(10**9, "ns")}, ("t",)),
    "objects": pandas.Series(PUSH, index=TIMES, dtype=object),
}


def moved(push):
    return ts.simulate(ARM, until=1.0, inputs={"Gamma1": push})


def test_a_run_is_a_table_of_polars():
    run = moved(2.0)
    table = run.to_polars()
    assert table.columns == ["time", *run.to_pandas().columns]
    assert np.array_equal(table["time"].to_numpy(), run.time)
    assert np.array_equal(table["theta2"].to_numpy(), run["theta2"])


@pytest.mark.parametrize("kind", SIGNALS)
def test_a_series_over_time_is_a_signal(kind):
    expected = moved({"table": {"times": TIMES, "values": PUSH}})
    assert np.array_equal(moved(SIGNALS[kind])["theta1"], expected["theta1"])


WRONG = {
    "three columns": polars.DataFrame({"t": TIMES, "a": PUSH, "b": PUSH}),
    "two dimensions": xarray.DataArray(np.zeros((2, 2)), {"t": [0.0, 1.0]}, ("t", "k")),
    "no times": xarray.DataArray(PUSH, dims=("t",)),
    "dates": pandas.Series(PUSH, index=pandas.date_range("2026-01-01", periods=3)),
    "words": pandas.Series(["a", "b", "c"], index=TIMES),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_no_signal_is_refused(wrong):
    with pytest.raises(ts.ModelError, match=r"^a signal is"):
        moved(WRONG[wrong])


@pytest.mark.parametrize("table", [pandas.DataFrame, polars.DataFrame])
def test_a_table_gives_the_starts_of_many_runs(table):
    starts = {"theta1": [0.1, 0.2, 0.3], "dtheta2": [0.0, 1.0, 2.0]}
    how = {"until": 0.2, "every": 0.1, "solver": "rk4"}
    many = ts.simulate_many(ARM, starts=table(starts), **how)
    assert np.array_equal(many.states, ts.simulate_many(ARM, starts=starts, **how).states)
