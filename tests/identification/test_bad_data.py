"""Measurements that cannot be right are told by name."""

import numpy as np
import pytest

import torseur as ts
from torseur.errors import ArgumentError
from torseur.identification.identification import identify
from torseur.identification.measurements import Measurements, alike, read_measurements, unit_of

STEP = 0.002
TIME = np.arange(0.0, 16.0, STEP)


@pytest.fixture(scope="module")
def arm():
    return ts.build(ts.examples.load("planar_2r"))


@pytest.fixture(scope="module")
def columns(arm):
    """A motion of both joints with its torques, speeds, and a little noise."""
    q = np.stack([0.9 * np.sin(1.3 * TIME) + 0.5 * np.sin(2.9 * TIME), 0.8 * np.sin(2.1 * TIME)], axis=1)
    v = np.stack([1.17 * np.cos(1.3 * TIME) + 1.45 * np.cos(2.9 * TIME), 1.68 * np.cos(2.1 * TIME)], axis=1)
    a = np.stack([-1.521 * np.sin(1.3 * TIME) - 4.205 * np.sin(2.9 * TIME), -3.528 * np.sin(2.1 * TIME)], axis=1)
    tau = arm.inverse_dynamics(q, v, a) + 0.02 * np.random.default_rng(0).normal(size=q.shape)
    names = ("theta1", "theta2", "dtheta1", "dtheta2", "Gamma1", "Gamma2")
    return {"time": TIME} | dict(zip(names, np.hstack([q, v, tau]).T, strict=True))


def told(arm, columns, **options):
    with pytest.raises(ArgumentError) as caught:
        identify(arm, Measurements.of(columns), **options)
    return str(caught.value)


def without(columns, *names):
    return {n: x for n, x in columns.items() if n not in names}


def test_good_measurements_have_no_finding(arm, columns):
    assert identify(arm, Measurements.of(columns)).findings == ()


def test_exchanged_torques_are_named(arm, columns):
    wrong = columns | {"Gamma1": columns["Gamma2"], "Gamma2": columns["Gamma1"]}
    assert "swapped: Gamma1, Gamma2" in told(arm, wrong)


def test_exchanged_speeds_are_named(arm, columns):
    wrong = columns | {"dtheta1": columns["dtheta2"], "dtheta2": columns["dtheta1"]}
    assert "swapped: dtheta1, dtheta2" in told(arm, wrong)


@pytest.mark.parametrize(
    ("name", "factor", "words"),
    [
        ("Gamma2", 1e3, "thousandths"),
        ("Gamma1", 1e-3, "thousands"),
        ("Gamma1", -1.0, "the opposite sign"),
        ("dtheta2", 180 / np.pi, "degrees for radians"),
        ("dtheta1", 60 / (2 * np.pi), "rev/min"),
    ],
)
def test_a_wrong_unit_is_named(arm, columns, name, factor, words):
    text = told(arm, columns | {name: factor * columns[name]})
    assert f"wrong unit: {name}:" in text
    assert words in text


def test_all_angles_in_degrees_are_named(arm, columns):
    wrong = columns | {n: columns[n] * 180 / np.pi for n in ("theta1", "theta2")}
    assert "radians for degrees" in told(arm, wrong)


def test_a_unit_of_something_else_is_named(arm, columns):
    wrong = without(columns, "theta1") | {"theta1 [N m]": columns["theta1"]}
    assert "unit: theta1: is in N m, where rad is measured" in told(arm, wrong)


def test_a_unit_in_the_head_is_converted(arm, columns):
    degrees = without(columns, "theta1", "Gamma1") | {
        "theta1 [deg]": np.degrees(columns["theta1"]),
        "Gamma1 [kN mm]": columns["Gamma1"],
    }
    one, other = (identify(arm, Measurements.of(x)) for x in (columns, degrees))
    assert np.allclose(one.estimate.values, other.estimate.values, rtol=1e-9)


