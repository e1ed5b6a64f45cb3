"""Controllers outside give the run that the same controller inside gives; runs are paced to the clock."""

import re
import shutil
import subprocess
import sys
import textwrap
import time
from contextlib import closing

import numpy as np
import pytest

from support.example_files import EXAMPLES
from support.exported_studies import pendulum, rk4
from torseur.cli import main
from torseur.errors import ArgumentError, ModelError, NumericalError
from torseur.simulation.blocks import PythonBlock
from torseur.simulation.run.connections import Process, Udp, connected, connections, packet, unpacked
from torseur.simulation.run.control_steps import Pace
from torseur.simulation.run.simulation import Simulation
from torseur.simulation.study.study import Study

STUDY = """
torseur_study: 1
model: pendulum.yaml
blocks:
  law: {external: {inputs: [th, dth], outputs: [u, e], period: 0.01}}
inputs: {tau: law_u}
until: 0.5
every: 0.01
solver: {method: rk4, step: 0.002}
"""

PROGRAM = """
import sys
for line in sys.stdin:
    t, th, dth = map(float, line.split())
    u, e = -8.0*th - 1.5*dth, 3.0*t + 0.1*th
    print(repr(u), repr(e), flush=True)
"""
PEER = """
import socket, struct, sys
peer = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
peer.bind(("127.0.0.1", 0))
print(peer.getsockname()[1], flush=True)
while True:
    data, where = peer.recvfrom(65536)
    magic, number, count, t = struct.unpack_from("<4sIId", data)
    th, dth = struct.unpack_from("<2d", data, 20)
    answer = struct.pack("<4sIId2d", magic, number, 2, t, -8.0*th - 1.5*dth, 3.0*t + 0.1*th)
    peer.sendto(answer, where)
"""
C_LAW = """
void law(double t, const double *x, double *y)
{
    y[0] = -8.0*x[0] - 1.5*x[1];
    y[1] = 3.0*t + 0.1*x[0];
}
"""
C_PEER = r"""
#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int main(void) /* on a little-endian machine */
{
    struct sockaddr_in own = {0}, other;
    socklen_t size = sizeof own;
    int peer = socket(AF_INET, SOCK_DGRAM, 0);
    own.sin_family = AF_INET;
    own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(peer, (struct sockaddr *)&own, size) || getsockname(peer, (struct sockaddr *)&own, &size))
        return 1;
    printf("%d\n", ntohs(own.sin_port));
    fflush(stdout);
    for (;;) {
        unsigned char data[4096];
        uint32_t two = 2;
        double t, x[2], y[2];
        size = sizeof other;
        if (recvfrom(peer, data, sizeof data, 0, (struct sockaddr *)&other, &size) < 36)
            continue;
        memcpy(&t, data + 12, 8);
        memcpy(x, data + 20, 16);
        y[0] = -8.0*x[0] - 1.5*x[1];
        y[1] = 3.0*t + 0.1*x[0];
        memcpy(data + 8, &two, 4);
        memcpy(data + 20, y, 16);
        sendto(peer, data, 36, 0, (struct sockaddr *)&other, size);
    }
}
"""


def law(t, th, dth):
    return [-8.0 * th - 1.5 * dth, 3.0 * t + 0.1 * th]


def study(**more):
    block = {"inputs": ("th", "dth"), "outputs": ("u", "e"), "period": 0.01}
    fields = {"until": 0.5, "every": 0.01, "solver": rk4(0.002)} | more
    return Study(model=pendulum(), blocks={"law": {"external": block}}, inputs={"tau": "law_u"}, **fields)


def inside():
    return Simulation(connected(study(), {"law": law}), audit=False).run()


def outside(where, **options):
    with connections(study(), {"law": where}, **options) as answering:
        return Simulation(connected(study(), answering), audit=False).run()


def same(a, b):
    assert b.complete, b.reason
    for name in ("th", "dth", "tau", "law_e"):
        np.testing.assert_array_equal(a[name], b[name])


def compiled(folder, source, *options):
    compiler = shutil.which("cc")
    if compiler is None or sys.platform == "win32":
        pytest.skip("no C compiler")
    (folder / "code.c").write_text(source)
    command = [compiler, "-Wall", "-Wextra", "-Werror", *options, "-o", "code.out", "code.c"]
    subprocess.run(command, cwd=folder, check=True)
    return folder / "code.out"


@pytest.fixture
def peer(request):
    """Starts a program that listens, and gives its port."""
    started = []

    def start(*command):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        started.append(process)
        return int(process.stdout.readline())

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


def test_a_process_in_lockstep_is_the_controller_inside(tmp_path):
    program = tmp_path / "law.py"
    program.write_text(PROGRAM)
    same(inside(), outside(f"process:{sys.executable} {program}"))


def test_a_shared_library_is_the_controller_inside(tmp_path):
    same(inside(), outside(f"library:{compiled(tmp_path, C_LAW, '-shared', '-fPIC')}:law"))


def test_a_python_peer_over_udp_in_lockstep(peer):
    port = peer(sys.executable, "-c", PEER)
    same(inside(), outside(f"udp:127.0.0.1:{port}"))


