"""Inverse dynamics as a product: tau = Y(q, v, vdot) K + what does not depend on K (Maakaroun A.1).

Dynamics is linear in the parameters K of links and drives, so column i of Y is what the Newton-Euler recursion gives
for a mechanism whose only parameter is the i-th, equal to one.

=============  ==================================================================================  ===============
XX .. ZZ       inertia tensor of a link at its origin                                              kg m2
MX MY MZ, M    first moments and mass of a link                                                    kg m, kg
IA             inertia of drives seen from their joint: transmissions, rotors that do not travel   kg m2 or kg
JM             inertia of a rotor about its axis, carried by a link that moves (Llibre's j_m)      kg m2
FV, FS         viscous and dry friction on a joint                                                 N m s, N m ...
=============  ==================================================================================  ===============

A number behind the name is that of the body, the base being 0. Bodies fixed to another are part of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from torseur.describe import BASE, Load, Motor, SpringDamper, StandardInertia
from torseur.describe.fields import Scalar
from torseur.dynamics.constraints.rows import add_friction
from torseur.dynamics.loads.forces import forces_of
from torseur.dynamics.tree.newton_euler import LinkMotion, inertial_wrench, motions, rotor_reaction
from torseur.dynamics.tree.tree import Rotor, Tree
from torseur.graph import Expr, absolute, sign
from torseur.spatial.inertia import Inertia
from torseur.spatial.pose import Motion, Wrench
from torseur.spatial.vectors import Vector, dot

__all__ = ["TEN", "StandardParameter", "given_forces", "regressor", "standard_parameters"]

TEN = tuple(StandardInertia.model_fields)


@dataclass(frozen=True)
class StandardParameter:
    """One entry of K.

    Attributes:
        name: XX1, IA2, ...
        symbol: XX, IA, ...
        link: the link it belongs to, or whose joint it acts on.
        value: its value, an expression of the parameters of the description.
        speed: the speed it acts on, for drives and friction.
        rotor: the rotor it belongs to, for JM.
    """

    name: str
    symbol: str
    link: int
    value: Expr
    speed: int | None = None
    rotor: Rotor | None = None


def standard_parameters(tree: Tree) -> list[StandardParameter]:
    """K in order: the ten of every link that has mass, then drives, then friction.

    `tree` must not be regrouped.
    """
    system = tree.system
    massive = {tree.home[name][0] for name, body in system.mechanism.bodies.items() if body.inertia is not None}
    if system.mechanism.base.inertia is not None:
        massive.add(tree.home[BASE][0])
    parameters = [
        StandardParameter(f"{symbol}{link.number}", symbol, k, value)
        for k, link in enumerate(tree.links)
        if k in massive
        for symbol, value in zip(TEN, link.inertia.ten(), strict=True)
    ]
    return [*parameters, *_drives(tree), *_friction(tree)]


def _numbers(tree: Tree) -> dict[int, tuple[int, str]]:
    """Speed -> the first link it moves, and the number that ends the names of what acts on it."""
    numbers: dict[int, tuple[int, str]] = {}
    for k, link in enumerate(tree.links):
        for i, place in enumerate(link.places, 1):
            numbers.setdefault(place, (k, link.number if len(link.places) == 1 else f"{link.number}_{i}"))
    return numbers


def _drives(tree: Tree) -> list[StandardParameter]:
    seen: dict[int, Expr] = {}
    carried: dict[int, list[Rotor]] = {}
    for rotor in tree.rotors:
        if rotor.link < 0:
            known = seen.get(rotor.speed, tree.system.graph.zero)
            seen[rotor.speed] = known + rotor.ratio * rotor.ratio * rotor.inertia
        else:
            carried.setdefault(rotor.speed, []).append(rotor)
    numbers, drives = _numbers(tree), []
    for speed in sorted(seen):
        k, number = numbers[speed]
        drives.append(StandardParameter(f"IA{number}", "IA", k, seen[speed], speed))
    for speed in sorted(carried):
        k, number = numbers[speed]
        for i, rotor in enumerate(carried[speed]):
            name = f"JM{number}" + "b" * i
            drives.append(StandardParameter(name, "JM", k, rotor.inertia, speed, rotor))
    return drives


_VISCOUS = ("damping", "motor_damping", "joint_damping")
_DRY = ("friction", "motor_friction", "joint_friction")


# -- friction ----------------------------------------------------------------------------------------------------------
def _is_there(value: Scalar) -> bool:
    return not (isinstance(value, float) and value == 0.0)


def _fields(load: Load, names: Sequence[str]) -> dict[str, Scalar]:
    """Those of some fields that a load has and that are not zero."""
    fields = {name: getattr(load, name) for name in names if name in type(load).model_fields}
    return {name: value for name, value in fields.items() if _is_there(value)}


def _is_dry(tree: Tree, load: Load) -> bool:
    """Whether a load has dry friction whose level is a parameter, not one that follows the state or a normal force."""
    levels = _fields(load, _DRY)
    mechanism = tree.system.mechanism
    known = mechanism.parameters.keys() | mechanism.quantities.keys()
    return bool(levels) and mechanism.names_in(levels) <= known


def _on_speed(tree: Tree, load: Load) -> int | None:
    """The speed whose friction a load is, if it is one on a coordinate with a speed of its own."""
    if not isinstance(load, (SpringDamper, Motor)) or load.coordinate is None:
        return None
    return next((k for k, x in enumerate(tree.system.mechanism.v) if x.rate_of == load.coordinate), None)


def _friction(tree: Tree) -> list[StandardParameter]:
    viscous: dict[int, Expr] = {}
    dry: dict[int, Expr] = {}
    for load in tree.system.mechanism.loads.values():
        speed = _on_speed(tree, load)
        if speed is None:
            continue
        for table, value in zip((viscous, dry), _coefficients(tree, load), strict=True):
            if value is not None:
                table[speed] = table[speed] + value if speed in table else value
    numbers, friction = _numbers(tree), []
    for symbol, table in (("FV", viscous), ("FS", dry)):
        for speed in sorted(table):
            k, number = numbers[speed]
            friction.append(StandardParameter(f"{symbol}{number}", symbol, k, table[speed], speed))
    return friction


def _coefficients(tree: Tree, load: Load) -> tuple[Expr | None, Expr | None]:
    """Viscous and dry friction seen from the joint: ratio^2 of the motor's plus the joint's (Llibre I.2)."""
    scalar = tree.system.scalar
    if isinstance(load, SpringDamper):
        viscous, dry = scalar(load.damping), scalar(load.friction)
    else:
        assert isinstance(load, Motor)
        ratio = scalar(load.ratio)
        viscous = ratio * ratio * scalar(load.motor_damping) + scalar(load.joint_damping)
        dry = absolute(ratio) * scalar(load.motor_friction) + scalar(load.joint_friction)
    return viscous if _fields(load, _VISCOUS) else None, dry if _is_dry(tree, load) else None


def _without_friction(tree: Tree) -> Mapping[str, Load]:
    """The loads, those parts left out that are in K."""
    loads: dict[str, Load] = {}
    for name, load in tree.system.mechanism.loads.items():
        names = (*_VISCOUS, *_DRY) if _is_dry(tree, load) else _VISCOUS
        is_in_K = _on_speed(tree, load) is not None
        loads[name] = load.model_copy(update=dict.fromkeys(_fields(load, names), 0.0)) if is_in_K else load
    return loads


def given_forces(tree: Tree) -> list[Expr]:
    """tau - Y K: what springs, efforts, motor torques, wrenches and drag ask for."""
    g, forces, reach = tree.system.graph, forces_of(tree, _without_friction(tree)), _reach(tree)
    add_friction(tree, forces)
    tau: list[Expr] = [g.zero] * tree.nv
    for k, wrench in forces.wrenches.items():
        for place, value in _projected(reach[k], wrench):
            tau[place] = tau[place] - value
    return [x - forces.Q[k] if k in forces.Q else x for k, x in enumerate(tau)]


# -- the columns -------------------------------------------------------------------------------------------------------
Reach = list[tuple[int, Motion]]
"""The speeds that move a link, and how it moves when one of them is one, in its own axes."""


def regressor(
    tree: Tree, parameters: Sequence[StandardParameter], vdot: Sequence[Expr], gravity: Vector
) -> list[list[Expr]]:
    """Y (nv, number of parameters): column i belongs to parameter i, all or some of `standard_parameters`."""
    g, moved, reach = tree.system.graph, list(motions(tree, vdot, gravity)), _reach(tree)
    columns = []
    for parameter in parameters:
        column: list[Expr] = [g.zero] * tree.nv
        for place, value in _column(tree, parameter, moved, reach, vdot):
            column[place] = column[place] + value
        columns.append(column)
    return [list(row) for row in zip(*columns, strict=True)] if columns else [[] for _ in range(tree.nv)]


def _column(
    tree: Tree,
    parameter: StandardParameter,
    moved: Sequence[LinkMotion],
    reach: Sequence[Reach],
    vdot: Sequence[Expr],
) -> list[tuple[int, Expr]]:
    """What a parameter equal to one asks of the speeds."""
    k, speed, v = parameter.link, parameter.speed, tree.system.v.symbols
    if speed is None:
        one, zero = tree.system.graph.one, tree.system.graph.zero
        unit = Inertia.from_ten(*(one if symbol == parameter.symbol else zero for symbol in TEN))
        return _projected(reach[k], inertial_wrench(unit, moved[k]))
    if parameter.symbol == "FV":
        return [(speed, v[speed])]
    if parameter.symbol == "FS":
        return [(speed, sign(v[speed]))]
    if parameter.rotor is None:
        return [(speed, vdot[speed])]
    rotor = replace(parameter.rotor, inertia=tree.system.graph.one)
    turn, drive = rotor_reaction(rotor, moved[rotor.link], v[speed], vdot[speed])
    return [(speed, drive), *_projected(reach[rotor.link], Wrench(Vector.zero(tree.system.graph), turn))]


def _reach(tree: Tree) -> list[Reach]:
    """For every link its Jacobian, column by column: what moves its parent, and its own joint."""
    reach: list[Reach] = []
    for link in tree.links:
        below = reach[link.parent] if link.parent >= 0 else []
        reach.append([*((place, link.pose.inv @ V) for place, V in below), *link.columns])
    return reach


def _projected(reach: Reach, wrench: Wrench) -> list[tuple[int, Expr]]:
    """The generalised forces of a wrench on a link: its power when one speed is one."""
    return [(place, dot(V, wrench)) for place, V in reach]
