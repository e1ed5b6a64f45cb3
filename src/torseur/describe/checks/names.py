"""Names: each stands for one thing, and what is named exists and may be used there; the tree of bodies and what closes
it: parents, loops, rolling."""

from __future__ import annotations

from collections.abc import Iterator

from torseur.describe.annotations import FormulaUse, NameUse, Symbols, Thing, walk
from torseur.describe.bodies import BASE, WORLD, BaseKind, Frame
from torseur.describe.checks.scope import Scope, fault_without_value
from torseur.describe.evaluation import definitions, topological_order
from torseur.describe.faults import Fault, Location, Severity, cycle_text, guess
from torseur.describe.fields import names_in
from torseur.describe.formulas import Formula
from torseur.describe.loads import Motor, PathLoad, Transmission
from torseur.spatial.joints import Quantity

__all__ = [
    "closures",
    "cycles",
    "double_names",
    "driven_coordinates",
    "parents",
    "rigid_roots",
    "unknown_names",
    "unread_tables",
    "unused_names",
]

_WORDS = {
    Symbols.COORDINATES: "coordinates",
    Symbols.SPEEDS: "speeds",
    Symbols.INPUTS: "inputs",
    Symbols.TIME: "t",
    Symbols.NORMALS: "normal forces",
}


def double_names(scope: Scope) -> Iterator[Fault]:
    """Parameters, quantities, inputs, coordinates, speeds and outputs share their names; so do bodies and frames."""
    first: dict[str, tuple[str, Symbols]] = {}
    for definition in scope.definitions:
        if definition.name not in first:
            first[definition.name] = definition.what, definition.symbols
        elif not definition.symbols == first[definition.name][1] == Symbols.SPEEDS:
            # speeds are named after coordinates, which are reported
            yield _taken(definition.path, definition.name, definition.what, first[definition.name][0])
    for name in scope.mechanism.outputs:
        if name in first:
            yield _taken(("outputs", name), name, "an output", first[name][0])
    yield from _double_frames(scope)


def _double_frames(scope: Scope) -> Iterator[Fault]:
    seen = {WORLD: "the frame that does not move", BASE: "the root body of the tree"}
    for body in scope.mechanism.bodies:
        if body in seen:
            yield _taken(("bodies", body), body, "a body", seen[body])
        seen[body] = "a body"
    tables: list[tuple[Location, dict[str, Frame]]] = [(("base",), scope.mechanism.base.frames)]
    tables += [(("bodies", name), body.frames) for name, body in scope.mechanism.bodies.items()]
    for path, table in tables:
        for frame in table:
            if frame in seen:
                yield _taken((*path, "frames", frame), frame, "a frame", seen[frame])
            seen[frame] = f"a frame of {path[-1]}"


def _taken(path: Location, name: str, what: str, other: str) -> Fault:
    return Fault(
        path, f"the name '{name}' is taken", got=f"{what}, and {other}", remedy="rename one of them", about=name
    )


def unknown_names(scope: Scope) -> Iterator[Fault]:
    """Every name in the description exists, and every formula uses only what it may."""
    for use in walk(scope.mechanism):
        if isinstance(use, NameUse):
            yield from _check_name(scope, use)
        else:
            yield from _check_formula(scope, use)
    yield from _misplaced(scope)


def _check_name(scope: Scope, use: NameUse) -> Iterator[Fault]:
    known = scope.named(use.thing)
    if use.name in known:
        return
    expected, remedy = guess(use.name, known)
    if use.thing is Thing.SPEED and f"d{use.name}" in known:
        expected, remedy = None, f"the speed of coordinate '{use.name}' is 'd{use.name}'"
    if use.thing is Thing.COORDINATE and use.name in scope.speeds:
        expected, remedy = None, f"'{use.name}' is a speed; the coordinate is '{use.name.removeprefix('d')}'"
    if use.thing is Thing.BODY and use.name in scope.frames:
        remedy = (
            f"bodies hang on bodies, not on frames: name its body '{scope.frames[use.name]}' and give the pose in it"
        )
    yield Fault(use.path, f"no {use.thing.value} '{use.name}'", expected=expected, remedy=remedy, about=use.name)


def _check_formula(scope: Scope, use: FormulaUse) -> Iterator[Fault]:
    for name in sorted(use.formula.names - use.local):
        definition = scope.symbols.get(name)
        if definition is None:
            allowed = [*use.local, *(n for n, d in scope.symbols.items() if d.symbols in use.uses)]
            expected, remedy = guess(name, allowed)
            got = use.formula.text[:80]
            remedy = remedy or f"declare '{name}' under parameters or inputs, or write its value"
            yield Fault(use.path, f"unknown name '{name}'", expected=expected, got=got, remedy=remedy, about=name)
        elif definition.symbols not in use.uses:
            words = ", ".join(["parameters", *(word for symbol, word in _WORDS.items() if symbol in use.uses)])
            yield Fault(
                use.path,
                f"'{name}' is {definition.what}; it cannot be used here",
                expected=f"only {words}",
                about=name,
            )
    unknown = list(_check_tables(scope, use))
    yield from unknown
    if not unknown and use.formula.names <= scope.numbers.known.keys() and scope.value(use.formula) is None:
        yield fault_without_value(use.path, use.formula)


