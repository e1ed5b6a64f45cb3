"""Controllers outside: who answers an external block, in lockstep with the run or in real time.

=========================  ==========================================================================================
``library:FILE:FUNCTION``  a C function ``void FUNCTION(double t, const double *inputs, double *outputs)``
``process:COMMAND``        a program: it reads lines ``t input input ...`` and answers each with ``output output ...``
``udp:HOST:PORT``          datagrams, see `packet`
=========================  ==========================================================================================

Numbers are handed over exactly, so a controller outside gives the run that the same one inside gives. None of this
stands in a study: a file is data, and nothing in it is executed.
"""

from __future__ import annotations

import ctypes
import ipaddress
import os
import select
import shlex
import socket
import struct
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol

from torseur.describe.faults import guess
from torseur.errors import ArgumentError, NumericalError
from torseur.simulation.blocks import Block
from torseur.simulation.blocks.measuring import External
from torseur.simulation.study.study import Study

__all__ = ["Connection", "Library", "Process", "Udp", "connected", "connections", "packet", "unpacked"]

PATIENCE = 10.0
"""How long an answer is waited for, s."""

MAGIC = b"TSR1"
_HEAD = struct.Struct("<4sIId")


def packet(number: int, t: float, values: Sequence[float]) -> bytes:
    """A datagram: "TSR1", its number and how many values there are (4 bytes each), the time, the values (8 bytes each).

    All numbers are little-endian, the first two without a sign, the others doubles. The answer has the same form and
    the number of what it answers.

    >>> len(packet(1, 0.5, [1.0, 2.0]))
    36
    """
    return _HEAD.pack(MAGIC, number & 0xFFFFFFFF, len(values), t) + struct.pack(f"<{len(values)}d", *values)


def unpacked(data: bytes) -> tuple[int, float, list[float]] | None:
    """Number, time and values of a datagram; None of one that is none of ours."""
    if len(data) < _HEAD.size:
        return None
    magic, number, count, t = _HEAD.unpack_from(data)
    if magic != MAGIC or len(data) != _HEAD.size + 8 * count:
        return None
    return number, t, list(struct.unpack_from(f"<{count}d", data, _HEAD.size))


class Connection(Protocol):
    """Somebody who answers."""

    def __call__(self, t: float, *inputs: float) -> Sequence[float]: ...

    def close(self) -> None: ...


class Library:
    """A function of a shared library.

    Args:
        file: the library.
        function: its name.
        answers: how many numbers it gives.
    """

    def __init__(self, file: Path, function: str, answers: int) -> None:
        try:
            library = ctypes.CDLL(str(file.resolve()))
            self._function = getattr(library, function)
        except (OSError, AttributeError) as error:
            raise ArgumentError("the library cannot be used", where=str(file), got=str(error)) from None
        pointer = ctypes.POINTER(ctypes.c_double)
        self._function.argtypes, self._function.restype = [ctypes.c_double, pointer, pointer], None
        self._answers = (ctypes.c_double * max(1, answers))()
        self._count = answers

    def __call__(self, t: float, *inputs: float) -> Sequence[float]:
        self._function(t, (ctypes.c_double * max(1, len(inputs)))(*inputs), self._answers)
        return list(self._answers[: self._count])

    def close(self) -> None:
        """Nothing to do."""