def test_time_that_goes_back_is_named(arm, columns):
    time = TIME.copy()
    time[100] = time[98]
    assert "does not increase at sample 101" in told(arm, columns | {"time": time}, checks="tell")


def test_a_gap_splits_the_motion_and_is_named(arm, columns):
    keep = (TIME < 6.0) | (TIME > 6.5)
    found = identify(arm, Measurements.of({n: x[keep] for n, x in columns.items()}))
    assert len(found.motions) == 2
    assert "no samples from 5.998 to 6.502 s" in str(next(f for f in found.findings if f.kind == "gap"))
    assert abs(found.values["ZZ2"] - 0.43) < 4 * found.deviations["ZZ2"]


def test_cells_without_a_number_are_a_gap(arm, columns):
    holes = columns["Gamma1"].copy()
    holes[4000:4005] = np.nan
    found = identify(arm, Measurements.of(columns | {"Gamma1": holes}))
    assert len(found.motions) == 2
    assert "has no value at 5 of 8000 instants" in "; ".join(map(str, found.findings))


def test_an_outlier_is_told_and_said_to_stay(arm, columns):
    spoilt = columns["Gamma2"].copy()
    spoilt[3000] += 300.0
    found = identify(arm, Measurements.of(columns | {"Gamma2": spoilt}))
    [finding] = found.findings
    assert finding.kind == "outlier"
    assert "1 instants, the first is 3001; they are not taken out: make such cells empty" in finding.what
    spoilt[3000] = np.nan
    assert "outlier" not in {f.kind for f in identify(arm, Measurements.of(columns | {"Gamma2": spoilt})).findings}


def test_an_angle_that_jumps_by_a_turn_goes_on(arm, columns):
    wrapped = np.mod(columns["theta1"], 2 * np.pi)
    found = identify(arm, Measurements.of(columns | {"theta1": wrapped}))
    assert [(f.kind, f.columns) for f in found.findings] == [("wrapped", ("theta1",))]
    assert np.allclose(found.estimate.values, identify(arm, Measurements.of(columns)).estimate.values, rtol=1e-9)


def test_samples_between_gaps_that_are_near_each_other_are_said_to_be_left_out(arm, columns):
    keep = ((TIME < 6.0) | (TIME > 6.5)) | ((TIME > 6.2) & (TIME < 6.26))
    found = identify(arm, Measurements.of({n: x[keep] for n, x in columns.items()}))
    said = [f.what for f in found.findings]
    assert any("29 samples lie in stretches of less than 50" in what for what in said)


def test_uneven_steps_are_refused_unless_they_are_told(arm, columns):
    time = TIME + 4e-4 * np.sin(7.0 * np.arange(len(TIME)))
    keep = (TIME < 6.0) | (TIME > 6.5)
    for rows in (slice(None), keep):
        uneven = {n: x[rows] for n, x in (columns | {"time": time}).items()}
        assert "uneven: time: steps are uneven" in told(arm, uneven)
        assert identify(arm, Measurements.of(uneven), checks="tell").estimate.count > 100


def test_measurements_that_validate_are_checked_too(arm, columns):
    found = identify(arm, Measurements.of(columns))
    with pytest.raises(ArgumentError, match="is in N m, where rad is measured"):
        found.validate(Measurements.of(without(columns, "theta1") | {"theta1 [N m]": columns["theta1"]}))


def test_time_in_a_unit_of_something_else_is_refused(columns):
    with pytest.raises(ArgumentError, match="time is in a unit of something else"):
        Measurements.of(without(columns, "time") | {"time [m]": TIME})


def test_a_column_can_be_taken_away(columns):
    data = Measurements.of(columns)
    assert set(data.columns) - set(data.with_columns({"Gamma1": None}).columns) == {"Gamma1"}


def test_saturation_is_named_and_left_out(arm, columns):
    limit = 0.8 * columns["Gamma1"].max()
    cut = np.minimum(columns["Gamma1"], limit)
    found = identify(arm, Measurements.of(columns | {"Gamma1": cut}))
    [finding] = [f for f in found.findings if f.kind == "saturation"]
    assert finding.columns == ("Gamma1",)
    assert not all(b.used.all() for b in found.blocks)
    assert abs(found.values["MXR1"] - 3.25) < 4 * found.deviations["MXR1"]


