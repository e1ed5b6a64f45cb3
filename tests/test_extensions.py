"""Kinds of other packages: a load, a joint, a block, a method and a language work wherever those of the core do."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import torseur as ts
from torseur import extensions
from torseur.cli import main
from torseur.describe.loads import KINDS
from torseur.formats.yaml.reader import read_yaml
from torseur.graph import Graph
from torseur.spatial.joints import KINDS as JOINTS
from torseur.spatial.pose import Pose

G = Graph()

PACKAGE = '''
"""A magnet above the origin, a joint that turns twice as far as its coordinate, a signal that knocks, a method, and
a language with other signs."""

from dataclasses import replace

from torseur.describe.fields import Scalar
from torseur.describe.loads import FrameLoad, LoadContext, LoadResult
from torseur.emit import Tableau
from torseur.emit.text.reading import LISTING
from torseur.emit.text.reading import Reading
from torseur.extensions import Extension
from torseur.graph import Expr, Function, exp
from torseur.simulation.blocks import Block
from torseur.simulation.solvers.explicit import RungeKutta
from torseur.simulation.solvers.methods import NamedMethod
from torseur.spatial.joints import CoordinateInfo, JointKind, Quantity
from torseur.spatial.pose import Motion
from torseur.spatial.vectors import Vector
from torseur.spatial.pose import Step, StepKind, elementary
from torseur.spatial.joint_kind import along


class Magnet(FrameLoad):
    """Pulls a frame up: force = strength exp(z)."""

    kind = "magnet"
    result_keys = ("pull",)
    strength: Scalar

    def _force(self, on: LoadContext) -> Expr:
        return on.scalar(self.strength) * exp(on.frame(self.frame).pose.P[2])

    def act(self, on):
        up = on.frame(self.frame).pose.R[2]
        on.apply(self.frame, self._force(on) * up, Vector.zero(on.graph))

    def energy(self, on):
        return -self._force(on)

    def results(self, on):
        return {"pull": LoadResult(self._force(on), "N", "what the magnet pulls with")}


class Double(JointKind):
    name = "double"
    coordinates = (CoordinateInfo("", Quantity.ANGLE, "half the rotation about z"),)
    speeds = (CoordinateInfo("", Quantity.ANGULAR_SPEED, "its rate"),)

    def pose(self, g, q, settings=()):
        return elementary(g, Step(StepKind.ROTATE_Z, 2.0 * q[0]))

    def subspace(self, g, q, settings=()):
        one = along(g, None, 2)
        return [Motion(one.linear, 2.0 * one.angular)]


class Knock(Block):
    kind = "knock"
    height: Scalar

    def build(self, context, name):
        return context.value(self.height) * exp(-context.t)


HEUN = NamedMethod(RungeKutta(Tableau("Heun", ((), (1.0,)), (0.5, 0.5), (0.0, 1.0), 2)), "Heun's method, order 2")


class Crosses(Reading):
    def text(self):
        return "".join(f"{left} := {right};\\n" for part in self.passages() for left, right in part.lines)

    def array(self, items, shape):
        return f"({'; '.join(items)})"


def to_crosses(function: Function) -> str:
    return Crosses(function, replace(LISTING, product="%s x %s", times="%s x %s", power="pow(%s, %s)")).text()


EXTENSION = Extension(
    "magnets",
    loads={"magnet": Magnet},
    joints={"double": Double()},
    blocks={"knock": Knock},
    methods={"heun": HEUN},
    languages={"crosses": to_crosses},
)
'''
STUDY = """
torseur_study: 1
model:
  torseur: 1
  name: lifted
  inputs: {tap: {}}
  bodies:
    mass:
      joint: {kind: prismatic, coordinate: z}
      inertia: {M: 1}
    wheel:
      joint: {kind: double, coordinate: half}
      inertia: {ZZ: 0.5}
  loads:
    lift: {magnet: {frame: mass, strength: 2}}
    touch: {effort: {coordinate: half, value: tap}}
