"""First errors of newcomers: what they write into the first mechanisms of the tutorials, and what they are told.

Each is one small change of a file that runs. The message must name the place and what to write instead.
"""

import re
from importlib.resources import files
from pathlib import Path

import pytest

import torseur as ts

TUTORIALS = Path(__file__).resolve().parent.parent / "docs" / "tutorials"
WRITTEN = re.compile(r'Path\("([^"]+)"\)\.write_text\("""\\\n(.*?)"""\)', flags=re.DOTALL)
FILES = {
    name: text
    for page in ("linkage", "rolling", "simulating", "robot_from_urdf")
    for name, text in WRITTEN.findall((TUTORIALS / f"{page}.md").read_text(encoding="utf-8"))
}

STARTER = "car.yaml of torseur new"
FILES[STARTER] = (files("torseur.cli") / "starters" / "car.yaml").read_text(encoding="utf-8")
CRANK, CAR, CIRCLE, WHEEL, ROBOT = "slider_crank.yaml", "quarter_car.yaml", "circle.yaml", "wheel.yaml", "move.yaml"
REFERENCE = "reference: {shoulder: path_shoulder, elbow: path_elbow}"
BUMP = "if(t > 1 and t < 1.1, 0.05*sin(pi*(t - 1)/0.1)^2, 0)"

