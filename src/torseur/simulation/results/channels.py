"""Channels of a run: recorded quantities with names and units, and values between recorded instants; and all of a run
but its numbers as plain data: what the files carry beside the columns.
"""

from __future__ import annotations

import itertools
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from torseur.describe.loads import Load
from torseur.errors import ArgumentError
from torseur.formats.yaml.reader import read_yaml
from torseur.formats.yaml.writer import write_yaml

if TYPE_CHECKING:
    from torseur.simulation.results.result import Run

__all__ = [
    "AUDIT",
    "Audit",
    "Channel",
    "Event",
    "Role",
    "frozen_array",
    "interpolated",
    "labels",
    "plain_data",
    "recorded",
    "regrouped",
    "restored",
]

Array = NDArray[np.float64]

_NAME = re.compile(r"[^\W\d][\w.-]*")


class Role(Enum):
    """What a channel is in the run."""

    COORDINATE = "coordinate"
    SPEED = "speed"
    ACCELERATION = "acceleration"
    STATE = "state"  # of a block: a filter, an integral, an armature current
    INPUT = "input"
    OUTPUT = "output"
    FORCE = "force"
    MULTIPLIER = "multiplier"
    ENERGY = "energy"
    AUDIT = "audit"


@dataclass(frozen=True, eq=False)
class Channel:
    """One recorded quantity.

    Attributes:
        name: how the run calls it: letters, digits, ``_ . -``.
        unit: of its values; empty for a pure number.
        meaning: in words.
        values: (nt, ...), read-only; copied unless they already are.
        role: what it is in the run.
    """

    name: str
    unit: str
    meaning: str
    values: Array
    role: Role = Role.OUTPUT

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name) or self.name == "time":
            raise ArgumentError(
                "a channel cannot have this name", expected="letters, digits, _ . - and not 'time'", got=repr(self.name)
            )
        object.__setattr__(self, "values", frozen_array(self.values, f"channel '{self.name}'"))
        if self.values.ndim == 0:
            raise ArgumentError(
                "a channel has a value for every time", where=f"channel '{self.name}'", got="one number"
            )

    def __reduce__(self) -> tuple[object, ...]:
        return Channel, (self.name, self.unit, self.meaning, self.values, self.role)

    @property
    def columns(self) -> dict[str, Array]:
        """Its values as columns of numbers: itself, or name[0] or name[0][0], ... if it is a vector or matrix."""
        shape = self.values.shape[1:]
        if not shape:
            return {self.name: self.values}
        return {self.name + "".join(f"[{i}]" for i in k): self.values[(slice(None), *k)] for k in np.ndindex(*shape)}


@dataclass(frozen=True)
class Event:
    """Something that happened at an instant: time (s), the name of what it happened to, and what, in words."""

    time: float
    name: str
    what: str


@dataclass(frozen=True, eq=False)
class Audit:
    """The balances of a run: a one-line verdict, whether they all hold, how far off each is over time, and a table.

    Attributes:
        verdict: one line.
        holds: whether every balance does.
        channels: the error of each balance over the time of the run.
        table: one row per balance, each name -> number or text.
    """

    verdict: str
    holds: bool = True
    channels: tuple[Channel, ...] = ()
    table: tuple[Mapping[str, Any], ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "table", tuple(plain_data(dict(row), "the table of an audit") for row in self.table))

    def __str__(self) -> str:
        return self.verdict

    def __repr__(self) -> str:
        return f"<Audit: {self.verdict}>"

    def _repr_html_(self) -> str:
        """For notebooks."""
        return str(import_module("torseur.views.notebook").audit_html(self))


def frozen_array(values: ArrayLike, where: str) -> Array:
    """Values as a read-only array of float64: the same one if it is, else a copy."""
    if isinstance(values, np.ndarray) and values.dtype == np.float64 and not values.flags.writeable:
        return values
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ArgumentError("these values are not all numbers", where=where, got=str(error)) from None
    array.flags.writeable = False
    return array


def plain_data(value: Any, where: str) -> Any:
    """Dictionaries, lists, texts and numbers, as a file gives them back; anything else is refused."""
    if isinstance(value, Mapping):
        return {str(k): plain_data(x, where) for k, x in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain_data(x, where) for x in value]
    if isinstance(value, (np.generic, np.ndarray)):
        return plain_data(value.tolist(), where)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise ArgumentError("only plain data can be kept", where=where, expected="texts and numbers", got=repr(value))


