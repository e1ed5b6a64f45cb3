"""MATLAB and Julia: golden texts; run where Octave or Julia is installed, parsed where a parser is."""

import shutil
import subprocess
from collections.abc import Sequence

import numpy as np
import pytest

from support.planar_arm import planar_inertia
from support.random_functions import showcase
from support.rounding import assert_agrees
from torseur.emit.text import to_julia, to_matlab
from torseur.graph import Function, Graph, Role, maximum, minimum, select, solve, sqrt, table

MATLAB = """\
function [M, work] = inertia(q, p, work)
% q (2), state: q1 q2
% p (6), parameter: ZZ1 ZZ2 MX2 MY2 M2 L
% M (2 x 2), output
% work: what depends on parameters only; may be left out, or passed on from an earlier call
if nargin < 3
    work = inertia_prologue(p);
end
q2 = q(2);
ZZ2 = p(2);
MX2 = p(3);
MY2 = p(4);
L = p(6);
t1 = work(1);
C2 = cos(q2);
S2 = sin(q2);
h = L*(MX2*C2 - MY2*S2);
M1_2 = ZZ2 + h;
M = zeros(2, 2);
M(1, 1) = t1 + 2*h;
M(1, 2) = M1_2;
M(2, 1) = M1_2;
M(2, 2) = ZZ2;
end

function work = inertia_prologue(p)
ZZ1 = p(1);
ZZ2 = p(2);
M2 = p(5);
L = p(6);
ZZ1R = ZZ1 + L*L*M2;
t1 = ZZ2 + ZZ1R;
work = [t1];
end
"""

JULIA = """\
# What depends on parameters only, to be passed to inertia as work.
function inertia_prologue(p)
    ZZ1 = p[1]
    ZZ2 = p[2]
    M2 = p[5]
    L = p[6]
    ZZ1R = ZZ1 + L*L*M2
    t1 = ZZ2 + ZZ1R
    return [t1]
end

# q (2), state: q1 q2
# p (6), parameter: ZZ1 ZZ2 MX2 MY2 M2 L
# M (2 x 2), output
function inertia(q, p, work = inertia_prologue(p))
    number_type = promote_type(Float64, eltype(q), eltype(p))
    q2 = q[2]
    ZZ2 = p[2]
    MX2 = p[3]
    MY2 = p[4]
    L = p[6]
    t1 = work[1]
    C2 = cos(q2)
    S2 = sin(q2)
    h = L*(MX2*C2 - MY2*S2)
    M1_2 = ZZ2 + h
    M = Array{number_type}(undef, 2, 2)
    M[1, 1] = t1 + 2.0*h
    M[1, 2] = M1_2
    M[2, 1] = M1_2
    M[2, 2] = ZZ2
    return M
end
"""


def test_the_inertia_matrix_of_the_planar_arm_in_matlab():
    assert to_matlab(planar_inertia()) == MATLAB


def test_the_inertia_matrix_of_the_planar_arm_in_julia():
    assert to_julia(planar_inertia()) == JULIA


def carried() -> Function:
    """A bundle, a condition and a number that wait for the evaluation."""
    g = Graph()
    p, q = g.block("p", (2, 2), Role.PARAMETER), g.block("q", 2)
    x = solve([[p[0], p[1]], [p[2], p[3]]], list(q))
    chosen = select(p[0] < p[1], q[0], minimum(q[1], sqrt(p[3])))
    return Function("f", [p, q], {"x": x, "y": chosen + select(p[0] < p[1], q[1], 0.0)})


def test_matlab_keeps_what_waits_in_one_column():
    text = to_matlab(carried())
    assert "work = [r1; double(c1); t1];" in text
    assert "r1 = work(1:5);\nc1 = work(6) ~= 0;\nt1 = work(7);\n" in text
    assert "r2 = substitute2(r1, [q1; q2]);" in text


def test_julia_keeps_what_waits_in_one_vector():
    text = to_julia(carried())
    assert "return [r1; Float64(c1); t1]" in text
    assert "    r1 = work[1:5]\n    c1 = work[6] != 0\n    t1 = work[7]\n" in text
    assert "r2 = substitute2(r1, [q1, q2])" in text


def test_functions_that_would_leave_the_real_numbers_are_guarded():
    g = Graph()
    x = g.symbol("x")
    f = Function("f", [g.blocks["x"]], {"y": sqrt(x) + x**0.3, "z": maximum(x, 1.0)})
    matlab, julia = to_matlab(f), to_julia(f)
    assert "y = real_sqrt(x) + real_pow(x, 0.3);" in matlab
    assert "function y = real_sqrt(x)\nif x < 0\n    y = NaN;" in matlab
    assert "function y = maximum(a, b)" in matlab  # MATLAB's own max ignores NaN
    assert "real_sqrt(x) = x < 0 ? NaN : sqrt(x)" in julia
    assert "z = max(1.0, x)" in julia


