"""Figures of runs for print: thin lines, units on every axis, colours that everyone can tell apart.

`plot` draws one figure of a run, `usual_figures` all that one wants to see of it, `save_figures` puts them into files.
"""

from torseur.views.plots.figures import Beside, figures_to_draw, plot, plot_paths, save_figures, usual_figures
from torseur.views.plots.style import save_figure

__all__ = ["Beside", "figures_to_draw", "plot", "plot_paths", "save_figure", "save_figures", "usual_figures"]
