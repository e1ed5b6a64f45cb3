"""Chunks computed by workers of dask.distributed; what they find is stored here, by one process.

A worker gets the text of a campaign and the number of a chunk, and gives back the bytes of its files. A chunk whose
worker dies is computed by another one. What is stored twice is the same file.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

from torseur.campaign.reader import load_campaign
from torseur.campaign.storage import CAMPAIGN, channels_bytes, table_bytes, texts_of
from torseur.campaign.work import Work
from torseur.errors import MissingExtra, NumericalError

__all__ = ["Cluster", "chunk_of_texts", "chunks_by_workers"]

AHEAD = 2
"""Chunks that wait for each thread of a worker: more take memory of the scheduler and bring nothing."""


@dataclass(frozen=True)
class Cluster:
    """Who computes.

    Attributes:
        address: of a scheduler, such as tcp://127.0.0.1:8786; none starts workers on this machine.
        workers: processes on this machine, that listen on loopback only.
        slurm: options of `dask_jobqueue.SLURMCluster`; workers are then jobs.
        tls: options of `distributed.security.Security`, where connections are to be encrypted.
    """

    address: str | None = None
    workers: int = 2
    slurm: Mapping[str, Any] | None = None
    tls: Mapping[str, Any] = field(default_factory=dict)


def chunks_by_workers(
    work: Work, missing: Sequence[int], cluster: Cluster, keep: Callable[[int, bytes, bytes | None], None]
) -> None:
    """Let workers compute chunks, and keep each as it comes."""
    distributed = _distributed()
    texts = tuple(sorted(texts_of(work.campaign).items()))
    with _client(distributed, cluster) as client:
        waiting, lost = iter(missing), list[str]()
        open_futures: dict[Any, int] = {}
        queue = distributed.as_completed()

        def submit() -> None:
            """As many as the workers that are there now can take; jobs come one by one, and go."""
            threads = sum(client.nthreads().values()) or cluster.workers
            for k in islice(waiting, max(AHEAD * threads - len(open_futures), 0)):
                future = client.submit(chunk_of_texts, texts, k, pure=False)
                open_futures[future] = k
                queue.add(future)

        submit()
        for future in queue:
            k = open_futures.pop(future)
            error = future.exception()
            if error is None:
                keep(k, *future.result())
            else:
                lost.append(f"chunk {k}: {type(error).__name__}: {' '.join(str(error).split())[:200]}")
            future.release()
            submit()
    if lost:
        raise NumericalError(
            f"{len(lost)} chunks were not computed; all others are stored",
            got="; ".join(lost[:5]),
            remedy="the same command tries them again; without workers a fault shows where it is",
        )


def chunk_of_texts(texts: Sequence[tuple[str, str]], k: int) -> tuple[bytes, bytes | None]:
    """The files of a chunk, of a campaign that is told by its own files; this is what a worker does."""
    chunk = _work_of(tuple(texts)).results(k)
    return table_bytes(chunk), channels_bytes(chunk)


@lru_cache(maxsize=2)
def _work_of(texts: tuple[tuple[str, str], ...]) -> Work:
    with tempfile.TemporaryDirectory(prefix="torseur-") as folder:
        for name, text in texts:
            (Path(folder) / Path(name).name).write_text(text, encoding="utf-8")
        return Work(load_campaign(Path(folder) / CAMPAIGN))


@contextmanager
def _client(distributed: Any, cluster: Cluster) -> Iterator[Any]:
    """A client of a scheduler that is there, or of workers that end with it."""
    security = distributed.security.Security(**cluster.tls) if cluster.tls else None
    if cluster.address is not None:
        with distributed.Client(cluster.address, security=security) as client:
            client.wait_for_workers(1)
            yield client
        return
    if cluster.slurm is not None:
        made = _slurm()(**cluster.slurm, **({} if security is None else {"security": security}))
        made.scale(jobs=cluster.workers)
    else:
        made = distributed.LocalCluster(
            n_workers=cluster.workers,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address=None,
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
