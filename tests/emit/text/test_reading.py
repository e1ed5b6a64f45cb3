"""Listings and LaTeX: golden texts of small functions, and LaTeX that must compile."""

import re
import shutil
import subprocess

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.planar_arm import planar_inertia
from support.random_functions import arguments, functions, showcase
from support.recipes import KINDS
from support.rounding import assert_close, evaluate_with_bounds
from torseur.emit.text import to_latex, to_listing
from torseur.emit.text.latex import symbol
from torseur.graph import Block, Function, Graph, Role, call, cos, root, select, sin, solve, sqrt, table

LISTING = """\
inertia(q[2], p[6]) -> M[2, 2]

once per parameter set: 2 products, 2 sums
    ZZ1R = ZZ1 + M2*L**2
    t1 = ZZ2 + ZZ1R
    M2_2 = ZZ2

at every evaluation: 4 products, 3 sums, 1 sine-cosine pair
    C2 = cos(q2)
    S2 = sin(q2)
    h = L*(MX2*C2 - MY2*S2)
    M1_2 = ZZ2 + h
    M1_1 = t1 + 2*h
    M2_1 = M1_2
"""

LATEX = r"""\begingroup\allowdisplaybreaks
\noindent Once per parameter set (2 products, 2 sums):
\begin{align*}
\mathrm{ZZ}_{1\mathrm{R}} &= \mathrm{ZZ}_{1} + M_{2} \, L^{2} \\
t_{1} &= \mathrm{ZZ}_{2} + \mathrm{ZZ}_{1\mathrm{R}}
\end{align*}
\noindent At every evaluation (4 products, 3 sums, 1 sine-cosine pair):
\begin{align*}
C_{2} &= \cos\left(q_{2}\right) \\
S_{2} &= \sin\left(q_{2}\right) \\
h &= L \, \left(\mathrm{MX}_{2} \, C_{2} - \mathrm{MY}_{2} \, S_{2}\right) \\
M_{1,2} &= \mathrm{ZZ}_{2} + h \\
M_{1,1} &= t_{1} + 2 \, h \\
\mathbf{M} &= \left[\begin{array}{cc} M_{1,1} & M_{1,2} \\ M_{1,2} & \mathrm{ZZ}_{2} \end{array}\right]
\end{align*}
\endgroup
"""


def test_the_inertia_matrix_of_the_planar_arm_as_a_listing():
    assert to_listing(planar_inertia()) == LISTING


def test_the_inertia_matrix_of_the_planar_arm_in_latex():
    assert to_latex(planar_inertia()) == LATEX


def lines_of(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.startswith("    ")]


@pytest.mark.parametrize(
    ("build", "listing", "latex"),
    [
        (lambda x, y, z: x + (y - z), "y - z + x", "y - z + x"),
        (lambda x, y, z: x - (y - z), "x - (y - z)", r"x - \left(y - z\right)"),
        (lambda x, y, z: x * (y * z), "x*y*z", r"x \, y \, z"),
        (lambda x, y, z: x * (2.0 * x), "2*x**2", r"2 \, x^{2}"),
        (lambda x, y, z: (x + y) ** 3, "t1**3", "t_{1}^{3}"),
        (lambda x, y, z: (x + y) ** 2, "(x + y)**2", r"\left(x + y\right)^{2}"),
        (lambda x, y, z: (x * y) / (y + z), "x*y/(y + z)", r"\frac{x \, y}{y + z}"),
        (lambda x, y, z: -x / (3e-5 * y), "-x/(3e-05*y)", r"-\frac{x}{3 \cdot 10^{-5} \, y}"),
        (lambda x, y, z: sqrt(x) * sin(y), "sqrt(x)*sin(y)", r"\sqrt{x} \, \sin\left(y\right)"),
        (lambda x, y, z: x ** (y + 1.0), "x**(y + 1)", "x^{y + 1}"),
        (
            lambda x, y, z: select((x < y) & ~(y <= z), x, 1.0),
            "select((x < y) and (not (y <= z)), x, 1)",
            r"\begin{cases} x & \text{if } \left(x < y\right) \land \left(\lnot \left(y \le z\right)\right)"
            r" \\ 1 & \text{otherwise} \end{cases}",
        ),
    ],
)
def test_expressions_read_as_a_person_would_write_them(build, listing, latex):
    g = Graph()
    f = Function("f", [g.blocks[g.symbol(n).data[0]] for n in "xyz"], {"r": build(*(b[0] for b in g.blocks.values()))})
    assert lines_of(to_listing(f))[-1] == f"r = {listing}"
    assert f"\nr &= {latex}\n" in to_latex(f)


