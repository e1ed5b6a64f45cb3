"""Every error Torseur raises, in one tree.

::

    TorseurError                  all of ours; catch this one
    ├── GraphError                an expression that cannot be built
    ├── ArgumentError             a call with arguments of the wrong name, shape or type
    ├── CompileError              native or textual code that cannot be produced
    ├── ModelError                a description that is wrong: one or many faults, each with its place
    │   └── MissingValue          parameters without a value where numbers are asked for
    ├── NumericalError            a computation that has no answer at this point
    └── MissingExtra              an optional package that is not installed

    TorseurWarning                all of our warnings
    ├── CacheWarning              the disk cache was refused or could not be used; results are not affected
    └── UnseenWarning             something that a run may miss without knowing

Each error says *what* is wrong, *where* (``file:line`` or the name in the model), what was *expected*, what was *got*
and the *remedy*; the parts that make no sense for a given error are left out of its message.

>>> error = ArgumentError("wrong size", where="argument 'q' of inverse_dynamics", expected="(..., 6)", got="(5,)")
>>> print(error)
wrong size
  where: argument 'q' of inverse_dynamics
  expected: (..., 6)
  got: (5,)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import TypeVar

__all__ = [
    "ArgumentError",
    "CacheWarning",
    "CompileError",
    "GraphError",
    "Location",
    "MissingExtra",
    "MissingValue",
    "ModelError",
    "NumericalError",
    "TorseurError",
    "TorseurWarning",
    "UnseenWarning",
    "choice",
    "written",
]

Location = tuple[str | int, ...]
"""The way to something in a description: fields and names, numbers in lists."""


def written(path: Location) -> str:
    """A path as text.

    >>> written(("bodies", "arm", "shapes", 0))
    'bodies.arm.shapes[0]'
    """
    text = ""
    for step in path:
        word = step if isinstance(step, int) or step.isprintable() else ascii(step)
        text += f"[{word}]" if isinstance(step, int) else f".{word}" if text else str(word)
    return text


class TorseurError(Exception):
    """What went wrong, where, what was expected, what was got, and what to do about it.

    Attributes:
        where: in words.
        location: the way to it in a description, if it is there.
        option: the keyword of the call that the remedy is about; a command line may have another word for it.
        call: the remedy as Python writes it, after the one in words.
    """

    def __init__(
        self,
        what: str,
        *,
        where: str | Location | None = None,
        expected: str | None = None,
        got: str | None = None,
        remedy: str | None = None,
        option: str | None = None,
        call: str | None = None,
    ) -> None:
        super().__init__(what)
        self.what = what
        self.where: str | None = None
        self.location: Location = ()
        if where is not None:
            self.locate(where)
        self.expected = expected
        self.got = got
        self.remedy = remedy
        self.option = option
        self.call = call

    def locate(self, where: str | Location) -> None:
        """Say where it is, in words or by the way to it in a description."""
        self.where = written(where) if isinstance(where, tuple) else where
        self.location = where if isinstance(where, tuple) else ()

    def __str__(self) -> str:
        return self.text()

    def text(self, flags: Mapping[str, str] | None = None) -> str:
        """All that it says; with the flags of a command line, by keyword, in place of what Python writes.

        >>> error = ArgumentError("this needs a frame", remedy="name one", option="frame", call="frame=...")
        >>> print(error.text({"frame": "--frame NAME"}))
        this needs a frame
          remedy: name one: --frame NAME
        """
        remedy = self._remedy(flags)
        parts = (("where", self.where), ("expected", self.expected), ("got", self.got), ("remedy", remedy))
        return "\n  ".join([self.what, *(f"{label}: {text}" for label, text in parts if text is not None)])

    def brief(self) -> str:
        """What is wrong and what to do, in one line.

        >>> ArgumentError("this needs a frame", where="jacobian", remedy="name one").brief()
        'this needs a frame; name one'
        """
        return f"{self.what}; {self.remedy}" if self.remedy else self.what

    def _remedy(self, flags: Mapping[str, str] | None) -> str | None:
        way = self.call if flags is None else flags.get(self.option or "")
        if self.call is None and self.remedy is not None and way is not None:
            return f"{self.remedy} ({way})"
        return ": ".join(part for part in (self.remedy, way) if part is not None) or None

    def __reduce__(self) -> tuple[object, ...]:
        return _restore, (type(self), self.__dict__)


def _restore(kind: type[TorseurError], state: dict[str, object]) -> TorseurError:
    """Rebuild an error that crossed a process border (its constructor takes keywords, which pickle does not)."""
    error = kind.__new__(kind, state["what"])
    error.__dict__.update(state)
    return error


class GraphError(TorseurError, ValueError):
    """An expression that cannot be built: wrong operand, foreign graph, duplicate name."""


class ArgumentError(TorseurError, TypeError, ValueError):
    """A call whose arguments have the wrong name, number, shape or type."""


class CompileError(TorseurError, RuntimeError):
    """Code that could not be generated, compiled or linked."""


class NumericalError(TorseurError, ArithmeticError):
    """A computation without an answer at this point: singular matrix, no convergence, not a number."""


class MissingExtra(TorseurError, ImportError):
    """An optional package that is needed and absent."""

    def __init__(self, package: str, *, extra: str, purpose: str) -> None:
        super().__init__(
            f"{purpose} needs the package '{package}', which is not installed",
            remedy=f"pip install 'torseur[{extra}]'",
        )


class ModelError(TorseurError, ValueError):
    """The faults of a description, collected and reported together.

    >>> faults = [ModelError("no such body", where="arm.yaml:3:5"), ModelError("mass < 0", where="arm.yaml:9:1")]
    >>> print(ModelError.of(faults))
    2 faults
    1. no such body
      where: arm.yaml:3:5
    2. mass < 0
      where: arm.yaml:9:1
    """

    faults: tuple[ModelError, ...] = ()

    @classmethod
    def of(cls, faults: Iterable[ModelError]) -> ModelError:
        """One error out of many; a single fault is returned as it is."""
        listed = tuple(faults)
        if len(listed) == 1:
            return listed[0]
        error = cls(f"{len(listed)} faults")
        error.faults = listed
        return error

    def brief(self) -> str:
        """Of many faults: what each is, then the remedies, none of them twice."""
        if not self.faults:
            return super().brief()
        remedies = [fault.remedy for fault in self.faults if fault.remedy]
        return "; ".join(dict.fromkeys([*(fault.what for fault in self.faults), *remedies]))

    def text(self, flags: Mapping[str, str] | None = None) -> str:
        return "\n".join([super().text(flags), *(f"{k}. {one.text(flags)}" for k, one in enumerate(self.faults, 1))])


class MissingValue(ModelError):
    """Parameters without a value where numbers are asked for."""


Kind = TypeVar("Kind", bound=Enum)


def choice(kind: type[Kind], value: object, where: str, error: type[TorseurError] = ArgumentError) -> Kind:
    """One of an enum, given as itself or by its word; anything else is refused with the words there are.

    >>> from torseur.dynamics.tree.kinematics import Axes
    >>> choice(Axes, "world", "axes")
    <Axes.WORLD: 'world'>
    """
    if isinstance(value, kind):
        return value
    words = {x.value if isinstance(x.value, str) else x.name.lower(): x for x in kind}
    if isinstance(value, str) and value in words:
        return words[value]
    expected = f"{' or '.join(map(repr, words))}, or a {kind.__name__}"
    raise error(f"no such {where}", where=where, expected=expected, got=repr(value))


class TorseurWarning(UserWarning):
    """Base of our warnings."""


class UnseenWarning(TorseurWarning):
    """A run may miss something without knowing: a jump that nobody locates."""


class CacheWarning(TorseurWarning):
    """The disk cache was refused or could not be used; nothing but speed is lost."""
