"""Figures of campaigns: curves and maps, histograms, parallel coordinates, fronts, sensitivities, searches."""

from torseur.views.campaign.figures import (
    figures_of_campaign,
    histogram,
    parallel_coordinates,
    pareto_front,
    response_curve,
    response_map,
    search_front,
    search_progress,
    sensitivity_bars,
)

__all__ = [
    "figures_of_campaign",
    "histogram",
    "parallel_coordinates",
    "pareto_front",
    "response_curve",
    "response_map",
    "search_front",
    "search_progress",
    "sensitivity_bars",
]
