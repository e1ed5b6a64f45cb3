"""Code made ahead: by a process beside this one, while this one is on its way to where the code is needed.

LLVM is under one lock for all threads of a process, so a second processor takes a second process. It is forked: it has
all that was derived before. What it makes it leaves in the cache on disk, where this process finds it as it finds the
code of an earlier run; nothing that is computed depends on who made the code.

Two processes share the pieces. Their numbers stand in a pipe, and each number is read by one of the two: the process
beside takes one after the other, this one does so while it waits for a piece that the other has begun.
"""

from __future__ import annotations

import multiprocessing
import os
import select
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress

from torseur.emit import cache

__all__ = ["forked", "made_ahead", "needed"]

Make = Callable[[], object]


@contextmanager
def forked(work: Callable[[], object]) -> Iterator[bool]:
    """A forked process that does some work, ended with the block; False where there is none.

    There is none where a fork is not safe, and where there is one processor. Ctrl-C is for this process alone.
    """
    if sys.platform != "linux" or len(os.sched_getaffinity(0)) < 2:
        yield False
        return
    process = multiprocessing.get_context("fork").Process(target=_deaf, args=(work,))
    with warnings.catch_warnings():  # of threads: those of linear algebra, which take no part in what is done there
        warnings.simplefilter("ignore", DeprecationWarning)
        process.start()
    try:
        yield True
    finally:
        process.terminate()
        process.join()


def _deaf(work: Callable[[], object]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    work()


class _Pieces:
    """What is to be made, by two processes."""

    def __init__(self, pieces: Mapping[str, Make]) -> None:
        self._names, self._makes = list(pieces), list(pieces.values())
        self._todo, todo = os.pipe()
        os.write(todo, bytes(range(len(pieces))))
        os.close(todo)  # reading gives nothing when all are taken
        self._told, self._tell = os.pipe()
        self._settled: set[int] = set()
        """Pieces that need not be waited for: made beside, or taken here."""

    def _take(self) -> int | None:
        number = os.read(self._todo, 1)
        return number[0] if number else None

    # -- the process beside --------------------------------------------------------------------------------------------
    def beside(self) -> None:
        """Make one piece after the other, for as long as there are any and there is somebody to make them for."""
        global _pieces
        _pieces = None
        os.close(self._told)
        parent = os.getppid()
        warnings.simplefilter("ignore")  # who needs a piece that cannot be made, or warns, will hear of it
        while os.getppid() == parent and (number := self._take()) is not None:
            with suppress(Exception):
                self._makes[number]()
            with suppress(BrokenPipeError):
                os.write(self._tell, bytes([number]))

    # -- this process --------------------------------------------------------------------------------------------------
    def begin(self) -> None:
        """The process beside is there: when it ends, reading what it tells gives nothing."""
        os.close(self._tell)

    def close(self) -> None:
        os.close(self._todo)
        os.close(self._told)

    def wait(self, name: str) -> None:
        """Until a piece is made beside, or it is for this process to make it; make others meanwhile."""
        if name not in self._names:
            return
        wanted = self._names.index(name)
        while wanted not in self._settled:
            number = None if self._hear(0.0) else self._take()
            if number is not None:
                self._settled.add(number)
                if number != wanted:
                    with suppress(Exception):
                        self._makes[number]()
            elif wanted not in self._settled:
                self._hear(None)

    def _hear(self, patience: float | None) -> bool:
        """Whether a piece was made beside; if the process has ended, nothing is waited for any more."""
        if not select.select([self._told], [], [], patience)[0]:
            return False
        number = os.read(self._told, 1)
        self._settled |= set(number) if number else set(range(len(self._names)))
        return True


_pieces: _Pieces | None = None


@contextmanager
def made_ahead(pieces: Mapping[str, Make]) -> Iterator[None]:
    """Have pieces of code made beside, for as long as the block lasts; where nothing can be kept on disk, they are not.

    Args:
        pieces: by name, in the order in which they are begun; each is a function that leaves code in the cache.
    """
    global _pieces
    if not cache.is_usable():
        yield
        return
    shared = _Pieces(pieces)
    try:
        with forked(shared.beside) as is_there:
            shared.begin()
            _pieces = shared if is_there else None
            try:
                yield
            finally:
                _pieces = None
    finally:
        shared.close()


def needed(name: str) -> None:
    """Say that a piece of code is needed now; afterwards it is in the cache, or to be made by who needs it."""
    if _pieces is not None:
        _pieces.wait(name)
