"""Random mechanisms, as plans first.

A `Plan` says what there is: the base, the bodies with their joints and parents, the ways their places and inertias are
written, the loads. Numbers follow from its seed. `mechanism_of` writes the description, `plans` is the strategy that
shrinks towards few plain bodies, `random_plan` draws a plan from a generator of NumPy's.

Inertias come from point masses, so they are those of real bodies. Half of all angles are multiples of pi/2 and half of
all lengths zero: real machines are so, and it is there that expressions fold.

>>> plan = Plan("fixed", (BodyPlan("revolute", -1), BodyPlan("prismatic", 0)))
>>> [x.name for x in mechanism_of(plan).q]
['q_b0', 'q_b1']
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from support.plain import Plain
from torseur.describe import Mechanism
from torseur.describe.loads import KINDS as LOADS
from torseur.spatial.joints import KINDS

__all__ = [
    "BASES",
    "LOAD_FORMS",
    "MOVING",
    "BodyPlan",
    "Plan",
    "State",
    "inertia_tensor",
    "mechanism_of",
    "plans",
    "random_plan",
    "state_of",
    "without_dry_friction",
]

Array = NDArray[np.float64]

BASES = ("fixed", "planar", "floating", "floating_rpy", "carrier")
MOVING = tuple(name for name, kind in KINDS.items() if kind.nv)
PLACES = ("none", "mdh", "dh", "rpy", "quaternion", "matrix", "steps")
INERTIAS = ("standard", "central")
LOAD_FORMS = (
    "spring",
    "friction",
    "strut",
    "combination",
    "effort",
    "pull",
    "motor",
    "far_motor",
    "transmission",
    "wrench",
    "world_wrench",
    "drag",
)
_ROTORS = {"motor", "far_motor", "transmission"}
_DRIVEN = ("revolute", "prismatic", "screw", "cylindrical", "universal")


@dataclass(frozen=True)
class BodyPlan:
    """One body; parent -1 is the base, -2 the world, others are earlier bodies of the plan."""

    kind: str
    parent: int
    place: str = "mdh"
    inertia: str = "standard"
    has_frame: bool = False


@dataclass(frozen=True)
class Plan:
    base: str
    bodies: tuple[BodyPlan, ...]
    loads: tuple[str, ...] = ()
    symbols: bool = False
    """Whether numbers are parameters and formulas of them."""
    shuffled: bool = False
    """Whether the file lists bodies in any order."""
    seed: int = 0

    def __str__(self) -> str:
        kinds = ", ".join(f"{b.kind}<{b.parent}" for b in self.bodies)
        return f"{self.base}: {kinds}; {', '.join(self.loads)}; seed {self.seed}"


@dataclass(frozen=True)
class State:
    """A state and a motion of a mechanism, and what drives it."""

    q: Array
    v: Array
    vdot: Array
    t: float
    u: Array


# -- plans -------------------------------------------------------------------------------------------------------------
def random_plan(
    rng: np.random.Generator,
    n: int,
    *,
    base: str | None = None,
    kinds: tuple[str, ...] = tuple(KINDS),
    loads: int = 0,
    serial: float = 0.6,
    symbols: bool = False,
    shuffled: bool = False,
) -> Plan:
    """A plan of n bodies; `serial` is how often a body hangs on the one before it."""
    bodies = []
    for k in range(n):
        parent = k - 1 if k and rng.random() < serial else int(rng.integers(-1, k)) if k else -1
        pick = [str(rng.choice(x)) for x in (kinds, PLACES, INERTIAS)]
        bodies.append(BodyPlan(pick[0], parent, pick[1], pick[2], bool(rng.random() < 0.3)))
    chosen = str(rng.choice(BASES)) if base is None else base
    forms = tuple(str(x) for x in rng.choice(LOAD_FORMS, loads)) if loads else ()
    return Plan(chosen, tuple(bodies), forms, symbols, shuffled, int(rng.integers(2**31)))


@st.composite
def plans(
    draw: Any,
    *,
    max_bodies: int = 5,
    min_bodies: int = 1,
    bases: tuple[str, ...] = BASES,
    kinds: tuple[str, ...] = tuple(KINDS),
    loads: tuple[str, ...] = (),
    max_loads: int = 3,
    symbols: bool | None = None,
) -> Plan:
    """Plans of small mechanisms."""
    bodies = []
    for k in range(draw(st.integers(min_bodies, max_bodies))):
        bodies.append(
            BodyPlan(
                draw(st.sampled_from(kinds)),
                draw(st.integers(-2 if draw(st.integers(0, 9)) == 9 else -1, k - 1)),
                draw(st.sampled_from(PLACES)),
                draw(st.sampled_from(INERTIAS)),
                draw(st.booleans()),
            )
        )
    forms = tuple(draw(st.lists(st.sampled_from(loads), max_size=max_loads))) if loads else ()
    named = draw(st.booleans()) if symbols is None else symbols
    base = draw(st.sampled_from(bases))
    plan = Plan(base, tuple(bodies), forms, named, draw(st.booleans()), draw(st.integers(0, 2**31)))
    if not any(KINDS[b.kind].nv for b in bodies) and base == "fixed":
        plan = replace(plan, bodies=(replace(bodies[0], kind="revolute"), *bodies[1:]))
    return plan


# -- from a plan to a description --------------------------------------------------------------------------------------
def mechanism_of(plan: Plan) -> Mechanism:
    """The description a plan stands for."""
    return _Writer(plan).mechanism()


class _Writer:
    def __init__(self, plan: Plan) -> None:
        self.plan, self.rng = plan, np.random.default_rng(plan.seed)
        self.parameters: dict[str, Any] = {}
        self.inputs: dict[str, Any] = {}
        self.frames = ["base"]

    def mechanism(self) -> Mechanism:
        plan = self.plan
        bodies = {f"b{k}": self._body(k, body) for k, body in enumerate(plan.bodies)}
        base: dict[str, Any] = {
            "kind": plan.base.removesuffix("_rpy"),
            "place": self._place(str(self.rng.choice(PLACES))),
        }
        if plan.base == "floating_rpy":
            base["orientation"] = "rpy"
        if plan.base not in ("fixed", "moving"):
            base["inertia"] = self._inertia("standard")
        self.frames += list(bodies)
        if plan.shuffled:
            order = list(bodies)
            self.rng.shuffle(order)
            bodies = {name: bodies[name] for name in order}
        gravity = tuple(self._scalar(x) for x in self.rng.uniform(-10, 10, 3))
        bare = Mechanism.model_validate({"name": "sample", "base": base, "bodies": bodies, "gravity": gravity})
        loads = {f"load{k}": load for k, form in enumerate(plan.loads) if (load := self._load(form, bare)) is not None}
        content = {"base": bare.base, "bodies": bare.bodies, "gravity": bare.gravity, "loads": loads}
        content |= {"parameters": self.parameters, "inputs": self.inputs}
        return Mechanism.model_validate({"name": "sample", **content})

    # -- numbers
    def _scalar(self, value: float) -> Any:
        """A number, or something that has its value."""
        value = round(float(value), 6)
        way = self.rng.random()
        if not self.plan.symbols or way < 0.3:
            return value
        name = f"k{len(self.parameters)}"
        if way < 0.6:
            self.parameters[name] = {"value": value}
            return name
        if way < 0.8:
            self.parameters[name] = {"value": 0.5 * value}
            return f"2*{name}"
        shift = round(self.rng.uniform(0.5, 1.5), 3)
        self.parameters[name] = {"value": shift}
        self.parameters[f"{name}d"] = {"value": f"{name}^2 + ({value - shift**2!r})"}
        return f"{name}d"

    def _angle(self) -> Any:
        if self.rng.random() < 0.5:
            return [0.0, "pi/2", "-pi/2", math.pi / 2, "pi"][self.rng.integers(5)]
        return self._scalar(self.rng.uniform(-3, 3))

    def _length(self) -> Any:
        return 0.0 if self.rng.random() < 0.5 else self._scalar(self.rng.uniform(-0.6, 0.6))

    def _rotation(self) -> Array:
        q = self.rng.normal(size=4)
        return q / np.linalg.norm(q)

    # -- bodies
    def _body(self, k: int, plan: BodyPlan) -> dict[str, Any]:
        parent = {-1: "base", -2: "world"}.get(plan.parent, f"b{plan.parent}")
        joint: dict[str, Any] = {"kind": plan.kind}
        if plan.kind == "screw":
            joint["pitch"] = self._scalar(self.rng.uniform(0.05, 0.3))
        body: dict[str, Any] = {"parent": parent, "place": self._place(plan.place), "joint": joint}
        body["inertia"] = self._inertia(plan.inertia)
        if plan.has_frame:
            body["frames"] = {f"f{k}": {"place": self._place(str(self.rng.choice(PLACES)))}}
            self.frames.append(f"f{k}")
        return body

    def _place(self, form: str) -> dict[str, Any]:
        angle, length = self._angle, self._length
        if form == "none":
            return {}
        if form == "mdh":
            row = {"gamma": angle(), "b": length(), "alpha": angle(), "d": length(), "theta": angle(), "r": length()}
            return {"mdh": row}
        if form == "dh":
            return {"dh": {"theta": angle(), "d": length(), "a": length(), "alpha": angle()}}
        position = (length(), length(), length())
        if form == "rpy":
            return {"pose": {"position": position, "rpy": (angle(), angle(), angle())}}
        if form == "quaternion":
            return {"pose": {"position": position, "quaternion": tuple(map(float, self._rotation()))}}
        if form == "matrix":
            w, x, y, z = self._rotation()
            K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
            R = np.eye(3) + 2 * w * K + 2 * K @ K
            return {"pose": {"position": position, "matrix": tuple(tuple(map(float, row)) for row in R)}}
        axis = tuple(map(float, self.rng.normal(size=3)))
        steps = [{"rx": angle()}, {"ty": length()}, {"rn": {"axis": axis, "angle": angle()}}, {"tz": length()}]
        steps += [{"ry": angle()}, {"rz": angle()}, {"tx": length()}]
        return {"steps": tuple(steps[k] for k in self.rng.permutation(7)[: self.rng.integers(1, 8)])}

    def _inertia(self, form: str) -> dict[str, Any]:
        """Of five point masses."""
        m, centre = self.rng.uniform(0.2, 1.0, 5), self.rng.uniform(-0.3, 0.3, 3)
        r = centre + self.rng.uniform(-0.25, 0.25, (5, 3))
        M, c = m.sum(), m @ r / m.sum()
        if form == "standard":
            J = inertia_tensor(m, r)
            names = {"XX": J[0, 0], "XY": J[0, 1], "XZ": J[0, 2], "YY": J[1, 1], "YZ": J[1, 2], "ZZ": J[2, 2]}
            first = dict(zip(("MX", "MY", "MZ"), M * c, strict=True))
            return {name: self._scalar(x) for name, x in {**names, **first, "M": M}.items()}
        rpy = tuple(self._angle() for _ in range(3))
        J = inertia_tensor(m, r - c)
        tensor = {"xx": J[0, 0], "xy": J[0, 1], "xz": J[0, 2], "yy": J[1, 1], "yz": J[1, 2], "zz": J[2, 2]}
        return {
            "mass": self._scalar(M),
            "centre": tuple(self._scalar(x) for x in c),
            "tensor": {name: self._scalar(x) for name, x in tensor.items()},
            "rpy": rpy,
        }

    # -- loads
    def _load(self, form: str, bare: Mechanism) -> Any:
        some, number = self.rng.choice, self._scalar
        coordinates = [x.name for x in bare.q]
        speeds = {x.name for x in bare.v}
        driven = [x for x in coordinates if f"d{x}" in speeds]
        low, high = 0.5, 3.0
        if form in ("spring", "friction", "strut", "combination", "effort", "pull"):
            path = self._path(form, coordinates, bare)
            if path is None:
                return None
            if form in ("effort", "pull"):
                return LOADS["effort"](**path, value=self._signal(coordinates, sorted(speeds)))
            laws = {"stiffness": number(self.rng.uniform(low, high)), "rest": number(self.rng.uniform(-0.3, 0.3))}
            laws["damping"] = number(self.rng.uniform(low, high))
            if form == "friction":
                laws = {"friction": number(self.rng.uniform(low, high)), "damping": laws["damping"]}
            return LOADS["spring"](**path, **laws)
        if form in _ROTORS:
            return self._drive(form, bare, driven)
        frame = str(some([name for name in self.frames if name != "base" or bare.has_moving_base] or ["base"]))
        if form == "drag":
            wind = tuple(number(x) for x in self.rng.uniform(-1, 1, 3))
            return LOADS["drag"](frame=frame, coefficient=number(0.4), area=number(0.7), wind=wind)
        triples = [tuple(self._signal(coordinates, sorted(speeds)) for _ in range(3)) for _ in range(2)]
        axes = "world" if form == "world_wrench" else "frame"
        return LOADS["wrench"](frame=frame, force=triples[0], torque=triples[1], axes=axes)

    def _path(self, form: str, coordinates: list[str], bare: Mechanism) -> dict[str, Any] | None:
        if form in ("strut", "pull"):
            return self._strut(bare)
        if form == "combination":
            chosen = self.rng.choice(coordinates, min(2, len(coordinates)), replace=False)
            return {"combination": {str(x): self._scalar(self.rng.uniform(-2, 2)) for x in chosen}}
        return {"coordinate": str(self.rng.choice(coordinates))}

    def _strut(self, bare: Mechanism) -> dict[str, Any] | None:
        """Between two frames that do not always coincide."""
        parameters = Mechanism.model_validate({"name": "numbers", "parameters": self.parameters}).parameters
        named = bare.model_copy(update={"parameters": parameters})
        rest = state_of(bare, self.plan.seed % 100)
        places = {k: T.T[:3, 3] for k, T in Plain(named).motion(rest.q, 0 * rest.v, 0 * rest.v).items()}
        for _ in range(20):
            a, b = (str(x) for x in self.rng.choice([*self.frames, "world"], 2, replace=False))
            if np.linalg.norm(places[a] - places[b]) > 0.01:
                return {"between": (a, b)}
        return None

    def _signal(self, coordinates: list[str], speeds: list[str]) -> str:
        name = f"in{len(self.inputs)}"
        self.inputs[name] = {"default": round(self.rng.uniform(-1, 1), 3)}
        x, v = (str(self.rng.choice(names)) for names in (coordinates, speeds))
        return f"({self._scalar(self.rng.uniform(-3, 3))})*{name} + sin(2*t + {x}) - 0.3*{v}*cos({x})"

    def _drive(self, form: str, bare: Mechanism, driven: list[str]) -> Any:
        if not driven:
            return None
        coordinate, number = str(self.rng.choice(driven)), self._scalar
        if form == "transmission":
            return LOADS["transmission"](coordinate=coordinate, inertia=number(self.rng.uniform(0.1, 0.5)))
        carrier = str(self.rng.choice([*bare.bodies, "base", "world"])) if form == "far_motor" else None
        name = f"in{len(self.inputs)}"
        self.inputs[name] = {"default": 0.7}
        return LOADS["motor"](
            coordinate=coordinate,
            carrier=carrier,
            axis=tuple(number(x) for x in self.rng.uniform(0.2, 1.0, 3)),
            ratio=number(self.rng.uniform(-5, 5)),
            inertia=number(self.rng.uniform(0.01, 0.05)),
            torque=f"{number(1.5)}*{name}*cos(t)",
            motor_damping=number(0.02),
            motor_friction=number(0.05),
            joint_damping=number(0.4),
            joint_friction=number(0.3),
        )


def inertia_tensor(m: Array, r: Array) -> Array:
    return np.einsum("k,k,ij->ij", m, (r * r).sum(1), np.eye(3)) - np.einsum("k,ki,kj->ij", m, r, r)


def without_dry_friction(mechanism: Mechanism) -> Mechanism:
    """The same without forces that jump where a rate changes its sign: there a difference is no derivative."""
    dry = ("friction", "motor_friction", "joint_friction")
    loads = {
        name: load.model_copy(update={field: 0.0 for field in dry if field in type(load).model_fields})
        for name, load in mechanism.loads.items()
    }
    return mechanism.model_copy(update={"loads": loads})


# -- states ------------------------------------------------------------------------------------------------------------
def state_of(mechanism: Mechanism, seed: int = 0, *, size: float = 1.0) -> State:
    """A random state: unit quaternions, pitches away from their singularity."""
    rng = np.random.default_rng(seed)
    q = rng.uniform(-1.2, 1.2, len(mechanism.q))
    for k, x in enumerate(mechanism.q):
        if x.name.endswith("qw"):
            four = rng.normal(size=4)
            q[k : k + 4] = four / np.linalg.norm(four)
    v, vdot = (size * rng.uniform(-1.5, 1.5, len(mechanism.v)) for _ in range(2))
    return State(q, v, vdot, float(rng.uniform(0, 2)), rng.uniform(-1, 1, len(mechanism.inputs)))
