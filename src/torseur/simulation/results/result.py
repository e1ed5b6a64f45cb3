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
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from torseur.describe import Mechanism, Variable
from torseur.describe.faults import guess
from torseur.describe.loads import KINDS as LOADS
from torseur.describe.loads import Load
from torseur.errors import ArgumentError
from torseur.formats import replace_file
from torseur.simulation.results import run_files
from torseur.simulation.results.channels import Audit, Channel, Event, Role, frozen_array, interpolated, plain_data
from torseur.simulation.results.indicators import Measure

__all__ = ["ENDINGS", "Run", "open_run"]

Array = NDArray[np.float64]

FORMATS: dict[str, tuple[Callable[[Run], bytes], Callable[..., dict[str, Any]]]] = {
    ".nc": (run_files.netcdf_bytes, run_files.read_netcdf),
    ".csv": (run_files.csv_bytes, run_files.read_csv),
    ".res": (run_files.res_bytes, run_files.read_res),
    ".parquet": (run_files.parquet_bytes, run_files.read_parquet),
}
"""By the ending of a file: what writes a run, and what reads the fields of one. All hold everything a `Run` does and
give it back exactly. A file is made in memory first, since a disk that is full must not meet a library in the middle of
its work, and appears complete or not at all."""

ENDINGS = tuple(FORMATS)


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

        >>> from torseur.simulation.results.result import Run
        >>> Run.from_arrays(arm, [0.0, 1.0], np.zeros((2, 2)), np.zeros((2, 2)))
        <Run planar_2r: 0 to 1 s, 2 instants>
        """
        all_channels = [
            *_labelled(q, [(x.name, x.unit, x.meaning) for x in mechanism.q], Role.COORDINATE),
            *_labelled(v, [(x.name, x.unit, x.meaning) for x in mechanism.v], Role.SPEED),
        ]
        if vdot is not None:
            all_channels += _labelled(vdot, [_acceleration(x) for x in mechanism.v], Role.ACCELERATION)
        if inputs is not None:
            labels = [(n, x.unit or "", x.description or "input") for n, x in mechanism.inputs.items()]
            all_channels += _labelled(inputs, labels, Role.INPUT)
        all_channels += channels
        names = [channel.name for channel in all_channels]
        if len(set(names)) < len(names):
            twice = sorted({n for n in names if names.count(n) > 1})
            raise ArgumentError("two channels have the same name", where=mechanism.name, got=", ".join(twice))
        return cls(mechanism, np.asarray(time, dtype=float), {c.name: c for c in all_channels}, **more)

    # -- what is in it -------------------------------------------------------------------------------------------------
    def __getitem__(self, name: str) -> Array:
        """The values of a channel, (nt, ...); ``"time"`` is the time."""
        return self.time if name == "time" else self.channel(name).values

    def __contains__(self, name: object) -> bool:
        return name == "time" or name in self.channels

    def __len__(self) -> int:
        return len(self.time)

    def channel(self, name: str) -> Channel:
        """A channel by name; one that does not exist is named together with those that sound alike.

        >>> run.channel("theta1").unit
        'rad'
        """
        if name not in self.channels:
            expected, remedy = guess(name, self.channels)
            raise ArgumentError(f"no channel '{name}'", where=str(self), expected=expected, remedy=remedy)
        return self.channels[name]

    def of(self, role: Role) -> tuple[Channel, ...]:
        """The channels of one role, in order.

        >>> from torseur.simulation.results.channels import Role
        >>> [channel.name for channel in run.of(Role.ENERGY)]
        ['kinetic_energy', 'potential_energy']
        """
        return tuple(channel for channel in self.channels.values() if channel.role is role)

    @cached_property
    def q(self) -> Array:
        """The coordinates (nt, nq).

        >>> run.q.shape
        (1001, 2)
        """
        return self._stacked(Role.COORDINATE)

    @cached_property
    def v(self) -> Array:
        """The speeds (nt, nv).

        >>> run.v.shape
        (1001, 2)
        """
        return self._stacked(Role.SPEED)

    @cached_property
    def inputs(self) -> Array:
        """The inputs (nt, number of inputs).

        >>> run.inputs.shape
        (1001, 2)
        """
        return self._stacked(Role.INPUT)

    def _stacked(self, role: Role) -> Array:
        columns = [channel.values for channel in self.of(role)]
        stacked = np.stack(columns, axis=1) if columns else np.empty((len(self.time), 0))
        stacked.flags.writeable = False
        return stacked

    @property
    def name(self) -> str:
        """What the run is called: its study, or else its mechanism.

        >>> run.name
        'planar_2r'
        """
        return str(self.info.get("study") or (self.mechanism.name if self.mechanism else "run"))

    @property
    def start(self) -> Mapping[str, Any]:
        """How the run started: ``from``, the ``values`` of all coordinates and speeds, which of them were ``held``,
        which ``moved`` from what was said of them, and the ``stability`` of a start at rest; empty if it is not known.

        >>> run.start["held"]
        ['theta1', 'theta2']
        """
        return MappingProxyType(dict(self.info.get("start") or {}))

    @property
    def indicators(self) -> Mapping[str, Measure]:
        """What the indicators of the study found, by name; empty if it names none.

        >>> dict(run.indicators)
        {}
        """
        measures = (Measure(**one) for one in self.info.get("indicators") or ())
        return MappingProxyType({one.name: one for one in measures})

    def audit(self) -> Audit:
        """The balances of the run: which hold, which fail, by how much and when.

        >>> run.audit().holds
        True
        """
        if self.audited is None:
            raise ArgumentError("this run has no audit", where=str(self))
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

        >>> float(run.at(0.123)["theta1"].round(4))
        0.1565
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
        """The same run at other times; without its audit, whose verdict was on the original ones.

        >>> len(run.resampled([0.0, 0.5, 1.0]))
        3
        """
        values = self.at(np.atleast_1d(times))
        channels = {name: replace(channel, values=values[name]) for name, channel in self.channels.items()}
        return replace(self, time=np.atleast_1d(np.asarray(times, float)), channels=channels, audited=None)

    # -- elsewhere -----------------------------------------------------------------------------------------------------
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the run to a file, all of it or nothing: .nc (netCDF), .csv, .res (EasyDyn) or .parquet.

        >>> run.save("run.csv")  # doctest: +SKIP
        """
        file = Path(path)
        write, _ = FORMATS[_ending(file, "written")]
        replace_file(file, write(self))

    def to_xarray(self) -> Any:
        """An xarray Dataset: a variable per channel over ``time``, with its unit and meaning.

        >>> run.to_xarray()["theta1"].attrs["units"]
        'rad'
        """
        return run_files.to_xarray(self)

    def to_pandas(self) -> Any:
        """A pandas DataFrame: a column per number, the time (s) as index; units in ``frame.attrs["units"]``.

        >>> run.to_pandas()[["theta1", "theta2"]].shape
        (1001, 2)
        """
        return run_files.to_pandas(self)

    def to_polars(self) -> Any:
        """A polars DataFrame: a column ``time`` (s) and one per number.

        >>> run.to_polars().columns[:3]
        ['time', 'theta1', 'theta2']
        """
        return run_files.to_polars(self)

    # Pictures are a higher layer: they know runs, runs do not know them. The methods below are only another way to
    # call them, so the module is looked up by name when one is called, as the public names of the package are.
    def plot(self, *channels: str, **options: Any) -> Any:
        """Draw the usual figure of the run, or the named channels; see `torseur.views.plots.plot`.

        >>> figure = run.plot("theta1", "theta2")
        >>> len(figure.axes)
        1
        """
        return import_module("torseur.views.plots").plot(self, *channels, **options)

    def animate(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write the motion as a stand-alone page (.html), a GIF or an MP4 film; see `torseur.views.scene.animate`.

        >>> run.animate("run.html")  # doctest: +SKIP
        """
        import_module("torseur.views.scene").animate(self, path, **options)

    def playback(self, **options: Any) -> Any:
        """The motion, played in a notebook; options are those of `animate`, and `height` in pixels.

        >>> run.playback()  # doctest: +ELLIPSIS
        <Playback of ... MB, shown by notebooks>
        """
        return import_module("torseur.views.scene").playback(self, **options)

    def _repr_html_(self) -> str:
        """For notebooks."""
        return str(import_module("torseur.views.notebook").run_html(self))

    def report(self, folder: str | os.PathLike[str], **options: Any) -> Any:
        """Write a report on the run into a folder; see `torseur.views.report.report`.

        >>> run.report("report")  # doctest: +SKIP
        """
        return import_module("torseur.views.report").report(self, folder, **options)


def _run_of(kind: type[Run], parts: Mapping[str, Any]) -> Run:
    return kind(**parts)


def open_run(path: str | os.PathLike[str], *, loads: Mapping[str, type[Load]] = LOADS) -> Run:
    """The run that `Run.save` wrote to a file.

    Args:
        path: the file.
        loads: the kinds of loads its mechanism may hold.

    >>> import tempfile
    >>> from pathlib import Path
    >>> file = Path(tempfile.mkdtemp(), "run.csv")
    >>> run.save(file)
    >>> bool((ts.open_run(file)["theta1"] == run["theta1"]).all())
    True
    """
    file = Path(path)
    _, read = FORMATS[_ending(file, "read")]
    if not file.is_file():
        raise ArgumentError("there is no such file", where=str(file))
    return Run(**read(file, loads))


def _ending(file: Path, done: str) -> str:
    ending = file.suffix.lower()
    if ending not in FORMATS:
        raise ArgumentError(
            f"runs are not {done} in this format",
            where=str(file),
            expected=f"a name that ends in {' or '.join(FORMATS)}",
            got=ending or "no ending",
        )
    return ending


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