def test_calls_systems_roots_and_tables_are_explained_below():
    inner_graph = Graph()
    x, a = inner_graph.block("x", 1), inner_graph.block("a", 1)
    residual = Function("square", [x, a], {"r": [x[0] * x[0] - a[0]]})
    g = Graph()
    q = g.block("q", 2)
    outputs = {
        "s": call(residual, [q[0]], [q[1]]),
        "x": solve([[q[0], 1.0], [2.0, q[1]]], [1.0, q[0]]),
        "y": root(residual, [1.0], [q[1]]),
        "z": table(q[0], [0, 1, 3], [0, 2, -2]),
    }
    text = to_listing(Function("f", [q], outputs))
    assert "r1 = square([q1], [q2])\n" in text
    assert "r2 = factor2([[q1, 1], [2, q2]])\n" in text
    assert "r3 = substitute2(r2, [1, q1])\n" in text
    assert "\nsquare(x[1], a[1]) -> r[1]: 1 product, 1 sum\n    r1 = x1**2 - a1\n" in text
    assert "\nfactor2: the factors of a 2 x 2 matrix\n" in text
    assert "\nroot_square: the first argument of square that makes it zero" in text
    assert "table1(x), by intervals\n    x < 0: 0\n    0 <= x < 1: 2*x\n    1 <= x < 3: 2 - 2*(x - 1)\n" in text


def test_each_stage_has_its_heading_and_its_count():
    g = Graph()
    m, t, q = g.symbol("m", Role.PARAMETER), g.symbol("t", Role.TIME), g.symbol("q")
    f = Function("f", list(g.blocks.values()), {"y": sqrt(m) * q + cos(t)})
    headings = [line for line in to_listing(f).splitlines() if line.endswith(("root", "pair", "sum"))]
    assert headings == [
        "once per parameter set: 1 square root",
        "once per instant: 1 sine-cosine pair",
        "at every evaluation: 1 product, 1 sum",
    ]


def test_names_that_look_alike_in_latex_are_told_apart():
    g = Graph()
    q = g.block("q", 3, names=["q1", "q_1", "q_1_2"])
    text = to_latex(Function("f", [q], {"y": q[0] + q[1] * q[2]}))
    names = re.search(r"y &= (.*)", text)[1].replace(r" \, ", " + ").split(" + ")
    assert len(set(names)) == 3


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("q", "q"),
        ("qd", r"\dot{q}"),
        ("qdd12", r"\ddot{q}_{12}"),
        ("vdot", r"\dot{v}"),
        ("omegaddot_3", r"\ddot{\omega}_{3}"),
        ("dot", r"\mathrm{dot}"),
        ("Omega1", r"\Omega_{1}"),
        ("th12", r"\theta_{12}"),
        ("R_th", r"R_{\mathrm{th}}"),
        ("x_theta", r"x_{\theta}"),
        ("a__b", r"\mathtt{a\_\_b}"),
        ("lambda_", r"\mathtt{lambda\_}"),
    ],
)
def test_the_rules_for_symbols(name, expected):
    assert symbol(name) == expected


# -- LaTeX that compiles -----------------------------------------------------------------------------------------------


