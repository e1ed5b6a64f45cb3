"""From one format to another: the motion stays the same, numbers stand for parameters, and what is lost is told."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import torseur as ts
from torseur.cli import main
from torseur.describe import Effort, Mechanism
from torseur.describe.evaluation import with_numbers
from torseur.describe.loads import SpringDamper, Wrench
from torseur.errors import ModelError

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples"
ARMS = ["rx90", "sr400", "stanford", "planar_2r", "arm_3r"]


def tau(mechanism: Mechanism, seed: int = 1) -> np.ndarray:
    """What joints must give along some motions of the open tree, without loads."""
    free = mechanism.model_copy(update={"loads": {}, "loops": {}, "constraints": {}, "inputs": {}})
    model = ts.build(free)
    q, v, vdot = np.random.default_rng(seed).normal(size=(3, 5, model.nv))
    return model.inverse_dynamics(q, v, vdot)


@pytest.mark.parametrize("ending", [".par", ".urdf"])
@pytest.mark.parametrize("name", ARMS)
def test_the_arms_are_converted_and_move_alike(name, ending, tmp_path, capsys):
    source, target = EXAMPLES / name / f"{name}.yaml", tmp_path / f"{name}{ending}"
    assert main(["convert", str(source), str(target), "--lossy"]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert all(line.startswith("note: ") for line in lines)
    assert len(lines) == len({line.partition("(")[0] for line in lines})  # one a kind
    before, after = ts.load(source), ts.load(target)
    np.testing.assert_allclose(tau(after), tau(before), rtol=1e-9, atol=1e-9)


def test_without_lossy_each_kind_of_loss_is_one_fault(tmp_path):
    with pytest.raises(ModelError) as told:
        ts.save(ts.load(EXAMPLES / "rx90" / "rx90.yaml"), tmp_path / "rx90.par")
    assert [fault.what for fault in told.value.faults] == [
        "shapes cannot be written",
        "start of a coordinate cannot be written",
    ]
    assert all("or leave it out: save(..., lossy=True)" in str(fault) for fault in told.value.faults)
    assert not list(tmp_path.iterdir())


def test_what_the_tree_needs_is_refused_even_if_losses_are_allowed(tmp_path):
    ball = {"joint": "spherical", "inertia": {"M": 1.0}}
    for ending in (".par", ".urdf"):
        with pytest.raises(ModelError, match="spherical"):
            ts.save(Mechanism(name="m", bodies={"a": ball}), tmp_path / f"m{ending}", lossy=True)


def test_parameters_without_a_value_stay_symbols_in_par(tmp_path):
    body = {"joint": {"kind": "revolute", "coordinate": "q1"}, "inertia": {"mass": "m", "centre": ("l", 0, 0)}}
    arm = Mechanism(name="arm", parameters={"m": {}, "l": {"value": "2*h"}, "h": {}}, bodies={"a": body})
    ts.save(arm, tmp_path / "arm.par")
    again = ts.load(tmp_path / "arm.par")
    assert again.parameters.keys() == {"m", "h"}
    numbers = {"m": 3.0, "h": 0.25}
    before, after = ts.build(arm, parameters=numbers), ts.build(again, parameters=numbers)
    np.testing.assert_allclose(
        after.inverse_dynamics([0.3], [1.0], [2.0]), before.inverse_dynamics([0.3], [1.0], [2.0])
    )


# -- poses and inertias ------------------------------------------------------------------------------------------------
PLACES: list[dict[str, Any]] = [
    {"pose": {"position": (0.1, -0.2, 0.3)}},
    {"pose": {"position": (0.1, 0.0, 0.3), "rpy": (0.4, 0.0, 0.0)}},
    {"pose": {"position": (0.0, 0.0, 0.3), "rpy": (0.4, 0.0, -2.0)}},
    {"pose": {"position": (0.1, 0.0, 0.3), "rpy": (0.4, 0.0, -2.0)}},
    {"pose": {"position": (0.1, -0.2, 0.3), "rpy": (0.4, -1.2, 2.5)}},
    {"pose": {"rpy": (np.pi, 0.0, 0.7), "position": (-0.1, 0.2, 0.0)}},
    {"pose": {"quaternion": (0.5, -0.5, 0.5, 0.5), "position": (0.3, 0.2, 0.1)}},
    {"steps": [{"rz": 0.3}, {"tz": 0.1}, {"rx": -1.0}, {"tx": 0.2}]},
    {"steps": [{"tx": 0.3}, {"ry": 0.2}, {"rn": {"axis": (1, 2, 3), "angle": 0.4}}]},
]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
def test_any_pose_is_a_row_of_a_par_file(place, kind, tmp_path):
    inertia = {"mass": 2.0, "centre": (0.1, 0.2, -0.3), "tensor": {"xx": 1, "yy": 2, "zz": 2.5, "xy": 0.1}}
    bodies = {
        "one": {"place": place, "joint": kind, "inertia": inertia},
        "two": {"parent": "one", "place": place, "joint": "revolute", "inertia": {**inertia, "rpy": (0.1, 0.2, 0.3)}},
    }
    mechanism = Mechanism(name="m", bodies=bodies, base={"place": place})
    ts.save(mechanism, tmp_path / "m.par")
    np.testing.assert_allclose(tau(ts.load(tmp_path / "m.par")), tau(mechanism), rtol=1e-10, atol=1e-10)


def test_loads_on_one_joint_add_up_in_par(tmp_path):
    rod = {"joint": {"kind": "revolute", "coordinate": "q1"}, "inertia": {"ZZ": 1.0}}
    loads = {
        "a": SpringDamper(coordinate="q1", damping=2.0, stiffness=3.0),
        "b": SpringDamper(coordinate="q1", damping=0.5, friction=0.1),
        "c": Effort(coordinate="q1", value="u"),
        "d": Effort(coordinate="q1", value="-2*w"),
    }
    mechanism = Mechanism(name="m", bodies={"rod": rod}, loads=loads, inputs={"u": {}, "w": {}})
    ts.save(mechanism, tmp_path / "m.par")
    again = ts.load(tmp_path / "m.par")
    state = ([0.4], [1.5], [0.7])
    found = [ts.build(m).inverse_dynamics(*state, inputs={"u": 5.0, "w": 0.3}) for m in (mechanism, again)]
    np.testing.assert_allclose(found[1], found[0], rtol=1e-14)


def test_a_load_that_is_left_out_leaves_nothing_of_itself(tmp_path):
    rod = {"joint": {"kind": "revolute", "coordinate": "q1"}, "inertia": {"ZZ": 1.0}}
    loads = {
        "late": Effort(coordinate="q1", value="if(t > 1, u, 0)"),
        "wind": Wrench(frame="rod", axes="world", force=(1.0, 0.0, 0.0)),
        "stop": SpringDamper(coordinate="q1", stiffness=3.0, rest=0.2, damping=0.5),
    }
    notes = ts.save(
        Mechanism(name="m", bodies={"rod": rod}, loads=loads, inputs={"u": {}}), tmp_path / "m.par", lossy=True
    )
    assert len(notes) == 4
    again = ts.load(tmp_path / "m.par")
    assert [type(load) for load in again.loads.values()] == [SpringDamper]
    assert (again.loads["friction1"].damping, again.loads["friction1"].stiffness) == (0.5, 0.0)
    assert not again.inputs


def test_numbers_are_put_into_every_formula():
    mechanism = ts.load(EXAMPLES / "rx90" / "rx90.yaml")
    put = with_numbers(mechanism)
    assert not put.parameters
    np.testing.assert_allclose(tau(put), tau(mechanism), rtol=1e-12)


def test_standard_rows_and_turned_axes_are_seen_from_their_joints_in_par(tmp_path):
    inertia = {"mass": 2.0, "centre": (0.1, 0.2, -0.3), "tensor": {"xx": 1, "yy": 2, "zz": 2.5, "xy": 0.1}}
    row = {"dh": {"theta": 0.2, "d": 0.1, "a": 0.4, "alpha": -0.7}}
    bodies = {
        "one": {"place": row, "joint": "revolute", "inertia": inertia},
        "two": {"parent": "one", "place": row, "joint": {"kind": "revolute", "axis": "y"}, "inertia": inertia},
        "three": {"parent": "two", "joint": "prismatic", "inertia": inertia},
    }
    force = Wrench(frame="two", force=("f", 0.0, 2.0), torque=(0.0, 1.0, 0.0))
    mechanism = Mechanism(name="m", bodies=bodies, loads={"push": force}, inputs={"f": {}})
    ts.save(mechanism, tmp_path / "m.par")
    again = ts.load(tmp_path / "m.par")
    q, v, vdot = np.random.default_rng(3).normal(size=(3, 5, 3))
    found = [ts.build(m).inverse_dynamics(q, v, vdot, inputs={"f": 3.0}) for m in (mechanism, again)]
    np.testing.assert_allclose(found[1], found[0], rtol=1e-10, atol=1e-10)


# -- bases -------------------------------------------------------------------------------------------------------------
UR5 = Path(__file__).resolve().parent.parent / "data" / "urdf" / "ur5.urdf"


@pytest.mark.parametrize(("base", "count"), [("fixed", 6), ("floating", 12), ("planar", 9)])
def test_the_base_of_a_file_may_move(base, count):
    assert len(ts.load(UR5, base=base).v) == count


def test_a_floating_base_weighs_what_the_root_link_weighs(tmp_path):
    fixed, floating = ts.load(UR5), ts.load(UR5, base="floating")
    assert floating.base.inertia == fixed.base.inertia
    model = ts.build(floating)
    q = np.concatenate([[0, 0, 0, 1, 0, 0, 0], np.zeros(6)])
    mass = sum(body.inertia.mass for body in floating.bodies.values() if body.inertia is not None)
    mass += 0.0 if floating.base.inertia is None else floating.base.inertia.mass
    assert model.mass_matrix(q)[0, 0] == pytest.approx(mass)


def test_a_base_that_is_not_known_is_refused():
    with pytest.raises(ts.ArgumentError, match="no kind of base 'flying'"):
        ts.load(UR5, base="flying")


@pytest.mark.slow
def test_the_command_line_lets_the_base_move(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["check", str(UR5), "--base", "floating"]) == 0
    assert "speeds v (12)" in capsys.readouterr().out
    assert main(["convert", str(UR5), "ur5.yaml", "--base", "planar"]) == 0
    assert ts.load("ur5.yaml").base.kind.value == "planar"
    assert main(["equations", str(UR5), "--of", "kinetic_energy", "--base", "planar", "--count"]) == 0
    assert main(["draw", str(UR5), "--base", "floating"]) == 0
    arguments = ["simulate", str(UR5), "--base", "floating", "--until", "0.01", "--no-figures", "--no-playback"]
    assert main(arguments) == 0
    run = ts.open_run("ur5_results/run.nc")
    assert run["z"][-1] == pytest.approx(-0.5 * 9.81 * 1e-4, rel=1e-3)


def test_a_missing_mesh_is_a_warning_of_ours_in_one_line(tmp_path, capsys):
    pytest.importorskip("viser")
    rod = {"joint": "revolute", "inertia": {"ZZ": 1.0}, "shapes": [{"mesh": {"file": "package://nowhere/rod.stl"}}]}
    ts.save(Mechanism(name="m", bodies={"rod": rod}), tmp_path / "m.yaml")
    arguments = ["simulate", str(tmp_path / "m.yaml"), "--until", "0.1", "--no-figures", "-o", str(tmp_path / "out")]
    assert main(arguments) == 0
    told = [line for line in capsys.readouterr().err.splitlines() if "rod.stl" in line]
    assert len(told) == 1
    assert told[0].startswith("warning: the file of triangles 'package://nowhere/rod.stl' was not found")


def test_a_header_that_contradicts_its_vectors_is_one_fault(tmp_path):
    ts.save(ts.load(EXAMPLES / "rx90" / "rx90.yaml"), tmp_path / "rx90.par", lossy=True)
    text = (tmp_path / "rx90.par").read_text()
    for key in ("ant", "sigma", "b", "d", "r", "gamma", "alpha", "mu", "theta"):
        text = text.replace(f"\n{key} = {{", f"\n{key} = {{0,", 1)
    (tmp_path / "rx90.par").write_text(text)
    with pytest.raises(ModelError, match="the header contradicts the vectors") as told:
        ts.load(tmp_path / "rx90.par")
    assert not told.value.faults
    assert "XX" in told.value.got
    assert ":4:" in told.value.where


def test_vectors_of_one_wrong_length_are_one_fault(tmp_path):
    ts.save(ts.load(EXAMPLES / "rx90" / "rx90.yaml"), tmp_path / "rx90.par", lossy=True)
    text = (tmp_path / "rx90.par").read_text()
    for key in ("XX", "XY", "IA"):
        text = text.replace(f"\n{key} = {{", f"\n{key} = {{0,", 1)
    (tmp_path / "rx90.par").write_text(text)
    with pytest.raises(ModelError, match="the vectors XX, XY, IA have a wrong length"):
        ts.load(tmp_path / "rx90.par")


def test_what_makes_another_mechanism_of_it_is_told_apart(tmp_path, capsys):
    """A closed linkage without its loop is an open chain."""
    source = EXAMPLES / "four_bar" / "four_bar.yaml"
    assert main(["convert", str(source), str(tmp_path / "four_bar.urdf"), "--lossy"]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert lines[-1] == "note: left out, so that it moves otherwise: URDF cannot express loops (loops.pin)"
    assert sum("moves otherwise" in line for line in lines) == 1
