"""Random closed mechanisms.

`closed` takes a random tree at a random state and ties frames, coordinates and speeds in such a way that the state
meets every constraint.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from support.moving_poses import joint_motion
from support.plain import Plain
from support.plain_closed import PlainClosed
from support.random_mechanisms import Plan, State, mechanism_of, state_of
from torseur.describe import BASE, Loop, Mechanism
from torseur.spatial.joints import KINDS

__all__ = ["CUTS", "FORMS", "Closed", "closed"]

Array = NDArray[np.float64]

CUTS = tuple(name for name, kind in KINDS.items() if kind.nv < 6)
FORMS = ("coupling", "prescribed", "zero", "speeds", "driven_speeds", "no_side_slip", "rolling", "sliding")


@dataclass(frozen=True)
class Closed:
    """A closed mechanism at a state that meets its constraints; its tree alone; what `Plain` makes of it."""

    mechanism: Mechanism
    tree: Mechanism
    state: State
    plain: PlainClosed

    @property
    def conditioned(self) -> bool:
        """Whether the rows are independent, and far from dependent."""
        A, _ = self.plain.matrix(self.state.q, self.state.t)
        singular = np.linalg.svd(A, compute_uv=False)
        return len(A) <= self.plain.nv and bool(singular[-1] > 1e-2 * max(1.0, singular[0]))


def closed(plan: Plan, cuts: Sequence[str] = (), forms: Sequence[str] = ()) -> Closed:
    """A random tree, tied by cut joints of these kinds and by constraints of these forms."""
    tree = mechanism_of(plan)
    closer = _Closer(tree, plan.seed)
    for kind in cuts:
        closer.cut(kind)
    for form in forms:
        getattr(closer, f"_{form}")()
    mechanism = closer.mechanism()
    plain, s = PlainClosed(mechanism), closer.state
    v = plain.consistent(s.q, s.v, s.t)
    return Closed(mechanism, tree, State(s.q, v, s.vdot, s.t, s.u), plain)


class _Closer:
    def __init__(self, tree: Mechanism, seed: int) -> None:
        self.tree, self.rng = tree, np.random.default_rng(seed + 1)
        self.state = state_of(tree, seed % 1000)
        still = 0 * self.state.v
        self.places = {name: m.T for name, m in Plain(tree).motion(self.state.q, still, still).items()}
        self.frames: dict[str, dict[str, Any]] = {name: {} for name in (BASE, *tree.bodies)}
        self.loops: dict[str, Any] = {}
        self.constraints: dict[str, Any] = {}

    def mechanism(self) -> Mechanism:
        content = self.tree.model_dump()
        content["base"]["frames"] = dict(content["base"]["frames"]) | self.frames[BASE]
        for name, body in content["bodies"].items():
            body["frames"] = dict(body["frames"]) | self.frames[name]
        content |= {"loops": self.loops, "constraints": self.constraints, "loads": self.tree.loads}
        return Mechanism.model_validate(content)

    # -- frames
    def _rotation(self) -> Array:
        Q, R = np.linalg.qr(self.rng.normal(size=(3, 3)))
        Q = Q * np.sign(np.diag(R))
        return Q if np.linalg.det(Q) > 0 else -Q

    def _pose(self) -> Array:
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = self._rotation(), self.rng.uniform(-0.4, 0.4, 3)
        return T

    def _frame(self, body: str, world: Array) -> str:
        """A frame on a body that is now at a pose in the world."""
        T = np.linalg.inv(self.places[body]) @ world
        name = f"tie{sum(map(len, self.frames.values()))}"
        matrix = tuple(tuple(map(float, row)) for row in T[:3, :3])
        self.frames[body][name] = {"place": {"pose": {"position": tuple(map(float, T[:3, 3])), "matrix": matrix}}}
        return name

    def _pair(self, rows: int) -> tuple[str, str]:
        """Two bodies with enough motions between them, if there are any."""
        pairs = [(a, b) for a in self.frames for b in self.frames if a != b]
        room = [self._motions(a, b) for a, b in pairs]
        enough = [pair for pair, n in zip(pairs, room, strict=True) if n >= min(rows + 1, max(room))]
        return enough[self.rng.integers(len(enough))]

    def _motions(self, a: str, b: str) -> int:
        """How many speeds the way from a to b passes."""
        ways = []
        for body in (a, b):
            way = set()
            while body in self.tree.bodies:
                way.add(body)
                body = self.tree.bodies[body].parent
            ways.append(way | {body})
        apart = ways[0] ^ ways[1]
        base = self.tree.base.joint_kind.nv if BASE in apart else 0
        return base + sum(self.tree.bodies[name].joint.algebra.nv for name in apart if name in self.tree.bodies)

    # -- loops
    def cut(self, kind: str) -> None:
        algebra, pitch = KINDS[kind], round(float(self.rng.uniform(0.1, 0.4)), 3)
        a, b = self._pair(6 - algebra.nv)
        q = self.rng.uniform(-1, 1, algebra.nq)
        if kind == "spherical":
            q /= np.linalg.norm(q)
        still = np.zeros(algebra.nv)
        motion = np.eye(4) if kind == "fixed" else joint_motion(kind, q, still, still, pitch).T
        at_b = self.places[b] @ self._pose()
        ends = self._frame(a, at_b @ np.linalg.inv(motion)), self._frame(b, at_b)
        loop = Loop(joint=kind, between=ends, pitch=pitch if kind == "screw" else None)
        self.loops[f"loop{len(self.loops)}"] = loop

    # -- constraints
    def _add(self, **form: Any) -> None:
        self.constraints[f"tie{len(self.constraints)}"] = form

    def _some(self, n: int) -> list[tuple[str, float]]:
        """Coordinates and their values; parts of a quaternion cannot be driven alone."""
        names = {x.name: k for k, x in enumerate(self.tree.q) if x.name[-2:] not in ("qw", "qx", "qy", "qz")}
        picked = self.rng.choice(list(names), min(n, len(names)), replace=False)
        return [(str(name), float(self.state.q[names[name]])) for name in picked]

    def _coupling(self) -> None:
        (x, x0), (y, y0), *_ = self._some(2) * 2
        if x != y:
            offset = x0 - 0.7 * math.sin(2 * y0)
            self._add(coupling={"coordinate": x, "equals": f"0.7*sin(2*{y}) + ({offset!r})"})

    def _prescribed(self) -> None:
        [(x, x0)] = self._some(1)
        offset = x0 - 0.3 * math.sin(2 * self.state.t)
        self._add(prescribed={"coordinate": x, "equals": f"0.3*sin(2*t) + ({offset!r})"})

    def _zero(self) -> None:
        (x, x0), (y, y0), *_ = self._some(2) * 2
        value = math.cos(x0) * y0 + 0.5 * x0 * x0 - 0.2 * math.cos(self.state.t)
        self._add(zero=f"cos({x})*{y} + 0.5*{x}^2 - 0.2*cos(t) - ({value!r})")

    def _speeds(self, equals: Any = 0.0) -> None:
        (x, _), names = self._some(1)[0], [v.name for v in self.tree.v]
        some = self.rng.choice(names, min(3, len(names)), replace=False)
        factors = {str(name): f"{self.rng.uniform(0.5, 1.5):.3f} + 0.4*sin({x} + {k})" for k, name in enumerate(some)}
        self._add(speeds={"coefficients": factors, "equals": equals})

    def _driven_speeds(self) -> None:
        self._speeds("0.3*cos(3*t)")

    def _no_side_slip(self) -> None:
        body = str(self.rng.choice(list(self.tree.bodies)))
        frame = self._frame(body, self.places[body] @ self._pose())
        length = self.rng.normal(size=3)
        self._add(no_side_slip={"frame": frame, "direction": tuple(map(float, length / np.linalg.norm(length)))})

    def _rolling(self, slides: bool = False) -> None:
        body = str(self.rng.choice(list(self.tree.bodies)))
        wheel, ground = self.places[body] @ self._pose(), np.eye(4)
        axle, radius = int(self.rng.integers(3)), 0.4
        while True:
            ground[:3, :3] = self._rotation()
            upright = math.sqrt(1 - float(ground[:3, 2] @ wheel[:3, axle]) ** 2)
            if upright > 0.5:
                break
        height = np.array([*self.rng.uniform(-1, 1, 2), radius * upright])
        ground[:3, 3] = wheel[:3, 3] - ground[:3, :3] @ height
        names = {"wheel": self._frame(body, wheel), "ground": self._frame(BASE, ground)}
        self._add(rolling={**names, "axle": "xyz"[axle], "radius": radius, "slides": slides})

    def _sliding(self) -> None:
        self._rolling(slides=True)