inputs: {tap: {knock: {height: 3}}}
outputs: {twice: {value: 2*lift_pull, unit: N}}
until: 1
"""


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A package with an entry point, as pip would leave it."""
    (tmp_path / "my_magnets.py").write_text(PACKAGE, encoding="utf-8")
    info = tmp_path / "my_magnets-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my_magnets\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text("[torseur.extensions]\nmagnets = my_magnets:EXTENSION\n", encoding="utf-8")
    (tmp_path / "study.yaml").write_text(STUDY, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(extensions, "_found", None)
    yield tmp_path
    monkeypatch.setattr(extensions, "_found", None)
    sys.modules.pop("my_magnets", None)


def test_kinds_of_an_installed_package_are_read_and_simulated(installed):
    run = ts.simulate(installed / "study.yaml")
    assert run.audit().holds
    np.testing.assert_allclose(run["twice"], 4.0 * np.exp(run["z"]), rtol=1e-12)
    # 0.5 kg m2 turning twice as fast as its coordinate: 2 half'' = 3 exp(-t)
    np.testing.assert_allclose(run["half"], 1.5 * (np.exp(-run.time) - 1 + run.time), rtol=0, atol=1e-9)
    run.save(installed / "run.nc")
    again = ts.open_run(installed / "run.nc")
    np.testing.assert_array_equal(again["z"], run["z"])


def test_the_force_of_a_load_from_outside_is_the_slope_of_its_energy(installed):
    model = ts.build(ts.load_study(installed / "study.yaml").model)
    z = np.linspace(-1, 1, 5)
    q = np.stack([z, 0 * z], axis=1)
    vdot = model.forward_dynamics(q, np.zeros((5, 2)), np.zeros((5, 2)))
    np.testing.assert_allclose(vdot[:, 0], 2.0 * np.exp(z) - 9.81, rtol=1e-12)
    h = np.array([1e-6, 0.0])
    slope = (model.potential_energy(q + h) - model.potential_energy(q - h)) / 2e-6
    np.testing.assert_allclose(slope, -vdot[:, 0], rtol=1e-6)


def test_the_command_line_knows_them_too(installed):
    path = os.pathsep.join([str(installed), *([os.environ["PYTHONPATH"]] if "PYTHONPATH" in os.environ else [])])
    command = [sys.executable, "-m", "torseur", "simulate", str(installed / "study.yaml"), "-o", str(installed / "out")]
    done = subprocess.run(
        [*command, "--no-figures", "--no-playback"],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert list(Path(installed / "out").iterdir())


def test_a_method_of_an_installed_package_is_one_like_the_others(installed):
    """Heun's method has order 2: half the step, a quarter of the error."""
    exact = ts.simulate(installed / "study.yaml")["z"][-1]
    errors = []
    for step in (0.02, 0.01):
        run = ts.simulate(installed / "study.yaml", solver={"method": "heun", "step": step})
        assert run.info["solver"] == "Heun"
        errors.append(abs(run["z"][-1] - exact))
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.05)


def test_a_language_of_an_installed_package_prints_equations(installed):
    equations = ts.equations(ts.load_study(installed / "study.yaml").model, "kinetic_energy")
    assert (
        equations.in_language("crosses").splitlines()[-1]
        == "kinetic_energy := 0.5 x pow(dz, 2) + 0.5 x 2 x pow(dhalf, 2);"
    )
    assert equations.in_language("text") == equations.text()
    with pytest.raises(ts.ArgumentError, match="no language 'croses'") as caught:
        equations.in_language("croses")
    assert caught.value.remedy == "did you mean 'crosses'?"


def test_a_run_with_kinds_of_a_package_goes_on_from_its_checkpoint(installed):
    file = installed / "left"
    run = ts.simulate(installed / "study.yaml", checkpoint=file, every_seconds=0.0)
    again = ts.resume(file)
    np.testing.assert_array_equal(again["z"], run["z"])


def called(folder, *arguments):
    """The command line in a folder, without the package on its path unless the folder is."""
    command = [sys.executable, "-c", "import sys; from torseur.cli import main; sys.exit(main())", *arguments]
    source = str(Path(ts.__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": source, "PYTHONSAFEPATH": "1"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_the_command_line_takes_a_file_with_kinds_that_the_user_names(tmp_path):
    (tmp_path / "kinds.py").write_text(PACKAGE, encoding="utf-8")
    (tmp_path / "study.yaml").write_text(STUDY, encoding="utf-8")
    bare = ["simulate", "study.yaml", "-o", "out", "--no-figures", "--no-playback"]
    refused = called(tmp_path, *bare)
    assert refused.returncode == 1
    assert "magnet" in refused.stderr
    done = called(tmp_path, *bare, "--extensions", "kinds.py", "--solver", "heun", "--step", "0.001")
    assert done.returncode == 0, done.stderr
    assert "Heun: 1000 steps" in done.stdout


def test_the_command_line_prints_in_a_language_that_the_user_names(tmp_path, monkeypatch, capsys):
    (tmp_path / "kinds.py").write_text(PACKAGE, encoding="utf-8")
    (tmp_path / "arm.yaml").write_text(
        "torseur: 1\nname: arm\nbodies: {a: {joint: revolute, inertia: {ZZ: 4}}}\n", encoding="utf-8"
    )
    monkeypatch.setattr(extensions, "_registered", [])
    command = ["equations", str(tmp_path / "arm.yaml"), "--of", "mass_matrix", "--format", "crosses"]
    assert main(command) == 1
    assert "no language 'crosses'" in capsys.readouterr().err
    assert main([*command, "--extensions", str(tmp_path / "kinds.py")]) == 0
    assert capsys.readouterr().out == "mass_matrix1_1 := 4;\n"


def test_a_module_without_an_extension_is_refused(tmp_path):
    (tmp_path / "kinds.py").write_text("x = 1\n", encoding="utf-8")
    (tmp_path / "study.yaml").write_text(STUDY, encoding="utf-8")
    for module, words in (("kinds.py", "offers no extension"), ("no_such_module", "no such module")):
        done = called(tmp_path, "simulate", "study.yaml", "--extensions", module)
        assert done.returncode == 1
        assert words in done.stderr


def test_a_kind_that_nobody_offers_is_named():
    with pytest.raises(ts.ModelError, match="magnet"):
        read_yaml("torseur: 1\nname: x\nloads: {lift: {magnet: {}}}\n")


def test_registering_serves_a_script_and_two_kinds_of_one_name_are_an_error(installed, monkeypatch):
    monkeypatch.setattr(extensions, "_registered", [])
    drag = KINDS["drag"]
    extensions.register(extensions.Extension("mine", loads={"my_drag": drag}))
    assert KINDS["my_drag"] is drag
    extensions.register(extensions.Extension("yours", loads={"my_drag": drag}))
    with pytest.raises(ts.ModelError, match="'my_drag'"):
        KINDS["something else"]
    extensions.register(extensions.Extension("yours", loads={"effort": drag}))
    with pytest.raises(ts.ModelError, match="the core"):
        KINDS["something else"]


def test_an_entry_point_that_is_no_extension_is_named(installed, monkeypatch):
    (installed / "my_magnets-1.0.dist-info" / "entry_points.txt").write_text(
        "[torseur.extensions]\nmagnets = my_magnets:Magnet\n", encoding="utf-8"
    )
    with pytest.raises(ts.ModelError, match="is not an extension"):
        KINDS["something else"]


def test_a_joint_that_says_nothing_of_closing_loops_is_refused_as_a_cut_joint_by_name(installed):
    model = """
torseur: 1
name: ring
bodies:
  a: {joint: {kind: double}, inertia: {ZZ: 1}}
  b: {parent: a, joint: revolute, inertia: {ZZ: 1}}
loops:
  closed: {joint: double, between: [b, world]}
"""
    with pytest.raises(ts.ModelError, match="a double joint cannot close a loop") as caught:
        read_yaml(model, "ring.yaml")
    assert caught.value.where == "ring.yaml:8:19: loops.closed.joint"
    assert read_yaml(model.replace("joint: double, between", "joint: revolute, between")).loops
    double = JOINTS["double"]
    assert not double.closes_loops
    with pytest.raises(ts.ModelError, match="a double joint cannot close a loop") as caught:
        double.closure(double.pose(G, (G.symbol("q"),)))
    assert "5 of them" in caught.value.expected


def test_every_joint_of_the_core_closes_loops_but_those_that_leave_nothing_to_constrain():
    assert {name for name, kind in JOINTS.core.items() if not kind.closes_loops} == {"free", "free_rpy"}
    for name in ("free", "free_rpy"):
        assert JOINTS[name].closure(Pose.identity(G)) == []