class Process:
    """A program that answers every line with one line."""

    def __init__(self, command: str, answers: int) -> None:
        self.command, self._count = command, answers
        self._rest = b""  # of what it has said, behind the last line that was read
        try:
            self._process = subprocess.Popen(shlex.split(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        except (OSError, ValueError) as error:
            raise ArgumentError("the program cannot be started", where=command, got=str(error)) from None

    def __call__(self, t: float, *inputs: float) -> Sequence[float]:
        sink = self._process.stdin
        assert sink is not None
        self._hear(0.0)
        if self._rest:
            raise self._strange("an unexpected line", self._rest)
        try:
            sink.write(" ".join(map(repr, (t, *inputs))).encode() + b"\n")
            sink.flush()
        except OSError:
            raise self._silent() from None
        line = self._line()
        try:
            return [float(word) for word in line.split()]
        except ValueError:
            raise self._strange("an answer that is not numbers", line) from None

    def _line(self) -> bytes:
        """The next one, waited for."""
        end = time.monotonic() + PATIENCE
        while b"\n" not in self._rest:
            if not self._hear(end - time.monotonic()):
                raise self._silent()
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    def _hear(self, patience: float) -> bool:
        """Take what the program says, waiting no longer; whether it said something."""
        source = self._process.stdout
        assert source is not None
        if not select.select([source], [], [], max(patience, 0.0))[0]:
            return False
        said = os.read(source.fileno(), 65536)
        self._rest += said
        return bool(said)

    def _silent(self) -> NumericalError:
        return NumericalError(f"no answer of '{self.command}'", got=f"exit code {self._process.poll()}")

    def _strange(self, what: str, said: bytes) -> NumericalError:
        return NumericalError(
            f"{what}, from '{self.command}'",
            expected="one line of numbers for each line it is sent, and nothing else",
            got=repr(said[:60].decode(errors="replace")),
            remedy="diagnostic output belongs on standard error",
        )

    def close(self) -> None:
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with suppress(OSError):  # it may be gone already
                    stream.close()
        try:
            self._process.wait(2.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


class Udp:
    """A peer that answers datagrams.

    Args:
        host, port: where it listens; a machine elsewhere only if `anywhere`.
        answers: how many numbers it gives.
        waits: in lockstep every question waits for its answer; in real time the newest answer there is counts, and
            what was answered last is kept where none came.
    """

    def __init__(self, host: str, port: int, answers: int, *, waits: bool, anywhere: bool = False) -> None:
        self.where, self._count, self._waits = f"{host}:{port}", answers, waits
        try:
            address = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
        except OSError as error:
            raise ArgumentError("no such address", where=self.where, got=str(error)) from None
        if not anywhere and not ipaddress.ip_address(address[4][0]).is_loopback:
            raise ArgumentError(
                "an address of another machine",
                where=self.where,
                expected="one of this machine, such as 127.0.0.1",
                remedy="--allow-network, if that is meant",
            )
        self._socket = socket.socket(address[0], socket.SOCK_DGRAM)
        self._socket.connect(address[4])
        self._socket.settimeout(PATIENCE if waits else 0.0)
        self._number = 0
        self._last: list[float] | None = None
        self.missed = 0
        """Questions that had no answer in time."""

    @property
    def asked(self) -> int:
        """Questions so far."""
        return self._number

    def __call__(self, t: float, *inputs: float) -> Sequence[float]:
        self._number += 1
        with suppress(OSError):  # nobody listens yet
            self._socket.send(packet(self._number, t, inputs))
        found = self._answer() if self._waits else self._newest()
        if found is not None:
            self._last = found
        elif self._waits:
            raise NumericalError(f"no answer from {self.where} within {PATIENCE:g} s")
        else:
            self.missed += 1
        return self._last if self._last is not None else [0.0] * self._count

    def _received(self) -> tuple[int, float, list[float]] | None:
        try:
            found = unpacked(self._socket.recv(65536))
        except OSError:
            return None
        return found if found is not None and len(found[2]) == self._count else (0, 0.0, [])

    def _answer(self) -> list[float] | None:
        while (found := self._received()) is not None:
            if found[0] == self._number & 0xFFFFFFFF:
                return found[2]
        return None

    def _newest(self) -> list[float] | None:
        newest = None
        while (found := self._received()) is not None:
            newest = found[2] or newest
        return newest

    def close(self) -> None:
        self._socket.close()


def connected(study: Study, answering: Mapping[str, Callable[..., Sequence[float]]]) -> Study:
    """The study with somebody behind its external blocks, by name."""
    externals = _externals(study)
    strange = [name for name in answering if name not in externals]
    if strange:
        expected, remedy = guess(strange[0], list(externals))
        raise ArgumentError(f"no external block '{strange[0]}'", where="--connect", expected=expected, remedy=remedy)
    changes = {}
    for field in ("inputs", "blocks"):
        table: dict[str, Block] = dict(getattr(study, field))
        for name in set(table) & set(answering):
            changes[field] = table = {
                **table,
                name: externals[name].connected(_plain(externals[name], answering[name])),
            }
    return study.model_copy(update=changes)


def _externals(study: Study) -> dict[str, External]:
    return {name: b for name, b in (*study.inputs.items(), *study.blocks.items()) if isinstance(b, External)}


def _plain(block: External, function: Callable[..., Sequence[float]]) -> Callable[..., object]:
    """One number where the block has no names for several."""
    return function if block.outputs else lambda t, *inputs: function(t, *inputs)[0]


@contextmanager
def connections(
    study: Study, asked: Mapping[str, str], *, waits: bool = True, anywhere: bool = False
) -> Iterator[dict[str, Connection]]:
    """Open what the command line names, by block; closed in the end.

    Args:
        study: whose external blocks.
        asked: name of a block -> library:FILE:FUNCTION, process:COMMAND or udp:HOST:PORT.
        waits, anywhere: see `Udp`.
    """
    externals, found = _externals(study), dict[str, Connection]()
    try:
        for name, text in asked.items():
            answers = len(externals[name].outputs) or 1 if name in externals else 1
            found[name] = _opened(text, answers, waits, anywhere)
        yield found
    finally:
        for connection in found.values():
            connection.close()


def _opened(text: str, answers: int, waits: bool, anywhere: bool) -> Connection:
    kind, _, rest = text.partition(":")
    first, _, last = rest.rpartition(":")
    if kind == "library" and first and last:
        return Library(Path(first), last, answers)
    if kind == "process" and rest.strip():
        return Process(rest, answers)
    if kind == "udp" and first and last.isdigit() and 0 < int(last) < 65536:
        return Udp(first.strip("[]"), int(last), answers, waits=waits, anywhere=anywhere)
    raise ArgumentError(
        "not a connection",
        where="--connect",
        expected="library:FILE:FUNCTION, process:COMMAND or udp:HOST:PORT",
        got=text,
    )
