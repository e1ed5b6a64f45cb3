"""Reading CAGeM listings.

T0G[i] is the pose of body i, its centre of mass and its axes, in the world; TrefG[i] is that pose in the frame of body
BodyRef[i]. Both are products of elementary transforms, Trotx, Troty, Trotz, Trotn and Tdisp of the coordinates q[0],
q[1], ..., and of poses defined before. Bodies become free-form: their place depends on coordinates that no joint owns.
EasyDyn's products of inertia are integrals, Ixy = ∫xy dm; ours are entries of the tensor, the opposite.
"""

from __future__ import annotations

import difflib
import re
import warnings
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from torseur.describe.bodies import WORLD, Body, Coordinate
from torseur.describe.fields import Scalar
from torseur.describe.formulas import Formula
from torseur.describe.inertia import CentralInertia, Tensor
from torseur.describe.loads import Effort
from torseur.describe.mechanism import Input, Mechanism
from torseur.describe.place import AxisTurn, Elementary, Place
from torseur.errors import ModelError, TorseurError, TorseurWarning
from torseur.formats.cagem.listing import Listing, Scope, parse
from torseur.formats.expressions import DEEPEST, Kind, Source, Token, Value, minus
from torseur.formats.files import legal_name

__all__ = ["Poses", "Settings", "read_mu", "read_mu_study"]

_ARGUMENTS = {"Trotx": 1, "Troty": 1, "Trotz": 1, "Trotn": 4, "Tdisp": 3}
_MOST_STEPS = 2_000
_MOST_IN_ALL = 20_000


@dataclass(frozen=True)
class Call:
    """One factor of a product: a transform with its arguments."""

    function: str
    arguments: tuple[Value, ...]
    place: int


@dataclass
class Poses:
    """Reads the products of a listing, and remembers what each coordinate does."""

    scope: Scope
    turns: set[str] = field(default_factory=set)
    """Coordinates that are angles: inside a rotation or the argument of a function."""
    moves: set[str] = field(default_factory=set)
    """Coordinates that are lengths: inside a displacement."""
    _total: int = 0
    _are_poses: dict[str, bool] = field(default_factory=dict)

    def is_pose(self, name: str) -> bool:
        """Whether a name of the listing stands for a product: whether what comes first in its value does."""
        seen: dict[str, None] = {}
        while name in self.scope.listing.values and name not in seen and name not in self._are_poses:
            seen[name] = None
            first = next((t for t in self.scope.listing.values[name].tokens if t.text != "("), None)
            name = first.text if first is not None else ""
        self._are_poses |= dict.fromkeys(seen, self._are_poses.get(name, name in _ARGUMENTS))
        return self._are_poses.get(name, name in _ARGUMENTS)

    def steps(self, value: Value, path: str) -> tuple[int | None, tuple[Elementary, ...]]:
        """The steps of a product, and the body it begins with, if it begins with the pose of one."""
        parent = None
        factors = _factors(value.tokens)
        if len(factors) > 1 and len(factors[0]) == 1:
            match = re.fullmatch(r"T0G\[([0-9]+)\]", factors[0][0].text)
            parent = int(match[1]) if match else None
        begin = 0 if parent is None else 1
        calls = [call for factor in factors[begin:] for call in self._calls(factor, value, path, ())]
        self._total += len(calls)
        if len(calls) > _MOST_STEPS or self._total > _MOST_IN_ALL:
            expected = f"at most {_MOST_STEPS} factors, {_MOST_IN_ALL} in the whole listing"
            self.scope.listing.source.fault("a product is too long", value.place, path, expected=expected)
            self.scope.listing.source.stop_if_faulty()
        return parent, tuple(step for call in calls for step in self._elementary(call, path))

    def _calls(self, factor: tuple[Token, ...], value: Value, path: str, inside: tuple[str, ...]) -> list[Call]:
        """The transforms a factor consists of."""
        listing = self.scope.listing
        name = factor[0].text if factor else ""
        if len(factor) == 1 and name in listing.values and name not in inside and len(inside) < 50:
            calls = []
            for part in _factors(listing.values[name].tokens):
                calls += self._calls(part, value, path, (*inside, name))
                if len(calls) > _MOST_STEPS:
                    break
            return calls
        if name in _ARGUMENTS and _is_wrapped(factor[1:]):
            arguments = tuple(Value(part, part[0].place) for part in _split(factor[2:-1], ",") if part)
            if len(arguments) == _ARGUMENTS[name]:
                return [Call(name, arguments, factor[0].place)]
            expected = f"{_ARGUMENTS[name]} arguments"
            listing.source.fault(f"{name} with wrong arguments", factor[0].place, path, expected=expected)
            return []
        got = " ".join(token.text for token in factor)[:60]
        expected = f"a product of {', '.join(_ARGUMENTS)} and poses with a name"
        place = factor[0].place if factor else value.place
        listing.source.fault("not a product of transforms", place, path, expected=expected, got=got or "nothing")
        return []

    def _elementary(self, call: Call, path: str) -> list[Elementary]:
        for argument in call.arguments:
            self._note_use(argument, path, is_angle=call.function != "Tdisp")
        amounts = [self.scope.scalar(argument, path) for argument in call.arguments]
        if call.function == "Tdisp":
            return [
                Elementary.model_validate({f"t{axis}": x}) for axis, x in zip("xyz", amounts, strict=True) if x != 0.0
            ]
        if call.function == "Trotn":
            x, y, z, angle = amounts
            if (x, y, z) == (0.0, 0.0, 0.0):
                self.scope.listing.source.fault("a rotation without an axis", call.place, path, expected="a direction")
            return [Elementary(rn=AxisTurn(axis=(x, y, z), angle=angle))]
        return [Elementary.model_validate({f"r{call.function[-1]}": amounts[0]})]

    def _note_use(self, argument: Value, path: str, *, is_angle: bool) -> None:
        tokens = self.scope.expanded(argument, path).tokens
        functions: list[bool] = []
        for before, token in zip((None, *tokens), tokens, strict=False):
            if token.text == "(":
                functions.append(before is not None and before.kind is Kind.NAME)
            elif token.text == ")" and functions:
                functions.pop()
            elif token.text in self.scope.coordinates:
                (self.turns if is_angle or any(functions) else self.moves).add(token.text)


