"""Chunks computed by workers of dask.distributed; what they find is stored here, by one process.

A worker gets the text of a campaign and the number of a chunk, and gives back the bytes of its files. A chunk whose
worker dies is computed by another one. What is computed twice has the same bits.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from torseur.campaign.process import Task
from torseur.campaign.work import one_line
from torseur.errors import ArgumentError, MissingExtra, NumericalError, TorseurError, TorseurWarning

__all__ = ["Cluster", "chunks_by_workers", "job_script"]

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
