"""Where programs are slow that are quick over a million states: single calls, few states, large models, a first use.

Pinocchio is called for one state after the other from a Python loop, as a user would; the empty loop is not taken off,
with us neither. Large models, chains and trees of links, meet its functions for batches where it has them. Only what is
installed is compared.
"""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from torseur.bench.first_use import first_uses
from torseur.bench.peers import agree, beside_pinocchio, machine
from torseur.bench.timing import Report, Rows, Section, best_of_each, own_cache
from torseur.bench.workloads import chain_arm
from torseur.describe import Mechanism
from torseur.dynamics.quantities import function_of
from torseur.emit import compile
from torseur.formats import load, save
from torseur.graph import count
from torseur.model import Model, build

__all__ = ["Effort", "measure"]

Array = NDArray[np.float64]
GROUP = 2e-4
"""About the length of a group of calls, s: short ones find the quiet moments of a busy machine."""


@dataclass(frozen=True)
class Effort:
    """How much is measured: the sizes of batches and chains, seconds for each figure."""

    batches: tuple[int, ...] = (1, 4, 8, 16, 32, 128, 512)
    chains: tuple[int, ...] = (6, 12, 24, 48, 96, 192)
    derivatives: tuple[int, ...] = (6, 12, 24, 48)
    trees: tuple[int, ...] = (100,)
    rows: int = 64
    budget: float = 0.2
    first_use: bool = True


def measure(progress: Callable[[str], object] = lambda line: None, effort: Effort | None = None) -> Report:
    """Measure everything; `progress` is told what is being done. Takes a minute or two by default."""
    effort = effort or Effort()
    model = _arm()
    plan: list[tuple[str, Callable[[], Rows]]] = [
        ("machine", machine),
        (f"one call from Python: an arm of {model.nv} joints", partial(_single_calls, model, effort)),
        ("few states in one call, results in new arrays", partial(_few_states, model, effort)),
        (
            f"large models: {effort.rows} states at once, parameters are numbers",
            partial(large_models, effort.chains, effort.derivatives, effort.trees, effort.rows, effort.budget),
        ),
    ]
    if effort.first_use:
        plan.append(("first use: studies of two joints, with the start of Python", first_uses))
    sections = []
    for title, rows in plan:
        progress(f"measuring {title.partition(':')[0]}")
        sections.append(Section(title, tuple(rows())))
    return Report(tuple(sections))


def _path() -> Path:
    return Path(str(resources.files("torseur.bench") / "models" / "ur5.urdf"))


def _arm() -> Model:
    return build(load(_path()))


# -- single calls ------------------------------------------------------------------------------------------------------
_Calls = dict[str, Callable[[], Any]]
_COMPARED = ("inverse_dynamics", "forward_dynamics", "jacobian")
"""What a peer gives in the same form."""


def _own(model: Model) -> dict[str, tuple[Callable[..., Any], int]]:
    """Our functions, and how many of q, v and a third they take."""
    frame = list(model.mechanism.bodies)[-1]
    return {
        "inverse_dynamics": (model.inverse_dynamics, 3),
        "forward_dynamics": (model.forward_dynamics, 3),
        "mass_matrix": (model.mass_matrix, 1),
        "pose": (lambda q: model.pose(q, frame), 1),
        "jacobian": (lambda q: model.jacobian(q, frame), 1),
        "velocity": (lambda q, v: model.velocity(q, v, frame), 2),
        "kinetic_energy": (model.kinetic_energy, 2),
        "potential_energy": (model.potential_energy, 1),
        "momentum": (model.momentum, 2),
        "centre_of_mass": (model.centre_of_mass, 1),
        "inverse_dynamics_derivatives": (model.inverse_dynamics_derivatives, 3),
        "forward_dynamics_derivatives": (model.forward_dynamics_derivatives, 3),
    }


def _single_calls(model: Model, effort: Effort) -> Rows:
    args = np.random.default_rng(0).standard_normal((3, model.nv))
    theirs = _pinocchio_calls(args, list(model.mechanism.bodies)[-1])
    for name, (function, takes) in _own(model).items():
        function(*args[:takes])
        work = partial(_own(model)[name][0], *args[:takes])  # a model hands out the quick form after the first call
        if name in theirs and name in _COMPARED:
            agree(name, np.asarray(work()), np.asarray(theirs[name]()))
        mine, peer = _in_turns(work, theirs.get(name), effort)
        yield name, f"{mine:5.0f} ns{beside_pinocchio(mine, peer)}"


def _in_turns(work: Callable[[], object], peer: Callable[[], object] | None, effort: Effort) -> tuple[float, ...]:
    """Nanoseconds of a call of ours and of the peer's; nan where there is none."""
    times = best_of_each([work] if peer is None else [work, peer], effort.budget, group=GROUP)
    return 1e9 * times[0], (float("nan") if peer is None else 1e9 * times[1])


