"""Where programs are slow that are quick over a million states: single calls, few states, long chains, a first use.

Pinocchio is called for one state after the other from a Python loop, as a user would; the empty loop is not taken off,
with us neither. Only what is installed is compared.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from torseur.bench.build import processor_time
from torseur.bench.peers import agree, machine
from torseur.bench.timing import Report, Rows, Section, best_of_each, own_cache
from torseur.bench.workloads import chain_arm
from torseur.dynamics.quantities import function_of
from torseur.emit import compile
from torseur.formats import load
from torseur.graph import count
from torseur.model import Model, build

__all__ = ["Effort", "measure"]

Array = NDArray[np.float64]
GROUP = 2e-4
"""About the length of a group of calls, s: short ones find the quiet moments of a busy machine."""


@dataclass(frozen=True)
class Effort:
    """How much is measured: the sizes of batches and chains, seconds for each figure."""

    batches: tuple[int, ...] = (8, 32, 128, 512)
    chains: tuple[int, ...] = (6, 48, 96, 192)
    derivatives: tuple[int, ...] = (24, 48)
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
        ("long chains, parameters are numbers", partial(_long_chains, effort)),
    ]
    if effort.first_use:
        plan.append(("first use: a study of two joints, processor time with the start of Python", _first_use))
    sections = []
    for title, rows in plan:
        progress(f"measuring {title.partition(':')[0]}")
        sections.append(Section(title, tuple(rows())))
    return Report(tuple(sections))


def _path() -> Path:
    return Path(str(resources.files("torseur.bench") / "models" / "ur5.urdf"))


def _arm() -> Model:
    return build(load(_path()))


def _nanoseconds(work: Callable[[], object], effort: Effort) -> float:
    return 1e9 * best_of_each([work], effort.budget, group=GROUP)[0]


# -- single calls ------------------------------------------------------------------------------------------------------
_Calls = dict[str, Callable[[], Any]]
_COMPARED = ("inverse_dynamics", "forward_dynamics", "jacobian")
"""What a peer gives in the same form."""


def _single_calls(model: Model, effort: Effort) -> Rows:
    q, v, a = np.random.default_rng(0).standard_normal((3, model.nv))
    frame = list(model.mechanism.bodies)[-1]
    ours: _Calls = {
        "inverse_dynamics": lambda: model.inverse_dynamics(q, v, a),
        "forward_dynamics": lambda: model.forward_dynamics(q, v, a),
        "mass_matrix": lambda: model.mass_matrix(q),
        "pose": lambda: model.pose(q, frame),
        "jacobian": lambda: model.jacobian(q, frame),
        "velocity": lambda: model.velocity(q, v, frame),
        "kinetic_energy": lambda: model.kinetic_energy(q, v),
        "potential_energy": lambda: model.potential_energy(q),
        "momentum": lambda: model.momentum(q, v),
        "centre_of_mass": lambda: model.centre_of_mass(q),
        "inverse_dynamics_derivatives": lambda: model.inverse_dynamics_derivatives(q, v, a),
        "forward_dynamics_derivatives": lambda: model.forward_dynamics_derivatives(q, v, a),
    }
    theirs = _pinocchio_calls(q, v, a, frame) if find_spec("pinocchio") else {}
    for name, work in ours.items():
        work()
        if name in theirs and name in _COMPARED:
            agree(name, np.asarray(work()), np.asarray(theirs[name]()))
        mine = _nanoseconds(work, effort)
        yield name, f"{mine:5.0f} ns{_beside(mine, _nanoseconds(theirs[name], effort) if name in theirs else None)}"


def _beside(mine: float, theirs: float | None) -> str:
    return "" if theirs is None else f"; Pinocchio {theirs:6.0f} ns: {theirs / mine:.1f} times faster"


def _pinocchio_calls(q: Array, v: Array, a: Array, frame: str) -> _Calls:
    import pinocchio as pin

    model = pin.buildModelFromUrdf(str(_path()))
    data, place = model.createData(), model.getFrameId(frame)

    def pose() -> None:
        pin.framesForwardKinematics(model, data, q)

    return {
        "inverse_dynamics": lambda: pin.rnea(model, data, q, v, a),
        "forward_dynamics": lambda: pin.aba(model, data, q, v, a),
        "mass_matrix": lambda: pin.crba(model, data, q),
        "pose": pose,
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
    theirs = _pinocchio_each(rng) if find_spec("pinocchio") else None
    for name in ("inverse_dynamics", "forward_dynamics", "mass_matrix"):
        takes = 1 if name == "mass_matrix" else 3
        peer = None if theirs is None else _nanoseconds(theirs[name], effort)
        for states in effort.batches:
            args = rng.standard_normal((takes, states, model.nv))
            getattr(model, name)(*args[:, 0])
            getattr(model, name)(*args)
            each = _nanoseconds(partial(getattr(model, name), *args), effort) / states
            yield f"{name}, {states} states", f"{each:6.1f} ns a state{_beside(each, peer)}"


def _pinocchio_each(rng: np.random.Generator) -> _Calls:
    """One state in a call: what a loop over few states costs."""
    import pinocchio as pin

    model = pin.buildModelFromUrdf(str(_path()))
    data = model.createData()
    q, v, a = rng.standard_normal((3, model.nv))
    return {
        "inverse_dynamics": lambda: pin.rnea(model, data, q, v, a),
        "forward_dynamics": lambda: pin.aba(model, data, q, v, a),
        "mass_matrix": lambda: pin.crba(model, data, q),
    }


# -- long chains -------------------------------------------------------------------------------------------------------
def _long_chains(effort: Effort) -> Rows:
    for name, chains in (
        ("inverse_dynamics", effort.chains),
        ("forward_dynamics", effort.chains),
        ("inverse_dynamics_derivatives", effort.derivatives),
    ):
        for joints in chains:
            yield f"{name}, {joints} joints", _long_chain(name, joints, effort)


def _long_chain(name: str, joints: int, effort: Effort) -> str:
    """From the expressions to a result in lanes, and the time of a state from then on."""
    rng = np.random.default_rng(0)
    args = rng.uniform(0.1, 1.0, (3, effort.rows, joints))
    with own_cache():
        function = function_of(chain_arm(joints), name)
        native = compile(function)
        began = time.process_time()
        results = native(*args)
        made = time.process_time() - began
    each = _nanoseconds(partial(native, *args, out=results), effort) / effort.rows
    size = f"{count(function).total:6} operations, compiled in {made:5.2f} s of processor time"
    return f"{size}; {each / 1e3:7.2f} us, {each / joints:6.1f} ns a joint"


# -- first use ---------------------------------------------------------------------------------------------------------
_MODEL = {
    "torseur": 1,
    "name": "cart_and_rod",
    "bodies": {
        "cart": {"joint": {"kind": "prismatic", "axis": "x", "coordinate": "x"}, "inertia": {"mass": 3}},
        "rod": {
            "parent": "cart",
            "joint": {"kind": "revolute", "axis": "y", "coordinate": "a", "start": 1.2},
            "inertia": {"mass": 1.5, "centre": [0, 0, -0.7]},
        },
    },
}


def _first_use() -> Rows:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = folder / "cart_and_rod.yaml"
        file.write_text(json.dumps(_MODEL), encoding="utf-8")
        start = [sys.executable, "-m", "torseur", "simulate", str(file), "--until", "5", "-o", str(folder / "results")]
        plain = [*start, "--no-figures", "--no-playback"]
        processor_time(start, folder)  # bytecode
        (folder / "cache").rename(folder / "warm")
        yield "torseur simulate, cold", f"{processor_time(plain, folder):.2f} s"
        yield "torseur simulate, warm", f"{min(processor_time(plain, folder) for _ in range(3)):.2f} s"
        yield "with figures and playback, warm", f"{min(processor_time(start, folder) for _ in range(2)):.2f} s"
        numpy = [sys.executable, "-c", "import numpy"]
        yield "of it Python with NumPy alone", f"{min(processor_time(numpy, folder) for _ in range(3)):.2f} s"
