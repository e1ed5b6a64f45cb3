"""Still pictures of a run, and films of it as GIF or MP4, drawn without a browser and without a window.

Triangle by triangle into a depth buffer. Neither matplotlib, which has no depth buffer, nor trimesh, which draws
through a window, would do. Screen coordinates are x to the right and y down, in fine pixels (several to one of the
picture, for smooth edges); the third is 1/depth, which is linear on the screen.
"""

from __future__ import annotations

import io
import os
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from torseur.errors import ArgumentError, MissingExtra
from torseur.formats import replace_file
from torseur.simulation.results.result import Run
from torseur.views.plots.style import COLOURS
from torseur.views.scene.animation import (
    FIELD_OF_VIEW,
    Animation,
    Camera,
    Scene,
    animation_of,
    camera_of,
    clock,
    round_length,
    scene_of,
)
from torseur.views.scene.parts import ARROW, Array, Drawing, Triangles, arrow, cylinder, pointing
from torseur.views.scene.viser_stage import rgb

__all__ = ["FILMS", "Canvas", "film", "painted", "picture", "snapshot"]

CELLS = 10
"""Of the ground, to each side."""
FINE = 2
"""Fine pixels along each side of a pixel."""
NEAR = 0.02
"""What is nearer to the eye than this share of the reach is not drawn."""
LIGHT = np.array([0.25, -0.45, 0.86])
"""Direction towards the light, along ahead, left and up."""


def snapshot(
    run: Run,
    path: str | os.PathLike[str],
    *,
    at: float | None = None,
    size: tuple[int, int] = (1200, 900),
    **options: Any,
) -> None:
    """Save a picture of a run at one time.

    Args:
        run: with its mechanism.
        path: a name that ends in .png.
        at: the time, s; by default the start.
        size: width and height, pixels.
        options: as those of `animate`; traces reach up to the time.
    """
    file = Path(path)
    if file.suffix.lower() != ".png":
        raise ArgumentError("a snapshot is a PNG file", where=str(file), expected="a name that ends in .png")
    try:
        from matplotlib.image import imsave
    except ImportError:
        raise MissingExtra("matplotlib", extra="plots", purpose="PNG files") from None
    stream, unsigned = io.BytesIO(), {"Software": None}  # the same picture is the same file
    imsave(stream, picture(run, at=at, size=size, **options), format="png", metadata=unsigned)  # type: ignore[arg-type, unused-ignore]
    replace_file(file, stream.getvalue())


def picture(run: Run, *, at: float | None = None, size: tuple[int, int] = (1200, 900), **options: Any) -> Array:
    """The same as pixels (height, width, 3), from 0 to 1."""
    moment = float(run.time[0] if at is None else at)
    scene = scene_of(run, **options)
    still = animation_of(run.resampled([moment]), scene.drawing, arrows=options.get("arrows", ()))
    camera, passed = camera_of(scene.animation, scene.drawing, scene.follow), moment - float(run.time[0])
    if scene.follow is not None:
        times = scene.animation.times
        place = np.array([np.interp(passed, times, coordinate) for coordinate in scene.follow.T])
        camera = _shifted(camera, place - scene.follow[0])
    share = passed / max(float(scene.animation.times[-1]), 1e-300)
    return painted(scene, still, 0, camera, share, size)


def painted(scene: Scene, animation: Animation, k: int, camera: Camera, share: float, size: tuple[int, int]) -> Array:
    """Picture k of an animation as pixels (height, width, 3), from 0 to 1.

    Args:
        scene: what is drawn.
        animation: where it is.
        k: which picture.
        camera: from where one looks.
        share: of the traces that is drawn, from 0 to 1.
        size: width and height, pixels.
    """
    canvas = Canvas(camera, size, FIELD_OF_VIEW)
    solids = list(_in_world(scene.drawing, animation, k))
    for triangles, colour in solids:
        canvas.solid(triangles, np.array(rgb(colour)) / 255.0)
    for n, trace in enumerate(scene.animation.traces.values()):
        past = trace[: round(share * (len(trace) - 1)) + 1]
        canvas.line(past, np.array(rgb(COLOURS[n % len(COLOURS)])) / 255.0, 2.0)
    for part in scene.road:
        canvas.solid(part.triangles, np.array(rgb(part.colour)) / 255.0)
    if not scene.road:
        _ground(canvas, camera)
    for triangles, _ in solids:
        canvas.shadow(triangles, camera.basis[2], camera.ground, np.full(3, 0.93))
    return np.asarray(canvas.pixels())


