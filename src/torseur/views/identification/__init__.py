"""Figures of identifications: efforts measured and predicted, residuals, estimates with their deviations."""

from torseur.views.identification.figures import estimates, figures_of_identification, prediction, residuals

__all__ = ["estimates", "figures_of_identification", "prediction", "residuals"]
