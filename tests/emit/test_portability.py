"""The code is plain LLVM: every processor LLVM knows can have it, and every LLVM from the oldest we allow."""

import re

import pytest

from support.random_functions import showcase
from torseur.emit import HEUN, ir
from torseur.emit.ir import Lanes
from torseur.emit.jit import Machine, Tier, assemble, assembly, host
from torseur.emit.routines import ROUTINES, routine_text, symbol_of
from torseur.emit.run_loop import run_text
from torseur.emit.source import module_text
from torseur.graph import ConstrainedSystem, Function, Graph, Role
from torseur.graph.constrained_routines import FACTORS, MULTIPLIERS, SOLUTION

llvm = pytest.importorskip("llvmlite.binding")
SHOWCASE = showcase()
TRIPLES = {
    "aarch64-unknown-linux-gnu": "clear",
    "arm64-apple-macosx11.0": "clear",
    "riscv64-unknown-linux-gnu": "clear",
    "powerpc64le-unknown-linux-gnu": "",
    "x86_64-unknown-linux-gnu": "x86",
    "x86_64-pc-windows-msvc": "x86",
}


@pytest.fixture(params=TRIPLES)
def machine(request, monkeypatch):
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    try:
        llvm.Target.from_triple(request.param)
    except RuntimeError:
        pytest.skip("this LLVM does not know the processor")
    kind = TRIPLES[request.param]
    monkeypatch.setattr(ir, "_X86", kind == "x86")
    monkeypatch.setattr(ir, "_CLEARABLE", kind == "clear")
    return Machine(request.param, "", "")


@pytest.mark.parametrize("lanes", [1, 2, 4])
def test_native_functions_assemble_for_other_processors(machine, lanes):
    text, header = module_text({"": SHOWCASE}, Lanes(lanes))
    code = assemble(text, machine, Tier.QUICK)
    assert all(name.encode() in code for name in header["functions"][""]["entries"])
    assert header["routines"] == []


def test_integrators_assemble_for_other_processors(machine):
    g = Graph()
    x = g.block("x", 3)
    rate = Function("rate", [x], {"dx": [x[1].sin(), -x[0] / x[2], x[2]]})
    text, routines = run_text(rate, HEUN, Lanes(2))
    assert b"run" in assemble(text, machine, Tier.FULL)
    assert routines == []


@pytest.mark.slow
@pytest.mark.parametrize("routine", ROUTINES.values(), ids=lambda r: r.name)
def test_routines_assemble_for_other_processors(machine, routine):
    given = ((3, 2, 2, 3, 3), Lanes(2)) if routine.in_step else ()
    symbol = symbol_of(routine, *given)
    assert symbol.encode() in assemble(routine_text(symbol, routine, *given), machine, Tier.LOOPS)


@pytest.mark.parametrize("lanes", [1, 4])
def test_code_names_the_routines_it_calls_each_once(machine, lanes):
    f = constrained()
    text, header = module_text({"": f}, Lanes(lanes))
    code, routines = assemble(text, machine, Tier.QUICK), header["routines"]
    assert sorted(routines) == sorted(map(symbol_of, (FACTORS, SOLUTION, MULTIPLIERS)))
    assert all(name.encode() in code for name in routines)
    rate = Function("rate", f.inputs, {"dx": f.outputs[0].exprs})
    text, routines = run_text(rate, HEUN, Lanes(lanes))
    assert sorted(routines) == sorted(symbol_of(r) for r in (FACTORS, SOLUTION))
    assert all(name.encode() in assemble(text, machine, Tier.QUICK) for name in routines)


def constrained() -> Function:
    """x of least 1/2 x' M x - f' x under one row said twice, and its multipliers."""
    g = Graph()
    rank, x = g.symbol("rank", Role.PARAMETER), g.block("x", 3)
    M = [[2.0 + x[0].sin(), g.zero, x[1]], [g.zero, g.number(3.0), g.zero], [x[1], g.zero, g.number(4.0)]]
    A = [[x[0], x[1], g.one], [2.0 * x[0], 2.0 * x[1], g.number(2.0)]]
    system = ConstrainedSystem(M, A, rank)
    solved = system.solve(list(x), [g.one, g.number(2.0)])
    return Function("f", [g.blocks["rank"], x], {"a": solved, "l": system.multipliers(list(x))})


def test_what_is_asked_of_the_c_library_is_standard_c():
    known = {"malloc", "free", "feclearexcept", "sin", "cos", "exp", "log", "pow", "asin", "acos", "atan", "atan2"}
    known |= {"sinh", "cosh", "tanh", "asinh", "acosh", "atanh"}
    for lanes in (1, 4):
        text, _ = module_text({"": SHOWCASE}, Lanes(lanes))
        asked = set(re.findall(r"^declare .* @([^(]+)\(", text, flags=re.MULTILINE))
        assert {
            name for name in asked if not name.startswith(("llvm.", "Py", "torseur."))
        } <= known  # or of the interpreter


@pytest.mark.parametrize(
    ("features", "width"),
    [("+sse2", 2), ("+sse2,+avx", 4), ("+avx,+avx2,+avx512f", 8), ("-avx", 2), ("+neon", 2), ("", 2)],
)
def test_the_number_of_lanes_follows_the_processor(features, width):
    assert Machine("any", "any", features).lanes == Lanes(width)


def test_this_machine_is_described():
    assert host().triple
    assert host().lanes.width in (2, 4, 8)


@pytest.mark.skipif(not host().triple.startswith("x86_64"), reason="only x86-64 has registers this wide")
def test_wide_registers_are_spilled_to_whole_cache_lines():
    machine = Machine(host().triple, "", "+avx,+avx2,+fma,+avx512f")
    g = Graph()
    x = g.block("x", 80)
    squares = [e * e for e in x]  # far more than there are registers, each needed twice
    total, product = squares[0], squares[-1]
    for first, last in zip(squares[1:], squares[-2::-1], strict=True):
        total, product = total + first, product * last
    text, _ = module_text({"": Function("f", [x], {"y": [total, product]})}, machine.lanes)
    spills = re.findall(r"^\tvmov(\w)p.*%zmm.*\(%rsp\)", assembly(text, machine), flags=re.MULTILINE)
    assert set(spills) == {"a"}  # aligned; "u" would be unaligned


@pytest.mark.parametrize(
    ("triple", "one_piece"),
    [
        ("x86_64-unknown-linux-gnu", True),
        ("arm64-apple-macosx11.0", True),
        ("x86_64-pc-windows-msvc", False),
        ("s390x-unknown-linux-gnu", False),
    ],
)
def test_code_and_constants_are_linked_side_by_side_where_llvm_can(triple, one_piece):
    assert Machine(triple, "", "").in_one_piece is one_piece
