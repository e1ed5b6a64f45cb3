"""Side by side with other programs: the dynamics of the same mechanisms, in the same run, on one thread.

Pinocchio is called through its batched functions where it has them, so that no time of the Python interpreter is
counted against it; MuJoCo and Pinocchio's derivatives are called in a Python loop, and an empty call is taken off.
Only what is installed is compared. Every result of ours is compared with the peer's before anything is timed.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import resources
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from torseur.bench.timing import Report, Rows, Section, best, own_cache, seconds
from torseur.describe import Mechanism
from torseur.describe import loads as kinds
from torseur.describe.fields import FrozenDict
from torseur.emit.jit import host
from torseur.formats import load
from torseur.model import Model, build

__all__ = ["Effort", "agree", "beside_pinocchio", "machine", "measure"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Effort:
    """How much is measured: the mechanisms, how many random states, seconds for each figure."""

    mechanisms: tuple[str, ...] = ("ur5", "panda7", "chain12", "tree24", "tree24 floating", "chain48")
    states: int = 100_000
    budget: float = 0.5


@dataclass(frozen=True)
class _Case:
    """One mechanism for all programs. Our joints may come in another order than the peer's: `order` maps."""

    name: str
    path: str
    mechanism: Mechanism
    model: Model
    floating: bool


def measure(progress: Callable[[str], object] = lambda line: None, effort: Effort | None = None) -> Report:
    """Measure everything; `progress` is told what is being done. Takes a few minutes by default."""
    effort = effort or Effort()
    sections = [Section("machine", tuple(machine()))]
    for name in effort.mechanisms:
        progress(f"measuring {name}")
        with resources.as_file(resources.files("torseur.bench") / "models" / f"{name.split()[0]}.urdf") as path:
            case = _case(name, str(path))
            sections.append(Section(f"{name}: {case.model.nv} speeds", tuple(_compare(case, effort))))
    return Report(tuple(sections))


def machine() -> Rows:
    """The processor, and the versions of everything that is compared."""
    yield "processor", f"{host().cpu}, {host().lanes.width} lanes, {os.cpu_count()} processors, one thread used"
    peers = []
    for package in ("numpy", "llvmlite", "pin", "mujoco", "scipy", "scikit-sundae", "casadi"):
        try:
            peers.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            peers.append(f"{package} not installed")
    yield "versions", f"Python {platform.python_version()}, " + ", ".join(peers)


def _case(name: str, path: str) -> _Case:
    floating = name.endswith("floating")
    loaded = load(path, base="floating" if floating else None)
    # Efforts are arguments of the peers' functions, not part of their models.
    passive = {key: load for key, load in loaded.loads.items() if not isinstance(load, kinds.Effort)}
    update = {"loads": FrozenDict(passive), "inputs": FrozenDict(), "name": name.replace(" ", "_")}
    mechanism = loaded.model_copy(update=update)
    return _Case(name, path, mechanism, build(mechanism), floating)


@dataclass(frozen=True)
class _States:
    """Random states in our order and in Pinocchio's."""

    ours: tuple[Array, Array, Array]
    theirs: tuple[Array, Array, Array]
    order: list[int]


def _states(case: _Case, names: list[str], count: int) -> _States:
    """`names`: the peer's joints in its order; a quaternion has its scalar part first with us and last with it."""
    rng, base = np.random.default_rng(0), 6 if case.floating else 0
    own = [x.name for x in case.model.coordinates[base + (1 if base else 0) :]]
    order = [own.index(n) for n in names]
    q, v, a = (rng.standard_normal((count, case.model.nv)) for _ in range(3))
    joints, theirs_q = q[:, base:], [q[:, base:][:, order]]
    ours_q = [joints]
    if case.floating:
        turn = rng.standard_normal((count, 4))
        turn /= np.linalg.norm(turn, axis=1, keepdims=True)
        ours_q = [q[:, :3], turn, joints]
        theirs_q = [q[:, :3], np.roll(turn, -1, axis=1), joints[:, order]]
    full = [*range(base), *(base + k for k in order)]
    return _States((np.hstack(ours_q), v, a), (np.hstack(theirs_q), v[:, full], a[:, full]), full)


def _compare(case: _Case, effort: Effort) -> Rows:
    yield from _first_use(case)
    if find_spec("pinocchio") is not None:
        yield from _pinocchio(case, effort)
    else:
        names = [x.name for x in case.model.coordinates[7 if case.floating else 0 :]]
        args = _states(case, names, effort.states).ours
        for title, quantity in _QUANTITIES.items():
            scalar, lanes = _own(case, quantity, args, effort)
            yield title, f"{scalar * 1e9:7.0f} ns, in lanes {lanes * 1e9:7.1f} ns"
    if find_spec("mujoco") is not None and not case.floating:
        yield from _mujoco(case, effort)


_QUANTITIES = {
    "inverse dynamics": "inverse_dynamics",
    "forward dynamics": "forward_dynamics",
    "derivatives of inverse dynamics": "inverse_dynamics_derivatives",
}


def _first_use(case: _Case) -> Rows:
    """From a description to a first result, with nothing on disk and then from disk."""
    q, v = np.array([x.start for x in case.model.coordinates], dtype=float), np.zeros(case.model.nv)
    with own_cache():
        for title in ("inverse dynamics", "forward dynamics"):
            quantity = _QUANTITIES[title]
            cold, warm = (seconds(partial(_first_result, case.mechanism, quantity, q, v)) for _ in range(2))
            yield f"first {title}", f"{cold:.2f} s; {warm * 1e3:.0f} ms when it is on disk"
    call = case.model.inverse_dynamics
    call(q, v, v)
    call = case.model.inverse_dynamics
    yield "one call from Python", f"{best(lambda: call(q, v, v), 0.2) * 1e6:.2f} us"


