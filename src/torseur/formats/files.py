"""Reading files, bounded."""

from __future__ import annotations

from pathlib import Path

from torseur.errors import ModelError

__all__ = ["LARGEST_FILE", "contents"]

LARGEST_FILE = 5_000_000


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
