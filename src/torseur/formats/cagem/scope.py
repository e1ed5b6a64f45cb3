"""The names of a listing: coordinates, constants, quantities that follow the coordinates, and how they are spelled."""

from __future__ import annotations

from dataclasses import dataclass, field

from torseur.describe.fields import Scalar
from torseur.describe.formulas import Formula
from torseur.describe.mechanism import Parameter
from torseur.formats.cagem.listing import Listing
from torseur.formats.expressions import LONGEST_VALUE, Kind, Token, Value, legal_name, read_scalar

__all__ = ["Scope"]

_MOST_TOKENS = 200_000
TIME = "t"


@dataclass
class Scope:
    """What names mean. Quantities that depend on coordinates are put in place of their names, constants are kept."""

    listing: Listing
    coordinates: dict[str, str]
    notes: list[str]
    parameters: dict[str, Parameter] = field(default_factory=dict)
    spelling: dict[str, str] = field(default_factory=dict)
    _moving: dict[str, bool] = field(default_factory=dict)
    _open: list[str] = field(default_factory=list)
    _budget: int = _MOST_TOKENS

    def __post_init__(self) -> None:
        self.spelling |= self.coordinates
        self._taken = {*self.coordinates.values(), *(f"d{name}" for name in self.coordinates.values())}

    def moves(self, name: str) -> bool:
        """Whether a name depends on coordinates or time."""
        if name in self.coordinates or (name == TIME and TIME not in self.listing.values):
            return True
        if name not in self._moving:
            self._moving[name] = False  # a circle shows when the name is expanded, or as a circle of parameters
            value = self.listing.values.get(name)
            self._moving[name] = value is not None and any(self.moves(other) for other in value.names)
        return self._moving[name]

    def scalar(self, value: Value, path: str) -> Scalar:
        """A value as a number or formula of parameters, coordinates and time."""
        expanded = self.expanded(value, path)
        for name in expanded.names:
            self._declare(name, value, path)
        return read_scalar(self.listing.source, expanded, self.spelling, path)

    def constant(self, name: str) -> Scalar | None:
        """What the listing gives to a name that must not move; none if it gives nothing."""
        value = self.listing.values.get(name)
        if value is None:
            return None
        if self.moves(name):
            got = str(value)[:60]
            self.listing.source.fault(f"'{name}' depends on coordinates or time", value.place, name, got=got)
            return 0.0
        if name in self.spelling:
            return Formula(self.spelling[name])
        return self.scalar(value, name)

    def expanded(self, value: Value, path: str) -> Value:
        """The value with quantities that move written out."""
        written: list[Token] = []
        waiting = list(value.tokens[::-1])
        while waiting:
            token = waiting.pop()
            if not self._is_written_out(token):
                written.append(token)
                continue
            inner = self.listing.values[token.text].tokens
            opening, closing = Token(Kind.MARK, "(", token.place), Token(Kind.MARK, ")", token.place)
            waiting += [closing, *inner[::-1], opening]
            self._budget -= len(inner)
            if self._budget < 0 or len(written) > LONGEST_VALUE:
                remedy = "does a definition use itself?"
                self.listing.source.fault("a value without end", value.place, path, remedy=remedy)
                self.listing.source.stop_if_faulty()
        return Value(tuple(written), value.place)

    def _is_written_out(self, token: Token) -> bool:
        is_defined = token.kind is Kind.NAME and token.text in self.listing.values
        return is_defined and token.text not in self.coordinates and self.moves(token.text)

    def _declare(self, name: str, value: Value, path: str) -> None:
        """Make a name known that a value uses."""
        if name in self._open:
            self.listing.source.fault(f"the definition of '{name}' uses itself", value.place, path)
        if name in self.spelling or (name == TIME and TIME not in self.listing.values):
            return
        if "[" in name and name not in self.listing.values:
            known = f"q[0] to q[{len(self.coordinates) - 1}]" if self.coordinates else "none"
            what = f"'{name}' has no value and is not a coordinate"
            self.listing.source.fault(what, value.place, path, expected=f"coordinates: {known}")
            self.spelling[name] = "pi"
            return
        plain = name.replace("[", "").replace("]", "")
        self.spelling[name] = spelled = legal_name(plain, self.is_taken)
        if spelled != plain:
            self.notes.append(f"the name '{name}' means something else here; it is called '{spelled}'")
        self.parameters[spelled] = Parameter()  # keeps its place in the order while its value is read
        given = self.listing.values.get(name)
        if given is None:
            self.notes.append(f"'{name}' has no value in the listing")
        else:
            self._open.append(name)
            self.parameters[spelled] = Parameter(value=self.scalar(given, name))
            self._open.pop()

    def declare(self, name: str) -> None:
        """A constant of the listing becomes a parameter."""
        value = self.listing.values[name]
        if not self.moves(name):
            self._declare(name, value, name)

    def is_taken(self, name: str) -> bool:
        """Whether a coordinate, speed or parameter has this name."""
        return name in self._taken or name in self.parameters
