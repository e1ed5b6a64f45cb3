"""The tree of bodies and what closes it: parents, loops, rolling."""

from __future__ import annotations

from collections.abc import Iterator

from torseur.describe.bodies import BASE, WORLD, BaseKind
from torseur.describe.checks.scope import Scope
from torseur.describe.evaluation import topological_order
from torseur.describe.faults import Fault, Location, Severity, cycle_text
from torseur.describe.loads import Motor, PathLoad, Transmission
from torseur.spatial.joints import Quantity

__all__ = ["closures", "driven_coordinates", "parents", "rigid_roots"]


def parents(scope: Scope) -> Iterator[Fault]:
    """Bodies that hang on themselves in the end."""
    bodies = scope.mechanism.bodies
    for cycle in topological_order({name: [body.parent] for name, body in bodies.items()})[1]:
        yield Fault(
            ("bodies", cycle[0], "parent"),
            "bodies that hang on each other in a circle",
            got=cycle_text(cycle),
            remedy="a closed chain is a tree with a cut joint: describe one of its joints under 'loops'",
        )
    if not bodies and scope.mechanism.base.kind is BaseKind.FIXED:
        yield Fault(("bodies",), "there is no body that could move", severity=Severity.NOTE)


def rigid_roots(scope: Scope) -> dict[str, str]:
    """Body -> the body it is rigidly a part of; the world for what is fixed to it."""
    mechanism, coordinates = scope.mechanism, scope.coordinates.keys()
    roots = {WORLD: WORLD, BASE: WORLD if mechanism.base.kind is BaseKind.FIXED else BASE}
    order, _ = topological_order({name: [body.parent] for name, body in mechanism.bodies.items()})
    for name in order:
        body = mechanism.bodies[name]
        is_fixed = body.joint.kind == "fixed" and not mechanism.names_in(body.place) & coordinates
        roots[name] = roots.get(body.parent, body.parent) if is_fixed else name
    return roots


def closures(scope: Scope) -> Iterator[Fault]:
    """Loops, wheels and struts tie two different bodies."""
    roots, frames = rigid_roots(scope), scope.frames
    for path, a, b in _pairs(scope):
        homes = [roots.get(frames[name]) for name in (a, b) if name in frames]
        if len(homes) == 2 and homes[0] == homes[1]:
            body = f"'{frames[a]}'" if frames[a] == frames[b] else f"'{frames[a]}' and '{frames[b]}', fixed together"
            yield Fault(path, "a body tied to itself", got=f"'{a}' and '{b}', both on {body}")
    for name, loop in scope.mechanism.loops.items():
        if (loop.pitch is None) != ("pitch" not in loop.algebra.settings):
            yield Fault(("loops", name), "a screw needs its pitch, and only a screw has one")


def _pairs(scope: Scope) -> Iterator[tuple[Location, str, str]]:
    for name, loop in scope.mechanism.loops.items():
        yield ("loops", name, "between"), *loop.between
    for name, constraint in scope.mechanism.constraints.items():
        if constraint.rolling is not None:
            yield ("constraints", name, "rolling", "wheel"), constraint.rolling.wheel, constraint.rolling.ground
    for name, load in scope.mechanism.loads.items():
        if isinstance(load, PathLoad) and load.between is not None:
            yield ("loads", name, "between"), *load.between


def driven_coordinates(scope: Scope) -> Iterator[Fault]:
    """A coordinate is prescribed or coupled once, and is a motion of its own."""
    driven: dict[str, str] = {}
    for name, constraint in scope.mechanism.constraints.items():
        form = constraint.prescribed or constraint.coupling
        if form is None:
            continue
        path = ("constraints", name, "prescribed" if constraint.prescribed else "coupling", "coordinate")
        if form.coordinate in driven:
            text, got = f"'{form.coordinate}' is already driven", f"constraint '{driven[form.coordinate]}'"
            yield Fault(path, text, got=got, about=form.coordinate)
        driven[form.coordinate] = name
        variable = scope.coordinates.get(form.coordinate)
        if variable is not None and variable.quantity is Quantity.NUMBER:
            text = "a part of a quaternion cannot be driven alone"
            yield Fault(path, text, remedy="use roll, pitch and yaw, or joints about single axes")
    for name, load in scope.mechanism.loads.items():
        if not isinstance(load, (Motor, Transmission)) or load.coordinate not in scope.coordinates:
            continue
        if f"d{load.coordinate}" not in scope.speeds:
            text = f"coordinate '{load.coordinate}' has no speed of its own, which a drive needs"
            expected = "a joint of one motion"
            yield Fault(("loads", name, "coordinate"), text, expected=expected, about=load.coordinate)
