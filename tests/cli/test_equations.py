"""``torseur equations``: what it prints for each format and quantity, and what it refuses."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from torseur.cli import main
from torseur.formats import load
from torseur.graph import Function, evaluate
from torseur.model import equations, kane_steps

ROOT = Path(__file__).parent.parent.parent
ARM = ROOT / "examples" / "planar_2r" / "planar_2r.yaml"
RX90 = ROOT / "tests" / "data" / "symoro" / "RX90.par"
SR400 = ROOT / "tests" / "data" / "symoro" / "SR400.par"


def printed(capsys, *arguments):
    assert main(["equations", *map(str, arguments)]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("language", ["text", "latex", "python", "c", "matlab", "julia"])
def test_every_format_is_that_of_the_library(language, capsys):
    eqs = equations(load(ARM), "mass_matrix")
    expected = getattr(eqs, language)()
    assert printed(capsys, ARM, "--of", "mass_matrix", "--format", language) == expected


def test_the_default_is_a_listing_of_inverse_dynamics(capsys):
    text = printed(capsys, RX90)
    assert text.startswith("inverse_dynamics(q[6], v[6], vdot[6], ")
    assert text == equations(load(RX90)).text()


def test_a_listing_of_free_form_motions_has_the_equations_of_its_joints(capsys):
    listing = ROOT / "tests" / "data" / "cagem" / "welder_cagem_spatial_rebuilt.mu"
    text = printed(capsys, listing, "--of", "forward_dynamics")
    assert text.startswith("forward_dynamics(q[7], v[7], tau[7], p[9]) -> vdot[7]")
    assert "4 sine-cosine pairs" in printed(capsys, listing, "--count"), (
        "one sine and cosine per angle that is felt, no more"
    )


def test_intermediates_have_symoros_names(capsys):
    names = set(re.findall(r"^    (\w+) = ", printed(capsys, RX90, "--base-parameters"), re.MULTILINE))
    assert {"XXR2", "ZZR3", "W23", "WP16"} <= names


def test_base_parameters_are_listed_with_their_groups(capsys):
    text = printed(capsys, RX90, "--of", "base_parameters")
    assert "ZZR1 = ZZ1 + YY2 + YY3 + IA1 + D3**2*(M3 + M4 + M5 + M6)" in text
    assert "without effect: XX1, " in text


def test_base_parameters_of_a_closed_structure_are_those_of_the_motion_that_is_left(capsys):
    text = printed(capsys, SR400, "--of", "base_parameters")
    assert text.startswith("closed structure: its open tree has 71 base parameters\n57 base parameters of 104")
    assert "\nXYR2 = XY2 + XY8\n" in text
    assert "\nFVR3 = FV3 + FV8\n" in text


def test_joint_forces_are_listed_by_symoros_names(capsys):
    text = printed(capsys, ROOT / "examples" / "planar_2r" / "planar_2r.yaml", "--of", "joint_forces")
    assert re.search(r"^    E12 = ", text, re.MULTILINE)
    assert re.search(r"^    \w+6 = N32$", text, re.MULTILINE)
    assert "pin[6]" in printed(capsys, ROOT / "examples" / "four_bar" / "four_bar.yaml", "--of", "loop_wrenches")


def test_base_parameters_as_a_program_compute_them(capsys):
    text = printed(capsys, ARM, "--of", "base_parameters", "--format", "python")
    ast.parse(text)
    assert "def base_parameters" in text


def test_count_tells_hoisted_work_apart(capsys):
    lines = printed(capsys, RX90, "--count", "--base-parameters", "--without-loads").splitlines()
    assert lines[0] == "inverse_dynamics:"
    assert re.fullmatch(r"  once per parameter set: \d+ products, \d+ sums", lines[1])
    assert re.fullmatch(r"  at every evaluation: \d+ products, \d+ sums, 5 sine-cosine pairs", lines[2])
    numbers = [[int(x) for x in re.findall(r"(\d+) (?:products|sums)", line)] for line in lines[1:4]]
    assert numbers[2] == [a + b for a, b in zip(*numbers[:2], strict=True)]
    assert lines[3].startswith("  in all: ")


def test_loads_can_be_left_out(capsys):
    assert "conditionals" in printed(capsys, RX90, "--count")
    assert "conditionals" not in printed(capsys, RX90, "--count", "--without-loads")


def test_the_closed_form_prints_the_textbook(capsys):
    text = printed(capsys, ARM, "--of", "coriolis", "--form", "closed")
    assert "coriolis[1,2] = -m2*l1*l2*sin(theta2)*(dtheta1 + dtheta2)" in text
    latex = printed(capsys, ARM, "--of", "coriolis", "--form", "closed", "--format", "latex")
    assert r"\left(\dot{\theta}_{1} + \dot{\theta}_{2}\right)" in latex


def test_a_frame_and_its_axes(capsys):
    own = printed(capsys, ARM, "--of", "jacobian", "--frame", "tool")
    world = printed(capsys, ARM, "--of", "jacobian", "--frame", "tool", "--axes", "world")
    assert own != world
    assert "jacobian[6, 2]" in own


def test_a_file_is_written_and_nothing_printed(tmp_path, capsys):
    target = tmp_path / "arm.c"
    assert printed(capsys, ARM, "--format", "c", "-o", target) == ""
    assert target.read_text() == equations(load(ARM), "inverse_dynamics").c()


def test_loops_are_not_in_it_and_that_is_said(capsys):
    assert main(["equations", str(SR400), "--count"]) == 0
    assert "those of the tree" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--of", "mas_matrix"], "did you mean mass_matrix?"),
        (["--of", "jacobian"], "needs a frame"),
        (["--of", "jacobian"], "remedy: --frame NAME"),
        (["--of", "bias", "--frame", "tool"], "leave out frame (--frame NAME)"),
        (["--of", "jacobian", "--frame", "tol"], "did you mean tool?"),
        (["--form", "closed", "--format", "c"], "--format text or latex"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments, text, capsys):
    assert main(["equations", str(ARM), *arguments]) == 1
    assert text in capsys.readouterr().err


def test_too_large_for_a_closed_form(capsys):
    assert main(["equations", str(RX90), "--form", "closed"]) == 1
    error = capsys.readouterr().err
    assert "too large for a closed form" in error
    assert "(--form listing|closed)" in error


def test_a_file_that_is_not_there(capsys):
    assert main(["equations", "nowhere.yaml"]) == 1
    assert "nowhere.yaml" in capsys.readouterr().err


def test_it_runs_as_a_program():
    command = [sys.executable, "-m", "torseur", "equations", str(ARM), "--of", "gravity", "--form", "closed"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0
    assert done.stdout.startswith("gravity[1] = ")


# -- Kane's steps ------------------------------------------------------------------------------------------------------
TRUCK = ROOT / "examples" / "tractor_trailer" / "tractor_trailer.yaml"
CAR = ROOT / "examples" / "car" / "car.yaml"


def test_kane_prints_ten_steps_that_hold_what_was_derived(capsys):
    """What stands behind D, C, tau and J_nh in the text is the model of DeSantis 1996, remark 8.2."""
    sp = pytest.importorskip("sympy")
    text = printed(capsys, CAR, "--of", "kane", "--steps")
    assert re.findall(r"^(\d+)\. ", text, re.MULTILINE) == [str(k) for k in range(1, 11)]
    found = dict(re.findall(r"^   (\w+) = (\S.*)$", text.split("9. The model")[1], re.MULTILINE))
    names = {n: sp.Symbol(n) for n in ("m1", "j1", "b", "l1", "delta", "ddelta", "Fu1", "Fu2")}
    m1, j1, b, l1, delta, rate, Fu1, Fu2 = names.values()
    D = m1 + (m1 * b**2 + j1) * sp.tan(delta) ** 2 / l1**2
    expected = {"D": D, "C": D.diff(delta) * rate / 2, "tau": Fu2 + Fu1 / sp.cos(delta)}
    for name, value in expected.items():
        assert sp.simplify(sp.sympify(found[name], locals=names) - value) == 0
    assert "J_nh = [cos(Theta)   ]" in text
    assert "[tan(delta)/l1]" in text
    assert "lam_front_wheels = " in text


def test_kane_prints_latex(capsys):
    pytest.importorskip("sympy")
    text = printed(capsys, CAR, "--of", "kane", "--steps", "--format", "latex")
    assert text.count(r"\paragraph{") == 11
    assert text.count(r"\begin{pmatrix}") == text.count(r"\end{pmatrix}") > 5
    assert r"\frac{\tan\left(\delta\right)}{l_{1}}" in text
    assert text.count("{") == text.count("}")


def test_lagrange_prints_energies_derivatives_symbols_and_equations(capsys):
    pytest.importorskip("sympy")
    text = printed(capsys, ARM, "--of", "lagrange", "--steps")
    assert re.findall(r"^(\d+)\. ", text, re.MULTILINE) == [str(k) for k in range(1, 12)]
    assert "\n   c_2_1_1 = m2*l1*l2*sin(theta2)\n" in text
    assert "c_2_2_2" not in text, "a symbol that is zero"
    assert "dL_ddtheta2 = m2*l2**2*(dtheta1 + dtheta2) + j2*(dtheta1 + dtheta2) + m2*l1*l2*cos(theta2)*dtheta1" in text
    latex = printed(capsys, ARM, "--of", "lagrange", "--steps", "--format", "latex")
    assert r"\frac{d}{dt} \frac{\partial L}{\partial \dot{\theta}_{1}}" in latex
    assert latex.count("{") == latex.count("}")


def test_lagrange_without_steps_is_a_function_of_the_state(capsys):
    assert printed(capsys, ARM, "--of", "lagrange").startswith("lagrange(q[2], v[2], ")


DRIVE = """
torseur: 1
name: differential_drive
gravity: [0, 0, -9.81]
parameters: {m: 10, Jz: 1, mw: 1, jw: 0.01, r: 0.1, b: 0.3, d: 0.05}
base:
  kind: planar
  inertia: {mass: m, centre: [d, 0, 0], tensor: [0, 0, Jz]}
