"""A drawing and its animation on the stage of viser: in a file that plays by itself, or live in a browser."""

from __future__ import annotations

import contextlib
import io
import math
import socket
from collections.abc import Iterator
from typing import Any

import numpy as np

from torseur.errors import MissingExtra
from torseur.views.plots.style import COLOURS as LINE_COLOURS
from torseur.views.scene.animation import FIELD_OF_VIEW, Animation, Scene, camera_of, quaternion_of, round_length
from torseur.views.scene.parts import ARROW, Array, Part, cylinder, pointing

__all__ = ["Stage", "rgb", "server_on"]

ROOT = "/world"
REACHES = 0.05, 300.0
"""What is drawn in metres, m: viser sees from 0.01 to 1000 of its units, smaller and larger things in other units."""


def rgb(colour: str) -> tuple[int, int, int]:
    """``#rrggbb`` as three numbers."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


@contextlib.contextmanager
def server_on(host: str, port: int | None = None) -> Iterator[Any]:
    """A viser server that stops in the end and does not print; on any free port if none is given."""
    try:
        import viser
    except ImportError:
        raise MissingExtra("viser", extra="scene", purpose="pictures in space") from None
    if port is None:
        with socket.socket() as probe:
            probe.bind((host, 0))
            port = probe.getsockname()[1]
    with contextlib.redirect_stdout(io.StringIO()):  # it greets on the screen; a library does not
        server = viser.ViserServer(host=host, port=port, verbose=False)
    try:
        yield server
    finally:
        with contextlib.redirect_stdout(io.StringIO()):
            server.stop()


class Stage:
    """Everything set up on a server; `show` moves it to another picture of the animation."""

    def __init__(self, server: Any, scene: Scene) -> None:
        """Set up the stage on a server of viser."""
        self.unit = _unit(camera_of(scene.animation, scene.drawing, scene.follow).reach)
        scene = scene.scaled(1.0 / self.unit) if self.unit != 1.0 else scene
        self.animation, self.drawing, self.follow = scene.animation, scene.drawing, scene.follow
        animation, drawing, follow = scene.animation, scene.drawing, scene.follow
        self.camera = camera_of(animation, drawing, follow)
        self._scene = server.scene
        self._last: dict[str, tuple[float, ...]] = {}
        self._scene.set_up_direction(tuple(animation.up))
        server.initial_camera.position = tuple(self.camera.position)
        server.initial_camera.look_at = tuple(self.camera.look_at)
        server.initial_camera.fov = FIELD_OF_VIEW
        self._root = self._scene.add_frame(ROOT, show_axes=False)
        for k, part in enumerate(scene.road):
            self._mesh(f"{ROOT}/road/{k}", part)
        if not scene.road:
            self._ground()
        self._bodies = {body: self._body(body) for body in drawing.bodies}
        self._rods = [self._rod(k) for k in range(len(drawing.rods))]
        self._traces()
        self._arrows = [self._arrow(k) for k in range(len(animation.arrows))]
        self.show(0)

    # -- what stays ----------------------------------------------------------------------------------------------------
    def _ground(self) -> None:
        """A grid of cells of 1, 2 or 5 times a power of ten."""
        camera, cell = self.camera, round_length(self.camera.reach / 10.0)
        width = math.ceil(2.0 * camera.reach / cell / 5.0) * 5.0 * cell
        middle = camera.look_at - (camera.look_at @ self.animation.up) * self.animation.up
        path = np.zeros((1, 3)) if self.follow is None else self.follow - self.follow[0]
        travel = float(np.ptp(path, axis=0).max())
        if travel > 0.0:
            middle, width = middle + (path.max(axis=0) + path.min(axis=0)) / 2, width + math.ceil(travel / cell) * cell
        place = np.round(middle / cell) * cell
        place += (camera.ground - place @ self.animation.up) * self.animation.up
        self._scene.add_grid(
            f"{ROOT}/ground",
            width=width,
            height=width,
            cell_size=cell,
            section_size=5.0 * cell,
            cell_color=(222, 224, 226),
            section_color=(190, 194, 198),
            fade_distance=6.0 * camera.reach,
            wxyz=tuple(quaternion_of(camera.basis.T)),
            position=tuple(place),
        )

    def _traces(self) -> None:
        for k, (name, path) in enumerate(self.animation.traces.items()):
            if len(path) > 1:
                lines = np.stack([path[:-1], path[1:]], axis=1).astype(np.float32)
                colour = rgb(LINE_COLOURS[k % len(LINE_COLOURS)])
                self._scene.add_line_segments(
                    f"{ROOT}/traces/{name}", lines, colour, thickness=2.0, thickness_units="screen"
                )

    def move(self, animation: Animation) -> None:
        """Show another animation of the same drawing, at its first picture."""
        self.animation = animation.scaled(1.0 / self.unit)
        self.show(0)

    # -- what moves ----------------------------------------------------------------------------------------------------
    def _body(self, body: str) -> Any:
        frame = self._scene.add_frame(f"{ROOT}/{body}", show_axes=False)
        for k, part in enumerate(p for p in self.drawing.parts if p.body == body):
            self._mesh(f"{ROOT}/{body}/part{k}", part)
        return frame

    def _mesh(self, name: str, part: Part) -> None:
        self._scene.add_mesh_simple(
            name,
            part.triangles.corners.astype(np.float32),
            part.triangles.faces.astype(np.uint32),
            color=rgb(part.colour),
            side="double",
        )

    def _rod(self, k: int) -> Any:
        rod = self.drawing.rods[k]
        unit = cylinder(rod.radius, 1.0)
        corners = (unit.corners + np.array([0.0, 0.0, 0.5])).astype(np.float32)
        faces = unit.faces.astype(np.uint32)
        return self._scene.add_mesh_simple(f"{ROOT}/rods/{k}", corners, faces, color=rgb(rod.colour), side="double")

    def _arrow(self, k: int) -> Any:
        size = ARROW * self.drawing.size * self.animation.arrows[k].thickness
        return self._scene.add_arrows(
            f"{ROOT}/arrows/{k}_{self.animation.arrows[k].name}",
            self._shaft(k, 0),
            rgb(self.animation.arrows[k].colour),
            shaft_radius=size,
            head_radius=2.4 * size,
            head_length=6.0 * size,
        )

    def _shaft(self, k: int, picture: int) -> Any:
        """From the foot, which is the place of the arrow: it moves as bodies do."""
        force = self.animation.arrows[k]
        return np.stack([np.zeros(3), force.tips[picture] - force.feet[picture]])[None].astype(np.float32)

    def show(self, picture: int) -> None:
        """Move everything to a picture; what has not moved since the last one is not sent again."""
        animation = self.animation
        if self.follow is not None:
            self._place("", self._root, self.follow[0] - self.follow[picture], np.array([1.0, 0.0, 0.0, 0.0]))
        for body, frame in self._bodies.items():
            self._place(body, frame, animation.positions[body][picture], animation.turns[body][picture])
        for k, handle in enumerate(self._rods):
            start, end = animation.span(self.drawing.rods[k], picture)
            self._place(f"rod {k}", handle, start, quaternion_of(pointing(start, end)[:3, :3]))
            length = max(float(np.linalg.norm(end - start)), 1e-9)
            if self._changed(f"length {k}", np.array([length])):
                handle.scale = (1.0, 1.0, length)
        for k, handle in enumerate(self._arrows):
            self._place(f"foot {k}", handle, animation.arrows[k].feet[picture], np.array([1.0, 0.0, 0.0, 0.0]))
            points = self._shaft(k, picture)
            if self._changed(f"arrow {k}", points.ravel()):
                handle.points = points

    def _place(self, name: str, handle: Any, position: Array, turn: Array) -> None:
        if self._changed(f"position {name}", position):
            handle.position = tuple(float(x) for x in position)
        if self._changed(f"turn {name}", turn):
            handle.wxyz = tuple(float(x) for x in turn)

    def _changed(self, name: str, numbers: Array) -> bool:
        """Whether they are others than when last asked, to the precision of what is drawn."""
        rounded = tuple(np.round(numbers, 6).tolist())
        if self._last.get(name) == rounded:
            return False
        self._last[name] = rounded
        return True


def _unit(reach: float) -> float:
    """The length that viser takes for 1, m."""
    return 1.0 if REACHES[0] <= reach <= REACHES[1] else round_length(reach)
