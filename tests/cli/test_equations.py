"""``torseur equations``: what it prints for each format and quantity, and what it refuses."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from torseur.cli import main
from torseur.formats import load
from torseur.model import equations

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
    assert "4 pairs" in printed(capsys, listing, "--count"), "one sine and cosine per angle that is felt, no more"


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
    assert re.fullmatch(r"  at every evaluation: \d+ products, \d+ sums, 5 pairs", lines[2])
    numbers = [[int(x) for x in re.findall(r"(\d+) (?:products|sums)", line)] for line in lines[1:4]]
    assert numbers[2] == [a + b for a, b in zip(*numbers[:2], strict=True)]
    assert lines[3].startswith("  in all: ")


def test_loads_can_be_left_out(capsys):
    assert "choices" in printed(capsys, RX90, "--count")
    assert "choices" not in printed(capsys, RX90, "--count", "--without-loads")


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
        (["--of", "jacobian", "--frame", "tol"], "did you mean tool?"),
        (["--form", "closed", "--format", "c"], "--format text or latex"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments, text, capsys):
    assert main(["equations", str(ARM), *arguments]) == 1
    assert text in capsys.readouterr().err


def test_too_large_for_a_closed_form(capsys):
    assert main(["equations", str(RX90), "--form", "closed"]) == 1
    assert "too large for a closed form" in capsys.readouterr().err


def test_a_file_that_is_not_there(capsys):
    assert main(["equations", "nowhere.yaml"]) == 1
    assert "nowhere.yaml" in capsys.readouterr().err


def test_it_runs_as_a_program():
    command = [sys.executable, "-m", "torseur", "equations", str(ARM), "--of", "gravity", "--form", "closed"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
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


def test_kane_without_sympy_is_a_listing(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "sympy", None)
    text = printed(capsys, CAR, "--of", "kane", "--steps")
    assert "step_9(" in text
    assert re.search(r"^ +tau1 = ", text, re.MULTILINE)


def test_kane_with_a_quasi_speed(capsys):
    text = printed(capsys, TRUCK, "--of", "kane", "--independent", "alpha = 2*vx")
    assert text.startswith("kane(q[5], v[5], ")
    assert main(["equations", str(TRUCK), "--of", "kane", "--independent", "vy"]) != 0
    assert "the constraints tie them" in capsys.readouterr().err


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