def interpolated(t: ArrayLike, time: Array, values: Array, rates: Array | None = None) -> Array:
    """Values at times t: straight lines between the instants, or Hermite cubics where rates are given.

    With s = (t - t0)/h in a step from (x0, x0') to (x1, x1'):
    x = x0 + s (x1 - x0) + s (1 - s) ((1 - s)(h x0' - (x1 - x0)) - s (h x1' - (x1 - x0))).

    Args:
        t: any shape, within the range of time, s.
        time: (nt,), never decreasing; of two equal instants the later one counts.
        values, rates: (nt, ...).

    >>> time = np.array([0.0, 1.0, 2.0])
    >>> interpolated([0.5, 2.0], time, time**3, 3 * time**2)
    array([0.125, 8.   ])
    """
    wanted = np.asarray(t, dtype=float)
    if not ((wanted >= time[0]) & (wanted <= time[-1])).all():
        raise ArgumentError(
            "the run does not cover this time",
            expected=f"{time[0]:g} to {time[-1]:g} s",
            got=f"{wanted.min():g} to {wanted.max():g} s",
        )
    k = np.searchsorted(time, wanted, side="right") - 1
    after = np.minimum(k + 1, len(time) - 1)
    h = time[after] - time[k]
    s = np.where(h > 0.0, (wanted - time[k]) / np.where(h > 0.0, h, 1.0), 0.0)
    h, s = (x.reshape(x.shape + (1,) * (values.ndim - 1)) for x in (np.asarray(h), np.asarray(s)))
    x0, rise = values[k], values[after] - values[k]
    # On an instant the record itself is given, also beside one that is not finite.
    on = np.broadcast_to(s == 0.0, x0.shape)
    with np.errstate(invalid="ignore"):
        between = x0 + s * rise
        if rates is not None and rates.shape == values.shape:
            between = between + s * (1.0 - s) * ((1.0 - s) * (h * rates[k] - rise) - s * (h * rates[after] - rise))
    return np.asarray(np.where(on, x0, between))


VERSION = 1
AUDIT = "audit."
"""Before the names of the audit's channels, which may be those of others."""


def recorded(run: Run) -> dict[str, Channel]:
    """Every channel of a run and of its audit by its name in a file."""
    audit = {f"{AUDIT}{c.name}": c for c in run.audited.channels} if run.audited else {}
    both = audit.keys() & run.channels.keys()
    if both:
        raise ArgumentError("two channels have the same name in the file", where=str(run), got=", ".join(sorted(both)))
    return {**run.channels, **audit}


def labels(run: Run) -> str:
    """One line of JSON."""
    audit = run.audited
    data = {
        "torseur_run": VERSION,
        "mechanism": None if run.mechanism is None else write_yaml(run.mechanism),
        "parameters": dict(run.parameters),
        "channels": [_label(channel) for channel in run.channels.values()],
        "events": [[event.time, event.name, event.what] for event in run.events],
        "complete": run.complete,
        "reason": run.reason,
        "info": dict(run.info),
        "audit": audit
        and {
            "verdict": audit.verdict,
            "holds": audit.holds,
            "channels": [_label(channel) for channel in audit.channels],
            "table": list(audit.table),
        },
    }
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def regrouped(columns: Mapping[str, Array]) -> dict[str, Array]:
    """Columns of numbers as channels again: name[0], name[1], ... side by side, (nt, k)."""
    grouped = itertools.groupby(columns, key=lambda name: name.partition("[")[0])
    groups = {name: [columns[c] for c in group] for name, group in grouped}
    return {name: parts[0] if len(parts) == 1 else np.stack(parts, axis=1) for name, parts in groups.items()}


def restored(
    text: str, time: Array, values: Mapping[str, Array], where: str, loads: Mapping[str, type[Load]]
) -> dict[str, Any]:
    """The fields of the run of these labels and numbers.

    Args:
        text: what `labels` gave.
        time: (nt,), s.
        values: name in the file -> (nt, ...).
        where: the file, for messages.
        loads: the kinds of loads the mechanism may hold.
    """
    try:
        data = json.loads(text)
        if data["torseur_run"] != VERSION:
            raise ArgumentError(
                "a run of another version", where=where, expected=str(VERSION), got=str(data["torseur_run"])
            )
        audit = data["audit"]
        return {
            "mechanism": None if data["mechanism"] is None else read_yaml(data["mechanism"], where, loads=loads),
            "time": time,
            "channels": {label["name"]: _channel(label, values[label["name"]]) for label in data["channels"]},
            "events": tuple(Event(*event) for event in data["events"]),
            "audited": audit
            and Audit(
                audit["verdict"],
                audit["holds"],
                tuple(_channel(label, values[AUDIT + label["name"]]) for label in audit["channels"]),
                tuple(audit["table"]),
            ),
            **{name: data[name] for name in ("parameters", "info", "complete", "reason")},
        }
    except (json.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
        if isinstance(error, ArgumentError):
            raise
        raise ArgumentError("the labels of this run are damaged", where=where, got=repr(error)) from error


def _label(channel: Channel) -> dict[str, Any]:
    shape = channel.values.shape[1:]
    label = {"name": channel.name, "unit": channel.unit, "meaning": channel.meaning, "role": channel.role.value}
    return {**label, "shape": list(shape)} if shape else label


def _channel(label: Mapping[str, Any], values: Array) -> Channel:
    shaped = values.reshape(len(values), *label.get("shape", ()))
    return Channel(label["name"], label["unit"], label["meaning"], shaped, Role(label["role"]))
