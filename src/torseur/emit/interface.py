"""What a caller must know of a compiled function: names and shapes. It is stored beside the code."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from torseur.errors import ArgumentError, CompileError
from torseur.graph.blocks import Role
from torseur.graph.function import Function, reachable

__all__ = ["Argument", "Interface"]


@dataclass(frozen=True)
class Argument:
    """One array of a call; of parameters also which of its numbers the results depend on."""

    name: str
    shape: tuple[int, ...]
    role: Role | None = None
    used: tuple[int, ...] = ()

    @property
    def size(self) -> int:
        return prod(self.shape)

    @property
    def expected(self) -> str:
        """The shapes that are welcome, as a person writes them."""
        return f"(..., {', '.join(map(str, self.shape))})" if self.shape else "a number or an array of any shape"


@dataclass(frozen=True)
class Interface:
    """The arguments and results of a function."""

    name: str
    inputs: tuple[Argument, ...]
    outputs: tuple[Argument, ...]

    @classmethod
    def of(cls, function: Function) -> Interface:
        if not function.outputs:
            raise CompileError(f"'{function.name}' has nothing to compute", expected="at least one output", got="none")
        needed = {node.id for node in reachable(function.results)}
        ins = tuple(
            Argument(b.name, b.shape, b.role, tuple(k for k, x in enumerate(b.symbols) if x.id in needed))
            if b.role is Role.PARAMETER
            else Argument(b.name, b.shape, b.role)
            for b in function.inputs
        )
        outs = tuple(Argument(o.name, o.shape) for o in function.outputs)
        return cls(function.name, ins, outs)

    def to_header(self) -> dict[str, Any]:
        """For the cache."""
        return {
            "name": self.name,
            "inputs": [[a.name, a.shape, a.role.value if a.role else None, a.used] for a in self.inputs],
            "outputs": [[a.name, a.shape] for a in self.outputs],
        }

    @classmethod
    def from_header(cls, header: dict[str, Any]) -> Interface:
        ins = tuple(
            Argument(name, tuple(shape), Role(role), tuple(used)) for name, shape, role, used in header["inputs"]
        )
        outs = tuple(Argument(name, tuple(shape)) for name, shape in header["outputs"])
        return cls(header["name"], ins, outs)

    def fits(self, other: Interface) -> bool:
        """Whether both are for the same arrays; names do not matter to the code."""

        def arrays(arguments: Sequence[Argument]) -> list[tuple[tuple[int, ...], Role | None]]:
            return [(a.shape, a.role) for a in arguments]

        return arrays(self.inputs) == arrays(other.inputs) and arrays(self.outputs) == arrays(other.outputs)

    @property
    def free(self) -> tuple[Argument, ...]:
        """The inputs that are not parameters."""
        return tuple(a for a in self.inputs if a.role is not Role.PARAMETER)

    @property
    def parameters(self) -> tuple[Argument, ...]:
        return tuple(a for a in self.inputs if a.role is Role.PARAMETER)


def ordered(
    name: str,
    arguments: Sequence[Argument],
    given: Sequence[Any],
    named: dict[str, Any],
    options: Collection[str] = (),
) -> list[Any]:
    """Positional and keyword arguments of a call in their order; what the call keeps for itself are its options."""
    names = [a.name for a in arguments]
    unknown = [n for n in named if n not in names]
    twice = [n for n in names[: len(given)] if n in named]
    missing = [n for n in names[len(given) :] if n not in named]
    if unknown or twice or missing or len(given) > len(names):
        faults = [
            *(f"no argument '{n}'" for n in unknown),
            *(f"'{n}' given twice" for n in twice),
            *(f"'{n}' missing" for n in missing),
        ]
        clash = " and ".join(f"'{n}'" for n in missing if n in options)
        raise ArgumentError(
            f"{name} was called with the wrong arguments",
            expected=f"{name}({', '.join(names)})",
            got="; ".join(faults) or f"{len(given)} positional arguments",
            remedy=f"pass {clash} by position: by name, it is the option of the call" if clash else None,
        )
    return [*given, *(named[n] for n in names[len(given) :])]


def batch_shape(
    name: str, arguments: Sequence[Argument], values: Sequence[Any], bound: Sequence[tuple[str, tuple[int, ...]]] = ()
) -> tuple[int, ...]:
    """The common leading shape of a call's arrays, and of those bound before; every wrong one is named."""
    shapes, faults = [], []
    for argument, value in zip(arguments, values, strict=True):
        try:
            array = np.asarray(value)
        except ValueError as error:
            faults.append(f"{argument.name}: {error}")
            continue
        lead = array.ndim - len(argument.shape)
        if array.dtype.kind not in "fiub":
            faults.append(f"{argument.name}: values of type {array.dtype}, expected real numbers")
        elif not np.can_cast(array.dtype, np.float64, "safe"):
            faults.append(f"{argument.name}: {array.dtype}, which a double cannot hold")
        elif lead < 0 or array.shape[lead:] != argument.shape:
            faults.append(f"{argument.name}: shape {array.shape}, expected {argument.expected}")
        else:
            shapes.append((argument.name, array.shape[:lead]))
    if faults:
        raise _refused(name, arguments, faults)
    shapes += bound
    try:
        return np.broadcast_shapes(*(shape for _, shape in shapes))
    except ValueError:
        text = ", ".join(f"{n}: {shape}" for n, shape in shapes)
        raise _refused(name, arguments, [f"batches that do not fit together ({text})"]) from None


def described(value: Any) -> str:
    """What was given as an array for results."""
    if not isinstance(value, np.ndarray):
        return type(value).__name__
    return f"{value.dtype} {value.shape}" + ("" if value.flags.writeable else ", read-only")


def _refused(name: str, arguments: Iterable[Argument], faults: Sequence[str]) -> ArgumentError:
    return ArgumentError(
        f"{name} cannot take these arguments",
        expected=", ".join(f"{a.name} {a.expected}" for a in arguments),
        got="; ".join(faults),
    )
