"""Where programs are slow that are quick over a million states: single calls, few states, large models, a first use.

Pinocchio is called for one state after the other from a Python loop, as a user would; the empty loop is not taken off,
with us neither. Only what is installed is compared.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from torseur.bench.first_use import first_uses
from torseur.bench.large import large_models
from torseur.bench.peers import agree, beside_pinocchio, machine
from torseur.bench.timing import Report, Rows, Section, best_of_each
from torseur.formats import load
from torseur.model import Model, build

__all__ = ["Effort", "measure"]

Array = NDArray[np.float64]
GROUP = 2e-4
"""About the length of a group of calls, s: short ones find the quiet moments of a busy machine."""


@dataclass(frozen=True)
class Effort:
    """How much is measured: the sizes of batches and chains, seconds for each figure."""

    batches: tuple[int, ...] = (8, 32, 128, 512)
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
