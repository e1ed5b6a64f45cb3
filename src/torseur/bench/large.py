"""Large models beside Pinocchio: what compiling costs, and a joint from then on, for chains and trees of links."""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from torseur.bench.peers import agree, beside_pinocchio
from torseur.bench.timing import Rows, best_of_each, own_cache
from torseur.bench.workloads import chain_arm
from torseur.describe import Mechanism
from torseur.dynamics.quantities import function_of
from torseur.emit import compile
from torseur.formats import save
from torseur.graph import count

__all__ = ["large_models"]

Array = NDArray[np.float64]
GROUP = 1e-3
"""About the length of a group of calls, s."""


def large_models(
    chains: Sequence[int], derivatives: Sequence[int], trees: Sequence[int], rows: int, budget: float
) -> Rows:
    """Times of a state in lanes, into arrays that are there.

    Args:
        chains: how many joints, for both dynamics.
        derivatives: the same for the derivatives of inverse dynamics, whose size grows with the square.
        trees: the same as `chains`, of links that carry two others.
        rows: states in a call.
        budget: for each figure, s.
    """
    for name in ("inverse_dynamics", "forward_dynamics"):
        for joints in chains:
            yield f"{name}, {joints} joints", _one(name, chain_arm(joints), rows, budget)
        for joints in trees:
            yield f"{name}, tree of {joints}", _one(name, chain_arm(joints, branches=2), rows, budget)
    for joints in derivatives:
        name = "inverse_dynamics_derivatives"
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
    if name == "inverse_dynamics_derivatives":
        return lambda: [pin.computeRNEADerivatives(model, data, *row) for row in zip(q, v, a, strict=True)]
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