def _in_world(drawing: Drawing, animation: Animation, k: int) -> Iterator[tuple[Triangles, str]]:
    """Everything in picture k of an animation, with its colour."""
    for part in drawing.parts:
        yield part.triangles.moved(animation.pose(part.body, k)), part.colour
    for rod in drawing.rods:
        start, end = animation.span(rod, k)
        length = float(np.linalg.norm(end - start))
        if length > 0.0:
            yield cylinder(rod.radius, length).moved(pointing((start + end) / 2, end)), rod.colour
    for force in animation.arrows:
        length = float(np.linalg.norm(force.tips[k] - force.feet[k]))
        if length > 0.0:
            thick = ARROW * drawing.size * force.thickness
            yield arrow(length, thick).moved(pointing(force.feet[k], force.tips[k])), force.colour


def _ground(canvas: Canvas, camera: Camera) -> None:
    """A grid; each line in pieces, so that one that passes under the eye is not lost as a whole."""
    x, y, _ = camera.basis @ camera.look_at
    cell = round_length(camera.reach / 10.0)
    x, y = round(x / cell) * cell, round(y / cell) * cell
    along = np.linspace(-CELLS * cell, CELLS * cell, 8 * CELLS + 1)
    flat, height = np.zeros_like(along), np.full_like(along, camera.ground)
    for k in range(-CELLS, CELLS + 1):
        colour = np.full(3, 0.76 if k % 5 == 0 else 0.88)
        canvas.line(np.stack([flat + x + k * cell, along + y, height], axis=1) @ camera.basis, colour, 1.0)
        canvas.line(np.stack([along + x, flat + y + k * cell, height], axis=1) @ camera.basis, colour, 1.0)


