"""The symbols of a .par file: coordinates, parameters, inputs, and how they are spelled in a description."""

from __future__ import annotations

from collections.abc import Iterable

from torseur.describe.fields import Scalar
from torseur.describe.mechanism import Input, Parameter
from torseur.formats.expressions import Source, Value, legal_name, read_scalar

__all__ = ["Symbols"]


class Symbols:
    """The names met so far. Geometry and inertia come first: what occurs there is a parameter, also in a force."""

    def __init__(self, source: Source, coordinates: Iterable[str], speeds: Iterable[str], notes: list[str]) -> None:
        self.source = source
        self.notes = notes
        self.coordinates = set(coordinates)
        self.parameters: dict[str, Parameter] = {}
        self.inputs: dict[str, Input] = {}
        self.spelling: dict[str, str] = {}
        self._taken = self.coordinates | set(speeds)
        self._spoken = {name: name for name in self.coordinates}

    def rename(self, symbol: str, name: str) -> None:
        """A symbol that stands for something of ours in forces, such as the speed of a joint."""
        self._spoken.setdefault(symbol, name)

    def parameter(self, value: Value, path: str, unit: str | None = None) -> Scalar:
        """A value made of parameters."""
        for symbol in value.names:
            if symbol in self.coordinates:
                what = f"'{symbol}' is a coordinate; a constant belongs here"
                self.source.fault(what, value.place, path)
                return 0.0
            self._declare_parameter(symbol, unit if value.symbol else None)
        return read_scalar(self.source, value, self.spelling, path)

    def place(self, value: Value, path: str, unit: str) -> Scalar:
        """A value made of parameters and, on frames that may, of coordinates."""
        for symbol in value.names:
            if symbol not in self.coordinates:
                self._declare_parameter(symbol, unit if value.symbol else None)
        return read_scalar(self.source, value, self.spelling, path)

    def signal(self, value: Value, path: str, unit: str, description: str) -> Scalar:
        """A value made of parameters, coordinates, speeds and inputs; unknown names are inputs."""
        for symbol in value.names:
            if symbol in self.spelling or symbol in self.coordinates:
                continue
            known = self._spoken.get(symbol)
            self.spelling[symbol] = known or self._spell(symbol)
            if known is None:
                is_alone = value.symbol is not None
                self.inputs[self.spelling[symbol]] = Input(
                    unit=unit if is_alone else None, description=description if is_alone else None
                )
        return read_scalar(self.source, value, self.spelling, path)

    def input(self, symbol: str, unit: str, description: str) -> str:
        """An input named after a symbol."""
        name = self._spell(symbol)
        self.spelling.setdefault(symbol, name)
        self.inputs[name] = Input(unit=unit, description=description)
        return name

    def _declare_parameter(self, symbol: str, unit: str | None) -> None:
        if symbol not in self.spelling:
            self.spelling[symbol] = self._spell(symbol)
        name = self.spelling[symbol]
        known = self.parameters.get(name)
        if known is None or (known.unit is None and unit is not None):
            self.parameters[name] = Parameter(unit=unit)

    def _spell(self, symbol: str) -> str:
        name = legal_name(symbol, self._is_taken)
        if name != symbol:
            self.notes.append(f"the symbol '{symbol}' means something else here; it is called '{name}'")
        return name

    def _is_taken(self, name: str) -> bool:
        return name in self._taken or name in self.parameters or name in self.inputs