def _factors(tokens: tuple[Token, ...], depth: int = 0) -> list[tuple[Token, ...]]:
    """The factors of a product, without parentheses round some of them."""
    factors = []
    for part in _split(tokens, "*"):
        if depth < DEEPEST and _is_wrapped(part):
            factors += _factors(part[1:-1], depth + 1)
        else:
            factors.append(part)
    return factors


def _is_wrapped(tokens: tuple[Token, ...]) -> bool:
    """Whether the first token is a parenthesis that the last one closes."""
    depth = 0
    for k, token in enumerate(tokens):
        depth += {"(": 1, ")": -1}.get(token.text, 0)
        if depth <= 0:
            return k > 0 and k == len(tokens) - 1
    return False


def _split(tokens: tuple[Token, ...], mark: str) -> list[tuple[Token, ...]]:
    """Split where a mark stands outside parentheses."""
    parts: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        depth += {"(": 1, ")": -1}.get(token.text, 0)
        if token.text == mark and depth == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    return [tuple(part) for part in parts]


Settings = dict[str, float | str]
"""How the listing wants to be run, by the listing's own names."""

_FLAGS = ("SIMPLIFY", "FORCES", "ANIM", "STATIC", "PLOT", "LATEX", "LATEX_FR", "LATEX_EN")
_TIMES = ("FinalTime", "StepSave", "StepMax")
_SETTINGS = ("title", *_TIMES, *_FLAGS)
_COUNTS = ("nbrdof", "nbrbody", "nbrdep", "nbrcont", "nbrinput")
_DIAGONAL = ("Ixx", "Iyy", "Izz")
_PRODUCTS = ("Ixy", "Ixz", "Iyz")
_BY_BODY = ("T0G", "TrefG", "BodyRef", "mass", *_DIAGONAL, *_PRODUCTS)
_MOST = 1000


def read_mu(text: str | bytes, name: str, where: str = "text") -> Mechanism:
    """The mechanism of a listing.

    Args:
        text: the contents of the file, UTF-8 or latin-1 if they are bytes.
        name: what to call the mechanism.
        where: the name of the file, for messages.
    """
    return read_mu_study(text, name, where)[0]


def read_mu_study(text: str | bytes, name: str, where: str = "text") -> tuple[Mechanism, Settings]:
    """The mechanism of a listing, and how it is to be run: FinalTime, StepSave, StepMax and the flags."""
    source = Source(text, where)
    listing = parse(source)
    source.stop_if_faulty()
    bodies, dof = _count(listing, "nbrbody"), _count(listing, "nbrdof")
    _check_indices(listing, bodies, dof)
    source.stop_if_faulty()
    try:
        mechanism, settings = _assemble(listing, legal_name(name), bodies, dof)
    except ValidationError as error:
        source.stop_if_faulty()
        raise ModelError("the listing cannot be described", where=where, got=str(error)) from error
    except RecursionError:
        raise ModelError("definitions are nested too deeply", where=where) from None
    source.stop_if_faulty()
    return mechanism, settings


