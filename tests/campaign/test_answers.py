"""Answers of a campaign: sensitivities and fronts that are known beforehand, and figures."""

import numpy as np
import pytest

import torseur as ts
from torseur.views import campaign as views

CART = ts.Study(
    model={
        "name": "cart",
        "gravity": (0.0, 0.0, 0.0),
        "bodies": {"cart": {"joint": {"kind": "prismatic", "coordinate": "x"}, "inertia": {"M": 1.0}}},
    },
    until=1.0,
    every=0.1,
    solver={"method": "rk4", "step": 0.05},
)


def run(tmp_path, kind, count):
    factors = {"x": {"uniform": {"low": 0, "high": 1}}, "dx": {"uniform": {"low": 0, "high": 2}}}
    asked = {"end": {"final": "x"}, "away": "-end"}
    sampling = {"kind": kind, "count": count, "seed": 5}
    campaign = ts.Campaign(study=CART, factors=factors, sampling=sampling, indicators=asked)
    return ts.run_campaign(campaign, tmp_path / kind, threads=1)


def test_sobol_indices_of_a_sum_are_the_shares_of_the_variances(tmp_path):
    found = run(tmp_path, "saltelli", 256).sensitivities("end")  # end = x + dx: variances 1/12 and 4/12
    np.testing.assert_allclose(found["S1"], [0.2, 0.8], atol=0.05)
    np.testing.assert_allclose(found["ST"], [0.2, 0.8], atol=0.05)


def test_sobol_indices_of_ishigamis_function_are_those_of_its_integrals(tmp_path):
    """Ishigami & Homma 1990, with a = 7 and b = 0.1; the indices are integrals in closed form."""
    body = {"joint": {"kind": "prismatic", "coordinate": "x"}, "inertia": {"M": 1.0}}
    numbers = {f"x{k}": {"value": 0.0} for k in (1, 2, 3)} | {"a": {"value": 7.0}, "b": {"value": 0.1}}
    study = ts.Study(model={"name": "none", "parameters": numbers, "bodies": {"cart": body}}, until=0.1, every=0.1)
    pi, (a, b) = np.pi, (7.0, 0.1)
    campaign = ts.Campaign(
        study=study.model_copy(update={"solver": CART.solver}),
        factors={f"x{k}": {"uniform": {"low": -pi, "high": pi}} for k in (1, 2, 3)},
        sampling={"kind": "saltelli", "count": 1024, "seed": 1},
        indicators={"end": {"final": "x"}, "y": "sin(x1) + a*sin(x2)^2 + b*x3^4*sin(x1)"},
    )
    answers = ts.run_campaign(campaign, tmp_path, threads=1)
    found = answers.sensitivities("y")
    alone = [0.5 * (1.0 + b * pi**4 / 5.0) ** 2, a**2 / 8.0, 0.0]
    together = 8.0 * b**2 * pi**8 / 225.0
    total = [alone[0] + together, alone[1], together]
    np.testing.assert_allclose(found["S1"], np.array(alone) / (sum(alone) + together), atol=0.04)
    np.testing.assert_allclose(found["ST"], np.array(total) / (sum(alone) + together), atol=0.04)
    with pytest.raises(ts.ArgumentError, match="the same in every run"):
        answers.sensitivities("end")
    assert "sensitivities_end" not in views.figures_of_campaign(answers)


def test_morris_means_of_a_sum_are_its_slopes_over_the_ranges(tmp_path):
    found = run(tmp_path, "morris", 8).sensitivities("end")
    np.testing.assert_allclose(found["mu_star"], [1.0, 2.0], rtol=1e-9)
    np.testing.assert_allclose(found["sigma"], 0.0, atol=1e-9)


def test_a_front_holds_what_nothing_beats(tmp_path):
    answers = run(tmp_path, "random", 50)
    assert answers.pareto(end="least").tolist() == [int(np.argmin(answers["end"]))]
    assert len(answers.pareto(end="least", away="least")) == 50  # each is better in one and worse in the other
    with pytest.raises(ts.ArgumentError, match="not a design"):
        answers.sensitivities("end")