def check_latex(text: str) -> None:
    """Braces balance; environments and \\left, \\right pairs close in order, within a line where they must."""
    plain = text.replace(r"\{", "").replace(r"\}", "")
    depth = 0
    for character in plain:
        depth += {"{": 1, "}": -1}.get(character, 0)
        assert depth >= 0
    assert depth == 0
    stack: list[str] = []
    for token in re.finditer(r"\\begin\{([^}]*)\}|\\end\{([^}]*)\}|\\left|\\right(?!arrow)|\\\\|&", plain):
        word = token.group()
        if word.startswith(r"\begin"):
            stack.append(token[1])
        elif word.startswith(r"\end"):
            assert stack.pop() == token[2]
        elif word == r"\left":
            stack.append("left")
        elif word == r"\right":
            assert stack.pop() == "left"
        else:
            assert stack, "an alignment mark outside every environment"
            assert stack[-1] != "left", "a line breaks inside brackets"
    assert not stack
    assert not re.search(r"[_^][^{]", re.sub(r"\\_", "", plain))


@settings(max_examples=40)
@given(functions())
def test_latex_is_well_formed(function):
    check_latex(to_latex(function))


def test_latex_compiles(tmp_path):
    pdflatex = shutil.which("pdflatex")
    if pdflatex is None:
        pytest.skip("no pdflatex")
    body = to_latex(showcase()) + to_latex(planar_inertia())
    document = f"\\documentclass{{article}}\n\\usepackage{{amsmath}}\n\\begin{{document}}\n{body}\\end{{document}}\n"
    (tmp_path / "text.tex").write_text(document, encoding="utf-8")
    command = [pdflatex, "-interaction=nonstopmode", "-halt-on-error", "text.tex"]
    made = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert made.returncode == 0, made.stdout[-2000:]


# -- listings are programs too -----------------------------------------------------------------------------------------


MEANINGS = {name: getattr(np, name) for name in ("sqrt", "exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh")}
MEANINGS |= {f"a{n[3:]}": getattr(np, n) for n in ("arcsin", "arccos", "arctan", "arcsinh", "arccosh", "arctanh")}
MEANINGS |= {"atan2": np.arctan2, "min": np.minimum, "max": np.maximum, "abs": np.abs, "sign": np.sign}
MEANINGS |= {"floor": np.floor, "select": lambda c, a, b: a if c else b, "false": False, "true": True}
MEANINGS |= {"inf": np.inf, "nan": np.nan}


@settings(max_examples=60)
@given(data=st.data())
def test_a_listing_computes_what_the_function_does(data):
    """Read statement by statement as Python; brackets that were left out change the result by rounding only."""
    function = data.draw(functions(kinds=[k for k in KINDS if k != "table"], nested=False))
    args = data.draw(arguments(function, batch=()))
    space = dict(MEANINGS)
    for block, arg in zip(function.inputs, args, strict=True):
        space |= dict(zip(block.names, np.ravel(arg), strict=True))
    with np.errstate(all="ignore"):
        for line in lines_of(to_listing(function)):
            name, _, text = line.partition(" = ")
            space[name] = eval(text, space)
    for output, value, bound in zip(function.outputs, *evaluate_with_bounds(function, *args), strict=True):
        got = np.array([space[label] for label in Block.labels(output.name, output.shape, None)], float)
        assert_close(got.reshape(output.shape), value, 100 * bound + 1e-9 * (1 + np.abs(value)))


def test_no_numbered_result_is_called_like_a_coordinate():
    """Not even like one that the equations do not contain: t1 is an angle of SYMORO+ files."""
    g = Graph()
    q = g.block("q", 3, names=["t1", "t2", "t3"])
    f = Function("f", [q], {"y": sin(q[1]) * (1 + sin(q[1]))})
    text = to_listing(f)
    assert "t4 = sin(t2)" in text
    assert "t1 =" not in text
    assert "t_{1} &=" not in to_latex(f)


def test_inputs_are_written_as_they_are_asked_for():
    g = Graph()
    a = g.block("vdot", 2, names=["vdot_dq1", "vdot_dq2"])
    text = to_listing(Function("f", [a], {"y": a[0] - a[1]}), {"vdot_dq1": "ddq1", "vdot_dq2": "ddq2"})
    assert "y = ddq1 - ddq2" in text
