"""Workers of dask.distributed on this machine: whatever happens to them, the same bits, and every run once."""

import json
import os
import signal
import subprocess
import sys
import time
import types
from pathlib import Path

import pytest

import torseur as ts
from torseur.campaign import storage
from torseur.campaign.runner import Cluster, job_script

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

ROOT = Path(__file__).resolve().parents[2]
CAMPAIGN = f"""
torseur_campaign: 1
study: {ROOT}/examples/planar_2r/pd_control.yaml
factors:
  law.kp.theta1: {{grid: {{low: 10, high: 80, count: 20}}}}
  m2: {{grid: {{low: 1, high: 4, count: 12}}}}
indicators: {{peak: {{maximum: theta1}}, effort: {{rms: Gamma1}}}}
keep: {{channels: [theta2]}}
chunk: 4
"""
SCHEDULED = """
import sys
import torseur as ts
from torseur.campaign.runner import Cluster, job_script
if __name__ == "__main__":
    ts.run_campaign(sys.argv[1], sys.argv[2], cluster=Cluster(workers=2))
"""


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """The campaign, and its files as one process makes them."""
    folder = tmp_path_factory.mktemp("alone")
    file = folder / "campaign.yaml"
    file.write_text(CAMPAIGN)
    ts.run_campaign(file, folder / "out", threads=1)
    return file, bytes_in(folder / "out")


def bytes_in(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*/chunk-*"))}


def workers_of(parent: int) -> list[int]:
    """Worker processes below a process: those that dask's nannies started."""
    found, todo = [], [parent]
    while todo:
        pid = todo.pop()
        tasks = Path(f"/proc/{pid}/task").glob("*/children")
        children = [child for task in tasks for child in task.read_text().split()]
        todo += map(int, children)
        found += [int(c) for c in children if "spawn_main" in Path(f"/proc/{c}/cmdline").read_text()]
    return found


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="processes are found in /proc")
def test_a_worker_that_is_killed_costs_nothing(alone, tmp_path):
    file, expected = alone
    killed = []

    def kill(now):
        if now.done and not killed:
            pid = workers_of(os.getpid())[0]
            os.kill(pid, signal.SIGKILL)
            killed.append(pid)

    answers = ts.run_campaign(file, tmp_path / "out", cluster=Cluster(workers=2), progress=kill)
    assert killed
    assert bytes_in(tmp_path / "out") == expected
    assert answers.table["run"].to_pylist() == list(range(240))


def test_a_scheduler_that_is_killed_and_the_campaign_resumed_with_another_one(alone, tmp_path):
    file, expected = alone
    script, out = tmp_path / "scheduled.py", tmp_path / "out"
    script.write_text(SCHEDULED)
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    process = subprocess.Popen([sys.executable, str(script), str(file), str(out)], env=environment)
    while process.poll() is None and not list(out.glob("indicators/chunk-*")):
        time.sleep(0.01)
    process.kill()
    process.wait()
    before = bytes_in(out)
    assert 0 < len(before) < len(expected)
    answers = ts.run_campaign(file, out, threads=1)
    assert bytes_in(out) == expected
    assert answers.table["run"].to_pylist() == list(range(240))


def test_a_running_scheduler_that_is_killed_is_said_and_nothing_is_lost(alone, tmp_path):
    file, expected = alone
    told = tmp_path / "scheduler.json"
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}

    def begin(what: str, *options: str) -> subprocess.Popen:
        command = [
            sys.executable,
            "-m",
            f"distributed.cli.dask_{what}",
            "--scheduler-file",
            str(told),
            "--no-dashboard",
        ]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        return subprocess.Popen([*command, *options], env=environment, **quiet)

    scheduler = begin("scheduler", "--host", "127.0.0.1", "--port", "0")
    worker = begin("worker", "--nthreads", "1", "--no-nanny")
    try:
        while not told.exists() or not told.read_text().endswith("}"):
            assert scheduler.poll() is None
            time.sleep(0.05)
        address = json.loads(told.read_text())["address"]

        def kill(now):
            if now.done > 8:
                scheduler.kill()

        with pytest.raises(ts.ArgumentError, match="the connection to the scheduler is lost"):
            ts.run_campaign(file, tmp_path / "out", cluster=Cluster(address), progress=kill)
    finally:
        for process in (worker, scheduler):
            process.kill()
            process.wait()
    before = bytes_in(tmp_path / "out")
    assert 0 < len(before) < len(expected)
    assert before.items() <= expected.items()
    ts.run_campaign(file, tmp_path / "out", threads=1)
    assert bytes_in(tmp_path / "out") == expected


