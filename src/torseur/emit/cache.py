"""Compiled code kept on disk, and facts about it, so that a warm start compiles nothing and derives nothing.

The cache holds code that will be executed, so it is only used where nobody else could have written: its directory, its
files and every directory above must belong to this user (or to root) and be closed to writing by others. Anything that
is wrong with it (refused, unwritable, corrupt, full disk) costs time, never a result.

============================  =================================================================================
``TORSEUR_CACHE``             where it is; ``off`` for none. Default: the user's cache directory
``TORSEUR_CACHE_LIMIT``       bytes it may take (default 512 MiB); what was used longest ago goes first
============================  =================================================================================

An entry is a file: a magic word, the SHA-256 of its key and the rest, the length of a JSON header, the header, the
code or, pickled, the facts: both can do what the user can, so both are kept where nobody else can write. It is written
beside its place and moved there in one step: readers see all of it or nothing. One that cannot be used after all, or
that stands under another key than its own, is removed and made again.

Of several processes that need what is not there, one makes it and the others wait: a file beside the entry is locked by
who makes it. The lock goes with the process that holds it, so nobody waits for one that was killed.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import pickle
import stat
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, TypeVar

from torseur.emit.jit import host
from torseur.errors import CacheWarning, CompileError
from torseur.graph.collecting import collector_at_rest

try:
    import fcntl
except ImportError:  # Windows: every process makes what it needs
    fcntl = None  # type: ignore[assignment]

__all__ = [
    "CacheInfo",
    "cache_info",
    "cache_key",
    "clear_cache",
    "is_usable",
    "load",
    "remembered",
    "save",
    "sources_digest",
    "used",
]

_MAGIC = b"torseur2"
_SUFFIX = ".code"
_LIMIT = 512 * 1024 * 1024
_LOCK = ".lock"
_STALE = 3600.0  # seconds after which a half-written file, or a lock, is nobody's any more
_PATIENCE = 600.0  # seconds that one process waits for what another one makes, before it makes its own
_OFF = "switched off by TORSEUR_CACHE"
_warned: set[str] = set()
_written: dict[Path, int] = {}
"""Bytes that this process has added to a directory since it last looked at all of it."""

Used = TypeVar("Used")


@dataclass(frozen=True)
class CacheInfo:
    """The state of the cache; `reason` says why it is not usable."""

    path: Path | None
    entries: int
    bytes: int
    limit: int
    usable: bool
    reason: str | None


def _directory() -> Path | None:
    given = os.environ.get("TORSEUR_CACHE")
    if given is not None and given.strip().lower() in ("", "off", "0", "none"):
        return None
    if given:
        return Path(given).expanduser().absolute()
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME", ""))
        if not base.is_absolute():  # as the XDG specification asks
            base = Path.home() / ".cache"
    return base / "torseur"


def _limit() -> int:
    given = os.environ.get("TORSEUR_CACHE_LIMIT", "")
    try:
        limit = int(given) if given.strip() else _LIMIT
        if limit < 0:
            raise ValueError(given)
        return limit
    except ValueError:
        _warn(f"TORSEUR_CACHE_LIMIT is not a number of bytes: {given!r}; {_LIMIT} is taken")
        return _LIMIT


def _distrust(path: Path) -> str | None:
    """Why code found in a directory could have been written by someone else; None if it could not.

    Every directory and every link on the way is looked at: who can change one of them decides what is at its end.
    """
    if not hasattr(os, "geteuid"):
        return None  # Windows: the user's profile is closed to others by its access lists
    mine, here, links = os.geteuid(), Path(path.anchor), 0
    todo = list(reversed(path.parts))
    while todo:
        part = todo.pop()
        place = here.parent if part == ".." else here / part
        info = place.lstat()
        if info.st_uid not in (mine, 0):
            return f"{place} belongs to another user"
        if stat.S_ISLNK(info.st_mode):
            links += 1
            if links > 40:
                return f"{path} is a circle of links"
            todo += reversed(Path(os.readlink(place)).parts)
            continue
        if not stat.S_ISDIR(info.st_mode):
            return f"{place} is not a directory"
        if info.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and (not todo or not info.st_mode & stat.S_ISVTX):
            return f"{place} can be written by other users"
        here = place
    return None if info.st_uid == mine else f"{here} belongs to another user"


def _open_directory(*, create: bool) -> tuple[Path | None, str | None]:
    """The directory, and why it cannot be used, if so."""
    path = None
    try:
        path = _directory()
        if path is None:
            return None, _OFF
        if create:
            for place in reversed([path, *path.parents]):
                if not place.exists():
                    place.mkdir(mode=0o700, exist_ok=True)
        return (path.resolve(), _distrust(path)) if path.exists() else (path, None)
    except (OSError, RuntimeError) as error:
        return path, str(error)


def _usable(*, create: bool = False) -> Path | None:
    path, reason = _open_directory(create=create)
    if reason is None:
        return path
    if reason is not _OFF:
        _warn(f"the cache of compiled code is not used: {reason}")
    return None


def is_usable() -> bool:
    """Whether what is made now will be found by another process."""
    return _usable(create=True) is not None


def _warn(text: str) -> None:
    """Each thing once."""
    if text not in _warned:
        _warned.add(text)
        warnings.warn(text, CacheWarning, stacklevel=5)


def load(key: str) -> tuple[dict[str, Any], bytes] | None:
    """The header and the code stored under a key, if they are there, whole, and ours."""
    directory = _usable()
    if directory is None:
        return None
    path = directory / (key + _SUFFIX)
    content = _read_private(path)
    entry = None if content is None else _decoded(key, content)
    if entry is None and content is not None:
        _discard(path)
    elif entry is not None:
        with contextlib.suppress(OSError):
            os.utime(path)
    return entry


def _read_private(path: Path) -> bytes | None:
    """What is in a file, unless someone else could have written it."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0))
    except OSError:
        return None
    try:
        info = os.fstat(descriptor)
        foreign = hasattr(os, "geteuid") and (info.st_uid != os.geteuid() or info.st_mode & 0o022)
        if foreign or not stat.S_ISREG(info.st_mode):
            return None
        with open(descriptor, "rb", closefd=False) as file:
            return file.read()
    except OSError:
        return None
    finally:
        os.close(descriptor)


