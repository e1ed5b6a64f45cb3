"""Rings of bodies: one physical mechanism, described with any of its joints cut.

Joint k ties body k - 1 (at pose A_k in its frame) to body k (at pose C_k); body -1 and the last are the ground. Bodies
are five point masses each. A joint that the tree passes from the far side is the same joint with its ends exchanged:
the pose of a in b is the inverse of that of b in a, and so a motion of the same kind, for a Hooke joint after its two
axes have changed places.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from support.moving_poses import hat as hat_of
from support.moving_poses import joint_motion, skew
from support.random_mechanisms import inertia_tensor
from torseur.describe import Mechanism
from torseur.describe.loads import KINDS as LOADS
from torseur.spatial.joints import KINDS

__all__ = ["PITCH", "Description", "Ring", "random_pose"]

Array = NDArray[np.float64]

PITCH = 0.23
STIFFNESS, DAMPING = 20.0, 0.4
GRAVITY = np.array([1.0, -3.0, -8.0])
CROSSED = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]])
"""Half a turn that exchanges x and y."""


def random_pose(rng: np.random.Generator, size: float = 0.5) -> Array:
    T = np.eye(4)
    Q = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    T[:3, :3], T[:3, 3] = Q * np.linalg.det(Q), rng.uniform(-size, size, 3)
    return T


def _place(T: Array) -> dict[str, Any]:
    matrix = tuple(tuple(map(float, row)) for row in T[:3, :3])
    return {"pose": {"position": tuple(map(float, T[:3, 3])), "matrix": matrix}}


def _pose(kind: str, q: Array) -> Array:
    still = np.zeros(KINDS[kind].nv)
    return np.eye(4) if kind == "fixed" else joint_motion(kind, q, still, still, PITCH).T


def _twist(kind: str, q: Array, v: Array) -> Array:
    """(V, w) of b in b's axes."""
    if kind == "fixed":
        return np.zeros(6)
    m = joint_motion(kind, q, v, 0 * v, PITCH)
    hat = np.linalg.inv(m.T) @ m.d
    return np.array([*hat[:3, 3], hat[2, 1], hat[0, 2], hat[1, 0]])


def _exchanged(kind: str, q: Array, v: Array) -> tuple[Array, Array]:
    """Coordinates and speeds of a joint with its ends exchanged."""
    if kind == "universal":
        return -q[::-1], -v[::-1]
    if kind == "spherical":
        return q * [1, -1, -1, -1], -_pose(kind, q)[:3, :3] @ v
    if kind == "planar":
        T = _pose(kind, q)
        back, V, w = np.linalg.inv(T), T[:3, :3] @ [v[0], v[1], 0.0], np.array([0.0, 0.0, v[2]])
        moving = -(V + np.cross(T[:3, 3], w))
        return np.array([back[0, 3], back[1, 3], -q[2]]), np.array([moving[0], moving[1], -v[2]])
    return -q, -v


@dataclass(frozen=True)
class Description:
    """A ring with one joint cut: the mechanism, its state, and per joint in the tree the sense it is passed in."""

    mechanism: Mechanism
    q: Array
    v: Array
    backward: dict[int, bool]
    speeds: dict[int, slice]


