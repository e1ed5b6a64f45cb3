"""The report on simulations: it is made, it has its lines, and it measures what it says."""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from torseur.bench import calls, peers, simulation, workloads
from torseur.bench.simulation import Effort, measure
from torseur.bench.timing import Report, Section
from torseur.cli.starting import bench as command
from torseur.formats import load
from torseur.model import build

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_the_report_has_its_lines():
    told = []
    tiny = Effort(arms=("ur5",), methods=("dopri5",), until=0.05, runs=20, steps=2, short=4, budget=1e-3)
    report = measure(told.append, tiny)
    assert len(told) == 6
    assert [s.title.partition(":")[0] for s in report.sections] == ["machine", *["ur5"] * 5, "panda"]
    text = report.text()
    for words in (
        "versions",
        "with its audit",
        "times real time",
        "4 rates alone",
        "us above the native step",
        "us above its 6 rates alone",
        "1 lane, 1 thread",
        "2 threads",
        "million steps a second",
        "a record by dense output",
        "one after the other",
        "generalised_alpha",
    ):
        assert words in text
    assert ("times our dop853" in text) == (find_spec("scipy") is not None)
    found = find_spec("mujoco") is not None
    assert ("as exact as implicitfast" in text) == ("MuJoCo's rollout, RK4" in text) == found
    assert ("rollout" in text) == ("as fast as implicitfast" in text) == (find_spec("mujoco") is not None)
    compared = find_spec("mujoco") is not None  # on the same motion: the bench refuses to compare different ones
    assert ("mj_step by Euler" in text) == ("mj_step by Runge-Kutta 4" in text) == compared


def test_the_numbered_arm_has_the_inertia_of_the_example_without_its_rotors():
    """Beside the same geometry and the same six bodies, the example has loads: rotors and friction."""
    example = load(ROOT / "examples" / "rx90" / "rx90.yaml")
    bare = example.model_copy(update={"loads": {}, "inputs": {}, "outputs": {}})
    q = np.array([0.3, -0.4, 0.5, -0.6, 0.7, -0.8])
    np.testing.assert_allclose(
        build(workloads.numbered_rx90()).mass_matrix(q), build(bare).mass_matrix(q), rtol=1e-12, atol=1e-14
    )


def test_the_whole_bench_measures_dynamics_then_calls_then_simulations(monkeypatch):
    for module, title in ((peers, "dynamics"), (calls, "single calls"), (simulation, "simulations")):
        fake = Report((Section(title, (("label", "value"),)),))
        monkeypatch.setattr(module, "measure", lambda progress, fake=fake: fake)
    whole = CliRunner().invoke(command, []).output
    assert whole.index("dynamics") < whole.index("single calls") < whole.index("simulations")
    alone = CliRunner().invoke(command, ["--simulate"]).output
    assert "simulations" in alone
    assert "dynamics" not in alone
