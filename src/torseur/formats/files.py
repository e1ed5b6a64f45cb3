"""Files: read with a bound on their size, written all or nothing."""

from __future__ import annotations

import secrets
from pathlib import Path

from torseur.errors import ArgumentError, ModelError

__all__ = ["LARGEST_FILE", "contents", "replace_file"]

LARGEST_FILE = 5_000_000
"""Bytes."""


def contents(file: Path) -> bytes:
    """What is in a file, of which not more is read than a model can need."""
    try:
        with file.open("rb") as stream:
            data = stream.read(LARGEST_FILE + 1)
    except OSError as error:
        raise ModelError(
            "the file cannot be read", where=str(file), got=error.strerror or type(error).__name__
        ) from error
    if len(data) > LARGEST_FILE:
        raise ModelError("the file is too large for a model", where=str(file), expected=f"at most {LARGEST_FILE} bytes")
    return data


def replace_file(file: Path, data: bytes) -> None:
    """Put data into a file: written beside it first, then moved into its place in one go."""
    target = file.resolve()
    beside = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        try:
            with beside.open("xb") as stream:
                stream.write(data)
            beside.replace(target)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        raise ArgumentError(
            "the file cannot be written", where=str(file), got=error.strerror or type(error).__name__
        ) from error
