"""Chunks computed by workers of dask.distributed; what they find is stored here, by one process.

A worker gets the text of a campaign and the number of a chunk, and gives back the bytes of its files. A chunk whose
worker dies is computed by another one. What is computed twice has the same bits.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from torseur.campaign.process import Task
from torseur.campaign.work import one_line
from torseur.errors import ArgumentError, MissingExtra, NumericalError

__all__ = ["Cluster", "chunks_by_workers", "job_script"]

AHEAD = 2
"""Chunks that wait for each thread of a worker: more take memory of the scheduler and bring nothing."""
MOST_LOST = 8
"""Chunks that may fail before one succeeds."""


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

        submit()
        for future in queue:
            k = open_futures.pop(future)
            error = future.exception()
            if error is None:
                keep(k, *future.result())
                kept += 1
            else:
                lost.append(f"chunk {k}: {_told(error)}")
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
    if cluster.address is not None:
        with distributed.Client(cluster.address, security=security) as client:
            client.wait_for_workers(1)
            yield client
        return
    if cluster.slurm is not None:
        made = _jobs(cluster)
        made.scale(jobs=cluster.workers)
    else:
        made = distributed.LocalCluster(
            n_workers=cluster.workers,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address=None,
            silence_logs=logging.ERROR,
            security=security,
        )
    with made, distributed.Client(made, security=security) as client:
        client.wait_for_workers(1)
        yield client


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