bodies:
  left_wheel:
    pose: {position: [0, b, r], rpy: [-pi/2, 0, 0]}
    joint: {kind: revolute, coordinate: phiL}
    inertia: {mass: mw, centre: [0, 0, 0], tensor: [jw/2, jw/2, jw]}
  right_wheel:
    pose: {position: [0, -b, r], rpy: [-pi/2, 0, 0]}
    joint: {kind: revolute, coordinate: phiR}
    inertia: {mass: mw, centre: [0, 0, 0], tensor: [jw/2, jw/2, jw]}
constraints:
  left: {rolling: {wheel: left_wheel, radius: r, axle: z}}
  right: {rolling: {wheel: right_wheel, radius: r, axle: z}}
inputs: {GL: {default: 0}, GR: {default: 0}}
loads:
  motorL: {effort: {coordinate: phiL, value: GL}}
  motorR: {effort: {coordinate: phiR, value: GR}}
"""

DISC = """
torseur: 1
name: disc
gravity: [0, 0, -9.81]
parameters: {m: 10, I: 1, J: 1.9, r: 0.1}
coordinates: {x: {start: 0}, y: {start: 0}, psi: {start: 0}, theta: {start: 1.2}, phi: {start: 0}}
bodies:
  disc:
    steps: [{tx: x}, {ty: y}, {tz: r*sin(theta)}, {rz: psi}, {rx: theta}, {rz: phi}]
    joint: fixed
    inertia: {mass: m, centre: [0, 0, 0], tensor: [I, I, J]}