def test_a_c_peer_over_udp_in_lockstep_and_in_real_time(tmp_path, peer):
    port = peer(str(compiled(tmp_path, C_PEER)))
    same(inside(), outside(f"udp:127.0.0.1:{port}"))
    with connections(study(), {"law": f"udp:127.0.0.1:{port}"}, waits=False) as answering:
        simulation = Simulation(connected(study(until=0.2), answering), audit=False)
        pace = Pace(simulation)
        began = time.perf_counter()
        run = simulation.run(samplings=[pace.sampling])
        took = time.perf_counter() - began
    assert run.complete
    assert took >= 0.19
    assert np.abs(run["law_u"]).max() > 0.1  # answers came
    figures = pace.figures
    assert figures.steps == 98  # of 100: the clock starts with the second, and the end is not waited for
    assert 0 <= figures.overruns <= 98
    assert figures.latency[2] >= figures.latency[0] >= 0.0
    assert "overruns" in figures.lines()[0]


def test_a_paced_run_is_the_free_one():
    ready = connected(study(until=0.1), {"law": law})
    simulation = Simulation(ready, audit=False)
    paced, free = simulation.run(samplings=[Pace(simulation).sampling]), simulation.run()
    np.testing.assert_array_equal(paced["th"], free["th"])


def test_nothing_is_connected_by_itself():
    with pytest.raises(ModelError, match="this block is not connected") as caught:
        Simulation(study())
    assert "--connect law=" in caught.value.text()


def test_wrong_connections_are_told(tmp_path):
    with pytest.raises(ArgumentError, match="no external block 'lw'"):
        connected(study(), {"lw": law})
    for wrong in ("udp:127.0.0.1:x", "library:nowhere.so", "telnet:1", "process: "):
        with pytest.raises(ArgumentError, match="not a connection"), connections(study(), {"law": wrong}):
            pass
    with pytest.raises(ArgumentError, match="cannot be used"), connections(study(), {"law": "library:no.so:f"}):
        pass
    with pytest.raises(ArgumentError, match="another machine"):
        Udp("192.0.2.1", 9, 1, waits=True)
    adaptive = Simulation(connected(study(solver={"method": "dop853"}), {"law": law}))
    with pytest.raises(ArgumentError, match="steps of a given length"):
        Pace(adaptive)


def test_a_controller_that_goes_away_ends_the_run_with_what_it_has(tmp_path):
    program = tmp_path / "law.py"
    program.write_text("for k in range(10):\n    input()\n    print(1, 2, flush=True)\n")
    run = outside(f"process:{sys.executable} {program}")
    assert not run.complete
    assert "no answer" in run.reason


@pytest.mark.parametrize(
    ("program", "what"),
    [
        ("print('ready', flush=True)\nfor line in sys.stdin: print(1, 2, flush=True)", "ready"),
        ("for line in sys.stdin: print(1, 2, flush=True), print(3, 4, flush=True)", "unexpected line"),
        ("for line in sys.stdin: print('one two', flush=True)", "not numbers"),
        ("for line in sys.stdin: print(1, end='', flush=True)", "no answer"),
    ],
)
def test_a_process_that_says_something_else_is_told(program, what, tmp_path, monkeypatch):
    monkeypatch.setattr("torseur.simulation.run.connections.PATIENCE", 0.5 if what == "no answer" else 60.0)
    file = tmp_path / "law.py"
    file.write_text(f"import sys\n{program}\n")
    with closing(Process(f"{sys.executable} {file}", 2)) as process:

        def ask():
            for k in range(20):
                process(0.1 * k, 0.0, 0.0)
                time.sleep(0.1)  # what is said too much has arrived

        with pytest.raises(NumericalError, match=what):
            ask()


def test_datagrams_of_others_are_not_ours():
    assert unpacked(packet(7, 0.5, [1.0])) == (7, 0.5, [1.0])
    assert unpacked(b"TSR1") is None
    assert unpacked(packet(7, 0.5, [1.0])[:-1]) is None
    assert unpacked(b"XXXX" + packet(7, 0.5, [1.0])[4:]) is None


def test_the_block_becomes_a_python_block():
    block = connected(study(), {"law": law}).blocks["law"]
    assert isinstance(block, PythonBlock)
    assert block.outputs == ("u", "e")


def test_the_command_connects_and_paces(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.yaml").write_text(textwrap.dedent(STUDY))
    (tmp_path / "law.py").write_text(PROGRAM)
    (tmp_path / "pendulum.yaml").write_text(
        "torseur: 1\nname: pendulum\nbodies:\n"
        "  rod: {joint: {kind: revolute, coordinate: th, start: 0.1}, inertia: {ZZ: 0.5}}\n"
        "inputs: {tau: {}}\nloads: {motor: {effort: {coordinate: th, value: tau}}}\n"
    )
    arguments = ["simulate", "study.yaml", "--connect", f"law=process:{sys.executable} law.py"]
    assert main([*arguments, "--until", "0.05", "--real-time", "--no-figures", "--no-playback"]) == 0
    printed = capsys.readouterr().out
    assert "overruns" in printed
    assert "jitter" in printed


@pytest.mark.slow
def test_a_satellite_of_twelve_degrees_of_freedom_runs_by_the_clock_at_a_kilohertz(tmp_path, capsys):
    file = EXAMPLES / "satellite_arm" / "reach.yaml"
    given = ["--real-time", "--solver", "rk4", "--step", "1e-3", "--until", "15", "--no-figures", "--no-playback"]
    began = time.perf_counter()
    assert main(["simulate", str(file), *given, "-o", str(tmp_path)]) == 0
    assert time.perf_counter() - began >= 14.9
    printed = capsys.readouterr().out
    assert re.search(r"real time: 14998 steps, \d+ overruns, at most .* ms behind", printed)
    assert re.search(r"latency: mean .* us, 99 % below .* us, largest .* us\n  jitter: .* us", printed)
    assert "audit holds" in printed
