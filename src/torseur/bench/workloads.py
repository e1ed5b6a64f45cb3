"""What is measured: inverse dynamics of serial arms by the package's own recursion, and a few small things.

The arms are descriptions; their functions come from the same table as those of every other mechanism, with regrouped
inertial parameters as `torseur.build` has them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from torseur.describe import Mechanism
from torseur.dynamics.quantities import function_of
from torseur.graph import Expr, Function, Graph, Role, sin

__all__ = [
    "chain_arm",
    "inverse_dynamics",
    "numbered_rx90",
    "pendulum",
    "random_chain",
    "random_mix",
    "rx90",
    "rx90_arm",
]

_Fields = Mapping[str, object]
_STANDARD = ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "MX", "MY", "MZ", "M")


def rx90_arm() -> Mechanism:
    """A six-axis arm with the geometry of the Stäubli RX90; every length and inertial parameter is a symbol."""
    rows: list[dict[str, str]] = [{}, {"alpha": "pi/2"}, {"d": "D3"}]
    rows += [{"alpha": "-pi/2", "r": "RL4"}, {"alpha": "pi/2"}, {"alpha": "-pi/2"}]
    inertias = [{word: f"{word}{j}" for word in _STANDARD} for j in range(1, len(rows) + 1)]
    names = ["D3", "RL4", *(name for inertia in inertias for name in inertia.values())]
    return _serial("rx90", rows, inertias, names)


_RX90 = (
    (0.6884, -0.024, -0.0048, 0.6196, -0.016, 0.2948, 0.24, 0.8, -2.48, 30.0),
    (0.4263, -0.0048, -0.4455, 1.451, -0.018, 1.1, 3.39, 0.12, 2.72, 20.0),
    (0.1097, -0.005, 0.00105, 0.06162, -0.0075, 0.1067, 0.23, 0.5, -0.015, 14.0),
    (0.166, -0.00025, 0.00075, 0.1655, 0.00475, 0.01198, 0.025, 0.05, -0.875, 7.5),
    (0.002895, 0.0001, -1e-05, 0.001695, 0.00018, 0.003067, 0.0025, -0.04, 0.012, 2.5),
    (0.004776, 6.6e-06, -0.000261, 0.004803, 2.25e-05, 0.0004684, 0.0034, -0.0001, 0.0625, 0.9),
)


def numbered_rx90() -> Mechanism:
    """The same arm with numbers for its parameters, those of the example of that name, without its friction."""
    arm = rx90_arm()
    values = {"D3": 0.45, "RL4": 0.45}
    for j, row in enumerate(_RX90, 1):
        values |= {f"{word}{j}": x for word, x in zip(_STANDARD, row, strict=True)}
    given = {name: record.model_copy(update={"value": values[name]}) for name, record in arm.parameters.items()}
    return arm.model_copy(update={"parameters": type(arm.parameters)(given)})


def chain_arm(joints: int, seed: int = 0, branches: int = 1) -> Mechanism:
    """A serial arm of revolute joints without a single right angle; all its parameters are numbers.

    With branches, each link carries so many others: a tree.
    """
    rng = np.random.default_rng(seed)
    rows = rng.uniform([-3.0, 0.1, 0.1], [3.0, 0.5, 0.5], (joints, 3)).tolist()
    masses = rng.uniform(1.0, 3.0, joints).tolist()
    centres = rng.uniform(-0.2, 0.2, (joints, 3)).tolist()
    tensors = rng.uniform(0.10, 0.15, (joints, 3)).tolist()
    inertias = [
        {"mass": m, "centre": tuple(c), "tensor": dict(zip(("xx", "yy", "zz"), t, strict=True))}
        for m, c, t in zip(masses, centres, tensors, strict=True)
    ]
    places = [dict(zip(("alpha", "d", "r"), row, strict=True)) for row in rows]
    return _serial(f"{'chain' if branches == 1 else 'tree'}{joints}", places, inertias, [], branches)


def _serial(
    name: str, rows: Sequence[_Fields], inertias: Sequence[_Fields], symbols: Sequence[str], branches: int = 1
) -> Mechanism:
    """Revolute joints one after the other, from rows of modified Denavit-Hartenberg parameters."""
    bodies = {}
    for j, (row, inertia) in enumerate(zip(rows, inertias, strict=True), 1):
        parent = "base" if j == 1 else f"link{(j - 2) // branches + 1}"
        bodies[f"link{j}"] = {"parent": parent, "place": {"mdh": row}, "joint": "revolute", "inertia": inertia}
    return Mechanism.model_validate({"name": name, "parameters": {s: {} for s in symbols}, "bodies": bodies})


def inverse_dynamics(arm: Mechanism) -> Function:
    """(q, v, vdot, parameters if any) -> tau."""
    return function_of(arm, "inverse_dynamics")


def rx90() -> Function:
    """Inverse dynamics of `rx90_arm`."""
    return inverse_dynamics(rx90_arm())


def random_chain(joints: int, seed: int = 0) -> Function:
    """Inverse dynamics of `chain_arm`."""
    return inverse_dynamics(chain_arm(joints, seed))


def pendulum() -> Function:
    """The rate of a simple pendulum: (q, v, g/l) -> (v, -g/l sin q)."""
    g = Graph()
    q, v, ratio = g.symbol("q"), g.symbol("v"), g.symbol("ratio", Role.PARAMETER)
    return Function("pendulum", list(g.blocks.values()), {"dq": v, "dv": -ratio * sin(q)})


def random_mix(operations: int, seed: int = 0) -> Graph:
    """A graph of so many operations on random operands: sums, differences, products and one sine in twenty."""
    rng = np.random.default_rng(seed)
    g = Graph()
    known: list[Expr] = list(g.block("x", 16))
    kinds = rng.choice(4, operations, p=[0.3, 0.3, 0.35, 0.05]).tolist()
    left, right = (rng.random((2, operations)) * (np.arange(operations) + 16)).astype(int).tolist()
    for kind, i, j in zip(kinds, left, right, strict=True):
        a, b = known[i], known[j]
        known.append(a + b if kind == 0 else a - b if kind == 1 else a * b if kind == 2 else sin(a))
    return g
