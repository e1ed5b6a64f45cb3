"""The code is plain LLVM: every processor LLVM knows can have it, and every LLVM from the oldest we allow."""

import re

import pytest

from strategies import showcase
from torseur.emit import HEUN, float_flags
from torseur.emit.ir import Lanes
from torseur.emit.jit import Machine, Tier, assemble, host
from torseur.emit.native import module_text
from torseur.emit.run_loop import run_text
from torseur.graph import Function, Graph

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
    monkeypatch.setattr(float_flags, "_X86", kind == "x86")
    monkeypatch.setattr(float_flags, "_CLEARABLE", kind == "clear")
    return Machine(request.param, "", "")


@pytest.mark.parametrize("lanes", [1, 2, 4])
def test_native_functions_assemble_for_other_processors(machine, lanes):
    text, entries, _ = module_text(SHOWCASE, Lanes(lanes))
    code = assemble(text, machine, Tier.QUICK)
    assert all(name.encode() in code for name in entries)


def test_integrators_assemble_for_other_processors(machine):
    g = Graph()
    x = g.block("x", 3)
    rate = Function("rate", [x], {"dx": [x[1].sin(), -x[0] / x[2], x[2]]})
    assert b"run" in assemble(run_text(rate, HEUN, Lanes(2)), machine, Tier.FULL)


def test_what_is_asked_of_the_c_library_is_standard_c():
    known = {"malloc", "free", "feclearexcept", "sin", "cos", "exp", "log", "pow", "asin", "acos", "atan", "atan2"}
    known |= {"sinh", "cosh", "tanh", "asinh", "acosh", "atanh"}
    for lanes in (1, 4):
        text, *_ = module_text(SHOWCASE, Lanes(lanes))
        asked = set(re.findall(r"^declare .* @([^(]+)\(", text, flags=re.MULTILINE))
        assert {name for name in asked if not name.startswith("llvm.")} <= known


@pytest.mark.parametrize(
    ("features", "width"),
    [("+sse2", 2), ("+sse2,+avx", 4), ("+avx,+avx2,+avx512f", 8), ("-avx", 2), ("+neon", 2), ("", 2)],
)
def test_the_number_of_lanes_follows_the_processor(features, width):
    assert Machine("any", "any", features).lanes == Lanes(width)


def test_this_machine_is_described():
    assert host().triple
    assert host().lanes.width in (2, 4, 8)
