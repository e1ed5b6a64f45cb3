"""Kinematic schemes: a mechanism as engineers sketch it, written as SVG."""

from torseur.views.scheme.picture import Picture, draw_scheme

__all__ = ["Picture", "draw_scheme"]
