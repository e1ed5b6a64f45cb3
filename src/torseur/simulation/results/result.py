"""A run: what a simulation computed, labelled and frozen.

>>> import numpy as np
>>> from torseur.describe import Mechanism
>>> slider = Mechanism(name="slider", bodies={"cart": {"joint": {"kind": "prismatic", "coordinate": "x"}}})
>>> time = np.linspace(0.0, 1.0, 11)
>>> run = Run.from_arrays(slider, time, q=0.5 * time[:, None] ** 2, v=time[:, None])
>>> run["x"][-1], run.channels["dx"].unit, run.q.shape
(np.float64(0.5), 'm/s', (11, 1))
>>> float(run.at(0.25)["x"])
0.03125
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from functools import cached_property
from importlib import import_module
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from torseur.describe import Mechanism, Variable
from torseur.describe.faults import guess
from torseur.errors import ArgumentError
from torseur.simulation.results.interpolation import interpolated

__all__ = ["Audit", "Channel", "Event", "Role", "Run", "open_run"]

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


@dataclass(frozen=True, eq=False)
class Run:
    """The motion of a mechanism over time.

    Attributes:
        mechanism: what moved; none if a file does not say.
        time: (nt,), s, never decreasing; an instant stands twice where a channel jumps.
        channels: name -> `Channel`, in order.
        parameters: the values that were given in place of those of the description.
        events: what happened on the way.
        info: plain facts: study, start, solver, steps, wall time, versions.
        complete: whether the run reached its end; if not, `reason` says why.
        audited: the balances, if they were drawn up.
    """

    mechanism: Mechanism | None
    time: Array
    channels: Mapping[str, Channel]
    parameters: Mapping[str, float] = field(default_factory=dict)
    events: tuple[Event, ...] = ()
    info: Mapping[str, Any] = field(default_factory=dict)
    complete: bool = True
    reason: str | None = None
    audited: Audit | None = None

    def __post_init__(self) -> None:
        time = frozen_array(self.time, "time")
        if time.ndim != 1 or not len(time) or not np.isfinite(time).all() or (np.diff(time) < 0.0).any():
            raise ArgumentError("these are not the times of a run", expected="(nt,) finite and never decreasing")
        audit_channels = self.audited.channels if self.audited else ()
        for channel in (*self.channels.values(), *audit_channels):
            if len(channel.values) != len(time):
                raise ArgumentError(
                    "a channel has a value for every time",
                    where=f"channel '{channel.name}'",
                    expected=f"({len(time)}, ...)",
                    got=str(channel.values.shape),
                )
        for name, value in (
            ("time", time),
            ("channels", MappingProxyType(dict(self.channels))),
            ("parameters", MappingProxyType({n: float(x) for n, x in self.parameters.items()})),
            ("info", MappingProxyType(plain_data(dict(self.info), "the info of a run"))),
            ("events", tuple(self.events)),
        ):
            object.__setattr__(self, name, value)

    def __reduce__(self) -> tuple[object, ...]:
        """What pickle and copy keep: the fields, plainly, out of which a frozen run is made again."""
        parts = {f.name: getattr(self, f.name) for f in fields(self)}
        return _run_of, (type(self), {n: dict(x) if isinstance(x, Mapping) else x for n, x in parts.items()})

    @classmethod
    def from_arrays(
        cls,
        mechanism: Mechanism,
        time: ArrayLike,
        q: ArrayLike,
        v: ArrayLike,
        vdot: ArrayLike | None = None,
        *,
        inputs: ArrayLike | None = None,
        channels: Iterable[Channel] = (),
        **more: Any,
    ) -> Self:
        """A run from the arrays of a solver.

        Args:
            mechanism: what moves; its coordinates, speeds and inputs name the columns.
            time: (nt,), s.
            q, v, vdot: (nt, nq), (nt, nv), (nt, nv).
            inputs: (nt, number of inputs).
            channels: whatever else was recorded.
            more: the other attributes of a `Run`.
        """
        found = [
            *_labelled(q, [(x.name, x.unit, x.meaning) for x in mechanism.q], Role.COORDINATE),
            *_labelled(v, [(x.name, x.unit, x.meaning) for x in mechanism.v], Role.SPEED),
        ]
        if vdot is not None:
            found += _labelled(vdot, [_acceleration(x) for x in mechanism.v], Role.ACCELERATION)
        if inputs is not None:
            labels = [(n, x.unit or "", x.description or "input") for n, x in mechanism.inputs.items()]
            found += _labelled(inputs, labels, Role.INPUT)
        found += channels
        names = [channel.name for channel in found]
        if len(set(names)) < len(names):
            twice = sorted({n for n in names if names.count(n) > 1})
            raise ArgumentError("two channels have one name", where=mechanism.name, got=", ".join(twice))
        return cls(mechanism, np.asarray(time, dtype=float), {c.name: c for c in found}, **more)

    # -- what is in it -------------------------------------------------------------------------------------------------
    def __getitem__(self, name: str) -> Array:
        """The values of a channel, (nt, ...); ``"time"`` is the time."""
        return self.time if name == "time" else self.channel(name).values

    def __contains__(self, name: object) -> bool:
        return name == "time" or name in self.channels

    def __len__(self) -> int:
        return len(self.time)

    def channel(self, name: str) -> Channel:
        """A channel by name; one that does not exist is named together with those that sound alike."""
        if name not in self.channels:
            expected, remedy = guess(name, self.channels)
            raise ArgumentError(f"no channel '{name}'", where=str(self), expected=expected, remedy=remedy)
        return self.channels[name]

    def of(self, role: Role) -> tuple[Channel, ...]:
        """The channels of one role, in order."""
        return tuple(channel for channel in self.channels.values() if channel.role is role)

    @cached_property
    def q(self) -> Array:
        """The coordinates (nt, nq)."""
        return self._stacked(Role.COORDINATE)

    @cached_property
    def v(self) -> Array:
        """The speeds (nt, nv)."""
        return self._stacked(Role.SPEED)

    @cached_property
    def inputs(self) -> Array:
        """The inputs (nt, number of inputs)."""
        return self._stacked(Role.INPUT)

    def _stacked(self, role: Role) -> Array:
        columns = [channel.values for channel in self.of(role)]
        stacked = np.stack(columns, axis=1) if columns else np.empty((len(self.time), 0))
        stacked.flags.writeable = False
        return stacked

    @property
    def name(self) -> str:
        """What the run is called: its study, or else its mechanism."""
        return str(self.info.get("study") or (self.mechanism.name if self.mechanism else "run"))

    @property
    def start(self) -> Mapping[str, Any]:
        """How the run started: ``from``, the ``values`` of all coordinates and speeds, which of them were ``held``,
        which ``moved`` from what was said of them, and the ``stability`` of a start at rest; empty if it is not known.
        """
        return MappingProxyType(dict(self.info.get("start") or {}))

    def audit(self) -> Audit:
        """The balances of the run: which hold, which fail, by how much and when."""
        if self.audited is None:
            raise ArgumentError("this run carries no audit", where=str(self))
        return self.audited

    def __str__(self) -> str:
        ending = "" if self.complete else f", stopped: {self.reason}"
        return f"{self.name}: {self.time[0]:g} to {self.time[-1]:g} s, {len(self)} instants{ending}"

    def __repr__(self) -> str:
        return f"<Run {self}>"

    # -- in between ----------------------------------------------------------------------------------------------------
    def at(self, t: ArrayLike) -> dict[str, Array]:
        """Every channel at other times: coordinates and speeds by cubics where their rates are recorded too, as
        ``d<name>``; all else by straight lines.

        Args:
            t: s, one time or an array of them, within the run. Where an instant stands twice, the later one is meant.
        """
        return {
            name: interpolated(t, self.time, channel.values, self._rate(channel))
            for name, channel in self.channels.items()
        }

    def _rate(self, channel: Channel) -> Array | None:
        next_role = {Role.COORDINATE: Role.SPEED, Role.SPEED: Role.ACCELERATION}.get(channel.role)
        rate = self.channels.get(f"d{channel.name}")
        return None if rate is None or rate.role is not next_role else rate.values

    def resampled(self, times: ArrayLike) -> Run:
        """The same run at other times; without its audit, whose verdict was on the original ones."""
        found = self.at(np.atleast_1d(times))
        channels = {name: replace(channel, values=found[name]) for name, channel in self.channels.items()}
        return replace(self, time=np.atleast_1d(np.asarray(times, float)), channels=channels, audited=None)

    # -- elsewhere -----------------------------------------------------------------------------------------------------
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the run to a file, all of it or nothing: .nc (netCDF), .csv, .res (EasyDyn) or .parquet."""
        from torseur.simulation.results.files import save_run

        save_run(self, path)

    def to_xarray(self) -> Any:
        """An xarray Dataset: a variable per channel over ``time``, with its unit and meaning."""
        from torseur.simulation.results.files.netcdf import to_xarray

        return to_xarray(self)

    def to_pandas(self) -> Any:
        """A pandas DataFrame: a column per number, the time (s) as index; units in ``frame.attrs["units"]``."""
        from torseur.simulation.results.files.frames import to_pandas

        return to_pandas(self)

    # Pictures are a higher layer: they know runs, runs do not know them. The two methods below are only another way to
    # call them, so the module is looked up by name when one is called, as the public names of the package are.
    def plot(self, *channels: str, **options: Any) -> Any:
        """Draw the usual figure of the run, or the named channels; see `torseur.views.plots.plot`."""
        return import_module("torseur.views.plots").plot(self, *channels, **options)

    def animate(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write a stand-alone HTML file that plays the motion; see `torseur.views.scene.animate`."""
        import_module("torseur.views.scene").animate(self, path, **options)


def _run_of(kind: type[Run], parts: Mapping[str, Any]) -> Run:
    return kind(**parts)


def open_run(path: str | os.PathLike[str]) -> Run:
    """The run that `Run.save` wrote to a file."""
    from torseur.simulation.results.files import read_run

    return read_run(path)


# -- arrays and labels -------------------------------------------------------------------------------------------------
def frozen_array(values: ArrayLike, where: str) -> Array:
    """Values as a read-only array of float64: the same one if it is, else a copy."""
    if isinstance(values, np.ndarray) and values.dtype == np.float64 and not values.flags.writeable:
        return values
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ArgumentError("these are not numbers", where=where, got=str(error)) from None
    array.flags.writeable = False
    return array


def _labelled(values: ArrayLike, labels: Sequence[tuple[str, str, str]], role: Role) -> list[Channel]:
    """The columns of an array as channels; copied once, by columns, so that each is contiguous."""
    array = np.array(values, dtype=np.float64, order="F")
    if array.ndim != 2 or array.shape[1] != len(labels):
        raise ArgumentError(
            f"as many columns as there are {role.value}s", expected=f"(nt, {len(labels)})", got=str(array.shape)
        )
    array.flags.writeable = False
    return [Channel(*label, array[:, k], role) for k, label in enumerate(labels)]


def _acceleration(speed: Variable) -> tuple[str, str, str]:
    return f"d{speed.name}", f"{speed.unit}2" if speed.unit.endswith("/s") else "1/s2", f"derivative of {speed.name}"


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
