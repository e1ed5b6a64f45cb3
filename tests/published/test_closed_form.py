"""Closed forms: the planar arm prints as DeSantis 1996 writes it, and every form is the function it came from."""

import builtins
import re
import shutil
import subprocess

import numpy as np
import pytest
from hypothesis import given, settings

from support.evaluated import arguments_of, assert_same
from support.random_mechanisms import BodyPlan, Plan, mechanism_of, plans, state_of
from support.sweeps import mostly_slow
from torseur.describe import Effort, Mechanism, SpringDamper
from torseur.dynamics.quantities import Options, function_of
from torseur.errors import ArgumentError, MissingExtra
from torseur.graph import evaluate
from torseur.model import equations
from torseur.model.equations.closed_form import LARGEST, Closed, closed_form
from torseur.model.equations.collected_terms import Kind

sp = pytest.importorskip("sympy")


def link(number, parent):
    return {
        "parent": parent,
        "place": {"mdh": {"d": "l1" if number == 2 else 0.0}},
        "joint": {"kind": "revolute", "coordinate": f"theta{number}"},
        "inertia": {"mass": f"m{number}", "centre": (f"l{number}", 0.0, 0.0)},
    }


# Point masses, as (7.22) is printed: j1 = j2 = 0.
ARM = Mechanism.model_validate(
    {
        "name": "planar",
        "parameters": {name: {} for name in ("g", "l1", "l2", "m1", "m2")},
        "gravity": (0.0, "-g", 0.0),
        "bodies": {"first": link(1, "base"), "second": link(2, "first")},
    }
)

TEXT = {
    # (7.22)
    "mass_matrix": """\
mass_matrix[1,1] = (m1 + m2)*l1**2 + m2*l2**2 + 2*m2*l1*l2*cos(theta2)
mass_matrix[1,2] = m2*l2**2 + m2*l1*l2*cos(theta2)
mass_matrix[2,1] = mass_matrix[1,2]
mass_matrix[2,2] = m2*l2**2
""",
    # (7.23)
    "coriolis": """\
coriolis[1,1] = -m2*l1*l2*sin(theta2)*dtheta2
coriolis[1,2] = -m2*l1*l2*sin(theta2)*(dtheta1 + dtheta2)
coriolis[2,1] = m2*l1*l2*sin(theta2)*dtheta1
coriolis[2,2] = 0
""",
    # (7.24)
    "gravity": """\
gravity[1] = (m1 + m2)*g*l1*cos(theta1) + m2*g*l2*cos(theta1 + theta2)
gravity[2] = m2*g*l2*cos(theta1 + theta2)
""",
    # (7.25), with the c2 that its first line has lost
    "inverse_dynamics": """\
tau[1] = (m1 + m2)*l1**2*ddtheta1 + m2*l2**2*(ddtheta1 + ddtheta2) + m2*l1*l2*cos(theta2)*(2*ddtheta1 + ddtheta2) \
- m2*l1*l2*sin(theta2)*dtheta2*(2*dtheta1 + dtheta2) + (m1 + m2)*g*l1*cos(theta1) + m2*g*l2*cos(theta1 + theta2)
tau[2] = m2*l2**2*(ddtheta1 + ddtheta2) + m2*l1*l2*cos(theta2)*ddtheta1 + m2*l1*l2*sin(theta2)*dtheta1**2 \
+ m2*g*l2*cos(theta1 + theta2)
""",
    "kinetic_energy": """\
kinetic_energy = 1/2*(m1 + m2)*l1**2*dtheta1**2 + 1/2*m2*l2**2*(dtheta1 + dtheta2)**2 \
+ m2*l1*l2*cos(theta2)*dtheta1*(dtheta1 + dtheta2)
""",
}

LATEX = r"""\begin{align*}
\mathit{mass\_matrix}_{1,1} &= \left(m_{1} + m_{2}\right) \, l_{1}^{2} + m_{2} \, l_{2}^{2} + 2 \, m_{2} \, l_{1} \, l_{2} \, \cos\left(\theta_{2}\right) \\
\mathit{mass\_matrix}_{1,2} &= m_{2} \, l_{2}^{2} + m_{2} \, l_{1} \, l_{2} \, \cos\left(\theta_{2}\right) \\
\mathit{mass\_matrix}_{2,1} &= \mathit{mass\_matrix}_{1,2} \\
\mathit{mass\_matrix}_{2,2} &= m_{2} \, l_{2}^{2}
\end{align*}
"""  # noqa: E501


