"""Runs in a process of their own, which can be ended: one that hangs, or crashes, costs itself alone.

The process gets the text of a campaign and the factors of some runs, and tells when it begins a run, and what came of
it. If no run ends for as long as the limit, it is killed. The runs that were under way then go again, one at a time in
a new process, with the limit for each of them alone: only one that exceeds it, or ends the process, is given up. What
is computed twice has the same bits. Code that has to be made does not count.
"""

from __future__ import annotations

import os
import pickle
import queue
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from threading import Lock, Thread, local
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from torseur.campaign.description import Campaign
from torseur.campaign.reader import load_campaign
from torseur.campaign.storage import CAMPAIGN, ROWS, STUDY, channels_bytes, table_bytes, texts_of
from torseur.campaign.work import LATE, Rows, Telling, Work, one_line
from torseur.emit import cache
from torseur.errors import ArgumentError, ModelError, NumericalError
from torseur.extensions import extension_in, named, nameless, register
from torseur.version import __version__

__all__ = ["Guard", "Task", "guarded"]

READY, BEGUN, FILLED, ALIVE, MAKING, OVER, RAISED = range(7)
"""What a process tells: it can begin; it begins a run; what came of some; it goes on; it makes code, or has made it; it
is done; what was raised that is not of a run."""


@dataclass(frozen=True)
class Task:
    """What another process is sent: a campaign, told by its own files.

    Attributes:
        texts: the files by name.
        extensions: modules with kinds of the user's own.
        version: of Torseur; a process that has another one refuses.
        timeout: see `Campaign.timeout`; none: runs do not go in a process of their own.
    """

    texts: tuple[tuple[str, str], ...]
    extensions: tuple[str, ...]
    version: str
    timeout: float | None = None

    @classmethod
    def of(cls, campaign: Campaign, timeout: float | None, extensions: tuple[str, ...] = ()) -> Task:
        """That of a campaign, with the extensions that were named to this process, or others."""
        return cls(tuple(sorted(texts_of(campaign).items())), extensions or named(), __version__, timeout)

    def files(self, k: int) -> tuple[bytes, bytes | None]:
        """The files of a chunk; this is what a worker does."""
        work = self.work()
        if self.timeout is not None:
            work = work.beside(_guard_of(self).compute)
        chunk = work.results(k)
        return table_bytes(chunk), channels_bytes(chunk)

    def work(self) -> Work:
        """The campaign, made ready; it is remembered."""
        if self.version != __version__:
            text = "this worker has another version of Torseur, whose numbers may differ"
            raise ArgumentError(text, expected=self.version, got=__version__, remedy="install the same version on all")
        return _work_of(replace(self, timeout=None))


@lru_cache(maxsize=2)
def _work_of(task: Task) -> Work:
    for name in task.extensions:
        register(extension_in(name))
    other = sorted({name for name, _ in task.texts} - {CAMPAIGN, STUDY, ROWS})
    if other:
        raise ArgumentError(
            "this is not a campaign", expected=f"{CAMPAIGN}, {STUDY}, {ROWS}", got=", ".join(other)[:80]
        )
    with tempfile.TemporaryDirectory(prefix="torseur-") as folder:
        for name, text in task.texts:
            (Path(folder) / name).write_text(text, encoding="utf-8")
        return Work(load_campaign(Path(folder) / CAMPAIGN))


_of_thread = local()


def _guard_of(task: Task) -> Guard:
    """The guard of this thread of a worker; its process ends with the worker."""
    known: Guard | None = getattr(_of_thread, "guard", None)
    if known is None or known.task != task:
        if known is not None:
            known.close()
        known = _of_thread.guard = Guard(task)
    return known


@contextmanager
def guarded(work: Work, task: Task) -> Iterator[Work]:
    """The work with its runs in a process of their own, as long as the block lasts; without a limit as it is."""
    if task.timeout is None:
        yield work
        return
    guard = Guard(task)
    try:
        yield work.beside(guard.compute)
    finally:
        guard.close()


# -- who waits ---------------------------------------------------------------------------------------------------------
class _Ended(Exception):
    """The process is gone: killed because nothing was heard of it, or by itself.

    Args:
        code: how it ended by itself; None if it was killed here.
    """

    def __init__(self, code: int | None) -> None:
        super().__init__(code)
        self.code = code