def _check_tables(scope: Scope, use: FormulaUse) -> Iterator[Fault]:
    """Tables that a formula looks up exist, with as many variables."""
    tables = scope.mechanism.tables
    for name, count in sorted(use.formula.tables):
        if name not in tables:
            expected, remedy = guess(name, tables)
            yield Fault(
                use.path,
                f"no table '{name}'",
                expected=expected,
                got=use.formula.text[:80],
                remedy=remedy,
                about=name,
            )
        elif tables[name].file is None and len(tables[name].lookup.axes) != count:
            expected = f"{len(tables[name].lookup.axes)}"
            yield Fault(
                use.path,
                f"table '{name}' with a wrong number of variables",
                expected=expected,
                got=str(count),
                about=name,
            )


def unread_tables(scope: Scope) -> Iterator[Fault]:
    """Tables whose numbers are in a file that was not read."""
    for name, table in scope.mechanism.tables.items():
        if table.file is not None:
            text, remedy = "the numbers of this table are in a file, which was not read", "torseur.load reads it"
            yield Fault(("tables", name, "file"), text, got=table.file, remedy=remedy)


def _misplaced(scope: Scope) -> Iterator[Fault]:
    """Places of which the field alone cannot say what they may use."""
    for name, body in scope.mechanism.bodies.items():
        used = scope.mechanism.names_in(body.place) & scope.coordinates.keys()
        if used and body.joint.kind != "fixed":
            yield Fault(
                ("bodies", name, "place"),
                f"the place of a body with a {body.joint.kind} joint depends on {', '.join(sorted(used))}",
                expected="either a joint, or a place that depends on coordinates (free-form kinematics)",
                remedy="make the joint fixed, and write its motion as a step of the place",
            )
    base = scope.mechanism.base
    used = scope.mechanism.names_in(base.place) & ({"t"} | scope.mechanism.inputs.keys())
    if used and base.kind is not BaseKind.MOVING:
        text = f"the place of a {base.kind.value} base depends on {', '.join(sorted(used))}"
        yield Fault(("base", "place"), text, remedy="a base whose motion is given has 'kind: moving'")


def cycles(scope: Scope) -> Iterator[Fault]:
    """Parameters, quantities and coupled coordinates that are defined by themselves in the end."""
    for cycle in definitions(scope.mechanism)[1]:
        table = "parameters" if cycle[0] in scope.mechanism.parameters else "quantities"
        yield Fault((table, cycle[0]), f"circular definition in {table}", got=cycle_text(cycle))
    couplings = {
        coupling.coordinate: (name, coupling.equals)
        for name, constraint in scope.mechanism.constraints.items()
        if (coupling := constraint.coupling) is not None
    }
    followed = {c: equals.names for c, (_, equals) in couplings.items() if isinstance(equals, Formula)}
    for cycle in topological_order(followed)[1]:
        path = ("constraints", couplings[cycle[0]][0], "coupling", "equals")
        yield Fault(path, "the couplings of these coordinates form a cycle", got=cycle_text(cycle))


def unused_names(scope: Scope) -> Iterator[Fault]:
    """Parameters, inputs and tables that nothing uses."""
    everything = list(walk(scope.mechanism))
    used = names_in(scope.mechanism) | {x.name for x in everything if isinstance(x, NameUse)}
    formulas = [use.formula for use in everything if isinstance(use, FormulaUse)]
    looked_up = {name for formula in formulas for name, _ in formula.tables}
    for name in scope.mechanism.tables:
        if name not in looked_up:
            yield Fault(("tables", name), "nothing uses it", severity=Severity.NOTE)
    for table, word in ((scope.mechanism.parameters, "parameters"), (scope.mechanism.inputs, "inputs")):
        for name in table:
            if name not in used:
                yield Fault((word, name), "nothing uses it", severity=Severity.NOTE)


def parents(scope: Scope) -> Iterator[Fault]:
    """Bodies that hang on themselves in the end."""
    bodies = scope.mechanism.bodies
    for cycle in topological_order({name: [body.parent] for name, body in bodies.items()})[1]:
        yield Fault(
            ("bodies", cycle[0], "parent"),
            "the parents of these bodies form a cycle",
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
