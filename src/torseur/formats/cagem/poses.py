"""Products of elementary transforms: Trotx, Troty, Trotz, Trotn, Tdisp, and poses defined before."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from torseur.describe.place import AxisTurn, Elementary
from torseur.formats.cagem.listing import Scope
from torseur.formats.expressions import DEEPEST, Kind, Token, Value

__all__ = ["Poses"]

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
            found = []
            for part in _factors(listing.values[name].tokens):
                found += self._calls(part, value, path, (*inside, name))
                if len(found) > _MOST_STEPS:
                    break
            return found
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
                self.scope.listing.source.fault("a rotation about nothing", call.place, path, expected="a direction")
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
    found = []
    for part in _split(tokens, "*"):
        if depth < DEEPEST and _is_wrapped(part):
            found += _factors(part[1:-1], depth + 1)
        else:
            found.append(part)
    return found


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
