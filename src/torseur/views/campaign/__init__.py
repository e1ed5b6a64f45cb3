"""Figures of campaigns: response curves and maps, histograms, parallel coordinates, Pareto fronts, sensitivities."""

from torseur.views.campaign.figures import (
    figures_of_campaign,
    histogram,
    parallel_coordinates,
    pareto_front,
    response_curve,
    response_map,
    sensitivity_bars,
)

__all__ = [
    "figures_of_campaign",
    "histogram",
    "parallel_coordinates",
    "pareto_front",
    "response_curve",
    "response_map",
    "sensitivity_bars",
]