# -- the depth buffer --------------------------------------------------------------------------------------------------
class Canvas:
    """An empty picture from a camera's place."""

    def __init__(self, camera: Camera, size: tuple[int, int], field_of_view: float) -> None:
        """Prepare.

        Args:
            camera: from where one looks.
            size: width and height, pixels.
            field_of_view: angle from top to bottom, rad.
        """
        self.width, self.height = FINE * size[0], FINE * size[1]
        self._colours = np.ones((self.height, self.width, 3))
        self._nearness = np.zeros((self.height, self.width))
        forward = camera.look_at - camera.position
        forward = forward / np.linalg.norm(forward)
        right = np.cross(forward, camera.basis[2])
        right /= np.linalg.norm(right)
        self._eye, self._axes = camera.position, np.stack([right, -np.cross(right, forward), forward])
        self._focus = 0.5 * self.height / np.tan(0.5 * field_of_view)
        self._near = NEAR * camera.reach
        light = LIGHT @ camera.basis
        self._light = light / np.linalg.norm(light)

    def on_screen(self, points: Array) -> tuple[Array, NDArray[np.bool_]]:
        """Points (n, 3) on the screen, and which of them are in front of the eye."""
        x, y, depth = (self._axes @ (points - self._eye).T).astype(float)
        ahead = depth > self._near
        inverse = 1.0 / np.where(ahead, depth, 1.0)
        columns = (0.5 * self.width + self._focus * x * inverse, 0.5 * self.height + self._focus * y * inverse, inverse)
        return np.stack(columns, axis=1), ahead

    # -- solids --------------------------------------------------------------------------------------------------------
    def solid(self, shape: Triangles, colour: Array) -> None:
        """Draw a shape in the world, its colour (3,) from 0 to 1 brightened by the light."""
        corners, faces = shape.corners, shape.faces
        normals = np.cross(corners[faces[:, 1]] - corners[faces[:, 0]], corners[faces[:, 2]] - corners[faces[:, 0]])
        smooth = np.zeros_like(corners)
        for k in range(3):
            np.add.at(smooth, faces[:, k], normals)
        smooth /= np.maximum(np.linalg.norm(smooth, axis=1, keepdims=True), 1e-300)
        shade = 0.66 + 0.42 * np.clip(smooth @ self._light, -0.55, 1.0)
        facing = np.einsum("ij,ij->i", normals, self._eye - corners[faces[:, 0]]) > 0.0
        self._draw(corners, faces[facing], np.clip(np.outer(shade, colour), 0.0, 1.0))

    def shadow(self, shape: Triangles, up: Array, ground: float, colour: Array) -> None:
        """Draw the shadow of a shape on the ground, where there is nothing yet."""
        heights = shape.corners @ up - ground
        fallen = shape.corners - np.outer(heights / max(float(self._light @ up), 0.1), self._light)
        self._draw(fallen, shape.faces, np.broadcast_to(colour, fallen.shape))

    def _draw(self, corners: Array, faces: NDArray[np.int64], colours: Array) -> None:
        screen, ahead = self.on_screen(corners)
        for face in faces[ahead[faces].all(axis=1)]:
            self._triangle(screen[face], colours[face])

    def _triangle(self, corners: Array, colours: Array) -> None:
        """Fill a triangle on the screen (3, 3) where it is nearer than what is there."""
        (x0, y0, _), (x1, y1, _), (x2, y2, _) = corners
        left, right = max(int(min(x0, x1, x2)), 0), min(int(max(x0, x1, x2)) + 2, self.width)
        top, bottom = max(int(min(y0, y1, y2)), 0), min(int(max(y0, y1, y2)) + 2, self.height)
        area = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
        if left >= right or top >= bottom or abs(area) < 1e-9:
            return
        x, y = np.arange(left, right) + 0.5, (np.arange(top, bottom) + 0.5)[:, None]
        b = ((x - x0) * (y2 - y0) - (x2 - x0) * (y - y0)) / area
        c = ((x1 - x0) * (y - y0) - (x - x0) * (y1 - y0)) / area
        a = 1.0 - b - c
        nearness = a * corners[0, 2] + b * corners[1, 2] + c * corners[2, 2]
        region = (slice(top, bottom), slice(left, right))
        inside = np.minimum(np.minimum(a, b), c) >= -1e-9
        drawn = np.logical_and(inside, nearness > self._nearness[region])
        if drawn.any():
            self._nearness[region][drawn] = nearness[drawn]
            weights = np.stack([a[drawn], b[drawn], c[drawn]], axis=1)
            self._colours[region][drawn] = weights @ colours

    # -- lines ---------------------------------------------------------------------------------------------------------
    def line(self, points: Array, colour: Array, width: float) -> None:
        """Draw straight lines along points (n, 3) in the world, `width` pixels wide whatever their distance."""
        screen, ahead = self.on_screen(points)
        pieces = np.flatnonzero(ahead[:-1] & ahead[1:])
        start, end = screen[pieces], screen[pieces + 1]
        along = end[:, :2] - start[:, :2]
        length = np.hypot(along[:, 0], along[:, 1])
        long = length > 1e-9
        if long.any():
            along = along[long] / length[long, None]
            self._strips(start[long], end[long], along, length[long], 0.5 * FINE * width, colour)

    def _strips(self, start: Array, end: Array, along: Array, length: Array, half: float, colour: Array) -> None:
        """Fill straight strips (n), of a half width, where they are nearer than what is there.

        Of each, the candidates are as many pixels across, column by column or, where it is steep, row by row.
        """
        steep = np.abs(along[:, 1]) > np.abs(along[:, 0])
        main, other = steep.astype(int), 1 - steep.astype(int)
        size = np.where(steep, self.height, self.width)
        rows = np.arange(len(start))
        ends = np.stack([start[rows, main], end[rows, main]])
        first = np.clip(np.floor(ends.min(axis=0) - half), 0, size).astype(int)
        count = np.maximum(np.clip(np.ceil(ends.max(axis=0) + half), 0, size).astype(int) - first, 0)
        which = np.repeat(rows, count)
        if not len(which):
            return
        step = np.arange(len(which)) - np.repeat(np.cumsum(count) - count, count) + first[which]
        slope = along[rows, other] / along[rows, main]
        middle = start[which, other[which]] + slope[which] * (step + 0.5 - start[which, main[which]])
        reach = int(np.ceil(1.5 * half)) + 1  # at 45 degrees a strip is 1.42 times as wide along an axis
        across = np.floor(middle).astype(int)[:, None] + np.arange(-reach, reach + 1)
        steps = np.broadcast_to(step[:, None], across.shape)
        is_steep = steep[which][:, None]
        x, y = np.where(is_steep, across, steps), np.where(is_steep, steps, across)
        dx, dy = x + 0.5 - start[which, 0][:, None], y + 0.5 - start[which, 1][:, None]
        ux, uy = along[which, 0][:, None], along[which, 1][:, None]
        share = (dx * ux + dy * uy) / length[which][:, None]
        inside = (np.abs(dy * ux - dx * uy) <= half) & (share >= 0.0) & (share <= 1.0)
        inside &= (x >= 0) & (x < self.width) & (y >= 0) & (y < self.height)
        z = start[which, 2][:, None] + share * (end - start)[which, 2][:, None]
        self._put(x[inside], y[inside], z[inside], colour)

    def _put(self, x: NDArray[np.int64], y: NDArray[np.int64], nearness: Array, colour: Array) -> None:
        """Colour pixels where they are nearer than what is there."""
        drawn = nearness > self._nearness[y, x]
        x, y = x[drawn], y[drawn]
        np.maximum.at(self._nearness, (y, x), nearness[drawn])
        self._colours[y, x] = colour

    def pixels(self) -> Array:
        """The picture (height, width, 3), from 0 to 1."""
        parts = [self._colours[i::FINE, j::FINE] for i in range(FINE) for j in range(FINE)]
        return np.asarray(sum(parts[1:], start=parts[0]) / len(parts))