@pytest.mark.parametrize(
    ("cluster", "words"),
    [
        (Cluster("nowhere"), "missing port"),
        (Cluster("tcp://127.0.0.1:1"), "Timed out"),
        (Cluster(workers=1, tls={"tls_ca_file": "none.pem"}), "TLS"),
    ],
)
def test_connections_that_cannot_be_made_are_said_in_a_sentence(cluster, words, alone, tmp_path):
    import dask

    with dask.config.set({"distributed.comm.timeouts.connect": "1s"}), pytest.raises(ts.ArgumentError) as caught:
        ts.run_campaign(alone[0], tmp_path / "out", cluster=cluster)
    assert "there is no connection to a scheduler" in str(caught.value)
    assert words in caught.value.got


def test_a_disk_that_is_full_while_workers_compute(alone, tmp_path, monkeypatch):
    file, expected = alone
    real = storage.replace_file

    def full(path, data):
        if path.name == "chunk-000007.parquet":
            raise ts.ArgumentError("the file cannot be written", where=str(path), got="No space left on device")
        real(path, data)

    with monkeypatch.context() as patch:
        patch.setattr(storage, "replace_file", full)
        with pytest.raises(ts.ArgumentError, match="No space left"):
            ts.run_campaign(file, tmp_path / "out", cluster=Cluster(workers=2))
    before = bytes_in(tmp_path / "out")
    assert "chunk-000007.parquet" not in before
    assert all(expected[name] == data for name, data in before.items())
    ts.run_campaign(file, tmp_path / "out", cluster=Cluster(workers=2))
    assert bytes_in(tmp_path / "out") == expected


def test_poisoned_runs_are_the_same_rows_by_workers(tmp_path):
    file = tmp_path / "campaign.yaml"
    file.write_text(CAMPAIGN.replace("{grid: {low: 1, high: 4, count: 12}}", "[1, -2, 1e99, 3]"))
    here = ts.run_campaign(file, tmp_path / "here", threads=1)
    ts.run_campaign(file, tmp_path / "there", cluster=Cluster(workers=2))
    assert bytes_in(tmp_path / "there") == bytes_in(tmp_path / "here")
    assert (here.outcomes[here["m2"] == -2.0] == "failed").all()
    assert (here.outcomes[here["m2"] == 3.0] == "ok").all()
    assert here.table["run"].to_pylist() == list(range(80))


def test_jobs_of_slurm_get_their_options_and_give_the_same_bits(alone, tmp_path, monkeypatch):
    import distributed

    file, expected = alone
    asked = {}

    class Jobs(distributed.LocalCluster):
        """Stands for dask_jobqueue.SLURMCluster: jobs are processes of this machine."""

        def __init__(self, **options):
            asked.update(options)
            local = {"n_workers": 0, "threads_per_worker": 1, "host": "127.0.0.1", "dashboard_address": None}
            super().__init__(processes=True, **local)

        def scale(self, n=0, *, jobs=0):
            asked.update({"jobs": jobs} if jobs else {})
            super().scale(n or jobs)

    monkeypatch.setitem(sys.modules, "dask_jobqueue", types.SimpleNamespace(SLURMCluster=Jobs))
    cluster = Cluster(workers=2, slurm={"queue": "short", "cores": 8})
    ts.run_campaign(file, tmp_path / "out", cluster=cluster)
    assert asked == {"queue": "short", "cores": 8, "jobs": 2}
    assert bytes_in(tmp_path / "out") == expected


def test_the_script_of_a_job_is_that_of_slurm():
    pytest.importorskip("dask_jobqueue")
    asked = {"queue": "short", "cores": 8, "memory": "16GB", "walltime": "01:00:00", "interface": "lo"}
    script = job_script(Cluster(slurm=asked))
    assert "#SBATCH -p short" in script
    assert "#SBATCH --cpus-per-task=8" in script
    assert "#SBATCH -t 01:00:00" in script
    assert "dask_worker tcp://127.0.0.1:" in script
    with pytest.raises(ts.ArgumentError, match="no SLURM job can be made"):
        job_script(Cluster(slurm={"queue": "short"}))


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_the_command_goes_on_from_where_a_signal_ended_it(ending, alone, tmp_path):
    file, expected = alone
    out = tmp_path / "out"
    command = [sys.executable, "-m", "torseur", "campaign", str(file), "-o", str(out), "--no-figures"]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    process = subprocess.Popen([*command, "--threads", "1"], env=environment, stderr=subprocess.PIPE, text=True)
    while process.poll() is None and not list(out.glob("indicators/chunk-*")):
        time.sleep(0.005)
    process.send_signal(ending)
    said = process.communicate()[1]
    assert process.returncode == (-signal.SIGKILL if ending == signal.SIGKILL else 130)
    assert ("the same command resumes here" in said) == (ending != signal.SIGKILL)
    assert len(bytes_in(out)) < len(expected)
    subprocess.run(command, env=environment, check=True, capture_output=True)
    assert bytes_in(out) == expected
