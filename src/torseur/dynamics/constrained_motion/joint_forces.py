"""Forces inside joints: what a joint, or the cut joint of a loop, does to the body it carries.

The wrench that a joint passes on is what the motion of everything beyond it takes, less what acts there from outside:
the backward recursion of Newton and Euler gives it for every link, with the constraints among the external forces. What
drives, springs and friction do along a coordinate passes through its joint too.

==========  ==========================================================================================  ======
E1j .. E3j  force that the antecedent exerts on body j, in the axes of the body                          N
N1j .. N3j  moment of it at the body's origin                                                            N m
==========  ==========================================================================================  ======

(SYMORO's names; j is the number of the body, the base being 0.)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torseur.dynamics.constrained_motion.motion import efforts_of_motion, motion
from torseur.dynamics.constrained_motion.reduction import Reduction
from torseur.dynamics.constrained_motion.solver import constraint_solver
from torseur.dynamics.constraints.rows import Cut, cut_wrench
from torseur.dynamics.loads.forces import Forces
from torseur.dynamics.tree.newton_euler import joint_wrenches
from torseur.dynamics.workbench import Workbench
from torseur.errors import ModelError
from torseur.graph import Expr
from torseur.spatial.motion import Wrench
from torseur.spatial.vectors import cross

__all__ = ["forward_joint_forces", "joint_forces", "reaction_of"]


def joint_forces(w: Workbench) -> dict[str, Any]:
    """For each body what its antecedent does to it (6,) in a motion q, v, vdot that the constraints allow.

    With loops or constraints the efforts are those of the actuated coordinates, and the multipliers follow from them:
    A' lambda = M vdot + bias - Gamma.
    """
    vdot = list(w.block("vdot"))
    if not w.constraints.rows:
        return _of_all_bodies(w, vdot, [])
    found = Reduction(w)
    held = w.inverse(vdot)
    if found.k:
        for place, effort in efforts_of_motion(w, found).items():
            held[place] = held[place] - effort
    return _of_all_bodies(w, vdot, found.multipliers(held))


def forward_joint_forces(w: Workbench) -> dict[str, Any]:
    """The same in the motion that forces tau give, at a state q, v."""
    vdot, f = motion(w)
    return _of_all_bodies(w, vdot, constraint_solver(w).multipliers(vdot, f) if w.constraints.rows else [])


def _of_all_bodies(w: Workbench, vdot: Sequence[Expr], multipliers: Sequence[Expr]) -> dict[str, Any]:
    g, tree = w.system.graph, w.tree
    wrenches, _ = joint_wrenches(tree, vdot, w.gravity, _all_forces(w, multipliers).wrenches)
    found = {}
    for name, (k, offset) in tree.home.items():
        if k >= 0:
            number = tree.links[k].number
            names = [f"{stem}{axis}{number}" for stem in "EN" for axis in "123"]
            found[name] = [g.name(x, n) for x, n in zip((offset.inv @ wrenches[k]).six, names, strict=True)]
    return found


def reaction_of(w: Workbench, name: str, vdot: Sequence[Expr], multipliers: Sequence[Expr]) -> list[Expr]:
    """Force and moment (6,) of a joint on its body, at the body's origin in its axes; of a loop on its second frame,
    there, in the axes of the first.

    Args:
        w: the mechanism.
        name: of a body (its joint is meant) or of a loop.
        vdot: accelerations.
        multipliers: of all rows.
    """
    for cut in w.constraints.cuts:
        if cut.name == name:
            return list(cut_wrench(cut, multipliers).six)
    body = w.true_tree.home.get(name)
    if body is None or body[0] < 0 or w.true_tree.links[body[0]].name != name:
        raise ModelError(f"'{name}' has no joint whose force could be told", expected="a body that moves on a joint")
    link, offset = body
    wrenches, _ = joint_wrenches(w.true_tree, vdot, w.gravity, _all_forces(w, multipliers).wrenches)
    return list((offset.inv @ wrenches[link]).six)


def _all_forces(w: Workbench, multipliers: Sequence[Expr]) -> Forces:
    """Wrenches of loads and of constraints on links."""
    forces = Forces(w.system.graph)
    forces.wrenches |= w.forces.wrenches
    for cut in w.constraints.cuts:
        _pull(forces, cut, multipliers)
    silent = [row.owner for row in w.constraints.rows if row.acts is None and not row.owner.startswith("loops.")]
    if silent:
        raise ModelError(
            "the force in a joint is not known where constraints are equations: they do not say where they act",
            got=", ".join(dict.fromkeys(silent)),
            remedy="write them as loops, rolling wheels or contacts at frames",
        )
    for row, lam in zip(w.constraints.rows, multipliers, strict=True):
        for frame, wrench in row.acts or ():
            forces.act(frame, lam * wrench)
    return forces


def _pull(forces: Forces, cut: Cut, multipliers: Sequence[Expr]) -> None:
    """What a cut joint does to both its frames."""
    a, b = cut.a.pose, cut.b.pose
    f, n = cut_wrench(cut, multipliers).turned(a.R)
    forces.act(cut.b, Wrench(f, n).turned(b.R.T))
    forces.act(cut.a, -Wrench(f, n + cross(b.P - a.P, f)).turned(a.R.T))
