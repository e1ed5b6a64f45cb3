"""FMUs of studies: valid by FMPy's checks, and simulated by it to the motions of the native runs."""

import io
import shutil
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from support.c_programs import HOSTILE
from support.exported_studies import ball, pendulum, rk4
from torseur.cli import main
from torseur.errors import ModelError
from torseur.export import StudyParts, fmu_of
from torseur.simulation.run.simulate import study_of
from torseur.simulation.run.simulation import Simulation
from torseur.simulation.study.reader import read_study
from torseur.simulation.study.study import Study

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def made(study, version, kind, folder=None, **options):
    parts = StudyParts(study, folder, "study", stepped=kind == "cs", resets=True)
    return fmu_of(parts, version, kind, **options)


def simulated(path, study, version, kind, folder=None, **values):
    """The columns that FMPy computes, at the times of the study."""
    fmpy = pytest.importorskip("fmpy")
    validation = pytest.importorskip("fmpy.validation")
    if shutil.which("cc") is None:
        pytest.skip("no C compiler")
    path.write_bytes(made(study, version, kind, folder).data)
    assert validation.validate_fmu(str(path)) == []
    names = [x.name for x in (*study.model.q, *study.model.v)]
    found = fmpy.simulate_fmu(
        str(path),
        output=names,
        start_values=values,
        output_interval=study.interval,
        stop_time=study.until,
        relative_tolerance=1e-10,
        record_events=False,
    )
    grid = study.begin + study.interval * np.arange(round((study.until - study.begin) / study.interval) + 1)
    places = [int(np.flatnonzero(np.abs(found["time"] - t) < 1e-9)[-1]) for t in grid]
    return {name: found[name][places] for name in names}


def agrees(path, study, version, kind, tolerance, folder=None):
    columns = simulated(path, study, version, kind, folder)
    run = Simulation(study_of(study, solver={"method": "dop853"}), folder, audit=False).run()
    for values, variables in ((run.q, run.mechanism.q), (run.v, run.mechanism.v)):
        for k, x in enumerate(variables):
            size = max(1e-2, np.abs(values[:, k]).max())
            assert np.abs(columns[x.name] - values[:, k]).max() <= tolerance * size, x.name
    return run


@pytest.mark.slow
@pytest.mark.parametrize(("version", "kind"), [("2", "cs"), ("2", "me"), ("3", "cs"), ("3", "me")])
def test_a_bouncing_ball(version, kind, tmp_path):
    study = Study(model=ball(), until=1.5, every=0.01, solver=rk4())
    agrees(tmp_path / "ball.fmu", study, version, kind, 1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(("version", "kind"), [("2", "cs"), ("3", "me")])
def test_hard_stops_and_a_sampled_controller(version, kind, tmp_path):
    value = {"value": "-3*th - 0.5*dth + 4*sin(5*t)", "period": 0.013}
    study = Study(
        model=pendulum(),
        inputs={"tau": {"sampled": value}},
        stops={"model": "hard", "restitution": 0.5},
        until=1.5,
        every=0.01,
        solver=rk4(),
    )
    agrees(tmp_path / "stops.fmu", study, version, kind, 1e-5)


ALL = [("2", "cs"), ("2", "me"), ("3", "cs"), ("3", "me")]
STUDIES = {
    "rx90/motion.yaml": (0.5, ALL),
    "tractor_trailer/steering_control.yaml": (1.0, ALL),
    "rx90/stick_slip.yaml": (1.0, ALL),
    "planar_2r/pd_control.yaml": (2.0, [("2", "me")]),
    "vehicle_16dof/vehicle_16dof.yaml": (0.2, ALL),
    "smera/smera.yaml": (0.1, [("2", "cs"), ("3", "me")]),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "version", "kind"),
    [(file, version, kind) for file, (_, kinds) in STUDIES.items() for version, kind in kinds],
)
def test_examples(file, version, kind, tmp_path):
    read = read_study(EXAMPLES / file)
    study = study_of(read.study, until=STUDIES[file][0], every=0.01, solver=rk4())
    run = agrees(tmp_path / "x.fmu", study, version, kind, 1e-5, read.folder)
    assert run.events or "stick_slip" not in file


