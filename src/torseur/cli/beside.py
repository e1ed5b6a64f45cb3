"""Figures drawn by a process of their own, beside the playback.

The process is forked before the run is built, so that it imports what draws and finds its fonts while the run is on its
way. Where a fork is not safe, or there is one processor, there is none, and figures are drawn after the playback.
"""

from __future__ import annotations

import multiprocessing
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

from torseur.emit.ahead import forked
from torseur.errors import TorseurError

__all__ = ["Beside", "process_beside"]


class Beside:
    """A process that waits for one piece of work."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe

    def begin(self, *work: Any) -> bool:
        """Hand the work over; False where it cannot be written into a pipe, and nothing was begun."""
        try:
            self._pipe.send_bytes(pickle.dumps(work))
        except (OSError, pickle.PicklingError, TypeError, AttributeError):
            return False
        return True

    def end(self) -> Any:
        """What came of it."""
        try:
            return self._pipe.recv()
        except (EOFError, OSError) as error:
            raise TorseurError("the process that draws has ended without an answer") from error


@contextmanager
def process_beside(prepare: Callable[[], object], work: Callable[..., Any]) -> Iterator[Beside | None]:
    """A forked process, for as long as it is needed; None where there is none.

    Args:
        prepare: called there at once.
        work: called there with what `Beside.begin` hands over.
    """
    ours, theirs = multiprocessing.Pipe()
    with forked(partial(_serve, ours, theirs, prepare, work)) as is_there:
        theirs.close()
        try:
            yield Beside(ours) if is_there else None
        finally:
            ours.close()


def _serve(ours: Connection, theirs: Connection, prepare: Callable[[], object], work: Callable[..., Any]) -> None:
    ours.close()  # or the end of the other process would not be seen
    with suppress(ImportError):  # what is missing is said when it is needed
        prepare()
    with suppress(EOFError, BrokenPipeError):
        theirs.send(work(*pickle.loads(theirs.recv_bytes())))
