"""What holds for every tyre law: finite everywhere, no load no force, mirror images, reverse, friction that resists."""

from itertools import product

import numpy as np
import pytest

from support.tyre_laws import LAWS, OUTPUTS, Evaluated
from torseur.packs import tyres
from torseur.packs.tyres import BurckhardtTyre, LinearTyre, steady_forces

EVALUATED = {name: Evaluated(law) for name, law in LAWS.items()}
every_law = pytest.mark.parametrize("name", LAWS)

HALF = np.pi / 2
EDGES = {
    "kappa": [-1.0, -0.1, 0.0, 1e-9, 0.1, 0.999, 1.0, -2.0, 50.0],
    "alpha": [-HALF, -0.1, 0.0, 1e-9, 0.1, HALF],
    "gamma": [-HALF, -0.05, 0.0, 0.3, HALF],
    "Fz": [-100.0, 0.0, 1e-9, 1.0, 50.0, 4000.0, 1e5],
    "Vx": [-30.0, -0.5, 0.0, 1e-9, 0.5, 30.0],
    "mu": [0.0, 0.3, 1.0],
}
POINTS = dict(zip(EDGES, np.array(list(product(*EDGES.values()))).T, strict=True))


@every_law
def test_forces_are_finite_at_every_edge(name):
    for values in EVALUATED[name](**POINTS).values():
        assert np.all(np.isfinite(values))


@every_law
def test_derivatives_are_finite_at_every_edge(name):
    assert np.all(np.isfinite(EVALUATED[name].slopes(**POINTS)))


@every_law
def test_native_code_is_finite_at_every_edge(name):
    f = steady_forces(LAWS[name], **POINTS)
    assert all(np.all(np.isfinite(getattr(f, force))) for force in OUTPUTS)


@every_law
def test_a_road_without_adherence_gives_no_friction(name):
    if name != "linear":
        f = EVALUATED[name](**{**POINTS, "mu": 0.0})
        for force in ("Fx", "Fy", "Mz"):
            assert np.all(f[force] == 0.0)


@every_law
def test_a_wheel_without_load_has_no_forces(name):
    points = {key: values for key, values in POINTS.items() if key != "Fz"}
    for load in (0.0, -1000.0):
        for values in EVALUATED[name](**points, Fz=load).values():
            assert np.all(values == 0.0)


def slips(count: int, seed: int = 1) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {
        "kappa": rng.uniform(-0.6, 0.6, count),
        "alpha": rng.uniform(-0.6, 0.6, count),
        "gamma": rng.uniform(-0.08, 0.08, count),
        "Fz": rng.uniform(300.0, 9000.0, count),
        "Vx": rng.uniform(2.0, 40.0, count),
        "mu": rng.uniform(0.2, 1.0, count),
    }


@every_law
def test_a_tyre_of_the_left_mounted_right_is_its_mirror_image(name):
    law = LAWS[name]
    other = Evaluated(law.model_copy(update={"mounted": "right" if law.side == "left" else "left"}))
    given = slips(50)
    image = other(**{**given, "alpha": -given["alpha"], "gamma": -given["gamma"]})
    signs = {"Fx": 1, "Fy": -1, "Mx": -1, "My": 1, "Mz": -1}
    for key, values in EVALUATED[name](**given).items():
        np.testing.assert_array_equal(image[key], signs[key] * values)


@every_law
def test_a_tyre_mounted_where_it_was_measured_is_as_measured(name):
    law, given = LAWS[name], slips(20)
    same = Evaluated(law.model_copy(update={"mounted": law.side}))(**given)
    for key, values in EVALUATED[name](**given).items():
        np.testing.assert_array_equal(same[key], values)


@every_law
def test_a_wheel_in_reverse_is_a_wheel_turned_by_half_a_turn(name):
    given = slips(50)
    turned = {**given, **{key: -given[key] for key in ("kappa", "alpha", "gamma", "Vx")}}
    back = EVALUATED[name](**turned)
    signs = {"Fx": -1, "Fy": -1, "Mx": -1, "My": -1, "Mz": 1}
    for key, values in EVALUATED[name](**given).items():
        np.testing.assert_array_equal(back[key], signs[key] * values)


@every_law
def test_forces_are_continuous_through_standstill(name):
    V = np.array([-1e-8, 0.0, 1e-8])
    f = EVALUATED[name](Fz=4000.0, kappa=0.1, alpha=0.2, gamma=0.02, Vx=V)
    for values in f.values():
        assert np.ptp(values) <= 1e-5


@every_law
def test_a_wheel_at_rest_without_slip_is_not_pushed(name):
    f = EVALUATED[name](Fz=4000.0, Vx=0.0)
    assert all(values == 0.0 for values in f.values())


@every_law
def test_friction_opposes_slip_both_ways(name):
    """In traction Fx is forward, in braking backward; a slip to the right is pushed to the left: at any speed."""
    for speed in (-20.0, 20.0):
        for slip, force in (("kappa", "Fx"), ("alpha", "Fy")):
            x = np.array([-0.9, -0.3, -0.1, -0.05, 0.05, 0.1, 0.3, 0.9])
            values = EVALUATED[name](**{slip: x, "Fz": 4000.0, "Vx": speed})[force]
            assert np.all(values * x > 0.0)


@every_law
def test_slopes_are_those_of_differences(name):
    given = slips(30, seed=2)
    slopes = EVALUATED[name].slopes(**given)
    for column, key in enumerate(given):
        step = 1e-6 * (1.0 + np.abs(given[key]))
        up = EVALUATED[name](**{**given, key: given[key] + step})
        down = EVALUATED[name](**{**given, key: given[key] - step})
        for row, force in enumerate(OUTPUTS):
            expected = (up[force] - down[force]) / (2.0 * step)
            scale = np.abs(expected).max() + np.abs(up[force]).max() * 1e-6 / step.max() * 1e-6
            assert np.all(np.abs(slopes[:, row, column] - expected) <= 1e-5 * scale + 1e-7)


@every_law
def test_native_code_gives_the_forces_of_the_reference_evaluator(name):
    given = slips(40, seed=3)
    native = steady_forces(LAWS[name], **given)
    for key, values in EVALUATED[name](**given).items():
        np.testing.assert_allclose(getattr(native, key), values, rtol=1e-10, atol=1e-7)


def test_the_table_of_laws_names_every_law_by_its_kind():
    assert tyres.LAWS["burckhardt"] is BurckhardtTyre
    assert all(law.kind == kind for kind, law in tyres.LAWS.items())
    assert {type(law) for law in LAWS.values()} == set(tyres.LAWS.values())


def test_every_coefficient_says_its_unit_or_that_it_has_none():
    for law in tyres.LAWS.values():
        for name, field in law.model_fields.items():
            assert field.description, f"{law.__name__}.{name}"


def test_coefficients_may_be_formulas_of_parameters():
    law = LinearTyre(cornering_stiffness="2*C", load=1000)
    assert steady_forces(law, Fz=500.0, alpha=0.1, parameters={"C": 300.0}).Fy == pytest.approx(30.0)
