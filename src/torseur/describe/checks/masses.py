"""Masses: inertias that no body can have, and motions that move no mass."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from torseur.describe.bodies import BASE, Body, Frame
from torseur.describe.checks.scope import Scope
from torseur.describe.constraints import Constraint
from torseur.describe.evaluation import topological_order
from torseur.describe.faults import Fault, Location, Severity
from torseur.describe.fields import names_in
from torseur.describe.formulas import Formula
from torseur.describe.inertia import (
    CentralInertia,
    CompositeInertia,
    Inertia,
    Solid,
    StandardInertia,
    Tensor,
    ten_parameters,
)
from torseur.describe.loads import Motor, Transmission
from torseur.describe.mechanism import Variable
from torseur.errors import TorseurError
from torseur.graph import Graph

__all__ = ["impossible_inertias", "massless_motions"]

Matrix = NDArray[np.float64]

TOLERANCE = 1e-3
"""Of the trace: printed tables are rounded, and a plate is at the very edge of what is possible."""


def impossible_inertias(scope: Scope) -> Iterator[Fault]:
    """Masses are positive, tensors at the centre of mass positive and within the triangle inequality."""
    yield from _impossible(scope, ("base", "inertia"), scope.mechanism.base.inertia)
    for name, body in scope.mechanism.bodies.items():
        yield from _impossible(scope, ("bodies", name, "inertia"), body.inertia)


def _impossible(scope: Scope, path: Location, described: Inertia | None) -> Iterator[Fault]:
    inertia = _of_solids(scope, described)
    if inertia is None:
        return
    field = "M" if isinstance(inertia, StandardInertia) else "mass"
    mass = scope.value(getattr(inertia, field))
    if mass is not None and mass < 0:
        yield Fault((*path, field), "a negative mass", got=f"{mass:g} kg")
        return
    if isinstance(inertia, CentralInertia):
        given = tensor = _matrix(scope, inertia.tensor, ("xx", "yy", "zz", "xy", "xz", "yz"))
    else:
        given = _matrix(scope, inertia, ("XX", "YY", "ZZ", "XY", "XZ", "YZ"))
        moments = scope.values((inertia.MX, inertia.MY, inertia.MZ))
        if mass == 0 and moments is not None and any(moments):
            text = "first moments without mass: right for grouped (base) parameters only"
            yield Fault(path, text, got=f"M = 0, MX MY MZ = {_listed(moments)}", severity=Severity.NOTE)
            return
        tensor = _at_centre(given, mass, moments)
    if given is not None and tensor is not None:
        # Whoever moves in a plane gives the moment about z alone.
        only_z = np.zeros((3, 3))
        only_z[2, 2] = given[2, 2]
        yield from _impossible_tensor(path, tensor, is_planar=np.array_equal(given, only_z))


def _of_solids(scope: Scope, inertia: Inertia | None) -> StandardInertia | CentralInertia | None:
    """What solids add up to; none where they are not numbers."""
    if not isinstance(inertia, (Solid, CompositeInertia)):
        return inertia
    if any(scope.value(Formula(name)) is None for name in names_in(inertia)):
        return None
    g = Graph()
    try:
        ten = ten_parameters(inertia, g, lambda x: g.number(scope.value(x) or 0.0)).ten()
        return StandardInertia(**{k: float(x) for k, x in zip(StandardInertia.model_fields, ten, strict=True)})
    except (TorseurError, ValidationError):  # an impossible size, of which others tell
        return None


def _matrix(scope: Scope, record: Tensor | StandardInertia, names: tuple[str, ...]) -> Matrix | None:
    values = scope.values(tuple(getattr(record, name) for name in names))
    if values is None:
        return None
    xx, yy, zz, xy, xz, yz = values
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def _at_centre(tensor: Matrix | None, mass: float | None, moments: tuple[float, ...] | None) -> Matrix | None:
    """J_G = J_O - (MS.MS I - MS MS') / M."""
    if tensor is None or mass is None or moments is None or mass == 0:
        return tensor if mass == 0 else None
    s = np.array(moments)
    with np.errstate(all="ignore"):  # formulas may give anything
        shift: Matrix = (s @ s * np.eye(3) - np.outer(s, s)) / mass
        return tensor - shift


def _impossible_tensor(path: Location, tensor: Matrix, is_planar: bool) -> Iterator[Fault]:
    size = float(np.max(np.abs(tensor)))
    if size == 0 or not np.isfinite(size):
        return
    if is_planar:
        if tensor[2, 2] < -TOLERANCE * size:
            text = "an impossible inertia: the moment about z at the centre of mass is negative"
            yield Fault(path, text, got=f"{tensor[2, 2]:.6g} kg m2", severity=Severity.WARNING)
        return
    a, b, c = (size * float(x) for x in np.linalg.eigvalsh(tensor / size))
    slack = TOLERANCE * (abs(a) + abs(b) + abs(c))
    got = f"principal moments at the centre of mass {_listed((a, b, c))} kg m2"
    if a < -slack:
        text = "an impossible inertia: a principal moment is negative"
        yield Fault(path, text, got=got, severity=Severity.WARNING)
    elif c > a + b + slack:
        text = "an impossible inertia: no principal moment can be larger than the sum of the other two"
        yield Fault(path, text, got=got, severity=Severity.WARNING)


def _listed(values: tuple[float, ...]) -> str:
    return " ".join(f"{value:.6g}" for value in values)


# -- motions without mass ---------------------------------------------------------------------------------------------


def massless_motions(scope: Scope) -> Iterator[Fault]:
    """Coordinates whose motion moves no mass: the inertia matrix is singular there."""
    users = _users(scope)
    heavy = _with_children(scope, {body for body in (BASE, *scope.mechanism.bodies) if _has_inertia(scope, body)})
    touched, names = _tied(scope)
    touched = _with_children(scope, touched)
    given = _driven(scope) | _with_rotor(scope)
    owners: dict[str, list[Variable]] = {}
    for variable in scope.mechanism.q:
        owner = variable.owner if scope.is_body(variable.owner) else f"coordinate {variable.name}"
        owners.setdefault(owner, []).append(variable)
    for variables in owners.values():
        free = [variable.name for variable in variables if variable.name not in given]
        bodies = {body for name in free for body in users.get(name, ())}
        if free and not bodies & heavy:
            is_tied = bool(bodies & touched) or bool(set(free) & names)
            yield _massless(scope, variables[0], free, bodies, is_tied)
    yield from _thin_tips(scope, given | names, touched)


def _massless(scope: Scope, variable: Variable, free: list[str], bodies: set[str], is_tied: bool) -> Fault:
    names, path = ", ".join(free), scope.variable_path(variable)
    severity = Severity.NOTE if is_tied else Severity.WARNING
    if not bodies:
        if set(free) <= scope.mechanism.names_in([frame.place for _, frame in scope.records(Frame)]):
            text = f"only frames depend on {names}: it has kinematics only, forces do not determine its acceleration"
            return Fault(path, text, remedy="prescribe it if the mechanism is to move", severity=Severity.NOTE)
        text = f"no body depends on {names}: the inertia matrix has a row of zeros"
        return Fault(path, text, remedy="use it in the place of a body, or remove it", severity=severity)
    listed = ", ".join(sorted(bodies)[:6])
    if is_tied:
        text = f"{names} moves no mass (of {listed}, nor of what it carries): constraints must determine it"
        return Fault(path, text, severity=severity)
    text = f"{names} moves no mass (of {listed}, nor of what it carries): the inertia matrix is singular"
    remedy = "give the body an inertia, or its drive one (transmission, motor), or prescribe the motion"
    return Fault(path, text, remedy=remedy, severity=severity)


def _users(scope: Scope) -> dict[str, set[str]]:
    """Coordinate -> the bodies whose pose in their parent depends on it."""
    users: dict[str, set[str]] = {}
    for variable in scope.mechanism.q:
        if scope.is_body(variable.owner):
            users.setdefault(variable.name, set()).add(variable.owner)
    for name, body in scope.mechanism.bodies.items():
        for used in scope.mechanism.names_in(body.place) & scope.coordinates.keys():
            users.setdefault(used, set()).add(name)
    return users


def _with_children(scope: Scope, bodies: set[str]) -> set[str]:
    """The bodies that are in a set, or carry one that is."""
    subtree = set(bodies)
    parents = {name: body.parent for name, body in scope.mechanism.bodies.items()}
    for name in reversed(topological_order({name: [parent] for name, parent in parents.items()})[0]):
        if name in subtree:
            subtree.add(parents[name])
    return subtree


def _has_inertia(scope: Scope, body: str) -> bool:
    """Whether a body has, or may have, some inertia."""
    described = scope.mechanism.base.inertia if body == BASE else scope.mechanism.bodies[body].inertia
    inertia = _of_solids(scope, described)
    if inertia is None:
        return described is not None
    fields = [inertia] if isinstance(inertia, StandardInertia) else [inertia.tensor]
    scalars = [getattr(record, name) for record in fields for name in type(record).model_fields]
    scalars += [] if isinstance(inertia, StandardInertia) else [inertia.mass]
    return any(scope.value(scalar) != 0 for scalar in scalars)


def _driven(scope: Scope) -> set[str]:
    """Coordinates that follow others or time, through couplings of couplings too."""
    forms = [c.prescribed or c.coupling for c in scope.mechanism.constraints.values()]
    return {form.coordinate for form in forms if form is not None}


def _with_rotor(scope: Scope) -> set[str]:
    drives = [load for load in scope.mechanism.loads.values() if isinstance(load, (Motor, Transmission))]
    return {drive.coordinate for drive in drives if scope.value(drive.inertia) != 0}


def _tied(scope: Scope) -> tuple[set[str], set[str]]:
    """The bodies, and the coordinates, that loops and constraints touch."""
    mechanism = scope.mechanism
    frames = [frame for loop in mechanism.loops.values() for frame in loop.between]
    names: set[str] = set()
    for constraint in mechanism.constraints.values():
        frames += _frames_of(constraint)
        if constraint.speeds is not None:
            names |= {scope.speeds[n].rate_of or n for n in constraint.speeds.coefficients if n in scope.speeds}
        names |= mechanism.names_in(constraint.zero)
        names |= mechanism.names_in(constraint.coupling.equals) if constraint.coupling is not None else frozenset()
    return {scope.frames[frame] for frame in frames if frame in scope.frames}, names


def _frames_of(constraint: Constraint) -> list[str]:
    if constraint.rolling is not None:
        return [constraint.rolling.wheel, constraint.rolling.ground]
    return [] if constraint.no_side_slip is None else [constraint.no_side_slip.frame]


def _thin_tips(scope: Scope, given: set[str], touched: set[str]) -> Iterator[Fault]:
    """A body at the end of a chain that turns about an axis on which all its mass lies, or slides without mass."""
    mechanism = scope.mechanism
    busy = touched | {body.parent for body in mechanism.bodies.values()}
    for variable in mechanism.q:
        body = mechanism.bodies.get(variable.owner)
        if body is None or variable.owner in busy or variable.name in given:
            continue
        about_z = body.place.dh is None and body.joint.axis == "z"
        if _has_inertia(scope, variable.owner) and about_z and _felt(scope, body) == 0.0:
            verb = "turns" if body.joint.kind == "revolute" else "slides"
            text = f"{variable.name} {verb} a body without the inertia it feels: the inertia matrix is singular"
            remedy = "give the body an inertia about z (a mass, if it slides), or the drive of the joint"
            yield Fault(("bodies", variable.owner, "inertia"), text, remedy=remedy, severity=Severity.WARNING)


def _felt(scope: Scope, body: Body) -> float | None:
    """What a revolute joint (inertia about z) or a prismatic one (mass) feels of its body, if it is a number."""
    inertia = _of_solids(scope, body.inertia)
    if inertia is None or body.joint.kind not in ("revolute", "prismatic"):
        return None
    if isinstance(inertia, StandardInertia):
        return scope.value(inertia.ZZ if body.joint.kind == "revolute" else inertia.M)
    mass, centre = scope.value(inertia.mass), scope.values(inertia.centre)
    tensor = _matrix(scope, inertia.tensor, ("xx", "yy", "zz", "xy", "xz", "yz"))
    if body.joint.kind == "prismatic" or mass is None:
        return mass
    if tensor is None or centre is None or (tensor.any() and inertia.rpy != (0.0, 0.0, 0.0)):
        return None
    return float(tensor[2, 2]) + mass * (centre[0] * centre[0] + centre[1] * centre[1])