class Ring:
    """A closed ring at a state that closes it.

    Args:
        kinds: of its joints; there is one body less.
        seed: of all numbers.
        flat: whether it is a planar linkage of revolute and prismatic joints, in some plane of space.
    """

    def __init__(self, kinds: tuple[str, ...], seed: int, *, flat: bool = False) -> None:
        self.kinds, self.rng = kinds, np.random.default_rng(seed)
        rng, n = self.rng, len(kinds) - 1
        self.q = [self._coordinates(kind) for kind in kinds]
        self.A, self.C = ([self._flat(k) if flat else random_pose(rng) for k in kinds] for _ in range(2))
        for k in range(n):  # the bodies' own frames stand anyhow
            own = random_pose(rng)
            self.C[k], self.A[k + 1] = own @ self.C[k], own @ self.A[k + 1]
        self.A[0] = random_pose(rng) @ self.A[0]
        self.masses = [(rng.uniform(0.2, 1.0, 5), rng.uniform(-0.4, 0.4, (5, 3))) for _ in range(n)]
        self.force, self.torque = rng.normal(size=3), rng.normal(size=3)
        self.place()

    def place(self) -> None:
        """The bodies, the far end of the last joint, and speeds, all so that the ring closes."""
        n, T = len(self.kinds) - 1, np.eye(4)
        self.bodies = []
        for k in range(n):  # T_k C_k = T_(k-1) A_k J_k
            T = T @ self.A[k] @ _pose(self.kinds[k], self.q[k]) @ np.linalg.inv(self.C[k])
            self.bodies.append(T)
        self.C[n] = T @ self.A[n] @ _pose(self.kinds[n], self.q[n])
        self.v = self._speeds()

    def _flat(self, kind: str) -> Array:
        """In one plane, axes across it; those of prismatic joints in it."""
        c, s = np.cos(x := self.rng.uniform(-3, 3)), np.sin(x)
        T = np.eye(4)
        T[:2, :2], T[:2, 3] = [[c, -s], [s, c]], self.rng.uniform(-0.5, 0.5, 2)
        if kind == "prismatic":
            T[:3, :3] = T[:3, :3] @ [[0, 0, 1], [0, 1, 0], [-1, 0, 0]]
        return T

    def _coordinates(self, kind: str) -> Array:
        q = self.rng.uniform(-1.2, 1.2, KINDS[kind].nq)
        return q / np.linalg.norm(q) if kind == "spherical" else q

    @property
    def columns(self) -> Array:
        """The world twists about the origin, (6, number of speeds), that each speed of a joint gives all beyond it."""
        found = []
        for k, kind in enumerate(self.kinds):
            end = self.bodies[k] @ self.C[k] if k < len(self.bodies) else self.C[k]
            for e in np.eye(KINDS[kind].nv):
                twist = _twist(kind, self.q[k], e)
                hat = end @ hat_of(twist[:3], twist[3:]) @ np.linalg.inv(end)
                found.append([*hat[:3, 3], hat[2, 1], hat[0, 2], hat[1, 0]])
        return np.array(found).T

    @property
    def rank(self) -> int:
        return int(np.linalg.matrix_rank(self.columns, tol=1e-9))

    def _speeds(self) -> list[Array]:
        """The twists round the ring add up to nothing."""
        J = self.columns
        free = self.rng.normal(size=J.shape[1])
        v = free - np.linalg.pinv(J, rcond=1e-9) @ (J @ free)
        places = np.cumsum([0, *(KINDS[kind].nv for kind in self.kinds)])
        return [v[a:b] for a, b in pairwise(places)]

    # -- descriptions
    def cut(self, c: int) -> Description:
        """Joints before c are passed from the ground on, those after it from the far side."""
        n = len(self.kinds) - 1
        steps = [(k, k, False) for k in range(c)] + [(k, k - 1, True) for k in range(n, c, -1)]
        bodies: dict[str, Any] = {}
        home = {-1: np.eye(4), n: np.eye(4)}  # the frame of the description, in the body's own
        q, v, speeds, backward, first = [], [], {}, {}, 0
        for k, body, back in steps:
            parent = k if back else k - 1
            before = self.C[k] if back else self.A[k]
            own = self.A[k] if back else self.C[k]
            swap = self._swap(k) if back else np.eye(4)
            name = "base" if parent in (-1, n) else f"b{parent}"
            home[body] = own @ swap
            bodies[f"b{body}"] = self._body(k, body, name, np.linalg.inv(home[parent]) @ before @ swap, home[body])
            x, s = (self.q[k], self.v[k]) if not back else _exchanged(self.kinds[k], self.q[k], self.v[k])
            q, v = [*q, *x], [*v, *s]
            speeds[k], backward[k], first = slice(first, first + len(s)), back, first + len(s)
        ends = self._ends(c, bodies, home)
        loop = {"joint": self.kinds[c], "between": ends, "pitch": PITCH if self.kinds[c] == "screw" else None}
        frames = bodies.pop("ground_frames", {})
        mechanism = Mechanism.model_validate(
            {
                "name": "ring",
                "gravity": tuple(map(float, GRAVITY)),
                "base": {"frames": frames},
                "bodies": bodies,
                "loops": {"cut": loop},
                "loads": self._loads(),
            }
        )
        return Description(mechanism, np.array(q), np.array(v), backward, speeds)

    def _swap(self, k: int) -> Array:
        T = np.eye(4)
        T[:3, :3] = CROSSED if self.kinds[k] == "universal" else T[:3, :3]
        return T

    def _body(self, k: int, body: int, parent: str, place: Array, home: Array) -> dict[str, Any]:
        masses, points = self.masses[body]
        inward = np.linalg.inv(home)
        r = points @ inward[:3, :3].T + inward[:3, 3]
        J, M, first = inertia_tensor(masses, r), masses.sum(), masses @ r
        names = ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "MX", "MY", "MZ", "M")
        ten = (J[0, 0], J[0, 1], J[0, 2], J[1, 1], J[1, 2], J[2, 2], *first, M)
        joint = {"kind": self.kinds[k]} | ({"pitch": PITCH} if self.kinds[k] == "screw" else {})
        return {
            "parent": parent,
            "place": _place(place),
            "joint": joint,
            "inertia": dict(zip(names, map(float, ten), strict=True)),
            "frames": {f"own{body}": {"place": _place(inward)}},
        }

    def _ends(self, c: int, bodies: dict[str, Any], home: dict[int, Array]) -> tuple[str, str]:
        n, names = len(self.kinds) - 1, []
        for side, body, pose in (("a", c - 1, self.A[c]), ("b", c, self.C[c])):
            frame = {f"cut_{side}": {"place": _place(np.linalg.inv(home[body]) @ pose)}}
            if body in (-1, n):
                bodies["ground_frames"] = bodies.get("ground_frames", {}) | frame
            else:
                bodies[f"b{body}"]["frames"] |= frame
            names.append(f"cut_{side}")
        return names[0], names[1]

    def _loads(self) -> dict[str, Any]:
        wrench = {"force": tuple(map(float, self.force)), "torque": tuple(map(float, self.torque)), "axes": "world"}
        ends = ("own0", f"own{len(self.bodies) - 1}")
        spring = {"between": ends, "stiffness": STIFFNESS, "rest": 0.1, "damping": DAMPING}
        return {"push": LOADS["wrench"](frame="own0", **wrench), "strut": LOADS["spring"](**spring)}

    # -- efforts
    def efforts(self, description: Description, tau: list[Array]) -> Array:
        """Generalised forces of the description that have the power of efforts tau at the joints of the ring."""
        found = np.zeros(len(description.v))
        for k, place in description.speeds.items():
            if not description.backward[k]:
                found[place] = tau[k]
            else:
                units = np.eye(KINDS[self.kinds[k]].nv)
                B = np.array([_exchanged(self.kinds[k], self.q[k], e)[1] for e in units]).T.reshape(len(units), -1)
                found[place] = np.linalg.solve(B.T, tau[k]) if len(units) else tau[k]
        return found

    def needed(self, body: int, acceleration: Array, velocity: Array) -> Array:
        """The wrench (force, moment about the world origin) that moves a body so, weight apart.

        Args:
            body: its number.
            acceleration: of its own frame, in its axes: of the origin, then angular.
            velocity: likewise.
        """
        T, (m, r) = self.bodies[body], self.masses[body]
        R, w, wd = T[:3, :3], skew(velocity[3:]), skew(acceleration[3:])
        a = acceleration[:3] + r @ (wd + w @ w).T
        force = m[:, None] * (a @ R.T - GRAVITY)
        places = r @ R.T + T[:3, 3]
        return np.concatenate([force.sum(0), np.cross(places, force).sum(0)])

    def loaded(self, velocities: list[Array]) -> list[Array]:
        """The wrench of push and strut on each body, as `needed` counts them; velocities are those of own frames."""
        found = [np.zeros(6) for _ in self.bodies]
        a, b = self.bodies[0], self.bodies[-1]
        found[0] += [*self.force, *(self.torque + np.cross(a[:3, 3], self.force))]
        span = b[:3, 3] - a[:3, 3]
        length = np.linalg.norm(span)
        closing = span / length @ (b[:3, :3] @ velocities[-1][:3] - a[:3, :3] @ velocities[0][:3])
        pull = (STIFFNESS * (length - 0.1) + DAMPING * closing) * span / length
        for k, place, sign in ((0, a, 1.0), (-1, b, -1.0)):
            found[k] += [*(sign * pull), *np.cross(place[:3, 3], sign * pull)]
        return found
