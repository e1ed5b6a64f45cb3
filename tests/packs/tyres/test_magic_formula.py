"""MF 5.2 and MF 6.1: the given grids, an independent evaluator beyond them, ranges, sides and low speed."""

import math
import re

import numpy as np
import pytest

from support.plain_magic_formula import parameters_of, relaxation_lengths, wheel_forces
from support.tyre_laws import DATA, LAWS, OUTPUTS, Evaluated, rows_of
from torseur.errors import ModelError
from torseur.graph import Graph
from torseur.packs.tyres import MagicFormula61, Slip, load_tir, steady_forces

VERSIONS = ("52", "61")
P = {v: parameters_of(DATA / f"MagicFormula{v}_Parameters.tir") for v in VERSIONS}
TYRE = {v: LAWS[f"magic_formula_{v}"] for v in VERSIONS}
both = pytest.mark.parametrize("version", VERSIONS)

COEFFICIENT = re.compile(r"[PR][CDEKHVB][XY]\d+|[RS][HV][XY]\d+|RV[Y]\d|PP[XYZM]X?\d|Q[BCDEHS][XYZ]\d+|SSZ\d")
"""What the coefficients are called, factors and ranges left out."""

SIGNS = {"Fx": 1, "Fy": -1, "Mx": -1, "My": 1, "Mz": -1}


def scale_of(version: str, force: str) -> float:
    """Nominal load, and for moments times the radius."""
    return P[version]["FNOMIN"] * (P[version]["UNLOADED_RADIUS"] if force[0] == "M" else 1.0)


def assert_close(version, found, expected, tolerance=1e-11):
    for force in OUTPUTS:
        error = np.abs(np.asarray(getattr(found, force)) - expected[force]).max()
        assert error <= tolerance * scale_of(version, force), force


@both
def test_the_given_grid(version):
    rows = rows_of(f"mf{version}_grid.csv")
    columns = {key: np.array([row[key] for row in rows]) for key in rows[0]}
    given = {key: columns[key] for key in ("Fz", "kappa", "alpha", "gamma")}
    found = steady_forces(TYRE[version], **given, Vx=columns["vx"], own=True)
    assert_close(version, found, columns, 1e-13)
    pressed = steady_forces(TYRE[version], **given, Vx=columns["vx"], pressure=columns["p"], own=True)
    assert_close(version, pressed, columns, 1e-13)


def random_inputs(version: str, count: int = 2000, seed: int = 1, beyond: float = 1.0) -> dict[str, np.ndarray]:
    rng, p = np.random.default_rng(seed), P[version]
    pressure = rng.uniform(p["PRESMIN"], p["PRESMAX"], count) if version == "61" else np.full(count, 2e5)
    return {
        "Fz": rng.uniform(0.01, 1.0, count) ** 2 * p["FZMAX"] * beyond,
        "kappa": rng.uniform(p["KPUMIN"], p["KPUMAX"], count) * beyond,
        "alpha": rng.uniform(-0.9, 0.9, count) * beyond,
        "gamma": rng.uniform(p["CAMMIN"], p["CAMMAX"], count) * beyond,
        "Vx": rng.uniform(0.0, 60.0, count) ** 2 / 60.0,
        "mu": rng.uniform(0.2, 1.2, count),
        "pressure": pressure * (2.0 - 1.0 / beyond),
    }


def evaluated_apart(parameters, given):
    given = dict(given)
    given["p"] = given.pop("pressure") if parameters["FITTYP"] != 6 else given.pop("pressure") * 0.0 + 1.0
    return wheel_forces(parameters, **given)


@pytest.mark.parametrize("beyond", [1.0, 1.6])
@both
def test_an_evaluator_written_apart_gives_the_same_within_and_beyond_the_ranges(version, beyond):
    given = random_inputs(version, beyond=beyond)
    assert_close(version, steady_forces(TYRE[version], **given, own=True), evaluated_apart(P[version], given))


@both
def test_scaling_factors_are_those_of_an_evaluator_written_apart(version):
    rng = np.random.default_rng(7)
    names = [name for name in type(TYRE[version]).model_fields if name.startswith("L") and name[1:].isalnum()]
    factors = {name: rng.uniform(0.7, 1.3) for name in names if name not in ("LONGVL", "LMUV")}
    law = TYRE[version].model_copy(update=factors)
    given = random_inputs(version, 500, seed=8)
    assert len(factors) > 20
    assert_close(version, steady_forces(law, **given, own=True), evaluated_apart(P[version] | factors, given))


