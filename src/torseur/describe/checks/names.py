"""Names: each stands for one thing, and what is named exists and may be used there."""

from __future__ import annotations

from collections.abc import Iterator

from torseur.describe.bodies import BASE, WORLD, BaseKind
from torseur.describe.checks.fault import Fault, Path, guess
from torseur.describe.checks.scope import Scope, fault_without_value
from torseur.describe.checks.walk import FoundFormula, FoundName, walk
from torseur.describe.formulas import Formula
from torseur.describe.marks import Symbols, Thing

__all__ = ["circles", "double_names", "unknown_names"]

_WORDS = {
    Symbols.COORDINATES: "coordinates",
    Symbols.SPEEDS: "speeds",
    Symbols.INPUTS: "inputs",
    Symbols.TIME: "t",
}


def double_names(scope: Scope) -> Iterator[Fault]:
    """Parameters, inputs, coordinates, speeds and outputs share one space of names; bodies and frames another."""
    first: dict[str, tuple[str, Symbols]] = {}
    for found in scope.definitions:
        if found.name not in first:
            first[found.name] = found.what, found.symbols
        elif not found.symbols == first[found.name][1] == Symbols.SPEEDS:  # named after coordinates, which are reported
            yield _taken(found.path, found.name, found.what, first[found.name][0])
    for name in scope.mechanism.outputs:
        if name in first:
            yield _taken(("outputs", name), name, "an output", first[name][0])
    yield from _double_frames(scope)


def _double_frames(scope: Scope) -> Iterator[Fault]:
    seen = {WORLD: "the frame that does not move", BASE: "the body the tree hangs on"}
    for body in scope.mechanism.bodies:
        if body in seen:
            yield _taken(("bodies", body), body, "a body", seen[body])
        seen[body] = "a body"
    carriers = [(("base",), scope.mechanism.base), *((("bodies", n), b) for n, b in scope.mechanism.bodies.items())]
    for path, carrier in carriers:
        for frame in carrier.frames:
            if frame in seen:
                yield _taken((*path, "frames", frame), frame, "a frame", seen[frame])
            seen[frame] = f"a frame of {path[-1]}"


def _taken(path: Path, name: str, what: str, other: str) -> Fault:
    return Fault(path, f"the name '{name}' is taken", got=f"{what}, and {other}", remedy="rename one of them")


def unknown_names(scope: Scope) -> Iterator[Fault]:
    """Every name in the description exists, and every formula uses only what it may."""
    for found in walk(scope.mechanism):
        if isinstance(found, FoundName):
            yield from _check_name(scope, found)
        else:
            yield from _check_formula(scope, found)
    yield from _misplaced(scope)


def _check_name(scope: Scope, found: FoundName) -> Iterator[Fault]:
    known = {
        Thing.COORDINATE: list(scope.coordinates),
        Thing.SPEED: list(scope.speeds),
        Thing.FRAME: list(scope.frames),
        Thing.BODY: list(scope.bodies),
    }[found.thing]
    if found.name in known:
        return
    expected, remedy = guess(found.name, known)
    if found.thing is Thing.SPEED and f"d{found.name}" in known:
        expected, remedy = None, f"the speed of coordinate '{found.name}' is 'd{found.name}'"
    if found.thing is Thing.BODY and found.name in scope.frames:
        remedy = f"a frame carries nothing; name its body '{scope.frames[found.name]}' and write the place in it"
    yield Fault(found.path, f"no {found.thing.value} '{found.name}'", expected=expected, remedy=remedy)


def _check_formula(scope: Scope, found: FoundFormula) -> Iterator[Fault]:
    for name in sorted(found.formula.names):
        definition = scope.symbols.get(name)
        if definition is None:
            allowed = [n for n, d in scope.symbols.items() if d.symbols in found.uses]
            expected, remedy = guess(name, allowed)
            yield Fault(found.path, f"unknown name '{name}'", expected=expected, got=found.formula.text[:80], remedy=remedy)
        elif definition.symbols not in found.uses:
            words = ", ".join(["parameters", *(word for symbol, word in _WORDS.items() if symbol in found.uses)])
            yield Fault(found.path, f"'{name}' is {definition.what}; it cannot be used here", expected=f"only {words}")
    if found.formula.names <= scope.numbers.keys() and scope.value(found.formula) is None:
        yield fault_without_value(found.path, found.formula)


def _misplaced(scope: Scope) -> Iterator[Fault]:
    """Places of which the field alone cannot say what they may use."""
    for name, body in scope.mechanism.bodies.items():
        used = _used(scope, body.place) & scope.coordinates.keys()
        if used and body.joint.kind != "fixed":
            yield Fault(
                ("bodies", name, "place"),
                f"the place of a body with a {body.joint.kind} joint depends on {', '.join(sorted(used))}",
                expected="either a joint, or a place that depends on coordinates (free-form kinematics)",
                remedy="make the joint fixed, and write its motion as a step of the place",
            )
    base = scope.mechanism.base
    used = _used(scope, base.place) & ({"t"} | scope.mechanism.inputs.keys())
    if used and base.kind is not BaseKind.MOVING:
        text = f"the place of a {base.kind.value} base depends on {', '.join(sorted(used))}"
        yield Fault(("base", "place"), text, remedy="a base whose motion is given has 'kind: moving'")


def _used(scope: Scope, place: object) -> set[str]:
    from torseur.describe.fields import names_in

    return set(names_in(place))


def circles(scope: Scope) -> Iterator[Fault]:
    """Parameters, and coupled coordinates, that are defined by themselves in the end."""
    parameters = {
        name: parameter.value.names
        for name, parameter in scope.mechanism.parameters.items()
        if isinstance(parameter.value, Formula)
    }
    for circle in _circles(parameters):
        text = " -> ".join((*circle, circle[0]))
        yield Fault(("parameters", circle[0]), "parameters defined in a circle", got=text)
    couplings = {
        constraint.coupling.coordinate: (name, constraint.coupling.equals)
        for name, constraint in scope.mechanism.constraints.items()
        if constraint.coupling is not None
    }
    needs = {c: e.names for c, (_, e) in couplings.items() if isinstance(e, Formula)}
    for circle in _circles(needs):
        text = " -> ".join((*circle, circle[0]))
        path = ("constraints", couplings[circle[0]][0], "coupling", "equals")
        yield Fault(path, "coordinates that follow each other in a circle", got=text)


def _circles(needs: dict[str, frozenset[str]]) -> Iterator[tuple[str, ...]]:
    """The circles of a table name -> names it needs, each once."""
    done: set[str] = set()
    for start in needs:
        way: list[str] = []
        stack = [(start, iter(sorted(needs[start])))] if start not in done else []
        while stack:
            name, rest = stack[-1]
            if name not in way:
                way.append(name)
            following = next((n for n in rest if n in needs and n not in done), None)
            if following is None:
                done.add(name)
                way.remove(name)
                stack.pop()
            elif following in way:
                yield tuple(way[way.index(following) :])
            else:
                stack.append((following, iter(sorted(needs[following]))))