class Guard:
    """Has runs computed by a process, and ends it when nothing is heard of it for too long."""

    def __init__(self, task: Task) -> None:
        assert task.timeout is not None
        self.task, self.limit = task, task.timeout
        self._child: _Child | None = None

    def close(self) -> None:
        """End the process."""
        if self._child is not None:
            self._child.kill()
            self._child = None

    def compute(self, rows: Rows, first: int, last: int, threads: int) -> None:
        """Fill the rows of runs first to last, without last."""
        waiting = np.arange(first, last) - rows.first
        while len(waiting):
            begun: list[int] = []
            try:
                self._through(rows, waiting, threads, begun)
                return
            except _Ended as end:
                how = end
            left = [k for k in waiting.tolist() if not rows.outcomes[k]]
            suspects = [k for k in begun if not rows.outcomes[k]] or left
            if len(suspects) == 1:
                self._give_up(rows, suspects[0], how)  # nobody was beside it as long as nothing was heard
            else:
                for k in suspects:
                    self._alone(rows, k)
            waiting = np.array(sorted(set(left) - set(suspects)), dtype=np.int64)

    def _alone(self, rows: Rows, k: int) -> None:
        """One run, which is given up where it does not let the process live."""
        try:
            self._through(rows, np.array([k]), 1, [])
        except _Ended as end:
            self._give_up(rows, k, end)

    def _give_up(self, rows: Rows, k: int, end: _Ended) -> None:
        number = rows.first + k
        if end.code is None:
            rows.fail(number, f"{LATE} {self.limit:g} s")
        elif end.code == -getattr(signal, "SIGKILL", 9):  # by somebody else: that is not of the run
            raise NumericalError(
                f"the process of run {number} was killed, by lack of memory perhaps",
                remedy="what was stored is kept; the same command goes on",
            )
        else:
            rows.fail(number, f"the run ended its process ({_how(end.code)})")

    def _through(self, rows: Rows, runs: NDArray[np.int64], threads: int, begun: list[int]) -> None:
        """Runs, by their places in rows, to the end; else `_Ended`, and those that were under way are among `begun`."""
        if self._child is None:
            self._child = _Child(self.task)
        child, making = self._child, 0
        try:
            child.send(({name: column[runs] for name, column in rows.factors.items()}, threads))
            while True:
                kind, told = child.heard(None if making else self.limit)
                if kind == BEGUN:
                    begun.append(int(runs[told]))
                elif kind == FILLED:
                    rows.fill(runs[told[0]], *told[1:])
                elif kind == MAKING:
                    making += told
                elif kind == RAISED:
                    raise told
                elif kind == OVER:
                    return
        except BaseException:
            self.close()
            raise


def _how(code: int) -> str:
    """How a process ended, in words.

    >>> _how(-11), _how(3)
    ('SIGSEGV', 'code 3')
    """
    with suppress(ValueError):
        return signal.Signals(-code).name
    return f"code {code}"


class _Child:
    """A process that computes runs."""

    def __init__(self, task: Task) -> None:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        self._process = subprocess.Popen(
            [sys.executable, "-c", f"from {__name__} import serve; serve()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
        )
        self._told: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()
        Thread(target=self._listen, daemon=True).start()
        try:
            self.send(replace(task, timeout=None))
            kind, told = self.heard(None)  # what takes time before the first run is no run that hangs
        except _Ended as end:
            code = "" if end.code is None else _how(end.code)
            raise NumericalError("the process for runs with a time limit does not begin", got=code) from None
        except BaseException:
            self.kill()
            raise
        if kind == RAISED:
            self.kill()
            if isinstance(told, ModelError) and nameless():
                text, remedy = "another process does not know these kinds", "register(extension_in(MODULE))"
                raise ArgumentError(text, where=", ".join(nameless()), remedy=remedy) from told
            raise told

    def send(self, what: object) -> None:
        assert self._process.stdin is not None
        try:
            pickle.dump(what, self._process.stdin)
            self._process.stdin.flush()
        except OSError:
            raise _Ended(self._process.wait()) from None

    def heard(self, patience: float | None) -> tuple[int, Any]:
        """What it tells next, waited for."""
        try:
            kind, told = self._told.get(timeout=patience)
        except queue.Empty:
            raise _Ended(None) from None
        if kind < 0:
            raise _Ended(self._process.wait())
        return kind, told

    def _listen(self) -> None:
        """Take what it tells; it is gone when there is nothing more."""
        source = self._process.stdout
        assert source is not None
        with suppress(EOFError, OSError, ValueError, pickle.UnpicklingError):
            while True:
                self._told.put(pickle.load(source))
        self._told.put((-1, None))

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                assert stream is not None
                stream.close()


# -- who computes ------------------------------------------------------------------------------------------------------
class _Mouth:
    """Tells what happens, from any thread."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream, self._lock = stream, Lock()

    def tell(self, kind: int, what: object = None) -> None:
        told = pickle.dumps((kind, what))
        with self._lock:
            self._stream.write(told)
            self._stream.flush()


def serve() -> None:
    """Compute runs for the process that started this one, until that one is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the other one, which ends this one
    source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what blocks print is no answer
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    mouth, asked = _Mouth(sink), queue.SimpleQueue[Any]()

    def listen() -> None:
        with suppress(EOFError, OSError, pickle.UnpicklingError):
            while True:
                asked.put(pickle.load(source))
        os._exit(0)

    def making(is_begun: bool) -> None:
        mouth.tell(MAKING, 1 if is_begun else -1)

    Thread(target=listen, daemon=True).start()
    try:
        work = asked.get().work()
        mouth.tell(READY)
        cache.on_making = making
        while True:
            columns, threads = asked.get()
            _answer(work, columns, threads, mouth)
    except BaseException as error:
        mouth.tell(RAISED, _that_travels(error))


def _answer(work: Work, columns: dict[str, NDArray[np.float64]], threads: int, mouth: _Mouth) -> None:
    telling = Telling(
        begun=lambda k: mouth.tell(BEGUN, k),
        filled=lambda *what: mouth.tell(FILLED, what),
        alive=lambda _: mouth.tell(ALIVE),
    )
    work.at(columns).tell_results(telling, threads)
    mouth.tell(OVER)


def _that_travels(error: BaseException) -> Exception:
    """An error, or what it says where it cannot be sent."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return NumericalError(one_line(error) if isinstance(error, Exception) else repr(error))
    return error if isinstance(error, Exception) else NumericalError(repr(error))