def _digest(key: str, rest: bytes) -> bytes:
    return hashlib.sha256(key.encode() + rest).digest()


def _decoded(key: str, content: bytes) -> tuple[dict[str, Any], bytes] | None:
    magic, digest, rest = content[:8], content[8:40], content[40:]
    if magic != _MAGIC or _digest(key, rest) != digest:
        return None
    length = int.from_bytes(rest[:8], "little")
    try:
        header = json.loads(rest[8 : 8 + length])
    except ValueError:
        return None
    return (header, rest[8 + length :]) if isinstance(header, dict) else None


def _discard(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()


def used(
    key: str, use: Callable[[dict[str, Any], bytes], Used], make: Callable[[], tuple[dict[str, Any], bytes]]
) -> Used:
    """What `use` gives for the header and code under a key: those that are stored, if it can use them, else new ones.

    Whatever is stored, wrong content included, costs time only.
    """
    found = _stored(key, use)
    if found is not None:
        return found[0]
    on_making(True)
    try:
        with _turn(key) as others:
            found = _stored(key, use) if others else None
            if found is not None:
                return found[0]
            with collector_at_rest():
                fresh = make()
            save(key, *fresh)
        return use(*fresh)
    finally:
        on_making(False)


def _nobody(is_begun: bool) -> None:
    """Nobody wants to know."""


on_making: Callable[[bool], object] = _nobody
"""Called when something begins to be made that is not stored, and when that is over, for who looks at the clock."""


def _stored(key: str, use: Callable[[dict[str, Any], bytes], Used]) -> tuple[Used] | None:
    """What `use` gives for what is stored under a key; None where it cannot use it, or nothing is stored."""
    stored = load(key)
    if stored is None:
        return None
    try:
        return (use(*stored),)
    except (CompileError, LookupError, TypeError, ValueError, AttributeError):
        directory = _usable()
        if directory is not None:
            _discard(directory / (key + _SUFFIX))
    return None


@contextlib.contextmanager
def _turn(key: str) -> Iterator[bool]:
    """The turn to make what is under a key, once nobody else makes it; whether somebody did until now.

    Where nothing can be locked, or who holds the lock takes very long, nobody is waited for.
    """
    directory, lock, others, end = _usable(create=True), None, False, time.monotonic() + _PATIENCE
    if directory is not None and fcntl is not None:
        with contextlib.suppress(OSError):
            while (lock := _locked(directory / (key + _LOCK))) is None and time.monotonic() < end:
                others = True
                time.sleep(0.01)
    try:
        yield others
    finally:
        if directory is not None and lock is not None:
            _discard(directory / (key + _LOCK))
            os.close(lock)


def _locked(path: Path) -> int | None:
    """The descriptor of a file that is locked now; None where somebody else holds it, or has just removed it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(descriptor), path.stat()):
            return descriptor
    except (BlockingIOError, FileNotFoundError):
        pass
    except OSError:
        os.close(descriptor)
        raise
    os.close(descriptor)
    return None


def remembered(key: str, make: Callable[[], Used]) -> Used:
    """Facts as plain records: those that are stored under a key, or new ones, which are stored."""

    def read(_: dict[str, Any], content: bytes) -> Used:
        try:
            return pickle.loads(content)  # type: ignore[no-any-return]
        except (pickle.UnpicklingError, EOFError, ImportError) as error:
            raise CompileError("facts that cannot be read", got=str(error)) from error

    return used(cache_key(key, "facts"), read, lambda: ({}, pickle.dumps(make())))


def save(key: str, header: dict[str, Any], code: bytes) -> bool:
    """Store code under a key; whether that worked."""
    directory = _usable(create=True)
    if directory is None:
        return False
    text = json.dumps(header).encode()
    rest = len(text).to_bytes(8, "little") + text + code
    temporary = None
    try:
        descriptor, temporary = tempfile.mkstemp(dir=directory, prefix=".new-")
        with os.fdopen(descriptor, "wb") as file:
            file.write(_MAGIC + _digest(key, rest) + rest)
        os.replace(temporary, directory / (key + _SUFFIX))
    except OSError as error:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        _warn(f"compiled code could not be kept in the cache: {error}")
        return False
    _count(directory, len(_MAGIC) + hashlib.sha256().digest_size + len(rest))
    return True


def _count(directory: Path, size: int) -> None:
    """Look at all entries, and prune them, before a twentieth of the limit is written: looking takes a while where
    there are thousands."""
    limit = _limit()
    written = _written.get(directory, limit) + size
    if written * 20 > limit:
        _prune(directory, limit)
        written = 0
    _written[directory] = written


def _files(directory: Path) -> list[tuple[float, int, str]]:
    """Age, size and path of every entry; half-written files that nobody will finish, and old locks, are removed."""
    found = []
    try:
        items = list(os.scandir(directory))
    except OSError:
        return []
    for item in items:
        with contextlib.suppress(OSError):
            info = item.stat(follow_symlinks=False)
            if item.name.endswith(_SUFFIX):
                found.append((info.st_mtime, info.st_size, item.path))
            elif (item.name.startswith(".new-") or item.name.endswith(_LOCK)) and time.time() - info.st_mtime > _STALE:
                os.unlink(item.path)
    return sorted(found)


def _prune(directory: Path, limit: int) -> None:
    files = _files(directory)
    total = sum(size for _, size, _ in files)
    if total <= 0.95 * limit:
        return
    for _, size, path in files:
        with contextlib.suppress(OSError):
            os.unlink(path)
            total -= size
        if total <= 0.8 * limit:
            return


def cache_info() -> CacheInfo:
    """Where the cache is, how full, and whether it can be used."""
    path, reason = _open_directory(create=False)
    files = _files(path) if path is not None and reason is None else []
    return CacheInfo(path, len(files), sum(s for _, s, _ in files), _limit(), reason is None, reason)


def clear_cache() -> int:
    """Remove every entry; gives how many there were."""
    path, reason = _open_directory(create=False)
    removed = 0
    for _, _, file in _files(path) if path is not None and reason is None else []:
        with contextlib.suppress(OSError):
            os.unlink(file)
            removed += 1
    return removed


def _version() -> str:
    """Where there are no sources to read, the version stands for them."""
    try:
        return version("torseur")
    except PackageNotFoundError:
        return ""


def cache_key(key: str, *options: object) -> str:
    """What an entry is called: everything that decides the code in it."""
    import llvmlite

    machine = host()
    parts = (key, options, machine.triple, machine.cpu, machine.features, llvmlite.__version__, sources_digest())
    return hashlib.sha256(repr(parts).encode()).hexdigest()


@lru_cache(maxsize=1)
def sources_digest() -> str:
    """A fingerprint of our own code: other code, other entries."""
    digest = hashlib.sha256(_version().encode())
    root = str(Path(__file__).parent.parent)
    files = [os.path.join(folder, name) for folder, _, names in os.walk(root) for name in names if name.endswith(".py")]
    for path in sorted(files):
        with open(path, "rb", buffering=0) as file:
            digest.update(path[len(root) :].encode() + b"\0" + file.read())
    return digest.hexdigest()
