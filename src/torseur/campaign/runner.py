"""Chunks computed and stored, here or by workers of dask.distributed: interrupted at will, resumed by the same call.

A worker gets the text of a campaign and the number of a chunk, and gives back the bytes of its files, which are stored
here, by one process. A chunk whose worker dies is computed by another one. What is computed twice has the same bits.
"""

from __future__ import annotations

import logging
import os
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from torseur.campaign.answers import Answers, open_campaign
from torseur.campaign.description import Campaign
from torseur.campaign.process import Task, guarded
from torseur.campaign.reader import load_campaign
from torseur.campaign.search import run_search
from torseur.campaign.storage import Folder, channels_bytes, table_bytes
from torseur.campaign.work import Work, one_line
from torseur.errors import ArgumentError, MissingExtra, NumericalError, TorseurError, TorseurWarning

__all__ = ["Cluster", "Progress", "chunks_by_workers", "job_script", "run_campaign", "run_work"]


AHEAD = 2
"""Chunks that wait for each thread of a worker: more take memory of the scheduler and bring nothing."""
PATIENCE = 15.0
"""Seconds without workers after which it is said that they are waited for."""
MOST_LOST = 8
"""Chunks that may fail before one succeeds."""


LOST = "the connection to the scheduler is lost; what was stored is kept"


@dataclass(frozen=True)
class Cluster:
    """Who computes.

    Attributes:
        address: of a scheduler, such as tcp://127.0.0.1:8786; none starts workers on this machine.
        workers: processes on this machine, that listen on loopback only.
        slurm: options of `dask_jobqueue.SLURMCluster`; workers are then jobs.
        tls: options of `distributed.security.Security`, where connections are to be encrypted.
        extensions: modules with kinds of the user's own, or their files, which workers execute; none: those that were
            named to this process.
    """

    address: str | None = None
    workers: int = 2
    slurm: Mapping[str, Any] | None = None
    tls: Mapping[str, Any] = field(default_factory=dict)
    extensions: tuple[str, ...] = ()


def chunks_by_workers(
    task: Task, missing: Iterator[int], cluster: Cluster, keep: Callable[[int, bytes, bytes | None], None]
) -> None:
    """Let workers compute chunks, and keep each as it comes."""
    distributed = _distributed()
    with _client(distributed, cluster) as client:
        lost, kept = list[str](), 0
        open_futures: dict[Any, int] = {}
        queue = distributed.as_completed()

        def submit() -> None:
            """As many as the workers that are there now can take; jobs come one by one, and go."""
            threads = sum(client.nthreads().values()) or cluster.workers
            for k in islice(missing, max(AHEAD * threads - len(open_futures), 0)):
                future = client.submit(task.files, k, pure=False)
                open_futures[future] = k
                queue.add(future)

        with _told_of_dask(LOST, cluster):
            submit()
        for future in queue:
            k = open_futures.pop(future)
            with _told_of_dask(LOST, cluster):
                error = future.exception()
                files = future.result() if error is None else None
            if files is not None:
                keep(k, *files)
                kept += 1
            else:
                lost.append(f"chunk {k}: {_told(error)}")
            with _told_of_dask(LOST, cluster):
                future.release()
                if kept or len(lost) < MOST_LOST:  # where nothing goes well, nothing more is tried
                    submit()
    if lost:
        raise NumericalError(
            f"{len(lost)} chunks were not computed; all others that were begun are stored",
            got="; ".join(dict.fromkeys(lost[:5])),
            remedy="the same command tries them again; without workers a fault shows where it is",
        )


def _told(error: BaseException) -> str:
    """Why a chunk was not computed."""
    if type(error).__name__ == "KilledWorker":
        return "the workers that computed it died, one after the other: out of memory, or a crash in native code"
    return one_line(error) if isinstance(error, Exception) else repr(error)


