"""A run as a GIF or an MP4 film, drawn picture by picture without a browser or a window."""

from __future__ import annotations

import io
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from torseur.errors import ArgumentError, MissingExtra
from torseur.formats import replace_file
from torseur.views.scene.animation import Camera, Scene, camera_of
from torseur.views.scene.snapshot import painted

__all__ = ["FILMS", "film"]

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
    pause = float(times[-1] - times[0]) / max(len(times) - 1, 1)
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
        ImageDraw.Draw(image).text((8, 5), f"{title}\n{begin + time:.2f} s", fill="#333333", font=font)
        yield np.asarray(image)


def _moved(camera: Camera, scene: Scene, k: int) -> Camera:
    """The camera of picture k: it goes with what it follows."""
    if scene.follow is None:
        return camera
    shift = scene.follow[k] - scene.follow[0]
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