@pytest.mark.slow
def test_parameters_and_inputs_can_be_set(tmp_path):
    model = pendulum(parameters={"J": {"value": 0.5, "unit": "kg m2"}})
    body = model.bodies["rod"].model_copy(update={"inertia": type(model.bodies["rod"].inertia)(ZZ="J")})
    model = model.model_copy(update={"bodies": {"rod": body}})
    study = Study(model=model, until=0.1, every=0.01, solver=rk4())
    columns = simulated(tmp_path / "x.fmu", study, "2", "cs", J=0.25, tau=0.5)
    assert columns["th"][-1] == pytest.approx(0.1 + 0.5 * (0.5 / 0.25) * 0.1**2, rel=1e-9)


@pytest.mark.slow
def test_an_input_that_jumps_between_two_steps_acts_from_there(tmp_path):
    fmpy = pytest.importorskip("fmpy")
    if shutil.which("cc") is None:
        pytest.skip("no C compiler")
    path = tmp_path / "x.fmu"
    path.write_bytes(made(Study(model=pendulum(), until=0.1, solver=rk4()), "2", "cs").data)
    rows = [(0.0, 0.0), (0.05, 0.0), (0.05, 0.5), (0.1, 0.5)]
    tau = np.array(rows, dtype=[("time", float), ("tau", float)])
    found = fmpy.simulate_fmu(str(path), input=tau, output=["th"], output_interval=0.01, stop_time=0.1)
    assert found["th"][-1] == pytest.approx(0.1 + 0.5 * (0.5 / 0.5) * 0.05**2, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("version", ["2", "3"])
def test_an_instant_beside_a_communication_point_by_rounding_is_met(version, tmp_path):
    assert 0.1 + 0.2 > 0.3
    study = Study(model=pendulum(), inputs={"tau": {"step": {"time": 0.1 + 0.2, "after": 0.5}}}, until=0.6, every=0.01)
    columns = simulated(tmp_path / "x.fmu", study, version, "me")
    assert columns["th"][-1] == pytest.approx(0.1 + 0.5 * (0.5 / 0.5) * 0.3**2, abs=1e-9)


@pytest.mark.slow
def test_two_fmus_with_a_binary_are_the_same_to_the_last_byte():
    if shutil.which("cc") is None:
        pytest.skip("no C compiler")
    study = Study(model=pendulum(), until=1.0, solver=rk4())
    one, two = (made(study, "3", "me") for _ in range(2))
    assert one.has_binary
    assert one.data == two.data


def description(fmu):
    with zipfile.ZipFile(io.BytesIO(fmu.data)) as archive:
        return ElementTree.fromstring(archive.read("modelDescription.xml"))


@pytest.mark.parametrize(("version", "kind"), [("2", "cs"), ("3", "me")])
def test_the_description_survives_hostile_words(version, kind):
    model = pendulum(title=HOSTILE, parameters={"k": {"value": 1.0, "unit": "<&\">'", "description": HOSTILE}})
    study = Study(model=model, name=HOSTILE[:100], title=HOSTILE + "\x01\n", until=1.0, solver=rk4())
    root = description(made(study, version, kind, binary=False))
    assert "<b>&amp;</b>" in root.attrib["description"]
    unit = next(x for x in root.iter() if x.attrib.get("unit", "").startswith("<"))
    assert unit.attrib["unit"] == "<&\">'"


def test_two_fmus_are_the_same_to_the_last_byte_and_carry_no_time():
    study = Study(model=pendulum(), until=1.0, solver=rk4())
    one, two = (made(study, "2", "cs", binary=False) for _ in range(2))
    assert one.data == two.data
    with zipfile.ZipFile(io.BytesIO(one.data)) as archive:
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    other = made(study_of(study, until=2.0), "2", "cs", binary=False)
    assert description(one).attrib["guid"] != description(other).attrib["guid"]


def test_what_cannot_be_an_fmu_is_named():
    python = {"python": {"function": lambda t: 0.0, "period": 0.1}}
    with pytest.raises(ModelError, match="written in Python"):
        made(Study(model=pendulum(), inputs={"tau": python}, until=1.0), "2", "me")
    with pytest.raises(ModelError, match="is a variable-step method"):
        made(Study(model=pendulum(), until=1.0), "2", "cs")


def test_the_command_writes_a_file(tmp_path, capsys):
    file = str(EXAMPLES / "planar_2r" / "pd_control.yaml")
    out = str(tmp_path / "arm.fmu")
    assert main(["export", "fmu", file, "--kind", "me", "--version", "3", "--sources-only", "-o", out]) == 0
    assert "sources only" in capsys.readouterr().out
    assert zipfile.is_zipfile(out)
