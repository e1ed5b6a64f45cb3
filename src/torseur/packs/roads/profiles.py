"""Roads given by numbers: profiles along x, random ones of ISO 8608, and maps of heights.

Between its points a profile is a cubic spline, so that its curvature is continuous. An envelope of length l is the mean
of a profile over the length of the contact,

    z_l(x) = integral of z(x + l (u - 1/2)) (1 - cos 2 pi u) du,  u from 0 to 1                                    (R.2)

which leaves of a wave of length L the share sin(pi l/L) / (pi (l/L) (1 - (l/L)^2)).

**ISO 8608.** A class is a power spectral density of the height over the spatial frequency n (cycles per metre),

    G(n) = G(n0) (n/n0)^-2,  n0 = 0.1 1/m,  G(n0) = 16e-6 m3 for class A and four times more from class to class   (R.3)

The profile of length l is the sum of the waves n_k = k/l within the band of the norm, 0.011 to 2.83 1/m, with the
amplitudes sqrt(2 G(n_k)/l) and random phases. Two tracks at a distance b are coherent as an isotropic surface is
(Robson and Kamash 1977; K1 is a modified Bessel function), the second with the amplitudes of (R.3) in the mean:

    coherence(n) = 2 pi n b K1(2 pi n b)                                                                           (R.4)
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from torseur.describe.fields import Number
from torseur.describe.mechanism import LookupTable
from torseur.errors import ModelError
from torseur.formats.files import table_in_file
from torseur.packs.roads.kind import Height, RoadKind

__all__ = ["CLASSES", "HeightMap", "Iso8608", "Profile", "enveloped", "iso_8608_profiles"]

Array = NDArray[np.float64]

CLASSES = {name: 16e-6 * 4.0**k for k, name in enumerate("ABCDEFGH")}
"""G(n0) of each class: the geometric mean of its limits, m3."""

N0 = 0.1
BAND = (0.011, 2.83)
"""Spatial frequencies of the norm, 1/m."""

POINTS_OF_A_WAVE = 10
"""Of the shortest wave: its spline is then within 1 % of it, curvature included."""

POINTS_OF_AN_ENVELOPE = 24


def enveloped(x: Array, z: Array, length: float) -> tuple[Array, Array]:
    """A profile (x, z), straight between its points, through an envelope (R.2), at points close enough for a spline."""
    step = length / POINTS_OF_AN_ENVELOPE
    at = np.arange(x[0] - length / 2, x[-1] + length / 2 + step, step)
    u = (np.arange(200) + 0.5) / 200  # the rule of midpoints: exact to rounding for the weight, which is periodic
    weight = (1.0 - np.cos(2 * np.pi * u)) / u.size
    return at, np.interp(at[:, None] + length * (u - 0.5), x, z) @ weight


def iso_8608_profiles(road_class: str, length: float, seed: int, tracks: tuple[float, ...]) -> tuple[Array, Array]:
    """Points x (n,) and heights (tracks, n) of random profiles (R.3) at places across the road, m (R.4).

    The profiles are periodic over the length and begin and end at the height 0.
    """
    from scipy.special import k1

    k = np.arange(max(1, int(np.ceil(BAND[0] * length))), int(np.floor(BAND[1] * length)) + 1)
    n = k / length
    amplitude = np.sqrt(2.0 * CLASSES[road_class] * (n / N0) ** -2.0 / length)
    random = np.random.default_rng(seed)
    phases = np.exp(1j * random.uniform(0.0, 2 * np.pi, (len(tracks), n.size)))
    if len(tracks) == 2:
        way = 2 * np.pi * n * abs(tracks[1] - tracks[0])
        coherence = way * k1(way)
        phases[1] = coherence * phases[0] + np.sqrt(1.0 - coherence**2) * phases[1]
    count = int(np.ceil(length * BAND[1] * POINTS_OF_A_WAVE))
    x = np.linspace(0.0, length, count + 1)
    spectrum = np.zeros((len(tracks), count), dtype=complex)
    spectrum[:, k] = amplitude * phases
    z = np.real(np.fft.ifft(spectrum, axis=1)) * count
    z = np.concatenate([z, z[:, :1]], axis=1)
    return x, z - z[:, :1]


def _spline(x: Any, z: Any, **more: Any) -> LookupTable:
    fields = {"x": tuple(map(float, x)), "values": tuple(map(float, z)), "between": "smooth", "unit": "m"}
    return LookupTable.model_validate(fields | more)


class Profile(RoadKind):
    """A profile along x through points, the same all across; beyond its ends it is level."""

    kind = "profile"
    x: tuple[Number, ...] = Field((), description="increasing, m")
    z: tuple[Number, ...] = Field((), description="height at each x, m")
    file: str | None = Field(None, max_length=1000, description="in place of both: a file (CSV) beside the vehicle")
    columns: tuple[str | int, str | int] = Field((1, 2), description="of the file: x and z, by name or number")
    envelope: Number | None = Field(
        None,
        gt=0.0,
        description="length of the contact that passes over it, m: its mean over it, straight between points",
    )

    @model_validator(mode="after")
    def _points(self) -> Self:
        if (self.file is None) == (not self.x) or len(self.x) != len(self.z):
            raise PydanticCustomError("choice", "give x and as many z, or a file")
        return self

    def height(self, name: str, folder: Path | None) -> Height:
        x, z = self.x, self.z
        if self.file is not None:
            read = table_in_file(_beside(folder, self.file), self.file, {"columns": self.columns})
            x, z = tuple(read["x"]), tuple(read["values"])
        if self.envelope is None:
            return Height(f"table(x, {name}_profile)", {f"{name}_profile": _spline(x, z)})
        at, mean = enveloped(np.array(x), np.array(z), self.envelope)
        return Height(f"table(x, {name}_profile)", {f"{name}_profile": _spline(at, mean)})


class Iso8608(RoadKind):
    """A random road of a class of ISO 8608, level before and after it (R.3)."""

    kind = "iso_8608"
    roughness: Literal["A", "B", "C", "D", "E", "F", "G", "H"] = Field(
        alias="class", description="from A, very smooth, to H"
    )
    length: Number = Field(description="m", gt=0.0)
    seed: int = Field(description="the same seed gives the same road", ge=0, strict=True)
    start: Number = Field(0.0, description="x where it begins, m")
    track: Number | None = Field(
        None, gt=0.0, description="between a left and a right profile, m; by default the road is the same all across"
    )
    envelope: Number | None = Field(None, gt=0.0, description="length of the contact that passes over it, m")

    def height(self, name: str, folder: Path | None) -> Height:
        least = 1.0 / BAND[1]
        if self.length < least:
            raise ModelError(
                "a road without waves", where=name, expected=f"more than {least:.2f} m", got=str(self.length)
            )
        tracks = (0.0,) if self.track is None else (self.track / 2, -self.track / 2)
        x, found = iso_8608_profiles(self.roughness, self.length, self.seed, tracks)
        curves = [(x, z) if self.envelope is None else enveloped(x, z, self.envelope) for z in found]
        keys = [f"{name}_profile"] if self.track is None else [f"{name}_left", f"{name}_right"]
        tables = {key: _spline(self.start + at, z) for key, (at, z) in zip(keys, curves, strict=True)}
        if self.track is None:
            return Height(f"table(x, {keys[0]})", tables)
        across = f"{name}_across"
        tables[across] = _spline((-self.track / 2, self.track / 2), (0.0, 1.0))
        left, right = (f"table(x, {key})" for key in keys)
        return Height(f"{right} + table(y, {across})*({left} - {right})", tables)


class HeightMap(RoadKind):
    """Heights on a grid, between whose points the road is a bicubic spline; beyond its ends it is held."""

    kind = "height_map"
    file: str = Field(
        max_length=1000,
        description="CSV beside the vehicle: y in the first line after its first cell, then on each line x and heights",
    )
    scale: Number = Field(1.0, description="multiplies the heights")

    def height(self, name: str, folder: Path | None) -> Height:
        read = table_in_file(_beside(folder, self.file), self.file, {"grid": True})
        rows = tuple(tuple(self.scale * z for z in row) for row in read["values"])
        fields = {"x": tuple(read["x"]), "y": tuple(read["y"]), "values": rows, "between": "smooth", "unit": "m"}
        key = f"{name}_heights"
        return Height(f"table(x, y, {key})", {key: LookupTable.model_validate(fields)})


def _beside(folder: Path | None, file: str) -> Path:
    if folder is None:
        raise ModelError("a road of a file, without a folder to look for it", got=file, remedy="give made() a folder")
    return folder
