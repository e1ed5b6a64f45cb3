"""Blocks around a mechanism, integrated plainly: classical Runge-Kutta with samples, on the reference evaluator.

It knows nothing of the package's own solvers, so it can tell what blocks do by themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from support.plain_motion import parameter_values
from torseur.describe import Mechanism
from torseur.dynamics.constrained_motion.closed_states import SampledRows
from torseur.dynamics.constrained_motion.solver import constraint_solver
from torseur.dynamics.workbench import Workbench
from torseur.emit import compile
from torseur.graph import Function, evaluate, substitute
from torseur.simulation.blocks import block_of, build_blocks
from torseur.simulation.blocks.context import Context
from torseur.simulation.blocks.parts import Parts

__all__ = ["NOTHING", "Blocks", "signal"]

Array = NDArray[np.float64]
NOTHING = Mechanism(name="nothing")


class Blocks:
    """A mechanism with blocks: results at an instant (`at`), and along a run (`run`).

    Args:
        blocks: name -> block, number, formula or {kind: fields}.
        mechanism: what they are around.
        native: whether to compile; worth it for long runs of arms.
        folder: for files.
    """

    def __init__(
        self, blocks: Mapping[str, Any], mechanism: Mechanism = NOTHING, *, native: bool = False, folder: Any = None
    ) -> None:
        self.context = Context(Workbench(mechanism), folder)
        self.bench = self.context.bench
        if not mechanism.is_tree:
            self.bench.switching.ranks = [self.bench.system.graph.number(x) for x in SampledRows(self.bench).ranks]
        build_blocks(self.context, {name: block_of(given) for name, given in blocks.items()})
        self.parts = self._moved(self.context.parts())
        system, parts = self.bench.system, self.parts
        self.p = np.array([parameter_values(mechanism)[name] for name in system.p.names])
        candidates = [system.graph.blocks["t"], system.q, system.v, parts.z, system.u, parts.m, system.p]
        self.blocks = [b for b in candidates if b is not None and b.size]
        self._native = native
        moving = list(self.rates) if system.v.size else []
        states = [s.rate for s in parts.states]
        values = [x for s in parts.samples for x in s.values]
        self._rate = self._function("rate", [*moving, *states]) if moving or states else None
        self._samples = self._function("samples", values) if values else None
        self._outputs = self._function("outputs", [o.value for o in parts.outputs.values()])
        self._starts = parts.starts([b for b in self.blocks if b is not parts.z and b is not parts.m])
        self._schedule = parts.schedule([b for b in self.blocks if b is system.p])

    def _moved(self, parts: Parts) -> Parts:
        """With the accelerations of the mechanism under the blocks' forces."""
        bench, system = self.bench, self.bench.system
        if not system.v.size:
            return parts
        bias = substitute(bench.inverse(bench.rest), dict(parts.inputs))
        zero = system.graph.zero
        f = [parts.forces.get(name, zero) - b for name, b in zip(system.v.names, bias, strict=True)]
        self.vdot = (
            bench.solve(f) if not bench.constraints.rows else constraint_solver(bench).solve(f, bench.constraints.b)
        )
        self.rates = [*self.context.qdot, *self.vdot]
        return parts.replaced(dict(zip(parts.vdot, self.vdot, strict=True))) if parts.vdot is not None else parts

    def accelerations(self, t: float, q: Any, v: Any) -> Array:
        """vdot of the whole at a state."""
        return self.value(self.vdot, t, q, v)

    def value(self, exprs: Any, t: float, q: Any, v: Any) -> Array:
        """Expressions of the mechanism's symbols at a state."""
        x, m = self.start(q, v, t)
        function = Function("value", self.blocks, {"y": exprs})
        return evaluate(function, *self._arguments(t, x, m, np.zeros(self.bench.system.u.size)))[0]

    def _function(self, name: str, exprs: list[Any]) -> Any:
        function = Function(name, self.blocks, {"y": exprs})
        return compile(function) if self._native else lambda *args: evaluate(function, *args)[0]

    # -- numbers -------------------------------------------------------------------------------------------------------
    def _arguments(self, t: Any, x: Array, m: Array, u: Array) -> list[Any]:
        place, found = 0, list[Any]()
        for block in self.blocks:
            if block.name in ("q", "v", "z"):
                found.append(x[..., place : place + block.size])
                place += block.size
            else:
                found.append({"t": t, "u": u, "m": m, "p": self.p}[block.name])
        return found

    def start(self, q: Any = (), v: Any = (), t: float = 0.0) -> tuple[Array, Array]:
        """The state and the held numbers at the start."""
        system = self.bench.system
        moving = np.concatenate(
            [np.zeros(system.q.size) + (q if len(q) else 0.0), np.zeros(system.v.size) + (v if len(v) else 0.0)]
        )
        if self._starts is None:
            return moving, np.empty(0)
        given = {
            "t": t,
            "q": moving[: system.q.size],
            "v": moving[system.q.size :],
            "u": np.zeros(system.u.size),
            "p": self.p,
        }
        names = [o.name for o in self._starts.outputs]
        values = dict(zip(names, evaluate(self._starts, *[given[b.name] for b in self._starts.inputs]), strict=True))
        return np.concatenate([moving, values.get("z", np.empty(0))]), values.get("m", np.empty(0)).copy()

    def at(self, t: Any = 0.0, q: Any = (), v: Any = (), x: Any = None, m: Any = None) -> dict[str, Array]:
        """All results at one instant, or at many times."""
        if x is None:
            x, m = self.start(q, v)
        y = self._outputs(*self._arguments(np.asarray(t, dtype=float), x, m, np.zeros(self.bench.system.u.size)))
        return {name: y[..., k] for k, name in enumerate(self.parts.outputs)}

    def breaks(self, continuous: int = 9) -> list[float]:
        """The times at which something is not smooth."""
        if self._schedule is None or not self.parts.breaks:
            return []
        times = evaluate(self._schedule, *([self.p] if self._schedule.inputs else []))[0]
        return [float(t) for t, b in zip(times, self.parts.breaks, strict=True) if b.continuous <= continuous]

    def run(self, until: float, step: float, q: Any = (), v: Any = ()) -> dict[str, Array]:
        """Results at every step, with ``t``; samples are taken on the grid of steps."""
        x, m = self.start(q, v)
        u, n = np.zeros(self.bench.system.u.size), round(until / step)
        due = self._due(step, n)
        states, held = [], []
        for k in range(n + 1):
            t = k * step
            m = self._renew(t, x, m, u, due[k])
            states.append(x)
            held.append(m)
            if k < n and self._rate is not None:
                k1 = self._rate(*self._arguments(t, x, m, u))
                k2 = self._rate(*self._arguments(t + step / 2, x + step / 2 * k1, m, u))
                k3 = self._rate(*self._arguments(t + step / 2, x + step / 2 * k2, m, u))
                k4 = self._rate(*self._arguments(t + step, x + step * k3, m, u))
                x = x + step / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        times = step * np.arange(n + 1)
        return self.at(times, x=np.array(states), m=np.array(held)) | {"t": times, "x": np.array(states)}

    def _due(self, step: float, n: int) -> list[list[int]]:
        """The samples of every step."""
        due: list[list[int]] = [[] for _ in range(n + 1)]
        if self.parts.samples:
            assert self._schedule is not None
            values = evaluate(self._schedule, *([self.p] if self._schedule.inputs else []))
            for i, (period, offset) in enumerate(zip(values[-2], values[-1], strict=True)):
                every, first = round(period / step), round(offset / step)
                np.testing.assert_allclose(
                    [every * step, first * step], [period, offset], err_msg="samples off the grid"
                )
                for k in range(first, n + 1, every):
                    due[k].append(i)
        return due

    def _renew(self, t: float, x: Array, m: Array, u: Array, due: list[int]) -> Array:
        if not due:
            return m
        values = self._samples(*self._arguments(t, x, m, u)) if self._samples is not None else np.empty(0)
        new, place = m.copy(), 0
        for i, sample in enumerate(self.parts.samples):
            mine = values[place : place + len(sample.values)]
            place += len(sample.values)
            if i in due:
                new[list(sample.places)] = mine if sample.function is None else sample.function(t, *mine)
        return new


def signal(given: Any, t: Any, **more: Any) -> Array:
    """The values of one signal at some times."""
    return Blocks({"y": given}, **more).at(t)["y"]