def _pinocchio_calls(args: Array, frame: str) -> _Calls:
    """One state in a call: what a loop over a few states costs; none where it is not installed."""
    q, v, a = args
    if find_spec("pinocchio") is None:
        return {}
    import pinocchio as pin

    model = pin.buildModelFromUrdf(str(_path()))
    data, place = model.createData(), model.getFrameId(frame)
    return {
        "inverse_dynamics": lambda: pin.rnea(model, data, q, v, a),
        "forward_dynamics": lambda: pin.aba(model, data, q, v, a),
        "mass_matrix": lambda: pin.crba(model, data, q),
        "pose": lambda: pin.framesForwardKinematics(model, data, q),
        "jacobian": lambda: pin.computeFrameJacobian(model, data, q, place),
        "kinetic_energy": lambda: pin.computeKineticEnergy(model, data, q, v),
        "potential_energy": lambda: pin.computePotentialEnergy(model, data, q),
        "momentum": lambda: pin.computeCentroidalMomentum(model, data, q, v),
        "centre_of_mass": lambda: pin.centerOfMass(model, data, q),
        "inverse_dynamics_derivatives": lambda: pin.computeRNEADerivatives(model, data, q, v, a),
        "forward_dynamics_derivatives": lambda: pin.computeABADerivatives(model, data, q, v, a),
    }


# -- few states --------------------------------------------------------------------------------------------------------
def _few_states(model: Model, effort: Effort) -> Rows:
    rng = np.random.default_rng(0)
    theirs = _pinocchio_calls(rng.standard_normal((3, model.nv)), list(model.mechanism.bodies)[-1])
    for name, (function, takes) in _own(model).items():
        for states in effort.batches:
            args = rng.standard_normal((takes, states, model.nv))
            function(*args[:, 0])
            function(*args)
            mine, peer = _in_turns(partial(_own(model)[name][0], *args), theirs.get(name), effort)
            yield f"{name}, {states} states", f"{mine / states:6.1f} ns a state{beside_pinocchio(mine / states, peer)}"


# -- large models -----------------------------------------------------------------------------------------------------
_DERIVATIVES = {
    "inverse_dynamics_derivatives": "computeRNEADerivatives",
    "forward_dynamics_derivatives": "computeABADerivatives",
}
"""Ours -> Pinocchio's, for one state."""


def large_models(
    chains: Sequence[int], derivatives: Sequence[int], trees: Sequence[int], rows: int, budget: float
) -> Rows:
    """Times of a state in lanes, into arrays that are there.

    Args:
        chains: how many joints, for both dynamics.
        derivatives: the same for the derivatives of both, whose size grows with the square.
        trees: the same as `chains`, of links that carry two others.
        rows: states in a call.
        budget: for each figure, s.
    """
    for name in ("inverse_dynamics", "forward_dynamics"):
        for joints in chains:
            yield f"{name}, {joints} joints", _one(name, chain_arm(joints), rows, budget)
        for joints in trees:
            yield f"{name}, tree of {joints}", _one(name, chain_arm(joints, branches=2), rows, budget)
    for name in _DERIVATIVES:
        for joints in derivatives:
            yield f"{name}, {joints} joints", _one(name, chain_arm(joints), rows, budget)


def _one(name: str, arm: Mechanism, rows: int, budget: float) -> str:
    joints = len(arm.q)
    args = np.random.default_rng(0).uniform(0.1, 1.0, (3, rows, joints))
    with own_cache():
        function = function_of(arm, name)
        native = compile(function)
        began = time.process_time()
        results = native(*args)
        made = time.process_time() - began
    works: list[Callable[[], object]] = [partial(native, *args, out=results)]
    peer = _pinocchio(name, arm, args, results)
    times = best_of_each([*works, *([peer] if peer else [])], budget, group=GROUP)
    each, theirs = (1e9 * x / rows for x in (times[0], times[-1] if peer else float("nan")))
    size = f"{count(function).total:6} operations, compiled in {made:5.2f} s of processor time"
    return f"{size}; {each / 1e3:7.2f} us, {each / joints:6.1f} ns a joint{beside_pinocchio(each, theirs)}"


def _pinocchio(name: str, arm: Mechanism, args: Array, ours: Any) -> Callable[[], object] | None:
    """The same states by Pinocchio: by its functions for batches where it has them."""
    if find_spec("pinocchio") is None:
        return None
    import pinocchio as pin

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "arm.urdf"
        save(arm, file)
        model = pin.buildModelFromXML(_limited(file.read_text(encoding="utf-8")))
    data, names = model.createData(), list(model.names)[1:]
    order = [[x.name for x in arm.q].index(n) for n in names]
    q, v, a = (np.ascontiguousarray(x[:, order]) for x in args)
    if name in _DERIVATIVES:
        of_one = getattr(pin, _DERIVATIVES[name])
        return lambda: [of_one(model, data, *row) for row in zip(q, v, a, strict=True)]
    single, batch = {
        "inverse_dynamics": (pin.rnea, pin.rneaInParallel),
        "forward_dynamics": (pin.aba, pin.abaInParallel),
    }[name]
    agree(name, np.asarray(ours)[0, order], np.asarray(single(model, data, q[0], v[0], a[0])))
    pool, columns = pin.ModelPool(model, 1), [np.asfortranarray(x.T) for x in (q, v, a)]
    return partial(batch, 1, pool, *columns, np.empty((model.nv, len(q)), order="F"))


def _limited(urdf: str) -> str:
    """Joints with limits: Pinocchio has sine and cosine for the coordinates of those without."""
    limit = '<limit lower="-99" upper="99" effort="1" velocity="1"/>'
    return re.sub(r'type="continuous"(.*?)</joint>', rf'type="revolute"\1{limit}</joint>', urdf, flags=re.DOTALL)