def test_names_that_matlab_cannot_take_are_changed():
    g = Graph()
    q = g.block("q", 4, names=["_a", "end", "b" * 80, "b" * 90])
    text = to_matlab(Function("f", [q], {"y": q[0] + q[1] + q[2] + q[3]}))
    assert "x_a = q(1);\nend_ = q(2);\n" in text
    long = [line.split(" = ")[0] for line in text.splitlines() if line.startswith("bbb")]
    assert len(set(long)) == 2
    assert max(map(len, long)) <= 63


def test_long_lists_are_continued_on_the_next_line():
    g = Graph()
    q = g.block("q", (4, 4))
    x = solve([list(q)[4 * k : 4 * k + 4] for k in range(4)], [1e-3 + 123456.789 * k * q[k] for k in range(4)])
    text = to_matlab(Function("f", [q], {"x": x}))
    assert all(len(line) < 200 for line in text.splitlines())
    for line, after in zip(text.splitlines(), text.splitlines()[1:], strict=False):
        if after.startswith("    ") and not after.startswith(("    y =", "    u =", "    work =")):
            assert line.endswith("...")


@pytest.mark.parametrize(("language", "emit"), [("matlab", to_matlab), ("julia", to_julia)])
@pytest.mark.parametrize("build", [showcase, carried, planar_inertia])
def test_a_parser_finds_no_error(language, emit, build):
    tree_sitter = pytest.importorskip("tree_sitter")
    grammar = pytest.importorskip(f"tree_sitter_{language}")
    parser = tree_sitter.Parser(tree_sitter.Language(grammar.language()))
    tree = parser.parse(emit(build()).encode())
    assert not tree.root_node.has_error


# -- run, where the program exists -------------------------------------------------------------------------------------


def numbers(program: Sequence[str], script: str, folder) -> list[float]:
    made = subprocess.run([*program, script], cwd=folder, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr[-2000:]
    return [float(x) for x in made.stdout.split()]


def split(function: Function, flat: Sequence[float]) -> list[np.ndarray]:
    sizes = np.cumsum([0, *(len(o.exprs) for o in function.outputs)])
    return [np.array(flat[i:j]).reshape(o.shape) for o, i, j in zip(function.outputs, sizes, sizes[1:], strict=False)]


@pytest.mark.parametrize("build", [showcase, carried, planar_inertia])
def test_matlab_agrees_with_the_reference(build, tmp_path):
    octave = shutil.which("octave-cli") or shutil.which("octave")
    if octave is None:
        pytest.skip("no Octave")
    f = build()
    args = [np.random.default_rng(6).uniform(-1, 1, b.shape) for b in f.inputs]
    (tmp_path / f"{f.name}.m").write_text(to_matlab(f), encoding="utf-8")
    given = [f"reshape([{' '.join(map(repr, a.ravel(order='F').tolist()))}], [{_shape(a)}])" for a in args]
    names = [f"o{k}" for k, _ in enumerate(f.outputs)]
    show = "".join(f"printf('%.17g ', permute({n}, ndims({n}):-1:1)); " for n in names)
    (tmp_path / "run.m").write_text(f"[{', '.join(names)}] = {f.name}({', '.join(given)}); {show}", encoding="utf-8")
    assert_agrees(f, args, split(f, numbers([octave, "--quiet", "--no-gui"], "run.m", tmp_path)))


@pytest.mark.parametrize("build", [showcase, carried, planar_inertia])
def test_julia_agrees_with_the_reference(build, tmp_path):
    julia = shutil.which("julia")
    if julia is None:
        pytest.skip("no Julia")
    f = build()
    args = [np.random.default_rng(7).uniform(-1, 1, b.shape) for b in f.inputs]
    given = [repr(float(a)) if a.ndim == 0 else f"reshape({a.ravel(order='F').tolist()}, {a.shape})" for a in args]
    lines = [to_julia(f), f"result = {f.name}({', '.join(given)})", "parts = result isa Tuple ? result : (result,)"]
    lines.append('for x in parts; print(join(permutedims(collect(x), ndims(x):-1:1), " "), " "); end')
    (tmp_path / "run.jl").write_text("\n".join(lines), encoding="utf-8")
    assert_agrees(f, args, split(f, numbers([julia], "run.jl", tmp_path)))


def _shape(array: np.ndarray) -> str:
    return " ".join(map(str, (*array.shape, 1, 1)[: max(2, array.ndim)]))


def test_a_flat_end_of_a_table_answers_at_infinity_in_every_text():
    g = Graph()
    x = g.symbol("x")
    f = Function("f", [g.blocks["x"]], {"y": table(x, [0, 1], [2, 3])})
    assert "if isinf(u) && row(3) == 0\n    u = 0;" in to_matlab(f)
    assert "u = rows[k, 3] == 0 ? 0.0 : NaN" in to_julia(f)
