"""Mechanisms in motion in space: a file that plays by itself, a live view in the browser, still pictures."""

from torseur.views.scene.animation import Arrow
from torseur.views.scene.browser import Playback, animate, playback, view
from torseur.views.scene.snapshot import snapshot

__all__ = ["Arrow", "Playback", "animate", "playback", "snapshot", "view"]