constraints:
  ground: {rolling: {wheel: disc, radius: r, axle: z}}
"""


def test_kanes_steps_of_a_differential_drive_are_those_of_the_textbook(capsys, tmp_path):
    """Two rolling wheels ask twice for the same: one row is left out and no pseudo-inverse is printed."""
    pytest.importorskip("sympy")
    file = tmp_path / "drive.yaml"
    file.write_text(DRIVE)
    text = printed(capsys, file, "--of", "kane", "--steps")
    assert "pseudo_inverse" not in text
    assert "factor" not in text
    assert "left out: right_sideways" in text
    assert "[-r/(2*b)        r/(2*b)       ]" in text, "yaw rate r (phiR - phiL) / (2 b)"
    assert "C = [0                                     (m*r**3*d*(dphiL - dphiR))/(4*b**2)]" in text
    assert "tau_GL = [1]" in text
    assert "g_w (tau_0 + tau_GL GL + tau_GR GR)" in text
    assert "\n   g_w = D^-1\n" in text


@pytest.mark.slow
def test_kanes_steps_of_a_rolling_disc_are_those_of_the_textbook(capsys, tmp_path):
    """Rates of its angles are independent: the other speeds follow with nothing below a fraction line."""
    pytest.importorskip("sympy")
    file = tmp_path / "disc.yaml"
    file.write_text(DISC)
    text = printed(capsys, file, "--of", "kane", "--steps")
    assert "step_" not in text, "all is written out"
    assert "alpha = (dpsi, dtheta, dphi)" in text
    assert "for sin(theta) > 0, as at the start" in text
    assert "lam_ground_ahead = m*r*ddphi + m*r*cos(theta)*ddpsi - 2*m*r*sin(theta)*dpsi*dtheta" in text
    assert "tau = [0                   ]\n         [-9.81*m*r*cos(theta)]" in text


@pytest.mark.slow
def test_steps_and_the_numbers_of_kane_agree_on_the_disc(tmp_path):
    """D, C alpha and tau as printed are those that are computed, which take the rows as they are."""
    file = tmp_path / "disc.yaml"
    file.write_text(DISC)
    mechanism = load(file)
    steps, function = kane_steps(mechanism), equations(mechanism, "kane").function
    q = np.array([0.1, 0.2, 0.3, 1.1, 0.4])
    psi, theta = q[2:4]
    a, r = np.array([0.5, -0.7, 1.3]), 0.1
    ahead, side = -r * (np.cos(theta) * a[0] + a[2]), -r * np.sin(theta) * a[1]
    v = np.array([np.cos(psi) * ahead - np.sin(psi) * side, np.sin(psi) * ahead + np.cos(psi) * side, *a])
    values = {"q": q, "v": v, "p": np.array([10, 1, 1.9, 0.1])}
    computed = dict(
        zip(
            [o.name for o in function.outputs],
            evaluate(function, *(values[b.name] for b in function.inputs)),
            strict=True,
        )
    )
    blocks = [b for b in steps.blocks if b.name in values]
    k = steps.kane
    shown = evaluate(Function("shown", blocks, {"D": k.D, "C": k.C, "tau": k.tau}), *(values[b.name] for b in blocks))
    np.testing.assert_allclose(shown[0], computed["D"], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(shown[1] @ a, computed["C"] @ a, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(shown[2], computed["tau"], rtol=1e-12, atol=1e-12)


@pytest.mark.slow
def test_the_operational_space_of_a_small_arm_prints_in_closed_form(capsys):
    pytest.importorskip("sympy")
    text = printed(
        capsys, ARM, "--of", "operational_space", "--frame", "tool", "--task", "position", "--form", "closed"
    )
    assert "M_x[2,2] = (m2*l2**2 + j2)/l2**2\n" in text
    assert "g_x[2] = 9.81*m2*cos(theta1 + theta2)\n" in text
    assert not re.search(r"(?<![\w.])1\*", text), "no ones as factors"


@pytest.mark.slow
def test_closed_forms_hold_no_dust_of_rounding_and_a_seven_axis_arm_prints(capsys):
    pytest.importorskip("sympy")
    text = printed(
        capsys, ROOT / "examples" / "welding_arm" / "welding_arm.yaml", "--of", "mass_matrix", "--form", "closed"
    )
    assert "e-1" not in text
    assert "mass_matrix[7,7] = " in text


def test_kane_without_sympy_is_a_listing(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "sympy", None)
    text = printed(capsys, CAR, "--of", "kane", "--steps")
    assert "step_9(" in text
    assert re.search(r"^ +tau1 = ", text, re.MULTILINE)


def test_kane_with_a_quasi_speed(capsys):
    text = printed(capsys, TRUCK, "--of", "kane", "--independent", "alpha = 2*vx")
    assert text.startswith("kane(q[5], v[5], ")
    assert main(["equations", str(TRUCK), "--of", "kane", "--independent", "vy"]) != 0
    assert "constraints relate them" in capsys.readouterr().err


def test_what_concerns_the_tree_alone_is_said_to(capsys):
    assert main(["equations", str(CAR), "--of", "mass_matrix"]) == 0
    assert "those of the tree" in capsys.readouterr().err
    assert main(["equations", str(CAR), "--of", "reduced_mass_matrix"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    "arguments",
    [["--of", "bias"], ["--of", "kane", "--format", "c"], ["--of", "lagrange", "--independent", "dx"]],
)
def test_steps_of_what_has_none_are_refused(arguments, capsys):
    assert main(["equations", str(CAR), *arguments, "--steps"]) != 0
    assert "expected" in capsys.readouterr().err
