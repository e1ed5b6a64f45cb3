"""Mechanisms in motion in space: a file that plays by itself, a live view in the browser, still pictures."""

from torseur.views.scene.animation import Arrow
from torseur.views.scene.browser import animate, view
from torseur.views.scene.snapshot import snapshot

__all__ = ["Arrow", "animate", "snapshot", "view"]
