"""A robot from its file to equations, native code and motion: the first part of ``make demo``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from rich.console import Console

from torseur.bench.timing import best
from torseur.describe import Mechanism
from torseur.dynamics.quantities import function_of
from torseur.emit import integrator
from torseur.formats import load
from torseur.graph import Function, Graph, Role, Stage, call
from torseur.model import Model, build, equations

FILE = Path(__file__).with_name("rx90.yaml")
STATES = 100_000
console = Console(highlight=False, markup=False, soft_wrap=True)


def main() -> None:
    robot = load(FILE)
    console.rule(f"{robot.title}: {len(robot.bodies)} bodies, {len(robot.q)} coordinates")
    show_equations(robot)
    model = build(robot)
    show_speed(model)
    show_fall(robot, model)


def show_equations(robot: Mechanism) -> None:
    """The inertia matrix as a listing, cut to a few lines, and what each quantity costs."""
    lines = equations(robot, "mass_matrix", base_parameters=True).text().splitlines()
    console.print("\n".join(lines[:14]), f"    ... {len(lines) - 14} lines more", sep="\n")
    for quantity in ("inverse_dynamics", "mass_matrix", "forward_dynamics"):
        counts = equations(robot, quantity, base_parameters=True).counts
        console.print(f"{quantity}: {counts[Stage.STATE]}; once per parameter set: {counts[Stage.PARAMETER]}")


def show_speed(model: Model) -> None:
    console.rule("native code")
    rng = np.random.default_rng(0)
    q, v, a = (rng.standard_normal((STATES, model.nv)) for _ in range(3))
    tau = model.inverse_dynamics(q, v, a)
    error = np.abs(model.forward_dynamics(q, v, tau) - a).max()
    model.inverse_dynamics(q[0], v[0], a[0])
    single = model.inverse_dynamics  # from the second call on, a function of the interpreter's own kind
    one = best(lambda: single(q[0], v[0], a[0]), 0.2)
    many = best(lambda: model.inverse_dynamics(q, v, a, out=tau), 0.5) / STATES
    console.print(f"inverse dynamics: {1e9 * one:.0f} ns a call from Python, {1e9 * many:.0f} ns a state in a batch")
    console.print(f"forward dynamics gives back the accelerations within {error:.0e} rad/s2")


def show_fall(robot: Mechanism, model: Model) -> None:
    """Let go from rest, without friction: the energy must stay."""
    console.rule("falling for two seconds")
    free = robot.model_copy(update={"loads": type(robot.loads)()})
    dynamics = function_of(free, "forward_dynamics")
    g, n = Graph(), model.nv
    q, v = g.block("q", n), g.block("v", n)
    p = g.block("p", len(model.parameter_values), Role.PARAMETER)
    given = {"q": list(q), "v": list(v), "tau": [0.0] * n, "p": list(p)}
    vdot = call(dynamics, *(given[block.name] for block in dynamics.inputs))
    fall = integrator(Function("fall", [q, v, p], {"dq": list(v), "dv": vdot}))
    motion = fall(np.full(n, 0.3), np.zeros(n), model.parameter_values, step=1e-4, steps=20_000, every=200)
    bare = build(free)
    energy = bare.kinetic_energy(*motion.states) + bare.potential_energy(motion.states[0])
    swing = np.ptp(bare.potential_energy(motion.states[0]))
    console.print(f"energy kept within {np.ptp(energy):.1e} J, of {swing:.0f} J exchanged between height and speed")


if __name__ == "__main__":
    main()
