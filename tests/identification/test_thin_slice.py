"""From a simulation to a noisy file, from there to estimates, and from these to a study that runs."""

import numpy as np
import pytest
import yaml

import torseur as ts
from torseur.cli import main
from torseur.identification.assessment import is_physical, physical_parameters
from torseur.identification.described import identified_mechanism
from torseur.identification.identification import identify
from torseur.identification.measurements import Measurements

DEGREE = np.pi / 180.0


TORQUES = {
    "Gamma1": "60*(0.9*sin(1.3*t) + 0.5*sin(2.9*t) - 0.4 - theta1) - 12*dtheta1 + 30",
    "Gamma2": "30*(0.8*sin(2.1*t) + 0.5*cos(3.7*t) - theta2) - 5*dtheta2",
}
START = {"theta1": -0.4, "theta2": 0.5}


@pytest.fixture(scope="module")
def run():
    """The planar arm follows sines, loosely."""
    arm = ts.load(ts.examples.path("planar_2r"))
    return ts.simulate(arm, until=16.0, every=0.002, inputs=TORQUES, start=START, solver="rk4")


def noisy(run, seed=0):
    rng = np.random.default_rng(seed)
    data = {"time [s]": run.time}
    for name in ("theta1", "theta2"):
        data[f"{name} [deg]"] = (run[name] + 0.01 * DEGREE * rng.normal(size=len(run))) / DEGREE
    for name in ("Gamma1", "Gamma2"):
        data[f"{name} [N m]"] = run[name] + 0.01 * np.abs(run[name]).max() * rng.normal(size=len(run))
    return Measurements.of(data)


def test_a_noisy_simulation_gives_its_parameters_back(run):
    found = identify(run.mechanism, noisy(run))
    off = (found.estimate.values - found.unknowns.start) / found.estimate.deviations
    assert np.abs(off).max() < 4.0
    assert found.deviations["ZZ2"] < 0.02 * found.values["ZZ2"]
    assert found.estimate.count > 100


def test_the_command_line_writes_a_study_that_runs(run, tmp_path, capsys):
    file, other, folder = tmp_path / "data.csv", tmp_path / "other.csv", tmp_path / "found"
    file.write_text(noisy(run).csv())
    other.write_text(noisy(run, 1).csv())
    model = str(ts.examples.path("planar_2r"))
    code = main(["identify", model, str(file), "-o", str(folder), "--validate", str(other), "--language", "fr"])
    assert code == 0, capsys.readouterr().err
    values = yaml.safe_load((folder / "parameters.yaml").read_text())["parameters"]
    assert values["m1"] == pytest.approx(4.0, rel=0.05)
    assert values["m2"] == pytest.approx(2.5, rel=0.05)
    study = ts.load_study(folder / "study.yaml")
    assert study.parameters["m2"] == values["m2"]
    assert ts.simulate(study, until=0.1).complete
    assert "Validation croisée" in (folder / "report.html").read_text(encoding="utf-8")
    assert {f.stem for f in (folder / "figures").iterdir()} == {"prediction", "residuals", "estimates", "validation"}
    assert "ZZR1" in capsys.readouterr().out


def test_physical_parameters_belong_to_bodies_and_stay_near_the_free_ones(run):
    found = identify(run.mechanism, noisy(run))
    physical = physical_parameters(found)
    assert physical.converged
    assert physical.worse < 1.0
    for k in (1, 2):
        ten = [physical.standard[f"{s}{k}"] for s in ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "MX", "MY", "MZ", "M")]
        assert is_physical(np.array(ten))
    again = ts.build(identified_mechanism(found, physical)).function("base_parameters")()
    assert np.allclose(again, list(physical.base.values()), rtol=1e-9, atol=1e-9)


def test_a_wrong_model_is_not_validated(run):
    """An arm that lost half of its second link is not predicted by what was found of the first one."""
    found = identify(run.mechanism, noisy(run))
    lost = {"m2": 2.0}
    light = ts.simulate(
        run.mechanism, until=6.0, every=0.002, inputs=TORQUES, start=START, parameters=lost, solver="rk4"
    )
    assert found.validate(noisy(run, 2)).holds
    assert not found.validate(noisy(light)).holds