FILMS = {".gif": 20.0, ".mp4": 30.0}
"""Endings, and pictures per second where nothing else is asked for."""
Pixels = NDArray[np.uint8]


def film(scene: Scene, file: Path, *, title: str, begin: float, size: tuple[int, int]) -> None:
    """Write the pictures of a scene, with title and time on each, at the pace of the run.

    Args:
        scene: what is drawn, in every picture.
        file: ends in .gif or .mp4.
        title: above the pictures.
        begin: the time of the first one, s.
        size: width and height, pixels; even for .mp4.
    """
    if min(size) < 16 or (file.suffix.lower() == ".mp4" and (size[0] % 2 or size[1] % 2)):
        got = f"{size[0]} x {size[1]}"
        raise ArgumentError("a film cannot have this size", expected="even numbers from 16 on", got=got)
    write = _gif if file.suffix.lower() == ".gif" else _mp4
    times = scene.animation.times
    pause = float(times[-1] - times[0]) / max(len(times) - 1, 1) / scene.animation.pace
    replace_file(file, write(_pictures(scene, title, begin, size), pause, size))


def _pictures(scene: Scene, title: str, begin: float, size: tuple[int, int]) -> Iterator[Pixels]:
    try:
        from matplotlib import get_data_path
        from PIL import Image, ImageDraw, ImageFont
    except ImportError:
        raise MissingExtra("matplotlib", extra="plots", purpose="GIFs and films") from None
    camera = camera_of(scene.animation, scene.drawing, scene.follow)
    font = ImageFont.truetype(Path(get_data_path(), "fonts", "ttf", "DejaVuSans.ttf"), max(size[1] / 34.0, 8.0))
    times = scene.animation.times
    for k, time in enumerate(times):
        share = time / max(float(times[-1]), 1e-300)
        pixels = painted(scene, scene.animation, k, _moved(camera, scene, k), share, size)
        image = Image.fromarray((255.0 * pixels).round().astype(np.uint8))
        shown = clock(begin + time, float(times[-1]), begin + float(times[-1]), scene.animation.pace)
        ImageDraw.Draw(image).text(
            (8, 5), f"{title}\n{shown}", fill="#333333", font=font, stroke_width=2, stroke_fill="white"
        )
        yield np.asarray(image)


def _moved(camera: Camera, scene: Scene, k: int) -> Camera:
    """The camera of picture k: it goes with what it follows."""
    return camera if scene.follow is None else _shifted(camera, scene.follow[k] - scene.follow[0])


def _shifted(camera: Camera, shift: Array) -> Camera:
    return replace(camera, position=camera.position + shift, look_at=camera.look_at + shift)


def _gif(pictures: Iterator[Pixels], pause: float, size: tuple[int, int]) -> bytes:
    """All pictures with one palette, that of the first; a GIF counts time in hundredths of a second."""
    from PIL import Image

    images = [Image.fromarray(pixels) for pixels in pictures]
    palette = images[len(images) // 2].quantize(255)
    frames = [image.quantize(palette=palette, dither=Image.Dither.NONE) for image in images]
    ends = np.round(100.0 * pause * np.arange(1, len(frames) + 1)) if pause > 0.0 else np.array([100.0])
    lengths = [int(10 * n) for n in np.diff(ends, prepend=0.0)]
    stream = io.BytesIO()
    frames[0].save(stream, "GIF", save_all=True, append_images=frames[1:], duration=lengths, loop=0)
    return stream.getvalue()


def _mp4(pictures: Iterator[Pixels], pause: float, size: tuple[int, int]) -> bytes:
    try:
        import imageio_ffmpeg
    except ImportError:
        raise MissingExtra("imageio-ffmpeg", extra="video", purpose="MP4 films") from None
    rate = 1.0 / pause if pause > 0.0 else 1.0
    raw = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{size[0]}x{size[1]}", "-r", f"{rate:.6g}", "-i", "-"]
    coded = ["-c:v", "libx264", "-crf", "22", "-pix_fmt", "yuv420p", "-movflags", "+faststart"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "film.mp4"
        command = [imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-y", *raw, *coded, str(path)]
        done = subprocess.run(command, input=b"".join(x.tobytes() for x in pictures), capture_output=True, check=False)
        if done.returncode:
            raise ArgumentError("ffmpeg wrote no film", got=done.stderr.decode(errors="replace").strip()[-300:])
        return path.read_bytes()