def job_script(cluster: Cluster) -> str:
    """The script of one SLURM job of workers, as it would be submitted; nothing is."""
    made = _jobs(cluster)
    try:
        return str(made.job_script())
    finally:
        made.close()


def _jobs(cluster: Cluster) -> Any:
    """A cluster whose workers are SLURM jobs; none is submitted yet."""
    security = {"security": _security(cluster)} if cluster.tls else {}
    try:
        return _slurm()(**(cluster.slurm or {}), **security)
    except (TypeError, ValueError) as error:
        raise ArgumentError(
            "no SLURM job can be made with these options",
            where="--slurm",
            got=one_line(error),
            remedy="cores and memory are needed; the others are those of dask_jobqueue.SLURMCluster",
        ) from None


def _security(cluster: Cluster) -> Any:
    """Who may connect, and how; None where connections are not encrypted."""
    if not cluster.tls:
        return None
    try:
        return _distributed().security.Security(**cluster.tls)
    except (TypeError, ValueError) as error:
        remedy = "options are those of distributed.security.Security"
        raise ArgumentError(
            "unknown option of Dask's security", where="--tls", got=one_line(error), remedy=remedy
        ) from None


@contextmanager
def _client(distributed: Any, cluster: Cluster) -> Iterator[Any]:
    """A client of a scheduler that is there, or of workers that end with it."""
    security = _security(cluster)
    jobs = _jobs(cluster) if cluster.address is None and cluster.slurm is not None else None
    with ExitStack() as stack:
        with _told_of_dask("there is no connection to a scheduler", cluster):
            where: Any = cluster.address
            if jobs is not None:
                where = stack.enter_context(jobs)
                jobs.scale(jobs=cluster.workers)
            elif where is None:
                where = stack.enter_context(_processes(distributed, cluster.workers, security))
            client = stack.enter_context(distributed.Client(where, security=security))
        _wait_for_workers(client)
        yield client


def _processes(distributed: Any, count: int, security: Any) -> Any:
    """Workers on this machine."""
    return distributed.LocalCluster(
        n_workers=count,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",  # any port that is free: a scheduler serves its state, with a dashboard or not
        silence_logs=logging.ERROR,
        security=security,
    )


def _wait_for_workers(client: Any) -> None:
    """Until there is one; jobs may wait in their queue for hours."""
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except TimeoutError:
        text = "the scheduler has no workers yet; they are waited for"
        warnings.warn(text, TorseurWarning, stacklevel=4)
        client.wait_for_workers(1)


@contextmanager
def _told_of_dask(what: str, cluster: Cluster) -> Iterator[None]:
    """What Dask raises where something is wrong with connections, in our words."""
    try:
        yield
    except TorseurError:
        raise
    except (OSError, ValueError, RuntimeError, CancelledError) as error:
        cause: Exception = error
        while isinstance(cause.__cause__, Exception):
            cause = cause.__cause__
        raise ArgumentError(
            what,
            where=cluster.address or "workers that are started here",
            got=one_line(error) if cause is error else f"{one_line(error)}; {one_line(cause)}",
            remedy="see that it runs and is reached from here, and the options of --tls; then the same command goes on",
        ) from error


def _distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise MissingExtra("distributed", extra="cluster", purpose="workers of a campaign") from None
    return distributed


def _slurm() -> Any:
    try:
        from dask_jobqueue import SLURMCluster
    except ImportError:
        raise MissingExtra("dask-jobqueue", extra="slurm", purpose="jobs of SLURM") from None
    return SLURMCluster


@dataclass(frozen=True)
class Progress:
    """How far a campaign is: runs that are stored, of how many, and the seconds left, about; none before the first."""

    done: int
    runs: int
    left: float | None