READ = [
    (CRANK, "torseur_study: 1", "torseur: 1", "3:1: a model in a model: this is a study", "torseur_study: 1"),
    (CRANK, "torseur_study: 1\n", "", "the version of the format is missing", "begin with 'torseur_study: 1'"),
    (CRANK, "{kind: revolute, coordinate: angle}", "{type: revolute, coordinate: angle}", "type", "mean 'kind'"),
    (CRANK, "{kind: revolute, coordinate: angle}", "{kind: hinge, coordinate: angle}", "'hinge'", "mean 'revolute'"),
    (CRANK, "{kind: revolute, coordinate: angle}", "revolute", "no coordinate 'angle'", "one of q_crank, swing, x"),
    (CRANK, "mass: 1.0", "mass: 1 kg", "crank.inertia.mass: unexpected in a formula", "values are in SI units"),
    (CRANK, "angle: 0.2", "angle: 30 deg", "start.angle: unexpected in a formula", "30*deg"),
    (CRANK, "angle: 0.2", "angle: 30°", "start.angle: a character that means nothing here", "30*deg"),
    (CRANK, "start:", "initial:", "initial: unknown key", "did you mean 'start'?"),
    (CRANK, "until: 3", "duration: 3", "duration: unknown key", "did you mean 'until'?"),
    (CRANK, "angle: 0.2", "omega: 3", "no coordinate or speed 'omega'", "dangle, dswing, dx"),
    (
        CRANK,
        "{time: 0.5, after: 0.6}",
        "{at: 0.5, value: 0.6}",
        "step.at: unknown key",
        "mean 'time'?",
        "mean 'after'?",
    ),
    (CRANK, "{step: {time", "{jump: {time", "no kind of block 'jump'", "did you mean 'step'?"),
    (CRANK, "[small_end,", "[rod.small_end,", "expected a name", "named alone"),
    (
        CRANK,
        "between: [small_end, piston]",
        "first: small_end, second: piston",
        "'between' is missing",
        "joint, between",
    ),
    (CRANK, "  bodies:", "\tbodies:", "8:1: this is not YAML", "spaces, not with tabs"),
    (
        CRANK,
        "name: slider_crank\nmodel",
        "name: slider_crank: x\nmodel",
        "2:19: this is not YAML",
        "separated by a space",
    ),
    (CRANK, "[0, 0.001, 0.001]", "[[0, 0, 0], [0, 1, 0], [0, 0, 1]]", "a formula, got [0, 0, 0]", "[XX, YY, ZZ]"),
    (CRANK, "tensor: [0, 0.001, 0.001]", "Izz: 0.001", "inertia.Izz: unknown key", "did you mean 'tensor'?"),
    (CRANK, "{motor: {coordinate: angle", "{motor: {joint: crank", "motor.joint: unknown key", "mean 'coordinate'?"),
    (CRANK, "parent: crank", "parent: cranck", "no body 'cranck'", "did you mean 'crank'?"),
    (CRANK, "until: 3", "until: 3\nuntil: 4", "this key is already given", "the same key on line 32"),
    (
        CRANK,
        "motor: {motor",
        "gas: {force: {body: piston}}\n    motor: {motor",
        "no load of this kind",
        "mean 'wrench'?",
    ),
    (CAR, BUMP, "0.05*t if t > 1 else 0", "unexpected in a formula", "if(condition, value, other value)"),
    (CAR, "t > 1 and", "t > 1 &&", "a character that means nothing here", "joined by 'and'"),
    (
        CAR,
        "stiffness: ks, damping: cs",
        "k: ks, c: cs",
        "spring.k: unknown key",
        "mean 'stiffness'?",
        "mean 'damping'?",
    ),
    (CAR, "kt*(road", "ktt*(road", "unknown name 'ktt'", "did you mean 'kt'?"),
    (CAR, "(ms + mu)*9.81", "(ms + mu)*g", "unknown name 'g'", "declare 'g' under parameters"),
    (CAR, "  road: {formula", "  raod: {formula", "no input 'raod'", "did you mean 'road'?"),
    (CAR, "{spring: {combination", "{damper: {combination", "no load of this kind", "did you mean 'spring'?"),
    (CAR, "[0, 0, -9.81]", "9.81", "gravity: expected a list", "[value, value, ...]"),
    (CIRCLE, "frame: tool, ", "", "operational_space: 'frame' is missing"),
    (CIRCLE, "frame: tool", "frame: tip", "no frame 'tip'", "world, base, link1, link2, tool"),
    (CIRCLE, "path_x", "path.x", "a character that means nothing here", "BLOCK_RESULT"),
    (CIRCLE, "planar_2r.yaml", "planar2r.yaml", "the file cannot be read", "did you mean 'planar_2r.yaml'?"),
    (CIRCLE, "planar_2r.yaml", "planar_2r", "a file of a kind that is not known", "planar_2r.yaml'?"),
    (CIRCLE, "{x: path_x, z: path_z}", "[path_x, path_z]", "expected a mapping of names", "{name: value, ...}"),
    (WHEEL, "wheel: base", "body: base", "'wheel' is missing", "one of wheel, axle, radius"),
    (WHEEL, "wheel: base", "wheel: wheel", "no frame 'wheel'", "one of world, base"),
    (WHEEL, "axle: y", "axle: [0, 1, 0]", "expected 'x', 'y' or 'z'"),
    (ROBOT, REFERENCE, "reference: [path_shoulder, path_elbow]", "expected a mapping of names", "{name: value, ...}"),
    (ROBOT, "kp: 100", "Kp: 100", "computed_torque.Kp: unknown key", "did you mean 'kp'?"),
    (ROBOT, "60*deg", "60 deg", "unexpected in a formula", "60*deg"),
    (ROBOT, "blocks:", "controllers:", "controllers: unknown key", "did you mean 'blocks'?"),
    (ROBOT, "60*deg", "60 degrees", "unexpected in a formula", "degrees are written 30*deg"),
    (ROBOT, "computed_torque", "gravity_compensation", "no kind of block", "did you mean 'pd_regulator'?"),
    (ROBOT, "robot.urdf", "robot.urdf.xacro", "a file of a kind that is not known", "xacro writes URDF"),
    (CRANK, "angle: 0.2", "angle: math.sin(1)", "a character that means nothing here", "functions have no prefix"),
    (CRANK, "angle: 0.2", "angle: 0.2, angle_dot: 3", "no coordinate or speed 'angle_dot'", "mean 'dangle'?"),
    (CAR, BUMP, "0.05*sin(2 pi t)", "unexpected in a formula", "write a product with *: 2*pi"),
    (CAR, BUMP, "0.05*sin(time)", "unknown name 'time'", "did you mean 't'?"),
    (CRANK, "[0, 0.001, 0.001]", "[0, 0, 0.1*pow(r, 2)]", "inertia.tensor", "a formula with a comma needs quotes"),
    (CRANK, "{motor: {coordinate: angle", "{motor: {coordinate: dangle", "is a speed; the coordinate is 'angle'"),
    (
        STARTER,
        "{strut: {stiffness: 24000",
        "{macpherson: {stiffness: 24000",
        "one kind is needed",
        "did you mean 'strut'?",
    ),
    (STARTER, "{linear: {longitudinal_stiffness", "{pacejka: {longitudinal_stiffness", "mean 'magic_formula_61'?"),
    (STARTER, "anti_roll: 8000", "tyre: front.tir", "this key is already given"),
    (STARTER, "brake: 0.35", "brake: 35 %", "a character that means nothing here", "35 % is written 0.35"),
    (STARTER, "brake: 0.35", "brake: 0.5", "the shares of the brake do not add up to 1", "front 0.65, rear 0.5"),
    (STARTER, "spin_inertia: 0.7", "inertia: 0.7", "'spin_inertia' is missing", "did you mean 'spin_inertia'?"),
    (STARTER, "aero: {area: 2.0, drag", "aero: {area: 2.0, cd", "aero.cd: unknown key", "did you mean 'drag'?"),
]
"""Faults of the file: which, what is changed, into what, and what the message says."""