@both
@pytest.mark.parametrize("seed", range(6))
def test_other_coefficients_make_what_an_evaluator_written_apart_makes_of_them(version, seed):
    """Every coefficient, those that are zero in the file too, as in the files of other tyres."""
    rng, law = np.random.default_rng(seed), TYRE[version]
    names = [name for name in type(law).model_fields if COEFFICIENT.fullmatch(name)]
    drawn = {n: getattr(law, n) * rng.uniform(0.7, 1.3) or rng.uniform(-0.05, 0.05) for n in names}
    drawn |= {n: 1.0 + rng.uniform(0.0, 0.1) for n in ("RCX1", "RCY1")}
    given = random_inputs(version, 400, seed=seed + 20)
    assert len(names) > (70 if version == "52" else 100)
    found = steady_forces(law.model_copy(update=drawn), **given, own=True)
    assert_close(version, found, evaluated_apart(P[version] | drawn, given), 1e-10)


@both
def test_inputs_beyond_a_range_are_held_at_its_end(version):
    law, p = TYRE[version], P[version]
    held = steady_forces(law, Fz=p["FZMAX"], kappa=p["KPUMAX"], alpha=p["ALPMIN"], gamma=p["CAMMAX"], Vx=20.0, own=True)
    for far in (1.5, 100.0):
        beyond = steady_forces(
            law, Fz=far * p["FZMAX"], kappa=far, alpha=-far, gamma=far, Vx=20.0, pressure=3e5 * far, own=True
        )
        for force in ("Fx", "Fy"):
            if version == "52":
                assert getattr(beyond, force) == pytest.approx(getattr(held, force), rel=1e-12)
            else:
                assert np.isfinite(getattr(beyond, force))
    if version == "61":
        at_end = steady_forces(law, Fz=5000.0, alpha=0.05, pressure=p["PRESMAX"], own=True)
        assert steady_forces(law, Fz=5000.0, alpha=0.05, pressure=1e9, own=True).Fy == at_end.Fy
        assert steady_forces(law, Fz=5000.0, alpha=0.05, pressure=3e5, own=True).Fy != at_end.Fy


@both
def test_a_right_tyre_on_the_left_is_the_mirror_image(version):
    measured = TYRE[version].side
    other = "left" if measured == "right" else "right"
    file = DATA / f"MagicFormula{version}_Parameters.tir"
    given = random_inputs(version, 300, seed=3)
    mirrored = steady_forces(load_tir(file, mounted=other).law, **given, own=True)
    image = {**given, "alpha": -given["alpha"], "gamma": -given["gamma"]}
    expected = {k: SIGNS[k] * v for k, v in evaluated_apart(P[version], image).items()}
    assert_close(version, mirrored, expected)
    same = steady_forces(load_tir(file, mounted=measured).law, **given, own=True)
    assert_close(version, same, evaluated_apart(P[version], given))


@both
def test_a_symmetric_tyre_is_its_own_mirror_image(version):
    law = TYRE[version].model_copy(update={"side": "symmetric"})
    ends = {key: abs(P[version][key]) for key in ("CAMMAX", "ALPMAX")}
    law = law.model_copy(update={"CAMMIN": -ends["CAMMAX"], "ALPMIN": -ends["ALPMAX"]})
    given = random_inputs(version, 300, seed=4)
    image = {**given, "alpha": -given["alpha"], "gamma": -given["gamma"]}
    left, right = steady_forces(law, **given), steady_forces(law, **image)
    for force in OUTPUTS:
        np.testing.assert_allclose(getattr(right, force), SIGNS[force] * getattr(left, force), rtol=1e-9, atol=1e-6)


@both
def test_slip_in_traction_is_taken_over_the_larger_speed(version):
    """kappa = 1 - Vx / Vr of our convention is Vr / Vx - 1 of the file's."""
    law = TYRE[version]
    Vx, Vr = 20.0, np.array([20.5, 22.0, 25.0, 35.0])
    ours = steady_forces(law, Fz=5000.0, kappa=(Vr - Vx) / Vr, Vx=Vx)
    theirs = steady_forces(law, Fz=5000.0, kappa=(Vr - Vx) / Vx, Vx=Vx, own=True)
    np.testing.assert_allclose(ours.Fx, theirs.Fx, rtol=1e-12)


@both
def test_a_wheel_at_rest_without_slip_has_no_force_and_shifts_come_with_speed(version):
    rest = steady_forces(TYRE[version], Fz=5000.0, gamma=0.03, Vx=0.0)
    assert (rest.Fx, rest.Fy, rest.My, rest.Mz) == (0.0, 0.0, 0.0, 0.0)
    V = np.array([0.0, 0.25, 0.5, 0.75, 1.0, 2.0])
    Fy = steady_forces(TYRE[version], Fz=5000.0, Vx=V).Fy
    np.testing.assert_allclose(Fy[4], Fy[5], rtol=1e-12)
    assert np.all(np.diff(np.abs(Fy))[:4] > 0.0)


@both
def test_a_wheel_that_spins_on_the_spot_has_its_whole_force(version):
    spin = steady_forces(TYRE[version], Fz=5000.0, kappa=1.0, Vx=0.0)
    assert spin.Fx > 0.5 * 5000.0