def _count(listing: Listing, name: str) -> int:
    value = listing.values.get(name)
    if value is None:
        listing.source.fault(f"'{name}' is missing", 0, expected=f"{name} := number:")
        return 0
    if value.whole is None or not 0 <= value.whole <= _MOST:
        expected = f"an integer from 0 to {_MOST}"
        listing.source.fault(f"'{name}' has a wrong value", value.place, expected=expected, got=str(value)[:60])
        return 0
    return value.whole


def _check_indices(listing: Listing, bodies: int, dof: int) -> None:
    """Every index within the counts, and a pose for every body."""
    source = listing.source
    ranges = {**dict.fromkeys(_BY_BODY, (0, bodies)), "qi": (0, dof), "qdi": (0, dof), "gravity": (1, 4)}
    for stem, (first, stop) in ranges.items():
        for k in listing.indices(stem):
            if not first <= k < stop:
                name = f"{stem}[{k}]"
                expected = f"an index from {first} to {stop - 1}"
                source.fault(f"'{name}' is out of range", listing.places[name], expected=expected)
    posed = {*listing.indices("T0G"), *listing.indices("TrefG")}
    missing = [str(k) for k in range(bodies) if k not in posed]
    if missing:
        got = ", ".join(missing[:20])
        source.fault("bodies without a pose", listing.places.get("nbrbody", 0), expected="T0G or TrefG", got=got)
    for k in sorted(set(listing.indices("T0G")) & set(listing.indices("TrefG"))):
        source.fault(f"body {k} has two poses", listing.places[f"TrefG[{k}]"], expected="T0G or TrefG, not both")
    if "nbrdep" in listing.values and not listing.values["nbrdep"].is_zero:
        place, remedy = listing.places["nbrdep"], "describe the constraints in YAML"
        source.fault("dependent parameters cannot be read", place, expected="nbrdep := 0", remedy=remedy)


def _assemble(listing: Listing, name: str, bodies: int, dof: int) -> tuple[Mechanism, Settings]:
    scope = Scope(listing, {f"q[{k}]": f"q{k}" for k in range(dof)}, [])
    poses = Poses(scope)
    settings = _settings(listing, scope)
    used = [key for value in listing.values.values() for key in value.names if "[" in key and key in listing.values]
    constants = [key for key in listing.values if "[" not in key and key not in (*_SETTINGS, *_COUNTS)]
    for key in dict.fromkeys([*constants, *used]):
        if not poses.is_pose(key):
            scope.declare(key)
    records = {f"body{k}": _body(listing, scope, poses, k, bodies) for k in range(bodies)}
    _check_tree(listing, records)
    gravity = _gravity(listing, scope)
    coordinates = {f"q{k}": _coordinate(scope, poses, k) for k in range(dof)}
    efforts = _efforts(scope, coordinates) if settings.get("FORCES", 0.0) != 0.0 else {}
    content: dict[str, Any] = {
        "name": name,
        "title": settings.get("title"),
        "parameters": scope.parameters,
        "gravity": gravity,
        "coordinates": coordinates,
        "bodies": records,
        "loads": {f"effort_{name}": Effort(coordinate=name, value=Formula(key)) for name, key in efforts.items()},
        "inputs": {key: Input(unit="N" if coordinates[name].unit == "m" else "N m") for name, key in efforts.items()},
        "notes": tuple(scope.notes),
    }
    return Mechanism.model_validate(content), settings


def _efforts(scope: Scope, coordinates: dict[str, Coordinate]) -> dict[str, str]:
    """Coordinate -> the input that acts on it: EasyDyn takes applied efforts from C++ beside the listing."""
    efforts = {name: legal_name(f"f{name[1:]}", scope.is_taken) for name in coordinates}
    if efforts:
        names = ", ".join(efforts.values())
        scope.notes.append(f"FORCES: the efforts on the coordinates are the inputs {names}; a study drives them")
    return efforts