RUN = [
    (CRANK, "angle: 0.2", "angle: 0.2, x: 0.35", "angle, x contradict each other", "x = 0.39734811 with angle = 0.2"),
    (
        CRANK,
        "loops:",
        "constraints: {drive: {prescribed: {coordinate: angle, equals: 20*t}}}\n  loops:",
        "nearest: angle = 0\n",
    ),
    (CAR, "combination: {zs: 1, zu: -1}", "between: [wheel, body]", "loads.suspension are at one place", "start apart"),
    (
        CAR,
        "{value: 20000, unit: N/m",
        "{unit: N/m",
        "a parameter has no value",
        "got: ks",
        "give values in the description",
    ),
    (CAR, "mass: mu", "mass: 0", "dzu moves no mass", "give what it moves an inertia"),
    (CIRCLE, "[Gamma1, Gamma2]", "[theta1, theta2]", "no input 'theta1' to drive", "one of Gamma1, Gamma2"),
    (
        CRANK,
        "pose: {rpy: [pi/2, 0, 0]}\n      joint: {kind: pris",
        "pose: [0, 0, 0]\n      joint: {kind: pris",
        "do not close",
        "turn one frame",
    ),
    (WHEEL, "{vx: 2}", "{vx: 2, wy: 5}", "vx, wy contradict each other", "wy = 6.66666667 with vx = 2"),
    (WHEEL, "{vx: 2}", "{vx: 2, z: 0}", "z cannot have this value", "nearest: z = 0.3"),
    (ROBOT, "[tau_shoulder, tau_elbow]", "[shoulder, elbow]", "no input 'shoulder' to drive", "mean 'tau_shoulder'?"),
]
"""Likewise, faults that show when the run begins."""


def changed(tmp_path: Path, name: str, old: str, new: str) -> Path:
    for other, text in FILES.items():
        (tmp_path / other.partition(" ")[0]).write_text(text, encoding="utf-8")
    (tmp_path / "planar_2r.yaml").write_bytes(ts.examples.path("planar_2r").read_bytes())
    assert old in FILES[name]
    file = tmp_path / "mine.yaml"
    file.write_text(FILES[name].replace(old, new, 1), encoding="utf-8")
    return file


def test_the_mechanisms_are_those_of_the_tutorials():
    assert set(FILES) >= {CRANK, CAR, CIRCLE, WHEEL, ROBOT, "robot.urdf"}


@pytest.mark.parametrize(("name", "old", "new", "words"), [(a, b, c, d) for a, b, c, *d in READ])
def test_a_first_error_in_a_file_names_its_remedy(name, old, new, words, tmp_path):
    with pytest.raises(ts.ModelError) as caught:
        ts.load_study(changed(tmp_path, name, old, new))
    assert "mine.yaml:" in str(caught.value)
    assert not [word for word in words if word not in str(caught.value)], str(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "old", "new", "words"), [(a, b, c, d) for a, b, c, *d in RUN])
def test_a_first_error_in_a_run_names_its_remedy(name, old, new, words, tmp_path):
    with pytest.raises(ts.TorseurError) as caught:
        ts.simulate(changed(tmp_path, name, old, new))
    assert not [word for word in words if word not in str(caught.value)], str(caught.value)


def test_a_python_function_as_an_input_is_told_to_be_a_block():
    with pytest.raises(ts.ModelError, match=r"make it a block: \{'python'"):
        ts.simulate(ts.examples.load("planar_2r"), until=1.0, inputs={"Gamma1": lambda t: 1.0})
