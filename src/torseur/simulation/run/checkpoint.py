"""A run on its way, in a file from which it goes on as if nothing had happened.

Every part of a run that remembers something gives it with ``memory()`` and takes it back with ``recall()``, as plain
data: mappings, lists, texts, numbers and arrays. Here that becomes a file; nothing in it is ever executed.

>>> memory = {"t": 0.1, "rows": [np.array([1.0, -0.0]), None], "names": {"a": "b"}}
>>> again = unpacked(packed(memory))
>>> again["t"], again["rows"][0], again["rows"][1], again["names"]
(0.1, array([ 1., -0.]), None, {'a': 'b'})
"""

from __future__ import annotations

import io
import json
import os
import time as clock
import warnings
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from torseur.errors import ArgumentError, TorseurWarning
from torseur.formats import replace_file
from torseur.simulation.solvers.problem import Memory
from torseur.simulation.study.study import Study
from torseur.simulation.study.writer import study_text
from torseur.version import __version__

__all__ = ["Checkpoint", "Left", "packed", "read_checkpoint", "unpacked"]

_ARRAY = "array"
"""An array is written as {"array": k}, the k-th of the file; what a run remembers has no key of that name."""


class Checkpoint:
    """Writes what a run remembers, now and then, in place of what it wrote before.

    Args:
        path: the file.
        study: what runs; it must be one that a file can hold.
        folder: where files of its blocks are looked for.
        seconds: at least so much time between two writings.
    """

    def __init__(
        self, path: str | os.PathLike[str], study: Study, folder: Path | None = None, seconds: float = 60.0
    ) -> None:
        if not seconds >= 0.0:
            raise ArgumentError("wrong time between checkpoints", expected="0 s or more", got=repr(seconds))
        self._file, self._seconds = Path(path), seconds
        if not self._file.resolve().parent.is_dir():
            raise ArgumentError("there is no folder for the checkpoint", where=str(self._file))
        self._head = {"torseur": __version__, "study": study_text(study), "folder": str((folder or Path()).resolve())}
        self._last = clock.monotonic()

    def offer(self, memory: Callable[[], Memory]) -> None:
        """Write what `memory` gives, if it is time; a disk that is full does not stop the run."""
        if clock.monotonic() - self._last < self._seconds:
            return
        try:
            replace_file(self._file, packed(self._head | {"run": memory()}))
        except ArgumentError as error:
            warnings.warn(f"no checkpoint is left: {error}", TorseurWarning, stacklevel=2)
        self._last = clock.monotonic()


@dataclass(frozen=True)
class Left:
    """What a checkpoint holds: the text of a study, the folder of its files, what its run remembered."""

    study: str
    folder: Path
    memory: Memory


def read_checkpoint(path: str | os.PathLike[str]) -> Left:
    """What is in a file that a `Checkpoint` wrote."""
    file = Path(path)
    try:
        found = unpacked(file.read_bytes())
        version, left = found["torseur"], Left(found["study"], Path(found["folder"]), found["run"])
    except OSError as error:
        raise ArgumentError(
            "the checkpoint cannot be read", where=str(file), got=error.strerror or type(error).__name__
        ) from error
    except (ValueError, KeyError, TypeError, IndexError, zipfile.BadZipFile) as error:
        raise ArgumentError("this is not a checkpoint, or a damaged one", where=str(file), got=str(error)) from error
    if version != __version__:
        raise ArgumentError(
            "a run goes on only with the version it began with", where=str(file), expected=__version__, got=version
        )
    return left


def packed(memory: Mapping[str, Any]) -> bytes:
    """A memory as the bytes of an .npz file: its arrays, and its structure as JSON."""
    arrays: list[np.ndarray[Any, Any]] = []

    def plain(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            arrays.append(value)
            return {_ARRAY: len(arrays) - 1}
        if isinstance(value, Mapping):
            return {str(name): plain(part) for name, part in value.items()}
        if isinstance(value, (list, tuple)):
            return [plain(part) for part in value]
        return value.item() if isinstance(value, np.generic) else value

    text = json.dumps(plain(memory)).encode("utf-8")
    stream = io.BytesIO()
    named = {f"{_ARRAY}_{k}": array for k, array in enumerate(arrays)}
    np.savez(stream, memory=np.frombuffer(text, dtype=np.uint8), **named)  # type: ignore[arg-type, unused-ignore]
    return stream.getvalue()


def unpacked(data: bytes) -> Memory:
    """The memory in the bytes of a file."""
    with np.load(io.BytesIO(data), allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}

    def whole(value: Any) -> Any:
        if isinstance(value, dict):
            if value.keys() == {_ARRAY}:
                return arrays[f"{_ARRAY}_{value[_ARRAY]}"]
            return {name: whole(part) for name, part in value.items()}
        return [whole(part) for part in value] if isinstance(value, list) else value

    found: Memory = whole(json.loads(arrays["memory"].tobytes()))
    return found
