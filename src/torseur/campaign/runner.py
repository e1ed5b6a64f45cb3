"""Chunks computed and stored: interrupted at will, resumed by the same call."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from torseur.campaign.answers import Answers, open_campaign
from torseur.campaign.cluster import Cluster, chunks_by_workers
from torseur.campaign.description import Campaign
from torseur.campaign.process import Task, guarded
from torseur.campaign.reader import load_campaign
from torseur.campaign.search import run_search
from torseur.campaign.storage import Folder, channels_bytes, table_bytes
from torseur.campaign.work import Work
from torseur.errors import ArgumentError

__all__ = ["Progress", "run_campaign", "run_work"]


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
        _check_search(folder, cluster, retry)
        with guarded(work, task) as work:
            _search(work, folder, threads, progress)
        return
    there = folder.stored() - (folder.late() if retry else frozenset())
    folder.check_room(work, work.chunks - len(there))
    missing = (k for k in range(work.chunks) if k not in there)
    stored, began = sum(last - first for first, last in map(work.span, there)), time.perf_counter()
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


def _check_search(folder: Folder, cluster: Cluster | None, retry: bool) -> None:
    """A search is a way of batches, one after the other, which is never changed."""
    where = str(folder.path)
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