@pytest.mark.parametrize("quantity", TEXT)
@pytest.mark.parametrize("base_parameters", [False, True])
def test_the_planar_arm_prints_as_in_the_book(quantity, base_parameters):
    assert equations(ARM, quantity, base_parameters=base_parameters).closed().text() == TEXT[quantity]


def test_in_latex_too():
    assert equations(ARM, "mass_matrix").closed().latex() == LATEX


def test_names_that_look_alike_are_told_apart_in_latex():
    x, y = sp.Symbol("th1", real=True), sp.Symbol("theta1", real=True)
    order = {"th1": (Kind.COORDINATE, 0), "theta1": (Kind.PARAMETER, 0)}
    text = Closed("f", {"f": x + 2 * y}, order, {}).latex()
    assert r"\mathtt{th1}" in text
    assert r"\mathtt{theta1}" in text


def test_rates_are_dots_in_latex():
    text = equations(ARM, "coriolis").closed().latex()
    assert r"\dot{\theta}_{1} + \dot{\theta}_{2}" in text
    assert r"\ddot{\theta}_{1}" in equations(ARM, "inverse_dynamics").closed().latex()


# -- every closed form is the function it came from ------------------------------------------------------------------
SMALL = ("mass_matrix", "gravity", "kinetic_energy", "inverse_dynamics")


def values_of(closed, mechanism, function, s):
    """A closed form read back from its own text, and evaluated."""
    args = arguments_of(mechanism, function, (s.q, s.v, s.vdot)[: len(function.inputs) - ("p" in _names(function))])
    numbers = {}
    for block, value in zip(function.inputs, args, strict=True):
        named = [n.replace("vdot_d", "dd") for n in block.names]
        numbers |= dict(zip(named, np.ravel(value), strict=True))
    found = []
    known = {}
    for line in closed.text().splitlines():
        left, right = line.split(" = ")
        whole = known.get(right) or sp.sympify(right, locals={n: sp.Symbol(n) for n in numbers})
        known[left] = whole
        found.append(float(whole.subs({sp.Symbol(n): x for n, x in numbers.items()})))
    return found


def _names(function):
    return {b.name for b in function.inputs}


@given(plan=plans(max_bodies=2, bases=("fixed",), kinds=("revolute", "prismatic", "screw"), symbols=False))
@settings(max_examples=5)
def test_a_closed_form_has_the_values_of_the_function(plan):
    mechanism = mechanism_of(plan)
    s = state_of(mechanism, plan.seed % 100)
    for quantity in SMALL:
        function = function_of(mechanism, quantity, Options())
        if len(function.nodes) > 150:
            continue
        expected = np.ravel(evaluate(function, *arguments_of(mechanism, function, _leading(quantity, s)))[0])
        assert_same(values_of(closed_form(function), mechanism, function, s), expected, size=10.0, tolerance=1e-9)


def _leading(quantity, s):
    return {"mass_matrix": (s.q,), "gravity": (s.q,), "kinetic_energy": (s.q, s.v)}.get(quantity, (s.q, s.v, s.vdot))


def described(kinds):
    """A chain in the plane x y with a symbol for everything, from a word such as RPR."""
    bodies, parameters = {}, {"g": {"value": 9.7}}
    for k, letter in enumerate(kinds, 1):
        parameters |= {f"{name}{k}": {"value": 0.3 + 0.1 * k * i} for i, name in enumerate("lmjhb", 1)}
        turn = {"alpha": "pi/2"} if letter == "P" else {"alpha": "-pi/2"} if k > 1 and kinds[k - 2] == "P" else {}
        bodies[f"b{k}"] = {
            "parent": f"b{k - 1}" if k > 1 else "base",
            "place": {"mdh": {"d": f"b{k}", **turn}},
            "joint": {"kind": {"R": "revolute", "P": "prismatic"}[letter], "coordinate": f"q{k}"},
            "inertia": {"M": f"m{k}", "MX": f"m{k}*l{k}", "MY": f"h{k}", "ZZ": f"j{k}", "YY": f"j{k}"},
        }
    fields = {"name": "chain", "parameters": parameters, "bodies": bodies, "gravity": (0.0, "-g", 0.0)}
    return Mechanism.model_validate(fields)


CHAINS = "R", "P", "RR", "RP", "PR", "PP", "RRR"