def _first_result(mechanism: Mechanism, quantity: str, q: Array, v: Array) -> None:
    build(mechanism).function(quantity)(q, v, v)


def _own(case: _Case, quantity: str, args: tuple[Array, ...], effort: Effort) -> tuple[float, float]:
    """Seconds a state without and with lanes."""
    count = len(args[0])
    scalar = build(case.mechanism).function(quantity).native_of(lanes=1)
    vector = build(case.mechanism).function(quantity).native_of(lanes=None)
    times = []
    for function in (scalar, vector):
        out = function(*args)
        targets = out if isinstance(out, tuple) else (out,)
        times.append(best(lambda f=function, o=targets: f(*args, out=tuple(o)), effort.budget) / count)  # type: ignore[misc]
    return times[0], times[1]


def _line(peer: str, theirs: float, scalar: float, lanes: float) -> str:
    ratios = f"{theirs / scalar:.1f} times, in lanes {theirs / lanes:.1f} times"
    return f"{scalar * 1e9:7.0f} ns, in lanes {lanes * 1e9:7.1f} ns; {peer} {theirs * 1e9:.0f} ns: {ratios} faster"


def beside_pinocchio(mine: float, theirs: float) -> str:
    """Nanoseconds of Pinocchio, and how many times ours that is; nothing where there is no number.

    >>> beside_pinocchio(20.0, 50.0)
    '; Pinocchio     50 ns: 2.5 times faster'
    """
    return "" if theirs != theirs else f"; Pinocchio {theirs:6.0f} ns: {theirs / mine:.1f} times faster"


def agree(what: str, ours: Array, theirs: Array) -> None:
    scale = 1.0 + float(np.abs(theirs).max())
    error = float(np.abs(ours - theirs).max()) / scale
    if not error < 1e-8:
        raise ArithmeticError(f"{what} differs from the peer's by {error:.1e}: nothing to compare")


def _pinocchio(case: _Case, effort: Effort) -> Rows:
    import pinocchio as pin

    root = pin.JointModelFreeFlyer() if case.floating else None
    model = pin.buildModelFromUrdf(case.path, root) if root else pin.buildModelFromUrdf(case.path)
    data, pool = model.createData(), pin.ModelPool(model, 1)
    names = list(model.names)[2 if case.floating else 1 :]
    few = _states(case, names, 10)
    many = _states(case, names, effort.states)
    columns = [np.asfortranarray(x.T) for x in many.theirs]
    out = np.empty((model.nv, effort.states), order="F")
    calls: dict[str, tuple[Callable[[Any, Any, Any], Any], Callable[[], object]]] = {
        "inverse dynamics": (
            lambda q, v, a: pin.rnea(model, data, q, v, a),
            lambda: pin.rneaInParallel(1, pool, *columns, out),
        ),
        "forward dynamics": (
            lambda q, v, a: pin.aba(model, data, q, v, a),
            lambda: pin.abaInParallel(1, pool, *columns, out),
        ),
    }
    for title, (single, batch) in calls.items():
        reference = np.array([single(*row) for row in zip(*few.theirs, strict=True)])
        agree(title, case.model.function(_QUANTITIES[title])(*few.ours)[:, few.order], reference)
        theirs = best(batch, effort.budget) / effort.states
        yield title, _line("Pinocchio", theirs, *_own(case, _QUANTITIES[title], many.ours, effort))
    rows = min(2000, effort.states)
    part = [x[:rows] for x in many.theirs]
    states = list(zip(*part, strict=True))

    def derivatives() -> None:
        for q, v, a in states:
            pin.computeRNEADerivatives(model, data, q, v, a)

    theirs = best(derivatives, effort.budget) / rows - _empty_call(pin.neutral, model)
    ours = _own(case, "inverse_dynamics_derivatives", tuple(x[:rows] for x in many.ours), effort)
    yield "derivatives of inverse dynamics", _line("Pinocchio", theirs, *ours)


def _empty_call(function: Callable[[Any], object], argument: Any) -> float:
    """What crossing from Python costs a peer, about: the quickest of its own functions."""
    return best(lambda: function(argument), 0.05)


def _mujoco(case: _Case, effort: Effort) -> Rows:
    import mujoco

    model = mujoco.MjModel.from_xml_path(case.path)
    data = mujoco.MjData(model)
    names = [mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, k) for k in range(model.njnt)]
    rows = min(2000, effort.states)
    few, many = _states(case, names, 10), _states(case, names, rows)
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    result = np.empty(model.nv)

    def forward(q: Array, v: Array, tau: Array) -> Array:
        data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q, v, tau
        mujoco.mj_forward(model, data)
        return np.array(data.qacc)

    reference = np.array([forward(*row) for row in zip(*few.theirs, strict=True)])
    agree("forward dynamics", case.model.forward_dynamics(*few.ours)[:, few.order], reference)
    empty = best(lambda: mujoco.mj_mulM(model, data, result, data.qvel), 0.05)
    theirs = best(lambda: mujoco.mj_forward(model, data), effort.budget) - min(empty, 0.3e-6)
    ours = _own(case, "forward_dynamics", many.ours, effort)
    yield "forward dynamics, MuJoCo", _line("mj_forward", theirs, *ours)
