"""The demo runs from beginning to end, and what it shows is true."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from torseur.emit import compile, integrator

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "double_pendulum"


@pytest.fixture
def example(monkeypatch):
    """The modules of the example, as run.py sees them."""
    monkeypatch.syspath_prepend(str(FOLDER))
    import flips
    import pendulum

    yield pendulum, flips
    for name in ("flips", "pendulum"):
        del sys.modules[name]


@pytest.mark.slow
def test_the_demo_runs_and_draws(tmp_path):
    picture = tmp_path / "deep" / "map.png"
    command = [sys.executable, str(FOLDER / "run.py"), "--size", "16", "--until", "1", "--out", str(picture)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for words in ("M12 = K*cos(q12)", "first call:", "audit: energy", "16 x 16 starts", "picture: deep"):
        assert words in done.stdout
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_without_matplotlib_the_demo_says_what_to_install(tmp_path):
    (tmp_path / "matplotlib.py").write_text("raise ImportError")
    program = f"import sys; sys.path[:0] = [{str(tmp_path)!r}, {str(FOLDER)!r}]\nimport run\nrun.main()"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "MissingExtra" in done.stderr
    assert "torseur[plots]" in done.stderr


def test_accelerations_are_those_of_the_textbook(example):
    """The closed form with the mass matrix inverted by hand, for two unequal arms."""
    pendulum, _ = example
    m1, m2, l1, l2, g = 1.3, 0.7, 0.9, 1.1, 9.81
    q, v = np.array([0.8, -0.4]), np.array([1.5, -2.0])
    s, c = np.sin(q[0] - q[1]), np.cos(q[0] - q[1])
    M = np.array([[(m1 + m2) * l1**2, m2 * l1 * l2 * c], [m2 * l1 * l2 * c, m2 * l2**2]])
    b = -np.array(
        [
            m2 * l1 * l2 * s * v[1] ** 2 + (m1 + m2) * g * l1 * np.sin(q[0]),
            -m2 * l1 * l2 * s * v[0] ** 2 + m2 * g * l2 * np.sin(q[1]),
        ]
    )
    found = compile(pendulum.double_pendulum().rate)(q, v, [m1, m2], [l1, l2], g)
    np.testing.assert_allclose(found.dv, np.linalg.solve(M, b), rtol=1e-12)


def test_the_map_agrees_with_single_runs(example):
    pendulum, flips = example
    run = integrator(pendulum.double_pendulum().rate)
    times = []
    first, steps = flips.flip_times(run, 8, 1.5, 1, times.append)
    assert steps > 0
    assert times == sorted(times)
    np.testing.assert_array_equal(first, first[::-1, ::-1])
    angles = (np.arange(8) + 0.5) / 8 * 2 * np.pi - np.pi
    for i, j in [(7, 0), (4, 7), (6, 6), (4, 4)]:
        motion = run([angles[j], angles[i]], [0.0, 0.0], **pendulum.PARAMETERS, step=1e-3, steps=1500)
        over = (np.abs(motion.states[0]) > np.pi).any(axis=-1)
        if over.any():
            assert first[i, j] == pytest.approx(motion.time[over.argmax()], abs=5e-3)
        else:
            assert np.isnan(first[i, j])
