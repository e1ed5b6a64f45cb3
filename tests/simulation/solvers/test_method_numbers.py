"""Numbers of methods are options of a study: Newmark's beta and gamma, HHT's alpha, the radius of generalised alpha."""

import numpy as np
import pytest

import torseur as ts
from torseur.cli import main
from torseur.describe import Mechanism
from torseur.describe.loads import SpringDamper
from torseur.errors import ModelError

CART = {"joint": {"kind": "prismatic", "coordinate": "x"}, "inertia": {"M": 1.0}}
OSCILLATOR = Mechanism(
    name="oscillator",
    gravity=(0.0, 0.0, 0.0),
    bodies={"cart": CART},
    loads={"spring": SpringDamper(coordinate="x", stiffness=4.0)},
)


def run(**solver):
    return ts.simulate(OSCILLATOR, start={"x": 1.0}, until=20.0, every=0.1, solver=solver)


def by_hand(beta: float, gamma: float, h: float = 0.1, k: float = 4.0) -> np.ndarray:
    """Newmark's formulas (Kanyiki & Ntambwe 29, 30) for x'' = -k x."""
    x, v, a, found = 1.0, 0.0, -k, [1.0]
    for _ in range(200):
        guess = x + h * v + (0.5 - beta) * h * h * a
        new = -k * guess / (1 + k * beta * h * h)
        x, v, a = guess + beta * h * h * new, v + h * ((1 - gamma) * a + gamma * new), new
        found.append(x)
    return np.array(found)


@pytest.mark.parametrize(("beta", "gamma"), [(0.25, 0.5), (1 / 6, 0.5), (0.3025, 0.6), (0.5, 1.0)])
def test_newmark_runs_with_the_numbers_of_the_study(beta, gamma):
    found = run(method="newmark", step=0.1, beta=beta, gamma=gamma)
    np.testing.assert_allclose(found["x"], by_hand(beta, gamma), atol=1e-7)


def test_the_usual_numbers_are_a_quarter_and_a_half():
    np.testing.assert_array_equal(run(method="newmark", step=0.1)["x"], run(method="newmark", step=0.1, beta=0.25)["x"])


@pytest.mark.parametrize(
    ("method", "name", "less", "more"), [("hht", "alpha", 0.0, 0.3), ("generalised_alpha", "rho", 1.0, 0.2)]
)
def test_other_methods_damp_as_their_number_says(method, name, less, more):
    last = [np.abs(run(method=method, step=0.1, **{name: x})["x"][-32:]).max() for x in (less, more)]
    assert last[0] == pytest.approx(1.0, abs=2e-2)
    assert last[1] < last[0] - 5e-3


def test_easydyn_takes_them_too():
    assert run(method="easydyn", gamma=0.9, beta=0.49, rtol=1e-3, atol=1e-3)["x"][-1] != run(method="easydyn")["x"][-1]


@pytest.mark.parametrize(
    ("solver", "what"),
    [
        ({"method": "rk4", "step": 0.1, "beta": 0.3}, "the method 'rk4' has no beta"),
        ({"method": "hht", "step": 0.1, "gamma": 0.6}, "the method 'hht' has no gamma"),
        ({"method": "newmark", "step": 0.1, "gamma": 0.4}, "greater than or equal to 0.5"),
        ({"method": "newmark", "step": 0.1, "beta": 0.0}, "greater than 0"),
    ],
)
def test_numbers_that_a_method_does_not_have_are_refused(solver, what):
    with pytest.raises(ModelError) as told:
        ts.simulate(OSCILLATOR, until=1.0, solver=solver)
    assert what in str(told.value)


def test_another_method_on_the_command_line_leaves_them_behind(tmp_path):
    ts.save(OSCILLATOR, tmp_path / "model.yaml")
    solver = "{method: newmark, step: 0.01, beta: 0.3, gamma: 0.6}"
    text = f"torseur_study: 1\nmodel: model.yaml\nuntil: 0.5\nsolver: {solver}\n"
    (tmp_path / "study.yaml").write_text(text)
    study = ts.load_study(tmp_path / "study.yaml")
    ts.write_study(study, tmp_path / "copy.yaml")
    assert ts.load_study(tmp_path / "copy.yaml") == study
    end = ["-o", str(tmp_path / "out"), "--no-figures", "--no-playback"]
    assert main(["simulate", str(tmp_path / "study.yaml"), *end]) == 0
    assert main(["simulate", str(tmp_path / "study.yaml"), "--solver", "rk4", *end]) == 0
