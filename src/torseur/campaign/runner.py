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
    progress: Callable[[Progress], object] | None = None,
) -> Answers:
    """Run a campaign, or what is left of it, into a folder.

    Args:
        what: a campaign, or its file.
        folder: where results go; one that holds some of them is completed.
        threads: on this machine; as many as it has processors by default.
        cluster: workers that compute instead.
        progress: called whenever a chunk is stored.
    """
    campaign = what if isinstance(what, Campaign) else load_campaign(what)
    run_work(Work(campaign), Path(folder), threads=threads, cluster=cluster, progress=progress)
    return open_campaign(folder)


def run_work(
    work: Work,
    path: Path,
    *,
    threads: int | None = None,
    cluster: Cluster | None = None,
    progress: Callable[[Progress], object] | None = None,
) -> None:
    """Compute and store the chunks that are not there yet."""
    folder = Folder(path)
    folder.begin(work)
    if folder.manifest["chunk"] != work.chunk:
        got = f"{work.chunk} instead of {folder.manifest['chunk']}"
        raise ArgumentError("the chunks of this folder have another size", where=str(path), got=got)
    if work.campaign.search is not None:
        _search(work, folder, threads or os.cpu_count() or 1, cluster, progress)
        return
    there = folder.stored()
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
            chunks_by_workers(work, missing, cluster, keep)
        return
    for k in missing:
        chunk = work.results(k, threads or os.cpu_count() or 1)
        keep(k, table_bytes(chunk), channels_bytes(chunk))


def _search(
    work: Work, folder: Folder, threads: int, cluster: Cluster | None, progress: Callable[[Progress], object] | None
) -> None:
    """A search, with the time it will take if it needs all its evaluations."""
    if cluster is not None:
        text = "a search runs on this machine: each batch waits for the one before"
        raise ArgumentError(text, where=str(folder.path), remedy="leave the workers out")
    assert work.campaign.search is not None
    most, began = work.campaign.search.evaluations, time.perf_counter()

    def told(done: int) -> None:
        if progress is not None:
            left = (time.perf_counter() - began) / done * (most - done)
            progress(Progress(done * work.runs, most * work.runs, left))

    run_search(work, folder, threads, told)
