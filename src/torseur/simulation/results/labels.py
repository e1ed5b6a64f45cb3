"""All of a run but its numbers, as plain data: what the files carry beside the columns."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from torseur.describe.loads import Load
from torseur.errors import ArgumentError
from torseur.formats.yaml.reader import read_yaml
from torseur.formats.yaml.writer import write_yaml
from torseur.simulation.results.channels import Audit, Channel, Event, Role

if TYPE_CHECKING:
    from torseur.simulation.results.result import Run

__all__ = ["AUDIT", "labels", "recorded", "regrouped", "restored"]

VERSION = 1
AUDIT = "audit."
"""Before the names of the audit's channels, which may be those of others."""

Array = NDArray[np.float64]


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
    found = {name: [columns[c] for c in group] for name, group in grouped}
    return {name: parts[0] if len(parts) == 1 else np.stack(parts, axis=1) for name, parts in found.items()}


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