@both
def test_rolling_resistance_opposes_the_wheel_and_a_locked_wheel_has_none(version):
    f = steady_forces(TYRE[version], Fz=5000.0, kappa=[0.0, 0.0, -1.0], Vx=[20.0, -20.0, 20.0])
    assert f.My[0] < 0.0
    assert f.My[1] == -f.My[0]
    assert f.My[2] == 0.0


@both
def test_relaxation_lengths_are_those_of_an_evaluator_written_apart(version):
    graph = Graph()
    for Fz, gamma in ((2000.0, 0.02), (6000.0, -0.03)):
        numbers = [graph.number(x) for x in (0.0, 0.0, gamma, Fz, 20.0)]
        lengths = TYRE[version].relaxation(Slip(*numbers), lambda x: graph.number(x))
        expected = relaxation_lengths(P[version], Fz, gamma)
        assert (float(lengths.x), float(lengths.y)) == pytest.approx(expected, rel=1e-12)


@both
def test_the_effective_radius_lies_between_the_loaded_and_the_free_one(version):
    graph = Graph()
    scalar = graph.number
    law, p = TYRE[version], P[version]
    Re = float(law.effective_radius(scalar(p["FNOMIN"]), scalar(10.0), scalar))
    R0, sag = p["UNLOADED_RADIUS"], p["FNOMIN"] / p["VERTICAL_STIFFNESS"]
    assert R0 - sag < Re < R0
    expected = -sag * (p["DREFF"] * math.atan(p["BREFF"]) + p["FREFF"])
    expected += R0 * (p.get("Q_RE0", 1.0) + p.get("Q_V1", 0.0) * (10.0 * R0 / p["LONGVL"]) ** 2)
    assert Re == pytest.approx(expected, rel=1e-12)


def test_the_vertical_spring_has_its_stiffness_at_the_nominal_load():
    """Q_FZ1 is made so that (4) holds: the slope of load over deflection is Cz where the load is nominal."""
    graph, p = Graph(), P["61"]
    law = TYRE["61"]

    def load(rho: float) -> float:
        return float(law.spring_force(graph.number(rho), graph.zero, graph.number))

    q2 = p["Q_FZ2"]
    q1 = math.sqrt((p["VERTICAL_STIFFNESS"] * p["UNLOADED_RADIUS"] / p["FNOMIN"]) ** 2 - 4 * q2)
    rho = p["UNLOADED_RADIUS"] * (math.sqrt(q1**2 + 4 * q2) - q1) / (2 * q2)
    assert load(rho) == pytest.approx(p["FNOMIN"], rel=1e-12)
    assert (load(rho + 1e-6) - load(rho - 1e-6)) / 2e-6 == pytest.approx(p["VERTICAL_STIFFNESS"], rel=1e-6)
    assert load(-0.01) == 0.0


def test_pressure_needs_a_nominal_one():
    fields = {"UNLOADED_RADIUS": 0.3, "FNOMIN": 4000, "LONGVL": 16.7, "PCX1": 1.6, "PDX1": 1, "PKX1": 20}
    law = MagicFormula61(**fields, PCY1=1.3, PDY1=1, PKY1=-20, PKY2=2)
    assert steady_forces(law, Fz=4000.0, alpha=0.02).Fy > 0.0
    with pytest.raises(ModelError, match="nominal"):
        steady_forces(law, Fz=4000.0, alpha=0.02, pressure=2e5)


@both
def test_friction_without_shifts_opposes_slip_within_all_ranges(version):
    """Without coefficients that shift curves, and with shapes of weighting functions that keep them positive."""
    shifts = ("PHX1", "PHX2", "PVX1", "PVX2", "RVY1", "RVY2", "RVY3", "PVY3", "PVY4", "PHY3", "PKY6", "PKY7")
    known = [name for name in shifts if name in type(TYRE[version]).model_fields]
    law = TYRE[version].model_copy(update={"side": "symmetric", **dict.fromkeys(known, 0.0), "RCX1": 1.0, "RCY1": 1.0})
    given = random_inputs(version, 3000, seed=11)
    f = steady_forces(law, **given, own=True)
    assert np.all(f.Fx * given["kappa"] >= 0.0)
    assert np.all(-f.Fy * given["alpha"] >= 0.0)


def test_friction_falls_with_slip_speed_by_LMUV():
    law = TYRE["61"].model_copy(update={"LMUV": 0.5, "PVX1": 0.0, "PVX2": 0.0})
    slow, fast = steady_forces(law, Fz=5000.0, kappa=-0.8, Vx=[5.0, 50.0]).Fx
    assert abs(fast) < 0.8 * abs(slow)


@both
def test_slopes_are_finite_in_every_way_of_taking_them(version):
    points = {"kappa": 0.0, "alpha": [0.0, math.pi / 2], "Fz": [[0.0], [5000.0]], "Vx": [[[0.0]], [[30.0]]]}
    assert np.all(np.isfinite(Evaluated(TYRE[version]).slopes(**points, pressure=2.6e5)))