def test_every_figure_is_drawn(tmp_path):
    answers = run(tmp_path, "random", 30)
    assert list(views.figures_of_campaign(answers)) == ["histogram_end", "histogram_away", "parallel"]
    drawn = [
        views.histogram(answers, "end"),
        views.response_curve(answers, "end", "x"),
        views.parallel_coordinates(answers, "end"),
        views.pareto_front(answers, end="least", x="most"),
        views.sensitivity_bars(run(tmp_path, "morris", 4), "end"),
    ]
    assert all(figure.axes for figure in drawn)


def figures(tmp_path, **given):
    campaign = ts.Campaign(study=CART, indicators={"end": {"final": "x"}, "speed": {"final": "dx"}}, **given)
    answers = ts.run_campaign(campaign, tmp_path / "out", threads=1)
    found = views.figures_of_campaign(answers)
    return {name: draw() for name, draw in found.items()}


def test_maps_of_three_factors_stand_side_by_side(tmp_path):
    body = {"joint": {"kind": "prismatic", "coordinate": "x"}, "inertia": {"M": "m"}}
    study = ts.Study(
        model={"name": "cart", "parameters": {"m": {"value": 1.0}}, "bodies": {"cart": body}},
        until=1.0,
        every=0.1,
        solver={"method": "rk4", "step": 0.05},
    )
    factors = {"x": [0.0, 1.0, 2.0], "dx": [0.0, 1.0, 3.0], "m": [1.0, 2.0]}
    campaign = ts.Campaign(study=study, indicators={"end": {"final": "x"}}, factors=factors)
    answers = ts.run_campaign(campaign, tmp_path / "out", threads=1)
    maps = [axes for axes in views.figures_of_campaign(answers)["map_end"]().axes if axes.get_title(loc="left")]
    assert [axes.get_title(loc="left") for axes in maps] == ["m = 1", "m = 2"]
    for axes, mass in zip(maps, (1.0, 2.0), strict=True):
        drawn = axes.collections[0].get_array().ravel()
        assert sorted(drawn) == sorted(answers["end"][answers["m"] == mass])


def test_samples_beside_levels_are_a_band_and_not_a_second_axis(tmp_path):
    spread = {"x": {"range": {"low": 0, "high": 2, "step": 0.5}}, "dx": {"normal": {"mean": 1, "deviation": 0.1}}}
    drawn = figures(tmp_path, factors=spread, sampling={"count": 9})
    assert {"curve_end", "histogram_end"} <= drawn.keys()
    assert "map_end" not in drawn


def test_levels_in_equal_ratios_have_cells_of_equal_width_on_their_axis(tmp_path):
    factors = {"x": {"grid": {"low": 1, "high": 1000, "count": 4, "scale": "log"}}, "dx": [0.0, 1.0, 3.0]}
    axes = figures(tmp_path, factors=factors)["map_end"].axes[0]
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "linear")
    edges = axes.collections[0].get_coordinates()[0, :, 0]
    np.testing.assert_allclose(edges, 10.0 ** np.array([-0.5, 0.5, 1.5, 2.5, 3.5]))


def test_runs_without_a_finite_value_do_not_thin_out_the_parallel_coordinates(tmp_path):
    asked = {"end": {"final": "x"}, "rest": {"settling_time": {"channel": "x", "target": 0.0, "band": 0.1}}}
    campaign = ts.Campaign(study=CART, indicators=asked, factors={"x": [0.0, 1.0, 2.0], "dx": [0.0, 1.0]})
    figure = views.figures_of_campaign(ts.run_campaign(campaign, tmp_path, threads=1))["parallel"]()
    assert len(figure.axes[0].collections[0].get_segments()) == 6
    assert [text.get_text() for text in figure.axes[0].get_xticklabels()] == ["x", "dx", "end"]


def test_the_figures_of_a_search_are_its_way_and_its_front(tmp_path):
    both = {"x": {"low": 0, "high": 1}, "dx": {"low": 0, "high": 1}}
    goals = {"end": {"aim": "most"}, "speed": {"aim": "least"}}
    search = {"factors": both, "goals": goals, "method": "random", "evaluations": 20}
    drawn = figures(tmp_path, search=search)
    assert list(drawn)[:3] == ["search_end", "search_speed", "front"]
    assert all(figure.axes for figure in drawn.values())