def _settings(listing: Listing, scope: Scope) -> Settings:
    settings: Settings = {}
    for key in _SETTINGS:
        value = listing.values.get(key)
        if value is None:
            continue
        is_text = len(value.tokens) == 1 and value.tokens[0].kind is Kind.STRING
        if is_text and key == "title":
            settings[key] = value.tokens[0].text[1:-1][:500]
            continue
        number, got = None if is_text else _number(scope, value, key), str(value)[:60]
        if number is None:
            listing.source.fault(f"'{key}' is not a number", value.place, key, expected="a number", got=got)
        elif key in _TIMES and not number > 0.0:
            listing.source.fault(f"'{key}' is not a time", value.place, key, expected="more than 0 s", got=got)
        else:
            settings[key] = number
    for key in listing.values:
        if key not in (*_SETTINGS, *_COUNTS) and (near := difflib.get_close_matches(key, _SETTINGS, 1, 0.8)):
            text = f"'{key}' is taken as a constant of the model: did you mean the setting {near[0]}?"
            warnings.warn(text, TorseurWarning, stacklevel=2)
    return settings


def _number(scope: Scope, value: Value, key: str) -> float | None:
    try:
        read = scope.scalar(value, key)
        known = {name: x.value for name, x in scope.parameters.items() if isinstance(x.value, float)}
        return read if isinstance(read, float) else read.value(known)
    except (TorseurError, KeyError):
        return None


def _body(listing: Listing, scope: Scope, poses: Poses, k: int, bodies: int) -> Body:
    relative = f"TrefG[{k}]" in listing.values
    path = f"TrefG[{k}]" if relative else f"T0G[{k}]"
    parent, steps = poses.steps(listing.values[path], path)
    if relative and parent is not None:
        listing.source.fault("a relative pose begins with an absolute one", listing.places[path], path)
    if relative:
        parent = _reference(listing, k, bodies)
    if parent is not None and parent >= bodies:
        listing.source.fault("no such body", listing.places[path], path, expected=f"a body from 0 to {bodies - 1}")
    return Body(
        parent=WORLD if parent is None else f"body{parent}",
        place=Place(steps=steps) if steps else Place(),
        inertia=_inertia(listing, scope, k),
    )


def _reference(listing: Listing, k: int, bodies: int) -> int | None:
    value = listing.values.get(f"BodyRef[{k}]")
    if value is None:
        place, remedy = listing.places[f"TrefG[{k}]"], "say from which body TrefG is seen"
        listing.source.fault(f"'BodyRef[{k}]' is missing", place, remedy=remedy)
        return None
    if value.whole is None or not 0 <= value.whole < bodies:
        expected = f"a body from 0 to {bodies - 1}"
        listing.source.fault("no such body", value.place, f"BodyRef[{k}]", expected=expected, got=str(value)[:60])
        return None
    return value.whole


def _check_tree(listing: Listing, records: dict[str, Body]) -> None:
    for name, record in records.items():
        seen, at = {name}, record.parent
        while at in records and at not in seen:
            seen.add(at)
            at = records[at].parent
        if at == name:
            listing.source.fault(f"the pose of {name} uses itself", listing.places["nbrbody"], name)


def _inertia(listing: Listing, scope: Scope, k: int) -> CentralInertia | None:
    given = {key: scope.constant(f"{key}[{k}]") for key in ("mass", *_DIAGONAL, *_PRODUCTS)}
    absent = [key for key in ("mass", *_DIAGONAL) if given[key] is None]
    if absent:
        scope.notes.append(f"absent, read as zero: {', '.join(f'{key}[{k}]' for key in absent)}")
    if all(value is None for value in given.values()):
        return None
    read: dict[str, Scalar] = {key: 0.0 if value is None else value for key, value in given.items()}
    diagonal = {key[1:]: read[key] for key in _DIAGONAL}
    products = {key[1:]: minus(read[key]) for key in _PRODUCTS}
    return CentralInertia(mass=read["mass"], tensor=Tensor(**diagonal, **products))


def _gravity(listing: Listing, scope: Scope) -> tuple[Scalar, Scalar, Scalar]:
    if not listing.indices("gravity"):
        scope.notes.append("the listing has no gravity")
    x, y, z = (scope.constant(f"gravity[{k}]") or 0.0 for k in (1, 2, 3))
    return (x, y, z)


def _coordinate(scope: Scope, poses: Poses, k: int) -> Coordinate:
    name = f"q[{k}]"
    is_angle, is_length = name in poses.turns, name in poses.moves
    if is_angle and is_length:
        scope.notes.append(f"{name} is used as an angle and as a length; it is taken for an angle")
    unit = "rad" if is_angle else "m" if is_length else None
    start, speed = scope.constant(f"qi[{k}]"), scope.constant(f"qdi[{k}]")
    return Coordinate(start=start, start_speed=speed, unit=unit)
