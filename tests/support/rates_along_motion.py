"""Rates of energies and momenta, by differentiating their expressions along a motion."""

from __future__ import annotations

from typing import Any

from support.evaluated import arguments_of
from support.random_mechanisms import State
from torseur.describe import Mechanism
from torseur.dynamics.loads.forces import kinetic_energy, momentum, potential_energy
from torseur.dynamics.quantities import Options, Workbench
from torseur.dynamics.tree.system import rates
from torseur.graph import Function, evaluate, tangents

__all__ = ["rate_along_motion"]


def rate_along_motion(mechanism: Mechanism, s: State, quantity: str, vdot: Any) -> Any:
    """The time derivative of an energy or momentum, by differentiating its expression along the motion."""
    bench = Workbench(mechanism, Options(base_parameters=False))
    if quantity == "momentum":
        p, L = momentum(bench.tree)
        exprs = [*p, *L]
    else:
        exprs = [kinetic_energy(bench.tree) + potential_energy(bench.tree, bench.gravity)]
    system, block = bench.system, bench.block("vdot")
    seeds = dict(zip(system.q, rates(system), strict=True)) | dict(zip(system.v, block, strict=True))
    function = Function("rate", [system.q, system.v, block, system.p], {"rate": tangents(exprs, seeds)})
    return evaluate(function, *arguments_of(mechanism, function, (s.q, s.v, vdot)))[0]