@pytest.mark.parametrize("kinds", mostly_slow(CHAINS, quick=CHAINS[:-1]))
@pytest.mark.parametrize("quantity", ["mass_matrix", "kinetic_energy", "inverse_dynamics", "coriolis"])
def test_with_symbols_it_has_the_values_of_the_function_too(kinds, quantity):
    mechanism = described(kinds)
    if quantity == "inverse_dynamics" and len(kinds) > 2:
        pytest.skip("takes a while")
    s = state_of(mechanism, 4)
    function = function_of(mechanism, quantity, Options(base_parameters=False))
    leading = {"mass_matrix": (s.q,), "inverse_dynamics": (s.q, s.v, s.vdot)}.get(quantity, (s.q, s.v))
    expected = np.ravel(evaluate(function, *arguments_of(mechanism, function, leading))[0])
    assert_same(values_of(closed_form(function), mechanism, function, s), expected, size=1.0)


def test_forward_dynamics_is_a_quotient():
    text = equations(ARM, "forward_dynamics").closed().text()
    assert text.count(")/(") == 2
    q, v, tau = np.array([0.3, 0.8]), np.array([0.5, -0.2]), np.array([1.0, 2.0])
    p = {"g": 9.81, "l1": 0.5, "l2": 0.4, "m1": 3.0, "m2": 2.0}
    function = function_of(ARM, "forward_dynamics", Options())
    expected = evaluate(function, q, v, tau, [p[n] for n in function.inputs[-1].names])[0]
    names = dict(zip(("theta1", "theta2", "dtheta1", "dtheta2"), (*q, *v), strict=True)) | p
    names |= {"tau_dtheta1": 1.0, "tau_dtheta2": 2.0}
    closed = equations(ARM, "forward_dynamics").closed().outputs["vdot"]
    assert_same([float(x.subs({sp.Symbol(n, real=True): y for n, y in names.items()})) for x in closed], expected)


def test_friction_and_springs_are_in_it():
    loads = {"hinge": SpringDamper(coordinate="theta1", stiffness=3.0, damping=0.5, friction=0.2)}
    text = equations(ARM.model_copy(update={"loads": loads}), "inverse_dynamics").closed().text()
    assert "3*theta1" in text
    assert "1/2*dtheta1" in text
    assert "0.2*sign(dtheta1)" in text


def test_a_small_number_beside_a_large_one_is_no_dust():
    loads = {"stop": SpringDamper(coordinate="theta1", stiffness=1e9, damping=2e-5)}
    text = equations(ARM.model_copy(update={"loads": loads}), "inverse_dynamics").closed().text()
    assert "1000000000*theta1" in text
    assert "2e-05*dtheta1" in text


def test_what_rounding_leaves_of_zero_is_not_printed():
    none = {"none": Effort(coordinate="theta1", value="m1*(0.1*theta1 + 0.2*theta1 - 0.3*theta1)")}
    text = equations(ARM.model_copy(update={"loads": none}), "inverse_dynamics").closed().text()
    assert text == TEXT["inverse_dynamics"]


# -- where it ends ---------------------------------------------------------------------------------------------------
def test_too_large_is_refused_with_its_size():
    chain = tuple(BodyPlan("revolute", k - 1, "rpy") for k in range(6))
    with pytest.raises(ArgumentError, match=f"at most {LARGEST} operations"):
        equations(mechanism_of(Plan("fixed", chain, symbols=True, seed=1)), "inverse_dynamics").closed()


def test_without_sympy_it_says_what_to_install(monkeypatch):
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name == "sympy":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtra, match="symbolic"):
        equations(ARM, "mass_matrix").closed()


# -- LaTeX -----------------------------------------------------------------------------------------------------------
QUANTITIES = ("mass_matrix", "coriolis", "inverse_dynamics", "forward_dynamics", "kinetic_energy")


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_the_latex_is_well_formed(quantity):
    text = equations(ARM, quantity).closed().latex()
    assert text.count("{") == text.count("}")
    assert text.count(r"\left(") == text.count(r"\right)")
    assert re.findall(r"\\(begin|end)\{(.*?)\}", text) == [("begin", "align*"), ("end", "align*")]
    lines = text.split("\\\\\n")
    assert all(line.count("&=") == 1 for line in lines)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no pdflatex")
def test_the_latex_compiles(tmp_path):
    body = "\n".join(equations(ARM, quantity).closed().latex() for quantity in QUANTITIES)
    head = "\\documentclass{article}\\usepackage{amsmath}\\begin{document}\n"
    (tmp_path / "closed.tex").write_text(head + body + "\\end{document}\n")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "closed.tex"]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True).returncode == 0