def run_campaign(
    what: Campaign | str | os.PathLike[str],
    folder: str | os.PathLike[str],
    *,
    threads: int | None = None,
    cluster: Cluster | None = None,
    timeout: float | None = None,
    retry: bool = False,
    progress: Callable[[Progress], object] | None = None,
) -> Answers:
    """Run a campaign, or what is left of it, into a folder.

    Args:
        what: a campaign, or its file.
        folder: where results go; one that holds some of them is completed.
        threads: on this machine; as many as it has processors by default.
        cluster: workers that compute instead.
        timeout: in place of that of the campaign: time that a run may take by the clock, s.
        retry: whether chunks with runs that were ended by the clock are computed again.
        progress: called whenever a chunk is stored.
    """
    work = Work(what if isinstance(what, Campaign) else load_campaign(what))
    run_work(work, Path(folder), threads=threads, cluster=cluster, timeout=timeout, retry=retry, progress=progress)
    return open_campaign(folder)


def run_work(
    work: Work,
    path: Path,
    *,
    threads: int | None = None,
    cluster: Cluster | None = None,
    timeout: float | None = None,
    retry: bool = False,
    progress: Callable[[Progress], object] | None = None,
) -> None:
    """Compute and store the chunks that are not there yet; for the arguments see `run_campaign`."""
    if timeout is not None and not timeout > 0.0:
        raise ArgumentError("wrong time limit of a run", where="timeout", expected="above 0 s", got=repr(timeout))
    timeout, extensions = timeout or work.campaign.timeout, cluster.extensions if cluster else ()
    task = Task.of(work.campaign, timeout, extensions)
    folder = Folder(path)
    folder.begin(work)
    if folder.manifest["chunk"] != work.chunk:
        got = f"{work.chunk} instead of {folder.manifest['chunk']}"
        raise ArgumentError("the chunks of this folder have another size", where=str(path), got=got)
    threads = threads or os.cpu_count() or 1
    if work.campaign.search is not None:
        _check_search(work, folder, cluster, retry)
        with guarded(work, task) as work:
            _search(work, folder, threads, progress)
        return
    there = folder.stored() - (folder.late() if retry else frozenset())
    stored, began = sum(last - first for first, last in map(work.span, there)), time.perf_counter()
    folder.check_room(work, work.runs - stored, work.chunks - len(there))
    missing = (k for k in range(work.chunks) if k not in there)
    done = 0

    def keep(k: int, table: bytes, channels: bytes | None) -> None:
        nonlocal done
        folder.store(k, table, channels)
        first, last = work.span(k)
        done += last - first
        if progress is not None:
            left = (time.perf_counter() - began) / done * (work.runs - stored - done)
            progress(Progress(stored + done, work.runs, left))

    if progress is not None:
        progress(Progress(stored, work.runs, None))
    if cluster is not None:
        if stored < work.runs:
            chunks_by_workers(task, missing, cluster, keep)
        return
    with guarded(work, task) as watched:
        for k in missing:
            chunk = watched.results(k, threads)
            keep(k, table_bytes(chunk), channels_bytes(chunk))


def _check_search(work: Work, folder: Folder, cluster: Cluster | None, retry: bool) -> None:
    """A search is a way of batches, one after the other, which is never changed."""
    where, search = str(folder.path), work.campaign.search
    assert search is not None
    if not folder.stored():
        folder.check_room(work, search.evaluations * work.runs, -(-search.evaluations // search.batch))
    if cluster is not None:
        text = "a search runs on this machine: each batch waits for the one before"
        raise ArgumentError(text, where=where, remedy="leave the workers out")
    if retry:
        text = "a search has gone on from the runs that were ended by the clock"
        raise ArgumentError(text, where=where, remedy="begin it again in another folder")


def _search(work: Work, folder: Folder, threads: int, progress: Callable[[Progress], object] | None) -> None:
    """A search, with the time it will take if it needs all its evaluations."""
    assert work.campaign.search is not None
    most, began = work.campaign.search.evaluations, time.perf_counter()

    def told(done: int) -> None:
        if progress is not None:
            left = (time.perf_counter() - began) / done * (most - done)
            progress(Progress(done * work.runs, most * work.runs, left))

    run_search(work, folder, threads, told)
