"""The report on native code: it is made, it has its lines, and its counting is right."""

import re
from collections.abc import Iterable
from itertools import accumulate
from pathlib import Path

import numpy as np
import pytest

from torseur.bench import timing, workloads
from torseur.bench.native import Core, Effort, Kernel, Mix, compared, instructions_of, is_known, measure
from torseur.bench.timing import best, best_of_each, cycles_per_second, own_cache
from torseur.dynamics.quantities import function_of
from torseur.emit import compile
from torseur.emit.cache import cache_info
from torseur.emit.ir import Lanes
from torseur.formats import load
from torseur.graph import count, evaluate
from torseur.model import build

ROOT = Path(__file__).resolve().parents[2]
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


def test_the_example_arm_is_the_rx90_of_the_package():
    """The arm of the bench costs what the robot of SYMORO+'s file does: one recursion, one table of quantities."""
    robot = load(ROOT / "tests" / "data" / "symoro" / "RX90.par")
    free = robot.model_copy(update={"loads": type(robot.loads)()})
    counted, expected = count(workloads.rx90()), count(function_of(free, "inverse_dynamics"))
    assert (counted.products, counted.sums) == (expected.products, expected.sums)
    assert counted.products + counted.sums < 330 + 282  # a plain recursion with general inertias


def test_the_first_torque_of_a_chain_at_rest_is_that_of_its_weight():
    """Along the axis of joint 1, from the positions of the centres of mass alone."""
    arm = workloads.chain_arm(4, seed=3)
    q = np.array([0.4, -1.1, 0.7, 2.0])
    model, zero, moment = build(arm), np.zeros(4), np.zeros(3)
    for name, body in arm.bodies.items():
        centre = model.pose(q, name) @ [*body.inertia.centre, 1.0]
        moment += np.cross(centre[:3], [0.0, 0.0, 9.81 * body.inertia.mass])
    first = model.pose(q, "link1")
    # The torque about an axis through P is that about the world origin, less P x force.
    weight = [0.0, 0.0, 9.81 * sum(body.inertia.mass for body in arm.bodies.values())]
    about_axis = first[:3, 2] @ (moment - np.cross(first[:3, 3], weight))
    tau = compile(workloads.inverse_dynamics(arm))(q, zero, zero)
    assert tau[0] == pytest.approx(about_axis, rel=1e-12)


def _most_waiting(function):
    """The most values that are computed and still needed at any time, in the order of the code."""
    last = {a.id: node.id for node in function.nodes for a in node.args if a.args}
    changes = sorted([(born, 1) for born in last] + [(died, -1) for died in last.values()])
    return max(accumulate(change for _, change in changes))


def test_on_the_way_back_each_joint_of_a_chain_adds_a_dozen_values_that_wait():
    """Force, moment, and what turns them: sine and cosine, by themselves and by those of the fixed angle."""
    twelve, twenty = (_most_waiting(workloads.random_chain(n)) for n in (12, 20))
    assert twenty - twelve == 8 * 12


def test_native_and_reference_agree_on_the_chains():
    function = workloads.random_chain(5)
    rng = np.random.default_rng(1)
    given = [rng.uniform(-1, 1, (9, *b.shape)) for b in function.inputs]
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
    assert kernel.cycles(1e-3) > 0


def test_the_clock_is_that_of_a_processor():
    """A machine that is busy lets it look slower, never faster: one quiet moment is enough."""
    measured = 0.0
    while measured < 5e8:
        measured = cycles_per_second(Lanes(1), 0.02)
        assert measured < 1e10


class Clock:
    """Stands for the module `time`: it moves on with the work alone."""

    def __init__(self):
        self.now = 0.0

    def perf_counter(self) -> float:
        return self.now

    def work(self, name: str, durations: Iterable[float], done: list[str]):
        """Something that takes these times, one after the other, then the last one always."""
        left = iter(durations)
        last = [0.0]

        def act() -> None:
            last[0] = next(left, last[0])
            self.now += last[0]
            done.append(name)

        return act


@pytest.fixture
def clock(monkeypatch):
    monkeypatch.setattr(timing, "time", Clock())
    return timing.time


def test_the_best_time_is_that_of_the_quickest_call(clock):
    """Disturbed ones, before and after, do not count."""
    assert best(clock.work("a", [5.0, 2.0, 9.0, 2.0, 3.0], []), 10.0) == 2.0


def test_pieces_of_work_are_timed_in_turns(clock):
    done = []
    shortest = best_of_each([clock.work("a", [1.0], done), clock.work("b", [3.0], done)], 30.0)
    assert shortest == [1.0, 3.0]
    # First and second calls; then groups of a tenth of the budget, in turn, until all of it is used.
    assert "".join(done) == "aabb" + 11 * "aaab"


def test_a_measurement_below_its_bound_is_not_given_as_a_fact():
    assert compared(101.0, 100.0) == "ratio 1.01"
    assert compared(99.0, 100.0).startswith("unreliable")


def test_the_cache_of_the_bench_is_its_own(monkeypatch, tmp_path):
    monkeypatch.setenv("TORSEUR_CACHE", str(tmp_path / "mine"))
    with own_cache():
        assert cache_info().path != tmp_path / "mine"
        assert cache_info().entries == 0
    assert cache_info().path == tmp_path / "mine"