def test_a_dead_channel_is_refused(arm, columns):
    renamed = without(columns, "Gamma1") | {"tau_theta1": 0 * TIME}
    assert "constant: tau_theta1: is 0 all the time: the channel is dead" in told(arm, renamed)


def test_a_joint_that_does_not_move_is_told_with_what_stays_unknown(arm, columns):
    q, v = np.array([0 * TIME, columns["theta2"]]).T, np.array([0 * TIME, columns["dtheta2"]]).T
    a = np.array([0 * TIME, -3.528 * np.sin(2.1 * TIME)]).T
    tau = arm.inverse_dynamics(q, v, a)
    data = {"time": TIME, "theta1": q[:, 0], "theta2": q[:, 1], "Gamma1": tau[:, 0], "Gamma2": tau[:, 1]}
    found = identify(arm, Measurements.of(data))
    assert "constant: theta1: never moves" in "; ".join(map(str, found.findings))
    assert "ZZR1" in found.undetermined
    assert "ZZ2" not in found.undetermined


def test_a_missing_coordinate_is_named(arm, columns):
    assert "coordinates theta2" in told(arm, without(columns, "theta2", "dtheta2"))


def test_names_that_are_all_wrong_are_told_with_those_that_are_wanted(arm, columns):
    assert "coordinates theta1, theta2; efforts" in told(arm, {"time": TIME, "q1": columns["theta1"]})


def test_missing_efforts_are_named(arm, columns):
    assert "efforts (Gamma1, Gamma2, tau_theta1" in told(arm, without(columns, "Gamma1", "Gamma2"))


def test_several_faults_are_told_at_once(arm, columns):
    wrong = without(columns, "theta1") | {
        "theta1 [N m]": columns["theta1"],
        "dtheta2": 57.29577951 * columns["dtheta2"],
    }
    text = told(arm, wrong)
    assert "2 faults" in text
    assert "theta1" in text
    assert "dtheta2" in text


# -- files -------------------------------------------------------------------------------------------------------------
def test_a_file_gives_back_what_was_written(columns, tmp_path):
    data = Measurements.of({f"{n} [deg]" if n.startswith("theta") else n: x for n, x in columns.items()})
    file = tmp_path / "data.csv"
    file.write_text(data.csv())
    again = read_measurements(file)
    assert all(np.array_equal(again.columns[n], data.columns[n]) for n in data.columns)


def test_semicolons_decimal_commas_and_a_line_of_units(tmp_path):
    file = tmp_path / "data.csv"
    file.write_text("temps;q1;tau\ns;deg;N m\n0,0;90;1,5\n0,1;180;\n0,2;270;2,5\n")
    data = read_measurements(file)
    assert np.allclose(data.columns["q1"], np.pi * np.array([0.5, 1.0, 1.5]))
    assert data.columns["tau"][0] == 1.5
    assert np.isnan(data.columns["tau"][1])


def test_lines_that_are_no_numbers_are_named(tmp_path):
    file = tmp_path / "data.csv"
    file.write_text("time,q1\n0,1\n1,two\n2,3,4\n3,4\n")
    with pytest.raises(ArgumentError, match=r"line 3, q1: 'two' is not a number; line 4: 3 cells"):
        read_measurements(file)


@pytest.mark.parametrize(("a", "b"), [("deg/s", "rpm"), ("N m", "kg m2/s2"), ("N m s/rad", "N m s"), ("mm", "in")])
def test_units_that_measure_the_same(a, b):
    assert alike(unit_of(a), unit_of(b))


@pytest.mark.parametrize(("a", "b"), [("deg", "m"), ("N", "N m"), ("rad", "rad/s"), ("rad", "1")])
def test_units_that_measure_something_else(a, b):
    assert not alike(unit_of(a), unit_of(b))
