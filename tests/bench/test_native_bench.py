"""The report on native code: it is made, it has its lines, and its counting is right."""

import re

import numpy as np
import pytest

from torseur.bench import workloads
from torseur.bench.instruction_mix import Core, Kernel, Mix, instructions_of, is_known
from torseur.bench.native import Effort, measure
from torseur.bench.timing import best, cycles_per_second, own_cache
from torseur.emit import compile
from torseur.emit.cache import cache_info
from torseur.emit.ir import Lanes
from torseur.graph import count, evaluate

TINY = Effort(chains=(2,), compiled=(2,), mix=100, batch=20, budget=1e-3)


def test_the_report_has_its_lines():
    told = []
    text = measure(told.append, TINY).text()
    assert len(told) == 7
    for words in (
        "llvmlite",
        "LLVM",
        "GHz",
        "µs an operation",
        "cold",
        "warm",
        "reload",
        "parameters bound, out=",
        "scalar code",
        "threads",
        "ns a step",
    ):
        assert words in text
    if is_known():
        assert "ratio" in text
    numbers = re.findall(r"(\d+(?:\.\d+)?) (?:GHz|µs|ms|ns|s)\b", text)
    assert len(numbers) > 15
    assert all(float(n) >= 0 for n in numbers)


def test_the_example_arm_has_the_known_number_of_operations():
    """330 products and 282 sums: a plain recursion for the RX90 with general inertias."""
    counted = count(workloads.rx90())
    assert (counted.products, counted.sums) == (330, 282)


def test_the_torque_of_one_hanging_link_is_that_of_a_pendulum():
    """Iz qdd + m g x(q), about a vertical z axis tilted by alpha: gravity along -z of the base."""
    from torseur.graph import Graph

    function = workloads.newton_euler("link", Graph(), [workloads.Joint(np.pi / 2, 0.0, 0.0)])
    inertia = np.zeros((1, 10))
    inertia[0, 5], inertia[0, 6], inertia[0, 9] = 0.3, 0.2, 1.0  # ZZ, MX, M
    q, a, g = 0.4, 1.7, 9.81
    (tau,) = evaluate(function, [q], [2.0], [a], inertia, g)
    assert tau[0] == pytest.approx(0.3 * a + 0.2 * g * np.cos(q), rel=1e-12)


def test_native_and_reference_agree_on_the_chains():
    function = workloads.random_chain(5)
    rng = np.random.default_rng(1)
    given = [rng.uniform(-1, 1, (9, *b.shape) if k < 3 else b.shape) for k, b in enumerate(function.inputs)]
    np.testing.assert_allclose(compile(function)(*given), evaluate(function, *given)[0], rtol=1e-10, atol=1e-10)


ASSEMBLY = """
\t.type\tf.state,@function
f.state:
\tpushq\t%rbx
\tvmovapd\t(%rdi), %zmm0
\tvbroadcastsd\t8(%rsi), %zmm1
\tvfmadd231pd\t64(%rdi), %zmm0, %zmm1
\tvmulpd\t%zmm0, %zmm1, %zmm2
\tvdivpd\t%zmm0, %zmm2, %zmm3
\tvpsllq\t$62, %zmm2, %zmm2            # a comment (with brackets)
\tvmovapd\t%zmm2, %zmm4
\tvmovapd\t%zmm3, 128(%rdx)
\tleaq\t8(%rsp), %rax
\tretq
.LBB0_1:
\tcallq\tsin
f.state.1:
\tvaddpd\t%zmm0, %zmm0, %zmm0
\tretq
g:
\tvaddpd\t%zmm0, %zmm0, %zmm0
\tretq
"""


def test_instructions_are_counted_by_what_they_need():
    found = instructions_of(ASSEMBLY, r"f\.state(\.\d+)?")
    assert found == Mix(arithmetic=3, other=1, divider=16, loads=3, stores=1, all=13)
    needs = Core(Lanes(8)).cycles(found)
    assert needs["arithmetic"] == 1.5
    assert needs["vector ports"] == 2.0
    assert max(needs, key=needs.__getitem__) == "divider"


@pytest.mark.skipif(not is_known(), reason="instructions are told apart on x86-64 only")
@pytest.mark.parametrize("width", [1, 4])
def test_a_kernel_has_about_as_many_instructions_as_its_function_has_operations(width):
    """Sums and products, half of which may be fused, and some 40 instructions for each of the two sines."""
    function = workloads.random_chain(2)
    counted, kernel = count(function), Kernel(function, Lanes(width))
    arithmetic = kernel.mix().arithmetic
    assert (counted.products + counted.sums) / 2 < arithmetic < counted.products + counted.sums + 2 * 60
    assert kernel.seconds(1e-3) > 0


def test_the_clock_is_that_of_a_processor():
    assert 5e8 < cycles_per_second(Lanes(1), 0.02) < 1e10


def test_the_best_time_is_not_below_the_true_one():
    import time

    assert best(lambda: time.sleep(2e-3), 1e-2) >= 2e-3


def test_the_cache_of_the_bench_is_its_own(monkeypatch, tmp_path):
    monkeypatch.setenv("TORSEUR_CACHE", str(tmp_path / "mine"))
    with own_cache():
        assert cache_info().path != tmp_path / "mine"
        assert cache_info().entries == 0
    assert cache_info().path == tmp_path / "mine"
