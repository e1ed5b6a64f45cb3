"""What pictures of vehicles have besides their bodies: the road under their wheels, and the forces of their tyres."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from torseur.describe import BASE, Mechanism
from torseur.describe.bodies import Road
from torseur.describe.constraints import Rolling
from torseur.dynamics.loads.wheels import at_place, height_at
from torseur.dynamics.tree.system import System
from torseur.graph import Function, Role, evaluate
from torseur.packs.tyres.load import TyreLoad
from torseur.simulation.results.result import Run
from torseur.views.scene.parts import ACCENT, ForceArrow, Part, Triangles
from torseur.views.values import Values, frame_poses, mechanism_of, values_for

__all__ = ["road_parts", "tyre_arrows"]

Array = NDArray[np.float64]

SIDE = 6.0
"""How far the road is drawn to each side of the wheels, m."""
SQUARE = 2.0
"""Of the pattern on the road, which shows how fast one drives, m."""
MOST_CELLS = 12_000
FINEST = 0.1
"""Smallest cell of a road that is not flat, m."""
ASPHALT = ("#A4A8AB", "#8E9396")
SLIPPERY = ("#9CC3DA", "#83B1CC")
"""Where adherence is less than that of the rest."""
LOAD = "#2F6FB0"
"""Of arrows of normal loads; those of forces along the road have the colour of forces."""
LONGEST = 0.28
"""Of arrows, in units of the size of the vehicle."""


@dataclass(frozen=True, eq=False)
class _Surface:
    """Height and adherence of a road, as numbers."""

    values: Values
    road: Road
    pose: Array
    """Of its frame in the world (4, 4)."""

    @cached_property
    def _function(self) -> Function:
        system = self.values.system
        g = system.graph
        place = g.blocks.get("road_place") or g.block("road_place", 2, Role.STATE, names=["road_x", "road_y"])
        x, y = place[0], place[1]
        results = [height_at(system, self.road, x, y), at_place(system, self.road.adherence, x, y)]
        return Function("road", [place, system.p], {"found": results})

    def at(self, places: Array) -> tuple[Array, Array]:
        """Height and adherence at places (n, 2) of its plane."""
        (values,) = evaluate(self._function, places, np.broadcast_to(self.values.p, (len(places), len(self.values.p))))
        values = np.broadcast_to(values, (len(places), 2))
        return values[:, 0], values[:, 1]

    def normals(self, places: Array) -> Array:
        """Unit normals at places (n, 2), in the axes of the world, by differences over a centimetre."""
        d = 0.005
        slopes = [
            (self.at(places + step)[0] - self.at(places - step)[0]) / (2 * d) for step in ([[d, 0.0]], [[0.0, d]])
        ]
        n = np.stack([-slopes[0], -slopes[1], np.ones(len(places))], axis=1)
        return np.asarray((n / np.linalg.norm(n, axis=1, keepdims=True)) @ self.pose[:3, :3].T)

    def local(self, points: Array) -> Array:
        """Points of the world (n, 3) in its frame."""
        return np.asarray((points - self.pose[:3, 3]) @ self.pose[:3, :3])


def _surfaces(run: Run) -> dict[str, _Surface]:
    """The roads of a run that lie still, by name."""
    mechanism = mechanism_of(run)
    if not mechanism.roads:
        return {}
    values = values_for(System(mechanism), {}, run.parameters)
    surfaces = {}
    for name, road in mechanism.roads.items():
        poses = frame_poses(run.resampled(run.time[[0, -1]] if len(run.time) > 1 else run.time), road.frame)
        if np.ptp(poses, axis=0).max() < 1e-9:
            surfaces[name] = _Surface(values, road, poses[0])
    return surfaces


def _wheels(mechanism: Mechanism) -> Iterator[tuple[str, Rolling]]:
    """The wheels on roads, by the names of their constraints."""
    for name, constraint in mechanism.constraints.items():
        if constraint.rolling is not None and constraint.rolling.road is not None:
            yield name, constraint.rolling


# -- the road ----------------------------------------------------------------------------------------------------------
def road_parts(run: Run) -> tuple[Part, ...]:
    """The surface of the roads where wheels come, as triangles in the world."""
    parts: list[Part] = []
    times = np.unique(np.linspace(run.time[0], run.time[-1], 150))
    seen = run.resampled(times)
    for name, surface in _surfaces(run).items():
        wheels = [rolling for _, rolling in _wheels(mechanism_of(run)) if rolling.road == name]
        if wheels:
            places = [surface.local(frame_poses(seen, wheel.wheel)[:, :3, 3])[:, :2] for wheel in wheels]
            parts += _drawn(surface, np.concatenate(places))
    return tuple(parts)


def _drawn(surface: _Surface, places: Array) -> Iterator[Part]:
    cell = _cell(surface, places)
    squares = _near(places, cell)
    corners = np.array([[0, 0], [1, 0], [1, 1], [0, 1]])
    nodes, inverse = np.unique((squares[:, None, :] + corners).reshape(-1, 2), axis=0, return_inverse=True)
    quads = inverse.reshape(-1, 4)
    height, adherence = surface.at(nodes * cell)
    points = np.column_stack([nodes * cell, height]) @ surface.pose[:3, :3].T + surface.pose[:3, 3]
    dark = np.floor((squares + 0.5) * cell / SQUARE).sum(axis=1) % 2 == 1
    grip = adherence[quads].mean(axis=1)
    slippery = grip < 0.95 * adherence.max()
    for shades, where in ((ASPHALT, ~slippery), (SLIPPERY, slippery)):
        for colour, chosen in zip(shades, (where & ~dark, where & dark), strict=True):
            faces = quads[chosen][:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3)
            if len(faces):
                used, new = np.unique(faces, return_inverse=True)
                yield Part("world", Triangles(points[used], new.reshape(-1, 3).astype(np.int64)), colour)


def _cell(surface: _Surface, places: Array) -> float:
    """The size of the cells: that of the pattern on a flat road, else as fine as their number allows."""
    flat = surface.road.is_flat and not hasattr(surface.road.adherence, "text")
    if flat:
        return SQUARE
    area = len(_near(places, SQUARE)) * SQUARE**2
    return SQUARE / int(np.clip(SQUARE / max(np.sqrt(area / MOST_CELLS), FINEST), 1, SQUARE / FINEST))


def _near(places: Array, cell: float) -> NDArray[np.int64]:
    """The cells within reach of some places, (n, 2) whole numbers."""
    steps = np.diff(places, axis=0)
    between = [places[:-1] + share * steps for share in (0.25, 0.5, 0.75) if len(places) > 1]
    close = np.linalg.norm(steps, axis=1) < 10.0 * SIDE  # not from the end of one wheel's way to the next one's start
    points = np.concatenate([places, *(b[close] for b in between)])
    centres = np.unique(np.floor(points / cell).astype(np.int64), axis=0)
    reach = int(np.ceil(SIDE / cell))
    around = np.array([[i, j] for i in range(-reach, reach + 1) for j in range(-reach, reach + 1)])
    around = around[np.linalg.norm(around, axis=1) * cell <= SIDE]
    cells: NDArray[np.int64] = np.zeros((0, 2), dtype=np.int64)
    for some in np.array_split(centres, max(1, len(centres) * len(around) // 500_000)):
        cells = np.unique(np.concatenate([cells, (some[:, None] + around).reshape(-1, 2)]), axis=0)
    return cells


# -- forces ------------------------------------------------------------------------------------------------------------
def tyre_arrows(run: Run, size: float) -> tuple[ForceArrow, ...]:
    """Two arrows for each tyre, beside its contact with the road: the normal load, and the force along the road."""
    mechanism = mechanism_of(run)
    tyres = {
        name: load.wheel
        for name, load in mechanism.loads.items()
        if isinstance(load, TyreLoad) and f"{name}_Fz" in run.channels
    }
    if not tyres:
        return ()
    surfaces, rolling = _surfaces(run), dict(_wheels(mechanism))
    largest = max(float(np.abs(run[f"{name}_Fz"]).max()) for name in tyres)
    scale = LONGEST * size / max(largest, 1e-300)
    arrows: list[ForceArrow] = []
    for name, wheel in tyres.items():
        if wheel in rolling and rolling[wheel].road in surfaces:
            arrows += _arrows(run, name, rolling[wheel], surfaces[rolling[wheel].road or ""], scale)
    return tuple(arrows)


def _arrows(run: Run, name: str, wheel: Rolling, surface: _Surface, scale: float) -> Iterator[ForceArrow]:
    pose = frame_poses(run, wheel.wheel)
    centre, axle = pose[:, :3, 3], pose[:, :3, "xyz".index(wheel.axle)]
    (radius, crown) = surface.values.numbers(
        {"r": [surface.values.system.scalar(x) for x in (wheel.radius, wheel.crown)]}
    )["r"]
    normal = surface.normals(surface.local(centre)[:, :2])
    ahead = np.cross(axle, normal)
    ahead /= np.maximum(np.linalg.norm(ahead, axis=1, keepdims=True), 1e-12)
    left, down = np.cross(normal, ahead), np.cross(axle, ahead)
    foot = centre + (radius - crown) * down - crown * normal
    foot = foot + _outwards(run, centre, left, 0.5 * radius)
    Fx, Fy, Fz = (run[f"{name}_{key}"][:, None] for key in ("Fx", "Fy", "Fz"))
    yield ForceArrow(f"{name}_load", foot, foot + scale * Fz * normal, LOAD, 0.5, "normal loads of tyres")
    yield ForceArrow(
        f"{name}_force", foot, foot + scale * (Fx * ahead + Fy * left), ACCENT, 0.5, "forces of tyres along the road"
    )


def _outwards(run: Run, centre: Array, left: Array, distance: float) -> Array:
    """To the side of the wheel that is away from the middle of the vehicle."""
    base = frame_poses(run, BASE)
    side = np.einsum("ij,ij->i", centre - base[:, :3, 3], base[:, :3, 1])
    return np.asarray(distance * np.where(side >= -1e-6, 1.0, -1.0)[:, None] * left)
