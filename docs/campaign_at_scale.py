"""What a campaign costs beyond its runs, measured here, and what follows for 1e9 runs on 1000 nodes, simulated.

``python docs/campaign_at_scale.py`` measures; ``python docs/campaign_at_scale.py 4.2 5.6`` takes milliseconds of the
process that sends and stores a task, and of the worker that computes it beyond native time, as given.

The simulation has one process that sends chunks and stores what comes back, each task taking its time, and workers
that compute chunks; two chunks wait for every worker, as `torseur.campaign.runner` has it. Nodes begin together and
compile first.
"""

from __future__ import annotations

import heapq
import sys
import tempfile
import time
from pathlib import Path

import torseur as ts
from torseur.campaign.runner import AHEAD, Cluster

RUNS, NODES, CORES = 1_000_000_000, 1000, 1
NATIVE = 14.6e-6
"""Seconds of a run of 1000 steps of the planar arm, `torseur bench --campaign`."""
BYTES, DISK = 37.0, 200e6
"""Of a run, and that a disk takes in a second."""
COMPILED = 1.0
"""Seconds in which a node compiles, or loads, the native code."""
LONG = 1.0
"""Seconds of a long run, such as a vehicle."""


def measured(chunks: int) -> float:
    """Seconds of processor time of the process that sends, receives and stores, for a task of one short run."""
    body = {"joint": {"kind": "prismatic", "coordinate": "x"}, "inertia": {"M": 1.0}}
    solver = {"method": "rk4", "step": 0.1}
    study = ts.Study(model={"name": "cart", "bodies": {"cart": body}}, until=1.0, every=0.5, solver=solver)
    factors = {"x": {"grid": {"low": 0, "high": 1, "count": chunks}}}
    campaign = ts.Campaign(study=study, factors=factors, indicators={"end": {"final": "x"}}, chunk=1)
    began: list[float] = []
    with tempfile.TemporaryDirectory() as folder:

        def note(now: object) -> None:
            began.append(time.process_time())

        ts.run_campaign(campaign, Path(folder) / "out", cluster=Cluster(workers=1), progress=note)
    warm = len(began) // 5  # workers start, and import what they need
    return (began[-1] - began[warm]) / (len(began) - 1 - warm)


def makespan(chunks: int, work: float, task: float, workers: int) -> float:
    """Seconds until the last of so many chunks is stored."""
    sender, done, sent = COMPILED, list[tuple[float, int]](), 0
    free = [COMPILED] * workers
    for _ in range(AHEAD):
        for w in range(workers):
            if sent < chunks:
                sender, sent = sender + 0.5 * task, sent + 1
                free[w] = max(free[w], sender) + work
                heapq.heappush(done, (free[w], w))
    while done:
        ready, w = heapq.heappop(done)
        sender = max(sender, ready) + 0.5 * task
        if sent < chunks:
            sender, sent = sender + 0.5 * task, sent + 1
            free[w] = max(free[w], sender) + work
            heapq.heappush(done, (free[w], w))
    return sender


def main(task: float, chunk: float) -> None:
    print(f"{RUNS:.0e} runs, {NODES} nodes of {CORES} core; a task takes {task * 1e3:.2f} ms to send and store")
    print("run         chunk      tasks   ideal        whole        busy")
    for native, sizes in ((NATIVE, (4096, 16384, 65536, 262144, 1_000_000)), (LONG, (16, 64, 256, 1024))):
        for size in sizes:
            chunks, work = -(-RUNS // size), native * size + chunk
            store = task + size * BYTES / DISK
            ideal = RUNS * native / (NODES * CORES)
            whole = makespan(chunks, work, store, NODES * CORES) if chunks < 2e6 else max(ideal, chunks * store)
            name = f"{native * 1e6:.1f} us" if native < 1e-3 else f"{native:g} s"
            print(f"{name:<10}{size:>7}{chunks:>11}{ideal:>8.0f} s{whole:>13.0f} s{ideal / whole:>11.0%}")


if __name__ == "__main__":
    given = [float(x) * 1e-3 for x in sys.argv[1:]]
    main(*(given if given else (measured(300), 5.6e-3)))
