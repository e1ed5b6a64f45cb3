"""The forces of a tyre in steady motion, as numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from torseur.describe.fields import Scalar, names_in
from torseur.describe.formulas import Formula
from torseur.emit import NativeFunction, compile
from torseur.errors import ArgumentError, MissingValue
from torseur.graph import Expr, Function, Graph, Role
from torseur.packs.tyres.law import Slip, TyreLaw

__all__ = ["SteadyForces", "steady_forces"]


@dataclass(frozen=True)
class SteadyForces:
    """What the road does to the wheel: arrays over all slips asked for, N and N m."""

    Fx: NDArray[np.float64]
    Fy: NDArray[np.float64]
    Mx: NDArray[np.float64]
    My: NDArray[np.float64]
    Mz: NDArray[np.float64]


def steady_forces(
    law: TyreLaw,
    *,
    Fz: ArrayLike,
    kappa: ArrayLike = 0.0,
    alpha: ArrayLike = 0.0,
    gamma: ArrayLike = 0.0,
    Vx: ArrayLike = 15.0,
    mu: ArrayLike = 1.0,
    pressure: ArrayLike | None = None,
    parameters: Mapping[str, float] | None = None,
    own: bool = False,
) -> SteadyForces:
    """The forces of a law at given slips and loads, in the conventions of `torseur.packs.tyres.law`.

    Arrays broadcast. `parameters` are the values of the names in formulas of the law. With `own`, slips and loads are
    in the convention and units of the law's own data: ISO-W of property files, kN, percent and degrees of Pacejka's.

    >>> from torseur.packs.tyres import BurckhardtTyre, steady_forces
    >>> round(float(steady_forces(BurckhardtTyre(road="asphalt_dry"), Fz=1000.0, kappa=-0.17).Fx))
    -1170
    """
    names = tuple(sorted(names_in(law)))
    given = parameters or {}
    missing = [name for name in names if name not in given]
    if missing:
        raise MissingValue("parameters of the tyre have no value", expected=", ".join(missing))
    columns = [Fz, kappa, alpha, gamma, Vx, mu, *([] if pressure is None else [pressure])]
    try:
        slips = np.stack(np.broadcast_arrays(*(np.asarray(x, dtype=float) for x in columns)), axis=-1)
    except ValueError as error:
        raise ArgumentError("slips and loads are not arrays that broadcast", got=str(error)) from error
    function = _compiled(law, names, pressure is not None, own)
    values = [given[name] for name in names]
    found = function(slips, values) if names else function(slips)
    return SteadyForces(*np.moveaxis(np.asarray(found), -1, 0))


@lru_cache(maxsize=64)
def _compiled(law: TyreLaw, names: tuple[str, ...], pressed: bool, own: bool) -> NativeFunction:
    graph = Graph()
    slips = graph.block("slip", 7 if pressed else 6)
    parameters = graph.block("p", len(names), Role.PARAMETER) if names else None
    scope = {} if parameters is None else {name: parameters[k] for k, name in enumerate(names)}

    def scalar(value: Scalar) -> Expr:
        return value.expr(graph, scope) if isinstance(value, Formula) else graph.number(value)

    Fz, kappa, alpha, gamma, Vx, mu = (slips[k] for k in range(6))
    slip = Slip(kappa, alpha, gamma, Fz, Vx, mu, slips[6] if pressed else None)
    f = law.forces(law.from_own(slip) if own else slip, scalar)
    blocks = [slips] if parameters is None else [slips, parameters]
    return compile(Function("tyre", blocks, {"forces": [f.Fx, f.Fy, f.Mx, f.My, f.Mz]}))
